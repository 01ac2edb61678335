/* Products, sums and limits of 8-bit numbers (kernel/quant_core.h). A word is the unit of
 * multiplication: four unsigned bytes by four signed ones, or two 16-bit numbers by two. Q is an
 * element of a feature map, N an element of a word. */
#include "kernel/isa.h"
#include "kernel/wide/line.h"

#include <string.h>

typedef int32_t IU __attribute__((vector_size(4 * CQ_LANES), aligned(4), may_alias));
typedef int32_t word __attribute__((aligned(1), may_alias));

#define LOAD_I(p)   ((I) * (const IU *)(p))
#define SPREAD_I(x) ((x) - (I){ 0 })
#define FLOATS(v)   __builtin_convertvector(v, V)

/* On ARM a vector is multiplied by one lane, and four 16-bit taps are read without widening. */
#if CQ_LANES == 4 && defined(__aarch64__)
INLINE int16x4_t evens(I w)
{
    return vget_low_s16(vuzp1q_s16((int16x8_t)w, (int16x8_t)w));
}
INLINE I dot_of_taps(I s, I x, I w)
{
    return (I)vmlal_s16((int32x4_t)s, vget_low_s16((int16x8_t)x), evens(w));
}
INLINE I four_taps(const void *p, size_t size)
{
    uint64_t bits = 0;

    memcpy(&bits, p, 4 * size);
    return size == 1 ? (I)vmovl_u8(vcreate_u8(bits))
                     : (I)vcombine_u64(vcreate_u64(bits), vcreate_u64(0));
}
#define TAPS                 1
#define DOT_16(s, x, w)      dot_of_taps(s, x, w)
#define LOAD_TAPS(p, q)      four_taps(p, sizeof(Q))
#define LOAD_MORE_TAPS(p, q) four_taps((p) + LANES, sizeof(Q))
#endif

/* DOT adds the products of a word that SPREAD_WORD made; DOT_16 those of two 16-bit numbers, the
 * second of which is 0 in what LOAD_Q reads. LOAD_TAPS reads adjacent channels of one or two
 * pixels, TAPS of them. Vector types can convert, but gcc converts element by element. */
#if CQ_LANES == 16 && defined(__AVX512VNNI__)
typedef uint8_t Q, N;
#define DOT(s, x, w)    ((I)_mm512_dpbusd_epi32((__m512i)(s), (__m512i)(x), (__m512i)(w)))
#define DOT_16(s, x, w) ((I)_mm512_dpwssd_epi32((__m512i)(s), (__m512i)(x), (__m512i)(w)))
#define LOAD_Q(p)       ((I)_mm512_cvtepu8_epi32(_mm_loadu_si128((const void *)(p))))
#define STORE_Q(p, v)   _mm_storeu_si128((void *)(p), _mm512_cvtepi32_epi8((__m512i)(v)))
#elif CQ_LANES == 4 && defined(__ARM_FEATURE_DOTPROD)
typedef uint8_t Q, N;
#define DOT(s, x, w)  dot_of_bytes(s, x, w)
#define LOAD_Q(p)     widened(p)
#define STORE_Q(p, v) put_bytes(p, v)
/* Without i8mm both factors are signed: inputs are multiplied without their OFFSET, which the start
 * of the sums contains (cq_qconv_start). */
#if defined(__ARM_FEATURE_MATMUL_INT8)
INLINE I dot_of_bytes(I s, I x, I w)
{
    return (I)vusdotq_s32((int32x4_t)s, (uint8x16_t)x, (int8x16_t)w);
}
#else
#define OFFSET         128
#define SPREAD_WORD(x) (SPREAD_I(x) ^ (int32_t)0x80808080)
INLINE I dot_of_bytes(I s, I x, I w)
{
    return (I)vdotq_s32((int32x4_t)s, (int8x16_t)x, (int8x16_t)w);
}
#endif
INLINE I widened(const void *p)
{
    uint32_t four;

    memcpy(&four, p, sizeof four);
    return (I)vmovl_u16(vget_low_u16(vmovl_u8(vcreate_u8(four))));
}
INLINE void put_bytes(void *p, I v)
{
    const uint16x4_t pairs = vmovn_u32((uint32x4_t)v);
    const uint32_t   four =
        vget_lane_u32(vreinterpret_u32_u8(vmovn_u16(vcombine_u16(pairs, pairs))), 0);

    memcpy(p, &four, sizeof four);
}
#elif CQ_LANES == 8 && defined(__AVX2__)
#define HAS_GROUPS   1
typedef uint8_t Q;
typedef int16_t N;
#define DOT_16       DOT
#define DOT(s, x, w) ((s) + (I)_mm256_madd_epi16((__m256i)(x), (__m256i)(w)))
#define LOAD_Q(p)    ((I)_mm256_cvtepu8_epi32(_mm_loadl_epi64((const void *)(p))))
#define TAPS         2
#define LOAD_TAPS(p, q)                                                                            \
    ((I)_mm256_cvtepu8_epi16(_mm_unpacklo_epi8(_mm_loadu_si128((const void *)(p)),                 \
                                               _mm_loadu_si128((const void *)(q)))))
#define LOAD_MORE_TAPS(p, q)                                                                       \
    ((I)_mm256_cvtepu8_epi16(_mm_unpackhi_epi8(_mm_loadu_si128((const void *)(p)),                 \
                                               _mm_loadu_si128((const void *)(q)))))
#define STORE_Q(p, v)                                                                              \
    _mm_storel_epi64((void *)(p), bytes_of(_mm256_castsi256_si128((__m256i)(v)),                   \
                                           _mm256_extracti128_si256((__m256i)(v), 1)))
INLINE __m128i  bytes_of(__m128i low, __m128i high)
{
    const __m128i pairs = _mm_packs_epi32(low, high);

    return _mm_packus_epi16(pairs, pairs);
}
#else
typedef int16_t Q, N;
#if CQ_LANES == 16 && defined(__AVX512BW__)
#define DOT(s, x, w)  ((s) + (I)_mm512_madd_epi16((__m512i)(x), (__m512i)(w)))
#define LOAD_Q(p)     ((I)_mm512_cvtepi16_epi32(_mm256_loadu_si256((const void *)(p))))
#define STORE_Q(p, v) _mm256_storeu_si256((void *)(p), _mm512_cvtepi32_epi16((__m512i)(v)))
#else
typedef Q QV __attribute__((vector_size(sizeof(Q) * CQ_LANES), aligned(2), may_alias));
#if CQ_LANES == 4 && defined(__SSE2__)
#define DOT(s, x, w) ((s) + (I)_mm_madd_epi16((__m128i)(x), (__m128i)(w)))
#elif CQ_LANES == 4 && defined(__aarch64__)
#define DOT(s, x, w) dot_of_pair(s, x, w)
INLINE I dot_of_pair(I s, I x, I w)
{
    const int16x4_t pair = vget_low_s16((int16x8_t)x);
    const int16x4_t odds = vget_low_s16(vuzp2q_s16((int16x8_t)w, (int16x8_t)w));

    return (I)vmlal_lane_s16(vmlal_lane_s16((int32x4_t)s, evens(w), pair, 0), odds, pair, 1);
}
#elif CQ_LANES == 4 && defined(__wasm_simd128__)
#define DOT(s, x, w) ((s) + (I)wasm_i32x4_dot_i16x8((v128_t)(x), (v128_t)(w)))
#elif CQ_LANES == 4
#define DOT(s, x, w) ((s) + ((x) << 16 >> 16) * ((w) << 16 >> 16) + ((x) >> 16) * ((w) >> 16))
#else /* portable code for tests: inlining it would take minutes to compile */
#define DOT(s, x, w) dot_lowered(s, x, w)
static __attribute__((noinline)) I dot_lowered(I s, I x, I w)
{
    for (int i = 0; i < LANES; i++)
        s[i] += (int16_t)x[i] * (int16_t)w[i] + (x[i] >> 16) * (w[i] >> 16);
    return s;
}
#endif
#if CQ_LANES == 4 && defined(__aarch64__)
#define LOAD_Q(p)     ((I)vmovl_s16((int16x4_t)(*(const QV *)(p))))
#define STORE_Q(p, v) (*(QV *)(p) = (QV)vmovn_s32((int32x4_t)(v)))
#else
#define LOAD_Q(p)     __builtin_convertvector(*(const QV *)(p), I)
#define STORE_Q(p, v) (*(QV *)(p) = __builtin_convertvector(v, QV))
#endif
#endif
#endif

#ifndef OFFSET
#define OFFSET 0
#endif
#ifndef SPREAD_WORD
#define SPREAD_WORD(x) SPREAD_I(x)
#endif
#ifndef DOT_16
#define DOT_16 DOT
#endif
#ifndef TAPS
#define TAPS                 1
#define LOAD_TAPS(p, q)      LOAD_Q(p)
#define LOAD_MORE_TAPS(p, q) LOAD_Q((p) + LANES)
#endif

/* To the nearest whole number, halves to even: the last bit of a number of this size is 1. |x| is
 * below 2^22. */
INLINE I nearest_and(V x, I zero)
{
    const V magic = SPREAD(12582912.0f);

    return (I)(x + magic) + (zero - (I)magic);
}

INLINE V limited(V x, float lo, float hi)
{
    return AT_MOST(SPREAD(hi), AT_LEAST(SPREAD(lo), x));
}

/* ---- storing results ---- */

/* Stores the channels of a pixel from c on, at most to the last one; sum begins with start. */
INLINE void put(void *out, I sum, const cq_quant_finish *f, int64_t c, int64_t cols)
{
    const V x = limited(FMA(FLOATS(sum), LOAD(f->scale + c), LOAD(f->bias + c)), f->lo, f->hi);

    if (f->is_float) {
        if (cols - c >= LANES)
            STORE((float *)out + c, x);
        else
            for (int64_t i = c; i < cols; i++)
                ((float *)out)[i] = x[i - c];
        return;
    }
    sum = nearest_and(x, SPREAD_I(f->zero));
    if (cols - c >= LANES) {
        STORE_Q((Q *)out + c, sum);
    } else {
        Q rest[LANES];

        STORE_Q(rest, sum);
        memcpy((Q *)out + c, rest, (size_t)(cols - c) * sizeof(Q));
    }
}

INLINE void put_whole(Q *out, I sum, V scale, V bias, const cq_quant_finish *f)
{
    STORE_Q(out,
            nearest_and(limited(FMA(FLOATS(sum), scale, bias), f->lo, f->hi), SPREAD_I(f->zero)));
}

/* Two vectors of channels; values outside of the range of bytes are saturated. */
INLINE void put_both(Q *out, I a, I b, const V *scale, const V *bias, const cq_quant_finish *f)
{
#if CQ_LANES == 8 && defined(__AVX2__)
    const V       hi = SPREAD(f->hi);
    const __m256i x  = _mm256_cvtps_epi32(AT_MOST(hi, FMA(FLOATS(a), scale[0], bias[0])));
    const __m256i y  = _mm256_cvtps_epi32(AT_MOST(hi, FMA(FLOATS(b), scale[1], bias[1])));
    const __m128i lo = _mm_set1_epi8((char)(_mm_cvtss_si32(_mm_set_ss(f->lo)) + f->zero));
    const __m256i w  = _mm256_adds_epi16(_mm256_packs_epi32(x, y),
                                         _mm256_set1_epi16((int16_t)f->zero)); /* halves by turns */
    const __m128i q  = _mm_packus_epi16(_mm256_castsi256_si128(w), _mm256_extracti128_si256(w, 1));

    _mm_storeu_si128((void *)out, _mm_max_epu8(lo, _mm_shuffle_epi32(q, _MM_SHUFFLE(3, 1, 2, 0))));
#else
    put_whole(out, a, scale[0], bias[0], f);
    put_whole(out + LANES, b, scale[1], bias[1], f);
#endif
}

static void finish(void *out, const int32_t *sums, int64_t n, const cq_quant_finish *f)
{
    for (int64_t c = 0; c < n; c += LANES)
        put(out, LOAD_I(sums + c) + LOAD_I(f->start + c), f, c, n);
}

/* ---- products ---- */

#define TILE_START(r)                                                                              \
    const char *q##r = in_line || rows <= (r) ? NULL : px[first + (r)];                            \
    I           s##r = start0, t##r = start1;                                                      \
    (void)q##r, (void)s##r, (void)t##r;
#define TILE_PLACE(r) ((const word *)(in_line ? LINE_PLACE(r) : q##r + offset) + (in_line ? 0 : k))
#define TILE_STEP(r)                                                                               \
    if (rows > (r)) {                                                                              \
        const I x = SPREAD_WORD(*TILE_PLACE(r));                                                   \
                                                                                                   \
        s##r = DOT(s##r, x, w0);                                                                   \
        if (vectors > 1)                                                                           \
            t##r = DOT(t##r, x, w1);                                                               \
    }
#define TILE_KEEP(r)                                                                               \
    if (rows > (r)) {                                                                              \
        sums[r][0] = s##r;                                                                         \
        if (vectors > 1)                                                                           \
            sums[r][1] = t##r;                                                                     \
    }
#define TILE_PUT(r)                                                                                \
    if (rows > (r) && vectors > 1)                                                                 \
        put_both(out + (r)*t->out_row, s##r, t##r, scale, bias, &f);                               \
    else if (rows > (r))                                                                           \
        put_whole(out + (r)*t->out_row, s##r, scale[0], bias[0], &f);

/* A partial vector of bytes, through memory. */
static void put_rows(const cq_quant_tile *t, I (*sums)[2], int64_t first, int rows)
{
    const cq_quant_finish f   = t->finish;
    const int64_t         row = t->out_row * (f.is_float ? 4 : (int64_t)sizeof(Q));
    char                 *to  = (char *)t->out + first * row;

    for (int i = 0; i < rows; i++, to += row) {
        put(to, sums[i][0], &f, 0, t->cols);
        if (t->cols > LANES)
            put(to, sums[i][1], &f, LANES, t->cols);
    }
}

/* For sets that multiply bytes in fours by two instructions: the first adds pairs of products in 16
 * bits. Sums of a word and the next are added before they are widened if that fits; otherwise those
 * of one word are widened; if these do not fit either, the word is multiplied in 16 bits. */
#if HAS_GROUPS
typedef int16_t S __attribute__((vector_size(4 * CQ_LANES)));

#define GROUP_ROWS        4 /* by two vectors: products take registers too */
#define EACH_GROUP_ROW(X) X(0) X(1) X(2) X(3)
#define TWOS(x, w)        ((S)_mm256_maddubs_epi16((__m256i)(x), (__m256i)(w)))

#define TWO_WORDS(r)                                                                               \
    if (rows > (r)) {                                                                              \
        const I x = SPREAD_I(TILE_PLACE(r)[0]), y = SPREAD_I(TILE_PLACE(r)[1]);                    \
                                                                                                   \
        READ_AGAIN(w);                                                                             \
        s##r = DOT(s##r, TWOS(x, w0) + TWOS(y, LOAD_I(w + words)), ones);                          \
        if (vectors > 1)                                                                           \
            t##r = DOT(t##r, TWOS(x, w1) + TWOS(y, LOAD_I(w + words + second)), ones);             \
    }
#define ONE_WORD(r)                                                                                \
    if (rows > (r)) {                                                                              \
        const I x = SPREAD_I(*TILE_PLACE(r));                                                      \
                                                                                                   \
        s##r = DOT(s##r, TWOS(x, w0), ones);                                                       \
        if (vectors > 1)                                                                           \
            t##r = DOT(t##r, TWOS(x, w1), ones);                                                   \
    }
#define WIDE_WORD(r)                                                                               \
    if (rows > (r)) {                                                                              \
        const S x = (S)SPREAD_I(*TILE_PLACE(r)), odd = (S)_mm256_srli_epi16((__m256i)x, 8);        \
                                                                                                   \
        s##r = DOT(DOT(s##r, x & 0xff, (S)w0 << 8 >> 8), odd, (S)w0 >> 8);                         \
        if (vectors > 1)                                                                           \
            t##r = DOT(DOT(t##r, x & 0xff, (S)w1 << 8 >> 8), odd, (S)w1 >> 8);                     \
    }
#define GROUPS                                                                                     \
    const S ones = (S){ 0 } + 1;                                                                   \
                                                                                                   \
    for (int64_t k = 0, n; k < kc; k += n, limit += n, w += n * words) {                           \
        const I w0 = LOAD_I(w), w1 = LOAD_I(w + second);                                           \
                                                                                                   \
        LINE_AGAIN                                                                                 \
        if (t->most <= limit->of_two) {                                                            \
            EACH_GROUP_ROW(TWO_WORDS)                                                              \
            n = 2;                                                                                 \
        } else {                                                                                   \
            if (t->most <= limit->of_one) {                                                        \
                EACH_GROUP_ROW(ONE_WORD)                                                           \
            } else {                                                                               \
                EACH_GROUP_ROW(WIDE_WORD)                                                          \
            }                                                                                      \
            n = 1;                                                                                 \
        }                                                                                          \
        LINE_GO(4 * n);                                                                            \
    }
#else
#define GROUP_ROWS 0
#define GROUPS
#endif

enum { WORD_ROWS = TILE_ROWS };
#define WORDS                                                                                      \
    STEP_BY_STEP                                                                                   \
    for (int64_t k = 0; k < kc; k++, w += words) {                                                 \
        const I w0 = LOAD_I(w), w1 = LOAD_I(w + second);                                           \
                                                                                                   \
        (void)w1;                                                                                  \
        LINE_AGAIN                                                                                 \
        EACH_ROW(TILE_STEP)                                                                        \
        LINE_GO(4);                                                                                \
    }

INLINE void tile_of(const cq_quant_tile *t, const int rows, const int vectors,
                    const void *const *px, int64_t first, const bool in_line, const bool is_grouped)
{
    const cq_quant_finish  f      = t->finish;
    const int              second = vectors > 1 ? LANES : 0, words = vectors * LANES;
    const I                start0 = LOAD_I(f.start), start1 = LOAD_I(f.start + second);
    const bool             near  = false;
    const int64_t          size  = is_grouped ? 1 : (int64_t)sizeof(N);
    const int64_t          apart = t->line * size, kc = t->kc;
    const int32_t         *w     = t->w;
    const cq_quant_limits *limit = t->limits;
    EACH_ROW(TILE_START)

    (void)limit;
    for (int64_t step = 0; step < t->n_steps; step++) {
        const int64_t offset = t->offsets[step] * size;

        LINE_FROM((const char *)px[0] + first * apart + offset);
        if (is_grouped) {
            GROUPS
        } else {
            WORDS
        }
    }
    if (!f.is_float && t->cols >= second + LANES) {
        const V scale[2] = { LOAD(f.scale), LOAD(f.scale + second) };
        const V bias[2]  = { LOAD(f.bias), LOAD(f.bias + second) };
        Q      *out      = (Q *)t->out + first * t->out_row;

        EACH_ROW(TILE_PUT)
    } else {
        I sums[TILE_ROWS][2];

        EACH_ROW(TILE_KEEP)
        put_rows(t, sums, first, rows);
    }
}

#define TILE_FN(name, in_line, is_grouped)                                                         \
    INLINE void name(const cq_quant_tile *t, const int rows, const int vectors,                    \
                     const void *const *px, int64_t first)                                         \
    {                                                                                              \
        tile_of(t, rows, vectors, px, first, in_line, is_grouped);                                 \
    }
TILE_FN(tile_in_line, true, false)
TILE_FN(tile_anywhere, false, false)

#define TILE     cq_quant_tile
#define PIXEL    void
#define TILES    tiles_in_line
#define ONE_TILE tile_in_line
#include "kernel/wide/tiles.inc"
#define TILES    tiles_anywhere
#define ONE_TILE tile_anywhere
#include "kernel/wide/tiles.inc"

#if HAS_GROUPS
TILE_FN(group_in_line, true, true)
TILE_FN(group_anywhere, false, true)
#undef TILE_ROWS
#undef EACH_ROW
#define TILE_ROWS GROUP_ROWS
#define EACH_ROW  EACH_GROUP_ROW
#define TILES     groups_in_line
#define ONE_TILE  group_in_line
#include "kernel/wide/tiles.inc"
#define TILES    groups_anywhere
#define ONE_TILE group_anywhere
#include "kernel/wide/tiles.inc"
#endif

static void tiles(const cq_quant_tile *t, int64_t rows, int vectors, const void *const *px)
{
#if HAS_GROUPS
    if (t->limits) {
        (t->line ? groups_in_line : groups_anywhere)(t, rows, vectors, px);
        return;
    }
#endif
    (t->line ? tiles_in_line : tiles_anywhere)(t, rows, vectors, px);
}

/* ---- depthwise ---- */

enum { PIXELS = 4 }; /* at a time */
#define EACH_PIXEL(X) X(0) X(1) X(2) X(3)

#define TAPS_OF(r)                                                                                 \
    if (n > (r)) {                                                                                 \
        const Q *a = p + (r)*step, *b = q + (r)*step;                                              \
                                                                                                   \
        (void)b;                                                                                   \
        s##r = DOT_16(s##r, LOAD_TAPS(a, b), w0);                                                  \
        if (vectors > 1)                                                                           \
            t##r = DOT_16(t##r, LOAD_MORE_TAPS(a, b), w1);                                         \
    }
#define PUT_PIXEL(r)                                                                               \
    if (n > (r) && vectors > 1)                                                                    \
        put_both(out + (r)*out_step + c, s##r, t##r, scale, bias, &f);                             \
    else if (n > (r))                                                                              \
        put(out + (r)*out_step, s##r, &f, c, t->channels);

/* Reads x a vector at a time, also past the last channel, which is allocated. */
INLINE void depthwise_pixels(const cq_quant_taps *t, int64_t i, int64_t c, const int n,
                             const int vectors)
{
    const cq_quant_finish f    = t->finish;
    const int64_t         more = vectors > 1 ? LANES : 0, words = t->n_taps / TAPS;
    const int32_t        *w    = t->w + c * words;
    const Q              *x    = (const Q *)t->x + i * t->step + c;
    const int64_t         step = t->step, out_step = t->out_step;
    const V               scale[2] = { LOAD(f.scale + c), LOAD(f.scale + c + more) };
    const V               bias[2]  = { LOAD(f.bias + c), LOAD(f.bias + c + more) };
    I                     s0 = LOAD_I(f.start + c), s1 = s0, s2 = s0, s3 = s0;
    I                     t0 = LOAD_I(f.start + c + more), t1 = t0, t2 = t0, t3 = t0;
    Q                    *out = (Q *)t->out + i * out_step;

    (void)scale, (void)bias, (void)s1, (void)s2, (void)s3, (void)t1, (void)t2, (void)t3;
    for (int64_t tap = 0; tap < t->n_taps; tap += TAPS, w += LANES) {
        const Q *p = x + t->offsets[tap], *q = x + t->offsets[tap + TAPS - 1];
        const I  w0 = LOAD_I(w), w1 = LOAD_I(w + more * words);

        (void)w1;
        EACH_PIXEL(TAPS_OF)
    }
    EACH_PIXEL(PUT_PIXEL)
}

INLINE void depthwise_row(const cq_quant_taps *t, int64_t i, const int n)
{
    int64_t c = 0;

    for (; c + 2 * LANES <= t->channels; c += 2 * LANES)
        depthwise_pixels(t, i, c, n, 2);
    for (; c < t->channels; c += LANES)
        depthwise_pixels(t, i, c, n, 1);
}

/* The last pixels are computed together with some that are already done, instead of one at a
 * time. */
static void depthwise(const cq_quant_taps *t)
{
    if (t->n < PIXELS)
        for (int64_t i = 0; i < t->n; i++)
            depthwise_row(t, i, 1);
    else
        for (int64_t i = 0; i < t->n; i += PIXELS)
            depthwise_row(t, i + PIXELS <= t->n ? i : t->n - PIXELS, PIXELS);
}

/* ---- element-wise ---- */

INLINE void to_grid_at(Q *out, const float *x, float scale, int32_t zero, float inverse)
{
    const V by = inverse > 0 ? LOAD(x) * SPREAD(inverse) : LOAD(x) / SPREAD(scale);

    /* NaN becomes the zero point */
    STORE_Q(out, nearest_and(limited((V)((I)by & (by == by)), (float)-zero, (float)(255 - zero)),
                             SPREAD_I(zero)));
}

static void to_grid(void *out, const float *x, int64_t n, float scale, int32_t zero, float inverse)
{
    Q      *to = out;
    int64_t i  = 0;

    for (; i + LANES <= n; i += LANES)
        to_grid_at(to + i, x + i, scale, zero, inverse);
    if (i < n) {
        float from[LANES] = { 0 };
        Q     rest[LANES];

        memcpy(from, x + i, (size_t)(n - i) * sizeof *x);
        to_grid_at(rest, from, scale, zero, inverse);
        memcpy(to + i, rest, (size_t)(n - i) * sizeof(Q));
    }
}

static void from_grid(float *out, const void *x, int64_t n, float scale, int32_t zero)
{
    const Q *from = x;

    for (int64_t i = 0; i < n; i++)
        out[i] = (float)((int32_t)from[i] - zero) * scale;
}

INLINE void add_at(Q *out, const Q *a, const Q *b, const cq_quant_sum *s)
{
    V x = FMA(FLOATS(LOAD_Q(a)), SPREAD(s->scale[0]), SPREAD(s->shift));

    x = limited(FMA(FLOATS(LOAD_Q(b)), SPREAD(s->scale[1]), x), s->lo, s->hi);
    STORE_Q(out, nearest_and(x, SPREAD_I(s->zero)));
}

static void add(void *out, const void *a, const void *b, int64_t n, const cq_quant_sum *s)
{
    const cq_quant_sum sum = *s;
    int64_t            i   = 0;

    for (; i + LANES <= n; i += LANES)
        add_at((Q *)out + i, (const Q *)a + i, (const Q *)b + i, &sum);
    if (i < n) {
        Q rest[2][LANES] = { { 0 } };

        memcpy(rest[0], (const Q *)a + i, (size_t)(n - i) * sizeof(Q));
        memcpy(rest[1], (const Q *)b + i, (size_t)(n - i) * sizeof(Q));
        add_at(rest[0], rest[0], rest[1], &sum);
        memcpy((Q *)out + i, rest[0], (size_t)(n - i) * sizeof(Q));
    }
}

static void max(void *io, const void *x, int64_t n)
{
    const Q *from = x;
    Q       *to   = io;

    for (int64_t i = 0; i < n; i++)
        to[i] = from[i] > to[i] ? from[i] : to[i];
}

static int32_t largest(const void *x, int64_t n)
{
    const Q *from = x;
    Q        most = 0;

    for (int64_t i = 0; i < n; i++)
        most = from[i] > most ? from[i] : most;
    return most;
}

static void sum(int32_t *io, const void *x, int64_t n)
{
    const Q *from = x;

    for (int64_t i = 0; i < n; i++)
        io[i] += from[i];
}

extern const cq_quant_core CQ_OF_ISA(quant);

const cq_quant_core CQ_OF_ISA(quant) = {
    .lanes      = LANES,
    .size       = sizeof(Q),
    .word_size  = sizeof(N),
    .tile_rows  = WORD_ROWS,
    .group_rows = GROUP_ROWS,
    .taps       = TAPS,
    .offset     = OFFSET,
    .tiles      = tiles,
    .depthwise  = depthwise,
    .to_grid    = to_grid,
    .from_grid  = from_grid,
    .add        = add,
    .max        = max,
    .largest    = largest,
    .sum        = sum,
    .finish     = finish,
};
