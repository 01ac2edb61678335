/* Limits of a program: steps, nesting of values, and memory. They bound the work that an untrusted
 * archive can cause. call.c limits the depth of calls, builtins the length of lists and strings. */
#include "script/builtins/builtin.h"

#include "base/cancel.h"

#include <inttypes.h>

/* ---- steps ---- */

static cq_status spend(cq_eval *ev, uint64_t steps)
{
    const uint64_t most = ev->program->max_steps;

    if (steps <= most && ev->steps <= most - steps) {
        ev->steps += steps;
        return cq_check_cancelled();
    }
    ev->steps          = most; /* a caller that continues fails again at once */
    ev->straight_steps = 0;
    return cq_fail(CQ_E_UNSUPPORTED, NULL,
                   ev->n_loops ? "check for an endless loop, or allow more steps with --max-steps"
                               : "allow more steps with --max-steps",
                   "the program takes more than %" PRIu64 " steps", most);
}

cq_status cq_eval_step(cq_eval *ev)
{
    return spend(ev, 1);
}

cq_status cq_eval_spend_steps(cq_eval *ev, uint64_t steps)
{
    return spend(ev, steps);
}

cq_status cq_eval_spend(cq_eval *ev, uint64_t items)
{
    return items < CQ_EVAL_STEP_ITEMS ? CQ_OK : spend(ev, items / CQ_EVAL_STEP_ITEMS);
}

static cq_status spend_on_operator(void *user, uint64_t steps)
{
    cq_eval *ev = user;

    if (ev->n_loops || steps > ev->straight_steps)
        return spend(ev, steps);
    ev->straight_steps -= steps;
    return cq_check_cancelled();
}

void cq_eval_charge_operators(cq_eval *ev, cq_ctx *cx)
{
    cx->spend   = ev ? spend_on_operator : NULL;
    cx->spender = ev;
}

cq_status cq_eval_new_context(cq_eval *ev)
{
    CQ_TRY(cq_ctx_new(&ev->cx));
    cq_eval_charge_operators(ev, ev->cx);
    return CQ_OK;
}

/* An operator with data is charged where it computes. */
cq_status cq_eval_spend_on_operator(cq_eval *ev)
{
    return ev->capture ? spend(ev, CQ_EVAL_NODE_STEPS) : CQ_OK;
}

/* ---- levels ---- */

/* Hashing a dict entry costs one step. */
static size_t n_items(cq_val v)
{
    if (v.kind == CQ_VAL_LIST || v.kind == CQ_VAL_TUPLE)
        return v.u.list->n;
    return v.kind == CQ_VAL_DICT ? v.u.dict->n * CQ_EVAL_STEP_ITEMS : 0;
}

static cq_status spend_on_items(cq_eval *ev, cq_val v)
{
    const size_t n = n_items(v);

    return n ? spend(ev, 1 + n / CQ_EVAL_STEP_ITEMS) : CQ_OK;
}

cq_status cq_eval_down(cq_eval *ev, cq_val v)
{
    if (ev->levels >= CQ_EVAL_MAX_LEVELS)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL,
                       "a value is nested more than %d levels deep, or contains itself",
                       CQ_EVAL_MAX_LEVELS);
    CQ_TRY(spend_on_items(ev, v));
    ev->levels++;
    return CQ_OK;
}

cq_status cq_eval_enter_call(cq_eval *ev, const char *name)
{
    if (ev->depth >= CQ_EVAL_MAX_DEPTH)
        return cq_fail(CQ_E_UNSUPPORTED, name, NULL, "calls are nested more than %d deep",
                       CQ_EVAL_MAX_DEPTH);
    ev->depth++;
    return CQ_OK;
}

static cq_status enter(cq_visit *w, cq_val container)
{
    return spend_on_items(w->owner, container);
}

static bool open_named(cq_val object, cq_val *parts)
{
    const cq_object *named = cq_object_as(object, CQ_OBJECT_NAMED);

    if (named)
        *parts = named->self;
    return named != NULL;
}

static cq_status close_named(cq_val object, cq_val parts, cq_val *out)
{
    return cq_object_new_named(out, cq_object_of(object), parts);
}

cq_visit cq_eval_visit(cq_eval *ev, void *user)
{
    return (cq_visit){
        .open = open_named, .close = close_named, .enter = enter, .owner = ev, .user = user
    };
}

/* ---- walks over pairs of values ---- */

cq_status cq_eval_pair(cq_eval *ev, cq_pair_fn *fn, void *user, cq_val a, cq_val b, cq_val *out)
{
    cq_status status = cq_eval_down(ev, a);

    CQ_TRY(status);
    status = fn(user, a, b, out);
    cq_eval_up(ev);
    return status;
}

static cq_status pair_items(cq_eval *ev, cq_pair_fn *fn, void *user, cq_val a, cq_val b,
                            cq_val *out)
{
    CQ_TRY(cq_eval_list(ev, NULL, 0, a.kind, out));
    for (size_t i = 0; i < a.u.list->n; i++) {
        cq_val v;

        CQ_TRY(cq_eval_pair(ev, fn, user, a.u.list->items[i], b.u.list->items[i], &v));
        CQ_TRY(cq_list_push(out->u.list, v));
    }
    return CQ_OK;
}

static cq_status pair_entries(cq_eval *ev, cq_pair_fn *fn, void *user, const cq_dict *a,
                              const cq_dict *b, cq_val *out)
{
    CQ_TRY(cq_eval_new_dict(ev, out));
    for (size_t i = 0; i < a->n; i++) {
        cq_val v;

        CQ_TRY(cq_eval_pair(ev, fn, user, a->entries[i].value, *cq_dict_get(b, a->entries[i].key),
                            &v));
        CQ_TRY(cq_dict_set(out->u.dict, a->entries[i].key, v));
    }
    return CQ_OK;
}

cq_status cq_eval_pair_parts(cq_eval *ev, cq_pair_fn *fn, void *user, cq_val a, cq_val b,
                             cq_val *out)
{
    const cq_object *named = cq_object_as(a, CQ_OBJECT_NAMED);
    cq_val           items;

    if (a.kind == CQ_VAL_DICT)
        return pair_entries(ev, fn, user, a.u.dict, b.u.dict, out);
    if (!named)
        return pair_items(ev, fn, user, a, b, out);
    CQ_TRY(pair_items(ev, fn, user, named->self, cq_object_of(b)->self, &items));
    return cq_eval_new_named(ev, named, items, out);
}
