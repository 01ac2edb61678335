/* State of a program: variables that outlive a call become inputs and outputs. */
#include "script/flow/state.h"
#include "base/str.h"
#include "base/warn.h"
#include "script/builtins/builtin.h"
#include "script/flow/join.h"

#include <stdio.h>

static void leaf_clear(cq_state_leaf *leaf)
{
    if (leaf)
        cq_tensor_release(leaf->initial);
}

static void var_clear(cq_state_var *v)
{
    for (size_t i = 0; i < v->leaves.n; i++)
        leaf_clear(&v->leaves.items[i]);
    leaf_clear(v->has);
    cq_free(v->has);
    cq_vec_clear(&v->leaves);
    cq_val_release(v->form);
    v->form = CQ_NONE;
    v->has  = NULL;
}

void cq_script_state_free(cq_script_state *state)
{
    if (!state)
        return;
    for (size_t i = 0; i < state->vars.n; i++)
        var_clear(&state->vars.items[i]);
    cq_vec_clear(&state->vars);
    cq_vec_clear(&state->arguments);
    cq_free(state);
}

/* The variable of a slot, or NULL. */
static const cq_state_var *var_at(const cq_script_state *state, const cq_guard_slot *p)
{
    for (size_t i = 0; i < state->vars.n; i++)
        if (state->vars.items[i].object == p->object && state->vars.items[i].index == p->index)
            return &state->vars.items[i];
    return NULL;
}

/* ---- inputs ---- */

typedef struct binding {
    cq_eval          *ev;
    cq_state_var     *var;
    cq_tensor *const *given;
    size_t            n_given, next, leaf;
} binding;

static cq_tensor *graph_input(cq_eval *ev, const cq_state_leaf *leaf)
{
    cq_graph  *g = ev->capture->graph;
    cq_int     sizes[CQ_MAX_RANK];
    cq_tensor *t;
    char       in[600], out[600];

    for (size_t i = 0; i < leaf->initial->rank; i++) {
        sizes[i] = cq_i(leaf->initial->sizes[i].value);
        if (leaf->axes[i])
            sizes[i] = cq_symbol(&g->symbols, leaf->axes[i], sizes[i].value, NULL, (int)i);
    }
    snprintf(in, sizeof in, "state.%.500s_in", leaf->name);
    snprintf(out, sizeof out, "state.%.500s_out", leaf->name);
    t = cq_capture_sized_input(ev->capture, ev->cx, leaf->initial, in, sizes);
    if (t && cq_ir_note_state(g, in, out, leaf->initial) != CQ_OK)
        cq_ctx_fail(ev->cx, CQ_E_NO_MEMORY);
    return t;
}

/* The next input of the graph, or the next tensor given to the run. */
static cq_tensor *next_input(binding *b, const cq_state_leaf *leaf)
{
    cq_tensor *t;

    if (b->ev->capture)
        return graph_input(b->ev, leaf);
    t = b->next < b->n_given ? b->given[b->next] : leaf->initial;
    b->next++;
    return cq_clone(b->ev->cx, t);
}

static cq_status leaf_value(binding *b, const cq_state_leaf *leaf, cq_val *out)
{
    cq_tensor *t = next_input(b, leaf);

    if (!t)
        return b->ev->cx->status;
    *out = cq_val_of_tensor(t);
    if (leaf->kind == CQ_VAL_TENSOR)
        return CQ_OK;
    if (b->ev->capture && leaf->kind == CQ_VAL_INT) {
        *out = cq_val_of_int(cq_symbol_fresh(b->ev->cx->symbols, "i",
                                             cq_tensor_get_i64(leaf->initial, 0),
                                             cq_capture_value(b->ev->capture, b->ev->cx, t), -1));
        return CQ_OK;
    }
    return cq_builtin_number_of(b->ev, t, leaf->kind, out);
}

static cq_status bind_leaf(cq_visit *w, cq_val v, cq_val *out)
{
    binding *b = w->user;

    *out = v;
    if (v.kind == CQ_VAL_TENSOR || v.kind == CQ_VAL_INT || v.kind == CQ_VAL_FLOAT ||
        v.kind == CQ_VAL_BOOL)
        CQ_TRY(leaf_value(b, &b->var->leaves.items[b->leaf++], out));
    cq_val_retain(*out);
    return CQ_OK;
}

/* Builds the value of a variable at the beginning of the call from its inputs. */
static cq_status bound_value(binding *b, cq_val *out)
{
    cq_visit  w   = cq_eval_visit(b->ev, b);
    cq_val    has = cq_val_of_bool(true);
    cq_status status;

    w.map = bind_leaf;
    if (b->var->has)
        CQ_TRY(leaf_value(b, b->var->has, &has));
    b->leaf = 0;
    status  = cq_val_map(&w, b->var->form, out);
    cq_visit_clear(&w);
    CQ_TRY(status);
    cq_ctx_own(b->ev->cx, *out);
    if (has.u.b.origin)
        return cq_eval_new_optional(b->ev, has.u.b.origin, *out, out);
    if (!has.u.b.value)
        *out = CQ_NONE;
    return b->ev->cx->status;
}

static void put(cq_object *object, size_t index, cq_val v)
{
    cq_val_set(&object->attributes.items[index].value, v);
}

static bool shows_the_same(const cq_tensor *a, const cq_tensor *b)
{
    bool same = a->storage && a->storage == b->storage && a->offset == b->offset &&
                a->dtype == b->dtype && a->rank == b->rank;

    for (size_t i = 0; same && i < a->rank; i++)
        same = a->sizes[i].value == b->sizes[i].value && a->strides[i] == b->strides[i];
    return same;
}

/* Several attributes that share a tensor keep sharing it, so that all see in-place changes. */
static void put_aliases(const cq_script_state *state, cq_guard *g, const cq_state_var *var,
                        cq_val v)
{
    if (v.kind != CQ_VAL_TENSOR || var->form.kind != CQ_VAL_TENSOR)
        return;
    for (size_t i = 0; i < g->slots.n; i++) {
        const cq_guard_slot *p = &g->slots.items[i];

        if (p->old.kind == CQ_VAL_TENSOR && shows_the_same(p->old.u.tensor, var->form.u.tensor) &&
            !var_at(state, p))
            put(p->object, p->index, v);
    }
}

cq_status cq_state_bind(cq_script_state *state, cq_guard *g, cq_tensor *const *given,
                        size_t n_given)
{
    binding b = { .ev = g->ev, .given = given, .n_given = n_given };

    for (size_t i = 0; i < state->vars.n; i++) {
        cq_val v;

        b.var = &state->vars.items[i];
        if (b.var->lost)
            continue;
        CQ_TRY(bound_value(&b, &v));
        put_aliases(state, g, b.var, v);
        put(b.var->object, b.var->index, v);
    }
    return g->ev->cx->status;
}

/* ---- discovery ---- */

static bool is_number(cq_val v)
{
    return v.kind == CQ_VAL_INT || v.kind == CQ_VAL_FLOAT || v.kind == CQ_VAL_BOOL;
}

/* Initial value of a tensor or number. Numbers keep Python's precision between calls. */
static cq_status initial_of(cq_val v, cq_tensor **out)
{
    return cq_args_tensor_of(out, v, true);
}

typedef struct finding {
    cq_guard     *g;
    cq_state_var *var;
} finding;

static cq_status add_leaf(cq_visit *w, cq_val v)
{
    finding      *f    = w->user;
    cq_eval      *ev   = f->g->ev;
    cq_state_leaf leaf = { .kind = v.kind };
    char          name[560];

    if (f->var->form.kind == CQ_VAL_NONE)
        return CQ_OK; /* the new value is found after the call */
    if (v.kind == CQ_VAL_TENSOR &&
        (!v.u.tensor->storage || v.u.tensor->qparams || cq_dtype_is_complex(v.u.tensor->dtype)))
        f->var->lost = "it is a quantized, sparse or nested tensor";
    else if (v.kind != CQ_VAL_TENSOR && !is_number(v))
        f->var->lost = "only tensors and numbers can be inputs";
    if (f->var->lost)
        return CQ_OK;
    CQ_TRY(initial_of(v, &leaf.initial));
    snprintf(name, sizeof name, f->var->form.kind == v.kind ? "%s" : "%s.%zu", f->var->path,
             f->var->leaves.n);
    leaf.name = cq_name(ev->program, name);
    if (cq_vec_push(&f->var->leaves, leaf) == CQ_OK)
        return CQ_OK;
    leaf_clear(&leaf);
    return CQ_E_NO_MEMORY;
}

static cq_status find_leaves(cq_guard *g, cq_state_var *var)
{
    finding  f = { g, var };
    cq_visit w = cq_eval_visit(g->ev, &f);

    for (size_t i = 0; i < var->leaves.n; i++)
        leaf_clear(&var->leaves.items[i]);
    var->leaves.n = 0;
    w.each        = add_leaf;
    return cq_val_each(&w, var->form);
}

/* Lists and dicts are copied, because those of the program may change again. */
static cq_status keep_leaf(cq_visit *w, cq_val v, cq_val *out)
{
    (void)w;
    *out = cq_val_retain(v);
    return CQ_OK;
}

static cq_status set_form(cq_guard *g, cq_state_var *var, cq_val form)
{
    cq_visit  w = cq_eval_visit(g->ev, NULL);
    cq_status status;

    w.map  = keep_leaf;
    status = cq_val_map(&w, cq_guard_old(g, form), &form);
    cq_visit_clear(&w);
    CQ_TRY(status);
    cq_val_release(var->form);
    var->form = form;
    return find_leaves(g, var);
}

/* ---- after the call ---- */

/* A tensor of zeros with the sizes of t on the example. */
static cq_status zeros_like(const cq_tensor *t, bool empty, cq_tensor **out)
{
    int64_t sizes[CQ_MAX_RANK];

    for (size_t i = 0; i < t->rank; i++)
        sizes[i] = i == 0 && empty ? 0 : t->sizes[i].value;
    CQ_TRY(cq_tensor_new_uninit(out, t->dtype, t->rank, sizes));
    memset(cq_tensor_bytes(*out), 0, (size_t)cq_tensor_numel(*out) * cq_dtype_size(t->dtype));
    return CQ_OK;
}

/* Makes the variable optional: it was None before or after the call. */
static cq_status make_optional(cq_script_state *state, cq_guard *g, cq_state_var *var, cq_val now)
{
    const bool is_there = var->form.kind != CQ_VAL_NONE;
    cq_tensor *zeros;
    char       name[560];
    cq_status  status;

    if (var->has || (!is_there && now.kind != CQ_VAL_TENSOR) ||
        (is_there && var->form.kind != CQ_VAL_TENSOR)) {
        var->lost = "it changes its type";
        return CQ_OK;
    }
    if (!is_there) {
        CQ_TRY(zeros_like(now.u.tensor, false, &zeros));
        status = set_form(g, var, cq_val_of_tensor(zeros));
        cq_tensor_release(zeros);
        CQ_TRY(status);
    }
    var->has = cq_zalloc(sizeof *var->has);
    if (!var->has)
        return CQ_E_NO_MEMORY;
    snprintf(name, sizeof name, "%s.has_value", var->path);
    var->has->kind   = CQ_VAL_BOOL;
    var->has->name   = cq_name(g->ev->program, name);
    state->unsettled = true;
    return cq_tensor_new(&var->has->initial, CQ_DTYPE_BOOL, 0, NULL, &(uint8_t){ is_there });
}

/* An axis whose size differs after the call is dynamic. It is named after an input size that it
 * always equals, such as the batch. */
static cq_status open_axes(cq_script_state *state, cq_guard *g, cq_state_leaf *leaf,
                           const cq_tensor *now)
{
    for (size_t i = 0; i < now->rank; i++) {
        const cq_int   size = now->sizes[i];
        const cq_atom *atom = cq_int_symbol(size);
        const bool     same = size.value == leaf->initial->sizes[i].value;
        char           name[600];

        if (leaf->axes[i] || (!size.expr && same))
            continue;
        snprintf(name, sizeof name, "state.%.500s_%zu", leaf->name, i);
        leaf->axes[i] =
            cq_name(g->ev->program, atom && same && atom->axis >= 0 ? size.expr->text : name);
        state->unsettled = true;
    }
    return CQ_OK;
}

typedef struct finish {
    cq_script_state *state;
    cq_guard        *g;
    cq_state_var    *var;
    size_t           leaf;
} finish;

static cq_status give(cq_eval *ev, const cq_state_leaf *leaf, cq_tensor *t)
{
    char name[600];

    if (t->dtype != leaf->initial->dtype)
        t = CQ_OP(ev->cx, "aten::to.dtype", TENSOR(t), DTYPE(leaf->initial->dtype));
    snprintf(name, sizeof name, "state.%.500s_out", leaf->name);
    if (t)
        cq_as_output(ev->cx, name, t);
    return ev->cx->status;
}

/* An empty tensor may have any shape: it gets the shape of the new tensor, with an empty axis. */
static cq_status reshape_empty(finish *f, cq_state_leaf *leaf, const cq_tensor *now)
{
    cq_tensor *empty;
    cq_status  status;

    CQ_TRY(zeros_like(now, true, &empty));
    status              = set_form(f->g, f->var, cq_val_of_tensor(empty));
    f->state->unsettled = true;
    if (status == CQ_OK)
        status = open_axes(f->state, f->g, &f->var->leaves.items[leaf - f->var->leaves.items], now);
    cq_tensor_release(empty);
    return status;
}

static cq_status finish_tensor(finish *f, cq_state_leaf *leaf, cq_tensor *now)
{
    if (now->rank != leaf->initial->rank && f->g->ev->capture && now->rank &&
        cq_tensor_numel(leaf->initial) == 0 && f->var->form.kind == CQ_VAL_TENSOR)
        return reshape_empty(f, leaf, now);
    if (now->rank != leaf->initial->rank || now->dtype != leaf->initial->dtype) {
        f->var->lost = now->dtype != leaf->initial->dtype ? "its dtype changes"
                                                          : "its number of dimensions changes";
        return CQ_OK;
    }
    if (f->g->ev->capture)
        CQ_TRY(open_axes(f->state, f->g, leaf, now));
    return f->state->is_exposed ? give(f->g->ev, leaf, now) : CQ_OK;
}

static cq_status finish_leaf(cq_visit *w, cq_val v)
{
    finish        *f    = w->user;
    cq_state_leaf *leaf = f->leaf < f->var->leaves.n ? &f->var->leaves.items[f->leaf++] : NULL;
    cq_tensor     *t;

    if (f->var->lost)
        return CQ_OK;
    if (!leaf || leaf->kind != v.kind) {
        f->var->lost = "it changes its type or length";
        return CQ_OK;
    }
    if (v.kind == CQ_VAL_TENSOR)
        return finish_tensor(f, leaf, v.u.tensor);
    if (!f->state->is_exposed)
        return CQ_OK;
    CQ_TRY(cq_eval_as_tensor(f->g->ev, v, &t));
    return give(f->g->ev, leaf, t);
}

/* Replaces an optional by its placeholder and adds the output that states whether it has a
 * value. */
static cq_status finish_optional(finish *f, cq_val *now)
{
    cq_eval   *ev  = f->g->ev;
    cq_object *opt = cq_object_as(*now, CQ_OBJECT_OPTIONAL);
    cq_val     has = cq_val_of_bool(now->kind != CQ_VAL_NONE);
    cq_tensor *t;

    if (opt)
        has.u.b.origin = opt->has;
    *now = cq_val_unwrap(*now);
    if (now->kind == CQ_VAL_NONE)
        *now = cq_val_of_tensor(f->var->leaves.items[0].initial);
    if (!f->state->is_exposed)
        return CQ_OK;
    CQ_TRY(cq_eval_as_tensor(ev, has, &t));
    return give(ev, f->var->has, t);
}

static cq_status finish_var(cq_script_state *state, cq_guard *g, cq_state_var *var)
{
    finish   f   = { .state = state, .g = g, .var = var };
    cq_val   now = var->object->attributes.items[var->index].value;
    cq_visit w   = cq_eval_visit(g->ev, &f);

    if (var->lost)
        return CQ_OK;
    if (!var->has && (now.kind == CQ_VAL_NONE) != (var->form.kind == CQ_VAL_NONE) && g->ev->capture)
        return make_optional(state, g, var, cq_val_unwrap(now));
    if (!var->has && cq_object_as(now, CQ_OBJECT_OPTIONAL) && g->ev->capture)
        return make_optional(state, g, var, cq_val_unwrap(now));
    if (var->has)
        CQ_TRY(finish_optional(&f, &now));
    w.each = finish_leaf;
    CQ_TRY(cq_val_each(&w, now));
    if (f.leaf != var->leaves.n && !state->unsettled)
        var->lost = "it changes its type or length";
    return CQ_OK;
}

/* Whether the old value was read. The graph does not record reads of numbers, so numbers count as
 * read. */
static bool was_read(const cq_guard *g, cq_val old)
{
    return old.kind != CQ_VAL_TENSOR || cq_is_tracked(&g->ev->capture->tracks, old.u.tensor);
}

/* Whether an earlier variable is the same tensor, which was changed in-place. */
static bool is_alias(const cq_script_state *state, const cq_guard_slot *p)
{
    const cq_val now = p->object->attributes.items[p->index].value;

    for (size_t i = 0; i < state->vars.n && p->old.kind == CQ_VAL_TENSOR; i++) {
        const cq_state_var *v = &state->vars.items[i];

        if (v->form.kind == CQ_VAL_TENSOR && v->form.u.tensor == p->old.u.tensor &&
            now.kind == CQ_VAL_TENSOR &&
            now.u.tensor == v->object->attributes.items[v->index].value.u.tensor)
            return true;
    }
    return false;
}

/* Adds a variable in the order of the module tree. */
static cq_status add_var(cq_script_state *state, cq_guard *g, const cq_guard_slot *p, size_t at,
                         bool is_read)
{
    cq_state_var var = {
        .path = p->path, .object = p->object, .index = p->index, .form = CQ_NONE, .is_read = is_read
    };
    cq_status status = set_form(g, &var, p->old);

    if (status == CQ_OK)
        status = cq_vec_push(&state->vars, var);
    if (status != CQ_OK) {
        var_clear(&var);
        return status;
    }
    memmove(&state->vars.items[at + 1], &state->vars.items[at],
            (state->vars.n - 1 - at) * sizeof var);
    state->vars.items[at] = var;
    state->unsettled      = true;
    return CQ_OK;
}

static cq_status find_vars(cq_script_state *state, cq_guard *g)
{
    size_t at = 0;

    for (size_t i = 0; i < g->slots.n; i++) {
        const cq_guard_slot *p       = &g->slots.items[i];
        const bool           is_read = was_read(g, p->old); /* is_changed reads the value */
        bool                 changed;

        if (var_at(state, p)) {
            at++;
            continue;
        }
        CQ_TRY(cq_guard_is_changed(g, p, &changed));
        if (changed && !is_alias(state, p))
            CQ_TRY(add_var(state, g, p, at++, is_read));
    }
    return CQ_OK;
}

/* ---- arguments ---- */

cq_status cq_state_add_argument(cq_script_state *state, cq_eval *ev, cq_val v)
{
    const size_t       i = state->n_arguments++;
    cq_state_argument *a;

    if (i == state->arguments.n)
        CQ_TRY(cq_vec_push(&state->arguments, (cq_state_argument){ .t = NULL }));
    a    = &state->arguments.items[i];
    a->t = v.kind == CQ_VAL_TENSOR ? v.u.tensor : NULL;
    if (ev->capture && i < ev->capture->graph->top->params.n)
        a->name = cq_name(ev->program, ev->capture->graph->top->params.items[i]->name);
    return CQ_OK;
}

static cq_status finish_arguments(cq_script_state *state, cq_guard *g)
{
    cq_ctx *cx = g->ev->cx;
    char    name[600];

    for (size_t i = 0; i < state->n_arguments; i++) {
        cq_state_argument *a = &state->arguments.items[i];

        if (g->ev->capture)
            a->is_changed = a->t && cq_track_is_written(&g->ev->capture->tracks, a->t);
        if (!a->is_changed || !state->is_exposed || !a->t)
            continue;
        snprintf(name, sizeof name, "state.%.500s_out", a->name);
        cq_as_output(cx, name, a->t);
    }
    return cx->status;
}

/* ---- entry points ---- */

static size_t n_lost(const cq_script_state *state)
{
    size_t n = 0;

    for (size_t i = 0; i < state->vars.n; i++)
        n += state->vars.items[i].lost != NULL;
    return n;
}

cq_status cq_state_finish(cq_script_state *state, cq_guard *g)
{
    const size_t lost = n_lost(state);

    if (g->ev->capture) {
        state->unsettled = false;
        CQ_TRY(find_vars(state, g));
    }
    CQ_TRY(finish_arguments(state, g));
    for (size_t i = 0; i < state->vars.n; i++)
        CQ_TRY(finish_var(state, g, &state->vars.items[i]));
    state->unsettled |= n_lost(state) != lost; /* the next capture keeps these variables as they
                                                * are */
    return g->ev->cx->status;
}

void cq_state_add_name(cq_str *names, const char *name)
{
    cq_str_printf(names, "%s%s", names->len ? ", " : "", name);
}

void cq_state_warn_of(const char *who, cq_str *weights, cq_str *inputs)
{
    if (weights->len)
        cq_warn(NULL,
                "%s changes %s, and every run of the export begins with the values in the file;  "
                "use --state to make it an input and output",
                who, weights->text);
    if (inputs->len)
        cq_warn(NULL,
                "%s changes its input %s, which the export ignores; use --state to return it "
                "of it",
                who, inputs->text);
    cq_str_clear(weights);
    cq_str_clear(inputs);
}

void cq_script_state_warn(const cq_script_state *state)
{
    cq_str changed = { 0 }, arguments = { 0 };
    bool   is_read = false;

    /* State that is only written is irrelevant. If some state is read, the rest may be read after
     * the first call. */
    for (size_t i = 0; i < state->vars.n; i++)
        is_read |= state->vars.items[i].is_read;
    for (size_t i = 0; i < state->vars.n; i++) {
        const cq_state_var *v = &state->vars.items[i];

        if (state->is_exposed && v->lost)
            cq_warn(v->path,
                    "forward changes it, but it cannot be an input (%s): it stays what the first "
                    "call finds",
                    v->lost);
        else if (!state->is_exposed && is_read && !state->quiet)
            cq_state_add_name(&changed, v->path);
    }
    for (size_t i = 0; i < state->n_arguments && !state->is_exposed; i++)
        if (state->arguments.items[i].is_changed)
            cq_state_add_name(&arguments, state->arguments.items[i].name);
    cq_state_warn_of("forward", &changed, &arguments);
}
