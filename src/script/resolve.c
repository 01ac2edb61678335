/* The table of resolvers of calls, tried in order, and entry points for calls from C. Other files
 * implement the resolvers. */
#include "script/python/python.h"

/* ---- helpers ---- */

const cq_val *cq_fncall_find(const cq_fncall *c, size_t i, const char *name)
{
    if (i < c->n)
        return &c->args[i];
    for (size_t k = 0; k < c->n_kw; k++)
        if (strcmp(c->names[k], name) == 0)
            return &c->kw[k];
    return NULL;
}

cq_val cq_fncall_arg(const cq_fncall *c, size_t i, const char *name)
{
    const cq_val *v = cq_fncall_find(c, i, name);

    return v ? *v : CQ_NONE;
}

cq_status cq_fncall_set_args(cq_fncall *c, const cq_val *args, size_t n)
{
    cq_val list;

    CQ_TRY(cq_eval_list(c->ev, args, n, CQ_VAL_LIST, &list));
    c->args = list.u.list->items;
    c->n    = n;
    return CQ_OK;
}

/* Inserts self, the object of a method, as the first argument. */
static cq_status prepend(cq_fncall *c, cq_val self)
{
    cq_val list;

    CQ_TRY(cq_eval_list(c->ev, &self, 1, CQ_VAL_LIST, &list));
    for (size_t i = 0; i < c->n; i++)
        CQ_TRY(cq_list_push(list.u.list, c->args[i]));
    c->args = list.u.list->items;
    c->n    = list.u.list->n;
    return CQ_OK;
}

/* Whether v is an OPTIONAL, a dtype, or an instance of a class that extends a builtin type:
 * builtins and operators use the wrapped value. */
static bool is_wrapped(cq_val v)
{
    const cq_object *t = v.kind == CQ_VAL_OBJECT ? cq_object_of(v) : NULL;

    return t && (t->kind == CQ_OBJECT_OPTIONAL || t->kind == CQ_OBJECT_DTYPE ||
                 (t->kind == CQ_OBJECT_INSTANCE && t->type && t->self.kind != CQ_VAL_NONE));
}

static cq_val unwrapped(cq_val v)
{
    return is_wrapped(v) ? cq_object_of(v)->self : v;
}

/* Whether the call stores its last argument in a list or dict of Python source, which keeps the
 * instance itself. */
static bool stores_last(const cq_fncall *c)
{
    static const char *const names[] = { "aten::append", "aten::_set_item", "aten::__setitem__",
                                         "aten::insert", "aten::setdefault" };
    const cq_val             self    = c->n > 1 ? unwrapped(c->args[0]) : CQ_NONE;

    return c->ev->program->python && c->name && CQ_IS_AMONG(c->name, names) &&
           (self.kind == CQ_VAL_LIST || self.kind == CQ_VAL_DICT) &&
           (cq_object_as(c->args[c->n - 1], CQ_OBJECT_INSTANCE) ||
            cq_object_as(c->args[c->n - 1], CQ_OBJECT_DTYPE));
}

/* Whether the call prints its last argument: print and "%s" % x show the object itself. */
static bool shows_last(const cq_fncall *c)
{
    return c->ev->program->python && c->name &&
           (strcmp(c->name, "print") == 0 ||
            (c->n == 2 && c->args[0].kind == CQ_VAL_STR &&
             cq_object_as(c->args[1], CQ_OBJECT_DTYPE) && strstr(c->name, "remainder")));
}

cq_status cq_fncall_unwrap(cq_fncall *c)
{
    const size_t kept = stores_last(c) ? c->n - 1 : c->n;
    cq_val       list;
    size_t       i = 0;

    if (shows_last(c))
        return CQ_OK;
    while (i < kept && !is_wrapped(c->args[i]))
        i++;
    if (i < kept) {
        CQ_TRY(cq_eval_list(c->ev, NULL, 0, CQ_VAL_LIST, &list));
        for (i = 0; i < c->n; i++)
            CQ_TRY(cq_list_push(list.u.list, i < kept ? unwrapped(c->args[i]) : c->args[i]));
        c->args = list.u.list->items;
    }
    i = 0;
    while (i < c->n_kw && !is_wrapped(c->kw[i]))
        i++;
    if (i < c->n_kw && c->ev->program->python) {
        CQ_TRY(cq_eval_list(c->ev, NULL, 0, CQ_VAL_LIST, &list));
        for (i = 0; i < c->n_kw; i++)
            CQ_TRY(cq_list_push(list.u.list, unwrapped(c->kw[i])));
        c->kw = list.u.list->items;
    }
    return CQ_OK;
}

/* ---- resolvers that rewrite the call ---- */

static cq_status count_step(cq_fncall *c)
{
    CQ_TRY(cq_eval_step(c->ev));
    return cq_fncall_decline(c);
}

/* fork(f, …) is executed synchronously, as f(…). */
static cq_status resolve_fork(cq_fncall *c)
{
    const cq_object *t = cq_object_as(c->callee, CQ_OBJECT_BUILTIN);

    if (t && c->n && (strcmp(t->text, "fork") == 0 || strcmp(t->text, "aten::fork") == 0)) {
        c->callee = *c->args++;
        c->n--;
    }
    return cq_fncall_decline(c);
}

/* Calls the __call__ of a class with the object as first argument. */
static cq_status call_with_self(cq_fncall *c, cq_val self)
{
    if (cq_object_as(c->callee, CQ_OBJECT_INSTANCE)) /* __call__ is an object itself */
        return cq_fncall_run(c, CQ_CALL_ANY);
    CQ_TRY(prepend(c, self));
    return cq_fncall_decline(c);
}

/* Calls an instance: a module, or an object of a class with __call__. */
static cq_status resolve_instance(cq_fncall *c)
{
    cq_program *p = c->ev->program;
    cq_object  *t = cq_object_as(c->callee, CQ_OBJECT_INSTANCE);
    const char *call;
    cq_object  *lazy = cq_object_as(c->callee, CQ_OBJECT_LAZY);

    if (lazy) {
        CQ_TRY(cq_lazy_resolve(c->ev, c->callee, &c->callee));
        t = cq_object_as(c->callee, CQ_OBJECT_INSTANCE);
    }
    if (t && t->type) {
        if (!cq_python_has_special(c->ev, c->callee, "__call__"))
            return cq_python_raise(c->ev, "TypeError", "'%s' object is not callable",
                                   cq_eval_type_name(c->callee));
        CQ_TRY(cq_eval_attribute(c->ev, cq_val_of_object(t->type), cq_name(p, "__call__"),
                                 &c->callee));
        return call_with_self(c, cq_val_of_object(t));
    }
    if (t) {
        call = cq_name(p, "__call__");
        if (!t->cls || !cq_ast_class_method(t->cls, call))
            call = cq_name(p, "forward");
        CQ_TRY(cq_eval_attribute(c->ev, c->callee, call, &c->callee));
    }
    return cq_fncall_decline(c);
}

/* Calls a function in C, with positional arguments. */
static cq_status resolve_native(cq_fncall *c)
{
    const cq_object *t = cq_object_as(c->callee, CQ_OBJECT_NATIVE);

    /* a @staticmethod that is called inside the body of its class */
    if (cq_object_as(c->callee, CQ_OBJECT_STATIC) ||
        cq_object_as(c->callee, CQ_OBJECT_CLASSMETHOD)) {
        c->callee = cq_object_of(c->callee)->self;
        return cq_fncall_run(c, CQ_CALL_ANY);
    }
    return t ? t->native(c->ev, t->native_user, c->args, c->n, &c->result) : cq_fncall_decline(c);
}

/* The remaining callees are known by name. torch.random is both a namespace and an operator. */
static cq_status resolve_name(cq_fncall *c)
{
    const cq_object *t = cq_object_of(c->callee);

    if (t && t->kind == CQ_OBJECT_NAMESPACE && strcmp(t->text, "torch.random") == 0)
        c->name = "aten::random";
    if (!c->name && (!t || (t->kind != CQ_OBJECT_BUILTIN && t->kind != CQ_OBJECT_METHOD)))
        return t && t->kind == CQ_OBJECT_NAMESPACE
                   ? cq_python_add_missing(
                         c->ev, t->text,
                         cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "%s is not implemented", t->text))
                   : cq_fail(CQ_E_TYPE, NULL, NULL, "%s cannot be called",
                             cq_eval_type_name(c->callee));
    if (!c->name)
        c->name = t->text;
    if (t && t->kind == CQ_OBJECT_METHOD)
        CQ_TRY(prepend(c, t->self));
    return cq_fncall_decline(c);
}

/* ---- the table ---- */

static const struct {
    cq_status (*resolve)(cq_fncall *c);
    cq_call_stage stage;
} resolvers[] = {
    { count_step, CQ_CALL_ANY },
    { resolve_fork, CQ_CALL_ANY },        /* rewritten to a call of the forked function */
    { resolve_instance, CQ_CALL_ANY },    /* rewritten to a call of its method */
    { cq_resolve_function, CQ_CALL_ANY }, /* of the program, perhaps bound to an object */
    { resolve_native, CQ_CALL_ANY },      /* a function in C */
    { cq_resolve_class, CQ_CALL_ANY },    /* of the program: creates an object */

    { resolve_name, CQ_CALL_NAME },
    { cq_resolve_builtin, CQ_CALL_NAME }, /* of Python, or on numbers, lists, dicts and strings */
    { cq_resolve_upgrade, CQ_CALL_NAME }, /* with the meaning at the time the file was written */

    { cq_resolve_operands, CQ_CALL_OPERATOR },
    { cq_resolve_defined, CQ_CALL_OPERATOR },  /* defined by the user (--define) */
    { cq_resolve_matrices, CQ_CALL_OPERATOR }, /* factorizations of dynamic size */
    { cq_resolve_operator, CQ_CALL_OPERATOR }, /* an overload in the table (src/aten) */
    { cq_resolve_foreign, CQ_CALL_OPERATOR },  /* an extension's operator, or an unsupported one */
};

static cq_status resolve(cq_fncall *c, cq_call_stage first)
{
    for (size_t i = 0; i < sizeof resolvers / sizeof *resolvers; i++) {
        if (resolvers[i].stage < first)
            continue;
        c->declined = false;
        c->result   = CQ_NONE;
        CQ_TRY(resolvers[i].resolve(c));
        if (!c->declined)
            return CQ_OK;
    }
    return cq_fail(CQ_E_INTERNAL, c->name, NULL, "unresolved call");
}

cq_status cq_fncall_run(cq_fncall *c, cq_call_stage first)
{
    cq_status status;

    if (c->ev->n_calls >= CQ_EVAL_MAX_CALLS)
        return cq_fail(CQ_E_UNSUPPORTED, c->name, NULL, "calls are nested more than %d deep",
                       CQ_EVAL_MAX_CALLS);
    c->ev->n_calls++;
    status = resolve(c, first);
    c->ev->n_calls--;
    return status;
}

/* ---- calls from C ---- */

cq_status cq_eval_call(cq_eval *ev, cq_val callee, const cq_val *args, size_t n, cq_val *out)
{
    cq_fncall c = { .ev = ev, .callee = callee, .args = args, .n = n };

    CQ_TRY(cq_fncall_run(&c, CQ_CALL_ANY));
    *out = c.result;
    return CQ_OK;
}

cq_status cq_eval_call_name(cq_eval *ev, const char *name, const cq_val *args, size_t n,
                            cq_val *out)
{
    cq_fncall c = { .ev = ev, .name = name, .args = args, .n = n };

    CQ_TRY(cq_fncall_run(&c, CQ_CALL_NAME));
    *out = c.result;
    return CQ_OK;
}

cq_status cq_eval_operator(cq_eval *ev, const char *name, const cq_val *args, size_t n, cq_val *out)
{
    cq_fncall c = { .ev = ev, .name = name, .args = args, .n = n };

    CQ_TRY(cq_fncall_run(&c, CQ_CALL_OPERATOR));
    *out = c.result;
    return CQ_OK;
}
