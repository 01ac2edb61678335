/* The report of an export for programs: the contents of the error of report.c, and more, as
 * entries. */
#include "export/exporter.h"
#include "base/str.h"

enum { N_KINDS = CQ_REPORT_MODULES + 1 };

struct cq_export_report {
    CQ_VEC(cq_report_entry) entries[N_KINDS];
    cq_intern texts;
};

CQ_API cq_status cq_export_report_new(cq_export_report **out)
{
    CQ_NEED_OUT(out, true);
    *out = cq_zalloc(sizeof **out);
    return *out ? CQ_OK : CQ_E_NO_MEMORY;
}

CQ_API void cq_export_report_free(cq_export_report *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < N_KINDS; i++)
        cq_vec_clear(&r->entries[i]);
    cq_intern_clear(&r->texts);
    cq_free(r);
}

CQ_API size_t cq_export_report_count(const cq_export_report *r, cq_report_kind kind)
{
    CQ_NEED_ELSE(r, 0);
    return (size_t)kind < N_KINDS ? r->entries[kind].n : 0;
}

CQ_API const cq_report_entry *cq_export_report_at(const cq_export_report *r, cq_report_kind kind,
                                                  size_t index)
{
    CQ_NEED_ELSE(r, NULL);
    return index < cq_export_report_count(r, kind) ? &r->entries[kind].items[index] : NULL;
}

/* ---- filling it ---- */

static cq_status add(cq_export_report *r, cq_report_kind kind, cq_report_entry e)
{
    e.name       = cq_intern_text(&r->texts, e.name);
    e.where      = cq_intern_text(&r->texts, e.where ? e.where : "");
    e.reason     = cq_intern_text(&r->texts, e.reason ? e.reason : "");
    e.class_name = cq_intern_text(&r->texts, e.class_name ? e.class_name : "");
    e.result     = cq_intern_text(&r->texts, e.result ? e.result : "");
    if (!e.name || !e.where || !e.reason || !e.class_name || !e.result)
        return CQ_E_NO_MEMORY;
    return cq_vec_push(&r->entries[kind], e);
}

typedef struct counting {
    cq_export_report *report;
    cq_map            known; /* operator -> index + 1 of its entry */
} counting;

static cq_status count_node(cq_node *n, void *user)
{
    counting   *c    = user;
    const char *name = cq_starts_with(n->op, "onnx::") ? n->op + strlen("onnx::") : n->op;
    size_t      at   = (size_t)(uintptr_t)cq_map_get(&c->known, n->op);

    if (!at) {
        CQ_TRY(add(c->report, CQ_REPORT_OPERATORS,
                   (cq_report_entry){ .name = name, .where = n->origin ? n->origin->path : NULL }));
        at = cq_export_report_count(c->report, CQ_REPORT_OPERATORS);
        CQ_TRY(cq_map_set(&c->known, n->op, (void *)(uintptr_t)at));
    }
    c->report->entries[CQ_REPORT_OPERATORS].items[at - 1].count++;
    return CQ_OK;
}

static cq_status count_operators(cq_exporter *ex, cq_export_report *r)
{
    counting  c      = { .report = r };
    cq_status status = cq_ir_each_node(ex->graph->top, count_node, &c);

    for (size_t i = 0; i < ex->functions.n && status == CQ_OK; i++)
        status = cq_ir_each_node(ex->functions.items[i]->body, count_node, &c);
    cq_map_clear(&c.known);
    return status;
}

/* ---- modules ---- */

/* "float32 1x64x55x55", in the sizes of the example. */
static void describe_result(cq_str *s, const cq_type *type)
{
    if (type->kind != CQ_TYPE_TENSOR)
        return;
    cq_str_printf(s, "%s ", cq_dtype_name(type->dtype));
    for (int i = 0; i < type->rank; i++)
        cq_str_printf(s, "%s%lld", i ? "x" : "", (long long)type->sizes[i].value);
    if (!type->rank)
        cq_str_add(s, "scalar");
}

static cq_status add_module(cq_export_report *r, const cq_called *c, const cq_type *type)
{
    cq_str    result = { 0 };
    cq_status status;

    describe_result(&result, type);
    status = result.status == CQ_OK ? add(r, CQ_REPORT_MODULES,
                                          (cq_report_entry){ .name       = c->path,
                                                             .class_name = c->class_name,
                                                             .result     = cq_str_text(&result) })
                                    : result.status;
    cq_str_clear(&result);
    return status;
}

/* The result of the last node of each module whose return was not observed: a program of
 * torch.export does not mark the end of its modules. */
static cq_status last_results(cq_map *out, const cq_graph *source)
{
    for (const cq_node *n = source->top->first; n; n = n->next)
        for (const cq_origin *o = n->origin; o && n->n_outputs; o = o->parent)
            CQ_TRY(cq_map_set(out, o->path, &n->outputs[0]->type));
    return CQ_OK;
}

typedef struct flops {
    cq_export_report *report;
    cq_map            origins; /* name of a node -> cq_origin */
    cq_map            rows;    /* path of a module -> index + 1 */
} flops;

/* A node counts for all modules that it is in. */
static cq_status add_flops(void *user, const cq_onnx_node *node, double n)
{
    flops *f = user;

    if (!(n > 0) || n > 9e18 || !node->name)
        return CQ_OK;
    for (const cq_origin *o = cq_map_get(&f->origins, node->name); o; o = o->parent) {
        size_t at = (size_t)(uintptr_t)cq_map_get(&f->rows, o->path);

        if (at)
            f->report->entries[CQ_REPORT_MODULES].items[at - 1].flops += (int64_t)n;
    }
    return CQ_OK;
}

static cq_status record_modules(const cq_exporter *ex, cq_export_report *r, cq_onnx_model *model)
{
    flops     f      = { .report = r };
    cq_map    last   = { 0 };
    cq_status status = last_results(&last, ex->source);

    for (size_t i = 0; i < ex->source->called.n && status == CQ_OK; i++) {
        const cq_called *c    = &ex->source->called.items[i];
        const cq_type   *type = cq_map_get(&last, c->path);

        status = add_module(r, c, c->type.kind == CQ_TYPE_UNKNOWN && type ? type : &c->type);
        if (status == CQ_OK)
            status = cq_map_set(&f.rows, c->path, (void *)(uintptr_t)(i + 1));
    }
    for (const cq_node *n = ex->graph->top->first; n && status == CQ_OK; n = n->next)
        if (n->name && n->origin)
            status = cq_map_set(&f.origins, n->name, (void *)n->origin);
    if (status == CQ_OK && model)
        status = cq_onnx_each_flops(model, add_flops, &f);
    cq_map_clear(&f.origins);
    cq_map_clear(&f.rows);
    cq_map_clear(&last);
    return status;
}

cq_status cq_export_record(cq_exporter *ex, cq_onnx_model *model)
{
    cq_export_report *r = ex->options.report;

    if (!r)
        return CQ_OK;
    for (size_t i = 0; i < N_KINDS; i++)
        r->entries[i].n = 0;
    CQ_TRY(count_operators(ex, r));
    CQ_TRY(record_modules(ex, r, model));
    for (size_t i = 0; i < ex->missing.n; i++) {
        const cq_missing *m = &ex->missing.items[i];

        CQ_TRY(add(r, CQ_REPORT_MISSING,
                   (cq_report_entry){ .name   = m->op,
                                      .count  = (int64_t)m->count,
                                      .where  = m->source && m->source[0] ? m->source : m->path,
                                      .reason = m->reason,
                                      .opset  = m->first_opset }));
    }
    for (size_t i = 0; i < ex->source->baked.n; i++) {
        const cq_baked *b = &ex->source->baked.items[i];

        CQ_TRY(add(r, CQ_REPORT_BAKED,
                   (cq_report_entry){ .name = b->what, .value = b->value, .where = b->where }));
    }
    return CQ_OK;
}
