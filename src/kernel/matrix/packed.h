/* Products by a constant matrix that is packed once: out = act(a * b + bias), float32. Rows of a
 * are read in place. For variable matrices and other types there is gemm.h. */
#ifndef CQ_KERNEL_MATRIX_PACKED_H
#define CQ_KERNEL_MATRIX_PACKED_H

#include "kernel/elementwise.h"

typedef struct cq_packed cq_packed;

/* Element (i, j) of the k x n matrix is at b + i * row + j * col. */
cq_status cq_packed_new(cq_packed **out, int64_t k, int64_t n, const float *b, int64_t row,
                        int64_t col);
/* The same for a matrix that is not read any more: its pages are released during packing if columns
 * are contiguous. The caller still frees it. */
cq_status cq_packed_new_of(cq_packed **out, int64_t k, int64_t n, float *b, int64_t row,
                           int64_t col);
void      cq_packed_free(cq_packed *p); /* NULL is fine */

typedef struct cq_packed_call {
    int64_t      m;
    const float *a;
    int64_t      lda; /* from row to row */
    float       *out;
    int64_t      ldc;
    const float *bias;        /* n numbers; NULL: none */
    bool         accumulates; /* adds to out; bias and later fields are ignored */
    bool         clamps;      /* limits to lo … hi */
    float        lo, hi;
    bool         activates; /* or: act of every result */
    cq_ew_op     act;
    cq_params    act_params;
} cq_packed_call;

cq_status cq_packed_run(const cq_packed *p, const cq_packed_call *call);

/* One row without bias and activation, summed in the order in which cq_gemm_run sums rows of the
 * matrix: the same bits. */
cq_status cq_packed_run_row(const cq_packed *p, float *out, const float *x);

/* The same bits of a matrix that cannot be packed for lack of memory; slower. */
cq_status cq_unpacked_run_row(int64_t k, int64_t n, const float *b, int64_t row, int64_t col,
                              float *out, const float *x);

#endif
