/* Read access to an ONNX model: nodes, attributes, values, initializers, subgraphs and functions.
 * Results are borrowed from the model and valid until it is freed or changed. For an index past the
 * end, and for NULL handles, strings are "" and handles are NULL. */
#ifndef CALQUE_GRAPH_H
#define CALQUE_GRAPH_H

#include <calque/onnx.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cq_onnx_graph      cq_onnx_graph;
typedef struct cq_onnx_node       cq_onnx_node;
typedef struct cq_onnx_attribute  cq_onnx_attribute;
typedef struct cq_onnx_tensor     cq_onnx_tensor; /* read it with cq_onnx_value_of */
typedef struct cq_onnx_value_info cq_onnx_value_info;
typedef struct cq_onnx_function   cq_onnx_function;

/* ---- the model ---- */

CQ_API const cq_onnx_graph    *cq_onnx_model_graph(const cq_onnx_model *model);
CQ_API size_t                  cq_onnx_model_n_functions(const cq_onnx_model *model);
CQ_API const cq_onnx_function *cq_onnx_model_function(const cq_onnx_model *model, size_t index);

/* Operator sets and metadata by index; false past the end. */
CQ_API bool cq_onnx_model_opset_at(const cq_onnx_model *model, size_t index, const char **domain,
                                   int64_t *version);
CQ_API bool cq_onnx_model_metadata(const cq_onnx_model *model, size_t index, const char **key,
                                   const char **value);

/* ---- graphs ---- */

CQ_API const char         *cq_onnx_graph_name(const cq_onnx_graph *graph);
CQ_API size_t              cq_onnx_graph_n_nodes(const cq_onnx_graph *graph);
CQ_API const cq_onnx_node *cq_onnx_graph_node(const cq_onnx_graph *graph, size_t index);

/* side may be CQ_ONNX_INNER: intermediate values whose types the graph declares (value_info). */
CQ_API size_t cq_onnx_graph_n_values(const cq_onnx_graph *graph, cq_onnx_side side);
CQ_API const cq_onnx_value_info *cq_onnx_graph_value(const cq_onnx_graph *graph, cq_onnx_side side,
                                                     size_t index);

CQ_API size_t                cq_onnx_graph_n_initializers(const cq_onnx_graph *graph);
CQ_API const cq_onnx_tensor *cq_onnx_graph_initializer(const cq_onnx_graph *graph, size_t index);
CQ_API const char           *cq_onnx_tensor_name(const cq_onnx_tensor *tensor);

/* A view of the elements in the mapped file, which may be unaligned: for readers that accept any
 * alignment, such as numpy. Code that computes should call cq_onnx_value_of. Elements that the file
 * stores as a list of numbers, or packed into bytes, are copied. CQ_E_UNSUPPORTED: calque has no
 * dtype for them (strings). */
CQ_API cq_status cq_onnx_tensor_in_place(cq_tensor **out, const cq_onnx_model *model,
                                         const cq_onnx_tensor *tensor);

/* ---- values: names with types ---- */

CQ_API const char *cq_onnx_value_info_name(const cq_onnx_value_info *value);

/* Like cq_onnx_model_value_dtype and its companions. */
CQ_API cq_dtype    cq_onnx_value_info_dtype(const cq_onnx_value_info *value);
CQ_API int32_t     cq_onnx_value_info_rank(const cq_onnx_value_info *value);
CQ_API int64_t     cq_onnx_value_info_size(const cq_onnx_value_info *value, size_t axis);
CQ_API const char *cq_onnx_value_info_axis(const cq_onnx_value_info *value, size_t axis);

/* "tensor(float)", "seq(tensor(int64))", "optional(tensor(float))", "map(int64,tensor(float))"; ""
 * if it is unknown. Free *text with cq_buffer_free. */
CQ_API cq_status cq_onnx_value_info_type(char **text, const cq_onnx_value_info *value);

/* ---- nodes ---- */

CQ_API const char *cq_onnx_node_name(const cq_onnx_node *node);
CQ_API const char *cq_onnx_node_op_type(const cq_onnx_node *node);
CQ_API const char *cq_onnx_node_domain(const cq_onnx_node *node);
CQ_API const char *cq_onnx_node_doc_string(const cq_onnx_node *node);
CQ_API size_t      cq_onnx_node_n_inputs(const cq_onnx_node *node);
CQ_API const char *cq_onnx_node_input(const cq_onnx_node *node, size_t index); /* "": omitted */
CQ_API size_t      cq_onnx_node_n_outputs(const cq_onnx_node *node);
CQ_API const char *cq_onnx_node_output(const cq_onnx_node *node, size_t index);
CQ_API size_t      cq_onnx_node_n_attributes(const cq_onnx_node *node);
CQ_API const cq_onnx_attribute *cq_onnx_node_attribute_at(const cq_onnx_node *node, size_t index);
CQ_API bool cq_onnx_node_metadata(const cq_onnx_node *node, size_t index, const char **key,
                                  const char **value);

/* ---- attributes ---- */

/* The numbers of AttributeProto.AttributeType. */
typedef enum cq_onnx_attribute_type {
    CQ_ONNX_ATTR_UNDEFINED      = 0,
    CQ_ONNX_ATTR_FLOAT          = 1,
    CQ_ONNX_ATTR_INT            = 2,
    CQ_ONNX_ATTR_STRING         = 3,
    CQ_ONNX_ATTR_TENSOR         = 4,
    CQ_ONNX_ATTR_GRAPH          = 5,
    CQ_ONNX_ATTR_FLOATS         = 6,
    CQ_ONNX_ATTR_INTS           = 7,
    CQ_ONNX_ATTR_STRINGS        = 8,
    CQ_ONNX_ATTR_TENSORS        = 9,
    CQ_ONNX_ATTR_GRAPHS         = 10,
    CQ_ONNX_ATTR_SPARSE_TENSOR  = 11,
    CQ_ONNX_ATTR_SPARSE_TENSORS = 12,
    CQ_ONNX_ATTR_TYPE_PROTO     = 13,
    CQ_ONNX_ATTR_TYPE_PROTOS    = 14,
    CQ_ONNX_ATTR_COUNT
} cq_onnx_attribute_type;

CQ_API const char            *cq_onnx_attribute_name(const cq_onnx_attribute *attribute);
CQ_API cq_onnx_attribute_type cq_onnx_attribute_kind(const cq_onnx_attribute *attribute);

/* In a function body: the function attribute that it refers to; otherwise "". */
CQ_API const char *cq_onnx_attribute_refers_to(const cq_onnx_attribute *attribute);

/* The number of items: 1 unless it is a list. The kind selects the accessor; the others return 0,
 * NULL or "". */
CQ_API size_t      cq_onnx_attribute_count(const cq_onnx_attribute *attribute);
CQ_API int64_t     cq_onnx_attribute_int(const cq_onnx_attribute *attribute, size_t index);
CQ_API double      cq_onnx_attribute_float(const cq_onnx_attribute *attribute, size_t index);
CQ_API const char *cq_onnx_attribute_string(const cq_onnx_attribute *attribute, size_t index,
                                            size_t *length); /* not terminated */
CQ_API const cq_onnx_tensor *cq_onnx_attribute_tensor(const cq_onnx_attribute *attribute,
                                                      size_t                   index);
CQ_API const cq_onnx_graph  *cq_onnx_attribute_graph(const cq_onnx_attribute *attribute,
                                                     size_t                   index);

/* For types: the text of cq_onnx_value_info_type. */
CQ_API cq_status cq_onnx_attribute_type_text(char **text, const cq_onnx_attribute *attribute,
                                             size_t index);

/* ---- functions of the model ---- */

CQ_API const char         *cq_onnx_function_name(const cq_onnx_function *function);
CQ_API const char         *cq_onnx_function_domain(const cq_onnx_function *function);
CQ_API size_t              cq_onnx_function_n_inputs(const cq_onnx_function *function);
CQ_API const char         *cq_onnx_function_input(const cq_onnx_function *function, size_t index);
CQ_API size_t              cq_onnx_function_n_outputs(const cq_onnx_function *function);
CQ_API const char         *cq_onnx_function_output(const cq_onnx_function *function, size_t index);
CQ_API size_t              cq_onnx_function_n_nodes(const cq_onnx_function *function);
CQ_API const cq_onnx_node *cq_onnx_function_node(const cq_onnx_function *function, size_t index);

#ifdef __cplusplus
}
#endif

#endif
