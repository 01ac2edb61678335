/* Memory of what is prepared once and read in every run: weights. Blocks that one thread takes for
 * the same purpose lie side by side on huge pages, of which a processor's tables cover all that a
 * model has; as blocks of their own they would be many small pages. */
#ifndef CQ_BASE_LASTING_H
#define CQ_BASE_LASTING_H

#include <stddef.h>

typedef struct cq_lasting cq_lasting;

/* From here on this thread's blocks lie side by side, of which about so many bytes are expected:
 * little is not worth it. Returns what was in force, to be put back in the end. */
cq_lasting *cq_lasting_begin(double expected);
void        cq_lasting_end(cq_lasting *before);

/* 64-byte aligned; NULL like cq_alloc. Freed by any thread, before or after the end. */
void *cq_alloc_lasting(size_t size);
void  cq_free_lasting(void *p); /* NULL is fine */

#endif
