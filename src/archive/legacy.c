/* The stream that torch.save wrote before PyTorch 1.6: five pickles and the bytes of storages.
 *
 *     magic number, protocol version (1001), facts about the machine, the object, keys of storages,
 *     then for each key the number of elements (8 bytes) and the elements
 *
 * A record does not say how large its elements are; the pickle of the object does. So that pickle
 * is read twice: first to learn the sizes of storages and its own end, then with the storages. The
 * elements are in little-endian order on every machine. */
#include "archive/legacy.h"

#include "base/map.h"
#include "base/str.h"

#include <inttypes.h>
#include <string.h>

/* 0x1950a86a20f9469cfc6c: a LONG1 of 10 bytes, after the protocol of the pickle. */
static const unsigned char magic[] = { 0x8a, 0x0a, 0x6c, 0xfc, 0x9c, 0x46,
                                       0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19 };

enum { PROTOCOL_VERSION = 1001, FRAME_SIZE = 9 };

/* Protocols 4 and 5 put the magic number into a frame. */
bool cq_legacy_is(const void *data, size_t size)
{
    const unsigned char *p  = data;
    size_t               at = 2;

    if (size < 2 || p[0] != 0x80)
        return false;
    if (size > at + FRAME_SIZE && p[at] == 0x95)
        at += FRAME_SIZE;
    return size - at >= sizeof magic && memcmp(p + at, magic, sizeof magic) == 0;
}

typedef struct legacy_record {
    uint64_t size; /* in bytes, as the object describes it */
    size_t   from;
    bool     is_in_file;
} legacy_record;

typedef struct legacy_file {
    cq_storage *bytes;
    const char *path;
    size_t      at;
    cq_map      records;     /* key to legacy_record */
    cq_storage *placeholder; /* for all storages of the first pass */
} legacy_file;

static cq_status fail(const legacy_file *f, const char *what)
{
    return cq_fail(CQ_E_FORMAT, f->path, "the file is damaged or truncated; download it again",
                   "%s at byte %zu", what, f->at);
}

/* ---- storages ---- */

/* In the first pass: notes the size. No element is read. */
static cq_status note_storage(void *user, const char *key, uint64_t size, cq_storage **out)
{
    legacy_file   *f = user;
    legacy_record *r = cq_map_get(&f->records, key);

    *out = NULL;
    if (size > f->bytes->size)
        return cq_fail(CQ_E_FORMAT, f->path, "the file is damaged or truncated; download it again",
                       "storage %s has %" PRIu64 " bytes, but the file has %zu", key, size,
                       f->bytes->size);
    if (!r) {
        r = cq_zalloc(sizeof *r);
        if (!r || cq_map_set(&f->records, key, r) != CQ_OK) {
            cq_free(r);
            return CQ_E_NO_MEMORY;
        }
        r->size = size;
    }
    *out = cq_storage_retain(f->placeholder);
    return CQ_OK;
}

static cq_status load_storage(void *user, const char *key, uint64_t size, cq_storage **out)
{
    legacy_file         *f = user;
    const legacy_record *r = cq_map_get(&f->records, key);

    *out = NULL;
    if (!r || !r->is_in_file || r->size != size)
        return cq_fail(CQ_E_FORMAT, f->path, NULL,
                       "the file has no storage %s of %" PRIu64 " bytes", key, size);
    return cq_storage_part(out, f->bytes, r->from, size);
}

/* ---- pickles ---- */

static cq_status read_pickle(cq_val *out, legacy_file *f, bool with_storages)
{
    cq_pickle_source source = { .data      = (const char *)f->bytes->data + f->at,
                                .size      = f->bytes->size - f->at,
                                .where     = f->path,
                                .storage   = with_storages ? load_storage : note_storage,
                                .user      = f,
                                .any_class = true };
    size_t           used;

    CQ_TRY(cq_unpickle_first(out, &source, &used));
    f->at += used;
    return CQ_OK;
}

static cq_status skip_pickle(legacy_file *f)
{
    cq_val v;

    CQ_TRY(read_pickle(&v, f, false));
    cq_val_release(v);
    return CQ_OK;
}

static cq_status read_version(legacy_file *f)
{
    cq_val v;

    CQ_TRY(skip_pickle(f)); /* the magic number */
    CQ_TRY(read_pickle(&v, f, false));
    if (v.kind == CQ_VAL_INT && v.u.i.value == PROTOCOL_VERSION)
        return CQ_OK;
    cq_val_release(v);
    return fail(f, "the file has an unknown protocol version");
}

/* ---- records ---- */

static cq_status read_record(legacy_file *f, cq_val key)
{
    legacy_record *r = key.kind == CQ_VAL_STR ? cq_map_get(&f->records, key.u.text->text) : NULL;
    const unsigned char *p = (const unsigned char *)f->bytes->data + f->at;
    uint64_t             n = 0;

    if (r && r->is_in_file)
        return fail(f, "the list of storages has a key twice");
    if (f->bytes->size - f->at < 8 || (r && r->size > f->bytes->size - f->at - 8))
        return fail(f, "the elements of a storage are truncated");
    for (size_t i = 8; i-- > 0;)
        n = n << 8 | p[i];
    if (r ? n == 0 || r->size % n : n != 0) /* one of no elements is not noted */
        return fail(f, "the size of a storage differs from that in the pickle");
    f->at += 8;
    if (!r)
        return CQ_OK;
    r->from       = f->at;
    r->is_in_file = true;
    f->at += r->size;
    return CQ_OK;
}

static cq_status read_records(legacy_file *f)
{
    cq_val    keys;
    cq_status status;

    CQ_TRY(read_pickle(&keys, f, false));
    status = keys.kind == CQ_VAL_LIST ? CQ_OK : fail(f, "the list of storages is missing");
    for (size_t i = 0; status == CQ_OK && i < keys.u.list->n; i++)
        status = read_record(f, keys.u.list->items[i]);
    cq_val_release(keys);
    return status;
}

cq_status cq_legacy_read(cq_val *out, cq_storage *bytes, const char *path)
{
    legacy_file f      = { .bytes = bytes, .path = path };
    size_t      object = 0;
    cq_status   status;

    *out = CQ_NONE;
    CQ_TRY_OR_DONE(cq_storage_zeros(&f.placeholder, bytes->size));
    CQ_TRY_OR_DONE(read_version(&f));
    CQ_TRY_OR_DONE(skip_pickle(&f)); /* facts about the machine */
    object = f.at;
    CQ_TRY_OR_DONE(skip_pickle(&f));
    CQ_TRY_OR_DONE(read_records(&f));
    f.at = object;
    CQ_TRY_OR_DONE(read_pickle(out, &f, true));
done:
    for (size_t i = 0; i < f.records.n; i++)
        cq_free(f.records.entries[i].value);
    cq_map_clear(&f.records);
    cq_storage_release(f.placeholder);
    return status;
}
