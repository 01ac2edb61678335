/* The models that verbs accept. Each kind of model has a front end, which opens, exports and runs
 * it; model.c chooses the front end of an operand by its name or its first bytes. There are
 * built-in models (model.c), TorchScript (script_model.c) and programs of torch.export
 * (pt2_model.c). */
#ifndef CALQUE_CLI_MODEL_H
#define CALQUE_CLI_MODEL_H

#include "example.h"

#include <calque/export.h>
#include <calque/testcase.h>
#include <calque/zoo.h>

typedef struct cli_model cli_model;

#define CLI_MAX_OUTPUTS CQ_TESTCASE_MAX_OUTPUTS

/* The number of tensors of a program, which may be more than a command line can name. */
enum { CLI_MAX_TENSORS = 16384 };

typedef struct cli_tensors {
    cq_tensor *items[CLI_MAX_TENSORS];
    size_t     n;
} cli_tensors;

/* Sets the length to n; new elements are NULL. Warns if there is no room. */
void cli_tensors_resize(cli_tensors *list, size_t n);
void cli_tensors_clear(cli_tensors *list);

typedef struct cli_front_end {
    cq_status (*open)(cli_model *model, const char *operand);
    cq_status (*export_to)(cq_onnx_model **out, cli_model *model, cq_tensor *const *inputs,
                           size_t n_inputs, const cq_export_options *options);

    /* outputs has room for CLI_MAX_OUTPUTS; those it sets are the caller's. NULL options: the
     * defaults. */
    cq_status (*run)(cli_model *model, cq_tensor *const *inputs, size_t n_inputs,
                     const cq_run_options *options, cq_tensor **outputs, size_t *n_outputs);

    /* The inputs of the exported model for these inputs, in its order. flat is empty before. */
    cq_status (*flatten)(cli_model *model, cq_tensor *const *inputs, size_t n_inputs,
                         cli_tensors *flat);
    void (*close)(cli_model *model);

    /* Takes definitions of operators, the text of a file; NULL: it has none. */
    cq_status (*define)(cli_model *model, const char *text, const char *path);

    /* Inputs of other sizes than the model's own example, for a model that has open ones; at most
     * CLI_MAX_INPUTS, which are the caller's. NULL, or none: it has not. */
    cq_status (*larger)(cli_model *model, cq_tensor **inputs, size_t *n_inputs);

    /* Replaces the weights by those of a file; flags: CQ_WEIGHTS_NOT_STRICT. */
    cq_status (*load)(cli_model *model, cq_weights *weights, uint32_t flags);
} cli_front_end;

/* How a TorchScript program is called. */
typedef struct cli_call {
    const char *entry;     /* a function or method; NULL: forward, or the only one there is */
    const char *structure; /* the text of args.json; NULL: the tensors are the arguments */
    bool        trace;     /* the example decides every branch and loop */
    const char *names;     /* a convention for names, of a .pt2; NULL: the model's own */
} cli_call;

/* An argument that is a part of the program. */
typedef struct cli_constant {
    char        name[CLI_NAME_SIZE];
    const char *value;
} cli_constant;

enum { CLI_MAX_CONSTANTS = 32, CLI_MAX_PATHS = 16 };

/* Limits of an untrusted program. 0: the defaults of the library. */
typedef struct cli_limits {
    uint64_t steps, bytes;
} cli_limits;

/* Rows for the table of a verb that runs or exports, and how they are read. */
#define CLI_LIMIT_OPTIONS                                                                          \
    { "max-steps", "N", "maximum number of steps (50 million, plus 3 for each byte of the file)",  \
      0 },                                                                                         \
    {                                                                                              \
        "max-memory", "MB", "maximum memory without weights (1024 + 256 times the file)", 0        \
    }

int cli_limits_read(cli_limits *limits, const cli_args *args);

/* Large: there is one at a time, and it is static. */
struct cli_model {
    const cli_front_end *front_end;
    const char          *name;   /* "alexnet", for messages and for files named after it */
    void                *handle; /* the front end's */
    cli_call             call;
    cli_limits           limits;
    size_t               n_constants;
    cli_constant         constants[CLI_MAX_CONSTANTS];
    cli_signature        takes;
    size_t               n_output_names;
    const char          *output_names[CLI_MAX_OUTPUTS];
    const char          *weights; /* the file of --weights; NULL: none */
    size_t               n_paths;
    const char          *paths[CLI_MAX_PATHS]; /* --path: where Python source finds modules */
    size_t               n_codes;
    const char          *codes[CLI_MAX_PATHS]; /* --code: the source of a pickled module */
};

/* Returns the exit code; prints the error. Close the model in any case. */
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
 * method takes, if they can be inferred. */
int cli_result_of_model(const cli_model *model, cq_status status);

/* How a model is run that options export. */
cq_run_options cli_run_options(const cq_export_options *options);

/* Opens the file of --weights, hands it to load with the user's model and these flags, and prints
 * its note. Without --weights it does nothing. */
typedef cq_status (*cli_load_weights)(void *model, cq_weights *weights, uint32_t flags);
int      cli_weights(const cli_args *args, uint32_t flags, cli_load_weights load, void *model);
uint32_t cli_weights_flags(const cli_args *args); /* of a verb with --weights-not-strict */

/* Whether an operand is a built-in model, or a file with an ONNX model. */
bool cli_model_is_built_in(const char *operand);
bool cli_model_is_onnx(const char *operand);

/* For verbs that take ONNX models only: prints an error if an operand is another kind of file that
 * calque knows.
 * */
int cli_need_onnx(const char *operand);

/* Says that an operand is neither a file nor a built-in model. Returns CLI_FAILED. */
int cli_no_such_model(const char *operand);

/* Whether it is a file with a zip archive, as TorchScript is saved. */
bool cli_model_is_archive(const char *operand);

/* Whether it is a file of text, as TorchScript source is, whatever its name. */
bool cli_model_is_text(const char *operand);

/* "net" for path/to/net.pt; the next call overwrites it. */
const char *cli_model_name(const char *path);

/* After a run: drops the outputs that exceed the limit, with a warning. */
void cli_model_limit_outputs(size_t *n_outputs);

/* Whether TorchScript has the method of --entry; otherwise prints its methods. */
int cli_script_check_entry(const cli_model *model, bool is_archive);

extern const cli_front_end cli_script_front_end, cli_pt2_front_end;

#endif
