/* Writes values as a pickle (pickle.c). */
#ifndef CQ_PY_PICKLE_H
#define CQ_PY_PICKLE_H

#include "base/str.h"
#include "py/py.h"

typedef struct cq_pickler {
    cq_eval *ev;
    cq_str   text;
    CQ_VEC(cq_storage *) storages; /* borrowed: the values hold them */
    cq_ptr_map indices;            /* storage -> its index + 1 */
    cq_ptr_map memo;               /* container, object or tensor -> its number + 1 */
    CQ_VEC(cq_val) kept;           /* those, by number: retained, so that no address is reused */
} cq_pickler;

/* Sets text and storages. Clear the pickler in any case. */
cq_status cq_pickler_run(cq_pickler *p, cq_val v);
void      cq_pickler_clear(cq_pickler *p);

#endif
