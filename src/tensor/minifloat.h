/* Floats of eight and four bits, as in ONNX: a sign, a few bits of exponent and fewer of fraction;
 * FN formats have no infinity, UZ formats no negative zero. E8M0 has only an exponent: the powers
 * of two from -127 to 127, and NaN. In memory each takes a byte, also those of four bits. */
#ifndef CQ_TENSOR_MINIFLOAT_H
#define CQ_TENSOR_MINIFLOAT_H

#include "tensor/dtype.h"

bool cq_dtype_is_minifloat(cq_dtype d);

/* Exact. Bits beyond the format are ignored. */
float cq_minifloat_to_f32(cq_dtype d, uint8_t bits);

/* Rounds to nearest, ties to even. Larger values become the largest number if it saturates;
 * otherwise infinity, or NaN if there is none. A format without NaN has its largest number
 * instead. */
uint8_t cq_f64_to_minifloat(cq_dtype d, double x, bool saturates);

/* E8M0 has rounding modes: the power of two above (used by the function above), the one below, or
 * the nearer one, with ties up. Values out of range become the nearest power if it saturates,
 * otherwise NaN; negative values are always NaN. */
typedef enum cq_e8m0_round { CQ_E8M0_UP, CQ_E8M0_DOWN, CQ_E8M0_NEAREST } cq_e8m0_round;
uint8_t cq_f64_to_e8m0(double x, cq_e8m0_round round, bool saturates);

#endif
