/* Quantization by torchao: QuantizeLinear and DequantizeLinear with a scale for each row. Blocks of
 * elements that follow one another are rows of a matrix, so groups need no more; since opset 21
 * DequantizeLinear knows groups, and weights of 4 bits and fewer are stored as int4. Other blocks
 * are decomposed. */
#include "export/symbolic/symbolic.h"

#define DECOMPOSED "no('it is decomposed')"

/* clang-format off */

/* Blocks along the last dimension alone, or all of every dimension but the first. */
#define ROWS \
    "last = rank(input) - 1;" \
    "singles = len([i for i in range(last) if fixed(block_size[i]) and block_size[i] == 1]);" \
    "wholes = len([i for i in range(1, rank(input)) if fixed(block_size[i])" \
    " and fixed(size(input, i)) and block_size[i] == size(input, i)]);" \
    "by_last = rank(input) > 0 and singles == last and fixed(block_size[last]);" \
    "by_first = rank(input) > 1 and fixed(block_size[0]) and block_size[0] == 1 and wholes == last;" \
    "unit = block_size[last] if by_last else" \
    " product([block_size[i] for i in range(1, rank(input))]) if by_first else 1;" \
    "rows = by_last or by_first;" \
    "step = flat(cast(scale, 'float32'));"
#define ZERO(stored) \
    "zero = flat(cast(zero_point, " stored ")) if zero_point is not None else None;"
#define IS_SMALL(dtype) "(" dtype " == 'int8' or " dtype " == 'uint8')"
#define MATRIX "Reshape(input, [-1, unit])"

#define DEQUANTIZE(grouped) \
    ROWS ZERO("dtype(input)") \
    "can = rows and " IS_SMALL("dtype(input)") \
    " and (zero_point is None or not is_float(zero_point));" \
    "plain = rank(input) == 2 and unit == size(input, 1);" \
    "wide = " DECOMPOSED " if not can else" \
    " DequantizeLinear<axis = 0>(input, step, zero) if plain else" \
    grouped \
    " Reshape(DequantizeLinear<axis = 0>(" MATRIX ", step, zero), sizes(input));" \
    "cast(wide, result_dtype())"

/* Groups of a matrix, in as many bits as their range needs. */
#define GROUPED \
    " blocked(input, Reshape(cast(scale, 'float32'), [size(input, 0), size(input, 1) // unit])," \
    " Reshape(zero, [size(input, 0), size(input, 1) // unit]) if zero is not None else None," \
    " unit, dtype(input) == 'int8' and given(quant_min, -128) >= -8 and given(quant_max, 127) <= 7)" \
    " if rank(input) == 2 and by_last and fixed(size(input, 0)) and fixed(size(input, 1)) else"

#define QUANTIZE \
    "stored = result_dtype();" ROWS ZERO("stored") \
    "least = -128 if stored == 'int8' else 0;" \
    "low = given(quant_min, least); high = given(quant_max, least + 255);" \
    "can = rows and " IS_SMALL("stored") " and dtype(input) == 'float32'" \
    " and (zero_point is None or not is_float(zero_point));" \
    "q = " DECOMPOSED " if not can else" \
    " QuantizeLinear<axis = 0>(" MATRIX ", step, zero if zero is not None else" \
    " cast(step * 0, stored));" \
    "Reshape(q if low == least and high == least + 255 else Clip(q, low, high), sizes(input))"
/* clang-format on */

const cq_symbolic cq_symbolics_torchao[] = {
    { "torchao::dequantize_affine", 7, .as = DECOMPOSED },
    { "torchao::dequantize_affine", 13, .as = DEQUANTIZE("") },
    { "torchao::dequantize_affine", 21, .as = DEQUANTIZE(GROUPED) },
    { "torchao::quantize_affine", 7, .as = DECOMPOSED },
    { "torchao::quantize_affine", 13, .as = QUANTIZE },
    { 0 },
};
