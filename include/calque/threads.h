/* The number of threads. */
#ifndef CALQUE_THREADS_H
#define CALQUE_THREADS_H

#include <calque/version.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Sets the number of threads for the following computations, including the caller's: 1 to 64. The
 * default, 0, is one per core. Results do not depend on it. */
CQ_API void cq_set_threads(int n);
CQ_API int  cq_threads(void);

#ifdef __cplusplus
}
#endif

#endif
