/* Standard input and output in place of files, and the line that says what was written. */
#include "cli.h"

#include <calque/onnx.h>

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define STDOUT_PATH "/dev/stdout"

static double began;

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void cli_start_clock(void)
{
    began = now();
}

void cli_wrote(const cli_args *args, const char *path, const char *format, ...)
{
    struct stat st;
    char        size[32];
    va_list     more;

    if (args->quiet)
        return;
    fputs("wrote ", stderr);
    cli_put_text(stderr, cli_is_stream(path) ? "standard output" : path);
    fputc(':', stderr);
    if (!cli_is_stream(path) && stat(path, &st) == 0 && S_ISREG(st.st_mode)) {
        cli_size_text(size, sizeof size, (uint64_t)st.st_size);
        fprintf(stderr, " %s,", size);
    }
    va_start(more, format);
    vfprintf(stderr, format, more);
    va_end(more);
    fprintf(stderr, " %.2f s\n", now() - began);
}

bool cli_is_stream(const char *path)
{
    return strcmp(path, "-") == 0 || strcmp(path, STDOUT_PATH) == 0;
}

const char *cli_stream_path(const char *path)
{
    return path && cli_is_stream(path) ? STDOUT_PATH : path;
}

/* Readers want to seek and to map, so standard input is copied to a file without a name first. */
static int spool(char *path, size_t size)
{
    static char buffer[1 << 16];
    FILE       *copy = tmpfile(); /* stays open until the end */
    size_t      n;

    if (!copy)
        return cli_fail_with("", "there is no room for standard input: %s", strerror(errno));
    while ((n = fread(buffer, 1, sizeof buffer, stdin)) > 0)
        if (fwrite(buffer, 1, n, copy) != n)
            return cli_fail_with("", "cannot copy standard input: %s", strerror(errno));
    if (ferror(stdin) || fflush(copy) != 0)
        return cli_fail_with("", "cannot copy standard input: %s", strerror(errno));
    snprintf(path, size, CLI_STDIN_PREFIX "%d", fileno(copy));
    return CLI_DONE;
}

int cli_read_stdin(cli_args *args)
{
    static char path[64];
    int         code = CLI_DONE;

    if (args->verb->no_files)
        return CLI_DONE;
    for (size_t i = 0; i < args->n_operands && i < args->verb->min_operands; i++) {
        if (strcmp(args->operands[i], "-") != 0 || code != CLI_DONE)
            continue;
        if (*path)
            return cli_misuse(args->verb, "standard input can be read only once");
        code              = spool(path, sizeof path);
        args->operands[i] = path;
    }
    return code;
}

cq_status cli_save_model(const cq_onnx_model *model, const char *path,
                         const cq_onnx_save_options *options)
{
    void     *data = NULL;
    size_t    size = 0;
    cq_status status;

    if (!cli_is_stream(path))
        return cq_onnx_model_save(model, path, options);
    status = cq_onnx_model_encode(&data, &size, model);
    if (status == CQ_OK)
        fwrite(data, 1, size, stdout); /* main looks whether that went well */
    cq_buffer_free(data);
    return status;
}
