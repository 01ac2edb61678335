#include "kernel/matrix/bands.h"

#include "base/thread.h"

static int64_t parts(int64_t n, int64_t each)
{
    return (n + each - 1) / each;
}

/* The number of bands is a multiple of the number of usable threads, so that threads get equal
 * shares. */
int64_t cq_bands_cut(cq_bands *b, int64_t width, int64_t work, int64_t most)
{
    const int64_t threads = cq_threads();

    if (!b->images || !b->planes || !b->rows)
        return 0;
    b->n_bands = parts(b->rows, most / (work + 1) + 1);
    if (b->images < threads && b->rows * width > CQ_PIXEL_BLOCK)
        b->n_bands = parts(b->n_bands, threads) * threads;
    b->height   = parts(b->rows, b->n_bands);
    b->n_bands  = parts(b->rows, b->height);
    b->group    = most / (work * b->height + 1) + 1;
    b->n_groups = parts(b->planes, b->group);
    return b->images * b->n_bands * b->n_groups;
}

cq_band cq_bands_at(const cq_bands *b, int64_t block)
{
    const int64_t group = block % b->n_groups, band = block / b->n_groups % b->n_bands;
    const int64_t first = block / b->n_groups / b->n_bands * b->planes;
    cq_band       at    = { first + group * b->group, 0, band * b->height, 0 };

    at.plane_end =
        at.plane + b->group < first + b->planes ? at.plane + b->group : first + b->planes;
    at.y_end = at.y + b->height < b->rows ? at.y + b->height : b->rows;
    return at;
}
