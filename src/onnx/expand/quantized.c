/* What ONNX Runtime's quantizer writes: operators on 8 bits and less, with their scales. */
#include "onnx/expand/expansion.h"

#include <inttypes.h>

#define REAL(x, name) "DequantizeLinear (" x ", " name "_scale, " name "_zero_point)"
#define BINARY(op)                                                                                 \
    "C = QuantizeLinear (" op " (" REAL("A", "A") ", " REAL("B", "B") "), C_scale, C_zero_point)"

/* Before opset 13 all axes from `axis` on were one. */
static void softmax(cq_expansion *e)
{
    int64_t axis = cq_expansion_int(e, "axis");

    cq_say(e, "x = DequantizeLinear (X, X_scale, x_zero_point)");
    if (cq_expansion_int(e, "opset") < 13 && axis != -1)
        cq_say(e, "y = Reshape (Softmax <axis: int = -1> (Flatten <axis> (x)), Shape (x))");
    else
        cq_say(e, "y = Softmax <axis> (x)");
    cq_say(e, "Y = QuantizeLinear (y, y_scale, y_zero_point)");
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
    static const char attributes[] = "<auto_pad, ceil_mode, count_include_pad, dilations, pads, "
                                     "strides, kernel_shape> ";

    if (turned)
        say_turned(e, "first", x, spatial_axes(e), true);
    cq_say(e, "%s = %s %s(%s)", turned ? "pooled" : "p", op, op[0] == 'G' ? "" : attributes,
           turned ? "first" : x);
    if (turned)
        say_turned(e, "p", "pooled", spatial_axes(e), false);
}

static void say_real_pool(cq_expansion *e, const char *op)
{
    cq_say(e, "x = " REAL("X", "x"));
    say_pool(e, op, "x", cq_expansion_int(e, "channels_last"));
    cq_say(e, "Y = QuantizeLinear (p, y_scale, y_zero_point)");
}

static void average_pool(cq_expansion *e)
{
    say_real_pool(e, "AveragePool");
}

static void global_average_pool(cq_expansion *e)
{
    say_real_pool(e, "GlobalAveragePool");
}

static void nhwc_max_pool(cq_expansion *e)
{
    say_pool(e, "MaxPool", "x", true);
    cq_say(e, "y = Identity (p)");
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
    cq_str_add(&e->text, ")\n");
    cq_say(e, "Y = QuantizeLinear (y, Y_scale, Y_zero_point)");
}

/* ---- products ---- */

/* real = of whole numbers a and b, times both scales. */
#define WHOLE_PRODUCT(a, b, zeros, scales)                                                         \
    "scale = Mul (" scales ")\n"                                                                   \
    "real = Mul (CastLike (MatMulInteger (" a ", " b ", " zeros "), scale), scale)\n"

/* C is in steps of alpha * a_scale * b_scale. */
static void gemm(cq_expansion *e)
{
    int64_t turns_a = cq_expansion_int(e, "transA"), turns_b = cq_expansion_int(e, "transB");

    cq_say(e, "whole = AddIf (MatMulInteger (%s, %s, a_zero_point, b_zero_point), C)",
           turns_a ? "Transpose (A)" : "A", turns_b ? "Transpose (B)" : "B");
    cq_say(e, "scale0 = Mul (a_scale, b_scale)");
    cq_say(e, "scale = Mul (scale0, like (@alpha, scale0))");
    cq_say(e, "real = Mul (CastLike (whole, scale), scale)");
    cq_say(e, cq_expansion_has(e, 7) ? "Y = QuantizeLinear (real, y_scale, y_zero_point)"
                                     : "Y = Identity (real)");
}

/* to = the numbers of `bits` bits in the bytes of from, lowest bits first, on a new last axis. */
static void say_unpacked(cq_expansion *e, const char *to, const char *from, int64_t bits)
{
    cq_str_printf(&e->text, "%s_by = Constant <value: tensor = uint8[%d] {", to, (int)(8 / bits));
    for (int64_t i = 0; i < 8 / bits; i++)
        cq_str_printf(&e->text, "%s%d", i ? ", " : "", (int)(i * bits));
    cq_str_add(&e->text, "}> ()\n");
    cq_say(
        e,
        "%s = BitwiseAnd (BitShift <direction: string = \"RIGHT\"> (Unsqueeze (%s, [-1]), %s_by), "
        "Constant <value: tensor = uint8 {%d}> ())",
        to, from, to, (1 << bits) - 1);
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
           "by_block = Constant <value_ints: ints = [%" PRId64 ", %" PRId64 ", 1]> ()\n"
           "whole = CastLike (Reshape (small, [%" PRId64 ", %" PRId64 ", %" PRId64 "]), scales)",
           n, blocks, n, blocks, size);
    if (!cq_expansion_has(e, 3)) {
        cq_say(e, "zero = like (%d, scales)", 1 << (bits - 1));
    } else { /* one a block: packed in rows, or of the type of scales */
        cq_say(e, "zero_bytes = Cast <to: int = %d> (zero_points)", CQ_ONNX_UINT8);
        say_unpacked(e, "zero_small", "zero_bytes", bits);
        cq_say(e,
               "zero_packed = Slice (Reshape (zero_small, [%" PRId64 ", -1]), [0], [%" PRId64
               "], [1])\n"
               "are_plain = Equal (Size (zero_points), %" PRId64 ")",
               n, blocks, n * blocks);
        cq_say(e,
               "zero0 = If (are_plain) <then_branch: graph = plain () => (p) { "
               "p = CastLike (%s, scales) }, else_branch: graph = packed () => (q) { "
               "q = CastLike (zero_packed, scales) }>",
               blocks > 1 ? "zero_points" : "zero_packed");
        cq_say(e, "zero = Reshape (zero0, by_block)");
    }
    cq_say(e,
           "real = Mul (Sub (whole, zero), Reshape (scales, by_block))\n"
           "weights = Slice (Reshape (real, [%" PRId64 ", -1]), [0], [%" PRId64 "], [1])\n"
           "Y = AddIf (MatMul (A, Transpose <perm: ints = [1, 0]> (weights)), bias)",
           n, k);
}

/* ---- others ---- */

static void attention(cq_expansion *e)
{
    cq_say(e,
           WHOLE_PRODUCT("input", "weight", "input_zero_point, weight_zero_point",
                         "input_scale, weight_scale") "q, k, v = Split <axis: int = -1, "
                                                      "num_outputs: int = 3> (Add (real, bias))");
    cq_say_attention(e, 5, 8);
}

const cq_expansion_row cq_expansions_quantized[] = {
    { "DequantizeLinear", .text = "y = DequantizeLinear <axis> (x, x_scale, x_zero_point)" },
    { "DynamicQuantizeMatMul",
      .text = "a, a_scale, a_zero = DynamicQuantizeLinear (A)\n" WHOLE_PRODUCT(
          "a", "B", "a_zero, b_zero_point", "a_scale, b_scale") "Y = AddIf (real, bias)" },
    { "MatMulIntegerToFloat", .text = WHOLE_PRODUCT("A", "B", "a_zero_point, b_zero_point",
                                                    "a_scale, b_scale") "Y = AddIf (real, bias)" },
    { "MatMulNBits", .write = matmul_n_bits },
    { "NhwcMaxPool", .write = nhwc_max_pool },
    { "QAttention", .write = attention },
    { "QGemm", .write = gemm },
    { "QLinearAdd", .text = BINARY("Add") },
    { "QLinearAveragePool", .write = average_pool },
    { "QLinearConcat", .write = concat },
    { "QLinearGlobalAveragePool", .write = global_average_pool },
    { "QLinearLeakyRelu", .text = "Y = QuantizeLinear (LeakyRelu <alpha> (" REAL(
                              "X", "X") "), Y_scale, Y_zero_point)" },
    { "QLinearMul", .text = BINARY("Mul") },
    { "QLinearReduceMean", .text =
                               "axes = Constant <value_ints = axes> ()\n"
                               "reduced = QuantizeLinear (ReduceMean <keepdims> (" REAL(
                                   "data", "data") ", axes), reduced_scale, reduced_zero_point)" },
    { "QLinearSigmoid",
      .text = "Y = QuantizeLinear (Sigmoid (" REAL("X", "X") "), Y_scale, Y_zero_point)" },
    { "QLinearSoftmax", .write = softmax },
    { "QLinearWhere", .text = "Z = QuantizeLinear (Where (condition, " REAL("X", "x") ", " REAL(
                          "Y", "y") "), z_scale, z_zero_point)" },
    { "QuantizeLinear", .text = "y = QuantizeLinear <axis> (x, y_scale, y_zero_point)" },
    { 0 },
};
