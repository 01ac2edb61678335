/* Recognises the format of a file; helpers of the decoders. */
#include "image/image.h"

#include "base/alloc.h"

#include <inttypes.h>
#include <string.h>

/* Formats without a function are known by name alone. A dot in the magic is any byte. */
static const struct {
    const char *name, *magic;
    size_t      size;
    cq_status (*decode)(cq_image *out, cq_bytes b);
} formats[] = {
    { "BMP", "BM", 2, cq_bmp_decode },
    { "JPEG", "\xff\xd8\xff", 3, cq_jpeg_decode },
    { "PNG", "\x89PNG\r\n\x1a\n", 8, cq_png_decode },
    { "PNM", "P1", 2, cq_pnm_decode },
    { "PNM", "P2", 2, cq_pnm_decode },
    { "PNM", "P3", 2, cq_pnm_decode },
    { "PNM", "P4", 2, cq_pnm_decode },
    { "PNM", "P5", 2, cq_pnm_decode },
    { "PNM", "P6", 2, cq_pnm_decode },
    { "TIFF", "II*\0", 4, cq_tiff_decode },
    { "TIFF", "MM\0*", 4, cq_tiff_decode },
    { "WebP", "RIFF....WEBP", 12, NULL },
    { "JPEG 2000", "\0\0\0\x0cjP  ", 8, NULL },
    { "JPEG 2000", "\xff\x4f\xff\x51", 4, NULL },
    { "GIF", "GIF8", 4, NULL },
    { "AVIF or HEIF", "....ftyp", 8, NULL },
    { "PAM", "P7", 2, NULL },
    { "BigTIFF", "II+\0", 4, NULL },
    { "BigTIFF", "MM\0+", 4, NULL },
};

static bool matches(const char *magic, size_t magic_size, const uint8_t *bytes, size_t size)
{
    if (size < magic_size)
        return false;
    for (size_t i = 0; i < magic_size; i++)
        if (magic[i] != '.' && (uint8_t)magic[i] != bytes[i])
            return false;
    return true;
}

cq_status cq_image_decode(cq_image *out, const void *bytes, size_t size)
{
    const char *hint = "BMP, JPEG, PNG, PNM and TIFF are read";

    *out = (cq_image){ 0 };
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (!matches(formats[i].magic, formats[i].size, bytes, size))
            continue;
        if (!formats[i].decode)
            return cq_fail(CQ_E_UNSUPPORTED, NULL, hint, "the picture is %s, which is not read",
                           formats[i].name);
        return formats[i].decode(out, (cq_bytes){ bytes, (const uint8_t *)bytes + size });
    }
    return cq_fail(CQ_E_FORMAT, NULL, hint, "%zu bytes are not a picture of a known format", size);
}

void cq_image_clear(cq_image *image)
{
    cq_free(image->pixels);
    *image = (cq_image){ 0 };
}

cq_status cq_image_make(cq_image *out, uint64_t width, uint64_t height, uint32_t channels)
{
    if (!width || !height || width > CQ_IMAGE_MAX_PIXELS || height > CQ_IMAGE_MAX_PIXELS ||
        width * height > CQ_IMAGE_MAX_PIXELS)
        return cq_fail(CQ_E_FORMAT, NULL, NULL,
                       "a picture has %" PRIu64 " x %" PRIu64 " pixels, expected 1 to %d", width,
                       height, CQ_IMAGE_MAX_PIXELS);
    out->width    = (uint32_t)width;
    out->height   = (uint32_t)height;
    out->channels = channels;
    out->pixels   = cq_zalloc((size_t)(width * height) * channels);
    return out->pixels ? CQ_OK : CQ_E_NO_MEMORY;
}

cq_status cq_image_ends(const char *format)
{
    return cq_fail(CQ_E_FORMAT, NULL, NULL, "the %s file ends early", format);
}

cq_status cq_image_bad(const char *format, const char *what)
{
    return cq_fail(CQ_E_FORMAT, NULL, NULL, "the %s file has %s", format, what);
}

cq_status cq_image_no(const char *format, const char *what)
{
    return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "%s files with %s are not read", format, what);
}
