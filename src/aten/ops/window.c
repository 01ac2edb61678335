/* Window functions of signal processing: rows of numbers that rise and fall again. All but
 * Kaiser's are sums of cosines of a ramp. A periodic window is a symmetric one that is one longer,
 * without its last number. */
#include "aten/core/body.h"

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
cq_val cq_native_kaiser(cq_body *b, const cq_val *args, size_t n)
{
    int64_t    size = cq_lang_i64(&b->lang, args[0]);
    double     beta = cq_lang_f64(&b->lang, args[1]), whole = bessel(beta);
    cq_tensor *wide;

    (void)n;
    if (b->c->cx->status != CQ_OK ||
        cq_ctx_fail(b->c->cx, cq_tensor_new_uninit(&wide, CQ_DTYPE_F64, 1, &size)) != CQ_OK)
        return CQ_NONE;
    for (int64_t i = 0; i < size; i++) {
        double at = 2 * (double)i / (double)(size - 1) - 1;

        ((double *)cq_tensor_bytes(wide))[i] =
            bessel(beta * sqrt(at * at < 1 ? 1 - at * at : 0)) / whole;
    }
    return cq_native_constant(b, wide, cq_dtype_from_torch(cq_lang_i64(&b->lang, args[2])));
}
