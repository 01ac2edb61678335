/* zlib, for formats that use it: all requested bytes are returned, or it is an error. */
#include "image/image.h"

#include <zlib.h>

cq_status cq_inflate_all(const char *format, uint8_t *to, size_t size, const cq_bytes *parts,
                         size_t n_parts)
{
    z_stream  z      = { .next_out = to };
    cq_status status = CQ_OK;
    int       said   = Z_OK;

    if (inflateInit(&z) != Z_OK)
        return cq_no_memory();
    for (size_t i = 0; i < n_parts && said == Z_OK && (size || z.avail_out); i++) {
        cq_bytes in = parts[i];

        while (said == Z_OK && (cq_bytes_left(&in) || z.avail_in) && (size || z.avail_out)) {
            if (!z.avail_in) { /* zlib counts in 32 bits */
                size_t n   = cq_bytes_left(&in) < 1 << 30 ? cq_bytes_left(&in) : 1 << 30;
                z.next_in  = (uint8_t *)in.at;
                z.avail_in = (uInt)n;
                in.at += n;
            }
            if (!z.avail_out) {
                z.avail_out = (uInt)(size < 1 << 30 ? size : 1 << 30);
                size -= z.avail_out;
            }
            said = inflate(&z, Z_NO_FLUSH);
        }
    }
    if (size || z.avail_out)
        status = said == Z_OK || said == Z_STREAM_END || said == Z_BUF_ERROR
                     ? cq_image_ends(format)
                     : cq_image_bad(format, "compressed data that is damaged");
    inflateEnd(&z);
    return status;
}
