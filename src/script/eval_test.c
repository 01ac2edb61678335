/* The evaluator, run: small programs of an int, and what they give. Programs that become graphs are
 * in src/export/script_test.c. */
#include "script/script.h"

#include "test.h"

#include <stdio.h>

static cq_status run_int(const char *text, int64_t n, double *out)
{
    cq_script *s      = NULL;
    cq_args   *args   = NULL;
    cq_tensor *result = NULL;
    size_t     n_out;
    cq_status  status = cq_script_compile(&s, text, "eval.py");

    CHECK_STATUS(CQ_OK, cq_args_new(&args));
    CHECK_STATUS(CQ_OK, cq_args_add_i64(args, n));
    if (status == CQ_OK)
        status = cq_script_run(s, "f", args, &result, 1, &n_out);
    *out = status == CQ_OK && result ? cq_tensor_get_f64(result, 0) : -1;
    cq_tensor_release(result);
    cq_args_free(args);
    cq_script_free(s);
    return status;
}

typedef struct program {
    const char *body; /* of f(n: int) */
    int64_t     n;
    double      want;
} program;

static void run_all(const program *all)
{
    for (const program *p = all; p->body; p++) {
        char   text[2048];
        double got = 0;

        snprintf(text, sizeof text, "def f(n: int):\n%s", p->body);
        CHECK_STATUS(CQ_OK, run_int(text, p->n, &got));
        if (got != p->want)
            fprintf(stderr, "%s\ngives %g for %lld, want %g\n", text, got, (long long)p->n,
                    p->want);
        CHECK(got == p->want);
    }
}

TEST(eval, branches_and_early_returns)
{
    static const program all[] = {
        { " if n > 2:\n  return 1\n return 0\n", 3, 1 },
        { " if n > 2:\n  return 1\n return 0\n", 2, 0 },
        { " if n == 1:\n  x = 5\n elif n == 2:\n  x = 6\n else:\n  x = 7\n return x\n", 2, 6 },
        { " return 1 if n > 0 else 2\n", -1, 2 },
        { " return int(0 < n < 3) + int(n == 2 and not n == 4) * 10\n", 2, 11 },
        { " if n > 0:\n  if n > 5:\n   return 50\n  n += 1\n return n\n", 3, 4 },
        { " assert n > 0, 'small'\n return n\n", 3, 3 },
        { " if n > 0:\n  if n > 5:\n   return 50\n  n += 1\n else:\n  return 9\n return n\n", -1,
          9 },
        { " if n > 0:\n  n += 1\n else:\n  raise ValueError('no')\n return n\n", 1, 2 },
        { " def g(k: int):\n  if k > n:\n   return 1\n  return 2\n return g(3) * 10 + g(1)\n", 2,
          12 },
        { 0 },
    };

    run_all(all);
}

TEST(eval, loops_with_break_continue_and_return)
{
    static const program all[] = {
        { " t = 0\n for i in range(n):\n  t += i\n return t\n", 5, 10 },
        { " t = 0\n for i in range(n, 0, -2):\n  t = t * 10 + i\n return t\n", 5, 531 },
        { " t = 0\n while t < n:\n  t += 3\n return t\n", 7, 9 },
        { " t = 0\n for i in range(n):\n  if i == 3:\n   break\n  t += i\n return t\n", 9, 3 },
        { " t = 0\n for i in range(n):\n  if i % 2 == 0:\n   continue\n  t += i\n return t\n", 6,
          9 },
        { " for i in range(n):\n  if i * i > 10:\n   return i\n return -1\n", 9, 4 },
        { " for i in range(n):\n  if i * i > 10:\n   return i\n return -1\n", 2, -1 },
        { " t = 0\n for i in range(n):\n  for j in range(n):\n   if j > i:\n    break\n   t += 1\n"
          " return t\n",
          4, 10 },
        { " t = 0\n for i in range(n):\n  for j in range(n):\n   if j == 2:\n    continue\n"
          "   if i == 3:\n    break\n   if i * j == 12:\n    return t\n   t += 1\n  t += 100\n"
          " return -t\n",
          5, 414 },
        { " i = 7\n for i in range(n):\n  if i == 2:\n   break\n return i\n", 5, 2 },
        { " while True:\n  n += 1\n  if n > 5:\n   return n\n", 1, 6 },
        { " t = 0\n while True:\n  t += 1\n  if t % 2:\n   continue\n  if t > n:\n   break\n "
          "return t\n",
          5, 6 },
        { " t = 0\n for i, (a, b) in enumerate(zip([1, 2, 3], [4, 5, 6])):\n  t += i * a * b\n"
          " return t\n",
          0, 46 },
        { 0 },
    };

    run_all(all);
}

TEST(eval, lists_dicts_tuples_and_texts)
{
    static const program all[] = {
        { " a = [1, 2]\n b = a\n b.append(n)\n return a[-1] + len(a)\n", 7, 10 },
        { " a = [i * i for i in range(n) if i % 2 == 1]\n return sum(a)\n", 6, 35 },
        { " a = [3, 1, 2]\n a.sort()\n a.insert(1, n)\n return a[1] * 100 + a.pop()\n", 9, 903 },
        { " a = [0, 1, 2, 3, 4]\n return a[::-1][1] * 10 + a[1:4][-1]\n", 0, 33 },
        { " d = {'a': 1}\n d['b'] = n\n t = 0\n for k, v in d.items():\n  t += v * len(k)\n"
          " return t\n",
          4, 5 },
        { " d = {1: 2}\n return d.get(5, n) + int(1 in d) * 100\n", 7, 107 },
        { " (a, b), c = (1, 2), n\n a, b = b, a\n return a * 100 + b * 10 + c\n", 5, 215 },
        { " return len('{}-{}'.format(n, 'ab').upper().split('-')[1])\n", 5, 2 },
        { " return int(f'{n}7') + 1\n", 4, 48 },
        { " x = -7\n return x // 2 * 10 + x % 4\n", 0, -39 },
        { 0 },
    };

    run_all(all);
}

TEST(eval, tensors_are_cast_by_methods)
{
    static const program all[] = {
        { " return (torch.tensor(2.7) * n).long().float() / 2\n", 1, 1 },
        { " x = torch.ones(2)\n return int(x.half().dtype == torch.half) + int(x.double().dtype == "
          "torch.double) + int(x.int().dtype == torch.int32)\n",
          0, 3 },
        { " x = torch.ones(2)\n return int(x.bool().dtype == torch.bool) + int(x.byte().dtype == "
          "torch.uint8) + int(x.char().dtype == torch.int8) + int(x.short().dtype == "
          "torch.int16)\n",
          0, 4 },
        { " x = torch.ones(2)\n return int(x.cfloat().dtype == torch.complex64) + "
          "int(x.cdouble().dtype == torch.complex128) + int(x.bfloat16().dtype == "
          "torch.bfloat16)\n",
          0, 3 },
        { " return int(torch.ones(2).type(torch.int64).dtype == torch.int64)\n", 0, 1 },
        { " return int(torch.ones(2).is_cpu)\n", 0, 1 },
        { 0 },
    };

    run_all(all);
}

TEST(eval, none_is_refined_and_classes_are_run)
{
    double got;

    CHECK_STATUS(CQ_OK, run_int("from typing import Optional\n"
                                "def g(n: int) -> Optional[int]:\n"
                                "    if n > 3:\n        return n\n    return None\n"
                                "def f(n: int):\n"
                                "    x = g(n)\n"
                                "    if x is None:\n        x = 100\n    return x + 1\n",
                                2, &got));
    CHECK(got == 101);
    CHECK_STATUS(CQ_OK,
                 run_int("class Counter:\n"
                         "    def __init__(self, start: int):\n        self.n = start\n"
                         "    def add(self, k: int):\n        self.n += k\n        return self\n"
                         "def f(n: int):\n"
                         "    c = Counter(n)\n    c.add(2).add(3)\n    return c.n\n",
                         10, &got));
    CHECK(got == 15);
}

TEST(eval, functions_outlive_the_call_that_defined_them)
{
    double got;

    CHECK_STATUS(CQ_OK, run_int("def outer(n: int):\n    k = [n, n + 1]\n"
                                "    def inner(y: int):\n        return y + k[1]\n"
                                "    return inner\n"
                                "def f(n: int):\n    g = outer(n)\n    h = outer(n + 1)\n"
                                "    z = outer(5)(1)\n    return g(100) * 1000 + h(z)\n",
                                2, &got));
    CHECK(got == 103 * 1000 + 11);
    /* Two functions that know each other, and one that nobody calls. */
    CHECK_STATUS(CQ_OK,
                 run_int("def f(n: int):\n    def even(k: int):\n"
                         "        if k == 0:\n            return 1\n"
                         "        return odd(k - 1)\n"
                         "    def odd(k: int):\n        if k == 0:\n            return 0\n"
                         "        return even(k - 1)\n"
                         "    def other(k: int):\n        return [even, odd]\n"
                         "    all = [even, other]\n    return even(n) + 10 * all[0](n + 1)\n",
                         4, &got));
    CHECK(got == 1);
}

TEST(eval, every_context_of_a_with_is_entered_and_left)
{
    double got;

    CHECK_STATUS(CQ_OK,
                 run_int("class C:\n    def __init__(self, log: List[int], n: int):\n"
                         "        self.log = log\n        self.n = n\n"
                         "    def __enter__(self):\n        self.log.append(self.n)\n"
                         "    def __exit__(self, a, b, c):\n"
                         "        self.log.append(-1000 - self.n)\n"
                         "def g(l: List[int]):\n"
                         "    with C(l, 1), C(l, 2), C(l, 3), C(l, 4), C(l, 5), C(l, 6), "
                         "C(l, 7), C(l, 8), C(l, 9), C(l, 10), C(l, 11), C(l, 12), C(l, 13), "
                         "C(l, 14), C(l, 15), C(l, 16), C(l, 17), C(l, 18):\n"
                         "        return sum(l)\n    return 0\n"
                         "def f(n: int):\n    l: List[int] = []\n    k = g(l)\n"
                         "    return k + sum(l) + len(l)\n",
                         0, &got));
    CHECK(got == 171 - 18000 + 36); /* a return inside leaves all of them too */
}

TEST(eval, failures_show_the_line_and_where_in_it)
{
    double got;

    CHECK_STATUS(CQ_E_NOT_FOUND, run_int("def f(n: int):\n    return n + missing\n", 1, &got));
    CHECK_STR("missing is not defined", cq_last_error()->message);
    CHECK(strstr(cq_last_error()->where, "eval.py:2:16") != NULL);
    CHECK(strstr(cq_last_error()->excerpt, "    return n + missing\n") != NULL);
    CHECK(strstr(cq_last_error()->excerpt, "               ^^^^^^^") != NULL);

    CHECK_STATUS(CQ_E_UNSUPPORTED,
                 run_int("def f(n: int):\n    if n > 1:\n        raise ValueError('no ' + str(n))\n"
                         "    return n\n",
                         2, &got));
    CHECK_STR("the model raises an exception: no 2", cq_last_error()->message);
    CHECK_STATUS(CQ_E_ARGUMENT, run_int("def f(n: int):\n    return [1, 2][n]\n", 2, &got));
    CHECK_STR("index 2 is out of range for 2 items", cq_last_error()->message);
    CHECK_STATUS(CQ_E_UNSUPPORTED,
                 run_int("def f(n: int):\n    assert n > 5, 'too small'\n", 2, &got));
    CHECK_STR("the model's assertion fails: too small", cq_last_error()->message);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_OF(eval, branches_and_early_returns),
        TEST_OF(eval, loops_with_break_continue_and_return),
        TEST_OF(eval, lists_dicts_tuples_and_texts),
        TEST_OF(eval, tensors_are_cast_by_methods),
        TEST_OF(eval, none_is_refined_and_classes_are_run),
        TEST_OF(eval, functions_outlive_the_call_that_defined_them),
        TEST_OF(eval, every_context_of_a_with_is_entered_and_left),
        TEST_OF(eval, failures_show_the_line_and_where_in_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
