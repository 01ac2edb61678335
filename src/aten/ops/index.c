/* Reads and writes tensors at indices given by other tensors. Operators that depend on masks and
 * values (masked_select, nonzero, unique …) are in select.c; the kernels are in kernel/index.h. */
#include "aten/ops/elementwise.h"
#include "aten/ops/geometry.h"
#include "aten/ops/select.h"
#include "kernel/index.h"

/* ---- x[a, :, mask] ---- */

static bool is_mask(const cq_tensor *t)
{
    return t->dtype == CQ_DTYPE_BOOL || t->dtype == CQ_DTYPE_U8;
}

static bool is_index(const cq_tensor *t)
{
    return t->dtype == CQ_DTYPE_I64 || t->dtype == CQ_DTYPE_I32;
}

typedef struct joint {
    uint64_t indexed; /* dimensions of self that an index replaces */
    size_t   rank;    /* of the indices, broadcast */
    cq_int   sizes[CQ_MAX_RANK];
} joint;

static cq_status join_index(cq_opcall *c, joint *j, size_t rank, const cq_int *sizes)
{
    cq_int so_far[CQ_MAX_RANK];

    memcpy(so_far, j->sizes, j->rank * sizeof *so_far);
    return cq_broadcast(c, &j->rank, j->sizes, j->rank, so_far, rank, sizes);
}

static cq_status join_indices(cq_opcall *c, joint *j, const cq_tensor *self)
{
    size_t dim = 0, n = cq_arg_n_tensors(c, "indices");

    for (size_t k = 0; k < n; k++) {
        cq_tensor *t    = cq_arg_tensor_at(c, "indices", k);
        size_t     dims = t && is_mask(t) ? t->rank : 1;
        cq_int     count;

        if (dim + dims > self->rank || dims == 0)
            return cq_call_fail(c, CQ_E_ARGUMENT, "too many indices for a tensor of %u dimensions",
                                (unsigned)self->rank);
        for (size_t i = 0; t && i < dims; i++)
            j->indexed |= (uint64_t)1 << (dim + i);
        if (t && is_mask(t)) {
            for (size_t i = 0; i < dims; i++)
                if (t->sizes[i].value != self->sizes[dim + i].value)
                    return cq_call_fail(
                        c, CQ_E_ARGUMENT, "a mask has size %lld where the tensor has %lld",
                        (long long)t->sizes[i].value, (long long)self->sizes[dim + i].value);
            CQ_TRY(cq_count_true(&count, c, t, 1));
            CQ_TRY(join_index(c, j, 1, &count));
        } else if (t && !is_index(t)) {
            return cq_call_fail(c, CQ_E_ARGUMENT,
                                "an index should be int64, int32, bool or uint8, not %s",
                                cq_dtype_name(t->dtype));
        } else if (t) {
            CQ_TRY(join_index(c, j, t->rank, t->sizes));
        }
        dim += dims;
    }
    return CQ_OK;
}

/* The dimensions of the indices replace the first indexed dimension; if the indexed dimensions are
 * not adjacent, they come first. */
static cq_status index_shape(cq_opcall *c)
{
    cq_tensor *self = cq_arg_tensor(c, "self");
    joint      j    = { 0 };
    cq_int     sizes[2 * CQ_MAX_RANK];
    size_t     rank = 0, first = 0;
    uint64_t   run;

    CQ_TRY(join_indices(c, &j, self));
    if (!j.indexed)
        return cq_call_fail(c, CQ_E_ARGUMENT, "expected at least one index");
    run = j.indexed >> __builtin_ctzll(j.indexed);
    if ((run & (run + 1)) == 0)
        first = (size_t)__builtin_ctzll(j.indexed);
    for (size_t i = 0; i <= self->rank; i++) {
        if (rank == first && (i == self->rank || (j.indexed >> i & 1) || first == 0) &&
            j.rank < CQ_MAX_RANK) {
            memcpy(sizes + rank, j.sizes, j.rank * sizeof *sizes);
            rank += j.rank;
            first = SIZE_MAX;
        }
        if (i < self->rank && !(j.indexed >> i & 1))
            sizes[rank++] = self->sizes[i];
    }
    return cq_result(c, 0, self->dtype, rank, sizes);
}

static cq_status plan_of(cq_opcall *c, cq_index_plan *plan, const cq_tensor *self)
{
    const cq_tensor *indices[CQ_MAX_RANK];
    size_t           n = cq_arg_n_tensors(c, "indices");

    if (n > CQ_MAX_RANK)
        return cq_call_fail(c, CQ_E_ARGUMENT, "got %zu indices, at most %d are possible", n,
                            CQ_MAX_RANK);
    for (size_t k = 0; k < n; k++)
        indices[k] = cq_arg_tensor_at(c, "indices", k);
    return cq_index_plan_init(plan, self, indices, n);
}

static cq_status index_run(cq_opcall *c)
{
    cq_tensor    *self = cq_arg_tensor(c, "self");
    cq_index_plan plan;
    cq_status     status;

    CQ_TRY(plan_of(c, &plan, self));
    status = cq_kernel_index_get(cq_result_tensor(c, 0), self, &plan);
    cq_index_plan_clear(&plan);
    return status;
}

static cq_status index_put_shape(cq_opcall *c)
{
    cq_tensor *self = cq_arg_tensor(c, "self"), *values = cq_arg_tensor(c, "values");
    joint      j = { 0 };

    if (self->dtype != values->dtype)
        return cq_call_fail(c, CQ_E_TYPE, "cannot put %s values into a %s tensor",
                            cq_dtype_name(values->dtype), cq_dtype_name(self->dtype));
    CQ_TRY(join_indices(c, &j, self));
    return cq_shape_of_self(c);
}

static cq_status index_put_run(cq_opcall *c)
{
    cq_tensor    *out = cq_result_tensor(c, 0);
    cq_combine    how = cq_arg_bool(c, "accumulate") ? CQ_COMBINE_ADD : CQ_COMBINE_SET;
    cq_index_plan plan;
    cq_status     status;

    CQ_TRY(cq_tensor_copy_into(out, cq_arg_tensor(c, "self")));
    CQ_TRY(plan_of(c, &plan, out));
    status = cq_kernel_index_put(out, &plan, cq_arg_tensor(c, "values"), how);
    cq_index_plan_clear(&plan);
    return status;
}

/* ---- along one dimension ---- */

static size_t dim_of(cq_opcall *c)
{
    return (size_t)cq_arg_dim(c, "dim", cq_arg_tensor(c, "self")->rank);
}

static cq_status check_index(const cq_opcall *c, const cq_tensor *index, size_t max_rank)
{
    if (!is_index(index))
        return cq_call_fail(c, CQ_E_TYPE, "an index should be int64 or int32, not %s",
                            cq_dtype_name(index->dtype));
    if (index->rank > max_rank)
        return cq_call_fail(c, CQ_E_ARGUMENT, "an index should have at most %zu dimensions, not %u",
                            max_rank, (unsigned)index->rank);
    return CQ_OK;
}

static cq_status index_select_shape(cq_opcall *c)
{
    cq_tensor *self = cq_arg_tensor(c, "self"), *index = cq_arg_tensor(c, "index");
    size_t     dim = dim_of(c);
    cq_int     sizes[CQ_MAX_RANK];

    CQ_TRY(check_index(c, index, 1));
    if (!self->rank && cq_tensor_numel(index) != 1)
        return cq_call_fail(c, CQ_E_ARGUMENT, "a tensor without dimensions has one element");
    memcpy(sizes, self->sizes, self->rank * sizeof *sizes);
    if (self->rank)
        sizes[dim] = index->rank ? index->sizes[0] : cq_i(1);
    return cq_result(c, 0, self->dtype, self->rank, sizes);
}

/* A view of t with n dimensions, where one of the two has none and the other's are 1. */
static cq_status with_rank(cq_tensor **out, cq_tensor *t, size_t n)
{
    cq_int  one    = cq_i(1);
    int64_t stride = 1;

    if (t->rank == n) {
        *out = cq_tensor_retain(t);
        return CQ_OK;
    }
    return cq_tensor_new_view(out, t, t->dtype, n, &one, &stride, t->offset);
}

static cq_status index_select_run(cq_opcall *c)
{
    cq_tensor *self = cq_arg_tensor(c, "self"), *index = cq_arg_tensor(c, "index");
    cq_tensor *out = cq_result_tensor(c, 0), *row = NULL;
    cq_status  status;

    CQ_TRY(cq_check_not_negative(c, index));
    if (!self->rank)
        return cq_tensor_copy_into(out, self);
    CQ_TRY(with_rank(&row, index, 1));
    status = cq_kernel_index_select(out, self, (uint32_t)dim_of(c), row);
    cq_tensor_release(row);
    return status;
}

/* A copy of self in which the slices that index names are combined with src. */
static cq_status write_slices(cq_opcall *c, const cq_tensor *src, cq_combine how)
{
    cq_tensor *out = cq_result_tensor(c, 0), *to = NULL, *row = NULL;
    cq_status  status;

    CQ_TRY(cq_tensor_copy_into(out, cq_arg_tensor(c, "self")));
    CQ_TRY(with_rank(&to, out, out->rank ? out->rank : 1));
    status = with_rank(&row, cq_arg_tensor(c, "index"), 1);
    if (status == CQ_OK)
        status = cq_kernel_index_write(to, (uint32_t)dim_of(c), row, src, how);
    cq_tensor_release(to);
    cq_tensor_release(row);
    return status;
}

static cq_status index_fill_shape(cq_opcall *c)
{
    dim_of(c);
    CQ_TRY(check_index(c, cq_arg_tensor(c, "index"), 1));
    if (cq_arg_val(c, "value").kind == CQ_VAL_TENSOR && cq_arg_tensor(c, "value")->rank)
        return cq_call_fail(c, CQ_E_ARGUMENT, "the value should have no dimensions");
    return cq_shape_of_self(c);
}

static cq_status index_fill_run(cq_opcall *c)
{
    cq_dtype   dtype = cq_result_tensor(c, 0)->dtype;
    cq_tensor *value = cq_operand_tensor(c, cq_arg_val(c, "value"), dtype), *same = NULL;
    cq_status  status;

    if (!value)
        return c->cx->status;
    CQ_TRY(cq_tensor_clone(&same, value, dtype));
    status = write_slices(c, same, CQ_COMBINE_SET);
    cq_tensor_release(same);
    return status;
}

static cq_status index_add_run(cq_opcall *c);

/* Slices with fewer dimensions than those of self, to which they are broadcast. */
static cq_status check_low_source(cq_opcall *c, const cq_tensor *self, const cq_tensor *source)
{
    cq_int sizes[CQ_MAX_RANK];
    size_t rank;

    CQ_TRY(cq_broadcast(c, &rank, sizes, self->rank - 1, self->sizes + 1, source->rank - 1,
                        source->sizes + 1));
    for (size_t i = 0; i < rank; i++)
        if (sizes[i].value != self->sizes[i + 1].value)
            return cq_call_fail(c, CQ_E_ARGUMENT, "slices of source do not fit into those of self");
    return cq_shape_of_self(c);
}

/* Only index_add broadcasts slices of source. */
static cq_status index_source_shape(cq_opcall *c)
{
    bool       broadcasts = c->op->def->run == index_add_run;
    cq_tensor *self = cq_arg_tensor(c, "self"), *source = cq_arg_tensor(c, "source");
    cq_tensor *index = cq_arg_tensor(c, "index");
    size_t     dim   = dim_of(c);
    cq_int     n     = source->rank ? source->sizes[source->rank == self->rank ? dim : 0] : cq_i(1);

    CQ_TRY(check_index(c, index, 1));
    if (self->dtype != source->dtype)
        return cq_call_fail(c, CQ_E_TYPE, "self is %s but source is %s", cq_dtype_name(self->dtype),
                            cq_dtype_name(source->dtype));
    if (cq_tensor_numel(index) != n.value)
        return cq_call_fail(c, CQ_E_ARGUMENT, "%lld indices for %lld slices of source",
                            (long long)cq_tensor_numel(index), (long long)n.value);
    if (broadcasts && dim == 0 && source->rank > 1 && source->rank < self->rank)
        return check_low_source(c, self, source);
    for (size_t i = 0; i < self->rank && source->rank == self->rank; i++)
        if (i != dim && self->sizes[i].value != source->sizes[i].value &&
            !(broadcasts && cq_int_is(source->sizes[i], 1)))
            return cq_call_fail(
                c, CQ_E_ARGUMENT, "source has size %lld in dimension %zu, expected %lld",
                (long long)source->sizes[i].value, i, (long long)self->sizes[i].value);
    return cq_shape_of_self(c);
}

/* source in the sizes of self, but for dim. Release it. */
static cq_status wide_source(cq_opcall *c, cq_tensor **out)
{
    cq_tensor *self = cq_arg_tensor(c, "self"), *source = cq_arg_tensor(c, "source");
    cq_int     sizes[CQ_MAX_RANK];
    int64_t    strides[CQ_MAX_RANK];

    size_t dim = dim_of(c), rank = source->rank > 1 ? self->rank : source->rank;

    for (size_t i = 0; i < rank; i++) {
        size_t lack = rank - source->rank, at = i > dim && i >= lack ? i - lack : i;
        bool   is_new = lack && i > dim && i <= dim + lack;
        bool   wider  = i != dim && (is_new || (source->rank > 1 && source->sizes[at].value == 1));

        sizes[i]   = wider ? self->sizes[i] : source->sizes[at];
        strides[i] = wider ? 0 : source->strides[at];
    }
    return cq_tensor_new_view(out, source, source->dtype, rank, sizes, strides, source->offset);
}

static cq_status index_add_run(cq_opcall *c)
{
    cq_tensor *source, *scaled = NULL, *alpha;
    cq_status  status;

    CQ_TRY(cq_check_not_negative(c, cq_arg_tensor(c, "index")));
    alpha = cq_operand_tensor(c, cq_arg_val(c, "alpha"), cq_arg_tensor(c, "source")->dtype);
    if (!alpha)
        return c->cx->status;
    CQ_TRY(wide_source(c, &source));
    if (cq_arg_f64(c, "alpha") == 1) {
        status = write_slices(c, source, CQ_COMBINE_ADD);
    } else {
        status = cq_tensor_clone(&scaled, source, source->dtype);
        if (status == CQ_OK)
            status = cq_apply2(scaled, CQ_EW_MUL, NULL, source->dtype, source, alpha);
        if (status == CQ_OK)
            status = write_slices(c, scaled, CQ_COMBINE_ADD);
    }
    cq_tensor_release(scaled);
    cq_tensor_release(source);
    return status;
}

static cq_status index_copy_run(cq_opcall *c)
{
    CQ_TRY(cq_check_not_negative(c, cq_arg_tensor(c, "index")));
    return write_slices(c, cq_arg_tensor(c, "source"), CQ_COMBINE_SET);
}

/* ---- element by element along one dimension ---- */

/* index may be smaller than the other tensors, except along dim for src, and not larger
 * elsewhere. */
static cq_status check_corner(const cq_opcall *c, const cq_tensor *index, const cq_tensor *t,
                              int64_t but, const char *name)
{
    size_t rank = t->rank ? t->rank : 1, own = index->rank ? index->rank : 1;

    if (cq_tensor_numel(index) == 0)
        return CQ_OK;
    if (rank != own)
        return cq_call_fail(c, CQ_E_ARGUMENT, "index has %u dimensions but %s has %u",
                            (unsigned)index->rank, name, (unsigned)t->rank);
    for (size_t i = 0; i < index->rank && i < t->rank; i++)
        if ((int64_t)i != but && index->sizes[i].value > t->sizes[i].value)
            return cq_call_fail(
                c, CQ_E_ARGUMENT, "index has size %lld in dimension %zu but %s has only %lld",
                (long long)index->sizes[i].value, i, name, (long long)t->sizes[i].value);
    return CQ_OK;
}

static cq_status gather_shape(cq_opcall *c)
{
    cq_tensor *self = cq_arg_tensor(c, "self"), *index = cq_arg_tensor(c, "index");

    CQ_TRY(check_index(c, index, CQ_MAX_RANK));
    CQ_TRY(check_corner(c, index, self, (int64_t)dim_of(c), "self"));
    return cq_result_like(c, 0, index, self->dtype);
}

static cq_status gather_run(cq_opcall *c)
{
    cq_tensor *self = cq_arg_tensor(c, "self"), *index = cq_arg_tensor(c, "index");
    cq_tensor *out = cq_result_tensor(c, 0);

    CQ_TRY(cq_check_not_negative(c, index));
    if (cq_tensor_numel(index) == 0)
        return CQ_OK;
    return cq_kernel_gather(out, self, (uint32_t)dim_of(c), index);
}

static cq_status scatter_shape(cq_opcall *c)
{
    cq_tensor *self = cq_arg_tensor(c, "self"), *index = cq_arg_tensor(c, "index");
    bool       from_tensor = cq_schema_find(c->op->schema, "src") >= 0;

    CQ_TRY(check_index(c, index, CQ_MAX_RANK));
    CQ_TRY(check_corner(c, index, self, (int64_t)dim_of(c), "self"));
    if (from_tensor) {
        cq_tensor *src = cq_arg_tensor(c, "src");

        CQ_TRY(check_corner(c, index, src, -1, "src"));
        if (src->dtype != self->dtype)
            return cq_call_fail(c, CQ_E_TYPE, "self is %s but src is %s",
                                cq_dtype_name(self->dtype), cq_dtype_name(src->dtype));
    }
    return cq_shape_of_self(c);
}

static cq_status scatter_into(cq_opcall *c, cq_combine how, bool with_self)
{
    cq_tensor *out = cq_result_tensor(c, 0), *index = cq_arg_tensor(c, "index"), *src;

    CQ_TRY(cq_tensor_copy_into(out, cq_arg_tensor(c, "self")));
    if (cq_tensor_numel(index) == 0)
        return CQ_OK;
    CQ_TRY(cq_check_not_negative(c, index));
    src = cq_schema_find(c->op->schema, "src") >= 0
              ? cq_arg_tensor(c, "src")
              : cq_operand_tensor(c, cq_arg_val(c, "value"), out->dtype);
    return src ? cq_kernel_scatter(out, (uint32_t)dim_of(c), index, src, how, with_self)
               : c->cx->status;
}

static cq_status scatter_run(cq_opcall *c)
{
    return scatter_into(c, CQ_COMBINE_SET, true);
}

static cq_status scatter_add_run(cq_opcall *c)
{
    return scatter_into(c, CQ_COMBINE_ADD, true);
}

static cq_status combine_of(cq_opcall *c, cq_combine *how)
{
    static const struct {
        const char *name;
        cq_combine  how;
    } names[]          = { { "add", CQ_COMBINE_ADD },   { "multiply", CQ_COMBINE_MUL },
                           { "sum", CQ_COMBINE_ADD },   { "prod", CQ_COMBINE_MUL },
                           { "mean", CQ_COMBINE_MEAN }, { "amax", CQ_COMBINE_MAX },
                           { "amin", CQ_COMBINE_MIN } };
    const char *reduce = cq_arg_str(c, "reduce", "");

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i].name, reduce) == 0) {
            *how = names[i].how;
            return CQ_OK;
        }
    return cq_call_fail(c, CQ_E_ARGUMENT, "\"%s\" is not a way to reduce", reduce);
}

static cq_status scatter_reduce_shape(cq_opcall *c)
{
    cq_combine how;

    CQ_TRY(combine_of(c, &how));
    return scatter_shape(c);
}

static cq_status scatter_reduce_run(cq_opcall *c)
{
    cq_combine how;

    CQ_TRY(combine_of(c, &how));
    return scatter_into(c, how,
                        cq_schema_find(c->op->schema, "include_self") < 0 ||
                            cq_arg_bool(c, "include_self"));
}

/* ---- linear indices ---- */

static cq_status take_shape(cq_opcall *c)
{
    cq_tensor *index = cq_arg_tensor(c, "index");

    if (index->dtype != CQ_DTYPE_I64)
        return cq_call_fail(c, CQ_E_TYPE, "an index should be int64, not %s",
                            cq_dtype_name(index->dtype));
    return cq_result_like(c, 0, index, cq_arg_tensor(c, "self")->dtype);
}

static cq_status take_run(cq_opcall *c)
{
    return cq_kernel_take(cq_result_tensor(c, 0), cq_arg_tensor(c, "self"),
                          cq_arg_tensor(c, "index"));
}

const cq_op_def cq_ops_index[] = {
    CQ_KERNEL("aten::index.Tensor(Tensor self, Tensor?[] indices) -> Tensor",
              "elements at the indices in tensors", index_shape, index_run),
    CQ_KERNEL("aten::index.Tensor_hacked_twin(Tensor self, Tensor[] indices) -> Tensor",
              "elements at the indices in tensors", index_shape, index_run),
    CQ_KERNEL(
        "aten::index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> "
        "Tensor",
        "a copy with new elements at the indices in tensors", index_put_shape, index_put_run),
    CQ_KERNEL("aten::index_put.hacked_twin(Tensor self, Tensor[] indices, Tensor values, bool "
              "accumulate=False) -> Tensor",
              "a copy with new elements at the indices in tensors", index_put_shape, index_put_run),
    CQ_KERNEL("aten::_index_put_impl(Tensor self, Tensor?[] indices, Tensor values, bool "
              "accumulate=False, bool unsafe=False) -> Tensor",
              "the internal operator of index_put", index_put_shape, index_put_run),
    CQ_KERNEL("aten::index_select(Tensor self, int dim, Tensor index) -> Tensor",
              "slices along a dimension at indices", index_select_shape, index_select_run),
    CQ_KERNEL(
        "aten::index_fill.int_Scalar(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
        "a copy with slices set to a value", index_fill_shape, index_fill_run),
    CQ_KERNEL(
        "aten::index_fill.int_Tensor(Tensor self, int dim, Tensor index, Tensor value) -> Tensor",
        "a copy with slices set to a value", index_fill_shape, index_fill_run),
    CQ_KERNEL(
        "aten::index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> "
        "Tensor",
        "a copy with source added to slices", index_source_shape, index_add_run),
    CQ_KERNEL("aten::index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor",
              "a copy with slices from source", index_source_shape, index_copy_run),
    CQ_KERNEL(
        "aten::gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor",
        "elements selected by index along a dimension", gather_shape, gather_run),
    CQ_KERNEL("aten::scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
              "a copy with a value at the indices in index", scatter_shape, scatter_run),
    CQ_KERNEL("aten::scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
              "a copy with elements of src at the indices in index", scatter_shape, scatter_run),
    CQ_KERNEL(
        "aten::scatter.reduce(Tensor self, int dim, Tensor index, Tensor src, *, str reduce) -> "
        "Tensor",
        "a copy with src added to or multiplied with elements", scatter_reduce_shape,
        scatter_reduce_run),
    CQ_KERNEL("aten::scatter.value_reduce(Tensor self, int dim, Tensor index, Scalar value, *, str "
              "reduce) -> Tensor",
              "a copy with a value added to or multiplied with elements", scatter_reduce_shape,
              scatter_reduce_run),
    CQ_KERNEL("aten::scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
              "a copy with src added at the indices in index", scatter_shape, scatter_add_run),
    CQ_KERNEL(
        "aten::scatter_reduce.two(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, "
        "bool include_self=True) -> Tensor",
        "a copy with src reduced into the elements that index selects", scatter_reduce_shape,
        scatter_reduce_run),
    CQ_KERNEL("aten::take(Tensor self, Tensor index) -> Tensor",
              "elements by their row-major index", take_shape, take_run),
    { 0 },
};
