/* Pools. PyTorch's ceil mode drops a last window that would start behind the image, and its
 * average counts the padding that was asked for but not what ceil mode adds. ONNX says
 * neither (and runtimes differ), so where sizes are fixed ceil mode becomes padding behind
 * the image. */
#include "export/symbolic/common.h"
#include "kernel/window.h"

#include <math.h>

/* Spatial axes of the operator: the digit in its name. */
static size_t axes_of(const cq_sym *s)
{
    const char *d = strpbrk(s->op->schema->name, "123");

    return d ? (size_t)(*d - '0') : 2;
}

static cq_value *with_batch(cq_sym *s, cq_value *x, size_t n)
{
    int64_t zero = 0;

    return cq_sym_rank(s, x) == (int)n + 1 ? cq_sym_unsqueeze(s, x, &zero, 1) : x;
}

/* Takes the batch axis away again if the argument had none. */
static cq_value *without_batch(cq_sym *s, cq_value *x, size_t n)
{
    int64_t zero = 0;

    if (cq_sym_rank(s, cq_sym_in(s, "self")) != (int)n + 1)
        return x;
    return cq_sym_squeeze(s, x, &zero, 1);
}

typedef struct pool {
    cq_value *x; /* with a batch axis */
    size_t    n;
    int64_t   kernel[CQ_MAX_SPATIAL], stride[CQ_MAX_SPATIAL], dilation[CQ_MAX_SPATIAL];
    int64_t   padding[CQ_MAX_SPATIAL];  /* on both sides, as asked for */
    int64_t   pads[2 * CQ_MAX_SPATIAL]; /* as ONNX takes them */
    bool      ceil_mode;                /* still to be said, for sizes are not fixed */
    bool      extends;                  /* ceil mode makes windows reach past the padding */
    bool      dilated;
} pool;

/* The padding behind the image that gives an axis its size in floor mode. */
static void settle_axis(cq_sym *s, pool *p, size_t i)
{
    cq_type result = cq_sym_result_type(s, 0);
    int64_t in     = cq_sym_size(s, p->x, (int)i + 2).value;
    int64_t out    = result.sizes[(size_t)result.rank - p->n + i].value;
    int64_t need =
        (out - 1) * p->stride[i] + p->dilation[i] * (p->kernel[i] - 1) + 1 - in - p->padding[i];

    p->extends |= need > p->padding[i];
    p->pads[p->n + i] = need > 0 ? need : 0;
}

static pool read_pool(cq_sym *s)
{
    pool p     = { .n = axes_of(s) };
    bool fixed = true;

    p.x = with_batch(s, cq_sym_in_float(s, "self"), p.n);
    cq_sym_i64_n(s, "kernel_size", p.kernel, p.n, NULL);
    cq_sym_i64_n(s, "stride", p.stride, p.n, p.kernel);
    cq_sym_i64_n(s, "padding", p.padding, p.n, NULL);
    for (size_t i = 0; i < p.n; i++)
        p.dilation[i] = 1;
    if (cq_sym_has_arg(s, "dilation"))
        cq_sym_i64_n(s, "dilation", p.dilation, p.n, NULL);
    for (size_t i = 0; i < p.n; i++) {
        p.dilated |= p.dilation[i] != 1;
        fixed &= !cq_sym_size(s, p.x, (int)i + 2).expr;
        p.pads[i] = p.pads[p.n + i] = p.padding[i];
    }
    if (s->status == CQ_OK && cq_sym_bool(s, "ceil_mode")) {
        p.ceil_mode = !fixed;
        for (size_t i = 0; i < p.n && fixed; i++)
            settle_axis(s, &p, i);
    }
    if (p.ceil_mode && cq_sym_opset(s) < 10)
        cq_sym_no(s, 10, "ceil_mode on sizes that are not fixed needs opset 10");
    return p;
}

/* Pads x itself by before and behind the spatial axes, and forgets the padding of the pool. */
static void pad_image(cq_sym *s, pool *p, const int64_t *before, const int64_t *behind,
                      double value)
{
    int64_t  pads[2 * (CQ_MAX_SPATIAL + 2)] = { 0 };
    size_t   rank                           = p->n + 2;
    bool     any                            = false;
    cq_dtype d                              = cq_sym_dtype(s, p->x);

    for (size_t i = 0; i < p->n; i++) {
        pads[2 + i]        = before[i];
        pads[rank + 2 + i] = behind[i];
        any |= before[i] || behind[i];
    }
    if (any)
        p->x = cq_sym_pad(s, p->x, "constant", pads, 2 * rank,
                          value == 0 ? NULL : cq_sym_const_f64(s, d, value));
}

/* ---- max ---- */

/* Runtimes refuse a padding as large as the window, which a dilated one may need. */
static bool pads_fit(const pool *p)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->pads[i] >= p->kernel[i] || p->pads[p->n + i] >= p->kernel[i])
            return false;
    return true;
}

/* ONNX numbers places through the whole tensor, PyTorch in each plane. */
static cq_value *places_in_planes(cq_sym *s, const pool *p, cq_value *places)
{
    cq_int    plane = cq_i(1);
    cq_value *size, *whole;

    for (size_t i = 0; i < p->n; i++)
        plane = cq_sym_int_mul(s, plane, cq_sym_size(s, p->x, (int)i + 2));
    size = cq_sym_of_int(s, plane);
    cq_sym_set_dtype(s, places, CQ_DTYPE_I64);
    if (cq_sym_opset(s) >= 10)
        return cq_sym_binary(s, "Mod", places, size);
    whole = cq_sym_binary(s, "Mul", cq_sym_binary(s, "Div", places, size), size);
    return cq_sym_binary(s, "Sub", places, whole);
}

/* ONNX Runtime makes one node of a Pad with zeros and a MaxPool, and then pads with -inf. What it
 * does not see through, the greatest of one tensor, keeps them apart. */
static cq_value *apart_from_pad(cq_sym *s, cq_value *x)
{
    return x && x->node && strcmp(x->node->op, "onnx::Pad") == 0 ? cq_sym_unary(s, "Max", x) : x;
}

static cq_status max_pool(cq_sym *s)
{
    pool      p       = read_pool(s);
    bool      indices = cq_sym_result_used(s, 1);
    cq_value *out[2]  = { NULL, NULL };

    if (p.dilated && !cq_sym_since(s, 10, "windows with gaps (dilation) need opset 10"))
        return s->status;
    if (indices && !cq_sym_since(s, 8, "MaxPool tells where the greatest are since opset 8"))
        return s->status;
    if (cq_sym_opset(s) < 12 || cq_dtype_size(cq_sym_dtype(s, p.x)) > 1)
        cq_sym_only_float(s, p.x); /* opset 12 added int8 and uint8 */
    p.x = apart_from_pad(s, p.x);
    if (!pads_fit(&p)) {
        if (indices)
            return cq_sym_no(s, 0, "the window reaches further out of the image than it is wide");
        pad_image(s, &p, p.pads, p.pads + p.n, -INFINITY);
        memset(p.pads, 0, sizeof p.pads);
    }
    cq_sym_op_n(s, "MaxPool", CQ_IN(p.x),
                CQ_ATTR(p.ceil_mode ? cq_attr_i("ceil_mode", 1) : (cq_attr){ 0 },
                        p.dilated ? cq_attr_is(s, "dilations", p.dilation, p.n) : (cq_attr){ 0 },
                        cq_attr_is(s, "kernel_shape", p.kernel, p.n),
                        cq_attr_is(s, "pads", p.pads, 2 * p.n),
                        cq_attr_is(s, "strides", p.stride, p.n)),
                out, indices ? 2 : 1);
    if (indices)
        out[1] = without_batch(s, places_in_planes(s, &p, out[1]), p.n);
    cq_sym_set_dtype(s, out[0], cq_sym_dtype(s, p.x));
    out[0] = without_batch(s, out[0], p.n);
    return cq_sym_done_n(s, out, indices ? 2 : 1);
}

/* ---- average ---- */

static cq_value *average(cq_sym *s, const pool *p, bool include_pad)
{
    cq_value *v =
        cq_sym_op(s, "AveragePool", CQ_IN(cq_sym_only_small_float(s, p->x)),
                  CQ_ATTR(p->ceil_mode ? cq_attr_i("ceil_mode", 1) : (cq_attr){ 0 },
                          include_pad ? cq_attr_i("count_include_pad", 1) : (cq_attr){ 0 },
                          cq_attr_is(s, "kernel_shape", p->kernel, p->n),
                          cq_attr_is(s, "pads", p->pads, 2 * p->n),
                          cq_attr_is(s, "strides", p->stride, p->n)));

    cq_sym_set_dtype(s, v, cq_sym_dtype(s, p->x));
    return v;
}

/* Sums over whole windows of zeros and image, divided by a number of the user's. */
static cq_status average_by_divisor(cq_sym *s, pool *p)
{
    double  volume = 1;
    int64_t before[CQ_MAX_SPATIAL], behind[CQ_MAX_SPATIAL];

    if (p->ceil_mode)
        return cq_sym_no(s, 0, "a divisor of your own in ceil_mode needs fixed sizes");
    memcpy(before, p->pads, sizeof before);
    memcpy(behind, p->pads + p->n, sizeof behind);
    for (size_t i = 0; i < p->n; i++)
        volume *= (double)p->kernel[i];
    pad_image(s, p, before, behind, 0);
    memset(p->pads, 0, sizeof p->pads);
    return cq_sym_done(s, without_batch(s,
                                        cq_sym_times(s, average(s, p, false),
                                                     volume / cq_sym_f64(s, "divisor_override")),
                                        p->n));
}

static cq_status avg_pool(cq_sym *s)
{
    pool p       = read_pool(s);
    bool include = cq_sym_bool(s, "count_include_pad"), padded = false;

    if (cq_sym_has_arg(s, "divisor_override") && !cq_sym_is_none(s, "divisor_override"))
        return average_by_divisor(s, &p);
    for (size_t i = 0; i < p.n; i++)
        padded |= p.padding[i] != 0;
    /* What ceil mode adds must not count though the padding does: zeros become image. */
    if (include && (p.extends || p.ceil_mode)) {
        pad_image(s, &p, p.padding, p.padding, 0);
        for (size_t i = 0; i < p.n; i++) {
            p.pads[i]       = 0;
            p.pads[p.n + i] = p.pads[p.n + i] > p.padding[i] ? p.pads[p.n + i] - p.padding[i] : 0;
        }
        include = false;
    }
    return cq_sym_done(s, without_batch(s, average(s, &p, include && padded), p.n));
}

/* ---- adaptive ---- */

typedef struct adaptive {
    cq_value *x;
    size_t    n;
    cq_int    in[3], out[3];
    bool      global, divides;
} adaptive;

static adaptive read_adaptive(cq_sym *s)
{
    adaptive a = { .n = axes_of(s), .global = true, .divides = true };
    cq_int   given[3];
    size_t   n = cq_sym_ints(s, "output_size", given, 3);

    a.x = with_batch(s, cq_sym_in_float(s, "self"), a.n);
    for (size_t i = 0; i < a.n && n; i++) {
        a.in[i]  = cq_sym_size(s, a.x, (int)i + 2);
        a.out[i] = given[n == 1 ? 0 : i];
        a.global &= cq_int_is(a.out[i], 1);
        a.divides &= !a.in[i].expr && !a.out[i].expr && a.out[i].value > 0 &&
                     a.in[i].value % a.out[i].value == 0;
    }
    return a;
}

/* The parts of one axis, each reduced to one element: part i of o begins at floor(i * n / o)
 * and ends at ceil((i + 1) * n / o). */
static cq_value *reduce_parts(cq_sym *s, cq_value *x, int axis, cq_int in, cq_int out,
                              const char *reduce)
{
    enum { MAX_PARTS = 256 };
    cq_value *parts[MAX_PARTS];
    int64_t   axis64 = axis;

    if (cq_int_same(in, out))
        return x;
    if (out.expr || out.value > MAX_PARTS || out.value < 1) {
        cq_sym_no(s, 0, "it has to make %lld parts of an axis, or a number that is not fixed",
                  (long long)out.value);
        return NULL;
    }
    if (in.expr && cq_int_is(out, 1))
        return cq_sym_reduce(s, reduce, x, &axis64, 1, true);
    for (int64_t i = 0; i < out.value; i++) {
        cq_int from = cq_sym_int_floordiv(s, cq_sym_int_mul(s, in, cq_i(i)), out);
        cq_int to   = cq_sym_int_mul(s, in, cq_i(i + 1));

        to       = cq_sym_int_floordiv(s, cq_sym_int_add(s, to, cq_i(out.value - 1)), out);
        parts[i] = cq_sym_slice(s, x, axis, from, to, 1);
        parts[i] = cq_sym_reduce(s, reduce, parts[i], &axis64, 1, true);
    }
    return cq_sym_concat(s, parts, (size_t)out.value, axis);
}

static cq_value *pool_by_parts(cq_sym *s, const adaptive *a, const char *reduce)
{
    cq_value *x = a->x;
    cq_int    sizes[5];

    for (size_t i = 0; i < a->n; i++) {
        x = reduce_parts(s, x, (int)i + 2, a->in[i], a->out[i], reduce);
        for (size_t k = 0; k < a->n + 2; k++)
            sizes[k] = k < 2        ? cq_sym_size(s, a->x, (int)k)
                       : k - 2 <= i ? a->out[k - 2]
                                    : a->in[k - 2];
        cq_sym_set_type(s, x, cq_sym_dtype(s, a->x), a->n + 2, sizes);
    }
    return x;
}

static void pool_evenly(cq_sym *s, const adaptive *a, const char *op, cq_value **out, size_t n_out)
{
    int64_t kernel[3];

    for (size_t i = 0; i < a->n; i++)
        kernel[i] = a->in[i].value / a->out[i].value;
    cq_sym_op_n(s, op, CQ_IN(a->x),
                CQ_ATTR(cq_attr_is(s, "kernel_shape", kernel, a->n),
                        cq_attr_is(s, "strides", kernel, a->n)),
                out, n_out);
}

static cq_status adaptive_avg_pool(cq_sym *s)
{
    adaptive  a = read_adaptive(s);
    cq_value *v;

    cq_sym_only_small_float(s, a.x);
    if (a.global)
        v = cq_sym_op(s, "GlobalAveragePool", CQ_IN(a.x), CQ_NO_ATTR);
    else if (a.divides)
        pool_evenly(s, &a, "AveragePool", &v, 1);
    else
        v = pool_by_parts(s, &a, "ReduceMean");
    cq_sym_set_dtype(s, v, cq_sym_dtype(s, a.x));
    return cq_sym_done(s, without_batch(s, v, a.n));
}

/* Where the greatest of a whole plane is. */
static cq_value *place_in_plane(cq_sym *s, const adaptive *a)
{
    cq_value *v       = cq_sym_reshape_i64(s, a->x, (int64_t[]){ 0, 0, -1 }, 3);
    int64_t   axes[3] = { 3, 4, 5 };

    v = cq_sym_op(s, "ArgMax", CQ_IN(v), CQ_ATTR(cq_attr_i("axis", 2), cq_attr_i("keepdims", 1)));
    cq_sym_set_type(s, v, CQ_DTYPE_I64, 3,
                    (cq_int[]){ cq_sym_size(s, a->x, 0), cq_sym_size(s, a->x, 1), cq_i(1) });
    return a->n > 1 ? cq_sym_unsqueeze(s, v, axes, a->n - 1) : v;
}

static cq_status adaptive_max_pool(cq_sym *s)
{
    adaptive  a       = read_adaptive(s);
    bool      indices = cq_sym_result_used(s, 1);
    cq_value *out[2]  = { NULL, NULL };
    pool      p       = { .x = a.x, .n = a.n };

    if (a.global) {
        out[0] = cq_sym_op(s, "GlobalMaxPool", CQ_IN(a.x), CQ_NO_ATTR);
        out[1] = indices ? place_in_plane(s, &a) : NULL;
    } else if (a.divides && (!indices || cq_sym_opset(s) >= 8)) {
        pool_evenly(s, &a, "MaxPool", out, indices ? 2 : 1);
        out[1] = indices ? places_in_planes(s, &p, out[1]) : NULL;
    } else if (indices) {
        return cq_sym_no(s, 0, "ONNX does not say where the greatest of unequal parts are");
    } else {
        out[0] = pool_by_parts(s, &a, "ReduceMax");
    }
    cq_sym_set_dtype(s, out[0], cq_sym_dtype(s, a.x));
    out[0] = without_batch(s, out[0], a.n);
    out[1] = indices ? without_batch(s, out[1], a.n) : NULL;
    return cq_sym_done_n(s, out, indices ? 2 : 1);
}

/* ---- unpooling ---- */

/* Planes as rows: zeros, with the elements put where indices says. */
static cq_status max_unpool(cq_sym *s)
{
    cq_value *x    = cq_sym_in(s, "self"), *zeros;
    size_t    n    = axes_of(s);
    int       rank = cq_sym_rank(s, x), lead = rank - (int)n;
    cq_type   result = cq_sym_result_type(s, 0);
    cq_int    planes = cq_i(1), small = cq_i(1), large = cq_i(1), sizes[2];

    for (int i = 0; i < rank; i++) {
        cq_int *of = i < lead ? &planes : &small;

        *of = cq_sym_int_mul(s, *of, cq_sym_size(s, x, i));
        if (i >= lead)
            large = cq_sym_int_mul(s, large, result.sizes[i]);
    }
    sizes[0] = planes;
    sizes[1] = large;
    zeros    = cq_sym_expand(s, cq_sym_const_f64(s, cq_sym_dtype(s, x), 0), sizes, 2);
    sizes[1] = small;
    zeros    = cq_sym_op(s, cq_sym_opset(s) < 11 ? "Scatter" : "ScatterElements",
                         CQ_IN(zeros, cq_sym_reshape(s, cq_sym_in(s, "indices"), sizes, 2),
                               cq_sym_reshape(s, x, sizes, 2)),
                         CQ_ATTR(cq_attr_i("axis", 1)));
    cq_sym_set_dtype(s, zeros, cq_sym_dtype(s, x));
    return cq_sym_done(s, cq_sym_reshape(s, zeros, result.sizes, (size_t)rank));
}

#define MAX(op, n, which)                                                                          \
    {                                                                                              \
        "aten::" op, 7, .fn = max_pool,                                                            \
                        .parts = "greatest(self, " n                                               \
                                 ", kernel_size, stride, padding, dilation, ceil_mode)" which      \
    }
#define AVERAGE(op, n, divisor)                                                                    \
    {                                                                                              \
        "aten::" op, 7, .fn = avg_pool,                                                            \
                        .parts = "averaged(self, " n ", kernel_size, stride, padding, ceil_mode, " \
                                 "count_include_pad, " divisor ")"                                 \
    }
#define ADAPTIVE_AVERAGE(op, n)                                                                    \
    {                                                                                              \
        "aten::" op, 7, .fn = adaptive_avg_pool,                                                   \
                        .parts = "means_of_parts(self, " n ", output_size)"                        \
    }
#define ADAPTIVE_MAX(op, n)                                                                        \
    {                                                                                              \
        "aten::" op, 7, .fn = adaptive_max_pool,                                                   \
                        .parts = "greatest_of_parts(self, " n ", output_size)"                     \
    }

const cq_symbolic cq_symbolics_pool[] = {
    MAX("max_pool1d", "1", "[0]"),
    MAX("max_pool2d", "2", "[0]"),
    MAX("max_pool3d", "3", "[0]"),
    MAX("max_pool1d_with_indices", "1", ""),
    MAX("max_pool2d_with_indices", "2", ""),
    MAX("max_pool3d_with_indices", "3", ""),
    AVERAGE("avg_pool1d", "1", "None"),
    AVERAGE("avg_pool2d", "2", "divisor_override"),
    AVERAGE("avg_pool3d", "3", "divisor_override"),
    ADAPTIVE_AVERAGE("adaptive_avg_pool1d", "1"),
    ADAPTIVE_AVERAGE("adaptive_avg_pool2d", "2"),
    ADAPTIVE_AVERAGE("adaptive_avg_pool3d", "3"),
    ADAPTIVE_AVERAGE("_adaptive_avg_pool2d", "2"),
    ADAPTIVE_AVERAGE("_adaptive_avg_pool3d", "3"),
    ADAPTIVE_MAX("adaptive_max_pool1d", "1"),
    ADAPTIVE_MAX("adaptive_max_pool2d", "2"),
    ADAPTIVE_MAX("adaptive_max_pool3d", "3"),
    { "aten::max_unpool2d", 7, .no = "it needs Scatter, of opset 9" },
    { "aten::max_unpool3d", 7, .no = "it needs Scatter, of opset 9" },
    { "aten::max_unpool2d", 9, .fn = max_unpool },
    { "aten::max_unpool3d", 9, .fn = max_unpool },
    { 0 },
};
