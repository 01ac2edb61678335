/* The families of operator schemas; schema.h has the grammar of a row. */
#ifndef CQ_ONNX_OPS_ROWS_H
#define CQ_ONNX_OPS_ROWS_H

#include <stddef.h>

extern const char *const cq_onnx_rows_activation[];
extern const char *const cq_onnx_rows_math[];
extern const char *const cq_onnx_rows_tensor[];
extern const char *const cq_onnx_rows_reduce[];
extern const char *const cq_onnx_rows_nn[];
extern const char *const cq_onnx_rows_rnn[];
extern const char *const cq_onnx_rows_controlflow[];
extern const char *const cq_onnx_rows_sequence[];
extern const char *const cq_onnx_rows_quantize[];
extern const char *const cq_onnx_rows_logic[];
extern const char *const cq_onnx_rows_random[];
extern const char *const cq_onnx_rows_image[];
extern const char *const cq_onnx_rows_text[];
extern const char *const cq_onnx_rows_training[];
extern const char *const cq_onnx_rows_ml[];
extern const char *const cq_onnx_rows_microsoft[];
extern const char *const cq_onnx_rows_experimental[];

#endif
