"""Recurrent layers, packed sequences and single steps."""
from cases import *

GATES = {"lstm": 4, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}


def weights(kind, inputs, hidden, layers=1, both=False, biases=True, proj=0):
    rows, out = GATES[kind] * hidden, proj or hidden
    all = []
    for layer in range(layers):
        for direction in range(2 if both else 1):
            all += [f32(rows, inputs, low=-1, high=1), f32(rows, out, low=-1, high=1)]
            all += [f32(rows), f32(rows)] if biases else []
            all += [f32(proj, hidden, low=-1, high=1)] if proj else []
        inputs = out * (2 if both else 1)
    return all


def state(kind, batch, hidden, layers=1, both=False, proj=0):
    n = layers * (2 if both else 1)
    h = f32(n, batch, proj or hidden)
    return [h, f32(n, batch, hidden)] if kind == "lstm" else h


for kind in GATES:
    for layers, both, biases, first in [(1, False, True, False), (1, False, False, True),
                                        (1, True, True, True), (2, True, True, False)]:
        x = f32(2, 3, 2) if layers == 1 else f32(3, 1, 2)
        batch = x.shape[0] if first else x.shape[1]
        case(f"aten::{kind}.input", x, state(kind, batch, 2, layers, both),
             weights(kind, 2, 2, layers, both, biases), biases, layers, 0.0, False, both, first)
    case(f"aten::{kind}.input", f64(2, 1, 3), [s.double() for s in state(kind, 1, 2)] if kind == "lstm"
         else state(kind, 1, 2).double(), [w.double() for w in weights(kind, 3, 2)], True, 1, 0.0,
         False, False, False)
    case(f"aten::{kind}.data", f32(6, 2), t([3, 2, 1], torch.int64), state(kind, 3, 2),
         weights(kind, 2, 2), True, 1, 0.0, False, False)
    case(f"aten::{kind}.data", f32(4, 2), t([2, 1, 1], torch.int64), state(kind, 2, 2, 2, True),
         weights(kind, 2, 2, 2, True), True, 2, 0.0, False, True)
    case(f"aten::{kind}_cell", f32(2, 3), state(kind, 2, 2) if kind != "lstm"
         else [s[0] for s in state(kind, 2, 2)], *weights(kind, 3, 2)) if kind == "lstm" else \
        case(f"aten::{kind}_cell", f32(2, 3), state(kind, 2, 2)[0], *weights(kind, 3, 2))
    case(f"aten::{kind}_cell", f32(2, 3), [s[0] for s in state(kind, 2, 2)] if kind == "lstm"
         else state(kind, 2, 2)[0], *weights(kind, 3, 2, biases=False))
case("aten::lstm.input", f32(3, 2, 2), state("lstm", 2, 3, proj=2), weights("lstm", 2, 3, proj=2),
     True, 1, 0.0, False, False, False)
case("aten::lstm.input", f32(2, 1, 2), state("lstm", 1, 3, 2, True, 1),
     weights("lstm", 2, 3, 2, True, False, 1), False, 2, 0.0, False, True, False)
case("aten::lstm.input", f32(3, 2, 2), state("lstm", 2, 2, 2), weights("lstm", 2, 2, 2), True, 2, 0.5,
     True, False, False, values=False)
fails("aten::gru.input", f32(3, 2, 2), state("gru", 1, 2), weights("gru", 2, 2), True, 1, 0.0, False,
      False, False)
fails("aten::gru.input", f32(3, 2, 3), state("gru", 2, 2), weights("gru", 2, 2), True, 1, 0.0, False,
      False, False)

case("aten::_pack_padded_sequence", f32(3, 2, 2), t([3, 1], torch.int64), False, fake=False)
case("aten::_pack_padded_sequence", f32(2, 4), t([3, 2], torch.int64), True, fake=False)
fails("aten::_pack_padded_sequence", f32(3, 2, 2), t([1, 3], torch.int64), False)
fails("aten::_pack_padded_sequence", f32(3, 2, 2), t([3, 0], torch.int64), False)
case("aten::_pad_packed_sequence", f32(6, 2), t([3, 2, 1], torch.int64), False, 0.0, 0, fake=False)
case("aten::_pad_packed_sequence", f32(5, 2), t([2, 2, 1], torch.int64), True, -1.5, 4, fake=False)
fails("aten::_pad_packed_sequence", f32(5, 2), t([2, 2, 1], torch.int64), True, 0.0, 2)
