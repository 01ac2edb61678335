/* Bags of embeddings: the sum, mean or maximum of the rows that each bag names. All of it is
 * composed of a table of which index belongs to which bag, so it needs no kernel and is
 * exported at every opset that has its parts. embedding itself is in select.c. */
#include "aten/ctx.h"

enum { SUM, MEAN, MAX };

typedef struct bags {
    cq_opcall *c;
    cq_ctx    *cx;
    cq_tensor *weight, *indices;
    int64_t    mode, padding; /* padding: an index that does not count, or negative */
    cq_int     n_bags;
    cq_tensor *of;    /* [indices]: which bag each belongs to */
    cq_tensor *table; /* [bags, indices] of bool */
    cq_tensor *rows;  /* [indices, columns] */
} bags;

#define BAG(schema_text, code)                                                                     \
    {                                                                                              \
        .schema = schema_text, .about = "sums, means or maxima of the rows that bags name",        \
        .body = code                                                                               \
    }

const cq_op_def cq_ops_embedding[] = {
    BAG("aten::embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool "
        "scale_grad_by_freq=False, int mode=0, bool sparse=False, Tensor? per_sample_weights=None, "
        "bool include_last_offset=False) -> (Tensor, Tensor, Tensor, Tensor)",
        "bags(weight, indices, offsets, mode, per_sample_weights, include_last_offset, -1)"),
    BAG("aten::embedding_bag.padding_idx(Tensor weight, Tensor indices, Tensor offsets, bool "
        "scale_grad_by_freq, int mode, bool sparse, Tensor? per_sample_weights, bool "
        "include_last_offset, int? padding_idx) -> (Tensor, Tensor, Tensor, Tensor)",
        "n = weight.shape[0]\n"
        "assert padding_idx is None or padding_idx >= -n and padding_idx < n, "
        "'padding_idx {padding_idx} is out of range for {n} rows'\n"
        "padding = -1 if padding_idx is None else padding_idx if padding_idx >= 0 else padding_idx "
        "+ size_hint(n)\n"
        "return bags(weight, indices, offsets, mode, per_sample_weights, include_last_offset, "
        "padding)"),
    BAG("aten::_embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool "
        "scale_grad_by_freq=False, int mode=0, bool sparse=False, Tensor? per_sample_weights=None, "
        "bool include_last_offset=False, int padding_idx=-1) -> (Tensor, Tensor, Tensor, Tensor)",
        "bags(weight, indices, offsets, mode, per_sample_weights, include_last_offset, "
        "padding_idx)"),
    CQ_BODY("aten::embedding_renorm(Tensor self, Tensor indices, float max_norm, float "
            "norm_type) -> Tensor",
            "rows scaled down to a norm",
            "assert self.ndim == 2, 'self should have 2 dimensions, not {self.ndim}'\n"
            "norms = norm(self, norm_type, [1], True)\n"
            "over = norms > max_norm\n"
            "named = zeros_like(over.select(1, 0)).index_fill(0, indices.flatten(), 1)\n"
            "scale = (norms + 1e-7).reciprocal() * max_norm\n"
            "return where(named.unsqueeze(1).logical_and(over), self * scale, self)"),
    { 0 }
};
