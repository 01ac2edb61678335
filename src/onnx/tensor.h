/* Conversion between TensorProto and cq_tensor. cq_onnx_tensor_new in model.h builds a message that
 * refers to a tensor. */
#ifndef CQ_ONNX_TENSOR_H
#define CQ_ONNX_TENSOR_H

#include "onnx/model.h"
#include "tensor/text.h"

/* Converts a tensor message of m. The result is a read-only view of the file if the elements are
 * aligned there, and stays valid when m is freed. */
cq_status cq_onnx_tensor_to_tensor(cq_tensor **out, const cq_onnx_model *m,
                                   const cq_onnx_tensor *tensor);

/* The same for tensors of strings too, and for sparse tensors, which become dense. Release *out,
 * which is NONE on failure. */
cq_status cq_onnx_tensor_to_value(cq_val *out, const cq_onnx_model *m,
                                  const cq_onnx_tensor *tensor);
cq_status cq_onnx_sparse_to_value(cq_val *out, const cq_onnx_model *m,
                                  const cq_onnx_sparse_tensor *sparse);

/* The number of elements for dims, and their size in bytes in raw_data or an external file. Fails
 * for negative sizes, on overflow, and for types that are not plain bytes. */
cq_status cq_onnx_tensor_numel(int64_t *out, const cq_onnx_tensor *tensor);
cq_status cq_onnx_tensor_raw_size(size_t *out, const cq_onnx_tensor *tensor);

/* The name of a data type in onnx.proto, "FLOAT"; NULL if it is unknown. */
const char *cq_onnx_data_type_name(int32_t data_type);

/* The field for elements of a type that are not in raw_data, and the number of field items per
 * element. */
const char *cq_onnx_data_field_name(int32_t data_type);
unsigned    cq_onnx_numbers_per_element(int32_t data_type);

#endif
