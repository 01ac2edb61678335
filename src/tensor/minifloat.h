/* Floats of eight and four bits, as ONNX has them. One holds a sign, a few bits of exponent and
 * fewer of fraction; FN formats have no infinity, UZ formats no negative zero. E8M0 is all
 * exponent: the powers of two from -127 to 127, and NaN. In memory each takes a byte of its own,
 * also one of four bits. */
#ifndef CQ_TENSOR_MINIFLOAT_H
#define CQ_TENSOR_MINIFLOAT_H

#include "tensor/dtype.h"

bool cq_dtype_is_minifloat(cq_dtype d);

/* Exact. Bits that the format does not have are not looked at. */
float cq_minifloat_to_f32(cq_dtype d, uint8_t bits);

/* Rounds to nearest, ties to even. What is too large becomes the largest number when it
 * saturates; else infinity, or NaN where there is none. A format without NaN has its largest
 * number instead. */
uint8_t cq_f64_to_minifloat(cq_dtype d, double x, bool saturates);

/* E8M0 has a choice: the power of two above (which the function above takes), the one below,
 * or the nearer one, of which halfway is the upper. What is out of range becomes the nearest
 * power when it saturates, else NaN; so does what is negative, always. */
typedef enum cq_e8m0_round { CQ_E8M0_UP, CQ_E8M0_DOWN, CQ_E8M0_NEAREST } cq_e8m0_round;
uint8_t cq_f64_to_e8m0(double x, cq_e8m0_round round, bool saturates);

#endif
