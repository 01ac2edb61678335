/* Types shared by the sources of blocked convolutions. */
#ifndef CQ_KERNEL_CONV_BCONV_TYPES_H
#define CQ_KERNEL_CONV_BCONV_TYPES_H

#include "kernel/conv/bconv.h"
#include "kernel/conv/blocked_core.h"

typedef struct cq_bconv_algorithm {
    cq_status (*prepare)(cq_bconv *c, const cq_bconv_spec *spec); /* packs the weight */
    cq_status (*scratch)(int64_t *out, const cq_bconv *c, const cq_bconv_call *call);
    cq_status (*run)(const cq_bconv *c, const cq_bconv_call *call);
} cq_bconv_algorithm;

struct cq_bconv {
    const cq_bconv_algorithm *way;
    const cq_core            *core;
    int64_t                   groups;                    /* number of groups after joining */
    int64_t                   joined;                    /* groups of the weight per joined group */
    int64_t                   in_channels, out_channels; /* of all groups */
    int64_t                   in_group, out_group;       /* blocks of a group */
    int64_t                   kernel[2], stride[2], dilation[2];
    bool                      plain_input;
    bool                      ends_in_half; /* the last block of a group is half zeros */
    float                    *w, *bias;     /* packed; bias has whole blocks */
    cq_core_finish            finish;       /* without bias and add */
    bool                      activates;
    cq_ew_op                  act;
    cq_params                 act_params;

    /* Products: steps of kc numbers. Winograd: inputs and results of a tile along each axis. */
    int64_t n_steps, kc;
    int     side, m;
};

extern const cq_bconv_algorithm cq_bconv_winograd, cq_bconv_depthwise; /* winograd.c, depthwise.c */

/* The number of output o, input i, row y and column x is at w + o * step[0] + i * step[1] + … */
typedef struct cq_bconv_taps {
    const float *w;
    int64_t      step[4];
} cq_bconv_taps;

cq_bconv_taps cq_bconv_taps_of(const cq_bconv_spec *spec);

/* The number of inputs of a Winograd tile along each axis; 0 if another algorithm is used. */
int cq_winograd_side(const cq_bconv_spec *spec);

enum { CQ_DEPTHWISE_TAPS = 1 << 14 }; /* maximum number of taps of a depthwise window */

/* A feature map with its padding, or the original if it needs none. */
typedef struct cq_padded {
    const cq_bconv      *c;
    const cq_bconv_call *call;
    int64_t              size[2]; /* the part that windows read */
    int64_t              pixel;   /* floats of a pixel */
    int64_t              planes;  /* blocks of all images; images if the input is plain */
    bool                 is_copy;
} cq_padded;

void cq_padded_init(cq_padded *p, const cq_bconv *c, const cq_bconv_call *call);

/* Copies row y of the padded plane. */
void cq_padded_row(const cq_padded *p, float *to, int64_t plane, int64_t y);

/* Copies all rows to the call's scratch memory, if a copy is needed. */
cq_status cq_padded_fill(const cq_padded *p);

/* How the sums of a call are finished, without bias and add. */
static inline cq_core_finish cq_bconv_finish(const cq_bconv *c, const cq_bconv_call *call)
{
    cq_core_finish f = c->finish;

    f.clamps &= !call->unlimited;
    return f;
}

/* Applies the activation, if any, to n results. */
void cq_bconv_activate(const cq_bconv *c, const cq_bconv_call *call, float *x, int64_t n);

/* a * b * c floats, 64-byte aligned: zeroed, or uninitialized for callers that write all of
 * them. */
cq_status cq_bconv_alloc(float **out, int64_t a, int64_t b, int64_t c);
cq_status cq_bconv_alloc_unset(float **out, int64_t a, int64_t b, int64_t c);

#endif
