/* Interface inside <calque/view.h>: a model as an interactive image.
 *
 * collect.c reads the graphs of a model: nodes with their scopes, values, weights. order.c sorts
 * the nodes of each graph topologically with those of one module adjacent, so a box is a range of
 * that order, and boxes never depend on each other in a cycle. tree.c makes canvases: a canvas is
 * the content of a box. layout.c and coordinates.c assign ranks and coordinates to the items of
 * each canvas; the page only moves them apart when a box opens. write.c, svg.c and page.c write the
 * document. */
#ifndef CQ_VIEW_VIEW_H
#define CQ_VIEW_VIEW_H

#include "base/arena.h"
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "onnx/model.h"

#include <calque/view.h>

#define CQ_VIEW_NONE UINT32_MAX

enum {
    CQ_VIEW_MAX_SCOPE  = 48, /* levels of modules; deeper ones belong to the last */
    CQ_VIEW_MAX_BODIES = 64, /* levels of If and Loop */
    CQ_VIEW_BINS       = 32  /* of a histogram */
};

/* Statistics of a weight; has_data is false if the elements are not in the file. */
typedef struct cq_view_weight {
    uint32_t              value;
    const cq_onnx_tensor *tensor;
    int64_t               numel;
    uint64_t              bytes;
    bool                  has_data;
    double                min, max, mean, std;
    int64_t               n_zero, n_nan, n_inf;
    int64_t               bins[CQ_VIEW_BINS];
    double                first[8];
    uint32_t              n_first;
    const char           *text; /* of a tensor of strings: the first of them */
} cq_view_weight;

typedef struct cq_view_value {
    const char *name, *type; /* "float32[batch,3]"; "" if it is unknown */
    uint32_t    weight;      /* index into weights, or NONE */
    uint32_t    graph;       /* that it belongs to */
    uint32_t    producer;    /* position in the order of the graph + 1; 0: a weight */
    uint32_t    first_use;   /* of order.c */
    uint32_t    last_use;    /* position in the order of the graph */
    double      bytes;       /* dynamic sizes being 1; 0: unknown */
    double      deviation;   /* from the other model of a diff; negative: not compared */
    double      largest;     /* absolute value in this model, for the deviation */
} cq_view_value;

typedef struct cq_view_scope cq_view_scope;
struct cq_view_scope {
    cq_view_scope *parent;
    const char    *name, *class_name; /* "0", "Bottleneck" or "" */
    uint32_t       depth;
};

typedef enum cq_view_state {
    CQ_VIEW_SAME,
    CQ_VIEW_ADDED,
    CQ_VIEW_REMOVED,
    CQ_VIEW_CHANGED
} cq_view_state;

/* An operator, or an input or output of a graph (node NULL). */
typedef struct cq_view_op {
    const cq_onnx_node  *node;
    const char          *name; /* of a node without one: its first output */
    const cq_view_scope *scope;
    bool                 has_module; /* false: order.c derives the scope from the neighbours */
    const char          *location;   /* "net.py:12"; NULL: unknown */
    uint32_t            *inputs, *outputs; /* values; NONE: omitted */
    uint32_t             n_inputs, n_outputs;
    uint32_t            *captured; /* values that the bodies read from outside */
    uint32_t             n_captured;
    uint32_t            *bodies; /* graphs */
    uint32_t             n_bodies;
    const char         **body_names;
    uint32_t             function; /* graph, or NONE */
    bool                 is_input, is_output;
    double               flops;
    double               seconds;                   /* negative: not measured */
    double               weight_error, layer_error; /* of quantization; negative: not measured */
    bool                 is_quantized;              /* false: it stays in float */
    cq_view_state        state;
    uint32_t             twin;  /* the same node in the other model, or NONE */
    CQ_VEC(const char *) notes; /* findings */
} cq_view_op;

typedef struct cq_view_graph {
    const char *name;
    uint32_t    outer; /* the graph around a body, or NONE */
    cq_map      names; /* to a value + 1 */
    uint32_t   *ops;   /* in order: inputs, nodes, outputs */
    uint32_t    n_ops;
    uint32_t    canvas; /* of all of it */
    bool        is_function;
} cq_view_graph;

typedef enum cq_view_kind {
    CQ_VIEW_OP,
    CQ_VIEW_BOX,
    CQ_VIEW_INPUT,
    CQ_VIEW_OUTPUT,
    CQ_VIEW_PORT_IN, /* on the border of a canvas: a value from outside */
    CQ_VIEW_PORT_OUT
} cq_view_kind;

typedef struct cq_view_item {
    cq_view_kind kind;
    uint32_t     op;     /* of an OP, INPUT or OUTPUT, and of a box that is a node; or NONE */
    uint32_t     canvas; /* of a box, or NONE */
    uint32_t     value;  /* of a port */
    uint32_t     lo, hi; /* the range of the graph's order */
    const char  *label, *detail, *path;
    const char  *class_name;
    uint32_t     repeats; /* of a box: as many identical blocks; 0: it is one */
    uint32_t     n_nodes; /* of a box: operators inside */
    bool         is_part; /* of a box: a segment of a long sequence, not a module */
    bool         is_open; /* of a box, in the first view */
    double       flops, param_bytes;
    uint64_t     hash;
    int32_t      width, height; /* as laid out */
    int32_t      closed_width, closed_height;
    uint32_t     rank;
    double       x; /* of its centre */
} cq_view_item;

typedef struct cq_view_edge {
    uint32_t  from, to; /* local items */
    uint32_t  value;
    uint32_t  from_port, to_port; /* local items of the canvas of that end, or NONE */
    uint32_t *bends;              /* dummies, from top to bottom */
    uint32_t  n_bends;
} cq_view_edge;

typedef struct cq_view_dummy {
    uint32_t rank;
    double   x;
} cq_view_dummy;

typedef struct cq_view_canvas {
    uint32_t graph, lo, hi;
    uint32_t depth; /* of the modules around it */
    CQ_VEC(cq_view_item) items;
    CQ_VEC(cq_view_edge) edges;
    CQ_VEC(cq_view_dummy) dummies;
    uint32_t   n_ranks;
    uint32_t  *ranks;  /* entries rank after rank: an item, or ~dummy */
    uint32_t  *starts; /* n_ranks + 1 */
    int32_t    width, height;
    cq_ptr_map ports[2]; /* in, out: value + 1 to a local item + 1 */
    bool       is_laid_out;
} cq_view_canvas;

typedef struct cq_view_point {
    uint32_t op;
    double   bytes;
} cq_view_point;

typedef struct cq_view {
    cq_arena      *arena;
    cq_onnx_model *model;
    cq_view_scope *root_scope;
    cq_map         scopes; /* by the path */
    CQ_VEC(cq_view_value) values;
    CQ_VEC(cq_view_weight) weights;
    CQ_VEC(cq_view_op) ops;
    CQ_VEC(cq_view_graph) graphs; /* functions, the model's own, bodies */
    CQ_VEC(cq_view_canvas) canvases;
    CQ_VEC(cq_view_point) memory;
    CQ_VEC(const char *) notes; /* findings that belong to no node */
    cq_map      functions;      /* "domain::name:overload" to a graph + 1 */
    cq_map      by_name;        /* nodes to an op + 1; the first of a name */
    cq_ptr_map  by_node;        /* nodes to an op + 1 */
    uint32_t    main_graph;
    uint32_t    root;                 /* canvas */
    double      peak, flops, seconds; /* seconds < 0: no profile */
    bool        is_fixed;             /* dynamic sizes were set to 1 for FLOPs and memory */
    const char *sizes;                /* "batch = 1, seq = 1": dynamic sizes for both; "": none */
    const char *formula;              /* FLOPs as a formula of the dynamic sizes; "": none */
    size_t      n_measured;           /* layers with errors of quantization */
    size_t      n_runs;               /* of the profile */
    const char *title;
} cq_view;

/* view.c: the graphs of a model, with inferred shapes. */
cq_status cq_view_read(cq_view *v, cq_onnx_model *model, const char *title);

/* collect.c */
cq_status   cq_view_collect(cq_view *v);
void        cq_view_clear(cq_view *v);
uint32_t    cq_view_find(const cq_view *v, uint32_t graph, const char *name); /* a value, or NONE */
const char *cq_view_op_type(const cq_view_op *op);
bool        cq_view_has_own_domain(const cq_onnx_node *node); /* not that of ONNX */

/* scope.c: the module that a node belongs to, and the location in the source. */
cq_status      cq_view_scope_of(cq_view *v, cq_view_op *op);
cq_view_scope *cq_view_scope_enter(cq_view *v, cq_view_scope *parent, const char *name, size_t len);

/* order.c: sorts the nodes of a graph; the array has inputs first and outputs last. */
cq_status cq_view_order(cq_view *v, uint32_t graph);

/* tree.c */
cq_status cq_view_build(cq_view *v);

/* parts.c: replaces runs of items by boxes: identical blocks, and parts of long sequences. */
typedef CQ_VEC(cq_view_item) cq_view_items;
cq_status cq_view_fold_repeats(cq_view *v, uint32_t graph, uint32_t depth, cq_view_items *items);
cq_status cq_view_split(cq_view *v, uint32_t graph, uint32_t depth, cq_view_items *items);

/* The canvas of a range of a graph that has these items. */
cq_status cq_view_canvas_of(uint32_t *out, cq_view *v, uint32_t graph, uint32_t lo, uint32_t hi,
                            const cq_view_items *items);

/* Distances of the layout, which the page knows too (web/view/view.js). */
enum {
    CQ_VIEW_GAP_X     = 26, /* between items of a rank */
    CQ_VIEW_GAP_BEND  = 14, /* beside a bend of an edge */
    CQ_VIEW_GAP_LABEL = 6,  /* after the label of an edge */
    CQ_VIEW_GAP_Y     = 36, /* between ranks */
    CQ_VIEW_LEAD      = 13, /* straight part of an edge below its item, beside which its label is */
    CQ_VIEW_GAP_PORT  = 22, /* between the border and the first or last rank */
    CQ_VIEW_PAD       = 18, /* inside of an open box */
    CQ_VIEW_HEADER    = 30, /* of an open box */
    CQ_VIEW_LABEL_LETTER = 7 /* of the label of an edge */
};

/* A canvas while it is laid out: vertices are the items, then the dummies. An edge between
 * neighbouring ranks is in `above` of its lower end and in `below` of its upper end. */
typedef struct cq_view_grid {
    uint32_t  n, n_items, n_ranks;
    uint32_t *rank, *pos;                          /* of a vertex */
    double   *width, *x;                           /* of a vertex */
    double   *label;                               /* right of its centre: where labels end */
    uint32_t *order, *starts;                      /* vertices rank after rank */
    uint32_t *above, *above_at, *below, *below_at; /* neighbours, as starts */
} cq_view_grid;

/* layout.c, crossings.c and coordinates.c */
cq_status cq_view_layout(cq_view *v, cq_view_canvas *c);
cq_status cq_view_untangle(cq_view_grid *g, cq_arena *arena);
cq_status cq_view_place(cq_view_grid *g, cq_arena *arena);
void      cq_view_measure(const cq_view *v, cq_view_item *item);
/* Where an edge meets an item, right of its centre: at the port of an open box, else 0. */
double cq_view_port_offset(const cq_view *v, const cq_view_item *item, uint32_t port);
double cq_view_text_width(const char *text, double size);

/* labels.c: "float32[64,3,7,7]" as 64×3×7×7, long expressions of sizes as "…"; the number of
 * letters. The page knows the rule too. */
size_t cq_view_add_shape(cq_str *s, const char *type);

/* The texts of an item; depth is that of the modules around it. */
cq_status cq_view_describe(cq_view *v, cq_view_item *item, uint32_t depth);

/* weights.c, count.c */
cq_status cq_view_add_weight(cq_view *v, uint32_t value, const cq_onnx_tensor *tensor);
cq_status cq_view_weigh(cq_view *v);
/* FLOPs and memory, at the sizes of options->inputs, or 1; options may be NULL. */
cq_status cq_view_count(cq_view *v, const cq_view_options *options);

/* formula.c: after the count. */
cq_status cq_view_add_formula(cq_view *v);

/* overlay.c */
typedef cq_status (*cq_view_timing_fn)(void *user, cq_view_op *op, const char *op_type,
                                       double seconds);
cq_status cq_view_add_profile(cq_view *v, const cq_view_options *options, cq_view_timing_fn fn,
                              void *user);
cq_status cq_view_add_report(cq_view *v, const char *path);
cq_status cq_view_add_findings(cq_view *v);

/* finding.c: an operator of the model, and the one that a finding is about, "graph main > node
 * /conv/Conv (Conv)"; NULL: none. */
cq_view_op *cq_view_op_of(const cq_view *v, const cq_onnx_node *node);
cq_view_op *cq_view_op_at(const cq_view *v, const char *where);

/* A finding in one line, which does not name its node. */
const char *cq_view_finding_text(const cq_view *v, const cq_onnx_finding *finding);

/* checkpoint.c: the model was made of a checkpoint, and has tensors only. */
bool cq_view_is_checkpoint(const cq_onnx_model *model);

/* compare.c */
cq_status cq_view_compare(cq_view *a, cq_view *b);

/* about.c: one line about an operator of ONNX; "" if there is none. The category is a colour. */
const char *cq_view_about(const char *op_type);
const char *cq_view_category(const char *op_type);

/* write.c, svg.c, page.c */
cq_status cq_view_write(cq_str *s, const cq_view *v, const cq_view *other);
cq_status cq_view_write_svg(cq_str *s, const cq_view *v);
void      cq_view_json_text(cq_str *s, const char *text);

/* Embedded by CMake: the files of web/view. */
typedef struct cq_view_file {
    const char *name, *text;
    size_t      size;
} cq_view_file;
extern const cq_view_file cq_view_files[];

#endif
