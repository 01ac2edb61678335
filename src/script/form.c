/* Comparing and joining forms. */
#include "script/form.h"
#include "script/builtin.h"
#include "script/join.h"
#include "script/sequence.h"

typedef struct forming {
    cq_eval        *ev;
    const cq_span  *at;
    const cq_block *outside;
} forming;

static cq_status no(const forming *c, const char *why)
{
    return cq_eval_fail(c->ev, *c->at, CQ_E_UNSUPPORTED, "%s in a loop of unknown length", why);
}

static bool same_items(cq_eval *ev, const cq_list *a, const cq_list *b);

static bool same_form(cq_eval *ev, cq_val a, cq_val b)
{
    cq_object *ta = cq_object_of(a), *tb = cq_object_of(b);

    if (cq_val_is_undefined(a))
        return false;
    if (cq_val_is_undefined(b))
        return true;
    if (ta && ta->kind == CQ_OBJECT_OPTIONAL)
        return b.kind == CQ_VAL_NONE || cq_form_is_same(ev, ta->self, cq_val_unwrap(b));
    if (cq_sequence_of(a))
        return b.kind == CQ_VAL_LIST;
    if (a.kind != b.kind)
        return false;
    if (a.kind == CQ_VAL_TENSOR || cq_val_is_number(a))
        return true;
    if (a.kind == CQ_VAL_LIST || a.kind == CQ_VAL_TUPLE)
        return !cq_sequence_of(b) && same_items(ev, a.u.list, b.u.list);
    if (a.kind == CQ_VAL_DICT) {
        bool same = a.u.dict->n == b.u.dict->n;

        for (size_t i = 0; i < a.u.dict->n && same; i++) {
            cq_val *other = cq_dict_get(b.u.dict, a.u.dict->entries[i].key);

            same = other && cq_form_is_same(ev, a.u.dict->entries[i].value, *other);
        }
        return same;
    }
    if (ta && tb && ta->kind == CQ_OBJECT_NAMED && tb->kind == CQ_OBJECT_NAMED &&
        ta->cls == tb->cls)
        return same_items(ev, ta->self.u.list, tb->self.u.list);
    return cq_val_plainly_equal(a, b);
}

/* Whether b can be put into the form of a without changing that. What is too deep to be gone
 * through has no form that is the same. */
bool cq_form_is_same(cq_eval *ev, cq_val a, cq_val b)
{
    bool same;

    if (cq_eval_down(ev, a) != CQ_OK)
        return false;
    same = same_form(ev, a, b);
    cq_eval_up(ev);
    return same;
}

static bool same_items(cq_eval *ev, const cq_list *a, const cq_list *b)
{
    bool same = a->n == b->n;

    for (size_t i = 0; i < a->n && same; i++)
        same = cq_form_is_same(ev, a->items[i], b->items[i]);
    return same;
}

static cq_status common_form(forming *c, cq_val a, cq_val b, cq_val *out);

static cq_status common_items(forming *c, const cq_list *a, const cq_list *b, cq_val_kind kind,
                              cq_val *out)
{
    CQ_TRY(cq_eval_list(c->ev, NULL, 0, kind, out));
    for (size_t i = 0; i < a->n; i++) {
        cq_val v;

        CQ_TRY(common_form(c, a->items[i], b->items[i], &v));
        CQ_TRY(cq_list_push(out->u.list, v));
    }
    return CQ_OK;
}

static cq_status common_sequence(forming *c, cq_val a, cq_val b, cq_val *out)
{
    cq_item_type item = { 0 };
    cq_value    *v;

    CQ_TRY(cq_item_type_of_list(&item, a));
    CQ_TRY(cq_item_type_of_list(&item, b));
    cq_item_type_limit(&item, c->outside);
    CQ_TRY(cq_sequence_value(c->ev, a, &item, &v));
    return cq_sequence_list(c->ev, v, &item, cq_sequence_known_length(a), out);
}

static cq_status common_optional(forming *c, cq_val a, cq_val b, cq_val *out)
{
    cq_object *t = cq_object_as(a, CQ_OBJECT_OPTIONAL);
    cq_val     v = cq_val_unwrap(a), other = cq_val_unwrap(b);
    cq_tensor *has   = NULL;
    cq_value  *value = t ? t->has : NULL;

    if (!t) {
        CQ_TRY(cq_eval_as_tensor(c->ev, cq_val_of_bool(a.kind != CQ_VAL_NONE), &has));
        value = cq_capture_value(c->ev->capture, c->ev->cx, has);
        if (!value)
            return c->ev->cx->status;
    }
    if (v.kind == CQ_VAL_NONE)
        CQ_TRY(cq_eval_stand_in(c->ev, other, &v));
    else if (other.kind != CQ_VAL_NONE)
        CQ_TRY(common_form(c, v, other, &v));
    return cq_eval_new_optional(c->ev, value, v, out);
}

/* a in the form that b can be put into as well. Runs outside of the body: of b, whose tensors are
 * of the body, only the form is looked at. */
static cq_status find_common_form(forming *c, cq_val a, cq_val b, cq_val *out)
{
    cq_object *ta = cq_object_of(a), *tb = cq_object_of(b);

    *out = a;
    if (cq_form_is_same(c->ev, a, b))
        return CQ_OK;
    if (cq_val_is_undefined(a))
        return cq_eval_stand_in(c->ev, b, out);
    if (a.kind == CQ_VAL_NONE || b.kind == CQ_VAL_NONE || (ta && ta->kind == CQ_OBJECT_OPTIONAL) ||
        (tb && tb->kind == CQ_OBJECT_OPTIONAL))
        return common_optional(c, a, b, out);
    if (a.kind == CQ_VAL_LIST && b.kind == CQ_VAL_LIST &&
        (cq_sequence_of(b) || a.u.list->n != b.u.list->n))
        return common_sequence(c, a, b, out);
    if ((a.kind == CQ_VAL_LIST || a.kind == CQ_VAL_TUPLE) && a.kind == b.kind &&
        a.u.list->n == b.u.list->n)
        return common_items(c, a.u.list, b.u.list, a.kind, out);
    if (ta && tb && ta->kind == CQ_OBJECT_NAMED && tb->kind == CQ_OBJECT_NAMED &&
        ta->cls == tb->cls) {
        cq_val items;

        CQ_TRY(common_items(c, ta->self.u.list, tb->self.u.list, CQ_VAL_TUPLE, &items));
        return cq_eval_new_named(c->ev, ta, items, out);
    }
    if (a.kind == CQ_VAL_DICT && b.kind == CQ_VAL_DICT)
        return no(c, "a dict changes its keys or the form of its values");
    if (a.kind == CQ_VAL_STR && b.kind == CQ_VAL_STR)
        return no(c, "a text changes");
    return cq_eval_fail(c->ev, *c->at, CQ_E_UNSUPPORTED,
                        "a value changes from %s to %s in a loop of unknown length",
                        cq_eval_type_name(a), cq_eval_type_name(b));
}

static cq_status common_form(forming *c, cq_val a, cq_val b, cq_val *out)
{
    cq_status status = cq_eval_down(c->ev, a);

    if (status != CQ_OK)
        return status;
    status = find_common_form(c, a, b, out);
    cq_eval_up(c->ev);
    return status;
}

cq_status cq_form_common(cq_eval *ev, const cq_span *at, const cq_block *outside, cq_val a,
                         cq_val b, cq_val *out)
{
    forming c = { ev, at, outside };

    return common_form(&c, a, b, out);
}
