/* The range of a value over many samples, in constant memory: range.c. */
#ifndef CQ_QUANTIZE_RANGE_H
#define CQ_QUANTIZE_RANGE_H

#include "tensor/tensor.h"

#include <calque/quantize.h>

enum { CQ_RANGE_BINS = 2048 }; /* of each sign */

/* A histogram whose bins are a power of two wide. If a number does not fit, bins are merged in
 * pairs, so that the result does not depend on the order of the samples. */
typedef struct cq_range {
    double    low, high; /* of all finite numbers, and 0 */
    int64_t   n;
    int       exponent; /* of the width of a bin */
    uint64_t *bins;     /* 2 * CQ_RANGE_BINS, from the most negative on; NULL: not needed */
} cq_range;

cq_status cq_range_init(cq_range *r, bool has_histogram);
void      cq_range_clear(cq_range *r);
cq_status cq_range_add(cq_range *r, const cq_tensor *t);

/* Chooses the range by the method of the options. */
void cq_range_choose(const cq_range *r, const cq_quantize_options *options, double *low,
                     double *high);

#endif
