/* The host of bodies and gradients, see body.h: the meaning of names, calls and operators in
 * lib/aten. */
#include "aten/core/body.h"
#include "base/once.h"
#include "base/warn.h"

#include <stdarg.h>
#include <stdio.h>

static cq_body *body_of(cq_lang *l)
{
    return (cq_body *)l;
}

/* ---- targets ---- */

enum { MAX_NAME = 128, MAX_OVERLOADS = 64 };

/* An overload, and the parameter of each argument of the call. */
typedef struct overload {
    const cq_op   *op;
    const uint8_t *params;
    size_t         n_filled; /* one past the last parameter that is given */
} overload;

typedef struct target {
    const cq_native *native; /* for its kinds of values; else */
    const overload  *overloads;
    size_t           n;
    const char      *name;
} target;

/* params is as long as the call has arguments. */
static bool fits(overload *o, uint8_t *params, const char *const *keywords, size_t n)
{
    const cq_schema *s     = o->op->schema;
    uint64_t         given = 0;

    o->params = params;
    for (size_t i = 0; i < n; i++) {
        int at = keywords[i] ? cq_schema_find(s, keywords[i]) : (int)i;

        if (at < 0 || (size_t)at >= s->n_args || (given >> at & 1) ||
            (!keywords[i] && s->args[at].keyword_only))
            return false;
        params[i] = (uint8_t)at;
        given |= (uint64_t)1 << at;
        if (o->n_filled <= (size_t)at)
            o->n_filled = (size_t)at + 1;
    }
    for (size_t i = 0; i < s->n_args; i++)
        if (!(given >> i & 1) && !s->args[i].has_default)
            return false;
    return true;
}

/* The overloads of "aten::sum", or the named one of "aten::sum.dim_IntList". */
static cq_status find_overloads(cq_arena *arena, overload *out, size_t *n_found, const char *name,
                                const char *const *keywords, size_t n)
{
    const bool   one = strchr(name, '.') != NULL;
    const cq_op *op  = one ? cq_op_find(name) : cq_op_overloads(name);

    for (; op && *n_found < MAX_OVERLOADS; op = one ? NULL : op->next) {
        uint8_t *params = cq_arena_array(arena, n + 1, 1);

        if (!params)
            return CQ_E_NO_MEMORY;
        out[*n_found] = (overload){ .op = op };
        *n_found += fits(&out[*n_found], params, keywords, n);
    }
    return CQ_OK;
}

/* The operator of a dotted name: "aten::sum" for torch.sum and for a method. */
static bool operator_name(char *out, size_t size, const char *name)
{
    const char *dot;

    if (strncmp(name, "torch.ops.", 10) == 0) {
        name += 10;
        dot = strchr(name, '.');
        if (!dot)
            return false;
        snprintf(out, size, "%.*s::%s", (int)(dot - name), name, dot + 1);
        return true;
    }
    if (strncmp(name, "torch.", 6) == 0)
        name += 6;
    snprintf(out, size, "aten::%s", name);
    return !strchr(name, '.');
}

static const cq_native *find_native(const char *name, size_t n)
{
    for (const cq_native *native = cq_natives; native->name; native++)
        if (strcmp(native->name, name) == 0 && n >= native->min && n <= native->max)
            return native;
    return NULL;
}

static cq_status link_target(const void **out, cq_arena *arena, const char *name,
                             const char *const *keywords, size_t n)
{
    overload overloads[MAX_OVERLOADS];
    char     full[MAX_NAME];
    target  *t = cq_arena_zalloc(arena, sizeof *t);

    if (!t)
        return CQ_E_NO_MEMORY;
    t->name   = cq_arena_strdup(arena, name[0] == '.' ? name + 1 : name);
    t->native = find_native(name, n);
    if (name[0] != '.' && operator_name(full, sizeof full, name))
        CQ_TRY(find_overloads(arena, overloads, &t->n, full, keywords, n));
    t->overloads = cq_arena_copy(arena, overloads, t->n * sizeof *overloads);
    *out         = t->native || t->n ? t : NULL;
    return t->name && (t->overloads || !t->n) ? CQ_OK : CQ_E_NO_MEMORY;
}

static bool explain(const char *name, char *hint, size_t size)
{
    const char  *dot = strrchr(name, '.');
    char         full[MAX_NAME];
    const cq_op *op = operator_name(full, sizeof full, name) ? cq_op_overloads(full) : NULL;

    for (const cq_native *native = cq_natives; native->name; native++)
        if (strcmp(native->name, name) == 0)
            return true;
    if (op) {
        snprintf(hint, size, "expected %s", op->def->schema);
        return true;
    }
    snprintf(full, sizeof full, "aten::%s", dot ? dot + 1 : name);
    if (cq_op_overloads(full))
        snprintf(hint, size, "call the operator: torch.ops.aten.%s", full + strlen("aten::"));
    return false;
}

/* torch.float32: dtypes and memory formats are represented by PyTorch's numbers. */
static bool constant(const char *name, cq_val *out)
{
    static const struct {
        const char *name;
        int64_t     value;
    } others[] = { { "torch.Tensor", CQ_VAL_TENSOR },
                   { "torch.contiguous_format", 0 },
                   { "torch.preserve_format", 1 } };

    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(name, others[i].name) == 0) {
            *out = INT(others[i].value);
            return true;
        }
    if (strncmp(name, "torch.", 6) != 0)
        return false;
    for (int64_t i = 0; i < 64; i++) {
        cq_dtype d = cq_dtype_from_torch(i);

        if (d != CQ_DTYPE_NONE && strcmp(cq_dtype_name(d), name + 6) == 0) {
            *out = INT(i);
            return true;
        }
    }
    return false;
}

/* ---- calls ---- */

/* The arguments in the order of the schema, with defaults between them. */
static void fill(const overload *o, const cq_val *given, size_t n, cq_val *out)
{
    uint64_t filled = 0;

    for (size_t i = 0; i < n; i++) {
        out[o->params[i]] = given[i];
        filled |= (uint64_t)1 << o->params[i];
    }
    for (size_t i = 0; i < o->n_filled; i++)
        if (!(filled >> i & 1))
            out[i] = o->op->schema->args[i].default_value;
}

static cq_val call_operator(cq_body *b, const overload *o, const cq_val *args)
{
    cq_val results[CQ_MAX_RESULTS];
    size_t n = o->op->schema->n_results;

    cq_op_call(b->c->cx, o->op, args, o->n_filled, results, n);
    return n == 1 ? results[0] : n ? cq_lang_tuple(&b->lang, results, n) : CQ_NONE;
}

/* The first overload that accepts these values. A single overload is called without this check, so
 * that the error names the wrong argument. */
static cq_val call_overloads(cq_body *b, const target *t, const cq_val *given, size_t n)
{
    for (size_t i = 0; i < t->n; i++) {
        cq_val args[CQ_MAX_ARGS];

        fill(&t->overloads[i], given, n, args);
        if (t->n == 1 || cq_op_accepts(t->overloads[i].op, args, t->overloads[i].n_filled))
            return call_operator(b, &t->overloads[i], args);
    }
    return cq_lang_fail(&b->lang, CQ_E_INTERNAL, "%s does not take such arguments", t->name);
}

/* Tuples count as lists. */
static cq_val_kind kind_of(cq_val v)
{
    return v.kind == CQ_VAL_TUPLE ? CQ_VAL_LIST : v.kind;
}

static cq_val call(cq_lang *l, const void *linked, const cq_val *args, size_t n)
{
    const target *t = linked;

    if (t->native && (n == 0 || t->native->takes >> kind_of(args[0]) & 1))
        return t->native->fn(body_of(l), args, n);
    return call_overloads(body_of(l), t, args, n);
}

/* ---- Python operators with a tensor operand ---- */

static const struct sign {
    cq_ast_op   op;
    const char *name, *mirrored; /* mirrored: of (b, a), where a is the number; NULL: none */
} signs[] = {
    { CQ_AST_POW, "pow", "pow" },
    { CQ_AST_EQ, "eq", "eq" },
    { CQ_AST_NE, "ne", "ne" },
    { CQ_AST_GE, "ge", "le" },
    { CQ_AST_LE, "le", "ge" },
    { CQ_AST_GT, "gt", "lt" },
    { CQ_AST_LT, "lt", "gt" },
    { CQ_AST_ADD, "add", "add" },
    { CQ_AST_SUB, "sub", "rsub" },
    { CQ_AST_MUL, "mul", "mul" },
    { CQ_AST_FLOOR_DIV, "floor_divide", "floor_divide" },
    { CQ_AST_DIV, "div", NULL },
    { CQ_AST_MOD, "remainder", "remainder" },
    { CQ_AST_MATMUL, "matmul", "matmul" },
};

enum { N_SIGNS = sizeof signs / sizeof *signs };

static struct {
    cq_once     once;
    cq_arena   *arena;
    const void *plain[N_SIGNS], *mirrored[N_SIGNS]; /* targets */
} sign_targets = { .once = CQ_ONCE_INIT };

static cq_status link_signs(void)
{
    static const char *const none[2] = { NULL, NULL };
    cq_arena                *arena   = cq_arena_new();
    cq_status                status  = arena ? CQ_OK : CQ_E_NO_MEMORY;

    for (size_t i = 0; i < N_SIGNS && status == CQ_OK; i++) {
        status = link_target(&sign_targets.plain[i], arena, signs[i].name, none, 2);
        if (status == CQ_OK && signs[i].mirrored)
            status = link_target(&sign_targets.mirrored[i], arena, signs[i].mirrored, none, 2);
    }
    if (status != CQ_OK)
        cq_arena_free(arena);
    else
        sign_targets.arena = arena;
    return status;
}

static cq_val binary(cq_lang *l, cq_ast_op op, cq_val a, cq_val b)
{
    cq_body *body = body_of(l);
    size_t   i    = 0;

    if (cq_once_call(&sign_targets.once, link_signs) != CQ_OK)
        return cq_lang_fail(l, CQ_E_NO_MEMORY, "out of memory");
    while (i < N_SIGNS && signs[i].op != op)
        i++;
    if (i == N_SIGNS || !sign_targets.plain[i])
        return cq_lang_fail(l, CQ_E_INTERNAL, "the operator is not available for tensors");
    if (a.kind == CQ_VAL_TENSOR)
        return call_overloads(body, sign_targets.plain[i], (cq_val[]){ a, b }, 2);
    if (sign_targets.mirrored[i])
        return call_overloads(body, sign_targets.mirrored[i], (cq_val[]){ b, a }, 2);
    b = TENSOR(CQ_OP(body->c->cx, "aten::reciprocal", b)); /* a / b */
    return TENSOR(CQ_OP(body->c->cx, "aten::mul.Scalar", b, a));
}

static cq_val negate(cq_lang *l, cq_val v)
{
    return TENSOR(CQ_OP(body_of(l)->c->cx, "aten::neg", v));
}

/* ---- symbols that become numbers ---- */

static bool same_symbol(cq_val a, cq_val b)
{
    return a.kind == b.kind && ((a.kind == CQ_VAL_INT && a.u.i.expr == b.u.i.expr) ||
                                (a.kind == CQ_VAL_FLOAT && a.u.f.origin == b.u.f.origin));
}

/* Fixes a symbol to its value and informs the listener. An integer argument is a plain number from
 * here on, as in cq_arg_i64. */
static cq_val fix_symbol(cq_body *b, cq_val v)
{
    const cq_schema   *s        = b->c->op->schema;
    const cq_listener *listener = b->c->cx->listener;
    const char        *what     = "a size";
    cq_int             value    = v.kind == CQ_VAL_INT ? v.u.i : cq_i((int64_t)v.u.f.value);

    for (size_t i = 0; i < s->n_args && !b->lang.is_asserting; i++)
        if (same_symbol(b->c->args[i], v)) {
            what = s->args[i].name;
            if (v.kind == CQ_VAL_INT)
                b->c->args[i] = INT(v.u.i.value);
        }
    if (listener && !b->lang.is_asserting)
        listener->baked(b->c->cx->listener_self, b->c->cx, what, value);
    return v.kind == CQ_VAL_INT ? INT(v.u.i.value) : FLOAT(v.u.f.value);
}

/* A data-dependent number, in a tensor. */
static cq_val fix_tensor(cq_body *b, cq_tensor *t)
{
    cq_tensor *data;
    cq_int     whole;

    if (cq_tensor_numel(t) != 1)
        return cq_lang_fail(&b->lang, CQ_E_TYPE, "expected a number, got a tensor");
    if (cq_ctx_fail(b->c->cx, cq_call_data(b->c, &data, t)) != CQ_OK)
        return CQ_NONE;
    whole = cq_i(cq_tensor_get_i64(data, 0));
    if (data != t && !b->lang.is_asserting)
        b->c->cx->listener->baked(b->c->cx->listener_self, b->c->cx, "a number", whole);
    return cq_dtype_is_float(t->dtype) ? FLOAT(cq_tensor_get_f64(data, 0)) : SIZE(whole);
}

static cq_val fix(cq_lang *l, cq_val v)
{
    if (v.kind == CQ_VAL_OBJECT)
        return cq_lang_fail(l, CQ_E_TYPE, "expected a number, got an object");
    return v.kind == CQ_VAL_TENSOR ? fix_tensor(body_of(l), v.u.tensor) : fix_symbol(body_of(l), v);
}

/* ---- the host ---- */

static cq_val own(cq_lang *l, cq_val v)
{
    return cq_ctx_own(body_of(l)->c->cx, v);
}

static void warn(cq_lang *l, const char *message)
{
    cq_warn(body_of(l)->c->op->schema->full, "%s", message);
}

static void fail(cq_lang *l, cq_status status, const char *message)
{
    if (message)
        cq_fail(status, body_of(l)->c->op->schema->full, NULL, "%s", message);
    cq_ctx_fail(body_of(l)->c->cx, status);
}

const cq_lang_host cq_body_host = { .link     = link_target,
                                    .explain  = explain,
                                    .constant = constant,
                                    .call     = call,
                                    .binary   = binary,
                                    .negate   = negate,
                                    .fix      = fix,
                                    .own      = own,
                                    .warn     = warn,
                                    .fail     = fail };

static cq_body body_for(cq_opcall *c)
{
    return (cq_body){
        .lang = { .host = &cq_body_host, .status = &c->cx->status, .symbols = c->cx->symbols },
        .c    = c
    };
}

/* A failed operator names itself. Developers of the library also need the line of lib/. */
static cq_status blame(const cq_lang *l, cq_status status)
{
    if (l->in && cq_library_is_changed(l->in->file))
        return cq_source_blame(&l->in->unit->source, l->at, status);
    return status;
}

static cq_status fail_results(cq_opcall *c, const cq_lib_function *f, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static cq_status fail_results(cq_opcall *c, const cq_lib_function *f, const char *format, ...)
{
    char    message[256];
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return cq_ctx_fail(
        c->cx, cq_source_fail(&f->unit->source, f->def->at, CQ_E_INTERNAL, NULL, "%s", message));
}

/* An argument whose name is a keyword of Python has a _ at the end: from_. */
static int find_argument(const cq_schema *s, const char *name)
{
    size_t len = strlen(name);

    for (size_t i = 0; i < s->n_args; i++) {
        const char *arg = s->args[i].name;

        if (strcmp(arg, name) == 0 ||
            (strlen(arg) + 1 == len && name[len - 1] == '_' && strncmp(arg, name, len - 1) == 0))
            return (int)i;
    }
    return -1;
}

/* Overloads with different arguments may share a function: parameters that an overload lacks have
 * their defaults, arguments without a parameter are ignored. */
static cq_val call_by_name(cq_body *b, cq_lib_function *f, const cq_opcall *c)
{
    cq_val  args[CQ_LANG_MAX_SLOTS];
    uint8_t params[CQ_LANG_MAX_SLOTS];
    size_t  n = 0;

    for (size_t i = 0; i < f->def->n_params; i++) {
        const int at = find_argument(c->op->schema, f->def->params[i].name);

        if (at < 0)
            continue;
        params[n] = (uint8_t)i;
        args[n++] = c->args[at];
    }
    return cq_lang_call_by(&b->lang, f, params, args, n);
}

cq_status cq_body_run(cq_lib_function *f, cq_opcall *c)
{
    const cq_schema *schema = c->op->schema;
    cq_body          b      = body_for(c);
    size_t           n      = 1;
    const cq_val    *results;
    cq_val           v;

    CQ_TRY(cq_ctx_fail(c->cx, cq_library_parse(f)));
    v = f->def->n_params == schema->n_args ? cq_lang_call(&b.lang, f, c->args, schema->n_args)
                                           : call_by_name(&b, f, c);

    if (c->cx->status != CQ_OK)
        return blame(&b.lang, c->cx->status);
    results = schema->n_results == 1 ? &v : cq_lang_items(&v, &n);
    if (n != schema->n_results)
        return fail_results(c, f, "%s returns %zu values, expected %zu", f->name, n,
                            schema->n_results);
    for (size_t i = 0; i < n; i++) {
        const cq_schema_type *type = &schema->results[i].type;

        if (type->base == CQ_SCHEMA_TENSOR && !type->list_depth && !type->optional &&
            results[i].kind != CQ_VAL_TENSOR)
            return fail_results(c, f, "result %zu of %s is %s, expected a tensor", i, f->name,
                                cq_val_kind_name(results[i].kind));
        cq_result_set(c, i, results[i]);
    }
    return CQ_OK;
}

cq_val cq_body_eval(cq_lib_function *f, cq_opcall *c, cq_body_names *value,
                    bool (*needs)(cq_lang *l, const char *key), void *user)
{
    cq_body b = body_for(c);
    cq_val  args[CQ_LANG_MAX_SLOTS];

    b.user       = user;
    b.lang.needs = needs;
    if (cq_ctx_fail(c->cx, cq_library_parse(f)) != CQ_OK)
        return CQ_NONE;
    for (size_t i = 0; i < f->def->n_params; i++) {
        const char *name = f->def->params[i].name;
        int         at;

        if (value(&b, name, &args[i]))
            continue;
        at = find_argument(c->op->schema, name);
        if (at < 0)
            return cq_lang_fail(&b.lang, CQ_E_INTERNAL, "%s has no argument %s for %s",
                                c->op->schema->full, name, f->name);
        args[i] = c->args[at];
    }
    return cq_lang_call(&b.lang, f, args, f->def->n_params);
}
