/* Softmax of float. */
#include "kernel/isa.h"
#include "kernel/vmath.h"
#include "kernel/wide/vector.h"

#define T            float
#define BYTES        (4 * CQ_LANES)
#define EXP          cq_expf
#define FN(name)     name##_f32
#define MAX_OF(a, b) AT_LEAST(a, b)
#include "kernel/softmax.inc"

extern cq_softmax_fn *const CQ_OF_ISA(softmax)[2];

cq_softmax_fn *const CQ_OF_ISA(softmax)[2] = { softmax_f32, log_softmax_f32 };
