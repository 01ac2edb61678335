/* What ONNX Runtime's quantizer writes: operators on 8 bits and less, with their scales. */
#include "onnx/expand/expansion.h"

#include <inttypes.h>

/* to = the real numbers that input x stands for; scale and zero point are the inputs behind it. */
static void say_real(cq_expansion *e, const char *to, size_t x)
{
    const cq_onnx_parameter *p = &e->schema->inputs[x];

    cq_say(e, "%s = DequantizeLinear (%s, %s%s%s)", to, p[0].name, p[1].name,
           cq_expansion_has(e, x + 2) ? ", " : "", cq_expansion_has(e, x + 2) ? p[2].name : "");
}

/* Output 0 of real numbers, by the scale that input `scale` is, and the zero point behind it. */
static void say_result(cq_expansion *e, const char *from, size_t scale)
{
    const cq_onnx_parameter *p = &e->schema->inputs[scale];

    cq_say(e, "%s = QuantizeLinear (%s, %s%s%s)", e->schema->outputs[0].name, from, p[0].name,
           cq_expansion_has(e, scale + 1) ? ", " : "",
           cq_expansion_has(e, scale + 1) ? p[1].name : "");
}

static void say_binary(cq_expansion *e, const char *op)
{
    say_real(e, "a", 0);
    say_real(e, "b", 3);
    cq_say(e, "c = %s (a, b)", op);
    say_result(e, "c", 6);
}

static void add(cq_expansion *e)
{
    say_binary(e, "Add");
}

static void mul(cq_expansion *e)
{
    say_binary(e, "Mul");
}

static void leaky_relu(cq_expansion *e)
{
    say_real(e, "x", 0);
    cq_say(e, "y = LeakyRelu <alpha: float = %.9g> (x)", cq_expansion_float(e, "alpha"));
    say_result(e, "y", 3);
}

static void sigmoid(cq_expansion *e)
{
    say_real(e, "x", 0);
    cq_say(e, "y = Sigmoid (x)");
    say_result(e, "y", 3);
}

/* Before opset 13 all axes from `axis` on were one. */
static void softmax(cq_expansion *e)
{
    int64_t axis = cq_expansion_int(e, "axis");

    say_real(e, "x", 0);
    if (cq_expansion_int(e, "opset") < 13 && axis != -1) {
        cq_say(e, "rows = Flatten <axis: int = %" PRId64 "> (x)", axis);
        cq_say(e, "soft = Softmax <axis: int = -1> (rows)");
        cq_say(e, "shape = Shape (x)");
        cq_say(e, "y = Reshape (soft, shape)");
    } else {
        cq_say(e, "y = Softmax <axis: int = %" PRId64 "> (x)", axis);
    }
    say_result(e, "y", 3);
}

/* y = x with channels behind or in front. spatial is how many axes images have. */
static void say_turned(cq_expansion *e, const char *y, const char *x, uint32_t spatial,
                       bool channels_first)
{
    cq_str_printf(&e->text, "%s = Transpose <perm: ints = [0", y);
    if (channels_first)
        cq_str_printf(&e->text, ", %u", spatial + 1);
    for (uint32_t i = 0; i < spatial; i++)
        cq_str_printf(&e->text, ", %u", i + (channels_first ? 1 : 2));
    cq_say(e, "%s]> (%s)", channels_first ? "" : ", 1", x);
}

static uint32_t spatial_axes(const cq_expansion *e)
{
    const cq_onnx_attribute *a = cq_expansion_attr(e, "kernel_shape");

    return a ? a->ints.n : 2;
}

/* p = op of real x; images whose channels are last are turned there and back. */
static void say_pool(cq_expansion *e, const char *op, const char *x, bool turned)
{
    static const char *const attributes[] = { "auto_pad",     "ceil_mode", "count_include_pad",
                                              "dilations",    "pads",      "strides",
                                              "kernel_shape", NULL };
    static const char *const none[]       = { NULL };
    bool                     is_global    = op[0] == 'G';

    if (turned)
        say_turned(e, "first", x, spatial_axes(e), true);
    cq_str_printf(&e->text, "%s = %s%s", turned ? "pooled" : "p", op, is_global ? "" : " <");
    cq_say_attributes(e, is_global ? none : attributes);
    cq_say(e, "%s (%s)", is_global ? "" : ">", turned ? "first" : x);
    if (turned)
        say_turned(e, "p", "pooled", spatial_axes(e), false);
}

static void average_pool(cq_expansion *e)
{
    say_real(e, "x", 0);
    say_pool(e, "AveragePool", "x", cq_expansion_int(e, "channels_last"));
    say_result(e, "p", 3);
}

static void global_average_pool(cq_expansion *e)
{
    say_real(e, "x", 0);
    say_pool(e, "GlobalAveragePool", "x", cq_expansion_int(e, "channels_last"));
    say_result(e, "p", 3);
}

static void nhwc_max_pool(cq_expansion *e)
{
    say_pool(e, "MaxPool", "x", true);
    cq_say(e, "y = Identity (p)");
}

static void reduce_mean(cq_expansion *e)
{
    const cq_onnx_attribute *a = cq_expansion_attr(e, "axes");

    say_real(e, "x", 0);
    cq_str_add(&e->text, "axes = Constant <value_ints: ints = [");
    for (uint32_t i = 0; a && i < a->ints.n; i++)
        cq_str_printf(&e->text, "%s%" PRId64, i ? ", " : "", a->ints.items[i]);
    cq_say(e, "]> ()");
    cq_say(e, "y = ReduceMean <keepdims: int = %" PRId64 "> (x, axes)",
           cq_expansion_int(e, "keepdims"));
    say_result(e, "y", 3);
}

static void where(cq_expansion *e)
{
    say_real(e, "x", 1);
    say_real(e, "y", 4);
    cq_say(e, "z = Where (condition, x, y)");
    say_result(e, "z", 7);
}

/* Inputs are groups of a tensor, its scale and its zero point, behind those of the output. */
static void concat(cq_expansion *e)
{
    uint32_t n = e->node->input.n;

    if (n < 5 || (n - 2) % 3)
        e->refusal = "has inputs that are not groups of three";
    for (uint32_t i = 2; i + 2 < n; i += 3)
        cq_say(e, "r%u = DequantizeLinear (X%u, X%u, X%u)", i, i, i + 1, i + 2);
    cq_str_printf(&e->text, "y = Concat <axis: int = %" PRId64 "> (", cq_expansion_int(e, "axis"));
    for (uint32_t i = 2; i + 2 < n; i += 3)
        cq_str_printf(&e->text, "%sr%u", i > 2 ? ", " : "", i);
    cq_say(e, ")");
    cq_say(e, "Y = QuantizeLinear (y, Y_scale, Y_zero_point)");
}

/* ---- products ---- */

/* real = of whole numbers a and b, times both scales. */
static void say_whole_product(cq_expansion *e, const char *a, const char *a_scale,
                              const char *a_zero, const char *b, const char *b_scale,
                              const char *b_zero)
{
    cq_say(e, "whole = MatMulInteger (%s, %s, %s, %s)", a, b, a_zero ? a_zero : "\"\"",
           b_zero ? b_zero : "\"\"");
    cq_say(e, "scale = Mul (%s, %s)", a_scale, b_scale);
    cq_say(e, "number = CastLike (whole, scale)");
    cq_say(e, "real = Mul (number, scale)");
}

static void matmul_integer_to_float(cq_expansion *e)
{
    say_whole_product(e, "A", "a_scale", cq_expansion_has(e, 4) ? "a_zero_point" : NULL, "B",
                      "b_scale", cq_expansion_has(e, 5) ? "b_zero_point" : NULL);
    cq_say(e, cq_expansion_has(e, 6) ? "Y = Add (real, bias)" : "Y = Identity (real)");
}

static void dynamic_quantize_matmul(cq_expansion *e)
{
    cq_say(e, "a, a_scale, a_zero = DynamicQuantizeLinear (A)");
    say_whole_product(e, "a", "a_scale", "a_zero", "B", "b_scale",
                      cq_expansion_has(e, 3) ? "b_zero_point" : NULL);
    cq_say(e, cq_expansion_has(e, 4) ? "Y = Add (real, bias)" : "Y = Identity (real)");
}

/* C is in steps of alpha * a_scale * b_scale. */
static void gemm(cq_expansion *e)
{
    int64_t turns_a = cq_expansion_int(e, "transA"), turns_b = cq_expansion_int(e, "transB");

    cq_say(e, turns_a ? "a = Transpose (A)" : "a = Identity (A)");
    cq_say(e, turns_b ? "b = Transpose (B)" : "b = Identity (B)");
    cq_say(e, "whole0 = MatMulInteger (a, b, a_zero_point, b_zero_point)");
    cq_say(e, cq_expansion_has(e, 6) ? "whole = Add (whole0, C)" : "whole = Identity (whole0)");
    cq_say(e, "scale0 = Mul (a_scale, b_scale)");
    cq_say_constant(e, "alpha", cq_expansion_float(e, "alpha"), "scale0");
    cq_say(e, "scale = Mul (scale0, alpha)");
    cq_say(e, "number = CastLike (whole, scale)");
    cq_say(e, "real = Mul (number, scale)");
    if (cq_expansion_has(e, 7))
        cq_say(e, "Y = QuantizeLinear (real, y_scale%s)",
               cq_expansion_has(e, 8) ? ", y_zero_point" : "");
    else
        cq_say(e, "Y = Identity (real)");
}

/* to = the numbers of `bits` bits in the bytes of from, lowest bits first, on a new last axis. */
static void say_unpacked(cq_expansion *e, const char *to, const char *from, int64_t bits)
{
    cq_say(e, "%s_axis = Constant <value_ints: ints = [-1]> ()", to);
    cq_say(e, "%s_apart = Unsqueeze (%s, %s_axis)", to, from, to);
    cq_str_printf(&e->text, "%s_by = Constant <value: tensor = uint8[%d] {", to, (int)(8 / bits));
    for (int64_t i = 0; i < 8 / bits; i++)
        cq_str_printf(&e->text, "%s%d", i ? ", " : "", (int)(i * bits));
    cq_say(e, "}> ()");
    cq_say(e, "%s_all = BitShift <direction: string = \"RIGHT\"> (%s_apart, %s_by)", to, to, to);
    cq_say(e, "%s_mask = Constant <value: tensor = uint8 {%d}> ()", to, (1 << bits) - 1);
    cq_say(e, "%s = BitwiseAnd (%s_all, %s_mask)", to, to, to);
}

/* The weights [N, blocks, bytes] are unpacked, which is done once: they are constants. */
static void matmul_n_bits(cq_expansion *e)
{
    int64_t n = cq_expansion_int(e, "N"), k = cq_expansion_int(e, "K");
    int64_t size = cq_expansion_int(e, "block_size"), bits = cq_expansion_int(e, "bits");
    int64_t blocks;

    if ((bits != 2 && bits != 4 && bits != 8) || size < 1 || n < 1 || k < 1 ||
        k > INT64_MAX - size || (cq_expansion_has(e, 4))) {
        e->refusal = "is known with 2, 4 or 8 bits and without g_idx alone";
        return;
    }
    blocks = (k + size - 1) / size;
    say_unpacked(e, "small", "B", bits);
    cq_say(e,
           "in_blocks = Constant <value_ints: ints = [%" PRId64 ", %" PRId64 ", %" PRId64 "]> ()",
           n, blocks, size);
    cq_say(e, "in_rows = Constant <value_ints: ints = [%" PRId64 ", -1]> ()", n);
    cq_say(e, "by_block = Constant <value_ints: ints = [%" PRId64 ", %" PRId64 ", 1]> ()", n,
           blocks);
    cq_say(e, "whole0 = Reshape (small, in_blocks)");
    cq_say(e, "whole = CastLike (whole0, scales)");
    if (!cq_expansion_has(e, 3)) {
        cq_say_constant(e, "zero", (double)(1 << (bits - 1)), "scales");
    } else { /* one a block: packed in rows, or of the type of scales */
        cq_say(e, "zero_bytes = Cast <to: int = %d> (zero_points)", CQ_ONNX_UINT8);
        say_unpacked(e, "zero_small", "zero_bytes", bits);
        cq_say(e, "zero_rows = Reshape (zero_small, in_rows)");
        cq_say(e, "first = Constant <value_ints: ints = [0]> ()");
        cq_say(e, "last = Constant <value_ints: ints = [%" PRId64 "]> ()", blocks);
        cq_say(e, "axis1 = Constant <value_ints: ints = [1]> ()");
        cq_say(e, "zero_packed = Slice (zero_rows, first, last, axis1)");
        cq_say(e, "n_zeros = Size (zero_points)");
        cq_say(e, "n_blocks = Constant <value_int: int = %" PRId64 "> ()", n * blocks);
        cq_say(e, "are_plain = Equal (n_zeros, n_blocks)");
        cq_say(e,
               "zero0 = If (are_plain) <then_branch: graph = plain () => (p) { "
               "p = CastLike (%s, scales) }, else_branch: graph = packed () => (q) { "
               "q = CastLike (zero_packed, scales) }>",
               blocks > 1 ? "zero_points" : "zero_packed");
        cq_say(e, "zero = Reshape (zero0, by_block)");
    }
    cq_say(e, "scale = Reshape (scales, by_block)");
    cq_say(e, "moved = Sub (whole, zero)");
    cq_say(e, "weights0 = Mul (moved, scale)");
    cq_say(e, "weights1 = Reshape (weights0, in_rows)");
    cq_say(e, "k0 = Constant <value_ints: ints = [0]> ()");
    cq_say(e, "k1 = Constant <value_ints: ints = [%" PRId64 "]> ()", k);
    cq_say(e, "k_axis = Constant <value_ints: ints = [1]> ()");
    cq_say(e, "weights2 = Slice (weights1, k0, k1, k_axis)");
    cq_say(e, "weights = Transpose <perm: ints = [1, 0]> (weights2)");
    cq_say(e, "product = MatMul (A, weights)");
    cq_say(e, cq_expansion_has(e, 5) ? "Y = Add (product, bias)" : "Y = Identity (product)");
}

/* ---- others ---- */

static void dequantize(cq_expansion *e)
{
    cq_say(e, "y = DequantizeLinear <axis: int = %" PRId64 "> (x, x_scale%s)",
           cq_expansion_int(e, "axis"), cq_expansion_has(e, 2) ? ", x_zero_point" : "");
}

static void quantize(cq_expansion *e)
{
    cq_say(e, "y = QuantizeLinear <axis: int = %" PRId64 "> (x, y_scale%s)",
           cq_expansion_int(e, "axis"), cq_expansion_has(e, 2) ? ", y_zero_point" : "");
}

static void attention(cq_expansion *e)
{
    say_whole_product(e, "input", "input_scale", cq_expansion_has(e, 6) ? "input_zero_point" : NULL,
                      "weight", "weight_scale",
                      cq_expansion_has(e, 7) ? "weight_zero_point" : NULL);
    cq_say(e, "qkv = Add (real, bias)");
    cq_say(e, "q, k, v = Split <axis: int = -1, num_outputs: int = 3> (qkv)");
    cq_say_attention(e, 5, 8);
}

const cq_expansion_row cq_expansions_quantized[] = {
    { "DequantizeLinear", dequantize },
    { "DynamicQuantizeMatMul", dynamic_quantize_matmul },
    { "MatMulIntegerToFloat", matmul_integer_to_float },
    { "MatMulNBits", matmul_n_bits },
    { "NhwcMaxPool", nhwc_max_pool },
    { "QAttention", attention },
    { "QGemm", gemm },
    { "QLinearAdd", add },
    { "QLinearAveragePool", average_pool },
    { "QLinearConcat", concat },
    { "QLinearGlobalAveragePool", global_average_pool },
    { "QLinearLeakyRelu", leaky_relu },
    { "QLinearMul", mul },
    { "QLinearReduceMean", reduce_mean },
    { "QLinearSigmoid", sigmoid },
    { "QLinearSoftmax", softmax },
    { "QLinearWhere", where },
    { "QuantizeLinear", quantize },
    { NULL, NULL },
};
