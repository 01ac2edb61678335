/* The coefficients of a scan. A baseline scan has all of a block at once; progressive ones have
 * some of them, or one more bit of existing ones. */
#include "image/jpeg.h"

/* Bits from the upper end of bytes, in which ff is written as ff 00. Where a marker begins, they
 * are zeros: a code may be looked for beyond its end, but not taken from there. */
typedef struct bits {
    cq_bytes b;
    uint32_t window; /* its lowest n bits are next */
    unsigned n, n_made_up;
} bits;

static void fill(bits *s)
{
    while (s->n <= 16) {
        unsigned byte = 0;

        if (cq_bytes_left(&s->b) >= 2 && s->b.at[0] == 0xff && s->b.at[1] == 0) {
            byte = 0xff;
            s->b.at += 2;
        } else if (cq_bytes_left(&s->b) && *s->b.at != 0xff) {
            byte = *s->b.at++;
        } else {
            s->n_made_up += 8;
        }
        s->window = s->window << 8 | byte;
        s->n += 8;
    }
}

static bool is_beyond(const bits *s)
{
    return s->n_made_up > s->n;
}

static unsigned peek(bits *s, unsigned n)
{
    fill(s);
    return s->window >> (s->n - n) & ((1u << n) - 1);
}

static unsigned take(bits *s, unsigned n)
{
    unsigned value;

    if (!n)
        return 0;
    value = peek(s, n);
    s->n -= n;
    return value;
}

/* A number of n bits: if the first bit is 0, it is negative. */
static int take_signed(bits *s, unsigned n)
{
    int value = (int)take(s, n);

    return n && value < 1 << (n - 1) ? value - (1 << n) + 1 : value;
}

/* The value of the next code, or -1. */
static int take_code(bits *s, const cq_jpeg_codes *codes)
{
    unsigned next = peek(s, 16);

    for (int len = 1; len <= 16; len++) {
        int32_t i = (int32_t)(next >> (16 - len)) - codes->first[len];

        if (i >= 0 && i < codes->counts[len]) {
            s->n -= (unsigned)len;
            return codes->values[codes->index[len] + i];
        }
    }
    return -1;
}

typedef struct reader {
    const cq_jpeg_scan  *scan;
    bits                 s;
    const cq_jpeg_codes *codes[CQ_JPEG_MAX_COMPONENTS][2];
    int                  before[CQ_JPEG_MAX_COMPONENTS]; /* the last first coefficients */
    uint32_t             n_ended; /* blocks from here on in which nothing more comes */
} reader;

/* ---- one block; false: the data is damaged ---- */

static bool read_first(reader *r, int which, int16_t *block)
{
    int size = take_code(&r->s, r->codes[which][0]);

    if (size < 0 || size > 15)
        return false;
    r->before[which] += take_signed(&r->s, (unsigned)size);
    if (r->before[which] < -(1 << 20) || r->before[which] > 1 << 20)
        return false;
    block[0] = (int16_t)(r->before[which] * (1 << r->scan->low));
    return true;
}

/* Coefficients that were zero until now. */
static bool read_others(reader *r, int which, int16_t *block, int first)
{
    if (r->n_ended) {
        r->n_ended--;
        return true;
    }
    for (int k = first; k <= r->scan->last; k++) {
        int      code = take_code(&r->s, r->codes[which][1]);
        unsigned size = code < 0 ? 0 : (unsigned)code & 15,
                 run  = code < 0 ? 0 : (unsigned)code >> 4;

        if (code < 0)
            return false;
        if (!size && run < 15) {
            r->n_ended = (1u << run) - 1 + take(&r->s, run);
            return true;
        }
        k += (int)run;
        if (!size)
            continue; /* sixteen zeros */
        if (k > r->scan->last)
            return false;
        block[cq_jpeg_natural[k]] = (int16_t)(take_signed(&r->s, size) * (1 << r->scan->low));
    }
    return true;
}

/* One more bit of a coefficient that is not zero. */
static void refine(reader *r, int16_t *x)
{
    if (take(&r->s, 1) && !(*x & 1 << r->scan->low))
        *x = (int16_t)(*x + (*x < 0 ? -(1 << r->scan->low) : 1 << r->scan->low));
}

/* Nonzero coefficients get a refinement bit each; a code introduces a new one after run zeros. */
static bool refine_others(reader *r, int which, int16_t *block)
{
    int k = r->scan->first;

    while (!r->n_ended && k <= r->scan->last) {
        int      code = take_code(&r->s, r->codes[which][1]), sign = 0;
        unsigned run = code < 0 ? 0 : (unsigned)code >> 4;

        if (code < 0 || (code & 15) > 1)
            return false;
        if (code & 15) {
            sign = take(&r->s, 1) ? 1 : -1;
        } else if (run < 15) {
            r->n_ended = (1u << run) + take(&r->s, run);
            break;
        }
        for (; k <= r->scan->last; k++) {
            int16_t *x = &block[cq_jpeg_natural[k]];

            if (*x)
                refine(r, x);
            else if (run-- == 0)
                break;
        }
        if (sign && k > r->scan->last)
            return false;
        if (sign)
            block[cq_jpeg_natural[k]] = (int16_t)(sign * (1 << r->scan->low));
        k++;
    }
    if (r->n_ended) {
        for (; k <= r->scan->last; k++)
            if (block[cq_jpeg_natural[k]])
                refine(r, &block[cq_jpeg_natural[k]]);
        r->n_ended--;
    }
    return true;
}

static bool read_block(reader *r, int which, int16_t *block, bool is_progressive)
{
    if (!is_progressive)
        return read_first(r, which, block) && read_others(r, which, block, 1) && !r->n_ended;
    if (!r->scan->first) {
        if (!r->scan->high)
            return read_first(r, which, block);
        block[0] = (int16_t)(block[0] | (int)(take(&r->s, 1) << r->scan->low));
        return true;
    }
    return r->scan->high ? refine_others(r, which, block)
                         : read_others(r, which, block, r->scan->first);
}

/* ---- all of them ---- */

/* A restart begins on a byte, after a marker; nothing from before counts then. */
static bool restart(reader *r, int number)
{
    cq_bytes *b = &r->s.b;

    if (cq_bytes_left(b) < 2 || b->at[0] != 0xff || b->at[1] != 0xd0 + number)
        return false;
    b->at += 2;
    r->s       = (bits){ .b = *b };
    r->n_ended = 0;
    for (int i = 0; i < CQ_JPEG_MAX_COMPONENTS; i++)
        r->before[i] = 0;
    return true;
}

/* A single component is sent block by block, and only the blocks that have samples; several are
 * sent in units that cover the same part of the image. */
static bool read_unit(reader *r, const cq_jpeg *j, uint32_t unit, uint32_t n_across)
{
    uint32_t y = unit / n_across, x = unit % n_across;

    for (int i = 0; i < r->scan->n; i++) {
        cq_jpeg_component *c = r->scan->components[i];
        uint32_t down = r->scan->n > 1 ? c->down : 1, across = r->scan->n > 1 ? c->across : 1;

        for (uint32_t v = 0; v < down; v++)
            for (uint32_t h = 0; h < across; h++) {
                size_t at = (size_t)(y * down + v) * c->columns + x * across + h;

                if (!read_block(r, i, c->blocks + 64 * at, j->is_progressive))
                    return false;
            }
    }
    return true;
}

cq_status cq_jpeg_read_scan(cq_jpeg *j, const cq_jpeg_scan *scan, cq_bytes *b)
{
    cq_jpeg_component *c = scan->components[0];
    reader             r = { .scan = scan, .s = { .b = *b } };
    uint32_t           n_across, n_down;
    int                n_restarts = 0;

    for (int i = 0; i < scan->n; i++)
        for (int k = 0; k < 2; k++) {
            bool is_needed = k ? scan->last > 0 : !scan->first && !scan->high;

            r.codes[i][k] = &j->codes[k][scan->codes[i][k]];
            if (is_needed && !r.codes[i][k]->is_given)
                return cq_image_bad("JPEG", "a scan without its codes");
        }
    n_across = scan->n > 1 ? c->columns / c->across : (c->width + 7) / 8;
    n_down   = scan->n > 1 ? c->rows / c->down : (c->height + 7) / 8;
    for (uint32_t unit = 0; unit < n_across * n_down; unit++) {
        if (j->restart && unit && unit % j->restart == 0 && !restart(&r, n_restarts++ % 8))
            return cq_image_bad("JPEG", "no restart where one should be");
        if (!read_unit(&r, j, unit, n_across))
            return cq_image_bad("JPEG", "data that is damaged");
        if (is_beyond(&r.s))
            return cq_image_ends("JPEG");
    }
    *b = r.s.b;
    return CQ_OK;
}
