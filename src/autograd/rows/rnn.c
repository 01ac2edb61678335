/* Recurrent layers, as the steps that they consist of (rnn_layers of body_layers.c): on a tape they
 * are heard step by step, so that every product and every dropout between layers has its gradient.
 * Sequences of different lengths come packed: step t has as many rows as sequences are still
 * running, longest first; others have the same number in every step. */
#include "autograd/gradient.h"

#define LAYERS(x, sizes, hx, kind)                                                                 \
    "rnn_layers(" x ", " sizes ", " hx ", params, has_biases, num_layers, dropout, train, "        \
    "bidirectional, '" kind "')"
#define STEPS(hx, kind)                                                                            \
    "x = input.transpose(0, 1) if batch_first else input\n"                                        \
    "steps = int(x.shape[0]); n = int(x.shape[1])\n"                                               \
    "y = " LAYERS("x.reshape([steps * n, x.shape[2]])", "[n for i in range(steps)]", hx,           \
                  kind) "\n"                                                                       \
                        "x = y[0].reshape([steps, n, y[0].shape[1]])\n"                            \
                        "return [x.transpose(0, 1) if batch_first else x] + y[1:]"
#define PACKED(hx, kind) LAYERS("data", "batch_sizes.tolist()", hx, kind)

const cq_gradient cq_gradients_rnn[] = {
    { "aten::lstm.input", .body = STEPS("hx", "lstm") },
    { "aten::lstm.data", .body = PACKED("hx", "lstm") },
    { "aten::gru.input", .body = STEPS("[hx]", "gru") },
    { "aten::gru.data", .body = PACKED("[hx]", "gru") },
    { "aten::rnn_tanh.input", .body = STEPS("[hx]", "tanh") },
    { "aten::rnn_tanh.data", .body = PACKED("[hx]", "tanh") },
    { "aten::rnn_relu.input", .body = STEPS("[hx]", "relu") },
    { "aten::rnn_relu.data", .body = PACKED("[hx]", "relu") },
    { "aten::_pack_padded_sequence", .kind = CQ_GRADIENT_MOVE },
    { "aten::_pad_packed_sequence", .kind = CQ_GRADIENT_MOVE },
    { 0 },
};
