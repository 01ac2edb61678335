/* Calls in a program: evaluates arguments, binds them to parameters, and calls functions and
 * classes of the program, and functions whose arguments are types. resolve.c handles other
 * calls. */
#include "base/str.h"
#include "script/python/python.h"
#include "lang/desugar.h"
#include "script/script.h"

#include <stdio.h>

enum { KEYWORD_STEPS = 2 }; /* of a name that is interned */

/* ---- arguments ---- */

typedef struct arguments {
    CQ_VEC(cq_val) args;
    CQ_VEC(cq_val) kw;
    CQ_VEC(const char *) names;
} arguments;

static void arguments_clear(arguments *a)
{
    cq_vec_clear(&a->args);
    cq_vec_clear(&a->kw);
    cq_vec_clear(&a->names);
}

static cq_status add_keyword(arguments *a, const char *name, cq_val v)
{
    CQ_TRY(cq_vec_push(&a->names, name));
    return cq_vec_push(&a->kw, v);
}

/* f(*items) */
static cq_status unpack_list(cq_eval *ev, cq_val v, arguments *a)
{
    cq_list *items;

    CQ_TRY(cq_eval_known_items(ev, v, NULL, &items));
    for (size_t k = 0; k < items->n; k++)
        CQ_TRY(cq_vec_push(&a->args, items->items[k]));
    return CQ_OK;
}

/* The dict of an instance that extends dict, or a new dict from its keys() and items. */
static cq_status mapping_of(cq_eval *ev, cq_val v, cq_val *out)
{
    cq_val   keys, method;
    cq_list *items;

    *out = cq_python_native(v);
    if (out->kind == CQ_VAL_DICT || !cq_object_as(v, CQ_OBJECT_INSTANCE) ||
        !cq_python_has_special(ev, v, "keys"))
        return CQ_OK;
    CQ_TRY(cq_eval_attribute(ev, v, cq_name(ev->program, "keys"), &method));
    CQ_TRY(cq_eval_call(ev, method, NULL, 0, &keys));
    CQ_TRY(cq_eval_known_items(ev, keys, NULL, &items));
    CQ_TRY(cq_eval_new_dict(ev, out));
    for (size_t i = 0; i < items->n; i++) {
        cq_val item;

        CQ_TRY(cq_eval_get_item(ev, v, items->items[i], &item));
        CQ_TRY(cq_dict_set(out->u.dict, items->items[i], item));
    }
    return CQ_OK;
}

/* f(**keywords) */
static cq_status unpack_dict(cq_eval *ev, const cq_ast_expr *x, cq_val v, arguments *a)
{
    if (ev->program->python)
        CQ_TRY(mapping_of(ev, v, &v));
    if (v.kind != CQ_VAL_DICT)
        return cq_eval_fail(ev, x->at, CQ_E_TYPE, "** expects a dict, got %s",
                            cq_eval_type_name(v));
    CQ_TRY(cq_eval_spend(ev, (uint64_t)v.u.dict->n * KEYWORD_STEPS * CQ_EVAL_STEP_ITEMS));
    for (size_t k = 0; k < v.u.dict->n; k++) {
        if (v.u.dict->entries[k].key.kind != CQ_VAL_STR)
            return cq_eval_fail(ev, x->at, CQ_E_TYPE, "** expects a dict whose keys are names");
        CQ_TRY(add_keyword(a, cq_name(ev->program, v.u.dict->entries[k].key.u.text->text),
                           v.u.dict->entries[k].value));
    }
    return CQ_OK;
}

static cq_status eval_arguments(cq_eval *ev, const cq_ast_expr *x, arguments *a)
{
    CQ_TRY(cq_vec_reserve(&a->args, x->u.call.n));
    for (size_t i = 0; i < x->u.call.n; i++) {
        const cq_ast_arg *arg = &x->u.call.args[i];
        cq_val            v;

        CQ_TRY(cq_eval_expr(ev, arg->value, &v));
        if (arg->stars == 1)
            CQ_TRY(unpack_list(ev, v, a));
        else if (arg->stars == 2)
            CQ_TRY(unpack_dict(ev, arg->value, v, a));
        else if (arg->name)
            CQ_TRY(add_keyword(a, arg->name, v));
        else
            CQ_TRY(cq_vec_push(&a->args, v));
    }
    return CQ_OK;
}

/* ---- parameters ---- */

static void describe_wanted(const cq_ast_def *def, const cq_source *source, cq_str *s)
{
    const cq_ast_param *first = def->n_params ? &def->params[0] : NULL;
    const bool          is_method =
        first &&
        (strcmp(first->name, "self") == 0 ||
         (first->type && cq_starts_with(source->text + first->type->at.start, "__torch__.")));

    cq_str_add(s, "the signature is ");
    cq_script_describe(s, def, source, is_method);
}

/* A wrong argument of a call from outside is an error of the caller's input; inside the program it
 * is an error of the program. */
static cq_status add_signature(cq_status status, const cq_eval *ev, const cq_frame *f,
                               const cq_ast_def *def)
{
    cq_str wanted = { 0 };

    if (status != CQ_OK && !ev->frame && ev->script) {
        describe_wanted(def, &f->unit->source, &wanted);
        status = cq_error_add_hint(status, "%s", cq_str_text(&wanted));
    }
    cq_str_clear(&wanted);
    return status;
}

/* A default is evaluated in the scope of its unit. */
static cq_status eval_default(cq_eval *ev, cq_frame *f, const cq_ast_param *p, cq_val *out)
{
    cq_frame *outer = ev->frame;
    cq_status status;

    ev->frame = f;
    status    = cq_eval_expr(ev, p->value, out);
    ev->frame = outer;
    return status;
}

/* Fails if there are more positional arguments than positional parameters. */
static cq_status check_number(const cq_fncall *c, const cq_ast_def *def, size_t n_self)
{
    size_t n = 0;

    for (size_t i = 0; i < def->n_params; i++) {
        if (def->params[i].stars == 1)
            return CQ_OK;
        n += !def->params[i].kw_only && !def->params[i].stars;
    }
    if (c->n <= n)
        return CQ_OK;
    return cq_fail(CQ_E_ARGUMENT, def->name, NULL, "takes %zu argument%s but got %zu", n - n_self,
                   n - n_self == 1 ? "" : "s", c->n - n_self);
}

static bool takes_keywords(const cq_ast_def *def)
{
    return def->n_params && def->params[def->n_params - 1].stars == 2;
}

/* **kwargs: collects keywords without a matching parameter. */
static cq_status bind_keywords(cq_fncall *c, const cq_ast_def *def, cq_val *out)
{
    CQ_TRY(cq_eval_new_dict(c->ev, out));
    for (size_t k = 0; k < c->n_kw; k++) {
        cq_text *text;
        cq_val   key;
        size_t   i = 0;

        while (i < def->n_params && (def->params[i].stars || def->params[i].pos_only ||
                                     strcmp(def->params[i].name, c->names[k]) != 0))
            i++;
        if (i < def->n_params)
            continue;
        CQ_TRY(cq_text_new(&text, c->names[k], strlen(c->names[k])));
        CQ_TRY(cq_eval_own(c->ev, cq_val_of_text(text), &key));
        CQ_TRY(cq_dict_set(out->u.dict, key, c->kw[k]));
    }
    return CQ_OK;
}

/* Reports an unknown keyword before a missing parameter, because it may be a misspelling of that
 * parameter. */
static cq_status check_keywords(const cq_fncall *c, const cq_ast_def *def)
{
    for (size_t k = 0; k < c->n_kw; k++) {
        size_t i = 0;

        while (i < def->n_params && (strcmp(def->params[i].name, c->names[k]) != 0 ||
                                     def->params[i].stars || def->params[i].pos_only))
            i++;
        if (i == def->n_params && takes_keywords(def))
            continue;
        if (c->ev->program->python && (i == def->n_params || (i < c->n && !def->params[i].kw_only)))
            c->ev->raised_class = "TypeError";
        if (i == def->n_params)
            return cq_fail(CQ_E_ARGUMENT, def->name, NULL, "unknown argument \"%s\"", c->names[k]);
        if (i < c->n && !def->params[i].kw_only)
            return cq_fail(CQ_E_ARGUMENT, def->name, NULL, "argument \"%s\" is given twice",
                           c->names[k]);
    }
    return CQ_OK;
}

/* Converts an argument from outside to the type of its parameter. */
static cq_status accept(cq_eval *ev, const cq_ast_param *p, cq_val v, cq_val *out)
{
    cq_status status = cq_eval_accept(ev, p->type, v, out);

    return status == CQ_OK ? CQ_OK : cq_error_add_where(status, "argument \"%s\"", p->name);
}

static cq_status missing(cq_eval *ev, const cq_ast_def *def, const cq_ast_param *p)
{
    if (ev->program->python)
        ev->raised_class = "TypeError";
    return cq_fail(CQ_E_ARGUMENT, def->name, NULL, "argument \"%s\" is missing", p->name);
}

/* Binds arguments to the parameters of def in a new frame. The first n_self parameters are the
 * bound object. */
static cq_status bind(cq_fncall *c, cq_frame *f, const cq_object *fn, size_t n_self)
{
    const cq_ast_def *def  = fn->def;
    cq_eval          *ev   = c->ev;
    size_t            next = 0;

    CQ_TRY(cq_eval_spend(ev, c->n + c->n_kw * def->n_params)); /* each keyword is searched for */
    CQ_TRY(check_number(c, def, n_self));
    CQ_TRY(check_keywords(c, def));
    for (size_t i = 0; i < def->n_params; i++) {
        const cq_ast_param *p     = &def->params[i];
        const cq_val       *given = NULL;
        cq_val              v;

        if (p->stars == 1) {
            CQ_TRY(cq_eval_list(ev, c->args + next, c->n - next, CQ_VAL_TUPLE, &v));
            next  = c->n;
            given = &v;
        } else if (p->stars == 2) {
            CQ_TRY(bind_keywords(c, def, &v));
            given = &v;
        } else if (!p->kw_only && next < c->n) {
            given = &c->args[next++];
        } else if (!p->pos_only) {
            given = cq_fncall_find(c, SIZE_MAX, p->name);
        }
        if (!given && p->value && fn->defaults.kind == CQ_VAL_TUPLE) {
            given = &fn->defaults.u.list->items[i];
        } else if (!given && p->value) {
            CQ_TRY(eval_default(ev, f, p, &v));
            given = &v;
        }
        if (!given)
            return missing(ev, def, p);
        v = *given;
        if (p->type && !p->stars &&
            (!ev->program->python || !ev->frame)) /* no frame: the call comes from outside */
            CQ_TRY(ev->frame ? cq_eval_annotate(ev, p->type, v, &v) : accept(ev, p, v, &v));
        CQ_TRY(cq_frame_set(ev, f, p->name, v));
    }
    return CQ_OK;
}

/* ---- functions and classes ---- */

/* Whether the name is forward, or one of forward1, forward2, … that a trace has for further calls
 * of a module. */
static bool is_forward(const char *name)
{
    return strncmp(name, "forward", 7) == 0 && strspn(name + 7, "0123456789") == strlen(name + 7);
}

/* The first argument of a bound method is its object. The arguments are always copied, because
 * entering the scope of a module may replace some. */
static cq_status copy_arguments(cq_fncall *c, cq_val self, cq_val **out)
{
    const size_t n_self = self.kind != CQ_VAL_NONE;
    cq_val      *all = *out = cq_alloc_array(c->n + n_self + 1, sizeof *all);

    if (!all)
        return CQ_E_NO_MEMORY;
    all[0] = self;
    if (c->n)
        memcpy(all + n_self, c->args, c->n * sizeof *all);
    c->args = all;
    c->n += n_self;
    return CQ_OK;
}

/* Fails for features of Python functions that the evaluator does not support. */
static cq_status check_function(const cq_source *source, const cq_ast_def *def)
{
    if (def->is_async)
        return cq_source_fail(source, def->at, CQ_E_UNSUPPORTED, NULL,
                              "'async def' is not supported here");
    if (def->bad_comment.end)
        return cq_source_fail(source, def->bad_comment, CQ_E_SYNTAX, NULL,
                              "the type comment does not match the %zu parameters of %s",
                              def->n_params, def->name);
    return CQ_OK;
}

static cq_status run_body(cq_fncall *c, cq_frame *f, const cq_object *fn, size_t n_self)
{
    const cq_ast_def *def   = fn->def;
    cq_eval          *ev    = c->ev;
    cq_frame         *outer = ev->frame;
    cq_val           *result;
    cq_status         status;

    CQ_TRY(check_function(&f->unit->source, def));
    status = bind(c, f, fn, n_self);
    if (status == CQ_E_ARGUMENT && ev->program->python && !ev->raised_class)
        ev->raised_class = "TypeError";
    CQ_TRY(add_signature(status, ev, f, def));
    if (def->is_generator && ev->program->python)
        return cq_generator_new(ev, f, &c->result);
    ev->frame = f;
    status = def->value ? cq_eval_expr(ev, def->value, &c->result) : cq_eval_block(ev, &def->body);
    ev->frame = outer;
    result    = cq_frame_own(f, cq_name(ev->program, CQ_RESULT));
    if (status == CQ_OK && result)
        c->result = *result;
    return status;
}

/* The scope of a method of a module: its path is the attribute path it was reached by. */
/* Adds the location of the failed call, unless the call is in the library. */
static cq_status add_caller(const cq_eval *ev, cq_location at, cq_status status)
{
    char text[CQ_LOCATION_SIZE];

    if (status == CQ_OK || !ev->program->python || !at.source || !cq_error_has_excerpt())
        return status;
    cq_location_text(at, text);
    return cq_starts_with(text, "lib/") ? status : cq_error_add_caller(status, text);
}

static cq_status call_function(cq_fncall *c, cq_object *fn)
{
    cq_eval          *ev   = c->ev;
    cq_frame         *f    = NULL;
    cq_val           *args = NULL;
    size_t            mark = cq_ctx_mark(ev->cx), n_self = fn->self.kind != CQ_VAL_NONE;
    cq_scope          scope  = { 0 };
    cq_object        *self   = cq_object_as(fn->self, CQ_OBJECT_INSTANCE);
    bool              scoped = self && self->text && !self->type && is_forward(fn->def->name);
    cq_status         status;
    const cq_val      kept = cq_val_retain(c->callee); /* the callee may release itself */
    const cq_location at   = ev->cx->location;

    status = cq_eval_spend(ev, CQ_EVAL_CALL_STEPS * CQ_EVAL_STEP_ITEMS);
    if (status == CQ_OK)
        status = cq_eval_enter_call(ev, fn->def->name);
    if (status == CQ_OK && (status = cq_frame_new(&f, fn)) != CQ_OK)
        cq_eval_leave_call(ev);
    if (status != CQ_OK) {
        cq_val_release(kept);
        return status;
    }
    status = copy_arguments(c, fn->self, &args);
    if (status == CQ_OK && scoped)
        status = cq_eval_enter(ev, &scope, self, args + 1, c->n - 1);
    scoped &= args != NULL;
    if (status == CQ_OK)
        status = run_body(c, f, fn, n_self);
    if (scoped) {
        cq_status left = cq_eval_leave(ev, &scope, &c->result);

        status = status == CQ_OK ? left : status;
    }
    cq_ctx_pop(ev->cx, mark, &c->result, 1);
    if (status == CQ_OK && fn->def->is_generator && ev->program->python)
        cq_frame_release(f); /* the generator owns it */
    else
        cq_frame_end(ev, f);
    cq_free(args);
    cq_val_release(kept);
    cq_eval_leave_call(ev);
    return add_caller(ev, at, status);
}

cq_status cq_resolve_function(cq_fncall *c)
{
    cq_object *fn = cq_object_as(c->callee, CQ_OBJECT_FUNCTION);

    return fn ? call_function(c, fn) : cq_fncall_decline(c);
}

static cq_status new_named_tuple(cq_fncall *c, const cq_object *class)
{
    const cq_ast_class *cls = class->cls;
    cq_val              items;

    CQ_TRY(cq_eval_list(c->ev, NULL, 0, CQ_VAL_TUPLE, &items));
    for (size_t i = 0; i < cls->n_fields; i++) {
        cq_val v = cq_fncall_arg(c, i, cls->fields[i].name);

        if (i >= c->n && v.kind == CQ_VAL_NONE && cls->fields[i].value)
            CQ_TRY(cq_eval_expr(c->ev, cls->fields[i].value, &v));
        CQ_TRY(cq_list_push(items.u.list, v));
    }
    return cq_eval_new_named(c->ev, class, items, &c->result);
}

/* Fails for features of Python classes that the evaluator does not support: a class may contain
 * only what TorchScript has. */
static cq_status check_class(const cq_object *class)
{
    const cq_ast_class *c      = class->cls;
    const cq_source    *source = &class->unit->source;

    if (c->other)
        return cq_source_fail(source, c->other->at, CQ_E_UNSUPPORTED, NULL,
                              "%s in the body of a class is not supported here",
                              cq_ast_stmt_text(c->other));
    if (c->n_keywords)
        return cq_source_fail(source, c->keywords[0].value->at, CQ_E_UNSUPPORTED, NULL,
                              "a keyword argument of a class is not supported here");
    return CQ_OK;
}

/* Cls(…): a new object after __init__, or a named tuple. */
cq_status cq_resolve_class(cq_fncall *c)
{
    cq_eval    *ev  = c->ev;
    cq_object  *cls = cq_object_as(c->callee, CQ_OBJECT_CLASS);
    cq_ast_def *init;
    cq_val      object;

    if (!cls)
        return cq_fncall_decline(c);
    if (cls->mro.n)
        return cq_resolve_python_class(c, cls);
    CQ_TRY(check_class(cls));
    if (cls->cls->kind == CQ_CLASS_NAMED_TUPLE)
        return new_named_tuple(c, cls);
    CQ_TRY(cq_eval_new_instance(ev, cls, &object));
    init = cq_ast_class_method(cls->cls, cq_name(ev->program, "__init__"));
    if (init)
        CQ_TRY(call_function(
            c, &(cq_object){
                   .kind = CQ_OBJECT_FUNCTION, .unit = cls->unit, .def = init, .self = object }));
    c->result = object;
    return CQ_OK;
}

/* ---- call expressions ---- */

static bool is_syntax(const cq_ast_expr *f, const char *name)
{
    return f->kind == CQ_X_NAME && strcmp(f->u.name, name) == 0;
}

/* If the value is an OPTIONAL, the result may be data-dependent. */
static cq_status eval_is_instance(cq_eval *ev, cq_val v, const cq_ast_expr *type, cq_val *out)
{
    cq_object *t = cq_object_as(v, CQ_OBJECT_OPTIONAL);
    bool       is, none;

    CQ_TRY(cq_eval_is_instance(ev, t ? t->self : v, type, &is));
    *out = cq_val_of_bool(is);
    if (!t)
        return CQ_OK;
    CQ_TRY(cq_eval_is_instance(ev, CQ_NONE, type, &none));
    if (is == none)
        return CQ_OK;
    *out = cq_val_of_truth(true, t->has);
    return none ? CQ_CALL(ev, out, "aten::__not__", *out) : CQ_OK;
}

/* Calls whose arguments are types rather than values. */
static cq_status eval_type_call(cq_eval *ev, const cq_ast_expr *x, cq_val *out, bool *done)
{
    const cq_ast_expr *f = x->u.call.function;
    const cq_ast_arg  *a = x->u.call.args;
    cq_val             v;

    *done = true;
    if (ev->program->python && !is_syntax(f, "uninitialized")) {
        *done = false;
        return CQ_OK;
    }
    if (x->u.call.n == 2 && (is_syntax(f, "annotate") || is_syntax(f, "unchecked_cast") ||
                             (f->kind == CQ_X_ATTR && strcmp(f->u.attr.name, "annotate") == 0))) {
        CQ_TRY(cq_eval_expr(ev, a[1].value, &v));
        return cq_eval_annotate(ev, a[0].value, v, out);
    }
    if (x->u.call.n == 1 && is_syntax(f, "uninitialized"))
        return cq_eval_new_object(ev, CQ_OBJECT_UNDEFINED, CQ_UNINITIALIZED, out);
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
    arguments a = { 0 };
    cq_fncall c = { .ev = ev };
    bool      done;
    cq_status status;

    CQ_TRY(eval_type_call(ev, x, out, &done));
    if (done)
        return CQ_OK;
    CQ_TRY(cq_eval_expr(ev, x->u.call.function, &c.callee));
    status  = eval_arguments(ev, x, &a);
    c.args  = a.args.items;
    c.n     = a.args.n;
    c.kw    = a.kw.items;
    c.names = a.names.items;
    c.n_kw  = a.kw.n;
    if (ev->frame)
        ev->frame->n_effects++;
    if (status == CQ_OK)
        status = cq_fncall_run(&c, CQ_CALL_ANY);
    *out = status == CQ_OK ? c.result : CQ_NONE;
    arguments_clear(&a);
    return status;
}
