/* The inner loops of kernels on 8-bit numbers: kernel/wide/quant.c, compiled for each instruction
 * set. Private to the sources of quantized kernels.
 *
 * Quantized data has its channels adjacent, in the type that the instruction set multiplies: bytes
 * if it has dot products of four bytes (VNNI), otherwise 16 bits, two of which every set can
 * multiply and add without overflow. Numbers are uint8; int8 numbers and their zero points are
 * shifted up by 128.
 *
 * AVX2 multiplies bytes too, but adds two products in 16 bits with saturation. Each word of weights
 * has a limit for its inputs; larger inputs are multiplied in 16 bits. Weights that are mostly too
 * large are packed as 16 bits, and feature maps are copied for them. */
#ifndef CQ_KERNEL_QUANT_CORE_H
#define CQ_KERNEL_QUANT_CORE_H

#include <stdbool.h>
#include <stdint.h>

enum { CQ_QUANT_UNIT = 4 }; /* channels are padded to a multiple of this */

/* How a sum s of channel c is finished: (s + start[c]) * scale[c] + bias[c], then clipped to [lo,
 * hi]; then rounded, halves to even, and the zero point is added. is_float: without the last
 * two. */
typedef struct cq_quant_finish {
    const int32_t *start;
    const float   *scale, *bias;
    float          lo, hi;
    int32_t        zero;
    bool           is_float;
} cq_quant_finish;

/* The largest inputs for which the sums of a word, and of two adjacent words, fit. */
typedef struct cq_quant_limits {
    uint8_t of_one, of_two; /* 0: there is no next word */
} cq_quant_limits;

/* A tile of a product: rows by one or two vectors of output channels, over steps of kc words (of
 * 32 bits: one unit of bytes, half a unit of 16 bits). */
typedef struct cq_quant_tile {
    const int32_t         *w;       /* [step][kc][lanes * vectors] */
    const cq_quant_limits *limits;  /* [step][kc], of bytes; NULL: words of the set's own */
    int32_t                most;    /* no input is larger; at least 1 */
    const int64_t         *offsets; /* offsets of the steps in elements from the start of a row */
    int64_t                n_steps, kc;
    int64_t         line; /* elements from row to row if rows are equidistant; 0: they are not */
    void           *out;
    int64_t         out_row; /* elements, or floats */
    int64_t         cols;    /* that exist */
    cq_quant_finish finish;
} cq_quant_tile;

/* Results of a row of a depthwise convolution: n pixels, step elements apart in x. */
typedef struct cq_quant_taps {
    const void     *x;
    int64_t         step, n, channels;
    const int64_t  *offsets; /* of the taps, in elements */
    const int32_t  *w;       /* [vector of channels][tap, or two][lanes] */
    int64_t         n_taps;  /* a multiple of the elements of a word */
    void           *out;     /* out_step elements from pixel to pixel */
    int64_t         out_step;
    cq_quant_finish finish;
} cq_quant_taps;

/* The sum of two quantized feature maps: a * scale[0] + b * scale[1] + shift, finished as above. */
typedef struct cq_quant_sum {
    float   scale[2], shift, lo, hi;
    int32_t zero;
} cq_quant_sum;

typedef struct cq_quant_core {
    int lanes;
    int size;       /* bytes of an element: 1 or 2 */
    int word_size;  /* bytes of an element of a word; may be 2 if size is 1 */
    int tile_rows;  /* maximum rows of a tile with two vectors */
    int group_rows; /* maximum rows for bytes with limits; 0: limits are not needed */
    int taps;       /* of a depthwise window in a word of weights: 1 or 2 */
    int offset;     /* `tiles` subtracts it from inputs, to multiply signed bytes */
    /* Any number of rows; row i begins at px[i]. */
    void (*tiles)(const cq_quant_tile *t, int64_t rows, int vectors, const void *const *px);
    void (*depthwise)(const cq_quant_taps *t);
    /* Quantizes n numbers: round(x / scale) + zero, from 0 to 255, or round(x * inverse) if that is
     * not 0; and dequantizes. */
    void (*to_grid)(void *out, const float *x, int64_t n, float scale, int32_t zero, float inverse);
    void (*from_grid)(float *out, const void *x, int64_t n, float scale, int32_t zero);
    void (*add)(void *out, const void *a, const void *b, int64_t n, const cq_quant_sum *s);
    void (*max)(void *io, const void *x, int64_t n);
    int32_t (*largest)(const void *x, int64_t n);       /* of n elements, or 0 */
    void (*sum)(int32_t *io, const void *x, int64_t n); /* io[i] += x[i] */
    /* n results of a mean over sums, finished. */
    void (*finish)(void *out, const int32_t *sums, int64_t n, const cq_quant_finish *f);
} cq_quant_core;

const cq_quant_core *cq_quant_core_get(void); /* the core of the instruction set in use */

#endif
