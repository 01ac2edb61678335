/* Reductions: sums, means, extremes, variances and norms over some or all dimensions. Operators
 * composed of them (distances, matrix norms) are in distance.c. */
#include "kernel/reduce.h"
#include "aten/core/ctx.h"

#include <math.h>
#include <string.h>

/* ---- reduced and kept dimensions ---- */

typedef struct reduction {
    cq_tensor *x;
    uint64_t   dims; /* bit mask */
    bool       keep;
} reduction;

static bool has_arg(const cq_opcall *c, const char *name)
{
    return cq_schema_find(c->op->schema, name) >= 0;
}

/* The operator's "dim" may be missing, None, a number or a list. */
static reduction read_reduction(const cq_opcall *c)
{
    reduction r   = { .x = c->args[0].u.tensor };
    uint64_t  all = r.x->rank ? ~(uint64_t)0 >> (64 - r.x->rank) : 0;

    r.dims = has_arg(c, "dim") ? cq_arg_dims(c, "dim", r.x->rank) & all : all;
    r.keep = has_arg(c, "keepdim") && cq_arg_bool(c, "keepdim");
    return r;
}

static cq_status make_reduced(cq_opcall *c, size_t index, cq_dtype dtype)
{
    reduction r = read_reduction(c);
    cq_int    sizes[CQ_MAX_RANK];
    size_t    n = 0;

    for (size_t i = 0; i < r.x->rank; i++) {
        if (!(r.dims >> i & 1))
            sizes[n++] = r.x->sizes[i];
        else if (r.keep)
            sizes[n++] = cq_i(1);
    }
    return cq_result(c, index, dtype, n, sizes);
}

static cq_status run_reduce(cq_opcall *c, size_t index, cq_reduce_op op, double param)
{
    reduction r = read_reduction(c);

    return cq_kernel_reduce(cq_result_tensor(c, index), op, &(cq_params){ .a = param }, r.x,
                            r.dims);
}

/* .variant: the reduction. */
static cq_status reduce_run(cq_opcall *c)
{
    return run_reduce(c, 0, (cq_reduce_op)c->op->def->variant, 0);
}

static cq_dtype self_dtype(const cq_opcall *c)
{
    return c->args[0].u.tensor->dtype;
}

/* Fails for extremes of empty tensors. */
static cq_status need_elements(const cq_opcall *c)
{
    reduction r = read_reduction(c);

    for (size_t i = 0; i < r.x->rank; i++)
        if ((r.dims >> i & 1) && r.x->sizes[i].value == 0 &&
            !cq_size_is_dont_care(c, r.x->sizes[i]))
            return cq_call_fail(c, CQ_E_TYPE,
                                "an extreme of an empty tensor: dimension %zu has size 0", i);
    return CQ_OK;
}

/* ---- sums, products, means ---- */

/* Integers and bools are added up as int64. */
static cq_status sum_shape(cq_opcall *c)
{
    cq_dtype d = self_dtype(c);

    if (!cq_dtype_is_float(d) && !cq_dtype_is_complex(d))
        d = CQ_DTYPE_I64;
    return make_reduced(c, 0, cq_arg_dtype(c, "dtype", d));
}

/* With a dtype, elements are converted first, which matters if a float becomes an integer. */
static cq_status converted_run(cq_opcall *c)
{
    reduction  r   = read_reduction(c);
    cq_tensor *out = cq_result_tensor(c, 0), *x = r.x, *converted = NULL;
    bool       narrows = !cq_dtype_is_float(out->dtype) && cq_dtype_is_float(x->dtype);
    cq_status  status;

    if (narrows) {
        CQ_TRY(cq_tensor_clone(&converted, x, out->dtype));
        x = converted;
    }
    status = cq_kernel_reduce(out, (cq_reduce_op)c->op->def->variant, NULL, x, r.dims);
    cq_tensor_release(converted);
    return status;
}

static cq_status mean_shape(cq_opcall *c)
{
    cq_dtype d = cq_arg_dtype(c, "dtype", self_dtype(c));

    if (!cq_dtype_is_float(d) && !cq_dtype_is_complex(d))
        return cq_call_fail(c, CQ_E_TYPE,
                            "mean expects floats, got %s; use dtype=", cq_dtype_name(d));
    return make_reduced(c, 0, d);
}

static cq_status count_shape(cq_opcall *c)
{
    return make_reduced(c, 0, CQ_DTYPE_I64);
}

/* bool; uint8 stays uint8. */
static cq_status truth_shape(cq_opcall *c)
{
    return make_reduced(c, 0, self_dtype(c) == CQ_DTYPE_U8 ? CQ_DTYPE_U8 : CQ_DTYPE_BOOL);
}

static cq_status logsumexp_shape(cq_opcall *c)
{
    return make_reduced(c, 0, cq_float_of(c->cx, self_dtype(c)));
}

/* ---- variances ---- */

/* The number subtracted from the number of elements: "unbiased" is Bessel's 1. */
static double correction_of(const cq_opcall *c)
{
    if (has_arg(c, "unbiased"))
        return cq_arg_bool(c, "unbiased") ? 1 : 0;
    return cq_arg_is_none(c, "correction") ? 1 : cq_arg_f64(c, "correction");
}

static cq_status var_shape(cq_opcall *c)
{
    if (!cq_dtype_is_float(self_dtype(c)))
        return cq_call_fail(c, CQ_E_TYPE, "expected floats, got %s", cq_dtype_name(self_dtype(c)));
    for (size_t i = 0; i < c->n_results; i++)
        CQ_TRY(make_reduced(c, i, self_dtype(c)));
    return CQ_OK;
}

/* With the mean, if requested. */
static cq_status var_run(cq_opcall *c)
{
    CQ_TRY(run_reduce(c, 0, (cq_reduce_op)c->op->def->variant, correction_of(c)));
    return c->n_results > 1 ? run_reduce(c, 1, CQ_REDUCE_MEAN, 0) : CQ_OK;
}

/* ---- extremes ---- */

static cq_status extreme_shape(cq_opcall *c)
{
    CQ_TRY(need_elements(c));
    return make_reduced(c, 0, self_dtype(c));
}

/* With keepdim, a 0-d tensor becomes a vector of one element. Other reductions return a 0-d
 * tensor. */
static cq_status aminmax_shape(cq_opcall *c)
{
    if (!c->args[0].u.tensor->rank && !cq_arg_is_none(c, "dim") && cq_arg_bool(c, "keepdim")) {
        for (size_t i = 0; i < 2; i++)
            cq_result(c, i, self_dtype(c), 1, (cq_int[]){ cq_i(1) });
        return c->cx->status;
    }
    CQ_TRY(extreme_shape(c));
    return make_reduced(c, 1, self_dtype(c));
}

static cq_status aminmax_run(cq_opcall *c)
{
    const cq_tensor *x = c->args[0].u.tensor;

    if (!x->rank) {
        for (size_t i = 0; i < 2; i++)
            memcpy(cq_tensor_bytes(cq_result_tensor(c, i)), cq_tensor_bytes(x),
                   cq_dtype_size(x->dtype));
        return CQ_OK;
    }
    CQ_TRY(run_reduce(c, 0, CQ_REDUCE_AMIN, 0));
    return run_reduce(c, 1, CQ_REDUCE_AMAX, 0);
}

static cq_status with_place_shape(cq_opcall *c)
{
    CQ_TRY(extreme_shape(c));
    return make_reduced(c, 1, CQ_DTYPE_I64);
}

static cq_status place_shape(cq_opcall *c)
{
    CQ_TRY(need_elements(c));
    return make_reduced(c, 0, CQ_DTYPE_I64);
}

/* .variant: whether it is the least. The index is the last result. */
static cq_status extreme_run(cq_opcall *c)
{
    cq_tensor *x   = c->args[0].u.tensor;
    int64_t    dim = cq_arg_is_none(c, "dim") || !x->rank ? -1 : cq_arg_dim(c, "dim", x->rank);

    return cq_extreme_of(c->n_results > 1 ? cq_result_tensor(c, 0) : NULL,
                         cq_result_tensor(c, c->n_results - 1),
                         &(cq_extreme){ .least = c->op->def->variant }, x, dim);
}

/* ---- norms of vectors ---- */

static const char *order_arg(const cq_opcall *c)
{
    return has_arg(c, "ord") ? "ord" : "p";
}

static cq_status norm_shape(cq_opcall *c)
{
    cq_dtype d     = has_arg(c, "dtype") ? cq_arg_dtype(c, "dtype", self_dtype(c)) : self_dtype(c);
    double   order = cq_arg_is_none(c, order_arg(c)) ? 2 : cq_arg_f64(c, order_arg(c));

    if (!cq_dtype_is_float(d))
        return cq_call_fail(c, CQ_E_TYPE, "expected floats, got %s", cq_dtype_name(d));
    if (order < 0 || isinf(order))
        CQ_TRY(need_elements(c));
    return make_reduced(c, 0, d);
}

static cq_status norm_run(cq_opcall *c)
{
    double order = cq_arg_is_none(c, order_arg(c)) ? 2 : cq_arg_f64(c, order_arg(c));

    return run_reduce(c, 0, CQ_REDUCE_NORM, order);
}

#define ROW(schema_text, about_text, shape_fn, run_fn, how)                                        \
    {                                                                                              \
        .schema = "aten::" schema_text, .about = about_text, .shape = shape_fn, .run = run_fn,     \
        .variant = how                                                                             \
    }

const cq_op_def cq_ops_reduce[] = {
    ROW("sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, "
        "ScalarType? dtype=None) -> Tensor",
        "sums along dimensions", sum_shape, converted_run, CQ_REDUCE_SUM),
    ROW("sum(Tensor self, *, ScalarType? dtype=None) -> Tensor", "sum of all elements", sum_shape,
        converted_run, CQ_REDUCE_SUM),
    ROW("mean(Tensor self, *, ScalarType? dtype=None) -> Tensor", "mean of all elements",
        mean_shape, reduce_run, CQ_REDUCE_MEAN),
    ROW("mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) "
        "-> Tensor",
        "means along dimensions", mean_shape, reduce_run, CQ_REDUCE_MEAN),
    ROW("prod(Tensor self, *, ScalarType? dtype=None) -> Tensor", "product of all elements",
        sum_shape, converted_run, CQ_REDUCE_PROD),
    ROW("prod.dim_int(Tensor self, int dim, bool keepdim=False, *, ScalarType? dtype=None) "
        "-> Tensor",
        "products along a dimension", sum_shape, converted_run, CQ_REDUCE_PROD),
    ROW("var(Tensor self, bool unbiased=True) -> Tensor", "variance of all elements", var_shape,
        var_run, CQ_REDUCE_VAR),
    ROW("var.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor",
        "variances along dimensions", var_shape, var_run, CQ_REDUCE_VAR),
    ROW("var.correction(Tensor self, int[1]? dim, *, Scalar? correction, bool keepdim=False) "
        "-> Tensor",
        "variances along dimensions", var_shape, var_run, CQ_REDUCE_VAR),
    ROW("std(Tensor self, bool unbiased=True) -> Tensor", "standard deviation of all elements",
        var_shape, var_run, CQ_REDUCE_STD),
    ROW("std.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor",
        "standard deviations along dimensions", var_shape, var_run, CQ_REDUCE_STD),
    ROW("std.correction(Tensor self, int[1]? dim, *, Scalar? correction, bool keepdim=False) "
        "-> Tensor",
        "standard deviations along dimensions", var_shape, var_run, CQ_REDUCE_STD),
    ROW("var_mean(Tensor self, bool unbiased=True) -> (Tensor, Tensor)", "var and mean", var_shape,
        var_run, CQ_REDUCE_VAR),
    ROW("var_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) "
        "-> (Tensor, Tensor)",
        "var and mean along dimensions", var_shape, var_run, CQ_REDUCE_VAR),
    ROW("var_mean.correction(Tensor self, int[1]? dim, *, Scalar? correction, "
        "bool keepdim=False) -> (Tensor, Tensor)",
        "var and mean along dimensions", var_shape, var_run, CQ_REDUCE_VAR),
    ROW("std_mean(Tensor self, bool unbiased=True) -> (Tensor, Tensor)", "std and mean", var_shape,
        var_run, CQ_REDUCE_STD),
    ROW("std_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) "
        "-> (Tensor, Tensor)",
        "std and mean along dimensions", var_shape, var_run, CQ_REDUCE_STD),
    ROW("std_mean.correction(Tensor self, int[1]? dim, *, Scalar? correction, "
        "bool keepdim=False) -> (Tensor, Tensor)",
        "std and mean along dimensions", var_shape, var_run, CQ_REDUCE_STD),
    ROW("max(Tensor self) -> Tensor", "the maximum", extreme_shape, reduce_run, CQ_REDUCE_AMAX),
    ROW("max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
        "the maximum along a dimension, and its index", with_place_shape, extreme_run, false),
    ROW("min(Tensor self) -> Tensor", "the minimum", extreme_shape, reduce_run, CQ_REDUCE_AMIN),
    ROW("min.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
        "the minimum along a dimension, and its index", with_place_shape, extreme_run, true),
    ROW("amax(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor",
        "the maximum along dimensions", extreme_shape, reduce_run, CQ_REDUCE_AMAX),
    ROW("amin(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor",
        "the minimum along dimensions", extreme_shape, reduce_run, CQ_REDUCE_AMIN),
    ROW("aminmax(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max)",
        "the minimum and the maximum", aminmax_shape, aminmax_run, 0),
    ROW("argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor",
        "the index of the maximum", place_shape, extreme_run, false),
    ROW("argmin(Tensor self, int? dim=None, bool keepdim=False) -> Tensor",
        "the index of the minimum", place_shape, extreme_run, true),
    ROW("all(Tensor self) -> Tensor", "whether all elements are true", truth_shape, reduce_run,
        CQ_REDUCE_ALL),
    ROW("all.dim(Tensor self, int dim, bool keepdim=False) -> Tensor",
        "whether all elements along a dimension are true", truth_shape, reduce_run, CQ_REDUCE_ALL),
    ROW("any.dim(Tensor self, int dim, bool keepdim=False) -> Tensor",
        "whether any element along a dimension is true", truth_shape, reduce_run, CQ_REDUCE_ANY),
    ROW("any(Tensor self) -> Tensor", "whether any element is true", truth_shape, reduce_run,
        CQ_REDUCE_ANY),
    ROW("count_nonzero.dim_IntList(Tensor self, int[] dim) -> Tensor",
        "the number of nonzero elements", count_shape, reduce_run, CQ_REDUCE_COUNT_NONZERO),
    ROW("count_nonzero(Tensor self, int? dim=None) -> Tensor", "the number of nonzero elements",
        count_shape, reduce_run, CQ_REDUCE_COUNT_NONZERO),
    ROW("logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor",
        "log of the sum of exponentials", logsumexp_shape, reduce_run, CQ_REDUCE_LOGSUMEXP),
    ROW("norm.Scalar(Tensor self, Scalar p=2) -> Tensor", "p-norm of all elements", norm_shape,
        norm_run, CQ_REDUCE_NORM),
    ROW("norm.ScalarOpt_dim(Tensor self, Scalar? p, int[1] dim, bool keepdim=False) -> Tensor",
        "p-norms along dimensions", norm_shape, norm_run, CQ_REDUCE_NORM),
    ROW("norm.ScalarOpt_dim_dtype(Tensor self, Scalar? p, int[1] dim, bool keepdim, *, "
        "ScalarType dtype) -> Tensor",
        "p-norms along dimensions", norm_shape, norm_run, CQ_REDUCE_NORM),
    ROW("norm.ScalarOpt_dtype(Tensor self, Scalar? p, *, ScalarType dtype) -> Tensor",
        "p-norm of all elements", norm_shape, norm_run, CQ_REDUCE_NORM),
    ROW("linalg_vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, "
        "ScalarType? dtype=None) -> Tensor",
        "p-norms along dimensions", norm_shape, norm_run, CQ_REDUCE_NORM),
    { 0 },
};
