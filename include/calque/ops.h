/* The operator table, for looking at: which of PyTorch's operators calque knows, and what it
 * can do with them. */
#ifndef CALQUE_OPS_H
#define CALQUE_OPS_H

#include <calque/version.h>

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Texts are borrowed from the table, which lives as long as the program. */
typedef struct cq_op_info {
    const char *schema;       /* as PyTorch writes it */
    const char *about;        /* a few words, may be empty */
    int32_t     first_opset;  /* of ONNX, that has a form for it; 0: none has */
    bool        composed;     /* of other operators, which it is taken apart into when no opset
                                 has a form for it */
    const char *obstacle;     /* why it cannot be exported; empty if it can, or if nobody tried */
    bool        has_gradient; /* of its own; one that is composed has that of its parts */
} cq_op_info;

/* The operator at index, in the order of the table; false after the last. In-place twins
 * (`relu_`) are known too but not listed. */
CQ_API bool cq_op_info_at(size_t index, cq_op_info *out);

#ifdef __cplusplus
}
#endif

#endif
