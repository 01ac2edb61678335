/* Walks several strided operands in step, row by row.
 *
 *     cq_walk w;
 *     cq_walk_init(&w, rank, sizes);             // the shape to walk
 *     CQ_TRY(cq_walk_add(&w, out));              // operand 0
 *     CQ_TRY(cq_walk_add(&w, x));                // operand 1, broadcast if need be
 *     for (bool more = cq_walk_start(&w, CQ_ANY_ORDER); more; more = cq_walk_next(&w))
 *         row(w.at[0], w.step[0], w.at[1], w.step[1], w.n);
 *
 * Dimensions that lie end to end in every operand become one, so contiguous tensors of
 * equal shape are a single row. It knows bytes, not dtypes. */
#ifndef CQ_TENSOR_WALK_H
#define CQ_TENSOR_WALK_H

#include "tensor/tensor.h"

#define CQ_WALK_OPERANDS 8

typedef struct cq_walk {
    int      n_operands;
    uint32_t rank; /* at least 1 once started */
    int64_t  sizes[CQ_MAX_RANK];
    int64_t  strides[CQ_WALK_OPERANDS][CQ_MAX_RANK]; /* in bytes */

    /* The current row. */
    char   *at[CQ_WALK_OPERANDS];
    int64_t step[CQ_WALK_OPERANDS]; /* bytes from one element to the next */
    int64_t n;                      /* elements */
    int64_t index[CQ_MAX_RANK];
} cq_walk;

typedef enum cq_walk_order {
    CQ_ANY_ORDER, /* the order that suits operand 0's memory best */
    CQ_ROW_MAJOR
} cq_walk_order;

void cq_walk_init(cq_walk *w, size_t rank, const cq_int *sizes);

/* Adds an operand; dimensions of size 1, and missing leading ones, are repeated. */
cq_status cq_walk_add(cq_walk *w, const cq_tensor *t);

/* Adds an operand of the walk's own rank by address and strides in bytes. */
void cq_walk_add_bytes(cq_walk *w, void *data, const int64_t *strides);

/* The first row; false if there are no elements. */
bool cq_walk_start(cq_walk *w, cq_walk_order order);

/* The next row; false after the last. */
bool cq_walk_next(cq_walk *w);

#endif
