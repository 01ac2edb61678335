/* Joins the values that the two sides of a branch give to a slot. */
#include "script/flow/join.h"
#include "script/builtins/builtin.h"
#include "script/values/sequence.h"
#include "script/flow/aliases.h"
#include "tensor/qparams.h"

static cq_status undefined(cq_join *j, const char *why, cq_val *out)
{
    CQ_TRY(cq_eval_new_object(j->ev, CQ_OBJECT_UNDEFINED, why, out));
    cq_object_of(*out)->is_unjoined = true;
    return CQ_OK;
}

/* Exchanges the current values of tensors with their values at the end of a side. */
static void swap_tracks(cq_path *path)
{
    for (size_t i = 0; i < path->changes.n; i++) {
        cq_change     *c = &path->changes.items[i];
        cq_track_state was;

        if (c->kind != CQ_CHANGE_TRACK)
            continue;
        was = cq_track_state_of(c->where);
        cq_track_set_state(c->where, c->old_state);
        c->old_state = was;
    }
}

/* Returns to the state at the end of side i: tensors have their values there, and new nodes are
 * added to its block. */
static cq_block *enter(cq_join *j, size_t i)
{
    cq_block *outer = j->ev->capture->block;

    j->ev->capture->block = j->node->blocks[i];
    swap_tracks(j->paths[i]);
    return outer;
}

static void leave(cq_join *j, size_t i, cq_block *outer)
{
    swap_tracks(j->paths[i]);
    j->ev->capture->block = outer;
}

static cq_status tensor_in(cq_join *j, size_t i, cq_val v, cq_tensor **out)
{
    cq_block *outer  = enter(j, i);
    cq_status status = cq_eval_as_tensor(j->ev, v, out);

    leave(j, i, outer);
    return status;
}

static cq_value *value_in(cq_join *j, size_t i, cq_tensor *t)
{
    cq_block *outer = enter(j, i);
    cq_value *v     = cq_capture_value(j->ev->capture, j->ev->cx, t);

    leave(j, i, outer);
    return v;
}

static cq_status placeholder(cq_join *j, size_t i, cq_val like, cq_val *out)
{
    cq_block *outer  = enter(j, i);
    cq_status status = cq_eval_placeholder(j->ev, like, out);

    leave(j, i, outer);
    return status;
}

cq_status cq_join_output(cq_join *j, cq_type type, cq_value *then, cq_value *other, cq_value **out)
{
    cq_graph *g = j->ev->capture->graph;
    cq_value *v = *out = cq_ir_value_new(g, type);
    cq_value *like     = j->example ? then : other;
    cq_int    sizes[CQ_MAX_RANK];

    if (!v)
        return g->status;
    g->symbols.guesses = true;
    v->node            = j->node;
    v->block           = j->node->block;
    v->index           = (uint32_t)j->outputs.n;
    if (type.kind == CQ_TYPE_TENSOR) {
        for (int i = 0; i < type.rank; i++) /* an unknown size is a new symbol of the output */
            sizes[i] = cq_int_is_open(type.sizes[i])
                           ? cq_symbol_fresh(&g->symbols, "d", like->type.sizes[i].value, v, i)
                           : type.sizes[i];
        v->type = cq_ir_tensor_type(g, type.dtype, (size_t)type.rank, sizes);
    }
    CQ_TRY(cq_vec_push(&j->outputs, v));
    CQ_TRY(cq_vec_push(&j->node->blocks[0]->returns, CQ_OPERAND_OF(then)));
    return cq_vec_push(&j->node->blocks[1]->returns, CQ_OPERAND_OF(other));
}

static cq_status join_tensors(cq_join *j, cq_tensor *a, cq_tensor *b, cq_val *out)
{
    cq_int     sizes[CQ_MAX_RANK];
    cq_tensor *like = j->example ? a : b;
    cq_type    type = { .kind = CQ_TYPE_TENSOR, .rank = (int)like->rank, .sizes = sizes };
    cq_value  *then = value_in(j, 0, a), *other = value_in(j, 1, b), *v;
    cq_ctx    *cx = j->ev->cx;

    if (!then || !other)
        return cx->status;
    type.dtype = a->dtype == b->dtype ? a->dtype : cq_dtype_promote(a->dtype, b->dtype);
    for (size_t i = 0; i < like->rank; i++)
        sizes[i] = a->rank == b->rank && cq_int_same(a->sizes[i], b->sizes[i]) &&
                           cq_int_is_visible(a->sizes[i], j->node->block)
                       ? a->sizes[i]
                       : cq_i(-1);
    CQ_TRY(cq_join_output(j, type, then, other, &v));
    if (a->rank != b->rank) { /* the following code is built for the rank of the example */
        v->rank_varies = true;
        cx->listener->baked(cx->listener_self, cx,
                            "the number of dimensions that a branch gives a tensor",
                            cq_i((int64_t)like->rank));
    }
    *out = cq_val_of_tensor(cq_capture_tensor(j->ev->capture, cx, v));
    return cx->status;
}

/* The joined value of this pair; None if it was not joined yet. */
static cq_val joined_before(const cq_join *j, const void *a, const void *b)
{
    for (size_t i = 0; i < j->pairs.n; i++)
        if (j->pairs.items[i].a == a && j->pairs.items[i].b == b)
            return j->pairs.items[i].joined;
    return CQ_NONE;
}

static bool is_stale_in(cq_join *j, size_t i, cq_track *t)
{
    cq_block *outer = enter(j, i);
    bool      stale = cq_track_root(t)->stale;

    leave(j, i, outer);
    return stale;
}

/* Joins two tensors as aliases: after the If the tensor is one of the two. Joining a pair again
 * returns the same tensor. */
static cq_status join_handles(cq_join *j, cq_tensor *a, cq_tensor *b, cq_val *out)
{
    cq_tracks *tracks = &j->ev->capture->tracks;
    cq_track  *of[2]  = { cq_track_of(tracks, j->ev->cx, a), cq_track_of(tracks, j->ev->cx, b) };

    if (!of[0] || !of[1])
        return j->ev->cx->status;
    if (is_stale_in(j, 0, of[0]) || is_stale_in(j, 1, of[1]))
        return undefined(j, "it may alias a tensor that was changed in place", out);
    if (!cq_qparams_same(a->qparams, b->qparams))
        return undefined(j, "the two sides of a branch quantize it in different ways", out);
    *out = joined_before(j, a, b);
    if (out->kind != CQ_VAL_NONE)
        return CQ_OK;
    CQ_TRY(join_tensors(j, a, b, out));
    cq_tensor_set_qparams(out->u.tensor, a->qparams);
    for (size_t i = 0; i < 2; i++)
        CQ_TRY(cq_track_may_share(tracks, cq_track_of_new(tracks, out->u.tensor), of[i]));
    return cq_vec_push(&j->pairs, (cq_joined_pair){ a, b, *out });
}

static cq_status join_numbers(cq_join *j, cq_val a, cq_val b, cq_val *out)
{
    cq_val_kind kind = a.kind == b.kind ? a.kind : CQ_VAL_FLOAT;
    cq_tensor  *ta, *tb;

    CQ_TRY(tensor_in(j, 0, a, &ta));
    CQ_TRY(tensor_in(j, 1, b, &tb));
    CQ_TRY(join_tensors(j, ta, tb, out));
    ta = out->u.tensor;
    return cq_builtin_number_of(j->ev, ta, kind, out);
}

/* ---- containers ---- */

/* Joins lists of different lengths: the length of the result is data-dependent. */
static cq_status join_sequences(cq_join *j, cq_val a, cq_val b, cq_val *out)
{
    cq_val       sides[2] = { a, b };
    cq_value    *values[2], *v;
    cq_item_type item   = { 0 };
    cq_int       length = cq_sequence_known_length(a);
    cq_type      type;

    CQ_TRY(cq_item_type_of_list(&item, a));
    CQ_TRY(cq_item_type_of_list(&item, b));
    cq_item_type_limit(&item, j->node->block);
    for (size_t i = 0; i < 2; i++) {
        cq_block *outer  = enter(j, i);
        cq_status status = cq_sequence_value(j->ev, sides[i], &item, &values[i]);

        leave(j, i, outer);
        CQ_TRY(status);
    }
    if (!cq_int_same(length, cq_sequence_known_length(b)) ||
        !cq_int_is_visible(length, j->node->block))
        length = cq_i(-1);
    type = (cq_type){ .kind = CQ_TYPE_LIST, .dtype = item.dtype, .rank = -1 };
    CQ_TRY(cq_join_output(j, type, values[0], values[1], &v));
    for (size_t i = 0; i < 2; i++)
        CQ_TRY(cq_share_sequence(j->ev, v, values[i]));
    return cq_sequence_list(j->ev, v, &item, length, out);
}

static cq_pair_fn join_values;

/* Whether the list or dict that a side assigned to a slot is unreachable after the join. */
static bool is_of_side(const cq_join *j, size_t i, cq_val v)
{
    const void *p     = cq_val_container(v);
    bool        again = false;

    for (size_t k = 0; k < j->pairs.n; k++)
        again |= (i ? j->pairs.items[k].b : j->pairs.items[k].a) == p;
    return !again && cq_path_owns(j->ev, j->paths[i], j->slot, v);
}

static bool holds_from_outside(const cq_join *j, size_t i, const cq_list *list);

/* Whether a value comes from before the If. Such a value is used unchanged if the other side has
 * none. */
static bool is_from_outside(const cq_join *j, size_t i, cq_val v)
{
    cq_track *t;

    switch (v.kind) {
    case CQ_VAL_TENSOR:
        t = cq_track_of(&j->ev->capture->tracks, j->ev->cx, v.u.tensor);
        return t && cq_track_is_visible(t, j->node->block);
    case CQ_VAL_LIST: return !is_of_side(j, i, v) && holds_from_outside(j, i, v.u.list);
    case CQ_VAL_DICT: return !is_of_side(j, i, v);
    default: return false;
    }
}

/* The same for a list, which may be the join of two lists on that side and then holds values of the
 * side. (A change of contents has been undone by now, and is joined as a separate slot.) */
static bool holds_from_outside(const cq_join *j, size_t i, const cq_list *list)
{
    const cq_sequence *seq = list->origin;

    if (seq)
        return cq_value_is_visible(seq->value, j->node->block);
    for (size_t k = 0; k < list->n; k++)
        if (cq_val_container(list->items[k]) || list->items[k].kind == CQ_VAL_TENSOR
                ? !is_from_outside(j, i, list->items[k])
                : cq_val_is_number(list->items[k]) && list->items[k].kind == CQ_VAL_INT &&
                      !cq_int_is_visible(list->items[k].u.i, j->node->block))
            return false;
    return true;
}

static cq_status join_list_contents(cq_join *j, cq_val a, cq_val b, cq_val *out)
{
    if (a.u.list->n == b.u.list->n && !a.u.list->origin && !b.u.list->origin)
        return cq_eval_pair_parts(j->ev, join_values, j, a, b, out);
    if (a.kind == CQ_VAL_TUPLE)
        return undefined(j, "the two sides of a branch give it different lengths", out);
    return join_sequences(j, a, b, out);
}

static bool have_same_keys(const cq_dict *a, const cq_dict *b)
{
    bool same = a->n == b->n;

    for (size_t i = 0; i < a->n && same; i++)
        same = cq_dict_get(b, a->entries[i].key) != NULL;
    return same;
}

cq_status cq_join_contents(cq_join *j, cq_val a, cq_val b, cq_val *out)
{
    if (a.kind != CQ_VAL_DICT)
        return join_list_contents(j, a, b, out);
    if (!have_same_keys(a.u.dict, b.u.dict))
        return undefined(j, "the two sides of a branch give it different keys", out);
    return cq_eval_pair_parts(j->ev, join_values, j, a, b, out);
}

static cq_status join_containers(cq_join *j, cq_val a, cq_val b, cq_val *out)
{
    const void *pa = cq_val_container(a), *pb = cq_val_container(b);
    bool        own;

    if (pa == pb)
        return CQ_OK; /* one list or dict, whose contents are joined as a separate slot */
    *out = joined_before(j, pa, pb);
    if (out->kind != CQ_VAL_NONE)
        return CQ_OK;
    own = a.kind == CQ_VAL_TUPLE || (is_of_side(j, 0, a) && is_of_side(j, 1, b));
    CQ_TRY(cq_join_contents(j, cq_path_contents(j->paths[0], a), cq_path_contents(j->paths[1], b),
                            out));
    if (cq_val_is_undefined(*out))
        return CQ_OK;
    if (!own)
        CQ_TRY(cq_share_lists(j->ev, a, b, *out));
    return cq_vec_push(&j->pairs, (cq_joined_pair){ pa, pb, *out });
}

/* ---- None ---- */

cq_status cq_eval_new_optional(cq_eval *ev, cq_value *has, cq_val v, cq_val *out)
{
    CQ_TRY(cq_eval_new_object(ev, CQ_OBJECT_OPTIONAL, "Optional", out));
    cq_object_of(*out)->has  = has;
    cq_object_of(*out)->self = cq_val_retain(v);
    return CQ_OK;
}

/* Whether this side is taken because the value exists (is not None). */
static bool is_asked(const cq_join *j, size_t side, const cq_value *has)
{
    bool negated;

    return cq_capture_truth(&j->node->inputs[0], &negated) == has && side == negated;
}

/* Joins None with a value: a bool of the graph states whether there is a value, and a placeholder
 * replaces the missing value. */
static cq_status join_optionals(cq_join *j, cq_val a, cq_val b, cq_val *out)
{
    cq_val     sides[2] = { a, b }, values[2], has, v;
    cq_tensor *there[2];
    cq_value  *value;
    bool       always = true;

    for (size_t i = 0; i < 2; i++) {
        cq_object *t     = cq_object_as(sides[i], CQ_OBJECT_OPTIONAL);
        cq_val     truth = { .kind = CQ_VAL_BOOL, .u.b = { sides[i].kind != CQ_VAL_NONE, NULL } };

        if (t && !is_asked(j, i, t->has))
            truth.u.b.origin = t->has;
        always &= truth.u.b.value && !truth.u.b.origin;
        CQ_TRY(tensor_in(j, i, truth, &there[i]));
        values[i] = cq_val_unwrap(sides[i]);
    }
    if (always)
        return cq_join_values(j, values[0], values[1], out);
    for (size_t i = 0; i < 2; i++)
        if (values[i].kind == CQ_VAL_NONE)
            CQ_TRY(placeholder(j, i, values[1 - i], &values[i]));
    CQ_TRY(join_tensors(j, there[0], there[1], &has));
    CQ_TRY(cq_join_values(j, values[0], values[1], &v));
    if (cq_val_is_undefined(v)) {
        *out = v;
        return CQ_OK;
    }
    value = cq_capture_value(j->ev->capture, j->ev->cx, has.u.tensor);
    return value ? cq_eval_new_optional(j->ev, value, v, out) : j->ev->cx->status;
}

/* ---- objects ---- */

/* Whether both sides created an object of the same class with the same attributes. */
static bool are_alike(const cq_join *j, cq_object *a, cq_object *b)
{
    cq_object *both[2] = { a, b };
    bool       alike   = a->cls && a->cls == b->cls && a->attributes.n == b->attributes.n;

    alike = alike && !a->text && !b->text;           /* modules are not joined */
    for (size_t i = 0; alike && i < j->pairs.n; i++) /* each object has a single partner */
        alike = (j->pairs.items[i].a == a) == (j->pairs.items[i].b == b);
    for (size_t i = 0; alike && i < a->attributes.n; i++)
        alike = a->attributes.items[i].name == b->attributes.items[i].name;
    for (size_t i = 0; alike && i < 2; i++)
        alike = cq_path_is_only_holder(
            j->ev, j->paths[i], &(cq_change){ .kind = CQ_CHANGE_ATTRIBUTE, .where = both[i] });
    return alike;
}

static cq_status join_objects(cq_join *j, cq_object *a, cq_object *b, cq_val *out)
{
    cq_object *t;

    *out = joined_before(j, a, b);
    if (out->kind != CQ_VAL_NONE)
        return CQ_OK;
    CQ_TRY(cq_object_new(&t, CQ_OBJECT_INSTANCE));
    *out         = cq_ctx_own(j->ev->cx, cq_val_of_object(t));
    t->cls       = a->cls;
    t->unit      = a->unit;
    t->qualified = a->qualified;
    CQ_TRY(j->ev->cx->status);
    for (size_t i = 0; i < a->attributes.n; i++) {
        cq_change of_a = { .kind = CQ_CHANGE_ATTRIBUTE, .where = a, .index = i };
        cq_change of_b = { .kind = CQ_CHANGE_ATTRIBUTE, .where = b, .index = i };
        cq_val    v;

        CQ_TRY(cq_join_values(j, cq_path_value(j->paths[0], &of_a),
                              cq_path_value(j->paths[1], &of_b), &v));
        CQ_TRY(cq_vec_push(&t->attributes, (cq_attribute){ a->attributes.items[i].name, CQ_NONE }));
        t->attributes.items[i].value = cq_val_retain(v);
    }
    return cq_vec_push(&j->pairs, (cq_joined_pair){ a, b, *out });
}

/* ---- any two values ---- */

bool cq_val_plainly_equal(cq_val a, cq_val b)
{
    if (a.kind != b.kind)
        return false;
    switch (a.kind) {
    case CQ_VAL_NONE: return true;
    case CQ_VAL_INT: return cq_int_same(a.u.i, b.u.i);
    case CQ_VAL_FLOAT:
        return a.u.f.origin == b.u.f.origin && (a.u.f.origin || a.u.f.value == b.u.f.value);
    case CQ_VAL_BOOL:
        return a.u.b.origin == b.u.b.origin && (a.u.b.origin || a.u.b.value == b.u.b.value);
    case CQ_VAL_STR:
    case CQ_VAL_DEVICE: return cq_text_is_same(a.u.text, b.u.text);
    case CQ_VAL_OBJECT: return a.u.box == b.u.box;
    default: return false;
    }
}

static bool may_be_missing(cq_val v)
{
    return v.kind == CQ_VAL_NONE || cq_object_as(v, CQ_OBJECT_OPTIONAL);
}

static cq_status join_values(void *user, cq_val a, cq_val b, cq_val *out)
{
    cq_join   *j = user;
    cq_object *ta, *tb;

    *out = a;
    if (cq_val_is_undefined(a) && cq_val_is_undefined(b))
        return CQ_OK;
    if (cq_val_is_unjoined(a) || cq_val_is_unjoined(b)) {
        *out = cq_val_is_unjoined(a) ? a : b;
        return CQ_OK;
    }
    /* Undefined on one side: the placeholder is never read, but must have the right type. */
    if ((cq_val_is_undefined(a) && is_from_outside(j, 1, b)) ||
        (cq_val_is_undefined(b) && is_from_outside(j, 0, a))) {
        *out = cq_val_is_undefined(a) ? b : a;
        return CQ_OK;
    }
    if (cq_val_is_undefined(a))
        CQ_TRY(placeholder(j, 0, b, &a));
    else if (cq_val_is_undefined(b))
        CQ_TRY(placeholder(j, 1, a, &b));
    *out = a;
    if (cq_val_plainly_equal(a, b))
        return CQ_OK;
    if (may_be_missing(a) || may_be_missing(b))
        return join_optionals(j, a, b, out);
    if (a.kind == CQ_VAL_TENSOR && b.kind == CQ_VAL_TENSOR) /* the same tensor: contents are joined
                                                             * separately */
        return a.u.tensor == b.u.tensor ? CQ_OK : join_handles(j, a.u.tensor, b.u.tensor, out);
    if (cq_val_is_number(a) && cq_val_is_number(b))
        return join_numbers(j, a, b, out);
    if (cq_val_container(a) && a.kind == b.kind)
        return join_containers(j, a, b, out);
    ta = cq_object_as(a, CQ_OBJECT_NAMED);
    tb = cq_object_as(b, CQ_OBJECT_NAMED);
    if (ta && tb && ta->cls == tb->cls)
        return cq_eval_pair_parts(j->ev, join_values, j, a, b, out);
    ta = cq_object_as(a, CQ_OBJECT_INSTANCE);
    tb = cq_object_as(b, CQ_OBJECT_INSTANCE);
    if (ta && tb && are_alike(j, ta, tb))
        return join_objects(j, ta, tb, out);
    return undefined(j, "the two sides of a branch give it incompatible values", out);
}

cq_status cq_join_values(cq_join *j, cq_val a, cq_val b, cq_val *out)
{
    return cq_eval_pair(j->ev, join_values, j, a, b, out);
}
