/* Addresses of the pixels of a tile that are equally far apart: one pointer, or a few with constant
 * offsets, reach all of them; one pointer per pixel would need too many registers. Used in
 * functions with `near`, a constant that is true if the pixels are adjacent vectors, and `apart`,
 * the bytes from one to the next. */
#ifndef CQ_KERNEL_WIDE_LINE_H
#define CQ_KERNEL_WIDE_LINE_H

#include "kernel/wide/vector.h"

/* Pointers to every third pixel, of which the first is at x. */
#define LINE_FROM(x)                                                                               \
    const char *p0 = (x), *p3 = p0 + 3 * apart, *p6 = p0 + 6 * apart;                              \
    const char *p9 = p0 + 9 * apart, *p12 = p0 + 12 * apart

#define LINE_GO(bytes) (p0 += (bytes), p3 += (bytes), p6 += (bytes), p9 += (bytes), p12 += (bytes))

/* The address of pixel r. */
#define LINE_PLACE(r) (near ? p0 + 4 * LANES * (r) : LINE_THIRD(r) + (r) % 3 * apart)
#define LINE_THIRD(r) ((r) < 3 ? p0 : (r) < 6 ? p3 : (r) < 9 ? p6 : (r) < 12 ? p9 : p12)

/* Forces the compiler to read the pointers again instead of keeping them. */
#define LINE_AGAIN                                                                                 \
    READ_AGAIN(p0);                                                                                \
    if (!near) {                                                                                   \
        READ_AGAIN(p3);                                                                            \
        READ_AGAIN(p6);                                                                            \
        READ_AGAIN(p9);                                                                            \
        READ_AGAIN(p12);                                                                           \
    }

#endif
