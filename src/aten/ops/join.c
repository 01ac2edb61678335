/* Concatenation and repetition: cat and similar operators, repeat, meshgrid. Operators that only
 * move elements are in shuffle.c, padding in pad.c. */
#include "aten/ops/geometry.h"

/* ---- cat ---- */

/* PyTorch ignores tensors of shape [0], regardless of the other shapes. */
static bool counts_in_cat(const cq_tensor *t)
{
    return !(t->rank == 1 && cq_int_is(t->sizes[0], 0));
}

/* Unifies two sizes that must be equal: a number is more specific than a symbol. */
static cq_int stronger(cq_int a, cq_int b)
{
    return a.expr && !b.expr ? b : a;
}

static cq_status cat_sizes(cq_opcall *c, const cq_tensor *first, size_t dim, size_t n,
                           cq_int *sizes)
{
    memcpy(sizes, first->sizes, first->rank * sizeof *sizes);
    sizes[dim] = cq_i(0);
    for (size_t k = 0; k < n; k++) {
        const cq_tensor *t = cq_arg_tensor_at(c, "tensors", k);

        if (!counts_in_cat(t))
            continue;
        if (t->rank != first->rank)
            return cq_call_fail(c, CQ_E_ARGUMENT, "tensor %zu has %u dimensions, the first has %u",
                                k, (unsigned)t->rank, (unsigned)first->rank);
        for (size_t i = 0; i < t->rank; i++) {
            if (i == dim)
                continue;
            if (t->sizes[i].value != sizes[i].value)
                return cq_call_fail(c, CQ_E_ARGUMENT,
                                    "tensor %zu has size %lld in dimension %zu, expected %lld", k,
                                    (long long)t->sizes[i].value, i, (long long)sizes[i].value);
            sizes[i] = stronger(sizes[i], t->sizes[i]);
        }
        sizes[dim] = cq_size_add(c, sizes[dim], t->sizes[dim]);
    }
    return CQ_OK;
}

static cq_status cat_shape(cq_opcall *c)
{
    size_t           n     = cq_arg_n_tensors(c, "tensors"), dim;
    const cq_val    *items = n ? c->args[0].u.list->items : NULL;
    const cq_tensor *first = NULL;
    cq_int           sizes[CQ_MAX_RANK];

    if (n == 0)
        return cq_call_fail(c, CQ_E_ARGUMENT, "expected at least one tensor");
    for (size_t k = 0; k < n; k++) {
        const cq_tensor *t = cq_arg_tensor_at(c, "tensors", k);

        if (!t || !t->rank)
            return cq_call_fail(c, CQ_E_ARGUMENT,
                                "tensor %zu has no dimensions and cannot be concatenated", k);
        if (!first && counts_in_cat(t))
            first = t;
    }
    if (!first) {
        cq_arg_dim(c, "dim", 1);
        return cq_result(c, 0, cq_result_type(c->cx->default_float, items, n), 1,
                         (cq_int[]){ cq_i(0) });
    }
    dim = (size_t)cq_arg_dim(c, "dim", first->rank);
    CQ_TRY(cat_sizes(c, first, dim, n, sizes));
    return cq_result(c, 0, cq_result_type(c->cx->default_float, items, n), first->rank, sizes);
}

static cq_status cat_run(cq_opcall *c)
{
    cq_tensor  *out = cq_result_tensor(c, 0);
    size_t      dim = (size_t)cq_arg_dim(c, "dim", out->rank), n = cq_arg_n_tensors(c, "tensors");
    cq_geometry g = cq_geometry_of(out);

    for (size_t k = 0; k < n; k++) {
        const cq_tensor *t = cq_arg_tensor_at(c, "tensors", k);

        if (!counts_in_cat(t))
            continue;
        g.sizes[dim] = t->sizes[dim];
        CQ_TRY(cq_geometry_write(out, &g, t));
        g.offset += g.sizes[dim].value * g.strides[dim];
    }
    return CQ_OK;
}

/* ---- variants of cat: the tensors first get the dimensions they need ---- */

typedef cq_tensor *prepare_fn(cq_opcall *c, cq_tensor *t, int64_t dim);

/* ---- repeat ---- */

static cq_status repeat_shape(cq_opcall *c)
{
    cq_tensor *self = cq_arg_tensor(c, "self");
    cq_int     sizes[CQ_MAX_RANK];
    size_t     n = cq_arg_ints(c, "repeats", sizes, CQ_MAX_RANK);

    if (n < self->rank)
        return cq_call_fail(c, CQ_E_ARGUMENT, "got %zu repeats for a tensor of %u dimensions", n,
                            (unsigned)self->rank);
    for (size_t i = 0; i < n; i++) {
        if (sizes[i].value < 0)
            return cq_call_fail(c, CQ_E_ARGUMENT, "expected repeats of at least 0, got %lld",
                                (long long)sizes[i].value);
        if (i >= n - self->rank)
            sizes[i] = cq_size_mul(c, sizes[i], self->sizes[i - (n - self->rank)]);
    }
    return cq_result(c, 0, self->dtype, n, sizes);
}

/* Every dimension of out is viewed as two: the repetitions, and self's own. */
static cq_status repeat_run(cq_opcall *c)
{
    cq_tensor  *self = cq_arg_tensor(c, "self"), *out = cq_result_tensor(c, 0), *from = NULL;
    cq_geometry to = { .rank = 2 * (size_t)out->rank }, g = { .rank = to.rank };
    size_t      lead = out->rank - self->rank;
    cq_status   status;

    if (to.rank > CQ_MAX_RANK)
        return cq_call_fail(c, CQ_E_UNSUPPORTED, "repeats at most %d dimensions", CQ_MAX_RANK / 2);
    for (size_t i = 0; i < out->rank; i++) {
        cq_int own = i < lead ? cq_i(1) : self->sizes[i - lead];

        g.sizes[2 * i]        = cq_i(own.value ? out->sizes[i].value / own.value : 0);
        g.sizes[2 * i + 1]    = own;
        g.strides[2 * i]      = 0;
        g.strides[2 * i + 1]  = i < lead ? 0 : self->strides[i - lead];
        to.sizes[2 * i]       = g.sizes[2 * i];
        to.sizes[2 * i + 1]   = own;
        to.strides[2 * i]     = own.value * out->strides[i];
        to.strides[2 * i + 1] = out->strides[i];
    }
    CQ_TRY(cq_tensor_new_view(&from, self, self->dtype, g.rank, g.sizes, g.strides, self->offset));
    status = cq_geometry_write(out, &to, from);
    cq_tensor_release(from);
    return status;
}

/* ---- grids ---- */

/* Rows and columns of the elements below (or above) a diagonal, in row-major order. */
static cq_status triangle_of(cq_opcall *c, int64_t *columns)
{
    bool       lower = strcmp(c->op->schema->name, "aten::tril_indices") == 0;
    int64_t    rows = cq_arg_i64(c, "row"), cols = cq_arg_i64(c, "col"), at = 0;
    int64_t    offset = cq_arg_i64(c, "offset");
    cq_tensor *out    = columns ? cq_result_tensor(c, 0) : NULL;
    cq_dtype   dtype  = cq_arg_dtype(c, "dtype", CQ_DTYPE_I64);

    if (rows < 0 || cols < 0 || rows > INT32_MAX || cols > INT32_MAX ||
        (dtype != CQ_DTYPE_I64 && dtype != CQ_DTYPE_I32))
        return cq_call_fail(c, CQ_E_ARGUMENT,
                            "expected sizes from 0 to %d, and results of int32 or int64",
                            INT32_MAX);
    offset = offset < -rows ? -rows : offset > cols ? cols : offset;
    for (int64_t r = lower && offset < 0 ? -offset : 0; r < rows && cols; r++) {
        int64_t first = lower || r + offset < 0 ? 0 : r + offset;
        int64_t end   = lower && r + offset < cols ? r + offset + 1 : cols;

        if (first >= cols)
            break;
        for (int64_t k = first; k < end && out; k++) {
            if (dtype == CQ_DTYPE_I64) {
                ((int64_t *)cq_tensor_data(out))[at + k - first]            = r;
                ((int64_t *)cq_tensor_data(out))[*columns + at + k - first] = k;
            } else {
                ((int32_t *)cq_tensor_data(out))[at + k - first]            = (int32_t)r;
                ((int32_t *)cq_tensor_data(out))[*columns + at + k - first] = (int32_t)k;
            }
        }
        at += end - first;
    }
    if (!out)
        cq_result(c, 0, dtype, 2, (cq_int[]){ cq_i(2), cq_i(at) });
    return c->cx->status;
}

static cq_status triangle_shape(cq_opcall *c)
{
    return triangle_of(c, NULL);
}

static cq_status triangle_run(cq_opcall *c)
{
    int64_t columns = cq_result_tensor(c, 0)->sizes[1].value;

    return triangle_of(c, &columns);
}

const cq_op_def cq_ops_join[] = {
    CQ_KERNEL("aten::cat(Tensor[] tensors, int dim=0) -> Tensor", "concatenation along a dimension",
              cat_shape, cat_run),
    CQ_KERNEL("aten::repeat(Tensor self, SymInt[] repeats) -> Tensor",
              "the tensor repeated along each dimension", repeat_shape, repeat_run),
    CQ_KERNEL("aten::tril_indices(int row, int col, int offset=0, *, ScalarType? dtype=4, Layout? "
              "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
              "indices of the lower triangle of a matrix", triangle_shape, triangle_run),
    CQ_KERNEL("aten::triu_indices(int row, int col, int offset=0, *, ScalarType? dtype=4, Layout? "
              "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
              "indices of the upper triangle of a matrix", triangle_shape, triangle_run),
    { 0 },
};
