/* The default number of steps that a file may take. A step is about a tenth of a microsecond of
 * work; longer work counts for more.
 *
 * A small file has a few seconds, regardless of its contents. A large one gets more for each byte,
 * because large models need more time. */
#ifndef CQ_BASE_STEPS_H
#define CQ_BASE_STEPS_H

#include <stdint.h>

enum {
    CQ_STEPS_PER_BYTE       = 3,
    CQ_STEPS_SMALL          = 10 << 20, /* bytes; each byte beyond counts for more */
    CQ_STEPS_PER_LARGE_BYTE = 10
};

/* base: for nothing at all; bytes: of the file, and of the inputs that came with it. */
static inline uint64_t cq_default_steps(double base, double bytes)
{
    const double small = bytes < CQ_STEPS_SMALL ? bytes : CQ_STEPS_SMALL;
    const double n = base + small * CQ_STEPS_PER_BYTE + (bytes - small) * CQ_STEPS_PER_LARGE_BYTE;

    return n < 0x1p62 ? (uint64_t)n : UINT64_MAX / 2;
}

#endif
