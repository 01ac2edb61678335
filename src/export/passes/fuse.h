/* Patterns of nodes and their replacements (lib/onnx/rewrites.py): onnx/compose/pattern.c matches
 * the patterns, symbolic/host.c runs the replacements, replacement.c has functions for them. */
#ifndef CQ_EXPORT_PASSES_FUSE_H
#define CQ_EXPORT_PASSES_FUSE_H

#include "export/exporter.h"
#include "export/symbolic/host.h"
#include "onnx/compose/pattern.h"

/* A match, and the node whose result is replaced. */
typedef struct cq_fuse_match {
    cq_pattern_match names;
    cq_node         *root;
} cq_fuse_match;

typedef struct cq_fuser cq_fuser;

struct cq_fuser {
    cq_exporter         *ex;
    int                  stage;
    bool                 changed;
    const cq_pattern    *patterns;
    size_t               n_patterns;
    const cq_fuse_match *match; /* the match whose replacement is evaluated */
    cq_ptr_map           known; /* values that replacements remember */
};

/* The value of a name of the pattern; NULL: unbound. */
cq_value *cq_fuse_bound(const cq_fuse_match *m, const char *name);

/* The current input of a node; NULL: it is omitted. */
cq_value *cq_fuse_input(const cq_node *n, size_t i);

void cq_fuse_replace(cq_fuser *f, cq_value *old, cq_value *by);

#endif
