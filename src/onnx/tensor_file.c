/* TensorProto files, as in the test data of ONNX: input_0.pb. The .npy files of
 * <calque/tensor.h> are in tensor/npy.c. */
#include "onnx/model.h"
#include "onnx/tensor.h"
#include "onnx/wire.h"

#include <string.h>

CQ_API cq_status cq_tensor_load_pb(cq_tensor **out, const char *path)
{
    cq_onnx_tensor message = { 0 };
    cq_onnx_model *m       = NULL;
    cq_mapping    *file    = NULL;
    cq_status      status;

    *out = NULL;
    CQ_TRY_OR_DONE(cq_mapping_open(&file, path));
    CQ_TRY_OR_DONE(cq_onnx_model_new(&m, NULL));
    CQ_TRY_OR_DONE(cq_storage_map(&m->source, file, 0, cq_mapping_size(file)));
    CQ_TRY_OR_DONE(cq_onnx_decode(m, &cq_onnx_tensor_message, &message, cq_mapping_data(file),
                                  cq_mapping_size(file), path));
    CQ_TRY_OR_DONE(cq_onnx_tensor_to_tensor(out, m, &message));
done:
    cq_onnx_model_free(m);
    cq_mapping_release(file);
    return status == CQ_OK ? CQ_OK : cq_error_add_where(status, "%s", path);
}

CQ_API cq_status cq_tensor_save_pb(const cq_tensor *t, const char *path, const char *name)
{
    cq_onnx_encoding *e = NULL;
    cq_onnx_model    *m = NULL;
    cq_onnx_tensor   *message;
    cq_out           *out;
    cq_status         status;

    CQ_TRY_OR_DONE(cq_onnx_model_new(&m, NULL));
    message = cq_onnx_tensor_new(m, name, (cq_tensor *)t);
    CQ_TRY_OR_DONE(m->status);
    CQ_TRY_OR_DONE(cq_onnx_encoding_new(&e, &cq_onnx_tensor_message, message, NULL));
    CQ_TRY_OR_DONE(cq_out_open(&out, path));
    cq_onnx_encoding_write(e, out);
    status = cq_out_commit(out);
done:
    cq_onnx_encoding_free(e);
    cq_onnx_model_free(m);
    return status == CQ_OK ? CQ_OK : cq_error_add_where(status, "%s", path);
}
