/* Transposed convolutions of blocked images (bconv.h), with a stride: every stride-th result has
 * the same taps, so it consists of stride x stride convolutions whose results are interleaved. */
#ifndef CQ_KERNEL_CONV_BTRANSPOSE_H
#define CQ_KERNEL_CONV_BTRANSPOSE_H

#include "kernel/conv/bconv.h"

typedef struct cq_btranspose cq_btranspose;

/* As for convolutions, but the weight is [c, o, kh, kw]. */
bool      cq_btranspose_supports(const cq_bconv_spec *spec);
cq_status cq_btranspose_new(cq_btranspose **out, const cq_bconv_spec *spec);
void      cq_btranspose_free(cq_btranspose *t); /* NULL is fine */

/* call->add must be NULL. */
cq_status cq_btranspose_scratch(int64_t *out, const cq_btranspose *t, const cq_bconv_call *call);
cq_status cq_btranspose_run(const cq_btranspose *t, const cq_bconv_call *call);

#endif
