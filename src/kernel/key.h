/* Elements as sortable keys: a uint64 whose order is the order of the elements. One sort
 * then serves every dtype. */
#ifndef CQ_KERNEL_KEY_H
#define CQ_KERNEL_KEY_H

#include "tensor/tensor.h"

typedef struct cq_key {
    uint64_t key;
    int64_t  index;
} cq_key;

#define CQ_KEY_NAN UINT64_MAX

/* The keys of n elements step bytes apart; indices count from 0. flip reverses the order. */
cq_status cq_keys_load(cq_key *keys, cq_dtype dtype, const char *from, int64_t step, int64_t n,
                       bool flip);

/* Stable; scratch has room for n keys. */
void cq_keys_sort(cq_key *keys, cq_key *scratch, int64_t n);

/* Moves the k lowest, by key and then index, to the front, unordered. */
void cq_keys_select(cq_key *keys, int64_t n, int64_t k);

#endif
