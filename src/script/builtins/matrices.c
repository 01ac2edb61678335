/* Factorizations and solvers of matrices whose size is dynamic. The composed operators unroll one
 * step per row, so they need a fixed size. lib/torch/dynamic_matrices.py has the steps as a loop,
 * which the evaluator keeps as a Loop of the graph. One of the resolvers (resolve.c). */
#include "script/call.h"

#include <stdio.h>

enum { MAX_PARAMETERS = 5 };

static const struct row {
    const char *op, *function;
    size_t      matrix;                     /* the index of the matrix parameter */
    const char *parameters[MAX_PARAMETERS]; /* of the function; names of the schema */
} rows[] = {
    { "aten::linalg_cholesky", "cholesky", 0, { "self", "upper" } },
    { "aten::linalg_cholesky_ex", "cholesky_ex", 0, { "self", "upper" } },
    { "aten::cholesky", "cholesky", 0, { "self", "upper" } },
    { "aten::cholesky_solve", "by_factor", 1, { "self", "input2", "upper" } },
    { "aten::cholesky_inverse", "inverse_by_factor", 0, { "self", "upper" } },
    { "aten::linalg_inv", "inverse", 0, { "A" } },
    { "aten::linalg_inv_ex", "inverse_ex", 0, { "A" } },
    { "aten::inverse", "inverse", 0, { "self" } },
    { "aten::linalg_solve", "solve", 0, { "A", "B", "left", "vector" } },
    { "aten::linalg_solve_ex", "solve_ex", 0, { "A", "B", "left", "vector" } },
    { "aten::_linalg_solve_ex", "solve_and_factors", 0, { "A", "B", "left", "vector" } },
    { "aten::linalg_solve_triangular",
      "solve_triangular",
      0,
      { "self", "B", "upper", "left", "unitriangular" } },
    { "aten::triangular_solve",
      "triangular_solve",
      1,
      { "self", "A", "upper", "transpose", "unitriangular" } },
    { "aten::linalg_lu", "lu", 0, { "A", "pivot" } },
    { "aten::linalg_lu_factor", "lu_factor", 0, { "A", "pivot" } },
    { "aten::linalg_lu_factor_ex", "lu_factor_ex", 0, { "A", "pivot" } },
    { "aten::_lu_with_info", "lu_factor_ex", 0, { "self", "pivot" } },
    { "aten::lu_unpack",
      "lu_unpack",
      0,
      { "LU_data", "LU_pivots", "unpack_data", "unpack_pivots" } },
    { "aten::linalg_lu_solve", "lu_solve", 1, { "B", "LU", "pivots", "left", "adjoint" } },
    { "aten::lu_solve", "lu_solve", 1, { "self", "LU_data", "LU_pivots", "left", "adjoint" } },
    { "aten::geqrf", "reflectors", 0, { "self" } },
    { "aten::linalg_qr", "qr", 0, { "A", "mode" } },
    { "aten::linalg_householder_product", "product_of_reflectors", 0, { "input", "tau" } },
    { "aten::orgqr", "product_of_reflectors", 0, { "self", "input2" } },
    { "aten::ormqr", "ormqr", 0, { "self", "input2", "input3", "left", "transpose" } },
};

/* Only real matrices of dynamic size use loops; complex matrices keep the composed operators. */
static bool is_dynamic(cq_val v)
{
    const cq_tensor *t = v.kind == CQ_VAL_TENSOR ? v.u.tensor : NULL;

    return t && t->rank >= 2 && !cq_dtype_is_complex(t->dtype) &&
           (t->sizes[t->rank - 1].expr || t->sizes[t->rank - 2].expr);
}

/* Whether the right side holds a vector per matrix instead of a matrix, by PyTorch's rule. */
static bool is_vector(const cq_tensor *a, const cq_tensor *b)
{
    if (b->rank == 1)
        return true;
    if (b->rank + 1 != a->rank)
        return false;
    for (size_t i = 0; i < b->rank; i++)
        if (b->sizes[i].value != a->sizes[i].value)
            return false;
    return true;
}

static const struct row *find_row(const char *name)
{
    const size_t len = strcspn(name, ".");

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strlen(rows[i].op) == len && strncmp(rows[i].op, name, len) == 0)
            return &rows[i];
    return NULL;
}

/* The default value of a parameter that neither the call nor the schema lists. */
static cq_val default_of(const cq_schema *schema, int at, const char *parameter)
{
    if (at >= 0 && schema->args[at].has_default)
        return schema->args[at].default_value;
    return cq_val_of_bool(strcmp(parameter, "left") == 0);
}

/* Collects the arguments of the row's function; returns their number. */
static size_t find_args(const cq_fncall *c, const struct row *row, cq_val *args)
{
    const cq_op *op = cq_op_find(row->op);
    size_t       n  = 0;

    for (; op && n < MAX_PARAMETERS && row->parameters[n]; n++) {
        const int at = cq_schema_find(op->schema, row->parameters[n]);
        /* The pseudo-parameter "vector" is in no schema, and the schema of lu_solve lacks some
         * parameters. */
        const cq_val *given = cq_fncall_find(c, at < 0 ? SIZE_MAX : (size_t)at, row->parameters[n]);

        args[n] = given ? *given : default_of(op->schema, at, row->parameters[n]);
    }
    return n;
}

/* The loops depend on sizes, not on the example, so tracing keeps them too. */
static cq_status call_function(cq_fncall *c, const char *function, const cq_val *args, size_t n)
{
    const bool tracing = c->ev->tracing;
    char       name[64];
    cq_val     callee;
    cq_status  status;

    snprintf(name, sizeof name, CQ_MATRICES ".%s", function);
    CQ_TRY(cq_program_find(c->ev->program, name, &callee));
    c->ev->tracing = false;
    status         = cq_eval_call(c->ev, callee, args, n, &c->result);
    c->ev->tracing = tracing;
    return status;
}

cq_status cq_resolve_matrices(cq_fncall *c)
{
    const struct row *row = c->ev->capture ? find_row(c->name) : NULL;
    cq_val            args[MAX_PARAMETERS];
    size_t            n;

    if (!row)
        return cq_fncall_decline(c);
    n = find_args(c, row, args);
    if (n <= row->matrix || !is_dynamic(args[row->matrix]))
        return cq_fncall_decline(c);
    if (n == 4 && strcmp(row->parameters[3], "vector") == 0) {
        if (args[1].kind != CQ_VAL_TENSOR)
            return cq_fncall_decline(c);
        args[3] = cq_val_of_bool(is_vector(args[0].u.tensor, args[1].u.tensor));
    }
    return call_function(c, row->function, args, n);
}
