/* Tensors put together or repeated: cat and its relatives, repeat, grids. What
 * only moves elements is in shuffle.c, padding in pad.c. */
#include "aten/geometry.h"

/* ---- cat ---- */

/* PyTorch leaves out tensors of shape [0], whatever the others are. */
static bool counts_in_cat(const cq_tensor *t)
{
    return !(t->rank == 1 && cq_int_is(t->sizes[0], 0));
}

/* Two sizes that must be equal: of a number and a symbol the number says more. */
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
                                    "tensor %zu has size %lld in dimension %zu, want %lld", k,
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
        return cq_call_fail(c, CQ_E_ARGUMENT, "wants at least one tensor");
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
        cq_result(c, 0, cq_result_type(items, n), 1, (cq_int[]){ cq_i(0) });
        return c->cx->status;
    }
    dim = (size_t)cq_arg_dim(c, "dim", first->rank);
    CQ_TRY(cat_sizes(c, first, dim, n, sizes));
    cq_result(c, 0, cq_result_type(items, n), first->rank, sizes);
    return c->cx->status;
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

static cq_status concat_compose(cq_opcall *c)
{
    cq_result_set_tensor(c, 0, CQ_OP(c->cx, "aten::cat", c->args[0], c->args[1]));
    return c->cx->status;
}

/* ---- relatives of cat: the tensors are first given the dimensions they need ---- */

typedef cq_tensor *prepare_fn(cq_opcall *c, cq_tensor *t, int64_t dim);

static cq_status cat_prepared(cq_opcall *c, prepare_fn *prepare, int64_t prepare_dim, int64_t dim)
{
    size_t      n     = cq_arg_n_tensors(c, "tensors");
    cq_tensor **items = cq_alloc_array(n, sizeof *items);

    if (!items)
        return CQ_E_NO_MEMORY;
    for (size_t k = 0; k < n; k++)
        items[k] = prepare(c, cq_arg_tensor_at(c, "tensors", k), prepare_dim);
    if (c->cx->status == CQ_OK)
        cq_result_set_tensor(c, 0, CQ_OP(c->cx, "aten::cat", cq_tensors(c->cx, items, n), I(dim)));
    cq_free(items);
    return c->cx->status;
}

static cq_tensor *unsqueezed(cq_opcall *c, cq_tensor *t, int64_t dim)
{
    return CQ_OP(c->cx, "aten::unsqueeze", T(t), I(dim));
}

/* t with at least this many dimensions, as numpy's atleast functions add them. */
static cq_tensor *at_least(cq_opcall *c, cq_tensor *t, int64_t rank)
{
    if (t && t->rank == 0)
        t = unsqueezed(c, t, 0);
    if (t && t->rank == 1 && rank >= 2)
        t = unsqueezed(c, t, 0);
    if (t && t->rank == 2 && rank >= 3)
        t = unsqueezed(c, t, 2);
    return t;
}

static cq_tensor *as_column(cq_opcall *c, cq_tensor *t, int64_t rank)
{
    (void)rank;
    return t && t->rank <= 1
               ? CQ_OP(c->cx, "aten::reshape", T(t), cq_i64s(c->cx, (int64_t[]){ -1, 1 }, 2))
               : t;
}

static cq_status stack_compose(cq_opcall *c)
{
    cq_tensor *first = cq_arg_tensor_at(c, "tensors", 0);
    int64_t    dim;

    if (!first)
        return cq_call_fail(c, CQ_E_ARGUMENT, "wants at least one tensor");
    for (size_t k = 1; k < cq_arg_n_tensors(c, "tensors"); k++) {
        const cq_tensor *t    = cq_arg_tensor_at(c, "tensors", k);
        bool             same = t && t->rank == first->rank;

        for (size_t i = 0; same && i < t->rank; i++)
            same = t->sizes[i].value == first->sizes[i].value;
        if (!same)
            return cq_call_fail(c, CQ_E_ARGUMENT, "tensor %zu has not the sizes of the first", k);
    }
    dim = cq_arg_dim(c, "dim", (size_t)first->rank + 1);
    return cat_prepared(c, unsqueezed, dim, dim);
}

static cq_status hstack_compose(cq_opcall *c)
{
    cq_tensor *first = cq_arg_tensor_at(c, "tensors", 0);

    return cat_prepared(c, at_least, 1, first && first->rank > 1);
}

static cq_status vstack_compose(cq_opcall *c)
{
    return cat_prepared(c, at_least, 2, 0);
}

static cq_status dstack_compose(cq_opcall *c)
{
    return cat_prepared(c, at_least, 3, 2);
}

static cq_status column_stack_compose(cq_opcall *c)
{
    return cat_prepared(c, as_column, 0, 1);
}

static int64_t rank_in_name(const cq_opcall *c)
{
    return strstr(c->op->schema->name, "1d") ? 1 : strstr(c->op->schema->name, "2d") ? 2 : 3;
}

static cq_status at_least_compose(cq_opcall *c)
{
    cq_tensor *self = cq_arg_tensor(c, "self"), *t = at_least(c, self, rank_in_name(c));

    cq_result_set_tensor(c, 0, t == self ? cq_keep(c->cx, self) : t);
    return c->cx->status;
}

/* A list of as many tensors as the argument, each made by make. */
static cq_status each_tensor(cq_opcall *c, prepare_fn *make, int64_t number)
{
    size_t      n     = cq_arg_n_tensors(c, "tensors");
    cq_tensor **items = cq_alloc_array(n, sizeof *items);

    if (!items)
        return CQ_E_NO_MEMORY;
    for (size_t k = 0; k < n; k++)
        items[k] = make(c, cq_arg_tensor_at(c, "tensors", k), number);
    if (c->cx->status == CQ_OK)
        cq_result_set_tensors(c, 0, items, n);
    cq_free(items);
    return c->cx->status;
}

static cq_status at_least_each_compose(cq_opcall *c)
{
    return each_tensor(c, at_least, rank_in_name(c));
}

/* Matrices along the diagonal of one that is otherwise 0. */
static cq_status block_diag_compose(cq_opcall *c)
{
    size_t      n      = cq_arg_n_tensors(c, "tensors");
    cq_dtype    dtype  = n ? cq_result_type(c->args[0].u.list->items, n) : CQ_DTYPE_F32;
    cq_int      before = cq_i(0), all = cq_i(0);
    cq_tensor **rows = cq_alloc_array(n, sizeof *rows);

    if (!rows)
        return CQ_E_NO_MEMORY;
    for (size_t k = 0; k < n && c->cx->status == CQ_OK; k++) {
        rows[k] = at_least(c, cq_arg_tensor_at(c, "tensors", k), 2);
        if (rows[k] && rows[k]->rank != 2)
            cq_ctx_fail(c->cx, cq_call_fail(c, CQ_E_ARGUMENT, "tensor %zu is no matrix", k));
        else if (rows[k])
            all = cq_size_add(c, all, rows[k]->sizes[1]);
    }
    for (size_t k = 0; k < n && c->cx->status == CQ_OK; k++) {
        cq_int columns = rows[k]->sizes[1];
        cq_int pads[2] = { before, cq_size_sub(c, cq_size_sub(c, all, before), columns) };

        rows[k] = CQ_OP(c->cx, "aten::to.dtype", T(rows[k]), DTYPE(dtype));
        rows[k] = CQ_OP(c->cx, "aten::constant_pad_nd", T(rows[k]), cq_ints(c->cx, pads, 2));
        before  = cq_size_add(c, before, columns);
    }
    if (c->cx->status == CQ_OK)
        cq_result_set_tensor(c, 0, CQ_OP(c->cx, "aten::cat", cq_tensors(c->cx, rows, n), I(0)));
    cq_free(rows);
    return c->cx->status;
}

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
            return cq_call_fail(c, CQ_E_ARGUMENT, "cannot repeat %lld times",
                                (long long)sizes[i].value);
        if (i >= n - self->rank)
            sizes[i] = cq_size_mul(c, sizes[i], self->sizes[i - (n - self->rank)]);
    }
    cq_result(c, 0, self->dtype, n, sizes);
    return c->cx->status;
}

/* Every dimension of out is looked at as two: how often, and self's own. */
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

static cq_status tile_compose(cq_opcall *c)
{
    cq_tensor *self = cq_arg_tensor(c, "self");
    cq_int     given[CQ_MAX_RANK], all[CQ_MAX_RANK];
    size_t     n    = cq_arg_ints(c, "dims", given, CQ_MAX_RANK);
    size_t     rank = n > self->rank ? n : self->rank;

    for (size_t i = 0; i < rank; i++)
        all[i] = i < rank - n ? cq_i(1) : given[i - (rank - n)];
    cq_result_set_tensor(c, 0, CQ_OP(c->cx, "aten::repeat", T(self), cq_ints(c->cx, all, rank)));
    return c->cx->status;
}

/* Each element several times in a row: a new dimension that is expanded and joined. */
static cq_status repeat_interleave_compose(cq_opcall *c)
{
    cq_tensor *self    = cq_arg_tensor(c, "self");
    cq_int     repeats = cq_arg_int(c, "repeats"), sizes[CQ_MAX_RANK + 1];
    int        dim;
    size_t     rank;

    if (repeats.value < 0)
        return cq_call_fail(c, CQ_E_ARGUMENT, "cannot repeat %lld times", (long long)repeats.value);
    if (cq_arg_is_none(c, "dim") || !self->rank)
        self = CQ_OP(c->cx, "aten::reshape", T(self), cq_i64s(c->cx, (int64_t[]){ -1 }, 1));
    if (!self)
        return c->cx->status;
    dim  = cq_arg_is_none(c, "dim") ? 0 : cq_arg_dim(c, "dim", self->rank);
    rank = self->rank;
    for (size_t i = 0; i <= rank; i++)
        sizes[i] = i <= (size_t)dim       ? self->sizes[i]
                   : i == (size_t)dim + 1 ? repeats
                                          : self->sizes[i - 1];
    self = CQ_OP(c->cx, "aten::unsqueeze", T(self), I(dim + 1));
    self = CQ_OP(c->cx, "aten::expand", T(self), cq_ints(c->cx, sizes, rank + 1));
    self = CQ_OP(c->cx, "aten::clone", T(self), I(0));
    cq_result_set_tensor(c, 0,
                         CQ_OP(c->cx, "aten::flatten.using_ints", T(self), I(dim), I(dim + 1)));
    return c->cx->status;
}

/* ---- grids ---- */

static cq_status broadcast_tensors_compose(cq_opcall *c)
{
    size_t      n = cq_arg_n_tensors(c, "tensors"), rank = 0;
    cq_int      sizes[CQ_MAX_RANK];
    cq_tensor **items  = cq_alloc_array(n, sizeof *items);
    cq_status   status = items ? CQ_OK : CQ_E_NO_MEMORY;

    for (size_t k = 0; k < n && status == CQ_OK; k++) {
        cq_tensor *t = cq_arg_tensor_at(c, "tensors", k);
        cq_int     so_far[CQ_MAX_RANK];

        memcpy(so_far, sizes, rank * sizeof *sizes);
        status = cq_broadcast(c, &rank, sizes, rank, so_far, t->rank, t->sizes);
    }
    for (size_t k = 0; k < n && status == CQ_OK; k++)
        items[k] = CQ_OP(c->cx, "aten::expand", T(cq_arg_tensor_at(c, "tensors", k)),
                         cq_ints(c->cx, sizes, rank));
    if (status == CQ_OK && c->cx->status == CQ_OK)
        cq_result_set_tensors(c, 0, items, n);
    cq_free(items);
    return status == CQ_OK ? c->cx->status : status;
}

/* The k-th of n vectors spread along dimension k of a grid. */
static cq_status meshgrid_of(cq_opcall *c, bool swapped)
{
    size_t     n = cq_arg_n_tensors(c, "tensors");
    cq_int     sizes[CQ_MAX_RANK], own[CQ_MAX_RANK];
    cq_tensor *items[CQ_MAX_RANK];

    if (n == 0 || n > CQ_MAX_RANK)
        return cq_call_fail(c, CQ_E_ARGUMENT, "wants 1 to %d tensors but got %zu", CQ_MAX_RANK, n);
    swapped = swapped && n >= 2;
    for (size_t k = 0; k < n; k++) {
        const cq_tensor *t = cq_arg_tensor_at(c, "tensors", k);

        if (t->rank > 1)
            return cq_call_fail(c, CQ_E_ARGUMENT, "tensor %zu has more than one dimension", k);
        sizes[swapped && k < 2 ? 1 - k : k] = t->rank ? t->sizes[0] : cq_i(1);
    }
    for (size_t k = 0; k < n; k++) {
        size_t at = swapped && k < 2 ? 1 - k : k;

        for (size_t i = 0; i < n; i++)
            own[i] = i == at ? sizes[at] : cq_i(1);
        items[k] = CQ_OP(c->cx, "aten::view", T(cq_arg_tensor_at(c, "tensors", k)),
                         cq_ints(c->cx, own, n));
        items[k] = CQ_OP(c->cx, "aten::expand", T(items[k]), cq_ints(c->cx, sizes, n));
    }
    if (c->cx->status == CQ_OK)
        cq_result_set_tensors(c, 0, items, n);
    return c->cx->status;
}

static cq_status meshgrid_compose(cq_opcall *c)
{
    return meshgrid_of(c, false);
}

static cq_status meshgrid_indexing_compose(cq_opcall *c)
{
    const char *indexing = cq_arg_str(c, "indexing", "ij");

    if (strcmp(indexing, "ij") != 0 && strcmp(indexing, "xy") != 0)
        return cq_call_fail(c, CQ_E_ARGUMENT, "indexing must be \"ij\" or \"xy\", not \"%s\"",
                            indexing);
    return meshgrid_of(c, indexing[0] == 'x');
}

/* Every combination of an element of each tensor, as rows. */
static cq_status cartesian_prod_compose(cq_opcall *c)
{
    size_t     n = cq_arg_n_tensors(c, "tensors");
    cq_val     grid[1];
    cq_tensor *columns[CQ_MAX_RANK];

    for (size_t k = 0; k < n; k++)
        if (cq_arg_tensor_at(c, "tensors", k)->rank != 1)
            return cq_call_fail(c, CQ_E_ARGUMENT, "tensor %zu should have one dimension", k);
    if (n == 1) {
        cq_result_set_tensor(c, 0, cq_keep(c->cx, cq_arg_tensor_at(c, "tensors", 0)));
        return c->cx->status;
    }
    CQ_TRY(cq_op_call(c->cx, cq_op_find("aten::meshgrid"), c->args, 1, grid, 1));
    for (size_t k = 0; k < n; k++)
        columns[k] = CQ_OP(c->cx, "aten::flatten.using_ints", grid[0].u.list->items[k]);
    cq_result_set_tensor(c, 0, CQ_OP(c->cx, "aten::stack", cq_tensors(c->cx, columns, n), I(1)));
    return c->cx->status;
}

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
                            "wants sizes from 0 to %d, and results of int32 or int64", INT32_MAX);
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

/* ---- rows ---- */

#define COMPOSED(schema_text, about_text, function)                                                \
    {                                                                                              \
        .schema = schema_text, .about = about_text, .compose = function                            \
    }
#define PARTS(schema_text, about_text, function)                                                   \
    {                                                                                              \
        .schema = schema_text, .about = about_text, .compose = function, .flags = CQ_OP_PARTS      \
    }

const cq_op_def cq_ops_join[] = {
    { .schema = "aten::cat(Tensor[] tensors, int dim=0) -> Tensor",
      .about  = "tensors one after the other along a dimension",
      .shape  = cat_shape,
      .run    = cat_run },
    COMPOSED("aten::concat(Tensor[] tensors, int dim=0) -> Tensor", "cat", concat_compose),
    COMPOSED("aten::concatenate(Tensor[] tensors, int dim=0) -> Tensor", "cat", concat_compose),
    COMPOSED("aten::stack(Tensor[] tensors, int dim=0) -> Tensor",
             "tensors of equal sizes along a new dimension", stack_compose),
    COMPOSED("aten::hstack(Tensor[] tensors) -> Tensor", "tensors side by side", hstack_compose),
    COMPOSED("aten::vstack(Tensor[] tensors) -> Tensor", "tensors below each other",
             vstack_compose),
    COMPOSED("aten::row_stack(Tensor[] tensors) -> Tensor", "tensors below each other",
             vstack_compose),
    COMPOSED("aten::dstack(Tensor[] tensors) -> Tensor", "tensors along the third dimension",
             dstack_compose),
    COMPOSED("aten::column_stack(Tensor[] tensors) -> Tensor", "vectors as columns side by side",
             column_stack_compose),
    PARTS("aten::atleast_1d(Tensor self) -> Tensor", "with at least 1 dimension", at_least_compose),
    PARTS("aten::atleast_1d.Sequence(Tensor[] tensors) -> Tensor[]", "with at least 1 dimension",
          at_least_each_compose),
    PARTS("aten::atleast_2d(Tensor self) -> Tensor", "with at least 2 dimensions",
          at_least_compose),
    PARTS("aten::atleast_2d.Sequence(Tensor[] tensors) -> Tensor[]", "with at least 2 dimensions",
          at_least_each_compose),
    PARTS("aten::atleast_3d(Tensor self) -> Tensor", "with at least 3 dimensions",
          at_least_compose),
    PARTS("aten::atleast_3d.Sequence(Tensor[] tensors) -> Tensor[]", "with at least 3 dimensions",
          at_least_each_compose),
    COMPOSED("aten::block_diag(Tensor[] tensors) -> Tensor", "matrices along a diagonal",
             block_diag_compose),
    { .schema = "aten::repeat(Tensor self, SymInt[] repeats) -> Tensor",
      .about  = "the whole several times along each dimension",
      .shape  = repeat_shape,
      .run    = repeat_run },
    COMPOSED("aten::tile(Tensor self, int[] dims) -> Tensor",
             "the whole several times along the last dimensions", tile_compose),
    COMPOSED("aten::repeat_interleave.self_int(Tensor self, int repeats, int? dim=None, *, int? "
             "output_size=None) -> Tensor",
             "each element several times in a row", repeat_interleave_compose),
    PARTS("aten::broadcast_tensors(Tensor[] tensors) -> Tensor[]",
          "all expanded to the sizes they have in common", broadcast_tensors_compose),
    PARTS("aten::meshgrid(Tensor[] tensors) -> Tensor[]", "vectors spread out to grids",
          meshgrid_compose),
    PARTS("aten::meshgrid.indexing(Tensor[] tensors, *, str indexing) -> Tensor[]",
          "vectors spread out to grids", meshgrid_indexing_compose),
    COMPOSED("aten::cartesian_prod(Tensor[] tensors) -> Tensor",
             "every combination of elements, as rows", cartesian_prod_compose),
    { .schema =
          "aten::tril_indices(int row, int col, int offset=0, *, ScalarType? dtype=4, Layout? "
          "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
      .about = "places of the lower triangle of a matrix",
      .shape = triangle_shape,
      .run   = triangle_run },
    { .schema =
          "aten::triu_indices(int row, int col, int offset=0, *, ScalarType? dtype=4, Layout? "
          "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
      .about = "places of the upper triangle of a matrix",
      .shape = triangle_shape,
      .run   = triangle_run },
    { 0 }
};
