/* Models in protobuf's text format (.textproto), and files whose format is determined by their
 * names. print_fields.c and parse_fields.c handle fields; this file handles whole messages, one
 * field per line. */
#include "onnx/text/text.h"

#include "base/file.h"
#include "base/path.h"
#include "onnx/file/external.h"
#include "onnx/file/wire.h"

#include <string.h>

/* ---- writing ---- */

typedef struct proto_writer {
    cq_out *out;
    cq_str  line;
    int     depth;
} proto_writer;

static void put_line(proto_writer *w)
{
    for (int i = 0; i < 2 * w->depth; i++)
        cq_out_write(w->out, " ", 1);
    if (w->line.status == CQ_OK)
        cq_out_write(w->out, cq_str_text(&w->line), w->line.len);
    cq_out_write(w->out, "\n", 1);
    w->line.len = 0;
}

static cq_status put_message(proto_writer *w, const cq_onnx_message *message, const void *from);

/* Appends a message between braces, or a value on the line of its name. */
static cq_status put_field(proto_writer *w, const cq_onnx_field *field, const void *from)
{
    const char      *at   = (const char *)from + field->offset;
    size_t           size = cq_onnx_kind_size(field->kind);
    cq_onnx_any_list list = { (void *)at, 1, 0 };
    const void      *inner;

    if (field->repeated)
        memcpy(&list, at, sizeof list);
    for (uint32_t i = 0; i < list.n; i++) {
        const char *item = (const char *)list.items + i * size;

        cq_str_add(&w->line, field->name);
        if (field->kind != CQ_ONNX_KIND_MESSAGE) {
            cq_str_add(&w->line, ": ");
            cq_text_add_value(&w->line, field, from, item);
            put_line(w);
            continue;
        }
        cq_str_add(&w->line, " {");
        put_line(w);
        w->depth++;
        memcpy(&inner, item, sizeof inner);
        CQ_TRY(put_message(w, field->message, inner));
        w->depth--;
        cq_str_add(&w->line, "}");
        put_line(w);
    }
    return w->line.status;
}

static cq_status put_message(proto_writer *w, const cq_onnx_message *message, const void *from)
{
    if (w->depth > CQ_ONNX_MAX_DEPTH)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "messages are nested more than %d deep",
                       CQ_ONNX_MAX_DEPTH);
    for (uint32_t i = 1; i < message->n_fields; i++)
        if (cq_text_has(message, from, i))
            CQ_TRY(put_field(w, &message->fields[i], from));
    return CQ_OK;
}

CQ_API cq_status cq_onnx_model_save_textproto(const cq_onnx_model *m, const char *path)
{
    CQ_NEED(m && path);
    proto_writer w = { 0 };
    cq_status    status;

    CQ_TRY(m->status);
    CQ_TRY(cq_out_open(&w.out, path));
    status = put_message(&w, &cq_onnx_model_message, m);
    cq_str_clear(&w.line);
    if (status == CQ_OK)
        return cq_out_commit(w.out);
    cq_out_abandon(w.out);
    return status;
}

/* ---- reading ---- */

static cq_status parse(cq_onnx_model **out, const cq_mapping *file, const char *path)
{
    const char    *text = cq_mapping_data(file) ? cq_mapping_data(file) : "";
    const size_t   size = cq_mapping_size(file);
    cq_text_parser p    = { .source = { .file = path, .text = text, .len = size },
                            .at     = text,
                            .end    = text + size };
    cq_status      status;

    if (size >= UINT32_MAX)
        return cq_fail(CQ_E_UNSUPPORTED, path, NULL, "a text of %zu bytes is too long", size);
    CQ_TRY(cq_onnx_model_new(&p.m, NULL));
    status = cq_text_parse_fields(&p, &cq_onnx_model_message, p.m);
    if (status == CQ_OK)
        status = p.m->status;
    if (status == CQ_OK)
        status = cq_onnx_files_new(&p.m->files, path);
    cq_str_clear(&p.scratch);
    if (status == CQ_OK)
        *out = p.m;
    else
        cq_onnx_model_free(p.m);
    return status;
}

CQ_API cq_status cq_onnx_model_load_textproto(cq_onnx_model **out, const char *path)
{
    CQ_NEED_OUT(out, path);
    cq_mapping *file;
    cq_status   status;

    *out = NULL;
    CQ_TRY(cq_mapping_open(&file, path));
    status = parse(out, file, path);
    cq_mapping_release(file);
    return status;
}

/* ---- by name ---- */

CQ_API cq_onnx_form cq_onnx_form_of(const char *path)
{
    static const struct {
        const char  *end;
        cq_onnx_form form;
    } ends[] = { { ".onnxtxt", CQ_ONNX_FORM_TEXT },
                 { ".txt", CQ_ONNX_FORM_TEXT },
                 { ".textproto", CQ_ONNX_FORM_PROTO },
                 { ".pbtxt", CQ_ONNX_FORM_PROTO },
                 { ".prototxt", CQ_ONNX_FORM_PROTO } };

    CQ_NEED_ELSE(path, CQ_ONNX_FORM_BINARY);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (cq_ends_with(path, ends[i].end))
            return ends[i].form;
    return CQ_ONNX_FORM_BINARY;
}

CQ_API cq_status cq_onnx_model_load_as(cq_onnx_model **out, const char *path, cq_onnx_form form)
{
    CQ_NEED_OUT(out, path);
    if (form == CQ_ONNX_FORM_TEXT)
        return cq_onnx_model_load_text(out, path);
    return form == CQ_ONNX_FORM_PROTO ? cq_onnx_model_load_textproto(out, path)
                                      : cq_onnx_model_load(out, path);
}

CQ_API cq_status cq_onnx_model_save_as(const cq_onnx_model *m, const char *path, cq_onnx_form form,
                                       const cq_onnx_save_options *opts)
{
    CQ_NEED(m && path);
    if (form == CQ_ONNX_FORM_TEXT)
        return cq_onnx_model_save_text(m, path);
    return form == CQ_ONNX_FORM_PROTO ? cq_onnx_model_save_textproto(m, path)
                                      : cq_onnx_model_save(m, path, opts);
}
