/* Creation of tensors: filled, ranges, triangular. Sizes may be symbolic; layout, device, pinning
 * and memory format have no effect here. Random ones are in random.c. */
#include "aten/ops/elementwise.h"
#include "tensor/convert.h"

#include <math.h>

static bool has_arg(const cq_opcall *c, const char *name)
{
    return cq_schema_find(c->op->schema, name) >= 0;
}

/* The dtype that a plain number has as a tensor. */
static cq_dtype dtype_of_number(const cq_opcall *c, cq_val v)
{
    return v.kind == CQ_VAL_BOOL  ? CQ_DTYPE_BOOL
           : v.kind == CQ_VAL_INT ? CQ_DTYPE_I64
                                  : cq_default_float(c->cx->default_float);
}

/* ---- filled ---- */

enum { ZEROS, ONES, FULL };

cq_status cq_shape_of_size(cq_opcall *c, cq_dtype otherwise)
{
    cq_tensor *self  = c->args[0].kind == CQ_VAL_TENSOR ? c->args[0].u.tensor : NULL;
    cq_dtype   dtype = cq_arg_dtype(c, "dtype", self ? self->dtype : otherwise);
    cq_int     sizes[CQ_MAX_RANK];
    size_t     rank;

    CQ_TRY(c->cx->status);
    if (!has_arg(c, "size")) {
        return cq_result_like(c, 0, self, dtype);
    }
    rank = cq_arg_ints(c, "size", sizes, CQ_MAX_RANK);
    for (size_t i = 0; i < rank; i++)
        if (sizes[i].value < 0)
            return cq_call_fail(c, CQ_E_ARGUMENT, "size %lld of dimension %zu is below 0",
                                (long long)sizes[i].value, i);
    return cq_result(c, 0, dtype, rank, sizes);
}

static cq_status fill_shape(cq_opcall *c)
{
    return cq_shape_of_size(c, c->op->def->variant == FULL
                                   ? dtype_of_number(c, cq_arg_val(c, "fill_value"))
                                   : cq_default_float(c->cx->default_float));
}

static cq_status fill_with(cq_tensor *out, cq_val v)
{
    if (v.kind == CQ_VAL_FLOAT)
        return cq_kernel_fill_f64(out, v.u.f.value);
    return cq_kernel_fill_i64(out, v.kind == CQ_VAL_BOOL ? v.u.b.value : v.u.i.value);
}

/* Fills lazily: weights made by torch.empty and then replaced by those of a file never touch their
 * memory. */
static bool fill_later(cq_tensor *out, cq_val v)
{
    const int64_t whole = v.kind == CQ_VAL_BOOL ? v.u.b.value : v.u.i.value;

    return v.kind == CQ_VAL_FLOAT ? cq_kernel_fill_later(out, CQ_DTYPE_F64, &v.u.f.value)
                                  : cq_kernel_fill_later(out, CQ_DTYPE_I64, &whole);
}

static cq_status fill_run(cq_opcall *c)
{
    const int    kind  = c->op->def->variant;
    const cq_val value = kind == FULL ? cq_arg_val(c, "fill_value") : INT(kind);
    cq_tensor   *out   = cq_result_tensor(c, 0);

    return fill_later(out, value) ? CQ_OK : fill_with(out, value);
}

/* self.fill(value), .zero() */
static cq_status refill_run(cq_opcall *c)
{
    cq_tensor *out = cq_result_tensor(c, 0);

    return fill_with(out, has_arg(c, "value") ? cq_arg_val(c, "value") : INT(0));
}

static cq_status refill_tensor_shape(cq_opcall *c)
{
    if (c->args[1].u.tensor->rank)
        return cq_call_fail(c, CQ_E_ARGUMENT, "expected a value of 0 dimensions, got %u",
                            (unsigned)c->args[1].u.tensor->rank);
    return cq_shape_of_self(c);
}

/* src in the sizes and dtype of self; copy_ is its in-place variant. */
static cq_status copy_shape(cq_opcall *c)
{
    cq_tensor *self = c->args[0].u.tensor, *src = c->args[1].u.tensor;
    cq_int     sizes[CQ_MAX_RANK];
    size_t     rank;

    CQ_TRY(cq_broadcast(c, &rank, sizes, self->rank, self->sizes, src->rank, src->sizes));
    for (size_t i = 0; i < rank; i++)
        if (rank > self->rank ||
            (sizes[i].value != self->sizes[i].value && !cq_size_is_dont_care(c, sizes[i])))
            return cq_call_fail(c, CQ_E_ARGUMENT, "src does not broadcast to self");
    return cq_shape_of_self(c);
}

static cq_status copy_run(cq_opcall *c)
{
    cq_tensor *out = cq_result_tensor(c, 0), *src = c->args[1].u.tensor, *wide;
    int64_t    strides[CQ_MAX_RANK];
    size_t     lead = out->rank - src->rank;
    cq_status  status;

    for (size_t i = 0; i < out->rank; i++)
        strides[i] = i < lead || src->sizes[i - lead].value != out->sizes[i].value
                         ? 0
                         : src->strides[i - lead];
    CQ_TRY(cq_tensor_new_view(&wide, src, src->dtype, out->rank, out->sizes, strides, src->offset));
    status = cq_tensor_copy_into(out, wide);
    cq_tensor_release(wide);
    return status;
}

/* ---- counted ---- */

typedef struct range {
    cq_val start, end, step;
    bool   whole; /* counted in integers */
} range;

static double real_of(cq_val v)
{
    return v.kind == CQ_VAL_FLOAT  ? v.u.f.value
           : v.kind == CQ_VAL_BOOL ? v.u.b.value
                                   : (double)v.u.i.value;
}

static cq_int whole_of(cq_val v)
{
    return v.kind == CQ_VAL_INT ? v.u.i : cq_i((int64_t)real_of(v));
}

static range range_of(const cq_opcall *c, cq_dtype *dtype)
{
    range r = { .start = has_arg(c, "start") ? cq_arg_val(c, "start") : INT(0),
                .end   = cq_arg_val(c, "end"),
                .step  = has_arg(c, "step") ? cq_arg_val(c, "step") : INT(1) };
    bool  whole =
        r.start.kind != CQ_VAL_FLOAT && r.end.kind != CQ_VAL_FLOAT && r.step.kind != CQ_VAL_FLOAT;

    *dtype =
        cq_arg_dtype(c, "dtype", whole ? CQ_DTYPE_I64 : cq_default_float(c->cx->default_float));
    r.whole = whole || *dtype == CQ_DTYPE_I64;
    return r;
}

/* Whether it is data-dependent. Sizes follow integers, which are symbols, but not through
 * floats. */
static bool is_open(cq_val v)
{
    return v.kind == CQ_VAL_FLOAT ? v.u.f.origin != NULL : v.kind == CQ_VAL_INT && v.u.i.expr;
}

static cq_status arange_shape(cq_opcall *c)
{
    cq_dtype dtype;
    range    r    = range_of(c, &dtype);
    double   step = real_of(r.step), span = real_of(r.end) - real_of(r.start);
    cq_int   n;

    CQ_TRY(c->cx->status);
    if (step == 0 || !isfinite(span) || (span > 0 && step < 0) || (span < 0 && step > 0))
        return cq_call_fail(c, CQ_E_ARGUMENT, "steps of %g do not lead from %g to %g", step,
                            real_of(r.start), real_of(r.end));
    if (r.whole) {
        cq_int by   = whole_of(r.step);
        bool   down = by.value < 0;

        if (by.value == 0)
            return cq_call_fail(c, CQ_E_ARGUMENT, "expected a step other than 0");
        n = down ? cq_size_sub(c, whole_of(r.start), whole_of(r.end))
                 : cq_size_sub(c, whole_of(r.end), whole_of(r.start));
        if (down)
            by = cq_size_sub(c, cq_i(0), by);
        n = cq_size_floordiv(c, cq_size_add(c, n, cq_size_sub(c, by, cq_i(1))), by);
    } else {
        n = cq_i((int64_t)ceil(span / step));
        if (is_open(r.start) || is_open(r.end) || is_open(r.step))
            n = cq_unknown_size(c, n.value);
    }
    return cq_result(c, 0, dtype, 1, &n);
}

static cq_status arange_run(cq_opcall *c)
{
    cq_tensor *out = cq_result_tensor(c, 0);
    cq_dtype   dtype;
    range      r = range_of(c, &dtype);

    if (cq_dtype_is_float(out->dtype))
        return cq_kernel_arange_f64(out, real_of(r.start), real_of(r.step));
    return cq_kernel_arange_i64(out, whole_of(r.start).value, whole_of(r.step).value);
}

/* range includes its end and is floating-point by default. */
static cq_status range_shape(cq_opcall *c)
{
    cq_dtype dtype = cq_arg_dtype(c, "dtype", cq_default_float(c->cx->default_float)), ignored;
    range    r     = range_of(c, &ignored);
    double   n     = (real_of(r.end) - real_of(r.start)) / real_of(r.step);
    cq_int   size;

    if (!(n >= 0) || isinf(n))
        return cq_call_fail(c, CQ_E_ARGUMENT, "steps of %g do not lead from %g to %g",
                            real_of(r.step), real_of(r.start), real_of(r.end));
    size = cq_i((int64_t)n + 1);
    return cq_result(c, 0, dtype, 1, &size);
}

static cq_status linspace_shape(cq_opcall *c)
{
    cq_int n = cq_arg_int(c, "steps");

    if (n.value < 0)
        return cq_call_fail(c, CQ_E_ARGUMENT, "expected at least 0 steps, got %lld",
                            (long long)n.value);
    return cq_result(c, 0, cq_arg_dtype(c, "dtype", cq_default_float(c->cx->default_float)), 1, &n);
}

static cq_status linspace_run(cq_opcall *c)
{
    return cq_kernel_linspace(cq_result_tensor(c, 0), cq_arg_f64(c, "start"), cq_arg_f64(c, "end"));
}

/* ---- matrices ---- */

static cq_status eye_shape(cq_opcall *c)
{
    cq_int n = cq_arg_int(c, "n"), sizes[2] = { n, has_arg(c, "m") ? cq_arg_int(c, "m") : n };

    if (sizes[0].value < 0 || sizes[1].value < 0)
        return cq_call_fail(c, CQ_E_ARGUMENT, "expected sizes of at least 0");
    return cq_result(c, 0, cq_arg_dtype(c, "dtype", cq_default_float(c->cx->default_float)), 2,
                     sizes);
}

static cq_status eye_run(cq_opcall *c)
{
    return cq_kernel_eye(cq_result_tensor(c, 0));
}

static cq_status triangle_shape(cq_opcall *c)
{
    if (c->args[0].u.tensor->rank < 2)
        return cq_call_fail(c, CQ_E_ARGUMENT, "expected at least 2 dimensions, got %u",
                            (unsigned)c->args[0].u.tensor->rank);
    return cq_shape_of_self(c);
}

static cq_status tril_run(cq_opcall *c)
{
    return cq_kernel_tril(cq_result_tensor(c, 0), c->args[0].u.tensor, cq_arg_i64(c, "diagonal"));
}

static cq_status triu_run(cq_opcall *c)
{
    return cq_kernel_triu(cq_result_tensor(c, 0), c->args[0].u.tensor, cq_arg_i64(c, "diagonal"));
}

/* ---- from numbers ---- */

static cq_status number_shape(cq_opcall *c)
{
    cq_val v = c->args[0];

    /* Only scalar_tensor converts integers to floats. */
    return cq_result(c, 0,
                     cq_arg_dtype(c, "dtype",
                                  has_arg(c, "s") ? cq_default_float(c->cx->default_float)
                                                  : dtype_of_number(c, v)),
                     0, NULL);
}

static cq_status number_run(cq_opcall *c)
{
    return fill_with(cq_result_tensor(c, 0), c->args[0]);
}

/* A list of lists of numbers: its sizes, and the dtype that holds all of them. */
static cq_status measure(cq_opcall *c, const cq_val *v, size_t depth, size_t *rank, cq_int *sizes,
                         cq_dtype *dtype)
{
    if (v->kind != CQ_VAL_LIST && v->kind != CQ_VAL_TUPLE) {
        if (v->kind != CQ_VAL_INT && v->kind != CQ_VAL_FLOAT && v->kind != CQ_VAL_BOOL)
            return cq_call_fail(c, CQ_E_TYPE, "expected numbers, got %s",
                                cq_val_kind_name(v->kind));
        if (*rank != SIZE_MAX && *rank != depth)
            return cq_call_fail(c, CQ_E_ARGUMENT, "the lists have different nesting depths");
        *rank  = depth;
        *dtype = cq_dtype_promote(*dtype, dtype_of_number(c, *v));
        return CQ_OK;
    }
    if (depth == CQ_MAX_RANK)
        return cq_call_fail(c, CQ_E_ARGUMENT, "lists are nested more than %d deep", CQ_MAX_RANK);
    if (sizes[depth].value >= 0 && sizes[depth].value != (int64_t)v->u.list->n)
        return cq_call_fail(c, CQ_E_ARGUMENT, "lists of one level have %lld and %zu items",
                            (long long)sizes[depth].value, v->u.list->n);
    sizes[depth] = cq_i((int64_t)v->u.list->n);
    if (v->u.list->n == 0) /* the depth is unknown */
        *rank = depth + 1;
    for (size_t i = 0; i < v->u.list->n; i++)
        CQ_TRY(measure(c, &v->u.list->items[i], depth + 1, rank, sizes, dtype));
    return CQ_OK;
}

static cq_status list_shape(cq_opcall *c)
{
    cq_int   sizes[CQ_MAX_RANK];
    size_t   rank  = SIZE_MAX;
    cq_dtype dtype = CQ_DTYPE_NONE;

    for (size_t i = 0; i < CQ_MAX_RANK; i++)
        sizes[i] = cq_i(-1);
    CQ_TRY(measure(c, &c->args[0], 0, &rank, sizes, &dtype));
    return cq_result(c, 0, cq_arg_dtype(c, "dtype", dtype == CQ_DTYPE_NONE ? CQ_DTYPE_F32 : dtype),
                     rank, sizes);
}

static void put_numbers(const cq_tensor *out, const cq_val *v, int64_t *at)
{
    int64_t size = (int64_t)cq_dtype_size(out->dtype);
    char   *to   = cq_tensor_bytes(out) + *at * size;
    int64_t whole;
    double  real;

    if (v->kind == CQ_VAL_LIST || v->kind == CQ_VAL_TUPLE) {
        for (size_t i = 0; i < v->u.list->n; i++)
            put_numbers(out, &v->u.list->items[i], at);
        return;
    }
    (*at)++;
    real  = real_of(*v);
    whole = whole_of(*v).value;
    if (v->kind == CQ_VAL_FLOAT)
        cq_store_of(out->dtype, CQ_WIDE_F64)(to, size, &real, 1);
    else
        cq_store_of(out->dtype, CQ_WIDE_I64)(to, size, &whole, 1);
}

static cq_status list_run(cq_opcall *c)
{
    int64_t at = 0;

    put_numbers(cq_result_tensor(c, 0), &c->args[0], &at);
    return CQ_OK;
}

/* The class numbers 0 … n-1 compared with each element. */
static cq_status one_hot(cq_opcall *c)
{
    cq_tensor *x = c->args[0].u.tensor, *most, *classes;
    cq_int     n = cq_arg_int(c, "num_classes");

    if (x->dtype != CQ_DTYPE_I64)
        return cq_call_fail(c, CQ_E_TYPE, "expected classes of int64, got %s",
                            cq_dtype_name(x->dtype));
    if (n.value < 0 && !n.expr) {
        most = CQ_OP(c->cx, "aten::max", TENSOR(x));
        CQ_TRY(c->cx->status);
        if (!cq_tensor_has_data(most)) /* newer opsets have OneHot and do not decompose it */
            return cq_call_fail(c, CQ_E_UNSUPPORTED,
                                "a data-dependent number of classes requires opset 9");
        n = cq_i(cq_tensor_get_i64(most, 0) + 1);
    }
    for (int64_t i = 0; c->real && i < cq_tensor_numel(x); i++)
        if (cq_tensor_get_i64(x, i) < 0 || cq_tensor_get_i64(x, i) >= n.value)
            return cq_call_fail(c, CQ_E_ARGUMENT, "class %lld is not below %lld",
                                (long long)cq_tensor_get_i64(x, i), (long long)n.value);
    classes = CQ_OP(c->cx, "aten::arange", SIZE(n));
    x       = CQ_OP(c->cx, "aten::unsqueeze", TENSOR(x), INT(-1));
    x       = CQ_OP(c->cx, "aten::eq.Tensor", TENSOR(x), TENSOR(classes));
    return cq_result_set_tensor(c, 0,
                                CQ_OP(c->cx, "aten::to.dtype", TENSOR(x), DTYPE(CQ_DTYPE_I64)));
}

/* Without data the number of classes may be unknown. */
static cq_status one_hot_shape(cq_opcall *c)
{
    cq_tensor *x = c->args[0].u.tensor;
    cq_int     sizes[CQ_MAX_RANK], n = cq_arg_int(c, "num_classes");

    memcpy(sizes, x->sizes, x->rank * sizeof *sizes);
    sizes[x->rank] = n.value < 0 && !n.expr ? cq_unknown_size(c, 2) : n;
    return cq_result(c, 0, CQ_DTYPE_I64, x->rank + 1, sizes);
}

#define OPTIONS                                                                                    \
    "*, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"
#define FORMAT ", MemoryFormat? memory_format=None"
#define FILLED(text_of_schema, kind, text)                                                         \
    {                                                                                              \
        .schema = "aten::" text_of_schema ") -> Tensor", .about = text, .shape = fill_shape,       \
        .run = fill_run, .variant = kind                                                           \
    }
#define NUMBER(text_of_schema)                                                                     \
    {                                                                                              \
        .schema = "aten::" text_of_schema ") -> Tensor", .about = "a number as a tensor",          \
        .shape = number_shape, .run = number_run                                                   \
    }
#define ARANGE(text_of_schema)                                                                     \
    {                                                                                              \
        .schema = "aten::" text_of_schema ", " OPTIONS ") -> Tensor",                              \
        .about = "numbers in equal steps, without the end", .shape = arange_shape,                 \
        .run = arange_run                                                                          \
    }

const cq_op_def cq_ops_creation[] = {
    FILLED("zeros(SymInt[] size, " OPTIONS, ZEROS, "zeros"),
    FILLED("ones(SymInt[] size, " OPTIONS, ONES, "ones"),
    FILLED("full(SymInt[] size, Scalar fill_value, " OPTIONS, FULL,
           "a tensor filled with one number"),
    FILLED("empty.memory_format(SymInt[] size, " OPTIONS FORMAT, ZEROS,
           "zeros, because calque has no uninitialized tensors"),
    FILLED("zeros_like(Tensor self, " OPTIONS FORMAT, ZEROS, "zeros"),
    FILLED("ones_like(Tensor self, " OPTIONS FORMAT, ONES, "ones"),
    FILLED("full_like(Tensor self, Scalar fill_value, " OPTIONS FORMAT, FULL,
           "a tensor filled with one number"),
    FILLED("empty_like(Tensor self, " OPTIONS FORMAT, ZEROS, "zeros"),
    FILLED("new_zeros(Tensor self, SymInt[] size, " OPTIONS, ZEROS, "zeros"),
    FILLED("new_ones(Tensor self, SymInt[] size, " OPTIONS, ONES, "ones"),
    FILLED("new_full(Tensor self, SymInt[] size, Scalar fill_value, " OPTIONS, FULL,
           "a tensor filled with one number"),
    FILLED("new_empty(Tensor self, SymInt[] size, " OPTIONS, ZEROS, "zeros"),
    CQ_KERNEL("aten::fill.Scalar(Tensor self, Scalar value) -> Tensor",
              "a tensor filled with one number", cq_shape_of_self, refill_run),
    CQ_KERNEL("aten::fill.Tensor(Tensor self, Tensor value) -> Tensor",
              "a tensor filled with one number", refill_tensor_shape, copy_run),
    CQ_KERNEL("aten::zero(Tensor self) -> Tensor", "zeros", cq_shape_of_self, refill_run),
    CQ_KERNEL("aten::copy(Tensor self, Tensor src, bool non_blocking=False) -> Tensor",
              "src broadcast and converted to the sizes and dtype of self", copy_shape, copy_run),

    ARANGE("arange(Scalar end"),
    ARANGE("arange.start(Scalar start, Scalar end"),
    ARANGE("arange.start_step(Scalar start, Scalar end, Scalar step=1"),
    CQ_KERNEL("aten::range.step(Scalar start, Scalar end, Scalar step=1, " OPTIONS ") -> Tensor",
              "numbers in equal steps, with the end", range_shape, arange_run),
    CQ_KERNEL("aten::range(Scalar start, Scalar end, " OPTIONS ") -> Tensor",
              "numbers in equal steps, with the end", range_shape, arange_run),
    CQ_KERNEL("aten::linspace(Scalar start, Scalar end, int steps, " OPTIONS ") -> Tensor",
              "a given number of numbers in equal steps", linspace_shape, linspace_run),

    CQ_KERNEL("aten::eye(int n, " OPTIONS ") -> Tensor", "the identity matrix", eye_shape, eye_run),
    CQ_KERNEL("aten::eye.m(int n, int m, " OPTIONS ") -> Tensor",
              "a matrix with ones on the diagonal", eye_shape, eye_run),
    CQ_KERNEL("aten::tril(Tensor self, int diagonal=0) -> Tensor",
              "the lower triangle, zeros above", triangle_shape, tril_run),
    CQ_KERNEL("aten::triu(Tensor self, int diagonal=0) -> Tensor",
              "the upper triangle, zeros below", triangle_shape, triu_run),

    NUMBER("scalar_tensor(Scalar s, " OPTIONS),
    NUMBER("tensor.float(float t, *, ScalarType? dtype=None, Device? device=None, bool "
           "requires_grad=False"),
    NUMBER("tensor.int(int t, *, ScalarType? dtype=None, Device? device=None, bool "
           "requires_grad=False"),
    NUMBER("tensor.bool(bool t, *, ScalarType? dtype=None, Device? device=None, bool "
           "requires_grad=False"),
    CQ_KERNEL("aten::tensor(t[] data, *, ScalarType? dtype=None, Device? device=None, bool "
              "requires_grad=False) -> Tensor",
              "numbers as a tensor", list_shape, list_run),
    NUMBER("as_tensor.float(float t, *, ScalarType? dtype=None, Device? device=None"),
    NUMBER("as_tensor.int(int t, *, ScalarType? dtype=None, Device? device=None"),
    NUMBER("as_tensor.bool(bool t, *, ScalarType? dtype=None, Device? device=None"),
    CQ_KERNEL("aten::as_tensor.list(t[] data, *, ScalarType? dtype=None, Device? device=None) -> "
              "Tensor",
              "numbers as a tensor", list_shape, list_run),
    { .schema  = "aten::one_hot(Tensor self, int num_classes=-1) -> Tensor",
      .about   = "vectors of zeros with a 1 at the class",
      .shape   = one_hot_shape,
      .compose = one_hot },
    { 0 },
};
