/* The weights of a recurrent layer, packed once for all runs of a session. */
#ifndef CQ_RUNTIME_KERNELS_RECURRENT_H
#define CQ_RUNTIME_KERNELS_RECURRENT_H

#include "base/lock.h"
#include "kernel/matrix/rnn.h"

#include <stdatomic.h>

/* Packed weights of an RNN, GRU or LSTM whose W and R are float32 constants. Each direction is
 * packed when it first runs. */
typedef struct cq_rt_recurrent {
    cq_mutex                 lock;
    _Atomic(cq_rnn_packed *) of[2];
} cq_rt_recurrent;

cq_status cq_rt_recurrent_new(cq_rt_recurrent **out);
void      cq_rt_recurrent_free(void *recurrent);

#endif
