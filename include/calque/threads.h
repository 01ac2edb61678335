/* How many threads calque computes with. */
#ifndef CALQUE_THREADS_H
#define CALQUE_THREADS_H

#include <calque/version.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Threads that work on a job, the caller's included; 1 to 64. 0 means one for each core, and
 * is the default. Counts from the next job on. Results do not depend on it. */
CQ_API void cq_set_threads(int n);
CQ_API int  cq_threads(void);

#ifdef __cplusplus
}
#endif

#endif
