/* Files with one value: a tensor, a sequence, a map or an optional, as in the test data of ONNX.
 * The file does not contain the type, which is that of the graph's input or output. */
#ifndef CQ_ONNX_FILE_VALUE_FILE_H
#define CQ_ONNX_FILE_VALUE_FILE_H

#include "onnx/model.h"
#include "tensor/value.h"

/* Sequences become lists, maps become tuples of keys and values, an empty optional becomes None.
 * type NULL: a tensor. Release *out. */
cq_status cq_onnx_value_load(cq_val *out, const char *path, const cq_onnx_type *type);

/* name may be NULL. For an optional type, an OptionalProto is written even if the value is not
 * empty. */
cq_status cq_onnx_value_save(cq_val v, const char *path, const char *name,
                             const cq_onnx_type *type);

#endif
