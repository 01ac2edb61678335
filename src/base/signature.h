/* Files that are mistaken for a model, recognised by their first bytes. */
#ifndef CQ_BASE_SIGNATURE_H
#define CQ_BASE_SIGNATURE_H

#include "base/error.h"

#include <stddef.h>

/* An error with the kind of a file and advice, if it is recognised; otherwise, and for a model,
 * CQ_OK. */
cq_status cq_check_signature(const void *data, size_t size, const char *path);
cq_status cq_fail_empty(const char *path); /* a file of 0 bytes */

/* The same for text, which may be a program: only text that cannot begin a program is
 * recognised. */
cq_status cq_check_text_signature(const void *data, size_t size, const char *path);

#endif
