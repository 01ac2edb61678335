/* Patterns of nodes that become one (lib/onnx/rewrites.py, matched by fuse.c), and what they become
 * (fuse_layers.c, fuse_norms.c). */
#ifndef CQ_EXPORT_PASSES_FUSE_H
#define CQ_EXPORT_PASSES_FUSE_H

#include "export/exporter.h"
#include "lang/library.h"

enum { CQ_FUSE_MAX_BOUND = 24 };

/* The values of the names of a pattern. */
typedef struct cq_fuse_match {
    const cq_ast_def *pattern;
    cq_node          *root; /* the outermost node */
    struct {
        const char *name;
        cq_value   *value;
    } bound[CQ_FUSE_MAX_BOUND];
    size_t n;
} cq_fuse_match;

typedef struct cq_fuser cq_fuser;

/* The users of a pattern. */
typedef enum cq_fusion_use {
    CQ_FUSE_ALWAYS,
    CQ_FUSE_OPTIMIZER,  /* not the exporter, which keeps what a model writes out */
    CQ_FUSE_ONNXRUNTIME /* the optimizer, for ONNX Runtime */
} cq_fusion_use;

typedef struct cq_fusion {
    int              stage;
    int              since; /* opset */
    cq_lib_function *pattern;
    cq_status (*make)(cq_fuser *f, const cq_fuse_match *m); /* may find that it does not fit */
    cq_fusion_use use;
} cq_fusion;

struct cq_fuser {
    cq_exporter *ex;
    int          stage;
    bool         changed;
    cq_ptr_map   halves; /* a table of angles to its first half */
};

/* The value of a name of the pattern; NULL: unbound. */
cq_value *cq_fuse_bound(const cq_fuse_match *m, const char *name);

/* The current input of a node; NULL: it is omitted. */
cq_value *cq_fuse_input(const cq_node *n, size_t i);

/* A new node before another, with its source location. */
cq_node *cq_fuse_node(cq_fuser *f, cq_node *before, const char *op, cq_value *const *in,
                      size_t n_in, size_t n_out);

/* ---- what is known of values: fuse_layers.c ---- */

bool      cq_fuse_number(const cq_value *v, double *out); /* of a constant with one element */
int       cq_fuse_rank(const cq_value *v);                /* -1: unknown */
int64_t   cq_fuse_attr_int(const cq_node *n, const char *name, int64_t otherwise);
bool      cq_fuse_swaps(const cq_value *v, const int64_t *perm, size_t n); /* by a Transpose */
bool      cq_fuse_used_before(const cq_value *v, const cq_node *end);
cq_status cq_fuse_replace(cq_value *old, cq_value *by);

/* ---- what patterns become: fuse_layers.c, fuse_norms.c ---- */

cq_status cq_fuse_layer_norm(cq_fuser *f, const cq_fuse_match *m);
cq_status cq_fuse_norm_bias(cq_fuser *f, const cq_fuse_match *m);
cq_status cq_fuse_gelu_erf(cq_fuser *f, const cq_fuse_match *m);
cq_status cq_fuse_gelu_tanh(cq_fuser *f, const cq_fuse_match *m);
cq_status cq_fuse_flat_linear(cq_fuser *f, const cq_fuse_match *m);
cq_status cq_fuse_bias_gelu(cq_fuser *f, const cq_fuse_match *m);
cq_status cq_fuse_skip_norm(cq_fuser *f, const cq_fuse_match *m);
cq_status cq_fuse_matmul(cq_fuser *f, const cq_fuse_match *m);
cq_status cq_fuse_heads(cq_fuser *f, const cq_fuse_match *m);
cq_status cq_fuse_rms_norm(cq_fuser *f, const cq_fuse_match *m);
cq_status cq_fuse_rotary(cq_fuser *f, const cq_fuse_match *m);
cq_status cq_fuse_attention(cq_fuser *f, const cq_fuse_match *m);
cq_status cq_fuse_grouped(cq_fuser *f, const cq_fuse_match *m);
cq_status cq_fuse_steps(cq_fuser *f, const cq_fuse_match *m);
cq_status cq_fuse_scaled(cq_fuser *f, const cq_fuse_match *m);
cq_status cq_fuse_bias(cq_fuser *f, const cq_fuse_match *m);
cq_status cq_fuse_past(cq_fuser *f, const cq_fuse_match *m);

#endif
