/* Convolutions of blocked feature maps, float32, two spatial axes. A blocked feature map is [n, c /
 * b rounded up, h, w, b]: b adjacent channels make a vector. Elements after the last channel are
 * finite and are multiplied by zero weights.
 *
 * A convolution is prepared once: its weights are packed for the algorithm that suits its shape:
 * Winograd convolution for small square windows, depthwise loops for depthwise convolutions, and
 * products of pixels and weights for all others. */
#ifndef CQ_KERNEL_CONV_BCONV_H
#define CQ_KERNEL_CONV_BCONV_H

#include "kernel/elementwise.h"

typedef struct cq_bconv cq_bconv;

typedef struct cq_bconv_spec {
    const cq_tensor *w;     /* [o, c / groups, kh, kw], float32; contiguous if there are groups */
    bool             flips; /* the window is w with its taps in reverse order */
    const float     *bias;  /* o numbers, or NULL */
    int64_t          groups, stride[2], dilation[2];
    bool             plain_input; /* x is [n, c, h, w]; for few channels */
    bool             clamps;      /* results are limited to lo … hi */
    float            lo, hi;
    bool      activates; /* instead of limits: applies act, a unary operation, to every result */
    cq_ew_op  act;
    cq_params act_params;
    int64_t   out_size[2]; /* the expected output size; 0: unknown */
} cq_bconv_spec;

/* Whether such a weight is supported, also with plain_input. */
bool cq_bconv_supports(const cq_bconv_spec *spec);

/* The weight may be freed afterwards. */
cq_status cq_bconv_new(cq_bconv **out, const cq_bconv_spec *spec);
void      cq_bconv_free(cq_bconv *c); /* NULL is fine */

int64_t cq_bconv_channels(const cq_bconv *c, bool out); /* channels of x, or (out) of the output */

bool cq_bconv_adds_in_place(const cq_bconv *c);

/* One run. The caller has computed the output sizes. */
typedef struct cq_bconv_call {
    int64_t      batch, in[2], out_size[2], padding[2]; /* padding before the image */
    const float *x, *add; /* add: a feature map of the output's shape that is added; or NULL */
                          /* add may be out if cq_bconv_adds_in_place */
    bool   unlimited;     /* omit the limits and the activation of the convolution */
    float *out;
    int    lanes; /* maximum number of threads */
    float *scratch;
} cq_bconv_call;

/* The scratch memory of a call in floats; CQ_E_NO_MEMORY on overflow. */
cq_status cq_bconv_scratch(int64_t *out, const cq_bconv *c, const cq_bconv_call *call);
cq_status cq_bconv_run(const cq_bconv *c, const cq_bconv_call *call);

#endif
