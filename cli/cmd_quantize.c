/* calque quantize: stores the weights of an ONNX model in 8 or 4 bits, or quantizes its products to
 * 8 bits. */
#include "edit.h"
#include "json.h"
#include "tolerance.h"

#include <calque/quantize.h>
#include <calque/system.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const   modes[] = { "weights", "dynamic", "static", NULL };
static cq_quantize_options chosen;

/* ---- the table of errors ---- */

static struct {
    bool            is_printed;
    FILE           *json; /* file of --errors, or NULL */
    cq_text_stream *stream;
    size_t          n, n_kept, n_written;
} table;

static void print_error(double error)
{
    if (error < 0)
        printf("%10s", "-");
    else
        printf("%10.6f", error);
}

/* Writes an entry of --errors; an error that was not measured is null. */
static void write_entry(const cq_quantized_layer *layer)
{
    const double errors[] = { layer->weight_error, layer->error };

    fputs(table.n_written++ ? ",\n  {\"name\": " : "\n  {\"name\": ", table.json);
    cli_json_string(table.json, layer->name);
    if (layer->op_type) {
        fputs(", \"operator\": ", table.json);
        cli_json_string(table.json, layer->op_type);
    }
    for (int i = 0; i < 2; i++) {
        fputs(i ? ", \"error\": " : ", \"weight_error\": ", table.json);
        if (errors[i] < 0)
            fputs("null", table.json);
        else
            fprintf(table.json, "%.6g", errors[i]);
    }
    fprintf(table.json, ", \"kept\": %s}", layer->is_kept ? "true" : "false");
}

static void note(void *user, const cq_quantized_layer *layer)
{
    (void)user;
    table.n += layer->op_type != NULL;
    table.n_kept += layer->is_kept;
    if (table.json)
        write_entry(layer);
    if (!table.is_printed)
        return;
    print_error(layer->weight_error);
    print_error(layer->error);
    printf("  %-9s ", layer->is_kept ? "float" : layer->op_type ? "quantized" : "output");
    if (layer->op_type) {
        cli_put_text(stdout, layer->op_type);
        putchar(' ');
    }
    cli_put_text(stdout, layer->name);
    putchar('\n');
}

/* ---- options ---- */

static int choose(int *out, const cli_args *args, const char *option, const char *const *names)
{
    const char *given    = cli_value(args, option);
    char        all[128] = "";

    if (!given)
        return CLI_DONE;
    for (int i = 0; names[i]; i++) {
        if (strcmp(given, names[i]) == 0) {
            *out = i;
            return CLI_DONE;
        }
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", i ? ", " : "", names[i]);
    }
    return cli_misuse(args->verb, "--%s: expected one of %s, got '%s'", option, all, given);
}

static int read_range(const cli_args *args)
{
    const char *text = cli_value(args, "input-range");
    char       *end  = NULL;

    if (!text)
        return CLI_DONE;
    chosen.input_low = strtod(text, &end);
    if (end != text && *end == ',') {
        const char *second = end + 1;

        chosen.input_high = strtod(second, &end);
        if (end != second && !*end && chosen.input_low < chosen.input_high)
            return CLI_DONE;
    }
    return cli_misuse(args->verb, "--input-range: expected LOW,HIGH, got '%s'", text);
}

static int read_options(const cli_args *args)
{
    static const char *const targets[] = { "", "onnxruntime", NULL };
    static const char *const methods[] = { "minmax", "percentile", "entropy", NULL };
    int                      mode = 0, target = 0, method = 0;
    int64_t                  bits = 8;

    cq_quantize_options_init(&chosen);
    CLI_TRY(choose(&mode, args, "mode", modes));
    CLI_TRY(choose(&target, args, "for", targets));
    CLI_TRY(choose(&method, args, "method", methods));
    CLI_TRY(cli_number(args, "bits", 1, 64, &bits));
    CLI_TRY(cli_number(args, "block", 2, 1 << 20, &chosen.block));
    CLI_TRY(cli_number(args, "samples", 1, 1 << 20, &chosen.n_random));
    CLI_TRY(cli_tolerance(&chosen.max_error, args, "max-error"));
    CLI_TRY(cli_tolerance(&chosen.percentile, args, "percentile"));
    CLI_TRY(read_range(args));
    if (bits != 4 && bits != 8)
        return cli_misuse(args->verb, "--bits: expected 8 or 4, got %lld", (long long)bits);
    chosen.calibration = cli_value(args, "calibrate");
    chosen.mode        = (cq_quantize_mode)mode;
    if (!cli_has(args, "mode") && (chosen.calibration || cli_has(args, "method")))
        chosen.mode = CQ_QUANTIZE_STATIC;
    chosen.target = (cq_quantize_target)target;
    chosen.method = (cq_calibration)method;
    chosen.bits   = (int32_t)bits;
    chosen.flags  = cli_has(args, "asymmetric") ? CQ_QUANTIZE_ASYMMETRIC : 0;
    return CLI_DONE;
}

/* ---- the verb ---- */

static cq_status prove(const cli_edit *e, cq_proof *proof)
{
    return cq_onnx_prove_quantized(proof, e->before, e->after, &chosen, &e->proof,
                                   table.is_printed || table.json ? note : NULL, NULL);
}

/* --errors is also written if the outputs differ too much, because it is most useful then. */
static int open_errors(void)
{
    CLI_TRY(cli_result(cq_text_open(&table.stream, &table.json)));
    fputs("{\"quantized\": [", table.json);
    return CLI_DONE;
}

static int close_errors(const char *path, int code)
{
    char     *text;
    size_t    size;
    cq_status status;

    fputs("]}\n", table.json);
    status = cq_text_close(table.stream, &text, &size);
    if (status == CQ_OK && table.n_written)
        status = cq_buffer_save(path, text, size);
    cq_buffer_free(text);
    return status == CQ_OK || code != CLI_DONE ? code : cli_result(status);
}

static int quantize(cli_edit *edit, const cli_args *args)
{
    const bool measures =
        cli_has(args, "report") || cli_has(args, "errors") || cli_has(args, "max-error");

    table.is_printed = cli_has(args, "report");
    if (table.is_printed)
        puts("    weight    result            layer");
    CLI_TRY(cli_result_of_call(
        cq_onnx_model_quantize(edit->after, &chosen, measures ? note : NULL, NULL)));
    snprintf(edit->detail, sizeof edit->detail, "%s, %d bits", modes[chosen.mode], chosen.bits);
    if (table.n_kept)
        snprintf(edit->detail + strlen(edit->detail), sizeof edit->detail - strlen(edit->detail),
                 ", %zu of %zu layers", table.n - table.n_kept, table.n);
    return CLI_DONE;
}

static int run(const cli_args *args)
{
    static cli_edit edit;
    const char     *errors = cli_value(args, "errors");
    int             code;

    CLI_TRY(read_options(args));
    CLI_TRY(cli_edit_open(&edit, args));
    edit.prove      = prove;
    edit.proof.rtol = chosen.bits == 4 ? 0.5 : 0.1;
    CLI_TRY(cli_tolerance(&edit.proof.rtol, args, "tolerance"));
    if (errors)
        CLI_TRY(open_errors());
    code = cli_edit_close(&edit, args, "quantized", quantize(&edit, args));
    return errors ? close_errors(errors, code) : code;
}

static const cli_option options[] = {
    CLI_EDIT_OPTIONS,
    CLI_SHARE_OPTION,
    { "mode", "MODE", "weights, dynamic or static (weights; static with --calibrate)", 0 },
    { "bits", "N", "of weights: 8 or 4 (8)", 0 },
    { "block", "N", "weights that share a scale (8 bits: a channel; 4 bits: 32)", 0 },
    { "asymmetric", NULL, "weights also have zero points", 0 },
    { "calibrate", "DIR", "sets of inputs for --mode static: .npy or .pb files", 0 },
    { "input-range", "LOW,HIGH", "of random inputs, instead of normal numbers", 0 },
    { "samples", "N", "sets of random inputs (8)", 0 },
    { "method", "METHOD", "of calibration: minmax, percentile or entropy (minmax)", 0 },
    { "percentile", "P", "share of numbers in range, in percent (99.999)", 0 },
    { "max-error", "E", "leave layers in float whose relative error exceeds E", 0 },
    { "tolerance", "E", "of the comparison: relative error of outputs (0.1; 4 bits: 0.5)", 0 },
    { "report", NULL, "print the relative error of each layer and output", 0 },
    { "errors", "OUT", "write these errors as JSON, for calque view --report", 0 },
    { "for", "RUNTIME", "onnxruntime: MatMulNBits for 4 bits, uint8 weights", 0 },
    { 0 },
};

const cli_verb cli_verb_quantize = {
    .name     = "quantize",
    .operands = "IN -o OUT",
    .summary  = "store weights in 8 or 4 bits, or compute in 8 bits",
    .about    = "Quantizes the MatMul, Gemm and Conv nodes of the ONNX model IN whose weights are\n"
                "constant. --mode weights stores the weights in few bits, with the scales of least\n"
                "squared error. --mode dynamic computes products of integers; every run chooses the\n"
                "ranges of activations. --mode static chooses them by calibration. Both models are\n"
                "run on the same inputs; an error of an output beyond the tolerance is an error, and\n"
                "OUT is not written.",
    .options  = options,
    .min_operands = 1,
    .max_operands = 1,
    .n_read       = 1,
    .run          = run,
};
