/* The geometry of a view: sizes, strides and offset. View rows compute a geometry and create their
 * result from it; rows that write a part of a tensor (slice_scatter) compute the same geometry and
 * copy through it. */
#ifndef CQ_ATEN_OPS_GEOMETRY_H
#define CQ_ATEN_OPS_GEOMETRY_H

#include "aten/core/ctx.h"

typedef struct cq_geometry {
    size_t  rank;
    int64_t offset;
    cq_int  sizes[CQ_MAX_RANK];
    int64_t strides[CQ_MAX_RANK];
} cq_geometry;

cq_geometry cq_geometry_of(const cq_tensor *t);

/* Removes dimension at, or inserts it with the given size and stride. */
void cq_geometry_drop(cq_geometry *g, size_t at);
void cq_geometry_insert(cq_geometry *g, size_t at, cq_int size, int64_t stride);

/* A view of t with geometry g, as result 0 of the call. */
cq_status cq_geometry_result(cq_opcall *c, const cq_tensor *t, const cq_geometry *g);

/* Copies src to the elements of out that g selects. */
cq_status cq_geometry_write(cq_tensor *out, const cq_geometry *g, const cq_tensor *src);

/* Computes strides for other sizes of t without moving elements; false if that is impossible. Uses
 * example values of sizes, whose product must be t's number of elements. */
bool cq_geometry_reshape(cq_geometry *g, const cq_tensor *t, size_t rank, const cq_int *sizes);

/* The size of t along dim after slicing: start and end count from the end if they are negative, and
 * are clamped to 0 … size. */
cq_int cq_slice_size(const cq_opcall *c, cq_int size, cq_int *start, cq_int *end, cq_int step);

/* A list argument of sizes for t's elements in which one may be -1: all of them, checked
 * against the number of elements. */
cq_status cq_arg_shape(cq_opcall *c, const char *name, const cq_tensor *t, size_t *rank,
                       cq_int *sizes);

/* A list with the sizes of t, to call other operators with. */
cq_val cq_sizes_of(cq_ctx *cx, const cq_tensor *t);

/* The stride of every step-th element. If it overflows, the dimension has at most one element and
 * the stride is irrelevant; it is unchanged. */
static inline int64_t cq_stride_times(int64_t stride, int64_t step)
{
    int64_t product;

    return __builtin_mul_overflow(stride, step, &product) ? stride : product;
}

#endif
