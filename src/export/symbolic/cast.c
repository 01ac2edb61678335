/* The same numbers in another dtype or handle: Cast, or nothing at all. */
#include "export/symbolic/symbolic.h"

const cq_symbolic cq_symbolics_cast[] = {
    { "aten::to.dtype", 7, .as = "cast(self, result_dtype())" },
    { "aten::clone", 7, .as = "self" },
    { "aten::contiguous", 7, .as = "self" },
    { "aten::detach", 7, .as = "self" },
    { "aten::alias", 7, .as = "self" },
    { "aten::lift_fresh", 7, .as = "self" },
    { "aten::data", 7, .as = "self" },
    { 0 },
};
