/* Fourier transforms: fft and its variants, stft and istft. A transform of n numbers is a product
 * with a matrix of roots of unity, a constant, so that any opset can express it; for a large n with
 * factors it is composed of two short ones. Complex numbers are pairs here (complex.c). */
#include "aten/core/body.h"

#include <math.h>

#define PI 3.14159265358979323846

typedef struct transform {
    int64_t n;    /* points */
    int     sign; /* sign of the exponent: -1, or 1 for an inverse transform */
} transform;

/* ---- matrices: the element of a row and column ---- */

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

/* The missing half mirrors the given one: all elements except the first count twice, and the middle
 * one, if there is one, once. */
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
cq_val cq_native_waves(cq_body *b, const cq_val *args, size_t n)
{
    static const struct {
        const char *name;
        double (*at)(const transform *f, int64_t row, int64_t column);
    } kinds[]           = { { "real", from_real },
                            { "complex", from_complex },
                            { "half", to_real },
                            { "cosine", cosine },
                            { "sine", sine } };
    transform  t        = { cq_lang_i64(&b->lang, args[1]), (int)cq_lang_i64(&b->lang, args[4]) };
    int64_t    sizes[2] = { cq_lang_i64(&b->lang, args[2]), cq_lang_i64(&b->lang, args[3]) };
    double     scale    = cq_lang_f64(&b->lang, args[5]);
    size_t     kind     = 0;
    cq_tensor *wide;

    (void)n;
    if (b->c->cx->status != CQ_OK ||
        cq_ctx_fail(b->c->cx, cq_tensor_new_uninit(&wide, CQ_DTYPE_F64, 2, sizes)) != CQ_OK)
        return CQ_NONE;
    while (strcmp(kinds[kind].name, args[0].u.text->text) != 0)
        kind++;
    for (int64_t i = 0; i < sizes[0] * sizes[1]; i++)
        ((double *)cq_tensor_bytes(wide))[i] =
            scale * kinds[kind].at(&t, i / sizes[1], i % sizes[1]);
    return cq_native_constant(b, wide, cq_dtype_from_torch(cq_lang_i64(&b->lang, args[6])));
}
