/* Sizes that a file may claim: none that cannot be counted becomes a tensor. */
#include "tensor/tensor.h"

#include "test.h"

#include <stdint.h>

static const int64_t huge[] = { (int64_t)1 << 62, 4, 0 };

TEST(tensor, sizes_whose_product_overflows_are_refused_wherever_a_tensor_is_made)
{
    cq_int     sizes[3]   = { cq_i(huge[0]), cq_i(huge[1]), cq_i(huge[2]) };
    int64_t    strides[3] = { 0 };
    float      number     = 1;
    cq_tensor *one, *t;

    CHECK_STATUS(CQ_OK, cq_tensor_new(&one, CQ_DTYPE_F32, 0, NULL, &number));
    for (size_t rank = 2; rank <= 3; rank++) { /* also with a size of 0: its strides overflow */
        CHECK_STATUS(CQ_E_NO_MEMORY, cq_tensor_new_fake(&t, CQ_DTYPE_F32, rank, sizes));
        CHECK(t == NULL);
        CHECK_STATUS(CQ_E_NO_MEMORY, cq_tensor_new_uninit(&t, CQ_DTYPE_F32, rank, huge));
        CHECK_STATUS(CQ_E_NO_MEMORY, cq_tensor_new(&t, CQ_DTYPE_F32, rank, huge, NULL));
        CHECK_STATUS(CQ_E_NO_MEMORY,
                     cq_tensor_wrap(&t, CQ_DTYPE_F32, rank, huge, &number, NULL, NULL));
        CHECK_STATUS(CQ_E_NO_MEMORY,
                     cq_tensor_new_view(&t, one, CQ_DTYPE_F32, rank, sizes, strides, 0));
        CHECK_STATUS(CQ_E_NO_MEMORY,
                     cq_tensor_new_on(&t, one->storage, CQ_DTYPE_F32, rank, huge, strides, 0));
        CHECK(t == NULL);
    }
    cq_tensor_release(one);
}

TEST(tensor, tensors_at_the_size_limit_work_as_views_and_without_data)
{
    int64_t    size = INT64_MAX / 4, stride = 0;
    cq_int     sizes[1] = { cq_i(size) };
    float      number   = 1;
    cq_tensor *one, *t;

    CHECK_STATUS(CQ_OK, cq_tensor_new(&one, CQ_DTYPE_F32, 0, NULL, &number));
    CHECK_STATUS(CQ_OK, cq_tensor_new_view(&t, one, CQ_DTYPE_F32, 1, sizes, &stride, 0));
    CHECK_INT(size, cq_tensor_numel(t));
    CHECK(!cq_tensor_is_contiguous(t));
    cq_tensor_release(t);
    CHECK_STATUS(CQ_OK, cq_tensor_new_fake(&t, CQ_DTYPE_F32, 1, sizes));
    cq_tensor_release(t);
    CHECK_STATUS(CQ_E_NO_MEMORY, cq_tensor_new_fake(&t, CQ_DTYPE_F64, 1, sizes));
    cq_tensor_release(one);
}

TEST(tensor, negative_sizes_are_refused)
{
    cq_int     sizes[1] = { cq_i(-1) };
    cq_tensor *t;

    CHECK_STATUS(CQ_E_ARGUMENT, cq_tensor_new_fake(&t, CQ_DTYPE_F32, 1, sizes));
}

TEST(tensor, a_stride_that_is_never_used_may_be_any_number)
{
    int64_t    size = 1, stride = INT64_MAX;
    float      number = 7;
    cq_tensor *one, *t;

    CHECK_STATUS(CQ_OK, cq_tensor_new(&one, CQ_DTYPE_F32, 0, NULL, &number));
    CHECK_STATUS(CQ_OK, cq_tensor_new_on(&t, one->storage, CQ_DTYPE_F32, 1, &size, &stride, 0));
    CHECK(cq_tensor_get_f64(t, 0) == 7);
    cq_tensor_release(t);
    cq_tensor_release(one);
}

static void count(void *user)
{
    ++*(int *)user;
}

TEST(tensor, memory_of_the_caller_may_have_strides)
{
    float      numbers[6] = { 0, 1, 2, 3, 4, 5 };
    int64_t    sizes[] = { 3, 2 }, strides[] = { 1, 3 }, back[] = { -1, 3 };
    int64_t    far[]  = { INT64_MAX, 3 };
    int        n_gone = 0;
    cq_tensor *t, *copy;

    CHECK_OK(cq_tensor_wrap_strided(&t, CQ_DTYPE_F32, 2, sizes, strides, numbers, count, &n_gone));
    CHECK(!cq_tensor_is_contiguous(t));
    CHECK(cq_tensor_data(t) == numbers);
    CHECK(cq_tensor_is_shared(t));
    CHECK(cq_tensor_get_f64(t, 1) == 3);
    CHECK_OK(cq_tensor_contiguous(&copy, t));
    cq_tensor_release(t);
    CHECK_INT(1, n_gone);
    CHECK(cq_tensor_get_f64(copy, 4) == 2);
    CHECK(!cq_tensor_is_shared(copy));
    cq_tensor_retain(copy);
    CHECK(cq_tensor_is_shared(copy));
    cq_tensor_release(copy);
    CHECK_OK(cq_tensor_new_view(&t, copy, CQ_DTYPE_F32, 2, copy->sizes, copy->strides, 0));
    CHECK(cq_tensor_is_shared(copy));
    cq_tensor_release(t);
    CHECK(!cq_tensor_is_shared(copy));
    cq_tensor_release(copy);
    CHECK_STATUS(CQ_E_ARGUMENT,
                 cq_tensor_wrap_strided(&t, CQ_DTYPE_F32, 2, sizes, back, numbers, count, &n_gone));
    CHECK_STATUS(CQ_E_ARGUMENT,
                 cq_tensor_wrap_strided(&t, CQ_DTYPE_F32, 2, sizes, far, numbers, count, &n_gone));
    CHECK(t == NULL);
    CHECK_INT(1, n_gone); /* a failed call releases nothing */
}

struct counted {
    int n_made, n_gone;
};

static void make_numbers(void *user, void *to, size_t from, size_t n)
{
    ((struct counted *)user)->n_made++;
    for (size_t i = 0; i < n; i++)
        ((uint8_t *)to)[i] = (uint8_t)(from + i);
}

static void count_gone(void *user)
{
    ((struct counted *)user)->n_gone++;
}

TEST(tensor, lazy_numbers_are_computed_once_when_read)
{
    struct counted c    = { 0 };
    const int64_t  size = 100, one = 1;
    cq_storage    *s;
    cq_tensor     *t;

    CHECK_OK(cq_storage_later(&s, 100, (cq_maker){ make_numbers, count_gone, &c, NULL }));
    CHECK_OK(cq_tensor_new_on(&t, s, CQ_DTYPE_U8, 1, &size, &one, 0));
    cq_storage_release(s);
    CHECK_INT(0, c.n_made);
    CHECK_INT(42, cq_tensor_get_i64(t, 42));
    CHECK_INT(99, ((uint8_t *)cq_tensor_data(t))[99]);
    CHECK_INT(1, c.n_made);
    CHECK_INT(0, c.n_gone);
    cq_tensor_release(t);
    CHECK_INT(1, c.n_gone);
}

/* Twice the numbers of another tensor. */
static void make_double(void *user, void *to, size_t from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ((uint8_t *)to)[i] = (uint8_t)(2 * ((uint8_t *)cq_tensor_data(user))[from + i]);
}

static void release_source(void *user)
{
    cq_tensor_release(user);
}

TEST(tensor, lazy_numbers_may_depend_on_lazy_numbers)
{
    struct counted c    = { 0 };
    const int64_t  size = 10, one = 1;
    cq_storage    *s;
    cq_tensor     *t, *twice;

    CHECK_OK(cq_storage_later(&s, 10, (cq_maker){ make_numbers, count_gone, &c, NULL }));
    CHECK_OK(cq_tensor_new_on(&t, s, CQ_DTYPE_U8, 1, &size, &one, 0));
    cq_storage_release(s);
    CHECK_OK(cq_storage_later(&s, 10, (cq_maker){ make_double, release_source, t, NULL }));
    CHECK_OK(cq_tensor_new_on(&twice, s, CQ_DTYPE_U8, 1, &size, &one, 0));
    cq_storage_release(s);
    CHECK_INT(14, cq_tensor_get_i64(twice, 7));
    CHECK_INT(1, c.n_made);
    cq_tensor_release(twice);
    CHECK_INT(1, c.n_gone);
}

TEST(tensor, a_lazy_tensor_is_made_when_it_is_read)
{
    struct counted c        = { 0 };
    const int64_t  sizes[2] = { 5, 4 }, negative = -1;
    cq_tensor     *t;

    CHECK_OK(cq_tensor_new_lazy(&t, CQ_DTYPE_U8, 2, sizes, make_numbers, count_gone, &c));
    CHECK_INT(20, cq_tensor_numel(t));
    CHECK_INT(0, c.n_made);
    CHECK_INT(13, cq_tensor_get_i64(t, 13));
    CHECK_INT(1, c.n_made);
    cq_tensor_release(t);
    CHECK_INT(1, c.n_gone);
    CHECK_STATUS(CQ_E_ARGUMENT,
                 cq_tensor_new_lazy(&t, CQ_DTYPE_U8, 1, &negative, make_numbers, count_gone, &c));
    CHECK_INT(2, c.n_gone); /* also on failure */
}

RUN_TESTS(TEST_OF(tensor, a_lazy_tensor_is_made_when_it_is_read),
          TEST_OF(tensor, lazy_numbers_may_depend_on_lazy_numbers),
          TEST_OF(tensor, lazy_numbers_are_computed_once_when_read),
          TEST_OF(tensor, memory_of_the_caller_may_have_strides),
          TEST_OF(tensor, sizes_whose_product_overflows_are_refused_wherever_a_tensor_is_made),
          TEST_OF(tensor, tensors_at_the_size_limit_work_as_views_and_without_data),
          TEST_OF(tensor, negative_sizes_are_refused),
          TEST_OF(tensor, a_stride_that_is_never_used_may_be_any_number))
