/* The report of an export. Warnings are kept as they come; of very many, the first. */
#include "report.h"
#include "cli.h"
#include "json.h"

#include <calque/system.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MAX_WARNINGS 256
#define MESSAGE_SIZE 2048
#define PLACE_SIZE   512

static struct {
    char message[MESSAGE_SIZE], where[PLACE_SIZE];
} warnings[MAX_WARNINGS];
static size_t n_warnings;
static double phase_began, seconds[CLI_N_PHASES];

/* ---- collecting ---- */

/* Says a warning once: a model may be captured several times. */
static void keep_warning(void *user, const char *message, const char *where)
{
    (void)user;
    for (size_t i = 0; i < n_warnings; i++)
        if (strncmp(warnings[i].message, message, MESSAGE_SIZE - 1) == 0 &&
            strncmp(warnings[i].where, where, PLACE_SIZE - 1) == 0)
            return;
    cli_warn_at(where, message);
    if (n_warnings == MAX_WARNINGS)
        return;
    snprintf(warnings[n_warnings].message, MESSAGE_SIZE, "%s", message);
    snprintf(warnings[n_warnings].where, PLACE_SIZE, "%s", where);
    n_warnings++;
}

void cli_report_begin(void)
{
    cq_set_warning_handler(keep_warning, NULL);
    phase_began = cq_seconds();
}

void cli_report_phase(cli_phase phase)
{
    double ended = cq_seconds();

    seconds[phase] = ended - phase_began;
    phase_began    = ended;
}

/* ---- writing ---- */

static void put_text(FILE *out, const char *key, const char *text)
{
    fprintf(out, "\"%s\": ", key);
    cli_json_string(out, text);
}

/* The separator of list items and the end of the list. */
static const char *separator(size_t i)
{
    return i ? ",\n    " : "\n    ";
}

static const char *ending(size_t n)
{
    return n ? "\n  ]" : "]";
}

static void put_entries(FILE *out, const char *key, const cq_export_report *report,
                        cq_report_kind kind)
{
    size_t n = cq_export_report_count(report, kind);

    fprintf(out, ",\n  \"%s\": [", key);
    for (size_t i = 0; i < n; i++) {
        const cq_report_entry *e = cq_export_report_at(report, kind, i);

        fprintf(out, "%s{", separator(i));
        put_text(out, "name", e->name);
        fprintf(out, ", \"%s\": %" PRId64 ", ", kind == CQ_REPORT_BAKED ? "value" : "count",
                kind == CQ_REPORT_BAKED ? e->value : e->count);
        put_text(out, "where", e->where);
        if (kind == CQ_REPORT_MISSING) {
            fputs(", ", out);
            put_text(out, "why", e->reason);
            fprintf(out, ", \"opset\": %d", (int)e->opset);
        }
        fputc('}', out);
    }
    fputs(ending(n), out);
}

static void put_warnings(FILE *out)
{
    fputs(",\n  \"warnings\": [", out);
    for (size_t i = 0; i < n_warnings; i++) {
        fprintf(out, "%s{", separator(i));
        put_text(out, "message", warnings[i].message);
        fputs(", ", out);
        put_text(out, "where", warnings[i].where);
        fputc('}', out);
    }
    fputs(ending(n_warnings), out);
}

static void put_error(FILE *out, cq_status status)
{
    const cq_error *error = cq_last_error();

    if (status == CQ_OK) {
        fputs(",\n  \"error\": null", out);
        return;
    }
    fputs(",\n  \"error\": {", out);
    put_text(out, "status", cq_status_name(status));
    fputs(", ", out);
    put_text(out, "message", error->message);
    fputs(", ", out);
    put_text(out, "where", error->where);
    fputs(", ", out);
    put_text(out, "hint", error->hint);
    fputc('}', out);
}

static void put_all(FILE *out, const cli_report *r)
{
    static const char *const phases[] = { "load", "export", "verify", "save" };

    fputs("{\n  ", out);
    put_text(out, "model", r->model);
    fputs(",\n  ", out);
    put_text(out, "output", r->output);
    fprintf(out, ",\n  \"opset\": %d,\n  \"ok\": %s", (int)r->options->opset,
            r->status == CQ_OK ? "true" : "false");
    put_error(out, r->status);
    put_entries(out, "operators", r->options->report, CQ_REPORT_OPERATORS);
    put_entries(out, "unsupported", r->options->report, CQ_REPORT_MISSING);
    put_entries(out, "baked", r->options->report, CQ_REPORT_BAKED);
    put_warnings(out);
    fputs(",\n  \"seconds\": {", out);
    for (size_t i = 0; i < CLI_N_PHASES; i++)
        fprintf(out, "%s\"%s\": %.6f", i ? ", " : "", phases[i], seconds[i]);
    fputs("}\n}\n", out);
}

int cli_report_write(const cli_report *r, const char *path)
{
    cq_text_stream *stream;
    FILE           *out;
    char           *text   = NULL;
    size_t          size   = 0;
    cq_status       status = cq_text_open(&stream, &out);

    if (status != CQ_OK)
        return cli_result(status);
    put_all(out, r);
    status = cq_text_close(stream, &text, &size);
    if (status == CQ_OK)
        status = cq_buffer_save(path, text, size);
    cq_buffer_free(text);
    return cli_result(status);
}
