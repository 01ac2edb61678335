/* How far long work is, for whoever listens (cq_set_progress_handler). Work is begun once with its
 * size; the functions below it that do it step by step need not know of it. Steps without a
 * beginning, small files for example, tell nobody. */
#ifndef CQ_BASE_PROGRESS_H
#define CQ_BASE_PROGRESS_H

#include "base/error.h"

void cq_progress_begin(const char *what, uint64_t total); /* what lives until the end */
void cq_progress_step(uint64_t amount);
void cq_progress_end(void);

#endif
