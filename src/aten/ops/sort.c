/* Operators that need an order along a dimension (sorting, top k, medians), distinct elements,
 * searching, and running sums. Kernels are in kernel/sort.h and kernel/reduce.h. */
#include "aten/ops/elementwise.h"
#include "aten/ops/geometry.h"
#include "kernel/index.h"
#include "kernel/lane.h"
#include "kernel/reduce.h"
#include "kernel/sort.h"

#include <math.h>

static size_t dim_of(cq_opcall *c)
{
    return (size_t)cq_arg_dim(c, "dim", cq_arg_tensor(c, "self")->rank);
}

/* ---- sort ---- */

/* Values and indices, both of self's sizes. */
static cq_status values_and_places_shape(cq_opcall *c)
{
    cq_tensor *self = cq_arg_tensor(c, "self");

    dim_of(c);
    cq_result_like(c, 0, self, self->dtype);
    return cq_result_like(c, 1, self, CQ_DTYPE_I64);
}

static cq_status sort_run(cq_opcall *c)
{
    return cq_kernel_sort(cq_result_tensor(c, 0), cq_result_tensor(c, 1), cq_arg_tensor(c, "self"),
                          (uint32_t)dim_of(c), cq_arg_bool(c, "descending"));
}

static cq_status topk_shape(cq_opcall *c)
{
    cq_tensor *self = cq_arg_tensor(c, "self");
    size_t     dim  = dim_of(c);
    cq_int     k    = cq_arg_int(c, "k"), sizes[CQ_MAX_RANK];

    if (k.value < 0 || k.value > (self->rank ? self->sizes[dim].value : 1))
        return cq_call_fail(c, CQ_E_ARGUMENT, "k is %lld for a dimension of size %lld",
                            (long long)k.value,
                            (long long)(self->rank ? self->sizes[dim].value : 1));
    memcpy(sizes, self->sizes, self->rank * sizeof *sizes);
    if (self->rank)
        sizes[dim] = k;
    cq_result(c, 0, self->dtype, self->rank, sizes);
    return cq_result(c, 1, CQ_DTYPE_I64, self->rank, sizes);
}

static cq_status topk_run(cq_opcall *c)
{
    return cq_kernel_topk(cq_result_tensor(c, 0), cq_result_tensor(c, 1), cq_arg_tensor(c, "self"),
                          (uint32_t)dim_of(c), cq_arg_bool(c, "largest"));
}

/* ---- one of each lane ---- */

/* Values and indices without dim, or with size 1 there. */
static cq_status one_of_lane_shape(cq_opcall *c)
{
    cq_tensor *self    = cq_arg_tensor(c, "self");
    size_t     dim     = dim_of(c);
    bool       keepdim = cq_arg_bool(c, "keepdim");
    cq_int     sizes[CQ_MAX_RANK];
    size_t     n = 0;

    if (self->rank && self->sizes[dim].value == 0 && !cq_size_is_dont_care(c, self->sizes[dim]))
        return cq_call_fail(c, CQ_E_ARGUMENT, "dimension %zu has no elements", dim);
    for (size_t i = 0; i < self->rank; i++)
        if (i != dim)
            sizes[n++] = self->sizes[i];
        else if (keepdim)
            sizes[n++] = cq_i(1);
    cq_result(c, 0, self->dtype, n, sizes);
    return cq_result(c, 1, CQ_DTYPE_I64, n, sizes);
}

/* A result with dim kept, as the kernels expect it. */
static cq_status with_dim(cq_tensor **out, const cq_opcall *c, size_t index)
{
    const cq_tensor *t = cq_result_tensor(c, index), *self = cq_arg_tensor(c, "self");
    size_t           dim = (size_t)cq_arg_dim(c, "dim", self->rank);
    cq_geometry      g   = cq_geometry_of(t);

    if (t->rank < self->rank)
        cq_geometry_insert(&g, dim, cq_i(1), 1);
    return cq_tensor_new_view(out, t, t->dtype, g.rank, g.sizes, g.strides, g.offset);
}

typedef cq_status lane_kernel(cq_opcall *c, cq_tensor *values, cq_tensor *indices);

static cq_status run_lanes(cq_opcall *c, lane_kernel *kernel)
{
    cq_tensor *values = NULL, *indices = NULL;
    cq_status  status = with_dim(&values, c, 0);

    if (status == CQ_OK)
        status = with_dim(&indices, c, 1);
    if (status == CQ_OK)
        status = kernel(c, values, indices);
    cq_tensor_release(values);
    cq_tensor_release(indices);
    return status;
}

static cq_status kth_lane(cq_opcall *c, cq_tensor *values, cq_tensor *indices)
{
    return cq_kernel_kthvalue(values, indices, cq_arg_tensor(c, "self"), (uint32_t)dim_of(c),
                              cq_arg_i64(c, "k"));
}

static cq_status kthvalue_shape(cq_opcall *c)
{
    cq_tensor *self = cq_arg_tensor(c, "self");
    int64_t    n = self->rank ? self->sizes[dim_of(c)].value : 1, k = cq_arg_i64(c, "k");

    if (k < 1 || k > n)
        return cq_call_fail(c, CQ_E_ARGUMENT, "k is %lld for a dimension of size %lld",
                            (long long)k, (long long)n);
    return one_of_lane_shape(c);
}

static cq_status kthvalue_run(cq_opcall *c)
{
    return run_lanes(c, kth_lane);
}

/* .variant of these rows: whether NaN is skipped. */
static cq_status median_lane(cq_opcall *c, cq_tensor *values, cq_tensor *indices)
{
    return cq_kernel_median(values, indices, cq_arg_tensor(c, "self"), (uint32_t)dim_of(c),
                            c->op->def->variant);
}

static cq_status median_dim_run(cq_opcall *c)
{
    return run_lanes(c, median_lane);
}

static cq_status median_shape(cq_opcall *c)
{
    return cq_result(c, 0, cq_arg_tensor(c, "self")->dtype, 0, NULL);
}

/* The median of the whole tensor, as one lane; NaN if it has no elements. */
static cq_status median_run(cq_opcall *c)
{
    cq_tensor *self = cq_arg_tensor(c, "self"), *out = cq_result_tensor(c, 0);
    cq_tensor *dense = NULL, *lane = NULL, *value = NULL;
    cq_int     n = cq_i(cq_tensor_numel(self)), one = cq_i(1);
    int64_t    step = 1;
    cq_status  status;

    if (n.value == 0)
        return cq_kernel_fill_f64(out, NAN);
    CQ_TRY(cq_tensor_contiguous(&dense, self));
    status = cq_tensor_new_view(&lane, dense, self->dtype, 1, &n, &step, dense->offset);
    if (status == CQ_OK)
        status = cq_tensor_new_view(&value, out, out->dtype, 1, &one, &step, out->offset);
    if (status == CQ_OK)
        status = cq_kernel_median(value, NULL, lane, 0, c->op->def->variant);
    cq_tensor_release(dense);
    cq_tensor_release(lane);
    cq_tensor_release(value);
    return status;
}

/* The longest run of equal elements of a sorted lane; of equal runs the first, with its last
 * index. */
static cq_status mode_lane(cq_opcall *c, cq_tensor *values, cq_tensor *indices)
{
    cq_tensor *self = cq_arg_tensor(c, "self"), *sorted = NULL, *from = NULL;
    uint32_t   dim    = (uint32_t)dim_of(c);
    int64_t    size   = (int64_t)cq_dtype_size(self->dtype);
    cq_status  status = cq_tensor_clone(&sorted, self, CQ_DTYPE_NONE);
    cq_lanes   l;

    if (status == CQ_OK)
        status = cq_tensor_clone(&from, self, CQ_DTYPE_I64);
    if (status == CQ_OK)
        status = cq_kernel_sort(sorted, from, self, dim, false);
    cq_lanes_init(&l, dim);
    for (size_t i = 0; status == CQ_OK && i < 4; i++)
        status = cq_lanes_add(&l, (cq_tensor *[]){ values, indices, sorted, from }[i]);
    for (bool more = status == CQ_OK && cq_lanes_start(&l); more; more = cq_lanes_next(&l)) {
        int64_t run = 0, best = 0;

        for (int64_t i = 0; i < l.n[2]; i++) {
            const char *at = l.at[2] + i * l.step[2];

            run++;
            if (i + 1 < l.n[2] && memcmp(at, at + l.step[2], (size_t)size) == 0)
                continue;
            if (run > best) {
                best = run;
                memcpy(l.at[0], at, (size_t)size);
                memcpy(l.at[1], l.at[3] + i * l.step[3], 8);
            }
            run = 0;
        }
    }
    cq_tensor_release(sorted);
    cq_tensor_release(from);
    return status;
}

static cq_status mode_run(cq_opcall *c)
{
    return run_lanes(c, mode_lane);
}

/* ---- running sums ---- */

/* Sums of integers are int64 unless a dtype is given. */
static cq_status scan_shape(cq_opcall *c)
{
    cq_tensor *self = cq_arg_tensor(c, "self");
    bool       real = cq_dtype_is_float(self->dtype) || cq_dtype_is_complex(self->dtype);

    dim_of(c);
    return cq_result_like(c, 0, self, cq_arg_dtype(c, "dtype", real ? self->dtype : CQ_DTYPE_I64));
}

/* .variant: 0 for sums, 1 for products. Elements are converted first. */
static cq_status scan_run(cq_opcall *c)
{
    cq_tensor *self = cq_arg_tensor(c, "self"), *out = cq_result_tensor(c, 0);
    uint32_t   dim = (uint32_t)dim_of(c);

    CQ_TRY(cq_tensor_copy_into(out, self));
    return c->op->def->variant ? cq_kernel_cumprod(out, out, dim, 0)
                               : cq_kernel_cumsum(out, out, dim, 0);
}

static cq_status logcumsumexp_shape(cq_opcall *c)
{
    dim_of(c);
    if (!cq_dtype_is_float(cq_arg_tensor(c, "self")->dtype))
        return cq_call_fail(c, CQ_E_TYPE, "expected floats, got %s",
                            cq_dtype_name(cq_arg_tensor(c, "self")->dtype));
    return cq_shape_of_self(c);
}

/* log(exp(a) + exp(b)) without leaving the range of numbers. */
static double log_add_exp(double a, double b)
{
    double low = a < b ? a : b, high = a < b ? b : a;

    if (isnan(a) || isnan(b))
        return a + b;
    return low == high && isinf(low) ? low : high + log1p(exp(low - high));
}

static cq_status logcumsumexp_run(cq_opcall *c)
{
    cq_tensor *self = cq_arg_tensor(c, "self"), *wide = NULL;
    cq_status  status;
    cq_lanes   l;

    CQ_TRY(cq_tensor_clone(&wide, self, CQ_DTYPE_F64));
    cq_lanes_init(&l, (uint32_t)dim_of(c));
    status = cq_lanes_add(&l, wide);
    for (bool more = status == CQ_OK && cq_lanes_start(&l); more; more = cq_lanes_next(&l)) {
        double so_far = -INFINITY;

        for (int64_t i = 0; i < l.n[0]; i++) {
            double *x = (double *)(void *)(l.at[0] + i * l.step[0]);

            so_far = *x = log_add_exp(so_far, *x);
        }
    }
    if (status == CQ_OK)
        status = cq_tensor_copy_into(cq_result_tensor(c, 0), wide);
    cq_tensor_release(wide);
    return status;
}

/* .variant: 0 for the greatest so far, 1 for the least. */
static cq_status cumextreme_run(cq_opcall *c)
{
    return (c->op->def->variant ? cq_kernel_cummin
                                : cq_kernel_cummax)(cq_result_tensor(c, 0), cq_result_tensor(c, 1),
                                                    cq_arg_tensor(c, "self"), (uint32_t)dim_of(c));
}

/* ---- searching ---- */

static cq_status searchsorted_shape(cq_opcall *c)
{
    cq_val      what  = cq_arg_val(c, "self");
    const char *side  = cq_arg_str(c, "side", NULL);
    cq_dtype    dtype = cq_arg_bool(c, "out_int32") ? CQ_DTYPE_I32 : CQ_DTYPE_I64;

    if (side && strcmp(side, "left") != 0 && strcmp(side, "right") != 0)
        return cq_call_fail(c, CQ_E_ARGUMENT, "side should be \"left\" or \"right\", not \"%s\"",
                            side);
    if (side && cq_arg_bool(c, "right") && side[0] == 'l')
        return cq_call_fail(c, CQ_E_ARGUMENT, "side is \"left\" but right is true");
    if (what.kind != CQ_VAL_TENSOR)
        cq_result(c, 0, dtype, 0, NULL);
    else
        cq_result_like(c, 0, what.u.tensor, dtype);
    return c->cx->status;
}

static cq_status searchsorted_run(cq_opcall *c)
{
    cq_val      both[] = { cq_arg_val(c, "sorted_sequence"), cq_arg_val(c, "self") };
    cq_dtype    dtype  = cq_result_type(c->cx->default_float, both, 2);
    cq_tensor  *sorted = cq_operand_tensor(c, both[0], dtype), *ordered = NULL;
    cq_tensor  *what   = cq_operand_tensor(c, both[1], dtype);
    cq_tensor  *sorter = cq_arg_tensor(c, "sorter");
    const char *side   = cq_arg_str(c, "side", "left");
    bool        right  = cq_arg_bool(c, "right") || side[0] == 'r';
    cq_status   status = CQ_OK;

    if (!sorted || !what)
        return c->cx->status;
    if (sorter) {
        CQ_TRY(cq_tensor_clone(&ordered, sorted, CQ_DTYPE_NONE));
        status = cq_kernel_gather(ordered, sorted, sorted->rank - 1, sorter);
    }
    if (status == CQ_OK)
        status =
            cq_kernel_searchsorted(cq_result_tensor(c, 0), ordered ? ordered : sorted, what, right);
    cq_tensor_release(ordered);
    return status;
}

#define ROW_V(schema_text, about_text, shape_function, run_function, which)                        \
    {                                                                                              \
        .schema = schema_text, .about = about_text, .shape = shape_function, .run = run_function,  \
        .variant = which                                                                           \
    }

const cq_op_def cq_ops_sort[] = {
    CQ_KERNEL(
        "aten::sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor "
        "indices)",
        "sorted along a dimension, and the original indices", values_and_places_shape, sort_run),
    CQ_KERNEL(
        "aten::sort.stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False) -> "
        "(Tensor values, Tensor indices)",
        "sorted along a dimension, and the original indices", values_and_places_shape, sort_run),
    CQ_KERNEL("aten::topk(Tensor self, int k, int dim=-1, bool largest=True, bool sorted=True) -> "
              "(Tensor values, Tensor indices)",
              "the k largest or smallest elements along a dimension, and their indices", topk_shape,
              topk_run),
    CQ_KERNEL(
        "aten::kthvalue(Tensor self, int k, int dim=-1, bool keepdim=False) -> (Tensor values, "
        "Tensor indices)",
        "the k-th smallest element along a dimension, and its index", kthvalue_shape, kthvalue_run),
    ROW_V("aten::median(Tensor self) -> Tensor", "the lower median of all elements", median_shape,
          median_run, false),
    ROW_V("aten::median.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor "
          "indices)",
          "the lower median along a dimension, and its index", one_of_lane_shape, median_dim_run,
          false),
    ROW_V("aten::nanmedian(Tensor self) -> Tensor", "the lower median of all elements but NaN",
          median_shape, median_run, true),
    ROW_V("aten::nanmedian.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor "
          "indices)",
          "the lower median along a dimension without NaN, and its index", one_of_lane_shape,
          median_dim_run, true),
    CQ_KERNEL("aten::mode(Tensor self, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor "
              "indices)",
              "the most frequent element along a dimension, and its index", one_of_lane_shape,
              mode_run),
    ROW_V("aten::cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor",
          "cumulative sums along a dimension", scan_shape, scan_run, 0),
    ROW_V("aten::cumprod(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor",
          "cumulative products along a dimension", scan_shape, scan_run, 1),
    CQ_KERNEL("aten::logcumsumexp(Tensor self, int dim) -> Tensor",
              "logarithms of cumulative sums of exponentials", logcumsumexp_shape,
              logcumsumexp_run),
    ROW_V("aten::cummax(Tensor self, int dim) -> (Tensor values, Tensor indices)",
          "the cumulative maximum, and its index", values_and_places_shape, cumextreme_run, 0),
    ROW_V("aten::cummin(Tensor self, int dim) -> (Tensor values, Tensor indices)",
          "the cumulative minimum, and its index", values_and_places_shape, cumextreme_run, 1),
    CQ_KERNEL(
        "aten::searchsorted.Tensor(Tensor sorted_sequence, Tensor self, *, bool out_int32=False, "
        "bool right=False, str? side=None, Tensor? sorter=None) -> Tensor",
        "the index at which each element would be inserted in a sorted tensor", searchsorted_shape,
        searchsorted_run),
    CQ_KERNEL(
        "aten::searchsorted.Scalar(Tensor sorted_sequence, Scalar self, *, bool out_int32=False, "
        "bool right=False, str? side=None, Tensor? sorter=None) -> Tensor",
        "the index at which a number would be inserted in a sorted tensor", searchsorted_shape,
        searchsorted_run),
    { 0 },
};
