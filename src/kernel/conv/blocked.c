#include "kernel/conv/blocked.h"

#include "base/alloc.h"
#include "base/thread.h"
#include "kernel/matrix/bands.h"
#include "kernel/conv/blocked_core.h"
#include "kernel/operand.h"

#include <math.h>
#include <string.h>

enum { BLOCK_WORK = 1 << 13 }; /* pixels of a channel block per block of work */

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Arguments of the loops below: planes of a block of channels. */
struct job {
    const cq_core *core;
    int64_t        lanes; /* channels per block */
    const float   *x;
    float         *out;
    int64_t        blocks;             /* of channels */
    int64_t        in[2], out_size[2]; /* of a plane */
    int64_t        channels;           /* of a plain image */
    cq_bands       bands;              /* of the output */

    const cq_window         *window;
    const int64_t           *behind;
    bool                     is_max, count_padding;
    const cq_blocked_affine *affine;
    const float             *by;
    const cq_blocked_gather *gather;
    const cq_tensor *const  *images;
};

static struct job job_of(cq_tensor *out, const cq_tensor *x, const cq_tensor *blocked)
{
    struct job j = { .core   = cq_core_get(),
                     .x      = cq_tensor_data(x),
                     .out    = cq_tensor_data(out),
                     .blocks = cq_size_of(blocked, 1) };

    j.lanes = j.core->lanes;
    for (size_t i = 0; i < 2; i++) {
        j.in[i]       = cq_size_of(x, i + 2);
        j.out_size[i] = cq_size_of(out, i + 2);
    }
    j.bands =
        (cq_bands){ .images = cq_size_of(blocked, 0), .planes = j.blocks, .rows = j.out_size[0] };
    return j;
}

/* Runs fn on all rows of the output; it reads `taps` pixels per output pixel. */
static cq_status run_job(struct job *j, int64_t taps, cq_block_fn fn)
{
    const int64_t width = j->out_size[1];

    return cq_parallel_for(cq_bands_cut(&j->bands, width, width * taps, BLOCK_WORK), fn, j);
}

/* The first pixel of a band in a plane, and the number of its pixels; planes of input and output
 * have the same size. */
static int64_t pixels_of(int64_t *first, const struct job *j, const cq_band *at)
{
    *first = at->y * j->in[1];
    return (at->y_end - at->y) * j->in[1];
}

/* ---- layout ---- */

static cq_status pack_block(void *user, int64_t block)
{
    const struct job *j     = user;
    const cq_band     at    = cq_bands_at(&j->bands, block);
    const int64_t     plane = j->in[0] * j->in[1];
    int64_t           from, n = pixels_of(&from, j, &at);

    for (int64_t i = at.plane; i < at.plane_end; i++) {
        int64_t first = i % j->blocks * j->lanes, image = i / j->blocks;

        j->core->pack(j->out + (i * plane + from) * j->lanes,
                      j->x + (image * j->channels + first) * plane + from, plane,
                      (int)smaller(j->lanes, j->channels - first), n);
    }
    return CQ_OK;
}

static cq_status unpack_block(void *user, int64_t block)
{
    const struct job *j     = user;
    const cq_band     at    = cq_bands_at(&j->bands, block);
    const int64_t     plane = j->in[0] * j->in[1];
    int64_t           from, n = pixels_of(&from, j, &at);

    for (int64_t i = at.plane; i < at.plane_end; i++) {
        int64_t first = i % j->blocks * j->lanes, image = i / j->blocks;

        j->core->unpack(j->out + (image * j->channels + first) * plane + from, plane,
                        (int)smaller(j->lanes, j->channels - first),
                        j->x + (i * plane + from) * j->lanes, n);
    }
    return CQ_OK;
}

cq_status cq_blocked_pack(cq_tensor *out, const cq_tensor *plain)
{
    struct job j = job_of(out, plain, out);

    j.channels = cq_size_of(plain, 1);
    return run_job(&j, 1, pack_block);
}

cq_status cq_blocked_unpack(cq_tensor *plain, const cq_tensor *x)
{
    struct job j = job_of(plain, x, x);

    memcpy(j.out_size, j.in, sizeof j.in); /* plain may be [n, c] */
    j.bands.rows = j.in[0];
    j.channels   = cq_size_of(plain, 1);
    return run_job(&j, 1, unpack_block);
}

/* ---- pools ---- */

/* The extent of a window inside the feature map and its padding. */
static int64_t padded_count(const struct job *j, int axis, int64_t start)
{
    const cq_window *w   = j->window;
    int64_t          end = start + (w->kernel[axis] - 1) * w->dilation[axis] + 1;
    int64_t          to  = j->in[axis] + j->behind[axis];

    return end <= to ? w->kernel[axis] : (to - start + w->dilation[axis] - 1) / w->dilation[axis];
}

/* Computes n pixels of row y of a plane, from x on, whose windows have the same columns kx
 * inside. */
static void pool_part(const struct job *j, int64_t plane, int64_t y, int64_t x, int64_t n,
                      const int64_t *kx)
{
    const cq_window *w  = j->window;
    int64_t          sy = y * w->stride[0] - w->padding[0], sx = x * w->stride[1] - w->padding[1];
    int64_t          ky[2], count, divisor;
    float            one[CQ_MAX_LANES], weights[CQ_MAX_LANES * CQ_BLOCKED_POOL_TAPS];
    cq_core_taps     t = { .step     = w->stride[1] * j->lanes,
                           .n        = n,
                           .cols     = larger(0, kx[1] - kx[0]),
                           .x_row    = w->dilation[0] * j->in[1] * j->lanes,
                           .x_col    = w->dilation[1] * j->lanes,
                           .w        = weights, /* the same in every row */
                           .out_step = j->lanes,
                           .out      = j->out +
                                  ((plane * j->out_size[0] + y) * j->out_size[1] + x) * j->lanes };

    cq_core_inside(ky, sy, w->kernel[0], w->dilation[0], j->in[0]);
    t.rows = larger(0, ky[1] - ky[0]);
    count  = t.rows * t.cols;
    sy += ky[0] * w->dilation[0];
    sx += kx[0] * w->dilation[1];
    t.x = count ? j->x + (plane * j->in[0] * j->in[1] + sy * j->in[1] + sx) * j->lanes : NULL;
    if (j->is_max && count) {
        j->core->max_taps(&t);
        return;
    }
    divisor = j->count_padding ? padded_count(j, 0, y * w->stride[0] - w->padding[0]) *
                                     padded_count(j, 1, x * w->stride[1] - w->padding[1])
                               : count;
    for (int i = 0; i < j->lanes; i++)
        one[i] = j->is_max ? -INFINITY : count ? 1.0f / (float)divisor : NAN;
    if (!count) {
        for (int64_t i = 0; i < n; i++)
            memcpy(t.out + j->lanes * i, one, sizeof *one * (size_t)j->lanes);
        return;
    }
    for (int64_t i = 0; i < t.cols; i++)
        memcpy(weights + j->lanes * i, one, sizeof *one * (size_t)j->lanes);
    j->core->depthwise(&t);
}

static bool same_count(const struct job *j, int64_t x, int64_t first)
{
    const cq_window *w = j->window;

    return !j->count_padding || padded_count(j, 1, x * w->stride[1] - w->padding[1]) ==
                                    padded_count(j, 1, first * w->stride[1] - w->padding[1]);
}

static void pool_row(const struct job *j, int64_t plane, int64_t y)
{
    const cq_window *w = j->window;
    int64_t          kx[2], next[2];

    for (int64_t x = 0, n; x < j->out_size[1]; x += n) {
        cq_core_inside(kx, x * w->stride[1] - w->padding[1], w->kernel[1], w->dilation[1],
                       j->in[1]);
        for (n = 1; x + n < j->out_size[1]; n++) {
            cq_core_inside(next, (x + n) * w->stride[1] - w->padding[1], w->kernel[1],
                           w->dilation[1], j->in[1]);
            if (next[0] != kx[0] || next[1] != kx[1] || !same_count(j, x + n, x))
                break;
        }
        pool_part(j, plane, y, x, n, kx);
    }
}

static cq_status pool_block(void *user, int64_t block)
{
    const struct job *j  = user;
    const cq_band     at = cq_bands_at(&j->bands, block);

    for (int64_t plane = at.plane; plane < at.plane_end; plane++)
        for (int64_t y = at.y; y < at.y_end; y++)
            pool_row(j, plane, y);
    return CQ_OK;
}

static cq_status pool(struct job *j, const cq_window *window)
{
    cq_window w = *window;

    for (int i = 0; i < 2; i++) {
        w.stride[i]   = w.stride[i] ? w.stride[i] : 1;
        w.dilation[i] = w.dilation[i] ? w.dilation[i] : 1;
    }
    if (w.kernel[0] > CQ_BLOCKED_POOL_TAPS || w.kernel[1] > CQ_BLOCKED_POOL_TAPS ||
        w.kernel[0] * w.kernel[1] > CQ_BLOCKED_POOL_TAPS)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL,
                       "the window of a blocked pooling is too large");
    j->window = &w;
    return run_job(j, w.kernel[0] * w.kernel[1], pool_block);
}

cq_status cq_blocked_max_pool(cq_tensor *out, const cq_tensor *x, const cq_window *window)
{
    struct job j = job_of(out, x, x);

    j.is_max = true;
    return pool(&j, window);
}

cq_status cq_blocked_avg_pool(cq_tensor *out, const cq_tensor *x, const cq_window *window,
                              const int64_t *behind, bool count_padding)
{
    struct job j = job_of(out, x, x);

    j.count_padding = count_padding;
    j.behind        = behind;
    return pool(&j, window);
}

static cq_status mean_block(void *user, int64_t block)
{
    const struct job *j  = user;
    const cq_band     at = cq_bands_at(&j->bands, block);
    const int64_t     n  = j->in[0] * j->in[1];

    for (int64_t i = at.plane; i < at.plane_end; i++)
        j->core->mean(j->out + j->lanes * i, j->x + j->lanes * n * i, n);
    return CQ_OK;
}

cq_status cq_blocked_mean(cq_tensor *out, const cq_tensor *x)
{
    struct job j = job_of(out, x, x);

    return run_job(&j, j.in[0] * j.in[1], mean_block);
}

/* ---- per-channel operations ---- */

static cq_status affine_block(void *user, int64_t block)
{
    const struct job        *j      = user;
    const cq_blocked_affine *a      = j->affine;
    const cq_band            at     = cq_bands_at(&j->bands, block);
    const cq_core_finish     finish = { .clamps = a->clamps, .lo = a->lo, .hi = a->hi };
    int64_t                  first, n = pixels_of(&first, j, &at);

    for (int64_t i = at.plane; i < at.plane_end; i++) {
        const int64_t to = (i * j->in[0] * j->in[1] + first) * j->lanes;
        const int64_t by = i % j->blocks * j->lanes;

        j->core->affine(j->out + to, j->x + to, a->scale + by, a->shift + by, n, &finish);
    }
    return CQ_OK;
}

cq_status cq_blocked_affine_run(cq_tensor *out, const cq_tensor *x, const cq_blocked_affine *a)
{
    struct job j = job_of(out, x, x);

    j.affine = a;
    return run_job(&j, 1, affine_block);
}

static cq_status scale_block(void *user, int64_t block)
{
    static const float   zero[CQ_MAX_LANES];
    const cq_core_finish none = { 0 };
    const struct job    *j    = user;
    const cq_band        at   = cq_bands_at(&j->bands, block);
    int64_t              first, n = pixels_of(&first, j, &at);

    for (int64_t i = at.plane; i < at.plane_end; i++) {
        const int64_t to = (i * j->in[0] * j->in[1] + first) * j->lanes;

        j->core->affine(j->out + to, j->x + to, j->by + j->lanes * i, zero, n, &none);
    }
    return CQ_OK;
}

cq_status cq_blocked_scale(cq_tensor *out, const cq_tensor *x, const cq_tensor *by)
{
    struct job j = job_of(out, x, x);

    j.by = cq_tensor_data(by);
    return run_job(&j, 1, scale_block);
}

/* ---- channel gather ---- */

struct cq_blocked_gather {
    int64_t            *first;   /* first vector that a block reads; one more entry at the end */
    cq_blocked_channel *from;    /* index of the vector in its feature map */
    cq_core_gather     *sources; /* the lanes that are copied from it */
};

/* Finds the source vectors of n channels of one block and returns their number; stores them in p
 * unless it is NULL. */
static int64_t find_moves(cq_blocked_gather *p, int64_t first, const cq_blocked_channel *channels,
                          int64_t n)
{
    const int64_t      lanes = cq_block_channels();
    cq_blocked_channel seen[CQ_MAX_LANES];
    int64_t            n_seen = 0;

    for (int64_t i = 0; i < n; i++) {
        const cq_blocked_channel from = { channels[i].image, channels[i].channel / lanes };
        int64_t                  k    = 0;

        while (k < n_seen && (seen[k].image != from.image || seen[k].channel != from.channel))
            k++;
        seen[k] = from;
        n_seen  = larger(n_seen, k + 1);
        if (!p)
            continue;
        p->from[first + k]             = from;
        p->sources[first + k].at[i]    = (int32_t)(channels[i].channel % lanes);
        p->sources[first + k].takes[i] = -1;
    }
    return n_seen;
}

int64_t cq_blocked_moves(const cq_blocked_channel *channels, int64_t n)
{
    const int64_t lanes = cq_block_channels();
    int64_t       moves = 0;

    for (int64_t i = 0; i < n; i += lanes)
        moves += find_moves(NULL, 0, channels + i, smaller(lanes, n - i));
    return moves;
}

cq_status cq_blocked_gather_new(cq_blocked_gather **out, const cq_blocked_channel *channels,
                                int64_t n)
{
    const int64_t      lanes = cq_block_channels(), blocks = (n + lanes - 1) / lanes;
    const size_t       moves = (size_t)cq_blocked_moves(channels, n);
    cq_blocked_gather *p = *out = cq_zalloc(sizeof *p);

    if (!p)
        return CQ_E_NO_MEMORY;
    p->first   = cq_zalloc(((size_t)blocks + 1) * sizeof *p->first);
    p->from    = cq_alloc_array(moves, sizeof *p->from);
    p->sources = cq_zalloc(moves * sizeof *p->sources);
    if (!p->first || !p->from || !p->sources) {
        cq_blocked_gather_free(p);
        *out = NULL;
        return CQ_E_NO_MEMORY;
    }
    for (int64_t i = 0; i < blocks; i++)
        p->first[i + 1] = p->first[i] + find_moves(p, p->first[i], channels + i * lanes,
                                                   smaller(lanes, n - i * lanes));
    return CQ_OK;
}

void cq_blocked_gather_free(cq_blocked_gather *p)
{
    if (!p)
        return;
    cq_free(p->first);
    cq_free(p->from);
    cq_free(p->sources);
    cq_free(p);
}

static cq_status pick_block(void *user, int64_t block)
{
    const struct job *j  = user;
    const cq_band     at = cq_bands_at(&j->bands, block);
    int64_t           first, n = pixels_of(&first, j, &at);

    for (int64_t i = at.plane; i < at.plane_end; i++) {
        const int64_t             plane = j->in[0] * j->in[1];
        const int64_t             begin = j->gather->first[i % j->blocks];
        const int64_t             n_x   = j->gather->first[i % j->blocks + 1] - begin;
        const cq_blocked_channel *from  = j->gather->from + begin;
        const float              *x[CQ_MAX_LANES];

        for (int64_t k = 0; k < n_x; k++) {
            const cq_tensor *t        = j->images[from[k].image];
            const int64_t    block_at = i / j->blocks * cq_size_of(t, 1) + from[k].channel;

            x[k] = (const float *)cq_tensor_data(t) + (block_at * plane + first) * j->lanes;
        }
        j->core->gather(j->out + (i * plane + first) * j->lanes, j->gather->sources + begin, x, n_x,
                        n);
    }
    return CQ_OK;
}

cq_status cq_blocked_gather_run(cq_tensor *out, const cq_blocked_gather *p,
                                const cq_tensor *const *x)
{
    struct job j = job_of(out, out, out);

    j.gather = p;
    j.images = x;
    return run_job(&j, 1, pick_block);
}
