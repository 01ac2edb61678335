/* Functions of lib/aten: their semantics, and that every one of them links, including branches that
 * are never taken. tests/ops/ops_test.c compares their results with PyTorch. */
#include "test.h"

#include "aten/core/body.h"
#include "base/str.h"

/* An operator that is not in the table. x is [[1, 2, 3], [4, 5, 6]] in float32. */
#define SCHEMA                                                                                     \
    "test::op(Tensor x, Tensor? none=None, int[1] dims=[0, 1], float p=0.5, "                      \
    "str mode=\"mean\", bool flag=True, int n=7) -> "

typedef struct fixture {
    cq_ctx      *cx;
    cq_arena    *arena;
    cq_tensor   *x;
    cq_op_def    def;
    cq_schema   *schema;
    cq_op        op;
    cq_lib_file *file;
    cq_val       results[CQ_MAX_RESULTS];
} fixture;

/* A file with one function for the operator, whose body is text, or `return text`. */
static cq_status open_file(cq_lib_file **out, const char *text)
{
    const bool returns = strstr(text, "return ") || strstr(text, "raise ");
    cq_str     source  = { 0 };
    cq_status  status;

    cq_str_add(&source,
               "import math\nimport torch\n\nfrom calque import result_type, wrap_dim\n\n\n"
               "def op(x, none, dims, p, mode, flag, n):\n    ");
    if (!returns)
        cq_str_add(&source, "return ");
    for (; *text; text++) {
        cq_str_add_char(&source, *text);
        if (*text == '\n')
            cq_str_add(&source, "    ");
    }
    cq_str_add(&source, "\n\n\ndef helper(a, b, c=3):\n    return a + b * c\n");
    status = cq_lib_file_open(out, "test.py", cq_str_text(&source), source.len);
    cq_str_clear(&source);
    return status;
}

static void open_with(fixture *f, const char *schema, const char *text)
{
    const float values[] = { 1, 2, 3, 4, 5, 6 };

    *f = (fixture){ .def = { .schema = schema } };
    CHECK_OK(cq_ctx_new(&f->cx));
    f->arena = cq_arena_new();
    CHECK_OK(cq_schema_parse(&f->schema, f->arena, schema));
    CHECK_OK(cq_tensor_new(&f->x, CQ_DTYPE_F32, 2, (int64_t[]){ 2, 3 }, values));
    CHECK_OK(open_file(&f->file, text));
    f->op = (cq_op){ .def = &f->def, .schema = f->schema, .body = cq_lib_file_at(f->file, 0) };
}

static void close_fixture(fixture *f)
{
    cq_ctx_free(f->cx);
    cq_tensor_release(f->x);
    cq_lib_file_free(f->file);
    cq_arena_free(f->arena);
}

static cq_status run(fixture *f)
{
    cq_val args[1] = { TENSOR(f->x) };

    return cq_op_call(f->cx, &f->op, args, 1, f->results, CQ_MAX_RESULTS);
}

/* Every case is a number. */
static const struct {
    const char *text;
    double      want;
} numbers[] = {
    { "1 + 2 * 3", 7 },
    { "(1 + 2) * 3", 9 },
    { "2 ** 3", 8 },
    { "-2 ** 2", -4 },
    { "7 // 2", 3 },
    { "-7 // 2", -4 },
    { "7 % 4", 3 },
    { "-7 % 4", 1 },
    { "7 / 2", 3.5 },
    { "1e-3", 0.001 },
    { "1 if flag else 2", 1 },
    { "1 if not flag else 2", 2 },
    { "1 if none is None else 2", 1 },
    { "1 if none is not None else 2", 2 },
    { "1 if mode == 'mean' else 2", 1 },
    { "1 if mode in ['sum', 'mean'] else 2", 1 },
    { "1 if mode not in ['sum', 'mean'] else 2", 2 },
    { "1 if p > 0 and n >= 7 or False else 2", 1 },
    { "x.shape[1]", 3 },
    { "x.size(-1)", 3 },
    { "x.ndim + x.dim()", 4 },
    { "x.numel()", 6 },
    { "len(dims)", 2 },
    { "dims[-1]", 1 },
    { "sum([1, 2, 3])", 6 },
    { "math.prod(x.shape)", 6 },
    { "max(n, 3)", 7 },
    { "min([n, 3, 4])", 3 },
    { "abs(3 - n)", 4 },
    { "int(p * 5)", 2 },
    { "math.sqrt(9)", 3 },
    { "wrap_dim(-1, x.ndim)", 1 },
    { "[i * i for i in range(4) if i != 2][2]", 9 },
    { "[[k + i for i in range(2)][1] for k in range(3)][2]", 3 },
    { "reversed([1, 2, 3])[0]", 3 },
    { "(x.shape[:1] + [5] + x.shape[1:])[1]", 5 },
    { "len([1] * 3)", 3 },
    { "1 if x.dtype == torch.float32 else 2", 1 },
    { "1 if result_type(x, 2.5) == torch.float32 else 2", 1 },
    { "1 if x.is_floating_point() and not x.is_complex() else 2", 1 },
    { "y = 1; y = y + 1\nreturn y", 2 },
    { "a, b = 1, 2\nreturn a * 10 + b", 12 },
    { "y = []\nfor i in range(3): y += [i, 5]\nreturn y[4] * 10 + len(y)", 26 },
    { "round(2.5) + round(-3.7)", -2 },
    { "1 if isinstance(dims, list) and not isinstance(dims, tuple) else 2", 1 },
    { "if flag: return 1\nreturn 2", 1 },
    { "y = 0\nif not flag:\n    y = 1\nelif n == 7:\n    y = 2\n    y = y + 1\nelse:\n    y = "
      "4\nreturn y",
      3 },
    { "y = 0\nfor i in range(4): y = y + i\nreturn y", 6 },
    { "for i in range(9):\n    if i * i > 10:\n        return i\nreturn 0", 4 },
    { "assert n == 7, f'n is {n}'\nreturn n", 7 },
    { "y = 0\nwhile y < 5:\n    y += 2\nreturn y", 6 },
    { "y = 0\nfor i in range(9):\n    if i == 3:\n        continue\n    if i == 5:\n        break\n"
      "    y = y + i\nreturn y",
      7 },
    { "i = 5\nk = [i for i in range(3)]\nreturn i + k[2]",
      7 }, /* the variable of a comprehension is local */
    { "1 < n < 9 and 1 or 2", 1 },
    { "range(9, 0, -4)[2]", 1 },
    { "math.floor(2.7) // 2", 1 },
    { "1 // 0.1", 9 },
    { "-7.5 % 2", 0.5 },
    { "3 ** 39 % 1000", 267 }, /* which no double holds */
};

TEST(body, numbers_and_branches_mean_what_python_means)
{
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        fixture f;
        cq_val  v;

        open_with(&f, SCHEMA "Scalar", numbers[i].text);
        CHECK_OK(run(&f));
        v = f.results[0];
        if ((v.kind == CQ_VAL_FLOAT ? v.u.f.value : (double)v.u.i.value) != numbers[i].want)
            fail_msg("\"%s\" is not %g", numbers[i].text, numbers[i].want);
        close_fixture(&f);
    }
}

/* Every case is a tensor; want is its sum. */
static const struct {
    const char *text;
    double      want;
} tensors[] = {
    { "x", 21 },
    { "x + 1", 27 },
    { "10 - x", 39 },
    { "2 * x", 42 },
    { "x / 2", 10.5 },
    { "60 / (x * 0 + 2)", 180 },
    { "-x", -21 },
    { "-x.abs()", -21 },
    { "(x > 2).to(torch.float32)", 4 },
    { "3 > x", 2 },
    { "x ** 2", 91 },
    { "x @ x.t()", 14 + 32 + 32 + 77 },
    { "x.sum()", 21 },
    { "x.sum(1)", 21 },
    { "torch.sum(x, dim=1, keepdim=True) * x.shape[0]", 42 },
    { "torch.ops.aten.sum.dim_IntList(x, 1)", 21 },
    { "x.max(1)[1]", 4 },
    { "torch.cat([x, x], 0)", 42 },
    { "torch.stack([x + i for i in range(3)])", 81 },
    { "x.add(x, alpha=2)", 63 },
    { "values, indices = x.max(1)\nreturn values", 9 },
    { "helper(x, 1)", 39 },
    { "helper(b=x, a=1, c=2)", 48 },
};

TEST(body, tensors_are_computed_by_operators)
{
    for (size_t i = 0; i < sizeof tensors / sizeof *tensors; i++) {
        fixture    f;
        cq_tensor *sum;

        open_with(&f, SCHEMA "Tensor", tensors[i].text);
        CHECK_OK(run(&f));
        sum = CQ_OP(f.cx, "aten::sum", f.results[0]);
        CHECK(sum != NULL);
        if (cq_tensor_get_f64(sum, 0) != tensors[i].want)
            fail_msg("the sum of \"%s\" is %g", tensors[i].text, cq_tensor_get_f64(sum, 0));
        close_fixture(&f);
    }
}

TEST(body, several_results_are_returned_or_passed_on)
{
    static const char *const texts[] = { "return x + 1, x * 2", "return x.max(1)",
                                         "a, b = x.max(1)\nreturn a, b" };

    for (size_t i = 0; i < 3; i++) {
        fixture f;

        open_with(&f, SCHEMA "(Tensor, Tensor)", texts[i]);
        CHECK_OK(run(&f));
        CHECK(f.results[0].kind == CQ_VAL_TENSOR && f.results[1].kind == CQ_VAL_TENSOR);
        close_fixture(&f);
    }
}

TEST(body, a_check_that_fails_says_why)
{
    fixture f;

    open_with(&f, SCHEMA "Tensor", "assert n < 5, f'n is {n}, p {p}, mode {mode}'\nreturn x");
    CHECK_STATUS(CQ_E_ARGUMENT, run(&f));
    CHECK_STR("n is 7, p 0.5, mode mean", cq_last_error()->message);
    close_fixture(&f);
    open_with(&f, SCHEMA "Tensor", "if flag:\n    raise NotImplementedError('not yet')\nreturn x");
    CHECK_STATUS(CQ_E_UNSUPPORTED, run(&f));
    CHECK_STR("not yet", cq_last_error()->message);
    close_fixture(&f);
}

/* Python has integers of any size, and an error instead of an infinity. */
static const struct {
    const char *text, *why;
} no_numbers[] = {
    { "2 ** 63", "does not fit in 64 bits" },
    { "(2 ** 62) * n", "does not fit in 64 bits" },
    { "-(2 ** 62) - 2 ** 62 - n", "does not fit in 64 bits" },
    { "1 / (n - 7)", "division by zero" },
    { "p // 0.0", "division by zero" },
    { "n % 0", "division by zero" },
};

TEST(body, numbers_that_python_refuses_are_errors)
{
    for (size_t i = 0; i < sizeof no_numbers / sizeof *no_numbers; i++) {
        fixture f;

        open_with(&f, SCHEMA "Scalar", no_numbers[i].text);
        CHECK_STATUS(CQ_E_ARGUMENT, run(&f));
        CHECK(strstr(cq_last_error()->message, no_numbers[i].why) != NULL);
        close_fixture(&f);
    }
}

/* Found when the function is linked, on whichever line they are. */
static const char *const wrong[] = {
    "unknown",
    "torch.sin(x, 2)",
    "torch.no_such_operator(x)",
    "torch.ops.aten.sin.no_such_overload(x)",
    "x.no_such_attribute",
    "x.no_such_method()",
    "sin(x)", /* a name that is not imported */
    "torch.sum(x, wrong_name=1)",
    "torch.sum(x, dim=1, dim=1)",
    "x if flag else unknown",
    "if flag:\n    return x\nreturn torch.sin(x, 2)",
    "torch.no_such_dtype",
    "helper(x)",
    "helper(x, 1, wrong=2)",
    "x[0] = 1\nreturn x",
};

TEST(body, a_wrong_name_is_an_error_with_its_line)
{
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        fixture f;

        open_with(&f, SCHEMA "Tensor", wrong[i]);
        if (run(&f) != CQ_E_SYNTAX || !strstr(cq_last_error()->where, "test.py:"))
            fail_msg("\"%s\": %s, %s", wrong[i], cq_last_error()->where, cq_last_error()->message);
        close_fixture(&f);
    }
}

TEST(body, the_library_has_no_mistakes)
{
    CHECK_OK(cq_ops_ready());
    if (cq_body_check_library(false) != CQ_OK)
        fail_msg("%s: %s", cq_last_error()->where, cq_last_error()->message);
}

/* Sizes stay symbolic through arithmetic. */
TEST(body, sizes_stay_symbolic)
{
    fixture    f;
    cq_symbols symbols;
    cq_int     n;
    cq_tensor *x;

    open_with(&f, SCHEMA "Tensor",
              "n = x.shape[0]\nreturn torch.zeros([n * 2 + 1, (n * 4) // 4, max(n, 1)])");
    f.cx->fake    = true;
    f.cx->symbols = &symbols;
    cq_symbols_init(&symbols, f.arena);
    n = cq_symbol(&symbols, "n", 4, NULL, 0);
    CHECK_OK(cq_tensor_new_fake(&x, CQ_DTYPE_F32, 1, &n));
    cq_tensor_release(f.x);
    f.x = x;
    CHECK_OK(run(&f));
    x = f.results[0].u.tensor;
    CHECK(x->sizes[0].expr && x->sizes[0].value == 9);
    CHECK(cq_int_same(x->sizes[1], n));
    CHECK(x->sizes[2].value == 4);
    cq_symbols_clear(&symbols);
    close_fixture(&f);
}

RUN_TESTS(TEST_OF(body, numbers_and_branches_mean_what_python_means),
          TEST_OF(body, tensors_are_computed_by_operators),
          TEST_OF(body, several_results_are_returned_or_passed_on),
          TEST_OF(body, a_check_that_fails_says_why),
          TEST_OF(body, a_wrong_name_is_an_error_with_its_line),
          TEST_OF(body, numbers_that_python_refuses_are_errors),
          TEST_OF(body, the_library_has_no_mistakes), TEST_OF(body, sizes_stay_symbolic))
