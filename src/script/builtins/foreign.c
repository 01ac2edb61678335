/* Operators that are not in the table: those of extensions, and unsupported ones. A user can define
 * them in TorchScript (cq_script_define): `def mylib__scale(x, by)` is mylib::scale. Such a
 * definition takes precedence over the table. An undefined operator can still be captured: its node
 * keeps its name in the graph, for a user's symbolic function, for --operator-export-type, or for
 * the report of missing operators. Its result is a guess: one tensor like its first argument, or as
 * many as the program unpacks. An export warns about it. */
#include "base/str.h"
#include "base/warn.h"
#include "script/call.h"
#include "script/script.h"

#include <stdio.h>

typedef struct foreign {
    cq_op_def  def; /* must be first: nodes refer to it, and the cast leads back here */
    cq_op      op;
    cq_tensor *like[CQ_MAX_RESULTS]; /* fake tensors of its results; owned by the graph */
    size_t     n_declared;           /* number of results whose types the program has declared */
} foreign;

static cq_status results_like(cq_opcall *c)
{
    const foreign *f = (const foreign *)c->op->def;

    for (size_t i = 0; i < c->n_results; i++)
        cq_result_like(c, i, f->like[i], f->like[i]->dtype);
    return c->cx->status;
}

static cq_status cannot_run(cq_opcall *c)
{
    return cq_call_fail(c, CQ_E_UNSUPPORTED,
                        "the model reads a number that an operator of an extension computes");
}

/* Adds a node for the call to the graph. params are the names of its arguments; without them they
 * are x0, x1, …, and keywords keep their names. */
static cq_status record_call(const cq_fncall *c, const cq_ast_def *params, uint32_t flags,
                             cq_tensor *const *like, size_t n, cq_val *out)
{
    cq_eval   *ev    = c->ev;
    cq_arena  *arena = ev->capture->graph->arena;
    foreign   *f     = cq_arena_zalloc(arena, sizeof *f);
    cq_str     text  = { 0 };
    cq_schema *schema;
    cq_val     args[CQ_EVAL_MAX_OPERANDS], results[CQ_MAX_RESULTS];
    cq_status  status;

    if (c->n + c->n_kw > CQ_EVAL_MAX_OPERANDS || n > CQ_MAX_RESULTS)
        return cq_fail(CQ_E_UNSUPPORTED, c->name, NULL, "too many arguments or results");
    cq_str_printf(&text, "%s(", c->name);
    for (size_t i = 0; i < c->n + c->n_kw; i++) {
        args[i] = i < c->n ? c->args[i] : c->kw[i - c->n];
        cq_str_add(&text, i ? ", Any " : "Any ");
        if (i >= c->n)
            cq_str_add(&text, c->names[i - c->n]);
        else if (params)
            cq_str_add(&text, params->params[i].name);
        else
            cq_str_printf(&text, "x%zu", i);
    }
    cq_str_add(&text, ") -> (");
    for (size_t i = 0; i < n; i++)
        cq_str_add(&text, i ? ", Tensor" : "Tensor");
    cq_str_add_char(&text, ')');
    status =
        f && text.status == CQ_OK ? cq_schema_parse(&schema, arena, text.text) : CQ_E_NO_MEMORY;
    cq_str_clear(&text);
    CQ_TRY(status);
    f->def = (cq_op_def){ .shape = results_like, .run = cannot_run, .flags = flags };
    f->op  = (cq_op){ .def = &f->def, .schema = schema };
    for (size_t i = 0; i < n; i++) { /* the node may run long after the call */
        CQ_TRY(cq_ir_keep_tensor(ev->capture->graph, like[i]));
        f->like[i] = like[i];
    }
    CQ_TRY(cq_op_call(ev->cx, &f->op, args, c->n + c->n_kw, results, CQ_MAX_RESULTS));
    if (n != 1)
        return cq_eval_list(ev, results, n, CQ_VAL_TUPLE, out);
    *out = results[0];
    return CQ_OK;
}

/* ---- undefined operators ---- */

static cq_status note_first(cq_visit *w, cq_val v)
{
    cq_tensor **first = w->user;

    if (v.kind == CQ_VAL_TENSOR && !*first)
        *first = v.u.tensor;
    return CQ_OK;
}

/* The first tensor among the arguments, or NULL. */
static cq_status find_tensor(const cq_fncall *c, cq_tensor **out)
{
    cq_visit w = cq_eval_visit(c->ev, out);

    *out   = NULL;
    w.each = note_first;
    for (size_t i = 0; i < c->n + c->n_kw && !*out; i++)
        CQ_TRY(cq_val_each(&w, i < c->n ? c->args[i] : c->kw[i - c->n]));
    return CQ_OK;
}

/* Operators that tools insert after the author wrote the code. The usual hint to define the
 * operator would not help. */
static const struct {
    const char *part, *hint;
} makers[] = {
    { "mkldnn", "torch.jit.optimize_for_inference wrote it; save the model before that call" },
    { "MKLDNN", "torch.jit.optimize_for_inference wrote it; save the model before that call" },
    { "tensorrt::", "torch_tensorrt.compile wrote it; save the model before that call" },
    { "FusionGroup", "a fuser of PyTorch wrote it; save the model before it is run" },
};

const char *cq_foreign_maker_hint(const char *name)
{
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++)
        if (strstr(name, makers[i].part))
            return makers[i].hint;
    return NULL;
}

static cq_status not_known(const char *name)
{
    const char *hint = cq_foreign_maker_hint(name);

    return cq_fail(CQ_E_UNSUPPORTED, NULL,
                   hint ? hint
                        : "define it by other operators (--define FILE.py with def "
                          "domain__name(x): …), or change the model",
                   "unknown operator %s", name);
}

/* If the name says that the operator works in-location, its argument is replaced by the result. */
static cq_status change_in_place(cq_fncall *c)
{
    const char *suffix = cq_op_suffix(c->name, strcspn(c->name, "."));
    cq_ctx     *cx     = c->ev->cx;

    if (!suffix || suffix[1] || !c->n || c->args[0].kind != CQ_VAL_TENSOR || !cx->listener ||
        c->result.kind != CQ_VAL_TENSOR)
        return CQ_OK;
    CQ_TRY(cx->listener->changed(cx->listener_self, cx, c->args[0].u.tensor, c->result.u.tensor));
    c->result = c->args[0];
    return CQ_OK;
}

cq_status cq_resolve_foreign(cq_fncall *c)
{
    cq_eval   *ev          = c->ev;
    const bool is_exported = ev->dialect == CQ_DIALECT_EXPORTED;
    cq_tensor *like[CQ_MAX_RESULTS];
    size_t     n = 1;

    if (!ev->program->undefined_op)
        ev->program->undefined_op = cq_name(ev->program, c->name);
    if (!ev->capture)
        return not_known(c->name);
    CQ_TRY(find_tensor(c, &like[0]));
    if (is_exported)
        n = ev->results_of(ev->results_of_user, like);
    if (!n || !like[0])
        return not_known(c->name);
    CQ_TRY(record_call(c, NULL, is_exported ? CQ_OP_FOREIGN : CQ_OP_GUESSED, like, n, &c->result));
    CQ_TRY(change_in_place(c));
    if (!ev->guess && !is_exported) {
        ev->guess          = cq_name(ev->program, c->name);
        ev->guess_location = ev->cx->location;
    }
    return CQ_OK;
}

/* The node that computes the guess v, if v is its only result; NULL if v is not a guess. */
static const cq_node *guess_of(cq_eval *ev, cq_val v)
{
    cq_value    *value;
    const cq_op *op;

    if (!ev->guess || !ev->capture || v.kind != CQ_VAL_TENSOR)
        return NULL;
    value = cq_capture_value(ev->capture, ev->cx, v.u.tensor);
    op    = value && value->node ? value->node->def : NULL;
    return op && (op->def->flags & CQ_OP_GUESSED) && value->node->n_outputs == 1 ? value->node
                                                                                 : NULL;
}

/* Records the call again with n results. The node with one result is not exported if it is
 * unused. */
cq_status cq_eval_unpack_guess(cq_eval *ev, cq_val v, size_t n, cq_val *out)
{
    const cq_node *node = guess_of(ev, v);
    cq_tensor     *like[CQ_MAX_RESULTS];
    cq_val         args[CQ_EVAL_MAX_OPERANDS];
    const char    *names[CQ_EVAL_MAX_OPERANDS];
    cq_fncall      call = { .ev = ev, .kw = args, .names = names };

    *out = v;
    if (!node || n < 2)
        return CQ_OK;
    call.name = node->op;
    call.n_kw = node->n_inputs;
    for (size_t i = 0; i < n && i < CQ_MAX_RESULTS; i++)
        like[i] = v.u.tensor;
    for (size_t i = 0; i < node->n_inputs; i++) {
        args[i]  = cq_capture_val(ev->capture, ev->cx, &node->inputs[i]);
        names[i] = ((const cq_op *)node->def)->schema->args[i].name;
    }
    CQ_TRY(ev->cx->status);
    return record_call(&call, NULL, CQ_OP_GUESSED, like, n, out);
}

/* The size that the program declares for an axis. If the guess has the same size, its symbol is
 * kept; otherwise the size is data-dependent if any input has dynamic sizes. */
static cq_int declared_size(cq_eval *ev, cq_value *v, int axis, int64_t told, int rank)
{
    cq_graph *g = ev->capture->graph;

    if (v->type.rank == rank && v->type.sizes[axis].value == told)
        return v->type.sizes[axis];
    for (size_t i = 0; i < g->top->params.n; i++)
        for (int k = 0; k < g->top->params.items[i]->type.rank; k++)
            if (g->top->params.items[i]->type.sizes[k].expr)
                return cq_symbol_fresh(&g->symbols, "d", told, v, axis);
    return cq_i(told);
}

cq_status cq_eval_type_guess(cq_eval *ev, cq_val v, int64_t dtype, const cq_list *sizes,
                             cq_val *out)
{
    cq_value    *value = cq_capture_value(ev->capture, ev->cx, v.u.tensor);
    const cq_op *op    = value && value->node ? value->node->def : NULL;
    foreign     *f;
    cq_int       told[CQ_MAX_RANK];
    cq_tensor   *t;

    CQ_TRY(ev->cx->status);
    *out = v;
    if (!op || !(op->def->flags & CQ_OP_GUESSED))
        return CQ_OK;
    if (dtype <= CQ_DTYPE_NONE || dtype >= CQ_DTYPE_COUNT || sizes->n > CQ_MAX_RANK)
        return cq_fail(CQ_E_ARGUMENT, value->node->op, NULL,
                       "the declared dtype or number of dimensions is invalid");
    for (size_t i = 0; i < sizes->n; i++) {
        if (sizes->items[i].kind != CQ_VAL_INT || sizes->items[i].u.i.value < 0)
            return cq_fail(CQ_E_ARGUMENT, value->node->op, NULL,
                           "a declared size is not an integer of at least 0");
        told[i] = declared_size(ev, value, (int)i, sizes->items[i].u.i.value, (int)sizes->n);
    }
    value->type = cq_ir_tensor_type(ev->capture->graph, (cq_dtype)dtype, sizes->n, told);
    t           = cq_capture_tensor(ev->capture, ev->cx, value);
    CQ_TRY(ev->cx->status);
    CQ_TRY(cq_ir_keep_tensor(ev->capture->graph, t));
    f                     = (foreign *)op->def;
    f->like[value->index] = t;
    f->n_declared++;
    if (f->n_declared == value->node->n_outputs)
        f->def.flags = CQ_OP_FOREIGN;
    *out = cq_val_of_tensor(t);
    return CQ_OK;
}

cq_status cq_eval_no_guess(cq_eval *ev, cq_val v)
{
    const cq_node *node = guess_of(ev, v);
    char           location[CQ_LOCATION_SIZE];

    if (!node)
        return CQ_OK;
    return cq_fail(
        CQ_E_UNSUPPORTED, cq_location_text(ev->cx->location, location),
        "define it by other operators (--define FILE.py), or unpack its results: "
        "a, b = …",
        "the result of %s is indexed, but the number of its results is unknown: the item is a "
        "result or a part of the only result",
        node->op);
}

cq_status cq_eval_blame_guess(const cq_eval *ev, cq_status status)
{
    char message[CQ_ERROR_MESSAGE_SIZE], location[CQ_LOCATION_SIZE];

    if (status == CQ_OK || !ev->guess)
        return status;
    snprintf(message, sizeof message, "%s", cq_last_error()->message);
    not_known(ev->guess);
    cq_error_add_where(status, "%s", cq_location_text(ev->guess_location, location));
    return cq_error_add_excerpt(status, "with a guessed result: %s", message);
}

cq_status cq_eval_known_foreign(cq_eval *ev, const char *op, const cq_list *args,
                                const cq_list *like, cq_val *out)
{
    const cq_fncall call = { .ev = ev, .name = op, .args = args->items, .n = args->n };
    cq_tensor      *tensors[CQ_MAX_RESULTS];

    for (size_t i = 0; i < like->n; i++) {
        if (like->items[i].kind != CQ_VAL_TENSOR || i >= CQ_MAX_RESULTS)
            return cq_fail(CQ_E_UNSUPPORTED, op, NULL,
                           "expected at most %d results, all of them tensors", CQ_MAX_RESULTS);
        tensors[i] = like->items[i].u.tensor;
    }
    CQ_TRY(record_call(&call, NULL, CQ_OP_FOREIGN, tensors, like->n, out));
    return like->n == 1 ? cq_eval_list(ev, out, 1, CQ_VAL_LIST, out) : CQ_OK;
}

/* ---- definitions ---- */

/* Writes mylib__scale for mylib::scale.Tensor; false if the name is too long. */
static bool definition_name(char *out, size_t size, const char *op)
{
    const char *colons = strstr(op, "::"), *dot = strchr(op, '.');
    int         domain = colons ? (int)(colons - op) : 0;
    const char *name   = colons ? colons + 2 : op;
    int         len    = dot ? (int)(dot - name) : (int)strlen(name);

    return colons && snprintf(out, size, "%.*s__%.*s", domain, op, len, name) < (int)size;
}

/* Lists the arguments of c in the order of the definition's parameters, with defaults. */
static cq_status order_args(const cq_fncall *c, const cq_object *fn, cq_val *out)
{
    cq_eval  *ev    = c->ev;
    cq_frame  f     = { .unit = fn->unit, .def = fn->def };
    cq_frame *outer = ev->frame;
    cq_status status;

    for (size_t i = 0; i < fn->def->n_params; i++) {
        const cq_ast_param *p = &fn->def->params[i];

        out[i] = cq_fncall_arg(c, i, p->name);
        if (i < c->n || out[i].kind != CQ_VAL_NONE || !p->value)
            continue;
        ev->frame = &f;
        status    = cq_eval_expr(ev, p->value, &out[i]);
        ev->frame = outer;
        CQ_TRY(status);
    }
    return CQ_OK;
}

/* Calls the definition without a listener, only to get the types of its results. */
static cq_status evaluate_results(const cq_fncall *c, cq_val *out)
{
    cq_eval           *ev       = c->ev;
    const cq_listener *listener = ev->cx->listener;
    cq_capture        *capture  = ev->capture;
    cq_fncall          call     = *c;
    cq_status          status;

    ev->cx->listener = NULL;
    ev->capture      = NULL;
    status           = cq_fncall_run(&call, CQ_CALL_ANY);
    ev->capture      = capture;
    ev->cx->listener = listener;
    *out             = call.result;
    return status;
}

/* Calls a definition that has a symbolic function as a single node for that function. */
static cq_status call_as_node(cq_fncall *c)
{
    const cq_object *fn = cq_object_of(c->callee);
    cq_val           args[CQ_EVAL_MAX_OPERANDS], result;
    cq_fncall        all = { .ev = c->ev, .name = c->name, .args = args, .n = fn->def->n_params };
    cq_tensor       *like[CQ_MAX_RESULTS];
    const cq_val    *items = &result;
    size_t           n     = 1;

    if (fn->def->n_params > CQ_EVAL_MAX_OPERANDS)
        return cq_fail(CQ_E_UNSUPPORTED, c->name, NULL, "too many arguments");
    CQ_TRY(evaluate_results(c, &result));
    if (result.kind == CQ_VAL_TUPLE) {
        items = result.u.list->items;
        n     = result.u.list->n;
    }
    for (size_t i = 0; i < n; i++) {
        if (items[i].kind != CQ_VAL_TENSOR || i >= CQ_MAX_RESULTS)
            return cq_fail(
                CQ_E_UNSUPPORTED, c->name, NULL,
                "an operator with a symbolic function returns a tensor or a tuple of at most %d",
                CQ_MAX_RESULTS);
        like[i] = items[i].u.tensor;
    }
    CQ_TRY(order_args(c, fn, args));
    return record_call(&all, fn->def, 0, like, n, &c->result);
}

/* The newest definition of the operator; None if there is no definition. */
static cq_status find_definition(cq_eval *ev, const char *op, cq_val *out)
{
    char definition[256], qualified[300];

    *out = CQ_NONE;
    if (!ev->program->n_definitions || !definition_name(definition, sizeof definition, op))
        return CQ_OK;
    for (size_t i = ev->program->n_definitions; i-- > 0;) {
        snprintf(qualified, sizeof qualified, CQ_DEFINITIONS "%zu.%s", i, definition);
        CQ_TRY(cq_program_find(ev->program, qualified, out));
        if (cq_object_as(*out, CQ_OBJECT_FUNCTION))
            return cq_map_set(&ev->program->used_definitions, definition, NULL);
    }
    *out = CQ_NONE;
    return CQ_OK;
}

cq_status cq_resolve_defined(cq_fncall *c)
{
    cq_eval  *ev = c->ev;
    cq_fncall to = *c;

    CQ_TRY(find_definition(ev, c->name, &to.callee));
    if (to.callee.kind == CQ_VAL_NONE)
        return cq_fncall_decline(c);
    CQ_TRY(ev->capture && cq_port_has_rule(ev->port, c->name) ? call_as_node(&to)
                                                              : cq_fncall_run(&to, CQ_CALL_ANY));
    c->result = to.result;
    return CQ_OK;
}

static void warn_of_unused(const cq_program *p, const char *file, const char *name)
{
    const char *colons = strstr(name, "__");
    char        near[256];

    if (p->undefined_op && definition_name(near, sizeof near, p->undefined_op))
        cq_warn(file, "the definition %s is never used; did you mean %s, for %s?", name, near,
                p->undefined_op);
    else
        cq_warn(file, "the definition %s is never used: the model does not call %.*s::%s", name,
                (int)(colons - name), name, colons + 2);
}

void cq_program_check_definitions(cq_program *p)
{
    if (!p->n_definitions || p->has_warned_of_definitions)
        return;
    p->has_warned_of_definitions = true;
    for (size_t i = 0; i < p->all_units.n; i++) {
        const cq_unit *unit = p->all_units.items[i];

        if (!cq_starts_with(unit->qualifier, CQ_DEFINITIONS))
            continue;
        for (size_t k = 0; k < unit->n_defs; k++)
            if (strstr(unit->defs[k]->name, "__") && unit->defs[k]->name[0] != '_' &&
                !cq_map_has(&p->used_definitions, unit->defs[k]->name))
                warn_of_unused(p, unit->source.file, unit->defs[k]->name);
    }
}
