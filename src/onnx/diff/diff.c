/* Compares two models node by node. See diff.h. */
#include "onnx/diff/diff.h"

#include "onnx/function_index.h"

#include "base/str.h"
#include "onnx/schema.h"
#include "onnx/text/text.h"

#include <inttypes.h>
#include <string.h>

static const char *text_of(const char *text)
{
    return text ? text : "";
}

static cq_status diff_graphs(cq_diff *d, const cq_onnx_graph *a, const cq_onnx_graph *b,
                             const cq_diff_scope *around_a, const cq_diff_scope *around_b);

/* Reports the differences that cq_diff_tensors and similar functions found, if any. */
static void report(cq_diff *d, cq_onnx_rule rule, cq_str *why)
{
    if (why->status != CQ_OK && d->c.status == CQ_OK)
        d->c.status = why->status;
    else if (why->len)
        cq_onnx_report(&d->c, rule, "%s", cq_str_text(why));
    cq_str_clear(why);
}

/* ---- values ---- */

/* Describes the source of a value: "computed by Gemm /fc/Gemm". A node without a name is identified
 * by its first result. */
static void describe(cq_str *s, const cq_diff_value *v)
{
    const cq_onnx_node *node = v ? v->node : NULL;

    if (!v)
        cq_str_add(s, "missing");
    else if (!node)
        cq_str_printf(s, "the %s %s", v->kind == CQ_DIFF_INPUT ? "input" : "weight", v->name);
    else
        cq_str_printf(s, "computed by %s %s", text_of(node->op_type),
                      node->name && *node->name ? node->name : text_of(node->output.items[0]));
    if (node && v->index)
        cq_str_printf(s, " (output %u)", v->index);
}

static cq_status compare_weights(cq_diff *d, const cq_diff_value *a, const cq_diff_value *b)
{
    cq_onnx_location location;
    cq_str           why    = { 0 };
    cq_status        status = cq_diff_tensors(&why, d, a->tensor, b->tensor);

    cq_onnx_enter(&d->c, &location, "weight", a->name, 0);
    if (strcmp(a->name, b->name) != 0)
        location.extra = b->name;
    report(d, CQ_ONNX_RULE_DIFF_WEIGHTS, &why);
    cq_onnx_leave(&d->c);
    return status;
}

/* Compares corresponding inputs of two nodes, or outputs of two graphs. A weight is compared
 * once. */
static cq_status compare_sources(cq_diff *d, const char *what, uint32_t index, cq_diff_value *a,
                                 cq_diff_value *b)
{
    cq_str why = { 0 }, of_a = { 0 }, of_b = { 0 };

    if (!a && !b)
        return CQ_OK;
    if (a && b && a->pair == b)
        return CQ_OK;
    if (a && b && a->kind == CQ_DIFF_WEIGHT && b->kind == CQ_DIFF_WEIGHT) {
        a->pair = b;
        return compare_weights(d, a, b);
    }
    describe(&of_a, a);
    describe(&of_b, b);
    cq_str_printf(&why, "%s %u is %s in A and %s in B", what, index, cq_str_text(&of_a),
                  cq_str_text(&of_b));
    if (strcmp(cq_str_text(&of_a), cq_str_text(&of_b)) == 0)
        cq_str_add(&why, ", but these do not match");
    cq_str_clear(&of_a);
    cq_str_clear(&of_b);
    report(d, CQ_ONNX_RULE_DIFF_EDGE, &why);
    return CQ_OK;
}

/* ---- nodes ---- */

static cq_status compare_attribute(cq_diff *d, const cq_onnx_attribute *a,
                                   const cq_onnx_attribute *b, const cq_diff_scope *sa,
                                   const cq_diff_scope *sb)
{
    cq_str why = { 0 };

    if (a->g && b->g)
        return diff_graphs(d, a->g, b->g, sa, sb);
    if (a->graphs.n && a->graphs.n == b->graphs.n) {
        for (uint32_t i = 0; i < a->graphs.n; i++)
            CQ_TRY(diff_graphs(d, a->graphs.items[i], b->graphs.items[i], sa, sb));
        return CQ_OK;
    }
    CQ_TRY(cq_diff_attributes(&why, d, a, b));
    report(d, CQ_ONNX_RULE_DIFF_ATTRIBUTE, &why);
    return CQ_OK;
}

/* Indexes attributes by name; the first of duplicates is used. */
static cq_status index_attributes(cq_map *out, const cq_onnx_node *node)
{
    for (uint32_t i = 0; i < node->attribute.n; i++) {
        const char *name = text_of(node->attribute.items[i]->name);

        if (!cq_map_has(out, name))
            CQ_TRY(cq_map_set(out, name, node->attribute.items[i]));
    }
    return CQ_OK;
}

static cq_status compare_indexed(cq_diff *d, const cq_onnx_node *a, const cq_onnx_node *b,
                                 const cq_map *of_a, const cq_map *of_b, const cq_diff_scope *sa,
                                 const cq_diff_scope *sb)
{
    cq_onnx_location location;

    for (uint32_t i = 0; i < a->attribute.n; i++) {
        const cq_onnx_attribute *x      = a->attribute.items[i];
        const cq_onnx_attribute *y      = cq_map_get(of_b, text_of(x->name));
        cq_status                status = CQ_OK;

        cq_onnx_enter(&d->c, &location, "attribute", x->name, i);
        if (y)
            status = compare_attribute(d, x, y, sa, sb);
        else
            cq_onnx_report(&d->c, CQ_ONNX_RULE_DIFF_ATTRIBUTE, "is in A only");
        cq_onnx_leave(&d->c);
        CQ_TRY(status);
    }
    for (uint32_t i = 0; i < b->attribute.n; i++) {
        const cq_onnx_attribute *y = b->attribute.items[i];

        cq_onnx_enter(&d->c, &location, "attribute", y->name, i);
        if (!cq_map_has(of_a, text_of(y->name)))
            cq_onnx_report(&d->c, CQ_ONNX_RULE_DIFF_ATTRIBUTE, "is in B only");
        cq_onnx_leave(&d->c);
    }
    return CQ_OK;
}

static cq_status compare_attributes(cq_diff *d, const cq_onnx_node *a, const cq_onnx_node *b,
                                    const cq_diff_scope *sa, const cq_diff_scope *sb)
{
    cq_map    of_a = { 0 }, of_b = { 0 };
    cq_status status = index_attributes(&of_a, a);

    if (status == CQ_OK)
        status = index_attributes(&of_b, b);
    if (status == CQ_OK)
        status = compare_indexed(d, a, b, &of_a, &of_b, sa, sb);
    cq_map_clear(&of_a);
    cq_map_clear(&of_b);
    return status;
}

static cq_status compare_nodes(cq_diff *d, const cq_onnx_node *a, const cq_onnx_node *b,
                               const cq_diff_scope *sa, const cq_diff_scope *sb)
{
    const char *x = text_of(a->domain), *y = text_of(b->domain);

    if (strcmp(text_of(a->op_type), text_of(b->op_type)) != 0 || strcmp(x, y) != 0) {
        cq_onnx_report(&d->c, CQ_ONNX_RULE_DIFF_OPERATOR, "is %s%s%s in A and %s%s%s in B", x,
                       *x ? "." : "", text_of(a->op_type), y, *y ? "." : "", text_of(b->op_type));
        return CQ_OK; /* other comparisons would differ because of it */
    }
    CQ_TRY(compare_attributes(d, a, b, sa, sb));
    for (uint32_t i = 0; i < a->input.n || i < b->input.n; i++)
        CQ_TRY(compare_sources(d, "input", i,
                               i < a->input.n ? cq_diff_find(sa, a->input.items[i]) : NULL,
                               i < b->input.n ? cq_diff_find(sb, b->input.items[i]) : NULL));
    if (a->output.n != b->output.n)
        cq_onnx_report(&d->c, CQ_ONNX_RULE_DIFF_EDGE, "has %u outputs in A and %u in B",
                       a->output.n, b->output.n);
    return CQ_OK;
}

/* Nodes that only B has are reported before the next node of A whose partner follows them. */
static void report_extra(cq_diff *d, const cq_diff_scope *b, uint32_t *from, uint32_t to)
{
    cq_onnx_location location;

    for (; *from < to; ++*from) {
        const cq_onnx_node *node = b->nodes[*from];

        if (b->pairs[*from] != CQ_DIFF_NONE)
            continue;
        cq_onnx_enter(&d->c, &location, "node", node->name, *from);
        location.extra = node->op_type;
        cq_onnx_report(&d->c, CQ_ONNX_RULE_DIFF_NODE, "is in B only");
        cq_onnx_leave(&d->c);
    }
}

static cq_status compare_bodies(cq_diff *d, cq_diff_scope *a, cq_diff_scope *b)
{
    uint32_t         seen = 0; /* nodes of B up to here have been reported */
    cq_onnx_location location;

    CQ_TRY(cq_diff_pair(a, b));
    for (uint32_t i = 0; i < a->n_nodes; i++) {
        const cq_onnx_node *node   = a->nodes[i];
        cq_status           status = CQ_OK;

        if (a->pairs[i] != CQ_DIFF_NONE)
            report_extra(d, b, &seen, a->pairs[i]);
        cq_onnx_enter(&d->c, &location, "node", node->name, i);
        location.extra = node->op_type;
        if (a->pairs[i] == CQ_DIFF_NONE)
            cq_onnx_report(&d->c, CQ_ONNX_RULE_DIFF_NODE, "is in A only");
        else
            status = compare_nodes(d, node, b->nodes[a->pairs[i]], a, b);
        cq_onnx_leave(&d->c);
        CQ_TRY(status);
    }
    report_extra(d, b, &seen, b->n_nodes);
    return CQ_OK;
}

/* ---- graphs ---- */

static void add_type(cq_str *s, const cq_onnx_type *type)
{
    if (cq_text_can_say_type(type))
        cq_text_add_type(s, type);
    else
        cq_str_add(s, type ? "something else" : "of no type");
}

/* Compares the types of inputs or outputs, in order; a subgraph may omit them. */
static void compare_types(cq_diff *d, const char *kind, const cq_onnx_value_infos *a,
                          const cq_onnx_value_infos *b, bool is_inner)
{
    cq_onnx_location location;
    cq_str           why = { 0 };

    if (a->n != b->n)
        cq_onnx_report(&d->c, CQ_ONNX_RULE_DIFF_SIGNATURE, "there are %u %ss in A and %u in B",
                       a->n, kind, b->n);
    for (uint32_t i = 0; i < a->n && i < b->n; i++) {
        const cq_onnx_type *x = a->items[i]->type, *y = b->items[i]->type;

        if (cq_diff_same_type(x, y) || (is_inner && (!x || !y)))
            continue;
        cq_onnx_enter(&d->c, &location, kind, a->items[i]->name, i);
        cq_str_add(&why, "is ");
        add_type(&why, x);
        cq_str_add(&why, " in A and ");
        add_type(&why, y);
        cq_str_add(&why, " in B");
        report(d, CQ_ONNX_RULE_DIFF_SIGNATURE, &why);
        cq_onnx_leave(&d->c);
    }
}

static cq_status compare_graphs(cq_diff *d, const cq_onnx_graph *a, const cq_onnx_graph *b,
                                cq_diff_scope *sa, cq_diff_scope *sb)
{
    compare_types(d, "input", &a->input, &b->input, sa->parent != NULL);
    compare_types(d, "output", &a->output, &b->output, sa->parent != NULL);
    CQ_TRY(compare_bodies(d, sa, sb));
    for (uint32_t i = 0; i < sa->n_inputs && i < sb->n_inputs; i++)
        if (sa->inputs[i]->tensor || sb->inputs[i]->tensor)
            CQ_TRY(compare_weights(d, sa->inputs[i], sb->inputs[i]));
    for (uint32_t i = 0; i < a->output.n && i < b->output.n; i++)
        CQ_TRY(compare_sources(d, "output", i, cq_diff_find(sa, a->output.items[i]->name),
                               cq_diff_find(sb, b->output.items[i]->name)));
    return CQ_OK;
}

static cq_status diff_graphs(cq_diff *d, const cq_onnx_graph *a, const cq_onnx_graph *b,
                             const cq_diff_scope *around_a, const cq_diff_scope *around_b)
{
    cq_diff_scope    sa = { 0 }, sb = { 0 };
    cq_onnx_location location;
    cq_status        status;

    cq_onnx_enter(&d->c, &location, "graph", a->name, 0);
    status = cq_diff_open_graph(&sa, d->arena, a, around_a);
    if (status == CQ_OK)
        status = cq_diff_open_graph(&sb, d->arena, b, around_b);
    if (status == CQ_OK)
        status = compare_graphs(d, a, b, &sa, &sb);
    cq_diff_close(&sa);
    cq_diff_close(&sb);
    cq_onnx_leave(&d->c);
    return status;
}

/* ---- functions ---- */

static cq_status compare_functions(cq_diff *d, const cq_onnx_function *a, const cq_onnx_function *b)
{
    cq_diff_scope sa = { 0 }, sb = { 0 };
    cq_status     status = cq_diff_open_function(&sa, d->arena, a);

    if (status == CQ_OK)
        status = cq_diff_open_function(&sb, d->arena, b);
    if (a->input.n != b->input.n || a->output.n != b->output.n)
        cq_onnx_report(&d->c, CQ_ONNX_RULE_DIFF_SIGNATURE,
                       "has %u inputs and %u outputs in A, %u and %u in B", a->input.n, a->output.n,
                       b->input.n, b->output.n);
    if (status == CQ_OK)
        status = compare_bodies(d, &sa, &sb);
    for (uint32_t i = 0; status == CQ_OK && i < a->output.n && i < b->output.n; i++)
        status = compare_sources(d, "output", i, cq_diff_find(&sa, a->output.items[i]),
                                 cq_diff_find(&sb, b->output.items[i]));
    cq_diff_close(&sa);
    cq_diff_close(&sb);
    return status;
}

static cq_status diff_indexed_functions(cq_diff *d, const cq_map *of_a, const cq_map *of_b)
{
    cq_onnx_location        location;
    const cq_onnx_function *a, *b;

    for (uint32_t i = 0; i < d->a->functions.n; i++) {
        cq_status status = CQ_OK;

        a = d->a->functions.items[i];
        CQ_TRY(cq_onnx_indexed_function(&b, of_b, a->domain, a->name, a->overload));
        cq_onnx_enter(&d->c, &location, "function", a->name, i);
        if (b)
            status = compare_functions(d, a, b);
        else
            cq_onnx_report(&d->c, CQ_ONNX_RULE_DIFF_FUNCTION, "is in A only");
        cq_onnx_leave(&d->c);
        CQ_TRY(status);
    }
    for (uint32_t i = 0; i < d->b->functions.n; i++) {
        b = d->b->functions.items[i];
        CQ_TRY(cq_onnx_indexed_function(&a, of_a, b->domain, b->name, b->overload));
        cq_onnx_enter(&d->c, &location, "function", b->name, i);
        if (!a)
            cq_onnx_report(&d->c, CQ_ONNX_RULE_DIFF_FUNCTION, "is in B only");
        cq_onnx_leave(&d->c);
    }
    return CQ_OK;
}

static cq_status diff_functions(cq_diff *d)
{
    cq_map    of_a, of_b = { 0 };
    cq_status status = cq_onnx_index_functions(&of_a, d->a);

    if (status == CQ_OK)
        status = cq_onnx_index_functions(&of_b, d->b);
    if (status == CQ_OK)
        status = diff_indexed_functions(d, &of_a, &of_b);
    cq_map_clear(&of_a);
    cq_map_clear(&of_b);
    return status;
}

/* ---- models ---- */

/* Compares the versions of imported domains; each domain is reported once. */
static void diff_opsets(cq_diff *d, const cq_onnx_model *from, bool is_first)
{
    for (uint32_t i = 0; i < from->opset_import.n; i++) {
        const char *domain = text_of(from->opset_import.items[i]->domain);
        int64_t     a      = cq_onnx_imported(&d->a->opset_import, domain);
        int64_t     b      = cq_onnx_imported(&d->b->opset_import, domain);

        if (a != b && (is_first || a < 0))
            cq_onnx_report(&d->c, CQ_ONNX_RULE_DIFF_OPSET,
                           "version %" PRId64 " of %s is imported in A, %" PRId64
                           " in B (-1: none)",
                           a, *domain ? domain : "ai.onnx", b);
    }
}

static cq_status diff_models(cq_diff *d)
{
    static const cq_onnx_graph none = { 0 };

    if (d->a->ir_version != d->b->ir_version)
        cq_onnx_report(&d->c, CQ_ONNX_RULE_DIFF_IR_VERSION,
                       "the IR version is %" PRId64 " in A and %" PRId64 " in B", d->a->ir_version,
                       d->b->ir_version);
    diff_opsets(d, d->a, true);
    diff_opsets(d, d->b, false);
    CQ_TRY(diff_graphs(d, d->a->graph ? d->a->graph : &none, d->b->graph ? d->b->graph : &none,
                       NULL, NULL));
    return diff_functions(d);
}

CQ_API cq_status cq_onnx_model_diff(cq_onnx_findings **out, const cq_onnx_model *a,
                                    const cq_onnx_model *b, double rtol, double atol)
{
    CQ_NEED_OUT(out, a && b);
    cq_diff   d = { .c = { .m = a }, .a = a, .b = b, .tolerance = { rtol, atol } };
    cq_status status;

    *out    = NULL;
    d.arena = cq_arena_new();
    if (!d.arena)
        return CQ_E_NO_MEMORY;
    status = cq_onnx_findings_new(&d.c.findings);
    if (status == CQ_OK)
        status = diff_models(&d);
    if (status == CQ_OK)
        status = d.c.status;
    cq_arena_free(d.arena);
    if (status == CQ_OK)
        *out = d.c.findings;
    else
        cq_onnx_findings_free(d.c.findings);
    return status;
}
