/* Replaces calls of a model's functions by their nodes. Values of a body get new names at each
 * call; attributes that refer to those of the function take the values of the call. */
#include "base/map.h"
#include "onnx/function_index.h"
#include "onnx/model.h"

#include <calque/edit.h>

#include <stdio.h>
#include <string.h>

enum { MAX_NODES = 1 << 20, MAX_DEPTH = 64 };

typedef CQ_ONNX_LIST(cq_onnx_node *) node_list;

typedef struct inliner {
    cq_onnx_model *m;
    cq_map         functions;
    size_t         n_calls, n_nodes;
} inliner;

/* One call: how names and attributes of the body translate. */
typedef struct call_frame {
    const cq_onnx_function *function;
    const cq_onnx_node     *call;
    cq_map                  names; /* of the body -> of the caller */
    char                    prefix[300];
} call_frame;

static cq_status expand_nodes(inliner *in, node_list *out, cq_onnx_node *const *nodes, size_t n,
                              int depth);

/* ---- copies ---- */

static const char *name_of(inliner *in, call_frame *f, const char *name)
{
    const char *known = *name ? cq_map_get(&f->names, name) : name;
    char        made[600];

    if (known)
        return known;
    snprintf(made, sizeof made, "%.290s%.290s", f->prefix, name);
    known = cq_onnx_text(in->m, made);
    if (!known || cq_map_set(&f->names, name, (void *)known) != CQ_OK)
        in->m->status = CQ_E_NO_MEMORY;
    return known ? known : "";
}

static cq_onnx_graph *copy_graph(inliner *in, call_frame *f, const cq_onnx_graph *g, int depth);
static cq_onnx_node  *copy_node(inliner *in, call_frame *f, const cq_onnx_node *n, int depth);

/* The value of a reference in the body; NULL: the call omits it, and the function has no
 * default. */
static const cq_onnx_attribute *resolve(const call_frame *f, const cq_onnx_attribute *a)
{
    const cq_onnx_attribute *given = cq_onnx_node_attr(f->call, a->ref_attr_name);

    for (size_t i = 0; !given && i < f->function->attribute_proto.n; i++)
        if (strcmp(f->function->attribute_proto.items[i]->name, a->ref_attr_name) == 0)
            given = f->function->attribute_proto.items[i];
    return given;
}

static void copy_attribute(inliner *in, call_frame *f, cq_onnx_node *to, const cq_onnx_attribute *a,
                           int depth)
{
    const cq_onnx_attribute *from = a->ref_attr_name && *a->ref_attr_name ? resolve(f, a) : a;
    cq_onnx_attribute       *copy = from ? cq_onnx_alloc(in->m, sizeof *copy) : NULL;

    if (!copy)
        return;
    *copy      = *from;
    copy->name = a->name;
    if (from == a && a->g)
        copy->g = copy_graph(in, f, a->g, depth + 1);
    if (from == a && a->graphs.n) {
        memset(&copy->graphs, 0, sizeof copy->graphs);
        for (size_t i = 0; i < a->graphs.n; i++)
            cq_onnx_list_push(in->m, &copy->graphs,
                              copy_graph(in, f, a->graphs.items[i], depth + 1));
    }
    cq_onnx_list_push(in->m, &to->attribute, copy);
}

static cq_onnx_node *copy_node(inliner *in, call_frame *f, const cq_onnx_node *n, int depth)
{
    cq_onnx_node *to = cq_onnx_alloc(in->m, sizeof *to);
    char          name[600];

    if (!to)
        return NULL;
    *to = *n;
    snprintf(name, sizeof name, "%.290s%.290s", f->prefix, n->name ? n->name : "");
    to->name      = cq_onnx_text(in->m, name);
    to->input     = (cq_onnx_names){ 0 };
    to->output    = (cq_onnx_names){ 0 };
    to->attribute = (cq_onnx_attributes){ 0 };
    for (size_t i = 0; i < n->input.n; i++)
        cq_onnx_add_name(in->m, &to->input, name_of(in, f, n->input.items[i]));
    for (size_t i = 0; i < n->output.n; i++)
        cq_onnx_add_name(in->m, &to->output, name_of(in, f, n->output.items[i]));
    for (size_t i = 0; i < n->attribute.n; i++)
        copy_attribute(in, f, to, n->attribute.items[i], depth);
    return to;
}

static void copy_infos(inliner *in, call_frame *f, cq_onnx_value_infos *out,
                       const cq_onnx_value_infos *from)
{
    *out = (cq_onnx_value_infos){ 0 };
    for (size_t i = 0; i < from->n; i++) {
        cq_onnx_value_info *copy = cq_onnx_alloc(in->m, sizeof *copy);

        if (!copy)
            return;
        *copy      = *from->items[i];
        copy->name = name_of(in, f, copy->name ? copy->name : "");
        cq_onnx_list_push(in->m, out, copy);
    }
}

static cq_onnx_graph *copy_graph(inliner *in, call_frame *f, const cq_onnx_graph *g, int depth)
{
    cq_onnx_graph *to = depth < MAX_DEPTH ? cq_onnx_alloc(in->m, sizeof *to) : NULL;

    if (!to) {
        in->m->status = in->m->status != CQ_OK ? in->m->status : CQ_E_UNSUPPORTED;
        return NULL;
    }
    *to = *g;
    copy_infos(in, f, &to->input, &g->input);
    copy_infos(in, f, &to->value_info, &g->value_info);
    memset(&to->initializer, 0, sizeof to->initializer);
    memset(&to->node, 0, sizeof to->node);
    for (size_t i = 0; i < g->initializer.n; i++) {
        cq_onnx_tensor *copy = cq_onnx_alloc(in->m, sizeof *copy);

        if (!copy)
            return NULL;
        *copy      = *g->initializer.items[i];
        copy->name = name_of(in, f, copy->name ? copy->name : "");
        cq_onnx_list_push(in->m, &to->initializer, copy);
    }
    for (size_t i = 0; i < g->node.n; i++)
        cq_onnx_list_push(in->m, &to->node, copy_node(in, f, g->node.items[i], depth));
    copy_infos(in, f, &to->output, &g->output);
    return to;
}

/* ---- calls ---- */

/* Inputs of the body are those of the call. An output that is an input of the body, or is returned
 * twice, is copied by an Identity. */
static cq_status bind(inliner *in, call_frame *f, node_list *after)
{
    for (size_t i = 0; i < f->function->input.n; i++) {
        const char *given = i < f->call->input.n ? f->call->input.items[i] : "";

        CQ_TRY(cq_map_set(&f->names, f->function->input.items[i], (void *)given));
    }
    for (size_t i = 0; i < f->function->output.n && i < f->call->output.n; i++) {
        const char   *inner = f->function->output.items[i], *outer = f->call->output.items[i];
        cq_onnx_node *copy;

        if (!*outer)
            continue;
        if (!cq_map_has(&f->names, inner)) {
            CQ_TRY(cq_map_set(&f->names, inner, (void *)outer));
            continue;
        }
        copy = cq_onnx_alloc(in->m, sizeof *copy);
        if (!copy)
            return CQ_E_NO_MEMORY;
        copy->op_type = "Identity";
        cq_onnx_add_name(in->m, &copy->input, cq_map_get(&f->names, inner));
        cq_onnx_add_name(in->m, &copy->output, outer);
        cq_onnx_list_push(in->m, after, copy);
    }
    return in->m->status;
}

static cq_status expand_call(inliner *in, node_list *out, const cq_onnx_node *call,
                             const cq_onnx_function *function, int depth)
{
    call_frame f    = { .function = function, .call = call };
    node_list  body = { 0 }, after = { 0 };
    cq_status  status = CQ_OK;

    if (depth >= MAX_DEPTH || in->n_nodes + function->node.n > MAX_NODES)
        return cq_fail(CQ_E_UNSUPPORTED, call->name, NULL,
                       "calls are nested more than %d deep, or expand to more than %d "
                       "nodes",
                       MAX_DEPTH, MAX_NODES);
    in->n_nodes += function->node.n;
    snprintf(f.prefix, sizeof f.prefix, "%.240s/%zu/",
             call->name && *call->name ? call->name : function->name, in->n_calls++);
    status = bind(in, &f, &after);
    for (size_t i = 0; i < function->node.n && status == CQ_OK; i++) {
        cq_onnx_list_push(in->m, &body, copy_node(in, &f, function->node.items[i], 0));
        status = in->m->status;
    }
    if (status == CQ_OK)
        status = expand_nodes(in, out, body.items, body.n, depth + 1);
    for (size_t i = 0; i < after.n; i++)
        cq_onnx_list_push(in->m, out, after.items[i]);
    cq_map_clear(&f.names);
    return status;
}

static cq_status expand_graph(inliner *in, cq_onnx_graph *g, int depth)
{
    node_list out = { 0 };

    if (depth >= MAX_DEPTH)
        return cq_fail(CQ_E_UNSUPPORTED, g->name, NULL, "subgraphs are nested more than %d deep",
                       MAX_DEPTH);
    CQ_TRY(expand_nodes(in, &out, g->node.items, g->node.n, depth));
    g->node.items = out.items;
    g->node.n     = out.n;
    g->node.cap   = out.cap;
    return in->m->status;
}

static cq_status expand_nodes(inliner *in, node_list *out, cq_onnx_node *const *nodes, size_t n,
                              int depth)
{
    for (size_t i = 0; i < n; i++) {
        const cq_onnx_function *f;

        CQ_TRY(cq_onnx_indexed_function(&f, &in->functions, nodes[i]->domain, nodes[i]->op_type,
                                        nodes[i]->overload));
        if (f) {
            CQ_TRY(expand_call(in, out, nodes[i], f, depth));
            continue;
        }
        for (size_t k = 0; k < nodes[i]->attribute.n; k++) {
            cq_onnx_attribute *a = nodes[i]->attribute.items[k];

            if (a->g)
                CQ_TRY(expand_graph(in, a->g, depth + 1));
            for (size_t j = 0; j < a->graphs.n; j++)
                CQ_TRY(expand_graph(in, a->graphs.items[j], depth + 1));
        }
        cq_onnx_list_push(in->m, out, nodes[i]);
    }
    return in->m->status;
}

/* Functions may import opsets that the model does not. */
static cq_status import_opsets(cq_onnx_model *m)
{
    for (size_t i = 0; i < m->functions.n; i++)
        for (size_t k = 0; k < m->functions.items[i]->opset_import.n; k++) {
            const cq_onnx_opset *o      = m->functions.items[i]->opset_import.items[k];
            const char          *domain = o->domain ? o->domain : "";
            const int64_t        own    = cq_onnx_model_opset(m, domain);

            if (!own)
                cq_onnx_model_add_opset(m, domain, o->version);
            else if (own != o->version && !*domain)
                return cq_fail(CQ_E_UNSUPPORTED, m->functions.items[i]->name, NULL,
                               "function %s is of opset %lld and the model of opset %lld",
                               m->functions.items[i]->name, (long long)o->version, (long long)own);
        }
    return m->status;
}

CQ_API cq_status cq_onnx_model_inline(cq_onnx_model *m)
{
    CQ_NEED(m);
    inliner   in = { .m = m };
    cq_status status;

    CQ_TRY(cq_onnx_need_graph(m));
    if (!m->functions.n)
        return CQ_OK;
    CQ_TRY(import_opsets(m));
    status = cq_onnx_index_functions(&in.functions, m);
    if (status == CQ_OK)
        status = expand_graph(&in, m->graph, 0);
    cq_map_clear(&in.functions);
    if (status == CQ_OK)
        m->functions.n = 0;
    return status;
}
