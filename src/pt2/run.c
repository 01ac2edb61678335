/* One node after another. */
#include "pt2/run.h"

enum { MAX_DEPTH = 64 }; /* of graphs in graphs */

/* ---- symbols ---- */

cq_status cq_pt2_set_symbol(cq_pt2_run *r, const char *name, cq_int value)
{
    CQ_TRY(cq_vec_push(&r->known, value));
    return cq_map_set(&r->sizes, name, (void *)(uintptr_t)r->known.n);
}

cq_int *cq_pt2_symbol(const cq_pt2_run *r, const char *name)
{
    uintptr_t at = (uintptr_t)cq_map_get(&r->sizes, name);

    return at ? &r->known.items[at - 1] : NULL;
}

void cq_pt2_run_clear(cq_pt2_run *r)
{
    cq_map_clear(&r->sizes);
    cq_map_clear(&r->loops);
    cq_vec_clear(&r->known);
}

/* ---- arguments ---- */

static cq_status text_value(cq_pt2_run *r, const char *text, cq_val_kind kind, cq_val *out)
{
    cq_text *t;

    CQ_TRY(cq_text_new(&t, text, strlen(text)));
    return cq_eval_own(r->ev, (cq_val){ .kind = kind, .u.text = t }, out);
}

cq_status cq_pt2_value(cq_pt2_run *r, const cq_pt2_arg *a, cq_val *out)
{
    *out = CQ_NONE;
    switch (a->kind) {
    case CQ_PT2_NONE: return CQ_OK;
    case CQ_PT2_SLOT: *out = r->values[a->u.slot]; return CQ_OK;
    case CQ_PT2_INT: *out = cq_val_of_i64(a->u.i); return CQ_OK;
    case CQ_PT2_FLOAT: *out = cq_val_of_f64(a->u.f); return CQ_OK;
    case CQ_PT2_BOOL: *out = cq_val_of_bool(a->u.b); return CQ_OK;
    case CQ_PT2_COMPLEX:
        out->kind   = CQ_VAL_COMPLEX;
        out->u.c.re = a->u.c.re;
        out->u.c.im = a->u.c.im;
        return CQ_OK;
    case CQ_PT2_TEXT: return text_value(r, a->u.text, CQ_VAL_STR, out);
    case CQ_PT2_DEVICE: return text_value(r, a->u.text, CQ_VAL_DEVICE, out);
    case CQ_PT2_LIST:
        CQ_TRY(cq_eval_list(r->ev, NULL, 0, CQ_VAL_LIST, out));
        for (size_t i = 0; i < a->u.list.n; i++) {
            cq_val item;

            CQ_TRY(cq_pt2_value(r, &a->u.list.items[i], &item));
            CQ_TRY(cq_list_push(out->u.list, item));
        }
        return CQ_OK;
    case CQ_PT2_GRAPH: return cq_pt2_function(r, a->u.graph, out);
    case CQ_PT2_OBJECT:
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "an object of class %s cannot be an argument",
                       a->u.text);
    }
    return CQ_E_INTERNAL;
}

/* ---- operators of no table ---- */

/* An unknown symbol is defined here: the size of the result that has it. A run that captures
 * nothing has no table of symbols; the size is that of the file's example. */
static bool size_symbol(void *user, const char *name, cq_int *out)
{
    cq_pt2_run *r     = user;
    cq_int     *known = cq_pt2_symbol(r, name);

    if (!known && !r->ev->cx->symbols)
        return false;
    *out = known ? *known : cq_symbol(r->ev->cx->symbols, name, 2, NULL, 0);
    return known || cq_pt2_set_symbol(r, name, *out) == CQ_OK;
}

static cq_tensor *fake_of(cq_pt2_run *r, const cq_pt2_meta *m)
{
    const cq_pt2_env env = { r->ev->cx->symbols, size_symbol, r };
    cq_int           sizes[CQ_MAX_RANK];
    cq_tensor       *t;

    if (m->dtype == CQ_DTYPE_NONE || m->rank > CQ_MAX_RANK)
        return NULL;
    for (size_t i = 0; i < m->rank; i++)
        if (!m->sizes[i].expr || !cq_pt2_expr(m->sizes[i].expr, &env, &sizes[i]))
            sizes[i] = cq_i(m->sizes[i].value);
    if (cq_tensor_new_fake(&t, m->dtype, m->rank, sizes) != CQ_OK)
        return NULL;
    return cq_ctx_own_tensor(r->ev->cx, t);
}

/* The file records the results of each operator. */
static size_t results_of(void *user, cq_tensor **like)
{
    cq_pt2_run        *r = user;
    const cq_pt2_node *n = r->node;

    if (!n->n_outputs || n->n_outputs > CQ_MAX_RESULTS)
        return 0;
    for (size_t i = 0; i < n->n_outputs; i++) {
        if (n->outputs[i].kind != CQ_PT2_SLOT)
            return 0;
        like[i] = fake_of(r, &r->graph->metas[n->outputs[i].u.slot]);
        if (!like[i])
            return 0;
    }
    return n->n_outputs;
}

/* ---- calls ---- */

bool cq_pt2_is_assertion(const char *op)
{
    const cq_export_target *target = cq_export_target_find(op);

    return target && target->is_assertion;
}

/* Conditions that do not depend on data are dropped; so are assertions inside of branches and
 * loops, which are not visible outside. */
static cq_status keep_assertion(cq_pt2_run *r, const cq_pt2_node *n)
{
    cq_val     v;
    cq_tensor *t;

    if (r->graph != r->program->graph || !n->n_inputs)
        return CQ_OK;
    CQ_TRY(cq_pt2_value(r, &n->inputs[0], &v));
    if ((v.kind == CQ_VAL_TENSOR && !cq_tensor_is_fake(v.u.tensor)) ||
        (v.kind == CQ_VAL_BOOL && !v.u.b.origin) || (v.kind == CQ_VAL_INT && !v.u.i.expr))
        return CQ_OK;
    CQ_TRY(cq_eval_as_tensor(r->ev, v, &t));
    t = CQ_OP(r->ev->cx, "aten::to.dtype", TENSOR(t), DTYPE(CQ_DTYPE_BOOL));
    CQ_TRY(r->ev->cx->status);
    CQ_TRY(cq_vec_push(r->asserted, t));
    cq_tensor_retain(t);
    return CQ_OK;
}

/* How many arguments are the first of the schema, in its order. */
static size_t leading(const char *op, const char *const *names, size_t n)
{
    const cq_op *row = cq_op_find(op);
    size_t       i   = 0;

    while (row && i < n && i < row->schema->n_args && !row->schema->args[i].keyword_only &&
           (strcmp(names[i], row->schema->args[i].name) == 0 ||
            (i == 0 && strcmp(names[0], "self") == 0)))
        i++;
    return i;
}

/* Arguments are given by name. By position where names do not help: to an alias, and for a number
 * in place of the first tensor (`4 - x` is sub.Tensor). */
cq_status cq_pt2_call(cq_pt2_run *r, const char *op, const char *const *names, const cq_val *args,
                      size_t n, cq_val *out)
{
    const cq_export_target *target = cq_export_target_find(op);
    const char             *alias  = target && target->call ? target->call : op;
    size_t                  first  = 0;
    cq_fncall               c;

    if (strcmp(alias, "aten::item") == 0 && n == 1)
        return cq_eval_call_name(r->ev, alias, args, 1, out);
    if (alias != op || (n > 1 && args[0].kind != CQ_VAL_TENSOR && args[1].kind == CQ_VAL_TENSOR))
        first = leading(op, names, n);
    c = (cq_fncall){ .ev    = r->ev,
                     .name  = alias,
                     .args  = args,
                     .n     = first,
                     .names = names + first,
                     .kw    = args + first,
                     .n_kw  = n - first };
    CQ_TRY(cq_fncall_run(&c, CQ_CALL_OPERATOR));
    *out = c.result;
    return CQ_OK;
}

/* Newer schemas have Scalar where the table has int: correction of var. */
static void make_ints(const cq_pt2_node *n, cq_val *args)
{
    const cq_op *row = cq_op_find(n->op);

    for (size_t i = 0; row && i < n->n_inputs; i++) {
        int at = cq_schema_find(row->schema, n->names[i]);

        if (at >= 0 && row->schema->args[at].type.base == CQ_SCHEMA_INT &&
            args[i].kind == CQ_VAL_FLOAT && !args[i].u.f.origin && args[i].u.f.value >= -1e9 &&
            args[i].u.f.value <= 1e9 && args[i].u.f.value == (double)(int64_t)args[i].u.f.value)
            args[i] = cq_val_of_i64((int64_t)args[i].u.f.value);
    }
}

static cq_status call_operator(cq_pt2_run *r, const cq_pt2_node *n, cq_val *out)
{
    cq_pt2_operands o = { .n = n->n_inputs };
    cq_pt2_batch    batch;
    bool            done;

    if (n->n_inputs > CQ_EVAL_MAX_OPERANDS)
        return cq_fail(CQ_E_UNSUPPORTED, n->op, NULL, "an operator has more than %d arguments",
                       CQ_EVAL_MAX_OPERANDS);
    for (size_t i = 0; i < n->n_inputs; i++) {
        o.names[i] = n->names[i];
        CQ_TRY(cq_pt2_value(r, &n->inputs[i], &o.args[i]));
    }
    make_ints(n, o.args);
    if (strcmp(n->op, "aten::_to_copy") == 0 && o.n && o.args[0].kind != CQ_VAL_TENSOR) {
        cq_tensor *number; /* a decomposition of PyTorch gives it a plain number */

        CQ_TRY(cq_eval_as_tensor(r->ev, o.args[0], &number));
        o.args[0] = cq_val_of_tensor(number);
    }
    CQ_TRY(cq_pt2_line_up(r, n, &o, &batch, out, &done));
    if (!done && r->autocast != CQ_DTYPE_NONE)
        CQ_TRY(cq_pt2_autocast(r, n->op, o.args, o.n));
    if (!done)
        CQ_TRY(cq_pt2_call(r, n->op, o.names, o.args, o.n, out));
    return cq_pt2_split_levels(r, &batch, out);
}

static bool has_tensors(const cq_pt2_graph *g, const cq_pt2_arg *args, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (args[i].kind == CQ_PT2_LIST
                ? has_tensors(g, args[i].u.list.items, args[i].u.list.n)
                : args[i].kind == CQ_PT2_SLOT && g->metas[args[i].u.slot].dtype != CQ_DTYPE_NONE)
            return true;
    return false;
}

/* Whether a call involves tensors, or its number is used. */
static bool matters(const cq_pt2_graph *g, const cq_pt2_node *n)
{
    if (has_tensors(g, n->inputs, n->n_inputs) || has_tensors(g, n->outputs, n->n_outputs))
        return true;
    for (size_t i = 0; i < n->n_outputs; i++)
        if (n->outputs[i].kind == CQ_PT2_SLOT &&
            g->last_use[n->outputs[i].u.slot] != (uint32_t)(n - g->nodes))
            return true;
    return false;
}

/* ---- tensor subclasses ---- */

static bool makes(const cq_pt2_node *n, uint32_t slot)
{
    return n->n_outputs == 1 && n->outputs[0].kind == CQ_PT2_SLOT && n->outputs[0].u.slot == slot;
}

static bool is_access(const cq_pt2_node *n)
{
    return n->op && strcmp(n->op, "export::access_subclass_inner_tensor") == 0 &&
           n->n_inputs == 2 && n->inputs[0].kind == CQ_PT2_SLOT && n->inputs[1].kind == CQ_PT2_TEXT;
}

/* The name of a weight, or of a tensor inside of one, that a slot holds; NULL: none. */
static const char *weight_name(const cq_pt2_run *r, uint32_t slot, int depth)
{
    const cq_pt2_program *p = r->program;
    const char           *outer;

    for (size_t i = 0; i < p->graph->n_inputs; i++)
        if (p->graph->inputs[i].kind == CQ_PT2_SLOT && p->graph->inputs[i].u.slot == slot)
            return p->inputs[i].name;
    for (size_t i = 0; depth && i < p->graph->n_nodes; i++) {
        const cq_pt2_node *n = &p->graph->nodes[i];

        if (!is_access(n) || !makes(n, slot))
            continue;
        outer = weight_name(r, n->inputs[0].u.slot, depth - 1);
        return outer ? cq_arena_printf(p->archive->arena, "%s.%s", outer, n->inputs[1].u.text)
                     : NULL;
    }
    return NULL;
}

enum { MAX_SUBCLASSES = 4 }; /* inside of each other */

/* access_subclass_inner_tensor(weight, attribute). An inner subclass has no value: only its tensors
 * are read. */
static cq_status access_inner(cq_pt2_run *r, const cq_pt2_node *n, cq_val *out)
{
    const cq_pt2_archive *a = r->program->archive;
    const char           *name =
        r->graph == r->program->graph ? weight_name(r, n->outputs[0].u.slot, MAX_SUBCLASSES) : NULL;
    cq_tensor *t = name ? cq_map_get(&a->weights, name) : NULL;

    if (name && !t)
        t = cq_map_get(&a->constants, name);
    *out = t ? cq_val_of_tensor(t) : CQ_NONE;
    return name ? CQ_OK
                : cq_fail(CQ_E_UNSUPPORTED, NULL, NULL,
                          "the tensor subclass whose %s is asked for is not a weight",
                          n->inputs[1].u.text);
}

static cq_status call_node(cq_pt2_run *r, const cq_pt2_node *n, cq_val *out)
{
    const cq_export_target *target = n->op ? cq_export_target_find(n->op) : NULL;
    bool                    found;

    *out = CQ_NONE;
    if (is_access(n))
        return access_inner(r, n, out);
    if (r->asserted && target && target->checks_data)
        return keep_assertion(r, n);
    if (!matters(r->graph, n))
        return CQ_OK;
    if (n->op && strncmp(n->op, "higher_order::", 14) == 0)
        return cq_pt2_higher_order(r, n, out);
    if (n->op)
        return target && target->is_assertion ? CQ_OK : call_operator(r, n, out);
    CQ_TRY(cq_pt2_number_call(r, n, out, &found));
    if (!found)
        CQ_TRY(cq_pt2_batch_call(r, n, out, &found));
    return found ? CQ_OK
                 : cq_fail(CQ_E_UNSUPPORTED, NULL, "ep.run_decompositions() may replace it",
                           "the function %s is not known", n->target);
}

/* ---- results ---- */

/* Gives the results to the outputs, one each; a list of tensors is one output, and so is, in files
 * of PyTorch 2.6, the only result of a higher-order operator. */
static cq_status bind(cq_pt2_run *r, const cq_pt2_arg *outputs, size_t n, cq_val v)
{
    const cq_val *items   = &v;
    size_t        n_items = 1;

    if (n == 1 && outputs->kind == CQ_PT2_LIST && cq_val_is_list(v))
        return bind(r, outputs->u.list.items, outputs->u.list.n,
                    v.kind == CQ_VAL_TUPLE && v.u.list->n == 1 && cq_val_is_list(v.u.list->items[0])
                        ? v.u.list->items[0]
                        : v);
    if (cq_val_is_list(v)) {
        items   = v.u.list->items;
        n_items = v.u.list->n;
    }
    for (size_t i = 0; i < n && v.kind != CQ_VAL_NONE; i++) {
        if (outputs[i].kind == CQ_PT2_NONE)
            continue;
        if (i >= n_items)
            return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "it returns %zu values, expected %zu",
                           n_items, n);
        if (outputs[i].kind == CQ_PT2_SLOT)
            cq_val_set(&r->values[outputs[i].u.slot], items[i]);
        else
            CQ_TRY(bind(r, &outputs[i], 1, items[i]));
    }
    return CQ_OK;
}

/* ---- graphs ---- */

static cq_status blame(const cq_pt2_run *r, const cq_pt2_node *n, cq_status status)
{
    char location[CQ_LOCATION_SIZE];

    if (status == CQ_OK || status == CQ_E_NO_MEMORY || cq_error_has_excerpt())
        return status;
    cq_location_text(cq_pt2_location(r->program, n), location);
    if (location[0])
        cq_error_add_line(status, "%s", location);
    return cq_error_add_excerpt(status, "%s", n->target);
}

/* The cost of finding the arguments of a call and of keeping its results. */
enum { NODE_STEPS = 10 };

static cq_status begin_node(cq_pt2_run *r, const cq_pt2_node *n)
{
    CQ_TRY(cq_eval_spend(r->ev, NODE_STEPS * CQ_EVAL_STEP_ITEMS));
    r->node             = n;
    r->ev->cx->location = cq_pt2_location(r->program, n);
    return cq_pt2_enter_node(r, n);
}

static void forget(cq_pt2_run *r, const cq_pt2_arg *a, uint32_t at)
{
    if (a->kind == CQ_PT2_SLOT && r->graph->last_use[a->u.slot] == at)
        cq_val_set(&r->values[a->u.slot], CQ_NONE);
    for (size_t i = 0; a->kind == CQ_PT2_LIST && i < a->u.list.n; i++)
        forget(r, &a->u.list.items[i], at);
}

/* Binds the results of a node and forgets the values that no later node reads. */
static cq_status end_node(cq_pt2_run *r, const cq_pt2_node *n, cq_val out, size_t mark)
{
    const uint32_t at = (uint32_t)(n - r->graph->nodes);

    r->node = n;
    CQ_TRY(bind(r, n->outputs, n->n_outputs, out));
    cq_ctx_pop(r->ev->cx, mark, NULL, 0);
    CQ_TRY(r->ev->cx->status);
    for (size_t k = 0; k < n->n_inputs; k++)
        forget(r, &n->inputs[k], at);
    for (size_t k = 0; k < n->n_outputs; k++)
        forget(r, &n->outputs[k], at);
    return CQ_OK;
}

/* Enters a graph: it has values of its own. */
static cq_status begin_graph(cq_pt2_run *r, const cq_pt2_graph *g, const cq_val *args, size_t n)
{
    cq_val        *values;
    unsigned char *levels;

    if (n != g->n_inputs)
        return cq_fail(CQ_E_FORMAT, g->name, NULL, "the graph takes %zu arguments, got %zu",
                       g->n_inputs, n);
    if (r->ev->depth >= MAX_DEPTH)
        return cq_fail(CQ_E_UNSUPPORTED, g->name, NULL, "graphs are nested more than %d deep",
                       MAX_DEPTH);
    values = cq_alloc_array(g->n_slots + 1, sizeof *values);
    levels = cq_zalloc(g->n_slots + 1);
    if (!values || !levels) {
        cq_free(values);
        cq_free(levels);
        return CQ_E_NO_MEMORY;
    }
    r->values = values;
    r->levels = levels;
    for (size_t i = 0; i < g->n_slots; i++)
        r->values[i] = CQ_NONE;
    for (size_t i = 0; i < n; i++)
        if (g->inputs[i].kind == CQ_PT2_SLOT)
            cq_val_set(&r->values[g->inputs[i].u.slot], args[i]);
    r->graph               = g;
    r->ev->results_of      = results_of;
    r->ev->results_of_user = r;
    r->ev->depth++;
    return CQ_OK;
}

static void end_graph(cq_pt2_run *r, const cq_pt2_run *outer)
{
    r->ev->depth--;
    for (size_t i = 0; i < r->graph->n_slots; i++)
        cq_val_release(r->values[i]);
    cq_free(r->values);
    cq_free(r->levels);
    r->values = outer->values;
    r->levels = outer->levels;
    r->graph  = outer->graph;
    r->node   = outer->node;
}

cq_status cq_pt2_run_graph(cq_pt2_run *r, const cq_pt2_graph *g, const cq_val *args, size_t n,
                           cq_val *results)
{
    const cq_pt2_run outer = *r;
    cq_status        status;

    CQ_TRY(begin_graph(r, g, args, n));
    status = CQ_OK;
    for (const cq_pt2_node *node = g->nodes; node < g->nodes + g->n_nodes && status == CQ_OK;
         node++) {
        const size_t mark = cq_ctx_mark(r->ev->cx);
        cq_val       out;

        status = begin_node(r, node);
        if (status == CQ_OK)
            status = call_node(r, node, &out);
        if (status == CQ_OK)
            status = end_node(r, node, out, mark);
        status = blame(r, node, status);
    }
    for (size_t i = 0; i < g->n_outputs && status == CQ_OK; i++)
        status = cq_pt2_value(r, &g->outputs[i], &results[i]);
    for (size_t i = 0; i < g->n_outputs && status == CQ_OK; i++)
        cq_ctx_own(r->ev->cx, cq_val_retain(results[i]));
    end_graph(r, &outer);
    return status == CQ_OK ? r->ev->cx->status : status;
}

/* ---- graphs as functions ---- */

static cq_status add_leaf(cq_visit *w, cq_val leaf)
{
    cq_pt2_leaves *to = w->user;

    return cq_vec_push(to, leaf);
}

cq_status cq_pt2_flatten(cq_pt2_leaves *to, cq_val v)
{
    return cq_val_each(&(cq_visit){ .each = add_leaf, .user = to }, v);
}

static cq_status call_graph(cq_eval *ev, void *user, const cq_val *args, size_t n, cq_val *out)
{
    const cq_pt2_graph *g       = user;
    cq_pt2_leaves       flat    = { 0 };
    cq_val             *results = cq_alloc_array(g->n_outputs + 1, sizeof *results);
    cq_status           status  = results ? CQ_OK : CQ_E_NO_MEMORY;

    for (size_t i = 0; i < n && status == CQ_OK; i++)
        status = cq_pt2_flatten(&flat, args[i]);
    if (status == CQ_OK)
        status = cq_pt2_run_graph(ev->results_of_user, g, flat.items, flat.n, results);
    if (status == CQ_OK)
        status = cq_eval_list(ev, results, g->n_outputs, CQ_VAL_TUPLE, out);
    cq_vec_clear(&flat);
    cq_free(results);
    return status;
}

cq_status cq_pt2_function(cq_pt2_run *r, const cq_pt2_graph *g, cq_val *out)
{
    cq_object *t;

    CQ_TRY(cq_object_new(&t, CQ_OBJECT_NATIVE));
    t->text        = g->name;
    t->native      = call_graph;
    t->native_user = (void *)g;
    return cq_eval_own(r->ev, cq_val_of_object(t), out);
}
