/* Interface inside the inference engine; rules only use rule.h. */
#ifndef CQ_ONNX_INFER_INTERNAL_H
#define CQ_ONNX_INFER_INTERNAL_H

#include "onnx/infer/values.h"

/* A call of a model's function, to resolve attribute references of its body. */
typedef struct cq_infer_frame cq_infer_frame;
struct cq_infer_frame {
    const cq_onnx_function *function;
    const cq_onnx_node     *call;
    const cq_infer_frame   *caller;
};

/* The values of a graph or function body. A scope lives until the end of the inference, because the
 * types of a subgraph are written only when they are final. */
struct cq_infer_scope {
    cq_infer_scope *outer;       /* the enclosing scope, whose values are visible; NULL in
                                  * functions */
    cq_onnx_graph        *graph; /* NULL in functions */
    const cq_onnx_opsets *opsets;
    const cq_infer_frame *frame;
    unsigned              depth;    /* nesting of graphs and calls */
    cq_map                values;   /* name to cq_ivalue */
    cq_map                declared; /* name to cq_onnx_value_info */
    CQ_VEC(cq_infer_scope *) kept;  /* scopes of subgraphs whose types are final */
};

struct cq_infer {
    cq_onnx_model *model;
    unsigned       flags;
    cq_arena      *arena;
    cq_symbols     symbols;
    unsigned       n_fresh;
    cq_onnx_model *expansions; /* functions that calls were expanded into */
    cq_map         functions;  /* "domain:name:overload" to cq_onnx_function */
    cq_ptr_map     visited;    /* subgraphs */
    uint32_t       revisits;
    bool           has_unknown_operator; /* the node's outputs have no type, because an operator was
                                          * unknown */
    CQ_VEC(cq_infer_scope *) scopes;     /* all scopes, to be cleared */
    cq_onnx_value_fn each;               /* NULL: values are not reported */
    void            *user;

    const cq_infer_guide *guide; /* NULL: inference without a guide */
};

/* type.c */
cq_status     cq_itype_from_onnx(cq_itype *out, cq_infer *in, const cq_onnx_type *type);
cq_onnx_type *cq_itype_to_onnx(cq_infer *in, const cq_itype *type, const cq_onnx_type *like);

/* into is the declaration and has precedence; from fills its unknown parts. Fails if they
 * contradict each other; then into is unchanged. */
cq_status cq_itype_merge(cq_itype *into, cq_infer *in, const cq_itype *from);

/* Gives every unknown size a new symbol. */
cq_status cq_itype_name_unknown(cq_itype *type, cq_infer *in);

/* Whether the type is complete enough to be written. */
bool cq_itype_is_whole(const cq_itype *type);

/* data.c: the elements of a tensor message; NULL if there are too many. */
cq_status cq_idata_read(const cq_idata **out, cq_infer *in, const cq_onnx_tensor *tensor);

/* check_types.c: checks inputs and outputs against the types in the schema. */
cq_status cq_rule_check_types(const cq_rule *r);

#endif
