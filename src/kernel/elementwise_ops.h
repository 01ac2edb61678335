/* The interface between the engine (elementwise.c) and the operations (elementwise_*.c). */
#ifndef CQ_KERNEL_ELEMENTWISE_OPS_H
#define CQ_KERNEL_ELEMENTWISE_OPS_H

#include "kernel/elementwise.h"

/* n elements. Arguments are dense arrays of the arithmetic type; so is out, unless the
 * operation answers yes or no: then it is an array of uint8_t, 0 or 1. out may be one of
 * the arguments. */
typedef void cq_ew_fn(void *out, const void *const *in, int64_t n, const cq_params *p);

typedef struct cq_ew_row {
    cq_ew_fn *fn;    /* NULL: not available for the arithmetic type */
    bool      truth; /* out is uint8_t */
} cq_ew_row;

/* The table for float depends on the instruction set (kernel/isa.h). */
extern const cq_ew_row cq_ew_f64[CQ_EW_COUNT], cq_ew_i64[CQ_EW_COUNT], cq_ew_u64[CQ_EW_COUNT];

/* out and an argument are either the same array or apart, so elements are independent. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF                     /* so that all instruction sets agree */
#pragma clang diagnostic ignored "-Wpass-failed" /* loops over libm stay loops */
#define CQ_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define CQ_INDEPENDENT _Pragma("GCC ivdep")
#else
#define CQ_INDEPENDENT
#endif

/* Definitions of operations, one line each, are read twice: first as functions, then as
 * rows of a table. F(id) makes a name that belongs to the arithmetic type T; x, y and z are
 * the operands, p the params. YES operations answer 0 or 1. */
#define CQ_EW_LOOP(id, R, operands, expression)                                                    \
    static void F(id)(void *out, const void *const *in, int64_t n, const cq_params *params)        \
    {                                                                                              \
        const cq_params p = *params;                                                               \
        R *const        r = out;                                                                   \
                                                                                                   \
        (void)p;                                                                                   \
        CQ_INDEPENDENT                                                                             \
        for (int64_t i = 0; i < n; i++) {                                                          \
            operands;                                                                              \
            r[i] = (R)(expression);                                                                \
        }                                                                                          \
    }
#define CQ_EW_X                                                                                    \
    const T x = ((const T *)in[0])[i];                                                             \
    (void)x
#define CQ_EW_Y                                                                                    \
    const T y = ((const T *)in[1])[i];                                                             \
    (void)y
#define CQ_EW_Z                                                                                    \
    const T z = ((const T *)in[2])[i];                                                             \
    (void)z

#define CQ_EW_ROW(id, yes) [CQ_EW_##id] = { F(id), yes },

#endif
