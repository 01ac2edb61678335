/* softmax(cap(q k^T * scale) + mask) v in float32, for every head of every sample. Scores are
 * computed for a block of queries and keys at a time and are never in memory as a whole.
 *
 * Tensors are read in place: steps are in floats, from sample to sample, head to head, row to row
 * and column to column; a step of 0 broadcasts. */
#ifndef CQ_KERNEL_MATRIX_ATTENTION_H
#define CQ_KERNEL_MATRIX_ATTENTION_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct cq_attention_in {
    const void *data;
    int64_t     step[4];
} cq_attention_in;

typedef struct cq_attention {
    int64_t         batch, heads, queries, keys;
    int64_t         group;          /* number of heads that share keys and values; 0: none */
    int64_t         width, v_width; /* of queries and keys; of values and results */
    cq_attention_in q, k, v;        /* rows of k and v are keys */
    float          *out;
    int64_t         out_step[3]; /* columns are contiguous */
    float           scale;
    float           cap; /* cap * tanh(score / cap); 0: none */

    /* Scores become `hidden` where hides, of bytes, is not `shown`. Then bias is added, or before
     * if bias_first. Their rows are queries, their columns keys; NULL: none. */
    cq_attention_in hides, bias;
    bool            shown, bias_first;
    float           hidden;

    /* Keys from ends[sample] on are hidden; if causal, query i sees keys up to i + past. */
    const int64_t *ends; /* NULL: all */
    bool           causal;
    int64_t        past; /* with ends: the queries are at the last visible positions */

    bool blind_is_zero; /* a query without any visible key gives 0 instead of softmax's NaN */
} cq_attention;

cq_status cq_attention_run(const cq_attention *a);

#endif
