/* Factors and solutions of matrices whose size is dynamic. The bodies of the operators write one
 * step for each row, so they need a fixed size; here the steps are a loop in TorchScript, which the
 * evaluator keeps as a Loop of the graph. */
#include "pt2/run.h"

#include <stdio.h>

/* As eliminated, solved, by_factor and linalg_cholesky in src/aten. */
static const char text[] =
    "def eliminated(m, n: int, k: int):\n"
    "    rows = torch.arange(n)\n"
    "    for i in range(n):\n"
    "        at = m.select(-1, i).abs().masked_fill(rows < i, -1.).argmax(-1, True)\n"
    "        chosen = (rows == at).unsqueeze(-1)\n"
    "        pivot = torch.where(chosen, m, torch.zeros_like(m)).sum([-2], True)\n"
    "        m = torch.where(chosen, m.select(-2, i).unsqueeze(-2), m)\n"
    "        pivot = pivot / pivot.select(-1, i).unsqueeze(-1)\n"
    "        rest = m - m.select(-1, i).unsqueeze(-1) * pivot\n"
    "        m = torch.where((rows == i).unsqueeze(-1), pivot, rest)\n"
    "    return m.narrow(-1, n, k)\n"
    "\n"
    "def solved(a, b):\n"
    "    batch = torch.zeros_like(a.slice(-1, 0, 1).slice(-2, 0, 1))\n"
    "    batch = batch + torch.zeros_like(b.slice(-1, 0, 1).slice(-2, 0, 1))\n"
    "    return eliminated(torch.cat([a + batch, b + batch], -1), a.size(-1), b.size(-1))\n"
    "\n"
    "def solve(a, b, left: bool, vector: bool):\n"
    "    if vector:\n"
    "        return solved(a, b.unsqueeze(-1)).select(-1, 0)\n"
    "    if left:\n"
    "        return solved(a, b)\n"
    "    return solved(a.transpose(-2, -1), b.transpose(-2, -1)).transpose(-2, -1)\n"
    "\n"
    "def triangle(a, upper: bool, ones: bool):\n"
    "    t = torch.triu(a, 1 if ones else 0) if upper else torch.tril(a, -1 if ones else 0)\n"
    "    return t + torch.eye(a.size(-1), dtype=a.dtype) if ones else t\n"
    "\n"
    "def solve_triangular(a, b, upper: bool, left: bool, ones: bool):\n"
    "    return solve(triangle(a, upper, ones), b, left, False)\n"
    "\n"
    "def inverse(a):\n"
    "    return solved(a, torch.eye(a.size(-1), dtype=a.dtype))\n"
    "\n"
    "def cholesky(a, upper: bool):\n"
    "    n = a.size(-1)\n"
    "    columns = torch.arange(n)\n"
    "    rows = columns.unsqueeze(-1)\n"
    "    a = a.transpose(-2, -1) if upper else a\n"
    "    factor = torch.zeros_like(a)\n"
    "    for i in range(n):\n"
    "        t = a.select(-1, i).unsqueeze(-1)\n"
    "        t = torch.where(rows >= i, t / t.select(-2, i).unsqueeze(-2).sqrt(),\n"
    "                        torch.zeros_like(t))\n"
    "        a = a - t * t.transpose(-2, -1)\n"
    "        factor = torch.where(columns == i, t, factor)\n"
    "    return factor.transpose(-2, -1) if upper else factor\n"
    "\n"
    "def by_factor(b, factor, upper: bool):\n"
    "    low = triangle(factor, upper, False)\n"
    "    low = low.transpose(-2, -1) if upper else low\n"
    "    return solved(low.transpose(-2, -1), solved(low, b))\n"
    "\n"
    "def inverse_by_factor(factor, upper: bool):\n"
    "    return by_factor(torch.eye(factor.size(-1), dtype=factor.dtype), factor, upper)\n";

enum { MAX_PARAMETERS = 5 };

static const struct row {
    const char *op, *function;
    size_t      matrix;                     /* which parameter it is */
    const char *parameters[MAX_PARAMETERS]; /* by name; truths that are not given are the last's */
    bool        defaults[MAX_PARAMETERS];
} rows[] = {
    { "aten::linalg_cholesky", "cholesky", 0, { "self", "upper" }, { 0 } },
    { "aten::linalg_cholesky_ex", "cholesky", 0, { "self", "upper" }, { 0 } },
    { "aten::cholesky", "cholesky", 0, { "self", "upper" }, { 0 } },
    { "aten::cholesky_solve", "by_factor", 1, { "self", "input2", "upper" }, { 0 } },
    { "aten::cholesky_inverse", "inverse_by_factor", 0, { "self", "upper" }, { 0 } },
    { "aten::linalg_inv", "inverse", 0, { "A" }, { 0 } },
    { "aten::linalg_inv_ex", "inverse", 0, { "A" }, { 0 } },
    { "aten::inverse", "inverse", 0, { "self" }, { 0 } },
    { "aten::linalg_solve", "solve", 0, { "A", "B", "left", "vector" }, { 0, 0, 1, 0 } },
    { "aten::linalg_solve_ex", "solve", 0, { "A", "B", "left", "vector" }, { 0, 0, 1, 0 } },
    { "aten::_linalg_solve_ex", "solve", 0, { "A", "B", "left", "vector" }, { 0, 0, 1, 0 } },
    { "aten::linalg_solve_triangular",
      "solve_triangular",
      0,
      { "self", "B", "upper", "left", "unitriangular" },
      { 0, 0, 0, 1, 0 } },
};

static bool is_dynamic(cq_val v)
{
    const cq_tensor *t = v.kind == CQ_VAL_TENSOR ? v.u.tensor : NULL;

    return t && t->rank >= 2 && t->sizes[t->rank - 1].expr;
}

/* Whether the right side is a vector for each matrix, as PyTorch decides it. */
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

/* Only the first result, and states that are zeros, are made here. */
static bool uses_others(const cq_pt2_run *r, const cq_pt2_node *n, size_t *n_results)
{
    const uint32_t at = (uint32_t)(n - r->graph->nodes);

    *n_results = n->n_outputs;
    for (size_t i = 1; i < n->n_outputs; i++)
        if (n->outputs[i].kind == CQ_PT2_SLOT && r->graph->last_use[n->outputs[i].u.slot] != at &&
            i + 1 < n->n_outputs)
            return true;
    return false;
}

static cq_status call_function(cq_pt2_run *r, const char *function, const cq_val *args, size_t n,
                               cq_val *out)
{
    uintptr_t number = (uintptr_t)cq_map_get(&r->loops, "matrices");
    char      name[64];

    if (!number) {
        CQ_TRY(cq_program_add_definitions(r->ev->program, "<matrices>", text, sizeof text - 1));
        number = r->ev->program->n_definitions;
        CQ_TRY(cq_map_set(&r->loops, "matrices", (void *)number));
    }
    snprintf(name, sizeof name, CQ_DEFINITIONS "%zu.%s", (size_t)number - 1, function);
    return cq_pt2_call_text(r, name, args, n, out);
}

static cq_status call_row(cq_pt2_run *r, const struct row *row, const cq_val *args, size_t n,
                          size_t n_results, cq_val *out)
{
    cq_val info, results[4];

    CQ_TRY(call_function(r, row->function, args, n, out));
    if (n_results < 2)
        return CQ_OK;
    info = cq_val_of_tensor(CQ_OP(r->ev->cx, "aten::zeros_like",
                                  TENSOR(CQ_OP(r->ev->cx, "aten::select.int",
                                               TENSOR(CQ_OP(r->ev->cx, "aten::select.int",
                                                            args[row->matrix], INT(-1), INT(0))),
                                               INT(-1), INT(0))),
                                  DTYPE(CQ_DTYPE_I32)));
    CQ_TRY(r->ev->cx->status);
    for (size_t i = 0; i < 4; i++)
        results[i] = i ? info : *out;
    return cq_eval_list(r->ev, results, n_results, CQ_VAL_TUPLE, out);
}

cq_status cq_pt2_matrices(cq_pt2_run *r, const cq_pt2_node *n, const cq_pt2_operands *o,
                          cq_val *out, bool *done)
{
    const struct row *row = NULL;
    cq_val            args[MAX_PARAMETERS];
    size_t            n_args = 0, n_results;

    *done = false;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(n->op, rows[i].op) == 0)
            row = &rows[i];
    if (!row)
        return CQ_OK;
    for (; n_args < MAX_PARAMETERS && row->parameters[n_args]; n_args++) {
        args[n_args] = cq_val_of_bool(row->defaults[n_args]);
        for (size_t k = 0; k < o->n; k++)
            if (strcmp(o->names[k], row->parameters[n_args]) == 0)
                args[n_args] = o->args[k];
    }
    if (!is_dynamic(args[row->matrix]) || uses_others(r, n, &n_results) || n_results > 4)
        return CQ_OK;
    if (strcmp(row->function, "solve") == 0) {
        if (args[1].kind != CQ_VAL_TENSOR)
            return CQ_OK;
        args[3] = cq_val_of_bool(is_vector(args[0].u.tensor, args[1].u.tensor));
    }
    *done = true;
    return call_row(r, row, args, n_args, n_results, out);
}
