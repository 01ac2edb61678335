/* Audits: findings, the verdict, and what bytes are. */
#include "audit/audit.h"

#include "base/file.h"
#include "base/signature.h"
#include "base/str.h"

#include <stdio.h>
#include <string.h>

/* A value takes a byte of a pickle or more, so a pickle that is not deflated has less values than
 * bytes. */
enum { MAX_UNPACKED_VALUES = 8 << 20 };

/* The limit for the unpacked size of all entries of a file: enough for honest archives, and at most
 * a few times the file. Entries that are not deflated count too, because several can be the same
 * bytes. */
static uint64_t read_budget(uint64_t size)
{
    return (UINT64_C(256) << 20) + 4 * size;
}

void cq_audit_add(cq_audit *a, cq_verdict verdict, const char *code, const char *where,
                  const char *format, ...)
{
    const bool       is_worse = verdict > a->verdict; /* listed in any case: the reason */
    cq_str           text     = { 0 };
    va_list          args;
    cq_audit_finding f = { verdict, code, NULL, NULL };

    if (is_worse)
        a->verdict = verdict;
    else if (a->n_texts++ >= CQ_AUDIT_MAX_TEXTS)
        return;
    va_start(args, format);
    cq_str_vprintf(&text, format, args);
    va_end(args);
    cq_str_printf(&text, "\n%s", where);
    if (text.status != CQ_OK)
        a->status = text.status;
    else if (!cq_map_has(&a->seen, text.text) &&
             (is_worse || a->findings.n < CQ_AUDIT_MAX_FINDINGS)) {
        f.where = cq_arena_strdup(a->arena, where);
        f.what  = cq_arena_strndup(a->arena, text.text, text.len - strlen(where) - 1);
        if (!f.where || !f.what || cq_map_set(&a->seen, text.text, a) != CQ_OK ||
            cq_vec_push(&a->findings, f) != CQ_OK)
            a->status = CQ_E_NO_MEMORY;
    }
    cq_str_clear(&text);
}

const char *cq_audit_inside(cq_audit *a, const char *where, const char *entry)
{
    const char *text = cq_arena_printf(a->arena, "%s!%s", where, entry);

    return text ? text : where;
}

/* ---- what bytes are ---- */

static bool starts(const unsigned char *data, size_t size, const char *sign, size_t n)
{
    return size >= n && memcmp(data, sign, n) == 0;
}

static const struct wrapper_row {
    const char *sign;
    size_t      n;
    const char *name;
} wrappers[] = {
    { "\x1f\x8b", 2, "gzip" },
    { "\xfd"
      "7zXZ",
      5, "xz" },
    { "BZh", 3, "bzip2" },
    { "7z\xbc\xaf", 4, "7z" },
    { "\x28\xb5\x2f\xfd", 4, "zstd" },
    { "Rar!", 4, "rar" },
    { "\177ELF", 4, "a program" },
    { "MZ\x90", 3, "a program" },
    { "#!", 2, "a script" },
    { "\x89HDF", 4, "HDF5, which may hold code of Keras" },
};

static bool scan_wrapper(cq_audit *a, const unsigned char *data, size_t size, const char *where)
{
    for (size_t i = 0; i < sizeof wrappers / sizeof *wrappers; i++)
        if (starts(data, size, wrappers[i].sign, wrappers[i].n)) {
            cq_audit_add(a, CQ_VERDICT_UNKNOWN, "unknown-format", where,
                         "the file is %s, which is not unpacked", wrappers[i].name);
            return true;
        }
    if (size > 262 && memcmp(data + 257, "ustar", 5) == 0) {
        cq_audit_add(a, CQ_VERDICT_UNKNOWN, "unknown-format", where,
                     "the file is a tar archive, which is not unpacked");
        return true;
    }
    return false;
}

static void set_format(cq_audit *a, int depth, const char *format)
{
    if (depth == 0)
        a->format = format;
}

/* Whether a directory, or nothing, precedes the end record of an archive. */
static bool has_directory(const unsigned char *data, size_t end)
{
    const unsigned char *p = data + end;
    const size_t         n = p[12] | (size_t)p[13] << 8 | (size_t)p[14] << 16 | (size_t)p[15] << 24;

    return n == 0 || n == UINT32_MAX || (n <= end && memcmp(p - n, "PK\1\2", 4) == 0);
}

/* A pickle of protocol 0 or 1 has no signature, so bytes of unknown format are tried as a
 * pickle. */
void cq_audit_bytes(cq_audit *a, const unsigned char *data, size_t size, const char *where,
                    int depth)
{
    const bool is_file = depth == 0;

    if (cq_audit_is_zip(data, size)) {
        cq_audit_scan_archive(a, data, size, where, depth);
    } else if (starts(data, size, "\x93NUMPY", 6)) {
        set_format(a, depth, "numpy array");
        cq_audit_scan_npy(a, data, size, where);
    } else if (size > 2 && data[0] == 0x80 && data[1] <= 5) {
        set_format(a, depth, "pickle");
        cq_audit_scan_pickles(a, data, size, where);
    } else if (cq_audit_is_safetensors(data, size)) {
        set_format(a, depth, "safetensors");
        cq_audit_scan_safetensors(a, data, size, where);
    } else if (scan_wrapper(a, data, size, where)) {
        set_format(a, depth, "unknown");
    } else if (cq_audit_scan_onnx(a, data, size, where, is_file, cq_ends_with(where, ".onnx"))) {
        set_format(a, depth, "ONNX model");
    } else if (cq_ends_with(where, ".onnx")) {
        set_format(a, depth, "damaged ONNX model");
    } else if (cq_audit_is_pickle(a, data, size)) {
        set_format(a, depth, "pickle");
        cq_audit_scan_pickles(a, data, size, where);
    } else {
        set_format(a, depth, "unknown");
        cq_audit_add(a, CQ_VERDICT_UNKNOWN, "unknown-format", where, "%s",
                     cq_check_signature(data, size, NULL) != CQ_OK
                         ? cq_last_error()->message
                         : "the format of the file is unknown");
    }
    /* A zip archive is read from its end, so that one can follow anything. */
    if (is_file && !cq_audit_is_zip(data, size) && size > 22) {
        const size_t         tail = size > 66000 ? 66000 : size;
        const unsigned char *end  = data + size - tail;

        for (size_t i = tail - 22 + 1; i-- > 0;)
            if (memcmp(end + i, "PK\5\6", 4) == 0 && has_directory(data, size - tail + i)) {
                cq_audit_add(a, CQ_VERDICT_HOSTILE, "two-formats", where,
                             "the file is also a zip archive");
                cq_audit_scan_archive(a, data, size, where, 1);
                break;
            }
    }
}

/* ---- the calls ---- */

CQ_API const char *cq_verdict_name(cq_verdict verdict)
{
    static const char *const names[] = { "safe", "unknown", "hostile" };

    return verdict <= CQ_VERDICT_HOSTILE ? names[verdict] : "unknown";
}

CQ_API cq_status cq_audit_file(cq_audit **out, const char *path)
{
    CQ_NEED_OUT(out, path);
    cq_mapping *file;
    cq_audit   *a;
    cq_status   status;

    CQ_TRY(cq_mapping_open(&file, path));
    a = cq_zalloc(sizeof *a);
    if (a)
        a->arena = cq_arena_new();
    if (a && a->arena) {
        a->format     = "unknown";
        a->budget     = read_budget(cq_mapping_size(file));
        a->max_values = MAX_UNPACKED_VALUES + cq_mapping_size(file);
        cq_audit_bytes(a, cq_mapping_data(file), cq_mapping_size(file), path, 0);
        status = a->status;
    } else {
        status = CQ_E_NO_MEMORY;
    }
    cq_mapping_release(file);
    if (status == CQ_OK)
        *out = a;
    else
        cq_audit_free(a);
    return status;
}

CQ_API void cq_audit_free(cq_audit *a)
{
    if (!a)
        return;
    cq_map_clear(&a->seen);
    cq_vec_clear(&a->findings);
    cq_arena_free(a->arena);
    cq_free(a);
}

CQ_API cq_verdict cq_audit_verdict(const cq_audit *a)
{
    CQ_NEED_ELSE(a, CQ_VERDICT_UNKNOWN);
    return a->verdict;
}

CQ_API const char *cq_audit_format(const cq_audit *a)
{
    CQ_NEED_ELSE(a, "");
    return a->format;
}

CQ_API size_t cq_audit_count(const cq_audit *a)
{
    CQ_NEED_ELSE(a, 0);
    return a->findings.n;
}

CQ_API const cq_audit_finding *cq_audit_at(const cq_audit *a, size_t index)
{
    CQ_NEED_ELSE(a, NULL);
    return index < a->findings.n ? &a->findings.items[index] : NULL;
}
