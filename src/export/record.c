/* The report of an export, for programs: what report.c says in the words of an error, and more, as
 * entries. */
#include "export/exporter.h"
#include "base/str.h"

enum { N_KINDS = CQ_REPORT_BAKED + 1 };

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
    e.name  = cq_intern_text(&r->texts, e.name);
    e.where = cq_intern_text(&r->texts, e.where ? e.where : "");
    e.why   = cq_intern_text(&r->texts, e.why ? e.why : "");
    if (!e.name || !e.where || !e.why)
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

cq_status cq_export_record(cq_exporter *ex)
{
    cq_export_report *r = ex->options.report;

    if (!r)
        return CQ_OK;
    for (size_t i = 0; i < N_KINDS; i++)
        r->entries[i].n = 0;
    CQ_TRY(count_operators(ex, r));
    for (size_t i = 0; i < ex->missing.n; i++) {
        const cq_missing *m = &ex->missing.items[i];

        CQ_TRY(add(r, CQ_REPORT_MISSING,
                   (cq_report_entry){ .name  = m->op,
                                      .count = (int64_t)m->count,
                                      .where = m->source && m->source[0] ? m->source : m->path,
                                      .why   = m->reason,
                                      .opset = m->first_opset }));
    }
    for (size_t i = 0; i < ex->source->baked.n; i++) {
        const cq_baked *b = &ex->source->baked.items[i];

        CQ_TRY(add(r, CQ_REPORT_BAKED,
                   (cq_report_entry){ .name = b->what, .count = b->value, .where = b->where }));
    }
    return CQ_OK;
}
