/* Prepares blocked convolutions, and computes them as products. Winograd convolution and depthwise
 * convolution are in winograd.c and depthwise.c.
 *
 * A product computes some pixels by two vectors of output channels. The feature map is copied with
 * its padding if it has any, so that every window has the same offsets from its first pixel; the
 * inner loop needs one pointer per window and one list of offsets. A feature map of few channels is
 * copied with channels innermost; a row of the window is then contiguous. */
#include "kernel/conv/bconv.h"

#include "base/huge_pages.h"
#include "base/thread.h"
#include "kernel/matrix/bands.h"
#include "kernel/conv/bconv_types.h"
#include "kernel/operand.h"

#include <string.h>

enum {
    K_BLOCK =
        256, /* values of k processed at a time, so that a panel of weights stays in the L1 cache */
    PIXELS     = CQ_PIXEL_BLOCK,
    MIN_BLOCKS = 8, /* with fewer blocks, output channels are split too */
    MAX_JOINED = 4, /* limit for joining groups of few channels: the factor of multiplications */
    MAX_STEPS  = 1 << 20
};

void cq_bconv_activate(const cq_bconv *c, const cq_bconv_call *call, float *x, int64_t n)
{
    if (c->activates && !call->unlimited)
        cq_core_activate(c->core, x, n, c->act, &c->act_params);
}

cq_status cq_bconv_alloc_unset(float **out, int64_t a, int64_t b, int64_t c)
{
    int64_t n;

    *out = NULL;
    if (__builtin_mul_overflow(a, b, &n) || __builtin_mul_overflow(n, c, &n) ||
        __builtin_mul_overflow(n, (int64_t)sizeof **out, &n))
        return cq_no_memory();
    *out = cq_huge_alloc((size_t)n);
    return *out ? CQ_OK : CQ_E_NO_MEMORY;
}

cq_status cq_bconv_alloc(float **out, int64_t a, int64_t b, int64_t c)
{
    CQ_TRY(cq_bconv_alloc_unset(out, a, b, c));
    memset(*out, 0, sizeof **out * (size_t)(a * b * c));
    return CQ_OK;
}

cq_bconv_taps cq_bconv_taps_of(const cq_bconv_spec *spec)
{
    cq_bconv_taps t = { .w = cq_tensor_data(spec->w) };

    memcpy(t.step, spec->w->strides, sizeof t.step);
    for (size_t i = 2; spec->flips && i < 4; i++) {
        t.w += (cq_size_of(spec->w, i) - 1) * t.step[i];
        t.step[i] = -t.step[i];
    }
    return t;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static bool multiply(int64_t *io, int64_t by)
{
    return !__builtin_mul_overflow(*io, by, io);
}

/* ---- the image with its padding ---- */

void cq_padded_init(cq_padded *p, const cq_bconv *c, const cq_bconv_call *call)
{
    *p         = (cq_padded){ .c     = c,
                              .call  = call,
                              .pixel = c->plain_input ? c->in_channels : c->core->lanes };
    p->is_copy = c->plain_input;
    p->planes  = call->batch * (c->plain_input ? 1 : cq_core_blocks(c->core, c->in_channels));
    for (int i = 0; i < 2; i++) {
        p->size[i] =
            (call->out_size[i] - 1) * c->stride[i] + (c->kernel[i] - 1) * c->dilation[i] + 1;
        p->is_copy |= call->padding[i] != 0 || p->size[i] > call->in[i];
    }
    for (int i = 0; i < 2 && !p->is_copy; i++)
        p->size[i] = call->in[i];
}

static cq_status padded_floats(int64_t *out, const cq_padded *p)
{
    *out = p->is_copy ? p->planes : 0;
    if (multiply(out, p->size[0]) && multiply(out, p->size[1]) && multiply(out, p->pixel))
        return CQ_OK;
    return cq_no_memory();
}

/* n pixels of planes, channels innermost. Compilers vectorize this form. */
static void interleave(float *restrict to, const float *restrict x, int64_t plane, int64_t channels,
                       int64_t n)
{
    if (channels == 3) {
        for (int64_t i = 0; i < n; i++) {
            to[3 * i]     = x[i];
            to[3 * i + 1] = x[plane + i];
            to[3 * i + 2] = x[2 * plane + i];
        }
        return;
    }
    for (int64_t k = 0; k < channels; k++)
        for (int64_t i = 0; i < n; i++)
            to[i * channels + k] = x[k * plane + i];
}

/* Fills one row of the copy. */
void cq_padded_row(const cq_padded *p, float *to, int64_t plane, int64_t y)
{
    const cq_bconv_call *call = p->call;
    int64_t              from = y - call->padding[0], left = call->padding[1];
    int64_t              begin = left > 0 ? left : 0, end = smaller(p->size[1], left + call->in[1]);
    int64_t              pixel = p->pixel, in_plane = call->in[0] * call->in[1];

    if (from < 0 || from >= call->in[0] || end <= begin) {
        memset(to, 0, sizeof *to * (size_t)(p->size[1] * pixel));
        return;
    }
    memset(to, 0, sizeof *to * (size_t)(begin * pixel));
    memset(to + end * pixel, 0, sizeof *to * (size_t)((p->size[1] - end) * pixel));
    if (!p->c->plain_input) {
        memcpy(to + begin * pixel,
               call->x + (plane * in_plane + from * call->in[1] + begin - left) * pixel,
               sizeof *to * (size_t)((end - begin) * pixel));
        return;
    }
    interleave(to + begin * pixel,
               call->x + plane * pixel * in_plane + from * call->in[1] + begin - left, in_plane,
               pixel, end - begin);
}

enum { COPY_FLOATS = 1 << 14 }; /* size of a block of work */

struct copying {
    const cq_padded *p;
    cq_bands         bands;
};

static cq_status copy_block(void *user, int64_t block)
{
    const struct copying *c  = user;
    const cq_padded      *p  = c->p;
    const cq_band         at = cq_bands_at(&c->bands, block);

    for (int64_t plane = at.plane; plane < at.plane_end; plane++)
        for (int64_t y = at.y; y < at.y_end; y++)
            cq_padded_row(p, p->call->scratch + (plane * p->size[0] + y) * p->size[1] * p->pixel,
                          plane, y);
    return CQ_OK;
}

cq_status cq_padded_fill(const cq_padded *p)
{
    struct copying c = { .p = p };

    if (!p->is_copy || !p->planes)
        return CQ_OK;
    c.bands = (cq_bands){ .images = p->call->batch,
                          .planes = p->planes / p->call->batch,
                          .rows   = p->size[0] };
    return cq_parallel_for(cq_bands_cut(&c.bands, p->size[1], p->size[1] * p->pixel, COPY_FLOATS),
                           copy_block, &c);
}

/* ---- products ---- */

/* The number of steps that are summed before a tile is stored. */
static int64_t steps_at_once(const cq_bconv *c)
{
    int64_t n = (c->n_steps * c->kc + K_BLOCK / 2) / K_BLOCK;

    return n > 1 ? (c->n_steps + n - 1) / n : c->n_steps;
}

/* Blocks of output channels are computed in pairs. A remaining single block is paired with
 * zeros. */
static int64_t whole_blocks(const cq_bconv *c)
{
    return c->out_group - (c->ends_in_half ? 1 : 0);
}

static int64_t n_pairs(const cq_bconv *c)
{
    return (whole_blocks(c) + 1) / 2 + (c->ends_in_half ? 1 : 0);
}

static int64_t first_of_pair(const cq_bconv *c, int64_t pair)
{
    return smaller(2 * pair, whole_blocks(c));
}

static int vectors_of_pair(const cq_bconv *c, int64_t pair)
{
    return 2 * pair + 1 < whole_blocks(c) ? 2 : 1;
}

/* In the order in which they are read: [group][steps at once][pair of blocks][step][kc][vectors of
 * the pair]. */
static float *weights_at(const cq_bconv *c, int64_t group, int64_t step, int64_t pair)
{
    int64_t at_once = steps_at_once(c), first = step / at_once * at_once;
    int64_t here = smaller(at_once, c->n_steps - first);

    return c->w + ((group * c->n_steps + first) * c->out_group + first_of_pair(c, pair) * here) *
                      c->kc * c->core->lanes;
}

struct packing {
    const cq_bconv *c;
    cq_bconv_taps   taps;
};

/* Packs one value of k for a pair of blocks: tap `tap` of channel i of the joined group. */
static void pack_row(const struct packing *p, float *to, int64_t group, int64_t pair, int64_t i,
                     int64_t tap)
{
    const cq_bconv *c     = p->c;
    const int64_t  *step  = p->taps.step;
    int64_t         lanes = c->core->lanes;
    int64_t         out   = c->out_channels / c->groups / c->joined; /* of a group of the weight */
    int64_t         in = c->in_channels / c->groups / c->joined, first = i / in * out;
    int64_t         from = first_of_pair(c, pair) * lanes;
    int64_t         end  = smaller(from + vectors_of_pair(c, pair) * lanes, first + out);
    const float    *w    = p->taps.w + group * out * c->joined * step[0] + i % in * step[1] +
                     tap / c->kernel[1] * step[2] + tap % c->kernel[1] * step[3];

    for (int64_t o = from > first ? from : first; o < end && i < in * c->joined; o++)
        to[o - from] = w[o * step[0]];
}

enum { MAX_TAPS = 25 }; /* limit of taps for packing weights in squares */

/* Whether the taps of an output have the layout of a model, [input channel][row][column], and are
 * few. */
static bool is_dense(const struct packing *p)
{
    const cq_bconv *c    = p->c;
    const int64_t  *step = p->taps.step, taps = c->kernel[0] * c->kernel[1];

    return !c->plain_input && c->joined == 1 && taps <= MAX_TAPS && step[3] == 1 &&
           step[2] == c->kernel[1] && step[1] == taps;
}

/* Packs a block of input channels for a pair of blocks, in squares of one vector of outputs.
 * Element by element, the reads would be too far apart for the cache. */
static void pack_square(const struct packing *p, int64_t group, int64_t pair, int64_t block)
{
    const cq_bconv *c    = p->c;
    const int64_t  *step = p->taps.step, lanes = c->core->lanes, taps = c->kernel[0] * c->kernel[1];
    const int64_t   out = c->out_channels / c->groups, in = c->in_channels / c->groups;
    const int64_t n = smaller(lanes, in - block * lanes), width = vectors_of_pair(c, pair) * lanes;
    float         w[MAX_TAPS * CQ_MAX_LANES * CQ_MAX_LANES];

    for (int64_t at = 0; at < width; at += lanes) {
        const int64_t o = first_of_pair(c, pair) * lanes + at;

        if (o >= out)
            break;
        c->core->pack(w, p->taps.w + (group * out + o) * step[0] + block * lanes * step[1], step[0],
                      (int)smaller(lanes, out - o), n * taps);
        for (int64_t tap = 0; tap < taps; tap++) {
            const int64_t s = block * taps + tap, first = s - s % steps_at_once(c);
            float        *to = weights_at(c, group, first, pair) + (s - first) * c->kc * width + at;

            for (int64_t l = 0; l < n; l++)
                memcpy(to + l * width, w + (l * taps + tap) * lanes, sizeof *w * (size_t)lanes);
        }
    }
}

static cq_status pack_pair(void *user, int64_t block)
{
    const struct packing *p     = user;
    const cq_bconv       *c     = p->c;
    int64_t               pairs = n_pairs(c), group = block / pairs;
    int64_t               pair = block % pairs, taps = c->kernel[0] * c->kernel[1];
    int64_t               lanes = c->core->lanes, at_once = steps_at_once(c);
    int64_t               width = vectors_of_pair(c, pair) * lanes;

    if (is_dense(p)) {
        for (int64_t i = 0; i < c->in_group; i++)
            pack_square(p, group, pair, i);
        return CQ_OK;
    }
    for (int64_t first = 0; first < c->n_steps; first += at_once) {
        float *to = weights_at(c, group, first, pair);

        for (int64_t step = first; step < smaller(first + at_once, c->n_steps); step++)
            for (int64_t l = 0; l < c->kc; l++, to += width) {
                int64_t k = step * c->kc + l;

                if (c->plain_input)
                    pack_row(p, to, group, pair, k % c->in_channels, k / c->in_channels);
                else
                    pack_row(p, to, group, pair, step / taps * lanes + l, step % taps);
            }
    }
    return CQ_OK;
}

static cq_status product_prepare(cq_bconv *c, const cq_bconv_spec *spec)
{
    struct packing p    = { c, cq_bconv_taps_of(spec) };
    int64_t        taps = c->kernel[0] * c->kernel[1];
    bool           rows = c->plain_input && c->dilation[1] == 1; /* a step is a row of the window */

    c->kc      = c->plain_input ? (rows ? c->kernel[1] : 1) * c->in_channels : c->core->lanes;
    c->n_steps = c->plain_input ? (rows ? c->kernel[0] : taps) : c->in_group * taps;
    CQ_TRY(cq_bconv_alloc(&c->w, c->groups * c->out_group, c->n_steps * c->kc, c->core->lanes));
    return cq_parallel_for(c->groups * n_pairs(c), pack_pair, &p);
}

struct product {
    const cq_bconv      *c;
    const cq_bconv_call *call;
    cq_padded            image;
    const float         *x;
    int64_t             *offsets;
    int64_t              pixels, n_pixel_blocks, pixel_block; /* of one image */
    int64_t line, apart;     /* pixels with equidistant windows, and their distance in floats */
    int64_t n_chunks, chunk; /* of pairs of output blocks */
};

enum {
    LONG_LINE = 4
}; /* minimum length in tiles; for shorter rows it is better to combine pixels of several rows */

/* Windows of width 1 are adjacent from row to row; others only within a row. */
static void find_lines(struct product *p)
{
    const cq_bconv *c     = p->c;
    const int64_t   width = p->call->out_size[1];

    p->apart = c->stride[1] * p->image.pixel;
    if (c->stride[0] == 1 && c->stride[1] == 1 && p->image.size[1] == width)
        p->line = p->pixels;
    else if (width >= LONG_LINE * c->core->tile_rows)
        p->line = width;
}

static void product_init(struct product *p, const cq_bconv *c, const cq_bconv_call *call)
{
    int64_t pairs = n_pairs(c), rows = c->core->tile_rows, tiles, blocks;

    *p = (struct product){ .c = c, .call = call };
    cq_padded_init(&p->image, c, call);
    p->pixels         = call->out_size[0] * call->out_size[1];
    tiles             = (p->pixels + rows - 1) / rows;
    p->n_pixel_blocks = (p->pixels + PIXELS - 1) / PIXELS;
    p->pixel_block    = (tiles + p->n_pixel_blocks - 1) / p->n_pixel_blocks * rows;
    p->n_pixel_blocks = (p->pixels + p->pixel_block - 1) / p->pixel_block;
    blocks            = p->n_pixel_blocks * call->batch * c->groups;
    p->n_chunks       = blocks < MIN_BLOCKS ? (MIN_BLOCKS + blocks - 1) / blocks : 1;
    p->n_chunks       = smaller(p->n_chunks, pairs);
    p->chunk          = (pairs + p->n_chunks - 1) / p->n_chunks;
    p->n_chunks       = (pairs + p->chunk - 1) / p->chunk;
    find_lines(p);
}

/* Scratch holds the padded image, followed by the offsets of steps. */
static cq_status product_scratch(int64_t *out, const cq_bconv *c, const cq_bconv_call *call)
{
    cq_padded p;

    cq_padded_init(&p, c, call);
    CQ_TRY(padded_floats(out, &p));
    if (__builtin_add_overflow(*out, 2 * c->n_steps + 16, out))
        return cq_no_memory();
    return CQ_OK;
}

static void fill_offsets(const struct product *p)
{
    const cq_bconv *c     = p->c;
    int64_t         plane = p->image.size[0] * p->image.size[1] * p->image.pixel, n = 0;
    bool            rows = c->plain_input && c->dilation[1] == 1;

    for (int64_t block = 0; block < (c->plain_input ? 1 : c->in_group); block++)
        for (int64_t y = 0; y < c->kernel[0]; y++)
            for (int64_t x = 0; x < (rows ? 1 : c->kernel[1]); x++)
                p->offsets[n++] =
                    block * plane +
                    (y * c->dilation[0] * p->image.size[1] + x * c->dilation[1]) * p->image.pixel;
}

/* Sets pointers to the windows of n pixels from first on, in the image at `at`. */
static void point_at(const struct product *p, const float **px, int64_t at, int64_t first,
                     int64_t n)
{
    const cq_bconv *c     = p->c;
    int64_t         width = p->call->out_size[1], y = first / width, x = first % width;

    for (int64_t i = 0; i < n; y++, x = 0) {
        const float *row = p->x + at + y * c->stride[0] * p->image.size[1] * p->image.pixel;

        for (; x < width && i < n; x++, i++)
            px[i] = row + x * c->stride[1] * p->image.pixel;
    }
}

/* Channels of the last block of a group if it is padded with zeros. */
static int64_t rest_of(const cq_bconv *c)
{
    return c->plain_input ? 0 : c->in_channels / c->groups % c->core->lanes;
}

/* Computes n pixels from p0 on, row by row; px points to their windows. */
static void product_tiles(const struct product *p, cq_core_tile *t, int64_t p0, int64_t n,
                          int vectors, const float *const *px)
{
    const int64_t lanes = p->c->core->lanes;
    cq_core_tile  part  = *t;

    if (!p->line) {
        p->c->core->tiles(t, n, vectors, px);
        return;
    }
    part.line = p->apart;
    for (int64_t i = 0, here; i < n; i += here) {
        here        = smaller(n - i, p->line - (p0 + i) % p->line);
        part.out    = t->out + i * lanes;
        part.before = i;
        if (t->finish.add)
            part.finish.add = t->finish.add + i * lanes;
        p->c->core->tiles(&part, here, vectors, px + i);
    }
}

static cq_status product_block(void *user, int64_t block)
{
    const struct product *p = user;
    const cq_bconv       *c = p->c;
    const float          *px[PIXELS + CQ_MAX_TILE_ROWS];
    int64_t               chunk = block % p->n_chunks, rest = block / p->n_chunks;
    int64_t               p0    = rest % p->n_pixel_blocks * p->pixel_block;
    int64_t               n     = smaller(p->pixel_block, p->pixels - p0), group, image, out_at;
    int64_t               plane = p->image.size[0] * p->image.size[1] * p->image.pixel;
    int64_t               steps = steps_at_once(c), lanes = c->core->lanes;
    int64_t               taps = c->kernel[0] * c->kernel[1];

    rest /= p->n_pixel_blocks;
    group = rest % c->groups;
    image = rest / c->groups;
    point_at(p, px, (image * c->groups + group) * (c->plain_input ? 1 : c->in_group) * plane, p0,
             n);
    out_at = ((image * c->groups + group) * c->out_group * p->pixels + p0) * lanes;
    for (int64_t k = 0; k < c->n_steps; k += steps)
        for (int64_t pair = chunk * p->chunk; pair < smaller((chunk + 1) * p->chunk, n_pairs(c));
             pair++) {
            int64_t      first = first_of_pair(c, pair), at = out_at + lanes * first * p->pixels;
            int          vectors = vectors_of_pair(c, pair);
            cq_core_tile t       = { .w          = weights_at(c, group, k, pair),
                                     .offsets    = p->offsets + k,
                                     .n_steps    = smaller(steps, c->n_steps - k),
                                     .kc         = c->kc,
                                     .n_whole    = (c->in_group - 1) * taps - k,
                                     .rest       = rest_of(c),
                                     .is_half    = first == whole_blocks(c),
                                     .out        = p->call->out + at,
                                     .out_row    = lanes,
                                     .out_vector = p->pixels * lanes,
                                     .continues  = k > 0,
                                     .is_last    = k + steps >= c->n_steps,
                                     .finish     = cq_bconv_finish(c, p->call) };

            t.prefetch    = t.n_steps * t.kc * lanes * vectors;
            t.sharers     = n;
            t.finish.bias = c->bias + (group * c->out_group + first) * lanes;
            t.finish.add  = p->call->add ? p->call->add + at : NULL;
            product_tiles(p, &t, p0, n, vectors, px);
            for (int i = 0; t.is_last && i < vectors; i++)
                cq_bconv_activate(c, p->call, t.out + i * t.out_vector, n * lanes);
        }
    return CQ_OK;
}

static cq_status product_run(const cq_bconv *c, const cq_bconv_call *call)
{
    struct product p;
    int64_t        floats;

    product_init(&p, c, call);
    CQ_TRY(padded_floats(&floats, &p.image));
    p.x       = p.image.is_copy ? call->scratch : call->x;
    p.offsets = (int64_t *)(call->scratch + (floats + 15) / 16 * 16);
    fill_offsets(&p);
    CQ_TRY(cq_padded_fill(&p.image));
    return cq_parallel_for(call->batch * c->groups * p.n_pixel_blocks * p.n_chunks, product_block,
                           &p);
}

static const cq_bconv_algorithm by_products = { product_prepare, product_scratch, product_run };

/* ---- choice of the algorithm ---- */

static bool is_depthwise(const cq_bconv_spec *s)
{
    return s->groups > 1 && cq_size_of(s->w, 1) == 1 && cq_size_of(s->w, 0) == s->groups;
}

static bool is_pointwise(const cq_bconv_spec *s)
{
    return !s->plain_input && cq_size_of(s->w, 2) == 1 && cq_size_of(s->w, 3) == 1 &&
           s->stride[0] == 1 && s->stride[1] == 1;
}

/* The number of groups that are joined so that a joined group consists of whole blocks; weights
 * between different groups are zero. 0: too many groups would be joined. */
static int64_t groups_joined(const cq_bconv_spec *s)
{
    int64_t in = cq_size_of(s->w, 1), out = cq_size_of(s->w, 0) / s->groups;
    int     lanes = cq_core_get()->lanes;

    if (s->groups == 1 || is_depthwise(s))
        return 1;
    for (int64_t n = 1; n <= MAX_JOINED; n++)
        if (s->groups % n == 0 && in * n % lanes == 0 && out * n % lanes == 0)
            return n;
    return 0;
}

bool cq_bconv_supports(const cq_bconv_spec *s)
{
    const cq_core *core = cq_core_get();
    int64_t        taps;

    if (s->w->dtype != CQ_DTYPE_F32 || s->w->rank != 4 || !cq_tensor_is_contiguous(s->w) ||
        s->groups < 1 || cq_size_of(s->w, 0) % s->groups || !cq_tensor_numel(s->w))
        return false;
    taps = cq_size_of(s->w, 2) * cq_size_of(s->w, 3);
    if (s->plain_input)
        return s->groups == 1 && cq_size_of(s->w, 1) < core->lanes;
    if (is_depthwise(s))
        return taps <= CQ_DEPTHWISE_TAPS;
    return taps * cq_core_blocks(core, cq_size_of(s->w, 1) * MAX_JOINED) <= MAX_STEPS &&
           groups_joined(s) > 0;
}

/* Whether the last block of a group has no more than half a vector of channels. */
static bool half_is_zero(const cq_bconv *c)
{
    const int64_t last = c->out_channels / c->groups % c->core->lanes;

    return last > 0 && 2 * last <= c->core->lanes;
}

static cq_status prepare(cq_bconv *c, const cq_bconv_spec *s)
{
    int64_t out = cq_size_of(s->w, 0);

    c->core         = cq_core_get();
    c->joined       = groups_joined(s);
    c->groups       = s->groups / c->joined;
    c->in_channels  = cq_size_of(s->w, 1) * s->groups;
    c->out_channels = out;
    c->in_group     = cq_core_blocks(c->core, cq_size_of(s->w, 1) * c->joined);
    c->out_group    = cq_core_blocks(c->core, out / c->groups);
    c->plain_input  = s->plain_input;
    c->activates    = s->activates;
    c->act          = s->act;
    c->act_params   = s->act_params;
    c->finish       = (cq_core_finish){ .clamps = s->clamps, .lo = s->lo, .hi = s->hi };
    for (int i = 0; i < 2; i++) {
        c->kernel[i]   = cq_size_of(s->w, 2 + (size_t)i);
        c->stride[i]   = s->stride[i];
        c->dilation[i] = s->dilation[i];
    }
    c->ends_in_half = is_pointwise(s) && half_is_zero(c);
    c->way          = is_depthwise(s)       ? &cq_bconv_depthwise
                      : cq_winograd_side(s) ? &cq_bconv_winograd
                                            : &by_products;
    CQ_TRY(cq_bconv_alloc(&c->bias, cq_core_blocks(c->core, out), c->core->lanes, 1));
    if (s->bias)
        memcpy(c->bias, s->bias, sizeof *c->bias * (size_t)out);
    return c->way->prepare(c, s);
}

cq_status cq_bconv_new(cq_bconv **out, const cq_bconv_spec *spec)
{
    cq_status status;

    *out = cq_zalloc(sizeof **out);
    if (!*out)
        return CQ_E_NO_MEMORY;
    status = prepare(*out, spec);
    if (status != CQ_OK) {
        cq_bconv_free(*out);
        *out = NULL;
    }
    return status;
}

void cq_bconv_free(cq_bconv *c)
{
    if (!c)
        return;
    cq_huge_free(c->w);
    cq_huge_free(c->bias);
    cq_free(c);
}

int64_t cq_bconv_channels(const cq_bconv *c, bool out)
{
    return out ? c->out_channels : c->in_channels;
}

/* Products that are summed in several passes keep partial sums in the output. In depthwise
 * convolutions the last pixels of a row may be computed twice. */
bool cq_bconv_adds_in_place(const cq_bconv *c)
{
    return c->way == &cq_bconv_winograd ||
           (c->way == &by_products && steps_at_once(c) >= c->n_steps);
}

cq_status cq_bconv_scratch(int64_t *out, const cq_bconv *c, const cq_bconv_call *call)
{
    return c->way->scratch(out, c, call);
}

cq_status cq_bconv_run(const cq_bconv *c, const cq_bconv_call *call)
{
    return c->way->run(c, call);
}
