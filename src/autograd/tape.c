/* Records the tape: a listener that stores each call with its current arguments and results.
 * Tensors are computed for real, and in-place operators overwrite memory; values that a recorded
 * call reads are copied before they are overwritten. aten/core/track.c tracks values through views
 * and in-place operators. */
#include "autograd/tape.h"
#include "tensor/identity.h"

static bool has_gradient(const cq_tensor *t)
{
    return cq_dtype_is_float(t->dtype) || cq_dtype_is_complex(t->dtype);
}

/* ---- values ---- */

/* The same parameter may have several handles: the memory that it views identifies it. */
static cq_tape_value *leaf_of(cq_tape *tape, const cq_tensor *t, bool make)
{
    char           key[CQ_IDENTITY_SIZE];
    cq_tape_value *v;

    if (!t->storage)
        return NULL;
    cq_tensor_identity_text(key, t);
    v = cq_map_get(&tape->leaves, key);
    if (!v && make) {
        v = cq_arena_zalloc(tape->arena, sizeof *v);
        if (v && cq_map_set(&tape->leaves, key, v) != CQ_OK)
            v = NULL;
        if (v)
            v->is_leaf = true;
    }
    return v;
}

static void *value_of_outsider(cq_tracks *tracks, cq_ctx *cx, cq_tensor *t)
{
    cq_tape_value *v;

    if (!t->storage) {
        cq_ctx_fail(cx,
                    cq_fail(CQ_E_ARGUMENT, NULL, NULL, "a tensor without data has no gradient"));
        return NULL;
    }
    v = leaf_of((cq_tape *)tracks, t, true);
    if (v)
        v->needs |= t->requires_grad && has_gradient(t);
    else
        cq_ctx_fail(cx, CQ_E_NO_MEMORY);
    return v;
}

/* Retains the data of v, which is t, for a call on the tape. */
static cq_tensor *keep(cq_tape *tape, cq_tape_value *v, const cq_tensor *t)
{
    if (!v->data) {
        if (cq_tensor_new_view(&v->data, t, t->dtype, t->rank, t->sizes, t->strides, t->offset) !=
            CQ_OK)
            return NULL;
        if (!v->is_listed) {
            v->next         = tape->with_data;
            tape->with_data = v;
        }
        v->is_listed = true;
    }
    v->uses++;
    return v->data;
}

static void let_go(cq_tape_value *v)
{
    if (v->uses && --v->uses)
        return;
    cq_tensor_release(v->data);
    v->data = NULL;
}

/* ---- calls ---- */

typedef struct noting {
    cq_tape      *tape;
    cq_ctx       *cx;
    cq_tape_call *call;
    size_t        arg;
} noting;

static size_t count_tensors(const cq_val *vals, size_t n)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++) {
        if (vals[i].kind == CQ_VAL_TENSOR)
            count++;
        else if (vals[i].kind == CQ_VAL_LIST || vals[i].kind == CQ_VAL_TUPLE)
            count += count_tensors(vals[i].u.list->items, vals[i].u.list->n);
    }
    return count;
}

/* The tape's copy of v: tensors are those of values, which are added to into; lists are copied,
 * because programs change theirs. A copy that fails leaves None, and *at counts the values that are
 * kept. */
static cq_status copy_val(noting *n, cq_val *out, cq_val v, cq_tape_value **into, size_t *at)
{
    cq_status  status = CQ_OK;
    cq_track  *track;
    cq_tensor *data;
    cq_list   *list;

    *out = CQ_NONE;
    if (v.kind == CQ_VAL_TENSOR) {
        track = cq_track_of(&n->tape->tracks, n->cx, v.u.tensor);
        if (!track)
            return n->cx->status;
        data = keep(n->tape, track->value, v.u.tensor);
        if (!data)
            return CQ_E_NO_MEMORY;
        if (into == n->call->inputs)
            n->call->of_input[*at] = n->arg;
        into[(*at)++] = track->value;
        *out          = v;
        out->u.tensor = data;
    } else if (v.kind == CQ_VAL_LIST || v.kind == CQ_VAL_TUPLE) {
        CQ_TRY(cq_list_new(&list, v.u.list->n));
        for (size_t i = 0; i < list->n && status == CQ_OK; i++) {
            status = copy_val(n, &list->items[i], v.u.list->items[i], into, at);
            if (list->items[i].kind == CQ_VAL_TENSOR)
                cq_val_retain(list->items[i]);
        }
        *out        = v;
        out->u.list = list;
    } else {
        *out = v;
        cq_val_retain(v);
    }
    return status;
}

/* The counts match the arrays at any time, so that a call can be released after any failure. */
static cq_status copy_vals(noting *n, cq_val **out, size_t *n_out, const cq_val *vals,
                           size_t n_vals, cq_tape_value ***into, size_t *n_into)
{
    *out  = cq_arena_array(n->tape->arena, n_vals + 1, sizeof **out);
    *into = cq_arena_array(n->tape->arena, count_tensors(vals, n_vals) + 1, sizeof **into);
    if (!*out || !*into)
        return CQ_E_NO_MEMORY;
    for (n->arg = 0; n->arg < n_vals; n->arg++) {
        *n_out = n->arg + 1;
        CQ_TRY(copy_val(n, &(*out)[n->arg], vals[n->arg], *into, n_into));
    }
    return CQ_OK;
}

/* Tensors belong to their values; lists and texts belong to the call. */
static void release_vals(cq_val *vals, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (vals[i].kind != CQ_VAL_TENSOR)
            cq_val_release(vals[i]);
        vals[i] = CQ_NONE;
    }
}

void cq_tape_call_release(cq_tape_call *call)
{
    release_vals(call->args, call->n_args);
    release_vals(call->results, call->n_results);
    for (size_t i = 0; i < call->n_inputs; i++)
        let_go(call->inputs[i]);
    for (size_t i = 0; i < call->n_outputs; i++)
        let_go(call->outputs[i]);
    call->n_args = call->n_results = call->n_inputs = call->n_outputs = 0;
}

static cq_status note_call(cq_tape *tape, cq_opcall *c)
{
    noting          n     = { .tape = tape, .cx = c->cx };
    size_t          count = count_tensors(c->args, c->op->schema->n_args);
    const cq_scope *scope = c->cx->scope;
    cq_tape_call   *call = n.call = cq_arena_zalloc(tape->arena, sizeof *call);
    cq_status       status;

    if (!call)
        return CQ_E_NO_MEMORY;
    call->op         = c->op;
    call->of_input   = cq_arena_array(tape->arena, count + 1, sizeof *call->of_input);
    call->path       = scope ? cq_intern_text(&tape->texts, scope->path) : "";
    call->class_name = scope ? cq_intern_text(&tape->texts, scope->class_name) : "";
    call->location   = c->cx->location;
    if (!call->of_input || !call->path || !call->class_name)
        return CQ_E_NO_MEMORY;
    status = copy_vals(&n, &call->args, &call->n_args, c->args, c->op->schema->n_args,
                       &call->inputs, &call->n_inputs);
    if (status == CQ_OK)
        status = copy_vals(&n, &call->results, &call->n_results, c->results, c->n_results,
                           &call->outputs, &call->n_outputs);
    if (status != CQ_OK) {
        cq_tape_call_release(call);
        return status;
    }
    call->before = tape->last;
    tape->last   = call;
    return CQ_OK;
}

static cq_status any_needs(cq_tape *tape, cq_ctx *cx, const cq_val *vals, size_t n, bool *out)
{
    for (size_t i = 0; i < n; i++) {
        if (vals[i].kind == CQ_VAL_TENSOR) {
            cq_track *track = cq_track_of(&tape->tracks, cx, vals[i].u.tensor);

            if (!track)
                return cx->status;
            *out |= ((cq_tape_value *)track->value)->needs;
        } else if (vals[i].kind == CQ_VAL_LIST || vals[i].kind == CQ_VAL_TUPLE) {
            CQ_TRY(any_needs(tape, cx, vals[i].u.list->items, vals[i].u.list->n, out));
        }
    }
    return CQ_OK;
}

/* A value for each new tensor among the results, of which the first `needs` have gradients; found:
 * one of them has. */
static cq_status bind(cq_tape *tape, cq_opcall *c, const cq_val *results, size_t n, size_t needs,
                      bool *found)
{
    for (size_t i = 0; i < n; i++) {
        cq_tensor     *t = results[i].u.tensor;
        cq_tape_value *v;

        if (results[i].kind == CQ_VAL_LIST)
            CQ_TRY(bind(tape, c, results[i].u.list->items, results[i].u.list->n,
                        i < needs ? SIZE_MAX : 0, found));
        if (results[i].kind != CQ_VAL_TENSOR || cq_is_tracked(&tape->tracks, t))
            continue; /* it returned an argument */
        v = cq_arena_zalloc(tape->arena, sizeof *v);
        if (!v || !cq_track_new(&tape->tracks, t, v))
            return CQ_E_NO_MEMORY;
        v->needs = i < needs && has_gradient(t);
        *found |= v->needs;
        if (c->op->def->view && !c->copied)
            CQ_TRY(cq_track_view(&tape->tracks, c, t, i));
    }
    return CQ_OK;
}

/* ---- the listener ---- */

static bool wants_whole(void *self, const cq_opcall *c)
{
    (void)self;
    return cq_gradient_find(c->op) != NULL;
}

static cq_status (*parts_of(void *self, const cq_op *op))(cq_opcall *c)
{
    (void)self;
    return cq_gradient_composition(op);
}

static cq_status called(void *self, cq_opcall *c)
{
    cq_tape           *tape  = self;
    const cq_gradient *row   = cq_gradient_find(c->op);
    bool               needs = false, found = false;

    if (c->op->def->flags & CQ_OP_HOST)
        return CQ_OK;
    CQ_TRY(any_needs(tape, c->cx, c->args, c->op->schema->n_args, &needs));
    if (c->cx->no_grad || (row && row->kind == CQ_GRADIENT_NONE))
        needs = false;
    CQ_TRY(bind(tape, c, c->results, c->n_results,
                !needs                   ? 0
                : row && row->first_only ? 1
                                         : SIZE_MAX,
                &found));
    return found ? note_call(tape, c) : CQ_OK;
}

/* Copies values that recorded calls read before t's memory is overwritten. */
static cq_status spare(cq_tape *tape, const cq_tensor *t)
{
    for (cq_tape_value *v = tape->with_data; v; v = v->next) {
        cq_tensor *copy;

        if (!v->data || v->data->storage != t->storage)
            continue;
        CQ_TRY(cq_tensor_clone(&copy, v->data, CQ_DTYPE_NONE));
        cq_storage_release(v->data->storage);
        v->data->storage = cq_storage_retain(copy->storage);
        v->data->offset  = copy->offset;
        memcpy(v->data->strides, copy->strides, copy->rank * sizeof *copy->strides);
        cq_tensor_release(copy);
    }
    return CQ_OK;
}

static cq_status changed(void *self, cq_ctx *cx, cq_tensor *t, cq_tensor *news)
{
    cq_tape *tape = self;

    if (t != news && t->storage && news->storage) {
        CQ_TRY(spare(tape, t));
        CQ_TRY(cq_tensor_copy_into(t, news));
    }
    return cq_track_changed(&tape->tracks, cx, t, news);
}

static void baked(void *self, cq_ctx *cx, const char *what, cq_int value)
{
    (void)self;
    (void)cx;
    (void)what;
    (void)value;
}

static cq_status materialize(void *self, cq_ctx *cx, cq_tensor **out, cq_tensor *t)
{
    (void)self;
    (void)cx;
    (void)t;
    *out = NULL;
    return cq_fail(CQ_E_ARGUMENT, NULL, NULL, "a tensor without data has no gradient");
}

static const cq_listener listener = {
    .wants_whole = wants_whole,
    .parts_of    = parts_of,
    .called      = called,
    .changed     = changed,
    .refresh     = cq_track_refresh,
    .baked       = baked,
    .materialize = materialize,
};

/* ---- the tape itself ---- */

CQ_API cq_status cq_tape_new(cq_tape **out)
{
    CQ_NEED_OUT(out, true);
    cq_tape *tape;

    CQ_TRY(cq_gradients_ready());
    tape = *out = cq_zalloc(sizeof *tape);
    if (!tape)
        return CQ_E_NO_MEMORY;
    tape->arena = cq_arena_new();
    if (!tape->arena) {
        cq_free(tape);
        *out = NULL;
        return CQ_E_NO_MEMORY;
    }
    cq_tracks_init(&tape->tracks, tape->arena, value_of_outsider);
    return CQ_OK;
}

CQ_API void cq_tape_free(cq_tape *tape)
{
    if (!tape)
        return;
    for (cq_tape_call *call = tape->last; call; call = call->before) {
        for (size_t i = 0; i < call->n_outputs; i++)
            cq_tensor_release(call->outputs[i]->gradient);
        for (size_t i = 0; i < call->n_outputs; i++)
            call->outputs[i]->gradient = NULL;
        cq_tape_call_release(call);
    }
    for (size_t i = 0; i < tape->leaves.n; i++)
        cq_tensor_release(((cq_tape_value *)tape->leaves.entries[i].value)->gradient);
    cq_tracks_clear(&tape->tracks);
    cq_map_clear(&tape->leaves);
    cq_intern_clear(&tape->texts);
    cq_arena_free(tape->arena);
    cq_free(tape);
}

CQ_API void cq_tape_start(cq_tape *tape, cq_ctx *cx)
{
    CQ_NEED_ELSE(tape, );
    cx->listener      = &listener;
    cx->listener_self = tape;
}

CQ_API void cq_tape_stop(cq_tape *tape, cq_ctx *cx)
{
    CQ_NEED_ELSE(tape, );
    if (cx->listener_self != tape)
        return;
    cx->listener      = NULL;
    cx->listener_self = NULL;
}

CQ_API bool cq_set_grad_enabled(cq_ctx *cx, bool enabled)
{
    CQ_NEED_ELSE(cx, 0);
    bool was = !cx->no_grad;

    cx->no_grad = !enabled;
    return was;
}

CQ_API cq_status cq_tape_watch(cq_tape *tape, cq_tensor *t)
{
    CQ_NEED(tape && t);
    cq_tape_value *v;

    if (!t->storage || !cq_dtype_is_float(t->dtype))
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL,
                       "only a tensor of floats with data has a gradient, not one of %s",
                       cq_dtype_name(t->dtype));
    v = leaf_of(tape, t, true);
    if (!v)
        return CQ_E_NO_MEMORY;
    v->needs = true;
    return CQ_OK;
}

CQ_API cq_tensor *cq_tape_gradient(const cq_tape *tape, const cq_tensor *t)
{
    CQ_NEED_ELSE(tape, NULL);
    const cq_tape_value *v = leaf_of((cq_tape *)tape, t, false);

    return v ? v->gradient : NULL;
}
