/* Walks a model: visits nodes in order and calls the rule of each; its outputs are merged with
 * their declarations. Subgraphs and functions are walked when a rule or call requires it. Types are
 * written into the model at the end, when no loop can change them any more. */
#include "base/cancel.h"
#include "onnx/infer/internal.h"

#include "onnx/expand.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- scopes ---- */

static cq_status declare(cq_infer_scope *s, const cq_onnx_value_infos *list)
{
    for (uint32_t i = 0; i < list->n; i++)
        if (list->items[i]->name)
            CQ_TRY(cq_map_set(&s->declared, list->items[i]->name, list->items[i]));
    return CQ_OK;
}

static cq_status new_scope(cq_infer_scope **out, cq_infer *in, const cq_infer_scope *like,
                           cq_onnx_graph *graph)
{
    cq_infer_scope *s = *out = cq_arena_zalloc(in->arena, sizeof *s);

    if (!s)
        return CQ_E_NO_MEMORY;
    CQ_TRY(cq_vec_push(&in->scopes, s));
    s->graph  = graph;
    s->opsets = &in->model->opset_import;
    if (like) {
        s->opsets = like->opsets;
        s->frame  = like->frame;
        s->depth  = like->depth + 1;
    }
    if (graph) {
        CQ_TRY(declare(s, &graph->value_info));
        CQ_TRY(declare(s, &graph->output));
    }
    return CQ_OK;
}

static cq_ivalue *look_up(const cq_infer_scope *s, const char *name)
{
    cq_ivalue *v = NULL;

    for (; s && !v; s = s->outer)
        v = cq_map_get(&s->values, name);
    return v;
}

static cq_status bind(cq_infer *in, cq_infer_scope *s, const cq_ivalue *value)
{
    cq_ivalue *v = cq_arena_copy(in->arena, value, sizeof *value);

    if (!v)
        return CQ_E_NO_MEMORY;
    CQ_TRY(cq_itype_name_unknown(&v->type, in));
    return cq_map_set(&s->values, v->name, v);
}

static cq_status tensor_type(cq_itype *out, cq_infer *in, int32_t elem, const cq_onnx_ints *sizes)
{
    cq_dim *dims;

    *out = (cq_itype){ .kind = CQ_IKIND_TENSOR, .elem = elem };
    if (sizes->n > CQ_MAX_RANK)
        return CQ_OK;
    dims = cq_arena_array(in->arena, sizes->n, sizeof *dims);
    if (!dims)
        return CQ_E_NO_MEMORY;
    for (uint32_t i = 0; i < sizes->n; i++)
        if (sizes->items[i] >= 0)
            dims[i] = cq_dim_of(sizes->items[i]);
    out->dims     = dims;
    out->rank     = sizes->n;
    out->has_rank = true;
    return CQ_OK;
}

static cq_status bind_initializers(cq_infer *in, cq_infer_scope *s)
{
    cq_onnx_graph *g = s->graph;

    for (uint32_t i = 0; i < g->initializer.n; i++) {
        const cq_onnx_tensor *t = g->initializer.items[i];
        cq_ivalue             v = { .name = t->name, .tensor = t };

        if (!t->name)
            continue;
        CQ_TRY(tensor_type(&v.type, in, t->data_type, &t->dims));
        CQ_TRY(bind(in, s, &v));
    }
    for (uint32_t i = 0; i < g->sparse_initializer.n; i++) {
        const cq_onnx_sparse_tensor *t = g->sparse_initializer.items[i];
        cq_ivalue                    v = { 0 };

        if (!t->values || !t->values->name)
            continue;
        CQ_TRY(tensor_type(&v.type, in, t->values->data_type, &t->dims));
        v.name      = t->values->name;
        v.type.kind = CQ_IKIND_SPARSE;
        CQ_TRY(bind(in, s, &v));
    }
    return CQ_OK;
}

/* A negative declared size counts as unknown, but it contradicts an inferred size. */
static cq_status check_negative(const cq_onnx_type *declared, const cq_itype *inferred)
{
    const cq_onnx_shape *shape = declared->tensor_type ? declared->tensor_type->shape : NULL;

    for (uint32_t i = 0; shape && inferred->has_rank && i < shape->dim.n && i < inferred->rank;
         i++) {
        const cq_onnx_dim *d = shape->dim.items[i];

        if (cq_onnx_has(d, CQ_ONNX_DIM_VALUE) && d->dim_value < 0 &&
            cq_dim_is_plain(inferred->dims[i]))
            return cq_fail(CQ_E_TYPE, NULL, NULL, "size %lld is declared but %lld is inferred",
                           (long long)d->dim_value, (long long)inferred->dims[i].size.value);
    }
    return CQ_OK;
}

/* Merges the declaration of a value with its inferred type. In strict mode they must agree,
 * otherwise the declaration has precedence. */
static cq_status merge_declared(cq_itype *type, cq_infer *in, const cq_onnx_value_info *info,
                                bool is_strict)
{
    cq_itype  declared;
    cq_status status;

    if (!info || !info->type)
        return CQ_OK;
    CQ_TRY(cq_itype_from_onnx(&declared, in, info->type));
    status = cq_itype_merge(&declared, in, type);
    if (status == CQ_OK && is_strict)
        status = check_negative(info->type, type);
    if (status != CQ_OK && (status == CQ_E_NO_MEMORY || is_strict))
        return cq_error_add_where(status, "value %s", info->name);
    *type = declared;
    return CQ_OK;
}

/* An input may also be an output. As in onnx, the last declaration counts, and nodes that
 * contradict it are reported. */
static cq_status type_as_output(cq_itype *type, cq_infer *in, const cq_onnx_graph *g,
                                const char *name)
{
    for (uint32_t i = 0; i < g->output.n; i++) {
        const cq_onnx_value_info *info = g->output.items[i];

        if (info->name && info->type && !strcmp(info->name, name))
            CQ_TRY(cq_itype_from_onnx(type, in, info->type));
    }
    return CQ_OK;
}

/* given has the types that the caller of a subgraph knows for its inputs. */
static cq_status bind_inputs(cq_infer *in, cq_infer_scope *s, size_t n_given,
                             const cq_ivalue *given)
{
    const cq_onnx_value_infos *list = &s->graph->input;

    for (uint32_t i = 0; i < list->n; i++) {
        cq_ivalue        v    = { 0 };
        const cq_ivalue *same = NULL;

        if (!list->items[i]->name)
            continue;
        if (i < n_given)
            v = given[i];
        else
            same = cq_map_get(&s->values, list->items[i]->name); /* the default of the input */
        if (same)
            v = *same;
        v.name = list->items[i]->name;
        CQ_TRY(merge_declared(&v.type, in, list->items[i], in->flags & CQ_ONNX_INFER_STRICT));
        if (in->flags & CQ_ONNX_INFER_STRICT)
            CQ_TRY(type_as_output(&v.type, in, s->graph, v.name));
        CQ_TRY(bind(in, s, &v));
    }
    return CQ_OK;
}

/* ---- one node ---- */

/* Sets element types that the schema determines: the type of an input with the same type variable,
 * or the only allowed type. */
static void types_from_schema(cq_rule *r)
{
    const cq_onnx_schema *s = r->schema;

    for (size_t k = 0; s && k < r->n_outputs; k++) {
        const cq_onnx_parameter *out  = cq_onnx_parameter_at(s->outputs, s->n_outputs, k);
        int32_t                  elem = CQ_ONNX_UNDEFINED;
        uint32_t                 bits;

        if (!out || out->arity == CQ_ONNX_VARIADIC_MIXED)
            continue;
        for (size_t i = 0; out->constraint >= 0 && !elem && i < r->n_inputs; i++) {
            const cq_onnx_parameter *p = cq_onnx_parameter_at(s->inputs, s->n_inputs, i);

            if (!p)
                break;
            if (p->constraint == out->constraint)
                elem = cq_rule_elem(r, i);
        }
        bits = out->types.of[CQ_ONNX_WRAP_TENSOR];
        for (int w = 1; w < CQ_ONNX_WRAP_COUNT; w++)
            bits = out->types.of[w] ? 0 : bits;
        if (!elem && bits && !(bits & (bits - 1)))
            elem = (int32_t)__builtin_ctz(bits);
        cq_rule_give_elem(r, k, elem);
    }
}

static cq_status call_function(cq_rule *r, const cq_onnx_function *f);

static cq_status apply_rule(cq_rule *r)
{
    const cq_rule_row *row;

    if (r->n_outputs == 0)
        return CQ_OK; /* rules may rely on the first output */
    CQ_TRY(cq_rule_find(&row, r->schema, r->version));
    if (row && row->shape)
        CQ_TRY(row->shape(r));
    if (row && row->data)
        CQ_TRY(row->data(r));
    return r->infer->flags & CQ_ONNX_INFER_CHECK_TYPES ? cq_rule_check_types(r) : CQ_OK;
}

static const cq_onnx_function *find_function(const cq_infer *in, const cq_onnx_node *node)
{
    char key[512];
    int  n;

    if (in->functions.n == 0 || !node->op_type)
        return NULL;
    n = snprintf(key, sizeof key, "%s:%s:%s", node->domain ? node->domain : "", node->op_type,
                 node->overload ? node->overload : "");
    return n > 0 && (size_t)n < sizeof key ? cq_map_get(&in->functions, key) : NULL;
}

/* A model may contain its own function for such an operator. */
static bool is_composed(const cq_onnx_node *node)
{
    return node->domain && !strcmp(node->domain, "com.microsoft");
}

/* Infers the types of an expanded call. An expansion has branches for all kinds of inputs, so
 * contradictions in branches that are not taken do not count. */
static cq_status call_expansion(cq_rule *r, const cq_onnx_function *f)
{
    unsigned  flags = r->infer->flags;
    cq_status status;

    r->infer->flags = 0;
    status          = call_function(r, f);
    r->infer->flags = flags;
    return status;
}

static cq_status apply(cq_rule *r)
{
    const cq_onnx_function *f;

    r->version = cq_onnx_imported(r->scope->opsets, r->node->domain);
    CQ_TRY(cq_onnx_schema_find(&r->schema, r->node->domain, r->node->op_type, r->version));
    f = r->schema && !is_composed(r->node) ? NULL : find_function(r->infer, r->node);
    if (!f) {
        CQ_TRY(cq_onnx_expand(&f, &r->infer->expansions, r->node, r->version));
        if (f)
            return call_expansion(r, f);
    }
    if (r->schema && !f) {
        types_from_schema(r);
        return apply_rule(r);
    }
    r->infer->has_unknown_operator |= !f;
    if (!f && r->infer->flags & CQ_ONNX_INFER_KNOWN_ONLY)
        return cq_rule_fail(r, "the operator %s%s%s is unknown, so its results have no type",
                            r->node->domain ? r->node->domain : "",
                            r->node->domain && *r->node->domain ? "." : "",
                            r->node->op_type ? r->node->op_type : "");
    return f ? call_function(r, f) : CQ_OK;
}

/* Removes the shapes of a node whose inputs contradict each other; element types remain. */
static void forget_shapes(cq_rule *r)
{
    for (size_t i = 0; i < r->n_outputs; i++) {
        r->outputs[i]  = (cq_itype){ 0 };
        r->out_data[i] = NULL;
    }
    types_from_schema(r);
}

/* Some old operators have no rule in onnx, so contradictions in them are not reported. */
static bool is_strict(const cq_rule *r)
{
    return r->infer->flags & CQ_ONNX_INFER_STRICT && !(r->schema && r->schema->is_uninferred);
}

static cq_status bind_outputs(cq_rule *r)
{
    for (size_t i = 0; i < r->n_outputs; i++) {
        cq_ivalue v = { .name = r->node->output.items[i], .data = r->out_data[i] };

        if (!*v.name)
            continue;
        v.type = r->outputs[i];
        CQ_TRY(merge_declared(&v.type, r->infer, cq_map_get(&r->scope->declared, v.name),
                              is_strict(r)));
        CQ_TRY(bind(r->infer, r->scope, &v));
    }
    return CQ_OK;
}

static cq_status infer_node(cq_infer *in, cq_infer_scope *s, const cq_onnx_node *node)
{
    cq_status status;
    cq_rule   r = { .infer     = in,
                    .scope     = s,
                    .symbols   = &in->symbols,
                    .arena     = in->arena,
                    .node      = node,
                    .n_inputs  = node->input.n,
                    .n_outputs = node->output.n };

    r.inputs   = cq_arena_array(in->arena, r.n_inputs, sizeof *r.inputs);
    r.outputs  = cq_arena_array(in->arena, r.n_outputs, sizeof *r.outputs);
    r.out_data = cq_arena_array(in->arena, r.n_outputs, sizeof *r.out_data);
    if (!r.inputs || !r.outputs || !r.out_data)
        return CQ_E_NO_MEMORY;
    for (size_t i = 0; i < r.n_inputs; i++)
        if (*node->input.items[i])
            r.inputs[i] = look_up(s, node->input.items[i]);
    if (in->guide && s->graph)
        CQ_TRY(in->guide->before(in->guide->user, &r, s->graph));
    status = apply(&r);
    if (status != CQ_OK) {
        if (status == CQ_E_NO_MEMORY || is_strict(&r))
            return status;
        forget_shapes(&r);
    }
    return bind_outputs(&r);
}

static cq_status infer_nodes(cq_infer *in, cq_infer_scope *s, cq_onnx_node *const *nodes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        CQ_TRY(cq_check_cancelled());
        CQ_TRY(infer_node(in, s, nodes[i]));
    }
    return CQ_OK;
}

/* ---- functions of the model ---- */

static bool may_visit(cq_infer *in, const cq_infer_scope *s, size_t n_nodes)
{
    if (s->depth >= CQ_ONNX_INFER_MAX_DEPTH || n_nodes > CQ_ONNX_INFER_MAX_REVISITS ||
        in->revisits > CQ_ONNX_INFER_MAX_REVISITS - n_nodes)
        return false;
    in->revisits += (uint32_t)n_nodes;
    return true;
}

static cq_status call_function(cq_rule *r, const cq_onnx_function *f)
{
    cq_infer_frame *frame;
    cq_infer_scope *s;

    if (!may_visit(r->infer, r->scope, f->node.n))
        return CQ_OK;
    frame = cq_arena_zalloc(r->arena, sizeof *frame);
    if (!frame)
        return CQ_E_NO_MEMORY;
    *frame = (cq_infer_frame){ f, r->node, r->scope->frame };
    CQ_TRY(new_scope(&s, r->infer, r->scope, NULL));
    s->frame  = frame;
    s->opsets = &f->opset_import;
    for (uint32_t i = 0; i < f->input.n; i++) {
        cq_ivalue v;

        if (!cq_rule_has(r, i))
            continue;
        v      = *r->inputs[i];
        v.name = f->input.items[i];
        CQ_TRY(bind(r->infer, s, &v));
    }
    CQ_TRY(infer_nodes(r->infer, s, f->node.items, f->node.n));
    for (uint32_t i = 0; i < f->output.n && i < r->n_outputs; i++) {
        const cq_ivalue *v = look_up(s, f->output.items[i]);

        if (!v)
            continue;
        cq_rule_give_type(r, i, &v->type);
        r->out_data[i] = v->data;
    }
    return CQ_OK;
}

static cq_status index_functions(cq_infer *in)
{
    for (uint32_t i = 0; i < in->model->functions.n; i++) {
        cq_onnx_function *f = in->model->functions.items[i];
        char              key[512];
        int               n = snprintf(key, sizeof key, "%s:%s:%s", f->domain ? f->domain : "",
                         f->name ? f->name : "", f->overload ? f->overload : "");

        if (n > 0 && (size_t)n < sizeof key)
            CQ_TRY(cq_map_set(&in->functions, key, f));
    }
    return CQ_OK;
}

/* ---- graphs ---- */

cq_onnx_graph *cq_rule_subgraph(const cq_rule *r, const char *attr)
{
    const cq_onnx_attribute *a = cq_rule_attr(r, attr);

    return a && a->type == CQ_ONNX_ATTR_GRAPH ? a->g : NULL;
}

cq_status cq_rule_graph(cq_rule *r, cq_infer_scope **out_scope, cq_onnx_graph *graph, size_t n_in,
                        const cq_ivalue *in, size_t n_out, cq_itype *out, const cq_idata **out_data)
{
    cq_infer       *infer = r->infer;
    cq_infer_scope *s;
    bool            again = cq_ptr_map_get(&infer->visited, graph) != NULL;

    *out_scope = NULL;
    memset(out, 0, n_out * sizeof *out);
    if (out_data)
        memset(out_data, 0, n_out * sizeof *out_data);
    if (!may_visit(infer, r->scope, again ? graph->node.n : 0))
        return CQ_OK;
    CQ_TRY(cq_ptr_map_set(&infer->visited, graph, graph));
    CQ_TRY(new_scope(&s, infer, r->scope, graph));
    s->outer = r->scope;
    CQ_TRY(bind_initializers(infer, s));
    CQ_TRY(bind_inputs(infer, s, n_in, in));
    CQ_TRY(infer_nodes(infer, s, graph->node.items, graph->node.n));
    for (uint32_t i = 0; i < graph->output.n && i < n_out; i++) {
        const char      *name = graph->output.items[i]->name;
        const cq_ivalue *v    = name ? look_up(s, name) : NULL;

        if (!v)
            continue;
        out[i] = v->type;
        if (out_data)
            out_data[i] = v->data;
    }
    *out_scope = s;
    return CQ_OK;
}

cq_status cq_rule_keep_graph(cq_rule *r, cq_infer_scope *scope)
{
    return scope ? cq_vec_push(&r->scope->kept, scope) : CQ_OK;
}

/* ---- writing ---- */

static cq_status write_value(cq_infer *in, cq_infer_scope *s, const char *name)
{
    const cq_ivalue    *v    = look_up(s, name);
    cq_onnx_value_info *info = cq_map_get(&s->declared, name);
    cq_itype            declared;
    cq_onnx_type       *type;

    if (!v || !cq_itype_is_whole(&v->type))
        return CQ_OK;
    CQ_TRY(cq_itype_from_onnx(&declared, in, info ? info->type : NULL));
    if (cq_itype_same(&declared, &v->type))
        return CQ_OK;
    type = cq_itype_to_onnx(in, &v->type, info ? info->type : NULL);
    if (info) {
        info->type = type;
        return in->model->status;
    }
    info = cq_onnx_add_value(in->model, &s->graph->value_info, name, type);
    return info ? cq_map_set(&s->declared, name, info) : in->model->status;
}

static cq_status write_scope(cq_infer *in, cq_infer_scope *s)
{
    for (uint32_t i = 0; s->graph && i < s->graph->node.n; i++) {
        const cq_onnx_names *names = &s->graph->node.items[i]->output;

        for (uint32_t k = 0; k < names->n; k++)
            if (*names->items[k])
                CQ_TRY(write_value(in, s, names->items[k]));
    }
    for (uint32_t i = 0; s->graph && i < s->graph->output.n; i++)
        if (s->graph->output.items[i]->name)
            CQ_TRY(write_value(in, s, s->graph->output.items[i]->name));
    for (size_t i = 0; s->graph && i < s->kept.n; i++)
        CQ_TRY(write_scope(in, s->kept.items[i]));
    return CQ_OK;
}

/* Reports the values of a scope and of its subgraphs to the caller. */
static cq_status report_scope(cq_infer *in, cq_infer_scope *s)
{
    for (size_t i = 0; s->graph && i < s->values.n; i++)
        CQ_TRY(in->each(in->user, s->graph, s->values.entries[i].value));
    for (size_t i = 0; s->graph && i < s->kept.n; i++)
        CQ_TRY(report_scope(in, s->kept.items[i]));
    return CQ_OK;
}

/* ---- entry points ---- */

/* Reserves names like `unk__0` that the model already contains. */
static void reserve_names(cq_infer *in, const cq_onnx_value_infos *list)
{
    for (uint32_t i = 0; i < list->n; i++) {
        const cq_onnx_type  *t     = list->items[i]->type;
        const cq_onnx_shape *shape = t && t->tensor_type ? t->tensor_type->shape : NULL;

        for (uint32_t k = 0; shape && k < shape->dim.n; k++) {
            const char   *name = shape->dim.items[k]->dim_param;
            unsigned long n;

            if (!name || strncmp(name, "unk__", 5))
                continue;
            n = strtoul(name + 5, NULL, 10);
            if (n < 1000000000 && n >= in->n_fresh)
                in->n_fresh = (unsigned)n + 1;
        }
    }
}

static void reserve_graph_names(cq_infer *in, const cq_onnx_graph *g, unsigned depth)
{
    if (!g || depth > CQ_ONNX_INFER_MAX_DEPTH)
        return;
    reserve_names(in, &g->input);
    reserve_names(in, &g->output);
    reserve_names(in, &g->value_info);
    for (uint32_t i = 0; i < g->node.n; i++)
        for (uint32_t k = 0; k < g->node.items[i]->attribute.n; k++)
            reserve_graph_names(in, g->node.items[i]->attribute.items[k]->g, depth + 1);
}

static cq_status infer_model(cq_infer *in)
{
    cq_infer_scope *s;

    reserve_graph_names(in, in->model->graph, 0);
    CQ_TRY(index_functions(in));
    CQ_TRY(new_scope(&s, in, NULL, in->model->graph));
    CQ_TRY(bind_initializers(in, s));
    CQ_TRY(bind_inputs(in, s, 0, NULL));
    CQ_TRY(infer_nodes(in, s, s->graph->node.items, s->graph->node.n));
    CQ_TRY(cq_symbols_check(&in->symbols));
    if (in->each)
        return report_scope(in, s);
    return in->flags & CQ_ONNX_INFER_KEEP_MODEL ? CQ_OK : write_scope(in, s);
}

static cq_status run(cq_infer *in)
{
    cq_status status;

    if (!in->model->graph)
        return CQ_OK;
    in->arena = in->guide ? in->guide->symbols->arena : cq_arena_new();
    if (!in->arena)
        return CQ_E_NO_MEMORY;
    if (in->guide)
        in->symbols = *in->guide->symbols;
    else
        cq_symbols_init(&in->symbols, in->arena);
    status = infer_model(in);
    if (status == CQ_OK)
        status = cq_symbols_check(&in->symbols);
    for (size_t i = 0; i < in->scopes.n; i++) {
        cq_map_clear(&in->scopes.items[i]->values);
        cq_map_clear(&in->scopes.items[i]->declared);
        cq_vec_clear(&in->scopes.items[i]->kept);
    }
    cq_vec_clear(&in->scopes);
    cq_map_clear(&in->functions);
    cq_ptr_map_clear(&in->visited);
    cq_onnx_model_free(in->expansions);
    if (in->guide) {
        *in->guide->symbols = in->symbols;
        return status;
    }
    cq_symbols_clear(&in->symbols);
    cq_arena_free(in->arena);
    return status;
}

CQ_API cq_status cq_onnx_model_infer(cq_onnx_model *m, uint32_t flags)
{
    CQ_NEED(m);
    return run(&(cq_infer){ .model = m, .flags = flags });
}

cq_status cq_onnx_model_each_value(cq_onnx_model *m, cq_onnx_value_fn fn, void *user)
{
    return run(
        &(cq_infer){ .model = m, .flags = CQ_ONNX_INFER_KEEP_MODEL, .each = fn, .user = user });
}

cq_status cq_onnx_model_infer_guided(cq_onnx_model *m, uint32_t flags, const cq_infer_guide *guide)
{
    return run(
        &(cq_infer){ .model = m, .flags = flags | CQ_ONNX_INFER_KEEP_MODEL, .guide = guide });
}
