/* Signal processing: Fourier transforms, windows, mel filters. Computed in double. */
#include "runtime/kernels/families.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define TWO_PI 6.283185307179586476925286766559

/* ---- transform of a row ---- */

/* Complex numbers are stored as pairs. roots has the n-th roots of unity of the whole transform;
 * every stride-th of them is a root for this part. */
typedef struct transform {
    int64_t       n; /* of the whole transform */
    const double *roots;
} transform;

/* Computes to[k] = sum over i of from[i * step] * root^(i * k), by halves while n is even, then by
 * the definition. work is as large as to. */
static void dft_part(const transform *t, double *to, double *work, const double *from, int64_t step,
                     int64_t n)
{
    if (n % 2 == 0) {
        int64_t half = n / 2;

        dft_part(t, work, to, from, 2 * step, half);
        dft_part(t, work + 2 * half, to + 2 * half, from + 2 * step, 2 * step, half);
        for (int64_t k = 0; k < half; k++) {
            const double *root = t->roots + 2 * (k * (t->n / n));
            const double *even = work + 2 * k, *odd = work + 2 * (half + k);
            double        re = odd[0] * root[0] - odd[1] * root[1];
            double        im = odd[0] * root[1] + odd[1] * root[0];

            to[2 * k]              = even[0] + re;
            to[2 * k + 1]          = even[1] + im;
            to[2 * (half + k)]     = even[0] - re;
            to[2 * (half + k) + 1] = even[1] - im;
        }
        return;
    }
    for (int64_t k = 0; k < n; k++) {
        double re = 0, im = 0;

        for (int64_t i = 0; i < n; i++) {
            const double *x = from + 2 * i * step, *root = t->roots + 2 * (i * k % n * (t->n / n));

            re += x[0] * root[0] - x[1] * root[1];
            im += x[0] * root[1] + x[1] * root[0];
        }
        to[2 * k]     = re;
        to[2 * k + 1] = im;
    }
}

/* Buffers for transforms of length n: the row, the result, work and roots. */
typedef struct fourier {
    transform t;
    double   *row, *result, *work, *roots;
    bool      inverse;
} fourier;

static cq_status fourier_init(fourier *f, int64_t n, bool inverse)
{
    size_t size = (size_t)(n ? n : 1) * 2;

    *f     = (fourier){ .t = { .n = n }, .inverse = inverse };
    f->row = cq_alloc_array(4 * size, sizeof(double));
    if (!f->row)
        return CQ_E_NO_MEMORY;
    f->result  = f->row + size;
    f->work    = f->result + size;
    f->roots   = f->work + size;
    f->t.roots = f->roots;
    for (int64_t k = 0; k < n; k++) {
        double angle = (inverse ? TWO_PI : -TWO_PI) * (double)k / (double)n;

        f->roots[2 * k]     = cos(angle);
        f->roots[2 * k + 1] = sin(angle);
    }
    return CQ_OK;
}

static void fourier_run(fourier *f)
{
    int64_t n = f->t.n;

    dft_part(&f->t, f->result, f->work, f->row, 1, n);
    for (int64_t i = 0; f->inverse && i < 2 * n; i++)
        f->result[i] /= (double)n;
}

static void fourier_clear(fourier *f)
{
    cq_free(f->row);
}

/* ---- DFT ---- */

static cq_status check_signal(const cq_tensor *x)
{
    if (x->rank < 2 || cq_size_of(x, x->rank - 1) < 1 || cq_size_of(x, x->rank - 1) > 2)
        return cq_fail(CQ_E_TYPE, NULL, NULL,
                       "a signal needs a last dimension of 1 (real) or 2 (complex)");
    return CQ_OK;
}

static cq_status transform_axis(cq_rt *rt, uint32_t axis)
{
    const cq_tensor *x        = cq_rt_in(rt, 0);
    bool             onesided = cq_rt_int(rt, "onesided"), inverse = cq_rt_int(rt, "inverse");
    bool             gives_real = onesided && inverse; /* x is the first half of a spectrum */
    int64_t          parts      = cq_size_of(x, x->rank - 1), n, bins, in, inner, outer;
    int64_t          out_parts  = gives_real ? 1 : 2;
    cq_operands      s          = { .compute = CQ_DTYPE_F64 };
    cq_rt_sizes      sizes;
    const double    *from;
    double          *to;
    cq_tensor       *y;
    fourier          f = { 0 };

    in = cq_size_of(x, axis);
    if (gives_real && parts != 2)
        return cq_fail(CQ_E_TYPE, NULL, NULL, "an inverse onesided DFT expects complex numbers");
    CQ_TRY(cq_rt_in_i64(&n, rt, 1, gives_real ? 2 * (in - 1) : in));
    if (n < 1)
        return cq_fail(CQ_E_TYPE, NULL, NULL, "the length of a DFT is %" PRId64, n);
    bins = onesided && !inverse ? n / 2 + 1 : n;
    cq_rt_sizes_of(&sizes, x);
    sizes.at[axis]           = bins;
    sizes.at[sizes.rank - 1] = out_parts;
    CQ_TRY(cq_rt_out_sized(&y, rt, 0, x->dtype, &sizes));
    inner = cq_sizes_product(x, axis + 1, x->rank - 1);
    outer = cq_sizes_product(x, 0, axis);
    from  = cq_operands_in(&s, x);
    to    = cq_operands_out(&s, y);
    if (s.status == CQ_OK)
        s.status = fourier_init(&f, n, inverse);
    for (int64_t i = 0; s.status == CQ_OK && i < outer * inner; i++) {
        const double *at   = from + (i / inner * in * inner + i % inner) * parts;
        double       *into = to + (i / inner * bins * inner + i % inner) * out_parts;

        for (int64_t k = 0; k < n; k++) {
            const bool    is_mirrored = gives_real && k > n / 2;
            const int64_t j           = is_mirrored ? n - k : k;

            f.row[2 * k]     = j < in ? at[j * inner * parts] : 0;
            f.row[2 * k + 1] = j < in && parts == 2 ? at[j * inner * parts + 1] : 0;
            if (is_mirrored)
                f.row[2 * k + 1] = -f.row[2 * k + 1];
        }
        fourier_run(&f);
        for (int64_t k = 0; k < bins; k++) {
            into[k * inner * out_parts] = f.result[2 * k];
            if (out_parts == 2)
                into[k * inner * 2 + 1] = f.result[2 * k + 1];
        }
    }
    fourier_clear(&f);
    return cq_operands_close(&s);
}

static cq_status dft_along(cq_rt *rt, int64_t which)
{
    uint32_t axis;

    CQ_TRY(check_signal(cq_rt_in(rt, 0)));
    CQ_TRY(cq_rt_axis(&axis, which, cq_rt_in(rt, 0)->rank));
    if (axis + 1 == cq_rt_in(rt, 0)->rank)
        return cq_fail(CQ_E_TYPE, NULL, NULL, "the last axis holds real and imaginary parts");
    return transform_axis(rt, axis);
}

static cq_status dft_by_attribute(cq_rt *rt)
{
    return dft_along(rt, cq_rt_int(rt, "axis"));
}

static cq_status dft(cq_rt *rt)
{
    int64_t axis;

    CQ_TRY(cq_rt_in_i64(&axis, rt, 2, -2));
    return dft_along(rt, axis);
}

/* ---- STFT ---- */

static cq_status stft(cq_rt *rt)
{
    const cq_tensor *x = cq_rt_in(rt, 0), *window = cq_rt_in(rt, 2);
    bool             onesided = cq_rt_int(rt, "onesided");
    cq_operands      s        = { .compute = CQ_DTYPE_F64 };
    int64_t          step, n, frames, bins, length, parts;
    const double    *from, *by;
    double          *to;
    cq_tensor       *y;
    fourier          f = { 0 };

    if (x->rank != 2) { /* PyTorch writes a real signal as [batch, length] */
        CQ_TRY(check_signal(x));
        CQ_TRY(cq_rt_need_rank(x, "signal", 3));
    }
    CQ_TRY(cq_rt_in_i64(&step, rt, 1, 1));
    CQ_TRY(cq_rt_in_i64(&n, rt, 3, window ? cq_tensor_numel(window) : 0));
    length = cq_size_of(x, 1);
    parts  = x->rank == 2 ? 1 : cq_size_of(x, 2);
    if (n < 1 || step < 1 || n > length || (window && cq_tensor_numel(window) != n))
        return cq_fail(CQ_E_TYPE, NULL, NULL,
                       "frames of %" PRId64 " every %" PRId64 " do not fit a signal of %" PRId64, n,
                       step, length);
    frames = (length - n) / step + 1;
    bins   = onesided ? n / 2 + 1 : n;
    CQ_TRY(cq_rt_out(&y, rt, 0, x->dtype, 4, (int64_t[]){ cq_size_of(x, 0), frames, bins, 2 }));
    from = cq_operands_in(&s, x);
    by   = cq_operands_in(&s, window);
    to   = cq_operands_out(&s, y);
    if (s.status == CQ_OK)
        s.status = fourier_init(&f, n, false);
    for (int64_t i = 0; s.status == CQ_OK && i < cq_size_of(x, 0) * frames; i++) {
        const double *at = from + (i / frames * length + i % frames * step) * parts;

        for (int64_t k = 0; k < n; k++) {
            double weight = by ? by[k] : 1;

            f.row[2 * k]     = at[k * parts] * weight;
            f.row[2 * k + 1] = parts == 2 ? at[k * parts + 1] * weight : 0;
        }
        fourier_run(&f);
        memcpy(to, f.result, (size_t)bins * 2 * sizeof *to);
        to += 2 * bins;
    }
    fourier_clear(&f);
    return cq_operands_close(&s);
}

/* ---- windows ---- */

static const double windows[][3] = {
    { 0.5, 0.5, 0 },                 /* Hann */
    { 25.0 / 46, 1 - 25.0 / 46, 0 }, /* Hamming */
    { 0.42, 0.5, 0.08 },             /* Blackman */
};

static cq_status window(cq_rt *rt)
{
    const double *c = windows[rt->step->row->arg];
    cq_operands   s = { .compute = CQ_DTYPE_F64 };
    int64_t       n;
    double       *to, period;
    cq_dtype      dtype;
    cq_tensor    *y;

    CQ_TRY(cq_rt_in_i64(&n, rt, 0, 0));
    CQ_TRY(cq_rt_out_dtype(&dtype, rt, "output_datatype"));
    CQ_TRY(cq_rt_out(&y, rt, 0, dtype, 1, &n));
    period = (double)(cq_rt_int(rt, "periodic") ? n : n - 1);
    to     = cq_operands_out(&s, y);
    for (int64_t i = 0; s.status == CQ_OK && i < n; i++) {
        double angle = TWO_PI * (double)i / period; /* NaN for one point of a symmetric window */

        to[i] = c[0] - c[1] * cos(angle) + c[2] * cos(2 * angle);
    }
    return cq_operands_close(&s);
}

/* ---- mel filters ---- */

static double mel_of(double hertz)
{
    return 2595 * log10(1 + hertz / 700);
}

/* Triangular filters over the bins of a transform, equally spaced on the mel scale. */
static cq_status mel_weight_matrix(cq_rt *rt)
{
    int64_t     n_mel, length, rate, n_bins, edge[3];
    double      low, high, step, *to;
    cq_operands s = { .compute = CQ_DTYPE_F64 };
    cq_dtype    dtype;
    cq_tensor  *y;

    CQ_TRY(cq_rt_in_i64(&n_mel, rt, 0, 0));
    CQ_TRY(cq_rt_in_i64(&length, rt, 1, 0));
    CQ_TRY(cq_rt_in_i64(&rate, rt, 2, 0));
    CQ_TRY(cq_rt_in_f64(&low, rt, 3, 0));
    CQ_TRY(cq_rt_in_f64(&high, rt, 4, 0));
    CQ_TRY(cq_rt_out_dtype(&dtype, rt, "output_datatype"));
    if (n_mel < 0 || n_mel > INT32_MAX || length < 0 || length > INT32_MAX || rate <= 0)
        return cq_fail(CQ_E_TYPE, NULL, NULL,
                       "%" PRId64 " filters over %" PRId64 " samples at %" PRId64
                       " Hz make no sense",
                       n_mel, length, rate);
    n_bins = length / 2 + 1;
    low    = mel_of(low);
    step   = (mel_of(high) - low) / (double)(n_mel + 2);
    CQ_TRY(cq_rt_out(&y, rt, 0, dtype, 2, (int64_t[]){ n_bins, n_mel }));
    to = cq_operands_out(&s, y);
    for (int64_t i = 0; s.status == CQ_OK && i < n_bins * n_mel; i++)
        to[i] = 0;
    for (int64_t i = 0; s.status == CQ_OK && i < n_mel; i++) {
        for (int k = 0; k < 3; k++) {
            double hertz = 700 * (pow(10, (low + step * (double)(i + k)) / 2595) - 1);
            double bin   = floor((double)(length + 1) * hertz / (double)rate);

            edge[k] = bin >= 0 && bin < (double)n_bins ? (int64_t)bin : bin > 0 ? n_bins : 0;
        }
        if (edge[1] == edge[0] && edge[1] < n_bins)
            to[edge[1] * n_mel + i] = 1;
        for (int64_t k = edge[0]; edge[1] > edge[0] && k <= edge[1] && k < n_bins; k++)
            to[k * n_mel + i] = (double)(k - edge[0]) / (double)(edge[1] - edge[0]);
        for (int64_t k = edge[1]; edge[2] > edge[1] && k < edge[2] && k < n_bins; k++)
            to[k * n_mel + i] = (double)(edge[2] - k) / (double)(edge[2] - edge[1]);
    }
    return cq_operands_close(&s);
}

const cq_rt_row cq_rt_rows_signal[] = {
    { "DFT", 17, dft_by_attribute, 0, 0 },
    { "DFT", 20, dft, 0, 0 },
    { "STFT", 17, stft, 0, 0 },
    { "HannWindow", 17, window, 0, 0 },
    { "HammingWindow", 17, window, 0, 1 },
    { "BlackmanWindow", 17, window, 0, 2 },
    { "MelWeightMatrix", 17, mel_weight_matrix, 0, 0 },
    { 0 },
};
