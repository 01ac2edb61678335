/* Untrusted images: decoded or rejected; a decoded image has the declared size. */
#include "image/image.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cq_image image;
    uint32_t sum = 0;

    if (cq_image_decode(&image, data, size) == CQ_OK) {
        if (!image.width || !image.height || (image.channels != 1 && image.channels != 3))
            abort();
        for (size_t i = 0; i < (size_t)image.width * image.height * image.channels; i++)
            sum += image.pixels[i];
    }
    cq_image_clear(&image);
    (void)sum;
    return 0;
}
