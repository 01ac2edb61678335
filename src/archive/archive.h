/* The common part of TorchScript archives and torch.save files: a zip with one root folder,
 * pickles, and storages beside them. Also recognises other kinds of files. */
#ifndef CQ_ARCHIVE_ARCHIVE_H
#define CQ_ARCHIVE_ARCHIVE_H

#include "archive/pickle.h"
#include "archive/zip.h"

typedef struct cq_archive {
    cq_zip *zip;
    char   *path;
    bool    is_big_endian;
    bool    any_class; /* as in cq_pickle_source; set it before unpickling */
} cq_archive;

/* Opens the bytes of a file; recognises by content files that are not a zip of PyTorch. */
cq_status cq_archive_open_bytes(cq_archive *out, cq_storage *bytes, const char *path);
void      cq_archive_close(cq_archive *a);

/* The default limit for reading a file: CQ_ARCHIVE_BYTES plus CQ_ARCHIVE_FACTOR times its size, or
 * the memory of the machine. A few bytes of a pickle can make many values, and a few deflated bytes
 * a large pickle; real models need only a fraction of the limit. */
#define CQ_ARCHIVE_BYTES  (INT64_C(512) << 20)
#define CQ_ARCHIVE_FACTOR 64
int64_t cq_archive_max_bytes(uint64_t size);

/* An entry by its name in the root folder, "data.pkl"; NULL: none. */
const cq_zip_entry *cq_archive_find(const cq_archive *a, const char *name);

/* The bytes of an entry, with its checksum verified. CQ_E_NOT_FOUND if it does not exist. */
cq_status cq_archive_read(cq_storage **out, const cq_archive *a, const char *name);

/* The value of `NAME.pkl`; its storages are `NAME/KEY`. */
cq_status cq_archive_unpickle(cq_val *out, const cq_archive *a, const char *name,
                              bool may_lack_data);

#endif
