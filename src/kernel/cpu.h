/* Which kernels this processor can run. */
#ifndef CQ_KERNEL_CPU_H
#define CQ_KERNEL_CPU_H

#include <stdbool.h>

bool cq_cpu_has_avx2(void); /* with FMA and F16C; false after cq_cpu_use_avx2(false) */

/* For tests: false makes every kernel take its portable path. */
void cq_cpu_use_avx2(bool on);

#endif
