/* Tensors put together, repeated or with their elements in other places. Most operators of
 * these families are composed of cat, views and flip, and are decomposed. */
#include "export/symbolic/places.h"

/* A slice that runs backwards; before opset 10 there is none, and Gather does it. */
static cq_value *reversed(cq_sym *s, cq_value *x, int axis)
{
    cq_int    size   = cq_sym_size(s, x, axis);
    int64_t   axis64 = axis, start = -1, end = INT64_MIN + 1, step = -1;
    cq_value *v;

    if (cq_int_is(size, 0))
        return x;
    if (cq_sym_opset(s) < 10)
        return cq_sym_gather(
            s, x, cq_sym_places(s, cq_int_sub(CQ_SYMBOLS(s), size, cq_i(1)), size, -1), axis);
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

/* Tensors of shape [0] do not count, as in PyTorch. */
#define CAT                                                                                        \
    "parts = [cast(x, result_dtype()) for x in tensors if rank(x) != 1 or size(x, 0) != 0];"       \
    "cast(tensors[0], result_dtype()) if len(parts) == 0 else parts[0] if len(parts) == 1 else"    \
    " Concat<axis = axis(dim, parts[0])>(parts)"

/* ONNX Runtime repeats no 16-bit integers and, before opset 13, no halves. */
#define REPEAT                                                                                     \
    "lead = len(repeats) - rank(self);"                                                            \
    "x = Reshape(self, [1 for i in range(lead)] + sizes(self)) if lead > 0 else self;"             \
    "y = cast(x, 'int32') if dtype(x) == 'int16' else widen(x);"                                   \
    "x if len([i for i in repeats if i != 1]) == 0 else Tile(y, repeats)"

const cq_symbolic cq_symbolics_join[] = {
    { "aten::cat", 7, .as = CAT },
    { "aten::repeat", 7, .as = REPEAT },
    { "aten::flip", 7, .fn = flip },
    /* DepthToSpace has PyTorch's order of channels since opset 11. */
    { "aten::pixel_shuffle", 11,
      .as = "DepthToSpace<blocksize = upscale_factor, mode = 'CRD'>(self)"
            " if rank(self) == 4 and (dtype(self) == 'float32' or dtype(self) == 'float64')"
            " else no('DepthToSpace takes images of floats')" },
    { "aten::tril_indices", 7, .as = "constant()" },
    { "aten::triu_indices", 7, .as = "constant()" },
    { 0 },
};
