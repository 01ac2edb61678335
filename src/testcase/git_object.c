/* Commits, loose or in packs (gitformat-pack(5)), for their dates. Objects that are damaged or
 * larger than a commit should be are not found. */
#include "testcase/git.h"

#include "base/file.h"
#include "base/path.h"
#include "base/str.h"
#include "testcase/folder.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { MAX_COMMIT = 1 << 20, MAX_DELTAS = 64, HASH_SIZE = 20 };
enum { TYPE_COMMIT = 1, TYPE_OFFSET_DELTA = 6, TYPE_HASH_DELTA = 7 };

typedef struct bytes {
    const unsigned char *data;
    size_t               size;
} bytes;

typedef struct pack {
    bytes index, data;
} pack;

/* Inflates at most size bytes at the beginning of from, terminated; NULL if there are more or the
 * data is damaged. */
static char *inflate_some(size_t *n, bytes from, size_t size)
{
    z_stream s   = { .next_in  = (unsigned char *)from.data,
                     .avail_in = from.size < UINT_MAX ? (unsigned)from.size : UINT_MAX };
    char    *out = cq_alloc(size + 2); /* one more than it may be, and a zero */
    int      result;

    if (!out || inflateInit(&s) != Z_OK) {
        cq_free(out);
        return NULL;
    }
    s.next_out  = (unsigned char *)out;
    s.avail_out = (unsigned)size + 1;
    result      = inflate(&s, Z_FINISH);
    *n          = (size_t)s.total_out;
    inflateEnd(&s);
    if (result != Z_STREAM_END || *n > size) {
        cq_free(out);
        return NULL;
    }
    out[*n] = '\0';
    return out;
}

/* ---- packs ---- */

static uint64_t big_endian(bytes from, size_t at, size_t size)
{
    uint64_t n = 0;

    if (at > from.size || size > from.size - at)
        return UINT64_MAX;
    for (size_t i = 0; i < size; i++)
        n = n << 8 | from.data[at + i];
    return n;
}

/* The offset of an object in its pack; UINT64_MAX: it is not in this one. */
static uint64_t find_in_index(bytes index, const unsigned char *hash)
{
    const size_t table = 8, hashes = table + 4 * 256;
    uint64_t     n    = big_endian(index, table + 4 * 255, 4);
    uint64_t     from = hash[0] ? big_endian(index, table + 4 * (hash[0] - 1u), 4) : 0;
    uint64_t     to   = big_endian(index, table + 4u * hash[0], 4), offset;

    if (big_endian(index, 0, 8) != 0xff744f6300000002u || to > n || from > to ||
        index.size < hashes + n * (HASH_SIZE + 8))
        return UINT64_MAX;
    while (from < to) {
        uint64_t middle = (from + to) / 2;
        int      order  = memcmp(hash, index.data + hashes + middle * HASH_SIZE, HASH_SIZE);

        if (order == 0) {
            offset = big_endian(index, hashes + n * (HASH_SIZE + 4) + middle * 4, 4);
            if (offset >> 31)
                offset =
                    big_endian(index, hashes + n * (HASH_SIZE + 8) + (offset & 0x7fffffff) * 8, 8);
            return offset;
        }
        if (order < 0)
            to = middle;
        else
            from = middle + 1;
    }
    return UINT64_MAX;
}

/* A number of 7 bits a byte, the lowest first; false if it does not end. */
static bool take_number(uint64_t *n, bytes *from)
{
    *n = 0;
    for (int shift = 0; from->size && shift < 63; shift += 7) {
        unsigned char c = *from->data;

        from->data++, from->size--;
        *n |= (uint64_t)(c & 0x7f) << shift;
        if (!(c & 0x80))
            return true;
    }
    return false;
}

/* Applies copy and insert instructions to a base. */
static char *apply_delta(size_t *n, const char *base, size_t base_size, bytes delta)
{
    uint64_t from_size, size;
    char    *out;
    size_t   at = 0;

    if (!take_number(&from_size, &delta) || !take_number(&size, &delta) || from_size != base_size ||
        size > MAX_COMMIT || !(out = cq_alloc(size + 1)))
        return NULL;
    while (delta.size) {
        unsigned char op     = *delta.data;
        uint64_t      offset = 0, len = op;
        const char   *from = NULL;

        delta.data++, delta.size--;
        if (op & 0x80) {
            uint32_t part[7] = { 0 };

            for (int i = 0; i < 7; i++)
                if (op >> i & 1 && delta.size) {
                    part[i] = *delta.data;
                    delta.data++, delta.size--;
                }
            offset = part[0] | part[1] << 8 | part[2] << 16 | (uint64_t)part[3] << 24;
            len    = part[4] | part[5] << 8 | part[6] << 16;
            len    = len ? len : 0x10000;
            from   = offset <= base_size && len <= base_size - offset ? base + offset : NULL;
        } else if (op && op <= delta.size) {
            from = (const char *)delta.data;
            delta.data += op, delta.size -= op;
        }
        if (!from || len > size - at) {
            cq_free(out);
            return NULL;
        }
        memcpy(out + at, from, len);
        at += len;
    }
    out[at] = '\0';
    *n      = at;
    return out;
}

/* A commit at an offset, which may be given as the difference from another one. */
static char *unpack(size_t *n, const pack *p, uint64_t offset, int depth)
{
    uint64_t      base = UINT64_MAX, size;
    unsigned char first;
    bytes         from;
    char         *delta, *whole, *out = NULL;
    size_t        delta_size, whole_size;

    if (offset >= p->data.size || depth > MAX_DELTAS)
        return NULL;
    from  = (bytes){ p->data.data + offset, p->data.size - (size_t)offset };
    first = *from.data;
    from.data++, from.size--;
    if (first & 0x80 && !take_number(&size, &from))
        return NULL;
    switch (first >> 4 & 7) {
    case TYPE_COMMIT: return inflate_some(n, from, MAX_COMMIT);
    case TYPE_OFFSET_DELTA: {
        uint64_t back = 0;
        bool     more = true;

        for (int i = 0; more && from.size && i < 9; i++) {
            back = (back + (i > 0)) << 7 | (*from.data & 0x7f);
            more = *from.data & 0x80;
            from.data++, from.size--;
        }
        base = more || back > offset ? UINT64_MAX : offset - back;
        break;
    }
    case TYPE_HASH_DELTA:
        if (from.size < HASH_SIZE)
            return NULL;
        base = find_in_index(p->index, from.data);
        from.data += HASH_SIZE, from.size -= HASH_SIZE;
        break;
    default: return NULL;
    }
    whole = unpack(&whole_size, p, base, depth + 1);
    delta = whole ? inflate_some(&delta_size, from, MAX_COMMIT) : NULL;
    if (delta)
        out = apply_delta(n, whole, whole_size, (bytes){ (unsigned char *)delta, delta_size });
    cq_free(whole);
    cq_free(delta);
    return out;
}

static bytes bytes_of(const cq_mapping *file)
{
    return (bytes){ cq_mapping_data(file), cq_mapping_size(file) };
}

static char *find_in_pack(size_t *n, const char *path, const unsigned char *hash)
{
    size_t      len = strlen(path) - strlen("idx");
    char        data_path[PATH_MAX + 8];
    cq_mapping *index = NULL, *data = NULL;
    uint64_t    offset;
    char       *out = NULL;

    snprintf(data_path, sizeof data_path, "%.*spack", (int)len, path);
    if (cq_mapping_open(&index, path) == CQ_OK) {
        offset = find_in_index(bytes_of(index), hash);
        if (offset != UINT64_MAX && cq_mapping_open(&data, data_path) == CQ_OK)
            out = unpack(n, &(pack){ bytes_of(index), bytes_of(data) }, offset, 0);
    }
    cq_mapping_release(index);
    cq_mapping_release(data);
    return out;
}

static char *find_packed(size_t *n, const char *objects, const char *commit)
{
    unsigned char hash[HASH_SIZE];
    char          folder[PATH_MAX], path[PATH_MAX], *out = NULL;
    cq_names      names = { 0 };

    if (strlen(commit) != 2 * HASH_SIZE || strlen(objects) > PATH_MAX - 16)
        return NULL;
    for (size_t i = 0; i < HASH_SIZE; i++)
        sscanf(commit + 2 * i, "%2hhx", &hash[i]);
    snprintf(folder, sizeof folder, "%.*s/pack", PATH_MAX - 8, objects);
    if (cq_list_folder(&names, folder) == CQ_OK)
        for (size_t i = 0; i < names.n && !out; i++)
            if (cq_ends_with(names.items[i], ".idx") &&
                snprintf(path, sizeof path, "%s/%s", folder, names.items[i]) < (int)sizeof path)
                out = find_in_pack(n, path, hash);
    cq_names_clear(&names);
    return out;
}

/* ---- commits ---- */

static char *find_loose(size_t *n, const char *objects, const char *commit)
{
    char        path[PATH_MAX];
    cq_mapping *file;
    char       *out;

    if (snprintf(path, sizeof path, "%s/%.2s/%s", objects, commit, commit + 2) >=
            (int)sizeof path ||
        cq_mapping_open(&file, path) != CQ_OK)
        return NULL;
    out = inflate_some(n, bytes_of(file), MAX_COMMIT);
    cq_mapping_release(file);
    return out;
}

/* "committer NAME <MAIL> SECONDS +0900" */
static void write_date(char *out, size_t size, const char *text)
{
    const char *line = strstr(text, "\ncommitter "), *end = strstr(text, "\n\n");
    const char *mail = line && (!end || line < end) ? strchr(line + 1, '>') : NULL;
    char        zone[6];
    int64_t     seconds;
    int         hhmm;

    if (!mail || sscanf(mail, "> %" SCNd64 " %5[-+0-9]", &seconds, zone) != 2 ||
        sscanf(zone, "%d", &hhmm) != 1 || llabs(seconds) > (int64_t)1 << 40)
        return;
    seconds += (hhmm / 100 * 60 + hhmm % 100) * 60;
    if (!cq_time_utc_text(out, size, seconds))
        return;
    snprintf(out + strlen(out), size - strlen(out), " %s", zone);
}

void cq_git_commit_date(char *out, size_t size, const char *objects, const char *commit)
{
    size_t n    = 0;
    char  *text = find_loose(&n, objects, commit);

    *out = '\0';
    if (text && n > strlen(text)) /* "commit 123", a zero, and the commit */
        memmove(text, text + strlen(text) + 1, n - strlen(text));
    else if (!text)
        text = find_packed(&n, objects, commit);
    if (text)
        write_date(out, size, text);
    cq_free(text);
}
