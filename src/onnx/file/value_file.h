/* Files with one value: a tensor, a sequence, a map or an optional, as in the test data of ONNX.
 * The type is not in the file; it is that of the graph's input or output. */
#ifndef CQ_ONNX_FILE_VALUE_FILE_H
#define CQ_ONNX_FILE_VALUE_FILE_H

#include "onnx/model.h"
#include "tensor/value.h"

/* Sequences become lists, maps tuples of their keys and their values, an empty optional None. type
 * NULL: a tensor. Release *out. */
cq_status cq_onnx_value_load(cq_val *out, const char *path, const cq_onnx_type *type);

/* name may be NULL. An optional is written as one even when it is not empty. */
cq_status cq_onnx_value_save(cq_val v, const char *path, const char *name,
                             const cq_onnx_type *type);

#endif
