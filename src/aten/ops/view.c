/* Views of a whole tensor: its elements in another order of dimensions or in other sizes,
 * or repeated without being copied. Views of a part are in slice.c. */
#include "aten/ops/geometry.h"

/* ---- the order of dimensions ---- */

static void swap_dims(cq_geometry *g, size_t a, size_t b)
{
    cq_int  size   = g->sizes[a];
    int64_t stride = g->strides[a];

    g->sizes[a]   = g->sizes[b];
    g->strides[a] = g->strides[b];
    g->sizes[b]   = size;
    g->strides[b] = stride;
}

static cq_status transpose_view(cq_opcall *c)
{
    cq_tensor  *self = cq_arg_tensor(c, "self");
    cq_geometry g    = cq_geometry_of(self);
    size_t      a    = (size_t)cq_arg_dim(c, "dim0", self->rank);
    size_t      b    = (size_t)cq_arg_dim(c, "dim1", self->rank);

    if (self->rank)
        swap_dims(&g, a, b);
    return cq_geometry_result(c, self, &g);
}

static cq_status t_view(cq_opcall *c)
{
    cq_tensor  *self = cq_arg_tensor(c, "self");
    cq_geometry g    = cq_geometry_of(self);

    if (self->rank > 2)
        return cq_call_fail(c, CQ_E_ARGUMENT, "expected at most 2 dimensions, got %u",
                            (unsigned)self->rank);
    if (self->rank == 2)
        swap_dims(&g, 0, 1);
    return cq_geometry_result(c, self, &g);
}

/* The dims of a permutation, wrapped and checked to name each dimension once. */
static cq_status permutation(const cq_opcall *c, int64_t *dims, size_t rank)
{
    size_t   n    = cq_arg_i64s(c, "dims", dims, CQ_MAX_RANK);
    uint64_t seen = 0;

    if (n != rank)
        return cq_call_fail(c, CQ_E_ARGUMENT, "expected %zu dims, got %zu", rank, n);
    for (size_t i = 0; i < n; i++) {
        if (dims[i] < 0)
            dims[i] += (int64_t)rank;
        if (dims[i] < 0 || dims[i] >= (int64_t)rank || (seen >> dims[i] & 1))
            return cq_call_fail(c, CQ_E_ARGUMENT, "dims must name each of the %zu dimensions once",
                                rank);
        seen |= (uint64_t)1 << dims[i];
    }
    return c->cx->status;
}

static cq_status permute_view(cq_opcall *c)
{
    cq_tensor  *self = cq_arg_tensor(c, "self");
    cq_geometry g    = cq_geometry_of(self);
    int64_t     dims[CQ_MAX_RANK];

    CQ_TRY(permutation(c, dims, self->rank));
    for (size_t i = 0; i < self->rank; i++) {
        g.sizes[i]   = self->sizes[dims[i]];
        g.strides[i] = self->strides[dims[i]];
    }
    return cq_geometry_result(c, self, &g);
}

/* ---- other sizes ---- */

/* A copy of self in row-major order, in other sizes. */
static cq_status copy_in_sizes(cq_opcall *c, const cq_tensor *self, size_t rank,
                               const cq_int *sizes)
{
    cq_tensor *out, *seen = NULL;
    int64_t    strides[CQ_MAX_RANK];
    cq_status  status;

    c->copied = true;
    CQ_TRY(cq_result(c, 0, self->dtype, rank, sizes));
    if (!c->real)
        return CQ_OK;
    out = cq_result_tensor(c, 0);
    cq_contiguous_strides(strides, self->rank, self->sizes);
    CQ_TRY(cq_tensor_new_view(&seen, out, self->dtype, self->rank, self->sizes, strides, 0));
    status = cq_tensor_copy_into(seen, self);
    cq_tensor_release(seen);
    return status;
}

static cq_status view_or_copy(cq_opcall *c, const cq_tensor *self, size_t rank, const cq_int *sizes)
{
    cq_geometry g;

    if (!cq_geometry_reshape(&g, self, rank, sizes))
        return copy_in_sizes(c, self, rank, sizes);
    return cq_geometry_result(c, self, &g);
}

static cq_status reshape_view(cq_opcall *c)
{
    cq_tensor *self = cq_arg_tensor(c, "self");
    cq_int     sizes[CQ_MAX_RANK];
    size_t     rank;

    CQ_TRY(cq_arg_shape(c, "shape", self, &rank, sizes));
    return view_or_copy(c, self, rank, sizes);
}

static cq_status view_view(cq_opcall *c)
{
    cq_tensor  *self = cq_arg_tensor(c, "self");
    cq_int      sizes[CQ_MAX_RANK];
    size_t      rank;
    cq_geometry g;

    CQ_TRY(cq_arg_shape(c, "size", self, &rank, sizes));
    if (!cq_geometry_reshape(&g, self, rank, sizes))
        return cq_call_fail(c, CQ_E_ARGUMENT,
                            "the elements do not lie so that a view of these sizes could show "
                            "them; reshape copies them");
    return cq_geometry_result(c, self, &g);
}

/* The same bytes as elements of another dtype. When its size differs, the last dimension
 * grows or shrinks. */
static cq_status view_dtype_view(cq_opcall *c)
{
    cq_tensor  *self = cq_arg_tensor(c, "self"), *out = NULL;
    cq_dtype    to        = cq_arg_dtype(c, "dtype", self->dtype);
    cq_geometry g         = cq_geometry_of(self);
    int64_t     from_size = (int64_t)cq_dtype_size(self->dtype), to_size;
    size_t      last      = g.rank - 1;

    CQ_TRY(c->cx->status);
    to_size = (int64_t)cq_dtype_size(to);
    if (from_size != to_size) {
        if (!g.rank || g.strides[last] != 1)
            return cq_call_fail(c, CQ_E_ARGUMENT,
                                "expected a dense last dimension to change the size "
                                "of elements");
        g.sizes[last] =
            cq_size_floordiv(c, cq_size_mul(c, g.sizes[last], cq_i(from_size)), cq_i(to_size));
        if (g.sizes[last].value * to_size != self->sizes[last].value * from_size)
            return cq_call_fail(c, CQ_E_ARGUMENT,
                                "%lld elements of %lld bytes are not a whole number "
                                "of elements of %lld",
                                (long long)self->sizes[last].value, (long long)from_size,
                                (long long)to_size);
        for (size_t i = 0; i <= g.rank; i++) {
            int64_t *stride = i < g.rank ? &g.strides[i] : &g.offset;

            if (i == last)
                continue;
            if (*stride * from_size % to_size)
                return cq_call_fail(c, CQ_E_ARGUMENT, "elements of %lld bytes would not be aligned",
                                    (long long)to_size);
            *stride = *stride * from_size / to_size;
        }
    }
    CQ_TRY(cq_tensor_new_view(&out, self, to, g.rank, g.sizes, g.strides, g.offset));
    return cq_result_set(c, 0, cq_ctx_own(c->cx, cq_val_of_tensor(out)));
}

static cq_status flatten_view(cq_opcall *c)
{
    cq_tensor *self  = cq_arg_tensor(c, "self");
    size_t     start = (size_t)cq_arg_dim(c, "start_dim", self->rank);
    size_t     end   = (size_t)cq_arg_dim(c, "end_dim", self->rank);
    cq_int     sizes[CQ_MAX_RANK];
    size_t     n = 0;

    if (start > end)
        return cq_call_fail(c, CQ_E_ARGUMENT,
                            "expected start_dim of at most end_dim, got %zu and %zu", start, end);
    if (self->rank && start == end) {
        return cq_result_set_tensor(c, 0, cq_keep(c->cx, self));
    }
    for (size_t i = 0; i < self->rank; i++) {
        if (i > start && i <= end)
            sizes[n - 1] = cq_size_mul(c, sizes[n - 1], self->sizes[i]);
        else
            sizes[n++] = self->sizes[i];
    }
    if (self->rank == 0)
        sizes[n++] = cq_i(1);
    return view_or_copy(c, self, n, sizes);
}

/* ---- dimensions of size 1 ---- */

/* A symbolic size is taken to be 1 or not as on the example, which is worth a warning. */
static bool is_one(const cq_opcall *c, cq_int size)
{
    return cq_size_baked(c, size,
                         "a size that squeeze removes if it is 1, and so the number of "
                         "dimensions,") == 1;
}

static cq_status squeeze_view(cq_opcall *c)
{
    cq_tensor  *self = cq_arg_tensor(c, "self");
    cq_geometry g    = cq_geometry_of(self);

    for (size_t i = self->rank; i-- > 0;)
        if (is_one(c, self->sizes[i]))
            cq_geometry_drop(&g, i);
    return cq_geometry_result(c, self, &g);
}

/* A view with these sizes on the example; which size belongs to which axis is data-dependent. */
static cq_status open_view(cq_opcall *c, const cq_tensor *self, const cq_geometry *g)
{
    cq_int sizes[CQ_MAX_RANK];

    for (size_t i = 0; i < g->rank; i++)
        sizes[i] = cq_unknown_size(c, g->sizes[i].value);
    c->copied = true;
    return cq_result(c, 0, self->dtype, g->rank, sizes);
}

static cq_status squeeze_dim_view(cq_opcall *c)
{
    cq_tensor  *self = cq_arg_tensor(c, "self");
    cq_geometry g    = cq_geometry_of(self);
    bool        open;
    size_t      dim = (size_t)cq_arg_open_dim(c, "dim", self->rank, &open);

    if (self->rank && (open ? self->sizes[dim].value == 1 : is_one(c, self->sizes[dim])))
        cq_geometry_drop(&g, dim);
    if (open)
        return open_view(c, self, &g);
    return cq_geometry_result(c, self, &g);
}

static cq_status unsqueeze_view(cq_opcall *c)
{
    cq_tensor  *self = cq_arg_tensor(c, "self");
    cq_geometry g    = cq_geometry_of(self);
    bool        open;
    size_t      dim    = (size_t)cq_arg_open_dim(c, "dim", (size_t)self->rank + 1, &open);
    int64_t     stride = dim < self->rank ? self->sizes[dim].value * self->strides[dim] : 1;

    cq_geometry_insert(&g, dim, cq_i(1), stride);
    if (open)
        return open_view(c, self, &g);
    return cq_geometry_result(c, self, &g);
}

/* ---- repeated without a copy ---- */

/* Whether a dynamic size may be 1 in a run in which another one is larger. */
static bool may_broadcast(const cq_opcall *c, cq_int have, cq_int wanted)
{
    return have.expr && wanted.expr && c->cx->symbols && !cq_int_same(have, wanted) &&
           (cq_int_independent(have, wanted) ||
            cq_int_same(cq_int_max(c->cx->symbols, wanted, have), wanted));
}

static cq_status expand_view(cq_opcall *c)
{
    cq_tensor  *self = cq_arg_tensor(c, "self");
    cq_geometry g    = { .offset = self->offset };
    cq_int      sizes[CQ_MAX_RANK];
    size_t      n = cq_arg_ints(c, "size", sizes, CQ_MAX_RANK), lead = n - self->rank;

    if (n < self->rank)
        return cq_call_fail(c, CQ_E_ARGUMENT, "got %zu sizes for a tensor of %u dimensions", n,
                            (unsigned)self->rank);
    g.rank = n;
    for (size_t i = 0; i < n; i++) {
        bool   is_new = i < lead;
        cq_int have   = is_new ? cq_i(1) : self->sizes[i - lead];
        bool   keep   = sizes[i].value == -1 && !is_new;

        if (sizes[i].value < (is_new ? 0 : -1))
            return cq_call_fail(c, CQ_E_ARGUMENT, "invalid size %lld of dimension %zu",
                                (long long)sizes[i].value, i);
        if (keep && sizes[i].expr && c->cx->listener) /* a number among the data */
            c->cx->listener->baked(c->cx->listener_self, c->cx, "size", sizes[i]);
        if (!keep && have.value != 1 && have.value != sizes[i].value)
            return cq_call_fail(c, CQ_E_ARGUMENT,
                                "size %lld of dimension %zu cannot be expanded to %lld",
                                (long long)have.value, i, (long long)sizes[i].value);
        /* A single element may be many where the example has just one. */
        if (keep || (have.value == sizes[i].value && !(cq_int_is(have, 1) && sizes[i].expr) &&
                     (have.expr == NULL || sizes[i].expr) && !may_broadcast(c, have, sizes[i])))
            g.sizes[i] = have;
        else
            g.sizes[i] = sizes[i];
        g.strides[i] = is_new || have.value != g.sizes[i].value ? 0 : self->strides[i - lead];
    }
    return cq_geometry_result(c, self, &g);
}

const cq_op_def cq_ops_view[] = {
    CQ_VIEW("aten::t(Tensor(a) self) -> Tensor(a)", "a matrix with rows and columns swapped",
            t_view),
    CQ_VIEW("aten::transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)",
            "two dimensions swapped", transpose_view),
    CQ_VIEW("aten::permute(Tensor(a) self, int[] dims) -> Tensor(a)", "dimensions in another order",
            permute_view),
    CQ_VIEW("aten::view(Tensor(a) self, SymInt[] size) -> Tensor(a)",
            "the same elements in other sizes", view_view),
    CQ_VIEW("aten::view.dtype(Tensor(a) self, ScalarType dtype) -> Tensor(a)",
            "the same bytes as another dtype", view_dtype_view),
    CQ_VIEW("aten::reshape(Tensor(a) self, SymInt[] shape) -> Tensor(a)",
            "the same elements in other sizes, copied if no view is possible", reshape_view),
    CQ_VIEW("aten::_unsafe_view(Tensor self, SymInt[] size) -> Tensor",
            "the internal operator of view", view_view),
    CQ_VIEW("aten::_reshape_alias(Tensor(a) self, SymInt[] size, SymInt[] stride) -> Tensor(a)",
            "the internal operator of view", view_view),
    CQ_VIEW("aten::flatten.using_ints(Tensor(a) self, int start_dim=0, int end_dim=-1) -> "
            "Tensor(a)",
            "a range of dimensions merged into one", flatten_view),
    CQ_VIEW("aten::squeeze(Tensor(a) self) -> Tensor(a)", "the tensor without dimensions of size 1",
            squeeze_view),
    CQ_VIEW("aten::squeeze.dim(Tensor(a) self, int dim) -> Tensor(a)",
            "the tensor without a dimension of size 1", squeeze_dim_view),
    CQ_VIEW("aten::unsqueeze(Tensor(a) self, int dim) -> Tensor(a)",
            "the tensor with a new dimension of size 1", unsqueeze_view),
    CQ_VIEW("aten::expand(Tensor(a) self, SymInt[] size, *, bool implicit=False) -> Tensor(a)",
            "repeated along dimensions of size 1, without a copy", expand_view),
    { 0 },
};
