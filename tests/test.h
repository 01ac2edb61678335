/* Unit tests, a thin layer over cmocka so that names read as sentences:
 *
 *     TEST(lexer, tab_of_unclear_depth_is_refused) { CHECK_STATUS(CQ_E_SYNTAX, ...); }
 *     RUN_TESTS(TEST_OF(lexer, tab_of_unclear_depth_is_refused))
 */
#ifndef CQ_TEST_H
#define CQ_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <calque/status.h>

#define TEST(part, sentence)    static void part##_##sentence(void **cq_state __attribute__((unused)))
#define TEST_OF(part, sentence) cmocka_unit_test(part##_##sentence)

#define CHECK(condition)     assert_true(condition)
#define CHECK_INT(want, got) assert_int_equal((want), (got))
#define CHECK_STR(want, got) assert_string_equal((got), (want))
#define CHECK_STATUS(want, call)                                                                   \
    do {                                                                                           \
        cq_status check_status_ = (call);                                                          \
        if (check_status_ != (want))                                                               \
            print_error("%s: %s (%s)\n", #call, cq_last_error()->message, cq_last_error()->where); \
        assert_int_equal((want), check_status_);                                                   \
    } while (0)
#define CHECK_OK(call) CHECK_STATUS(CQ_OK, call)

#define RUN_TESTS(...)                                                                             \
    int main(void)                                                                                 \
    {                                                                                              \
        const struct CMUnitTest tests[] = { __VA_ARGS__ };                                         \
        return cmocka_run_group_tests(tests, NULL, NULL);                                          \
    }

#endif
