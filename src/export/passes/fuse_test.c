/* Decomposed layers are replaced by nodes of newer opsets; similar patterns are not. The results
 * equal the program's. */
#include "base/str.h"
#include "models.h"

#include <calque/script.h>
#include <calque/session.h>

#define RMS_NORM                                                                                   \
    "def forward(x, w):\n"                                                                         \
    "    y = x * torch.rsqrt(x.pow(%s).mean(%s, keepdim=%s) + %s)\n"                               \
    "    return %s\n"

#define ROTARY                                                                                     \
    "def turn(x):\n"                                                                               \
    "    return torch.cat([%s, x[..., :%s]], -1)\n"                                                \
    "def forward(x, f):\n"                                                                         \
    "    t = torch.cat([f, %s], -1)\n"                                                             \
    "    return x * t.cos().unsqueeze(1) %s turn(x) * t.sin().unsqueeze(1)\n"

typedef struct shape {
    size_t  rank;
    int64_t sizes[4];
} shape;

static cq_tensor *tensor(const shape *s)
{
    cq_tensor *t;

    CHECK_OK(cq_tensor_new(&t, CQ_DTYPE_F32, s->rank, s->sizes, NULL));
    for (int64_t i = 0; i < cq_tensor_numel(t); i++)
        ((float *)cq_tensor_data(t))[i] = (float)(i * 7 % 11) / 8 - 0.5f;
    return t;
}

static size_t count_ops(const cq_onnx_model *m, const char *op)
{
    size_t n = 0;

    for (size_t i = 0; i < m->graph->node.n; i++)
        n += strcmp(m->graph->node.items[i]->op_type, op) == 0;
    return n;
}

static void check_same(cq_tensor *a, cq_tensor *b)
{
    cq_onnx_value *values[2];

    CHECK_OK(cq_onnx_value_new_tensor(&values[0], a));
    CHECK_OK(cq_onnx_value_new_tensor(&values[1], b));
    CHECK_OK(cq_onnx_value_compare(values[0], values[1], 1e-5, 1e-6));
    cq_onnx_value_release(values[0]);
    cq_onnx_value_release(values[1]);
}

/* How many nodes op the export of forward has at an opset; the results must equal the program's. */
static size_t fused_at(int opset, const char *op, const char *text, const shape *x, const shape *y)
{
    cq_tensor        *in[2] = { tensor(x), tensor(y) }, *ran, *exported;
    cq_export_options options;
    cq_script        *script;
    cq_args          *args;
    cq_onnx_model    *model;
    cq_session       *session;
    size_t            n;

    cq_export_options_init(&options);
    options.opset = opset;
    CHECK_OK(cq_script_compile(&script, text, "test.py"));
    CHECK_OK(cq_args_new(&args));
    for (int i = 0; i < 2; i++)
        CHECK_OK(cq_args_add_tensor(args, in[i]));
    CHECK_OK(cq_script_run(script, "forward", args, &ran, 1, &n));
    CHECK_OK(cq_script_export(&model, script, "forward", args, 0, &options));
    CHECK_OK(cq_session_prepare(&session, model, NULL));
    CHECK_OK(cq_session_run_tensors(session, in, 2, &exported, 1));
    check_same(exported, ran);
    n = count_ops(model, op);
    for (int i = 0; i < 2; i++)
        cq_tensor_release(in[i]);
    cq_tensor_release(ran);
    cq_tensor_release(exported);
    cq_session_free(session);
    cq_onnx_model_free(model);
    cq_args_free(args);
    cq_script_free(script);
    return n;
}

static size_t fused(const char *op, const char *text, const shape *x, const shape *y)
{
    return fused_at(23, op, text, x, y);
}

static size_t rms_norms(const char *power, const char *dim, const char *keep, const char *eps,
                        const char *result)
{
    const shape x = { 3, { 2, 3, 3 } }, w = { 1, { 3 } };
    cq_str      text = { 0 };
    size_t      n;

    cq_str_printf(&text, RMS_NORM, power, dim, keep, eps, result);
    n = fused("RMSNormalization", text.text, &x, &w);
    cq_str_clear(&text);
    return n;
}

TEST(fuse, a_root_mean_square_norm_is_one_node)
{
    CHECK_INT(1, rms_norms("2", "-1", "True", "1e-5", "y * w"));
    CHECK_INT(1, rms_norms("2", "2", "True", "1e-6", "w * y"));
    CHECK_INT(1, rms_norms("2", "-1", "True", "1e-6", "y * (1.0 + w)"));
    CHECK_INT(1, rms_norms("2", "-1", "True", "0.1", "y * w + y"));
}

TEST(fuse, similar_patterns_are_not_fused_to_norms)
{
    CHECK_INT(0, rms_norms("4", "-1", "True", "1e-5", "y * w"));
    CHECK_INT(0, rms_norms("2", "1", "True", "1e-5", "y * w"));
    CHECK_INT(0, rms_norms("2", "[1, 2]", "True", "1e-5", "y * w"));
    CHECK_INT(0, rms_norms("2", "-1", "True", "x[0, 0, 0].abs()", "y * w"));
    CHECK_INT(0, rms_norms("2", "-1", "True", "1e-5", "y * x[0]"));
    CHECK_INT(0, rms_norms("2", "-1", "True", "1e-5", "y"));
}

static size_t rotaries(const char *high, const char *low, const char *again, const char *sign,
                       int64_t batch)
{
    const shape x = { 4, { 2, 3, 5, 8 } }, f = { 3, { batch, 5, 4 } };
    cq_str      text = { 0 };
    size_t      n;

    cq_str_printf(&text, ROTARY, high, low, again, sign);
    n = fused("RotaryEmbedding", text.text, &x, &f);
    cq_str_clear(&text);
    return n;
}

TEST(fuse, a_rotary_embedding_is_one_node)
{
    CHECK_INT(1, rotaries("-x[..., 4:]", "4", "f", "+", 2));
    CHECK_INT(1, rotaries("-x[..., 4:8]", "4", "f", "+", 1)); /* angles for all of the batch */
}

TEST(fuse, similar_patterns_are_not_fused_to_rotary_embeddings)
{
    CHECK_INT(0, rotaries("x[..., 4:]", "4", "f", "+", 2));
    CHECK_INT(0, rotaries("-x[..., 4:]", "4", "f", "-", 2));
    CHECK_INT(0, rotaries("-x[..., 4:]", "4", "f * 2", "+", 2));
    CHECK_INT(0, rotaries("-x[..., 3:]", "3", "f", "+", 2));
    CHECK_INT(0, rotaries("-x[..., :4]", "4", "f", "+", 2));
}

#define SELF "torch.nn.functional.scaled_dot_product_attention"

static size_t attentions(const char *scores, const char *dim, const char *result)
{
    const shape q = { 4, { 2, 3, 5, 4 } }, k = { 4, { 2, 3, 6, 4 } };
    cq_str      text = { 0 };
    size_t      n;

    cq_str_printf(&text,
                  "def forward(q, k):\n"
                  "    mask = k[:, :1, :, 0][:, :, None]\n"
                  "    soft = torch.softmax(%s, %s)\n"
                  "    return %s\n",
                  scores, dim, result);
    n = fused("Attention", text.text, &q, &k);
    cq_str_clear(&text);
    return n;
}

TEST(fuse, decomposed_attention_becomes_one_node)
{
    CHECK_INT(1, attentions("q @ k.transpose(-1, -2)", "-1", "soft @ k"));
    CHECK_INT(1, attentions("q @ k.transpose(2, 3) / 2.0 + mask", "-1", "soft @ (k * 2)"));
    CHECK_INT(1, attentions("mask + torch.matmul(q, k.transpose(2, 3)) * 0.3", "3", "soft @ k"));
}

TEST(fuse, similar_patterns_are_not_fused_to_attention)
{
    CHECK_INT(0, attentions("q @ k.transpose(-1, -2)", "2", "soft @ k"));
    CHECK_INT(0, attentions("q @ k.transpose(-1, -2) * mask", "-1", "soft @ k"));
    CHECK_INT(0, attentions("q @ k.transpose(-1, -2)", "-1", "soft @ k + soft.sum()"));
    CHECK_INT(0, attentions("q @ k.permute(0, 1, 3, 2) + mask[None]", "-1", "soft @ k"));
    CHECK_INT(0, attentions("q[:1] @ k.transpose(-1, -2)", "-1", "soft @ k"));
}

TEST(fuse, consecutive_cache_positions_are_one_write)
{
    const shape       cache = { 4, { 2, 3, 8, 4 } }, k = { 4, { 2, 3, 2, 4 } };
    const char *const runs[]   = { "torch.arange(2)", "torch.tensor([3, 4])",
                                   "first % 6 + torch.arange(k.shape[2])" };
    const char *const others[] = { "torch.arange(2) * 2", "torch.tensor([4, 3])",
                                   "torch.tensor([first % 6, 7])" };

    for (size_t i = 0; i < 6; i++) {
        cq_str text = { 0 };

        cq_str_printf(&text,
                      "def forward(cache, k):\n"
                      "    first = k.shape[2] + k.argmax()\n"
                      "    return cache.index_copy(2, %s, k)\n",
                      i < 3 ? runs[i] : others[i - 3]);
        CHECK_INT(i < 3, fused_at(24, "TensorScatter", text.text, &cache, &k));
        CHECK_INT(0, fused_at(23, "TensorScatter", text.text, &cache, &k));
        cq_str_clear(&text);
    }
}

TEST(fuse, a_depthwise_convolution_of_the_past_is_causal)
{
    const shape x = { 3, { 2, 6, 9 } }, w = { 3, { 6, 1, 4 } };
    /* the expression, and the nodes that remain of a Conv */
    static const struct {
        const char *text;
        size_t      n_causal, n_swish;
    } rows[] = {
        { "conv1d(x, w, padding=3, groups=6)[..., :9]", 1, 0 },
        { "nn.functional.silu(torch.conv1d(x, w, padding=3, groups=6)[:, :, :x.size(2)])", 1, 0 },
        { "conv1d(x, w, padding=3, groups=6)[..., 3:]", 0, 0 }, /* sees only the future */
        { "conv1d(x, w, padding=3, groups=6)[..., :8]", 0, 0 },
        { "conv1d(x, w, padding=6, dilation=2, groups=6)[..., :9]", 0, 0 },
        { "conv1d(x, w, padding=2, groups=6)[..., :8]", 0, 0 },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cq_str text = { 0 };

        cq_str_printf(&text, "def forward(x, w):\n    return torch.%s\n", rows[i].text);
        CHECK_INT(rows[i].n_causal, fused_at(28, "CausalConvWithState", text.text, &x, &w));
        CHECK_INT(rows[i].n_swish, fused_at(28, "Swish", text.text, &x, &w));
        CHECK_INT(0, fused_at(26, "CausalConvWithState", text.text, &x, &w));
        cq_str_clear(&text);
    }
}

TEST(fuse, a_causal_mask_of_unequal_lengths_is_decomposed_from_opset_25)
{
    const shape q = { 4, { 2, 3, 4, 8 } }, k = { 4, { 2, 3, 6, 8 } };

    for (int opset = 24; opset <= 25; opset++) {
        CHECK_INT(opset == 24,
                  fused_at(opset, "Attention",
                           "def forward(q, k):\n    return " SELF "(q, k, k, is_causal=True)\n", &q,
                           &k));
        CHECK_INT(1, fused_at(opset, "Attention",
                              "def forward(q, k):\n    return " SELF "(q, k, k, is_causal=True)\n",
                              &q, &q));
    }
}

TEST(fuse, attention_with_repeated_heads_drops_the_repetition)
{
    const shape q = { 4, { 2, 6, 5, 4 } }, k = { 4, { 2, 3, 5, 4 } };

    CHECK_INT(0, fused("Expand",
                       "def forward(q, k):\n"
                       "    r = k[:, :, None].expand(2, 3, 2, 5, 4).reshape(2, 6, 5, 4)\n"
                       "    return " SELF "(q, r, r)\n",
                       &q, &k));
    CHECK_INT(1, fused("Expand", /* heads 0 1 2 0 1 2, not 0 0 1 1 2 2 */
                       "def forward(q, k):\n"
                       "    r = k[:, None].expand(2, 2, 3, 5, 4).reshape(2, 6, 5, 4)\n"
                       "    return " SELF "(q, r, r)\n",
                       &q, &k));
}

TEST(fuse, attention_includes_the_past_unless_it_is_read_elsewhere)
{
    const shape q = { 4, { 2, 3, 5, 4 } }, past = { 4, { 2, 3, 2, 4 } };

    CHECK_INT(0, fused("Concat",
                       "def forward(q, past):\n"
                       "    k = torch.cat([past, q], 2)\n"
                       "    v = torch.cat([past, q * 2], -2)\n"
                       "    return " SELF "(q, k, v) + k[:, :, :5] + v[:, :, 2:]\n",
                       &q, &past));
    CHECK_INT(2, fused("Concat",
                       "def forward(q, past):\n"
                       "    k = torch.cat([past, q], 2)\n"
                       "    v = torch.cat([past, q * 2], -2)\n"
                       "    return " SELF "(q + k.sum(), k, v)\n",
                       &q, &past));
    CHECK_INT(2, fused("Concat",
                       "def forward(q, past):\n"
                       "    k = torch.cat([past, q], 2)\n"
                       "    v = torch.cat([past, q * 2], -2)\n"
                       "    return " SELF "(q, k, v, is_causal=True)\n",
                       &q, &past));
}

/* (1 + 2 + 3 + 4) / 4 is half-way between two steps, and is rounded to even: 2; so is (3 + 4 + 3 +
 * 4) / 4, to 4. In floats with a step of 0.2 either could result. */
TEST(fuse, means_of_quantized_tensors_are_those_of_their_integers)
{
    static const char text[] = "def forward(x, y):\n"
                               "    q = torch.quantize_per_tensor(x, 0.2, 128, torch.quint8)\n"
                               "    p = F.avg_pool2d(q, 2)\n"
                               "    return torch.dequantize(p) + torch.int_repr(p) + y\n";
    const shape       x = { 4, { 1, 1, 4, 6 } }, y = { 1, { 1 } };
    float             steps[] = { 1, 2, 3, 4, 3, 4, 3, 4 };
    cq_tensor        *in[2]   = { NULL, NULL }, *ran;
    cq_script        *script;
    cq_args          *args;
    size_t            n;

    CHECK_INT(0, fused_at(14, "Div", text, &x, &y));
    CHECK_INT(0, fused_at(14, "Mul", text, &x, &y));
    CHECK_INT(2, fused_at(14, "QuantizeLinear", text, &x, &y));
    for (int i = 0; i < 8; i++)
        steps[i] *= 0.2f;
    CHECK_OK(cq_tensor_new(&in[0], CQ_DTYPE_F32, 4, (int64_t[]){ 1, 2, 2, 2 }, steps));
    CHECK_OK(cq_tensor_new(&in[1], CQ_DTYPE_F32, 1, (int64_t[]){ 1 }, (float[]){ 0 }));
    CHECK_OK(cq_script_compile(&script, text, "test.py"));
    CHECK_OK(cq_args_new(&args));
    for (int i = 0; i < 2; i++)
        CHECK_OK(cq_args_add_tensor(args, in[i]));
    CHECK_OK(cq_script_run(script, "forward", args, &ran, 1, &n));
    CHECK(cq_tensor_get_f64(ran, 0) == 130 + 2 * 0.2f &&
          cq_tensor_get_f64(ran, 1) == 132 + 4 * 0.2f);
    cq_tensor_release(ran);
    for (int i = 0; i < 2; i++)
        cq_tensor_release(in[i]);
    cq_args_free(args);
    cq_script_free(script);
}

/* Scales of 1/8 and 1/4; the bias is a multiple of their product, 1/32. */
#define GRIDS                                                                                      \
    "def forward(x, w):\n"                                                                         \
    "    x = torch.fake_quantize_per_tensor_affine(x, 0.125, 3, 0, 255)\n"                         \
    "    w = torch.fake_quantize_per_tensor_affine(w, 0.25, 0, -128, 127)\n"                       \
    "    b = torch.tensor([-0.5, 0.03125, 7.0])\n"

/* The number of quantized values. */
static size_t grids(int opset, const char *rest, const shape *x, const shape *w)
{
    cq_str text = { 0 };
    size_t n;

    cq_str_printf(&text, GRIDS "    %s\n", rest);
    n = fused_at(opset, "DequantizeLinear", text.text, x, w);
    cq_str_clear(&text);
    return n;
}

TEST(fuse, the_bias_of_quantized_layers_is_quantized_at_opset_10)
{
    static const char conv[]   = "return torch.fake_quantize_per_tensor_affine("
                                 "F.conv2d(x, w, b).relu(), 0.5, 0, 0, 255)";
    static const char linear[] = "return torch.fake_quantize_per_tensor_affine("
                                 "F.linear(F.max_pool2d(x, 2).flatten(1), w, b), 0.5, 9, 0, 255)";
    const shape       image = { 4, { 1, 2, 4, 4 } }, w = { 4, { 3, 2, 3, 3 } }, m = { 2, { 3, 8 } };

    CHECK_INT(4, grids(10, conv, &image, &w));
    CHECK_INT(4, grids(10, linear, &image, &m));
    CHECK_INT(3, grids(11, conv, &image, &w));
    CHECK_INT(3, grids(11, linear, &image, &m));
}

TEST(fuse, a_bias_of_an_unquantized_layer_stays)
{
    const shape image = { 4, { 1, 2, 4, 4 } }, w = { 4, { 3, 2, 3, 3 } };

    CHECK_INT(2, grids(10, "return F.conv2d(x, w, b)", &image, &w));
    CHECK_INT(3, grids(10,
                       "return torch.fake_quantize_per_tensor_affine("
                       "F.conv2d(x, w + 1, b), 0.5, 0, 0, 255)",
                       &image, &w));
    CHECK_INT(3, grids(10,
                       "return torch.fake_quantize_per_tensor_affine("
                       "F.conv2d(x, w, 1e9 * b), 0.5, 0, 0, 255)",
                       &image, &w));
    CHECK_INT(3, grids(10,
                       "y = F.conv2d(x, w, b)\n"
                       "    return y + torch.fake_quantize_per_tensor_affine(y, 0.5, 0, 0, 255)",
                       &image, &w));
}

RUN_TESTS(TEST_OF(fuse, a_root_mean_square_norm_is_one_node),
          TEST_OF(fuse, similar_patterns_are_not_fused_to_norms),
          TEST_OF(fuse, a_rotary_embedding_is_one_node),
          TEST_OF(fuse, similar_patterns_are_not_fused_to_rotary_embeddings),
          TEST_OF(fuse, decomposed_attention_becomes_one_node),
          TEST_OF(fuse, similar_patterns_are_not_fused_to_attention),
          TEST_OF(fuse, consecutive_cache_positions_are_one_write),
          TEST_OF(fuse, a_depthwise_convolution_of_the_past_is_causal),
          TEST_OF(fuse, a_causal_mask_of_unequal_lengths_is_decomposed_from_opset_25),
          TEST_OF(fuse, attention_with_repeated_heads_drops_the_repetition),
          TEST_OF(fuse, attention_includes_the_past_unless_it_is_read_elsewhere),
          TEST_OF(fuse, means_of_quantized_tensors_are_those_of_their_integers),
          TEST_OF(fuse, the_bias_of_quantized_layers_is_quantized_at_opset_10),
          TEST_OF(fuse, a_bias_of_an_unquantized_layer_stays))
