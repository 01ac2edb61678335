/* Functions that bodies share (body.h), by family. */
#include "aten/body.h"

const cq_body_function cq_body_functions[] = {
    /* ---- arithmetic that is left out where it changes nothing ---- */
    { "scaled(Tensor x, float by) -> Tensor", "x if by == 1 else x * by" },
    { "shifted(Tensor x, float by) -> Tensor", "x if by == 0 else x + by" },

    /* ---- random numbers (random.c) ---- */

    /* Of several draws along the first dimension, the first that is good. */
    { "first_good(Tensor draws, Tensor good) -> Tensor",
      "draws.gather(0, good.to(torch.int64).argmax(0, True)).squeeze(0)" },
    /* 48 or more are met once in 1e14 times. */
    { "poisson_below(Tensor mean) -> Tensor",
      "k = arange(48, dtype=mean.dtype).reshape([48] + [1 for n in mean.shape])\n"
      "p = (k * mean.log() - mean - (k + 1).lgamma()).exp().cumsum(0)\n"
      "return (rand_like(mean) > p / p.slice(0, 47, 48)).sum([0], dtype=mean.dtype)" },
    { "poisson_above(Tensor mean) -> Tensor",
      "b = mean.sqrt() * 2.53 + 0.931; a = b * 0.02483 - 0.059\n"
      "u = rand([12] + mean.shape, dtype=mean.dtype) - 0.5; s = 0.5 - u.abs()\n"
      "k = ((a * 2 / s + b) * u + mean + 0.43).floor()\n"
      "v = rand([12] + mean.shape, dtype=mean.dtype) * (1.1328 / (b - 3.4) + 1.1239)\n"
      "bound = k * mean.log() - mean - (k.clamp(min=0) + 1).lgamma()\n"
      "good = ((v / (a / (s * s) + b)).log() <= bound).logical_and(k >= 0)\n"
      "return first_good(k, good).clamp(min=0)" },

    /* ---- losses ---- */

    /* The end of every loss: as it is, its mean or its sum. */
    { "reduced(Tensor loss, int reduction) -> Tensor",
      "assert reduction in [0, 1, 2], 'there is no reduction {reduction}'\n"
      "return loss.mean() if reduction == 1 else loss.sum() if reduction == 2 else loss" },
    /* The weight of each target's class, 1 without weights, 0 where the target is ignored. */
    { "class_weights(Tensor? weight, Tensor target, Tensor ignored, int dtype) -> Tensor",
      "if weight is None: return ignored.logical_not().to(dtype)\n"
      "w = weight.index_select(0, target.reshape([-1]))\n"
      "return w.reshape(target.shape).masked_fill(ignored, 0)" },
    /* Minus the sum over all classes, each by its weight. */
    { "sum_classes(Tensor x, Tensor? weight, int dim) -> Tensor",
      "if weight is not None:"
      " x = x * weight.reshape([x.shape[i] if i == dim else 1 for i in range(x.ndim)])\n"
      "return -x.sum(dim)" },
    /* part / classes, where the number of classes may be a symbol. */
    { "share(float part, int classes, int dtype) -> Tensor",
      "scaled(scalar_tensor(classes, dtype=dtype).reciprocal(), part)" },

    /* ---- dtypes ---- */
    { "in_float(Tensor x) -> Tensor", "x if x.is_floating_point() else x.to(torch.float32)" },
    /* One past the integers that a dtype holds exactly, as far as an int64 goes. */
    { "past_all(int dtype) -> int",
      "2 if dtype == torch.bool else 128 if dtype == torch.int8 else 256 if dtype == torch.uint8"
      " else 32768 if dtype == torch.int16 else 2147483648 if dtype == torch.int32"
      " else 9223372036854775807 if dtype == torch.int64 else 2049 if dtype == torch.float16"
      " else 257 if dtype == torch.bfloat16 else 16777217 if dtype == torch.float32"
      " else 9007199254740993" },
    { "number_like(Tensor x, float number) -> Tensor", "scalar_tensor(number, dtype=x.dtype)" },

    /* ---- powers and inverses of matrices ---- */
    { "square_matrix(Tensor x) -> Tensor",
      "assert x.ndim > 1 and x.shape[-1] == x.shape[-2], 'wants square matrices'\n"
      "return x" },
    /* By squaring: the binary digits of n say which squares count. */
    { "power_of(Tensor x, int n) -> Tensor",
      "assert abs(n) <= 1048576, 'the power {n} is out of bounds'\n"
      "if n == 0: return eye(x.shape[-1], dtype=x.dtype).expand(x.shape).clone()\n"
      "if n == 1: return x.clone()\n"
      "if n < 0: x = x.linalg_inv()\n"
      "left = abs(n); y = x; first = True\n"
      "for i in range(21): y = y if left % 2 == 0 else x if first else y @ x; "
      "first = first and left % 2 == 0; left = left // 2; x = x @ x if left > 0 else x\n"
      "return y" },
    /* The determinant of the rows and columns of e, by the first row. */
    { "minor(Any e, int[] rows, int[] columns) -> Tensor",
      "a = e[rows[0]]\n"
      "if len(rows) == 1: return a[columns[0]]\n"
      "b = e[rows[1]]; i = columns[0]; k = columns[1]\n"
      "if len(rows) == 2: return a[i] * b[k] - a[k] * b[i]\n"
      "parts = [a[c] * minor(e, rows[1:], [d for d in columns if d != c]) for c in columns]\n"
      "y = parts[0]\n"
      "for i in range(1, len(parts)): y = y - parts[i] if i % 2 == 1 else y + parts[i]\n"
      "return y" },
    { "cofactor(Any e, int n, int column, int row) -> Tensor",
      "if n == 1: return ones_like(e[0][0])\n"
      "y = minor(e, [i for i in range(n) if i != row], [i for i in range(n) if i != column])\n"
      "return -y if (row + column) % 2 == 1 else y" },

    /* ---- sums of products ---- */

    { "is_one(int n) -> bool", "is_known(n) and n == 1" },
    /* The sum over some axes of x * y, which have equal ranks and broadcast; summed axes stay with
     * size 1. Axes fall into four groups: in both, in x only, in y only, and summed in both; what
     * is summed in one alone is summed before. */
    { "contracted(Tensor x, Tensor y, int[] summed) -> Tensor",
      "r = range(x.ndim)\n"
      "for i in r: assert is_one(x.shape[i]) or is_one(y.shape[i]) or x.shape[i] == y.shape[i], "
      "'sizes {x.shape[i]} and {y.shape[i]} of an axis do not fit'\n"
      "in_x = [i for i in r if not is_one(x.shape[i])]\n"
      "in_y = [i for i in r if not is_one(y.shape[i])]\n"
      "for i in summed: x, y = x.sum([i], True) if i in in_x and i not in in_y else x, "
      "y.sum([i], True) if i in in_y and i not in in_x else y\n"
      "both = [i for i in in_x if i in in_y and i not in summed]\n"
      "left = [i for i in in_x if i not in in_y and i not in summed]\n"
      "right = [i for i in r if i not in in_x and i not in summed]\n"
      "order = both + left + summed + right\n"
      "a = prod([x.shape[i] for i in both]); b = prod([x.shape[i] for i in left])\n"
      "n = prod([x.shape[i] for i in summed]); m = prod([y.shape[i] for i in right])\n"
      "sizes = [1 if i in summed else x.shape[i] if i in in_x else y.shape[i] for i in order]\n"
      "x = x.permute(order).reshape([a, b, n])\n"
      "y = y.permute(both + summed + right + left).reshape([a, n, m])\n"
      "back = [[k for k in r if order[k] == i][0] for i in r]\n"
      "return x.bmm(y).reshape(sizes).permute(back)" },
    /* A label that is there twice is the diagonal, which becomes the last axis. */
    { "without_repeats(Tensor x, int[] labels) -> Any",
      "twice = [i for i in range(len(labels)) if labels[i] in labels[i + 1:]]\n"
      "if len(twice) == 0: return [x, labels]\n"
      "a = twice[0]; b = [i for i in range(a + 1, len(labels)) if labels[i] == labels[a]][0]\n"
      "rest = [labels[i] for i in range(len(labels)) if i not in [a, b]]\n"
      "return without_repeats(x.diagonal(0, a, b), rest + [labels[a]])" },
    /* An operand with its axes in the common order; a missing one gets size 1. */
    { "aligned(Tensor x, int[] labels, int[] order) -> Tensor",
      "x, labels = without_repeats(x, labels)\n"
      "x = x.permute([[i for i in range(len(labels)) if labels[i] == k][0] "
      "for k in order if k in labels])\n"
      "for i in range(len(order)): if order[i] not in labels: x = x.unsqueeze(i)\n"
      "return x" },
    /* Places in the order, from the n-th on, of labels that no operand after i has. */
    { "done_after(Any operands, int i, int[] order, int n) -> int[]",
      "later = []\n"
      "for labels in operands[i + 1:]: later += labels\n"
      "return [k for k in range(n, len(order)) if order[k] in operands[i] and order[k] not in "
      "later]" },

    /* ---- norms of matrices ---- */

    /* [.., m, n] that has the singular vectors of a, and 1 in place of what is not too small a
     * singular value. */
    { "unitary_part(Tensor a) -> Tensor",
      "x = a / (a * a).sum([-2, -1], True).sqrt().clamp(min=1e-30)\n"
      "for i in range(45): x = x * 1.5 - x @ (x.transpose(-2, -1) @ x) * 0.5\n"
      "return x" },
    /* The square of the greatest singular value: squares of a' a, over and over, leave nothing but
     * what belongs to it. */
    { "greatest_square(Tensor a) -> Tensor",
      "g = a.transpose(-2, -1) @ a; p = g\n"
      "for i in range(40): p = p / p.diagonal(0, -2, -1).sum([-1]).unsqueeze(-1).unsqueeze(-1)"
      ".clamp(min=1e-30); p = p @ p\n"
      "d = p.diagonal(0, -2, -1).sum([-1])\n"
      "return (g * p).sum([-2, -1]) / d.clamp(min=1e-30)" },
    /* The sum of the singular values, or the greatest one. */
    { "singular_norm(Tensor x, int[] dims, bool keepdim, bool total) -> Tensor",
      "a = x.to(torch.float64).movedim(dims, [-2, -1])\n"
      "y = (unitary_part(a) * a).sum([-2, -1]) if total else greatest_square(a).sqrt()\n"
      "y = y.to(x.dtype)\n"
      "return y.unsqueeze(min(dims)).unsqueeze(max(dims)) if keepdim else y" },
    { "matrix_dims(int[] dim, int rank) -> int[]",
      "assert len(dim) == 2, 'a matrix has two dimensions'\n"
      "dims = wrap_dims(dim, rank)\n"
      "assert dims[0] != dims[1], 'the dimensions of a matrix should be different'\n"
      "return dims" },
    { "converted(Tensor x, int? dtype) -> Tensor", "x if dtype is None else x.to(dtype)" },

    /* ---- differences ---- */

    /* How steep x is along a dimension: at the ends by two points, or by three. */
    { "slopes(Tensor x, Scalar spacing, int dim, int edge_order) -> Tensor",
      "assert edge_order in [1, 2], 'edge_order is 1 or 2, not {edge_order}'\n"
      "n = x.shape[dim]\n"
      "assert n > edge_order, 'wants more than {edge_order} elements'\n"
      "a = x.slice(dim, 0, 1); b = x.slice(dim, 1, 2)\n"
      "z = x.slice(dim, n - 1, n); y = x.slice(dim, n - 2, n - 1)\n"
      "first = b - a; last = z - y\n"
      "if edge_order == 2: first = b * 2 - a * 1.5 - x.slice(dim, 2, 3) * 0.5;"
      " last = z * 1.5 - y * 2 + x.slice(dim, n - 3, n - 2) * 0.5\n"
      "inner = (x.slice(dim, 2, n) - x.slice(dim, 0, n - 2)) / 2\n"
      "return cat([first / spacing, inner / spacing, last / spacing], dim)" },

    /* The same at places that lie as they like: a parabola goes through three of them. */
    { "slopes_at(Tensor x, Tensor places, int dim, int edge_order) -> Tensor",
      "assert edge_order in [1, 2], 'edge_order is 1 or 2, not {edge_order}'\n"
      "x = x.movedim(dim, -1)\n"
      "n = x.shape[-1]\n"
      "assert n > edge_order, 'wants more than {edge_order} elements'\n"
      "h = behind(places, 0) - before(places, 0)\n"
      "s = (behind(x, -1) - before(x, -1)) / h\n"
      "a = before(h, 0); b = behind(h, 0)\n"
      "inner = (before(s, -1) * b + behind(s, -1) * a) / (a + b)\n"
      "first = s.slice(-1, 0, 1); last = s.slice(-1, n - 2, n - 1)\n"
      "if edge_order == 2: bend = (behind(s, -1) - before(s, -1)) / (a + b);"
      " first = first - bend.slice(-1, 0, 1) * h.slice(0, 0, 1);"
      " last = last + bend.slice(-1, n - 3, n - 2) * h.slice(0, n - 2, n - 1)\n"
      "return cat([first, inner, last], -1).movedim(-1, dim)" },

    /* ---- Fourier transforms: products with matrices of roots of unity (waves, fft.c) ---- */

    { "complex_of(Tensor x, Tensor y) -> Tensor", "view_as_complex(stack([x, y], -1))" },
    { "wide_real(Tensor x) -> int",
      "torch.float64 if x.dtype in [torch.float64, torch.complex128] else torch.float32" },
    /* The largest factor of n up to its root, for as many points as can be. */
    { "factor_of(int n) -> int", "max([i for i in range(1, 257) if i * i <= n and n % i == 0])" },
    { "in_two(Tensor x, int a, int b) -> Tensor", "x.reshape(x.shape[:-1] + [a, b])" },
    { "pairs_in_row(Tensor x) -> Tensor",
      "view_as_real(x).flatten(-2, -1) if x.is_complex() else x" },
    /* The first m of the n frequencies of x, whose last dimension has n numbers. A large n = a b is
     * made of short ones: the transforms of each b-th number, turned a little, are transformed
     * across. */
    { "spectrum(Tensor x, int n, int m, int sign, float scale) -> Tensor",
      "a = factor_of(n) if n > 256 else 1; b = n // a; type = wide_real(x)\n"
      "kind = 'complex' if x.is_complex() else 'real'; rows = 2 * n if x.is_complex() else n\n"
      "if a == 1: y = pairs_in_row(x) @ waves(kind, n, rows, 2 * m, sign, scale, type); "
      "return view_as_complex(in_two(y, m, 2))\n"
      "y = spectrum(in_two(x, a, b).transpose(-2, -1), a, a, sign, 1.)\n"
      "y = y * complex_of(waves('cosine', n, b, a, sign, 1., type), "
      "waves('sine', n, b, a, sign, 1., type))\n"
      "y = spectrum(y.transpose(-2, -1), b, b, sign, scale).transpose(-2, -1).flatten(-2, -1)\n"
      "return y if m == n else y.slice(-1, 0, m)" },
    /* Real numbers from half a spectrum. The mirrored half is put back first if the matrix would be
     * large. */
    { "signal_of(Tensor x, int n, int sign, float scale) -> Tensor",
      "m = n // 2 + 1\n"
      "if n <= 256 or factor_of(n) == 1: "
      "return pairs_in_row(x) @ waves('half', n, 2 * m, n, sign, scale, wide_real(x))\n"
      "x = cat([x, x.slice(-1, 1, n - m + 1).flip([-1]).conj()], -1)\n"
      "return real(spectrum(x, n, n, sign, scale))" },
    /* x cut off or filled up with zeroes to n along its last dimension; which of them depends on
     * data if n is a symbol. */
    { "in_length(Tensor x, int n) -> Tensor",
      "have = x.shape[-1]\n"
      "if is_known(have) and have == n: return x\n"
      "if is_known(have) and have > n: return x.slice(-1, 0, n)\n"
      "if not x.is_complex(): return x.constant_pad_nd([0, n - have], 0)\n"
      "return view_as_complex(view_as_real(x).constant_pad_nd([0, 0, 0, n - have], 0))" },
    /* Of a length that is a symbol: the matrix is computed in the run (_fft_c2c and its variants).
     * A transform back of real numbers, and one there to real numbers, is that of conjugates the
     * other way. */
    { "fourier_in_run(Tensor x, int n, int divided, bool real_in, bool real_out, bool inverse) -> "
      "Tensor",
      "if real_out: return _fft_c2r(x if inverse else x.conj(), [-1], divided, n)\n"
      "if x.is_complex(): return _fft_c2c(x, [-1], divided, not inverse)\n"
      "y = _fft_r2c(x, [-1], divided, real_in)\n"
      "return y.conj() if inverse else y" },
    /* Along one dimension; None and -1 points are as many as there are. What is divided by has a
     * number: 0 nothing, 1 the root, 2 all of it. */
    { "fourier(Tensor x, int dim, int? points, str? norm, bool real_in, bool real_out, bool "
      "inverse) -> Tensor",
      "given = points is not None and points != -1; have = x.shape[dim]\n"
      "n = points if given else (have - 1) * 2 if real_out else have\n"
      "size = size_hint(n)\n"
      "assert size > 0, 'a transform of {size} points; 1 to 65536 can be, and primes up to 4096'\n"
      "if size > 65536 or (size > 4096 and factor_of(size) == 1): raise NotImplementedError("
      "'a transform of {size} points; 1 to 65536 can be, and primes up to 4096')\n"
      "how = 'backward' if norm is None else norm\n"
      "assert how in ['backward', 'forward', 'ortho'], "
      "'norm is backward, forward or ortho, not {how}'\n"
      "divided = 1 if how == 'ortho' else 2 if (how == 'backward') == inverse else 0\n"
      "x = x.movedim(dim, -1)\n"
      "if not is_known(n) and (not given or real_out or n == have): "
      "return fourier_in_run(x, n, divided, real_in, real_out, inverse).movedim(-1, dim)\n"
      "size = int(n); sign = 1 if inverse else -1\n"
      "scale = 1. if divided == 0 else 1 / math.sqrt(size) if divided == 1 else 1 / size\n"
      "x = in_length(x, size // 2 + 1 if real_out else size)\n"
      "y = signal_of(x, size, sign, scale) if real_out else "
      "spectrum(x, size, size // 2 + 1 if real_in else size, sign, scale)\n"
      "return y.movedim(-1, dim)" },
    /* The argument in floats, complex ones for half a spectrum. */
    { "fourier_input(Tensor x, bool real_in, bool real_out) -> Tensor",
      "if real_in and x.is_complex(): "
      "raise TypeError('wants real numbers, not {dtype_name(x.dtype)}')\n"
      "if x.dtype in [torch.float16, torch.bfloat16]: "
      "raise TypeError('wants float32 or float64, not {dtype_name(x.dtype)}')\n"
      "if not x.is_complex(): x = in_float(x)\n"
      "return complex_of(x, zeros_like(x)) if real_out and not x.is_complex() else x" },
    { "fourier_1(Tensor x, int? n, int dim, str? norm, bool real_in, bool real_out, bool inverse) "
      "-> Tensor",
      "x = fourier_input(x, real_in, real_out)\n"
      "if x.ndim == 0: raise TypeError('wants at least one dimension')\n"
      "return fourier(x, wrap_dim(dim, x.ndim), n, norm, real_in, real_out, inverse)" },
    /* The last of the dimensions is the one whose numbers are real; the others have no real side.
     */
    { "fourier_n(Tensor x, int[]? s, int[]? dim, str? norm, bool real_in, bool real_out, bool "
      "inverse) -> Tensor",
      "x = fourier_input(x, real_in, real_out)\n"
      "n = len(dim) if dim is not None else len(s) if len(s) > 0 else x.ndim\n"
      "assert n > 0 and n <= x.ndim and len(s) in [0, n], "
      "'{n} dimensions and {len(s)} sizes for a tensor of {x.ndim} dimensions'\n"
      "dims = range(x.ndim - n, x.ndim) if dim is None else wrap_dims(dim, x.ndim)\n"
      "sizes = [-1] * n if len(s) == 0 else s\n"
      "if real_in: x = fourier(x, dims[-1], sizes[-1], norm, True, False, inverse)\n"
      "for i in range(n - 1): x = fourier(x, dims[i], sizes[i], norm, False, False, inverse)\n"
      "return x if real_in else fourier(x, dims[-1], sizes[-1], norm, False, real_out, inverse)" },
    /* A window in the middle of a frame; None, all ones, stays if it fills the frame. */
    { "in_middle(Tensor? window, int size, int n, int dtype) -> Tensor?",
      "if size == n: return window\n"
      "before = (n - size) // 2\n"
      "w = ones([size], dtype=dtype) if window is None else window\n"
      "return w.constant_pad_nd([before, n - size - before], 0)" },

    /* Of data-dependent length. */

    /* The angles of all products of a row and a column, in turns of n. */
    { "turns(int rows, int columns, int n, int dtype) -> Tensor",
      "t = (arange(rows).unsqueeze(1) * arange(columns)) % n\n"
      "return t.to(dtype) * (2 * math.pi) / scalar_tensor(n, dtype=dtype)" },
    { "normalized(Tensor x, int n, int normalization) -> Tensor",
      "if normalization == 0: return x\n"
      "by = scalar_tensor(n, dtype=real(x).dtype)\n"
      "return x / (by.sqrt() if normalization == 1 else by)" },

    /* Frames [batch, count, n] laid over each other at every hop, and added up: [batch, length]. */
    { "overlapped(Tensor frames, int hop) -> Tensor",
      "n = frames.shape[2]\n"
      "length = (frames.shape[1] - 1) * hop + n\n"
      "return frames.transpose(1, 2).col2im([1, length], [1, n], [1, 1], [0, 0], [1, hop])"
      ".flatten(1, -1)" },

    /* Of two sizes that meet: the first is 1, and the other is not. */
    { "alone(int size, int other) -> bool",
      "is_known(size) and size == 1 and not (is_known(other) and other == 1)" },

    /* ---- sums with a product ---- */

    /* A factor as the dtype has it: 0.6 is 0 among integers, and 3 is true among bools. A data-
     * dependent one is a tensor. */
    { "factor_in(Scalar x, int dtype) -> Scalar",
      "if isinstance(x, Tensor) or dtype.is_floating_point or dtype.is_complex: return x\n"
      "if dtype == torch.bool: return int(x != 0)\n"
      "return int(x) if isinstance(x, float) else x" },
    { "times(Tensor x, Scalar factor) -> Tensor",
      "x if is_known(factor) and factor == 1 else x * factor" },
    /* With beta 0 self is not read: its NaNs do not count. */
    { "add_scaled(Tensor self, Tensor product, Scalar beta, Scalar alpha) -> Tensor",
      "scale = factor_in(beta, product.dtype)\n"
      "product = times(product, factor_in(alpha, product.dtype))\n"
      "return product if is_known(scale) and scale == 0 else times(self, scale) + product" },

    /* ---- attention ---- */

    /* x / size ** power, where size may be a symbol. */
    { "divide_by_power(Tensor x, int size, float power) -> Tensor",
      "if is_known(size): return x * size ** -power\n"
      "return x / scalar_tensor(size, dtype=x.dtype) ** power" },
    { "in_float32(Tensor x) -> Tensor",
      "x.to(torch.float32) if x.dtype in [torch.float16, torch.bfloat16] else x" },
    /* Each head of keys or values for as many heads of queries as share it. */
    { "for_all_heads(Tensor x, Tensor query) -> Tensor",
      "if x.ndim < 3 or query.ndim < 3: return x\n"
      "return x.repeat_interleave(query.shape[-3] // x.shape[-3], -3)" },
    /* softmax(q @ k.T * scale + mask) @ v, and the softmax. Without a scale both factors are
     * divided by the fourth root of their size, so that neither overflows in half precision. If it
     * is safe, the softmax is 0 where a mask hides all keys; causal ones see at least the first. */
    { "attend(Tensor query, Tensor key, Tensor value, Tensor? attn_mask, float dropout_p, "
      "bool is_causal, float? scale, bool safe) -> (Tensor, Tensor)",
      "assert query.ndim > 1 and key.ndim > 1 and value.ndim > 1,"
      " 'query, key and value need at least 2 dimensions'\n"
      "assert not is_causal or attn_mask is None, 'a mask and is_causal exclude each other'\n"
      "size = query.shape[-1]\n"
      "k = key.transpose(-2, -1)\n"
      "if scale is not None: scores = (query * scale) @ k\n"
      "else: scores = divide_by_power(query, size, 0.25) @ divide_by_power(k, size, 0.25)\n"
      "if is_causal: scores = scores.masked_fill("
      "ones(scores.shape[-2:], dtype=torch.bool).tril().logical_not(), -math.inf)\n"
      "if attn_mask is not None:"
      " scores = scores.masked_fill(attn_mask.logical_not(), -math.inf)"
      " if attn_mask.dtype == torch.bool else scores + attn_mask\n"
      "weights = _safe_softmax(scores, -1) if safe and attn_mask is not None"
      " else scores.softmax(-1)\n"
      "if dropout_p > 0: weights = weights.dropout(dropout_p, True)\n"
      "return weights @ value, weights" },
    /* One of query, key and value, projected by its part of the common weight and bias: [batch,
     * heads, length, size of a head]. */
    { "head_of(Tensor x, Tensor weight, Tensor bias, int size, int heads, int i) -> Tensor",
      "t = linear(x, weight.slice(0, size * i, size * (i + 1)), bias.slice(0, size * i, size * (i "
      "+ 1)))\n"
      "return t.reshape([t.shape[0], t.shape[1], heads, t.shape[2] // heads]).transpose(1, 2)" },
    /* Attention of several heads, and its weights for each. A mask is of [batch, keys] (type 1) or
     * [queries, keys]; scores are of [batch, heads, queries, keys]. */
    { "multi_head(Tensor query, Tensor key, Tensor value, int size, int heads, Tensor qkv_weight, "
      "Tensor qkv_bias, Tensor proj_weight, Tensor proj_bias, Tensor? mask, int? mask_type) -> "
      "(Tensor, Tensor)",
      "assert query.ndim == 3 and query.shape[2] == size,"
      " 'the input should be batch, length and {size}'\n"
      "assert heads > 0 and size % heads == 0, '{heads} heads do not divide {size}'\n"
      "q = head_of(query, qkv_weight, qkv_bias, size, heads, 0)\n"
      "k = head_of(key, qkv_weight, qkv_bias, size, heads, 1)\n"
      "v = head_of(value, qkv_weight, qkv_bias, size, heads, 2)\n"
      "scores = divide_by_power(q, q.shape[3], 0.5) @ k.transpose(-2, -1)\n"
      "if mask is not None and mask_type == 1 and mask.ndim == 2:"
      " mask = mask.unsqueeze(1).unsqueeze(1)\n"
      "if mask is not None: scores = scores.masked_fill(mask, -math.inf)"
      " if mask.dtype == torch.bool else scores + mask\n"
      "weights = scores.softmax(-1)\n"
      "t = (weights @ v).transpose(1, 2)\n"
      "t = t.reshape([t.shape[0], t.shape[1], t.shape[2] * t.shape[3]])\n"
      "return linear(t, proj_weight, proj_bias), weights" },

    /* ---- windows ---- */

    /* n numbers from 0 in steps of turn / (n - 1). */
    { "ramp(int n, float turn, int dtype) -> Tensor",
      "t = arange(n, dtype=dtype)\n"
      "return t * (turn / (n - 1)) if is_known(n) else t * turn / (n - 1)" },
    { "wave(Tensor t, float times, float factor) -> Tensor", "scaled(t, times).cos() * factor" },

    /* The gradient of an adaptive mean along one axis, which was of n: each element is in one
     * window or more, and has its part of their means. */
    { "spread_means(Tensor grad, int dim, int n) -> Tensor",
      "m = grad.shape[dim]; i = arange(n); o = arange(m).unsqueeze(1)\n"
      "first = (o * n).floor_divide(m); last = ((o + 1) * n + (m - 1)).floor_divide(m)\n"
      "part = (i >= first).logical_and(i < last).to(grad.dtype) / (last - first).to(grad.dtype)\n"
      "return (grad.transpose(dim, -1) @ part).transpose(dim, -1)" },

    /* ---- elements in other places ---- */

    /* The last elements come first. A shift of less than the size, the usual one, is not a reason
     * for a remainder in symbols. */
    { "roll_dim(Tensor x, int dim, int shift) -> Tensor",
      "n = x.shape[dim]\n"
      "if size_hint(n) == 0: return x\n"
      "start = abs(shift)\n"
      "if start >= size_hint(n): start = start % n\n"
      "if shift > 0: start = n - start\n"
      "return cat([x.slice(dim, start), x.slice(dim, 0, start)], dim)" },
    /* In other sizes, dimensions reordered, and in sizes again. */
    { "regroup(Tensor x, int[] split, int[] order, int[] joined) -> Tensor",
      "x.reshape(split).permute(order).clone(memory_format=0).view(joined)" },

    /* ---- parts and wholes ---- */
    { "split_at(Tensor x, int[] at, int dim) -> Tensor[]",
      "starts = [0] + at\n"
      "ends = at + [x.shape[dim]]\n"
      "return [x.slice(dim, starts[i], ends[i]) for i in range(len(ends))]" },
    { "equal_sections(Tensor x, int sections, int dim) -> Tensor[]",
      "assert x.ndim > dim, 'wants more than {dim} dimensions but got {x.ndim}'\n"
      "assert sections > 0 and x.shape[dim] % sections == 0, "
      "'size {x.shape[dim]} does not make {sections} equal sections'\n"
      "return x.tensor_split(sections, dim)" },
    { "sections_at(Tensor x, int[] indices, int dim) -> Tensor[]",
      "assert x.ndim > dim, 'wants more than {dim} dimensions but got {x.ndim}'\n"
      "return x.tensor_split(indices, dim)" },
    /* With at least this many dimensions, as numpy adds them. */
    { "at_least(Tensor x, int rank) -> Tensor", "if x.ndim == 0: x = x.unsqueeze(0)\n"
                                                "if x.ndim == 1 and rank >= 2: x = x.unsqueeze(0)\n"
                                                "if x.ndim == 2 and rank >= 3: x = x.unsqueeze(2)\n"
                                                "return x" },
    /* The k-th of n vectors spread along dimension k of a grid; the first two may be swapped. */
    { "grid(Tensor[] tensors, bool swapped) -> Tensor[]",
      "n = len(tensors)\n"
      "assert n > 0, 'wants at least one tensor'\n"
      "for t in tensors: assert t.ndim < 2, 'a tensor has more than one dimension'\n"
      "at = [1, 0] + range(2, n) if swapped and n > 1 else range(n)\n"
      "sizes = [tensors[i].numel() for i in at]\n"
      "return [tensors[k].view([sizes[i] if i == at[k] else 1 for i in range(n)]).expand(sizes) "
      "for k in range(n)]" },

    /* ---- neighbours along a dimension ---- */
    { "behind(Tensor x, int dim) -> Tensor", "x.slice(dim, 1, 9223372036854775807)" },
    { "before(Tensor x, int dim) -> Tensor", "x.slice(dim, 0, -1)" },
    /* Means of neighbours times their distance, one for each gap. */
    { "areas(Tensor y, Tensor x, int dim) -> Tensor",
      "d = wrap_dim(dim, y.ndim)\n"
      "if x.ndim == 1 and y.ndim > 1: x = x.reshape([-1 if i == d else 1 for i in range(y.ndim)])\n"
      "return (behind(y, d) + before(y, d)) * (behind(x, d) - before(x, d)) / 2." },
    { "even_areas(Tensor y, Scalar dx, int dim) -> Tensor",
      "d = wrap_dim(dim, y.ndim)\n"
      "return (behind(y, d) + before(y, d)) * (dx / 2)" },

    /* ---- quantiles ---- */

    /* The elements of each lane of sorted: at places of its own [.., n of q], or at the same ones
     * [n of q]. */
    { "element_at(Tensor sorted, Tensor at) -> Tensor",
      "at = at.to(torch.int64)\n"
      "return sorted.index_select(-1, at) if at.ndim == 1 else sorted.gather(-1, at)" },
    /* Of the last dimension of x, at the shares q: [.., n of q]. Where there is NaN, everything is,
     * unless only numbers count: then NaN goes behind them, for ONNX does not say where it would.
     */
    { "quantiles_of_last(Tensor x, Tensor q, str how, bool numbers) -> Tensor",
      "q = q.reshape([-1])\n"
      "nan = x.isnan()\n"
      "if numbers: n = nan.logical_not().sum(-1, True, dtype=x.dtype); at = q * (n - "
      "1).clamp_min(0)\n"
      "else: at = q * (x.shape[-1] - 1)\n"
      "if numbers: x = x.masked_fill(nan, math.inf)\n"
      "sorted = x.sort(-1, False)[0]\n"
      "low = at.ceil() if how == 'higher' else at.round() if how == 'nearest' else at.floor()\n"
      "high = element_at(sorted, at.ceil())\n"
      "out = element_at(sorted, low)\n"
      "if how == 'linear': out = out.lerp(high, at - low)\n"
      "if how == 'midpoint': out = out.lerp(high, 0.5)\n"
      "return out.masked_fill(nan.all(-1, True) if numbers else nan.any(-1, True), math.nan)" },
    { "quantiles(Tensor x, Tensor q, int? dim, bool keepdim, str how, bool numbers) -> Tensor",
      "assert how in ['linear', 'lower', 'higher', 'nearest', 'midpoint'], "
      "'there is no interpolation {how}'\n"
      "assert x.dtype in [torch.float32, torch.float64], "
      "'wants float32 or float64, not {dtype_name(x.dtype)}'\n"
      "flat = dim is None or x.ndim == 0\n"
      "d = 0 if flat else wrap_dim(dim, x.ndim)\n"
      "t = quantiles_of_last(x.reshape([-1]) if flat else x.movedim(d, -1), q, how, numbers)\n"
      "t = t.movedim(-1, 0)\n"
      "if keepdim and dim is None: t = t.reshape([-1] + [1] * x.ndim)\n"
      "elif keepdim and x.ndim > 0: t = t.unsqueeze(d + 1)\n"
      "return t if q.ndim > 0 else t.squeeze(0)" },

    /* ---- bags of embeddings ---- */

    /* Composed of a table of which index belongs to which bag. Modes are sum, mean and max. Results
     * 1 to 3 are for the backward pass; PyTorch leaves them empty or 0 where a sum does not need
     * them. An index that is padding does not count; offsets may end with where the last bag ends.
     * */
    { "bags(Tensor weight, Tensor indices, Tensor offsets, int mode, Tensor? per_sample_weights, "
      "bool include_last_offset, int padding) -> (Tensor, Tensor, Tensor, Tensor)",
      "assert weight.ndim == 2 and indices.ndim == 1 and offsets.ndim == 1, "
      "'wants a matrix as weight, and indices and offsets of one dimension'\n"
      "assert mode in [0, 1, 2], 'mode should be 0, 1 or 2, not {mode}'\n"
      "n = offsets.shape[0]\n"
      "if include_last_offset: n = n - 1\n"
      "at = arange(indices.shape[0])\n"
      "of = (at >= offsets.slice(0, 0, n).unsqueeze(1)).sum([0]) - 1\n"
      "table = of == arange(n).unsqueeze(1)\n"
      "if include_last_offset: table = table.logical_and(at < offsets.slice(0, n, n + 1))\n"
      "if padding >= 0: table = table.logical_and(indices != padding)\n"
      "rows = weight.embedding(indices)\n"
      "if per_sample_weights is not None: rows = rows * per_sample_weights.unsqueeze(1)\n"
      "counts = table.sum([1])\n"
      "empty = (counts == 0).unsqueeze(1)\n"
      "if mode == 2: "
      "all = rows.unsqueeze(0).masked_fill(table.logical_not().unsqueeze(2), -math.inf); "
      "first = indices.take(all.argmax(1)).masked_fill(empty, 0); "
      "return all.amax([1]).masked_fill(empty, 0), of, counts, first\n"
      "out = mm(table.to(weight.dtype), rows)\n"
      "if mode == 1: return out / counts.clamp(1).unsqueeze(1), of, counts, counts.clone()\n"
      "counts = counts * 0\n"
      "return out, of.slice(0, 0, 0) if padding < 0 else of, counts, counts.clone()" },

    /* ---- images ---- */

    /* torch.nn.functional.interpolate: by sizes, or by factors, of which only the sizes that they
     * lead to count unless recompute is False. */
    { "resized(Tensor x, int[]? size, float[]? factors, str mode, bool? align_corners, "
      "bool? recompute, bool antialias) -> Tensor",
      "n = x.ndim - 2\n"
      "assert n >= 1 and n <= 3, 'wants an image of 1, 2 or 3 axes, not {n}'\n"
      "assert (size is None) != (factors is None), 'wants a size or a factor, and not both'\n"
      "align = align_corners is not None and align_corners\n"
      "if factors is not None and (mode == 'area' or recompute is None or recompute): "
      "size = [scaled_size(x.shape[i + 2], factors[i]) for i in range(n)]; factors = None\n"
      "if mode == 'nearest' and n == 1: return upsample_nearest1d.vec(x, size, factors)\n"
      "if mode == 'nearest' and n == 2: return upsample_nearest2d.vec(x, size, factors)\n"
      "if mode == 'nearest': return upsample_nearest3d.vec(x, size, factors)\n"
      "if mode == 'nearest-exact' and n == 1: "
      "return _upsample_nearest_exact1d.vec(x, size, factors)\n"
      "if mode == 'nearest-exact' and n == 2: "
      "return _upsample_nearest_exact2d.vec(x, size, factors)\n"
      "if mode == 'nearest-exact': return _upsample_nearest_exact3d.vec(x, size, factors)\n"
      "if mode == 'area' and n == 1 and size is not None: return adaptive_avg_pool1d(x, size)\n"
      "if mode == 'area' and n == 2 and size is not None: return adaptive_avg_pool2d(x, size)\n"
      "if mode == 'area' and size is not None: return adaptive_avg_pool3d(x, size)\n"
      "if mode == 'linear' and n == 1: return upsample_linear1d.vec(x, size, align, factors)\n"
      "if mode == 'bilinear' and n == 2 and antialias: "
      "return _upsample_bilinear2d_aa.vec(x, size, align, factors)\n"
      "if mode == 'bilinear' and n == 2: return upsample_bilinear2d.vec(x, size, align, factors)\n"
      "if mode == 'trilinear' and n == 3: return upsample_trilinear3d.vec(x, size, align, "
      "factors)\n"
      "if mode == 'bicubic' and n == 2 and antialias: "
      "return _upsample_bicubic2d_aa.vec(x, size, align, factors)\n"
      "if mode == 'bicubic' and n == 2: return upsample_bicubic2d.vec(x, size, align, factors)\n"
      "raise ValueError('there is no mode {mode} for {n} axes')" },

    /* ---- diagonals ---- */

    /* The last dimension as the k-th diagonal of a matrix of zeros. Its elements are named by their
     * row above the main diagonal, by their column below it. */
    { "embedded(Tensor x, int k) -> Tensor",
      "i = arange(x.shape[-1] + abs(k))\n"
      "on_diagonal = i - i.unsqueeze(1) == k\n"
      "if k != 0: x = x.constant_pad_nd([0, abs(k)], 0)\n"
      "return where(on_diagonal, x.unsqueeze(-2 if k < 0 else -1), zeros([], dtype=x.dtype))" },

    /* ---- covariances ---- */

    /* What products are divided by: n - correction, n being the sum of the weights; if observations
     * count more or less (aweights), the correction is their mean weight. Never below 0. */
    { "observations(Tensor w, Tensor? aweights, int correction) -> Tensor",
      "n = w.sum()\n"
      "if aweights is None or correction == 0: return (n - correction).clamp_min(0)\n"
      "return (n - (w * aweights).sum() / n * correction).clamp_min(0)" },
    /* Weighted, an observation counts as often as it is there (fweights), times how much. */
    { "covariance(Tensor x, int correction, Tensor? fweights, Tensor? aweights) -> Tensor",
      "assert x.ndim <= 2, 'wants at most 2 dimensions, not {x.ndim}'\n"
      "x = in_float(x.reshape([1, -1]) if x.ndim < 2 else x)\n"
      "if fweights is None and aweights is None: x = x - x.mean(1, True); "
      "return x @ x.t() / (x.shape[1] - correction)\n"
      "w = fweights * aweights if fweights is not None and aweights is not None "
      "else fweights if aweights is None else aweights\n"
      "x = x - (x * w).sum(1, True) / w.sum()\n"
      "return x @ (x * w).t() / observations(w, aweights, correction)" },
    /* The variance of one row is a number. */
    { "number_if_one(Tensor x) -> Tensor", "x.squeeze() if size_hint(x.shape[0]) == 1 else x" },

    /* ---- random numbers ---- */
    /* 1 with probability keep, else 0: for every element, or one for each sample and channel. */
    { "dropout_mask(Tensor x, float keep, bool features) -> Tensor",
      "shape = [1 if features and i > 1 else x.shape[i] for i in range(x.ndim)]\n"
      "return x.new_empty(shape).bernoulli(keep)" },
    { "check_dropout(float p, Tensor x, bool features) -> bool",
      "assert p >= 0 and p <= 1, 'p is {p}, not between 0 and 1'\n"
      "assert not features or x.ndim >= 2, 'features need 2 dimensions or more, not {x.ndim}'\n"
      "return p > 0 and size_hint(x.numel()) > 0" },
    { "dropped(Tensor x, float p, bool features) -> Tensor",
      "if p == 1: return x * 0\n"
      "return x * (dropout_mask(x, 1 - p, features) / (1 - p))" },
    /* The lowest value of SELU, -scale * alpha, instead of 0, so that the variance stays too. */
    { "alpha_dropped(Tensor x, float p, bool features) -> Tensor",
      "if p == 1: return x * 0\n"
      "lowest = -1.7580993408473766\n"
      "a = 1 / math.sqrt((lowest * lowest * p + 1) * (1 - p))\n"
      "mask = dropout_mask(x, 1 - p, features)\n"
      "return (x * mask).add(1 - mask, alpha=lowest) * a + -lowest * p * a" },

    /* ---- equations ---- */
    /* Steps are written out for each row. */
    { "fixed_size(int n) -> int",
      "n = int(n)\n"
      "if n > 64: raise NotImplementedError('matrices of {n} rows: 64 are the most')\n"
      "return n" },
    { "rows_of(Tensor a) -> int",
      "assert a.ndim >= 2 and a.shape[-1] == a.shape[-2], 'wants square matrices'\n"
      "assert a.dtype in [torch.float32, torch.float64], "
      "'wants float32 or float64, not {dtype_name(a.dtype)}'\n"
      "return fixed_size(a.shape[-1])" },
    /* m is [.., n, n + k], equations beside their right sides. In step i the row with the largest
     * number in column i, of those that were not taken yet, changes places with row i, and goes off
     * all others so often that column i becomes that of an identity. */
    { "eliminated(Tensor m, int n) -> Tensor",
      "rows = arange(n, dtype=torch.int64)\n"
      "for i in range(n): "
      "chosen = m.select(-1, i).abs().masked_fill(rows < i, -1).argmax(-1, True); "
      "chosen = (rows == chosen).unsqueeze(-1); "
      "pivot = where(chosen, m, 0.).sum(-2, True); "
      "m = where(chosen, m.slice(-2, i, i + 1), m); "
      "pivot = pivot / pivot.slice(-1, i, i + 1); "
      "m = where((rows == i).unsqueeze(-1), pivot, m - m.slice(-1, i, i + 1) * pivot)\n"
      "return m.slice(-1, n, 9223372036854775807)" },
    /* With the batch dimensions of other before its matrices. */
    { "batched(Tensor t, Tensor other) -> Tensor",
      "t.expand(broadcast_shapes(t.shape[:-2], other.shape[:-2]) + t.shape[-2:])" },
    /* X of A X = B, or of X A = B. */
    { "solved(Tensor a, Tensor b, bool left) -> Tensor",
      "n = rows_of(a)\n"
      "assert b.ndim > 1 and b.dtype == a.dtype and b.shape[-2 if left else -1] == n, "
      "'the right sides do not fit matrices of {n} rows'\n"
      "if not left: return solved(a.transpose(-2, -1), b.transpose(-2, -1), True).transpose(-2, "
      "-1)\n"
      "return eliminated(cat([batched(a, b), batched(b, a)], -1), n)" },
    { "identity_like(Tensor a) -> Tensor", "eye(a.shape[-1], dtype=a.dtype)" },
    /* What counts of a triangular matrix. */
    { "triangle(Tensor a, bool upper, bool ones) -> Tensor",
      "n = rows_of(a)\n"
      "t = a.triu(1 if ones else 0) if upper else a.tril(-1 if ones else 0)\n"
      "return t + identity_like(a) if ones else t" },
    /* The solution for L L' (or U' U), whose factor is known: two triangles. */
    { "by_factor(Tensor factor, Tensor b, bool upper) -> Tensor",
      "low = triangle(factor, upper, False)\n"
      "low = low.transpose(-2, -1) if upper else low\n"
      "return solved(low.transpose(-2, -1), solved(low, b, True), True)" },

    /* Triangular factors in one matrix, the pivots as LAPACK counts them, and the order that the
     * rows are in. In step i the row with the largest number in column i changes places with row i;
     * what is divided by it stays below it. The order is one more column. */
    { "triangles(Tensor a, bool pivot) -> (Tensor, Tensor, Tensor)",
      "rows = fixed_size(a.shape[-2]); columns = fixed_size(a.shape[-1]); k = min(rows, columns)\n"
      "assert a.is_floating_point(), 'wants floats'\n"
      "r = arange(rows).unsqueeze(-1); c = arange(columns + 1)\n"
      "order = r.to(a.dtype).expand(a.shape[:-1] + [1])\n"
      "m = cat([a, order], -1); pivots = [zeros(a.shape[:-2] + [0], dtype=torch.int32)]\n"
      "for i in range(k): column = m.slice(-1, i, i + 1);"
      " at = column.abs().masked_fill(r < i, -1.).argmax(-2, True) if pivot"
      " else full(a.shape[:-2] + [1, 1], i, dtype=torch.int64);"
      " top = where(r == at, m, 0.).sum(-2, True);"
      " m = where(r == at, m.slice(-2, i, i + 1), m); m = where(r == i, top, m);"
      " part = where(r > i, m.slice(-1, i, i + 1) / top.slice(-1, i, i + 1), 0.);"
      " m = m - part * where((c > i).logical_and(c < columns), top, 0.);"
      " m = where((r > i).logical_and(c == i), part, m);"
      " pivots = pivots + [(at.squeeze(-1) + 1).to(torch.int32)]\n"
      "return m.slice(-1, 0, columns), cat(pivots, -1), m.select(-1, columns).to(torch.int64)" },
    /* Rows in the order that pivots leave them in. */
    { "order_of(Tensor pivots, int rows) -> Tensor",
      "r = arange(rows); order = r.expand(pivots.shape[:-1] + [rows])\n"
      "for i in range(fixed_size(pivots.shape[-1])):"
      " at = pivots.slice(-1, i, i + 1).to(torch.int64) - 1;"
      " new = where(r == at, order.slice(-1, i, i + 1), order);"
      " order = where(r == i, order.gather(-1, at), new)\n"
      "return order" },
    { "permutation(Tensor order, int dtype) -> Tensor",
      "(order.unsqueeze(-2) == arange(order.shape[-1]).unsqueeze(-1)).to(dtype)" },
    { "lower_part(Tensor lu) -> Tensor",
      "k = min(lu.shape[-2], lu.shape[-1])\n"
      "return lu.slice(-1, 0, k).tril(-1) + eye(lu.shape[-2], k, dtype=lu.dtype)" },
    { "upper_part(Tensor lu) -> Tensor",
      "lu.slice(-2, 0, min(lu.shape[-2], lu.shape[-1])).triu()" },
    /* Reflector i, I - tau v v', makes zeros of column i below the diagonal. v begins with a 1, the
     * rest stays below the diagonal. */
    { "reflectors(Tensor a) -> (Tensor, Tensor)",
      "rows = fixed_size(a.shape[-2]); columns = fixed_size(a.shape[-1]); k = min(rows, columns)\n"
      "assert a.is_floating_point(), 'wants floats'\n"
      "r = arange(rows).unsqueeze(-1); c = arange(columns)\n"
      "taus = [zeros(a.shape[:-2] + [0], dtype=a.dtype)]\n"
      "for i in range(k): x = a.slice(-1, i, i + 1); first = x.slice(-2, i, i + 1);"
      " rest = where(r > i, x, 0.); none = (rest == 0.).all(-2, True);"
      " beta = hypot(first, (rest * rest).sum(-2, True).sqrt());"
      " beta = where(first > 0, -beta, beta); beta = where(none, first, beta);"
      " tau = where(none, zeros_like(beta), (beta - first) / beta);"
      " v = where(none, zeros_like(rest), rest / (first - beta)); v = where(r == i, 1., v);"
      " b = a - tau * v * (v * a).sum(-2, True);"
      " b = where((c == i).logical_and(r > i), v, b);"
      " a = where(c < i, a, b);"
      " taus = taus + [tau.squeeze(-1)]\n"
      "return a, cat(taus, -1)" },
    /* b times the reflectors of a, or times their product turned around. */
    { "reflected_by(Tensor a, Tensor tau, Tensor b, bool left, bool transpose) -> Tensor",
      "if not left: return reflected_by(a, tau, b.transpose(-2, -1), True, not "
      "transpose).transpose(-2, -1)\n"
      "r = arange(a.shape[-2]).unsqueeze(-1); k = fixed_size(tau.shape[-1])\n"
      "b = batched(b, a)\n"
      "for j in range(k): i = j if transpose else k - 1 - j;"
      " v = where(r > i, a.slice(-1, i, i + 1), 0.); v = where(r == i, 1., v);"
      " t = tau.slice(-1, i, i + 1).unsqueeze(-1);"
      " b = b - t * v * (v * b).sum(-2, True)\n"
      "return b" },

    /* ---- convolution of a bent image ---- */

    /* Where along an axis of taps the taps lie without offsets, so that it goes with [.., kh, kw,
     * oh, ow]. */
    { "tap_places(int taps, int steps, int axis, int dilation, int stride, int pad, int dtype) -> "
      "Tensor",
      "t = (arange(taps, dtype=dtype) * dilation).reshape([-1 if i == axis else 1 for i in "
      "range(4)])\n"
      "s = arange(steps, dtype=dtype) * stride - pad\n"
      "return t + s.reshape([-1 if i == axis + 2 else 1 for i in range(4)])" },
    /* Places of pixels, as the sampler counts them: from -1 to 1 over the whole image, pixels being
     * squares of it. */
    { "to_grid(Tensor places, int size) -> Tensor", "(places * 2 + 1) / size - 1" },

    /* ---- gradients ---- */
    { "as_rows(Tensor t) -> Tensor", "t.reshape([prod(t.shape[:-1]), t.shape[-1]])" },
    /* Whether dimension i is reduced: no dimensions, or none named, are all of them. */
    { "is_reduced(int i, int[]? dim, int rank) -> bool",
      "dim is None or len(dim) == 0 or i in wrap_dims(dim, rank)" },
    /* What has the sizes of a result of a reduction of x, with size 1 where x was reduced. */
    { "kept(Tensor t, Tensor x, int[]? dim) -> Tensor",
      "t.reshape([1 if is_reduced(i, dim, x.ndim) else x.shape[i] for i in range(x.ndim)])" },
    { "reduced_size(Tensor x, int[]? dim) -> int",
      "prod([x.shape[i] for i in range(x.ndim) if is_reduced(i, dim, x.ndim)])" },
    /* Everything that is as large shares the gradient. */
    { "shared(Tensor grad, Tensor best, Tensor x, int[]? dim) -> Tensor",
      "same = x == kept(best, x, dim)\n"
      "return kept(grad, x, dim) / same.sum(dim, True) * same" },
    /* NaN is as large as NaN. */
    { "shared_all(Tensor grad, Tensor best, Tensor x) -> Tensor",
      "best = kept(best, x, None)\n"
      "same = (x == best).logical_or(x.isnan().logical_and(best.isnan()))\n"
      "return where(same, kept(grad, x, None) / same.sum(None, True), 0)" },
    /* d var = 2 (x - mean) / (n - correction). Where there is no variance PyTorch says so by
     * infinity or NaN. */
    { "of_variance(Tensor grad, Tensor x, int[]? dim, float correction) -> Tensor",
      "rest = reduced_size(x, dim) - correction\n"
      "mean = x.mean(dim, True)\n"
      "if rest > 0: return kept(grad, x, dim) * (2 / rest) * (x - mean)\n"
      "return kept(grad, x, dim) * where(x == mean, math.inf, math.nan)" },
    /* d std = d var / (2 std) */
    { "of_deviation(Tensor grad, Tensor std, Tensor x, int[]? dim, float correction) -> Tensor",
      "of_variance((grad / (std * 2)).masked_fill(std == 0, 0), x, dim, correction)" },
    { "of_mean(Tensor grad, Tensor x, int[]? dim) -> Tensor",
      "kept(grad, x, dim) / scalar_tensor(reduced_size(x, dim), dtype=grad.dtype)" },
    /* x |x|^(p-2) / norm^(p-1), and nothing where the norm is zero. */
    { "of_norm(Tensor grad, Tensor norm, Tensor x, Scalar? ord, int[]? dim) -> Tensor",
      "p = 2. if ord is None else float(ord)\n"
      "n = kept(norm, x, dim)\n"
      "d = kept(grad, x, dim)\n"
      "if p == 0: return zeros_like(x)\n"
      "if p == 1: return d * x.sign()\n"
      "if p == 2: return d * (x / n).masked_fill(n == 0, 0)\n"
      "same = x.abs() == n\n"
      "if abs(p) == math.inf: return d / same.sum(dim, True) * same * x.sign()\n"
      "slope = (x.abs() ** (p - 1) * x.sign()).masked_fill(x == 0, 0)\n"
      "return d * (slope / n ** (p - 1)).masked_fill(n == 0, 0)" },
    /* Along dim: the product of all elements before each one. */
    { "product_before(Tensor x, int dim) -> Tensor",
      "cat([ones_like(x.slice(dim, 0, 1)), x.slice(dim, 0, -1)], dim).cumprod(dim)" },
    /* Of a product. Division by an element would not do where it is zero: what counts is the
     * product of the others. */
    { "product_of_others(Tensor x, int dim) -> Tensor",
      "product_before(x, dim) * product_before(x.flip([dim]), dim).flip([dim])" },
    /* ---- numbers ---- */

    /* The sum of a[i] x^(n - i), n being the last i. */
    { "polynomial(Tensor x, float[] a) -> Tensor",
      "y = x * a[0] + a[1]\nfor c in a[2:]: y = y * x + c\nreturn y" },

    /* From both ends to the middle, as PyTorch does. */
    { "line_between(Tensor start, Tensor end, int steps, int? dtype) -> Tensor",
      "assert steps >= 0, 'wants at least 0 steps, not {steps}'\n"
      "a = start.to(torch.float64); b = end.to(torch.float64); i = arange(steps)\n"
      "step = (b - a) / max(steps - 1, 1)\n"
      "y = where(i < max(steps // 2, 1), a + step * i, b + step * (i - (steps - 1)))\n"
      "return y.to(torch.float32 if dtype is None else dtype)" },

    /* ---- normalisation ---- */

    /* 1 over the root of the mean of squares along the last n dimensions. */
    { "inverse_root(Tensor x, int n, float? eps) -> Tensor",
      "least = 2.220446049250313e-16 if x.dtype == torch.float64 else 1.1920928955078125e-07\n"
      "e = least if eps is None else eps\n"
      "return (x.square().mean([i - n for i in range(n)], True) + e).rsqrt()" },
    { "normed_by_root(Tensor x, Tensor? weight, Tensor inverse) -> Tensor",
      "x * inverse if weight is None else x * inverse * weight" },

    /* In training: the result, its statistics, and the running ones as they are moved; the variance
     * among those is unbiased. */
    { "trained_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean, "
      "Tensor running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor, Tensor, Tensor)",
      "dims = [i for i in range(input.ndim) if i != 1]\n"
      "y, mean, scale = native_batch_norm(input, weight, bias, None, None, True, momentum, eps)\n"
      "moved_mean = running_mean + (input.mean(dims) - running_mean) * momentum\n"
      "moved_var = running_var + (var(input, dims) - running_var) * momentum\n"
      "return y, mean, scale, moved_mean, moved_var" },

    /* ---- indices ---- */

    /* What was taken at indices of the last n dimensions of like, put back there. */
    { "scattered(Tensor x, Tensor like, Tensor indices, int n) -> Tensor",
      "y = zeros_like(like).flatten(-n, -1)\n"
      "y = y.scatter_add(-1, indices.flatten(-n, -1), x.flatten(-n, -1))\n"
      "return y.reshape(like.shape)" },
    /* Indices that may lie anywhere, moved to where elements are. */
    { "within(Tensor x, Tensor?[] indices) -> Tensor?[]",
      "[indices[k] if indices[k] is None"
      " else indices[k].clamp(-x.shape[k], x.shape[k] - 1) for k in range(len(indices))]" },

    /* ---- histograms ---- */

    /* Between which edges; -1 below the first, their number less one from the last on, which itself
     * counts as before it. */
    { "bin_of(Tensor x, Tensor edges) -> Tensor",
      "at = searchsorted(edges, x, right=True) - 1\n"
      "return where(x == edges.select(0, -1), edges.shape[0] - 2, at)" },
    /* Those of n parts of a range, the k-th of limits, or else all that x covers. */
    { "edges_over(Tensor x, int n, float[]? limits, int k) -> Tensor",
      "if limits is not None: low = scalar_tensor(limits[2 * k], dtype=x.dtype);"
      " high = scalar_tensor(limits[2 * k + 1], dtype=x.dtype)\n"
      "else: low = x.amin(); high = x.amax()\n"
      "empty = low == high\n"
      "return linspace(where(empty, low - 0.5, low), where(empty, high + 0.5, high), n + 1,"
      " dtype=x.dtype)" },

    /* ---- quantization as plain tensors ---- */
    { "or_float(int? dtype) -> int", "torch.float32 if dtype is None else dtype" },
    { "qparams_of_rows(Tensor x) -> (Tensor, Tensor)",
      "low = x.amin([-1], True).clamp(max=0); high = x.amax([-1], True).clamp(min=0)\n"
      "scale = ((high - low) / 255).clamp(min=1.1920928955078125e-07)\n"
      "low = low / scale; high = high / scale\n"
      "zero = where(low + high - 1 > 0, -128 - low, 127 - high).clamp(-128, 127).round()\n"
      "return scale.to(torch.float64), zero.to(torch.int64)" },

    /* ---- complex numbers ---- */
    { "truth(Tensor x) -> Tensor",
      "logical_or(real(x) != 0, imag(x) != 0) if x.is_complex() else x != 0" },
    { "from_pairs(Tensor x) -> Tensor", "view_as_complex(x.contiguous())" },
    { "both_complex(Any x, Any y) -> bool",
      "isinstance(x, Tensor) and is_complex(x) and isinstance(y, Tensor) and is_complex(y)" },
    { "part_dtype(int dtype) -> int",
      "torch.float64 if dtype == torch.complex128 else torch.float32 if dtype == torch.complex64"
      " else torch.float16" },
    /* Of the one that is a complex tensor. */
    { "dtype_of_parts(Any x, Any y) -> int",
      "part_dtype(x.dtype if isinstance(x, Tensor) and is_complex(x) else y.dtype)" },
    { "real_part(Any x, int dtype) -> Tensor",
      "if isinstance(x, Tensor): return real(x) if is_complex(x) else x\n"
      "return scalar_tensor(real(x), dtype=dtype)" },
    { "imag_part(Any x, int dtype) -> Tensor",
      "if isinstance(x, Tensor): return imag(x) if is_complex(x) else zeros_like(x)\n"
      "return scalar_tensor(imag(x), dtype=dtype)" },
    /* A real operand of pairs. */
    { "beside_pairs(Any x) -> Any",
      "x.unsqueeze(-1) if isinstance(x, Tensor) and x.ndim > 0 else x" },
    { "times_real(Tensor z, Any by) -> Tensor", "from_pairs(view_as_real(z) * beside_pairs(by))" },
    /* (x + yi)(u + vi) */
    { "product(Tensor x, Tensor y, Tensor u, Tensor v) -> Tensor",
      "a = x * u; b = x * v; c = y * u; d = y * v\n"
      "return complex_of(a - d, b + c)" },
    { "as_complex(Tensor x) -> Tensor", "x if x.is_complex() else complex(x, zeros_like(x))" },
    { 0 },
};
