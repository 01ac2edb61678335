/* Products of matrices in few bits: weights keep their bits, DequantizeLinear gives them their
 * scales. */
#include "export/symbolic/symbolic.h"

#define DECOMPOSED "no('it is decomposed')"

const cq_symbolic cq_symbolics_lowbit[] = {
    { "aten::_int_mm", 7, .as = DECOMPOSED },
    { "aten::_int_mm", 10, .as = "MatMulInteger(self, mat2)" },
    { "aten::_weight_int8pack_mm", 7, .as = DECOMPOSED },
    { "aten::_weight_int8pack_mm", 13,
      .as = "w = DequantizeLinear<axis = 1>(swap(mat2, 0, 1), cast(scales, 'float32'));"
            "cast(MatMul(cast(self, 'float32'), w), dtype(self))" },
    { 0 },
};
