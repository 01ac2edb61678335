/* Graphs that have attention written out: one step makes what they make one by one. Shapes, masks
 * and odd numbers are tested against ONNX Runtime (tests/peer/attention.py). */
#include "onnx/model.h"
#include "runtime/value.h"
#include "test.h"

#include <math.h>

static cq_onnx_model *parsed(const char *text)
{
    cq_onnx_model *m;

    CHECK_OK(cq_onnx_model_parse(&m, text, strlen(text), "test"));
    return m;
}

static cq_tensor *numbers(size_t rank, const int64_t *sizes, int seed)
{
    cq_tensor *t;

    CHECK_OK(cq_tensor_new(&t, CQ_DTYPE_F32, rank, sizes, NULL));
    for (int64_t i = 0; i < cq_tensor_numel(t); i++)
        ((float *)cq_tensor_data(t))[i] = (float)((7 * i + seed) % 23 - 11) / 8;
    return t;
}

static void count_attention(void *user, const char *node, const char *op, int64_t begin,
                            int64_t end)
{
    (void)node, (void)begin, (void)end;
    *(int *)user += !strcmp(op, "Attention");
}

/* Runs it with four inputs; how many steps were attention. */
static int run(cq_tensor **out, const cq_onnx_model *m, cq_tensor **in, uint32_t flags,
               const char *fetch)
{
    cq_session_options options;
    cq_session        *s;
    cq_tensor         *all[2] = { 0 };
    int                n      = 0;

    cq_session_options_init(&options);
    options.flags     = flags;
    options.hook      = count_attention;
    options.hook_user = &n;
    options.fetch     = &fetch;
    options.n_fetch   = fetch ? 1 : 0;
    CHECK_OK(cq_session_prepare(&s, m, &options));
    CHECK_OK(cq_session_run_tensors(s, in, 4, all, fetch ? 2 : 1));
    cq_session_free(s);
    cq_tensor_release(all[1]);
    *out = all[0];
    return n;
}

/* q and v of [2, 3, 5, 4], keys turned, a mask of [5, 5]. */
static void inputs(cq_tensor **in)
{
    in[0] = numbers(4, (int64_t[]){ 2, 3, 5, 4 }, 1);
    in[1] = numbers(4, (int64_t[]){ 2, 3, 4, 5 }, 2);
    in[2] = numbers(4, (int64_t[]){ 2, 3, 5, 4 }, 3);
    in[3] = numbers(2, (int64_t[]){ 5, 5 }, 4);
}

static void release(cq_tensor **in, size_t n)
{
    for (size_t i = 0; i < n; i++)
        cq_tensor_release(in[i]);
}

#define HEAD                                                                                       \
    "<ir_version: 8, opset_import: [\"\" : 17]>\n"                                                 \
    "g (float[a,b,c,d] q, float[a,b,d,e] k, float[a,b,e,f] v, float[c,e] m) => (float[w,x,y,z] "   \
    "y) {\n"                                                                                       \
    "  half = Constant <value = float {0.5}> ()\n"

static const char masked[] = HEAD "  p = MatMul(q, k)\n"
                                  "  s = Mul(p, half)\n"
                                  "  t = Add(m, s)\n"
                                  "  u = Softmax <axis = -1> (t)\n"
                                  "  y = MatMul(u, v)\n"
                                  "}\n";

static void expect_same(const cq_onnx_model *m, int n_attentions, const char *fetch)
{
    cq_tensor *in[4], *fast, *plain;

    inputs(in);
    CHECK_INT(n_attentions, run(&fast, m, in, 0, fetch));
    CHECK_INT(0, run(&plain, m, in, CQ_SESSION_NO_FOLDING, fetch));
    CHECK_INT(cq_tensor_numel(plain), cq_tensor_numel(fast));
    for (int64_t i = 0; i < cq_tensor_numel(plain); i++) {
        double got = cq_tensor_get_f64(fast, i), want = cq_tensor_get_f64(plain, i);

        CHECK(isnan(want) ? isnan(got) : fabs(got - want) < 1e-5);
    }
    release(in, 4);
    release((cq_tensor *[]){ fast, plain }, 2);
}

TEST(attentions, become_one_step)
{
    static const char *const texts[] = {
        masked,
        HEAD "  a = Div(q, half)\n"
             "  b = Mul(half, k)\n"
             "  p = MatMul(a, b)\n"
             "  zero = Constant <value = float {0.0}> ()\n"
             "  c = Less(m, zero)\n"
             "  t = Where(c, p, half)\n"
             "  u = Softmax <axis = 3> (t)\n"
             "  w = MatMul(u, v)\n"
             "  y = Transpose <perm = [0, 2, 1, 3]> (w)\n"
             "}\n",
    };

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        cq_onnx_model *m = parsed(texts[i]);

        expect_same(m, 1, NULL);
        cq_onnx_model_free(m);
    }
}

TEST(attentions, leave_what_somebody_reads)
{
    static const char *const names[] = { "p", "s", "t", "u" };
    cq_onnx_model           *m       = parsed(masked);

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        expect_same(m, 0, names[i]);
    cq_onnx_model_free(m);
}

TEST(attentions, leave_what_is_another_formula)
{
    static const char *const texts[] = {
        /* scaled behind the mask */
        HEAD "  p = MatMul(q, k)\n"
             "  t = Add(p, m)\n"
             "  s = Mul(t, half)\n"
             "  u = Softmax <axis = -1> (s)\n"
             "  y = MatMul(u, v)\n"
             "}\n",
        /* probabilities on the right */
        HEAD "  p = MatMul(q, k)\n"
             "  u = Softmax <axis = -1> (p)\n"
             "  y = MatMul(k, u)\n"
             "}\n",
        /* divided by scores */
        HEAD "  p = MatMul(q, k)\n"
             "  s = Div(half, p)\n"
             "  u = Softmax <axis = -1> (s)\n"
             "  y = MatMul(u, v)\n"
             "}\n",
    };

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        cq_onnx_model *m = parsed(texts[i]);

        expect_same(m, 0, NULL);
        cq_onnx_model_free(m);
    }
}

/* What cannot be is said as the model's own node would say it. */
TEST(attentions, errors_name_the_node)
{
    cq_onnx_model *m = parsed(masked);
    cq_tensor     *in[4], *y = NULL;
    cq_session    *s;

    inputs(in);
    cq_tensor_release(in[1]);
    in[1] = numbers(4, (int64_t[]){ 2, 3, 3, 5 }, 2);
    CHECK_OK(cq_session_prepare(&s, m, NULL));
    CHECK(cq_session_run_tensors(s, in, 4, &y, 1) != CQ_OK);
    CHECK(strstr(cq_last_error()->where, "MatMul") != NULL);
    cq_session_free(s);
    release(in, 4);
    cq_onnx_model_free(m);
}

TEST(attentions, survive_every_failed_allocation)
{
    cq_onnx_model *m      = parsed(masked);
    cq_status      status = CQ_E_NO_MEMORY;
    cq_tensor     *in[4], *warm;

    inputs(in);
    (void)run(&warm, m, in, 0, NULL); /* tables are made once */
    cq_tensor_release(warm);
    for (long n = 1; status == CQ_E_NO_MEMORY; n++) {
        cq_session *s = NULL;
        cq_tensor  *y = NULL;

        cq_alloc_fail_at(n);
        status = cq_session_prepare(&s, m, NULL);
        if (status == CQ_OK)
            status = cq_session_run_tensors(s, in, 4, &y, 1);
        cq_alloc_fail_at(0);
        CHECK(status == CQ_OK || status == CQ_E_NO_MEMORY);
        cq_tensor_release(y);
        cq_session_free(s);
    }
    CHECK_OK(status);
    release(in, 4);
    cq_onnx_model_free(m);
}

RUN_TESTS(TEST_OF(attentions, become_one_step), TEST_OF(attentions, leave_what_somebody_reads),
          TEST_OF(attentions, leave_what_is_another_formula),
          TEST_OF(attentions, errors_name_the_node),
          TEST_OF(attentions, survive_every_failed_allocation))
