/* Saying things about parts of a model that an export writes down: annotations on nodes, anchors
 * around modules, intermediate values as outputs. They are for forward functions, or by the path
 * of a module for any model (cq_module_mark). Outside of an export none of them does anything.
 *
 *     cq_annotate_begin(cx, 0, &(cq_sym_attr){ .name = "key", .kind = CQ_SYM_ATTR_STRING,
 *                                              .s = "value" }, 1);
 *     h = cq_call(cx, m->conv2, h);
 *     h = cq_call(cx, m->linear, h);
 *     cq_annotate_end(cx);
 *
 * What becomes of them: constant folding leaves nothing to annotate of what is computed at export;
 * a node that takes another in, Conv with BatchNormalization, takes its annotations over unless it
 * has them already; a module that becomes a function keeps them in the function's body. */
#ifndef CALQUE_ANNOTATE_H
#define CALQUE_ANNOTATE_H

#include <calque/nn.h>
#include <calque/symbolic.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    /* Annotate operators, those that are called without a module too; not only modules. */
    CQ_ANNOTATE_OPERATORS = 1 << 0,

    /* Annotate every node of a module or operator, not only the first. */
    CQ_ANNOTATE_ALL = 1 << 1
};

/* From begin to end, the first node of each module that is called gets attrs: of a Linear with
 * bias on a 4-D input the MatMul, not the Add. Nodes that only depend on weights do not count.
 * Scopes nest, in modules of modules too; the innermost value of a name counts. attrs may not be
 * tensors, and are copied. */
CQ_API void cq_annotate_begin(cq_ctx *cx, uint32_t flags, const cq_sym_attr *attrs, size_t n);
CQ_API void cq_annotate_end(cq_ctx *cx);

typedef void (*cq_annotated_fn)(cq_ctx *cx, void *self, cq_tensor *const *in, size_t n_in,
                                cq_tensor **out, size_t n_out);

/* Calls fn, and annotates all operators it calls, as CQ_ANNOTATE_OPERATORS. */
CQ_API void cq_apply_annotation(cq_ctx *cx, cq_annotated_fn fn, void *self, cq_tensor *const *in,
                                size_t n_in, cq_tensor **out, size_t n_out, uint32_t flags,
                                const cq_sym_attr *attrs, size_t n);

/* From begin to end: an Identity Anchor_N_start at the first tensor that the first module called
 * takes, and Anchor_N_end at the first tensor that the last one returns. N counts these scopes and
 * those of cq_annotate_begin, from 0. Modules without tensors get none. attrs may be none. */
CQ_API void cq_scoped_anchor_begin(cq_ctx *cx, const cq_sym_attr *attrs, size_t n);
CQ_API void cq_scoped_anchor_end(cq_ctx *cx);

/* An Identity called Anchor (Anchor_1, …) at x; what it returns is x, with the anchor behind it. */
CQ_API cq_tensor *cq_anchor(cq_ctx *cx, cq_tensor *x, const cq_sym_attr *attrs, size_t n);

/* Makes x an output called name, after those that the model returns. Returns x. */
CQ_API cq_tensor *cq_as_output(cq_ctx *cx, const char *name, cq_tensor *x);

typedef enum cq_mark_kind {
    CQ_MARK_ANNOTATE = 0,
    CQ_MARK_ANCHOR   = 1,
    CQ_MARK_OUTPUT   = 2
} cq_mark_kind;

/* The same for a module by its path, around each call of it. */
typedef struct cq_module_mark {
    size_t             struct_size; /* sizeof(cq_module_mark), the same in all of an array */
    cq_mark_kind       kind;
    const char        *path;  /* "features.3"; "" is the model */
    uint32_t           flags; /* of ANNOTATE: CQ_ANNOTATE_ALL */
    const cq_sym_attr *attrs; /* of ANNOTATE and ANCHOR */
    size_t             n_attrs;
    const char        *name;  /* of OUTPUT; a second call of the module gives name_1, … */
    size_t             index; /* of OUTPUT: which of the tensors that the module returns */
} cq_module_mark;

#ifdef __cplusplus
}
#endif

#endif
