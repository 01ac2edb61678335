/* calque convert: changes the opset, types, sizes, names, weights or storage of an ONNX model. */
#include "edit.h"
#include "model.h"

#include <calque/export.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NAME = 1024 };

static int rename_values(cli_edit *e, const cli_args *args)
{
    const char *value;
    size_t      at = 0;

    while ((value = cli_next_value(args, "rename", &at))) {
        const char *equals = strchr(value, '=');
        char        from[MAX_NAME];

        if (!equals || equals == value || !equals[1] || equals - value >= MAX_NAME)
            return cli_misuse(args->verb, "--rename: expected OLD=NEW, got '%s'", value);
        snprintf(from, sizeof from, "%.*s", (int)(equals - value), value);
        CLI_TRY(cli_result_of_call(cq_onnx_model_rename(e->after, from, equals + 1)));
    }
    return CLI_DONE;
}

static int convert_type(cli_edit *e, const cli_args *args)
{
    static char          text[4096];
    static const char   *keep[256];
    const char          *to    = cli_value(args, "to"), *value;
    const cq_dtype       dtype = to ? cq_dtype_from_name(to) : CQ_DTYPE_NONE;
    size_t               at = 0, used = 0;
    cq_precision_options options;

    cq_precision_options_init(&options);
    options.keep = keep;
    if (!to)
        return cli_has(args, "keep") || cli_has(args, "io")
                   ? cli_misuse(args->verb, "--keep and --io are for --to")
                   : CLI_DONE;
    if (dtype != CQ_DTYPE_F16 && dtype != CQ_DTYPE_BF16 && dtype != CQ_DTYPE_F32)
        return cli_misuse(args->verb, "--to: expected float16, bfloat16 or float32, got '%s'", to);
    while ((value = cli_next_value(args, "keep", &at))) {
        const size_t len = strlen(value) + 1;

        if (used + len > sizeof text)
            return cli_misuse(args->verb, "--keep: the list is too long");
        memcpy(text + used, value, len);
        for (char *name = strtok(text + used, ","); name; name = strtok(NULL, ","))
            if (options.n_keep < sizeof keep / sizeof *keep)
                keep[options.n_keep++] = name;
        used += len;
    }
    options.flags |= cli_has(args, "no-verify") ? CQ_PRECISION_NO_RUN : 0;
    options.flags |= cli_has(args, "io") ? CQ_PRECISION_IO : 0;
    e->proof.flags |= CQ_PROOF_LOSSY;
    e->proof.rtol = dtype == CQ_DTYPE_BF16 ? 0.1 : 0.02;
    e->proof.atol = dtype == CQ_DTYPE_BF16 ? 0.08 : 0.01;
    snprintf(e->detail, sizeof e->detail, "%s", cq_dtype_name(dtype));
    return cli_result(cq_onnx_model_convert_float(e->after, dtype, &options));
}

/* Both models get the weights, because the proof is about the other changes. */
static cq_status load_weights(void *edit, cq_weights *weights, uint32_t flags)
{
    cli_edit *e      = edit;
    cq_status status = e->before ? cq_onnx_model_load_weights(e->before, weights, flags) : CQ_OK;

    return status == CQ_OK ? cq_onnx_model_load_weights(e->after, weights, flags) : status;
}

/* Parses 2GB, 512MB, 100KB or a number of bytes. */
static int read_size(const cli_args *args, const char *name, uint64_t *out)
{
    static const char units[] = "KMG";
    const char       *text    = cli_value(args, name), *unit;
    char             *end;
    double            size;

    if (!text)
        return CLI_DONE;
    size = strtod(text, &end);
    unit = *end ? strchr(units, *end) : NULL;
    for (int i = 0; unit && i <= unit - units; i++)
        size *= 1000;
    end += unit ? 1 : 0;
    end += *end == 'B' ? 1 : 0;
    if (end == text || *end || !(size >= 1) || size > 1e18)
        return cli_misuse(args->verb, "--%s: expected a size such as 2GB or 500MB, got '%s'", name,
                          text);
    *out = (uint64_t)size;
    return CLI_DONE;
}

static int place_weights(cli_edit *e, const cli_args *args)
{
    if ((cli_has(args, "external-data") || cli_has(args, "split-size")) && cli_has(args, "embed"))
        return cli_misuse(args->verb, "--embed excludes --external-data and --split-size");
    if (cli_has(args, "share-data") &&
        (cli_has(args, "embed") || cli_has(args, "external-data") || cli_has(args, "split-size")))
        return cli_misuse(args->verb,
                          "--share-data excludes --embed, --external-data and --split-size");
    if (cli_has(args, "external-data")) {
        e->save.flags |= CQ_ONNX_SAVE_EXTERNAL;
        e->save.data_name = cli_value(args, "external-data");
    }
    CLI_TRY(read_size(args, "split-size", &e->save.split_size));
    if (e->save.split_size)
        e->save.flags |= CQ_ONNX_SAVE_EXTERNAL;
    if (cli_has(args, "embed"))
        e->save.flags &= ~(uint32_t)CQ_ONNX_SAVE_EXTERNAL;
    return CLI_DONE;
}

static int change_inputs(cli_edit *e, const cli_args *args)
{
    static const char *specs[64];
    const char        *value;
    size_t             at = 0, n = 0;

    while ((value = cli_next_value(args, "inputs", &at))) {
        if (n == sizeof specs / sizeof *specs)
            return cli_misuse(args->verb, "--inputs: more than %zu inputs", n);
        specs[n++] = value;
    }
    return cli_result_of_call(cq_onnx_model_convert_inputs(e->after, specs, n));
}

static int convert(cli_edit *e, const cli_args *args)
{
    const int64_t was   = cq_onnx_model_opset(e->after, "");
    int64_t       opset = 0, ir = 0;

    CLI_TRY(cli_number(args, "opset", 1, INT32_MAX, &opset));
    CLI_TRY(cli_number(args, "ir-version", 1, 1000, &ir));
    CLI_TRY(place_weights(e, args));
    CLI_TRY(cli_weights(args, 0, load_weights, e));
    if (opset) {
        CLI_TRY(cli_result(cq_onnx_model_convert_opset(e->after, opset)));
        snprintf(e->detail, sizeof e->detail, "opset %lld -> %lld", (long long)was,
                 (long long)opset);
    }
    CLI_TRY(change_inputs(e, args));
    CLI_TRY(convert_type(e, args));
    if (ir)
        CLI_TRY(cli_result_of_call(cq_onnx_model_convert_ir(e->after, ir)));
    return rename_values(e, args);
}

static int run(const cli_args *args)
{
    static cli_edit edit;

    CLI_TRY(cli_edit_open(&edit, args));
    return cli_edit_close(&edit, args, "converted", convert(&edit, args));
}

static const cli_option options[] = {
    CLI_EDIT_OPTIONS,
    CLI_SHARE_OPTION,
    { "opset", "N", "the version of ONNX's operators, 7 to the newest, up or down", 0 },
    { "to", "TYPE", "compute in float16, bfloat16 or float32; inputs and outputs stay", 0 },
    { "keep", "A,B", "operators and nodes that --to does not convert; repeatable", 0 },
    { "io", NULL, "--to changes the type of inputs and outputs, too", 0 },
    { "inputs", "X=SIZES", "other sizes for an input: x=batchx3xHxW; repeatable", 0 },
    { "rename", "OLD=NEW", "rename an input, an output or another value; repeatable", 0 },
    { "weights", "FILE", "weights of torch.save or safetensors, by the names of initializers", 0 },
    { "ir-version", "N", "the version of the file format", 0 },
    { "external-data", "[FILE]", "write weights to FILE beside OUT; default OUT.data", 0 },
    { "split-size", "SIZE", "several files of weights, each up to SIZE: 2GB", 0 },
    { "embed", NULL, "write weights into OUT", 0 },
    { 0 },
};

const cli_verb cli_verb_convert = {
    .name     = "convert",
    .operands = "IN -o OUT",
    .summary  = "change the opset, type, names or storage of an ONNX model",
    .about =
        "Writes the ONNX model IN to OUT in another form. Nodes that the opset cannot express\n"
        "are listed in one error. IN and OUT may be ONNX's text syntax (.onnxtxt, .txt) or\n"
        "protobuf's text format (.textproto, .pbtxt), by their names.\n"
        "Both models are run on the same inputs; a difference is an error that names the\n"
        "first node, and OUT is not written.",
    .options      = options,
    .min_operands = 1,
    .max_operands = 1,
    .n_read       = 1,
    .run          = run,
};
