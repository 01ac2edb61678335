/* How many steps a file may make us take unless the user says otherwise. A step is work of about a
 * tenth of a microsecond; what takes longer counts for more.
 *
 * A small file has a few seconds, whatever it asks for. A large one is given more for each byte:
 * big models have more to do, and nobody is surprised that they take time. */
#ifndef CQ_BASE_STEPS_H
#define CQ_BASE_STEPS_H

#include <stdint.h>

enum {
    CQ_STEPS_PER_BYTE       = 3,
    CQ_STEPS_SMALL          = 10 << 20, /* bytes; of what is beyond, each is worth more */
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
