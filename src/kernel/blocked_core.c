/* The inner loops for any CPU, and which of the two a CPU gets. */
#include "kernel/blocked_core.h"

#include "kernel/cpu.h"

#include <string.h>

typedef float   V8 __attribute__((vector_size(32)));
typedef float   V8U __attribute__((vector_size(32), aligned(4), may_alias));
typedef int32_t I8 __attribute__((vector_size(32)));

static bool has_nan(const float *x)
{
    bool any = false;

    for (int i = 0; i < 8; i++)
        any |= x[i] != x[i];
    return any;
}

#define SPREAD(x)          ((V8){ x, x, x, x, x, x, x, x })
#define FMA(a, b, c)       ((a) * (b) + (c))
#define CHOOSE(m, a, b)    ((V8)(((m) & (I8)(a)) | (~(m) & (I8)(b))))
#define AT_LEAST(l, x)     CHOOSE((l) > (x), l, x)
#define AT_MOST(h, x)      CHOOSE((h) < (x), h, x)
#define LARGER(a, b)       CHOOSE(((a) > (b)) | ((a) != (a)), a, b) /* NaN wins */
#define HAS_NAN(x)         has_nan((const float *)&(x))
#define ADD_EXPONENT(p, t) ((V8)((I8)(p) + ((I8)(t) << 23)))
#define PREFETCH(p)        ((void)(p))
#define CORE               cq_core_portable
#include "kernel/blocked_core.inc"

const cq_core *cq_core_get(void)
{
#if defined(__x86_64__)
    if (cq_cpu_has_avx2())
        return &cq_core_avx2;
#endif
    return &cq_core_portable;
}

void cq_core_activate(const cq_core *core, float *x, int64_t n, cq_ew_op act,
                      const cq_params *params)
{
    if (act == CQ_EW_SIGMOID || act == CQ_EW_SILU)
        core->sigmoid(x, n, act == CQ_EW_SILU);
    else
        cq_apply1_f32(x, n, act, params);
}
