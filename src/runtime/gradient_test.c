/* Compares gradients of small graphs with finite differences. */
#include <calque/session.h>

#include "test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A model that computes y from a and b and differentiates by both. */
static cq_session *session_with(const char *types, const char *nodes)
{
    cq_onnx_model *m;
    cq_session    *s;
    char           text[1024];
    void          *bytes;
    size_t         size;

    snprintf(
        text, sizeof text,
        "<ir_version: 8, opset_import: [\"\": 17, \"ai.onnx.preview.training\": 1]>\n"
        "g (%s) {\n  %s\n"
        "  da, db = ai.onnx.preview.training.Gradient <xs = [\"a\", \"b\"], y = \"y\"> (a, b)\n"
        "}\n",
        types, nodes);
    CHECK_OK(cq_onnx_model_parse(&m, text, strlen(text), "test"));
    CHECK_OK(cq_onnx_model_encode(&bytes, &size, m));
    cq_onnx_model_free(m);
    CHECK_OK(cq_session_prepare_bytes(&s, bytes, size, NULL));
    cq_buffer_free(bytes);
    return s;
}

static cq_session *session_of(const char *nodes)
{
    return session_with("double[2] a, double[2] b) => (double[2] y, double[2] da, double[2] db",
                        nodes);
}

/* Computes y, da and db, two numbers each. */
static void run(double *out, const cq_session *s, const double *ab)
{
    cq_tensor *in[2], *y[3];

    for (int i = 0; i < 2; i++)
        CHECK_OK(cq_tensor_new(&in[i], CQ_DTYPE_F64, 1, (int64_t[]){ 2 }, ab + 2 * i));
    CHECK_OK(cq_session_run_tensors(s, in, 2, y, 3));
    for (int i = 0; i < 6; i++)
        out[i] = cq_tensor_get_f64(y[i / 2], i % 2);
    for (int i = 0; i < 3; i++)
        cq_tensor_release(y[i]);
    cq_tensor_release(in[0]);
    cq_tensor_release(in[1]);
}

static void check(const char *nodes)
{
    const double at[] = { 0.7, 1.3, 0.4, 2.1 }, h = 1e-6;
    cq_session  *s = session_of(nodes);
    double       got[6], more[6], less[6];

    run(got, s, at);
    for (int i = 0; i < 4; i++) {
        double moved[4];

        memcpy(moved, at, sizeof moved);
        moved[i] += h;
        run(more, s, moved);
        moved[i] -= 2 * h;
        run(less, s, moved);
        if (fabs((more[i % 2] - less[i % 2]) / (2 * h) - got[2 + i]) > 1e-6)
            fprintf(stderr, "gradient %d of %s is %g\n", i, nodes, got[2 + i]);
        CHECK(fabs((more[i % 2] - less[i % 2]) / (2 * h) - got[2 + i]) <= 1e-6);
    }
    cq_session_free(s);
}

TEST(gradient, of_two_operands)
{
    check("y = Add(a, b)");
    check("y = Sub(a, b)");
    check("y = Mul(a, b)");
    check("y = Div(a, b)");
}

TEST(gradient, of_one_operand)
{
    static const char *const ops[] = {
        "Identity", "Neg", "Abs", "Exp",        "Log", "Sqrt",     "Relu",    "Sigmoid",
        "Tanh",     "Sin", "Cos", "Reciprocal", "Erf", "Softplus", "Softsign"
    };
    char text[64];

    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        snprintf(text, sizeof text, "y = %s(a)", ops[i]); /* b is unused, so its gradient is zero */
        check(text);
    }
}

/* Compares the gradient of the sum of y, for a of [2,3] and b of n numbers, with finite
 * differences. */
static void check_shapes(const char *types, const char *nodes, size_t rank, const int64_t *sizes)
{
    const double h = 1e-6;
    cq_session  *s = session_with(types, nodes);
    double       x[12], sums[3] = { 0 };
    int64_t      n = 1;

    for (size_t i = 0; i < rank; i++)
        n *= sizes[i];
    for (int i = 0; i < 12; i++)
        x[i] = 0.3 + 0.17 * i - 0.01 * i * i;
    for (int64_t i = 0; i < 6 + n; i++) {
        double got = 0;

        for (int k = 0; k < 3; k++) {
            cq_tensor *in[2], *y[3];
            double     moved[12];

            memcpy(moved, x, sizeof x);
            moved[i] += k == 1 ? h : k == 2 ? -h : 0;
            CHECK_OK(cq_tensor_new(&in[0], CQ_DTYPE_F64, 2, (int64_t[]){ 2, 3 }, moved));
            CHECK_OK(cq_tensor_new(&in[1], CQ_DTYPE_F64, rank, sizes, moved + 6));
            CHECK_OK(cq_session_run_tensors(s, in, 2, y, 3));
            sums[k] = 0;
            for (int64_t at = 0; at < cq_tensor_numel(y[0]); at++)
                sums[k] += cq_tensor_get_f64(y[0], at);
            if (k == 0)
                got = i < 6 ? cq_tensor_get_f64(y[1], i) : cq_tensor_get_f64(y[2], i - 6);
            CHECK_INT(n, cq_tensor_numel(y[2]));
            for (int at = 0; at < 3; at++)
                cq_tensor_release(y[at]);
            cq_tensor_release(in[0]);
            cq_tensor_release(in[1]);
        }
        CHECK(fabs((sums[1] - sums[2]) / (2 * h) - got) <= 1e-5);
    }
    cq_session_free(s);
}

TEST(gradient, gradients_of_broadcast_tensors_are_summed)
{
    check_shapes("double[2,3] a, double[3] b) => (double[2,3] y, double[2,3] da, double[3] db",
                 "y = Mul(a, b)", 1, (int64_t[]){ 3 });
    check_shapes("double[2,3] a, double[2,1] b) => (double[2,3] y, double[2,3] da, double[2,1] db",
                 "y = Div(a, b)", 2, (int64_t[]){ 2, 1 });
    check_shapes("double[2,3] a, double b) => (double[2,3] y, double[2,3] da, double db",
                 "y = Pow(a, b)", 0, NULL);
}

TEST(gradient, of_products_of_matrices)
{
    check_shapes("double[2,3] a, double[3,2] b) => (double[2,2] y, double[2,3] da, double[3,2] db",
                 "y = MatMul(a, b)", 2, (int64_t[]){ 3, 2 });
    check_shapes("double[2,3] a, double[2,3] b) => (double[2,2] y, double[2,3] da, double[2,3] db",
                 "y = Gemm <transB = 1, alpha = 0.5> (a, b)", 2, (int64_t[]){ 2, 3 });
    check_shapes("double[2,3] a, double[3] b) => (double[3,3] y, double[2,3] da, double[3] db",
                 "y = Gemm <transA = 1, beta = 2.0> (a, a, b)", 1, (int64_t[]){ 3 });
    check_shapes("double[2,3] a, double[3] b) => (double[2,3] y, double[2,3] da, double[3] db",
                 "t = Mul(a, b)\n  u = Softmax(t)\n  y = Mul(u, a)", 1, (int64_t[]){ 3 });
}

TEST(gradient, of_values_that_are_used_twice)
{
    check("t = Mul(a, a)\n  u = Add(t, b)\n  y = Mul(t, u)");
}

TEST(gradient, operators_without_a_rule_are_named)
{
    cq_onnx_model *m;
    cq_session    *s;
    const char    *text =
        "<ir_version: 8, opset_import: [\"\": 17, \"ai.onnx.preview.training\": 1]>\n"
        "g (float[2] a) => (float[2] d) {\n  y = Det(a)\n"
        "  d = ai.onnx.preview.training.Gradient <xs = [\"a\"], y = \"y\"> (a)\n}\n";

    CHECK_OK(cq_onnx_model_parse(&m, text, strlen(text), "test"));
    CHECK_STATUS(CQ_E_UNSUPPORTED, cq_session_prepare(&s, m, NULL));
    CHECK_STR("no gradient is defined for Det", cq_last_error()->message);
    cq_onnx_model_free(m);
}

RUN_TESTS(TEST_OF(gradient, of_two_operands), TEST_OF(gradient, of_one_operand),
          TEST_OF(gradient, gradients_of_broadcast_tensors_are_summed),
          TEST_OF(gradient, of_products_of_matrices),
          TEST_OF(gradient, of_values_that_are_used_twice),
          TEST_OF(gradient, operators_without_a_rule_are_named))
