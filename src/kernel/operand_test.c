#include "kernel/operand.h"

#include "base/thread.h"
#include "kernel/conv/conv.h"
#include "kernel/matrix/matmul.h"
#include "kernel/matrix/norm.h"
#include "kernel/conv/pool.h"
#include "kernel/conv/resize.h"
#include "kernel/matrix/rnn.h"
#include "tensors.h"

TEST(operand, data_in_the_right_format_is_used_in_place)
{
    cq_tensor  *x = tensor_of(CQ_DTYPE_F32, SIZES(2, 2), NULL);
    cq_operands s = { .compute = CQ_DTYPE_F32 };

    CHECK(cq_operands_in(&s, x) == cq_tensor_data(x));
    CHECK(cq_operands_out(&s, x) == cq_tensor_data(x));
    CHECK(cq_operands_in(&s, NULL) == NULL);
    CHECK_OK(cq_operands_close(&s));
    cq_tensor_release(x);
}

/* Column 1 of a matrix of halves: neither contiguous nor float32. */
TEST(operand, an_output_that_does_not_fit_is_copied_back)
{
    cq_tensor  *m = tensor_of(CQ_DTYPE_F16, SIZES(2, 2), NULL), *column = NULL;
    cq_operands s = { .compute = CQ_DTYPE_F32 };
    float      *p;

    CHECK_OK(cq_tensor_new_view(&column, m, CQ_DTYPE_F16, 1, (cq_int[]){ { .value = 2 } },
                                (int64_t[]){ 2 }, 1));
    p = cq_operands_out(&s, column);
    assert_non_null(p);
    p[0] = 1.5f;
    p[1] = -2;
    CHECK_OK(cq_operands_close(&s));
    check_values(m, (double[]){ 0, 1.5, 0, -2 });
    cq_tensor_release(column);
}

TEST(operand, shapes_that_do_not_fit_are_refused)
{
    cq_tensor *x = pattern(CQ_DTYPE_F32, SIZES(1, 2, 4, 4), 0);
    cq_tensor *w = pattern(CQ_DTYPE_F32, SIZES(2, 3, 3, 3), 1);
    cq_tensor *y = tensor_of(CQ_DTYPE_F32, SIZES(1, 2, 4, 4), NULL);

    CHECK_STATUS(CQ_E_TYPE, cq_kernel_conv(y, x, w, NULL, &(cq_window){ 0 }, 1));
    CHECK_STR("the shapes float32[1, 2, 4, 4] and float32[2, 3, 3, 3] do not match",
              cq_last_error()->message);
    CHECK_STATUS(CQ_E_ARGUMENT, cq_kernel_conv(y, x, w, NULL, &(cq_window){ 0 }, 0));
    CHECK_STATUS(CQ_E_TYPE, cq_kernel_matmul(y, x, w));
    CHECK_STATUS(CQ_E_TYPE, cq_kernel_layer_norm(y, NULL, NULL, x, w, NULL, 1, 0));
    release_all(x, w, y, NULL);
}

static cq_tensor *in[6], *out[2];

static cq_status run_conv(void)
{
    return cq_kernel_conv(out[0], in[0], in[1], in[2], &(cq_window){ .padding = { 1, 1 } }, 1);
}

static cq_status run_depthwise(void)
{
    return cq_kernel_conv(out[0], in[0], in[3], in[2], &(cq_window){ .padding = { 1, 1 } }, 2);
}

static cq_status run_transpose(void)
{
    return cq_kernel_conv_transpose(out[0], in[0], in[1], in[2],
                                    &(cq_window){ .padding = { 1, 1 } }, 1);
}

static cq_status run_pool(void)
{
    return cq_kernel_avg_pool(out[0], in[0], &(cq_window){ .kernel = { 1, 1 } },
                              &(cq_avg_pool){ 0 });
}

static cq_status run_norm(void)
{
    return cq_kernel_group_norm(out[0], NULL, NULL, in[0], in[2], in[2], 1, 1e-3);
}

static cq_status run_resize(void)
{
    return cq_kernel_upsample(out[0], in[0], CQ_RESIZE_CUBIC, true, NULL);
}

static cq_status run_matmul(void)
{
    return cq_kernel_matmul(out[0], in[0], in[0]);
}

static cq_status run_rnn(void)
{
    cq_rnn cell = { .kind = CQ_RNN_LSTM, .w_ih = in[4], .w_hh = in[4] };

    return cq_kernel_rnn(out[1], NULL, NULL, in[5], NULL, NULL, &cell);
}

/* In half precision, so that every operand and result is a copy that can fail. */
TEST(operand, kernels_survive_any_allocation_that_fails)
{
    static cq_status (*const runs[])(void) = { run_conv, run_depthwise, run_transpose, run_pool,
                                               run_norm, run_resize,    run_matmul,    run_rnn };

    cq_set_threads(1);
    in[0]  = pattern(CQ_DTYPE_F16, SIZES(1, 2, 4, 4), 0);
    in[1]  = pattern(CQ_DTYPE_F16, SIZES(2, 2, 3, 3), 1);
    in[2]  = pattern(CQ_DTYPE_F16, SIZES(2), 2);
    in[3]  = pattern(CQ_DTYPE_F16, SIZES(2, 1, 3, 3), 3);
    in[4]  = pattern(CQ_DTYPE_F16, SIZES(8, 2), 4);
    in[5]  = pattern(CQ_DTYPE_F16, SIZES(3, 2, 2), 5);
    out[0] = tensor_of(CQ_DTYPE_F16, SIZES(1, 2, 4, 4), NULL);
    out[1] = tensor_of(CQ_DTYPE_F16, SIZES(3, 2, 2), NULL);
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        cq_status status = CQ_E_NO_MEMORY;
        long      n      = 0;

        while (status == CQ_E_NO_MEMORY) {
            cq_alloc_fail_at(++n);
            status = runs[i]();
        }
        cq_alloc_fail_at(0);
        CHECK_INT(CQ_OK, status);
        CHECK(n > 3); /* several allocations failed */
    }
    release_all(in[0], in[1], in[2], in[3], in[4], in[5], out[0], out[1], NULL);
}

RUN_TESTS(TEST_OF(operand, data_in_the_right_format_is_used_in_place),
          TEST_OF(operand, an_output_that_does_not_fit_is_copied_back),
          TEST_OF(operand, shapes_that_do_not_fit_are_refused),
          TEST_OF(operand, kernels_survive_any_allocation_that_fails))
