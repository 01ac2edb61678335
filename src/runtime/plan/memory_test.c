#include "runtime/plan/memory.h"

#include "test.h"

enum { KB = 1024 };

static cq_tensor *get(cq_rt_workspace *w, int64_t size)
{
    cq_tensor *t;

    CHECK_OK(cq_rt_workspace_tensor(&t, w, CQ_DTYPE_U8, 1, &size));
    memset(cq_tensor_data(t), 1, (size_t)size);
    return t;
}

static uintptr_t at(const cq_tensor *t)
{
    return (uintptr_t)cq_tensor_data(t);
}

static const int64_t sizes[3] = { 100, 50, 200 }; /* in kilobytes */

/* Runs a chain of three tensors; the last one outlives the run. */
static cq_tensor *run_chain(cq_rt_workspace *w, uintptr_t *addresses)
{
    cq_tensor *before = NULL, *out;

    for (uint32_t i = 0; i < 3; i++) {
        cq_tensor *t, *room;

        CHECK_OK(cq_rt_workspace_step(w, i));
        t    = get(w, sizes[i] * KB);
        room = get(w, 8 * KB);
        cq_tensor_release(room);
        cq_tensor_release(before);
        before       = t;
        addresses[i] = at(t);
    }
    CHECK_OK(cq_rt_workspace_step(w, 3));
    out = get(w, 16 * KB);
    cq_tensor_release(before);
    return out;
}

static cq_rt_placing *placing_of_chain(cq_rt_workspace *w)
{
    cq_rt_placing *placing;
    uintptr_t      addresses[3];
    cq_tensor     *out;

    CHECK_OK(cq_rt_workspace_begin(w, NULL));
    out = run_chain(w, addresses);
    cq_rt_workspace_end(w, &placing);
    cq_tensor_release(out);
    CHECK(placing != NULL);
    CHECK_OK(cq_rt_placing_lay_out(placing));
    return placing;
}

TEST(memory, a_second_run_uses_one_workspace)
{
    cq_rt_workspace *w;
    cq_rt_placing   *placing, *none;
    cq_tensor       *out;
    uintptr_t        addresses[3];

    CHECK_OK(cq_rt_workspace_new(&w, 0));
    placing = placing_of_chain(w);
    CHECK_INT(258 * KB, placing->total); /* the sum of the last two, and padding */
    CHECK_OK(cq_rt_workspace_begin(w, placing));
    out = run_chain(w, addresses);
    for (int i = 1; i < 3; i++)
        CHECK(addresses[i] - addresses[0] < 258 * KB || addresses[0] - addresses[i] < 258 * KB);
    /* Outputs are not in the arena. */
    CHECK(at(out) < addresses[2] - 258 * KB || at(out) >= addresses[2] + 258 * KB);
    CHECK_INT((258 + 16) * KB, cq_rt_workspace_end(w, &none));
    CHECK(none == NULL);
    cq_tensor_release(out);
    cq_rt_placing_free(placing);
    cq_rt_workspace_release(w);
}

/* The second run deviates from the record: a larger block, one more block, a longer lifetime. No
 * two tensors may overlap. */
TEST(memory, deviations_from_the_record_get_separate_memory)
{
    cq_rt_workspace *w;
    cq_rt_placing   *placing, *none;
    cq_tensor       *kept[12];
    size_t           n = 0;

    CHECK_OK(cq_rt_workspace_new(&w, 0));
    placing = placing_of_chain(w);
    CHECK_OK(cq_rt_workspace_begin(w, placing));
    for (uint32_t i = 0; i < 4; i++) {
        CHECK_OK(cq_rt_workspace_step(w, i));
        kept[n++] = get(w, i == 1 ? 300 * KB : 40 * KB);
        kept[n++] = get(w, 8 * KB);
        kept[n++] = get(w, 5 * KB);
    }
    for (size_t i = 0; i < n; i++)
        memset(cq_tensor_data(kept[i]), (int)i, kept[i]->storage->size);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < kept[i]->storage->size; k++)
            CHECK_INT(i, ((uint8_t *)cq_tensor_data(kept[i]))[k]);
    cq_rt_workspace_end(w, &none);
    /* The next run begins while all blocks are still held. */
    CHECK_OK(cq_rt_workspace_begin(w, placing));
    CHECK_OK(cq_rt_workspace_step(w, 0));
    cq_tensor_release(get(w, 100 * KB));
    cq_rt_workspace_end(w, &none);
    cq_rt_workspace_release(w); /* its tensors keep the workspace alive */
    for (size_t i = 0; i < n; i++) {
        CHECK_INT(i, ((uint8_t *)cq_tensor_data(kept[i]))[0]);
        cq_tensor_release(kept[i]);
    }
    cq_rt_placing_free(placing);
}

TEST(memory, a_limit_holds_with_and_without_a_plan)
{
    cq_rt_workspace *w;
    cq_rt_placing   *placing, *none;
    cq_tensor       *t, *more;
    int64_t          size = 259 * KB;

    CHECK_OK(cq_rt_workspace_new(&w, 258 * KB + 16 * KB));
    placing = placing_of_chain(w);
    CHECK_OK(cq_rt_workspace_begin(w, NULL));
    CHECK_OK(cq_rt_workspace_step(w, 0));
    t    = get(w, size);
    size = 16 * KB;
    CHECK_STATUS(CQ_E_NO_MEMORY, cq_rt_workspace_tensor(&more, w, CQ_DTYPE_U8, 1, &size));
    size = 15 * KB;
    CHECK_OK(cq_rt_workspace_tensor(&more, w, CQ_DTYPE_U8, 1, &size));
    cq_tensor_release(more);
    cq_tensor_release(t);
    cq_rt_workspace_end(w, &none);
    cq_rt_placing_free(none);
    CHECK_OK(cq_rt_workspace_begin(w, placing)); /* the arena counts as a whole */
    CHECK_OK(cq_rt_workspace_step(w, 3));
    size = 17 * KB;
    CHECK_STATUS(CQ_E_NO_MEMORY, cq_rt_workspace_tensor(&more, w, CQ_DTYPE_U8, 1, &size));
    t = get(w, 16 * KB);
    cq_tensor_release(t);
    cq_rt_workspace_end(w, &none);
    cq_rt_placing_free(placing);
    cq_rt_workspace_release(w);
}

RUN_TESTS(TEST_OF(memory, a_second_run_uses_one_workspace),
          TEST_OF(memory, deviations_from_the_record_get_separate_memory),
          TEST_OF(memory, a_limit_holds_with_and_without_a_plan))
