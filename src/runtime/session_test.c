/* Sessions on small models that are built by hand. ONNX's own data tests the operators
 * (tests/peer/onnx_testdata.py). */
#include "onnx/model.h"
#include "onnx/schema.h"
#include "base/thread.h"
#include "runtime/value.h"
#include "test.h"

#include <pthread.h>
#include <math.h>
#include <stdio.h>

/* y = Relu(x + c), with c = [1, -2], of opset 17. */
static cq_onnx_model *small_model(void)
{
    const float    c[] = { 1, -2 };
    cq_onnx_model *m;
    cq_onnx_node  *node;
    cq_tensor     *t;

    CHECK_OK(cq_onnx_model_new(&m, "small"));
    cq_onnx_model_add_opset(m, "", 17);
    CHECK_OK(cq_tensor_new(&t, CQ_DTYPE_F32, 1, (int64_t[]){ 2 }, c));
    cq_onnx_graph_add_initializer(m, NULL, "c", t);
    cq_tensor_release(t);
    cq_onnx_add_value(
        m, &m->graph->input, "x",
        cq_onnx_type_new_tensor(m, CQ_ONNX_FLOAT, 1, (cq_onnx_axis[]){ { NULL, 2 } }));
    node = cq_onnx_graph_add_node(m, NULL, "Add", NULL, "sum");
    cq_onnx_node_add_input(m, node, "x");
    cq_onnx_node_add_input(m, node, "c");
    cq_onnx_node_add_output(m, node, "s");
    node = cq_onnx_graph_add_node(m, NULL, "Relu", NULL, "positive");
    cq_onnx_node_add_input(m, node, "s");
    cq_onnx_node_add_output(m, node, "y");
    cq_onnx_add_value(m, &m->graph->output, "y", NULL);
    CHECK_OK(m->status);
    return m;
}

static cq_tensor *vector(float a, float b)
{
    cq_tensor *t;

    CHECK_OK(cq_tensor_new(&t, CQ_DTYPE_F32, 1, (int64_t[]){ 2 }, (float[]){ a, b }));
    return t;
}

static void check_run(const cq_session *s, float a, float b, double want_a, double want_b)
{
    cq_tensor *x = vector(a, b), *y;

    CHECK_OK(cq_session_run_tensors(s, &x, 1, &y, 1));
    CHECK(cq_tensor_get_f64(y, 0) == want_a && cq_tensor_get_f64(y, 1) == want_b);
    cq_tensor_release(x);
    cq_tensor_release(y);
}

TEST(session, runs_a_model)
{
    cq_onnx_model *m = small_model();
    cq_session    *s;

    CHECK_OK(cq_session_prepare(&s, m, NULL));
    CHECK_INT(1, cq_session_n_inputs(s));
    CHECK_STR("y", cq_session_output_name(s, 0));
    check_run(s, 1, 1, 2, 0);
    check_run(s, -3, 5, 0, 3);
    cq_session_free(s);
    cq_onnx_model_free(m);
}

TEST(session, fetches_inner_values)
{
    cq_onnx_model     *m    = small_model();
    const char        *name = "s";
    cq_session_options options;
    cq_session        *s;
    cq_tensor         *x = vector(1, 1), *out[2];

    cq_session_options_init(&options);
    options.fetch   = &name;
    options.n_fetch = 1;
    CHECK_OK(cq_session_prepare(&s, m, &options));
    CHECK_OK(cq_session_run_tensors(s, &x, 1, out, 2));
    CHECK(cq_tensor_get_f64(out[1], 1) == -1);
    cq_tensor_release(x);
    cq_tensor_release(out[0]);
    cq_tensor_release(out[1]);
    cq_session_free(s);
    name = "nowhere";
    CHECK_STATUS(CQ_E_NOT_FOUND, cq_session_prepare(&s, m, &options));
    cq_onnx_model_free(m);
}

TEST(session, wrong_inputs_are_named_and_leave_it_usable)
{
    cq_onnx_model *m = small_model();
    cq_session    *s;
    cq_tensor     *x, *y;
    cq_onnx_value *v, *out;
    const char    *name = "z";

    CHECK_OK(cq_session_prepare(&s, m, NULL));
    CHECK_OK(cq_tensor_new(&x, CQ_DTYPE_F32, 1, (int64_t[]){ 3 }, NULL));
    CHECK_STATUS(CQ_E_TYPE, cq_session_run_tensors(s, &x, 1, &y, 1));
    CHECK_STR("input x is float32[3], expected size 2 in dimension 0", cq_last_error()->message);
    cq_tensor_release(x);
    CHECK_OK(cq_tensor_new(&x, CQ_DTYPE_I64, 1, (int64_t[]){ 2 }, NULL));
    CHECK_STATUS(CQ_E_TYPE, cq_session_run_tensors(s, &x, 1, &y, 1));
    CHECK_OK(cq_onnx_value_new_tensor(&v, x));
    CHECK_STATUS(CQ_E_NOT_FOUND, cq_session_run(s, &name, &v, 1, &out));
    CHECK_STATUS(CQ_E_ARGUMENT, cq_session_run(s, NULL, NULL, 0, &out));
    CHECK_STR("missing input x", cq_last_error()->message);
    cq_onnx_value_release(v);
    cq_tensor_release(x);
    check_run(s, 1, 1, 2, 0);
    cq_session_free(s);
    cq_onnx_model_free(m);
}

TEST(session, a_missing_operator_is_named)
{
    cq_onnx_model *m = small_model();
    cq_onnx_node  *node;
    cq_session    *s;

    cq_onnx_model_add_opset(m, "my.domain", 1);
    node = cq_onnx_graph_add_node(m, NULL, "Frobnicate", "my.domain", NULL);
    cq_onnx_node_add_input(m, node, "y");
    cq_onnx_node_add_output(m, node, "z");
    CHECK_STATUS(CQ_E_UNSUPPORTED, cq_session_prepare(&s, m, NULL));
    CHECK(strstr(cq_last_error()->message, "my.domain.Frobnicate") != NULL);
    cq_onnx_model_free(m);
}

/* A recursive function must not be inlined endlessly. */
TEST(session, recursive_functions_are_refused)
{
    cq_onnx_model    *m = small_model();
    cq_onnx_function *f;
    cq_onnx_node     *node;
    cq_session       *s;

    cq_onnx_model_add_opset(m, "f", 1);
    f = cq_onnx_model_add_function(m, "f", "Again");
    cq_onnx_function_add_opset(m, f, "f", 1);
    cq_onnx_add_name(m, &f->input, "a");
    cq_onnx_add_name(m, &f->output, "b");
    node = cq_onnx_function_add_node(m, f, "Again", "f", NULL);
    cq_onnx_node_add_input(m, node, "a");
    cq_onnx_node_add_output(m, node, "b");
    node = cq_onnx_graph_add_node(m, NULL, "Again", "f", NULL);
    cq_onnx_node_add_input(m, node, "y");
    cq_onnx_node_add_output(m, node, "z");
    CHECK_STATUS(CQ_E_UNSUPPORTED, cq_session_prepare(&s, m, NULL));
    cq_onnx_model_free(m);
}

TEST(session, the_memory_of_a_run_has_a_limit)
{
    cq_onnx_model     *m = small_model();
    cq_session_options options;
    cq_session        *s;
    cq_tensor         *x = vector(1, 1), *y;

    cq_session_options_init(&options);
    options.max_memory = 4;
    CHECK_OK(cq_session_prepare(&s, m, &options));
    CHECK_STATUS(CQ_E_NO_MEMORY, cq_session_run_tensors(s, &x, 1, &y, 1));
    CHECK_STR("node positive (Add+Relu), value y", cq_last_error()->where);
    cq_session_free(s);
    options.max_memory = 16; /* the second tensor overwrites the first */
    CHECK_OK(cq_session_prepare(&s, m, &options));
    CHECK_OK(cq_session_run_tensors(s, &x, 1, &y, 1));
    cq_tensor_release(y);
    cq_tensor_release(x);
    cq_session_free(s);
    cq_onnx_model_free(m);
}

static cq_onnx_model *parsed(const char *text)
{
    cq_onnx_model *m;

    CHECK_OK(cq_onnx_model_parse(&m, text, strlen(text), "test"));
    return m;
}

/* Without an explicit limit, a run is limited by the available memory. */
TEST(session, more_memory_than_there_is_is_refused_by_name)
{
    cq_onnx_model *m = parsed("<ir_version: 8, opset_import: [\"\" : 17]>\n"
                              "g (float[2] x) => (float[N] y) {\n"
                              "  s = Constant <value = int64[2] {1099511627776, 64}> ()\n"
                              "  y = ConstantOfShape(s)\n"
                              "}\n");
    cq_tensor     *x = vector(1, 1), *y;
    cq_session    *s;

    CHECK_OK(cq_session_prepare(&s, m, NULL));
    CHECK_STATUS(CQ_E_NO_MEMORY, cq_session_run_tensors(s, &x, 1, &y, 1));
    CHECK_STR("node y (ConstantOfShape), value y", cq_last_error()->where);
    CHECK(strstr(cq_last_error()->message, "a tensor of 281474976710656 bytes is needed") != NULL);
    cq_tensor_release(x);
    cq_session_free(s);
    cq_onnx_model_free(m);
}

/* Doubles x n times: the last tensor has 8 << n bytes. */
static cq_status double_often(int64_t n, uint64_t max_memory, uint64_t *peak)
{
    cq_onnx_model     *m     = parsed("<ir_version: 8, opset_import: [\"\" : 17]>\n"
                                              "g (int64 n, float[2] x) => (float[N] y) {\n"
                                              "  y = Loop <body = b (int64 i, bool c, float[N] a) => "
                                              "(bool d, float[M] e) {\n"
                                              "    d = Identity(c)\n"
                                              "    e = Concat <axis = 0> (a, a)\n"
                                              "  }> (n, , x)\n"
                                              "}\n");
    cq_tensor         *in[2] = { NULL, vector(1, 1) }, *y = NULL;
    cq_session_options options;
    cq_session        *s;
    cq_status          status;

    CHECK_OK(cq_tensor_new(&in[0], CQ_DTYPE_I64, 0, NULL, &n));
    cq_session_options_init(&options);
    options.max_memory = max_memory;
    CHECK_OK(cq_session_prepare(&s, m, &options));
    status = cq_session_run_tensors(s, in, 2, &y, 1);
    *peak  = cq_session_peak_memory(s);
    cq_tensor_release(in[0]);
    cq_tensor_release(in[1]);
    cq_tensor_release(y);
    cq_session_free(s);
    cq_onnx_model_free(m);
    return status;
}

TEST(session, a_loop_that_doubles_ends_at_the_limit)
{
    uint64_t needs, peak;

    CHECK_OK(double_often(14, UINT64_MAX, &needs));
    CHECK(needs >= (8 << 14) + (8 << 13) && needs < (8 << 14) + (8 << 13) + 64); /* the last two
                                                                                  * tensors */
    CHECK_OK(double_often(14, needs, &peak));
    CHECK_STATUS(CQ_E_NO_MEMORY, double_often(14, needs - 1, &peak));
    CHECK_STR("node e (Concat), value e", cq_last_error()->where);
    CHECK_STATUS(CQ_E_NO_MEMORY, double_often(INT64_MAX, 1 << 20, &peak));
    CHECK(peak <= 1 << 20);
}

TEST(session, a_nan_is_traced_to_its_node)
{
    cq_onnx_model     *m = small_model();
    cq_session_options options;
    cq_session        *s;
    cq_tensor         *x = vector(3e38f, 1), *y;

    cq_session_options_init(&options);
    options.flags = CQ_SESSION_TRAP_NAN;
    CHECK_OK(cq_session_prepare(&s, m, &options));
    CHECK_OK(cq_session_run_tensors(s, &x, 1, &y, 1));
    cq_tensor_release(y);
    cq_session_free(s);
    cq_tensor_release(x);
    m->graph->node.items[0]->op_type = "Pow"; /* 3e38 squared overflows */
    ((float *)cq_tensor_data(m->graph->initializer.items[0]->tensor))[0] = 2;
    x                                                                    = vector(3e38f, 1);
    CHECK_OK(cq_session_prepare(&s, m, &options));
    CHECK_STATUS(CQ_E_TYPE, cq_session_run_tensors(s, &x, 1, &y, 1));
    CHECK_STR("node sum (Pow)", cq_last_error()->where);
    cq_tensor_release(x);
    cq_session_free(s);
    cq_onnx_model_free(m);
}

static void *run_often(void *session)
{
    for (int i = 0; i < 100; i++)
        check_run(session, (float)i, 3, i + 1, 1);
    return NULL;
}

TEST(session, threads_share_it)
{
    cq_onnx_model *m = small_model();
    cq_session    *s;
    pthread_t      threads[4];

    CHECK_OK(cq_session_prepare(&s, m, NULL));
    for (int i = 0; i < 4; i++)
        CHECK_INT(0, pthread_create(&threads[i], NULL, run_often, s));
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    cq_session_free(s);
    cq_onnx_model_free(m);
}

/* y = Relu(x * x - x) + x for n numbers, large enough for a planned layout. */
static void check_planned(const cq_session *s, int64_t n, float first)
{
    cq_tensor *x, *y;
    float     *a, *b;

    CHECK_OK(cq_tensor_new(&x, CQ_DTYPE_F32, 1, &n, NULL));
    a = cq_tensor_data(x);
    for (int64_t i = 0; i < n; i++)
        a[i] = first + (float)(i % 9);
    CHECK_OK(cq_session_run_tensors(s, &x, 1, &y, 1));
    b = cq_tensor_data(y);
    for (int64_t i = 0; i < n; i++)
        CHECK(b[i] == (a[i] * a[i] - a[i] > 0 ? a[i] * a[i] - a[i] : 0) + a[i]);
    cq_tensor_release(x);
    cq_tensor_release(y);
}

struct sharing {
    const cq_session *sessions[2];
    int               first;
};

static void *run_shapes(void *user)
{
    const struct sharing *share = user;

    for (int i = 0; i < 30; i++)
        check_planned(share->sessions[(share->first + i) % 2],
                      2000 + 500 * ((share->first * 7 + i) % 5), (float)(share->first - i % 3));
    return NULL;
}

TEST(session, eight_threads_share_two_with_inputs_of_all_shapes)
{
    cq_onnx_model *m = parsed("<ir_version: 8, opset_import: [\"\" : 17]>\n"
                              "g (float[N] x) => (float[N] y) {\n"
                              "  a = Mul(x, x)\n"
                              "  b = Sub(a, x)\n"
                              "  c = Relu(b)\n"
                              "  y = Add(c, x)\n"
                              "}\n");
    cq_session    *s[2];
    pthread_t      threads[8];
    struct sharing shares[8];

    for (int i = 0; i < 2; i++)
        CHECK_OK(cq_session_prepare(&s[i], m, NULL));
    for (int i = 0; i < 8; i++) {
        shares[i] = (struct sharing){ { s[0], s[1] }, i };
        CHECK_INT(0, pthread_create(&threads[i], NULL, run_shapes, &shares[i]));
    }
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 2; i++)
        cq_session_free(s[i]);
    cq_onnx_model_free(m);
}

TEST(session, survives_every_failed_allocation)
{
    cq_onnx_model        *m      = small_model();
    cq_tensor            *x      = vector(1, 1);
    cq_status             status = CQ_E_NO_MEMORY;
    const cq_onnx_schema *warm;

    CHECK_OK(cq_onnx_schema_find(&warm, "", "Add", 17)); /* warm-up: global tables are built once */
    CHECK_OK(cq_onnx_schema_find(&warm, "", "Relu", 17));
    for (long n = 1; status == CQ_E_NO_MEMORY; n++) {
        cq_session *s = NULL;
        cq_tensor  *y = NULL;

        cq_alloc_fail_at(n);
        status = cq_session_prepare(&s, m, NULL);
        if (status == CQ_OK)
            status = cq_session_run_tensors(s, &x, 1, &y, 1);
        cq_alloc_fail_at(0);
        CHECK(status == CQ_OK || status == CQ_E_NO_MEMORY);
        cq_tensor_release(y);
        cq_session_free(s);
    }
    CHECK_OK(status);
    cq_tensor_release(x);
    cq_onnx_model_free(m);
}

TEST(session, a_node_may_use_an_input_twice)
{
    /* Mul(x, x) -> y */
    static const char node[] = "\x0a\x01x\x0a\x01x\x12\x01y\x22\x03Mul";
    cq_tensor        *t      = vector(2, 3);
    cq_onnx_value    *x, *twice[2], *y;

    CHECK_OK(cq_onnx_value_new_tensor(&x, t));
    twice[0] = twice[1] = x;
    CHECK_OK(cq_session_run_node(node, sizeof node - 1, 14, twice, 2, &y, 1, "CPU"));
    CHECK(cq_tensor_get_f64(cq_onnx_value_tensor(y), 1) == 9);
    cq_onnx_value_release(y);
    cq_onnx_value_release(x);
    cq_tensor_release(t);
}

TEST(session, the_steps_of_a_run_have_a_limit)
{
    cq_onnx_model     *m = small_model();
    cq_tensor         *x = vector(1, 2), *y;
    cq_session_options options;
    cq_session        *s;

    cq_session_options_init(&options);
    options.flags     = CQ_SESSION_NO_FOLDING;
    options.max_steps = 1;
    CHECK_OK(cq_session_prepare(&s, m, &options));
    CHECK_STATUS(CQ_E_UNSUPPORTED, cq_session_run_tensors(s, &x, 1, &y, 1));
    cq_session_free(s);
    cq_tensor_release(x);
    cq_onnx_model_free(m);
}

/* Loops without nodes, and loops whose few nodes take long. */
TEST(session, loops_are_charged_for_what_they_do)
{
    static const char *const bodies[] = {
        "b (int64 i, bool c, float[N] a) => (bool d, float[N] e) { d = Identity(c) e = Identity(a) "
        "}",
        "b (int64 i, bool d, float[N] e) => (bool d, float[N] e) { }",
        "b (int64 i, bool c, float[N, N] a) => (bool d, float[N, N] e) { d = Identity(c) e = "
        "MatMul(a, a) }",
    };

    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        char               text[1024];
        cq_session_options options;
        cq_onnx_model     *m;
        cq_session        *s;
        cq_tensor         *y;

        snprintf(text, sizeof text,
                 "<ir_version: 8, opset_import: [\"\" : 17]>\n"
                 "g () => (float%s y) <int64 n = {9223372036854775807}, bool yes = {1},"
                 " int64[2] size = {1000, 1000}> {\n"
                 "  x = ConstantOfShape(size)\n"
                 "  y = Loop <body = %s> (n, yes, x)\n"
                 "}\n",
                 i == 2 ? "[N, N]" : "[M, N]", bodies[i]);
        m = parsed(text);
        cq_session_options_init(&options);
        options.max_steps = 1000000;
        CHECK_OK(cq_session_prepare(&s, m, &options));
        CHECK_STATUS(CQ_E_UNSUPPORTED, cq_session_run_tensors(s, NULL, 0, &y, 1));
        cq_session_free(s);
        cq_onnx_model_free(m);
    }
}

/* One tensor that is two outputs is read twice by the caller. */
TEST(session, outputs_are_charged_for_their_elements)
{
    cq_onnx_model     *m = parsed("<ir_version: 8, opset_import: [\"\" : 17]>\n"
                                      "g (float[N] x) => (float[N] y, float[N] z)\n"
                                      "{ y = Identity(x) z = Identity(x) }\n");
    cq_tensor         *x, *y[2];
    cq_session_options options;
    cq_session        *s;

    CHECK_OK(cq_tensor_new(&x, CQ_DTYPE_F32, 1, (int64_t[]){ 640000 }, NULL));
    cq_session_options_init(&options);
    for (int enough = 0; enough < 2; enough++) {
        options.max_steps = enough ? 200000 : 15000;
        CHECK_OK(cq_session_prepare(&s, m, &options));
        CHECK_STATUS(enough ? CQ_OK : CQ_E_UNSUPPORTED, cq_session_run_tensors(s, &x, 1, y, 2));
        if (enough) {
            cq_tensor_release(y[0]);
            cq_tensor_release(y[1]);
        }
        cq_session_free(s);
    }
    cq_tensor_release(x);
    cq_onnx_model_free(m);
}

static void note_threads(void *user, const char *node, const char *op_type, int64_t begin,
                         int64_t end)
{
    (void)node, (void)op_type, (void)begin, (void)end;
    *(int *)user = cq_threads();
}

TEST(session, has_threads_of_its_own)
{
    cq_session_options options;
    cq_onnx_model     *m = small_model();
    cq_session        *s;
    int                n = 0;

    cq_set_threads(5);
    cq_session_options_init(&options);
    options.threads   = 3;
    options.hook      = note_threads;
    options.hook_user = &n;
    CHECK_OK(cq_session_prepare(&s, m, &options));
    check_run(s, 1, 1, 2, 0);
    CHECK_INT(3, n);
    CHECK_INT(5, cq_threads());
    cq_set_threads(0);
    cq_session_free(s);
    cq_onnx_model_free(m);
}

/* Parts of 64 KB are copied by separate threads. */
TEST(session, large_tensors_are_put_together_by_threads)
{
    enum { CHANNELS = 3, ROWS = 50, COLS = 301 };
    cq_onnx_model *m = parsed("<ir_version: 8, opset_import: [\"\" : 17]>\n"
                              "g (float[1, C, H, W] x) => (float[1, D, H, W] y) {\n"
                              "  z = Neg(x)\n"
                              "  y = Concat <axis = 1> (x, z, x)\n"
                              "}\n");
    cq_session    *s;
    cq_tensor     *x, *y;
    float         *at;
    int64_t        wrong = 0;

    CHECK_OK(cq_tensor_new_uninit(&x, CQ_DTYPE_F32, 4, (int64_t[]){ 1, CHANNELS, ROWS, COLS }));
    at = cq_tensor_data(x);
    for (int i = 0; i < CHANNELS * ROWS * COLS; i++)
        at[i] = (float)i;
    CHECK_OK(cq_session_prepare(&s, m, NULL));
    for (int threads = 1; threads <= 3; threads++) {
        cq_set_threads(threads);
        CHECK_OK(cq_session_run_tensors(s, &x, 1, &y, 1));
        at = cq_tensor_data(y);
        for (int i = 0; i < 3 * CHANNELS * ROWS * COLS; i++) {
            const int of = i % (CHANNELS * ROWS * COLS);

            wrong += at[i] != (float)(i / (CHANNELS * ROWS * COLS) == 1 ? -of : of);
        }
        cq_tensor_release(y);
    }
    CHECK_INT(0, wrong);
    cq_set_threads(0);
    cq_tensor_release(x);
    cq_session_free(s);
    cq_onnx_model_free(m);
}

TEST(session, a_profile_outlives_it)
{
    const char         path[] = "profile_test.json";
    cq_session_options options;
    cq_onnx_model     *m = small_model();
    cq_session        *s;
    cq_profile        *p;
    char               text[1024];
    FILE              *file;
    size_t             n;

    CHECK_OK(cq_profile_new(&p));
    cq_session_options_init(&options);
    options.hook      = cq_profile_note;
    options.hook_user = p;
    CHECK_OK(cq_session_prepare(&s, m, &options));
    check_run(s, 1, 1, 2, 0);
    cq_session_free(s);
    cq_onnx_model_free(m);
    CHECK_OK(cq_profile_save(p, path, NULL));
    cq_profile_free(p);
    file = fopen(path, "rb");
    n    = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    remove(path);
    text[n] = '\0';
    CHECK(strstr(text, "\"name\": \"positive\", \"cat\": \"Add+Relu\", \"ph\": \"X\", \"ts\": ") !=
          NULL);
    CHECK(strstr(text, "\"peak_bytes\": \"0\"") != NULL);
}

/* Models of one node that would take minutes or more. */
TEST(session, work_that_exceeds_the_limit_does_not_begin)
{
    static const struct {
        const char *nodes;
        int         opset;
    } cases[] = {
        { "w = ConstantOfShape(k) y = Conv <pads = [500, 500, 500, 500]> (x, w)", 17 },
        { "w = ConstantOfShape(k) y = Conv <pads = [1500, 1500, 1500, 1500]> (x, w)", 17 },
        { "w = ConstantOfShape(k) y = ConvTranspose(x, w)", 17 },
        { "y = MaxPool <kernel_shape = [1001, 1001], pads = [500, 500, 500, 500]> (x)", 17 },
        { "y = AveragePool <kernel_shape = [1001, 1001], pads = [500, 500, 500, 500]> (x)", 17 },
        { "y = LpPool <kernel_shape = [1001, 1001], pads = [500, 500, 500, 500]> (x)", 17 },
        { "f = Reshape(x, flat) y = DFT <axis = 1> (f)", 17 },
        { "f = Reshape(x, line) y = Einsum <equation = \"i,j->ij\"> (f, f)", 17 },
        { "y = Resize <mode = \"cubic\"> (x, , factors)", 17 },
        { "y = RoiAlign <output_height = 9, output_width = 9, sampling_ratio = 100000>"
          " (x, region, zero)",
          17 },
        { "y = RoiAlign <output_height = 999, output_width = 999> (x, region, zero)", 17 },
        { "y = Tile(x, many)", 17 },
        { "e = Expand(x, wide) y = Exp(e)", 17 },
        { "y = Range(from, to, by)", 17 },
        { "y = RandomNormal <shape = [1000000, 100000]> ()", 17 },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char               text[2048];
        cq_session_options options;
        cq_onnx_model     *m;
        cq_session        *s;
        cq_tensor         *y;
        cq_status          status;

        snprintf(text, sizeof text,
                 "<ir_version: 8, opset_import: [\"\" : %d]>\n"
                 "g () => (float[] y) <int64[4] size = {1, 1, 997, 997},"
                 " int64[4] k = {1, 1, 1001, 1001}, int64[3] flat = {1, 994009, 1},"
                 " int64[1] line = {994009}, float[4] factors = {1, 1, 99, 99},"
                 " float[1, 4] region = {0, 0, 990, 990}, int64[1] zero = {0},"
                 " int64[4] many = {1, 1, 99, 99}, int64[4] wide = {9999, 1, 997, 997},"
                 " float from = {0}, float to = {1e10}, float by = {1}> {\n"
                 "  x = ConstantOfShape(size)\n"
                 "  %s\n"
                 "}\n",
                 cases[i].opset, cases[i].nodes);
        m = parsed(text);
        cq_session_options_init(&options);
        CHECK_OK(cq_session_prepare(&s, m, &options));
        status = cq_session_run_tensors(s, NULL, 0, &y, 1);
        if (status != CQ_E_UNSUPPORTED && status != CQ_E_NO_MEMORY)
            print_error("%s: %s\n", cases[i].nodes, cq_last_error()->message);
        CHECK(status == CQ_E_UNSUPPORTED || status == CQ_E_NO_MEMORY);
        cq_session_free(s);
        cq_onnx_model_free(m);
    }
}

/* Strings and sequences that grow. */
TEST(session, growing_values_are_charged_by_their_size)
{
    static const char *const bodies[] = {
        "b (int64 i, bool c, string[N] a) => (bool d, string[N] e) { d = Identity(c) e = "
        "StringConcat(a, a) }",
        "b (int64 i, bool c, seq(string[N]) a) => (bool d, seq(string[N]) e) { d = Identity(c) e = "
        "SequenceInsert(a, x) }",
    };

    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        char               text[1024];
        cq_session_options options;
        cq_onnx_model     *m;
        cq_session        *s;
        cq_onnx_value     *y = NULL;

        snprintf(text, sizeof text,
                 "<ir_version: 8, opset_import: [\"\" : 20]>\n"
                 "g () => (%s y) <int64 n = {9223372036854775807}, bool yes = {1},"
                 " string[1] x = {\"ab\"}> {\n"
                 "  z = %s(x)\n"
                 "  y = Loop <body = %s> (n, yes, z)\n"
                 "}\n",
                 i ? "seq(string[N])" : "string[N]", i ? "SequenceConstruct" : "Identity",
                 bodies[i]);
        m = parsed(text);
        cq_session_options_init(&options);
        options.max_steps = 1000000;
        CHECK_OK(cq_session_prepare(&s, m, &options));
        CHECK_STATUS(CQ_E_UNSUPPORTED, cq_session_run(s, NULL, NULL, 0, &y));
        cq_session_free(s);
        cq_onnx_model_free(m);
    }
}

/* A constant weight of those sizes. */
static void add_weight(cq_onnx_model *m, const char *name, size_t rank, const int64_t *sizes)
{
    cq_tensor *t;

    CHECK_OK(cq_tensor_new(&t, CQ_DTYPE_F32, rank, sizes, NULL));
    for (int64_t i = 0; i < cq_tensor_numel(t); i++)
        ((float *)cq_tensor_data(t))[i] = (float)(i * 7919 % 1009) / 1009 - 0.5f;
    cq_onnx_graph_add_initializer(m, NULL, name, t);
    cq_tensor_release(t);
}

/* y = x w, or x times the transpose of w, and b = a convolution of a. w has 1 MB, the weight of the
 * convolution 590 KB. */
static cq_onnx_model *heavy_model(bool transposed)
{
    cq_onnx_model *m;
    cq_onnx_node  *node;

    CHECK_OK(cq_onnx_model_new(&m, "heavy"));
    cq_onnx_model_add_opset(m, "", 17);
    add_weight(m, "w", 2, (int64_t[]){ 512, 512 });
    add_weight(m, "k", 4, (int64_t[]){ 128, 128, 3, 3 });
    cq_onnx_add_value(m, &m->graph->input, "x", NULL);
    cq_onnx_add_value(m, &m->graph->input, "a", NULL);
    node = cq_onnx_graph_add_node(m, NULL, transposed ? "Gemm" : "MatMul", NULL, "product");
    cq_onnx_node_add_input(m, node, "x");
    cq_onnx_node_add_input(m, node, "w");
    cq_onnx_node_add_output(m, node, "y");
    if (transposed)
        cq_onnx_attr_int(m, node, "transB", 1);
    node = cq_onnx_graph_add_node(m, NULL, "Conv", NULL, "convolution");
    cq_onnx_node_add_input(m, node, "a");
    cq_onnx_node_add_input(m, node, "k");
    cq_onnx_node_add_output(m, node, "b");
    cq_onnx_add_value(m, &m->graph->output, "y", NULL);
    cq_onnx_add_value(m, &m->graph->output, "b", NULL);
    CHECK_OK(m->status);
    return m;
}

static void run_heavy(const cq_session *s, int64_t rows, int64_t size)
{
    cq_tensor *in[2], *out[2];

    CHECK_OK(cq_tensor_new(&in[0], CQ_DTYPE_F32, 2, (int64_t[]){ rows, 512 }, NULL));
    CHECK_OK(cq_tensor_new(&in[1], CQ_DTYPE_F32, 4, (int64_t[]){ 1, 128, size, size }, NULL));
    CHECK_OK(cq_session_run_tensors(s, in, 2, out, 2));
    CHECK_INT(size - 2, cq_tensor_size(out[1], 3));
    for (int i = 0; i < 2; i++) {
        cq_tensor_release(in[i]);
        cq_tensor_release(out[i]);
    }
}

/* The memory would not suffice for packing a weight twice. */
TEST(session, new_shapes_pack_nothing_again)
{
    cq_onnx_model     *m = heavy_model(false);
    cq_session_options options;
    cq_session        *s;
    cq_alloc_budget    before, spent;

    cq_session_options_init(&options);
    options.max_memory = UINT64_MAX;
    options.threads    = 1; /* budgets are per thread */
    CHECK_OK(cq_session_prepare(&s, m, &options));
    run_heavy(s, 2, 5); /* packs w, which a single row would not */
    before = cq_alloc_set_budget((cq_alloc_budget){ .limit = 500000 });
    run_heavy(s, 3, 6);
    run_heavy(s, 13, 8);
    run_heavy(s, 1, 3);
    run_heavy(s, 2, 5);
    spent = cq_alloc_set_budget(before);
    CHECK(spent.peak > 0 && spent.peak < 500000);
    cq_session_free(s);
    cq_onnx_model_free(m);
}

/* Checks the product of a row in the heavy model, which must always be the same. */
static void check_row(const cq_session *s, cq_tensor **first)
{
    cq_tensor *in[2], *out[2];

    CHECK_OK(cq_tensor_new(&in[0], CQ_DTYPE_F32, 2, (int64_t[]){ 1, 512 }, NULL));
    CHECK_OK(cq_tensor_new(&in[1], CQ_DTYPE_F32, 4, (int64_t[]){ 1, 128, 3, 3 }, NULL));
    for (int i = 0; i < 512; i++)
        ((float *)cq_tensor_data(in[0]))[i] = (float)(i % 37) / 37;
    CHECK_OK(cq_session_run_tensors(s, in, 2, out, 2));
    if (*first)
        CHECK(!memcmp(cq_tensor_data(*first), cq_tensor_data(out[0]), 512 * sizeof(float)));
    else
        *first = cq_tensor_retain(out[0]);
    for (int i = 0; i < 2; i++) {
        cq_tensor_release(in[i]);
        cq_tensor_release(out[i]);
    }
}

/* A matrix is packed after some single-row products, or at once for two rows or a transposed
 * matrix, or never for lack of memory. The results are bit-identical in all cases. */
static void check_packing(bool transposed)
{
    cq_onnx_model     *m     = heavy_model(transposed);
    cq_tensor         *first = NULL;
    cq_session_options options;
    cq_session        *s;
    cq_alloc_budget    before, spent;

    cq_session_options_init(&options);
    options.max_memory = UINT64_MAX;
    options.threads    = 1;
    CHECK_OK(cq_session_prepare(&s, m, &options));
    before = cq_alloc_set_budget((cq_alloc_budget){ .limit = 500000 });
    for (int i = 0; i < 20; i++)
        check_row(s, &first);
    cq_alloc_set_budget(before);
    run_heavy(s, 2, 5);
    check_row(s, &first);
    cq_session_free(s);
    CHECK_OK(cq_session_prepare(&s, m, &options));
    before = cq_alloc_set_budget((cq_alloc_budget){ .limit = 5000000 });
    for (int i = 0; i < 20; i++)
        check_row(s, &first);
    spent = cq_alloc_set_budget(before);
    CHECK(spent.peak > 512 * 512 * (int64_t)sizeof(float)); /* w was packed */
    cq_session_free(s);
    cq_tensor_release(first);
    cq_onnx_model_free(m);
}

TEST(session, packing_does_not_show_in_a_row)
{
    check_packing(false);
    check_packing(true);
}

TEST(session, knows_its_devices)
{
    cq_session_options options;
    cq_onnx_model     *m = small_model();
    cq_session        *s;

    CHECK(cq_session_supports_device("CPU") && !cq_session_supports_device("CUDA"));
    cq_session_options_init(&options);
    options.device = "CUDA";
    CHECK_STATUS(CQ_E_UNSUPPORTED, cq_session_prepare(&s, m, &options));
    cq_onnx_model_free(m);
}

static void count_progress(void *user, const char *what, uint64_t done, uint64_t total)
{
    size_t *n = user;

    if (!what)
        return;
    CHECK_STR("running", what);
    CHECK(done <= total);
    ++*n;
}

TEST(session, a_run_reports_progress)
{
    cq_onnx_model *m = small_model();
    cq_session    *s;
    size_t         n = 0;

    CHECK_OK(cq_session_prepare(&s, m, NULL));
    cq_set_progress_handler(count_progress, &n);
    check_run(s, 1, 1, 2, 0);
    cq_set_progress_handler(NULL, NULL);
    CHECK(n > 0);
    cq_session_free(s);
    cq_onnx_model_free(m);
}

RUN_TESTS(TEST_OF(session, runs_a_model), TEST_OF(session, a_run_reports_progress),
          TEST_OF(session, has_threads_of_its_own),
          TEST_OF(session, large_tensors_are_put_together_by_threads),
          TEST_OF(session, a_profile_outlives_it), TEST_OF(session, fetches_inner_values),
          TEST_OF(session, wrong_inputs_are_named_and_leave_it_usable),
          TEST_OF(session, a_missing_operator_is_named),
          TEST_OF(session, recursive_functions_are_refused),
          TEST_OF(session, the_memory_of_a_run_has_a_limit),
          TEST_OF(session, more_memory_than_there_is_is_refused_by_name),
          TEST_OF(session, a_loop_that_doubles_ends_at_the_limit),
          TEST_OF(session, a_nan_is_traced_to_its_node), TEST_OF(session, threads_share_it),
          TEST_OF(session, eight_threads_share_two_with_inputs_of_all_shapes),
          TEST_OF(session, survives_every_failed_allocation),
          TEST_OF(session, a_node_may_use_an_input_twice),
          TEST_OF(session, the_steps_of_a_run_have_a_limit),
          TEST_OF(session, work_that_exceeds_the_limit_does_not_begin),
          TEST_OF(session, growing_values_are_charged_by_their_size),
          TEST_OF(session, outputs_are_charged_for_their_elements),
          TEST_OF(session, loops_are_charged_for_what_they_do),
          TEST_OF(session, new_shapes_pack_nothing_again),
          TEST_OF(session, packing_does_not_show_in_a_row), TEST_OF(session, knows_its_devices))
