#include "kernel/attention.h"

#include "base/thread.h"
#include "tensors.h"

static void check(const cq_attention *options, const double *want)
{
    cq_tensor *q   = pattern(CQ_DTYPE_F32, SIZES(3, 2), 0),
              *k   = pattern(CQ_DTYPE_F32, SIZES(3, 2), 3);
    cq_tensor *v   = pattern(CQ_DTYPE_F32, SIZES(3, 2), 5);
    cq_tensor *out = tensor_of(CQ_DTYPE_F32, SIZES(3, 2), NULL);

    CHECK_OK(cq_kernel_attention(out, q, k, v, options));
    check_close(out, want, 1e-6);
    release_all(q, k, v, NULL);
}

TEST(attention, plain_and_causal)
{
    check(&(cq_attention){ 0 }, (double[]){ -0.0160130836, -0.686522858, -0.109688392, -0.705409547,
                                            -0.100877935, -0.0819665793 });
    check(&(cq_attention){ .causal = true },
          (double[]){ 0, -1, 0.0868413013, -0.913158699, -0.100877935, -0.0819665793 });
}

TEST(attention, masks_exclude_or_add)
{
    cq_tensor *out  = tensor_of(CQ_DTYPE_BOOL, SIZES(1, 3), (bool[]){ true, false, true });
    cq_tensor *more = pattern(CQ_DTYPE_F32, SIZES(3, 3), 2);

    check(&(cq_attention){ .mask = out }, (double[]){ -0.182275312, -0.781269625, -0.203901729,
                                                      -0.755317925, -0.8958564, 0.0750276796 });
    check(&(cq_attention){ .mask = more }, (double[]){ 0.228406204, -0.419620159, 0.0227959044,
                                                       -0.453360541, 0.297597485, -0.121057576 });
    release_all(out, more, NULL);
}

TEST(attention, threads_do_not_show)
{
    cq_tensor *q = pattern(CQ_DTYPE_F32, SIZES(2, 3, 150, 20), 0), *out[2];
    cq_tensor *k = pattern(CQ_DTYPE_F32, SIZES(2, 3, 90, 20), 3);
    cq_tensor *v = pattern(CQ_DTYPE_F32, SIZES(3, 90, 7), 3);

    for (int i = 0; i < 2; i++) {
        cq_set_threads(1 + 2 * i);
        out[i] = tensor_of(CQ_DTYPE_F32, SIZES(2, 3, 150, 7), NULL);
        CHECK_OK(cq_kernel_attention(out[i], q, k, v, &(cq_attention){ 0 }));
    }
    CHECK(memcmp(cq_tensor_data(out[0]), cq_tensor_data(out[1]),
                 4 * (size_t)cq_tensor_numel(out[0])) == 0);
    release_all(q, k, v, out[0], out[1], NULL);
}

RUN_TESTS(TEST_OF(attention, plain_and_causal), TEST_OF(attention, masks_exclude_or_add),
          TEST_OF(attention, threads_do_not_show))
