/* Adds information from other sources to the nodes: findings of the checker, a profile, the report
 * of an export or a quantization. */
#include "view/view.h"

#include "base/file.h"
#include "base/json_tree.h"
#include "runtime/profile.h"

#include <math.h>
#include <stdlib.h>

static cq_view_op *op_of(cq_view *v, const char *name, size_t len)
{
    const void *found = cq_map_get_n(&v->by_name, name, len);

    return found ? &v->ops.items[(uintptr_t)found - 1] : NULL;
}

static cq_status note(cq_view *v, cq_view_op *op, const char *text)
{
    if (!text)
        return CQ_E_NO_MEMORY;
    return op ? cq_vec_push(&op->notes, text) : cq_vec_push(&v->notes, text);
}

/* ---- the checker ---- */

cq_status cq_view_add_findings(cq_view *v)
{
    cq_onnx_findings *findings = NULL;
    cq_status         status   = cq_onnx_model_check(&findings, v->model);

    if (status != CQ_OK)
        return status == CQ_E_NO_MEMORY ? status : CQ_OK;
    for (size_t i = 0; i < cq_onnx_findings_count(findings) && status == CQ_OK; i++) {
        const cq_onnx_finding *f = cq_onnx_findings_at(findings, i);

        status = note(v, cq_view_op_at(v, f->where), cq_view_finding_text(v, f));
    }
    cq_onnx_findings_free(findings);
    return status;
}

/* ---- files ---- */

static cq_status read_json(const cq_json **out, cq_arena *arena, const char *path)
{
    char     *text = NULL;
    size_t    size;
    cq_status status = cq_file_read(&text, &size, path);

    if (status == CQ_OK && size > CQ_JSON_MAX_SIZE)
        status = cq_fail(CQ_E_FORMAT, cq_in_file(path, NULL), NULL, "the file is too large");
    if (status == CQ_OK)
        status = cq_json_parse(out, arena, text, size, path);
    cq_free(text);
    return status;
}

static double number_of(const cq_json *j)
{
    return j->kind == CQ_JSON_INT ? (double)j->u.i : j->kind == CQ_JSON_FLOAT ? j->u.f : 0;
}

/* ---- profiles ---- */

/* ONNX Runtime calls a node's event "/conv1/Conv_kernel_time". */
static size_t length_of_name(const char *name)
{
    static const char suffix[] = "_kernel_time";
    const size_t      n        = strlen(name);

    return cq_ends_with(name, suffix) ? n - (sizeof suffix - 1) : n;
}

typedef struct timing {
    cq_view          *v;
    cq_view_timing_fn fn;
    void             *user;
    size_t            n_runs, n_found;
} timing;

static cq_status add_time(void *user, const char *node, const char *op_type, double seconds)
{
    timing     *t  = user;
    cq_view_op *op = op_of(t->v, node, length_of_name(node));

    seconds /= (double)t->n_runs;
    if (op) {
        op->seconds = fmax(op->seconds, 0) + seconds;
        t->n_found++;
    }
    return t->fn ? t->fn(t->user, op, op_type, seconds) : CQ_OK;
}

/* Reads a trace of cq_profile_save or of ONNX Runtime, which records every run as "model_run". */
static cq_status read_trace(timing *t, const char *path)
{
    const cq_json *root   = NULL, *events;
    size_t         n_runs = 0;

    CQ_TRY(read_json(&root, t->v->arena, path));
    events = root->kind == CQ_JSON_LIST ? root : cq_json_get(root, "traceEvents");
    for (size_t i = 0; i < cq_json_length(events); i++)
        n_runs +=
            strcmp(cq_json_text(cq_json_get(cq_json_at(events, i), "name"), ""), "model_run") == 0;
    t->n_runs = n_runs ? n_runs : 1;
    for (size_t i = 0; i < cq_json_length(events); i++) {
        const cq_json *e    = cq_json_at(events, i);
        const char    *name = cq_json_text(cq_json_get(e, "name"), "");

        if (n_runs && !cq_ends_with(name, "_kernel_time"))
            continue;
        CQ_TRY(add_time(t, name,
                        n_runs ? cq_json_text(cq_json_get(cq_json_get(e, "args"), "op_name"), "")
                               : cq_json_text(cq_json_get(e, "cat"), ""),
                        number_of(cq_json_get(e, "dur")) / 1e6));
    }
    return CQ_OK;
}

cq_status cq_view_add_profile(cq_view *v, const cq_view_options *o, cq_view_timing_fn fn,
                              void *user)
{
    timing t = { v, fn, user, o->n_runs ? o->n_runs : 1, 0 };

    CQ_TRY(o->trace ? cq_profile_each(o->trace, add_time, &t) : read_trace(&t, o->profile));
    if (!t.n_found)
        return cq_fail(CQ_E_FORMAT, o->profile ? cq_in_file(o->profile, NULL) : NULL,
                       "profile a run of this model, and use the file of that run",
                       "no node name of the profile occurs in this model");
    v->n_runs  = t.n_runs;
    v->seconds = 0;
    for (size_t i = 0; i < v->ops.n; i++)
        v->seconds += fmax(v->ops.items[i].seconds, 0);
    return CQ_OK;
}

/* ---- the report of an export ---- */

/* An operator that the export kept is marked at its nodes; other operators are listed. */
static cq_status add_unsupported(cq_view *v, const cq_json *entry)
{
    const char *name   = cq_json_text(cq_json_get(entry, "name"), "");
    const char *where  = cq_json_text(cq_json_get(entry, "where"), "");
    const char *why    = cq_json_text(cq_json_get(entry, "why"), "");
    const char *colons = strstr(name, "::");
    const char *text =
        cq_arena_printf(v->arena, "%s could not be exported%s%s%s%s%s", name, *why ? ": " : "", why,
                        *where ? " (" : "", where, *where ? ")" : "");
    bool found = false;

    for (size_t i = 0; i < v->ops.n; i++) {
        const char *type = cq_view_op_type(&v->ops.items[i]);

        if (!*type || strcmp(type, colons ? colons + 2 : name) != 0 ||
            !cq_view_has_own_domain(v->ops.items[i].node))
            continue;
        found = true;
        CQ_TRY(note(v, &v->ops.items[i], text));
    }
    return found ? CQ_OK : note(v, NULL, text);
}

/* ---- the errors of calque quantize ---- */

static double error_of(const cq_json *entry, const char *key)
{
    const cq_json *x = cq_json_get(entry, key);

    return x && (x->kind == CQ_JSON_INT || x->kind == CQ_JSON_FLOAT) ? number_of(x) : -1;
}

/* Nodes keep their names in a quantized model, so the report fits both models. */
static void add_quantized(cq_view *v, const cq_json *entry)
{
    const char    *name = cq_json_text(cq_json_get(entry, "name"), "");
    const cq_json *kept = cq_json_get(entry, "kept");
    cq_view_op    *op   = op_of(v, name, strlen(name));

    if (!op || !cq_json_text(cq_json_get(entry, "operator"), NULL))
        return;
    op->is_quantized = !(kept && kept->kind == CQ_JSON_BOOL && kept->u.b);
    op->weight_error = error_of(entry, "weight_error");
    op->layer_error  = error_of(entry, "error");
    v->n_measured++;
}

cq_status cq_view_add_report(cq_view *v, const char *path)
{
    const cq_json *root = NULL, *list;

    CQ_TRY(read_json(&root, v->arena, path));
    list = cq_json_get(root, "quantized");
    for (size_t i = 0; i < cq_json_length(list); i++)
        add_quantized(v, cq_json_at(list, i));
    if (cq_json_length(list) && !v->n_measured)
        return cq_fail(CQ_E_FORMAT, cq_in_file(path, NULL),
                       "use the errors of this model or of the model that it was quantized from",
                       "no node name of the report occurs in this model");
    list = cq_json_get(root, "unsupported");
    for (size_t i = 0; i < cq_json_length(list); i++)
        CQ_TRY(add_unsupported(v, cq_json_at(list, i)));
    list = cq_json_get(root, "warnings");
    for (size_t i = 0; i < cq_json_length(list); i++)
        CQ_TRY(note(v, NULL,
                    cq_arena_printf(v->arena, "warning: %s (%s)",
                                    cq_json_text(cq_json_get(cq_json_at(list, i), "message"), ""),
                                    cq_json_text(cq_json_get(cq_json_at(list, i), "where"), ""))));
    return CQ_OK;
}
