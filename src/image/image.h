/* Images in files: BMP, JPEG, PNG, PNM and TIFF, decoded to bytes of grey or of red, green and
 * blue. The format is recognised by content. Other common formats (WebP, JPEG 2000, GIF …) are
 * rejected by name. Transparency is dropped, 16-bit samples keep their upper 8 bits.
 *
 * Files are untrusted: sizes are checked against CQ_IMAGE_MAX_PIXELS before memory is allocated,
 * and a truncated file is an error, not half an image. */
#ifndef CQ_IMAGE_IMAGE_H
#define CQ_IMAGE_IMAGE_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

#define CQ_IMAGE_MAX_PIXELS (1 << 26)

typedef struct cq_image {
    uint32_t width, height, channels; /* channels: 1 or 3 */
    uint8_t *pixels;                  /* row by row from the top, channels side by side */
} cq_image;

/* Free *out with cq_image_clear, also after a failure. */
cq_status cq_image_decode(cq_image *out, const void *bytes, size_t size);
void      cq_image_clear(cq_image *image);

/* ---- for the decoders ---- */

/* Takes memory for width * height pixels, all 0, after checking the sizes. */
cq_status cq_image_make(cq_image *out, uint64_t width, uint64_t height, uint32_t channels);

/* The remaining bytes. */
typedef struct cq_bytes {
    const uint8_t *at, *end;
} cq_bytes;

static inline size_t cq_bytes_left(const cq_bytes *b)
{
    return (size_t)(b->end - b->at);
}

static inline uint32_t cq_get_u16(const uint8_t *at, int is_big)
{
    return is_big ? (uint32_t)at[0] << 8 | at[1] : (uint32_t)at[1] << 8 | at[0];
}

static inline uint32_t cq_get_u32(const uint8_t *at, int is_big)
{
    return is_big ? cq_get_u16(at, 1) << 16 | cq_get_u16(at + 2, 1)
                  : cq_get_u16(at + 2, 0) << 16 | cq_get_u16(at, 0);
}

/* A run of samples of 1, 2, 4, 8 or 16 bits, the first in the upper bits of its byte. Of 16 bits
 * it is the upper byte. */
static inline unsigned cq_get_sample(const uint8_t *row, size_t i, unsigned bits, int is_big)
{
    if (bits == 16)
        return row[2 * i + (is_big ? 0 : 1)];
    return row[i * bits / 8] >> (8 - bits - i * bits % 8) & ((1u << bits) - 1);
}

cq_status cq_image_ends(const char *format); /* "the PNG file ends early" */
cq_status cq_image_bad(const char *format, const char *what);
cq_status cq_image_no(const char *format, const char *what); /* "PNG files with … are not read" */

/* zlib's inflate into exactly size bytes, and no more. */
cq_status cq_inflate_all(const char *format, uint8_t *to, size_t size, const cq_bytes *parts,
                         size_t n_parts);

cq_status cq_bmp_decode(cq_image *out, cq_bytes b);
cq_status cq_jpeg_decode(cq_image *out, cq_bytes b);
cq_status cq_png_decode(cq_image *out, cq_bytes b);
cq_status cq_pnm_decode(cq_image *out, cq_bytes b);
cq_status cq_tiff_decode(cq_image *out, cq_bytes b);

#endif
