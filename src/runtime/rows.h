/* The executable operators: rows of name, version and function, by family in kernels/. The newest
 * row that is not newer than the model's version is used. Inputs, attributes and types of a version
 * are in its schema (onnx/schema.h), so a new row is needed only where the meaning changes. */
#ifndef CQ_RUNTIME_ROWS_H
#define CQ_RUNTIME_ROWS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cq_rt cq_rt; /* a kernel call: runtime/call.h */

/* How a row handles tensors of strings. The lowest bits select outputs that are strings if inputs
 * are; a row without any of these flags rejects strings. */
enum {
    CQ_RT_TEXT_OUT   = 1 << 0,  /* output 0; 1 << n selects output n */
    CQ_RT_TEXT_IN    = 1 << 8,  /* accepts strings, returns none */
    CQ_RT_TEXT_OWN   = 1 << 9,  /* handles cq_texts itself instead of ranks */
    CQ_RT_RANDOM     = 1 << 10, /* results differ between runs */
    CQ_RT_NO_FOLDING = 1 << 11, /* may take long, so it is not folded before the first run */
    CQ_RT_OWN        = 1 << 12, /* not an ONNX operator: the schema does not describe its inputs */
    /* Output 0 may overwrite input 0 (or 1): the kernel does not read an element of the input after
     * it has written the same element of the output. */
    CQ_RT_OVER_0 = 1 << 13,
    CQ_RT_OVER_1 = 1 << 14
};

typedef struct cq_rt_row {
    const char *op;
    int         since;
    cq_status (*fn)(cq_rt *rt);
    uint32_t flags;
    int      arg; /* for rows that share a function */
} cq_rt_row;

/* *out is NULL for unsupported operators. domain NULL, "" and "ai.onnx" are the default domain. */
cq_status cq_rt_row_find(const cq_rt_row **out, const char *domain, const char *op,
                         int64_t version);

#endif
