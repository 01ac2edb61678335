/* Random numbers that are the same on every machine for the same seed: a counter-based
 * generator (Philox 4x32-10), and distributions that use exact IEEE arithmetic only. */
#ifndef CQ_TENSOR_RANDOM_H
#define CQ_TENSOR_RANDOM_H

#include "tensor/tensor.h"

typedef struct cq_random {
    uint64_t seed, counter;
    uint32_t block[4];
    int      used; /* of block */
} cq_random;

void     cq_random_seed(cq_random *r, uint64_t seed);
uint32_t cq_random_u32(cq_random *r);
uint64_t cq_random_u64(cq_random *r);
float    cq_random_f32(cq_random *r);                              /* in [0, 1), 24 bits */
double   cq_random_f64(cq_random *r);                              /* in [0, 1), 53 bits */
double   cq_random_normal(cq_random *r);                           /* mean 0, variance 1 */
int64_t  cq_random_below(cq_random *r, int64_t low, int64_t high); /* in [low, high) */
void     cq_random_permutation(cq_random *r, int64_t *out, int64_t n);

/* Fills a tensor with data, of any dtype and strides. */
cq_status cq_random_fill_uniform(cq_random *r, cq_tensor *t, double low, double high);
cq_status cq_random_fill_normal(cq_random *r, cq_tensor *t, double mean, double deviation);
cq_status cq_random_fill_bernoulli(cq_random *r, cq_tensor *t, double p);
cq_status cq_random_fill_integers(cq_random *r, cq_tensor *t, int64_t low, int64_t high);

#endif
