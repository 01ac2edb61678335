/* Builtins of Python source: they are tried before any other, with the objects themselves and not
 * with the native value of an instance of an extended builtin type. */
#include "script/builtins/builtin.h"
#include "base/str.h"
#include "script/flow/aliases.h"
#include "script/flow/join.h"
#include "script/python/python.h"

#include <math.h>
#include <stdio.h>

static bool is_object(cq_val v)
{
    return v.kind == CQ_VAL_OBJECT;
}

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

    if (c->n == 1)
        return cq_python_type(c->ev, c->args[0], &c->result);
    if (c->args[0].kind == CQ_VAL_TENSOR) /* x.type(dtype) casts */
        return cq_fncall_decline(c);
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
static bool has_plain(cq_eval *ev, cq_val v, const char *name)
{
    static const char *const sized[] = { "__iter__", "__len__", "__getitem__", "__contains__" };
    char                     full[128];

    if (v.kind == CQ_VAL_NONE)
        return false;
    if (CQ_IS_AMONG(name, sized))
        return v.kind == CQ_VAL_LIST || v.kind == CQ_VAL_TUPLE || v.kind == CQ_VAL_DICT ||
               v.kind == CQ_VAL_STR || v.kind == CQ_VAL_TENSOR;
    snprintf(full, sizeof full, "aten::%.100s", name);
    if (v.kind == CQ_VAL_TENSOR) {
        static const char *const plain[] = { "shape", "dtype", "device",  "ndim", "requires_grad",
                                             "grad",  "data",  "is_cuda", "T" };

        return CQ_IS_AMONG(name, plain) || cq_builtin_exists(name) || cq_op_overloads(full) != NULL;
    }
    (void)ev;
    return cq_builtin_exists(name);
}

static cq_status any_hasattr(cq_fncall *c)
{
    cq_val v;
    bool   found;

    if (!is_object(c->args[0])) {
        c->result = cq_val_of_bool(has_plain(c->ev, c->args[0], c->args[1].u.text->text));
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

    if (c->n > 2 && !is_object(c->args[0]) && !has_plain(c->ev, c->args[0], name)) {
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

static cq_status do_nothing(cq_fncall *c)
{
    c->result = CQ_NONE;
    return CQ_OK;
}

/* dict.__init__ and list.__init__ of an instance that extends one. */
static cq_status native_init(cq_fncall *c)
{
    cq_object *t    = cq_object_as(c->args[0], CQ_OBJECT_INSTANCE);
    cq_fncall  make = *c;

    if (!t || !t->type || (t->self.kind != CQ_VAL_DICT && t->self.kind != CQ_VAL_LIST))
        return do_nothing(c);
    make.args++;
    make.n--;
    make.name = NULL;
    CQ_TRY(cq_eval_new_object(c->ev, CQ_OBJECT_BUILTIN,
                              t->self.kind == CQ_VAL_DICT ? "dict" : "list", &make.callee));
    CQ_TRY(cq_fncall_run(&make));
    CQ_TRY(cq_eval_will_change(c->ev, t->self));
    if (t->self.kind == CQ_VAL_DICT)
        CQ_TRY(cq_dict_add(t->self.u.dict, make.result.u.dict));
    else
        CQ_TRY(cq_list_add(t->self.u.list, make.result.u.list));
    return do_nothing(c);
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
    const bool same =
        is_object(c->args[0]) && is_object(c->args[1]) && c->args[0].u.box == c->args[1].u.box;

    c->result = cq_val_of_bool(same != (c->row->how != 0));
    return CQ_OK;
}

/* id(x): the address, which is the same as long as the value is. */
static cq_status any_id(cq_fncall *c)
{
    const void *p = cq_val_container(c->args[0]);

    if (!p && c->args[0].kind == CQ_VAL_TENSOR)
        p = c->args[0].u.tensor;
    if (!p && is_object(c->args[0]))
        p = c->args[0].u.box;
    c->result = cq_val_of_i64((int64_t)((uintptr_t)p & INT64_MAX));
    return CQ_OK;
}

static cq_status any_hash(cq_fncall *c)
{
    bool found;

    if (!is_object(c->args[0]))
        return cq_fncall_decline(c);
    CQ_TRY(cq_python_special(c->ev, c->args[0], "__hash__", NULL, 0, &c->result, &found));
    return found ? CQ_OK : any_id(c);
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

    CQ_TRY(cq_eval_new_dict(c->ev, &c->result));
    for (size_t i = 0; f && i < f->slots.cap; i++) {
        cq_val key, v;

        if (!f->slots.slots[i].key || *(const char *)f->slots.slots[i].key == '%')
            continue;
        CQ_TRY(cq_builtin_text(c->ev, f->slots.slots[i].key, strlen(f->slots.slots[i].key), &key));
        v = f->values.items[(size_t)(uintptr_t)f->slots.slots[i].value - 1];
        if (cq_object_as(v, CQ_OBJECT_LAZY) && !cq_object_of(cq_object_of(v)->self))
            continue;
        if (cq_object_as(v, CQ_OBJECT_LAZY))
            CQ_TRY(cq_lazy_resolve(c->ev, v, &v));
        CQ_TRY(cq_dict_set(c->result.u.dict, key, v));
    }
    return CQ_OK;
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

/* @x.setter: a property with another part. */
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

/* ---- iteration ---- */

static cq_status any_iter(cq_fncall *c)
{
    return cq_python_iter(c->ev, c->args[0], &c->result);
}

static cq_status any_next(cq_fncall *c)
{
    bool over;

    CQ_TRY(cq_python_next(c->ev, c->args[0], &c->result, &over));
    if (over && c->n < 2)
        return cq_python_raise(c->ev, "StopIteration", "the iterator has no more items");
    if (over)
        c->result = c->args[1];
    return CQ_OK;
}

/* f(iterable, …) of instances, iterators and ranges: the builtin is called with lists. */
static cq_status with_lists(cq_fncall *c)
{
    cq_fncall call   = *c;
    bool      change = false;
    cq_val    list;

    for (size_t i = 0; i < c->n; i++) {
        const cq_object *t = cq_object_of(c->args[i]);

        change |= t && (t->kind == CQ_OBJECT_ITERATOR ||
                        ((t->kind == CQ_OBJECT_INSTANCE || t->kind == CQ_OBJECT_CLASS) && t->type));
    }
    if (!change)
        return cq_fncall_decline(c);
    CQ_TRY(cq_eval_list(c->ev, NULL, 0, CQ_VAL_LIST, &list));
    for (size_t i = 0; i < c->n; i++) {
        const cq_object *t = cq_object_of(c->args[i]);
        cq_val           v = c->args[i];

        if (t && (t->kind == CQ_OBJECT_ITERATOR || t->type) &&
            !(cq_python_dict_of(v) && c->row->how)) {
            cq_list *items;

            CQ_TRY(cq_eval_known_items(c->ev, v, NULL, &items));
            v = cq_val_of_list(items);
        }
        CQ_TRY(cq_list_push(list.u.list, v));
    }
    call.args = list.u.list->items;
    CQ_TRY(cq_eval_new_object(c->ev, CQ_OBJECT_BUILTIN, c->name, &call.callee));
    call.name = NULL;
    CQ_TRY(cq_fncall_run(&call));
    c->result = call.result;
    return CQ_OK;
}

/* zip() with an endless iterator: as many as the shortest of the others. */
static cq_status zip_lazily(cq_fncall *c)
{
    bool   lazy = false, over = false;
    cq_val iterators, item, tuple;

    for (size_t i = 0; i < c->n; i++)
        lazy |= cq_python_is_lazy_iterable(c->ev, c->args[i]);
    if (!lazy)
        return with_lists(c);
    CQ_TRY(cq_eval_list(c->ev, NULL, 0, CQ_VAL_LIST, &iterators));
    for (size_t i = 0; i < c->n; i++) {
        CQ_TRY(cq_python_iter(c->ev, c->args[i], &item));
        CQ_TRY(cq_list_push(iterators.u.list, item));
    }
    CQ_TRY(cq_eval_list(c->ev, NULL, 0, CQ_VAL_LIST, &c->result));
    while (c->result.u.list->n < CQ_EVAL_MAX_ITEMS) {
        CQ_TRY(cq_eval_step(c->ev));
        CQ_TRY(cq_eval_list(c->ev, NULL, 0, CQ_VAL_TUPLE, &tuple));
        for (size_t i = 0; i < c->n; i++) {
            CQ_TRY(cq_python_next(c->ev, iterators.u.list->items[i], &item, &over));
            if (over)
                return CQ_OK;
            CQ_TRY(cq_list_push(tuple.u.list, item));
        }
        CQ_TRY(cq_list_push(c->result.u.list, tuple));
    }
    return cq_fail(CQ_E_UNSUPPORTED, "zip", NULL, "the iterators have more than %d items",
                   CQ_EVAL_MAX_ITEMS);
}

static cq_status any_len(cq_fncall *c)
{
    bool     found;
    cq_list *items;

    if (!is_object(c->args[0]))
        return cq_fncall_decline(c);
    CQ_TRY(cq_python_special(c->ev, c->args[0], "__len__", NULL, 0, &c->result, &found));
    if (found)
        return CQ_OK;
    if (cq_object_as(c->args[0], CQ_OBJECT_NAMED) || cq_object_as(c->args[0], CQ_OBJECT_RANGE)) {
        const cq_object *r = cq_object_as(c->args[0], CQ_OBJECT_RANGE);

        if (r && (r->start.expr || r->stop.expr || r->step.expr))
            return CQ_CALL(c->ev, &c->result, "aten::__range_length", cq_val_of_int(r->start),
                           cq_val_of_int(r->stop), cq_val_of_int(r->step));
        CQ_TRY(cq_eval_known_items(c->ev, c->args[0], "len", &items));
        c->result = cq_val_of_i64((int64_t)items->n);
        return CQ_OK;
    }
    return cq_fncall_decline(c);
}

static cq_status plus(cq_eval *ev, cq_val a, cq_val b, cq_val *out)
{
    bool found;

    CQ_TRY(cq_python_binary(ev, CQ_AST_ADD, a, b, out, &found));
    return found ? CQ_OK : CQ_CALL(ev, out, "aten::add", a, b);
}

/* sum of anything that can be added. */
static cq_status any_sum(cq_fncall *c)
{
    cq_list *items;

    if (c->args[0].kind == CQ_VAL_TENSOR)
        return cq_fncall_decline(c);
    CQ_TRY(cq_eval_known_items(c->ev, c->args[0], "sum", &items));
    c->result = c->n > 1 ? c->args[1] : cq_val_of_i64(0);
    for (size_t i = 0; i < items->n; i++) {
        CQ_TRY(cq_eval_step(c->ev));
        CQ_TRY(plus(c->ev, c->result, items->items[i], &c->result));
    }
    return CQ_OK;
}

/* any and all of known truths end at the first that decides. */
static cq_status any_all(cq_fncall *c)
{
    const bool all = c->row->how;
    cq_list   *items;
    cq_val     truth;

    if (c->args[0].kind == CQ_VAL_TENSOR)
        return cq_fncall_decline(c);
    CQ_TRY(cq_eval_known_items(c->ev, c->args[0], "any", &items));
    c->result = cq_val_of_bool(all);
    for (size_t i = 0; i < items->n; i++) {
        CQ_TRY(cq_eval_step(c->ev));
        CQ_TRY(cq_eval_truth(c->ev, items->items[i], &truth));
        if (!truth.u.b.origin && truth.u.b.value == all)
            continue;
        if (!truth.u.b.origin) {
            c->result = truth;
            return CQ_OK;
        }
        CQ_TRY(
            CQ_CALL(c->ev, &c->result, all ? "aten::__and__" : "aten::__or__", c->result, truth));
    }
    return CQ_OK;
}

static cq_status less(cq_eval *ev, cq_val a, cq_val b, bool *out)
{
    cq_val v;
    bool   found;

    if (a.kind == CQ_VAL_TUPLE && b.kind == CQ_VAL_TUPLE) {
        const cq_list *x = a.u.list, *y = b.u.list;

        for (size_t i = 0; i < x->n && i < y->n; i++) {
            CQ_TRY(less(ev, x->items[i], y->items[i], out));
            if (*out)
                return CQ_OK;
            CQ_TRY(less(ev, y->items[i], x->items[i], &found));
            if (found) {
                *out = false;
                return CQ_OK;
            }
        }
        *out = x->n < y->n;
        return CQ_OK;
    }
    CQ_TRY(cq_eval_step(ev));
    CQ_TRY(cq_python_binary(ev, CQ_AST_LT, a, b, &v, &found));
    if (!found)
        CQ_TRY(CQ_CALL(ev, &v, "aten::lt", a, b));
    CQ_TRY(cq_eval_truth(ev, v, &v));
    *out = v.u.b.value;
    return v.u.b.origin && !ev->tracing
               ? cq_fail(CQ_E_UNSUPPORTED, NULL, NULL,
                         "an order that is data-dependent cannot be exported")
               : CQ_OK;
}

static cq_status keys_of(cq_fncall *c, const cq_list *items, cq_val key, cq_val *out)
{
    CQ_TRY(cq_eval_list(c->ev, NULL, 0, CQ_VAL_LIST, out));
    for (size_t i = 0; i < items->n; i++) {
        cq_val v = items->items[i];

        if (key.kind != CQ_VAL_NONE)
            CQ_TRY(cq_eval_call(c->ev, key, &v, 1, &v));
        CQ_TRY(cq_list_push(out->u.list, v));
    }
    return CQ_OK;
}

/* min and max of anything that has an order, with key and default. */
static cq_status extreme(cq_fncall *c)
{
    const cq_val *key      = cq_fncall_find(c, SIZE_MAX, "key"),
                 *fallback = cq_fncall_find(c, SIZE_MAX, "default");
    cq_list *items, given = { .n = c->n, .items = (cq_val *)c->args };
    cq_val   keys;
    size_t   best = 0;
    bool     is_less, numbers = !key && c->n > 1;

    if (c->n == 0 || c->args[0].kind == CQ_VAL_TENSOR)
        return cq_fncall_decline(c);
    for (size_t i = 0; i < c->n; i++)
        numbers &= cq_val_is_number(c->args[i]);
    if (numbers)
        return cq_fncall_decline(c); /* sizes may be symbols */
    items = &given;
    if (c->n == 1)
        CQ_TRY(cq_eval_known_items(c->ev, c->args[0], c->name, &items));
    if (!items->n && fallback) {
        c->result = *fallback;
        return CQ_OK;
    }
    if (!items->n)
        return cq_python_raise(c->ev, "ValueError", "%s() arg is an empty sequence", c->name);
    if (!key && cq_val_is_list(c->args[0])) {
        bool all = true;

        for (size_t i = 0; i < items->n; i++)
            all &= cq_val_is_number(items->items[i]);
        if (all)
            return cq_fncall_decline(c);
    }
    CQ_TRY(keys_of(c, items, key ? *key : CQ_NONE, &keys));
    for (size_t i = 1; i < items->n; i++) {
        const cq_val a = keys.u.list->items[i], b = keys.u.list->items[best];

        CQ_TRY(c->row->how ? less(c->ev, b, a, &is_less) : less(c->ev, a, b, &is_less));
        if (is_less)
            best = i;
    }
    c->result = items->items[best];
    return CQ_OK;
}

typedef struct sort_state {
    cq_eval      *ev;
    const cq_val *keys;
    size_t       *order, *other;
    bool          reverse;
} sort_state;

/* A stable merge sort: comparisons can fail, so the library's function is of no use. */
static cq_status merge_sort(sort_state *s, size_t from, size_t to)
{
    const size_t middle = from + (to - from) / 2;
    size_t       a = from, b = middle, n = from;

    if (to - from < 2)
        return CQ_OK;
    CQ_TRY(merge_sort(s, from, middle));
    CQ_TRY(merge_sort(s, middle, to));
    while (a < middle || b < to) {
        bool second = a == middle;

        if (a < middle && b < to)
            CQ_TRY(s->reverse ? less(s->ev, s->keys[s->order[a]], s->keys[s->order[b]], &second)
                              : less(s->ev, s->keys[s->order[b]], s->keys[s->order[a]], &second));
        s->other[n++] = second ? s->order[b++] : s->order[a++];
    }
    memcpy(s->order + from, s->other + from, (to - from) * sizeof *s->order);
    return CQ_OK;
}

static cq_status sort_items(cq_fncall *c, const cq_list *items, cq_val key, bool reverse,
                            cq_val *out)
{
    size_t    *order;
    cq_val     keys;
    cq_status  status;
    sort_state s;

    if (key.kind == CQ_VAL_NONE && cq_builtin_is_order_of_tensors(items)) {
        CQ_TRY(cq_eval_list(c->ev, items->items, items->n, CQ_VAL_LIST, out));
        return cq_builtin_sort_tensors(c, out->u.list, reverse);
    }
    order  = cq_alloc_array(2 * items->n + 1, sizeof *order);
    status = order ? keys_of(c, items, key, &keys) : CQ_E_NO_MEMORY;
    if (status == CQ_OK) {
        for (size_t i = 0; i < items->n; i++)
            order[i] = i;
        s      = (sort_state){ c->ev, keys.u.list->items, order, order + items->n, reverse };
        status = merge_sort(&s, 0, items->n);
    }
    if (status == CQ_OK)
        status = cq_eval_list(c->ev, NULL, 0, CQ_VAL_LIST, out);
    for (size_t i = 0; i < items->n && status == CQ_OK; i++)
        status = cq_list_push(out->u.list, items->items[order[i]]);
    cq_free(order);
    return status;
}

static cq_status any_sorted(cq_fncall *c)
{
    const cq_val key     = cq_fncall_arg(c, SIZE_MAX, "key");
    cq_val       reverse = cq_fncall_arg(c, SIZE_MAX, "reverse");
    cq_list     *items;

    if (c->n != 1)
        return cq_fncall_decline(c);
    CQ_TRY(cq_eval_known_items(c->ev, c->args[0], "sorted", &items));
    CQ_TRY(cq_eval_truth(c->ev, reverse, &reverse));
    return sort_items(c, items, key, reverse.u.b.value, &c->result);
}

static cq_status list_sort(cq_fncall *c)
{
    cq_val v       = cq_python_native(c->args[0]), sorted;
    cq_val reverse = cq_fncall_arg(c, SIZE_MAX, "reverse");

    if (!cq_val_is_list(v) || v.kind != CQ_VAL_LIST)
        return cq_fncall_decline(c);
    CQ_TRY(cq_eval_truth(c->ev, reverse, &reverse));
    CQ_TRY(sort_items(c, v.u.list, cq_fncall_arg(c, SIZE_MAX, "key"), reverse.u.b.value, &sorted));
    CQ_TRY(cq_eval_will_change(c->ev, v));
    for (size_t i = 0; i < v.u.list->n && i < sorted.u.list->n; i++)
        cq_val_set(&v.u.list->items[i], sorted.u.list->items[i]);
    return do_nothing(c);
}

/* x in items, by identity or ==. */
static cq_status any_contains(cq_fncall *c)
{
    const cq_val   whole = cq_python_native(c->args[0]), item = c->args[1];
    const cq_list *list = cq_val_is_list(whole) ? whole.u.list : NULL;
    bool           found;

    if (is_object(whole) && !cq_object_as(whole, CQ_OBJECT_NAMED)) {
        cq_list *items;

        if (!cq_object_as(whole, CQ_OBJECT_ITERATOR) && !cq_object_of(whole)->type &&
            !cq_object_as(whole, CQ_OBJECT_RANGE))
            return cq_fncall_decline(c);
        CQ_TRY(cq_eval_known_items(c->ev, whole, "in", &items));
        list = items;
    }
    if (!list)
        return cq_fncall_decline(c);
    for (size_t i = 0; i < list->n; i++) {
        const cq_val v = list->items[i];
        cq_val       same;

        CQ_TRY(cq_eval_step(c->ev));
        if (is_object(v) && is_object(item) && v.u.box == item.u.box) {
            c->result = cq_val_of_bool(true);
            return CQ_OK;
        }
        if (!is_object(v) && !is_object(item))
            return cq_fncall_decline(c); /* the one for plain values does it */
        CQ_TRY(cq_python_binary(c->ev, CQ_AST_EQ, v, item, &same, &found));
        if (!found)
            continue;
        CQ_TRY(cq_eval_truth(c->ev, same, &same));
        if (same.u.b.value && !same.u.b.origin) {
            c->result = same;
            return CQ_OK;
        }
    }
    c->result = cq_val_of_bool(false);
    return CQ_OK;
}

/* ---- numbers ---- */

/* An integer to the power of another is an integer; in TorchScript it is a float. */
static cq_status int_pow(cq_fncall *c)
{
    int64_t base, result = 1, left;

    if (c->args[0].u.i.expr || c->args[1].u.i.expr || c->args[1].u.i.value < 0)
        return cq_fncall_decline(c);
    base = c->args[0].u.i.value;
    for (left = c->args[1].u.i.value; left > 0; left >>= 1) {
        if ((left & 1) && __builtin_mul_overflow(result, base, &result))
            return cq_fail(CQ_E_UNSUPPORTED, "pow", NULL, "the number does not fit in 64 bits");
        if (left > 1 && __builtin_mul_overflow(base, base, &base))
            return cq_fail(CQ_E_UNSUPPORTED, "pow", NULL, "the number does not fit in 64 bits");
    }
    c->result = cq_val_of_i64(result);
    return CQ_OK;
}

/* round(x) is an integer. */
static cq_status round_to_int(cq_fncall *c)
{
    if (c->n != 1 || c->args[0].kind != CQ_VAL_FLOAT || c->args[0].u.f.origin ||
        !(fabs(c->args[0].u.f.value) < 9e18))
        return cq_fncall_decline(c);
    c->result = cq_val_of_i64((int64_t)rint(c->args[0].u.f.value));
    return CQ_OK;
}

static cq_status int_invert(cq_fncall *c)
{
    if (c->args[0].u.i.expr)
        return cq_fncall_decline(c);
    c->result = cq_val_of_i64(~c->args[0].u.i.value);
    return CQ_OK;
}

/* ---- dicts ---- */

static cq_status add_pairs(cq_fncall *c, cq_dict *dict, cq_val from)
{
    const cq_dict *given = cq_python_dict_of(from);
    cq_list       *items, *pair;

    if (given)
        return cq_dict_add(dict, given);
    if (is_object(from) && cq_python_has_special(c->ev, from, "keys")) {
        cq_val method, keys, v;

        CQ_TRY(cq_eval_attribute(c->ev, from, cq_name(c->ev->program, "keys"), &method));
        CQ_TRY(cq_eval_call(c->ev, method, NULL, 0, &keys));
        CQ_TRY(cq_eval_known_items(c->ev, keys, "dict", &items));
        for (size_t i = 0; i < items->n; i++) {
            CQ_TRY(cq_eval_get_item(c->ev, from, items->items[i], &v));
            CQ_TRY(cq_dict_set(dict, items->items[i], v));
        }
        return CQ_OK;
    }
    CQ_TRY(cq_eval_known_items(c->ev, from, "dict", &items));
    for (size_t i = 0; i < items->n; i++) {
        CQ_TRY(cq_eval_known_items(c->ev, items->items[i], "dict", &pair));
        if (pair->n != 2)
            return cq_python_raise(c->ev, "ValueError", "an item of a dict has %zu values",
                                   pair->n);
        CQ_TRY(cq_builtin_key(c->ev, &pair->items[0]));
        CQ_TRY(cq_dict_set(dict, pair->items[0], pair->items[1]));
    }
    return CQ_OK;
}

static cq_status add_named(cq_fncall *c, cq_dict *dict)
{
    for (size_t i = 0; i < c->n_kw; i++) {
        cq_val key;

        CQ_TRY(cq_builtin_text(c->ev, c->names[i], strlen(c->names[i]), &key));
        CQ_TRY(cq_dict_set(dict, key, c->kw[i]));
    }
    return CQ_OK;
}

static cq_status new_dict(cq_fncall *c)
{
    CQ_TRY(cq_eval_new_dict(c->ev, &c->result));
    if (c->n)
        CQ_TRY(add_pairs(c, c->result.u.dict, c->args[0]));
    return add_named(c, c->result.u.dict);
}

static cq_status dict_update(cq_fncall *c)
{
    cq_dict *dict = c->n ? cq_python_dict_of(c->args[0]) : NULL;

    if (!dict)
        return cq_fncall_decline(c);
    CQ_TRY(cq_eval_will_change(c->ev, cq_val_of_dict(dict)));
    if (c->n > 1)
        CQ_TRY(add_pairs(c, dict, c->args[1]));
    CQ_TRY(add_named(c, dict));
    return do_nothing(c);
}

static cq_status dict_fromkeys(cq_fncall *c)
{
    cq_list *items;

    CQ_TRY(cq_eval_known_items(c->ev, c->args[0], "fromkeys", &items));
    CQ_TRY(cq_eval_new_dict(c->ev, &c->result));
    for (size_t i = 0; i < items->n; i++)
        CQ_TRY(cq_dict_set(c->result.u.dict, items->items[i], cq_builtin_arg(c, 1)));
    return CQ_OK;
}

/* d.setdefault(k) without a value, d | e, d == e stay with the others. */
static cq_status dict_or(cq_fncall *c)
{
    const cq_dict *a = cq_python_dict_of(c->args[0]), *b = cq_python_dict_of(c->args[1]);

    if (!a || !b)
        return cq_fncall_decline(c);
    CQ_TRY(cq_eval_new_dict(c->ev, &c->result));
    CQ_TRY(cq_dict_add(c->result.u.dict, a));
    return cq_dict_add(c->result.u.dict, b);
}

/* ---- text ---- */

static cq_status text_result(cq_fncall *c, cq_str *s, cq_status status)
{
    if (status == CQ_OK)
        status = s->status;
    if (status == CQ_OK)
        status = cq_builtin_text(c->ev, cq_str_text(s), s->len, &c->result);
    cq_str_clear(s);
    return status;
}

static cq_status any_repr(cq_fncall *c)
{
    cq_str s = { 0 };

    return text_result(c, &s, cq_eval_format(c->ev, &s, c->args[0], true));
}

static cq_status object_str(cq_fncall *c)
{
    cq_str s = { 0 };

    if (!c->n || !is_object(c->args[0]))
        return cq_fncall_decline(c);
    return text_result(c, &s, cq_eval_format(c->ev, &s, c->args[0], false));
}

static cq_status any_format(cq_fncall *c)
{
    cq_str       s    = { 0 };
    const cq_val spec = cq_builtin_arg(c, 1);

    if (c->n > 2 || (spec.kind != CQ_VAL_STR && spec.kind != CQ_VAL_NONE) || c->n_kw)
        return cq_fncall_decline(c);
    return text_result(c, &s,
                       cq_python_format_spec(c->ev, &s, c->args[0],
                                             c->n > 1 ? spec.u.text->text : "",
                                             c->n > 1 ? spec.u.text->len : 0));
}

/* int(x) and float(x) of an instance. */
static cq_status number_of(cq_fncall *c)
{
    static const char *const names[] = { "__int__", "__float__", "__index__" };
    bool                     found;

    if (!c->n || !is_object(c->args[0]))
        return cq_fncall_decline(c);
    CQ_TRY(cq_python_special(c->ev, c->args[0], names[c->row->how], NULL, 0, &c->result, &found));
    if (!found && c->row->how == 0)
        CQ_TRY(cq_python_special(c->ev, c->args[0], "__index__", NULL, 0, &c->result, &found));
    return found ? CQ_OK : cq_fncall_decline(c);
}

static cq_status any_bool(cq_fncall *c)
{
    if (!c->n) {
        c->result = cq_val_of_bool(false);
        return CQ_OK;
    }
    return c->args[0].kind == CQ_VAL_TENSOR || cq_val_is_number(c->args[0])
               ? cq_fncall_decline(c)
               : cq_eval_truth(c->ev, c->args[0], &c->result);
}

static cq_status new_sentinel(cq_fncall *c)
{
    cq_object *t;

    CQ_TRY(cq_object_new(&t, CQ_OBJECT_INSTANCE));
    return cq_eval_own(c->ev, cq_val_of_object(t), &c->result);
}

static cq_status new_slice(cq_fncall *c)
{
    cq_val     parts[3] = { CQ_NONE, CQ_NONE, CQ_NONE }, tuple;
    cq_object *t;

    for (size_t i = 0; i < c->n; i++)
        parts[c->n == 1 ? 1 : i] = c->args[i];
    CQ_TRY(cq_eval_list(c->ev, parts, 3, CQ_VAL_TUPLE, &tuple));
    CQ_TRY(cq_object_new(&t, CQ_OBJECT_SLICE));
    t->self = cq_val_retain(tuple);
    return cq_eval_own(c->ev, cq_val_of_object(t), &c->result);
}

static cq_status new_instance(cq_fncall *c)
{
    cq_object *cls = cq_object_as(c->args[0], CQ_OBJECT_CLASS);

    if (!cls || !cls->mro.n)
        return cq_fncall_decline(c);
    CQ_TRY(cq_python_new_instance(c->ev, cls, &c->result));
    if (cls->native_base && strcmp(cls->native_base, "dict") != 0 &&
        strcmp(cls->native_base, "list") != 0) {
        cq_val made;

        CQ_TRY(CQ_CALL_BY(cq_eval_call_name, c->ev, &made, cls->native_base,
                          c->n > 1 ? c->args[1] : CQ_NONE));
        cq_val_set(&cq_object_of(c->result)->self, made);
    }
    return CQ_OK;
}

/* ---- named tuples ---- */

static cq_status new_named_class(cq_fncall *c)
{
    cq_object    *cls;
    cq_list      *names = c->args[1].u.list;
    cq_ast_field *fields;

    CQ_TRY(cq_class_new(c->ev, c->args[0].u.text->text, NULL, 0, &cls));
    fields = cq_arena_array(c->ev->program->arena, names->n + 1, sizeof *fields);
    if (!fields)
        return CQ_E_NO_MEMORY;
    for (size_t i = 0; i < names->n; i++) {
        if (names->items[i].kind != CQ_VAL_STR)
            return cq_python_raise(c->ev, "TypeError", "a field name must be a str");
        fields[i] = (cq_ast_field){ .name = cq_name(c->ev->program, names->items[i].u.text->text) };
    }
    cls->cls->kind     = CQ_CLASS_NAMED_TUPLE;
    cls->cls->fields   = fields;
    cls->cls->n_fields = names->n;
    if (c->n > 2 && cq_val_is_list(c->args[2])) { /* defaults of the last fields */
        const cq_list *defaults = c->args[2].u.list;

        for (size_t i = 0; i < defaults->n && i < names->n; i++)
            CQ_TRY(cq_class_set(c->ev, cls, fields[names->n - defaults->n + i].name,
                                defaults->items[i]));
    }
    c->result = cq_val_of_object(cls);
    return CQ_OK;
}

static cq_status named_asdict(cq_fncall *c)
{
    cq_object *t = cq_object_as(c->args[0], CQ_OBJECT_NAMED);

    if (!t)
        return cq_fncall_decline(c);
    CQ_TRY(cq_eval_new_dict(c->ev, &c->result));
    for (size_t i = 0; i < t->cls->n_fields; i++) {
        cq_val key;

        CQ_TRY(
            cq_builtin_text(c->ev, t->cls->fields[i].name, strlen(t->cls->fields[i].name), &key));
        CQ_TRY(cq_dict_set(c->result.u.dict, key, t->self.u.list->items[i]));
    }
    return CQ_OK;
}

static cq_status named_replace(cq_fncall *c)
{
    cq_object *t = cq_object_as(c->args[0], CQ_OBJECT_NAMED);
    cq_val     items;

    if (!t)
        return cq_fncall_decline(c);
    CQ_TRY(cq_eval_list(c->ev, t->self.u.list->items, t->self.u.list->n, CQ_VAL_TUPLE, &items));
    for (size_t i = 0; i < t->cls->n_fields; i++) {
        const cq_val *v = cq_fncall_find(c, SIZE_MAX, t->cls->fields[i].name);

        if (v)
            cq_val_set(&items.u.list->items[i], *v);
    }
    CQ_TRY(cq_eval_new_named(c->ev, t, items, &c->result));
    cq_object_of(c->result)->type = t->type;
    return CQ_OK;
}

/* ---- natives of lib/torch ---- */

/* Parameter(data, requires_grad): a new handle of the memory. */
static cq_status new_parameter(cq_fncall *c)
{
    const cq_tensor *t    = c->n && c->args[0].kind == CQ_VAL_TENSOR ? c->args[0].u.tensor : NULL;
    cq_val           grad = cq_builtin_arg(c, 1);
    cq_tensor       *made;

    if (!t)
        return cq_python_raise(c->ev, "TypeError", "Parameter expects a tensor, got %s",
                               c->n ? cq_eval_type_name(c->args[0]) : "nothing");
    CQ_TRY(cq_tensor_new_view(&made, (cq_tensor *)t, t->dtype, t->rank, t->sizes, t->strides,
                              t->offset));
    made->is_parameter  = true;
    made->requires_grad = c->n < 2;
    if (c->n > 1) {
        CQ_TRY(cq_eval_truth(c->ev, grad, &grad));
        made->requires_grad = grad.u.b.value;
    }
    return cq_eval_own(c->ev, cq_val_of_tensor(made), &c->result);
}

/* call_module(module, function, args, kwargs): the call, with the scope of the module. */
static cq_status call_module(cq_fncall *c)
{
    cq_object     *module = cq_object_as(c->args[0], CQ_OBJECT_INSTANCE);
    const cq_dict *named  = cq_python_dict_of(c->args[3]);
    cq_list       *args, *values;
    cq_scope       scope = { 0 };
    const char   **names;
    cq_fncall      call = { .ev = c->ev, .callee = c->args[1] };
    cq_val         list, *given; /* given borrows: an anchor takes the place of a tensor in it */
    cq_status      status = CQ_OK, left;
    const bool     scoped = module && module->text;

    if (!module || !named)
        return cq_fncall_decline(c);
    CQ_TRY(cq_eval_known_items(c->ev, c->args[2], "call_module", &args));
    CQ_TRY(cq_eval_list(c->ev, NULL, 0, CQ_VAL_LIST, &list));
    values = list.u.list;
    names  = cq_alloc_array(named->n + 1, sizeof *names);
    given  = cq_alloc_array(args->n + 1, sizeof *given);
    if (!names || !given)
        status = CQ_E_NO_MEMORY;
    else if (args->n)
        memcpy(given, args->items, args->n * sizeof *given);
    for (size_t i = 0; i < named->n && status == CQ_OK; i++) {
        names[i] = cq_name(c->ev->program, named->entries[i].key.u.text->text);
        status   = cq_list_push(values, named->entries[i].value);
    }
    call.args  = given;
    call.n     = args->n;
    call.names = names;
    call.n_kw  = named->n;
    call.kw    = values->items;
    if (status == CQ_OK && scoped)
        status = cq_eval_enter(c->ev, &scope, module, given, args->n);
    if (status == CQ_OK)
        status = cq_fncall_run(&call);
    if (scoped && names && given) {
        left   = cq_eval_leave(c->ev, &scope, &call.result);
        status = status == CQ_OK ? left : status;
    }
    c->result = call.result;
    cq_free(names);
    cq_free(given);
    return status;
}

/* load_into(tensor, value): the parameter or buffer becomes the value, whose memory it shares. */
static cq_status load_into(cq_fncall *c)
{
    cq_tensor *to = c->args[0].u.tensor, *from = c->args[1].u.tensor;
    const bool grad = to->requires_grad, parameter = to->is_parameter;

    if (from->dtype != to->dtype) {
        from = CQ_OP(c->ev->cx, "aten::to.dtype", TENSOR(from), DTYPE(to->dtype));
        CQ_TRY(c->ev->cx->status);
    }
    CQ_TRY(cq_eval_rebind(c->ev, to, from));
    to->requires_grad = grad;
    to->is_parameter  = parameter;
    return do_nothing(c);
}

const cq_builtin cq_builtins_objects[] = {
    { "isinstance(object, type)", .fn = any_isinstance, .of_all_lists = true },
    { "issubclass(cls, type)", .fn = any_issubclass },
    { "type(object, bases?, dict?)", .fn = any_type, .of_all_lists = true },
    { "type.__call__(...)", .fn = type_call },
    { "type.__init__(...)", .fn = do_nothing },
    { "callable(object)", .fn = any_callable },
    { "super(type?, object?)", .fn = any_super },
    { "hasattr(object, str name)", .fn = any_hasattr },
    { "getattr(object, str name, default?)", .fn = any_getattr },
    { "setattr(object, str name, value)", .fn = any_setattr },
    { "delattr(object, str name)", .fn = any_delattr },
    { "object.__setattr__(self, str name, value)", .fn = object_setattr },
    { "object.__delattr__(self, str name)", .fn = object_delattr },
    { "object.__getattribute__(self, str name)", .fn = object_getattribute },
    { "object.__init__(self, ...)", .fn = do_nothing },
    { "object.__init_subclass__(self, ...)", .fn = do_nothing },
    { "object.__repr__(self)", .fn = object_repr },
    { "object.__str__(self)", .fn = any_repr },
    { "object.__hash__(self)", .fn = any_id },
    { "object.__eq__(self, other)", .fn = object_eq },
    { "object.__ne__(self, other)", .fn = object_eq, .how = 1 },
    { "object.__new__(cls, ...)", .fn = new_instance },
    { "object.__dir__(self)", .fn = any_dir },
    { "__new__(cls, ...)", .fn = new_instance },
    { "dict.__init__(self, ...)", .fn = native_init },
    { "list.__init__(self, ...)", .fn = native_init },
    { "tuple.__init__(self, ...)", .fn = do_nothing },
    { "str.__init__(self, ...)", .fn = do_nothing },
    { "int.__init__(self, ...)", .fn = do_nothing },
    { "float.__init__(self, ...)", .fn = do_nothing },
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
    { "iter(object)", .fn = any_iter },
    { "next(iterator, default?)", .fn = any_next },
    { "len(object)", .fn = any_len },
    { "sum(iterable, start?)", .fn = any_sum },
    { "any(iterable)", .fn = any_all, .how = 0 },
    { "all(iterable)", .fn = any_all, .how = 1 },
    { "min(...)", .fn = extreme, .how = 0 },
    { "max(...)", .fn = extreme, .how = 1 },
    { "sorted(...)", .fn = any_sorted },
    { "sort(self, ...)", .fn = list_sort },
    { "zip(...)", .fn = zip_lazily },
    { "list(iterable)", .fn = with_lists },
    { "tuple(iterable)", .fn = with_lists },
    { "enumerate(iterable, start?)", .fn = with_lists },
    { "reversed(iterable)", .fn = with_lists },
    { "extend(self, iterable)", .fn = with_lists, .how = 1 },
    { "join(self, iterable)", .fn = with_lists, .how = 1 },
    { "__contains__(self, item)", .fn = any_contains },
    { "pow(int base, int exponent)", .fn = int_pow },
    { "round(num x)", .fn = round_to_int },
    { "bitwise_not(int x)", .fn = int_invert },
    { "dict(...)", .fn = new_dict },
    { "update(self, ...)", .fn = dict_update },
    { "dict.fromkeys(iterable, value?)", .fn = dict_fromkeys },
    { "__or__(self, other)", .fn = dict_or },
    { "repr(object)", .fn = any_repr },
    { "str(object)", .fn = object_str },
    { "format(object, spec?)", .fn = any_format },
    { "int(object)", .fn = number_of, .how = 0 },
    { "float(object)", .fn = number_of, .how = 1 },
    { "bool(object?)", .fn = any_bool },
    { "object()", .fn = new_sentinel },
    { "slice(a, b?, c?)", .fn = new_slice },
    { "calque::new_named_class(str name, items fields, defaults?)", .fn = new_named_class },
    { "named._asdict(self)", .fn = named_asdict },
    { "named._replace(self, ...)", .fn = named_replace },
    { "Parameter(data?, requires_grad?)", .fn = new_parameter },
    { "calque::call_module(module, function, args, kwargs)", .fn = call_module },
    { "calque::load_into(tensor to, tensor from)", .fn = load_into },
    { 0 },
};
