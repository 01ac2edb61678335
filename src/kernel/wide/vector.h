/* Vectors of CQ_LANES floats for any instruction set. Sources in this folder are written once on
 * them and compiled for each set (CMakeLists.txt), with CQ_ISA, its name, and CQ_LANES. Vectors
 * wider than the set supports are lowered to narrower ones: correct, but slow. This is how the 16
 * lanes are tested without AVX-512.
 *
 * Intrinsics are used where vector types have no equivalent: minimum and maximum in one
 * instruction, and multiply-add with one rounding. */
#ifndef CQ_KERNEL_WIDE_VECTOR_H
#define CQ_KERNEL_WIDE_VECTOR_H

#include <stdbool.h>
#include <stdint.h>
#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#elif defined(__wasm_simd128__)
#include <wasm_simd128.h>
#endif

enum { LANES = CQ_LANES };

/* Rows of a product tile, by two vectors: as many as fit into registers besides two for weights and
 * one for a number. AVX-512 and NEON have 32 registers, others 16; NEON loads numbers into separate
 * registers, for which 14 rows leave too few. WebAssembly engines for x86-64 keep one of 16
 * registers for themselves and need one for each product before it is added. */
#if CQ_LANES == 16
#define TILE_ROWS 14
#elif defined(__aarch64__)
#define TILE_ROWS 12
#elif defined(__wasm_simd128__)
#define TILE_ROWS 4
#else
#define TILE_ROWS 6
#endif

typedef float   V __attribute__((vector_size(4 * CQ_LANES)));
typedef float   VU __attribute__((vector_size(4 * CQ_LANES), aligned(4), may_alias)); /* anywhere */
typedef int32_t I __attribute__((vector_size(4 * CQ_LANES)));
typedef float   H __attribute__((vector_size(2 * CQ_LANES))); /* half of one */
typedef float   HU __attribute__((vector_size(2 * CQ_LANES), aligned(4), may_alias));
typedef double  D __attribute__((vector_size(4 * CQ_LANES))); /* as many numbers as H has */

#define LOAD(p)            (*(const VU *)(p))
#define STORE(p, v)        (*(VU *)(p) = (v))
#define SPREAD(x)          ((x) - (V){ 0 }) /* the same in every lane, -0 too */
#define CHOOSE(m, a, b)    ((V)(((m) & (I)(a)) | (~(m) & (I)(b))))
#define LARGER(a, b)       CHOOSE(((a) > (b)) | ((a) != (a)), a, b) /* NaN wins */
#define SMALLER(a, b)      CHOOSE(((a) < (b)) | ((a) != (a)), a, b)
#define ADD_EXPONENT(p, t) ((V)((I)(p) + ((I)(t) << 23))) /* the low bits of t */
#define PREFETCH(p)        __builtin_prefetch(p, 0, 2)
/* Prefetches a cache line for writing: fetching it from another core takes as long as a tile. */
#if defined(__x86_64__)
#define WILL_WRITE(p) __asm__ volatile("prefetchw %0" : : "m"(*(const char *)(p)))
#else
#define WILL_WRITE(p) __builtin_prefetch(p, 1, 3)
#endif
/* Only an optimizer keeps the variables of many inlined tiles in registers and shares their stack
 * slots: without one, a function that inlines 28 tiles has a frame larger than a thread's stack. */
#if defined(__OPTIMIZE__)
#define INLINE static inline __attribute__((always_inline))
#else
#define INLINE static inline
#endif

/* a * b + c of V, H, D, float and double, rounded once where the set has an instruction for it. A
 * compiler is not left to contract the expression (-ffp-contract=off): whether it does depends on
 * its version and on the code around it, and an element must have the same bits in every copy of a
 * loop. ROUND_TWICE is for sources that give the same bits with every set. */
#if CQ_LANES == 16 && defined(__AVX512F__) && !defined(ROUND_TWICE)
#define FMA(a, b, c)   ((V)_mm512_fmadd_ps(a, b, c))
#define FMA_H(a, b, c) ((H)_mm256_fmadd_ps(a, b, c))
#define FMA_D(a, b, c) ((D)_mm512_fmadd_pd(a, b, c))
#elif CQ_LANES == 8 && defined(__FMA__) && !defined(ROUND_TWICE)
#define FMA(a, b, c)   ((V)_mm256_fmadd_ps(a, b, c))
#define FMA_D(a, b, c) ((D)_mm256_fmadd_pd(a, b, c))
#elif CQ_LANES == 4 && defined(__aarch64__) && !defined(ROUND_TWICE)
#define FMA(a, b, c)   ((V)vfmaq_f32((float32x4_t)(c), (float32x4_t)(a), (float32x4_t)(b)))
#define FMA_D(a, b, c) ((D)vfmaq_f64((float64x2_t)(c), (float64x2_t)(a), (float64x2_t)(b)))
#else
#define FMA(a, b, c)     ((a) * (b) + (c))
#define FMA_H(a, b, c)   FMA(a, b, c)
#define FMA_D(a, b, c)   FMA(a, b, c)
#define FMA_F32(a, b, c) FMA(a, b, c)
#define FMA_F64(a, b, c) FMA(a, b, c)
#endif
#ifndef FMA_F32
#define FMA_F32(a, b, c) __builtin_fmaf(a, b, c)
#define FMA_F64(a, b, c) __builtin_fma(a, b, c)
#if !defined(__OPTIMIZE__) /* the variables of inlined intrinsics would all have slots in a frame  \
                            */
static inline V fused_v(V a, V b, V c)
{
    return FMA(a, b, c);
}
static inline D fused_d(D a, D b, D c)
{
    return FMA_D(a, b, c);
}
#undef FMA
#undef FMA_D
#define FMA(a, b, c)   fused_v(a, b, c)
#define FMA_D(a, b, c) fused_d(a, b, c)
#if CQ_LANES == 16
static inline H fused_h(H a, H b, H c)
{
    return FMA_H(a, b, c);
}
#undef FMA_H
#define FMA_H(a, b, c) fused_h(a, b, c)
#endif
#endif
#endif

/* Keeps a value that is used often in a register; otherwise compilers reload it for each use. With
 * 16 registers none is available for this. */
#if CQ_LANES == 16 && defined(__AVX512F__)
#define STAYS_IN_REGISTER(v) __asm__("" : "+v"(v))
#else
#define STAYS_IN_REGISTER(v) (void)(v)
#endif

/* Before a loop over the steps of a tile: WebAssembly engines read all numbers of a basic block
 * first, so the block of one step must not be joined with that of the next. */
#if defined(__wasm_simd128__)
#define STEP_BY_STEP _Pragma("clang loop unroll(disable)")
#else
#define STEP_BY_STEP
#endif

/* On ARM a multiply-add takes one lane of a register. Numbers are loaded in pairs or fours, and not
 * spread: spreading loads take slots of the unit that multiplies. */
#if CQ_LANES == 4 && defined(__aarch64__) && defined(__OPTIMIZE__)
#define HAS_LANES                1
#define FMA_OF_TWO(two, i, w, s) ((V)vfmaq_lane_f32((float32x4_t)(s), (float32x4_t)(w), two, i))
#define FMA_OF_FOUR(four, i, w, s)                                                                 \
    ((V)vfmaq_laneq_f32((float32x4_t)(s), (float32x4_t)(w), (float32x4_t)(four), i))
#define FMA_OF_TWO_D(two, i, w, s)                                                                 \
    ((D)vfmaq_laneq_f64((float64x2_t)(s), (float64x2_t)(w), (float64x2_t)(two), i))

/* gcc would load each lane when it is used. */
INLINE float32x2_t load_two(const float *p)
{
    float32x2_t two = vld1_f32(p);

    __asm__("" : "+w"(two));
    return two;
}
#else
#define HAS_LANES 0
#endif

/* Makes the compiler read *p where it is used instead of keeping it, and compute addresses from
 * p. */
#define READ_AGAIN(p) __asm__("" : "+r"(p))

/* A multiply-add takes a number from memory and spreads it: reading it twice costs nothing. */
#if CQ_LANES == 16 && defined(__AVX512F__)
#define NUMBERS_FROM_MEMORY 1
#else
#define NUMBERS_FROM_MEMORY 0
#endif

/* These return x if it is NaN. */
#if CQ_LANES == 16 && defined(__AVX512F__)
#define AT_LEAST(low, x) ((V)_mm512_max_ps(low, x))
#define AT_MOST(high, x) ((V)_mm512_min_ps(high, x))
#define HAS_NAN(x)       (_mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q) != 0)
#elif CQ_LANES == 8 && defined(__AVX2__)
#define AT_LEAST(low, x) ((V)_mm256_max_ps(low, x))
#define AT_MOST(high, x) ((V)_mm256_min_ps(high, x))
#define HAS_NAN(x)       (_mm256_movemask_ps(_mm256_cmp_ps(x, x, _CMP_UNORD_Q)) != 0)
#elif CQ_LANES == 4 && defined(__SSE2__)
#define AT_LEAST(low, x) ((V)_mm_max_ps(low, x))
#define AT_MOST(high, x) ((V)_mm_min_ps(high, x))
#define HAS_NAN(x)       (_mm_movemask_ps(_mm_cmpunord_ps(x, x)) != 0)
#elif CQ_LANES == 4 && defined(__wasm_simd128__)
#define AT_LEAST(low, x) ((V)wasm_f32x4_pmax((v128_t)(x), (v128_t)(low)))
#define AT_MOST(high, x) ((V)wasm_f32x4_pmin((v128_t)(x), (v128_t)(high)))
#define HAS_NAN(x)       wasm_v128_any_true((v128_t)((x) != (x)))
#else
#define AT_LEAST(low, x) CHOOSE((low) > (x), low, x)
#define AT_MOST(high, x) CHOOSE((high) < (x), high, x)
#if CQ_LANES == 4 && defined(__aarch64__)
#define HAS_NAN(x) (vmaxvq_u32((uint32x4_t)((x) != (x))) != 0)
#else
#define HAS_NAN(x) any_lane((x) != (x))

static inline bool any_lane(I mask)
{
    int32_t any = 0;

    for (int i = 0; i < LANES; i++)
        any |= mask[i];
    return any != 0;
}
#endif
#endif

/* Lane i is lane at[i] of v. */
#if CQ_LANES == 16 && defined(__AVX512F__)
#define PERMUTE(v, at) ((V)_mm512_permutexvar_ps((__m512i)(at), v))
#elif CQ_LANES == 8 && defined(__AVX2__)
#define PERMUTE(v, at) ((V)_mm256_permutevar8x32_ps(v, (__m256i)(at)))
#elif CQ_LANES == 4 && (defined(__aarch64__) || defined(__wasm_simd128__))
#define BYTES_AT(at) ((at)*0x04040404 + 0x03020100) /* the four bytes of each lane */
#if defined(__aarch64__)
#define PERMUTE(v, at) ((V)vqtbl1q_u8((uint8x16_t)(v), (uint8x16_t)BYTES_AT(at)))
#else
#define PERMUTE(v, at) ((V)wasm_i8x16_swizzle((v128_t)(v), (v128_t)BYTES_AT(at)))
#endif
#else
#define PERMUTE(v, at) permuted(v, at)

static inline V permuted(V v, I at)
{
    V out = { 0 };

    for (int i = 0; i < LANES; i++)
        out[i] = v[at[i] & (LANES - 1)];
    return out;
}
#endif

/* Elements 0, 2, 4 … from p on; no element after the last selected one is read. */
#if CQ_LANES == 16
#define EVEN 0, 2, 4, 6, 8, 10, 12, 14, 17, 19, 21, 23, 25, 27, 29, 31
#elif CQ_LANES == 8
#define EVEN 0, 2, 4, 6, 9, 11, 13, 15
#else
#define EVEN 0, 2, 5, 7
#endif
/* The first and the last halves of two vectors, by turns. */
#if CQ_LANES == 16
#define ZIP_FIRST 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define ZIP_LAST  8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#elif CQ_LANES == 8
#define ZIP_FIRST 0, 8, 1, 9, 2, 10, 3, 11
#define ZIP_LAST  4, 12, 5, 13, 6, 14, 7, 15
#else
#define ZIP_FIRST 0, 4, 1, 5
#define ZIP_LAST  2, 6, 3, 7
#endif
#define BOTH_HALVES  0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
#define LOAD_EVEN(p) ((V)__builtin_shufflevector(LOAD(p), LOAD((p) + LANES - 1), EVEN))

/* Expands to one statement per row of a tile; unused ones are removed if rows is a constant. Every
 * sum has a separate variable, because gcc would keep an array in memory. */
#define EACH_ROW(X) X(0) X(1) X(2) X(3) EACH_FURTHER_ROW(X)
#if TILE_ROWS == 14
#define EACH_FURTHER_ROW(X) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13)
#elif TILE_ROWS == 12
#define EACH_FURTHER_ROW(X) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)
#elif TILE_ROWS == 6
#define EACH_FURTHER_ROW(X) X(4) X(5)
#else
#define EACH_FURTHER_ROW(X)
#endif

#define EACH_OF_7(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6)
#define EACH_OF_8(X) EACH_OF_7(X) X(7)

#endif
