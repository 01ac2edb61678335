/* A first family, so that the table is not empty. */
#include "export/symbolic.h"

const cq_symbolic cq_symbolics_basic[] = {
    { "aten::relu", 7, .op = "Relu" },
    { 0 },
};
