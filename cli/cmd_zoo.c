/* calque zoo: the built-in models. */
#include "cli.h"

#include <calque/zoo.h>

#include <inttypes.h>
#include <stdio.h>

static void put_input(const cq_zoo_input *input, bool first)
{
    printf("%s%s %s[", first ? "" : ", ", input->name, cq_dtype_name(input->dtype));
    for (size_t i = 0; i < input->rank; i++)
        printf("%s%" PRId64, i ? "," : "", input->sizes[i]);
    printf("]");
}

static int run(const cli_args *args)
{
    const cq_zoo_model *model;

    (void)args;
    for (size_t i = 0; (model = cq_zoo_at(i)); i++) {
        printf("%-20s %s: ", model->name, model->about);
        for (size_t j = 0; j < model->n_inputs; j++)
            put_input(&model->inputs[j], j == 0);
        putchar('\n');
    }
    return CLI_DONE;
}

const cli_verb cli_verb_zoo = {
    .name     = "zoo",
    .operands = "",
    .summary  = "the built-in models",
    .about    = "Lists the built-in models, a line each: name, what it is, its inputs.",
    .run      = run,
};
