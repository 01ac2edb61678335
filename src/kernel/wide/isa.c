/* All kernels of one instruction set. */
#include "kernel/isa.h"

extern const cq_core           CQ_OF_ISA_LIKE(core);
extern const gemm_type *const  CQ_OF_ISA_LIKE(gemm)[2];
extern const cq_ew_row         CQ_OF_ISA_LIKE(ew)[CQ_EW_COUNT];
extern cq_softmax_fn *const    CQ_OF_ISA_LIKE(softmax)[2];
extern conv_taps_fn            CQ_OF_ISA_LIKE(taps);
extern const norm_loops        CQ_OF_ISA_LIKE(norm);
extern const cq_quant_core     CQ_OF_ISA(quant);
extern const cq_attention_core CQ_OF_ISA_LIKE(attention);
extern cq_gelu_fn *const       CQ_OF_ISA_LIKE(gelu)[2];
extern const cq_isa            CQ_OF_ISA(isa);

const cq_isa CQ_OF_ISA(isa) = { .name      = CQ_ISA_TEXT,
                                .core      = &CQ_OF_ISA_LIKE(core),
                                .gemm      = CQ_OF_ISA_LIKE(gemm),
                                .ew        = CQ_OF_ISA_LIKE(ew),
                                .softmax   = CQ_OF_ISA_LIKE(softmax),
                                .taps      = CQ_OF_ISA_LIKE(taps),
                                .norm      = &CQ_OF_ISA_LIKE(norm),
                                .quant     = &CQ_OF_ISA(quant),
                                .attention = &CQ_OF_ISA_LIKE(attention),
                                .gelu      = CQ_OF_ISA_LIKE(gelu) };
