/* How the tables of <calque/info.h> are made: cell by cell, into the table that was begun last. The
 * first failure stays in the info, and later calls fall through. */
#ifndef CQ_INFO_INFO_H
#define CQ_INFO_INFO_H

#include "base/str.h"
#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "tensor/tensor.h"

#include <calque/info.h>

typedef struct cq_info_cell {
    cq_info_kind kind;
    const char  *text;
    int64_t      number;
} cq_info_cell;

typedef struct cq_info_table {
    const char        *name;
    const char *const *columns; /* static */
    size_t             n_columns;
    CQ_VEC(cq_info_cell) cells;
} cq_info_table;

struct cq_info {
    cq_arena *arena;
    cq_status status;
    CQ_VEC(cq_info_table) tables;
};

cq_status cq_info_new(cq_info **out); /* with the table of facts */

/* Ends the making: *out is freed and NULL if anything failed. */
cq_status cq_info_done(cq_info **out);

/* columns is static and ends with NULL. */
void cq_info_begin(cq_info *info, const char *name, const char *const *columns);
void cq_info_add_text(cq_info *info, const char *text);  /* a copy; NULL is "" */
void cq_info_add_str(cq_info *info, const cq_str *text); /* the same; it fails if text has */
void cq_info_add_number(cq_info *info, cq_info_kind kind, int64_t number);

/* Rows of the first table, at any time. */
void cq_info_fact(cq_info *info, const char *name, const char *text);
void cq_info_fact_str(cq_info *info, const char *name, const cq_str *text);
void cq_info_fact_number(cq_info *info, const char *name, cq_info_kind kind, int64_t number);

/* A table of tensors: name, dtype, shape, elements, bytes. */
extern const char *const cq_info_tensor_columns[];
void                     cq_info_add_tensor(cq_info *info, const char *name, const cq_tensor *t);

/* "1x3x224x224"; "scalar" of one without dimensions. */
const char *cq_info_shape(cq_info *info, const cq_tensor *t);

/* ---- counting what has a name ---- */

typedef struct cq_info_count {
    const char *name; /* borrowed */
    int64_t     n;
    size_t      first; /* where it came first */
} cq_info_count;

typedef struct cq_info_counts {
    CQ_VEC(cq_info_count) items;
    cq_map by_name; /* index + 1 */
} cq_info_counts;

cq_status cq_info_count_name(cq_info_counts *counts, const char *name);

/* As a table, the most frequent first; clears them. */
void cq_info_add_counts(cq_info *info, const char *table, cq_info_counts *counts);

/* The same for classes; `needed` has those whose source is needed. */
void cq_info_add_class_counts(cq_info *info, cq_info_counts *counts, const cq_map *needed);

/* ---- weights and modules ---- */

/* The size of weights. A storage that several of them share counts once. */
typedef struct cq_info_weights {
    int64_t    n_parameters, n_others, bytes;
    uint32_t   dtypes; /* a bit each */
    cq_ptr_map paths;  /* storage -> the path of the first tensor in it, in the arena */
} cq_info_weights;

typedef struct cq_info_module cq_info_module;

/* A module in a table of them, inside of another (NULL: the root), until it is ended. */
struct cq_info_module {
    cq_info_module *parent;
    const char     *path;
    size_t          row; /* its first cell */
    int64_t         n_parameters, bytes;
    uint32_t        dtypes;
    const char     *shared; /* the first tensor that is in another file; NULL if there is none */
};

extern const char *const cq_info_module_columns[];
void cq_info_module_begin(cq_info *info, cq_info_module *module, cq_info_module *parent,
                          const char *name, const char *class_name);
void cq_info_module_tensor(cq_info *info, cq_info_weights *all, cq_info_module *module,
                           const char *name, const cq_tensor *t, bool is_parameter);
void cq_info_module_end(cq_info *info, cq_info_module *module);
void cq_info_module_drop(cq_info *info, const cq_info_module *module); /* instead: it has no row */

/* The facts that weights give, and clears them. */
void cq_info_add_weights(cq_info *info, cq_info_weights *all);

#endif
