/* Writes elements one by one along a dimension, for lib/onnx/scatter.py. */
#include "export/symbolic/positions.h"

cq_value *cq_sym_corner(cq_sym *s, cq_value *src, cq_value *index)
{
    for (int i = 0; i < cq_sym_rank(s, index) && s->status == CQ_OK; i++)
        if (!cq_int_same(src->type.sizes[i], index->type.sizes[i])) {
            cq_int    sizes[CQ_MAX_RANK];
            cq_value *v = cq_sym_slice(s, src, i, cq_i(0), index->type.sizes[i], 1);

            memcpy(sizes, src->type.sizes, (size_t)src->type.rank * sizeof *sizes);
            sizes[i] = index->type.sizes[i];
            cq_sym_set_type(s, v, src->type.dtype, (size_t)src->type.rank, sizes);
            src = v;
        }
    return src;
}
