/* Linking a function of the library before its first call: local variables get slots, calls get
 * their targets, constants of the host become literals. */
#include "lang/eval.h"
#include "base/lock.h"
#include "base/str.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct linker {
    cq_lib_function    *f;
    cq_unit            *unit;
    const cq_lang_host *host;
    cq_status           status;
    const char         *names[CQ_LANG_MAX_SLOTS]; /* by slot; NULL: out of scope */
    size_t              n_slots;
} linker;

static void fail(linker *k, cq_span at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void fail(linker *k, cq_span at, const char *format, ...)
{
    char    message[256];
    va_list args;

    if (k->status != CQ_OK)
        return;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    k->status = cq_source_fail(&k->unit->source, at,
                               cq_library_is_users(k->f->file) ? CQ_E_SYNTAX : CQ_E_INTERNAL, NULL,
                               "%s", message);
}

/* ---- variables ---- */

/* The innermost one of that name, from 1 on; 0: it is not local. */
static uint32_t slot_of(const linker *k, const char *name)
{
    for (size_t i = k->n_slots; i-- > 0;)
        if (k->names[i] && strcmp(k->names[i], name) == 0)
            return (uint32_t)i + 1;
    return 0;
}

static void add_slot(linker *k, const char *name, cq_span at)
{
    if (k->n_slots == CQ_LANG_MAX_SLOTS)
        fail(k, at, "the function has too many variables");
    else
        k->names[k->n_slots++] = name;
}

static void declare(linker *k, const cq_ast_expr *target)
{
    switch (target->kind) {
    case CQ_X_NAME:
        if (!slot_of(k, target->u.name))
            add_slot(k, target->u.name, target->at);
        break;
    case CQ_X_TUPLE:
    case CQ_X_LIST:
        for (size_t i = 0; i < target->u.items.n; i++)
            declare(k, target->u.items.items[i]);
        break;
    default:
        fail(k, target->at,
             "expected a variable or several on the left of =; elements cannot be assigned");
    }
}

static void declare_block(linker *k, const cq_ast_block *b)
{
    for (size_t i = 0; i < b->n; i++) {
        const cq_ast_stmt *s = b->items[i];

        switch (s->kind) {
        case CQ_S_ASSIGN:
            for (size_t t = 0; t < s->u.assign.targets.n; t++)
                declare(k, s->u.assign.targets.items[t]);
            break;
        case CQ_S_FOR: declare(k, s->u.loop.target); /* fall through */
        case CQ_S_WHILE: declare_block(k, &s->u.loop.body); break;
        case CQ_S_IF:
            declare_block(k, &s->u.branch.then);
            declare_block(k, &s->u.branch.other);
            break;
        default: break;
        }
    }
}

/* ---- calls ---- */

/* "torch.ops.aten.add" of names that end in an import; false: the expression is a value. */
static bool dotted_name(linker *k, const cq_ast_expr *x, cq_str *out)
{
    const char *import;

    if (x->kind == CQ_X_ATTR) {
        if (!dotted_name(k, x->u.attr.object, out))
            return false;
        cq_str_printf(out, ".%s", x->u.attr.name);
        return true;
    }
    if (x->kind != CQ_X_NAME || slot_of(k, x->u.name))
        return false;
    import = cq_library_import(k->f->file, x->u.name);
    cq_str_add(out, import ? import : x->u.name);
    return true;
}

/* The parameter of each argument; false: the function does not take them. */
static bool match_params(const cq_ast_def *def, const char *const *keywords, size_t n, uint8_t *out)
{
    uint64_t given = 0;

    for (size_t i = 0; i < n; i++) {
        size_t p = i;

        if (keywords[i])
            for (p = 0; p < def->n_params && strcmp(def->params[p].name, keywords[i]) != 0;)
                p++;
        if (p >= def->n_params || p >= 64 || (given >> p & 1) ||
            (!keywords[i] && def->params[p].kw_only))
            return false;
        given |= (uint64_t)1 << p;
        out[i] = (uint8_t)p;
    }
    for (size_t p = 0; p < def->n_params; p++)
        if (!(given >> p & 1) && !def->params[p].value)
            return false;
    return true;
}

static const cq_builtin_function *find_builtin(const char *name, size_t n)
{
    for (const cq_builtin_function *b = cq_builtin_functions; b->name; b++)
        if (strcmp(b->name, name) == 0 && n >= b->min && n <= b->max)
            return b;
    return NULL;
}

static void link_function(linker *k, cq_lang_target *t, const char *const *keywords, size_t n,
                          cq_span at)
{
    uint8_t *params = cq_arena_array(k->unit->arena, n + 1, 1);

    if (!params)
        k->status = CQ_E_NO_MEMORY;
    if (k->status == CQ_OK && !t->function->unit)
        k->status = cq_library_parse(t->function);
    if (k->status == CQ_OK && !match_params(t->function->def, keywords, n, params))
        fail(k, at, "%s does not take these arguments", t->function->name);
    t->params = params;
}

static void fail_call(linker *k, const char *name, cq_span at)
{
    char hint[512] = "";
    bool is_known  = k->host->explain && k->host->explain(name, hint, sizeof hint);

    for (const cq_builtin_function *b = cq_builtin_functions; b->name && !is_known; b++)
        is_known = strcmp(b->name, name) == 0;
    fail(k, at, is_known ? "%s does not accept these arguments" : "unknown function %s",
         name[0] == '.' ? name + 1 : name);
    if (*hint)
        cq_error_add_hint(k->status, "%s", hint);
}

/* A call of a function of the library, "" for none, else of a builtin or of the host's name. */
static cq_lang_target *link_call(linker *k, const char *plain, const char *name,
                                 const char *const *keywords, size_t n, cq_span at)
{
    cq_lang_target *t = cq_arena_zalloc(k->unit->arena, sizeof *t);

    if (!t) {
        k->status = CQ_E_NO_MEMORY;
        return NULL;
    }
    t->function = *plain ? cq_library_find(k->f->file, plain) : NULL;
    if (t->function) {
        link_function(k, t, keywords, n, at);
        return t;
    }
    t->builtin = find_builtin(name, n);
    /* A plain name that is not imported is Python's. */
    if (!*plain || strcmp(plain, name) != 0 || (k->host->has_plain_names && !t->builtin))
        k->status = k->host->link(&t->host, k->unit->arena, name, keywords, n);
    if (k->status != CQ_OK)
        return t;
    if (!t->builtin && !t->host && k->host->function && (t->function = k->host->function(name)))
        link_function(k, t, keywords, n, at);
    if (!t->builtin && !t->host && !t->function)
        fail_call(k, name, at);
    return t;
}

static void link_expr(linker *k, cq_ast_expr *x);

static void link_arguments(linker *k, cq_ast_expr *x, const char **keywords, size_t *n)
{
    for (size_t i = 0; i < x->u.call.n && k->status == CQ_OK; i++) {
        if (x->u.call.args[i].stars || *n == CQ_LANG_MAX_ITEMS) {
            fail(k, x->at, "starred arguments are not supported in this file");
            return;
        }
        keywords[(*n)++] = x->u.call.args[i].name;
        link_expr(k, x->u.call.args[i].value);
    }
}

static void link_call_expr(linker *k, cq_ast_expr *x)
{
    cq_ast_expr    *callee                      = x->u.call.function;
    const char     *keywords[CQ_LANG_MAX_ITEMS] = { NULL };
    cq_str          name                        = { 0 };
    size_t          n                           = 0;
    cq_lang_target *t                           = NULL;

    if (dotted_name(k, callee, &name)) {
        if (k->status == CQ_OK)
            k->status = name.status; /* else a shorter name would be looked up */
        link_arguments(k, x, keywords, &n);
        if (k->status == CQ_OK)
            t = link_call(k, callee->kind == CQ_X_NAME ? callee->u.name : "", cq_str_text(&name),
                          keywords, n, callee->at);
    } else if (callee->kind == CQ_X_ATTR) { /* x.sum(1): the object is the first argument */
        cq_ast_expr *object = callee->u.attr.object;

        link_expr(k, object);
        n = 1;
        link_arguments(k, x, keywords, &n);
        if (k->status == CQ_OK)
            t = link_call(k, "", callee->u.attr.name, keywords, n, callee->at);
        if (t)
            t->is_method = true;
    } else {
        fail(k, callee->at, "the library calls functions by their names only");
    }
    x->u.call.target = t;
    cq_str_clear(&name);
}

/* The types of Python, for isinstance: the number of their kind. */
static bool type_constant(const char *name, cq_val *out)
{
    static const struct {
        const char *name;
        cq_val_kind kind;
    } types[] = { { "int", CQ_VAL_INT },        { "float", CQ_VAL_FLOAT },
                  { "bool", CQ_VAL_BOOL },      { "str", CQ_VAL_STR },
                  { "list", CQ_VAL_LIST },      { "tuple", CQ_VAL_TUPLE },
                  { "complex", CQ_VAL_COMPLEX } };

    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].name, name) == 0) {
            *out = cq_val_of_i64(types[i].kind);
            return true;
        }
    return false;
}

static bool math_constant(const char *name, cq_val *out)
{
    double f = strcmp(name, "math.pi") == 0    ? 3.14159265358979323846
               : strcmp(name, "math.e") == 0   ? 2.71828182845904523536
               : strcmp(name, "math.inf") == 0 ? INFINITY
                                               : (double)NAN;

    *out = cq_val_of_f64(f);
    return f == f || strcmp(name, "math.nan") == 0;
}

/* A table of the host, as in cast_pytorch_to_onnx["Float"]: a function without parameters, called
 * by its name. */
static bool link_table(linker *k, cq_ast_expr *x, const char *name)
{
    cq_lib_function *f = k->host->function ? k->host->function(name) : NULL;
    cq_ast_expr     *callee;
    cq_lang_target  *t;

    if (f && (k->status = cq_library_parse(f)) != CQ_OK)
        return true;
    if (!f || f->def->n_params)
        return false;
    callee = cq_arena_copy(k->unit->arena, x, sizeof *x);
    t      = cq_arena_zalloc(k->unit->arena, sizeof *t);
    if (!callee || !t) {
        k->status = CQ_E_NO_MEMORY;
        return true;
    }
    t->function        = f;
    x->kind            = CQ_X_CALL;
    x->u.call.function = callee;
    x->u.call.args     = NULL;
    x->u.call.n        = 0;
    x->u.call.target   = t;
    return true;
}

/* A name that is not local and not called: a constant of the host, or of Python. */
static void link_constant(linker *k, cq_ast_expr *x, const char *name)
{
    cq_val v;

    if (k->status != CQ_OK)
        return;
    if (!type_constant(name, &v) && !math_constant(name, &v) && !k->host->constant(name, &v)) {
        if (link_table(k, x, name))
            return;
        fail(k, x->at, "%s is not defined", name);
        return;
    }
    x->kind = v.kind == CQ_VAL_FLOAT ? CQ_X_FLOAT : CQ_X_INT;
    if (v.kind == CQ_VAL_FLOAT)
        x->u.f = v.u.f.value;
    else
        x->u.i = v.u.i.value;
}

static void link_attr(linker *k, cq_ast_expr *x)
{
    const char *none[1] = { NULL };
    cq_str      name    = { 0 };

    if (dotted_name(k, x, &name)) {
        if (name.status == CQ_OK)
            link_constant(k, x, cq_str_text(&name));
    } else {
        link_expr(k, x->u.attr.object);
        cq_str_clear(&name);
        cq_str_printf(&name, ".%s", x->u.attr.name);
        if (k->status == CQ_OK && name.status == CQ_OK)
            x->u.attr.target = link_call(k, "", cq_str_text(&name), none, 1, x->at);
    }
    if (name.status != CQ_OK && k->status == CQ_OK)
        k->status = name.status;
    cq_str_clear(&name);
}

/* ---- expressions ---- */

static void link_items(linker *k, const cq_ast_exprs *items)
{
    if (items->n > CQ_LANG_MAX_ITEMS && items->n)
        fail(k, items->items[0]->at, "a list of the library has too many items");
    for (size_t i = 0; i < items->n && k->status == CQ_OK; i++)
        link_expr(k, items->items[i]);
}

/* Its variables are its own: they end with it. */
static void link_comp(linker *k, cq_ast_expr *x)
{
    const size_t outer = k->n_slots;

    for (size_t i = 0; i < x->u.comp.n; i++) {
        link_expr(k, x->u.comp.loops[i].iter);
        if (x->u.comp.loops[i].target->kind == CQ_X_NAME)
            add_slot(k, x->u.comp.loops[i].target->u.name, x->at);
        else
            fail(k, x->at, "a comprehension of the library has one variable");
        if (k->status != CQ_OK)
            return;
        link_expr(k, x->u.comp.loops[i].target);
        for (size_t t = 0; t < x->u.comp.loops[i].tests.n; t++)
            link_expr(k, x->u.comp.loops[i].tests.items[t]);
    }
    link_expr(k, x->u.comp.value);
    for (size_t i = outer; i < k->n_slots; i++)
        k->names[i] = NULL; /* the slot stays: another comprehension may be around this one */
}

static void link_text(linker *k, cq_ast_expr *x)
{
    cq_text *t = cq_arena_zalloc(k->unit->arena, sizeof *t + x->u.str.len + 1);

    if (!t) {
        k->status = CQ_E_NO_MEMORY;
        return;
    }
    t->refs = 1; /* the unit's own */
    t->len  = x->u.str.len;
    memcpy(t->text, x->u.str.text, t->len);
    x->u.str.value = t;
}

static void link_expr(linker *k, cq_ast_expr *x)
{
    if (!x || k->status != CQ_OK)
        return;
    switch (x->kind) {
    case CQ_X_NONE:
    case CQ_X_TRUE:
    case CQ_X_FALSE:
    case CQ_X_INT:
    case CQ_X_FLOAT: return;
    case CQ_X_STR: link_text(k, x); return;
    case CQ_X_NAME: {
        const char *import = cq_library_import(k->f->file, x->u.name);

        x->u.variable.slot = slot_of(k, x->u.name);
        if (!x->u.variable.slot)
            link_constant(k, x, import ? import : x->u.name);
        return;
    }
    case CQ_X_ATTR: link_attr(k, x); return;
    case CQ_X_CALL: link_call_expr(k, x); return;
    case CQ_X_INDEX:
        link_expr(k, x->u.index.object);
        link_expr(k, x->u.index.index);
        return;
    case CQ_X_SLICE:
        link_expr(k, x->u.slice.start);
        link_expr(k, x->u.slice.stop);
        if (x->u.slice.step)
            fail(k, x->at, "slices of the library have no step");
        return;
    case CQ_X_UNARY: link_expr(k, x->u.unary.operand); return;
    case CQ_X_BINARY:
    case CQ_X_AND:
    case CQ_X_OR:
        link_expr(k, x->u.binary.left);
        link_expr(k, x->u.binary.right);
        return;
    case CQ_X_COMPARE:
        for (size_t i = 0; i <= x->u.compare.n; i++)
            link_expr(k, x->u.compare.items[i]);
        return;
    case CQ_X_IF_ELSE:
        link_expr(k, x->u.choice.test);
        link_expr(k, x->u.choice.then);
        link_expr(k, x->u.choice.other);
        return;
    case CQ_X_FSTR:
    case CQ_X_LIST:
    case CQ_X_TUPLE: link_items(k, &x->u.items); return;
    case CQ_X_DICT:
        for (size_t i = 0; i < x->u.dict.n; i++) {
            link_expr(k, x->u.dict.keys[i]);
            link_expr(k, x->u.dict.values[i]);
        }
        return;
    case CQ_X_LIST_COMP: link_comp(k, x); return;
    case CQ_X_LAMBDA:
        if (x->u.lambda->n_params)
            fail(k, x->at, "a lambda of the library has no parameters");
        link_expr(k, x->u.lambda->value);
        return;
    case CQ_X_FIELD:
        if (x->u.field.spec || x->u.field.conversion)
            fail(k, x->at, "fields of the library's texts have no format");
        link_expr(k, x->u.field.value);
        return;
    default: fail(k, x->at, "this expression is not supported in the library");
    }
}

/* ---- statements ---- */

static void link_block(linker *k, const cq_ast_block *b);

/* raise Error("message"): the class stays a name. */
static void link_raise(linker *k, cq_ast_stmt *s)
{
    cq_ast_expr *x = s->u.raise.value;

    if (!x || x->kind != CQ_X_CALL || x->u.call.function->kind != CQ_X_NAME || x->u.call.n != 1)
        fail(k, s->at, "the library raises an exception with one message");
    else
        link_expr(k, x->u.call.args[0].value);
}

static void link_stmt(linker *k, cq_ast_stmt *s)
{
    switch (s->kind) {
    case CQ_S_EXPR:
    case CQ_S_RETURN: link_expr(k, s->u.value); break;
    case CQ_S_ASSIGN:
        link_expr(k, s->u.assign.value);
        link_items(k, &s->u.assign.targets);
        break;
    case CQ_S_AUGMENT:
        link_expr(k, s->u.augment.target);
        link_expr(k, s->u.augment.value);
        break;
    case CQ_S_IF:
        link_expr(k, s->u.branch.test);
        link_block(k, &s->u.branch.then);
        link_block(k, &s->u.branch.other);
        break;
    case CQ_S_WHILE:
    case CQ_S_FOR:
        link_expr(k, s->u.loop.test);
        link_expr(k, s->u.loop.target);
        link_block(k, &s->u.loop.body);
        break;
    case CQ_S_RAISE: link_raise(k, s); break;
    case CQ_S_ASSERT:
        link_expr(k, s->u.assertion.test);
        link_expr(k, s->u.assertion.message);
        break;
    case CQ_S_PASS:
    case CQ_S_BREAK:
    case CQ_S_CONTINUE: break;
    default: fail(k, s->at, "this statement is not supported in the library");
    }
}

static void link_block(linker *k, const cq_ast_block *b)
{
    for (size_t i = 0; i < b->n && k->status == CQ_OK; i++)
        link_stmt(k, b->items[i]);
}

static cq_status link_whole(cq_lib_function *f, const cq_lang_host *host)
{
    linker k = { .f = f, .unit = f->unit, .host = host };

    for (size_t i = 0; i < f->def->n_params; i++) {
        add_slot(&k, f->def->params[i].name, f->def->params[i].at);
        link_expr(&k, f->def->params[i].value);
    }
    declare_block(&k, &f->def->body);
    link_block(&k, &f->def->body);
    f->n_slots = k.n_slots;
    return k.status;
}

cq_status cq_lang_link(cq_lib_function *f, const cq_lang_host *host)
{
    static cq_mutex lock   = CQ_MUTEX_INIT;
    cq_status       status = CQ_OK;

    if (atomic_load_explicit(&f->is_linked, memory_order_acquire))
        return CQ_OK;
    CQ_TRY(cq_library_parse(f));
    CQ_TRY(cq_library_parse_imports(f->file));
    cq_mutex_lock(&lock);
    if (!atomic_load_explicit(&f->is_linked, memory_order_relaxed)) {
        status = link_whole(f, host);
        if (status == CQ_OK)
            atomic_store_explicit(&f->is_linked, true, memory_order_release);
    }
    cq_mutex_unlock(&lock);
    return status;
}

cq_status cq_lang_check_library(bool (*is_of_host)(const cq_lib_file *file), bool only_changed,
                                const cq_lang_host *host)
{
    const cq_lib_file *last = NULL;
    cq_lib_function   *f;

    for (size_t i = 0; (f = cq_library_at(i)); i++) {
        if (!is_of_host(f->file) || (only_changed && !cq_library_is_changed(f->file)))
            continue;
        if (f->file != last)
            CQ_TRY(cq_library_check_declarations(f->file));
        last = f->file;
        if (!cq_lib_function_decorator(f, "rewrite")) /* patterns are matched, not run */
            CQ_TRY(cq_lang_link(f, host));
    }
    return CQ_OK;
}
