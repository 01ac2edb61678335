/* Dynamic sizes of two models that are joined: sizes of connected values are unified (sizes.c). */
#ifndef CQ_ONNX_PART_SIZES_H
#define CQ_ONNX_PART_SIZES_H

#include "base/map.h"
#include "onnx/model.h"

/* The replacement of a size: another name, or a number if name is NULL. */
typedef struct cq_part_sizes {
    cq_map names;   /* size to name, in the arena of a model */
    cq_map numbers; /* size to number + 1 */
} cq_part_sizes;

void cq_part_sizes_clear(cq_part_sizes *sizes);

/* Unifies the sizes of two connected values. Fails with CQ_E_TYPE if element types, ranks or sizes
 * contradict each other. */
cq_status cq_part_unify(cq_part_sizes *from_sizes, cq_part_sizes *to_sizes,
                        const cq_onnx_value_info *from, const cq_onnx_value_info *to);

/* Renames sizes of own that are in taken and were not unified; new names are allocated in m's
 * arena. */
cq_status cq_part_keep_apart(cq_part_sizes *sizes, const cq_map *taken, const cq_map *own,
                             cq_onnx_model *m);

/* The text of a size after the changes: digits if it is now a number, "" for an expression with
 * such a number, which inference has to evaluate again; NULL if memory is exhausted. */
const char *cq_part_size_text(const cq_part_sizes *sizes, cq_onnx_model *m, const char *text);

#endif
