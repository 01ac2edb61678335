/* Pickles: the byte programs in which PyTorch writes values.
 *
 * They are read as data. The reader knows a fixed list of globals (pickle_globals.c), builds
 * values and calls nothing. Any other global is refused by its name, or, with any_class, becomes an
 * opaque object: a class name, arguments and state (pickle_opaque.c). The reader knows the opcodes
 * that PyTorch's own pickler writes, and those of Python's protocols 2 to 5.
 *
 * The result is a finite tree: nothing contains itself, and nesting is limited. */
#ifndef CQ_ARCHIVE_PICKLE_H
#define CQ_ARCHIVE_PICKLE_H

#include "archive/object.h"

/* Values in values; a module in a module takes two. Bounds every walk over the result. */
#define CQ_PICKLE_MAX_DEPTH 400

/* Values are 20 to 100 times larger than their opcodes, so the size of the pickle limits the
 * memory. */
#define CQ_PICKLE_MAX_SIZE (256u << 20)

typedef struct cq_pickle_source {
    const void *data;
    size_t      size;
    const char *where; /* for messages: "net.pt!data.pkl" */

    /* The bytes of the storage with this key, at least size of them; the caller owns *out. */
    cq_status (*storage)(void *user, const char *key, uint64_t size, cq_storage **out);
    void *user;

    bool is_big_endian; /* so are the bytes of storages */
    bool may_lack_data; /* an empty storage makes a tensor without data: traced_inputs.pkl */
    bool any_class;     /* unknown globals become opaque objects (cq_instance), cycles are cut */
} cq_pickle_source;

/* Reads the one value of a pickle; release *out with cq_val_release. */
cq_status cq_unpickle(cq_val *out, const cq_pickle_source *source);

/* Reads the first of several pickles; *used is its size. */
cq_status cq_unpickle_first(cq_val *out, const cq_pickle_source *source, size_t *used);

#endif
