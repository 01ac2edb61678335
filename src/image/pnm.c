/* PBM, PGM and PPM: a few numbers in text, then samples in text or in binary. */
#include "image/image.h"

#include <ctype.h>

static void skip_space(cq_bytes *b)
{
    while (cq_bytes_left(b) && (isspace(*b->at) || *b->at == '#')) {
        if (*b->at == '#')
            while (cq_bytes_left(b) && *b->at != '\n')
                b->at++;
        else
            b->at++;
    }
}

static cq_status read_number(uint32_t *out, cq_bytes *b)
{
    skip_space(b);
    if (!cq_bytes_left(b))
        return cq_image_ends("PNM");
    if (!isdigit(*b->at))
        return cq_image_bad("PNM", "something else where a number should be");
    for (*out = 0; cq_bytes_left(b) && isdigit(*b->at); b->at++) {
        if (*out > 100000000)
            return cq_image_bad("PNM", "a number that is too large");
        *out = *out * 10 + (uint32_t)(*b->at - '0');
    }
    return CQ_OK;
}

/* In text a bit needs no space after it. */
static cq_status read_bit(uint32_t *out, cq_bytes *b)
{
    skip_space(b);
    if (!cq_bytes_left(b))
        return cq_image_ends("PNM");
    if (*b->at != '0' && *b->at != '1')
        return cq_image_bad("PNM", "something else where a bit should be");
    *out = *b->at++ == '1';
    return CQ_OK;
}

static cq_status read_text(cq_image *out, cq_bytes *b, uint32_t highest)
{
    size_t n = (size_t)out->width * out->height * out->channels;

    for (size_t i = 0; i < n; i++) {
        uint32_t x;

        if (!highest) { /* a bitmap, in which 1 is black */
            CQ_TRY(read_bit(&x, b));
            out->pixels[i] = x ? 0 : 255;
            continue;
        }
        CQ_TRY(read_number(&x, b));
        if (x > highest)
            return cq_image_bad("PNM", "a sample above its maximum");
        out->pixels[i] = (uint8_t)((x * 255 + highest / 2) / highest);
    }
    return CQ_OK;
}

static cq_status read_binary(cq_image *out, cq_bytes *b, uint32_t highest)
{
    size_t per_row = (size_t)out->width * out->channels, bytes = highest > 255 ? 2 : 1;
    size_t step = highest ? per_row * bytes : (per_row + 7) / 8;

    if (cq_bytes_left(b) / step < out->height)
        return cq_image_ends("PNM");
    for (size_t y = 0; y < out->height; y++, b->at += step)
        for (size_t i = 0; i < per_row; i++) {
            uint32_t x = !highest     ? cq_get_sample(b->at, i, 1, 1)
                         : bytes == 2 ? cq_get_u16(b->at + 2 * i, 1)
                                      : b->at[i];

            if (highest && x > highest)
                return cq_image_bad("PNM", "a sample above its maximum");
            out->pixels[y * per_row + i] = highest ? (uint8_t)((x * 255 + highest / 2) / highest)
                                           : x     ? 0
                                                   : 255;
        }
    return CQ_OK;
}

cq_status cq_pnm_decode(cq_image *out, cq_bytes b)
{
    unsigned kind    = b.at[1] - (unsigned)'0'; /* 1 to 3 in text, 4 to 6 in binary */
    bool     is_text = kind <= 3, is_bitmap = kind % 3 == 1;
    uint32_t width, height, highest = 0;

    b.at += 2;
    CQ_TRY(read_number(&width, &b));
    CQ_TRY(read_number(&height, &b));
    if (!is_bitmap)
        CQ_TRY(read_number(&highest, &b));
    if (!is_bitmap && (!highest || highest > 65535))
        return cq_image_bad("PNM", "a maximum that is not from 1 to 65535");
    CQ_TRY(cq_image_make(out, width, height, kind % 3 ? 1 : 3));
    if (is_text)
        return read_text(out, &b, highest);
    if (cq_bytes_left(&b))
        b.at++; /* the one space after the header */
    return read_binary(out, &b, highest);
}
