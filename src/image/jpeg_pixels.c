/* From coefficients to pixels, with the arithmetic of the usual decoder, so that the bytes are
 * equal: the transform in integers with 13 fractional bits, smooth upsampling of chroma, and
 * conversion to RGB in integers with 16 fractional bits. */
#include "image/jpeg.h"

#include "base/alloc.h"

static uint8_t clamp(int64_t x)
{
    return (uint8_t)(x < 0 ? 0 : x > 255 ? 255 : x);
}

/* ---- the transform ---- */

/* Cosines times sqrt(2) * 2^13, as sums of the rounded constants that the fast form of the
 * transform multiplies with: even inputs 0, 2, 4, 6 and odd ones 1, 3, 5, 7 for outputs 0 to 3.
 * Output 7 - i is the even part less the odd one. */
static const int16_t even[4][4] = { { 8192, 10703, 8192, 4433 },
                                    { 8192, 4433, -8192, -10704 },
                                    { 8192, -4433, -8192, 10704 },
                                    { 8192, -10703, 8192, -4433 } };
static const int16_t odd[4][4]  = { { 11363, 9633, 6437, 2260 },
                                    { 9633, -2259, -11362, -6436 },
                                    { 6437, -11362, 2261, 9633 },
                                    { 2260, -6436, 9633, -11363 } };

/* Eight numbers that lie step apart, in place, rounded to less bits by shift. */
static void transform(int64_t *x, size_t step, int shift)
{
    int64_t half = (int64_t)1 << (shift - 1), out[8];

    for (int i = 0; i < 4; i++) {
        int64_t a = half, b = 0;

        for (size_t k = 0; k < 4; k++) {
            a += even[i][k] * x[2 * k * step];
            b += odd[i][k] * x[(2 * k + 1) * step];
        }
        out[i]     = (a + b) >> shift;
        out[7 - i] = (a - b) >> shift;
    }
    for (size_t i = 0; i < 8; i++)
        x[i * step] = out[i];
}

static void block_to_samples(uint8_t *to, size_t to_step, const int16_t *block,
                             const uint16_t *quantization)
{
    int64_t x[64];

    for (int i = 0; i < 64; i++)
        x[i] = (int64_t)block[i] * quantization[i];
    for (size_t i = 0; i < 8; i++)
        transform(x + i, 8, 13 - 2); /* two bits more than in the end */
    for (size_t i = 0; i < 8; i++)
        transform(x + 8 * i, 1, 13 + 2 + 3);
    for (size_t i = 0; i < 64; i++)
        to[i / 8 * to_step + i % 8] = clamp(x[i] + 128);
}

cq_status cq_jpeg_make_samples(cq_jpeg *j)
{
    for (int i = 0; i < j->n_components; i++) {
        cq_jpeg_component *c    = &j->components[i];
        size_t             step = 8 * (size_t)c->columns;

        if (!j->has_quantization[c->table])
            return cq_image_bad("JPEG", "no table of quantization");
        c->samples = cq_alloc(step * 8 * c->rows);
        if (!c->samples)
            return CQ_E_NO_MEMORY;
        for (uint32_t y = 0; y < c->rows; y++)
            for (uint32_t x = 0; x < c->columns; x++)
                block_to_samples(c->samples + 8 * y * step + 8 * x, step,
                                 c->blocks + 64 * ((size_t)y * c->columns + x),
                                 j->quantization[c->table]);
        cq_free(c->blocks);
        c->blocks = NULL;
    }
    return CQ_OK;
}

/* ---- a row in full size ---- */

/* An upsampled value is three quarters of the nearer sample and a quarter of its neighbour. From a
 * row of sums (of scale times a sample), out gets twice as many. */
static void widen(uint8_t *out, const uint16_t *row, size_t n, unsigned scale)
{
    unsigned shift = scale == 4 ? 4 : 2, left = scale == 4 ? 8 : 1, right = scale == 4 ? 7 : 2;

    for (size_t i = 0; i < n; i++) {
        unsigned before = i ? row[i - 1] : row[i], after = i + 1 < n ? row[i + 1] : row[i];

        out[2 * i]     = (uint8_t)((3u * row[i] + before + left) >> shift);
        out[2 * i + 1] = (uint8_t)((3u * row[i] + after + right) >> shift);
    }
}

/* Row y of the image, of one component. sums is as wide as the component. */
static void full_row(uint8_t *out, uint16_t *sums, const cq_jpeg *j, const cq_jpeg_component *c,
                     uint32_t y)
{
    int            across = j->across / c->across, down = j->down / c->down;
    size_t         step = 8 * (size_t)c->columns;
    uint32_t       at   = y / (uint32_t)down;
    const uint8_t *row = c->samples + at * step, *near = row;
    bool           is_smooth = across == 2 ? down <= 2 && c->width > 2 : across == 1 && down == 2;

    if (!is_smooth) {
        for (uint32_t x = 0; x < j->width; x++)
            out[x] = row[x / (uint32_t)across];
        return;
    }
    if (down == 2 && y % 2 && at + 1 < c->height)
        near = row + step;
    else if (down == 2 && !(y % 2) && at)
        near = row - step;
    for (uint32_t x = 0; x < c->width; x++)
        sums[x] = (uint16_t)(down == 2 ? 3 * row[x] + near[x] : row[x]);
    if (across == 2)
        widen(out, sums, c->width, down == 2 ? 4 : 1);
    for (uint32_t x = 0; across == 1 && x < j->width; x++)
        out[x] = (uint8_t)((sums[x] + (y % 2 ? 2 : 1)) >> 2);
}

/* ---- colours ---- */

enum { RED_OF_CR = 91881, GREEN_OF_CB = 22554, GREEN_OF_CR = 46802, BLUE_OF_CB = 116130 };

static void to_rgb(uint8_t *to, int y, int cb, int cr)
{
    cb -= 128;
    cr -= 128;
    to[0] = clamp(y + ((RED_OF_CR * cr + 32768) >> 16));
    to[1] = clamp(y + ((-GREEN_OF_CB * cb - GREEN_OF_CR * cr + 32768) >> 16));
    to[2] = clamp(y + ((BLUE_OF_CB * cb + 32768) >> 16));
}

static bool is_rgb(const cq_jpeg *j)
{
    const cq_jpeg_component *c = j->components;

    if (j->is_jfif)
        return false;
    if (j->is_adobe)
        return j->transform == 0;
    return c[0].id == 'R' && c[1].id == 'G' && c[2].id == 'B';
}

cq_status cq_jpeg_make_pixels(cq_image *out, const cq_jpeg *j)
{
    size_t    room = (size_t)j->width + 2; /* widening may go one beyond */
    uint8_t  *rows;
    uint16_t *sums;
    bool      is_plain = j->n_components == 1 || is_rgb(j), has_memory;

    CQ_TRY(cq_image_make(out, j->width, j->height, (uint32_t)j->n_components));
    rows       = cq_alloc_array(3, room);
    sums       = cq_alloc_array(room, sizeof *sums);
    has_memory = rows && sums;
    for (uint32_t y = 0; has_memory && y < j->height; y++) {
        uint8_t *to = out->pixels + (size_t)y * j->width * out->channels;

        for (int i = 0; i < j->n_components; i++)
            full_row(rows + (size_t)i * room, sums, j, &j->components[i], y);
        for (uint32_t x = 0; x < j->width; x++, to += out->channels) {
            if (!is_plain)
                to_rgb(to, rows[x], rows[room + x], rows[2 * room + x]);
            for (int i = 0; is_plain && i < j->n_components; i++)
                to[i] = rows[(size_t)i * room + x];
        }
    }
    cq_free(sums);
    cq_free(rows);
    return has_memory ? CQ_OK : CQ_E_NO_MEMORY;
}
