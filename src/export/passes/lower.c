/* The onnx graph as a model: nodes, types, weights (as views), opsets. */
#include "export/exporter.h"
#include "base/str.h"
#include "base/warn.h"
#include "onnx/schema.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct lowering {
    cq_exporter      *ex;
    cq_onnx_model    *model;
    cq_map            domains;
    cq_ptr_map        local;    /* in a function: value -> its name there */
    cq_onnx_function *function; /* that is being lowered, NULL for the graph */
    const cq_value   *last;     /* a value of fully known type, and that type */
    cq_onnx_type     *last_type;
    bool              has_foreign_attributes;
} lowering;

/* The element type of a list or an optional. */
static cq_type element_of(cq_type t)
{
    return (cq_type){ .kind = CQ_TYPE_TENSOR, .dtype = t.dtype, .rank = t.rank, .sizes = t.sizes };
}

static cq_onnx_type *type_of(lowering *l, cq_type t)
{
    cq_onnx_axis axes[CQ_MAX_RANK];
    cq_dtype     dtype = t.dtype;

    switch (t.kind) {
    case CQ_TYPE_INT: dtype = CQ_DTYPE_I64; break;
    case CQ_TYPE_FLOAT: dtype = CQ_DTYPE_F32; break;
    case CQ_TYPE_BOOL: dtype = CQ_DTYPE_BOOL; break;
    case CQ_TYPE_TENSOR: break;
    case CQ_TYPE_LIST:
    case CQ_TYPE_OPTIONAL: {
        cq_onnx_type *element = type_of(l, element_of(t));

        return t.kind == CQ_TYPE_LIST ? cq_onnx_type_new_sequence(l->model, element)
                                      : cq_onnx_type_new_optional(l->model, element);
    }
    default: return NULL;
    }
    if (t.kind != CQ_TYPE_TENSOR)
        return cq_onnx_type_new_tensor(l->model, cq_dtype_to_onnx(dtype), 0, axes);
    for (int i = 0; i < t.rank; i++)
        axes[i] =
            (cq_onnx_axis){ t.sizes[i].expr ? t.sizes[i].expr->text : NULL, t.sizes[i].value };
    return cq_onnx_type_new_tensor(l->model, cq_dtype_to_onnx(dtype),
                                   t.rank < 0 ? 0 : (size_t)t.rank, t.rank < 0 ? NULL : axes);
}

/* The type of a value, without the rank if it may differ between runs. */
static cq_onnx_type *type_of_value(lowering *l, const cq_value *v)
{
    cq_type t = v->type;

    if (v->rank_varies)
        t.rank = -1;
    return type_of(l, t);
}

/* The same for an output, which must have a shape to be valid: as on the example, without sizes. */
static cq_onnx_type *example_type(lowering *l, const cq_value *v)
{
    cq_int  sizes[CQ_MAX_RANK];
    cq_type t = v->type;

    for (int i = 0; i < t.rank; i++)
        sizes[i] = cq_i(-1);
    t.sizes = sizes;
    return type_of(l, t);
}

/* A value computed from a value of uncertain rank has an uncertain rank. */
static void spread_varying_ranks(const cq_block *b)
{
    for (const cq_node *n = b->first; n; n = n->next) {
        bool varies = false;

        for (size_t i = 0; i < n->n_inputs; i++)
            varies |= n->inputs[i].kind == CQ_OPERAND_VALUE && n->inputs[i].u.value->rank_varies;
        for (size_t i = 0; i < n->n_blocks; i++) {
            spread_varying_ranks(n->blocks[i]);
            for (size_t k = 0; k < n->blocks[i]->returns.n; k++)
                varies |= n->blocks[i]->returns.items[k].u.value->rank_varies;
        }
        if (!varies || strcmp(n->op, "onnx::Shape") == 0 || strcmp(n->op, "onnx::Size") == 0)
            continue;
        for (size_t i = 0; i < n->n_outputs; i++)
            n->outputs[i]->rank_varies = true;
    }
}

/* A list attribute is of the type of its items; an empty one is a list of ints. */
static void list_attribute(cq_onnx_model *m, cq_onnx_node *node, const cq_attr *a)
{
    const cq_operand *items   = a->value.u.list.items;
    size_t            n       = a->value.u.list.n;
    cq_operand_kind   kind    = n ? items[0].kind : CQ_OPERAND_INT;
    int64_t          *ints    = cq_onnx_alloc(m, n * sizeof *ints);
    float            *floats  = cq_onnx_alloc(m, n * sizeof *floats);
    const char      **strings = cq_onnx_alloc(m, n * sizeof *strings);
    cq_tensor       **tensors = cq_onnx_alloc(m, n * sizeof *tensors);

    if (!ints || !floats || !strings || !tensors)
        return;
    for (size_t i = 0; i < n; i++) {
        ints[i]    = kind == CQ_OPERAND_INT ? items[i].u.i.value : 0;
        floats[i]  = kind == CQ_OPERAND_FLOAT ? (float)items[i].u.f : 0;
        strings[i] = kind == CQ_OPERAND_STR ? items[i].u.s : NULL;
        tensors[i] = kind == CQ_OPERAND_TENSOR ? items[i].u.tensor : NULL;
    }
    if (kind == CQ_OPERAND_FLOAT)
        cq_onnx_attr_floats(m, node, a->name, floats, n);
    else if (kind == CQ_OPERAND_STR)
        cq_onnx_attr_strings(m, node, a->name, strings, n);
    else if (kind == CQ_OPERAND_TENSOR)
        cq_onnx_attr_tensors(m, node, a->name, tensors, n);
    else
        cq_onnx_attr_ints(m, node, a->name, ints, n);
}

void cq_export_add_attribute(cq_onnx_model *m, cq_onnx_node *node, const cq_attr *a)
{
    switch (a->value.kind) {
    case CQ_OPERAND_INT: cq_onnx_attr_int(m, node, a->name, a->value.u.i.value); break;
    case CQ_OPERAND_BOOL: cq_onnx_attr_int(m, node, a->name, a->value.u.b); break;
    case CQ_OPERAND_FLOAT: cq_onnx_attr_float(m, node, a->name, (float)a->value.u.f); break;
    case CQ_OPERAND_STR: cq_onnx_attr_string(m, node, a->name, a->value.u.s); break;
    case CQ_OPERAND_TENSOR: cq_onnx_attr_tensor(m, node, a->name, a->value.u.tensor); break;
    case CQ_OPERAND_LIST: list_attribute(m, node, a); break;
    default: break;
    }
}

static const char *value_name(const lowering *l, const cq_value *v)
{
    const char *local = cq_ptr_map_get(&l->local, v);

    return local ? local : v->name;
}

static const char *operand_name(const lowering *l, const cq_operand *o)
{
    return o->kind == CQ_OPERAND_VALUE ? value_name(l, o->u.value) : "";
}

static void lower_block(lowering *l, const cq_block *b, cq_onnx_graph *graph);

/* The attribute that holds a node's i-th block. */
static const char *block_attr(const cq_node *n, size_t i)
{
    if (n->blocks[i]->attr)
        return n->blocks[i]->attr;
    if (strcmp(n->op, "onnx::If") == 0)
        return i ? "else_branch" : "then_branch";
    return "body";
}

static cq_onnx_graph *lower_subgraph(lowering *l, const cq_node *n, size_t i)
{
    const cq_block *b = n->blocks[i];
    char            graph_name[512];
    cq_onnx_graph  *graph;

    snprintf(graph_name, sizeof graph_name, "%.400s_%.64s", n->name, block_attr(n, i));
    graph = cq_onnx_graph_new(l->model, graph_name);
    if (!graph)
        return NULL;
    for (size_t k = 0; k < b->params.n; k++)
        cq_onnx_add_value(l->model, &graph->input, b->params.items[k]->name,
                          type_of_value(l, b->params.items[k]));
    lower_block(l, b, graph);
    for (size_t k = 0; k < b->returns.n; k++)
        cq_onnx_add_value(l->model, &graph->output, b->returns.items[k].u.value->name,
                          type_of_value(l, b->returns.items[k].u.value));
    return graph;
}

/* The blocks from the i-th on that are one attribute; returns the index of the next. */
static size_t subgraphs(lowering *l, cq_onnx_node *node, const cq_node *n, size_t i)
{
    const char     *name = block_attr(n, i);
    size_t          len = strlen(name), n_graphs = 0;
    bool            listed = len > 2 && strcmp(name + len - 2, "[]") == 0;
    cq_onnx_graph **graphs = cq_onnx_alloc(l->model, (n->n_blocks - i) * sizeof *graphs);
    char            plain[256];

    if (!graphs)
        return n->n_blocks;
    do
        graphs[n_graphs++] = lower_subgraph(l, n, i++);
    while (listed && i < n->n_blocks && strcmp(block_attr(n, i), name) == 0);
    snprintf(plain, sizeof plain, "%.*s", (int)(listed ? len - 2 : len), name);
    if (listed)
        cq_onnx_attr_graphs(l->model, node, plain, graphs, n_graphs);
    else
        cq_onnx_attr_graph(l->model, node, plain, graphs[0]);
    return i;
}

static void note_as_metadata(lowering *l, cq_onnx_node *node, const cq_attr *note)
{
    cq_str value = { 0 }, key = { 0 };

    cq_export_note_text(&value, &note->value);
    cq_str_printf(&key, "%s:%s", node->name, note->name);
    if (value.status != CQ_OK || key.status != CQ_OK)
        l->model->status = CQ_E_NO_MEMORY;
    cq_onnx_add_entry(l->model, &node->metadata_props, note->name, cq_str_text(&value));
    cq_onnx_add_entry(l->model, &l->model->metadata_props, cq_str_text(&key), cq_str_text(&value));
    cq_str_clear(&value);
    cq_str_clear(&key);
}

/* The user's annotations. ONNX defines no such attributes. */
static void annotations(lowering *l, cq_onnx_node *node, const cq_node *n)
{
    bool as_metadata = l->ex->options.annotations == CQ_ANNOTATIONS_METADATA;

    for (size_t i = 0; i < n->n_notes && node; i++)
        if (as_metadata)
            note_as_metadata(l, node, &n->notes[i]);
        else
            cq_export_add_attribute(l->model, node, &n->notes[i]);
    l->has_foreign_attributes |= n->n_notes && !as_metadata;
}

/* Gradient has its variables by name: an empty name means the corresponding input, whose final name
 * is not known yet. */
static void gradient_inputs(lowering *l, cq_onnx_node *node, const cq_node *n, const cq_attr *a)
{
    const cq_operand *items = a->value.u.list.items;
    const size_t      count = a->value.u.list.n;
    const char      **names = cq_onnx_alloc(l->model, count * sizeof *names);

    for (size_t i = 0; i < count && names; i++)
        names[i] =
            *items[i].u.s || i >= n->n_inputs ? items[i].u.s : operand_name(l, &n->inputs[i]);
    if (names)
        cq_onnx_attr_strings(l->model, node, a->name, names, count);
}

static bool names_inputs(const cq_node *n, const cq_attr *a)
{
    return strcmp(n->op, "ai.onnx.preview.training::Gradient") == 0 && strcmp(a->name, "xs") == 0 &&
           a->value.kind == CQ_OPERAND_LIST && a->value.u.list.n &&
           a->value.u.list.items[0].kind == CQ_OPERAND_STR;
}

/* "layer1:Sequential/0:Bottleneck", from the outermost module; the model itself has no name. */
static void add_origin(lowering *l, cq_onnx_node *node, const cq_origin *origin)
{
    enum { MAX_LEVELS = 64 };
    const cq_origin *levels[MAX_LEVELS];
    const char      *outer = "";
    size_t           n     = 0;
    cq_str           s     = { 0 };

    for (; origin && n < MAX_LEVELS; origin = origin->parent)
        if (origin->name && *origin->name)
            levels[n++] = origin;
    if (!n || !node)
        return;
    while (n-- > 0) { /* the path below the last module: lists of modules are not called */
        const char *path = levels[n]->path ? levels[n]->path : levels[n]->name;

        if (cq_starts_with(path, outer) && path[strlen(outer)] == '.')
            path += strlen(outer) + 1;
        cq_str_printf(&s, "%s%s:%s", s.len ? "/" : "", path,
                      levels[n]->class_name ? levels[n]->class_name : "");
        outer = levels[n]->path ? levels[n]->path : "";
    }
    if (s.status != CQ_OK)
        l->model->status = s.status;
    cq_onnx_add_entry(l->model, &node->metadata_props, "calque.module", cq_str_text(&s));
    cq_str_clear(&s);
}

static void lower_node(lowering *l, const cq_node *n, cq_onnx_graph *graph)
{
    const char   *colons = strstr(n->op, "::");
    char          domain[256];
    cq_onnx_node *node;

    snprintf(domain, sizeof domain, "%.*s", colons ? (int)(colons - n->op) : 0, n->op);
    if (strcmp(domain, "onnx") == 0)
        domain[0] = '\0';
    else if (cq_map_set(&l->domains, domain, NULL) != CQ_OK)
        l->model->status = CQ_E_NO_MEMORY;
    node = l->function
               ? cq_onnx_function_add_node(l->model, l->function, colons ? colons + 2 : n->op,
                                           domain[0] ? domain : NULL, n->name)
               : cq_onnx_graph_add_node(l->model, graph, colons ? colons + 2 : n->op,
                                        domain[0] ? domain : NULL, n->name);
    for (size_t i = 0; i < n->n_inputs; i++)
        cq_onnx_node_add_input(l->model, node, operand_name(l, &n->inputs[i]));
    for (size_t i = 0; i < n->n_outputs; i++)
        cq_onnx_node_add_output(l->model, node, value_name(l, n->outputs[i]));
    for (size_t i = 0; i < n->n_attrs; i++)
        if (names_inputs(n, &n->attrs[i]))
            gradient_inputs(l, node, n, &n->attrs[i]);
        else
            cq_export_add_attribute(l->model, node, &n->attrs[i]);
    if (strcmp(n->op, "onnx::Optional") == 0 &&
        !n->n_inputs) /* the element type of an empty optional */
        cq_onnx_attr_type(l->model, node, "type", type_of(l, element_of(n->outputs[0]->type)));
    for (size_t i = 0; i < n->n_blocks;)
        i = subgraphs(l, node, n, i);
    annotations(l, node, n);
    if (l->ex->options.flags & CQ_EXPORT_ORIGINS)
        add_origin(l, node, n->origin);
    /* As torch.onnx does with verbose=True. */
    if (n->location.source && l->ex->options.flags & (CQ_EXPORT_VERBOSE | CQ_EXPORT_ORIGINS))
        node->doc_string =
            cq_onnx_text(l->model, cq_location_text(n->location, (char[CQ_LOCATION_SIZE]){ 0 }));
}

/* Whether the type of a value is complete: inference could not add anything. */
static bool is_settled(const cq_value *v)
{
    const cq_type *t = &v->type;

    if (t->kind == CQ_TYPE_INT || t->kind == CQ_TYPE_FLOAT || t->kind == CQ_TYPE_BOOL)
        return true;
    if (t->kind != CQ_TYPE_TENSOR || t->dtype == CQ_DTYPE_NONE || t->rank < 0 || v->rank_varies)
        return false;
    for (int i = 0; i < t->rank; i++)
        if (t->sizes[i].expr || t->sizes[i].value < 0)
            return false;
    return true;
}

static bool same_type(const cq_type *a, const cq_type *b)
{
    if (a->kind != b->kind || a->dtype != b->dtype || a->rank != b->rank)
        return false;
    for (int i = 0; i < a->rank; i++)
        if (a->sizes[i].value != b->sizes[i].value)
            return false;
    return true;
}

/* The type of an intermediate value, which is final: shared with the previous one if they are
 * equal. */
static cq_onnx_type *inner_type(lowering *l, const cq_value *v)
{
    if (!is_settled(v))
        return type_of_value(l, v);
    if (!l->last || !same_type(&l->last->type, &v->type)) {
        l->last      = v;
        l->last_type = type_of_value(l, v);
    }
    return l->last_type;
}

static void lower_block(lowering *l, const cq_block *b, cq_onnx_graph *graph)
{
    cq_ptr_map returned = { 0 };

    for (size_t i = 0; i < b->returns.n; i++)
        if (cq_ptr_map_set(&returned, b->returns.items[i].u.value, l) != CQ_OK)
            l->model->status = CQ_E_NO_MEMORY;
    for (const cq_node *n = b->first; n; n = n->next) {
        lower_node(l, n, graph);
        for (size_t i = 0; i < n->n_outputs; i++) {
            const cq_value *v = n->outputs[i];

            l->ex->is_open |= n->n_blocks || !v->n_uses || !is_settled(v);
            if (v->type.kind != CQ_TYPE_UNKNOWN && v->n_uses && !cq_ptr_map_get(&returned, v))
                cq_onnx_add_value(l->model, &graph->value_info, v->name, inner_type(l, v));
        }
    }
    cq_ptr_map_clear(&returned);
}

/* ---- functions ---- */

/* A weight has its name in the module ("weight"), any other value its number. */
static cq_status local_name(lowering *l, const cq_export_function *f, const cq_value *v, size_t i,
                            const char *kind)
{
    size_t      prefix = strlen(f->path);
    const char *name =
        v->is_weight && v->name && strncmp(v->name, f->path, prefix) == 0 && v->name[prefix] == '.'
            ? v->name + prefix + 1
            : NULL;
    char buffer[64];

    snprintf(buffer, sizeof buffer, "%s_%zu", kind, i);
    name = cq_onnx_text(l->model, name ? name : buffer);
    return name ? cq_ptr_map_set(&l->local, v, (void *)name) : CQ_E_NO_MEMORY;
}

static cq_status lower_function(lowering *l, const cq_export_function *f)
{
    const cq_export_options *o      = &l->ex->options;
    size_t                   count  = 0;
    cq_status                status = CQ_OK;

    l->function = cq_onnx_model_add_function(l->model, "calque.modules", f->name);
    if (!l->function)
        return l->model->status;
    for (size_t i = 0; i < f->n_inputs && status == CQ_OK; i++)
        status = local_name(l, f, f->inputs[i], i, "input");
    for (const cq_node *n = f->body->first; n && status == CQ_OK; n = n->next)
        for (size_t i = 0; i < n->n_outputs && status == CQ_OK; i++)
            status = local_name(l, f, n->outputs[i], count++, "value");
    if (status == CQ_OK) {
        for (size_t i = 0; i < f->n_inputs; i++)
            cq_onnx_add_name(l->model, &l->function->input, value_name(l, f->inputs[i]));
        for (size_t i = 0; i < f->n_outputs; i++)
            cq_onnx_add_name(l->model, &l->function->output, value_name(l, f->outputs[i]));
        for (const cq_node *n = f->body->first; n; n = n->next)
            lower_node(l, n, NULL);
        cq_onnx_function_add_opset(l->model, l->function, "", o->opset);
        cq_onnx_function_add_opset(l->model, l->function, "calque.modules", 1);
    }
    l->function = NULL;
    cq_ptr_map_clear(&l->local);
    return status;
}

static bool initializers_are_inputs(const cq_export_options *o)
{
    if (o->opset < 9) {
        if (o->flags & CQ_EXPORT_NO_INITIALIZERS_AS_INPUTS)
            cq_warn(NULL,
                    "before opset 9 initializers must be inputs too; they are kept as inputs");
        return true;
    }
    if (o->flags & (CQ_EXPORT_KEEP_INITIALIZERS_AS_INPUTS | CQ_EXPORT_NO_INITIALIZERS_AS_INPUTS))
        return (o->flags & CQ_EXPORT_KEEP_INITIALIZERS_AS_INPUTS) != 0;
    return o->operators != CQ_OPERATORS_ONNX;
}

/* Before opset 9 an initializer has to be an input. Since then it is optional: for weights, which a
 * user might replace, not for constants of the program. */
static void weights(lowering *l)
{
    const cq_export_options *o        = &l->ex->options;
    cq_graph                *g        = l->ex->graph;
    bool                     as_input = initializers_are_inputs(o);

    for (size_t i = 0; i < g->constants.n; i++) {
        cq_value *v     = g->constants.items[i];
        bool      given = v->is_weight && (o->flags & CQ_EXPORT_NO_PARAMS);
        bool      input = as_input && (v->is_weight || o->opset < 9);

        if (!v->n_uses)
            continue;
        if (input || given)
            cq_onnx_add_value(l->model, &l->model->graph->input, v->name, type_of(l, v->type));
        if (!given)
            cq_onnx_graph_add_initializer(l->model, NULL, v->name, v->data);
    }
}

/* An axis of an output that the user declared dynamic: it gets the user's name, or a generated one
 * as for an input, so that axes declared by number have the same kind of name everywhere. A fixed
 * size gets no user's name, which might refer to the size of an input. */
static void name_axis(cq_onnx_model *m, const cq_value *v, cq_onnx_dim *dim, cq_int size,
                      const cq_dynamic_axis *d, size_t nth)
{
    const char *name = d->name && size.expr ? cq_onnx_text(m, d->name) : NULL;

    if (!size.expr)
        cq_warn(v->name, "axis %d cannot be dynamic: its size in the model is always %lld", d->axis,
                (long long)size.value);
    if (!d->name)
        name = cq_arena_printf(m->arena, "%s_dynamic_axes_%zu", v->name, nth);
    if (name)
        *dim = (cq_onnx_dim){ .dim_param = name };
}

static void name_axes(const cq_export_options *o, cq_onnx_model *m, const cq_value *v,
                      const cq_onnx_type *type)
{
    size_t nth = 0; /* of this output's dynamic axes */

    for (size_t i = 0; i < o->n_dynamic_axes; i++) {
        const cq_dynamic_axis *d    = &o->dynamic_axes[i];
        int                    axis = d->axis < 0 ? d->axis + v->type.rank : d->axis;

        if (strcmp(d->value, v->name) != 0)
            continue;
        if (axis < 0 || axis >= v->type.rank)
            cq_warn(v->name, "dynamic axis %d is out of range: the output has %d dimensions",
                    d->axis, v->type.rank);
        else
            name_axis(m, v, type->tensor_type->shape->dim.items[axis], v->type.sizes[axis], d,
                      ++nth);
    }
}

void cq_export_name_output_axes(cq_exporter *ex, cq_onnx_model *m)
{
    const cq_block *top = ex->graph->top;

    for (size_t i = 0; i < top->returns.n; i++) {
        const cq_value *v = top->returns.items[i].u.value;

        if (v->type.kind == CQ_TYPE_TENSOR && v->type.rank >= 0 && !v->rank_varies)
            name_axes(&ex->options, m, v, m->graph->output.items[i]->type);
    }
}

static void output(lowering *l, const cq_value *v)
{
    cq_onnx_add_value(l->model, &l->model->graph->output, v->name,
                      v->rank_varies ? example_type(l, v) : type_of_value(l, v));
}

/* Warns about a dynamic axis of a value that does not exist. */
static void check_axis_names(const cq_exporter *ex)
{
    const cq_block *top = ex->graph->top;

    for (size_t i = 0; i < ex->options.n_dynamic_axes; i++) {
        const char *name  = ex->options.dynamic_axes[i].value;
        bool        known = i && strcmp(ex->options.dynamic_axes[i - 1].value, name) == 0;

        for (size_t k = 0; k < top->params.n; k++)
            known |= strcmp(top->params.items[k]->name, name) == 0;
        for (size_t k = 0; k < top->returns.n; k++)
            known |= strcmp(top->returns.items[k].u.value->name, name) == 0;
        if (!known)
            cq_warn(NULL, "dynamic axis of \"%s\", which is neither an input nor an output", name);
    }
}

static int64_t domain_version(const cq_export_options *o, const char *domain)
{
    for (size_t i = 0; i < o->n_custom_opsets; i++)
        if (strcmp(o->custom_opsets[i].domain, domain) == 0)
            return o->custom_opsets[i].version;
    return 1;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void opsets(lowering *l)
{
    const cq_export_options *o     = &l->ex->options;
    const char             **names = cq_alloc_array(l->domains.n, sizeof *names);
    size_t                   n     = 0;

    if (!names) {
        l->model->status = CQ_E_NO_MEMORY;
        return;
    }
    cq_onnx_model_add_opset(l->model, "", o->opset);
    for (; n < l->domains.n; n++)
        names[n] = l->domains.entries[n].key;
    qsort(names, n, sizeof *names, by_text);
    for (size_t i = 0; i < n; i++)
        cq_onnx_model_add_opset(l->model, names[i], domain_version(o, names[i]));
    for (size_t i = 0; i < o->n_custom_opsets; i++)
        if (!cq_map_has(&l->domains, o->custom_opsets[i].domain))
            cq_warn(NULL,
                    "the custom opset domain \"%s\" is not used in the model and was left out",
                    o->custom_opsets[i].domain);
    cq_free(names);
}

/* State has dynamic axes for every output. */
static bool is_state(const cq_graph *source, const char *input)
{
    for (size_t i = 0; i < source->states.n; i++)
        if (strcmp(source->states.items[i].input, input) == 0)
            return true;
    return false;
}

static bool stays_input(const cq_exporter *ex, size_t i)
{
    const uint32_t  flags = ex->options.flags;
    const cq_value *v     = ex->graph->top->params.items[i];

    return v->n_uses || !(flags & (CQ_EXPORT_DROP_UNUSED_INPUTS | CQ_EXPORT_DROP_UNREAD_INPUTS)) ||
           (ex->is_read[i] && !(flags & CQ_EXPORT_DROP_UNUSED_INPUTS)) ||
           is_state(ex->source, v->name);
}

cq_status cq_export_lower(cq_exporter *ex, cq_onnx_model **out)
{
    const cq_export_options *o   = &ex->options;
    lowering                 l   = { .ex = ex };
    cq_block                *top = ex->graph->top;
    cq_status                status;

    *out = NULL;
    check_axis_names(ex);
    CQ_TRY(cq_onnx_model_new(&l.model, o->graph_name ? o->graph_name : "main_graph"));
    cq_ir_count_uses(ex->graph);
    spread_varying_ranks(top);
    cq_onnx_model_set_ir_version(l.model, cq_onnx_ir_of_opset(o->opset));
    cq_onnx_model_set_producer(l.model, o->producer ? o->producer : "calque", cq_version_string());
    for (size_t i = 0; i < top->params.n; i++)
        if (stays_input(ex, i))
            cq_onnx_add_value(l.model, &l.model->graph->input, top->params.items[i]->name,
                              type_of(&l, top->params.items[i]->type));
    weights(&l);
    ex->is_open = ex->functions.n > 0;
    lower_block(&l, top, l.model->graph);
    status = CQ_OK;
    for (size_t i = 0; i < ex->functions.n && status == CQ_OK; i++)
        status = lower_function(&l, ex->functions.items[i]);
    for (size_t i = 0; i < top->returns.n; i++)
        output(&l, top->returns.items[i].u.value);
    opsets(&l);
    if (l.has_foreign_attributes)
        cq_warn(NULL, "annotations are attributes that ONNX does not define, so checkers and "
                      "runtimes reject the model; --annotations metadata is valid");
    cq_map_clear(&l.domains);
    if (status == CQ_OK)
        status = l.model->status;
    if (status != CQ_OK) {
        cq_onnx_model_free(l.model);
        return status;
    }
    *out = l.model;
    return CQ_OK;
}
