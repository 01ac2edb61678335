/* Names of values, and the IR version. */
#include "edit/opset.h"
#include "onnx/schema.h"

#include <calque/edit.h>

#include <string.h>

enum { MAX_DEPTH = 64 };

typedef struct renamer {
    cq_onnx_model *m;
    const char    *from, *to;
    size_t         n_found, n_taken;
} renamer;

static void rename_text(renamer *r, const char **name)
{
    if (!*name)
        return;
    if (strcmp(*name, r->from) == 0) {
        *name = r->to;
        r->n_found++;
    } else if (strcmp(*name, r->to) == 0)
        r->n_taken++;
}

static void rename_infos(renamer *r, const cq_onnx_value_infos *list)
{
    for (size_t i = 0; i < list->n; i++)
        rename_text(r, &list->items[i]->name);
}

static void rename_graph(renamer *r, cq_onnx_graph *g, int depth)
{
    if (!g || depth > MAX_DEPTH)
        return;
    rename_infos(r, &g->input);
    rename_infos(r, &g->output);
    rename_infos(r, &g->value_info);
    for (size_t i = 0; i < g->initializer.n; i++)
        rename_text(r, &g->initializer.items[i]->name);
    for (size_t i = 0; i < g->sparse_initializer.n; i++)
        if (g->sparse_initializer.items[i]->values)
            rename_text(r, &g->sparse_initializer.items[i]->values->name);
    for (size_t i = 0; i < g->quantization_annotation.n; i++)
        rename_text(r, &g->quantization_annotation.items[i]->tensor_name);
    for (size_t i = 0; i < g->node.n; i++) {
        cq_onnx_node *n = g->node.items[i];

        for (size_t k = 0; k < n->input.n; k++)
            rename_text(r, &n->input.items[k]);
        for (size_t k = 0; k < n->output.n; k++)
            rename_text(r, &n->output.items[k]);
        for (size_t k = 0; k < n->attribute.n; k++) {
            rename_graph(r, n->attribute.items[k]->g, depth + 1);
            for (size_t j = 0; j < n->attribute.items[k]->graphs.n; j++)
                rename_graph(r, n->attribute.items[k]->graphs.items[j], depth + 1);
        }
    }
}

void cq_edit_rename(cq_onnx_graph *g, const char *from, const char *to)
{
    renamer r = { .from = from, .to = to };

    rename_graph(&r, g, 0);
}

CQ_API cq_status cq_onnx_model_rename(cq_onnx_model *m, const char *from, const char *to)
{
    CQ_NEED(m && m->graph && from && to && *from && *to);
    renamer r = { .m = m, .from = from, .to = cq_onnx_text(m, to) };

    CQ_TRY(m->status);
    if (strcmp(from, to) == 0)
        return CQ_OK;
    rename_graph(&r, m->graph, 0);
    if (!r.n_found)
        return cq_fail(CQ_E_NOT_FOUND, NULL, "calque info lists inputs and outputs",
                       "the model has no value '%s'", from);
    if (r.n_taken)
        return cq_fail(CQ_E_ARGUMENT, NULL, "choose another name",
                       "the model already has a value '%s'", to);
    return CQ_OK;
}

CQ_API cq_status cq_onnx_model_convert_ir(cq_onnx_model *m, int64_t version)
{
    CQ_NEED(m);
    const int64_t opset  = cq_onnx_imported(&m->opset_import, "");
    const int64_t needed = cq_onnx_ir_of_opset(opset);

    CQ_TRY(cq_onnx_need_graph(m));
    if (version < 3 || version > CQ_ONNX_IR_NEWEST)
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL, "IR version %lld: expected 3 to %d",
                       (long long)version, CQ_ONNX_IR_NEWEST);
    if (version < needed)
        return cq_fail(CQ_E_ARGUMENT, NULL, "convert the opset, too",
                       "opset %lld needs IR version %lld, got %lld", (long long)opset,
                       (long long)needed, (long long)version);
    if (version < 8 && m->functions.n)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, "calque optimize --inline removes functions",
                       "functions need IR version 8, got %lld", (long long)version);
    cq_onnx_model_set_ir_version(m, version);
    return m->status;
}
