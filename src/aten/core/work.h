/* The cost of an operator call, in steps of about a tenth of a microsecond. Untrusted programs have
 * a limited number of them, whether they use many small operators or a large one. */
#ifndef CQ_ATEN_CORE_WORK_H
#define CQ_ATEN_CORE_WORK_H

#include "aten/core/op.h"

enum {
    CQ_WORK_CALL     = 8,    /* steps of any call */
    CQ_WORK_ELEMENTS = 64,   /* read or written in a step */
    CQ_WORK_BYTES    = 128,  /* of new memory in a step */
    CQ_WORK_PRODUCTS = 2048, /* of float32, multiplied and added in a step */
    CQ_WORK_DOUBLE   = 4,    /* times as long for products of float64 */
    CQ_WORK_SLOW     = 16    /* times as long for products of other types */
};

/* The work of a call. All arguments have data, and so have the results unless their sizes depend
 * on data. */
uint64_t cq_op_work(const cq_opcall *c);

#endif
