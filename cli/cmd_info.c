/* calque info: shows the contents and inputs of a model on one screen. The library provides them as
 * tables; this file formats them. */
#include "applies.h"
#include "cli.h"
#include "json.h"
#include "model.h"

#include <calque/info.h>
#include <calque/system.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    MAX_ROWS  = 40, /* rows of a table, without --all */
    FEW_ROWS  = 8,  /* rows of the table of tensors, if there are modules */
    MAX_WIDTH = 60, /* width of a column: a longer cell extends past it */
    ALL_DEPTH = 1000,
    CELL_SIZE = 32,
    METHODS   = 1 /* of a program: the index of the table of methods, after the table of facts */
};

typedef struct page {
    const cq_info *info;
    int64_t        depth; /* -1: as many levels as fit */
    bool           all;
} page;

/* ---- cells ---- */

/* Formats 1234567 as 1,234,567. */
static void put_grouped(char *out, size_t size, int64_t number)
{
    char   digits[24];
    size_t n   = (size_t)snprintf(digits, sizeof digits, "%" PRIu64,
                                number < 0 ? 0 - (uint64_t)number : (uint64_t)number);
    size_t len = 0;

    if (number < 0)
        out[len++] = '-';
    for (size_t i = 0; i < n && len + 2 < size; i++) {
        if (i && (n - i) % 3 == 0)
            out[len++] = ',';
        out[len++] = digits[i];
    }
    out[len] = '\0';
}

void cli_size_text(char *out, size_t size, uint64_t bytes)
{
    static const char *const units[] = { "kB", "MB", "GB", "TB", "PB" };
    double                   number  = (double)bytes;
    size_t                   unit    = 0;

    if (bytes < 1000) {
        snprintf(out, size, "%" PRIu64 " bytes", bytes);
        return;
    }
    for (number /= 1000; number >= 999.5 && unit < 4; unit++)
        number /= 1000;
    snprintf(out, size,
             number < 9.995   ? "%.2f %s"
             : number < 99.95 ? "%.1f %s"
                              : "%.0f %s",
             number, units[unit]);
}

/* The text of a cell; buffer has space for a number. */
static const char *cell_text(const page *p, size_t t, size_t row, size_t column, char *buffer)
{
    switch (cq_info_cell_kind(p->info, t, row, column)) {
    case CQ_INFO_COUNT:
        put_grouped(buffer, CELL_SIZE, cq_info_cell_number(p->info, t, row, column));
        return buffer;
    case CQ_INFO_BYTES:
        cli_size_text(buffer, CELL_SIZE, (uint64_t)cq_info_cell_number(p->info, t, row, column));
        return buffer;
    default: return cq_info_cell_text(p->info, t, row, column);
    }
}

/* The number of terminal columns of a text as cli_put_text prints it; UTF-8 continuation bytes take
 * none. */
static int text_width(const char *text)
{
    int width = 0;

    for (const unsigned char *c = (const unsigned char *)text; *c; c++)
        width += *c < 0x20 || *c == 0x7f ? 4 : (*c & 0xc0) != 0x80;
    return width;
}

/* ---- selection of rows ---- */

static size_t depth_of(const char *path)
{
    size_t depth = *path != '\0';

    for (; *path; path++)
        depth += *path == '.';
    return depth;
}

static bool is_tree(const page *p, size_t t)
{
    return strcmp(cq_info_table_name(p->info, t), "modules") == 0;
}

static bool is_shown(const page *p, size_t t, size_t row, int64_t depth)
{
    return !is_tree(p, t) || depth_of(cq_info_cell_text(p->info, t, row, 0)) <= (size_t)depth;
}

static size_t count_shown(const page *p, size_t t, int64_t depth)
{
    size_t n = 0;

    for (size_t row = 0; row < cq_info_n_rows(p->info, t); row++)
        n += is_shown(p, t, row, depth);
    return n;
}

/* The requested depth, or the deepest that fits on a screen. */
static int64_t depth_shown(const page *p, size_t t)
{
    size_t n = cq_info_n_rows(p->info, t);

    if (p->depth >= 0)
        return p->depth;
    if (p->all || !is_tree(p, t))
        return ALL_DEPTH;
    for (int64_t depth = 1; depth < ALL_DEPTH; depth++) {
        size_t shown = count_shown(p, t, depth + 1);

        if (shown > MAX_ROWS)
            return depth;
        if (shown == n)
            break;
    }
    return ALL_DEPTH;
}

static size_t most_rows(const page *p, size_t t)
{
    if (p->all)
        return SIZE_MAX;
    if (t > 0 && is_tree(p, t - 1) && strcmp(cq_info_table_name(p->info, t), "tensors") == 0)
        return FEW_ROWS;
    return MAX_ROWS;
}

/* ---- text ---- */

static void put_padding(int n)
{
    for (; n > 0; n--)
        putchar(' ');
}

static void put_cell(const char *text, int width, bool to_the_right, bool last)
{
    int gap = width - text_width(text);

    if (to_the_right)
        put_padding(gap);
    cli_put_text(stdout, text);
    if (!to_the_right && !last)
        put_padding(gap);
    if (!last)
        fputs("  ", stdout);
}

static bool is_column_of_numbers(const page *p, size_t t, size_t column)
{
    return t > 0 && cq_info_n_rows(p->info, t) &&
           cq_info_cell_kind(p->info, t, 0, column) != CQ_INFO_TEXT;
}

static int column_width(const page *p, size_t t, size_t column, int64_t depth)
{
    int  width = t ? text_width(cq_info_column_name(p->info, t, column)) : 0;
    char buffer[CELL_SIZE];

    for (size_t row = 0; row < cq_info_n_rows(p->info, t); row++) {
        int own = is_shown(p, t, row, depth) ? text_width(cell_text(p, t, row, column, buffer)) : 0;

        width = own > width && own <= MAX_WIDTH ? own : width;
    }
    return width;
}

/* A column without text is omitted. */
static bool is_empty_column(const page *p, size_t t, size_t column)
{
    char buffer[CELL_SIZE];

    for (size_t row = 0; row < cq_info_n_rows(p->info, t); row++)
        if (*cell_text(p, t, row, column, buffer))
            return false;
    return true;
}

static void put_row(const page *p, size_t t, size_t row, const int *widths, size_t n_columns)
{
    char   buffer[CELL_SIZE];
    size_t last = n_columns;

    /* Trailing spaces would only wrap lines. */
    while (last > 1 && (widths[last - 1] < 0 || !*cell_text(p, t, row, last - 1, buffer)))
        last--;
    fputs("  ", stdout);
    for (size_t c = 0; c < last; c++) {
        const char *text = cell_text(p, t, row, c, buffer);

        if (widths[c] >= 0)
            put_cell(is_tree(p, t) && c == 0 && !*text ? "(all)" : text, widths[c],
                     is_column_of_numbers(p, t, c), c + 1 == last);
    }
    putchar('\n');
}

static void put_heading(const page *p, size_t t, const int *widths, size_t n_columns)
{
    size_t last = n_columns;

    while (last > 1 && widths[last - 1] < 0)
        last--;
    printf("\n%s\n  ", cq_info_table_name(p->info, t));
    for (size_t c = 0; c < last; c++)
        if (widths[c] >= 0)
            put_cell(cq_info_column_name(p->info, t, c), widths[c], is_column_of_numbers(p, t, c),
                     c + 1 == last);
    putchar('\n');
}

static void put_table(const page *p, size_t t)
{
    enum { MAX_COLUMNS = 8 };
    const size_t  n_columns = cq_info_n_columns(p->info, t), n_rows = cq_info_n_rows(p->info, t);
    const int64_t depth               = depth_shown(p, t);
    const size_t  n_shown             = count_shown(p, t, depth);
    int           widths[MAX_COLUMNS] = { 0 };
    size_t        n_put               = 0;

    if (n_rows == 0 || n_columns > MAX_COLUMNS)
        return;
    for (size_t c = 0; c < n_columns; c++)
        widths[c] = is_empty_column(p, t, c) ? -1 : column_width(p, t, c, depth);
    if (t > 0)
        put_heading(p, t, widths, n_columns);
    for (size_t row = 0; row < n_rows; row++)
        if (is_shown(p, t, row, depth) && n_put++ < most_rows(p, t))
            put_row(p, t, row, widths, n_columns);
    n_put = n_shown < most_rows(p, t) ? n_shown : most_rows(p, t);
    if (n_put < n_rows)
        printf("  … and %zu more (--all%s)\n", n_rows - n_put, is_tree(p, t) ? ", --depth N" : "");
}

/* ---- JSON ---- */

static void put_json_cell(const page *p, size_t t, size_t row, size_t column)
{
    const cq_info_kind kind = cq_info_cell_kind(p->info, t, row, column);

    if (kind == CQ_INFO_TEXT)
        cli_json_string(stdout, cq_info_cell_text(p->info, t, row, column));
    else if (kind == CQ_INFO_NONE)
        fputs("null", stdout);
    else
        printf("%" PRId64, cq_info_cell_number(p->info, t, row, column));
}

static void put_json_table(const page *p, size_t t)
{
    int64_t depth = p->depth >= 0 ? p->depth : ALL_DEPTH;
    bool    first = true;

    printf(",\n  ");
    cli_json_string(stdout, cq_info_table_name(p->info, t));
    printf(": [");
    for (size_t row = 0; row < cq_info_n_rows(p->info, t); row++) {
        if (!is_shown(p, t, row, depth))
            continue;
        printf("%s\n    {", first ? "" : ",");
        first = false;
        for (size_t c = 0; c < cq_info_n_columns(p->info, t); c++) {
            fputs(c ? ", " : "", stdout);
            cli_json_string(stdout, cq_info_column_name(p->info, t, c));
            fputs(": ", stdout);
            put_json_cell(p, t, row, c);
        }
        putchar('}');
    }
    printf("%s]", first ? "" : "\n  ");
}

/* Writes an object: facts are its members, and so are tables, which are lists of objects. */
static void put_json(const page *p)
{
    printf("{\n");
    printf("  \"model\": {");
    for (size_t row = 0; row < cq_info_n_rows(p->info, 0); row++) {
        fputs(row ? ",\n    " : "\n    ", stdout);
        cli_json_string(stdout, cq_info_cell_text(p->info, 0, row, 0));
        fputs(": ", stdout);
        put_json_cell(p, 0, row, 1);
    }
    printf("\n  }");
    for (size_t t = 1; t < cq_info_n_tables(p->info); t++)
        put_json_table(p, t);
    printf("\n}\n");
}

/* ---- the verb ---- */

/* Adds facts that need an export of the model: outputs and operations of its modules. Without a
 * requested example the export may fail; then nothing is added. */
static int add_export(cq_info *info, const cli_args *args, cli_model *model)
{
    static cli_example example; /* too large for a stack frame */
    const bool         asked = cli_has(args, "input") || cli_has(args, "example");
    cq_export_options  options;
    cq_onnx_model     *onnx   = NULL;
    cq_status          status = CQ_OK;
    int                code;

    CLI_TRY(cli_example_read(&example, args, &model->takes));
    if (!asked && !model->takes.n_own && model->front_end != &cli_pt2_front_end)
        return CLI_DONE;
    cq_export_options_init(&options);
    options.flags |= CQ_EXPORT_STATIC;
    code                  = cli_example_load(&example);
    model->call.structure = example.structure;
    if (code == CLI_DONE)
        status = cq_export_report_new(&options.report);
    if (code == CLI_DONE && status == CQ_OK)
        status = model->front_end->export_to(&onnx, model, example.tensors, example.n, &options);
    if (code == CLI_DONE && status == CQ_OK)
        status = cq_info_add_report(info, options.report);
    if (code == CLI_DONE && status != CQ_OK && (asked || status == CQ_E_NO_MEMORY))
        code = cli_result_of_model(model, status);
    cq_export_report_free(options.report);
    cq_onnx_model_free(onnx);
    cli_example_clear(&example);
    return code;
}

/* Whether the format, which is the first fact, is this one. */
static bool is_format(const cq_info *info, const char *format)
{
    return strcmp(cq_info_cell_text(info, 0, 0, 1), format) == 0;
}

static bool is_program(const cq_info *info)
{
    return !is_format(info, "ONNX model") && !is_format(info, "state dict") &&
           !is_format(info, "checkpoint") && !is_format(info, "pickled module") &&
           !is_format(info, "torch.export programs");
}

/* Whether the program has no default entry, so that --entry must name a method. */
static bool lacks_entry(const cq_info *info)
{
    const size_t n = cq_info_n_rows(info, METHODS);

    for (size_t i = 0; i < n; i++)
        if (strncmp(cq_info_cell_text(info, METHODS, i, 0), "forward", 7) == 0)
            return false;
    return n > 1;
}

static int info_with_paths(cq_info **out, const cli_args *args)
{
    static cli_model model; /* too large for a stack frame */
    int              code = cli_model_open(&model, args);

    if (code == CLI_DONE && model.front_end != &cli_script_front_end)
        code = cli_misuse(args->verb, "--path is for Python source");
    if (code == CLI_DONE)
        code = cli_result(cq_script_info(out, model.handle));
    if (code == CLI_DONE)
        code = add_export(*out, args, &model);
    cli_model_close(&model);
    return code;
}

static int make_info(cq_info **out, const cli_args *args)
{
    static cli_model model; /* too large for a stack frame */
    const char      *path = args->operands[0];
    int              code;

    if (!cli_model_is_built_in(path) && !cq_path_exists(path))
        return cli_no_such_model(path);
    if (cli_has(args, "path")) /* Python source that imports modules from these folders */
        return info_with_paths(out, args);
    code = cli_result(cq_model_info(out, path, cli_value(args, "entry")));
    if (code == CLI_DONE && is_format(*out, "Python source") && !cli_has(args, "input") &&
        !cli_has(args, "example"))
        return CLI_DONE;
    if (code == CLI_DONE && is_format(*out, "TorchScript archive") && lacks_entry(*out) &&
        !cli_has(args, "entry") && !cli_has(args, "input") && !cli_has(args, "example"))
        return CLI_DONE; /* the table of methods is the answer */
    if (code == CLI_DONE && is_program(*out)) {
        code = cli_model_open(&model, args);
        if (code == CLI_DONE)
            code = add_export(*out, args, &model);
        cli_model_close(&model);
    } else if (code == CLI_DONE) {
        code = cli_check_kind(args, is_format(*out, "torch.export programs") ? CLI_KIND_PT2
                                    : is_format(*out, "ONNX model")          ? CLI_KIND_ONNX
                                                                             : CLI_KIND_OTHER);
        if (code == CLI_DONE && (cli_has(args, "input") || cli_has(args, "example")))
            code =
                cli_misuse(args->verb, "--input and --example are for programs, but %s is not one",
                           cli_path_name(path));
    }
    return code;
}

static int run(const cli_args *args)
{
    cq_info *info = NULL;
    page     p    = { .depth = -1, .all = cli_has(args, "all") };
    int      code = cli_number(args, "depth", 0, ALL_DEPTH, &p.depth);

    if (code == CLI_DONE)
        code = make_info(&info, args);
    p.info = info;
    if (code == CLI_DONE && cli_has(args, "json"))
        put_json(&p);
    for (size_t t = 0; code == CLI_DONE && !cli_has(args, "json") && t < cq_info_n_tables(info);
         t++)
        put_table(&p, t);
    cq_info_free(info);
    return code;
}

static const cli_option options[] = {
    { "depth", "N", "modules up to depth N (as many as fit on a screen)", 0 },
    { "all", NULL, "all rows of all tables", 0 },
    { "json", NULL, "as JSON: facts, and tables as lists of objects; always complete", 0 },
    CLI_EXAMPLE_OPTIONS,
    CLI_LIMIT_OPTIONS,
    { 0 },
};

const cli_verb cli_verb_info = {
    .name     = "info",
    .operands = "MODEL",
    .summary  = "show the contents and inputs of a model",
    .about =
        "Shows the contents and inputs of MODEL on one screen. For TorchScript: methods with\n"
        "their signatures and a suggested --input, modules with their classes and weights and,\n"
        "given inputs, their results and operations (FLOPs); for a .pt2: inputs with dynamic\n"
        "sizes and their ranges, outputs, operators, weights; for an ONNX model: inputs,\n"
        "outputs, opsets, operators, metadata, operations (FLOPs, with 1 for dynamic sizes);\n"
        "for a file of weights (torch.save, safetensors, index.json): classes, modules,\n"
        "tensors, and the source files that an export needs.",
    .options      = options,
    .min_operands = 1,
    .max_operands = 1,
    .n_read       = 1,
    .run          = run,
};
