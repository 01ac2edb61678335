#include "base/huge_pages.h"

#include "base/alloc.h"

#include "test.h"

#include <stdint.h>
#include <string.h>

enum { N = 40, LARGE = 1 << 22 };

static size_t size_of(int i)
{
    return i % 8 == 7 ? LARGE : (size_t)i * 20011;
}

static void fill(void **blocks)
{
    for (int i = 0; i < N; i++) {
        blocks[i] = cq_huge_alloc(size_of(i));
        CHECK(blocks[i]);
        CHECK_INT(0, (uintptr_t)blocks[i] % 64);
        memset(blocks[i], i, size_of(i));
    }
}

static void check_and_free(void **blocks, int i)
{
    for (size_t k = 0; k < size_of(i); k += 997)
        CHECK_INT(i, ((unsigned char *)blocks[i])[k]);
    cq_huge_free(blocks[i]);
}

TEST(huge_pages, blocks_are_apart_and_freed_in_any_order)
{
    static const double expected[] = { 0, LARGE };

    for (int e = 0; e < 2; e++) {
        void          *before[N], *after[N];
        cq_huge_pages *outer = cq_huge_pages_begin(expected[e]), *inner;

        fill(before);
        inner = cq_huge_pages_begin(expected[1 - e]);
        fill(after);
        cq_huge_pages_end(inner);
        for (int i = 0; i < N; i += 2)
            check_and_free(before, i);
        cq_huge_pages_end(outer);
        for (int i = N - 1; i >= 0; i--)
            check_and_free(after, i);
        for (int i = 1; i < N; i += 2)
            check_and_free(before, i);
    }
    cq_huge_free(NULL);
}

TEST(huge_pages, small_blocks_lie_side_by_side)
{
    cq_huge_pages *before = cq_huge_pages_begin(LARGE);
    char          *a = cq_huge_alloc(1000), *b = cq_huge_alloc(1000);

    CHECK(a && b);
    CHECK_INT(1024 + 64, b - a);
    cq_huge_pages_end(before);
    cq_huge_free(a);
    cq_huge_free(b);
}

TEST(huge_pages, oversized_allocations_fail)
{
    cq_huge_pages *before = cq_huge_pages_begin(LARGE);

    CHECK(!cq_huge_alloc(SIZE_MAX));
    CHECK_INT(CQ_E_NO_MEMORY, cq_last_error()->status);
    cq_alloc_fail_at(1);
    CHECK(!cq_huge_alloc(100));
    cq_alloc_fail_at(0);
    cq_huge_pages_end(before);
}

RUN_TESTS(TEST_OF(huge_pages, blocks_are_apart_and_freed_in_any_order),
          TEST_OF(huge_pages, small_blocks_lie_side_by_side),
          TEST_OF(huge_pages, oversized_allocations_fail))
