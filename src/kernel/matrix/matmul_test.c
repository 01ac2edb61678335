#include "kernel/matrix/matmul.h"

#include "tensors.h"

/* torch.matmul(torch.arange(12.).view(2, 1, 2, 3), torch.arange(6.).view(2, 3, 1)) */
TEST(matmul, batches_broadcast)
{
    float      a[12], b[6];
    cq_tensor *ta, *tb, *out;

    for (int i = 0; i < 12; i++)
        a[i] = (float)i;
    for (int i = 0; i < 6; i++)
        b[i] = (float)i;
    ta  = tensor_of(CQ_DTYPE_F32, SIZES(2, 1, 2, 3), a);
    tb  = tensor_of(CQ_DTYPE_F32, SIZES(2, 3, 1), b);
    out = tensor_of(CQ_DTYPE_F32, SIZES(2, 2, 2, 1), NULL);
    CHECK_OK(cq_kernel_matmul(out, ta, tb));
    check_values(out, (double[]){ 5, 14, 14, 50, 23, 32, 86, 122 });
    release_all(ta, tb, NULL);
}

TEST(matmul, vectors_stand_for_rows_and_columns)
{
    cq_tensor *v   = tensor_of(CQ_DTYPE_F64, SIZES(3), (double[]){ 1, 2, 3 });
    cq_tensor *m   = tensor_of(CQ_DTYPE_F64, SIZES(3, 2), (double[]){ 1, 0, 0, 1, 2, 2 });
    cq_tensor *row = tensor_of(CQ_DTYPE_F64, SIZES(2), NULL);
    cq_tensor *dot = tensor_of(CQ_DTYPE_F64, 0, NULL, NULL);

    CHECK_OK(cq_kernel_matmul(row, v, m));
    check_values(row, (double[]){ 7, 8 });
    CHECK_OK(cq_kernel_matmul(dot, v, v));
    check_values(dot, (double[]){ 14 });
    release_all(v, m, NULL);
}

/* 256 times 1 and then 1/8 in bfloat16: a running sum in bfloat16 would stay at 256. */
TEST(matmul, half_precision_is_summed_in_float)
{
    uint16_t   a[272], b[272];
    cq_tensor *ta, *tb, *out = tensor_of(CQ_DTYPE_BF16, SIZES(1, 1), NULL);

    for (int i = 0; i < 272; i++) {
        a[i] = cq_f32_to_bf16(1);
        b[i] = cq_f32_to_bf16(i < 256 ? 1 : 0.125f);
    }
    ta = tensor_of(CQ_DTYPE_BF16, SIZES(1, 272), a);
    tb = tensor_of(CQ_DTYPE_BF16, SIZES(272, 1), b);
    CHECK_OK(cq_kernel_matmul(out, ta, tb));
    check_values(out, (double[]){ 258 });
    release_all(ta, tb, NULL);
}

TEST(matmul, an_empty_sum_is_zero_and_addmm_adds)
{
    cq_tensor *a   = tensor_of(CQ_DTYPE_I32, SIZES(2, 0), NULL);
    cq_tensor *b   = tensor_of(CQ_DTYPE_I32, SIZES(0, 2), NULL);
    cq_tensor *c   = tensor_of(CQ_DTYPE_I32, SIZES(2), (int32_t[]){ 3, -4 });
    cq_tensor *out = tensor_of(CQ_DTYPE_I32, SIZES(2, 2), (int32_t[]){ 9, 9, 9, 9 });

    CHECK_OK(cq_kernel_matmul(out, a, b));
    check_values(cq_tensor_retain(out), (double[]){ 0, 0, 0, 0 });
    CHECK_OK(cq_kernel_addmm(out, c, a, b, 2, 1));
    check_values(out, (double[]){ 6, -8, 6, -8 });
    release_all(a, b, c, NULL);
}

TEST(matmul, linear_multiplies_by_the_transposed_weight)
{
    cq_tensor *x   = tensor_of(CQ_DTYPE_F32, SIZES(2, 2), (float[]){ 1, 2, 3, 4 });
    cq_tensor *w   = tensor_of(CQ_DTYPE_F32, SIZES(3, 2), (float[]){ 1, 0, 0, 1, 1, 1 });
    cq_tensor *b   = tensor_of(CQ_DTYPE_F32, SIZES(3), (float[]){ 10, 20, 30 });
    cq_tensor *out = tensor_of(CQ_DTYPE_F32, SIZES(2, 3), NULL);

    CHECK_OK(cq_kernel_linear(out, x, w, b));
    check_values(out, (double[]){ 11, 22, 33, 13, 24, 37 });
    release_all(x, w, b, NULL);
}

RUN_TESTS(TEST_OF(matmul, batches_broadcast), TEST_OF(matmul, vectors_stand_for_rows_and_columns),
          TEST_OF(matmul, half_precision_is_summed_in_float),
          TEST_OF(matmul, an_empty_sum_is_zero_and_addmm_adds),
          TEST_OF(matmul, linear_multiplies_by_the_transposed_weight))
