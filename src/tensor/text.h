/* Tensors of strings. They are so rare in models that there is no dtype for them: they are boxes of
 * texts in row-major order, passed as values (CQ_VAL_OBJECT). */
#ifndef CQ_TENSOR_TEXT_H
#define CQ_TENSOR_TEXT_H

#include "tensor/value.h"

typedef struct cq_texts {
    cq_box    box;
    uint32_t  rank;
    int64_t   sizes[CQ_MAX_RANK];
    size_t    n;     /* elements */
    cq_text **items; /* owned; NULL is "" */
} cq_texts;

/* All elements are "". Sizes that overflow or do not fit in memory are refused. */
cq_status cq_texts_new(cq_texts **out, size_t rank, const int64_t *sizes);

/* Replaces element i. */
cq_status cq_texts_set(cq_texts *t, size_t i, const char *text, size_t len);

const char *cq_texts_at(const cq_texts *t, size_t i);
size_t      cq_texts_len(const cq_texts *t, size_t i);

cq_val    cq_val_of_texts(cq_texts *t);
cq_texts *cq_val_texts(cq_val v); /* NULL: it is something else */

/* The number of elements of a tensor, or of nested lists of numbers or strings; 0 for other
 * values. */
size_t cq_val_numel(cq_val v);

#endif
