/* Selects the inner loops for the instruction set. */
#include "kernel/conv/blocked_core.h"

#include "kernel/conv/blocked.h"
#include "kernel/isa.h"

const cq_core *cq_core_get(void)
{
    return cq_isa_get()->core;
}

int cq_block_channels(void)
{
    return cq_core_get()->lanes;
}

void cq_core_activate(const cq_core *core, float *x, int64_t n, cq_ew_op act,
                      const cq_params *params)
{
    if (act == CQ_EW_SIGMOID || act == CQ_EW_SILU)
        core->sigmoid(x, n, act == CQ_EW_SILU);
    else if (act == CQ_EW_HARDSWISH)
        core->hardswish(x, n);
    else if (act == CQ_EW_GELU || act == CQ_EW_GELU_TANH)
        cq_isa_get()->gelu[act == CQ_EW_GELU_TANH](x, n);
    else
        cq_apply1_f32(x, n, act, params);
}
