/* Implements <calque/view.h>: calls the steps of a view in order. */
#include "view/view.h"

#include "base/file.h"
#include "base/sized.h"

cq_status cq_view_read(cq_view *v, cq_onnx_model *model, const char *title)
{
    *v = (cq_view){ .model = model, .seconds = -1, .arena = cq_arena_new() };
    if (!v->arena)
        return CQ_E_NO_MEMORY;
    CQ_TRY(cq_onnx_need_graph(model));
    v->title = cq_arena_strdup(v->arena, title                ? title
                                         : model->graph->name ? model->graph->name
                                                              : "model");
    if (!v->title)
        return CQ_E_NO_MEMORY;
    CQ_TRY(cq_onnx_model_infer(model, 0));
    return cq_view_collect(v);
}

static cq_status add_overlays(cq_view *v, cq_view *other, const cq_view_options *o)
{
    if (!cq_view_is_checkpoint(v->model))
        CQ_TRY(cq_view_add_findings(v));
    if (o->report)
        CQ_TRY(cq_view_add_report(v, o->report));
    if (o->profile || o->trace)
        CQ_TRY(cq_view_add_profile(v, o, NULL, NULL));
    return o->other ? cq_view_compare(v, other) : CQ_OK;
}

/* Sizes are fixed last, because the comparison runs the models with their original sizes. */
static cq_status finish(cq_view *v, const cq_view_options *o)
{
    CQ_TRY(cq_view_weigh(v));
    CQ_TRY(cq_view_count(v, o));
    return cq_view_build(v);
}

static const cq_view_file *file_of(const char *name)
{
    const cq_view_file *f = cq_view_files;

    while (strcmp(f->name, name) != 0)
        f++;
    return f;
}

static void add_html_text(cq_str *s, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '<': cq_str_add(s, "&lt;"); break;
        case '&': cq_str_add(s, "&amp;"); break;
        default: cq_str_add_char(s, *text);
        }
}

/* Replaces each {{NAME}} in the template by its part. */
static void add_page(cq_str *s, const cq_view *v, const cq_str *document)
{
    const cq_view_file *shell = file_of("view.html");
    const char         *at    = shell->text, *mark;

    for (; (mark = strstr(at, "{{")); at = strstr(mark, "}}") + 2) {
        cq_str_add_n(s, at, (size_t)(mark - at));
        if (cq_starts_with(mark, "{{title}}"))
            add_html_text(s, v->title);
        else if (cq_starts_with(mark, "{{style}}"))
            cq_str_add(s, file_of("view.css")->text);
        else if (cq_starts_with(mark, "{{script}}"))
            cq_str_add(s, file_of("view.js")->text);
        else
            cq_str_add(s, cq_str_text(document));
    }
    cq_str_add(s, at);
}

static cq_status draw(cq_str *s, const cq_view *v, const cq_view *other, cq_view_format format)
{
    cq_str    document = { 0 };
    cq_status status;

    if (format == CQ_VIEW_SVG)
        return cq_view_write_svg(s, v);
    if (format == CQ_VIEW_JSON)
        return cq_view_write(s, v, other);
    status = cq_view_write(&document, v, other);
    if (status == CQ_OK)
        add_page(s, v, &document);
    cq_str_clear(&document);
    return status == CQ_OK ? s->status : status;
}

CQ_API void cq_view_options_init(cq_view_options *o)
{
    CQ_NEED_ELSE(o, );
    *o = (cq_view_options){ .struct_size = sizeof *o };
}

CQ_API cq_status cq_onnx_model_view(char **text, size_t *size, cq_onnx_model *model,
                                    cq_view_format format, const cq_view_options *options)
{
    CQ_NEED_OUT(text, size && model && format >= CQ_VIEW_HTML && format <= CQ_VIEW_SVG);
    cq_view_options o;
    cq_view         v = { 0 }, other = { 0 };
    cq_str          s = { 0 };
    cq_status       status;

    *text = NULL;
    cq_view_options_init(&o);
    CQ_TRY(cq_sized_take(&o, options, "cq_view_options"));
    status = cq_view_read(&v, model, o.title);
    if (status == CQ_OK && o.other)
        status = cq_view_read(&other, o.other, o.other_title);
    if (status == CQ_OK)
        status = add_overlays(&v, &other, &o);
    if (status == CQ_OK)
        status = finish(&v, &o);
    if (status == CQ_OK && o.other)
        status = finish(&other, NULL);
    if (status == CQ_OK)
        status = draw(&s, &v, o.other ? &other : NULL, format);
    cq_view_clear(&v);
    cq_view_clear(&other);
    if (status == CQ_OK)
        status = s.status;
    *size = s.len;
    if (status == CQ_OK)
        *text = cq_str_take(&s);
    cq_str_clear(&s);
    return status;
}

CQ_API cq_status cq_onnx_model_view_file(const char *path, cq_onnx_model *model,
                                         cq_view_format format, const cq_view_options *options)
{
    CQ_NEED(path && model);
    char     *text = NULL;
    size_t    size;
    cq_status status = cq_onnx_model_view(&text, &size, model, format, options);

    if (status == CQ_OK)
        status = cq_file_write(path, text, size);
    cq_buffer_free(text);
    return status;
}
