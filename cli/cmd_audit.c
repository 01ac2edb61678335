/* calque audit: scans untrusted files and reports whether it is safe to load them. */
#include "cli.h"
#include "json.h"

#include <calque/audit.h>
#include <calque/version.h>
#include <calque/weights.h>

#include <stdio.h>
#include <string.h>

typedef struct audit_report {
    bool       json, sarif, all;
    size_t     n; /* number of JSON objects so far */
    cq_verdict worst;
} audit_report;

/* ---- text: FILE: verdict (format), then a line per reason ---- */

static void write_text(const audit_report *r, const char *path, const cq_audit *audit)
{
    cli_put_path(stdout, path);
    printf(": %s (%s)\n", cq_verdict_name(cq_audit_verdict(audit)), cq_audit_format(audit));
    for (size_t i = 0; i < cq_audit_count(audit); i++) {
        const cq_audit_finding *f = cq_audit_at(audit, i);

        if (f->verdict == CQ_VERDICT_SAFE && !r->all)
            continue;
        printf("  %s: %s: ", cq_verdict_name(f->verdict), f->code);
        if (strcmp(f->where, path) != 0) {
            cli_put_path(stdout, f->where);
            fputs(": ", stdout);
        }
        cli_put_text(stdout, f->what);
        putchar('\n');
    }
}

/* ---- JSON ---- */

static void write_member(const char *name, const char *text, const char *before)
{
    printf("%s\"%s\": ", before, name);
    cli_json_string(stdout, text);
}

static void write_json(audit_report *r, const char *path, const cq_audit *audit)
{
    printf("%s\n  {", r->n++ ? "," : "");
    write_member("file", path, "");
    write_member("format", cq_audit_format(audit), ", ");
    write_member("verdict", cq_verdict_name(cq_audit_verdict(audit)), ", ");
    printf(", \"findings\": [");
    for (size_t i = 0; i < cq_audit_count(audit); i++) {
        const cq_audit_finding *f = cq_audit_at(audit, i);

        fputs(i ? ",\n    {" : "\n    {", stdout);
        write_member("verdict", cq_verdict_name(f->verdict), "");
        write_member("code", f->code, ", ");
        write_member("where", f->where, ", ");
        write_member("what", f->what, ", ");
        putchar('}');
    }
    printf("]}");
}

/* Writes SARIF 2.1.0, which code hosts read. */
static void write_sarif(audit_report *r, const char *path, const cq_audit *audit)
{
    static const char *const levels[] = { "note", "warning", "error" };

    for (size_t i = 0; i < cq_audit_count(audit); i++) {
        const cq_audit_finding *f = cq_audit_at(audit, i);

        if (f->verdict == CQ_VERDICT_SAFE && !r->all)
            continue;
        printf("%s\n      {", r->n++ ? "," : "");
        write_member("ruleId", f->code, "");
        write_member("level", levels[f->verdict], ", ");
        printf(", \"message\": {");
        write_member("text", f->what, "");
        printf("}, \"locations\": [{\"physicalLocation\": {\"artifactLocation\": {");
        write_member("uri", path, "");
        printf("}}, \"logicalLocations\": [{");
        write_member("fullyQualifiedName", f->where, "");
        printf("}]}]}");
    }
}

static void begin(const audit_report *r)
{
    if (r->json)
        putchar('[');
    if (r->sarif)
        printf(
            "{\"$schema\": \"https://json.schemastore.org/sarif-2.1.0.json\", \"version\": "
            "\"2.1.0\",\n  \"runs\": [{\n    \"tool\": {\"driver\": {\"name\": \"calque audit\", "
            "\"version\": \"%s\"}},\n    \"results\": [",
            cq_version_string());
}

static void end(const audit_report *r)
{
    if (r->json)
        puts(r->n ? "\n]" : "]");
    if (r->sarif)
        puts(r->n ? "\n    ]}]}" : "]}]}");
}

/* A file that cannot be read is not safe; the other files are still scanned. */
static int audit_one(audit_report *r, const char *path)
{
    cq_audit *audit = NULL;

    if (cq_audit_file(&audit, path) != CQ_OK)
        return cli_fail();
    if (r->json)
        write_json(r, path, audit);
    else if (r->sarif)
        write_sarif(r, path, audit);
    else
        write_text(r, path, audit);
    if (cq_audit_verdict(audit) > r->worst)
        r->worst = cq_audit_verdict(audit);
    cq_audit_free(audit);
    return CLI_DONE;
}

/* Writes the tensors of a file as safetensors, which cannot contain code. calque builds values from
 * a fixed list of types, so this is safe for hostile files too. */
static int save_tensors(const cli_args *args)
{
    const char *to = cli_value(args, "safetensors");
    cq_weights *w  = NULL;
    int         code;

    if (!to)
        return CLI_DONE;
    code = cli_result(cq_weights_open(&w, args->operands[0]));
    if (code == CLI_DONE)
        code = cli_result(cq_weights_save(w, to));
    if (code == CLI_DONE && !args->quiet) {
        fprintf(stderr, "wrote ");
        cli_put_path(stderr, to);
        fprintf(stderr, ": %zu tensors, %.2f s\n", cq_weights_count(w), cli_elapsed());
    }
    cq_weights_free(w);
    return code;
}

static int run(const cli_args *args)
{
    audit_report r    = { .json  = cli_has(args, "json"),
                          .sarif = cli_has(args, "sarif"),
                          .all   = cli_has(args, "all") };
    int          code = CLI_DONE;

    if (r.json && r.sarif)
        return cli_misuse(args->verb, "--json and --sarif exclude each other");
    if (cli_has(args, "safetensors") && args->n_operands != 1)
        return cli_misuse(args->verb, "--safetensors takes one FILE, got %zu", args->n_operands);
    begin(&r);
    for (size_t i = 0; i < args->n_operands; i++)
        if (audit_one(&r, args->operands[i]) != CLI_DONE)
            code = CLI_FAILED;
    end(&r);
    if (code == CLI_DONE)
        code = save_tensors(args);
    return r.worst == CQ_VERDICT_SAFE ? code : CLI_FAILED;
}

static const cli_option options[] = {
    { "json", NULL, "a JSON list of objects: file, format, verdict, findings", 0 },
    { "sarif", NULL, "the findings as SARIF 2.1.0, for code hosts", 0 },
    { "safetensors", "OUT", "write the tensors of FILE alone, as a file of safetensors", 0 },
    { "all", NULL, "list facts as well, such as harmless imports of a pickle", 0 },
    { 0 },
};

const cli_verb cli_verb_audit = {
    .name     = "audit",
    .operands = "FILE…",
    .summary  = "report what untrusted files contain",
    .about =
        "Scans files without running or building anything: pickles of PyTorch (zip, legacy, "
        "plain),\n"
        "TorchScript, .pt2, ONNX, safetensors, .npy and zip archives. A verdict for each file:\n"
        "  safe     loading it builds plain data\n"
        "  unknown  it needs code that calque does not know, or is damaged\n"
        "  hostile  it would run code, reach other files, or deceive its reader\n"
        "The exit code is 0 if all files are safe, else 1.",
    .options      = options,
    .min_operands = 1,
    .max_operands = CLI_ANY_NUMBER,
    .n_read       = CLI_ANY_NUMBER,
    .run          = run,
};
