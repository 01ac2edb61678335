/* Compares the gradients in test data with finite differences. L is the sum of outputs times their
 * given gradients. All parameters are moved a little at once, each in a random direction, forward
 * and backward; half the difference of L must match the gradients. If not, each parameter is moved
 * alone to find the wrong one. In float64 the steps can be so small that higher-order terms and
 * most kinks do not matter. */
#include "runtime/gradients.h"

#include "base/path.h"
#include "base/str.h"
#include "base/warn.h"
#include "onnx/tensor.h"
#include "onnx/file/wire.h"
#include "runtime/value.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define STEP         1e-6 /* relative to the norm of the parameter */
#define N_DIRECTIONS 2
#define ALL          SIZE_MAX /* all parameters at once */
#define SLACK        3        /* gradients of float32 are less accurate than results */

/* A parameter with its gradient, and its direction. */
typedef struct param {
    const char *name; /* of the model */
    size_t      input;
    cq_tensor  *value, *gradient, *moved; /* of float64, contiguous */
    double      step;
} param;

typedef struct check {
    cq_onnx_model *m; /* of float64, with parameters as inputs */
    cq_session    *session;
    const char    *set;
    CQ_VEC(param) params;
    CQ_VEC(cq_onnx_value *) inputs; /* of the session; parameters are set for a run */
    CQ_VEC(cq_tensor *) seeds;      /* gradients of the outputs; NULL: ones */
    double rtol;
} check;

static double *numbers(const cq_tensor *t)
{
    return (double *)cq_tensor_data((cq_tensor *)t);
}

static size_t numel(const cq_tensor *t)
{
    return (size_t)cq_tensor_numel(t);
}

/* ---- files ---- */

/* Loads a tensor of a file as float64, and its name in the file; m owns both. */
static cq_status load(cq_tensor **out, const char **name, cq_onnx_model *m, const char *path)
{
    cq_mapping     *file    = NULL;
    cq_onnx_model  *own     = NULL;
    cq_onnx_tensor *message = NULL;
    cq_tensor      *t       = NULL;
    cq_status       status;

    *out = NULL;
    CQ_TRY_OR_DONE(cq_mapping_open(&file, path));
    CQ_TRY_OR_DONE(cq_onnx_model_new(&own, "file"));
    CQ_TRY_OR_DONE(cq_storage_map(&own->source, file, 0, cq_mapping_size(file)));
    message = cq_onnx_alloc(own, sizeof *message);
    CQ_TRY_OR_DONE(own->status);
    CQ_TRY_OR_DONE(cq_onnx_decode(own, &cq_onnx_tensor_message, message, cq_mapping_data(file),
                                  cq_mapping_size(file), path));
    CQ_TRY_OR_DONE(cq_onnx_tensor_to_tensor(&t, own, message));
    CQ_TRY_OR_DONE(cq_tensor_clone(out, t, CQ_DTYPE_F64));
    *name = cq_arena_strdup(m->arena, message->name ? message->name : "");
    if (!*name)
        status = CQ_E_NO_MEMORY;
done:
    cq_tensor_release(t);
    cq_onnx_model_free(own);
    cq_mapping_release(file);
    return status;
}

static bool same_sizes(const cq_tensor *a, const cq_tensor *b)
{
    bool same = cq_tensor_rank(a) == cq_tensor_rank(b);

    for (size_t i = 0; same && i < cq_tensor_rank(a); i++)
        same = cq_tensor_size(a, i) == cq_tensor_size(b, i);
    return same;
}

/* Whether b is the transpose of a. An export that transposes a weight keeps its name. */
static bool are_transposed(const cq_tensor *a, const cq_tensor *b)
{
    return cq_tensor_rank(a) == 2 && cq_tensor_rank(b) == 2 &&
           cq_tensor_size(a, 0) == cq_tensor_size(b, 1) &&
           cq_tensor_size(a, 1) == cq_tensor_size(b, 0);
}

static cq_status transpose(cq_tensor **io)
{
    const size_t rows = (size_t)cq_tensor_size(*io, 0), columns = (size_t)cq_tensor_size(*io, 1);
    cq_tensor   *t;

    CQ_TRY(
        cq_tensor_new_uninit(&t, CQ_DTYPE_F64, 2, (int64_t[]){ (int64_t)columns, (int64_t)rows }));
    for (size_t i = 0; i < rows; i++)
        for (size_t k = 0; k < columns; k++)
            numbers(t)[k * rows + i] = numbers(*io)[i * columns + k];
    cq_tensor_release(*io);
    *io = t;
    return CQ_OK;
}

/* ---- parameters ---- */

/* Adds the parameter of that name. Parameters that the model lacks, or has in another shape, were
 * folded and are skipped. */
static cq_status find_param(check *c, const char *name, cq_tensor *gradient)
{
    const cq_onnx_graph *g      = c->m->graph;
    param                p      = { .name = name };
    cq_status            status = CQ_OK;

    for (size_t i = 0; i < g->initializer.n && !p.value; i++)
        if (g->initializer.items[i]->name && strcmp(g->initializer.items[i]->name, name) == 0 &&
            g->initializer.items[i]->data_type == CQ_ONNX_DOUBLE)
            CQ_TRY(cq_onnx_tensor_to_tensor(&p.value, c->m, g->initializer.items[i]));
    if (p.value && (same_sizes(p.value, gradient) || are_transposed(p.value, gradient))) {
        p.gradient = cq_tensor_retain(gradient);
        if (!same_sizes(p.value, gradient))
            status = transpose(&p.gradient);
        if (status == CQ_OK)
            status = cq_vec_push(&c->params, p);
        if (status == CQ_OK)
            return CQ_OK;
    }
    cq_tensor_release(p.value);
    cq_tensor_release(p.gradient);
    return status;
}

/* Removes a parameter from the initializers and makes it an input. */
static cq_status make_param_an_input(check *c, const param *p)
{
    cq_onnx_graph *g        = c->m->graph;
    bool           is_input = false;

    for (size_t i = 0; i < g->initializer.n; i++)
        if (g->initializer.items[i]->name && strcmp(g->initializer.items[i]->name, p->name) == 0) {
            memmove(&g->initializer.items[i], &g->initializer.items[i + 1],
                    (g->initializer.n - i - 1) * sizeof *g->initializer.items);
            g->initializer.n--;
        }
    for (size_t i = 0; i < g->input.n; i++)
        is_input |= g->input.items[i]->name && strcmp(g->input.items[i]->name, p->name) == 0;
    if (!is_input)
        cq_onnx_add_value(c->m, &g->input, p->name,
                          cq_onnx_type_new_tensor(c->m, CQ_ONNX_DOUBLE, 0, NULL));
    return c->m->status;
}

static cq_status open_params(check *c)
{
    for (size_t i = 0; i < c->params.n; i++)
        CQ_TRY(make_param_an_input(c, &c->params.items[i]));
    return CQ_OK;
}

static int by_number(const void *a, const void *b)
{
    const long x = *(const long *)a, y = *(const long *)b;

    return (x > y) - (x < y);
}

typedef CQ_VEC(long) param_numbers;

static cq_status add_param(void *user, const char *name)
{
    param_numbers *found = user;
    long           number;
    int            end = 0;

    if (sscanf(name, "gradient_%ld.pb%n", &number, &end) == 1 && end && !name[end])
        return cq_vec_push(found, number);
    return CQ_OK;
}

/* A parameter without a gradient leaves a gap in the numbering of the files. */
static cq_status read_params(check *c)
{
    param_numbers found = { 0 };
    bool          opened;
    cq_status     status = cq_folder_each(c->set, add_param, &found, &opened);

    if (!opened)
        status = CQ_OK;
    if (found.n)
        qsort(found.items, found.n, sizeof *found.items, by_number);
    for (size_t i = 0; i < found.n && status == CQ_OK; i++) {
        cq_str      path = { 0 };
        cq_tensor  *gradient;
        const char *name;

        cq_str_printf(&path, "%s/gradient_%ld.pb", c->set, found.items[i]);
        status =
            path.status == CQ_OK ? load(&gradient, &name, c->m, cq_str_text(&path)) : path.status;
        cq_str_clear(&path);
        if (status != CQ_OK)
            break;
        status = find_param(c, name, gradient);
        cq_tensor_release(gradient);
    }
    cq_vec_clear(&found);
    return status;
}

/* ---- copies ---- */

/* Moments of a tensor, which are the same for its transposed copy. */
typedef struct moments {
    size_t n;
    double first, second;
} moments;

static moments moments_of(const cq_tensor *t)
{
    moments m = { .n = numel(t) };

    for (size_t i = 0; i < m.n; i++) {
        m.first += numbers(t)[i];
        m.second += numbers(t)[i] * numbers(t)[i];
    }
    return m;
}

static bool are_near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * (fabs(a) + fabs(b));
}

static bool is_param(const check *c, size_t initializer)
{
    const char *name = c->m->graph->initializer.items[initializer]->name;

    for (size_t i = 0; i < c->params.n; i++)
        if (name && strcmp(c->params.items[i].name, name) == 0)
            return true;
    return false;
}

static void drop_param(check *c, size_t i)
{
    param *p = &c->params.items[i];

    cq_tensor_release(p->value);
    cq_tensor_release(p->gradient);
    memmove(p, p + 1, (c->params.n - i - 1) * sizeof *p);
    c->params.n--;
}

/* Drops parameters with copies. A weight that two layers share may occur twice, plain and
 * transposed: moving one copy does not move the parameter. */
static cq_status drop_copied(check *c)
{
    const cq_onnx_graph *g = c->m->graph;

    for (size_t i = 0; i < g->initializer.n; i++) {
        cq_tensor *t;
        moments    of;

        if (g->initializer.items[i]->data_type != CQ_ONNX_DOUBLE || is_param(c, i))
            continue;
        CQ_TRY(cq_onnx_tensor_to_tensor(&t, c->m, g->initializer.items[i]));
        of = moments_of(t);
        cq_tensor_release(t);
        for (size_t k = c->params.n; k-- > 0;) {
            const moments own = moments_of(c->params.items[k].value);

            if (own.n == of.n && own.second > 0 && are_near(own.first, of.first) &&
                are_near(own.second, of.second))
                drop_param(c, k);
        }
    }
    return CQ_OK;
}

/* ---- inputs and parameters ---- */

/* Takes the inputs of the session, widened; parameters have separate slots. */
static cq_status take_inputs(check *c, const cq_session *session, cq_onnx_value *const *given)
{
    for (size_t i = 0; i < cq_session_n_inputs(c->session); i++) {
        const char    *name = cq_session_input_name(c->session, i);
        cq_onnx_value *v    = NULL;
        cq_tensor     *t    = NULL;

        for (size_t k = 0; k < c->params.n; k++)
            if (strcmp(c->params.items[k].name, name) == 0)
                c->params.items[k].input = i;
        for (size_t k = 0; k < cq_session_n_inputs(session) && !v; k++)
            if (given[k] && strcmp(cq_session_input_name(session, k), name) == 0)
                v = cq_onnx_value_retain(given[k]);
        t = v ? cq_onnx_value_tensor(v) : NULL;
        if (t && cq_tensor_dtype(t) == CQ_DTYPE_F32) {
            cq_tensor *wide;
            cq_status  status = cq_tensor_clone(&wide, t, CQ_DTYPE_F64);

            cq_onnx_value_release(v);
            CQ_TRY(status);
            status = cq_onnx_value_new_tensor(&v, wide);
            cq_tensor_release(wide);
            CQ_TRY(status);
        }
        if (cq_vec_push(&c->inputs, v) != CQ_OK) {
            cq_onnx_value_release(v);
            return CQ_E_NO_MEMORY;
        }
    }
    return CQ_OK;
}

static cq_status take_seeds(check *c)
{
    for (size_t i = 0; i < cq_session_n_outputs(c->session); i++) {
        cq_str      path = { 0 };
        cq_tensor  *seed = NULL;
        const char *name;
        cq_status   status;

        cq_str_printf(&path, "%s/gradient_input_%zu.pb", c->set, i);
        status = path.status;
        if (status == CQ_OK && cq_path_exists(cq_str_text(&path)))
            status = load(&seed, &name, c->m, cq_str_text(&path));
        cq_str_clear(&path);
        if (status == CQ_OK)
            status = cq_vec_push(&c->seeds, seed);
        if (status != CQ_OK)
            cq_tensor_release(seed);
        CQ_TRY(status);
    }
    return CQ_OK;
}

/* ---- the loss L ---- */

typedef struct sum {
    double signed_, absolute;
} sum;

static cq_status add_output(sum *l, const cq_onnx_value *y, const cq_tensor *seed)
{
    const cq_tensor *t = cq_onnx_value_tensor(y);

    if (!t || cq_tensor_dtype(t) != CQ_DTYPE_F64)
        return CQ_OK; /* the output has no gradient */
    if (seed && !same_sizes(seed, t))
        return cq_fail(CQ_E_TYPE, NULL, NULL,
                       "the gradient of an output has a different shape than the output");
    for (size_t i = 0; i < numel(t); i++) {
        const double x = cq_tensor_get_f64(t, i) * (seed ? numbers(seed)[i] : 1);

        l->signed_ += x;
        l->absolute += fabs(x);
    }
    return CQ_OK;
}

/* Computes L at the moved parameters. */
static cq_status compute(check *c, sum *l)
{
    const size_t    n      = cq_session_n_outputs(c->session);
    cq_onnx_value **out    = cq_zalloc((n + 1) * sizeof *out);
    cq_status       status = out ? CQ_OK : CQ_E_NO_MEMORY;

    *l = (sum){ 0 };
    for (size_t i = 0; i < c->params.n && status == CQ_OK; i++) {
        cq_onnx_value **in = &c->inputs.items[c->params.items[i].input];

        cq_onnx_value_release(*in);
        *in    = NULL;
        status = cq_onnx_value_new_tensor(in, c->params.items[i].moved);
    }
    if (status == CQ_OK)
        status = cq_session_run(c->session, NULL, c->inputs.items, c->inputs.n, out);
    for (size_t i = 0; i < n && status == CQ_OK; i++)
        status = add_output(l, out[i], c->seeds.items[i]);
    for (size_t i = 0; out && i < n; i++)
        cq_onnx_value_release(out[i]);
    cq_free(out);
    return status;
}

/* ---- directions ---- */

static double rms(const cq_tensor *t)
{
    double total = 0;

    for (size_t i = 0; i < numel(t); i++)
        total += numbers(t)[i] * numbers(t)[i];
    return numel(t) ? sqrt(total / (double)numel(t)) : 0;
}

static double length(const cq_tensor *t)
{
    return rms(t) * sqrt((double)numel(t));
}

/* The expected effect on L of a step along a random direction. */
static double effect(const param *p)
{
    return p->step * length(p->gradient);
}

/* Chooses steps in proportion to the parameters, such that no parameter outweighs the others: an
 * error in one of many must be visible. Parameters with almost no effect do not count. */
static void choose_steps(check *c)
{
    double most = 0, least = INFINITY;

    for (size_t i = 0; i < c->params.n; i++) {
        param       *p    = &c->params.items[i];
        const double size = rms(p->value);

        p->step = STEP * (size > 0 ? size : 1);
        most    = fmax(most, effect(p));
    }
    for (size_t i = 0; i < c->params.n; i++)
        if (effect(&c->params.items[i]) > 1e-3 * most)
            least = fmin(least, effect(&c->params.items[i]));
    for (size_t i = 0; i < c->params.n; i++) {
        param *p = &c->params.items[i];

        if (effect(p) > least)
            p->step *= least / effect(p);
    }
}

static uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

/* Moves one parameter (which), or all. The direction depends only on the seed. expected receives
 * the change of L according to the gradients, and its typical magnitude. */
static void move(check *c, size_t which, uint64_t seed, double sign, double *expected,
                 double *scale)
{
    uint64_t state   = seed + 1;
    double   squares = 0;

    *expected = 0;
    for (size_t i = 0; i < c->params.n; i++) {
        const param *p     = &c->params.items[i];
        const double step  = which == ALL || which == i ? p->step : 0;
        double       along = 0;

        for (size_t k = 0; k < numel(p->value); k++) {
            const double d = next_random(&state) & 1 ? step : -step;

            numbers(p->moved)[k] = numbers(p->value)[k] + sign * d;
            along += d * numbers(p->gradient)[k];
        }
        *expected += along;
        squares += step * length(p->gradient) * step * length(p->gradient);
    }
    *scale = sqrt(squares);
}

/* Whether half the difference of L matches the gradients. */
static cq_status compare(check *c, size_t which, uint64_t seed, bool *same, double *got,
                         double *expected)
{
    sum    forth, back;
    double scale;

    move(c, which, seed, 1, expected, &scale);
    CQ_TRY(compute(c, &forth));
    move(c, which, seed, -1, expected, &scale);
    CQ_TRY(compute(c, &back));
    *got  = (forth.signed_ - back.signed_) / 2;
    *same = fabs(*got - *expected) <= SLACK * c->rtol * scale + 1e-13 * forth.absolute;
    return CQ_OK;
}

/* The same along several directions, because one direction may happen to be orthogonal to the
 * error. */
static cq_status compare_often(check *c, size_t which, bool *same, double *got, double *expected)
{
    *same = true;
    for (uint64_t seed = 0; seed < N_DIRECTIONS && *same; seed++)
        CQ_TRY(compare(c, which, seed, same, got, expected));
    return CQ_OK;
}

static cq_status differs(const char *name, double got, double expected)
{
    return cq_fail(CQ_E_TYPE, name, NULL,
                   "the gradient is not that of the model: a small change of the parameter "
                   "changes the outputs by %.6g, but by %.6g according to the gradient",
                   got, expected);
}

/* The gradient of a square weight may be transposed or not: both are tried. */
static cq_status transpose_squares(check *c)
{
    for (size_t i = 0; i < c->params.n; i++) {
        param *p = &c->params.items[i];
        double got, expected;
        bool   same;

        if (!are_transposed(p->gradient, p->value))
            continue;
        CQ_TRY(compare_often(c, i, &same, &got, &expected));
        if (same)
            continue;
        CQ_TRY(transpose(&p->gradient));
        CQ_TRY(compare_often(c, i, &same, &got, &expected));
        if (!same)
            return differs(p->name, got, expected);
    }
    return CQ_OK;
}

static cq_status compare_all(check *c)
{
    double got, expected, alone, alone_expected;
    bool   same;

    CQ_TRY(compare_often(c, ALL, &same, &got, &expected));
    if (!same) {
        CQ_TRY(transpose_squares(c));
        CQ_TRY(compare_often(c, ALL, &same, &got, &expected));
    }
    if (same)
        return CQ_OK;
    for (size_t i = 0; i < c->params.n; i++) {
        CQ_TRY(compare_often(c, i, &same, &alone, &alone_expected));
        if (!same)
            return differs(c->params.items[i].name, alone, alone_expected);
    }
    return differs("all parameters", got, expected);
}

/* ---- entry point ---- */

static void clear(check *c)
{
    for (size_t i = 0; i < c->params.n; i++) {
        cq_tensor_release(c->params.items[i].value);
        cq_tensor_release(c->params.items[i].gradient);
        cq_tensor_release(c->params.items[i].moved);
    }
    for (size_t i = 0; i < c->inputs.n; i++)
        cq_onnx_value_release(c->inputs.items[i]);
    for (size_t i = 0; i < c->seeds.n; i++)
        cq_tensor_release(c->seeds.items[i]);
    cq_vec_clear(&c->params);
    cq_vec_clear(&c->inputs);
    cq_vec_clear(&c->seeds);
    cq_session_free(c->session);
    cq_onnx_model_free(c->m);
}

static bool has_gradients(const char *set)
{
    cq_str path = { 0 };
    bool   has;

    cq_str_printf(&path, "%s/gradient_input_0.pb", set);
    has = path.status == CQ_OK && cq_path_exists(cq_str_text(&path));
    cq_str_clear(&path);
    return has;
}

/* Loads the model in float64, with its parameters as inputs. */
static cq_status prepare(check *c, const char *model, const cq_session_options *options)
{
    CQ_TRY(cq_onnx_model_load(&c->m, model));
    CQ_TRY(cq_onnx_model_widen(c->m));
    CQ_TRY(read_params(c));
    CQ_TRY(drop_copied(c));
    CQ_TRY(open_params(c));
    return c->params.n ? cq_session_prepare(&c->session, c->m, options) : CQ_OK;
}

cq_status cq_onnx_verify_gradients(const char *model, const char *set, const cq_session *session,
                                   cq_onnx_value *const *inputs, double rtol,
                                   const cq_session_options *options)
{
    check     c      = { .set = set, .rtol = rtol };
    cq_status status = CQ_OK;

    if (!has_gradients(set))
        return CQ_OK;
    CQ_TRY_OR_DONE(prepare(&c, model, options));
    if (!c.params.n)
        goto done;
    for (size_t i = 0; i < c.params.n; i++)
        CQ_TRY_OR_DONE(
            cq_tensor_clone(&c.params.items[i].moved, c.params.items[i].value, CQ_DTYPE_F64));
    choose_steps(&c);
    CQ_TRY_OR_DONE(take_inputs(&c, session, inputs));
    CQ_TRY_OR_DONE(take_seeds(&c));
    status = compare_all(&c);
done:
    clear(&c);
    if (status == CQ_OK || status == CQ_E_TYPE || status == CQ_E_NO_MEMORY)
        return status;
    /* An operator does not support float64, so the gradients cannot be checked. */
    cq_warn(set, "gradients are not compared: %s", cq_last_error()->message);
    return CQ_OK;
}
