/* calque ops: lists the supported operators of PyTorch. */
#include "cli.h"
#include "json.h"

#include <calque/ops.h>

#include <stdio.h>
#include <string.h>

/* Describes the export of an operator in a word or two: "7", "in parts", "no: …". */
static void put_opset(const cq_op_info *op)
{
    if (op->first_opset)
        printf("%d", (int)op->first_opset);
    else if (op->composed)
        printf("in parts");
    else if (*op->obstacle)
        printf("no: %s", op->obstacle);
    else
        printf("no");
}

static const char *gradient_of(const cq_op_info *op)
{
    return op->has_gradient ? "yes" : op->composed ? "in parts" : "no";
}

static void put_line(const cq_op_info *op)
{
    printf("%s  # opset: ", op->schema);
    put_opset(op);
    printf(", gradient: %s%s%s\n", gradient_of(op), *op->about ? "; " : "", op->about);
}

static void put_row(const cq_op_info *op)
{
    printf("| `%s` | ", op->schema);
    put_opset(op);
    printf(" | %s | ", gradient_of(op));
    for (const char *c = op->about; *c; c++)
        printf(*c == '|' ? "\\%c" : "%c", *c);
    printf(" |\n");
}

static void put_heading(void)
{
    size_t     n = 0, n_forms = 0, n_composed = 0;
    cq_op_info op;

    for (; cq_op_info_at(n, &op); n++) {
        n_forms += op.first_opset != 0;
        n_composed += !op.first_opset && op.composed;
    }
    printf(
        "# Operators\n\n"
        "<!-- Printed by `calque ops --markdown`; a test fails when this page is stale. -->\n\n"
        "calque implements %zu operators of PyTorch. %zu of them have a form in ONNX: *opset* is "
        "the\n"
        "first that has it. %zu more are exported *in parts*, as the operators that compose them.\n"
        "In-place variants (`relu_`) exist for each operator. *gradient* is whether a tape can\n"
        "record it; operators that compare, count or draw numbers have no gradient.\n\n"
        "| operator | opset | gradient | |\n|---|---|---|---|\n",
        n, n_forms, n_composed);
}

static void put_object(const cq_op_info *op, bool first)
{
    fputs(first ? "\n  {\"schema\": " : ",\n  {\"schema\": ", stdout);
    cli_json_string(stdout, op->schema);
    printf(", \"opset\": %d, \"in_parts\": %s, \"obstacle\": ", (int)op->first_opset,
           op->composed ? "true" : "false");
    cli_json_string(stdout, op->obstacle);
    printf(", \"gradient\": \"%s\", \"about\": ", gradient_of(op));
    cli_json_string(stdout, op->about);
    putchar('}');
}

static int run(const cli_args *args)
{
    bool       markdown = cli_has(args, "markdown"), json = cli_has(args, "json");
    bool       first = true;
    cq_op_info op;

    if (json)
        putchar('[');
    else if (markdown)
        put_heading();
    for (size_t i = 0; cq_op_info_at(i, &op); i++) {
        if (args->n_operands && !strstr(op.schema, args->operands[0]))
            continue;
        if (json)
            put_object(&op, first);
        else if (markdown)
            put_row(&op);
        else
            put_line(&op);
        first = false;
    }
    if (cq_last_error()->status != CQ_E_NOT_FOUND) /* the enumeration failed before the last
                                                    * operator */
        return cli_fail();
    if (json)
        puts(first ? "]" : "\n]");
    return first && args->n_operands
               ? cli_fail_with("use calque ops without TEXT to list all operators",
                               "no operator has '%s' in its schema", args->operands[0])
               : CLI_DONE;
}

static const cli_option options[] = {
    { "json", NULL, "a JSON list of objects: schema, opset, in_parts, obstacle, gradient, about",
      0 },
    { "markdown", NULL, "a page with a table, as docs/operators.md", 0 },
    { 0 },
};

const cli_verb cli_verb_ops = {
    .name     = "ops",
    .operands = "[TEXT]",
    .summary  = "list the supported operators of PyTorch",
    .about = "Lists the supported operators of PyTorch, one per line: PyTorch's schema, the first\n"
             "ONNX opset that can express it, and whether it has a gradient. With TEXT only those\n"
             "whose schema contains it.",
    .options      = options,
    .max_operands = 1,
    .run          = run,
};
