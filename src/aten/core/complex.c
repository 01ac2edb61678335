/* Complex tensors. A complex tensor is viewed as pairs of real numbers along an additional last
 * dimension: a complex rule defines an operator in terms of operators on the pairs. Kernels,
 * gradients and ONNX, which hardly supports complex numbers, see real tensors only; view_as_complex
 * and view_as_real between two operators cancel.
 *
 * Fourier transforms, the main source of complex tensors, are in fft.c. */
#include "aten/core/body.h"
#include "aten/core/complex.h"
#include "aten/ops/geometry.h"
#include "tensor/convert.h"

#include <stdlib.h>

/* The complex dtype of pairs of a real dtype, or CQ_DTYPE_NONE. */
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

/* ---- views between complex numbers and pairs ---- */

static cq_status view_as(cq_opcall *c, cq_dtype dtype, const cq_geometry *g)
{
    cq_tensor *view = NULL;

    CQ_TRY(cq_tensor_new_view(&view, c->args[0].u.tensor, dtype, g->rank, g->sizes, g->strides,
                              g->offset));
    return cq_result_set_tensor(c, 0, cq_ctx_own_tensor(c->cx, view));
}

static cq_status real_view(cq_opcall *c)
{
    cq_tensor  *x = c->args[0].u.tensor;
    cq_geometry g = cq_geometry_of(x);

    if (!cq_dtype_is_complex(x->dtype))
        return cq_call_fail(c, CQ_E_TYPE, "expected complex numbers, got %s",
                            cq_dtype_name(x->dtype));
    if (x->rank == CQ_MAX_RANK)
        return cq_call_fail(c, CQ_E_UNSUPPORTED, "a tensor has at most %d dimensions", CQ_MAX_RANK);
    g.offset *= 2;
    for (size_t i = 0; i < g.rank; i++)
        g.strides[i] *= 2;
    cq_geometry_insert(&g, g.rank, cq_i(2), 1);
    return view_as(c, cq_dtype_part(x->dtype), &g);
}

/* Whether the two numbers of each pair are adjacent, as in a complex number. */
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
        return cq_call_fail(c, CQ_E_TYPE, "expected float16, float32 or float64, got %s",
                            cq_dtype_name(x->dtype));
    if (!x->rank || x->sizes[x->rank - 1].value != 2)
        return cq_call_fail(c, CQ_E_TYPE, "expected a last dimension of size 2");
    if (!is_paired(x))
        return cq_call_fail(c, CQ_E_ARGUMENT,
                            "expected the two numbers of a pair beside each other in memory");
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

static bool is_new(const cq_op *op) /* dim refers to a dimension of the result */
{
    return strcmp(op->schema->full, "aten::unsqueeze") == 0 ||
           strcmp(op->schema->full, "aten::stack") == 0;
}

/* A list of sizes gets the size of the pairs, a list of dimensions the last dimension. */
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

static cq_status by_function(cq_opcall *c)
{
    return cq_body_run(c->op->complex, c);
}

cq_complex_rule *cq_complex_rule_of(const cq_op *op)
{
    if (op->complex)
        return by_function;
    if (op->def->flags & CQ_OP_COMPLEX)
        return cq_op_compose;
    return op->traits.complex_pairs ? on_pairs : NULL;
}

bool cq_takes_complex(const cq_op *op)
{
    const cq_op_def *def = op->def;

    return def->view || (def->flags & CQ_OP_HOST) ||
           (cq_op_is_composed(op) && (def->flags & CQ_OP_PARTS));
}

const cq_op_def cq_ops_complex[] = {
    CQ_VIEW("aten::view_as_real(Tensor(a) self) -> Tensor(a)",
            "complex numbers as pairs of real ones", real_view),
    CQ_VIEW("aten::view_as_complex(Tensor(a) self) -> Tensor(a)",
            "pairs of real numbers as complex ones", complex_view),
    { 0 },
};
