/* Operators on quantized tensors (tensor/qparams.h). They compute in floats, and what they give is
 * put back on a grid. */
#ifndef CQ_ATEN_OPS_QUANTIZED_H
#define CQ_ATEN_OPS_QUANTIZED_H

#include "aten/core/ctx.h"
#include "tensor/qparams.h"

/* What becomes of the results of an operator that was given quantized tensors. */
typedef enum cq_grid_rule {
    CQ_GRID_NO,     /* PyTorch has no such operator on them, so it is refused */
    CQ_GRID_KEEP,   /* they lie on the argument's grid: nothing but moved elements */
    CQ_GRID_ROUND,  /* they are rounded to the argument's grid */
    CQ_GRID_MEAN,   /* the same, of its integers: what lies between two of them goes to the even */
    CQ_GRID_UNIT,   /* to a grid of 0 … 1, whatever the argument's was */
    CQ_GRID_SIGNED, /* to a grid of -1 … 1 */
    CQ_GRID_PLAIN,  /* they are not quantized, or the row itself sees to it */
    CQ_GRID_STORED  /* it takes stored integers as they are */
} cq_grid_rule;

/* Before a call that has quantized tensors among its arguments: their floats take the place of
 * stored integers, and *like becomes the grid that the results will have. */
cq_status cq_quantized_before(cq_opcall *c, cq_grid_rule *rule, cq_qparams **like);
cq_status cq_quantized_after(cq_opcall *c, cq_grid_rule rule, cq_qparams *like);

/* t rounded to the grid, and known to lie on it. NULL after a failure. */
cq_tensor *cq_to_grid(cq_ctx *cx, cq_tensor *t, cq_qparams *q);

/* The floats of a tensor that may be stored as integers; they keep the grid. */
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
