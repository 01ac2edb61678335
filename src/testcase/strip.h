/* Stripping one tensor, and the two edits that strip a graph. */
#ifndef CQ_TESTCASE_STRIP_H
#define CQ_TESTCASE_STRIP_H

#include "testcase/edit.h"
#include "testcase/stats.h"

#include <calque/testcase.h>

typedef struct cq_strip_edit {
    cq_edit edit; /* first: edits get a pointer to it */
    int64_t threshold;
    size_t  n_replaced; /* by nodes, over all graphs */
} cq_strip_edit;

/* Whether a tensor has more elements than threshold, and they are numbers in the file itself. */
cq_status cq_is_strippable(bool *out, const cq_onnx_tensor *tensor, int64_t threshold);

cq_status cq_onnx_tensor_stats(cq_stats *out, const cq_onnx_model *m, const cq_onnx_tensor *tensor);

/* If it is strippable, its data is replaced by its statistics. */
cq_status cq_strip_tensor(bool *done, cq_onnx_model *m, cq_onnx_tensor *tensor, int64_t threshold);

/* runnable.c: nodes in place of the float initializers of a graph. */
cq_status cq_strip_graph_runnable(cq_edit *edit, cq_onnx_model *m, cq_onnx_graph *graph);

#endif
