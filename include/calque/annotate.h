/* Annotations on nodes, anchors around modules, and intermediate values as outputs of an export.
 * Forward functions call them, or cq_module_mark selects a module of any model by its path. Outside
 * of an export they have no effect.
 *
 *     cq_annotate_begin(cx, 0, &(cq_sym_attr){ .name = "key", .kind = CQ_SYM_ATTR_STRING,
 *                                              .s = "value" }, 1);
 *     h = cq_call(cx, m->conv2, h);
 *     h = cq_call(cx, m->linear, h);
 *     cq_annotate_end(cx);
 *
 * Passes treat them as follows. A constant-folded node loses its annotations. A fused node, such as
 * Conv with BatchNormalization, inherits the annotations of its parts unless it has its own. A
 * module that becomes a function keeps them in the function's body. */
#ifndef CALQUE_ANNOTATE_H
#define CALQUE_ANNOTATE_H

#include <calque/nn.h>
#include <calque/symbolic.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    /* Annotate operators as well as modules, including operators called outside of a module. */
    CQ_ANNOTATE_OPERATORS = 1 << 0,

    /* Annotate every node of a module or operator, not only the first. */
    CQ_ANNOTATE_ALL = 1 << 1
};

/* Between begin and end, the first node of each called module gets attrs: for a Linear with bias on
 * a 4-D input the MatMul, not the Add. Nodes that depend only on weights are skipped. Scopes nest,
 * also across nested modules; the innermost value of a name wins. attrs must not be tensors; they
 * are copied. */
CQ_API void cq_annotate_begin(cq_ctx *cx, uint32_t flags, const cq_sym_attr *attrs, size_t n);
CQ_API void cq_annotate_end(cq_ctx *cx);

typedef void (*cq_annotated_fn)(cq_ctx *cx, void *self, cq_tensor *const *in, size_t n_in,
                                cq_tensor **out, size_t n_out);

/* Calls fn and annotates all operators that it calls, as with CQ_ANNOTATE_OPERATORS. */
CQ_API void cq_apply_annotation(cq_ctx *cx, cq_annotated_fn fn, void *self, cq_tensor *const *in,
                                size_t n_in, cq_tensor **out, size_t n_out, uint32_t flags,
                                const cq_sym_attr *attrs, size_t n);

/* Between begin and end, inserts an Identity Anchor_N_start at the first input tensor of the first
 * called module, and Anchor_N_end at the first output tensor of the last one. N counts these scopes
 * and those of cq_annotate_begin, from 0. Modules without tensors get no anchor. n may be 0. */
CQ_API void cq_scoped_anchor_begin(cq_ctx *cx, const cq_sym_attr *attrs, size_t n);
CQ_API void cq_scoped_anchor_end(cq_ctx *cx);

/* Inserts an Identity called Anchor (Anchor_1, …) after x and returns its output. */
CQ_API cq_tensor *cq_anchor(cq_ctx *cx, cq_tensor *x, const cq_sym_attr *attrs, size_t n);

/* Makes x an output called name, after those that the model returns. Returns x. */
CQ_API cq_tensor *cq_as_output(cq_ctx *cx, const char *name, cq_tensor *x);

typedef enum cq_mark_kind {
    CQ_MARK_ANNOTATE = 0,
    CQ_MARK_ANCHOR   = 1,
    CQ_MARK_OUTPUT   = 2
} cq_mark_kind;

/* The same by module path, for every call of the module. */
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
