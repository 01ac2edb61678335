/* The operator table: which operators of PyTorch calque supports, and how. */
#ifndef CALQUE_OPS_H
#define CALQUE_OPS_H

#include <calque/version.h>

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Strings are static. */
typedef struct cq_op_info {
    const char *schema;       /* as PyTorch writes it */
    const char *about;        /* a few words, may be empty */
    int32_t     first_opset;  /* lowest opset with a symbolic function; 0: none */
    bool        composed;     /* a function of other operators; the exporter decomposes it if the
                                 opset has no symbolic function */
    const char *obstacle;     /* why it cannot be exported; empty if it can, or if unknown */
    bool        has_gradient; /* defined for the operator itself; a composed operator inherits it */
} cq_op_info;

/* The operator at index, in the order of the table. False past the end, with CQ_E_NOT_FOUND in
 * cq_last_error(), and if memory runs out. In-place variants (`relu_`) are supported but not
 * listed.
 */
CQ_API bool cq_op_info_at(size_t index, cq_op_info *out);

#ifdef __cplusplus
}
#endif

#endif
