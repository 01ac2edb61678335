/* The algorithm is that of blocked convolutions by products (bconv.c): with explicit padding every
 * window has the same offsets from its first pixel. Channels are innermost, so a row of the window
 * is contiguous. */
#include "kernel/conv/qconv.h"

#include "base/huge_pages.h"
#include "base/thread.h"
#include "kernel/isa.h"

#include <string.h>

enum {
    PIXELS    = 112,     /* maximum pixels of a block */
    WORK      = 1 << 20, /* approximate number of products per block */
    MAX_SUM   = 1 << 16, /* maximum number of products per result: each is up to 2^16 * 2^15 */
    SLACK     = 64,      /* bytes after a feature map that may be read */
    BAND      = 1 << 15, /* approximate number of elements that a depthwise band reads */
    COPY_ROWS = 16,
    FEW_PAIRS = 2,  /* pairs of vectors that are packed first to estimate the limits */
    LOOKS     = 64, /* pieces of a feature map that are inspected */
    LOOK      = 64  /* elements each */
};

struct cq_qconv {
    const cq_quant_core *core;
    cq_qconv_spec        spec;
    int64_t              vectors;     /* of output channels */
    int64_t              n_steps, kc; /* kc: words */
    int64_t              size;        /* bytes of an element in the multiplied type */
    int32_t             *w;
    cq_quant_limits     *limits; /* [pair of vectors][step][kc], or NULL */
    int32_t             *sums;   /* of the weights of each output channel */
    cq_qconv *wide; /* the same in 16 bits, for inputs that exceed most limits; or NULL */
};

const cq_quant_core *cq_quant_core_get(void)
{
    return cq_isa_get()->quant;
}

/* Fractions of words, see limits_kept. */
static const double MANY = 0.25, MOST = 0.9;

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t padded(int64_t channels)
{
    return (channels + CQ_QUANT_UNIT - 1) / CQ_QUANT_UNIT * CQ_QUANT_UNIT;
}

static bool is_depthwise(const cq_qconv_spec *s)
{
    return s->groups > 1;
}

bool cq_qconv_supports(const cq_qconv_spec *s)
{
    int64_t n = s->kernel[0];

    if (s->groups > 1 && (s->groups != s->in || s->groups != s->out))
        return false;
    return s->out > 0 && s->in > 0 && n > 0 && s->kernel[1] > 0 &&
           !__builtin_mul_overflow(n, s->kernel[1], &n) &&
           !__builtin_mul_overflow(n, padded(s->in / s->groups), &n) && n <= MAX_SUM;
}

/* ---- packing ---- */

/* Weights of output channel o at a tap; from one input channel to the next it is step[1]. */
static const int8_t *weights(const cq_qconv_spec *s, int64_t o, int64_t tap)
{
    return s->w + o * s->step[0] + tap / s->kernel[1] * s->step[2] +
           tap % s->kernel[1] * s->step[3];
}

/* From one word of an output channel to the next: pairs of vectors, the last of which may be
 * alone. */
static int64_t width_at(const cq_qconv *c, int64_t o)
{
    int64_t lanes = c->core->lanes;

    return o / (2 * lanes) * 2 + 1 < c->vectors ? 2 * lanes : lanes;
}

/* The first word of output channel o. */
static int32_t *words_of(const cq_qconv *c, int64_t o)
{
    int64_t pair = 2 * c->core->lanes;

    return c->w + o / pair * pair * c->n_steps * c->kc + o % pair;
}

static cq_status pack_channel(void *user, int64_t o)
{
    const cq_qconv      *c    = user;
    const cq_qconv_spec *s    = &c->spec;
    int64_t              taps = s->kernel[0] * s->kernel[1], width = width_at(c, o);
    int64_t              from = s->step[1], channels = padded(s->in);
    int8_t              *bytes = (int8_t *)words_of(c, o);
    int16_t             *wide  = (int16_t *)(void *)bytes;
    int32_t              sum   = 0;

    for (int64_t tap = 0; tap < taps; tap++) {
        const int8_t *w = weights(s, o, tap);

        for (int64_t i = 0, at = tap * channels; i < s->in; i++, at++) {
            if (c->size == 1)
                bytes[at / 4 * width * 4 + at % 4] = w[i * from];
            else
                wide[at / 2 * width * 2 + at % 2] = w[i * from];
            sum += w[i * from];
        }
    }
    c->sums[o] = sum;
    return CQ_OK;
}

/* [vector of channels][word][lane], one or two taps in a word. */
static cq_status pack_depthwise(void *user, int64_t o)
{
    const cq_qconv      *c     = user;
    const cq_qconv_spec *s     = &c->spec;
    int64_t              lanes = c->core->lanes, taps = c->core->taps, words = c->n_steps / taps;

    for (int64_t tap = 0; tap < s->kernel[0] * s->kernel[1]; tap++) {
        int64_t  at   = (o / lanes * words + tap / taps) * lanes + o % lanes;
        int16_t *word = (int16_t *)(void *)(c->w + at);

        word[tap % taps] = *weights(s, o, tap);
        c->sums[o] += word[tap % taps];
    }
    return CQ_OK;
}

/* For one word: the sums of the positive and of the negative weights of each pair, per lane. */
struct sides {
    int16_t above[4 * CQ_MAX_LANES], below[4 * CQ_MAX_LANES];
};

static void sides_of(struct sides *s, const int16_t *twos, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        int16_t low = (int8_t)twos[i], high = (int16_t)(twos[i] >> 8);

        s->above[i] = (int16_t)((low > 0 ? low : 0) + (high > 0 ? high : 0));
        s->below[i] = (int16_t)((low < 0 ? low : 0) + (high < 0 ? high : 0));
    }
}

/* The largest input for which the sums of two words fit into 16 bits. Products of one sign are the
 * worst case. */
static uint8_t limit_of(const struct sides *a, const struct sides *b, int64_t n)
{
    int16_t most = 1, least = -1;

    for (int64_t i = 0; i < n; i++) {
        int16_t above = (int16_t)(a->above[i] + b->above[i]);
        int16_t below = (int16_t)(a->below[i] + b->below[i]);

        most  = above > most ? above : most;
        least = below < least ? below : least;
    }
    return (uint8_t)smaller(INT16_MAX / (most > -least ? most : -least), UINT8_MAX);
}

static cq_status limit_pair(void *user, int64_t pair)
{
    static const struct sides none;
    const cq_qconv           *c     = user;
    int64_t                   first = pair * 2 * c->core->lanes, width = width_at(c, first);
    int64_t                   n      = c->n_steps * c->kc;
    const int16_t            *twos   = (const int16_t *)(const void *)words_of(c, first);
    cq_quant_limits          *limits = c->limits + pair * n;
    struct sides              word, before;

    for (int64_t i = 0; i < n; i++, twos += 2 * width) {
        sides_of(&word, twos, 2 * width);
        limits[i] = (cq_quant_limits){ limit_of(&word, &none, 2 * width), 0 };
        if (i % c->kc)
            limits[i - 1].of_two = limit_of(&before, &word, 2 * width);
        before = word;
    }
    return CQ_OK;
}

/* The fraction of words whose sums fit: pairs of words with 7-bit inputs, and single words with
 * 8-bit inputs. Models with 8-bit weights mostly use 7-bit inputs, because other runtimes
 * saturate. */
static void limits_kept(double *two_of_7, double *one_of_8, const cq_qconv *c, int64_t pairs)
{
    int64_t n = c->n_steps * c->kc * pairs, two = 0, one = 0;

    for (int64_t i = 0; i < n; i++) {
        two += c->limits[i].of_two >= INT8_MAX;
        one += c->limits[i].of_one == UINT8_MAX;
    }
    *two_of_7 = (double)two / (double)n;
    *one_of_8 = (double)one / (double)n;
}

/* Counts the words for elements of size bytes, and their bytes. */
static cq_status measure(int64_t *bytes, cq_qconv *c, int64_t size)
{
    const cq_qconv_spec *s    = &c->spec;
    bool                 rows = s->dilation[1] == 1; /* a step is a row of the window */

    c->size    = size;
    c->kc      = is_depthwise(s) ? 1 : padded(s->in) * size / 4 * (rows ? s->kernel[1] : 1);
    c->n_steps = s->kernel[0] * (rows && !is_depthwise(s) ? 1 : s->kernel[1]);
    if (is_depthwise(s))
        c->n_steps = (c->n_steps + c->core->taps - 1) / c->core->taps * c->core->taps;
    if (__builtin_mul_overflow(c->n_steps * c->kc, cq_qconv_padded(c) * (int64_t)sizeof *c->w,
                               bytes))
        return cq_no_memory();
    return CQ_OK;
}

static cq_status new_of(cq_qconv **out, const cq_qconv_spec *spec,
                        cq_status (*pack_all)(cq_qconv *c))
{
    cq_qconv *c = *out = cq_zalloc(sizeof *c);
    cq_status status   = CQ_E_NO_MEMORY;

    if (!c)
        return status;
    c->core    = cq_quant_core_get();
    c->spec    = *spec;
    c->vectors = (spec->out + c->core->lanes - 1) / c->core->lanes;
    c->sums    = cq_zalloc((size_t)cq_qconv_padded(c) * sizeof *c->sums);
    if (c->sums)
        status = pack_all(c);
    if (status != CQ_OK) {
        cq_qconv_free(c);
        *out = NULL;
    }
    return status;
}

static cq_status pack_plain(cq_qconv *c)
{
    bool    is_alone = is_depthwise(&c->spec);
    int64_t bytes;

    CQ_TRY(measure(&bytes, c, is_alone ? c->core->size : c->core->word_size));
    c->w = cq_huge_alloc((size_t)bytes);
    if (!c->w)
        return CQ_E_NO_MEMORY;
    memset(c->w, 0, (size_t)bytes);
    return cq_parallel_for(c->spec.out, is_alone ? pack_depthwise : pack_channel, c);
}

/* Packs the first pairs of vectors as bytes, with their limits. */
static cq_status pack_pairs(double *two_of_7, double *one_of_8, cq_qconv *c, int64_t pairs)
{
    CQ_TRY(cq_parallel_for(smaller(c->spec.out, pairs * 2 * c->core->lanes), pack_channel, c));
    CQ_TRY(cq_parallel_for(pairs, limit_pair, c));
    limits_kept(two_of_7, one_of_8, c, pairs);
    return CQ_OK;
}

/* Keeps bytes with their limits, and also 16-bit weights if inputs may often exceed the limits. */
static cq_status keep_bytes(cq_qconv *c, const int32_t *draft, int64_t bytes, double one_of_8)
{
    c->w = cq_huge_alloc((size_t)bytes);
    if (!c->w)
        return CQ_E_NO_MEMORY;
    memcpy(c->w, draft, (size_t)bytes);
    return one_of_8 > MOST ? CQ_OK : new_of(&c->wide, &c->spec, pack_plain);
}

/* Packs bytes with limits, or only 16-bit weights. A draft of a few vectors decides, because the
 * huge-page arena is released only with the whole model. */
static cq_status pack_limited(cq_qconv *c)
{
    int64_t   pairs = (c->vectors + 1) / 2, bytes;
    cq_status status;
    double    two_of_7 = 0, one_of_8 = 0;
    int32_t  *draft;

    CQ_TRY(measure(&bytes, c, 1));
    c->limits = cq_alloc_array((size_t)(pairs * c->n_steps * c->kc), sizeof *c->limits);
    draft = c->w = cq_zalloc((size_t)bytes);
    status       = c->limits && draft ? CQ_OK : CQ_E_NO_MEMORY;
    if (status == CQ_OK)
        status = pack_pairs(&two_of_7, &one_of_8, c, smaller(pairs, FEW_PAIRS));
    if (status == CQ_OK && two_of_7 > MANY)
        status = pack_pairs(&two_of_7, &one_of_8, c, pairs);
    c->w = NULL;
    if (status == CQ_OK && two_of_7 > MANY) {
        status = keep_bytes(c, draft, bytes, one_of_8);
    } else if (status == CQ_OK) {
        cq_free(c->limits);
        c->limits = NULL;
        status    = pack_plain(c);
    }
    cq_free(draft);
    return status;
}

cq_status cq_qconv_new(cq_qconv **out, const cq_qconv_spec *spec)
{
    bool has_limits = cq_quant_core_get()->group_rows && !is_depthwise(spec);

    return new_of(out, spec, has_limits ? pack_limited : pack_plain);
}

void cq_qconv_free(cq_qconv *c)
{
    if (!c)
        return;
    cq_huge_free(c->w);
    cq_free(c->limits);
    cq_free(c->sums);
    cq_qconv_free(c->wide);
    cq_free(c);
}

int64_t cq_qconv_padded(const cq_qconv *c)
{
    return c->vectors * c->core->lanes;
}

void cq_qconv_start(int32_t *start, const cq_qconv *c, int32_t zero)
{
    if (!is_depthwise(&c->spec))
        zero -= c->core->offset;
    for (int64_t i = 0; i < cq_qconv_padded(c); i++)
        start[i] = -zero * c->sums[i];
}

/* ---- the image with its padding ---- */

struct run {
    const cq_qconv      *c;
    const cq_qconv_call *call;
    const char          *x;
    int64_t              size[2]; /* of the padded image, or of x */
    int64_t              row;     /* bytes of one of its rows */
    bool                 is_copy;
    int64_t             *offsets;
    int64_t              pixels, pixel_block, n_pixel_blocks; /* of one image */
    int64_t              line, apart;       /* equidistant pixels, and their distance in elements */
    int64_t              chunk, n_chunks;   /* of pairs of vectors */
    int64_t              rows, bands, room; /* depthwise: of a band; bands; bytes */
};

static cq_status run_init(struct run *r, const cq_qconv *c, const cq_qconv_call *call)
{
    const cq_qconv_spec *s = &c->spec;

    *r         = (struct run){ .c = c, .call = call, .x = call->x };
    r->is_copy = is_depthwise(s) || c->size != c->core->size;
    for (int i = 0; i < 2; i++) {
        r->size[i] =
            (call->out_size[i] - 1) * s->stride[i] + (s->kernel[i] - 1) * s->dilation[i] + 1;
        r->is_copy |= call->padding[i] != 0 || r->size[i] > call->in[i];
    }
    for (int i = 0; i < 2 && !r->is_copy; i++)
        r->size[i] = call->in[i];
    r->row = r->size[1];
    if (__builtin_mul_overflow(r->row, call->channels * c->size, &r->row))
        return cq_no_memory();
    return CQ_OK;
}

/* Elements that are all the zero point of x. */
static void fill(char *to, int64_t n, const struct run *r)
{
    if (r->c->size == 1)
        memset(to, r->call->zero, (size_t)n);
    else
        for (int64_t i = 0; i < n; i++)
            ((int16_t *)(void *)to)[i] = (int16_t)r->call->zero;
}

/* Converts elements of x to the type that is multiplied. */
static void copy(char *to, const char *from, int64_t n, const struct run *r)
{
    if (r->c->size == r->c->core->size)
        memcpy(to, from, (size_t)(n * r->c->size));
    else
        for (int64_t i = 0; i < n; i++)
            ((int16_t *)(void *)to)[i] = ((const uint8_t *)(const void *)from)[i];
}

/* Row y of the padded image. */
static void padded_row(const struct run *r, char *to, int64_t image, int64_t y)
{
    const cq_qconv_call *call  = r->call;
    int64_t              pixel = call->channels, bytes = pixel * r->c->size;
    int64_t              from = y - call->padding[0], left = call->padding[1];
    int64_t              begin = left > 0 ? left : 0, end = smaller(r->size[1], left + call->in[1]);

    if (from < 0 || from >= call->in[0] || end <= begin) {
        fill(to, r->size[1] * pixel, r);
        return;
    }
    fill(to, begin * pixel, r);
    fill(to + end * bytes, (r->size[1] - end) * pixel, r);
    copy(to + begin * bytes,
         r->x +
             ((image * call->in[0] + from) * call->in[1] + begin - left) * pixel * r->c->core->size,
         (end - begin) * pixel, r);
}

static cq_status copy_block(void *user, int64_t block)
{
    const struct run *r   = user;
    int64_t           end = smaller((block + 1) * COPY_ROWS, r->call->batch * r->size[0]);

    for (int64_t row = block * COPY_ROWS; row < end; row++)
        padded_row(r, (char *)r->call->scratch + row * r->row, row / r->size[0], row % r->size[0]);
    return CQ_OK;
}

/* ---- products ---- */

enum {
    LONG_LINE = 4
}; /* minimum length in tiles; for shorter rows it is better to combine pixels of several rows */

static int64_t tile_rows(const cq_qconv *c)
{
    return c->limits ? c->core->group_rows : c->core->tile_rows;
}

/* Windows of width 1 are adjacent from row to row; others only within a row. */
static void find_lines(struct run *r)
{
    const cq_qconv_spec *s     = &r->c->spec;
    const int64_t        width = r->call->out_size[1];

    r->apart = s->stride[1] * r->call->channels;
    if (s->stride[0] == 1 && s->stride[1] == 1 && r->size[1] == width)
        r->line = r->pixels;
    else if (width >= LONG_LINE * tile_rows(r->c))
        r->line = width;
}

static void cut(struct run *r)
{
    const cq_qconv *c     = r->c;
    int64_t         rows  = tile_rows(c), tiles;
    int64_t         pairs = (c->vectors + 1) / 2;

    r->pixels         = r->call->out_size[0] * r->call->out_size[1];
    tiles             = (r->pixels + rows - 1) / rows;
    r->n_pixel_blocks = (r->pixels + PIXELS - 1) / PIXELS;
    r->pixel_block    = (tiles + r->n_pixel_blocks - 1) / r->n_pixel_blocks * rows;
    r->pixel_block    = smaller(r->pixel_block, PIXELS);
    r->n_pixel_blocks = (r->pixels + r->pixel_block - 1) / r->pixel_block;
    r->chunk    = WORK / (r->pixel_block * 2 * c->core->lanes * c->n_steps * c->kc * 4 + 1) + 1;
    r->chunk    = smaller(r->chunk, pairs);
    r->n_chunks = (pairs + r->chunk - 1) / r->chunk;
    find_lines(r);
}

static void fill_offsets(const struct run *r)
{
    const cq_qconv_spec *s    = &r->c->spec;
    int64_t              n    = 0;
    bool                 rows = s->dilation[1] == 1 && !is_depthwise(s);

    for (int64_t y = 0; y < s->kernel[0]; y++)
        for (int64_t x = 0; x < (rows ? 1 : s->kernel[1]); x++)
            r->offsets[n++] =
                (y * s->dilation[0] * r->size[1] + x * s->dilation[1]) * r->call->channels;
    for (; n < r->c->n_steps; n++) /* a weight of 0 */
        r->offsets[n] = 0;
}

/* The finishing parameters of channels from c on. */
static cq_quant_finish finish_from(const cq_qconv_call *call, int64_t c)
{
    cq_quant_finish f = call->finish;

    f.start += c;
    f.scale += c;
    f.bias += c;
    return f;
}

/* Computes n pixels from p0 on, row by row; px points to their windows. */
static void product_tiles(const struct run *r, cq_quant_tile *t, int64_t p0, int64_t n, int vectors,
                          const void *const *px)
{
    const cq_quant_core *core = r->c->core;
    int64_t              row  = t->out_row * (t->finish.is_float ? 4 : core->size);

    t->line = r->line ? r->apart : 0;
    for (int64_t i = 0, here; i < n; i += here) {
        here = r->line ? smaller(n - i, r->line - (p0 + i) % r->line) : n;
        core->tiles(t, here, vectors, px + i);
        t->out = (char *)t->out + here * row;
    }
}

/* The largest input of the windows from first to last. */
static int32_t largest_input(const struct run *r, const void *first, const void *last)
{
    const cq_qconv *c     = r->c;
    int64_t         reach = r->offsets[c->n_steps - 1] + c->kc * 4; /* bytes, as elements are */
    int32_t most = c->core->largest(first, (const char *)last - (const char *)first + reach);

    return most ? most : 1;
}

/* Sets pointers to the windows of n pixels from p0 on. */
static void windows_at(const struct run *r, const void **px, int64_t image, int64_t p0, int64_t n)
{
    int64_t     width = r->call->out_size[1], y = p0 / width, x = p0 % width;
    int64_t     down = r->c->spec.stride[0] * r->row, across = r->apart * r->c->size;
    const char *row = r->x + image * r->size[0] * r->row + y * down;

    for (int64_t i = 0; i < n; i++) {
        px[i] = row + x * across;
        if (++x == width) {
            x = 0;
            row += down;
        }
    }
}

static cq_status product_block(void *user, int64_t block)
{
    const struct run    *r    = user;
    const cq_qconv      *c    = r->c;
    const cq_qconv_call *call = r->call;
    const void          *px[PIXELS];
    int64_t              chunk = block % r->n_chunks, rest = block / r->n_chunks;
    int64_t              p0 = rest % r->n_pixel_blocks * r->pixel_block, lanes = c->core->lanes;
    int64_t              n     = smaller(r->pixel_block, r->pixels - p0);
    int64_t              image = rest / r->n_pixel_blocks, size = c->core->size;
    int32_t              most = 0;
    int64_t              end  = smaller((chunk + 1) * r->chunk, (c->vectors + 1) / 2);

    windows_at(r, px, image, p0, n);
    if (c->limits)
        most = largest_input(r, px[0], px[n - 1]);
    for (int64_t pair = chunk * r->chunk; pair < end; pair++) {
        int64_t       col = pair * 2 * lanes, at = (image * r->pixels + p0) * call->out_channels;
        cq_quant_tile t = { .w       = words_of(c, col),
                            .limits  = c->limits ? c->limits + pair * c->n_steps * c->kc : NULL,
                            .most    = most,
                            .offsets = r->offsets,
                            .n_steps = c->n_steps,
                            .kc      = c->kc,
                            .out_row = call->out_channels,
                            .cols    = smaller(2 * lanes, call->out_channels - col),
                            .finish  = finish_from(call, col) };

        t.out = (char *)call->out + (at + col) * (call->finish.is_float ? 4 : size);
        product_tiles(r, &t, p0, n, pair * 2 + 1 < c->vectors ? 2 : 1, px);
    }
    return CQ_OK;
}

/* ---- depthwise ---- */

/* Rows are copied for a few results at a time, so that they stay in the cache. */
static void cut_bands(struct run *r)
{
    const cq_qconv_spec *s     = &r->c->spec;
    int64_t              reach = (s->kernel[0] - 1) * s->dilation[0] + 1;
    int64_t              fits  = BAND / (r->size[1] * r->call->channels + 1);

    r->rows  = fits > reach ? (fits - reach) / s->stride[0] + 1 : 1;
    r->rows  = smaller(r->rows, r->call->out_size[0]);
    r->bands = (r->call->out_size[0] + r->rows - 1) / r->rows;
    r->room  = ((r->rows - 1) * s->stride[0] + reach) * r->row + SLACK;
    r->room  = (r->room + 63) / 64 * 64;
}

static cq_status depthwise_band(void *user, int64_t block, int lane)
{
    const struct run    *r     = user;
    const cq_qconv      *c     = r->c;
    const cq_qconv_spec *s     = &c->spec;
    const cq_qconv_call *call  = r->call;
    char                *room  = (char *)call->scratch + lane * r->room;
    int64_t              image = block / r->bands, y0 = block % r->bands * r->rows;
    int64_t              n      = smaller(r->rows, call->out_size[0] - y0);
    int64_t              n_rows = (n - 1) * s->stride[0] + (s->kernel[0] - 1) * s->dilation[0] + 1;
    cq_quant_taps        t      = { .step     = s->stride[1] * call->channels,
                                    .n        = call->out_size[1],
                                    .channels = call->out_channels,
                                    .offsets  = r->offsets,
                                    .w        = c->w,
                                    .n_taps   = c->n_steps,
                                    .out_step = call->out_channels,
                                    .finish   = call->finish };

    for (int64_t i = 0; i < n_rows; i++)
        padded_row(r, room + i * r->row, image, y0 * s->stride[0] + i);
    memset(room + n_rows * r->row, 0, SLACK);
    for (int64_t y = 0; y < n; y++) {
        t.x   = room + y * s->stride[0] * r->row;
        t.out = (char *)call->out + (image * call->out_size[0] + y0 + y) * call->out_size[1] *
                                        call->out_channels * c->core->size;
        c->core->depthwise(&t);
    }
    return CQ_OK;
}

/* ---- both ---- */

/* The scratch memory: the copy, or the copies of all threads, followed by the offsets of steps. */
static cq_status room_of(int64_t *out, struct run *r)
{
    int64_t n = r->row;

    if (is_depthwise(&r->c->spec)) {
        cut_bands(r);
        n = r->room * r->call->lanes;
    } else if (!r->is_copy) {
        n = 0;
    } else if (__builtin_mul_overflow(n, r->size[0] * r->call->batch, &n)) {
        return cq_no_memory();
    }
    *out = (n + 63) / 64 * 64;
    return CQ_OK;
}

cq_status cq_qconv_scratch(int64_t *out, const cq_qconv *c, const cq_qconv_call *call)
{
    struct run r;

    int64_t more = 0;

    CQ_TRY(run_init(&r, c, call));
    CQ_TRY(room_of(out, &r));
    *out += c->n_steps * (int64_t)sizeof(int64_t);
    if (c->wide)
        CQ_TRY(cq_qconv_scratch(&more, c->wide, call));
    *out = more > *out ? more : *out;
    return CQ_OK;
}

/* Whether many inputs seem to have more than 7 bits. A sample is enough, because sums are correct
 * in either case. */
static bool has_large(const cq_quant_core *core, const cq_qconv_call *call)
{
    const int64_t n     = call->batch * call->in[0] * call->in[1] * call->channels;
    const int64_t here  = smaller(n, LOOK);
    int64_t       large = 0;

    for (int64_t i = 0; i < LOOKS; i++)
        large += core->largest((const char *)call->x + (n - here) * i / LOOKS, here) > INT8_MAX;
    return large * 4 > LOOKS;
}

cq_status cq_qconv_run(const cq_qconv *c, const cq_qconv_call *call)
{
    struct run r;
    int64_t    room;

    if (c->wide && has_large(c->core, call))
        c = c->wide;
    CQ_TRY(run_init(&r, c, call));
    CQ_TRY(room_of(&room, &r));
    r.offsets = (int64_t *)(void *)((char *)call->scratch + room);
    fill_offsets(&r);
    if (is_depthwise(&c->spec))
        return cq_parallel_lanes(call->batch * r.bands, call->lanes, depthwise_band, &r);
    if (r.is_copy) {
        CQ_TRY(
            cq_parallel_for((call->batch * r.size[0] + COPY_ROWS - 1) / COPY_ROWS, copy_block, &r));
        r.x = call->scratch;
    }
    cut(&r);
    return cq_parallel_for(call->batch * r.n_pixel_blocks * r.n_chunks, product_block, &r);
}
