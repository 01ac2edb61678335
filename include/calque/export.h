/* Exporting to ONNX: the options, and everything around torch.onnx.export's arguments. */
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
#define CQ_OPSET_NEWEST  24
#define CQ_OPSET_DEFAULT 17 /* of programs of torch.export: CQ_PT2_OPSET_DEFAULT */

typedef enum cq_training {
    CQ_TRAINING_EVAL     = 0, /* as in inference */
    CQ_TRAINING_TRAIN    = 1,
    CQ_TRAINING_PRESERVE = 2 /* whatever mode each module is in */
} cq_training;

typedef enum cq_operator_export_type {
    CQ_OPERATORS_ONNX          = 0,   /* all operators must become ONNX */
    CQ_OPERATORS_ONNX_ATEN     = 1,   /* ATen operators stay, as nodes of domain org.pytorch.aten */
    CQ_OPERATORS_ATEN_FALLBACK = 2,   /* those stay that have no other form */
    CQ_OPERATORS_ONNX_FALLTHROUGH = 3 /* the same, under their own names */
} cq_operator_export_type;

/* An axis whose size is not fixed. */
typedef struct cq_dynamic_axis {
    const char *value; /* the name of an input or output */
    int32_t     axis;  /* negative: from the end */
    const char *name;  /* NULL: a name is made up, `<value>_dynamic_axes_<n>` */
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
    CQ_EXPORT_NO_INITIALIZERS_AS_INPUTS   = 1 << 3, /* neither: by IR version */
    CQ_EXPORT_VERBOSE                     = 1 << 4, /* the graph goes to options.print */
    CQ_EXPORT_EXTERNAL_DATA               = 1 << 5, /* weights into a file beside the model */
    CQ_EXPORT_ALL_MODULES_AS_FUNCTIONS    = 1 << 6,
    CQ_EXPORT_NO_AUTOGRAD_INLINING        = 1 << 7,
    CQ_EXPORT_DROP_UNUSED_INPUTS          = 1 << 8, /* as PyTorch does; else they stay inputs */
    CQ_EXPORT_PRINT_CAPTURED              = 1 << 9, /* the captured one does; no model is made */
    CQ_EXPORT_STATIC         = 1 << 10, /* of a program of torch.export: all sizes are fixed */
    CQ_EXPORT_KEEP_MUTATIONS = 1 << 11, /* the same: what it changes becomes outputs, x_out */
    CQ_EXPORT_KEEP_ASSERTS   = 1 << 12, /* the same: what it asserts of data does, assert_0 */

    /* Inputs of which nothing but the sizes is asked are dropped. Unlike with DROP_UNUSED_INPUTS,
     * one that an operator takes stays, though the model turned out not to need it. */
    CQ_EXPORT_DROP_UNREAD_INPUTS = 1 << 13,

    /* Of TorchScript and programs of torch.export: buffers and attributes that a call changes are
     * inputs, `state.NAME_in`, and outputs, `state.NAME_out`, behind all others; an input that it
     * changes has an output `state.NAME_out`. What they begin with is in the metadata
     * (cq_onnx_model_state). */
    CQ_EXPORT_STATE = 1 << 14,

    /* Inputs and outputs of complex numbers, which ONNX has no operators for, become pairs of real
     * ones, as cq_tensor_pairs makes them. Else they are an error. */
    CQ_EXPORT_COMPLEX_AS_PAIRS = 1 << 16,

    /* Of TorchScript: a quantized tensor among the results is three outputs, its integers, scale
     * and zero point, as PyTorch has it. Else it is one, of floats. */
    CQ_EXPORT_QUANTIZED_PARTS = 1 << 17,

    /* Of TorchScript: a list of tensors of one dtype or of integers among the arguments is one
     * input, a sequence, as PyTorch has it; the model wants it as long as the example's. Else, and
     * before opset 11, which brought sequences, each of its items is an input. */
    CQ_EXPORT_LISTS_AS_SEQUENCES = 1 << 18,

    /* Of TorchScript: a tensor for what is declared as Optional[Tensor] is an optional input, as
     * PyTorch has it: a run may leave it empty, and branches that ask for it stay. Else, and before
     * opset 15, which brought optionals, it is a plain input, which is always there. */
    CQ_EXPORT_OPTIONAL_INPUTS = 1 << 19
};

/* What came of an export: what is in the model, and what a user should know about it. It is filled
 * whether the export succeeds or not. Texts belong to the report. */
typedef struct cq_export_report cq_export_report;

typedef enum cq_report_kind {
    CQ_REPORT_OPERATORS = 0, /* of the model: "Conv", or "mydomain::Op" */
    CQ_REPORT_MISSING   = 1, /* operators that could not be exported: "aten::foo" */
    CQ_REPORT_BAKED     = 2, /* sizes and numbers that were read, and do not follow other inputs */
    CQ_REPORT_MODULES   = 3  /* that were called, in order: name is the path, count the operations
                              * (FLOPs) of the nodes in it, as cq_onnx_model_count_flops has them,
                              * where the class, why what it returned first: "float32 1x64x55x55" */
} cq_report_kind;

typedef struct cq_report_entry {
    const char *name;  /* of the operator; what was read */
    int64_t     count; /* how often; the number that was read */
    const char *where; /* path of the module, or place in the source, of the first; may be "" */
    const char *why;   /* why it could not be exported; may be "" */
    int32_t     opset; /* the first that can; 0: none */
} cq_report_entry;

CQ_API cq_status cq_export_report_new(cq_export_report **out);
CQ_API void      cq_export_report_free(cq_export_report *report); /* NULL is fine */

/* Entries are in the order they were met. */
CQ_API size_t cq_export_report_count(const cq_export_report *report, cq_report_kind kind);
CQ_API const cq_report_entry *cq_export_report_at(const cq_export_report *report,
                                                  cq_report_kind kind, size_t index);

/* A value of the model, with the node that makes it, and what the source computes in its place on
 * the example; all borrowed during the call. */
typedef void (*cq_export_value_hook)(void *user, const char *value, const char *node,
                                     const char *op_type, cq_tensor *result);

/* Text for people, whole lines without control characters; borrowed during the call. */
typedef void (*cq_export_print_hook)(void *user, const char *text);

/* Set the defaults with cq_export_options_init, then change what you need. All pointers are
 * borrowed during the call. */
typedef struct cq_export_options {
    size_t                  struct_size; /* set by cq_export_options_init, never by hand */
    int32_t                 opset;       /* default 0: that of what is exported */
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
    const char             *symbolics;  /* text of operator rules, read after the built-in ones */
    const char             *producer;   /* NULL: "calque" */
    const char             *graph_name; /* NULL: "main_graph" */
    cq_export_report       *report;     /* filled; NULL: none is wanted */

    /* The results of the model for the example, flattened, as a run of it gives them in the mode
     * that is exported, and then the outputs that were named (cq_as_output); those beyond n_outputs
     * are left out, those that are not there are NULL. They are the caller's to release. NULL: the
     * model is not run. */
    cq_tensor **outputs;
    size_t      n_outputs;

    cq_annotations        annotations;
    const cq_module_mark *marks; /* annotations, anchors and outputs by path */
    size_t                n_marks;

    /* Called after an export for each value of the model that an operator of the source computes
     * too, in its order, if the examples have data. What is inside of a branch or loop, or behind
     * one, is left out. NULL: the source is not run. */
    cq_export_value_hook each_value;
    void                *each_value_user;

    /* Where CQ_EXPORT_VERBOSE and CQ_EXPORT_PRINT_CAPTURED print; they need it. */
    cq_export_print_hook print;
    void                *print_user;

    /* What floats of the program are as tensors, as torch.set_default_dtype has it; CQ_DTYPE_NONE:
     * float32. */
    cq_dtype default_dtype;
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
    /* What the run changes of the model, buffers and attributes, is taken back; else the next run
     * finds it, as in PyTorch. */
    CQ_RUN_RESTORE = 1 << 15,

    /* With the state that the last export with CQ_EXPORT_STATE found: it begins with that of the
     * options, and what it becomes comes behind the outputs. It is taken back, too. */
    CQ_RUN_STATE = CQ_EXPORT_STATE
};

/* How a model is run. Set the defaults with cq_run_options_init. */
typedef struct cq_run_options {
    size_t                struct_size; /* set by cq_run_options_init, never by hand */
    cq_training           training;
    const cq_module_mark *marks; /* outputs by path, as of an export */
    size_t                n_marks;
    cq_gradients         *gradients; /* gets those of the run; NULL: none are wanted */
    uint32_t              flags;     /* CQ_RUN_*, CQ_EXPORT_KEEP_MUTATIONS; default 0 */
    cq_tensor *const     *state;     /* of CQ_RUN_STATE, in the order of the export's inputs; those
                                      * beyond n_state begin with what the model holds */
    size_t n_state;
} cq_run_options;

CQ_API void cq_run_options_init(cq_run_options *options);

/* The same in a mode, with the outputs that were named after the others. *n_outputs is how many
 * there are; those beyond max are left out. options may be NULL. */
CQ_API cq_status cq_module_run_as(cq_module *module, cq_tensor *const *inputs, size_t n_inputs,
                                  const cq_run_options *options, cq_tensor **outputs, size_t max,
                                  size_t *n_outputs);

#ifdef __cplusplus
}
#endif

#endif
