/* Interface inside the checker. Rules report violations and continue, so that one pass finds all of
 * them. The current location is a linked list on the stack, which is printed only when a violation
 * is reported. */
#ifndef CQ_ONNX_CHECK_CHECK_H
#define CQ_ONNX_CHECK_CHECK_H

#include "base/map.h"
#include "onnx/model.h"

/* All rules: name, code, and hint. Codes are stable. DIFF codes belong to diff/, which shares the
 * list and the locations. */
#define CQ_ONNX_RULES(X)                                                                           \
    X(IR_VERSION_MISSING, "ir-version-missing", "set ir_version")                                  \
    X(IR_VERSION_TOO_NEW, "ir-version-too-new", "write it for an older IR version")                \
    X(METADATA_KEY_DUPLICATE, "metadata-key-duplicate", "keep one of the entries")                 \
    X(OPSET_IMPORT_MISSING, "opset-import-missing", "import an opset of the default domain")       \
    X(OPSET_IMPORT_FORBIDDEN, "opset-import-forbidden", "raise ir_version to 3 or more")           \
    X(GRAPH_MISSING, "graph-missing", "the file is not a model, or it is truncated")               \
    X(GRAPH_NAME_MISSING, "graph-name-missing", "give the graph a name")                           \
    X(VALUE_NAME_MISSING, "value-name-missing", "give it a name")                                  \
    X(VALUE_TYPE_MISSING, "value-type-missing", "state its type")                                  \
    X(VALUE_SHAPE_MISSING, "value-shape-missing", "state its shape; sizes may be dynamic")         \
    X(INPUT_DUPLICATE, "input-duplicate", "rename one of the inputs")                              \
    X(INPUT_UNDEFINED, "input-undefined", "sort the nodes, or correct the name")                   \
    X(OUTPUT_DUPLICATE, "output-duplicate", "give every result a unique name")                     \
    X(OUTPUT_UNDEFINED, "output-undefined", "correct the name, or add the node that makes it")     \
    X(INITIALIZER_NAME_MISSING, "initializer-name-missing", "give it a name")                      \
    X(INITIALIZER_DUPLICATE, "initializer-duplicate", "rename or drop one of them")                \
    X(INITIALIZER_NOT_INPUT, "initializer-not-input",                                              \
      "list it as an input, or raise ir_version to 4 or more")                                     \
    X(OP_TYPE_MISSING, "op-type-missing", "name the operator")                                     \
    X(NODE_EMPTY, "node-empty", "remove the node")                                                 \
    X(DOMAIN_NOT_IMPORTED, "domain-not-imported", "add it to opset_import")                        \
    X(NODE_SCHEMA, "node-schema", "see the operator's specification for its opset")                \
    X(ATTRIBUTE_NAME_MISSING, "attribute-name-missing", "name the attribute")                      \
    X(ATTRIBUTE_DUPLICATE, "attribute-duplicate", "keep one of them")                              \
    X(ATTRIBUTE_TYPE_MISSING, "attribute-type-missing", "set its type")                            \
    X(ATTRIBUTE_TYPE_MISMATCH, "attribute-type-mismatch", "let type and value agree")              \
    X(ATTRIBUTE_SEVERAL_VALUES, "attribute-several-values", "keep the value that type names")      \
    X(ATTRIBUTE_REF_WITH_VALUE, "attribute-ref-with-value", "keep the reference or the value")     \
    X(TENSOR_TYPE_MISSING, "tensor-type-missing", "set data_type")                                 \
    X(TENSOR_TYPE_UNKNOWN, "tensor-type-unknown", "use a data type of onnx.proto")                 \
    X(TENSOR_DIMS_INVALID, "tensor-dims-invalid", "correct dims")                                  \
    X(TENSOR_DATA_COUNT, "tensor-data-count", "keep the elements in one field")                    \
    X(TENSOR_DATA_FIELD, "tensor-data-field", "move the elements to the field of their type")      \
    X(TENSOR_DATA_SIZE, "tensor-data-size", "let dims and data agree")                             \
    X(TENSOR_STRING_RAW, "tensor-string-raw", "move them to string_data")                          \
    X(EXTERNAL_WITH_DATA, "external-with-data", "store the elements once")                         \
    X(EXTERNAL_LOCATION, "external-location", "name a file in the model's folder")                 \
    X(EXTERNAL_FILE, "external-file", "put the file beside the model")                             \
    X(SPARSE_VALUES, "sparse-values", "values must be a named tensor of rank 1")                   \
    X(SPARSE_DIMS, "sparse-dims", "state the sizes of the dense tensor")                           \
    X(SPARSE_INDICES, "sparse-indices", "indices must be INT64, [n] or [n, rank], in order")       \
    X(FUNCTION_NAME_MISSING, "function-name-missing", "name the function")                         \
    X(FUNCTION_DOMAIN_MISSING, "function-domain-missing", "set its domain")                        \
    X(FUNCTION_DUPLICATE, "function-duplicate", "tell them apart by name or overload")             \
    X(FUNCTION_NAMES_DUPLICATE, "function-names-duplicate", "rename one of them")                  \
    X(FUNCTION_OPSET, "function-opset", "import the opset of the model")                           \
    X(FUNCTION_RECURSIVE, "function-recursive", "functions must not call themselves")              \
    X(DIFF_IR_VERSION, "ir-version-differs", "write both for one IR version")                      \
    X(DIFF_OPSET, "opset-differs", "write both for one opset")                                     \
    X(DIFF_SIGNATURE, "signature-differs", "compare what the models take and give")                \
    X(DIFF_NODE, "node-missing", "one of the models does something more")                          \
    X(DIFF_OPERATOR, "operator-differs", "compare what these nodes compute")                       \
    X(DIFF_ATTRIBUTE, "attribute-differs", "compare the settings of this node")                    \
    X(DIFF_EDGE, "edge-differs", "compare where the values come from")                             \
    X(DIFF_WEIGHTS, "weights-differ", "compare the weights, or allow for a tolerance")             \
    X(DIFF_FUNCTION, "function-missing", "compare the functions of the models")                    \
    X(TOO_MANY, "too-many-findings", "fix the first ones")

typedef enum cq_onnx_rule {
#define RULE_NAME(name, code, hint) CQ_ONNX_RULE_##name,
    CQ_ONNX_RULES(RULE_NAME)
#undef RULE_NAME
} cq_onnx_rule;

enum {
    CQ_ONNX_MAX_FINDINGS = 1000
}; /* after that many, TOO_MANY is reported and the check
    * stops */

typedef struct cq_onnx_location cq_onnx_location;
struct cq_onnx_location {
    const cq_onnx_location *parent;
    const char             *kind;  /* "node" */
    const char             *name;  /* the name of the object; may be NULL or "" */
    const char             *extra; /* its operator, may be NULL */
    size_t                  index; /* index of the object, shown if it has no name */
};

/* Visible names: those of a graph, then those of the enclosing graphs. */
typedef struct cq_onnx_scope cq_onnx_scope;
struct cq_onnx_scope {
    const cq_onnx_scope *parent;
    cq_map               names;
};

typedef struct cq_onnx_check {
    const cq_onnx_model *m;
    const cq_map        *opsets;      /* domain to cq_onnx_opset: imports of model or function */
    cq_map               all_opsets;  /* of the model, and of functions for domains that the model
                                       * does not import */
    const cq_onnx_location *location; /* the current location */
    int                     n_graphs; /* number of enclosing graphs; 0: the main graph */
    bool                    in_function;
    cq_onnx_findings       *findings;
    cq_status               status; /* failure of the checker itself, when memory is exhausted */
} cq_onnx_check;

/* Reports a finding at the current location. */
void cq_onnx_report(cq_onnx_check *c, cq_onnx_rule rule, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Enter and leave a location; the caller provides the struct. */
void cq_onnx_enter(cq_onnx_check *c, cq_onnx_location *location, const char *kind, const char *name,
                   size_t index);
void cq_onnx_leave(cq_onnx_check *c);

/* The same for models that violate the specification but are accepted by onnx.checker 1.12. Some
 * rules always warn. */
void cq_onnx_warn(cq_onnx_check *c, cq_onnx_rule rule, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The version of a domain that applies here. */
#define CQ_ONNX_NOT_IMPORTED INT64_MIN
int64_t cq_onnx_check_opset(const cq_onnx_check *c, const char *domain);

/* Rules about a node that depend on its operator run after the structural rules. check.c lists
 * them; version is that of the node's domain. */
typedef void (*cq_onnx_node_rule)(cq_onnx_check *c, const cq_onnx_node *node, int64_t version);

void cq_onnx_check_tensor(cq_onnx_check *c, const cq_onnx_tensor *tensor);
void cq_onnx_check_sparse_tensor(cq_onnx_check *c, const cq_onnx_sparse_tensor *sparse);

cq_status cq_onnx_findings_new(cq_onnx_findings **out);

#endif
