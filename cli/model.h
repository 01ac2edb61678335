/* The models that verbs accept. Each kind of model has a front end, which opens, exports and runs
 * it; model.c chooses the front end of an operand by its name or its first bytes. The front ends
 * are built-in models (model.c), TorchScript (script_model.c) and programs of torch.export
 * (pt2_model.c). */
#ifndef CALQUE_CLI_MODEL_H
#define CALQUE_CLI_MODEL_H

#include "example.h"

#include <calque/export.h>
#include <calque/testcase.h>
#include <calque/zoo.h>

typedef struct cli_model cli_model;

#define CLI_MAX_OUTPUTS CQ_TESTCASE_MAX_OUTPUTS

/* Maximum number of tensors of a program, more than a command line can name. */
enum { CLI_MAX_TENSORS = 16384 };

typedef struct cli_tensors {
    cq_tensor *items[CLI_MAX_TENSORS];
    size_t     n;
} cli_tensors;

/* Sets the length to n; new elements are NULL. Warns if there is no space. */
void cli_tensors_resize(cli_tensors *list, size_t n);
void cli_tensors_clear(cli_tensors *list);

typedef struct cli_front_end {
    cq_status (*open)(cli_model *model, const char *operand);
    cq_status (*export_to)(cq_onnx_model **out, cli_model *model, cq_tensor *const *inputs,
                           size_t n_inputs, const cq_export_options *options);

    /* outputs has space for CLI_MAX_OUTPUTS; the caller releases those that are set. NULL options:
     * the defaults. */
    cq_status (*run)(cli_model *model, cq_tensor *const *inputs, size_t n_inputs,
                     const cq_run_options *options, cq_tensor **outputs, size_t *n_outputs);

    /* The inputs of the exported model for these inputs, in its order. flat must be empty. */
    cq_status (*flatten)(cli_model *model, cq_tensor *const *inputs, size_t n_inputs,
                         cli_tensors *flat);
    void (*close)(cli_model *model);

    /* Reads definitions of operators from the text of a file; NULL if unsupported. */
    cq_status (*define)(cli_model *model, const char *text, const char *path);

    /* Inputs with sizes other than in the model's own example, for a model with dynamic sizes; at
     * most CLI_MAX_INPUTS, which the caller releases. NULL, or none, if the model has no dynamic
     * sizes. */
    cq_status (*larger)(cli_model *model, cq_tensor **inputs, size_t *n_inputs);

    /* Replaces the weights by those of a file; flags: CQ_WEIGHTS_NOT_STRICT. */
    cq_status (*load)(cli_model *model, cq_weights *weights, uint32_t flags);
} cli_front_end;

/* How a TorchScript program is called. */
typedef struct cli_call {
    const char *entry;     /* a function or method; NULL: forward, or the only one */
    const char *structure; /* the text of args.json; NULL: the tensors are the arguments */
    bool        trace;     /* the example decides all branches and loops */
    const char *names;     /* naming convention for inputs of a .pt2; NULL: the model's own names */
} cli_call;

/* An argument that is part of the program. */
typedef struct cli_constant {
    char        name[CLI_NAME_SIZE];
    const char *value;
} cli_constant;

enum { CLI_MAX_CONSTANTS = 32, CLI_MAX_PATHS = 16 };

/* Limits of an untrusted program. 0: the library's default. */
typedef struct cli_limits {
    uint64_t steps, bytes;
} cli_limits;

/* Rows of option tables of verbs that run or export programs, and the function that reads them. */
#define CLI_LIMIT_OPTIONS                                                                          \
    { "max-steps", "N", "maximum number of steps (50 million, plus 3 for each byte of the file)",  \
      0 },                                                                                         \
    {                                                                                              \
        "max-memory", "MB", "maximum memory without weights (1024 + 256 times the file)", 0        \
    }

int cli_limits_read(cli_limits *limits, const cli_args *args);

/* Large, so it is static; there is one at a time. */
struct cli_model {
    const cli_front_end *front_end;
    const char          *name;   /* "alexnet", for messages and for files named after it */
    void                *handle; /* owned by the front end */
    cli_call             call;
    cli_limits           limits;
    size_t               n_constants;
    cli_constant         constants[CLI_MAX_CONSTANTS];
    cli_signature        takes;
    size_t               n_output_names;
    const char          *output_names[CLI_MAX_OUTPUTS];
    const char          *weights; /* the file of --weights, or NULL */
    size_t               n_paths;
    const char          *paths[CLI_MAX_PATHS]; /* --path: folders where Python source finds
                                                * modules */
    size_t      n_codes;
    const char *codes[CLI_MAX_PATHS]; /* --code: source files of a pickled module */
};

/* Returns the exit code; prints the error. Close the model also on failure. */
int  cli_model_open(cli_model *model, const cli_args *args);
void cli_model_close(cli_model *model);

/* Opens the model that is the first operand of a verb, and the example that --input or --example
 * give. names: what inputs of a .pt2 are to be called after, or NULL. Close both in any case. */
int  cli_open_with_example(const cli_args *args, const char *names, cli_model *model,
                           cli_example *example);
void cli_close_with_example(cli_model *model, cli_example *example);

/* Opens them, does the work of a verb and closes them. */
typedef int (*cli_work)(const cli_args *args, cli_model *model, cli_example *example);
int cli_with_example(const cli_args *args, const char *names, cli_work work);

/* Like cli_result_of_call. If TorchScript rejects its arguments, it also prints the inputs that the
 * method accepts, if they can be inferred. */
int cli_result_of_model(const cli_model *model, cq_status status);

/* The run options that correspond to export options. */
cq_run_options cli_run_options(const cq_export_options *options);

/* Opens the file of --weights, calls load with the user's model and these flags, and prints its
 * note. Without --weights it does nothing. */
typedef cq_status (*cli_load_weights)(void *model, cq_weights *weights, uint32_t flags);
int      cli_weights(const cli_args *args, uint32_t flags, cli_load_weights load, void *model);
uint32_t cli_weights_flags(const cli_args *args); /* for verbs with --weights-not-strict */

/* Whether an operand is a built-in model; or a file with an ONNX model. */
bool cli_model_is_built_in(const char *operand);
bool cli_model_is_onnx(const char *operand);

/* For verbs that only take ONNX models: prints an error if an operand is another known kind of
 * file. */
int cli_need_onnx(const char *operand);

/* Prints that an operand is neither a file nor a built-in model. Returns CLI_FAILED. */
int cli_no_such_model(const char *operand);

/* Whether it is a zip archive, as saved by TorchScript. */
bool cli_model_is_archive(const char *operand);

/* Whether it is a text file, such as TorchScript source, whatever its name is. */
bool cli_model_is_text(const char *operand);

/* "net" for path/to/net.pt; the next call overwrites it. */
const char *cli_model_name(const char *path);

/* After a run: drops the outputs that exceed the limit, with a warning. */
void cli_model_limit_outputs(size_t *n_outputs);

/* Checks that TorchScript has the method of --entry; otherwise prints its methods. */
int cli_script_check_entry(const cli_model *model, const char *operand, bool is_archive);

extern const cli_front_end cli_script_front_end, cli_pt2_front_end;

#endif
