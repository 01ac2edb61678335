/* A row per element type for gemm. Private to the gemm sources. */
#ifndef CQ_KERNEL_MATRIX_GEMM_TYPES_H
#define CQ_KERNEL_MATRIX_GEMM_TYPES_H

#include "kernel/matrix/gemm.h"

/* How a tile of A * B is stored to C. */
typedef struct gemm_store {
    double      alpha, beta;         /* beta 0: C is not read */
    const void *row_bias, *col_bias; /* of this tile; may be NULL */
    int         rows, cols;          /* of the tile that exist, at most MR and NR */
} gemm_store;

typedef struct gemm_type {
    size_t size;   /* bytes of an element */
    int    mr, nr; /* rows and columns of a tile */
    void (*pack_a)(void *dst, const void *a, int64_t row, int64_t col, int64_t rows, int64_t kc);
    void (*pack_b)(void *dst, const void *b, int64_t row, int64_t col, int64_t kc, int64_t nc,
                   int nr);
    /* One tile of C from a panel of each, kc long. */
    void (*tile)(const void *a, const void *b, int64_t kc, void *c, int64_t ldc,
                 const gemm_store *store);
    /* y[i] = sum over k of x[k] * row i of w, for n rows. */
    void (*dots)(void *y, const void *x, const void *w, int64_t ldw, int64_t n, int64_t k);
    /* y[i] += sum over k of x[k] * w[k][i], for n columns. */
    void (*sums)(void *y, const void *x, int64_t x_step, const void *w, int64_t ldw, int64_t n,
                 int64_t k);
    /* Stores n elements y of a product that is one row or one column. */
    void (*finish)(void *c, int64_t c_step, const void *y, int64_t n, const gemm_store *store);
} gemm_type;

#endif
