/* The example inputs of a model: those of --input or --example, otherwise the model's own. */
#ifndef CALQUE_CLI_EXAMPLE_H
#define CALQUE_CLI_EXAMPLE_H

#include "cli.h"
#include "input.h"

#define CLI_MAX_INPUTS 256

/* The inputs of a model. The struct is large, like that of an example, so it is static; there is
 * one at a time. */
#define CLI_NAME_SIZE 256

/* A parameter of a program: its name, and its type as in the source, or "". */
typedef struct cli_param {
    char name[CLI_NAME_SIZE], type[CLI_NAME_SIZE];
    bool is_hidden; /* its input is not named after it, because a weight has that name */
} cli_param;

typedef struct cli_signature {
    const char *model;       /* the name of the model in messages */
    size_t      n, n_needed; /* number of inputs; the first n_needed of them are required. n may be
                              * CLI_ANY_NUMBER: the number is unknown, and arguments may nest */
    bool is_flat;            /* nested arguments have been flattened, so an args.json is not
                              * accepted */
    const char *names[CLI_MAX_INPUTS];
    size_t      n_own; /* number of inputs of the model's own example, used if the user gives
                        * none */
    cli_input own[CLI_MAX_INPUTS];
    size_t    n_declared; /* number of inputs whose dtype and rank the model declares */
    cli_input declared[CLI_MAX_INPUTS];
    size_t    n_params; /* parameters of a program; may differ from n */
    cli_param params[CLI_MAX_INPUTS];
} cli_signature;

typedef struct cli_example {
    cli_input   inputs[CLI_MAX_INPUTS];               /* for a file only the path is set */
    char        names[CLI_MAX_INPUTS][CLI_NAME_SIZE]; /* names from the parameters; "": unknown */
    cq_tensor  *tensors[CLI_MAX_INPUTS];
    size_t      n;
    const char *structure; /* the text of args.json, or NULL */
} cli_example;

/* Rows of option tables of verbs that take an example, of a program or of an ONNX model. */
#define CLI_INPUT_OPTIONS                                                                          \
    { "input", "SPEC",                                                                             \
      "an example input, repeatable: SPEC or NAME=SPEC. 1x3x224x224, batchx3xh=64xw=64,\n"         \
      "int64[2,3]=zeros, x.npy, 3, 2.5, true; after = zeros, ones, range, a number,\n"             \
      "normal(0,1), uniform(0,1), FILE.npy. Of TorchScript also none, \"text\",\n"                 \
      "[1x3, 1x4], (1x3, 2), {key: 1x3}",                                                          \
      0 },                                                                                         \
    {                                                                                              \
        "example", "DIR",                                                                          \
            "example inputs from DIR: input_0.pb or input_0.npy, input_1, …; args.json", 0         \
    }

#define CLI_EXAMPLE_OPTIONS                                                                        \
    CLI_INPUT_OPTIONS,                                                                             \
        { "entry", "NAME",                                                                         \
          "the method of TorchScript to call (forward); of Python source an expression,\n"         \
          "'Net(num_classes=10)'; one of several programs of a .pt2",                              \
          0 },                                                                                     \
        { "path", "DIR", "a folder for imports of Python source; repeatable", 0 },                 \
        { "code", "FILE.py", "the source of the classes of a pickled module; repeatable", 0 },     \
        { "constant", "NAME=VALUE",                                                                \
          "make an argument of TorchScript a constant instead of an input; repeatable", 0 },       \
        { "define", "FILE",                                                                        \
          "definitions of unknown operators, in TorchScript: def mylib__scale(x): …", 0 },         \
        { "quantized-engine", "NAME",                                                              \
          "PyTorch's engine for quantized layers: fbgemm, onednn, x86 (identical) or qnnpack",     \
          0 },                                                                                     \
        { "weights", "FILE",                                                                       \
          "replace the weights, by name: a state dict or checkpoint of torch.save, safetensors,\n" \
          "index.json of shards; FILE:KEY chooses one of several state dicts",                     \
          0 },                                                                                     \
    {                                                                                              \
        "weights-not-strict", NULL, "accept missing and unexpected keys in --weights", 0           \
    }

/* Reads the options. Returns the exit code; prints the error. A named size is as large as in the
 * model's own example. If that has none, or 1, it is 2, because a size of 1 broadcasts and hides
 * errors. */
int cli_example_read(cli_example *example, const cli_args *args, const cli_signature *signature);

/* Creates the tensors; clear them also on failure. */
int cli_example_load(cli_example *example);
/* After a failure: prints a note if the user did not choose a size of the example. */
void cli_example_explain(const cli_example *e);
void cli_example_clear(cli_example *example);

#endif
