/* Calls of a program's own text: an operator means what it meant when the file was written. What
 * calque itself calls goes to cq_eval_operator. */
#ifndef CQ_SCRIPT_UPGRADE_H
#define CQ_SCRIPT_UPGRADE_H

#include "script/eval.h"

cq_status cq_eval_versioned(cq_eval *ev, const char *name, const cq_val *args, size_t n_args,
                            const char *const *names, const cq_val *kw, size_t n_kw, cq_val *out);

#endif
