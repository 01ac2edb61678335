/* Rows of the planes of blocked images as blocks of work: band by band of rows, and in a band plane
 * by plane. Products are split along pixels too. So in the next step a thread reads the rows that
 * it wrote itself, except for one or two at the edge. */
#ifndef CQ_KERNEL_MATRIX_BANDS_H
#define CQ_KERNEL_MATRIX_BANDS_H

#include <stdint.h>

enum {
    CQ_PIXEL_BLOCK = 120
}; /* maximum pixels per block of a product; feature maps with fewer pixels are split by channels */

typedef struct cq_bands {
    int64_t images, planes, rows; /* planes of an image, rows of a plane */
    int64_t n_bands, height;      /* of a plane; rows of one */
    int64_t n_groups, group;      /* of a band; planes of one */
} cq_bands;

/* Part of an image: all rows [y, y_end) of planes [plane, plane_end), counted over all images. */
typedef struct cq_band {
    int64_t plane, plane_end, y, y_end;
} cq_band;

/* work: of a row of one plane; most: of a block. Needs images, planes and rows; returns the number
 * of blocks. */
int64_t cq_bands_cut(cq_bands *b, int64_t width, int64_t work, int64_t most);
cq_band cq_bands_at(const cq_bands *b, int64_t block);

#endif
