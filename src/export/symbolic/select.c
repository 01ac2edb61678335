/* A tensor and a mask in their common sizes, for lib/onnx/select.py. */
#include "export/symbolic/positions.h"

void cq_sym_spread(cq_sym *s, cq_value **x, cq_value **mask)
{
    int    a = cq_sym_rank(s, *x), b = cq_sym_rank(s, *mask), n = a > b ? a : b;
    cq_int sizes[CQ_MAX_RANK];

    for (int i = 0; i < n && s->status == CQ_OK; i++) {
        cq_int u = i < n - a ? cq_i(1) : cq_sym_size(s, *x, i - (n - a));
        cq_int v = i < n - b ? cq_i(1) : cq_sym_size(s, *mask, i - (n - b));

        sizes[i] =
            cq_int_is(u, 1) || (u.value == 1 && v.value != 1) || (u.expr && !v.expr && v.value != 1)
                ? v
                : u;
    }
    if (s->status != CQ_OK)
        return;
    *x    = cq_sym_expand_any(s, *x, sizes, (size_t)n);
    *mask = cq_sym_expand_any(s, cq_sym_cast(s, *mask, CQ_DTYPE_BOOL), sizes, (size_t)n);
    if (*x && (*x)->node)
        cq_sym_set_type(s, *x, cq_sym_dtype(s, *x), (size_t)n, sizes);
    if (*mask && (*mask)->node)
        cq_sym_set_type(s, *mask, CQ_DTYPE_BOOL, (size_t)n, sizes);
}
