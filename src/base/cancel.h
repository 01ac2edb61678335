/* Stopping work that takes long: whoever started it is asked now and then (cq_set_cancel_handler).
 * Loops over operators, nodes, steps of programs and pieces of files ask here in each round. */
#ifndef CQ_BASE_CANCEL_H
#define CQ_BASE_CANCEL_H

#include "base/error.h"

/* CQ_E_CANCELLED when the work is not wanted any more. It costs little: the handler is called only
 * when its time has come again. */
cq_status cq_check_cancelled(void);

#endif
