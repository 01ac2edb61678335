#include "kernel/conv/bconv.h"

#include "base/thread.h"
#include "kernel/conv/blocked.h"
#include "kernel/conv/conv.h"
#include "isas.h"
#include "tensors.h"

#include <math.h>

typedef struct conv_case {
    int64_t batch, in, out, groups, size[2], kernel[2], stride[2], dilation[2];
    int64_t before[2], after[2];
    bool    plain;
} conv_case;

enum { SUM, LIMITED, ADDED_LIMITED }; /* the operations after a convolution */

#define PLAIN 1
static const conv_case cases[] = {
    /* n  in  out  g    size       kernel     stride    dilation   before    after */
    { 1, 8, 16, 1, { 7, 9 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, { 0, 0 }, { 0, 0 }, 0 },
    { 2, 5, 11, 1, { 6, 5 }, { 1, 1 }, { 2, 2 }, { 1, 1 }, { 0, 0 }, { 0, 0 }, 0 },
    { 1, 40, 24, 1, { 20, 13 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, { 1, 2 }, { 0, 1 }, 0 },
    { 1, 300, 40, 1, { 5, 5 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, { 0, 0 }, { 0, 0 }, 0 },
    { 2, 3, 24, 1, { 19, 17 }, { 7, 7 }, { 2, 2 }, { 1, 1 }, { 3, 3 }, { 3, 3 }, PLAIN },
    { 1, 1, 5, 1, { 9, 8 }, { 5, 3 }, { 1, 2 }, { 1, 2 }, { 2, 1 }, { 0, 3 }, PLAIN },
    { 1, 7, 8, 1, { 4, 4 }, { 2, 2 }, { 1, 1 }, { 2, 1 }, { 1, 0 }, { 0, 1 }, PLAIN },
    { 1, 24, 40, 1, { 9, 11 }, { 3, 3 }, { 2, 2 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, 0 },
    { 1, 13, 9, 1, { 9, 9 }, { 5, 5 }, { 1, 1 }, { 2, 1 }, { 4, 2 }, { 4, 2 }, 0 },
    { 1, 64, 32, 2, { 6, 7 }, { 3, 3 }, { 1, 2 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, 0 },
    { 1, 32, 64, 8, { 6, 7 }, { 3, 3 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, 0 },
    { 2, 32, 48, 2, { 6, 7 }, { 3, 3 }, { 1, 2 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, 0 },
    { 1, 16, 16, 1, { 17, 17 }, { 1, 7 }, { 1, 1 }, { 1, 1 }, { 0, 3 }, { 0, 3 }, 0 },
    { 1, 16, 16, 1, { 17, 5 }, { 7, 1 }, { 1, 1 }, { 1, 1 }, { 3, 0 }, { 3, 0 }, 0 },
    /* equidistant pixels, whole vectors and a half */
    { 2, 24, 72, 1, { 9, 13 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, { 0, 0 }, { 0, 0 }, 0 },
    { 1, 40, 120, 1, { 5, 6 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, { 0, 0 }, { 0, 0 }, 0 },
    { 1, 37, 6, 1, { 1, 29 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, { 0, 0 }, { 0, 0 }, 0 },
    { 1, 301, 24, 1, { 3, 5 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, { 0, 0 }, { 0, 0 }, 0 },
    { 1, 20, 24, 1, { 1, 1 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, { 0, 0 }, { 0, 0 }, 0 },
    { 1, 20, 40, 1, { 6, 9 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, { 0, 0 }, { 0, -2 }, 0 },
    { 1, 18, 24, 1, { 5, 70 }, { 1, 1 }, { 2, 1 }, { 1, 1 }, { 0, 0 }, { 0, 0 }, 0 },
    { 1, 20, 40, 1, { 5, 130 }, { 3, 3 }, { 2, 2 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, 0 },
    { 2, 3, 40, 1, { 7, 131 }, { 3, 3 }, { 2, 2 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, PLAIN },
    { 1, 3, 8, 1, { 3, 160 }, { 3, 4 }, { 1, 1 }, { 1, 2 }, { 1, 1 }, { 1, 1 }, PLAIN },
    /* Winograd convolution */
    { 1, 16, 24, 1, { 8, 8 }, { 3, 3 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, 0 },
    { 2, 19, 21, 1, { 13, 10 }, { 3, 3 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, 0 },
    { 1, 8, 8, 1, { 3, 3 }, { 3, 3 }, { 1, 1 }, { 1, 1 }, { 0, 0 }, { 0, 0 }, 0 },
    { 3, 9, 8, 1, { 45, 46 }, { 3, 3 }, { 1, 1 }, { 1, 1 }, { 0, 2 }, { 2, 0 }, 0 },
    { 1, 260, 16, 1, { 30, 30 }, { 3, 3 }, { 1, 1 }, { 1, 1 }, { 2, 2 }, { 2, 2 }, 0 },
    { 1, 64, 48, 1, { 8, 8 }, { 2, 2 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, { 0, 0 }, 0 },
    { 2, 19, 37, 1, { 31, 27 }, { 2, 2 }, { 1, 1 }, { 1, 1 }, { 0, 2 }, { 1, 1 }, 0 },
    { 1, 70, 16, 1, { 12, 13 }, { 4, 4 }, { 1, 1 }, { 1, 1 }, { 2, 3 }, { 1, 0 }, 0 },
    { 1, 24, 48, 1, { 11, 12 }, { 5, 5 }, { 1, 1 }, { 1, 1 }, { 2, 2 }, { 2, 2 }, 0 },
    { 1, 64, 48, 1, { 16, 16 }, { 4, 4 }, { 2, 2 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, 0 },
    { 2, 21, 17, 1, { 15, 51 }, { 4, 4 }, { 2, 2 }, { 1, 1 }, { 3, 0 }, { 0, 2 }, 0 },
    { 1, 33, 40, 1, { 23, 18 }, { 5, 5 }, { 2, 2 }, { 1, 1 }, { 2, 1 }, { 2, 2 }, 0 },
    { 1, 16, 16, 1, { 9, 30 }, { 6, 6 }, { 2, 2 }, { 1, 1 }, { 0, 5 }, { 3, 1 }, 0 },
    { 1, 16, 20, 1, { 26, 25 }, { 7, 7 }, { 2, 2 }, { 1, 1 }, { 3, 3 }, { 3, 3 }, 0 },
    /* depthwise */
    { 1, 8, 8, 8, { 9, 21 }, { 3, 3 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, 0 },
    { 2, 13, 13, 13, { 10, 11 }, { 3, 3 }, { 2, 2 }, { 1, 1 }, { 1, 1 }, { 0, 1 }, 0 },
    { 1, 24, 24, 24, { 14, 14 }, { 5, 5 }, { 1, 1 }, { 2, 1 }, { 4, 2 }, { 4, 2 }, 0 },
    { 1, 4, 4, 4, { 2, 2 }, { 5, 5 }, { 1, 1 }, { 1, 1 }, { 3, 3 }, { 3, 3 }, 0 },
    { 2, 13, 13, 13, { 9, 60 }, { 3, 3 }, { 2, 2 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, 0 },
    { 1, 16, 16, 16, { 4, 50 }, { 5, 5 }, { 1, 1 }, { 2, 1 }, { 4, 3 }, { 4, 0 }, 0 },
    { 1, 8, 8, 8, { 3, 3 }, { 2, 2 }, { 3, 3 }, { 1, 1 }, { 2, 2 }, { 3, 3 }, 0 },
    { 2, 40, 40, 40, { 15, 16 }, { 5, 5 }, { 2, 2 }, { 1, 1 }, { 2, 2 }, { 2, 2 }, 0 },
    { 1, 40, 40, 40, { 14, 14 }, { 5, 5 }, { 1, 1 }, { 1, 1 }, { 2, 2 }, { 2, 2 }, 0 },
    { 1, 9, 9, 9, { 6, 71 }, { 5, 5 }, { 2, 2 }, { 1, 1 }, { 2, 2 }, { 2, 2 }, 0 },
    { 1, 9, 9, 9, { 2, 40 }, { 3, 3 }, { 1, 1 }, { 1, 1 }, { 4, 4 }, { 4, 4 }, 0 },
    { 1, 9, 9, 9, { 40, 41 }, { 7, 9 }, { 1, 1 }, { 1, 1 }, { 3, 4 }, { 3, 4 }, 0 },
};

static int64_t positions(const conv_case *k, int i)
{
    return cq_window_positions(k->size[i], k->kernel[i], k->stride[i], k->before[i], k->after[i],
                               k->dilation[i], false);
}

static cq_tensor *random_tensor(size_t rank, const int64_t *sizes, uint32_t seed)
{
    cq_tensor *t;
    float     *data;

    CHECK_OK(cq_tensor_new_uninit(&t, CQ_DTYPE_F32, rank, sizes));
    data = cq_tensor_data(t);
    for (int64_t i = 0; i < cq_tensor_numel(t); i++) {
        seed    = seed * 1664525u + 1013904223u;
        data[i] = (float)(seed >> 8) / (float)(1 << 23) - 1;
    }
    return t;
}

/* Elements after the last channel of a blocked feature map are finite. */
static void check_padding(const cq_tensor *t)
{
    const float *x = cq_tensor_data(t);

    for (int64_t i = 0; i < cq_tensor_numel(t); i++)
        if (!isfinite(x[i]))
            fail_msg("element %lld is %g", (long long)i, (double)x[i]);
}

/* Computes the convolution, + add, with limits, as a plain feature map. */
static cq_tensor *run_blocked(const conv_case *k, const cq_tensor *x, const cq_tensor *w,
                              const cq_tensor *bias, const cq_tensor *add, int end,
                              int64_t expected)
{
    int64_t       oh = positions(k, 0), ow = positions(k, 1), floats, b = cq_block_channels();
    cq_bconv_spec spec = { .w           = w,
                           .bias        = cq_tensor_data(bias),
                           .groups      = k->groups,
                           .stride      = { k->stride[0], k->stride[1] },
                           .dilation    = { k->dilation[0], k->dilation[1] },
                           .plain_input = k->plain,
                           .clamps      = true,
                           .lo          = -0.5f,
                           .hi          = 2,
                           .out_size    = { expected, expected } };
    cq_tensor    *bx, *badd, *bout, *out, *room;
    cq_bconv     *c;
    cq_bconv_call call = { .batch     = k->batch,
                           .in        = { k->size[0], k->size[1] },
                           .out_size  = { oh, ow },
                           .padding   = { k->before[0], k->before[1] },
                           .unlimited = end == SUM,
                           .lanes     = cq_threads() };

    CHECK(cq_bconv_supports(&spec));
    CHECK_OK(cq_bconv_new(&c, &spec));
    CHECK_INT(k->in, cq_bconv_channels(c, false));
    CHECK_INT(k->out, cq_bconv_channels(c, true));
    CHECK_OK(cq_tensor_new_uninit(&bx, CQ_DTYPE_F32,
                                  SIZES(k->batch, (k->in + b - 1) / b, k->size[0], k->size[1], b)));
    CHECK_OK(cq_blocked_pack(bx, x));
    CHECK_OK(cq_tensor_new_uninit(&bout, CQ_DTYPE_F32,
                                  SIZES(k->batch, (k->out + b - 1) / b, oh, ow, b)));
    CHECK_OK(cq_tensor_new_uninit(&badd, CQ_DTYPE_F32,
                                  SIZES(k->batch, (k->out + b - 1) / b, oh, ow, b)));
    CHECK_OK(cq_blocked_pack(badd, add));
    call.x   = cq_tensor_data(k->plain ? x : bx);
    call.add = end == ADDED_LIMITED ? cq_tensor_data(badd) : NULL;
    call.out = cq_tensor_data(bout);
    memset(call.out, 0xff, bout->storage->size); /* NaN */
    CHECK_OK(cq_bconv_scratch(&floats, c, &call));
    CHECK_OK(cq_tensor_new_uninit(&room, CQ_DTYPE_F32, SIZES(floats)));
    call.scratch = cq_tensor_data(room);
    CHECK_OK(cq_bconv_run(c, &call));
    CHECK_OK(cq_tensor_new_uninit(&out, CQ_DTYPE_F32, SIZES(k->batch, k->out, oh, ow)));
    CHECK_OK(cq_blocked_unpack(out, bout));
    check_padding(bout);
    if (call.add && cq_bconv_adds_in_place(c)) {
        call.out = cq_tensor_data(badd);
        CHECK_OK(cq_bconv_run(c, &call));
        if (memcmp(cq_tensor_data(badd), cq_tensor_data(bout), bout->storage->size))
            fail_msg("case %d: the in-place result differs", (int)(k - cases));
    }
    cq_bconv_free(c);
    release_all(bx, badd, bout, room, NULL);
    return out;
}

static void check_case(const conv_case *k, int end, int64_t expected)
{
    int64_t    oh = positions(k, 0), ow = positions(k, 1);
    cq_tensor *x = random_tensor(SIZES(k->batch, k->in, k->size[0], k->size[1]), 1);
    cq_tensor *w = random_tensor(SIZES(k->out, k->in / k->groups, k->kernel[0], k->kernel[1]), 2);
    cq_tensor *bias = random_tensor(SIZES(k->out), 3);
    cq_tensor *add  = random_tensor(SIZES(k->batch, k->out, oh, ow), 4);
    cq_tensor *want, *got, *again;
    cq_window  window = { .stride   = { k->stride[0], k->stride[1] },
                          .padding  = { k->before[0], k->before[1] },
                          .dilation = { k->dilation[0], k->dilation[1] } };
    /* Winograd convolution sums larger numbers, so its error is a few times that of the plain
     * sum. */
    float  limit = 5e-6f * sqrtf((float)(k->in / k->groups * k->kernel[0] * k->kernel[1]));
    float *a, *b, *c;

    CHECK_OK(cq_tensor_new_uninit(&want, CQ_DTYPE_F32, SIZES(k->batch, k->out, oh, ow)));
    CHECK_OK(cq_kernel_conv(want, x, w, bias, &window, k->groups));
    got = run_blocked(k, x, w, bias, add, end, expected);
    cq_set_threads(3);
    again = run_blocked(k, x, w, bias, add, end, expected);
    cq_set_threads(1);
    a = cq_tensor_data(want);
    b = cq_tensor_data(got);
    c = cq_tensor_data(again);
    for (int64_t i = 0; i < cq_tensor_numel(want); i++) {
        float sum = a[i] + (end == ADDED_LIMITED ? ((float *)cq_tensor_data(add))[i] : 0);

        if (end != SUM)
            sum = sum < -0.5f ? -0.5f : sum > 2 ? 2 : sum;
        if (!(fabsf(sum - b[i]) <= limit))
            fail_msg("case %d, element %lld: %g, expected %g", (int)(k - cases), (long long)i,
                     (double)b[i], (double)sum);
        if (b[i] != c[i])
            fail_msg("case %d, element %lld: the result depends on the number of threads",
                     (int)(k - cases), (long long)i);
    }
    release_all(x, w, bias, add, want, got, again, NULL);
}

/* Plain inputs must have less than a block of channels. */
static bool fits(const conv_case *k)
{
    return !k->plain || k->in < cq_block_channels();
}

TEST(bconv, every_algorithm_equals_the_plain_convolution)
{
    const int64_t expected[] = { 0, 8, 9 }; /* other tile sizes */

    cq_set_threads(1);
    EACH_ISA
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (fits(&cases[i]))
            for (size_t k = 0; k < sizeof expected / sizeof *expected; k++)
                for (int end = SUM; end <= ADDED_LIMITED; end++)
                    check_case(&cases[i], end, expected[k]);
    cq_set_threads(0);
}

TEST(bconv, unsupported_convolutions_are_reported)
{
    cq_tensor    *w    = random_tensor(SIZES(6, 3, 3, 3), 1);
    cq_bconv_spec spec = { .w = w, .groups = 2, .stride = { 1, 1 }, .dilation = { 1, 1 } };

    CHECK(!cq_bconv_supports(&spec)); /* groups of three channels */
    spec.groups = 4;
    CHECK(!cq_bconv_supports(&spec));
    spec.groups = 1;
    CHECK(cq_bconv_supports(&spec));
    release_all(w, NULL);
}

RUN_TESTS(TEST_OF(bconv, every_algorithm_equals_the_plain_convolution),
          TEST_OF(bconv, unsupported_convolutions_are_reported))
