/* Files of symbolic functions: a small program is exported by them, or they are refused. */
#include <calque/script.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char program[] = "def forward(x):\n    return torch.relu(x) + mylib.scale(x, 2.)\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char             *text = malloc(size + 1);
    cq_tensor        *x    = NULL;
    cq_args          *args = NULL;
    cq_script        *s    = NULL;
    cq_onnx_model    *m    = NULL;
    cq_export_options o;

    if (!text || cq_tensor_new(&x, CQ_DTYPE_F32, 1, (const int64_t[]){ 2 }, NULL) != CQ_OK ||
        cq_args_new(&args) != CQ_OK || cq_args_add_tensor(args, x) != CQ_OK ||
        cq_script_compile(&s, program, "<fuzz>") != CQ_OK)
        abort();
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    cq_export_options_init(&o);
    o.symbolics = text;
    cq_script_set_limits(s, 4000, 4 << 20);
    if (cq_script_export(&m, s, "forward", args, 0, &o) == CQ_OK)
        cq_onnx_model_free(m);
    cq_script_free(s);
    cq_args_free(args);
    cq_tensor_release(x);
    free(text);
    return 0;
}
