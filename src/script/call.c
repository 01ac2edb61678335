/* Calls: arguments bound to parameters, functions and methods of the program, classes that are
 * called, and the calls whose arguments are types. Builtins are in builtin.c, operators in
 * resolve.c. */
#include "base/str.h"
#include "script/desugar.h"
#include "script/upgrade.h"

#include <stdio.h>

enum { MAX_ARGS = 256 };

typedef struct arguments {
    cq_val      args[MAX_ARGS], kw[MAX_ARGS];
    const char *names[MAX_ARGS];
    size_t      n, n_kw;
} arguments;

static cq_status eval_arguments(cq_eval *ev, const cq_ast_expr *x, arguments *a)
{
    a->n = a->n_kw = 0;
    for (size_t i = 0; i < x->u.call.n; i++) {
        const cq_ast_arg *arg = &x->u.call.args[i];
        cq_val            v, items;
        bool              known;

        CQ_TRY(cq_eval_expr(ev, arg->value, &v));
        if (a->n + 1 >= MAX_ARGS || a->n_kw + 1 >= MAX_ARGS)
            return cq_eval_fail(ev, x->at, CQ_E_UNSUPPORTED, "a call has more than %d arguments",
                                MAX_ARGS - 1);
        if (arg->stars == 0 && arg->name) {
            a->names[a->n_kw] = arg->name;
            a->kw[a->n_kw++]  = v;
        } else if (arg->stars == 0) {
            a->args[a->n++] = v;
        } else if (arg->stars == 1) {
            CQ_TRY(cq_eval_items(ev, v, &items, &known));
            if (!known || items.u.list->n + a->n >= MAX_ARGS)
                return cq_eval_fail(ev, arg->value->at, CQ_E_UNSUPPORTED,
                                    "the length of an argument list must be known and small");
            for (size_t k = 0; k < items.u.list->n; k++)
                a->args[a->n++] = items.u.list->items[k];
        } else {
            if (v.kind != CQ_VAL_DICT || v.u.dict->n + a->n_kw >= MAX_ARGS)
                return cq_eval_fail(ev, arg->value->at, CQ_E_TYPE, "** wants a dict");
            for (size_t k = 0; k < v.u.dict->n; k++) {
                if (v.u.dict->entries[k].key.kind != CQ_VAL_STR)
                    return cq_eval_fail(ev, arg->value->at, CQ_E_TYPE,
                                        "** wants a dict whose keys are names");
                a->names[a->n_kw] = cq_name(ev->program, v.u.dict->entries[k].key.u.text->text);
                a->kw[a->n_kw++]  = v.u.dict->entries[k].value;
            }
        }
    }
    return CQ_OK;
}

/* "forward(x: Tensor, n: int=…)", and what would do as an example of it. */
static void describe_wanted(const cq_ast_def *def, const cq_source *source, cq_str *s)
{
    size_t      n_tensors = 0;
    bool        others    = false;
    const char *comma     = "";

    cq_str_printf(s, "%.64s(", def->name);
    for (size_t i = 0; i < def->n_params; i++) {
        const cq_ast_param *p    = &def->params[i];
        const char         *type = p->type ? source->text + p->type->at.start : "";
        const size_t        len  = p->type ? p->type->at.end - p->type->at.start : 0;

        if (i == 0 && (strcmp(p->name, "self") == 0 || cq_starts_with(type, "__torch__.")))
            continue;
        cq_str_printf(s, "%s%.64s", comma, p->name);
        comma = ", ";
        if (len)
            cq_str_printf(s, ": %.*s", (int)(len < 64 ? len : 64), type);
        if (p->value)
            cq_str_add(s, "=…");
        else if (!len || cq_starts_with(type, "Tensor"))
            n_tensors++;
        else
            others = true;
    }
    cq_str_add(s, ") wants an example of its arguments, such as");
    for (size_t i = 0; i < n_tensors || i == 0; i++)
        cq_str_add(s, " --input 1x3x224x224");
    if (others)
        cq_str_add(s, "; what is no tensor goes to the args.json of --example");
}

/* A call from outside lacks an example; a call inside the program is wrong by itself. */
static cq_status missing_argument(const cq_eval *ev, const cq_frame *f, const cq_ast_def *def,
                                  const char *name)
{
    cq_str    hint = { 0 };
    cq_status status;

    if (!ev->frame)
        describe_wanted(def, &f->unit->source, &hint);
    status = cq_fail(CQ_E_ARGUMENT, def->name, hint.len ? hint.text : NULL,
                     "argument \"%s\" is missing", name);
    cq_str_clear(&hint);
    return status;
}

/* Binds arguments to the parameters of def in a new frame. n_self of them are the bound object. */
static cq_status bind(cq_eval *ev, cq_frame *f, const cq_ast_def *def, const cq_val *args,
                      size_t n_args, size_t n_self, const char *const *names, const cq_val *kw,
                      size_t n_kw)
{
    size_t next = 0;

    for (size_t i = 0; i < def->n_params; i++) {
        const cq_ast_param *p     = &def->params[i];
        const cq_val       *given = NULL;
        cq_val              v;

        if (p->stars == 1) {
            CQ_TRY(cq_eval_list(ev, args + next, n_args - next, CQ_VAL_TUPLE, &v));
            next  = n_args;
            given = &v;
        } else if (!p->kw_only && next < n_args) {
            given = &args[next++];
        } else {
            for (size_t k = 0; k < n_kw && !given; k++)
                if (strcmp(names[k], p->name) == 0)
                    given = &kw[k];
        }
        if (!given && p->value) {
            cq_frame *outer = ev->frame;
            cq_status status;

            ev->frame = f; /* a default sees the names of its unit */
            status    = cq_eval_expr(ev, p->value, &v);
            ev->frame = outer;
            CQ_TRY(status);
            given = &v;
        }
        if (!given)
            return missing_argument(ev, f, def, p->name);
        if (given != &v)
            v = *given;
        if (p->type && !p->stars) /* no frame: the call comes from outside */
            CQ_TRY(ev->frame ? cq_eval_annotate(ev, p->type, v, &v)
                             : cq_eval_accept(ev, p->type, v, &v));
        CQ_TRY(cq_frame_set(ev, f, p->name, v));
    }
    if (next < n_args)
        return cq_fail(CQ_E_ARGUMENT, def->name, NULL, "takes %zu argument%s but got %zu",
                       def->n_params - n_self, def->n_params - n_self == 1 ? "" : "s",
                       n_args - n_self);
    for (size_t k = 0; k < n_kw; k++) {
        bool known = false;

        for (size_t i = 0; i < def->n_params; i++)
            known |= strcmp(def->params[i].name, names[k]) == 0;
        if (!known)
            return cq_fail(CQ_E_ARGUMENT, def->name, NULL, "has no argument \"%s\"", names[k]);
    }
    return CQ_OK;
}

/* forward, or the forward1, forward2, … that a trace has for further calls of a module. */
static bool is_forward(const char *name)
{
    return strncmp(name, "forward", 7) == 0 && strspn(name + 7, "0123456789") == strlen(name + 7);
}

/* The scope of a method of a module: its path is the attribute path it was reached by. */
static cq_status call_function(cq_eval *ev, cq_thing *fn, const cq_val *args, size_t n_args,
                               const char *const *names, const cq_val *kw, size_t n_kw, cq_val *out)
{
    cq_frame *outer = ev->frame, *f;
    cq_val    with_self[MAX_ARGS + 1];
    size_t    mark   = cq_ctx_mark(ev->cx);
    cq_status status = CQ_OK;
    cq_scope  scope  = { 0 };
    cq_thing *self   = cq_thing_as(fn->self, CQ_THING_OBJECT);
    bool      scoped = self && self->text && is_forward(fn->def->name);

    if (ev->depth >= CQ_EVAL_MAX_DEPTH)
        return cq_fail(CQ_E_UNSUPPORTED, fn->def->name, NULL,
                       "functions call each other more than %d deep", CQ_EVAL_MAX_DEPTH);
    if (fn->self.kind != CQ_VAL_NONE) {
        if (n_args >= MAX_ARGS)
            return cq_fail(CQ_E_UNSUPPORTED, fn->def->name, NULL, "too many arguments");
        with_self[0] = fn->self;
        if (n_args)
            memcpy(with_self + 1, args, n_args * sizeof *args);
        args = with_self;
        n_args++;
    }
    CQ_TRY(cq_frame_new(&f, fn));
    *out = CQ_NONE;
    if (scoped)
        status = cq_eval_enter(ev, &scope, self, with_self + 1, n_args - 1);
    ev->depth++;
    if (status == CQ_OK)
        status = bind(ev, f, fn->def, args, n_args, fn->self.kind != CQ_VAL_NONE, names, kw, n_kw);
    if (status == CQ_OK) {
        cq_val *result;

        ev->frame = f;
        status    = cq_eval_block(ev, &fn->def->body);
        ev->frame = outer;
        result    = cq_frame_own(f, cq_name(ev->program, CQ_RESULT));
        if (status == CQ_OK && result)
            *out = *result;
    }
    if (scoped) {
        cq_status left = cq_eval_leave(ev, &scope, out);

        status = status == CQ_OK ? left : status;
    }
    cq_ctx_pop(ev->cx, mark, out, 1);
    cq_frame_end(ev, f);
    ev->depth--;
    return status;
}

/* Cls(…): an object with its __init__ run, a named tuple, an enum member of a value. */
static cq_status instantiate(cq_eval *ev, cq_thing *cls, const cq_val *args, size_t n_args,
                             const char *const *names, const cq_val *kw, size_t n_kw, cq_val *out)
{
    cq_ast_def *init = cq_ast_class_method(cls->cls, cq_name(ev->program, "__init__"));
    cq_thing   *t, bound = { .kind = CQ_THING_FUNCTION };
    cq_val      ignored;

    if (cls->cls->kind == CQ_CLASS_NAMED_TUPLE) {
        CQ_TRY(cq_thing_new(&t, CQ_THING_NAMED));
        *out   = cq_ctx_own(ev->cx, cq_val_of_thing(t));
        t->cls = cls->cls;
        CQ_TRY(cq_list_new(&t->self.u.list, cls->cls->n_fields));
        t->self.kind = CQ_VAL_TUPLE;
        for (size_t i = 0; i < cls->cls->n_fields; i++) {
            cq_val v = i < n_args ? args[i] : CQ_NONE;

            for (size_t k = 0; k < n_kw; k++)
                if (strcmp(names[k], cls->cls->fields[i].name) == 0)
                    v = kw[k];
            if (i >= n_args && v.kind == CQ_VAL_NONE && cls->cls->fields[i].value)
                CQ_TRY(cq_eval_expr(ev, cls->cls->fields[i].value, &v));
            t->self.u.list->items[i] = cq_val_retain(v);
        }
        return ev->cx->status;
    }
    CQ_TRY(cq_thing_new(&t, CQ_THING_OBJECT));
    *out         = cq_ctx_own(ev->cx, cq_val_of_thing(t));
    t->cls       = cls->cls;
    t->unit      = cls->unit;
    t->qualified = cls->qualified;
    CQ_TRY(ev->cx->status);
    if (!init)
        return CQ_OK;
    bound.unit = cls->unit;
    bound.def  = init;
    bound.self = *out;
    return call_function(ev, &bound, args, n_args, names, kw, n_kw, &ignored);
}

cq_status cq_eval_call(cq_eval *ev, cq_val function, const cq_val *args, size_t n_args,
                       const char *const *names, const cq_val *kw, size_t n_kw, cq_val *out)
{
    cq_thing *t = cq_thing_of(function);
    bool      found;

    CQ_TRY(cq_eval_step(ev));
    if (!t)
        return cq_fail(CQ_E_TYPE, NULL, NULL, "%s cannot be called", cq_eval_type_name(function));
    switch (t->kind) {
    case CQ_THING_FUNCTION: return call_function(ev, t, args, n_args, names, kw, n_kw, out);
    case CQ_THING_NATIVE: return t->native(ev, t->native_user, args, n_args, out);
    case CQ_THING_CLASS: return instantiate(ev, t, args, n_args, names, kw, n_kw, out);
    case CQ_THING_BUILTIN:
        CQ_TRY(cq_eval_builtin(ev, t->text, args, n_args, names, kw, n_kw, out, &found));
        return found ? CQ_OK : cq_eval_versioned(ev, t->text, args, n_args, names, kw, n_kw, out);
    case CQ_THING_METHOD: {
        cq_val with_self[MAX_ARGS + 1];

        if (n_args >= MAX_ARGS)
            return cq_fail(CQ_E_UNSUPPORTED, t->text, NULL, "too many arguments");
        with_self[0] = t->self;
        if (n_args)
            memcpy(with_self + 1, args, n_args * sizeof *args);
        CQ_TRY(cq_eval_builtin(ev, t->text, with_self, n_args + 1, names, kw, n_kw, out, &found));
        return found ? CQ_OK
                     : cq_eval_versioned(ev, t->text, with_self, n_args + 1, names, kw, n_kw, out);
    }
    case CQ_THING_OBJECT: { /* a module that is called like a function; or __call__ */
        cq_val method;

        CQ_TRY(cq_eval_attribute(
            ev, function,
            cq_name(ev->program,
                    t->cls && cq_ast_class_method(t->cls, cq_name(ev->program, "__call__"))
                        ? "__call__"
                        : "forward"),
            &method));
        return cq_eval_call(ev, method, args, n_args, names, kw, n_kw, out);
    }
    default:
        return cq_fail(CQ_E_TYPE, NULL, NULL, "%s cannot be called", cq_eval_type_name(function));
    }
}

static bool is_builtin(cq_val f, const char *name)
{
    cq_thing *t = cq_thing_as(f, CQ_THING_BUILTIN);

    return t && strcmp(t->text, name) == 0;
}

static bool is_syntax(const cq_ast_expr *f, const char *name)
{
    return f->kind == CQ_X_NAME && strcmp(f->u.name, name) == 0;
}

/* Of a value that may be None, the answer may be whether it is there. */
static cq_status eval_is_instance(cq_eval *ev, cq_val v, const cq_ast_expr *type, cq_val *out)
{
    cq_thing *t = cq_thing_as(v, CQ_THING_OPTIONAL);
    cq_val    has;
    bool      is, none, found;

    CQ_TRY(cq_eval_is_instance(ev, t ? t->self : v, type, &is));
    *out = cq_val_of_bool(is);
    if (!t)
        return CQ_OK;
    CQ_TRY(cq_eval_is_instance(ev, CQ_NONE, type, &none));
    if (is == none)
        return CQ_OK;
    has = (cq_val){ .kind = CQ_VAL_BOOL, .u.b = { true, t->has } };
    if (none)
        return cq_eval_builtin(ev, "aten::__not__", &has, 1, NULL, NULL, 0, out, &found);
    *out = has;
    return CQ_OK;
}

/* Calls whose arguments are types rather than values. */
static cq_status eval_type_call(cq_eval *ev, const cq_ast_expr *x, cq_val *out, bool *done)
{
    const cq_ast_expr *f = x->u.call.function;
    const cq_ast_arg  *a = x->u.call.args;
    cq_val             v;

    *done = true;
    if (x->u.call.n == 2 && (is_syntax(f, "annotate") || is_syntax(f, "unchecked_cast") ||
                             (f->kind == CQ_X_ATTR && strcmp(f->u.attr.name, "annotate") == 0))) {
        CQ_TRY(cq_eval_expr(ev, a[1].value, &v));
        return cq_eval_annotate(ev, a[0].value, v, out);
    }
    if (x->u.call.n == 1 && is_syntax(f, "uninitialized"))
        return cq_eval_new_thing(ev, CQ_THING_UNDEFINED, CQ_UNINITIALIZED, out);
    if (x->u.call.n == 2 && (is_syntax(f, "isinstance") ||
                             (f->kind == CQ_X_ATTR && strcmp(f->u.attr.name, "isinstance") == 0))) {
        CQ_TRY(cq_eval_expr(ev, a[0].value, &v));
        return eval_is_instance(ev, v, a[1].value, out);
    }
    *done = false;
    return CQ_OK;
}

cq_status cq_eval_call_expr(cq_eval *ev, const cq_ast_expr *x, cq_val *out)
{
    arguments *a;
    cq_val     f;
    bool       done;
    cq_status  status;

    CQ_TRY(eval_type_call(ev, x, out, &done));
    if (done)
        return CQ_OK;
    CQ_TRY(cq_eval_expr(ev, x->u.call.function, &f));
    a = cq_alloc(sizeof *a);
    if (!a)
        return CQ_E_NO_MEMORY;
    status = eval_arguments(ev, x, a);
    if (status == CQ_OK && (is_builtin(f, "fork") || is_builtin(f, "aten::fork")) &&
        a->n) /* runs in line */
        status = cq_eval_call(ev, a->args[0], a->args + 1, a->n - 1, a->names, a->kw, a->n_kw, out);
    else if (status == CQ_OK)
        status = cq_eval_call(ev, f, a->args, a->n, a->names, a->kw, a->n_kw, out);
    cq_free(a);
    return status;
}
