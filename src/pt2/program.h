/* A program of torch.export: graphs of calls, checked and ready to run.
 *
 * In the file everything has a name; here a name of a graph is a slot, so that running a graph
 * needs an array and no look-up. Names are unique within a graph: a graph that is an argument has
 * separate slots. Everything is in the archive's arena. */
#ifndef CQ_PT2_PROGRAM_H
#define CQ_PT2_PROGRAM_H

#include "archive/pt2.h"
#include "base/location.h"

typedef struct cq_pt2_graph cq_pt2_graph;
typedef struct cq_pt2_arg   cq_pt2_arg;

typedef enum cq_pt2_arg_kind {
    CQ_PT2_NONE,
    CQ_PT2_SLOT, /* a tensor, or a data-dependent number */
    CQ_PT2_INT,  /* dtypes, layouts and memory formats too, as c10 numbers them */
    CQ_PT2_FLOAT,
    CQ_PT2_BOOL,
    CQ_PT2_COMPLEX,
    CQ_PT2_TEXT,
    CQ_PT2_DEVICE,
    CQ_PT2_LIST,
    CQ_PT2_GRAPH,
    CQ_PT2_OBJECT /* of a class that only Python knows: its name */
} cq_pt2_arg_kind;

struct cq_pt2_arg {
    cq_pt2_arg_kind kind;
    union {
        uint32_t slot;
        int64_t  i;
        double   f;
        bool     b;
        struct {
            double re, im;
        } c;
        const char *text;
        struct {
            const cq_pt2_arg *items;
            size_t            n;
        } list;
        const cq_pt2_graph *graph;
    } u;
};

typedef struct cq_pt2_node {
    const char       *target; /* "torch.ops.aten.add.Tensor" */
    const char       *op;     /* "aten::add.Tensor"; NULL: it is not an operator */
    size_t            n_inputs, n_outputs;
    const char      **names; /* of the inputs; "" of higher-order operators */
    const cq_pt2_arg *inputs, *outputs;
    const char       *module_stack, *stack_trace; /* "": not noted */
    uint32_t          number;                     /* in the program, for source locations */
} cq_pt2_node;

/* A size: a number, or an expression of symbols and its value during export. */
typedef struct cq_pt2_size {
    const char *expr; /* NULL: fixed */
    int64_t     value;
    bool        has_value;
} cq_pt2_size;

typedef struct cq_pt2_meta {
    cq_dtype           dtype; /* NONE: the slot holds no tensor */
    size_t             rank;
    const cq_pt2_size *sizes;
} cq_pt2_meta;

struct cq_pt2_graph {
    const char  *name;
    size_t       n_slots;
    const char **slots;    /* their names */
    cq_pt2_meta *metas;    /* by slot */
    cq_pt2_size *numbers;  /* of slots that hold an int, by slot; expr NULL and no value: unknown */
    uint32_t    *last_use; /* by slot: the node of its last use; n_nodes: an output */
    size_t       n_inputs, n_outputs, n_nodes;
    const cq_pt2_arg  *inputs, *outputs;
    const cq_pt2_node *nodes;
};

/* ---- what goes in and out ---- */

typedef enum cq_pt2_role {
    CQ_PT2_USER,
    CQ_PT2_PARAMETER,
    CQ_PT2_BUFFER,
    CQ_PT2_CONSTANT, /* a tensor; also a buffer that is not in the state dict */
    CQ_PT2_FIXED,    /* a number, text or None that the program was made for */
    CQ_PT2_MUTATION, /* of an output: the new value of a buffer or an input */
    CQ_PT2_OTHER     /* a token, an object, a gradient */
} cq_pt2_role;

typedef struct cq_pt2_port {
    cq_pt2_role role;
    const char *name; /* of the weight, or of the mutated value */
} cq_pt2_port;

typedef struct cq_pt2_range {
    const char *expr; /* "s0", "2*s0" */
    int64_t     min, max;
} cq_pt2_range;

typedef struct cq_pt2_program {
    cq_pt2_archive     *archive;
    const cq_pt2_graph *graph;
    const cq_pt2_port  *inputs, *outputs; /* of the graph's, in order */
    const cq_pt2_range *ranges;
    cq_map              range_of;          /* by its expression */
    size_t              n_ranges, n_nodes; /* nodes of all graphs */
    const cq_pt2_node **nodes;             /* by number */
    cq_location_source  locations;
} cq_pt2_program;

/* Takes the archive over, on failure too. */
cq_status cq_pt2_program_new(cq_pt2_program **out, cq_pt2_archive *archive);
void      cq_pt2_program_free(cq_pt2_program *p);

/* The source location of a node in the user's Python. */
static inline cq_location cq_pt2_location(const cq_pt2_program *p, const cq_pt2_node *n)
{
    return (cq_location){ &p->locations, n->number };
}

/* "aten::add.Tensor" for "torch.ops.aten.add.Tensor", and NULL if it is not an operator. */
cq_status cq_pt2_operator_name(cq_arena *arena, const char *target, const char **out);

/* signature.c: inputs and outputs, and ranges. */
cq_status cq_pt2_read_signature(cq_pt2_program *p, const cq_json *program);

cq_status cq_pt2_bad(const cq_pt2_program *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
