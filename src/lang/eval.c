/* Runs functions of the library, see eval.h. */
#include "lang/eval.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The variables of one call. */
typedef struct frame {
    cq_lang         *l;
    cq_lib_function *f;
    enum { RUNNING, BREAKING, CONTINUING, RETURNED } state;
    cq_val result;
    cq_val slots[CQ_LANG_MAX_SLOTS]; /* the first n_slots of the function */
} frame;

static cq_val eval_other(frame *fr, const cq_ast_expr *x);

cq_val cq_lang_fail(cq_lang *l, cq_status status, const char *format, ...)
{
    char    message[512];
    va_list args;

    if (cq_lang_failed(l))
        return CQ_NONE;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    l->host->fail(l, status, message);
    return CQ_NONE;
}

bool cq_lang_step(cq_lang *l, size_t n)
{
    if (l->max_steps && n > l->max_steps - l->n_steps) {
        cq_lang_fail(l, CQ_E_ARGUMENT, "the function takes more than %u steps", l->max_steps);
        return false;
    }
    l->n_steps += (uint32_t)n;
    return true;
}

static bool failed(const frame *fr)
{
    return cq_lang_failed(fr->l);
}

static cq_val variable(frame *fr, const cq_ast_expr *x)
{
    cq_val v = fr->slots[x->u.variable.slot - 1];

    if (v.kind == CQ_VAL_OBJECT && fr->l->host->touch)
        fr->l->host->touch(fr->l, v);
    return v;
}

/* Most expressions are variables and numbers. */
static inline cq_val eval(frame *fr, const cq_ast_expr *x)
{
    return x->kind == CQ_X_NAME  ? variable(fr, x)
           : x->kind == CQ_X_INT ? cq_val_of_i64(x->u.i)
                                 : eval_other(fr, x);
}

static bool truth(frame *fr, const cq_ast_expr *x)
{
    return cq_lang_truth(fr->l, eval(fr, x));
}

/* ---- calls ---- */

/* Tuples count as lists. */
static cq_val_kind kind_of(cq_val v)
{
    return v.kind == CQ_VAL_TUPLE ? CQ_VAL_LIST : v.kind;
}

static cq_val call_function(cq_lang *l, cq_lib_function *f, const uint8_t *params,
                            const cq_val *args, size_t n);

static cq_val call_target(frame *fr, const cq_ast_expr *x, const void *target, const cq_val *args,
                          size_t n)
{
    const cq_lang_target *t = target;

    if (failed(fr))
        return CQ_NONE;
    if (t->function)
        return call_function(fr->l, t->function, t->params, args, n);
    if (t->builtin && (n == 0 || t->builtin->takes >> kind_of(args[0]) & 1))
        return t->builtin->fn(fr->l, args, n);
    if (t->host)
        return fr->l->host->call(fr->l, t->host, args, n);
    return cq_lang_fail(fr->l, CQ_E_INTERNAL, "%.*s does not support %s",
                        (int)(x->at.end - x->at.start), fr->f->unit->source.text + x->at.start,
                        cq_val_kind_name(args[0].kind));
}

static cq_val eval_call(frame *fr, const cq_ast_expr *x)
{
    const cq_lang_target *t      = x->u.call.target;
    const cq_ast_expr    *callee = x->u.call.function;
    cq_val                args[CQ_LANG_MAX_ITEMS];
    size_t                n = 0;

    if (t->is_method)
        args[n++] = eval(fr, callee->u.attr.object);
    for (size_t i = 0; i < x->u.call.n; i++)
        args[n++] = eval(fr, x->u.call.args[i].value);
    return call_target(fr, callee, t, args, n);
}

/* ---- operators ---- */

static bool is_plain_value(cq_val v)
{
    return v.kind != CQ_VAL_TENSOR && v.kind != CQ_VAL_OBJECT;
}

static cq_val binary(cq_lang *l, cq_ast_op op, cq_val a, cq_val b)
{
    if (cq_lang_failed(l))
        return CQ_NONE;
    return is_plain_value(a) && is_plain_value(b) ? cq_lang_binary(l, op, a, b)
                                                  : l->host->binary(l, op, a, b);
}

static bool is_in(cq_val v, cq_val list)
{
    size_t        n;
    const cq_val *items = cq_lang_items(&list, &n);

    for (size_t i = 0; i < n; i++)
        if (cq_lang_equal(items[i], v))
            return true;
    return false;
}

static cq_val compare(frame *fr, cq_ast_op op, cq_val a, cq_val b)
{
    switch (op) {
    case CQ_AST_IS: return cq_val_of_bool(a.kind == b.kind && cq_lang_equal(a, b));
    case CQ_AST_IS_NOT: return cq_val_of_bool(!(a.kind == b.kind && cq_lang_equal(a, b)));
    case CQ_AST_IN: return cq_val_of_bool(is_in(a, b));
    case CQ_AST_NOT_IN: return cq_val_of_bool(!is_in(a, b));
    default: return binary(fr->l, op, a, b);
    }
}

/* a < b < c: stops at the first comparison that is false. */
static cq_val eval_compare(frame *fr, const cq_ast_expr *x)
{
    cq_val left = eval(fr, x->u.compare.items[0]), out = CQ_NONE;

    for (size_t i = 0; i < x->u.compare.n && !failed(fr); i++) {
        cq_val right = eval(fr, x->u.compare.items[i + 1]);

        out  = compare(fr, x->u.compare.ops[i], left, right);
        left = right;
        if (i + 1 < x->u.compare.n && !cq_lang_truth(fr->l, out))
            break;
    }
    return out;
}

static cq_val eval_unary(frame *fr, const cq_ast_expr *x)
{
    cq_val v = eval(fr, x->u.unary.operand);

    if (failed(fr))
        return CQ_NONE;
    if (x->u.unary.op == CQ_AST_NOT)
        return cq_val_of_bool(!cq_lang_truth(fr->l, v));
    if (!is_plain_value(v))
        return fr->l->host->negate(fr->l, v);
    return v.kind == CQ_VAL_FLOAT ? cq_val_of_f64(-cq_lang_f64(fr->l, v))
                                  : cq_lang_binary(fr->l, CQ_AST_SUB, cq_val_of_i64(0), v);
}

/* ---- displays ---- */

static cq_val eval_items(frame *fr, const cq_ast_expr *x)
{
    cq_val items[CQ_LANG_MAX_ITEMS];

    for (size_t i = 0; i < x->u.items.n; i++)
        items[i] = eval(fr, x->u.items.items[i]);
    return x->kind == CQ_X_TUPLE ? cq_lang_tuple(fr->l, items, x->u.items.n)
                                 : cq_lang_list(fr->l, items, x->u.items.n);
}

static void eval_loops(frame *fr, const cq_ast_expr *x, size_t level, cq_list *out)
{
    const cq_ast_for *loop;
    cq_val            over;
    const cq_val     *items;
    size_t            n;

    if (level == x->u.comp.n) {
        cq_val v = eval(fr, x->u.comp.value);

        if (!failed(fr) && cq_list_push(out, v) != CQ_OK)
            cq_lang_fail(fr->l, CQ_E_NO_MEMORY, "out of memory");
        return;
    }
    loop  = &x->u.comp.loops[level];
    over  = eval(fr, loop->iter);
    items = cq_lang_items(&over, &n);
    for (size_t i = 0; i < n && cq_lang_step(fr->l, 1) && !failed(fr); i++) {
        bool holds = true;

        fr->slots[loop->target->u.variable.slot - 1] = items[i];
        for (size_t t = 0; t < loop->tests.n && holds; t++)
            holds = truth(fr, loop->tests.items[t]);
        if (holds)
            eval_loops(fr, x, level + 1, out);
    }
}

static cq_val eval_comp(frame *fr, const cq_ast_expr *x)
{
    cq_val out = cq_lang_list(fr->l, NULL, 0);

    if (out.kind == CQ_VAL_LIST)
        eval_loops(fr, x, 0, out.u.list);
    return failed(fr) ? CQ_NONE : out;
}

static cq_val eval_dict(frame *fr, const cq_ast_expr *x)
{
    cq_lang *l       = fr->l;
    bool     filters = l->needs && l->depth == 1;
    cq_dict *dict;
    cq_val   out;

    if (cq_dict_new(&dict) != CQ_OK)
        return cq_lang_fail(l, CQ_E_NO_MEMORY, "out of memory");
    out = l->host->own(l, cq_val_of_dict(dict));
    for (size_t i = 0; i < x->u.dict.n && !failed(fr); i++) {
        cq_val key = eval(fr, x->u.dict.keys[i]), v;

        if (filters && key.kind == CQ_VAL_STR && !l->needs(l, key.u.text->text))
            continue;
        v = eval(fr, x->u.dict.values[i]);
        if (!failed(fr) && cq_dict_set(dict, key, v) != CQ_OK)
            cq_lang_fail(l, CQ_E_NO_MEMORY, "out of memory");
    }
    return failed(fr) ? CQ_NONE : out;
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

static cq_val eval_fstring(frame *fr, const cq_ast_expr *x)
{
    char   out[512] = "";
    size_t len      = 0;

    for (size_t i = 0; i < x->u.items.n && len + 1 < sizeof out; i++) {
        const cq_ast_expr *item = x->u.items.items[i];

        write_value(out + len, sizeof out - len,
                    eval(fr, item->kind == CQ_X_FIELD ? item->u.field.value : item));
        len += strlen(out + len);
    }
    return cq_lang_text(fr->l, out);
}

static cq_val eval_index(frame *fr, const cq_ast_expr *x)
{
    const cq_ast_expr *at = x->u.index.index;
    cq_val             of = eval(fr, x->u.index.object), start, stop;
    cq_val            *found;

    if (failed(fr))
        return CQ_NONE;
    if (at->kind == CQ_X_SLICE) {
        start = at->u.slice.start ? eval(fr, at->u.slice.start) : cq_val_of_i64(0);
        stop  = at->u.slice.stop ? eval(fr, at->u.slice.stop) : CQ_NONE;
        return cq_lang_slice(fr->l, of, start, stop);
    }
    if (of.kind != CQ_VAL_DICT)
        return cq_lang_item(fr->l, of, eval(fr, at));
    found = cq_dict_get(of.u.dict, eval(fr, at));
    return found ? *found : cq_lang_fail(fr->l, CQ_E_INTERNAL, "the dict has no such key");
}

/* ---- lambdas ---- */

/* A lambda: an expression that is evaluated later, with the variables of the running function. */
typedef struct lambda_box {
    cq_box             box;
    frame             *fr;
    const cq_ast_expr *value;
} lambda_box;

static void free_lambda(cq_box *box)
{
    cq_free(box);
}

static cq_val eval_lambda(frame *fr, const cq_ast_expr *x)
{
    lambda_box *b = cq_zalloc(sizeof *b);

    if (!b)
        return cq_lang_fail(fr->l, CQ_E_NO_MEMORY, "out of memory");
    b->box.refs = 1;
    b->box.free = free_lambda;
    b->fr       = fr;
    b->value    = x->u.lambda->value;
    return fr->l->host->own(fr->l, cq_val_of_box(&b->box));
}

cq_val cq_lang_run(cq_lang *l, cq_val lambda)
{
    const lambda_box *b = cq_box_of(lambda, free_lambda);

    return b && !cq_lang_failed(l) ? eval(b->fr, b->value) : CQ_NONE;
}

bool cq_lang_is_lambda(cq_val v)
{
    return cq_box_of(v, free_lambda) != NULL;
}

static cq_val eval_other(frame *fr, const cq_ast_expr *x)
{
    cq_val v;

    if (failed(fr))
        return CQ_NONE;
    switch (x->kind) {
    case CQ_X_NAME:
    case CQ_X_INT: return eval(fr, x);
    case CQ_X_TRUE: return cq_val_of_bool(true);
    case CQ_X_FALSE: return cq_val_of_bool(false);
    case CQ_X_FLOAT: return cq_val_of_f64(x->u.f);
    case CQ_X_STR: return cq_val_of_text(x->u.str.value);
    case CQ_X_FSTR: return eval_fstring(fr, x);
    case CQ_X_ATTR:
        v = eval(fr, x->u.attr.object);
        return call_target(fr, x, x->u.attr.target, &v, 1);
    case CQ_X_CALL: return eval_call(fr, x);
    case CQ_X_INDEX: return eval_index(fr, x);
    case CQ_X_UNARY: return eval_unary(fr, x);
    case CQ_X_BINARY: {
        cq_val a = eval(fr, x->u.binary.left), b = eval(fr, x->u.binary.right);

        return binary(fr->l, x->u.binary.op, a, b);
    }
    case CQ_X_AND:
    case CQ_X_OR:
        v = eval(fr, x->u.binary.left);
        return cq_lang_truth(fr->l, v) == (x->kind == CQ_X_OR) ? v : eval(fr, x->u.binary.right);
    case CQ_X_COMPARE: return eval_compare(fr, x);
    case CQ_X_IF_ELSE:
        return eval(fr, truth(fr, x->u.choice.test) ? x->u.choice.then : x->u.choice.other);
    case CQ_X_LIST:
    case CQ_X_TUPLE: return eval_items(fr, x);
    case CQ_X_DICT: return eval_dict(fr, x);
    case CQ_X_LIST_COMP: return eval_comp(fr, x);
    case CQ_X_LAMBDA: return eval_lambda(fr, x);
    default: return CQ_NONE;
    }
}

/* ---- statements ---- */

static void run_block(frame *fr, const cq_ast_block *b);

static void assign(frame *fr, const cq_ast_expr *target, cq_val v)
{
    size_t        n;
    const cq_val *items;

    if (target->kind == CQ_X_NAME) {
        fr->slots[target->u.variable.slot - 1] = v;
        return;
    }
    items = cq_lang_items(&v, &n);
    if (n != target->u.items.n) {
        cq_lang_fail(fr->l, CQ_E_ARGUMENT, "expected %zu values, got %zu", target->u.items.n, n);
        return;
    }
    for (size_t i = 0; i < n; i++)
        assign(fr, target->u.items.items[i], items[i]);
}

/* items += more changes the list in place. */
static void augment(frame *fr, const cq_ast_stmt *s)
{
    cq_val        to = eval(fr, s->u.augment.target), v = eval(fr, s->u.augment.value);
    size_t        n;
    const cq_val *items = cq_lang_items(&v, &n);

    if (failed(fr))
        return;
    if (to.kind != CQ_VAL_LIST || s->u.augment.op != CQ_AST_ADD) {
        assign(fr, s->u.augment.target, binary(fr->l, s->u.augment.op, to, v));
        return;
    }
    for (size_t i = 0; i < n && !failed(fr); i++)
        if (cq_list_push(to.u.list, items[i]) != CQ_OK)
            cq_lang_fail(fr->l, CQ_E_NO_MEMORY, "out of memory");
}

static void run_for(frame *fr, const cq_ast_stmt *s)
{
    cq_val        over = eval(fr, s->u.loop.test);
    size_t        n;
    const cq_val *items = cq_lang_items(&over, &n);

    for (size_t i = 0; i < n && fr->state == RUNNING && !failed(fr) && cq_lang_step(fr->l, 1);
         i++) {
        assign(fr, s->u.loop.target, items[i]);
        run_block(fr, &s->u.loop.body);
        if (fr->state == CONTINUING)
            fr->state = RUNNING;
    }
    if (fr->state == BREAKING)
        fr->state = RUNNING;
}

static void run_while(frame *fr, const cq_ast_stmt *s)
{
    while (fr->state == RUNNING && !failed(fr) && cq_lang_step(fr->l, 1) &&
           truth(fr, s->u.loop.test)) {
        run_block(fr, &s->u.loop.body);
        if (fr->state == CONTINUING)
            fr->state = RUNNING;
    }
    if (fr->state == BREAKING)
        fr->state = RUNNING;
}

static const char *text_of(cq_val v)
{
    return v.kind == CQ_VAL_STR ? v.u.text->text : "";
}

/* An assertion compares symbols without fixing them: it can only be checked on the example. */
static void run_assert(frame *fr, const cq_ast_stmt *s)
{
    bool   holds;
    cq_val message = CQ_NONE;

    fr->l->is_asserting = true;
    holds               = truth(fr, s->u.assertion.test);
    fr->l->is_asserting = false;
    if (holds || failed(fr))
        return;
    if (s->u.assertion.message)
        message = eval(fr, s->u.assertion.message);
    if (!failed(fr))
        cq_lang_fail(fr->l, CQ_E_ARGUMENT, "%s", text_of(message));
}

static void run_raise(frame *fr, const cq_ast_stmt *s)
{
    static const struct {
        const char *name;
        cq_status   status;
    } kinds[]               = { { "NotImplementedError", CQ_E_UNSUPPORTED },
                                { "TypeError", CQ_E_TYPE },
                                { "ValueError", CQ_E_ARGUMENT } };
    const cq_ast_expr *x    = s->u.raise.value;
    const char        *name = x->u.call.function->u.name;
    cq_status          is   = CQ_E_INTERNAL;
    cq_val             text = eval(fr, x->u.call.args[0].value);

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].name, name) == 0)
            is = kinds[i].status;
    if (!failed(fr))
        cq_lang_fail(fr->l, is, "%s", text_of(text));
}

static void run_stmt(frame *fr, const cq_ast_stmt *s)
{
    fr->l->in = fr->f;
    fr->l->at = s->at;
    switch (s->kind) {
    case CQ_S_EXPR: eval(fr, s->u.value); break;
    case CQ_S_ASSIGN: {
        cq_val v = eval(fr, s->u.assign.value);

        for (size_t i = 0; i < s->u.assign.targets.n && !failed(fr); i++)
            assign(fr, s->u.assign.targets.items[i], v);
        break;
    }
    case CQ_S_AUGMENT: augment(fr, s); break;
    case CQ_S_RETURN:
        fr->result = s->u.value ? eval(fr, s->u.value) : CQ_NONE;
        fr->state  = RETURNED;
        break;
    case CQ_S_IF:
        run_block(fr, truth(fr, s->u.branch.test) ? &s->u.branch.then : &s->u.branch.other);
        break;
    case CQ_S_FOR: run_for(fr, s); break;
    case CQ_S_WHILE: run_while(fr, s); break;
    case CQ_S_ASSERT: run_assert(fr, s); break;
    case CQ_S_RAISE: run_raise(fr, s); break;
    case CQ_S_BREAK: fr->state = BREAKING; break;
    case CQ_S_CONTINUE: fr->state = CONTINUING; break;
    default: break;
    }
}

static void run_block(frame *fr, const cq_ast_block *b)
{
    for (size_t i = 0; i < b->n && fr->state == RUNNING && !failed(fr); i++)
        run_stmt(fr, b->items[i]);
}

/* ---- functions ---- */

/* params: the parameter of each argument; NULL: by position. */
static cq_val call_function(cq_lang *l, cq_lib_function *f, const uint8_t *params,
                            const cq_val *args, size_t n)
{
    const cq_ast_def      *def;
    uint64_t               given = 0;
    cq_status              status;
    frame                  fr;
    const cq_lib_function *caller = l->in;
    const cq_span          at     = l->at;

    if (!cq_lang_step(l, 1))
        return CQ_NONE;
    if (l->depth == CQ_LANG_MAX_DEPTH)
        return cq_lang_fail(l, CQ_E_INTERNAL, "calls are nested more than %d deep",
                            CQ_LANG_MAX_DEPTH);
    status = cq_lang_link(f, l->host);
    if (status != CQ_OK)
        return l->host->fail(l, status, NULL), CQ_NONE;
    def       = f->def;
    fr.l      = l;
    fr.f      = f;
    fr.state  = RUNNING;
    fr.result = CQ_NONE;
    for (size_t i = def->n_params; i < f->n_slots; i++)
        fr.slots[i] = CQ_NONE;
    for (size_t i = 0; i < n; i++) {
        const size_t p = params ? params[i] : i;

        fr.slots[p] = args[i];
        given |= (uint64_t)1 << p;
    }
    l->depth++;
    for (size_t i = 0; i < def->n_params; i++)
        if (!(given >> i & 1))
            fr.slots[i] = def->params[i].value ? eval(&fr, def->params[i].value) : CQ_NONE;
    run_block(&fr, &def->body);
    l->depth--;
    if (!failed(&fr)) { /* otherwise in and at are the location of the failure */
        l->in = caller;
        l->at = at;
    }
    return failed(&fr) ? CQ_NONE : fr.result;
}

cq_val cq_lang_call(cq_lang *l, cq_lib_function *f, const cq_val *args, size_t n)
{
    return call_function(l, f, NULL, args, n);
}

cq_val cq_lang_call_by(cq_lang *l, cq_lib_function *f, const uint8_t *params, const cq_val *args,
                       size_t n)
{
    return call_function(l, f, params, args, n);
}
