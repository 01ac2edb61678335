/* Checks the gradients in test data: gradient_i.pb of the parameters and gradient_input_i.pb of the
 * outputs. The runtime computes no gradients, so they are compared with finite differences. */
#ifndef CQ_RUNTIME_GRADIENTS_H
#define CQ_RUNTIME_GRADIENTS_H

#include "onnx/model.h"

#include <calque/session.h>

/* Compares the gradients in the folder set, if it has any, with finite differences of the model's
 * outputs in float64. inputs are those of the model, in order, NULL for omitted ones. Parameters
 * that the model no longer has (folded into others) are skipped. Returns CQ_E_TYPE if they
 * differ. */
cq_status cq_onnx_verify_gradients(const char *model, const char *set, const cq_session *session,
                                   cq_onnx_value *const *inputs, double rtol,
                                   const cq_session_options *options);

/* widen.c: converts a float32 model to float64. */
cq_status cq_onnx_model_widen(cq_onnx_model *m);

#endif
