/* The evaluator: a source text is compiled, run on small tensors, and exported, traced and
 * scripted, under tight limits. Every run terminates soon, without leaks. */
#include <calque/script.h>

#include <stdlib.h>
#include <string.h>

enum { MAX_STEPS = 4000, MAX_BYTES = 4 << 20, MAX_OUTPUTS = 8 };

static cq_args *arguments(void)
{
    const float   x[2][3] = { { 1, -2, 3 }, { 0.5f, 0, -1 } };
    const int64_t n       = 2;
    cq_args      *args    = NULL;
    cq_tensor    *floats = NULL, *number = NULL;

    if (cq_args_new(&args) == CQ_OK &&
        cq_tensor_new(&floats, CQ_DTYPE_F32, 2, (const int64_t[]){ 2, 3 }, x) == CQ_OK &&
        cq_tensor_new(&number, CQ_DTYPE_I64, 0, NULL, &n) == CQ_OK) {
        cq_args_add_tensor(args, floats);
        cq_args_add_tensor(args, number);
        cq_args_add_i64(args, 3);
    }
    cq_tensor_release(floats);
    cq_tensor_release(number);
    return args;
}

static void run(cq_script *script, const cq_args *args)
{
    cq_tensor *outputs[MAX_OUTPUTS];
    size_t     n;

    if (cq_script_run(script, NULL, args, outputs, MAX_OUTPUTS, &n) != CQ_OK)
        return;
    for (size_t i = 0; i < n && i < MAX_OUTPUTS; i++)
        cq_tensor_release(outputs[i]);
}

static void export(cq_script *script, const cq_args *args, uint32_t flags)
{
    const cq_dynamic_axis axes[]  = { { "x", 0, "batch" } };
    const char *const     names[] = { "x" };
    cq_export_options     o;
    cq_onnx_model        *model;

    cq_export_options_init(&o);
    o.input_names    = names;
    o.n_input_names  = 1;
    o.dynamic_axes   = axes;
    o.n_dynamic_axes = 1;
    if (cq_script_export(&model, script, NULL, args, flags, &o) == CQ_OK)
        cq_onnx_model_free(model);
}

static void silent(void *user, const char *message, const char *where)
{
    (void)user;
    (void)message;
    (void)where;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char      *text = malloc(size + 1);
    cq_args   *args = arguments();
    cq_script *script;

    if (!text || !args)
        abort();
    cq_set_warning_handler(silent, NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    if (cq_script_compile(&script, text, "<fuzz>") == CQ_OK) {
        cq_script_set_limits(script, MAX_STEPS, MAX_BYTES);
        run(script, args);
        export(script, args, 0);
        export(script, args, CQ_SCRIPT_TRACE);
        cq_script_free(script);
    }
    cq_args_free(args);
    free(text);
    return 0;
}
