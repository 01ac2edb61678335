/* The example inputs of a model: those of --input or --example, else the model's own. */
#ifndef CALQUE_CLI_EXAMPLE_H
#define CALQUE_CLI_EXAMPLE_H

#include "cli.h"
#include "input.h"
#include "model.h"

#define CLI_MAX_INPUTS 256

typedef struct cli_example {
    cli_input   inputs[CLI_MAX_INPUTS]; /* of a file only its path is set */
    cq_tensor  *tensors[CLI_MAX_INPUTS];
    size_t      n;
    const char *structure; /* the text of args.json, or NULL */
} cli_example;

/* Rows for the table of a verb that takes an example. */
#define CLI_EXAMPLE_OPTIONS                                                                        \
    { "input", "SPEC",                                                                             \
      "an example input, repeatable: 1x3x224x224, batchx3x8x8, int64[2,3]=zeros, x.npy", 0 },      \
    { "example", "DIR", "example inputs from DIR: input_0.pb or input_0.npy, input_1, …; args.json", 0 }, \
    { "entry", "NAME", "the function or method of TorchScript to call (forward)", 0 }

/* Reads the options and makes the tensors. The exit code, after saying what is wrong; clear the
 * example in any case. A size with a name is as large as in the model's own example; where that has
 * none, or 1, it is 2: a size of 1 broadcasts, and hides what does not follow it. */
int  cli_example_read(cli_example *example, const cli_args *args, const cli_model *model);
void cli_example_clear(cli_example *example);

#endif
