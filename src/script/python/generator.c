/* Generators of Python source: functions with a yield, and generator expressions.
 *
 * A generator is suspended without a stack of its own, which neither WebAssembly nor Windows have
 * in the form of POSIX. Its statements are executed by a machine with an explicit stack of levels:
 * one for each block, loop, with and try that it is in. When it is suspended, the levels are frozen
 * as a tuple (a STATE), which is replaced and never changed. Its attribute is journaled like any
 * other, so speculative evaluation takes back what a generator did (docs/architecture/lang.md).
 * Statements without a yield are executed by the evaluator.
 *
 * The statement with the yield that suspended it is evaluated again, and its earlier yields are
 * then the values that were sent. A statement that calls something before its yield is refused,
 * because the call would be repeated.
 *
 * If all values are wanted before the first one was requested, as by list(), the statements are
 * evaluated at once and collect the values. So their number may be data-dependent. */
#include "script/builtins/builtin.h"
#include "script/python/python.h"
#include "script/values/sequence.h"
#include "lang/desugar.h"

enum { STATE, RESULT /* attributes of a GENERATOR */ };

typedef enum level_kind {
    LEVEL_BLOCK, /* at: the index of the statement */
    LEVEL_WHILE,
    LEVEL_FOR,   /* value: the iterator; also of a loop in a generator expression */
    LEVEL_WITH,  /* value: the context; at: the mode of gradients before it */
    LEVEL_TRY,   /* at: the phase; value: the exception of the except clause, or the one that is
                  * raised after the finally clause */
    LEVEL_VALUES /* value: an iterator over values that are yielded next */
} level_kind;

enum { PHASE_BODY, PHASE_HANDLER, PHASE_ELSE, PHASE_FINALLY };

typedef struct level {
    level_kind  kind;
    const void *node; /* a statement, or the cq_ast_block of a LEVEL_BLOCK */
    int64_t     at;
    cq_val      value;
    cq_val      sent;      /* the values of the yields of the current statement: a list, or None */
    cq_val      delegated; /* the iterator of its `yield from` */
} level;

enum { LEVEL_VALS = 6 /* values of a level in a STATE */ };

typedef struct cq_generator_run {
    cq_eval   *ev;
    cq_object *g;
    CQ_VEC(level) levels; /* with retained values */
    size_t   n_yields;    /* yields of the current statement that have a value */
    uint64_t n_effects;   /* of the frame, when the statement began */
    unsigned journaling;
    bool     accepts;   /* the statement may yield */
    bool     suspended; /* it has: item is the value */
    cq_val   item;      /* retained */
    cq_val   handled;   /* of the caller */
    unsigned n_tries;
} run;

static level *top(run *r)
{
    return &r->levels.items[r->levels.n - 1];
}

static cq_status push(run *r, level_kind kind, const void *node, cq_val value)
{
    CQ_TRY(cq_vec_push(&r->levels,
                       (level){ .kind = kind, .node = node, .value = value, .sent = CQ_NONE }));
    cq_val_retain(value);
    return CQ_OK;
}

static cq_status push_block(run *r, const cq_ast_block *b)
{
    return b->n ? push(r, LEVEL_BLOCK, b, CQ_NONE) : CQ_OK;
}

static void pop(run *r)
{
    level *l = top(r);

    cq_val_release(l->value);
    cq_val_release(l->sent);
    cq_val_release(l->delegated);
    r->levels.n--;
}

/* ---- the object ---- */

static cq_status new_generator(cq_eval *ev, cq_frame *f, cq_val *out)
{
    cq_python *py = ev->program->python;
    cq_object *t;

    CQ_TRY(cq_object_new(&t, CQ_OBJECT_GENERATOR));
    t->closure = cq_frame_retain(f);
    CQ_TRY(cq_eval_own(ev, cq_val_of_object(t), out));
    CQ_TRY(cq_vec_push(&t->attributes, (cq_attribute){ "state", CQ_NONE }));
    CQ_TRY(cq_vec_push(&t->attributes, (cq_attribute){ "result", CQ_NONE }));
    t->instances = &py->instances;
    t->next      = py->instances;
    if (t->next)
        t->next->previous = t;
    py->instances = t;
    return CQ_OK;
}

/* The journal refers to frames without owning them, so a frame whose variables are journaled must
 * outlive the generator. */
static cq_status pin(cq_eval *ev, cq_frame *f)
{
    if (!ev->journaling || f->is_pinned)
        return CQ_OK;
    CQ_TRY(cq_vec_push(&ev->program->python->frames, f));
    cq_frame_retain(f);
    f->is_pinned = true;
    return CQ_OK;
}

cq_status cq_generator_new(cq_eval *ev, cq_frame *f, cq_val *out)
{
    if (f->def->value)
        return cq_source_fail(&f->unit->source, f->def->at, CQ_E_UNSUPPORTED, NULL,
                              "a yield in a lambda is not supported");
    CQ_TRY(pin(ev, f));
    return new_generator(ev, f, out);
}

cq_status cq_generator_of_comp(cq_eval *ev, const cq_ast_expr *x, cq_val items, cq_val *out)
{
    cq_frame *outer = ev->frame, *f;
    cq_status status;

    CQ_TRY(
        cq_frame_new(&f, &(cq_object){ .unit = outer->unit, .def = outer->def, .closure = outer }));
    f->is_comprehension = true;
    f->owner            = outer->owner;
    status              = pin(ev, f);
    if (status == CQ_OK)
        status = new_generator(ev, f, out);
    if (status == CQ_OK) {
        cq_object_of(*out)->self        = cq_val_retain(items);
        cq_object_of(*out)->native_user = (void *)x;
    }
    cq_frame_release(f);
    return status;
}

static cq_status set(cq_eval *ev, cq_object *g, size_t attribute, cq_val v)
{
    return cq_slot_set(
        ev, &(cq_change){ .kind = CQ_CHANGE_ATTRIBUTE, .where = g, .index = attribute }, v);
}

cq_val cq_generator_result(const cq_object *g)
{
    return g->attributes.items[RESULT].value;
}

static cq_status new_state(cq_eval *ev, cq_val levels, cq_val *out)
{
    cq_object *t;

    CQ_TRY(cq_object_new(&t, CQ_OBJECT_STATE));
    t->self = cq_val_retain(levels);
    return cq_eval_own(ev, cq_val_of_object(t), out);
}

/* The frame is no longer needed, unless what happened since is taken back. */
static cq_status finish(cq_eval *ev, cq_object *g)
{
    cq_frame *f      = g->closure;
    cq_val   *result = f ? cq_frame_own(f, cq_name(ev->program, CQ_RESULT)) : NULL;
    cq_val    state;

    CQ_TRY(new_state(ev, CQ_NONE, &state));
    CQ_TRY(set(ev, g, STATE, state));
    if (result)
        CQ_TRY(set(ev, g, RESULT, *result));
    if (f && !f->is_pinned && !ev->journaling) {
        g->closure = NULL;
        cq_frame_end(ev, f);
    }
    return CQ_OK;
}

enum { FRESH, SUSPENDED, FINISHED };

static cq_status state_of(cq_eval *ev, const cq_object *g, int *out)
{
    const cq_val     v = g->attributes.n ? g->attributes.items[STATE].value : CQ_NONE;
    const cq_object *t = cq_object_as(v, CQ_OBJECT_STATE);

    if (g->closure && g->closure->run)
        return cq_python_raise(ev, "ValueError", "generator already executing");
    if (!t && v.kind != CQ_VAL_NONE)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, "collect the values with list() first",
                       "which value a generator yields next is data-dependent");
    *out = !t ? FRESH : t->self.kind == CQ_VAL_TUPLE ? SUSPENDED : FINISHED;
    return CQ_OK;
}

static cq_val val_of_pointer(const void *p)
{
    return cq_val_of_i64((int64_t)(intptr_t)p);
}

static cq_status freeze(run *r)
{
    cq_val tuple, state;

    CQ_TRY(cq_eval_list(r->ev, NULL, 0, CQ_VAL_TUPLE, &tuple));
    for (size_t i = 0; i < r->levels.n; i++) {
        const level *l                = &r->levels.items[i];
        const cq_val vals[LEVEL_VALS] = { cq_val_of_i64(l->kind),
                                          val_of_pointer(l->node),
                                          cq_val_of_i64(l->at),
                                          l->value,
                                          l->sent,
                                          l->delegated };

        for (size_t k = 0; k < LEVEL_VALS; k++)
            CQ_TRY(cq_list_push(tuple.u.list, vals[k]));
    }
    CQ_TRY(new_state(r->ev, tuple, &state));
    return set(r->ev, r->g, STATE, state);
}

static cq_status thaw(run *r)
{
    const cq_object *t = cq_object_of(r->g->attributes.items[STATE].value);
    const cq_list   *list;

    if (!t)
        return r->g->native_user ? push(r, LEVEL_FOR, NULL, CQ_NONE)
                                 : push_block(r, &r->g->closure->def->body);
    list = t->self.u.list;
    for (size_t i = 0; i < list->n; i += LEVEL_VALS) {
        const cq_val *v = list->items + i;
        level        *l;

        CQ_TRY(push(r, (level_kind)v[0].u.i.value, (void *)(intptr_t)v[1].u.i.value, v[3]));
        l       = top(r);
        l->at   = v[2].u.i.value;
        l->sent = CQ_NONE;
        if (v[4].kind == CQ_VAL_LIST) { /* a copy: the state is never changed */
            cq_list *copy;

            CQ_TRY(cq_list_new(&copy, 0));
            l->sent = cq_val_of_list(copy);
            CQ_TRY(cq_list_add(copy, v[4].u.list));
        }
        l->delegated = cq_val_retain(v[5]);
    }
    return CQ_OK;
}

/* ---- yield ---- */

static cq_status suspend(run *r, cq_val item)
{
    r->suspended = true;
    r->item      = cq_val_retain(item);
    return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "the generator is suspended here");
}

/* The current statement has received the value of its next yield. */
static cq_status receive(run *r, cq_val v)
{
    level *l = top(r);

    if (l->sent.kind == CQ_VAL_NONE) {
        cq_list *list;

        CQ_TRY(cq_list_new(&list, 0));
        l->sent = cq_val_of_list(list);
    }
    return cq_list_push(l->sent.u.list, v);
}

/* Advances the iterator of a `yield from`; over: *out is what it returned. */
static cq_status advance_delegated(run *r, cq_val sent, cq_val *out, bool *over)
{
    const cq_val iterator = top(r)->delegated;
    cq_object   *inner    = cq_object_as(iterator, CQ_OBJECT_GENERATOR);

    if (!inner)
        return cq_python_next(r->ev, iterator, out, over);
    CQ_TRY(cq_generator_next(r->ev, inner, sent, out, over));
    if (*over)
        *out = cq_generator_result(inner);
    return CQ_OK;
}

static cq_status end_delegation(run *r, cq_val result)
{
    CQ_TRY(receive(r, result));
    cq_val_set(&top(r)->delegated, CQ_NONE);
    return CQ_OK;
}

cq_status cq_generator_yield(cq_eval *ev, const cq_ast_expr *x, cq_val *out)
{
    run   *r = ev->frame->run;
    cq_val v = CQ_NONE;
    bool   over;
    level *l;

    if (!r || !r->accepts || r->journaling != ev->journaling)
        return cq_eval_unsupported(ev, x->at, cq_ast_expr_text(x));
    l = top(r);
    if (l->sent.kind == CQ_VAL_LIST && r->n_yields < l->sent.u.list->n)
        return cq_eval_own(ev, cq_val_retain(l->sent.u.list->items[r->n_yields++]), out);
    if (ev->frame->n_effects != r->n_effects)
        return cq_eval_fail(ev, x->at, CQ_E_UNSUPPORTED,
                            "a call before a yield in one statement is not supported; assign its "
                            "result to a variable first");
    if (x->u.operand)
        CQ_TRY(cq_eval_expr(ev, x->u.operand, &v));
    ev->frame->n_effects = r->n_effects; /* the operand is not evaluated again */
    if (x->kind == CQ_X_YIELD)
        return suspend(r, v);
    CQ_TRY(cq_python_iter(ev, v, &v));
    cq_val_set(&top(r)->delegated, v);
    CQ_TRY(advance_delegated(r, CQ_NONE, &v, &over));
    if (!over)
        return suspend(r, v);
    CQ_TRY(end_delegation(r, v));
    r->n_yields++;
    *out = v;
    return CQ_OK;
}

/* ---- statements ---- */

static void begin_statement(run *r)
{
    r->accepts   = true;
    r->n_yields  = 0;
    r->n_effects = r->ev->frame->n_effects;
}

/* The current statement is complete, or its levels follow. */
static void advance(run *r)
{
    level *l = top(r);

    r->accepts = false;
    cq_val_set(&l->sent, CQ_NONE);
    if (l->kind == LEVEL_BLOCK)
        l->at++;
}

/* A branch or loop on data is evaluated at once: it collects its values. */
static cq_status collect_if(run *r, const cq_ast_stmt *s, cq_val test, cq_val over)
{
    cq_eval  *ev = r->ev;
    cq_frame *f  = ev->frame;
    cq_val    list;
    cq_status status;

    CQ_TRY(cq_eval_list(ev, NULL, 0, CQ_VAL_LIST, &list));
    f->yielded = list.u.list;
    f->run     = NULL;
    status     = s->kind == CQ_S_IF ? cq_eval_if(ev, s, test) : cq_eval_open_loop(ev, s, over);
    f->run     = r;
    f->yielded = NULL;
    CQ_TRY(status);
    if (!cq_val_is_list(list))
        return cq_eval_fail(ev, s->at, CQ_E_UNSUPPORTED,
                            "a generator yields a data-dependent number of values; collect them "
                            "with list() where it is called");
    CQ_TRY(cq_python_new_iterator(ev, list, &list));
    return push(r, LEVEL_VALUES, s, list);
}

static cq_status step_if(run *r, const cq_ast_stmt *s)
{
    cq_val test;

    CQ_TRY(cq_eval_expr(r->ev, s->u.branch.test, &test));
    CQ_TRY(cq_eval_truth(r->ev, test, &test));
    advance(r);
    if (test.u.b.origin)
        return collect_if(r, s, test, CQ_NONE);
    return push_block(r, test.u.b.value ? &s->u.branch.then : &s->u.branch.other);
}

static cq_status step_for(run *r, const cq_ast_stmt *s)
{
    cq_val iterable, iterator;
    bool   known;

    CQ_TRY(cq_eval_expr(r->ev, s->u.loop.test, &iterable));
    CQ_TRY(cq_eval_iterator(r->ev, iterable, &iterator, &known));
    advance(r);
    return known ? push(r, LEVEL_FOR, s, iterator) : collect_if(r, s, CQ_NONE, iterable);
}

static cq_status step_with(run *r, const cq_ast_stmt *s)
{
    advance(r);
    for (size_t i = 0; i < s->u.with.n; i++) {
        const bool no_grad = r->ev->cx->no_grad;
        cq_val     context;
        bool       found;

        CQ_TRY(cq_eval_expr(r->ev, s->u.with.items[i].context, &context));
        CQ_TRY(cq_python_enter(r->ev, context, s->u.with.items[i].target, &found));
        CQ_TRY(push(r, LEVEL_WITH, s, found ? context : CQ_NONE));
        top(r)->at = no_grad;
    }
    return push_block(r, &s->u.with.body);
}

/* The exception of the innermost except clause that the generator is in, and the number of try
 * statements around it. */
static void set_context(run *r)
{
    r->ev->handled = r->handled;
    r->ev->n_tries = r->n_tries;
    for (size_t i = 0; i < r->levels.n; i++) {
        const level       *l = &r->levels.items[i];
        const cq_ast_stmt *s = l->node;

        if (l->kind == LEVEL_TRY && l->at == PHASE_HANDLER)
            r->ev->handled = l->value;
        else if (l->kind == LEVEL_TRY && l->at == PHASE_BODY && s->u.attempt->n_handlers)
            r->ev->n_tries++;
    }
}

static cq_status step_try(run *r, const cq_ast_stmt *s)
{
    advance(r);
    if (s->u.attempt->is_star)
        return cq_eval_unsupported(r->ev, s->at, "except*");
    CQ_TRY(push(r, LEVEL_TRY, s, CQ_NONE));
    set_context(r);
    return push_block(r, &s->u.attempt->body);
}

static cq_status step_statement(run *r, const cq_ast_stmt *s)
{
    const cq_ast_case *c;
    cq_status          status;

    if (s->is_async)
        return cq_eval_unsupported(r->ev, s->at, cq_ast_stmt_text(s));
    begin_statement(r);
    switch (s->kind) {
    case CQ_S_IF: return step_if(r, s);
    case CQ_S_FOR: return step_for(r, s);
    case CQ_S_WITH: return step_with(r, s);
    case CQ_S_TRY: return step_try(r, s);
    case CQ_S_WHILE: advance(r); return push(r, LEVEL_WHILE, s, CQ_NONE);
    case CQ_S_MATCH:
        CQ_TRY(cq_python_find_case(r->ev, s, &c));
        advance(r);
        return c ? push_block(r, &c->body) : CQ_OK;
    default:
        status = cq_eval_stmt(r->ev, s);
        if (status == CQ_OK)
            advance(r);
        return status;
    }
}

static cq_status step_block(run *r)
{
    cq_eval            *ev = r->ev;
    const cq_ast_block *b  = top(r)->node;
    const int64_t       at = top(r)->at;
    size_t              mark;
    cq_status           status;

    if (at >= (int64_t)b->n) {
        pop(r);
        return CQ_OK;
    }
    if (!b->items[at]->yields) {
        top(r)->at++;
        return cq_eval_block(ev, &(cq_ast_block){ &b->items[at], 1 });
    }
    mark             = cq_ctx_mark(ev->cx);
    ev->cx->location = (cq_location){ &ev->frame->unit->source.locations, b->items[at]->at.start };
    status           = cq_eval_step(ev);
    if (status == CQ_OK)
        status = step_statement(r, b->items[at]);
    r->accepts = false;
    if (status != CQ_OK && !r->suspended)
        return cq_source_blame(&ev->frame->unit->source, b->items[at]->at, status);
    cq_ctx_pop(ev->cx, mark, NULL, 0);
    return status;
}

static cq_status step_while(run *r)
{
    const cq_ast_stmt *s = top(r)->node;
    cq_val             test;
    cq_status          status;

    if (cq_eval_loop_is_over(r->ev, s)) {
        pop(r);
        return CQ_OK;
    }
    CQ_TRY(cq_eval_step(r->ev));
    begin_statement(r);
    status = cq_eval_expr(r->ev, s->u.loop.test, &test);
    if (status == CQ_OK)
        status = cq_eval_truth(r->ev, test, &test);
    r->accepts = false;
    CQ_TRY(status);
    advance(r);
    if (test.u.b.value && !test.u.b.origin)
        return push_block(r, &s->u.loop.body);
    pop(r);
    return test.u.b.origin ? collect_if(r, s, CQ_NONE, CQ_NONE) : CQ_OK;
}

/* One iteration of a loop of a generator expression. */
static cq_status step_comp(run *r, cq_val item)
{
    cq_eval           *ev = r->ev;
    const cq_ast_expr *x  = r->g->native_user;
    const cq_ast_for  *f  = &x->u.comp.loops[r->levels.n - 1];
    cq_val             v;

    CQ_TRY(cq_eval_assign(ev, f->target, item));
    for (size_t i = 0; i < f->tests.n; i++) {
        CQ_TRY(cq_eval_expr(ev, f->tests.items[i], &v));
        CQ_TRY(cq_eval_truth(ev, v, &v));
        if (v.u.b.origin)
            return cq_eval_fail(ev, f->tests.items[i]->at, CQ_E_UNSUPPORTED,
                                "a condition in a comprehension must be known");
        if (!v.u.b.value)
            return CQ_OK;
    }
    if (r->levels.n == x->u.comp.n) {
        CQ_TRY(cq_eval_expr(ev, x->u.comp.value, &v));
        return suspend(r, v);
    }
    CQ_TRY(cq_eval_expr(ev, x->u.comp.loops[r->levels.n].iter, &v));
    CQ_TRY(cq_python_iter(ev, v, &v));
    return push(r, LEVEL_FOR, NULL, v);
}

static cq_status step_for_level(run *r)
{
    const cq_ast_stmt *s    = top(r)->node;
    const size_t       mark = cq_ctx_mark(r->ev->cx);
    cq_val             item, iterator;
    cq_status          status;
    bool               over;

    if (s && cq_eval_loop_is_over(r->ev, s)) {
        pop(r);
        return CQ_OK;
    }
    CQ_TRY(cq_eval_step(r->ev));
    if (!s && top(r)->value.kind == CQ_VAL_NONE) { /* of a generator expression that begins */
        CQ_TRY(cq_python_iter(r->ev, r->g->self, &iterator));
        cq_val_set(&top(r)->value, iterator);
    }
    CQ_TRY(cq_python_next(r->ev, top(r)->value, &item, &over));
    if (over) {
        pop(r);
        return CQ_OK;
    }
    if (!s) {
        status = step_comp(r, item);
    } else {
        CQ_TRY(cq_eval_assign(r->ev, s->u.loop.target, item));
        status = push_block(r, &s->u.loop.body);
    }
    if (status == CQ_OK)
        cq_ctx_pop(r->ev->cx, mark, NULL, 0);
    return status;
}

static cq_status step_values(run *r)
{
    cq_val item;
    bool   over;

    CQ_TRY(cq_python_next(r->ev, top(r)->value, &item, &over));
    if (!over)
        return suspend(r, item);
    pop(r);
    return CQ_OK;
}

static cq_status leave_with(run *r, cq_status status)
{
    const cq_val context = cq_val_retain(top(r)->value);
    const bool   no_grad = top(r)->at;

    pop(r);
    if (context.kind != CQ_VAL_NONE)
        status = cq_python_leave(r->ev, context, status);
    r->ev->cx->no_grad = no_grad;
    cq_val_release(context);
    return status;
}

/* ---- try ---- */

static bool yields(const cq_ast_block *b)
{
    for (size_t i = 0; i < b->n; i++)
        if (b->items[i]->yields)
            return true;
    return false;
}

/* Begins the finally clause; exception: raised when it is complete. */
static cq_status begin_finally(run *r, const cq_ast_try *t, cq_val exception)
{
    top(r)->at = PHASE_FINALLY;
    cq_val_set(&top(r)->value, exception);
    set_context(r);
    return push_block(r, &t->finally);
}

/* A part of the statement is complete. */
static cq_status step_try_level(run *r)
{
    const cq_ast_stmt *s = top(r)->node;
    const cq_ast_try  *t = s->u.attempt;
    cq_val             exception;
    cq_status          status;

    if (top(r)->at == PHASE_BODY && t->other.n) {
        top(r)->at = PHASE_ELSE;
        set_context(r);
        return push_block(r, &t->other);
    }
    if (top(r)->at != PHASE_FINALLY)
        return begin_finally(r, t, CQ_NONE);
    exception = cq_val_retain(top(r)->value);
    pop(r);
    set_context(r);
    status = exception.kind == CQ_VAL_NONE ? CQ_OK : cq_python_fail_with(r->ev, s->at, exception);
    cq_val_release(exception);
    return status;
}

static cq_status handle(run *r, cq_status status)
{
    const cq_ast_stmt    *s = top(r)->node;
    const cq_ast_handler *h = NULL;
    const cq_ast_try     *t = s->u.attempt;
    cq_val                exception;

    if (top(r)->at == PHASE_BODY)
        status = cq_python_find_handler(r->ev, t, status, &h, &exception);
    if (h && status == CQ_OK) {
        top(r)->at = PHASE_HANDLER;
        cq_val_set(&top(r)->value, exception);
        set_context(r);
        CQ_TRY(h->name ? cq_frame_set(r->ev, r->ev->frame, h->name, exception) : CQ_OK);
        return push_block(r, &h->body);
    }
    if (top(r)->at != PHASE_FINALLY && yields(&t->finally)) {
        CQ_TRY(cq_python_exception(r->ev, status, &exception));
        if (exception.kind != CQ_VAL_NONE) {
            cq_val_retain(exception);
            cq_eval_forget_failure(r->ev);
            status = begin_finally(r, t, exception);
            cq_val_release(exception);
            return status;
        }
    } else if (top(r)->at != PHASE_FINALLY) {
        top(r)->at = PHASE_FINALLY;
        set_context(r);
        status = cq_python_finally(r->ev, t, status);
    }
    pop(r);
    set_context(r);
    return status;
}

/* Leaves the levels that a failure leaves. */
static cq_status unwind(run *r, cq_status status)
{
    while (r->levels.n && status != CQ_OK) {
        switch (top(r)->kind) {
        case LEVEL_WITH: status = leave_with(r, status); break;
        case LEVEL_TRY: status = handle(r, status); break;
        default: pop(r); break;
        }
    }
    return status;
}

/* ---- the machine ---- */

static cq_status step(run *r)
{
    switch (top(r)->kind) {
    case LEVEL_BLOCK: return step_block(r);
    case LEVEL_WHILE: return step_while(r);
    case LEVEL_FOR: return step_for_level(r);
    case LEVEL_WITH: return leave_with(r, CQ_OK);
    case LEVEL_TRY: return step_try_level(r);
    case LEVEL_VALUES: return step_values(r);
    }
    return CQ_OK;
}

/* Passes what was sent or thrown to the yield that suspended the generator. */
static cq_status resume(run *r, cq_val sent, cq_val thrown)
{
    const cq_val iterator = top(r)->delegated;
    cq_object   *inner    = cq_object_as(iterator, CQ_OBJECT_GENERATOR);
    cq_val       v;
    bool         over;

    if (iterator.kind == CQ_VAL_NONE || (thrown.kind != CQ_VAL_NONE && !inner)) {
        if (thrown.kind != CQ_VAL_NONE)
            return cq_python_fail_with(r->ev, (cq_span){ 0 }, thrown);
        return top(r)->kind == LEVEL_BLOCK || top(r)->kind == LEVEL_WHILE ? receive(r, sent)
                                                                          : CQ_OK;
    }
    if (thrown.kind == CQ_VAL_NONE) {
        CQ_TRY(advance_delegated(r, sent, &v, &over));
    } else {
        CQ_TRY(cq_generator_throw(r->ev, inner, thrown, &v, &over));
        if (over)
            v = cq_generator_result(inner);
    }
    return over ? end_delegation(r, v) : suspend(r, v);
}

static cq_status run_levels(run *r, bool is_fresh, cq_val sent, cq_val thrown)
{
    cq_status status = CQ_OK;

    set_context(r);
    if (!is_fresh || thrown.kind != CQ_VAL_NONE)
        status = resume(r, sent, thrown);
    while (!r->suspended) {
        if (status != CQ_OK)
            CQ_TRY(unwind(r, status));
        if (!r->levels.n)
            return CQ_OK;
        status = step(r);
    }
    cq_eval_forget_failure(r->ev);
    return freeze(r);
}

static cq_status run_generator(run *r, bool is_fresh, cq_val sent, cq_val thrown)
{
    cq_eval     *ev    = r->ev;
    cq_frame    *outer = ev->frame, *f = r->g->closure;
    const size_t mark   = cq_ctx_mark(ev->cx);
    cq_status    status = cq_eval_spend(ev, CQ_EVAL_CALL_STEPS * CQ_EVAL_STEP_ITEMS);
    cq_location  at     = ev->cx->location;

    CQ_TRY(status);
    if (ev->depth >= CQ_EVAL_MAX_DEPTH)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "calls are nested more than %d deep",
                       CQ_EVAL_MAX_DEPTH);
    CQ_TRY(pin(ev, f));
    CQ_TRY(thaw(r));
    cq_frame_retain(f);
    ev->depth++;
    ev->frame = f;
    f->run    = r;
    status    = run_levels(r, is_fresh, sent, thrown);
    f->run    = NULL;
    ev->frame = outer;
    ev->depth--;
    ev->handled      = r->handled;
    ev->n_tries      = r->n_tries;
    ev->cx->location = at;
    cq_ctx_pop(ev->cx, mark, NULL, 0);
    if (status == CQ_OK && !r->suspended) {
        status = finish(ev, r->g);
    } else if (status != CQ_OK) {
        cq_val state;

        if (new_state(ev, CQ_NONE, &state) == CQ_OK)
            (void)set(ev, r->g, STATE, state);
    }
    cq_frame_release(f);
    return status;
}

static cq_status go(cq_eval *ev, cq_object *g, cq_val sent, cq_val thrown, cq_val *out, bool *over)
{
    run          r    = { .ev         = ev,
                          .g          = g,
                          .journaling = ev->journaling,
                          .handled    = ev->handled,
                          .n_tries    = ev->n_tries,
                          .item       = CQ_NONE };
    const cq_val kept = cq_val_retain(cq_val_of_object(g));
    cq_status    status;
    int          state = FINISHED;

    *out   = CQ_NONE;
    *over  = true;
    status = state_of(ev, g, &state);
    if (status == CQ_OK && state == FRESH && sent.kind != CQ_VAL_NONE)
        status = cq_python_raise(ev, "TypeError",
                                 "can't send non-None value to a just-started generator");
    if (status == CQ_OK && state == FINISHED && thrown.kind != CQ_VAL_NONE)
        status = cq_python_fail_with(ev, (cq_span){ 0 }, thrown);
    else if (status == CQ_OK && state != FINISHED)
        status = run_generator(&r, state == FRESH, sent, thrown);
    else if (status == CQ_OK)
        status = set(ev, g, RESULT, CQ_NONE);
    while (r.levels.n)
        pop(&r);
    cq_vec_clear(&r.levels);
    if (status == CQ_OK && r.suspended) {
        *over  = false;
        status = cq_eval_own(ev, r.item, out);
    } else {
        cq_val_release(r.item);
    }
    if (status != CQ_OK && state != FINISHED && thrown.kind == CQ_VAL_NONE &&
        cq_eval_catch(ev, status, "StopIteration"))
        status = cq_python_raise(ev, "RuntimeError", "generator raised StopIteration");
    cq_val_release(kept);
    return status;
}

cq_status cq_generator_next(cq_eval *ev, cq_object *g, cq_val sent, cq_val *out, bool *over)
{
    return go(ev, g, sent, CQ_NONE, out, over);
}

cq_status cq_generator_throw(cq_eval *ev, cq_object *g, cq_val exception, cq_val *out, bool *over)
{
    if (cq_object_as(exception, CQ_OBJECT_CLASS))
        CQ_TRY(cq_eval_call(ev, exception, NULL, 0, &exception));
    return go(ev, g, CQ_NONE, exception, out, over);
}

cq_status cq_generator_close(cq_eval *ev, cq_object *g)
{
    cq_val    cls, ignored;
    bool      over, found;
    cq_status status;
    int       state;

    CQ_TRY(state_of(ev, g, &state));
    if (state == FRESH)
        return finish(ev, g);
    if (state == FINISHED)
        return CQ_OK;
    CQ_TRY(cq_python_builtin(ev, cq_name(ev->program, "GeneratorExit"), &cls, &found));
    status = cq_generator_throw(ev, g, cls, &ignored, &over);
    if (status != CQ_OK)
        return cq_eval_catch(ev, status, "GeneratorExit") ||
                       cq_eval_catch(ev, status, "StopIteration")
                   ? CQ_OK
                   : status;
    return over ? CQ_OK : cq_python_raise(ev, "RuntimeError", "generator ignored GeneratorExit");
}

/* ---- all values ---- */

/* Evaluates the whole generator; its yields append to the list. */
static cq_status collect(cq_eval *ev, cq_object *g, cq_val list)
{
    cq_frame *outer = ev->frame, *f = g->closure;
    cq_status status;

    if (ev->depth >= CQ_EVAL_MAX_DEPTH)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "calls are nested more than %d deep",
                       CQ_EVAL_MAX_DEPTH);
    CQ_TRY(cq_eval_spend(ev, CQ_EVAL_CALL_STEPS * CQ_EVAL_STEP_ITEMS));
    CQ_TRY(pin(ev, f));
    cq_frame_retain(f);
    ev->depth++;
    ev->frame  = f;
    f->yielded = list.u.list;
    status     = g->native_user ? cq_eval_comp_items(ev, g->native_user, g->self, list)
                                : cq_eval_block(ev, &f->def->body);
    f->yielded = NULL;
    ev->frame  = outer;
    ev->depth--;
    if (status != CQ_OK && cq_eval_catch(ev, status, "StopIteration"))
        status = cq_python_raise(ev, "RuntimeError", "generator raised StopIteration");
    if (status == CQ_OK)
        status = finish(ev, g);
    cq_frame_release(f);
    return status;
}

cq_status cq_generator_items(cq_eval *ev, cq_object *g, cq_val *list)
{
    const cq_val kept = cq_val_retain(cq_val_of_object(g));
    cq_status    status;
    int          state;

    status = state_of(ev, g, &state);
    if (status == CQ_OK && state == FRESH) {
        status = cq_eval_list(ev, NULL, 0, CQ_VAL_LIST, list);
        if (status == CQ_OK)
            status = collect(ev, g, *list);
    } else if (status == CQ_OK) {
        status = cq_python_rest(ev, kept, list);
    }
    cq_val_release(kept);
    return status;
}
