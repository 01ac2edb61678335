/* Natives of bodies (body.h): properties of tensors that need no data. */
#include "aten/core/body.h"

cq_val cq_native_constant(cq_body *b, cq_tensor *wide, cq_dtype dtype)
{
    cq_tensor *t = NULL;

    cq_ctx_fail(b->c->cx, cq_tensor_clone(&t, wide, dtype));
    cq_tensor_release(wide);
    return t ? TENSOR(cq_ctx_own_tensor(b->c->cx, t)) : CQ_NONE;
}

/* ---- properties of tensors ---- */

static cq_val shape(cq_body *b, const cq_val *args, size_t n)
{
    (void)n;
    return cq_ints(b->c->cx, args[0].u.tensor->sizes, args[0].u.tensor->rank);
}

static cq_val ndim(cq_body *b, const cq_val *args, size_t n)
{
    (void)b, (void)n;
    return INT(args[0].u.tensor->rank);
}

static cq_val dtype(cq_body *b, const cq_val *args, size_t n)
{
    (void)b, (void)n;
    return DTYPE(args[0].u.tensor->dtype);
}

static cq_val wrap_dim(cq_body *b, const cq_val *args, size_t n)
{
    int64_t dim = cq_lang_i64(&b->lang, args[0]), rank = cq_lang_i64(&b->lang, args[1]),
            most = rank ? rank : 1;

    (void)n;
    if (dim < -most || dim >= most)
        return cq_lang_fail(&b->lang, CQ_E_ARGUMENT,
                            "dim %lld is out of range for a tensor of %lld dimensions",
                            (long long)dim, (long long)rank);
    return INT(dim < 0 ? dim + most : dim);
}

static cq_val wrap_dims(cq_body *b, const cq_val *args, size_t n)
{
    size_t        n_dims;
    const cq_val *dims = cq_lang_items(&args[0], &n_dims);
    cq_val        out  = cq_lang_list(&b->lang, dims, n_dims);

    (void)n;
    for (size_t i = 0; i < n_dims && out.kind == CQ_VAL_LIST; i++)
        out.u.list->items[i] = wrap_dim(b, (cq_val[]){ dims[i], args[1] }, 2);
    return out;
}

static cq_val size(cq_body *b, const cq_val *args, size_t n)
{
    const cq_tensor *t  = args[0].u.tensor;
    int64_t          at = cq_lang_i64(&b->lang, args[1]);

    (void)n;
    if (at < -(int64_t)t->rank || at >= (int64_t)t->rank)
        return cq_lang_fail(&b->lang, CQ_E_ARGUMENT,
                            "dim %lld is out of range for a tensor of %u dimensions", (long long)at,
                            (unsigned)t->rank);
    return SIZE(t->sizes[at < 0 ? at + (int64_t)t->rank : at]);
}

static cq_val numel(cq_body *b, const cq_val *args, size_t n)
{
    const cq_tensor *t   = args[0].u.tensor;
    cq_int           all = cq_i(1);

    (void)n;
    for (size_t i = 0; i < t->rank; i++)
        all = cq_size_mul(b->c, all, t->sizes[i]);
    return SIZE(all);
}

static cq_val is_floating_point(cq_body *b, const cq_val *args, size_t n)
{
    (void)b, (void)n;
    return BOOL(cq_dtype_is_float(args[0].u.tensor->dtype));
}

static cq_val is_complex(cq_body *b, const cq_val *args, size_t n)
{
    (void)b, (void)n;
    return BOOL(args[0].kind == CQ_VAL_TENSOR ? cq_dtype_is_complex(args[0].u.tensor->dtype)
                                              : args[0].kind == CQ_VAL_COMPLEX);
}

/* The argument is a dtype, which is a number. */
static cq_val dtype_is_float(cq_body *b, const cq_val *args, size_t n)
{
    (void)n;
    return BOOL(cq_dtype_is_float(cq_dtype_from_torch(cq_lang_i64(&b->lang, args[0]))));
}

static cq_val dtype_is_complex(cq_body *b, const cq_val *args, size_t n)
{
    (void)n;
    return BOOL(cq_dtype_is_complex(cq_dtype_from_torch(cq_lang_i64(&b->lang, args[0]))));
}

static cq_val dtype_name(cq_body *b, const cq_val *args, size_t n)
{
    (void)n;
    return cq_str_val(b->c->cx, cq_dtype_name(cq_dtype_from_torch(cq_lang_i64(&b->lang, args[0]))));
}

/* A tensor's sizes, or a list of them. */
static size_t sizes_of(cq_body *b, cq_val v, cq_int *out)
{
    size_t        n;
    const cq_val *items = cq_lang_items(&v, &n);

    if (v.kind == CQ_VAL_TENSOR) {
        memcpy(out, v.u.tensor->sizes, v.u.tensor->rank * sizeof *out);
        return v.u.tensor->rank;
    }
    if (n > CQ_MAX_RANK) {
        cq_lang_fail(&b->lang, CQ_E_ARGUMENT, "%zu dimensions are too many", n);
        return 0;
    }
    for (size_t i = 0; i < n; i++)
        out[i] = items[i].kind == CQ_VAL_INT ? items[i].u.i : cq_i(0);
    return n;
}

/* The arguments are tensors, lists of sizes, or one list of tensors. */
static cq_val broadcast_shapes(cq_body *b, const cq_val *args, size_t n)
{
    cq_int sizes[CQ_MAX_RANK], so_far[CQ_MAX_RANK], more[CQ_MAX_RANK];
    size_t rank = 0;

    if (n == 1)
        args = cq_lang_items(args, &n);
    for (size_t i = 0; i < n; i++) {
        size_t n_more = sizes_of(b, args[i], more);

        memcpy(so_far, sizes, rank * sizeof *sizes);
        if (cq_ctx_fail(b->c->cx, cq_broadcast(b->c, &rank, sizes, rank, so_far, n_more, more)) !=
            CQ_OK)
            return CQ_NONE;
    }
    return cq_ints(b->c->cx, sizes, rank);
}

/* The elements of a tensor of integers. Known sizes stay symbols; other elements are fixed to
 * the example from here on. */
static cq_val tolist(cq_body *b, const cq_val *args, size_t n)
{
    cq_tensor       *t = args[0].u.tensor, *data = t;
    const cq_schema *s   = b->c->op->schema;
    cq_val           out = cq_lang_list(&b->lang, NULL, (size_t)cq_tensor_numel(t));

    if (!t->known && cq_ctx_fail(b->c->cx, cq_call_data(b->c, &data, t)) != CQ_OK)
        return CQ_NONE;
    n = out.kind == CQ_VAL_LIST ? out.u.list->n : 0;
    for (size_t i = 0; i < n; i++)
        out.u.list->items[i] =
            t->known ? SIZE(t->known[i]) : INT(cq_tensor_get_i64(data, (int64_t)i));
    for (size_t i = 0; i < s->n_args && data != t; i++)
        if (b->c->args[i].kind == CQ_VAL_TENSOR && b->c->args[i].u.tensor == t)
            b->c->cx->listener->baked(b->c->cx->listener_self, b->c->cx, s->args[i].name,
                                      cq_i((int64_t)n));
    return out;
}

/* Whether a number is the same in every run. */
static cq_val is_known(cq_body *b, const cq_val *args, size_t n)
{
    cq_val v = args[0];

    (void)b, (void)n;
    return BOOL(v.kind == CQ_VAL_INT     ? !v.u.i.expr
                : v.kind == CQ_VAL_FLOAT ? !v.u.f.origin
                : v.kind == CQ_VAL_BOOL  ? !v.u.b.origin
                                         : v.kind != CQ_VAL_TENSOR);
}

static cq_val result_type(cq_body *b, const cq_val *args, size_t n)
{
    if (n == 1)
        args = cq_lang_items(args, &n);
    return DTYPE(cq_result_type(b->c->cx->default_float, args, n));
}

/* The value of a size on the example, without informing the listener: for cases that save work
 * without changing the meaning. */
static cq_val size_hint(cq_body *b, const cq_val *args, size_t n)
{
    (void)b, (void)n;
    return INT(args[0].u.i.value);
}

/* A part of a number; of a tensor it is an operator. */
static cq_val real(cq_body *b, const cq_val *args, size_t n)
{
    (void)b, (void)n;
    return args[0].kind == CQ_VAL_COMPLEX ? FLOAT(args[0].u.c.re) : args[0];
}

static cq_val imag(cq_body *b, const cq_val *args, size_t n)
{
    (void)b, (void)n;
    return args[0].kind == CQ_VAL_COMPLEX ? FLOAT(args[0].u.c.im) : INT(0);
}

#define KIND(kind) (1u << CQ_VAL_##kind)
#define A_TENSOR   KIND(TENSOR)
#define NUMBER     (KIND(INT) | KIND(FLOAT) | KIND(BOOL) | KIND(COMPLEX))
#define ANY        (~0u)

const cq_native cq_natives[] = {
    { ".shape", 1, 1, A_TENSOR, shape },
    { ".ndim", 1, 1, A_TENSOR, ndim },
    { ".dtype", 1, 1, A_TENSOR, dtype },
    { "dim", 1, 1, A_TENSOR, ndim },
    { "size", 2, 2, A_TENSOR, size },
    { "size", 1, 1, A_TENSOR, shape },
    { "numel", 1, 1, A_TENSOR, numel },
    { "tolist", 1, 1, A_TENSOR, tolist },
    { "is_floating_point", 1, 1, A_TENSOR, is_floating_point },
    { "is_complex", 1, 1, ANY, is_complex },
    { ".is_floating_point", 1, 1, KIND(INT), dtype_is_float },
    { ".is_complex", 1, 1, KIND(INT), dtype_is_complex },
    { "torch.real", 1, 1, NUMBER, real },
    { "torch.imag", 1, 1, NUMBER, imag },
    { "calque.is_complex", 1, 1, ANY, is_complex },
    { "calque.dtype_name", 1, 1, KIND(INT), dtype_name },
    { "calque.broadcast_shapes", 1, 4, A_TENSOR | KIND(LIST), broadcast_shapes },
    { "calque.result_type", 1, 4, ANY, result_type },
    { "calque.size_hint", 1, 1, KIND(INT), size_hint },
    { "calque.is_known", 1, 1, ANY, is_known },
    { "calque.wrap_dim", 2, 2, ANY, wrap_dim },
    { "calque.wrap_dims", 2, 2, ANY, wrap_dims },
    { "calque.waves", 7, 7, KIND(STR), cq_native_waves },
    { "calque.kaiser", 3, 3, KIND(INT), cq_native_kaiser },
    { "calque.einsum_labels", 2, 2, KIND(STR), cq_native_einsum_labels },
    { "calque.floats", 1, 1, A_TENSOR, cq_native_floats },
    { "calque.quantized", 4, 5, A_TENSOR, cq_native_quantized },
    { "calque.regrid", 2, 2, A_TENSOR, cq_native_regrid },
    { "calque.grid_dtype", 1, 1, A_TENSOR, cq_native_grid_dtype },
    { "calque.qparams", 1, 1, A_TENSOR, cq_native_qparams },
    { "calque.narrow_range", 1, 1, KIND(BOOL), cq_native_narrow_range },
    { "calque.bias_on_grid", 3, 3, ANY, cq_native_bias_on_grid },
    { 0 },
};
