#include "runtime/plan/layout.h"

#include "test.h"

#include <stdlib.h>

static uint64_t drawn = 1;

static uint64_t draw(uint64_t below)
{
    drawn = drawn * 6364136223846793005u + 1442695040888963407u;
    return (drawn >> 33) % below;
}

/* A lower bound for any layout: the maximum number of bytes that are live at the same time. */
static uint64_t least(const cq_rt_span *spans, size_t n)
{
    uint64_t worst = 0;

    for (size_t i = 0; i < n; i++) {
        uint64_t now = 0;

        for (size_t k = 0; k < n; k++)
            if (spans[k].from <= spans[i].from && spans[i].from < spans[k].to)
                now += (spans[k].size + CQ_RT_ALIGNMENT - 1) / CQ_RT_ALIGNMENT * CQ_RT_ALIGNMENT;
        worst = now > worst ? now : worst;
    }
    return worst;
}

static void check_apart(const cq_rt_span *spans, size_t n, uint64_t total)
{
    for (size_t i = 0; i < n; i++) {
        const cq_rt_span *a = &spans[i];

        if (a->to <= a->from || !a->size)
            continue;
        CHECK(a->offset % CQ_RT_ALIGNMENT == 0);
        CHECK(a->offset + a->size <= total);
        for (size_t k = 0; k < i; k++) {
            const cq_rt_span *b = &spans[k];

            if (b->to > b->from && b->size && a->from < b->to && b->from < a->to)
                CHECK(a->offset + a->size <= b->offset || b->offset + b->size <= a->offset);
        }
    }
}

/* Generates the values of a random graph. Some values live long; each step may need scratch
 * memory. */
static size_t random_graph(cq_rt_span *spans, size_t n)
{
    uint32_t n_steps = (uint32_t)(1 + draw(n));

    for (size_t i = 0; i < n; i++) {
        uint32_t from = (uint32_t)draw(n_steps), lasts = (uint32_t)(draw(8) ? draw(4) : draw(40));
        uint64_t size = draw(10) ? 1 + draw(100000) : draw(3);

        spans[i] = (cq_rt_span){ .size = size, .from = from, .to = from + lasts, .offset = 99 };
    }
    return n;
}

TEST(layout, buffers_that_live_at_once_do_not_overlap)
{
    cq_rt_span spans[200];
    uint64_t   total;

    for (int round = 0; round < 500; round++) {
        size_t n = random_graph(spans, 1 + draw(199));

        CHECK_OK(cq_rt_layout(&total, spans, n));
        check_apart(spans, n, total);
        CHECK(total >= least(spans, n));
        CHECK(2 * total <= 3 * least(spans, n)); /* at most half of the lower bound is lost to
                                                  * gaps */
    }
}

/* A chain needs the memory of its two largest neighbours, without loss. */
TEST(layout, a_chain_takes_what_its_worst_step_needs)
{
    cq_rt_span spans[] = {
        { 640, 0, 2, 0 }, { 6400, 1, 3, 0 }, { 3200, 2, 4, 0 }, { 64, 3, 5, 0 }, { 1, 4, 6, 0 }
    };
    uint64_t total;

    CHECK_OK(cq_rt_layout(&total, spans, 5));
    check_apart(spans, 5, total);
    CHECK_INT(9600, total);
}

TEST(layout, empty_buffers_take_no_space)
{
    cq_rt_span spans[] = { { 0, 0, 9, 7 }, { 100, 3, 3, 7 } };
    uint64_t   total;

    CHECK_OK(cq_rt_layout(&total, spans, 0));
    CHECK_INT(0, total);
    CHECK_OK(cq_rt_layout(&total, spans, 2));
    CHECK_INT(0, total);
    CHECK_INT(0, spans[0].offset + spans[1].offset);
}

RUN_TESTS(TEST_OF(layout, buffers_that_live_at_once_do_not_overlap),
          TEST_OF(layout, a_chain_takes_what_its_worst_step_needs),
          TEST_OF(layout, empty_buffers_take_no_space))
