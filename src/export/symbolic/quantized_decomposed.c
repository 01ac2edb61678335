/* Quantization as plain tensors: QuantizeLinear and DequantizeLinear where they know the dtype, 8
 * bits since opset 10 and 16 since 21; with a grid for each channel since 13. Else, and for half
 * precision, it is decomposed. */
#include "export/symbolic/symbolic.h"

/* clang-format off */

/* A number, or a row of one, without dimensions; or a row along the axis. */
#define PER_TENSOR(stored) \
    "wide = cast(scale, 'float32'); step = Squeeze(wide, [0]) if rank(wide) == 1 else wide;" \
    "from = cast(zero_point, " stored "); zero = Squeeze(from, [0]) if rank(from) == 1 else from;"
#define PER_CHANNEL(stored) \
    "step = cast(scales, 'float32'); at = axis(axis, input);" \
    "zero = cast(zero_points, " stored ") if zero_points is not None else None;"

#define IS_KNOWN(dtype) \
    "wide16 = " dtype " == 'int16' or " dtype " == 'uint16';" \
    "is_known = opset() >= 21 if wide16 else" \
    " " dtype " == 'int8' or " dtype " == 'uint8';"

/* A range that is smaller than the type's cuts off what was rounded. */
#define QUANTIZE(grid, axis) \
    "stored = result_dtype();" IS_KNOWN("stored") grid("stored") \
    "width = 65536 if wide16 else 256;" \
    "least = -(width // 2) if stored == 'int8' or stored == 'int16' else 0;" \
    "direct = not is_tensor(quant_min) and dtype(input) == 'float32' and is_known;" \
    "whole = quant_min == least and quant_max == least + width - 1;" \
    "q = QuantizeLinear" axis "(input, step, zero);" \
    DECOMPOSED " if not direct or not whole and (wide16 or opset() < 12) else" \
    " q if whole else Clip(q, quant_min, quant_max)"
#define DEQUANTIZE(grid, axis) \
    IS_KNOWN("dtype(input)") grid("dtype(input)") \
    "DequantizeLinear" axis "(input, step, zero)" \
    " if result_dtype() == 'float32' and is_known else " DECOMPOSED
#define DECOMPOSED "no('it is decomposed')"
#define ALONG      "<axis = at>"
/* clang-format on */

const cq_symbolic cq_symbolics_quantized_decomposed[] = {
    { "quantized_decomposed::quantize_per_tensor", 7, .as = DECOMPOSED },
    { "quantized_decomposed::quantize_per_tensor", 10, .as = QUANTIZE(PER_TENSOR, "") },
    { "quantized_decomposed::quantize_per_channel", 7, .as = DECOMPOSED },
    { "quantized_decomposed::quantize_per_channel", 13, .as = QUANTIZE(PER_CHANNEL, ALONG) },
    { "quantized_decomposed::dequantize_per_tensor", 7, .as = DECOMPOSED },
    { "quantized_decomposed::dequantize_per_tensor", 10, .as = DEQUANTIZE(PER_TENSOR, "") },
    { "quantized_decomposed::dequantize_per_channel", 7, .as = DECOMPOSED },
    { "quantized_decomposed::dequantize_per_channel", 13, .as = DEQUANTIZE(PER_CHANNEL, ALONG) },
    { 0 },
};
