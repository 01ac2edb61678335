/* Warnings that do not stop the work. They go to the handler of the library's user, by default to
 * standard error. */
#ifndef CQ_BASE_WARN_H
#define CQ_BASE_WARN_H

#include "base/error.h"

void cq_warn(const char *where, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Drops the warnings of this thread until it is called with false as often. */
void cq_warn_hold(bool hold);

#endif
