/* Layers that exist for quantized tensors alone. Each is its plain twin in floats, put on the grid
 * that its arguments name; so they are exported as the layer between DequantizeLinear and
 * QuantizeLinear, which runtimes fuse. Their weights come packed (quantized.h). */
#include "aten/quantized.h"

#include <math.h>

/* ---- results ---- */

/* The variant of a row: what else it does. */
enum { RELU = 1, TRANSPOSED = 2 };

static cq_status done(cq_opcall *c, cq_tensor *t)
{
    return cq_result_set_tensor(c, 0, t);
}

static cq_tensor *relu_too(cq_opcall *c, cq_tensor *t)
{
    return c->op->def->variant & RELU ? CQ_OP(c->cx, "aten::relu", TENSOR(t)) : t;
}

/* A tensor that came from outside has no grid; most are of uint8. */
static int torch_dtype_like(const cq_tensor *x)
{
    return x && x->qparams ? x->qparams->torch_dtype : CQ_TORCH_QUINT8;
}

static cq_status done_on(cq_opcall *c, cq_tensor *t, const cq_tensor *x, double scale, int64_t zero)
{
    cq_qparams *q;

    t = relu_too(c, t);
    CQ_TRY(c->cx->status);
    CQ_TRY(cq_qparams_new(&q, torch_dtype_like(x), scale, zero));
    t = cq_to_grid(c->cx, t, q);
    cq_qparams_release(q);
    return done(c, t);
}

/* The same with the numbers of the call, the last float and the last int that has no default. */
static cq_status done_as_asked(cq_opcall *c, cq_tensor *t)
{
    static const char *const names[][2] = {
        { "output_scale", "output_zero_point" },
        { "scale", "zero_point" },
        { "Y_scale_i", "Y_zero_point_i" },
    };
    const cq_tensor *x = c->args[0].kind == CQ_VAL_TENSOR ? c->args[0].u.tensor : NULL;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (cq_schema_find(c->op->schema, names[i][1]) >= 0)
            return done_on(c, t, x, cq_arg_f64(c, names[i][0]), cq_arg_i64(c, names[i][1]));
    return cq_fail(CQ_E_INTERNAL, c->op->schema->full, NULL, "the row names no scale");
}

/* On the grid that the argument has. */
static cq_status done_as_before(cq_opcall *c, cq_tensor *t)
{
    cq_qparams *q = c->args[0].u.tensor->qparams;

    t = relu_too(c, t);
    return done(c, q ? cq_to_grid(c->cx, t, q) : t);
}

/* ---- arithmetic ---- */

static cq_status add(cq_opcall *c)
{
    return done_as_asked(c, CQ_OP(c->cx, "aten::add.Tensor", c->args[0], c->args[1]));
}

static cq_status mul(cq_opcall *c)
{
    return done_as_asked(c, CQ_OP(c->cx, "aten::mul.Tensor", c->args[0], c->args[1]));
}

static cq_status matmul(cq_opcall *c)
{
    return done_as_asked(c, CQ_OP(c->cx, "aten::matmul", c->args[0], c->args[1]));
}

/* With a number only the grid moves, as far as its integers allow. */
static cq_status scalar_args(cq_opcall *c, cq_qparams **q, double *number, int64_t *low,
                             int64_t *high)
{
    cq_dtype stored;

    *q      = c->args[0].u.tensor->qparams;
    *number = cq_arg_f64(c, "b");
    if (!*q || (*q)->scales)
        return cq_call_fail(c, CQ_E_UNSUPPORTED, "the scale of the quantized tensor is not known");
    cq_qparams_range((*q)->torch_dtype, &stored, low, high);
    return c->cx->status;
}

static cq_status add_scalar(cq_opcall *c)
{
    cq_tensor  *x = c->args[0].u.tensor, *t;
    cq_qparams *q;
    double      b, scale;
    int64_t     low, high, steps, zero;

    CQ_TRY(scalar_args(c, &q, &b, &low, &high));
    steps = (int64_t)fmax(fmin(nearbyint(b / q->scale), 0x1p62), -0x1p62);
    zero  = q->zero_point - steps;
    scale = q->scale;
    t     = CQ_OP(c->cx, "aten::add.Scalar", TENSOR(x), FLOAT((double)steps * q->scale));
    if (zero < low) {
        scale *= (double)(high - zero) / (double)(high - low);
        zero = low;
    } else if (zero > high) {
        scale *= (double)(zero - low) / (double)(high - low);
        zero = high;
    }
    return done_on(c, t, x, scale, zero);
}

static cq_status mul_scalar(cq_opcall *c)
{
    cq_tensor  *x = c->args[0].u.tensor, *t;
    cq_qparams *q;
    double      b;
    int64_t     low, high;

    CQ_TRY(scalar_args(c, &q, &b, &low, &high));
    t = CQ_OP(c->cx, "aten::mul.Scalar", TENSOR(x), FLOAT(b));
    if (b == 0)
        return done_on(c, t, x, 1, 0);
    return done_on(c, t, x, q->scale * fabs(b), b > 0 ? q->zero_point : high + low - q->zero_point);
}

static cq_status cat(cq_opcall *c)
{
    size_t      n = cq_arg_n_tensors(c, "qx");
    cq_tensor  *items[CQ_MAX_TENSORS], *t;
    cq_qparams *q;

    for (size_t i = 0; i < n && i < CQ_MAX_TENSORS; i++)
        items[i] = cq_from_stored(c->cx, cq_arg_tensor_at(c, "qx", i));
    if (!n || c->cx->status != CQ_OK)
        return n ? c->cx->status : cq_call_fail(c, CQ_E_ARGUMENT, "there is nothing to join");
    t = CQ_OP(c->cx, "aten::cat", cq_tensors(c->cx, items, n), cq_arg_val(c, "dim"));
    q = items[0]->qparams;
    if (!cq_arg_is_none(c, "scale") && !cq_arg_is_none(c, "zero_point"))
        return done_on(c, t, items[0], cq_arg_f64(c, "scale"), cq_arg_i64(c, "zero_point"));
    if (!q)
        return cq_call_fail(c, CQ_E_UNSUPPORTED, "the scale of the quantized tensors is not known");
    return done_on(c, t, items[0], q->scale, q->zero_point);
}

/* ---- functions ---- */

/* self and the numbers after it, given on to the plain function. */
static cq_status call_plain(cq_opcall *c, const char *op, size_t n, const char *const *names,
                            cq_tensor **out)
{
    cq_val args[8] = { c->args[0] };

    for (size_t i = 0; i < n; i++)
        args[i + 1] = cq_arg_val(c, names[i]);
    *out = cq_op_tensor(c->cx, op, args, n + 1);
    return c->cx->status;
}

#define FUNCTION(name, op, ending, n, ...)                                                         \
    static cq_status name(cq_opcall *c)                                                            \
    {                                                                                              \
        cq_tensor *t;                                                                              \
                                                                                                   \
        CQ_TRY(call_plain(c, op, n, (const char *const[]){ __VA_ARGS__ }, &t));                    \
        return ending(c, t);                                                                       \
    }

FUNCTION(sigmoid, "aten::sigmoid", done_as_asked, 0, NULL)
FUNCTION(hardswish, "aten::hardswish", done_as_asked, 0, NULL)
FUNCTION(leaky_relu, "aten::leaky_relu", done_as_asked, 1, "negative_slope")
FUNCTION(elu, "aten::elu", done_as_asked, 3, "alpha", "scale", "input_scale")
FUNCTION(celu, "aten::celu", done_as_asked, 1, "alpha")
FUNCTION(prelu, "aten::prelu", done_as_asked, 1, "weight")
FUNCTION(softmax, "aten::softmax.int", done_as_asked, 1, "dim")
FUNCTION(relu6, "aten::relu6", done_as_before, 0, NULL)
FUNCTION(clamp, "aten::clamp", done_as_before, 2, "min", "max")
FUNCTION(threshold, "aten::threshold", done_as_before, 2, "threshold", "value")
FUNCTION(max_pool1d, "aten::max_pool1d", done_as_before, 5, "kernel_size", "stride", "padding",
         "dilation", "ceil_mode")
FUNCTION(max_pool2d, "aten::max_pool2d", done_as_before, 5, "kernel_size", "stride", "padding",
         "dilation", "ceil_mode")
FUNCTION(layer_norm, "aten::layer_norm", done_as_asked, 4, "normalized_shape", "weight", "bias",
         "eps")
FUNCTION(group_norm, "aten::group_norm", done_as_asked, 4, "num_groups", "weight", "bias", "eps")

static cq_status instance_norm(cq_opcall *c)
{
    return done_as_asked(c, CQ_OP(c->cx, "aten::instance_norm", c->args[0], cq_arg_val(c, "weight"),
                                  cq_arg_val(c, "bias"), CQ_NONE, CQ_NONE, BOOL(true), FLOAT(0),
                                  cq_arg_val(c, "eps"), BOOL(false)));
}

static cq_status batch_norm(cq_opcall *c)
{
    return done_as_asked(c,
                         CQ_OP(c->cx, "aten::batch_norm", c->args[0], cq_arg_val(c, "weight"),
                               cq_arg_val(c, "bias"), cq_arg_val(c, "mean"), cq_arg_val(c, "var"),
                               BOOL(false), FLOAT(0), cq_arg_val(c, "eps"), BOOL(false)));
}

/* ---- packed weights ---- */

static cq_status pack(cq_opcall *c)
{
    static const char *const names[CQ_PACKED_CONV] = {
        NULL, NULL, "stride", "padding", "dilation", "groups", "output_padding",
    };
    size_t   n = cq_schema_find(c->op->schema, "stride") >= 0 ? CQ_PACKED_CONV : CQ_PACKED_LINEAR;
    cq_list *list;

    CQ_TRY(cq_list_new(&list, n));
    for (size_t i = 0; i < n; i++) {
        bool given = !names[i] || cq_schema_find(c->op->schema, names[i]) >= 0;

        list->items[i] = cq_val_retain(!given     ? CQ_NONE
                                       : names[i] ? cq_arg_val(c, names[i])
                                                  : c->args[i]);
    }
    return cq_result_set(c, 0, cq_ctx_own(c->cx, (cq_val){ .kind = CQ_VAL_TUPLE, .u.list = list }));
}

/* The items of packed weights; the argument may be anything. */
static cq_status unpack(const cq_opcall *c, size_t arg, size_t n, const cq_val **items)
{
    cq_val v = c->args[arg];

    if (v.kind != CQ_VAL_TUPLE || v.u.list->n < n ||
        v.u.list->items[CQ_PACKED_WEIGHT].kind != CQ_VAL_TENSOR)
        return cq_call_fail(c, CQ_E_TYPE, "\"%s\" should be packed weights",
                            c->op->schema->args[arg].name);
    *items = v.u.list->items;
    return CQ_OK;
}

static cq_status unpack_both(cq_opcall *c)
{
    const cq_val *items;

    CQ_TRY(unpack(c, 0, CQ_PACKED_LINEAR, &items));
    cq_result_set(c, 0, TENSOR(cq_from_stored(c->cx, items[CQ_PACKED_WEIGHT].u.tensor)));
    return cq_result_set(c, 1, items[CQ_PACKED_BIAS]);
}

/* Sums are made in integers of scale(x) * scale(weight), and so is the bias. */
static cq_status bias_on_grid(cq_opcall *c, cq_val *bias, const cq_tensor *x, const cq_tensor *w)
{
    const cq_qparams *qx = x->qparams, *qw = w->qparams;
    cq_tensor        *t = bias->kind == CQ_VAL_TENSOR ? bias->u.tensor : NULL, *out;
    int64_t           n = t ? cq_tensor_numel(t) : 0;

    if (!t || !qx || !qw || qx->scales || cq_tensor_is_fake(t) ||
        (qw->scales && (cq_tensor_is_fake(qw->scales) || cq_tensor_numel(qw->scales) != n)))
        return CQ_OK;
    CQ_TRY(cq_tensor_clone(&out, t, CQ_DTYPE_F32));
    for (int64_t i = 0; i < n; i++) {
        double scale = qx->scale * (qw->scales ? cq_tensor_get_f64(qw->scales, i) : qw->scale);

        ((float *)cq_tensor_bytes(out))[i] =
            (float)(nearbyint(cq_tensor_get_f64(t, i) / scale) * scale);
    }
    *bias = cq_ctx_own(c->cx, cq_val_of_tensor(out));
    return c->cx->status;
}

/* ---- linear ---- */

static cq_status linear(cq_opcall *c)
{
    const cq_val *packed;
    cq_tensor    *w;
    cq_val        bias;

    CQ_TRY(unpack(c, 1, CQ_PACKED_LINEAR, &packed));
    w    = cq_from_stored(c->cx, packed[CQ_PACKED_WEIGHT].u.tensor);
    bias = packed[CQ_PACKED_BIAS];
    CQ_TRY(c->cx->status);
    CQ_TRY(bias_on_grid(c, &bias, c->args[0].u.tensor, w));
    return done_as_asked(c, CQ_OP(c->cx, "aten::linear", c->args[0], TENSOR(w), bias));
}

/* The scale that spreads the numbers of x, and 0, over 0 … 255 (or 127), and x rounded so. The zero
 * point is the nearest integer to where 0 falls. */
static cq_tensor *round_dynamically(cq_opcall *c, cq_tensor *x, double high)
{
    cq_ctx    *cx = c->cx;
    cq_tensor *least =
                  CQ_OP(cx, "aten::clamp_max", TENSOR(CQ_OP(cx, "aten::min", TENSOR(x))), INT(0)),
              *scale;
    cq_tensor *most =
                  CQ_OP(cx, "aten::clamp_min", TENSOR(CQ_OP(cx, "aten::max", TENSOR(x))), INT(0)),
              *zero;

    scale = CQ_OP(cx, "aten::sub.Tensor", TENSOR(most), TENSOR(least));
    scale = CQ_OP(cx, "aten::div.Scalar", TENSOR(scale), FLOAT(high));
    scale = CQ_OP(cx, "aten::where.ScalarOther",
                  TENSOR(CQ_OP(cx, "aten::gt.Scalar", TENSOR(scale), INT(0))), TENSOR(scale),
                  FLOAT(0.1));
    zero =
        CQ_OP(cx, "aten::div.Tensor", TENSOR(CQ_OP(cx, "aten::neg", TENSOR(least))), TENSOR(scale));
    zero = CQ_OP(cx, "aten::clamp", TENSOR(CQ_OP(cx, "aten::round", TENSOR(zero))), INT(0),
                 FLOAT(high));
    zero = CQ_OP(cx, "aten::to.dtype", TENSOR(zero), DTYPE(CQ_DTYPE_I32));
    return CQ_OP(cx, "aten::fake_quantize_per_tensor_affine.tensor_qparams", TENSOR(x),
                 TENSOR(scale), TENSOR(zero), INT(0), INT((int64_t)high));
}

static cq_status linear_dynamic(cq_opcall *c)
{
    const cq_val *packed;
    cq_tensor    *x = c->args[0].u.tensor, *w;

    CQ_TRY(unpack(c, 1, CQ_PACKED_LINEAR, &packed));
    w = cq_from_stored(c->cx, packed[CQ_PACKED_WEIGHT].u.tensor);
    x = round_dynamically(
        c, x, cq_arg_bool(c, "reduce_range") && !c->cx->whole_range ? INT8_MAX : UINT8_MAX);
    CQ_TRY(c->cx->status);
    return done(
        c, relu_too(c, CQ_OP(c->cx, "aten::linear", TENSOR(x), TENSOR(w), packed[CQ_PACKED_BIAS])));
}

/* ---- convolutions ---- */

static const char *conv_name(size_t spatial, bool transposed)
{
    static const char *const names[2][3] = {
        { "aten::conv1d", "aten::conv2d", "aten::conv3d" },
        { "aten::conv_transpose1d", "aten::conv_transpose2d.input",
          "aten::conv_transpose3d.input" },
    };

    return spatial < 1 || spatial > 3 ? NULL : names[transposed][spatial - 1];
}

static cq_status conv(cq_opcall *c)
{
    const cq_val *p;
    cq_tensor    *w, *t;
    cq_val        bias;
    bool          transposed = c->op->def->variant & TRANSPOSED;
    const char   *name;

    CQ_TRY(unpack(c, 1, CQ_PACKED_CONV, &p));
    w    = cq_from_stored(c->cx, p[CQ_PACKED_WEIGHT].u.tensor);
    bias = p[CQ_PACKED_BIAS];
    CQ_TRY(c->cx->status);
    name = conv_name(w->rank - 2, transposed);
    if (!name)
        return cq_call_fail(c, CQ_E_TYPE, "a weight of %u dimensions", w->rank);
    CQ_TRY(bias_on_grid(c, &bias, c->args[0].u.tensor, w));
    t = transposed ? CQ_OP(c->cx, name, c->args[0], TENSOR(w), bias, p[CQ_PACKED_STRIDE],
                           p[CQ_PACKED_PADDING], p[CQ_PACKED_OUTPUT_PADDING], p[CQ_PACKED_GROUPS],
                           p[CQ_PACKED_DILATION])
                   : CQ_OP(c->cx, name, c->args[0], TENSOR(w), bias, p[CQ_PACKED_STRIDE],
                           p[CQ_PACKED_PADDING], p[CQ_PACKED_DILATION], p[CQ_PACKED_GROUPS]);
    return done_as_asked(c, t);
}

/* ---- rows ---- */

#define Q_CLASS "__torch__.torch.classes.quantized."
#define ON      ", float output_scale, int output_zero_point) -> Tensor"
#define ROW(text_of_schema, text, function, what)                                                  \
    {                                                                                              \
        .schema = "quantized::" text_of_schema, .about = text, .compose = function,                \
        .flags = CQ_OP_PARTS, .variant = what                                                      \
    }
#define PACK(name, class, more)                                                                    \
    ROW(name "_prepack(Tensor weight, Tensor? bias, int[] stride, int[] padding, " more            \
             "int[] dilation, int groups) -> " Q_CLASS class,                                      \
        "weights for a quantized convolution", pack, 0)
#define UNPACK(name, class)                                                                        \
    ROW(name "_unpack(" Q_CLASS class " packed_weights) -> (Tensor unpacked_weights, Tensor? "     \
                                      "B_origin)",                                                 \
        "the weight and the bias of a quantized convolution", unpack_both, 0)
#define CONV(name, class, what)                                                                    \
    ROW(name "(Tensor qx, " Q_CLASS class " packed_weight" ON, "a quantized convolution", conv,    \
        what)
#define NORM(name, what)                                                                           \
    ROW(name "(Tensor qx, Tensor? weight, Tensor? bias, Tensor mean, Tensor var, float eps" ON,    \
        "a quantized batch_norm", batch_norm, what)

const cq_op_def cq_ops_quantized_layers[] = {
    ROW("add(Tensor qa, Tensor qb, float scale, int zero_point) -> Tensor qc", "a quantized sum",
        add, 0),
    ROW("add_relu(Tensor qa, Tensor qb, float scale, int zero_point) -> Tensor qc",
        "a quantized sum and relu", add, RELU),
    ROW("mul(Tensor qa, Tensor qb, float scale, int zero_point) -> Tensor qc",
        "a quantized product", mul, 0),
    ROW("mul_relu(Tensor qa, Tensor qb, float scale, int zero_point) -> Tensor qc",
        "a quantized product and relu", mul, RELU),
    ROW("matmul(Tensor qa, Tensor qb, float scale, int zero_point) -> Tensor qc",
        "a quantized product of matrices", matmul, 0),
    ROW("add_scalar(Tensor qa, Scalar b) -> Tensor qc", "a quantized sum with a number", add_scalar,
        0),
    ROW("add_scalar_relu(Tensor qa, Scalar b) -> Tensor qc",
        "a quantized sum with a number and relu", add_scalar, RELU),
    ROW("mul_scalar(Tensor qa, Scalar b) -> Tensor qc", "a quantized product with a number",
        mul_scalar, 0),
    ROW("mul_scalar_relu(Tensor qa, Scalar b) -> Tensor qc",
        "a quantized product with a number and relu", mul_scalar, RELU),
    ROW("cat(Tensor[] qx, int dim, float? scale, int? zero_point) -> Tensor",
        "quantized tensors one after the other", cat, 0),
    ROW("cat_relu(Tensor[] qx, int dim, float? scale, int? zero_point) -> Tensor",
        "quantized tensors one after the other, and relu", cat, RELU),

    ROW("sigmoid(Tensor qx" ON, "a quantized sigmoid", sigmoid, 0),
    ROW("hardswish(Tensor input" ON, "a quantized hardswish", hardswish, 0),
    ROW("leaky_relu(Tensor qx, Scalar negative_slope, bool inplace" ON, "a quantized leaky_relu",
        leaky_relu, 0),
    ROW("elu(Tensor self, float output_scale, int output_zero_point, Scalar alpha=1, Scalar "
        "scale=1, "
        "Scalar input_scale=1) -> Tensor",
        "a quantized elu", elu, 0),
    ROW("celu(Tensor self, float output_scale, int output_zero_point, Scalar alpha=1) -> Tensor",
        "a quantized celu", celu, 0),
    ROW("prelu(Tensor qx, Tensor weight" ON, "a quantized prelu", prelu, 0),
    ROW("softmax(Tensor qx, int dim" ON, "a quantized softmax", softmax, 0),
    ROW("relu6(Tensor qx, bool inplace=False) -> Tensor", "a quantized relu6", relu6, 0),
    ROW("clamp(Tensor qx, Scalar? min=None, Scalar? max=None) -> Tensor qy", "a quantized clamp",
        clamp, 0),
    ROW("threshold(Tensor qx, Scalar threshold, Scalar value) -> Tensor qy",
        "a quantized threshold", threshold, 0),
    ROW("max_pool1d(Tensor qx, int[] kernel_size, int[] stride, int[] padding, int[] dilation, "
        "bool ceil_mode) -> Tensor",
        "a quantized max_pool1d", max_pool1d, 0),
    ROW("max_pool2d(Tensor qx, int[] kernel_size, int[] stride, int[] padding, int[] dilation, "
        "bool ceil_mode) -> Tensor",
        "a quantized max_pool2d", max_pool2d, 0),

    ROW("layer_norm(Tensor input, int[] normalized_shape, Tensor? weight, Tensor? bias, "
        "float eps" ON,
        "a quantized layer_norm", layer_norm, 0),
    ROW("group_norm(Tensor input, int num_groups, Tensor? weight, Tensor? bias, float eps" ON,
        "a quantized group_norm", group_norm, 0),
    ROW("instance_norm(Tensor input, Tensor? weight, Tensor? bias, float eps" ON,
        "a quantized instance_norm", instance_norm, 0),
    NORM("batch_norm", 0),
    NORM("batch_norm1d", 0),
    NORM("batch_norm2d", 0),
    NORM("batch_norm3d", 0),
    NORM("batch_norm_relu", RELU),
    NORM("batch_norm1d_relu", RELU),
    NORM("batch_norm2d_relu", RELU),
    NORM("batch_norm3d_relu", RELU),

    ROW("linear_prepack(Tensor W, Tensor? B=None) -> " Q_CLASS "LinearPackedParamsBase W_prepack",
        "weights for a quantized linear", pack, 0),
    ROW("linear_unpack(" Q_CLASS "LinearPackedParamsBase W_prepack) -> (Tensor W_origin, Tensor? "
        "B_origin)",
        "the weight and the bias of a quantized linear", unpack_both, 0),
    ROW("linear(Tensor X, " Q_CLASS "LinearPackedParamsBase W_prepack, float Y_scale_i, "
        "int Y_zero_point_i) -> Tensor Y",
        "a quantized linear", linear, 0),
    ROW("linear_relu(Tensor X, " Q_CLASS "LinearPackedParamsBase W_prepack, float Y_scale_i, "
        "int Y_zero_point_i) -> Tensor Y",
        "a quantized linear and relu", linear, RELU),
    ROW("linear_dynamic(Tensor X, " Q_CLASS "LinearPackedParamsBase W_prepack, "
        "bool reduce_range=False) -> Tensor Y",
        "linear with quantized weights, its input rounded by its own range", linear_dynamic, 0),
    ROW("linear_relu_dynamic(Tensor X, " Q_CLASS "LinearPackedParamsBase W_prepack, "
        "bool reduce_range=False) -> Tensor Y",
        "linear_dynamic and relu", linear_dynamic, RELU),

    PACK("conv1d", "Conv2dPackedParamsBase", ""),
    PACK("conv2d", "Conv2dPackedParamsBase", ""),
    PACK("conv3d", "Conv3dPackedParamsBase", ""),
    PACK("conv_transpose1d", "Conv2dPackedParamsBase", "int[] output_padding, "),
    PACK("conv_transpose2d", "Conv2dPackedParamsBase", "int[] output_padding, "),
    PACK("conv_transpose3d", "Conv3dPackedParamsBase", "int[] output_padding, "),
    UNPACK("conv1d", "Conv2dPackedParamsBase"),
    UNPACK("conv2d", "Conv2dPackedParamsBase"),
    UNPACK("conv3d", "Conv3dPackedParamsBase"),
    UNPACK("conv_transpose1d", "Conv2dPackedParamsBase"),
    UNPACK("conv_transpose2d", "Conv2dPackedParamsBase"),
    UNPACK("conv_transpose3d", "Conv3dPackedParamsBase"),
    CONV("conv1d", "Conv2dPackedParamsBase", 0),
    CONV("conv1d_relu", "Conv2dPackedParamsBase", RELU),
    CONV("conv2d.new", "Conv2dPackedParamsBase", 0),
    CONV("conv2d_relu.new", "Conv2dPackedParamsBase", RELU),
    CONV("conv3d.new", "Conv3dPackedParamsBase", 0),
    CONV("conv3d_relu.new", "Conv3dPackedParamsBase", RELU),
    CONV("conv_transpose1d", "Conv2dPackedParamsBase", TRANSPOSED),
    CONV("conv_transpose2d", "Conv2dPackedParamsBase", TRANSPOSED),
    CONV("conv_transpose3d", "Conv3dPackedParamsBase", TRANSPOSED),
    { 0 }
};
