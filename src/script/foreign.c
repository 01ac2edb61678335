/* Operators that the table does not have: those of extensions, and those that calque lacks. What
 * they compute, a user can say in TorchScript (cq_script_define): `def mylib__scale(x, by)` is
 * mylib::scale. Such a definition goes before the table.
 *
 * An operator that nobody defined can still be captured: its node stands in the graph under its
 * own name, for a user's rule, for --operator-export-type, or for the report of all that is
 * missing. What it returns is then a guess, one tensor like its first: an export warns of it. */
#include "base/str.h"
#include "script/foreign.h"

#include <stdio.h>

typedef struct foreign {
    cq_op_def  def; /* first: an operator's def leads back here */
    cq_op      op;
    cq_tensor *like[CQ_MAX_RESULTS]; /* what its results look like; the context's */
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

/* Puts a node for the call into the graph. params are the names of its arguments; without them they
 * are x0, x1, …, and keywords keep theirs. */
static cq_status write_down(cq_eval *ev, const char *name, const cq_call_args *c,
                            const cq_ast_def *params, cq_tensor *const *like, size_t n, cq_val *out)
{
    cq_arena  *arena = ev->capture->graph->arena;
    foreign   *f     = cq_arena_zalloc(arena, sizeof *f);
    cq_str     text  = { 0 };
    cq_schema *schema;
    cq_val     args[CQ_EVAL_MAX_OPERANDS], results[CQ_MAX_RESULTS];
    cq_status  status;

    if (c->n + c->n_kw > CQ_EVAL_MAX_OPERANDS || n > CQ_MAX_RESULTS)
        return cq_fail(CQ_E_UNSUPPORTED, name, NULL, "too many arguments or results");
    cq_str_printf(&text, "%s(", name);
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
    f->def = (cq_op_def){ .shape = results_like,
                          .run   = cannot_run,
                          .flags = params ? 0 : CQ_OP_GUESSED };
    f->op  = (cq_op){ .def = &f->def, .schema = schema };
    memcpy(f->like, like, n * sizeof *like);
    CQ_TRY(cq_op_call(ev->cx, &f->op, args, c->n + c->n_kw, results, CQ_MAX_RESULTS));
    if (n != 1)
        return cq_eval_list(ev, results, n, CQ_VAL_TUPLE, out);
    *out = results[0];
    return CQ_OK;
}

/* ---- operators that nobody defined ---- */

static cq_tensor *first_tensor(const cq_val *args, size_t n)
{
    cq_tensor *t = NULL;

    for (size_t i = 0; i < n && !t; i++)
        if (args[i].kind == CQ_VAL_TENSOR)
            t = args[i].u.tensor;
        else if (args[i].kind == CQ_VAL_LIST || args[i].kind == CQ_VAL_TUPLE)
            t = first_tensor(args[i].u.list->items, args[i].u.list->n);
    return t;
}

static cq_status not_known(const char *name)
{
    return cq_fail(CQ_E_UNSUPPORTED, NULL,
                   "say what it computes, in TorchScript (--define), or write the model without it",
                   "the operator %s is not known", name);
}

/* What an operator does in place, going by its name, is its result: else it would be forgotten. */
static cq_status change_in_place(cq_eval *ev, const char *name, const cq_call_args *c, cq_val *out)
{
    const char *dot    = strchr(name, '.');
    const char *suffix = cq_op_suffix(name, dot ? (size_t)(dot - name) : strlen(name));
    cq_ctx     *cx     = ev->cx;

    if (!suffix || suffix[1] || !c->n || c->args[0].kind != CQ_VAL_TENSOR || !cx->listener)
        return CQ_OK;
    CQ_TRY(cx->listener->changed(cx->listener_self, cx, c->args[0].u.tensor, out->u.tensor));
    *out = c->args[0];
    return CQ_OK;
}

cq_status cq_eval_undefined(cq_eval *ev, const char *name, const cq_call_args *c, cq_val *out)
{
    cq_tensor *like = first_tensor(c->args, c->n);

    if (!like)
        like = first_tensor(c->kw, c->n_kw);
    if (!ev->capture || !like)
        return not_known(name);
    CQ_TRY(write_down(ev, name, c, NULL, &like, 1, out));
    CQ_TRY(change_in_place(ev, name, c, out));
    if (!ev->guess) {
        ev->guess       = cq_name(ev->program, name);
        ev->guess_place = ev->cx->place;
    }
    return CQ_OK;
}

cq_status cq_eval_blame_guess(const cq_eval *ev, cq_status status)
{
    char message[CQ_ERROR_MESSAGE_SIZE], place[CQ_PLACE_SIZE];

    if (status == CQ_OK || !ev->guess)
        return status;
    snprintf(message, sizeof message, "%s", cq_last_error()->message);
    not_known(ev->guess);
    cq_error_add_where(status, "%s", cq_place_text(ev->guess_place, place));
    return cq_error_add_excerpt(status, "with a guess of what it returns: %s", message);
}

/* ---- definitions ---- */

/* mylib__scale for mylib::scale.Tensor; false if the name is too long to be one. */
static bool definition_name(char *out, size_t size, const char *op)
{
    const char *colons = strstr(op, "::"), *dot = strchr(op, '.');
    int         domain = colons ? (int)(colons - op) : 0;
    const char *name   = colons ? colons + 2 : op;
    int         len    = dot ? (int)(dot - name) : (int)strlen(name);

    return colons && snprintf(out, size, "%.*s__%.*s", domain, op, len, name) < (int)size;
}

/* The arguments of c in the order of the definition's parameters, defaults filled in. */
static cq_status in_order(cq_eval *ev, cq_thing *fn, const cq_call_args *c, cq_val *out)
{
    cq_frame  f     = { .unit = fn->unit, .def = fn->def };
    cq_frame *outer = ev->frame;
    cq_status status;

    for (size_t i = 0; i < fn->def->n_params; i++) {
        const cq_ast_param *p = &fn->def->params[i];

        out[i] = i < c->n ? c->args[i] : CQ_NONE;
        for (size_t k = 0; k < c->n_kw; k++)
            if (strcmp(c->names[k], p->name) == 0)
                out[i] = c->kw[k];
        if (i < c->n || out[i].kind != CQ_VAL_NONE || !p->value)
            continue;
        ev->frame = &f;
        status    = cq_eval_expr(ev, p->value, &out[i]);
        ev->frame = outer;
        CQ_TRY(status);
    }
    return CQ_OK;
}

/* Calls the definition without anybody listening: only to see what it returns. */
static cq_status look_at_results(cq_eval *ev, cq_val fn, const cq_call_args *c, cq_val *out)
{
    cq_ctx            *cx       = ev->cx;
    const cq_listener *listener = cx->listener;
    cq_capture        *capture  = ev->capture;
    cq_status          status;

    cx->listener = NULL;
    ev->capture  = NULL;
    status       = cq_eval_call(ev, fn, c->args, c->n, c->names, c->kw, c->n_kw, out);
    ev->capture  = capture;
    cx->listener = listener;
    return status;
}

/* A definition that has a rule becomes one node, as what the rule is for. */
static cq_status call_whole(cq_eval *ev, const char *name, cq_val fn, const cq_call_args *c,
                            cq_val *out)
{
    cq_thing     *t = cq_thing_of(fn);
    cq_val        args[CQ_EVAL_MAX_OPERANDS], result;
    cq_call_args  all = { args, NULL, NULL, t->def->n_params, 0 };
    cq_tensor    *like[CQ_MAX_RESULTS];
    const cq_val *items = &result;
    size_t        n     = 1;

    if (t->def->n_params > CQ_EVAL_MAX_OPERANDS)
        return cq_fail(CQ_E_UNSUPPORTED, name, NULL, "too many arguments");
    CQ_TRY(look_at_results(ev, fn, c, &result));
    if (result.kind == CQ_VAL_TUPLE) {
        items = result.u.list->items;
        n     = result.u.list->n;
    }
    for (size_t i = 0; i < n; i++) {
        if (items[i].kind != CQ_VAL_TENSOR || i >= CQ_MAX_RESULTS)
            return cq_fail(CQ_E_UNSUPPORTED, name, NULL,
                           "an operator with a rule returns a tensor or a tuple of at most %d",
                           CQ_MAX_RESULTS);
        like[i] = items[i].u.tensor;
    }
    CQ_TRY(in_order(ev, t, c, args));
    return write_down(ev, name, &all, t->def, like, n, out);
}

cq_status cq_eval_defined(cq_eval *ev, const char *name, const cq_call_args *c, cq_val *out,
                          bool *found)
{
    char   definition[256], qualified[300];
    cq_val fn;

    *found = false;
    if (!definition_name(definition, sizeof definition, name))
        return CQ_OK;
    for (size_t i = ev->program->n_definitions; i-- && !*found;) {
        snprintf(qualified, sizeof qualified, CQ_DEFINITIONS "%zu.%s", i, definition);
        CQ_TRY(cq_program_find(ev->program, qualified, &fn));
        cq_ctx_own(ev->cx, fn);
        *found = cq_thing_as(fn, CQ_THING_FUNCTION) != NULL;
    }
    if (!*found)
        return CQ_OK;
    if (ev->capture && ev->has_rule && ev->has_rule(ev->has_rule_of, name))
        return call_whole(ev, name, fn, c, out);
    return cq_eval_call(ev, fn, c->args, c->n, c->names, c->kw, c->n_kw, out);
}
