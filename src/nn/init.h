/* Initial values of parameters. All return a new tensor, or NULL after a failure. */
#ifndef CQ_NN_INIT_H
#define CQ_NN_INIT_H

#include "nn/module.h"
#include "tensor/random.h"

cq_tensor *cq_init_uniform(size_t rank, const int64_t *sizes, double bound); /* in ±bound */
cq_tensor *cq_init_normal(size_t rank, const int64_t *sizes, double mean, double deviation);
cq_tensor *cq_init_constant(cq_dtype dtype, size_t rank, const int64_t *sizes, double value);

/* The bound of kaiming_uniform with a = sqrt(5), which Linear and Conv use: 1 / sqrt(fan_in). */
double cq_init_bound(double fan_in);

#endif
