/* x[index]. On tensors, Python's indexing is expressed by select, slice, unsqueeze and index; an
 * assignment writes through the same views. */
#include "script/builtins/builtin.h"
#include "script/python/python.h"
#include "script/values/sequence.h"

enum { MAX_PARTS = 64 };

/* ---- tensors ---- */

static cq_status call_op(cq_eval *ev, const char *name, const cq_val *args, size_t n, cq_val *out)
{
    const cq_op *op = cq_op_find(name);

    if (!op)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "unknown operator %s", name);
    return cq_op_call(ev->cx, op, args, n, out, 1);
}

/* Evaluates start, stop and step of a slice; None for those that are omitted. */
static cq_status eval_slice(cq_eval *ev, const cq_ast_expr *s, cq_val v[3])
{
    const cq_ast_expr *const parts[3] = { s->u.slice.start, s->u.slice.stop, s->u.slice.step };

    for (size_t i = 0; i < 3; i++) {
        v[i] = CQ_NONE;
        if (parts[i])
            CQ_TRY(cq_eval_expr(ev, parts[i], &v[i]));
        if (v[i].kind == CQ_VAL_OBJECT && ev->program->python)
            CQ_TRY(cq_eval_index_of(ev, &v[i]));
        if (v[i].kind == CQ_VAL_TENSOR)
            CQ_TRY(CQ_CALL(ev, &v[i], "aten::Int", v[i]));
    }
    return CQ_OK;
}

/* The number of dimensions of x that the index consumes. */
static size_t dims_used(cq_val v)
{
    if (v.kind == CQ_VAL_TENSOR &&
        (v.u.tensor->dtype == CQ_DTYPE_BOOL || v.u.tensor->dtype == CQ_DTYPE_U8) &&
        v.u.tensor->rank)
        return v.u.tensor->rank;
    return 1;
}

typedef struct parts {
    const cq_ast_expr *x[MAX_PARTS];
    cq_val             values[MAX_PARTS]; /* number of parts that are neither a slice nor an
                                           * ellipsis */
    size_t n;
} parts;

static cq_status add_part(cq_eval *ev, const cq_ast_expr *x, cq_val value, parts *p)
{
    if (p->n == MAX_PARTS)
        return cq_eval_fail(ev, x->at, CQ_E_UNSUPPORTED, "too many indices");
    p->x[p->n]        = x;
    p->values[p->n++] = value;
    return CQ_OK;
}

/* x[..., *rest]: the items of a known sequence. */
static cq_status add_starred(cq_eval *ev, const cq_ast_expr *x, parts *p)
{
    cq_list *items;
    cq_val   v;

    CQ_TRY(cq_eval_expr(ev, x, &v));
    CQ_TRY(cq_eval_known_items(ev, v, NULL, &items));
    for (size_t i = 0; i < items->n; i++)
        CQ_TRY(add_part(ev, x, items->items[i], p));
    return CQ_OK;
}

static cq_status read_parts(cq_eval *ev, const cq_ast_expr *index, parts *p)
{
    const bool   is_tuple = index->kind == CQ_X_TUPLE;
    const size_t n        = is_tuple ? index->u.items.n : 1;

    p->n = 0;
    for (size_t i = 0; i < n; i++) {
        const cq_ast_expr *x = is_tuple ? index->u.items.items[i] : index;
        cq_val             v = CQ_NONE;

        if (x->kind == CQ_X_STARRED) {
            CQ_TRY(add_starred(ev, x->u.operand, p));
            continue;
        }
        if (x->kind != CQ_X_SLICE && x->kind != CQ_X_ELLIPSIS)
            CQ_TRY(cq_eval_expr(ev, x, &v));
        CQ_TRY(add_part(ev, x, v, p));
    }
    /* x[t] where t is a tuple value of indices */
    if (!is_tuple && p->values[0].kind == CQ_VAL_TUPLE && p->values[0].u.list->n <= MAX_PARTS) {
        cq_list *list = p->values[0].u.list;

        for (size_t i = 0; i < list->n; i++) {
            p->x[i]      = p->x[0];
            p->values[i] = list->items[i];
        }
        p->n = list->n;
    }
    return CQ_OK;
}

/* A list of numbers in an index is converted to a tensor, and so is a tuple inside a tuple. An
 * empty list selects nothing; as a tensor of numbers it would be float32. */
static cq_status list_to_tensor(cq_eval *ev, cq_val *v)
{
    if (!cq_val_is_list(*v) && !cq_sequence_of(*v))
        return CQ_OK;
    if (cq_val_is_list(*v) && !v->u.list->n)
        return CQ_CALL(ev, v, "aten::tensor", *v, INT(cq_dtype_to_torch(CQ_DTYPE_I64)));
    return CQ_CALL(ev, v, "aten::tensor", *v);
}

/* Counts the dimensions of x that the parts consume. */
static cq_status count_used(cq_eval *ev, cq_val x, parts *p, size_t *out)
{
    size_t used = 0;

    for (size_t i = 0; i < p->n; i++) {
        bool is_none = p->x[i]->kind == CQ_X_NONE ||
                       (p->x[i]->kind != CQ_X_SLICE && p->x[i]->kind != CQ_X_ELLIPSIS &&
                        p->values[i].kind == CQ_VAL_NONE);

        CQ_TRY(list_to_tensor(ev, &p->values[i]));
        if (p->x[i]->kind != CQ_X_ELLIPSIS && !is_none && p->values[i].kind != CQ_VAL_BOOL &&
            !cq_object_as(p->values[i], CQ_OBJECT_ELLIPSIS))
            used += p->x[i]->kind == CQ_X_SLICE ? 1 : dims_used(p->values[i]);
    }
    if (used > x.u.tensor->rank)
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL, "%zu indices for a tensor of %u dimensions", used,
                       x.u.tensor->rank);
    *out = used;
    return CQ_OK;
}

static cq_status take_slice(cq_eval *ev, const cq_ast_expr *part, size_t dim, cq_val *view)
{
    cq_val args[5] = { *view, cq_val_of_i64((int64_t)dim) };

    CQ_TRY(eval_slice(ev, part, &args[2]));
    if (args[4].kind == CQ_VAL_NONE)
        args[4] = cq_val_of_i64(1);
    return part->u.slice.start || part->u.slice.stop || part->u.slice.step
               ? call_op(ev, "aten::slice.Tensor", args, 5, view)
               : CQ_OK;
}

/* Applies all parts except index tensors as views. Index tensors are collected per dimension of the
 * view; None stands for a whole dimension. */
static cq_status take_views(cq_eval *ev, cq_val x, parts *p, cq_val *view, cq_val *indices,
                            size_t *n_indices)
{
    size_t used, dim = 0;

    *n_indices = 0;
    CQ_TRY(count_used(ev, x, p, &used));
    *view = x;
    for (size_t i = 0; i < p->n; i++) {
        const cq_ast_expr *part = p->x[i];
        cq_val             v    = p->values[i];

        if (part->kind == CQ_X_ELLIPSIS || cq_object_as(v, CQ_OBJECT_ELLIPSIS)) {
            for (size_t k = used; k < x.u.tensor->rank; k++, dim++)
                indices[(*n_indices)++] = CQ_NONE;
        } else if (part->kind == CQ_X_SLICE) {
            CQ_TRY(take_slice(ev, part, dim, view));
            indices[(*n_indices)++] = CQ_NONE;
            dim++;
        } else if (cq_object_as(v, CQ_OBJECT_SLICE)) {
            const cq_val *s = cq_object_of(v)->self.u.list->items;

            CQ_TRY(call_op(ev, "aten::slice.Tensor",
                           (cq_val[]){ *view, cq_val_of_i64((int64_t)dim), s[0], s[1],
                                       s[2].kind == CQ_VAL_NONE ? cq_val_of_i64(1) : s[2] },
                           5, view));
            indices[(*n_indices)++] = CQ_NONE;
            dim++;
        } else if (v.kind == CQ_VAL_NONE) {
            CQ_TRY(call_op(ev, "aten::unsqueeze", (cq_val[]){ *view, cq_val_of_i64((int64_t)dim) },
                           2, view));
            indices[(*n_indices)++] = CQ_NONE;
            dim++;
        } else if (v.kind == CQ_VAL_INT) {
            CQ_TRY(call_op(ev, "aten::select.int",
                           (cq_val[]){ *view, cq_val_of_i64((int64_t)dim), v }, 3, view));
        } else if (v.kind == CQ_VAL_TENSOR) {
            indices[(*n_indices)++] = v;
            dim += dims_used(v);
        } else {
            return cq_fail(CQ_E_TYPE, NULL, NULL, "a tensor cannot be indexed by %s",
                           cq_eval_type_name(v));
        }
    }
    while (*n_indices && indices[*n_indices - 1].kind == CQ_VAL_NONE)
        (*n_indices)--;
    return CQ_OK;
}

static cq_status index_tensor(cq_eval *ev, cq_val x, const cq_ast_expr *index, cq_val *out)
{
    parts  p;
    cq_val indices[2 * MAX_PARTS], list;
    size_t n;

    CQ_TRY(read_parts(ev, index, &p));
    CQ_TRY(take_views(ev, x, &p, out, indices, &n));
    if (!n)
        return CQ_OK;
    CQ_TRY(cq_eval_list(ev, indices, n, CQ_VAL_LIST, &list));
    return call_op(ev, "aten::index.Tensor", (cq_val[]){ *out, list }, 2, out);
}

static cq_status set_tensor(cq_eval *ev, cq_val x, const cq_ast_expr *index, cq_val v)
{
    parts  p;
    cq_val indices[2 * MAX_PARTS], list, view, ignored;
    size_t n;

    CQ_TRY(read_parts(ev, index, &p));
    CQ_TRY(take_views(ev, x, &p, &view, indices, &n));
    if (!n)
        return CQ_CALL_OPERATOR(ev, &ignored,
                                v.kind == CQ_VAL_TENSOR ? "aten::copy_" : "aten::fill_", view, v);
    if (v.kind != CQ_VAL_TENSOR) {
        cq_tensor *t;

        CQ_TRY(cq_eval_as_tensor(ev, v, &t));
        CQ_TRY(call_op(ev, "aten::to.dtype",
                       (cq_val[]){ cq_val_of_tensor(t), DTYPE(x.u.tensor->dtype) }, 2, &v));
    }
    CQ_TRY(cq_eval_list(ev, indices, n, CQ_VAL_LIST, &list));
    return call_op(ev, "aten::index_put_", (cq_val[]){ view, list, v }, 3, &ignored);
}

/* ---- lists, tuples, texts, dicts ---- */

bool cq_eval_is_open_index(const cq_eval *ev, cq_val index)
{
    if (!ev->capture || ev->tracing)
        return false;
    return index.kind == CQ_VAL_INT ? index.u.i.expr != NULL
           : index.kind == CQ_VAL_TENSOR
               ? !cq_capture_has_data(ev->capture, ev->cx, index.u.tensor) &&
                     (!index.u.tensor->known || index.u.tensor->known[0].expr)
               : false;
}

static cq_status choose(cq_eval *ev, cq_val object, cq_val index, cq_val *out)
{
    cq_item_type item = { 0 };
    cq_value    *value;
    cq_val       list = { .kind = CQ_VAL_LIST, .u.list = object.u.list };

    if (!object.u.list->origin) {
        CQ_TRY(cq_item_type_of_list(&item, list));
        if (item.kind == CQ_VAL_NONE)
            return cq_fail(CQ_E_ARGUMENT, NULL, NULL, "an empty list has no items to choose from");
        CQ_TRY(cq_sequence_value(ev, list, &item, &value));
        CQ_TRY(cq_sequence_list(ev, value, &item, cq_i((int64_t)object.u.list->n), &list));
    }
    return CQ_CALL(ev, out, "aten::__getitem__", list, index);
}

static cq_status get_key(cq_eval *ev, const cq_dict *dict, cq_val key, cq_val *out)
{
    const cq_val *found;

    CQ_TRY(cq_builtin_key_of(ev, dict, &key));
    found = cq_dict_get(dict, key);
    if (!found)
        return cq_builtin_no_key(ev, NULL, key);
    *out = *found;
    return CQ_OK;
}

static cq_status get_row(cq_eval *ev, cq_val tensor, cq_val index, cq_val *out)
{
    cq_val list;

    if (index.kind != CQ_VAL_TENSOR)
        return call_op(ev, "aten::select.int", (cq_val[]){ tensor, cq_val_of_i64(0), index }, 3,
                       out);
    CQ_TRY(cq_eval_list(ev, &index, 1, CQ_VAL_LIST, &list));
    return call_op(ev, "aten::index.Tensor", (cq_val[]){ tensor, list }, 2, out);
}

/* Indexes a ModuleList or ModuleDict, or an instance with __getitem__. */
static cq_status get_member(cq_eval *ev, cq_val object, const cq_object *t, cq_val index,
                            cq_val *out)
{
    const char *get = cq_name(ev->program, "__getitem__");
    cq_val      v;
    bool        known;

    if (cq_ast_class_method(t->cls, get)) {
        CQ_TRY(cq_eval_attribute(ev, object, get, &v));
        return cq_eval_call(ev, v, &index, 1, out);
    }
    if (index.kind == CQ_VAL_STR)
        return cq_eval_attribute(ev, object, index.u.text->text, out);
    CQ_TRY(cq_eval_items(ev, object, &v, &known));
    return cq_eval_get_item(ev, v, index, out);
}

/* An index as a value: a slice is an object. */
cq_status cq_eval_index_value(cq_eval *ev, const cq_ast_expr *index, cq_val *out)
{
    cq_val     ends[3], tuple;
    cq_object *t;

    if (index->kind == CQ_X_TUPLE) {
        CQ_TRY(cq_eval_list(ev, NULL, 0, CQ_VAL_TUPLE, out));
        for (size_t i = 0; i < index->u.items.n; i++) {
            if (index->u.items.items[i]->kind == CQ_X_STARRED) {
                cq_list *items;

                CQ_TRY(cq_eval_expr(ev, index->u.items.items[i]->u.operand, &tuple));
                CQ_TRY(cq_eval_known_items(ev, tuple, NULL, &items));
                CQ_TRY(cq_list_add(out->u.list, items));
                continue;
            }
            CQ_TRY(cq_eval_index_value(ev, index->u.items.items[i], &tuple));
            CQ_TRY(cq_list_push(out->u.list, tuple));
        }
        return CQ_OK;
    }
    if (index->kind != CQ_X_SLICE)
        return cq_eval_expr(ev, index, out);
    CQ_TRY(eval_slice(ev, index, ends));
    CQ_TRY(cq_eval_list(ev, ends, 3, CQ_VAL_TUPLE, &tuple));
    CQ_TRY(cq_object_new(&t, CQ_OBJECT_SLICE));
    t->self = cq_val_retain(tuple);
    return cq_eval_own(ev, cq_val_of_object(t), out);
}

/* List[int], Generic[T]: the index of a type is ignored. */
static cq_status index_type(cq_eval *ev, cq_val type, const cq_ast_expr *index, cq_val *out)
{
    const cq_object *t = cq_object_of(type);
    cq_val           item;
    bool             found;

    *out = type;
    if (t->kind != CQ_OBJECT_CLASS)
        return CQ_OK;
    if (t->type && cq_python_has_special(ev, type, "__getitem__")) {
        CQ_TRY(cq_eval_index_value(ev, index, &item));
        return cq_python_special(ev, type, "__getitem__", &item, 1, out, &found);
    }
    if (!cq_class_find((cq_object *)t, cq_name(ev->program, "__class_getitem__"), NULL))
        return CQ_OK;
    CQ_TRY(cq_eval_index_value(ev, index, &item));
    CQ_TRY(cq_eval_attribute(ev, type, "__class_getitem__", &type));
    return cq_eval_call(ev, type, &item, 1, out);
}

/* An object of Python source: __getitem__, or the native value of a class that extends a builtin
 * type. */
static cq_status index_object(cq_eval *ev, cq_val object, cq_object *t, const cq_ast_expr *index,
                              cq_val *out, bool *found)
{
    cq_val item;

    *found = true;
    if (t->kind == CQ_OBJECT_LAZY) {
        CQ_TRY(cq_lazy_resolve(ev, object, &object));
        return cq_eval_index(ev, object, index, out);
    }
    if (t->kind == CQ_OBJECT_CLASS || t->kind == CQ_OBJECT_BUILTIN)
        return index_type(ev, object, index, out);
    if (t->kind == CQ_OBJECT_RANGE) {
        cq_list *items;

        CQ_TRY(cq_eval_known_items(ev, object, "range", &items));
        return cq_eval_index(ev, cq_val_of_list(items), index, out);
    }
    if (t->kind != CQ_OBJECT_INSTANCE && t->kind != CQ_OBJECT_NAMED) {
        *found = false;
        return CQ_OK;
    }
    if (cq_python_has_special(ev, object, "__getitem__")) {
        CQ_TRY(cq_eval_index_value(ev, index, &item));
        return cq_python_special(ev, object, "__getitem__", &item, 1, out, found);
    }
    *found = t->kind == CQ_OBJECT_INSTANCE && t->self.kind != CQ_VAL_NONE;
    if (!*found)
        return CQ_OK;
    if (t->self.kind == CQ_VAL_DICT && cq_python_has_special(ev, object, "__missing__")) {
        CQ_TRY(cq_eval_index_value(ev, index, &item));
        if (!cq_dict_get(t->self.u.dict, item))
            return cq_python_special(ev, object, "__missing__", &item, 1, out, found);
    }
    return cq_eval_index(ev, t->self, index, out);
}

cq_status cq_eval_get_item(cq_eval *ev, cq_val object, cq_val index, cq_val *out)
{
    const cq_object *named = cq_object_as(object, CQ_OBJECT_NAMED),
                    *t     = cq_object_as(object, CQ_OBJECT_INSTANCE);
    size_t at;

    index = cq_val_unwrap(index);
    if (t && t->type) {
        cq_val key = index;
        bool   found;

        CQ_TRY(cq_python_special(ev, object, "__getitem__", &key, 1, out, &found));
        if (found)
            return CQ_OK;
        if (t->self.kind != CQ_VAL_NONE)
            return cq_eval_get_item(ev, t->self, index, out);
    }
    if (named)
        object = named->self;
    if (ev->program->python && cq_object_as(index, CQ_OBJECT_SLICE)) {
        const cq_val *s = cq_object_of(index)->self.u.list->items;

        return CQ_CALL(ev, out, "aten::slice", object, s[0], s[1], s[2]);
    }
    switch (object.kind) {
    case CQ_VAL_LIST:
    case CQ_VAL_TUPLE:
        if (object.u.list->origin || cq_eval_is_open_index(ev, index))
            return choose(ev, object, index, out);
        CQ_TRY(cq_builtin_position(ev, index, object.u.list->n, &at));
        *out = object.u.list->items[at];
        return CQ_OK;
    case CQ_VAL_STR:
        CQ_TRY(cq_builtin_position(ev, index, object.u.text->len, &at));
        return cq_builtin_text(ev, object.u.text->text + at, 1, out);
    case CQ_VAL_DICT: return get_key(ev, object.u.dict, index, out);
    case CQ_VAL_TENSOR: return get_row(ev, object, index, out);
    default: break;
    }
    if (t && t->cls)
        return get_member(ev, object, t, index, out);
    return cq_fail(CQ_E_TYPE, NULL, NULL, "%s cannot be indexed", cq_eval_type_name(object));
}

cq_status cq_eval_index(cq_eval *ev, cq_val object, const cq_ast_expr *index, cq_val *out)
{
    cq_val     v, slice[3];
    bool       known;
    cq_object *named = cq_object_as(object, CQ_OBJECT_NAMED),
              *t     = cq_object_as(object, CQ_OBJECT_INSTANCE);

    if (ev->program->python && object.kind == CQ_VAL_OBJECT) {
        CQ_TRY(index_object(ev, object, cq_object_of(object), index, out, &known));
        if (known)
            return CQ_OK;
    }
    if (cq_object_as(object, CQ_OBJECT_OPTIONAL))
        return cq_eval_index(ev, cq_val_unwrap(object), index, out);
    if (index->kind == CQ_X_INT) /* the type of a tuple item may be known */
        CQ_TRY(cq_eval_no_guess(ev, object));
    if (object.kind == CQ_VAL_TENSOR)
        return index_tensor(ev, object, index, out);
    if (named)
        object = named->self;
    if (index->kind == CQ_X_SLICE) {
        if (t)
            CQ_TRY(cq_eval_items(ev, object, &object, &known));
        if (object.kind != CQ_VAL_LIST && object.kind != CQ_VAL_TUPLE && object.kind != CQ_VAL_STR)
            return cq_eval_fail(ev, index->at, CQ_E_TYPE, "%s cannot be sliced",
                                cq_eval_type_name(object));
        CQ_TRY(eval_slice(ev, index, slice));
        return CQ_CALL(ev, out, "aten::slice", object, slice[0], slice[1], slice[2]);
    }
    CQ_TRY(cq_eval_index_value(ev, index, &v));
    return cq_eval_get_item(ev, object, v, out);
}

/* a[::2] = items: the number of items must be the length of the slice. */
static cq_status set_stepped(cq_eval *ev, cq_list *list, const cq_bounds *b, const cq_list *items,
                             cq_span at)
{
    size_t n = 0;

    for (int64_t i = b->start; b->step > 0 ? i < b->stop : i > b->stop; i += b->step)
        n++;
    if (n != items->n)
        return cq_eval_fail(ev, at, CQ_E_TYPE,
                            "a sequence of %zu items cannot be assigned to a slice of %zu",
                            items->n, n);
    CQ_TRY(cq_eval_spend(ev, 2 * n));
    CQ_TRY(cq_eval_will_change(ev, cq_val_of_list(list)));
    CQ_TRY(cq_eval_will_hold(ev, cq_val_of_list(list), cq_val_of_list((cq_list *)items)));
    n = 0;
    for (int64_t i = b->start; b->step > 0 ? i < b->stop : i > b->stop; i += b->step)
        cq_val_set(&list->items[i], items->items[n++]);
    return CQ_OK;
}

static cq_status set_slice(cq_eval *ev, cq_list *list, const cq_val slice[3], cq_span at, cq_val v)
{
    cq_list  *items;
    cq_val    old;
    cq_bounds b;

    if (list->origin)
        return cq_eval_fail(ev, at, CQ_E_UNSUPPORTED,
                            "a slice of a list of data-dependent length cannot be set");
    CQ_TRY(cq_builtin_bounds(ev, slice, list->n, &b));
    CQ_TRY(cq_eval_known_items(ev, v, NULL, &items));
    if (b.step != 1)
        return set_stepped(ev, list, &b, items, at);
    CQ_TRY(cq_eval_spend(ev, 2 * list->n + items->n)); /* removing and inserting moves items */
    CQ_TRY(cq_eval_will_change(ev, cq_val_of_list(list)));
    CQ_TRY(cq_eval_list(ev, list->items, list->n, CQ_VAL_LIST, &old));
    if (items == list)
        items = old.u.list;
    else
        CQ_TRY(cq_eval_will_hold(ev, cq_val_of_list(list), cq_val_of_list(items)));
    while (list->n > (size_t)b.start)
        cq_val_release(list->items[--list->n]);
    CQ_TRY(cq_list_add(list, items));
    for (int64_t i = b.stop > b.start ? b.stop : b.start; i < (int64_t)old.u.list->n; i++)
        CQ_TRY(cq_list_push(list, old.u.list->items[i]));
    return CQ_OK;
}

cq_status cq_eval_del_slice(cq_eval *ev, cq_list *list, const cq_val slice[3])
{
    cq_bounds b;
    cq_val    kept;

    CQ_TRY(cq_builtin_bounds(ev, slice, list->n, &b));
    CQ_TRY(cq_eval_spend(ev, 2 * list->n));
    CQ_TRY(cq_eval_will_change(ev, cq_val_of_list(list)));
    CQ_TRY(cq_eval_list(ev, NULL, 0, CQ_VAL_LIST, &kept));
    for (int64_t i = 0; i < (int64_t)list->n; i++) {
        const bool between = b.step > 0 ? i >= b.start && i < b.stop : i <= b.start && i > b.stop;

        if (!between || (i - b.start) % b.step != 0)
            CQ_TRY(cq_list_push(kept.u.list, list->items[i]));
    }
    cq_list_clear(list);
    return cq_list_add(list, kept.u.list);
}

cq_status cq_eval_set_index(cq_eval *ev, cq_val object, const cq_ast_expr *index, cq_val v)
{
    cq_val           at, ignored, ends[3];
    const cq_object *slice;
    bool             found;

    object = cq_val_unwrap(object);
    if (ev->program->python && object.kind == CQ_VAL_OBJECT) {
        CQ_TRY(cq_eval_index_value(ev, index, &at));
        CQ_TRY(
            cq_python_special(ev, object, "__setitem__", (cq_val[]){ at, v }, 2, &ignored, &found));
        if (found)
            return CQ_OK;
        object = cq_python_native(object);
        slice  = cq_object_as(at, CQ_OBJECT_SLICE);
        if (object.kind == CQ_VAL_LIST && slice)
            return set_slice(ev, object.u.list, slice->self.u.list->items, index->at, v);
        return CQ_CALL(ev, &ignored, "aten::_set_item", object, at, v);
    }
    if (object.kind == CQ_VAL_TENSOR)
        return set_tensor(ev, object, index, v);
    if (index->kind == CQ_X_SLICE && object.kind == CQ_VAL_LIST) {
        CQ_TRY(eval_slice(ev, index, ends));
        return set_slice(ev, object.u.list, ends, index->at, v);
    }
    CQ_TRY(cq_eval_expr(ev, index, &at));
    slice = cq_object_as(at, CQ_OBJECT_SLICE);
    if (slice && object.kind == CQ_VAL_LIST)
        return set_slice(ev, object.u.list, slice->self.u.list->items, index->at, v);
    return CQ_CALL(ev, &ignored, "aten::_set_item", object, at, v);
}
