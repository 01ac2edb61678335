/* The inside of the unpickler: pickle.c has the machine, pickle_globals.c what it may build, and
 * pickle_check.c a look at the result. */
#ifndef CQ_ARCHIVE_UNPICKLER_H
#define CQ_ARCHIVE_UNPICKLER_H

#include "archive/pickle.h"

#include "base/map.h"
#include "base/vec.h"

typedef struct cq_unpickler cq_unpickler;
typedef struct cq_global    cq_global;

struct cq_unpickler {
    const cq_pickle_source *source;
    const unsigned char    *data;
    size_t                  at, size;
    CQ_VEC(cq_val) stack; /* owned, like all below */
    CQ_VEC(size_t) marks;
    CQ_VEC(cq_val) memo;
    CQ_VEC(cq_val) containers; /* every list, tuple, dict and box that was made */
    cq_ptr_map seen;           /* those that the result holds, once it was checked */
    cq_map     storages;       /* key to cq_stored, borrowed from the containers */
    bool       has_subclasses; /* of tensors: classes that only Python knows are named, not run */
};

/* A global as a value on the stack: a row of the table, or a class of the archive (row NULL). */
typedef cq_status (*cq_global_reduce)(cq_unpickler *u, const cq_val *args, size_t n, cq_val *out);

typedef struct cq_global_row {
    const char      *name;   /* "collections OrderedDict" */
    cq_global_reduce reduce; /* NULL: it is only named, inside of something else */
    const char      *kinds;  /* of the arguments that reduce takes */
    int              number; /* torch's dtype of a storage */
} cq_global_row;

struct cq_global {
    cq_box               box;
    const cq_global_row *row;
    char                 name[]; /* "__torch__.Net" */
};

/* A storage as a value on the stack. */
typedef struct cq_stored {
    cq_box      box;
    cq_storage *bytes; /* NULL: there is no data */
    int         torch_dtype;
    uint64_t    numel; /* of torch_dtype; bytes if that is -1 (an untyped storage) */
} cq_stored;

cq_status cq_unpickler_fail(const cq_unpickler *u, cq_status status, const char *hint,
                            const char *format, ...) __attribute__((format(printf, 4, 5)));
cq_status cq_unpickler_keep(cq_unpickler *u, cq_val container); /* retains it for the clean-up */

/* Refuses what contains itself, is too deep, or is not a value. */
cq_status cq_unpickler_check(cq_unpickler *u, cq_val v);
void      cq_unpickler_clear(cq_unpickler *u, bool failed);

cq_status  cq_global_find(cq_unpickler *u, const char *module, const char *name, cq_val *out);
cq_global *cq_global_of(cq_val v);
cq_stored *cq_stored_of(cq_val v);
cq_status  cq_stored_load(cq_unpickler *u, cq_val id, cq_val *out); /* a persistent id */
cq_status  cq_global_call(cq_unpickler *u, const cq_global *g, cq_val args, cq_val *out);

#endif
