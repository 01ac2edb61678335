/* Tensors: typed n-dimensional data with strides.
 *
 * A tensor is a refcounted handle. Views share storage, which may be a mapped file.
 * A tensor without data is called fake: it has a dtype and a shape, and its sizes may
 * be symbolic (see cq_int). Operators on tensors are in <calque/nn.h>. */
#ifndef CALQUE_TENSOR_H
#define CALQUE_TENSOR_H

#include <calque/status.h>

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Values are pinned. They are calque's own; see cq_dtype_from_* for others. */
typedef enum cq_dtype {
    CQ_DTYPE_NONE = 0,
    CQ_DTYPE_BOOL = 1,
    CQ_DTYPE_U8   = 2,
    CQ_DTYPE_I8   = 3,
    CQ_DTYPE_I16  = 4,
    CQ_DTYPE_I32  = 5,
    CQ_DTYPE_I64  = 6,
    CQ_DTYPE_F16  = 7,
    CQ_DTYPE_BF16 = 8,
    CQ_DTYPE_F32  = 9,
    CQ_DTYPE_F64  = 10,
    CQ_DTYPE_C64  = 11, /* two float32 */
    CQ_DTYPE_C128 = 12, /* two float64 */
    CQ_DTYPE_U16  = 13,
    CQ_DTYPE_U32  = 14,
    CQ_DTYPE_U64  = 15,

    /* Storage types of ONNX. In memory each element takes a byte, even if it has four or two bits;
     * files pack two or four of them into a byte. */
    CQ_DTYPE_F8E4M3FN   = 16,
    CQ_DTYPE_F8E4M3FNUZ = 17,
    CQ_DTYPE_F8E5M2     = 18,
    CQ_DTYPE_F8E5M2FNUZ = 19,
    CQ_DTYPE_U4         = 20,
    CQ_DTYPE_I4         = 21,
    CQ_DTYPE_F4E2M1     = 22,
    CQ_DTYPE_F8E8M0     = 23, /* powers of two, for scales */
    CQ_DTYPE_U2         = 24,
    CQ_DTYPE_I2         = 25,

    CQ_DTYPE_C32 = 26, /* two float16; not an ONNX type */
    CQ_DTYPE_COUNT
} cq_dtype;

#define CQ_MAX_RANK 64

typedef struct cq_tensor cq_tensor;
typedef struct cq_expr   cq_expr; /* a symbolic integer, 2*batch+1 */

/* An integer, possibly symbolic. cq_i makes plain ones; in a capture, sizes of dynamic axes carry
 * an expression, and arithmetic on them stays symbolic. cq_int_value converts one to a plain
 * number and records that the number is fixed to the example. */
typedef struct cq_int {
    int64_t        value; /* the number, or its value on the example */
    const cq_expr *expr;  /* NULL: just the number */
} cq_int;

CQ_API cq_int cq_i(int64_t value);

CQ_API const char *cq_dtype_name(cq_dtype dtype); /* "float32" */
CQ_API size_t      cq_dtype_size(cq_dtype dtype); /* bytes of an element */
CQ_API cq_dtype
cq_dtype_from_name(const char *name); /* "float32", "f32", "float", …; NONE: unknown */

/* A new tensor with a copy of data, or zeros if data is NULL. */
CQ_API cq_status cq_tensor_new(cq_tensor **out, cq_dtype dtype, size_t rank, const int64_t *sizes,
                               const void *data);

/* Wraps the caller's memory. release, if not NULL, is called with user when the last tensor that
 * uses the memory is released. */
CQ_API cq_status cq_tensor_wrap(cq_tensor **out, cq_dtype dtype, size_t rank, const int64_t *sizes,
                                void *data, void (*release)(void *user), void *user);

/* A tensor whose elements are computed when they are first read: make writes bytes [from, from +
 * n), whole elements, to `to`. Calls of make are serialised. release, if not NULL, is called with
 * user when make is no longer needed, also on failure. */
CQ_API cq_status cq_tensor_new_lazy(cq_tensor **out, cq_dtype dtype, size_t rank,
                                    const int64_t *sizes,
                                    void (*make)(void *user, void *to, size_t from, size_t n),
                                    void (*release)(void *user), void *user);

/* The same as cq_tensor_wrap with strides, counted in elements, none negative. */
CQ_API cq_status cq_tensor_wrap_strided(cq_tensor **out, cq_dtype dtype, size_t rank,
                                        const int64_t *sizes, const int64_t *strides, void *data,
                                        void (*release)(void *user), void *user);

CQ_API cq_tensor *cq_tensor_retain(cq_tensor *t); /* returns t; t may be NULL */
CQ_API void       cq_tensor_release(cq_tensor *t);

CQ_API cq_dtype cq_tensor_dtype(const cq_tensor *t);
CQ_API size_t   cq_tensor_rank(const cq_tensor *t);
CQ_API int64_t  cq_tensor_size(const cq_tensor *t, size_t axis);
CQ_API int64_t  cq_tensor_stride(const cq_tensor *t, size_t axis); /* in elements */
CQ_API int64_t  cq_tensor_numel(const cq_tensor *t);
CQ_API bool     cq_tensor_is_contiguous(const cq_tensor *t);
CQ_API bool     cq_tensor_has_data(const cq_tensor *t);

/* Marks a tensor as generated from sizes that an untrusted file declares. The limits of a run grow
 * with the size of given inputs, but not with generated ones. */
CQ_API void cq_tensor_set_made_up(cq_tensor *t);

/* Whether writing to the tensor would be visible elsewhere: another reference or tensor shares the
 * memory, it is mapped from a file, or it wraps memory of the caller. */
CQ_API bool cq_tensor_is_shared(const cq_tensor *t);

/* The first element; NULL for a fake tensor. Strides separate the elements. */
CQ_API void *cq_tensor_data(const cq_tensor *t);

/* A contiguous tensor with the same values; t itself, retained, if it is contiguous already. */
CQ_API cq_status cq_tensor_contiguous(cq_tensor **out, const cq_tensor *t);

/* A view of a complex tensor as real numbers with one more dimension, of size 2. Any other tensor
 * is returned itself, retained. */
CQ_API cq_status cq_tensor_pairs(cq_tensor **out, cq_tensor *t);

/* One element as a number; index is the position in row-major order. */
CQ_API double  cq_tensor_get_f64(const cq_tensor *t, int64_t index);
CQ_API int64_t cq_tensor_get_i64(const cq_tensor *t, int64_t index);

/* numpy's .npy and ONNX's TensorProto .pb files. */
CQ_API cq_status cq_tensor_load_npy(cq_tensor **out, const char *path);
CQ_API cq_status cq_tensor_save_npy(const cq_tensor *t, const char *path);
CQ_API cq_status cq_tensor_load_pb(cq_tensor **out, const char *path);
CQ_API cq_status cq_tensor_save_pb(const cq_tensor *t, const char *path, const char *name);

#ifdef __cplusplus
}
#endif

#endif
