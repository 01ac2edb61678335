/* softmax(cap(q k^T * scale) + mask) v of float32, for every head of every sample. Scores are made
 * for some queries and keys at a time and never lie in memory as a whole.
 *
 * Tensors are read where they lie: steps are floats from sample to sample, from head to head,
 * from row to row and from column to column; 0 repeats what is there. */
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
    int64_t         group;          /* heads that share keys and values; 0: none do */
    int64_t         width, v_width; /* of queries and keys; of values and results */
    cq_attention_in q, k, v;        /* rows of k and v are keys */
    float          *out;
    int64_t         out_step[3]; /* columns lie side by side */
    float           scale;
    float           cap; /* cap * tanh(score / cap); 0: none */

    /* Scores become `hidden` where hides, of bytes, is not `shown`. Then bias is added, or before
     * if bias_first. Their rows are queries, their columns keys; NULL: none. */
    cq_attention_in hides, bias;
    bool            shown, bias_first;
    float           hidden;

    /* Keys from ends[sample] on are not seen; query i of a causal one sees keys up to i + past. */
    const int64_t *ends; /* NULL: all */
    bool           causal;
    int64_t        past; /* with ends: the queries are the last of them */

    bool blind_is_zero; /* who sees no key at all gets 0, else NaN, as softmax says */
} cq_attention;

cq_status cq_attention_run(const cq_attention *a);

#endif
