/* Tests of programs with numbers at the limits of their range: Python's operators and functions,
 * indices, slices, sizes. An expression may fail; it must not overflow, crash, or hang. Only a
 * sanitized build detects all errors. tests/ops/extremes_test.c covers tensor operators. */
#include "test.h"

#include <calque/script.h>

#include <stdio.h>

static const char *const expressions[] = {
    "n + m",
    "n - m",
    "n * m",
    "n // m",
    "n % m",
    "n / m",
    "n ** m",
    "n << m",
    "n >> m",
    "n & m | n ^ ~m",
    "-n",
    "abs(n)",
    "min(n, m) + max(n, m)",
    "divmod(n, m)",
    "pow(n, m)",
    "float(n) ** float(m)",
    "float(n) // float(m)",
    "float(n) % float(m)",
    "int(float(n) * 1e300)",
    "int(float(n) * float(m))",
    "round(float(n))",
    "round(float(n), m)",
    "math.floor(float(n))",
    "math.ceil(float(n) * 1e200)",
    "math.gcd(n, m)",
    "math.factorial(n)",
    "math.ldexp(1.5, n)",
    "math.sqrt(float(n))",
    "[1] * n",
    "'ab' * n",
    "len(range(n, m))",
    "[i for i in range(n, m, 3)]",
    "[i for i in range(3, m, n)]",
    "[1, 2, 3][n]",
    "[1, 2, 3][n:m]",
    "[1, 2, 3][n:m:2]",
    "[1, 2, 3][::n]",
    "'abc'[n]",
    "'abc'[n:m]",
    "'abc'.find('c', n, m)",
    "'abc'.ljust(n)",
    "'abc'.zfill(n)",
    "'a b c'.split(' ', n)",
    "'abc'.replace('b', 'x', n)",
    "str(n) + str(float(m))",
    "hex(n)",
    "bin(n)",
    "oct(n)",
    "chr(n)",
    "'%d' % n",
    "'{}'.format(n)",
    "{n: m}[m]",
    "sum([n, m, n])",
    "sorted([n, m, 0])",
    "[1, 2, 3].pop(n)",
    "[1, 2, 3].insert(n, m)",
    "[1, 2, 3].index(n)",
    "x[n]",
    "x[n:m]",
    "x[n:m:2]",
    "x[::n]",
    "x[:, n]",
    "x.size(n)",
    "x.stride(n)",
    "x + n * m",
    "x // n",
    "torch.zeros([n, m])",
    "torch.full([2], n) * m",
    "torch.tensor([n, m]) // 2",
    "torch.tensor([n, m]) % torch.tensor([m, n])",
    "torch.arange(n, m)",
    "torch.arange(n, m, 7)",
    "x.narrow(0, n, m)",
    "x.view([n, m])",
    "x.expand([n, m, 2, 3])",
    "x.repeat([n, m])",
    "x.as_strided([2, 2], [n, m])",
    "x.split(n)",
    "x.chunk(n)",
    "x.roll(n, m)",
    "x.unsqueeze(n)",
    "x.transpose(n, m)",
    "x.flatten(n, m)",
    "x.select(n, m)",
    "torch.eye(n)",
    "torch.linspace(float(n), float(m), 5)",
};

static const int64_t ends[] = { INT64_MIN, INT64_MIN + 1,    -((int64_t)1 << 62), -1,
                                0,         (int64_t)1 << 31, (int64_t)1 << 62,    INT64_MAX };

enum { N = sizeof ends / sizeof *ends };

static void call(cq_script *s, cq_tensor *x, int64_t n, int64_t m, bool exports)
{
    cq_args       *args;
    cq_tensor     *out[1] = { NULL };
    cq_onnx_model *model  = NULL;
    size_t         n_out;

    CHECK_OK(cq_args_new(&args));
    CHECK_OK(cq_args_add_tensor(args, x));
    CHECK_OK(cq_args_add_i64(args, n));
    CHECK_OK(cq_args_add_i64(args, m));
    if (exports)
        (void)cq_script_export(&model, s, "f", args, 0, NULL);
    else
        (void)cq_script_run(s, "f", args, out, 1, &n_out);
    cq_onnx_model_free(model);
    cq_tensor_release(out[0]);
    cq_args_free(args);
}

TEST(extremes, no_number_makes_an_expression_crash)
{
    cq_tensor *x;

    CHECK_OK(
        cq_tensor_new(&x, CQ_DTYPE_F32, 2, (int64_t[]){ 2, 3 }, (float[]){ 1, 2, 3, 4, 5, 6 }));
    for (size_t i = 0; i < sizeof expressions / sizeof *expressions; i++) {
        char       text[256];
        cq_script *s;

        snprintf(text, sizeof text, "def f(x, n: int, m: int):\n    y = %s\n    return x\n",
                 expressions[i]);
        CHECK_OK(cq_script_compile(&s, text, "extremes.py"));
        cq_script_set_limits(s, 20000, 16 << 20);
        for (size_t a = 0; a < N; a++)
            for (size_t b = 0; b < N; b++)
                call(s, x, ends[a], ends[b], (a + b) % 4 == 0);
        cq_script_free(s);
    }
    cq_tensor_release(x);
}

RUN_TESTS(TEST_OF(extremes, no_number_makes_an_expression_crash))
