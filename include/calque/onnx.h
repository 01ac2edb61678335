/* ONNX models: reading, writing, printing and checking .onnx files. Running one is in
 * <calque/session.h>, making one from a PyTorch model in <calque/module.h>. */
#ifndef CALQUE_ONNX_H
#define CALQUE_ONNX_H

#include <calque/status.h>
#include <calque/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cq_onnx_model cq_onnx_model;

/* Reads a file. Weights stay in it until they are used, and external data is only
 * looked at then; both files must not change while the model lives. */
CQ_API cq_status cq_onnx_model_load(cq_onnx_model **out, const char *path);

/* Reads a copy of size bytes. External data of such a model cannot be found. */
CQ_API cq_status cq_onnx_model_decode(cq_onnx_model **out, const void *data, size_t size);

/* NULL is fine. Tensors that were made from the model stay valid. */
CQ_API void cq_onnx_model_free(cq_onnx_model *model);

typedef enum cq_onnx_save_flags {
    /* Large initializers go to PATH.data, or PATH.data.0123456789abcdef if PATH.data exists. The
     * data file of the model that is replaced is deleted if no other file of the folder names it.
     */
    CQ_ONNX_SAVE_EXTERNAL = 1,
    CQ_ONNX_SAVE_AS_IS    = 2 /* references to external data stay, wherever they lead */
} cq_onnx_save_flags;

typedef struct cq_onnx_save_options {
    size_t   struct_size; /* set by cq_onnx_save_options_init, never by hand */
    uint32_t flags;       /* CQ_ONNX_SAVE_*; default 0 */
    uint64_t threshold;   /* smallest external tensor in bytes; default 1024 */
    char    *data_path;   /* if not NULL, receives the path of the data file, "" if there is none */
    size_t   data_path_size;
} cq_onnx_save_options;

CQ_API void cq_onnx_save_options_init(cq_onnx_save_options *opts);

/* Writes a file, through a temporary name. Whatever is in external files of the model is
 * written too: into the file, or with CQ_ONNX_SAVE_EXTERNAL, and always when the file
 * would be larger than 2 GB, into one file beside it. opts may be NULL. */
CQ_API cq_status cq_onnx_model_save(const cq_onnx_model *model, const char *path,
                                    const cq_onnx_save_options *opts);

/* The bytes of a file, as CQ_ONNX_SAVE_AS_IS; free *data with cq_buffer_free. */
CQ_API cq_status cq_onnx_model_encode(void **data, size_t *size, const cq_onnx_model *model);

/* The listing that onnx.helper.printable_graph gives; free *text with cq_buffer_free. */
CQ_API cq_status cq_onnx_model_print(char **text, const cq_onnx_model *model);

/* ---- ONNX's text syntax ---- */

/* Takes a piece of text; false stops the printer. */
typedef bool (*cq_text_writer)(void *user, const char *text, size_t size);

/* The model as text, piece by piece. All of it: what ONNX's syntax has no words for is in comments
 * that cq_onnx_model_parse understands, and reading the text gives the same model. */
CQ_API cq_status cq_onnx_model_write_text(const cq_onnx_model *model, cq_text_writer write,
                                          void *user);

/* The same into a file. */
CQ_API cq_status cq_onnx_model_save_text(const cq_onnx_model *model, const char *path);

/* Reads text, ONNX's or the above. where names it in errors and may be NULL. */
CQ_API cq_status cq_onnx_model_parse(cq_onnx_model **out, const char *text, size_t size,
                                     const char *where);

/* The same for a file. External data is found beside it. */
CQ_API cq_status cq_onnx_model_load_text(cq_onnx_model **out, const char *path);

/* ---- Checking ---- */

/* What is wrong with a model: all of it, in the order of the model. Texts belong to the
 * list. */
typedef struct cq_onnx_finding {
    const char *code;       /* stable: "graph-name-missing" */
    const char *where;      /* "graph main > node /conv/Conv (Conv) > attribute pads" */
    const char *what;       /* "the graph has no name" */
    const char *hint;       /* what to do about it */
    bool        is_warning; /* it is wrong, but onnx.checker 1.12 lets it pass */
} cq_onnx_finding;

typedef struct cq_onnx_findings cq_onnx_findings;

/* Fails only when it cannot look; a bad model is CQ_OK with findings. It is valid if all of them
 * are warnings. Free *out with cq_onnx_findings_free. */
CQ_API cq_status cq_onnx_model_check(cq_onnx_findings **out, const cq_onnx_model *model);

CQ_API size_t                 cq_onnx_findings_count(const cq_onnx_findings *findings);
CQ_API const cq_onnx_finding *cq_onnx_findings_at(const cq_onnx_findings *findings, size_t index);
CQ_API void                   cq_onnx_findings_free(cq_onnx_findings *findings);

/* What differs between two models, names, documentation and the order of nodes and initializers
 * aside; weights count as equal within atol + rtol * |a|. No finding: they are the same. */
CQ_API cq_status cq_onnx_model_diff(cq_onnx_findings **out, const cq_onnx_model *a,
                                    const cq_onnx_model *b, double rtol, double atol);

/* Puts the nodes of all graphs and functions into an order in which each comes after those whose
 * outputs it reads, as ONNX wants it; many files have another. *changed: it was not so. Nodes
 * that wait for each other stay where they are. */
CQ_API cq_status cq_onnx_model_sort(bool *changed, cq_onnx_model *model);

typedef enum cq_onnx_infer_flags {
    CQ_ONNX_INFER_STRICT      = 1, /* what contradicts itself or a declaration is an error */
    CQ_ONNX_INFER_CHECK_TYPES = 2, /* and so are types that an operator does not take */
    CQ_ONNX_INFER_KEEP_MODEL  = 4, /* nothing is filled in: for those that only want to know */
    CQ_ONNX_INFER_KNOWN_ONLY  = 8  /* an operator without a schema and a function is an error */
} cq_onnx_infer_flags;

/* Works out the type and shape of every value, in subgraphs too, and fills in what the model
 * leaves open. Sizes may be names or expressions of them, `2*batch+1`; one that depends on
 * data is called `unk__0`. flags are CQ_ONNX_INFER_*; with 0 it fails only without memory. */
CQ_API cq_status cq_onnx_model_infer(cq_onnx_model *model, uint32_t flags);

/* A node that draws random numbers, by its name or its operator, so that no two runs need agree;
 * NULL: there is none. */
CQ_API const char *cq_onnx_model_random_node(const cq_onnx_model *model);

/* The multiplications and additions of a model's convolutions and matrix products, by the shapes
 * that inference finds; open sizes of its inputs become 1, for good. */
CQ_API cq_status cq_onnx_model_count_flops(double *out, cq_onnx_model *model);

/* ---- What a model takes and gives ---- */

CQ_API int64_t cq_onnx_model_ir_version(const cq_onnx_model *model);
CQ_API int64_t cq_onnx_model_opset(const cq_onnx_model *model, const char *domain); /* 0: none */
CQ_API const char *cq_onnx_model_producer(const cq_onnx_model *model);   /* "" when not set */
CQ_API const char *cq_onnx_model_graph_name(const cq_onnx_model *model); /* "" when not set */

typedef enum cq_onnx_side {
    CQ_ONNX_INPUTS  = 0,
    CQ_ONNX_OUTPUTS = 1,
    CQ_ONNX_INNER   = 2 /* neither */
} cq_onnx_side;

CQ_API size_t      cq_onnx_model_n_values(const cq_onnx_model *model, cq_onnx_side side);
CQ_API const char *cq_onnx_model_value_name(const cq_onnx_model *model, cq_onnx_side side,
                                            size_t index);

/* NONE when it is not a tensor, or one of a type that calque has no dtype for. */
CQ_API cq_dtype cq_onnx_model_value_dtype(const cq_onnx_model *model, cq_onnx_side side,
                                          size_t index);

/* -1 when it is not known. */
CQ_API int32_t cq_onnx_model_value_rank(const cq_onnx_model *model, cq_onnx_side side,
                                        size_t index);
CQ_API int64_t cq_onnx_model_value_size(const cq_onnx_model *model, cq_onnx_side side, size_t index,
                                        size_t axis);

/* The name of a dynamic axis, "" if it has none. */
CQ_API const char *cq_onnx_model_value_axis(const cq_onnx_model *model, cq_onnx_side side,
                                            size_t index, size_t axis);

CQ_API size_t cq_onnx_model_n_nodes(const cq_onnx_model *model);
CQ_API size_t cq_onnx_model_n_initializers(const cq_onnx_model *model);

/* Whether an operator of ONNX's own domain is in it, in subgraphs and functions too. */
CQ_API bool cq_onnx_model_has_node(const cq_onnx_model *model, const char *op_type);

/* Whether an input need not be given because an initializer has its name. */
CQ_API bool cq_onnx_model_has_initializer(const cq_onnx_model *model, const char *name);

/* An initializer by index, as a tensor: a view of the file where its layout allows. name
 * may be NULL; it is borrowed from the model. */
CQ_API cq_status cq_onnx_model_initializer(cq_tensor **out, const char **name,
                                           const cq_onnx_model *model, size_t index);

/* What a model carries from run to run, by its metadata (CQ_EXPORT_STATE): the output that is the
 * input of the next run, and what that is in the first one, which the caller releases. Names are
 * the model's; output is "" if there is none of that name. */
CQ_API size_t    cq_onnx_model_n_states(const cq_onnx_model *model);
CQ_API cq_status cq_onnx_model_state(cq_tensor **initial, const char **input, const char **output,
                                     const cq_onnx_model *model, size_t index);

#ifdef __cplusplus
}
#endif

#endif
