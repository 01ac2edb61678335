/* Recurrent layers with quantized weights, as quantize_dynamic makes them. Their products are those
 * of quantized::linear_dynamic: all steps of the input are rounded together, by the range that they
 * have, and the state anew before each step. No operator of ONNX does that, so the steps are
 * written one after another (quantized_layers of body_functions.c).
 *
 * The parameters of a cell, an opaque class in PyTorch, are the state that an archive holds of it:
 * a tuple of what it is, tensors, floats, ints (the first: whether the range is reduced), and the
 * packed weights of input and state, which have the biases. */
#include "aten/ctx.h"

#define CELL         "__torch__.torch.classes.rnn.CellParamsBase"
#define PACKED_CLASS "__torch__.torch.classes.quantized.LinearPackedParamsBase"
#define MANY                                                                                       \
    CELL "[] params, bool has_biases, int num_layers, float dropout, bool train, "                 \
         "bool bidirectional, bool batch_first"
#define LAYERS(hx)                                                                                 \
    "quantized_layers(input, " hx                                                                  \
    ", params, num_layers, dropout, train, bidirectional, batch_first)"

const cq_op_def cq_ops_quantized_rnn[] = {
    CQ_PARTS("quantized::make_quantized_cell_params_dynamic(" PACKED_CLASS " w_ih, " PACKED_CLASS
             " w_hh, Tensor bias_ih, Tensor bias_hh, bool reduce_range=False) -> " CELL,
             "the parameters of a cell with quantized weights",
             "'quantized_dynamic', [bias_ih, bias_hh], [], [int(reduce_range)], [w_ih, w_hh]"),
    CQ_PARTS("aten::quantized_lstm.input(Tensor input, Tensor[] hx, " MANY
             ", *, ScalarType? dtype=None, bool use_dynamic=False) -> (Tensor, Tensor, Tensor)",
             "lstm with quantized weights", LAYERS("hx")),
    CQ_PARTS("aten::quantized_gru.input(Tensor input, Tensor hx, " MANY ") -> (Tensor, Tensor)",
             "gru with quantized weights", LAYERS("[hx]")),
    { 0 }
};
