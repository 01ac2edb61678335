/* Files that people take for a model: what their first bytes say that they are. */
#ifndef CQ_BASE_SIGNATURE_H
#define CQ_BASE_SIGNATURE_H

#include "base/error.h"

#include <stddef.h>

/* An error that says what a file is, and what to do, if it is known; else, and of a model, CQ_OK.
 */
cq_status cq_check_signature(const void *data, size_t size, const char *path);

/* The same for text, which may be a program: only what no program begins with is known. */
cq_status cq_check_text_signature(const void *data, size_t size, const char *path);

#endif
