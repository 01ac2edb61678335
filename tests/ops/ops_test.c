/* Replays the cases of one or more data/FAMILY.json: each call is made with data and
 * compared with what PyTorch gave, then without data, with plain and with symbolic sizes,
 * and the dtypes and sizes that it predicts are compared with the real ones.
 *
 *     ops_test FILE…               every case of these files is a test
 *     ops_test --coverage FILE…    every row of the operator table is: has it a case?
 *
 * Prints TAP, which tools/run_tests.py counts. */
#include "fixture.h"

#include "tensor/convert.h"
#include "tensor/qparams.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Rows that no case can show, with the reason. */
static const struct {
    const char *op, *why;
} exempt[] = {
    { "aten::cuda", "PyTorch needs a GPU to run it" },
    { "quantized::make_quantized_cell_params_dynamic", "tests/peer/quantized.py has its cells" },
    { "aten::quantized_lstm.input",
      "a list of cells is not an argument here; see peer/quantized.py" },
    { "aten::quantized_gru.input",
      "a list of cells is not an argument here; see peer/quantized.py" },
    { NULL, NULL },
};

/* |got - want| <= atol + rtol * |want|; a case may have its own. */
static const struct {
    double rtol, atol;
} tolerances[CQ_DTYPE_COUNT] = {
    [CQ_DTYPE_F16] = { 1e-3, 1e-3 },    [CQ_DTYPE_BF16] = { 8e-3, 8e-3 },
    [CQ_DTYPE_F32] = { 1e-5, 1e-6 },    [CQ_DTYPE_F64] = { 1e-10, 1e-12 },
    [CQ_DTYPE_C32] = { 1e-3, 1e-3 },    [CQ_DTYPE_C64] = { 1e-5, 1e-6 },
    [CQ_DTYPE_C128] = { 1e-10, 1e-12 },
};

static int n_tests, n_failed;

static void report(const char *name, const char *why)
{
    n_tests++;
    n_failed += why != NULL;
    printf("%sok %d - %s\n", why ? "not " : "", n_tests, name);
    if (why)
        printf("# %s\n", why);
}

/* ---- comparing ---- */

typedef struct check {
    const json_t *one;
    bool          values;
    char          why[CQ_ERROR_MESSAGE_SIZE + CQ_ERROR_LOCATION_SIZE]; /* empty: all is well */
} check;

static void complain(check *k, const char *run, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void complain(check *k, const char *run, const char *format, ...)
{
    va_list args;
    int     n;

    if (k->why[0])
        return;
    n = snprintf(k->why, sizeof k->why, "%s: ", run);
    va_start(args, format);
    vsnprintf(k->why + n, sizeof k->why - (size_t)n, format, args);
    va_end(args);
}

static bool close_to(double got, double want, double rtol, double atol)
{
    if (isnan(want) || isnan(got))
        return isnan(want) && isnan(got);
    if (isinf(want) || isinf(got))
        return want == got;
    return fabs(got - want) <= atol + rtol * fabs(want);
}

/* Complex tensors are compared part by part. */
static cq_status as_parts(cq_tensor **out, const cq_tensor *t)
{
    cq_tensor *whole;
    int64_t    n = 2 * cq_tensor_numel(t);
    cq_status  status;

    CQ_TRY(cq_tensor_contiguous(&whole, t));
    if (!cq_dtype_is_complex(t->dtype)) {
        *out = whole;
        return CQ_OK;
    }
    status = cq_tensor_new(out, cq_dtype_part(t->dtype), 1, &n, cq_tensor_bytes(whole));
    cq_tensor_release(whole);
    return status;
}

static void compare_values(check *k, const char *run, const cq_tensor *got, const cq_tensor *want)
{
    const json_t *own = json_object_get(k->one, "tol");
    double rtol  = own ? json_number_value(json_array_get(own, 0)) : tolerances[want->dtype].rtol;
    double atol  = own ? json_number_value(json_array_get(own, 1)) : tolerances[want->dtype].atol;
    cq_tensor *a = NULL, *b = NULL;

    if (as_parts(&a, got) != CQ_OK || as_parts(&b, want) != CQ_OK)
        complain(k, run, "%s", cq_last_error()->message);
    for (int64_t i = 0; a && b && i < cq_tensor_numel(b); i++) {
        bool   real = cq_dtype_is_float(b->dtype);
        double x = cq_tensor_get_f64(a, i), y = cq_tensor_get_f64(b, i);

        if (real ? !close_to(x, y, rtol, atol) : cq_tensor_get_i64(a, i) != cq_tensor_get_i64(b, i))
            complain(k, run, "element %lld is %.9g, expected %.9g", (long long)i, x, y);
    }
    cq_tensor_release(a);
    cq_tensor_release(b);
}

static bool same_grid(const cq_qparams *a, const cq_qparams *b)
{
    if (!a || !b)
        return a == b;
    return a->torch_dtype == b->torch_dtype && !a->scales == !b->scales &&
           (a->scales ? a->axis == b->axis
                      : a->zero_point == b->zero_point && close_to(a->scale, b->scale, 1e-6, 0));
}

static void compare_tensor(check *k, const char *run, const cq_tensor *got, const cq_tensor *want,
                           bool sizes)
{
    char have[CQ_DESCRIBE_SIZE], need[CQ_DESCRIBE_SIZE];
    bool ok = got->dtype == want->dtype && got->rank == want->rank;

    for (size_t i = 0; ok && sizes && i < want->rank; i++)
        ok = got->sizes[i].value == want->sizes[i].value;
    if (!ok)
        complain(k, run, "the result is %s, expected %s",
                 cq_tensor_describe(got, have, sizeof have),
                 cq_tensor_describe(want, need, sizeof need));
    else if (!same_grid(got->qparams, want->qparams))
        complain(k, run, "the quantization parameters of the result differ from PyTorch's");
    else if (got->storage && k->values)
        compare_values(k, run, got, want);
}

static void compare(check *k, const char *run, cq_val got, cq_val want, bool sizes)
{
    if (got.kind != want.kind) {
        complain(k, run, "the result is of kind %s, expected %s", cq_val_kind_name(got.kind),
                 cq_val_kind_name(want.kind));
        return;
    }
    switch (want.kind) {
    case CQ_VAL_TENSOR: compare_tensor(k, run, got.u.tensor, want.u.tensor, sizes); return;
    case CQ_VAL_LIST:
        if (got.u.list->n != want.u.list->n)
            complain(k, run, "the result has %zu items, expected %zu", got.u.list->n,
                     want.u.list->n);
        for (size_t i = 0; i < want.u.list->n && i < got.u.list->n; i++)
            compare(k, run, got.u.list->items[i], want.u.list->items[i], sizes);
        return;
    case CQ_VAL_INT:
        if (got.u.i.value != want.u.i.value)
            complain(k, run, "the result is %lld, expected %lld", (long long)got.u.i.value,
                     (long long)want.u.i.value);
        return;
    case CQ_VAL_FLOAT:
        if (!close_to(got.u.f.value, want.u.f.value, 1e-6, 0))
            complain(k, run, "the result is %g, expected %g", got.u.f.value, want.u.f.value);
        return;
    case CQ_VAL_BOOL:
        if (got.u.b.value != want.u.b.value)
            complain(k, run, "the result is %d, expected %d", got.u.b.value, want.u.b.value);
        return;
    default: return;
    }
}

/* ---- the runs of a case ---- */

/* In PyTorch a result shares the memory of this argument, or of none. */
static void compare_alias(check *k, size_t i, const cq_val *got, const cq_val *args)
{
    const json_t *alias = json_array_get(json_object_get(k->one, "alias"), i);
    int64_t       of    = alias ? json_integer_value(alias) : -1;

    if (of < 0 || got->kind != CQ_VAL_TENSOR || args[of].kind != CQ_VAL_TENSOR)
        return;
    if (got->u.tensor->storage != args[of].u.tensor->storage)
        complain(k, "real", "the result is a copy, want a view of argument %lld", (long long)of);
}

static void run_real(check *k, cq_ctx *cx, const cq_op *op, cq_val *args, size_t n)
{
    const json_t *want = json_object_get(k->one, "results"), *j;
    const char   *index;
    cq_val        got[CQ_MAX_RESULTS], value;
    cq_status     status = cq_op_call(cx, op, args, n, got, CQ_MAX_RESULTS);

    if (json_object_get(k->one, "fails")) {
        if (status == CQ_OK)
            complain(k, "real", "it was accepted, but PyTorch says: %s",
                     json_string_value(json_object_get(k->one, "fails")));
        else if (status == CQ_E_INTERNAL || status == CQ_E_NO_MEMORY || status == CQ_E_UNSUPPORTED)
            complain(k, "real", "wrong kind of error: %s", cq_last_error()->message);
        return;
    }
    if (status != CQ_OK) {
        complain(k, "real", "%s (%s)", cq_last_error()->message, cq_last_error()->where);
        return;
    }
    for (size_t i = 0; i < json_array_size(want) && i < CQ_MAX_RESULTS; i++) {
        if (cq_fixture_val(cx, &value, json_array_get(want, i)) != CQ_OK) {
            complain(k, "real", "%s", cq_last_error()->message);
            return;
        }
        compare(k, "real", got[i], value, true);
        compare_alias(k, i, &got[i], args);
    }
    json_object_foreach(json_object_get((json_t *)k->one, "after"), index,
                        j) if (cq_fixture_val(cx, &value, j) == CQ_OK)
        compare(k, "changed argument", args[atoi(index)], value, true);
}

/* A tensor of the same dtype, sizes and strides without data. With symbols every size but 0
 * and 1 becomes a symbol, the same one wherever it appears. */
static cq_status fake_of(cq_ctx *cx, cq_val *v)
{
    cq_int     sizes[CQ_MAX_RANK];
    cq_tensor *t = v->u.tensor, *fake;
    char       name[32];

    if (v->kind == CQ_VAL_LIST)
        for (size_t i = 0; i < v->u.list->n; i++) {
            cq_val old = v->u.list->items[i];

            CQ_TRY(fake_of(cx, &v->u.list->items[i]));
            cq_val_retain(v->u.list->items[i]);
            cq_val_release(old);
        }
    if (v->kind != CQ_VAL_TENSOR)
        return CQ_OK;
    for (size_t i = 0; i < t->rank; i++) {
        sizes[i] = t->sizes[i];
        snprintf(name, sizeof name, "d%lld", (long long)sizes[i].value);
        if (cx->symbols && sizes[i].value > 1)
            sizes[i] = cq_symbol(cx->symbols, name, sizes[i].value, NULL, 0);
    }
    CQ_TRY(cq_tensor_new_fake(&fake, t->dtype, t->rank, sizes));
    memcpy(fake->strides, t->strides, t->rank * sizeof *t->strides);
    fake->offset = t->offset;
    cq_tensor_set_qparams(fake, t->qparams);
    *v = cq_ctx_own(cx, cq_val_of_tensor(fake));
    return cx->status;
}

static void run_fake(check *k, cq_ctx *cx, const char *run, const cq_op *op, cq_val *args, size_t n)
{
    const json_t *want = json_object_get(k->one, "results");
    cq_val        got[CQ_MAX_RESULTS], value;
    bool          sizes = !(op->def->flags & CQ_OP_DYNAMIC);

    for (size_t i = 0; i < n; i++)
        if (fake_of(cx, &args[i]) != CQ_OK) {
            complain(k, run, "%s", cq_last_error()->message);
            return;
        }
    cx->fake = true;
    if (cq_op_call(cx, op, args, n, got, CQ_MAX_RESULTS) != CQ_OK) {
        complain(k, run, "%s (%s)", cq_last_error()->message, cq_last_error()->where);
        return;
    }
    for (size_t i = 0; i < json_array_size(want) && i < CQ_MAX_RESULTS; i++)
        if (cq_fixture_val(cx, &value, json_array_get(want, i)) == CQ_OK)
            compare(k, run, got[i], value, sizes);
}

/* One run of the case in a fresh context. */
static void run(check *k, const cq_op *op, bool fake, cq_symbols *symbols)
{
    cq_val  args[CQ_FIXTURE_MAX_ARGS];
    cq_ctx *cx;
    size_t  n;

    if (cq_ctx_new(&cx) != CQ_OK) {
        complain(k, "set-up", "no memory");
        return;
    }
    cx->symbols = symbols;
    if (cq_fixture_args(cx, args, &n, k->one) != CQ_OK)
        complain(k, "set-up", "%s", cq_last_error()->message);
    else if (fake)
        run_fake(k, cx, symbols ? "symbolic" : "fake", op, args, n);
    else
        run_real(k, cx, op, args, n);
    cq_ctx_free(cx);
}

static void run_case(const json_t *one)
{
    const char  *name = json_string_value(json_object_get(one, "op"));
    const cq_op *op   = cq_op_find(name);
    check        k    = { .one = one, .values = !json_is_false(json_object_get(one, "values")) };
    cq_str       text = { 0 };
    cq_arena    *arena;
    cq_symbols   symbols;

    cq_fixture_describe(&text, one);
    if (!op) {
        complain(&k, "table", "unknown operator %s", name);
    } else {
        run(&k, op, false, NULL);
        if (!json_object_get(one, "fails") && !json_is_false(json_object_get(one, "fake"))) {
            run(&k, op, true, NULL);
            arena = cq_arena_new();
            cq_symbols_init(&symbols, arena);
            run(&k, op, true, &symbols);
            cq_symbols_clear(&symbols);
            cq_arena_free(arena);
        }
    }
    report(cq_str_text(&text), k.why[0] ? k.why : NULL);
    cq_str_clear(&text);
}

/* ---- coverage ---- */

static const char *reason_for(const char *op)
{
    for (size_t i = 0; exempt[i].op; i++)
        if (strcmp(exempt[i].op, op) == 0)
            return exempt[i].why;
    return NULL;
}

/* An in-place call shows the plain row that it is derived from. */
static void note_seen(cq_map *seen, const char *name)
{
    const cq_op *op = cq_op_find(name);

    if (op)
        cq_map_set(seen, op->inplace_of ? op->inplace_of->schema->full : name, seen);
}

/* The operator of a case, and those that made its arguments. */
static void note_case(cq_map *seen, const json_t *one)
{
    const json_t *arg;
    size_t        i;

    note_seen(seen, json_string_value(json_object_get(one, "op")));
    json_array_foreach(json_object_get(one, "args"), i, arg) if (json_object_get(arg, "call"))
        note_seen(seen, json_string_value(json_object_get(arg, "call")));
}

static void check_coverage(cq_map *seen)
{
    const cq_op *op;

    for (size_t i = 0; (op = cq_op_at(i)); i++) {
        const char *full = op->schema->full, *why = reason_for(full);
        bool        has = cq_map_has(seen, full);

        report(full, has && why   ? "it has a case, yet is listed as exempt"
                     : has || why ? NULL
                                  : "the row has no case in tests/ops");
    }
}

int main(int argc, char **argv)
{
    bool    coverage = argc > 1 && strcmp(argv[1], "--coverage") == 0;
    cq_map  seen     = { 0 };
    json_t *cases, *one;
    size_t  i;

    for (int a = coverage ? 2 : 1; a < argc; a++) {
        if (cq_fixture_load(&cases, argv[a]) != CQ_OK) {
            fprintf(stderr, "%s (%s)\n", cq_last_error()->message, cq_last_error()->where);
            return 1;
        }
        json_array_foreach(cases, i, one)
        {
            if (coverage)
                note_case(&seen, one);
            else
                run_case(one);
        }
        json_decref(cases);
    }
    if (coverage)
        check_coverage(&seen);
    cq_map_clear(&seen);
    printf("1..%d\n", n_tests);
    return n_failed != 0;
}
