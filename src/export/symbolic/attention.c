/* Attention as one node, since opset 23. A query that a mask of bools lets look nowhere is 0 in
 * PyTorch; ONNX Runtime 1.23 gives NaN and newer ones 0, so it is set to 0. A query whose mask of
 * floats is the least number throughout is also 0 in ONNX Runtime, but PyTorch lets it look
 * everywhere. So a mask of floats is not for it. */
#include "export/symbolic/symbolic.h"

/* clang-format off */

/* The mask is given with all of its queries and keys: those are not broadcast. */
#define ATTENTION \
    "q = query; k = key; v = value; m = attn_mask;" \
    "direct = rank(q) == 4 and rank(k) == 4 and rank(v) == 4 and" \
    " (dtype(q) == 'float32' or dtype(q) == 'float16') and size(q, 0) == size(k, 0) and" \
    " size(k, 1) == size(v, 1) and known(dropout_p) and dropout_p == 0;" \
    "fits = m is None or dtype(m) == 'bool' and rank(m) > 1;" \
    "deep = Unsqueeze(m, range(4 - rank(m))) if rank(m) < 4 else m;" \
    "all = [size(q, 2), size(k, 2)];" \
    "mask = None if m is None else deep if [size(deep, 2), size(deep, 3)] == all else" \
    " Expand(deep, [size(deep, 0), size(deep, 1)] + all);" \
    "y = Attention<is_causal = 1 if is_causal else None, scale = scale>(q, k, v, mask)" \
    " if direct and fits else no('it is decomposed');" \
    "y if m is None else" \
    " Where(cast(ReduceMax(cast(mask, 'float32'), [3]), 'bool'), y, like(0, y))"
/* clang-format on */

const cq_symbolic cq_symbolics_attention[] = {
    { "aten::scaled_dot_product_attention", 23, .as = ATTENTION },
    { 0 },
};
