/* Grouped matrix products. ONNX has no such operator: each group is a Slice and a MatMul, which
 * costs nothing for an empty group, and reads its matrix from the weights in place. */
#include "export/symbolic/common.h"

enum { MAX_GROUPS = 1024 };

typedef struct grouped {
    cq_value *a, *b;
    cq_value *limits[MAX_GROUPS + 1]; /* where groups begin and end, each a row of one number */
    size_t    n;
    int64_t   a_axis, b_axis; /* the axis of the groups; -1: the factor has a matrix for each */
} grouped;

static void read_limits(cq_sym *s, grouped *g, cq_value *ends)
{
    int64_t ones[MAX_GROUPS], zero = 0;

    for (size_t i = 0; i < g->n; i++)
        ones[i] = 1;
    g->limits[0] = cq_sym_const_i64s(s, &zero, 1);
    if (g->n)
        cq_sym_split(s, cq_sym_cast(s, ends, CQ_DTYPE_I64), 0, ones, g->n, g->limits + 1);
}

/* The part of a factor for group i. */
static cq_value *part(cq_sym *s, const grouped *g, cq_value *x, int64_t axis, size_t i)
{
    cq_value *v;

    if (axis < 0)
        return cq_sym_gather(s, x, cq_sym_const_i64(s, (int64_t)i), 0);
    v = cq_sym_op(s, "Slice",
                  CQ_IN(x, g->limits[i], g->limits[i + 1], cq_sym_const_i64s(s, &axis, 1)),
                  CQ_NO_ATTR);
    cq_sym_set_dtype(s, v, cq_sym_dtype(s, x));
    return v;
}

static cq_value *product(cq_sym *s, cq_value *a, cq_value *b)
{
    cq_value *v = cq_sym_op(s, "MatMul", CQ_IN(a, b), CQ_NO_ATTR);

    cq_sym_set_dtype(s, v, cq_sym_dtype(s, a));
    return v;
}

/* Concatenates the parts, up to the size of the whole along the axis. */
static cq_value *joined(cq_sym *s, const grouped *g, cq_value **parts)
{
    bool      columns = g->a_axis < 0;
    cq_value *whole   = columns ? g->b : g->a, *sizes[2], *left;

    left           = cq_sym_op(s, "Sub",
                               CQ_IN(cq_sym_of_int_1d(s, cq_sym_size(s, whole, columns)), g->limits[g->n]),
                               CQ_NO_ATTR);
    sizes[columns] = left;
    sizes[!columns] =
        cq_sym_of_int_1d(s, columns ? cq_sym_size(s, g->a, 1) : cq_sym_size(s, g->b, 2));
    left        = cq_sym_op(s, "Concat", sizes, 2, CQ_ATTR(cq_attr_i("axis", 0)));
    parts[g->n] = cq_sym_op(s, "Expand", CQ_IN(cq_sym_const_f64(s, cq_sym_dtype(s, g->a), 0), left),
                            CQ_NO_ATTR);
    return cq_sym_op(s, "Concat", parts, g->n + 1, CQ_ATTR(cq_attr_i("axis", columns)));
}

static cq_status grouped_mm(cq_sym *s)
{
    const cq_schema *schema = s->op->schema;
    cq_value        *ends   = cq_sym_in(s, "offs"), *parts[MAX_GROUPS + 1], *v;
    int64_t          zero   = 0;
    grouped          g      = { .a = cq_sym_in_float(s, schema->args[0].name),
                                .b = cq_sym_in_float(s, schema->args[1].name) };

    if (!ends)
        return cq_sym_done(s, product(s, g.a, g.b));
    CQ_TRY(s->status);
    if (!cq_int_is_plain(ends->type.sizes[0]) || ends->type.sizes[0].value > MAX_GROUPS)
        return cq_sym_no(s, 0, "the number of groups should be fixed, and at most %d", MAX_GROUPS);
    g.n      = (size_t)ends->type.sizes[0].value;
    g.a_axis = cq_sym_rank(s, g.a) == 3 ? -1 : cq_sym_rank(s, g.b) == 2;
    g.b_axis = cq_sym_rank(s, g.b) == 3 ? -1 : cq_sym_rank(s, g.a) == 3;
    read_limits(s, &g, ends);
    for (size_t i = 0; i < g.n && s->status == CQ_OK; i++) {
        parts[i] = product(s, part(s, &g, g.a, g.a_axis, i), part(s, &g, g.b, g.b_axis, i));
        if (g.a_axis >= 0 && g.b_axis >= 0)
            parts[i] = cq_sym_unsqueeze(s, parts[i], &zero, 1);
    }
    v = g.a_axis >= 0 && g.b_axis >= 0
            ? cq_sym_op(s, "Concat", parts, g.n, CQ_ATTR(cq_attr_i("axis", 0)))
            : joined(s, &g, parts);
    cq_sym_set_dtype(s, v, cq_sym_dtype(s, g.a));
    return cq_sym_done(s, v);
}

const cq_symbolic cq_symbolics_moe[] = {
    { "aten::_grouped_mm", 7, .no = "Slice takes its limits from data since opset 10" },
    { "aten::_grouped_mm", 10, .fn = grouped_mm },
    { "transformers::grouped_mm_fallback", 7,
      .no = "Slice takes its limits from data since opset 10" },
    { "transformers::grouped_mm_fallback", 10, .fn = grouped_mm },
    { 0 },
};
