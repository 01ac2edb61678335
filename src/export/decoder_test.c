/* A deployed language model: with past keys and values as inputs and outputs, it continues a prompt
 * token by token as PyTorch did (tests/data/pt2/decoder.214.*, which
 * tests/modern/language_models.py made with a small Llama). */
#include "onnx/model.h"
#include "test.h"

#include <calque/pt2.h>
#include <calque/session.h>

#define FILE_OF(what) CQ_TEST_DATA "/pt2/decoder.214." what

enum { BATCH = 2, HEADS = 2, HEAD_SIZE = 4, IDS = 0, MASK, POSITIONS, PAST, N_INPUTS = PAST + 2 };

static cq_tensor *numbers(int64_t rows, int64_t columns, int64_t first, int64_t step)
{
    cq_tensor *t;

    CHECK_OK(cq_tensor_new(&t, CQ_DTYPE_I64, 2, (const int64_t[]){ rows, columns }, NULL));
    for (int64_t i = 0; i < rows * columns; i++)
        ((int64_t *)cq_tensor_data(t))[i] = first + step * (i % columns);
    return t;
}

/* The greatest of the last logits of each row. */
static cq_tensor *choose(const cq_tensor *logits)
{
    const int64_t length = cq_tensor_size(logits, 1), n = cq_tensor_size(logits, 2);
    cq_tensor    *ids = numbers(BATCH, 1, 0, 0);

    for (int64_t b = 0; b < BATCH; b++) {
        const int64_t at   = (b * length + length - 1) * n;
        int64_t       best = 0;

        for (int64_t i = 1; i < n; i++)
            if (cq_tensor_get_f64(logits, at + i) > cq_tensor_get_f64(logits, at + best))
                best = i;
        ((int64_t *)cq_tensor_data(ids))[b] = best;
    }
    return ids;
}

static cq_session *prepare(cq_onnx_model **model, int opset)
{
    cq_pt2           *p;
    cq_export_options options;
    cq_session       *session;
    const char       *names[8];
    size_t            n = 0;

    CHECK_OK(cq_pt2_load(&p, FILE_OF("pt2"), NULL));
    CHECK_STATUS(CQ_E_ARGUMENT, cq_pt2_name_as(p, "nonsense"));
    CHECK_OK(cq_pt2_name_as(p, "hf"));
    for (; n < 8 && cq_pt2_output_name(p, n); n++)
        names[n] = cq_pt2_output_name(p, n);
    cq_export_options_init(&options);
    options.opset          = opset;
    options.output_names   = names;
    options.n_output_names = n;
    CHECK_OK(cq_pt2_export(model, p, NULL, 0, &options));
    CHECK_OK(cq_session_prepare(&session, *model, NULL));
    cq_pt2_free(p);
    return session;
}

TEST(decoder, inputs_and_outputs_have_hugging_face_names)
{
    static const char *const inputs[]  = { "input_ids", "attention_mask", "position_ids",
                                           "past_key_values.0.key", "past_key_values.0.value" };
    static const char *const outputs[] = { "logits", "present.0.key", "present.0.value" };
    cq_onnx_model           *model;
    cq_session              *s = prepare(&model, CQ_PT2_OPSET_DEFAULT);

    CHECK_INT(5, cq_session_n_inputs(s));
    for (size_t i = 0; i < 5; i++)
        CHECK_STR(inputs[i], cq_session_input_name(s, i));
    CHECK_INT(3, cq_session_n_outputs(s));
    for (size_t i = 0; i < 3; i++)
        CHECK_STR(outputs[i], cq_session_output_name(s, i));
    cq_session_free(s);
    cq_onnx_model_free(model);
}

static size_t count_ops(const cq_onnx_model *m, const char *op)
{
    size_t n = 0;

    for (size_t i = 0; i < m->graph->node.n; i++)
        n += strcmp(m->graph->node.items[i]->op_type, op) == 0;
    return n;
}

static void check_tokens(int opset, size_t n_fused)
{
    cq_onnx_model *model;
    cq_session    *session = prepare(&model, opset);
    cq_tensor     *in[N_INPUTS], *chosen;
    int64_t        seen = 0;

    CHECK_INT(n_fused, count_ops(model, "Attention"));
    CHECK_INT(2 * n_fused, count_ops(model, "RotaryEmbedding"));
    CHECK_INT(3 * n_fused, count_ops(model, "RMSNormalization"));
    CHECK_OK(cq_tensor_load_npy(&in[IDS], FILE_OF("prompt.npy")));
    CHECK_OK(cq_tensor_load_npy(&chosen, FILE_OF("chosen.npy")));
    for (size_t i = PAST; i < N_INPUTS; i++)
        CHECK_OK(cq_tensor_new(&in[i], CQ_DTYPE_F32, 4,
                               (const int64_t[]){ BATCH, HEADS, 0, HEAD_SIZE }, NULL));
    for (int64_t step = 0; step < cq_tensor_size(chosen, 0); step++) {
        const int64_t length = cq_tensor_size(in[IDS], 1);
        cq_tensor    *out[3];

        in[MASK]      = numbers(BATCH, seen + length, 1, 0);
        in[POSITIONS] = numbers(BATCH, length, seen, 1);
        CHECK_OK(cq_session_run_tensors(session, in, N_INPUTS, out, 3));
        for (size_t i = 0; i < N_INPUTS; i++)
            cq_tensor_release(in[i]);
        in[IDS]      = choose(out[0]);
        in[PAST]     = out[1];
        in[PAST + 1] = out[2];
        cq_tensor_release(out[0]);
        seen += length;
        for (int64_t b = 0; b < BATCH; b++)
            CHECK_INT((int64_t)cq_tensor_get_f64(chosen, step * BATCH + b),
                      (int64_t)cq_tensor_get_f64(in[IDS], b));
    }
    CHECK_INT(54, seen);
    cq_tensor_release(in[IDS]);
    cq_tensor_release(in[PAST]);
    cq_tensor_release(in[PAST + 1]);
    cq_tensor_release(chosen);
    cq_session_free(session);
    cq_onnx_model_free(model);
}

TEST(decoder, chooses_the_tokens_that_pytorch_chooses)
{
    check_tokens(CQ_PT2_OPSET_DEFAULT, 0);
}

TEST(decoder, opset_23_has_one_node_per_layer_and_chooses_the_same_tokens)
{
    check_tokens(23, 1);
}

RUN_TESTS(TEST_OF(decoder, inputs_and_outputs_have_hugging_face_names),
          TEST_OF(decoder, chooses_the_tokens_that_pytorch_chooses),
          TEST_OF(decoder, opset_23_has_one_node_per_layer_and_chooses_the_same_tokens))
