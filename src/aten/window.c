/* Window functions of signal processing: rows of numbers that rise and fall again. All but
 * Kaiser's are sums of cosines of a ramp. A periodic window is a symmetric one that is one longer,
 * without its last number. */
#include "aten/ctx.h"

#include <math.h>

#define PI 3.14159265358979323846

/* n numbers from 0 in steps of turn / (n - 1); n may be symbolic. */
static cq_tensor *ramp(cq_opcall *c, cq_int n, double turn, cq_dtype dtype)
{
    cq_ctx    *cx   = c->cx;
    cq_int     gaps = cq_size_sub(c, n, cq_i(1));
    cq_tensor *t    = CQ_OP(cx, "aten::arange", N(n), DTYPE(dtype));

    if (!gaps.expr)
        return CQ_OP(cx, "aten::mul.Scalar", T(t), F(turn / (double)gaps.value));
    t = CQ_OP(cx, "aten::mul.Scalar", T(t), F(turn));
    return CQ_OP(cx, "aten::div.Scalar", T(t), N(gaps));
}

/* factor * cos(times * t) */
static cq_tensor *wave(cq_ctx *cx, cq_tensor *t, double times, double factor)
{
    t = times == 1 ? t : CQ_OP(cx, "aten::mul.Scalar", T(t), F(times));
    t = CQ_OP(cx, "aten::cos", T(t));
    return CQ_OP(cx, "aten::mul.Scalar", T(t), F(factor));
}

static double number_or(const cq_opcall *c, const char *name, double otherwise)
{
    return cq_schema_find(c->op->schema, name) >= 0 ? cq_arg_f64(c, name) : otherwise;
}

static cq_tensor *hann(cq_opcall *c, cq_int n, cq_dtype dtype)
{
    return CQ_OP(c->cx, "aten::add.Scalar", T(wave(c->cx, ramp(c, n, 2 * PI, dtype), 1, -0.5)),
                 F(0.5));
}

static cq_tensor *hamming(cq_opcall *c, cq_int n, cq_dtype dtype)
{
    double alpha = number_or(c, "alpha", 0.54), beta = number_or(c, "beta", 0.46);

    return CQ_OP(c->cx, "aten::add.Scalar", T(wave(c->cx, ramp(c, n, 2 * PI, dtype), 1, -beta)),
                 F(alpha));
}

static cq_tensor *blackman(cq_opcall *c, cq_int n, cq_dtype dtype)
{
    cq_ctx    *cx = c->cx;
    cq_tensor *t  = ramp(c, n, PI, dtype);

    t = CQ_OP(cx, "aten::sub.Tensor", T(wave(cx, t, 4, 0.08)), T(wave(cx, t, 2, 0.5)));
    return CQ_OP(cx, "aten::add.Scalar", T(t), F(0.42));
}

/* Up and down in straight lines: 1 - |ramp - 1|. */
static cq_tensor *bartlett(cq_opcall *c, cq_int n, cq_dtype dtype)
{
    cq_ctx    *cx = c->cx;
    cq_tensor *t  = CQ_OP(cx, "aten::sub.Scalar", T(ramp(c, n, 2, dtype)), I(1));

    return CQ_OP(cx, "aten::rsub.Scalar", T(CQ_OP(cx, "aten::abs", T(t))), I(1));
}

/* The modified Bessel function of order 0: the sum of (x/2)^2k / k!^2. */
static double bessel(double x)
{
    double sum = 1, term = 1;

    for (int k = 1; term > sum * 1e-17; k++) {
        term *= x * x / 4 / (double)k / (double)k;
        sum += term;
    }
    return sum;
}

/* Kaiser's window: a Bessel function over an arc. ONNX has none, so it is a constant, and the
 * length is baked in. */
static cq_tensor *kaiser(cq_opcall *c, cq_int length, cq_dtype dtype)
{
    double     beta = number_or(c, "beta", 12), whole = bessel(beta);
    int64_t    n = cq_size_baked(c, length, "the length of a window");
    cq_tensor *wide, *t = NULL;
    cq_status  status = cq_tensor_new_uninit(&wide, CQ_DTYPE_F64, 1, &n);

    for (int64_t i = 0; status == CQ_OK && i < n; i++) {
        double at = 2 * (double)i / (double)(n - 1) - 1;

        ((double *)cq_tensor_bytes(wide))[i] =
            bessel(beta * sqrt(at * at < 1 ? 1 - at * at : 0)) / whole;
    }
    if (status == CQ_OK) {
        status = cq_tensor_clone(&t, wide, dtype);
        cq_tensor_release(wide);
    }
    if (status != CQ_OK) {
        cq_ctx_fail(c->cx, status);
        return NULL;
    }
    return cq_ctx_own_tensor(c->cx, t);
}

typedef cq_tensor *(*window_fn)(cq_opcall *c, cq_int n, cq_dtype dtype);

static const window_fn shapes[] = { hann, hamming, blackman, bartlett, kaiser };
enum { HANN, HAMMING, BLACKMAN, BARTLETT, KAISER };

static cq_status window(cq_opcall *c)
{
    cq_ctx    *cx       = c->cx;
    cq_int     n        = cq_arg_int(c, "window_length");
    bool       periodic = number_or(c, "periodic", 1) != 0;
    cq_dtype   dtype    = cq_arg_dtype(c, "dtype", CQ_DTYPE_F32);
    cq_tensor *t;

    CQ_TRY(cx->status);
    if (n.value < 0)
        return cq_call_fail(c, CQ_E_ARGUMENT, "a window of %lld numbers", (long long)n.value);
    if (!cq_dtype_is_float(dtype))
        return cq_call_fail(c, CQ_E_TYPE, "a window is of floats, not of %s", cq_dtype_name(dtype));
    if (cq_int_is(n, 0) || cq_int_is(n, 1)) {
        t = CQ_OP(cx, "aten::ones", cq_ints(cx, &n, 1), DTYPE(dtype));
    } else {
        t = shapes[c->op->def->variant](c, periodic ? cq_size_add(c, n, cq_i(1)) : n, dtype);
        if (periodic)
            t = CQ_OP(cx, "aten::slice.Tensor", T(t), I(0), I(0), I(-1));
    }
    cq_result_set_tensor(c, 0, t);
    return cx->status;
}

#define OPTIONS                                                                                    \
    ", *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "                      \
    "bool? pin_memory=None) -> Tensor"
#define WINDOW(name, kind)                                                                         \
    { .schema  = "aten::" name "(int window_length" OPTIONS,                                       \
      .about   = name " of that many numbers",                                                     \
      .compose = window,                                                                           \
      .variant = kind },                                                                           \
    {                                                                                              \
        .schema = "aten::" name ".periodic(int window_length, bool periodic" OPTIONS,              \
        .about = name " of that many numbers", .compose = window, .variant = kind                  \
    }

const cq_op_def cq_ops_window[] = {
    WINDOW("hann_window", HANN),
    WINDOW("hamming_window", HAMMING),
    { .schema  = "aten::hamming_window.periodic_alpha(int window_length, bool periodic, float "
                 "alpha" OPTIONS,
      .about   = "hamming_window with other factors",
      .compose = window,
      .variant = HAMMING },
    { .schema  = "aten::hamming_window.periodic_alpha_beta(int window_length, bool periodic, "
                 "float alpha, float beta" OPTIONS,
      .about   = "hamming_window with other factors",
      .compose = window,
      .variant = HAMMING },
    WINDOW("blackman_window", BLACKMAN),
    WINDOW("bartlett_window", BARTLETT),
    WINDOW("kaiser_window", KAISER),
    { .schema  = "aten::kaiser_window.beta(int window_length, bool periodic, float beta" OPTIONS,
      .about   = "kaiser_window with another beta",
      .compose = window,
      .variant = KAISER },
    { 0 }
};
