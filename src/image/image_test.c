#include "image/image.h"

#include "test.h"

#include <stdlib.h>
#include <string.h>

#define DECODE(image, text) cq_image_decode(&(image), text, sizeof(text) - 1)

TEST(image, text_and_binary_are_the_same_picture)
{
    cq_image a, b;

    CHECK_OK(DECODE(a, "P2\n# grey\n2 2 255\n0 1 2 200\n"));
    CHECK_OK(DECODE(b, "P5 2 2 255\n\x00\x01\x02\xc8"));
    CHECK_INT(2, a.width);
    CHECK_INT(2, a.height);
    CHECK_INT(1, a.channels);
    assert_memory_equal("\x00\x01\x02\xc8", a.pixels, 4);
    assert_memory_equal(a.pixels, b.pixels, 4);
    cq_image_clear(&a);
    cq_image_clear(&b);
}

TEST(image, unsupported_formats_are_refused_by_name)
{
    cq_image image;

    CHECK_STATUS(CQ_E_UNSUPPORTED, DECODE(image, "RIFF\0\0\0\0WEBPVP8 "));
    CHECK_STR("the picture is WebP, which is not read", cq_last_error()->message);
    CHECK_STATUS(CQ_E_FORMAT, DECODE(image, "hello"));
    CHECK_STATUS(CQ_E_FORMAT, DECODE(image, ""));
}

TEST(image, sizes_are_checked_before_memory_is_taken)
{
    cq_image image;

    CHECK_STATUS(CQ_E_FORMAT, DECODE(image, "P5 100000 100000 255\n"));
    CHECK_STR("a picture has 100000 x 100000 pixels, expected 1 to 67108864",
              cq_last_error()->message);
    CHECK_STATUS(CQ_E_FORMAT, DECODE(image, "P5 0 1 255\n"));
    cq_image_clear(&image);
}

/* 2 x 1 pixels each, of red and of blue. */
static const char bmp[] = "BM\x3e\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\x02\0\0\0\x01\0\0\0\x01\0\x18\0"
                          "\0\0\0\0\x08\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
                          "\0\0\xff\xff\0\0\0\0";
static const char tiff[] = "II*\0\x0e\0\0\0\xff\0\0\0\0\xff\x07\0"
                           "\x00\x01\x03\0\x01\0\0\0\x02\0\0\0" /* width */
                           "\x01\x01\x03\0\x01\0\0\0\x01\0\0\0" /* height */
                           "\x02\x01\x01\0\x03\0\0\0\x08\x08\x08\0"
                           "\x06\x01\x03\0\x01\0\0\0\x02\0\0\0" /* RGB */
                           "\x11\x01\x04\0\x01\0\0\0\x08\0\0\0" /* where the strip is */
                           "\x15\x01\x03\0\x01\0\0\0\x03\0\0\0" /* samples */
                           "\x17\x01\x04\0\x01\0\0\0\x06\0\0\0" /* its bytes */;

static void check_every_part(const char *file, size_t size, size_t needed)
{
    cq_image image;

    CHECK_OK(cq_image_decode(&image, file, size));
    CHECK_INT(3, image.channels);
    assert_memory_equal("\xff\x00\x00\x00\x00\xff", image.pixels, 6);
    cq_image_clear(&image);
    for (size_t n = 0; n < needed; n++) {
        char *part = malloc(n ? n : 1); /* a separate allocation, so that reading past the end is
                                         * detected */

        memcpy(part, file, n);
        CHECK_STATUS(CQ_E_FORMAT, cq_image_decode(&image, part, n));
        cq_image_clear(&image);
        free(part);
    }
}

TEST(image, a_truncated_image_is_refused)
{
    check_every_part(bmp, sizeof bmp - 1, sizeof bmp - 1);
    check_every_part(tiff, sizeof tiff - 1, sizeof tiff - 1);
}

RUN_TESTS(TEST_OF(image, text_and_binary_are_the_same_picture),
          TEST_OF(image, unsupported_formats_are_refused_by_name),
          TEST_OF(image, sizes_are_checked_before_memory_is_taken),
          TEST_OF(image, a_truncated_image_is_refused))
