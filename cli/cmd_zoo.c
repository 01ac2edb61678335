/* calque zoo: lists the built-in models. */
#include "cli.h"
#include "json.h"

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

static void put_object(const cq_zoo_model *model, bool first)
{
    fputs(first ? "\n  {\"name\": " : ",\n  {\"name\": ", stdout);
    cli_json_string(stdout, model->name);
    fputs(", \"about\": ", stdout);
    cli_json_string(stdout, model->about);
    fputs(", \"inputs\": [", stdout);
    for (size_t i = 0; i < model->n_inputs; i++) {
        const cq_zoo_input *input = &model->inputs[i];

        printf("%s{\"name\": \"%s\", \"dtype\": \"%s\", \"shape\": [", i ? ", " : "", input->name,
               cq_dtype_name(input->dtype));
        for (size_t k = 0; k < input->rank; k++)
            printf("%s%" PRId64, k ? ", " : "", input->sizes[k]);
        fputs("]}", stdout);
    }
    fputs("]}", stdout);
}

static int list_as_json(void)
{
    const cq_zoo_model *model;

    putchar('[');
    for (size_t i = 0; (model = cq_zoo_at(i)); i++)
        put_object(model, i == 0);
    puts("\n]");
    return CLI_DONE;
}

static const cli_option options[] = {
    { "json", NULL, "a JSON list of objects: name, about, inputs", 0 },
    { 0 },
};

static int run(const cli_args *args)
{
    const cq_zoo_model *model;

    if (cli_has(args, "json"))
        return list_as_json();
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
    .summary  = "list the built-in models",
    .about    = "Lists the built-in models, a line each: name, what it is, its inputs.",
    .options  = options,
    .run      = run,
};
