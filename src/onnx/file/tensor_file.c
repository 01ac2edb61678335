/* TensorProto files, as in the test data of ONNX: input_0.pb. Files with other values are in
 * value_file.c, the .npy files of <calque/tensor.h> in tensor/npy.c. */
#include "onnx/file/value_file.h"

CQ_API cq_status cq_tensor_load_pb(cq_tensor **out, const char *path)
{
    CQ_NEED_OUT(out, path);
    cq_status status;
    cq_val    v;

    *out   = NULL;
    status = cq_onnx_value_load(&v, path, NULL);
    CQ_TRY(status);
    if (v.kind != CQ_VAL_TENSOR) {
        cq_val_release(v);
        return cq_fail(CQ_E_UNSUPPORTED, path, NULL, "expected a tensor of numbers, got strings");
    }
    *out = v.u.tensor; /* takes the reference */
    return CQ_OK;
}

CQ_API cq_status cq_tensor_save_pb(const cq_tensor *t, const char *path, const char *name)
{
    CQ_NEED(t && path);
    return cq_onnx_value_save(cq_val_of_tensor(t), path, name, NULL);
}
