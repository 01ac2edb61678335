/* What a program may use: each limit of the evaluator, reached and passed by one. */
#include "base/alloc.h"
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

TEST(limits, functions_call_each_other_so_deep)
{
    cq_script *s = compile("def down(n: int):\n"
                           "    return 0 if n <= 1 else down(n - 1)\n"
                           "def forward(n: int):\n"
                           "    return down(n)\n");

    CHECK_STATUS(CQ_OK, call(s, CQ_EVAL_MAX_DEPTH - 1)); /* and forward itself */
    CHECK_STATUS(CQ_E_UNSUPPORTED, call(s, CQ_EVAL_MAX_DEPTH));
    CHECK(message_has("functions call each other more than 200 deep"));
    CHECK_STATUS(CQ_OK, call(s, 1));
    cq_script_free(s);
}

TEST(limits, a_program_takes_so_many_steps)
{
    cq_script *s = compile("def forward(n: int):\n"
                           "    i = 0\n"
                           "    while i < n:\n"
                           "        i += 1\n"
                           "    return i\n");
    /* the call, three statements, and of each round a statement and the round itself */
    const uint64_t steps = 4 + 2 * 50;

    cq_script_set_limits(s, steps, 0);
    CHECK_STATUS(CQ_OK, call(s, 50));
    cq_script_set_limits(s, steps - 1, 0);
    CHECK_STATUS(CQ_E_UNSUPPORTED, call(s, 50));
    CHECK(message_has("the program takes more than 103 steps"));
    cq_script_set_limits(s, 1000, 0);
    CHECK_STATUS(CQ_E_UNSUPPORTED, call(s, INT64_MAX));
    cq_script_free(s);
}

/* The limit is what the program needed the time before, and one byte less. */
static void needs_just_its_memory(const char *text, int64_t n)
{
    cq_script      *s = compile(text);
    cq_alloc_budget outer;
    int64_t         low = 1, high = 64 << 20;

    CHECK_STATUS(CQ_OK, call(s, n)); /* what is parsed or made once is there from now on */
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;

        cq_script_set_limits(s, 0, (uint64_t)middle);
        if (call(s, n) == CQ_OK)
            high = middle;
        else
            low = middle + 1;
    }
    CHECK(high < 64 << 20 && high > n);
    cq_script_set_limits(s, 0, (uint64_t)high);
    CHECK_STATUS(CQ_OK, call(s, n));
    cq_script_set_limits(s, 0, (uint64_t)high - 1);
    CHECK_STATUS(CQ_E_NO_MEMORY, call(s, n));
    CHECK(message_has("bytes that are allowed"));
    outer = cq_alloc_set_budget((cq_alloc_budget){ 0 }); /* and none is left in force */
    CHECK_INT(0, outer.limit);
    cq_script_free(s);
}

TEST(limits, a_program_holds_so_many_bytes_of_tensors)
{
    needs_just_its_memory("def forward(n: int):\n"
                          "    return torch.ones([n]).sum()\n", 10000);
}

TEST(limits, a_program_holds_so_many_bytes_of_lists)
{
    needs_just_its_memory("def forward(n: int):\n"
                          "    all: List[List[int]] = []\n"
                          "    for i in range(50):\n"
                          "        all.append([0] * n)\n"
                          "    return len(all)\n", 100);
}

TEST(limits, a_list_has_so_many_items)
{
    cq_script *s = compile("def forward(n: int):\n"
                           "    return len([0] * n)\n");

    CHECK_STATUS(CQ_OK, call(s, CQ_EVAL_MAX_ITEMS));
    CHECK_STATUS(CQ_E_UNSUPPORTED, call(s, CQ_EVAL_MAX_ITEMS + 1));
    cq_script_free(s);
}

TEST(limits, a_text_has_so_many_bytes)
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
        TEST_OF(limits, functions_call_each_other_so_deep),
        TEST_OF(limits, a_program_takes_so_many_steps),
        TEST_OF(limits, a_program_holds_so_many_bytes_of_tensors),
        TEST_OF(limits, a_program_holds_so_many_bytes_of_lists),
        TEST_OF(limits, a_list_has_so_many_items),
        TEST_OF(limits, a_text_has_so_many_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
