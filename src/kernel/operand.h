/* Arguments of a heavy kernel, made simple: contiguous and in the dtype it computes in.
 *
 *     cq_operands s = { .compute = cq_compute_dtype(x->dtype) };
 *     const void *px = cq_operands_in(&s, x); // the tensor's own data where that will do
 *     void *po = cq_operands_out(&s, out);    // likewise, or a buffer copied back at the end
 *     if (s.status == CQ_OK)
 *         s.status = run(po, px);
 *     return cq_operands_close(&s);
 *
 * Half precision is thus computed in float32 and rounded once, integers in int64. */
#ifndef CQ_KERNEL_OPERAND_H
#define CQ_KERNEL_OPERAND_H

#include "tensor/tensor.h"

enum { CQ_MAX_OPERANDS = 16 };

typedef struct cq_operands {
    cq_dtype  compute;
    cq_status status; /* the first failure; later calls return NULL */
    int       n;
    struct {
        cq_tensor *work;    /* owned */
        cq_tensor *copy_to; /* borrowed; NULL if work is an input or the output itself */
    } items[CQ_MAX_OPERANDS];
} cq_operands;

/* F32 for the floats up to 32 bits, F64, C128 for both complex types, else I64. */
cq_dtype cq_compute_dtype(cq_dtype dtype);

const void *cq_operands_in(cq_operands *s, const cq_tensor *t); /* NULL for NULL */
const void *cq_operands_in_as(cq_operands *s, const cq_tensor *t, cq_dtype dtype);
void       *cq_operands_out(cq_operands *s, cq_tensor *t); /* contents undefined; NULL for NULL */
void       *cq_operands_out_as(cq_operands *s, cq_tensor *t, cq_dtype dtype);
cq_status   cq_operands_close(cq_operands *s);

/* Fails for other dtypes: "max_pool expects floating-point numbers, got bool". */
cq_status cq_operands_need_float(const cq_tensor *t, const char *kernel);

/* Fails because of incompatible shapes (b may be NULL), so that no kernel reads outside of a tensor
 * even if its caller did not check: "conv: the shapes float32[1, 3] and float32[2] do not
 * match". */
cq_status cq_operands_misfit(const char *kernel, const cq_tensor *a, const cq_tensor *b);

/* Whether t has n elements; true for NULL. */
bool cq_operands_has(const cq_tensor *t, int64_t n);

/* The product of sizes from up to to, not including to. */
int64_t cq_sizes_product(const cq_tensor *t, size_t from, size_t to);

static inline int64_t cq_size_of(const cq_tensor *t, size_t axis)
{
    return t->sizes[axis].value;
}

#endif
