/* Structs of callers that begin with `size_t struct_size`, so that a program compiled against
 * one version of the headers meets another version of the library. One policy for all of them:
 *
 *   0         an error: the struct was zeroed instead of initialised
 *   smaller   an older caller; the fields that it does not know keep their defaults
 *   larger    a newer caller; fine while the fields that this library does not know are zero,
 *             for zero means the old behaviour, else an error */
#ifndef CQ_BASE_SIZED_H
#define CQ_BASE_SIZED_H

#include "base/error.h"

/* Copies the caller's struct (NULL: nothing) over the defaults in *to, whose struct_size is set.
 * type is the name of the struct, for the error. */
cq_status cq_sized_take(void *to, const void *from, const char *type);

#endif
