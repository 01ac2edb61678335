/* Fusion of chains of element-wise operators in sessions. tests/peer/chains.py tests random
 * chains. */
#include "onnx/model.h"
#include "runtime/value.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

enum { MAX_LABELS = 8 };

/* The labels of the executed steps, in order. */
typedef struct labels {
    int  n;
    char text[MAX_LABELS][64];
} labels;

static void note(void *user, const char *node, const char *op, int64_t begin, int64_t end)
{
    labels *l = user;

    (void)node;
    (void)begin;
    (void)end;
    if (l->n < MAX_LABELS)
        snprintf(l->text[l->n++], sizeof l->text[0], "%s", op);
}

/* Builds a model of nodes written as "Op in in out". */
static cq_onnx_model *model_of(const char *const *nodes)
{
    cq_onnx_model *m;

    CHECK_OK(cq_onnx_model_new(&m, "chains"));
    cq_onnx_model_add_opset(m, "", 18);
    for (; *nodes; nodes++) {
        char word[5][16] = { "" };
        int  n =
            sscanf(*nodes, "%15s %15s %15s %15s %15s", word[0], word[1], word[2], word[3], word[4]);
        cq_onnx_node *node = cq_onnx_graph_add_node(m, NULL, word[0], NULL, word[n - 1]);

        for (int i = 1; i < n - 1; i++)
            cq_onnx_node_add_input(m, node, word[i]);
        cq_onnx_node_add_output(m, node, word[n - 1]);
    }
    cq_onnx_add_value(m, &m->graph->input, "x", NULL);
    cq_onnx_add_value(m, &m->graph->input, "c", NULL);
    cq_onnx_add_value(m, &m->graph->output, "y", NULL);
    CHECK_OK(m->status);
    return m;
}

static cq_tensor *tensor(cq_dtype dtype, int64_t n, const double *values)
{
    cq_tensor *f, *t;

    CHECK_OK(cq_tensor_new(&f, CQ_DTYPE_F64, 1, &n, values));
    CHECK_OK(cq_tensor_clone(&t, f, dtype));
    cq_tensor_release(f);
    return t;
}

/* Runs the model; *out is NULL on failure. */
static cq_status run(cq_tensor **out, labels *l, cq_onnx_model *m, cq_tensor *x, cq_tensor *c,
                     bool traps_nan)
{
    cq_session_options options;
    cq_session        *s;
    cq_status          status;

    l->n = 0;
    *out = NULL;
    cq_session_options_init(&options);
    options.hook      = note;
    options.hook_user = l;
    options.flags     = traps_nan ? CQ_SESSION_TRAP_NAN : 0;
    CHECK_OK(cq_session_prepare(&s, m, &options));
    status = cq_session_run_tensors(s, (cq_tensor *[]){ x, c }, 2, out, 1);
    cq_session_free(s);
    return status;
}

/* Checks (x * c + c) of 2 numbers in that type. */
static void check_types(cq_dtype dtype)
{
    static const char *const nodes[] = { "Mul x c p", "Add p c s", "Neg s n", "Abs n y", NULL };
    cq_onnx_model           *m       = model_of(nodes);
    cq_tensor *x = tensor(dtype, 2, (double[]){ 3, -5 }), *c = tensor(dtype, 1, (double[]){ 2 });
    cq_tensor *y;
    labels     l;

    CHECK_OK(run(&y, &l, m, x, c, false));
    CHECK_INT(1, l.n);
    CHECK_STR("Mul+Add+Neg+Abs", l.text[0]);
    CHECK(y->dtype == dtype);
    CHECK(cq_tensor_get_f64(y, 0) == 8 && cq_tensor_get_f64(y, 1) == 8);
    cq_tensor_release(x);
    cq_tensor_release(c);
    cq_tensor_release(y);
    cq_onnx_model_free(m);
}

TEST(chains, are_one_step_in_every_type)
{
    check_types(CQ_DTYPE_F32);
    check_types(CQ_DTYPE_F64);
    check_types(CQ_DTYPE_I64);
    check_types(CQ_DTYPE_F16);
}

/* Checks the step labels of a model with two float32 inputs of [2] and [1]. */
static void check_labels(const char *const *nodes, const char *want)
{
    cq_onnx_model *m        = model_of(nodes);
    cq_tensor     *x        = tensor(CQ_DTYPE_F32, 2, (double[]){ 3, -5 });
    cq_tensor     *c        = tensor(CQ_DTYPE_F32, 1, (double[]){ 2 }), *y;
    char           all[256] = "";
    labels         l;

    CHECK_OK(run(&y, &l, m, x, c, false));
    for (int i = 0; i < l.n; i++)
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", i ? " " : "", l.text[i]);
    CHECK_STR(want, all);
    cq_tensor_release(x);
    cq_tensor_release(c);
    cq_tensor_release(y);
    cq_onnx_model_free(m);
}

TEST(chains, chains_end_at_values_with_other_readers)
{
    check_labels((const char *const[]){ "Mul x c p", "Sigmoid p g", "Mul p g y", NULL },
                 "Mul+Sigmoid+Mul");
    check_labels((const char *const[]){ "Mul x c p", "Softmax p s", "Add p s y", NULL },
                 "Mul Softmax Add");
    check_labels((const char *const[]){ "Exp x e", "Softmax e s", "Neg s n", "Add n c y", NULL },
                 "Exp Softmax Neg+Add");
    check_labels((const char *const[]){ "Greater x c g", "Neg x n", "Where g x n y", NULL },
                 "Greater Neg+Where");
}

TEST(chains, values_that_are_asked_for_are_made)
{
    static const char *const nodes[] = { "Mul x c p", "Add p c s", "Neg s y", NULL };
    cq_onnx_model           *m       = model_of(nodes);
    const char              *name    = "p";
    cq_tensor               *in[2], *out[2];
    cq_session_options       options;
    cq_session              *s;

    in[0] = tensor(CQ_DTYPE_F32, 2, (double[]){ 3, -5 });
    in[1] = tensor(CQ_DTYPE_F32, 1, (double[]){ 2 });
    cq_session_options_init(&options);
    options.fetch   = &name;
    options.n_fetch = 1;
    CHECK_OK(cq_session_prepare(&s, m, &options));
    CHECK_OK(cq_session_run_tensors(s, in, 2, out, 2));
    CHECK(cq_tensor_get_f64(out[0], 0) == -8 && cq_tensor_get_f64(out[1], 1) == -10);
    for (int i = 0; i < 2; i++) {
        cq_tensor_release(in[i]);
        cq_tensor_release(out[i]);
    }
    cq_session_free(s);
    cq_onnx_model_free(m);
}

TEST(chains, failures_name_the_part)
{
    static const char *const nodes[] = { "Neg x n", "Add n c s", "Sqrt s y", NULL };
    cq_onnx_model           *m       = model_of(nodes);
    cq_tensor               *x       = tensor(CQ_DTYPE_F32, 3, (double[]){ 1, 2, 3 }), *y;
    cq_tensor               *c       = tensor(CQ_DTYPE_F32, 2, (double[]){ 1, 2 });
    labels                   l;

    CHECK_STATUS(CQ_E_TYPE, run(&y, &l, m, x, c, false));
    CHECK_STR("the shape float32[2] does not broadcast: 2 meets 3", cq_last_error()->message);
    CHECK_STR("node s (Add)", cq_last_error()->where);
    cq_tensor_release(c);
    c = tensor(CQ_DTYPE_F64, 3, (double[]){ 1, 2, 3 });
    CHECK_STATUS(CQ_E_TYPE, run(&y, &l, m, x, c, false));
    CHECK_STR("node s (Add)", cq_last_error()->where);
    cq_tensor_release(c);
    c = tensor(CQ_DTYPE_F32, 1, (double[]){ 1 });
    CHECK_STATUS(CQ_E_TYPE, run(&y, &l, m, x, c, true)); /* Sqrt(-1) is NaN */
    CHECK_STR("node y (Sqrt)", cq_last_error()->where);
    cq_tensor_release(c);
    cq_tensor_release(x);
    cq_onnx_model_free(m);
}

RUN_TESTS(TEST_OF(chains, are_one_step_in_every_type),
          TEST_OF(chains, chains_end_at_values_with_other_readers),
          TEST_OF(chains, values_that_are_asked_for_are_made),
          TEST_OF(chains, failures_name_the_part))
