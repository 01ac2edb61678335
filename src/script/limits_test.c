/* Tests each limit of the evaluator at the limit and one past it. */
#include "base/alloc.h"
#include "base/str.h"
#include "aten/core/work.h"
#include "script/eval.h"
#include "script/script.h"

#include "test.h"

#include <stdio.h>

static cq_script *compile(const char *text)
{
    cq_script *s;

    CHECK_STATUS(CQ_OK, cq_script_compile(&s, text, "limits.py"));
    return s;
}

static cq_status call(cq_script *s, int64_t n)
{
    cq_args   *args;
    cq_tensor *out;
    size_t     n_out;
    cq_status  status;

    CHECK_STATUS(CQ_OK, cq_args_new(&args));
    CHECK_STATUS(CQ_OK, cq_args_add_i64(args, n));
    status = cq_script_run(s, "forward", args, &out, 1, &n_out);
    cq_tensor_release(out);
    cq_args_free(args);
    return status;
}

static bool message_has(const char *text)
{
    return strstr(cq_last_error()->message, text) != NULL;
}

TEST(limits, the_depth_of_calls_is_limited)
{
    cq_script *s = compile("def down(n: int):\n"
                           "    return 0 if n <= 1 else down(n - 1)\n"
                           "def forward(n: int):\n"
                           "    return down(n)\n");

    CHECK_STATUS(CQ_OK, call(s, CQ_EVAL_MAX_DEPTH - 1)); /* and forward itself */
    CHECK_STATUS(CQ_E_UNSUPPORTED, call(s, CQ_EVAL_MAX_DEPTH));
    CHECK(message_has("calls are nested more than 200 deep"));
    CHECK_STATUS(CQ_OK, call(s, 1));
    cq_script_free(s);
}

TEST(limits, the_steps_of_a_program_are_limited)
{
    cq_script *s = compile("def forward(n: int):\n"
                           "    i = 0\n"
                           "    while i < n:\n"
                           "        i += 1\n"
                           "    return i\n");
    /* the call, three statements, for each iteration a statement, the iteration and its test, the
     * last test, and the tensor of the result */
    const uint64_t steps = CQ_EVAL_CALL_STEPS + 4 + 3 * 50 + 1 + CQ_WORK_CALL;

    cq_script_set_limits(s, steps, 0);
    CHECK_STATUS(CQ_OK, call(s, 50));
    cq_script_set_limits(s, steps - 1, 0);
    CHECK_STATUS(CQ_E_UNSUPPORTED, call(s, 50));
    CHECK(message_has("the program takes more than 170 steps"));
    cq_script_set_limits(s, 1000, 0);
    CHECK_STATUS(CQ_E_UNSUPPORTED, call(s, INT64_MAX));
    cq_script_free(s);
}

/* Each of these would take minutes if a call cost one step. */
TEST(limits, operators_are_charged_for_their_arithmetic)
{
    static const char *const loops[] = {
        "a = torch.ones([2000, 2000])\n    for i in range(n):\n        a = torch.mm(a, a)",
        "a = torch.ones([400, 400], dtype=torch.int64)\n    for i in range(n):\n        a = "
        "torch.mm(a, a)",
        "a = torch.rand([1000000])\n    for i in range(n):\n        a, b = torch.sort(a)",
        "a = torch.zeros([64, 64]).expand(100000, 64, 64)\n    for i in range(n):\n        b = "
        "a.sum()",
        "a = torch.ones([1, 64, 128, 128])\n    w = torch.ones([64, 64, 3, 3])\n"
        "    for i in range(n):\n        b = torch.conv2d(a, w)",
        "a = [0] * 1000000\n    for i in range(n):\n        b = a.pop(0)",
        "a = [0] * 1000000\n    for i in range(n):\n        a.insert(0, 1)",
        "a = [0] * 1000000\n    for i in range(n):\n        b = a.count(1)",
        "a = [0] * 1000000\n    for i in range(n):\n        a.reverse()",
        "a = torch.ones([1000000])\n    for i in range(n):\n        b = torch.nonzero(a)",
        "a = torch.ones([1, 1, 9, 9])\n    b = torch.tensor([[0.0, 0.0, 0.0, 1e5, 1e5]])\n"
        "    for i in range(n):\n        c = torch.ops.torchvision.roi_align(a, b, 1.0, 3, 3, 0, "
        "False)",
        "a = torch.ones([1000000])\n    for i in range(n):\n        b = torch.chunk(a, 1000)",
        "a = 'a' * 100000\n    b = 'a' * 50000 + 'b'\n    for i in range(n):\n        c = "
        "a.rfind(b)",
        "a = 'a' * 100000\n    b = 'b' + 'a' * 50000\n    for i in range(n):\n        c = "
        "a.find(b)",
    };

    for (size_t i = 0; i < sizeof loops / sizeof *loops; i++) {
        char       text[512];
        cq_script *s;

        snprintf(text, sizeof text, "def forward(n: int):\n    %s\n    return n\n", loops[i]);
        s = compile(text);
        cq_script_set_limits(s, 100000, 0);
        CHECK_STATUS(CQ_E_UNSUPPORTED, call(s, 100000));
        CHECK(message_has("the program takes more than 100000 steps"));
        cq_script_free(s);
    }
}

/* Checks that a program runs with the memory that it needed before, and fails with less. The size
 * of malloc's blocks depends on earlier frees, so the need varies by some bytes. */
static void check_memory_limit(const char *text, int64_t n)
{
    enum { ROUNDING = 1024 };
    cq_script      *s = compile(text);
    cq_alloc_budget outer;
    int64_t         low = 1, high = 64 << 20;

    CHECK_STATUS(CQ_OK, call(s, n)); /* parsed and cached values exist from now on */
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;

        cq_script_set_limits(s, 0, (uint64_t)middle);
        if (call(s, n) == CQ_OK)
            high = middle;
        else
            low = middle + 1;
    }
    CHECK(high < 64 << 20 && high > n);
    cq_script_set_limits(s, 0, (uint64_t)high + ROUNDING);
    CHECK_STATUS(CQ_OK, call(s, n));
    cq_script_set_limits(s, 0, (uint64_t)high - ROUNDING);
    CHECK_STATUS(CQ_E_NO_MEMORY, call(s, n));
    CHECK(message_has("bytes that are allowed"));
    outer = cq_alloc_set_budget((cq_alloc_budget){ 0 }); /* no limit remains in force */
    CHECK_INT(0, outer.limit);
    cq_script_free(s);
}

TEST(limits, tensors_count_toward_the_memory_limit)
{
    check_memory_limit("def forward(n: int):\n"
                       "    return torch.ones([n]).sum()\n",
                       10000);
}

TEST(limits, lists_count_toward_the_memory_limit)
{
    check_memory_limit("def forward(n: int):\n"
                       "    all: List[List[int]] = []\n"
                       "    for i in range(50):\n"
                       "        all.append([0] * n)\n"
                       "    return len(all)\n",
                       100);
}

/* Functions that process many items are charged in proportion. */
TEST(limits, long_work_takes_many_steps)
{
    static const char *const programs[] = {
        "def forward(n: int):\n    items = [0] * n\n    return int(1 in items)\n",
        "def forward(n: int):\n    text = \"x\" * n\n    return text.find(\"y\")\n",
        "def forward(n: int):\n    items = [0] * n\n    return int(items == items)\n",
        "def forward(n: int):\n    items = [0] * n\n    return torch.tensor(items)\n",
        "def forward(n: int):\n    items = [0] * n\n    items[:1] = [1]\n    return n\n",
    };

    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        cq_script *s = compile(programs[i]);

        cq_script_set_limits(s, 40000, 0);
        CHECK_STATUS(CQ_OK, call(s, 10000));
        CHECK_STATUS(CQ_E_UNSUPPORTED, call(s, 1000000));
        CHECK(message_has("takes more than 40000 steps"));
        cq_script_free(s);
    }
}

TEST(limits, one_item_of_a_long_list_is_one_step)
{
    cq_script *s = compile("def forward(n: int):\n"
                           "    items = [0] * n\n"
                           "    for i in range(1000):\n"
                           "        items[i] = len(items)\n"
                           "        items.append(items[i])\n"
                           "    return len(items)\n");

    cq_script_set_limits(s, 20000 + 500000 / CQ_EVAL_STEP_ITEMS, 0); /* the list is created once */
    CHECK_STATUS(CQ_OK, call(s, 500000));
    cq_script_free(s);
}

/* Hashing an entry takes as long as a statement; a look-up does not depend on n. */
TEST(limits, a_whole_dict_takes_a_step_for_each_entry)
{
    static const char *const wholes[] = { "e = d.copy()", "e = dict(d)", "d.update(d)",
                                          "e = d == f", "e = d.items()" };
    static const char *const ones[]   = { "e = d.get(i)", "e = i in d", "e = d.setdefault(i, 1)" };

    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; k < (i ? sizeof ones : sizeof wholes) / sizeof *ones; k++) {
            char       text[512];
            cq_script *s;

            snprintf(text, sizeof text,
                     "def forward(n: int):\n"
                     "    d = {i: i for i in range(1000)}\n"
                     "    f = {i: i for i in range(1000)}\n"
                     "    for i in range(n):\n"
                     "        %s\n"
                     "    return n\n",
                     i ? ones[k] : wholes[k]);
            s = compile(text);
            cq_script_set_limits(s, 500000, 0);
            CHECK_STATUS(i ? CQ_OK : CQ_E_UNSUPPORTED, call(s, 1000));
            cq_script_free(s);
        }
}

/* Each item or keyword argument costs a call or a search. */
TEST(limits, work_per_item_is_charged)
{
    static const char *const loops[] = { "sum(a)", "max(a)",       "any(a)",
                                         "all(b)", "enumerate(a)", "zip(a, b)" };
    char                     text[8192];
    size_t                   len;
    cq_script               *s;

    for (size_t i = 0; i < sizeof loops / sizeof *loops; i++) {
        snprintf(text, sizeof text,
                 "def forward(n: int):\n    a = [0] * 1000\n    b = [1] * 1000\n"
                 "    for i in range(n):\n        c = %s\n    return n\n",
                 loops[i]);
        s = compile(text);
        cq_script_set_limits(s, 500000, 0);
        CHECK_STATUS(CQ_E_UNSUPPORTED, call(s, 1000));
        cq_script_free(s);
    }
    len = (size_t)snprintf(text, sizeof text, "def f(");
    for (int i = 0; i < 400; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "a%d: int, ", i);
    len += (size_t)snprintf(text + len, sizeof text - len,
                            "):\n    return 0\n"
                            "def forward(n: int):\n    for i in range(n):\n        f(");
    for (int i = 400; i-- > 0;)
        len += (size_t)snprintf(text + len, sizeof text - len, "a%d=0,", i);
    snprintf(text + len, sizeof text - len, ")\n    return n\n");
    s = compile(text);
    cq_script_set_limits(s, 5000000, 0);
    CHECK_STATUS(CQ_E_UNSUPPORTED, call(s, 1000));
    cq_script_free(s);
}

TEST(limits, ranges_reach_the_ends_of_int64)
{
    cq_script *s = compile(
        "def forward(n: int):\n"
        "    t = 0\n"
        "    for i in range(9223372036854775807, -9223372036854775807 - 1, -9223372036854775807 - "
        "1):\n"
        "        t += 1\n"
        "    for i in range(-9223372036854775807, 9223372036854775807, 9223372036854775806):\n"
        "        t += 10\n"
        "    for i in range(0, 9223372036854775807, -9223372036854775807 - 1):\n"
        "        t += 100\n"
        "    assert t == 32\n"
        "    return t\n");

    CHECK_STATUS(CQ_OK, call(s, 0));
    cq_script_free(s);
}

/* n nested lists with a number in the innermost. */
TEST(limits, nesting_of_values_is_limited)
{
    cq_script *s = compile("def forward(n: int):\n"
                           "    v: List[Any] = [1]\n"
                           "    for i in range(n - 1):\n"
                           "        v = [v]\n"
                           "    return len(str(v))\n");

    CHECK_STATUS(CQ_OK, call(s, CQ_EVAL_MAX_LEVELS - 1)); /* and the number itself */
    CHECK_STATUS(CQ_E_UNSUPPORTED, call(s, CQ_EVAL_MAX_LEVELS));
    CHECK(message_has("nested more than 200 levels deep"));
    CHECK_STATUS(CQ_OK, call(s, 1));
    cq_script_free(s);
}

/* Releasing a value does not recurse into its contents. */
TEST(limits, deep_values_are_released)
{
    cq_script *s = compile("class Node:\n"
                           "    def __init__(self, next: Optional['Node']):\n"
                           "        self.next = next\n"
                           "def forward(n: int):\n"
                           "    v: List[Any] = []\n"
                           "    t = (1,)\n"
                           "    head: Optional[Node] = None\n"
                           "    for i in range(n):\n"
                           "        v = [v]\n"
                           "        t = (t, {\"a\": t})\n"
                           "        head = Node(head)\n"
                           "    return n\n");

    CHECK_STATUS(CQ_OK, call(s, 200000));
    cq_script_free(s);
}

/* Leaks are detected by the sanitizer. */
TEST(limits, values_that_contain_themselves_are_freed)
{
    static const char *const cycles[] = {
        "d: Dict[str, Any] = {}\n    d[\"d\"] = d\n    d[\"t\"] = torch.ones([n])",
        "v: List[Any] = []\n    v.append((1, [v]))\n    v.insert(0, v)\n    v[0] = {\"a\": v}",
        "v: List[Any] = [1]\n    v.extend([v])\n    v[0:1] = [v]",
        "a, b = Node(), Node()\n    a.next = b\n    b.next = [a]\n    b.text = \"b\"",
        "d: Dict[str, Any] = {}\n    d.setdefault(\"a\", d)\n    d.update({\"b\": (d,)})",
        "a = Node()\n    a.next = a\n    v = [a]\n    a.next = v\n    v.append(a)",
    };
    char text[512];

    for (size_t i = 0; i < sizeof cycles / sizeof *cycles; i++) {
        cq_script *s;

        snprintf(text, sizeof text,
                 "class Node:\n    def __init__(self):\n        self.next: Any = None\n"
                 "def forward(n: int):\n    %s\n    return n\n",
                 cycles[i]);
        s = compile(text);
        CHECK_STATUS(CQ_OK, call(s, 3));
        cq_script_free(s);
    }
}

/* A tuple that contains the same tuple twice, nested sixty times: it is small, but a naive walk
 * takes 2^60 visits. */
TEST(limits, shared_values_are_walked_in_limited_time)
{
    static const char *const uses[] = { "return int(t == u)", "return t",
                                        "return int(str(t) == str(u))" };
    char                     text[256];

    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++) {
        cq_script *s;

        snprintf(text, sizeof text,
                 "def forward(n: int):\n"
                 "    t, u = (1, 2), (1, 2)\n"
                 "    for i in range(n):\n"
                 "        t, u = (t, t), (u, u)\n"
                 "    %s\n",
                 uses[i]);
        s = compile(text);
        cq_script_set_limits(s, 100000, 0);
        CHECK_STATUS(CQ_E_UNSUPPORTED, call(s, 60));
        cq_script_free(s);
    }
}

/* Each assignment checks whether the value contains the object (cycle.c). */
TEST(limits, growth_of_an_object_is_charged)
{
    static const char *const grows[] = { "b.x = (b.x, b.x)", "b.x = big" };
    char                     text[512];

    for (size_t i = 0; i < sizeof grows / sizeof *grows; i++) {
        cq_script *s;

        snprintf(text, sizeof text,
                 "class Box:\n"
                 "    def __init__(self, x: Any):\n"
                 "        self.x = x\n"
                 "def forward(n: int):\n"
                 "    big = [0] * 10000\n"
                 "    b = Box((0, 0))\n"
                 "    for i in range(n):\n"
                 "        %s\n"
                 "    return n\n",
                 grows[i]);
        s = compile(text);
        cq_script_set_limits(s, 200000, 0);
        CHECK_STATUS(CQ_OK, call(s, 10));
        CHECK_STATUS(CQ_E_UNSUPPORTED, call(s, 5000));
        cq_script_free(s);
    }
}

TEST(limits, the_tests_of_a_loop_do_not_add_up)
{
    cq_script *s = compile("def forward(n: int):\n"
                           "    i = torch.zeros([1000])\n"
                           "    while bool(i.sum() < n):\n"
                           "        i = i + 1\n"
                           "    return int(i.sum())\n");

    cq_script_set_limits(s, 0, 256 << 10);
    CHECK_STATUS(CQ_OK, call(s, 1000 * 2000));
    cq_script_free(s);
}

TEST(limits, by_default_a_program_leaves_the_machine_some_memory)
{
    const int64_t gib = 1 << 30;

    CHECK_INT(gib, cq_default_bytes(0, 0, 8 * gib));
    CHECK_INT(gib + 2, cq_default_bytes(1, 0, 8 * gib));
    CHECK_INT(gib + 256, cq_default_bytes(0, 1, 8 * gib));
    CHECK_INT(gib + 2 * (10 << 20) + 256, cq_default_bytes((10 << 20) + 1, 0, 8 * gib));
    CHECK_INT(6 * gib, cq_default_bytes(1e30, 0, 8 * gib));
    CHECK_INT(3 << 20, cq_default_bytes(1e30, 0, 4 << 20));
}

/* Compiles `before`, n times `part`, and `after`. */
static cq_script *compile_repeated(const char *before, const char *part, int n, const char *after)
{
    cq_str     s = { 0 };
    cq_script *script;

    cq_str_add(&s, before);
    for (int i = 0; i < n; i++)
        cq_str_add(&s, part);
    cq_str_add(&s, after);
    CHECK_INT(CQ_OK, s.status);
    script = compile(s.text);
    cq_str_clear(&s);
    return script;
}

TEST(limits, a_call_has_any_number_of_arguments)
{
    cq_script *s = compile_repeated("def forward(n: int):\n    return max(", "n, ", 999, "n)\n");

    CHECK_STATUS(CQ_OK, call(s, 1));
    cq_script_free(s);
    s = compile("def forward(n: int):\n    return max(*[n] * 999)\n");
    CHECK_STATUS(CQ_OK, call(s, 1));
    cq_script_free(s);
    s = compile("def forward(n: int):\n    return torch.zeros(*[n] * 999)\n");
    CHECK_STATUS(CQ_E_TYPE, call(s, 1));
    cq_script_free(s);
}

/* A keyword argument of a builtin is passed by its position. */
TEST(limits, builtins_take_arguments_by_name)
{
    static const char *const programs[] = {
        "items.append(el=n)",
        "items.insert(0, el=n)",
        "items.insert(idx=0, el=n)",
        "items.extend(other=[n])",
        "d.setdefault(\"b\", default_value=n)",
        "d.update(to_add={\"b\": n})",
        "n = d.get(key=\"a\")",
        "n = items.pop(idx=0)",
    };
    static const char *const wrong[] = {
        "items.append(other=n)", "items.insert(0, item=n)",  "d.update(other={})",
        "items.pop(el=n)",       "torch.append(self=items)", "len(items=items)",
        "\"\".join(x=[\"\"])",
    };

    for (size_t i = 0; i < sizeof programs / sizeof *programs + sizeof wrong / sizeof *wrong; i++) {
        const bool is_wrong = i >= sizeof programs / sizeof *programs;
        cq_str     s        = { 0 };
        cq_script *script;

        cq_str_printf(&s,
                      "def forward(n: int):\n    items = [n, 2]\n    d = {\"a\": n}\n    %s\n"
                      "    return n\n",
                      is_wrong ? wrong[i - sizeof programs / sizeof *programs] : programs[i]);
        script = compile(s.text);
        CHECK(is_wrong == (call(script, 1) != CQ_OK));
        cq_script_free(script);
        cq_str_clear(&s);
    }
}

TEST(limits, the_number_of_indices_is_limited)
{
    for (int n = 64; n <= 65; n++) {
        cq_script *s = compile_repeated("def forward(n: int):\n    return torch.ones([1])[",
                                        "None, ", n - 1, "None]\n");

        CHECK(call(s, 1) != CQ_OK); /* a tensor cannot have that many dimensions */
        CHECK(message_has("too many indices") == (n > 64));
        cq_script_free(s);
    }
}

/* {"args": [{"list": [ … null … ]}]} */
TEST(limits, nesting_of_arguments_is_limited)
{
    for (int n = 32; n <= 33; n++) {
        cq_str   s    = { 0 };
        cq_args *args = NULL;

        cq_str_add(&s, "{\"args\": [");
        for (int i = 0; i < n; i++)
            cq_str_add(&s, "{\"list\": [");
        cq_str_add(&s, "null");
        for (int i = 0; i < n; i++)
            cq_str_add(&s, "]}");
        cq_str_add(&s, "]}");
        CHECK_STATUS(n > 32 ? CQ_E_FORMAT : CQ_OK, cq_args_from_json(&args, s.text, NULL, 0));
        cq_args_free(args);
        cq_str_clear(&s);
    }
}

TEST(limits, a_keyword_is_a_text)
{
    cq_script *s = compile("def f(a: int, b: int):\n    return a\n"
                           "def forward(n: int):\n    return f(**{1: n, 2: n})\n");

    CHECK_STATUS(CQ_E_TYPE, call(s, 1));
    CHECK(message_has("whose keys are names"));
    cq_script_free(s);
}

TEST(limits, the_length_of_a_list_is_limited)
{
    cq_script *s = compile("def forward(n: int):\n"
                           "    return len([0] * n)\n");

    CHECK_STATUS(CQ_OK, call(s, CQ_EVAL_MAX_ITEMS));
    CHECK_STATUS(CQ_E_UNSUPPORTED, call(s, CQ_EVAL_MAX_ITEMS + 1));
    cq_script_free(s);
}

TEST(limits, the_length_of_a_string_is_limited)
{
    cq_script *s = compile("def forward(n: int):\n"
                           "    return len(\"x\" * n)\n");

    CHECK_STATUS(CQ_OK, call(s, CQ_EVAL_MAX_TEXT));
    CHECK_STATUS(CQ_E_UNSUPPORTED, call(s, CQ_EVAL_MAX_TEXT + 1));
    cq_script_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_OF(limits, the_depth_of_calls_is_limited),
        TEST_OF(limits, the_steps_of_a_program_are_limited),
        TEST_OF(limits, tensors_count_toward_the_memory_limit),
        TEST_OF(limits, lists_count_toward_the_memory_limit),
        TEST_OF(limits, long_work_takes_many_steps),
        TEST_OF(limits, one_item_of_a_long_list_is_one_step),
        TEST_OF(limits, a_whole_dict_takes_a_step_for_each_entry),
        TEST_OF(limits, work_per_item_is_charged),
        TEST_OF(limits, ranges_reach_the_ends_of_int64),
        TEST_OF(limits, nesting_of_values_is_limited),
        TEST_OF(limits, deep_values_are_released),
        TEST_OF(limits, values_that_contain_themselves_are_freed),
        TEST_OF(limits, shared_values_are_walked_in_limited_time),
        TEST_OF(limits, growth_of_an_object_is_charged),
        TEST_OF(limits, the_tests_of_a_loop_do_not_add_up),
        TEST_OF(limits, by_default_a_program_leaves_the_machine_some_memory),
        TEST_OF(limits, a_call_has_any_number_of_arguments),
        TEST_OF(limits, builtins_take_arguments_by_name),
        TEST_OF(limits, the_number_of_indices_is_limited),
        TEST_OF(limits, nesting_of_arguments_is_limited),
        TEST_OF(limits, a_keyword_is_a_text),
        TEST_OF(limits, the_length_of_a_list_is_limited),
        TEST_OF(limits, the_length_of_a_string_is_limited),
        TEST_OF(limits, operators_are_charged_for_their_arithmetic),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
