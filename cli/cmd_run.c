/* calque run: a model's numbers. */
#include "cli.h"
#include "example.h"
#include "model.h"
#include "show.h"

#include <calque/threads.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_OUTPUTS 64
#define PATH_SIZE 4096

static int make_folder(const char *folder)
{
    if (mkdir(folder, 0777) == 0 || errno == EEXIST)
        return CLI_DONE;
    return cli_fail_with("", "cannot create the folder '%s': %s", folder, strerror(errno));
}

static int write_outputs(const char *folder, const cli_model *model, cq_tensor *const *outputs)
{
    char path[PATH_SIZE];

    for (size_t i = 0; i < model->n_outputs; i++) {
        snprintf(path, sizeof path, "%s/output_%zu.pb", folder, i);
        if (cq_tensor_save_pb(outputs[i], path, model->output_names[i]) != CQ_OK)
            return cli_fail();
    }
    return CLI_DONE;
}

static int show_outputs(const cli_model *model, cq_tensor *const *outputs)
{
    for (size_t i = 0; i < model->n_outputs; i++)
        cli_show_summary(model->output_names[i], outputs[i]);
    return CLI_DONE;
}

static int run_model(const cli_args *args, cli_model *model, const cli_example *example)
{
    cq_tensor  *outputs[MAX_OUTPUTS] = { NULL };
    const char *folder               = cli_value(args, "output");
    int         code;

    code = folder ? make_folder(folder) : CLI_DONE;
    if (code == CLI_DONE)
        code = cli_result(model->front_end->run(model, example->tensors, example->n, outputs));
    if (code == CLI_DONE)
        code = folder ? write_outputs(folder, model, outputs) : show_outputs(model, outputs);
    for (size_t i = 0; i < model->n_outputs; i++)
        cq_tensor_release(outputs[i]);
    return code;
}

static int run(const cli_args *args)
{
    static cli_example example; /* too large for a stack frame */
    cli_model          model;
    int64_t            threads = 0;
    int                code;

    code = cli_number(args, "threads", 1, 64, &threads);
    if (code != CLI_DONE)
        return code;
    cq_set_threads((int)threads);
    code = cli_model_open(&model, args->operands[0]);
    if (code == CLI_DONE)
        code = cli_example_read(&example, args, &model);
    if (code == CLI_DONE)
        code = run_model(args, &model, &example);
    cli_example_clear(&example);
    cli_model_close(&model);
    return code;
}

static const cli_option options[] = {
    { "output", "DIR", "write output_0.pb, output_1.pb, … to DIR instead", 'o' },
    CLI_EXAMPLE_OPTIONS,
    { "threads", "N", "how many threads compute (one for each core)", 0 },
    { 0 },
};

const cli_verb cli_verb_run = {
    .name         = "run",
    .operands     = "MODEL",
    .summary      = "run a model and look at its outputs",
    .about        = "Runs MODEL, the name of a built-in model (calque zoo lists them), and prints a summary\n"
                    "of each output: type, range, first values. Without inputs it takes the model's own\n"
                    "example. Weights of built-in models are random, the same each time.",
    .options      = options,
    .min_operands = 1,
    .max_operands = 1,
    .run          = run,
};
