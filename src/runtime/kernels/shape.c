/* Operators that only move elements. Most results are views, which copy nothing. */
#include "runtime/kernels/families.h"

#include "kernel/conv/pad.h"
#include "runtime/kernels/join.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>

/* Sets output 0 to a view with other sizes. */
static cq_status set_reshaped(cq_rt *rt, const cq_tensor *x, const cq_rt_sizes *sizes)
{
    cq_tensor *y;

    CQ_TRY(cq_rt_reshape(&y, rt, x, sizes));
    return cq_rt_set_tensor(rt, 0, y);
}

static cq_status identity(cq_rt *rt)
{
    return cq_rt_set(rt, 0, cq_val_retain(rt->in[0]));
}

/* ---- reshape and transpose ---- */

static cq_status too_many_dims(size_t n)
{
    return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "a shape has %zu dimensions, at most %d work", n,
                   CQ_MAX_RANK);
}

static cq_status reshape(cq_rt *rt)
{
    const cq_tensor *x         = cq_rt_in(rt, 0);
    bool             keep_zero = cq_rt_int(rt, "allowzero");
    int64_t          known = 1, numel = cq_tensor_numel(x);
    int              unknown = -1;
    cq_rt_ints       shape;
    cq_rt_sizes      sizes;

    CQ_TRY(cq_rt_ints_of(&shape, rt, "shape", 1));
    if (shape.n > CQ_MAX_RANK)
        return too_many_dims(shape.n);
    sizes.rank = (uint32_t)shape.n;
    for (size_t i = 0; i < shape.n; i++) {
        sizes.at[i] = shape.at[i];
        if (sizes.at[i] == 0 && !keep_zero) {
            if (i >= x->rank)
                return cq_fail(CQ_E_TYPE, NULL, NULL,
                               "dimension %zu is copied from the input, which has %u", i, x->rank);
            sizes.at[i] = cq_size_of(x, i);
        }
        if (sizes.at[i] == -1) {
            if (unknown >= 0)
                return cq_fail(CQ_E_TYPE, NULL, NULL, "the new shape has more than one -1");
            unknown = (int)i;
        } else if (__builtin_mul_overflow(known, sizes.at[i], &known)) {
            return cq_fail(CQ_E_TYPE, NULL, NULL, "the new shape is too large");
        }
    }
    if (unknown >= 0 && (known <= 0 || numel % known))
        return cq_fail(CQ_E_TYPE, NULL, NULL,
                       "%" PRId64 " elements cannot be divided into parts of %" PRId64, numel,
                       known);
    if (unknown >= 0)
        sizes.at[unknown] = numel / known;
    return set_reshaped(rt, x, &sizes);
}

static cq_status flatten(cq_rt *rt)
{
    cq_tensor *y;

    CQ_TRY(cq_rt_flattened(&y, rt, cq_rt_in(rt, 0)));
    return cq_rt_pass(rt, 0, y);
}

static cq_status squeeze(cq_rt *rt)
{
    const cq_tensor *x     = cq_rt_in(rt, 0);
    cq_rt_sizes      sizes = { 0 };
    cq_rt_ints       axes;
    uint64_t         bits = 0;

    CQ_TRY(cq_rt_ints_of(&axes, rt, "axes", 1));
    if (axes.n)
        CQ_TRY(cq_rt_axes(&bits, &axes, x->rank));
    for (uint32_t i = 0; i < x->rank; i++) {
        bool is_one = cq_size_of(x, i) == 1;

        if ((bits >> i & 1) && !is_one)
            return cq_fail(CQ_E_TYPE, NULL, NULL, "dimension %u has size %" PRId64 ", not 1", i,
                           cq_size_of(x, i));
        if (!(axes.given ? bits >> i & 1 : is_one))
            sizes.at[sizes.rank++] = cq_size_of(x, i);
    }
    return set_reshaped(rt, x, &sizes);
}

static cq_status unsqueeze(cq_rt *rt)
{
    const cq_tensor *x = cq_rt_in(rt, 0);
    cq_rt_sizes      sizes;
    cq_rt_ints       axes;
    uint64_t         bits = 0;

    CQ_TRY(cq_rt_ints_of(&axes, rt, "axes", 1));
    if (x->rank + axes.n > CQ_MAX_RANK)
        return too_many_dims(x->rank + axes.n);
    sizes.rank = x->rank + (uint32_t)axes.n;
    if (axes.n)
        CQ_TRY(cq_rt_axes(&bits, &axes, sizes.rank));
    for (uint32_t i = 0, from = 0; i < sizes.rank; i++)
        sizes.at[i] = bits >> i & 1 ? 1 : cq_size_of(x, from++);
    return set_reshaped(rt, x, &sizes);
}

static cq_status transpose(cq_rt *rt)
{
    const cq_tensor *x = cq_rt_in(rt, 0);
    uint32_t         axes[CQ_MAX_RANK];
    cq_rt_ints       perm;
    uint64_t         bits;
    cq_tensor       *y;

    CQ_TRY(cq_rt_attr_ints(&perm, rt, "perm"));
    for (uint32_t i = 0; i < x->rank; i++)
        axes[i] = x->rank - 1 - i;
    if (perm.given) {
        if (perm.n != x->rank)
            return cq_fail(CQ_E_TYPE, NULL, NULL, "perm has %zu axes, the tensor %u", perm.n,
                           x->rank);
        CQ_TRY(cq_rt_axes(&bits, &perm, x->rank));
        for (uint32_t i = 0; i < x->rank; i++)
            CQ_TRY(cq_rt_axis(&axes[i], perm.at[i], x->rank));
    }
    CQ_TRY(cq_rt_permute(&y, x, axes));
    return cq_rt_set_tensor(rt, 0, y);
}

static cq_status expand(cq_rt *rt)
{
    const cq_tensor *x     = cq_rt_in(rt, 0);
    cq_rt_sizes      sizes = { 0 };
    cq_rt_ints       shape;
    cq_tensor       *view, *y;

    CQ_TRY(cq_rt_in_ints(&shape, rt, 1));
    if (shape.n > CQ_MAX_RANK)
        return too_many_dims(shape.n);
    /* Broadcasting is bidirectional: a 1 in shape keeps the size of x. */
    sizes.rank = (uint32_t)shape.n;
    for (size_t i = 0; i < shape.n; i++)
        sizes.at[i] = shape.at[i];
    CQ_TRY(cq_rt_broadcast_with(&sizes, x));
    /* The result is a copy instead of a view: later operators read contiguous tensors faster, and
     * its size counts for the run's memory limit. */
    CQ_TRY(cq_rt_out_sized(&y, rt, 0, x->dtype, &sizes));
    CQ_TRY(cq_rt_expanded(&view, rt, x, &sizes));
    return cq_tensor_copy_into(y, view);
}

/* ---- slices and splits ---- */

int64_t cq_rt_slice_range(int64_t *start, int64_t end, int64_t step, int64_t size)
{
    int64_t low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
    int64_t begin = *start < 0 ? *start + size : *start;

    if (size == 0) {
        *start = 0;
        return 0;
    }
    end   = end < 0 ? end + size : end;
    begin = begin < 0      ? 0
            : begin > high ? high
                           : begin; /* only the end of a negative step may be
                                     * before index 0 */
    end    = end < low ? low : end > high ? high : end;
    *start = begin;
    if (step > 0)
        return end > begin ? (end - begin - 1) / step + 1 : 0;
    return begin > end ? (begin - end - 1) / -step + 1 : 0;
}

static cq_status slice(cq_rt *rt)
{
    const cq_tensor *x = cq_rt_in(rt, 0);
    cq_rt_ints       starts, ends, axes, steps;
    const cq_tensor *y = x;
    uint64_t         seen;

    CQ_TRY(cq_rt_ints_of(&starts, rt, "starts", 1));
    CQ_TRY(cq_rt_ints_of(&ends, rt, "ends", 2));
    CQ_TRY(cq_rt_ints_of(&axes, rt, "axes", 3));
    CQ_TRY(cq_rt_in_ints(&steps, rt, 4));
    if (ends.n != starts.n || (axes.given && axes.n != starts.n) ||
        (steps.given && steps.n != starts.n) || starts.n > x->rank)
        return cq_fail(CQ_E_TYPE, NULL, NULL,
                       "%zu starts, %zu ends, %zu axes and %zu steps for %u dimensions", starts.n,
                       ends.n, axes.n, steps.n, x->rank);
    if (axes.n)
        CQ_TRY(cq_rt_axes(&seen, &axes, x->rank));
    for (size_t i = 0; i < starts.n; i++) {
        int64_t    step = steps.given ? steps.at[i] : 1, start = starts.at[i], n;
        uint32_t   axis;
        cq_tensor *part;

        CQ_TRY(cq_rt_axis(&axis, axes.given ? axes.at[i] : (int64_t)i, x->rank));
        if (step == 0 || step == INT64_MIN)
            return cq_fail(CQ_E_TYPE, NULL, NULL, "a step of a slice is %" PRId64, step);
        n = cq_rt_slice_range(&start, ends.at[i], step, cq_size_of(x, axis));
        CQ_TRY(cq_rt_sliced(&part, rt, y, axis, start, step, n));
        y = part;
    }
    return cq_rt_pass(rt, 0, y);
}

int64_t cq_rt_length_at(const cq_rt_lengths *lengths, size_t i)
{
    const int64_t start = lengths->each * (int64_t)i;

    if (lengths->input)
        return cq_tensor_get_i64(lengths->input, (int64_t)i);
    if (lengths->attribute)
        return lengths->attribute->ints.items[i];
    return start + lengths->each <= lengths->size ? lengths->each : lengths->size - start;
}

cq_status cq_rt_split_lengths(cq_rt_lengths *out, const cq_rt *rt, int64_t size)
{
    const size_t n   = rt->step->node->output.n;
    int64_t      sum = 0, given;

    *out  = (cq_rt_lengths){ .input     = cq_rt_in(rt, 1),
                             .attribute = cq_rt_attr_given(rt, "split"),
                             .size      = size,
                             .each      = n ? (size + (int64_t)n - 1) / (int64_t)n : 0 };
    given = out->input       ? cq_tensor_numel(out->input)
            : out->attribute ? (int64_t)out->attribute->ints.n
                             : cq_rt_int(rt, "num_outputs");
    if (given != (int64_t)n &&
        (out->input || out->attribute || cq_rt_attr_given(rt, "num_outputs")))
        return cq_fail(CQ_E_INVALID, NULL, NULL, "there are %" PRId64 " lengths for %zu parts",
                       given, n);
    for (size_t i = 0; i < n; i++) {
        const int64_t length = cq_rt_length_at(out, i);

        if (length < 0 || length > size || (sum += length) > size)
            return cq_fail(CQ_E_TYPE, NULL, NULL,
                           "part %zu of length %" PRId64 " is not in %" PRId64, i, length, size);
    }
    return sum == size
               ? CQ_OK
               : cq_fail(CQ_E_TYPE, NULL, NULL,
                         "the parts make %" PRId64 " together, expected %" PRId64, sum, size);
}

static cq_status split(cq_rt *rt)
{
    const cq_tensor *x     = cq_rt_in(rt, 0);
    int64_t          start = 0;
    cq_rt_lengths    lengths;
    uint32_t         axis;

    CQ_TRY(cq_rt_axis(&axis, cq_rt_int(rt, "axis"), x->rank));
    CQ_TRY(cq_rt_split_lengths(&lengths, rt, cq_size_of(x, axis)));
    for (size_t i = 0; i < rt->n_out; start += cq_rt_length_at(&lengths, i++)) {
        cq_tensor *part;

        CQ_TRY(cq_rt_slice(&part, x, axis, start, 1, cq_rt_length_at(&lengths, i)));
        CQ_TRY(cq_rt_set_tensor(rt, i, part));
    }
    return CQ_OK;
}

/* ---- concatenation and repetition ---- */

static cq_status concat(cq_rt *rt)
{
    /* In version 1 axis is optional. */
    int64_t    axis = cq_rt_attr_given(rt, "axis") ? cq_rt_int(rt, "axis") : 1;
    cq_tensor *y;

    CQ_TRY(cq_rt_join(&y, rt, rt->in, rt->n_in, axis, false));
    return cq_rt_set_tensor(rt, 0, y);
}

/* Repeats x: as [1, d0, 1, d1, …] it is expanded to [r0, d0, r1, d1, …]. */
static cq_status tile_by(cq_rt *rt, const cq_tensor *x, const int64_t *repeats)
{
    cq_rt_sizes sizes, pairs = { .rank = 2 * x->rank };
    cq_tensor  *y, *thin = NULL, *wide = NULL, *target = NULL;

    if (pairs.rank > CQ_MAX_RANK)
        return too_many_dims(pairs.rank);
    cq_rt_sizes_of(&sizes, x);
    for (uint32_t i = 0; i < x->rank; i++) {
        pairs.at[2 * i]     = 1;
        pairs.at[2 * i + 1] = sizes.at[i];
        if (repeats[i] < 0 || __builtin_mul_overflow(sizes.at[i], repeats[i], &sizes.at[i]))
            return cq_fail(CQ_E_TYPE, NULL, NULL, "dimension %u is repeated %" PRId64 " times", i,
                           repeats[i]);
    }
    CQ_TRY(cq_rt_out_sized(&y, rt, 0, x->dtype, &sizes));
    if (!cq_tensor_numel(y))
        return CQ_OK;
    CQ_TRY(cq_rt_reshaped(&thin, rt, x, &pairs));
    for (uint32_t i = 0; i < x->rank; i++)
        pairs.at[2 * i] = repeats[i];
    CQ_TRY(cq_rt_expanded(&wide, rt, thin, &pairs));
    CQ_TRY(cq_rt_reshaped(&target, rt, y, &pairs));
    return cq_tensor_copy_into(target, wide);
}

static cq_status tile(cq_rt *rt)
{
    const cq_tensor *x = cq_rt_in(rt, 0);
    cq_rt_ints       repeats;

    CQ_TRY(cq_rt_in_ints(&repeats, rt, 1));
    if (repeats.n != x->rank)
        return cq_fail(CQ_E_TYPE, NULL, NULL, "there are %zu repeats for %u dimensions", repeats.n,
                       x->rank);
    return tile_by(rt, x, repeats.at);
}

/* Version 1 repeats one axis. */
static cq_status tile_axis(cq_rt *rt)
{
    const cq_tensor *x = cq_rt_in(rt, 0);
    int64_t          repeats[CQ_MAX_RANK], times, which;
    uint32_t         axis;

    CQ_TRY(cq_rt_in_i64(&times, rt, 1, 1));
    CQ_TRY(cq_rt_in_i64(&which, rt, 2, 0));
    CQ_TRY(cq_rt_axis(&axis, which, x->rank));
    for (uint32_t i = 0; i < x->rank; i++)
        repeats[i] = i == axis ? times : 1;
    return tile_by(rt, x, repeats);
}

/* ---- padding ---- */

static const char *const pad_modes[] = {
    [CQ_PAD_CONSTANT]  = "constant",
    [CQ_PAD_REFLECT]   = "reflect",
    [CQ_PAD_REPLICATE] = "edge",
    [CQ_PAD_CIRCULAR]  = "wrap",
};

/* Reads the padding before and after each axis; axes may select some of them. */
static cq_status read_pads(int64_t *before, int64_t *after, cq_rt *rt, uint32_t rank)
{
    cq_rt_ints pads, axes;
    uint64_t   seen;
    size_t     n;

    CQ_TRY(cq_rt_ints_of(&pads, rt, rt->step->schema->since == 1 ? "paddings" : "pads", 1));
    CQ_TRY(cq_rt_in_ints(&axes, rt, 3));
    n = axes.given ? axes.n : rank;
    if (pads.n != 2 * n)
        return cq_fail(CQ_E_TYPE, NULL, NULL, "pads has %zu numbers, expected %zu", pads.n, 2 * n);
    if (axes.n)
        CQ_TRY(cq_rt_axes(&seen, &axes, rank));
    memset(before, 0, rank * sizeof *before);
    memset(after, 0, rank * sizeof *after);
    for (size_t i = 0; i < n; i++) {
        uint32_t axis;

        CQ_TRY(cq_rt_axis(&axis, axes.given ? axes.at[i] : (int64_t)i, rank));
        before[axis] = pads.at[i];
        after[axis]  = pads.at[n + i];
    }
    return CQ_OK;
}

static cq_status pad_with(cq_rt *rt, const cq_tensor *value)
{
    const cq_tensor *x = cq_rt_in(rt, 0);
    int64_t          before[CQ_MAX_RANK], after[CQ_MAX_RANK];
    cq_rt_sizes      sizes;
    int              mode;
    cq_tensor       *y;

    CQ_TRY(cq_rt_choose(&mode, rt, "mode", pad_modes, sizeof pad_modes / sizeof *pad_modes));
    CQ_TRY(read_pads(before, after, rt, x->rank));
    cq_rt_sizes_of(&sizes, x);
    for (uint32_t i = 0; i < x->rank; i++)
        if (__builtin_add_overflow(sizes.at[i], before[i], &sizes.at[i]) ||
            __builtin_add_overflow(sizes.at[i], after[i], &sizes.at[i]))
            return cq_fail(CQ_E_TYPE, NULL, NULL,
                           "pads of %" PRId64 " and %" PRId64 " are too large", before[i],
                           after[i]);
    CQ_TRY(cq_rt_out_sized(&y, rt, 0, x->dtype, &sizes));
    return cq_kernel_pad(y, x, before, (cq_pad_mode)mode, value);
}

static cq_status pad_by_attributes(cq_rt *rt)
{
    double     number = cq_rt_float(rt, "value");
    cq_tensor *value;

    CQ_TRY(cq_rt_keep(rt, cq_tensor_new(&value, CQ_DTYPE_F64, 0, NULL, &number), &value));
    return pad_with(rt, value);
}

static cq_status pad(cq_rt *rt)
{
    const cq_tensor *value = cq_rt_in(rt, 2);

    if (value && cq_tensor_numel(value) != 1)
        return cq_fail(CQ_E_TYPE, NULL, NULL,
                       "constant_value has %" PRId64 " elements, expected one",
                       cq_tensor_numel(value));
    return pad_with(rt, value);
}

/* ---- space and depth ---- */

/* Reshapes x to dims, permutes them by order, and reshapes the result to sizes. */
static cq_status regroup(cq_rt *rt, const cq_rt_sizes *dims, const uint32_t *order,
                         const cq_rt_sizes *sizes)
{
    cq_tensor *split_up = NULL, *moved = NULL;

    CQ_TRY(cq_rt_reshaped(&split_up, rt, cq_rt_in(rt, 0), dims));
    CQ_TRY(cq_rt_permuted(&moved, rt, split_up, order));
    return set_reshaped(rt, moved, sizes);
}

static cq_status block_size(int64_t *out, cq_rt *rt)
{
    *out = cq_rt_int(rt, "blocksize");
    CQ_TRY(cq_rt_need_rank(cq_rt_in(rt, 0), "input", 4));
    if (*out < 1 || *out > INT32_MAX)
        return cq_fail(CQ_E_TYPE, NULL, NULL, "blocksize %" PRId64 " makes no sense", *out);
    return CQ_OK;
}

static cq_status depth_to_space(cq_rt *rt)
{
    static const uint32_t dcr[] = { 0, 3, 4, 1, 5, 2 }, crd[] = { 0, 1, 4, 2, 5, 3 };
    const cq_tensor      *x = cq_rt_in(rt, 0);
    int64_t               b, c;
    bool                  is_crd = cq_rt_is(rt, "mode", "CRD");

    CQ_TRY(block_size(&b, rt));
    c = cq_size_of(x, 1);
    if (c % (b * b))
        return cq_fail(CQ_E_TYPE, NULL, NULL, "%" PRId64 " channels cannot be divided by %" PRId64,
                       c, b * b);
    c /= b * b;
    return regroup(
        rt,
        &(cq_rt_sizes){ 6,
                        { cq_size_of(x, 0), is_crd ? c : b, b, is_crd ? b : c, cq_size_of(x, 2),
                          cq_size_of(x, 3) } },
        is_crd ? crd : dcr,
        &(cq_rt_sizes){ 4, { cq_size_of(x, 0), c, cq_size_of(x, 2) * b, cq_size_of(x, 3) * b } });
}

static cq_status space_to_depth(cq_rt *rt)
{
    static const uint32_t order[] = { 0, 3, 5, 1, 2, 4 };
    const cq_tensor      *x       = cq_rt_in(rt, 0);
    int64_t               b, h, w;

    CQ_TRY(block_size(&b, rt));
    h = cq_size_of(x, 2);
    w = cq_size_of(x, 3);
    if (h % b || w % b)
        return cq_fail(CQ_E_TYPE, NULL, NULL,
                       "%" PRId64 " by %" PRId64 " cannot be divided into blocks of %" PRId64, h, w,
                       b);
    return regroup(
        rt, &(cq_rt_sizes){ 6, { cq_size_of(x, 0), cq_size_of(x, 1), h / b, b, w / b, b } }, order,
        &(cq_rt_sizes){ 4, { cq_size_of(x, 0), cq_size_of(x, 1) * b * b, h / b, w / b } });
}

const cq_rt_row cq_rt_rows_shape[] = {
    { "Identity", 1, identity, CQ_RT_TEXT_OWN, 0 },
    { "Reshape", 1, reshape, CQ_RT_TEXT_OUT, 0 },
    { "Flatten", 1, flatten, CQ_RT_TEXT_OUT, 0 },
    { "Squeeze", 1, squeeze, CQ_RT_TEXT_OUT, 0 },
    { "Unsqueeze", 1, unsqueeze, CQ_RT_TEXT_OUT, 0 },
    { "Transpose", 1, transpose, CQ_RT_TEXT_OUT, 0 },
    { "Expand", 8, expand, CQ_RT_TEXT_OUT, 0 },
    { "Slice", 1, slice, CQ_RT_TEXT_OUT, 0 },
    { "Split", 1, split, 0xff, 0 },
    { "Concat", 1, concat, CQ_RT_TEXT_OUT, 0 },
    { "Tile", 1, tile_axis, 0, 0 },
    { "Tile", 6, tile, CQ_RT_TEXT_OUT, 0 },
    { "Pad", 1, pad_by_attributes, 0, 0 },
    { "Pad", 11, pad, CQ_RT_TEXT_OUT, 0 },
    { "DepthToSpace", 1, depth_to_space, CQ_RT_TEXT_OUT, 0 },
    { "SpaceToDepth", 1, space_to_depth, CQ_RT_TEXT_OUT, 0 },
    { 0 },
};
