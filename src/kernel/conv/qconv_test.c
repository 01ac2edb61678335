/* Quantized kernels against sums in plain integers, with every instruction set. */
#include "kernel/conv/qconv.h"

#include "base/thread.h"
#include "kernel/conv/qimage.h"
#include "isas.h"
#include "tensors.h"

#include <math.h>

typedef struct conv_case {
    int64_t batch, in, out, groups, size[2], kernel[2], stride[2], dilation[2], before[2], after[2];
    int32_t zero;
} conv_case;

static const conv_case cases[] = {
    /* n  in  out  g    size       kernel     stride    dilation   before    after   zero */
    { 1, 8, 16, 1, { 7, 9 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, { 0, 0 }, { 0, 0 }, 0 },
    { 2, 5, 11, 1, { 6, 5 }, { 1, 1 }, { 2, 2 }, { 1, 1 }, { 0, 0 }, { 0, 0 }, 255 },
    { 1, 40, 24, 1, { 20, 13 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, { 1, 2 }, { 0, 1 }, 128 },
    { 2, 3, 70, 1, { 19, 17 }, { 7, 7 }, { 2, 2 }, { 1, 1 }, { 3, 3 }, { 3, 3 }, 3 },
    { 1, 1, 5, 1, { 9, 8 }, { 5, 3 }, { 1, 2 }, { 1, 2 }, { 2, 1 }, { 0, 3 }, 100 },
    { 1, 300, 40, 1, { 9, 11 }, { 3, 3 }, { 2, 2 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, 77 },
    { 3, 16, 33, 1, { 1, 29 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, { 0, 0 }, { 0, 0 }, 9 },
    { 2, 24, 64, 1, { 13, 12 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, { 0, 0 }, { 0, 0 }, 50 },
    { 1, 20, 32, 1, { 6, 9 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, { 0, 0 }, { 0, -2 }, 6 },
    { 1, 18, 48, 1, { 5, 70 }, { 1, 1 }, { 2, 1 }, { 1, 1 }, { 0, 0 }, { 0, 0 }, 7 },
    { 2, 3, 32, 1, { 7, 131 }, { 3, 3 }, { 2, 2 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, 128 },
    { 1, 8, 8, 8, { 9, 21 }, { 3, 3 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, 4 },
    { 2, 13, 13, 13, { 10, 11 }, { 3, 3 }, { 2, 2 }, { 1, 1 }, { 1, 1 }, { 0, 1 }, 200 },
    { 1, 24, 24, 24, { 14, 14 }, { 5, 5 }, { 1, 1 }, { 2, 1 }, { 4, 2 }, { 4, 2 }, 0 },
    { 1, 40, 40, 40, { 70, 31 }, { 3, 3 }, { 1, 1 }, { 1, 1 }, { 0, 0 }, { 0, 0 }, 5 },
};

/* Weights and inputs at which sums of a few products leave 16 bits, or just do not: most weights
 * are up to `usual`, one of `rare` is `extreme`; half of the inputs are `common`, one of 500
 * `largest`. */
typedef struct draw {
    int usual, rare, extreme, common, largest;
} draw;

static const draw draws[] = {
    { 128, 2, -128, 255, 255 }, { 0, 1, -128, 255, 255 },  { 0, 1, 127, 255, 255 },
    { 0, 1, -128, 127, 127 },   { 0, 1, 127, 127, 127 },   { 64, 2, -64, 255, 255 },
    { 0, 1, 64, 255, 255 },     { 0, 1, 32, 255, 255 },    { 0, 1, 33, 255, 255 },
    { 20, 97, -128, 255, 255 }, { 20, 97, 127, 127, 127 }, { 40, 29, 127, 127, 128 },
    { 20, 97, -128, 127, 255 }, { 40, 29, 127, 90, 255 },  { 3, 2, 2, 0, 0 },
};

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static int8_t draw_weight(const draw *d, uint32_t *seed)
{
    if (next_random(seed) % (uint32_t)d->rare == 0)
        return (int8_t)d->extreme;
    return (int8_t)((int)(next_random(seed) % (uint32_t)(2 * d->usual)) - d->usual);
}

static int32_t draw_input(const draw *d, uint32_t *seed)
{
    if (next_random(seed) % 500 == 0)
        return d->largest;
    return next_random(seed) % 2 ? d->common
                                 : (int32_t)(next_random(seed) % (uint32_t)(d->common + 1));
}

static int32_t element(const void *q, int64_t i)
{
    return cq_quant_core_get()->size == 1 ? ((const uint8_t *)q)[i] : ((const int16_t *)q)[i];
}

static void set_element(void *q, int64_t i, int32_t x)
{
    if (cq_quant_core_get()->size == 1)
        ((uint8_t *)q)[i] = (uint8_t)x;
    else
        ((int16_t *)q)[i] = (int16_t)x;
}

static int64_t positions(const conv_case *k, int i)
{
    return cq_window_positions(k->size[i], k->kernel[i], k->stride[i], k->before[i], k->after[i],
                               k->dilation[i], false);
}

/* The sum of result (image, o, y, x), of numbers without their zero point. */
static int32_t sum_of(const conv_case *k, const void *x, const int8_t *w, const int64_t *at)
{
    int64_t channels = cq_qimage_channels(k->in), in = k->in / k->groups;
    int32_t sum = 0;

    for (int64_t i = 0; i < in; i++)
        for (int64_t a = 0; a < k->kernel[0]; a++)
            for (int64_t b = 0; b < k->kernel[1]; b++) {
                int64_t row = at[2] * k->stride[0] - k->before[0] + a * k->dilation[0];
                int64_t col = at[3] * k->stride[1] - k->before[1] + b * k->dilation[1];
                int64_t c   = k->groups > 1 ? at[1] : i;

                if (row < 0 || row >= k->size[0] || col < 0 || col >= k->size[1])
                    continue;
                sum += (element(x, ((at[0] * k->size[0] + row) * k->size[1] + col) * channels + c) -
                        k->zero) *
                       w[((at[1] * in + i) * k->kernel[0] + a) * k->kernel[1] + b];
            }
    return sum;
}

/* Float results are exact, and quantized results are the nearest. */
static void check_results(const conv_case *k, const void *x, const int8_t *w, const float *real,
                          const void *q, float scale)
{
    int64_t out = cq_qimage_channels(k->out), oh = positions(k, 0), ow = positions(k, 1);

    for (int64_t i = 0; i < k->batch * k->out * oh * ow; i++) {
        int64_t at[4]  = { i / (k->out * oh * ow), i / (oh * ow) % k->out, i / ow % oh, i % ow };
        int64_t at_out = ((at[0] * oh + at[2]) * ow + at[3]) * out + at[1];
        int32_t sum    = sum_of(k, x, w, at);
        float   want   = nearbyintf(fminf(fmaxf((float)sum * scale, -7), 248)) + 7;

        if (real[at_out] != (float)sum || (float)element(q, at_out) != want)
            fail_msg("case %d, element %d: %g and %d, expected %d and %g", (int)(k - cases), (int)i,
                     (double)real[at_out], element(q, at_out), sum, (double)want);
    }
}

static void run_into(cq_tensor **out, const cq_qconv *c, cq_qconv_call *call, bool is_float,
                     float scale)
{
    int64_t    n = cq_qconv_padded(c), bytes;
    cq_tensor *start, *scales, *bias, *room;

    CHECK_OK(cq_tensor_new(&start, CQ_DTYPE_I32, SIZES(n), NULL));
    CHECK_OK(cq_tensor_new(&scales, CQ_DTYPE_F32, SIZES(n), NULL));
    CHECK_OK(cq_tensor_new(&bias, CQ_DTYPE_F32, SIZES(n), NULL));
    for (int64_t i = 0; i < n; i++)
        ((float *)cq_tensor_data(scales))[i] = is_float ? 1 : scale;
    cq_qconv_start(cq_tensor_data(start), c, call->zero);
    call->finish = (cq_quant_finish){ cq_tensor_data(start),
                                      cq_tensor_data(scales),
                                      cq_tensor_data(bias),
                                      is_float ? -INFINITY : -7,
                                      is_float ? INFINITY : 248,
                                      7,
                                      is_float };
    CHECK_OK(cq_qconv_scratch(&bytes, c, call));
    CHECK_OK(cq_tensor_new_uninit(&room, CQ_DTYPE_U8, SIZES(bytes)));
    CHECK_OK(cq_tensor_new(
        out, is_float ? CQ_DTYPE_F32 : CQ_DTYPE_I16,
        SIZES(call->batch, call->out_size[0], call->out_size[1], call->out_channels), NULL));
    call->out     = cq_tensor_data(*out);
    call->scratch = cq_tensor_data(room);
    CHECK_OK(cq_qconv_run(c, call));
    release_all(start, scales, bias, room, NULL);
}

static void check_case(const conv_case *k, const draw *d)
{
    int64_t       in   = cq_qimage_channels(k->in), n_w;
    uint32_t      seed = 1;
    cq_tensor    *x, *w, *real, *q;
    cq_qconv     *c;
    cq_qconv_spec spec = { .out      = k->out,
                           .in       = k->in,
                           .groups   = k->groups,
                           .kernel   = { k->kernel[0], k->kernel[1] },
                           .stride   = { k->stride[0], k->stride[1] },
                           .dilation = { k->dilation[0], k->dilation[1] } };
    cq_qconv_call call = { .batch        = k->batch,
                           .in           = { k->size[0], k->size[1] },
                           .out_size     = { positions(k, 0), positions(k, 1) },
                           .padding      = { k->before[0], k->before[1] },
                           .channels     = in,
                           .zero         = k->zero,
                           .out_channels = cq_qimage_channels(k->out),
                           .lanes        = cq_threads() };

    CHECK_OK(cq_tensor_new(&x, cq_quant_core_get()->size == 1 ? CQ_DTYPE_U8 : CQ_DTYPE_I16,
                           SIZES(k->batch, k->size[0], k->size[1], in), NULL));
    for (int64_t i = 0; i < cq_tensor_numel(x); i++)
        set_element(cq_tensor_data(x), i, draw_input(d, &seed));
    CHECK_OK(cq_tensor_new(&w, CQ_DTYPE_I8,
                           SIZES(k->out, k->in / k->groups, k->kernel[0], k->kernel[1]), NULL));
    n_w = cq_tensor_numel(w);
    for (int64_t i = 0; i < n_w; i++)
        ((int8_t *)cq_tensor_data(w))[i] = draw_weight(d, &seed);
    for (int i = 0; i < 4; i++)
        spec.step[i] = w->strides[i];
    spec.w = cq_tensor_data(w);
    CHECK(cq_qconv_supports(&spec));
    CHECK_OK(cq_qconv_new(&c, &spec));
    call.x = cq_tensor_data(x);
    run_into(&q, c, &call, false, 1.0f / 4096);
    if (k->groups == 1)
        run_into(&real, c, &call, true, 1);
    else
        real = NULL;
    if (real)
        check_results(k, call.x, spec.w, cq_tensor_data(real), cq_tensor_data(q), 1.0f / 4096);
    else
        for (int64_t i = 0; i < call.batch * call.out_size[0] * call.out_size[1] * k->out; i++) {
            int64_t plane = call.out_size[0] * call.out_size[1];
            int64_t at[4] = { i / (k->out * plane), i / plane % k->out,
                              i / call.out_size[1] % call.out_size[0], i % call.out_size[1] };
            float   want  = (float)sum_of(k, call.x, spec.w, at) / 4096;

            want = nearbyintf(fminf(fmaxf(want, -7), 248)) + 7;
            CHECK_INT((int)want,
                      element(cq_tensor_data(q),
                              ((at[0] * call.out_size[0] + at[2]) * call.out_size[1] + at[3]) *
                                      call.out_channels +
                                  at[1]));
        }
    cq_qconv_free(c);
    release_all(x, w, q, NULL);
    cq_tensor_release(real);
}

TEST(qconv, sums_are_those_of_integers)
{
    for (int threads = 1; threads < 4; threads += 2) {
        cq_set_threads(threads);
        EACH_ISA
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
            for (size_t j = 0; j < sizeof draws / sizeof *draws; j++)
                check_case(&cases[i], &draws[j]);
    }
    cq_set_threads(0);
}

TEST(qconv, unsupported_conversions_are_reported)
{
    cq_qconv_spec spec = { .out = 4, .in = 4, .groups = 2, .kernel = { 1, 1 } };

    CHECK(!cq_qconv_supports(&spec)); /* groups of two */
    spec.groups = 1;
    CHECK(cq_qconv_supports(&spec));
    spec.kernel[0] = 1 << 20;
    CHECK(!cq_qconv_supports(&spec)); /* a sum may overflow */
    spec.kernel[0] = spec.kernel[1] = INT64_MAX / 2;
    CHECK(!cq_qconv_supports(&spec));
}

/* Planes to pixels and back, of as many pixels as blocks have, and one more or less. */
TEST(qimage, packs_and_unpacks)
{
    const cq_qimage_params grid = { 0.5f, 10, 0 };

    EACH_ISA
    for (int64_t pixels = 1; pixels < 140; pixels += pixels < 3 ? 1 : 31) {
        float   x[2 * 5 * 140], back[2 * 5 * 140];
        int16_t q[2 * 8 * 140];
        int64_t n = 2 * 5 * pixels;

        for (int64_t i = 0; i < n; i++)
            x[i] = (float)(i * 37 % 400 - 30) / 3;
        CHECK_OK(cq_qimage_pack(q, x, 2, 5, pixels, grid));
        CHECK_OK(cq_qimage_unpack(back, q, 2, 5, pixels, grid));
        for (int64_t i = 0; i < n; i++) {
            float want = fminf(fmaxf(nearbyintf(x[i] / 0.5f) + 10, 0), 255);

            CHECK(back[i] == (want - 10) * 0.5f);
            CHECK_INT((int)want,
                      element(q, (i / (5 * pixels) * pixels + i % pixels) * 8 + i / pixels % 5));
        }
    }
}

TEST(qimage, sums_poolings_and_means_are_exact)
{
    EACH_ISA
    {
        const cq_window      window = { { 2, 2 }, { 1, 1 }, { 1, 0 }, { 1, 1 } };
        const cq_qimage_pool pool   = { 1, 4, { 2, 2 }, { 2, 1 }, &window };
        const cq_quant_sum   sum    = { { 1, 0.5f }, 0.25f, 0, 255, 0 };
        int16_t              a[20], b[20], y[20];

        for (int i = 0; i < 20; i++) {
            set_element(a, i, i * 12);
            set_element(b, i, 255 - i * 7);
        }
        CHECK_OK(cq_qimage_add(y, a, b, 20, &sum));
        for (int i = 0; i < 20; i++)
            CHECK_INT(
                (int)fminf(255, nearbyintf((float)(i * 12) + 0.5f * (float)(255 - i * 7) + 0.25f)),
                element(y, i));
        CHECK_OK(cq_qimage_max_pool(y, b, &pool)); /* [2, 2, 4] to [2, 1, 4] */
        for (int i = 0; i < 8; i++)
            CHECK_INT(255 - i % 4 * 7, element(y, i));
        CHECK_OK(cq_qimage_mean(y, a, 1, 4, 4, (cq_qimage_params){ 2, 10, 0 },
                                (cq_qimage_params){ 4, 3, 0 }));
        for (int i = 0; i < 4; i++) /* the mean of 12 i, 12 (i + 4) … is 12 i + 72 */
            CHECK_INT((12 * i + 72 - 10) / 2 + 3, element(y, i));
    }
}

RUN_TESTS(TEST_OF(qconv, sums_are_those_of_integers),
          TEST_OF(qconv, unsupported_conversions_are_reported), TEST_OF(qimage, packs_and_unpacks),
          TEST_OF(qimage, sums_poolings_and_means_are_exact))
