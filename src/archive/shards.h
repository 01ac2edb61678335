/* Sharded checkpoints: an index.json with the file of each tensor. */
#ifndef CQ_ARCHIVE_SHARDS_H
#define CQ_ARCHIVE_SHARDS_H

#include "tensor/value.h"

bool cq_shards_is(const void *data, size_t size);

/* A dict of all tensors. The shards are files in the folder of path. */
cq_status cq_shards_read(cq_val *out, cq_storage *index, const char *path);

#endif
