/* word_language_model of pytorch/examples: predicts the next word, with a recurrent network or
 * a transformer. Sequences come first, batches second. */
#include "zoo/zoo.h"

#include <math.h>

enum { WORDS = 33278, SIZE = 200, HIDDEN = 200, LAYERS = 2, HEADS = 2, MAX_LENGTH = 5000 };

/* ---- recurrent ---- */

typedef struct word_rnn {
    cq_module *drop, *encoder, *rnn, *decoder;
} word_rnn;

static void word_rnn_forward(cq_ctx *cx, void *self, cq_tensor *const *in, size_t n_in,
                             cq_tensor **out, size_t n_out)
{
    word_rnn  *m         = self;
    cq_tensor *rnn_in[3] = { 0 }, *rnn_out[3], *x;

    rnn_in[0] = cq_call(cx, m->drop, cq_call(cx, m->encoder, in[0]));
    for (size_t i = 1; i < n_in && i < 3; i++)
        rnn_in[i] = in[i];
    cq_call_n(cx, m->rnn, rnn_in, n_in, rnn_out, n_out);
    x      = cq_call(cx, m->decoder, cq_call(cx, m->drop, rnn_out[0]));
    x      = cq_view(cx, x, 2, (cq_int[]){ cq_i(-1), cq_i(WORDS) });
    out[0] = cq_log_softmax(cx, x, 1);
    for (size_t i = 1; i < n_out && i < 3; i++)
        out[i] = rnn_out[i];
}

static cq_module *word_rnn_new(const cq_class *cls, cq_module *rnn)
{
    cq_module *net = cq_module_new(cls);
    word_rnn  *m   = cq_module_self(net);

    if (!net) {
        cq_module_free(rnn);
        return NULL;
    }
    m->drop    = cq_module_add(net, "drop", cq_dropout_new(0.5));
    m->encoder = cq_module_add(net, "encoder", cq_embedding_new(WORDS, SIZE));
    m->rnn     = cq_module_add(net, "rnn", rnn);
    m->decoder = cq_module_add(net, "decoder", cq_linear_new(HIDDEN, WORDS, true));
    return net;
}

static const cq_class    one_state  = { CQ_SIZED(cq_class), .name = "RNNModel",
                                        .self_size = sizeof(word_rnn), .forward_n = word_rnn_forward,
                                        .n_out = 2 };
static const cq_class    two_states = { CQ_SIZED(cq_class), .name = "RNNModel",
                                        .self_size = sizeof(word_rnn), .forward_n = word_rnn_forward,
                                        .n_out = 3 };
static const cq_rnn_spec spec       = { CQ_SIZED(cq_rnn_spec), .input = SIZE, .hidden = HIDDEN,
                                        .layers = LAYERS, .dropout = 0.5 };

cq_module *cq_zoo_word_rnn(void)
{
    return word_rnn_new(&one_state, cq_rnn_new(&spec));
}

cq_module *cq_zoo_word_gru(void)
{
    return word_rnn_new(&one_state, cq_gru_new(&spec));
}

cq_module *cq_zoo_word_lstm(void)
{
    return word_rnn_new(&two_states, cq_lstm_new(&spec));
}

/* ---- attention ---- */

typedef struct attention {
    cq_tensor *in_weight, *in_bias;
    cq_module *out_proj;
} attention;

/* (length, batch, size) to (batch * heads, length, size / heads) */
static cq_tensor *split_heads(cq_ctx *cx, cq_tensor *x, cq_int length, cq_int batch)
{
    cq_int rows = cq_int_times(cx, batch, cq_i(HEADS));

    x = cq_view(cx, cq_contiguous(cx, x), 3, (cq_int[]){ length, rows, cq_i(SIZE / HEADS) });
    return cq_transpose(cx, x, 0, 1);
}

/* Causal mask: later words get minus infinity. */
static cq_tensor *hide_the_future(cq_ctx *cx, cq_tensor *scores, cq_int length)
{
    cq_tensor *positions = cq_arange(cx, cq_i(0), length, 1);
    cq_tensor *later = cq_gt(cx, cq_unsqueeze(cx, positions, 0), cq_unsqueeze(cx, positions, 1));

    return cq_masked_fill(cx, scores, later, -INFINITY);
}

static cq_tensor *attention_forward(cq_ctx *cx, void *self, cq_tensor *x)
{
    attention *m      = self;
    cq_int     length = cq_size(cx, x, 0), batch = cq_size(cx, x, 1);
    cq_tensor *qkv[3], *scores;

    cq_chunk(cx, cq_linear(cx, x, m->in_weight, m->in_bias), 3, -1, qkv, 3);
    for (int i = 0; i < 3; i++)
        qkv[i] = split_heads(cx, qkv[i], length, batch);
    qkv[0] = cq_mul_scalar(cx, qkv[0], 1 / sqrt((double)SIZE / HEADS));
    scores = hide_the_future(cx, cq_bmm(cx, qkv[0], cq_transpose(cx, qkv[1], 1, 2)), length);
    scores = cq_dropout(cx, cq_softmax(cx, scores, -1), 0.5, cq_is_training(cx));
    x      = cq_contiguous(cx, cq_transpose(cx, cq_bmm(cx, scores, qkv[2]), 0, 1));
    x      = cq_view(cx, x, 3, (cq_int[]){ length, batch, cq_i(SIZE) });
    return cq_call(cx, m->out_proj, x);
}

/* Parameters with Linear's initial values: PyTorch draws these from a Xavier distribution. */
static cq_module *attention_new(void)
{
    static const cq_class cls  = { CQ_SIZED(cq_class), .name = "MultiheadAttention",
                                   .self_size = sizeof(attention), .forward = attention_forward };
    cq_module            *net  = cq_module_new(&cls);
    cq_module            *like = cq_linear_new(SIZE, 3 * SIZE, true);
    attention            *m    = cq_module_self(net);

    if (!net || !like) {
        cq_module_free(net);
        cq_module_free(like);
        return NULL;
    }
    m->in_weight = cq_module_add_parameter(net, "in_proj_weight",
                                           cq_tensor_retain(cq_module_find(like, "weight")));
    m->in_bias   = cq_module_add_parameter(net, "in_proj_bias",
                                           cq_tensor_retain(cq_module_find(like, "bias")));
    m->out_proj  = cq_module_add(net, "out_proj", cq_linear_new(SIZE, SIZE, true));
    cq_module_free(like);
    return net;
}

typedef struct layer {
    cq_module *attention, *linear1, *dropout, *linear2, *norm1, *norm2, *dropout1, *dropout2;
} layer;

static cq_tensor *layer_forward(cq_ctx *cx, void *self, cq_tensor *x)
{
    layer     *m = self;
    cq_tensor *y = cq_call(cx, m->dropout1, cq_call(cx, m->attention, x));

    x = cq_call(cx, m->norm1, cq_add(cx, x, y));
    y = cq_call(cx, m->dropout, cq_relu(cx, cq_call(cx, m->linear1, x)));
    y = cq_call(cx, m->dropout2, cq_call(cx, m->linear2, y));
    return cq_call(cx, m->norm2, cq_add(cx, x, y));
}

static cq_module *layer_new(void)
{
    static const cq_class cls  = { CQ_SIZED(cq_class), .name = "TransformerEncoderLayer",
                                   .self_size = sizeof(layer), .forward = layer_forward };
    const int64_t         size = SIZE;
    cq_module            *net  = cq_module_new(&cls);
    layer                *m    = cq_module_self(net);

    if (!net)
        return NULL;
    m->attention = cq_module_add(net, "self_attn", attention_new());
    m->linear1   = cq_module_add(net, "linear1", cq_linear_new(SIZE, HIDDEN, true));
    m->dropout   = cq_module_add(net, "dropout", cq_dropout_new(0.5));
    m->linear2   = cq_module_add(net, "linear2", cq_linear_new(HIDDEN, SIZE, true));
    m->norm1     = cq_module_add(net, "norm1", cq_layer_norm_new(1, &size, 0));
    m->norm2     = cq_module_add(net, "norm2", cq_layer_norm_new(1, &size, 0));
    m->dropout1  = cq_module_add(net, "dropout1", cq_dropout_new(0.5));
    m->dropout2  = cq_module_add(net, "dropout2", cq_dropout_new(0.5));
    return net;
}

/* ---- positions ---- */

typedef struct positions {
    cq_module *dropout;
    cq_tensor *table;
} positions;

static cq_tensor *positions_forward(cq_ctx *cx, void *self, cq_tensor *x)
{
    positions *m = self;

    x = cq_add(cx, x, cq_slice(cx, m->table, 0, cq_i(0), cq_size(cx, x, 0), 1));
    return cq_call(cx, m->dropout, x);
}

static cq_module *positions_new(void)
{
    static const cq_class cls = { CQ_SIZED(cq_class), .name = "PositionalEncoding",
                                  .self_size = sizeof(positions), .forward = positions_forward };
    cq_module            *net = cq_module_new(&cls);
    positions            *m   = cq_module_self(net);
    cq_tensor            *table;
    float                *data;

    if (!net)
        return NULL;
    m->dropout = cq_module_add(net, "dropout", cq_dropout_new(0.5));
    if (cq_tensor_new(&table, CQ_DTYPE_F32, 3, (int64_t[]){ MAX_LENGTH, 1, SIZE }, NULL) != CQ_OK) {
        cq_module_free(net);
        return NULL;
    }
    data = cq_tensor_data(table);
    for (int p = 0; p < MAX_LENGTH; p++)
        for (int i = 0; i < SIZE; i += 2) {
            float angle = (float)p * expf((float)i * (float)(-log(10000.0) / SIZE));

            data[p * SIZE + i]     = sinf(angle);
            data[p * SIZE + i + 1] = cosf(angle);
        }
    m->table = cq_module_add_buffer(net, "pe", table);
    return net;
}

/* ---- the whole ---- */

typedef struct word_transformer {
    cq_module *pos_encoder, *layers[LAYERS], *encoder, *decoder;
} word_transformer;

static cq_tensor *word_transformer_forward(cq_ctx *cx, void *self, cq_tensor *x)
{
    word_transformer *m = self;

    x = cq_mul_scalar(cx, cq_call(cx, m->encoder, x), sqrt(SIZE));
    x = cq_call(cx, m->pos_encoder, x);
    for (int i = 0; i < LAYERS; i++)
        x = cq_call(cx, m->layers[i], x);
    return cq_log_softmax(cx, cq_call(cx, m->decoder, x), -1);
}

cq_module *cq_zoo_word_transformer(void)
{
    static const cq_class cls  = { CQ_SIZED(cq_class), .name = "TransformerModel",
                                   .self_size = sizeof(word_transformer),
                                   .forward   = word_transformer_forward };
    static const cq_class part = { CQ_SIZED(cq_class), .name = "TransformerEncoder" };
    cq_module            *net  = cq_module_new(&cls), *encoder, *list;
    word_transformer     *m    = cq_module_self(net);

    if (!net)
        return NULL;
    m->pos_encoder = cq_module_add(net, "pos_encoder", positions_new());
    encoder        = cq_module_add(net, "transformer_encoder", cq_module_new(&part));
    list           = cq_module_add(encoder, "layers", cq_module_list_new());
    for (int i = 0; i < LAYERS; i++)
        m->layers[i] = cq_sequential_add(list, layer_new());
    m->encoder = cq_module_add(net, "encoder", cq_embedding_new(WORDS, SIZE));
    m->decoder = cq_module_add(net, "decoder", cq_linear_new(SIZE, WORDS, true));
    return net;
}
