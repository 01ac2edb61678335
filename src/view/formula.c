/* Computes the FLOPs of a model as a formula of its dynamic sizes: "8.98 G·batch". count.c computes
 * the number at given sizes. The shapes are read from the types of the values, before count.c fixes
 * the sizes. */
#include "view/view.h"

#include "tensor/expr.h"

#include <stdlib.h>

enum { MOST_DIMS = 16, MOST_TERMS = 4, LONGEST_SYMBOL = 24 };

typedef struct sizes {
    cq_int   at[MOST_DIMS];
    uint32_t n;
} sizes;

/* "2*batch" is a product; any other expression is one symbol. false: too long to be read. */
static bool read_size(cq_int *out, cq_symbols *table, const char *text, size_t len)
{
    char  copy[LONGEST_SYMBOL + 1];
    char *rest = copy;

    if (!len || len > LONGEST_SYMBOL)
        return false;
    memcpy(copy, text, len);
    copy[len] = '\0';
    *out      = (cq_int){ .value = 1 };
    if (strpbrk(copy, "+-/%(?"))
        return false;
    for (char *factor; rest && (factor = rest);) {
        char   *end;
        int64_t number;

        rest = strchr(factor, '*');
        if (rest)
            *rest++ = '\0';
        number = strtoll(factor, &end, 10);
        *out   = cq_int_mul(
              table, *out, *end ? cq_symbol(table, factor, 1, NULL, 0) : (cq_int){ .value = number });
    }
    return true;
}

static bool read_sizes(sizes *out, cq_symbols *table, const cq_view *v, uint32_t value)
{
    const char *at = value == CQ_VIEW_NONE ? NULL : strchr(v->values.items[value].type, '[');

    out->n = 0;
    for (; at && *at != ']'; out->n++) {
        const size_t len = strcspn(at + 1, ",]");

        if (out->n == MOST_DIMS || !read_size(&out->at[out->n], table, at + 1, len))
            return false;
        at += len + 1;
    }
    return at != NULL;
}

static cq_int product(cq_symbols *table, cq_int n, const sizes *s, uint32_t from)
{
    for (uint32_t i = from; i < s->n; i++)
        n = cq_int_mul(table, n, s->at[i]);
    return n;
}

/* The rule of onnx/flops.c. */
static bool flops_of(cq_int *out, cq_symbols *table, const cq_view *v, const cq_view_op *op)
{
    const char              *type       = cq_view_op_type(op);
    const bool               is_qlinear = strncmp(type, "QLinear", 7) == 0;
    const uint32_t           filter     = is_qlinear ? 3 : 1;
    const cq_onnx_attribute *a          = cq_onnx_node_attr(op->node, "transA");
    const cq_int             two        = { .value = 2 };
    sizes                    x, w, y;

    if (op->n_inputs <= filter || !op->n_outputs || !read_sizes(&x, table, v, op->inputs[0]) ||
        !read_sizes(&w, table, v, op->inputs[filter]) || !read_sizes(&y, table, v, op->outputs[0]))
        return false;
    if (strstr(type, "Conv"))
        *out = product(table, product(table, two, strstr(type, "Transpose") ? &x : &y, 0), &w, 1);
    else if (x.n)
        *out = cq_int_mul(table, product(table, two, &y, 0), x.at[a && a->i ? 0 : x.n - 1]);
    return strstr(type, "Conv") || x.n;
}

static void add_amount(cq_str *s, double x)
{
    static const char *const units[] = { "", " k", " M", " G", " T", " P" };
    size_t                   i       = 0;

    for (; x >= 999.5 && i + 1 < sizeof units / sizeof *units; i++)
        x /= 1000;
    cq_str_printf(s, "%.3g%s", x, units[i]);
}

static const char *const powers[] = { "", "", "²", "³", "⁴", "⁵", "⁶" };

static void add_term(cq_str *s, const cq_term *t)
{
    cq_str_add(s, s->len ? " + " : "");
    add_amount(s, (double)t->factor);
    for (int i = 0, end; i < t->n_atoms; i = end) {
        for (end = i; end < t->n_atoms && t->atoms[end] == t->atoms[i]; end++)
            continue;
        cq_str_printf(s, "·%s%s", t->atoms[i]->text, powers[end - i]);
    }
}

static bool is_polynomial(const struct cq_expr *e)
{
    for (size_t i = 0; i < e->n_terms; i++)
        for (int k = 0; k < e->terms[i].n_atoms; k++)
            if (e->terms[i].atoms[k]->kind != CQ_ATOM_SYMBOL)
                return false;
    return e->n_terms <= MOST_TERMS;
}

cq_status cq_view_add_formula(cq_view *v)
{
    cq_symbols table;
    cq_int     all  = { 0 };
    bool       fits = true;
    cq_str     s    = { 0 };
    cq_status  status;

    v->formula = "";
    cq_symbols_init(&table, v->arena);
    for (size_t i = 0; i < v->ops.n && fits; i++) {
        cq_int one = { 0 };

        if (v->ops.items[i].flops > 0)
            fits = flops_of(&one, &table, v, &v->ops.items[i]);
        all  = cq_int_add(&table, all, one);
        fits = fits && (cq_int_is_plain(all) || is_polynomial(all.expr));
    }
    status = cq_symbols_check(&table);
    for (size_t i = 0; status == CQ_OK && fits && all.expr && i < all.expr->n_terms; i++)
        add_term(&s, &all.expr->terms[i]);
    if (s.status != CQ_OK)
        status = s.status;
    if (status == CQ_OK && s.len && !(v->formula = cq_arena_strdup(v->arena, cq_str_text(&s))))
        status = CQ_E_NO_MEMORY;
    cq_str_clear(&s);
    cq_symbols_clear(&table);
    return status;
}
