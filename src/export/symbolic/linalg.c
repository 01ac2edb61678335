/* Products of matrices. Gemm where a layer is one: two matrices of floats and a bias; MatMul
 * otherwise, which has PyTorch's rules for vectors and batches. */
#include "export/symbolic/common.h"

/* Whether "..." has the same number of axes in each tensor, as ONNX requires: equation up to the
 * arrow has a term for each. */
static bool ellipses_agree(cq_sym *s, const char *equation, cq_value *const *in, size_t n)
{
    int axes = -1;

    for (size_t i = 0; i < n; i++) {
        int  letters  = 0;
        bool ellipsis = false;

        for (; *equation && *equation != ',' && *equation != '-'; equation++) {
            letters += *equation != ' ' && *equation != '.';
            ellipsis |= *equation == '.';
        }
        equation += *equation == ',';
        if (ellipsis && axes >= 0 && axes != cq_sym_rank(s, in[i]) - letters)
            return false;
        if (ellipsis)
            axes = cq_sym_rank(s, in[i]) - letters;
    }
    return true;
}

/* ONNX spells equations as PyTorch does. ONNX Runtime has no small integers for it. A product
 * without a sum may have operands of several dtypes. */
static cq_status einsum(cq_sym *s)
{
    cq_value   *in[64], *v;
    cq_dtype    dtype    = CQ_DTYPE_BOOL;
    const char *equation = cq_sym_str(s, "equation", "");
    size_t      n        = cq_sym_n_list(s, "tensors");

    if (n > 64)
        return cq_sym_no(s, 0, "it has %zu tensors", n);
    for (size_t i = 0; i < n; i++)
        dtype = cq_dtype_promote(dtype, cq_sym_dtype(s, cq_sym_in_at(s, "tensors", i)));
    for (size_t i = 0; i < n; i++)
        in[i] = cq_sym_computable(s, cq_sym_cast(s, cq_sym_in_at(s, "tensors", i), dtype), 7);
    if (!ellipses_agree(s, equation, in, n))
        return cq_sym_no(s, 0, "\"...\" stands for different numbers of axes");
    v = cq_sym_op(s, "Einsum", in, n, CQ_ATTR(cq_attr_s("equation", equation)));
    if (n)
        cq_sym_set_dtype(s, v, cq_sym_dtype(s, in[0]));
    return cq_sym_done(s, v);
}

const cq_symbolic cq_symbolics_linalg[] = {
    { "aten::einsum", 12, .fn = einsum },
    { 0 },
};
