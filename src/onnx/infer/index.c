/* Operators that select elements by index or range. */
#include "onnx/infer/elements.h"

#include <string.h>

/* ---- Gather and similar operators ---- */

static cq_status gather(cq_rule *r)
{
    const cq_itype *x = cq_rule_shaped(r, 0), *indices = cq_rule_shaped(r, 1);
    cq_shape        y = { .rank = 0 };
    size_t          axis;

    if (!x || !indices)
        return CQ_OK;
    if (x->rank == 0)
        return cq_rule_fail(r, "a scalar has no axis to gather along");
    CQ_TRY(cq_rule_axis(&axis, r, cq_rule_int(r, "axis", 0), x->rank));
    if (x->rank - 1 + indices->rank > CQ_MAX_RANK)
        return CQ_OK;
    for (size_t i = 0; i < x->rank; i++) {
        if (i != axis) {
            y.dims[y.rank++] = x->dims[i];
            continue;
        }
        for (size_t k = 0; k < indices->rank; k++)
            y.dims[y.rank++] = indices->dims[k];
    }
    return cq_rule_give(r, 0, &y);
}

static cq_status gather_data(cq_rule *r)
{
    const cq_itype *x    = cq_rule_shaped(r, 0);
    const cq_idata *data = cq_rule_data(r, 0);
    int64_t         indices[CQ_ONNX_INFER_MAX_ELEMENTS];
    size_t          n;
    cq_idata       *out;

    if (!x || x->rank != 1 || !data ||
        !cq_rule_plain_ints(r, 1, indices, &n, CQ_ONNX_INFER_MAX_ELEMENTS))
        return CQ_OK;
    out = cq_rule_new_data(r, 0, (int64_t)n);
    for (size_t i = 0; out && i < n; i++) {
        int64_t at = indices[i] < 0 ? indices[i] + (int64_t)data->n : indices[i];

        if (at < 0 || at >= (int64_t)data->n)
            return cq_rule_fail(r, "index %lld is outside of %zu elements", (long long)indices[i],
                                data->n);
        out->items[i] = data->items[at];
    }
    return CQ_OK;
}

static cq_status gather_elements(cq_rule *r)
{
    const cq_itype *indices = cq_rule_shaped(r, 1);

    return indices ? cq_rule_give_dims(r, 0, indices->rank, indices->dims) : CQ_OK;
}

static cq_status gather_nd(cq_rule *r)
{
    const cq_itype *x = cq_rule_shaped(r, 0), *indices = cq_rule_shaped(r, 1);
    int64_t         batch = cq_rule_int(r, "batch_dims", 0), depth;
    cq_shape        y     = { .rank = 0 };

    if (!x || !indices || indices->rank == 0 || !cq_dim_is_plain(indices->dims[indices->rank - 1]))
        return CQ_OK;
    depth = indices->dims[indices->rank - 1].size.value;
    if (batch < 0 || batch > (int64_t)x->rank || depth > (int64_t)x->rank - batch)
        return cq_rule_fail(r, "indices of depth %lld do not fit rank %zu", (long long)depth,
                            x->rank);
    if (indices->rank - 1 + x->rank > CQ_MAX_RANK)
        return CQ_OK;
    for (size_t i = 0; i + 1 < indices->rank; i++)
        y.dims[y.rank++] = indices->dims[i];
    for (size_t i = (size_t)(batch + depth); i < x->rank; i++)
        y.dims[y.rank++] = x->dims[i];
    return cq_rule_give(r, 0, &y);
}

/* ---- Slice ---- */

typedef struct slice {
    cq_ielem start, end;
    int64_t  step; /* 0: unknown */
} slice;

/* Exporters write "to the end" as one of the largest integers. */
static bool is_beyond(cq_ielem e)
{
    return e.kind == CQ_INUM_INT && !e.i.expr && e.i.value >= INT32_MAX;
}

static bool is_before(cq_ielem e)
{
    return e.kind == CQ_INUM_INT && !e.i.expr && e.i.value <= -INT32_MAX;
}

static int64_t clamp(int64_t x, int64_t low, int64_t high)
{
    return x < low ? low : x > high ? high : x;
}

static int64_t plain_length(int64_t size, int64_t start, int64_t end, int64_t step)
{
    int64_t n;

    if (size == 0)
        return 0;
    start = start < 0 ? start + size : start;
    end   = end < -size ? -1 : end < 0 ? end + size : end;
    if (step > 0) {
        start = clamp(start, 0, size);
        end   = clamp(end, 0, size);
        n     = end > start ? (end - start - 1) / step + 1 : 0;
    } else {
        start = clamp(start, 0, size - 1);
        end   = clamp(end, -1, size);
        n     = 0;
        if (start > end)
            n = (int64_t)((uint64_t)(start - end - 1) / (0 - (uint64_t)step)) + 1;
    }
    return n;
}

/* The index of a bound on an axis of symbolic size, if it is determined. At least one element is
 * assumed: x[1:] has size-1 elements. Other bounds are compared at run time; a start beyond the end
 * needs no check here, because a negative length becomes 0. */
static cq_dim bound(const cq_rule *r, cq_dim size, cq_ielem e, bool is_end)
{
    cq_dim at;

    if (is_beyond(e))
        return size;
    if (is_before(e))
        return cq_dim_of(0);
    if (e.kind != CQ_INUM_INT || (e.i.expr && !cq_int_is_size(e.i)))
        return cq_dim_unknown(); /* it may count from the end */
    at = (cq_dim){ true, e.i };
    if (!e.i.expr && e.i.value < 0) {
        at = cq_dim_add(r, size, at);
        return e.i.value < -1 ? cq_dim_max(r, cq_dim_of(0), at) : at;
    }
    if (!is_end || cq_dim_same(at, size) || cq_dim_is(at, 0) || cq_dim_is(at, 1))
        return at;
    return cq_dim_min(r, at, size);
}

static cq_dim slice_length(const cq_rule *r, cq_dim size, const slice *s)
{
    cq_dim start, end, n;

    if (!size.known || s->step == 0)
        return cq_dim_unknown();
    if (!size.size.expr && s->start.kind == CQ_INUM_INT && !s->start.i.expr &&
        s->end.kind == CQ_INUM_INT && !s->end.i.expr)
        return cq_dim_of(plain_length(size.size.value, s->start.i.value, s->end.i.value, s->step));
    if (s->step < 0) { /* the whole axis in reverse; otherwise unknown */
        bool whole =
            (is_beyond(s->start) || (s->start.kind == CQ_INUM_INT && cq_int_is(s->start.i, -1))) &&
            is_before(s->end) && s->step > -INT32_MAX;

        return whole ? cq_dim_ceildiv(r, size, -s->step) : cq_dim_unknown();
    }
    start = bound(r, size, s->start, false);
    end   = bound(r, size, s->end, true);
    n     = cq_dim_sub(r, end, start);
    if (cq_dim_same(end, size) && !s->start.i.expr && s->start.i.value < -1 && !is_before(s->start))
        n = cq_dim_min(r, cq_dim_of(-s->start.i.value), size); /* the last elements */
    if (!n.known)
        return n;
    /* If the difference may be negative, the slice may be empty. */
    if (!cq_int_is_size(n.size) && !cq_dim_is(start, 0) && !cq_dim_is(start, 1))
        n = cq_dim_max(r, cq_dim_of(0), n);
    return s->step < INT32_MAX ? cq_dim_ceildiv(r, n, s->step) : cq_dim_unknown();
}

/* Reads bounds from attributes (before opset 10) or inputs. False: it is unknown to which axes they
 * belong. */
static bool read_bounds(cq_rule *r, const char *attr, size_t input, cq_ielem *out, size_t *n)
{
    const cq_onnx_ints *ints = cq_rule_ints(r, attr);
    const cq_idata     *data = cq_rule_data(r, input);
    const cq_itype     *type = cq_rule_shaped(r, input);

    if (ints && ints->n <= CQ_MAX_RANK) {
        for (uint32_t i = 0; i < ints->n; i++)
            out[i] = cq_ielem_int(cq_i(ints->items[i]));
        *n = ints->n;
        return true;
    }
    if (data && data->n <= CQ_MAX_RANK) {
        memcpy(out, data->items, data->n * sizeof *out);
        *n = data->n;
        return true;
    }
    if (!type || type->rank != 1 || !cq_dim_is_plain(type->dims[0]) ||
        type->dims[0].size.value > CQ_MAX_RANK)
        return false;
    *n = (size_t)type->dims[0].size.value;
    memset(out, 0, *n * sizeof *out);
    return true;
}

/* Reads the slice of each axis; *ok is false if the sliced axes are unknown. */
static cq_status read_slices(cq_rule *r, const cq_itype *x, slice *out, bool *sliced, bool *ok)
{
    cq_ielem starts[CQ_MAX_RANK], ends[CQ_MAX_RANK], steps[CQ_MAX_RANK];
    int64_t  axes[CQ_MAX_RANK];
    size_t   n, n_ends, n_steps = 0, n_axes = 0, axis;
    cq_given given;

    *ok = false;
    if (!read_bounds(r, "starts", 1, starts, &n) || !read_bounds(r, "ends", 2, ends, &n_ends))
        return CQ_OK;
    given = cq_rule_list(r, "axes", 3, axes, &n_axes, CQ_MAX_RANK);
    if (given == CQ_GIVEN_UNKNOWN)
        return CQ_OK;
    if (cq_rule_has(r, 4) && !read_bounds(r, "steps", 4, steps, &n_steps))
        return CQ_OK;
    if (n != n_ends || (given == CQ_GIVEN && n_axes != n) || (n_steps && n_steps != n))
        return cq_rule_fail(r, "starts, ends, axes and steps differ in length");
    for (size_t i = 0; i < n; i++) {
        CQ_TRY(cq_rule_axis(&axis, r, given == CQ_GIVEN ? axes[i] : (int64_t)i, x->rank));
        sliced[axis] = true;
        out[axis]    = (slice){ starts[i], ends[i], 1 };
        if (n_steps)
            out[axis].step =
                steps[i].kind == CQ_INUM_INT && !steps[i].i.expr ? steps[i].i.value : 0;
        if (n_steps && steps[i].kind == CQ_INUM_INT && cq_int_is(steps[i].i, 0))
            return cq_rule_fail(r, "a step is 0");
    }
    *ok = true;
    return CQ_OK;
}

static cq_status slice_rule(cq_rule *r)
{
    const cq_itype *x = cq_rule_shaped(r, 0);
    slice           slices[CQ_MAX_RANK];
    bool            sliced[CQ_MAX_RANK] = { false }, ok;
    cq_shape        y;

    if (!x)
        return CQ_OK;
    CQ_TRY(read_slices(r, x, slices, sliced, &ok));
    cq_shape_of(&y, x);
    for (size_t i = 0; i < x->rank; i++)
        if (!ok)
            y.dims[i] = cq_dim_unknown();
        else if (sliced[i])
            y.dims[i] = slice_length(r, x->dims[i], &slices[i]);
    return cq_rule_give(r, 0, &y);
}

static cq_status slice_data(cq_rule *r)
{
    const cq_itype *x    = cq_rule_shaped(r, 0);
    const cq_idata *data = cq_rule_data(r, 0);
    slice           s[CQ_MAX_RANK];
    bool            sliced[CQ_MAX_RANK] = { false }, ok;
    int64_t         size, start, n;
    cq_idata       *out;

    if (!x || !data || x->rank != 1)
        return CQ_OK;
    CQ_TRY(read_slices(r, x, s, sliced, &ok));
    if (!ok || !sliced[0] || s[0].step == 0 || s[0].start.kind != CQ_INUM_INT ||
        s[0].start.i.expr || s[0].end.kind != CQ_INUM_INT || s[0].end.i.expr)
        return CQ_OK;
    size  = (int64_t)data->n;
    start = s[0].start.i.value;
    n     = plain_length(size, start, s[0].end.i.value, s[0].step);
    start = clamp(start < 0 ? start + size : start, 0, s[0].step > 0 ? size : size - 1);
    out   = cq_rule_new_data(r, 0, n);
    for (int64_t i = 0; out && i < n; i++)
        out->items[i] = data->items[start + i * s[0].step];
    return CQ_OK;
}

/* ---- other operators ---- */

static cq_status top_k(cq_rule *r)
{
    const cq_itype *x = cq_rule_shaped(r, 0);
    cq_shape        y;
    size_t          axis;
    cq_ielem        k;

    if (!x)
        return CQ_OK;
    CQ_TRY(cq_rule_axis(&axis, r, cq_rule_int(r, "axis", -1), x->rank));
    cq_shape_of(&y, x);
    if (cq_rule_attr(r, "k"))
        y.dims[axis] = cq_dim_of(cq_rule_int(r, "k", 0));
    else
        y.dims[axis] = cq_rule_scalar(r, 1, &k) ? cq_dim_of_ielem(k) : cq_dim_unknown();
    if (cq_dim_is_plain(y.dims[axis]) && cq_dim_is_plain(x->dims[axis]) &&
        y.dims[axis].size.value > x->dims[axis].size.value)
        return cq_rule_fail(r, "k is %lld but axis %zu has size %lld",
                            (long long)y.dims[axis].size.value, axis,
                            (long long)x->dims[axis].size.value);
    CQ_TRY(cq_rule_give(r, 0, &y));
    return cq_rule_give(r, 1, &y);
}

/* The output has an unknown number of elements along an axis, or of all elements. */
static cq_status compress(cq_rule *r)
{
    const cq_itype *x    = cq_rule_shaped(r, 0);
    cq_shape        y    = { .rank = 1 };
    size_t          axis = 0;

    if (cq_rule_attr(r, "axis")) {
        if (!x)
            return CQ_OK;
        CQ_TRY(cq_rule_axis(&axis, r, cq_rule_int(r, "axis", 0), x->rank));
        cq_shape_of(&y, x);
    }
    y.dims[axis] = cq_dim_unknown();
    return cq_rule_give(r, 0, &y);
}

static cq_status unique(cq_rule *r)
{
    const cq_itype *x       = cq_rule_shaped(r, 0);
    cq_dim          unknown = cq_dim_unknown(), all;

    for (size_t i = 1; i < 4; i++)
        CQ_TRY(cq_rule_give_dims(r, i, 1, &unknown));
    if (x && !cq_rule_attr(r, "axis")) {
        all = cq_dims_product(r, x->dims, x->rank);
        CQ_TRY(cq_rule_give_dims(r, 2, 1, &all));
    }
    return compress(r);
}

static cq_status one_hot(cq_rule *r)
{
    const cq_itype *x = cq_rule_shaped(r, 0), *values = cq_rule_shaped(r, 2);
    const cq_itype *n = cq_rule_shaped(r, 1);
    cq_shape        y;
    size_t          axis;
    cq_ielem        depth;

    if (n &&
        (n->rank > 1 || (n->rank == 1 && cq_dim_is_plain(n->dims[0]) && !cq_dim_is(n->dims[0], 1))))
        return cq_rule_fail(r, "depth is not one number");
    if (values && values->rank != 1)
        return cq_rule_fail(r, "values has rank %zu, expected 1", values->rank);
    if (!x || x->rank >= CQ_MAX_RANK)
        return CQ_OK;
    CQ_TRY(cq_rule_axis(&axis, r, cq_rule_int(r, "axis", -1), x->rank + 1));
    for (y.rank = 0; y.rank <= x->rank; y.rank++)
        if (y.rank == axis)
            y.dims[axis] = cq_rule_scalar(r, 1, &depth) ? cq_dim_of_ielem(depth) : cq_dim_unknown();
        else
            y.dims[y.rank] = x->dims[y.rank - (y.rank > axis)];
    return cq_rule_give(r, 0, &y);
}

static cq_status non_zero(cq_rule *r)
{
    const cq_itype *x = cq_rule_shaped(r, 0);
    cq_shape        y = { .rank = 2 };

    /* ONNX Runtime gives the indices of a scalar a row, onnx's own inference gives them none. */
    y.dims[0] = x && x->rank ? cq_dim_of((int64_t)x->rank) : cq_dim_unknown();
    y.dims[1] = cq_dim_unknown();
    return cq_rule_give(r, 0, &y);
}

const cq_rule_row cq_rules_index[] = {
    { "Compress", 1, compress, NULL },
    { "Gather", 1, gather, gather_data },
    { "GatherElements", 1, gather_elements, NULL },
    { "GatherND", 1, gather_nd, NULL },
    { "NonZero", 1, non_zero, NULL },
    { "OneHot", 1, one_hot, NULL },
    { "ReverseSequence", 1, cq_rule_same, NULL },
    { "Scatter", 1, cq_rule_same, NULL },
    { "ScatterElements", 1, cq_rule_same, NULL },
    { "ScatterND", 1, cq_rule_same, NULL },
    { "Slice", 1, slice_rule, slice_data },
    { "TensorScatter", 1, cq_rule_same, NULL },
    { "TopK", 1, top_k, NULL },
    { "Unique", 1, unique, NULL },
    { NULL, 0, NULL, NULL },
};
