/* The graph: nodes in order, in blocks, with typed values. It knows no operator by name:
 * the same structure carries `aten::` nodes and, after export has lowered them, `onnx::`
 * nodes. Everything lives in one arena and dies with the graph; passes unlink, never free.
 *
 * A node's inputs are operands: a value, or something fixed (a number, a text, a list, a
 * tensor). Numbers may be symbolic sizes; those depend on the value their symbols come
 * from, though no operand names it (cq_ir_each_use walks both). */
#ifndef CQ_IR_GRAPH_H
#define CQ_IR_GRAPH_H

#include "base/arena.h"
#include "base/map.h"
#include "base/location.h"
#include "base/vec.h"
#include "tensor/tensor.h"

typedef struct cq_value   cq_value;
typedef struct cq_node    cq_node;
typedef struct cq_block   cq_block;
typedef struct cq_graph   cq_graph;
typedef struct cq_operand cq_operand;

/* ---- types ---- */

typedef enum cq_type_kind {
    CQ_TYPE_UNKNOWN,
    CQ_TYPE_TENSOR,
    CQ_TYPE_INT, /* numbers outside of tensors; 0-d tensors in ONNX */
    CQ_TYPE_FLOAT,
    CQ_TYPE_BOOL,
    CQ_TYPE_LIST, /* a sequence of tensors */
    CQ_TYPE_OPTIONAL,
    CQ_TYPE_NONE
} cq_type_kind;

typedef struct cq_type {
    cq_type_kind  kind;
    cq_dtype      dtype; /* of tensors, and of the tensors in a list or optional */
    int           rank;  /* -1: unknown */
    const cq_int *sizes; /* rank of them */
} cq_type;

/* ---- where a node comes from ---- */

typedef struct cq_origin cq_origin;
struct cq_origin {
    const cq_origin *parent;
    const char      *path;       /* "features.3" */
    const char      *name;       /* "3" */
    const char      *class_name; /* "Conv2d" */
    unsigned         call;       /* 0 for the first call of the module */
};

/* ---- values, operands, nodes ---- */

struct cq_value {
    uint32_t    id;    /* unique in the graph, in order of creation */
    uint32_t    index; /* among its node's outputs or its block's parameters */
    cq_node    *node;  /* that makes it; NULL for parameters of blocks and constants */
    cq_block   *block; /* whose parameter it is, or that holds its node */
    cq_type     type;
    const char *name; /* NULL until someone gives it one */

    /* A weight or other constant: its data, retained by the graph. */
    cq_tensor *data;

    cq_tensor *example; /* of a graph input: the data it was captured with */
    cq_value  *onnx;    /* of a value of the source: its converted value (export/convert.c) */
    cq_value  *instead; /* the value that a pass replaced it with */
    cq_value  *pairs;   /* pairs of real numbers of a complex value (symbolic/complex.c) */

    uint32_t position;    /* among the constants; a constant computed from it keeps the position */
    uint32_t n_uses;      /* as of the last cq_ir_count_uses */
    uint32_t counted;     /* which count that was */
    bool     is_weight;   /* a parameter or buffer of the model, kept by name */
    bool     rank_varies; /* the number of dimensions is that of the example and no promise */
    bool     is_taken;    /* read by an operator that the graph has in parts only, or by a branch
                           that was dropped because its other side raises */
};

typedef enum cq_operand_kind {
    CQ_OPERAND_NONE,
    CQ_OPERAND_VALUE,
    CQ_OPERAND_INT,
    CQ_OPERAND_FLOAT,
    CQ_OPERAND_BOOL,
    CQ_OPERAND_COMPLEX,
    CQ_OPERAND_STR,
    CQ_OPERAND_LIST,
    CQ_OPERAND_TENSOR, /* attributes only: a small constant tensor */
    CQ_OPERAND_BLOCK,  /* attributes only */
    CQ_OPERAND_OPAQUE  /* attributes only: one that passes leave alone */
} cq_operand_kind;

struct cq_operand {
    cq_operand_kind kind;
    union {
        cq_value *value;
        cq_int    i;
        double    f;
        bool      b;
        struct {
            double re, im;
        } c;
        const char *s;
        struct {
            cq_operand *items;
            size_t      n;
        } list;
        cq_tensor  *tensor;
        cq_block   *block;
        const void *opaque; /* of the front end that made the node */
    } u;
};

typedef struct cq_attr {
    const char *name;
    cq_operand  value;
} cq_attr;

/* A requested annotation of a module or an operator: the first node with the mark gets the notes,
 * or all of them do. */
typedef struct cq_mark {
    const cq_attr *notes;
    size_t         n_notes;
    bool           all;
    bool           per_operator; /* every operator has a separate mark */
    bool           done;         /* of the pass that gives out notes */
} cq_mark;

/* The marks that a node carries, innermost first. */
typedef struct cq_marks cq_marks;
struct cq_marks {
    const cq_marks *outer;
    cq_mark        *mark;
};

struct cq_node {
    cq_node         *prev, *next;
    cq_block        *block;
    const char      *op;  /* "aten::add.Tensor", "onnx::Conv"; interned by the graph */
    const void      *def; /* the definition of op for the maker of the node; may be NULL */
    const cq_origin *origin;
    const char      *name;
    cq_operand      *inputs;
    cq_value       **outputs;
    cq_attr         *attrs;
    cq_block       **blocks;
    cq_attr         *notes;    /* annotations: not part of the operator's meaning */
    const cq_marks  *marks;    /* NULL: none */
    cq_location      location; /* in the text of a program */
    uint32_t         n_inputs, n_outputs, n_attrs, n_blocks, n_notes;
    bool             is_anchor;   /* is not computed at export; if it has a name, stays unused */
    bool             list_result; /* the outputs are the items of one list */
    bool             no_grad;     /* its results are constants to gradients */
    uint8_t          untaken;     /* of an If: the block that the example does not come to, + 1 */
    bool             mark;        /* of the pass that is running; false between passes */
};

struct cq_block {
    cq_graph   *graph;
    cq_node    *owner; /* NULL: the graph's own block */
    const char *attr;  /* the owner's attribute that holds it, "body"; "bodies[]" is one of a list.
                          NULL: the one that ONNX's If, Loop and Scan have */
    cq_node *first, *last;
    CQ_VEC(cq_value *) params;
    CQ_VEC(cq_operand) returns;
};

/* A number that was read while the graph was made: it is fixed in it, though other inputs would
 * give another. */
typedef struct cq_baked {
    const char *what, *where;
    int64_t     value;
} cq_baked;

/* A module that was called, and what its first call returned first. */
typedef struct cq_called {
    const char *path, *class_name;
    cq_type     type; /* UNKNOWN: no tensor */
} cq_called;
/* A condition that must have its value on the example: the other side of its branch was dropped. */
typedef struct cq_check {
    cq_value   *condition;
    bool        wanted;
    cq_location location;
} cq_check;

/* State from one run of a model to the next: an output is the input of the next run. */
typedef struct cq_state_pair {
    const char *input, *output;
    cq_tensor  *initial; /* of the first run; the graph retains it */
} cq_state_pair;

struct cq_graph {
    cq_arena  *arena;
    cq_intern  names;
    cq_symbols symbols;
    cq_block  *top;
    CQ_VEC(cq_value *) constants; /* weights and other values with data, in order of use */
    CQ_VEC(cq_tensor *) tensors;  /* all tensors that the graph retains */
    CQ_VEC(cq_block *) blocks;    /* all, so that their vectors can be freed */
    CQ_VEC(cq_baked) baked;
    CQ_VEC(cq_called) called; /* in the order of their first calls */
    CQ_VEC(const char *)
    return_names;                       /* of returns of top, unless the user names them; NULL:
                                         * none */
    CQ_VEC(const char *) named_outputs; /* of the last returns of top: outputs besides its own */
    CQ_VEC(cq_state_pair) states;
    CQ_VEC(cq_check) checks;
    cq_dtype default_float;       /* of floats as tensors, for what is computed from the graph;
                                   * CQ_DTYPE_NONE: float32 */
    uint32_t  n_values, n_counts; /* n_counts: calls of cq_ir_count_uses */
    cq_status status;             /* the first failure of a builder call */
};

/* ---- building ---- */

cq_status cq_graph_new(cq_graph **out);
void      cq_graph_free(cq_graph *g);

const char *cq_ir_text(cq_graph *g, const char *text); /* interned; "" after a failure */

/* The default name of a return of the top block. */
cq_status cq_ir_name_return(cq_graph *g, size_t index, const char *name);

cq_block *cq_ir_block_new(cq_graph *g, cq_node *owner);
cq_value *cq_ir_param_new(cq_block *b, cq_type type);
cq_value *cq_ir_value_new(cq_graph *g, cq_type type);

/* A value that holds data; the graph retains it. */
cq_value *cq_ir_constant_new(cq_graph *g, cq_tensor *data, bool is_weight);

/* A node at the end of b (or before `before`, if that is not NULL), with n_outputs new
 * values of unknown type. Operands are copied (deeply). NULL after a failure, which stays
 * in g->status. */
cq_node  *cq_ir_node_new(cq_block *b, cq_node *before, const char *op, const cq_operand *inputs,
                         size_t n_inputs, size_t n_outputs);
cq_status cq_ir_attr_set(cq_node *n, const char *name, cq_operand value); /* keeps the order */
const cq_operand *cq_ir_attr(const cq_node *n, const char *name);         /* NULL: not there */

/* Adds notes to n; of equal names n's own are kept or, with replace, overwritten. */
cq_status cq_ir_add_notes(cq_node *n, const cq_attr *notes, size_t n_notes, bool replace);
cq_block *cq_ir_node_block(cq_node *n); /* adds a block to it */
void      cq_ir_unlink(cq_node *n);
void      cq_ir_move_before(cq_node *n, cq_block *b, cq_node *before); /* NULL: to the end */

/* A tensor type whose sizes are copied into the graph. */
cq_type cq_ir_tensor_type(cq_graph *g, cq_dtype dtype, size_t rank, const cq_int *sizes);
cq_type cq_ir_type_of(cq_graph *g, const cq_tensor *t);

cq_operand cq_ir_copy_operand(cq_graph *g, cq_operand o);
cq_status  cq_ir_keep_tensor(cq_graph *g, cq_tensor *t); /* retains it */
cq_status  cq_ir_note_state(cq_graph *g, const char *input, const char *output, cq_tensor *initial);

#define CQ_OPERAND_OF(v) ((cq_operand){ .kind = CQ_OPERAND_VALUE, .u.value = (v) })

/* ---- walking ---- */

/* Calls use for every value that the operand depends on, through symbols too. */
void cq_ir_each_use(const cq_operand *o, void (*use)(cq_value *v, void *user), void *user);

/* Calls fn for every node of b in order, outer before inner. fn may unlink its node. */
cq_status cq_ir_each_node(cq_block *b, cq_status (*fn)(cq_node *n, void *user), void *user);

/* Sets n_uses of all values. */
void cq_ir_count_uses(cq_graph *g);

/* ---- printing, in the style of PyTorch's documentation ---- */

struct cq_str;
cq_status cq_ir_print(char **out, const cq_graph *g);

/* Checks the graph's own rules: values before uses, consistent links. For debug builds and
 * tests; a failure is a bug and names the node. */
cq_status cq_ir_lint(const cq_graph *g);

#endif
