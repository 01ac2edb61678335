/* Interface inside the unpickler: pickle.c has the machine, pickle_globals.c the known values,
 * pickle_opaque.c those of unknown classes, and pickle_check.c inspects the result. */
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
    cq_ptr_map seen;           /* containers of the result, once it was checked */
    cq_map     storages;       /* key to cq_stored, borrowed from the containers */
    bool       has_subclasses; /* of tensors: classes that only Python knows are named, not run */
};

/* A global as a value on the stack: a row of the table, or a class that is only named (row NULL):
 * one of the archive, or, with any_class, any. */
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
    uint64_t    from;  /* of a part of another storage: its first element in bytes */
} cq_stored;

/* How far pickle_check.c is with a container in `seen`: inside of it, or done (plus its levels). */
enum { CQ_SEEN_OPEN = 1, CQ_SEEN_DONE = 2 };

cq_status cq_unpickler_fail(const cq_unpickler *u, cq_status status, const char *hint,
                            const char *format, ...) __attribute__((format(printf, 4, 5)));
cq_status cq_unpickler_keep(cq_unpickler *u, cq_val container); /* retains it for the clean-up */

/* Rejects a value that contains itself, is too deep, or is not a value; with any_class, opaque
 * objects replace what is not a value. */
cq_status cq_unpickler_check(cq_unpickler *u, cq_val *v);
void      cq_unpickler_clear(cq_unpickler *u, bool failed);

cq_status  cq_global_find(cq_unpickler *u, const char *module, const char *name, cq_val *out);
cq_global *cq_global_of(cq_val v);
cq_stored *cq_stored_of(cq_val v);
cq_status  cq_stored_load(cq_unpickler *u, cq_val id, cq_val *out); /* a persistent id */
cq_status  cq_global_call(cq_unpickler *u, const cq_global *g, cq_val args, cq_val *out);

/* ---- opaque objects ---- */

/* Whether a global is a class that only Python knows. */
bool cq_global_is_opaque(const cq_global *g);

/* All of these return a new object in *out, which the list of containers keeps as well. */
cq_status cq_opaque_new(cq_unpickler *u, const char *class_name, cq_instance_kind kind, cq_val args,
                        cq_val *out);
cq_status cq_opaque_bytes(cq_unpickler *u, const char *class_name, const void *bytes, size_t n,
                          cq_val *out);

/* Adds values to an object that behaves as a list or set, keys and values to one that behaves as a
 * dict; n is the number of values. */
cq_status cq_opaque_append(cq_unpickler *u, cq_instance *o, const cq_val *values, size_t n);
cq_status cq_opaque_set_items(cq_unpickler *u, cq_instance *o, const cq_val *values, size_t n);

/* The object that represents a global, a storage or a cycle inside of the result. */
cq_status cq_opaque_replace(cq_unpickler *u, cq_val *slot);

#endif
