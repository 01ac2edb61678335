/* Files of safetensors: a JSON header and the bytes of tensors. */
#ifndef CQ_ARCHIVE_SAFETENSORS_H
#define CQ_ARCHIVE_SAFETENSORS_H

#include "tensor/value.h"

bool cq_safetensors_is(const void *data, size_t size);

/* A dict of tensors, which are parts of bytes, the whole file, in the order of their data, and the
 * dict of its __metadata__ (NONE if it is missing). */
cq_status cq_safetensors_read(cq_val *out, cq_val *metadata, cq_storage *bytes, const char *path);

/* The name of a type in such files; NULL: they have none for it. */
const char *cq_safetensors_dtype_name(cq_dtype dtype);

#endif
