/* Fourier transforms: fft and its relatives, stft and istft. A transform of n numbers is a product
 * with a matrix of roots of unity, which is a constant, so that any opset can do it; a long one is
 * made of two short ones if n has factors. Complex numbers are pairs here, as everywhere
 * (complex.c). */
#include "aten/body_tree.h"

#include <math.h>

#define PI 3.14159265358979323846

typedef struct transform {
    int64_t n;    /* points */
    int     sign; /* of the exponent: -1, or 1 for an inverse one */
} transform;

/* ---- matrices: what stands in a row and column ---- */

/* The real (or, if sine, imaginary) part of the n-th root of unity to the power of i k. */
static double root(const transform *f, int64_t i, int64_t k, bool sine)
{
    double turn = 2 * PI * (double)(i * k % f->n) / (double)f->n;

    return sine ? f->sign * sin(turn) : cos(turn);
}

/* Rows are real numbers or parts of complex ones, columns are parts of complex ones. */
static double from_real(const transform *f, int64_t row, int64_t column)
{
    return root(f, row, column / 2, column % 2);
}

static double from_complex(const transform *f, int64_t row, int64_t column)
{
    double x = root(f, row / 2, column / 2, row % 2 != column % 2);

    return row % 2 && !(column % 2) ? -x : x;
}

/* What is missing of the half mirrors what is there: all but the first count twice, and the middle
 * one, if there is one. */
static double to_real(const transform *f, int64_t row, int64_t column)
{
    double x = row % 2 ? -root(f, row / 2, column, true) : root(f, row / 2, column, false);

    return row / 2 == 0 || 2 * (row / 2) == f->n ? x : 2 * x;
}

static double cosine(const transform *f, int64_t row, int64_t column)
{
    return root(f, row, column, false);
}

static double sine(const transform *f, int64_t row, int64_t column)
{
    return root(f, row, column, true);
}

/* waves(kind, n, rows, columns, sign, scale, dtype): a constant, a matrix of roots of unity. */
cq_val cq_native_waves(cq_frame *f, const cq_val *args, size_t n)
{
    static const struct {
        const char *name;
        double (*at)(const transform *f, int64_t row, int64_t column);
    } kinds[]           = { { "real", from_real },
                            { "complex", from_complex },
                            { "half", to_real },
                            { "cosine", cosine },
                            { "sine", sine } };
    transform  t        = { cq_native_i64(f, args[1]), (int)cq_native_i64(f, args[4]) };
    int64_t    sizes[2] = { cq_native_i64(f, args[2]), cq_native_i64(f, args[3]) };
    double     scale    = cq_native_f64(f, args[5]);
    size_t     kind     = 0;
    cq_tensor *wide;

    (void)n;
    if (f->c->cx->status != CQ_OK ||
        cq_ctx_fail(f->c->cx, cq_tensor_new_uninit(&wide, CQ_DTYPE_F64, 2, sizes)) != CQ_OK)
        return CQ_NONE;
    while (strcmp(kinds[kind].name, args[0].u.text->text) != 0)
        kind++;
    for (int64_t i = 0; i < sizes[0] * sizes[1]; i++)
        ((double *)cq_tensor_bytes(wide))[i] =
            scale * kinds[kind].at(&t, i / sizes[1], i % sizes[1]);
    return cq_native_constant(f, wide, cq_dtype_from_torch(cq_native_i64(f, args[6])));
}

#define MADE(text_of_schema, text, code)                                                           \
    {                                                                                              \
        .schema = "aten::" text_of_schema " -> Tensor", .about = text, .body = code,               \
        .flags = CQ_OP_PARTS                                                                       \
    }
/* how: whether the numbers are real, and one half of the result tells the other; whether the result
 * is, from such a half; whether it is an inverse. */
#define FFT(name, text, how)                                                                       \
    MADE("fft_" name "(Tensor self, int? n=None, int dim=-1, str? norm=None)", text,               \
         "fourier_1(self, n, dim, norm, " how ")"),                                                \
        MADE("fft_" name "2(Tensor self, int[1]? s=None, int[1] dim=[-2, -1], str? norm=None)",    \
             text ", of two dimensions", "fourier_n(self, s, dim, norm, " how ")"),                \
        MADE("fft_" name "n(Tensor self, int[1]? s=None, int[1]? dim=None, str? norm=None)",       \
             text ", of several dimensions", "fourier_n(self, s, dim, norm, " how ")")
#define OPTIONS                                                                                    \
    ", *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "                \
    "pin_memory=None)"

const cq_op_def cq_ops_fft[] = {
    FFT("fft", "Fourier transform", "False, False, False"),
    FFT("ifft", "inverse Fourier transform", "False, False, True"),
    FFT("rfft", "Fourier transform of real numbers, one half", "True, False, False"),
    FFT("irfft", "inverse of half a Fourier transform, real numbers", "False, True, True"),
    FFT("hfft", "Fourier transform of half a signal, real numbers", "False, True, False"),
    FFT("ihfft", "inverse Fourier transform of real numbers, one half", "True, False, True"),
    MADE("fft_fftfreq(int n, float d=1." OPTIONS, "the frequencies of fft",
         "n = int(n)\n"
         "assert n > 0, 'wants at least one point'\n"
         "as_dtype = torch.float32 if dtype is None else dtype\n"
         "t = cat([arange((n - 1) // 2 + 1, dtype=as_dtype), arange(-(n // 2), 0, "
         "dtype=as_dtype)], 0)\n"
         "return t * (1 / (n * d))"),
    MADE("fft_rfftfreq(int n, float d=1." OPTIONS, "the frequencies of rfft",
         "n = int(n)\n"
         "assert n > 0, 'wants at least one point'\n"
         "as_dtype = torch.float32 if dtype is None else dtype\n"
         "return arange(n // 2 + 1, dtype=as_dtype) * (1 / (n * d))"),
    MADE("fft_fftshift(Tensor self, int[1]? dim=None)", "frequency 0 moved to the middle",
         "dims = range(self.ndim) if dim is None else wrap_dims(dim, self.ndim)\n"
         "return self.roll([self.shape[d] // 2 for d in dims], dims)"),
    MADE("fft_ifftshift(Tensor self, int[1]? dim=None)", "frequency 0 moved from the middle",
         "dims = range(self.ndim) if dim is None else wrap_dims(dim, self.ndim)\n"
         "return self.roll([(self.shape[d] + 1) // 2 for d in dims], dims)"),
    /* Frames that overlap, times the window, times waves: [.., frequencies, frames, 2]. */
    MADE("stft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? "
         "window=None, bool normalized=False, bool? onesided=None, bool? return_complex=None, "
         "bool? align_to_window=None)",
         "spectra of overlapping frames",
         "if not self.is_floating_point() or self.ndim not in [1, 2]: "
         "raise TypeError('wants one or two dimensions of floats')\n"
         "n = int(n_fft); hop = n // 4 if hop_length is None else int(hop_length)\n"
         "size = n if win_length is None else int(win_length)\n"
         "assert n > 0 and n <= 65536 and n <= self.shape[-1] and hop > 0 and size > 0 and "
         "size <= n and (window is None or (window.ndim == 1 and window.shape[0] == size)), "
         "'wants 0 < win_length <= n_fft <= the signal, a hop above 0, and a window of "
         "win_length'\n"
         "if align_to_window: raise NotImplementedError('frames start where n_fft does, not the "
         "window')\n"
         "w = in_middle(window, size, n, self.dtype)\n"
         "x = self.unfold(-1, n, hop)\n"
         "if w is not None: x = x * w\n"
         "if normalized: x = x * (1 / math.sqrt(n))\n"
         "m = n // 2 + 1 if onesided is None or onesided else n\n"
         "y = [(x @ waves(kind, n, n, m, -1, 1., self.dtype)).transpose(-2, -1) "
         "for kind in ['cosine', 'sine']]\n"
         "return complex_of(y[0], y[1]) if return_complex else stack(y, -1)"),
    /* Each frame is transformed back, and the sum is divided by that of the squares of the window.
     */
    MADE("istft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? "
         "window=None, bool center=True, bool normalized=False, bool? onesided=None, "
         "int? length=None, bool return_complex=False)",
         "a signal from spectra of overlapping frames",
         "assert self.is_complex() and self.ndim in [2, 3], "
         "'wants two or three dimensions of complex numbers'\n"
         "n = n_fft; hop = n // 4 if hop_length is None else hop_length\n"
         "size = n if win_length is None else win_length\n"
         "x = (self if self.ndim == 3 else self.unsqueeze(0)).transpose(1, 2)\n"
         "half = x.shape[2] != n if onesided is None else onesided\n"
         "assert size > 0 and size <= n and hop > 0 and x.shape[2] == (n // 2 + 1 if half else n), "
         "'wants n_fft, or half of it + 1, frequencies, 0 < win_length <= n_fft, and a hop above "
         "0'\n"
         "assert not (half and return_complex), 'complex results need all frequencies'\n"
         "w = in_middle(ones([size], dtype=real(x).dtype) if window is None else window, size, n, "
         "real(x).dtype)\n"
         "norm = 'ortho' if normalized else 'backward'\n"
         "if return_complex: x = fft_ifft(x, n, -1, norm) * w;"
         " y = complex(overlapped(real(x), hop), overlapped(imag(x), hop))\n"
         "else: y = overlapped(fft_irfft(x.slice(2, 0, n // 2 + 1), n, -1, norm) * w, hop)\n"
         "by = overlapped((w * w).expand([1, x.shape[1], n]).contiguous(), hop)\n"
         "start = n // 2 if center else 0\n"
         "end = 9223372036854775807 if length is None and not center else"
         " -start if length is None else start + length\n"
         "y = y.slice(1, start, end) / by.slice(1, start, end)\n"
         "if length is not None: y = y.constant_pad_nd([0, length - y.shape[1]], 0)\n"
         "return y if self.ndim == 3 else y.squeeze(0)"),
    /* Their inner names. What is divided by has a number: 0 nothing, 1 the root, 2 all of it. */
    CQ_PARTS("aten::_fft_c2c(Tensor self, SymInt[] dim, int normalization, bool forward) -> Tensor",
             "Fourier transforms, there or back",
             "n = self.shape[-1]\n"
             "if len(dim) == 1 and dim[0] in [-1, self.ndim - 1] and not is_known(n):"
             " t = turns(n, n, n, real(self).dtype); c = t.cos();"
             " s = -t.sin() if forward else t.sin(); x = real(self); y = imag(self);"
             " return normalized(complex(x @ c - y @ s, x @ s + y @ c), n, normalization)\n"
             "if forward: return fft_fftn(self, None, dim,"
             " ['backward', 'ortho', 'forward'][normalization])\n"
             "return fft_ifftn(self, None, dim, ['forward', 'ortho', 'backward'][normalization])"),
    CQ_PARTS("aten::_fft_r2c(Tensor self, int[] dim, int normalization, bool onesided) -> Tensor",
             "Fourier transforms of real numbers",
             "n = self.shape[-1]\n"
             "if len(dim) == 1 and dim[0] in [-1, self.ndim - 1] and not is_known(n):"
             " t = turns(n, n // 2 + 1 if onesided else n, n, self.dtype);"
             " return normalized(complex(self @ t.cos(), -(self @ t.sin())), n, normalization)\n"
             "norm = ['backward', 'ortho', 'forward'][normalization]\n"
             "return fft_rfftn(self, None, dim, norm) if onesided"
             " else fft_fftn(self, None, dim, norm)"),
    CQ_PARTS("aten::_fft_c2r(Tensor self, int[] dim, int normalization, SymInt last_dim_size) "
             "-> Tensor",
             "inverses of half a Fourier transform, real numbers",
             "n = last_dim_size; m = n // 2 + 1\n"
             "if len(dim) == 1 and dim[0] in [-1, self.ndim - 1] and not is_known(n):"
             " x = self.slice(-1, 0, m); x = cat([x, x.slice(-1, 1, n - m + "
             "1).flip([-1]).conj()], -1);"
             " t = turns(n, n, n, real(self).dtype);"
             " return normalized(real(x) @ t.cos() - imag(x) @ t.sin(), n, normalization)\n"
             "s = [self.shape[d] for d in dim[:-1]] + [last_dim_size]\n"
             "return fft_irfftn(self, s, dim, ['forward', 'ortho', 'backward'][normalization])"),
    { 0 }
};
