/* Programs of torch.export: .pt2 archives written by torch.export.save of PyTorch 2.1 and newer,
 * run and exported without PyTorch. A program declares its inputs and their dynamic sizes, so an
 * export needs no example. */
#ifndef CALQUE_PT2_H
#define CALQUE_PT2_H

#include <calque/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The default opset of programs. cq_pt2_default_opset is higher if the program uses dtypes of a
 * later opset, such as float8 of opset 19. */
#define CQ_PT2_OPSET_DEFAULT 18

typedef struct cq_pt2 cq_pt2;

/* Whether the content of a file is a .pt2 archive. */
CQ_API bool cq_pt2_is_archive_file(const char *path);

/* entry selects one of several programs in the archive; NULL: the only one. */
CQ_API cq_status cq_pt2_load(cq_pt2 **out, const char *path, const char *entry);
CQ_API void      cq_pt2_free(cq_pt2 *program);

/* The same from memory, like cq_script_load_bytes. */
CQ_API cq_status cq_pt2_load_bytes(cq_pt2 **out, const void *data, size_t size, const char *name,
                                   const char *entry, void (*release)(void *user), void *user);

/* Replaces a weight or constant of the program. The tensor is retained. CQ_E_NOT_FOUND: the program
 * has no tensor of that name. */
CQ_API cq_status cq_pt2_set_tensor(cq_pt2 *program, const char *name, cq_tensor *t);

/* Replaces the weights by those of a file of the same architecture, by name, as
 * cq_module_load_weights does. */
CQ_API cq_status cq_pt2_load_weights(cq_pt2 *program, cq_weights *weights, uint32_t flags);

/* The opset that options.opset = 0 selects. */
CQ_API int32_t cq_pt2_default_opset(const cq_pt2 *program);

/* As cq_script_define and cq_script_set_limits (<calque/script.h>). */
CQ_API cq_status cq_pt2_define(cq_pt2 *program, const char *source, const char *name);
CQ_API void      cq_pt2_set_limits(cq_pt2 *program, uint64_t max_steps, uint64_t max_bytes);

/* The inputs: the user's tensors and numbers, flattened, named after forward's arguments. NULL past
 * the end. */
CQ_API size_t      cq_pt2_n_inputs(const cq_pt2 *program);
CQ_API const char *cq_pt2_input_name(const cq_pt2 *program, size_t index);

/* The example input of the file, or a generated one of its type if the file has none. A number is a
 * tensor of rank 0. Release *out. */
CQ_API cq_status cq_pt2_example_input(cq_tensor **out, const cq_pt2 *program, size_t index);

/* The same with every dynamic size larger, as far as the program's constraints allow: for testing
 * an export. */
CQ_API cq_status cq_pt2_larger_input(cq_tensor **out, cq_pt2 *program, size_t index);

/* Renames the key-value cache and the dynamic sizes of a language model to the names that its
 * runtimes expect: with the convention "hf", past_key_values.0.key, present.0.key and
 * sequence_length. */
CQ_API cq_status cq_pt2_name_as(cq_pt2 *program, const char *convention);

/* The name of an output: its key or attribute in the object that forward returns ("logits"); NULL
 * if it has none. */
CQ_API const char *cq_pt2_output_name(const cq_pt2 *program, size_t index);

/* Exports the program. inputs are an example; n_inputs 0 uses the program's own. The dynamic sizes
 * of the program stay dynamic; the dynamic axes of the options can only rename them. */
CQ_API cq_status cq_pt2_export(cq_onnx_model **out, cq_pt2 *program, cq_tensor *const *inputs,
                               size_t n_inputs, const cq_export_options *options);

/* Runs the program. Outputs are flattened without None; numbers are tensors of rank 0. The caller
 * releases them. *n_outputs receives the number of all outputs; those beyond max are dropped. */
CQ_API cq_status cq_pt2_run_as(cq_pt2 *program, cq_tensor *const *inputs, size_t n_inputs,
                               const cq_run_options *options, cq_tensor **outputs, size_t max,
                               size_t *n_outputs);

#ifdef __cplusplus
}
#endif

#endif
