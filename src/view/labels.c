/* The second line of an item: the module of a node, the shapes of its weights, the contents of a
 * box. */
#include "view/view.h"

#include <stdio.h>

enum {
    LONGEST      = 44,
    LONGEST_DIM  = 12, /* a longer expression would push the items of its rank apart */
    MOST_WEIGHTS = 2
};

size_t cq_view_add_shape(cq_str *s, const char *type)
{
    const char *at = strchr(type, '['), *dim = at ? at + 1 : "";
    size_t      n_letters = 0;
    int         depth     = 0;

    for (at = dim; at && *at; at++) {
        const bool is_end = *at == ']' || (*at == ',' && !depth);

        depth += (*at == '(') - (*at == ')');
        if (!is_end)
            continue;
        if (at - dim > LONGEST_DIM)
            cq_str_add(s, "…");
        else
            cq_str_add_n(s, dim, (size_t)(at - dim));
        n_letters += at - dim > LONGEST_DIM ? 1 : (size_t)(at - dim);
        if (*at == ']')
            break;
        cq_str_add(s, "×");
        n_letters++;
        dim = at + 1;
    }
    return n_letters;
}

/* Shows scalars by their value and tensors by their shape; omits vectors of parameters. */
static void add_weights(cq_str *s, const cq_view *v, const cq_view_op *op)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < op->n_inputs && n < MOST_WEIGHTS; i++) {
        const uint32_t x = op->inputs[i], index = x == CQ_VIEW_NONE ? x : v->values.items[x].weight;
        const cq_view_weight *w = index == CQ_VIEW_NONE ? NULL : &v->weights.items[index];

        if (!w || (w->numel != 1 && w->tensor->dims.n < 2) || (w->numel == 1 && !w->has_data))
            continue;
        cq_str_add(s, s->len ? " · " : "");
        if (w->numel == 1)
            cq_str_printf(s, "%.6g", w->first[0]);
        else
            cq_view_add_shape(s, v->values.items[x].type);
        n++;
    }
}

/* The module path of a node relative to its box: "downsample.0". */
static void add_module(cq_str *s, const cq_view_op *op, uint32_t depth)
{
    const cq_view_scope *levels[CQ_VIEW_MAX_SCOPE];
    uint32_t             n = 0;

    for (const cq_view_scope *x = op->scope; x && x->depth > depth; x = x->parent)
        levels[n++] = x;
    while (n-- > 0)
        cq_str_printf(s, "%s%s", s->len ? "." : "", levels[n]->name);
}

static void cut(cq_str *s)
{
    size_t n = LONGEST;

    if (s->status != CQ_OK || s->len <= LONGEST)
        return;
    while (n && ((unsigned char)s->text[n] & 0xc0) == 0x80)
        n--;
    s->len     = n;
    s->text[n] = '\0';
    cq_str_add(s, "…");
}

static const char *take(cq_view *v, cq_str *s)
{
    const char *text = NULL;

    cut(s);
    if (s->status == CQ_OK)
        text = cq_arena_strdup(v->arena, cq_str_text(s));
    cq_str_clear(s);
    return text;
}

static void describe_box(cq_str *s, const cq_view_item *item)
{
    if (item->class_name && *item->class_name)
        cq_str_printf(s, "%s · ", item->class_name);
    if (item->n_nodes)
        cq_str_printf(s, "%u node%s", item->n_nodes, item->n_nodes == 1 ? "" : "s");
}

/* depth: number of modules that enclose the item. */
cq_status cq_view_describe(cq_view *v, cq_view_item *item, uint32_t depth)
{
    const cq_view_op *op = item->op == CQ_VIEW_NONE ? NULL : &v->ops.items[item->op];
    cq_str            s  = { 0 };

    if (item->kind == CQ_VIEW_BOX && !op)
        describe_box(&s, item);
    else if (item->kind == CQ_VIEW_BOX) {
        add_module(&s, op, depth);
        cq_str_printf(&s, "%s%u node%s", s.len ? " · " : "", item->n_nodes,
                      item->n_nodes == 1 ? "" : "s");
    } else if (item->kind == CQ_VIEW_OP) {
        add_module(&s, op, depth);
        add_weights(&s, v, op);
    } else if (item->kind < CQ_VIEW_PORT_IN && op) {
        const uint32_t x = op->is_input ? op->outputs[0] : op->inputs[0];

        cq_str_add(&s, v->values.items[x].type);
    }
    if (item->kind == CQ_VIEW_PORT_IN || item->kind == CQ_VIEW_PORT_OUT)
        return CQ_OK;
    item->detail = take(v, &s);
    cq_str_add(&s, item->label ? item->label : "");
    item->label = take(v, &s);
    return item->detail && item->label ? CQ_OK : CQ_E_NO_MEMORY;
}
