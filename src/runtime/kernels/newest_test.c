/* Operators of opsets 25 to 28; the expected results were computed by hand. */
#include "onnx/model.h"

#include "test.h"

#include <calque/session.h>

#include <math.h>
#include <stdio.h>

/* Runs nodes whose inputs are initializers, and compares output y. */
static void expect(int opset, const char *initializers, const char *type, const char *nodes,
                   const double *want, int64_t n)
{
    char           text[1024];
    cq_onnx_model *m = NULL;
    cq_session    *s = NULL;
    cq_tensor     *y = NULL;

    snprintf(text, sizeof text,
             "<ir_version: 13, opset_import: [\"\" : %d]>\ng () => (%s y) <%s> { %s }", opset, type,
             initializers, nodes);
    CHECK_OK(cq_onnx_model_parse(&m, text, strlen(text), "<test>"));
    CHECK_OK(cq_session_prepare(&s, m, NULL));
    CHECK_OK(cq_session_run_tensors(s, NULL, 0, &y, 1));
    CHECK_INT(n, cq_tensor_numel(y));
    for (int64_t i = 0; i < n; i++)
        CHECK(fabs(cq_tensor_get_f64(y, i) - want[i]) <= 1e-3 * fmax(0.1, fabs(want[i])));
    cq_tensor_release(y);
    cq_session_free(s);
    cq_onnx_model_free(m);
}

#define WANT(...)                                                                                  \
    (const double[])                                                                               \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

/* q = 2, 3; k = 1, 2; v = 5, 7; the decay is log 2, the rate 1. */
static void linear_attention_by_four_rules(void **state)
{
    static const char in[] = "float[1,2,1] q = {2, 3}, float[1,2,1] k = {1, 2}, "
                             "float[1,2,1] v = {5, 7}, float[1,2,1] g = {0.6931472, 0.6931472}, "
                             "float[1,2,1] b = {1, 1}";
#define NODE(rule, inputs)                                                                         \
    "y, s = LinearAttention <q_num_heads = 1, kv_num_heads = 1, scale = 1.0, update_rule = "       \
    "\"" rule "\"> (" inputs ")"

    (void)state;
    expect(27, in, "float[1,2,1]", NODE("linear", "q, k, v"), WANT(10, 57), 2);
    expect(27, in, "float[1,2,1]", NODE("gated", "q, k, v, , g"), WANT(10, 72), 2);
    expect(27, in, "float[1,2,1]", NODE("delta", "q, k, v, , , b"), WANT(10, -3), 2);
    expect(27, in, "float[1,2,1]", NODE("gated_delta", "q, k, v, , g, b"), WANT(10, -48), 2);
    expect(27, in, "float[1,1,1,1]",
           "o, y = LinearAttention <q_num_heads = 1, kv_num_heads = 1, update_rule = \"linear\"> "
           "(q, k, v)",
           WANT(19), 1);
}

/* Two query heads share the state of one key head. */
static void linear_attention_with_shared_keys(void **state)
{
    (void)state;
    expect(27,
           "float[1,1,2] q = {2, 3}, float[1,1,1] k = {4}, float[1,1,1] v = {5}, "
           "float[1,1,1,1] p = {1}",
           "float[1,1,2]",
           "y, s = LinearAttention <q_num_heads = 2, kv_num_heads = 1, scale = 1.0, "
           "update_rule = \"linear\"> (q, k, v, p)",
           WANT(42, 63), 2);
}

static void causal_convolution(void **state)
{
    static const char in[] = "float[1,1,3] x = {1, 2, 3}, float[1,1,2] w = {1, 10}, "
                             "float[1] b = {0.5}, float[1,1,1] p = {4}";

    (void)state;
    expect(27, in, "float[1,1,3]", "y, s = CausalConvWithState (x, w, b, p)",
           WANT(14.5, 21.5, 32.5), 3);
    expect(27, in, "float[1,1,3]", "y, s = CausalConvWithState (x, w)", WANT(10, 21, 32), 3);
    expect(27, in, "float[1,1,1]", "o, y = CausalConvWithState (x, w, b, p)", WANT(3), 1);
    expect(27, in, "float[1,1,3]", "y, s = CausalConvWithState <activation = \"silu\"> (x, w)",
           WANT(10 / (1 + exp(-10)), 21, 32), 3);
}

static void bits_become_other_types(void **state)
{
    (void)state;
    expect(26, "float[2] x = {1, -2}", "int32[2]", "y = BitCast <to = 6> (x)",
           WANT(1065353216, -1073741824), 2);
    expect(26, "int8[2] x = {-1, 5}", "uint8[2]", "y = BitCast <to = 2> (x)", WANT(255, 5), 2);
    expect(26, "uint8[3] b = {15, 8, 7}", "int4[3]",
           "x = Cast <to = 21> (b) y = BitCast <to = 22> (x)", WANT(-1, -8, 7), 3);
}

static void products_along_an_axis(void **state)
{
    static const char in[] = "float[4] x = {1, 2, 3, 4}, int32 a = {0}";

    (void)state;
    expect(26, in, "float[4]", "y = CumProd (x, a)", WANT(1, 2, 6, 24), 4);
    expect(26, in, "float[4]", "y = CumProd <exclusive = 1, reverse = 1> (x, a)",
           WANT(24, 12, 4, 1), 4);
}

static void gates(void **state)
{
    (void)state;
    expect(28, "float[2] a = {2, 0}, float[2] b = {3, 1}", "float[2]",
           "y = SwiGLU <alpha = 0.0> (a, b)", WANT(3, 0), 2);
    expect(28, "float[2] a = {2, -1}", "float16[2]",
           "h = Cast <to = 10> (a) c = Celu <alpha = 2.0> (h) y = SwiGLU <alpha = 0.0> (c, h)",
           WANT(2, 0.39355), 2);
}

static void a_window_hides_keys(void **state)
{
    static const char in[] = "float[1,1,3,1] v = {1, 2, 4}";

    (void)state;
    expect(25, in, "float[1,1,3,1]",
           "y = Attention <scale = 0.0, is_causal = 1, left_window_size = 0> (v, v, v)",
           WANT(1, 2, 4), 3);
    expect(25, in, "float[1,1,3,1]", "y = Attention <scale = 0.0, right_window_size = 0> (v, v, v)",
           WANT(1, 1.5, 7.0 / 3), 3);
    expect(25, in, "float[1,1,3,1]",
           "y = Attention <scale = 0.0, left_window_size = 1, right_window_size = 1> (v, v, v)",
           WANT(1.5, 7.0 / 3, 3), 3);
}

static void ranges_of_half_precision(void **state)
{
    (void)state;
    expect(27, "float a = {1}, float b = {3}, float d = {0.5}", "float16[n]",
           "p = Cast <to = 10> (a) q = Cast <to = 10> (b) r = Cast <to = 10> (d) "
           "y = Range (p, q, r)",
           WANT(1, 1.5, 2, 2.5), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(linear_attention_by_four_rules),
        cmocka_unit_test(linear_attention_with_shared_keys),
        cmocka_unit_test(causal_convolution),
        cmocka_unit_test(bits_become_other_types),
        cmocka_unit_test(products_along_an_axis),
        cmocka_unit_test(gates),
        cmocka_unit_test(a_window_hides_keys),
        cmocka_unit_test(ranges_of_half_precision),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
