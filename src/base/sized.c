/* See sized.h. */
#include "base/sized.h"

#include <string.h>

static size_t size_of(const void *sized)
{
    size_t size;

    memcpy(&size, sized, sizeof size);
    return size;
}

static bool is_zero(const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (bytes[i])
            return false;
    return true;
}

cq_status cq_sized_take(void *to, const void *from, const char *type)
{
    size_t known = size_of(to), given;

    if (!from)
        return CQ_OK;
    given = size_of(from);
    if (given < sizeof given)
        return cq_fail(CQ_E_ARGUMENT, type, "set it with sizeof or the struct's init function",
                       "struct_size is %zu", given);
    if (given > known && !is_zero((const char *)from + known, given - known))
        return cq_fail(CQ_E_ARGUMENT, type, "use the library that the headers belong to",
                       "the struct has fields that this library does not know: %zu bytes, not %zu",
                       given, known);
    memcpy(to, from, given < known ? given : known);
    memcpy(to, &known, sizeof known);
    return CQ_OK;
}
