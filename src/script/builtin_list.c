/* Methods and operators of lists and tuples, and those that dicts have as well; what only dicts
 * have is in builtin_dict.c. */
#include "script/builtin.h"
#include "script/sequence.h"

static cq_status too_long(const cq_fncall *c)
{
    return cq_fail(CQ_E_UNSUPPORTED, c->name, NULL, "a list has more than %d items",
                   CQ_EVAL_MAX_ITEMS);
}

/* A change at a data-dependent index: the list is a sequence from now on. */
static cq_status as_sequence(cq_fncall *c)
{

    CQ_TRY(cq_sequence_convert(c->ev, c->args[0].u.list));
    return cq_eval_call_name(c->ev, c->name, c->args, c->n, &c->result);
}

/* ---- lists that change ---- */

static cq_status list_append(cq_fncall *c)
{
    c->result = c->args[0]; /* printed code returns what it appends to */
    if (c->args[0].u.list->n >= CQ_EVAL_MAX_ITEMS)
        return too_long(c);
    CQ_TRY(cq_eval_will_change_list(c->ev, c->args[0].u.list));
    CQ_TRY(cq_eval_will_hold(c->ev, c->args[0], c->args[1]));
    return cq_list_push(c->args[0].u.list, c->args[1]);
}

static cq_status list_extend(cq_fncall *c)
{
    cq_val items;
    bool   known;

    CQ_TRY(cq_eval_items(c->ev, c->args[1], &items, &known));
    if (!known)
        return cq_fail(CQ_E_UNSUPPORTED, c->name, NULL, "the length of a list is not known here");
    CQ_TRY(cq_eval_spend(c->ev, items.u.list->n));
    CQ_TRY(cq_eval_will_change_list(c->ev, c->args[0].u.list));
    if (items.u.list != c->args[0].u.list)
        CQ_TRY(cq_eval_will_hold(c->ev, c->args[0], items));
    for (size_t i = 0, n = items.u.list->n; i < n; i++) {
        if (c->args[0].u.list->n >= CQ_EVAL_MAX_ITEMS)
            return too_long(c);
        CQ_TRY(cq_list_push(c->args[0].u.list, items.u.list->items[i]));
    }
    c->result = c->args[0];
    return CQ_OK;
}

static size_t clamp_position(int64_t i, size_t n)
{
    if (i < 0)
        i += (int64_t)n;
    return i < 0 ? 0 : i > (int64_t)n ? n : (size_t)i;
}

static cq_status list_insert(cq_fncall *c)
{
    cq_list *list;
    int64_t  i;
    size_t   at;

    list = c->args[0].u.list;
    if (cq_eval_is_open_index(c->ev, c->args[1]))
        return as_sequence(c);
    CQ_TRY(cq_eval_plain(c->ev, c->args[1], &i));
    CQ_TRY(cq_eval_will_change_list(c->ev, list));
    CQ_TRY(cq_eval_will_hold(c->ev, c->args[0], c->args[2]));
    at = clamp_position(i, list->n);
    CQ_TRY(cq_eval_spend(c->ev, list->n - at)); /* that move down */
    CQ_TRY(cq_list_push(list, c->args[2]));
    memmove(&list->items[at + 1], &list->items[at], (list->n - 1 - at) * sizeof *list->items);
    list->items[at] = c->args[2];
    return CQ_OK;
}

static cq_status remove_at(cq_fncall *c, cq_list *list, int64_t i)
{
    if (i < 0)
        i += (int64_t)list->n;
    if (i < 0 || i >= (int64_t)list->n)
        return cq_fail(CQ_E_ARGUMENT, c->name, NULL, "index %lld is out of range for %zu items",
                       (long long)i, list->n);
    CQ_TRY(cq_eval_spend(c->ev, list->n - (size_t)i)); /* that move up */
    CQ_TRY(cq_eval_will_change_list(c->ev, list));
    c->result =
        cq_ctx_own(c->ev->cx, list->items[i]); /* the list's reference moves to the context */
    memmove(&list->items[i], &list->items[i + 1], (list->n - (size_t)i - 1) * sizeof *list->items);
    list->n--;
    return c->ev->cx->status;
}

enum { FORGET = 1 }; /* what is taken out */

static cq_status list_pop(cq_fncall *c)
{
    int64_t i = -1;

    if (c->n > 1 && cq_eval_is_open_index(c->ev, c->args[1]))
        return as_sequence(c);
    if (c->n > 1)
        CQ_TRY(cq_eval_plain(c->ev, c->args[1], &i));
    CQ_TRY(remove_at(c, c->args[0].u.list, i));
    if (c->row->how == FORGET)
        c->result = CQ_NONE;
    return CQ_OK;
}

static cq_status dict_pop(cq_fncall *c)
{
    cq_dict *dict = c->args[0].u.dict;
    cq_val   key  = c->args[1], *v;

    CQ_TRY(cq_builtin_key(c->ev, &key));
    v = cq_dict_get(dict, key);
    if (!v && c->n > 2) {
        c->result = c->args[2];
        return CQ_OK;
    }
    if (!v)
        return cq_fail(CQ_E_NOT_FOUND, c->name, NULL, "the dict has no such key");
    CQ_TRY(cq_eval_will_change_dict(c->ev, dict));
    if (c->row->how != FORGET)
        c->result = cq_ctx_own(c->ev->cx, cq_val_retain(*v));
    cq_dict_remove(dict, key);
    return c->ev->cx->status;
}

/* Where an item is, and so what is left, cannot depend on the run. */
static cq_status must_be_known(const cq_fncall *c, bool known)
{
    if (known || !c->ev->capture || c->ev->tracing)
        return CQ_OK;
    return cq_fail(CQ_E_UNSUPPORTED, c->name, NULL,
                   "which item it is, is data-dependent: that cannot be exported");
}

static cq_status find_item(cq_fncall *c, cq_val item, size_t *at)
{
    const cq_list *list = c->args[0].u.list;

    for (*at = 0; *at < list->n; ++*at) {
        bool known, equal;

        CQ_TRY(cq_eval_step(c->ev));
        CQ_TRY(cq_builtin_equal(c->ev, list->items[*at], item, &known, &equal));
        CQ_TRY(must_be_known(c, known));
        if (equal)
            break;
    }
    return CQ_OK;
}

static cq_status list_remove(cq_fncall *c)
{
    size_t at;

    CQ_TRY(find_item(c, c->args[1], &at));
    CQ_TRY(remove_at(c, c->args[0].u.list, (int64_t)at));
    c->result = CQ_NONE;
    return CQ_OK;
}

static cq_status list_index(cq_fncall *c)
{
    size_t at;

    CQ_TRY(find_item(c, c->args[1], &at));
    if (at == c->args[0].u.list->n)
        return cq_fail(CQ_E_NOT_FOUND, c->name, NULL, "the list has no such item");
    c->result = cq_val_of_i64((int64_t)at);
    return CQ_OK;
}

static cq_status list_count(cq_fncall *c)
{
    int64_t n = 0;

    for (size_t i = 0; i < c->args[0].u.list->n; i++) {
        bool known, equal;

        CQ_TRY(cq_eval_step(c->ev));
        CQ_TRY(cq_builtin_equal(c->ev, c->args[0].u.list->items[i], c->args[1], &known, &equal));
        CQ_TRY(must_be_known(c, known));
        n += equal;
    }
    c->result = cq_val_of_i64(n);
    return CQ_OK;
}

static cq_status any_clear(cq_fncall *c)
{
    if (c->args[0].kind == CQ_VAL_DICT) {
        CQ_TRY(cq_eval_will_change_dict(c->ev, c->args[0].u.dict));
        cq_dict_clear(c->args[0].u.dict);
        return CQ_OK;
    }
    if (c->args[0].kind != CQ_VAL_LIST)
        return cq_fncall_decline(c);
    CQ_TRY(cq_eval_will_change_list(c->ev, c->args[0].u.list));
    while (c->args[0].u.list->n)
        cq_val_release(c->args[0].u.list->items[--c->args[0].u.list->n]);
    return CQ_OK;
}

static cq_status list_reverse(cq_fncall *c)
{
    cq_list *list;

    list = c->args[0].u.list;
    CQ_TRY(cq_eval_spend(c->ev, list->n));
    CQ_TRY(cq_eval_will_change_list(c->ev, list));
    for (size_t i = 0; i < list->n / 2; i++) {
        cq_val swap                  = list->items[i];
        list->items[i]               = list->items[list->n - 1 - i];
        list->items[list->n - 1 - i] = swap;
    }
    return CQ_OK;
}

/* Whether the order is that of numbers in tensors: of one dtype and rank, one element each; or of
 * numbers of one kind, one of which is data-dependent. */
static bool is_order_of_tensors(const cq_list *list)
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

static cq_status sort_tensors(cq_fncall *c, cq_list *list, bool reverse)
{
    cq_eval    *ev   = c->ev;
    cq_val_kind kind = list->items[0].kind;
    cq_val      all, args[3] = { CQ_NONE, INT(0), BOOL(reverse) }, sorted;

    CQ_TRY(cq_eval_list(ev, NULL, 0, CQ_VAL_LIST, &all));
    for (size_t i = 0; i < list->n; i++) {
        cq_tensor *t;

        CQ_TRY(cq_eval_as_tensor(ev, list->items[i], &t));
        CQ_TRY(cq_list_push(all.u.list, TENSOR(t)));
    }
    args[0] = all;
    CQ_TRY(cq_eval_call_name(ev, "aten::stack", args, 2, &args[0]));
    CQ_TRY(cq_eval_call_name(ev, "aten::sort", args, 3, &sorted));
    CQ_TRY(cq_eval_call_name(ev, "aten::unbind", (cq_val[]){ sorted.u.list->items[0], INT(0) }, 2,
                             &all));
    for (size_t i = 0; i < list->n; i++) {
        cq_val item = all.u.list->items[i];

        if (kind != CQ_VAL_TENSOR)
            CQ_TRY(cq_builtin_number_of(ev, item.u.tensor, kind, &item));
        cq_val_retain(item);
        cq_val_release(list->items[i]);
        list->items[i] = item;
    }
    return CQ_OK;
}

/* Insertion sort: stable, and lists of models are short. */
static cq_status sort_items(cq_fncall *c, cq_list *list, bool reverse)
{
    if (is_order_of_tensors(list))
        return sort_tensors(c, list, reverse);
    for (size_t i = 1; i < list->n; i++)
        for (size_t k = i; k > 0; k--) {
            cq_val a = list->items[k - 1], b = list->items[k];
            bool   less;

            CQ_TRY(cq_eval_step(c->ev));
            if (a.kind == CQ_VAL_STR && b.kind == CQ_VAL_STR) {
                int order = strcmp(b.u.text->text, a.u.text->text);

                CQ_TRY(cq_eval_spend(c->ev, a.u.text->len));
                less = reverse ? order > 0 : order < 0;
            } else {
                cq_val args[2] = { reverse ? a : b, reverse ? b : a }, truth;

                CQ_TRY(cq_eval_call_name(c->ev, "aten::lt", args, 2, &truth));
                if (truth.kind != CQ_VAL_BOOL || truth.u.b.origin)
                    return cq_fail(CQ_E_UNSUPPORTED, c->name, NULL, "the items cannot be ordered");
                less = truth.u.b.value;
            }
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

    CQ_TRY(cq_eval_will_change_list(c->ev, c->args[0].u.list));
    return sort_items(c, c->args[0].u.list, reverse.kind == CQ_VAL_BOOL && reverse.u.b.value);
}

static cq_status any_sorted(cq_fncall *c)
{
    cq_val items;
    bool   known;

    CQ_TRY(cq_eval_items(c->ev, c->args[0], &items, &known));
    if (!known)
        return cq_fail(CQ_E_UNSUPPORTED, c->name, NULL, "the length of a list is not known here");
    CQ_TRY(cq_eval_list(c->ev, items.u.list->items, items.u.list->n, CQ_VAL_LIST, &c->result));
    return sort_items(c, c->result.u.list, false);
}

static cq_status any_copy(cq_fncall *c)
{
    if (c->args[0].kind == CQ_VAL_DICT) {
        cq_dict *copy;

        CQ_TRY(cq_dict_new(&copy));
        c->result = cq_ctx_own(c->ev->cx, cq_val_of_dict(copy));
        CQ_TRY(c->ev->cx->status);
        for (size_t i = 0; i < c->args[0].u.dict->n; i++)
            CQ_TRY(cq_dict_set(copy, c->args[0].u.dict->entries[i].key,
                               c->args[0].u.dict->entries[i].value));
        return CQ_OK;
    }
    if (!cq_val_is_list(c->args[0]))
        return cq_fncall_decline(c);
    return cq_eval_list(c->ev, c->args[0].u.list->items, c->args[0].u.list->n, CQ_VAL_LIST,
                        &c->result);
}

/* ---- lists as values ---- */

static cq_status list_add(cq_fncall *c)
{
    CQ_TRY(cq_eval_list(c->ev, c->args[0].u.list->items, c->args[0].u.list->n, c->args[0].kind,
                        &c->result));
    if (c->result.u.list->n + c->args[1].u.list->n > CQ_EVAL_MAX_ITEMS)
        return too_long(c);
    for (size_t i = 0; i < c->args[1].u.list->n; i++)
        CQ_TRY(cq_list_push(c->result.u.list, c->args[1].u.list->items[i]));
    return CQ_OK;
}

/* [x] * n for a data-dependent n. */
static cq_status repeated(cq_fncall *c, cq_val list, cq_val times)
{
    cq_item_type item  = { 0 };
    cq_sequence  from  = { .length = cq_i(1) };
    cq_val       empty = CQ_NONE, count = times;
    cq_value    *value;

    CQ_TRY(cq_item_type_of_list(&item, list));
    CQ_TRY(cq_sequence_value(c->ev, list, &item, &from.value));
    from.item = item;
    CQ_TRY(cq_eval_call_name(c->ev, "aten::Int", &times, 1, &count));
    CQ_TRY(cq_eval_list(c->ev, NULL, 0, CQ_VAL_LIST, &empty));
    CQ_TRY(cq_sequence_value(c->ev, empty, &item, &value));
    CQ_TRY(cq_sequence_gather(c->ev, value, &from, cq_i(0), cq_i(0), count.u.i, &value));
    return cq_sequence_list(c->ev, value, &item, cq_i(-1), &c->result);
}

static cq_status list_mul(cq_fncall *c)
{
    size_t  which = cq_val_is_list(c->args[1]) ? 1 : 0;
    int64_t times;

    if (!cq_val_is_list(c->args[which]))
        return cq_fncall_decline(c);
    if (cq_eval_is_open_index(c->ev, c->args[1 - which]) && c->args[which].u.list->n == 1)
        return repeated(c, c->args[which], c->args[1 - which]);
    CQ_TRY(cq_eval_plain(c->ev, c->args[1 - which], &times));
    CQ_TRY(cq_eval_list(c->ev, NULL, 0, c->args[which].kind, &c->result));
    for (int64_t t = 0; t < times; t++)
        for (size_t i = 0, n = c->args[which].u.list->n; i < n; i++) {
            if (c->result.u.list->n >= CQ_EVAL_MAX_ITEMS)
                return too_long(c);
            CQ_TRY(cq_list_push(c->result.u.list, c->args[which].u.list->items[i]));
        }
    return CQ_OK;
}

static cq_status any_len(cq_fncall *c)
{
    cq_val     v = c->args[0], items;
    cq_object *t = cq_object_of(v);
    bool       known;

    switch (v.kind) {
    case CQ_VAL_LIST:
    case CQ_VAL_TUPLE: c->result = cq_val_of_i64((int64_t)v.u.list->n); return CQ_OK;
    case CQ_VAL_DICT: c->result = cq_val_of_i64((int64_t)v.u.dict->n); return CQ_OK;
    case CQ_VAL_STR: c->result = cq_val_of_i64((int64_t)v.u.text->len); return CQ_OK;
    case CQ_VAL_TENSOR:
        if (!v.u.tensor->rank)
            return cq_fail(CQ_E_TYPE, "len", NULL, "a 0-d tensor has no length");
        c->result = cq_val_of_int(v.u.tensor->sizes[0]);
        return CQ_OK;
    default: break;
    }
    if (t && t->kind == CQ_OBJECT_INSTANCE && t->cls &&
        cq_ast_class_method(t->cls, cq_name(c->ev->program, "__len__"))) {
        cq_val method;

        CQ_TRY(cq_eval_attribute(c->ev, v, cq_name(c->ev->program, "__len__"), &method));
        return cq_eval_call(c->ev, method, NULL, 0, &c->result);
    }
    CQ_TRY(cq_eval_items(c->ev, v, &items, &known));
    if (!known)
        return cq_fail(CQ_E_UNSUPPORTED, "len", NULL, "the length is not known here");
    c->result = cq_val_of_i64((int64_t)items.u.list->n);
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
    int64_t i;
    if (c->args[0].kind == CQ_VAL_DICT) {
        cq_val key = c->args[1];

        CQ_TRY(cq_builtin_key(c->ev, &key));
        CQ_TRY(cq_eval_will_change_dict(c->ev, c->args[0].u.dict));
        CQ_TRY(cq_eval_will_hold(c->ev, c->args[0], c->args[2]));
        return cq_dict_set(c->args[0].u.dict, key, c->args[2]);
    }
    if (c->args[0].kind != CQ_VAL_LIST) {
        cq_object *t = cq_object_as(c->args[0], CQ_OBJECT_INSTANCE);
        cq_val     method;

        if (!t)
            return cq_fail(CQ_E_TYPE, NULL, NULL, "items of %s cannot be set",
                           cq_eval_type_name(c->args[0]));
        CQ_TRY(
            cq_eval_attribute(c->ev, c->args[0], cq_name(c->ev->program, "__setitem__"), &method));
        return cq_eval_call(c->ev, method, c->args + 1, 2, &c->result);
    }
    if (cq_eval_is_open_index(c->ev, c->args[1]))
        return as_sequence(c);
    CQ_TRY(cq_eval_plain(c->ev, c->args[1], &i));
    if (i < 0)
        i += (int64_t)c->args[0].u.list->n;
    if (i < 0 || i >= (int64_t)c->args[0].u.list->n)
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL, "index %lld is out of range for %zu items",
                       (long long)i, c->args[0].u.list->n);
    CQ_TRY(cq_eval_will_change_list(c->ev, c->args[0].u.list));
    CQ_TRY(cq_eval_will_hold(c->ev, c->args[0], c->args[2]));
    cq_val_retain(c->args[2]);
    cq_val_release(c->args[0].u.list->items[i]);
    c->args[0].u.list->items[i] = c->args[2];
    return CQ_OK;
}

static cq_status any_contains(cq_fncall *c)
{
    cq_val items;
    bool   known, equal = false;

    if (c->args[0].kind == CQ_VAL_DICT && !cq_val_is_symbolic(c->args[1])) {
        cq_val key = c->args[1];

        CQ_TRY(cq_builtin_key(c->ev, &key));
        c->result = cq_val_of_bool(cq_dict_get(c->args[0].u.dict, key) != NULL);
        return CQ_OK;
    }
    if (c->args[0].kind == CQ_VAL_STR && c->args[1].kind == CQ_VAL_STR) {
        c->result =
            cq_val_of_bool(strstr(c->args[0].u.text->text, c->args[1].u.text->text) != NULL);
        return CQ_OK;
    }
    if (cq_object_as(c->args[0], CQ_OBJECT_INSTANCE) && c->args[1].kind == CQ_VAL_STR) {
        c->result = cq_val_of_bool(cq_object_attribute(
            cq_object_of(c->args[0]), cq_name(c->ev->program, c->args[1].u.text->text)));
        return CQ_OK;
    }
    CQ_TRY(cq_eval_items(c->ev, c->args[0], &items, &known));
    if (!known)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "the length of a list is not known here");
    CQ_TRY(cq_eval_spend(c->ev, 12 * items.u.list->n)); /* longer than to copy them */
    for (size_t i = 0; i < items.u.list->n && (!equal || !known); i++) {
        CQ_TRY(cq_builtin_equal(c->ev, items.u.list->items[i], c->args[1], &known, &equal));
        if (!known && c->ev->capture && !c->ev->tracing)
            return cq_builtin_any_equal(c->ev, items.u.list->items, &c->args[1], 0, items.u.list->n,
                                        false, &c->result);
    }
    c->result = cq_val_of_bool(equal);
    return CQ_OK;
}

/* Whether a list is (also) of sizes: it makes a shape, whose length is that of the example. */
static bool has_sizes(const cq_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        if (list->items[i].kind == CQ_VAL_INT && list->items[i].u.i.expr)
            return true;
    return false;
}

/* torch.slice(list, start, stop, step), as printed code has it. */
/* Data-dependent bounds: the slice is one of a sequence. */
static cq_status open_slice(cq_fncall *c)
{
    cq_val args[4];

    memcpy(args, c->args, c->n * sizeof *args);
    CQ_TRY(
        cq_eval_list(c->ev, c->args[0].u.list->items, c->args[0].u.list->n, CQ_VAL_LIST, &args[0]));
    CQ_TRY(cq_sequence_convert(c->ev, args[0].u.list));
    CQ_TRY(cq_fncall_set_args(c, args, c->n));
    c->callee = CQ_NONE;
    return cq_resolve_builtin(c);
}

static cq_status list_slice(cq_fncall *c)
{
    int64_t v[3] = { 0, INT64_MAX, 1 }, n;
    cq_val  of, step = cq_builtin_arg(c, 3);

    if (!cq_val_is_list(c->args[0]) && c->args[0].kind != CQ_VAL_STR)
        return cq_fncall_decline(c);
    of = c->args[0];
    for (size_t i = 1; i < 3; i++)
        if (i < c->n && of.kind == CQ_VAL_LIST && of.u.list->n && !has_sizes(of.u.list) &&
            cq_eval_is_open_index(c->ev, c->args[i]))
            return open_slice(c);
    n = of.kind == CQ_VAL_STR ? (int64_t)of.u.text->len : (int64_t)of.u.list->n;
    if (step.kind != CQ_VAL_NONE)
        CQ_TRY(cq_eval_plain(c->ev, step, &v[2]));
    if (v[2] == 0 || (v[2] != 1 && of.kind == CQ_VAL_STR))
        return cq_fail(CQ_E_UNSUPPORTED, c->name, NULL, "a step cannot be %lld here",
                       (long long)v[2]);
    if (v[2] < 0) {
        v[0] = INT64_MAX;
        v[1] = -n - 1;
    }
    for (size_t i = 0; i < 2; i++) {
        int64_t first = v[2] < 0 ? -1 : 0, last = v[2] < 0 ? n - 1 : n;

        if (i + 1 < c->n && c->args[i + 1].kind != CQ_VAL_NONE)
            CQ_TRY(cq_eval_plain(c->ev, c->args[i + 1], &v[i]));
        if (v[i] < 0)
            v[i] += n;
        v[i] = v[i] < first ? first : v[i] > last ? last : v[i];
    }
    if (of.kind == CQ_VAL_STR)
        return cq_builtin_text(c->ev, of.u.text->text + v[0],
                               v[1] > v[0] ? (size_t)(v[1] - v[0]) : 0, &c->result);
    CQ_TRY(cq_eval_list(c->ev, NULL, 0, of.kind, &c->result));
    for (int64_t i = v[0]; v[2] > 0 ? i < v[1] : i > v[1]; i += v[2])
        CQ_TRY(cq_list_push(c->result.u.list, of.u.list->items[i]));
    return CQ_OK;
}

static cq_status new_list(cq_fncall *c)
{
    cq_val items;
    bool   known = true;

    if (!c->n)
        return cq_eval_list(c->ev, NULL, 0, CQ_VAL_LIST, &c->result);
    CQ_TRY(cq_eval_items(c->ev, c->args[0], &items, &known));
    if (!known) {
        c->result = c->args[0];
        return CQ_OK;
    }
    return cq_eval_list(c->ev, items.u.list->items, items.u.list->n,
                        strcmp(c->name, "tuple") == 0 ? CQ_VAL_TUPLE : CQ_VAL_LIST, &c->result);
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
    { "copy(self)", .fn = any_copy },
    { "add(items a, items b)", .fn = list_add },
    { "mul(a, b)", .fn = list_mul },
    { "__contains__(self, item)", .fn = any_contains },
    { "slice(l, start?, end?, step?)", .fn = list_slice },
    { "list(iterable?)", .fn = new_list },
    { "tuple(iterable?)", .fn = new_list },
    { 0 },
};
