"""Recurrent layers.

ONNX has the same cells with their gates in another order, one layer at a time, and results as
[steps, directions, batch, size]. ONNX has no packed sequences: a packed tensor stays padded, with
lengths instead of batch_sizes, if only recurrent layers and unpacking read it.
"""

import torch

from calque.onnx import *


def cell_of(operator):
    """The operator of ONNX, PyTorch's gate for each of its gates, and the activation of RNN."""
    if operator == "aten::lstm":
        return "LSTM", [0, 3, 1, 2], None  # i f g o in PyTorch, i o f c in ONNX
    if operator == "aten::gru":
        return "GRU", [1, 0, 2], None  # r z n in PyTorch, z r h in ONNX
    return "RNN", [0], "Tanh" if operator == "aten::rnn_tanh" else "Relu"


def joined(parts):
    return Concat(parts, axis=0) if len(parts) > 1 else parts[0]


# ---- one layer ----


def in_order(w, order, hidden):
    """A weight or bias with its gates in ONNX's order; the new first axis is for directions."""
    gates = [slice(w, 0, i * hidden, (i + 1) * hidden) for i in order]
    return Unsqueeze(joined(gates), [0])


def weights(params, which, order, hidden):
    """Tensor number `which` of all directions; params has a list of tensors per direction."""
    return joined([in_order(widen(p[which]), order, hidden) for p in params])


def biases(params, order, hidden):
    if len(params[0]) == 2:
        return None
    both = [weights(params, 2, order, hidden), weights(params, 3, order, hidden)]
    return Concat(both, axis=1)


def join_directions(y, x, directions, hidden):
    """[steps, directions, batch, size] to [steps, batch, directions * size]."""
    y = with_dtype(y, x.dtype)
    y = with_shape(y, [x.size(0), directions, x.size(1), hidden])
    if directions == 1:
        return Squeeze(y, [1])
    y = Reshape(Transpose(y, perm=[0, 2, 1, 3]), torch.tensor([0, 0, 2 * hidden]))
    return with_shape(with_dtype(y, x.dtype), [x.size(0), x.size(1), 2 * hidden])


def layer(x, lengths, states, params, hidden):
    """The results of all steps, and the last states."""
    cell, order, activation = cell_of(operator_name())
    directions = len(params)
    bias = biases(params, order, hidden)
    results = op(
        cell,
        x,
        weights(params, 0, order, hidden),
        weights(params, 1, order, hidden),
        bias,
        lengths,
        states[0],
        states[1] if cell == "LSTM" else None,
        activations=None if activation is None else [activation] * directions,
        direction="bidirectional" if directions > 1 else None,
        hidden_size=hidden,
        linear_before_reset=1 if cell == "GRU" else None,
        outputs=3 if cell == "LSTM" else 2,
    )
    return [join_directions(results[0], x, directions, hidden)] + [r for r in results[1:]]


# ---- all layers ----


def initial(state):
    """PyTorch's layers pass zeros if the caller gave no state; ONNX omits the input then."""
    return None if is_zeros(state) else widen(state)


def of_layer(state, layers, directions, i):
    if layers == 1 or state is None:
        return state
    return slice(state, 0, i * directions, (i + 1) * directions)


def drop(x, p):
    if opset() < 12:
        return unsupported("dropout between layers in training requires opset 12", 12)
    dropped = Dropout(x, cast(p, torch.float32), cast(True, torch.bool))
    return with_shape(with_dtype(dropped, x.dtype), x)


def network(x, lengths, hx, params, layers, dropout, directions):
    """The results of the last layer, and the last states of all layers."""
    n = len(params) // (layers * directions)
    first = [hx] if is_tensor(hx) else hx
    hidden = hint(first[0].size(2))
    zero_or_given = [initial(state) for state in first]
    y = x
    last = [[] for state in first]
    for i in range(layers):
        states = [of_layer(state, layers, directions, i) for state in zero_or_given]
        of_directions = range(i * directions, (i + 1) * directions)
        results = layer(
            y, lengths, states, [params[k * n : (k + 1) * n] for k in of_directions], hidden
        )
        y = results[0]
        last = [last[k] + [results[k + 1]] for k in range(len(last))]
        if dropout > 0 and i + 1 < layers:
            y = drop(y, dropout)
    return [y] + [with_dtype(joined(states), x.dtype) for states in last]


@symbolic("aten::lstm.input", opset=7)
@symbolic("aten::gru.input", opset=7)
@symbolic("aten::rnn_tanh.input", opset=7)
@symbolic("aten::rnn_relu.input", opset=7)
def padded(input, hx, params, num_layers, dropout, train, bidirectional, batch_first):
    p = dropout if train else 0
    directions = 2 if bidirectional else 1
    x = widen(input)
    if batch_first:
        x = swap_dims(x, 0, 1)
    if has_projections(hx):
        results = projected_network(x, hx, params, num_layers, p, directions)
    else:
        results = network(x, None, hx, params, num_layers, p, directions)
    if batch_first:
        return [swap_dims(results[0], 0, 1)] + results[1:]
    return results


# ---- packed sequences ----


def stays_packed(i):
    """Whether all operators that read result i know that it is padded."""
    packed_readers = [
        "aten::_pad_packed_sequence",
        "aten::lstm.data",
        "aten::gru.data",
        "aten::rnn_tanh.data",
        "aten::rnn_relu.data",
        "aten::quantized_lstm.data",
        "aten::quantized_gru.data",
    ]
    return len([name for name in readers(i) if name not in packed_readers]) == 0


@symbolic("aten::_pack_padded_sequence", opset=7)
def pack(input, lengths, batch_first):
    if not stays_packed(0) or not stays_packed(1):
        return unsupported("only recurrent layers may read packed sequences")
    if input.ndim != 3:
        return unsupported("expected steps of two dimensions")
    keep_types(2)
    return swap_dims(input, 0, 1) if batch_first else input, lengths


@symbolic("aten::lstm.data", opset=7)
@symbolic("aten::gru.data", opset=7)
@symbolic("aten::rnn_tanh.data", opset=7)
@symbolic("aten::rnn_relu.data", opset=7)
def packed(data, batch_sizes, hx, params, num_layers, dropout, train, bidirectional):
    if has_projections(hx):
        return unsupported("an LSTM with projections cannot read packed sequences")
    if data.ndim != 3 or not stays_packed(0):
        return unsupported(
            "it only accepts sequences from _pack_padded_sequence that only recurrent layers read"
        )
    keep_types(1)
    p = dropout if train else 0
    lengths = cast(batch_sizes, torch.int32)
    return network(widen(data), lengths, hx, params, num_layers, p, 2 if bidirectional else 1)


def longest_of(x, lengths):
    """The steps that at least one sequence has. Results past the end of a sequence are zero."""
    longest = ReduceMax(lengths, [0], keepdims=1)
    if opset() < 10:
        return with_dtype(Gather(x, iota(longest)), x.dtype)
    return with_dtype(Slice(x, [0], longest, [0]), x.dtype)


@symbolic("aten::_pad_packed_sequence", opset=7)
def unpack(data, batch_sizes, batch_first, padding_value, total_length):
    if data.ndim != 3 or padding_value != 0:
        return unsupported(
            "only sequences from _pack_padded_sequence can be padded, and only with zeros"
        )
    x = data
    # A trace takes total_length from the size of batch_sizes, which is the length of the longest
    # sequence.
    is_longest = not is_known(total_length) and total_length == torch_size(batch_sizes, 0)
    if is_longest or total_length <= 0:
        x = longest_of(data, batch_sizes)
    elif data.size(0) != total_length:
        return unsupported("total_length must be the number of steps before packing")
    return Transpose(x, perm=[1, 0, 2]) if batch_first else x, batch_sizes


# ---- projected outputs ----


def has_projections(hx):
    return not is_tensor(hx) and hint(hx[0].size(2)) != hint(hx[1].size(2))


def projected_step(hidden_weight, out_weight, batch, hidden, out, dtype):
    """The body of a Scan: computes new states from the states and the input's part of the gates."""
    h = graph_input(dtype, 2)
    c = graph_input(dtype, 2)
    x = graph_input(dtype, 2)
    gates = with_dtype(x + MatMul(h, hidden_weight), dtype)
    gates = with_shape(gates, [batch, 4 * hidden])
    enter, forget, cell, leave = split_sizes(gates, 1, [hidden] * 4)
    c = Sigmoid(forget) * c + Sigmoid(enter) * Tanh(cell)
    h = with_dtype(MatMul(Sigmoid(leave) * Tanh(c), out_weight), dtype)
    h = with_shape(h, [batch, out])
    return h, c, Identity(h)


def projected_layer(x, h, c, params, is_backward):
    """One direction. ONNX's LSTM has no projection, so it is a Scan over the steps. The product of
    the input does not depend on the previous step and is computed for all steps at once."""
    dtype = x.dtype
    batch = x.size(1)
    out = hint(h.size(1))
    hidden = hint(c.size(1))
    matrices = [swap_dims(widen(params[i]), 0, 1) for i in [0, 1, -1]]
    gates = with_dtype(MatMul(x, matrices[0]), dtype)
    if len(params) > 3:
        gates = gates + (widen(params[2]) + widen(params[3]))
    last_h, last_c, y = Scan(
        h,
        c,
        gates,
        num_scan_inputs=1,
        scan_input_directions=[is_backward],
        scan_output_directions=[is_backward],
        body=lambda: projected_step(matrices[1], matrices[2], batch, hidden, out, dtype),
        outputs=3,
    )
    return [
        with_shape(with_dtype(y, dtype), [x.size(0), batch, out]),
        with_shape(with_dtype(last_h, dtype), [batch, out]),
        with_shape(with_dtype(last_c, dtype), [batch, hidden]),
    ]


def projected_network(x, hx, params, layers, dropout, directions):
    if opset() < 9:
        return unsupported("an LSTM with projections requires Scan, of opset 9", 9)
    if dropout > 0:
        return unsupported("an LSTM with projections cannot have dropout")
    n = len(params) // (layers * directions)
    h0 = widen(hx[0])
    c0 = widen(hx[1])
    y = x
    h = []
    c = []
    for i in range(layers):
        parts = []
        for k in range(i * directions, (i + 1) * directions):
            first_h = Squeeze(slice(h0, 0, k, k + 1), [0])
            first_c = Squeeze(slice(c0, 0, k, k + 1), [0])
            own = params[k * n : (k + 1) * n]
            results = projected_layer(y, first_h, first_c, own, k - i * directions)
            parts += [results[0]]
            h += [Unsqueeze(results[1], [0])]
            c += [Unsqueeze(results[2], [0])]
        y = Concat(parts, axis=2) if directions > 1 else parts[0]
    return [y, joined(h), joined(c)]
