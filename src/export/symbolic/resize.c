/* Resizing. */
#include "export/symbolic/common.h"

const cq_symbolic cq_symbolics_resize[] = {
    { 0 },
};
