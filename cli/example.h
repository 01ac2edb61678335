/* The example inputs of a model: those of --input or --example, else the model's own. */
#ifndef CALQUE_CLI_EXAMPLE_H
#define CALQUE_CLI_EXAMPLE_H

#include "cli.h"
#include "input.h"

#define CLI_MAX_INPUTS 256

/* The inputs of a model. The struct is large, as that of an example: there is one at a time, and it
 * is static. */
#define CLI_NAME_SIZE 256

/* A parameter of a program: its name, and its type, "" or as in the source. */
typedef struct cli_param {
    char name[CLI_NAME_SIZE], type[CLI_NAME_SIZE];
    bool is_hidden; /* in the graph, its name is that of a weight */
} cli_param;

typedef struct cli_signature {
    const char *model;       /* the name of the model in messages */
    size_t      n, n_needed; /* inputs; the first n_needed of them cannot be left out. n may be
                                CLI_ANY_NUMBER: nothing is known, and arguments may nest */
    bool        is_flat;     /* nested arguments have been flattened: an args.json adds nothing */
    const char *names[CLI_MAX_INPUTS];
    size_t      n_own; /* of the model's own example, used if the user gives none */
    cli_input   own[CLI_MAX_INPUTS];
    size_t      n_declared; /* inputs whose dtype and rank the model declares */
    cli_input   declared[CLI_MAX_INPUTS];
    size_t      n_params; /* of a program; n is not their number */
    cli_param   params[CLI_MAX_INPUTS];
} cli_signature;

typedef struct cli_example {
    cli_input   inputs[CLI_MAX_INPUTS];               /* of a file only its path is set */
    char        names[CLI_MAX_INPUTS][CLI_NAME_SIZE]; /* by the parameters; "": not known */
    cq_tensor  *tensors[CLI_MAX_INPUTS];
    size_t      n;
    const char *structure; /* the text of args.json, or NULL */
} cli_example;

/* Rows for the table of a verb that takes an example, of a program or of an ONNX model. */
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

/* Makes the tensors; clear them in any case. */
int cli_example_load(cli_example *example);
/* After a failure: prints a note if a size of the example was not chosen by the user. */
void cli_example_explain(const cli_example *e);
void cli_example_clear(cli_example *example);

#endif
