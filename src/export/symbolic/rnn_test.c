/* Packed sequences through a recurrent layer; tests/peer/ops_export.py compares the cells with
 * PyTorch. */
#include "export/exporter.h"
#include "test.h"

enum { STEPS = 4, BATCH = 2, SIZE = 3 };

static cq_tensor *filled(cq_ctx *cx, cq_dtype dtype, size_t rank, const int64_t *sizes)
{
    cq_tensor *t = NULL;

    CHECK_OK(cq_tensor_new(&t, dtype, rank, sizes, NULL));
    return cq_ctx_own_tensor(cx, t);
}

/* pack, gru, pad on a batch of lengths 4 and 2; `between` is called on the packed data. */
static cq_status export_packed(cq_onnx_model **out, const char *between)
{
    cq_ctx           *cx;
    cq_capture       *cap;
    cq_tensor        *x, *lengths, *h0, *w, *b, *packed[2], *run[2], *padded[2];
    cq_export_options options;
    cq_status         status;

    CHECK_OK(cq_ctx_new(&cx));
    CHECK_OK(cq_capture_new(&cap));
    x       = filled(cx, CQ_DTYPE_F32, 3, (int64_t[]){ STEPS, BATCH, SIZE });
    lengths = filled(cx, CQ_DTYPE_I64, 1, (int64_t[]){ BATCH });
    h0      = filled(cx, CQ_DTYPE_F32, 3, (int64_t[]){ 1, BATCH, SIZE });
    w       = filled(cx, CQ_DTYPE_F32, 2, (int64_t[]){ 3 * SIZE, SIZE });
    b       = filled(cx, CQ_DTYPE_F32, 1, (int64_t[]){ 3 * SIZE });
    memcpy(cq_tensor_data(lengths), (int64_t[]){ 4, 2 }, 2 * sizeof(int64_t));

    cq_capture_start(cap, cx);
    x       = cq_capture_input(cap, cx, x, "x", NULL);
    lengths = cq_capture_input(cap, cx, lengths, "lengths", NULL);
    cq_op_tensors(cx, "aten::_pack_padded_sequence",
                  (cq_val[]){ TENSOR(x), TENSOR(lengths), BOOL(false) }, 3, packed, 2);
    if (between)
        packed[0] = cq_op_tensor(cx, between, (cq_val[]){ TENSOR(packed[0]) }, 1);
    cq_op_tensors(cx, "aten::gru.data",
                  (cq_val[]){ TENSOR(packed[0]), TENSOR(packed[1]), TENSOR(h0),
                              cq_tensors(cx, (cq_tensor *[]){ w, w, b, b }, 4), BOOL(true), INT(1),
                              FLOAT(0), BOOL(false), BOOL(false) },
                  9, run, 2);
    cq_op_tensors(cx, "aten::_pad_packed_sequence",
                  (cq_val[]){ TENSOR(run[0]), TENSOR(packed[1]), BOOL(true), FLOAT(0), INT(0) }, 5,
                  padded, 2);
    cq_capture_output(cap, cx, padded[0]);
    cq_capture_stop(cap, cx);
    CHECK_OK(cq_ctx_status(cx));

    cq_export_options_init(&options);
    options.opset = 13;
    status        = cq_export_graph(out, cap->graph, &options);
    cq_capture_free(cap);
    cq_ctx_free(cx);
    return status;
}

TEST(packed, sequences_become_padded_ones_with_lengths)
{
    cq_onnx_model *model = NULL;
    size_t         n_gru = 0;

    CHECK_OK(export_packed(&model, NULL));
    for (size_t i = 0; i < model->graph->node.n; i++) {
        const cq_onnx_node *node = model->graph->node.items[i];

        if (strcmp(node->op_type, "GRU") != 0)
            continue;
        n_gru++;
        CHECK_STR("x", node->input.items[0]);
        CHECK(node->input.items[4][0] != 0); /* sequence_lens */
    }
    CHECK_INT(1, n_gru);
    cq_onnx_model_free(model);
}

TEST(packed, sequences_that_others_read_are_refused)
{
    cq_onnx_model *model = NULL;

    CHECK_STATUS(CQ_E_UNSUPPORTED, export_packed(&model, "aten::sin"));
    CHECK(strstr(cq_last_error()->message, "only recurrent layers may read packed"));
    CHECK(model == NULL);
}

RUN_TESTS(TEST_OF(packed, sequences_become_padded_ones_with_lengths),
          TEST_OF(packed, sequences_that_others_read_are_refused))
