/* ONNX models: reading, writing, printing and checking .onnx files. Running one is in
 * <calque/session.h>, making one from a PyTorch model in <calque/module.h>. */
#ifndef CALQUE_ONNX_H
#define CALQUE_ONNX_H

#include <calque/status.h>
#include <calque/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cq_onnx_model cq_onnx_model;

/* NULL is fine. Tensors that were made from the model stay valid. */
CQ_API void cq_onnx_model_free(cq_onnx_model *model);

#ifdef __cplusplus
}
#endif

#endif
