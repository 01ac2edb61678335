/* Queries about a tensor with plain numbers as results: sizes, strides, single elements. Sizes stay
 * symbolic in a capture. An element of a tensor without data is computed from the examples, and the
 * listener is informed that the number is baked in. */
#include "aten/ops/geometry.h"

#include <math.h>

/* ---- sizes ---- */

/* A tensor of the sizes, whose elements are known even where it has no data. */
static cq_status shape_as_tensor(cq_opcall *c)
{
    cq_tensor *self = cq_arg_tensor(c, "self");

    CQ_TRY(cq_result(c, 0, CQ_DTYPE_I64, 1, (cq_int[]){ cq_i(self->rank) }));
    return cq_tensor_set_known(cq_result_tensor(c, 0), self->sizes, self->rank);
}

static cq_status shape_as_tensor_run(cq_opcall *c)
{
    cq_tensor *self = cq_arg_tensor(c, "self");
    int64_t   *out  = cq_tensor_data(cq_result_tensor(c, 0));

    for (size_t i = 0; i < self->rank; i++)
        out[i] = self->sizes[i].value;
    return CQ_OK;
}

/* ---- memory ---- */

static cq_status stride_all(cq_opcall *c)
{
    cq_tensor *self = cq_arg_tensor(c, "self");

    return cq_result_set(c, 0, cq_i64s(c->cx, self->strides, self->rank));
}

static cq_status stride_int(cq_opcall *c)
{
    cq_tensor *self = cq_arg_tensor(c, "self");
    int        at   = cq_arg_dim(c, "dim", self->rank);

    if (!self->rank)
        return cq_call_fail(c, CQ_E_ARGUMENT, "a tensor without dimensions has no strides");
    return cq_result_set(c, 0, INT(self->strides[at]));
}

static cq_status storage_offset(cq_opcall *c)
{
    return cq_result_set(c, 0, INT(cq_arg_tensor(c, "self")->offset));
}

static cq_status is_contiguous(cq_opcall *c)
{
    return cq_result_set(c, 0, BOOL(cq_tensor_is_contiguous(cq_arg_tensor(c, "self"))));
}

/* ---- dtypes ---- */

static cq_status is_signed(cq_opcall *c)
{
    cq_dtype d = cq_arg_tensor(c, "self")->dtype;

    return cq_result_set(c, 0, BOOL(d != CQ_DTYPE_BOOL && cq_dtype_is_signed(d)));
}

static cq_status element_size(cq_opcall *c)
{
    return cq_result_set(c, 0, INT((int64_t)cq_dtype_size(cq_arg_tensor(c, "self")->dtype)));
}

static cq_status is_same_size(cq_opcall *c)
{
    cq_tensor *a = cq_arg_tensor(c, "self"), *b = cq_arg_tensor(c, "other");
    bool       same = a->rank == b->rank;

    for (size_t i = 0; same && i < a->rank; i++)
        same = a->sizes[i].value == b->sizes[i].value;
    return cq_result_set(c, 0, BOOL(same));
}

/* ---- elements ---- */

/* The only element of t as a number of its type. */
static cq_status element(cq_opcall *c, cq_val *out, cq_tensor *t)
{
    cq_ctx    *cx = c->cx;
    cq_tensor *data;

    if (cq_tensor_numel(t) != 1)
        return cq_call_fail(c, CQ_E_ARGUMENT, "expected a tensor of one element, got %lld",
                            (long long)cq_tensor_numel(t));
    if (cq_dtype_is_complex(t->dtype))
        return cq_call_fail(c, CQ_E_UNSUPPORTED, "complex numbers are not read from tensors");
    if (t->known && cq_tensor_is_fake(t)) {
        *out = SIZE(t->known[0]);
        return CQ_OK;
    }
    CQ_TRY(cq_call_data(c, &data, t));
    *out = cq_dtype_is_float(t->dtype) ? FLOAT(cq_tensor_get_f64(data, 0))
           : t->dtype == CQ_DTYPE_BOOL ? BOOL(cq_tensor_get_i64(data, 0) != 0)
                                       : INT(cq_tensor_get_i64(data, 0));
    if (data != t)
        cx->listener->baked(cx->listener_self, cx, "an element of a tensor",
                            cq_i(cq_tensor_get_i64(data, 0)));
    return CQ_OK;
}

static cq_status item(cq_opcall *c)
{
    return element(c, &c->results[0], c->args[0].u.tensor);
}

static cq_status item_bool(cq_opcall *c)
{
    cq_val v;

    CQ_TRY(element(c, &v, c->args[0].u.tensor));
    cq_result_set(c, 0,
                  BOOL(v.kind == CQ_VAL_FLOAT  ? v.u.f.value != 0
                       : v.kind == CQ_VAL_BOOL ? v.u.b.value
                                               : v.u.i.value != 0));
    return CQ_OK;
}

static cq_status item_int(cq_opcall *c)
{
    cq_val v;

    CQ_TRY(element(c, &v, c->args[0].u.tensor));
    cq_result_set(c, 0,
                  v.kind == CQ_VAL_FLOAT  ? INT((int64_t)v.u.f.value)
                  : v.kind == CQ_VAL_BOOL ? INT(v.u.b.value)
                                          : v);
    return CQ_OK;
}

static cq_status item_float(cq_opcall *c)
{
    cq_val v;

    CQ_TRY(element(c, &v, c->args[0].u.tensor));
    cq_result_set(c, 0,
                  v.kind == CQ_VAL_FLOAT  ? v
                  : v.kind == CQ_VAL_BOOL ? FLOAT(v.u.b.value)
                                          : FLOAT((double)v.u.i.value));
    return CQ_OK;
}

/* ---- whole tensors compared ---- */

typedef struct closeness {
    double rtol, atol;
    bool   equal_nan;
} closeness;

static bool close_to(double a, double b, const closeness *limit)
{
    if (a == b)
        return true;
    if (isnan(a) || isnan(b))
        return limit->equal_nan && isnan(a) && isnan(b);
    return isfinite(a) && isfinite(b) && fabs(a - b) <= limit->atol + limit->rtol * fabs(b);
}

/* Whether all elements are close; sizes are equal. limit NULL: equal. */
static cq_status compare(cq_opcall *c, const closeness *limit)
{
    static const closeness exact = { 0 };
    cq_tensor             *a, *b;
    bool                   same = true;
    int64_t                n;

    CQ_TRY(cq_call_data(c, &a, cq_arg_tensor(c, "self")));
    CQ_TRY(cq_call_data(c, &b, cq_arg_tensor(c, "other")));
    if (a != cq_arg_tensor(c, "self") || b != cq_arg_tensor(c, "other"))
        c->cx->listener->baked(c->cx->listener_self, c->cx, "a comparison of tensors", cq_i(0));
    n = cq_tensor_numel(a);
    for (int64_t i = 0; same && i < n; i++)
        same =
            cq_dtype_is_float(a->dtype)
                ? close_to(cq_tensor_get_f64(a, i), cq_tensor_get_f64(b, i), limit ? limit : &exact)
            : limit
                ? close_to((double)cq_tensor_get_i64(a, i), (double)cq_tensor_get_i64(b, i), limit)
                : cq_tensor_get_i64(a, i) == cq_tensor_get_i64(b, i);
    cq_result_set(c, 0, BOOL(same));
    return CQ_OK;
}

static cq_status same_dtype(cq_opcall *c)
{
    cq_dtype a = cq_arg_tensor(c, "self")->dtype, b = cq_arg_tensor(c, "other")->dtype;

    if (a == b)
        return CQ_OK;
    return cq_call_fail(c, CQ_E_TYPE, "expected tensors of one dtype, got %s and %s",
                        cq_dtype_name(a), cq_dtype_name(b));
}

static cq_status equal(cq_opcall *c)
{
    CQ_TRY(same_dtype(c));
    CQ_TRY(is_same_size(c));
    return c->results[0].u.b.value ? compare(c, NULL) : CQ_OK;
}

static cq_status allclose(cq_opcall *c)
{
    closeness limit = { cq_arg_f64(c, "rtol"), cq_arg_f64(c, "atol"), cq_arg_bool(c, "equal_nan") };
    cq_tensor *self = cq_arg_tensor(c, "self"), *other = cq_arg_tensor(c, "other");
    cq_tensor *a, *b;
    cq_int     sizes[CQ_MAX_RANK];
    cq_val     expanded[2];
    cq_opcall  inner = *c;
    size_t     rank;

    CQ_TRY(same_dtype(c));
    CQ_TRY(cq_broadcast(c, &rank, sizes, self->rank, self->sizes, other->rank, other->sizes));
    a = CQ_OP(c->cx, "aten::expand", TENSOR(self), cq_ints(c->cx, sizes, rank));
    b = CQ_OP(c->cx, "aten::expand", TENSOR(other), cq_ints(c->cx, sizes, rank));
    if (!a || !b)
        return c->cx->status;
    expanded[0] = TENSOR(a);
    expanded[1] = TENSOR(b);
    inner.args  = expanded;
    CQ_TRY(compare(&inner, &limit));
    c->results[0] = inner.results[0];
    return CQ_OK;
}

/* ---- rows ---- */

#define NUMBER(schema_text, about_text, function)                                                  \
    {                                                                                              \
        .schema = schema_text, .about = about_text, .shape = function, .flags = CQ_OP_HOST         \
    }

const cq_op_def cq_ops_meta[] = {
    NUMBER("aten::stride.int(Tensor self, int dim) -> int", "one stride, in elements", stride_int),
    NUMBER("aten::stride(Tensor self) -> int[]", "all strides, in elements", stride_all),
    NUMBER("aten::storage_offset(Tensor self) -> int",
           "the offset of the first element in its memory", storage_offset),
    NUMBER("aten::is_contiguous(Tensor self) -> bool", "whether elements are in row-major order",
           is_contiguous),
    NUMBER("aten::is_signed(Tensor self) -> bool", "whether the dtype is signed", is_signed),
    NUMBER("aten::element_size(Tensor self) -> int", "the size of an element in bytes",
           element_size),
    NUMBER("aten::is_same_size(Tensor self, Tensor other) -> bool", "whether sizes are equal",
           is_same_size),
    NUMBER("aten::item(Tensor self) -> Scalar", "the only element as a number", item),
    NUMBER("aten::_local_scalar_dense(Tensor self) -> Scalar", "the only element as a number",
           item),
    NUMBER("aten::is_nonzero(Tensor self) -> bool", "whether the only element is nonzero",
           item_bool),
    NUMBER("aten::Bool.Tensor(Tensor a) -> bool", "the only element as a bool", item_bool),
    NUMBER("aten::Int.Tensor(Tensor a) -> int", "the only element as an int", item_int),
    NUMBER("aten::Float.Tensor(Tensor a) -> float", "the only element as a float", item_float),
    NUMBER("aten::ScalarImplicit(Tensor a) -> Scalar", "the only element as a number", item),
    NUMBER("aten::IntImplicit(Tensor a) -> int", "the only element as an int", item_int),
    NUMBER("aten::FloatImplicit(Tensor a) -> float", "the only element as a float", item_float),
    NUMBER("aten::equal(Tensor self, Tensor other) -> bool",
           "whether sizes and all elements are equal", equal),
    NUMBER("aten::allclose(Tensor self, Tensor other, float rtol=1.0000000000000001e-05, float "
           "atol=1e-08, bool equal_nan=False) -> bool",
           "whether all elements are equal within a tolerance", allclose),
    CQ_KERNEL("aten::_shape_as_tensor(Tensor self) -> Tensor", "the sizes as a tensor",
              shape_as_tensor, shape_as_tensor_run),
    { 0 },
};
