/* numpy's .npy files, versions 1 to 3. A header that is a Python dictionary has dtype, order and
 * shape; the elements follow. Data that is aligned and in native byte order is mapped, in C or
 * Fortran order; other data is copied. bfloat16, which numpy lacks, is written as two bytes of
 * void, "<V2". */
#include "base/str.h"
#include "tensor/tensor.h"

#include <inttypes.h>

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define NATIVE '<'
#else
#define NATIVE '>'
#endif

static const char magic[] = "\x93NUMPY";
enum { MAGIC_SIZE = 6, ALIGNMENT = 64, HEADER_LIMIT = 1 << 16 };

static const struct {
    char     name[4];
    cq_dtype dtype;
} descrs[] = {
    { "b1", CQ_DTYPE_BOOL }, { "u1", CQ_DTYPE_U8 },    { "i1", CQ_DTYPE_I8 },
    { "u2", CQ_DTYPE_U16 },  { "i2", CQ_DTYPE_I16 },   { "u4", CQ_DTYPE_U32 },
    { "i4", CQ_DTYPE_I32 },  { "u8", CQ_DTYPE_U64 },   { "i8", CQ_DTYPE_I64 },
    { "f2", CQ_DTYPE_F16 },  { "f4", CQ_DTYPE_F32 },   { "f8", CQ_DTYPE_F64 },
    { "c8", CQ_DTYPE_C64 },  { "c16", CQ_DTYPE_C128 }, { "V2", CQ_DTYPE_BF16 },
};

typedef struct header {
    cq_dtype dtype;
    bool     swapped, fortran;
    size_t   rank;
    int64_t  sizes[CQ_MAX_RANK];
    size_t   data; /* where the elements begin */
} header;

/* ---- the header ---- */

typedef struct parser {
    const char *path, *at, *end;
} parser;

static cq_status bad(const parser *p, const char *why)
{
    return cq_fail(CQ_E_FORMAT, p->path, NULL, "this is not a .npy file: %s", why);
}

static void skip_spaces(parser *p)
{
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\n' || *p->at == '\t'))
        p->at++;
}

static bool accept(parser *p, const char *text)
{
    size_t len = strlen(text);

    skip_spaces(p);
    if ((size_t)(p->end - p->at) < len || memcmp(p->at, text, len) != 0)
        return false;
    p->at += len;
    return true;
}

/* A Python string without escapes. */
static cq_status parse_string(parser *p, const char **text, size_t *len)
{
    const char *close;

    skip_spaces(p);
    if (p->at >= p->end || (*p->at != '\'' && *p->at != '"'))
        return bad(p, "a string was expected in the header");
    close = memchr(p->at + 1, *p->at, (size_t)(p->end - p->at - 1));
    if (!close || memchr(p->at, '\\', (size_t)(close - p->at)))
        return bad(p, "a string in the header does not end");
    *text = p->at + 1;
    *len  = (size_t)(close - *text);
    p->at = close + 1;
    return CQ_OK;
}

static cq_status parse_descr(parser *p, header *h)
{
    const char *text;
    size_t      len;

    CQ_TRY(parse_string(p, &text, &len));
    h->dtype = CQ_DTYPE_NONE;
    for (size_t i = 0; len > 1 && i < sizeof descrs / sizeof *descrs; i++)
        if (strlen(descrs[i].name) == len - 1 && !memcmp(descrs[i].name, text + 1, len - 1))
            h->dtype = descrs[i].dtype;
    if (h->dtype == CQ_DTYPE_NONE || !memchr("<>|=", text[0], 4))
        return cq_fail(CQ_E_UNSUPPORTED, p->path,
                       "convert it with numpy's astype to one of the plain number types",
                       "unsupported dtype '%.*s'", (int)(len < 40 ? len : 40), text);
    h->swapped = (text[0] == '<' || text[0] == '>') && text[0] != NATIVE;
    return CQ_OK;
}

static cq_status parse_size(parser *p, int64_t *size)
{
    *size = 0;
    skip_spaces(p);
    if (p->at >= p->end || *p->at < '0' || *p->at > '9')
        return bad(p, "a size was expected in the header");
    for (; p->at < p->end && *p->at >= '0' && *p->at <= '9'; p->at++)
        if (__builtin_mul_overflow(*size, 10, size) ||
            __builtin_add_overflow(*size, *p->at - '0', size))
            return bad(p, "a size in the header is too large");
    accept(p, "L"); /* Python 2 wrote long integers so */
    return CQ_OK;
}

static cq_status parse_shape(parser *p, header *h)
{
    bool more = true;

    if (!accept(p, "("))
        return bad(p, "the shape is not a tuple");
    h->rank = 0;
    while (!accept(p, ")")) {
        if (!more || h->rank == CQ_MAX_RANK)
            return bad(p,
                       more ? "there are too many dimensions" : "a comma is missing in the shape");
        CQ_TRY(parse_size(p, &h->sizes[h->rank]));
        h->rank++;
        more = accept(p, ",");
    }
    return CQ_OK;
}

static cq_status parse_order(parser *p, header *h)
{
    h->fortran = accept(p, "True");
    return h->fortran || accept(p, "False") ? CQ_OK : bad(p, "fortran_order is not a bool");
}

/* Three entries in any order, each once. */
static cq_status parse_dictionary(parser *p, header *h)
{
    static const struct {
        const char *key;
        cq_status (*parse)(parser *p, header *h);
    } entries[]   = { { "descr", parse_descr },
                      { "fortran_order", parse_order },
                      { "shape", parse_shape } };
    unsigned seen = 0;
    bool     more = true;

    if (!accept(p, "{"))
        return bad(p, "the header is not a dictionary");
    while (!accept(p, "}")) {
        const char *key;
        size_t      len, i = 0;

        if (!more)
            return bad(p, "a comma is missing in the header");
        CQ_TRY(parse_string(p, &key, &len));
        while (i < 3 && (strlen(entries[i].key) != len || memcmp(entries[i].key, key, len) != 0))
            i++;
        if (i == 3 || seen >> i & 1 || !accept(p, ":"))
            return bad(p, "the header has an entry that does not belong there");
        seen |= 1u << i;
        CQ_TRY(entries[i].parse(p, h));
        more = accept(p, ",");
    }
    skip_spaces(p);
    if (seen != 7 || p->at != p->end)
        return bad(p, seen != 7 ? "the header lacks an entry" : "text follows the header");
    return CQ_OK;
}

static cq_status parse_header(header *h, const cq_mapping *m)
{
    const unsigned char *bytes = cq_mapping_data(m);
    size_t               size  = cq_mapping_size(m), len, start;
    parser               p     = { .path = cq_mapping_path(m) };

    if (size < MAGIC_SIZE + 4 || memcmp(bytes, magic, MAGIC_SIZE) != 0)
        return bad(&p, "it does not begin like one");
    if (bytes[6] < 1 || bytes[6] > 3 || bytes[7] != 0)
        return cq_fail(CQ_E_UNSUPPORTED, p.path, NULL, "version %d.%d of .npy is not known",
                       bytes[6], bytes[7]);
    start = bytes[6] == 1 ? 10 : 12;
    if (size < start)
        return bad(&p, "it ends in its header");
    len = bytes[8] | (size_t)bytes[9] << 8;
    if (bytes[6] > 1)
        len |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
    if (len > size - start || len > HEADER_LIMIT)
        return bad(&p, "it ends in its header");
    p.at    = (const char *)bytes + start;
    p.end   = p.at + len;
    h->data = start + len;
    return parse_dictionary(&p, h);
}

/* ---- the data ---- */

static cq_status check_size(const header *h, const cq_mapping *m, size_t *bytes)
{
    size_t n = cq_dtype_size(h->dtype), left = cq_mapping_size(m) - h->data;
    bool   overflow = false, empty = false;

    for (size_t i = 0; i < h->rank; i++) {
        empty |= h->sizes[i] == 0;
        overflow |= h->sizes[i] != 0 && __builtin_mul_overflow(n, (uint64_t)h->sizes[i], &n);
    }
    *bytes = empty ? 0 : n;
    if (overflow && !empty)
        return cq_fail(CQ_E_FORMAT, cq_mapping_path(m), NULL, "the shape is too large");
    if (*bytes > left)
        return cq_fail(CQ_E_FORMAT, cq_mapping_path(m),
                       "the file is cut short; copy or download it again",
                       "the elements need %zu bytes but %zu are left", *bytes, left);
    return CQ_OK;
}

/* Whether the bytes can be used as they lie. A bool must be 0 or 1. */
static bool can_map(const header *h, const unsigned char *data, size_t bytes)
{
    if (h->swapped || h->data % cq_dtype_size(h->dtype) != 0)
        return false;
    for (size_t i = 0; h->dtype == CQ_DTYPE_BOOL && i < bytes; i++)
        if (data[i] > 1)
            return false;
    return true;
}

/* Copies elements, the bytes of each number turned around if need be. */
static void copy_data(unsigned char *to, const unsigned char *from, const header *h, size_t bytes)
{
    bool   is_pair = cq_dtype_is_complex(h->dtype);
    size_t size    = cq_dtype_size(h->dtype) / (is_pair ? 2 : 1);

    for (size_t i = 0; i < bytes; i += size)
        for (size_t k = 0; k < size; k++)
            to[i + k] = from[i + (h->swapped ? size - 1 - k : k)];
    for (size_t i = 0; h->dtype == CQ_DTYPE_BOOL && i < bytes; i++)
        to[i] = to[i] != 0;
}

static cq_status make_storage(cq_storage **out, const header *h, cq_mapping *m, size_t bytes)
{
    const unsigned char *data = (const unsigned char *)cq_mapping_data(m) + h->data;

    if (can_map(h, data, bytes))
        return cq_storage_map(out, m, h->data, bytes);
    CQ_TRY(cq_storage_new(out, bytes));
    copy_data((*out)->data, data, h, bytes);
    return CQ_OK;
}

static void order_strides(int64_t *strides, const header *h)
{
    int64_t stride = 1;

    for (size_t k = 0; k < h->rank; k++) {
        size_t i = h->fortran ? k : h->rank - 1 - k;

        strides[i] = stride;
        stride *= h->sizes[i] > 1 ? h->sizes[i] : 1;
    }
}

CQ_API cq_status cq_tensor_load_npy(cq_tensor **out, const char *path)
{
    CQ_NEED_OUT(out, path);
    cq_mapping *m;
    cq_storage *storage = NULL;
    cq_status   status;
    header      h;
    size_t      bytes;
    int64_t     strides[CQ_MAX_RANK];

    *out = NULL;
    CQ_TRY(cq_mapping_open(&m, path));
    CQ_TRY_OR_DONE(parse_header(&h, m));
    CQ_TRY_OR_DONE(check_size(&h, m, &bytes));
    if (!bytes)
        status = cq_tensor_new(out, h.dtype, h.rank, h.sizes, NULL);
    else {
        CQ_TRY_OR_DONE(make_storage(&storage, &h, m, bytes));
        order_strides(strides, &h);
        CQ_TRY_OR_DONE(cq_tensor_new_on(out, storage, h.dtype, h.rank, h.sizes, strides, 0));
    }
done:
    cq_storage_release(storage);
    cq_mapping_release(m);
    return status;
}

/* ---- writing ---- */

static const char *descr_of(cq_dtype dtype)
{
    for (size_t i = 0; i < sizeof descrs / sizeof *descrs; i++)
        if (descrs[i].dtype == dtype)
            return descrs[i].name;
    return NULL;
}

static void add_header(cq_str *s, const cq_tensor *t)
{
    size_t size = cq_dtype_size(t->dtype);

    cq_str_printf(s, "{'descr': '%c%s', 'fortran_order': False, 'shape': (",
                  size == 1 ? '|' : NATIVE, descr_of(t->dtype));
    for (uint32_t i = 0; i < t->rank; i++)
        cq_str_printf(s, "%s%" PRId64 "%s", i ? " " : "", t->sizes[i].value,
                      i + 1 < t->rank || t->rank == 1 ? "," : "");
    cq_str_add(s, "), }");
}

CQ_API cq_status cq_tensor_save_npy(const cq_tensor *t, const char *path)
{
    CQ_NEED(t && path);
    cq_tensor    *dense = NULL;
    cq_out       *out   = NULL;
    cq_str        text  = { 0 };
    unsigned char start[MAGIC_SIZE + 4];
    cq_status     status;

    if (cq_tensor_is_fake(t))
        return cq_fail(CQ_E_ARGUMENT, path, NULL, "a tensor without data cannot be saved");
    if (!descr_of(t->dtype))
        return cq_fail(CQ_E_UNSUPPORTED, path, "save it as .pb", "numpy has no type %s",
                       cq_dtype_name(t->dtype));
    CQ_TRY_OR_DONE(cq_tensor_contiguous(&dense, t));
    add_header(&text, t);
    while (text.status == CQ_OK && (text.len + sizeof start + 1) % ALIGNMENT != 0)
        cq_str_add_char(&text, ' ');
    cq_str_add_char(&text, '\n');
    CQ_TRY_OR_DONE(text.status);
    memcpy(start, magic, MAGIC_SIZE);
    start[6] = 1; /* version 1.0: 64 sizes are far below its limit of 65535 bytes */
    start[7] = 0;
    start[8] = (unsigned char)(text.len & 255);
    start[9] = (unsigned char)(text.len >> 8);
    CQ_TRY_OR_DONE(cq_out_open(&out, path));
    cq_out_write(out, start, sizeof start);
    cq_out_write(out, text.text, text.len);
    cq_out_write(out, cq_tensor_data(dense),
                 (size_t)cq_tensor_numel(dense) * cq_dtype_size(dense->dtype));
    status = cq_out_commit(out);
done:
    cq_str_clear(&text);
    cq_tensor_release(dense);
    return status;
}
