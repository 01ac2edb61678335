/* Products of matrices. Gemm where a layer is one: two matrices of floats and a bias; MatMul
 * otherwise, which has PyTorch's rules for vectors and batches. */
#include "export/symbolic/common.h"

/* Whether "..." stands for as many axes in each tensor, as ONNX wants it: equation up to the
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

/* ONNX spells equations as PyTorch does. ONNX Runtime has no small integers for it. */
static cq_status einsum(cq_sym *s)
{
    cq_value   *in[64], *v;
    const char *equation = cq_sym_str(s, "equation", "");
    size_t      n        = cq_sym_n_list(s, "tensors");

    if (n > 64)
        return cq_sym_no(s, 0, "it has %zu tensors", n);
    for (size_t i = 0; i < n; i++)
        in[i] = cq_sym_computable(s, cq_sym_in_at(s, "tensors", i), 7);
    if (!ellipses_agree(s, equation, in, n))
        return cq_sym_no(s, 0, "\"...\" stands for different numbers of axes");
    v = cq_sym_op(s, "Einsum", in, n, CQ_ATTR(cq_attr_s("equation", equation)));
    if (n)
        cq_sym_set_dtype(s, v, cq_sym_dtype(s, in[0]));
    return cq_sym_done(s, v);
}

/* MatMul has integers since opset 9. */
#define PRODUCT(a, b) "MatMul(computable(" a ", 9), computable(" b ", 9))"

/* beta * self + alpha * a @ b by parts: batches, integers, factors of data, or no self. */
#define ADD_PRODUCT(a, b)                                                                          \
    "v = " PRODUCT(                                                                                \
        a,                                                                                         \
        b) "; scaled = v * alpha;"                                                                 \
           "sum = scaled if known(beta) and beta == 0 else scaled + cast(self, dtype(v)) * beta;"

/* The product of the diagonal of a triangle; each change of rows turns the sign. */
#define DETERMINANT                                                                                \
    "n = A.shape[-1]\n"                                                                            \
    "lu, pivots, order = triangles(A, True)\n"                                                     \
    "changes = (pivots != arange(1, n + 1)).sum([-1])\n"                                           \
    "d = lu.diagonal(0, -2, -1).prod(-1)\n"                                                        \
    "return where(changes % 2 == 0, d, -d)"

const cq_symbolic cq_symbolics_linalg[] = {
    { "aten::linalg_det", 7, .parts = true },
    { "aten::linalg_det", 11,
      .as    = "Det(A) if dtype(A) == 'float32' else"
               " no('ONNX Runtime has it for float32 only')",
      .parts = true },
    { "aten::mm", 7, .as = PRODUCT("self", "mat2") },
    { "aten::bmm", 7, .as = PRODUCT("self", "mat2") },
    { "aten::mv", 7, .as = PRODUCT("self", "vec") },
    { "aten::dot", 7, .as = PRODUCT("self", "tensor") },
    { "aten::matmul", 7, .as = PRODUCT("self", "other") },
    { "aten::addmm", 7,
      .as = ADD_PRODUCT("mat1",
                        "mat2") "x = without_bfloat16(mat1);"
                                "Gemm<alpha = alpha, beta = beta>(x, without_bfloat16(mat2), "
                                "without_bfloat16(self))"
                                " if is_float(x) and known(beta) and known(alpha) and beta != 0 and"
                                " (dtype(x) != 'float64' or alpha == 1 and beta == 1) else sum" },
    { "aten::baddbmm", 7, .as = ADD_PRODUCT("batch1", "batch2") "sum" },
    { "aten::linear", 7,
      .as = "x = without_bfloat16(input); w = without_bfloat16(weight);"
            "v = MatMul(computable(x, 9),"
            " swap(computable(w, 9), 0, 1) if rank(w) == 2 else computable(w, 9));"
            "v if bias is None else"
            " Gemm<transB = 1>(x, w, without_bfloat16(bias))"
            " if rank(x) == 2 and rank(w) == 2 and is_float(x) else"
            " Add(v, cast(without_bfloat16(bias), dtype(v)))" },
    { "aten::einsum", 12, .fn = einsum }, /* before, it is decomposed */
    { 0 },
};
