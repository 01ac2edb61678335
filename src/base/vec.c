#include "base/vec.h"

cq_status cq_vec_grow(void **items, size_t *cap, size_t want, size_t size)
{
    size_t grown = *cap < 8 ? 8 : *cap;
    void  *p;

    if (want <= *cap)
        return CQ_OK;
    while (grown < want)
        grown = grown > SIZE_MAX / 2 ? want : grown * 2;
    p = cq_realloc_array(*items, grown, size);
    if (!p)
        return CQ_E_NO_MEMORY;
    *items = p;
    *cap   = grown;
    return CQ_OK;
}
