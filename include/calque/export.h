/* Export to ONNX: options, reports, and the calls for modules in C. The options cover the
 * arguments of torch.onnx.export. */
#ifndef CALQUE_EXPORT_H
#define CALQUE_EXPORT_H

#include <calque/autograd.h>
#include <calque/annotate.h>
#include <calque/module.h>
#include <calque/onnx.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CQ_OPSET_OLDEST  7
#define CQ_OPSET_NEWEST  28
#define CQ_OPSET_DEFAULT 17 /* of programs of torch.export: CQ_PT2_OPSET_DEFAULT */

typedef enum cq_training {
    CQ_TRAINING_EVAL     = 0, /* as in inference */
    CQ_TRAINING_TRAIN    = 1,
    CQ_TRAINING_PRESERVE = 2 /* whatever mode each module is in */
} cq_training;

typedef enum cq_operator_export_type {
    CQ_OPERATORS_ONNX          = 0,   /* all operators must become ONNX */
    CQ_OPERATORS_ONNX_ATEN     = 1,   /* ATen operators stay, as nodes of domain org.pytorch.aten */
    CQ_OPERATORS_ATEN_FALLBACK = 2,   /* operators without a symbolic function stay ATen nodes */
    CQ_OPERATORS_ONNX_FALLTHROUGH = 3 /* the same, under their own names */
} cq_operator_export_type;

/* An axis of dynamic size. */
typedef struct cq_dynamic_axis {
    const char *value; /* the name of an input or output */
    int32_t     axis;  /* negative: from the end */
    const char *name;  /* NULL: `<value>_dynamic_axes_<n>` */
} cq_dynamic_axis;

typedef struct cq_custom_opset {
    const char *domain;
    int64_t     version;
} cq_custom_opset;

/* Where annotations go. */
typedef enum cq_annotations {
    CQ_ANNOTATIONS_ATTRIBUTE = 0, /* attributes, as in pytorch-pfn-extras: not valid ONNX */
    CQ_ANNOTATIONS_METADATA = 1 /* metadata_props of the nodes, which is valid; and of the model, as
                                 * "NODE:NAME", for readers older than IR version 10 */
} cq_annotations;

enum {
    CQ_EXPORT_NO_PARAMS                   = 1 << 0, /* weights become inputs */
    CQ_EXPORT_NO_CONSTANT_FOLDING         = 1 << 1,
    CQ_EXPORT_KEEP_INITIALIZERS_AS_INPUTS = 1 << 2,
    CQ_EXPORT_NO_INITIALIZERS_AS_INPUTS   = 1 << 3, /* without either, the IR version decides */
    CQ_EXPORT_VERBOSE                     = 1 << 4, /* print the graph by options.print */
    CQ_EXPORT_EXTERNAL_DATA               = 1 << 5, /* weights into a file beside the model */
    CQ_EXPORT_ALL_MODULES_AS_FUNCTIONS    = 1 << 6,
    CQ_EXPORT_NO_AUTOGRAD_INLINING        = 1 << 7,
    CQ_EXPORT_DROP_UNUSED_INPUTS          = 1 << 8,  /* as PyTorch does; default: keep them */
    CQ_EXPORT_PRINT_CAPTURED              = 1 << 9,  /* print the captured graph, then stop */
    CQ_EXPORT_STATIC                      = 1 << 10, /* .pt2: fix all dynamic sizes */
    CQ_EXPORT_KEEP_MUTATIONS = 1 << 11, /* .pt2: return mutated inputs and buffers as NAME_out */
    CQ_EXPORT_KEEP_ASSERTS   = 1 << 12, /* .pt2: return asserted conditions as assert_0 … */

    /* Drop inputs of which only the sizes are read. Unlike with DROP_UNUSED_INPUTS, an input that
     * an operator takes is kept even if its result is unused. */
    CQ_EXPORT_DROP_UNREAD_INPUTS = 1 << 13,

    /* TorchScript and .pt2: buffers and attributes that a call changes become inputs
     * `state.NAME_in` and outputs `state.NAME_out`, after all others; an input that the call
     * changes gets an output `state.NAME_out`. The initial values are in the metadata
     * (cq_onnx_model_state). */
    CQ_EXPORT_STATE = 1 << 14,

    /* Complex inputs and outputs become pairs of real numbers (cq_tensor_pairs), because ONNX has
     * no operators for complex tensors. By default they are an error. */
    CQ_EXPORT_COMPLEX_AS_PAIRS = 1 << 16,

    /* TorchScript: a quantized result becomes three outputs, as in PyTorch: integers, scale and
     * zero point. By default it is one output of floats. */
    CQ_EXPORT_QUANTIZED_PARTS = 1 << 17,

    /* TorchScript: an argument that is a list of tensors of one dtype, or of integers, becomes one
     * sequence input, as in PyTorch; the model expects the length of the example. By default, and
     * below opset 11, which introduced sequences, each item is an input. */
    CQ_EXPORT_LISTS_AS_SEQUENCES = 1 << 18,

    /* TorchScript: a tensor argument declared as Optional[Tensor] becomes an optional input, as in
     * PyTorch: a run may omit it, and branches that test for None are kept. By default, and below
     * opset 15, which introduced optionals, it is a required input. */
    CQ_EXPORT_OPTIONAL_INPUTS = 1 << 19,

    /* Nodes record their origin: the source location as doc_string, and the modules as metadata
     * `calque.module`, "layer1:Sequential/0:Bottleneck". For <calque/view.h>. */
    CQ_EXPORT_ORIGINS = 1 << 20
};

/* The report of an export: the contents of the model, and findings for the user. It is filled
 * whether the export succeeds or not. The report owns its strings. */
typedef struct cq_export_report cq_export_report;

typedef enum cq_report_kind {
    CQ_REPORT_OPERATORS = 0, /* of the model: "Conv", or "mydomain::Op" */
    CQ_REPORT_MISSING   = 1, /* operators that could not be exported: "aten::foo" */
    CQ_REPORT_BAKED     = 2, /* sizes and numbers fixed to their value on the example */
    CQ_REPORT_MODULES   = 3  /* modules in the order of their calls */
} cq_report_kind;

/* Strings are never NULL; fields that a kind does not use are 0 or "". */
typedef struct cq_report_entry {
    const char *name;       /* operator; BAKED: the expression; MODULES: the module path */
    const char *where;      /* module path or source location of the first occurrence */
    int64_t     count;      /* OPERATORS, MISSING: occurrences */
    const char *reason;     /* MISSING: why it cannot be exported */
    int32_t     opset;      /* MISSING: the lowest opset that can express it; 0: none */
    int64_t     value;      /* BAKED: the value on the example */
    const char *class_name; /* MODULES */
    const char *result;     /* MODULES: the first tensor that it returned, "float32 1x64x55x55" */
    int64_t     flops;      /* MODULES: operations of its nodes (cq_onnx_model_count_flops) */
} cq_report_entry;

CQ_API cq_status cq_export_report_new(cq_export_report **out);
CQ_API void      cq_export_report_free(cq_export_report *report); /* NULL is fine */

/* Entries are in the order of their first occurrence. */
CQ_API size_t cq_export_report_count(const cq_export_report *report, cq_report_kind kind);
CQ_API const cq_report_entry *cq_export_report_at(const cq_export_report *report,
                                                  cq_report_kind kind, size_t index);

/* A value of the model, the node that produces it, and the source's value for it on the example.
 * All are borrowed during the call. */
typedef void (*cq_export_value_hook)(void *user, const char *value, const char *node,
                                     const char *op_type, cq_tensor *result);

/* Text for people, whole lines without control characters; borrowed during the call. */
typedef void (*cq_export_print_hook)(void *user, const char *text);

/* Set the defaults with cq_export_options_init, then change individual fields. All pointers are
 * borrowed during the call. */
typedef struct cq_export_options {
    size_t                  struct_size; /* set by cq_export_options_init, never by hand */
    int32_t                 opset;       /* default 0: chosen by the kind of source */
    uint32_t                flags;       /* CQ_EXPORT_*; default 0 */
    cq_training             training;
    cq_operator_export_type operators;
    const char *const      *input_names; /* of the inputs, then of the parameters, in order */
    size_t                  n_input_names;
    const char *const      *output_names;
    size_t                  n_output_names;
    const cq_dynamic_axis  *dynamic_axes;
    size_t                  n_dynamic_axes;
    const cq_custom_opset  *custom_opsets;
    size_t                  n_custom_opsets;
    const char *const      *function_classes; /* modules of these classes become functions */
    size_t                  n_function_classes;
    const char             *symbolics;  /* a Python file of symbolic functions, as text */
    const char             *producer;   /* NULL: "calque" */
    const char             *graph_name; /* NULL: "main_graph" */
    cq_export_report       *report;     /* filled; may be NULL */

    /* Receives the results of the model for the example, flattened, in the exported training mode,
     * followed by the outputs that cq_as_output named. Results beyond n_outputs are dropped,
     * missing ones are NULL. The caller releases them. NULL: the model is not run. */
    cq_tensor **outputs;
    size_t      n_outputs;

    cq_annotations        annotations;
    const cq_module_mark *marks; /* annotations, anchors and outputs by path */
    size_t                n_marks;

    /* Called after an export, in execution order, for each value of the model that an operator of
     * the source also computes, if the examples have data. Values inside of branches and loops, and
     * values that depend on them, are skipped. NULL: the source is not run. */
    cq_export_value_hook each_value;
    void                *each_value_user;

    /* Required by CQ_EXPORT_VERBOSE and CQ_EXPORT_PRINT_CAPTURED. */
    cq_export_print_hook print;
    void                *print_user;

    /* The dtype of tensors made of Python floats (torch.set_default_dtype); CQ_DTYPE_NONE:
     * float32. */
    cq_dtype default_dtype;

    const char *symbolics_name; /* of the file of symbolics, for errors; NULL: "<symbolics>" */
} cq_export_options;

CQ_API void cq_export_options_init(cq_export_options *options);

/* Exports a module by running it once on example inputs (their data is only read if the model
 * asks for numbers). Free *out with cq_onnx_model_free; it is NULL on failure. options may be
 * NULL. The module's parameters are read, not copied: they must live as long as *out. */
CQ_API cq_status cq_module_export(cq_onnx_model **out, cq_module *module, cq_tensor *const *inputs,
                                  size_t n_inputs, const cq_export_options *options);

/* The same with nested arguments: args is the tuple of them. Their tensors, in order, are the
 * inputs of the graph, and those of the result are its outputs. */
CQ_API cq_status cq_module_export_nested(cq_onnx_model **out, cq_module *module,
                                         const cq_nest *args, const cq_export_options *options);

/* As cq_module_export, straight into a file. On failure no file is left behind. */
CQ_API cq_status cq_module_export_file(const char *path, cq_module *module,
                                       cq_tensor *const *inputs, size_t n_inputs,
                                       const cq_export_options *options);

/* Runs a module on tensors with data. The outputs are the caller's to release. */
CQ_API cq_status cq_module_run(cq_module *module, cq_tensor *const *inputs, size_t n_inputs,
                               cq_tensor **outputs, size_t n_outputs);

enum {
    /* Undo changes of buffers and attributes after the run. By default they stay, as in PyTorch. */
    CQ_RUN_RESTORE = 1 << 0,

    /* Run with the state that the last export with CQ_EXPORT_STATE found: it starts with the state
     * of the options, and its final values follow the outputs. The changes are undone. */
    CQ_RUN_STATE = 1 << 1,

    /* .pt2: the inputs and buffers that the run mutates follow the outputs, as with
     * CQ_EXPORT_KEEP_MUTATIONS. */
    CQ_RUN_KEEP_MUTATIONS = 1 << 2,

    /* .pt2: the asserted conditions follow the outputs, as with CQ_EXPORT_KEEP_ASSERTS. */
    CQ_RUN_KEEP_ASSERTS = 1 << 3
};

/* How a model is run. Set the defaults with cq_run_options_init. */
typedef struct cq_run_options {
    size_t                struct_size; /* set by cq_run_options_init, never by hand */
    cq_training           training;
    const cq_module_mark *marks; /* named outputs by module path, as in an export */
    size_t                n_marks;
    cq_gradients         *gradients; /* receives the gradients of the run; may be NULL */
    uint32_t              flags;     /* CQ_RUN_*; default 0 */
    cq_tensor *const     *state;     /* for CQ_RUN_STATE, in the order of the export's inputs;
                                      * missing values start with those of the model */
    size_t n_state;
} cq_run_options;

CQ_API void cq_run_options_init(cq_run_options *options);

/* Options of a run that computes the outputs of an export with these options: the same training
 * mode,
 * marks, state, mutations and asserts. Changes of the model are undone. */
CQ_API void cq_run_options_like_export(cq_run_options          *options,
                                       const cq_export_options *export_options);

/* The same with options, which may be NULL. Named outputs follow the others. *n_outputs receives
 * the number of all outputs; those beyond max are dropped. */
CQ_API cq_status cq_module_run_as(cq_module *module, cq_tensor *const *inputs, size_t n_inputs,
                                  const cq_run_options *options, cq_tensor **outputs, size_t max,
                                  size_t *n_outputs);

/* Replaces the initializers of a model by the weights of a file, by name. A weight of the file that
 * the model does not have is always an error: the exporter has folded it into others. */
CQ_API cq_status cq_onnx_model_load_weights(cq_onnx_model *model, cq_weights *weights,
                                            uint32_t flags);

#ifdef __cplusplus
}
#endif

#endif
