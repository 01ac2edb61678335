/* The public call of the optimizer: options and the report. The work is in export/optimize.c. */
#include "export/optimize.h"

#include "base/sized.h"
#include "base/str.h"
#include "onnx/model.h"

#include <calque/edit.h>

#include <string.h>

CQ_API void cq_optimize_options_init(cq_optimize_options *o)
{
    CQ_NEED_ELSE(o, );
    *o = (cq_optimize_options){ .struct_size = sizeof *o };
}

CQ_API const char *cq_optimize_pass(size_t i, const char **about)
{
    CQ_NEED_ELSE(about, NULL);
    return cq_optimizer_pass(i, about);
}

static cq_status find_pass(size_t *out, const char *name)
{
    const char *about, *pass;
    cq_str      names = { 0 };
    cq_status   status;

    for (size_t i = 0; (pass = cq_optimizer_pass(i, &about)); i++)
        if (strcmp(pass, name) == 0) {
            *out = i;
            return CQ_OK;
        }
    for (size_t i = 0; (pass = cq_optimizer_pass(i, &about)); i++)
        cq_str_printf(&names, "%s%s", i ? ", " : "the passes are: ", pass);
    status = cq_fail(CQ_E_ARGUMENT, NULL, cq_str_text(&names), "unknown pass '%s'", name);
    cq_str_clear(&names);
    return status;
}

static cq_status enable(cq_optimizer *o, const cq_optimize_options *options)
{
    size_t at;

    o->enabled = options->n_only ? 0 : UINT32_MAX;
    for (size_t i = 0; i < options->n_only; i++) {
        CQ_TRY(find_pass(&at, options->only[i]));
        o->enabled |= 1u << at;
    }
    for (size_t i = 0; i < options->n_skip; i++) {
        CQ_TRY(find_pass(&at, options->skip[i]));
        o->enabled &= ~(1u << at);
    }
    return CQ_OK;
}

static void fill_report(cq_optimize_report *r, const cq_optimizer *o)
{
    const char *about, *pass;

    for (size_t i = 0; (pass = cq_optimizer_pass(i, &about)); i++)
        if (o->enabled >> i & 1)
            r->passes[r->n_passes++] = (cq_pass_result){ pass, o->removed[i] };
}

CQ_API cq_status cq_onnx_model_optimize(cq_onnx_model *m, cq_optimize_report *report,
                                        const cq_optimize_options *given)
{
    CQ_NEED(m);
    cq_optimize_options options;
    cq_optimizer        o = { 0 };
    size_t              n_before;

    CQ_TRY(cq_onnx_need_graph(m));
    n_before = m->graph->node.n;
    cq_optimize_options_init(&options);
    CQ_TRY(cq_sized_take(&options, given, "cq_optimize_options"));
    CQ_TRY(enable(&o, &options));
    o.for_onnxruntime = options.flags & CQ_OPTIMIZE_FOR_ONNXRUNTIME;
    o.drops_inputs    = options.flags & CQ_OPTIMIZE_DROP_UNREAD_INPUTS;
    if (options.flags & CQ_OPTIMIZE_INLINE)
        CQ_TRY(cq_onnx_model_inline(m));
    CQ_TRY(cq_optimizer_run(&o, m));
    if (report) {
        *report = (cq_optimize_report){ .n_before = n_before, .n_after = m->graph->node.n };
        fill_report(report, &o);
    }
    return CQ_OK;
}
