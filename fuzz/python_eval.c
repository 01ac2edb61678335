/* Python source: a text is evaluated as a model file, whose entry is run and exported, and as a
 * script (calque py) with its host. Limits are tight, and nothing may be written. A text without an
 * import is TorchScript, which script_eval.c covers, so one is put in front of it. */
#include <calque/script.h>
#include <calque/status.h>

#include <stdlib.h>
#include <string.h>

enum { MAX_STEPS = 400000, MAX_BYTES = 64 << 20, MAX_OUTPUTS = 8 };

static const char import[] = "import torch\n";

static void silent(void *user, const char *message, const char *where)
{
    (void)user;
    (void)message;
    (void)where;
}

static void export_and_run(cq_script *script, uint32_t flags)
{
    const float    x[2][3] = { { 1, -2, 3 }, { 0.5f, 0, -1 } };
    cq_onnx_model *model   = NULL;
    cq_tensor     *t = NULL, *outputs[MAX_OUTPUTS] = { 0 };
    cq_args       *args = NULL;
    size_t         n    = 0;

    if (cq_args_new(&args) != CQ_OK ||
        cq_tensor_new(&t, CQ_DTYPE_F32, 2, (const int64_t[]){ 2, 3 }, x) != CQ_OK)
        abort();
    cq_args_add_tensor(args, t);
    if (cq_script_export(&model, script, NULL, args, flags, NULL) == CQ_OK)
        cq_onnx_model_free(model);
    if (cq_script_run(script, NULL, args, outputs, MAX_OUTPUTS, &n) == CQ_OK)
        for (size_t i = 0; i < n && i < MAX_OUTPUTS; i++)
            cq_tensor_release(outputs[i]);
    cq_tensor_release(t);
    cq_args_free(args);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const size_t len  = sizeof import - 1 + size;
    char        *text = malloc(len + 1);
    cq_script   *script;

    if (!text)
        abort();
    cq_set_warning_handler(silent, NULL);
    cq_limit_outputs(0, 0);
    strcpy(text, import);
    memcpy(text + sizeof import - 1, data, size);
    text[len] = '\0';
    for (int as_script = 0; as_script < 2; as_script++) {
        if (cq_script_load_bytes(&script, text, len, "fuzz.py", NULL, NULL) != CQ_OK)
            continue;
        cq_script_set_limits(script, MAX_STEPS, MAX_BYTES);
        if (as_script)
            (void)cq_script_run_main(script, NULL, 0);
        else if (cq_script_make(script, NULL) == CQ_OK)
            export_and_run(script, size % 2 ? CQ_SCRIPT_TRACE : 0);
        cq_script_free(script);
    }
    free(text);
    return 0;
}
