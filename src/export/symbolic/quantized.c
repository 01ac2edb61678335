/* Quantized tensors, as pairs of QuantizeLinear and DequantizeLinear: what runtimes look for, and
 * what is rounded as PyTorch rounds. Those exist since opset 10, with a scale for each channel
 * since 13, in 8 bits; all else is written out. */
#include "export/symbolic/symbolic.h"

/* clang-format off */

/* The grid of the call: the numbers alone, or rows along an axis, so that they go with x. */
#define PER_TENSOR(zero) \
    "wide = cast(scale, 'float32'); step = Squeeze(wide, [0]) if rank(wide) == 1 else wide;" \
    "from = cast(zero_point, " zero "); none = Squeeze(from, [0]) if rank(from) == 1 else from;"
#define PER_CHANNEL(zero) \
    "at = axis(axis, self); others = [i - at for i in range(at + 1, rank(self))];" \
    "row = cast(scale, 'float32'); zeros = cast(zero_point, " zero ");" \
    "step = Unsqueeze(row, others); none = Unsqueeze(zeros, others);"

#define ROUNDED \
    "own = cast(none, dtype(x));" \
    "q = Clip(Round(x * cast(Reciprocal(step), dtype(x))) + own, quant_min, quant_max);" \
    "parts = (q - own) * cast(step, dtype(x));"

/* The dtype that holds the range; None if no type of ONNX's operators does. */
#define STORED \
    "stored = None if dtype(x) != 'float32' else" \
    " 'uint8' if quant_min >= 0 and quant_max <= 255 else" \
    " 'int8' if quant_min >= -128 and quant_max <= 127 else None;" \
    "whole = quant_max - quant_min == 255;"
/* A range that is smaller than the type's: its ends lie on the grid, so x may be cut there first. */
#define CUT \
    "cut = x if whole else Clip(x, (quant_min - zero_point) * scale, (quant_max - zero_point) * scale);"
/* clang-format on */

/* DequantizeLinear knows int32 only without a zero point. */
#define FROM_GRID          "(cast(self, 'float32') - none) * step"
#define STORED_AS          "'float32' if dtype(self) == 'int32' else dtype(self)"
#define UNLESS_INT32(node) FROM_GRID " if dtype(self) == 'int32' else " node

const cq_symbolic cq_symbolics_quantized[] = {
    { "aten::fake_quantize_per_tensor_affine", 7,
      .as = "x = widen(self);" PER_TENSOR("'float32'") ROUNDED "parts" },
    { "aten::fake_quantize_per_tensor_affine", 10,
      .as = "x = widen(self);" PER_TENSOR("'float32'") ROUNDED STORED CUT
      "zero = cast(zero_point, stored); small = Squeeze(zero, [0]) if rank(zero) == 1 else zero;"
      "DequantizeLinear(QuantizeLinear(cut, step, small), step, small)"
      " if stored is not None and (whole or not is_tensor(scale)) else parts" },
    { "aten::fake_quantize_per_channel_affine", 7,
      .as = "x = widen(self);" PER_CHANNEL("'float32'") ROUNDED "parts" },
    { "aten::fake_quantize_per_channel_affine", 13,
      .as = "x = widen(self);" PER_CHANNEL("'float32'") ROUNDED STORED
      "small = cast(zero_point, stored);"
      "DequantizeLinear<axis = at>(QuantizeLinear<axis = at>(x, row, small), row, small)"
      " if stored is not None and whole else parts" },
    { "aten::_make_per_tensor_quantized_tensor", 7, .as = PER_TENSOR("'float32'") FROM_GRID },
    { "aten::_make_per_tensor_quantized_tensor", 10,
      .as = PER_TENSOR(STORED_AS) UNLESS_INT32("DequantizeLinear(self, step, none)") },
    { "aten::_make_per_channel_quantized_tensor", 7, .as = PER_CHANNEL("'float32'") FROM_GRID },
    { "aten::_make_per_channel_quantized_tensor", 13,
      .as = PER_CHANNEL(STORED_AS) UNLESS_INT32("DequantizeLinear<axis = at>(self, row, zeros)") },
    { "aten::dequantize.self", 7, .as = "cast(self, 'float32')" },
    { 0 },
};
