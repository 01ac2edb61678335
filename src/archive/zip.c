/* Zip archives in memory, by way of minizip. */
#include "archive/zip.h"

#include "base/map.h"
#include "base/vec.h"

#include <inttypes.h>
#include <string.h>

#include <unzip.h>
#include <zlib.h>

struct cq_zip {
    cq_storage *bytes;
    char       *path;
    char       *root;
    uint64_t    at;        /* where minizip reads next */
    bool        was_short; /* its last read ran into the end */
    unzFile     file;
    uint64_t    inflated; /* so far, against CQ_ZIP_MAX_INFLATED */
    CQ_VEC(cq_zip_entry) entries;
    cq_map by_name;
};

#define CUT_SHORT "the file is damaged or cut short; copy or download it again"

/* ---- minizip's view of memory ------------------------------------------------------------- */

static voidpf ZCALLBACK mem_open(voidpf opaque, const void *name, int mode)
{
    (void)name;
    (void)mode;
    return opaque;
}

static uLong ZCALLBACK mem_read(voidpf opaque, voidpf stream, void *buffer, uLong size)
{
    cq_zip  *z    = opaque;
    uint64_t left = z->at < z->bytes->size ? z->bytes->size - z->at : 0;

    (void)stream;
    z->was_short = size > left;
    if (size > left)
        size = (uLong)left;
    if (size)
        memcpy(buffer, (const char *)z->bytes->data + z->at, size);
    z->at += size;
    return size;
}

static ZPOS64_T ZCALLBACK mem_tell(voidpf opaque, voidpf stream)
{
    (void)stream;
    return ((cq_zip *)opaque)->at;
}

static long ZCALLBACK mem_seek(voidpf opaque, voidpf stream, ZPOS64_T offset, int origin)
{
    cq_zip  *z    = opaque;
    uint64_t base = origin == ZLIB_FILEFUNC_SEEK_SET   ? 0
                    : origin == ZLIB_FILEFUNC_SEEK_CUR ? z->at
                                                       : z->bytes->size;

    (void)stream;
    if (base > z->bytes->size || offset > z->bytes->size - base)
        return -1;
    z->at = base + offset;
    return 0;
}

static int ZCALLBACK mem_close(voidpf opaque, voidpf stream)
{
    (void)opaque;
    (void)stream;
    return 0;
}

/* The end of the file is an error: minizip takes a byte that it cannot read for a zero else. */
static int ZCALLBACK mem_error(voidpf opaque, voidpf stream)
{
    (void)stream;
    return ((cq_zip *)opaque)->was_short;
}

/* ---- the directory ------------------------------------------------------------------------- */

static cq_status read_entry(cq_zip *z)
{
    cq_zip_entry    e = { 0 };
    unz_file_info64 info;
    unz64_file_pos  place;
    char            name[CQ_ZIP_MAX_NAME + 1];
    cq_status       status;

    if (unzGetCurrentFileInfo64(z->file, &info, name, CQ_ZIP_MAX_NAME, NULL, 0, NULL, 0) !=
            UNZ_OK ||
        unzGetFilePos64(z->file, &place) != UNZ_OK)
        return cq_fail(CQ_E_FORMAT, z->path, CUT_SHORT, "the directory of the archive is damaged");
    if (info.size_filename > CQ_ZIP_MAX_NAME)
        return cq_fail(CQ_E_FORMAT, z->path, NULL,
                       "the name of an entry has %lu bytes, more than %u",
                       (unsigned long)info.size_filename, CQ_ZIP_MAX_NAME);
    name[info.size_filename] = '\0';
    if (memchr(name, '\0', info.size_filename))
        return cq_fail(CQ_E_FORMAT, z->path, NULL, "the name of an entry has a zero byte");
    if (cq_map_has(&z->by_name, name))
        return cq_fail(CQ_E_FORMAT, cq_in_file(z->path, name), NULL,
                       "the entry is there twice, so that it is unclear which one is meant");
    e.size      = info.uncompressed_size;
    e.packed    = info.compressed_size;
    e.crc       = (uint32_t)info.crc;
    e.is_stored = info.compression_method == 0;
    e.place[0]  = place.pos_in_zip_directory;
    e.place[1]  = place.num_of_file;
    if ((info.compression_method != 0 && info.compression_method != Z_DEFLATED) || (info.flag & 1))
        return cq_fail(CQ_E_UNSUPPORTED, cq_in_file(z->path, name), NULL,
                       info.flag & 1 ? "the entry is encrypted"
                                     : "the entry is packed by method %lu",
                       (unsigned long)info.compression_method);
    e.name = cq_strdup(name);
    if (!e.name)
        return CQ_E_NO_MEMORY;
    /* the number of the entry, from 1 on: NULL means that there is none */
    status = cq_map_set(&z->by_name, name, (void *)(uintptr_t)(z->entries.n + 1));
    if (status == CQ_OK)
        status = cq_vec_push(&z->entries, e);
    if (status != CQ_OK)
        cq_free(e.name);
    return status;
}

static cq_status read_directory(cq_zip *z)
{
    unz_global_info64 info;
    int               result;

    if (unzGetGlobalInfo64(z->file, &info) != UNZ_OK || info.number_entry > CQ_ZIP_MAX_ENTRIES)
        return cq_fail(CQ_E_FORMAT, z->path, NULL,
                       "the archive claims to have %" PRIu64 " entries, more than %u",
                       (uint64_t)info.number_entry, CQ_ZIP_MAX_ENTRIES);
    if (!info.number_entry)
        return CQ_OK;
    for (result = unzGoToFirstFile(z->file); result == UNZ_OK; result = unzGoToNextFile(z->file))
        CQ_TRY(read_entry(z));
    if (result != UNZ_END_OF_LIST_OF_FILE)
        return cq_fail(CQ_E_FORMAT, z->path, CUT_SHORT,
                       "the directory of the archive is damaged after %zu of %" PRIu64 " entries",
                       z->entries.n, (uint64_t)info.number_entry);
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
    zlib_filefunc64_def memory = { .zopen64_file = mem_open,
                                   .zread_file   = mem_read,
                                   .ztell64_file = mem_tell,
                                   .zseek64_file = mem_seek,
                                   .zclose_file  = mem_close,
                                   .zerror_file  = mem_error,
                                   .opaque       = z };

    z->file = unzOpen2_64(z->path, &memory);
    if (!z->file)
        return cq_fail(CQ_E_FORMAT, z->path, CUT_SHORT,
                       "this is no zip archive, or its end is missing");
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
    if (z->file)
        unzClose(z->file);
    for (size_t i = 0; i < z->entries.n; i++)
        cq_free(z->entries.items[i].name);
    cq_vec_clear(&z->entries);
    cq_map_clear(&z->by_name);
    cq_storage_release(z->bytes);
    cq_free(z->path);
    cq_free(z->root);
    cq_free(z);
}

const char *cq_zip_path(const cq_zip *z)
{
    return z->path;
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

/* ---- entries ----------------------------------------------------------------------------------
 */

/* Where the bytes of an entry begin in the file, after a look at its local header. */
static cq_status find_bytes(cq_zip *z, const cq_zip_entry *e, uint64_t *offset)
{
    unz64_file_pos place = { e->place[0], e->place[1] };
    uint64_t       left;
    int            method;

    if (unzGoToFilePos64(z->file, &place) != UNZ_OK ||
        unzOpenCurrentFile2(z->file, &method, NULL, 1) != UNZ_OK)
        return cq_fail(CQ_E_FORMAT, cq_in_file(z->path, e->name), CUT_SHORT,
                       "the header of the entry is not where the directory says");
    *offset = unzGetCurrentFileZStreamPos64(z->file);
    unzCloseCurrentFile(z->file);
    left = *offset <= z->bytes->size ? z->bytes->size - *offset : 0;
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

static cq_status inflate_all(const cq_zip *z, const cq_zip_entry *e, const unsigned char *from,
                             unsigned char *to)
{
    z_stream s       = { 0 };
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
            break; /* neither reads nor writes: it would go on for ever */
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
