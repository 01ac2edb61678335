/* The names of values that a node reads. */
#ifndef CQ_ONNX_READS_H
#define CQ_ONNX_READS_H

#include "onnx/model.h"

typedef cq_status (*cq_onnx_on_read)(void *user, const char *name);

/* Calls visit for each input of the node, including "", and for each outer value that its subgraphs
 * read. A name may be visited repeatedly. Stops at the first failure and returns it. */
cq_status cq_onnx_each_read(const cq_onnx_node *node, cq_onnx_on_read visit, void *user);

#endif
