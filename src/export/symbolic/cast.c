/* The same numbers in another dtype or handle: Cast, or nothing at all. */
#include "export/symbolic.h"

static cq_status to(cq_sym *s)
{
    return cq_sym_done(s, cq_sym_in_as(s, "self", cq_sym_result_type(s, 0).dtype));
}

static cq_status itself(cq_sym *s)
{
    return cq_sym_done(s, cq_sym_in(s, "self"));
}

const cq_symbolic cq_symbolics_cast[] = {
    { "aten::to.dtype", 7, .fn = to },       { "aten::clone", 7, .fn = itself },
    { "aten::contiguous", 7, .fn = itself }, { "aten::detach", 7, .fn = itself },
    { "aten::alias", 7, .fn = itself },      { "aten::lift_fresh", 7, .fn = itself },
    { "aten::data", 7, .fn = itself },       { 0 },
};
