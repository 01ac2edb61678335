/* Runs of elements to and from the three types that arithmetic is done in.
 *
 * Every real dtype is loaded as, and stored from, float, double or int64_t. That makes two
 * conversions per dtype and arithmetic type instead of one per pair of dtypes.
 *
 * Conversions are defined for every value. Real numbers become integers by dropping the
 * fraction; what does not fit in int64 (NaN too) becomes INT64_MIN, and in int32 likewise
 * INT32_MIN, as x86 does it; narrower integers keep the low bits. Anything that is not
 * zero, NaN too, is true. uint64 keeps its bits in int64. Complex dtypes are not known
 * here: their parts are floats. */
#ifndef CQ_TENSOR_CONVERT_H
#define CQ_TENSOR_CONVERT_H

#include "tensor/dtype.h"
#include "tensor/tensor.h"

typedef enum cq_wide { CQ_WIDE_F32, CQ_WIDE_F64, CQ_WIDE_I64, CQ_WIDE_COUNT } cq_wide;

/* The type that holds all values of a real dtype. */
cq_wide cq_wide_of(cq_dtype d);
/* The dtype of a wide type. */
cq_dtype cq_wide_dtype(cq_wide w);

/* n elements that lie step bytes apart, to or from an array of the wide type. */
typedef void cq_load_fn(void *wide, const char *from, int64_t step, int64_t n);
typedef void cq_store_fn(char *to, int64_t step, const void *wide, int64_t n);

cq_load_fn  *cq_load_of(cq_dtype d, cq_wide w); /* NULL for complex dtypes */
cq_store_fn *cq_store_of(cq_dtype d, cq_wide w);

/* From one real dtype to another; the same rules. */
void cq_convert_run(char *to, cq_dtype to_dtype, int64_t to_step, const char *from,
                    cq_dtype from_dtype, int64_t from_step, int64_t n);

/* Elements from..from + n of a tensor with data, in the order of its indices; of complex ones the
 * real part. */
void cq_tensor_get_f64_run(double *out, const cq_tensor *t, int64_t from, int64_t n);

/* n elements of size bytes, whatever they are. */
void cq_move_run(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t size,
                 int64_t n);

/* Single numbers. */
int64_t cq_f64_to_i64(double x);

/* f32 or f64 of a complex dtype, d itself otherwise. */
cq_dtype cq_dtype_part(cq_dtype d);

#endif
