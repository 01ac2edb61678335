#include "base/sized.h"

#include "test.h"

#include <stddef.h>

/* The struct of the library, of an older and of a newer caller. */
typedef struct known {
    size_t struct_size;
    int    a, b;
} known;

typedef struct older {
    size_t struct_size;
    int    a;
} older;

typedef struct newer {
    size_t struct_size;
    int    a, b;
    void  *c;
} newer;

static known defaults(void)
{
    return (known){ CQ_SIZED(known), .a = 1, .b = 2 };
}

TEST(sized, nothing_given_keeps_the_defaults)
{
    known k = defaults();

    CHECK_OK(cq_sized_take(&k, NULL, "known"));
    CHECK_INT(1, k.a);
    CHECK_INT(2, k.b);
}

TEST(sized, a_zeroed_struct_is_refused)
{
    known k = defaults(), zeroed = { 0 };

    CHECK_STATUS(CQ_E_ARGUMENT, cq_sized_take(&k, &zeroed, "known"));
    CHECK_STR("known", cq_last_error()->where);
    zeroed.struct_size = 4;
    CHECK_STATUS(CQ_E_ARGUMENT, cq_sized_take(&k, &zeroed, "known"));
}

TEST(sized, an_older_caller_has_defaults_in_the_fields_it_lacks)
{
    struct {
        older given;
        char  beyond[64];
    } o     = { { offsetof(known, b), .a = 7 }, { 9 } };
    known k = defaults();

    CHECK_OK(cq_sized_take(&k, &o.given, "known"));
    CHECK_INT(7, k.a);
    CHECK_INT(2, k.b);
    CHECK_INT(sizeof(known), k.struct_size);
}

TEST(sized, a_newer_caller_may_have_zeros_in_the_fields_it_adds)
{
    known k = defaults();
    newer n = { CQ_SIZED(newer), .a = 7, .b = 8 };

    CHECK_OK(cq_sized_take(&k, &n, "known"));
    CHECK_INT(8, k.b);
    CHECK_INT(sizeof(known), k.struct_size);
    n.c = &n;
    CHECK_STATUS(CQ_E_ARGUMENT, cq_sized_take(&k, &n, "known"));
}

RUN_TESTS(TEST_OF(sized, nothing_given_keeps_the_defaults),
          TEST_OF(sized, a_zeroed_struct_is_refused),
          TEST_OF(sized, an_older_caller_has_defaults_in_the_fields_it_lacks),
          TEST_OF(sized, a_newer_caller_may_have_zeros_in_the_fields_it_adds))
