/* Functions that bodies share (body.h): of quantized and recurrent layers, of those that are packed
 * for phones, and of the way back through them. */
#include "aten/body.h"

const cq_body_function cq_body_layers[] = {
    /* ---- quantized layers ---- */

    /* y on a grid of these numbers, in integers of the kind that x has. */
    { "on_grid(Tensor x, Tensor y, float scale, int zero_point) -> Tensor",
      "quantized(y, scale, zero_point, grid_dtype(x))" },
    { "only_float32(Tensor x) -> Tensor",
      "if x.dtype != torch.float32: "
      "raise TypeError('quantizes float32, not {dtype_name(x.dtype)}')\n"
      "return x" },
    { "channel_grid(Tensor x) -> Any",
      "g = qparams(x)\n"
      "if g is None: raise TypeError('the tensor is not quantized')\n"
      "if g[4] is None: raise TypeError('the tensor has one grid for all channels')\n"
      "return g" },
    { "whole_grid(Tensor x) -> Any",
      "g = qparams(x)\n"
      "if g is None: raise TypeError('the tensor is not quantized')\n"
      "if g[4] is not None: raise TypeError('the tensor has a grid for each channel')\n"
      "return g" },
    { "grid_of(Tensor x) -> Any",
      "g = qparams(x)\n"
      "if g is None or g[4] is not None: "
      "raise NotImplementedError('the scale of the quantized tensor is not known')\n"
      "return g" },
    /* With a number only the grid moves, as far as its integers allow. */
    { "add_number(Tensor x, float b, bool with_relu) -> Tensor",
      "scale, zero, low, high, axis, dtype = grid_of(x)\n"
      "steps = round(b / scale); at = zero - steps; by = steps * scale\n"
      "if at < low: scale = scale * ((high - at) / (high - low)); at = low\n"
      "elif at > high: scale = scale * ((at - low) / (high - low)); at = high\n"
      "y = x + by\n"
      "return on_grid(x, y.relu() if with_relu else y, scale, at)" },
    { "times_number(Tensor x, float b, bool with_relu) -> Tensor",
      "scale, zero, low, high, axis, dtype = grid_of(x)\n"
      "y = x * b\n"
      "if with_relu: y = y.relu()\n"
      "if b == 0: return on_grid(x, y, 1., 0)\n"
      "return on_grid(x, y, scale * abs(b), zero if b > 0 else high + low - zero)" },
    { "join_on_grid(Tensor[] tensors, int dim, float? scale, int? zero_point, bool with_relu) -> "
      "Tensor",
      "assert len(tensors) > 0, 'there is nothing to join'\n"
      "parts = [floats(x) for x in tensors]\n"
      "if scale is None or zero_point is None: g = grid_of(parts[0]); scale = g[0]; "
      "zero_point = g[1]\n"
      "y = cat(parts, dim)\n"
      "return on_grid(parts[0], y.relu() if with_relu else y, scale, zero_point)" },
    /* The first n items of packed weights, or more, the weight in floats. */
    { "unpacked(Any packed, int n) -> Any",
      "if not isinstance(packed, tuple) or len(packed) < n or not isinstance(packed[0], Tensor): "
      "raise TypeError('wants packed weights')\n"
      "return [floats(packed[0])] + packed[1:]" },
    { "linear_packed(Tensor x, Any packed) -> Tensor",
      "p = unpacked(packed, 2)\n"
      "return linear(x, p[0], bias_on_grid(p[1], x, p[0]))" },
    { "conv_packed(Tensor x, Any packed) -> Tensor",
      "w, b, stride, padding, dilation, groups, output_padding = unpacked(packed, 7)\n"
      "b = bias_on_grid(b, x, w)\n"
      "if w.ndim == 3: return conv1d(x, w, b, stride, padding, dilation, groups)\n"
      "if w.ndim == 4: return conv2d(x, w, b, stride, padding, dilation, groups)\n"
      "if w.ndim == 5: return conv3d(x, w, b, stride, padding, dilation, groups)\n"
      "raise TypeError('a weight of {w.ndim} dimensions')" },
    { "conv_transpose_packed(Tensor x, Any packed) -> Tensor",
      "w, b, stride, padding, dilation, groups, more = unpacked(packed, 7)\n"
      "b = bias_on_grid(b, x, w)\n"
      "if w.ndim == 3: return conv_transpose1d(x, w, b, stride, padding, more, groups, dilation)\n"
      "if w.ndim == 4: return conv_transpose2d(x, w, b, stride, padding, more, groups, dilation)\n"
      "if w.ndim == 5: return conv_transpose3d(x, w, b, stride, padding, more, groups, dilation)\n"
      "raise TypeError('a weight of {w.ndim} dimensions')" },
    /* x rounded by the scale that spreads its numbers, and 0, over 0 … 255 (or 127). The zero point
     * is the nearest integer to where 0 falls. */
    { "rounded_by_range(Tensor x, float high) -> Tensor",
      "least = x.min().clamp_max(0); most = x.max().clamp_min(0)\n"
      "scale = (most - least) / high\n"
      "scale = where.ScalarOther(scale > 0, scale, 0.1)\n"
      "zero = (-least / scale).round().clamp(0, high).to(torch.int32)\n"
      "return fake_quantize_per_tensor_affine(x, scale, zero, 0, int(high))" },
    { "linear_rounded(Tensor x, Any packed, bool reduce_range) -> Tensor",
      "p = unpacked(packed, 2)\n"
      "return linear(rounded_by_range(x, 127. if narrow_range(reduce_range) else 255.), p[0], "
      "p[1])" },

    /* ---- steps of recurrent layers ---- */

    /* The i-th of n equal parts of the last dimension. */
    { "gate(Tensor x, int i, int n) -> Tensor", "size = x.shape[-1] // n; start = size * i\n"
                                                "return x.slice(-1, start, start + size)" },
    { "lstm_step(Tensor gates, Tensor c) -> (Tensor, Tensor)",
      "i = gate(gates, 0, 4).sigmoid(); f = gate(gates, 1, 4).sigmoid()\n"
      "n = gate(gates, 2, 4).tanh(); o = gate(gates, 3, 4).sigmoid()\n"
      "c = f * c + i * n\n"
      "return o * c.tanh(), c" },
    { "gru_step(Tensor x, Tensor gates, Tensor h) -> Tensor",
      "r = (gate(x, 0, 3) + gate(gates, 0, 3)).sigmoid()\n"
      "z = (gate(x, 1, 3) + gate(gates, 1, 3)).sigmoid()\n"
      "n = (gate(x, 2, 3) + r * gate(gates, 2, 3)).tanh()\n"
      "return (h - n) * z + n" },

    /* Weights of a layer and direction: of input and state, their biases, and what the output is
     * projected by. */
    { "rnn_weights(Tensor[] params, int at, bool biases, bool projected) -> Any",
      "[params[at], params[at + 1], params[at + 2] if biases else None, "
      "params[at + 3] if biases else None, params[at + (4 if biases else 2)] if projected else "
      "None]" },
    { "rnn_step(Tensor x, Tensor[] state, Any w, str kind) -> Any",
      "u = linear(state[0], w[1], w[3])\n"
      "if kind == 'gru': return [gru_step(x, u, state[0])]\n"
      "u = x + u\n"
      "if kind != 'lstm': return [u.relu() if kind == 'relu' else u.tanh()]\n"
      "h, c = lstm_step(u, state[1])\n"
      "return [h if w[4] is None else linear(h, w[4]), c]" },
    /* The states of the sequences that run on; in the other direction sequences begin at their
     * ends, and their first states join. */
    { "states_left(Tensor[] state, int n) -> Tensor[]",
      "[s if s.shape[0] == n else s.slice(0, 0, n) for s in state]" },
    { "states_joined(Tensor[] state, Tensor[] first, int n) -> Tensor[]",
      "now = state[0].shape[0]\n"
      "if now == n: return state\n"
      "return [cat([state[k], first[k].slice(0, now, n)], 0) for k in range(len(state))]" },
    /* One direction of one layer on x [rows of all steps, input], step t of which has sizes[t]
     * rows: what comes out, and the last states of all sequences, which end at different steps. */
    { "rnn_direction(Tensor x, int[] sizes, Tensor[] first, Any w, str kind, bool reverse) -> Any",
      "steps = len(sizes)\n"
      "parts = split_with_sizes(linear(x, w[0], w[2]), sizes)\n"
      "state = states_left(first, sizes[-1]) if reverse else first\n"
      "ended = []; out = []\n"
      "for i in range(steps): t = steps - 1 - i if reverse else i; n = sizes[t];"
      " ended = [[s.slice(0, n) for s in state]] + ended if state[0].shape[0] > n else ended;"
      " state = states_joined(state, first, n) if reverse else states_left(state, n);"
      " state = rnn_step(parts[t], state, w, kind); out += [state[0]]\n"
      "y = out[0] if steps == 1 else cat(reversed(out) if reverse else out, 0)\n"
      "if len(ended) == 0: return [y] + state\n"
      "return [y] + [cat([state[k]] + [e[k] for e in ended], 0) for k in range(len(state))]" },
    { "rnn_layers(Tensor x, int[] sizes, Tensor[] hx, Tensor[] params, bool has_biases, int "
      "num_layers, float dropout, bool train, bool bidirectional, str kind) -> Any",
      "k = 2 if bidirectional else 1\n"
      "projected = len(hx) == 2 and hx[0].shape[2] != hx[1].shape[2]\n"
      "n = 2 + (2 if has_biases else 0) + (1 if projected else 0)\n"
      "ends = []\n"
      "for i in range(num_layers): both = [rnn_direction(x, sizes,"
      " [h.select(0, i * k + d) for h in hx],"
      " rnn_weights(params, (i * k + d) * n, has_biases, projected), kind, d == 1)"
      " for d in range(k)];"
      " x = both[0][0] if k == 1 else cat([b[0] for b in both], 1);"
      " x = x.dropout(dropout, True) if train and dropout > 0 and i + 1 < num_layers else x;"
      " ends += both\n"
      "return [x] + [stack([e[s + 1] for e in ends], 0) for s in range(len(hx))]" },

    /* The packed weights of input and state, and whether the range is reduced, of a cell with
     * quantized weights. */
    { "cell_weights(Any cell) -> Any",
      "if len(cell) != 5 or not isinstance(cell[0], str): "
      "raise TypeError('\"params\" should be parameters of cells')\n"
      "kind, tensors, numbers, ints, packed = cell\n"
      "if kind != 'quantized_dynamic' or len(packed) != 2: "
      "raise NotImplementedError('cells of the kind {kind} are not known')\n"
      "return [packed[0], packed[1], len(ints) == 1 and isinstance(ints[0], int) and ints[0] != "
      "0]" },
    /* A layer in one direction: x is [steps, batch, features]. What comes out, and the states at
     * the end. */
    { "quantized_direction(Tensor x, Any cell, Tensor[] state, bool backwards) -> Any",
      "steps = int(x.shape[0])\n"
      "if steps < 1 or steps > 4096: raise NotImplementedError("
      "'a sequence of {steps} steps: at least 1 and at most 4096 are possible')\n"
      "w_ih, w_hh, reduce_range = cell_weights(cell)\n"
      "inputs = quantized::linear_dynamic(x, w_ih, reduce_range)\n"
      "h = state[0]; c = state[-1]; out = []\n"
      "for i in range(steps): x = inputs.select(0, steps - 1 - i if backwards else i);"
      " g = quantized::linear_dynamic(h, w_hh, reduce_range);"
      " h, c = lstm_step(g + x, c) if len(state) == 2 else [gru_step(x, g, h), c];"
      " out += [h]\n"
      "return [stack(reversed(out) if backwards else out, 0), h, c]" },
    { "quantized_layers(Tensor input, Tensor[] hx, Any params, int num_layers, float dropout, bool "
      "train, bool bidirectional, bool batch_first) -> Any",
      "assert num_layers > 0 and num_layers <= 2048, '{num_layers} layers'\n"
      "k = 2 if bidirectional else 1\n"
      "fits = [h.ndim == 3 and h.shape[0] == num_layers * k for h in hx]\n"
      "if input.ndim != 3 or len(params) != num_layers * k or False in fits: raise TypeError("
      "'sizes of the input, the states and the parameters do not fit')\n"
      "if train and dropout > 0: raise NotImplementedError('dropout between layers is for "
      "training')\n"
      "x = input.transpose(0, 1) if batch_first else input\n"
      "ends = []\n"
      "for i in range(num_layers): both = [quantized_direction(x, params[i * k + d],"
      " [h.select(0, i * k + d) for h in hx], d == 1) for d in range(k)];"
      " x = both[0][0] if k == 1 else cat([b[0] for b in both], -1); ends += both\n"
      "if batch_first: x = x.transpose(0, 1)\n"
      "return [x] + [stack([e[s + 1] for e in ends], 0) for s in range(len(hx))]" },

    /* ---- layers packed for XNNPACK ---- */
    { "clamped(Tensor y, Any low, Any high) -> Tensor",
      "y if low is None and high is None else y.clamp(low, high)" },
    { "context_items(Any context, int n) -> Any",
      "if not isinstance(context, tuple) or len(context) != n: "
      "raise TypeError('wants a context of XNNPACK with {n} items')\n"
      "return context" },
    /* XNNPACK asks no input for its sizes: of features that are too many it reads as many as it has
     * weights for, row after row. There are models for phones that live with that. */
    { "features_for(Tensor x, Tensor weight) -> Tensor",
      "if weight.ndim != 2 or x.ndim == 0: return x\n"
      "have = x.shape[-1]; n = weight.shape[1]\n"
      "if size_hint(have) <= size_hint(n): return x\n"
      "warn('the input has {have} features and the weights are for {n}: as in PyTorch, the numbers "
      "that are left over are ignored')\n"
      "rows = x.shape[:-1]\n"
      "return x.flatten(0, -1).slice(0, 0, prod(rows) * n).reshape(rows + [n])" },

    /* ---- the way back through normalisations ---- */

    /* x^ and 1 / deviation, over dims, or by statistics that are given. */
    { "normalised(Tensor x, int[]? dims, Tensor? mean, Tensor? var, float eps) -> (Tensor, Tensor)",
      "if dims is not None: mean = x.mean(dims, True)\n"
      "d = x - mean\n"
      "if dims is not None: var = (d * d).mean(dims, True)\n"
      "rstd = (var + eps).rsqrt()\n"
      "return d * rstd, rstd" },
    { "norm_back(Tensor d, Tensor hat, Tensor rstd, int[]? dims) -> Tensor",
      "if dims is not None: d = d - d.mean(dims, True) - hat * (d * hat).mean(dims, True)\n"
      "return d * rstd" },
    { 0 },
};
