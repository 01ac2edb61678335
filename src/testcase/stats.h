/* Mean and variance, equal to numpy's mean() and var() in all digits. */
#ifndef CQ_TESTCASE_STATS_H
#define CQ_TESTCASE_STATS_H

#include "tensor/dtype.h"

typedef struct cq_stats {
    double mean, variance; /* NaN if there are no elements */
} cq_stats;

/* Statistics of n contiguous elements, which need not be aligned. dtype is not complex. */
cq_stats cq_stats_of(const void *data, cq_dtype dtype, int64_t n);

#endif
