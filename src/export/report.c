/* Reports all operators that could not be exported in one error, with locations and remedies. */
#include "export/exporter.h"
#include "base/str.h"
#include "script/script.h"

static const char *text_or(cq_graph *g, const char *text)
{
    return text ? cq_ir_text(g, text) : NULL;
}

static bool is_in_branch(const cq_node *n)
{
    for (const cq_block *b = n->block; b && b->owner; b = b->owner->block)
        if (strcmp(b->owner->op, "prim::If") == 0)
            return true;
    return false;
}

cq_status cq_export_note_missing(cq_exporter *ex, const cq_node *n, const char *reason,
                                 int first_opset)
{
    size_t      at = (size_t)(uintptr_t)cq_map_get(&ex->missing_by_name, n->op);
    char        location[CQ_LOCATION_SIZE];
    cq_missing *m;

    if (!at) {
        cq_missing fresh = { .op         = cq_ir_text(ex->graph, n->op),
                             .path       = n->origin ? n->origin->path : NULL,
                             .class_name = n->origin ? n->origin->class_name : NULL,
                             .source =
                                 cq_ir_text(ex->graph, cq_location_text(n->location, location)),
                             .reason      = text_or(ex->graph, reason),
                             .first_opset = first_opset,
                             .is_unknown  = cq_export_is_unknown(n),
                             .in_branch   = is_in_branch(n) };

        CQ_TRY(cq_vec_push(&ex->missing, fresh));
        at = ex->missing.n;
        CQ_TRY(cq_map_set(&ex->missing_by_name, n->op, (void *)(uintptr_t)at));
    }
    m = &ex->missing.items[at - 1];
    m->count++;
    return CQ_OK;
}

static void describe(cq_str *s, const cq_missing *m)
{
    cq_str_printf(s, "\n  %s (%zu time%s)", m->op, m->count, m->count == 1 ? "" : "s");
    if (m->path && m->path[0])
        cq_str_printf(s, ", first in %s (%s)", m->path, m->class_name);
    if (m->source && m->source[0])
        cq_str_printf(s, ", %s", m->source);
    if (m->reason)
        cq_str_printf(s, ": %s", m->reason);
    if (m->first_opset)
        cq_str_printf(s, "; opset %d can", m->first_opset);
}

cq_status cq_export_report_missing(const cq_exporter *ex)
{
    cq_str      s       = { 0 };
    int         newest  = 0;
    bool        unknown = false, in_branch = false;
    const char *maker = NULL;
    cq_status   status;

    for (size_t i = 0; i < ex->missing.n; i++) {
        describe(&s, &ex->missing.items[i]);
        if (ex->missing.items[i].first_opset > newest)
            newest = ex->missing.items[i].first_opset;
        unknown |= ex->missing.items[i].is_unknown;
        in_branch |= ex->missing.items[i].in_branch;
        if (!maker && ex->missing.items[i].is_unknown)
            maker = cq_foreign_maker_hint(ex->missing.items[i].op);
    }
    status = cq_fail(
        CQ_E_UNSUPPORTED, NULL,
        maker       ? maker
        : in_branch ? "where a branch is not needed, make the argument that selects it a "
                      "part of the program (--constant NAME=VALUE) or let the example "
                      "decide (--trace); otherwise define them by other operators "
                      "(--define), write a symbolic function (--symbolics), or keep them with "
                      "--operator-export-type "
                      "onnx_fallthrough"
        : unknown   ? "define them by other operators (--define FILE.py with def "
                      "domain__name(x): …), write a symbolic function (--symbolics), or keep them "
                      "with --operator-export-type "
                      "onnx_fallthrough"
        : newest
            ? "try a newer opset, write a symbolic function (--symbolics), or keep the operators "
              "with --operator-export-type onnx_aten_fallback"
            : "write a symbolic function (--symbolics), or keep them with "
              "--operator-export-type onnx_aten_fallback",
        "%zu operator%s cannot be exported to opset %d:%s", ex->missing.n,
        ex->missing.n == 1 ? "" : "s", ex->options.opset, cq_str_text(&s));
    cq_str_clear(&s);
    return status;
}
