/* Kernels are tested with every instruction set that this processor has, and with 16 lanes lowered
 * to what every processor has: the wide code is seen to be right without AVX-512. */
#ifndef CQ_TESTS_ISAS_H
#define CQ_TESTS_ISAS_H

#include "kernel/isa.h"

#ifdef CQ_HAS_LOWERED
extern const cq_isa cq_lowered_isa; /* only in the tests of kernels */
#endif

/* Uses set number i from now on; after the last: restores the default, and returns false. */
static inline bool use_isa(size_t i)
{
    const cq_isa *isa = cq_isa_at(i);

#ifdef CQ_HAS_LOWERED
    if (!isa && i > 0 && cq_isa_at(i - 1))
        isa = &cq_lowered_isa;
#endif
    cq_isa_use(isa);
    return isa != NULL;
}

#define EACH_ISA for (size_t isa_ = 0; use_isa(isa_); isa_++)

#endif
