/* Element types: size, kind, names, other projects' numbers for them, and the
 * conversions of half-precision numbers. */
#ifndef CQ_TENSOR_DTYPE_H
#define CQ_TENSOR_DTYPE_H

#include <calque/tensor.h>

#include <stdint.h>
#include <string.h>

bool cq_dtype_is_float(cq_dtype d); /* f16, bf16, f32, f64, and the smaller ones */
bool cq_dtype_is_complex(cq_dtype d);
bool cq_dtype_is_integer(cq_dtype d); /* bool is not */
bool cq_dtype_is_signed(cq_dtype d);

/* Bits of an element in a file: 4, or those of its bytes in memory. */
unsigned cq_dtype_bits(cq_dtype d);

/* c10::ScalarType, as in TorchScript archives; -1 or NONE if there is none. */
int      cq_dtype_to_torch(cq_dtype d);
cq_dtype cq_dtype_from_torch(int64_t scalar_type);

/* The first opset that has it: 1, or that which brought float8 or int4. */
int cq_dtype_since(cq_dtype d);

/* TensorProto.DataType. */
int      cq_dtype_to_onnx(cq_dtype d);
cq_dtype cq_dtype_from_onnx(int64_t data_type);

/* "Float", "Long": how PyTorch prints a tensor's type. */
const char *cq_dtype_torch_name(cq_dtype d);

/* Type promotion of two dtypes as torch.promote_types does it. */
cq_dtype cq_dtype_promote(cq_dtype a, cq_dtype b);

float    cq_f16_to_f32(uint16_t h);
uint16_t cq_f32_to_f16(float f); /* rounds to nearest, ties to even */

static inline float cq_bf16_to_f32(uint16_t h)
{
    uint32_t bits = (uint32_t)h << 16;
    float    f;

    memcpy(&f, &bits, 4);
    return f;
}

static inline uint16_t cq_f32_to_bf16(float f)
{
    uint32_t bits;

    memcpy(&bits, &f, 4);
    if ((bits & 0x7fffffffu) > 0x7f800000u)
        return 0x7fc0; /* any NaN */
    return (uint16_t)((bits + 0x7fffu + ((bits >> 16) & 1)) >> 16);
}

#endif
