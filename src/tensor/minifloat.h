/* Floats of eight and four bits, as ONNX has them. One holds a sign, a few bits of exponent and
 * fewer of fraction; FN formats have no infinity, UZ formats no negative zero. In memory each
 * takes a byte of its own, also one of four bits. */
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

#endif
