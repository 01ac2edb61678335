/* Softmax of one dense lane of float32. */
#ifndef CQ_KERNEL_MATRIX_SOFTMAX_ROWS_H
#define CQ_KERNEL_MATRIX_SOFTMAX_ROWS_H

#include <stdint.h>

enum { PIECE = 512 }; /* terms summed in float before the sum is added to a double */

typedef void cq_softmax_fn(float *out, const float *x, int64_t n); /* out may be x */

#endif
