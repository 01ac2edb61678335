/* Winograd convolution (minimal filtering): m x m results of an r x r window need (m + r - 1)^2
 * multiplications instead of m^2 r^2. 3x3 needs 4 times fewer with m = 4 and 2.25 times fewer with
 * m = 2, 2x2 1.8 times fewer with m = 2.
 *
 * Tiles of m x m results, their side^2 inputs transformed (v: [element][tile][channel]), are
 * multiplied element by element with transformed weights (u: [pair of output blocks][element]
 * [channel][two vectors]) and transformed back. With many tiles, a thread runs some of them through
 * all steps in its own workspace. With few tiles, where weights are large and read only once, all
 * tiles are transformed first and threads share the output channels.
 *
 * With stride 2, every second row and column is a separate feature map: the window is the sum of
 * four windows of half the size, as if there were four times as many channels (phases). */
#include "kernel/conv/bconv_types.h"

#include "base/thread.h"
#include "kernel/operand.h"

#include <string.h>

enum {
    FEW_TILES   = 64,
    FEW_WEIGHTS = 1 << 20,   /* size of transformed weights that every thread can read completely */
    V_BYTES     = 640 << 10, /* bytes of transformed tiles per thread */
    MIN_TILES   = 24,
    MAX_TILES   = 48,
    PAD         = 16, /* floats between elements: a power of two would meet in the cache */
    MAX_SIDE    = 6,
    MAX_WINDOW  = CQ_MAX_WINOGRAD
};

/* ---- which ---- */

/* The cost of an algorithm, in multiplications per input and output channel. Transforming a number
 * costs as much as some multiplications, reading a weight as much as using it for some more tiles.
 * Unknown sizes count as large. */
enum { TRANSFORM = 6, READ = 8, LARGE = 64 };
static const double WORTH =
    0.9; /* Winograd is used if its cost is at most this fraction of the products' cost */

static double count(const cq_bconv_spec *s, int64_t m)
{
    double n = 1;

    for (int i = 0; i < 2; i++)
        n *= (double)(((s->out_size[i] > 0 ? s->out_size[i] : LARGE) + m - 1) / m);
    return n;
}

static double cost(const cq_bconv_spec *s, int64_t side, int64_t m)
{
    const double phases = (double)(s->stride[0] * s->stride[1]);
    const double more =
        TRANSFORM / (double)cq_size_of(s->w, 0) + TRANSFORM / (double)cq_size_of(s->w, 1);

    return phases * (double)(side * side) * (count(s, m) * (1 + more) + READ);
}

static int64_t window_of(int64_t kernel, int64_t stride)
{
    return (kernel + stride - 1) / stride;
}

int cq_winograd_side(const cq_bconv_spec *s)
{
    static const int sides[] = { 3, 4, 6 };
    const int64_t    kernel = cq_size_of(s->w, 2), stride = s->stride[0];
    const int64_t    window = window_of(kernel, stride);
    double           least  = WORTH * (double)(kernel * kernel) * (count(s, 1) + READ), here;
    int              best   = 0;

    if (s->groups != 1 || s->plain_input || kernel != cq_size_of(s->w, 3) || kernel < 2 ||
        s->stride[1] != stride || stride > 2 || s->dilation[0] != 1 || s->dilation[1] != 1)
        return 0;
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
        if (window < 2 || sides[i] < window + 1) /* at least two results */
            continue;
        here = cost(s, sides[i], sides[i] - window + 1);
        if (here < least) {
            least = here;
            best  = sides[i];
        }
    }
    return best;
}

static int64_t phases_of(const cq_bconv *c)
{
    return c->stride[0] * c->stride[1];
}

/* ---- weights ---- */

/* Rows of the matrix that weights are multiplied by: a point's powers, divided by the value of
 * the polynomial that is zero at all other points. */
static void weight_matrix(double g[MAX_SIDE][MAX_WINDOW], int side, int window)
{
    static const double points[] = { 0, 1, -1 }, points_of_6[] = { 0, 0.75, -0.75, 1.5, -1.5 };
    const double       *p = side == 6 ? points_of_6 : points;
    int                 n = side - 1;

    for (int i = 0; i < n; i++) {
        double by = 1;

        for (int k = 0; k < n; k++)
            by *= k == i ? 1 : p[i] - p[k];
        g[i][0] = 1 / by;
        for (int k = 1; k < window; k++)
            g[i][k] = p[i] * g[i][k - 1];
    }
    memset(g[n], 0, sizeof g[n]);
    g[n][window - 1] = 1;
}

struct packing {
    cq_bconv     *c;
    cq_bconv_taps taps;
    int           window;
    double        g[MAX_SIDE][MAX_WINDOW];
};

/* Whether the taps of an output have the layout of a model: [input channel][row][column]. */
static bool is_dense(const struct packing *p)
{
    const int64_t *kernel = p->c->kernel, *step = p->taps.step;

    return phases_of(p->c) == 1 && step[3] == 1 && step[2] == kernel[1] &&
           step[1] == kernel[0] * kernel[1];
}

/* Taps of a phase in the windows of `outputs` outputs and n input channels, the first at `from`: a
 * vector of outputs for each tap of each channel. */
static void take_taps(const struct packing *p, float *w, int64_t phase, const float *from,
                      int64_t outputs, int64_t n)
{
    const int64_t *kernel = p->c->kernel, *stride = p->c->stride, *step = p->taps.step;
    const int64_t  lanes = p->c->core->lanes, taps = (int64_t)p->window * p->window;

    if (is_dense(p)) {
        p->c->core->pack(w, from, step[0], (int)outputs, n * taps);
        return;
    }
    for (int64_t k = 0; k < n * taps; k++, w += lanes) {
        const int64_t y      = k % taps / p->window * stride[0] + phase / stride[1];
        const int64_t x      = k % p->window * stride[1] + phase % stride[1];
        const float  *tap    = from + k / taps * step[1] + y * step[2] + x * step[3];
        const bool    is_tap = y < kernel[0] && x < kernel[1];

        for (int64_t o = 0; o < lanes; o++)
            w[o] = is_tap && o < outputs ? tap[o * step[0]] : 0;
    }
}

/* n input channels, starting at i, for a vector of outputs, starting at o. The rest of the block is
 * zero. */
static void pack_vector(const struct packing *p, int64_t phase, int64_t o, int64_t i, int64_t n,
                        float *u, int64_t width)
{
    const cq_bconv *c     = p->c;
    const int64_t   lanes = c->core->lanes, left = c->out_channels - o;
    const int64_t   taps = (int64_t)p->window * p->window;
    float           w[MAX_WINDOW * MAX_WINDOW * CQ_MAX_LANES * CQ_MAX_LANES];

    take_taps(p, w, phase, p->taps.w + o * p->taps.step[0] + i * p->taps.step[1],
              left < lanes ? left : lanes, n);
    memset(w + n * taps * lanes, 0, sizeof *w * (size_t)((lanes - n) * taps * lanes));
    for (int64_t k = 0; k < lanes; k++)
        c->core->winograd_weights(&(cq_core_winograd_weights){
            .side   = c->side,
            .window = p->window,
            .g      = p->g,
            .w      = w + k * taps * lanes,
            .u      = u + k * width,
            .u_step = lanes * c->in_group * phases_of(c) * width,
        });
}

/* A block of input channels for a pair of blocks of the output. */
static cq_status pack_block(void *user, int64_t block)
{
    const struct packing *p     = user;
    const cq_bconv       *c     = p->c;
    int64_t               lanes = c->core->lanes, phases = phases_of(c);
    int64_t               in   = lanes * c->in_group * phases;
    int64_t               pair = block / c->in_group, from = pair * 2 * lanes;
    int64_t               width = 2 * pair + 1 < c->out_group ? 2 * lanes : lanes;
    int64_t               i     = block % c->in_group * lanes;
    int64_t               n     = c->in_channels - i < lanes ? c->in_channels - i : lanes;

    for (int64_t phase = 0; phase < phases; phase++)
        for (int64_t o = 0; o < width; o += lanes)
            pack_vector(p, phase, from + o, i, n,
                        c->w + pair * 2 * lanes * in * c->side * c->side +
                            (phase * c->in_group * lanes + i) * width + o,
                        width);
    return CQ_OK;
}

static cq_status prepare(cq_bconv *c, const cq_bconv_spec *spec)
{
    struct packing p = { .c = c, .taps = cq_bconv_taps_of(spec) };

    p.window = (int)window_of(c->kernel[0], c->stride[0]);
    c->side  = cq_winograd_side(spec);
    c->m     = c->side - p.window + 1;
    weight_matrix(p.g, c->side, p.window);
    CQ_TRY(cq_bconv_alloc_unset(&c->w, c->side * c->side,
                                phases_of(c) * c->in_group * c->core->lanes,
                                c->out_group * c->core->lanes));
    return cq_parallel_for((c->out_group + 1) / 2 * c->in_group, pack_block, &p);
}

/* ---- partition of the work ---- */

struct winograd {
    const cq_bconv      *c;
    const cq_bconv_call *call;
    int                  n_elements;
    int64_t              in;           /* channels of all phases, in whole blocks */
    int64_t              across, down; /* tiles of an image */
    int64_t              n_tiles, n_pairs;
    int64_t              block;          /* tiles per block */
    int64_t              v_step, m_step; /* from element to element */
    bool                 is_shared;
    float               *v, *m; /* is_shared: v of all tiles, then a part of m for each thread */
};

static cq_status init(struct winograd *w, const cq_bconv *c, const cq_bconv_call *call)
{
    int64_t lanes = c->core->lanes, rows = c->core->tile_rows, per_tile;

    *w = (struct winograd){ .c = c, .call = call, .in = phases_of(c) * c->in_group * lanes };
    w->n_elements = c->side * c->side;
    w->across     = (call->out_size[1] + c->m - 1) / c->m;
    w->down       = (call->out_size[0] + c->m - 1) / c->m;
    w->n_pairs    = (c->out_group + 1) / 2;
    if (__builtin_mul_overflow(w->across, w->down, &w->n_tiles) ||
        __builtin_mul_overflow(w->n_tiles, call->batch, &w->n_tiles))
        return cq_no_memory();
    w->is_shared =
        w->n_tiles <= FEW_TILES &&
        (w->n_tiles < MIN_TILES || w->n_elements * w->in * c->out_group * lanes > FEW_WEIGHTS);
    per_tile = w->n_elements * w->in * (int64_t)sizeof(float);
    w->block = V_BYTES / per_tile / rows * rows;
    w->block = w->block < MIN_TILES ? MIN_TILES : w->block > MAX_TILES ? MAX_TILES : w->block;
    if (w->is_shared)
        w->block = w->n_tiles;
    else if (w->n_tiles <= FEW_TILES) /* as many for each thread */
        w->block = (w->n_tiles + call->lanes - 1) / call->lanes;
    w->v_step = w->block * w->in + PAD;
    w->m_step = w->block * 2 * lanes + PAD;
    return CQ_OK;
}

static cq_status scratch(int64_t *out, const cq_bconv *c, const cq_bconv_call *call)
{
    struct winograd w;
    int64_t         v, m;

    CQ_TRY(init(&w, c, call));
    v = w.n_elements * w.v_step;
    m = w.n_elements * w.m_step;
    if (__builtin_mul_overflow(w.is_shared ? m : v + m, (int64_t)call->lanes, out) ||
        __builtin_add_overflow(*out, w.is_shared ? v : 0, out))
        return cq_no_memory();
    return CQ_OK;
}

/* ---- the steps ---- */

static int inside(int64_t at, int64_t size, int side)
{
    int64_t n = size - at;

    return n < 0 ? 0 : n < side ? (int)n : side;
}

/* Like inside, for every stride-th pixel from `at` on: [first, end). */
static void span(int *first, int *end, int64_t at, int64_t size, int64_t stride, int side)
{
    *first = at < 0 ? (int)((stride - 1 - at) / stride) : 0;
    *end   = inside(0, size > at ? (size - at + stride - 1) / stride : 0, side);
}

/* Tile number tile, all blocks of channels, to row `row` of v. */
static void transform(const struct winograd *w, float *v, int64_t tile, int64_t row)
{
    const cq_bconv_call *call   = w->call;
    const int64_t       *stride = w->c->stride;
    int64_t              lanes = w->c->core->lanes, image = tile / (w->across * w->down);
    int64_t              in = w->c->in_group, plane = call->in[0] * call->in[1] * lanes;
    cq_core_winograd     t = { .side   = w->c->side,
                               .x_row  = stride[0] * call->in[1] * lanes,
                               .x_col  = stride[1] * lanes,
                               .v      = v + row * w->in,
                               .v_step = w->v_step };

    for (int64_t phase = 0; phase < phases_of(w->c); phase++) {
        int64_t y = tile / w->across % w->down * w->c->m * stride[0] - call->padding[0];
        int64_t x = tile % w->across * w->c->m * stride[1] - call->padding[1];

        y += phase / stride[1];
        x += phase % stride[1];
        span(&t.y0, &t.y1, y, call->in[0], stride[0], t.side);
        span(&t.x0, &t.x1, x, call->in[1], stride[1], t.side);
        t.x = call->x + image * in * plane + (y * call->in[1] + x) * lanes;
        for (int64_t b = 0; b < in; b++, t.x += plane, t.v += lanes)
            w->c->core->winograd(&t);
    }
}

/* One pair of output blocks of n tiles in v, through m, to the output. */
static void multiply(const struct winograd *w, const float *v, float *m, int64_t pair,
                     int64_t first, int64_t n)
{
    static const int64_t no_offset = 0;
    const cq_bconv      *c         = w->c;
    int64_t              lanes = c->core->lanes, in = w->in;
    int                  vectors = 2 * pair + 1 < c->out_group ? 2 : 1;
    const float         *u       = c->w + pair * 2 * lanes * in * w->n_elements;

    for (int e = 0; e < w->n_elements; e++) {
        cq_core_tile t = { .w          = u + e * in * lanes * vectors,
                           .offsets    = &no_offset,
                           .n_steps    = 1,
                           .kc         = phases_of(c) > 1 ? in : c->in_channels,
                           .prefetch   = in * lanes * vectors,
                           .sharers    = n,
                           .out        = m + e * w->m_step,
                           .out_row    = 2 * lanes,
                           .out_vector = lanes };
        const float *px[FEW_TILES];

        for (int64_t i = 0; i < n; i++)
            px[i] = v + e * w->v_step + i * in;
        c->core->tiles(&t, n, vectors, px);
    }
    for (int64_t i = 0; i < n; i++) {
        const cq_bconv_call *call = w->call;
        int64_t              tile = first + i, image = tile / (w->across * w->down);
        int64_t              y = tile / w->across % w->down * c->m, x = tile % w->across * c->m;
        int64_t              plane = call->out_size[0] * call->out_size[1] * lanes;
        cq_core_unwinograd   t     = { .side    = c->side,
                                       .m       = c->m,
                                       .v_step  = w->m_step,
                                       .out_row = call->out_size[1] * lanes,
                                       .ny      = inside(y, call->out_size[0], c->m),
                                       .nx      = inside(x, call->out_size[1], c->m),
                                       .finish  = cq_bconv_finish(c, call) };

        for (int k = 0; k < vectors; k++) {
            int64_t at =
                (image * c->out_group + 2 * pair + k) * plane + (y * call->out_size[1] + x) * lanes;

            t.v           = m + (2 * i + k) * lanes;
            t.out         = call->out + at;
            t.finish.bias = c->bias + (2 * pair + k) * lanes;
            t.finish.add  = call->add ? call->add + at : NULL;
            c->core->unwinograd(&t);
            for (int r = 0; r < t.ny; r++)
                cq_bconv_activate(c, call, t.out + r * t.out_row, t.nx * lanes);
        }
    }
}

static cq_status tiles_block(void *user, int64_t block, int lane)
{
    const struct winograd *w     = user;
    int64_t                first = block * w->block, n = w->n_tiles - first;
    float                 *v = w->v + lane * w->n_elements * (w->v_step + w->m_step);

    n = n < w->block ? n : w->block;
    for (int64_t i = 0; i < n; i++)
        transform(w, v, first + i, i);
    for (int64_t pair = 0; pair < w->n_pairs; pair++)
        multiply(w, v, v + w->n_elements * w->v_step, pair, first, n);
    return CQ_OK;
}

static cq_status transform_block(void *user, int64_t tile)
{
    const struct winograd *w = user;

    transform(w, w->v, tile, tile);
    return CQ_OK;
}

static cq_status pair_block(void *user, int64_t pair, int lane)
{
    const struct winograd *w = user;

    multiply(w, w->v, w->m + lane * w->n_elements * w->m_step, pair, 0, w->n_tiles);
    return CQ_OK;
}

static cq_status run(const cq_bconv *c, const cq_bconv_call *call)
{
    struct winograd w;

    CQ_TRY(init(&w, c, call));
    w.v = call->scratch;
    if (!w.is_shared)
        return cq_parallel_lanes((w.n_tiles + w.block - 1) / w.block, call->lanes, tiles_block, &w);
    w.m = w.v + w.n_elements * w.v_step;
    CQ_TRY(cq_parallel_for(w.n_tiles, transform_block, &w));
    return cq_parallel_lanes(w.n_pairs, call->lanes, pair_block, &w);
}

const cq_bconv_algorithm cq_bconv_winograd = { prepare, scratch, run };
