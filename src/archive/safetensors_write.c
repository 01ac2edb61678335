/* Writes weights as a file of safetensors: the tensors alone, without anything that could run.
 * Names are in file order; data is streamed from the mapped source. safetensors.c reads such files.
 */
#include "archive/safetensors.h"
#include "archive/weights.h"
#include "base/file.h"
#include "base/str.h"
#include "tensor/dtype.h"

#include <inttypes.h>
#include <string.h>

enum { PREFIX = 8, AT_ONCE = 1 << 20 };

static void add_name(cq_str *s, const char *name)
{
    cq_str_add_char(s, '"');
    for (const char *c = name; *c; c++) {
        if (*c == '"' || *c == '\\')
            cq_str_printf(s, "\\%c", *c);
        else if ((unsigned char)*c < 0x20)
            cq_str_printf(s, "\\u%04x", (unsigned char)*c);
        else
            cq_str_add_char(s, *c);
    }
    cq_str_add_char(s, '"');
}

static uint64_t size_of(const cq_tensor *t)
{
    return (uint64_t)cq_tensor_numel(t) * cq_dtype_size(t->dtype);
}

static cq_status add_entry(cq_str *s, const char *name, const cq_tensor *t, uint64_t *offset)
{
    const char *dtype = cq_safetensors_dtype_name(t->dtype);

    if (!dtype)
        return cq_fail(CQ_E_UNSUPPORTED, name, NULL, "safetensors has no type %s",
                       cq_dtype_name(t->dtype));
    cq_str_add_char(s, s->len > 1 ? ',' : ' ');
    add_name(s, name);
    cq_str_printf(s, ":{\"dtype\":\"%s\",\"shape\":[", dtype);
    for (size_t i = 0; i < t->rank; i++)
        cq_str_printf(s, "%s%" PRId64, i ? "," : "", cq_tensor_size(t, i));
    cq_str_printf(s, "],\"data_offsets\":[%" PRIu64 ",%" PRIu64 "]}", *offset,
                  *offset + size_of(t));
    *offset += size_of(t);
    return s->status;
}

/* Quantized and sparse tensors have no form in the file. Tensors of one storage are written one
 * after another, so a small file can ask for any number of bytes. */
static cq_status write_header(cq_str *s, const cq_weights *w, const char *path)
{
    uint64_t offset = 0;

    cq_str_add_char(s, '{');
    for (size_t i = 0; i < cq_weights_count(w); i++) {
        const cq_tensor *t = cq_weights_tensor(w, i);

        if (!t || cq_tensor_is_fake(t))
            return cq_fail(CQ_E_UNSUPPORTED, cq_weights_name(w, i), NULL,
                           "tensor %s is quantized, sparse or without data", cq_weights_name(w, i));
        CQ_TRY(cq_out_allow(size_of(t) < UINT64_MAX - offset ? offset + size_of(t) : UINT64_MAX,
                            path));
        CQ_TRY(add_entry(s, cq_weights_name(w, i), t, &offset));
    }
    cq_str_add_char(s, '}');
    while (s->status == CQ_OK && s->len % PREFIX)
        cq_str_add_char(s, ' ');
    return s->status;
}

static cq_status write_tensor(cq_out *out, const cq_tensor *t)
{
    cq_tensor *dense = NULL;
    uint64_t   size  = size_of(t);

    CQ_TRY(cq_tensor_contiguous(&dense, t));
    for (uint64_t done = 0; done < size; done += AT_ONCE)
        cq_out_write(out, (const char *)cq_tensor_data(dense) + done,
                     size - done < AT_ONCE ? (size_t)(size - done) : AT_ONCE);
    cq_tensor_release(dense);
    return CQ_OK;
}

CQ_API cq_status cq_weights_save(const cq_weights *w, const char *path)
{
    CQ_NEED(w && path);
    unsigned char start[PREFIX];
    cq_str        header = { 0 };
    cq_out       *out    = NULL;
    cq_status     status;

    CQ_TRY_OR_DONE(write_header(&header, w, path));
    for (size_t i = 0; i < PREFIX; i++)
        start[i] = (unsigned char)((uint64_t)header.len >> 8 * i);
    CQ_TRY_OR_DONE(cq_out_open(&out, path));
    cq_out_write(out, start, sizeof start);
    cq_out_write(out, header.text, header.len);
    for (size_t i = 0; i < cq_weights_count(w); i++)
        CQ_TRY_OR_DONE(write_tensor(out, cq_weights_tensor(w, i)));
    status = cq_out_commit(out);
    out    = NULL;
done:
    cq_out_abandon(out);
    cq_str_clear(&header);
    return status;
}
