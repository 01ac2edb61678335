/* Zip archives: the directory, and the bytes of entries.
 *
 * A stored entry is used in place, in the mapped file; a deflated one is inflated to the heap. The
 * file is untrusted: sizes and offsets are checked before use, and inflating is limited. */
#ifndef CQ_ARCHIVE_ZIP_H
#define CQ_ARCHIVE_ZIP_H

#include "tensor/tensor.h"

#define CQ_ZIP_MAX_ENTRIES (1u << 20)
#define CQ_ZIP_MAX_NAME    4096u

/* The limit for all inflated entries of one archive. PyTorch deflates only text; other tools may
 * deflate weights, too. */
#define CQ_ZIP_MAX_INFLATED (UINT64_C(4) << 30)

typedef struct cq_zip cq_zip;

typedef struct cq_zip_entry {
    char    *name; /* "net/data/3" */
    uint64_t size; /* unpacked */
    uint64_t packed;
    uint32_t crc;
    bool     is_stored;
    uint64_t header; /* where its local header begins */
} cq_zip_entry;

/* Retains bytes: the whole file. path is for messages. A file that is not a zip archive is
 * CQ_E_FORMAT. */
cq_status cq_zip_open(cq_zip **out, cq_storage *bytes, const char *path);
void      cq_zip_free(cq_zip *zip);

size_t              cq_zip_count(const cq_zip *zip);
const cq_zip_entry *cq_zip_at(const cq_zip *zip, size_t index);       /* in the directory's order */
const cq_zip_entry *cq_zip_find(const cq_zip *zip, const char *name); /* NULL: none */

/* The folder that all entries of a PyTorch archive are in, with its slash: "net/"; "" if the
 * first entry is in none. */
const char *cq_zip_root(const cq_zip *zip);

/* The bytes of an entry. Those of a deflated one are checked against its sum. */
cq_status cq_zip_read(cq_storage **out, cq_zip *zip, const cq_zip_entry *entry);

/* Checks the checksum of an entry's bytes. cq_zip_read checks deflated entries only, because
 * reading all weights just to add them up takes longer than using them. */
cq_status cq_zip_check(const cq_zip *zip, const cq_zip_entry *entry, const cq_storage *bytes);

#endif
