/* Checks that options apply to the kind of model. An option without effect is an error, because the
 * user expects an effect. */
#include "applies.h"

#include <string.h>

enum {
    PROGRAMS   = CLI_KIND_SCRIPT | CLI_KIND_PT2,
    NOT_ONNX   = CLI_KIND_BUILT_IN | CLI_KIND_SCRIPT | CLI_KIND_PT2,
    ALL_MODELS = NOT_ONNX | CLI_KIND_ONNX
};

static const struct applies {
    const char *option;
    unsigned    kinds;
    const char *is_for, *instead; /* a suggestion for the user, or NULL */
} options[] = {
    { "static", CLI_KIND_PT2, ".pt2 files", "sizes without a name are fixed by default" },
    { "keep-mutations", CLI_KIND_PT2, ".pt2 files",
      "--state makes values that TorchScript changes outputs" },
    { "keep-asserts", CLI_KIND_PT2, ".pt2 files", NULL },
    { "names", CLI_KIND_PT2, ".pt2 files",
      "--input-names and --output-names name inputs and outputs" },
    { "state", PROGRAMS, "TorchScript and .pt2 files", NULL },
    { "trace", CLI_KIND_SCRIPT, "TorchScript", NULL },
    { "script", CLI_KIND_SCRIPT, "TorchScript", NULL },
    { "optional-inputs", CLI_KIND_SCRIPT, "TorchScript", NULL },
    { "constant", CLI_KIND_SCRIPT, "TorchScript", NULL },
    { "quantized-engine", CLI_KIND_SCRIPT, "TorchScript", NULL },
    { "define", PROGRAMS, "TorchScript and .pt2 files", NULL },
    { "entry", PROGRAMS, "TorchScript (a method) and .pt2 files (one of several programs)", NULL },
    { "path", CLI_KIND_SCRIPT, "Python source", NULL },
    { "code", CLI_KIND_SCRIPT, "pickled modules", NULL },
    { "weights", ALL_MODELS, "models", NULL },
    { "weights-not-strict", ALL_MODELS, "models", NULL },
    { "input", ALL_MODELS, "models", NULL },
    { "example", ALL_MODELS, "models", NULL },
    { "max-steps", ALL_MODELS, "models", NULL },
    { "max-memory", ALL_MODELS, "models", NULL },
    { "dump", CLI_KIND_ONNX, "ONNX models", NULL },
    { "profile", CLI_KIND_ONNX, "ONNX models", NULL },
    { "trap-nan", CLI_KIND_ONNX, "ONNX models", NULL },
};

static const char *kind_name(cli_kind kind)
{
    switch (kind) {
    case CLI_KIND_BUILT_IN: return "a built-in model";
    case CLI_KIND_SCRIPT: return "TorchScript";
    case CLI_KIND_PT2: return "a .pt2 file";
    case CLI_KIND_ONNX: return "an ONNX model";
    default: return "not a model that can be run";
    }
}

/* calque view --profile applies to every kind of model. */
static bool applies_to(const cli_verb *verb, const struct applies *a)
{
    return strcmp(verb->name, "view") != 0 || strcmp(a->option, "profile") != 0;
}

int cli_check_kind(const cli_args *args, cli_kind kind)
{
    for (size_t i = 0; i < args->n_given; i++)
        for (size_t k = 0; k < sizeof options / sizeof *options; k++)
            if (applies_to(args->verb, &options[k]) &&
                strcmp(args->given[i].option->name, options[k].option) == 0 &&
                !(options[k].kinds & kind))
                return cli_misuse(args->verb, "--%s is for %s, but %s is %s%s%s", options[k].option,
                                  options[k].is_for, cli_path_name(args->operands[0]),
                                  kind_name(kind), options[k].instead ? "; " : "",
                                  options[k].instead ? options[k].instead : "");
    return CLI_DONE;
}

/* Checks options that only modify another option. */
int cli_check_pairs(const cli_args *args)
{
    static const struct {
        const char *option, *needs, *or_needs;
    } pairs[] = {
        { "annotate-all", "annotate", "annotate" },
        { "annotations", "annotate", "anchor" },
        { "weights-not-strict", "weights", "weights" },
        { "large-tensor-threshold", "strip-large-tensor-data", "strip-large-tensor-data" },
    };

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (cli_verb_has(args->verb, pairs[i].option) && cli_verb_has(args->verb, pairs[i].needs) &&
            cli_has(args, pairs[i].option) && !cli_has(args, pairs[i].needs) &&
            !cli_has(args, pairs[i].or_needs))
            return cli_misuse(args->verb, "--%s needs --%s", pairs[i].option, pairs[i].needs);
    return CLI_DONE;
}
