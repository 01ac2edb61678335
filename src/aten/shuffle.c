/* Copies with the same elements in other places: rolled, flipped, turned, moved between
 * channels and space. */
#include "aten/geometry.h"
#include "kernel/pad.h"

#include <stdlib.h>

/* ---- roll, flip, rotate ---- */

/* The last elements come first. A shift of less than the size, the usual one, is no reason
 * for a remainder in symbols. */
static cq_tensor *roll_dim(cq_opcall *c, cq_tensor *t, int64_t dim, int64_t shift)
{
    cq_int     size = t->sizes[dim], start;
    cq_tensor *parts[2];

    if (size.value == 0)
        return t;
    if (shift == INT64_MIN) /* its opposite is no number; -1 - shift is the next to it */
        shift = -1 - (-1 - shift) % size.value;
    start = cq_i(shift < 0 ? -shift : shift);
    if (start.value >= size.value)
        start = cq_int_mod(c->cx->symbols, start, size);
    if (shift > 0)
        start = cq_size_sub(c, size, start);
    parts[0] = CQ_OP(c->cx, "aten::slice.Tensor", T(t), I(dim), N(start), CQ_NONE, I(1));
    parts[1] = CQ_OP(c->cx, "aten::slice.Tensor", T(t), I(dim), I(0), N(start), I(1));
    if (c->cx->status != CQ_OK)
        return NULL;
    return CQ_OP(c->cx, "aten::cat", cq_tensors(c->cx, parts, 2), I(dim));
}

static cq_status roll_compose(cq_opcall *c)
{
    cq_tensor *self = cq_arg_tensor(c, "self"), *t = self;
    int64_t    shifts[CQ_MAX_RANK], dims[CQ_MAX_RANK];
    size_t     n      = cq_arg_i64s(c, "shifts", shifts, CQ_MAX_RANK);
    size_t     n_dims = cq_arg_i64s(c, "dims", dims, CQ_MAX_RANK);

    if (n == 0 || (n_dims != n && !(n == 1 && n_dims == 0)))
        return cq_call_fail(c, CQ_E_ARGUMENT, "got %zu shifts for %zu dims", n, n_dims);
    if (n_dims == 0) {
        t = CQ_OP(c->cx, "aten::reshape", T(self), cq_i64s(c->cx, (int64_t[]){ -1 }, 1));
        t = t ? roll_dim(c, t, 0, shifts[0]) : NULL;
        t = CQ_OP(c->cx, "aten::reshape", T(t), cq_sizes_of(c->cx, self));
    }
    for (size_t i = 0; i < n_dims && t; i++) {
        if (!self->rank || dims[i] < -(int64_t)self->rank || dims[i] >= (int64_t)self->rank)
            return cq_call_fail(c, CQ_E_ARGUMENT, "dim %lld is out of range", (long long)dims[i]);
        t = roll_dim(c, t, dims[i] < 0 ? dims[i] + self->rank : dims[i], shifts[i]);
    }
    if (t == self)
        t = CQ_OP(c->cx, "aten::clone", T(self));
    cq_result_set_tensor(c, 0, t);
    return c->cx->status;
}

static cq_status flip_shape(cq_opcall *c)
{
    int64_t  dims[CQ_MAX_RANK];
    uint64_t mask = cq_arg_dims(c, "dims", cq_arg_tensor(c, "self")->rank);
    size_t   n    = cq_arg_i64s(c, "dims", dims, CQ_MAX_RANK);

    if (n && (size_t)__builtin_popcountll(mask) != n)
        return cq_call_fail(c, CQ_E_ARGUMENT, "dims must be different");
    return cq_shape_of_self(c);
}

static cq_status flip_run(cq_opcall *c)
{
    cq_tensor *self = cq_arg_tensor(c, "self");
    int64_t    dims[CQ_MAX_RANK];
    bool       none = cq_arg_i64s(c, "dims", dims, CQ_MAX_RANK) == 0;

    return cq_kernel_flip(cq_result_tensor(c, 0), self,
                          none ? 0 : cq_arg_dims(c, "dims", self->rank));
}

static cq_tensor *flip(cq_opcall *c, cq_tensor *t, const int64_t *dims, size_t n)
{
    return CQ_OP(c->cx, "aten::flip", T(t), cq_i64s(c->cx, dims, n));
}

static cq_status fliplr_compose(cq_opcall *c)
{
    cq_tensor *self = cq_arg_tensor(c, "self");

    if (self->rank < 2)
        return cq_call_fail(c, CQ_E_ARGUMENT, "wants at least 2 dimensions but got %u",
                            (unsigned)self->rank);
    cq_result_set_tensor(c, 0, flip(c, self, (int64_t[]){ 1 }, 1));
    return c->cx->status;
}

static cq_status flipud_compose(cq_opcall *c)
{
    cq_tensor *self = cq_arg_tensor(c, "self");

    if (self->rank < 1)
        return cq_call_fail(c, CQ_E_ARGUMENT, "wants at least 1 dimension");
    cq_result_set_tensor(c, 0, flip(c, self, (int64_t[]){ 0 }, 1));
    return c->cx->status;
}

static cq_status rot90_compose(cq_opcall *c)
{
    cq_tensor *self = cq_arg_tensor(c, "self"), *t;
    int64_t    dims[CQ_MAX_RANK], k = cq_arg_i64(c, "k") % 4;
    size_t     n = cq_arg_i64s(c, "dims", dims, CQ_MAX_RANK);

    k += k < 0 ? 4 : 0;
    if (n != 2 || self->rank < 2 || dims[0] == dims[1] ||
        llabs(dims[0] - dims[1]) == (int64_t)self->rank)
        return cq_call_fail(c, CQ_E_ARGUMENT, "wants two different dimensions to turn");
    if (k == 0)
        t = CQ_OP(c->cx, "aten::clone", T(self), I(0));
    else if (k == 2)
        t = flip(c, self, dims, 2);
    else
        t = CQ_OP(c->cx, "aten::transpose.int", T(flip(c, self, &dims[k == 1], 1)), I(dims[0]),
                  I(dims[1]));
    cq_result_set_tensor(c, 0, t);
    return c->cx->status;
}

/* ---- channels and space: split the dimensions, reorder, join ---- */

/* t in other sizes, its dimensions reordered, then in sizes again. */
static cq_status regroup(cq_opcall *c, cq_tensor *t, const cq_int *split, size_t n,
                         const int64_t *order, const cq_int *joined, size_t n_joined)
{
    t = CQ_OP(c->cx, "aten::reshape", T(t), cq_ints(c->cx, split, n));
    t = CQ_OP(c->cx, "aten::permute", T(t), cq_i64s(c->cx, order, n));
    t = CQ_OP(c->cx, "aten::clone", T(t), I(0));
    cq_result_set_tensor(c, 0, CQ_OP(c->cx, "aten::view", T(t), cq_ints(c->cx, joined, n_joined)));
    return c->cx->status;
}

static cq_status check_image(const cq_opcall *c, const cq_tensor *t, int64_t factor)
{
    if (t->rank < 3 || t->rank + 2 > CQ_MAX_RANK)
        return cq_call_fail(c, CQ_E_ARGUMENT, "wants at least 3 dimensions but got %u",
                            (unsigned)t->rank);
    if (factor <= 0 || factor > INT32_MAX)
        return cq_call_fail(c, CQ_E_ARGUMENT, "the factor must be from 1 to %d, not %lld",
                            INT32_MAX, (long long)factor);
    return c->cx->status;
}

/* [..., c * r * r, h, w] to [..., c, h * r, w * r]. */
static cq_status pixel_shuffle_compose(cq_opcall *c)
{
    cq_tensor           *self = cq_arg_tensor(c, "self");
    int64_t              r    = cq_arg_i64(c, "upscale_factor"), order[CQ_MAX_RANK];
    size_t               lead = self->rank - 3;
    const cq_int        *s    = self->sizes + lead;
    cq_int               split[CQ_MAX_RANK], joined[CQ_MAX_RANK], channels;
    static const int64_t moved[] = { 0, 3, 1, 4, 2 };

    CQ_TRY(check_image(c, self, r));
    if (s[0].value % (r * r))
        return cq_call_fail(c, CQ_E_ARGUMENT, "%lld channels are no multiple of %lld squared",
                            (long long)s[0].value, (long long)r);
    channels = cq_size_floordiv(c, s[0], cq_i(r * r));
    for (size_t i = 0; i < lead; i++) {
        split[i] = joined[i] = self->sizes[i];
        order[i]             = (int64_t)i;
    }
    memcpy(split + lead, (cq_int[]){ channels, cq_i(r), cq_i(r), s[1], s[2] }, 5 * sizeof *split);
    memcpy(joined + lead,
           (cq_int[]){ channels, cq_size_mul(c, s[1], cq_i(r)), cq_size_mul(c, s[2], cq_i(r)) },
           3 * sizeof *joined);
    for (size_t i = 0; i < 5; i++)
        order[lead + i] = (int64_t)lead + moved[i];
    return regroup(c, self, split, lead + 5, order, joined, lead + 3);
}

/* [..., c, h * r, w * r] to [..., c * r * r, h, w]. */
static cq_status pixel_unshuffle_compose(cq_opcall *c)
{
    cq_tensor           *self = cq_arg_tensor(c, "self");
    int64_t              r    = cq_arg_i64(c, "downscale_factor"), order[CQ_MAX_RANK];
    size_t               lead = self->rank - 3;
    const cq_int        *s    = self->sizes + lead;
    cq_int               split[CQ_MAX_RANK], joined[CQ_MAX_RANK], h, w;
    static const int64_t moved[] = { 0, 2, 4, 1, 3 };

    CQ_TRY(check_image(c, self, r));
    if (s[1].value % r || s[2].value % r)
        return cq_call_fail(c, CQ_E_ARGUMENT, "%lld by %lld is no multiple of %lld",
                            (long long)s[1].value, (long long)s[2].value, (long long)r);
    h = cq_size_floordiv(c, s[1], cq_i(r));
    w = cq_size_floordiv(c, s[2], cq_i(r));
    for (size_t i = 0; i < lead; i++) {
        split[i] = joined[i] = self->sizes[i];
        order[i]             = (int64_t)i;
    }
    memcpy(split + lead, (cq_int[]){ s[0], h, cq_i(r), w, cq_i(r) }, 5 * sizeof *split);
    memcpy(joined + lead, (cq_int[]){ cq_size_mul(c, s[0], cq_i(r * r)), h, w },
           3 * sizeof *joined);
    for (size_t i = 0; i < 5; i++)
        order[lead + i] = (int64_t)lead + moved[i];
    return regroup(c, self, split, lead + 5, order, joined, lead + 3);
}

/* Channels in groups, taken one of each group in turn. */
static cq_status channel_shuffle_compose(cq_opcall *c)
{
    cq_tensor *self   = cq_arg_tensor(c, "self");
    int64_t    groups = cq_arg_i64(c, "groups"), order[CQ_MAX_RANK];
    cq_int     split[CQ_MAX_RANK];

    if (self->rank < 3 || self->rank + 1 > CQ_MAX_RANK)
        return cq_call_fail(c, CQ_E_ARGUMENT, "wants at least 3 dimensions but got %u",
                            (unsigned)self->rank);
    if (groups <= 0 || self->sizes[1].value % groups)
        return cq_call_fail(c, CQ_E_ARGUMENT, "%lld channels do not make %lld groups",
                            (long long)self->sizes[1].value, (long long)groups);
    split[0] = self->sizes[0];
    split[1] = cq_i(groups);
    split[2] = cq_size_floordiv(c, self->sizes[1], cq_i(groups));
    for (size_t i = 2; i < self->rank; i++)
        split[i + 1] = self->sizes[i];
    for (size_t i = 0; i <= self->rank; i++)
        order[i] = i == 1 ? 2 : i == 2 ? 1 : (int64_t)i;
    return regroup(c, self, split, (size_t)self->rank + 1, order, self->sizes, self->rank);
}

#define COMPOSED(schema_text, about_text, function)                                                \
    {                                                                                              \
        .schema = schema_text, .about = about_text, .compose = function                            \
    }

const cq_op_def cq_ops_shuffle[] = {
    COMPOSED("aten::roll(Tensor self, int[1] shifts, int[1] dims=[]) -> Tensor",
             "shifted; what falls off at the end comes first", roll_compose),
    { .schema = "aten::flip(Tensor self, int[] dims) -> Tensor",
      .about  = "dimensions backwards",
      .shape  = flip_shape,
      .run    = flip_run },
    COMPOSED("aten::fliplr(Tensor self) -> Tensor", "left and right swapped", fliplr_compose),
    COMPOSED("aten::flipud(Tensor self) -> Tensor", "up and down swapped", flipud_compose),
    COMPOSED("aten::rot90(Tensor self, int k=1, int[] dims=[0, 1]) -> Tensor",
             "turned by quarters of a circle", rot90_compose),
    COMPOSED("aten::pixel_shuffle(Tensor self, int upscale_factor) -> Tensor",
             "channels become pixels", pixel_shuffle_compose),
    COMPOSED("aten::pixel_unshuffle(Tensor self, int downscale_factor) -> Tensor",
             "pixels become channels", pixel_unshuffle_compose),
    COMPOSED("aten::channel_shuffle(Tensor self, int groups) -> Tensor",
             "channels of groups in turn", channel_shuffle_compose),
    COMPOSED("aten::native_channel_shuffle(Tensor self, int groups) -> Tensor",
             "channels of groups in turn", channel_shuffle_compose),
    { 0 }
};
