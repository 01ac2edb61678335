/* How to write the shape rule of an operator.
 *
 *     static cq_status flatten(cq_rule *r)
 *     {
 *         const cq_itype *x = cq_rule_shaped(r, 0);
 *         cq_shape        y = { .rank = 2 };
 *         size_t          axis;
 *
 *         if (!x)
 *             return CQ_OK;
 *         CQ_TRY(cq_rule_axis(&axis, r, cq_rule_int(r, "axis", 1), x->rank + 1));
 *         y.dims[0] = cq_dims_product(r, x->dims, axis);
 *         y.dims[1] = cq_dims_product(r, x->dims + axis, x->rank - axis);
 *         return cq_rule_give(r, 0, &y);
 *     }
 *
 * A rule gives the shapes it knows and returns CQ_OK, or fails when the inputs contradict each
 * other. Element types follow from the schema, so a rule sets one only where the schema leaves
 * it open. Inputs may be missing, untyped or without a shape: only the first output is surely
 * there. */
#ifndef CQ_ONNX_INFER_RULE_H
#define CQ_ONNX_INFER_RULE_H

#include "onnx/infer.h"
#include "onnx/schema.h"
#include "tensor/expr.h"

/* ---- facts about values ---- */

/* A size that may be unknown or symbolic. */
typedef struct cq_dim {
    bool   known;
    cq_int size;
} cq_dim;

typedef enum cq_ikind {
    CQ_IKIND_UNKNOWN,
    CQ_IKIND_TENSOR,
    CQ_IKIND_SPARSE,
    CQ_IKIND_SEQUENCE,
    CQ_IKIND_OPTIONAL,
    CQ_IKIND_OTHER /* maps and opaque types, kept as declared */
} cq_ikind;

/* A type. Types are immutable, so parts are shared. */
typedef struct cq_itype cq_itype;
struct cq_itype {
    cq_ikind            kind;
    int32_t             elem; /* cq_onnx_data_type of a tensor's elements; 0: unknown */
    bool                has_rank;
    size_t              rank;
    const cq_dim       *dims;
    const cq_itype     *element; /* of a sequence or optional; NULL: unknown */
    const cq_onnx_type *other;
};

/* An element of a tensor. Integral values are integers regardless of dtype. */
typedef enum cq_inumber { CQ_INUM_UNKNOWN, CQ_INUM_INT, CQ_INUM_REAL } cq_inumber;

typedef struct cq_ielem {
    cq_inumber kind;
    cq_int     i;
    double     r;
} cq_ielem;

/* The elements of a small tensor, in row-major order. */
typedef struct cq_idata {
    size_t   n;
    cq_ielem items[];
} cq_idata;

typedef struct cq_ivalue {
    const char           *name;
    cq_itype              type;
    const cq_idata       *data;   /* NULL: unknown, or not read from tensor yet */
    const cq_onnx_tensor *tensor; /* an initializer or constant */
} cq_ivalue;

/* A shape under construction. */
typedef struct cq_shape {
    size_t rank;
    cq_dim dims[CQ_MAX_RANK];
} cq_shape;

/* ---- the call of a rule ---- */

typedef struct cq_infer       cq_infer;
typedef struct cq_infer_scope cq_infer_scope;

typedef struct cq_rule {
    cq_infer             *infer;
    cq_infer_scope       *scope;
    cq_symbols           *symbols;
    cq_arena             *arena;
    const cq_onnx_node   *node;
    const cq_onnx_schema *schema;
    int64_t               version;
    size_t                n_inputs, n_outputs;
    cq_ivalue           **inputs; /* NULL: omitted */
    cq_itype             *outputs;
    const cq_idata      **out_data;
} cq_rule;

typedef cq_status (*cq_rule_fn)(cq_rule *r);

/* A row; the newest row that is not newer than the opset is used. */
typedef struct cq_rule_row {
    const char *op;
    int         since;
    cq_rule_fn  shape;
    cq_rule_fn  data; /* computes elements, called after shape; NULL: they remain unknown */
} cq_rule_row;

/* The row of an operator; *out is NULL if there is none. */
cq_status cq_rule_find(const cq_rule_row **out, const cq_onnx_schema *schema, int64_t version);

extern const cq_rule_row cq_rules_elementwise[];
extern const cq_rule_row cq_rules_math[];
extern const cq_rule_row cq_rules_nn[];
extern const cq_rule_row cq_rules_pool[];
extern const cq_rule_row cq_rules_reduce[];
extern const cq_rule_row cq_rules_tensor[];
extern const cq_rule_row cq_rules_reshape[];
extern const cq_rule_row cq_rules_index[];
extern const cq_rule_row cq_rules_rnn[];
extern const cq_rule_row cq_rules_controlflow[];
extern const cq_rule_row cq_rules_sequence[];
extern const cq_rule_row cq_rules_quantize[];
extern const cq_rule_row cq_rules_random[];
extern const cq_rule_row cq_rules_image[];
extern const cq_rule_row cq_rules_text[];
extern const cq_rule_row cq_rules_signal[];
extern const cq_rule_row cq_rules_training[];
extern const cq_rule_row cq_rules_ml[];

/* ---- inputs ---- */

bool cq_rule_has(const cq_rule *r, size_t i); /* given and not "" */

/* The type of a tensor whose rank is known; otherwise NULL. */
const cq_itype *cq_rule_shaped(const cq_rule *r, size_t i);

int32_t cq_rule_elem(const cq_rule *r, size_t i); /* 0: unknown */

/* The elements of a tensor, or NULL. Some of them may be unknown. */
const cq_idata *cq_rule_data(cq_rule *r, size_t i);

/* Reads elements as plain numbers; false unless all are plain. The caller's array has space for max
 * elements. */
bool cq_rule_plain_ints(cq_rule *r, size_t i, int64_t *out, size_t *n, size_t max);

/* Reads the only element of a tensor. */
bool cq_rule_scalar(cq_rule *r, size_t i, cq_ielem *out);

/* ---- attributes: the node's (through references, in a function), the schema's default ---- */

const cq_onnx_attribute *cq_rule_attr(const cq_rule *r, const char *name);
int64_t                  cq_rule_int(const cq_rule *r, const char *name, int64_t otherwise);
double                   cq_rule_float(const cq_rule *r, const char *name, double otherwise);
bool                     cq_rule_text_is(const cq_rule *r, const char *name, const char *text);
const cq_onnx_ints      *cq_rule_ints(const cq_rule *r, const char *name); /* NULL if omitted */

/* Reads integers that are an attribute in old opsets and an input in newer ones. */
typedef enum cq_given { CQ_NOT_GIVEN, CQ_GIVEN, CQ_GIVEN_UNKNOWN } cq_given;
cq_given cq_rule_list(cq_rule *r, const char *attr, size_t input, int64_t *out, size_t *n,
                      size_t max);

/* Converts a negative axis, which counts from the end; fails if it is out of range. */
cq_status cq_rule_axis(size_t *out, const cq_rule *r, int64_t axis, size_t rank);

/* The axes of an attribute or input as a bit set, for a rank of at most CQ_MAX_RANK; all axes if
 * they are omitted. */
cq_given cq_rule_axes(cq_status *status, cq_rule *r, size_t input, size_t rank, uint64_t *out);

/* Fails if an input that must be a list of numbers does not have rank 1. */
cq_status cq_rule_need_list(cq_rule *r, size_t input);

/* ---- outputs ---- */

cq_status cq_rule_give(cq_rule *r, size_t i, const cq_shape *shape);
cq_status cq_rule_give_dims(cq_rule *r, size_t i, size_t rank, const cq_dim *dims);
void      cq_rule_give_elem(cq_rule *r, size_t i, int32_t elem);
void      cq_rule_give_type(cq_rule *r, size_t i, const cq_itype *type);
cq_status cq_rule_give_element(cq_rule *r, size_t i, cq_ikind kind, const cq_itype *element);
bool      cq_rule_wants(const cq_rule *r, size_t i); /* whether the node has such an output */

/* Allocates the elements of an output; NULL if there are too many or memory is exhausted. */
cq_idata *cq_rule_new_data(cq_rule *r, size_t i, int64_t n);

/* Fails with a contradiction that a rule has found, and the node's name. */
cq_status cq_rule_fail(const cq_rule *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- sizes ---- */

static inline cq_dim cq_dim_of(int64_t size)
{
    return (cq_dim){ true, { size, NULL } };
}

static inline cq_dim cq_dim_unknown(void)
{
    return (cq_dim){ 0 };
}

static inline bool cq_dim_is_plain(cq_dim d)
{
    return d.known && !d.size.expr;
}

static inline bool cq_dim_is(cq_dim d, int64_t size)
{
    return cq_dim_is_plain(d) && d.size.value == size;
}

static inline bool cq_dim_same(cq_dim a, cq_dim b)
{
    return a.known && b.known && cq_int_same(a.size, b.size);
}

cq_dim cq_dim_add(const cq_rule *r, cq_dim a, cq_dim b);
cq_dim cq_dim_sub(const cq_rule *r, cq_dim a, cq_dim b);
cq_dim cq_dim_mul(const cq_rule *r, cq_dim a, cq_dim b);
cq_dim cq_dim_floordiv(const cq_rule *r, cq_dim a, cq_dim b);
cq_dim cq_dim_ceildiv(const cq_rule *r, cq_dim a, int64_t b);
cq_dim cq_dim_min(const cq_rule *r, cq_dim a, cq_dim b);
cq_dim cq_dim_max(const cq_rule *r, cq_dim a, cq_dim b);
cq_dim cq_dims_product(const cq_rule *r, const cq_dim *dims, size_t n);

/* Whether the text of an expression is too long for further arithmetic. */
bool cq_int_is_long(cq_int a);

/* Whether an expression is certainly not negative: it consists of symbols and positive numbers. */
bool cq_int_is_size(cq_int a);

/* Unifies two sizes that must be equal. */
cq_status cq_dim_unify(cq_dim *out, const cq_rule *r, cq_dim a, cq_dim b);

/* Broadcasts by numpy's rules; into is one of the shapes and receives the result. */
cq_status cq_shape_broadcast(cq_rule *r, cq_shape *into, const cq_dim *dims, size_t rank);

void cq_shape_of(cq_shape *out, const cq_itype *type);

/* The product of plain sizes; -1 if a size is not plain, or on overflow. */
int64_t cq_dims_numel(const cq_dim *dims, size_t rank);

/* ---- types ---- */

/* The most specific type that includes both types; unknown if there is none. */
cq_status cq_itype_union(cq_itype *out, cq_arena *arena, const cq_itype *a, const cq_itype *b);
bool      cq_itype_same(const cq_itype *a, const cq_itype *b);
const cq_itype *cq_itype_copy(cq_arena *arena, const cq_itype *t); /* NULL if memory is exhausted */

/* The type of the value of an attribute. */
cq_status cq_itype_of_attribute(cq_itype *out, cq_rule *r, const cq_onnx_attribute *a);

/* ---- subgraphs ---- */

/* Infers a subgraph whose inputs have these types and elements. out gets the types of its n_out
 * outputs, out_data (which may be NULL) their elements. The scope must be passed to cq_graph_keep
 * when the types are final. */
cq_status cq_rule_graph(cq_rule *r, cq_infer_scope **out_scope, cq_onnx_graph *graph, size_t n_in,
                        const cq_ivalue *in, size_t n_out, cq_itype *out,
                        const cq_idata **out_data);
cq_status cq_rule_keep_graph(cq_rule *r, cq_infer_scope *scope);
cq_onnx_graph *cq_rule_subgraph(const cq_rule *r, const char *attr);

#endif
