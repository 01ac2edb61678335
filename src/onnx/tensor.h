/* TensorProto and cq_tensor, both ways. Building a message that refers to a tensor is
 * cq_onnx_tensor_new in model.h. */
#ifndef CQ_ONNX_TENSOR_H
#define CQ_ONNX_TENSOR_H

#include "onnx/model.h"
#include "tensor/text.h"

/* A tensor with the elements of a message of m. It is a view of the file if they are aligned there,
 * and stays valid when m is freed. A view is read-only. */
cq_status cq_onnx_tensor_to_tensor(cq_tensor **out, const cq_onnx_model *m,
                                   const cq_onnx_tensor *tensor);

/* The same for tensors of strings as well, and for sparse ones, which become dense. Release
 * *out, which is NONE on failure. */
cq_status cq_onnx_tensor_to_value(cq_val *out, const cq_onnx_model *m,
                                  const cq_onnx_tensor *tensor);
cq_status cq_onnx_sparse_to_value(cq_val *out, const cq_onnx_model *m,
                                  const cq_onnx_sparse_tensor *sparse);

/* Elements that dims make, and the bytes they take in raw_data or an external file.
 * Negative sizes, overflow, and types that are not plain bytes are refused. */
cq_status cq_onnx_tensor_numel(int64_t *out, const cq_onnx_tensor *tensor);
cq_status cq_onnx_tensor_raw_size(size_t *out, const cq_onnx_tensor *tensor);

/* The name of a data type in onnx.proto, "FLOAT"; NULL if it is unknown. */
const char *cq_onnx_data_type_name(int32_t data_type);

/* Where elements of a type are when not in raw_data, and numbers there to an element. */
const char *cq_onnx_data_field_name(int32_t data_type);
unsigned    cq_onnx_numbers_per_element(int32_t data_type);

#endif
