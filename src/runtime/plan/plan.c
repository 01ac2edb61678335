/* Builds plans of graphs: names become values, nodes become steps. Functions of the model are
 * inlined, and a step whose inputs are all constants is run at once. When the graph has been read,
 * unused steps are dropped and slots assigned (finish.c). */
#include "runtime/fuse/build.h"
#include "runtime/plan/work.h"

#include "onnx/compose/compose.h"
#include "onnx/expand.h"
#include "onnx/function_index.h"
#include "onnx/tensor.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static cq_status build_nodes(cq_rt_scope *scope, cq_onnx_node *const *nodes, uint32_t n);

/* ---- values and names ---- */

cq_rt_node_value *cq_rt_value_new(cq_rt_builder *b, const char *name)
{
    cq_rt_node_value *v = cq_arena_zalloc(b->all->arena, sizeof *v);

    if (!v || cq_vec_push(&b->values, v) != CQ_OK)
        return NULL;
    v->name = name;
    v->slot = v->last = -1;
    return v;
}

static cq_rt_node_value *define(cq_rt_scope *scope, const char *name)
{
    cq_rt_node_value *v = cq_rt_value_new(scope->builder, name);

    return v && cq_map_set(&scope->names, name, v) == CQ_OK ? v : NULL;
}

/* Looks a name up; *out is NULL if it is not in scope. A value of an enclosing graph becomes a
 * capture; a constant of it becomes a constant of this graph. */
static cq_status find(cq_rt_node_value **out, cq_rt_scope *scope, const char *name)
{
    cq_rt_node_value *far;

    *out = cq_map_get(&scope->names, name);
    if (*out || !scope->outer)
        return CQ_OK;
    CQ_TRY(find(&far, scope->outer, name));
    if (!far)
        return CQ_OK;
    *out = define(scope, name);
    if (!*out)
        return CQ_E_NO_MEMORY;
    if (far->is_constant) {
        (*out)->is_constant = true;
        (*out)->constant    = cq_val_retain(far->constant);
        return CQ_OK;
    }
    (*out)->is_capture = true;
    CQ_TRY(cq_vec_push(&scope->builder->captured, far));
    return cq_vec_push(&scope->builder->captures, *out);
}

static cq_status need(cq_rt_node_value **out, cq_rt_scope *scope, const char *name,
                      const char *what, const char *who)
{
    CQ_TRY(find(out, scope, name));
    if (*out)
        return CQ_OK;
    return cq_fail(CQ_E_INVALID, NULL, "run calque check for a complete diagnosis",
                   "%s %s reads %s, which no earlier node computes", what, who, name);
}

/* ---- attributes ---- */

/* Resolves an attribute of a function body at this call; NULL if the caller omits it and it has no
 * default. */
static const cq_onnx_attribute *resolve(const cq_rt_frame *frame, const cq_onnx_attribute *a)
{
    while (a && a->ref_attr_name && *a->ref_attr_name) {
        const char              *name  = a->ref_attr_name;
        const cq_onnx_attribute *given = frame ? cq_onnx_node_attr(frame->call, name) : NULL;

        if (!frame)
            return NULL;
        for (uint32_t i = 0; !given && i < frame->function->attribute_proto.n; i++) {
            const cq_onnx_attribute *fallback = frame->function->attribute_proto.items[i];

            if (fallback->name && !strcmp(fallback->name, name))
                return fallback;
        }
        a     = given;
        frame = frame->caller;
    }
    return a;
}

/* Parses "0,2,3". */
static cq_status parse_ints(cq_rt_attr *out, cq_arena *arena, const char *text)
{
    cq_onnx_attribute *a = cq_arena_zalloc(arena, sizeof *a);
    uint32_t           n = 1;

    for (const char *c = text; *c; c++)
        n += *c == ',';
    if (a)
        a->ints.items = cq_arena_array(arena, n, sizeof(int64_t));
    if (!a || !a->ints.items)
        return CQ_E_NO_MEMORY;
    for (uint32_t i = 0; i < n; i++) {
        char *end;

        a->ints.items[a->ints.n++] = strtoll(text, &end, 10);
        text                       = *end ? end + 1 : end;
    }
    out->given = a;
    return CQ_OK;
}

static cq_status set_default(cq_rt_attr *out, cq_arena *arena, const cq_onnx_schema_attribute *s)
{
    if (!s->fallback)
        return CQ_OK;
    switch (s->type) {
    case CQ_ONNX_ATTR_INT: out->i = strtoll(s->fallback, NULL, 10); break;
    case CQ_ONNX_ATTR_FLOAT: out->f = (double)strtof(s->fallback, NULL); break;
    case CQ_ONNX_ATTR_STRING: out->s = s->fallback; break;
    case CQ_ONNX_ATTR_INTS: return parse_ints(out, arena, s->fallback);
    default: break; /* kernels read lists of strings themselves */
    }
    return CQ_OK;
}

static cq_status build_subgraph(cq_rt_plan **out, cq_rt_scope *outer, cq_rt_node_step *step,
                                const cq_onnx_graph *graph);

static cq_status set_given(cq_rt_attr *out, cq_rt_scope *scope, cq_rt_node_step *step,
                           const cq_onnx_attribute *a)
{
    cq_arena *arena = scope->builder->all->arena;

    out->given = a;
    switch ((cq_onnx_attribute_type)a->type) {
    case CQ_ONNX_ATTR_INT: out->i = a->i; break;
    case CQ_ONNX_ATTR_FLOAT: out->f = (double)a->f; break;
    case CQ_ONNX_ATTR_STRING:
        out->s = cq_arena_strndup(arena, a->s.data ? a->s.data : "", a->s.size);
        return out->s ? CQ_OK : CQ_E_NO_MEMORY;
    case CQ_ONNX_ATTR_GRAPH:
        return a->g ? build_subgraph(&out->plan, scope, step, a->g)
                    : cq_fail(CQ_E_INVALID, NULL, NULL, "attribute %s has no graph", a->name);
    default: break;
    }
    return CQ_OK;
}

static cq_status build_attributes(cq_rt_scope *scope, cq_rt_node_step *step)
{
    const cq_onnx_schema *s     = step->step.schema;
    cq_arena             *arena = scope->builder->all->arena;

    step->step.attrs = cq_arena_array(arena, s->n_attributes, sizeof *step->step.attrs);
    if (!step->step.attrs)
        return CQ_E_NO_MEMORY;
    for (size_t i = 0; i < s->n_attributes; i++) {
        cq_rt_attr              *to = &step->step.attrs[i];
        const cq_onnx_attribute *a =
            resolve(scope->frame, cq_onnx_node_attr(step->step.node, s->attributes[i].name));

        if (a && a->type != (int32_t)s->attributes[i].type)
            return cq_fail(CQ_E_INVALID, NULL, NULL, "attribute %s has type %d, expected %d",
                           s->attributes[i].name, (int)a->type, (int)s->attributes[i].type);
        CQ_TRY(a ? set_given(to, scope, step, a) : set_default(to, arena, &s->attributes[i]));
    }
    return CQ_OK;
}

/* ---- nodes ---- */

static cq_status add_step(cq_rt_node_step **out, cq_rt_scope *scope, const cq_onnx_node *node)
{
    cq_rt_builder   *b    = scope->builder;
    cq_rt_node_step *step = cq_arena_zalloc(b->all->arena, sizeof *step);

    *out = step;
    if (++b->all->n_steps > CQ_RT_MAX_STEPS)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL,
                       "the model has more than %d nodes after inlining its functions",
                       CQ_RT_MAX_STEPS);
    if (!step)
        return CQ_E_NO_MEMORY;
    step->step.node  = node;
    step->step.model = b->all->model;
    step->step.n_in  = node->input.n;
    step->step.n_out = node->output.n;
    step->in         = cq_arena_array(b->all->arena, node->input.n, sizeof *step->in);
    step->out        = cq_arena_array(b->all->arena, node->output.n, sizeof *step->out);
    if (!step->in || !step->out)
        return CQ_E_NO_MEMORY;
    /* Removes omitted optional inputs at the end. */
    while (step->step.n_in && !*node->input.items[step->step.n_in - 1])
        step->step.n_in--;
    while (step->step.n_out && !*node->output.items[step->step.n_out - 1])
        step->step.n_out--;
    return CQ_OK;
}

static cq_status read_inputs(cq_rt_scope *scope, cq_rt_node_step *step)
{
    const cq_onnx_node *node = step->step.node;

    for (uint32_t i = 0; i < step->step.n_in; i++)
        if (*node->input.items[i])
            CQ_TRY(need(&step->in[i], scope, node->input.items[i], "node",
                        cq_rt_step_name(&step->step)));
    return CQ_OK;
}

static cq_status define_outputs(cq_rt_scope *scope, cq_rt_node_step *step)
{
    const cq_onnx_node *node = step->step.node;

    for (uint32_t i = 0; i < step->step.n_out; i++) {
        if (!*node->output.items[i])
            continue;
        step->out[i] = define(scope, node->output.items[i]);
        if (!step->out[i])
            return CQ_E_NO_MEMORY;
    }
    return CQ_OK;
}

/* Collects all unsupported operators, so that one error lists them. */
static cq_status note_missing(cq_rt_scope *scope, const cq_onnx_node *node, int64_t version)
{
    cq_rt_building *all = scope->builder->all;
    cq_str          key = { 0 };
    cq_status       status;

    cq_str_printf(&key, "%s%s%s (version %" PRId64 ")", node->domain ? node->domain : "",
                  node->domain && *node->domain ? "." : "", node->op_type, version);
    status = key.status;
    if (status == CQ_OK && !cq_map_has(&all->missing, cq_str_text(&key))) {
        cq_str_printf(&all->missing_text, "%s%s", all->missing.n ? ", " : "", cq_str_text(&key));
        status = cq_map_set(&all->missing, cq_str_text(&key), all);
    }
    cq_str_clear(&key);
    return status;
}

static cq_status build_operator(cq_rt_scope *scope, const cq_onnx_node *node)
{
    int64_t          version = cq_onnx_imported(scope->opsets, node->domain);
    cq_rt_node_step *step;

    if (version < 0)
        return cq_fail(CQ_E_INVALID, NULL, NULL, "the model has no opset import for domain %s",
                       node->domain && *node->domain ? node->domain : "ai.onnx");
    CQ_TRY(cq_onnx_schema_check_to_run(node, version));
    CQ_TRY(add_step(&step, scope, node));
    CQ_TRY(cq_onnx_schema_find(&step->step.schema, node->domain, node->op_type, version));
    CQ_TRY(cq_rt_row_find(&step->step.row, node->domain, node->op_type, version));
    step->step.work = cq_rt_work_find(node->op_type);
    CQ_TRY(read_inputs(scope, step));
    if (!step->step.row || !step->step.schema) {
        CQ_TRY(note_missing(scope, node, version));
        return define_outputs(scope, step);
    }
    CQ_TRY(build_attributes(scope, step));
    CQ_TRY(define_outputs(scope, step));
    if (!(scope->builder->all->optimize && cq_rt_is_lazy_weight(step)) &&
        cq_rt_fold(scope->builder, step))
        return CQ_OK;
    return cq_vec_push(&scope->builder->steps, step);
}

/* Inlines the body of a function, in a separate scope in which its inputs are bound to those of the
 * call. */
static cq_status build_call(cq_rt_scope *scope, const cq_onnx_node *node, const cq_onnx_function *f)
{
    cq_rt_frame frame = { f, node, scope->frame };
    cq_rt_scope body  = { .builder = scope->builder,
                          .opsets  = &f->opset_import,
                          .frame   = &frame,
                          .depth   = scope->depth + 1 };
    cq_status   status;

    if (body.depth > CQ_RT_MAX_DEPTH)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL,
                       "functions and graphs are nested more than %d deep", CQ_RT_MAX_DEPTH);
    if (node->input.n > f->input.n || node->output.n > f->output.n)
        return cq_fail(CQ_E_INVALID, NULL, NULL,
                       "function %s is called with %u inputs and %u outputs, expected %u and %u",
                       f->name, node->input.n, node->output.n, f->input.n, f->output.n);
    for (uint32_t i = 0; i < f->input.n; i++) {
        const char       *name = i < node->input.n ? node->input.items[i] : "";
        cq_rt_node_value *v    = NULL;

        if (*name)
            CQ_TRY_OR_DONE(need(&v, scope, name, "node", node->name ? node->name : f->name));
        else
            CQ_TRY_OR_DONE(
                (v = cq_rt_value_new(scope->builder, f->input.items[i])) ? CQ_OK : CQ_E_NO_MEMORY);
        if (!*name)
            v->is_constant = true; /* an omitted input is the constant NONE */
        CQ_TRY_OR_DONE(cq_map_set(&body.names, f->input.items[i], v));
    }
    CQ_TRY_OR_DONE(build_nodes(&body, f->node.items, f->node.n));
    for (uint32_t i = 0; i < node->output.n; i++) {
        cq_rt_node_value *v;

        if (!*node->output.items[i])
            continue;
        CQ_TRY_OR_DONE(need(&v, &body, f->output.items[i], "function", f->name));
        CQ_TRY_OR_DONE(cq_map_set(&scope->names, node->output.items[i], v));
    }
    status = CQ_OK;
done:
    cq_map_clear(&body.names);
    return status;
}

/* Builds the nodes that replace a Gradient. */
static cq_status build_gradient(cq_rt_scope *scope, const cq_onnx_node *node,
                                cq_onnx_node *const *before, uint32_t n_before)
{
    cq_onnx_opset        own = { .version = CQ_COMPOSE_OPSET }, *list = &own;
    const cq_onnx_opsets opsets = { .items = &list, .n = 1, .cap = 1 }, *old = scope->opsets;
    cq_onnx_node       **nodes;
    uint32_t             n;
    cq_status            status;

    CQ_TRY(
        cq_rt_gradient_nodes(&nodes, &n, scope->builder->all->expansions, node, before, n_before));
    scope->opsets = &opsets;
    status        = build_nodes(scope, nodes, n);
    scope->opsets = old;
    return status;
}

static cq_status build_nodes(cq_rt_scope *scope, cq_onnx_node *const *nodes, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const cq_onnx_node     *node = nodes[i];
        const cq_onnx_function *f;
        cq_rt_step              named = { .node = node };
        cq_status               status;

        if (!node->op_type)
            return cq_fail(CQ_E_INVALID, NULL, NULL, "node %u has no op_type", i);
        CQ_TRY(cq_onnx_indexed_function(&f, &scope->builder->all->functions, node->domain,
                                        node->op_type, node->overload));
        status = f ? CQ_OK
                   : cq_onnx_expand(&f, scope->builder->all->expansions, node,
                                    cq_onnx_imported(scope->opsets, node->domain));
        if (status == CQ_OK && !f && cq_rt_is_gradient(node))
            status = build_gradient(scope, node, nodes, i);
        else if (status == CQ_OK)
            status = f ? build_call(scope, node, f) : build_operator(scope, node);
        if (status != CQ_OK)
            return cq_error_add_where(status, "node %s (%s)", cq_rt_step_name(&named),
                                      node->op_type);
    }
    return CQ_OK;
}

/* ---- graphs ---- */

/* An initializer is a constant, unless an input has the same name: then it is the default of that
 * input, which a caller may override. */
static cq_status add_initializer(cq_rt_scope *scope, const char *name, cq_status status,
                                 cq_val constant)
{
    cq_rt_node_value *v = NULL;

    if (status == CQ_OK && !name)
        status = cq_fail(CQ_E_INVALID, NULL, NULL, "an initializer has no name");
    if (status == CQ_OK) {
        v = cq_map_get(&scope->names, name);
        if (!v && !(v = define(scope, name)))
            status = CQ_E_NO_MEMORY;
    }
    if (status == CQ_OK && v->constant.kind != CQ_VAL_NONE)
        status = cq_fail(CQ_E_INVALID, NULL, NULL, "duplicate initializer %s", name);
    if (status != CQ_OK) {
        cq_val_release(constant);
        return status;
    }
    v->constant    = constant;
    v->is_constant = !v->is_input;
    return CQ_OK;
}

static cq_status add_initializers(cq_rt_scope *scope, const cq_onnx_graph *g)
{
    const cq_onnx_model *m = scope->builder->all->model;

    for (uint32_t i = 0; i < g->initializer.n; i++) {
        cq_val    v;
        cq_status status = cq_onnx_tensor_to_value(&v, m, g->initializer.items[i]);

        CQ_TRY(add_initializer(scope, g->initializer.items[i]->name, status, v));
    }
    for (uint32_t i = 0; i < g->sparse_initializer.n; i++) {
        const cq_onnx_sparse_tensor *sparse = g->sparse_initializer.items[i];
        cq_val                       v;
        cq_status                    status = cq_onnx_sparse_to_value(&v, m, sparse);

        if (status == CQ_E_NO_MEMORY && sparse->values && sparse->values->name)
            status = cq_error_add_where(status, "initializer %s", sparse->values->name);
        CQ_TRY(add_initializer(scope, sparse->values ? sparse->values->name : NULL, status, v));
    }
    return CQ_OK;
}

static cq_status add_inputs(cq_rt_scope *scope, const cq_onnx_graph *g)
{
    for (uint32_t i = 0; i < g->input.n; i++) {
        const char       *name = g->input.items[i]->name;
        cq_rt_node_value *v;

        if (!name || cq_map_has(&scope->names, name))
            return cq_fail(CQ_E_INVALID, NULL, NULL, "input %u has %s", i,
                           name ? "the name of another" : "no name");
        v = define(scope, name);
        if (!v)
            return CQ_E_NO_MEMORY;
        v->is_input = true;
        v->type     = g->input.items[i]->type;
        CQ_TRY(cq_vec_push(&scope->builder->inputs, v));
    }
    return CQ_OK;
}

static cq_status add_output(cq_rt_scope *scope, const char *name)
{
    cq_rt_node_value *v;

    CQ_TRY(need(&v, scope, name ? name : "", "the list of outputs of graph", "the model"));
    return cq_vec_push(&scope->builder->outputs, v);
}

static cq_status build_graph(cq_rt_plan **out, cq_rt_scope *scope, const cq_onnx_graph *g,
                             const cq_rt_plan_options *options)
{
    cq_status status;

    *out = NULL;
    if (scope->depth > CQ_RT_MAX_DEPTH)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL,
                       "functions and graphs are nested more than %d deep", CQ_RT_MAX_DEPTH);
    CQ_TRY_OR_DONE(add_inputs(scope, g));
    CQ_TRY_OR_DONE(add_initializers(scope, g));
    CQ_TRY_OR_DONE(build_nodes(scope, g->node.items, g->node.n));
    for (uint32_t i = 0; i < g->output.n; i++)
        CQ_TRY_OR_DONE(add_output(scope, g->output.items[i]->name));
    for (size_t i = 0; options && i < options->n_fetch; i++) {
        cq_rt_node_value *v;

        CQ_TRY_OR_DONE(find(&v, scope, options->fetch[i]));
        if (!v)
            CQ_TRY_OR_DONE(cq_fail(CQ_E_NOT_FOUND, NULL, "calque print lists the values of a model",
                                   "the model has no value %s", options->fetch[i]));
        CQ_TRY_OR_DONE(cq_vec_push(&scope->builder->outputs, v));
    }
    status = cq_rt_finish(out, scope->builder);
done:
    cq_map_clear(&scope->names);
    return status;
}

static cq_status build_subgraph(cq_rt_plan **out, cq_rt_scope *outer, cq_rt_node_step *step,
                                const cq_onnx_graph *graph)
{
    cq_rt_builder *b     = cq_arena_zalloc(outer->builder->all->arena, sizeof *b);
    cq_rt_scope    scope = { .outer   = outer,
                             .builder = b,
                             .opsets  = outer->opsets,
                             .frame   = outer->frame,
                             .depth   = outer->depth + 1 };
    cq_status      status;

    *out = NULL;
    if (!b)
        return CQ_E_NO_MEMORY;
    b->all = outer->builder->all;
    status = build_graph(out, &scope, graph, NULL);
    if (status == CQ_OK) {
        b->plan     = *out;
        b->around   = cq_arena_copy(b->all->arena, b->captured.items,
                                    b->captured.n * sizeof *b->captured.items);
        b->next     = step->inner;
        step->inner = b;
        status      = b->around ? CQ_OK : CQ_E_NO_MEMORY;
    }
    cq_rt_builder_clear(b);
    return status;
}

static cq_status fail_missing(const cq_rt_building *all)
{
    return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "cannot run %s of the model: %s",
                   all->missing.n == 1 ? "an operator" : "some operators",
                   cq_str_text(&all->missing_text));
}

cq_status cq_rt_plan_new(cq_rt_plan **out, cq_rt_plan **plans, cq_arena *arena,
                         const cq_onnx_model *m, const cq_rt_plan_options *options)
{
    cq_rt_building all   = { .model      = m,
                             .arena      = arena,
                             .plans      = plans,
                             .expansions = options->expansions,
                             .fold       = options->fold,
                             .fold_steps = cq_rt_default_steps(cq_rt_bytes(m, NULL, 0)) / 4,
                             .optimize   = options->optimize };
    cq_rt_builder  b     = { .all = &all };
    cq_rt_scope    scope = { .builder = &b, .opsets = &m->opset_import };
    cq_status      status;

    *out = NULL;
    CQ_TRY(cq_onnx_need_graph(m));
    status = cq_rt_workspace_new(&all.run.workspace, CQ_RT_MAX_FOLDED);
    if (status == CQ_OK)
        status = cq_onnx_index_functions(&all.functions, m);
    if (status == CQ_OK)
        status = build_graph(out, &scope, m->graph, options);
    if (status == CQ_OK && all.missing.n)
        status = fail_missing(&all);
    cq_rt_builder_clear(&b);
    cq_rt_workspace_release(all.run.workspace);
    cq_map_clear(&all.functions);
    cq_map_clear(&all.missing);
    cq_str_clear(&all.missing_text);
    return status;
}
