/* Programs of torch.export: archives that torch.export.save writes (.pt2), by PyTorch 2.1 and
 * newer. They are run and exported without PyTorch. A program knows its inputs and which of their
 * sizes may change, so that an export needs no example. */
#ifndef CALQUE_PT2_H
#define CALQUE_PT2_H

#include <calque/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The opset that a program is exported to if none is asked for; a later one if the program has
 * dtypes that came later, such as float8 with opset 19 (cq_pt2_default_opset). */
#define CQ_PT2_OPSET_DEFAULT 18

typedef struct cq_pt2 cq_pt2;

/* Whether a file is such an archive, by its content. */
CQ_API bool cq_pt2_is_archive_file(const char *path);

/* entry names one of several programs in the archive; NULL: the only one. */
CQ_API cq_status cq_pt2_load(cq_pt2 **out, const char *path, const char *entry);
CQ_API void      cq_pt2_free(cq_pt2 *program);

/* The same from memory, as cq_script_load_bytes. */
CQ_API cq_status cq_pt2_load_bytes(cq_pt2 **out, const void *data, size_t size, const char *name,
                                   const char *entry, void (*release)(void *user), void *user);

/* Puts another tensor in the place of a weight or constant of the file, by its name there. It is
 * retained. CQ_E_NOT_FOUND: there is none. */
CQ_API cq_status cq_pt2_set_tensor(cq_pt2 *program, const char *name, cq_tensor *t);

/* The opset that options.opset = 0 stands for. */
CQ_API int32_t cq_pt2_default_opset(const cq_pt2 *program);

/* As cq_script_define and cq_script_set_limits (<calque/script.h>). */
CQ_API cq_status cq_pt2_define(cq_pt2 *program, const char *source, const char *name);
CQ_API void      cq_pt2_set_limits(cq_pt2 *program, uint64_t max_steps, uint64_t max_bytes);

/* The inputs: tensors and numbers that the user gives, flattened. Their names are those of
 * forward's arguments; NULL past the end. */
CQ_API size_t      cq_pt2_n_inputs(const cq_pt2 *program);
CQ_API const char *cq_pt2_input_name(const cq_pt2 *program, size_t index);

/* The input that the program was made with, or one like it if the file does not hold it. A number
 * is a tensor without dimensions. Release *out. */
CQ_API cq_status cq_pt2_example_input(cq_tensor **out, const cq_pt2 *program, size_t index);

/* The same with every open size larger, as far as the program's own conditions on sizes allow: for
 * trying an export out. */
CQ_API cq_status cq_pt2_larger_input(cq_tensor **out, cq_pt2 *program, size_t index);

/* Gives the past keys and values of a language model, and the sizes of its inputs, the names that
 * programs which run such models look for: with the convention "hf", past_key_values.0.key,
 * present.0.key and sequence_length. */
CQ_API cq_status cq_pt2_name_as(cq_pt2 *program, const char *convention);

/* The name of an output: its place in the dict or object that forward returns ("logits"); NULL: it
 * has none. */
CQ_API const char *cq_pt2_output_name(const cq_pt2 *program, size_t index);

/* Exports the program. inputs are an example; with n_inputs 0 it is the program's own. Sizes that
 * the program leaves open stay so: the dynamic axes of the options can only name them. */
CQ_API cq_status cq_pt2_export(cq_onnx_model **out, cq_pt2 *program, cq_tensor *const *inputs,
                               size_t n_inputs, const cq_export_options *options);

/* Runs it. Outputs are flattened, None left out, numbers as tensors without dimensions; they are
 * the caller's to release. *n_outputs is how many there are; those beyond max are left out. */
CQ_API cq_status cq_pt2_run_as(cq_pt2 *program, cq_tensor *const *inputs, size_t n_inputs,
                               const cq_run_options *options, cq_tensor **outputs, size_t max,
                               size_t *n_outputs);

#ifdef __cplusplus
}
#endif

#endif
