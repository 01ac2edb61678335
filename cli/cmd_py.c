/* calque py: runs a Python script, which may build models and export them. */
#include "cli.h"
#include "model.h"

#include <calque/script.h>

static cq_status run_script(const cli_args *args, const cli_limits *limits)
{
    cq_script *script = NULL;
    cq_status  status =
        cq_script_load_main(&script, args->operands[0], limits->steps, limits->bytes);
    const char *path;
    size_t      at = 0;

    while (status == CQ_OK && (path = cli_next_value(args, "path", &at)))
        status = cq_script_add_path(script, path);
    if (status == CQ_OK)
        status = cq_script_run_main(script, (const char *const *)args->operands + 1,
                                    args->n_operands - 1);
    cq_script_free(script);
    return status;
}

static int run(const cli_args *args)
{
    cli_limits limits = { 0 };

    CLI_TRY(cli_limits_read(&limits, args));
    return cli_result(run_script(args, &limits));
}

static const cli_option options[] = {
    { "path", "DIR", "a folder for imports of the script; repeatable", 0 },
    CLI_LIMIT_OPTIONS,
    { 0 },
};

const cli_verb cli_verb_py = {
    .name     = "py",
    .operands = "SCRIPT [ARGUMENT...]",
    .summary  = "run a Python script that builds and exports models",
    .about =
        "Evaluates SCRIPT with calque's own torch (docs/from-source.md lists what is supported).\n"
        "torch.onnx.export, torch.save and pytorch_pfn_extras.onnx write files; torch.load and\n"
        "torch.jit.load read them. The script can use files below the working directory and\n"
        "files that are named as an ARGUMENT. It cannot start processes or use the network.\n"
        "print writes to standard output. sys.argv is SCRIPT and the arguments after it.",
    .options      = options,
    .min_operands = 1,
    .max_operands = CLI_ANY_NUMBER,
    .n_read       = 1,
    .fills        = true,
    .passes_on    = true,
    .run          = run,
};
