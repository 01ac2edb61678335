/* Arithmetic on views. */
#include "aten/ops/geometry.h"

cq_geometry cq_geometry_of(const cq_tensor *t)
{
    cq_geometry g;

    g.rank   = t->rank;
    g.offset = t->offset;
    for (size_t i = 0; i < t->rank; i++) {
        g.sizes[i]   = t->sizes[i];
        g.strides[i] = t->strides[i];
    }
    return g;
}

void cq_geometry_drop(cq_geometry *g, size_t at)
{
    g->rank--;
    for (size_t i = at; i < g->rank; i++) {
        g->sizes[i]   = g->sizes[i + 1];
        g->strides[i] = g->strides[i + 1];
    }
}

/* A tensor of CQ_MAX_RANK + 1 dimensions is rejected when it is created; until then its last
 * dimension is omitted. */
void cq_geometry_insert(cq_geometry *g, size_t at, cq_int size, int64_t stride)
{
    for (size_t i = g->rank < CQ_MAX_RANK ? g->rank : CQ_MAX_RANK - 1; i > at; i--) {
        g->sizes[i]   = g->sizes[i - 1];
        g->strides[i] = g->strides[i - 1];
    }
    if (at < CQ_MAX_RANK) {
        g->sizes[at]   = size;
        g->strides[at] = stride;
    }
    g->rank++;
}

cq_status cq_geometry_result(cq_opcall *c, const cq_tensor *t, const cq_geometry *g)
{
    return cq_result_view(c, 0, t, g->rank, g->sizes, g->strides, g->offset);
}

cq_status cq_geometry_write(cq_tensor *out, const cq_geometry *g, const cq_tensor *src)
{
    cq_tensor *part = NULL;
    cq_status  status;

    CQ_TRY(cq_tensor_new_view(&part, out, out->dtype, g->rank, g->sizes, g->strides, g->offset));
    status = cq_tensor_copy_into(part, src);
    cq_tensor_release(part);
    return status;
}

/* Groups the old dimensions into runs that are contiguous in memory. New dimensions must fill each
 * run exactly; their strides follow from the run's innermost stride. */
bool cq_geometry_reshape(cq_geometry *g, const cq_tensor *t, size_t rank, const cq_int *sizes)
{
    size_t to = rank; /* new dimensions from here on have their strides */

    g->rank   = rank;
    g->offset = t->offset;
    for (size_t i = 0; i < rank; i++)
        g->sizes[i] = sizes[i];
    if (t->rank == 0 || cq_tensor_numel(t) == 0) {
        cq_contiguous_strides(g->strides, rank, sizes);
        return true;
    }
    for (size_t from = t->rank; from-- > 0;) {
        int64_t inner = t->strides[from], run = t->sizes[from].value, filled = 1;

        while (from > 0 && (t->sizes[from - 1].value == 1 || t->strides[from - 1] == run * inner))
            run *= t->sizes[--from].value;
        while (to > 0 && (filled < run || sizes[to - 1].value == 1)) {
            g->strides[--to] = cq_stride_times(inner, filled);
            if (__builtin_mul_overflow(filled, sizes[to].value, &filled))
                return false;
        }
        if (filled != run)
            return false;
    }
    return to == 0;
}

/* Resolves an index into a dimension: from the end if negative, at most its size. A symbolic index
 * has the sign that it has on the example. */
static cq_int clamp_index(const cq_opcall *c, cq_int index, cq_int size)
{
    if (index.value < 0)
        index = cq_size_add(c, index, size);
    if (index.value < 0) /* before the begin on the example; other inputs may be larger */
        return index.expr ? cq_int_max(c->cx->symbols, index, cq_i(0)) : cq_i(0);
    return cq_int_min(c->cx->symbols, index, size);
}

cq_int cq_slice_size(const cq_opcall *c, cq_int size, cq_int *start, cq_int *end, cq_int step)
{
    const bool from_begin = start->value > 0, to_end = end->value < 0;
    const bool from_end = start->value < 0, to_begin = end->value >= 0 && end->value != INT64_MAX;
    cq_int     n;

    *start = clamp_index(c, *start, size);
    *end   = cq_int_is(*end, INT64_MAX) ? size : clamp_index(c, *end, size);
    n      = cq_size_sub(c, *end, *start);
    if (n.value < 0) {
        *end = *start;
        return n.expr ? cq_int_max(c->cx->symbols, n, cq_i(0)) : cq_i(0);
    }
    /* One bound counts from the front and the other from the back: they cross on smaller inputs. */
    if (n.expr && ((from_begin && to_end) || (from_end && to_begin)))
        n = cq_int_max(c->cx->symbols, n, cq_i(0));
    if (cq_int_is(step, 1))
        return n;
    if (!n.expr && !step.expr) /* a step may be as large as a number gets */
        return cq_i(n.value ? (n.value - 1) / step.value + 1 : 0);
    return cq_size_floordiv(c, cq_size_add(c, n, cq_size_sub(c, step, cq_i(1))), step);
}

/* Whether sizes come from data-dependent control flow, where the example does not determine
 * them. */
static bool is_guessed(const cq_opcall *c, const cq_tensor *t, cq_int known)
{
    bool symbolic = known.expr != NULL;

    for (size_t i = 0; i < t->rank; i++)
        symbolic |= t->sizes[i].expr != NULL;
    return symbolic && c->cx->symbols && c->cx->symbols->guesses;
}

cq_status cq_arg_shape(cq_opcall *c, const char *name, const cq_tensor *t, size_t *rank,
                       cq_int *sizes)
{
    size_t  n = cq_arg_ints(c, name, sizes, CQ_MAX_RANK), open = n;
    int64_t have  = cq_tensor_numel(t);
    cq_int  known = cq_i(1);
    char    text[CQ_DESCRIBE_SIZE];

    *rank = n;
    for (size_t i = 0; i < n; i++) {
        if (cq_int_is(sizes[i], -1) && open == n) {
            open = i;
            continue;
        }
        if (sizes[i].value < 0)
            return cq_call_fail(c, CQ_E_ARGUMENT, "invalid size %lld of dimension %zu",
                                (long long)sizes[i].value, i);
        known = cq_size_mul(c, known, sizes[i]);
    }
    /* A dynamic size may be 0 in the example only: the quotient of the expressions is the size. */
    if (open < n && known.value == 0 && !known.expr)
        return cq_call_fail(c, CQ_E_ARGUMENT, "size -1 is ambiguous, because another size is 0");
    if (!is_guessed(c, t, known) &&
        (open < n ? known.value && have % known.value != 0 : have != known.value))
        return cq_call_fail(c, CQ_E_ARGUMENT,
                            "%s has %lld elements, which do not fill sizes that "
                            "make %lld",
                            cq_tensor_describe(t, text, sizeof text), (long long)have,
                            (long long)known.value);
    if (open < n)
        sizes[open] = cq_size_floordiv(c, cq_tensor_numel_int(c->cx->symbols, t), known);
    return c->cx->status;
}

cq_val cq_sizes_of(cq_ctx *cx, const cq_tensor *t)
{
    return t ? cq_ints(cx, t->sizes, t->rank) : CQ_NONE;
}
