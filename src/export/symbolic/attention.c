/* Attention as one node, since opset 23. ONNX Runtime gives a query that a mask of bools lets look
 * nowhere 0, as PyTorch does; but also one whose mask of floats is the least number throughout,
 * which PyTorch lets look everywhere. So a mask of floats is not for it. */
#include "export/symbolic/common.h"

static bool is_direct(cq_sym *s, cq_value *q, cq_value *k, cq_value *v)
{
    cq_dtype d = cq_sym_dtype(s, q);

    return s->status == CQ_OK && cq_sym_rank(s, q) == 4 && cq_sym_rank(s, k) == 4 &&
           cq_sym_rank(s, v) == 4 && (d == CQ_DTYPE_F32 || d == CQ_DTYPE_F16) &&
           cq_int_same(q->type.sizes[0], k->type.sizes[0]) &&
           cq_int_same(k->type.sizes[1], v->type.sizes[1]) && cq_sym_is_known(s, "dropout_p") &&
           cq_sym_f64(s, "dropout_p") == 0;
}

/* The mask with all of its queries and keys: those are not broadcast. */
static cq_value *whole_mask(cq_sym *s, cq_value *mask, cq_value *q, cq_value *k)
{
    cq_int  sizes[4] = { cq_i(1), cq_i(1), q->type.sizes[2], k->type.sizes[2] };
    int     rank     = cq_sym_rank(s, mask);
    int64_t axes[2]  = { 0, 1 };

    if (rank < 4)
        mask = cq_sym_unsqueeze(s, mask, axes, (size_t)(4 - rank));
    if (!mask ||
        (cq_int_same(mask->type.sizes[2], sizes[2]) && cq_int_same(mask->type.sizes[3], sizes[3])))
        return mask;
    sizes[0] = mask->type.sizes[0];
    sizes[1] = mask->type.sizes[1];
    return cq_sym_expand(s, mask, sizes, 4);
}

static cq_status attention(cq_sym *s)
{
    cq_value *q = cq_sym_in(s, "query"), *k = cq_sym_in(s, "key"), *v = cq_sym_in(s, "value");
    cq_value *mask = cq_sym_in(s, "attn_mask"), *y;
    bool      causal;

    if (!is_direct(s, q, k, v) ||
        (mask && (cq_sym_dtype(s, mask) != CQ_DTYPE_BOOL || cq_sym_rank(s, mask) < 2)))
        return cq_sym_no(s, 0, "it is taken apart");
    if (mask)
        mask = whole_mask(s, mask, q, k);
    causal = cq_sym_bool(s, "is_causal");
    y      = cq_sym_op(s, "Attention", CQ_IN(q, k, v, mask),
                       CQ_ATTR(causal ? cq_attr_i("is_causal", 1) : (cq_attr){ 0 },
                          cq_sym_is_none(s, "scale") ? (cq_attr){ 0 }
                                                          : cq_attr_f("scale", cq_sym_f64(s, "scale"))));
    cq_sym_set_dtype(s, y, cq_sym_dtype(s, q));
    return cq_sym_done(s, y);
}

const cq_symbolic cq_symbolics_attention[] = {
    { "aten::scaled_dot_product_attention", 23, .fn = attention },
    { 0 },
};
