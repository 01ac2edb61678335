/* 3x3 convolutions of stride 1 by Winograd's minimal filtering: F(4, 3) needs 4 times fewer
 * multiplications than the plain sum, F(2, 3) 2.25 times fewer.
 *
 * Tiles of m x m results, their (m + 2)^2 inputs transformed (v: [element][tile][channel]), are
 * multiplied element by element with transformed weights (u: [pair of output blocks][element]
 * [channel][two vectors]) and transformed back. With many tiles a thread takes some of them through
 * all steps, in memory of its own. With few, where weights are large and read but once, all tiles
 * are transformed first and threads share the output channels. */
#include "kernel/bconv_types.h"

#include "base/thread.h"

#include <string.h>

enum {
    FEW_TILES   = 64,
    FEW_WEIGHTS = 1 << 20,   /* transformed, that all threads may as well read */
    SMALL_IMAGE = 64,        /* pixels of an output that F(2, 3) is better for */
    V_BYTES     = 640 << 10, /* of tiles in a thread's memory */
    MIN_TILES   = 24,
    MAX_TILES   = 48,
    PAD         = 16 /* floats between elements: a power of two would meet in the cache */
};

/* ---- weights ---- */

/* Rows of the matrix that weights are multiplied by: a point's powers, divided by the value of
 * the polynomial that is zero at all other points. */
static void weight_matrix(double g[6][3], int m)
{
    static const double points[2][5] = { { 0, 1, -1 }, { 0, 0.75, -0.75, 1.5, -1.5 } };
    const double       *p            = points[m == 4];
    int                 n            = m + 1;

    for (int i = 0; i < n; i++) {
        double by = 1;

        for (int k = 0; k < n; k++)
            by *= k == i ? 1 : p[i] - p[k];
        g[i][0] = 1 / by;
        g[i][1] = p[i] / by;
        g[i][2] = p[i] * p[i] / by;
    }
    g[n][0] = g[n][1] = 0;
    g[n][2]           = 1;
}

struct packing {
    cq_bconv    *c;
    const float *w;
    double       g[6][3];
};

/* The transform of n weights of one input channel, side by side; element e goes to u + e * step. */
static void pack_weights(const struct packing *p, double w[9][2 * CQ_MAX_LANES], int64_t n,
                         float *u, int64_t step)
{
    int side = p->c->m + 2;

    for (int y = 0; y < side; y++)
        for (int x = 0; x < side; x++, u += step)
            for (int64_t o = 0; o < n; o++) {
                double half[3];

                for (int k = 0; k < 3; k++)
                    half[k] =
                        p->g[y][0] * w[k][o] + p->g[y][1] * w[3 + k][o] + p->g[y][2] * w[6 + k][o];
                u[o] = (float)(half[0] * p->g[x][0] + half[1] * p->g[x][1] + half[2] * p->g[x][2]);
            }
}

/* A block of input channels for a pair of blocks of the output. */
static cq_status pack_block(void *user, int64_t block)
{
    const struct packing *p     = user;
    const cq_bconv       *c     = p->c;
    int64_t               lanes = c->core->lanes, in = lanes * c->in_group;
    int64_t               pair = block / c->in_group, from = pair * 2 * lanes;
    int64_t               width = 2 * pair + 1 < c->out_group ? 2 * lanes : lanes;
    int64_t               n     = c->out_channels - from < width ? c->out_channels - from : width;
    int64_t               i     = block % c->in_group * lanes;
    int64_t               end   = i + lanes < c->in_channels ? i + lanes : c->in_channels;
    int                   side  = c->m + 2;
    double                w[9][2 * CQ_MAX_LANES];

    for (; i < end; i++) {
        for (int64_t o = 0; o < n; o++)
            for (int k = 0; k < 9; k++)
                w[k][o] = (double)p->w[((from + o) * c->in_channels + i) * 9 + k];
        pack_weights(p, w, n, c->w + pair * 2 * lanes * in * side * side + i * width, in * width);
    }
    return CQ_OK;
}

static cq_status prepare(cq_bconv *c, const cq_bconv_spec *spec)
{
    struct packing p = { .c = c, .w = cq_tensor_data(spec->w) };

    c->m = spec->places > 0 && spec->places <= SMALL_IMAGE ? 2 : 4;
    weight_matrix(p.g, c->m);
    CQ_TRY(cq_bconv_alloc(&c->w, (c->m + 2) * (c->m + 2), c->in_group * c->core->lanes,
                          c->out_group * c->core->lanes));
    return cq_parallel_for((c->out_group + 1) / 2 * c->in_group, pack_block, &p);
}

/* ---- how it is cut ---- */

struct winograd {
    const cq_bconv      *c;
    const cq_bconv_call *call;
    int                  side, n_elements;
    int64_t              across, down; /* tiles of an image */
    int64_t              n_tiles, n_pairs;
    int64_t              block;          /* tiles at a time */
    int64_t              v_step, m_step; /* from element to element */
    bool                 is_shared;
    float               *v, *m; /* is_shared: all v, then a part of m for each lane */
};

static cq_status init(struct winograd *w, const cq_bconv *c, const cq_bconv_call *call)
{
    int64_t lanes = c->core->lanes, rows = c->core->tile_rows, in = c->in_group * lanes, per_tile;

    *w            = (struct winograd){ .c = c, .call = call, .side = c->m + 2 };
    w->n_elements = w->side * w->side;
    w->across     = (call->out_size[1] + c->m - 1) / c->m;
    w->down       = (call->out_size[0] + c->m - 1) / c->m;
    w->n_pairs    = (c->out_group + 1) / 2;
    if (__builtin_mul_overflow(w->across, w->down, &w->n_tiles) ||
        __builtin_mul_overflow(w->n_tiles, call->batch, &w->n_tiles))
        return cq_no_memory();
    w->is_shared =
        w->n_tiles <= FEW_TILES &&
        (w->n_tiles < MIN_TILES || w->n_elements * in * c->out_group * lanes > FEW_WEIGHTS);
    per_tile = w->n_elements * in * (int64_t)sizeof(float);
    w->block = V_BYTES / per_tile / rows * rows;
    w->block = w->block < MIN_TILES ? MIN_TILES : w->block > MAX_TILES ? MAX_TILES : w->block;
    if (w->is_shared)
        w->block = w->n_tiles;
    else if (w->n_tiles <= FEW_TILES) /* as many for each thread */
        w->block = (w->n_tiles + call->lanes - 1) / call->lanes;
    w->v_step = w->block * in + PAD;
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

/* Tile number tile, all blocks of channels, to row `row` of v. */
static void transform(const struct winograd *w, float *v, int64_t tile, int64_t row)
{
    const cq_bconv_call *call  = w->call;
    int64_t              lanes = w->c->core->lanes;
    int64_t              image = tile / (w->across * w->down), in = w->c->in_group;
    int64_t              y     = tile / w->across % w->down * w->c->m - call->padding[0];
    int64_t              x     = tile % w->across * w->c->m - call->padding[1];
    int64_t              plane = call->in[0] * call->in[1] * lanes;
    cq_core_winograd     t     = { .m      = w->c->m,
                                   .x_row  = call->in[1] * lanes,
                                   .y0     = y < 0 ? (int)-y : 0,
                                   .y1     = inside(y, call->in[0], w->side),
                                   .x0     = x < 0 ? (int)-x : 0,
                                   .x1     = inside(x, call->in[1], w->side),
                                   .v_step = w->v_step };

    for (int64_t b = 0; b < in; b++) {
        t.x = call->x + (image * in + b) * plane + (y * call->in[1] + x) * lanes;
        t.v = v + (row * in + b) * lanes;
        w->c->core->winograd(&t);
    }
}

/* One pair of output blocks of n tiles in v, through m, to the output. */
static void multiply(const struct winograd *w, const float *v, float *m, int64_t pair,
                     int64_t first, int64_t n)
{
    static const int64_t no_offset = 0;
    const cq_bconv      *c         = w->c;
    int64_t              lanes = c->core->lanes, in = c->in_group * lanes;
    int                  vectors = 2 * pair + 1 < c->out_group ? 2 : 1;
    const float         *u       = c->w + pair * 2 * lanes * in * w->n_elements;

    for (int e = 0; e < w->n_elements; e++) {
        cq_core_tile t = { .w          = u + e * in * lanes * vectors,
                           .offsets    = &no_offset,
                           .n_steps    = 1,
                           .kc         = c->in_channels,
                           .prefetch   = in * lanes * vectors,
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
        cq_core_unwinograd   t     = { .m       = c->m,
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

const cq_bconv_way cq_bconv_winograd = { prepare, scratch, run };
