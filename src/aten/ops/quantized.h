/* Operators on quantized tensors (tensor/qparams.h). They compute in floats, and their results are
 * quantized again. */
#ifndef CQ_ATEN_OPS_QUANTIZED_H
#define CQ_ATEN_OPS_QUANTIZED_H

#include "aten/core/ctx.h"
#include "tensor/qparams.h"

/* Before a call with quantized tensors among its arguments: replaces stored integers by their
 * floats, and sets *like to the quantization parameters of the results. */
cq_status cq_quantized_before(cq_opcall *c, cq_quantized_rule *rule, cq_qparams **like);
cq_status cq_quantized_after(cq_opcall *c, cq_quantized_rule rule, cq_qparams *like);

/* t rounded by the quantization parameters, and marked with them. NULL after a failure. */
cq_tensor *cq_round_to_qparams(cq_ctx *cx, cq_tensor *t, cq_qparams *q);

/* The floats of a tensor that may be stored as integers; they keep the quantization parameters. */
cq_tensor *cq_from_stored(cq_ctx *cx, cq_tensor *t);

/* Packed weights, an opaque class in PyTorch, are a tuple here; a linear layer has the first two.
 * The output's padding is None unless it is a transposed convolution. */
enum {
    CQ_PACKED_WEIGHT,
    CQ_PACKED_BIAS, /* or None */
    CQ_PACKED_STRIDE,
    CQ_PACKED_PADDING,
    CQ_PACKED_DILATION,
    CQ_PACKED_GROUPS,
    CQ_PACKED_OUTPUT_PADDING,
    CQ_PACKED_CONV,
    CQ_PACKED_LINEAR = CQ_PACKED_STRIDE
};

/* Packed weights from the state that an archive holds of one. The caller owns *out. */
cq_status cq_packed_weights_of(cq_val *out, const char *class_name, cq_val state);

#endif
