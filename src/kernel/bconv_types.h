/* What the sources of blocked convolutions share. */
#ifndef CQ_KERNEL_BCONV_TYPES_H
#define CQ_KERNEL_BCONV_TYPES_H

#include "kernel/bconv.h"
#include "kernel/blocked_core.h"

typedef struct cq_bconv_way {
    cq_status (*prepare)(cq_bconv *c, const cq_bconv_spec *spec); /* packs the weight */
    cq_status (*scratch)(int64_t *out, const cq_bconv *c, const cq_bconv_call *call);
    cq_status (*run)(const cq_bconv *c, const cq_bconv_call *call);
} cq_bconv_way;

struct cq_bconv {
    const cq_bconv_way *way;
    const cq_core      *core;
    int64_t             groups, in_channels, out_channels; /* of all groups */
    int64_t             in_group, out_group;               /* blocks of a group */
    int64_t             kernel[2], stride[2], dilation[2];
    bool                plain_input;
    float              *w, *bias; /* packed; bias has whole blocks */
    cq_core_finish      finish;   /* without bias and add */
    bool                activates;
    cq_ew_op            act;
    cq_params           act_params;

    /* Products: steps of kc numbers. Winograd: results of a tile along each axis. */
    int64_t n_steps, kc;
    int     m;
};

extern const cq_bconv_way cq_bconv_winograd; /* winograd.c */

/* What is done to the sums of a call, without bias and add. */
static inline cq_core_finish cq_bconv_finish(const cq_bconv *c, const cq_bconv_call *call)
{
    cq_core_finish f = c->finish;

    f.clamps &= !call->unlimited;
    return f;
}

/* The activation on n results, if there is one. */
void cq_bconv_activate(const cq_bconv *c, const cq_bconv_call *call, float *x, int64_t n);

/* Blocks that n channels take. */
static inline int64_t cq_blocks(int64_t n)
{
    return (n + CQ_BLOCK - 1) / CQ_BLOCK;
}

/* n floats, 64-byte aligned, zeroed. */
cq_status cq_bconv_alloc(float **out, int64_t a, int64_t b, int64_t c);

#endif
