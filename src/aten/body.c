/* Runs bodies, see body.h. Values are the context's, as everywhere in a composition: nothing is
 * released here, and after a failure every expression is None. */
#include "aten/body_tree.h"
#include "base/str.h"
#include "base/warn.h"

#include <stdio.h>

static cq_val eval_other(cq_frame *f, const cq_body_expr *e);

static bool failed(const cq_frame *f)
{
    return f->c->cx->status != CQ_OK;
}

/* Most expressions are names and numbers. */
static inline cq_val eval(cq_frame *f, const cq_body_expr *e)
{
    return e->kind == CQ_EXPR_SLOT       ? f->slots[e->slot]
           : e->kind == CQ_EXPR_CONSTANT ? e->value
                                         : eval_other(f, e);
}

/* ---- calls ---- */

/* The arguments in the order of the schema, with defaults between them. */
static void fill(const cq_target *t, const cq_val *given, size_t n, cq_val *out)
{
    uint64_t filled = 0;

    for (size_t i = 0; i < n; i++) {
        out[t->places[i]] = given[i];
        filled |= (uint64_t)1 << t->places[i];
    }
    for (size_t i = 0; i < t->n_filled; i++)
        if (!(filled >> i & 1))
            out[i] = t->schema->args[i].default_value;
}

static cq_val tuple(cq_frame *f, const cq_val *items, size_t n)
{
    cq_val v = cq_native_list(f, items, n);

    if (v.kind == CQ_VAL_LIST)
        v.kind = CQ_VAL_TUPLE;
    return v;
}

static cq_val call_operator(cq_frame *f, const cq_target *t, const cq_val *args)
{
    cq_val results[CQ_MAX_RESULTS];
    size_t n = t->schema->n_results;

    cq_op_call(f->c->cx, t->op, args, t->n_filled, results, n);
    return n == 1 ? results[0] : n ? tuple(f, results, n) : CQ_NONE;
}

static const cq_body *body_in(cq_ctx *cx, cq_body_slot *slot, const char *text,
                              const cq_schema *schema, const cq_formula_owner *owner);
static cq_val         run(cq_frame *f);
static bool           start(cq_frame *f, cq_opcall *c, const cq_body *body, const cq_val *args,
                            size_t n_args);

static cq_val call_function(cq_frame *f, const cq_target *t, const cq_val *args)
{
    cq_callable *function = (cq_callable *)t->function;
    cq_frame     inner;

    if (!start(&inner, f->c,
               body_in(f->c->cx, &function->slot, function->def->body, function->schema, NULL),
               args, t->n_filled))
        return CQ_NONE;
    return run(&inner);
}

/* The first overload that takes values of these kinds. A single one is called as it is: then the
 * error says which argument is wrong. */
static cq_val call_with(cq_frame *f, const cq_body_expr *e, const cq_val *given, size_t n)
{
    for (size_t i = 0; i < e->n_targets && !failed(f); i++) {
        const cq_target *t = &e->targets[i];
        cq_val           args[CQ_MAX_ARGS];

        fill(t, given, n, args);
        if (t->function)
            return call_function(f, t, args);
        if (t->is_sure || e->n_targets == 1 || cq_op_accepts(t->op, args, t->n_filled))
            return call_operator(f, t, args);
    }
    return cq_native_fail(f, CQ_E_INTERNAL, "the body calls %s, which takes no such arguments",
                          e->name);
}

/* Tuples count as lists. */
static cq_val_kind kind_of(cq_val v)
{
    return v.kind == CQ_VAL_TUPLE ? CQ_VAL_LIST : v.kind;
}

static cq_val call(cq_frame *f, const cq_body_expr *e)
{
    cq_val given[CQ_BODY_MAX_ITEMS];

    for (size_t i = 0; i < e->n_items; i++)
        given[i] = eval(f, e->items[i]);
    if (failed(f))
        return CQ_NONE;
    if (e->native && (e->native->takes >> kind_of(given[0]) & 1))
        return e->native->fn(f, given, e->n_items);
    return call_with(f, e, given, e->n_items);
}

static cq_val binary(cq_frame *f, const cq_body_expr *e)
{
    cq_val a = eval(f, e->a), b = eval(f, e->b);
    char   name[CQ_BODY_MAX_NAME];

    if (failed(f))
        return CQ_NONE;
    if (a.kind != CQ_VAL_TENSOR && b.kind != CQ_VAL_TENSOR)
        return cq_native_binary(f, e->binary, a, b);
    if (a.kind == CQ_VAL_TENSOR)
        return call_with(f, e, (cq_val[]){ a, b }, 2);
    if (!e->binary->mirrored) { /* a / b */
        b = TENSOR(CQ_OP(f->c->cx, "aten::reciprocal", b));
        return TENSOR(CQ_OP(f->c->cx, "aten::mul.Scalar", b, a));
    }
    if (e->mirrored)
        return call_with(f, e, (cq_val[]){ b, a }, 2);
    snprintf(name, sizeof name, "aten::%s.Scalar", e->binary->mirrored);
    return TENSOR(CQ_OP(f->c->cx, name, b, a));
}

/* ---- values ---- */

static cq_val list(cq_frame *f, const cq_body_expr *e)
{
    cq_val items[CQ_BODY_MAX_ITEMS];

    for (size_t i = 0; i < e->n_items; i++)
        items[i] = eval(f, e->items[i]);
    return e->kind == CQ_EXPR_TUPLE ? tuple(f, items, e->n_items)
                                    : cq_native_list(f, items, e->n_items);
}

static cq_val each(cq_frame *f, const cq_body_expr *e)
{
    cq_val        over = eval(f, e->b), out;
    size_t        n, n_out = 0;
    const cq_val *items = cq_native_items(&over, &n);

    out = cq_native_list(f, NULL, n);
    for (size_t i = 0; i < n && !failed(f); i++) {
        f->slots[e->slot] = items[i];
        if (!e->c || cq_native_truth(f, eval(f, e->c)))
            out.u.list->items[n_out++] = cq_val_retain(eval(f, e->a));
    }
    if (failed(f))
        return CQ_NONE;
    out.u.list->n = n_out;
    return out;
}

static bool is_in(cq_val v, cq_val list)
{
    size_t        n;
    const cq_val *items = cq_native_items(&list, &n);

    for (size_t i = 0; i < n; i++)
        if (cq_native_equal(items[i], v))
            return true;
    return false;
}

static void write_value(char *out, size_t size, cq_val v)
{
    switch (v.kind) {
    case CQ_VAL_STR: snprintf(out, size, "%s", v.u.text->text); break;
    case CQ_VAL_INT: snprintf(out, size, "%lld", (long long)v.u.i.value); break;
    case CQ_VAL_FLOAT: snprintf(out, size, "%g", v.u.f.value); break;
    case CQ_VAL_BOOL: snprintf(out, size, "%s", v.u.b.value ? "True" : "False"); break;
    default: snprintf(out, size, "%s", cq_val_kind_name(v.kind));
    }
}

static cq_val text(cq_frame *f, const cq_body_expr *e)
{
    char out[512] = "";

    for (size_t i = 0; i < e->n_items; i++) {
        size_t len = strlen(out);

        write_value(out + len, sizeof out - len, eval(f, e->items[i]));
    }
    return cq_str_val(f->c->cx, out);
}

static cq_val minus(cq_frame *f, cq_val v)
{
    if (v.kind == CQ_VAL_INT)
        return SIZE(cq_size_sub(f->c, cq_i(0), v.u.i));
    if (v.kind == CQ_VAL_TENSOR)
        return TENSOR(CQ_OP(f->c->cx, "aten::neg", v));
    return FLOAT(-cq_native_f64(f, v));
}

static bool truth(cq_frame *f, const cq_body_expr *e)
{
    return cq_native_truth(f, eval(f, e));
}

static cq_val eval_other(cq_frame *f, const cq_body_expr *e)
{
    if (failed(f))
        return CQ_NONE;
    switch (e->kind) {
    case CQ_EXPR_CONSTANT:
    case CQ_EXPR_SLOT: return eval(f, e);
    case CQ_EXPR_OWNER: return f->owner->value(f->self, e->slot, e->number);
    case CQ_EXPR_LIST:
    case CQ_EXPR_TUPLE: return list(f, e);
    case CQ_EXPR_EACH: return each(f, e);
    case CQ_EXPR_CALL: return call(f, e);
    case CQ_EXPR_BINARY: return binary(f, e);
    case CQ_EXPR_MINUS: return minus(f, eval(f, e->a));
    case CQ_EXPR_NOT: return BOOL(!truth(f, e->a));
    case CQ_EXPR_AND: return BOOL(truth(f, e->a) && truth(f, e->b));
    case CQ_EXPR_OR: return BOOL(truth(f, e->a) || truth(f, e->b));
    case CQ_EXPR_CHOICE: return eval(f, truth(f, e->a) ? e->b : e->c);
    case CQ_EXPR_IS_NONE: return BOOL(eval(f, e->a).kind == CQ_VAL_NONE);
    case CQ_EXPR_IN: return BOOL(is_in(eval(f, e->a), eval(f, e->b)));
    case CQ_EXPR_ITEM: return cq_native_item(f, eval(f, e->a), eval(f, e->b));
    case CQ_EXPR_RANGE:
        return cq_native_range(f, eval(f, e->a), e->b ? eval(f, e->b) : INT(0),
                               e->c ? eval(f, e->c) : CQ_NONE);
    case CQ_EXPR_TEXT: return text(f, e);
    }
    return CQ_NONE;
}

/* ---- statements ---- */

static void set(cq_frame *f, const cq_body_stmt *s)
{
    cq_val        v = eval(f, s->value);
    size_t        n;
    const cq_val *items;

    if (failed(f))
        return;
    if (s->n_slots == 1) {
        f->slots[s->slots[0]] = v;
        return;
    }
    items = cq_native_items(&v, &n);
    if (n != s->n_slots) {
        cq_native_fail(f, CQ_E_ARGUMENT, "wants %zu values but got %zu", s->n_slots, n);
        return;
    }
    for (size_t i = 0; i < n; i++)
        f->slots[s->slots[i]] = items[i];
}

/* items += more: the list itself grows. */
static void add(cq_frame *f, const cq_body_stmt *s)
{
    cq_val        v = eval(f, s->value), to = f->slots[s->slots[0]];
    size_t        n;
    const cq_val *items = cq_native_items(&v, &n);

    if (to.kind != CQ_VAL_LIST)
        cq_native_fail(f, CQ_E_INTERNAL, "the body appends to %s", cq_val_kind_name(to.kind));
    for (size_t i = 0; i < n && !failed(f); i++)
        cq_ctx_fail(f->c->cx, cq_list_push(to.u.list, items[i]));
}

static void warn(cq_frame *f, const cq_body_stmt *s)
{
    cq_val message = eval(f, s->message);

    if (!failed(f))
        cq_warn(f->c->op->schema->full, "%s", message.u.text->text);
}

/* An assert looks at symbols without making them numbers: what holds on the example is all that
 * can be checked. */
static void check(cq_frame *f, const cq_body_stmt *s)
{
    bool   holds;
    cq_val message;

    f->looking = true;
    holds      = s->value && truth(f, s->value);
    f->looking = false;
    if (holds || failed(f))
        return;
    message = eval(f, s->message);
    if (!failed(f))
        cq_native_fail(f, s->status, "%s", message.u.text->text);
}

static void run_block(cq_frame *f, const cq_body_stmt *s);

static void run_for(cq_frame *f, const cq_body_stmt *s)
{
    cq_val        over = eval(f, s->value);
    size_t        n;
    const cq_val *items = cq_native_items(&over, &n);

    for (size_t i = 0; i < n && !f->returned && !failed(f); i++) {
        f->slots[s->slots[0]] = items[i];
        run_block(f, s->then);
    }
}

static void give(cq_frame *f, const cq_body_stmt *s)
{
    const char *arg = f->body->schema->args[s->slots[0]].name;
    cq_val      v;

    if (!f->owner->wants(f->self, arg))
        return;
    v = eval(f, s->value);
    if (!failed(f))
        cq_ctx_fail(f->c->cx, f->owner->give(f->self, arg, v));
}

static void run_block(cq_frame *f, const cq_body_stmt *s)
{
    for (; s && !f->returned && !failed(f); s = s->next) {
        switch (s->kind) {
        case CQ_STMT_SET: set(f, s); break;
        case CQ_STMT_RETURN:
            f->result   = eval(f, s->value);
            f->returned = true;
            break;
        case CQ_STMT_IF: run_block(f, truth(f, s->value) ? s->then : s->otherwise); break;
        case CQ_STMT_FOR: run_for(f, s); break;
        case CQ_STMT_ADD: add(f, s); break;
        case CQ_STMT_FAIL: check(f, s); break;
        case CQ_STMT_WARN: warn(f, s); break;
        case CQ_STMT_GIVE: give(f, s); break;
        }
    }
}

static cq_val run(cq_frame *f)
{
    run_block(f, f->body->first);
    return failed(f) ? CQ_NONE : f->result;
}

/* Two threads may parse the same text; one of the trees is kept. NULL: the context has failed. */
static const cq_body *body_in(cq_ctx *cx, cq_body_slot *slot, const char *text,
                              const cq_schema *schema, const cq_formula_owner *owner)
{
    cq_body *body = atomic_load_explicit(&slot->body, memory_order_acquire), *other = NULL;

    if (body)
        return body;
    if (cq_ctx_fail(cx, cq_body_parse(&body, schema, text, owner)) != CQ_OK)
        return NULL;
    if (atomic_compare_exchange_strong(&slot->body, &other, body))
        return body;
    cq_arena_free(body->arena);
    return other;
}

void cq_body_slot_clear(cq_body_slot *slot)
{
    cq_body *body = atomic_exchange(&slot->body, NULL);

    cq_arena_free(body ? body->arena : NULL);
}

/* A frame with its arguments; false without a body. */
static bool start(cq_frame *f, cq_opcall *c, const cq_body *body, const cq_val *args, size_t n_args)
{
    const cq_schema *s;

    f->c        = c;
    f->body     = body;
    f->owner    = NULL;
    f->self     = NULL;
    f->result   = CQ_NONE;
    f->returned = f->looking = false;
    if (!body)
        return false;
    s = body->schema;
    for (size_t i = 0; i < body->n_slots; i++)
        f->slots[i] = i < n_args ? args[i] : i < s->n_args ? s->args[i].default_value : CQ_NONE;
    return true;
}

cq_status cq_body_run(cq_body_slot *slot, const char *text, cq_opcall *c)
{
    const cq_schema *schema = c->op->schema;
    cq_frame         f;
    size_t           n;
    const cq_val    *results;

    if (!start(&f, c, body_in(c->cx, slot, text, schema, NULL), c->args, schema->n_args))
        return c->cx->status;
    run(&f);
    CQ_TRY(c->cx->status);
    if (!f.returned)
        return cq_call_fail(c, CQ_E_INTERNAL, "the body returns nothing");
    if (schema->n_results == 1) {
        cq_result_set(c, 0, f.result);
        return CQ_OK;
    }
    results = cq_native_items(&f.result, &n);
    if (n != schema->n_results)
        return cq_call_fail(c, CQ_E_INTERNAL, "the body returns %zu values", n);
    for (size_t i = 0; i < n; i++)
        cq_result_set(c, i, results[i]);
    return CQ_OK;
}

cq_status cq_formula_run(cq_body_slot *slot, const char *text, cq_opcall *c,
                         const cq_formula_owner *owner, void *self)
{
    const cq_schema *schema = c->op->schema;
    cq_frame         f;

    if (!start(&f, c, body_in(c->cx, slot, text, schema, owner), c->args, schema->n_args))
        return c->cx->status;
    f.owner = owner;
    f.self  = self;
    run(&f);
    return c->cx->status;
}
