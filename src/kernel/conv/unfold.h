/* Unfolding (im2col): the matrix whose rows are (channel, kernel position) and whose columns are
 * the positions of the window. It is produced in pieces while gemm packs them. */
#ifndef CQ_KERNEL_CONV_UNFOLD_H
#define CQ_KERNEL_CONV_UNFOLD_H

#include "kernel/conv/window.h"

typedef struct cq_unfold {
    const cq_slide *slide;
    const char     *image; /* channels of in_plane elements */
    size_t          size;  /* of an element, in bytes */
} cq_unfold;

/* Elements [first, first + n) of row: zero where the window is outside the image. */
void cq_unfold_row(void *out, const cq_unfold *u, int64_t row, int64_t first, int64_t n);

/* cq_pack_b_fn for the matrix and for its transpose; user is a cq_unfold. */
void cq_unfold_pack(void *dst, const void *user, int64_t k0, int64_t kc, int64_t n0, int64_t nc,
                    int nr);
void cq_unfold_pack_transposed(void *dst, const void *user, int64_t k0, int64_t kc, int64_t n0,
                               int64_t nc, int nr);

#endif
