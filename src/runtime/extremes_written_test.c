/* Like extremes_test.c, for nodes that need several matching numbers, so that random generation
 * does not find them. They are written by hand, and their numbers are changed one at a time. */
#define _XOPEN_SOURCE 700 /* alarm, fork */
#include "extremes.h"

#include "base/str.h"

/* The declarations of a graph, and its nodes; the last node computes y. Numbers after ~ are
 * changed. */
typedef struct written {
    const char *op, *constants, *nodes;
} written;

#define ML           "ai.onnx.ml."
#define FOUR_BY_FOUR "float[1,1,4,4] x = {1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16}"

static const written examples[] = {
    { "STFT", "float[1,8,1] x = {1,2,3,4,5,6,7,8}, int64 s = {~2}, int64 l = {~4}",
      "y = STFT <onesided = ~1> (x, s, , l)" },
    { "STFT", "float[1,8,1] x = {1,2,3,4,5,6,7,8}, int32 s = {~2}, float[4] w = {~1.0, 1, 1, 1}",
      "y = STFT (x, s, w)" },
    { "OneHot", "int64[3] i = {~0, 1, ~2}, int64 d = {~3}, float[2] v = {0, 1}",
      "y = OneHot <axis = ~1> (i, d, v)" },
    { "OneHot", "float[3] i = {~0.0, 1, 2}, float d = {~3.0}, int64[2] v = {~0, ~1}",
      "y = OneHot (i, d, v)" },
    { "DeformConv",
      FOUR_BY_FOUR ", float[1,1,2,2] w = {1,1,1,1}, float[1,8,3,3] o = {~0.5, ~0.5, 0,0,0,0,0,0,0, "
                   "0,0,0,0,0,0,0,0,0, 0,0,0,0,0,0,0,0,0, 0,0,0,0,0,0,0,0,0, 0,0,0,0,0,0,0,0,0, "
                   "0,0,0,0,0,0,0,0,0, 0,0,0,0,0,0,0,0,0, 0,0,0,0,0,0,0,0,0}",
      "y = DeformConv <kernel_shape = [~2, ~2], pads = [~0, ~0, ~0, ~0], strides = [~1, 1], "
      "dilations = [~1, 1], group = ~1, offset_group = ~1> (x, w, o)" },
    { "QLinearConv",
      "uint8[1,1,3,3] x = {1,2,3,4,5,6,7,8,9}, float s = {~0.5}, uint8 z = {~1}, "
      "uint8[1,1,2,2] w = {1,2,3,4}, int32[1] b = {~7}",
      "y = QLinearConv <kernel_shape = [~2, ~2], pads = [~0, ~1, ~0, ~1], strides = [~1, ~1], "
      "dilations = [~1, ~1], group = ~1> (x, s, z, w, s, z, s, z, b)" },
    { "BitShift", "uint64[2] a = {~1, 2}, uint64[2] b = {~3, ~1}",
      "y = BitShift <direction = \"LEFT\"> (a, b)" },
    { "BitShift", "uint8[2] a = {~1, 2}, uint8[2] b = {~3, ~1}",
      "y = BitShift <direction = \"RIGHT\"> (a, b)" },
    { "MaxRoiPool", FOUR_BY_FOUR ", float[1,5] r = {~0.0, ~0.0, ~0.0, ~3.0, ~3.0}",
      "y = MaxRoiPool <pooled_shape = [~2, ~2], spatial_scale = ~1.0> (x, r)" },
    { "RoiAlign", FOUR_BY_FOUR ", float[1,4] r = {~0.0, ~0.0, ~3.0, ~3.0}, int64[1] i = {~0}",
      "y = RoiAlign <output_height = ~2, output_width = ~2, sampling_ratio = ~2, "
      "spatial_scale = ~1.0> (x, r, i)" },
    { "Resize", FOUR_BY_FOUR ", int64[2] s = {~2, ~3}",
      "y = Resize <axes = [~2, ~3], mode = \"cubic\", antialias = ~1> (x, , , s)" },
    { "Resize", FOUR_BY_FOUR ", float[4] s = {~1.0, 1, ~2.0, ~0.5}",
      "y = Resize <mode = \"linear\", coordinate_transformation_mode = \"align_corners\"> (x, , "
      "s)" },
    { "Resize",
      FOUR_BY_FOUR ", float[4] s = {~1.0, 1, ~2.0, ~0.5}, "
                   "float[8] r = {~0.0, 0, ~0.0, 0, ~1.0, 1, ~0.5, 1}",
      "y = Resize <mode = \"nearest\", coordinate_transformation_mode = \"tf_crop_and_resize\"> "
      "(x, r, s)" },
    { "GridSample", FOUR_BY_FOUR ", float[1,1,2,2] g = {~0.5, ~0.0, ~-1.0, 1}",
      "y = GridSample <mode = \"cubic\", padding_mode = \"reflection\", align_corners = ~1> (x, "
      "g)" },
    { "GridSample", FOUR_BY_FOUR ", float[1,1,2,2] g = {~0.5, ~0.0, ~-1.0, 1}",
      "y = GridSample <mode = \"nearest\", padding_mode = \"border\"> (x, g)" },
    { "AffineGrid", "float[1,2,3] t = {~1.0, 0, 0, 0, ~1.0, 0}, int64[4] s = {~1, ~1, ~2, ~3}",
      "y = AffineGrid <align_corners = ~1> (t, s)" },
    { "ConvTranspose", FOUR_BY_FOUR ", float[1,1,2,2] w = {1, 2, 3, 4}",
      "y = ConvTranspose <output_shape = [~9, ~9], strides = [~2, ~2], output_padding = [~0, ~1], "
      "dilations = [~1, 1], group = ~1> (x, w)" },
    { "ConvTranspose", FOUR_BY_FOUR ", float[1,1,2,2] w = {1, 2, 3, 4}",
      "y = ConvTranspose <pads = [~1, ~1, ~0, ~0], strides = [~2, ~2], output_padding = [~0, ~1]> "
      "(x, w)" },
    { "Col2Im",
      "float[1,4,4] x = {1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16}, int64[2] i = {~3, ~3}, "
      "int64[2] b = {~2, ~2}",
      "y = Col2Im <dilations = [~1, ~1], pads = [~0, ~0, ~0, ~0], strides = [~1, ~1]> (x, i, b)" },
    { "MaxUnpool",
      "float[1,1,2,2] x = {1, 2, 3, 4}, int64[1,1,2,2] i = {~0, ~3, 5, ~15}, "
      "int64[4] s = {~1, ~1, ~4, ~4}",
      "y = MaxUnpool <kernel_shape = [~2, ~2], strides = [~2, ~2], pads = [~0, 0, ~0, 0]> (x, i, "
      "s)" },
    { "NonMaxSuppression",
      "float[1,2,4] b = {~0.0, 0, ~1.0, 1, 0, 0, ~1.0, 2}, float[1,1,2] s = {~0.5, 0.25}, "
      "int64 n = {~2}, float i = {~0.5}, float t = {~0.0}",
      "y = NonMaxSuppression <center_point_box = ~0> (b, s, n, i, t)" },
    { "Slice",
      FOUR_BY_FOUR ", int64[2] a = {~0, ~1}, int64[2] b = {~3, ~4}, int64[2] c = {~2, ~-1}, "
                   "int64[2] d = {~1, ~-2}",
      "y = Slice (x, a, b, c, d)" },
    { "Range", "int64 a = {~0}, int64 b = {~9}, int64 c = {~2}", "y = Range (a, b, c)" },
    { "Range", "float a = {~0.0}, float b = {~9.0}, float c = {~2.0}", "y = Range (a, b, c)" },
    { "CenterCropPad", FOUR_BY_FOUR ", int64[2] s = {~3, ~6}",
      "y = CenterCropPad <axes = [~2, ~-1]> (x, s)" },
    { "ReverseSequence", "float[2,2] x = {1, 2, 3, 4}, int64[2] l = {~1, ~2}",
      "y = ReverseSequence <batch_axis = ~1, time_axis = ~0> (x, l)" },
    { "ScatterND", "float[4] x = {1, 2, 3, 4}, int64[2,1] i = {~1, ~-2}, float[2] u = {5, 6}",
      "y = ScatterND (x, i, u)" },
    { "GatherND", "int64[2,2] x = {1, 2, 3, 4}, int64[2,1] i = {~1, ~-2}",
      "y = GatherND <batch_dims = ~0> (x, i)" },
    { "TopK", "int64[4] x = {~1, ~2, 3, 4}, int64[1] k = {~2}",
      "y, i = TopK <axis = ~0, largest = ~1, sorted = ~1> (x, k)" },
    { "Loop", "int64 n = {~3}, bool c = {1}, float[1] x = {1}",
      "y = Loop (n, c, x) <body = b (int64 i, bool d, float[1] u) => (bool d2, float[1] v) "
      "{ d2 = Identity (d) v = Add (u, u) }>" },
    { "Scan", "float[3,2] x = {1, 2, 3, 4, 5, 6}, float[2] s = {0, 0}",
      "t, y = Scan <num_scan_inputs = ~1, scan_input_axes = [~0], scan_output_axes = [~0], "
      "scan_input_directions = [~0], body = b (float[2] p, float[2] q) => (float[2] r, float[2] o) "
      "{ r = Add (p, q) o = Identity (r) }> (s, x)" },
    { "SplitToSequence", "float[4] x = {1, 2, 3, 4}, int64 k = {~2}, int64 at = {~0}",
      "q = SplitToSequence <axis = ~0, keepdims = ~1> (x, k) y = SequenceAt (q, at)" },
    { "SequenceErase", "float[4] x = {1, 2, 3, 4}, int64 at = {~0}, int64 to = {~1}",
      "q = SequenceConstruct (x, x) p = SequenceErase (q, at) o = SequenceInsert (p, x, to) "
      "y = ConcatFromSequence <axis = ~0, new_axis = ~0> (o)" },
    { "Attention", "float[1,2,8] q = {1,2,3,4,5,6,7,8,1,2,3,4,5,6,7,8}",
      "y = Attention <q_num_heads = ~2, kv_num_heads = ~2, is_causal = ~1, "
      "qk_matmul_output_mode = ~0, softmax_precision = ~1, softcap = ~1.0> (q, q, q)" },
    { "LinearAttention", "float[1,2,8] q = {1,2,3,4,5,6,7,8,1,2,3,4,5,6,7,8}",
      "y, s = LinearAttention <q_num_heads = ~2, kv_num_heads = ~2, chunk_size = ~64, "
      "scale = ~1.0, update_rule = \"linear\"> (q, q, q)" },
    { "CausalConvWithState", "float[1,2,2] x = {~1, 2, 3, 4}, float[2,1,2] w = {~1, 1, 1, 1}",
      "y, s = CausalConvWithState (x, w)" },
    { "RotaryEmbedding",
      "float[1,2,8] x = {1,2,3,4,5,6,7,8,1,2,3,4,5,6,7,8}, "
      "float[4,2] c = {1,1,1,1,1,1,1,1}, int64[1,2] p = {~0, ~1}",
      "y = RotaryEmbedding <num_heads = ~2, rotary_embedding_dim = ~0, interleaved = ~0> (x, c, c, "
      "p)" },
    { "LSTM",
      "float[2,1,2] x = {1, 2, 3, 4}, "
      "float[1,4,2] w = {1,1,1,1,1,1,1,1}, float[1,4,1] r = {1,1,1,1}, int32[1] l = {~2}",
      "a, y = LSTM <hidden_size = ~1, layout = ~0, clip = ~1.0, input_forget = ~0> (x, w, r, , "
      "l)" },
    { "GRU",
      "float[2,1,2] x = {1, 2, 3, 4}, "
      "float[1,3,2] w = {1,1,1,1,1,1}, float[1,3,1] r = {1,1,1}, int32[1] l = {~2}",
      "a, y = GRU <hidden_size = ~1, linear_before_reset = ~1> (x, w, r, , l)" },
    { "TfIdfVectorizer", "int64[5] x = {~1, ~2, 3, 4, 5}",
      "y = TfIdfVectorizer <max_gram_length = ~2, max_skip_count = ~1, min_gram_length = ~1, "
      "mode = \"TF\", ngram_counts = [~0, ~2], ngram_indexes = [~0, ~1, ~2], "
      "pool_int64s = [1, 2, ~3, 4]> (x)" },
    { "TreeEnsembleRegressor", "float[2,2] x = {1, 2, 3, 4}",
      "y = " ML "TreeEnsembleRegressor <n_targets = ~1, nodes_treeids = [~0, ~0, 0], "
      "nodes_nodeids = [~0, ~1, 2], nodes_featureids = [~1, 0, 0], nodes_values = [~1.5, 0.0, "
      "0.0], "
      "nodes_modes = [\"BRANCH_LEQ\", \"LEAF\", \"LEAF\"], nodes_truenodeids = [~1, 0, 0], "
      "nodes_falsenodeids = [~2, 0, 0], target_treeids = [~0, 0], target_nodeids = [~1, 2], "
      "target_ids = [~0, ~0], target_weights = [~1.0, 2.0]> (x)" },
    { "TreeEnsembleClassifier", "float[2,2] x = {1, 2, 3, 4}",
      "y, z = " ML
      "TreeEnsembleClassifier <classlabels_int64s = [~0, ~1], nodes_treeids = [~0, ~0, 0], "
      "nodes_nodeids = [~0, ~1, 2], nodes_featureids = [~1, 0, 0], nodes_values = [~1.5, 0.0, "
      "0.0], "
      "nodes_modes = [\"BRANCH_LEQ\", \"LEAF\", \"LEAF\"], nodes_truenodeids = [~1, 0, 0], "
      "nodes_falsenodeids = [~2, 0, 0], class_treeids = [~0, 0], class_nodeids = [~1, 2], "
      "class_ids = [~0, ~1], class_weights = [~1.0, 2.0]> (x)" },
    { "TreeEnsemble", "float[2,2] x = {1, 2, 3, 4}",
      "y = " ML "TreeEnsemble <n_targets = ~1, aggregate_function = ~1, post_transform = ~0, "
      "leaf_targetids = [~0, ~0], leaf_weights = float[2] {~1.0, 2}, nodes_falseleafs = [~1], "
      "nodes_falsenodeids = [~1], nodes_featureids = [~1], nodes_modes = uint8[1] {~0}, "
      "nodes_splits = float[1] {~1.5}, nodes_trueleafs = [~1], nodes_truenodeids = [~0], "
      "tree_roots = [~0]> (x)" },
};

/* Copies text without its marks, and with marked number *at replaced; false if there are fewer. */
static bool write_with(cq_str *out, const char *text, size_t *at, size_t value)
{
    bool found = false;

    for (; *text; text++) {
        size_t n;

        if (*text != '~') {
            cq_str_add_char(out, *text);
            continue;
        }
        n = strspn(text + 1, "-.0123456789");
        if ((*at)-- != 0)
            continue;
        found = true;
        if (memchr(text, '.', n + 1))
            cq_str_printf(out, "%.9g",
                          value < 2 ? 3e38 * (double)(1 - 2 * (int)value) : odd[value % N_ODD]);
        else
            cq_str_printf(out, "%lld", (long long)ends[value]);
        text += n;
    }
    return found;
}

/* Whether there are at least that many marked numbers. */
static bool run_written(cq_status *status, const written *w, size_t at, size_t value)
{
    const double   begin = extremes_now();
    cq_str         text  = { 0 };
    cq_onnx_model *m     = NULL;
    bool           found;

    cq_str_printf(&text,
                  "<ir_version: 13, opset_import: [\"\" : 28, \"ai.onnx.ml\" : %d]> g () => (y) <",
                  strcmp(w->op, "TreeEnsemble") == 0 ? 5 : 3 /* the row of the older versions */);
    found = write_with(&text, w->constants, &at, value);
    cq_str_add(&text, "> {\n");
    found |= write_with(&text, w->nodes, &at, value);
    cq_str_add(&text, "\n}\n");
    CHECK_OK(text.status);
    *status = cq_onnx_model_parse(&m, text.text, text.len, w->op);
    if (*status == CQ_OK)
        *status = extremes_run(m, NULL, 0);
    if (*status == CQ_OK)
        (void)cq_onnx_model_infer(m, 0);
    cq_onnx_model_free(m);
    if (extremes_now() - begin > SLOW) {
        fprintf(stderr, "slow: %s\n", text.text);
        exit(1);
    }
    cq_str_clear(&text);
    return found;
}

static int sweep(const void *one)
{
    cq_status status;

    run_written(&status, one, SIZE_MAX, 0);
    if (status != CQ_OK) {
        print_error("%s: %s\n", cq_last_error()->where, cq_last_error()->message);
        return NO_BASE;
    }
    for (size_t at = 0; run_written(&status, one, at, 0); at++)
        for (size_t value = 1; value < N_ENDS; value++)
            run_written(&status, one, at, value);
    return 0;
}

TEST(extremes, no_number_of_a_written_node_makes_it_crash)
{
    int failed = 0;

    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
        failed += extremes_failed(extremes_apart(sweep, &examples[i]), examples[i].op, (int)i);
    CHECK_INT(0, failed);
}

RUN_TESTS(TEST_OF(extremes, no_number_of_a_written_node_makes_it_crash))
