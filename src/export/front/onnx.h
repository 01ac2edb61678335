/* An ONNX file as a graph of ir, and back. The passes of the exporter run in between
 * (export/optimize.c). The model keeps everything that ir cannot represent: documentation,
 * metadata, types of sequences, strings, sparse tensors. A node of the graph refers to its message
 * (cq_node.def), and a node that no pass changes is written back as the same message. */
#ifndef CQ_EXPORT_FRONT_ONNX_H
#define CQ_EXPORT_FRONT_ONNX_H

#include "export/exporter.h"

/* An initializer that ir has no tensor for: strings, sparse ones. */
typedef struct cq_onnx_opaque {
    cq_value              *value;
    cq_onnx_tensor        *tensor; /* NULL: sparse */
    cq_onnx_sparse_tensor *sparse;
} cq_onnx_opaque;

/* Integers of a value that inference knows as expressions of dynamic sizes. */
typedef struct cq_onnx_elements {
    size_t n;
    cq_int items[];
} cq_onnx_elements;

typedef struct cq_onnx_source {
    cq_onnx_model *model;
    cq_exporter   *ex;       /* receives the graph */
    cq_ptr_map     graphs;   /* cq_block -> cq_onnx_graph */
    cq_ptr_map     messages; /* cq_tensor -> its cq_onnx_tensor */
    cq_ptr_map     known;    /* cq_value -> cq_tensor: integers that inference knows */
    cq_ptr_map     elements; /* cq_value -> cq_onnx_elements, where not all are numbers */
    cq_ptr_map     types;    /* cq_onnx_graph -> cq_map of names -> type and elements of the
                              * value */
    CQ_VEC(cq_onnx_opaque) opaque;
    CQ_VEC(cq_map *) maps; /* of types, to be cleared */
} cq_onnx_source;

/* Fills ex->graph. The model must live as long as the source, and is not changed before
 * cq_onnx_source_write. */
cq_status cq_onnx_source_read(cq_onnx_source *s, cq_exporter *ex, cq_onnx_model *model);

/* Writes the graph back into the model. */
cq_status cq_onnx_source_write(cq_onnx_source *s);

void cq_onnx_source_clear(cq_onnx_source *s);

#endif
