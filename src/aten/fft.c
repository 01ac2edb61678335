/* Fourier transforms: fft and its relatives, stft and istft. A transform of n numbers is a product
 * with a matrix of roots of unity, which is a constant, so that any opset can do it; a long one is
 * made of two short ones if n has factors. Complex numbers are pairs here, as everywhere
 * (complex.c). */
#include "aten/complex.h"

#include <math.h>

#define PI 3.14159265358979323846

enum {
    REAL_IN  = 1 << 0, /* and one half of the result, which tells the other */
    REAL_OUT = 1 << 1, /* from such a half */
    INVERSE  = 1 << 2
};

enum { MAX_MATRIX = 256, MAX_POINTS = 1 << 16 }; /* longer ones are taken apart; and refused */

typedef struct transform {
    int64_t  n;       /* points */
    int      sign;    /* of the exponent: -1, or 1 for an inverse one */
    double   scale;   /* of the result */
    int      divided; /* why: by nothing (0), the root of n (1) or n (2) */
    cq_dtype dtype;   /* of its real numbers */
} transform;

static cq_status done(cq_opcall *c, cq_tensor *t)
{
    return cq_result_set_tensor(c, 0, t);
}

/* ---- matrices ---- */

/* A constant of these sizes, filled by a function of row and column. */
typedef double element_fn(const transform *f, int64_t row, int64_t column);

static cq_tensor *matrix(cq_opcall *c, const transform *f, int64_t rows, int64_t columns,
                         element_fn *at)
{
    cq_tensor *wide, *t = NULL;
    int64_t    sizes[2] = { rows, columns };
    cq_status  status   = c->cx->status;

    if (status != CQ_OK)
        return NULL;
    status = cq_tensor_new_uninit(&wide, CQ_DTYPE_F64, 2, sizes);
    for (int64_t i = 0; status == CQ_OK && i < rows * columns; i++)
        ((double *)cq_tensor_bytes(wide))[i] = f->scale * at(f, i / columns, i % columns);
    if (status == CQ_OK) {
        status = cq_tensor_clone(&t, wide, f->dtype);
        cq_tensor_release(wide);
    }
    if (status != CQ_OK) {
        cq_ctx_fail(c->cx, status);
        return NULL;
    }
    return cq_ctx_own_tensor(c->cx, t);
}

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

/* ---- transforms along the last dimension ---- */

/* x [.., m] or, as pairs, [.., m, 2], times a matrix, as [.., columns]. */
static cq_tensor *times(cq_opcall *c, cq_tensor *x, const transform *f, int64_t m, int64_t columns,
                        element_fn *at)
{
    cq_ctx *cx = c->cx;

    if (x && cq_dtype_is_complex(x->dtype)) {
        x = CQ_OP(cx, "aten::view_as_real", TENSOR(x));
        x = CQ_OP(cx, "aten::flatten.using_ints", TENSOR(x), INT(-2), INT(-1));
        m *= 2;
    }
    return CQ_OP(cx, "aten::matmul", TENSOR(x), TENSOR(matrix(c, f, m, columns, at)));
}

/* The last dimension as two. */
static cq_tensor *in_two(cq_ctx *cx, cq_tensor *x, int64_t a, int64_t b)
{
    cq_int sizes[CQ_MAX_RANK];

    if (!x || x->rank == CQ_MAX_RANK)
        return NULL;
    memcpy(sizes, x->sizes, x->rank * sizeof *sizes);
    sizes[x->rank - 1] = cq_i(a);
    sizes[x->rank]     = cq_i(b);
    return CQ_OP(cx, "aten::reshape", TENSOR(x), cq_ints(cx, sizes, x->rank + 1u));
}

/* The last dimension as pairs, and those as complex numbers. */
static cq_tensor *paired(cq_ctx *cx, cq_tensor *x, int64_t n)
{
    return CQ_OP(cx, "aten::view_as_complex", TENSOR(in_two(cx, x, n, 2)));
}

static cq_tensor *swap_last(cq_ctx *cx, cq_tensor *x)
{
    return CQ_OP(cx, "aten::transpose.int", TENSOR(x), INT(-2), INT(-1));
}

/* The largest factor of n up to its root. */
static int64_t factor_of(int64_t n)
{
    int64_t factor = 1;

    for (int64_t i = 2; i * i <= n; i++)
        if (n % i == 0)
            factor = i;
    return factor;
}

/* The first m of the n frequencies of x, whose last dimension has n numbers. With n = a b, the
 * transforms of each b-th number, turned a little, are transformed across. */
static cq_tensor *spectrum(cq_opcall *c, cq_tensor *x, const transform *f, int64_t m)
{
    cq_ctx    *cx = c->cx;
    int64_t    a = f->n > MAX_MATRIX ? factor_of(f->n) : 1, b = f->n / a;
    transform  outer = *f, turn = *f, inner = *f;
    cq_tensor *twist;

    if (!x)
        return NULL;
    if (a == 1)
        return paired(
            cx,
            times(c, x, f, f->n, 2 * m, cq_dtype_is_complex(x->dtype) ? from_complex : from_real),
            m);
    outer.n     = a;
    outer.scale = turn.scale = 1;
    inner.n                  = b;
    x     = spectrum(c, swap_last(cx, in_two(cx, x, a, b)), &outer, a); /* [.., b, a] */
    twist = cq_complex_of(cx, matrix(c, &turn, b, a, cosine), matrix(c, &turn, b, a, sine));
    x     = CQ_OP(cx, "aten::mul.Tensor", TENSOR(x), TENSOR(twist));
    x     = spectrum(c, swap_last(cx, x), &inner, b); /* [.., a, b] */
    x     = CQ_OP(cx, "aten::flatten.using_ints", TENSOR(swap_last(cx, x)), INT(-2), INT(-1));
    return m == f->n ? x : CQ_OP(cx, "aten::slice.Tensor", TENSOR(x), INT(-1), INT(0), INT(m));
}

/* The mirrored half is put back first if the matrix would be large. */
static cq_tensor *signal_of(cq_opcall *c, cq_tensor *x, const transform *f)
{
    cq_ctx    *cx   = c->cx;
    int64_t    half = f->n / 2 + 1;
    cq_tensor *parts[2];

    if (f->n <= MAX_MATRIX || factor_of(f->n) == 1)
        return times(c, x, f, half, f->n, to_real);
    parts[0] = x;
    parts[1] = CQ_OP(cx, "aten::slice.Tensor", TENSOR(x), INT(-1), INT(1), INT(f->n - half + 1));
    parts[1] = CQ_OP(cx, "aten::conj", TENSOR(CQ_OP(cx, "aten::flip", TENSOR(parts[1]), INT(-1))));
    x        = CQ_OP(cx, "aten::cat", cq_tensors(cx, parts, 2), INT(-1));
    return CQ_OP(cx, "aten::real", TENSOR(spectrum(c, x, f, f->n)));
}

/* ---- along any dimension ---- */

/* x cut off or filled up with zeroes to n along its last dimension; which of them
 * depends on data if n is a symbol. */
static cq_tensor *resized(cq_opcall *c, cq_tensor *x, int64_t n)
{
    cq_ctx *cx   = c->cx;
    cq_int  have = x->sizes[x->rank - 1], more = cq_size_sub(c, cq_i(n), have);
    bool    complex = cq_dtype_is_complex(x->dtype);

    if (cq_int_is(have, n))
        return x;
    if (!have.expr && have.value > n)
        return CQ_OP(cx, "aten::slice.Tensor", TENSOR(x), INT(-1), INT(0), INT(n));
    if (complex)
        x = CQ_OP(cx, "aten::view_as_real", TENSOR(x));
    x = CQ_OP(cx, "aten::constant_pad_nd", TENSOR(x),
              complex ? cq_ints(cx, (cq_int[]){ cq_i(0), cq_i(0), cq_i(0), more }, 4)
                      : cq_ints(cx, (cq_int[]){ cq_i(0), more }, 2),
              INT(0));
    return complex ? CQ_OP(cx, "aten::view_as_complex", TENSOR(x)) : x;
}

static cq_status read_scale(cq_opcall *c, transform *f)
{
    const char *norm = cq_arg_str(c, "norm", "backward");
    bool        with = f->sign < 0 ? strcmp(norm, "forward") == 0 : strcmp(norm, "backward") == 0;

    if (strcmp(norm, "forward") != 0 && strcmp(norm, "backward") != 0 && strcmp(norm, "ortho") != 0)
        return cq_call_fail(c, CQ_E_ARGUMENT, "norm is backward, forward or ortho, not %s", norm);
    f->divided = strcmp(norm, "ortho") == 0 ? 1 : with ? 2 : 0;
    f->scale   = f->divided == 1 ? 1 / sqrt((double)f->n) : f->divided == 2 ? 1 / (double)f->n : 1;
    return CQ_OK;
}

/* Of a length that is a symbol: the matrix is computed in the run (_fft_c2c and its variants). x
 * has its points in the last dimension, as many as that says. A transform back of real numbers, and
 * one there to real numbers, is that of conjugates the other way. */
static cq_tensor *of_any_length(cq_opcall *c, cq_tensor *x, cq_int n, const transform *f, int kind)
{
    cq_ctx *cx = c->cx;

    if (kind & REAL_OUT) {
        if (!(kind & INVERSE))
            x = CQ_OP(cx, "aten::conj", TENSOR(x));
        return CQ_OP(cx, "aten::_fft_c2r", TENSOR(x), INT(-1), INT(f->divided), SIZE(n));
    }
    if (cq_dtype_is_complex(x->dtype))
        return CQ_OP(cx, "aten::_fft_c2c", TENSOR(x), INT(-1), INT(f->divided),
                     BOOL(!(kind & INVERSE)));
    x = CQ_OP(cx, "aten::_fft_r2c", TENSOR(x), INT(-1), INT(f->divided), BOOL(kind & REAL_IN));
    return kind & INVERSE ? CQ_OP(cx, "aten::conj", TENSOR(x)) : x;
}

/* points: NULL for as many as there are. */
static cq_status along(cq_opcall *c, cq_tensor **x, int64_t dim, const cq_int *points, int kind)
{
    cq_ctx   *cx = c->cx;
    transform f  = { .sign = kind & INVERSE ? 1 : -1, .dtype = CQ_DTYPE_F32 };
    cq_int    have, n;

    CQ_TRY(cx->status);
    have = (*x)->sizes[dim];
    if ((*x)->dtype == CQ_DTYPE_F64 || (*x)->dtype == CQ_DTYPE_C128)
        f.dtype = CQ_DTYPE_F64;
    n   = points            ? *points
          : kind & REAL_OUT ? cq_size_mul(c, cq_size_sub(c, have, cq_i(1)), cq_i(2))
                            : have;
    f.n = n.value;
    if (f.n < 1 || f.n > MAX_POINTS || (f.n > 4096 && factor_of(f.n) == 1))
        return cq_fail(f.n < 1 ? CQ_E_ARGUMENT : CQ_E_UNSUPPORTED, c->op->schema->full, NULL,
                       "a transform of %lld points; 1 to %d can be, and primes up to 4096",
                       (long long)f.n, MAX_POINTS);
    CQ_TRY(read_scale(c, &f));
    *x = CQ_OP(cx, "aten::movedim.int", TENSOR(*x), INT(dim), INT(-1));
    CQ_TRY(cx->status);
    if (n.expr && (!points || points->expr == have.expr || kind & REAL_OUT)) {
        *x = of_any_length(c, *x, n, &f, kind);
        *x = CQ_OP(cx, "aten::movedim.int", TENSOR(*x), INT(-1), INT(dim));
        return cx->status;
    }
    cq_size_baked(c, n, "the length of a transform");
    *x = resized(c, *x, kind & REAL_OUT ? f.n / 2 + 1 : f.n);
    *x = kind & REAL_OUT ? signal_of(c, *x, &f)
                         : spectrum(c, *x, &f, kind & REAL_IN ? f.n / 2 + 1 : f.n);
    *x = CQ_OP(cx, "aten::movedim.int", TENSOR(*x), INT(-1), INT(dim));
    return cx->status;
}

/* The argument in floats, complex ones for half a spectrum. */
static cq_status read_input(cq_opcall *c, cq_tensor **x, int kind)
{
    cq_ctx *cx = c->cx;

    *x = c->args[0].u.tensor;
    if (cq_dtype_is_complex((*x)->dtype) && kind & REAL_IN)
        return cq_call_fail(c, CQ_E_TYPE, "wants real numbers, not %s", cq_dtype_name((*x)->dtype));
    if ((*x)->dtype == CQ_DTYPE_F16 || (*x)->dtype == CQ_DTYPE_BF16)
        return cq_call_fail(c, CQ_E_TYPE, "wants float32 or float64, not %s",
                            cq_dtype_name((*x)->dtype));
    if (!cq_dtype_is_complex((*x)->dtype) && !cq_dtype_is_float((*x)->dtype))
        *x = CQ_OP(cx, "aten::to.dtype", TENSOR(*x), DTYPE(CQ_DTYPE_F32));
    CQ_TRY(cx->status);
    if (!cq_dtype_is_complex((*x)->dtype) && kind & REAL_OUT)
        *x = cq_complex_of(cx, *x, CQ_OP(cx, "aten::zeros_like", TENSOR(*x)));
    return cx->status;
}

/* -1, and no number at all, is as many as there are. */
static const cq_int *points_at(const cq_int *s, size_t n_s, size_t i)
{
    return i < n_s && !cq_int_is(s[i], -1) ? &s[i] : NULL;
}

static cq_status fft(cq_opcall *c)
{
    int        kind = c->op->def->variant;
    cq_int     n    = cq_arg_is_none(c, "n") ? cq_i(-1) : cq_arg_int(c, "n");
    cq_tensor *x;

    CQ_TRY(read_input(c, &x, kind));
    if (!x->rank)
        return cq_call_fail(c, CQ_E_TYPE, "wants at least one dimension");
    CQ_TRY(along(c, &x, cq_arg_dim(c, "dim", x->rank), points_at(&n, 1, 0), kind));
    return done(c, x);
}

/* The last of the dimensions is the one whose numbers are real; the others have no real side. */
static cq_status fft_n(cq_opcall *c)
{
    int        kind = c->op->def->variant, plain = kind & INVERSE;
    int64_t    dims[CQ_MAX_RANK];
    cq_int     s[CQ_MAX_RANK];
    size_t     n   = cq_arg_is_none(c, "dim") ? 0 : cq_arg_i64s(c, "dim", dims, CQ_MAX_RANK);
    size_t     n_s = cq_arg_is_none(c, "s") ? 0 : cq_arg_ints(c, "s", s, CQ_MAX_RANK), last;
    cq_tensor *x;

    CQ_TRY(read_input(c, &x, kind));
    if (cq_arg_is_none(c, "dim")) {
        n = n_s ? n_s : x->rank;
        for (size_t i = 0; i < n; i++)
            dims[i] = (int64_t)i - (int64_t)n;
    }
    if (!n || (n_s && n_s != n) || n > x->rank)
        return cq_call_fail(c, CQ_E_ARGUMENT,
                            "%zu dimensions and %zu sizes for a tensor of %u dimensions", n, n_s,
                            x->rank);
    for (size_t i = 0; i < n; i++) {
        if (dims[i] < -(int64_t)x->rank || dims[i] >= (int64_t)x->rank)
            return cq_call_fail(c, CQ_E_ARGUMENT, "dimension %lld of a tensor that has %u",
                                (long long)dims[i], x->rank);
        dims[i] += dims[i] < 0 ? (int64_t)x->rank : 0;
    }
    last = n - 1;
    if (kind & REAL_IN)
        CQ_TRY(along(c, &x, dims[last], points_at(s, n_s, last), kind));
    for (size_t i = 0; i < last; i++)
        CQ_TRY(along(c, &x, dims[i], points_at(s, n_s, i), plain));
    if (!(kind & REAL_IN))
        CQ_TRY(along(c, &x, dims[last], points_at(s, n_s, last), kind));
    return done(c, x);
}

/* ---- overlapping frames ---- */

static int64_t number_or(const cq_opcall *c, const char *name, int64_t otherwise)
{
    return cq_arg_is_none(c, name) ? otherwise : cq_arg_i64(c, name);
}

/* The window in the middle of a frame; NULL: all ones. */
static cq_tensor *whole_window(cq_opcall *c, cq_dtype dtype, int64_t n, int64_t length)
{
    cq_ctx    *cx     = c->cx;
    cq_tensor *window = cq_arg_tensor(c, "window");
    int64_t    before = (n - length) / 2;

    if (!window && length < n)
        window = CQ_OP(cx, "aten::ones", INT(length), DTYPE(dtype));
    if (window && length < n)
        window = CQ_OP(cx, "aten::constant_pad_nd", TENSOR(window),
                       cq_i64s(cx, (int64_t[]){ before, n - length - before }, 2), INT(0));
    return window;
}

/* Frames that overlap, times the window, times waves: [.., frequencies, frames, 2]. */
static cq_status stft(cq_opcall *c)
{
    cq_ctx    *cx = c->cx;
    cq_tensor *x = c->args[0].u.tensor, *window = cq_arg_tensor(c, "window"), *parts[2], *t;
    int64_t    n = cq_arg_i64(c, "n_fft"), hop = number_or(c, "hop_length", n / 4);
    int64_t    length = number_or(c, "win_length", n);
    bool       half   = cq_arg_is_none(c, "onesided") || cq_arg_bool(c, "onesided");
    transform  f      = { .n = n, .sign = -1, .scale = 1, .dtype = x->dtype };

    CQ_TRY(cx->status);
    if (!cq_dtype_is_float(x->dtype) || x->rank < 1 || x->rank > 2)
        return cq_call_fail(c, CQ_E_TYPE, "wants one or two dimensions of floats");
    if (n < 1 || n > MAX_POINTS || n > x->sizes[x->rank - 1].value || hop < 1 || length < 1 ||
        length > n || (window && (window->rank != 1 || window->sizes[0].value != length)))
        return cq_call_fail(c, CQ_E_ARGUMENT,
                            "wants 0 < win_length <= n_fft <= the signal, a hop above 0, "
                            "and a window of win_length");
    if (!cq_arg_is_none(c, "align_to_window") && cq_arg_bool(c, "align_to_window"))
        return cq_call_fail(c, CQ_E_UNSUPPORTED, "frames start where n_fft does, not the window");
    window = whole_window(c, x->dtype, n, length);
    t      = CQ_OP(cx, "aten::unfold", TENSOR(x), INT(-1), INT(n), INT(hop));
    if (window)
        t = CQ_OP(cx, "aten::mul.Tensor", TENSOR(t), TENSOR(window));
    if (cq_arg_bool(c, "normalized"))
        t = CQ_OP(cx, "aten::mul.Scalar", TENSOR(t), FLOAT(1 / sqrt((double)n)));
    for (int i = 0; i < 2; i++) {
        parts[i] = CQ_OP(cx, "aten::matmul", TENSOR(t),
                         TENSOR(matrix(c, &f, n, half ? n / 2 + 1 : n, i ? sine : cosine)));
        parts[i] = CQ_OP(cx, "aten::transpose.int", TENSOR(parts[i]), INT(-2), INT(-1));
    }
    if (!cq_arg_is_none(c, "return_complex") && cq_arg_bool(c, "return_complex"))
        return done(c, cq_complex_of(cx, parts[0], parts[1]));
    return done(c, CQ_OP(cx, "aten::stack", cq_tensors(cx, parts, 2), INT(-1)));
}

#define ROW(text_of_schema, text, function, kind)                                                  \
    {                                                                                              \
        .schema = "aten::" text_of_schema " -> Tensor", .about = text, .compose = function,        \
        .flags = CQ_OP_PARTS, .variant = kind                                                      \
    }
#define MADE(text_of_schema, text, code)                                                           \
    {                                                                                              \
        .schema = "aten::" text_of_schema " -> Tensor", .about = text, .body = code,               \
        .flags = CQ_OP_PARTS                                                                       \
    }
#define FFT(name, text, kind)                                                                      \
    ROW("fft_" name "(Tensor self, int? n=None, int dim=-1, str? norm=None)", text, fft, kind),    \
        ROW("fft_" name "2(Tensor self, int[1]? s=None, int[1] dim=[-2, -1], str? norm=None)",     \
            text ", of two dimensions", fft_n, kind),                                              \
        ROW("fft_" name "n(Tensor self, int[1]? s=None, int[1]? dim=None, str? norm=None)",        \
            text ", of several dimensions", fft_n, kind)
#define OPTIONS                                                                                    \
    ", *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "                \
    "pin_memory=None)"

const cq_op_def cq_ops_fft[] = {
    FFT("fft", "Fourier transform", 0),
    FFT("ifft", "inverse Fourier transform", INVERSE),
    FFT("rfft", "Fourier transform of real numbers, one half", REAL_IN),
    FFT("irfft", "inverse of half a Fourier transform, real numbers", REAL_OUT | INVERSE),
    FFT("hfft", "Fourier transform of half a signal, real numbers", REAL_OUT),
    FFT("ihfft", "inverse Fourier transform of real numbers, one half", REAL_IN | INVERSE),
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
    ROW("stft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? "
        "window=None, "
        "bool normalized=False, bool? onesided=None, bool? return_complex=None, "
        "bool? align_to_window=None)",
        "spectra of overlapping frames", stft, 0),
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
         "w = ones([size], dtype=real(x).dtype) if window is None else window\n"
         "if size < n: before = (n - size) // 2; w = w.constant_pad_nd([before, n - size - "
         "before], 0)\n"
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
    { .schema =
          "aten::_fft_c2c(Tensor self, SymInt[] dim, int normalization, bool forward) -> Tensor",
      .about = "Fourier transforms, there or back",
      .body  = "n = self.shape[-1]\n"
               "if len(dim) == 1 and dim[0] in [-1, self.ndim - 1] and not is_known(n):"
               " t = turns(n, n, n, real(self).dtype); c = t.cos();"
               " s = -t.sin() if forward else t.sin(); x = real(self); y = imag(self);"
               " return normalized(complex(x @ c - y @ s, x @ s + y @ c), n, normalization)\n"
               "if forward: return fft_fftn(self, None, dim,"
               " ['backward', 'ortho', 'forward'][normalization])\n"
               "return fft_ifftn(self, None, dim, ['forward', 'ortho', 'backward'][normalization])",
      .flags = CQ_OP_PARTS },
    { .schema =
          "aten::_fft_r2c(Tensor self, int[] dim, int normalization, bool onesided) -> Tensor",
      .about = "Fourier transforms of real numbers",
      .body  = "n = self.shape[-1]\n"
               "if len(dim) == 1 and dim[0] in [-1, self.ndim - 1] and not is_known(n):"
               " t = turns(n, n // 2 + 1 if onesided else n, n, self.dtype);"
               " return normalized(complex(self @ t.cos(), -(self @ t.sin())), n, normalization)\n"
               "norm = ['backward', 'ortho', 'forward'][normalization]\n"
               "return fft_rfftn(self, None, dim, norm) if onesided"
               " else fft_fftn(self, None, dim, norm)",
      .flags = CQ_OP_PARTS },
    { .schema = "aten::_fft_c2r(Tensor self, int[] dim, int normalization, SymInt last_dim_size) "
                "-> Tensor",
      .about  = "inverses of half a Fourier transform, real numbers",
      .body   = "n = last_dim_size; m = n // 2 + 1\n"
                "if len(dim) == 1 and dim[0] in [-1, self.ndim - 1] and not is_known(n):"
                " x = self.slice(-1, 0, m); x = cat([x, x.slice(-1, 1, n - m + "
                "1).flip([-1]).conj()], -1);"
                " t = turns(n, n, n, real(self).dtype);"
                " return normalized(real(x) @ t.cos() - imag(x) @ t.sin(), n, normalization)\n"
                "s = [self.shape[d] for d in dim[:-1]] + [last_dim_size]\n"
                "return fft_irfftn(self, s, dim, ['forward', 'ortho', 'backward'][normalization])",
      .flags  = CQ_OP_PARTS },
    { 0 }
};
