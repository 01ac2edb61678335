/* Patterns of nodes and their replacements (lib/onnx/rewrites.py): fuse.c matches the patterns,
 * symbolic/host.c runs the replacements, replacement.c has functions for them. */
#ifndef CQ_EXPORT_PASSES_FUSE_H
#define CQ_EXPORT_PASSES_FUSE_H

#include "export/exporter.h"
#include "export/symbolic/host.h"

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
    CQ_FUSE_OPTIMIZER, /* only the optimizer: the exporter keeps layers that the model decomposes */
    CQ_FUSE_ONNXRUNTIME /* the optimizer, for ONNX Runtime */
} cq_fusion_use;

typedef struct cq_fusion {
    int              stage;
    int              since; /* opset */
    cq_lib_function *pattern, *replacement;
    cq_fusion_use    use;
} cq_fusion;

struct cq_fuser {
    cq_exporter         *ex;
    int                  stage;
    bool                 changed;
    const cq_fuse_match *match; /* the match whose replacement is evaluated */
    cq_ptr_map           known; /* values that replacements remember */
};

/* The value of a name of the pattern; NULL: unbound. */
cq_value *cq_fuse_bound(const cq_fuse_match *m, const char *name);

/* The current input of a node; NULL: it is omitted. */
cq_value *cq_fuse_input(const cq_node *n, size_t i);

void cq_fuse_replace(cq_fuser *f, cq_value *old, cq_value *by);

#endif
