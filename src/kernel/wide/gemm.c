/* The inner kernels of gemm for float and double. kernel/gemm_type.inc is the portable version. */
#include "kernel/isa.h"
#include "kernel/wide/vector.h"

#include <string.h>

#define T        float
#define SCALAR   (float)
#define FMA_T    FMA
#define FMA_OF   FMA_OF_FOUR
#define FMA_ONE  FMA_F32
#define FN(name) name##_f32
#include "kernel/wide/gemm_tile.inc"

#define T        double
#define SCALAR   (double)
#define FMA_T    FMA_D
#define FMA_OF   FMA_OF_TWO_D
#define FMA_ONE  FMA_F64
#define FN(name) name##_f64
#include "kernel/wide/gemm_tile.inc"

extern const gemm_type *const CQ_OF_ISA(gemm)[2];

const gemm_type *const CQ_OF_ISA(gemm)[2] = { &type_f32, &type_f64 };
