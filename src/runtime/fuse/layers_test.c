/* Fusion of layers that a model contains as separate steps: GELU. tests/peer/fused.py tests random
 * variants. */
#include "rewrites.h"

#include <stdio.h>

#define HEAD                                                                                       \
    "<ir_version: 8, opset_import: [\"\" : 17]>\n"                                                 \
    "g (float[a,b] x) => (float[c,d] y) {\n"                                                       \
    "  half = Constant <value = float {0.5}> ()\n"                                                 \
    "  one = Constant <value = float {1.0}> ()\n"                                                  \
    "  three = Constant <value = float {3.0}> ()\n"                                                \
    "  root = Constant <value = float {1.4142135}> ()\n"                                           \
    "  small = Constant <value = float {0.044715}> ()\n"                                           \
    "  pi = Constant <value = float {0.7978846}> ()\n"

static const char by_tanh[] = HEAD "  a = Pow(x, three)\n"
                                   "  b = Mul(small, a)\n"
                                   "  c = Add(x, b)\n"
                                   "  d = Mul(c, pi)\n"
                                   "  t = Tanh(d)\n"
                                   "  e = Add(t, one)\n"
                                   "  f = Mul(x, half)\n"
                                   "  y = Mul(f, e)\n"
                                   "}\n";

static void expect_gelu(const char *text, int n_steps, const char *op, const char *fetch)
{
    cq_tensor *x = numbers(2, (int64_t[]){ 5, 3 }, 1);

    expect_same(text, &x, 1, op, n_steps, fetch);
    cq_tensor_release(x);
}

TEST(layers, become_one_step)
{
    expect_gelu(by_tanh, 1, "Gelu", NULL);
    expect_gelu(HEAD "  a = Mul(x, x)\n"
                     "  b = Mul(x, a)\n"
                     "  c = Mul(b, small)\n"
                     "  d = Add(c, x)\n"
                     "  e = Mul(pi, d)\n"
                     "  t = Tanh(e)\n"
                     "  f = Add(one, t)\n"
                     "  z = Mul(x, f)\n"
                     "  y = Mul(half, z)\n"
                     "}\n",
                1, "Gelu", NULL);
    expect_gelu(HEAD "  a = Div(x, root)\n"
                     "  t = Erf(a)\n"
                     "  f = Add(one, t)\n"
                     "  z = Mul(f, half)\n"
                     "  y = Mul(x, z)\n"
                     "}\n",
                1, "Gelu", NULL);
}

TEST(layers, end_products)
{
    expect_gelu(HEAD "  w = Constant <value = float[3,2] {1, 2, 3, 4, 5, 6}> ()\n"
                     "  p = MatMul(x, w)\n"
                     "  a = Div(p, root)\n"
                     "  t = Erf(a)\n"
                     "  f = Add(one, t)\n"
                     "  z = Mul(p, f)\n"
                     "  y = Mul(z, half)\n"
                     "}\n",
                1, "MatMul+Gelu", NULL);
}

TEST(layers, values_with_other_readers_and_other_formulas_are_not_fused)
{
    static const char *const names[] = { "a", "b", "c", "d", "t", "e", "f" };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        expect_gelu(by_tanh, 0, "Gelu", names[i]);
    expect_gelu(HEAD "  a = Div(x, one)\n"
                     "  t = Erf(a)\n"
                     "  f = Add(one, t)\n"
                     "  z = Mul(f, half)\n"
                     "  y = Mul(x, z)\n"
                     "}\n",
                0, "Gelu", NULL);
    expect_gelu(HEAD "  a = Div(root, x)\n"
                     "  t = Erf(a)\n"
                     "  f = Add(one, t)\n"
                     "  z = Mul(f, half)\n"
                     "  y = Mul(x, z)\n"
                     "}\n",
                0, "Gelu", NULL);
}

#define NORM                                                                                       \
    "<ir_version: 8, opset_import: [\"\" : 17]>\n"                                                 \
    "g (float[a,3] x) => (float[c,d] y) {\n"                                                       \
    "  two = Constant <value = float {2.0}> ()\n"                                                  \
    "  eps = Constant <value = float {0.001}> ()\n"                                                \
    "  w = Constant <value = float[3] {1, 2, 3}> ()\n"                                             \
    "  bias = Constant <value = float[3] {4, 5, 6}> ()\n"                                          \
    "  m = ReduceMean <axes = [-1]> (x)\n"                                                         \
    "  c = Sub(x, m)\n"                                                                            \
    "  p = Pow(c, %s)\n"                                                                           \
    "  v = ReduceMean <axes = [%s]> (p)\n"                                                         \
    "  e = Add(eps, v)\n"                                                                          \
    "  s = Sqrt(e)\n"                                                                              \
    "  d = Div(c, s)\n"                                                                            \
    "  z = Mul(w, d)\n"                                                                            \
    "  y = Add(z, bias)\n"                                                                         \
    "}\n"

static void expect_norm(const char *exponent, const char *axis, int n_steps, const char *fetch)
{
    cq_tensor *x = numbers(2, (int64_t[]){ 5, 3 }, 1);
    char       text[1024];

    snprintf(text, sizeof text, NORM, exponent, axis);
    expect_same(text, &x, 1, "LayerNormalization", n_steps, fetch);
    cq_tensor_release(x);
}

TEST(layers, of_normalisation)
{
    static const char *const names[] = { "m", "c", "p", "v", "e", "s", "d", "z" };

    expect_norm("two", "-1", 1, NULL);
    expect_norm("eps", "-1", 0, NULL);
    expect_norm("two", "0", 0, NULL);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        expect_norm("two", "-1", 0, names[i]);
}

RUN_TESTS(TEST_OF(layers, of_normalisation), TEST_OF(layers, become_one_step),
          TEST_OF(layers, end_products),
          TEST_OF(layers, values_with_other_readers_and_other_formulas_are_not_fused))
