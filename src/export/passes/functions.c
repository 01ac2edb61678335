/* Modules as functions: the nodes that a call of a module made become one node, and their
 * definition a function of the model. Inner modules are wrapped before outer ones, so that
 * functions call functions. Calls with the same body share one function. */
#include "export/exporter.h"
#include "base/str.h"
#include "base/warn.h"

#include <stdio.h>

#define FUNCTION_DOMAIN "calque.modules"

static bool is_wanted(const cq_exporter *ex, const cq_origin *o)
{
    if (!o->parent)
        return false; /* the model itself stays the graph */
    if (ex->options.flags & CQ_EXPORT_ALL_MODULES_AS_FUNCTIONS)
        return true;
    for (size_t i = 0; i < ex->options.n_function_classes; i++)
        if (strcmp(ex->options.function_classes[i], o->class_name) == 0)
            return true;
    return false;
}

static int depth_of(const cq_origin *o)
{
    int depth = 0;

    for (; o->parent; o = o->parent)
        depth++;
    return depth;
}

static bool is_inside(const cq_origin *o, const cq_origin *of)
{
    for (; o; o = o->parent)
        if (o == of)
            return true;
    return false;
}

/* ---- the interface of a group of nodes ---- */

typedef struct group {
    cq_node *first, *last;
    CQ_VEC(cq_value *) inputs, outputs;
    cq_ptr_map numbers; /* value -> its number in the body + 1 */
    size_t     n_numbers;
    cq_status  status;
} group;

static size_t number_of(group *g, const cq_value *v)
{
    size_t n = (size_t)(uintptr_t)cq_ptr_map_get(&g->numbers, v);

    if (!n) {
        n = ++g->n_numbers;
        if (cq_ptr_map_set(&g->numbers, v, (void *)(uintptr_t)n) != CQ_OK)
            g->status = CQ_E_NO_MEMORY;
    }
    return n;
}

static void note_input(cq_value *v, void *user)
{
    group *g = user;

    if (cq_ptr_map_get(&g->numbers, v))
        return;
    number_of(g, v);
    if (cq_vec_push(&g->inputs, v) != CQ_OK)
        g->status = CQ_E_NO_MEMORY;
}

/* Inputs are the values that the nodes use but do not compute, in order of use; outputs those that
 * they compute and others use. Uses are counted: those that are not in the group are outside. */
static cq_status find_interface(group *g)
{
    cq_ptr_map inner = { 0 };

    for (cq_node *n = g->first; n != g->last->next; n = n->next) {
        for (size_t i = 0; i < n->n_inputs; i++) {
            cq_value *v = n->inputs[i].kind == CQ_OPERAND_VALUE ? n->inputs[i].u.value : NULL;

            if (!v)
                continue;
            note_input(v, g);
            if (cq_ptr_map_set(&inner, v, (void *)((uintptr_t)cq_ptr_map_get(&inner, v) + 1)))
                g->status = CQ_E_NO_MEMORY;
        }
        for (size_t i = 0; i < n->n_outputs; i++)
            number_of(g, n->outputs[i]);
    }
    for (cq_node *n = g->first; n != g->last->next; n = n->next)
        for (size_t i = 0; i < n->n_outputs; i++) {
            cq_value *v    = n->outputs[i];
            size_t    uses = (size_t)(uintptr_t)cq_ptr_map_get(&inner, v);

            if (v->n_uses > uses && cq_vec_push(&g->outputs, v) != CQ_OK)
                g->status = CQ_E_NO_MEMORY;
        }
    cq_ptr_map_clear(&inner);
    return g->status;
}

/* ---- equal bodies ---- */

static void describe_operand(cq_str *s, group *g, const cq_operand *o)
{
    switch (o->kind) {
    case CQ_OPERAND_VALUE: cq_str_printf(s, "%%%zu", number_of(g, o->u.value)); break;
    case CQ_OPERAND_INT: cq_str_printf(s, "%lld", (long long)o->u.i.value); break;
    case CQ_OPERAND_FLOAT: cq_str_printf(s, "%a", o->u.f); break;
    case CQ_OPERAND_STR: cq_str_printf(s, "\"%s\"", o->u.s); break;
    case CQ_OPERAND_TENSOR: cq_str_printf(s, "%p", (void *)o->u.tensor); break;
    case CQ_OPERAND_LIST:
        for (size_t i = 0; i < o->u.list.n; i++) {
            describe_operand(s, g, &o->u.list.items[i]);
            cq_str_add_char(s, ',');
        }
        break;
    default: cq_str_printf(s, "<%d>", (int)o->kind); break;
    }
}

/* Small constants are compared by value. */
static void describe_tensor(cq_str *s, const cq_tensor *t)
{
    char    text[CQ_DESCRIBE_SIZE];
    int64_t n = cq_tensor_numel(t);

    cq_str_add(s, cq_tensor_describe(t, text, sizeof text));
    for (int64_t i = 0; i < n && n <= 64; i++)
        cq_str_printf(s, " %a", cq_tensor_get_f64(t, i));
    if (n > 64)
        cq_str_printf(s, " %p", (const void *)t);
}

static char *describe(group *g, const char *class_name)
{
    cq_str s = { 0 };

    cq_str_printf(&s, "%s %zu:", class_name, g->outputs.n);
    for (size_t i = 0; i < g->outputs.n; i++)
        cq_str_printf(&s, "%zu,", number_of(g, g->outputs.items[i]));
    for (cq_node *n = g->first; n != g->last->next; n = n->next) {
        cq_str_printf(&s, ";%s", n->op);
        for (size_t i = 0; i < n->n_inputs; i++)
            describe_operand(&s, g, &n->inputs[i]);
        for (size_t i = 0; i < n->n_attrs; i++) {
            cq_str_printf(&s, " %s=", n->attrs[i].name);
            if (n->attrs[i].value.kind == CQ_OPERAND_TENSOR)
                describe_tensor(&s, n->attrs[i].value.u.tensor);
            else
                describe_operand(&s, g, &n->attrs[i].value);
        }
        for (size_t i = 0; i < n->n_notes; i++) {
            cq_str_printf(&s, " note %s=", n->notes[i].name);
            describe_operand(&s, g, &n->notes[i].value);
        }
    }
    return cq_str_take(&s);
}

/* ---- wrapping ---- */

static cq_export_function *new_function(cq_exporter *ex, group *g, const cq_origin *o)
{
    cq_graph           *graph = ex->graph;
    cq_export_function *f     = cq_arena_zalloc(graph->arena, sizeof *f);
    char                name[256];
    size_t              count;

    if (!f)
        return NULL;
    count = (size_t)(uintptr_t)cq_map_get(&ex->function_names, o->class_name);
    if (count)
        snprintf(name, sizeof name, "%.200s_%zu", o->class_name, count);
    else
        snprintf(name, sizeof name, "%.200s", o->class_name);
    if (cq_map_set(&ex->function_names, o->class_name, (void *)(uintptr_t)(count + 1)) != CQ_OK)
        return NULL;
    f->name      = cq_ir_text(graph, name);
    f->path      = o->path;
    f->n_inputs  = g->inputs.n;
    f->n_outputs = g->outputs.n;
    f->inputs    = cq_arena_copy(graph->arena, g->inputs.items, g->inputs.n * sizeof *f->inputs);
    f->outputs   = cq_arena_copy(graph->arena, g->outputs.items, g->outputs.n * sizeof *f->outputs);
    f->body      = cq_ir_block_new(graph, NULL);
    if (!f->inputs || !f->outputs || !f->body || cq_vec_push(&ex->functions, f) != CQ_OK)
        return NULL;
    return f;
}

/* The call replaces the nodes. Its outputs are new values; the old ones stay with the body, and
 * their uses outside are redirected through instead. */
static cq_status put_call(cq_exporter *ex, group *g, const cq_export_function *f,
                          const cq_origin *o, cq_block *home)
{
    cq_graph   *graph  = ex->graph;
    cq_operand *inputs = cq_arena_array(graph->arena, g->inputs.n, sizeof *inputs);
    char        op[320];
    cq_node    *call;

    if (!inputs)
        return CQ_E_NO_MEMORY;
    for (size_t i = 0; i < g->inputs.n; i++)
        inputs[i] = CQ_OPERAND_OF(g->inputs.items[i]);
    snprintf(op, sizeof op, FUNCTION_DOMAIN "::%s", f->name);
    call = cq_ir_node_new(home, g->last->next, op, inputs, g->inputs.n, g->outputs.n);
    if (!call)
        return graph->status;
    call->origin = o->parent;
    for (size_t i = 0; i < g->outputs.n; i++) {
        call->outputs[i]->type       = g->outputs.items[i]->type;
        call->outputs[i]->name       = g->outputs.items[i]->name;
        g->outputs.items[i]->instead = call->outputs[i];
    }
    return CQ_OK;
}

static void redirect(cq_operand *o)
{
    if (o->kind == CQ_OPERAND_VALUE && o->u.value->instead)
        o->u.value = o->u.value->instead;
}

static void redirect_after(cq_exporter *ex, cq_node *from)
{
    for (cq_node *n = from; n; n = n->next)
        for (size_t i = 0; i < n->n_inputs; i++)
            redirect(&n->inputs[i]);
    for (size_t i = 0; i < ex->graph->top->returns.n; i++)
        redirect(&ex->graph->top->returns.items[i]);
}

static cq_status wrap(cq_exporter *ex, cq_node *first, cq_node *last, const cq_origin *o)
{
    group               g    = { .first = first, .last = last };
    cq_block           *home = first->block;
    cq_node            *after;
    cq_export_function *f;
    char               *key = NULL;
    cq_status           status;

    status = find_interface(&g);
    if (status == CQ_OK && !(key = describe(&g, o->class_name)))
        status = CQ_E_NO_MEMORY;
    if (status == CQ_OK) {
        f = cq_map_get(&ex->function_bodies, key);
        if (f) {
            status = put_call(ex, &g, f, o, home);
            after  = last->next;
            for (cq_node *n = first, *next; n != after && status == CQ_OK; n = next) {
                next = n->next;
                cq_ir_unlink(n);
            }
        } else {
            f      = new_function(ex, &g, o);
            status = f ? cq_map_set(&ex->function_bodies, key, f) : CQ_E_NO_MEMORY;
            if (status == CQ_OK)
                status = put_call(ex, &g, f, o, home);
            after = last->next;
            for (cq_node *n = first, *next; n != after && status == CQ_OK; n = next) {
                next = n->next;
                cq_ir_unlink(n);
                cq_ir_move_before(n, f->body, NULL);
            }
        }
        if (status == CQ_OK)
            redirect_after(ex, after);
    }
    cq_free(key);
    cq_vec_clear(&g.inputs);
    cq_vec_clear(&g.outputs);
    cq_ptr_map_clear(&g.numbers);
    return status;
}

/* All groups of one depth. A call's nodes are adjacent, because modules run one after the other. */
static cq_status wrap_depth(cq_exporter *ex, int depth)
{
    for (cq_node *n = ex->graph->top->first; n; n = n->next) {
        const cq_origin *o    = n->origin;
        cq_node         *last = n;

        while (o && depth_of(o) > depth)
            o = o->parent;
        if (!o || depth_of(o) != depth || !is_wanted(ex, o))
            continue;
        while (last->next && is_inside(last->next->origin, o))
            last = last->next;
        CQ_TRY(wrap(ex, n, last, o));
        cq_ir_count_uses(ex->graph);
        n = ex->graph->top->first; /* start over: the list has changed */
    }
    return CQ_OK;
}

static bool have_blocks(const cq_graph *g)
{
    for (const cq_node *n = g->top->first; n; n = n->next)
        if (n->n_blocks)
            return true;
    return false;
}

/* ---- missing classes ---- */

typedef struct classes {
    cq_map known;
    cq_str list; /* "Conv2d, Linear" */
} classes;

static cq_status note_classes(cq_node *n, void *user)
{
    classes *c = user;

    for (const cq_origin *o = n->origin; o && o->parent; o = o->parent) {
        if (cq_map_has(&c->known, o->class_name))
            continue;
        CQ_TRY(cq_map_set(&c->known, o->class_name, NULL));
        cq_str_printf(&c->list, "%s%s", c->list.len ? ", " : "", o->class_name);
    }
    return c->list.status;
}

static cq_status warn_of_unknown_classes(cq_exporter *ex)
{
    classes   c      = { 0 };
    cq_status status = cq_ir_each_node(ex->source->top, note_classes, &c);

    for (size_t i = 0; i < ex->options.n_function_classes && status == CQ_OK; i++)
        if (!cq_map_has(&c.known, ex->options.function_classes[i]))
            cq_warn(NULL, "no module of class %s is called; expected one of %s",
                    ex->options.function_classes[i], c.list.len ? cq_str_text(&c.list) : "none");
    cq_map_clear(&c.known);
    cq_str_clear(&c.list);
    return status;
}

cq_status cq_export_functions(cq_exporter *ex)
{
    int deepest = 0;

    if (!ex->options.n_function_classes &&
        !(ex->options.flags & CQ_EXPORT_ALL_MODULES_AS_FUNCTIONS))
        return CQ_OK;
    if (have_blocks(ex->graph))
        return cq_fail(CQ_E_UNSUPPORTED, NULL, "export it without modules as functions",
                       "modules as functions are not supported in models with If or Loop");
    CQ_TRY(warn_of_unknown_classes(ex));
    cq_ir_count_uses(ex->graph);
    for (cq_node *n = ex->graph->top->first; n; n = n->next)
        if (n->origin && depth_of(n->origin) > deepest)
            deepest = depth_of(n->origin);
    for (int depth = deepest; depth > 0; depth--)
        CQ_TRY(wrap_depth(ex, depth));
    return ex->graph->status;
}
