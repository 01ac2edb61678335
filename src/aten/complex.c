/* Complex numbers. A tensor of them is looked at as pairs of real numbers along one more dimension,
 * the last: what an operator does to complex numbers is said here in terms of what it and others do
 * to the pairs. So kernels, gradients and ONNX, which has next to nothing for complex numbers, see
 * real ones only; view_as_complex and view_as_real, which come out between two operators, cancel.
 *
 * Spectra, where complex numbers mostly come from, are fft.c's. */
#include "aten/complex.h"
#include "aten/geometry.h"
#include "tensor/convert.h"

#include <stdlib.h>

static cq_dtype real_of(cq_dtype complex)
{
    return cq_dtype_part(complex);
}

/* Of pairs of real numbers; CQ_DTYPE_NONE: there is none. */
static cq_dtype complex_of(cq_dtype real)
{
    return real == CQ_DTYPE_F64   ? CQ_DTYPE_C128
           : real == CQ_DTYPE_F32 ? CQ_DTYPE_C64
           : real == CQ_DTYPE_F16 ? CQ_DTYPE_C32
                                  : CQ_DTYPE_NONE;
}

static bool is_complex(cq_val v)
{
    return v.kind == CQ_VAL_TENSOR && cq_dtype_is_complex(v.u.tensor->dtype);
}

static cq_status done(cq_opcall *c, cq_tensor *t)
{
    return cq_result_set_tensor(c, 0, t);
}

/* ---- the two looks at the same memory ---- */

static cq_status view_as(cq_opcall *c, cq_dtype dtype, const cq_geometry *g)
{
    cq_tensor *view = NULL;

    CQ_TRY(cq_tensor_new_view(&view, c->args[0].u.tensor, dtype, g->rank, g->sizes, g->strides,
                              g->offset));
    return done(c, cq_ctx_own_tensor(c->cx, view));
}

static cq_status real_view(cq_opcall *c)
{
    cq_tensor  *x = c->args[0].u.tensor;
    cq_geometry g = cq_geometry_of(x);

    if (!cq_dtype_is_complex(x->dtype))
        return cq_call_fail(c, CQ_E_TYPE, "wants complex numbers, not %s", cq_dtype_name(x->dtype));
    if (x->rank == CQ_MAX_RANK)
        return cq_call_fail(c, CQ_E_UNSUPPORTED, "a tensor has at most %d dimensions", CQ_MAX_RANK);
    g.offset *= 2;
    for (size_t i = 0; i < g.rank; i++)
        g.strides[i] *= 2;
    cq_geometry_insert(&g, g.rank, cq_i(2), 1);
    return view_as(c, real_of(x->dtype), &g);
}

/* Whether the two numbers of each pair are where those of a complex number are. */
static bool is_paired(const cq_tensor *x)
{
    bool even = x->offset % 2 == 0 && x->strides[x->rank - 1] == 1;

    for (size_t i = 0; i + 1 < x->rank; i++)
        even &= x->strides[i] % 2 == 0 || x->sizes[i].value == 1;
    return even;
}

static cq_status complex_view(cq_opcall *c)
{
    cq_tensor  *x = c->args[0].u.tensor;
    cq_geometry g = cq_geometry_of(x);

    if (complex_of(x->dtype) == CQ_DTYPE_NONE)
        return cq_call_fail(c, CQ_E_TYPE, "wants float16, float32 or float64, not %s",
                            cq_dtype_name(x->dtype));
    if (!x->rank || x->sizes[x->rank - 1].value != 2)
        return cq_call_fail(c, CQ_E_TYPE, "wants a last dimension of size 2");
    if (!is_paired(x))
        return cq_call_fail(c, CQ_E_ARGUMENT,
                            "wants the two numbers of a pair beside each other in memory");
    for (size_t i = 0; i + 1 < g.rank; i++)
        g.strides[i] /= 2;
    g.offset /= 2;
    cq_geometry_drop(&g, g.rank - 1);
    return view_as(c, complex_of(x->dtype), &g);
}

static cq_tensor *to_complex(cq_ctx *cx, cq_tensor *pairs)
{
    if (pairs && !is_paired(pairs))
        pairs = CQ_OP(cx, "aten::contiguous", TENSOR(pairs));
    return CQ_OP(cx, "aten::view_as_complex", TENSOR(pairs));
}

static cq_tensor *to_pairs(cq_ctx *cx, cq_tensor *complex)
{
    return CQ_OP(cx, "aten::view_as_real", TENSOR(complex));
}

static cq_tensor *real_unview(cq_opcall *c, cq_tensor *base, cq_tensor *changed, size_t index)
{
    (void)base;
    (void)index;
    return to_complex(c->cx, changed);
}

static cq_tensor *complex_unview(cq_opcall *c, cq_tensor *base, cq_tensor *changed, size_t index)
{
    (void)base;
    (void)index;
    return to_pairs(c->cx, changed);
}

cq_tensor *cq_complex_of(cq_ctx *cx, cq_tensor *real, cq_tensor *imaginary)
{
    cq_tensor *parts[2] = { real, imaginary };

    return CQ_OP(cx, "aten::view_as_complex",
                 TENSOR(CQ_OP(cx, "aten::stack", cq_tensors(cx, parts, 2), INT(-1))));
}

/* The real (0) or imaginary (1) part. */
static cq_tensor *part(cq_ctx *cx, cq_val complex, int which)
{
    return CQ_OP(cx, "aten::select.int", TENSOR(to_pairs(cx, complex.u.tensor)), INT(-1),
                 INT(which));
}

/* ---- elements that move ---- */

/* Dimensions count from the front, where the pairs add none. */
static cq_status wrap(const cq_opcall *c, int64_t *dim, int64_t rank)
{
    if (*dim < -rank || *dim >= rank)
        return cq_call_fail(c, CQ_E_ARGUMENT, "dimension %lld of a tensor that has %lld",
                            (long long)*dim, (long long)rank);
    *dim += *dim < 0 ? rank : 0;
    return CQ_OK;
}

static bool is_new(const cq_op *op) /* its dimension is one of the result */
{
    return strcmp(op->schema->full, "aten::unsqueeze") == 0 ||
           strcmp(op->schema->full, "aten::stack") == 0;
}

/* A list of sizes goes on with that of the pairs, one of an order of dimensions with the last. */
static cq_status wrap_list(cq_opcall *c, const char *name, cq_val *arg, int64_t rank)
{
    bool    order = strcmp(c->op->schema->full, "aten::permute") == 0, dims = strstr(name, "dim");
    cq_val  list  = cq_i64s(c->cx, NULL, 0);
    cq_val *items = arg->kind == CQ_VAL_LIST ? arg->u.list->items : arg;
    size_t  n     = arg->kind == CQ_VAL_LIST ? arg->u.list->n : 1;

    CQ_TRY(c->cx->status);
    for (size_t i = 0; i < n; i++) {
        int64_t dim = items[i].u.i.value;

        if (dims)
            CQ_TRY(wrap(c, &dim, rank));
        CQ_TRY(cq_list_push(list.u.list, dims ? INT(dim) : items[i]));
    }
    if (order)
        CQ_TRY(cq_list_push(list.u.list, INT(rank)));
    else if (!dims)
        CQ_TRY(cq_list_push(list.u.list, INT(strcmp(name, "repeats") == 0 ? 1 : 2)));
    *arg = list;
    return CQ_OK;
}

static cq_status pairs_of_list(cq_opcall *c, cq_val *arg)
{
    cq_val list = cq_tensors(c->cx, NULL, 0);

    CQ_TRY(c->cx->status);
    for (size_t i = 0; i < arg->u.list->n; i++) {
        cq_val item = arg->u.list->items[i];

        if (!is_complex(item))
            return cq_call_fail(c, CQ_E_UNSUPPORTED, "complex tensors beside real ones");
        item = TENSOR(to_pairs(c->cx, item.u.tensor));
        CQ_TRY(c->cx->status);
        CQ_TRY(cq_list_push(list.u.list, item));
    }
    *arg = list;
    return CQ_OK;
}

static cq_status complex_results(cq_opcall *c, cq_val *results)
{
    for (size_t i = 0; i < c->n_results; i++) {
        cq_val list;

        if (results[i].kind != CQ_VAL_LIST) {
            c->results[i] = TENSOR(to_complex(c->cx, results[i].u.tensor));
            continue;
        }
        list = cq_tensors(c->cx, NULL, 0);
        for (size_t k = 0; c->cx->status == CQ_OK && k < results[i].u.list->n; k++)
            CQ_TRY(cq_list_push(list.u.list,
                                TENSOR(to_complex(c->cx, results[i].u.list->items[k].u.tensor))));
        c->results[i] = list;
    }
    return c->cx->status;
}

/* The same operator on the pairs. */
static cq_status on_pairs(cq_opcall *c)
{
    const cq_schema *schema = c->op->schema;
    cq_val           args[CQ_MAX_ARGS], results[CQ_MAX_RESULTS];
    int64_t          rank = 0;

    for (size_t i = 0; i < schema->n_args; i++) {
        const cq_schema_arg *a       = &schema->args[i];
        bool                 is_list = a->type.list_depth && a->type.base != CQ_SCHEMA_TENSOR;

        args[i] = c->args[i];
        if (is_complex(args[i])) {
            rank    = i ? rank : (int64_t)args[i].u.tensor->rank;
            args[i] = TENSOR(to_pairs(c->cx, args[i].u.tensor));
        } else if (a->type.list_depth && i == 0) {
            if (args[i].u.list->n && is_complex(args[i].u.list->items[0]))
                rank = (int64_t)args[i].u.list->items[0].u.tensor->rank;
            CQ_TRY(pairs_of_list(c, &args[i]));
        } else if (is_list && args[i].kind != CQ_VAL_NONE && strncmp(a->name, "split", 5) != 0 &&
                   strcmp(a->name, "shifts") != 0) {
            CQ_TRY(wrap_list(c, a->name, &args[i], rank));
        } else if (strstr(a->name, "dim") && args[i].kind == CQ_VAL_INT) {
            int64_t dim = args[i].u.i.value;

            CQ_TRY(wrap(c, &dim, rank + is_new(c->op)));
            args[i] = INT(dim);
        }
        CQ_TRY(c->cx->status);
    }
    CQ_TRY(cq_op_call(c->cx, c->op, args, schema->n_args, results, c->n_results));
    return complex_results(c, results);
}

/* All dimensions, or those that are given; the dtype is that of the numbers. */
static cq_status reduce(cq_opcall *c)
{
    cq_tensor *x    = c->args[0].u.tensor;
    bool       mean = strncmp(c->op->schema->full, "aten::mean", 10) == 0;
    cq_val     dims = cq_schema_find(c->op->schema, "dim") >= 0 ? cq_arg_val(c, "dim") : CQ_NONE;
    bool       keep = dims.kind != CQ_VAL_NONE && cq_arg_bool(c, "keepdim");

    if (!cq_arg_is_none(c, "dtype") && cq_arg_dtype(c, "dtype", x->dtype) != x->dtype)
        return cq_call_fail(c, CQ_E_UNSUPPORTED, "complex numbers in another dtype");
    if (dims.kind == CQ_VAL_NONE || (dims.kind == CQ_VAL_LIST && !dims.u.list->n)) {
        dims = cq_i64s(c->cx, NULL, 0);
        for (size_t i = 0; c->cx->status == CQ_OK && i < x->rank; i++)
            CQ_TRY(cq_list_push(dims.u.list, INT((int64_t)i)));
    } else {
        CQ_TRY(wrap_list(c, "dim", &dims, (int64_t)x->rank));
    }
    if (!x->rank)
        return done(c, x);
    return done(c, to_complex(c->cx, CQ_OP(c->cx, mean ? "aten::mean.dim" : "aten::sum.dim_IntList",
                                           TENSOR(to_pairs(c->cx, x)), dims, BOOL(keep))));
}

static cq_status where(cq_opcall *c)
{
    cq_tensor *condition = CQ_OP(c->cx, "aten::unsqueeze", c->args[0], INT(-1));

    if (!is_complex(c->args[1]) || !is_complex(c->args[2]))
        return cq_call_fail(c, CQ_E_UNSUPPORTED, "complex numbers beside real ones");
    return done(c, to_complex(c->cx, CQ_OP(c->cx, "aten::where.self", TENSOR(condition),
                                           TENSOR(to_pairs(c->cx, c->args[1].u.tensor)),
                                           TENSOR(to_pairs(c->cx, c->args[2].u.tensor)))));
}

/* ---- arithmetic ---- */

/* An operand beside a complex one: its real or imaginary part. */
static cq_tensor *part_of(cq_opcall *c, cq_val v, int which, cq_dtype real)
{
    cq_ctx *cx = c->cx;

    if (is_complex(v))
        return part(cx, v, which);
    if (v.kind == CQ_VAL_TENSOR)
        return which ? CQ_OP(cx, "aten::zeros_like", TENSOR(v.u.tensor)) : v.u.tensor;
    if (v.kind == CQ_VAL_COMPLEX)
        return CQ_OP(cx, "aten::scalar_tensor", FLOAT(which ? v.u.c.im : v.u.c.re), DTYPE(real));
    return CQ_OP(cx, "aten::scalar_tensor", which ? INT(0) : v, DTYPE(real));
}

static cq_dtype real_dtype(const cq_opcall *c)
{
    return real_of(is_complex(c->args[0]) ? c->args[0].u.tensor->dtype
                                          : c->args[1].u.tensor->dtype);
}

/* a + alpha b, or a - alpha b, each part for itself. */
static cq_status add(cq_opcall *c)
{
    cq_dtype    real  = real_dtype(c);
    cq_val      alpha = cq_arg_val(c, "alpha");
    bool        minus = strncmp(c->op->schema->full, "aten::sub", 9) == 0;
    const char *op    = minus ? "aten::sub.Tensor" : "aten::add.Tensor";
    cq_tensor  *t[2];

    if (alpha.kind == CQ_VAL_COMPLEX)
        return cq_call_fail(c, CQ_E_UNSUPPORTED, "a complex alpha");
    if (is_complex(c->args[0]) && is_complex(c->args[1]))
        return done(c,
                    to_complex(c->cx, CQ_OP(c->cx, op, TENSOR(to_pairs(c->cx, c->args[0].u.tensor)),
                                            TENSOR(to_pairs(c->cx, c->args[1].u.tensor)), alpha)));
    for (int i = 0; i < 2; i++)
        t[i] = CQ_OP(c->cx, op, TENSOR(part_of(c, c->args[0], i, real)),
                     TENSOR(part_of(c, c->args[1], i, real)), alpha);
    return done(c, cq_complex_of(c->cx, t[0], t[1]));
}

/* A complex tensor by a real number, or by a tensor of them. */
static cq_tensor *scaled(cq_ctx *cx, const char *of_tensor, const char *of_number, cq_tensor *x,
                         cq_val by)
{
    if (by.kind != CQ_VAL_TENSOR)
        return to_complex(cx, CQ_OP(cx, of_number, TENSOR(to_pairs(cx, x)), by));
    if (by.u.tensor->rank)
        by = TENSOR(CQ_OP(cx, "aten::unsqueeze", by, INT(-1)));
    return to_complex(cx, CQ_OP(cx, of_tensor, TENSOR(to_pairs(cx, x)), by));
}

static bool is_real(cq_val v)
{
    return !is_complex(v) && v.kind != CQ_VAL_COMPLEX;
}

/* (a + bi)(c + di) = (ac - bd) + (ad + bc)i, of numbers or of matrices. */
static cq_tensor *product(cq_opcall *c, const char *op, cq_tensor *const a[2],
                          cq_tensor *const b[2])
{
    cq_ctx    *cx = c->cx;
    cq_tensor *t[4];

    for (int i = 0; i < 4; i++)
        t[i] = CQ_OP(cx, op, TENSOR(a[i / 2]), TENSOR(b[i % 2]));
    return cq_complex_of(cx, CQ_OP(cx, "aten::sub.Tensor", TENSOR(t[0]), TENSOR(t[3])),
                         CQ_OP(cx, "aten::add.Tensor", TENSOR(t[1]), TENSOR(t[2])));
}

static void parts_of(cq_opcall *c, cq_val v, cq_tensor *out[2])
{
    for (int i = 0; i < 2; i++)
        out[i] = part_of(c, v, i, real_dtype(c));
}

static cq_status mul(cq_opcall *c)
{
    cq_tensor *a[2], *b[2];

    for (int i = 0; i < 2; i++)
        if (is_real(c->args[i]))
            return done(c, scaled(c->cx, "aten::mul.Tensor", "aten::mul.Scalar",
                                  c->args[1 - i].u.tensor, c->args[i]));
    parts_of(c, c->args[0], a);
    parts_of(c, c->args[1], b);
    return done(c, product(c, "aten::mul.Tensor", a, b));
}

static cq_tensor *square_of_size(cq_ctx *cx, cq_tensor *const z[2])
{
    return CQ_OP(cx, "aten::add.Tensor",
                 TENSOR(CQ_OP(cx, "aten::mul.Tensor", TENSOR(z[0]), TENSOR(z[0]))),
                 TENSOR(CQ_OP(cx, "aten::mul.Tensor", TENSOR(z[1]), TENSOR(z[1]))));
}

/* a / b = a conj(b) / |b|^2 */
static cq_status divide(cq_opcall *c)
{
    cq_ctx    *cx = c->cx;
    cq_tensor *a[2], *b[2], *t;

    if (cq_schema_find(c->op->schema, "rounding_mode") >= 0)
        return cq_call_fail(c, CQ_E_TYPE, "complex numbers are not rounded");
    if (is_real(c->args[1]))
        return done(
            c, scaled(cx, "aten::div.Tensor", "aten::div.Scalar", c->args[0].u.tensor, c->args[1]));
    parts_of(c, c->args[0], a);
    parts_of(c, c->args[1], b);
    t    = square_of_size(cx, b);
    b[1] = CQ_OP(cx, "aten::neg", TENSOR(b[1]));
    return done(
        c, scaled(cx, "aten::div.Tensor", NULL, product(c, "aten::mul.Tensor", a, b), TENSOR(t)));
}

/* ---- functions ---- */

static cq_status real(cq_opcall *c)
{
    return done(c, part(c->cx, c->args[0], 0));
}

static cq_status imaginary(cq_opcall *c)
{
    return done(c, part(c->cx, c->args[0], 1));
}

/* Among each other: the other precision. To real numbers: the real part, as in PyTorch. */
static cq_status cast(cq_opcall *c)
{
    cq_tensor *x     = c->args[0].u.tensor;
    cq_dtype   dtype = cq_arg_dtype(c, "dtype", x->dtype);

    if (!cq_dtype_is_complex(dtype))
        return done(
            c, CQ_OP(c->cx, "aten::to.dtype", TENSOR(part(c->cx, c->args[0], 0)), DTYPE(dtype)));
    if (!cq_dtype_is_complex(x->dtype)) {
        x = CQ_OP(c->cx, "aten::to.dtype", TENSOR(x), DTYPE(real_of(dtype)));
        return done(c, cq_complex_of(c->cx, x, CQ_OP(c->cx, "aten::zeros_like", TENSOR(x))));
    }
    if (dtype == x->dtype)
        return done(c, x);
    return done(c, to_complex(c->cx, CQ_OP(c->cx, "aten::to.dtype", TENSOR(to_pairs(c->cx, x)),
                                           DTYPE(real_of(dtype)))));
}

/* ---- the rules, in order of their names ---- */

static const struct {
    const char      *op;
    cq_complex_rule *rule;
} rules[] = {
    { "aten::_unsafe_view", on_pairs },
    { "aten::add.Scalar", add },
    { "aten::add.Tensor", add },
    { "aten::addbmm", cq_op_compose },
    { "aten::addmv", cq_op_compose },
    { "aten::addr", cq_op_compose },
    { "aten::alias", on_pairs },
    { "aten::block_diag", cq_op_compose },
    { "aten::cartesian_prod", cq_op_compose },
    { "aten::cat", on_pairs },
    { "aten::chalf", cq_op_compose },
    { "aten::channel_shuffle", cq_op_compose },
    { "aten::clone", on_pairs },
    { "aten::column_stack", cq_op_compose },
    { "aten::combinations", cq_op_compose },
    { "aten::contiguous", on_pairs },
    { "aten::cross", cq_op_compose },
    { "aten::cumsum", on_pairs },
    { "aten::cumulative_trapezoid.dx", cq_op_compose },
    { "aten::cumulative_trapezoid.x", cq_op_compose },
    { "aten::detach", on_pairs },
    { "aten::diagflat", cq_op_compose },
    { "aten::diagonal_scatter", on_pairs },
    { "aten::diff", cq_op_compose },
    { "aten::div.Scalar", divide },
    { "aten::div.Tensor", divide },
    { "aten::dstack", cq_op_compose },
    { "aten::einsum", cq_op_compose },
    { "aten::expand", on_pairs },
    { "aten::flatten.using_ints", on_pairs },
    { "aten::flip", on_pairs },
    { "aten::fliplr", cq_op_compose },
    { "aten::flipud", cq_op_compose },
    { "aten::gradient.scalarint", cq_op_compose },
    { "aten::gradient.tensorarray", cq_op_compose },
    { "aten::hstack", cq_op_compose },
    { "aten::imag", imaginary },
    { "aten::index.Tensor", on_pairs },
    { "aten::index_select", on_pairs },
    { "aten::inner", cq_op_compose },
    { "aten::kron", cq_op_compose },
    { "aten::linalg_cross", cq_op_compose },
    { "aten::linalg_matrix_power", cq_op_compose },
    { "aten::linalg_multi_dot", cq_op_compose },
    { "aten::mean", reduce },
    { "aten::mean.dim", reduce },
    { "aten::mul.Scalar", mul },
    { "aten::mul.Tensor", mul },
    { "aten::neg", on_pairs },
    { "aten::outer", cq_op_compose },
    { "aten::pad", cq_op_compose },
    { "aten::permute", on_pairs },
    { "aten::pixel_shuffle", cq_op_compose },
    { "aten::pixel_unshuffle", cq_op_compose },
    { "aten::real", real },
    { "aten::repeat", on_pairs },
    { "aten::repeat_interleave.self_int", cq_op_compose },
    { "aten::reshape", on_pairs },
    { "aten::roll", on_pairs },
    { "aten::rot90", cq_op_compose },
    { "aten::select.int", on_pairs },
    { "aten::select_scatter", on_pairs },
    { "aten::slice.Tensor", on_pairs },
    { "aten::slice_scatter", on_pairs },
    { "aten::split", on_pairs },
    { "aten::split.Tensor", on_pairs },
    { "aten::split.sizes", on_pairs },
    { "aten::split_with_sizes", on_pairs },
    { "aten::squeeze", on_pairs },
    { "aten::squeeze.dim", on_pairs },
    { "aten::stack", on_pairs },
    { "aten::sub.Scalar", add },
    { "aten::sub.Tensor", add },
    { "aten::sum", reduce },
    { "aten::sum.dim_IntList", reduce },
    { "aten::sum_to_size", cq_op_compose },
    { "aten::take_along_dim", cq_op_compose },
    { "aten::tensordot", cq_op_compose },
    { "aten::tile", cq_op_compose },
    { "aten::to.dtype", cast },
    { "aten::transpose.int", on_pairs },
    { "aten::trapezoid.dx", cq_op_compose },
    { "aten::trapezoid.x", cq_op_compose },
    { "aten::trapz.dx", cq_op_compose },
    { "aten::trapz.x", cq_op_compose },
    { "aten::unbind.int", on_pairs },
    { "aten::unsqueeze", on_pairs },
    { "aten::view", on_pairs },
    { "aten::vstack", cq_op_compose },
    { "aten::where.self", where },
};

static int compare(const void *name, const void *rule)
{
    return strcmp(name, *(const char *const *)rule);
}

cq_complex_rule *cq_complex_rule_of(const cq_op *op)
{
    size_t      n     = sizeof rules / sizeof *rules;
    const void *found = bsearch(op->schema->full, rules, n, sizeof *rules, compare);

    if (!found)
        return cq_complex_text_of(op);
    n = (size_t)((const char *)found - (const char *)rules) / sizeof *rules;
    return rules[n].rule == cq_op_compose && !cq_op_is_composed(op) ? NULL : rules[n].rule;
}

bool cq_takes_complex(const cq_op *op)
{
    const cq_op_def *def = op->def;

    return def->view || (def->flags & CQ_OP_HOST) ||
           (cq_op_is_composed(op) && (def->flags & CQ_OP_PARTS));
}

const cq_op_def cq_ops_complex[] = {
    { .schema = "aten::view_as_real(Tensor(a) self) -> Tensor(a)",
      .about  = "complex numbers as pairs of real ones",
      .view   = real_view,
      .unview = real_unview },
    { .schema = "aten::view_as_complex(Tensor(a) self) -> Tensor(a)",
      .about  = "pairs of real numbers as complex ones",
      .view   = complex_view,
      .unview = complex_unview },
    { .schema = "aten::complex(Tensor real, Tensor imag) -> Tensor",
      .about  = "complex numbers of these parts",
      .body   = "assert real.dtype == imag.dtype, 'both parts should be of one dtype'\n"
                "return view_as_complex(stack(broadcast_tensors([real, imag]), -1))",
      .flags  = CQ_OP_PARTS },
    { .schema = "aten::polar(Tensor abs, Tensor angle) -> Tensor",
      .about  = "complex numbers of this size and angle",
      .body   = "view_as_complex(stack([abs * angle.cos(), abs * angle.sin()], -1))",
      .flags  = CQ_OP_PARTS },
    { .schema = "aten::imag(Tensor(a) self) -> Tensor(a)",
      .about  = "the imaginary parts of complex numbers",
      .body   = "raise TypeError('wants complex numbers, not {dtype_name(self.dtype)}')",
      .flags  = CQ_OP_PARTS },
    { 0 }
};
