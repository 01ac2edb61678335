/* The hot loops of normalisation, for one float type. */
#ifndef CQ_KERNEL_MATRIX_NORM_TYPES_H
#define CQ_KERNEL_MATRIX_NORM_TYPES_H

#include <stdint.h>

typedef struct norm_loops {
    double (*sum)(const void *x, int64_t n);
    double (*squares)(const void *x, double mean, int64_t n); /* of x - mean, summed */
    void (*scale)(void *out, const void *x, double scale, double shift, int64_t n);
    /* (x - mean) * rstd * weight + bias; weight and bias may be NULL. */
    void (*affine)(void *out, const void *x, double mean, double rstd, const void *weight,
                   const void *bias, int64_t n);
} norm_loops;

#endif
