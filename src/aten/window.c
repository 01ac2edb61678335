/* Window functions of signal processing: rows of numbers that rise and fall again. All but
 * Kaiser's are sums of cosines of a ramp. A periodic window is a symmetric one that is one longer,
 * without its last number. */
#include "aten/body_tree.h"

#include <math.h>

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

/* kaiser(n, beta, dtype): a Bessel function over an arc. ONNX has none, so it is a constant. */
cq_val cq_native_kaiser(cq_frame *f, const cq_val *args, size_t n)
{
    int64_t    size = cq_native_i64(f, args[0]);
    double     beta = cq_native_f64(f, args[1]), whole = bessel(beta);
    cq_tensor *wide;

    (void)n;
    if (f->c->cx->status != CQ_OK ||
        cq_ctx_fail(f->c->cx, cq_tensor_new_uninit(&wide, CQ_DTYPE_F64, 1, &size)) != CQ_OK)
        return CQ_NONE;
    for (int64_t i = 0; i < size; i++) {
        double at = 2 * (double)i / (double)(size - 1) - 1;

        ((double *)cq_tensor_bytes(wide))[i] =
            bessel(beta * sqrt(at * at < 1 ? 1 - at * at : 0)) / whole;
    }
    return cq_native_constant(f, wide, cq_dtype_from_torch(cq_native_i64(f, args[2])));
}

#define OPTIONS                                                                                    \
    ", *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "                      \
    "bool? pin_memory=None) -> Tensor"

/* n is the length of the symmetric window, t the window. */
#define IN_WINDOW(periodic, t)                                                                     \
    "assert window_length >= 0, 'a window of {window_length} numbers'\n"                           \
    "type = result_type(1.) if dtype is None else dtype\n"                                         \
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
#define KAISER(beta) "kaiser(int(n), " beta ", type)"

const cq_op_def cq_ops_window[] = {
    WINDOW("hann_window", HANN),
    WINDOW("hamming_window", HAMMING("0.54", "0.46")),
    CQ_BODY("aten::hamming_window.periodic_alpha(int window_length, bool periodic, float "
            "alpha" OPTIONS,
            "hamming_window with other factors", IN_WINDOW("periodic", HAMMING("alpha", "0.46"))),
    CQ_BODY("aten::hamming_window.periodic_alpha_beta(int window_length, bool periodic, "
            "float alpha, float beta" OPTIONS,
            "hamming_window with other factors", IN_WINDOW("periodic", HAMMING("alpha", "beta"))),
    WINDOW("blackman_window", BLACKMAN),
    WINDOW("bartlett_window", BARTLETT),
    WINDOW("kaiser_window", KAISER("12.")),
    CQ_BODY("aten::kaiser_window.beta(int window_length, bool periodic, float beta" OPTIONS,
            "kaiser_window with another beta", IN_WINDOW("periodic", KAISER("beta"))),
    { 0 }
};
