/* Window functions of signal processing: rows of numbers that rise and fall again. All but
 * Kaiser's are sums of cosines of a ramp. A periodic window is a symmetric one that is one longer,
 * without its last number. */
#include "aten/ctx.h"

#include <math.h>

static double number_or(const cq_opcall *c, const char *name, double otherwise)
{
    return cq_schema_find(c->op->schema, name) >= 0 ? cq_arg_f64(c, name) : otherwise;
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
static cq_tensor *arc(cq_opcall *c, int64_t n, double beta, cq_dtype dtype)
{
    double     whole = bessel(beta);
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

static cq_status kaiser(cq_opcall *c)
{
    int64_t    n        = cq_arg_i64(c, "window_length");
    bool       periodic = number_or(c, "periodic", 1) != 0;
    cq_dtype   dtype    = cq_arg_dtype(c, "dtype", cq_default_float());
    cq_tensor *t;

    CQ_TRY(c->cx->status);
    if (n < 0 || n == INT64_MAX)
        return cq_call_fail(c, CQ_E_ARGUMENT, "a window of %lld numbers", (long long)n);
    if (!cq_dtype_is_float(dtype))
        return cq_call_fail(c, CQ_E_TYPE, "a window is of floats, not of %s", cq_dtype_name(dtype));
    if (n < 2)
        t = CQ_OP(c->cx, "aten::ones", cq_i64s(c->cx, &n, 1), DTYPE(dtype));
    else
        t = arc(c, periodic ? n + 1 : n, number_or(c, "beta", 12), dtype);
    if (n >= 2 && periodic)
        t = CQ_OP(c->cx, "aten::slice.Tensor", TENSOR(t), INT(0), INT(0), INT(-1));
    return cq_result_set_tensor(c, 0, t);
}

#define OPTIONS                                                                                    \
    ", *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "                      \
    "bool? pin_memory=None) -> Tensor"

/* n is the length of the symmetric window, t the window. */
#define IN_WINDOW(periodic, t)                                                                     \
    "assert window_length >= 0, 'a window of {window_length} numbers'\n"                           \
    "type = torch.float32 if dtype is None else dtype\n"                                           \
    "assert type.is_floating_point, 'a window is of floats, not of {dtype_name(type)}'\n"          \
    "if is_known(window_length) and window_length < 2: return ones([window_length], dtype=type)\n" \
    "n = window_length + 1 if " periodic " else window_length\n"                                   \
    "t = " t "\n"                                                                                  \
    "return t.slice(0, 0, -1) if " periodic " else t"
#define HANN                 "wave(ramp(n, 2 * math.pi, type), 1., -0.5) + 0.5"
#define HAMMING(alpha, beta) "wave(ramp(n, 2 * math.pi, type), 1., -" beta ") + " alpha
#define BARTLETT             "1 - (ramp(n, 2., type) - 1).abs()"
#define BLACKMAN                                                                                   \
    "ramp(n, math.pi, type)\n"                                                                     \
    "t = wave(t, 4., 0.08) - wave(t, 2., 0.5) + 0.42"
#define WINDOW(name, t)                                                                            \
    { .schema = "aten::" name "(int window_length" OPTIONS,                                        \
      .about  = name " of that many numbers",                                                      \
      .body   = IN_WINDOW("True", t) },                                                              \
    {                                                                                              \
        .schema = "aten::" name ".periodic(int window_length, bool periodic" OPTIONS,              \
        .about = name " of that many numbers", .body = IN_WINDOW("periodic", t)                    \
    }
#define KAISER(text_of_schema, text)                                                               \
    {                                                                                              \
        .schema = "aten::kaiser_window" text_of_schema OPTIONS, .about = text, .compose = kaiser   \
    }

const cq_op_def cq_ops_window[] = {
    WINDOW("hann_window", HANN),
    WINDOW("hamming_window", HAMMING("0.54", "0.46")),
    { .schema = "aten::hamming_window.periodic_alpha(int window_length, bool periodic, float "
                "alpha" OPTIONS,
      .about  = "hamming_window with other factors",
      .body   = IN_WINDOW("periodic", HAMMING("alpha", "0.46")) },
    { .schema = "aten::hamming_window.periodic_alpha_beta(int window_length, bool periodic, "
                "float alpha, float beta" OPTIONS,
      .about  = "hamming_window with other factors",
      .body   = IN_WINDOW("periodic", HAMMING("alpha", "beta")) },
    WINDOW("blackman_window", BLACKMAN),
    WINDOW("bartlett_window", BARTLETT),
    KAISER("(int window_length", "kaiser_window of that many numbers"),
    KAISER(".periodic(int window_length, bool periodic", "kaiser_window of that many numbers"),
    KAISER(".beta(int window_length, bool periodic, float beta", "kaiser_window with another beta"),
    { 0 }
};
