#include "kernel/matrix/attention.h"

#include "base/thread.h"
#include "isas.h"
#include "tensors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Deterministic pseudo-random numbers. */
static float number(int64_t i, int seed)
{
    uint64_t x = (uint64_t)(i + 1) * 6364136223846793005u + (uint64_t)seed * 1442695040888963407u;

    x ^= x >> 29;
    x *= 0xbf58476d1ce4e5b9u;
    return (float)(int64_t)(x >> 40) / (1 << 23) - 1;
}

static float *numbers(int64_t n, int seed)
{
    float *x = cq_alloc_array((size_t)n + 1, sizeof *x);

    for (int64_t i = 0; i < n; i++)
        x[i] = 2 * number(i, seed);
    return x;
}

/* A score computed from the formula. */
static double score(const cq_attention *a, int64_t s, int64_t h, int64_t i, int64_t k)
{
    const float   *q = a->q.data, *key = a->k.data, *bias = a->bias.data;
    const uint8_t *hides = a->hides.data;
    int64_t        kv    = a->group ? h / a->group : h;
    int64_t end = a->ends ? a->ends[s] : a->keys, past = a->ends ? end - a->queries : a->past;
    double  sum = 0, add = 0;

    for (int64_t c = 0; c < a->width; c++)
        sum +=
            (double)q[s * a->q.step[0] + h * a->q.step[1] + i * a->q.step[2] + c * a->q.step[3]] *
            (double)key[s * a->k.step[0] + kv * a->k.step[1] + k * a->k.step[2] + c * a->k.step[3]];
    sum *= (double)a->scale;
    if (a->cap > 0)
        sum = (double)a->cap * tanh(sum / (double)a->cap);
    if (bias)
        add = (double)bias[s * a->bias.step[0] + h * a->bias.step[1] + i * a->bias.step[2] +
                           k * a->bias.step[3]];
    sum += a->bias_first ? add : 0;
    if (hides && (hides[s * a->hides.step[0] + h * a->hides.step[1] + i * a->hides.step[2] +
                        k * a->hides.step[3]] != 0) != a->shown)
        sum = (double)a->hidden;
    sum += a->bias_first ? 0 : add;
    return k >= end || (a->causal && k > i + past) ? -INFINITY : sum;
}

static void expect_row(const cq_attention *a, int64_t s, int64_t h, int64_t i, const float *got)
{
    const float *v   = a->v.data;
    int64_t      kv  = a->group ? h / a->group : h;
    double      *p   = cq_alloc_array((size_t)a->keys + 1, sizeof *p);
    double       top = -INFINITY, sum = 0;
    bool         is_blind = true;

    for (int64_t k = 0; k < a->keys; k++) {
        p[k]     = score(a, s, h, i, k);
        top      = p[k] > top ? p[k] : top;
        is_blind = is_blind && p[k] < 0 && isinf(p[k]);
    }
    for (int64_t k = 0; k < a->keys; k++)
        sum += p[k] = exp(p[k] - top);
    for (int64_t c = 0; c < a->v_width; c++) {
        double want = 0;

        for (int64_t k = 0; k < a->keys; k++)
            want +=
                p[k] / sum *
                (double)
                    v[s * a->v.step[0] + kv * a->v.step[1] + k * a->v.step[2] + c * a->v.step[3]];
        if (is_blind && (a->blind_is_zero || !a->keys))
            want = 0;
        if (isnan(want) ? !isnan(got[c]) : !(fabs((double)got[c] - want) < 1e-5))
            fail_msg("%d queries, %d keys, width %d: row %d, %d, %d column %d is %g, not %g",
                     (int)a->queries, (int)a->keys, (int)a->width, (int)s, (int)h, (int)i, (int)c,
                     (double)got[c], want);
    }
    cq_free(p);
}

/* Checks that results match the formula and are bitwise equal on three threads, and that nothing
 * else is written. */
static void expect_formula(cq_attention *a)
{
    int64_t n   = a->batch * a->heads * a->queries * (a->v_width + 3);
    float  *out = numbers(n, 9), *again = numbers(n, 9), *before = numbers(n, 9);

    a->out_step[1] = a->v_width + 3; /* heads of a query side by side */
    a->out_step[2] = a->heads * a->out_step[1];
    a->out_step[0] = a->queries * a->out_step[2];
    EACH_ISA
    {
        memcpy(out, before, sizeof *out * (size_t)n);
        memcpy(again, before, sizeof *out * (size_t)n);
        a->out = out;
        cq_set_threads(1);
        CHECK_OK(cq_attention_run(a));
        a->out = again;
        cq_set_threads(3);
        CHECK_OK(cq_attention_run(a));
        cq_set_threads(0);
        CHECK(!memcmp(out, again, sizeof *out * (size_t)n));
        for (int64_t row = 0; row < a->batch * a->heads * a->queries; row++) {
            int64_t h = row % a->heads, i = row / a->heads % a->queries;
            int64_t s = row / a->heads / a->queries;

            expect_row(a, s, h, i, out + row * (a->v_width + 3));
            CHECK(!memcmp(out + row * (a->v_width + 3) + a->v_width,
                          before + row * (a->v_width + 3) + a->v_width, 3 * sizeof *out));
        }
    }
    cq_free(out);
    cq_free(again);
    cq_free(before);
}

/* Steps of [batch, heads, rows, cols], or of [batch, rows, heads, cols], or of [batch, heads, cols,
 * rows]. */
static void lay(cq_attention_in *in, const void *data, int64_t heads, int64_t rows, int64_t cols,
                int order)
{
    *in = (cq_attention_in){ .data = data, .step = { heads * rows * cols, rows * cols, cols, 1 } };
    if (order == 1) {
        in->step[1] = cols;
        in->step[2] = heads * cols;
    } else if (order == 2) {
        in->step[2] = 1;
        in->step[3] = rows;
    }
}

/* A call with its inputs; the test changes it and passes it to done. */
static cq_attention sized(int64_t queries, int64_t keys, int64_t width, int64_t v_width, int order)
{
    enum { BATCH = 2, HEADS = 3 };
    cq_attention a = { .batch   = BATCH,
                       .heads   = HEADS,
                       .queries = queries,
                       .keys    = keys,
                       .width   = width,
                       .v_width = v_width,
                       .scale   = 1 / sqrtf((float)(width ? width : 1)),
                       .hidden  = -INFINITY };

    lay(&a.q, numbers(BATCH * HEADS * queries * width, 1), HEADS, queries, width, order);
    lay(&a.k, numbers(BATCH * HEADS * keys * width, 2), HEADS, keys, width, order);
    lay(&a.v, numbers(BATCH * HEADS * keys * v_width, 3), HEADS, keys, v_width, order);
    return a;
}

static void done(cq_attention *a)
{
    cq_free((void *)a->q.data);
    cq_free((void *)a->k.data);
    cq_free((void *)a->v.data);
    cq_free((void *)a->bias.data);
    cq_free((void *)a->hides.data);
}

TEST(attention, all_sizes_follow_the_formula)
{
    static const int64_t sizes[][4] = {
        { 1, 1, 1, 1 },     { 1, 129, 64, 64 }, { 3, 300, 17, 17 }, { 4, 1, 64, 64 },
        { 5, 7, 17, 33 },   { 49, 49, 32, 32 }, { 31, 600, 8, 16 }, { 128, 128, 64, 64 },
        { 70, 257, 80, 5 }, { 2, 9, 1, 20 },    { 6, 16, 0, 4 },    { 3, 0, 4, 4 },
        { 9, 0, 4, 4 },
    };

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int order = 0; order < 3; order++) {
            cq_attention a = sized(sizes[i][0], sizes[i][1], sizes[i][2], sizes[i][3], order);

            expect_formula(&a);
            done(&a);
        }
}

/* A mask of some axes; axes whose bit is set are broadcast. */
static void mask(cq_attention_in *in, const cq_attention *a, void *data, unsigned repeated)
{
    lay(in, data, a->heads, a->queries, a->keys, 0);
    for (int i = 0; i < 4; i++)
        if (repeated >> i & 1)
            in->step[i] = 0;
}

static uint8_t *truths(int64_t n)
{
    uint8_t *x = cq_alloc_array((size_t)n, 1);

    for (int64_t i = 0; i < n; i++)
        x[i] = number(i, 5) > -0.3f ? 1 : 0;
    return x;
}

TEST(attention, masks_broadcast_and_hide)
{
    static const int64_t sizes[][2] = { { 1, 40 }, { 3, 270 }, { 20, 33 }, { 50, 300 } };

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (unsigned repeated = 0; repeated < 16; repeated++) {
            cq_attention a = sized(sizes[i][0], sizes[i][1], 16, 20, (int)repeated % 3);
            int64_t      n = a.batch * a.heads * a.queries * a.keys;

            if (repeated % 3)
                mask(&a.bias, &a, numbers(n, 6), repeated);
            if (repeated % 3 != 1)
                mask(&a.hides, &a, truths(n), repeated & 7u);
            a.shown      = repeated & 1;
            a.bias_first = repeated & 4;
            a.hidden     = repeated & 2 ? -3 : -INFINITY;
            a.cap        = repeated & 8 ? 1.5f : 0;
            expect_formula(&a);
            done(&a);
        }
}

TEST(attention, later_keys_are_hidden)
{
    static const int64_t sizes[][2] = { { 1, 40 }, { 3, 10 }, { 70, 70 }, { 40, 530 } };
    static const int64_t ends[]     = { 25, 9 };

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int way = 0; way < 8; way++) {
            cq_attention a = sized(sizes[i][0], sizes[i][1], 16, 20, 1);

            a.causal        = way & 1;
            a.past          = sizes[i][1] - sizes[i][0];
            a.ends          = way & 2 && sizes[i][0] <= 9 && sizes[i][1] >= 25 ? ends : NULL;
            a.blind_is_zero = way & 4;
            expect_formula(&a);
            a.past = -2; /* the first two queries have no visible key */
            expect_formula(&a);
            done(&a);
        }
}

TEST(attention, infinities_and_nan_follow_the_formula)
{
    static const float odd[] = { -INFINITY, INFINITY, NAN };

    for (int64_t queries = 2; queries < 20; queries += 9)
        for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
            for (int way = 0; way < 2; way++) {
                cq_attention a    = sized(queries, 290, 8, 16, 0);
                float       *bias = numbers(a.batch * a.heads * a.queries * a.keys, 7);

                for (int64_t k = 0; k < a.keys; k++)
                    bias[a.keys + k] = -INFINITY; /* blind */
                for (int64_t k = 0; k < 256; k++)
                    bias[2 * a.keys + k] = -INFINITY; /* sees the last ones only */
                bias[5]            = odd[i];
                bias[a.keys + 270] = odd[i];
                mask(&a.bias, &a, bias, 0);
                a.blind_is_zero = way;
                expect_formula(&a);
                done(&a);
            }
}

TEST(attention, heads_share_keys_that_are_repeated)
{
    cq_attention a = sized(10, 33, 16, 16, 0);

    a.k.step[1] = a.v.step[1] = 0;
    expect_formula(&a);
    a.k.step[1] = a.v.step[1] = 33 * 16;
    a.group                   = 2; /* of three heads, two share the first keys */
    expect_formula(&a);
    done(&a);
}

RUN_TESTS(TEST_OF(attention, all_sizes_follow_the_formula),
          TEST_OF(attention, masks_broadcast_and_hide), TEST_OF(attention, later_keys_are_hidden),
          TEST_OF(attention, infinities_and_nan_follow_the_formula),
          TEST_OF(attention, heads_share_keys_that_are_repeated))
