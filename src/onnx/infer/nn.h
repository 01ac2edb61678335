/* Shape rules that quantized operators share with the plain ones. */
#ifndef CQ_ONNX_INFER_NN_H
#define CQ_ONNX_INFER_NN_H

#include "onnx/infer/rule.h"

/* The same for inputs with other indices. */
cq_status cq_rule_conv_of(cq_rule *r, size_t x, size_t weight);
cq_status cq_rule_matmul_of(cq_rule *r, size_t a, size_t b);

#endif
