/* .pb files: tensors, sequences, optionals and texts, as the input of a model that takes anything.
 */
#include "scratch.h"

#include <calque/session.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const types[] = { "float", "string", "seq(float)", "optional(int64)" };
    const char              *path    = scratch_write("x.pb", data, size);
    cq_tensor               *t;

    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        char           text[256];
        cq_onnx_model *m;
        cq_onnx_value *v;

        snprintf(text, sizeof text,
                 "<ir_version: 8, opset_import: [\"\" : 17]>\ng (%s x) => (%s y) "
                 "{ y = Identity(x) }\n",
                 types[i], types[i]);
        if (cq_onnx_model_parse(&m, text, strlen(text), "<fuzz>") != CQ_OK)
            abort();
        if (cq_onnx_value_load_for(&v, path, m, CQ_ONNX_INPUTS, 0) == CQ_OK)
            cq_onnx_value_release(v);
        cq_onnx_model_free(m);
    }
    if (cq_tensor_load_pb(&t, path) == CQ_OK)
        cq_tensor_release(t);
    return 0;
}
