/* Inner loops of kernels on blocked feature maps, whose channels are adjacent in blocks of one
 * vector, and of products: kernel/wide/blocked_core.c, compiled for each instruction set. Private
 * to the sources of blocked kernels. */
#ifndef CQ_KERNEL_CONV_BLOCKED_CORE_H
#define CQ_KERNEL_CONV_BLOCKED_CORE_H

#include "kernel/elementwise.h"

#include <stdbool.h>
#include <stdint.h>

enum { CQ_MAX_LANES = 16, CQ_MAX_TILE_ROWS = 14 }; /* maxima over all instruction sets */

/* How sums are finished before they are stored: + bias, + add, then clipped to [lo, hi]. NaN stays
 * NaN. */
typedef struct cq_core_finish {
    const float *bias; /* a vector for each vector of the tile; NULL: none */
    const float *add;  /* laid out as the output; NULL: nothing */
    bool         clamps;
    float        lo, hi;
} cq_core_finish;

/* A tile of a product: rows (pixels) by one or two vectors of output channels, over steps of kc
 * adjacent numbers each. After the first n_whole steps only the first `rest` numbers of a step are
 * not zero. */
typedef struct cq_core_tile {
    const float   *w;       /* [step][kc][lanes * vectors] */
    const int64_t *offsets; /* offsets of the steps from the start of a row */
    int64_t        n_steps, kc;
    int64_t        n_whole, rest; /* 0: none */
    int64_t        line;     /* floats from row to row if rows are equidistant; 0: they are not */
    bool           is_half;  /* a single vector whose second half is zero */
    int64_t        prefetch; /* floats after w to prefetch; 0: none */
    int64_t        sharers;  /* number of rows that share the prefetch … */
    int64_t        before;   /* … and the number of them in earlier tiles */
    float         *out;
    int64_t out_row, out_vector; /* floats from row to row (lanes, in a line), vector to vector */
    bool    continues;           /* out has the sum of earlier steps */
    bool    is_last;             /* the sum is complete and must be finished */
    cq_core_finish finish;
} cq_core_tile;

/* Results of a row of a depthwise convolution or pool: n pixels, step floats apart in x. */
typedef struct cq_core_taps {
    const float   *x; /* the first tap of the first pixel */
    int64_t        step, n;
    int64_t        rows, cols;   /* taps of a window */
    int64_t        x_row, x_col; /* floats from tap to tap */
    const float   *w;            /* [row][col][lanes] */
    int64_t        w_row;        /* floats from row to row */
    float         *out;
    int64_t        out_step; /* floats from result to result; of the largest, lanes */
    cq_core_finish finish;
} cq_core_taps;

/* The taps of a window along an axis that are inside the feature map: [first, end). */
static inline void cq_core_inside(int64_t *out, int64_t start, int64_t kernel, int64_t dilation,
                                  int64_t size)
{
    out[0] = start < 0 ? -start : 0;
    out[1] = start < size ? size - start : 0;
    if (dilation > 1) { /* divisions are slow */
        out[0] = (out[0] + dilation - 1) / dilation;
        out[1] = (out[1] + dilation - 1) / dilation;
    }
    out[1] = out[1] < kernel ? out[1] : kernel;
}

/* A tile of a Winograd convolution. */
typedef struct cq_core_winograd {
    int          side;           /* 3, 4 or 6 inputs along each axis */
    const float *x;              /* first pixel of the tile, may be outside of the image */
    int64_t      x_row, x_col;   /* floats from row to row, from pixel to pixel */
    int          y0, y1, x0, x1; /* the part of the inputs that is inside the feature map */
    float       *v;              /* transformed: element i goes to v + i * v_step */
    int64_t      v_step;
} cq_core_winograd;

enum { CQ_MAX_WINOGRAD = 5 }; /* weights along an axis */

/* The weights of one input channel for a vector of outputs. */
typedef struct cq_core_winograd_weights {
    int side, window;                   /* elements and weights along each axis */
    const double (*g)[CQ_MAX_WINOGRAD]; /* factors of a line of weights, by element */
    const float *w;                     /* a vector for each weight */
    float       *u;                     /* transformed: element i goes to u + i * u_step */
    int64_t      u_step;
} cq_core_winograd_weights;

typedef struct cq_core_unwinograd {
    int            side, m; /* m: results along each axis, 2 to side - 1 */
    const float   *v;       /* element i at v + i * v_step */
    int64_t        v_step;
    float         *out;
    int64_t        out_row;
    int            ny, nx; /* number of valid results, at most m */
    cq_core_finish finish;
} cq_core_unwinograd;

/* Lanes that a vector copies from another: lane i is its lane at[i] if takes[i] is -1, and is not
 * copied if takes[i] is 0. */
typedef struct cq_core_gather {
    int32_t at[CQ_MAX_LANES], takes[CQ_MAX_LANES];
} cq_core_gather;

typedef struct cq_core {
    int lanes;     /* floats of a vector; channels of a block */
    int tile_rows; /* maximum rows of a tile with two vectors */

    /* Any number of rows; row i begins at px[i]. */
    void (*tiles)(const cq_core_tile *t, int64_t rows, int vectors, const float *const *px);
    void (*depthwise)(const cq_core_taps *t);
    void (*max_taps)(const cq_core_taps *t);
    void (*winograd)(const cq_core_winograd *t);
    void (*unwinograd)(const cq_core_unwinograd *t);
    void (*winograd_weights)(const cq_core_winograd_weights *t);
    /* out[i] = clamp(x[i] * scale + shift), of a vector each, for n pixels. */
    void (*affine)(float *out, const float *x, const float *scale, const float *shift, int64_t n,
                   const cq_core_finish *finish);
    /* 1 / (1 + e^-x) of n numbers in place, times x if gated. */
    void (*sigmoid)(float *x, int64_t n, bool gated);
    void (*hardswish)(float *x, int64_t n); /* x * min(max(x + 3, 0), 6) / 6, in place */
    void (*mean)(float *out, const float *x, int64_t n); /* of n pixels */
    /* Converts n pixels of up to `lanes` planes, which are `plane` floats apart, to blocks and
     * back. */
    void (*pack)(float *out, const float *x, int64_t plane, int channels, int64_t n);
    void (*unpack)(float *out, int64_t plane, int channels, const float *x, int64_t n);
    /* n pixels of a block, gathered from n_x others; lanes without a source are zero. */
    void (*gather)(float *out, const cq_core_gather *sources, const float *const *x, int64_t n_x,
                   int64_t n);
} cq_core;

const cq_core *cq_core_get(void); /* the core of the instruction set in use */

/* The number of vectors for n numbers. */
static inline int64_t cq_core_blocks(const cq_core *core, int64_t n)
{
    return (n + core->lanes - 1) / core->lanes;
}

/* An operation on n results in place; operations with a loop above use that. */
void cq_core_activate(const cq_core *core, float *x, int64_t n, cq_ew_op act,
                      const cq_params *params);

#endif
