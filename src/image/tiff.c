/* TIFF: a list of tags has the offsets of strips of rows and their compression. Grey, palette and
 * RGB, with samples of a pixel adjacent; uncompressed, PackBits, LZW and deflate. Tiles, other
 * compressions and all images after the first are not supported. */
#include "image/image.h"

#include "base/alloc.h"

#include <string.h>

enum {
    WIDTH = 256,
    HEIGHT,
    BITS,
    COMPRESSION,
    PHOTOMETRIC   = 262,
    STRIP_OFFSETS = 273,
    SAMPLES       = 277,
    ROWS_PER_STRIP,
    STRIP_SIZES,
    PLANAR        = 284,
    PREDICTOR     = 317,
    COLOR_MAP     = 320,
    TILE_WIDTH    = 322,
    SAMPLE_FORMAT = 339
};
enum { PLAIN = 1, LZW = 5, DEFLATE = 8, OLD_DEFLATE = 32946, PACK_BITS = 32773 };
enum { WHITE_IS_ZERO, BLACK_IS_ZERO, RGB, PALETTE };

typedef struct tiff {
    const uint8_t *file;
    size_t         size;
    int            is_big;
    uint32_t       n_tags;
    const uint8_t *tags;
    uint32_t width, height, bits, samples, compression, photometric, rows_per_strip, predictor;
    uint8_t  palette[256][3];
} tiff;

#define MAX_TAGS 256 /* a file has a few dozen; they are searched linearly */

/* ---- tags ---- */

/* Value i of a numeric tag; false: it does not exist. */
static bool tag_value(uint32_t *out, const tiff *t, uint32_t tag, uint32_t i)
{
    static const uint8_t sizes[] = { 0, 1, 0, 2, 4 }; /* byte, short and long */

    for (uint32_t k = 0; k < t->n_tags; k++) {
        const uint8_t *entry = t->tags + 12 * (size_t)k, *values = entry + 8;
        uint32_t type = cq_get_u16(entry + 2, t->is_big), n = cq_get_u32(entry + 4, t->is_big);
        uint32_t size = type < sizeof sizes ? sizes[type] : 0;

        if (cq_get_u16(entry, t->is_big) != tag)
            continue;
        if (!size || i >= n)
            return false;
        if ((uint64_t)n * size > 4) {
            uint32_t at = cq_get_u32(values, t->is_big);

            if ((uint64_t)at + (uint64_t)n * size > t->size)
                return false;
            values = t->file + at;
        }
        values += (size_t)i * size;
        *out = size == 1   ? *values
               : size == 2 ? cq_get_u16(values, t->is_big)
                           : cq_get_u32(values, t->is_big);
        return true;
    }
    return false;
}

static uint32_t tag_or(const tiff *t, uint32_t tag, uint32_t fallback)
{
    uint32_t value;

    return tag_value(&value, t, tag, 0) ? value : fallback;
}

static cq_status read_tags(tiff *t)
{
    uint32_t at, ignored;

    if (t->size < 8)
        return cq_image_ends("TIFF");
    t->is_big = t->file[0] == 'M';
    at        = cq_get_u32(t->file + 4, t->is_big);
    if (at > t->size || t->size - at < 2)
        return cq_image_ends("TIFF");
    t->n_tags = cq_get_u16(t->file + at, t->is_big);
    t->tags   = t->file + at + 2;
    if (t->n_tags > MAX_TAGS)
        return cq_image_bad("TIFF", "too many tags");
    if ((t->size - at - 2) / 12 < t->n_tags)
        return cq_image_ends("TIFF");
    t->width          = tag_or(t, WIDTH, 0);
    t->height         = tag_or(t, HEIGHT, 0);
    t->bits           = tag_or(t, BITS, 1);
    t->samples        = tag_or(t, SAMPLES, 1);
    t->compression    = tag_or(t, COMPRESSION, PLAIN);
    t->photometric    = tag_or(t, PHOTOMETRIC, BLACK_IS_ZERO);
    t->rows_per_strip = tag_or(t, ROWS_PER_STRIP, UINT32_MAX);
    t->predictor      = tag_or(t, PREDICTOR, 1);
    if (tag_value(&ignored, t, TILE_WIDTH, 0))
        return cq_image_no("TIFF", "tiles");
    if (t->photometric > PALETTE)
        return cq_image_no("TIFF", "other colours than grey, RGB and palettes");
    if (tag_or(t, SAMPLE_FORMAT, 1) != 1)
        return cq_image_no("TIFF", "samples that are not unsigned integers");
    if (t->samples > 1 && tag_or(t, PLANAR, 1) != 1)
        return cq_image_no("TIFF", "planes");
    return CQ_OK;
}

static cq_status check_tags(const tiff *t)
{
    if (t->bits != 1 && t->bits != 2 && t->bits != 4 && t->bits != 8 && t->bits != 16)
        return cq_image_no("TIFF", "samples of that many bits");
    if (t->samples < (t->photometric == RGB ? 3u : 1u) || t->samples > 16)
        return cq_image_bad("TIFF", "the wrong number of samples");
    for (uint32_t i = 1, bits; i < t->samples; i++)
        if (!tag_value(&bits, t, BITS, i) || bits != t->bits)
            return cq_image_no("TIFF", "samples of different sizes");
    if (t->photometric == PALETTE && (t->bits > 8 || t->samples != 1))
        return cq_image_bad("TIFF", "a palette for samples that are too large");
    if (t->predictor > 2 || (t->predictor == 2 && t->bits < 8))
        return cq_image_no("TIFF", "that predictor");
    return t->rows_per_strip ? CQ_OK : cq_image_bad("TIFF", "strips without rows");
}

/* ---- unpacking a strip into exactly size bytes ---- */

static cq_status unpack_bits(uint8_t *to, size_t size, cq_bytes b)
{
    while (size) {
        size_t n;
        int    code;

        if (cq_bytes_left(&b) < 2)
            return cq_image_ends("TIFF");
        code = (int8_t)*b.at++;
        n    = code >= 0 ? (size_t)code + 1 : (size_t)(1 - code);
        if (code == -128)
            continue;
        if (n > size || (code >= 0 && n > cq_bytes_left(&b)))
            return cq_image_bad("TIFF", "packed bits that do not fit");
        if (code >= 0)
            memcpy(to, b.at, n);
        else
            memset(to, *b.at, n);
        b.at += code >= 0 ? n : 1;
        to += n;
        size -= n;
    }
    return CQ_OK;
}

enum { LZW_CLEAR = 256, LZW_END, LZW_FIRST, LZW_CODES = 4096 };

/* A code refers to a string in the output: its offset and length. */
typedef struct lzw_code {
    size_t at, len;
} lzw_code;

static cq_status unpack_codes(uint8_t *to, size_t size, cq_bytes b, lzw_code *codes)
{
    lzw_code last = { 0, 0 };
    unsigned next = LZW_FIRST, width = 9, n_bits = 0;
    uint32_t window = 0;
    size_t   done   = 0;

    while (done < size) {
        unsigned code;
        lzw_code now = { done, 1 };

        for (; n_bits < width; n_bits += 8) {
            if (!cq_bytes_left(&b))
                return cq_image_ends("TIFF");
            window = window << 8 | *b.at++;
        }
        n_bits -= width;
        code = window >> n_bits & ((1u << width) - 1);
        if (code == LZW_END)
            return cq_image_ends("TIFF");
        if (code == LZW_CLEAR) {
            next  = LZW_FIRST;
            width = 9;
            last  = (lzw_code){ 0, 0 };
            continue;
        }
        if (code < LZW_CLEAR) {
            to[done] = (uint8_t)code;
        } else {
            /* The one that is being made now is the last string and its own first byte. */
            lzw_code from = code < next    ? codes[code]
                            : code == next ? (lzw_code){ last.at, last.len + 1 }
                                           : (lzw_code){ 0, 0 };

            if (!from.len || !last.len)
                return cq_image_bad("TIFF", "a code of LZW that is not known yet");
            now.len = from.len < size - done ? from.len : size - done;
            for (size_t i = 0; i < now.len; i++)
                to[done + i] = to[from.at + i];
        }
        if (last.len && next < LZW_CODES)
            codes[next++] = (lzw_code){ last.at, last.len + 1 };
        if (next + 1 >= 1u << width && width < 12)
            width++;
        last = now;
        done += now.len;
    }
    return CQ_OK;
}

static cq_status unpack_lzw(uint8_t *to, size_t size, cq_bytes b)
{
    lzw_code *codes = cq_alloc_array(LZW_CODES, sizeof *codes);
    cq_status status;

    if (!codes)
        return CQ_E_NO_MEMORY;
    status = unpack_codes(to, size, b, codes);
    cq_free(codes);
    return status;
}

static cq_status unpack(uint8_t *to, size_t size, const tiff *t, cq_bytes b)
{
    switch (t->compression) {
    case PLAIN:
        if (cq_bytes_left(&b) < size)
            return cq_image_ends("TIFF");
        memcpy(to, b.at, size);
        return CQ_OK;
    case PACK_BITS: return unpack_bits(to, size, b);
    case LZW: return unpack_lzw(to, size, b);
    case DEFLATE:
    case OLD_DEFLATE: return cq_inflate_all("TIFF", to, size, &b, 1);
    default: return cq_image_no("TIFF", "that compression");
    }
}

/* ---- pixels ---- */

static cq_status read_palette(tiff *t)
{
    uint32_t n = 1u << t->bits;

    for (uint32_t i = 0; i < 3 * n; i++) {
        uint32_t color; /* all reds, then all greens, then all blues, of 16 bits */

        if (!tag_value(&color, t, COLOR_MAP, i))
            return cq_image_bad("TIFF", "no palette, or one that is too short");
        t->palette[i % n][i / n] = (uint8_t)(color >> 8);
    }
    return CQ_OK;
}

/* A sample was written as the difference to the one of the pixel before. */
static void undo_differences(uint8_t *row, const tiff *t)
{
    for (size_t i = t->samples; i < (size_t)t->width * t->samples; i++) {
        if (t->bits == 8) {
            row[i] = (uint8_t)(row[i] + row[i - t->samples]);
        } else {
            uint32_t x = cq_get_u16(row + 2 * i, t->is_big) +
                         cq_get_u16(row + 2 * (i - t->samples), t->is_big);

            row[2 * i + !t->is_big] = (uint8_t)(x >> 8);
            row[2 * i + t->is_big]  = (uint8_t)x;
        }
    }
}

static void put_row(uint8_t *to, const tiff *t, const uint8_t *row, uint32_t channels)
{
    unsigned highest = t->bits >= 8 ? 255 : (1u << t->bits) - 1;

    for (size_t x = 0; x < t->width; x++)
        for (uint32_t c = 0; c < channels; c++, to++) {
            size_t   at     = t->photometric == PALETTE ? x : x * t->samples + c;
            unsigned sample = cq_get_sample(row, at, t->bits, t->is_big);

            if (t->photometric == PALETTE)
                *to = t->palette[sample][c];
            else
                *to = (uint8_t)(t->photometric == WHITE_IS_ZERO ? 255 - sample * 255 / highest
                                                                : sample * 255 / highest);
        }
}

cq_status cq_tiff_decode(cq_image *out, cq_bytes b)
{
    tiff      t      = { .file = b.at, .size = cq_bytes_left(&b) };
    cq_status status = CQ_OK;
    uint8_t  *rows;
    size_t    step;

    CQ_TRY(read_tags(&t));
    CQ_TRY(check_tags(&t));
    if (t.photometric == PALETTE)
        CQ_TRY(read_palette(&t));
    CQ_TRY(cq_image_make(out, t.width, t.height, t.photometric >= RGB ? 3 : 1));
    if (t.rows_per_strip > t.height)
        t.rows_per_strip = t.height;
    step = ((size_t)t.width * t.samples * t.bits + 7) / 8;
    rows = cq_alloc_array(t.rows_per_strip, step);
    if (!rows)
        return CQ_E_NO_MEMORY;
    for (uint32_t y = 0, strip = 0; y < t.height && status == CQ_OK; strip++) {
        uint32_t at, size, n = t.height - y < t.rows_per_strip ? t.height - y : t.rows_per_strip;

        if (!tag_value(&at, &t, STRIP_OFFSETS, strip) || at > t.size)
            status = cq_image_ends("TIFF");
        else if (!tag_value(&size, &t, STRIP_SIZES, strip) || size > t.size - at)
            size = (uint32_t)(t.size - at);
        if (status == CQ_OK)
            status = unpack(rows, n * step, &t, (cq_bytes){ t.file + at, t.file + at + size });
        for (uint32_t i = 0; i < n && status == CQ_OK; i++, y++) {
            if (t.predictor == 2)
                undo_differences(rows + i * step, &t);
            put_row(out->pixels + (size_t)y * t.width * out->channels, &t, rows + i * step,
                    out->channels);
        }
    }
    cq_free(rows);
    return status;
}
