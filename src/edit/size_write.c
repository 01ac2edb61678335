/* Writes the changes of size_rules.c into the model. A size is computed once, from the shape of an
 * input, by nodes at the beginning of the model; all such values are lists of one element. */
#include "edit/sizes.h"

#include <string.h>

enum { MAX_NESTING = 64 };

cq_int cq_size_of_atom(cq_symbols *table, const cq_atom *atom)
{
    switch (atom->kind) {
    case CQ_ATOM_SYMBOL:
        return cq_symbol_of_input(table, atom->text, atom->example, atom->input, atom->axis);
    case CQ_ATOM_FLOORDIV: return cq_int_floordiv(table, atom->a, atom->b);
    case CQ_ATOM_MOD: return cq_int_mod(table, atom->a, atom->b);
    case CQ_ATOM_MIN: return cq_int_min(table, atom->a, atom->b);
    case CQ_ATOM_MAX: return cq_int_max(table, atom->a, atom->b);
    case CQ_ATOM_MUL: return cq_int_mul(table, atom->a, atom->b);
    case CQ_ATOM_ADD: return cq_int_add(table, atom->a, atom->b);
    }
    return cq_i(atom->example);
}

/* ---- numbers in place of symbols ---- */

static cq_int resolve(cq_size_change *c, cq_int i, int depth);

static cq_int resolve_atom(cq_size_change *c, const cq_atom *atom, int depth)
{
    const uintptr_t number  = (uintptr_t)cq_ptr_map_get(&c->numbers, atom);
    cq_atom         changed = *atom;

    if (atom->kind == CQ_ATOM_SYMBOL || depth > MAX_NESTING)
        return number ? cq_i((int64_t)number - 1) : cq_size_of_atom(&c->symbols, atom);
    changed.a = resolve(c, atom->a, depth + 1);
    changed.b = resolve(c, atom->b, depth + 1);
    return cq_size_of_atom(&c->symbols, &changed);
}

static cq_int resolve(cq_size_change *c, cq_int i, int depth)
{
    cq_int sum = cq_i(0);

    for (size_t t = 0; i.expr && t < i.expr->n_terms; t++) {
        cq_int product = cq_i(i.expr->terms[t].factor);

        for (int k = 0; k < i.expr->terms[t].n_atoms; k++)
            product =
                cq_int_mul(&c->symbols, product, resolve_atom(c, i.expr->terms[t].atoms[k], depth));
        sum = cq_int_add(&c->symbols, sum, product);
    }
    return i.expr ? sum : i;
}

cq_int cq_size_resolve(cq_size_change *c, cq_int i)
{
    return resolve(c, i, 0);
}

/* ---- sizes as values ---- */

static const char *write_size(cq_size_change *c, cq_int i, int depth);

static const char *binary(cq_size_change *c, const char *op, const char *a, const char *b)
{
    return cq_opset_node(&c->edit, op, (const char *const[]){ a, b }, 2, NULL);
}

static const char *write_symbol(cq_size_change *c, const cq_atom *atom)
{
    const int64_t axis = atom->axis;
    const char   *shape;

    if (!atom->input) {
        c->edit.m->status =
            cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "the size %s is not one of an input", atom->text);
        return "";
    }
    shape = cq_opset_node(&c->edit, "Shape", (const char *const[]){ atom->input }, 1, NULL);
    return binary(c, "Gather", shape, cq_opset_ints(&c->edit, "axis", &axis, 1));
}

static const char *write_atom(cq_size_change *c, const cq_atom *atom, int depth)
{
    static const char *const ops[] = {
        [CQ_ATOM_FLOORDIV] = "Div", [CQ_ATOM_MOD] = "Mod", [CQ_ATOM_MIN] = "Min",
        [CQ_ATOM_MAX] = "Max",      [CQ_ATOM_MUL] = "Mul", [CQ_ATOM_ADD] = "Add",
    };
    const char *name = cq_map_get(&c->sizes, atom->text);

    if (name)
        return name;
    if (depth > MAX_NESTING) {
        c->edit.m->status =
            cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "a size is nested deeper than %d", MAX_NESTING);
        return "";
    }
    name = atom->kind == CQ_ATOM_SYMBOL
               ? write_symbol(c, atom)
               : binary(c, ops[atom->kind], write_size(c, atom->a, depth + 1),
                        write_size(c, atom->b, depth + 1));
    if (cq_map_set(&c->sizes, atom->text, (void *)name) != CQ_OK)
        c->edit.m->status = CQ_E_NO_MEMORY;
    return name;
}

/* A list of one element. ONNX divides toward zero; sizes are not negative. */
static const char *write_size(cq_size_change *c, cq_int i, int depth)
{
    const char *sum = NULL;

    if (!i.expr)
        return cq_opset_ints(&c->edit, "size", &i.value, 1);
    sum = cq_map_get(&c->sizes, i.expr->text);
    if (sum)
        return sum;
    for (size_t t = 0; t < i.expr->n_terms && c->edit.m->status == CQ_OK; t++) {
        const cq_term *term    = &i.expr->terms[t];
        const char    *product = NULL;

        for (int k = 0; k < term->n_atoms; k++) {
            const char *factor = write_atom(c, term->atoms[k], depth);

            product = product ? binary(c, "Mul", product, factor) : factor;
        }
        if (!product)
            product = cq_opset_ints(&c->edit, "size", &term->factor, 1);
        else if (term->factor != 1)
            product = binary(c, "Mul", product, cq_opset_ints(&c->edit, "size", &term->factor, 1));
        sum = sum ? binary(c, "Add", sum, product) : product;
    }
    if (cq_map_set(&c->sizes, i.expr->text, (void *)sum) != CQ_OK)
        c->edit.m->status = CQ_E_NO_MEMORY;
    return sum ? sum : "";
}

/* A list of integers: a constant, or a Concat of sizes. */
static const char *write_list(cq_size_change *c, const cq_int *items, size_t n)
{
    int64_t       plain[CQ_MAX_RANK];
    cq_int        solved[CQ_MAX_RANK];
    const char   *parts[CQ_MAX_RANK], *name;
    size_t        n_plain = 0;
    cq_onnx_node *concat;

    for (size_t i = 0; i < n; i++) {
        solved[i] = cq_size_resolve(c, items[i]);
        plain[i]  = solved[i].value;
        n_plain += !solved[i].expr;
    }
    if (n_plain == n)
        return cq_opset_ints(&c->edit, "sizes", plain, (int64_t)n);
    c->edit.out = &c->head;
    for (size_t i = 0; i < n; i++)
        parts[i] = write_size(c, solved[i], 0);
    if (n == 1)
        return parts[0];
    name = cq_opset_node(&c->edit, "Concat", parts, n, &concat);
    cq_opset_set_int(&c->edit, concat, "axis", 0);
    return name;
}

/* ---- changes ---- */

static const char *slice_to(cq_size_change *c, cq_node_list *out, const cq_size_fix *f,
                            const char *value)
{
    int64_t     axes[CQ_MAX_RANK], starts[CQ_MAX_RANK] = { 0 };
    cq_int      ends[CQ_MAX_RANK];
    const char *in[4];
    size_t      n = 0;

    for (size_t i = 0; i < f->n; i++)
        if (f->slices >> i & 1) {
            axes[n]   = (int64_t)i;
            ends[n++] = f->is_uniform ? cq_i(1) : f->items[i];
        }
    in[0]       = value;
    in[1]       = cq_opset_ints(&c->edit, "starts", starts, (int64_t)n);
    in[2]       = write_list(c, ends, n);
    in[3]       = cq_opset_ints(&c->edit, "axes", axes, (int64_t)n);
    c->edit.out = out;
    return cq_opset_node(&c->edit, "Slice", in, 4, NULL);
}

static const char *expand_to(cq_size_change *c, cq_node_list *out, const cq_size_fix *f,
                             const char *value)
{
    cq_int      sizes[CQ_MAX_RANK];
    const char *in[2];

    for (size_t i = 0; i < f->n; i++)
        sizes[i] = f->expands >> i & 1 ? f->items[i] : cq_i(1);
    in[0]       = value;
    in[1]       = write_list(c, sizes, f->n);
    c->edit.out = out;
    return cq_opset_node(&c->edit, "Expand", in, 2, NULL);
}

static void write_fix(cq_size_change *c, cq_node_list *out, const cq_size_fix *f)
{
    const char *value;

    if (f->kind == CQ_SIZE_DROP_ATTR) {
        cq_opset_drop_attr(f->node, "split");
        return;
    }
    value = f->node->input.items[f->input];
    if (f->kind == CQ_SIZE_ELEMENTS)
        value = write_list(c, f->items, f->n);
    else {
        if (f->slices)
            value = slice_to(c, out, f, value);
        if (f->expands)
            value = expand_to(c, out, f, value);
    }
    f->node->input.items[f->input] = value;
}

static cq_status write_graph(cq_size_change *c, cq_ptr_map *by_node, cq_onnx_graph *g, int depth)
{
    cq_node_list out = { 0 };

    if (depth > MAX_NESTING)
        return CQ_OK;
    for (size_t i = 0; i < g->node.n; i++) {
        cq_onnx_node *n = g->node.items[i];

        for (size_t k = 0; k < n->attribute.n; k++) {
            if (n->attribute.items[k]->g)
                CQ_TRY(write_graph(c, by_node, n->attribute.items[k]->g, depth + 1));
            for (size_t j = 0; j < n->attribute.items[k]->graphs.n; j++)
                CQ_TRY(write_graph(c, by_node, n->attribute.items[k]->graphs.items[j], depth + 1));
        }
        for (const cq_size_fix *f = cq_ptr_map_get(by_node, n); f; f = f->next)
            write_fix(c, &out, f);
        cq_onnx_list_push(c->edit.m, &out, n);
        CQ_TRY(c->edit.m->status);
    }
    g->node.items = out.items;
    g->node.n     = out.n;
    g->node.cap   = out.cap;
    return c->edit.m->status;
}

/* Links the changes of each node. */
static cq_status group(cq_ptr_map *by_node, cq_size_fix *all)
{
    while (all) {
        cq_size_fix *next = all->next;

        all->next = cq_ptr_map_get(by_node, all->node);
        CQ_TRY(cq_ptr_map_set(by_node, all->node, all));
        all = next;
    }
    return CQ_OK;
}

cq_status cq_size_fixes_write(cq_size_change *c)
{
    cq_onnx_graph *g       = c->edit.m->graph;
    cq_ptr_map     by_node = { 0 };
    cq_status      status  = group(&by_node, c->fixes);

    if (status == CQ_OK)
        status = write_graph(c, &by_node, g, 0);
    cq_ptr_map_clear(&by_node);
    CQ_TRY(status);
    for (size_t i = 0; i < g->node.n; i++)
        cq_onnx_list_push(c->edit.m, &c->head, g->node.items[i]);
    g->node.items = c->head.items;
    g->node.n     = c->head.n;
    g->node.cap   = c->head.cap;
    return c->edit.m->status;
}
