/* How the arguments and the results of a program nest (structure.c). */
#ifndef CQ_PT2_STRUCTURE_H
#define CQ_PT2_STRUCTURE_H

#include "pt2/program.h"

struct cq_str;

typedef struct cq_pt2_tree cq_pt2_tree;
struct cq_pt2_tree {
    bool               is_leaf; /* a tensor, a number, None */
    size_t             n;
    const cq_pt2_tree *items;
    const char *const *keys; /* of a dict or an object; NULL: of a list or tuple. One may be NULL */
};

/* The structure of forward's result; a leaf if the program does not record it. */
cq_status cq_pt2_result_tree(const cq_pt2_program *p, cq_pt2_tree *out);

/* The structure of forward's arguments, by their names; a leaf if the program does not record
 * it. */
cq_status cq_pt2_argument_tree(const cq_pt2_program *p, cq_pt2_tree *out);

/* The tree as JSON, with a name for each leaf in its order; NULL is null. */
void cq_pt2_tree_json(struct cq_str *s, const cq_pt2_tree *t, const char *const *names, size_t n);

#endif
