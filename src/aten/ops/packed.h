/* Packed sequences: [total steps, …] instead of [steps, batch, …], without the padding. Step t of
 * all sequences that have one is contiguous, longest sequence first; batch_sizes[t] is their
 * number. */
#ifndef CQ_ATEN_OPS_PACKED_H
#define CQ_ATEN_OPS_PACKED_H

#include "aten/core/ctx.h"

typedef struct cq_packed_sequence {
    int64_t  steps, batch, total;
    int64_t *batch_sizes; /* array of `steps` sizes */
    int64_t *lengths;     /* array of `batch` lengths */
} cq_packed_sequence;

/* Checks batch_sizes, which has data. Free with cq_packed_clear, also after a failure. */
cq_status cq_packed_read(const cq_opcall *c, cq_packed_sequence *out, const cq_tensor *batch_sizes,
                         int64_t total);
void      cq_packed_clear(cq_packed_sequence *p);

/* data as [steps, batch, …] with padding; the context owns it. */
cq_status cq_packed_spread(cq_opcall *c, const cq_packed_sequence *p, cq_tensor **out,
                           const cq_tensor *data, double padding);

/* The inverse. */
cq_status cq_packed_gather(const cq_packed_sequence *p, cq_tensor *data, const cq_tensor *spread);

#endif
