/* Reads the graphs of a model (the main graph, bodies of If and Loop, functions) into ops and
 * values. References by name become indices. Initializers and Constant nodes become weights. */
#include "view/view.h"

#include "onnx/function_index.h"
#include "onnx/schema.h"
#include "onnx/tensor.h"

#include <inttypes.h>

const char *cq_view_op_type(const cq_view_op *op)
{
    return op->node && op->node->op_type ? op->node->op_type : "";
}

bool cq_view_has_own_domain(const cq_onnx_node *node)
{
    return node->domain && *node->domain && strcmp(node->domain, "ai.onnx") != 0;
}

/* ---- values ---- */

static void add_dims(cq_str *s, const cq_onnx_shape *shape)
{
    if (!shape)
        return;
    cq_str_add(s, "[");
    for (uint32_t i = 0; i < shape->dim.n; i++) {
        const cq_onnx_dim *d = shape->dim.items[i];

        cq_str_add(s, i ? "," : "");
        if (cq_onnx_has(d, CQ_ONNX_DIM_VALUE))
            cq_str_printf(s, "%" PRId64, d->dim_value);
        else
            cq_str_add(s, d->dim_param && *d->dim_param ? d->dim_param : "?");
    }
    cq_str_add(s, "]");
}

static const char *dtype_name(int32_t data_type)
{
    const cq_dtype d = cq_dtype_from_onnx(data_type);

    if (d != CQ_DTYPE_NONE)
        return cq_dtype_name(d);
    return cq_onnx_element_name(data_type) ? cq_onnx_element_name(data_type) : "?";
}

static void add_type(cq_str *s, const cq_onnx_type *t, int depth)
{
    const cq_onnx_tensor_type  *tensor  = t->tensor_type ? t->tensor_type : t->sparse_tensor_type;
    const cq_onnx_element_type *element = t->sequence_type ? t->sequence_type : t->optional_type;

    if (tensor) {
        cq_str_add(s, t->sparse_tensor_type ? "sparse " : "");
        cq_str_add(s, dtype_name(tensor->elem_type));
        add_dims(s, tensor->shape);
    } else if (element && element->elem_type && depth < 8) {
        cq_str_add(s, t->sequence_type ? "sequence of " : "optional ");
        add_type(s, element->elem_type, depth + 1);
    } else if (t->map_type) {
        cq_str_add(s, "map");
    }
}

static const char *type_text(cq_view *v, const cq_onnx_type *t)
{
    cq_str      s = { 0 };
    const char *text;

    if (t)
        add_type(&s, t, 0);
    text = s.status == CQ_OK ? cq_arena_strdup(v->arena, cq_str_text(&s)) : NULL;
    cq_str_clear(&s);
    return text;
}

static const char *tensor_type_text(cq_view *v, const cq_onnx_tensor *t)
{
    cq_str      s = { 0 };
    const char *text;

    cq_str_add(&s, dtype_name(t->data_type));
    cq_str_add(&s, "[");
    for (uint32_t i = 0; i < t->dims.n; i++)
        cq_str_printf(&s, "%s%" PRId64, i ? "," : "", t->dims.items[i]);
    cq_str_add(&s, "]");
    text = s.status == CQ_OK ? cq_arena_strdup(v->arena, cq_str_text(&s)) : NULL;
    cq_str_clear(&s);
    return text;
}

uint32_t cq_view_find(const cq_view *v, uint32_t graph, const char *name)
{
    for (; graph != CQ_VIEW_NONE && name && *name; graph = v->graphs.items[graph].outer) {
        const void *found = cq_map_get(&v->graphs.items[graph].names, name);

        if (found)
            return (uint32_t)((uintptr_t)found - 1);
    }
    return CQ_VIEW_NONE;
}

/* Defines a name in a graph; later definitions of the same name are ignored. */
static cq_status define(cq_view *v, uint32_t graph, const char *name, const char *type,
                        uint32_t *out)
{
    cq_map     *names = &v->graphs.items[graph].names;
    const void *found = name && *name ? cq_map_get(names, name) : NULL;

    if (!type)
        return CQ_E_NO_MEMORY;
    *out = found ? (uint32_t)((uintptr_t)found - 1) : (uint32_t)v->values.n;
    if (found) {
        if (!*v->values.items[*out].type)
            v->values.items[*out].type = type;
        return CQ_OK;
    }
    CQ_TRY(cq_vec_push(&v->values, (cq_view_value){ .name      = name ? name : "",
                                                    .type      = type,
                                                    .weight    = CQ_VIEW_NONE,
                                                    .graph     = graph,
                                                    .deviation = -1 }));
    return name && *name ? cq_map_set(names, name, (void *)((uintptr_t)*out + 1)) : CQ_OK;
}

static cq_status define_weight(cq_view *v, uint32_t graph, const char *name,
                               const cq_onnx_tensor *t)
{
    uint32_t value;

    CQ_TRY(define(v, graph, name, tensor_type_text(v, t), &value));
    return cq_view_add_weight(v, value, t);
}

/* ---- ops ---- */

static bool is_constant(const cq_onnx_node *node)
{
    return node->op_type && strcmp(node->op_type, "Constant") == 0 && !node->input.n &&
           node->output.n == 1 && !cq_view_has_own_domain(node) && node->attribute.n == 1 &&
           node->attribute.items[0]->t;
}

static cq_status add_port(cq_view *v, uint32_t graph, uint32_t value, bool is_input)
{
    cq_view_op     op  = { .name = v->values.items[value].name, .scope = v->root_scope };
    uint32_t      *one = cq_arena_copy(v->arena, &value, sizeof value);
    cq_view_graph *g   = &v->graphs.items[graph];

    if (!one)
        return CQ_E_NO_MEMORY;
    op.function  = CQ_VIEW_NONE;
    op.twin      = CQ_VIEW_NONE;
    op.seconds   = -1;
    op.is_input  = is_input;
    op.is_output = !is_input;
    if (is_input)
        op.outputs = one, op.n_outputs = 1;
    else
        op.inputs = one, op.n_inputs = 1;
    g->ops[g->n_ops++] = (uint32_t)v->ops.n;
    return cq_vec_push(&v->ops, op);
}

static cq_status add_graph(cq_view *v, uint32_t *out, const cq_onnx_graph *graph, uint32_t outer,
                           int depth);

/* Reads the bodies of a node. The names of the enclosing graph must be defined before. */
static cq_status add_bodies(cq_view *v, uint32_t graph, uint32_t index, int depth)
{
    const cq_onnx_node *node = v->ops.items[index].node;
    uint32_t            n    = 0, *bodies;
    const char        **names;

    for (uint32_t i = 0; i < node->attribute.n; i++)
        n += (node->attribute.items[i]->g != NULL) + node->attribute.items[i]->graphs.n;
    if (!n || depth >= CQ_VIEW_MAX_BODIES)
        return CQ_OK;
    bodies = cq_arena_array(v->arena, n, sizeof *bodies);
    names  = cq_arena_array(v->arena, n, sizeof *names);
    if (!bodies || !names)
        return CQ_E_NO_MEMORY;
    n = 0;
    for (uint32_t i = 0; i < node->attribute.n; i++) {
        const cq_onnx_attribute *a = node->attribute.items[i];

        for (uint32_t k = 0; k < (a->g != NULL) + a->graphs.n; k++) {
            names[n] = a->name ? a->name : "";
            CQ_TRY(add_graph(v, &bodies[n++],
                             a->g && k == 0 ? a->g : a->graphs.items[k - (a->g != NULL)], graph,
                             depth + 1));
        }
    }
    v->ops.items[index].bodies     = bodies;
    v->ops.items[index].body_names = names;
    v->ops.items[index].n_bodies   = n;
    return CQ_OK;
}

/* Lists the values of enclosing graphs that a body reads, without duplicates. */
static cq_status note_captured(cq_view *v, uint32_t graph, uint32_t index)
{
    cq_ptr_map seen        = { 0 };
    cq_status  status      = CQ_OK;
    CQ_VEC(uint32_t) found = { 0 };

    for (uint32_t b = 0; b < v->ops.items[index].n_bodies && status == CQ_OK; b++) {
        const cq_view_graph *g = &v->graphs.items[v->ops.items[index].bodies[b]];

        for (uint32_t i = 0; i < g->n_ops; i++) {
            const cq_view_op *op = &v->ops.items[g->ops[i]];

            for (uint32_t k = 0; k < op->n_inputs + op->n_captured && status == CQ_OK; k++) {
                uint32_t    x   = k < op->n_inputs ? op->inputs[k] : op->captured[k - op->n_inputs];
                const void *key = (const void *)((uintptr_t)x + 1);

                if (x == CQ_VIEW_NONE || v->values.items[x].weight != CQ_VIEW_NONE ||
                    v->values.items[x].graph == v->ops.items[index].bodies[b] ||
                    cq_ptr_map_get(&seen, key))
                    continue;
                status = cq_ptr_map_set(&seen, key, v);
                if (status == CQ_OK)
                    status = cq_vec_push(&found, x);
            }
        }
    }
    (void)graph;
    if (found.n && status == CQ_OK) {
        v->ops.items[index].captured =
            cq_arena_copy(v->arena, found.items, found.n * sizeof *found.items);
        v->ops.items[index].n_captured = (uint32_t)found.n;
        if (!v->ops.items[index].captured)
            status = CQ_E_NO_MEMORY;
    }
    cq_vec_clear(&found);
    cq_ptr_map_clear(&seen);
    return status;
}

static cq_status add_outputs(cq_view *v, uint32_t graph, cq_view_op *op)
{
    const cq_onnx_node *node = op->node;

    op->n_outputs = node->output.n;
    op->outputs   = cq_arena_array(v->arena, node->output.n + 1, sizeof *op->outputs);
    if (!op->outputs)
        return CQ_E_NO_MEMORY;
    for (uint32_t i = 0; i < node->output.n; i++) {
        op->outputs[i] = CQ_VIEW_NONE;
        if (node->output.items[i] && *node->output.items[i])
            CQ_TRY(define(v, graph, node->output.items[i], "", &op->outputs[i]));
    }
    return CQ_OK;
}

static cq_status add_inputs(cq_view *v, uint32_t graph, cq_view_op *op)
{
    const cq_onnx_node *node = op->node;

    op->n_inputs = node->input.n;
    op->inputs   = cq_arena_array(v->arena, node->input.n + 1, sizeof *op->inputs);
    if (!op->inputs)
        return CQ_E_NO_MEMORY;
    for (uint32_t i = 0; i < node->input.n; i++) {
        const char *name = node->input.items[i];

        op->inputs[i] = cq_view_find(v, graph, name);
        if (op->inputs[i] == CQ_VIEW_NONE && name && *name) /* undefined: an invalid model */
            CQ_TRY(define(v, graph, name, "", &op->inputs[i]));
    }
    return CQ_OK;
}

static const char *name_of_node(const cq_onnx_node *node)
{
    if (node->name && *node->name)
        return node->name;
    for (uint32_t i = 0; i < node->output.n; i++)
        if (node->output.items[i] && *node->output.items[i])
            return node->output.items[i];
    return node->op_type ? node->op_type : "";
}

static cq_status add_node(cq_view *v, uint32_t graph, const cq_onnx_node *node)
{
    cq_view_op op = { .node         = node,
                      .name         = name_of_node(node),
                      .function     = CQ_VIEW_NONE,
                      .twin         = CQ_VIEW_NONE,
                      .seconds      = -1,
                      .weight_error = -1,
                      .layer_error  = -1 };

    CQ_TRY(cq_view_scope_of(v, &op));
    CQ_TRY(add_outputs(v, graph, &op));
    v->graphs.items[graph].ops[v->graphs.items[graph].n_ops++] = (uint32_t)v->ops.n;
    CQ_TRY(cq_ptr_map_set(&v->by_node, node, (void *)((uintptr_t)v->ops.n + 1)));
    return cq_vec_push(&v->ops, op);
}

static const char *function_key(cq_view *v, const char *domain, const char *name,
                                const char *overload)
{
    return cq_arena_printf(v->arena, "%s::%s:%s", domain ? domain : "", name ? name : "",
                           overload ? overload : "");
}

/* Reads all definitions first, because the nodes of an invalid file may be in any order, and then
 * inputs, bodies and calls of functions. */
static cq_status add_nodes(cq_view *v, uint32_t graph, cq_onnx_node *const *nodes, uint32_t n,
                           int depth)
{
    uint32_t from;

    for (uint32_t i = 0; i < n; i++)
        if (is_constant(nodes[i]))
            CQ_TRY(define_weight(v, graph, nodes[i]->output.items[0],
                                 nodes[i]->attribute.items[0]->t));
    from = v->graphs.items[graph].n_ops;
    for (uint32_t i = 0; i < n; i++)
        if (!is_constant(nodes[i]))
            CQ_TRY(add_node(v, graph, nodes[i]));
    for (uint32_t i = from; i < v->graphs.items[graph].n_ops; i++) {
        const uint32_t      index = v->graphs.items[graph].ops[i];
        const cq_onnx_node *node  = v->ops.items[index].node;

        if (v->functions.n) {
            const char *key = function_key(v, node->domain, node->op_type, node->overload);
            const void *f   = key ? cq_map_get(&v->functions, key) : NULL;

            if (!key)
                return CQ_E_NO_MEMORY;
            if (f)
                v->ops.items[index].function = (uint32_t)((uintptr_t)f - 1);
        }
        CQ_TRY(add_inputs(v, graph, &v->ops.items[index]));
        CQ_TRY(add_bodies(v, graph, index, depth));
        CQ_TRY(note_captured(v, graph, index));
        if (!cq_map_has(&v->by_name, v->ops.items[index].name))
            CQ_TRY(
                cq_map_set(&v->by_name, v->ops.items[index].name, (void *)((uintptr_t)index + 1)));
    }
    return CQ_OK;
}

static cq_status define_all(cq_view *v, uint32_t graph, const cq_onnx_value_infos *list)
{
    uint32_t value;

    for (uint32_t i = 0; i < list->n; i++)
        CQ_TRY(define(v, graph, list->items[i]->name, type_text(v, list->items[i]->type), &value));
    return CQ_OK;
}

static cq_status new_graph(cq_view *v, uint32_t *out, const char *name, uint32_t outer,
                           size_t n_ops)
{
    cq_view_graph g = { .name = name ? name : "", .outer = outer, .canvas = CQ_VIEW_NONE };

    g.ops = cq_arena_array(v->arena, n_ops + 1, sizeof *g.ops);
    *out  = (uint32_t)v->graphs.n;
    return g.ops ? cq_vec_push(&v->graphs, g) : CQ_E_NO_MEMORY;
}

static cq_status add_graph(cq_view *v, uint32_t *out, const cq_onnx_graph *graph, uint32_t outer,
                           int depth)
{
    uint32_t value;

    CQ_TRY(new_graph(v, out, graph->name, outer,
                     (size_t)graph->input.n + graph->node.n + graph->output.n));
    for (uint32_t i = 0; i < graph->initializer.n; i++)
        CQ_TRY(
            define_weight(v, *out, graph->initializer.items[i]->name, graph->initializer.items[i]));
    CQ_TRY(define_all(v, *out, &graph->input));
    for (uint32_t i = 0; i < graph->input.n; i++) {
        CQ_TRY(define(v, *out, graph->input.items[i]->name, "", &value));
        if (v->values.items[value].weight == CQ_VIEW_NONE)
            CQ_TRY(add_port(v, *out, value, true));
    }
    CQ_TRY(define_all(v, *out, &graph->value_info));
    CQ_TRY(add_nodes(v, *out, graph->node.items, graph->node.n, depth));
    for (uint32_t i = 0; i < graph->output.n; i++) {
        const cq_onnx_value_info *info = graph->output.items[i];

        value = cq_view_find(v, *out, info->name);
        if (value == CQ_VIEW_NONE)
            CQ_TRY(define(v, *out, info->name, "", &value));
        if (!*v->values.items[value].type) {
            v->values.items[value].type = type_text(v, info->type);
            if (!v->values.items[value].type)
                return CQ_E_NO_MEMORY;
        }
        CQ_TRY(add_port(v, *out, value, false));
    }
    return CQ_OK;
}

static cq_status add_function(cq_view *v, uint32_t graph, const cq_onnx_function *f)
{
    uint32_t value;

    CQ_TRY(define_all(v, graph, &f->value_info));
    for (uint32_t i = 0; i < f->input.n; i++) {
        CQ_TRY(define(v, graph, f->input.items[i], "", &value));
        CQ_TRY(add_port(v, graph, value, true));
    }
    CQ_TRY(add_nodes(v, graph, f->node.items, f->node.n, 0));
    for (uint32_t i = 0; i < f->output.n; i++) {
        CQ_TRY(define(v, graph, f->output.items[i], "", &value));
        CQ_TRY(add_port(v, graph, value, false));
    }
    return CQ_OK;
}

/* Functions get their graph indices before any node that calls them is read. */
static cq_status add_functions(cq_view *v)
{
    const cq_onnx_model *m = v->model;

    for (uint32_t i = 0; i < m->functions.n; i++) {
        const cq_onnx_function *f   = m->functions.items[i];
        const char             *key = function_key(v, f->domain, f->name, f->overload);

        if (!key)
            return CQ_E_NO_MEMORY;
        if (!cq_map_has(&v->functions, key))
            CQ_TRY(cq_map_set(&v->functions, key, (void *)((uintptr_t)i + 1)));
    }
    for (uint32_t i = 0; i < m->functions.n; i++) {
        const cq_onnx_function *f = m->functions.items[i];
        uint32_t                graph;

        CQ_TRY(new_graph(v, &graph, f->name, CQ_VIEW_NONE,
                         (size_t)f->input.n + f->node.n + f->output.n));
        v->graphs.items[graph].is_function = true;
    }
    for (uint32_t i = 0; i < m->functions.n; i++)
        CQ_TRY(add_function(v, i, m->functions.items[i]));
    return CQ_OK;
}

cq_status cq_view_collect(cq_view *v)
{
    v->root_scope = cq_arena_zalloc(v->arena, sizeof *v->root_scope);
    if (!v->root_scope)
        return CQ_E_NO_MEMORY;
    v->root_scope->name = v->root_scope->class_name = "";
    CQ_TRY(add_functions(v));
    CQ_TRY(add_graph(v, &v->main_graph, v->model->graph, CQ_VIEW_NONE, 0));
    for (uint32_t i = 0; i < v->graphs.n; i++)
        CQ_TRY(cq_view_order(v, i));
    return CQ_OK;
}

void cq_view_clear(cq_view *v)
{
    for (size_t i = 0; i < v->graphs.n; i++)
        cq_map_clear(&v->graphs.items[i].names);
    for (size_t i = 0; i < v->canvases.n; i++) {
        cq_vec_clear(&v->canvases.items[i].items);
        cq_vec_clear(&v->canvases.items[i].edges);
        cq_vec_clear(&v->canvases.items[i].dummies);
        cq_ptr_map_clear(&v->canvases.items[i].ports[0]);
        cq_ptr_map_clear(&v->canvases.items[i].ports[1]);
    }
    for (size_t i = 0; i < v->ops.n; i++)
        cq_vec_clear(&v->ops.items[i].notes);
    cq_map_clear(&v->scopes);
    cq_map_clear(&v->functions);
    cq_map_clear(&v->by_name);
    cq_ptr_map_clear(&v->by_node);
    cq_vec_clear(&v->values);
    cq_vec_clear(&v->weights);
    cq_vec_clear(&v->ops);
    cq_vec_clear(&v->graphs);
    cq_vec_clear(&v->canvases);
    cq_vec_clear(&v->memory);
    cq_vec_clear(&v->notes);
    cq_arena_free(v->arena);
    v->arena = NULL;
}
