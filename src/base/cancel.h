/* Cancellation of long work: the user's handler is queried now and then (cq_set_cancel_handler).
 * Loops over operators, nodes, steps of programs and pieces of files call this in each
 * iteration. */
#ifndef CQ_BASE_CANCEL_H
#define CQ_BASE_CANCEL_H

#include "base/error.h"

/* CQ_E_CANCELLED when the work is not wanted any more. It costs little: the handler is called only
 * when its time has come again. */
cq_status cq_check_cancelled(void);

#endif
