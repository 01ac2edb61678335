#include "kernel/conv/qimage.h"

#include "base/thread.h"

#include <string.h>

enum {
    PIXELS = 64,      /* pixels that are packed at a time */
    BLOCK  = 1 << 14, /* approximate elements per block of work */
    GROUP  = 256      /* channels that are summed at a time */
};

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

int64_t cq_qimage_channels(int64_t channels)
{
    return (channels + CQ_QUANT_UNIT - 1) / CQ_QUANT_UNIT * CQ_QUANT_UNIT;
}

/* ---- layout ---- */

struct packing {
    const cq_quant_core *core;
    char                *q;
    float               *plain;
    int64_t              channels, padded, pixels, blocks; /* of one image */
    int64_t              rows, n_rows; /* pixels of a block, and of all images */
    cq_qimage_params     grid;
};

static void copy_elements(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t n,
                          int size)
{
    if (size == 1)
        for (int64_t i = 0; i < n; i++)
            to[i * to_step] = from[i * from_step];
    else
        for (int64_t i = 0; i < n; i++)
            ((int16_t *)(void *)to)[i * to_step] =
                ((const int16_t *)(const void *)from)[i * from_step];
}

/* Packs a unit of channels of n pixels, which are step units apart. */
static void join_bytes(uint32_t *to, int64_t step, const uint8_t (*from)[PIXELS], int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        to[i * step] = from[0][i] | (uint32_t)from[1][i] << 8 | (uint32_t)from[2][i] << 16 |
                       (uint32_t)from[3][i] << 24;
}

static void join_pairs(uint64_t *to, int64_t step, const uint16_t (*from)[PIXELS], int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        to[i * step] = from[0][i] | (uint64_t)from[1][i] << 16 | (uint64_t)from[2][i] << 32 |
                       (uint64_t)from[3][i] << 48;
}

static cq_status pack_block(void *user, int64_t block)
{
    const struct packing *p     = user;
    int64_t               image = block / p->blocks, first = block % p->blocks * PIXELS;
    int64_t               n = smaller(PIXELS, p->pixels - first), size = p->core->size;
    char                 *to   = p->q + (image * p->pixels + first) * p->padded * size;
    int64_t               step = p->padded / CQ_QUANT_UNIT;
    union {
        uint8_t  bytes[CQ_QUANT_UNIT][PIXELS];
        uint16_t pairs[CQ_QUANT_UNIT][PIXELS];
    } room = { .pairs = { { 0 } } };

    for (int64_t c = 0; c < p->padded; c += CQ_QUANT_UNIT) {
        for (int64_t k = 0; k < CQ_QUANT_UNIT; k++) {
            char *row = (char *)&room + k * PIXELS * size;

            if (c + k < p->channels)
                p->core->to_grid(row, p->plain + (image * p->channels + c + k) * p->pixels + first,
                                 n, p->grid.scale, p->grid.zero, p->grid.inverse);
            else
                memset(row, 0, (size_t)(PIXELS * size));
        }
        if (size != 1)
            join_pairs((uint64_t *)(void *)(to + c * size), step, room.pairs, n);
        else if (step == 1) /* compilers vectorize this form */
            join_bytes((uint32_t *)(void *)to, 1, room.bytes, n);
        else
            join_bytes((uint32_t *)(void *)(to + c), step, room.bytes, n);
    }
    return CQ_OK;
}

static cq_status unpack_block(void *user, int64_t block)
{
    const struct packing *p     = user;
    int64_t               image = block / p->blocks, first = block % p->blocks * PIXELS;
    int64_t               n = smaller(PIXELS, p->pixels - first), size = p->core->size;
    const char           *from = p->q + (image * p->pixels + first) * p->padded * size;
    int16_t               room[PIXELS];

    for (int64_t c = 0; c < p->channels; c++) {
        copy_elements((char *)room, 1, from + c * size, p->padded, n, (int)size);
        p->core->from_grid(p->plain + (image * p->channels + c) * p->pixels + first, room, n,
                           p->grid.scale, p->grid.zero);
    }
    return CQ_OK;
}

/* Channels are adjacent already. */
static cq_status pack_rows(void *user, int64_t block)
{
    const struct packing *p   = user;
    int64_t               end = smaller((block + 1) * p->rows, p->n_rows), size = p->core->size;

    for (int64_t i = block * p->rows; i < end; i++) {
        char *to = p->q + i * p->padded * size;

        p->core->to_grid(to, p->plain + i * p->channels, p->channels, p->grid.scale, p->grid.zero,
                         p->grid.inverse);
        memset(to + p->channels * size, 0, (size_t)((p->padded - p->channels) * size));
    }
    return CQ_OK;
}

static cq_status unpack_rows(void *user, int64_t block)
{
    const struct packing *p   = user;
    int64_t               end = smaller((block + 1) * p->rows, p->n_rows);

    for (int64_t i = block * p->rows; i < end; i++)
        p->core->from_grid(p->plain + i * p->channels, p->q + i * p->padded * p->core->size,
                           p->channels, p->grid.scale, p->grid.zero);
    return CQ_OK;
}

static cq_status repack(struct packing *p, int64_t n, cq_block_fn planes, cq_block_fn rows)
{
    p->core   = cq_quant_core_get();
    p->padded = cq_qimage_channels(p->channels);
    p->blocks = (p->pixels + PIXELS - 1) / PIXELS;
    p->n_rows = n;
    p->rows   = BLOCK / (p->channels + 1) + 1;
    if (p->pixels == 1)
        return cq_parallel_for((n + p->rows - 1) / p->rows, rows, p);
    return cq_parallel_for(n * p->blocks, planes, p);
}

cq_status cq_qimage_pack(void *out, const float *x, int64_t n, int64_t channels, int64_t pixels,
                         cq_qimage_params grid)
{
    struct packing p = {
        .q = out, .plain = (float *)x, .channels = channels, .pixels = pixels, .grid = grid
    };

    return repack(&p, n, pack_block, pack_rows);
}

cq_status cq_qimage_unpack(float *out, const void *x, int64_t n, int64_t channels, int64_t pixels,
                           cq_qimage_params grid)
{
    struct packing p = {
        .q = (char *)x, .plain = out, .channels = channels, .pixels = pixels, .grid = grid
    };

    return repack(&p, n, unpack_block, unpack_rows);
}

/* ---- sums ---- */

struct addition {
    const cq_quant_core *core;
    char                *out;
    const char          *a, *b;
    int64_t              n;
    const cq_quant_sum  *sum;
};

static cq_status add_block(void *user, int64_t block)
{
    const struct addition *p  = user;
    int64_t                at = block * BLOCK, bytes = at * p->core->size;

    p->core->add(p->out + bytes, p->a + bytes, p->b + bytes, smaller(BLOCK, p->n - at), p->sum);
    return CQ_OK;
}

cq_status cq_qimage_add(void *out, const void *a, const void *b, int64_t n, const cq_quant_sum *s)
{
    struct addition p = { cq_quant_core_get(), out, a, b, n, s };

    return cq_parallel_for((n + BLOCK - 1) / BLOCK, add_block, &p);
}

/* ---- pools ---- */

struct pooling {
    const cq_quant_core  *core;
    char                 *out;
    const char           *x;
    const cq_qimage_pool *p;
};

static void max_pixel(const struct pooling *s, char *to, int64_t image, int64_t y, int64_t x)
{
    const cq_qimage_pool *p     = s->p;
    const cq_window      *w     = p->window;
    int64_t               bytes = p->channels * s->core->size;
    bool                  begun = false;

    for (int64_t i = 0; i < w->kernel[0]; i++)
        for (int64_t k = 0; k < w->kernel[1]; k++) {
            int64_t     row  = y * w->stride[0] - w->padding[0] + i * w->dilation[0];
            int64_t     col  = x * w->stride[1] - w->padding[1] + k * w->dilation[1];
            const char *from = s->x + ((image * p->in[0] + row) * p->in[1] + col) * bytes;

            if (row < 0 || row >= p->in[0] || col < 0 || col >= p->in[1])
                continue;
            if (begun)
                s->core->max(to, from, p->channels);
            else
                memcpy(to, from, (size_t)bytes);
            begun = true;
        }
    if (!begun)
        memset(to, 0, (size_t)bytes);
}

static cq_status max_row(void *user, int64_t row)
{
    const struct pooling *s     = user;
    int64_t               bytes = s->p->channels * s->core->size;

    for (int64_t x = 0; x < s->p->out[1]; x++)
        max_pixel(s, s->out + (row * s->p->out[1] + x) * bytes, row / s->p->out[0],
                  row % s->p->out[0], x);
    return CQ_OK;
}

cq_status cq_qimage_max_pool(void *out, const void *x, const cq_qimage_pool *p)
{
    struct pooling s = { cq_quant_core_get(), out, x, p };

    return cq_parallel_for(p->batch * p->out[0], max_row, &s);
}

cq_status cq_qimage_mean(void *out, const void *x, int64_t batch, int64_t channels, int64_t pixels,
                         cq_qimage_params from, cq_qimage_params to)
{
    const cq_quant_core *core  = cq_quant_core_get();
    float                scale = from.scale / to.scale / (float)pixels;
    float                bias  = -(float)from.zero * from.scale / to.scale;
    float                scales[GROUP], biases[GROUP];
    int32_t              start[GROUP] = { 0 }, sums[GROUP];
    cq_quant_finish      f = { start,   scales, biases, (float)-to.zero, (float)(255 - to.zero),
                               to.zero, false };

    for (int i = 0; i < GROUP; i++) {
        scales[i] = scale;
        biases[i] = bias;
    }
    for (int64_t image = 0; image < batch; image++)
        for (int64_t c = 0; c < channels; c += GROUP) {
            int64_t     n  = smaller(GROUP, channels - c);
            const char *px = (const char *)x + (image * pixels * channels + c) * core->size;

            memset(sums, 0, sizeof sums);
            for (int64_t i = 0; i < pixels; i++)
                core->sum(sums, px + i * channels * core->size, n);
            core->finish((char *)out + (image * channels + c) * core->size, sums, n, &f);
        }
    return CQ_OK;
}
