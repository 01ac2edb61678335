/* BMP: a header with the offset of the pixels, a palette or masks, rows of whole words. */
#include "image/image.h"

#include <stdlib.h>
#include <string.h>

enum { FILE_HEADER = 14, CORE_HEADER = 12, INFO_HEADER = 40 };
enum { PLAIN, RLE8, RLE4, BITFIELDS, ALPHA_BITFIELDS = 6 };

typedef struct bmp {
    cq_bytes       b;
    uint32_t       offset, header, bits, compression;
    int64_t        width, height;
    bool           is_top_down;
    const uint8_t *palette; /* entries of blue, green, red and perhaps a fourth byte */
    uint32_t       n_colors, entry;
    uint32_t       masks[3]; /* red, green, blue; of 16 and 32 bits */
} bmp;

static cq_status read_header(bmp *h)
{
    const uint8_t *at   = h->b.at;
    size_t         size = cq_bytes_left(&h->b);

    if (size < FILE_HEADER + CORE_HEADER)
        return cq_image_ends("BMP");
    h->offset = cq_get_u32(at + 10, 0);
    h->header = cq_get_u32(at + 14, 0);
    if (h->header == CORE_HEADER) {
        h->width  = cq_get_u16(at + 18, 0);
        h->height = cq_get_u16(at + 20, 0);
        h->bits   = cq_get_u16(at + 24, 0);
    } else if (h->header < INFO_HEADER || h->header > size - FILE_HEADER) {
        return cq_image_bad("BMP", "a header of unknown size");
    } else {
        h->width       = (int32_t)cq_get_u32(at + 18, 0);
        h->height      = (int32_t)cq_get_u32(at + 22, 0);
        h->bits        = cq_get_u16(at + 28, 0);
        h->compression = cq_get_u32(at + 30, 0);
        h->n_colors    = cq_get_u32(at + 46, 0);
    }
    h->is_top_down = h->height < 0;
    h->height      = llabs(h->height);
    return h->width > 0 ? CQ_OK : cq_image_bad("BMP", "no width");
}

static cq_status read_masks(bmp *h)
{
    const uint8_t *at       = h->b.at + FILE_HEADER + INFO_HEADER;
    bool           is_given = h->compression == BITFIELDS || h->compression == ALPHA_BITFIELDS;

    memcpy(h->masks,
           h->bits == 16 ? (uint32_t[]){ 0x7c00, 0x3e0, 0x1f }
                         : (uint32_t[]){ 0xff0000, 0xff00, 0xff },
           sizeof h->masks);
    if (!is_given)
        return CQ_OK;
    if (cq_bytes_left(&h->b) < FILE_HEADER + INFO_HEADER + 12)
        return cq_image_ends("BMP");
    for (int i = 0; i < 3; i++)
        h->masks[i] = cq_get_u32(at + 4 * i, 0);
    return CQ_OK;
}

static cq_status read_palette(bmp *h)
{
    size_t before = FILE_HEADER + (size_t)h->header;

    h->entry = h->header == CORE_HEADER ? 3 : 4;
    if (!h->n_colors || h->n_colors > 1u << h->bits)
        h->n_colors = 1u << h->bits;
    h->palette = h->b.at + before;
    return before + (size_t)h->n_colors * h->entry <= cq_bytes_left(&h->b) ? CQ_OK
                                                                           : cq_image_ends("BMP");
}

/* The bits of a mask as a byte. */
static uint8_t masked(uint32_t pixel, uint32_t mask)
{
    uint32_t low = mask & -mask, highest = low ? mask / low : 0;

    return highest ? (uint8_t)((uint64_t)((pixel & mask) / low) * 255 / highest) : 0;
}

static cq_status read_row(uint8_t *to, const bmp *h, const uint8_t *row)
{
    for (int64_t x = 0; x < h->width; x++, to += 3) {
        if (h->bits <= 8) {
            unsigned i = cq_get_sample(row, (size_t)x, h->bits, 0);

            if (i >= h->n_colors)
                return cq_image_bad("BMP", "a pixel that is not in the palette");
            for (int c = 0; c < 3; c++)
                to[c] = h->palette[i * h->entry + 2 - (unsigned)c];
        } else if (h->bits == 24) {
            for (int c = 0; c < 3; c++)
                to[c] = row[3 * x + 2 - c];
        } else {
            uint32_t pixel =
                h->bits == 16 ? cq_get_u16(row + 2 * x, 0) : cq_get_u32(row + 4 * x, 0);

            for (int c = 0; c < 3; c++)
                to[c] = masked(pixel, h->masks[c]);
        }
    }
    return CQ_OK;
}

cq_status cq_bmp_decode(cq_image *out, cq_bytes b)
{
    bmp    h = { .b = b };
    size_t step;

    CQ_TRY(read_header(&h));
    if (h.compression != PLAIN && h.compression != BITFIELDS && h.compression != ALPHA_BITFIELDS)
        return cq_image_no("BMP", "compressed pixels");
    if (h.bits == 16 || h.bits == 32)
        CQ_TRY(read_masks(&h));
    else if (h.bits == 1 || h.bits == 4 || h.bits == 8)
        CQ_TRY(read_palette(&h));
    else if (h.bits != 24)
        return cq_image_bad("BMP", "pixels of an unknown number of bits");
    CQ_TRY(cq_image_make(out, (uint64_t)h.width, (uint64_t)h.height, 3));
    step = ((size_t)h.width * h.bits + 31) / 32 * 4;
    if (h.offset > cq_bytes_left(&b) || step * (size_t)h.height > cq_bytes_left(&b) - h.offset)
        return cq_image_ends("BMP");
    for (int64_t y = 0; y < h.height; y++) {
        int64_t at = h.is_top_down ? y : h.height - 1 - y;

        CQ_TRY(read_row(out->pixels + y * 3 * h.width, &h, b.at + h.offset + (size_t)at * step));
    }
    return CQ_OK;
}
