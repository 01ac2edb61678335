/* Checks the structure of a zip archive for attacks: two readers must not see different files.
 * archive/zip.c reads sound archives; this scanner lists defects. */
#include "audit/audit.h"

#include "base/alloc.h"
#include "base/str.h"

#include <inttypes.h>
#include <stdlib.h>

#include <zlib.h>

/* PyTorch does not compress weights; code and JSON shrink to a tenth. */
enum { BOMB_SIZE = 1 << 20, BOMB_RATIO = 200 };

enum { END_SIZE = 22, END64_SIZE = 56, LOCATOR_SIZE = 20, CENTRAL_SIZE = 46, LOCAL_SIZE = 30 };
enum { MAX_ENTRIES = 1 << 20, MAX_NAME = 4096 };

typedef struct zip_scan {
    cq_audit            *a;
    const unsigned char *data;
    size_t               size;
    const char          *where;
    uint64_t             n, at, length, base;
} zip_scan;

static uint64_t number(const unsigned char *p, size_t n)
{
    uint64_t v = 0;

    for (size_t i = n; i-- > 0;)
        v = v << 8 | p[i];
    return v;
}

static const unsigned char *record(const zip_scan *z, uint64_t at, uint64_t size, const char *sign)
{
    if (at > z->size || size > z->size - at || memcmp(z->data + at, sign, 4) != 0)
        return NULL;
    return z->data + at;
}

bool cq_audit_is_zip(const unsigned char *data, size_t size)
{
    return size >= 4 && (memcmp(data, "PK\3\4", 4) == 0 || memcmp(data, "PK\5\6", 4) == 0);
}

/* The end record; more than one that could be it is ambiguous. */
static bool find_end(zip_scan *z, uint64_t *end)
{
    const uint64_t least = z->size > END_SIZE + UINT16_MAX ? z->size - END_SIZE - UINT16_MAX : 0;
    int            n     = 0;

    for (uint64_t at = z->size >= END_SIZE ? z->size - END_SIZE + 1 : 0; at-- > least;) {
        const unsigned char *p = record(z, at, END_SIZE, "PK\5\6");

        if (!p)
            continue;
        if (n++ == 0)
            *end = at;
        else if (at + END_SIZE + number(p + 20, 2) == z->size)
            cq_audit_add(z->a, CQ_VERDICT_HOSTILE, "zip-two-ends", z->where,
                         "the archive has two directories");
    }
    return n > 0;
}

static bool find_directory(zip_scan *z)
{
    uint64_t             end, at64;
    const unsigned char *p, *locator, *q = NULL;

    if (!find_end(z, &end))
        return false;
    p         = z->data + end;
    z->n      = number(p + 10, 2);
    z->length = number(p + 12, 4);
    z->at     = number(p + 16, 4);
    if (number(p + 4, 2) != number(p + 6, 2) || number(p + 8, 2) != number(p + 10, 2))
        cq_audit_add(z->a, CQ_VERDICT_UNKNOWN, "zip-two-ends", z->where,
                     "the archive claims to be one of several disks");
    if (end + END_SIZE + number(p + 20, 2) != z->size)
        cq_audit_add(z->a, CQ_VERDICT_UNKNOWN, "zip-trailing-bytes", z->where,
                     "bytes follow the end of the archive");
    locator = end >= LOCATOR_SIZE ? record(z, end - LOCATOR_SIZE, LOCATOR_SIZE, "PK\6\7") : NULL;
    if (locator) {
        at64 = number(locator + 8, 8);
        q    = record(z, at64, END64_SIZE, "PK\6\6");
    }
    if (q) {
        const uint64_t n = number(q + 32, 8), length = number(q + 40, 8), at = number(q + 48, 8);

        if ((z->n != UINT16_MAX && z->n != n) || (z->length != UINT32_MAX && z->length != length) ||
            (z->at != UINT32_MAX && z->at != at))
            cq_audit_add(z->a, CQ_VERDICT_HOSTILE, "zip-two-ends", z->where,
                         "the two end records of the archive disagree");
        z->n      = n;
        z->length = length;
        z->at     = at;
        end       = at64;
    }
    if (z->n > MAX_ENTRIES || z->length > end || z->at > end - z->length ||
        z->n > z->length / CENTRAL_SIZE)
        return false;
    z->base = end - z->length - z->at;
    if (z->base)
        cq_audit_add(z->a, CQ_VERDICT_UNKNOWN, "zip-prefix", z->where,
                     "%" PRIu64 " bytes precede the archive", z->base);
    return true;
}

static void read_large(const unsigned char *extra, size_t n, uint64_t *const values[3])
{
    while (n >= 4) {
        const size_t         id = (size_t)number(extra, 2), size = (size_t)number(extra + 2, 2);
        const unsigned char *p = extra + 4, *end = p + size;

        if (size > n - 4)
            return;
        for (int i = 0; id == 1 && i < 3; i++)
            if (*values[i] == UINT32_MAX && end - p >= 8) {
                *values[i] = number(p, 8);
                p += 8;
            }
        extra += 4 + size;
        n -= 4 + size;
    }
}

static bool leads_out(const char *name)
{
    const char *p = name;

    if (*p == '/' || *p == '\\' || (p[0] && p[1] == ':'))
        return true;
    while (p) {
        if (strncmp(p, "..", 2) == 0 && (!p[2] || p[2] == '/' || p[2] == '\\'))
            return true;
        p = strpbrk(p, "/\\");
        p = p ? p + 1 : NULL;
    }
    return false;
}

static bool has_control(const char *text)
{
    for (const unsigned char *p = (const unsigned char *)text; *p; p++)
        if (*p < 32 || *p == 127)
            return true;
    return false;
}

static void check_name(zip_scan *z, const char *name, size_t len)
{
    const char *where = cq_audit_inside(z->a, z->where, name);

    if (strlen(name) != len)
        cq_audit_add(z->a, CQ_VERDICT_HOSTILE, "zip-name", where,
                     "the name of an entry has a zero byte");
    if (leads_out(name))
        cq_audit_add(z->a, CQ_VERDICT_HOSTILE, "zip-path", where,
                     "the name of an entry leads out of the archive");
    if (has_control(name))
        cq_audit_add(z->a, CQ_VERDICT_HOSTILE, "zip-name", where,
                     "the name of an entry has control characters");
}

/* Field 0x7075 has a name in UTF-8 that some readers use instead. */
static void check_other_name(zip_scan *z, const char *name, const unsigned char *extra, size_t n)
{
    while (n >= 4) {
        const size_t id = (size_t)number(extra, 2), size = (size_t)number(extra + 2, 2);

        if (size > n - 4)
            return;
        if (id == 0x7075 && size >= 5 &&
            (size - 5 != strlen(name) || memcmp(extra + 9, name, size - 5) != 0))
            cq_audit_add(z->a, CQ_VERDICT_HOSTILE, "zip-header",
                         cq_audit_inside(z->a, z->where, name),
                         "the entry has another name in its extra field");
        extra += 4 + size;
        n -= 4 + size;
    }
}

/* The local header must agree with the directory. Sizes may follow the data (bit 3). */
static void check_local(zip_scan *z, cq_audit_entry *e, uint64_t flags)
{
    const unsigned char *p     = record(z, e->header, LOCAL_SIZE, "PK\3\4");
    const char          *where = cq_audit_inside(z->a, z->where, e->name);
    uint64_t             packed, size, dummy = 0;
    size_t               name;

    e->offset = z->size;
    if (!p) {
        cq_audit_add(z->a, CQ_VERDICT_HOSTILE, "zip-header", where,
                     "no local header at the offset in the directory");
        return;
    }
    name      = (size_t)number(p + 26, 2);
    e->offset = e->header + LOCAL_SIZE + name + number(p + 28, 2);
    if (e->offset > z->size || e->packed > z->size - e->offset) {
        cq_audit_add(z->a, CQ_VERDICT_UNKNOWN, "zip-size", where,
                     "the entry reaches beyond the file");
        e->offset = z->size;
        return;
    }
    e->end = e->offset + e->packed;
    if (name != strlen(e->name) || memcmp(p + LOCAL_SIZE, e->name, name) != 0) {
        cq_audit_add(z->a, CQ_VERDICT_HOSTILE, "zip-header", where,
                     "the local header has another name than the directory");
        return;
    }
    if (number(p + 8, 2) != e->method)
        cq_audit_add(z->a, CQ_VERDICT_HOSTILE, "zip-header", where,
                     "the local header has another packing method than the directory");
    if ((number(p + 6, 2) & 1) != (flags & 1))
        cq_audit_add(z->a, CQ_VERDICT_HOSTILE, "zip-header", where,
                     "the local header and the directory disagree about encryption");
    packed = number(p + 18, 4);
    size   = number(p + 22, 4);
    check_other_name(z, e->name, p + LOCAL_SIZE + name, (size_t)number(p + 28, 2));
    read_large(p + LOCAL_SIZE + name, (size_t)number(p + 28, 2),
               (uint64_t *const[]){ &size, &packed, &dummy });
    if (!(number(p + 6, 2) & 8) &&
        (size != e->size || packed != e->packed || (uint32_t)number(p + 14, 4) != e->crc))
        cq_audit_add(z->a, CQ_VERDICT_HOSTILE, "zip-header", where,
                     "the local header has other sizes or another checksum than the directory");
    if (e->method == 0 && e->packed != e->size)
        cq_audit_add(z->a, CQ_VERDICT_HOSTILE, "zip-size", where,
                     "the entry is stored, but has two sizes: %" PRIu64 " and %" PRIu64, e->packed,
                     e->size);
}

/* PyTorch finds an entry without regard to case, other readers do not. Code may have such names. */
static void check_case(zip_scan *z, const char *name, cq_map *names)
{
    char *lower = cq_arena_printf(z->a->arena, "%s\n", name);

    for (char *p = lower; p && *p; p++)
        *p = *p >= 'A' && *p <= 'Z' ? (char)(*p + 32) : *p;
    if (!lower || cq_map_has(names, lower)) {
        if (lower && !cq_map_has(names, name) && cq_ends_with(lower, ".pkl\n"))
            cq_audit_add(z->a, CQ_VERDICT_HOSTILE, "zip-duplicate",
                         cq_audit_inside(z->a, z->where, name),
                         "two entries have names that differ only in case");
        return;
    }
    if (cq_map_set(names, lower, z) != CQ_OK)
        z->a->status = CQ_E_NO_MEMORY;
}

static uint64_t add_entry(zip_scan *z, cq_audit_entries *out, uint64_t at, cq_map *names)
{
    const unsigned char *p = record(z, at, CENTRAL_SIZE, "PK\1\2");
    cq_audit_entry       e = { 0 };
    size_t               name, extra;
    uint64_t             length;

    if (!p)
        return 0;
    name   = (size_t)number(p + 28, 2);
    extra  = (size_t)number(p + 30, 2);
    length = CENTRAL_SIZE + name + extra + number(p + 32, 2);
    if (length > z->size - at || name > MAX_NAME)
        return 0;
    e.size   = number(p + 24, 4);
    e.packed = number(p + 20, 4);
    e.header = number(p + 42, 4);
    e.crc    = (uint32_t)number(p + 16, 4);
    e.method = (uint32_t)number(p + 10, 2);
    read_large(p + CENTRAL_SIZE + name, extra,
               (uint64_t *const[]){ &e.size, &e.packed, &e.header });
    e.header = e.header > UINT64_MAX - z->base ? UINT64_MAX : e.header + z->base;
    e.name   = cq_arena_strndup(z->a->arena, (const char *)p + CENTRAL_SIZE, name);
    if (!e.name)
        return 0;
    check_name(z, e.name, name);
    check_other_name(z, e.name, p + CENTRAL_SIZE + name, extra);
    check_case(z, e.name, names);
    if (cq_map_has(names, e.name))
        cq_audit_add(z->a, CQ_VERDICT_HOSTILE, "zip-duplicate",
                     cq_audit_inside(z->a, z->where, e.name), "the entry is in the archive twice");
    if (number(p + 8, 2) & (1 | 1 << 6 | 1 << 13)) /* also strong, and of the directory */
        cq_audit_add(z->a, CQ_VERDICT_UNKNOWN, "zip-encrypted",
                     cq_audit_inside(z->a, z->where, e.name), "the entry is encrypted");
    else if (e.method != 0 && e.method != Z_DEFLATED)
        cq_audit_add(z->a, CQ_VERDICT_UNKNOWN, "zip-method",
                     cq_audit_inside(z->a, z->where, e.name), "the entry is packed by method %u",
                     e.method);
    /* The upper half of the external attributes is the mode of a Unix file. */
    if ((number(p + 38, 4) >> 16 & 0170000) == 0120000)
        cq_audit_add(z->a, CQ_VERDICT_HOSTILE, "zip-link", cq_audit_inside(z->a, z->where, e.name),
                     "the entry is a symbolic link");
    check_local(z, &e, number(p + 8, 2));
    if (cq_map_set(names, e.name, z) != CQ_OK || cq_vec_push(out, e) != CQ_OK)
        z->a->status = CQ_E_NO_MEMORY;
    return length;
}

static int compare_headers(const void *a, const void *b)
{
    const cq_audit_entry *x = a, *y = b;

    return (x->header > y->header) - (x->header < y->header);
}

/* Bytes between entries: a reader of the stream finds entries there that the directory lacks. A
 * data descriptor, and padding, are honest. */
static void check_hidden(zip_scan *z, uint64_t from, uint64_t to)
{
    const uint64_t end = to < z->size ? to : z->size;

    for (uint64_t at = from; at + LOCAL_SIZE <= end; at++)
        if (record(z, at, LOCAL_SIZE, "PK\3\4")) {
            cq_audit_add(z->a, CQ_VERDICT_HOSTILE, "zip-hidden", z->where,
                         "an entry at byte %" PRIu64 " is not in the directory", at);
            return;
        }
}

static void check_overlaps(zip_scan *z, const cq_audit_entries *entries)
{
    cq_audit_entry *sorted = cq_alloc_array(entries->n, sizeof *sorted);

    if (!sorted || !entries->n) {
        cq_free(sorted);
        return;
    }
    memcpy(sorted, entries->items, entries->n * sizeof *sorted);
    qsort(sorted, entries->n, sizeof *sorted, compare_headers);
    check_hidden(z, z->base, sorted[0].header);
    for (size_t i = 0; i < entries->n; i++)
        check_hidden(z, sorted[i].end > sorted[i].header ? sorted[i].end : sorted[i].header + 1,
                     i + 1 < entries->n ? sorted[i + 1].header : z->base + z->at);
    for (size_t i = 0; i + 1 < entries->n; i++)
        if (sorted[i].end > sorted[i + 1].header)
            cq_audit_add(z->a, CQ_VERDICT_HOSTILE, "zip-overlap",
                         cq_audit_inside(z->a, z->where, sorted[i].name),
                         "the entry overlaps with '%s'", sorted[i + 1].name);
    if (sorted[entries->n - 1].end > z->base + z->at)
        cq_audit_add(z->a, CQ_VERDICT_HOSTILE, "zip-overlap",
                     cq_audit_inside(z->a, z->where, sorted[entries->n - 1].name),
                     "the entry overlaps with the directory");
    cq_free(sorted);
}

void cq_audit_scan_zip(cq_audit *a, cq_audit_entries *out, const unsigned char *data, size_t size,
                       const char *where)
{
    zip_scan z     = { .a = a, .data = data, .size = size, .where = where };
    cq_map   names = { 0 };
    uint64_t at;

    if (!find_directory(&z)) {
        cq_audit_add(a, CQ_VERDICT_UNKNOWN, "zip-damaged", where,
                     "the directory of the archive is missing or damaged");
        return;
    }
    at = z.base + z.at;
    for (uint64_t i = 0; i < z.n && a->status == CQ_OK; i++) {
        const uint64_t length = add_entry(&z, out, at, &names);

        if (!length) {
            cq_audit_add(a, CQ_VERDICT_UNKNOWN, "zip-damaged", where,
                         "the directory is damaged after %" PRIu64 " of %" PRIu64 " entries", i,
                         z.n);
            break;
        }
        at += length;
    }
    check_overlaps(&z, out);
    cq_map_clear(&names);
}

/* Inflates at most the declared size, within the budget of the audit. */
static bool inflate_entry(const cq_audit_entry *e, const unsigned char *from, unsigned char *to)
{
    z_stream s = { 0 };
    int      result;

    if (e->packed > UINT32_MAX || e->size > UINT32_MAX || inflateInit2(&s, -MAX_WBITS) != Z_OK)
        return false;
    s.next_in   = (unsigned char *)from;
    s.avail_in  = (uInt)e->packed;
    s.next_out  = to;
    s.avail_out = (uInt)e->size;
    result      = inflate(&s, Z_FINISH);
    inflateEnd(&s);
    return result == Z_STREAM_END && s.avail_out == 0;
}

const unsigned char *cq_audit_entry_bytes(cq_audit *a, const cq_audit_entry *e,
                                          const unsigned char *data, const char *where, void **heap)
{
    *heap = NULL;
    if (!e->end || (e->method != 0 && e->method != Z_DEFLATED))
        return NULL;
    if (e->size > a->budget) {
        cq_audit_add(a, CQ_VERDICT_UNKNOWN, "zip-bomb", where,
                     "the entry has %" PRIu64 " bytes, more than an audit reads", e->size);
        return NULL;
    }
    if (e->method == 0) {
        a->budget -= e->packed == e->size ? e->size : 0;
        return e->packed == e->size ? data + e->offset : NULL;
    }
    if (e->size > BOMB_SIZE && e->size / BOMB_RATIO > e->packed)
        cq_audit_add(a, CQ_VERDICT_UNKNOWN, "zip-bomb", where,
                     "%" PRIu64 " bytes unpack to %" PRIu64, e->packed, e->size);
    a->budget -= e->size;
    *heap = cq_alloc(e->size ? (size_t)e->size : 1);
    if (*heap && inflate_entry(e, data + e->offset, *heap))
        return *heap;
    cq_audit_add(a, CQ_VERDICT_UNKNOWN, "zip-damaged", where, "the entry cannot be unpacked");
    return NULL;
}
