/* Convolutions as matrix multiplications. The weight is the left matrix, packed once for
 * the whole batch; the right one is the unfolded image, which exists only as the pieces that
 * gemm packs. Depthwise convolutions, where such a matrix would have a single row, go
 * directly over the padded image. The transposed convolution multiplies first and folds the result,
 * a bounded number of output channels at a time. */
#include "kernel/conv/conv.h"

#include "base/thread.h"
#include "kernel/conv/conv_types.h"
#include "kernel/isa.h"
#include "kernel/matrix/gemm.h"
#include "kernel/operand.h"
#include "kernel/conv/unfold.h"

#include <complex.h>

enum {
    FOLD_ELEMENTS =
        1 << 19, /* elements of the unfolded result in memory, for a transposed convolution */
    PLANE_WORK = 1 << 16 /* multiplications per block of a depthwise convolution */
};
static const double INNER_WORK =
    4e6; /* from this many multiplications on, all threads compute one product */

static void taps_f32(void *out, int64_t n, const void *x, int64_t step, const void *w,
                     const int64_t *at, int64_t n_taps, const void *bias)
{
    cq_isa_get()->taps(out, n, x, step, w, at, n_taps, bias);
}

#define T        float
#define FN(name) name##_f32
#define HAS_TAPS
#include "kernel/conv_type.inc"

#define T        double
#define FN(name) name##_f64
#include "kernel/conv_type.inc"

#define T        uint64_t /* unsigned, so that overflow wraps around */
#define FN(name) name##_i64
#include "kernel/conv_type.inc"

#define T        double complex
#define FN(name) name##_c128
#include "kernel/conv_type.inc"

static const conv_type *type_of(cq_dtype compute)
{
    switch (compute) {
    case CQ_DTYPE_F64: return &type_f64;
    case CQ_DTYPE_I64: return &type_i64;
    case CQ_DTYPE_C128: return &type_c128;
    default: break;
    }
    return &type_f32;
}

/* The numbers of a convolution or its transpose. Pointers are to contiguous data. */
struct conv {
    cq_slide         slide;
    cq_dtype         dtype;
    const conv_type *type;
    int64_t          size; /* bytes of an element */
    int64_t          batch, groups;
    int64_t          in_channels, out_channels; /* of a group */
    const char      *x, *w, *bias;
    char            *out;
    void            *packed; /* the packed weight if there is one group */
    int64_t          step;   /* channels in a block */
};

/* small has the channels of a group, w [large * groups, small, ...]. */
static cq_status check_channels(const char *name, const cq_tensor *small, const cq_tensor *w,
                                const cq_tensor *large, int64_t groups)
{
    if (groups < 1)
        return cq_fail(CQ_E_ARGUMENT, name, NULL, "expected a positive number of groups, got %lld",
                       (long long)groups);
    if (cq_size_of(small, 0) != cq_size_of(large, 0))
        return cq_operands_misfit(name, small, large);
    if (cq_size_of(w, 0) % groups != 0 || cq_size_of(w, 1) != cq_size_of(small, 1) / groups ||
        cq_size_of(small, 1) % groups != 0)
        return cq_operands_misfit(name, small, w);
    return cq_size_of(large, 1) == cq_size_of(w, 0) ? CQ_OK : cq_operands_misfit(name, large, w);
}

static const char *bias_at(const struct conv *c, int64_t channel)
{
    return c->bias ? c->bias + channel * c->size : NULL;
}

/* --- matrix products ---------------------------------------------------------------- */

static bool is_pointwise(const cq_slide *s)
{
    for (int i = 0; i < s->n_dims; i++)
        if (s->kernel[i] != 1 || s->stride[i] != 1 || s->padding[i] != 0 || s->in[i] != s->out[i])
            return false;
    return true;
}

/* The window has one position and covers the whole plane: every output is a dot product. */
static bool is_linear(const struct conv *c)
{
    const cq_slide *s = &c->slide;

    for (int i = 0; i < s->n_dims; i++)
        if (s->out[i] != 1 || s->kernel[i] != s->in[i] || s->padding[i] != 0 || s->dilation[i] != 1)
            return false;
    return c->groups == 1;
}

static cq_status run_linear(const struct conv *c)
{
    int64_t k = c->in_channels * c->slide.taps, n = c->out_channels;
    cq_gemm g = { .dtype    = c->dtype,
                  .m        = c->batch,
                  .n        = n,
                  .k        = k,
                  .alpha    = 1,
                  .a        = { c->x, k, 1 },
                  .b        = { c->w, 1, k },
                  .c        = c->out,
                  .ldc      = n,
                  .col_bias = c->bias };

    return cq_gemm_run(&g);
}

static cq_status run_image(const struct conv *c, int64_t image, int64_t group, const void *packed)
{
    const cq_slide *s      = &c->slide;
    int64_t         at_in  = (image * c->groups + group) * c->in_channels * s->in_plane;
    int64_t         at_out = (image * c->groups + group) * c->out_channels * s->out_plane;
    cq_unfold       u      = { s, c->x + at_in * c->size, (size_t)c->size };
    cq_gemm         g      = { .dtype = c->dtype, .alpha = 1, .packed_a = packed };

    g.m        = c->out_channels;
    g.n        = s->out_plane;
    g.k        = c->in_channels * s->taps;
    g.c        = c->out + at_out * c->size;
    g.ldc      = s->out_plane;
    g.row_bias = bias_at(c, group * c->out_channels);
    if (is_pointwise(s)) {
        g.b = (cq_matrix){ u.image, s->in_plane, 1 };
    } else {
        g.pack_b      = cq_unfold_pack;
        g.pack_b_user = &u;
    }
    return cq_gemm_run(&g);
}

static cq_status pack_weight(void **out, const struct conv *c, int64_t group)
{
    int64_t k = c->in_channels * c->slide.taps;

    return cq_gemm_pack_a(out, c->dtype, c->out_channels, k,
                          (cq_matrix){ c->w + group * c->out_channels * k * c->size, k, 1 });
}

static cq_status image_block(void *user, int64_t image)
{
    const struct conv *c = user;

    return run_image(c, image, 0, c->packed);
}

static cq_status group_block(void *user, int64_t group)
{
    const struct conv *c      = user;
    void              *packed = NULL;
    cq_status          status = pack_weight(&packed, c, group);

    for (int64_t i = 0; i < c->batch && status == CQ_OK; i++)
        status = run_image(c, i, group, packed);
    cq_free_aligned(packed);
    return status;
}

static cq_status run_by_matrices(struct conv *c)
{
    double work = (double)c->out_channels * (double)(c->in_channels * c->slide.taps) *
                  (double)c->slide.out_plane;
    cq_status status;

    if (c->groups > 1)
        return cq_parallel_for(c->groups, group_block, c);
    status = pack_weight(&c->packed, c, 0);
    if (status == CQ_OK && work < INNER_WORK)
        status = cq_parallel_for(c->batch, image_block, c);
    else
        for (int64_t i = 0; i < c->batch && status == CQ_OK; i++)
            status = run_image(c, i, 0, c->packed);
    cq_free_aligned(c->packed);
    return status;
}

/* --- depthwise ---------------------------------------------------------------------- */

/* A plane with as much padding as the window reads, and the offsets of the taps. With explicit
 * zeros no position is a border case. */
struct padded {
    char    *plane;
    int64_t  sizes[CQ_MAX_SPATIAL], step[CQ_MAX_SPATIAL];
    int64_t  n;  /* elements */
    int64_t *at; /* of the taps */
};

static cq_status padded_init(struct padded *p, const struct conv *c)
{
    const cq_slide *s                 = &c->slide;
    int64_t         k[CQ_MAX_SPATIAL] = { 0 };

    p->n = 1;
    for (int i = s->n_dims; i-- > 0;) {
        p->step[i]  = p->n;
        p->sizes[i] = (s->out[i] - 1) * s->stride[i] + (s->kernel[i] - 1) * s->dilation[i] + 1;
        if (__builtin_mul_overflow(p->n, p->sizes[i], &p->n))
            return cq_no_memory();
    }
    p->plane = cq_alloc_aligned((size_t)(p->n + CONV_OVERREAD) * (size_t)c->size);
    p->at    = cq_alloc_array((size_t)s->taps, sizeof *p->at);
    if (!p->plane || !p->at)
        return CQ_E_NO_MEMORY;
    memset(p->plane, 0, (size_t)(p->n + CONV_OVERREAD) * (size_t)c->size);
    for (int64_t tap = 0; tap < s->taps; tap++, cq_grid_next(k, s->n_dims, s->kernel)) {
        p->at[tap] = 0;
        for (int i = 0; i < s->n_dims; i++)
            p->at[tap] += k[i] * s->dilation[i] * p->step[i];
    }
    return CQ_OK;
}

/* Copies a plane between the zeros. */
static void padded_fill(const struct padded *p, const struct conv *c, const char *x)
{
    const cq_slide *s    = &c->slide;
    int             last = s->n_dims - 1;
    int64_t         pad = s->padding[last], at[CQ_MAX_SPATIAL] = { 0 };
    int64_t         from = pad < 0 ? -pad : 0, to = p->sizes[last] - pad;

    to = to < s->in[last] ? to : s->in[last];
    for (int64_t row = 0; row < s->in_plane / s->in[last] && to > from; row++) {
        int64_t start  = from + pad;
        bool    inside = true;

        for (int i = 0; i < last && inside; i++) {
            int64_t y = at[i] + s->padding[i];

            inside = y >= 0 && y < p->sizes[i];
            start += y * p->step[i];
        }
        if (inside)
            memcpy(p->plane + start * c->size, x + (row * s->in[last] + from) * c->size,
                   (size_t)((to - from) * c->size));
        cq_grid_next(at, last, s->in);
    }
}

static void run_plane(const struct conv *c, const struct padded *p, int64_t image, int64_t channel)
{
    const cq_slide *s     = &c->slide;
    int             last  = s->n_dims - 1;
    int64_t         width = s->out[last], at[CQ_MAX_SPATIAL] = { 0 };
    const char     *w = c->w + channel * s->taps * c->size;
    char *out = c->out + (image * c->groups * c->out_channels + channel) * s->out_plane * c->size;

    for (int64_t row = 0; row < s->out_plane / width; row++, out += width * c->size) {
        int64_t start = 0;

        for (int i = 0; i < last; i++)
            start += at[i] * s->stride[i] * p->step[i];
        c->type->taps(out, width, p->plane + start * c->size, s->stride[last], w, p->at, s->taps,
                      bias_at(c, channel));
        cq_grid_next(at, last, s->out);
    }
}

static cq_status depthwise_block(void *user, int64_t block)
{
    const struct conv *c        = user;
    int64_t            channels = c->groups * c->out_channels, end = (block + 1) * c->step;
    int64_t            filled = -1; /* the input plane that is in p */
    struct padded      p      = { 0 };
    cq_status          status = padded_init(&p, c);

    if (end > c->batch * channels)
        end = c->batch * channels;
    for (int64_t i = block * c->step; i < end && status == CQ_OK; i++) {
        if (i / c->out_channels != filled) {
            filled = i / c->out_channels;
            padded_fill(&p, c, c->x + filled * c->slide.in_plane * c->size);
        }
        run_plane(c, &p, i / channels, i % channels);
    }
    cq_free_aligned(p.plane);
    cq_free(p.at);
    return status;
}

static cq_status run_depthwise(struct conv *c)
{
    int64_t planes = c->batch * c->groups * c->out_channels;

    c->step = PLANE_WORK / (c->slide.out_plane * c->slide.taps + 1) + 1;
    return cq_parallel_for((planes + c->step - 1) / c->step, depthwise_block, c);
}

cq_status cq_kernel_conv(cq_tensor *out, const cq_tensor *x, const cq_tensor *w,
                         const cq_tensor *bias, const cq_window *window, int64_t groups)
{
    cq_operands s = { .compute = cq_compute_dtype(out->dtype) };
    struct conv c = { .dtype  = s.compute,
                      .type   = type_of(s.compute),
                      .groups = groups,
                      .size   = (int64_t)cq_dtype_size(s.compute),
                      .batch  = cq_size_of(x, 0) };

    CQ_TRY(cq_slide_init(&c.slide, window, x, out, w));
    CQ_TRY(check_channels("conv", x, w, out, groups));
    if (!cq_operands_has(bias, cq_size_of(out, 1)))
        return cq_operands_misfit("conv", bias, out);
    if (cq_tensor_numel(out) == 0)
        return CQ_OK;
    c.in_channels  = cq_size_of(w, 1);
    c.out_channels = cq_size_of(w, 0) / groups;
    c.x            = cq_operands_in(&s, x);
    c.w            = cq_operands_in(&s, w);
    c.bias         = cq_operands_in(&s, bias);
    c.out          = cq_operands_out(&s, out);
    if (s.status == CQ_OK) {
        if (is_linear(&c))
            s.status = run_linear(&c);
        else if (c.in_channels == 1 && groups > 1 && c.slide.taps > 0)
            s.status = run_depthwise(&c);
        else
            s.status = run_by_matrices(&c);
    }
    return cq_operands_close(&s);
}

/* --- transposed --------------------------------------------------------------------- */

/* Adds the rows of an unfolded plane, one for each kernel position, to a plane. The slide is that
 * of the forward convolution: out is its input, and the positions are its output. */
static void fold_plane(char *out, const char *rows, const cq_slide *s, const conv_type *type,
                       int64_t size)
{
    int     last              = s->n_dims - 1;
    int64_t k[CQ_MAX_SPATIAL] = { 0 }, width = s->out[last], lo, hi;

    for (int64_t tap = 0; tap < s->taps; tap++, cq_grid_next(k, s->n_dims, s->kernel)) {
        int64_t at[CQ_MAX_SPATIAL] = { 0 }, shift = k[last] * s->dilation[last];

        cq_slide_inside(s, last, shift, &lo, &hi);
        for (int64_t row = 0; row < s->out_plane / width; row++, rows += width * size) {
            int64_t start  = lo * s->stride[last] + shift - s->padding[last];
            bool    inside = hi > lo;

            for (int i = 0; i < last && inside; i++) {
                int64_t y = at[i] * s->stride[i] - s->padding[i] + k[i] * s->dilation[i];

                inside = y >= 0 && y < s->in[i];
                start += y * s->in_step[i];
            }
            if (inside)
                type->add(out + start * size, s->stride[last], rows + lo * size, hi - lo);
            cq_grid_next(at, last, s->out);
        }
    }
}

/* Whether the window of one pixel is the whole plane. */
static bool is_one_window(const cq_slide *s)
{
    for (int i = 0; i < s->n_dims; i++)
        if (s->out[i] != 1 || s->in[i] != s->kernel[i] || s->padding[i] || s->dilation[i] != 1)
            return false;
    return true;
}

/* step output channels of one group of one image. Here the slide's "in" is our output. */
static cq_status transpose_block(void *user, int64_t block)
{
    const struct conv *c      = user;
    const cq_slide    *s      = &c->slide;
    int64_t            chunks = (c->out_channels + c->step - 1) / c->step;
    int64_t            first = block % chunks * c->step, plane = block / chunks; /* image, group */
    int64_t            n = c->out_channels - first < c->step ? c->out_channels - first : c->step;
    int64_t            group = plane % c->groups, ldw = c->out_channels * s->taps;
    char              *rows = NULL;
    cq_gemm            g    = { .dtype = c->dtype,
                                .alpha = 1,
                                .m     = n * s->taps,
                                .n     = s->out_plane,
                                .k     = c->in_channels,
                                .ldc   = s->out_plane };
    cq_status          status;

    rows = cq_alloc_aligned((size_t)(g.m * g.n * c->size) + 1);
    if (!rows)
        return CQ_E_NO_MEMORY;
    g.a.data = c->w + (group * c->in_channels * ldw + first * s->taps) * c->size;
    g.a.row  = 1;
    g.a.col  = ldw;
    g.b.data = c->x + plane * c->in_channels * s->out_plane * c->size;
    g.b.row  = s->out_plane;
    g.b.col  = 1;
    g.c      = rows;
    status   = cq_gemm_run(&g);
    for (int64_t i = 0; i < n && status == CQ_OK; i++) {
        char *out = c->out + (plane * c->out_channels + first + i) * s->in_plane * c->size;

        c->type->fill(out, bias_at(c, group * c->out_channels + first + i), s->in_plane);
        if (is_one_window(s))
            c->type->add(out, 1, rows + i * s->taps * c->size, s->taps);
        else if (s->out_plane)
            fold_plane(out, rows + i * s->taps * s->out_plane * c->size, s, c->type, c->size);
    }
    cq_free_aligned(rows);
    return status;
}

cq_status cq_kernel_conv_transpose(cq_tensor *out, const cq_tensor *x, const cq_tensor *w,
                                   const cq_tensor *bias, const cq_window *window, int64_t groups)
{
    cq_operands s = { .compute = cq_compute_dtype(out->dtype) };
    struct conv c = { .dtype  = s.compute,
                      .type   = type_of(s.compute),
                      .groups = groups,
                      .size   = (int64_t)cq_dtype_size(s.compute),
                      .batch  = cq_size_of(x, 0) };
    int64_t     each;

    CQ_TRY(cq_slide_init(&c.slide, window, out, x, w));
    CQ_TRY(check_channels("conv_transpose", out, w, x, groups));
    if (!cq_operands_has(bias, cq_size_of(out, 1)))
        return cq_operands_misfit("conv_transpose", bias, out);
    if (cq_tensor_numel(out) == 0)
        return CQ_OK;
    c.in_channels  = cq_size_of(w, 0) / groups;
    c.out_channels = cq_size_of(w, 1);
    c.x            = cq_operands_in(&s, x);
    c.w            = cq_operands_in(&s, w);
    c.bias         = cq_operands_in(&s, bias);
    c.out          = cq_operands_out(&s, out);
    each           = c.slide.taps * c.slide.out_plane;
    c.step         = FOLD_ELEMENTS / (each ? each : 1) + 1;
    if (c.step > c.out_channels)
        c.step = c.out_channels;
    if (s.status == CQ_OK)
        s.status = cq_parallel_for(c.batch * groups * ((c.out_channels + c.step - 1) / c.step),
                                   transpose_block, &c);
    return cq_operands_close(&s);
}

/* --- gradient of the weight ------------------------------------------------------------ */

static cq_status grad_weight_block(void *user, int64_t group)
{
    const struct conv *c = user;
    const cq_slide    *s = &c->slide;
    int64_t            n = c->in_channels * s->taps;
    cq_gemm            g = { .dtype  = c->dtype,
                             .alpha  = 1,
                             .m      = c->out_channels,
                             .n      = n,
                             .k      = s->out_plane,
                             .c      = c->out + group * c->out_channels * n * c->size,
                             .ldc    = n,
                             .pack_b = cq_unfold_pack_transposed };

    c->type->fill(g.c, NULL, g.m * g.n);
    g.beta = 1;
    for (int64_t i = 0; i < c->batch && g.k > 0; i++) {
        int64_t   plane = i * c->groups + group;
        cq_unfold u = { s, c->x + plane * c->in_channels * s->in_plane * c->size, (size_t)c->size };

        g.a =
            (cq_matrix){ c->w + plane * c->out_channels * s->out_plane * c->size, s->out_plane, 1 };
        g.pack_b_user = &u;
        CQ_TRY(cq_gemm_run(&g));
    }
    return CQ_OK;
}

cq_status cq_kernel_conv_grad_weight(cq_tensor *grad_w, const cq_tensor *x,
                                     const cq_tensor *grad_out, const cq_window *window,
                                     int64_t groups)
{
    cq_operands s = { .compute = cq_compute_dtype(grad_w->dtype) };
    struct conv c = { .dtype  = s.compute,
                      .type   = type_of(s.compute),
                      .groups = groups,
                      .size   = (int64_t)cq_dtype_size(s.compute),
                      .batch  = cq_size_of(x, 0) };

    CQ_TRY(cq_slide_init(&c.slide, window, x, grad_out, grad_w));
    CQ_TRY(check_channels("conv_grad_weight", x, grad_w, grad_out, groups));
    c.in_channels  = cq_size_of(grad_w, 1);
    c.out_channels = cq_size_of(grad_w, 0) / groups;
    c.x            = cq_operands_in(&s, x);
    c.w            = cq_operands_in(&s, grad_out); /* as the weight: the left matrix */
    c.out          = cq_operands_out(&s, grad_w);
    if (s.status == CQ_OK)
        s.status = cq_parallel_for(groups, grad_weight_block, &c);
    return cq_operands_close(&s);
}

/* --- unfold and fold ----------------------------------------------------------------- */

/* The slide of a feature map with the given number of positions. */
static cq_status slide_over(cq_slide *s, const cq_window *w, const cq_tensor *image,
                            const int64_t *positions)
{
    CQ_TRY(cq_slide_init(s, w, image, image, NULL));
    s->out_plane = 1;
    for (int i = 0; i < s->n_dims; i++) {
        s->out[i] = positions[i];
        s->out_plane *= positions[i];
    }
    return CQ_OK;
}

static cq_status im2col_block(void *user, int64_t row)
{
    const struct conv *c = user;
    cq_unfold          u = { &c->slide, c->x, (size_t)c->size };

    cq_unfold_row(c->out + row * c->slide.out_plane * c->size, &u, row, 0, c->slide.out_plane);
    return CQ_OK;
}

cq_status cq_kernel_im2col(cq_tensor *out, const cq_tensor *x, const cq_window *window,
                           const int64_t *positions)
{
    cq_operands s = { .compute = out->dtype };
    struct conv c = { .size = (int64_t)cq_dtype_size(out->dtype) };

    CQ_TRY(slide_over(&c.slide, window, x, positions));
    if (!cq_operands_has(out,
                         cq_size_of(x, 0) * cq_size_of(x, 1) * c.slide.taps * c.slide.out_plane))
        return cq_operands_misfit("im2col", x, out);
    c.x   = cq_operands_in(&s, x);
    c.out = cq_operands_out(&s, out);
    if (s.status == CQ_OK && cq_tensor_numel(out) > 0)
        s.status =
            cq_parallel_for(cq_size_of(x, 0) * cq_size_of(x, 1) * c.slide.taps, im2col_block, &c);
    return cq_operands_close(&s);
}

static cq_status col2im_block(void *user, int64_t plane)
{
    const struct conv *c   = user;
    const cq_slide    *s   = &c->slide;
    char              *out = c->out + plane * s->in_plane * c->size;

    c->type->fill(out, NULL, s->in_plane);
    if (s->out_plane)
        fold_plane(out, c->x + plane * s->taps * s->out_plane * c->size, s, c->type, c->size);
    return CQ_OK;
}

cq_status cq_kernel_col2im(cq_tensor *out, const cq_tensor *x, const cq_window *window,
                           const int64_t *positions)
{
    cq_operands s = { .compute = cq_compute_dtype(out->dtype) };
    struct conv c = { .size = (int64_t)cq_dtype_size(s.compute), .type = type_of(s.compute) };

    CQ_TRY(slide_over(&c.slide, window, out, positions));
    if (!cq_operands_has(x, cq_size_of(out, 0) * cq_size_of(out, 1) * c.slide.taps *
                                c.slide.out_plane))
        return cq_operands_misfit("col2im", x, out);
    c.x   = cq_operands_in(&s, x);
    c.out = cq_operands_out(&s, out);
    if (s.status == CQ_OK && cq_tensor_numel(out) > 0)
        s.status = cq_parallel_for(cq_size_of(out, 0) * cq_size_of(out, 1), col2im_block, &c);
    return cq_operands_close(&s);
}
