/* JPEG, baseline and progressive, with Huffman codes and samples of eight bits: the markers. */
#include "image/jpeg.h"

#include "base/alloc.h"

#include <string.h>

const uint8_t cq_jpeg_natural[64] = {
    0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48,
    41, 34, 27, 20, 13, 6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23,
    30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
};

enum {
    SOF0 = 0xc0,
    SOF1,
    SOF2,
    DHT  = 0xc4,
    RST0 = 0xd0,
    RST7 = 0xd7,
    SOI,
    EOI,
    SOS,
    DQT,
    DNL,
    DRI,
    APP0  = 0xe0,
    APP14 = 0xee
};

#define MAX_SCANS 64 /* each covers the whole image, and may be a few bytes long */

static cq_status bad_size(void)
{
    return cq_image_bad("JPEG", "a segment of the wrong size");
}

static cq_status read_quantization(cq_jpeg *j, cq_bytes b)
{
    while (cq_bytes_left(&b)) {
        unsigned head = *b.at++, bytes = head >> 4 ? 2 : 1, which = head & 15;

        if (which > 3 || head >> 4 > 1 || cq_bytes_left(&b) < 64 * bytes)
            return bad_size();
        for (int i = 0; i < 64; i++, b.at += bytes)
            j->quantization[which][cq_jpeg_natural[i]] =
                (uint16_t)(bytes == 2 ? cq_get_u16(b.at, 1) : *b.at);
        j->has_quantization[which] = true;
    }
    return CQ_OK;
}

static cq_status read_codes(cq_jpeg *j, cq_bytes b)
{
    while (cq_bytes_left(&b)) {
        unsigned       head = *b.at++;
        cq_jpeg_codes *codes;
        int32_t        code = 0, n = 0;

        if (head >> 4 > 1 || (head & 15) > 3 || cq_bytes_left(&b) < 16)
            return bad_size();
        codes = &j->codes[head >> 4][head & 15];
        memcpy(codes->counts + 1, b.at, 16);
        b.at += 16;
        for (int len = 1; len <= 16; len++) {
            codes->first[len] = code;
            codes->index[len] = n;
            n += codes->counts[len];
            code += codes->counts[len];
            if (code > 1 << len)
                return cq_image_bad("JPEG", "more codes than there can be");
            code *= 2;
        }
        if (n > 256 || cq_bytes_left(&b) < (size_t)n)
            return bad_size();
        memcpy(codes->values, b.at, (size_t)n);
        b.at += n;
        codes->is_given = true;
    }
    return CQ_OK;
}

static uint32_t ceil_div(uint32_t a, uint32_t b)
{
    return (a + b - 1) / b;
}

static cq_status make_blocks(cq_jpeg *j)
{
    uint32_t units_across = ceil_div(j->width, 8 * (uint32_t)j->across);
    uint32_t units_down   = ceil_div(j->height, 8 * (uint32_t)j->down);

    for (int i = 0; i < j->n_components; i++) {
        cq_jpeg_component *c = &j->components[i];

        if (j->across % c->across || j->down % c->down)
            return cq_image_no("JPEG", "components whose sizes are not multiples");
        c->width   = ceil_div(j->width * c->across, (uint32_t)j->across);
        c->height  = ceil_div(j->height * c->down, (uint32_t)j->down);
        c->columns = units_across * c->across;
        c->rows    = units_down * c->down;
        c->blocks  = cq_zalloc((size_t)c->columns * c->rows * 64 * sizeof *c->blocks);
        if (!c->blocks)
            return CQ_E_NO_MEMORY;
    }
    return CQ_OK;
}

static cq_status read_frame(cq_jpeg *j, cq_bytes b, bool is_progressive)
{
    if (j->has_frame)
        return cq_image_bad("JPEG", "a second frame");
    if (cq_bytes_left(&b) < 6)
        return bad_size();
    if (*b.at != 8)
        return cq_image_no("JPEG", "samples that do not have eight bits");
    j->is_progressive = is_progressive;
    j->height         = cq_get_u16(b.at + 1, 1);
    j->width          = cq_get_u16(b.at + 3, 1);
    j->n_components   = b.at[5];
    b.at += 6;
    if (!j->width || !j->height || (uint64_t)j->width * j->height > CQ_IMAGE_MAX_PIXELS)
        return cq_image_bad("JPEG", "no size, or one that is too large");
    if (j->n_components == 4)
        return cq_image_no("JPEG", "four colours (CMYK)");
    if (j->n_components != 1 && j->n_components != 3)
        return cq_image_bad("JPEG", "the wrong number of components");
    if (cq_bytes_left(&b) < 3 * (size_t)j->n_components)
        return bad_size();
    for (int i = 0; i < j->n_components; i++, b.at += 3) {
        cq_jpeg_component *c = &j->components[i];

        c->id     = b.at[0];
        c->across = b.at[1] >> 4;
        c->down   = b.at[1] & 15;
        c->table  = b.at[2];
        if (!c->across || c->across > 4 || !c->down || c->down > 4 || c->table > 3)
            return cq_image_bad("JPEG", "a component that cannot be");
        if (j->n_components == 1)
            c->across = c->down = 1; /* a single component defines the sampling */
        j->across = c->across > j->across ? c->across : j->across;
        j->down   = c->down > j->down ? c->down : j->down;
    }
    j->has_frame = true;
    return make_blocks(j);
}

static cq_jpeg_component *find_component(cq_jpeg *j, uint8_t id)
{
    for (int i = 0; i < j->n_components; i++)
        if (j->components[i].id == id)
            return &j->components[i];
    return NULL;
}

static bool is_sound(const cq_jpeg *j, const cq_jpeg_scan *s)
{
    if (!j->is_progressive)
        return s->first == 0 && s->last == 63 && !s->high && !s->low;
    return s->first <= s->last && s->last < 64 && (s->first || !s->last) &&
           (!s->first || s->n == 1) && s->low < 14 && (!s->high || s->high == s->low + 1);
}

static cq_status start_scan(cq_jpeg *j, cq_bytes head, cq_bytes *b)
{
    cq_jpeg_scan s = { .n = cq_bytes_left(&head) ? *head.at++ : 0 };

    if (!j->has_frame || s.n < 1 || s.n > j->n_components ||
        cq_bytes_left(&head) < 2 * (size_t)s.n + 3)
        return bad_size();
    for (int i = 0; i < s.n; i++, head.at += 2) {
        s.components[i] = find_component(j, head.at[0]);
        s.codes[i][0]   = head.at[1] >> 4;
        s.codes[i][1]   = head.at[1] & 15;
        if (!s.components[i] || s.codes[i][0] > 3 || s.codes[i][1] > 3)
            return cq_image_bad("JPEG", "a scan refers to a missing component");
        for (int k = 0; k < i; k++)
            if (s.components[k] == s.components[i])
                return cq_image_bad("JPEG", "a component twice in a scan");
    }
    s.first = head.at[0];
    s.last  = head.at[1];
    s.high  = head.at[2] >> 4;
    s.low   = head.at[2] & 15;
    if (!is_sound(j, &s))
        return cq_image_bad("JPEG", "a scan refers to missing coefficients");
    if (++j->n_scans > MAX_SCANS)
        return cq_image_bad("JPEG", "too many scans");
    return cq_jpeg_read_scan(j, &s, b);
}

static cq_status read_segment(cq_jpeg *j, unsigned marker, cq_bytes body, cq_bytes *b)
{
    size_t size = cq_bytes_left(&body);

    switch (marker) {
    case SOF0:
    case SOF1:
    case SOF2: return read_frame(j, body, marker == SOF2);
    case DHT: return read_codes(j, body);
    case DQT: return read_quantization(j, body);
    case DRI:
        j->restart = size >= 2 ? cq_get_u16(body.at, 1) : 0;
        return size >= 2 ? CQ_OK : bad_size();
    case SOS: return start_scan(j, body, b);
    case APP0: j->is_jfif |= size >= 5 && !memcmp(body.at, "JFIF", 5); return CQ_OK;
    case APP14:
        if (size >= 12 && !memcmp(body.at, "Adobe", 5)) {
            j->is_adobe  = true;
            j->transform = body.at[11];
        }
        return CQ_OK;
    case DNL: return cq_image_no("JPEG", "a height that comes later");
    default:
        if (marker > SOF2 && marker < RST0) /* DHT aside, these are kinds of frames */
            return cq_image_no("JPEG", "arithmetic coding, or without loss");
        return CQ_OK;
    }
}

static cq_status read_markers(cq_jpeg *j, cq_bytes b)
{
    for (b.at += 2;;) {
        unsigned marker;
        size_t   size;

        while (cq_bytes_left(&b) && *b.at != 0xff)
            b.at++;
        while (cq_bytes_left(&b) && *b.at == 0xff)
            b.at++;
        if (!cq_bytes_left(&b)) /* the marker of the end is often left out */
            return j->n_scans && !j->is_progressive ? CQ_OK : cq_image_ends("JPEG");
        marker = *b.at++;
        if (marker == EOI)
            return j->n_scans ? CQ_OK : cq_image_bad("JPEG", "no picture");
        if (marker <= 1 || (marker >= RST0 && marker <= SOI))
            continue; /* nothing belongs to it */
        if (cq_bytes_left(&b) < 2)
            return cq_image_ends("JPEG");
        size = cq_get_u16(b.at, 1);
        if (size < 2)
            return bad_size();
        if (size > cq_bytes_left(&b))
            return cq_image_ends("JPEG");
        b.at += size;
        CQ_TRY(read_segment(j, marker, (cq_bytes){ b.at - size + 2, b.at }, &b));
    }
}

cq_status cq_jpeg_decode(cq_image *out, cq_bytes b)
{
    cq_jpeg  *j = cq_zalloc(sizeof *j);
    cq_status status;

    if (!j)
        return CQ_E_NO_MEMORY;
    status = read_markers(j, b);
    if (status == CQ_OK)
        status = cq_jpeg_make_samples(j);
    if (status == CQ_OK)
        status = cq_jpeg_make_pixels(out, j);
    for (int i = 0; i < CQ_JPEG_MAX_COMPONENTS; i++) {
        cq_free(j->components[i].blocks);
        cq_free(j->components[i].samples);
    }
    cq_free(j);
    return status;
}
