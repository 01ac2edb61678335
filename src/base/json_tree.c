/* A recursive-descent parser. Items of a list are collected on a stack that all lists share, and
 * moved to the arena at the end of the list. */
#include "base/json_tree.h"
#include "base/map.h"
#include "base/vec.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct parser {
    cq_arena   *arena;
    const char *text, *at, *end;
    const char *where;
    int         depth;
    CQ_VEC(cq_json_member) open; /* of the enclosing lists and objects */
} parser;

static const cq_json nothing = { .kind = CQ_JSON_NULL };

static cq_status fail(const parser *p, const char *what)
{
    return cq_fail(CQ_E_FORMAT, p->where, "the file is damaged; write or download it again",
                   "invalid JSON at byte %zu: %s", (size_t)(p->at - p->text), what);
}

static void skip_space(parser *p)
{
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\n' || *p->at == '\r' || *p->at == '\t'))
        p->at++;
}

static bool accept(parser *p, char c)
{
    skip_space(p);
    if (p->at == p->end || *p->at != c)
        return false;
    p->at++;
    return true;
}

static bool accept_word(parser *p, const char *word)
{
    size_t len = strlen(word);

    if ((size_t)(p->end - p->at) < len || memcmp(p->at, word, len) != 0)
        return false;
    p->at += len;
    return true;
}

/* ---- strings ---- */

static bool read_hex(parser *p, unsigned *out)
{
    *out = 0;
    if (p->end - p->at < 4)
        return false;
    for (int i = 0; i < 4; i++) {
        char c = *p->at++;

        *out *= 16;
        if (c >= '0' && c <= '9')
            *out += (unsigned)(c - '0');
        else if ((c | 32) >= 'a' && (c | 32) <= 'f')
            *out += (unsigned)((c | 32) - 'a') + 10;
        else
            return false;
    }
    return true;
}

static char *write_utf8(char *out, unsigned code)
{
    static const unsigned char marks[] = { 0, 0x00, 0xc0, 0xe0, 0xf0 };
    int                        n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;

    for (int i = n - 1; i > 0; i--, code >>= 6)
        out[i] = (char)(0x80 | (code & 0x3f));
    out[0] = (char)(marks[n] | code);
    return out + n;
}

/* \uD83D\uDE00 is one character; a single surrogate becomes U+FFFD. */
static bool read_escape(parser *p, char **out)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    const char       *known = p->at < p->end && *p->at ? strchr(from, *p->at) : NULL;
    unsigned          code, low;

    if (known) {
        *(*out)++ = to[known - from];
        p->at++;
        return true;
    }
    if (p->at == p->end || *p->at++ != 'u' || !read_hex(p, &code))
        return false;
    if (code >= 0xd800 && code < 0xdc00 && p->end - p->at > 6 && p->at[0] == '\\' &&
        p->at[1] == 'u') {
        const char *before = p->at;

        p->at += 2;
        if (!read_hex(p, &low))
            return false;
        if (low >= 0xdc00 && low < 0xe000)
            code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        else
            p->at = before;
    }
    if (code >= 0xd800 && code < 0xe000)
        code = 0xfffd;
    *out = write_utf8(*out, code);
    return true;
}

/* Reads a string after its first quote, in-slot: an escape is never shorter than its character. */
static cq_status read_text(parser *p, cq_json *v)
{
    const char *close = p->at;
    char       *text, *out;

    while (close < p->end && *close != '"')
        close += *close == '\\' ? 2 : 1;
    if (close >= p->end)
        return fail(p, "unterminated string");
    out = text = cq_arena_alloc(p->arena, (size_t)(close - p->at) + 1);
    if (!text)
        return CQ_E_NO_MEMORY;
    while (p->at < close) {
        if (*p->at != '\\') {
            *out++ = *p->at++;
            continue;
        }
        p->at++;
        if (!read_escape(p, &out))
            return fail(p, "unknown escape");
    }
    *out      = '\0';
    p->at     = close + 1;
    *v        = (cq_json){ .kind = CQ_JSON_TEXT, .n = (uint32_t)(out - text) };
    v->u.text = text;
    return CQ_OK;
}

/* ---- numbers ---- */

static cq_status read_number(parser *p, cq_json *v)
{
    char   digits[64];
    size_t len = 0;
    char  *end;

    while (p->at + len < p->end && len < sizeof digits - 1 &&
           strchr("+-0123456789.eE", p->at[len]) && p->at[len])
        len++;
    memcpy(digits, p->at, len);
    digits[len] = '\0';
    if (!len || (digits[0] != '-' && (digits[0] < '0' || digits[0] > '9')))
        return fail(p, "expected a value");
    errno  = 0;
    *v     = (cq_json){ .kind = CQ_JSON_INT };
    v->u.i = strtoll(digits, &end, 10);
    if (*end || errno == ERANGE) {
        v->kind = CQ_JSON_FLOAT;
        v->u.f  = strtod(digits, &end);
    }
    if (end == digits || *end)
        return fail(p, "expected a number");
    p->at += len;
    return CQ_OK;
}

static bool read_word(parser *p, cq_json *v)
{
    static const struct {
        const char *word;
        cq_json     value;
    } words[] = {
        { "null", { .kind = CQ_JSON_NULL } },
        { "true", { .kind = CQ_JSON_BOOL, .u.b = true } },
        { "false", { .kind = CQ_JSON_BOOL } },
        { "Infinity", { .kind = CQ_JSON_FLOAT, .u.f = INFINITY } },
        { "-Infinity", { .kind = CQ_JSON_FLOAT, .u.f = -INFINITY } },
        { "NaN", { .kind = CQ_JSON_FLOAT, .u.f = NAN } },
    };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (accept_word(p, words[i].word)) {
            *v = words[i].value;
            return true;
        }
    return false;
}

/* ---- lists and objects ---- */

static cq_status read_value(parser *p, cq_json *v);

static cq_status read_members(parser *p, bool keyed, char close)
{
    do {
        cq_json_member m = { 0 };
        cq_json        key;

        if (keyed) {
            if (!accept(p, '"'))
                return fail(p, "expected a key");
            CQ_TRY(read_text(p, &key));
            m.key = key.u.text;
            if (!accept(p, ':'))
                return fail(p, "expected a colon");
        }
        CQ_TRY(read_value(p, &m.value));
        CQ_TRY(cq_vec_push(&p->open, m));
    } while (accept(p, ','));
    return accept(p, close) ? CQ_OK : fail(p, "unterminated list or object");
}

/* A large object has a hash table after its members, so that look-up takes constant time: it has at
 * least twice as many entries; 0 is a free entry. */
enum { FEW_MEMBERS = 16 };

static size_t places_for(size_t n)
{
    size_t n_slots = 2 * FEW_MEMBERS;

    while (n_slots < 2 * n)
        n_slots *= 2;
    return n > FEW_MEMBERS ? n_slots : 0;
}

static uint32_t *find_slot(const cq_json *object, const char *key)
{
    const size_t n     = places_for(object->n);
    uint32_t    *table = (uint32_t *)(object->u.members + object->n);
    size_t       at    = (size_t)cq_hash_bytes(key, strlen(key)) & (n - 1);

    while (table[at] && strcmp(object->u.members[table[at] - 1].key, key) != 0)
        at = (at + 1) & (n - 1);
    return &table[at];
}

/* The first of several equal keys is used. */
static cq_status keep_members(parser *p, size_t first, cq_json *v)
{
    const size_t    size = v->n * sizeof *v->u.members;
    cq_json_member *members =
        cq_arena_zalloc(p->arena, size + places_for(v->n) * sizeof(uint32_t) + 1);

    if (!members)
        return CQ_E_NO_MEMORY;
    if (v->n)
        memcpy(members, p->open.items + first, size);
    v->u.members = members;
    for (uint32_t i = 0; v->n > FEW_MEMBERS && i < v->n; i++) {
        uint32_t *slot = find_slot(v, members[i].key);

        *slot = *slot ? *slot : i + 1;
    }
    return CQ_OK;
}

/* Reads a list or object after its bracket. */
static cq_status read_container(parser *p, bool keyed, cq_json *v)
{
    size_t first = p->open.n, n;
    char   close = keyed ? '}' : ']';

    if (++p->depth > CQ_JSON_MAX_DEPTH)
        return fail(p, "values are nested too deep");
    if (!accept(p, close))
        CQ_TRY(read_members(p, keyed, close));
    p->depth--;
    n  = p->open.n - first;
    *v = (cq_json){ .kind = keyed ? CQ_JSON_OBJECT : CQ_JSON_LIST, .n = (uint32_t)n };
    if (keyed) {
        CQ_TRY(keep_members(p, first, v));
    } else {
        cq_json *items = cq_arena_array(p->arena, n, sizeof *items);

        if (!items)
            return CQ_E_NO_MEMORY;
        for (size_t i = 0; i < n; i++)
            items[i] = p->open.items[first + i].value;
        v->u.items = items;
    }
    p->open.n = first;
    return CQ_OK;
}

static cq_status read_value(parser *p, cq_json *v)
{
    if (accept(p, '{'))
        return read_container(p, true, v);
    if (accept(p, '['))
        return read_container(p, false, v);
    if (accept(p, '"'))
        return read_text(p, v);
    return read_word(p, v) ? CQ_OK : read_number(p, v);
}

cq_status cq_json_parse(const cq_json **out, cq_arena *arena, const char *text, size_t len,
                        const char *where)
{
    parser p = {
        .arena = arena, .text = text, .at = text, .end = text + len, .where = where, .depth = 0
    };
    cq_json  *root = cq_arena_zalloc(arena, sizeof *root);
    cq_status status;

    *out = root;
    if (!root)
        return CQ_E_NO_MEMORY;
    if (len > CQ_JSON_MAX_SIZE)
        return cq_fail(CQ_E_UNSUPPORTED, where, NULL, "the JSON is larger than %zu MB",
                       CQ_JSON_MAX_SIZE >> 20);
    status = read_value(&p, root);
    skip_space(&p);
    if (status == CQ_OK && p.at < p.end)
        status = fail(&p, "unexpected text after the end");
    cq_vec_clear(&p.open);
    return status;
}

/* ---- access ---- */

const cq_json *cq_json_get(const cq_json *object, const char *key)
{
    if (object->kind != CQ_JSON_OBJECT)
        return &nothing;
    if (object->n > FEW_MEMBERS) {
        const uint32_t slot = *find_slot(object, key);

        return slot ? &object->u.members[slot - 1].value : &nothing;
    }
    for (size_t i = 0; i < object->n; i++)
        if (strcmp(object->u.members[i].key, key) == 0)
            return &object->u.members[i].value;
    return &nothing;
}

const cq_json *cq_json_at(const cq_json *list, size_t index)
{
    return list->kind == CQ_JSON_LIST && index < list->n ? &list->u.items[index] : &nothing;
}

size_t cq_json_length(const cq_json *list)
{
    return list->kind == CQ_JSON_LIST || list->kind == CQ_JSON_OBJECT ? list->n : 0;
}

const char *cq_json_text(const cq_json *v, const char *otherwise)
{
    return v->kind == CQ_JSON_TEXT ? v->u.text : otherwise;
}

int64_t cq_json_int(const cq_json *v, int64_t otherwise)
{
    return v->kind == CQ_JSON_INT ? v->u.i : otherwise;
}

bool cq_json_bool(const cq_json *v, bool otherwise)
{
    return v->kind == CQ_JSON_BOOL ? v->u.b : otherwise;
}

const cq_json_member *cq_json_union(const cq_json *object)
{
    for (size_t i = 0; object->kind == CQ_JSON_OBJECT && i < object->n; i++)
        if (object->u.members[i].value.kind != CQ_JSON_NULL)
            return &object->u.members[i];
    return NULL;
}
