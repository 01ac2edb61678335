/* Files of torch.save before PyTorch 1.6, and with _use_new_zipfile_serialization=False. */
#ifndef CQ_ARCHIVE_LEGACY_H
#define CQ_ARCHIVE_LEGACY_H

#include "archive/pickle.h"

bool cq_legacy_is(const void *data, size_t size);

/* The object that was saved; its tensors are parts of bytes, the whole file. */
cq_status cq_legacy_read(cq_val *out, cq_storage *bytes, const char *path);

#endif
