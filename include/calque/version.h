/* The version of calque: three numbers, one comparable number, and the version of the loaded
 * library. */
#ifndef CALQUE_VERSION_H
#define CALQUE_VERSION_H

#include <stdint.h>

#if !defined(CQ_API) && defined(__GNUC__)
#define CQ_API __attribute__((visibility("default")))
#elif !defined(CQ_API)
#define CQ_API
#endif

#define CQ_VERSION_MAJOR 0
#define CQ_VERSION_MINOR 1
#define CQ_VERSION_PATCH 0
#define CQ_VERSION       (CQ_VERSION_MAJOR * 1000000 + CQ_VERSION_MINOR * 1000 + CQ_VERSION_PATCH)

#ifdef __cplusplus
extern "C" {
#endif

/* CQ_VERSION of the loaded library. */
CQ_API int32_t cq_version(void);

/* The same as text, "0.1.0". */
CQ_API const char *cq_version_string(void);

/* The instruction set that numbers are computed with: "avx512vnni" (AVX-512 with products of 8
 * bits), "avx512", "avx2", "sse2", "neon" or "base". It is the widest set that the processor
 * supports, or the set named by the environment variable CALQUE_ISA if the processor supports it.
 * */
CQ_API const char *cq_instruction_set(void);

#ifdef __cplusplus
}
#endif

#endif
