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

    /* What ONNX has to store weights in. Each element takes a byte, also one of four or two
     * bits; files have two or four of those in a byte. */
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

    CQ_DTYPE_C32 = 26, /* two float16; files of ONNX have no such type */
    CQ_DTYPE_COUNT
} cq_dtype;

#define CQ_MAX_RANK 64

typedef struct cq_tensor cq_tensor;
typedef struct cq_expr   cq_expr; /* a symbolic integer, 2*batch+1 */

/* An integer that knows where it came from. Make plain ones with cq_i; in a capture,
 * sizes of dynamic axes carry an expression, and arithmetic on them stays symbolic.
 * To turn one into a plain number use cq_int_value, which says that it is baked in. */
typedef struct cq_int {
    int64_t        value; /* the number, or its value on the example */
    const cq_expr *expr;  /* NULL: just the number */
} cq_int;

CQ_API cq_int cq_i(int64_t value);

CQ_API const char *cq_dtype_name(cq_dtype dtype); /* "float32" */
CQ_API size_t      cq_dtype_size(cq_dtype dtype); /* bytes of an element */
CQ_API cq_dtype
cq_dtype_from_name(const char *name); /* "float32", "f32", "float", …; NONE: unknown */

/* New tensors. Data is copied from data when it is not NULL, else zero. */
CQ_API cq_status cq_tensor_new(cq_tensor **out, cq_dtype dtype, size_t rank, const int64_t *sizes,
                               const void *data);

/* Wraps memory of the caller's. release, if not NULL, is called with user when the last
 * tensor that uses it is gone. */
CQ_API cq_status cq_tensor_wrap(cq_tensor **out, cq_dtype dtype, size_t rank, const int64_t *sizes,
                                void *data, void (*release)(void *user), void *user);

/* The same for memory whose elements lie strides apart, counted in elements; none may be negative.
 */
CQ_API cq_status cq_tensor_wrap_strided(cq_tensor **out, cq_dtype dtype, size_t rank,
                                        const int64_t *sizes, const int64_t *strides, void *data,
                                        void (*release)(void *user), void *user);

CQ_API cq_tensor *cq_tensor_retain(cq_tensor *t); /* returns t; NULL is fine */
CQ_API void       cq_tensor_release(cq_tensor *t);

CQ_API cq_dtype cq_tensor_dtype(const cq_tensor *t);
CQ_API size_t   cq_tensor_rank(const cq_tensor *t);
CQ_API int64_t  cq_tensor_size(const cq_tensor *t, size_t axis);
CQ_API int64_t  cq_tensor_stride(const cq_tensor *t, size_t axis); /* in elements */
CQ_API int64_t  cq_tensor_numel(const cq_tensor *t);
CQ_API bool     cq_tensor_is_contiguous(const cq_tensor *t);
CQ_API bool     cq_tensor_has_data(const cq_tensor *t);

/* Says that the tensor was made up, for sizes that a file from anywhere declares. What a run may
 * take grows with the inputs that it is given, but not with those. */
CQ_API void cq_tensor_set_made_up(cq_tensor *t);

/* Whether its memory is also somebody else's: of whoever else holds a reference, another tensor's,
 * a file's, or a caller's that was wrapped. Who changes it then changes more than this tensor. */
CQ_API bool cq_tensor_is_shared(const cq_tensor *t);

/* The first element; NULL when fake. Elements lie strides apart. */
CQ_API void *cq_tensor_data(const cq_tensor *t);

/* A tensor with the same values in one contiguous piece; t itself, retained, if it is so
 * already. */
CQ_API cq_status cq_tensor_contiguous(cq_tensor **out, const cq_tensor *t);

/* Complex numbers as pairs of real ones: the same memory with one more dimension, of 2. A tensor of
 * others is itself, retained. */
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
