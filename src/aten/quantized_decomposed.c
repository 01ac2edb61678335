/* Quantization as plain tensors: what programs that PyTorch's PT2E quantized are made of. Tensors
 * of integers know nothing of their grids, which are arguments; those that do are in quantized.c.
 */
#include "aten/op.h"

#define NAME(text)  "quantized_decomposed::" text
#define RANGE       "int quant_min, int quant_max, ScalarType dtype"
#define OF_TENSOR   "(Tensor input, Tensor scale, Tensor zero_point, "
#define OF_TENSORS  OF_TENSOR "Tensor quant_min, Tensor quant_max, ScalarType dtype"
#define OF_CHANNELS "(Tensor input, Tensor scales, Tensor zero_points, "
#define TO_QPARAMS                                                                                 \
    "(Tensor input, int quant_min, int quant_max, float eps, ScalarType dtype) "                   \
    "-> (Tensor, Tensor)"

#define PER_CHANNEL                                                                                \
    "d = wrap_dim(axis, input.ndim)\n"                                                             \
    "sizes = [-1 if i == d else 1 for i in range(input.ndim)]\n"                                   \
    "scale = scales.reshape(sizes)\n"

#define IN_GROUPS                                                                                  \
    "assert input.shape[-1] % group_size == 0, 'groups of {group_size} do not make up a row'\n"    \
    "sizes = input.shape[:-1] + [input.shape[-1] // group_size, group_size]\n"                     \
    "scale = scales.reshape(scales.shape + [1])\n"

const cq_op_def cq_ops_quantized_decomposed[] = {
    /* ---- one grid for all ---- */
    CQ_BODY(
        NAME("quantize_per_tensor(Tensor input, float scale, int zero_point, " RANGE ") -> Tensor"),
        "integers on a grid",
        "((input * (1 / scale)).round() + zero_point).clamp(quant_min, quant_max).to(dtype)"),
    CQ_BODY(NAME("quantize_per_tensor.tensor" OF_TENSOR RANGE ") -> Tensor"),
            "integers on a grid that is data",
            "y = (input * scale.reciprocal().to(input.dtype)).round() + zero_point\n"
            "return y.clamp(quant_min, quant_max).to(dtype)"),
    CQ_BODY(NAME("quantize_per_tensor.tensor2" OF_TENSORS ") -> Tensor"),
            "integers on a grid that is data, in a range that is",
            "y = (input * scale.reciprocal().to(input.dtype)).round() + zero_point\n"
            "return y.clamp(quant_min, quant_max).to(dtype)"),
    CQ_BODY(NAME("dequantize_per_tensor(Tensor input, float scale, int zero_point, " RANGE
                 ", *, ScalarType? out_dtype=None) -> Tensor"),
            "what integers on a grid mean", "(input.to(or_float(out_dtype)) - zero_point) * scale"),
    CQ_BODY(NAME("dequantize_per_tensor.tensor" OF_TENSOR RANGE
                 ", *, ScalarType? out_dtype=None) -> Tensor"),
            "what integers on a grid that is data mean",
            "d = or_float(out_dtype)\n"
            "return (input.to(d) - zero_point.to(d)) * scale.to(d)"),
    CQ_BODY(NAME("dequantize_per_tensor.tensor2" OF_TENSORS
                 ", *, ScalarType? out_dtype=None) -> Tensor"),
            "what integers on a grid that is data mean",
            "d = or_float(out_dtype)\n"
            "return (input.to(d) - zero_point.to(d)) * scale.to(d)"),

    /* ---- a grid for each channel ---- */
    CQ_BODY(
        NAME("quantize_per_channel" OF_CHANNELS "int axis, " RANGE ") -> Tensor"),
        "integers on a grid for each channel",
        PER_CHANNEL
        "y = (input * scale.reciprocal().to(input.dtype)).round() + zero_points.reshape(sizes)\n"
        "return y.clamp(quant_min, quant_max).to(dtype)"),
    CQ_BODY(NAME("dequantize_per_channel(Tensor input, Tensor scales, Tensor? zero_points, "
                 "int axis, " RANGE ", *, ScalarType? out_dtype=None) -> Tensor"),
            "what integers on a grid for each channel mean",
            PER_CHANNEL "t = or_float(out_dtype); y = input.to(t)\n"
                        "if zero_points is not None: y = y - zero_points.reshape(sizes).to(t)\n"
                        "return y * scale.to(t)"),
    CQ_BODY(NAME("fake_quant_per_channel" OF_CHANNELS
                 "int axis, int quant_min, int quant_max) -> Tensor"),
            "rounded as a tensor with a grid for each channel would be",
            "fake_quantize_per_channel_affine(input.to(torch.float32), scales.to(torch.float32),"
            " zero_points.to(torch.int32), axis, quant_min, quant_max).to(input.dtype)"),

    /* ---- a grid for each row, or for each group in a row ---- */
    CQ_BODY(NAME("quantize_per_token" OF_CHANNELS RANGE ") -> Tensor"),
            "integers on a grid for each row",
            "y = (input * scales.reciprocal() + zero_points).round()\n"
            "return y.clamp(quant_min, quant_max).to(dtype)"),
    CQ_BODY(NAME("dequantize_per_token" OF_CHANNELS RANGE ", ScalarType output_dtype) -> Tensor"),
            "what integers on a grid for each row mean",
            "((input - zero_points) * scales).to(output_dtype)"),
    CQ_BODY(NAME("quantize_per_channel_group" OF_CHANNELS RANGE ", int group_size) -> Tensor"),
            "integers on a grid for each group of a row",
            IN_GROUPS "y = (input.reshape(sizes) * scale.reciprocal()).round()"
                      " + zero_points.reshape(scale.shape)\n"
                      "return y.clamp(quant_min, quant_max).to(dtype).reshape(input.shape)"),
    CQ_BODY(NAME("dequantize_per_channel_group(Tensor input, Tensor scales, "
                 "Tensor? zero_points, " RANGE ", int group_size, ScalarType output_dtype) "
                 "-> Tensor"),
            "what integers on a grid for each group of a row mean",
            IN_GROUPS "y = input.reshape(sizes)\n"
                      "if zero_points is not None: y = y - zero_points.reshape(scale.shape)\n"
                      "return (y * scale).reshape(input.shape).to(output_dtype)"),

    /* ---- which grid ---- */
    CQ_BODY(NAME("choose_qparams.tensor" TO_QPARAMS), "the grid that covers all elements and 0",
            "low, high = aminmax(input.to(torch.float32))\n"
            "low = low.clamp(max=0); high = high.clamp(min=0)\n"
            "scale = ((high - low) / (quant_max - quant_min)).clamp(min=eps).reshape([1])\n"
            "zero = (quant_min - (low / scale).round()).clamp(quant_min, quant_max)\n"
            "return scale.to(torch.float64), zero.to(torch.int64)"),
    CQ_BODY(NAME("choose_qparams_symmetric.tensor" TO_QPARAMS),
            "the grid around 0 that covers all elements",
            "low, high = aminmax(input.to(torch.float32))\n"
            "high = maximum(-low.clamp(max=0), high.clamp(min=0))\n"
            "scale = (high / ((quant_max - quant_min) / 2)).clamp(min=eps).reshape([1])\n"
            "zero = full([1], 128 if dtype == torch.uint8 else 0, dtype=torch.int64)\n"
            "return scale.to(torch.float64), zero"),
    CQ_BODY(NAME("choose_qparams_per_token(Tensor input, ScalarType dtype) -> (Tensor, Tensor)"),
            "the grid around 0 of each row",
            "assert dtype == torch.int8, 'wants int8'\n"
            "y = input.abs().amax([-1], True)\n"
            "if y.dtype == torch.float16: y = y.to(torch.float32)\n"
            "y = y.clamp(min=1e-5) / 127\n"
            "return y, zeros_like(y)"),
    CQ_BODY(NAME("choose_qparams_per_token_asymmetric(Tensor input, ScalarType dtype) -> "
                 "(Tensor, Tensor)"),
            "the grid of each row", "qparams_of_rows(input)"),
    CQ_BODY(NAME("_choose_qparams_per_token_asymmetric_impl(Tensor input, ScalarType dtype) -> "
                 "(Tensor, Tensor)"),
            "the grid of each row", "qparams_of_rows(input)"),
    CQ_BODY(NAME("convert_element_type.no_fuse(Tensor input, ScalarType dtype) -> Tensor"),
            "in another dtype", "input.to(dtype)"),
    { 0 }
};
