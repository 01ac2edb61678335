/* Cancellation of long work: the user's handler is called at intervals (cq_set_cancel_handler).
 * Loops over operators, nodes, steps of programs and pieces of files check in each iteration. */
#ifndef CQ_BASE_CANCEL_H
#define CQ_BASE_CANCEL_H

#include "base/error.h"

/* Returns CQ_E_CANCELLED if the handler requests it. The call is cheap: the handler is called at
 * most twenty times a second. */
cq_status cq_check_cancelled(void);

#endif
