#include "kernel/quantize.h"

#include "tensors.h"

TEST(quantize, values_are_rounded_and_clipped_to_the_range)
{
    cq_tensor *x = tensor_of(CQ_DTYPE_F32, SIZES(6), (float[]){ 0.24f, 0.25f, 0.75f, -1, 70, -70 });
    cq_tensor *scale = tensor_of(CQ_DTYPE_F32, SIZES(1), (float[]){ 0.5f });
    cq_tensor *zero  = tensor_of(CQ_DTYPE_I32, SIZES(1), (int32_t[]){ 10 });
    cq_tensor *out   = tensor_of(CQ_DTYPE_F32, SIZES(6), NULL);

    CHECK_OK(cq_kernel_to_grid(out, x, scale, zero, 0, 0, 127));
    check_values(out, (double[]){ 0, 0, 1, -1, 58.5, -5 });
    release_all(x, scale, zero, NULL);
}

TEST(quantize, every_slice_may_have_separate_qparams)
{
    cq_tensor *q     = tensor_of(CQ_DTYPE_I8, SIZES(2, 2), (int8_t[]){ 2, 2, -3, 1 });
    cq_tensor *scale = tensor_of(CQ_DTYPE_F32, SIZES(2), (float[]){ 0.5f, 2 });
    cq_tensor *zero  = tensor_of(CQ_DTYPE_I32, SIZES(2), (int32_t[]){ 1, 1 });
    cq_tensor *out   = tensor_of(CQ_DTYPE_F32, SIZES(2, 2), NULL);

    CHECK_STATUS(CQ_E_TYPE, cq_kernel_dequantize(out, q, scale, zero, 2));
    CHECK_OK(cq_kernel_dequantize(out, q, scale, zero, 1));
    check_values(out, (double[]){ 0.5, 2, -2, 0 });
    release_all(q, scale, zero, NULL);
}

RUN_TESTS(TEST_OF(quantize, values_are_rounded_and_clipped_to_the_range),
          TEST_OF(quantize, every_slice_may_have_separate_qparams))
