/* A row per element type for convolutions. Private to the conv sources. */
#ifndef CQ_KERNEL_CONV_CONV_TYPES_H
#define CQ_KERNEL_CONV_CONV_TYPES_H

#include "tensor/tensor.h"

enum { CONV_OVERREAD = 32 }; /* elements past the end of the plane that taps may read */

/* out[i] = bias + the sum over t of w[t] * x[at[t] + i * step], for n positions; bias may be
 * NULL. */
typedef void conv_taps_fn(void *out, int64_t n, const void *x, int64_t step, const void *w,
                          const int64_t *at, int64_t n_taps, const void *bias);

typedef struct conv_type {
    conv_taps_fn *taps;
    /* out[i * step] += x[i] */
    void (*add)(void *out, int64_t step, const void *x, int64_t n);
    void (*fill)(void *out, const void *value, int64_t n); /* value NULL: zero */
} conv_type;

#endif
