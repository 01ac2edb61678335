/* The inside of a tensor. Public calls are in <calque/tensor.h>. */
#ifndef CQ_TENSOR_TENSOR_H
#define CQ_TENSOR_TENSOR_H

#include "base/file.h"
#include "base/str.h"
#include "tensor/dtype.h"
#include "tensor/expr.h"

#include <stdatomic.h>

/* Computes bytes [from, from + n) of the contents. */
typedef struct cq_maker {
    void (*make)(void *user, void *to, size_t from, size_t n);
    void (*release)(void *user);
    void *user;

    const void
        *copied; /* the bytes that it copies, which are not aligned; NULL: it computes them */
} cq_maker;

/* Bytes that tensors share. release(user) runs when the last one lets go. */
typedef struct cq_storage {
    atomic_int refs;
    void      *data;
    size_t     size;
    bool       mapped;    /* mapped from a file; changes stay in memory */
    bool       is_caller; /* memory of the caller, who may read it too */
    bool       zeros;     /* all zeros, declared by a file without bytes for them */
    void (*release)(void *user);
    void *user;

    /* The maker of the contents, and whether it has not run yet: cq_tensor_bytes runs it. */
    cq_maker    maker;
    atomic_bool is_pending;
} cq_storage;

cq_status cq_storage_new(cq_storage **out, size_t size); /* uninitialised, 64-byte aligned */
cq_status cq_storage_wrap(cq_storage **out, void *data, size_t size, bool mapped,
                          void (*release)(void *user), void *user);
cq_status cq_storage_map(cq_storage **out, cq_mapping *mapping, size_t offset, size_t size);
cq_status cq_storage_open(cq_storage **out, const char *path); /* all of a file, mapped */

/* Elements are read by their size: unaligned bytes are moved. An archive inside of another, or
 * repacked, has its records at any offset. */
cq_status cq_storage_align(cq_storage **s);

/* A part of other bytes, which it retains. Where elements would not be aligned, the part is copied
 * when it is first read. */
cq_status cq_storage_part(cq_storage **out, cq_storage *whole, size_t from, size_t size);
cq_status cq_storage_zeros(cq_storage **out, size_t size); /* take no memory until written to */
/* Made when they are read, and never if they are only written to a file; takes no memory before.
 * The maker is released in any case. */
cq_status cq_storage_later(cq_storage **out, size_t size, cq_maker maker);
/* Replaces the contents of a storage by those of a maker, as above. It must not be read
 * concurrently. */
void        cq_storage_make_later(cq_storage *s, cq_maker maker);
void        cq_storage_make(cq_storage *s);
cq_storage *cq_storage_retain(cq_storage *s);
void        cq_storage_release(cq_storage *s);

typedef struct cq_qparams cq_qparams; /* tensor/qparams.h */

/* Data that a listener attached to a tensor. Nothing here reads it. The tensor may outlive the
 * listener, so only the owner may dereference it. */
typedef struct cq_tag {
    const void *owner; /* NULL: no owner; never an address that another owner could get */
    void       *what;
} cq_tag;

struct cq_tensor {
    atomic_int  refs;
    cq_dtype    dtype;
    uint32_t    rank;
    uint32_t    room;    /* for dimensions: unsqueeze_ makes one more of a tensor that is there */
    cq_storage *storage; /* NULL: fake */
    int64_t     offset;  /* of the first element, in elements */
    bool        requires_grad;
    bool        is_parameter; /* an nn.Parameter of Python source */
    bool        is_made_up;   /* for sizes that a file declares: it does not count for the limits
                               * of a run */

    cq_tag tag;

    /* The first elements of a fake integer tensor whose contents are known as symbols (shape
     * arithmetic), at least one; NULL: unknown. Data may have changed since. */
    cq_int *known;

    cq_qparams *qparams; /* of a quantized tensor, else NULL */

    int64_t *strides; /* in elements; for a fake tensor, values on the example */
    cq_int  *sizes;   /* after the struct, like strides */
};

/* A tensor without storage and with contiguous strides. */
cq_status cq_tensor_new_fake(cq_tensor **out, cq_dtype dtype, size_t rank, const cq_int *sizes);

/* A tensor with fresh, uninitialised storage. Sizes' example values count. */
cq_status cq_tensor_new_uninit(cq_tensor **out, cq_dtype dtype, size_t rank, const int64_t *sizes);

/* Other sizes, strides and offset on the storage of t (or on none, if t is fake). Checks
 * that all elements lie inside the storage. */
cq_status cq_tensor_new_view(cq_tensor **out, const cq_tensor *t, cq_dtype dtype, size_t rank,
                             const cq_int *sizes, const int64_t *strides, int64_t offset);

/* A view of a part of storage; checks bounds. */
cq_status cq_tensor_new_on(cq_tensor **out, cq_storage *storage, cq_dtype dtype, size_t rank,
                           const int64_t *sizes, const int64_t *strides, int64_t offset);

/* Strides of a contiguous tensor of these sizes. */
void cq_contiguous_strides(int64_t *strides, size_t rank, const cq_int *sizes);

/* Copies elements, converting dtypes; shapes must be equal. Both have data. */
cq_status cq_tensor_copy_into(cq_tensor *dst, const cq_tensor *src);

/* A contiguous copy with its own storage, in another dtype if not NONE. */
cq_status cq_tensor_clone(cq_tensor **out, const cq_tensor *t, cq_dtype dtype);

cq_int cq_tensor_numel_int(cq_symbols *table, const cq_tensor *t);
bool   cq_tensor_is_fake(const cq_tensor *t);

/* The first n elements of t are these, which it copies. */
cq_status cq_tensor_set_known(cq_tensor *t, const cq_int *elements, size_t n);

/* The handle t shows from now on what like shows: memory, dtype, sizes, tag. Fails if t has no room
 * for like's dimensions. */
cq_status cq_tensor_become(cq_tensor *t, const cq_tensor *like);

/* "float32[2, 3]" into buffer, for messages; returns buffer. */
const char *cq_tensor_describe(const cq_tensor *t, char *buffer, size_t size);

/* Appends a key to a string: handles with the same view of the same memory have equal keys. */
void cq_tensor_identity(cq_str *key, const cq_tensor *t);
#define CQ_DESCRIBE_SIZE 256

/* The size of its elements if the caller provided them: limits grow with that. */
static inline double cq_tensor_given_bytes(const cq_tensor *t)
{
    return t->is_made_up ? 0 : (double)cq_tensor_numel(t) * (double)cq_dtype_size(t->dtype);
}

static inline char *cq_tensor_bytes(const cq_tensor *t)
{
    if (atomic_load_explicit(&t->storage->is_pending, memory_order_acquire))
        cq_storage_make(t->storage);
    return (char *)t->storage->data + t->offset * (int64_t)cq_dtype_size(t->dtype);
}

#endif
