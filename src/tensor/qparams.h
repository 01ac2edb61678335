/* Quantized tensors. As in an ONNX file with QuantizeLinear and DequantizeLinear, a quantized
 * tensor is a tensor of floats (q - zero point) * scale for small integers q. The quantization
 * parameters are attached to the handle. An integer tensor with quantization parameters holds the q
 * themselves, as in an archive; operators see its floats (aten/ops/quantized.c). */
#ifndef CQ_TENSOR_QPARAMS_H
#define CQ_TENSOR_QPARAMS_H

#include "tensor/tensor.h"

enum { CQ_TORCH_QINT8 = 12, CQ_TORCH_QUINT8 = 13, CQ_TORCH_QINT32 = 14 };

struct cq_qparams {
    atomic_int refs;
    int        torch_dtype;
    double     scale; /* of the whole tensor, unless there are scales */
    int64_t    zero_point;
    cq_tensor *scales, *zero_points; /* of each slice along axis; NULL */
    int        axis;
};

cq_status   cq_qparams_new(cq_qparams **out, int torch_dtype, double scale, int64_t zero_point);
cq_status   cq_qparams_new_per_channel(cq_qparams **out, int torch_dtype, cq_tensor *scales,
                                       cq_tensor *zero_points, int axis); /* retains both */
cq_qparams *cq_qparams_retain(cq_qparams *q);
void        cq_qparams_release(cq_qparams *q);

bool cq_qparams_same(const cq_qparams *a, const cq_qparams *b); /* of none, too */

/* Sets the quantization parameters of t; NULL removes them. */
void cq_tensor_set_qparams(cq_tensor *t, cq_qparams *q);

/* The integers of a quantized type: false if torch_dtype is not quantized. */
bool cq_qparams_range(int torch_dtype, cq_dtype *stored, int64_t *low, int64_t *high);

#endif
