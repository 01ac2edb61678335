/* Growing arrays of any type:
 *
 *     CQ_VEC(int64_t) dims = { 0 };
 *     CQ_TRY(cq_vec_push(&dims, 3));
 *     for (size_t i = 0; i < dims.n; i++) use(dims.items[i]);
 *     cq_vec_clear(&dims);
 */
#ifndef CQ_BASE_VEC_H
#define CQ_BASE_VEC_H

#include "base/alloc.h"

#define CQ_VEC(type)                                                                               \
    struct {                                                                                       \
        type  *items;                                                                              \
        size_t n, cap;                                                                             \
    }

/* A status: CQ_OK, or CQ_E_NO_MEMORY with the vector unchanged. */
#define cq_vec_reserve(v, want)                                                                    \
    cq_vec_grow((void **)&(v)->items, &(v)->cap, (want), sizeof *(v)->items)
#define cq_vec_push(v, ...)                                                                        \
    (cq_vec_reserve((v), (v)->n + 1) == CQ_OK ? ((v)->items[(v)->n++] = (__VA_ARGS__), CQ_OK)      \
                                              : CQ_E_NO_MEMORY)
#define cq_vec_clear(v) (cq_free((v)->items), (v)->items = NULL, (v)->n = (v)->cap = 0)

cq_status cq_vec_grow(void **items, size_t *cap, size_t want, size_t size);

#endif
