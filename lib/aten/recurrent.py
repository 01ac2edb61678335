"""Recurrent layers, step by step."""

import torch

from calque import gradient_of, operator, traits


def gate(x, i, n):
    """The i-th of n equal parts of the last dimension."""
    size = x.shape[-1] // n
    start = size * i
    return torch.ops.aten.slice(x, -1, start, start + size)


def lstm_step(gates, c):
    i = gate(gates, 0, 4).sigmoid()
    f = gate(gates, 1, 4).sigmoid()
    n = gate(gates, 2, 4).tanh()
    o = gate(gates, 3, 4).sigmoid()
    c = f * c + i * n
    return (o * c.tanh(), c)


def gru_step(x, gates, h):
    r = (gate(x, 0, 3) + gate(gates, 0, 3)).sigmoid()
    z = (gate(x, 1, 3) + gate(gates, 1, 3)).sigmoid()
    n = (gate(x, 2, 3) + r * gate(gates, 2, 3)).tanh()
    return (h - n) * z + n


def rnn_weights(params, at, biases, projected):
    """The weights of a layer and direction: of input and state, their biases, and of the
    projection."""
    return [
        params[at],
        params[at + 1],
        params[at + 2] if biases else None,
        params[at + 3] if biases else None,
        params[at + (4 if biases else 2)] if projected else None,
    ]


def rnn_step(x, state, w, kind):
    u = torch.ops.aten.linear(state[0], w[1], w[3])
    if kind == "gru":
        return [gru_step(x, u, state[0])]
    u = x + u
    if kind != "lstm":
        return [u.relu() if kind == "relu" else u.tanh()]
    h, c = lstm_step(u, state[1])
    return [h if w[4] is None else torch.ops.aten.linear(h, w[4]), c]


def states_left(state, n):
    """The states of the first n sequences, which are those that have another step."""
    return [s if s.shape[0] == n else torch.ops.aten.slice(s, 0, 0, n) for s in state]


def states_joined(state, first, n):
    now = state[0].shape[0]
    if now == n:
        return state
    return [
        torch.cat([state[k], torch.ops.aten.slice(first[k], 0, now, n)], 0)
        for k in range(len(state))
    ]


def rnn_direction(x, sizes, first, w, kind, reverse):
    """One direction of one layer on x [rows of all steps, input], step t of which has sizes[t]
    rows: the outputs, and the last states of all sequences, which end at different steps."""
    steps = len(sizes)
    parts = torch.split_with_sizes(torch.ops.aten.linear(x, w[0], w[2]), sizes)
    state = states_left(first, sizes[-1]) if reverse else first
    ended = []
    out = []
    for i in range(steps):
        t = steps - 1 - i if reverse else i
        n = sizes[t]
        ended = (
            [[torch.ops.aten.slice(s, 0, n) for s in state]] + ended
            if state[0].shape[0] > n
            else ended
        )
        state = states_joined(state, first, n) if reverse else states_left(state, n)
        state = rnn_step(parts[t], state, w, kind)
        out += [state[0]]
    y = out[0] if steps == 1 else torch.cat(reversed(out) if reverse else out, 0)
    if len(ended) == 0:
        return [y] + state
    return [y] + [torch.cat([state[k]] + [e[k] for e in ended], 0) for k in range(len(state))]


def rnn_layers(x, sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional, kind):
    k = 2 if bidirectional else 1
    projected = len(hx) == 2 and hx[0].shape[2] != hx[1].shape[2]
    n = 2 + (2 if has_biases else 0) + (1 if projected else 0)
    ends = []
    for i in range(num_layers):
        both = [
            rnn_direction(
                x,
                sizes,
                [h.select(0, i * k + d) for h in hx],
                rnn_weights(params, (i * k + d) * n, has_biases, projected),
                kind,
                d == 1,
            )
            for d in range(k)
        ]
        x = both[0][0] if k == 1 else torch.cat([b[0] for b in both], 1)
        x = torch.dropout(x, dropout, True) if train and dropout > 0 and (i + 1 < num_layers) else x
        ends += both
    return [x] + [torch.stack([e[s + 1] for e in ends], 0) for s in range(len(hx))]


@operator(
    "aten::lstm_cell(Tensor input, Tensor[] hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, "
    "Tensor? b_hh=None) -> (Tensor, Tensor)"
)
def lstm_cell(input, hx, w_ih, w_hh, b_ih, b_hh):
    """One step of lstm."""
    assert len(hx) >= 2, 'expected two states in "hx"'
    return lstm_step(
        torch.ops.aten.linear(input, w_ih, b_ih) + torch.ops.aten.linear(hx[0], w_hh, b_hh), hx[1]
    )


@operator(
    "aten::gru_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, "
    "Tensor? b_hh=None) -> Tensor"
)
def gru_cell(input, hx, w_ih, w_hh, b_ih, b_hh):
    """One step of gru."""
    return gru_step(
        torch.ops.aten.linear(input, w_ih, b_ih), torch.ops.aten.linear(hx, w_hh, b_hh), hx
    )


@operator(
    "aten::rnn_tanh_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, "
    "Tensor? b_ih=None, Tensor? b_hh=None) -> Tensor"
)
def rnn_tanh_cell(input, hx, w_ih, w_hh, b_ih, b_hh):
    """One step of rnn_tanh."""
    return torch.tanh(
        torch.ops.aten.linear(input, w_ih, b_ih) + torch.ops.aten.linear(hx, w_hh, b_hh)
    )


@operator(
    "aten::rnn_relu_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, "
    "Tensor? b_ih=None, Tensor? b_hh=None) -> Tensor"
)
def rnn_relu_cell(input, hx, w_ih, w_hh, b_ih, b_hh):
    """One step of rnn_relu."""
    return torch.relu(
        torch.ops.aten.linear(input, w_ih, b_ih) + torch.ops.aten.linear(hx, w_hh, b_hh)
    )


def padded_layers(
    input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first, kind
):
    """The layers on padded sequences [steps, batch, features], or [batch, steps, features]."""
    x = input.transpose(0, 1) if batch_first else input
    steps = int(x.shape[0])
    n = int(x.shape[1])
    y = rnn_layers(
        x.reshape([steps * n, x.shape[2]]),
        [n for i in range(steps)],
        hx,
        params,
        has_biases,
        num_layers,
        dropout,
        train,
        bidirectional,
        kind,
    )
    x = y[0].reshape([steps, n, y[0].shape[1]])
    return [x.transpose(0, 1) if batch_first else x] + y[1:]


@gradient_of("aten::lstm.input")
def lstm_input_tape(
    input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first
):
    return padded_layers(
        input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first,
        "lstm",
    )


@gradient_of("aten::lstm.data")
def lstm_data_tape(
    data, batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional
):
    sizes = batch_sizes.tolist()
    return rnn_layers(
        data, sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional, "lstm"
    )


@gradient_of("aten::gru.input")
def gru_input_tape(
    input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first
):
    return padded_layers(
        input, [hx], params, has_biases, num_layers, dropout, train, bidirectional, batch_first,
        "gru",
    )


@gradient_of("aten::gru.data")
def gru_data_tape(
    data, batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional
):
    sizes = batch_sizes.tolist()
    return rnn_layers(
        data, sizes, [hx], params, has_biases, num_layers, dropout, train, bidirectional, "gru"
    )


@gradient_of("aten::rnn_tanh.input")
def rnn_tanh_input_tape(
    input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first
):
    return padded_layers(
        input, [hx], params, has_biases, num_layers, dropout, train, bidirectional, batch_first,
        "tanh",
    )


@gradient_of("aten::rnn_tanh.data")
def rnn_tanh_data_tape(
    data, batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional
):
    sizes = batch_sizes.tolist()
    return rnn_layers(
        data, sizes, [hx], params, has_biases, num_layers, dropout, train, bidirectional, "tanh"
    )


@gradient_of("aten::rnn_relu.input")
def rnn_relu_input_tape(
    input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first
):
    return padded_layers(
        input, [hx], params, has_biases, num_layers, dropout, train, bidirectional, batch_first,
        "relu",
    )


@gradient_of("aten::rnn_relu.data")
def rnn_relu_data_tape(
    data, batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional
):
    sizes = batch_sizes.tolist()
    return rnn_layers(
        data, sizes, [hx], params, has_biases, num_layers, dropout, train, bidirectional, "relu"
    )


# ---- traits of operators whose rows are in C ----

traits("aten::lstm.*", cost="recurrent")
traits("aten::gru.*", cost="recurrent")
traits("aten::rnn_tanh.*", cost="recurrent")
traits("aten::rnn_relu.*", cost="recurrent")
