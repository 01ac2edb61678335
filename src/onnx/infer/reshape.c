/* Operators that reshape, reorder, repeat, join or split tensors. */
#include "onnx/infer/elements.h"

#include <string.h>

/* Elements keep their order, so values are passed on. */
static cq_status same_data(cq_rule *r)
{
    r->out_data[0] = cq_rule_data(r, 0);
    return CQ_OK;
}

/* ---- Reshape ---- */

/* The target shape: the sizes in the input, or in the attribute of opset 1. Returns false if even
 * its length is unknown. */
static bool reshape_target(cq_rule *r, cq_shape *out)
{
    const cq_onnx_ints *ints = cq_rule_ints(r, "shape");
    const cq_itype     *t    = cq_rule_shaped(r, 1);
    const cq_idata     *data = cq_rule_data(r, 1);

    if (ints && ints->n <= CQ_MAX_RANK) {
        out->rank = ints->n;
        for (uint32_t i = 0; i < ints->n; i++)
            out->dims[i] = cq_dim_of(ints->items[i]);
        return true;
    }
    if (data && data->n <= CQ_MAX_RANK) {
        out->rank = data->n;
        for (size_t i = 0; i < data->n; i++)
            out->dims[i] = cq_dim_of_ielem(data->items[i]);
        return true;
    }
    if (!data && t && t->rank == 1 && cq_dim_is_plain(t->dims[0]) &&
        t->dims[0].size.value <= CQ_MAX_RANK) {
        out->rank = (size_t)t->dims[0].size.value;
        for (size_t i = 0; i < out->rank; i++)
            out->dims[i] = cq_dim_unknown();
        return true;
    }
    return false;
}

/* The size for -1: the number of elements divided by the product of the other sizes. Axes that
 * occur in both shapes cancel first, so one unknown size among the others is harmless. */
static cq_dim reshape_rest(cq_rule *r, const cq_itype *x, const cq_shape *y, size_t rest)
{
    cq_dim all = cq_dim_of(1), others = cq_dim_of(1);
    bool   taken[CQ_MAX_RANK] = { false };

    for (size_t k = 0; k < y->rank; k++) {
        size_t i = 0;

        if (k == rest)
            continue;
        while (i < x->rank &&
               (taken[i] || !cq_dim_same(x->dims[i], y->dims[k]) || cq_dim_is(x->dims[i], 0)))
            i++;
        if (i < x->rank)
            taken[i] = true;
        else
            others = cq_dim_mul(r, others, y->dims[k]);
    }
    for (size_t i = 0; i < x->rank; i++)
        if (!taken[i])
            all = cq_dim_mul(r, all, x->dims[i]);
    return cq_dim_floordiv(r, all, others);
}

static cq_status check_rest(cq_rule *r, const cq_itype *x, const cq_shape *y, size_t rest)
{
    int64_t n = cq_dims_numel(x->dims, x->rank), others = 1;

    for (size_t i = 0; i < y->rank; i++)
        if (i != rest) {
            if (!cq_dim_is_plain(y->dims[i]) ||
                __builtin_mul_overflow(others, y->dims[i].size.value, &others))
                return CQ_OK;
        }
    if (n > 0 && others != 0 && n % others)
        return cq_rule_fail(r, "%lld elements are not divisible by %lld", (long long)n,
                            (long long)others);
    return CQ_OK;
}

static cq_status reshape(cq_rule *r)
{
    const cq_itype *x          = cq_rule_shaped(r, 0);
    bool            zero_is_0  = cq_rule_int(r, "allowzero", 0) != 0;
    size_t          rest       = SIZE_MAX;
    bool            may_be_any = false;
    cq_shape        y;

    if (r->version >= 5)
        CQ_TRY(cq_rule_need_list(r, 1));
    if (r->version >= 5)
        CQ_TRY(cq_rule_need_list(r, 1));
    if (!reshape_target(r, &y))
        return CQ_OK;
    for (size_t i = 0; i < y.rank; i++) {
        if (cq_dim_is(y.dims[i], 0) && !zero_is_0) {
            if (x && i >= x->rank)
                return cq_rule_fail(
                    r, "axis %zu is copied from the input, but the input has rank %zu", i, x->rank);
            y.dims[i] = x ? x->dims[i] : cq_dim_unknown();
        } else if (cq_dim_is(y.dims[i], -1)) {
            if (rest != SIZE_MAX)
                return cq_rule_fail(r, "axes %zu and %zu are both -1", rest, i);
            rest = i;
        } else if (cq_dim_is_plain(y.dims[i]) && y.dims[i].size.value < 0) {
            return cq_rule_fail(r, "axis %zu has size %lld", i, (long long)y.dims[i].size.value);
        }
        may_be_any |= !y.dims[i].known; /* an unknown value may be 0 or -1 */
    }
    if (rest != SIZE_MAX && x && !may_be_any) {
        CQ_TRY(check_rest(r, x, &y, rest));
        y.dims[rest] = reshape_rest(r, x, &y, rest);
    } else if (rest != SIZE_MAX) {
        y.dims[rest] = cq_dim_unknown();
    }
    return cq_rule_give(r, 0, &y);
}

/* ---- axes of size 1 ---- */

/* Before opset 13 onnx ignores axes that are out of range. */
static cq_given squeezed_axes(cq_status *status, cq_rule *r, size_t rank, uint64_t *axes)
{
    const cq_onnx_ints *ints = r->version < 13 ? cq_rule_ints(r, "axes") : NULL;

    if (!ints)
        return cq_rule_axes(status, r, 1, rank, axes);
    *status = CQ_OK;
    *axes   = 0;
    for (uint32_t i = 0; i < ints->n; i++) {
        int64_t axis = ints->items[i] < 0 ? ints->items[i] + (int64_t)rank : ints->items[i];

        if (axis >= 0 && axis < (int64_t)rank)
            *axes |= (uint64_t)1 << axis;
    }
    return CQ_GIVEN;
}

static cq_status squeeze(cq_rule *r)
{
    const cq_itype *x = cq_rule_shaped(r, 0);
    cq_shape        y = { .rank = 0 };
    uint64_t        axes;
    cq_status       status;
    cq_given        given;

    if (!x)
        return CQ_OK;
    given = squeezed_axes(&status, r, x->rank, &axes);
    CQ_TRY(status);
    if (given == CQ_GIVEN_UNKNOWN)
        return CQ_OK;
    for (size_t i = 0; i < x->rank; i++) {
        bool gone = given == CQ_GIVEN ? axes >> i & 1 : cq_dim_is(x->dims[i], 1);

        if (given == CQ_NOT_GIVEN && !cq_dim_is_plain(x->dims[i]))
            return CQ_OK; /* the size may be 1 */
        if (given == CQ_GIVEN && gone && cq_dim_is_plain(x->dims[i]) && !cq_dim_is(x->dims[i], 1))
            return cq_rule_fail(r, "axis %zu has size %lld, expected 1 to remove it", i,
                                (long long)x->dims[i].size.value);
        if (!gone)
            y.dims[y.rank++] = x->dims[i];
    }
    return cq_rule_give(r, 0, &y);
}

static cq_status unsqueeze(cq_rule *r)
{
    const cq_itype *x = cq_rule_shaped(r, 0);
    cq_shape        y = { .rank = 0 };
    int64_t         list[CQ_MAX_RANK];
    size_t          n, from = 0;
    uint64_t        axes;
    cq_status       status;

    if (!x || cq_rule_list(r, "axes", 1, list, &n, CQ_MAX_RANK) != CQ_GIVEN)
        return CQ_OK;
    if (x->rank + n > CQ_MAX_RANK)
        return CQ_OK;
    cq_rule_axes(&status, r, 1, x->rank + n, &axes);
    CQ_TRY(status);
    if ((size_t)__builtin_popcountll(axes) != n)
        return cq_rule_fail(r, "duplicate axis");
    for (; y.rank < x->rank + n; y.rank++)
        y.dims[y.rank] = axes >> y.rank & 1 ? cq_dim_of(1) : x->dims[from++];
    return cq_rule_give(r, 0, &y);
}

static cq_status flatten(cq_rule *r)
{
    const cq_itype *x    = cq_rule_shaped(r, 0);
    int64_t         axis = cq_rule_int(r, "axis", 1);
    cq_shape        y    = { .rank = 2 };

    if (!x)
        return CQ_OK;
    axis += axis < 0 && r->version >= 11 ? (int64_t)x->rank : 0;
    if (axis < 0 || axis > (int64_t)x->rank) /* the index after the last axis is allowed */
        return cq_rule_fail(r, "axis %lld is outside of rank %zu", (long long)axis, x->rank);
    y.dims[0] = cq_dims_product(r, x->dims, (size_t)axis);
    y.dims[1] = cq_dims_product(r, x->dims + axis, x->rank - (size_t)axis);
    return cq_rule_give(r, 0, &y);
}

/* ---- Transpose, Expand, Tile ---- */

static cq_status transpose(cq_rule *r)
{
    const cq_itype     *x    = cq_rule_shaped(r, 0);
    const cq_onnx_ints *perm = cq_rule_ints(r, "perm");
    cq_shape            y;
    uint64_t            seen = 0;

    if (!x)
        return CQ_OK;
    if (perm && perm->n != x->rank)
        return cq_rule_fail(r, "perm has %u axes but the input has rank %zu", perm->n, x->rank);
    y.rank = x->rank;
    for (size_t i = 0; i < x->rank; i++) {
        size_t from = x->rank - 1 - i;

        if (perm) {
            CQ_TRY(cq_rule_axis(&from, r, perm->items[i], x->rank));
            if (perm->items[i] < 0 || seen >> from & 1)
                return cq_rule_fail(r, "perm is not a permutation");
            seen |= (uint64_t)1 << from;
        }
        y.dims[i] = x->dims[from];
    }
    return cq_rule_give(r, 0, &y);
}

static cq_status expand(cq_rule *r)
{
    const cq_itype *x = cq_rule_shaped(r, 0), *shape = cq_rule_shaped(r, 1);
    cq_shape        y, target;

    if (shape && shape->rank != 1)
        return cq_rule_fail(r, "the shape has rank %zu, expected 1", shape->rank);
    if (!x || !reshape_target(r, &target))
        return CQ_OK;
    cq_shape_of(&y, x);
    CQ_TRY(cq_shape_broadcast(r, &y, target.dims, target.rank));
    return cq_rule_give(r, 0, &y);
}

/* Repeated elements are computed only for a single element. */
static cq_status expand_data(cq_rule *r)
{
    const cq_idata *x = cq_rule_data(r, 0);
    const cq_itype *y = &r->outputs[0];
    cq_idata       *data;

    if (!x || x->n != 1 || !y->has_rank)
        return CQ_OK;
    data = cq_rule_new_data(r, 0, cq_dims_numel(y->dims, y->rank));
    for (size_t i = 0; data && i < data->n; i++)
        data->items[i] = x->items[0];
    return CQ_OK;
}

static cq_status tile(cq_rule *r)
{
    const cq_itype *x       = cq_rule_shaped(r, 0);
    const cq_idata *repeats = cq_rule_data(r, 1);
    cq_shape        y;

    if (!x)
        return CQ_OK;
    if (repeats && repeats->n != x->rank)
        return cq_rule_fail(r, "%zu repeats do not match rank %zu", repeats->n, x->rank);
    y.rank = x->rank;
    for (size_t i = 0; i < x->rank; i++)
        y.dims[i] = repeats ? cq_dim_mul(r, x->dims[i], cq_dim_of_ielem(repeats->items[i]))
                            : cq_dim_unknown();
    return cq_rule_give(r, 0, &y);
}

/* ---- Concat and Split ---- */

static cq_status concat(cq_rule *r)
{
    const cq_itype *x = cq_rule_shaped(r, 0);
    cq_shape        y;
    size_t          axis;

    if (!x)
        return CQ_OK;
    CQ_TRY(cq_rule_axis(&axis, r, cq_rule_int(r, "axis", 1), x->rank));
    cq_shape_of(&y, x);
    for (size_t i = 1; i < r->n_inputs; i++) {
        const cq_itype *next = cq_rule_shaped(r, i);

        if (!next) { /* an input of unknown shape: the size along axis is unknown, the other sizes
                      * are unchanged */
            y.dims[axis] = cq_dim_unknown();
            continue;
        }
        if (next->rank != x->rank)
            return cq_rule_fail(r, "inputs have ranks %zu and %zu", x->rank, next->rank);
        for (size_t k = 0; k < x->rank; k++)
            if (k == axis)
                y.dims[k] = cq_dim_add(r, y.dims[k], next->dims[k]);
            else
                CQ_TRY(cq_dim_unify(&y.dims[k], r, y.dims[k], next->dims[k]));
    }
    return cq_rule_give(r, 0, &y);
}

/* Concatenates elements of vectors; a vector of known length without values contributes unknown
 * elements. */
static cq_status concat_data(cq_rule *r)
{
    const cq_itype *y  = &r->outputs[0];
    size_t          at = 0;
    cq_idata       *out;
    bool            any = false;

    for (size_t i = 0; i < r->n_inputs; i++)
        any |= cq_rule_data(r, i) != NULL;
    if (!any || !y->has_rank || y->rank != 1 || !cq_dim_is_plain(y->dims[0]))
        return CQ_OK;
    out = cq_rule_new_data(r, 0, y->dims[0].size.value);
    for (size_t i = 0; out && i < r->n_inputs; i++) {
        const cq_itype *x    = cq_rule_shaped(r, i);
        const cq_idata *data = cq_rule_data(r, i);
        size_t          n    = x ? (size_t)cq_dims_numel(x->dims, x->rank) : SIZE_MAX;

        if (n > out->n - at || (data && data->n != n)) {
            r->out_data[0] = NULL; /* the declared shape does not match the elements */
            return CQ_OK;
        }
        if (data)
            memcpy(out->items + at, data->items, n * sizeof *data->items);
        at += n;
    }
    return CQ_OK;
}

/* The size of part i when an axis is split evenly; the last part may be smaller. */
static cq_dim even_part(cq_rule *r, cq_dim size, size_t parts, size_t i)
{
    cq_dim part = cq_dim_ceildiv(r, size, (int64_t)parts);

    if (cq_dim_is_plain(size) && size.size.value % (int64_t)parts == 0)
        return part;
    if (!cq_dim_is_plain(size)) {
        cq_dim whole = cq_dim_floordiv(r, size, cq_dim_of((int64_t)parts));

        return cq_dim_same(cq_dim_mul(r, whole, cq_dim_of((int64_t)parts)), size)
                   ? whole
                   : cq_dim_unknown();
    }
    if (i + 1 < parts)
        return part;
    /* The axis is too short for that many parts. This is not an error, because the branch may not
     * be taken. */
    if (size.size.value < part.size.value * (int64_t)(parts - 1))
        return cq_dim_unknown();
    return cq_dim_of(size.size.value - part.size.value * (int64_t)(parts - 1));
}

static cq_status split(cq_rule *r)
{
    const cq_itype     *x     = cq_rule_shaped(r, 0);
    const cq_idata     *sizes = r->version >= 13 ? cq_rule_data(r, 1) : NULL;
    const cq_onnx_ints *ints  = cq_rule_ints(r, "split");
    cq_shape            y;
    size_t              axis;

    if (!x)
        return CQ_OK;
    CQ_TRY(cq_rule_axis(&axis, r, cq_rule_int(r, "axis", 0), x->rank));
    if ((sizes && sizes->n != r->n_outputs) || (ints && ints->n != r->n_outputs))
        return cq_rule_fail(r, "%zu sizes do not match %zu outputs", sizes ? sizes->n : ints->n,
                            r->n_outputs);
    cq_shape_of(&y, x);
    for (size_t i = 0; i < r->n_outputs; i++) {
        if (sizes)
            y.dims[axis] = cq_dim_of_ielem(sizes->items[i]);
        else if (ints)
            y.dims[axis] = cq_dim_of(ints->items[i]);
        else if (cq_rule_has(r, 1))
            y.dims[axis] = cq_dim_unknown();
        else if (r->version < 18 && cq_dim_is_plain(x->dims[axis]) &&
                 x->dims[axis].size.value % (int64_t)r->n_outputs)
            return cq_rule_fail(r, "size %lld is not divisible by %zu",
                                (long long)x->dims[axis].size.value, r->n_outputs);
        else
            y.dims[axis] = even_part(r, x->dims[axis], r->n_outputs, i);
        CQ_TRY(cq_rule_give(r, i, &y));
    }
    return CQ_OK;
}

static cq_status split_data(cq_rule *r)
{
    const cq_itype *x    = cq_rule_shaped(r, 0);
    const cq_idata *data = cq_rule_data(r, 0);
    size_t          at   = 0;

    if (!x || !data || x->rank != 1)
        return CQ_OK;
    for (size_t i = 0; i < r->n_outputs; i++) {
        cq_dim    n = r->outputs[i].has_rank ? r->outputs[i].dims[0] : cq_dim_unknown();
        cq_idata *out;

        if (!cq_rule_wants(r, i) || !cq_dim_is_plain(n) || (uint64_t)n.size.value > data->n - at)
            return CQ_OK;
        out = cq_rule_new_data(r, i, n.size.value);
        if (!out)
            return CQ_OK;
        memcpy(out->items, data->items + at, out->n * sizeof *out->items);
        at += out->n;
    }
    return CQ_OK;
}

/* ---- SpaceToDepth and DepthToSpace ---- */

static cq_status blocks(cq_rule *r, bool to_space)
{
    const cq_itype *x    = cq_rule_shaped(r, 0);
    int64_t         size = cq_rule_int(r, "blocksize", 0);
    cq_shape        y    = { .rank = 4 };
    cq_dim          b    = cq_dim_of(size), bb;

    if (!x)
        return CQ_OK;
    if (size <= 0 || size > INT32_MAX)
        return cq_rule_fail(r, "blocksize %lld is not positive", (long long)size);
    if (x->rank != 4)
        return cq_rule_fail(r, "expected rank 4 for %s, got %zu", r->node->op_type, x->rank);
    bb        = cq_dim_of(size * size);
    y.dims[0] = x->dims[0];
    y.dims[1] = to_space ? cq_dim_floordiv(r, x->dims[1], bb) : cq_dim_mul(r, x->dims[1], bb);
    for (int i = 2; i < 4; i++)
        y.dims[i] = to_space ? cq_dim_mul(r, x->dims[i], b) : cq_dim_floordiv(r, x->dims[i], b);
    return cq_rule_give(r, 0, &y);
}

static cq_status depth_to_space(cq_rule *r)
{
    return blocks(r, true);
}

static cq_status space_to_depth(cq_rule *r)
{
    return blocks(r, false);
}

const cq_rule_row cq_rules_reshape[] = {
    { "Concat", 1, concat, concat_data },     { "DepthToSpace", 1, depth_to_space, NULL },
    { "Expand", 1, expand, expand_data },     { "Flatten", 1, flatten, same_data },
    { "Reshape", 1, reshape, same_data },     { "SpaceToDepth", 1, space_to_depth, NULL },
    { "Split", 1, split, split_data },        { "Squeeze", 1, squeeze, same_data },
    { "Tile", 6, tile, expand_data },         { "Transpose", 1, transpose, NULL },
    { "Unsqueeze", 1, unsqueeze, same_data }, { NULL, 0, NULL, NULL },
};
