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

/* Maps a file. Weights and external data are read when they are used, so neither file may change
 * while the model exists. */
CQ_API cq_status cq_onnx_model_load(cq_onnx_model **out, const char *path);

/* Reads a copy of size bytes. Such a model cannot have external data. */
CQ_API cq_status cq_onnx_model_decode(cq_onnx_model **out, const void *data, size_t size);

/* Accepts NULL. Tensors made from the model stay valid. */
CQ_API void cq_onnx_model_free(cq_onnx_model *model);

typedef enum cq_onnx_save_flags {
    /* Write large initializers to PATH.data, or to PATH.data.0123456789abcdef if PATH.data exists.
     * The data file of a replaced model is deleted if no other file of the folder refers to it. */
    CQ_ONNX_SAVE_EXTERNAL = 1,
    CQ_ONNX_SAVE_AS_IS    = 2, /* keep references to external data unchanged */
    /* External tensors that no edit changed stay in the files that hold them, which must be in the
     * folder of PATH. */
    CQ_ONNX_SAVE_SHARE_DATA = 4,
    /* As CQ_ONNX_SAVE_SHARE_DATA, but tensors whose files are in another folder are copied. */
    CQ_ONNX_SAVE_SHARE_BESIDE = 8
} cq_onnx_save_flags;

typedef struct cq_onnx_save_options {
    size_t   struct_size; /* set by cq_onnx_save_options_init, never by hand */
    uint32_t flags;       /* CQ_ONNX_SAVE_*; default 0 */
    uint64_t threshold;   /* smallest external tensor in bytes; default 1024 */
    char    *data_path;   /* if not NULL, receives the path of the data file, or "" */
    size_t   data_path_size;
    /* A name for the data file, relative to the folder of the model; it is replaced if it exists.
     * NULL: as CQ_ONNX_SAVE_EXTERNAL says. */
    const char *data_name;
    /* Largest size of a data file in bytes, unless one tensor is larger; the others are NAME.1,
     * NAME.2, … 0: one file. */
    uint64_t split_size;
} cq_onnx_save_options;

CQ_API void cq_onnx_save_options_init(cq_onnx_save_options *opts);

/* Writes a file atomically, including the model's external data: into the file itself, or, with
 * CQ_ONNX_SAVE_EXTERNAL and always if the file would exceed 2 GB, into one data file next to it.
 * opts may be NULL. */
CQ_API cq_status cq_onnx_model_save(const cq_onnx_model *model, const char *path,
                                    const cq_onnx_save_options *opts);

/* Encodes the model with CQ_ONNX_SAVE_AS_IS; free *data with cq_buffer_free. */
CQ_API cq_status cq_onnx_model_encode(void **data, size_t *size, const cq_onnx_model *model);

/* The listing of onnx.helper.printable_graph; free *text with cq_buffer_free. */
CQ_API cq_status cq_onnx_model_print(char **text, const cq_onnx_model *model);

/* ---- ONNX's text syntax ---- */

/* Receives a piece of text; returning false stops the printer. */
typedef bool (*cq_text_writer)(void *user, const char *text, size_t size);

/* Prints the model as text, piece by piece, without loss: fields that ONNX's syntax cannot express
 * are comments that cq_onnx_model_parse reads back. */
CQ_API cq_status cq_onnx_model_write_text(const cq_onnx_model *model, cq_text_writer write,
                                          void *user);

/* The same into a file. */
CQ_API cq_status cq_onnx_model_save_text(const cq_onnx_model *model, const char *path);

/* Reads such text. where names it in errors and may be NULL. */
CQ_API cq_status cq_onnx_model_parse(cq_onnx_model **out, const char *text, size_t size,
                                     const char *where);

/* The same for a file. External data is resolved relative to it. */
CQ_API cq_status cq_onnx_model_load_text(cq_onnx_model **out, const char *path);

/* Protobuf's text format, which other programs of ONNX call .textproto or .pbtxt. */
CQ_API cq_status cq_onnx_model_save_textproto(const cq_onnx_model *model, const char *path);
CQ_API cq_status cq_onnx_model_load_textproto(cq_onnx_model **out, const char *path);

/* The form of a file by its name: .onnxtxt and .txt are ONNX's text syntax; .textproto, .pbtxt and
 * .prototxt are protobuf's text format; all others are binary. */
typedef enum cq_onnx_form {
    CQ_ONNX_FORM_BINARY = 0,
    CQ_ONNX_FORM_TEXT   = 1,
    CQ_ONNX_FORM_PROTO  = 2
} cq_onnx_form;

CQ_API cq_onnx_form cq_onnx_form_of(const char *path);
CQ_API cq_status    cq_onnx_model_load_as(cq_onnx_model **out, const char *path, cq_onnx_form form);
CQ_API cq_status    cq_onnx_model_save_as(const cq_onnx_model *model, const char *path,
                                          cq_onnx_form form, const cq_onnx_save_options *opts);

/* ---- Checking ---- */

/* A violation of the ONNX specification. Findings are in the order of the model; the list owns the
 * strings. */
typedef struct cq_onnx_finding {
    const char *code;       /* stable: "graph-name-missing" */
    const char *where;      /* "graph main > node /conv/Conv (Conv) > attribute pads" */
    const char *what;       /* "the graph has no name" */
    const char *hint;       /* what to do about it */
    bool        is_warning; /* a violation that onnx.checker 1.12 accepts */
} cq_onnx_finding;

typedef struct cq_onnx_findings cq_onnx_findings;

/* Returns CQ_OK with findings for an invalid model; it fails only if it cannot check. The model is
 * valid if all findings are warnings. Free *out with cq_onnx_findings_free. */
CQ_API cq_status cq_onnx_model_check(cq_onnx_findings **out, const cq_onnx_model *model);

CQ_API size_t                 cq_onnx_findings_count(const cq_onnx_findings *findings);
CQ_API const cq_onnx_finding *cq_onnx_findings_at(const cq_onnx_findings *findings, size_t index);
CQ_API void                   cq_onnx_findings_free(cq_onnx_findings *findings);

/* Compares two models, ignoring names, documentation and the order of nodes and initializers.
 * Weights are equal within atol + rtol * |a|. No finding means that the models are equal. */
CQ_API cq_status cq_onnx_model_diff(cq_onnx_findings **out, const cq_onnx_model *a,
                                    const cq_onnx_model *b, double rtol, double atol);

/* Sorts the nodes of all graphs and functions topologically, which ONNX requires but many files
 * violate. *changed receives whether the order changed. Nodes on a cycle keep their position. */
CQ_API cq_status cq_onnx_model_sort(bool *changed, cq_onnx_model *model);

typedef enum cq_onnx_infer_flags {
    CQ_ONNX_INFER_STRICT      = 1, /* contradictions are errors */
    CQ_ONNX_INFER_CHECK_TYPES = 2, /* types that an operator does not accept are errors */
    CQ_ONNX_INFER_KEEP_MODEL  = 4, /* do not change the model: only check */
    CQ_ONNX_INFER_KNOWN_ONLY  = 8  /* operators without schema and function are errors */
} cq_onnx_infer_flags;

/* Infers the type and shape of every value, also in subgraphs, and adds them to the model. Sizes
 * may be symbols or expressions, `2*batch+1`; a data-dependent size is called `unk__0`. flags are
 * CQ_ONNX_INFER_*; with 0 it fails only if memory runs out. */
CQ_API cq_status cq_onnx_model_infer(cq_onnx_model *model, uint32_t flags);

/* The name or operator of a node that generates random numbers, which makes runs differ; NULL if
 * the model has none. */
CQ_API const char *cq_onnx_model_random_node(const cq_onnx_model *model);

/* Counts the multiplications and additions of convolutions and matrix products, using inferred
 * shapes. It permanently sets dynamic sizes of the inputs to 1. */
CQ_API cq_status cq_onnx_model_count_flops(double *out, cq_onnx_model *model);

/* ---- Inputs, outputs and initializers ---- */

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

/* NONE if it is not a tensor, or if calque has no dtype for it. */
CQ_API cq_dtype cq_onnx_model_value_dtype(const cq_onnx_model *model, cq_onnx_side side,
                                          size_t index);

/* -1 if it is unknown. */
CQ_API int32_t cq_onnx_model_value_rank(const cq_onnx_model *model, cq_onnx_side side,
                                        size_t index);
CQ_API int64_t cq_onnx_model_value_size(const cq_onnx_model *model, cq_onnx_side side, size_t index,
                                        size_t axis);

/* The name of a dynamic axis, "" if it has none. */
CQ_API const char *cq_onnx_model_value_axis(const cq_onnx_model *model, cq_onnx_side side,
                                            size_t index, size_t axis);

CQ_API size_t cq_onnx_model_n_nodes(const cq_onnx_model *model);
CQ_API size_t cq_onnx_model_n_initializers(const cq_onnx_model *model);

/* Whether the model, its subgraphs or functions contain an operator of the default domain. */
CQ_API bool cq_onnx_model_has_node(const cq_onnx_model *model, const char *op_type);

/* Whether an input is optional because an initializer has the same name. */
CQ_API bool cq_onnx_model_has_initializer(const cq_onnx_model *model, const char *name);

/* An initializer as a tensor: a view of the file if the layout allows. name may be NULL; it is
 * borrowed from the model. */
CQ_API cq_status cq_onnx_model_initializer(cq_tensor **out, const char **name,
                                           const cq_onnx_model *model, size_t index);

/* State between runs, from the metadata (CQ_EXPORT_STATE): an output that becomes an input of the
 * next run, and the initial value of that input, which the caller releases. Names are borrowed from
 * the model; output is "" if the model has no such output. */
CQ_API size_t    cq_onnx_model_n_states(const cq_onnx_model *model);
CQ_API cq_status cq_onnx_model_state(cq_tensor **initial, const char **input, const char **output,
                                     const cq_onnx_model *model, size_t index);

#ifdef __cplusplus
}
#endif

#endif
