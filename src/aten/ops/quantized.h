/* Operators on quantized tensors (tensor/qparams.h). They compute in floats, and their results are
 * quantized again. */
#ifndef CQ_ATEN_OPS_QUANTIZED_H
#define CQ_ATEN_OPS_QUANTIZED_H

#include "aten/core/ctx.h"
#include "tensor/qparams.h"

/* How the results of an operator on quantized tensors are quantized. */
typedef enum cq_grid_rule {
    CQ_GRID_NO,     /* PyTorch has no such operator on them, so it is refused */
    CQ_GRID_KEEP,   /* with the argument's parameters: elements are only moved */
    CQ_GRID_ROUND,  /* rounded with the argument's parameters */
    CQ_GRID_MEAN,   /* the same, computed on its integers: halves are rounded to even */
    CQ_GRID_UNIT,   /* with parameters for 0 … 1, regardless of the argument's */
    CQ_GRID_SIGNED, /* with parameters for -1 … 1 */
    CQ_GRID_PLAIN,  /* they are not quantized, or the row itself sees to it */
    CQ_GRID_STORED  /* it accepts stored integers */
} cq_grid_rule;

/* Before a call with quantized tensors among its arguments: replaces stored integers by their
 * floats, and sets *like to the quantization parameters of the results. */
cq_status cq_quantized_before(cq_opcall *c, cq_grid_rule *rule, cq_qparams **like);
cq_status cq_quantized_after(cq_opcall *c, cq_grid_rule rule, cq_qparams *like);

/* t rounded by the quantization parameters, and marked with them. NULL after a failure. */
cq_tensor *cq_to_grid(cq_ctx *cx, cq_tensor *t, cq_qparams *q);

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
