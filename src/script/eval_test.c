/* Tests of the evaluator: small programs with an int argument, and their results.
 * src/export/front/script_test.c tests programs that become graphs. */
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
    const char *body; /* the body of f(n: int) */
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
            fprintf(stderr, "%s\ngives %g for %lld, expected %g\n", text, got, (long long)p->n,
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

TEST(eval, optionals_are_refined_and_classes_are_run)
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
    /* Two mutually recursive functions, and one that is not called. */
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

TEST(eval, failures_show_line_and_column)
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

/* ---- arguments from outside ---- */

/* Calls f(x: TYPE, y: Tensor=…) with arguments from a JSON text. Returns NULL, or the error
 * message. */
static const char *call_with(const char *type, const char *json)
{
    char       text[256];
    cq_script *s      = NULL;
    cq_args   *args   = NULL;
    cq_tensor *all[5] = { NULL }, *results[4];
    size_t     n_out  = 0;
    cq_status  status;

    CHECK_OK(cq_tensor_new(&all[0], CQ_DTYPE_I64, 0, NULL, &(int64_t){ 2 }));
    CHECK_OK(cq_tensor_new(&all[1], CQ_DTYPE_F64, 0, NULL, &(double){ 2.5 }));
    CHECK_OK(cq_tensor_new(&all[2], CQ_DTYPE_BOOL, 0, NULL, &(uint8_t){ 1 }));
    CHECK_OK(cq_tensor_new(&all[3], CQ_DTYPE_F32, 1, (int64_t[]){ 3 }, NULL));
    snprintf(text, sizeof text, "def f(x: %s, y: int=1):\n    return torch.ones([1])\n", type);
    CHECK_OK(cq_script_compile(&s, text, "args.py"));
    CHECK_OK(cq_args_from_json(&args, json, all, 4));
    status = cq_script_run(s, "f", args, results, 4, &n_out);
    for (size_t i = 0; i < n_out; i++)
        cq_tensor_release(results[i]);
    for (size_t i = 0; i < 4; i++)
        cq_tensor_release(all[i]);
    cq_args_free(args);
    cq_script_free(s);
    return status == CQ_OK ? NULL : cq_last_error()->message;
}

#define A_INT    "{\"scalar\": 0}"
#define A_FLOAT  "{\"scalar\": 1}"
#define A_BOOL   "{\"scalar\": 2}"
#define A_VECTOR "{\"tensor\": 3}"

/* PyTorch 1.13's error message for each; "" if it converts or accepts the value. */
TEST(eval, arguments_from_outside_have_the_declared_type_as_in_pytorch)
{
    static const struct {
        const char *type, *value, *why;
    } all[] = {
        { "int", A_INT, "" },
        { "int", A_FLOAT, "expected int, got float 2.5" },
        { "int", A_BOOL, "" },
        { "int", "{\"str\": \"2\"}", "expected int, got str" },
        { "int", "null", "expected int, got None" },
        { "int", "{\"tensor\": 1}", "" },
        { "int", A_VECTOR, "only a tensor of one element is a number, not one of 3" },
        { "int", "{\"list\": [" A_INT "]}", "expected int, got list" },
        { "float", A_INT, "" },
        { "float", A_FLOAT, "" },
        { "float", A_BOOL, "" },
        { "float", "null", "expected float, got None" },
        { "bool", A_INT, "" },
        { "bool", A_FLOAT, "" },
        { "bool", "null", "" },
        { "bool", "{\"str\": \"\"}", "expected bool, got str" },
        { "str", "{\"str\": \"a\"}", "" },
        { "str", A_INT, "expected str, got int 2" },
        { "str", A_VECTOR, "expected str, got Tensor" },
        { "Tensor", A_VECTOR, "" },
        { "Tensor", "null", "" },
        { "Tensor", A_INT, "expected Tensor, got int 2" },
        { "Tensor", "{\"dict\": []}", "expected Tensor, got Dict" },
        { "Optional[int]", "null", "" },
        { "Optional[int]", A_FLOAT, "expected int, got float 2.5" },
        { "List[int]", "{\"list\": [" A_INT "]}", "" },
        { "List[int]", "{\"tuple\": [" A_INT "]}", "" },
        { "List[int]", "{\"list\": [" A_FLOAT "]}", "expected int, got float 2.5" },
        { "List[int]", A_INT, "expected List, got int 2" },
        { "List[Tensor]", A_VECTOR, "expected List, got Tensor" },
        { "Tuple[int, Tensor]", "{\"tuple\": [" A_INT ", " A_VECTOR "]}", "" },
        { "Tuple[int, Tensor]", "{\"tuple\": [" A_INT "]}", "expected a tuple of 2, got one of 1" },
        { "Tuple[int, Tensor]", "{\"list\": [" A_INT "]}", "expected Tuple, got list" },
        { "Tuple[int]", "{\"tuple\": [" A_INT ", " A_INT "]}",
          "expected a tuple of 1, got one of 2" },
        { "Dict[str, Tensor]", "{\"dict\": [[\"a\", " A_VECTOR "]]}", "" },
        { "Dict[str, Tensor]", "{\"dict\": [[1, " A_VECTOR "]]}", "expected str, got int 1" },
        { "Dict[str, Tensor]", "{\"dict\": [[\"a\", " A_INT "]]}", "expected Tensor, got int 2" },
        { "Any", A_FLOAT, "" },
    };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char        json[256];
        const char *why;

        snprintf(json, sizeof json, "{\"args\": [%s]}", all[i].value);
        why = call_with(all[i].type, json);
        CHECK_STR(all[i].why, why ? why : "");
    }
}

TEST(eval, keywords_from_outside_are_parameters)
{
    CHECK(!call_with("int", "{\"kwargs\": {\"y\": " A_INT ", \"x\": " A_INT "}}"));
    CHECK_STR("unknown argument \"z\"",
              call_with("int", "{\"args\": [" A_INT "], \"kwargs\": {\"z\": " A_INT "}}"));
    CHECK_STR("unknown argument \"z\"", call_with("int", "{\"kwargs\": {\"z\": " A_INT "}}"));
    CHECK_STR("argument \"x\" is given twice",
              call_with("int", "{\"args\": [" A_INT "], \"kwargs\": {\"x\": " A_INT "}}"));
    CHECK_STR("takes 2 arguments but got 3",
              call_with("int", "{\"args\": [" A_INT ", " A_INT ", " A_INT "]}"));
}

/* Unsupported constructs are an error only if the function that contains them is called. */
static void check_unsupported(const char *statement, const char *where, const char *message)
{
    char   text[1024];
    double got = 0;

    snprintf(text, sizeof text,
             "def g(n: int):\n    %s\n    return 1\n"
             "def f(n: int):\n    if n > 0:\n        return g(n)\n    return 7\n",
             statement);
    CHECK_STATUS(CQ_OK, run_int(text, 0, &got));
    CHECK(got == 7);
    CHECK_STATUS(CQ_E_UNSUPPORTED, run_int(text, 1, &got));
    CHECK_STR(message, cq_last_error()->message);
    CHECK(strstr(cq_last_error()->where, where) != NULL);
    CHECK(strchr(cq_last_error()->excerpt, '^') != NULL);
}

TEST(eval, constructs_that_are_not_supported_fail_when_they_are_reached)
{
    check_unsupported("x = lambda y: y", "eval.py:2:9", "'lambda' is not supported here");
    check_unsupported("x = yield n", "eval.py:2:9", "'yield' is not supported here");
    check_unsupported("yield from n", "eval.py:2:5", "'yield from' is not supported here");
    check_unsupported("await n", "eval.py:2:5", "'await' is not supported here");
    check_unsupported("n += (m := 1)", "eval.py:2:10", "':=' is not supported here");
    check_unsupported("x = {1, n}", "eval.py:2:9", "a set is not supported here");
    check_unsupported("x = {i for i in [n]}", "eval.py:2:9",
                      "a set comprehension is not supported here");
    check_unsupported("x = b'a'", "eval.py:2:9", "a bytes literal is not supported here");
    check_unsupported("x = t'{n}'", "eval.py:2:9", "a t-string is not supported here");
    check_unsupported("x = f'a{n!r}'", "eval.py:2:12",
                      "a conversion or format specification in an f-string is not supported here");
    check_unsupported("x = '\\N{BULLET}'", "eval.py:2:9",
                      "a named character (\\N{...}) is not supported here");
    check_unsupported("x = 99999999999999999999", "eval.py:2:9",
                      "99999999999999999999 does not fit in 64 bits");
    check_unsupported("x = [i async for i in [n]]", "eval.py:2:22",
                      "'async for' is not supported here");
    check_unsupported("try: pass\n    finally: pass", "eval.py:2:5", "'try' is not supported here");
    check_unsupported("match n:\n        case 1: pass", "eval.py:2:5",
                      "'match' is not supported here");
    check_unsupported("global n", "eval.py:2:5", "'global' is not supported here");
    check_unsupported("nonlocal n", "eval.py:2:5", "'nonlocal' is not supported here");
    check_unsupported("import os", "eval.py:2:5", "'import' is not supported here");
    check_unsupported("class A: pass", "eval.py:2:5", "'class' is not supported here");
    check_unsupported("type A = int", "eval.py:2:5", "'type' is not supported here");
    check_unsupported("async for i in [n]: pass", "eval.py:2:5",
                      "'async for' is not supported here");
    check_unsupported("async with n: pass", "eval.py:2:5", "'async with' is not supported here");
    check_unsupported("@d\n    def h(): pass", "eval.py:2:6",
                      "a decorator of a function in a function is not supported here");
    check_unsupported("async def h(): pass\n    h()", "eval.py:2:15",
                      "'async def' is not supported here");
}

TEST(eval, type_comments_that_do_not_fit_fail_when_the_function_is_called)
{
    static const char text[] = "def g(n):\n    # type: (int, int, int) -> int\n    return n\n"
                               "def f(n: int):\n    if n > 0:\n        return g(n)\n    return 7\n";
    double            got;

    CHECK_STATUS(CQ_OK, run_int(text, 0, &got));
    CHECK(got == 7);
    CHECK_STATUS(CQ_E_SYNTAX, run_int(text, 1, &got));
    CHECK_STR("the type comment does not match the 1 parameters of g", cq_last_error()->message);
    CHECK(strstr(cq_last_error()->where, "eval.py:2:13") != NULL);
}

TEST(eval, classes_beyond_torchscript_fail_when_an_instance_is_made)
{
    static const struct {
        const char *text, *where, *message;
    } all[] = {
        { "class A:\n    x, y = 1, 2\n", "eval.py:2:5",
          "this statement in the body of a class is not supported here" },
        { "class A:\n    if 1: pass\n", "eval.py:2:5",
          "'if' in the body of a class is not supported here" },
        { "class A:\n    class B: pass\n", "eval.py:2:5",
          "'class' in the body of a class is not supported here" },
        { "class A(metaclass=M):\n    pass\n", "eval.py:1:19",
          "a keyword argument of a class is not supported here" },
    };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char   text[512];
        double got;

        snprintf(text, sizeof text,
                 "%sdef f(n: int):\n    if n > 0:\n        a = A()\n    return 7\n", all[i].text);
        CHECK_STATUS(CQ_OK, run_int(text, 0, &got));
        CHECK(got == 7);
        CHECK_STATUS(CQ_E_UNSUPPORTED, run_int(text, 1, &got));
        CHECK_STR(all[i].message, cq_last_error()->message);
        CHECK(strstr(cq_last_error()->where, all[i].where) != NULL);
    }
}

TEST(eval, functions_that_are_not_called_may_use_all_of_python)
{
    double got;

    CHECK_STATUS(CQ_OK, run_int("import os, sys\nfrom . import x as y\n"
                                "try:\n    import z\nexcept ImportError as e:\n    z = None\n"
                                "class Meta(type):\n    def __call__(cls, *a, **k): yield a\n"
                                "class A[T](object, metaclass=Meta):\n    x, y = 1, 2\n"
                                "    @property\n    async def p(self, /): return {*self.q}\n"
                                "def g(a, /, *b, c=lambda: 0, **d):\n    global u\n"
                                "    match a:\n        case [1, *_]: return f'{a!r:>{b}}'\n"
                                "def f(n: int):\n    return sum(i for i in [n, 2])\n"
                                "if __name__ == '__main__':\n    print(f(1), (k := 2))\n",
                                3, &got));
    CHECK(got == 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_OF(eval, branches_and_early_returns),
        TEST_OF(eval, loops_with_break_continue_and_return),
        TEST_OF(eval, lists_dicts_tuples_and_texts),
        TEST_OF(eval, tensors_are_cast_by_methods),
        TEST_OF(eval, optionals_are_refined_and_classes_are_run),
        TEST_OF(eval, functions_outlive_the_call_that_defined_them),
        TEST_OF(eval, every_context_of_a_with_is_entered_and_left),
        TEST_OF(eval, failures_show_line_and_column),
        TEST_OF(eval, arguments_from_outside_have_the_declared_type_as_in_pytorch),
        TEST_OF(eval, keywords_from_outside_are_parameters),
        TEST_OF(eval, constructs_that_are_not_supported_fail_when_they_are_reached),
        TEST_OF(eval, type_comments_that_do_not_fit_fail_when_the_function_is_called),
        TEST_OF(eval, classes_beyond_torchscript_fail_when_an_instance_is_made),
        TEST_OF(eval, functions_that_are_not_called_may_use_all_of_python),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
