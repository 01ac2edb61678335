/* The kernels of one instruction set: kernel/wide compiled for it. */
#ifndef CQ_KERNEL_ISA_H
#define CQ_KERNEL_ISA_H

#include "kernel/matrix/attention_core.h"
#include "kernel/conv/blocked_core.h"
#include "kernel/conv/conv_types.h"
#include "kernel/elementwise_ops.h"
#include "kernel/matrix/gemm_types.h"
#include "kernel/matrix/norm_types.h"
#include "kernel/quant_core.h"
#include "kernel/matrix/softmax_rows.h"

typedef void cq_gelu_fn(float *x, int64_t n); /* in place */

typedef struct cq_isa {
    const char              *name; /* as CALQUE_ISA has it */
    const cq_core           *core;
    const gemm_type *const  *gemm;    /* of float, of double */
    const cq_ew_row         *ew;      /* of float */
    cq_softmax_fn *const    *softmax; /* of float; and its logarithm */
    conv_taps_fn            *taps;    /* of float */
    const norm_loops        *norm;    /* of float */
    const cq_quant_core     *quant;
    const cq_attention_core *attention;
    cq_gelu_fn *const       *gelu; /* by the error function, by tanh */
} cq_isa;

/* The set in use: the widest that this processor supports, or the supported one that CALQUE_ISA
 * names. */
const cq_isa *cq_isa_get(void);

/* For tests. cq_isa_at: all sets that this processor has, the widest first; NULL after the last.
 * cq_isa_use: uses this one from now on; NULL restores the default. Packed data from before must
 * not be used then. */
const cq_isa *cq_isa_at(size_t i);
void          cq_isa_use(const cq_isa *isa);

/* In kernel/wide: cq_avx2_name. */
#define CQ_ISA_PASTE_(a, b, c) a##b##_##c
#define CQ_ISA_PASTE(a, b, c)  CQ_ISA_PASTE_(a, b, c)
#define CQ_OF_ISA(name)        CQ_ISA_PASTE(cq_, CQ_ISA, name)
#ifndef CQ_ISA_LIKE /* the set that has what this one lacks (CMakeLists.txt) */
#define CQ_ISA_LIKE CQ_ISA
#endif
#define CQ_OF_ISA_LIKE(name) CQ_ISA_PASTE(cq_, CQ_ISA_LIKE, name)

#endif
