/* Asked once, at the first call. */
#include "kernel/cpu.h"

#include <stdatomic.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

static atomic_bool avx2_off;

static bool detect(void)
{
#if defined(__x86_64__)
    unsigned a, b, c, d; /* not every compiler's cpu_supports knows f16c */

    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
#else
    return false;
#endif
}

bool cq_cpu_has_avx2(void)
{
    static atomic_int known; /* 0: not asked yet, 1: no, 2: yes */
    int               k = atomic_load_explicit(&known, memory_order_relaxed);

    if (k == 0) {
        k = detect() ? 2 : 1;
        atomic_store_explicit(&known, k, memory_order_relaxed);
    }
    return k == 2 && !atomic_load_explicit(&avx2_off, memory_order_relaxed);
}

void cq_cpu_use_avx2(bool on)
{
    atomic_store(&avx2_off, !on);
}
