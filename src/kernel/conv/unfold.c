/* The unfolded image, a row at a time. Padding is zero in every element type, and zero is
 * all bits zero, so elements are only copied and their type does not matter. */
#include "kernel/conv/unfold.h"

enum { LINE_BYTES = 4096 }; /* gemm packs at most 256 columns of 16 bytes at once */

static void gather(char *dst, const char *src, int64_t step, int64_t n, size_t size)
{
    if (step == 1) {
        memcpy(dst, src, (size_t)n * size);
        return;
    }
    switch (size) {
    case 4:
        for (int64_t i = 0; i < n; i++)
            memcpy(dst + 4 * i, src + 4 * i * step, 4);
        break;
    case 8:
        for (int64_t i = 0; i < n; i++)
            memcpy(dst + 8 * i, src + 8 * i * step, 8);
        break;
    default:
        for (int64_t i = 0; i < n; i++)
            memcpy(dst + i * (int64_t)size, src + i * step * (int64_t)size, size);
    }
}

/* The offset in a channel of a kernel position for one output row, without the last axis; -1 if it
 * is outside. */
static int64_t row_start(const cq_slide *s, const int64_t *kernel_at, const int64_t *at)
{
    int64_t start = 0;

    for (int i = 0; i < s->n_dims - 1; i++) {
        int64_t y = at[i] * s->stride[i] - s->padding[i] + kernel_at[i] * s->dilation[i];

        if (y < 0 || y >= s->in[i])
            return -1;
        start += y * s->in_step[i];
    }
    return start;
}

void cq_unfold_row(void *out, const cq_unfold *u, int64_t row, int64_t first, int64_t n)
{
    const cq_slide *s    = u->slide;
    int             last = s->n_dims - 1;
    int64_t         size = (int64_t)u->size, kernel_at[CQ_MAX_SPATIAL], at[CQ_MAX_SPATIAL];
    int64_t         lo, hi, shift, width = s->out[last];
    const char     *channel = u->image + row / s->taps * s->in_plane * size;
    char           *to      = out;

    cq_grid_at(kernel_at, s->n_dims, s->kernel, row % s->taps);
    cq_grid_at(at, s->n_dims, s->out, first);
    shift = kernel_at[last] * s->dilation[last];
    cq_slide_inside(s, last, shift, &lo, &hi);
    shift -= s->padding[last];
    while (n > 0) {
        int64_t begin = at[last], end = width - begin < n ? width : begin + n;
        int64_t start = row_start(s, kernel_at, at);
        int64_t from = lo > begin ? lo : begin, to_end = hi < end ? hi : end;

        if (start < 0 || from >= to_end) {
            memset(to, 0, (size_t)((end - begin) * size));
        } else {
            memset(to, 0, (size_t)((from - begin) * size));
            gather(to + (from - begin) * size,
                   channel + (start + from * s->stride[last] + shift) * size, s->stride[last],
                   to_end - from, u->size);
            memset(to + (to_end - begin) * size, 0, (size_t)((end - to_end) * size));
        }
        to += (end - begin) * size;
        n -= end - begin;
        at[last] = 0;
        cq_grid_next(at, last, s->out);
    }
}

void cq_unfold_pack(void *dst, const void *user, int64_t k0, int64_t kc, int64_t n0, int64_t nc,
                    int nr)
{
    const cq_unfold *u    = user;
    int64_t          size = (int64_t)u->size, width = nr * size, step = LINE_BYTES / size / nr * nr;
    char             line[LINE_BYTES];

    for (int64_t j0 = 0; j0 < nc; j0 += step) {
        int64_t n = nc - j0 < step ? nc - j0 : step, padded = (n + nr - 1) / nr * nr;

        memset(line + n * size, 0, (size_t)((padded - n) * size));
        for (int64_t k = 0; k < kc; k++) {
            char *to = (char *)dst + (j0 * kc + k * nr) * size;

            cq_unfold_row(line, u, k0 + k, n0 + j0, n);
            if (width == 64) /* the panel size of AVX2 as a constant */
                for (int64_t j = 0; j < padded * size; j += 64, to += kc * 64)
                    memcpy(to, line + j, 64);
            else
                for (int64_t j = 0; j < padded * size; j += width, to += kc * width)
                    memcpy(to, line + j, (size_t)width);
        }
    }
}

void cq_unfold_pack_transposed(void *dst, const void *user, int64_t k0, int64_t kc, int64_t n0,
                               int64_t nc, int nr)
{
    const cq_unfold *u    = user;
    int64_t          size = (int64_t)u->size, step = LINE_BYTES / size;
    char             line[LINE_BYTES];

    for (int64_t j = 0; j < (nc + nr - 1) / nr * nr; j++) {
        char *to = (char *)dst + (j / nr * nr * kc + j % nr) * size;

        for (int64_t k = 0; k < kc; k += step) {
            int64_t n = kc - k < step ? kc - k : step;

            if (j < nc)
                cq_unfold_row(line, u, n0 + j, k0 + k, n);
            else
                memset(line, 0, (size_t)(n * size));
            for (int64_t i = 0; i < n; i++)
                memcpy(to + (k + i) * nr * size, line + i * size, (size_t)size);
        }
    }
}
