/* Recurrent layers. */
#include "export/symbolic/common.h"

const cq_symbolic cq_symbolics_rnn[] = {
    { 0 },
};
