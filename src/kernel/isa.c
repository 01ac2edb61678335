/* The instruction set in use, detected at the first call. */
#include "kernel/isa.h"

#include "base/processor.h"

#include <calque/version.h>

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

extern const cq_isa cq_base_isa;

#if defined(__x86_64__)
extern const cq_isa cq_avx2_isa, cq_avx512_isa, cq_vnni_isa;

static bool has_avx2(void)
{
    unsigned a, b, c, d; /* not every compiler's cpu_supports knows f16c */

    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}

static bool has_avx512(void)
{
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
}

static bool has_vnni(void)
{
    return has_avx512() && __builtin_cpu_supports("avx512vnni");
}
#endif

#if defined(__aarch64__)
extern const cq_isa cq_dotprod_isa, cq_i8mm_isa;
#endif

static bool has_base(void)
{
    return true;
}

static const struct {
    const cq_isa *isa;
    bool (*is_there)(void);
} all[] = {
#if defined(__x86_64__)
    { &cq_vnni_isa, has_vnni },
    { &cq_avx512_isa, has_avx512 },
    { &cq_avx2_isa, has_avx2 },
#elif defined(__aarch64__)
    { &cq_i8mm_isa, cq_processor_has_i8mm },
    { &cq_dotprod_isa, cq_processor_has_dotprod },
#endif
    { &cq_base_isa, has_base },
};

const cq_isa *cq_isa_at(size_t n)
{
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].is_there() && n-- == 0)
            return all[i].isa;
    return NULL;
}

static const cq_isa *choose(void)
{
    const char *wanted = getenv("CALQUE_ISA");

    for (size_t i = 0; wanted && cq_isa_at(i); i++)
        if (!strcmp(cq_isa_at(i)->name, wanted))
            return cq_isa_at(i);
    return cq_isa_at(0);
}

static _Atomic(const cq_isa *) in_use;

const cq_isa *cq_isa_get(void)
{
    const cq_isa *isa = atomic_load_explicit(&in_use, memory_order_relaxed);

    if (!isa) {
        isa = choose();
        atomic_store_explicit(&in_use, isa, memory_order_relaxed);
    }
    return isa;
}

const char *cq_instruction_set(void)
{
    return cq_isa_get()->name;
}

void cq_isa_use(const cq_isa *isa)
{
    atomic_store(&in_use, isa);
}
