/* PNG: chunks with checksums, of which IDAT hold rows that were filtered and then compressed.
 * Interlaced files are seven small images, interleaved in the large one. */
#include "image/image.h"

#include "base/alloc.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { GREY = 0, RGB = 2, PALETTE = 3, GREY_ALPHA = 4, RGB_ALPHA = 6 };

typedef struct png {
    uint32_t       width, height;
    unsigned       bits, color, samples; /* samples of a pixel in the file */
    bool           is_interlaced;
    const uint8_t *palette;
    size_t         n_colors;
    CQ_VEC(cq_bytes) data; /* the contents of IDAT */
} png;

/* ---- chunks ---- */

static cq_status read_header(png *p, const uint8_t *at, size_t size)
{
    static const uint8_t  samples[] = { 1, 0, 3, 1, 2, 0, 4 };
    static const uint32_t depths[]  = { /* bits that a type of colour may have, by their number */
                                       1 << 1 | 1 << 2 | 1 << 4 | 1 << 8 | 1 << 16,
                                       0,
                                       1 << 8 | 1 << 16,
                                       1 << 1 | 1 << 2 | 1 << 4 | 1 << 8,
                                       1 << 8 | 1 << 16,
                                       0,
                                       1 << 8 | 1 << 16
    };

    if (size != 13)
        return cq_image_bad("PNG", "a header of the wrong size");
    p->width  = cq_get_u32(at, 1);
    p->height = cq_get_u32(at + 4, 1);
    p->bits   = at[8];
    p->color  = at[9];
    if (p->color > RGB_ALPHA || p->bits > 16 || !(depths[p->color] >> p->bits & 1))
        return cq_image_bad("PNG", "a type of colour that does not exist");
    if (at[10] || at[11] || at[12] > 1)
        return cq_image_bad("PNG", "an unknown method of compression");
    p->samples       = samples[p->color];
    p->is_interlaced = at[12];
    return CQ_OK;
}

static cq_status read_chunks(png *p, cq_bytes b)
{
    bool is_first = true;

    for (b.at += 8;; is_first = false) {
        const uint8_t *kind = b.at + 4;
        cq_bytes       body;
        size_t         size;

        if (cq_bytes_left(&b) < 12)
            return cq_image_ends("PNG");
        size = cq_get_u32(b.at, 1);
        if (size > cq_bytes_left(&b) - 12)
            return cq_image_ends("PNG");
        body = (cq_bytes){ b.at + 8, b.at + 8 + size };
        b.at += 12 + size;
        if (is_first != !memcmp(kind, "IHDR", 4))
            return cq_image_bad("PNG", "its header not at the beginning");
        if (!(kind[0] & 0x20) && crc32(0, kind, (uInt)size + 4) != cq_get_u32(body.end, 1))
            return cq_image_bad("PNG", "a chunk whose checksum is wrong");
        if (!memcmp(kind, "IHDR", 4)) {
            CQ_TRY(read_header(p, body.at, size));
        } else if (!memcmp(kind, "PLTE", 4)) {
            p->palette  = body.at;
            p->n_colors = size / 3;
        } else if (!memcmp(kind, "IDAT", 4)) {
            CQ_TRY(cq_vec_push(&p->data, body));
        } else if (!memcmp(kind, "IEND", 4)) {
            return CQ_OK;
        } else if (!(kind[0] & 0x20)) {
            return cq_image_bad("PNG", "a chunk that is needed and not known");
        }
    }
}

/* ---- rows ---- */

static uint8_t paeth(int left, int above, int corner)
{
    int guess = left + above - corner;
    int a = abs(guess - left), b = abs(guess - above), c = abs(guess - corner);

    return (uint8_t)(a <= b && a <= c ? left : b <= c ? above : corner);
}

/* Rows of n bytes after a byte with the filter. step bytes are a pixel, at least one. */
static cq_status unfilter(uint8_t *rows, size_t n_rows, size_t n, size_t step)
{
    for (size_t y = 0; y < n_rows; y++) {
        uint8_t *row = rows + y * (n + 1) + 1, *up = y ? row - (n + 1) : NULL, filter = row[-1];

        if (filter > 4)
            return cq_image_bad("PNG", "a row with an unknown filter");
        for (size_t i = 0; filter && i < n; i++) {
            uint8_t left   = i >= step ? row[i - step] : 0;
            uint8_t above  = up ? up[i] : 0;
            uint8_t corner = up && i >= step ? up[i - step] : 0;

            row[i] = (uint8_t)(row[i] + (filter == 1   ? left
                                         : filter == 2 ? above
                                         : filter == 3 ? (left + above) / 2
                                                       : paeth(left, above, corner)));
        }
    }
    return CQ_OK;
}

static cq_status put_pixel(cq_image *out, const png *p, size_t at, const uint8_t *row, size_t x)
{
    uint8_t *to = out->pixels + at * out->channels;

    if (p->color == PALETTE) {
        unsigned i = cq_get_sample(row, x, p->bits, 1);

        if (i >= p->n_colors)
            return cq_image_bad("PNG", "a pixel that is not in the palette");
        memcpy(to, p->palette + 3 * (size_t)i, 3);
        return CQ_OK;
    }
    for (uint32_t c = 0; c < out->channels; c++) {
        unsigned sample = cq_get_sample(row, x * p->samples + c, p->bits, 1);

        to[c] = (uint8_t)(p->bits < 8 ? sample * 255 / ((1u << p->bits) - 1) : sample);
    }
    return CQ_OK;
}

/* The seven passes of an interlaced file: their origins and steps. The eighth row is a plain
 * file. */
static const struct {
    uint8_t x, y, dx, dy;
} passes[] = { { 0, 0, 8, 8 }, { 4, 0, 8, 8 }, { 0, 4, 4, 8 }, { 2, 0, 4, 4 },
               { 0, 2, 2, 4 }, { 1, 0, 2, 2 }, { 0, 1, 1, 2 }, { 0, 0, 1, 1 } };

static size_t pass_width(const png *p, int pass)
{
    return ((size_t)p->width + passes[pass].dx - 1 - passes[pass].x) / passes[pass].dx;
}

/* 0 if there are no columns either: such a pass has no bytes at all. */
static size_t pass_height(const png *p, int pass)
{
    size_t n = ((size_t)p->height + passes[pass].dy - 1 - passes[pass].y) / passes[pass].dy;

    return pass_width(p, pass) ? n : 0;
}

static size_t row_size(const png *p, int pass)
{
    return (pass_width(p, pass) * p->samples * p->bits + 7) / 8;
}

static cq_status put_passes(cq_image *out, const png *p, uint8_t *rows, int first, int last)
{
    size_t step = (p->samples * p->bits + 7) / 8;

    for (int k = first; k <= last; k++) {
        size_t n = row_size(p, k), width = pass_width(p, k), height = pass_height(p, k);

        CQ_TRY(unfilter(rows, height, n, step));
        for (size_t y = 0; y < height; y++, rows += n + 1)
            for (size_t x = 0; x < width; x++) {
                size_t to_y = passes[k].y + y * passes[k].dy, to_x = passes[k].x + x * passes[k].dx;

                CQ_TRY(put_pixel(out, p, to_y * p->width + to_x, rows + 1, x));
            }
    }
    return CQ_OK;
}

cq_status cq_png_decode(cq_image *out, cq_bytes b)
{
    png       p    = { 0 };
    uint8_t  *rows = NULL;
    size_t    size = 0;
    int       first, last;
    cq_status status;

    CQ_TRY_OR_DONE(read_chunks(&p, b));
    if (p.color == PALETTE && !p.palette)
        CQ_TRY_OR_DONE(cq_image_bad("PNG", "no palette"));
    CQ_TRY_OR_DONE(
        cq_image_make(out, p.width, p.height, p.color == GREY || p.color == GREY_ALPHA ? 1 : 3));
    first = p.is_interlaced ? 0 : 7;
    last  = p.is_interlaced ? 6 : 7;
    for (int k = first; k <= last; k++)
        size += pass_height(&p, k) * (row_size(&p, k) + 1);
    rows = cq_alloc(size);
    if (!rows)
        CQ_TRY_OR_DONE(CQ_E_NO_MEMORY);
    CQ_TRY_OR_DONE(cq_inflate_all("PNG", rows, size, p.data.items, p.data.n));
    status = put_passes(out, &p, rows, first, last);
done:
    cq_free(rows);
    cq_vec_clear(&p.data);
    return status;
}
