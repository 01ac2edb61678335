/* Classes of Python source: the class statement, the method resolution order, and new instances.
 * Attribute look-up is in attribute.c. */
#include "script/python/python.h"
#include "base/str.h"

#include <stdio.h>

enum { MAX_BASES = 64, MAX_MRO = 256 };

/* ---- look-up ---- */

static cq_val *own_attribute(const cq_object *cls, const char *name)
{
    const size_t at = (size_t)(uintptr_t)cq_ptr_map_get(&cls->members, name);

    return at ? &cls->attributes.items[at - 1].value : NULL;
}

cq_val *cq_class_find(cq_object *cls, const char *interned, cq_object **where)
{
    for (size_t i = 0; i < cls->mro.n; i++) {
        cq_val *v = own_attribute(cls->mro.items[i], interned);

        if (v) {
            if (where)
                *where = cls->mro.items[i];
            return v;
        }
    }
    return NULL;
}

bool cq_class_is_a(const cq_object *cls, const cq_object *base)
{
    for (size_t i = 0; i < cls->mro.n; i++)
        if (cls->mro.items[i] == base)
            return true;
    return false;
}

cq_status cq_class_set(cq_eval *ev, cq_object *cls, const char *interned, cq_val v)
{
    cq_val *slot = own_attribute(cls, interned);

    if (!slot) {
        CQ_TRY(cq_vec_push(&cls->attributes, (cq_attribute){ interned, CQ_NONE }));
        CQ_TRY(cq_ptr_map_set(&cls->members, interned, (void *)(uintptr_t)cls->attributes.n));
        slot = &cls->attributes.items[cls->attributes.n - 1].value;
    }
    return cq_slot_set(
        ev,
        &(cq_change){ .kind  = CQ_CHANGE_ATTRIBUTE,
                      .where = cls,
                      .index = (size_t)((cq_attribute *)(void *)((char *)slot -
                                                                 offsetof(cq_attribute, value)) -
                                        cls->attributes.items) },
        v);
}

/* ---- the method resolution order ---- */

typedef struct merge_list {
    cq_object *const *items;
    size_t            n, at;
} merge_list;

static bool is_in_tail(const merge_list *lists, size_t n, const cq_object *cls)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = lists[i].at + 1; k < lists[i].n; k++)
            if (lists[i].items[k] == cls)
                return true;
    return false;
}

/* C3 linearization: repeatedly takes the first head that is in no tail. */
static cq_status merge(cq_object *cls, merge_list *lists, size_t n)
{
    for (;;) {
        cq_object *next = NULL;
        bool       left = false;

        for (size_t i = 0; i < n && !next; i++) {
            if (lists[i].at == lists[i].n)
                continue;
            left = true;
            if (!is_in_tail(lists, n, lists[i].items[lists[i].at]))
                next = lists[i].items[lists[i].at];
        }
        if (!left)
            return CQ_OK;
        if (!next || cls->mro.n >= MAX_MRO)
            return cq_fail(CQ_E_TYPE, cls->cls->name, NULL,
                           "the bases of the class have no consistent method resolution order");
        CQ_TRY(cq_vec_push(&cls->mro, next));
        for (size_t i = 0; i < n; i++)
            if (lists[i].at < lists[i].n && lists[i].items[lists[i].at] == next)
                lists[i].at++;
    }
}

static cq_status make_mro(cq_object *cls, cq_object *const *bases, size_t n)
{
    merge_list lists[MAX_BASES + 1];

    CQ_TRY(cq_vec_push(&cls->mro, cls));
    for (size_t i = 0; i < n; i++)
        lists[i] = (merge_list){ bases[i]->mro.items, bases[i]->mro.n, 0 };
    lists[n] = (merge_list){ bases, n, 0 };
    return merge(cls, lists, n + 1);
}

/* ---- new classes ---- */

/* Records the builtin type among the bases: instances hold a value of that type. */
static cq_status add_native_base(cq_object *cls, const cq_object *base)
{
    static const char *const types[] = { "dict", "list", "tuple", "str", "int", "float" };

    if (CQ_IS_AMONG(base->text, types))
        cls->native_base = base->text;
    else if (strcmp(base->text, "object") != 0 && strcmp(base->text, "type") != 0 &&
             strcmp(base->text, "Tensor") != 0 && strcmp(base->text, "Parameter") != 0)
        return cq_fail(CQ_E_UNSUPPORTED, cls->cls->name, NULL, "a class cannot extend %s",
                       base->text);
    if (strcmp(base->text, "Tensor") == 0 || strcmp(base->text, "Parameter") == 0)
        return cq_fail(CQ_E_UNSUPPORTED, cls->cls->name, NULL,
                       "a class that extends torch.Tensor is not supported");
    return CQ_OK;
}

static cq_status read_bases(cq_object *cls, const cq_val *bases, size_t n)
{
    cq_object *classes[MAX_BASES];
    size_t     n_classes = 0;

    if (n > MAX_BASES)
        return cq_fail(CQ_E_UNSUPPORTED, cls->cls->name, NULL, "more than %d bases", MAX_BASES);
    for (size_t i = 0; i < n; i++) {
        cq_object *base   = cq_object_as(bases[i], CQ_OBJECT_CLASS);
        cq_object *native = cq_object_as(bases[i], CQ_OBJECT_BUILTIN);

        if (native)
            CQ_TRY(add_native_base(cls, native));
        else if (!base)
            return cq_fail(CQ_E_TYPE, cls->cls->name, NULL, "a base of the class is %s",
                           cq_eval_type_name(bases[i]));
        else
            classes[n_classes++] = base;
    }
    CQ_TRY(make_mro(cls, classes, n_classes));
    for (size_t i = 1; i < cls->mro.n; i++) {
        const cq_object *base = cls->mro.items[i];

        if (!cls->native_base)
            cls->native_base = base->native_base;
        if (!cls->type)
            cls->type = base->type;
        if (base->cls->kind == CQ_CLASS_NAMED_TUPLE && !cls->def) {
            cq_ast_class *own = cls->cls; /* a class that extends a named tuple inherits its
                                           * fields */

            own->kind     = CQ_CLASS_NAMED_TUPLE;
            own->fields   = base->cls->fields;
            own->n_fields = base->cls->n_fields;
        }
    }
    return CQ_OK;
}

/* The program owns the class. */
static cq_status class_of_ast(cq_eval *ev, cq_ast_class *ast, cq_unit *unit, cq_object **out)
{
    cq_object *cls;
    char       qualified[512];

    CQ_TRY(cq_object_new(&cls, CQ_OBJECT_CLASS));
    if (cq_vec_push(&ev->program->python->classes, cls) != CQ_OK) {
        cq_val_release(cq_val_of_object(cls));
        return CQ_E_NO_MEMORY;
    }
    snprintf(qualified, sizeof qualified, "%s.%s", unit->qualifier, ast->name);
    cls->cls       = ast;
    cls->unit      = unit;
    cls->qualified = cq_name(ev->program, qualified);
    *out           = cls;
    return CQ_OK;
}

cq_status cq_class_new(cq_eval *ev, const char *name, const cq_val *bases, size_t n,
                       cq_object **out)
{
    cq_ast_class *ast = cq_arena_zalloc(ev->program->arena, sizeof *ast);

    if (!ast)
        return CQ_E_NO_MEMORY;
    ast->name = cq_name(ev->program, name);
    CQ_TRY(class_of_ast(ev, ast, ev->frame->unit, out));
    return read_bases(*out, bases, n);
}

/* ---- the class statement ---- */

static cq_status eval_bases(cq_eval *ev, const cq_ast_class *c, cq_val *out)
{
    static const char *const ignored[] = { "NamedTuple" };

    CQ_TRY(cq_eval_list(ev, NULL, 0, CQ_VAL_LIST, out));
    for (size_t i = 0; i < c->bases.n; i++) {
        const cq_ast_expr *x    = c->bases.items[i];
        const char        *last = x->kind == CQ_X_NAME   ? x->u.name
                                  : x->kind == CQ_X_ATTR ? x->u.attr.name
                                                         : "";
        cq_val             v;

        if (c->kind == CQ_CLASS_NAMED_TUPLE && CQ_IS_AMONG(last, ignored))
            continue;
        CQ_TRY(cq_eval_expr(ev, x->kind == CQ_X_STARRED ? x->u.operand : x, &v));
        if (x->kind == CQ_X_STARRED) {
            cq_list *items;

            CQ_TRY(cq_eval_known_items(ev, v, NULL, &items));
            CQ_TRY(cq_list_add(out->u.list, items));
        } else {
            CQ_TRY(cq_list_push(out->u.list, v));
        }
    }
    return CQ_OK;
}

/* Makes the assignments of the body attributes of the class. Functions record their class, for
 * super(). */
static cq_status take_members(cq_eval *ev, cq_object *cls, const cq_frame *f)
{
    const char **names  = cq_alloc_array(f->values.n + 1, sizeof *names);
    cq_status    status = CQ_OK;

    if (!names)
        return CQ_E_NO_MEMORY;
    for (size_t i = 0; i < f->slots.cap; i++)
        if (f->slots.slots[i].key)
            names[(size_t)(uintptr_t)f->slots.slots[i].value - 1] = f->slots.slots[i].key;
    for (size_t i = 0; i < f->values.n && status == CQ_OK; i++) {
        cq_val     v  = f->values.items[i];
        cq_object *t  = cq_object_of(v);
        cq_object *fn = t;

        if (names[i][0] == '%' || cq_object_as(v, CQ_OBJECT_UNDEFINED))
            continue;
        if (t && (t->kind == CQ_OBJECT_STATIC || t->kind == CQ_OBJECT_CLASSMETHOD))
            fn = cq_object_of(t->self);
        if (t && t->kind == CQ_OBJECT_PROPERTY)
            for (size_t k = 0; k < t->self.u.list->n; k++) {
                fn = cq_object_as(t->self.u.list->items[k], CQ_OBJECT_FUNCTION);
                if (fn && !fn->owner)
                    fn->owner = cls;
            }
        if (fn && fn->kind == CQ_OBJECT_FUNCTION && !fn->owner)
            fn->owner = cls;
        status = cq_class_set(ev, cls, names[i], v);
    }
    cq_free(names);
    return status;
}

static cq_status run_class_body(cq_eval *ev, cq_object *cls, const cq_ast_class *c)
{
    cq_frame *outer = ev->frame, *f;
    cq_status status;

    CQ_TRY(
        cq_frame_new(&f, &(cq_object){ .unit = outer->unit, .def = outer->def, .closure = outer }));
    f->is_class = true;
    f->owner    = cls;
    ev->frame   = f;
    status      = cq_eval_block(ev, &c->body);
    ev->frame   = outer;
    if (status == CQ_OK)
        status = take_members(ev, cls, f);
    cq_frame_end(ev, f);
    return status;
}

typedef struct class_keywords {
    cq_val      values; /* a list */
    const char *names[16];
    size_t      n;
} class_keywords;

static cq_status eval_keywords(cq_eval *ev, const cq_ast_class *c, cq_object *cls,
                               class_keywords *k)
{
    CQ_TRY(cq_eval_list(ev, NULL, 0, CQ_VAL_LIST, &k->values));
    for (size_t i = 0; i < c->n_keywords; i++) {
        cq_val v;

        CQ_TRY(cq_eval_expr(ev, c->keywords[i].value, &v));
        if (!c->keywords[i].name || k->n == 16)
            return cq_eval_unsupported(ev, c->keywords[i].value->at,
                                       "'**' among the bases of a class");
        if (strcmp(c->keywords[i].name, "metaclass") == 0) {
            cls->type = cq_object_as(v, CQ_OBJECT_CLASS);
            continue;
        }
        CQ_TRY(cq_list_push(k->values.u.list, v));
        k->names[k->n++] = c->keywords[i].name;
    }
    return CQ_OK;
}

/* Calls the __init_subclass__ of a base, which is implicitly a class method. */
static cq_status init_subclass(cq_eval *ev, cq_object *cls, const class_keywords *k)
{
    const char *name = cq_name(ev->program, "__init_subclass__");

    for (size_t i = 1; i < cls->mro.n; i++) {
        cq_val    *v = own_attribute(cls->mro.items[i], name), self = cq_val_of_object(cls);
        cq_object *t = v ? cq_object_of(*v) : NULL;
        cq_fncall  c = { .ev    = ev,
                         .args  = &self,
                         .n     = 1,
                         .kw    = k->values.u.list->items,
                         .names = k->names,
                         .n_kw  = k->n };

        if (!t)
            continue;
        c.callee = t->kind == CQ_OBJECT_CLASSMETHOD ? t->self : *v;
        return cq_fncall_run(&c, CQ_CALL_ANY);
    }
    return CQ_OK;
}

/* Calls __set_name__ of the attributes, then the __init__ of the metaclass, if any. */
static cq_status finish_class(cq_eval *ev, cq_object *cls, const class_keywords *k, cq_val bases)
{
    cq_val   args[4] = { cq_val_of_object(cls) }, out;
    cq_val  *init;
    cq_text *text;

    for (size_t i = 0; i < cls->attributes.n; i++) {
        const cq_val v = cls->attributes.items[i].value;
        bool         found;

        if (!cq_object_as(v, CQ_OBJECT_INSTANCE) || !cq_python_has_special(ev, v, "__set_name__"))
            continue;
        CQ_TRY(cq_text_new(&text, cls->attributes.items[i].name,
                           strlen(cls->attributes.items[i].name)));
        CQ_TRY(cq_eval_own(ev, cq_val_of_text(text), &args[1]));
        CQ_TRY(cq_python_special(ev, v, "__set_name__", args, 2, &out, &found));
    }
    CQ_TRY(init_subclass(ev, cls, k));
    init = cls->type ? cq_class_find(cls->type, cq_name(ev->program, "__init__"), NULL) : NULL;
    if (!init)
        return CQ_OK;
    CQ_TRY(cq_text_new(&text, cls->cls->name, strlen(cls->cls->name)));
    CQ_TRY(cq_eval_own(ev, cq_val_of_text(text), &args[1]));
    CQ_TRY(cq_eval_list(ev, bases.u.list->items, bases.u.list->n, CQ_VAL_TUPLE, &args[2]));
    CQ_TRY(cq_eval_new_dict(ev, &args[3]));
    for (size_t i = 0; i < cls->attributes.n; i++) {
        cq_val key;

        CQ_TRY(cq_text_new(&text, cls->attributes.items[i].name,
                           strlen(cls->attributes.items[i].name)));
        CQ_TRY(cq_eval_own(ev, cq_val_of_text(text), &key));
        CQ_TRY(cq_dict_set(args[3].u.dict, key, cls->attributes.items[i].value));
    }
    return cq_eval_call(ev, *init, args, 4, &out);
}

cq_status cq_eval_class(cq_eval *ev, const cq_ast_class *c)
{
    class_keywords k = { .n = 0 };
    cq_object     *cls;
    cq_val         bases, v;

    CQ_TRY(eval_bases(ev, c, &bases));
    CQ_TRY(class_of_ast(ev, (cq_ast_class *)c, ev->frame->unit, &cls));
    CQ_TRY(read_bases(cls, bases.u.list->items, bases.u.list->n));
    CQ_TRY(eval_keywords(ev, c, cls, &k));
    CQ_TRY(run_class_body(ev, cls, c));
    CQ_TRY(finish_class(ev, cls, &k, bases));
    v = cq_val_of_object(cls);
    for (size_t i = c->decorators.n; i-- > 0;) {
        cq_val decorator;

        CQ_TRY(cq_eval_expr(ev, c->decorators.items[i], &decorator));
        CQ_TRY(cq_eval_call(ev, decorator, &v, 1, &v));
    }
    return cq_frame_set(ev, ev->frame, c->name, v);
}

/* ---- instances ---- */

cq_status cq_python_new_instance(cq_eval *ev, cq_object *cls, cq_val *out)
{
    cq_python *py = ev->program->python;
    cq_object *t;

    CQ_TRY(cq_object_new(&t, CQ_OBJECT_INSTANCE));
    t->cls       = cls->cls;
    t->unit      = cls->unit;
    t->qualified = cls->qualified;
    t->type      = cls;
    t->instances = &py->instances;
    t->next      = py->instances;
    if (t->next)
        t->next->previous = t;
    py->instances = t;
    return cq_eval_own(ev, cq_val_of_object(t), out);
}

/* Sets the native value of an instance of an extended builtin type from the constructor's
 * arguments. */
static cq_status fill_native(cq_fncall *c, const cq_object *cls, cq_val object)
{
    cq_object *t = cq_object_of(object);
    const bool is_mutable =
        strcmp(cls->native_base, "dict") == 0 || strcmp(cls->native_base, "list") == 0;
    cq_fncall make = { .ev = c->ev };

    /* Lists and dicts are filled by __init__; other types are immutable and constructed with their
     * value. */
    if (!is_mutable) {
        make.args = c->args;
        make.n    = c->n ? 1 : 0;
    }
    CQ_TRY(cq_eval_new_object(c->ev, CQ_OBJECT_BUILTIN, cls->native_base, &make.callee));
    CQ_TRY(cq_fncall_run(&make, CQ_CALL_ANY));
    t->self = cq_val_retain(make.result);
    return CQ_OK;
}

static cq_status call_init(cq_fncall *c, cq_object *cls, cq_val object)
{
    const char *name = cq_name(c->ev->program, "__init__");
    cq_val     *init = cq_class_find(cls, name, NULL), method;
    cq_fncall   call = *c;
    bool        found;

    if (!init && !(cls->native_base && c->n + c->n_kw)) {
        if (c->n + c->n_kw && !cls->native_base &&
            !cq_class_find(cls, cq_name(c->ev->program, "__new__"), NULL))
            return cq_python_raise(c->ev, "TypeError", "%s() takes no arguments", cls->cls->name);
        return CQ_OK;
    }
    CQ_TRY(cq_object_get(c->ev, object, name, &method, &found));
    if (!found)
        return CQ_OK;
    call.callee = method;
    return cq_fncall_run(&call, CQ_CALL_ANY);
}

static cq_status call_new(cq_fncall *c, cq_object *cls, cq_val create)
{
    cq_object *t    = cq_object_as(create, CQ_OBJECT_STATIC);
    cq_fncall  call = *c;
    cq_val     list;

    CQ_TRY(cq_eval_list(c->ev, &(cq_val){ .kind = CQ_VAL_NONE }, 1, CQ_VAL_LIST, &list));
    cq_val_set(&list.u.list->items[0], cq_val_of_object(cls));
    for (size_t i = 0; i < c->n; i++)
        CQ_TRY(cq_list_push(list.u.list, c->args[i]));
    call.callee = t ? t->self : create;
    call.args   = list.u.list->items;
    call.n      = list.u.list->n;
    CQ_TRY(cq_fncall_run(&call, CQ_CALL_ANY));
    c->result = call.result;
    return CQ_OK;
}

cq_status cq_python_new_named(cq_fncall *c, cq_object *cls)
{
    cq_val items;

    CQ_TRY(cq_eval_list(c->ev, NULL, 0, CQ_VAL_TUPLE, &items));
    if (c->n > cls->cls->n_fields)
        return cq_python_raise(c->ev, "TypeError", "%s takes %zu arguments but got %zu",
                               cls->cls->name, cls->cls->n_fields, c->n);
    for (size_t i = 0; i < cls->cls->n_fields; i++) {
        const char   *name  = cq_name(c->ev->program, cls->cls->fields[i].name);
        const cq_val *given = cq_fncall_find(c, i, name);

        if (!given)
            given = cq_class_find(cls, name, NULL);
        if (!given)
            return cq_python_raise(c->ev, "TypeError", "%s: argument \"%s\" is missing",
                                   cls->cls->name, name);
        CQ_TRY(cq_list_push(items.u.list, *given));
    }
    CQ_TRY(cq_eval_new_named(c->ev, cls, items, &c->result));
    cq_object_of(c->result)->type = cls;
    return CQ_OK;
}

/* Creates an instance and calls its __init__. */
cq_status cq_python_construct(cq_fncall *c, cq_object *cls)
{
    cq_eval   *ev     = c->ev;
    cq_val    *create = cq_class_find(cls, cq_name(ev->program, "__new__"), NULL);
    cq_object *made;

    if (create)
        CQ_TRY(call_new(c, cls, *create));
    else if (cls->cls->kind == CQ_CLASS_NAMED_TUPLE)
        return cq_python_new_named(c, cls);
    else
        CQ_TRY(cq_python_new_instance(ev, cls, &c->result));
    made = cq_object_as(c->result, CQ_OBJECT_INSTANCE);
    if (!made || !made->type || !cq_class_is_a(made->type, cls))
        return CQ_OK;
    if (cls->native_base && made->self.kind == CQ_VAL_NONE)
        CQ_TRY(fill_native(c, cls, c->result));
    return call_init(c, made->type, c->result);
}

/* Cls(…): a metaclass may override the call. */
cq_status cq_resolve_python_class(cq_fncall *c, cq_object *cls)
{
    const char *name = cq_name(c->ev->program, "__call__");
    cq_val     *call = cls->type ? cq_class_find(cls->type, name, NULL) : NULL;

    return call ? call_new(c, cls, *call) : cq_python_construct(c, cls);
}
