/* Element-wise arithmetic in float; the operations are in elementwise_real.def. All instruction
 * sets give the same numbers: a product is rounded before a sum. */
#define ROUND_TWICE
#include "kernel/isa.h"
#include "kernel/wide/vmath.h"

#include <string.h>

extern const cq_ew_row CQ_OF_ISA(ew)[CQ_EW_COUNT];

#define ALL(number) SPREAD(number)

INLINE V gelu_tanh_of(V x)
{
    const V inner = ALL(0.79788456080286535588f) * (x + ALL(0.044715f) * x * x * x);

    return ALL(0.5f) * x * (ALL(1) + tanh_of(inner));
}

/* See H(mish) of elementwise_real.inc. */
INLINE V mish_of(V x)
{
    const V e = exp_of(AT_MOST(ALL(20), x)), n = e * (e + ALL(2));

    return x * (n / (n + ALL(2)));
}

/* The last few elements go through a whole vector, so that an element is the same wherever it is.
 */
#define FAST_LOOP(id, expression)                                                                  \
    static void F(id)(void *out, const void *const *in, int64_t n, const cq_params *params)        \
    {                                                                                              \
        const cq_params p           = *params;                                                     \
        const float    *from        = in[0];                                                       \
        float          *to          = out;                                                         \
        float           rest[LANES] = { 0 };                                                       \
        int64_t         i           = 0;                                                           \
                                                                                                   \
        (void)p;                                                                                   \
        for (; i + LANES <= n; i += LANES) {                                                       \
            const V x = LOAD(from + i);                                                            \
                                                                                                   \
            STORE(to + i, expression);                                                             \
        }                                                                                          \
        if (i < n) {                                                                               \
            memcpy(rest, from + i, sizeof *rest * (size_t)(n - i));                                \
            const V x = LOAD(rest);                                                                \
                                                                                                   \
            STORE(rest, expression);                                                               \
            memcpy(to + i, rest, sizeof *rest * (size_t)(n - i));                                  \
        }                                                                                          \
    }

#define T       float
#define M(name) name##f
#define H(f)    f##_f32
#define F(id)   id##_f32
#define TABLE   CQ_OF_ISA(ew)
#include "kernel/elementwise_real.inc"
