/* Methods and operators of lists and tuples, including those that dicts share; dict.c has the
 * methods of dicts only. */
#include "script/builtins/builtin.h"
#include "script/python/python.h"
#include "script/values/sequence.h"

/* The list, tuple or dict whose method is called. */
static cq_list *self(const cq_fncall *c)
{
    return c->args[0].u.list;
}

/* Fails if a list of n items would be too long. */
static cq_status check_length(const cq_fncall *c, uint64_t n)
{
    if (n <= CQ_EVAL_MAX_ITEMS)
        return CQ_OK;
    return cq_fail(CQ_E_UNSUPPORTED, c->name, NULL, "the list has more than %d items",
                   CQ_EVAL_MAX_ITEMS);
}

/* An assignment at a data-dependent index turns the list into a sequence. */
static cq_status as_sequence(cq_fncall *c)
{
    CQ_TRY(cq_sequence_convert(c->ev, self(c)));
    return cq_eval_call_name(c->ev, c->name, c->args, c->n, &c->result);
}

cq_status cq_builtin_position(cq_eval *ev, cq_val index, size_t n, size_t *out)
{
    int64_t i;

    CQ_TRY(cq_eval_plain(ev, index, &i));
    if (i < 0)
        i += (int64_t)n;
    if (i < 0 || i >= (int64_t)n) {
        if (ev->program->python) {
            cq_val text;

            CQ_TRY(cq_builtin_text(ev, "list index out of range", strlen("list index out of range"),
                                   &text));
            CQ_TRY(cq_python_note_exception(ev, "IndexError", text));
        }
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL, "index %lld is out of range for %zu items",
                       (long long)i, n);
    }
    *out = (size_t)i;
    return CQ_OK;
}

/* ---- methods that change lists ---- */

static cq_status list_append(cq_fncall *c)
{
    c->result = c->args[0]; /* printed code uses the result of append */
    CQ_TRY(check_length(c, self(c)->n + 1));
    CQ_TRY(cq_eval_will_change(c->ev, c->args[0]));
    CQ_TRY(cq_eval_will_hold(c->ev, c->args[0], c->args[1]));
    return cq_list_push(self(c), c->args[1]);
}

static cq_status list_extend(cq_fncall *c)
{
    cq_list *items;

    c->result = c->args[0];
    CQ_TRY(cq_eval_known_items(c->ev, c->args[1], c->name, &items));
    CQ_TRY(check_length(c, self(c)->n + items->n));
    CQ_TRY(cq_eval_spend(c->ev, items->n));
    CQ_TRY(cq_eval_will_change(c->ev, c->args[0]));
    if (items != self(c))
        CQ_TRY(cq_eval_will_hold(c->ev, c->args[0], cq_val_of_list(items)));
    return cq_list_add(self(c), items);
}

static cq_status list_insert(cq_fncall *c)
{
    cq_list *list = self(c);
    int64_t  i;
    size_t   at;

    if (cq_eval_is_open_index(c->ev, c->args[1]))
        return as_sequence(c);
    CQ_TRY(cq_eval_plain(c->ev, c->args[1], &i));
    CQ_TRY(cq_eval_will_change(c->ev, c->args[0]));
    CQ_TRY(cq_eval_will_hold(c->ev, c->args[0], c->args[2]));
    if (i < 0)
        i += (int64_t)list->n;
    at = i < 0 ? 0 : i > (int64_t)list->n ? list->n : (size_t)i;
    CQ_TRY(cq_eval_spend(c->ev, list->n - at)); /* entries after it move down */
    CQ_TRY(cq_list_push(list, c->args[2]));
    memmove(&list->items[at + 1], &list->items[at], (list->n - 1 - at) * sizeof *list->items);
    list->items[at] = c->args[2];
    return CQ_OK;
}

/* Removes an item and transfers its reference to the context. */
static cq_status take_out(cq_fncall *c, size_t at)
{
    cq_list     *list  = self(c);
    const size_t after = list->n - at - 1;

    CQ_TRY(cq_eval_spend(c->ev, after)); /* items after it move down */
    CQ_TRY(cq_eval_will_change(c->ev, c->args[0]));
    CQ_TRY(cq_eval_own(c->ev, list->items[at], &c->result));
    memmove(&list->items[at], &list->items[at + 1], after * sizeof *list->items);
    list->n--;
    return CQ_OK;
}

enum { FORGET = 1 }; /* the removed item is not returned */

static cq_status list_pop(cq_fncall *c)
{
    const cq_val index = c->n > 1 ? c->args[1] : cq_val_of_i64(-1);
    size_t       at;

    if (cq_eval_is_open_index(c->ev, index))
        return as_sequence(c);
    CQ_TRY(cq_builtin_position(c->ev, index, self(c)->n, &at));
    CQ_TRY(take_out(c, at));
    if (c->row->how == FORGET)
        c->result = CQ_NONE;
    return CQ_OK;
}

static cq_status dict_pop(cq_fncall *c)
{
    cq_dict *dict = c->args[0].u.dict;
    cq_val   key  = c->args[1], *v;

    CQ_TRY(cq_builtin_key_of(c->ev, dict, &key));
    v = cq_dict_get(dict, key);
    if (!v && c->n > 2) {
        c->result = c->args[2];
        return CQ_OK;
    }
    if (!v)
        return cq_builtin_no_key(c->ev, c->name, key);
    CQ_TRY(cq_eval_will_change(c->ev, c->args[0]));
    if (c->row->how != FORGET)
        CQ_TRY(cq_eval_own(c->ev, cq_val_retain(*v), &c->result));
    cq_dict_remove(dict, key);
    return CQ_OK;
}

/* Finds the first item from *at on that equals the argument. Its index must not be
 * data-dependent. */
static cq_status find_item(cq_fncall *c, size_t *at)
{
    const cq_list *list = self(c);

    for (; *at < list->n; ++*at) {
        bool known, equal;

        CQ_TRY(cq_eval_step(c->ev));
        CQ_TRY(cq_builtin_equal(c->ev, list->items[*at], c->args[1], &known, &equal));
        if (!known && c->ev->capture && !c->ev->tracing)
            return cq_fail(CQ_E_UNSUPPORTED, c->name, NULL,
                           "the index of the item is data-dependent, which cannot be exported");
        if (equal)
            return CQ_OK;
    }
    return CQ_OK;
}

static cq_status list_index(cq_fncall *c)
{
    size_t at = 0;

    CQ_TRY(find_item(c, &at));
    if (at == self(c)->n)
        return c->ev->program->python
                   ? cq_python_raise(c->ev, "ValueError", "the list has no such item")
                   : cq_fail(CQ_E_NOT_FOUND, c->name, NULL, "the list has no such item");
    c->result = cq_val_of_i64((int64_t)at);
    return CQ_OK;
}

static cq_status list_remove(cq_fncall *c)
{
    CQ_TRY(list_index(c));
    CQ_TRY(take_out(c, (size_t)c->result.u.i.value));
    c->result = CQ_NONE;
    return CQ_OK;
}

static cq_status list_count(cq_fncall *c)
{
    int64_t n = 0;

    for (size_t at = 0;; at++, n++) {
        CQ_TRY(find_item(c, &at));
        if (at == self(c)->n)
            break;
    }
    c->result = cq_val_of_i64(n);
    return CQ_OK;
}

static cq_status any_clear(cq_fncall *c)
{
    if (c->args[0].kind != CQ_VAL_LIST && c->args[0].kind != CQ_VAL_DICT)
        return cq_fncall_decline(c);
    CQ_TRY(cq_eval_will_change(c->ev, c->args[0]));
    if (c->args[0].kind == CQ_VAL_DICT)
        cq_dict_clear(c->args[0].u.dict);
    else
        cq_list_clear(self(c));
    return CQ_OK;
}

static void reverse(cq_list *list)
{
    for (size_t i = 0; i < list->n / 2; i++) {
        cq_val swap                  = list->items[i];
        list->items[i]               = list->items[list->n - 1 - i];
        list->items[list->n - 1 - i] = swap;
    }
}

static cq_status list_reverse(cq_fncall *c)
{
    CQ_TRY(cq_eval_spend(c->ev, self(c)->n));
    CQ_TRY(cq_eval_will_change(c->ev, c->args[0]));
    reverse(self(c));
    return CQ_OK;
}

/* Copies the items of any value of known length to a new list. */
static cq_status copy_items(cq_fncall *c, cq_val from, cq_val_kind kind)
{
    cq_list *items;

    CQ_TRY(cq_eval_known_items(c->ev, from, c->name, &items));
    return cq_eval_list(c->ev, items->items, items->n, kind, &c->result);
}

static cq_status any_reversed(cq_fncall *c)
{
    CQ_TRY(copy_items(c, c->args[0], CQ_VAL_LIST));
    reverse(c->result.u.list);
    return CQ_OK;
}

/* Whether the items must be sorted in the graph: one-element tensors of one dtype and rank, or
 * numbers of one kind of which one is data-dependent. */
bool cq_builtin_is_order_of_tensors(const cq_list *list)
{
    bool symbolic = false;

    for (size_t i = 0; i < list->n; i++) {
        const cq_val *a = &list->items[0], *b = &list->items[i];

        if (a->kind != b->kind || (a->kind != CQ_VAL_TENSOR && !cq_val_is_number(*a)))
            return false;
        if (a->kind == CQ_VAL_TENSOR &&
            (a->u.tensor->dtype != b->u.tensor->dtype || a->u.tensor->rank != b->u.tensor->rank ||
             cq_tensor_numel(b->u.tensor) != 1))
            return false;
        symbolic |= cq_val_is_symbolic(*b);
    }
    return list->n > 1 && (symbolic || list->items[0].kind == CQ_VAL_TENSOR);
}

cq_status cq_builtin_sort_tensors(cq_fncall *c, cq_list *list, bool reverse)
{
    cq_eval    *ev   = c->ev;
    cq_val_kind kind = list->items[0].kind;
    cq_val      all;

    CQ_TRY(cq_eval_list(ev, NULL, 0, CQ_VAL_LIST, &all));
    for (size_t i = 0; i < list->n; i++) {
        cq_tensor *t;

        CQ_TRY(cq_eval_as_tensor(ev, list->items[i], &t));
        CQ_TRY(cq_list_push(all.u.list, TENSOR(t)));
    }
    CQ_TRY(CQ_CALL(ev, &all, "aten::stack", all, INT(0)));
    CQ_TRY(CQ_CALL(ev, &all, "aten::sort", all, INT(0), BOOL(reverse)));
    CQ_TRY(CQ_CALL(ev, &all, "aten::unbind", all.u.list->items[0], INT(0)));
    for (size_t i = 0; i < list->n; i++) {
        cq_val item = all.u.list->items[i];

        if (kind != CQ_VAL_TENSOR)
            CQ_TRY(cq_builtin_number_of(ev, item.u.tensor, kind, &item));
        cq_val_set(&list->items[i], item);
    }
    return CQ_OK;
}

static cq_status is_less(cq_fncall *c, cq_val a, cq_val b, bool *less)
{
    cq_val truth;

    CQ_TRY(cq_eval_step(c->ev));
    CQ_TRY(CQ_CALL(c->ev, &truth, "aten::lt", a, b));
    if (truth.kind != CQ_VAL_BOOL || truth.u.b.origin)
        return cq_fail(CQ_E_UNSUPPORTED, c->name, NULL, "the items cannot be ordered");
    *less = truth.u.b.value;
    return CQ_OK;
}

/* Insertion sort: it is stable, and lists of models are short. */
static cq_status sort_items(cq_fncall *c, cq_list *list, bool reverse)
{
    if (cq_builtin_is_order_of_tensors(list))
        return cq_builtin_sort_tensors(c, list, reverse);
    for (size_t i = 1; i < list->n; i++)
        for (size_t k = i; k > 0; k--) {
            const cq_val a = list->items[k - 1], b = list->items[k];
            bool         less;

            CQ_TRY(is_less(c, reverse ? a : b, reverse ? b : a, &less));
            if (!less)
                break;
            list->items[k - 1] = b;
            list->items[k]     = a;
        }
    return CQ_OK;
}

static cq_status list_sort(cq_fncall *c)
{
    cq_val reverse = cq_builtin_arg(c, 1);

    CQ_TRY(cq_eval_will_change(c->ev, c->args[0]));
    return sort_items(c, self(c), reverse.kind == CQ_VAL_BOOL && reverse.u.b.value);
}

static cq_status any_sorted(cq_fncall *c)
{
    CQ_TRY(copy_items(c, c->args[0], CQ_VAL_LIST));
    return sort_items(c, c->result.u.list, false);
}

static cq_status any_copy(cq_fncall *c)
{
    if (c->args[0].kind == CQ_VAL_DICT) {
        CQ_TRY(cq_eval_new_dict(c->ev, &c->result));
        return cq_dict_add(c->result.u.dict, c->args[0].u.dict);
    }
    return cq_val_is_list(c->args[0]) ? copy_items(c, c->args[0], CQ_VAL_LIST)
                                      : cq_fncall_decline(c);
}

/* ---- operators and queries of lists ---- */

static cq_status list_add(cq_fncall *c)
{
    CQ_TRY(check_length(c, self(c)->n + c->args[1].u.list->n));
    CQ_TRY(copy_items(c, c->args[0], c->args[0].kind));
    c->result.u.list->is_size = self(c)->is_size;
    return cq_list_add(c->result.u.list, c->args[1].u.list);
}

/* [x] * n for a data-dependent n. */
static cq_status repeated(cq_fncall *c, cq_val list, cq_val times)
{
    cq_sequence from  = { .length = cq_i(1) };
    cq_val      empty = CQ_NONE;
    cq_value   *value;
    cq_int      count;

    CQ_TRY(cq_item_type_of_list(&from.item, list));
    CQ_TRY(cq_sequence_value(c->ev, list, &from.item, &from.value));
    CQ_TRY(cq_eval_int(c->ev, times, &count));
    CQ_TRY(cq_eval_list(c->ev, NULL, 0, CQ_VAL_LIST, &empty));
    CQ_TRY(cq_sequence_value(c->ev, empty, &from.item, &value));
    CQ_TRY(cq_sequence_gather(c->ev, value, &from, cq_i(0), cq_i(0), count, &value));
    return cq_sequence_list(c->ev, value, &from.item, cq_i(-1), &c->result);
}

static cq_status list_mul(cq_fncall *c)
{
    const size_t which = cq_val_is_list(c->args[1]) ? 1 : 0;
    const cq_val list = c->args[which], count = c->args[1 - which];
    int64_t      times;
    uint64_t     n;

    if (!cq_val_is_list(list))
        return cq_fncall_decline(c);
    if (cq_eval_is_open_index(c->ev, count) && list.u.list->n == 1)
        return repeated(c, list, count);
    CQ_TRY(cq_eval_plain(c->ev, count, &times));
    CQ_TRY(cq_eval_list(c->ev, NULL, 0, list.kind, &c->result));
    if (times <= 0 || !list.u.list->n)
        return CQ_OK;
    n = (uint64_t)times > CQ_EVAL_MAX_ITEMS ? UINT64_MAX : (uint64_t)times * list.u.list->n;
    CQ_TRY(check_length(c, n));
    CQ_TRY(cq_eval_spend(c->ev, n));
    while (times--)
        CQ_TRY(cq_list_add(c->result.u.list, list.u.list));
    return CQ_OK;
}

static cq_status call_method(cq_fncall *c, const char *name)
{
    cq_val method;

    CQ_TRY(cq_eval_attribute(c->ev, c->args[0], cq_name(c->ev->program, name), &method));
    return cq_eval_call(c->ev, method, c->args + 1, c->n - 1, &c->result);
}

static cq_status any_len(cq_fncall *c)
{
    const cq_val     v = c->args[0];
    const cq_object *t = cq_object_as(v, CQ_OBJECT_INSTANCE);
    cq_list         *items;

    switch (v.kind) {
    case CQ_VAL_DICT: c->result = cq_val_of_i64((int64_t)v.u.dict->n); return CQ_OK;
    case CQ_VAL_STR: c->result = cq_val_of_i64((int64_t)v.u.text->len); return CQ_OK;
    case CQ_VAL_TENSOR:
        if (!v.u.tensor->rank)
            return cq_fail(CQ_E_TYPE, "len", NULL, "a 0-d tensor has no length");
        c->result = cq_val_of_int(v.u.tensor->sizes[0]);
        return CQ_OK;
    default: break;
    }
    if (t && t->cls && cq_ast_class_method(t->cls, cq_name(c->ev->program, "__len__")))
        return call_method(c, "__len__");
    CQ_TRY(cq_eval_known_items(c->ev, v, "len", &items));
    c->result = cq_val_of_i64((int64_t)items->n);
    return CQ_OK;
}

static cq_status any_get_item(cq_fncall *c)
{
    if (c->args[0].kind == CQ_VAL_TENSOR)
        return cq_fncall_decline(c);
    return cq_eval_get_item(c->ev, c->args[0], c->args[1], &c->result);
}

static cq_status any_set_item(cq_fncall *c)
{
    const cq_val object = c->args[0], v = c->args[2];
    cq_val       key = c->args[1];
    size_t       at  = 0;

    if (cq_object_as(object, CQ_OBJECT_INSTANCE))
        return call_method(c, "__setitem__");
    if (object.kind != CQ_VAL_LIST && object.kind != CQ_VAL_DICT)
        return cq_fail(CQ_E_TYPE, NULL, NULL, "items of %s cannot be set",
                       cq_eval_type_name(object));
    if (object.kind == CQ_VAL_LIST && cq_eval_is_open_index(c->ev, key))
        return as_sequence(c);
    CQ_TRY(object.kind == CQ_VAL_DICT ? cq_builtin_key_of(c->ev, object.u.dict, &key)
                                      : cq_builtin_position(c->ev, key, self(c)->n, &at));
    CQ_TRY(cq_eval_will_change(c->ev, object));
    CQ_TRY(cq_eval_will_hold(c->ev, object, v));
    if (object.kind == CQ_VAL_DICT)
        return cq_dict_set(object.u.dict, key, v);
    cq_val_set(&object.u.list->items[at], v);
    return CQ_OK;
}

/* Whether an item equals the argument; the result is data-dependent if that is not known. */
static cq_status list_contains(cq_fncall *c)
{
    bool     known, equal = false;
    cq_list *items;

    CQ_TRY(cq_eval_known_items(c->ev, c->args[0], NULL, &items));
    CQ_TRY(cq_eval_spend(c->ev, 12 * items->n)); /* comparing takes longer than copying */
    for (size_t i = 0; i < items->n && !equal; i++) {
        CQ_TRY(cq_builtin_equal(c->ev, items->items[i], c->args[1], &known, &equal));
        if (!known && c->ev->capture && !c->ev->tracing)
            return cq_builtin_any_equal(c->ev, items->items, &c->args[1], 0, items->n, false,
                                        &c->result);
    }
    c->result = cq_val_of_bool(equal);
    return CQ_OK;
}

static cq_status any_contains(cq_fncall *c)
{
    const cq_val whole = c->args[0];
    cq_val       part  = c->args[1];
    cq_object   *t     = cq_object_as(whole, CQ_OBJECT_INSTANCE);
    const char  *text  = part.kind == CQ_VAL_STR ? part.u.text->text : NULL;

    if (whole.kind == CQ_VAL_DICT && !cq_val_is_symbolic(part)) {
        CQ_TRY(cq_builtin_key_of(c->ev, whole.u.dict, &part));
        c->result = cq_val_of_bool(cq_dict_get(whole.u.dict, part) != NULL);
    } else if (whole.kind == CQ_VAL_STR && text) {
        c->result = cq_val_of_bool(strstr(whole.u.text->text, text) != NULL);
    } else if (t && text) {
        c->result = cq_val_of_bool(cq_object_attribute(t, cq_name(c->ev->program, text)));
    } else {
        return list_contains(c);
    }
    return CQ_OK;
}

/* Whether the list contains sizes. Such a list is a shape, whose length is fixed. */
static bool has_sizes(const cq_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        if (list->items[i].kind == CQ_VAL_INT && list->items[i].u.i.expr)
            return true;
    return false;
}

/* A slice with data-dependent bounds; the result is a sequence. */
static cq_status open_slice(cq_fncall *c)
{
    cq_val args[4];

    memcpy(args, c->args, c->n * sizeof *args);
    CQ_TRY(cq_eval_list(c->ev, self(c)->items, self(c)->n, CQ_VAL_LIST, &args[0]));
    CQ_TRY(cq_sequence_convert(c->ev, args[0].u.list));
    return cq_eval_call_name(c->ev, c->name, args, c->n, &c->result);
}

cq_status cq_builtin_bounds(cq_eval *ev, const cq_val v[3], size_t n, cq_bounds *out)
{
    int64_t *ends[2] = { &out->start, &out->stop }, first, last;

    out->step = 1;
    if (v[2].kind != CQ_VAL_NONE)
        CQ_TRY(cq_eval_plain(ev, v[2], &out->step));
    if (out->step == 0)
        return cq_fail(CQ_E_UNSUPPORTED, "slice", NULL, "the step cannot be 0");
    first      = out->step < 0 ? -1 : 0; /* range of the start and end indices */
    last       = (int64_t)n + first;
    out->start = out->step < 0 ? last : first;
    out->stop  = out->step < 0 ? first : last;
    for (size_t i = 0; i < 2; i++) {
        if (v[i].kind == CQ_VAL_NONE)
            continue;
        CQ_TRY(cq_eval_plain(ev, v[i], ends[i]));
        if (*ends[i] < 0)
            *ends[i] += (int64_t)n;
        *ends[i] = *ends[i] < first ? first : *ends[i] > last ? last : *ends[i];
    }
    return CQ_OK;
}

static cq_status text_slice(cq_fncall *c, const cq_text *of, const cq_bounds *b)
{
    cq_str    s = { 0 };
    cq_status status;

    for (int64_t i = b->start; b->step > 0 ? i < b->stop : i > b->stop; i += b->step)
        cq_str_add_char(&s, of->text[i]);
    status = s.status;
    if (status == CQ_OK)
        status = cq_builtin_text(c->ev, cq_str_text(&s), s.len, &c->result);
    cq_str_clear(&s);
    return status;
}

/* torch.slice(list, start, stop, step), the form in printed TorchScript. */
static cq_status list_slice(cq_fncall *c)
{
    const cq_val of      = c->args[0];
    const bool   is_text = of.kind == CQ_VAL_STR;
    cq_val       v[3];
    cq_bounds    b;

    if (!cq_val_is_list(of) && !is_text)
        return cq_fncall_decline(c);
    for (size_t i = 0; i < 3; i++) {
        v[i] = cq_builtin_arg(c, i + 1);
        if (i < 2 && of.kind == CQ_VAL_LIST && of.u.list->n && !has_sizes(of.u.list) &&
            cq_eval_is_open_index(c->ev, v[i]))
            return open_slice(c);
    }
    CQ_TRY(cq_builtin_bounds(c->ev, v, is_text ? of.u.text->len : of.u.list->n, &b));
    if (is_text && b.step != 1)
        return text_slice(c, of.u.text, &b);
    if (is_text)
        return cq_builtin_text(c->ev, of.u.text->text + b.start,
                               b.stop > b.start ? (size_t)(b.stop - b.start) : 0, &c->result);
    CQ_TRY(cq_eval_list(c->ev, NULL, 0, of.kind, &c->result));
    c->result.u.list->is_size = of.u.list->is_size;
    for (int64_t i = b.start; b.step > 0 ? i < b.stop : i > b.stop; i += b.step)
        CQ_TRY(cq_list_push(c->result.u.list, of.u.list->items[i]));
    return CQ_OK;
}

static cq_status new_list(cq_fncall *c)
{
    const cq_val_kind kind  = strcmp(c->name, "tuple") == 0 ? CQ_VAL_TUPLE : CQ_VAL_LIST;
    cq_val            items = CQ_NONE;
    bool              known = true;

    if (!c->n)
        return cq_eval_list(c->ev, NULL, 0, CQ_VAL_LIST, &c->result);
    CQ_TRY(cq_eval_items(c->ev, c->args[0], &items, &known));
    c->result = c->args[0];
    return known ? cq_eval_list(c->ev, items.u.list->items, items.u.list->n, kind, &c->result)
                 : CQ_OK;
}

const cq_builtin cq_builtins_item[] = {
    { "append(list self, el)", .fn = list_append },
    { "pop(list self, idx?)", .fn = list_pop },
    { "pop(dict self, key, default_value?)", .fn = dict_pop },
    { "Delete(dict self, key)", .fn = dict_pop, .how = FORGET },
    { "__contains__(dict self, item)", .fn = any_contains },
    { "len(a)", .fn = any_len },
    { "__len__(a)", .fn = any_len },
    { "__getitem__(self, idx)", .fn = any_get_item },
    { "_set_item(self, idx, el)", .fn = any_set_item },
    { "__setitem__(self, idx, el)", .fn = any_set_item },
    { 0 },
};

const cq_builtin cq_builtins_list[] = {
    { "extend(list self, other)", .fn = list_extend },
    { "add_(list self, other)", .fn = list_extend },
    { "insert(list self, idx, el)", .fn = list_insert },
    { "Delete(list self, idx)", .fn = list_pop, .how = FORGET },
    { "remove(list self, el)", .fn = list_remove },
    { "index(items self, el)", .fn = list_index },
    { "count(items self, el)", .fn = list_count },
    { "clear(self)", .fn = any_clear },
    { "reverse(list self)", .fn = list_reverse },
    { "sort(list self, reverse?)", .fn = list_sort },
    { "sorted(self)", .fn = any_sorted },
    { "_reversed(self)", .fn = any_reversed },
    { "reversed(self)", .fn = any_reversed },
    { "copy(self)", .fn = any_copy },
    { "add(items a, items b)", .fn = list_add },
    { "mul(a, b)", .fn = list_mul },
    { "__contains__(self, item)", .fn = any_contains },
    { "slice(l, start?, end?, step?)", .fn = list_slice },
    { "list(iterable?)", .fn = new_list },
    { "tuple(iterable?)", .fn = new_list },
    { 0 },
};
