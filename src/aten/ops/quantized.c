/* Quantized tensors: quantization, dequantization, and how the operators of other files treat them.
 * Layers that exist for quantized tensors only are in quantized_layers.c. */
#include "aten/ops/quantized.h"
#include "aten/core/body.h"
#include "kernel/quantize.h"

#include <math.h>

/* ---- operators that support quantized tensors ---- */

/* Views keep the quantization parameters, numbers have none, and operators of the namespace
 * `quantized` set those of their results. */
static cq_quantized_rule rule_of(const cq_op *op)
{
    const cq_op *plain = op->inplace_of ? op->inplace_of : op->copy_of ? op->copy_of : op;

    if (op->def->flags & CQ_OP_HOST)
        return CQ_QUANTIZED_PLAIN;
    if (plain->traits.quantized != CQ_QUANTIZED_NONE)
        return plain->traits.quantized;
    if (strncmp(op->schema->name, "quantized::", 11) == 0)
        return CQ_QUANTIZED_PLAIN;
    return op->def->view ? CQ_QUANTIZED_KEEP : CQ_QUANTIZED_NONE;
}

/* ---- calls ---- */

cq_tensor *cq_from_stored(cq_ctx *cx, cq_tensor *t)
{
    cq_qparams *q = t->qparams;
    cq_tensor  *plain;

    if (!q || cq_dtype_is_float(t->dtype))
        return t;
    /* The same integers without quantization parameters, otherwise the call would recurse. */
    if (cq_tensor_new_view(&plain, t, t->dtype, t->rank, t->sizes, t->strides, t->offset) !=
        CQ_OK) {
        cq_ctx_fail(cx, cq_last_error()->status);
        return NULL;
    }
    plain = cq_ctx_own_tensor(cx, plain);
    if (!plain)
        return NULL;
    plain = q->scales ? CQ_OP(cx, "aten::_make_per_channel_quantized_tensor", TENSOR(plain),
                              TENSOR(q->scales), TENSOR(q->zero_points), INT(q->axis))
                      : CQ_OP(cx, "aten::_make_per_tensor_quantized_tensor", TENSOR(plain),
                              FLOAT(q->scale), INT(q->zero_point));
    if (plain)
        cq_tensor_set_qparams(plain, q);
    return plain;
}

cq_tensor *cq_round_to_qparams(cq_ctx *cx, cq_tensor *t, cq_qparams *q)
{
    cq_dtype stored;
    int64_t  low, high;

    if (!t || !q || !cq_qparams_range(q->torch_dtype, &stored, &low, &high))
        return NULL;
    t = q->scales
            ? CQ_OP(cx, "aten::fake_quantize_per_channel_affine", TENSOR(t), TENSOR(q->scales),
                    TENSOR(q->zero_points), INT(q->axis), INT(low), INT(high))
            : CQ_OP(cx, "aten::fake_quantize_per_tensor_affine", TENSOR(t), FLOAT(q->scale),
                    INT(q->zero_point), INT(low), INT(high));
    if (t)
        cq_tensor_set_qparams(t, q);
    return t;
}

static cq_qparams *first_qparams(const cq_val *args, size_t n)
{
    cq_qparams *q = NULL;

    for (size_t i = 0; i < n && !q; i++) {
        if (args[i].kind == CQ_VAL_TENSOR)
            q = args[i].u.tensor->qparams;
        else if (args[i].kind == CQ_VAL_LIST)
            q = first_qparams(args[i].u.list->items, args[i].u.list->n);
    }
    return q;
}

/* ---- means ---- */

/* Floats cannot represent half-way points between steps of most scales, and every fourth mean of
 * four integers is half-way. So means are computed on the integers without their zero point, which
 * floats represent exactly. */
static bool has_exact_means(const cq_qparams *q)
{
    return !q->scales && q->torch_dtype != CQ_TORCH_QINT32;
}

static cq_tensor *in_steps(cq_ctx *cx, cq_tensor *t, const cq_qparams *q)
{
    t = CQ_OP(cx, "aten::div.Scalar", TENSOR(t), FLOAT(q->scale));
    return t ? CQ_OP(cx, "aten::round", TENSOR(t)) : NULL;
}

static cq_tensor *from_steps(cq_ctx *cx, cq_tensor *t, cq_qparams *q)
{
    cq_qparams *steps;

    if (cq_qparams_new(&steps, q->torch_dtype, 1, q->zero_point) != CQ_OK) {
        cq_ctx_fail(cx, CQ_E_NO_MEMORY);
        return NULL;
    }
    t = cq_round_to_qparams(cx, t, steps);
    cq_qparams_release(steps);
    if (t)
        t = CQ_OP(cx, "aten::mul.Scalar", TENSOR(t), FLOAT(q->scale));
    if (t)
        cq_tensor_set_qparams(t, q);
    return t;
}

cq_status cq_quantized_before(cq_opcall *c, cq_quantized_rule *rule, cq_qparams **like)
{
    size_t n = c->op->schema->n_args;

    *rule = rule_of(c->op);
    *like = first_qparams(c->args, n);
    if (*rule == CQ_QUANTIZED_NONE)
        return cq_fail(CQ_E_UNSUPPORTED, c->op->schema->full, "dequantize the tensor before it",
                       "it does not work on quantized tensors");
    for (size_t i = 0; i < n && *rule != CQ_QUANTIZED_STORED; i++)
        if (c->args[i].kind == CQ_VAL_TENSOR)
            c->args[i] = TENSOR(cq_from_stored(c->cx, c->args[i].u.tensor));
    CQ_TRY(c->cx->status);
    if (*rule == CQ_QUANTIZED_MEAN && !has_exact_means(*like))
        *rule = CQ_QUANTIZED_ROUND;
    if (*rule == CQ_QUANTIZED_MEAN)
        c->args[0] = TENSOR(in_steps(c->cx, c->args[0].u.tensor, *like));
    return c->cx->status;
}

/* The quantization parameters of sigmoid and tanh: all 256 numbers between the limits. */
static cq_status fixed_grid(cq_qparams **out, const cq_qparams *like, bool is_signed)
{
    bool    quint8 = like->torch_dtype == CQ_TORCH_QUINT8;
    int64_t zero   = is_signed ? (quint8 ? 128 : 0) : (quint8 ? 0 : -128);

    if (like->torch_dtype == CQ_TORCH_QINT32)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL,
                       "quantized tensors of 32 bits have no such function");
    return cq_qparams_new(out, like->torch_dtype, (is_signed ? 2.0 : 1.0) / 256, zero);
}

static void settle(cq_opcall *c, cq_val *v, cq_quantized_rule rule, cq_qparams *q)
{
    if (v->kind == CQ_VAL_LIST)
        for (size_t i = 0; i < v->u.list->n; i++)
            settle(c, &v->u.list->items[i], CQ_QUANTIZED_KEEP, q);
    if (v->kind != CQ_VAL_TENSOR || !cq_dtype_is_float(v->u.tensor->dtype))
        return;
    if (rule == CQ_QUANTIZED_KEEP)
        cq_tensor_set_qparams(v->u.tensor, q);
    else if (rule == CQ_QUANTIZED_MEAN)
        *v = TENSOR(from_steps(c->cx, v->u.tensor, q));
    else
        *v = TENSOR(cq_round_to_qparams(c->cx, v->u.tensor, q));
}

cq_status cq_quantized_after(cq_opcall *c, cq_quantized_rule rule, cq_qparams *like)
{
    cq_qparams *q = NULL;

    if (rule == CQ_QUANTIZED_PLAIN || rule == CQ_QUANTIZED_STORED)
        return CQ_OK;
    if (like->scales)
        return cq_fail(CQ_E_UNSUPPORTED, c->op->schema->full, "dequantize the tensor before it",
                       "it does not work on tensors with a grid for each channel");
    if (rule == CQ_QUANTIZED_UNIT || rule == CQ_QUANTIZED_SIGNED)
        CQ_TRY(fixed_grid(&q, like, rule == CQ_QUANTIZED_SIGNED));
    for (size_t i = 0; i < c->n_results; i++)
        settle(c, &c->results[i], rule, q ? q : like);
    cq_qparams_release(q);
    return c->cx->status;
}

/* ---- quantization parameters as tensors ---- */

/* A vector of one number, or the given tensor. */
static cq_status params_of(cq_opcall *c, const char *name, cq_dtype dtype, cq_tensor **out)
{
    cq_val    v   = cq_arg_val(c, name);
    int64_t   one = 1;
    cq_status status;

    if (v.kind == CQ_VAL_TENSOR)
        return cq_tensor_clone(out, v.u.tensor, dtype);
    CQ_TRY(cq_tensor_new_uninit(out, dtype, 1, &one));
    if (dtype == CQ_DTYPE_F32)
        *(float *)cq_tensor_bytes(*out) = (float)cq_arg_f64(c, name);
    else
        *(int32_t *)cq_tensor_bytes(*out) = (int32_t)cq_arg_i64(c, name);
    status = c->cx->status;
    if (status != CQ_OK)
        cq_tensor_release(*out);
    return status;
}

static int axis_of(const cq_opcall *c)
{
    return cq_schema_find(c->op->schema, "axis") < 0
               ? 0
               : cq_arg_dim(c, "axis", cq_arg_tensor(c, "self")->rank);
}

/* Both numbers as tensors, for a kernel. */
static cq_status with_params(cq_opcall *c,
                             cq_status (*run)(cq_opcall *c, cq_tensor *scale, cq_tensor *zero))
{
    cq_tensor *scale = NULL, *zero = NULL;
    cq_status  status = params_of(c, "scale", CQ_DTYPE_F32, &scale);

    if (status == CQ_OK)
        status = params_of(c, "zero_point", CQ_DTYPE_I32, &zero);
    if (status == CQ_OK)
        status = run(c, scale, zero);
    cq_tensor_release(scale);
    cq_tensor_release(zero);
    return status;
}

static cq_status check_params(const cq_opcall *c)
{
    cq_val     scale = cq_arg_val(c, "scale");
    cq_tensor *self  = cq_arg_tensor(c, "self");
    int64_t    want  = 1;

    if (scale.kind != CQ_VAL_TENSOR) {
        if (!(cq_arg_f64(c, "scale") > 0))
            return cq_call_fail(c, CQ_E_ARGUMENT, "the scale should be above 0, not %g",
                                cq_arg_f64(c, "scale"));
        return c->cx->status;
    }
    if (cq_schema_find(c->op->schema, "axis") >= 0)
        want = self->rank ? self->sizes[axis_of(c)].value : 1;
    if (cq_tensor_numel(scale.u.tensor) != want ||
        cq_tensor_numel(cq_arg_tensor(c, "zero_point")) != want)
        return cq_call_fail(
            c, CQ_E_ARGUMENT, "%lld scales and %lld zero points, expected %lld each",
            (long long)cq_tensor_numel(scale.u.tensor),
            (long long)cq_tensor_numel(cq_arg_tensor(c, "zero_point")), (long long)want);
    return c->cx->status;
}

/* ---- fake quantization ---- */

static cq_status fake_quantize_shape(cq_opcall *c)
{
    int64_t low = cq_arg_i64(c, "quant_min"), high = cq_arg_i64(c, "quant_max");
    cq_val  zero = cq_arg_val(c, "zero_point");

    CQ_TRY(check_params(c));
    if (!cq_dtype_is_float(cq_arg_tensor(c, "self")->dtype))
        return cq_call_fail(c, CQ_E_TYPE, "expected floats");
    if (low > high)
        return cq_call_fail(c, CQ_E_ARGUMENT, "there is nothing from %lld to %lld", (long long)low,
                            (long long)high);
    if (zero.kind == CQ_VAL_INT && (zero.u.i.value < low || zero.u.i.value > high))
        return cq_call_fail(c, CQ_E_ARGUMENT, "zero point %lld is not in %lld … %lld",
                            (long long)zero.u.i.value, (long long)low, (long long)high);
    return cq_shape_of_self(c);
}

static cq_status to_grid(cq_opcall *c, cq_tensor *scale, cq_tensor *zero)
{
    return cq_kernel_to_grid(cq_result_tensor(c, 0), cq_arg_tensor(c, "self"), scale, zero,
                             axis_of(c), cq_arg_i64(c, "quant_min"), cq_arg_i64(c, "quant_max"));
}

static cq_status fake_quantize_run(cq_opcall *c)
{
    return with_params(c, to_grid);
}

/* ---- natives of bodies ---- */

cq_val cq_native_floats(cq_body *b, const cq_val *args, size_t n)
{
    (void)n;
    return TENSOR(cq_from_stored(b->c->cx, args[0].u.tensor));
}

/* quantized(x, scale, zero_point, dtype), followed by an axis if there is a scale for each of its
 * slices. Numbers in tensors are baked in. */
cq_val cq_native_quantized(cq_body *b, const cq_val *args, size_t n)
{
    cq_ctx     *cx    = b->c->cx;
    int         dtype = (int)cq_lang_i64(&b->lang, args[3]);
    cq_qparams *q     = NULL;
    cq_tensor  *t     = NULL;
    cq_status   status;

    if (n == 5)
        status = cq_qparams_new_per_channel(&q, dtype, args[1].u.tensor, args[2].u.tensor,
                                            (int)cq_lang_i64(&b->lang, args[4]));
    else
        status = cq_qparams_new(&q, dtype, cq_lang_f64(&b->lang, args[1]),
                                cq_lang_i64(&b->lang, args[2]));
    if (cq_ctx_fail(cx, status) == CQ_OK)
        t = cq_round_to_qparams(cx, args[0].u.tensor, q);
    cq_qparams_release(q);
    return TENSOR(t);
}

/* regrid(x, like): x with the quantization parameters of like. */
cq_val cq_native_regrid(cq_body *b, const cq_val *args, size_t n)
{
    cq_qparams *q = args[1].u.tensor->qparams;

    (void)n;
    return q ? TENSOR(cq_round_to_qparams(b->c->cx, args[0].u.tensor, q)) : args[0];
}

/* A tensor from outside has no quantization parameters; most are uint8. */
cq_val cq_native_grid_dtype(cq_body *b, const cq_val *args, size_t n)
{
    const cq_qparams *q = args[0].u.tensor->qparams;

    (void)b, (void)n;
    return INT(q ? q->torch_dtype : CQ_TORCH_QUINT8);
}

/* qparams(x): scale and zero point, which are tensors if there is an axis; the least and the
 * greatest integer, the axis, and the storage dtype. None for a tensor that is not quantized. */
cq_val cq_native_qparams(cq_body *b, const cq_val *args, size_t n)
{
    const cq_qparams *q = args[0].u.tensor->qparams;
    cq_dtype          stored;
    int64_t           low, high;

    (void)n;
    if (!q || !cq_qparams_range(q->torch_dtype, &stored, &low, &high))
        return CQ_NONE;
    return cq_lang_list(&b->lang,
                        (cq_val[]){ q->scales ? TENSOR(q->scales) : FLOAT(q->scale),
                                    q->scales ? TENSOR(q->zero_points) : INT(q->zero_point),
                                    INT(low), INT(high), q->scales ? INT(q->axis) : CQ_NONE,
                                    DTYPE(stored) },
                        6);
}

/* Whether reduce_range applies. */
cq_val cq_native_narrow_range(cq_body *b, const cq_val *args, size_t n)
{
    (void)n;
    return BOOL(cq_lang_truth(&b->lang, args[0]) && !b->c->cx->whole_range);
}

/* bias_on_grid(bias, x, weight): the bias rounded to multiples of scale(x) * scale(weight), which
 * is the unit of the sums. */
cq_val cq_native_bias_on_grid(cq_body *b, const cq_val *args, size_t n)
{
    const cq_qparams *qx = args[1].u.tensor->qparams, *qw = args[2].u.tensor->qparams;
    cq_tensor        *t = args[0].kind == CQ_VAL_TENSOR ? args[0].u.tensor : NULL, *out;

    n = t ? (size_t)cq_tensor_numel(t) : 0;
    if (!t || !qx || !qw || qx->scales || cq_tensor_is_fake(t) ||
        (qw->scales && (cq_tensor_is_fake(qw->scales) || (size_t)cq_tensor_numel(qw->scales) != n)))
        return args[0];
    if (cq_ctx_fail(b->c->cx, cq_tensor_clone(&out, t, CQ_DTYPE_F32)) != CQ_OK)
        return CQ_NONE;
    for (size_t i = 0; i < n; i++) {
        double scale =
            qx->scale * (qw->scales ? cq_tensor_get_f64(qw->scales, (int64_t)i) : qw->scale);

        ((float *)cq_tensor_bytes(out))[i] =
            (float)(nearbyint(cq_tensor_get_f64(t, (int64_t)i) / scale) * scale);
    }
    return cq_ctx_own(b->c->cx, cq_val_of_tensor(out));
}

/* ---- from stored integers ---- */

static int torch_dtype_of(cq_dtype stored)
{
    return stored == CQ_DTYPE_I8    ? CQ_TORCH_QINT8
           : stored == CQ_DTYPE_U8  ? CQ_TORCH_QUINT8
           : stored == CQ_DTYPE_I32 ? CQ_TORCH_QINT32
                                    : 0;
}

static cq_status make_quantized_shape(cq_opcall *c)
{
    cq_tensor  *self = cq_arg_tensor(c, "self"), *out;
    cq_qparams *q;

    CQ_TRY(check_params(c));
    if (!torch_dtype_of(self->dtype))
        return cq_call_fail(c, CQ_E_TYPE, "expected int8, uint8 or int32, got %s",
                            cq_dtype_name(self->dtype));
    CQ_TRY(cq_result_like(c, 0, self, CQ_DTYPE_F32));
    out = cq_result_tensor(c, 0);
    if (cq_schema_find(c->op->schema, "axis") >= 0)
        CQ_TRY(cq_qparams_new_per_channel(&q, torch_dtype_of(self->dtype),
                                          cq_arg_tensor(c, "scale"), cq_arg_tensor(c, "zero_point"),
                                          axis_of(c)));
    else
        CQ_TRY(cq_qparams_new(&q, torch_dtype_of(self->dtype), cq_arg_f64(c, "scale"),
                              cq_arg_i64(c, "zero_point")));
    cq_tensor_set_qparams(out, q);
    cq_qparams_release(q);
    return CQ_OK;
}

static cq_status dequantize_stored(cq_opcall *c, cq_tensor *scale, cq_tensor *zero)
{
    return cq_kernel_dequantize(cq_result_tensor(c, 0), cq_arg_tensor(c, "self"), scale, zero,
                                axis_of(c));
}

static cq_status make_quantized_run(cq_opcall *c)
{
    return with_params(c, dequantize_stored);
}

/* ---- dequantization ---- */

/* A tensor that is not quantized is converted to float32 too. */
static cq_status dequantize_shape(cq_opcall *c)
{
    return cq_result_like(c, 0, c->args[0].u.tensor, CQ_DTYPE_F32);
}

static cq_status dequantize_run(cq_opcall *c)
{
    return cq_tensor_copy_into(cq_result_tensor(c, 0), c->args[0].u.tensor);
}

#define FAKE(text_of_schema, text)                                                                 \
    {                                                                                              \
        .schema = "aten::" text_of_schema ", int quant_min, int quant_max) -> Tensor",             \
        .about = text, .shape = fake_quantize_shape, .run = fake_quantize_run                      \
    }

const cq_op_def cq_ops_quantized[] = {
    FAKE("fake_quantize_per_tensor_affine(Tensor self, float scale, int zero_point",
         "quantization and dequantization"),
    FAKE("fake_quantize_per_tensor_affine.tensor_qparams(Tensor self, Tensor scale, Tensor "
         "zero_point",
         "quantization and dequantization"),
    FAKE("fake_quantize_per_channel_affine(Tensor self, Tensor scale, Tensor zero_point, int axis",
         "quantization and dequantization with a scale for each channel"),
    CQ_KERNEL("aten::_make_per_tensor_quantized_tensor(Tensor self, float scale, int zero_point) "
              "-> Tensor",
              "integers as a quantized tensor", make_quantized_shape, make_quantized_run),
    CQ_KERNEL("aten::_make_per_channel_quantized_tensor(Tensor self, Tensor scale, "
              "Tensor zero_point, int axis) -> Tensor",
              "integers as a quantized tensor with a scale for each channel", make_quantized_shape,
              make_quantized_run),
    CQ_KERNEL("aten::dequantize.self(Tensor self) -> Tensor", "a quantized tensor as floats",
              dequantize_shape, dequantize_run),
    { 0 },
};
