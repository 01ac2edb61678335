/* Bags of embeddings: the sum, mean or maximum of the rows that each bag names. All of it is
 * composed of a table of which index belongs to which bag, so it needs no kernel and is
 * exported at every opset that has its parts. embedding itself is in select.c. */
#include "aten/core/ctx.h"

enum { SUM, MEAN, MAX };

typedef struct bags {
    cq_opcall *c;
    cq_ctx    *cx;
    cq_tensor *weight, *indices;
    int64_t    mode, padding; /* padding: an index that is ignored; negative: none */
    cq_int     n_bags;
    cq_tensor *of;    /* [indices]: the bag of each index */
    cq_tensor *table; /* [bags, indices] of bool */
    cq_tensor *rows;  /* [indices, columns] */
} bags;
