/* Loop-carried values. A slot starts in the form that it has at the end of every iteration
 * (form.h). The tensors and numbers of that form, in order, are the parameters and results of the
 * Loop. docs/architecture/control-flow.md has the invariants. */
#include "script/flow/carry.h"
#include "script/values/form.h"
#include "script/builtins/builtin.h"
#include "lang/desugar.h"
#include "script/flow/join.h"
#include "script/flow/aliases.h"
#include "tensor/qparams.h"

static cq_status no(cq_carry *c, const char *why)
{
    return cq_eval_fail(c->ev, c->at, CQ_E_UNSUPPORTED, "%s in a loop of unknown length", why);
}

static cq_status failed(cq_carry *c)
{
    return c->ev->cx->status != CQ_OK ? c->ev->cx->status : CQ_E_NO_MEMORY;
}

/* ---- the leaves of a form ---- */

/* Handles leaf i: like is its start, now its current value; *out replaces it. */
typedef cq_status (*leaf_fn)(cq_carry *c, size_t i, cq_val like, cq_val now, cq_val *out);

typedef struct walk {
    cq_carry *c;
    leaf_fn   fn;
    size_t    next;
} walk;

static cq_pair_fn walk_value;

static cq_status walk_optional(walk *w, const cq_object *like, cq_val now, cq_val *out)
{
    cq_object *t   = cq_object_as(now, CQ_OBJECT_OPTIONAL);
    cq_val     had = { .kind = CQ_VAL_BOOL, .u.b = { true, like->has } };
    cq_val     has = { .kind = CQ_VAL_BOOL, .u.b = { now.kind != CQ_VAL_NONE, t ? t->has : NULL } };
    cq_val     v   = cq_val_unwrap(now);

    CQ_TRY(w->fn(w->c, w->next++, had, has, &has));
    if (v.kind == CQ_VAL_NONE)
        CQ_TRY(cq_eval_placeholder(w->c->ev, like->self, &v));
    CQ_TRY(cq_eval_pair(w->c->ev, walk_value, w, like->self, v, &v));
    return cq_eval_new_optional(w->c->ev, has.u.b.origin, v, out);
}

static cq_status walk_value(void *user, cq_val like, cq_val now, cq_val *out)
{
    walk      *w = user;
    cq_object *t = cq_object_of(like);

    *out = like;
    if (cq_val_is_unjoined(now))
        return no(w->c, cq_object_of(now)->text);
    if (cq_val_is_undefined(now))
        CQ_TRY(cq_eval_placeholder(w->c->ev, like, &now));
    if (t && t->kind == CQ_OBJECT_OPTIONAL)
        return walk_optional(w, t, now, out);
    if (cq_sequence_of(like) || like.kind == CQ_VAL_TENSOR || cq_val_is_number(like))
        return w->fn(w->c, w->next++, like, now, out);
    if (cq_val_container(like) || (t && t->kind == CQ_OBJECT_NAMED))
        return cq_eval_pair_parts(w->c->ev, walk_value, w, like, now, out);
    return CQ_OK;
}

/* Calls fn for every leaf; *out has the same form, with the results of fn. */
static cq_status walk_leaves(walk *w, cq_val like, cq_val now, cq_val *out)
{
    return cq_eval_pair(w->c->ev, walk_value, w, like, now, out);
}

/* ---- types ---- */

static cq_status type_of(cq_carry *c, const cq_value *v, cq_item_type *t)
{
    *t = (cq_item_type){ .kind = CQ_VAL_TENSOR, .dtype = v->type.dtype, .rank = v->type.rank };
    if (t->rank > CQ_ITEM_MAX_RANK)
        return no(c, "a loop-carried tensor has more than 8 dimensions");
    for (int i = 0; i < t->rank; i++)
        t->sizes[i] = v->type.sizes[i];
    return CQ_OK;
}

/* The type of a value of the graph: dynamic sizes are new symbols. */
static cq_type graph_type(cq_carry *c, const cq_carried *x, cq_value *v)
{
    cq_graph *g = c->ev->capture->graph;
    cq_int    sizes[CQ_ITEM_MAX_RANK];

    if (x->kind == CQ_VAL_LIST)
        return (cq_type){ .kind = CQ_TYPE_LIST, .dtype = x->type.dtype, .rank = -1 };
    g->symbols.guesses = true;
    for (int i = 0; i < x->type.rank; i++)
        sizes[i] = cq_int_is_open(x->type.sizes[i])
                       ? cq_symbol_fresh(&g->symbols, "d", x->start->type.sizes[i].value, v, i)
                       : x->type.sizes[i];
    return cq_ir_tensor_type(g, x->type.dtype, (size_t)x->type.rank, sizes);
}

/* ---- start ---- */

static cq_status new_item(cq_carry *c, cq_carried **out)
{
    if (c->n == CQ_MAX_CARRIED)
        return no(c, "the loop has too many loop-carried values");
    if (!c->items)
        c->items = cq_alloc_array(CQ_MAX_CARRIED, sizeof *c->items);
    if (!c->items)
        return CQ_E_NO_MEMORY;
    *out  = &c->items[c->n++];
    **out = (cq_carried){ .kind = CQ_VAL_TENSOR };
    return CQ_OK;
}

/* The memory track of a carried value, if it has one: v is the list, t the tensor. */
static cq_status memory_of(cq_carry *c, const cq_carried *x, cq_value *v, cq_val t, cq_track **out)
{
    *out = NULL;
    if (x->kind == CQ_VAL_TENSOR)
        *out = cq_track_of(&c->ev->capture->tracks, c->ev->cx, t.u.tensor);
    else if (x->kind == CQ_VAL_LIST && x->type.kind == CQ_VAL_TENSOR)
        *out = cq_share_memory(c->ev, v);
    return c->ev->cx->status;
}

static cq_status start_leaf(cq_carry *c, size_t i, cq_val like, cq_val now, cq_val *out)
{
    const cq_sequence *seq = cq_sequence_of(like);
    cq_carried        *x;
    cq_tensor         *t;

    (void)i;
    *out = now;
    CQ_TRY(new_item(c, &x));
    x->kind = like.kind;
    if (seq) {
        x->start  = seq->value;
        x->type   = seq->item;
        x->length = seq->length;
        cq_item_type_limit(&x->type, c->node->block);
        CQ_TRY(cq_share_check(c->ev, seq->value));
        return memory_of(c, x, x->start, like, &x->first);
    }
    CQ_TRY(cq_eval_as_tensor(c->ev, like, &t));
    x->qparams = t->qparams;
    x->start   = cq_capture_value(c->ev->capture, c->ev->cx, t);
    CQ_TRY(memory_of(c, x, x->start, like, &x->first));
    return x->start ? type_of(c, x->start, &x->type) : failed(c);
}

/* Whether the slot is the result variable of the function. */
static bool is_result(cq_eval *ev, const cq_change *slot)
{
    const cq_frame *f = slot->kind == CQ_CHANGE_SLOT ? slot->where : NULL;

    return f && cq_frame_own(f, cq_name(ev->program, CQ_RESULT)) == &f->values.items[slot->index];
}

cq_status cq_carry_start(cq_carry *c)
{
    walk w = { .c = c, .fn = start_leaf };

    c->n = 0;
    cq_carry_unrelate(c);
    for (size_t i = 0; i < c->slots.n; i++) {
        cq_val ignored, start = c->slots.items[i].start;
        size_t first = c->n;

        CQ_TRY(walk_leaves(&w, start, start, &ignored));
        for (; first < c->n; first++)
            c->items[first].is_final = is_result(c->ev, &c->slots.items[i].slot);
    }
    for (size_t i = 0; i < c->tracks.n; i++) {
        cq_carried *x;

        CQ_TRY(new_item(c, &x));
        x->track = c->tracks.items[i];
        x->start = x->track->value;
        CQ_TRY(type_of(c, x->start, &x->type));
    }
    return CQ_OK;
}

/* ---- iterations ---- */

/* Converts a value of the graph to the kind of the carried one. */
static cq_status as_value(cq_carry *c, const cq_carried *x, cq_value *v, cq_val like, cq_val *out)
{
    cq_eval   *ev = c->ev;
    cq_tensor *t;

    switch (x->kind) {
    case CQ_VAL_INT:
        *out = cq_val_of_int(cq_symbol_fresh(ev->cx->symbols, "i", like.u.i.value, v, -1));
        return CQ_OK;
    case CQ_VAL_FLOAT:
        *out = (cq_val){ .kind = x->kind, .u.f = { like.u.f.value, v } };
        return CQ_OK;
    case CQ_VAL_BOOL:
        *out = (cq_val){ .kind = x->kind, .u.b = { like.u.b.value, v } };
        return CQ_OK;
    case CQ_VAL_LIST: return cq_sequence_list(ev, v, &x->type, x->length, out);
    default:
        t    = cq_capture_tensor(ev->capture, ev->cx, v);
        *out = cq_val_of_tensor(t);
        if (t)
            cq_tensor_set_qparams(t, x->qparams);
        return ev->cx->status;
    }
}

static cq_status bind_leaf(cq_carry *c, size_t i, cq_val like, cq_val now, cq_val *out)
{
    cq_carried *x = &c->items[i];

    (void)now;
    CQ_TRY(as_value(c, x, x->param, like, out));
    return memory_of(c, x, x->param, *out, &x->memory);
}

/* Sets the value of a tensor that is changed in-place. */
static cq_status set_track(cq_carry *c, cq_track *t, cq_value *v)
{
    CQ_TRY(cq_track_will_change(&c->ev->capture->tracks, t));
    t->value = v;
    t->current++;
    return CQ_OK;
}

static cq_status put_all(cq_carry *c, leaf_fn fn)
{
    walk w = { .c = c, .fn = fn };

    for (size_t i = 0; i < c->slots.n; i++) {
        cq_carried_slot *p = &c->slots.items[i];
        cq_val           v;

        CQ_TRY(walk_leaves(&w, p->start, p->start, &v));
        CQ_TRY(cq_slot_set(c->ev, &p->slot, v));
    }
    return CQ_OK;
}

cq_status cq_carry_bind(cq_carry *c)
{
    cq_block *body = c->node->blocks[0];
    size_t    mark;
    cq_status status;

    for (size_t i = 0; i < c->n; i++) {
        cq_carried *x = &c->items[i];

        x->end   = NULL;
        x->param = cq_ir_param_new(body, (cq_type){ 0 });
        if (!x->param)
            return c->ev->capture->graph->status;
        x->param->type = graph_type(c, x, x->param);
        if (x->track)
            CQ_TRY(set_track(c, x->track, x->param));
    }
    /* From here on only the slots hold their values, so that a list with a single holder is not
     * mistaken for one that is shared. */
    mark   = cq_ctx_mark(c->ev->cx);
    status = put_all(c, bind_leaf);
    cq_ctx_pop(c->ev->cx, mark, NULL, 0);
    return status == CQ_OK ? cq_carry_relate(c, body) : status;
}

static cq_status end_leaf(cq_carry *c, size_t i, cq_val like, cq_val now, cq_val *out)
{
    cq_carried  *x    = &c->items[i];
    cq_item_type item = x->type;
    cq_tensor   *t;

    *out = like;
    if (x->kind != CQ_VAL_LIST) {
        CQ_TRY(cq_eval_as_tensor(c->ev, now, &t));
        if (!cq_qparams_same(t->qparams, x->qparams))
            return no(c, "the quantization parameters of a tensor differ between iterations");
        x->end = cq_capture_value(c->ev->capture, c->ev->cx, t);
        return x->end ? memory_of(c, x, x->end, now, &x->last) : failed(c);
    }
    CQ_TRY(cq_item_type_of_list(&item, now));
    CQ_TRY(cq_sequence_value(c->ev, now, &item, &x->end));
    cq_item_type_limit(&item, c->node->block);
    if (!cq_item_type_same(&item, &x->type)) {
        x->type  = item;
        c->again = true;
    }
    if (!cq_int_is_open(x->length) && !cq_int_same(x->length, cq_sequence_known_length(now))) {
        x->length = cq_i(-1);
        c->again  = true;
    }
    return memory_of(c, x, x->end, now, &x->last);
}

cq_status cq_carry_end(cq_carry *c)
{
    walk w = { .c = c, .fn = end_leaf };

    c->again = false;
    for (size_t i = 0; i < c->slots.n; i++)
        if (!cq_form_is_same(c->ev, c->slots.items[i].start,
                             cq_slot_value(&c->slots.items[i].slot)))
            c->again = true;
    if (c->again)
        return CQ_OK; /* the form must settle first */
    for (size_t i = 0; i < c->slots.n; i++) {
        cq_val ignored;

        CQ_TRY(walk_leaves(&w, c->slots.items[i].start, cq_slot_value(&c->slots.items[i].slot),
                           &ignored));
    }
    for (size_t i = 0; i < c->n; i++)
        if (c->items[i].track)
            c->items[i].end = c->items[i].track->value;
    return cq_carry_compare(c);
}

cq_status cq_carry_promote(cq_carry *c, cq_carried *x, cq_dtype dtype)
{
    const cq_dtype both = cq_dtype_promote(x->type.dtype, dtype);
    cq_tensor     *t;

    if (dtype == x->type.dtype || both == x->type.dtype)
        return CQ_OK;
    t        = cq_capture_tensor(c->ev->capture, c->ev->cx, x->start);
    t        = t ? CQ_OP(c->ev->cx, "aten::to.dtype", TENSOR(t), DTYPE(both)) : NULL;
    x->start = t ? cq_capture_value(c->ev->capture, c->ev->cx, t) : NULL;
    if (!x->start)
        return failed(c);
    x->type.dtype = both;
    return CQ_OK;
}

/* Makes the sizes that the body changes dynamic. */
static cq_status widen(cq_carry *c)
{
    for (size_t i = 0; i < c->n; i++) {
        cq_carried  *x = &c->items[i];
        cq_item_type end;

        if (x->kind == CQ_VAL_LIST || !x->end)
            continue;
        CQ_TRY(type_of(c, x->end, &end));
        if (end.rank != x->type.rank)
            return no(c, "a tensor changes its number of dimensions");
        for (int k = 0; k < end.rank; k++)
            if (!cq_int_is_open(x->type.sizes[k]) && !cq_int_same(x->type.sizes[k], end.sizes[k])) {
                x->type.sizes[k] = cq_i(-1);
                c->again         = true;
            }
        if (end.dtype != x->type.dtype && x->kind == CQ_VAL_TENSOR && !x->track) {
            const cq_dtype before = x->type.dtype;

            CQ_TRY(cq_carry_promote(c, x, end.dtype));
            c->again |= x->type.dtype != before;
        }
    }
    return CQ_OK;
}

/* ---- slots ---- */

static bool is_known(const cq_carry *c, const cq_change *slot)
{
    for (size_t i = 0; i < c->slots.n; i++)
        if (cq_slot_same(&c->slots.items[i].slot, slot))
            return true;
    for (size_t i = 0; i < c->lost.n; i++)
        if (cq_slot_same(&c->lost.items[i], slot))
            return true;
    return false;
}

static bool is_lost(cq_val v)
{
    return cq_val_is_undefined(v) && strcmp(cq_object_of(v)->text, CQ_LOST) == 0;
}

static cq_status set_start(cq_carry *c, cq_carried_slot *p, cq_val start)
{
    cq_val_set(&p->start, start);
    return cq_slot_set(c->ev, &p->slot, start);
}

/* Whether a slot holds the same tensor or list as before. Its contents may have changed: tensors
 * and lists are carried separately. */
static cq_status same_as_before(cq_visit *w, cq_val a, cq_val b, bool *same, bool *by_parts)
{
    (void)w;
    *same = a.kind == b.kind;
    if (*same && a.kind == CQ_VAL_TENSOR)
        *same = a.u.tensor == b.u.tensor;
    else if (*same && a.kind == CQ_VAL_TUPLE)
        *by_parts = a.u.list != b.u.list;
    else if (*same)
        *same = cq_val_container(a) ? cq_val_container(a) == cq_val_container(b)
                                    : cq_val_plainly_equal(a, b);
    return CQ_OK;
}

/* Whether a slot is unchanged, or holds a list with its old items. */
static bool is_unchanged(const cq_change *slot, cq_val before)
{
    cq_visit w    = { .pair = same_as_before };
    cq_val   now  = slot->old;
    bool     same = true;

    if (slot->kind == CQ_CHANGE_LIST) {
        same     = before.u.list->origin == now.u.list->origin;
        now.kind = before.kind = CQ_VAL_TUPLE; /* compare only the items */
    }
    return same && cq_val_pair(&w, before, now, &same) == CQ_OK && same;
}

/* A copy of the start of a list or dict, so that later changes do not affect it. */
static cq_status own_copy(cq_carry *c, const cq_change *slot, cq_val *start)
{
    if ((start->kind != CQ_VAL_LIST || start->u.list != slot->where) &&
        (start->kind != CQ_VAL_DICT || start->u.dict != slot->where))
        return CQ_OK;
    return CQ_CALL(c->ev, start, "aten::copy", *start);
}

cq_status cq_carry_hold(cq_carry *c, const cq_change *slot, cq_val form)
{
    cq_val    start, holder = CQ_NONE;
    cq_change p = *slot;

    CQ_TRY(cq_form_common(c->ev, &c->at, c->node->block, cq_slot_value(slot), form, &start));
    CQ_TRY(own_copy(c, slot, &start));
    p.old = CQ_NONE;
    if (p.kind == CQ_CHANGE_LIST)
        holder = cq_val_of_list(p.where);
    else if (p.kind == CQ_CHANGE_DICT)
        holder = (cq_val){ .kind = CQ_VAL_DICT, .u.dict = p.where };
    else if (p.kind == CQ_CHANGE_ATTRIBUTE)
        holder = cq_val_of_object(p.where);
    CQ_TRY(cq_vec_push(&c->holders, holder));
    cq_val_retain(holder);
    CQ_TRY(cq_vec_push(&c->slots, (cq_carried_slot){ p, CQ_NONE }));
    return set_start(c, &c->slots.items[c->slots.n - 1], start);
}

static cq_status add_location(cq_carry *c, const cq_path *path, const cq_change *slot, bool *added)
{
    cq_val     before    = cq_slot_value(slot);
    cq_object *undefined = cq_object_as(before, CQ_OBJECT_UNDEFINED);
    cq_change  p         = *slot;

    if (!undefined && slot->kind == CQ_CHANGE_SLOT && is_lost(slot->old)) {
        *added = true;
        p.old  = CQ_NONE;
        return cq_vec_push(&c->lost, p);
    }
    if (undefined && strcmp(undefined->text, CQ_UNINITIALIZED) != 0)
        return CQ_OK; /* first set in the body: it has no value from the previous iteration */
    if (cq_path_is_only_holder(c->ev, path, slot) || is_unchanged(slot, before))
        return CQ_OK;
    if (undefined && cq_val_is_undefined(slot->old))
        return CQ_OK;
    *added = true;
    return cq_carry_hold(c, slot, cq_path_contents(path, slot->old));
}

static cq_status add_track(cq_carry *c, const cq_change *change, bool *added)
{
    cq_track *t     = change->where;
    bool      known = false;

    for (size_t i = 0; i < c->stale.n; i++)
        known |= c->stale.items[i] == t;
    if (change->old_state.stale && !known && cq_track_is_visible(t, c->node->block)) {
        *added = true;
        CQ_TRY(cq_vec_push(&c->stale, t));
    }
    for (size_t i = 0; i < c->tracks.n; i++)
        if (c->tracks.items[i] == t)
            return CQ_OK;
    if (t->base || change->old_state.value == t->value || !cq_track_is_visible(t, c->node->block))
        return CQ_OK; /* a view, or a tensor that the body makes in every iteration */
    *added = true;
    return cq_vec_push(&c->tracks, t);
}

cq_status cq_carry_settle(cq_carry *c, const cq_path *path)
{
    bool changed = false;

    for (size_t i = 0; i < c->slots.n; i++) {
        cq_carried_slot *p   = &c->slots.items[i];
        cq_val           end = cq_path_contents(path, cq_path_value(path, &p->slot)), start;

        if (cq_form_is_same(c->ev, p->start, end))
            continue;
        CQ_TRY(cq_form_common(c->ev, &c->at, c->node->block, p->start, end, &start));
        CQ_TRY(set_start(c, p, start));
        changed = true;
    }
    for (size_t i = 0; i < path->changes.n; i++) {
        const cq_change *p = &path->changes.items[i];

        if (is_known(c, p))
            continue;
        CQ_TRY(p->kind == CQ_CHANGE_TRACK ? add_track(c, p, &changed)
                                          : add_location(c, path, p, &changed));
    }
    if (!changed)
        return widen(c);
    c->again = true;
    return cq_carry_start(c);
}

/* ---- after the loop ---- */

static cq_status result_leaf(cq_carry *c, size_t i, cq_val like, cq_val now, cq_val *out)
{
    cq_carried *x = &c->items[i];

    (void)now;
    CQ_TRY(as_value(c, x, c->node->outputs[i], like, out));
    return memory_of(c, x, c->node->outputs[i], *out, &x->memory);
}

cq_status cq_carry_outputs(cq_carry *c)
{
    cq_graph *g = c->ev->capture->graph;
    cq_node  *n = c->node;

    n->n_outputs = c->n;
    n->outputs   = cq_arena_array(g->arena, c->n, sizeof *n->outputs);
    if (!n->outputs)
        return CQ_E_NO_MEMORY;
    for (size_t i = 0; i < c->n; i++) {
        cq_carried *x = &c->items[i];
        cq_value   *v = cq_ir_value_new(g, (cq_type){ 0 });

        if (!v)
            return g->status;
        v->node  = n;
        v->block = n->block;
        v->index = (uint32_t)i;
        cq_item_type_limit(&x->type, n->block);
        v->type       = graph_type(c, x, v);
        n->outputs[i] = v;
        CQ_TRY(cq_vec_push(&n->blocks[0]->returns, CQ_OPERAND_OF(x->end)));
        if (x->track)
            CQ_TRY(set_track(c, x->track, v));
    }
    CQ_TRY(put_all(c, result_leaf));
    return cq_carry_relate(c, n);
}

void cq_carry_clear(cq_carry *c)
{
    for (size_t i = 0; i < c->slots.n; i++)
        cq_val_release(c->slots.items[i].start);
    for (size_t i = 0; i < c->holders.n; i++)
        cq_val_release(c->holders.items[i]);
    cq_vec_clear(&c->slots);
    cq_vec_clear(&c->tracks);
    cq_vec_clear(&c->holders);
    cq_vec_clear(&c->lost);
    cq_vec_clear(&c->stale);
    cq_vec_clear(&c->shares);
    cq_carry_notes_clear(&c->noted);
    cq_carry_notes_clear(&c->recalled);
    cq_free(c->aliased);
    cq_free(c->items);
}
