/* object.name in Python source: instances, classes, super(), properties and other descriptors; and
 * special methods, which are looked up in the class. */
#include "script/python/python.h"
#include "base/str.h"

#include <stdio.h>

/* ---- values of instances ---- */

cq_dict *cq_instance_dict(cq_object *t)
{
    return t->attributes.n && t->attributes.items[0].value.kind == CQ_VAL_DICT
               ? t->attributes.items[0].value.u.dict
               : NULL;
}

cq_status cq_instance_make_dict(cq_object *t, cq_dict **out)
{
    cq_status status;

    *out = cq_instance_dict(t);
    if (*out)
        return CQ_OK;
    CQ_TRY(cq_dict_new(out));
    status = cq_vec_push(&t->attributes, (cq_attribute){ "__dict__", cq_val_of_dict(*out) });
    if (status != CQ_OK)
        cq_val_release(cq_val_of_dict(*out));
    return status;
}

cq_val cq_python_native(cq_val v)
{
    cq_object *t = cq_object_as(v, CQ_OBJECT_INSTANCE);

    return t && t->type && t->self.kind != CQ_VAL_NONE ? t->self : v;
}

cq_dict *cq_python_dict_of(cq_val v)
{
    v = cq_python_native(v);
    return v.kind == CQ_VAL_DICT ? v.u.dict : NULL;
}

static cq_status text_of(cq_eval *ev, const char *text, cq_val *out)
{
    cq_text *t;

    CQ_TRY(cq_text_new(&t, text, strlen(text)));
    return cq_eval_own(ev, cq_val_of_text(t), out);
}

/* ---- binding ---- */

static cq_status bind_function(cq_eval *ev, const cq_object *fn, cq_val self, cq_val *out)
{
    cq_object *m;

    CQ_TRY(cq_object_new(&m, CQ_OBJECT_FUNCTION));
    m->unit     = fn->unit;
    m->def      = fn->def;
    m->owner    = fn->owner;
    m->text     = fn->text;
    m->closure  = cq_frame_retain(fn->closure);
    m->defaults = cq_val_retain(fn->defaults);
    m->self     = cq_val_retain(self);
    return cq_eval_own(ev, cq_val_of_object(m), out);
}

/* Binds an attribute of a class to an instance, or, if self is None, to the class. */
static cq_status bind(cq_eval *ev, cq_val v, cq_val self, cq_object *cls, cq_val *out)
{
    cq_object *t = cq_object_of(v);
    cq_val     args[2];
    cq_status  status;
    bool       found;

    *out = v;
    if (!t)
        return CQ_OK;
    switch (t->kind) {
    case CQ_OBJECT_FUNCTION:
        return self.kind == CQ_VAL_NONE || t->self.kind != CQ_VAL_NONE
                   ? CQ_OK
                   : bind_function(ev, t, self, out);
    case CQ_OBJECT_STATIC: *out = t->self; return CQ_OK;
    case CQ_OBJECT_CLASSMETHOD:
        t = cq_object_as(t->self, CQ_OBJECT_FUNCTION);
        return t ? bind_function(ev, t, cq_val_of_object(cls), out) : CQ_OK;
    case CQ_OBJECT_PROPERTY:
        return self.kind == CQ_VAL_NONE ? CQ_OK
                                        : cq_eval_call(ev, t->self.u.list->items[0], &self, 1, out);
    case CQ_OBJECT_LAZY: return cq_lazy_resolve(ev, v, out);
    case CQ_OBJECT_INSTANCE:
        if (!t->type || !cq_class_find(t->type, cq_name(ev->program, "__get__"), NULL))
            return CQ_OK;
        args[0] = self;
        args[1] = cq_val_of_object(cls);
        CQ_TRY(cq_eval_enter_call(ev, "__get__")); /* which may be a descriptor itself */
        status = cq_python_special(ev, v, "__get__", args, 2, out, &found);
        cq_eval_leave_call(ev);
        return status;
    default: return CQ_OK;
    }
}

static bool is_data_descriptor(cq_eval *ev, cq_val v)
{
    const cq_object *t = cq_object_of(v);

    return t && (t->kind == CQ_OBJECT_PROPERTY ||
                 (t->kind == CQ_OBJECT_INSTANCE && t->type &&
                  cq_class_find(t->type, cq_name(ev->program, "__set__"), NULL)));
}

/* ---- instances ---- */

static cq_val *own_value(cq_object *t, const char *name)
{
    cq_dict *dict = cq_instance_dict(t);

    return dict ? cq_dict_get_text(dict, name) : NULL;
}

/* Attributes that every object has. */
static cq_status common_member(cq_eval *ev, cq_val object, cq_object *t, const char *name,
                               cq_val *out, bool *found)
{
    cq_dict *dict;

    *found = true;
    if (strcmp(name, "__dict__") == 0) {
        CQ_TRY(cq_instance_make_dict(t, &dict));
        *out = cq_val_of_dict(dict);
        return CQ_OK;
    }
    if (strcmp(name, "__class__") == 0)
        return cq_python_type(ev, object, out);
    if (strcmp(name, "__module__") == 0)
        return text_of(ev, t->unit ? t->unit->qualifier : "", out);
    if (strcmp(name, "__doc__") == 0) {
        *out = CQ_NONE;
        return CQ_OK;
    }
    *found = false;
    return CQ_OK;
}

/* A method of `object` such as __init__ that a class does not define: a builtin, bound to the
 * object. */
static cq_status object_method(cq_eval *ev, cq_val object, const char *native, const char *name,
                               cq_val *out, bool *found)
{
    static const char *const methods[] = { "__init__",    "__setattr__",       "__getattribute__",
                                           "__delattr__", "__init_subclass__", "__repr__",
                                           "__str__",     "__hash__",          "__eq__",
                                           "__ne__",      "__getstate__",      "__dir__",
                                           "__format__" };
    char                     full[64];
    cq_object               *m;

    *found = CQ_IS_AMONG(name, methods);
    if (!*found)
        return CQ_OK;
    snprintf(full, sizeof full, "%s.%s",
             native && strcmp(name, "__init__") == 0 ? native : "object", name);
    CQ_TRY(cq_eval_new_object(ev, CQ_OBJECT_METHOD, full, out));
    m       = cq_object_of(*out);
    m->self = cq_val_retain(object);
    return CQ_OK;
}

/* The public attributes of builtin types, separated and surrounded by blanks. */
static const char *names_of_native(cq_val v)
{
    switch (v.kind) {
    case CQ_VAL_DICT:
        return " keys values items get pop update copy clear setdefault popitem fromkeys ";
    case CQ_VAL_LIST:
        return " append extend insert remove pop clear index count sort reverse copy ";
    case CQ_VAL_TUPLE: return " index count ";
    case CQ_VAL_INT:
    case CQ_VAL_BOOL:
        return " bit_length bit_count conjugate real imag numerator denominator to_bytes "
               "from_bytes ";
    case CQ_VAL_FLOAT: return " is_integer as_integer_ratio hex fromhex conjugate real imag ";
    case CQ_VAL_STR:
        return " capitalize casefold center count encode endswith expandtabs find format "
               "format_map index isalnum isalpha isascii isdecimal isdigit isidentifier islower "
               "isnumeric isprintable isspace istitle isupper join ljust lower lstrip maketrans "
               "partition removeprefix removesuffix replace rfind rindex rjust rpartition rsplit "
               "rstrip split splitlines startswith strip swapcase title translate upper zfill ";
    default: return NULL;
    }
}

bool cq_python_native_has(cq_val v, const char *name, bool *known)
{
    const char *names = names_of_native(v);
    char        word[32];

    *known = names != NULL;
    snprintf(word, sizeof word, " %.29s ", name);
    return names && strstr(names, word) != NULL;
}

/* A method of the builtin type that the class extends. */
static cq_status native_method(cq_eval *ev, const cq_object *t, const char *name, cq_val *out,
                               bool *found)
{
    bool known;

    *found = false;
    if (t->self.kind == CQ_VAL_NONE || cq_starts_with(name, "__init"))
        return CQ_OK;
    if (!cq_python_native_has(t->self, name, &known) && known && !cq_starts_with(name, "__"))
        return CQ_OK;
    *found = true;
    return cq_eval_attribute(ev, t->self, name, out);
}

static cq_status slow_member(cq_eval *ev, cq_val object, cq_object *t, const char *name,
                             cq_val *out, bool *found)
{
    CQ_TRY(common_member(ev, object, t, name, out, found));
    if (!*found && (!cq_starts_with(name, "__") || t->self.kind != CQ_VAL_NONE)) {
        /* __getattr__ is not called for names in the instance's dict. */
        if (t->self.kind != CQ_VAL_NONE && !cq_python_has_special(ev, object, "__getattr__"))
            CQ_TRY(native_method(ev, t, name, out, found));
        else if (t->self.kind == CQ_VAL_DICT) {
            static const char *const special[] = { "__getitem__", "__setitem__", "__contains__",
                                                   "__len__" };
            bool                     known;

            if (cq_python_native_has(t->self, name, &known) || CQ_IS_AMONG(name, special))
                CQ_TRY(native_method(ev, t, name, out, found));
        }
    }
    if (!*found)
        CQ_TRY(object_method(ev, object, t->type ? t->type->native_base : NULL, name, out, found));
    return CQ_OK;
}

cq_status cq_object_get(cq_eval *ev, cq_val object, const char *name, cq_val *out, bool *found)
{
    cq_object *t   = cq_object_of(object);
    cq_val    *own = own_value(t, name), *v = NULL;

    *found = true;
    if (t->type)
        v = cq_class_find(t->type, name, NULL);
    if (v && (!own || is_data_descriptor(ev, *v)))
        return bind(ev, *v, object, t->type, out);
    if (own) {
        *out = *own;
        return CQ_OK;
    }
    return slow_member(ev, object, t, name, out, found);
}

static cq_status no_attribute(cq_eval *ev, cq_val object, const char *name)
{
    return cq_python_raise(ev, "AttributeError", "'%s' object has no attribute '%s'",
                           cq_eval_type_name(object), name);
}

static cq_status instance_member(cq_eval *ev, cq_val object, cq_object *t, const char *name,
                                 cq_val *out)
{
    cq_val  text;
    bool    found;
    cq_val *hook = cq_class_find(t->type, cq_name(ev->program, "__getattribute__"), NULL);

    ev->program->reads_mode |= strcmp(name, "training") == 0;
    if (hook) {
        CQ_TRY(text_of(ev, name, &text));
        return cq_eval_call(ev, *hook, (cq_val[]){ object, text }, 2, out);
    }
    CQ_TRY(cq_object_get(ev, object, name, out, &found));
    if (found)
        return CQ_OK;
    CQ_TRY(text_of(ev, name, &text));
    CQ_TRY(cq_python_special(ev, object, "__getattr__", &text, 1, out, &found));
    return found ? CQ_OK : no_attribute(ev, object, name);
}

/* ---- classes ---- */

static cq_status class_bases(cq_eval *ev, const cq_object *cls, bool all, cq_val *out)
{
    CQ_TRY(cq_eval_list(ev, NULL, 0, CQ_VAL_TUPLE, out));
    for (size_t i = !all; i < cls->mro.n && (all || i < 2); i++)
        CQ_TRY(cq_list_push(out->u.list, cq_val_of_object(cls->mro.items[i])));
    return CQ_OK;
}

static cq_status class_dict(cq_eval *ev, const cq_object *cls, cq_val *out)
{
    CQ_TRY(cq_eval_new_dict(ev, out));
    for (size_t i = 0; i < cls->attributes.n; i++) {
        cq_val key;

        CQ_TRY(text_of(ev, cls->attributes.items[i].name, &key));
        CQ_TRY(cq_dict_set(out->u.dict, key, cls->attributes.items[i].value));
    }
    return CQ_OK;
}

static cq_status field_names(cq_eval *ev, const cq_object *cls, cq_val *out)
{
    CQ_TRY(cq_eval_list(ev, NULL, 0, CQ_VAL_TUPLE, out));
    for (size_t i = 0; i < cls->cls->n_fields; i++) {
        cq_val v;

        CQ_TRY(text_of(ev, cls->cls->fields[i].name, &v));
        CQ_TRY(cq_list_push(out->u.list, v));
    }
    return CQ_OK;
}

/* A separate object, because the defaults of a named tuple can be set through it. */
static cq_status constructor_of(cq_eval *ev, cq_object *cls, cq_val *out)
{
    cq_object *t;

    CQ_TRY(cq_object_new(&t, CQ_OBJECT_BUILTIN));
    t->text  = "__new__";
    t->owner = cls->cls->kind == CQ_CLASS_NAMED_TUPLE ? cls : NULL;
    return cq_eval_own(ev, cq_val_of_object(t), out);
}

static cq_status special_of_class(cq_eval *ev, cq_object *cls, const char *name, cq_val *out,
                                  bool *found)
{
    *found = true;
    if (strcmp(name, "__name__") == 0 || strcmp(name, "__qualname__") == 0)
        return text_of(ev, cls->cls->name, out);
    if (strcmp(name, "__module__") == 0)
        return text_of(ev, cls->unit->qualifier, out);
    if (strcmp(name, "__mro__") == 0 || strcmp(name, "__bases__") == 0)
        return class_bases(ev, cls, name[2] == 'm', out);
    if (strcmp(name, "__dict__") == 0)
        return class_dict(ev, cls, out);
    if (strcmp(name, "__annotations__") == 0)
        return cq_eval_new_dict(ev, out);
    if (strcmp(name, "__class__") == 0)
        return cq_python_type(ev, cq_val_of_object(cls), out);
    if (strcmp(name, "_fields") == 0 && cls->cls->kind == CQ_CLASS_NAMED_TUPLE)
        return field_names(ev, cls, out);
    if (strcmp(name, "__doc__") == 0) {
        *out = CQ_NONE;
        return CQ_OK;
    }
    if (strcmp(name, "__new__") == 0)
        return constructor_of(ev, cls, out);
    *found = false;
    return CQ_OK;
}

/* A method of the metaclass, bound to the class. */
static cq_status meta_member(cq_eval *ev, cq_object *cls, const char *name, cq_val *out,
                             bool *found)
{
    cq_val *v = cls->type ? cq_class_find(cls->type, name, NULL) : NULL;

    *found = v != NULL;
    return v ? bind(ev, *v, cq_val_of_object(cls), cls->type, out) : CQ_OK;
}

static cq_status class_member(cq_eval *ev, cq_object *cls, const char *name, cq_val *out)
{
    cq_val *v = cq_class_find(cls, name, NULL), text;
    bool    found;

    if (v && strcmp(name, "__class_getitem__") == 0 && cq_object_as(*v, CQ_OBJECT_FUNCTION))
        return bind(ev, *v, cq_val_of_object(cls), cls, out);
    if (v)
        return bind(ev, *v, CQ_NONE, cls, out);
    CQ_TRY(special_of_class(ev, cls, name, out, &found));
    if (!found)
        CQ_TRY(meta_member(ev, cls, name, out, &found));
    if (!found && cls->type &&
        cq_class_find(cls->type, cq_name(ev->program, "__getattr__"), NULL)) {
        CQ_TRY(text_of(ev, name, &text));
        return cq_python_special(ev, cq_val_of_object(cls), "__getattr__", &text, 1, out, &found);
    }
    if (!found && cls->native_base) { /* dict.keys: a function of the builtin type */
        char full[128];

        found = true;
        snprintf(full, sizeof full, "%.100s", name);
        return cq_eval_new_object(ev, CQ_OBJECT_BUILTIN, full, out);
    }
    if (!found) { /* a class without __init__ inherits object's */
        char full[128];

        if (strcmp(name, "__init__") == 0 || strcmp(name, "__setattr__") == 0 ||
            strcmp(name, "__delattr__") == 0 || strcmp(name, "__getattribute__") == 0) {
            snprintf(full, sizeof full, "object.%s", name);
            return cq_eval_new_object(ev, CQ_OBJECT_BUILTIN, full, out);
        }
    }
    return found ? CQ_OK
                 : cq_python_raise(ev, "AttributeError", "type object '%s' has no attribute '%s'",
                                   cls->cls->name, name);
}

/* ---- super() ---- */

static cq_status super_member(cq_eval *ev, const cq_object *t, const char *name, cq_val *out)
{
    cq_object *self  = cq_object_of(t->self);
    cq_object *cls   = self->kind == CQ_OBJECT_CLASS ? self : self->type;
    bool       found = false;
    size_t     i     = 0;

    /* super() in a metaclass: the class is an instance of it. */
    if (self->kind == CQ_OBJECT_CLASS && self->type && cq_class_is_a(self->type, t->type) &&
        !cq_class_is_a(self, t->type))
        cls = self->type;
    while (i < cls->mro.n && cls->mro.items[i] != t->type)
        i++;
    for (i++; i < cls->mro.n; i++) {
        const size_t at = (size_t)(uintptr_t)cq_ptr_map_get(&cls->mro.items[i]->members, name);

        if (at) {
            const cq_val v = cls->mro.items[i]->attributes.items[at - 1].value;
            cq_object   *f = cq_object_as(v, CQ_OBJECT_FUNCTION);

            if (strcmp(name, "__new__") == 0 || (self->kind == CQ_OBJECT_CLASS && cls == self &&
                                                 f && strcmp(name, "__init_subclass__") != 0)) {
                *out = v;
                return CQ_OK;
            }
            return bind(ev, v, t->self, cls, out);
        }
    }
    if (strcmp(name, "__new__") == 0)
        return cq_eval_new_object(ev, CQ_OBJECT_BUILTIN, "__new__", out);
    if (strcmp(name, "__call__") == 0 && self->kind == CQ_OBJECT_CLASS) {
        CQ_TRY(cq_eval_new_object(ev, CQ_OBJECT_METHOD, "type.__call__", out));
        cq_object_of(*out)->self = cq_val_retain(t->self);
        return CQ_OK;
    }
    CQ_TRY(native_method(ev, self, name, out, &found));
    if (!found)
        CQ_TRY(object_method(ev, t->self, cls->native_base, name, out, &found));
    return found ? CQ_OK
                 : cq_python_raise(ev, "AttributeError", "'super' object has no attribute '%s'",
                                   name);
}

/* ---- functions, modules and other values ---- */

/* The docstring of a function: its first statement, behind assignments of desugar.c. */
static const cq_ast_expr *doc_of(const cq_ast_block *b)
{
    for (size_t i = 0; i < b->n; i++) {
        const cq_ast_stmt *s = b->items[i];

        if (s->kind == CQ_S_EXPR)
            return s->u.value->kind == CQ_X_STR ? s->u.value : NULL;
        if (s->kind != CQ_S_ASSIGN || s->u.assign.targets.items[0]->kind != CQ_X_NAME ||
            s->u.assign.targets.items[0]->u.name[0] != '%')
            return NULL;
    }
    return NULL;
}

static cq_status text_or_none(cq_eval *ev, const cq_ast_expr *x, cq_val *out)
{
    *out = CQ_NONE;
    return x ? text_of(ev, x->u.str.text, out) : CQ_OK;
}

static cq_status function_member(cq_eval *ev, cq_object *t, const char *name, cq_val *out)
{
    cq_val *own = cq_object_attribute(t, name);

    if (own) {
        *out = *own;
        return CQ_OK;
    }
    if (strcmp(name, "__name__") == 0 || strcmp(name, "__qualname__") == 0)
        return text_of(ev, t->def->name ? t->def->name : "<lambda>", out);
    if (strcmp(name, "__module__") == 0)
        return text_of(ev, t->unit->qualifier, out);
    if (strcmp(name, "__self__") == 0 && t->self.kind != CQ_VAL_NONE) {
        *out = t->self;
        return CQ_OK;
    }
    if (strcmp(name, "__func__") == 0) {
        CQ_TRY(bind_function(ev, t, CQ_NONE, out));
        return CQ_OK;
    }
    if (strcmp(name, "__doc__") == 0)
        return text_or_none(ev, doc_of(&t->def->body), out);
    if (strcmp(name, "__defaults__") == 0) {
        *out = CQ_NONE;
        return CQ_OK;
    }
    if (strcmp(name, "__dict__") == 0 || strcmp(name, "__annotations__") == 0)
        return cq_eval_new_dict(ev, out);
    if (strcmp(name, "__class__") == 0)
        return cq_python_type(ev, cq_val_of_object(t), out);
    return cq_python_raise(ev, "AttributeError", "'function' object has no attribute '%s'", name);
}

static cq_status property_member(cq_eval *ev, cq_val object, const char *name, cq_val *out)
{
    static const char *const names[] = { "getter", "setter", "deleter" };
    static const char *const parts[] = { "fget", "fset", "fdel" };
    char                     full[32];

    for (size_t i = 0; i < 3; i++)
        if (strcmp(name, parts[i]) == 0) {
            *out = cq_object_of(object)->self.u.list->items[i];
            return CQ_OK;
        }
    if (!CQ_IS_AMONG(name, names))
        return no_attribute(ev, object, name);
    snprintf(full, sizeof full, "property.%s", name);
    CQ_TRY(cq_eval_new_object(ev, CQ_OBJECT_METHOD, full, out));
    cq_object_of(*out)->self = cq_val_retain(object);
    return CQ_OK;
}

static cq_status slice_member(const cq_object *t, const char *name, cq_val *out, bool *found)
{
    static const char *const parts[] = { "start", "stop", "step" };

    for (size_t i = 0; i < 3; i++)
        if (strcmp(name, parts[i]) == 0) {
            *out = t->self.u.list->items[i];
            return CQ_OK;
        }
    *found = false;
    return CQ_OK;
}

static cq_status range_member(const cq_object *t, const char *name, cq_val *out, bool *found)
{
    *found = true;
    if (strcmp(name, "start") == 0)
        *out = cq_val_of_int(t->start);
    else if (strcmp(name, "stop") == 0)
        *out = cq_val_of_int(t->stop);
    else if (strcmp(name, "step") == 0)
        *out = cq_val_of_int(t->step);
    else
        *found = false;
    return CQ_OK;
}

static cq_status named_member(cq_eval *ev, cq_val object, cq_object *t, const char *name,
                              cq_val *out, bool *found)
{
    cq_val *v;

    *found = true;
    for (size_t i = 0; i < t->cls->n_fields; i++)
        if (strcmp(t->cls->fields[i].name, name) == 0) {
            *out = t->self.u.list->items[i];
            return CQ_OK;
        }
    v = t->type ? cq_class_find(t->type, name, NULL) : NULL;
    if (v)
        return bind(ev, *v, object, t->type, out);
    if (strcmp(name, "_fields") == 0)
        return field_names(ev, t->type, out);
    if (strcmp(name, "__class__") == 0)
        return cq_python_type(ev, object, out);
    if (strcmp(name, "_asdict") == 0 || strcmp(name, "_replace") == 0) {
        char full[32];

        snprintf(full, sizeof full, "named.%s", name);
        CQ_TRY(cq_eval_new_object(ev, CQ_OBJECT_METHOD, full, out));
        cq_object_of(*out)->self = cq_val_retain(object);
        return CQ_OK;
    }
    *found = false;
    if (strcmp(name, "index") == 0 || strcmp(name, "count") == 0)
        return cq_eval_attribute(ev, t->self, name, out);
    return CQ_OK;
}

/* An attribute of a builtin type or function: int.__name__, dict.fromkeys,
 * torch.ops.aten.add.Tensor. */
static cq_status builtin_member(cq_eval *ev, const cq_object *t, const char *name, cq_val *out,
                                bool *found)
{
    char full[300];

    *found = true;
    if (strcmp(name, "__name__") == 0 || strcmp(name, "__qualname__") == 0) {
        const char *colon = strrchr(t->text, ':');

        return text_of(ev, colon ? colon + 1 : t->text, out);
    }
    if (strcmp(name, "__module__") == 0)
        return text_of(
            ev, strchr(t->text, ':') || !cq_python_is_type_name(t->text) ? "torch" : "builtins",
            out);
    if (cq_python_is_type_name(t->text)) {
        /* str.lower(x): a method as a function; object.__setattr__ */
        if (cq_starts_with(name, "__") || strcmp(name, "fromkeys") == 0)
            snprintf(full, sizeof full, "%.100s.%.100s",
                     strcmp(name, "fromkeys") == 0 || strcmp(t->text, "type") == 0 ||
                             strcmp(name, "__init__") == 0
                         ? t->text
                         : "object",
                     name);
        else
            snprintf(full, sizeof full, "aten::%.200s", name);
        return cq_eval_new_object(ev, CQ_OBJECT_BUILTIN, full, out);
    }
    if (strcmp(name, "__doc__") == 0) {
        *out = CQ_NONE;
        return CQ_OK;
    }
    if (cq_starts_with(name, "__")) /* not an overload of the operator */
        return cq_python_raise(ev, "AttributeError", "'%s' object has no attribute '%s'", t->text,
                               name);
    *found = false;
    return CQ_OK;
}

/* Attributes of a dtype, which is a number in archives. */
static cq_status dtype_member(cq_eval *ev, cq_val object, const char *name, cq_val *out)
{
    static const uint8_t sizes[] = { 1, 1, 2, 4, 8, 2, 4, 8, 4, 8, 16, 1, 1, 1, 4, 2 };
    const int64_t        n       = cq_object_of(object)->self.u.i.value;

    if (strcmp(name, "is_floating_point") == 0)
        *out = cq_val_of_bool((n >= 5 && n <= 7) || n == 15 || (n >= 23 && n <= 27));
    else if (strcmp(name, "is_complex") == 0)
        *out = cq_val_of_bool(n >= 8 && n <= 10);
    else if (strcmp(name, "is_signed") == 0)
        *out = cq_val_of_bool(n != 0 && n != 11);
    else if (strcmp(name, "itemsize") == 0)
        *out = cq_val_of_i64(n < 16 ? sizes[n] : 1);
    else if (strcmp(name, "__class__") == 0)
        return cq_python_type(ev, object, out);
    else
        return no_attribute(ev, object, name);
    return CQ_OK;
}

cq_status cq_python_attribute(cq_eval *ev, cq_val object, const char *name, cq_val *out,
                              bool *found)
{
    cq_object *t = cq_object_of(object);

    *found = t != NULL;
    if (!t)
        return CQ_OK;
    switch (t->kind) {
    case CQ_OBJECT_INSTANCE:
        *found = t->type != NULL;
        return t->type ? instance_member(ev, object, t, name, out) : CQ_OK;
    case CQ_OBJECT_CLASS:
        *found = t->mro.n != 0;
        return t->mro.n ? class_member(ev, t, name, out) : CQ_OK;
    case CQ_OBJECT_SUPER: return super_member(ev, t, name, out);
    case CQ_OBJECT_MODULE: return cq_python_member(ev, t, name, out);
    case CQ_OBJECT_LAZY:
        CQ_TRY(cq_lazy_resolve(ev, object, &object));
        return cq_eval_attribute(ev, object, name, out);
    case CQ_OBJECT_FUNCTION: return function_member(ev, t, name, out);
    case CQ_OBJECT_PROPERTY: return property_member(ev, object, name, out);
    case CQ_OBJECT_SLICE: return slice_member(t, name, out, found);
    case CQ_OBJECT_RANGE: return range_member(t, name, out, found);
    case CQ_OBJECT_NAMED: return named_member(ev, object, t, name, out, found);
    case CQ_OBJECT_BUILTIN: return builtin_member(ev, t, name, out, found);
    case CQ_OBJECT_DTYPE: return dtype_member(ev, object, name, out);
    default: *found = false; return CQ_OK;
    }
}

/* ---- changes ---- */

/* self.__dict__ = a dict (often self, which extends dict), or self.__class__ = a class. */
static cq_status set_identity(cq_eval *ev, cq_object *t, const char *name, cq_val v)
{
    cq_object *cls  = cq_object_as(v, CQ_OBJECT_CLASS);
    cq_dict   *dict = cq_python_dict_of(v), *old;

    if (ev->journaling)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "%s cannot be set in a data-dependent branch",
                       name);
    if (strcmp(name, "__dict__") == 0 && dict) {
        CQ_TRY(cq_instance_make_dict(t, &old));
        cq_val_set(&t->attributes.items[0].value, cq_val_of_dict(dict));
        return CQ_OK;
    }
    if (strcmp(name, "__class__") == 0 && cls && cls->mro.n) {
        t->type = cls;
        return CQ_OK;
    }
    return cq_python_raise(ev, "TypeError", "%s must be set to a %s, not %s", name,
                           name[2] == 'd' ? "dict" : "class", cq_eval_type_name(v));
}

cq_status cq_object_set(cq_eval *ev, cq_val object, const char *name, cq_val v)
{
    cq_object *t    = cq_object_of(object);
    cq_val    *desc = t->type ? cq_class_find(t->type, name, NULL) : NULL, key, ignored;
    cq_object *p    = desc ? cq_object_as(*desc, CQ_OBJECT_PROPERTY) : NULL;
    cq_dict   *dict;
    bool       found;

    if (p) {
        if (p->self.u.list->items[1].kind == CQ_VAL_NONE)
            return cq_python_raise(ev, "AttributeError", "property '%s' of '%s' has no setter",
                                   name, cq_eval_type_name(object));
        return cq_eval_call(ev, p->self.u.list->items[1], (cq_val[]){ object, v }, 2, &ignored);
    }
    if (desc && is_data_descriptor(ev, *desc))
        return cq_python_special(ev, *desc, "__set__", (cq_val[]){ object, v }, 2, &ignored,
                                 &found);
    if (strcmp(name, "__class__") == 0 || strcmp(name, "__dict__") == 0)
        return set_identity(ev, t, name, v);
    CQ_TRY(cq_instance_make_dict(t, &dict));
    CQ_TRY(cq_eval_will_change(ev, cq_val_of_dict(dict)));
    CQ_TRY(text_of(ev, name, &key));
    return cq_dict_set(dict, key, v);
}

/* Named.__new__.__defaults__ = (None, None): sets the defaults of the last fields of a named
 * tuple. */
static cq_status set_defaults(cq_eval *ev, cq_object *cls, const cq_list *values)
{
    const size_t n = cls->cls->n_fields;

    for (size_t i = 0; i < values->n && i < n; i++)
        CQ_TRY(cq_class_set(ev, cls, cls->cls->fields[n - 1 - i].name,
                            values->items[values->n - 1 - i]));
    return CQ_OK;
}

cq_status cq_python_set_attribute(cq_eval *ev, cq_val object, const char *name, cq_val v,
                                  bool *done)
{
    cq_object *t = cq_object_of(object);
    cq_val     text, ignored;
    bool       found = false;

    *done = true;
    if (t && t->kind == CQ_OBJECT_CLASS && t->mro.n)
        return cq_class_set(ev, t, name, v);
    if (t && t->kind == CQ_OBJECT_MODULE) {
        CQ_TRY(cq_python_run(ev, t));
        return cq_frame_set(ev, t->globals, name, v);
    }
    if (t && t->kind == CQ_OBJECT_FUNCTION) {
        cq_val *slot = cq_object_attribute(t, name);

        if (!slot) {
            CQ_TRY(cq_vec_push(&t->attributes, (cq_attribute){ name, CQ_NONE }));
            slot = &t->attributes.items[t->attributes.n - 1].value;
        }
        cq_val_set(slot, v);
        return CQ_OK;
    }
    if (t && t->kind == CQ_OBJECT_BUILTIN && t->owner && strcmp(name, "__defaults__") == 0 &&
        cq_val_is_list(v))
        return set_defaults(ev, t->owner, v.u.list);
    *done = t && t->kind == CQ_OBJECT_INSTANCE && t->type;
    if (!*done)
        return CQ_OK;
    if (cq_class_find(t->type, cq_name(ev->program, "__setattr__"), NULL)) {
        CQ_TRY(text_of(ev, name, &text));
        return cq_python_special(ev, object, "__setattr__", (cq_val[]){ text, v }, 2, &ignored,
                                 &found);
    }
    return cq_object_set(ev, object, name, v);
}

cq_status cq_object_del(cq_eval *ev, cq_val object, const char *name)
{
    cq_object *t    = cq_object_of(object);
    cq_dict   *dict = cq_instance_dict(t);
    cq_val    *cls  = t->type ? cq_class_find(t->type, name, NULL) : NULL;
    cq_object *own  = cls ? cq_object_as(*cls, CQ_OBJECT_PROPERTY) : NULL;
    cq_val     key, ignored;

    if (own && own->self.u.list->items[2].kind != CQ_VAL_NONE)
        return cq_eval_call(ev, own->self.u.list->items[2], &object, 1, &ignored);
    if (!dict || !cq_dict_get_text(dict, name))
        return no_attribute(ev, object, name);
    CQ_TRY(cq_eval_will_change(ev, cq_val_of_dict(dict)));
    CQ_TRY(text_of(ev, name, &key));
    cq_dict_remove(dict, key);
    return CQ_OK;
}

cq_status cq_python_del_attribute(cq_eval *ev, cq_val object, const char *name)
{
    cq_object *t = cq_object_as(object, CQ_OBJECT_INSTANCE);
    cq_val     text, ignored;
    bool       found;

    if (!t || !t->type)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "an attribute of %s cannot be deleted",
                       cq_eval_type_name(object));
    CQ_TRY(text_of(ev, name, &text));
    CQ_TRY(cq_python_special(ev, object, "__delattr__", &text, 1, &ignored, &found));
    return found ? CQ_OK : cq_object_del(ev, object, name);
}

/* ---- special methods ---- */

static cq_object *class_of(cq_val v)
{
    cq_object *t = cq_object_of(v);

    return t && (t->kind == CQ_OBJECT_INSTANCE || t->kind == CQ_OBJECT_CLASS ||
                 t->kind == CQ_OBJECT_NAMED)
               ? t->type
               : NULL;
}

bool cq_python_has_special(cq_eval *ev, cq_val object, const char *name)
{
    cq_object *cls = class_of(object);
    cq_val    *v   = cls ? cq_class_find(cls, cq_name(ev->program, name), NULL) : NULL;

    return v && v->kind != CQ_VAL_NONE;
}

cq_status cq_python_special(cq_eval *ev, cq_val object, const char *name, const cq_val *args,
                            size_t n, cq_val *out, bool *found)
{
    cq_object *cls = class_of(object);
    cq_val    *v   = cls ? cq_class_find(cls, cq_name(ev->program, name), NULL) : NULL, method;

    *found = v && v->kind != CQ_VAL_NONE;
    if (!*found)
        return CQ_OK;
    CQ_TRY(bind(ev, *v, object, cls, &method));
    return cq_eval_call(ev, method, args, n, out);
}

static const char *const dunders[][2] = {
    [CQ_AST_ADD]         = { "__add__", "__radd__" },
    [CQ_AST_SUB]         = { "__sub__", "__rsub__" },
    [CQ_AST_MUL]         = { "__mul__", "__rmul__" },
    [CQ_AST_DIV]         = { "__truediv__", "__rtruediv__" },
    [CQ_AST_FLOOR_DIV]   = { "__floordiv__", "__rfloordiv__" },
    [CQ_AST_MOD]         = { "__mod__", "__rmod__" },
    [CQ_AST_POW]         = { "__pow__", "__rpow__" },
    [CQ_AST_MATMUL]      = { "__matmul__", "__rmatmul__" },
    [CQ_AST_SHIFT_LEFT]  = { "__lshift__", "__rlshift__" },
    [CQ_AST_SHIFT_RIGHT] = { "__rshift__", "__rrshift__" },
    [CQ_AST_BIT_AND]     = { "__and__", "__rand__" },
    [CQ_AST_BIT_OR]      = { "__or__", "__ror__" },
    [CQ_AST_BIT_XOR]     = { "__xor__", "__rxor__" },
    [CQ_AST_EQ]          = { "__eq__", "__eq__" },
    [CQ_AST_NE]          = { "__ne__", "__ne__" },
    [CQ_AST_LT]          = { "__lt__", "__gt__" },
    [CQ_AST_LE]          = { "__le__", "__ge__" },
    [CQ_AST_GT]          = { "__gt__", "__lt__" },
    [CQ_AST_GE]          = { "__ge__", "__le__" },
    [CQ_AST_IN]          = { NULL, "__contains__" },
    [CQ_AST_NOT_IN]      = { NULL, "__contains__" },
    [CQ_AST_NEG]         = { "__neg__", NULL },
    [CQ_AST_POS]         = { "__pos__", NULL },
    [CQ_AST_BIT_NOT]     = { "__invert__", NULL },
    [CQ_AST_NOT]         = { NULL, NULL },
};

static bool is_not_implemented(cq_val v)
{
    const cq_object *t = cq_object_as(v, CQ_OBJECT_BUILTIN);

    return t && strcmp(t->text, "NotImplemented") == 0;
}

/* Without __ne__, a != b is not (a == b). */
static cq_status negate_eq(cq_eval *ev, cq_val a, cq_val b, cq_val *out, bool *found)
{
    CQ_TRY(cq_python_binary(ev, CQ_AST_EQ, a, b, out, found));
    if (!*found)
        return CQ_OK;
    return CQ_CALL(ev, out, "aten::__not__", *out);
}

static bool is_type(cq_val v)
{
    const cq_object *t = cq_object_of(v);

    return v.kind == CQ_VAL_NONE ||
           (t && (t->kind == CQ_OBJECT_CLASS ||
                  (t->kind == CQ_OBJECT_BUILTIN && cq_python_is_type_name(t->text))));
}

/* int | None: isinstance expects a tuple of types. */
static cq_status join_types(cq_eval *ev, cq_val a, cq_val b, cq_val *out)
{
    const cq_val both[2] = { a, b };

    CQ_TRY(cq_eval_list(ev, NULL, 0, CQ_VAL_TUPLE, out));
    for (size_t i = 0; i < 2; i++)
        CQ_TRY(both[i].kind == CQ_VAL_TUPLE ? cq_list_add(out->u.list, both[i].u.list)
                                            : cq_list_push(out->u.list, both[i]));
    return CQ_OK;
}

static bool is_unary(cq_ast_op op)
{
    return op == CQ_AST_NEG || op == CQ_AST_POS || op == CQ_AST_BIT_NOT;
}

/* b is None for a unary operator. */
cq_status cq_python_binary(cq_eval *ev, cq_ast_op op, cq_val a, cq_val b, cq_val *out, bool *found)
{
    const char *const *names = dunders[op];

    *found = false;
    if (a.kind != CQ_VAL_OBJECT && b.kind != CQ_VAL_OBJECT)
        return CQ_OK;
    if (names[0])
        CQ_TRY(cq_python_special(ev, a, names[0], &b, !is_unary(op), out, found));
    if (*found && is_not_implemented(*out))
        *found = false;
    if (!*found && names[1])
        CQ_TRY(cq_python_special(ev, b, names[1], &a, 1, out, found));
    if (*found && is_not_implemented(*out))
        *found = false;
    if (!*found && op == CQ_AST_NE)
        return negate_eq(ev, a, b, out, found);
    if (!*found && op == CQ_AST_BIT_OR &&
        ((is_type(a) && (is_type(b) || b.kind == CQ_VAL_TUPLE)) ||
         (is_type(b) && a.kind == CQ_VAL_TUPLE))) {
        *found = true;
        return join_types(ev, a, b, out);
    }
    if (*found && op == CQ_AST_NOT_IN)
        return CQ_CALL(ev, out, "aten::__not__", *out);
    return CQ_OK;
}

cq_status cq_python_in_place(cq_eval *ev, cq_ast_op op, cq_val a, cq_val b, cq_val *out,
                             bool *found)
{
    const char *name = dunders[op][0];
    char        in_place[32];

    *found = false;
    if (!name)
        return CQ_OK;
    snprintf(in_place, sizeof in_place, "__i%s", name + 2);
    return cq_python_special(ev, a, in_place, &b, 1, out, found);
}
