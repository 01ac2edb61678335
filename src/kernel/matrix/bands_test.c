#include "kernel/matrix/bands.h"

#include "base/thread.h"
#include "test.h"

#include <string.h>

enum { MAX_ROWS = 4096 };

static void check_cut(int64_t images, int64_t planes, int64_t rows, int64_t width, int64_t most)
{
    cq_bands b             = { .images = images, .planes = planes, .rows = rows };
    char     met[MAX_ROWS] = { 0 };
    int64_t  n             = cq_bands_cut(&b, width, width * 9, most);

    for (int64_t block = 0; block < n; block++) {
        const cq_band at = cq_bands_at(&b, block);

        CHECK(at.plane / planes == (at.plane_end - 1) / planes); /* of one image */
        for (int64_t plane = at.plane; plane < at.plane_end; plane++)
            for (int64_t y = at.y; y < at.y_end; y++)
                met[plane * rows + y]++;
    }
    for (int64_t i = 0; i < images * planes * rows; i++)
        CHECK_INT(1, met[i]);
}

TEST(bands, every_row_is_in_one_block)
{
    for (int threads = 1; threads <= 5; threads++) {
        cq_set_threads(threads);
        for (int64_t images = 0; images <= 3; images++)
            for (int64_t rows = 1; rows <= 29; rows += 7)
                for (int64_t most = 1; most <= 1 << 14; most *= 64) {
                    check_cut(images, 1, rows, 5, most);
                    check_cut(images, 37, rows, 28, most);
                }
    }
    cq_set_threads(0);
}

/* The first half of the blocks of a large image is its upper half. */
TEST(bands, threads_have_rows_of_all_planes)
{
    cq_bands b = { .images = 1, .planes = 24, .rows = 14 };
    int64_t  n;

    cq_set_threads(2);
    n = cq_bands_cut(&b, 14, 14 * 9, 1 << 14);
    cq_set_threads(0);
    for (int64_t block = 0; block < n; block++)
        CHECK_INT(block < n / 2 ? 0 : 7, cq_bands_at(&b, block).y);
}

RUN_TESTS(TEST_OF(bands, every_row_is_in_one_block),
          TEST_OF(bands, threads_have_rows_of_all_planes))
