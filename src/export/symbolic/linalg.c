/* Products of matrices. Gemm where a layer is one: two matrices of floats and a bias; MatMul
 * otherwise, which has PyTorch's rules for vectors and batches. */
#include "export/symbolic/common.h"

enum { MATMUL_INTS = 9 }; /* the opset that gave MatMul integers */

static cq_value *matmul(cq_sym *s, cq_value *a, cq_value *b)
{
    return cq_sym_binary(s, "MatMul", a, b);
}

/* A plain product of the first two arguments. */
static cq_status product(cq_sym *s)
{
    const cq_schema *schema = s->op->schema;
    cq_value        *a      = cq_sym_computable(s, cq_sym_in(s, schema->args[0].name), MATMUL_INTS);
    cq_value        *b      = cq_sym_computable(s, cq_sym_in(s, schema->args[1].name), MATMUL_INTS);
    cq_value        *v      = cq_sym_op(s, "MatMul", CQ_IN(a, b), CQ_NO_ATTR);

    cq_sym_set_dtype(s, v, cq_sym_dtype(s, a));
    return cq_sym_done(s, v);
}

/* x times a number that may be the data's. */
static cq_value *scaled(cq_sym *s, cq_value *x, const char *arg)
{
    return cq_sym_is_known(s, arg)
               ? cq_sym_times(s, x, cq_sym_f64(s, arg))
               : cq_sym_binary(s, "Mul", x, cq_sym_in_as(s, arg, cq_sym_dtype(s, x)));
}

/* beta * self + alpha * a @ b by parts: batches, integers, factors of data, or no self. */
static cq_status add_product_by_parts(cq_sym *s, const char *left, const char *right)
{
    cq_value *a    = cq_sym_computable(s, cq_sym_in(s, left), MATMUL_INTS);
    cq_value *b    = cq_sym_computable(s, cq_sym_in(s, right), MATMUL_INTS);
    cq_value *v    = cq_sym_op(s, "MatMul", CQ_IN(a, b), CQ_NO_ATTR);
    cq_value *self = cq_sym_cast(s, cq_sym_in(s, "self"), cq_sym_dtype(s, a));

    cq_sym_set_dtype(s, v, cq_sym_dtype(s, a));
    v = scaled(s, v, "alpha");
    if (!cq_sym_is_known(s, "beta") || cq_sym_f64(s, "beta") != 0)
        v = cq_sym_binary(s, "Add", v, scaled(s, self, "beta"));
    return cq_sym_done(s, v);
}

static cq_status addmm(cq_sym *s)
{
    cq_value *a     = cq_sym_in_float(s, "mat1"), *v;
    bool      known = cq_sym_is_known(s, "beta") && cq_sym_is_known(s, "alpha");
    double    beta  = known ? cq_sym_f64(s, "beta") : 0;

    if (!cq_dtype_is_float(cq_sym_dtype(s, a)) || beta == 0)
        return add_product_by_parts(s, "mat1", "mat2");
    v = cq_sym_op(s, "Gemm", CQ_IN(a, cq_sym_in_float(s, "mat2"), cq_sym_in_float(s, "self")),
                  CQ_ATTR(cq_attr_f("alpha", cq_sym_f64(s, "alpha")), cq_attr_f("beta", beta)));
    cq_sym_set_dtype(s, v, cq_sym_dtype(s, a));
    return cq_sym_done(s, v);
}

static cq_status baddbmm(cq_sym *s)
{
    return add_product_by_parts(s, "batch1", "batch2");
}

static cq_status linear(cq_sym *s)
{
    cq_value *x = cq_sym_in_float(s, "input"), *w = cq_sym_in_float(s, "weight"), *v;
    cq_value *bias = cq_sym_in_float(s, "bias");

    if (bias && cq_sym_rank(s, x) == 2 && cq_dtype_is_float(cq_sym_dtype(s, x))) {
        v = cq_sym_op(s, "Gemm", CQ_IN(x, w, bias), CQ_ATTR(cq_attr_i("transB", 1)));
        cq_sym_set_dtype(s, v, cq_sym_dtype(s, x));
        return cq_sym_done(s, v);
    }
    x = cq_sym_computable(s, x, MATMUL_INTS);
    w = cq_sym_computable(s, w, MATMUL_INTS);
    v = matmul(s, x, cq_sym_swap_dims(s, w, 0, 1));
    if (bias)
        v = cq_sym_binary(s, "Add", v, cq_sym_cast(s, bias, cq_sym_dtype(s, x)));
    return cq_sym_done(s, v);
}

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

static cq_status det(cq_sym *s)
{
    cq_value *x = cq_sym_in(s, "A"), *v;

    if (cq_sym_opset(s) < 11)
        return cq_sym_no(s, 11, "Det came with opset 11");
    v = cq_sym_op(s, "Det", CQ_IN(x), CQ_NO_ATTR);
    cq_sym_set_dtype(s, v, cq_sym_dtype(s, x));
    return cq_sym_done(s, v);
}

const cq_symbolic cq_symbolics_linalg[] = {
    { "aten::linalg_det", 7, .fn = det },
    { "aten::mm", 7, .fn = product },
    { "aten::bmm", 7, .fn = product },
    { "aten::mv", 7, .fn = product },
    { "aten::dot", 7, .fn = product },
    { "aten::matmul", 7, .fn = product },
    { "aten::addmm", 7, .fn = addmm },
    { "aten::baddbmm", 7, .fn = baddbmm },
    { "aten::linear", 7, .fn = linear },
    { "aten::einsum", 12, .fn = einsum }, /* before, it is taken apart */
    { 0 },
};
