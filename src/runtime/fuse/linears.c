/* Fuses products by constant matrices with their bias and activation, and packs the matrix once.
 * All inputs except the left operand are constant, so the fused step can replace the product in its
 * position. */
#include "runtime/fuse/patterns.h"

#include "runtime/kernels/gelu.h"
#include "runtime/kernels/linear.h"
#include "runtime/kernels/recurrent.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static cq_rt_node_value *take(cq_rt_node_step *s)
{
    s->is_gone = true;
    return s->out[0];
}

/* ---- bias and activation ---- */

/* Matches y + bias, where bias has an element per column. */
static cq_status take_bias(cq_rt_node_value **y, cq_rt_linear *l)
{
    cq_rt_node_step *s = (*y)->n_uses == 1 ? (*y)->readers[0] : NULL;
    const cq_tensor *t;
    int              at;

    if (l->bias || !s || !cq_rt_is_op(s, "Add") || (at = cq_rt_place_of(s, *y)) < 0)
        return CQ_OK;
    t = cq_rt_constant_of(s, (uint32_t)(1 - at));
    if (!t || t->rank != 1 || cq_size_of(t, 0) != l->n)
        return CQ_OK;
    l->bias = cq_alloc_array((size_t)l->n, sizeof *l->bias);
    if (!l->bias)
        return CQ_E_NO_MEMORY;
    for (int64_t i = 0; i < l->n; i++)
        l->bias[i] = (float)cq_tensor_get_f64(t, i);
    *y = take(s);
    return CQ_OK;
}

static const char *take_activation(cq_rt_node_value **y, cq_rt_linear *l)
{
    static const struct {
        const char *op;
        cq_ew_op    act;
    } acts[]           = { { "Sigmoid", CQ_EW_SIGMOID },
                           { "Tanh", CQ_EW_TANH },
                           { "HardSwish", CQ_EW_HARDSWISH } };
    cq_rt_node_step *s = (*y)->n_uses == 1 ? (*y)->readers[0] : NULL;

    if (s && s->step.row == &cq_rt_row_gelu) {
        l->activates = true;
        l->act       = *(const cq_ew_op *)s->step.prepared;
        *y           = take(s);
        return "Gelu";
    }
    if (s && cq_rt_is_op(s, "Relu")) {
        l->clamps = true;
        l->lo     = 0;
        l->hi     = INFINITY;
        *y        = take(s);
        return "Relu";
    }
    for (size_t i = 0; s && i < sizeof acts / sizeof *acts; i++)
        if (cq_rt_is_op(s, acts[i].op)) {
            l->activates = true;
            l->act       = acts[i].act;
            *y           = take(s);
            return acts[i].op;
        }
    return NULL;
}

/* ---- products ---- */

/* Reads beta * C of a Gemm, if C is a vector with one element per column or a single number. */
static cq_status gemm_bias(cq_rt_linear *l, const cq_rt_node_step *s, double beta, bool *fits)
{
    const cq_tensor *c = cq_rt_constant_of(s, 2);

    *fits = s->step.n_in < 3 || !s->in[2];
    if (*fits || !c || c->rank > 2 ||
        (cq_tensor_numel(c) != 1 &&
         (cq_tensor_numel(c) != l->n || !c->rank || cq_size_of(c, c->rank - 1) != l->n)))
        return CQ_OK;
    l->bias = cq_alloc_array((size_t)l->n, sizeof *l->bias);
    if (!l->bias)
        return CQ_E_NO_MEMORY;
    for (int64_t i = 0; i < l->n; i++)
        l->bias[i] = (float)(beta * cq_tensor_get_f64(c, cq_tensor_numel(c) == 1 ? 0 : i));
    *fits = true;
    return CQ_OK;
}

/* Matches a product whose matrix can be packed; *out is NULL for other steps. */
static cq_status linear_of(cq_rt_linear **out, const cq_rt_node_step *s)
{
    cq_tensor *b    = cq_rt_constant_of(s, 1);
    bool       gemm = cq_rt_is_op(s, "Gemm"), fits = true;
    cq_rt      rt = { .step = &s->step };
    cq_status  status;

    *out = NULL;
    if ((!gemm && !cq_rt_is_op(s, "MatMul")) || !b || b->rank != 2 || !cq_tensor_numel(b) ||
        !s->out[0])
        return CQ_OK;
    if (gemm && (cq_rt_int(&rt, "transA") || cq_rt_float(&rt, "alpha") != 1))
        return CQ_OK;
    CQ_TRY(cq_rt_linear_new(out, b, gemm && cq_rt_int(&rt, "transB")));
    (*out)->is_matrix = gemm;
    status            = gemm ? gemm_bias(*out, s, cq_rt_float(&rt, "beta"), &fits) : CQ_OK;
    if (status != CQ_OK || !fits) {
        cq_rt_linear_free(*out);
        *out = NULL;
    }
    return status;
}

static cq_status rewrite(cq_rt_builder *b, cq_rt_plan *plan, cq_rt_node_step *s)
{
    cq_rt_node_value *y = s->out[0];
    cq_rt_linear     *l;
    const char       *act;
    char              label[64];

    CQ_TRY(linear_of(&l, s));
    if (!l)
        return CQ_OK;
    CQ_TRY(cq_rt_own(b, plan, l, cq_rt_linear_free));
    CQ_TRY(take_bias(&y, l));
    act = take_activation(&y, l);
    snprintf(label, sizeof label, "%s%s%s%s", s->step.node->op_type,
             l->bias && !l->is_matrix ? "+Add" : "", act ? "+" : "", act ? act : "");
    s->out[0]        = y;
    s->step.n_in     = 1;
    s->step.n_out    = 1;
    s->step.row      = &cq_rt_row_linear;
    s->step.prepared = l;
    s->step.label    = cq_arena_strdup(b->all->arena, label);
    return s->step.label ? CQ_OK : CQ_E_NO_MEMORY;
}

/* ---- recurrent layers ---- */

/* The steps are unchanged, but get a cache for the packed matrices of their products. */
static cq_status prepare_recurrent(cq_rt_builder *b, cq_rt_plan *plan, cq_rt_node_step *s)
{
    const cq_tensor *w, *r;
    cq_rt_recurrent *keep;

    if (!cq_rt_is_op(s, "LSTM") && !cq_rt_is_op(s, "GRU") && !cq_rt_is_op(s, "RNN"))
        return CQ_OK;
    w = cq_rt_constant_of(s, 1);
    r = cq_rt_constant_of(s, 2);
    if (!w || !r || !cq_tensor_numel(w) || !cq_tensor_numel(r))
        return CQ_OK;
    CQ_TRY(cq_rt_recurrent_new(&keep));
    CQ_TRY(cq_rt_own(b, plan, keep, cq_rt_recurrent_free));
    s->step.prepared = keep;
    return CQ_OK;
}

cq_status cq_rt_optimize_linears(cq_rt_builder *b, cq_rt_plan *plan)
{
    for (size_t i = 0; i < b->steps.n; i++) {
        CQ_TRY(rewrite(b, plan, b->steps.items[i]));
        CQ_TRY(prepare_recurrent(b, plan, b->steps.items[i]));
    }
    return CQ_OK;
}
