/* One row per element type; everything about a dtype is read from its row. */
#include "tensor/dtype.h"

#include "base/error.h"
#include "base/str.h"

typedef enum kind { K_NONE, K_BOOL, K_INT, K_FLOAT, K_COMPLEX } kind;

static const struct {
    const char *name, *alias, *alias2, *torch_name;
    uint8_t     size, kind, is_signed;
    int8_t      torch, onnx;
} rows[CQ_DTYPE_COUNT] = {
    /*                  name         alias     alias2     torch's  size kind     sgn torch onnx */
    [CQ_DTYPE_NONE]     = { "none", "", "", "None", 0, K_NONE, 0, -1, 0 },
    [CQ_DTYPE_BOOL]     = { "bool", "b8", "bool_", "Bool", 1, K_BOOL, 0, 11, 9 },
    [CQ_DTYPE_U8]       = { "uint8", "u8", "byte", "Byte", 1, K_INT, 0, 0, 2 },
    [CQ_DTYPE_I8]       = { "int8", "i8", "char", "Char", 1, K_INT, 1, 1, 3 },
    [CQ_DTYPE_I16]      = { "int16", "i16", "short", "Short", 2, K_INT, 1, 2, 5 },
    [CQ_DTYPE_I32]      = { "int32", "i32", "int", "Int", 4, K_INT, 1, 3, 6 },
    [CQ_DTYPE_I64]      = { "int64", "i64", "long", "Long", 8, K_INT, 1, 4, 7 },
    [CQ_DTYPE_F16]      = { "float16", "f16", "half", "Half", 2, K_FLOAT, 1, 5, 10 },
    [CQ_DTYPE_BF16]     = { "bfloat16", "bf16", "", "BFloat16", 2, K_FLOAT, 1, 15, 16 },
    [CQ_DTYPE_F32]      = { "float32", "f32", "float", "Float", 4, K_FLOAT, 1, 6, 1 },
    [CQ_DTYPE_F64]      = { "float64", "f64", "double", "Double", 8, K_FLOAT, 1, 7, 11 },
    [CQ_DTYPE_C64]      = { "complex64", "c64", "cfloat", "ComplexFloat", 8, K_COMPLEX, 1, 9, 14 },
    [CQ_DTYPE_C128]     = { "complex128", "c128", "cdouble", "ComplexDouble", 16, K_COMPLEX, 1, 10,
                            15 },
    [CQ_DTYPE_U16]      = { "uint16", "u16", "", "UInt16", 2, K_INT, 0, 27, 4 },
    [CQ_DTYPE_U32]      = { "uint32", "u32", "", "UInt32", 4, K_INT, 0, 28, 12 },
    [CQ_DTYPE_U64]      = { "uint64", "u64", "", "UInt64", 8, K_INT, 0, 29, 13 },
    [CQ_DTYPE_F8E4M3FN] = { "float8e4m3fn", "f8e4m3fn", "", "Float8_e4m3fn", 1, K_FLOAT, 1, 24,
                            17 },
    [CQ_DTYPE_F8E4M3FNUZ] = { "float8e4m3fnuz", "f8e4m3fnuz", "", "Float8_e4m3fnuz", 1, K_FLOAT, 1,
                              26, 18 },
    [CQ_DTYPE_F8E5M2]     = { "float8e5m2", "f8e5m2", "", "Float8_e5m2", 1, K_FLOAT, 1, 23, 19 },
    [CQ_DTYPE_F8E5M2FNUZ] = { "float8e5m2fnuz", "f8e5m2fnuz", "", "Float8_e5m2fnuz", 1, K_FLOAT, 1,
                              25, 20 },
    [CQ_DTYPE_U4]         = { "uint4", "u4", "", "UInt4", 1, K_INT, 0, -1, 21 },
    [CQ_DTYPE_I4]         = { "int4", "i4", "", "Int4", 1, K_INT, 1, -1, 22 },
    [CQ_DTYPE_F4E2M1]     = { "float4e2m1", "f4e2m1", "", "Float4_e2m1", 1, K_FLOAT, 1, -1, 23 },
    [CQ_DTYPE_F8E8M0]     = { "float8e8m0", "f8e8m0", "", "Float8_e8m0fnu", 1, K_FLOAT, 0, 44, 24 },
    [CQ_DTYPE_U2]         = { "uint2", "u2", "", "UInt2", 1, K_INT, 0, -1, 25 },
    [CQ_DTYPE_I2]         = { "int2", "i2", "", "Int2", 1, K_INT, 1, -1, 26 },
    [CQ_DTYPE_C32]        = { "complex32", "c32", "chalf", "ComplexHalf", 4, K_COMPLEX, 1, 8, 0 },
};

int cq_dtype_since(cq_dtype d)
{
    switch (d) {
    case CQ_DTYPE_F8E4M3FN:
    case CQ_DTYPE_F8E4M3FNUZ:
    case CQ_DTYPE_F8E5M2:
    case CQ_DTYPE_F8E5M2FNUZ: return 19;
    case CQ_DTYPE_U4:
    case CQ_DTYPE_I4: return 21;
    case CQ_DTYPE_F4E2M1: return 23;
    case CQ_DTYPE_F8E8M0: return 24;
    case CQ_DTYPE_U2:
    case CQ_DTYPE_I2: return 25;
    default: return 1;
    }
}

unsigned cq_dtype_bits(cq_dtype d)
{
    static const uint8_t parts_of_a_byte[CQ_DTYPE_COUNT] = {
        [CQ_DTYPE_U4] = 4, [CQ_DTYPE_I4] = 4, [CQ_DTYPE_F4E2M1] = 4,
        [CQ_DTYPE_U2] = 2, [CQ_DTYPE_I2] = 2,
    };
    unsigned bits = (unsigned)d < CQ_DTYPE_COUNT ? parts_of_a_byte[d] : 0;

    return bits ? bits : 8 * (unsigned)cq_dtype_size(d);
}

static cq_dtype clean(cq_dtype d)
{
    return (unsigned)d < CQ_DTYPE_COUNT ? d : CQ_DTYPE_NONE;
}

const char *cq_dtype_name(cq_dtype d)
{
    return rows[clean(d)].name;
}

const char *cq_dtype_torch_name(cq_dtype d)
{
    return rows[clean(d)].torch_name;
}

size_t cq_dtype_size(cq_dtype d)
{
    return rows[clean(d)].size;
}

cq_dtype cq_dtype_from_name(const char *name)
{
    CQ_NEED_ELSE(name, CQ_DTYPE_NONE);
    for (int d = 1; d < CQ_DTYPE_COUNT; d++)
        if (*name && (cq_is_same_word(name, rows[d].name) || cq_is_same_word(name, rows[d].alias) ||
                      cq_is_same_word(name, rows[d].alias2)))
            return (cq_dtype)d;
    return CQ_DTYPE_NONE;
}

bool cq_dtype_is_float(cq_dtype d)
{
    return rows[clean(d)].kind == K_FLOAT;
}

bool cq_dtype_is_complex(cq_dtype d)
{
    return rows[clean(d)].kind == K_COMPLEX;
}

bool cq_dtype_is_integer(cq_dtype d)
{
    return rows[clean(d)].kind == K_INT;
}

bool cq_dtype_is_signed(cq_dtype d)
{
    return rows[clean(d)].is_signed;
}

int cq_dtype_to_torch(cq_dtype d)
{
    return rows[clean(d)].torch;
}

cq_dtype cq_dtype_from_torch(int64_t scalar_type)
{
    for (int d = 1; d < CQ_DTYPE_COUNT; d++)
        if (rows[d].torch >= 0 && rows[d].torch == scalar_type) /* -1: ATen has no such type */
            return (cq_dtype)d;
    return CQ_DTYPE_NONE;
}

int cq_dtype_to_onnx(cq_dtype d)
{
    return rows[clean(d)].onnx;
}

cq_dtype cq_dtype_from_onnx(int64_t data_type)
{
    for (int d = 1; d < CQ_DTYPE_COUNT; d++)
        if (rows[d].onnx && rows[d].onnx == data_type) /* 0: ONNX has no such type */
            return (cq_dtype)d;
    return CQ_DTYPE_NONE;
}

cq_dtype cq_dtype_promote(cq_dtype a, cq_dtype b)
{
    kind ka = rows[clean(a)].kind, kb = rows[clean(b)].kind;

    if (a == b || kb == K_NONE)
        return a;
    if (ka == K_NONE)
        return b;
    if (ka < kb)
        return cq_dtype_promote(b, a);
    if (ka == K_COMPLEX && a == CQ_DTYPE_C32 && (kb < K_FLOAT || b == CQ_DTYPE_F16))
        return a;
    if (ka == K_COMPLEX) /* b is complex or lower; only doubles widen the result */
        return a == CQ_DTYPE_C128 || b == CQ_DTYPE_C128 || b == CQ_DTYPE_F64 ? CQ_DTYPE_C128
                                                                             : CQ_DTYPE_C64;
    if (ka != kb)
        return a;
    if (ka == K_FLOAT) {
        if (rows[a].size == rows[b].size)
            return CQ_DTYPE_F32; /* half with bfloat16 */
        return rows[a].size > rows[b].size ? a : b;
    }
    if (rows[a].is_signed == rows[b].is_signed)
        return rows[a].size > rows[b].size ? a : b;
    if (!rows[a].is_signed) { /* let a be the signed one */
        cq_dtype swap = a;

        a = b;
        b = swap;
    }
    if (rows[a].size > rows[b].size)
        return a;
    return rows[b].size == 1 ? CQ_DTYPE_I16 : rows[b].size == 2 ? CQ_DTYPE_I32 : CQ_DTYPE_I64;
}

float cq_f16_to_f32(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000u) << 16, exponent = (h >> 10) & 31, fraction = h & 1023;
    uint32_t bits;
    float    f;

    if (exponent == 31) {
        bits = sign | 0x7f800000u | fraction << 13;
    } else if (exponent) {
        bits = sign | (exponent + 112) << 23 | fraction << 13;
    } else { /* zero and subnormals: fraction * 2^-24 is exact in float */
        f = (float)fraction * 0x1p-24f;
        memcpy(&bits, &f, 4);
        bits |= sign;
    }
    memcpy(&f, &bits, 4);
    return f;
}

uint16_t cq_f32_to_f16(float value)
{
    uint32_t bits, sign, rest;
    float    f;

    memcpy(&bits, &value, 4);
    sign = bits >> 16 & 0x8000u;
    bits &= 0x7fffffffu;
    if (bits > 0x7f800000u)
        return (uint16_t)(sign | 0x7e00u);
    if (bits >= 0x477ff000u) /* rounds to 65536 or more */
        return (uint16_t)(sign | 0x7c00u);
    if (bits < 0x38800000u) { /* subnormal: adding 0.5 rounds at 2^-24 */
        memcpy(&f, &bits, 4);
        f += 0.5f;
        memcpy(&rest, &f, 4);
        return (uint16_t)(sign | (rest - 0x3f000000u));
    }
    bits += 0xfffu + (bits >> 13 & 1);
    return (uint16_t)(sign | (bits - 0x38000000u) >> 13);
}
