/* Converts the export options of the command line to cq_export_options. */
#ifndef CALQUE_CLI_EXPORT_OPTIONS_H
#define CALQUE_CLI_EXPORT_OPTIONS_H

#include "cli.h"
#include "example.h"
#include "model.h"

#include <calque/export.h>

#define CLI_MAX_NAMES         4096 /* number of names: enough for the weights of a large model */
#define CLI_MAX_AXES          1024
#define CLI_MAX_CUSTOM_OPSETS 32
#define CLI_MAX_MARKS         1024 /* annotated modules, and attributes in total */
#define CLI_MAX_ITEMS         4096 /* items of lists in annotations */
#define CLI_TEXT_SIZE                                                                              \
    (1 << 20) /* bytes of all names and of the file of symbolic                                    \
               * functions */

/* Rows of option tables of verbs that export. The last two are for TorchScript. */
#define CLI_EXPORT_OPTIONS                                                                         \
    { "opset", "N", "ONNX opset, 7 to 28, or latest (17; 18 for a .pt2)", 0 },                     \
        { "input-names", "A,B", "names of the inputs, then of the weights, in order", 0 },         \
        { "output-names", "Y,Z", "names of the outputs, in order", 0 },                            \
        { "dynamic-axes", "JSON",                                                                  \
          "dynamic sizes, or @FILE: {\"x\": {\"0\": \"batch\"}, \"y\": [0, 2]}", 0 },              \
        { "training", "MODE", "eval, train or preserve (eval)", 0 },                               \
        { "no-constant-folding", NULL, "do not compute constant expressions", 0 },                 \
        { "no-params", NULL, "weights become inputs", 0 },                                         \
        { "keep-initializers-as-inputs", NULL, "weights are also inputs", 0 },                     \
        { "no-initializers-as-inputs", NULL,                                                       \
          "weights are never inputs (the default of type onnx)", 0 },                              \
        { "drop-unused-inputs", NULL, "omit unused inputs", 0 },                                   \
        { "graph-name", "NAME", "name of the graph (main_graph)", 0 },                             \
        { "producer", "NAME", "producer of the model (calque)", 0 },                               \
        { "operator-export-type", "TYPE",                                                          \
          "onnx, onnx_aten, onnx_aten_fallback or onnx_fallthrough (onnx)", 0 },                   \
        { "custom-opset", "DOMAIN=VERSION", "opset of a custom domain, repeatable", 0 },           \
        { "modules-as-functions", "CLASSES", "all, or CLASS,CLASS: modules become functions", 0 }, \
        { "symbolics", "FILE", "Python file of symbolic functions: how operators become ONNX",     \
          0 },                                                                                     \
        { "annotate", "PATH:NAME=VALUE", "mark the first node of a module, repeatable", 0 },       \
        { "annotate-all", NULL, "mark all nodes of these modules", 0 },                            \
        { "anchor", "PATH[:NAME=VALUE]", "Identity nodes around a module, repeatable", 0 },        \
        { "annotations", "WHERE",                                                                  \
          "attribute or metadata; only metadata is valid ONNX (attribute)", 0 },                   \
        { "as-output", "NAME=PATH[:I]", "make the result of a module an output, repeatable", 0 },  \
        { "verbose", NULL, "print the graph", 0 },                                                 \
        { "static", NULL, "fix the dynamic sizes of a .pt2 to those of its example", 0 },          \
        { "keep-mutations", NULL, "mutated buffers and inputs of a .pt2 become outputs: NAME_out", \
          0 },                                                                                     \
        { "keep-asserts", NULL, "assertions of a .pt2 on data become outputs: assert_0, …", 0 },   \
        { "state", NULL, "state becomes inputs and outputs, state.NAME_in and _out", 0 },          \
        { "complex-as-pairs", NULL, "complex inputs and outputs become pairs of real numbers",     \
          0 },                                                                                     \
        { "names", "hf", "past keys and values of a .pt2 as past_key_values.0.key, present.0.key", \
          0 },                                                                                     \
        { "trace", NULL, "the example decides every branch and loop of TorchScript", 0 },          \
    {                                                                                              \
        "script", NULL, "keep the branches and loops that depend on data (the default)", 0         \
    }

/* The groups of options for the help pages of these verbs. */
extern const cli_group cli_export_groups[];

/* Rows for verbs that can strip their output. */
#define CLI_STRIP_OPTIONS                                                                          \
    { "strip-large-tensor-data", NULL, "remove the data of large tensors, as calque strip", 0 },   \
    {                                                                                              \
        "large-tensor-threshold", "N", "strip tensors with more than N elements (100)", 0          \
    }

/* Memory that options refers to. It is large, so it is static; there is one. */
typedef struct cli_export {
    cq_export_options options;
    const char       *input_names[CLI_MAX_NAMES], *output_names[CLI_MAX_NAMES];
    const char       *classes[CLI_MAX_NAMES];
    cq_dynamic_axis   axes[CLI_MAX_AXES];
    cq_custom_opset   custom_opsets[CLI_MAX_CUSTOM_OPSETS];
    cq_module_mark    marks[CLI_MAX_MARKS];
    cq_sym_attr       attrs[CLI_MAX_MARKS]; /* attributes of the marks; those of one mark are
                                             * adjacent */
    size_t      n_attrs;
    int64_t     item_ints[CLI_MAX_ITEMS]; /* items of the lists among them */
    double      item_floats[CLI_MAX_ITEMS];
    const char *item_texts[CLI_MAX_ITEMS];
    size_t      n_items;
    char        text[CLI_TEXT_SIZE];
    size_t      text_len;
} cli_export;

/* Returns the exit code; prints the error. Named sizes of the example become dynamic axes; the
 * model provides names that the command line omits. */
int cli_export_read(cli_export *e, const cli_args *args, const cli_model *model,
                    const cli_example *example);

/* A cq_export_print_hook: to standard output. */
void cli_print_text(void *user, const char *text);

/* Copies text to e; NULL if there is no space. */
char *cli_export_keep(cli_export *e, const char *text);

/* axes.c: reads --dynamic-axes into e. */
int cli_export_read_axes(cli_export *e, const cli_args *args);

/* Checks that all dynamic axes belong to inputs and outputs of the exported model. */
int cli_export_check_axes(const cli_export *e, const cli_args *args, const cq_onnx_model *model);

/* marks.c: reads --annotate, --anchor and --as-output into e. */
int cli_export_read_marks(cli_export *e, const cli_args *args);

#endif
