/* Rows of scores of attention. */
#include "kernel/isa.h"
#include "kernel/wide/power.h"

#include <math.h>
#include <string.h>

enum { PANEL = 2 * LANES };

/* Two vectors as one sequence a0 b0 a1 b1 …: its first half and its second. */
#if CQ_LANES == 16
#define FIRST  0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define SECOND 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#elif CQ_LANES == 8
#define FIRST  0, 8, 1, 9, 2, 10, 3, 11
#define SECOND 4, 12, 5, 13, 6, 14, 7, 15
#else
#define FIRST  0, 4, 1, 5
#define SECOND 2, 6, 3, 7
#endif

/* Transposes a square of x by repeatedly interleaving rows. */
INLINE void turn(float *out, const float *x, int64_t col)
{
    V a[LANES], b[LANES];

    for (int i = 0; i < LANES; i++)
        a[i] = LOAD(x + i * col);
    for (int n = 1; n < LANES; n *= 2) {
        for (int i = 0; i < LANES / 2; i++) {
            b[2 * i]     = (V)__builtin_shufflevector(a[i], a[i + LANES / 2], FIRST);
            b[2 * i + 1] = (V)__builtin_shufflevector(a[i], a[i + LANES / 2], SECOND);
        }
        memcpy(a, b, sizeof a);
    }
    for (int i = 0; i < LANES; i++)
        STORE(out + i * PANEL, a[i]);
}

static void pack(float *out, const float *x, int64_t row, int64_t col, int64_t rows, int64_t cols)
{
    int64_t i = 0;

    if (col == 1 && cols == PANEL) {
        for (; i < rows; i++) {
            STORE(out + i * PANEL, LOAD(x + i * row));
            STORE(out + i * PANEL + LANES, LOAD(x + i * row + LANES));
        }
        return;
    }
    if (row == 1 && cols == PANEL)
        for (; i + LANES <= rows; i += LANES) {
            turn(out + i * PANEL, x + i, col);
            turn(out + i * PANEL + LANES, x + i + LANES * col, col);
        }
    for (; i < rows; i++)
        for (int64_t j = 0; j < PANEL; j++)
            out[i * PANEL + j] = j < cols ? x[i * row + j * col] : 0;
}

/* tanh x = (e^2x - 1) / (e^2x + 1). Its absolute error is that of 1, which is also the precision of
 * scores near the cap. */
static void cap(float *s, int64_t n, float most)
{
    const V whole = SPREAD(most), twice = SPREAD(2) / whole;

    for (int64_t i = 0; i < n; i += LANES) {
        const V x = AT_MOST(SPREAD(40), AT_LEAST(SPREAD(-40), LOAD(s + i) * twice));
        const V e = power_of(x) + (x - x);

        STORE(s + i, whole * (e - SPREAD(1)) / (e + SPREAD(1)));
    }
}

static void add(float *s, int64_t n, const float *bias, int64_t step)
{
    if (step == 1)
        for (int64_t i = 0; i < n; i++)
            s[i] += bias[i];
    else
        for (int64_t i = 0; i < n; i++)
            s[i] += bias[i * step];
}

static void hide(float *s, int64_t n, const uint8_t *hides, int64_t step, bool shown, float hidden)
{
    if (step == 1)
        for (int64_t i = 0; i < n; i++)
            s[i] = (hides[i] != 0) == shown ? s[i] : hidden;
    else
        for (int64_t i = 0; i < n; i++)
            s[i] = (hides[i * step] != 0) == shown ? s[i] : hidden;
}

/* NaN is ignored here; its exponential makes the sum NaN. */
INLINE float largest(const float *s, int64_t n)
{
    V     a = SPREAD(-INFINITY), b = a;
    float top;

    for (int64_t i = 0; i < n; i += PANEL) {
        a = AT_LEAST(LOAD(s + i), a);
        b = AT_LEAST(LOAD(s + i + LANES), b);
    }
    a   = AT_LEAST(a, b);
    top = a[0];
    for (int i = 1; i < LANES; i++)
        top = a[i] > top ? a[i] : top;
    return top;
}

static void soften(float *s, int64_t n, cq_attention_row *row)
{
    float  top, shift;
    V      sum = SPREAD(0), more = sum;
    double all = 0;

    for (int64_t i = n; i % PANEL; i++)
        s[i] = -INFINITY;
    top   = largest(s, n);
    top   = top > row->top ? top : row->top;
    shift = top > -INFINITY ? top : 0; /* no key is visible yet: all powers are 0 */
    for (int64_t i = 0; i < n; i += PANEL) {
        const V x = fading(LOAD(s + i) - SPREAD(shift));
        const V y = fading(LOAD(s + i + LANES) - SPREAD(shift));

        sum  = sum + x;
        more = more + y;
        STORE(s + i, x);
        STORE(s + i + LANES, y);
    }
    sum = sum + more;
    for (int i = 0; i < LANES; i++)
        all += (double)sum[i];
    row->fade = row->top > -INFINITY ? fading(SPREAD(row->top - shift))[0] : 0;
    row->sum  = row->sum * (double)row->fade + all;
    row->top  = top;
}

static void times(float *x, int64_t n, float factor)
{
    for (int64_t i = 0; i < n; i++)
        x[i] *= factor;
}

extern const cq_attention_core CQ_OF_ISA(attention);

const cq_attention_core CQ_OF_ISA(attention) = { pack, cap, add, hide, soften, times };
