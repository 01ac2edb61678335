/* Comparing and joining forms. */
#include "script/values/form.h"
#include "script/builtins/builtin.h"
#include "script/flow/join.h"
#include "script/values/sequence.h"

static bool are_named_alike(const cq_object *a, const cq_object *b)
{
    return a && b && a->kind == CQ_OBJECT_NAMED && b->kind == CQ_OBJECT_NAMED && a->cls == b->cls;
}

typedef struct forming {
    cq_eval        *ev;
    const cq_span  *at;
    const cq_block *outside;
} forming;

static cq_status no(const forming *c, const char *why)
{
    return cq_eval_fail(c->ev, *c->at, CQ_E_UNSUPPORTED, "%s in a loop of unknown length", why);
}

/* Whether b can be converted to the form of a. */
static cq_status same_form(cq_visit *w, cq_val a, cq_val b, bool *same, bool *by_parts)
{
    cq_object *ta = cq_object_of(a), *tb = cq_object_of(b);

    *by_parts = false;
    *same     = true;
    if (cq_val_is_undefined(a))
        *same = false;
    else if (cq_val_is_undefined(b))
        *same = true;
    else if (ta && ta->kind == CQ_OBJECT_OPTIONAL)
        return b.kind == CQ_VAL_NONE ? CQ_OK : cq_val_pair(w, ta->self, cq_val_unwrap(b), same);
    else if (cq_sequence_of(a))
        *same = b.kind == CQ_VAL_LIST;
    else if (a.kind != b.kind)
        *same = false;
    else if (a.kind == CQ_VAL_LIST || a.kind == CQ_VAL_TUPLE || a.kind == CQ_VAL_DICT)
        *same = *by_parts = !cq_sequence_of(b);
    else if (are_named_alike(ta, tb))
        *by_parts = true;
    else
        *same = a.kind == CQ_VAL_TENSOR || cq_val_is_number(a) || cq_val_plainly_equal(a, b);
    return CQ_OK;
}

/* A value that is nested too deeply has no equal form. */
bool cq_form_is_same(cq_eval *ev, cq_val a, cq_val b)
{
    cq_visit w    = cq_eval_visit(ev, NULL);
    bool     same = false;

    w.pair = same_form;
    w.once = true;
    same   = cq_val_pair(&w, a, b, &same) == CQ_OK && same;
    cq_visit_clear(&w);
    return same;
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

static cq_pair_fn common_form;

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
        CQ_TRY(cq_eval_placeholder(c->ev, other, &v));
    else if (other.kind != CQ_VAL_NONE)
        CQ_TRY(cq_eval_pair(c->ev, common_form, c, v, other, &v));
    return cq_eval_new_optional(c->ev, value, v, out);
}

/* The common form of a and b: a in a form to which b can be converted too. The conversion runs
 * outside of the loop body, so it inspects only the form of b, not its tensors. */
static cq_status common_form(void *user, cq_val a, cq_val b, cq_val *out)
{
    forming   *c  = user;
    cq_object *ta = cq_object_of(a), *tb = cq_object_of(b);

    *out = a;
    if (cq_form_is_same(c->ev, a, b))
        return CQ_OK;
    if (cq_val_is_undefined(a))
        return cq_eval_placeholder(c->ev, b, out);
    if (a.kind == CQ_VAL_NONE || b.kind == CQ_VAL_NONE || (ta && ta->kind == CQ_OBJECT_OPTIONAL) ||
        (tb && tb->kind == CQ_OBJECT_OPTIONAL))
        return common_optional(c, a, b, out);
    if (a.kind == CQ_VAL_LIST && b.kind == CQ_VAL_LIST &&
        (cq_sequence_of(b) || a.u.list->n != b.u.list->n))
        return common_sequence(c, a, b, out);
    if (((a.kind == CQ_VAL_LIST || a.kind == CQ_VAL_TUPLE) && a.kind == b.kind &&
         a.u.list->n == b.u.list->n) ||
        are_named_alike(ta, tb))
        return cq_eval_pair_parts(c->ev, common_form, c, a, b, out);
    if (a.kind == CQ_VAL_DICT && b.kind == CQ_VAL_DICT)
        return no(c, "a dict changes its keys or the form of its values");
    if (a.kind == CQ_VAL_STR && b.kind == CQ_VAL_STR)
        return no(c, "a string changes");
    return cq_eval_fail(c->ev, *c->at, CQ_E_UNSUPPORTED,
                        "a value changes from %s to %s in a loop of unknown length",
                        cq_eval_type_name(a), cq_eval_type_name(b));
}

cq_status cq_form_common(cq_eval *ev, const cq_span *at, const cq_block *outside, cq_val a,
                         cq_val b, cq_val *out)
{
    forming c = { ev, at, outside };

    return cq_eval_pair(ev, common_form, &c, a, b, out);
}
