/* Reads an ONNX model as a graph of ir. Initializers are views of the file. Constant nodes keep
 * their form, with one attribute `value`. Types come from inference, so that passes know the sizes
 * of all values as symbols. */
#include "export/front/onnx.h"

#include "onnx/infer/values.h"
#include "onnx/tensor.h"

#include <stdio.h>

enum { MAX_DEPTH = 64, MAX_KNOWN = 64, ALIGNED = 1 << 16, SMALL = 64, MAX_ATTRIBUTES = 1000 };

/* ---- results of inference ---- */

typedef struct known_value {
    cq_type           type;
    cq_tensor        *data; /* retained by the graph; NULL: unknown */
    cq_onnx_elements *elements;
} known_value;

static cq_type type_of(cq_graph *g, const cq_itype *t)
{
    cq_int  sizes[CQ_MAX_RANK];
    cq_type unknown = { .kind = CQ_TYPE_UNKNOWN, .rank = -1 };

    if (t->kind != CQ_IKIND_TENSOR)
        return unknown;
    unknown.kind  = CQ_TYPE_TENSOR;
    unknown.dtype = cq_dtype_from_onnx(t->elem);
    if (!t->has_rank || t->rank > CQ_MAX_RANK)
        return unknown;
    for (size_t i = 0; i < t->rank; i++) {
        const cq_dim d = t->dims[i];

        if (!d.known)
            return unknown;
        sizes[i] = d.size.expr ? cq_dim_parse(&g->symbols, d.size.expr->text) : d.size;
    }
    return cq_ir_tensor_type(g, unknown.dtype, t->rank, sizes);
}

/* Integers that follow from shapes; NULL if some of them do not. */
static cq_status data_of(cq_tensor **out, cq_graph *g, const cq_ivalue *v)
{
    const cq_dtype dtype = cq_dtype_from_onnx(v->type.elem);
    int64_t        ints[MAX_KNOWN], sizes[CQ_MAX_RANK], n = 1;
    cq_tensor     *wide = NULL;
    cq_status      status;

    *out = NULL;
    if (!v->data || v->tensor || v->data->n > MAX_KNOWN || !v->type.has_rank || v->type.rank > 8 ||
        (dtype != CQ_DTYPE_I64 && dtype != CQ_DTYPE_I32 && dtype != CQ_DTYPE_BOOL))
        return CQ_OK;
    for (size_t i = 0; i < v->data->n; i++) {
        if (v->data->items[i].kind != CQ_INUM_INT || v->data->items[i].i.expr)
            return CQ_OK;
        ints[i] = v->data->items[i].i.value;
    }
    for (size_t i = 0; i < v->type.rank; i++) {
        if (!cq_dim_is_plain(v->type.dims[i]))
            return CQ_OK;
        sizes[i] = v->type.dims[i].size.value;
        n *= sizes[i];
    }
    if (n != (int64_t)v->data->n)
        return CQ_OK;
    CQ_TRY(cq_tensor_new(&wide, CQ_DTYPE_I64, v->type.rank, sizes, ints));
    status = cq_tensor_clone(out, wide, dtype);
    cq_tensor_release(wide);
    if (status == CQ_OK)
        status = cq_ir_keep_tensor(g, *out);
    if (*out)
        cq_tensor_release(*out);
    return status;
}

/* The same for integers that include dynamic sizes; NULL: one of them is unknown. */
static cq_status elements_of(cq_onnx_elements **out, cq_graph *g, const cq_ivalue *v)
{
    const size_t      n = v->data ? v->data->n : 0;
    cq_onnx_elements *e;

    *out = NULL;
    if (!n || n > CQ_MAX_RANK || v->tensor || v->type.elem != CQ_ONNX_INT64 || v->type.rank != 1)
        return CQ_OK;
    for (size_t i = 0; i < n; i++)
        if (v->data->items[i].kind != CQ_INUM_INT)
            return CQ_OK;
    e = cq_arena_zalloc(g->arena, sizeof *e + n * sizeof *e->items);
    if (!e)
        return CQ_E_NO_MEMORY;
    e->n = n;
    for (size_t i = 0; i < n; i++) {
        const cq_int x = v->data->items[i].i;

        e->items[i] = x.expr ? cq_dim_parse(&g->symbols, x.expr->text) : x;
    }
    *out = e;
    return CQ_OK;
}

static cq_status learn(void *user, const cq_onnx_graph *graph, const cq_ivalue *v)
{
    cq_onnx_source *s   = user;
    cq_graph       *g   = s->ex->graph;
    cq_map         *map = cq_ptr_map_get(&s->types, graph);
    known_value    *k   = cq_arena_zalloc(g->arena, sizeof *k);

    if (!map && (map = cq_arena_zalloc(g->arena, sizeof *map))) {
        CQ_TRY(cq_ptr_map_set(&s->types, graph, map));
        CQ_TRY(cq_vec_push(&s->maps, map));
    }
    if (!k || !map)
        return CQ_E_NO_MEMORY;
    k->type = type_of(g, &v->type);
    CQ_TRY(data_of(&k->data, g, v));
    if (!k->data)
        CQ_TRY(elements_of(&k->elements, g, v));
    return cq_map_set(map, v->name, k);
}

/* ---- names ---- */

typedef struct names names;
struct names {
    const names         *outer;
    const cq_onnx_graph *graph;
    cq_map               values;
    int                  depth;
};

static cq_value *find(const names *n, const char *name)
{
    cq_value *v = NULL;

    for (; n && !v; n = n->outer)
        v = cq_map_get(&n->values, name);
    return v;
}

static cq_status define(cq_onnx_source *s, names *n, const char *name, cq_value *v)
{
    cq_graph          *g     = s->ex->graph;
    const cq_map      *types = cq_ptr_map_get(&s->types, n->graph);
    const known_value *known = types && name ? cq_map_get(types, name) : NULL;

    CQ_TRY(g->status);
    v->name = cq_ir_text(g, name ? name : "");
    if (known && !v->data)
        v->type = known->type;
    if (known && known->data && v->node)
        CQ_TRY(cq_ptr_map_set(&s->known, v, known->data));
    if (known && known->elements && v->node)
        CQ_TRY(cq_ptr_map_set(&s->elements, v, known->elements));
    return *v->name ? cq_map_set(&n->values, v->name, v) : g->status;
}

/* ---- tensors ---- */

/* Small tensors are aligned for computing; large ones are views at any address. NULL: unsupported
 * dtype. */
static cq_status tensor_of(cq_tensor **out, cq_onnx_source *s, const cq_onnx_tensor *message)
{
    const cq_dtype dtype = cq_dtype_from_onnx(message->data_type);
    size_t         size  = 0;
    cq_status      status;

    *out = NULL;
    if (dtype == CQ_DTYPE_NONE || cq_onnx_tensor_raw_size(&size, message) != CQ_OK)
        return CQ_OK;
    status = size <= ALIGNED ? cq_onnx_tensor_to_tensor(out, s->model, message)
                             : cq_onnx_tensor_in_place(out, s->model, message);
    if (status == CQ_E_UNSUPPORTED)
        return CQ_OK;
    if (status == CQ_OK)
        status = cq_ptr_map_set(&s->messages, *out, (void *)message);
    return status;
}

static cq_status add_initializer(cq_onnx_source *s, names *n, cq_onnx_tensor *message)
{
    cq_graph  *g = s->ex->graph;
    cq_tensor *t;
    cq_value  *v;

    if (!message->name)
        return CQ_OK;
    CQ_TRY(tensor_of(&t, s, message));
    if (t) {
        v = cq_ir_constant_new(g, t, cq_tensor_numel(t) > SMALL);
        cq_tensor_release(t);
        return v ? define(s, n, message->name, v) : g->status;
    }
    v = cq_ir_value_new(g, (cq_type){ .rank = -1 });
    if (!v)
        return g->status;
    v->block = g->top;
    CQ_TRY(cq_vec_push(&s->opaque, (cq_onnx_opaque){ .value = v, .tensor = message }));
    return define(s, n, message->name, v);
}

static cq_status add_sparse(cq_onnx_source *s, names *n, cq_onnx_sparse_tensor *message)
{
    cq_graph *g = s->ex->graph;
    cq_value *v;

    if (!message->values || !message->values->name || cq_map_get(&n->values, message->values->name))
        return CQ_OK;
    v = cq_ir_value_new(g, (cq_type){ .rank = -1 });
    if (!v)
        return g->status;
    v->block = g->top;
    CQ_TRY(cq_vec_push(&s->opaque, (cq_onnx_opaque){ .value = v, .sparse = message }));
    return define(s, n, message->values->name, v);
}

/* ---- attributes ---- */

static cq_operand list_of(cq_graph *g, size_t n, cq_operand_kind kind, const cq_onnx_attribute *a)
{
    cq_operand *items = cq_arena_array(g->arena, n, sizeof *items);

    if (!items) {
        g->status = CQ_E_NO_MEMORY;
        return (cq_operand){ 0 };
    }
    for (size_t i = 0; i < n; i++) {
        items[i].kind = kind;
        if (kind == CQ_OPERAND_INT)
            items[i].u.i = cq_i(a->ints.items[i]);
        else
            items[i].u.f = a->floats.items[i];
    }
    return (cq_operand){ .kind = CQ_OPERAND_LIST, .u.list = { items, n } };
}

static cq_status attribute_of(cq_operand *out, cq_onnx_source *s, const cq_onnx_attribute *a)
{
    cq_graph  *g = s->ex->graph;
    cq_tensor *t = NULL;

    *out = (cq_operand){ .kind = CQ_OPERAND_OPAQUE, .u.opaque = a };
    switch (a->ref_attr_name && *a->ref_attr_name ? 0 : a->type) {
    case CQ_ONNX_ATTR_INT: *out = (cq_operand){ .kind = CQ_OPERAND_INT, .u.i = cq_i(a->i) }; break;
    case CQ_ONNX_ATTR_FLOAT: *out = (cq_operand){ .kind = CQ_OPERAND_FLOAT, .u.f = a->f }; break;
    case CQ_ONNX_ATTR_INTS: *out = list_of(g, a->ints.n, CQ_OPERAND_INT, a); break;
    case CQ_ONNX_ATTR_FLOATS: *out = list_of(g, a->floats.n, CQ_OPERAND_FLOAT, a); break;
    case CQ_ONNX_ATTR_STRING:
        if (a->s.data && !memchr(a->s.data, 0, a->s.size)) {
            const char *text = cq_arena_strndup(g->arena, a->s.data, a->s.size);

            if (!text)
                return CQ_E_NO_MEMORY;
            *out = (cq_operand){ .kind = CQ_OPERAND_STR, .u.s = text };
        }
        break;
    case CQ_ONNX_ATTR_TENSOR:
        if (a->t)
            CQ_TRY(tensor_of(&t, s, a->t));
        if (t)
            *out = (cq_operand){ .kind = CQ_OPERAND_TENSOR, .u.tensor = t };
        break;
    default: break;
    }
    return g->status;
}

/* ---- nodes ---- */

static cq_status read_graph(cq_onnx_source *s, cq_block *b, cq_onnx_graph *graph,
                            const names *outer);

static cq_status add_block(cq_onnx_source *s, cq_node *node, const char *attr, cq_onnx_graph *graph,
                           const names *n)
{
    static const char *const plain[] = { "onnx::If", "onnx::Loop", "onnx::Scan" };
    cq_block                *b       = cq_ir_node_block(node);

    if (!b)
        return s->ex->graph->status;
    if (!CQ_IS_AMONG(node->op, plain))
        b->attr = cq_ir_text(s->ex->graph, attr);
    return read_graph(s, b, graph, n);
}

/* An If has its then_branch first. */
static cq_status add_blocks(cq_onnx_source *s, cq_node *node, const cq_onnx_node *message,
                            const names *n)
{
    const cq_onnx_attribute *yes = cq_onnx_node_attr(message, "then_branch");
    char                     listed[256];

    if (yes && yes->g)
        CQ_TRY(add_block(s, node, yes->name, yes->g, n));
    for (size_t i = 0; i < message->attribute.n; i++) {
        const cq_onnx_attribute *a = message->attribute.items[i];

        if (a->g && a != yes)
            CQ_TRY(add_block(s, node, a->name, a->g, n));
        snprintf(listed, sizeof listed, "%.250s[]", a->name ? a->name : "");
        for (size_t k = 0; k < a->graphs.n; k++)
            CQ_TRY(add_block(s, node, listed, a->graphs.items[k], n));
    }
    return CQ_OK;
}

/* Constant has one of several attributes; passes know `value`. */
static cq_status normalize_constant(cq_node *n)
{
    const cq_attr *a = n->n_attrs == 1 ? &n->attrs[0] : NULL;
    cq_tensor     *t = NULL;
    int64_t        count;
    cq_status      status;

    if (!a || strcmp(n->op, "onnx::Constant") != 0)
        return CQ_OK;
    if (strcmp(a->name, "value_int") == 0 && a->value.kind == CQ_OPERAND_INT)
        CQ_TRY(cq_tensor_new(&t, CQ_DTYPE_I64, 0, NULL, &a->value.u.i.value));
    else if (strcmp(a->name, "value_float") == 0 && a->value.kind == CQ_OPERAND_FLOAT)
        CQ_TRY(cq_tensor_new(&t, CQ_DTYPE_F32, 0, NULL, &(float){ (float)a->value.u.f }));
    else if ((strcmp(a->name, "value_ints") == 0 || strcmp(a->name, "value_floats") == 0) &&
             a->value.kind == CQ_OPERAND_LIST) {
        const bool ints = strcmp(a->name, "value_ints") == 0;

        count = (int64_t)a->value.u.list.n;
        CQ_TRY(cq_tensor_new(&t, ints ? CQ_DTYPE_I64 : CQ_DTYPE_F32, 1, &count, NULL));
        for (int64_t i = 0; i < count; i++)
            if (ints)
                ((int64_t *)cq_tensor_data(t))[i] = a->value.u.list.items[i].u.i.value;
            else
                ((float *)cq_tensor_data(t))[i] = (float)a->value.u.list.items[i].u.f;
    }
    if (!t)
        return CQ_OK;
    n->n_attrs = 0;
    status = cq_ir_attr_set(n, "value", (cq_operand){ .kind = CQ_OPERAND_TENSOR, .u.tensor = t });
    cq_tensor_release(t);
    return status;
}

static cq_status read_attributes(cq_onnx_source *s, cq_node *node, const cq_onnx_node *message)
{
    if (message->attribute.n > MAX_ATTRIBUTES) /* each name is compared with all others */
        return cq_fail(CQ_E_UNSUPPORTED, message->name, NULL,
                       "node %s has %u attributes; at most %d are supported", message->op_type,
                       message->attribute.n, MAX_ATTRIBUTES);
    for (size_t i = 0; i < message->attribute.n; i++) {
        const cq_onnx_attribute *a = message->attribute.items[i];
        cq_operand               value;

        if (a->g || a->graphs.n || !a->name)
            continue;
        CQ_TRY(attribute_of(&value, s, a));
        CQ_TRY(cq_ir_attr_set(node, a->name, value));
        if (value.kind == CQ_OPERAND_TENSOR)
            cq_tensor_release(value.u.tensor);
    }
    return normalize_constant(node);
}

static cq_status read_node(cq_onnx_source *s, cq_block *b, cq_onnx_node *message, names *n)
{
    cq_graph   *g      = s->ex->graph;
    const char *domain = message->domain ? message->domain : "";
    cq_operand *inputs = cq_arena_array(g->arena, message->input.n, sizeof *inputs);
    char        op[512];
    cq_node    *node;

    if (!inputs)
        return CQ_E_NO_MEMORY;
    for (size_t i = 0; i < message->input.n; i++) {
        cq_value *v = *message->input.items[i] ? find(n, message->input.items[i]) : NULL;

        if (*message->input.items[i] && !v)
            return cq_fail(CQ_E_INVALID, message->name, NULL,
                           "node %s reads %s, which no earlier node computes", message->op_type,
                           message->input.items[i]);
        inputs[i] = v ? CQ_OPERAND_OF(v) : (cq_operand){ 0 };
    }
    domain = !*domain || strcmp(domain, "ai.onnx") == 0 ? "onnx"
             : strcmp(domain, "onnx") == 0              ? "onnx (custom)"
                                                        : domain;
    snprintf(op, sizeof op, "%.250s::%.250s", domain, message->op_type ? message->op_type : "");
    node = cq_ir_node_new(b, NULL, op, inputs, message->input.n, message->output.n);
    if (!node)
        return g->status;
    node->def  = message;
    node->name = message->name && *message->name ? cq_ir_text(g, message->name) : NULL;
    CQ_TRY(read_attributes(s, node, message));
    CQ_TRY(add_blocks(s, node, message, n));
    for (size_t i = 0; i < message->output.n; i++)
        CQ_TRY(define(s, n, message->output.items[i], node->outputs[i]));
    return g->status;
}

/* An input with a default stays an input, because a caller may give another value. Before IR
 * version 4 every initializer had to be an input as well; there it is a constant. */
static cq_status read_inputs(cq_onnx_source *s, cq_block *b, const cq_onnx_graph *graph, names *n,
                             cq_map *defaults)
{
    const bool are_constants = s->model->ir_version < 4;

    for (size_t i = 0; i < graph->initializer.n; i++)
        if (graph->initializer.items[i]->name)
            CQ_TRY(cq_map_set(defaults, graph->initializer.items[i]->name, defaults));
    for (size_t i = 0; i < graph->input.n; i++) {
        const char *name = graph->input.items[i]->name;
        cq_value   *v;

        if (!name || (are_constants && cq_map_get(defaults, name)))
            continue;
        v = cq_ir_param_new(b, (cq_type){ .rank = -1 });
        if (!v)
            return s->ex->graph->status;
        CQ_TRY(define(s, n, name, v));
    }
    return CQ_OK;
}

static cq_status read_body(cq_onnx_source *s, cq_block *b, cq_onnx_graph *graph, names *n)
{
    for (size_t i = 0; i < graph->initializer.n; i++)
        if (graph->initializer.items[i]->name &&
            !cq_map_get(&n->values, graph->initializer.items[i]->name))
            CQ_TRY(add_initializer(s, n, graph->initializer.items[i]));
    for (size_t i = 0; i < graph->sparse_initializer.n; i++)
        CQ_TRY(add_sparse(s, n, graph->sparse_initializer.items[i]));
    for (size_t i = 0; i < graph->node.n; i++)
        CQ_TRY(read_node(s, b, graph->node.items[i], n));
    for (size_t i = 0; i < graph->output.n; i++) {
        const char *name = graph->output.items[i]->name;
        cq_value   *v    = name ? find(n, name) : NULL;

        if (!v)
            return cq_fail(CQ_E_INVALID, NULL, NULL, "no node computes the output %s",
                           name ? name : "");
        CQ_TRY(cq_vec_push(&b->returns, CQ_OPERAND_OF(v)));
    }
    return CQ_OK;
}

static cq_status read_graph(cq_onnx_source *s, cq_block *b, cq_onnx_graph *graph,
                            const names *outer)
{
    names     n        = { outer, graph, { 0 }, outer ? outer->depth + 1 : 0 };
    cq_map    defaults = { 0 };
    cq_status status;

    if (n.depth > MAX_DEPTH)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "subgraphs are nested more than %d deep",
                       MAX_DEPTH);
    CQ_TRY(cq_ptr_map_set(&s->graphs, b, graph));
    status = read_inputs(s, b, graph, &n, &defaults);
    if (status == CQ_OK)
        status = read_body(s, b, graph, &n);
    cq_map_clear(&defaults);
    cq_map_clear(&n.values);
    return status;
}

cq_status cq_onnx_source_read(cq_onnx_source *s, cq_exporter *ex, cq_onnx_model *model)
{
    s->ex    = ex;
    s->model = model;
    CQ_TRY(cq_onnx_model_each_value(model, learn, s));
    return read_graph(s, ex->graph->top, model->graph, NULL);
}

void cq_onnx_source_clear(cq_onnx_source *s)
{
    for (size_t i = 0; i < s->maps.n; i++)
        cq_map_clear(s->maps.items[i]);
    cq_vec_clear(&s->maps);
    cq_vec_clear(&s->opaque);
    cq_ptr_map_clear(&s->types);
    cq_ptr_map_clear(&s->graphs);
    cq_ptr_map_clear(&s->messages);
    cq_ptr_map_clear(&s->known);
    cq_ptr_map_clear(&s->elements);
}
