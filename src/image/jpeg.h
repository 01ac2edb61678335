/* The parts of the JPEG decoder: jpeg.c reads the markers, jpeg_scan.c the coefficients of
 * scans, jpeg_pixels.c makes pixels of them. */
#ifndef CQ_IMAGE_JPEG_H
#define CQ_IMAGE_JPEG_H

#include "image/image.h"

enum { CQ_JPEG_MAX_COMPONENTS = 3 };

typedef struct cq_jpeg_component {
    uint8_t  id, across, down; /* its samples relative to the component with most of them */
    uint8_t  table;            /* of quantization */
    uint32_t width, height;    /* in samples */
    uint32_t columns, rows;    /* in blocks, up to whole units of all components */
    int16_t *blocks;           /* coefficients in natural order, 64 to a block */
    uint8_t *samples;          /* columns * 8 by rows * 8, when they have been computed */
} cq_jpeg_component;

/* The number of codes of each length, and their values; codes are decoded length by length. */
typedef struct cq_jpeg_codes {
    bool    is_given;
    uint8_t counts[17], values[256];
    int32_t first[18]; /* the first code of a length */
    int32_t index[18]; /* of its value */
} cq_jpeg_codes;

typedef struct cq_jpeg {
    uint32_t          width, height;
    bool              is_progressive, has_frame;
    int               n_scans;
    int               n_components, across, down; /* the most of any component */
    cq_jpeg_component components[CQ_JPEG_MAX_COMPONENTS];
    uint16_t          quantization[4][64]; /* in natural order */
    bool              has_quantization[4];
    cq_jpeg_codes     codes[2][4]; /* of first coefficients and of the others */
    uint32_t          restart;     /* units between restarts; 0: no restarts */
    bool              is_jfif, is_adobe;
    uint8_t           transform; /* of Adobe's marker */
} cq_jpeg;

/* The contents of a scan. In a progressive file: coefficients first to last, of which the bits
 * above low are sent now; high is where the previous scan stopped, 0 for the first one. */
typedef struct cq_jpeg_scan {
    int                n;
    cq_jpeg_component *components[CQ_JPEG_MAX_COMPONENTS];
    uint8_t            codes[CQ_JPEG_MAX_COMPONENTS][2];
    int                first, last, high, low;
} cq_jpeg_scan;

/* The index in a block of coefficient i in file order. */
extern const uint8_t cq_jpeg_natural[64];

/* b is after the header of the scan, and afterwards at the next marker. */
cq_status cq_jpeg_read_scan(cq_jpeg *j, const cq_jpeg_scan *scan, cq_bytes *b);

cq_status cq_jpeg_make_samples(cq_jpeg *j);
cq_status cq_jpeg_make_pixels(cq_image *out, const cq_jpeg *j);

#endif
