/* MT19937 and the distributions of PyTorch's CPU generator, bit for bit. */
#ifndef CQ_KERNEL_MERSENNE_H
#define CQ_KERNEL_MERSENNE_H

#include <stdbool.h>
#include <stdint.h>

enum { CQ_MERSENNE_WORDS = 624, CQ_MERSENNE_BLOCK = 16 };

typedef struct cq_mersenne {
    uint32_t state[CQ_MERSENNE_WORDS];
    uint32_t at;         /* of the next word */
    bool     has_normal; /* the second of a pair */
    double   normal;
} cq_mersenne;

void     cq_mersenne_seed(cq_mersenne *m, uint64_t seed);
uint32_t cq_mersenne_u32(cq_mersenne *m);
void     cq_mersenne_skip(cq_mersenne *m, uint64_t words);

float  cq_mersenne_f32(cq_mersenne *m, float a, float b); /* in [a, b) */
double cq_mersenne_f64(cq_mersenne *m, double a, double b);
double cq_mersenne_normal(cq_mersenne *m); /* mean 0, variance 1 */

/* Computes the next 16 elements of a tensor of at least 16 elements, of which n are left. If n is
 * less than 32, computes all n: PyTorch draws the last 16 again if the size is not a multiple of
 * 16. */
void cq_mersenne_normals_f32(cq_mersenne *m, int64_t n, float mean, float deviation, double *to);
void cq_mersenne_normals_f64(cq_mersenne *m, int64_t n, double mean, double deviation, double *to);

/* Many numbers at once, with the vectors of the processor: n in [a, b), or n normal ones in whole
 * blocks, n a multiple of 16. */
void cq_mersenne_fill_f32(cq_mersenne *m, float a, float b, float *to, int64_t n);
void cq_mersenne_fill_normals_f32(cq_mersenne *m, float mean, float deviation, float *to,
                                  int64_t n);

float cq_mersenne_erfinv(float y);

#endif
