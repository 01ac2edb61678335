/* Depthwise convolution of plain feature maps: a run of positions of one output row, all taps of a
 * position summed in registers. kernel/conv_type.inc is the portable version. */
#include "kernel/isa.h"
#include "kernel/wide/vector.h"

#include <string.h>

/* Four adjacent vectors of positions. */
static void run_of_four(float *out, const float *x, const float *w, const int64_t *at,
                        int64_t n_taps, V bias)
{
    V s0 = bias, s1 = bias, s2 = bias, s3 = bias;

    for (int64_t t = 0; t < n_taps; t++) {
        const float *p = x + at[t];
        const V      v = SPREAD(w[t]);

        s0 = FMA(v, LOAD(p), s0);
        s1 = FMA(v, LOAD(p + LANES), s1);
        s2 = FMA(v, LOAD(p + 2 * LANES), s2);
        s3 = FMA(v, LOAD(p + 3 * LANES), s3);
    }
    STORE(out, s0);
    STORE(out + LANES, s1);
    STORE(out + 2 * LANES, s2);
    STORE(out + 3 * LANES, s3);
}

/* One vector of positions, 1 or 2 apart. */
static void run_of_one(float *out, const float *x, int64_t step, const float *w, const int64_t *at,
                       int64_t n_taps, V bias)
{
    V s = bias;

    for (int64_t t = 0; t < n_taps; t++) {
        const float *p = x + at[t];
        const V      v = step == 1 ? (V)LOAD(p) : LOAD_EVEN(p);

        s = FMA(SPREAD(w[t]), v, s);
    }
    STORE(out, s);
}

extern conv_taps_fn CQ_OF_ISA(taps);

void CQ_OF_ISA(taps)(void *out, int64_t n, const void *x, int64_t step, const void *w,
                     const int64_t *at, int64_t n_taps, const void *bias)
{
    const float *px = x, *pw = w;
    float       *po = out, b = bias ? *(const float *)bias : 0;
    const V      vb = SPREAD(b);
    int64_t      i  = 0;

    if (step == 1)
        for (; i + 4 * LANES <= n; i += 4 * LANES)
            run_of_four(po + i, px + i, pw, at, n_taps, vb);
    if (step <= 2)
        for (; i + LANES <= n; i += LANES)
            run_of_one(po + i, px + i * step, step, pw, at, n_taps, vb);
    if (step <= 2 && i < n) { /* reads past the row, and keeps what belongs to it */
        float some[LANES];

        run_of_one(some, px + i * step, step, pw, at, n_taps, vb);
        memcpy(po + i, some, (size_t)(n - i) * sizeof(float));
        return;
    }
    for (; i < n; i++) {
        float sum = b;

        for (int64_t t = 0; t < n_taps; t++)
            sum = FMA_F32(pw[t], px[at[t] + i * step], sum);
        po[i] = sum;
    }
}
