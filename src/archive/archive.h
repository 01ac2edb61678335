/* What TorchScript archives and files of torch.save have in common: a zip with one root folder,
 * pickles, and storages beside them. Also: what a file is, if it is neither. */
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

/* Opens the bytes of a file; tells apart by content what is not a zip of PyTorch's. */
cq_status cq_archive_open_bytes(cq_archive *out, cq_storage *bytes, const char *path);
void      cq_archive_close(cq_archive *a);

/* What reading a file may take unless somebody says otherwise: CQ_ARCHIVE_BYTES and
 * CQ_ARCHIVE_FACTOR times its size, or what the machine has. A few bytes of a pickle can make many
 * of values, and a few deflated ones many of a pickle; no model needs a part of that. */
#define CQ_ARCHIVE_BYTES  (INT64_C(512) << 20)
#define CQ_ARCHIVE_FACTOR 64
int64_t cq_archive_max_bytes(uint64_t size);

/* An entry by its name in the root folder, "data.pkl"; NULL: none. */
const cq_zip_entry *cq_archive_find(const cq_archive *a, const char *name);

/* The bytes of an entry, its sum checked. CQ_E_NOT_FOUND if there is none. */
cq_status cq_archive_read(cq_storage **out, const cq_archive *a, const char *name);

/* The value of `NAME.pkl`; its storages are `NAME/KEY`. */
cq_status cq_archive_unpickle(cq_val *out, const cq_archive *a, const char *name,
                              bool may_lack_data);

#endif
