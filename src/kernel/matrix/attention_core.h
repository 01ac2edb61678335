/* The loops of attention on rows of scores: kernel/wide/attention.c, compiled for each instruction
 * set. Rows have room for whole vectors. Private to kernel/matrix/attention.c. */
#ifndef CQ_KERNEL_MATRIX_ATTENTION_CORE_H
#define CQ_KERNEL_MATRIX_ATTENTION_CORE_H

#include <stdbool.h>
#include <stdint.h>

/* The state of a row of scores between blocks of keys. */
typedef struct cq_attention_row {
    float  top;  /* the largest so far; -INFINITY: none yet */
    float  fade; /* factor that rescales earlier results */
    double sum;  /* of the powers so far */
} cq_attention_row;

typedef struct cq_attention_core {
    /* out[i * panel + j] = x[i * row + j * col] for i < rows and j < cols; 0 for cols <= j < panel,
     * where panel is two vectors. */
    void (*pack)(float *out, const float *x, int64_t row, int64_t col, int64_t rows, int64_t cols);
    void (*cap)(float *s, int64_t n, float cap);
    void (*add)(float *s, int64_t n, const float *bias, int64_t step);
    void (*hide)(float *s, int64_t n, const uint8_t *hides, int64_t step, bool shown, float hidden);
    /* Replaces n scores by exp(score - largest score), and updates sum and top. */
    void (*soften)(float *s, int64_t n, cq_attention_row *row);
    void (*times)(float *x, int64_t n, float factor);
} cq_attention_core;

#endif
