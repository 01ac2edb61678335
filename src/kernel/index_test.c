/* Wanted values are PyTorch 1.13's. */
#include "kernel/index.h"

#include "test.h"

static cq_tensor *ints(size_t rank, const int64_t *sizes, const int64_t *values)
{
    cq_tensor *t;

    CHECK_OK(cq_tensor_new(&t, CQ_DTYPE_I64, rank, sizes, values));
    return t;
}

static cq_tensor *row(int64_t n, const int64_t *values)
{
    return ints(1, &n, values);
}

static cq_tensor *counting(size_t rank, const int64_t *sizes)
{
    cq_tensor *t = ints(rank, sizes, NULL);

    for (int64_t i = 0; i < cq_tensor_numel(t); i++)
        ((int64_t *)cq_tensor_data(t))[i] = i;
    return t;
}

static void check(const cq_tensor *t, int64_t n, const int64_t *want)
{
    CHECK_INT(n, cq_tensor_numel(t));
    for (int64_t i = 0; i < n; i++)
        CHECK_INT(want[i], cq_tensor_get_i64(t, i));
}

TEST(index, gather_and_scatter_along_either_dimension)
{
    cq_tensor *x     = counting(2, (int64_t[]){ 2, 3 });
    cq_tensor *index = ints(2, (int64_t[]){ 2, 2 }, (int64_t[]){ 1, 0, 0, 1 });
    cq_tensor *out   = ints(2, (int64_t[]){ 2, 2 }, NULL);

    CHECK_OK(cq_kernel_gather(out, x, 0, index));
    check(out, 4, (int64_t[]){ 3, 1, 0, 4 });
    CHECK_OK(cq_kernel_gather(out, x, 1, index));
    check(out, 4, (int64_t[]){ 1, 0, 3, 4 });
    CHECK_OK(cq_kernel_scatter(x, 1, index, out, CQ_COMBINE_ADD, true));
    check(x, 6, (int64_t[]){ 0, 2, 2, 6, 8, 5 });
    CHECK_OK(cq_kernel_scatter(x, 1, index, out, CQ_COMBINE_MUL, false));
    check(x, 6, (int64_t[]){ 0, 1, 2, 3, 4, 5 });
    cq_tensor_release(x);
    cq_tensor_release(index);
    cq_tensor_release(out);
}

TEST(index, a_mean_counts_its_elements)
{
    cq_tensor *x = row(3, (int64_t[]){ 10, 20, 30 });
    cq_tensor *i = row(3, (int64_t[]){ 0, 0, 2 }), *s = row(3, (int64_t[]){ 1, 4, 6 });

    CHECK_OK(cq_kernel_scatter(x, 0, i, s, CQ_COMBINE_MEAN, true));
    check(x, 3, (int64_t[]){ 5, 20, 18 });
    CHECK_OK(cq_kernel_scatter(x, 0, i, s, CQ_COMBINE_MEAN, false));
    check(x, 3, (int64_t[]){ 2, 20, 6 });
    cq_tensor_release(x);
    cq_tensor_release(i);
    cq_tensor_release(s);
}

TEST(index, out_of_range_values_are_named)
{
    cq_tensor *x = counting(2, (int64_t[]){ 2, 3 }), *index = row(1, (int64_t[]){ 3 });
    cq_tensor *out = ints(2, (int64_t[]){ 2, 1 }, NULL);

    CHECK_STATUS(CQ_E_ARGUMENT, cq_kernel_index_select(out, x, 1, index));
    CHECK_STR("index 3 is out of bounds for dimension 1 with size 3", cq_last_error()->message);
    ((int64_t *)cq_tensor_data(index))[0] = INT64_MIN;
    CHECK_STATUS(CQ_E_ARGUMENT, cq_kernel_index_select(out, x, 1, index));
    CHECK_STATUS(CQ_E_ARGUMENT, cq_kernel_index_select(out, x, 2, index));
    ((int64_t *)cq_tensor_data(index))[0] = -3;
    CHECK_OK(cq_kernel_index_select(out, x, 1, index));
    check(out, 2, (int64_t[]){ 0, 3 });
    cq_tensor_release(x);
    cq_tensor_release(index);
    cq_tensor_release(out);
}

TEST(index, slices_are_written_and_filled)
{
    cq_tensor *x = counting(2, (int64_t[]){ 3, 2 }), *index = row(2, (int64_t[]){ 2, 0 });
    cq_tensor *src  = ints(2, (int64_t[]){ 2, 2 }, (int64_t[]){ 10, 20, 30, 40 });
    cq_tensor *nine = ints(0, NULL, (int64_t[]){ 9 });

    CHECK_OK(cq_kernel_index_write(x, 0, index, src, CQ_COMBINE_ADD));
    check(x, 6, (int64_t[]){ 30, 41, 2, 3, 14, 25 });
    CHECK_OK(cq_kernel_index_write(x, 0, index, nine, CQ_COMBINE_SET));
    check(x, 6, (int64_t[]){ 9, 9, 2, 3, 9, 9 });
    cq_tensor_release(x);
    cq_tensor_release(index);
    cq_tensor_release(src);
    cq_tensor_release(nine);
}

static void check_index(const cq_tensor *x, const cq_tensor *const *indices, size_t n, size_t rank,
                        const int64_t *sizes, const int64_t *want)
{
    cq_index_plan plan;
    cq_tensor    *out = ints(rank, sizes, NULL);

    CHECK_OK(cq_index_plan_init(&plan, x, indices, n));
    CHECK_INT(rank, plan.rank);
    for (size_t i = 0; i < rank; i++)
        CHECK_INT(sizes[i], plan.sizes[i].value);
    CHECK_OK(cq_kernel_index_get(out, x, &plan));
    check(out, cq_tensor_numel(out), want);
    cq_index_plan_clear(&plan);
    cq_tensor_release(out);
}

TEST(index, tensors_as_indices_put_their_dimensions_where_pytorch_does)
{
    cq_tensor *x       = counting(3, (int64_t[]){ 2, 2, 2 });
    cq_tensor *a       = row(1, (int64_t[]){ -1 }),
              *b       = ints(2, (int64_t[]){ 2, 1 }, (int64_t[]){ 0, 1 });
    bool       truth[] = { true, false, false, true };
    cq_tensor *mask;

    CHECK_OK(cq_tensor_new(&mask, CQ_DTYPE_BOOL, 2, (int64_t[]){ 2, 2 }, truth));
    /* adjacent dimensions stay, others move to the front, a mask selects its true elements */
    check_index(x, (const cq_tensor *const[]){ NULL, a, b }, 3, 3, (int64_t[]){ 2, 2, 1 },
                (int64_t[]){ 2, 3, 6, 7 });
    check_index(x, (const cq_tensor *const[]){ a, NULL, b }, 3, 3, (int64_t[]){ 2, 1, 2 },
                (int64_t[]){ 4, 6, 5, 7 });
    check_index(x, (const cq_tensor *const[]){ mask }, 1, 2, (int64_t[]){ 2, 2 },
                (int64_t[]){ 0, 1, 6, 7 });
    cq_tensor_release(x);
    cq_tensor_release(a);
    cq_tensor_release(b);
    cq_tensor_release(mask);
}

TEST(index, equal_indices_accumulate)
{
    cq_tensor    *x = counting(1, (int64_t[]){ 3 }), *i = row(3, (int64_t[]){ 1, 1, 2 });
    cq_tensor    *v = ints(0, NULL, (int64_t[]){ 5 });
    cq_index_plan plan;

    CHECK_OK(cq_index_plan_init(&plan, x, (const cq_tensor *const[]){ i }, 1));
    CHECK_OK(cq_kernel_index_put(x, &plan, v, CQ_COMBINE_ADD));
    check(x, 3, (int64_t[]){ 0, 11, 7 });
    CHECK_OK(cq_kernel_index_put(x, &plan, v, CQ_COMBINE_SET));
    check(x, 3, (int64_t[]){ 0, 5, 5 });
    cq_index_plan_clear(&plan);
    CHECK_STATUS(CQ_E_ARGUMENT,
                 cq_index_plan_init(&plan, x, (const cq_tensor *const[]){ i, i }, 2));
    cq_tensor_release(x);
    cq_tensor_release(i);
    cq_tensor_release(v);
}

TEST(index, tuples_name_elements_and_rows)
{
    cq_tensor *x     = counting(3, (int64_t[]){ 2, 2, 2 });
    cq_tensor *index = ints(2, (int64_t[]){ 2, 2 }, (int64_t[]){ 0, 1, 1, 0 });
    cq_tensor *out = ints(2, (int64_t[]){ 2, 2 }, NULL), *each = row(2, NULL);

    CHECK_OK(cq_kernel_gather_nd(out, x, index, 0));
    check(out, 4, (int64_t[]){ 2, 3, 4, 5 });
    CHECK_OK(cq_kernel_gather_nd(each, x, index, 1)); /* x[0][0][1], x[1][1][0] */
    check(each, 2, (int64_t[]){ 1, 6 });
    CHECK_OK(cq_kernel_scatter_nd(x, index, out, CQ_COMBINE_ADD));
    check(x, 8, (int64_t[]){ 0, 1, 4, 6, 8, 10, 6, 7 });
    cq_tensor_release(x);
    cq_tensor_release(index);
    cq_tensor_release(out);
    cq_tensor_release(each);
}

TEST(index, selection_by_value)
{
    cq_tensor *x = ints(2, (int64_t[]){ 2, 2 }, (int64_t[]){ 0, 7, 8, 0 });
    cq_tensor *mask, *out;
    cq_tensor *r = row(3, (int64_t[]){ 2, 0, 1 });

    CHECK_OK(cq_kernel_nonzero(&out, x));
    check(out, 4, (int64_t[]){ 0, 1, 1, 0 });
    cq_tensor_release(out);
    CHECK_OK(cq_tensor_new(&mask, CQ_DTYPE_BOOL, 1, (int64_t[]){ 2 }, (bool[]){ false, true }));
    CHECK_OK(cq_kernel_masked_select(&out, x, mask));
    check(out, 2, (int64_t[]){ 7, 0 });
    CHECK_OK(cq_kernel_masked_scatter(x, mask, r));
    check(x, 4, (int64_t[]){ 0, 2, 8, 0 });
    cq_tensor_release(out);
    CHECK_OK(cq_kernel_repeat_index(&out, r));
    check(out, 3, (int64_t[]){ 0, 0, 2 });
    cq_tensor_release(out);
    CHECK_OK(cq_kernel_bincount(&out, r, NULL, 5));
    check(out, 5, (int64_t[]){ 1, 1, 1, 0, 0 });
    cq_tensor_release(out);
    ((int64_t *)cq_tensor_data(r))[0] = -1;
    CHECK_STATUS(CQ_E_ARGUMENT, cq_kernel_repeat_index(&out, r));
    CHECK_STATUS(CQ_E_ARGUMENT, cq_kernel_bincount(&out, r, NULL, 0));
    cq_tensor_release(x);
    cq_tensor_release(mask);
    cq_tensor_release(r);
}

RUN_TESTS(TEST_OF(index, gather_and_scatter_along_either_dimension),
          TEST_OF(index, a_mean_counts_its_elements), TEST_OF(index, out_of_range_values_are_named),
          TEST_OF(index, slices_are_written_and_filled),
          TEST_OF(index, tensors_as_indices_put_their_dimensions_where_pytorch_does),
          TEST_OF(index, equal_indices_accumulate), TEST_OF(index, tuples_name_elements_and_rows),
          TEST_OF(index, selection_by_value))
