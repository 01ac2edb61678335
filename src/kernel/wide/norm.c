/* Normalisation of float. Sums are in double, so compilers make the vectors. */
#include "kernel/isa.h"

#define T        float
#define FN(name) name##_f32
#include "kernel/norm_loops.inc"

extern const norm_loops CQ_OF_ISA(norm);

const norm_loops CQ_OF_ISA(norm) = { sum_f32, squares_f32, scale_f32, affine_f32 };
