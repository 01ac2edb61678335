/* Builtins of Python source for types, attributes and decorators. Builtins of Python source are
 * tried before all others. They receive the objects themselves, not the native value of an instance
 * that extends a builtin type. */
#include "script/builtins/builtin.h"
#include "script/flow/aliases.h"
#include "script/python/python.h"

#include <stdio.h>

/* ---- types ---- */

static cq_status any_isinstance(cq_fncall *c)
{
    cq_object *t = cq_object_as(c->args[0], CQ_OBJECT_OPTIONAL);
    bool       is, none;

    CQ_TRY(cq_python_is_instance(c->ev, t ? t->self : c->args[0], c->args[1], &is));
    c->result = cq_val_of_bool(is);
    if (!t)
        return CQ_OK;
    CQ_TRY(cq_python_is_instance(c->ev, CQ_NONE, c->args[1], &none));
    if (is == none)
        return CQ_OK;
    c->result = cq_val_of_truth(true, t->has);
    return none ? CQ_CALL(c->ev, &c->result, "aten::__not__", c->result) : CQ_OK;
}

static cq_status any_issubclass(cq_fncall *c)
{
    bool is;

    CQ_TRY(cq_python_is_subclass(c->ev, c->args[0], c->args[1], &is));
    c->result = cq_val_of_bool(is);
    return CQ_OK;
}

/* type(x); type(name, bases, attributes) */
static cq_status any_type(cq_fncall *c)
{
    const cq_dict *attributes = c->n == 3 ? cq_python_dict_of(c->args[2]) : NULL;
    cq_object     *cls;

    if (c->args[0].kind == CQ_VAL_TENSOR && (c->n > 1 || cq_object_as(c->callee, CQ_OBJECT_METHOD)))
        return cq_fncall_decline(c); /* x.type(dtype) casts, x.type() is the name of the type */
    if (c->n == 1)
        return cq_python_type(c->ev, c->args[0], &c->result);
    if (!attributes || c->args[0].kind != CQ_VAL_STR || !cq_val_is_list(c->args[1]))
        return cq_python_raise(c->ev, "TypeError", "type() takes 1 or 3 arguments");
    CQ_TRY(cq_class_new(c->ev, c->args[0].u.text->text, c->args[1].u.list->items,
                        c->args[1].u.list->n, &cls));
    for (size_t i = 0; i < attributes->n; i++)
        if (attributes->entries[i].key.kind == CQ_VAL_STR)
            CQ_TRY(cq_class_set(c->ev, cls,
                                cq_name(c->ev->program, attributes->entries[i].key.u.text->text),
                                attributes->entries[i].value));
    c->result = cq_val_of_object(cls);
    return CQ_OK;
}

static cq_status type_call(cq_fncall *c)
{
    cq_object *cls  = c->n ? cq_object_as(c->args[0], CQ_OBJECT_CLASS) : NULL;
    cq_fncall  call = *c;

    if (!cls)
        return cq_fncall_decline(c);
    call.args++;
    call.n--;
    CQ_TRY(cq_python_construct(&call, cls));
    c->result = call.result;
    return CQ_OK;
}

static cq_status any_callable(cq_fncall *c)
{
    const cq_object *t = cq_object_of(c->args[0]);

    c->result = cq_val_of_bool(
        t &&
        (t->kind == CQ_OBJECT_FUNCTION || t->kind == CQ_OBJECT_BUILTIN ||
         t->kind == CQ_OBJECT_METHOD || t->kind == CQ_OBJECT_CLASS || t->kind == CQ_OBJECT_NATIVE ||
         (t->kind == CQ_OBJECT_INSTANCE && cq_python_has_special(c->ev, c->args[0], "__call__"))));
    return CQ_OK;
}

/* super(), super(Class, self) */
static cq_status any_super(cq_fncall *c)
{
    cq_frame  *f = c->ev->frame;
    cq_object *t, *cls;
    cq_val     self;

    while (f && (f->is_comprehension || !f->owner || !f->def || !f->def->n_params) && c->n < 2)
        f = f->outer;
    if (c->n == 2) {
        cls  = cq_object_as(c->args[0], CQ_OBJECT_CLASS);
        self = c->args[1];
    } else {
        const cq_val *first = f ? cq_frame_own(f, f->def->params[0].name) : NULL;

        if (!first)
            return cq_python_raise(c->ev, "RuntimeError", "super(): no arguments");
        cls  = f->owner;
        self = *first;
        if (f->def->params[0].stars && cq_val_is_list(self) && self.u.list->n)
            self = self.u.list->items[0];
    }
    if (!cls || !cq_object_of(self) || (!cq_object_of(self)->type && !cq_object_of(self)->mro.n))
        return cq_python_raise(c->ev, "TypeError", "super() expects an instance of a class");
    CQ_TRY(cq_object_new(&t, CQ_OBJECT_SUPER));
    t->type = cls;
    t->self = cq_val_retain(self);
    return cq_eval_own(c->ev, cq_val_of_object(t), &c->result);
}

/* ---- attributes ---- */

static cq_status catch_attribute(cq_fncall *c, cq_status status, bool *found)
{
    *found = status == CQ_OK;
    if (status == CQ_OK)
        return CQ_OK;
    return cq_eval_catch(c->ev, status, "AttributeError") ? CQ_OK : status;
}

/* Whether a value that is not an object has an attribute. */
static bool has_plain(cq_val v, const char *name)
{
    static const char *const sized[] = { "__iter__", "__len__", "__getitem__", "__contains__" };
    char                     full[128];
    bool                     known, has;

    if (v.kind == CQ_VAL_NONE)
        return false;
    if (CQ_IS_AMONG(name, sized))
        return v.kind == CQ_VAL_LIST || v.kind == CQ_VAL_TUPLE || v.kind == CQ_VAL_DICT ||
               v.kind == CQ_VAL_STR || v.kind == CQ_VAL_TENSOR;
    snprintf(full, sizeof full, "aten::%.100s", name);
    if (v.kind == CQ_VAL_TENSOR) {
        static const char *const plain[] = { "shape", "dtype", "device",  "ndim", "requires_grad",
                                             "grad",  "data",  "is_cuda", "T" };

        /* Duck typing tells tensors from dicts, lists and numbers. */
        return CQ_IS_AMONG(name, plain) || cq_op_overloads(full) != NULL ||
               (cq_builtin_exists(name) &&
                !cq_python_native_has((cq_val){ .kind = CQ_VAL_DICT }, name, &known) &&
                !cq_python_native_has((cq_val){ .kind = CQ_VAL_LIST }, name, &known));
    }
    has = cq_python_native_has(v, name, &known);
    return known ? has : cq_builtin_exists(name);
}

/* Whether a class certainly lacks an attribute (neither a metaclass nor a builtin base can provide
 * it), which avoids the cost of an exception. */
static bool is_absent(const cq_fncall *c, const char *name)
{
    cq_object *cls = cq_object_as(c->args[0], CQ_OBJECT_CLASS);

    return cls && !cls->type && !cls->native_base && !cq_starts_with(name, "_") &&
           !cq_class_find(cls, name, NULL);
}

/* hasattr(F, "scaled_dot_product_attention") asks for PyTorch 2. A model built without it may have
 * other buffers, so a state dict of PyTorch 1 needs the answer that PyTorch 1 gives (weights.c). */
static bool asks_version(cq_fncall *c)
{
    const cq_object *module = cq_object_as(c->args[0], CQ_OBJECT_MODULE);
    cq_python       *py     = c->ev->program->python;

    if (!module || strcmp(module->text, CQ_FUNCTIONAL) != 0 ||
        strcmp(c->args[1].u.text->text, "scaled_dot_product_attention") != 0)
        return false;
    py->asks_version = true;
    c->result        = cq_val_of_bool(!py->is_older);
    return true;
}

static cq_status any_hasattr(cq_fncall *c)
{
    cq_val v;
    bool   found;

    if (asks_version(c))
        return CQ_OK;
    if (is_absent(c, cq_name(c->ev->program, c->args[1].u.text->text))) {
        c->result = cq_val_of_bool(false);
        return CQ_OK;
    }
    if (!cq_val_is_object(c->args[0])) {
        c->result = cq_val_of_bool(has_plain(c->args[0], c->args[1].u.text->text));
        return CQ_OK;
    }
    CQ_TRY(catch_attribute(
        c,
        cq_eval_attribute(c->ev, c->args[0], cq_name(c->ev->program, c->args[1].u.text->text), &v),
        &found));
    c->result = cq_val_of_bool(found);
    return CQ_OK;
}

static cq_status any_getattr(cq_fncall *c)
{
    const char *name = cq_name(c->ev->program, c->args[1].u.text->text);
    bool        found;

    if (c->n > 2 && !cq_val_is_object(c->args[0]) && !has_plain(c->args[0], name)) {
        c->result = c->args[2];
        return CQ_OK;
    }
    if (c->n <= 2)
        return cq_eval_attribute(c->ev, c->args[0], name, &c->result);
    CQ_TRY(catch_attribute(c, cq_eval_attribute(c->ev, c->args[0], name, &c->result), &found));
    if (!found)
        c->result = c->args[2];
    return CQ_OK;
}

static cq_status any_setattr(cq_fncall *c)
{
    return cq_eval_set_attribute(c->ev, c->args[0], c->args[1].u.text->text, c->args[2]);
}

static cq_status any_delattr(cq_fncall *c)
{
    return cq_python_del_attribute(c->ev, c->args[0],
                                   cq_name(c->ev->program, c->args[1].u.text->text));
}

static bool is_instance(cq_val v)
{
    const cq_object *t = cq_object_as(v, CQ_OBJECT_INSTANCE);

    return t && t->type;
}

static cq_status object_setattr(cq_fncall *c)
{
    return is_instance(c->args[0])
               ? cq_object_set(c->ev, c->args[0], cq_name(c->ev->program, c->args[1].u.text->text),
                               c->args[2])
               : cq_eval_set_attribute(c->ev, c->args[0], c->args[1].u.text->text, c->args[2]);
}

static cq_status object_delattr(cq_fncall *c)
{
    return is_instance(c->args[0])
               ? cq_object_del(c->ev, c->args[0], cq_name(c->ev->program, c->args[1].u.text->text))
               : cq_fncall_decline(c);
}

static cq_status object_getattribute(cq_fncall *c)
{
    const char *name = cq_name(c->ev->program, c->args[1].u.text->text);
    bool        found;

    if (!is_instance(c->args[0]))
        return cq_fncall_decline(c);
    CQ_TRY(cq_object_get(c->ev, c->args[0], name, &c->result, &found));
    return found ? CQ_OK
                 : cq_python_raise(c->ev, "AttributeError", "'%s' object has no attribute '%s'",
                                   cq_eval_type_name(c->args[0]), name);
}

cq_status cq_builtin_return_none(cq_fncall *c)
{
    c->result = CQ_NONE;
    return CQ_OK;
}

/* dict.__init__ and list.__init__ of an instance whose class extends dict or list. */
static cq_status native_init(cq_fncall *c)
{
    cq_object *t    = cq_object_as(c->args[0], CQ_OBJECT_INSTANCE);
    cq_fncall  make = *c;

    if (!t || !t->type || (t->self.kind != CQ_VAL_DICT && t->self.kind != CQ_VAL_LIST))
        return cq_builtin_return_none(c);
    make.args++;
    make.n--;
    make.name = NULL;
    CQ_TRY(cq_eval_new_object(c->ev, CQ_OBJECT_BUILTIN,
                              t->self.kind == CQ_VAL_DICT ? "dict" : "list", &make.callee));
    CQ_TRY(cq_fncall_run(&make, CQ_CALL_ANY));
    CQ_TRY(cq_eval_will_change(c->ev, t->self));
    if (t->self.kind == CQ_VAL_DICT)
        CQ_TRY(cq_dict_add(t->self.u.dict, make.result.u.dict));
    else
        CQ_TRY(cq_list_add(t->self.u.list, make.result.u.list));
    return cq_builtin_return_none(c);
}

static cq_status object_repr(cq_fncall *c)
{
    char text[512];

    snprintf(text, sizeof text, "<%.400s object>",
             is_instance(c->args[0]) ? cq_object_of(c->args[0])->qualified
                                     : cq_eval_type_name(c->args[0]));
    return cq_builtin_text(c->ev, text, strlen(text), &c->result);
}

static cq_status object_eq(cq_fncall *c)
{
    const bool same = cq_val_is_object(c->args[0]) && cq_val_is_object(c->args[1]) &&
                      c->args[0].u.box == c->args[1].u.box;

    c->result = cq_val_of_bool(same != (c->row->how != 0));
    return CQ_OK;
}

/* id(x): the address, which is constant during the lifetime of the value. */
static cq_status any_id(cq_fncall *c)
{
    const void *p = cq_val_container(c->args[0]);

    if (!p && c->args[0].kind == CQ_VAL_TENSOR)
        p = c->args[0].u.tensor;
    if (!p && cq_val_is_object(c->args[0]))
        p = c->args[0].u.box;
    c->result = cq_val_of_i64((int64_t)((uintptr_t)p & INT64_MAX));
    return CQ_OK;
}

static cq_status hash_value(cq_eval *ev, cq_val v, uint64_t *out);

static cq_status hash_object(cq_eval *ev, cq_val v, uint64_t *out)
{
    const cq_object *named = cq_object_as(v, CQ_OBJECT_NAMED);
    cq_val           hash;
    bool             found;

    if (named)
        return hash_value(ev, named->self, out);
    *out = (uint64_t)(uintptr_t)v.u.box & INT64_MAX;
    CQ_TRY(cq_python_special(ev, v, "__hash__", NULL, 0, &hash, &found));
    if (found && hash.kind == CQ_VAL_INT)
        *out = (uint64_t)hash.u.i.value;
    return CQ_OK;
}

/* Equal values have equal hashes. Small integers are their own hash, as in Python; those of texts
 * differ from one run of Python to the next. */
static cq_status hash_value(cq_eval *ev, cq_val v, uint64_t *out)
{
    uint64_t parts[2] = { 0, 0 };

    CQ_TRY(cq_eval_down(ev, v));
    ev->levels--;
    switch (v.kind) {
    case CQ_VAL_NONE: *out = 0xfca86420; return CQ_OK;
    case CQ_VAL_BOOL: *out = v.u.b.value; return CQ_OK;
    case CQ_VAL_INT: *out = (uint64_t)v.u.i.value; return CQ_OK;
    case CQ_VAL_FLOAT:
        *out = cq_hash_bytes(&v.u.f.value, sizeof v.u.f.value) >> 2;
        if (v.u.f.value > -0x1p62 && v.u.f.value < 0x1p62 &&
            (double)(int64_t)v.u.f.value == v.u.f.value)
            *out = (uint64_t)(int64_t)v.u.f.value;
        return CQ_OK;
    case CQ_VAL_STR:
    case CQ_VAL_DEVICE: *out = cq_hash_bytes(v.u.text->text, v.u.text->len) >> 2; return CQ_OK;
    case CQ_VAL_TUPLE:
        parts[0] = v.u.list->n;
        for (size_t i = 0; i < v.u.list->n; i++) {
            CQ_TRY(hash_value(ev, v.u.list->items[i], &parts[1]));
            parts[0] = cq_hash_bytes(parts, sizeof parts) >> 2;
        }
        *out = parts[0];
        return CQ_OK;
    case CQ_VAL_OBJECT: return hash_object(ev, v, out);
    default: return cq_python_raise(ev, "TypeError", "unhashable type: '%s'", cq_eval_type_name(v));
    }
}

static cq_status any_hash(cq_fncall *c)
{
    uint64_t hash;

    if (cq_val_is_symbolic(c->args[0]) || c->args[0].kind == CQ_VAL_TENSOR)
        return cq_fncall_decline(c);
    CQ_TRY(hash_value(c->ev, c->args[0], &hash));
    c->result = cq_val_of_i64((int64_t)hash);
    return CQ_OK;
}

static cq_status any_vars(cq_fncall *c)
{
    return cq_eval_attribute(c->ev, c->args[0], cq_name(c->ev->program, "__dict__"), &c->result);
}

static cq_status add_names(cq_fncall *c, const cq_object *cls)
{
    for (size_t i = 0; cls && i < cls->mro.n; i++)
        for (size_t k = 0; k < cls->mro.items[i]->attributes.n; k++) {
            cq_val v;

            CQ_TRY(cq_builtin_text(c->ev, cls->mro.items[i]->attributes.items[k].name,
                                   strlen(cls->mro.items[i]->attributes.items[k].name), &v));
            CQ_TRY(cq_list_push(c->result.u.list, v));
        }
    return CQ_OK;
}

static cq_status any_dir(cq_fncall *c)
{
    cq_object *t = c->n ? cq_object_of(c->args[0]) : NULL;
    cq_dict   *dict;

    CQ_TRY(cq_eval_list(c->ev, NULL, 0, CQ_VAL_LIST, &c->result));
    if (!t)
        return CQ_OK;
    dict = t->kind == CQ_OBJECT_INSTANCE ? cq_instance_dict(t) : NULL;
    for (size_t i = 0; dict && i < dict->n; i++)
        CQ_TRY(cq_list_push(c->result.u.list, dict->entries[i].key));
    return add_names(c, t->kind == CQ_OBJECT_CLASS ? t : t->type);
}

static cq_status any_globals(cq_fncall *c)
{
    const cq_frame *f =
        strcmp(c->row->signature, "globals()") == 0 ? c->ev->frame->unit->globals : c->ev->frame;

    return cq_python_variables(c->ev, f, &c->result);
}

/* ---- decorators ---- */

static cq_status new_property(cq_fncall *c)
{
    cq_val     parts;
    cq_object *t;

    CQ_TRY(cq_eval_list(c->ev, NULL, 0, CQ_VAL_TUPLE, &parts));
    for (size_t i = 0; i < 3; i++)
        CQ_TRY(cq_list_push(parts.u.list, cq_builtin_arg(c, i)));
    CQ_TRY(cq_object_new(&t, CQ_OBJECT_PROPERTY));
    t->self = cq_val_retain(parts);
    return cq_eval_own(c->ev, cq_val_of_object(t), &c->result);
}

/* @x.setter: a copy of the property with another setter, getter or deleter. */
static cq_status change_property(cq_fncall *c)
{
    cq_object *t = cq_object_as(c->args[0], CQ_OBJECT_PROPERTY), *made;
    cq_val     parts;

    if (!t)
        return cq_fncall_decline(c);
    CQ_TRY(cq_eval_list(c->ev, t->self.u.list->items, 3, CQ_VAL_TUPLE, &parts));
    cq_val_set(&parts.u.list->items[c->row->how], c->args[1]);
    CQ_TRY(cq_object_new(&made, CQ_OBJECT_PROPERTY));
    made->self = cq_val_retain(parts);
    return cq_eval_own(c->ev, cq_val_of_object(made), &c->result);
}

static cq_status wrap_method(cq_fncall *c)
{
    cq_object *t;

    CQ_TRY(cq_object_new(&t, (cq_object_kind)c->row->how));
    t->self = cq_val_retain(c->args[0]);
    return cq_eval_own(c->ev, cq_val_of_object(t), &c->result);
}

const cq_builtin cq_builtins_objects[] = {
    { "isinstance(object, type)", .fn = any_isinstance, .of_all_lists = true },
    { "issubclass(cls, type)", .fn = any_issubclass },
    { "type(object, bases?, dict?)", .fn = any_type, .of_all_lists = true },
    { "type.__call__(...)", .fn = type_call },
    { "type.__init__(...)", .fn = cq_builtin_return_none },
    { "callable(object)", .fn = any_callable },
    { "super(type?, object?)", .fn = any_super },
    { "hasattr(object, str name)", .fn = any_hasattr },
    { "getattr(object, str name, default?)", .fn = any_getattr },
    { "setattr(object, str name, value)", .fn = any_setattr },
    { "delattr(object, str name)", .fn = any_delattr },
    { "object.__setattr__(self, str name, value)", .fn = object_setattr },
    { "object.__delattr__(self, str name)", .fn = object_delattr },
    { "object.__getattribute__(self, str name)", .fn = object_getattribute },
    { "object.__init__(self, ...)", .fn = cq_builtin_return_none },
    { "object.__init_subclass__(self, ...)", .fn = cq_builtin_return_none },
    { "object.__repr__(self)", .fn = object_repr },
    { "object.__hash__(self)", .fn = any_id },
    { "object.__eq__(self, other)", .fn = object_eq },
    { "object.__ne__(self, other)", .fn = object_eq, .how = 1 },
    { "object.__dir__(self)", .fn = any_dir },
    { "dict.__init__(self, ...)", .fn = native_init },
    { "list.__init__(self, ...)", .fn = native_init },
    { "tuple.__init__(self, ...)", .fn = cq_builtin_return_none },
    { "str.__init__(self, ...)", .fn = cq_builtin_return_none },
    { "int.__init__(self, ...)", .fn = cq_builtin_return_none },
    { "float.__init__(self, ...)", .fn = cq_builtin_return_none },
    { "id(object)", .fn = any_id, .of_all_lists = true },
    { "hash(object)", .fn = any_hash },
    { "vars(object)", .fn = any_vars },
    { "dir(object?)", .fn = any_dir },
    { "globals()", .fn = any_globals },
    { "locals()", .fn = any_globals },
    { "property(fget?, fset?, fdel?, doc?)", .fn = new_property },
    { "property.getter(self, f)", .fn = change_property, .how = 0 },
    { "property.setter(self, f)", .fn = change_property, .how = 1 },
    { "property.deleter(self, f)", .fn = change_property, .how = 2 },
    { "staticmethod(f)", .fn = wrap_method, .how = CQ_OBJECT_STATIC },
    { "classmethod(f)", .fn = wrap_method, .how = CQ_OBJECT_CLASSMETHOD },
    { 0 },
};
