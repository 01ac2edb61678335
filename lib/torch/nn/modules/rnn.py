"""Recurrent layers and cells."""
import math

import torch
from calque import Parameter, Tensor
from .. import init
from ..utils.rnn import PackedSequence
from .module import Module

_GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}


def apply_permutation(tensor, permutation, dim=1):
    return tensor.index_select(dim, permutation)


class RNNBase(Module):
    def __init__(self, mode, input_size, hidden_size, num_layers=1, bias=True, batch_first=False,
                 dropout=0.0, bidirectional=False, proj_size=0, device=None, dtype=None):
        super().__init__()
        if hidden_size <= 0:
            raise ValueError("hidden_size must be greater than zero")
        if num_layers <= 0:
            raise ValueError("num_layers must be greater than zero")
        if proj_size < 0:
            raise ValueError("proj_size should be a positive integer or zero to disable "
                             "projections")
        if proj_size >= hidden_size:
            raise ValueError("proj_size has to be smaller than hidden_size")
        if mode not in _GATES:
            raise ValueError("Unrecognized RNN mode: " + mode)
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        self._flat_weights_names = []
        self._all_weights = []
        n_directions = 2 if bidirectional else 1
        rows = _GATES[mode] * hidden_size
        state = proj_size if proj_size > 0 else hidden_size
        for layer in range(num_layers):
            width = input_size if layer == 0 else state * n_directions
            for direction in range(n_directions):
                suffix = f"l{layer}" + ("_reverse" if direction == 1 else "")
                shapes = [("weight_ih_", (rows, width)), ("weight_hh_", (rows, state))]
                if bias:
                    shapes += [("bias_ih_", (rows,)), ("bias_hh_", (rows,))]
                if proj_size > 0:
                    shapes += [("weight_hr_", (proj_size, hidden_size))]
                names = []
                for name, shape in shapes:
                    setattr(self, name + suffix, Parameter(torch.empty(shape, dtype=dtype)))
                    names.append(name + suffix)
                self._all_weights.append(names)
                self._flat_weights_names += names
        self.reset_parameters()

    @property
    def _flat_weights(self):
        return [getattr(self, name) for name in self._flat_weights_names]

    @property
    def all_weights(self):
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    def flatten_parameters(self):
        """The weights need no particular layout in memory."""

    def reset_parameters(self):
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def __getstate__(self):
        state = dict(self.__dict__)
        state["_flat_weights"] = self._flat_weights  # an attribute in PyTorch
        return state

    def __setstate__(self, state):
        super().__setstate__(state)
        own = self.__dict__
        if "all_weights" in own:
            own["_all_weights"] = own.pop("all_weights")
        own.pop("_flat_weights", None)
        if "proj_size" not in own:
            own["proj_size"] = 0
        own["_flat_weights_names"] = [name for names in self._all_weights for name in names
                                      if name]

    def extra_repr(self):
        text = f"{self.input_size}, {self.hidden_size}"
        if self.proj_size != 0:
            text += f", proj_size={self.proj_size}"
        if self.num_layers != 1:
            text += f", num_layers={self.num_layers}"
        if self.bias is not True:
            text += f", bias={self.bias}"
        if self.batch_first is not False:
            text += f", batch_first={self.batch_first}"
        if self.dropout != 0:
            text += f", dropout={self.dropout}"
        if self.bidirectional is not False:
            text += f", bidirectional={self.bidirectional}"
        return text

    def permute_hidden(self, hx, permutation):
        if permutation is None:
            return hx
        if isinstance(hx, tuple):
            return tuple(apply_permutation(h, permutation) for h in hx)
        return apply_permutation(hx, permutation)

    def _zeros(self, width, batch, dtype):
        n = self.num_layers * (2 if self.bidirectional else 1)
        return torch.zeros([n, batch, width], dtype=dtype)

    def _initial(self, batch, dtype):
        """The initial state: a tensor, or two for LSTM."""
        return self._zeros(self.hidden_size, batch, dtype)

    def _arguments(self):
        return (self.bias, self.num_layers, self.dropout, self.training, self.bidirectional)

    def forward(self, input, hx=None):
        if isinstance(input, PackedSequence):
            return self._forward_packed(input, hx)
        if input.dim() not in (2, 3):
            raise ValueError(f"{type(self).__name__}: Expected input to be 2D or 3D, got "
                             f"{input.dim()}D instead")
        is_batched = input.dim() == 3
        batch_dim = 0 if self.batch_first else 1
        if not is_batched:
            input = input.unsqueeze(batch_dim)
            hx = None if hx is None else _map(hx, lambda h: h.unsqueeze(1))
        if hx is None:
            hx = self._initial(input.size(batch_dim), input.dtype)
        result = self._run(input, hx)
        out, state = result[0], _state_of(result)
        if not is_batched:
            return out.squeeze(batch_dim), _map(state, lambda h: h.squeeze(1))
        return out, state

    def _forward_packed(self, packed, hx):
        data, sizes = packed.data, packed.batch_sizes
        if hx is None:
            hx = self._initial(sizes[0], data.dtype)
        else:
            hx = self.permute_hidden(hx, packed.sorted_indices)
        result = self._run_packed(data, sizes, hx)
        out = PackedSequence(result[0], sizes, packed.sorted_indices, packed.unsorted_indices)
        return out, self.permute_hidden(_state_of(result), packed.unsorted_indices)


def _map(state, fn):
    return tuple(fn(h) for h in state) if isinstance(state, (tuple, list)) else fn(state)


def _state_of(result):
    return result[1] if len(result) == 2 else (result[1], result[2])


class RNN(RNNBase):
    def __init__(self, input_size, hidden_size, num_layers=1, nonlinearity="tanh", bias=True,
                 batch_first=False, dropout=0.0, bidirectional=False, device=None, dtype=None):
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or "
                             "'relu'.")
        self.nonlinearity = nonlinearity
        super().__init__("RNN_TANH" if nonlinearity == "tanh" else "RNN_RELU", input_size,
                         hidden_size, num_layers, bias, batch_first, dropout, bidirectional, 0,
                         device, dtype)

    def _run(self, input, hx):
        fn = torch.rnn_tanh if self.mode == "RNN_TANH" else torch.rnn_relu
        return fn(input, hx, self._flat_weights, *self._arguments(), self.batch_first)

    def _run_packed(self, data, sizes, hx):
        fn = torch.rnn_tanh if self.mode == "RNN_TANH" else torch.rnn_relu
        return fn(data, sizes, hx, self._flat_weights, *self._arguments())


class LSTM(RNNBase):
    def __init__(self, input_size, hidden_size, num_layers=1, bias=True, batch_first=False,
                 dropout=0.0, bidirectional=False, proj_size=0, device=None, dtype=None):
        super().__init__("LSTM", input_size, hidden_size, num_layers, bias, batch_first, dropout,
                         bidirectional, proj_size, device, dtype)

    def _initial(self, batch, dtype):
        width = self.proj_size if self.proj_size > 0 else self.hidden_size
        return self._zeros(width, batch, dtype), self._zeros(self.hidden_size, batch, dtype)

    def _run(self, input, hx):
        return torch.lstm(input, list(hx), self._flat_weights, *self._arguments(),
                          self.batch_first)

    def _run_packed(self, data, sizes, hx):
        return torch.lstm(data, sizes, list(hx), self._flat_weights, *self._arguments())


class GRU(RNNBase):
    def __init__(self, input_size, hidden_size, num_layers=1, bias=True, batch_first=False,
                 dropout=0.0, bidirectional=False, device=None, dtype=None):
        super().__init__("GRU", input_size, hidden_size, num_layers, bias, batch_first, dropout,
                         bidirectional, 0, device, dtype)

    def _run(self, input, hx):
        return torch.gru(input, hx, self._flat_weights, *self._arguments(), self.batch_first)

    def _run_packed(self, data, sizes, hx):
        return torch.gru(data, sizes, hx, self._flat_weights, *self._arguments())


class RNNCellBase(Module):
    def __init__(self, input_size, hidden_size, bias, num_chunks, device=None, dtype=None):
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        rows = num_chunks * hidden_size
        self.weight_ih = Parameter(torch.empty((rows, input_size), dtype=dtype))
        self.weight_hh = Parameter(torch.empty((rows, hidden_size), dtype=dtype))
        if bias:
            self.bias_ih = Parameter(torch.empty(rows, dtype=dtype))
            self.bias_hh = Parameter(torch.empty(rows, dtype=dtype))
        else:
            self.register_parameter("bias_ih", None)
            self.register_parameter("bias_hh", None)
        self.reset_parameters()

    def reset_parameters(self):
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def extra_repr(self):
        text = f"{self.input_size}, {self.hidden_size}"
        if self.bias is not True:
            text += f", bias={self.bias}"
        if "nonlinearity" in self.__dict__ and self.nonlinearity != "tanh":
            text += f", nonlinearity={self.nonlinearity}"
        return text

    def _weights(self):
        return (self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)

    def _batched(self, input, hx):
        """A batch of one for a single example, and zeros for a missing state."""
        if input.dim() == 1:
            input = input.unsqueeze(0)
            hx = None if hx is None else _map(hx, lambda h: h.unsqueeze(0))
        if hx is None:
            hx = torch.zeros([input.size(0), self.hidden_size], dtype=input.dtype)
            hx = (hx, hx) if isinstance(self, LSTMCell) else hx
        return input, hx


class RNNCell(RNNCellBase):
    def __init__(self, input_size, hidden_size, bias=True, nonlinearity="tanh", device=None,
                 dtype=None):
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input, hx=None):
        rank = input.dim()
        input, hx = self._batched(input, hx)
        if self.nonlinearity == "tanh":
            out = torch.rnn_tanh_cell(input, hx, *self._weights())
        elif self.nonlinearity == "relu":
            out = torch.rnn_relu_cell(input, hx, *self._weights())
        else:
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        return out.squeeze(0) if rank == 1 else out


class LSTMCell(RNNCellBase):
    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input, hx=None):
        rank = input.dim()
        input, hx = self._batched(input, hx)
        h, c = torch.lstm_cell(input, list(hx), *self._weights())
        return (h.squeeze(0), c.squeeze(0)) if rank == 1 else (h, c)


class GRUCell(RNNCellBase):
    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input, hx=None):
        rank = input.dim()
        input, hx = self._batched(input, hx)
        out = torch.gru_cell(input, hx, *self._weights())
        return out.squeeze(0) if rank == 1 else out
