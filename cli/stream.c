/* Standard input and output as files, and the line about what was written. */
#include "cli.h"

#include <calque/onnx.h>
#include <calque/system.h>

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define STDOUT_PATH "/dev/stdout"

static double began;
static size_t n_streamed; /* bytes of a model that went to standard output */

void cli_start_clock(void)
{
    began = cq_seconds();
}

double cli_elapsed(void)
{
    return cq_seconds() - began;
}

void cli_wrote(const cli_args *args, const char *path, const char *format, ...)
{
    uint64_t bytes = 0;
    char     size[32];
    va_list  more;

    if (args->quiet)
        return;
    if (cli_is_stdout(path))
        bytes = n_streamed;
    else
        cq_path_look_up(path, &bytes);
    fputs("wrote ", stderr);
    cli_put_path(stderr, path);
    fputc(':', stderr);
    if (bytes) {
        cli_size_text(size, sizeof size, bytes);
        fprintf(stderr, " %s,", size);
    }
    va_start(more, format);
    vfprintf(stderr, format, more);
    va_end(more);
    fprintf(stderr, " %.2f s\n", cli_elapsed());
}

bool cli_is_stdout(const char *path)
{
    return strcmp(path, STDOUT_PATH) == 0;
}

/* ---- - in place of a file ---- */

/* Where the copy of standard input is, and "@" before it; empty: it was not read. */
static char spooled[4096];

#define SPOOL_PATH (spooled + 1)

/* Readers seek and map, so standard input is copied to a temporary file first. */
static int spool(void)
{
    *spooled = '@';
    return cli_result(cq_stdin_spool(SPOOL_PATH, sizeof spooled - 1));
}

bool cli_is_stdin(const char *path)
{
    return *spooled && strcmp(path, SPOOL_PATH) == 0;
}

const char *cli_path_name(const char *path)
{
    return cli_is_stdin(path) ? "standard input" : path;
}

void cli_put_path(FILE *out, const char *path)
{
    const size_t n = *spooled ? strlen(SPOOL_PATH) : 0;

    if (n && strncmp(path, SPOOL_PATH, n) == 0) {
        fputs("standard input", out);
        path += n;
    } else if (cli_is_stdout(path)) {
        fputs("standard output", out);
        return;
    }
    cli_put_text(out, path);
}

static int replace_input(const cli_args *args, const char **value)
{
    const bool is_at = strcmp(*value, "@-") == 0;
    int        code;

    if (!is_at && strcmp(*value, "-") != 0)
        return CLI_DONE;
    if (*spooled)
        return cli_misuse(args->verb, "standard input can be read only once");
    code   = spool();
    *value = is_at ? spooled : SPOOL_PATH;
    return code;
}

/* How options use their values, by placeholder. */
static const struct {
    const char *value;
    enum { READS, WRITES, FOLDER } does;
} roles[] = {
    { "FILE", READS }, { "SPEC", READS }, { "JSON", READS }, { "OUT", WRITES }, { "DIR", FOLDER },
};

static int replace_value(const cli_args *args, cli_given *given, size_t *n_written)
{
    size_t i = 0;

    while (i < sizeof roles / sizeof *roles && strcmp(roles[i].value, given->option->value) != 0)
        i++;
    if (i == sizeof roles / sizeof *roles)
        return CLI_DONE;
    if (roles[i].does == READS)
        return replace_input(args, &given->value);
    if (strcmp(given->value, "-") != 0)
        return CLI_DONE;
    if (roles[i].does == FOLDER)
        return cli_misuse(args->verb, "--%s expects a folder, got '-'", given->option->name);
    if ((*n_written)++)
        return cli_misuse(args->verb, "standard output can be written only once");
    given->value = STDOUT_PATH;
    return CLI_DONE;
}

int cli_open_streams(cli_args *args)
{
    size_t n_written = 0;
    int    code      = CLI_DONE;

    for (size_t i = 0; i < args->n_operands && code == CLI_DONE; i++)
        if (i < args->verb->n_read)
            code = replace_input(args, (const char **)&args->operands[i]);
        else if (args->verb->n_read && strcmp(args->operands[i], "-") == 0)
            code = cli_misuse(args->verb, "%s: - is not a folder", args->verb->operands);
    for (size_t i = 0; i < args->n_given && code == CLI_DONE; i++)
        if (args->given[i].value)
            code = replace_value(args, &args->given[i], &n_written);
    return code;
}

cq_status cli_save_model(const cq_onnx_model *model, const char *path,
                         const cq_onnx_save_options *options)
{
    void     *data = NULL;
    size_t    size = 0;
    cq_status status;

    if (!cli_is_stdout(path))
        return cq_onnx_model_save(model, path, options);
    status = cq_onnx_model_encode(&data, &size, model);
    if (status == CQ_OK)
        fwrite(data, 1, size, stdout); /* main looks whether that went well */
    n_streamed = size;
    cq_buffer_free(data);
    return status;
}

/* A full disk shows itself only when the buffer is written. */
static int flush_stdout(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return CLI_DONE;
    return cli_fail_with("", "cannot write to standard output: %s", strerror(errno));
}

static int end_outputs(int code, bool is_last)
{
    cq_status status;

    if (code == CLI_DONE)
        code = flush_stdout();
    status = cq_outputs_end(code == CLI_DONE ? CQ_OK : CQ_E_CANCELLED);
    if (code != CLI_DONE)
        return code;
    return status != CQ_OK && !is_last && cq_outputs_collided() ? CLI_FAILED : cli_result(status);
}

int cli_end_outputs(int code)
{
    return end_outputs(code, true);
}

int cli_try_outputs(int code, int tries_left)
{
    return end_outputs(code, tries_left == 0);
}

/* ---- how much is written ---- */

/* Weights that an archive shares, or keeps in 8 bits, are written out as floats. */
enum { TIMES = 16 };

static uint64_t most = UINT64_MAX;

void cli_limit_outputs(const cli_args *args)
{
    if (args->allows_large)
        return;
    most = args->verb->fills ? (uint64_t)1 << 30 : (uint64_t)64 << 20;
    cq_limit_outputs(most, TIMES);
}

void cli_allow_outputs(uint64_t bytes)
{
    if (most == UINT64_MAX)
        return;
    most = bytes < (UINT64_MAX - most) / TIMES ? most + TIMES * bytes : UINT64_MAX;
    cq_limit_outputs(most, TIMES);
}
