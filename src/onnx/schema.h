/* Operator schemas of ONNX: inputs, outputs and attributes of an operator at each opset version.
 * They are rows of text in ops/, parsed on first use:
 *
 *     Conv 11 | X:T W:T B?:T | Y:T | auto_pad:s=NOTSET group:i=1 pads:is | T=ieee
 *
 * name, since version, flags | inputs | outputs | attributes | types. The flags are `deprecated`,
 * `function` (defined by other operators), `open` (it may have more attributes), `one-or-all` (of
 * its outputs) and `uninferred` (onnx has no rule for its shapes). After a parameter's name: `?`
 * optional, `*` any number of one type, `~` any number of any types, followed by the minimum if it
 * is not 1; then a type or the name of one of the sets at the end. `!` marks a required attribute,
 * `=` its default. In a type, `seq.` and `opt.` wrap what follows them, and `any`, `num`, … are
 * sets of types (schema.c).
 *
 * Shape rules are in infer/. cq_onnx_schema_check checks a node against its schema. */
#ifndef CQ_ONNX_SCHEMA_H
#define CQ_ONNX_SCHEMA_H

#include "base/str.h"
#include "onnx/model.h"

/* The newest opset of the default domain that the rows describe. */
#define CQ_ONNX_OPSET_NEWEST 28

/* The oldest IR version whose readers know an opset of the default domain. */
int64_t cq_onnx_ir_of_opset(int64_t opset);

/* The internal domain of schemas of experimental operators. In files, these operators are in the
 * default domain. */
#define CQ_ONNX_EXPERIMENTAL "experimental"

/* The wrapper around an element type. */
typedef enum cq_onnx_wrap {
    CQ_ONNX_WRAP_TENSOR,
    CQ_ONNX_WRAP_SEQUENCE, /* of tensors */
    CQ_ONNX_WRAP_OPTIONAL,
    CQ_ONNX_WRAP_OPTIONAL_SEQUENCE,
    CQ_ONNX_WRAP_MAP, /* bits refer to the table of maps in schema.c */
    CQ_ONNX_WRAP_SEQUENCE_OF_MAPS,
    CQ_ONNX_WRAP_COUNT
} cq_onnx_wrap;

/* Allowed types: a bit for each cq_onnx_data_type. */
typedef struct cq_onnx_types {
    uint32_t of[CQ_ONNX_WRAP_COUNT];
} cq_onnx_types;

typedef enum cq_onnx_arity {
    CQ_ONNX_SINGLE,
    CQ_ONNX_OPTIONAL,
    CQ_ONNX_VARIADIC,
    CQ_ONNX_VARIADIC_MIXED /* arguments may have different types */
} cq_onnx_arity;

typedef struct cq_onnx_parameter {
    const char   *name;
    const char   *type; /* as in the row: "T", "i64" */
    cq_onnx_arity arity;
    int           min;        /* minimum number of variadic arguments */
    int           constraint; /* index into constraints; -1: a fixed type */
    cq_onnx_types types;
} cq_onnx_parameter;

typedef struct cq_onnx_schema_attribute {
    const char            *name;
    cq_onnx_attribute_type type;
    bool                   is_required;
    const char            *fallback; /* the default, as in the row, or NULL */
} cq_onnx_schema_attribute;

typedef struct cq_onnx_constraint {
    const char   *name, *text;
    cq_onnx_types types;
} cq_onnx_constraint;

typedef struct cq_onnx_schema {
    const char               *domain, *name;
    int                       since;
    bool                      is_deprecated, is_function, is_open, is_uninferred;
    bool                      gives_one_or_all;
    size_t                    n_inputs, n_outputs, n_attributes, n_constraints;
    cq_onnx_parameter        *inputs, *outputs;
    cq_onnx_schema_attribute *attributes;
    cq_onnx_constraint       *constraints;
    size_t min_inputs, max_inputs, min_outputs, max_outputs; /* SIZE_MAX: unlimited */
} cq_onnx_schema;

/* The newest schema of an operator that is not newer than version; *out is NULL if it does not
 * exist. domain NULL, "" and "ai.onnx" are the default domain. */
cq_status cq_onnx_schema_find(const cq_onnx_schema **out, const char *domain, const char *name,
                              int64_t version);

/* Whether the rows describe all operators of the domain. */
bool cq_onnx_domain_is_known(const char *domain);

/* The schema at an index, in the order of the rows; CQ_E_NOT_FOUND (not recorded) after the
 * last. */
cq_status cq_onnx_schema_at(const cq_onnx_schema **out, size_t index);

const cq_onnx_schema_attribute *cq_onnx_schema_attr(const cq_onnx_schema *s, const char *name);

/* The parameter of the i-th input or output; a variadic last parameter covers all further ones. */
const cq_onnx_parameter *cq_onnx_parameter_at(const cq_onnx_parameter *list, size_t n, size_t i);

/* Appends "tensor(float), tensor(double)" and the like, for messages and dumps. */
void cq_onnx_types_print(cq_str *s, const cq_onnx_types *types);

/* "float": the name of a data type inside tensor(…); NULL if it is unknown. */
const char *cq_onnx_element_name(int32_t data_type);

/* The bit of a map type, by the types of its keys and values; -1: unsupported. */
int cq_onnx_map_bit(int key, int value);

/* The version of domain that a model or function imports; -1 if it does not. */
int64_t cq_onnx_imported(const cq_onnx_opsets *opsets, const char *domain);

/* Checks the rules of the ONNX checker that need the schema: known operator, not deprecated,
 * numbers of inputs and outputs, attributes. version is that of node's domain. The variant for
 * running accepts empty lists as attributes, like ONNX Runtime. */
/* Whether it is an operator of early exporters that was never in a release and has no schema. */
bool cq_onnx_is_experimental(const char *op_type);

cq_status cq_onnx_schema_check_to_run(const cq_onnx_node *node, int64_t version);
cq_status cq_onnx_schema_check(const cq_onnx_node *node, int64_t version);

/* The same, but reports all faults: sink is called for each, and returns whether to continue. */
typedef bool (*cq_onnx_fault_sink)(void *user, const char *what);
cq_status cq_onnx_schema_faults(const cq_onnx_node *node, int64_t version, cq_onnx_fault_sink sink,
                                void *user);

#endif
