/* Concatenation, repetition and permutation. Most operators of these families are composed of cat,
 * views and flip, and are decomposed. */
#include "export/symbolic/positions.h"

/* A slice with a negative step; before opset 10 there is none, and Gather is used. */
static cq_value *reversed(cq_sym *s, cq_value *x, int axis)
{
    cq_int    size   = cq_sym_size(s, x, axis);
    int64_t   axis64 = axis, start = -1, end = INT64_MIN + 1, step = -1;
    cq_value *v;

    if (cq_int_is(size, 0))
        return x;
    if (cq_sym_opset(s) < 10)
        return cq_sym_gather(
            s, x, cq_sym_positions(s, cq_int_sub(CQ_SYMBOLS(s), size, cq_i(1)), size, -1), axis);
    v = cq_sym_op(s, "Slice",
                  CQ_IN(x, cq_sym_const_i64s(s, &start, 1), cq_sym_const_i64s(s, &end, 1),
                        cq_sym_const_i64s(s, &axis64, 1), cq_sym_const_i64s(s, &step, 1)),
                  CQ_NO_ATTR);
    cq_sym_set_type_of(v, x);
    return v;
}

static cq_status flip(cq_sym *s)
{
    cq_value *x    = cq_sym_in(s, "self");
    int       rank = cq_sym_rank(s, x);
    int64_t   dims[CQ_MAX_RANK];
    size_t    n = cq_sym_i64s(s, "dims", dims, CQ_MAX_RANK);

    for (size_t i = 0; i < n && rank > 0 && s->status == CQ_OK; i++)
        x = reversed(s, x, (int)(dims[i] < 0 ? dims[i] + rank : dims[i]));
    return cq_sym_done(s, x);
}

const cq_symbolic cq_symbolics_join[] = {
    { "aten::flip", 7, .fn = flip },
    { 0 },
};
