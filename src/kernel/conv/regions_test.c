#include "kernel/conv/regions.h"

#include "tensors.h"

TEST(regions, the_mean_of_samples_in_each_bin)
{
    cq_tensor *x =
        tensor_of(CQ_DTYPE_F32, SIZES(1, 1, 3, 3), (float[]){ 0, 1, 2, 3, 4, 5, 6, 7, 8 });
    cq_tensor *boxes = tensor_of(CQ_DTYPE_F32, SIZES(1, 4), (float[]){ 0, 0, 2, 2 });
    cq_tensor *batch = tensor_of(CQ_DTYPE_I64, SIZES(1), (int64_t[]){ 0 });
    cq_tensor *out   = tensor_of(CQ_DTYPE_F32, SIZES(1, 1, 2, 2), NULL);
    cq_regions how   = { .scale = 1, .ratio = 1 };

    CHECK_OK(cq_kernel_roi_align(out, x, boxes, batch, &how));
    check_values(out, (double[]){ 2, 3, 5, 6 });
    release_all(x, boxes, batch, NULL);
}

TEST(regions, the_maximum_of_each_bin_and_its_index)
{
    cq_tensor *x = tensor_of(CQ_DTYPE_F32, SIZES(1, 1, 2, 2), (float[]){ 1, 4, 3, 2 });
    cq_tensor *rois =
        tensor_of(CQ_DTYPE_F32, SIZES(2, 5), (float[]){ 0, 0, 0, 1, 1, 0, 9, 9, 9, 9 });
    cq_tensor *out     = tensor_of(CQ_DTYPE_F32, SIZES(2, 1, 1, 1), NULL);
    cq_tensor *indices = tensor_of(CQ_DTYPE_I32, SIZES(2, 1, 1, 1), NULL);

    CHECK_OK(cq_kernel_roi_pool(out, indices, x, rois, 1));
    check_values(out, (double[]){ 4, 0 });
    check_values(indices, (double[]){ 1, -1 });
    release_all(x, rois, NULL);
}

TEST(regions, boxes_that_overlap_a_better_one_are_dropped)
{
    double  boxes[] = { 0, 0, 2, 2, 0, 0, 2, 1.9, 5, 5, 6, 6 }, scores[] = { 0.5, 0.9, 0.1 };
    cq_nms  m = { .n_boxes = 3, .limit = 3, .max_overlap = 0.5, .boxes = boxes, .scores = scores };
    int64_t chosen[3], n;

    CHECK_OK(cq_kernel_nms(chosen, &n, &m));
    CHECK_INT(2, n);
    CHECK_INT(1, chosen[0]);
    CHECK_INT(2, chosen[1]);
}

RUN_TESTS(TEST_OF(regions, the_mean_of_samples_in_each_bin),
          TEST_OF(regions, the_maximum_of_each_bin_and_its_index),
          TEST_OF(regions, boxes_that_overlap_a_better_one_are_dropped))
