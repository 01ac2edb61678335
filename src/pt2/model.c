/* Calling a program: its weights and the user's inputs go in, with the sizes that the file leaves
 * open as symbols; the user's outputs come out. */
#include "pt2/model.h"

#include "pt2/modules.h"
#include "script/builtins/builtin.h"

#include <stdio.h>

/* ---- opening ---- */

CQ_API bool cq_pt2_is_archive_file(const char *path)
{
    return cq_pt2_is_archive(path);
}

static cq_status load(cq_pt2 **out, cq_storage *bytes, const char *path, const char *entry)
{
    cq_pt2         *p = *out = cq_zalloc(sizeof *p);
    cq_pt2_archive *archive;
    cq_alloc_budget outer;
    cq_status       status;

    if (!p)
        return CQ_E_NO_MEMORY;
    outer = cq_alloc_set_budget((cq_alloc_budget){ .limit = cq_archive_max_bytes(bytes->size) });
    CQ_TRY_OR_DONE(cq_pt2_archive_open_bytes(&archive, bytes, path, entry));
    CQ_TRY_OR_DONE(cq_pt2_program_new(&p->program, archive));
    CQ_TRY_OR_DONE(cq_script_compile(&p->script, "", "<program>"));
    cq_script_set_file(p->script, bytes->size);
    CQ_TRY_OR_DONE(cq_pt2_make_examples(p));
    CQ_TRY_OR_DONE(cq_pt2_argument_tree(p->program, &p->arguments));
    CQ_TRY_OR_DONE(cq_pt2_result_tree(p->program, &p->results));
    CQ_TRY_OR_DONE(cq_pt2_read_guards(p));
    CQ_TRY_OR_DONE(cq_pt2_find_changes(p));
    status = cq_pt2_name_outputs(p);
done:
    cq_alloc_set_budget(outer);
    if (status != CQ_OK) {
        cq_pt2_free(p);
        *out = NULL;
    }
    return status;
}

CQ_API cq_status cq_pt2_load(cq_pt2 **out, const char *path, const char *entry)
{
    cq_storage *bytes;
    cq_status   status;

    CQ_NEED_OUT(out, path);
    *out = NULL;
    CQ_TRY(cq_storage_open(&bytes, path));
    status = load(out, bytes, path, entry);
    cq_storage_release(bytes);
    return status;
}

CQ_API cq_status cq_pt2_load_bytes(cq_pt2 **out, const void *data, size_t size, const char *name,
                                   const char *entry, void (*release)(void *user), void *user)
{
    cq_storage *bytes;
    cq_status   status;

    CQ_NEED_OUT(out, data);
    *out = NULL;
    CQ_TRY(cq_storage_wrap(&bytes, (void *)data, size, true, release, user));
    status = load(out, bytes, name ? name : "<bytes>", entry);
    cq_storage_release(bytes);
    return status;
}

CQ_API cq_status cq_pt2_set_tensor(cq_pt2 *p, const char *name, cq_tensor *t)
{
    CQ_NEED(p && name && t);
    cq_pt2_archive *a  = p->program->archive;
    cq_map         *to = cq_map_has(&a->weights, name) ? &a->weights : &a->constants;

    if (!cq_map_has(to, name))
        return cq_fail(CQ_E_NOT_FOUND, name, NULL, "the program has no weight of that name");
    CQ_TRY(cq_vec_reserve(&a->tensors, a->tensors.n + 1));
    CQ_TRY(cq_map_set(to, name, t));
    a->tensors.items[a->tensors.n++] = cq_tensor_retain(t);
    return CQ_OK;
}

CQ_API void cq_pt2_free(cq_pt2 *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->examples.n; i++)
        cq_tensor_release(p->examples.items[i]);
    cq_vec_clear(&p->examples);
    cq_vec_clear(&p->user);
    cq_vec_clear(&p->output_names);
    cq_vec_clear(&p->output_paths);
    cq_vec_clear(&p->changed);
    cq_vec_clear(&p->input_names);
    cq_vec_clear(&p->shown);
    cq_vec_clear(&p->guards);
    cq_vec_clear(&p->is_state);
    cq_vec_clear(&p->larger);
    cq_map_clear(&p->sized);
    cq_map_clear(&p->taken);
    cq_map_clear(&p->changed_names);
    cq_script_free(p->script);
    cq_pt2_program_free(p->program);
    cq_free(p);
}

CQ_API cq_status cq_pt2_define(cq_pt2 *p, const char *source, const char *name)
{
    CQ_NEED(p);
    return cq_script_define(p->script, source, name);
}

CQ_API void cq_pt2_set_limits(cq_pt2 *p, uint64_t max_steps, uint64_t max_bytes)
{
    CQ_NEED_ELSE(p, );
    cq_script_set_limits(p->script, max_steps, max_bytes);
}

/* ---- inputs ---- */

CQ_API size_t cq_pt2_n_inputs(const cq_pt2 *p)
{
    CQ_NEED_ELSE(p, 0);
    return p->user.n;
}

CQ_API const char *cq_pt2_input_name(const cq_pt2 *p, size_t i)
{
    const cq_pt2_graph *g;

    CQ_NEED_ELSE(p, NULL);
    if (i < p->input_names.n)
        return p->input_names.items[i];
    g = p->program->graph;
    return i < p->user.n ? g->slots[g->inputs[p->user.items[i]].u.slot] : NULL;
}

CQ_API cq_status cq_pt2_example_input(cq_tensor **out, const cq_pt2 *p, size_t i)
{
    CQ_NEED_OUT(out, p);
    if (i >= p->examples.n)
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL, "the program has %zu inputs, not %zu",
                       p->examples.n, i + 1);
    *out = cq_tensor_retain(p->examples.items[i]);
    return CQ_OK;
}

static cq_tensor *weight_of(const cq_pt2 *p, size_t input)
{
    const cq_pt2_archive *a    = p->program->archive;
    const cq_pt2_port    *port = &p->program->inputs[input];
    const cq_map         *home = port->role == CQ_PT2_CONSTANT ? &a->constants : &a->weights;
    cq_tensor            *t    = cq_map_get(home, port->name);

    if (port->role != CQ_PT2_PARAMETER && port->role != CQ_PT2_BUFFER &&
        port->role != CQ_PT2_CONSTANT)
        return NULL;
    return t ? t : cq_map_get(home == &a->weights ? &a->constants : &a->weights, port->name);
}

/* The next tensor that is inside of a tensor subclass, as NAME.ATTRIBUTE, from entry *at on. */
static const cq_map_entry *inner_of(const cq_pt2 *p, size_t input, size_t *at)
{
    const cq_map *weights = &p->program->archive->weights;
    const char   *name    = p->program->inputs[input].name;
    const size_t  len     = name ? strlen(name) : 0;

    while (len && *at < weights->n) {
        const cq_map_entry *e = &weights->entries[(*at)++];

        if (strncmp(e->key, name, len) == 0 && e->key[len] == '.')
            return e;
    }
    return NULL;
}

static bool is_subclass(const cq_pt2 *p, size_t input)
{
    return inner_of(p, input, &(size_t){ 0 }) != NULL;
}

cq_status cq_pt2_each_weight(cq_pt2 *p, cq_pt2_weight_fn fn, void *user)
{
    for (size_t i = 0; i < p->program->graph->n_inputs; i++) {
        cq_tensor          *t            = weight_of(p, i);
        const bool          is_parameter = p->program->inputs[i].role == CQ_PT2_PARAMETER;
        const cq_map_entry *inner;
        size_t              at = 0;

        if (t)
            CQ_TRY(fn(user, p->program->inputs[i].name, t, is_parameter));
        while (!t && is_parameter && (inner = inner_of(p, i, &at)))
            CQ_TRY(fn(user, inner->key, inner->value, is_parameter));
    }
    return CQ_OK;
}

/* ---- a call ---- */

typedef struct call {
    cq_pt2           *model;
    cq_pt2_run        run;
    cq_port          *port;
    cq_tensor *const *inputs; /* one per user input */
    const char      **names;  /* of a capture, theirs */
    cq_pt2_asserted   asserted;
    size_t            n_states; /* so far */
    cq_arena         *arena;    /* of the call */
    cq_map            axes;     /* of a capture: symbols, to symbol_axes */
} call;

static const cq_pt2_meta *meta_of(const call *c, size_t i)
{
    const cq_pt2_graph *g = c->model->program->graph;

    return &g->metas[g->inputs[c->model->user.items[i]].u.slot];
}

/* Checks an input: rank, dtype, and fixed sizes. */
static cq_status check_input(const call *c, size_t i)
{
    const cq_pt2_meta *m    = meta_of(c, i);
    const cq_tensor   *t    = c->inputs[i];
    const char        *name = cq_pt2_input_name(c->model, i);

    if (m->dtype == CQ_DTYPE_NONE)
        return cq_tensor_numel(t) == 1
                   ? CQ_OK
                   : cq_fail(CQ_E_ARGUMENT, name, NULL, "it is a number, not a tensor");
    if (t->dtype != m->dtype)
        return cq_fail(CQ_E_ARGUMENT, name, NULL, "the program takes %s, got %s",
                       cq_dtype_name(m->dtype), cq_dtype_name(t->dtype));
    if (t->rank != m->rank)
        return cq_fail(CQ_E_ARGUMENT, name, NULL, "the program takes %zu dimension%s, got %u",
                       m->rank, m->rank == 1 ? "" : "s", t->rank);
    for (size_t k = 0; k < m->rank && c->names[i]; k++)
        if (!m->sizes[k].expr && c->port->ends->axis_name(c->port, c->names[i], m->rank, k))
            return cq_fail(CQ_E_ARGUMENT, name, "export the program again with a dynamic size",
                           "axis %zu cannot be dynamic: its size is fixed in the program", k);
    for (size_t k = 0; k < m->rank; k++)
        if (!m->sizes[k].expr && m->sizes[k].value != t->sizes[k].value)
            return cq_fail(CQ_E_ARGUMENT, name, "export the program again with a dynamic size",
                           "size %lld of axis %zu is fixed in the program, got %lld",
                           (long long)m->sizes[k].value, k, (long long)t->sizes[k].value);
    return CQ_OK;
}

static cq_int given_size(void *user, size_t input, size_t axis)
{
    const call *c = user;

    return input < c->model->user.n && axis < c->inputs[input]->rank
               ? cq_i(c->inputs[input]->sizes[axis].value)
               : cq_i(0);
}

/* Whether a size that the guard speaks of is 0 or 1, which PyTorch leaves out of its conditions as
 * it does of ranges. */
static bool is_small(const call *c, const char *side)
{
    size_t input, axis;

    for (const char *at = strchr(side, 'i'); at; at = strchr(at + 1, 'i'))
        if (sscanf(at, "i%zua%zu", &input, &axis) == 2 &&
            given_size((void *)c, input, axis).value < 2)
            return true;
    return false;
}

/* The program's own example holds by definition. */
static cq_status check_guards(call *c)
{
    const cq_pt2_guard *g =
        c->inputs == c->model->examples.items ? NULL : cq_pt2_broken_guard(c->model, given_size, c);
    char text[2][200];

    if (!g || is_small(c, g->left) || is_small(c, g->right))
        return CQ_OK;
    cq_pt2_show_side(c->model, g->left, text[0], sizeof text[0]);
    cq_pt2_show_side(c->model, g->right, text[1], sizeof text[1]);
    return cq_fail(CQ_E_ARGUMENT, c->model->program->archive->path,
                   "give inputs whose sizes fit together",
                   "the program was made for sizes with %s %s %s", text[0], g->relation, text[1]);
}

/* ---- symbols ---- */

/* PyTorch excludes 0 and 1 from ranges, because it would specialise for them; programs for larger
 * sizes usually support them, too. */
static cq_status check_range(const call *c, const char *symbol, int64_t value, const char *input)
{
    const cq_pt2_range *range = cq_map_get(&c->model->program->range_of, symbol);

    if (range && (value < range->min || value > range->max) && value > 1)
        return cq_fail(CQ_E_ARGUMENT, input, NULL,
                       "the size %lld is not one the program was made for: %lld to %lld",
                       (long long)value, (long long)range->min, (long long)range->max);
    return CQ_OK;
}

/* The axes of inputs that have a symbol for their size. It is a batch if it is the first size of
 * all inputs that have it, and they have more. */
typedef struct symbol_axes {
    const char *given, *usual; /* names, or NULL */
    bool        is_batch;
} symbol_axes;

static cq_status note_axis(call *c, size_t i, size_t k)
{
    const cq_pt2_meta *m = meta_of(c, i);
    symbol_axes       *axes;
    char               name[64];

    if (!m->sizes[k].expr || !cq_pt2_lone_symbol(m->sizes[k].expr, name, sizeof name))
        return CQ_OK;
    axes = cq_map_get(&c->axes, name);
    if (!axes) {
        axes = cq_arena_zalloc(c->arena, sizeof *axes);
        if (!axes)
            return CQ_E_NO_MEMORY;
        axes->is_batch = true;
        CQ_TRY(cq_map_set(&c->axes, name, axes));
    }
    if (!axes->given)
        axes->given = c->port->ends->axis_name(c->port, c->names[i], m->rank, k);
    if (!axes->usual)
        axes->usual = cq_pt2_deployed_axis(c->model, i, k);
    axes->is_batch &= k == 0 && m->rank > 1;
    return CQ_OK;
}

/* The name of the size in the graph: the user's, or `batch`, or the one in the file. */
static const char *display_name(call *c, const char *symbol)
{
    const cq_map      *taken = &c->run.ev->capture->graph->symbols.atoms;
    const symbol_axes *axes  = cq_map_get(&c->axes, symbol);

    if (!axes)
        return symbol;
    if (axes->given)
        return axes->given;
    if (axes->usual && !cq_map_has(taken, axes->usual))
        return axes->usual;
    return axes->is_batch && !cq_map_has(taken, "batch") ? "batch" : symbol;
}

static cq_status define_symbol(call *c, const char *expr, int64_t value, int axis,
                               const char *input)
{
    char   name[64];
    cq_int size = cq_i(value);

    if (!expr || !cq_pt2_lone_symbol(expr, name, sizeof name) || cq_pt2_symbol(&c->run, name))
        return CQ_OK;
    CQ_TRY(check_range(c, name, value, input));
    if (c->run.ev->capture && !c->port->is_static) {
        const char  *display = display_name(c, name);
        cq_pt2_shown shown;

        size = cq_symbol(c->run.ev->cx->symbols, display, value, NULL, axis);
        snprintf(shown.symbol, sizeof shown.symbol, "%s", name);
        snprintf(shown.name, sizeof shown.name, "%.63s", display);
        CQ_TRY(cq_vec_push(&c->model->shown, shown));
    }
    return cq_pt2_set_symbol(&c->run, name, size);
}

/* ---- symbols that no input has alone ---- */

/* An expression of one unknown symbol: its name, and its assumed value. */
typedef struct unknown {
    const call *c;
    char        name[64];
    int64_t     value;
    bool        others; /* there is a second one */
} unknown;

static bool try_symbol(void *user, const char *name, cq_int *out)
{
    unknown      *u     = user;
    const cq_int *known = cq_pt2_symbol(&u->c->run, name);

    if (!known && !u->name[0])
        snprintf(u->name, sizeof u->name, "%s", name);
    u->others |= !known && strcmp(name, u->name) != 0;
    *out = known ? cq_i(known->value) : cq_i(u->value);
    return true;
}

static bool value_at(const char *expr, unknown *u, int64_t symbol, int64_t *out)
{
    const cq_pt2_env env = { NULL, try_symbol, u };
    cq_int           size;

    u->value = symbol;
    if (!cq_pt2_expr(expr, &env, &size))
        return false;
    *out = size.value;
    return true;
}

/* If the size of the axis is a*s + b, the symbol s is (size - b) // a. So other sizes that are
 * made of s follow it. */
static cq_status solve(call *c, size_t i, size_t k)
{
    cq_symbols *table = c->run.ev->cx->symbols;
    const char *expr  = meta_of(c, i)->sizes[k].expr;
    unknown     u     = { .c = c };
    int64_t     at[3], a, again, value = c->inputs[i]->sizes[k].value;
    cq_int      size = cq_i(value);
    char        name[64];

    for (int n = 0; n < 3; n++)
        if (!value_at(expr, &u, n, &at[n]))
            return CQ_OK;
    if (!u.name[0] || u.others || __builtin_sub_overflow(at[1], at[0], &a) || a < 1 ||
        __builtin_sub_overflow(at[2], at[1], &again) || again != a)
        return CQ_OK;
    if (c->run.ev->capture && !c->port->is_static) {
        snprintf(name, sizeof name, "%.40s_%zu", c->names[i], k);
        size = cq_symbol(table, name, value, NULL, (int)k);
    }
    size = cq_int_floordiv(table, cq_int_sub(table, size, cq_i(at[0])), cq_i(a));
    return cq_pt2_set_symbol(&c->run, u.name, size);
}

static cq_status define_symbols(call *c)
{
    const cq_pt2_graph *g = c->model->program->graph;

    for (size_t i = 0; i < c->model->user.n && c->run.ev->capture; i++)
        for (size_t k = 0; k < meta_of(c, i)->rank; k++)
            CQ_TRY(note_axis(c, i, k));
    for (size_t i = 0; i < c->model->user.n; i++) {
        const cq_pt2_meta *m    = meta_of(c, i);
        const uint32_t     slot = g->inputs[c->model->user.items[i]].u.slot;

        CQ_TRY(check_input(c, i));
        for (size_t k = 0; m->dtype != CQ_DTYPE_NONE && k < m->rank; k++)
            CQ_TRY(define_symbol(c, m->sizes[k].expr, c->inputs[i]->sizes[k].value, (int)k,
                                 g->slots[slot]));
        if (m->dtype == CQ_DTYPE_NONE && g->numbers[slot].expr)
            CQ_TRY(define_symbol(c, g->numbers[slot].expr, cq_tensor_get_i64(c->inputs[i], 0), -1,
                                 g->slots[slot]));
    }
    for (size_t i = 0; i < c->model->user.n; i++)
        for (size_t k = 0; k < meta_of(c, i)->rank && meta_of(c, i)->dtype != CQ_DTYPE_NONE; k++)
            if (meta_of(c, i)->sizes[k].expr)
                CQ_TRY(solve(c, i, k));
    return CQ_OK;
}

static bool known_symbol(void *run, const char *name, cq_int *out)
{
    const cq_int *known = cq_pt2_symbol(run, name);

    if (known)
        *out = *known;
    return known != NULL;
}

/* ---- values of the inputs ---- */

/* Sizes that are expressions of a symbol that no input has alone become new symbols. */
static cq_tensor *graph_input(call *c, size_t i)
{
    const cq_pt2_env   env     = { c->run.ev->cx->symbols, known_symbol, &c->run };
    const cq_pt2_meta *m       = meta_of(c, i);
    cq_tensor         *example = c->inputs[i];
    cq_int             sizes[CQ_MAX_RANK];

    for (size_t k = 0; k < example->rank; k++) {
        const int64_t value = example->sizes[k].value;
        char          name[64];

        sizes[k] = cq_i(value);
        if (k >= m->rank || !m->sizes[k].expr || c->port->is_static)
            continue;
        snprintf(name, sizeof name, "%.40s_%zu", c->names[i], k);
        /* The size that a symbol was solved from (4*n) is where a run finds it. */
        if (!cq_pt2_expr(m->sizes[k].expr, &env, &sizes[k]) ||
            (!cq_int_symbol(sizes[k]) && cq_map_has(&c->run.ev->cx->symbols->atoms, name)))
            sizes[k] = cq_symbol(c->run.ev->cx->symbols, name, value, NULL, (int)k);
    }
    return cq_capture_sized_input(c->run.ev->capture, c->run.ev->cx, example, c->names[i], sizes);
}

/* A number of the user's: of a capture, the symbol that was defined for it. */
static cq_status number_value(call *c, size_t i, cq_tensor *t, cq_val *out)
{
    const cq_pt2_graph *g    = c->model->program->graph;
    const uint32_t      slot = g->inputs[c->model->user.items[i]].u.slot;
    char                name[64];
    cq_int             *known = NULL;

    if (g->numbers[slot].expr && cq_pt2_lone_symbol(g->numbers[slot].expr, name, sizeof name))
        known = cq_pt2_symbol(&c->run, name);
    if (known && c->run.ev->capture) {
        cq_atom *atom = (cq_atom *)cq_int_symbol(*known);

        if (atom && !atom->origin) {
            atom->origin = cq_capture_value(c->run.ev->capture, c->run.ev->cx, t);
            atom->axis   = -1;
        }
        *out = cq_val_of_int(*known);
        return CQ_OK;
    }
    return CQ_CALL(c->run.ev, out, "aten::item", TENSOR(t));
}

static cq_status user_value(call *c, size_t i, cq_val *out)
{
    cq_tensor *t =
        c->run.ev->capture ? graph_input(c, i) : c->port->ends->input(c->port, c->inputs[i], NULL);

    if (!t)
        return c->run.ev->cx->status;
    *out = cq_val_of_tensor(t);
    return meta_of(c, i)->dtype == CQ_DTYPE_NONE ? number_value(c, i, t, out) : CQ_OK;
}

/* A run works on copies of the weights that it may change: the originals are kept for the next
 * run. */
static cq_status weight_value(call *c, size_t input, cq_val *out)
{
    cq_tensor *t = weight_of(c->model, input);

    if (t && c->port->keep_state && c->model->is_state.items[input])
        return cq_pt2_state_value(c->model, c->run.ev, c->port, input, t, &c->n_states, out);
    *out = cq_val_of_tensor(t);
    if (t && !c->run.ev->capture && c->model->program->inputs[input].role != CQ_PT2_PARAMETER)
        *out = cq_val_of_tensor(cq_clone(c->run.ev->cx, t));
    return c->run.ev->cx->status;
}

/* Inputs of the user come before state, in a graph as in a run. */
static cq_status collect(call *c, cq_val *args)
{
    const cq_pt2_graph *g    = c->model->program->graph;
    size_t              next = 0;

    for (size_t i = 0; i < c->model->user.n; i++)
        CQ_TRY(user_value(c, i, &args[c->model->user.items[i]]));
    for (size_t i = 0; i < g->n_inputs; i++) {
        bool is_user = next < c->model->user.n && c->model->user.items[next] == i;

        if (!is_user) {
            args[i] = CQ_NONE;
            CQ_TRY(weight_value(c, i, &args[i]));
        }
        if (!is_user && args[i].kind == CQ_VAL_NONE && g->inputs[i].kind == CQ_PT2_SLOT &&
            weight_of(c->model, i) == NULL && c->model->program->inputs[i].role != CQ_PT2_OTHER &&
            !is_subclass(c->model, i))
            return cq_fail(CQ_E_FORMAT, c->model->program->archive->path, NULL,
                           "the archive has no weight %s", c->model->program->inputs[i].name);
        next += is_user;
    }
    return CQ_OK;
}

/* ---- outputs ---- */

static cq_status give(cq_visit *w, cq_val v)
{
    const call *c = w->user;
    cq_tensor  *t;

    if (v.kind == CQ_VAL_NONE)
        return CQ_OK;
    if (v.kind != CQ_VAL_TENSOR && (!cq_val_is_number(v) || v.kind == CQ_VAL_COMPLEX))
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "a model cannot return %s",
                       cq_eval_type_name(v));
    CQ_TRY(cq_eval_as_tensor(c->run.ev, v, &t));
    if (v.kind == CQ_VAL_FLOAT && t->dtype != CQ_DTYPE_F32) /* as for numbers of TorchScript */
        t = CQ_OP(c->run.ev->cx, "aten::to.dtype", TENSOR(t), DTYPE(CQ_DTYPE_F32));
    return t ? c->port->ends->output(c->port, t) : c->run.ev->cx->status;
}

static cq_status give_extra(call *c, const char *name, cq_val v)
{
    cq_tensor *t;

    CQ_TRY(cq_eval_as_tensor(c->run.ev, v, &t));
    return c->port->ends->extra(c->port, name, t);
}

/* The new values of mutated inputs and buffers: those that the program returns, and those that
 * operators changed in place. */
static cq_status give_changed(call *c, const cq_val *args, const cq_val *results)
{
    const cq_pt2_program *p = c->model->program;

    for (size_t i = 0; i < p->graph->n_outputs; i++) {
        const char *name = p->outputs[i].role == CQ_PT2_MUTATION
                               ? cq_pt2_changed_name(c->model, p->outputs[i].name)
                               : "";

        if (!name)
            return CQ_E_NO_MEMORY;
        if (name[0])
            CQ_TRY(give_extra(c, name, results[i]));
    }
    for (size_t i = 0; i < c->model->changed.n; i++) {
        const uint32_t at   = c->model->changed.items[i];
        const char    *own  = p->inputs[at].role == CQ_PT2_USER
                                  ? p->graph->slots[p->graph->inputs[at].u.slot]
                                  : p->inputs[at].name;
        const char    *name = cq_pt2_changed_name(c->model, own);

        if (!name)
            return CQ_E_NO_MEMORY;
        CQ_TRY(give_extra(c, name, args[at]));
    }
    return CQ_OK;
}

static cq_status give_asserted(call *c)
{
    char name[32];

    for (size_t i = 0; i < c->asserted.n; i++) {
        snprintf(name, sizeof name, "assert_%zu", i);
        CQ_TRY(c->port->ends->extra(c->port, name, c->asserted.items[i]));
    }
    return CQ_OK;
}

/* The user's outputs, then the requested extra ones. */
static cq_status give_all(call *c, const cq_val *args, const cq_val *results)
{
    const cq_pt2_program *p = c->model->program;

    for (size_t i = 0; i < p->graph->n_outputs; i++)
        if (p->outputs[i].role == CQ_PT2_USER)
            CQ_TRY(cq_val_each(&(cq_visit){ .each = give, .user = c }, results[i]));
    if (c->port->keep_mutations && !c->port->keep_state)
        CQ_TRY(give_changed(c, args, results));
    return give_asserted(c);
}

/* ---- all of it ---- */

/* The arguments of the graph, and room for its results. */
static cq_status take_arguments(call *c, cq_val **args, cq_val **results)
{
    const cq_pt2_graph *g = c->model->program->graph;

    c->arena = cq_arena_new();
    if (!c->arena)
        return CQ_E_NO_MEMORY;
    *args    = cq_arena_array(c->arena, g->n_inputs, sizeof **args);
    *results = cq_arena_array(c->arena, g->n_outputs, sizeof **results);
    c->names = cq_arena_array(c->arena, c->model->user.n, sizeof *c->names);
    if (!*args || !*results || !c->names)
        return CQ_E_NO_MEMORY;
    for (size_t i = 0; i < c->model->user.n && c->run.ev->capture; i++)
        c->names[i] = c->port->ends->next_name(c->port, cq_pt2_input_name(c->model, i));
    CQ_TRY(define_symbols(c));
    CQ_TRY(check_guards(c));
    return collect(c, *args);
}

static void call_clear(call *c)
{
    cq_map_clear(&c->axes);
    cq_arena_free(c->arena);
    cq_pt2_run_clear(&c->run);
    for (size_t i = 0; i < c->asserted.n; i++)
        cq_tensor_release(c->asserted.items[i]);
    cq_vec_clear(&c->asserted);
}

cq_status cq_pt2_call_through(cq_ctx *cx, cq_pt2 *p, cq_tensor *const *inputs, size_t n_inputs,
                              cq_port *port)
{
    const cq_pt2_graph *g       = p->program->graph;
    cq_eval             ev      = { .cx      = cx,
                                    .program = p->script->program,
                                    .dialect = CQ_DIALECT_EXPORTED,
                                    .capture = cq_capture_of(cx),
                                    .port    = port };
    cq_pt2_modules      modules = { .n = 0 };
    call                c       = { .model = p, .port = port };
    double              bytes   = 0;
    cq_val             *args, *results;
    cq_script_limits    before;
    cq_status           status;

    if (n_inputs && n_inputs != p->user.n)
        return cq_fail(CQ_E_ARGUMENT, p->program->archive->path, NULL,
                       "the program takes %zu inputs, got %zu", p->user.n, n_inputs);
    if (ev.capture)
        p->shown.n = 0;
    c.inputs      = n_inputs ? inputs : p->examples.items;
    c.run.program = p->program;
    c.run.ev      = &ev;
    c.run.modules = &modules;
    if (port->keep_asserts && ev.capture)
        c.run.asserted = &c.asserted;
    for (size_t i = 0; i < p->user.n; i++)
        bytes += c.inputs[i] ? cq_tensor_given_bytes(c.inputs[i]) : 0;
    before = cq_script_begin(&ev, p->script, bytes);
    CQ_TRY_OR_DONE(take_arguments(&c, &args, &results));
    CQ_TRY_OR_DONE(cq_pt2_run_graph(&c.run, g, args, g->n_inputs, results));
    CQ_TRY_OR_DONE(cq_pt2_leave_modules(&c.run));
    CQ_TRY_OR_DONE(give_all(&c, args, results));
    status = cq_pt2_finish_state(p, &ev, port, args, results);
done:
    call_clear(&c);
    return cq_script_end(&ev, p->script, &before, status);
}
