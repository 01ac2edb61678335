/* Zip archives in memory: the directory at the end of the file, read in place, and zlib for
 * deflated entries. Numbers above 32 bits are in separate records (zip64), for the archive and for
 * its entries. */
#include "archive/zip.h"

#include "base/map.h"
#include "base/vec.h"

#include <inttypes.h>
#include <string.h>

#include <zlib.h>

struct cq_zip {
    cq_storage *bytes;
    char       *path;
    char       *root;
    uint64_t    inflated; /* so far, against CQ_ZIP_MAX_INFLATED */
    CQ_VEC(cq_zip_entry) entries;
    cq_map by_name;
};

#define CUT_SHORT "the file is damaged or cut short; copy or download it again"

/* Sizes of the fixed parts of records. */
enum { END_SIZE = 22, END64_SIZE = 56, LOCATOR_SIZE = 20, CENTRAL_SIZE = 46, LOCAL_SIZE = 30 };

/* ---- records -------------------------------------------------------------------------------- */

static uint64_t number(const unsigned char *p, size_t n)
{
    uint64_t v = 0;

    for (size_t i = n; i-- > 0;)
        v = v << 8 | p[i];
    return v;
}

/* The record with this signature at an offset of the file; NULL if there is none. */
static const unsigned char *record(const cq_zip *z, uint64_t at, uint64_t size,
                                   const char *signature)
{
    const unsigned char *p = z->bytes->data;

    if (at > z->bytes->size || size > z->bytes->size - at || memcmp(p + at, signature, 4) != 0)
        return NULL;
    return p + at;
}

/* ---- the end of the archive -------------------------------------------------------------------
 */

typedef struct directory {
    uint64_t n, at, size;
    uint64_t base; /* bytes in front of the archive, which no number counts */
} directory;

/* The last record of the archive is the last one in the file, but for a comment. */
static bool find_end(const cq_zip *z, uint64_t *at)
{
    const uint64_t size  = z->bytes->size;
    const uint64_t least = size > END_SIZE + UINT16_MAX ? size - END_SIZE - UINT16_MAX : 0;

    for (*at = size >= END_SIZE ? size - END_SIZE : 0; size >= END_SIZE; (*at)--) {
        if (record(z, *at, END_SIZE, "PK\5\6"))
            return true;
        if (*at == least)
            break;
    }
    return false;
}

/* The zip64 record that the locator before the end points to, or that is directly before it. */
static const unsigned char *find_end64(const cq_zip *z, uint64_t end, uint64_t *at)
{
    const unsigned char *locator =
        end >= LOCATOR_SIZE ? record(z, end - LOCATOR_SIZE, LOCATOR_SIZE, "PK\6\7") : NULL;
    const unsigned char *p;

    if (!locator)
        return NULL;
    *at = number(locator + 8, 8);
    p   = record(z, *at, END64_SIZE, "PK\6\6");
    if (p || end < LOCATOR_SIZE + END64_SIZE)
        return p;
    *at = end - LOCATOR_SIZE - END64_SIZE;
    return record(z, *at, END64_SIZE, "PK\6\6");
}

static cq_status find_directory(const cq_zip *z, directory *d)
{
    const unsigned char *p;
    uint64_t             end;

    if (!find_end(z, &end))
        return cq_fail(CQ_E_FORMAT, z->path, CUT_SHORT,
                       "this is not a zip archive, or its end is missing");
    p  = record(z, end, END_SIZE, "PK\5\6");
    *d = (directory){ .n = number(p + 10, 2), .size = number(p + 12, 4), .at = number(p + 16, 4) };
    p  = find_end64(z, end, &end);
    if (p)
        *d = (directory){ .n    = number(p + 32, 8),
                          .size = number(p + 40, 8),
                          .at   = number(p + 48, 8) };
    if (d->n > CQ_ZIP_MAX_ENTRIES)
        return cq_fail(CQ_E_FORMAT, z->path, NULL,
                       "the archive claims to have %" PRIu64 " entries, more than %u", d->n,
                       CQ_ZIP_MAX_ENTRIES);
    if (d->size > end || d->at > end - d->size || d->n > d->size / CENTRAL_SIZE)
        return cq_fail(CQ_E_FORMAT, z->path, CUT_SHORT, "the directory of the archive is damaged");
    d->base = end - d->size - d->at;
    return CQ_OK;
}

/* ---- the directory ----------------------------------------------------------------------------
 */

/* Takes the numbers of an entry that are too large for their fields from its zip64 field. */
static bool read_large(const unsigned char *extra, size_t n, uint64_t *const values[3])
{
    bool missing = *values[0] == UINT32_MAX || *values[1] == UINT32_MAX || *values[2] == UINT32_MAX;

    while (missing && n >= 4) {
        const size_t         id = (size_t)number(extra, 2), size = (size_t)number(extra + 2, 2);
        const unsigned char *p = extra + 4, *end = p + size;

        if (size > n - 4)
            return false;
        for (int i = 0; id == 1 && i < 3; i++) {
            if (*values[i] != UINT32_MAX)
                continue;
            if (end - p < 8)
                return false;
            *values[i] = number(p, 8);
            p += 8;
        }
        missing &= id != 1;
        extra += 4 + size;
        n -= 4 + size;
    }
    return true; /* without such a field 4294967295 is a number like others */
}

static cq_status check_entry(const cq_zip *z, const cq_zip_entry *e, size_t name_len,
                             uint64_t method, bool is_encrypted)
{
    if (name_len > CQ_ZIP_MAX_NAME)
        return cq_fail(CQ_E_FORMAT, z->path, NULL,
                       "the name of an entry has %zu bytes, more than %u", name_len,
                       CQ_ZIP_MAX_NAME);
    if (strlen(e->name) != name_len)
        return cq_fail(CQ_E_FORMAT, z->path, NULL, "the name of an entry has a zero byte");
    if (cq_map_has(&z->by_name, e->name))
        return cq_fail(CQ_E_FORMAT, cq_in_file(z->path, e->name), NULL,
                       "the entry is there twice, so that it is unclear which one is meant");
    if (is_encrypted)
        return cq_fail(CQ_E_UNSUPPORTED, cq_in_file(z->path, e->name), NULL,
                       "the entry is encrypted");
    if (method != 0 && method != Z_DEFLATED)
        return cq_fail(CQ_E_UNSUPPORTED, cq_in_file(z->path, e->name), NULL,
                       "the entry is packed by method %" PRIu64, method);
    return CQ_OK;
}

static cq_status add_entry(cq_zip *z, const unsigned char *p, uint64_t base, bool *damaged)
{
    const size_t   name_len = (size_t)number(p + 28, 2), extra = (size_t)number(p + 30, 2);
    const uint64_t method = number(p + 10, 2);
    cq_zip_entry   e      = { .size      = number(p + 24, 4),
                              .packed    = number(p + 20, 4),
                              .crc       = (uint32_t)number(p + 16, 4),
                              .is_stored = method == 0,
                              .header    = number(p + 42, 4) };
    cq_status      status;

    *damaged = !read_large(p + CENTRAL_SIZE + name_len, extra,
                           (uint64_t *const[]){ &e.size, &e.packed, &e.header }) ||
               e.header > UINT64_MAX - base;
    if (*damaged)
        return CQ_OK;
    e.header += base;
    e.name = cq_strndup((const char *)p + CENTRAL_SIZE, name_len);
    if (!e.name)
        return CQ_E_NO_MEMORY;
    status = check_entry(z, &e, name_len, method, (number(p + 8, 2) & 1) != 0);
    /* the index of the entry plus 1, because NULL means that it does not exist */
    if (status == CQ_OK)
        status = cq_map_set(&z->by_name, e.name, (void *)(uintptr_t)(z->entries.n + 1));
    if (status == CQ_OK)
        status = cq_vec_push(&z->entries, e);
    if (status != CQ_OK)
        cq_free(e.name);
    return status;
}

static cq_status read_directory(cq_zip *z)
{
    directory d;
    uint64_t  at, end;

    CQ_TRY(find_directory(z, &d));
    at  = d.base + d.at;
    end = at + d.size;
    for (uint64_t i = 0; i < d.n; i++) {
        const unsigned char *p =
            end - at >= CENTRAL_SIZE ? record(z, at, CENTRAL_SIZE, "PK\1\2") : NULL;
        const uint64_t size =
            p ? CENTRAL_SIZE + number(p + 28, 2) + number(p + 30, 2) + number(p + 32, 2) : 0;
        bool damaged = !p || size > end - at;

        if (!damaged)
            CQ_TRY(add_entry(z, p, d.base, &damaged));
        if (damaged)
            return cq_fail(CQ_E_FORMAT, z->path, CUT_SHORT,
                           "the directory of the archive is damaged after %" PRIu64 " of %" PRIu64
                           " entries",
                           i, d.n);
        at += size;
    }
    return CQ_OK;
}

/* The folder of the first entry that is not one of the system's that packed it. */
static cq_status find_root(cq_zip *z)
{
    const char *root = "";
    size_t      len  = 0;

    for (size_t i = 0; i < z->entries.n; i++) {
        const char *name  = z->entries.items[i].name;
        const char *slash = strchr(name, '/');

        if (strncmp(name, "__MACOSX/", 9) == 0)
            continue;
        root = name;
        len  = slash ? (size_t)(slash - name) + 1 : 0;
        break;
    }
    z->root = cq_strndup(root, len);
    return z->root ? CQ_OK : CQ_E_NO_MEMORY;
}

static cq_status open_archive(cq_zip *z)
{
    CQ_TRY(read_directory(z));
    return find_root(z);
}

cq_status cq_zip_open(cq_zip **out, cq_storage *bytes, const char *path)
{
    cq_zip   *z = cq_zalloc(sizeof *z);
    cq_status status;

    *out = NULL;
    if (!z)
        return CQ_E_NO_MEMORY;
    z->bytes = cq_storage_retain(bytes);
    z->path  = cq_strdup(path);
    status   = z->path ? open_archive(z) : CQ_E_NO_MEMORY;
    if (status == CQ_OK)
        *out = z;
    else
        cq_zip_free(z);
    return status;
}

void cq_zip_free(cq_zip *z)
{
    if (!z)
        return;
    for (size_t i = 0; i < z->entries.n; i++)
        cq_free(z->entries.items[i].name);
    cq_vec_clear(&z->entries);
    cq_map_clear(&z->by_name);
    cq_storage_release(z->bytes);
    cq_free(z->path);
    cq_free(z->root);
    cq_free(z);
}

const char *cq_zip_root(const cq_zip *z)
{
    return z->root;
}

size_t cq_zip_count(const cq_zip *z)
{
    return z->entries.n;
}

const cq_zip_entry *cq_zip_at(const cq_zip *z, size_t index)
{
    return &z->entries.items[index];
}

const cq_zip_entry *cq_zip_find(const cq_zip *z, const char *name)
{
    uintptr_t number = (uintptr_t)cq_map_get(&z->by_name, name);

    return number ? &z->entries.items[number - 1] : NULL;
}

/* ---- entries -------------------------------------------------------------------------------- */

/* Finds the offset of an entry's bytes in the file, from its local header. */
static cq_status find_bytes(const cq_zip *z, const cq_zip_entry *e, uint64_t *offset)
{
    const unsigned char *p    = record(z, e->header, LOCAL_SIZE, "PK\3\4");
    const size_t         name = strlen(e->name);
    uint64_t             left;

    if (!p || number(p + 26, 2) != name || z->bytes->size - e->header - LOCAL_SIZE < name ||
        memcmp(p + LOCAL_SIZE, e->name, name) != 0 ||
        number(p + 8, 2) != (e->is_stored ? 0 : Z_DEFLATED))
        return cq_fail(CQ_E_FORMAT, cq_in_file(z->path, e->name), CUT_SHORT,
                       "the header of the entry is not where the directory says");
    *offset = e->header + LOCAL_SIZE + name + number(p + 28, 2);
    left    = *offset <= z->bytes->size ? z->bytes->size - *offset : 0;
    if (e->packed <= left)
        return CQ_OK;
    return cq_fail(CQ_E_FORMAT, cq_in_file(z->path, e->name), CUT_SHORT,
                   "the entry needs %" PRIu64 " bytes but %" PRIu64 " are left", e->packed, left);
}

static void release_parent(void *parent)
{
    cq_storage_release(parent);
}

static cq_status read_stored(cq_storage **out, const cq_zip *z, const cq_zip_entry *e,
                             uint64_t offset)
{
    if (e->packed != e->size)
        return cq_fail(CQ_E_FORMAT, cq_in_file(z->path, e->name), NULL,
                       "the entry is not packed, but has %" PRIu64 " bytes for %" PRIu64, e->packed,
                       e->size);
    CQ_TRY(cq_storage_wrap(out, (char *)z->bytes->data + offset, e->size, true, release_parent,
                           z->bytes));
    cq_storage_retain(z->bytes);
    return CQ_OK;
}

static void *lend(void *user, unsigned n, unsigned size)
{
    (void)user;
    return cq_alloc_array(n, size);
}

static void take_back(void *user, void *p)
{
    (void)user;
    cq_free(p);
}

static cq_status inflate_all(const cq_zip *z, const cq_zip_entry *e, const unsigned char *from,
                             unsigned char *to)
{
    z_stream s       = { .zalloc = lend, .zfree = take_back };
    uint64_t left_in = e->packed, left_out = e->size;
    int      result;

    if (inflateInit2(&s, -MAX_WBITS) != Z_OK)
        return cq_no_memory();
    s.next_in  = (unsigned char *)from;
    s.next_out = to;
    do { /* zlib counts in 32 bits */
        const uInt step_in  = left_in < (1u << 30) ? (uInt)left_in : 1u << 30;
        const uInt step_out = left_out < (1u << 30) ? (uInt)left_out : 1u << 30;

        s.avail_in  = step_in;
        s.avail_out = step_out;
        result      = inflate(&s, Z_NO_FLUSH);
        left_in -= step_in - s.avail_in;
        left_out -= step_out - s.avail_out;
        if (result == Z_OK && step_in == s.avail_in && step_out == s.avail_out)
            break; /* neither reads nor writes: it would loop forever */
    } while (result == Z_OK);
    inflateEnd(&s);
    if (result == Z_STREAM_END && !left_out)
        return CQ_OK;
    return cq_fail(CQ_E_FORMAT, cq_in_file(z->path, e->name), CUT_SHORT,
                   left_out ? "the entry unpacks to %" PRIu64 " bytes, not to %" PRIu64
                            : "the entry unpacks to more than %" PRIu64 " bytes, not to %" PRIu64,
                   e->size - left_out, e->size);
}

static cq_status read_deflated(cq_storage **out, cq_zip *z, const cq_zip_entry *e, uint64_t offset)
{
    cq_status status;

    if (e->size > CQ_ZIP_MAX_INFLATED - z->inflated)
        return cq_fail(CQ_E_FORMAT, cq_in_file(z->path, e->name),
                       "unpack the archive and pack it again without compression",
                       "the entry unpacks to %" PRIu64 " bytes; with those before it that is more "
                       "than %" PRIu64,
                       e->size, CQ_ZIP_MAX_INFLATED);
    if (e->size / 1032 > e->packed) /* deflate cannot do more */
        return cq_fail(CQ_E_FORMAT, cq_in_file(z->path, e->name), NULL,
                       "%" PRIu64 " packed bytes cannot unpack to %" PRIu64, e->packed, e->size);
    CQ_TRY(cq_storage_new(out, e->size));
    status = inflate_all(z, e, (const unsigned char *)z->bytes->data + offset, (*out)->data);
    if (status == CQ_OK)
        status = cq_zip_check(z, e, *out);
    if (status == CQ_OK) {
        z->inflated += e->size;
        return CQ_OK;
    }
    cq_storage_release(*out);
    *out = NULL;
    return status;
}

cq_status cq_zip_read(cq_storage **out, cq_zip *z, const cq_zip_entry *e)
{
    uint64_t offset;

    *out = NULL;
    CQ_TRY(find_bytes(z, e, &offset));
    return e->is_stored ? read_stored(out, z, e, offset) : read_deflated(out, z, e, offset);
}

cq_status cq_zip_check(const cq_zip *z, const cq_zip_entry *e, const cq_storage *bytes)
{
    uLong sum = crc32_z(0, bytes->data, bytes->size);

    if ((uint32_t)sum == e->crc)
        return CQ_OK;
    return cq_fail(CQ_E_FORMAT, cq_in_file(z->path, e->name), CUT_SHORT,
                   "the bytes of the entry add up to %08lx, not to %08lx", (unsigned long)sum,
                   (unsigned long)e->crc);
}
