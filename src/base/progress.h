/* Progress of long work, for the user's handler (cq_set_progress_handler). Work is begun once with
 * its size; the functions that do the steps need not know of it. Steps outside of a begun work, for
 * example for small files, are not reported. */
#ifndef CQ_BASE_PROGRESS_H
#define CQ_BASE_PROGRESS_H

#include "base/error.h"

void cq_progress_begin(const char *what, uint64_t total); /* the text must live until the end */
void cq_progress_step(uint64_t amount);
void cq_progress_end(void);

#endif
