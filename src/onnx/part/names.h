/* Collecting the names of a graph, and renaming those that collide (names.c). */
#ifndef CQ_ONNX_PART_NAMES_H
#define CQ_ONNX_PART_NAMES_H

#include "base/map.h"
#include "onnx/model.h"

typedef enum cq_part_kind { CQ_PART_VALUE, CQ_PART_NODE, CQ_PART_SIZE } cq_part_kind;

/* Returns the name that replaces a name of that kind; NULL if memory is exhausted. */
typedef const char *(*cq_part_rename)(void *user, cq_part_kind kind, const char *name);

/* Calls rename for every name of a value, node and dynamic size in a graph and its subgraphs, and
 * stores the result. The text of a size may be an expression. */
cq_status cq_part_each_name(cq_onnx_graph *g, cq_part_rename rename, void *user);

/* The names of a graph by kind. Clear each with cq_map_clear. */
typedef struct cq_part_taken {
    cq_map by_kind[CQ_PART_SIZE + 1];
} cq_part_taken;

cq_status cq_part_take_names(cq_part_taken *taken, cq_onnx_graph *g);
void      cq_part_taken_clear(cq_part_taken *taken);

/* One of name_2, name_3, … that is in neither set, copied to m's arena; NULL if memory is
 * exhausted. */
const char *cq_part_free_name(cq_onnx_model *m, const char *name, const cq_map *a, const cq_map *b);

#endif
