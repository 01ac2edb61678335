/* Layers that exist for quantized tensors alone. Each is its plain twin in floats, put on the grid
 * that its arguments name; so they are exported as the layer between DequantizeLinear and
 * QuantizeLinear, which runtimes fuse. Their weights come packed (quantized.h). */
#include "aten/quantized.h"

#define Q_CLASS "__torch__.torch.classes.quantized."
#define LINEAR  Q_CLASS "LinearPackedParamsBase W_prepack"
#define ON      ", float output_scale, int output_zero_point) -> Tensor"
#define TWO     "(Tensor qa, Tensor qb, float scale, int zero_point) -> Tensor qc"
#define JOINED  "(Tensor[] qx, int dim, float? scale, int? zero_point) -> Tensor"
#define POOLED                                                                                     \
    "(Tensor qx, int[] kernel_size, int[] stride, int[] padding, int[] dilation, "                 \
    "bool ceil_mode) -> Tensor"

#define ROW(text_of_schema, text, code)                                                            \
    {                                                                                              \
        .schema = "quantized::" text_of_schema, .about = text, .body = code, .flags = CQ_OP_PARTS  \
    }
#define ASKED(x, code) "on_grid(" x ", " code ", output_scale, output_zero_point)"
#define PACK(name, class, more, output_padding)                                                    \
    ROW(name "_prepack(Tensor weight, Tensor? bias, int[] stride, int[] padding, " more            \
             "int[] dilation, int groups) -> " Q_CLASS class,                                      \
        "weights for a quantized convolution",                                                     \
        "weight, bias, stride, padding, dilation, groups, " output_padding)
#define UNPACK(name, class)                                                                        \
    ROW(name "_unpack(" Q_CLASS class " packed_weights) -> (Tensor unpacked_weights, Tensor? "     \
                                      "B_origin)",                                                 \
        "the weight and the bias of a quantized convolution", "unpacked(packed_weights, 2)[:2]")
#define CONV(name, class, code)                                                                    \
    ROW(name "(Tensor qx, " Q_CLASS class " packed_weight" ON, "a quantized convolution",          \
        ASKED("qx", code))
#define NORM(name, code)                                                                           \
    ROW(name "(Tensor qx, Tensor? weight, Tensor? bias, Tensor mean, Tensor var, float eps" ON,    \
        "a quantized batch_norm", ASKED("qx", code))

#define NORMED     "batch_norm(qx, weight, bias, mean, var, False, 0., eps, False)"
#define CONVOLVED  "conv_packed(qx, packed_weight)"
#define TRANSPOSED "conv_transpose_packed(qx, packed_weight)"

const cq_op_def cq_ops_quantized_layers[] = {
    ROW("add" TWO, "a quantized sum", "on_grid(qa, qa + qb, scale, zero_point)"),
    ROW("add_relu" TWO, "a quantized sum and relu",
        "on_grid(qa, relu(qa + qb), scale, zero_point)"),
    ROW("mul" TWO, "a quantized product", "on_grid(qa, qa * qb, scale, zero_point)"),
    ROW("mul_relu" TWO, "a quantized product and relu",
        "on_grid(qa, relu(qa * qb), scale, zero_point)"),
    ROW("matmul" TWO, "a quantized product of matrices", "on_grid(qa, qa @ qb, scale, zero_point)"),
    ROW("add_scalar(Tensor qa, Scalar b) -> Tensor qc", "a quantized sum with a number",
        "add_number(qa, b, False)"),
    ROW("add_scalar_relu(Tensor qa, Scalar b) -> Tensor qc",
        "a quantized sum with a number and relu", "add_number(qa, b, True)"),
    ROW("mul_scalar(Tensor qa, Scalar b) -> Tensor qc", "a quantized product with a number",
        "times_number(qa, b, False)"),
    ROW("mul_scalar_relu(Tensor qa, Scalar b) -> Tensor qc",
        "a quantized product with a number and relu", "times_number(qa, b, True)"),
    ROW("cat" JOINED, "quantized tensors one after the other",
        "join_on_grid(qx, dim, scale, zero_point, False)"),
    ROW("cat_relu" JOINED, "quantized tensors one after the other, and relu",
        "join_on_grid(qx, dim, scale, zero_point, True)"),

    ROW("sigmoid(Tensor qx" ON, "a quantized sigmoid", ASKED("qx", "qx.sigmoid()")),
    ROW("hardswish(Tensor input" ON, "a quantized hardswish", ASKED("input", "input.hardswish()")),
    ROW("leaky_relu(Tensor qx, Scalar negative_slope, bool inplace" ON, "a quantized leaky_relu",
        ASKED("qx", "qx.leaky_relu(negative_slope)")),
    ROW("elu(Tensor self, float output_scale, int output_zero_point, Scalar alpha=1, Scalar "
        "scale=1, "
        "Scalar input_scale=1) -> Tensor",
        "a quantized elu", ASKED("self", "self.elu(alpha, scale, input_scale)")),
    ROW("celu(Tensor self, float output_scale, int output_zero_point, Scalar alpha=1) -> Tensor",
        "a quantized celu", ASKED("self", "self.celu(alpha)")),
    ROW("prelu(Tensor qx, Tensor weight" ON, "a quantized prelu", ASKED("qx", "qx.prelu(weight)")),
    ROW("softmax(Tensor qx, int dim" ON, "a quantized softmax", ASKED("qx", "qx.softmax(dim)")),
    ROW("relu6(Tensor qx, bool inplace=False) -> Tensor", "a quantized relu6",
        "regrid(qx.relu6(), qx)"),
    ROW("clamp(Tensor qx, Scalar? min=None, Scalar? max=None) -> Tensor qy", "a quantized clamp",
        "regrid(qx.clamp(min, max), qx)"),
    ROW("threshold(Tensor qx, Scalar threshold, Scalar value) -> Tensor qy",
        "a quantized threshold", "regrid(qx.threshold(threshold, value), qx)"),
    ROW("max_pool1d" POOLED, "a quantized max_pool1d",
        "regrid(qx.max_pool1d(kernel_size, stride, padding, dilation, ceil_mode), qx)"),
    ROW("max_pool2d" POOLED, "a quantized max_pool2d",
        "regrid(qx.max_pool2d(kernel_size, stride, padding, dilation, ceil_mode), qx)"),

    ROW("layer_norm(Tensor input, int[] normalized_shape, Tensor? weight, Tensor? bias, "
        "float eps" ON,
        "a quantized layer_norm",
        ASKED("input", "input.layer_norm(normalized_shape, weight, bias, eps)")),
    ROW("group_norm(Tensor input, int num_groups, Tensor? weight, Tensor? bias, float eps" ON,
        "a quantized group_norm",
        ASKED("input", "input.group_norm(num_groups, weight, bias, eps)")),
    ROW("instance_norm(Tensor input, Tensor? weight, Tensor? bias, float eps" ON,
        "a quantized instance_norm",
        ASKED("input", "input.instance_norm(weight, bias, None, None, True, 0., eps, False)")),
    NORM("batch_norm", NORMED),
    NORM("batch_norm1d", NORMED),
    NORM("batch_norm2d", NORMED),
    NORM("batch_norm3d", NORMED),
    NORM("batch_norm_relu", "relu(" NORMED ")"),
    NORM("batch_norm1d_relu", "relu(" NORMED ")"),
    NORM("batch_norm2d_relu", "relu(" NORMED ")"),
    NORM("batch_norm3d_relu", "relu(" NORMED ")"),

    ROW("linear_prepack(Tensor W, Tensor? B=None) -> " LINEAR, "weights for a quantized linear",
        "W, B"),
    ROW("linear_unpack(" LINEAR ") -> (Tensor W_origin, Tensor? B_origin)",
        "the weight and the bias of a quantized linear", "unpacked(W_prepack, 2)[:2]"),
    ROW("linear(Tensor X, " LINEAR ", float Y_scale_i, int Y_zero_point_i) -> Tensor Y",
        "a quantized linear", "on_grid(X, linear_packed(X, W_prepack), Y_scale_i, Y_zero_point_i)"),
    ROW("linear_relu(Tensor X, " LINEAR ", float Y_scale_i, int Y_zero_point_i) -> Tensor Y",
        "a quantized linear and relu",
        "on_grid(X, relu(linear_packed(X, W_prepack)), Y_scale_i, Y_zero_point_i)"),
    ROW("linear_dynamic(Tensor X, " LINEAR ", bool reduce_range=False) -> Tensor Y",
        "linear with quantized weights, its input rounded by its own range",
        "linear_rounded(X, W_prepack, reduce_range)"),
    ROW("linear_relu_dynamic(Tensor X, " LINEAR ", bool reduce_range=False) -> Tensor Y",
        "linear_dynamic and relu", "relu(linear_rounded(X, W_prepack, reduce_range))"),

    PACK("conv1d", "Conv2dPackedParamsBase", "", "None"),
    PACK("conv2d", "Conv2dPackedParamsBase", "", "None"),
    PACK("conv3d", "Conv3dPackedParamsBase", "", "None"),
    PACK("conv_transpose1d", "Conv2dPackedParamsBase", "int[] output_padding, ", "output_padding"),
    PACK("conv_transpose2d", "Conv2dPackedParamsBase", "int[] output_padding, ", "output_padding"),
    PACK("conv_transpose3d", "Conv3dPackedParamsBase", "int[] output_padding, ", "output_padding"),
    UNPACK("conv1d", "Conv2dPackedParamsBase"),
    UNPACK("conv2d", "Conv2dPackedParamsBase"),
    UNPACK("conv3d", "Conv3dPackedParamsBase"),
    UNPACK("conv_transpose1d", "Conv2dPackedParamsBase"),
    UNPACK("conv_transpose2d", "Conv2dPackedParamsBase"),
    UNPACK("conv_transpose3d", "Conv3dPackedParamsBase"),
    CONV("conv1d", "Conv2dPackedParamsBase", CONVOLVED),
    CONV("conv1d_relu", "Conv2dPackedParamsBase", "relu(" CONVOLVED ")"),
    CONV("conv2d.new", "Conv2dPackedParamsBase", CONVOLVED),
    CONV("conv2d_relu.new", "Conv2dPackedParamsBase", "relu(" CONVOLVED ")"),
    CONV("conv3d.new", "Conv3dPackedParamsBase", CONVOLVED),
    CONV("conv3d_relu.new", "Conv3dPackedParamsBase", "relu(" CONVOLVED ")"),
    CONV("conv_transpose1d", "Conv2dPackedParamsBase", TRANSPOSED),
    CONV("conv_transpose2d", "Conv2dPackedParamsBase", TRANSPOSED),
    CONV("conv_transpose3d", "Conv3dPackedParamsBase", TRANSPOSED),
    { 0 }
};
