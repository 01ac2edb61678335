/* Formats that hold only numbers if they are valid: safetensors and .npy. */
#include "audit/audit.h"

#include "base/json_tree.h"
#include "base/str.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- safetensors ---- */

enum { MAX_HEADER = 100 << 20 };

static uint64_t number(const unsigned char *p)
{
    uint64_t v = 0;

    for (size_t i = 8; i-- > 0;)
        v = v << 8 | p[i];
    return v;
}

bool cq_audit_is_safetensors(const unsigned char *data, size_t size)
{
    return size >= 10 && number(data) <= size - 8 && number(data) <= MAX_HEADER && data[8] == '{';
}

static const struct safetensors_row {
    const char *name;
    unsigned    bits;
} types[] = { { "F64", 64 },        { "F32", 32 },       { "F16", 16 },    { "BF16", 16 },
              { "I64", 64 },        { "I32", 32 },       { "I16", 16 },    { "I8", 8 },
              { "U8", 8 },          { "U16", 16 },       { "U32", 32 },    { "U64", 64 },
              { "BOOL", 8 },        { "F8_E4M3", 8 },    { "F8_E5M2", 8 }, { "C64", 64 },
              { "F8_E8M0", 8 },     { "F4", 4 },         { "F6_E2M3", 6 }, { "F6_E3M2", 6 },
              { "F8_E4M3FNUZ", 8 }, { "F8_E5M2FNUZ", 8 } };

typedef struct byte_range {
    int64_t begin, end;
} byte_range;

static int compare_ranges(const void *a, const void *b)
{
    const byte_range *x = a, *y = b;

    return x->begin != y->begin ? (x->begin > y->begin) - (x->begin < y->begin)
                                : (x->end > y->end) - (x->end < y->end);
}

/* The bytes that a dtype and a shape need; -1: unknown or too many. */
static int64_t bytes_of(const cq_json *tensor)
{
    const char    *type  = cq_json_text(cq_json_get(tensor, "dtype"), "");
    const cq_json *shape = cq_json_get(tensor, "shape");
    int64_t        bits  = -1;

    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].name, type) == 0)
            bits = types[i].bits;
    for (size_t i = 0; i < cq_json_length(shape) && bits >= 0; i++) {
        const int64_t n = cq_json_int(cq_json_at(shape, i), -1);

        if (n < 0 || __builtin_mul_overflow(bits, n, &bits))
            return -1;
    }
    return bits < 0 ? -1 : (bits + 7) / 8;
}

static void check_ranges(cq_audit *a, byte_range *ranges, size_t n, int64_t left, const char *where)
{
    int64_t end = 0;

    if (n)
        qsort(ranges, n, sizeof *ranges, compare_ranges);
    for (size_t i = 1; i < n; i++)
        if (ranges[i].begin < ranges[i - 1].end) {
            cq_audit_add(a, CQ_VERDICT_HOSTILE, "tensor-overlap", where,
                         "tensors overlap at byte %" PRId64 " of the data", ranges[i].begin);
            return;
        }
    for (size_t i = 0; i <= n; i++) {
        if ((i < n ? ranges[i].begin : left) > end)
            cq_audit_add(a, CQ_VERDICT_UNKNOWN, "tensor-gap", where,
                         "the data from byte %" PRId64 " belong to no tensor", end);
        end = i < n ? ranges[i].end : end;
    }
}

/* A map of texts to texts. */
static void check_metadata(cq_audit *a, const cq_json *metadata, const char *where)
{
    bool is_valid = metadata->kind == CQ_JSON_OBJECT;

    for (size_t i = 0; is_valid && i < cq_json_length(metadata); i++)
        is_valid = metadata->u.members[i].value.kind == CQ_JSON_TEXT;
    if (!is_valid)
        cq_audit_add(a, CQ_VERDICT_UNKNOWN, "damaged-header", where,
                     "__metadata__ is not a map of texts");
}

static void scan_header(cq_audit *a, const cq_json *header, uint64_t left, const char *where)
{
    CQ_VEC(byte_range) ranges = { 0 };
    cq_map names              = { 0 };

    for (size_t i = 0; i < cq_json_length(header) && a->status == CQ_OK; i++) {
        const cq_json_member *m     = &header->u.members[i];
        const cq_json        *ends  = cq_json_get(&m->value, "data_offsets");
        const int64_t         begin = cq_json_int(cq_json_at(ends, 0), -1),
                      end           = cq_json_int(cq_json_at(ends, 1), -1);

        if (cq_map_has(&names, m->key))
            cq_audit_add(a, CQ_VERDICT_HOSTILE, "tensor-duplicate", where,
                         "'%s' is in the header twice", m->key);
        if (cq_map_set(&names, m->key, a) != CQ_OK)
            a->status = CQ_E_NO_MEMORY;
        if (strcmp(m->key, "__metadata__") == 0) {
            check_metadata(a, &m->value, where);
            continue;
        }
        if (begin < 0 || end < begin || (uint64_t)end > left)
            cq_audit_add(a, CQ_VERDICT_UNKNOWN, "tensor-size", where,
                         "tensor '%s' reaches beyond the file", m->key);
        else if (bytes_of(&m->value) != end - begin)
            cq_audit_add(a, CQ_VERDICT_HOSTILE, "tensor-size", where,
                         "tensor '%s' has %" PRId64 " bytes, its shape needs %" PRId64, m->key,
                         end - begin, bytes_of(&m->value));
        else if (cq_vec_push(&ranges, (byte_range){ begin, end }) != CQ_OK)
            a->status = CQ_E_NO_MEMORY;
    }
    check_ranges(a, ranges.items, ranges.n, (int64_t)left, where);
    cq_vec_clear(&ranges);
    cq_map_clear(&names);
}

void cq_audit_scan_safetensors(cq_audit *a, const unsigned char *data, size_t size,
                               const char *where)
{
    const uint64_t n      = number(data);
    cq_arena      *arena  = cq_arena_new();
    const cq_json *header = NULL;

    if (!arena)
        a->status = CQ_E_NO_MEMORY;
    else if (cq_json_parse(&header, arena, (const char *)data + 8, (size_t)n, where) != CQ_OK ||
             header->kind != CQ_JSON_OBJECT)
        cq_audit_add(a, CQ_VERDICT_UNKNOWN, "damaged-header", where,
                     "the header is not a JSON object");
    else
        scan_header(a, header, size - 8 - n, where);
    cq_arena_free(arena);
}

/* ---- numpy ---- */

/* The header is the text of a dict: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), } */
void cq_audit_scan_npy(cq_audit *a, const unsigned char *data, size_t size, const char *where)
{
    size_t   at = 10, n = 0;
    char    *text;
    uint64_t numel = 1;

    if (size >= 12 && data[6] >= 2) {
        n  = (size_t)(number(data + 4) >> 32);
        at = 12;
    } else if (size >= 10) {
        n = data[8] | (size_t)data[9] << 8;
    }
    if (size < at || n > size - at || n > 1 << 16) {
        cq_audit_add(a, CQ_VERDICT_UNKNOWN, "damaged-header", where, "the header is cut short");
        return;
    }
    text = cq_arena_strndup(a->arena, (const char *)data + at, n);
    if (!text)
        return;
    if (strpbrk(text, "([{") != text || strstr(text, "__") || !strstr(text, "'descr'") ||
        !strstr(text, "'shape'")) {
        cq_audit_add(a, CQ_VERDICT_UNKNOWN, "damaged-header", where,
                     "the header is not a dict of descr, fortran_order and shape");
        return;
    }
    if (strstr(text, "|O") || strstr(text, "'O'")) {
        cq_audit_add(a, CQ_VERDICT_UNKNOWN, "pickled-array", where,
                     "elements are Python objects, stored as a pickle");
        cq_audit_scan_pickles(a, data + at + n, size - at - n, where);
        return;
    }
    for (const char *p = strstr(text, "'shape'") + 7; *p && *p != ')'; p++)
        if (*p >= '0' && *p <= '9') {
            char *end;

            if (__builtin_mul_overflow(numel, (uint64_t)strtoull(p, &end, 10), &numel))
                numel = UINT64_MAX;
            p = end - 1;
        }
    if (numel > size - at - n && numel) /* at least a byte for an element */
        cq_audit_add(a, CQ_VERDICT_UNKNOWN, "tensor-size", where,
                     "the array has %" PRIu64 " elements, but %zu bytes follow the header", numel,
                     size - at - n);
}
