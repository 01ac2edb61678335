/* Mutates archives so that they stay archives: one record is extracted, changed and packed again,
 * with valid sizes and checksums. JSON is changed by whole values, so that it stays JSON: a number
 * becomes another, a text is replaced by another one of the record, a value of a list or an object
 * is removed, repeated or replaced. Plain changes of bytes hardly ever get past the checksum, and
 * never past the parser. */
#ifndef CQ_FUZZ_MUTATE_ZIP_H
#define CQ_FUZZ_MUTATE_ZIP_H

#include "archive/zip.h"
#include "base/str.h"

#include <ctype.h>
#include <string.h>
#include <zlib.h>

typedef struct mutation {
    uint64_t seed;
} mutation;

/* Knuth's MMIX generator; the high bits are the good ones. */
static size_t choose(mutation *m, size_t n)
{
    m->seed = m->seed * 6364136223846793005 + 1442695040888963407;
    return n ? (size_t)(m->seed >> 33) % n : 0;
}

/* ---- JSON ---- */

/* The end of the value at text; the end of the text if it is not a value. */
static size_t value_len(const char *text, size_t len)
{
    size_t at = 0, depth = 0;

    do {
        if (text[at] == '"') {
            for (at++; at < len && text[at] != '"'; at++)
                at += text[at] == '\\';
            at++;
        } else if (text[at] == '[' || text[at] == '{') {
            depth++;
            at++;
        } else if (text[at] == ']' || text[at] == '}') {
            depth -= depth > 0;
            at++;
        } else if (depth) {
            at++;
        } else {
            while (at < len && (isalnum((unsigned char)text[at]) || strchr("+-.", text[at])))
                at++;
            break;
        }
    } while (depth && at < len);
    return at < len ? at : len;
}

/* The first value at or after a random offset. */
static size_t find_value(mutation *m, const char *text, size_t len)
{
    size_t at = choose(m, len);

    while (at < len && !strchr("\"[{-0123456789tfn", text[at]))
        at++;
    return at;
}

static void random_number(mutation *m, cq_str *out)
{
    static const char *const numbers[] = {
        "0",          "1",           "-1",         "2",
        "7",          "13",          "28",         "99",
        "4294967296", "-2147483649", "2147483647", "9223372036854775807",
        "1e308",      "0.5",         "-0.0",       "NaN",
        "Infinity",   "null",        "true",       "18446744073709551616",
    };

    cq_str_add(out, numbers[choose(m, sizeof numbers / sizeof *numbers)]);
}

/* Without the value and the comma beside it. */
static void leave_out(cq_str *out, const char *text, size_t len, size_t at, size_t n)
{
    size_t end = at + n;

    while (end < len && (text[end] == ' ' || text[end] == ','))
        end++;
    cq_str_add_n(out, text, at);
    cq_str_add_n(out, text + end, len - end);
}

static void mutate_json(mutation *m, cq_str *out, const char *text, size_t len)
{
    const size_t at = find_value(m, text, len), n = value_len(text + at, len - at);
    const size_t other = find_value(m, text, len), n_other = value_len(text + other, len - other);

    switch (choose(m, 6)) {
    case 0: leave_out(out, text, len, at, n); return;
    case 1: /* twice */
        cq_str_add_n(out, text, at + n);
        cq_str_add(out, ", ");
        cq_str_add_n(out, text + at, len - at);
        return;
    case 2:
        cq_str_add_n(out, text, at);
        random_number(m, out);
        break;
    default: /* another value of the record, the most telling change */
        cq_str_add_n(out, text, at);
        cq_str_add_n(out, text + other, n_other);
        break;
    }
    cq_str_add_n(out, text + at + n, len - at - n);
}

static void mutate_bytes(mutation *m, cq_str *out, const char *data, size_t len)
{
    size_t at = choose(m, len + 1);

    cq_str_add_n(out, data, at);
    switch (choose(m, 4)) {
    case 0: return; /* cut short */
    case 1: cq_str_add_char(out, (char)choose(m, 256)); break;
    case 2:
        cq_str_add_char(out, (char)choose(m, 256));
        at += at < len;
        break;
    default: at += choose(m, len - at + 1);
    }
    cq_str_add_n(out, data + at, len - at);
}

/* ---- archives ---- */

static void put(cq_str *s, uint64_t value, int n_bytes)
{
    for (int i = 0; i < n_bytes; i++)
        cq_str_add_char(s, (char)(i < 8 ? value >> 8 * i : 0));
}

/* The common fields of an entry's header and its directory record. */
static void put_common(cq_str *s, const char *name, const cq_str *data)
{
    const uLong sum = crc32(0, (const Bytef *)cq_str_text(data), (uInt)data->len);

    put(s, 0, 8); /* flags, method, time, date */
    put(s, sum, 4);
    put(s, data->len, 4);
    put(s, data->len, 4);
    put(s, strlen(name), 2);
    put(s, 0, 2);
}

static void put_entry(cq_str *zip, cq_str *directory, const char *name, const cq_str *data)
{
    const size_t at = zip->len;

    cq_str_add(zip, "PK\3\4");
    put(zip, 20, 2);
    put_common(zip, name, data);
    cq_str_add(zip, name);
    cq_str_add_n(zip, cq_str_text(data), data->len);
    cq_str_add(directory, "PK\1\2");
    put(directory, 20, 2);
    put(directory, 20, 2);
    put_common(directory, name, data);
    put(directory, 0, 10); /* comment, disk, attributes */
    put(directory, at, 4);
    cq_str_add(directory, name);
}

static void copy_entry(mutation *m, cq_zip *zip, size_t i, bool change, cq_str *out)
{
    const cq_zip_entry *e = cq_zip_at(zip, i);
    cq_storage         *bytes;

    if (cq_zip_read(&bytes, zip, e) != CQ_OK)
        return;
    if (!change)
        cq_str_add_n(out, bytes->data, bytes->size);
    else if (cq_ends_with(e->name, ".json") && bytes->size && *(char *)bytes->data == '{')
        mutate_json(m, out, bytes->data, bytes->size);
    else
        mutate_bytes(m, out, bytes->data, bytes->size);
    cq_storage_release(bytes);
}

/* A record of the program more often than any other. */
static size_t choose_entry(mutation *m, const cq_zip *zip)
{
    size_t chosen = 0;

    for (int i = 0; i < 3; i++) {
        chosen = choose(m, cq_zip_count(zip));
        if (cq_ends_with(cq_zip_at(zip, chosen)->name, ".json"))
            break;
    }
    return chosen;
}

/* As LLVMFuzzerCustomMutator. 0: it is not an archive, or what came of it does not fit. */
static size_t mutate_zip(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    mutation    m = { seed };
    cq_storage *bytes;
    cq_zip     *zip = NULL;
    cq_str      out = { 0 }, directory = { 0 };
    size_t      chosen, n_entries, len = 0;

    if (cq_storage_new(&bytes, size) != CQ_OK)
        return 0;
    memcpy(bytes->data, data, size);
    if (cq_zip_open(&zip, bytes, "<mutate>") == CQ_OK && cq_zip_count(zip)) {
        n_entries = cq_zip_count(zip);
        chosen    = choose_entry(&m, zip);
        for (size_t i = 0; i < n_entries; i++) {
            cq_str record = { 0 };

            copy_entry(&m, zip, i, i == chosen, &record);
            put_entry(&out, &directory, cq_zip_at(zip, i)->name, &record);
            cq_str_clear(&record);
        }
        len = out.len;
        cq_str_add_n(&out, cq_str_text(&directory), directory.len);
        cq_str_add(&out, "PK\5\6");
        put(&out, 0, 4);
        put(&out, n_entries, 2);
        put(&out, n_entries, 2);
        put(&out, directory.len, 4);
        put(&out, len, 4);
        put(&out, 0, 2);
        len = out.status == CQ_OK && out.len <= max_size ? out.len : 0;
        memcpy(data, cq_str_text(&out), len);
    }
    cq_zip_free(zip);
    cq_storage_release(bytes);
    cq_str_clear(&out);
    cq_str_clear(&directory);
    return len;
}

#endif
