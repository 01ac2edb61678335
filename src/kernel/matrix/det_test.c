#include "kernel/matrix/det.h"

#include "tensors.h"

TEST(det, of_a_batch_with_a_singular_matrix)
{
    cq_tensor *x =
        tensor_of(CQ_DTYPE_F32, SIZES(3, 2, 2), (float[]){ 1, 2, 3, 4, 0, 1, 1, 0, 1, 2, 2, 4 });
    cq_tensor *out = tensor_of(CQ_DTYPE_F32, SIZES(3), NULL);

    CHECK_OK(cq_kernel_det(out, x));
    check_close(out, (double[]){ -2, -1, 0 }, 1e-6);
    cq_tensor_release(x);
}

TEST(det, inverses_of_a_batch)
{
    cq_tensor *x =
        tensor_of(CQ_DTYPE_F32, SIZES(3, 2, 2), (float[]){ 1, 2, 3, 4, 0, 2, 4, 0, 1, 0, 0, 1 });
    cq_tensor *out = tensor_of(CQ_DTYPE_F32, SIZES(3, 2, 2), NULL);

    CHECK_OK(cq_kernel_inverse(out, x));
    check_close(out, (double[]){ -2, 1, 1.5, -0.5, 0, 0.25, 0.5, 0, 1, 0, 0, 1 }, 1e-6);
    cq_tensor_release(x);
}

TEST(det, matrices_must_be_square)
{
    cq_tensor *x   = tensor_of(CQ_DTYPE_F32, SIZES(2, 3), NULL),
              *out = tensor_of(CQ_DTYPE_F32, 0, NULL, NULL);

    CHECK_STATUS(CQ_E_TYPE, cq_kernel_det(out, x));
    CHECK_STATUS(CQ_E_TYPE, cq_kernel_inverse(out, x));
    release_all(x, out, NULL);
}

RUN_TESTS(TEST_OF(det, of_a_batch_with_a_singular_matrix), TEST_OF(det, inverses_of_a_batch),
          TEST_OF(det, matrices_must_be_square))
