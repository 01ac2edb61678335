/* Depthwise convolutions of blocked images: each vector of channels is computed separately. */
#include "kernel/conv/bconv_types.h"

#include "base/thread.h"
#include "kernel/matrix/bands.h"

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
    PLANE_FLOATS = 1 << 14, /* maximum size of a plane that is copied with its padding */
    BLOCK_WORK   = 1 << 14, /* vector multiplications per block of work */
    WIDE         = 12       /* from this many results per row on, edges are computed separately */
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

/* A narrow plane is copied with its padding, so that no position is a border case; the zeros are
 * reused from plane to plane. For wide rows the copy would be most of the work: windows are read in
 * place, and windows at a border are clipped. */
struct depthwise {
    const cq_bconv      *c;
    const cq_bconv_call *call;
    cq_padded            image; /* is_copy: copied planes are in the scratch memory of the thread */
    int64_t              floats; /* floats of a copied plane */
    int64_t  inner[2][2]; /* ranges of rows and of results of a row whose windows are inside */
    cq_bands bands;
};

/* Results along an axis whose windows are inside: [first, end). */
static void inside(int64_t *out, const cq_bconv *c, const cq_bconv_call *call, int axis)
{
    int64_t pad = call->padding[axis], stride = c->stride[axis];
    int64_t last = call->in[axis] + pad - (c->kernel[axis] - 1) * c->dilation[axis] - 1;

    out[0] = smaller(((pad > 0 ? pad : 0) + stride - 1) / stride, call->out_size[axis]);
    out[1] = last < 0 ? 0 : smaller(last / stride + 1, call->out_size[axis]);
    out[1] = out[1] > out[0] ? out[1] : out[0];
}

static cq_status depthwise_init(struct depthwise *d, const cq_bconv *c, const cq_bconv_call *call)
{
    *d = (struct depthwise){ .c = c, .call = call };
    cq_padded_init(&d->image, c, call);
    for (int i = 0; i < 2; i++)
        inside(d->inner[i], c, call, i);
    d->floats = d->image.pixel;
    if (!multiply(&d->floats, d->image.size[0]) || !multiply(&d->floats, d->image.size[1]))
        return cq_no_memory();
    d->image.is_copy &= d->inner[1][1] - d->inner[1][0] < WIDE && d->floats <= PLANE_FLOATS;
    d->floats = d->image.is_copy ? d->floats : 0;
    return CQ_OK;
}

static cq_status depthwise_scratch(int64_t *out, const cq_bconv *c, const cq_bconv_call *call)
{
    struct depthwise d;

    CQ_TRY(depthwise_init(&d, c, call));
    *out = d.floats;
    return multiply(out, call->lanes) ? CQ_OK : cq_no_memory();
}

/* n results from (y, x) on, in a row or a column, whose windows are clipped in the same way; t has
 * the common fields and the first result of the plane. */
static void part_of(const struct depthwise *d, cq_core_taps t, const float *plane, int64_t y,
                    int64_t x, int64_t n, bool down)
{
    const cq_bconv      *c     = d->c;
    const cq_bconv_call *call  = d->call;
    const int64_t        lanes = c->core->lanes, at = (y * call->out_size[1] + x) * lanes;
    int64_t              row = y * c->stride[0] - call->padding[0];
    int64_t              col = x * c->stride[1] - call->padding[1], ky[2], kx[2];

    cq_core_inside(ky, row, c->kernel[0], c->dilation[0], call->in[0]);
    cq_core_inside(kx, col, c->kernel[1], c->dilation[1], call->in[1]);
    t.n = n;
    t.out += at;
    t.finish.add = t.finish.add ? t.finish.add + at : NULL;
    if (down) {
        t.step     = c->stride[0] * call->in[1] * lanes;
        t.out_step = call->out_size[1] * lanes;
    }
    t.cols = kx[1] - kx[0];
    t.rows = t.cols > 0 ? ky[1] - ky[0] : 0;
    t.x    = plane; /* not read if there are no taps */
    if (t.rows > 0) {
        t.w += ky[0] * t.w_row + kx[0] * lanes;
        t.x = plane +
              ((row + ky[0] * c->dilation[0]) * call->in[1] + col + kx[0] * c->dilation[1]) * lanes;
    }
    c->core->depthwise(&t);
}

/* Results of rows [y, end) of a plane that is not copied, at its left and right: several at once
 * where windows do not reach above or below. */
static void cut_columns(const struct depthwise *d, const cq_core_taps *t, const float *plane,
                        int64_t y, int64_t end)
{
    const int64_t *rows = d->inner[0], *cols = d->inner[1];

    for (int64_t x = 0; x < d->call->out_size[1]; x++)
        if (x < cols[0] || x >= cols[1])
            for (int64_t i = y, n; i < end; i += n) {
                n = i >= rows[0] && i < rows[1] ? smaller(end, rows[1]) - i : 1;
                part_of(d, *t, plane, i, x, n, true);
            }
        else
            x = cols[1] - 1;
}

/* Rows of the copy, from *done on, that result row y needs and that are inside the image. */
static void copy_rows(const struct depthwise *d, float *room, const float *plane, int64_t y,
                      int64_t *done)
{
    const cq_bconv      *c    = d->c;
    const cq_bconv_call *call = d->call;
    int64_t              end  = y * c->stride[0] + (c->kernel[0] - 1) * c->dilation[0] + 1;
    int64_t              left = call->padding[1], lanes = c->core->lanes;
    int64_t from = left < 0 ? -left : 0, to = smaller(call->in[1], d->image.size[1] - left);

    for (; *done < end; ++*done) {
        int64_t row = *done - call->padding[0];

        if (row >= 0 && row < call->in[0] && from < to)
            memcpy(room + (*done * d->image.size[1] + left + from) * lanes,
                   plane + (row * call->in[1] + from) * lanes,
                   sizeof *room * (size_t)((to - from) * lanes));
    }
}

/* Rows [y, end) of a plane; room has zeros where its padding is. */
static void plane_rows(const struct depthwise *d, int64_t plane, int64_t y, int64_t end,
                       float *room)
{
    const cq_bconv      *c     = d->c;
    const cq_bconv_call *call  = d->call;
    const int64_t        lanes = c->core->lanes, row = call->out_size[1] * lanes;
    const int64_t        width = d->image.is_copy ? d->image.size[1] : call->in[1];
    const int64_t        block = plane % cq_core_blocks(c->core, c->groups);
    const float         *x     = call->x + plane * call->in[0] * call->in[1] * lanes;
    int64_t              at = plane * call->out_size[0] * row, done = y * c->stride[0];
    cq_core_taps         t = { .step     = c->stride[1] * lanes,
                               .n        = call->out_size[1],
                               .rows     = c->kernel[0],
                               .cols     = c->kernel[1],
                               .x_row    = c->dilation[0] * width * lanes,
                               .x_col    = c->dilation[1] * lanes,
                               .w        = c->w + block * c->kernel[0] * c->kernel[1] * lanes,
                               .w_row    = c->kernel[1] * lanes,
                               .out      = call->out + at,
                               .out_step = lanes,
                               .finish   = cq_bconv_finish(c, call) };

    t.finish.bias = c->bias + block * lanes;
    t.finish.add  = call->add ? call->add + at : NULL;
    if (!d->image.is_copy)
        cut_columns(d, &t, x, y, end);
    for (; y < end; y++) {
        if (d->image.is_copy) {
            copy_rows(d, room, x, y, &done);
            t.x          = room + y * c->stride[0] * width * lanes;
            t.out        = call->out + at + y * row;
            t.finish.add = call->add ? call->add + at + y * row : NULL;
            c->core->depthwise(&t);
        } else if (d->inner[1][0] < d->inner[1][1]) {
            part_of(d, t, x, y, d->inner[1][0], d->inner[1][1] - d->inner[1][0], false);
        }
        cq_bconv_activate(c, call, call->out + at + y * row, row);
    }
}

static cq_status depthwise_block(void *user, int64_t block, int lane)
{
    const struct depthwise *d    = user;
    const cq_band           at   = cq_bands_at(&d->bands, block);
    float                  *room = d->floats ? d->call->scratch + lane * d->floats : NULL;

    if (room)
        memset(room, 0, sizeof *room * (size_t)d->floats);
    for (int64_t plane = at.plane; plane < at.plane_end; plane++)
        plane_rows(d, plane, at.y, at.y_end, room);
    return CQ_OK;
}

static cq_status depthwise_run(const cq_bconv *c, const cq_bconv_call *call)
{
    const int64_t    width = call->out_size[1];
    struct depthwise d;

    CQ_TRY(depthwise_init(&d, c, call));
    d.bands = (cq_bands){ .images = call->batch,
                          .planes = cq_core_blocks(c->core, c->groups),
                          .rows   = call->out_size[0] };
    return cq_parallel_lanes(
        cq_bands_cut(&d.bands, width, width * c->kernel[0] * c->kernel[1], BLOCK_WORK), call->lanes,
        depthwise_block, &d);
}

const cq_bconv_algorithm cq_bconv_depthwise = { depthwise_prepare, depthwise_scratch,
                                                depthwise_run };
