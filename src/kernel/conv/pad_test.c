/* Wanted values are PyTorch 1.13's. */
#include "kernel/conv/pad.h"

#include "test.h"

static void check(const cq_tensor *t, const int *want)
{
    for (int64_t i = 0; i < cq_tensor_numel(t); i++)
        CHECK_INT(want[i], cq_tensor_get_i64(t, i));
}

TEST(pad, a_row_in_every_mode)
{
    static const struct {
        cq_pad_mode mode;
        int64_t     before;
        int         want[8];
    } rows[] = {
        { CQ_PAD_CONSTANT, 2, { 9, 9, 1, 2, 3, 9, 9, 9 } },
        { CQ_PAD_CONSTANT, -1, { 2, 3, 9, 9, 9, 9, 9, 9 } },
        { CQ_PAD_REFLECT, 2, { 3, 2, 1, 2, 3, 2, 1, 2 } },
        { CQ_PAD_REPLICATE, 2, { 1, 1, 1, 2, 3, 3, 3, 3 } },
        { CQ_PAD_CIRCULAR, 2, { 2, 3, 1, 2, 3, 1, 2, 3 } },
    };
    static const cq_dtype dtypes[] = { CQ_DTYPE_U8, CQ_DTYPE_I32, CQ_DTYPE_F64, CQ_DTYPE_C128 };

    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (size_t d = 0; d < 4; d++) {
            cq_tensor *numbers, *x, *out, *nine;

            CHECK_OK(cq_tensor_new(&numbers, CQ_DTYPE_U8, 1, (int64_t[]){ 3 }, "\1\2\3"));
            CHECK_OK(cq_tensor_clone(&x, numbers, dtypes[d]));
            CHECK_OK(cq_tensor_new(&out, dtypes[d], 1, (int64_t[]){ 8 }, NULL));
            CHECK_OK(cq_tensor_new(&nine, CQ_DTYPE_F32, 0, NULL, (float[]){ 9 }));
            CHECK_OK(cq_kernel_pad(out, x, &rows[r].before, rows[r].mode, nine));
            check(out, rows[r].want);
            cq_tensor_release(numbers);
            cq_tensor_release(x);
            cq_tensor_release(out);
            cq_tensor_release(nine);
        }
}

TEST(pad, two_dimensions_at_once)
{
    cq_tensor *x, *out;

    CHECK_OK(cq_tensor_new(&x, CQ_DTYPE_U8, 2, (int64_t[]){ 2, 2 }, "\1\2\3\4"));
    CHECK_OK(cq_tensor_new(&out, CQ_DTYPE_U8, 2, (int64_t[]){ 3, 4 }, NULL));
    CHECK_OK(cq_kernel_pad(out, x, (int64_t[]){ 0, 1 }, CQ_PAD_CONSTANT, NULL));
    check(out, (int[]){ 0, 1, 2, 0, 0, 3, 4, 0, 0, 0, 0, 0 });
    CHECK_OK(cq_kernel_pad(out, x, (int64_t[]){ 1, 1 }, CQ_PAD_REFLECT, NULL));
    check(out, (int[]){ 4, 3, 4, 3, 2, 1, 2, 1, 4, 3, 4, 3 });
    cq_tensor_release(x);
    cq_tensor_release(out);
}

TEST(pad, nothing_cannot_be_reflected)
{
    cq_tensor *x, *out;

    CHECK_OK(cq_tensor_new(&x, CQ_DTYPE_U8, 1, (int64_t[]){ 0 }, NULL));
    CHECK_OK(cq_tensor_new(&out, CQ_DTYPE_U8, 1, (int64_t[]){ 2 }, "\1\1"));
    CHECK_STATUS(CQ_E_ARGUMENT, cq_kernel_pad(out, x, (int64_t[]){ 1 }, CQ_PAD_REFLECT, NULL));
    CHECK_OK(cq_kernel_pad(out, x, (int64_t[]){ 1 }, CQ_PAD_CONSTANT, NULL));
    check(out, (int[]){ 0, 0 });
    cq_tensor_release(x);
    cq_tensor_release(out);
}

TEST(pad, flips)
{
    cq_tensor *x, *out;

    CHECK_OK(cq_tensor_new(&x, CQ_DTYPE_U8, 2, (int64_t[]){ 2, 3 }, "\1\2\3\4\5\6"));
    CHECK_OK(cq_tensor_new(&out, CQ_DTYPE_U8, 2, (int64_t[]){ 2, 3 }, NULL));
    CHECK_OK(cq_kernel_flip(out, x, 3));
    check(out, (int[]){ 6, 5, 4, 3, 2, 1 });
    CHECK_OK(cq_kernel_flip(out, x, 1));
    check(out, (int[]){ 4, 5, 6, 1, 2, 3 });
    cq_tensor_release(x);
    cq_tensor_release(out);
}

RUN_TESTS(TEST_OF(pad, a_row_in_every_mode), TEST_OF(pad, two_dimensions_at_once),
          TEST_OF(pad, nothing_cannot_be_reflected), TEST_OF(pad, flips))
