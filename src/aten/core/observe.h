/* Module calls and the marks of model code: annotations, anchors, named outputs. Front ends report
 * calls here; an observer (a capture, or a run with named outputs) receives all of it. */
#ifndef CQ_ATEN_CORE_OBSERVE_H
#define CQ_ATEN_CORE_OBSERVE_H

#include "aten/core/ctx.h"
#include "base/map.h"

#include <calque/annotate.h>

/* The parts of an observer; any may be NULL. Failures are the context's. */
typedef struct cq_observer {
    /* A module is called, and returns, with the tensors among its arguments and results. A result
     * that is not NULL replaces the first of these. */
    cq_tensor *(*entered)(void *self, cq_ctx *cx, cq_scope *scope, cq_tensor *const *in, size_t n);
    cq_tensor *(*left)(void *self, cq_ctx *cx, cq_scope *scope, cq_tensor *const *out, size_t n);

    /* A scope in model code: cq_annotate_begin or cq_scoped_anchor_begin. */
    void (*begin)(void *self, cq_ctx *cx, cq_mark_kind kind, uint32_t flags,
                  const cq_sym_attr *attrs, size_t n);
    void (*end)(void *self, cq_ctx *cx, cq_mark_kind kind);

    /* An Identity at x; without a name it is removed if it is unused. */
    cq_tensor *(*anchor)(void *self, cq_ctx *cx, cq_tensor *x, const char *name,
                         const cq_sym_attr *attrs, size_t n);
    void (*output)(void *self, cq_ctx *cx, const char *name, cq_tensor *x);
} cq_observer;

/* Marks by path, and which of them were met. */
typedef struct cq_marking {
    CQ_VEC(cq_module_mark) marks;
    CQ_VEC(size_t) hits;  /* by mark */
    CQ_VEC(char *) paths; /* of all modules that were called, once each */
    cq_map                known_paths;
    const cq_module_mark *too_far;  /* requests an output after the last; NULL: none does */
    size_t                returned; /* outputs of that module */
} cq_marking;

cq_status cq_marking_init(cq_marking *m, const cq_module_mark *marks, size_t n);
void      cq_marking_clear(cq_marking *m);

/* Fails if a mark requests an output that does not exist, or its path was never met: then it
 * suggests similar paths. */
cq_status cq_marking_check(const cq_marking *m);

/* An Identity at x that no pass removes while it is used; returns its output. */
cq_tensor *cq_identity(cq_ctx *cx, cq_tensor *x);

/* Pushes and pops a scope. Both return the tensor to use in place of the first one, or NULL. */
cq_tensor *cq_scope_enter(cq_ctx *cx, cq_scope *scope, cq_tensor *const *in, size_t n);
cq_tensor *cq_scope_leave(cq_ctx *cx, cq_scope *scope, cq_tensor *const *out, size_t n);

/* Named outputs of a run that computes. */
typedef struct cq_named_output {
    char      *name;
    cq_tensor *tensor;
} cq_named_output;

typedef struct cq_named_outputs {
    CQ_VEC(cq_named_output) items;
} cq_named_outputs;

void cq_named_outputs_listen(cq_named_outputs *o, cq_ctx *cx);

/* Moves them after the first n of tensors, up to max; returns how many there are. */
size_t cq_named_outputs_take(cq_named_outputs *o, cq_tensor **tensors, size_t n, size_t max);
void   cq_named_outputs_clear(cq_named_outputs *o);

#endif
