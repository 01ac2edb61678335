/* Shape rules and the kernel call of element-by-element operators. */
#include "aten/ops/elementwise.h"

#include "tensor/convert.h"

static size_t n_operands(const cq_opcall *c)
{
    return (size_t)cq_ew_operands((cq_ew_op)c->op->def->variant);
}

cq_status cq_broadcast_vals(cq_opcall *c, size_t *rank, cq_int *sizes, const cq_val *vals, size_t n)
{
    cq_int so_far[CQ_MAX_RANK];

    *rank = 0;
    for (size_t i = 0; i < n; i++) {
        if (vals[i].kind != CQ_VAL_TENSOR)
            continue;
        memcpy(so_far, sizes, *rank * sizeof *sizes);
        CQ_TRY(cq_broadcast(c, rank, sizes, *rank, so_far, vals[i].u.tensor->rank,
                            vals[i].u.tensor->sizes));
    }
    return CQ_OK;
}

/* PyTorch rejects a floating-point alpha for integers. */
static cq_status check_alpha(const cq_opcall *c, cq_dtype dtype)
{
    int at = cq_schema_find(c->op->schema, "alpha");

    if (at < 0 || c->args[at].kind != CQ_VAL_FLOAT || cq_dtype_is_float(dtype))
        return CQ_OK;
    return cq_call_fail(c, CQ_E_TYPE, "alpha must not be a float for %s tensors",
                        cq_dtype_name(dtype));
}

static cq_status shape(cq_opcall *c, cq_dtype dtype)
{
    cq_int sizes[CQ_MAX_RANK];
    size_t rank;

    CQ_TRY(cq_broadcast_vals(c, &rank, sizes, c->args, n_operands(c)));
    return cq_result(c, 0, dtype, rank, sizes);
}

cq_status cq_shape_of_operands(cq_opcall *c)
{
    cq_dtype dtype = cq_result_type(c->cx->default_float, c->args, n_operands(c));

    CQ_TRY(check_alpha(c, dtype));
    return shape(c, dtype);
}

cq_status cq_shape_of_operands_in_float(cq_opcall *c)
{
    return shape(c,
                 cq_float_of(c->cx, cq_result_type(c->cx->default_float, c->args, n_operands(c))));
}

cq_status cq_shape_of_operands_in_bool(cq_opcall *c)
{
    return shape(c, CQ_DTYPE_BOOL);
}

cq_tensor *cq_operand_tensor(cq_opcall *c, cq_val v, cq_dtype dtype)
{
    cq_tensor *t = NULL;
    cq_status  status;

    if (v.kind == CQ_VAL_TENSOR)
        return v.u.tensor;
    if (c->cx->status != CQ_OK)
        return NULL;
    status = cq_tensor_new_uninit(&t, dtype, 0, NULL);
    if (status == CQ_OK) {
        t = cq_ctx_own_tensor(c->cx, t);
        if (t && v.kind == CQ_VAL_FLOAT)
            status = cq_kernel_fill_f64(t, v.u.f.value);
        else if (t)
            status = cq_kernel_fill_i64(t, v.kind == CQ_VAL_BOOL ? v.u.b.value : v.u.i.value);
    }
    cq_ctx_fail(c->cx, status);
    return c->cx->status == CQ_OK ? t : NULL;
}

/* Reads the numbers after the operands. */
static void read_params(const cq_opcall *c, cq_params *p)
{
    double *reals[] = { &p->a, &p->b, &p->c };
    size_t  k       = 0;

    for (size_t i = n_operands(c); i < c->op->schema->n_args && k < 3; i++, k++) {
        const cq_val *v = &c->args[i];
        int64_t       whole;

        if (v->kind != CQ_VAL_INT && v->kind != CQ_VAL_FLOAT && v->kind != CQ_VAL_BOOL)
            break;
        whole     = v->kind == CQ_VAL_INT    ? v->u.i.value
                    : v->kind == CQ_VAL_BOOL ? v->u.b.value
                                             : cq_f64_to_i64(v->u.f.value);
        *reals[k] = v->kind == CQ_VAL_FLOAT ? v->u.f.value : (double)whole;
        if (k < 2)
            *(k ? &p->ib : &p->ia) = whole;
    }
}

cq_status cq_run_elementwise(cq_opcall *c)
{
    cq_ew_op   op  = (cq_ew_op)c->op->def->variant;
    size_t     n   = n_operands(c);
    cq_tensor *out = cq_result_tensor(c, 0), *in[3] = { NULL, NULL, NULL };
    cq_dtype   compute =
        out->dtype == CQ_DTYPE_BOOL ? cq_result_type(c->cx->default_float, c->args, n) : out->dtype;
    cq_params params = { .a = 1, .ia = 1 };

    read_params(c, &params);
    for (size_t i = 0; i < n; i++)
        in[i] = cq_operand_tensor(c, c->args[i], compute);
    CQ_TRY(c->cx->status);
    return n == 1   ? cq_apply1(out, op, &params, compute, in[0])
           : n == 2 ? cq_apply2(out, op, &params, compute, in[0], in[1])
                    : cq_apply3(out, op, &params, compute, in[0], in[1], in[2]);
}
