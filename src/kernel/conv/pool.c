/* Pooling. The loop is over kernel positions: one pass applies a kernel position to a whole output
 * row, so the inner loop is the same for every kernel, stride, padding and dilation. Adaptive
 * pooling, whose windows differ in size, is computed window by window. */
#include "kernel/conv/pool.h"

#include "base/thread.h"
#include "kernel/operand.h"

#include <math.h>

enum { BLOCK_WORK = 1 << 15 }; /* elements read per block */

struct pool_type;

struct pool {
    cq_slide                slide;
    const struct pool_type *type;
    bool                    is_max, is_box;
    double                  power;                  /* p of an Lp pooling, otherwise 0 */
    int64_t                 divisor;                /* the user's divisor, or 0 */
    int64_t                *counts[CQ_MAX_SPATIAL]; /* by axis and index; average pooling only */
    int64_t                 planes, step;           /* step: planes in a block */
    const char             *x;
    char                   *out;
    int64_t                *index;
};

struct pool_type {
    size_t size;
    void (*begin)(const struct pool *p, void *out, int64_t n);
    void (*max_pass)(const struct pool *p, void *out, const void *x, int64_t step, int64_t n);
    void (*sum_pass)(const struct pool *p, void *out, const void *x, int64_t step, int64_t n);
    void (*power_pass)(const struct pool *p, void *out, const void *x, int64_t step, int64_t n);
    void (*index_pass)(void *out, int64_t *index, const void *x, int64_t step, int64_t n,
                       int64_t first);
    void (*divide)(void *out, const int64_t *counts, int64_t count, int64_t n);
    void (*root)(void *out, double power, int64_t n);
    void (*box)(const struct pool *p, void *out, int64_t *index, const void *x, const int64_t *lo,
                const int64_t *hi);
    void (*add_to)(void *out, int64_t at, const void *grad, int64_t i);
    void (*spread)(void *out, const void *grad, int64_t i, int64_t divisor, int64_t n);
};

#define T         float
#define WIDE      double
#define LOWEST    (-INFINITY)
#define IS_NAN(v) isnan(v)
#define ADD(a, b) ((a) + (b))
#define FN(name)  name##_f32
#include "kernel/pool_type.inc"

#define T         double
#define WIDE      double
#define LOWEST    ((double)-INFINITY)
#define IS_NAN(v) isnan(v)
#define ADD(a, b) ((a) + (b))
#define FN(name)  name##_f64
#include "kernel/pool_type.inc"

#define T         int64_t
#define WIDE      int64_t
#define LOWEST    INT64_MIN
#define IS_NAN(v) false
#define ADD(a, b) ((int64_t)((uint64_t)(a) + (uint64_t)(b)))
#define FN(name)  name##_i64
#include "kernel/pool_type.inc"

static const struct pool_type *type_of(cq_dtype compute)
{
    return compute == CQ_DTYPE_F64 ? &type_f64 : compute == CQ_DTYPE_I64 ? &type_i64 : &type_f32;
}

/* --- fixed windows -------------------------------------------------------------------- */

/* Kernel position k for the n outputs of row `at`; false: all are outside. */
static bool row_of_tap(const cq_slide *s, const int64_t *k, const int64_t *at, int64_t *start,
                       int64_t *lo, int64_t *hi)
{
    int     last  = s->n_dims - 1;
    int64_t shift = k[last] * s->dilation[last];

    cq_slide_inside(s, last, shift, lo, hi);
    *start = *lo * s->stride[last] + shift - s->padding[last];
    for (int i = 0; i < last; i++) {
        int64_t y = at[i] * s->stride[i] - s->padding[i] + k[i] * s->dilation[i];

        if (y < 0 || y >= s->in[i])
            return false;
        *start += y * s->in_step[i];
    }
    return *lo < *hi;
}

static void pass(const struct pool *p, char *out, int64_t *index, const char *x, int64_t start,
                 int64_t n)
{
    const struct pool_type *t    = p->type;
    int64_t                 step = p->slide.stride[p->slide.n_dims - 1];

    x += start * (int64_t)t->size;
    if (index)
        t->index_pass(out, index, x, step, n, start);
    else
        (p->is_max ? t->max_pass : p->power ? t->power_pass : t->sum_pass)(p, out, x, step, n);
}

static void finish_row(const struct pool *p, char *out, const int64_t *at, int64_t width)
{
    int     last  = p->slide.n_dims - 1;
    int64_t count = p->divisor ? p->divisor : 1;

    if (p->is_max)
        return;
    if (p->power) {
        p->type->root(out, p->power, width);
        return;
    }
    for (int i = 0; i < last && !p->divisor; i++)
        count *= p->counts[i][at[i]];
    p->type->divide(out, p->divisor ? NULL : p->counts[last], count, width);
}

static void pool_plane(const struct pool *p, char *out, int64_t *index, const char *x)
{
    const cq_slide *s     = &p->slide;
    int             last  = s->n_dims - 1;
    int64_t         width = s->out[last], size = (int64_t)p->type->size, start, lo, hi;
    int64_t         at[CQ_MAX_SPATIAL] = { 0 };

    for (int64_t row = 0; row < s->out_plane / width; row++) {
        int64_t k[CQ_MAX_SPATIAL] = { 0 };

        p->type->begin(p, out, width);
        for (int64_t i = 0; index && i < width; i++)
            index[i] = -1;
        for (int64_t tap = 0; tap < s->taps; tap++, cq_grid_next(k, s->n_dims, s->kernel))
            if (row_of_tap(s, k, at, &start, &lo, &hi))
                pass(p, out + lo * size, index ? index + lo : NULL, x, start, hi - lo);
        finish_row(p, out, at, width);
        out += width * size;
        index = index ? index + width : NULL;
        cq_grid_next(at, last, s->out);
    }
}

/* --- boxes ------------------------------------------------------------------------------ */

static void box_of(const cq_slide *s, const int64_t *at, int64_t *lo, int64_t *hi)
{
    for (int i = 0; i < s->n_dims; i++) {
        lo[i] = at[i] * s->in[i] / s->out[i];
        hi[i] = ((at[i] + 1) * s->in[i] + s->out[i] - 1) / s->out[i];
    }
}

static void box_plane(const struct pool *p, char *out, int64_t *index, const char *x)
{
    const cq_slide *s                  = &p->slide;
    int64_t         at[CQ_MAX_SPATIAL] = { 0 }, lo[CQ_MAX_SPATIAL], hi[CQ_MAX_SPATIAL];

    for (int64_t i = 0; i < s->out_plane; i++, cq_grid_next(at, s->n_dims, s->out)) {
        box_of(s, at, lo, hi);
        p->type->box(p, out + i * (int64_t)p->type->size, index ? index + i : NULL, x, lo, hi);
    }
}

/* --- the calls ---------------------------------------------------------------------------- */

static cq_status pool_block(void *user, int64_t block)
{
    const struct pool *p    = user;
    const cq_slide    *s    = &p->slide;
    int64_t            size = (int64_t)p->type->size, end = (block + 1) * p->step;

    for (int64_t i = block * p->step; i < end && i < p->planes; i++)
        (p->is_box ? box_plane : pool_plane)(p, p->out + i * s->out_plane * size,
                                             p->index ? p->index + i * s->out_plane : NULL,
                                             p->x + i * s->in_plane * size);
    return CQ_OK;
}

static cq_status run(struct pool *p, cq_tensor *out, cq_tensor *indices, const cq_tensor *x)
{
    cq_operands s    = { .compute = cq_compute_dtype(x->dtype) };
    int64_t     work = p->is_box ? p->slide.in_plane : p->slide.out_plane * p->slide.taps;

    if (cq_dtype_is_complex(x->dtype))
        return cq_fail(CQ_E_TYPE, NULL, NULL, "pooling is not supported for %s",
                       cq_dtype_name(x->dtype));
    if (cq_size_of(out, 0) != cq_size_of(x, 0) || cq_size_of(out, 1) != cq_size_of(x, 1) ||
        !cq_operands_has(indices, cq_tensor_numel(out)))
        return cq_operands_misfit("pool", x, out);
    if (cq_tensor_numel(out) == 0)
        return CQ_OK;
    p->type   = type_of(s.compute);
    p->planes = cq_size_of(out, 0) * cq_size_of(out, 1);
    p->step   = BLOCK_WORK / (work + 1) + 1;
    p->x      = cq_operands_in(&s, x);
    p->out    = cq_operands_out(&s, out);
    p->index  = cq_operands_out_as(&s, indices, CQ_DTYPE_I64);
    if (s.status == CQ_OK)
        s.status = cq_parallel_for((p->planes + p->step - 1) / p->step, pool_block, p);
    return cq_operands_close(&s);
}

cq_status cq_kernel_max_pool(cq_tensor *out, cq_tensor *indices, const cq_tensor *x,
                             const cq_window *window)
{
    struct pool p = { .is_max = true };

    CQ_TRY(cq_slide_init(&p.slide, window, x, out, NULL));
    return run(&p, out, indices, x);
}

/* The factor of one axis in the divisor of an average: kernel positions inside the feature map, or
 * inside the feature map and its padding. */
static int64_t count_inside(const cq_slide *s, int axis, int64_t position, int64_t after,
                            bool padded)
{
    int64_t start = position * s->stride[axis] - s->padding[axis], n = 0;
    int64_t lo = padded ? -s->padding[axis] : 0, hi = s->in[axis] + (padded ? after : 0);

    for (int64_t k = 0; k < s->kernel[axis]; k++) {
        int64_t y = start + k * s->dilation[axis];

        n += y >= lo && y < hi;
    }
    return n;
}

/* One allocation, beginning at counts[0]. */
static cq_status make_counts(struct pool *p, const cq_avg_pool *o)
{
    const cq_slide *s     = &p->slide;
    int64_t         total = 0, *next;

    for (int i = 0; i < s->n_dims; i++)
        total += s->out[i];
    next = cq_alloc_array((size_t)total, sizeof *next);
    if (!next)
        return CQ_E_NO_MEMORY;
    for (int i = 0; i < s->n_dims; i++) {
        int64_t after = o->padding_after ? o->padding_after[i] : s->padding[i];

        p->counts[i] = next;
        for (int64_t j = 0; j < s->out[i]; j++)
            *next++ = count_inside(s, i, j, after, o->count_include_pad);
    }
    return CQ_OK;
}

cq_status cq_kernel_avg_pool(cq_tensor *out, const cq_tensor *x, const cq_window *window,
                             const cq_avg_pool *options)
{
    struct pool p = { .divisor = options->divisor };
    cq_status   status;

    CQ_TRY(cq_slide_init(&p.slide, window, x, out, NULL));
    CQ_TRY(make_counts(&p, options));
    status = run(&p, out, NULL, x);
    cq_free(p.counts[0]);
    return status;
}

cq_status cq_kernel_lp_pool(cq_tensor *out, const cq_tensor *x, const cq_window *window, double p)
{
    struct pool lp = { .power = p };

    CQ_TRY(cq_operands_need_float(x, "lp_pool"));
    if (p == 0)
        return cq_fail(CQ_E_ARGUMENT, "lp_pool", NULL, "expected p other than 0");
    CQ_TRY(cq_slide_init(&lp.slide, window, x, out, NULL));
    return run(&lp, out, NULL, x);
}

cq_status cq_kernel_adaptive_avg_pool(cq_tensor *out, const cq_tensor *x)
{
    struct pool p = { .is_box = true };

    CQ_TRY(cq_slide_init(&p.slide, &(cq_window){ 0 }, x, out, NULL));
    return run(&p, out, NULL, x);
}

cq_status cq_kernel_adaptive_max_pool(cq_tensor *out, cq_tensor *indices, const cq_tensor *x)
{
    struct pool p = { .is_box = true, .is_max = true };

    CQ_TRY(cq_slide_init(&p.slide, &(cq_window){ 0 }, x, out, NULL));
    return run(&p, out, indices, x);
}

/* --- unpooling and gradients ------------------------------------------------------------ */

static cq_status scatter(struct pool *p, const cq_tensor *x, bool add)
{
    int64_t size = (int64_t)p->type->size, in = cq_sizes_product(x, 2, x->rank);

    for (int64_t i = 0; i < p->planes; i++) {
        char *plane = p->out + i * p->slide.in_plane * size;

        for (int64_t j = i * in; j < (i + 1) * in; j++) {
            if (p->index[j] < 0 || p->index[j] >= p->slide.in_plane)
                return cq_fail(CQ_E_ARGUMENT, "max_unpool", NULL,
                               "index %lld is out of range for a plane of %lld elements",
                               (long long)p->index[j], (long long)p->slide.in_plane);
            if (add)
                p->type->add_to(plane, p->index[j], p->x, j);
            else
                memcpy(plane + p->index[j] * size, p->x + j * size, (size_t)size);
        }
    }
    return CQ_OK;
}

static cq_status unpool(cq_tensor *out, const cq_tensor *x, const cq_tensor *indices, bool add)
{
    cq_operands s = { .compute = cq_compute_dtype(out->dtype) };
    struct pool p = { .type = type_of(s.compute) };

    CQ_TRY(cq_slide_init(&p.slide, &(cq_window){ 0 }, out, x, NULL));
    p.planes = cq_size_of(out, 0) * cq_size_of(out, 1);
    if (!cq_operands_has(x, p.planes * p.slide.out_plane) ||
        !cq_operands_has(indices, p.planes * p.slide.out_plane))
        return cq_operands_misfit("max_unpool", x, out);
    p.x     = cq_operands_in(&s, x);
    p.index = (int64_t *)cq_operands_in_as(&s, indices, CQ_DTYPE_I64); /* only read */
    p.out   = cq_operands_out(&s, out);
    if (s.status == CQ_OK) {
        memset(p.out, 0, (size_t)cq_tensor_numel(out) * p.type->size);
        s.status = scatter(&p, x, add);
    }
    return cq_operands_close(&s);
}

cq_status cq_kernel_max_unpool(cq_tensor *out, const cq_tensor *x, const cq_tensor *indices)
{
    return unpool(out, x, indices, false);
}

cq_status cq_kernel_max_pool_grad(cq_tensor *grad_x, const cq_tensor *grad_out,
                                  const cq_tensor *indices)
{
    return unpool(grad_x, grad_out, indices, true);
}

/* Every output distributes its gradient evenly over its window. */
static void spread_window(const struct pool *p, char *out, const char *grad)
{
    const cq_slide *s                  = &p->slide;
    int             last               = s->n_dims - 1;
    int64_t         at[CQ_MAX_SPATIAL] = { 0 }, size = (int64_t)p->type->size;

    for (int64_t i = 0; i < s->out_plane; i++, cq_grid_next(at, s->n_dims, s->out)) {
        int64_t k[CQ_MAX_SPATIAL] = { 0 }, divisor = p->divisor ? p->divisor : 1, start, lo, hi;

        for (int d = 0; d < s->n_dims && !p->divisor; d++)
            divisor *= p->counts[d][at[d]];
        for (int64_t tap = 0; tap < s->taps; tap++, cq_grid_next(k, s->n_dims, s->kernel))
            if (row_of_tap(s, k, at, &start, &lo, &hi) && at[last] >= lo && at[last] < hi)
                p->type->spread(out + (start + (at[last] - lo) * s->stride[last]) * size, grad, i,
                                divisor, 1);
    }
}

static void spread_box(const struct pool *p, char *out, const char *grad)
{
    const cq_slide *s                  = &p->slide;
    int             last               = s->n_dims - 1;
    int64_t         at[CQ_MAX_SPATIAL] = { 0 }, lo[CQ_MAX_SPATIAL], hi[CQ_MAX_SPATIAL];

    for (int64_t i = 0; i < s->out_plane; i++, cq_grid_next(at, s->n_dims, s->out)) {
        int64_t in[CQ_MAX_SPATIAL] = { 0 }, sizes[CQ_MAX_SPATIAL], count = 1;

        box_of(s, at, lo, hi);
        for (int d = 0; d < s->n_dims; d++) {
            sizes[d] = hi[d] - lo[d];
            count *= sizes[d];
        }
        do {
            int64_t start = lo[last];

            for (int d = 0; d < last; d++)
                start += (lo[d] + in[d]) * s->in_step[d];
            if (count)
                p->type->spread(out + start * (int64_t)p->type->size, grad, i, count, sizes[last]);
        } while (cq_grid_next(in, last, sizes));
    }
}

static cq_status spread(struct pool *p, cq_tensor *grad_x, const cq_tensor *grad_out)
{
    cq_operands     s     = { .compute = cq_compute_dtype(grad_x->dtype) };
    const cq_slide *slide = &p->slide;
    int64_t         size;

    p->type   = type_of(s.compute);
    p->planes = cq_size_of(grad_x, 0) * cq_size_of(grad_x, 1);
    if (!cq_operands_has(grad_out, p->planes * slide->out_plane))
        return cq_operands_misfit("pool", grad_x, grad_out);
    p->x   = cq_operands_in(&s, grad_out);
    p->out = cq_operands_out(&s, grad_x);
    size   = (int64_t)p->type->size;
    if (s.status == CQ_OK)
        memset(p->out, 0, (size_t)(cq_tensor_numel(grad_x) * size));
    for (int64_t i = 0; i < p->planes && s.status == CQ_OK; i++)
        (p->is_box ? spread_box : spread_window)(p, p->out + i * slide->in_plane * size,
                                                 p->x + i * slide->out_plane * size);
    return cq_operands_close(&s);
}

cq_status cq_kernel_avg_pool_grad(cq_tensor *grad_x, const cq_tensor *grad_out,
                                  const cq_window *window, const cq_avg_pool *options)
{
    struct pool p = { .divisor = options->divisor };
    cq_status   status;

    CQ_TRY(cq_slide_init(&p.slide, window, grad_x, grad_out, NULL));
    CQ_TRY(make_counts(&p, options));
    status = spread(&p, grad_x, grad_out);
    cq_free(p.counts[0]);
    return status;
}

cq_status cq_kernel_adaptive_avg_pool_grad(cq_tensor *grad_x, const cq_tensor *grad_out)
{
    struct pool p = { .is_box = true };

    CQ_TRY(cq_slide_init(&p.slide, &(cq_window){ 0 }, grad_x, grad_out, NULL));
    return spread(&p, grad_x, grad_out);
}
