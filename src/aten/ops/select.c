/* Selection by value: masks, nonzero elements, counts, rows of an embedding. */
#include "aten/ops/select.h"
#include "aten/ops/geometry.h"
#include "kernel/index.h"

/* The work is charged: a capture calls only the shape rule, which costs as much as the operator. */
cq_status cq_count_true(cq_int *out, cq_opcall *c, cq_tensor *t, int64_t times)
{
    enum { COUNTED = 16 }; /* in a step */
    int64_t    numel = cq_tensor_numel(t), n = 0;
    cq_tensor *data = t;
    bool       fake = cq_tensor_is_fake(t);

    *out = cq_i(0);
    if (fake && (!c->cx->listener || cq_call_data(c, &data, t) != CQ_OK)) {
        *out = cq_unknown_size(c, (numel + 1) / 2 * times);
        return CQ_OK;
    }
    if (c->cx->spend)
        CQ_TRY(c->cx->spend(c->cx->spender, (uint64_t)numel / COUNTED));
    CQ_TRY(cq_kernel_count_true(&n, data));
    *out = fake ? cq_unknown_size(c, n * times) : cq_i(n * times);
    return CQ_OK;
}

cq_status cq_check_not_negative(cq_opcall *c, const cq_tensor *index)
{
    int64_t n = cq_tensor_numel(index);

    for (int64_t i = 0; i < n; i++)
        if (cq_tensor_get_i64(index, i) < 0)
            return cq_call_fail(c, CQ_E_ARGUMENT, "index %lld is out of range",
                                (long long)cq_tensor_get_i64(index, i));
    return CQ_OK;
}

/* Makes a new tensor of a kernel result 0. */
static cq_status done(cq_opcall *c, cq_status status, cq_tensor **made)
{
    if (status == CQ_OK)
        cq_result_set(c, 0, cq_ctx_own(c->cx, cq_val_of_tensor(*made)));
    return status == CQ_OK ? c->cx->status : status;
}

/* ---- not zero ---- */

static cq_status nonzero_shape(cq_opcall *c)
{
    cq_tensor *self = cq_arg_tensor(c, "self");
    cq_int     n;

    CQ_TRY(cq_count_true(&n, c, self, 1));
    return cq_result(c, 0, CQ_DTYPE_I64, 2, (cq_int[]){ n, cq_i(self->rank) });
}

static cq_status nonzero_run(cq_opcall *c)
{
    cq_tensor *out = NULL;

    return done(c, cq_kernel_nonzero(&out, cq_arg_tensor(c, "self")), &out);
}

/* ---- masks ---- */

static cq_status mask_sizes(cq_opcall *c, size_t *rank, cq_int *sizes)
{
    cq_tensor *self = cq_arg_tensor(c, "self"), *mask = cq_arg_tensor(c, "mask");

    if (mask->dtype != CQ_DTYPE_BOOL && mask->dtype != CQ_DTYPE_U8)
        return cq_call_fail(c, CQ_E_TYPE, "a mask should be bool, not %s",
                            cq_dtype_name(mask->dtype));
    return cq_broadcast(c, rank, sizes, self->rank, self->sizes, mask->rank, mask->sizes);
}

static cq_status masked_select_shape(cq_opcall *c)
{
    cq_tensor *mask = cq_arg_tensor(c, "mask");
    int64_t    own = cq_tensor_numel(mask), all = 1;
    cq_int     sizes[CQ_MAX_RANK], n;
    size_t     rank;

    CQ_TRY(mask_sizes(c, &rank, sizes));
    for (size_t i = 0; i < rank; i++)
        all *= sizes[i].value;
    CQ_TRY(cq_count_true(&n, c, mask, own ? all / own : 0));
    return cq_result(c, 0, cq_arg_tensor(c, "self")->dtype, 1, &n);
}

static cq_status masked_select_run(cq_opcall *c)
{
    cq_tensor *out = NULL;
    cq_int     sizes[CQ_MAX_RANK];
    size_t     rank;

    CQ_TRY(mask_sizes(c, &rank, sizes));
    return done(
        c, cq_kernel_masked_select(&out, cq_arg_tensor(c, "self"), cq_arg_tensor(c, "mask")), &out);
}

static cq_status masked_scatter_shape(cq_opcall *c)
{
    cq_tensor *self = cq_arg_tensor(c, "self"), *source = cq_arg_tensor(c, "source");
    cq_int     sizes[CQ_MAX_RANK];
    size_t     rank;

    if (self->dtype != source->dtype)
        return cq_call_fail(c, CQ_E_TYPE, "self is %s but source is %s", cq_dtype_name(self->dtype),
                            cq_dtype_name(source->dtype));
    CQ_TRY(mask_sizes(c, &rank, sizes));
    return cq_result(c, 0, self->dtype, rank, sizes);
}

/* self as the result shows it: repeated where the mask is larger. */
static cq_status copy_broadcast(cq_tensor *out, const cq_tensor *self)
{
    cq_geometry g    = cq_geometry_of(out);
    size_t      lead = out->rank - self->rank;
    cq_tensor  *wide = NULL;
    cq_status   status;

    for (size_t i = 0; i < out->rank; i++)
        g.strides[i] = i < lead || self->sizes[i - lead].value == 1 ? 0 : self->strides[i - lead];
    CQ_TRY(cq_tensor_new_view(&wide, self, self->dtype, g.rank, g.sizes, g.strides, self->offset));
    status = cq_tensor_copy_into(out, wide);
    cq_tensor_release(wide);
    return status;
}

static cq_status masked_scatter_run(cq_opcall *c)
{
    cq_tensor *out = cq_result_tensor(c, 0);

    CQ_TRY(copy_broadcast(out, cq_arg_tensor(c, "self")));
    return cq_kernel_masked_scatter(out, cq_arg_tensor(c, "mask"), cq_arg_tensor(c, "source"));
}

/* ---- counts ---- */

/* At least minlength of them; more depend on the data. */
static cq_status bincount_shape(cq_opcall *c)
{
    cq_tensor *weights = cq_arg_tensor(c, "weights");
    cq_dtype   dtype   = !weights                         ? CQ_DTYPE_I64
                         : weights->dtype == CQ_DTYPE_F32 ? CQ_DTYPE_F32
                                                          : CQ_DTYPE_F64;
    int64_t    least   = cq_arg_i64(c, "minlength");
    cq_int     n       = cq_unknown_size(c, least > 1 ? least : 1);

    return cq_result(c, 0, dtype, 1, &n);
}

static cq_status bincount_run(cq_opcall *c)
{
    cq_tensor *out = NULL, *self = cq_arg_tensor(c, "self");

    if (self->rank != 1 || !cq_dtype_is_integer(self->dtype))
        return cq_call_fail(c, CQ_E_ARGUMENT, "expected integers in one dimension");
    if (cq_arg_i64(c, "minlength") < 0)
        return cq_call_fail(c, CQ_E_ARGUMENT, "minlength must not be negative");
    return done(
        c, cq_kernel_bincount(&out, self, cq_arg_tensor(c, "weights"), cq_arg_i64(c, "minlength")),
        &out);
}

/* ---- elements repeated as often as a tensor says ---- */

static cq_status repeat_index_shape(cq_opcall *c)
{
    cq_tensor *repeats = cq_arg_tensor(c, "repeats"), *data = repeats;
    int64_t    n = 0;
    cq_int     size;

    if (!cq_arg_is_none(c, "output_size")) {
        size = cq_arg_int(c, "output_size");
    } else if (cq_tensor_is_fake(repeats) &&
               (!c->cx->listener || cq_call_data(c, &data, repeats) != CQ_OK)) {
        size = cq_unknown_size(c, cq_tensor_numel(repeats));
    } else {
        for (int64_t i = 0; i < cq_tensor_numel(repeats); i++) {
            const int64_t times = cq_tensor_get_i64(data, i);

            if (times < 0 || __builtin_add_overflow(n, times, &n))
                return cq_call_fail(c, CQ_E_ARGUMENT, "an element cannot be repeated %lld times",
                                    (long long)times);
        }
        size = cq_tensor_is_fake(repeats) ? cq_unknown_size(c, n) : cq_i(n);
    }
    return cq_result(c, 0, repeats->dtype, 1, &size);
}

static cq_status repeat_index_run(cq_opcall *c)
{
    cq_tensor *repeats = cq_arg_tensor(c, "repeats"), *out = NULL, *same = NULL;

    if (repeats->rank != 1 || (repeats->dtype != CQ_DTYPE_I64 && repeats->dtype != CQ_DTYPE_I32))
        return cq_call_fail(c, CQ_E_ARGUMENT, "repeats should be int64 or int32, in one dimension");
    CQ_TRY(cq_kernel_repeat_index(&out, repeats));
    if (out->dtype == repeats->dtype)
        return done(c, CQ_OK, &out);
    CQ_TRY(cq_tensor_clone(&same, out, repeats->dtype));
    cq_tensor_release(out);
    return done(c, CQ_OK, &same);
}

/* ---- embedding ---- */

static cq_status embedding_shape(cq_opcall *c)
{
    cq_tensor *weight = cq_arg_tensor(c, "weight"), *indices = cq_arg_tensor(c, "indices");
    cq_int     sizes[CQ_MAX_RANK + 1];

    if (weight->rank != 2)
        return cq_call_fail(c, CQ_E_ARGUMENT, "weight should have 2 dimensions, not %u",
                            (unsigned)weight->rank);
    if (indices->dtype != CQ_DTYPE_I64 && indices->dtype != CQ_DTYPE_I32)
        return cq_call_fail(c, CQ_E_TYPE, "indices should be int64 or int32, not %s",
                            cq_dtype_name(indices->dtype));
    memcpy(sizes, indices->sizes, indices->rank * sizeof *sizes);
    sizes[indices->rank] = weight->sizes[1];
    return cq_result(c, 0, weight->dtype, (size_t)indices->rank + 1, sizes);
}

static cq_status embedding_run(cq_opcall *c)
{
    cq_tensor *weight = cq_arg_tensor(c, "weight"), *indices = cq_arg_tensor(c, "indices");

    CQ_TRY(cq_check_not_negative(c, indices));
    return cq_kernel_index_select(cq_result_tensor(c, 0), weight, 0, indices);
}

const cq_op_def cq_ops_select[] = {
    { .schema = "aten::nonzero(Tensor self) -> Tensor",
      .about  = "indices of the nonzero elements, one per row",
      .shape  = nonzero_shape,
      .run    = nonzero_run,
      .flags  = CQ_OP_DYNAMIC },
    { .schema = "aten::masked_select(Tensor self, Tensor mask) -> Tensor",
      .about  = "the elements where a mask is true, as a vector",
      .shape  = masked_select_shape,
      .run    = masked_select_run,
      .flags  = CQ_OP_DYNAMIC },
    CQ_KERNEL("aten::masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor",
              "a copy with elements of source, in order, where a mask is true",
              masked_scatter_shape, masked_scatter_run),
    { .schema = "aten::bincount(Tensor self, Tensor? weights=None, int minlength=0) -> Tensor",
      .about  = "the number of occurrences of each integer",
      .shape  = bincount_shape,
      .run    = bincount_run,
      .flags  = CQ_OP_DYNAMIC },
    { .schema =
          "aten::repeat_interleave.Tensor(Tensor repeats, *, int? output_size=None) -> Tensor",
      .about = "each index, repeated by its element",
      .shape = repeat_index_shape,
      .run   = repeat_index_run,
      .flags = CQ_OP_DYNAMIC },
    CQ_KERNEL("aten::embedding(Tensor weight, Tensor indices, int padding_idx=-1, bool "
              "scale_grad_by_freq=False, bool sparse=False) -> Tensor",
              "rows of weight at indices", embedding_shape, embedding_run),
    { 0 },
};
