/* Depthwise convolutions of blocked images: channel by channel, a vector of them at a time. */
#include "kernel/bconv_types.h"

#include "base/thread.h"

#include <string.h>

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static bool multiply(int64_t *io, int64_t by)
{
    return !__builtin_mul_overflow(*io, by, io);
}

enum {
    BAND_FLOATS = 1 << 14, /* of a padded band of rows */
    BAND_WORK   = 1 << 14, /* multiplications of vectors in a block of work */
    WIDE        = 24,      /* results of a row from which edges are done apart */
    EDGE_TAPS   = 128
};

/* [block][tap][lanes] */
static cq_status depthwise_prepare(cq_bconv *c, const cq_bconv_spec *spec)
{
    int64_t      taps = c->kernel[0] * c->kernel[1], lanes = c->core->lanes;
    const float *w = cq_tensor_data(spec->w);

    CQ_TRY(cq_bconv_alloc(&c->w, cq_core_blocks(c->core, c->groups), taps, lanes));
    for (int64_t i = 0; i < c->groups; i++)
        for (int64_t tap = 0; tap < taps; tap++)
            c->w[(i / lanes * taps + tap) * lanes + i % lanes] = w[i * taps + tap];
    return CQ_OK;
}

/* Planes are cut into bands of rows. A lane copies the rows that a band needs, with their
 * padding, so that no place is at an edge any more. Where rows are wide, that would be most of the
 * work: windows inside are read where they lie, and each at an edge is copied alone. */
struct depthwise {
    const cq_bconv      *c;
    const cq_bconv_call *call;
    cq_padded            image;
    int64_t              planes, rows, bands; /* rows of a band, bands of a plane */
    int64_t              in_rows, floats;     /* of a padded band */
    int64_t              step;                /* bands in a block of work */
    int64_t             *offsets;
    bool                 is_wide;
    int64_t              inner[2]; /* is_wide: results of a row whose windows are inside */
};

static void see_edges(struct depthwise *d)
{
    const cq_bconv      *c    = d->c;
    const cq_bconv_call *call = d->call;
    int64_t              pad  = call->padding[1] > 0 ? call->padding[1] : 0;
    int64_t last = call->in[1] + call->padding[1] - (c->kernel[1] - 1) * c->dilation[1] - 1;

    d->inner[0] = (pad + c->stride[1] - 1) / c->stride[1];
    d->inner[1] = last < 0 ? 0 : smaller(last / c->stride[1] + 1, call->out_size[1]);
    d->is_wide  = d->image.is_copy && d->inner[1] - d->inner[0] >= WIDE &&
                 c->kernel[0] * c->kernel[1] <= EDGE_TAPS;
    if (!d->is_wide)
        return;
    d->image.is_copy = false;
    d->image.size[0] = call->in[0];
    d->image.size[1] = call->in[1];
}

static cq_status depthwise_init(struct depthwise *d, const cq_bconv *c, const cq_bconv_call *call)
{
    int64_t row, reach = (c->kernel[0] - 1) * c->dilation[0] + 1;

    *d = (struct depthwise){ .c = c, .call = call };
    cq_padded_init(&d->image, c, call);
    see_edges(d);
    row        = d->image.size[1] * d->image.pixel;
    d->planes  = call->batch * cq_core_blocks(c->core, c->groups);
    d->rows    = BAND_FLOATS / row > reach ? (BAND_FLOATS / row - reach) / c->stride[0] + 1 : 1;
    d->rows    = smaller(d->rows, call->out_size[0]);
    d->bands   = (call->out_size[0] + d->rows - 1) / d->rows;
    d->in_rows = (d->rows - 1) * c->stride[0] + reach;
    d->floats  = d->image.is_copy ? d->in_rows : 0;
    d->step    = BAND_WORK / (d->rows * call->out_size[1] * c->kernel[0] * c->kernel[1] + 1) + 1;
    return multiply(&d->floats, row) ? CQ_OK : cq_no_memory();
}

static cq_status depthwise_scratch(int64_t *out, const cq_bconv *c, const cq_bconv_call *call)
{
    struct depthwise d;

    CQ_TRY(depthwise_init(&d, c, call));
    *out = d.floats;
    if (multiply(out, call->lanes) &&
        !__builtin_add_overflow(*out, 2 * c->kernel[0] * c->kernel[1], out))
        return CQ_OK;
    return cq_no_memory();
}

/* One result whose window is partly outside: t has all but x, offsets and where it goes. */
static void edge_pixel(const struct depthwise *d, cq_core_taps t, const float *plane, int64_t at,
                       int64_t y, int64_t x)
{
    const cq_bconv      *c    = d->c;
    const cq_bconv_call *call = d->call;
    int64_t              offsets[EDGE_TAPS], n = 0;
    float                window[EDGE_TAPS * CQ_MAX_LANES];
    const int64_t        lanes = c->core->lanes;

    for (int64_t i = 0; i < c->kernel[0]; i++)
        for (int64_t k = 0; k < c->kernel[1]; k++, n++) {
            int64_t row = y * c->stride[0] - call->padding[0] + i * c->dilation[0];
            int64_t col = x * c->stride[1] - call->padding[1] + k * c->dilation[1];

            offsets[n] = n * lanes;
            if (row >= 0 && row < call->in[0] && col >= 0 && col < call->in[1])
                memcpy(window + n * lanes, plane + (row * call->in[1] + col) * lanes,
                       lanes * sizeof *window);
            else
                memset(window + n * lanes, 0, lanes * sizeof *window);
        }
    t.x       = window;
    t.offsets = offsets;
    t.n       = 1;
    t.out += (at + x) * lanes;
    t.finish.add = t.finish.add ? t.finish.add + (at + x) * lanes : NULL;
    c->core->depthwise(&t);
}

/* A row of a wide image; t.out and t.finish.add are of the whole tensor. */
static void wide_row(const struct depthwise *d, cq_core_taps t, const float *plane, int64_t at,
                     int64_t y)
{
    const cq_bconv      *c    = d->c;
    const cq_bconv_call *call = d->call;
    int64_t first = y * c->stride[0] - call->padding[0], last = first, from = 0, n = c->kernel[0];
    const int64_t lanes = c->core->lanes;

    for (int64_t x = 0; x < d->inner[0]; x++)
        edge_pixel(d, t, plane, at, y, x);
    for (int64_t x = d->inner[1]; x < call->out_size[1]; x++)
        edge_pixel(d, t, plane, at, y, x);
    /* Rows of the kernel that are inside follow one another, and so do their weights. */
    while (n > 0 && first + from * c->dilation[0] < 0)
        from++, n--;
    last += (c->kernel[0] - 1) * c->dilation[0];
    for (; n > 0 && last >= call->in[0]; last -= c->dilation[0])
        n--;
    at += d->inner[0];
    t.x = plane + (first * call->in[1] + d->inner[0] * c->stride[1] - call->padding[1]) * lanes;
    t.w += from * c->kernel[1] * lanes;
    t.offsets += from * c->kernel[1];
    t.n_taps = n * c->kernel[1];
    t.n      = d->inner[1] - d->inner[0];
    t.out += at * lanes;
    t.finish.add = t.finish.add ? t.finish.add + at * lanes : NULL;
    c->core->depthwise(&t);
}

static void depthwise_band(const struct depthwise *d, int64_t band, float *room)
{
    const cq_bconv      *c     = d->c;
    const cq_bconv_call *call  = d->call;
    int64_t              plane = band / d->bands, y0 = band % d->bands * d->rows;
    int64_t              n     = smaller(d->rows, call->out_size[0] - y0);
    int64_t              block = plane % cq_core_blocks(c->core, c->groups);
    int64_t              lanes = d->image.pixel, row = d->image.size[1] * lanes;
    const float         *x = call->x + plane * call->in[0] * call->in[1] * lanes;
    cq_core_taps         t = { .step    = c->stride[1] * lanes,
                               .n       = call->out_size[1],
                               .w       = c->w + block * c->kernel[0] * c->kernel[1] * lanes,
                               .offsets = d->offsets,
                               .n_taps  = c->kernel[0] * c->kernel[1],
                               .finish  = cq_bconv_finish(c, call) };

    t.finish.bias = c->bias + block * lanes;
    if (d->image.is_copy) {
        int64_t end = (n - 1) * c->stride[0] + (c->kernel[0] - 1) * c->dilation[0] + 1;

        for (int64_t i = 0; i < end; i++)
            cq_padded_row(&d->image, room + i * row, plane, y0 * c->stride[0] + i);
        x = room;
    } else {
        x += y0 * c->stride[0] * row;
    }
    for (int64_t y = 0; y < n; y++) {
        int64_t at = ((plane * call->out_size[0] + y0 + y) * call->out_size[1]) * lanes;

        if (d->is_wide) {
            t.out        = call->out;
            t.finish.add = call->add;
            wide_row(d, t, call->x + plane * call->in[0] * call->in[1] * lanes, at / lanes, y0 + y);
            cq_bconv_activate(c, call, call->out + at, call->out_size[1] * lanes);
            continue;
        }
        t.x          = x + y * c->stride[0] * row;
        t.out        = call->out + at;
        t.finish.add = call->add ? call->add + at : NULL;
        c->core->depthwise(&t);
        cq_bconv_activate(c, call, t.out, t.n * lanes);
    }
}

static cq_status depthwise_block(void *user, int64_t block, int lane)
{
    const struct depthwise *d   = user;
    int64_t                 end = smaller((block + 1) * d->step, d->planes * d->bands);

    for (int64_t i = block * d->step; i < end; i++)
        depthwise_band(d, i, d->call->scratch + lane * d->floats);
    return CQ_OK;
}

static cq_status depthwise_run(const cq_bconv *c, const cq_bconv_call *call)
{
    struct depthwise d;
    int64_t          n = 0;

    CQ_TRY(depthwise_init(&d, c, call));
    d.offsets = (int64_t *)(call->scratch + call->lanes * d.floats);
    for (int64_t y = 0; y < c->kernel[0]; y++)
        for (int64_t x = 0; x < c->kernel[1]; x++)
            d.offsets[n++] =
                (y * c->dilation[0] * d.image.size[1] + x * c->dilation[1]) * c->core->lanes;
    return cq_parallel_lanes((d.planes * d.bands + d.step - 1) / d.step, call->lanes,
                             depthwise_block, &d);
}

const cq_bconv_way cq_bconv_depthwise = { depthwise_prepare, depthwise_scratch, depthwise_run };
