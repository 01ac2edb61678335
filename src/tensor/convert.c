/* One loader and one storer per dtype and arithmetic type, made by macros, since only
 * their types differ. Unit steps get a loop of their own, which compilers vectorise.
 * Elements need not be aligned: tensors may be views of a file's bytes. */
#include "tensor/convert.h"

#include "tensor/minifloat.h"

#include <math.h>

int64_t cq_f64_to_i64(double x)
{
    return x >= -0x1p63 && x < 0x1p63 ? (int64_t)x : INT64_MIN;
}

static inline int64_t f32_to_i64(float x)
{
    return x >= -0x1p63f && x < 0x1p63f ? (int64_t)x : INT64_MIN;
}

static inline uint64_t f64_to_u64(double x)
{
    return x >= 0x1p63 && x < 0x1p64 ? (uint64_t)x : (uint64_t)cq_f64_to_i64(x);
}

static inline uint64_t f32_to_u64(float x)
{
    return f64_to_u64((double)x);
}

static inline int32_t f64_to_i32(double x)
{
    return x > -0x1p31 - 1 && x < 0x1p31 ? (int32_t)x : INT32_MIN;
}

static inline int32_t f32_to_i32(float x)
{
    return x >= -0x1p31f && x < 0x1p31f ? (int32_t)x : INT32_MIN;
}

/* Four or two bits: the nearest integer, ties to even, of which the low bits are kept. */
static inline uint8_t low_u4(int64_t x)
{
    return (uint8_t)(x & 15);
}

static inline int8_t low_i4(int64_t x)
{
    return (int8_t)(((x & 15) ^ 8) - 8);
}

static inline uint8_t low_u2(int64_t x)
{
    return (uint8_t)(x & 3);
}

static inline int8_t low_i2(int64_t x)
{
    return (int8_t)(((x & 3) ^ 2) - 2);
}

#define F32_LOW_U4(x) low_u4(f32_to_i64(rintf(x)))
#define F64_LOW_U4(x) low_u4(cq_f64_to_i64(rint(x)))
#define F32_LOW_I4(x) low_i4(f32_to_i64(rintf(x)))
#define F64_LOW_I4(x) low_i4(cq_f64_to_i64(rint(x)))
#define F32_LOW_U2(x) low_u2(f32_to_i64(rintf(x)))
#define F64_LOW_U2(x) low_u2(cq_f64_to_i64(rint(x)))
#define F32_LOW_I2(x) low_i2(f32_to_i64(rintf(x)))
#define F64_LOW_I2(x) low_i2(cq_f64_to_i64(rint(x)))

/* The small floats; what is too large for one becomes its largest number. */
#define MINIFLOAT(D)                                                                               \
    static inline float D##_to_f32(uint8_t x)                                                      \
    {                                                                                              \
        return cq_minifloat_to_f32(CQ_DTYPE_##D, x);                                               \
    }                                                                                              \
    static inline int64_t D##_to_i64(uint8_t x)                                                    \
    {                                                                                              \
        return f32_to_i64(D##_to_f32(x));                                                          \
    }                                                                                              \
    static inline uint8_t to_##D(double x)                                                         \
    {                                                                                              \
        return cq_f64_to_minifloat(CQ_DTYPE_##D, x, true);                                         \
    }
MINIFLOAT(F8E4M3FN)
MINIFLOAT(F8E4M3FNUZ)
MINIFLOAT(F8E5M2)
MINIFLOAT(F8E5M2FNUZ)
MINIFLOAT(F4E2M1)
MINIFLOAT(F8E8M0)
#define MINI(X, D) X(D, uint8_t, D##_to_f32, D##_to_f32, D##_to_i64, to_##D, to_##D, to_##D)

/* A half-precision number as a type of its own, so that the lists below stay regular. */
typedef uint16_t half;
typedef uint16_t bhalf;

#define ANY(type)       any_##type
#define UNALIGNED(type) typedef type __attribute__((aligned(1), may_alias)) any_##type
UNALIGNED(uint8_t);
UNALIGNED(int8_t);
UNALIGNED(int16_t);
UNALIGNED(int32_t);
UNALIGNED(int64_t);
UNALIGNED(half);
UNALIGNED(bhalf);
UNALIGNED(float);
UNALIGNED(double);
UNALIGNED(uint16_t);
UNALIGNED(uint32_t);
UNALIGNED(uint64_t);

/* The element of a dtype is read as its C type, then turned into the wide type. */
#define SAME(x)        (x)
#define AS_F32(x)      ((float)(x))
#define AS_F64(x)      ((double)(x))
#define AS_I64(x)      ((int64_t)(x))
#define IS_SET(x)      ((x) != 0)
#define F16_AS_F64(x)  ((double)cq_f16_to_f32(x))
#define BF16_AS_F64(x) ((double)cq_bf16_to_f32(x))
#define F16_AS_I64(x)  f32_to_i64(cq_f16_to_f32(x))
#define BF16_AS_I64(x) f32_to_i64(cq_bf16_to_f32(x))

#define F64_TO_F16(x)  cq_f32_to_f16((float)(x))
#define F64_TO_BF16(x) cq_f32_to_bf16((float)(x))
#define LOW_8(x)       ((uint8_t)(x))
#define LOW_I8(x)      ((int8_t)(x))
#define LOW_16(x)      ((uint16_t)(x))
#define LOW_I16(x)     ((int16_t)(x))
#define LOW_32(x)      ((uint32_t)(x))
#define LOW_I32(x)     ((int32_t)(x))
#define F32_LOW_8(x)   ((uint8_t)f32_to_i64(x))
#define F32_LOW_I8(x)  ((int8_t)f32_to_i64(x))
#define F32_LOW_16(x)  ((uint16_t)f32_to_i64(x))
#define F32_LOW_I16(x) ((int16_t)f32_to_i64(x))
#define F32_LOW_32(x)  ((uint32_t)f32_to_i64(x))
#define F64_LOW_8(x)   ((uint8_t)cq_f64_to_i64(x))
#define F64_LOW_I8(x)  ((int8_t)cq_f64_to_i64(x))
#define F64_LOW_16(x)  ((uint16_t)cq_f64_to_i64(x))
#define F64_LOW_I16(x) ((int16_t)cq_f64_to_i64(x))
#define F64_LOW_32(x)  ((uint32_t)cq_f64_to_i64(x))

/* dtype, its C type, and how it is loaded as and stored from each wide type. */
#define DTYPES(X)                                                                                  \
    X(BOOL, uint8_t, AS_F32, AS_F64, IS_SET, IS_SET, IS_SET, IS_SET)                               \
    X(U8, uint8_t, AS_F32, AS_F64, AS_I64, F32_LOW_8, F64_LOW_8, LOW_8)                            \
    X(I8, int8_t, AS_F32, AS_F64, AS_I64, F32_LOW_I8, F64_LOW_I8, LOW_I8)                          \
    X(I16, int16_t, AS_F32, AS_F64, AS_I64, F32_LOW_I16, F64_LOW_I16, LOW_I16)                     \
    X(I32, int32_t, AS_F32, AS_F64, AS_I64, f32_to_i32, f64_to_i32, LOW_I32)                       \
    X(I64, int64_t, AS_F32, AS_F64, AS_I64, f32_to_i64, cq_f64_to_i64, SAME)                       \
    X(F16, half, cq_f16_to_f32, F16_AS_F64, F16_AS_I64, cq_f32_to_f16, F64_TO_F16, I64_TO_F16)     \
    X(BF16, bhalf, cq_bf16_to_f32, BF16_AS_F64, BF16_AS_I64, cq_f32_to_bf16, F64_TO_BF16,          \
      I64_TO_BF16)                                                                                 \
    X(F32, float, SAME, AS_F64, f32_to_i64, SAME, AS_F32, AS_F32)                                  \
    X(F64, double, AS_F32, SAME, cq_f64_to_i64, AS_F64, SAME, AS_F64)                              \
    X(U16, uint16_t, AS_F32, AS_F64, AS_I64, F32_LOW_16, F64_LOW_16, LOW_16)                       \
    X(U32, uint32_t, AS_F32, AS_F64, AS_I64, F32_LOW_32, F64_LOW_32, LOW_32)                       \
    X(U64, uint64_t, AS_F32, AS_F64, AS_I64, f32_to_u64, f64_to_u64, AS_U64)                       \
    X(U4, uint8_t, AS_F32, AS_F64, AS_I64, F32_LOW_U4, F64_LOW_U4, low_u4)                         \
    X(I4, int8_t, AS_F32, AS_F64, AS_I64, F32_LOW_I4, F64_LOW_I4, low_i4)                          \
    X(U2, uint8_t, AS_F32, AS_F64, AS_I64, F32_LOW_U2, F64_LOW_U2, low_u2)                         \
    X(I2, int8_t, AS_F32, AS_F64, AS_I64, F32_LOW_I2, F64_LOW_I2, low_i2)                          \
    MINI(X, F8E4M3FN)                                                                              \
    MINI(X, F8E4M3FNUZ)                                                                            \
    MINI(X, F8E5M2)                                                                                \
    MINI(X, F8E5M2FNUZ)                                                                            \
    MINI(X, F4E2M1)                                                                                \
    MINI(X, F8E8M0)

#define I64_TO_F16(x)  cq_f32_to_f16((float)(x))
#define I64_TO_BF16(x) cq_f32_to_bf16((float)(x))
#define AS_U64(x)      ((uint64_t)(x))

#define LOADER(name, type, wide, conversion)                                                       \
    static void name(void *wide_, const char *from, int64_t step, int64_t n)                       \
    {                                                                                              \
        wide *restrict to = wide_;                                                                 \
                                                                                                   \
        if (step == (int64_t)sizeof(type)) {                                                       \
            const ANY(type) *restrict x = (const ANY(type) *)from;                                 \
            for (int64_t i = 0; i < n; i++)                                                        \
                to[i] = (wide)conversion(x[i]);                                                    \
        } else {                                                                                   \
            for (int64_t i = 0; i < n; i++, from += step)                                          \
                to[i] = (wide)conversion(*(const ANY(type) *)from);                                \
        }                                                                                          \
    }

#define STORER(name, type, wide, conversion)                                                       \
    static void name(char *to, int64_t step, const void *wide_, int64_t n)                         \
    {                                                                                              \
        const wide *restrict x = wide_;                                                            \
                                                                                                   \
        if (step == (int64_t)sizeof(type)) {                                                       \
            ANY(type) *restrict y = (ANY(type) *)to;                                               \
            for (int64_t i = 0; i < n; i++)                                                        \
                y[i] = (type)conversion(x[i]);                                                     \
        } else {                                                                                   \
            for (int64_t i = 0; i < n; i++, to += step)                                            \
                *(ANY(type) *)to = (type)conversion(x[i]);                                         \
        }                                                                                          \
    }

#define FUNCTIONS(D, type, lf, ld, li, sf, sd, si)                                                 \
    LOADER(load_##D##_f32, type, float, lf)                                                        \
    LOADER(load_##D##_f64, type, double, ld)                                                       \
    LOADER(load_##D##_i64, type, int64_t, li)                                                      \
    STORER(store_##D##_f32, type, float, sf)                                                       \
    STORER(store_##D##_f64, type, double, sd)                                                      \
    STORER(store_##D##_i64, type, int64_t, si)
DTYPES(FUNCTIONS)

#define ROW(D, ...)                                                                                \
    [CQ_DTYPE_##D] = { { load_##D##_f32, load_##D##_f64, load_##D##_i64 },                         \
                       { store_##D##_f32, store_##D##_f64, store_##D##_i64 } },
static const struct {
    cq_load_fn  *load[CQ_WIDE_COUNT];
    cq_store_fn *store[CQ_WIDE_COUNT];
} rows[CQ_DTYPE_COUNT] = { DTYPES(ROW) };

cq_wide cq_wide_of(cq_dtype d)
{
    if (d == CQ_DTYPE_F64 || d == CQ_DTYPE_C128)
        return CQ_WIDE_F64;
    return cq_dtype_is_float(d) || cq_dtype_is_complex(d) ? CQ_WIDE_F32 : CQ_WIDE_I64;
}

cq_dtype cq_wide_dtype(cq_wide w)
{
    return w == CQ_WIDE_F32 ? CQ_DTYPE_F32 : w == CQ_WIDE_F64 ? CQ_DTYPE_F64 : CQ_DTYPE_I64;
}

cq_load_fn *cq_load_of(cq_dtype d, cq_wide w)
{
    return rows[d].load[w];
}

cq_store_fn *cq_store_of(cq_dtype d, cq_wide w)
{
    return rows[d].store[w];
}

cq_dtype cq_dtype_part(cq_dtype d)
{
    return d == CQ_DTYPE_C64    ? CQ_DTYPE_F32
           : d == CQ_DTYPE_C128 ? CQ_DTYPE_F64
           : d == CQ_DTYPE_C32  ? CQ_DTYPE_F16
                                : d;
}

void cq_convert_run(char *to, cq_dtype to_dtype, int64_t to_step, const char *from,
                    cq_dtype from_dtype, int64_t from_step, int64_t n)
{
    enum { CHUNK = 512 };
    union {
        float   f32[CHUNK];
        double  f64[CHUNK];
        int64_t i64[CHUNK];
    } chunk;
    cq_wide wide = cq_wide_of(from_dtype);

    /* An integer becomes a float in one rounding: it is loaded as the float it will be. */
    if (wide == CQ_WIDE_I64 && cq_dtype_is_float(to_dtype))
        wide = cq_wide_of(to_dtype);
    if (from_dtype == cq_wide_dtype(wide) && from_step == (int64_t)cq_dtype_size(from_dtype)) {
        rows[to_dtype].store[wide](to, to_step, from, n);
        return;
    }
    if (to_dtype == cq_wide_dtype(wide) && to_step == (int64_t)cq_dtype_size(to_dtype)) {
        rows[from_dtype].load[wide](to, from, from_step, n);
        return;
    }
    while (n > 0) {
        int64_t part = n < CHUNK ? n : CHUNK;

        rows[from_dtype].load[wide](&chunk, from, from_step, part);
        rows[to_dtype].store[wide](to, to_step, &chunk, part);
        from += part * from_step;
        to += part * to_step;
        n -= part;
    }
}
