/* A session of any model: it is rejected, or it runs on inputs of zeros, within a budget of steps
 * and memory. It is prepared once and run twice, because a run leaves its workspace to the next. */
#include <calque/session.h>
#include <calque/threads.h>

#include <stdint.h>
#include <stdlib.h>

enum { MAX_MEMORY = 16 << 20, MAX_STEPS = 2000, MAX_ELEMENTS = 1 << 12, MAX_INPUTS = 32 };

/* Zeros with the sizes that the model gives its input; a size that is not known is 2. */
static cq_onnx_value *make_input(const cq_onnx_model *m, size_t i)
{
    cq_dtype       dtype = cq_onnx_model_value_dtype(m, CQ_ONNX_INPUTS, i);
    int            rank  = cq_onnx_model_value_rank(m, CQ_ONNX_INPUTS, i);
    int64_t        sizes[CQ_MAX_RANK], n = 1;
    cq_onnx_value *value = NULL;
    cq_tensor     *t;

    if (dtype == CQ_DTYPE_NONE || rank > CQ_MAX_RANK)
        return NULL;
    for (int k = 0; k < rank; k++) {
        sizes[k] = cq_onnx_model_value_size(m, CQ_ONNX_INPUTS, i, (size_t)k);
        sizes[k] = sizes[k] < 0 ? 2 : sizes[k];
        if (sizes[k] > MAX_ELEMENTS || (n *= sizes[k]) > MAX_ELEMENTS)
            return NULL;
    }
    if (cq_tensor_new(&t, dtype, rank < 0 ? 0 : (size_t)rank, sizes, NULL) != CQ_OK)
        return NULL;
    (void)cq_onnx_value_new_tensor(&value, t);
    cq_tensor_release(t);
    return value;
}

static void run(const cq_session *s, cq_onnx_value *const *inputs, size_t n)
{
    size_t          n_out = cq_session_n_outputs(s);
    cq_onnx_value **out   = calloc(n_out + 1, sizeof *out);

    if (out && cq_session_run(s, NULL, inputs, n, out) == CQ_OK)
        for (size_t i = 0; i < n_out; i++)
            cq_onnx_value_release(out[i]);
    free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cq_onnx_value     *inputs[MAX_INPUTS] = { NULL };
    cq_session_options options;
    cq_session        *s;
    size_t             n;

    cq_session_options_init(&options);
    options.max_memory = MAX_MEMORY;
    options.max_steps  = MAX_STEPS;
    cq_set_threads(1);
    if (cq_session_prepare_bytes(&s, data, size, &options) != CQ_OK)
        return 0;
    n = cq_session_n_inputs(s);
    n = n < MAX_INPUTS ? n : MAX_INPUTS;
    for (size_t i = 0; i < n; i++)
        inputs[i] = make_input(cq_session_model(s), i);
    run(s, inputs, n);
    run(s, inputs, n);
    for (size_t i = 0; i < n; i++)
        cq_onnx_value_release(inputs[i]);
    cq_session_free(s);
    return 0;
}
