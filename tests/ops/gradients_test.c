/* Replays gradients/FAMILY.json: each gradient is compared with what PyTorch gave, and, in double
 * precision, with the difference of two nearby results.
 *
 *     gradients_test FILE…               every case of these files is a test
 *     gradients_test --coverage FILE…    every row of gradients is: has it a case, and has a
 *                                        difference confirmed it?
 *
 * Prints TAP, which tools/run_tests.py counts. */
#include "fixture.h"

#include "autograd/tape.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Operators that PyTorch differentiates and calque does not, with the reason. */
static const struct {
    const char *op, *why;
} exempt[] = {
    { "aten::linalg_det", "the operator table has no inverse of matrices of any size" },
    { "aten::det", "as linalg_det" },
    { "aten::logdet", "as linalg_det" },
    { "aten::slogdet", "as linalg_det" },
    { "aten::linalg_slogdet", "as linalg_det" },
    { "aten::linalg_eigh", "vectors have no gradient where values are equal" },
    { "aten::_linalg_eigh", "vectors have no gradient where values are equal" },
    { "aten::linalg_svd", "vectors have no gradient where values are equal" },
    { "aten::_linalg_svd", "vectors have no gradient where values are equal" },
    { "aten::svd", "vectors have no gradient where values are equal" },
    { "aten::linalg_pinv", "vectors have no gradient where values are equal" },
    { "aten::linalg_pinv.atol_rtol_tensor", "vectors have no gradient where values are equal" },
    { "aten::linalg_pinv.atol_rtol_float", "vectors have no gradient where values are equal" },
    { "aten::linalg_pinv.rcond_tensor", "vectors have no gradient where values are equal" },
    { "aten::pinverse", "vectors have no gradient where values are equal" },
    { "aten::logical_not_", "PyTorch passes on the gradient of the overwritten value" },
    { NULL, NULL },
};

/* Rows that a difference cannot confirm, with the reason. */
static const struct {
    const char *op, *why;
} jumpy[] = {
    { "aten::fake_quantize_per_tensor_affine", "its result is in steps, and its gradient is not" },
    { "aten::fake_quantize_per_tensor_affine_cachemask", "likewise" },
    { "aten::index_put.hacked_twin", "its case writes an element twice; it is index_put" },
    { "aten::linalg_eigvalsh", "it reads one triangle, and its gradient is that of both" },
    { "aten::log_sigmoid_forward", "its second result has no gradient" },
    { "aten::norm.ScalarOpt_dtype",
      "its result is less precise than the difference; it is norm.Scalar" },
    { "aten::sort.stable", "its cases have equal elements; it is sort" },
    { NULL, NULL },
};

static const struct {
    double rtol, atol;
} tolerances[CQ_DTYPE_COUNT] = {
    [CQ_DTYPE_F32] = { 1e-4, 1e-5 },
    [CQ_DTYPE_F64] = { 1e-9, 1e-11 },
};

enum { MAX_TENSORS = 256 };

static int n_tests, n_failed;

static void report(const char *name, const char *why)
{
    n_tests++;
    n_failed += why != NULL;
    printf("%sok %d - %s\n", why ? "not " : "", n_tests, name);
    if (why)
        printf("# %s\n", why);
}

/* One case, with its arguments unchanged or in double precision. */
typedef struct trial {
    const json_t *one;
    const cq_op  *op;
    cq_ctx       *cx;
    cq_val        args[CQ_FIXTURE_MAX_ARGS];
    size_t        n_args;
    cq_tensor    *inputs[MAX_TENSORS], *outputs[MAX_TENSORS], *seeds[MAX_TENSORS];
    size_t        n_inputs, n_outputs;
    cq_tape      *tape;
    bool          confirmed;
    char          why[CQ_ERROR_MESSAGE_SIZE + CQ_ERROR_LOCATION_SIZE];
} trial;

static void complain(trial *k, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void complain(trial *k, const char *format, ...)
{
    va_list args;

    if (k->why[0])
        return;
    va_start(args, format);
    vsnprintf(k->why, sizeof k->why, format, args);
    va_end(args);
}

static const char *reason_for(const char *op)
{
    for (size_t i = 0; exempt[i].op; i++)
        if (strcmp(exempt[i].op, op) == 0)
            return exempt[i].why;
    return NULL;
}

/* ---- running ---- */

static void collect(cq_val v, cq_tensor **out, size_t *n)
{
    if (v.kind == CQ_VAL_TENSOR && *n < MAX_TENSORS)
        out[(*n)++] = v.u.tensor;
    else if (v.kind == CQ_VAL_LIST || v.kind == CQ_VAL_TUPLE)
        for (size_t i = 0; i < v.u.list->n; i++)
            collect(v.u.list->items[i], out, n);
}

/* Float tensors of v as copies in double precision, contiguous. */
static cq_status widen(trial *k, cq_val *v)
{
    cq_tensor *t = v->u.tensor, *copy;

    if (v->kind == CQ_VAL_LIST)
        for (size_t i = 0; i < v->u.list->n; i++) {
            cq_val old = v->u.list->items[i];

            CQ_TRY(widen(k, &v->u.list->items[i]));
            cq_val_retain(v->u.list->items[i]);
            cq_val_release(old);
        }
    if (v->kind != CQ_VAL_TENSOR || !cq_dtype_is_float(t->dtype))
        return CQ_OK;
    CQ_TRY(cq_tensor_clone(&copy, t, CQ_DTYPE_F64));
    *v = cq_ctx_own(k->cx, cq_val_of_tensor(copy));
    return k->cx->status;
}

static cq_status open_trial(trial *k, bool wide)
{
    CQ_TRY(cq_ctx_new(&k->cx));
    CQ_TRY(cq_fixture_args(k->cx, k->args, &k->n_args, k->one));
    for (size_t i = 0; i < k->n_args; i++) {
        if (wide)
            CQ_TRY(widen(k, &k->args[i]));
        collect(k->args[i], k->inputs, &k->n_inputs);
    }
    return CQ_OK;
}

static cq_status call(trial *k)
{
    const cq_gradient *row = cq_gradient_find(k->op);
    cq_val             results[CQ_MAX_RESULTS];

    k->n_outputs = 0;
    CQ_TRY(cq_op_call(k->cx, k->op, k->args, k->n_args, results, CQ_MAX_RESULTS));
    for (size_t i = 0; i < (row && row->first_only ? 1 : CQ_MAX_RESULTS); i++)
        collect(results[i], k->outputs, &k->n_outputs);
    return CQ_OK;
}

/* The seed of gradients.py. */
static double seed(size_t result, int64_t i)
{
    int64_t n = (i * 7 + (int64_t)result * 3) % 11;

    return (double)(n - 5) / 4;
}

static cq_status make_seed(trial *k, size_t result)
{
    const cq_tensor *out = k->outputs[result];
    int64_t          sizes[CQ_MAX_RANK];
    cq_tensor       *t;

    for (size_t i = 0; i < out->rank; i++)
        sizes[i] = out->sizes[i].value;
    CQ_TRY(cq_tensor_new(&t, CQ_DTYPE_F64, out->rank, sizes, NULL));
    k->seeds[result] = cq_ctx_own_tensor(k->cx, t);
    for (int64_t i = 0; i < cq_tensor_numel(t); i++)
        ((double *)cq_tensor_data(t))[i] = seed(result, i);
    return k->cx->status;
}

static cq_status differentiate(trial *k)
{
    size_t n = 0;

    CQ_TRY(cq_tape_new(&k->tape));
    for (size_t i = 0; i < k->n_inputs; i++)
        if (cq_dtype_is_float(k->inputs[i]->dtype))
            CQ_TRY(cq_tape_watch(k->tape, k->inputs[i]));
    cq_tape_start(k->tape, k->cx);
    CQ_TRY(call(k));
    for (size_t i = 0; i < k->n_outputs; i++) {
        if (!cq_dtype_is_float(k->outputs[i]->dtype))
            continue;
        CQ_TRY(make_seed(k, i));
        k->outputs[n] = k->outputs[i];
        k->seeds[n++] = k->seeds[i];
    }
    return cq_tape_backward(k->tape, k->cx, k->outputs, k->seeds, n);
}

static void close_trial(trial *k)
{
    cq_tape_free(k->tape);
    cq_ctx_free(k->cx);
    k->tape     = NULL;
    k->cx       = NULL;
    k->n_inputs = k->n_outputs = 0;
}

/* ---- against PyTorch ---- */

static double number_of(const json_t *j)
{
    const char *name = json_string_value(j);

    return !name            ? json_number_value(j)
           : name[0] == 'n' ? NAN
           : name[0] == '-' ? -INFINITY
                            : INFINITY;
}

static bool close_to(double got, double want, double rtol, double atol)
{
    if (isnan(want) || isnan(got))
        return isnan(want) && isnan(got);
    if (isinf(want) || isinf(got))
        return want == got;
    return fabs(got - want) <= atol + rtol * fabs(want);
}

static bool is_zero(const json_t *list)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        if (number_of(json_array_get(list, i)) != 0)
            return false;
    return true;
}

/* If nothing depends on a tensor, its gradient may be zero or missing. */
static void compare(trial *k, size_t index, const json_t *want)
{
    const json_t *own   = json_object_get(k->one, "tol");
    cq_tensor    *got   = cq_tape_gradient(k->tape, k->inputs[index]);
    cq_dtype      dtype = CQ_DTYPE_F64; /* the least precise that took part */
    size_t        n     = got ? (size_t)cq_tensor_numel(got) : 0;
    double        rtol, atol;

    for (size_t i = 0; i < k->n_inputs; i++)
        dtype = k->inputs[i]->dtype == CQ_DTYPE_F32 ? CQ_DTYPE_F32 : dtype;
    rtol = own ? json_number_value(json_array_get(own, 0)) : tolerances[dtype].rtol;
    atol = own ? json_number_value(json_array_get(own, 1)) : tolerances[dtype].atol;
    if (!got && is_zero(want))
        return;
    if (!json_is_null(want) && (!got || n != json_array_size(want))) {
        complain(k, "tensor %zu has %s, expected %zu elements", index,
                 got ? "a gradient of another size" : "no gradient", json_array_size(want));
        return;
    }
    for (size_t i = 0; i < n; i++) {
        double x = cq_tensor_get_f64(got, (int64_t)i);
        double y = json_is_null(want) ? 0 : number_of(json_array_get(want, i));

        if (!close_to(x, y, rtol, atol))
            complain(k, "the gradient of tensor %zu has %.9g at %zu, expected %.9g", index, x, i,
                     y);
    }
}

static void against_pytorch(trial *k)
{
    const json_t *grads = json_object_get(k->one, "grads");

    if (open_trial(k, false) != CQ_OK || differentiate(k) != CQ_OK)
        complain(k, "%s (%s)", cq_last_error()->message, cq_last_error()->where);
    for (size_t i = 0; i < k->n_inputs && !k->why[0]; i++)
        compare(k, i, json_array_get(grads, i));
    close_trial(k);
}

/* ---- against differences ---- */

/* Statistics that a call keeps are inputs that have no gradient. */
static bool moves(const trial *k, size_t input)
{
    const json_t *grads = json_object_get(k->one, "grads");

    return k->inputs[input]->dtype == CQ_DTYPE_F64 &&
           !(json_is_array(grads) && json_is_null(json_array_get(grads, input)));
}

/* Moves every float input by step in a direction, the same one for the same element. */
static void move(trial *k, double step)
{
    for (size_t i = 0; i < k->n_inputs; i++) {
        cq_tensor *t = k->inputs[i];

        if (!moves(k, i))
            continue;
        for (int64_t e = 0; e < cq_tensor_numel(t); e++)
            ((double *)cq_tensor_data(t))[e] += step * seed(i + 1, 5 * e + 2);
    }
}

/* NAN when a result is less precise than the difference would have to be. */
static double weighted_results(const trial *k)
{
    double sum = 0;

    for (size_t i = 0; i < k->n_outputs; i++)
        if (cq_dtype_is_float(k->outputs[i]->dtype) && k->outputs[i]->dtype != CQ_DTYPE_F64)
            return NAN;
    for (size_t i = 0; i < k->n_outputs; i++)
        if (cq_dtype_is_float(k->outputs[i]->dtype))
            for (int64_t e = 0; e < cq_tensor_numel(k->outputs[i]); e++)
                sum += seed(i, e) * cq_tensor_get_f64(k->outputs[i], e);
    return sum;
}

static double weighted_gradients(const trial *k)
{
    double sum = 0;

    for (size_t i = 0; i < k->n_inputs; i++) {
        cq_tensor *g = cq_tape_gradient(k->tape, k->inputs[i]);

        if (!g || !moves(k, i))
            continue;
        for (int64_t e = 0; e < cq_tensor_numel(g); e++)
            sum += seed(i + 1, 5 * e + 2) * cq_tensor_get_f64(g, e);
    }
    return sum;
}

/* The weighted results where the inputs are moved by step; NAN after a failure. */
static double results_at(trial *k, double step)
{
    double sum = NAN;

    if (open_trial(k, true) == CQ_OK) {
        move(k, step);
        if (call(k) == CQ_OK)
            sum = weighted_results(k);
    }
    close_trial(k);
    return sum;
}

/* Near a jump or a kink the slopes on both sides differ: no gradient is right there, and only
 * PyTorch's convention counts. */
static void against_differences(trial *k)
{
    const double h = 1e-6, aside = 1.37e-3;
    double       low = results_at(k, aside - h), mid = results_at(k, aside);
    double       high = results_at(k, aside + h), want = (high - low) / (2 * h), got = NAN;
    double       scale = 1 + fabs(want);

    if (!isfinite(want) || !isfinite(mid) || fabs(high - 2 * mid + low) / h > 1e-3 * scale)
        return;
    if (open_trial(k, true) == CQ_OK) {
        move(k, aside);
        if (differentiate(k) == CQ_OK)
            got = weighted_gradients(k);
        else
            complain(k, "%s (%s)", cq_last_error()->message, cq_last_error()->where);
    }
    close_trial(k);
    if (!close_to(got, want, 1e-5, 1e-5 * scale))
        complain(k, "the slope is %.9g, but the results differ by %.9g", got, want);
    k->confirmed = !k->why[0];
}

/* ---- cases ---- */

static bool is_jumpy(const char *op)
{
    for (size_t i = 0; jumpy[i].op; i++)
        if (strcmp(jumpy[i].op, op) == 0)
            return true;
    return false;
}

static void run_case(const json_t *one, bool quiet, cq_map *seen, cq_map *confirmed)
{
    const char *name = json_string_value(json_object_get(one, "op"));
    trial       k    = { .one = one, .op = cq_op_find(name) };
    cq_str      text = { 0 };
    const char *why  = reason_for(name);

    cq_fixture_describe(&text, one);
    if (!k.op)
        complain(&k, "unknown operator %s", name);
    else if (!why && !json_is_null(json_object_get(one, "grads")))
        against_pytorch(&k);
    if (k.op && !why && !k.why[0] && !json_object_get(one, "repeats") && !is_jumpy(name))
        against_differences(&k);
    if (k.op && !k.why[0]) {
        const cq_op *plain = k.op->inplace_of ? k.op->inplace_of : k.op;

        cq_map_set(seen, plain->schema->full, seen);
        if (k.confirmed)
            cq_map_set(confirmed, plain->schema->full, seen);
    }
    if (!quiet)
        report(cq_str_text(&text), k.why[0] ? k.why : NULL);
    cq_str_clear(&text);
}

static void check_coverage(const cq_map *seen, const cq_map *confirmed)
{
    const cq_gradient *row;

    for (size_t i = 0; (row = cq_gradient_at(i)); i++) {
        const cq_op *op        = cq_op_find(row->op);
        const char  *why       = NULL;
        bool         has_cases = op && row->kind != CQ_GRADIENT_NONE && !reason_for(row->op) &&
                         !(op->def->flags & CQ_OP_RANDOM); /* no two draws can be compared */

        if (!op)
            why = "unknown operator";
        else if (has_cases && !cq_map_has(seen, row->op))
            why = "the row has no case in tests/ops/gradients";
        else if (has_cases && !cq_map_has(confirmed, row->op) && !is_jumpy(row->op))
            why = "no difference of results confirms the row";
        report(row->op, why);
    }
}

int main(int argc, char **argv)
{
    bool    coverage = argc > 1 && strcmp(argv[1], "--coverage") == 0;
    cq_map  seen = { 0 }, confirmed = { 0 };
    json_t *cases, *one;
    size_t  i;

    for (int a = coverage ? 2 : 1; a < argc; a++) {
        if (cq_fixture_load(&cases, argv[a]) != CQ_OK) {
            fprintf(stderr, "%s (%s)\n", cq_last_error()->message, cq_last_error()->where);
            return 1;
        }
        json_array_foreach(cases, i, one) run_case(one, coverage, &seen, &confirmed);
        json_decref(cases);
    }
    if (coverage)
        check_coverage(&seen, &confirmed);
    cq_map_clear(&seen);
    cq_map_clear(&confirmed);
    printf("1..%d\n", n_tests);
    return n_failed != 0;
}
