/* The inner loops of kernels on blocked images and of products by packed matrices. */
#include "kernel/isa.h"
#include "kernel/wide/line.h"
#include "kernel/wide/power.h"

#include <string.h>

/* ---- products ---- */

/* rows and vectors are constants at the call, so that the conditions are folded. Sums begin with
 * the bias, or with those of earlier steps. */
#define TILE_START(r)                                                                              \
    const float *p##r = rows > (r) ? px[first + (r)] : px[first];                                  \
    V            s##r = bias0, t##r = bias1;
#define TILE_ANNOUNCE(r)                                                                           \
    if (rows > (r)) {                                                                              \
        WILL_WRITE(out + (r)*row);                                                                 \
        if (vectors > 1)                                                                           \
            WILL_WRITE(out + (r)*row + apart);                                                     \
    }
#define TILE_CONTINUE(r)                                                                           \
    if (rows > (r)) {                                                                              \
        s##r = s##r + LOAD(out + (r)*row);                                                         \
        if (vectors > 1)                                                                           \
            t##r = t##r + LOAD(out + (r)*row + apart);                                             \
    }
#define TILE_STEP(r)                                                                               \
    if (rows > r) {                                                                                \
        V x  = SPREAD(p##r[at + k]);                                                               \
        s##r = FMA(x, w0, s##r);                                                                   \
        if (vectors > 1)                                                                           \
            t##r = FMA(x, w1, t##r);                                                               \
    }
/* With one vector, even and odd elements are summed separately, because six dependent sums would
 * stall. */
#define TILE_STEP_ODD(r)                                                                           \
    if (rows > r) {                                                                                \
        V x  = SPREAD(p##r[at + k + 1]);                                                           \
        t##r = FMA(x, w1, t##r);                                                                   \
    }
#if HAS_LANES
/* Two steps with numbers in one register; sums are added to in the same order. */
#define TILE_TWO(r)                                                                                \
    if (rows > (r)) {                                                                              \
        const float32x2_t two = load_two(p##r + at + k);                                           \
                                                                                                   \
        s##r = FMA_OF_TWO(two, 0, w0, s##r);                                                       \
        t##r = FMA_OF_TWO(two, 0, w1, t##r);                                                       \
        s##r = FMA_OF_TWO(two, 1, w2, s##r);                                                       \
        t##r = FMA_OF_TWO(two, 1, w3, t##r);                                                       \
    }
#define TILE_TWO_APART(r)                                                                          \
    if (rows > (r)) {                                                                              \
        const float32x2_t two = load_two(p##r + at + k);                                           \
                                                                                                   \
        s##r = FMA_OF_TWO(two, 0, w0, s##r);                                                       \
        t##r = FMA_OF_TWO(two, 1, w1, t##r);                                                       \
    }
#endif
#define TILE_END(r, PUT)                                                                           \
    if (rows > (r)) {                                                                              \
        if (vectors == 1)                                                                          \
            s##r = s##r + t##r;                                                                    \
        PUT(s##r, (r)*row);                                                                        \
        if (vectors > 1)                                                                           \
            PUT(t##r, (r)*row + apart);                                                            \
    }
#define TILE_KEEP(r)   TILE_END(r, KEEP)
#define TILE_LIMIT(r)  TILE_END(r, LIMIT)
#define TILE_ADD(r)    TILE_END(r, ADD)
#define KEEP(sum, at)  STORE(out + (at), sum)
#define LIMIT(sum, at) STORE(out + (at), AT_MOST(hi, AT_LEAST(lo, sum)))
#define ADD(sum, at)                                                                               \
    do {                                                                                           \
        sum = sum + LOAD(add + (at));                                                              \
        if (clamps)                                                                                \
            sum = AT_MOST(hi, AT_LEAST(lo, sum));                                                  \
        STORE(out + (at), sum);                                                                    \
    } while (0)

#define FINISH(sum, f, vector, at)                                                                 \
    do {                                                                                           \
        if ((f)->bias)                                                                             \
            sum = sum + LOAD((f)->bias + LANES * (vector));                                        \
        if ((f)->add)                                                                              \
            sum = sum + LOAD((f)->add + (at));                                                     \
        if ((f)->clamps)                                                                           \
            sum = AT_MOST(SPREAD((f)->hi), AT_LEAST(SPREAD((f)->lo), sum));                        \
    } while (0)

/* The address at which a tile begins to prefetch, and the bytes per step. Memory cannot deliver a
 * panel during one tile, so rows prefetch equal shares. Without a prefetch it is w. */
INLINE const char *next_of(int64_t *bytes, const cq_core_tile *t, int64_t first, const int rows)
{
    const int64_t all = 8 * LANES, of = t->sharers;

    *bytes = of ? (all * rows + of - 1) / of : all;
    return (const char *)(t->w + t->prefetch) +
           (of ? t->n_steps * t->kc * all * (t->before + first) / of : 0);
}

INLINE void tile_of(const cq_core_tile *t, const int rows, const int vectors,
                    const float *const *px, int64_t first, const int64_t kc)
{
    int64_t       bytes;
    const float  *w = t->w, *bias = t->is_last ? t->finish.bias : NULL;
    const char   *next  = next_of(&bytes, t, first, rows);
    const V       bias0 = bias ? (V)LOAD(bias) : SPREAD(0);
    const V       bias1 = bias && vectors > 1 ? (V)LOAD(bias + LANES) : SPREAD(0);
    const int64_t row = t->out_row, apart = t->out_vector;
    float *const  out = t->out + first * row;

    EACH_ROW(TILE_START)
    if (t->continues) {
        EACH_ROW(TILE_CONTINUE)
    } else {
        EACH_ROW(TILE_ANNOUNCE)
    }
    for (int64_t step = 0; step < t->n_steps; step++) {
        int64_t at = t->offsets[step], k = 0;

        if (vectors > 1) {
            if (rows == 1) { /* shortens the dependency chain of two sums */
                V odd_s = SPREAD(0), odd_t = odd_s;

#if HAS_LANES
                for (; k + 3 < kc; k += 4, w += 8 * LANES, next += 4 * bytes) {
                    const V x = LOAD(p0 + at + k);

                    s0    = FMA_OF_FOUR(x, 0, LOAD(w), s0);
                    t0    = FMA_OF_FOUR(x, 0, LOAD(w + LANES), t0);
                    odd_s = FMA_OF_FOUR(x, 1, LOAD(w + 2 * LANES), odd_s);
                    odd_t = FMA_OF_FOUR(x, 1, LOAD(w + 3 * LANES), odd_t);
                    s0    = FMA_OF_FOUR(x, 2, LOAD(w + 4 * LANES), s0);
                    t0    = FMA_OF_FOUR(x, 2, LOAD(w + 5 * LANES), t0);
                    odd_s = FMA_OF_FOUR(x, 3, LOAD(w + 6 * LANES), odd_s);
                    odd_t = FMA_OF_FOUR(x, 3, LOAD(w + 7 * LANES), odd_t);
                    PREFETCH(next);
                    PREFETCH(next + 2 * bytes);
                }
#endif
                for (; k + 1 < kc; k += 2, w += 4 * LANES) {
                    const V x = SPREAD(p0[at + k]), y = SPREAD(p0[at + k + 1]);

                    s0    = FMA(x, LOAD(w), s0);
                    t0    = FMA(x, LOAD(w + LANES), t0);
                    odd_s = FMA(y, LOAD(w + 2 * LANES), odd_s);
                    odd_t = FMA(y, LOAD(w + 3 * LANES), odd_t);
                    PREFETCH(next);
                    PREFETCH(next + bytes);
                    next += 2 * bytes;
                }
                s0 = s0 + odd_s;
                t0 = t0 + odd_t;
            }
#if HAS_LANES
            for (; k + 1 < kc; k += 2, w += 4 * LANES, next += 2 * bytes) {
                const V w0 = LOAD(w), w1 = LOAD(w + LANES);
                const V w2 = LOAD(w + 2 * LANES), w3 = LOAD(w + 3 * LANES);

                PREFETCH(next); /* two steps are at most 64 bytes */
                EACH_ROW(TILE_TWO)
            }
#endif
            STEP_BY_STEP
            for (; k < kc; k++, w += 2 * LANES) {
                V w0 = LOAD(w), w1 = LOAD(w + LANES);

                PREFETCH(next); /* 64 bytes */
                if (LANES > 8)
                    PREFETCH(next + 64);
                next += bytes;
                EACH_ROW(TILE_STEP)
            }
        } else {
            STEP_BY_STEP
            for (; k + 1 < kc; k += 2, w += 2 * LANES) {
                V w0 = LOAD(w), w1 = LOAD(w + LANES);

#if HAS_LANES
                EACH_ROW(TILE_TWO_APART)
#else
                EACH_ROW(TILE_STEP)
                EACH_ROW(TILE_STEP_ODD)
#endif
            }
            for (; k < kc; k++, w += LANES) {
                V w0 = LOAD(w), w1 = w0;

                (void)w1;
                EACH_ROW(TILE_STEP)
            }
        }
    }
    {
        const float *add    = t->is_last && t->finish.add ? t->finish.add + first * row : NULL;
        const bool   clamps = t->is_last && t->finish.clamps;
        const V      lo = SPREAD(t->finish.lo), hi = SPREAD(t->finish.hi);

        if (add) {
            EACH_ROW(TILE_ADD)
        } else if (clamps) {
            EACH_ROW(TILE_LIMIT)
        } else {
            EACH_ROW(TILE_KEEP)
        }
    }
}
#undef KEEP
#undef LIMIT
#undef ADD

/* Most steps are of one block of channels; a constant there unrolls the loop, if it is short. */
INLINE void tile_whole(const cq_core_tile *t, const int rows, const int vectors,
                       const float *const *px, int64_t first)
{
    if (LANES <= 8 && t->kc == LANES)
        tile_of(t, rows, vectors, px, first, LANES);
    else
        tile_of(t, rows, vectors, px, first, t->kc);
}

#define TILE     cq_core_tile
#define PIXEL    float
#define TILES    tiles_whole
#define ONE_TILE tile_whole
#include "kernel/wide/tiles.inc"

#define T         V
#define ANYWHERE  VU
#define WHOLE(v)  (v)
#define FMA_T     FMA
#define LINE_TILE line_of_vectors
#include "kernel/wide/lines.inc"

INLINE void line_near(const cq_core_tile *t, const int rows, const int vectors,
                      const float *const *px, int64_t first)
{
    line_of_vectors(t, rows, vectors, true, px, first);
}

INLINE void line_far(const cq_core_tile *t, const int rows, const int vectors,
                     const float *const *px, int64_t first)
{
    line_of_vectors(t, rows, vectors, false, px, first);
}

#define TILES    lines_near
#define ONE_TILE line_near
#include "kernel/wide/tiles.inc"
#define TILES    lines_far
#define ONE_TILE line_far
#include "kernel/wide/tiles.inc"

#if CQ_LANES > 8
#define T         H
#define ANYWHERE  HU
#define WHOLE(h)  __builtin_shufflevector(h, (H){ 0 }, BOTH_HALVES)
#define FMA_T     FMA_H
#define LINE_TILE line_of_halves
#include "kernel/wide/lines.inc"

INLINE void line_half(const cq_core_tile *t, const int rows, const int vectors,
                      const float *const *px, int64_t first)
{
    if (vectors == 1)
        line_of_halves(t, rows, 1, true, px, first);
}

#define TILES    lines_half
#define ONE_TILE line_half
#include "kernel/wide/tiles.inc"
#else
#define lines_half lines_near /* half a vector takes the same time */
#endif

/* A single pixel has few sums, whose dependency chains are shortest in tile_of. A table, because
 * binaryen would merge all shapes into one function, which engines take seconds to compile. */
static void tiles(const cq_core_tile *t, int64_t rows, int vectors, const float *const *px)
{
    static void (*const shapes[])(const cq_core_tile *, int64_t, int,
                                  const float *const *) = { tiles_whole, lines_far, lines_near,
                                                            lines_half };
    const int shape = !t->line || rows == 1 ? 0 : t->line != LANES ? 1 : t->is_half ? 3 : 2;

    shapes[shape](t, rows, vectors, px);
}

/* ---- depthwise ---- */

/* As FINISH, of up to seven sums, which begin with the bias. */
#define BEGIN(j) V s##j = first;
#define ADD(j)                                                                                     \
    if (n > (j))                                                                                   \
        s##j = s##j + LOAD(finish->add + out_step * (i + (j)));
#define LIMIT(j)                                                                                   \
    if (n > (j))                                                                                   \
        s##j = AT_MOST(hi, AT_LEAST(lo, s##j));
#define KEEP(j)                                                                                    \
    if (n > (j))                                                                                   \
        STORE(out + out_step * (i + (j)), s##j);
#define FINISH_SEVEN                                                                               \
    do {                                                                                           \
        const cq_core_finish *finish = &t->finish;                                                 \
        float *const          out    = t->out;                                                     \
                                                                                                   \
        if (finish->add) {                                                                         \
            EACH_OF_7(ADD)                                                                         \
        }                                                                                          \
        if (finish->clamps) {                                                                      \
            const V lo = SPREAD(finish->lo), hi = SPREAD(finish->hi);                              \
                                                                                                   \
            EACH_OF_7(LIMIT)                                                                       \
        }                                                                                          \
        EACH_OF_7(KEEP)                                                                            \
    } while (0)

/* n pixels from the i-th on, with any window. */
INLINE void window_any(const cq_core_taps *t, int64_t i, const int n)
{
    const int64_t step = t->step, out_step = t->out_step;
    const V       first = t->finish.bias ? SPREAD(0) + LOAD(t->finish.bias) : SPREAD(0);
    EACH_OF_7(BEGIN)

    for (int64_t row = 0; row < t->rows; row++) {
        const float *x = t->x + i * step + row * t->x_row, *w = t->w + row * t->w_row;

        for (int64_t col = 0; col < t->cols; col++, x += t->x_col, w += LANES) {
            V wt = LOAD(w);

#define TAP(j)                                                                                     \
    if (n > (j))                                                                                   \
        s##j = FMA(LOAD(x + (j)*step), wt, s##j);
            EACH_OF_7(TAP)
#undef TAP
        }
    }
    FINISH_SEVEN;
}

/* Seven pixels from the i-th, whose windows overlap: shared inputs are read once, and the weights
 * of a row stay in registers. */
INLINE void window_of(const cq_core_taps *t, int64_t i, const int cols, const int stride)
{
    enum { n = 7, out_step = LANES };
    const float *x = t->x + i * t->step, *w = t->w;
    const V      first = t->finish.bias ? SPREAD(0) + LOAD(t->finish.bias) : SPREAD(0);
    EACH_OF_7(BEGIN)

    for (int64_t row = 0; row < t->rows; row++, x += t->x_row, w += t->w_row) {
        const V w0 = LOAD(w), w1 = LOAD(w + LANES), w2 = LOAD(w + 2 * LANES);
        const V w3 = LOAD(w + (cols > 3 ? 3 : 0) * LANES), w4 = LOAD(w + (cols - 1) * LANES);

#define TAP(j, k, p)                                                                               \
    if ((p) - (j)*stride == (k) && (k) < cols)                                                     \
        s##j = FMA(v, w##k, s##j);
#define TAPS(j, p) TAP(j, 0, p) TAP(j, 1, p) TAP(j, 2, p) TAP(j, 3, p) TAP(j, 4, p)
#define PLACE(p)                                                                                   \
    if ((p) < (n - 1) * stride + cols) {                                                           \
        V v = LOAD(x + (p)*LANES);                                                                 \
                                                                                                   \
        STAYS_IN_REGISTER(v);                                                                      \
        TAPS(0, p) TAPS(1, p) TAPS(2, p) TAPS(3, p) TAPS(4, p) TAPS(5, p) TAPS(6, p)               \
    }
        EACH_OF_8(PLACE)
        PLACE(8) PLACE(9) PLACE(10) PLACE(11) PLACE(12) PLACE(13) PLACE(14) PLACE(15) PLACE(16)
#undef TAP
#undef TAPS
#undef PLACE
    }
    FINISH_SEVEN;
}
#undef BEGIN
#undef ADD
#undef LIMIT
#undef KEEP
#undef FINISH_SEVEN

/* The last seven pixels of a row may overlap those before. Every kind has its own function:
 * together they would need more registers than there are. */
#define ROW_OF(name, ...)                                                                          \
    static __attribute__((noinline)) void name(const cq_core_taps *t)                              \
    {                                                                                              \
        int64_t i = 0;                                                                             \
                                                                                                   \
        for (; i + 7 <= t->n; i += 7)                                                              \
            __VA_ARGS__;                                                                           \
        if (i < t->n) {                                                                            \
            i = t->n - 7;                                                                          \
            __VA_ARGS__;                                                                           \
        }                                                                                          \
    }
ROW_OF(row_any, window_any(t, i, 7))
ROW_OF(row_3_1, window_of(t, i, 3, 1))
ROW_OF(row_3_2, window_of(t, i, 3, 2))
ROW_OF(row_5_1, window_of(t, i, 5, 1))
ROW_OF(row_5_2, window_of(t, i, 5, 2))
#undef ROW_OF

static __attribute__((noinline)) void row_short(const cq_core_taps *t)
{
    switch (t->n) {
    case 1: window_any(t, 0, 1); break;
    case 2: window_any(t, 0, 2); break;
    case 3: window_any(t, 0, 3); break;
    case 4: window_any(t, 0, 4); break;
    case 5: window_any(t, 0, 5); break;
    case 6: window_any(t, 0, 6); break;
    default: break;
    }
}

static void depthwise(const cq_core_taps *t)
{
    static void (*const rows[2][2])(const cq_core_taps *) = { { row_3_1, row_3_2 },
                                                              { row_5_1, row_5_2 } };

    if (t->n < 7)
        row_short(t);
    else if (t->x_col == LANES && t->out_step == LANES && (t->cols == 3 || t->cols == 5) &&
             (t->step == LANES || t->step == 2 * LANES))
        rows[t->cols == 5][t->step == 2 * LANES](t);
    else
        row_any(t);
}

/* The maximum. If an input is NaN, so is the sum, which detects it; the sum of opposite infinities
 * is also NaN. */
static void max_taps(const cq_core_taps *t)
{
    const int64_t rows = t->rows, cols = t->cols, x_row = t->x_row, x_col = t->x_col;

    for (int64_t i = 0; i < t->n; i++) {
        const float *x   = t->x + i * t->step;
        V            top = LOAD(x), sum = SPREAD(0);

        for (int64_t row = 0; row < rows; row++)
            for (int64_t col = 0; col < cols; col++) {
                V v = LOAD(x + row * x_row + col * x_col);

                top = AT_LEAST(v, top);
                sum = sum + v;
            }
        if (HAS_NAN(sum)) {
            top = LOAD(x);
            for (int64_t row = 0; row < rows; row++)
                for (int64_t col = 0; col < cols; col++) {
                    V v = LOAD(x + row * x_row + col * x_col);

                    top = LARGER(top, v);
                }
        }
        STORE(t->out + LANES * i, top);
    }
}

static void affine(float *out, const float *x, const float *scale, const float *shift, int64_t n,
                   const cq_core_finish *how)
{
    const cq_core_finish finish = *how;
    V                    a = LOAD(scale), b = LOAD(shift);

    for (int64_t i = 0; i < n; i++) {
        V y = FMA(LOAD(x + LANES * i), a, b);

        FINISH(y, &finish, 0, LANES * i);
        STORE(out + LANES * i, y);
    }
}

INLINE void sigmoid_at(float *at, const float *from, bool gated)
{
    const V x = LOAD(from);
    const V u = AT_MOST(SPREAD(87), AT_LEAST(SPREAD(-87), SPREAD(0) - x));
    const V y = (gated ? x : SPREAD(1)) / (SPREAD(1) + power_of(u));

    STORE(at, gated ? y : y + (u - u)); /* NaN stays NaN */
}

static void sigmoid(float *x, int64_t n, bool gated)
{
    float   rest[LANES] = { 0 };
    int64_t i           = 0;

    if (gated)
        for (; i + LANES <= n; i += LANES)
            sigmoid_at(x + i, x + i, true);
    else
        for (; i + LANES <= n; i += LANES)
            sigmoid_at(x + i, x + i, false);
    if (i == n)
        return;
    memcpy(rest, x + i, sizeof *x * (size_t)(n - i));
    sigmoid_at(rest, rest, gated);
    memcpy(x + i, rest, sizeof *x * (size_t)(n - i));
}

/* Multiplies by a sixth: a vector division takes as long as the rest of the loop. */
static void hardswish(float *x, int64_t n)
{
    const float sixth = 1 / 6.0f;
    int64_t     i     = 0;

    for (; i + LANES <= n; i += LANES) {
        const V v = LOAD(x + i), up = v + SPREAD(3);

        STORE(x + i, v * AT_MOST(SPREAD(6), AT_LEAST(SPREAD(0), up)) * SPREAD(sixth));
    }
    for (; i < n; i++) {
        const float up = x[i] + 3;

        x[i] = x[i] * (up < 0 ? 0 : up > 6 ? 6 : up) * sixth;
    }
}

static void mean(float *out, const float *x, int64_t n)
{
    V       s0 = SPREAD(0), s1 = s0, s2 = s0, s3 = s0;
    int64_t i = 0;

    for (; i + 4 <= n; i += 4) {
        s0 = s0 + LOAD(x + LANES * i);
        s1 = s1 + LOAD(x + LANES * (i + 1));
        s2 = s2 + LOAD(x + LANES * (i + 2));
        s3 = s3 + LOAD(x + LANES * (i + 3));
    }
    for (; i < n; i++)
        s0 = s0 + LOAD(x + LANES * i);
    s0 = (s0 + s1) + (s2 + s3);
    s0 = s0 / SPREAD((float)n);
    STORE(out, s0);
}

/* ---- layout ---- */

/* Rows become columns: zipping each row with the one half the square further on moves one bit of
 * an element's column into its row. */
INLINE void transpose(V *square)
{
    for (int bit = 1; bit < LANES; bit *= 2) {
        V zipped[LANES];

        for (int i = 0; i < LANES / 2; i++) {
            const V a = square[i], b = square[i + LANES / 2];

            zipped[2 * i]     = (V)__builtin_shufflevector(a, b, ZIP_FIRST);
            zipped[2 * i + 1] = (V)__builtin_shufflevector(a, b, ZIP_LAST);
        }
        memcpy(square, zipped, sizeof zipped);
    }
}

static void pack(float *out, const float *x, int64_t plane, int channels, int64_t n)
{
    int64_t i = 0;

    for (; i + LANES <= n; i += LANES) {
        V square[LANES];

        for (int c = 0; c < LANES; c++)
            square[c] = c < channels ? (V)LOAD(x + c * plane + i) : SPREAD(0);
        transpose(square);
        for (int k = 0; k < LANES; k++)
            STORE(out + LANES * (i + k), square[k]);
    }
    for (; i < n; i++)
        for (int c = 0; c < LANES; c++)
            out[LANES * i + c] = c < channels ? x[c * plane + i] : 0;
}

static void unpack(float *out, int64_t plane, int channels, const float *x, int64_t n)
{
    int64_t i = 0;

    for (; i + LANES <= n; i += LANES) {
        V square[LANES];

        for (int k = 0; k < LANES; k++)
            square[k] = LOAD(x + LANES * (i + k));
        transpose(square);
        for (int c = 0; c < channels; c++)
            STORE(out + c * plane + i, square[c]);
    }
    for (; i < n; i++)
        for (int c = 0; c < channels; c++)
            out[c * plane + i] = x[LANES * i + c];
}

/* Keeps what is in out if this continues a gather. Four source vectors and their lane masks need
 * twelve registers. */
INLINE void gather_from(float *out, const cq_core_gather *sources, const float *const *x,
                        const int n_x, int64_t n, bool continues)
{
    I at[4], takes[4];

    for (int k = 0; k < n_x; k++) {
        memcpy(&at[k], sources[k].at, sizeof at[k]);
        memcpy(&takes[k], sources[k].takes, sizeof takes[k]);
    }
    for (int64_t i = 0; i < LANES * n; i += LANES) {
        I sum = { 0 };

        if (continues)
            sum = (I)LOAD(out + i);
        for (int k = 0; k < n_x; k++)
            sum |= (I)PERMUTE((V)LOAD(x[k] + i), at[k]) & takes[k];
        STORE(out + i, (V)sum);
    }
}

static void gather(float *out, const cq_core_gather *sources, const float *const *x, int64_t n_x,
                   int64_t n)
{
    int64_t k = 0;

    do {
        switch (n_x - k) {
        case 0: gather_from(out, sources + k, x + k, 0, n, k > 0); break;
        case 1: gather_from(out, sources + k, x + k, 1, n, k > 0); break;
        case 2: gather_from(out, sources + k, x + k, 2, n, k > 0); break;
        case 3: gather_from(out, sources + k, x + k, 3, n, k > 0); break;
        default: gather_from(out, sources + k, x + k, 4, n, k > 0); break;
        }
    } while ((k += 4) < n_x);
}

/* ---- Winograd ----
 *
 * A line of `side` numbers goes to as many elements: values of polynomials at `side` - 1 points and
 * at infinity. They are 0 and 1 for three, 0 and ±1 for four, 0, ±3/4 and ±3/2 for six, which are
 * exact in binary and halve the error of the usual 0, ±1, ±2. The matrices: an input goes to the
 * coefficients of the polynomial that is zero at all other points, result j is the sum of a point's
 * powers of j, and the last has what is at infinity. The matrix of weights is made in winograd.c.
 */

#define A1 0.75f
#define B1 1.5f
#define A2 (A1 * A1)
#define B2 (B1 * B1)

/* The elements of a line, whose numbers lie `step` floats apart. */
INLINE void forward(const int side, float *to, int64_t to_step, const float *x, int64_t step)
{
    const V d0 = LOAD(x), d1 = LOAD(x + step), d2 = LOAD(x + 2 * step);

    if (side == 3) {
        STORE(to, d1 - d0);
        STORE(to + to_step, d1);
        STORE(to + 2 * to_step, d2 - d1);
    } else if (side == 4) {
        STORE(to, d2 - d0);
        STORE(to + to_step, d1 + d2);
        STORE(to + 2 * to_step, d2 - d1);
        STORE(to + 3 * to_step, LOAD(x + 3 * step) - d1);
    } else {
        const V d3 = LOAD(x + 3 * step), d4 = LOAD(x + 4 * step), d5 = LOAD(x + 5 * step);
        const V ea = FMA(SPREAD(-B2), d2, d4), oa = FMA(SPREAD(-B2), d1, d3);
        const V eb = FMA(SPREAD(-A2), d2, d4), ob = FMA(SPREAD(-A2), d1, d3);

        STORE(to, FMA(SPREAD(A2 * B2), d0, FMA(SPREAD(-(A2 + B2)), d2, d4)));
        STORE(to + to_step, FMA(SPREAD(A1), oa, ea));
        STORE(to + 2 * to_step, FMA(SPREAD(-A1), oa, ea));
        STORE(to + 3 * to_step, FMA(SPREAD(B1), ob, eb));
        STORE(to + 4 * to_step, FMA(SPREAD(-B1), ob, eb));
        STORE(to + 5 * to_step, FMA(SPREAD(A2 * B2), d1, FMA(SPREAD(-(A2 + B2)), d3, d5)));
    }
}

/* The m results of a line of elements. */
INLINE void back(const int side, const int m, float *to, int64_t to_step, const float *v,
                 int64_t step)
{
    const V m0 = LOAD(v), m1 = LOAD(v + step), m2 = LOAD(v + 2 * step);

    if (side == 3) {
        STORE(to, m0 + m1);
        STORE(to + to_step, m1 + m2);
    } else if (side == 4) {
        const V last = LOAD(v + 3 * step);

        STORE(to, m0 + m1 + m2);
        STORE(to + to_step, m == 2 ? m1 - m2 + last : m1 - m2);
        if (m == 3)
            STORE(to + 2 * to_step, m1 + m2 + last);
    } else {
        const V m3 = LOAD(v + 3 * step), m4 = LOAD(v + 4 * step), last = LOAD(v + 5 * step);
        const V sa = m1 + m2, da = m1 - m2, sb = m3 + m4, db = m3 - m4;

#define RESULT(j, a, sum_a, b, sum_b)                                                              \
    if (m > (j))                                                                                   \
        STORE(to + (j)*to_step, m == (j) + 1 ? FMA(SPREAD(b), sum_b, FMA(SPREAD(a), sum_a, last))  \
                                             : FMA(SPREAD(b), sum_b, SPREAD(a) * sum_a));
        STORE(to, m0 + sa + sb);
        RESULT(1, A1, da, B1, db)
        RESULT(2, A2, sa, B2, sb)
        RESULT(3, A2 * A1, da, B2 * B1, db)
        RESULT(4, A2 * A2, sa, B2 * B2, sb)
#undef RESULT
    }
}

INLINE void transform(const cq_core_winograd *t, const float *x, int64_t row, int64_t col,
                      const int side)
{
    _Alignas(64) float half[6][6][LANES];

    for (int i = 0; i < side; i++)
        forward(side, half[0][i], 6 * LANES, x + i * col, row);
    for (int j = 0; j < side; j++)
        forward(side, t->v + side * j * t->v_step, t->v_step, half[j][0], LANES);
}

/* Prefetches about what the next tile of the same block of channels reads in addition. Blocks are
 * far apart, and there are more rows than the hardware prefetcher tracks. */
INLINE void prefetch_next(const cq_core_winograd *t)
{
    enum { MORE = 4, LINE = 16 };

    for (int y = t->y0; y < t->y1; y++)
        for (int i = 0; i < MORE * LANES; i += LINE)
            PREFETCH(t->x + y * t->x_row + t->side * t->x_col + i);
}

static void winograd(const cq_core_winograd *t)
{
    const int          side = t->side;
    const float       *x    = t->x;
    int64_t            row = t->x_row, col = t->x_col;
    _Alignas(64) float edge[6][6][LANES];

    prefetch_next(t);
    if (t->y0 > 0 || t->x0 > 0 || t->y1 < side || t->x1 < side) { /* zeros around it */
        for (int y = 0; y < side; y++)
            for (int i = 0; i < side; i++) {
                V d = SPREAD(0);

                if (y >= t->y0 && y < t->y1 && i >= t->x0 && i < t->x1)
                    d = LOAD(x + y * row + i * col);
                STORE(edge[y][i], d);
            }
        x   = edge[0][0];
        row = 6 * LANES;
        col = LANES;
    }
    switch (side) {
    case 3: transform(t, x, row, col, 3); break;
    case 4: transform(t, x, row, col, 4); break;
    default: transform(t, x, row, col, 6); break;
    }
}

static void put_done(const cq_core_unwinograd *t, float (*done)[5][LANES])
{
    const cq_core_finish finish = t->finish;
    const int64_t        row    = t->out_row;
    float *const         out    = t->out;
    const int            ny = t->ny, nx = t->nx;

    for (int y = 0; y < ny; y++)
        for (int i = 0; i < nx; i++) {
            V sum = LOAD(done[y][i]);

            FINISH(sum, &finish, 0, y * row + LANES * i);
            STORE(out + y * row + LANES * i, sum);
        }
}

INLINE void results(const cq_core_unwinograd *t, const int side, const int m)
{
    _Alignas(64) float half[5][6][LANES], done[5][5][LANES];

    for (int i = 0; i < side; i++)
        back(side, m, half[0][i], 6 * LANES, t->v + i * t->v_step, side * t->v_step);
    for (int j = 0; j < m; j++)
        back(side, m, done[j][0], LANES, half[j][0], LANES);
    put_done(t, done);
}

static void unwinograd(const cq_core_unwinograd *t)
{
    switch (10 * t->side + t->m) {
    case 32: results(t, 3, 2); break;
    case 42: results(t, 4, 2); break;
    case 43: results(t, 4, 3); break;
    case 62: results(t, 6, 2); break;
    case 63: results(t, 6, 3); break;
    case 64: results(t, 6, 4); break;
    default: results(t, 6, 5); break;
    }
}

/* In doubles: it is done once, and errors of weights affect every result. */
INLINE D line_of(const double *g, const D *w, int64_t step, const int window)
{
    D sum = g[0] * w[0];

    for (int k = 1; k < window; k++)
        sum = FMA_D(g[k] - (D){ 0 }, w[k * step], sum);
    return sum;
}

/* Half a vector of outputs. */
INLINE void weights_of(const cq_core_winograd_weights *t, int at, const int side, const int window)
{
    float *u = t->u + at;
    D      w[CQ_MAX_WINOGRAD * CQ_MAX_WINOGRAD], half[CQ_MAX_WINOGRAD];

    for (int k = 0; k < window * window; k++)
        w[k] = __builtin_convertvector(*(const HU *)(t->w + k * LANES + at), D);
    for (int y = 0; y < side; y++) {
        for (int k = 0; k < window; k++)
            half[k] = line_of(t->g[y], w + k, window, window);
        for (int x = 0; x < side; x++, u += t->u_step)
            *(HU *)u = __builtin_convertvector(line_of(t->g[x], half, 1, window), H);
    }
}

static void winograd_weights(const cq_core_winograd_weights *t)
{
    for (int at = 0; at < LANES; at += LANES / 2)
        switch (10 * t->side + t->window) {
        case 43: weights_of(t, at, 4, 3); break;
        case 63: weights_of(t, at, 6, 3); break;
        default: weights_of(t, at, t->side, t->window); break;
        }
}

extern const cq_core CQ_OF_ISA(core);

const cq_core CQ_OF_ISA(core) = { LANES,    TILE_ROWS, tiles,      depthwise,
                                  max_taps, winograd,  unwinograd, winograd_weights,
                                  affine,   sigmoid,   hardswish,  mean,
                                  pack,     unpack,    gather };
