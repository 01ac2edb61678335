/* The fused attention step gives the same results as the unfused steps. tests/peer/attention.py
 * compares shapes, masks and special numbers with ONNX Runtime. */
#include "rewrites.h"

/* q and v of [2, 3, 5, 4], transposed keys, a mask of [5, 5]. */
static void inputs(cq_tensor **in)
{
    in[0] = numbers(4, (int64_t[]){ 2, 3, 5, 4 }, 1);
    in[1] = numbers(4, (int64_t[]){ 2, 3, 4, 5 }, 2);
    in[2] = numbers(4, (int64_t[]){ 2, 3, 5, 4 }, 3);
    in[3] = numbers(2, (int64_t[]){ 5, 5 }, 4);
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

static void expect_attention(const char *text, int n_steps, const char *fetch)
{
    cq_tensor *in[4];

    inputs(in);
    expect_same(text, in, 4, "Attention", n_steps, fetch);
    release(in, 4);
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

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        expect_attention(texts[i], 1, NULL);
}

TEST(attentions, values_with_other_readers_are_not_fused)
{
    static const char *const names[] = { "p", "s", "t", "u" };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        expect_attention(masked, 0, names[i]);
}

TEST(attentions, other_formulas_are_not_fused)
{
    static const char *const texts[] = {
        /* the scale is applied after the mask */
        HEAD "  p = MatMul(q, k)\n"
             "  t = Add(p, m)\n"
             "  s = Mul(t, half)\n"
             "  u = Softmax <axis = -1> (s)\n"
             "  y = MatMul(u, v)\n"
             "}\n",
        /* the probabilities are the right operand */
        HEAD "  p = MatMul(q, k)\n"
             "  u = Softmax <axis = -1> (p)\n"
             "  y = MatMul(k, u)\n"
             "}\n",
        /* the scale is divided by the scores */
        HEAD "  p = MatMul(q, k)\n"
             "  s = Div(half, p)\n"
             "  u = Softmax <axis = -1> (s)\n"
             "  y = MatMul(u, v)\n"
             "}\n",
    };

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        expect_attention(texts[i], 0, NULL);
}

/* Errors name the original node. */
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
    (void)run_counting(&warm, m, in, 4, 0, "", NULL); /* warm-up: global tables are built once */
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

RUN_TESTS(TEST_OF(attentions, become_one_step),
          TEST_OF(attentions, values_with_other_readers_are_not_fused),
          TEST_OF(attentions, other_formulas_are_not_fused),
          TEST_OF(attentions, errors_name_the_node),
          TEST_OF(attentions, survive_every_failed_allocation))
