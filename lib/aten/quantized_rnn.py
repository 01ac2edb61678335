"""Quantized recurrent layers."""

import torch

from calque import operator, traits
from aten.recurrent import gru_step, lstm_step


def cell_weights(cell):
    """The packed weights of input and state of a quantized cell, and whether inputs have 7 bits
    (reduce_range)."""
    if len(cell) != 5 or not isinstance(cell[0], str):
        raise TypeError('expected parameters of cells in "params"')
    kind, tensors, numbers, ints, packed = cell
    if kind != "quantized_dynamic" or len(packed) != 2:
        raise NotImplementedError(f"cells of kind {kind} are not supported")
    return [packed[0], packed[1], len(ints) == 1 and isinstance(ints[0], int) and (ints[0] != 0)]


def quantized_direction(x, cell, state, backwards):
    """A layer in one direction, on x [steps, batch, features]: the outputs and the last states."""
    steps = int(x.shape[0])
    if steps < 1 or steps > 4096:
        raise NotImplementedError(
            f"expected 1 to 4096 steps, got {steps}"
        )
    w_ih, w_hh, reduce_range = cell_weights(cell)
    inputs = torch.ops.quantized.linear_dynamic(x, w_ih, reduce_range)
    h = state[0]
    c = state[-1]
    out = []
    for i in range(steps):
        x = inputs.select(0, steps - 1 - i if backwards else i)
        g = torch.ops.quantized.linear_dynamic(h, w_hh, reduce_range)
        h, c = lstm_step(g + x, c) if len(state) == 2 else [gru_step(x, g, h), c]
        out += [h]
    return [torch.stack(reversed(out) if backwards else out, 0), h, c]


def quantized_layers(input, hx, params, num_layers, dropout, train, bidirectional, batch_first):
    assert num_layers > 0 and num_layers <= 2048, f"expected 1 to 2048 layers, got {num_layers}"
    k = 2 if bidirectional else 1
    fits = [h.ndim == 3 and h.shape[0] == num_layers * k for h in hx]
    if input.ndim != 3 or len(params) != num_layers * k or False in fits:
        raise TypeError("the sizes of input, states and parameters do not match")
    if train and dropout > 0:
        raise NotImplementedError("dropout in training is not supported")
    x = input.transpose(0, 1) if batch_first else input
    ends = []
    for i in range(num_layers):
        both = [
            quantized_direction(x, params[i * k + d], [h.select(0, i * k + d) for h in hx], d == 1)
            for d in range(k)
        ]
        x = both[0][0] if k == 1 else torch.cat([b[0] for b in both], -1)
        ends += both
    if batch_first:
        x = x.transpose(0, 1)
    return [x] + [torch.stack([e[s + 1] for e in ends], 0) for s in range(len(hx))]


@operator(
    ""
    "quantized::make_quantized_cell_params_dynamic(__torch__.torch.classes.quantized."
    "LinearPackedParamsBase w_ih, "
    "__torch__.torch.classes.quantized.LinearPackedParamsBase w_hh, Tensor bias_ih, "
    "Tensor bias_hh, bool reduce_range=False) -> __torch__.torch.classes.rnn.CellParamsBase",
    of_views=True,
)
def quantized_make_quantized_cell_params_dynamic(w_ih, w_hh, bias_ih, bias_hh, reduce_range):
    """Packs the parameters of a quantized cell."""
    return ("quantized_dynamic", [bias_ih, bias_hh], [], [int(reduce_range)], [w_ih, w_hh])


@operator(
    "aten::quantized_lstm.input(Tensor input, Tensor[] hx, "
    "__torch__.torch.classes.rnn.CellParamsBase[] params, bool has_biases, int num_layers, "
    "float dropout, bool train, bool bidirectional, bool batch_first, *, "
    "ScalarType? dtype=None, bool use_dynamic=False) -> (Tensor, Tensor, Tensor)",
    of_views=True,
)
def quantized_lstm_input(
    input,
    hx,
    params,
    has_biases,
    num_layers,
    dropout,
    train,
    bidirectional,
    batch_first,
    dtype,
    use_dynamic,
):
    """Lstm with quantized weights."""
    return quantized_layers(
        input, hx, params, num_layers, dropout, train, bidirectional, batch_first
    )


@operator(
    "aten::quantized_gru.input(Tensor input, Tensor hx, "
    "__torch__.torch.classes.rnn.CellParamsBase[] params, bool has_biases, int num_layers, "
    "float dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor)",
    of_views=True,
)
def quantized_gru_input(
    input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first
):
    """Gru with quantized weights."""
    return quantized_layers(
        input, [hx], params, num_layers, dropout, train, bidirectional, batch_first
    )


traits("aten::quantized_lstm.input", quantized="plain")
traits("aten::quantized_gru.input", quantized="plain")
