/* Recurrent layers, as the steps that they consist of (rnn_layers of body_layers.c): a tape records
 * them step by step, so that every product and every dropout between layers has its gradient.
 * Sequences of different lengths come packed: step t has as many rows as sequences are still
 * running, longest first; others have the same number in every step. */
#include "autograd/gradient.h"

const cq_gradient cq_gradients_rnn[] = {
    { "aten::_pack_padded_sequence", .kind = CQ_GRADIENT_MOVE },
    { "aten::_pad_packed_sequence", .kind = CQ_GRADIENT_MOVE },
    { 0 },
};
