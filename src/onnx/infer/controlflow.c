/* Operators with subgraphs. Loop-carried values may change their shape from one iteration to the
 * next; their types are widened to a fixpoint. */
#include "onnx/infer/rule.h"

#include <string.h>

/* ---- If ---- */

static cq_status if_rule(cq_rule *r)
{
    static const char *const branches[] = { "then_branch", "else_branch" };
    cq_itype                *types[2];

    for (int b = 0; b < 2; b++) {
        cq_onnx_graph  *g = cq_rule_subgraph(r, branches[b]);
        cq_infer_scope *scope;

        types[b] = cq_arena_array(r->arena, r->n_outputs, sizeof *types[b]);
        if (!types[b])
            return CQ_E_NO_MEMORY;
        if (!g)
            return CQ_OK;
        if (g->input.n > g->initializer.n) /* before IR version 4 initializers were inputs too */
            return cq_rule_fail(r, "%s has %u inputs, expected none", branches[b], g->input.n);
        if (g->output.n != r->n_outputs)
            return cq_rule_fail(r, "%s has %u outputs, expected %zu", branches[b], g->output.n,
                                r->n_outputs);
        CQ_TRY(cq_rule_graph(r, &scope, g, 0, NULL, r->n_outputs, types[b], NULL));
        CQ_TRY(cq_rule_keep_graph(r, scope));
    }
    for (size_t i = 0; i < r->n_outputs; i++) {
        cq_itype both;

        if (types[0][i].elem && types[1][i].elem && types[0][i].elem != types[1][i].elem)
            return cq_rule_fail(r, "the branches have different types for output %zu", i);
        CQ_TRY(cq_itype_union(&both, r->arena, &types[0][i], &types[1][i]));
        cq_rule_give_type(r, i, &both);
    }
    return CQ_OK;
}

/* ---- loops ---- */

/* Inputs of a body: inputs specific to the operator, the state, slices of scanned tensors. Outputs:
 * specific outputs, the state, and scan outputs. */
typedef struct loop {
    cq_onnx_graph *body;
    size_t         n_in, n_out; /* of the body */
    size_t         state_in, state_out, n_state;
    cq_ivalue     *in;
    cq_itype      *out;
} loop;

static cq_status loop_new(loop *l, cq_rule *r, size_t n_in, size_t n_out)
{
    l->body  = cq_rule_subgraph(r, "body");
    l->n_in  = n_in;
    l->n_out = n_out;
    l->in    = cq_arena_array(r->arena, n_in, sizeof *l->in);
    l->out   = cq_arena_array(r->arena, n_out, sizeof *l->out);
    if (!l->in || !l->out)
        return CQ_E_NO_MEMORY;
    if (l->body && (l->body->input.n != n_in || l->body->output.n != n_out))
        return cq_rule_fail(r, "the body has %u inputs and %u outputs, expected %zu and %zu",
                            l->body->input.n, l->body->output.n, n_in, n_out);
    return CQ_OK;
}

static void forget_rank(cq_itype *t)
{
    t->has_rank = false;
    t->rank     = 0;
}

/* Joins the types of the state before and after an iteration; *settled is whether they are
 * unchanged. */
static cq_status join_state(loop *l, cq_rule *r, bool *settled)
{
    *settled = true;
    for (size_t i = 0; i < l->n_state; i++) {
        cq_itype *before = &l->in[l->state_in + i].type, *after = &l->out[l->state_out + i];
        cq_itype  both;

        if (before->kind == CQ_IKIND_UNKNOWN || after->kind == CQ_IKIND_UNKNOWN)
            continue;
        if (before->elem != after->elem)
            return cq_rule_fail(r, "loop-carried value %zu changes its type", i);
        CQ_TRY(cq_itype_union(&both, r->arena, before, after));
        *settled &= cq_itype_same(before, &both);
        *before = both;
    }
    return CQ_OK;
}

/* Repeats until the state has the type that it began with. The first iterations widen types that
 * differ; in the last one only element types are known, which every body accepts. */
static cq_status loop_run(loop *l, cq_rule *r)
{
    enum { TURNS = 3 };
    cq_infer_scope *scope   = NULL;
    bool            settled = false;

    for (int turn = 0; turn < TURNS && !settled; turn++) {
        for (size_t i = 0; turn == TURNS - 1 && i < l->n_state; i++)
            forget_rank(&l->in[l->state_in + i].type);
        CQ_TRY(cq_rule_graph(r, &scope, l->body, l->n_in, l->in, l->n_out, l->out, NULL));
        CQ_TRY(join_state(l, r, &settled));
    }
    return cq_rule_keep_graph(r, scope);
}

/* The type of state i after the loop, which may have no iterations: then it is the initial
 * value. */
static const cq_itype *loop_state(const loop *l, size_t i)
{
    const cq_itype *t = &l->in[l->state_in + i].type;

    return t->kind ? t : &l->out[l->state_out + i];
}

/* Sets the type of an output to element with an additional axis of size n. */
static cq_status give_stacked(cq_rule *r, size_t output, const cq_itype *element, size_t axis,
                              cq_dim n)
{
    cq_shape y;

    if (element->kind != CQ_IKIND_TENSOR)
        return CQ_OK;
    cq_rule_give_elem(r, output, element->elem);
    if (!element->has_rank || element->rank >= CQ_MAX_RANK || axis > element->rank)
        return CQ_OK;
    y.rank = element->rank + 1;
    for (size_t i = 0; i < y.rank; i++)
        y.dims[i] = i == axis ? n : element->dims[i - (i > axis)];
    return cq_rule_give(r, output, &y);
}

/* ---- Loop ---- */

static cq_status loop_rule(cq_rule *r)
{
    loop   l       = { .state_in = 2, .state_out = 1 };
    size_t n_state = r->n_inputs > 2 ? r->n_inputs - 2 : 0;

    if (r->n_outputs < n_state)
        return cq_rule_fail(r, "the loop has %zu outputs but %zu loop-carried values", r->n_outputs,
                            n_state);
    l.n_state = n_state;
    CQ_TRY(loop_new(&l, r, 2 + n_state, 1 + r->n_outputs));
    if (!l.body)
        return CQ_OK;
    l.in[0].type = (cq_itype){ .kind = CQ_IKIND_TENSOR, .elem = CQ_ONNX_INT64, .has_rank = true };
    l.in[1].type = (cq_itype){ .kind = CQ_IKIND_TENSOR, .elem = CQ_ONNX_BOOL, .has_rank = true };
    for (size_t i = 0; i < n_state; i++)
        if (cq_rule_has(r, 2 + i))
            l.in[2 + i].type = r->inputs[2 + i]->type;
    CQ_TRY(loop_run(&l, r));
    for (size_t i = 0; i < n_state; i++)
        cq_rule_give_type(r, i, loop_state(&l, i));
    for (size_t i = n_state; i < r->n_outputs; i++)
        CQ_TRY(give_stacked(r, i, &l.out[1 + i], 0, cq_dim_unknown()));
    return CQ_OK;
}

/* ---- Scan ---- */

/* The type of a slice: x without an axis. */
static cq_status drop_axis(cq_itype *out, cq_rule *r, const cq_itype *x, size_t axis)
{
    cq_dim dims[CQ_MAX_RANK];
    size_t n = 0;

    *out = *x;
    if (!x->has_rank)
        return CQ_OK;
    for (size_t i = 0; i < x->rank; i++)
        if (i != axis)
            dims[n++] = x->dims[i];
    out->rank = n;
    out->dims = cq_arena_copy(r->arena, dims, n * sizeof *dims);
    return out->dims ? CQ_OK : CQ_E_NO_MEMORY;
}

static int64_t listed(const cq_rule *r, const char *attr, size_t i, int64_t otherwise)
{
    const cq_onnx_ints *ints = cq_rule_ints(r, attr);

    return ints && i < ints->n ? ints->items[i] : otherwise;
}

/* Opset 8 has a leading batch axis, and an additional first input with the lengths. */
typedef struct scanner {
    loop   l;
    bool   is_batched;
    size_t first; /* index of the first input with a state */
    cq_dim length, batch;
} scanner;

/* The type of input i of the body: the state, or a slice of a scan input. */
static cq_status scan_input(scanner *s, cq_rule *r, size_t i)
{
    const cq_itype *x = cq_rule_has(r, s->first + i) ? &r->inputs[s->first + i]->type : NULL;
    cq_itype        t;
    size_t          axis;

    if (!x)
        return CQ_OK;
    t = *x;
    if (s->is_batched && t.has_rank && t.rank) {
        CQ_TRY(cq_dim_unify(&s->batch, r, s->batch, t.dims[0]));
        CQ_TRY(drop_axis(&t, r, x, 0));
    }
    if (i >= s->l.n_state && t.has_rank) {
        const cq_itype whole = t;

        CQ_TRY(cq_rule_axis(&axis, r, listed(r, "scan_input_axes", i - s->l.n_state, 0), t.rank));
        CQ_TRY(cq_dim_unify(&s->length, r, s->length, t.dims[axis]));
        CQ_TRY(drop_axis(&t, r, &whole, axis));
    }
    s->l.in[i].type = t;
    return CQ_OK;
}

/* Sets the type of output i: the final state, or a scan output stacked along an axis. */
static cq_status scan_output(const scanner *s, cq_rule *r, size_t i)
{
    cq_itype t = i < s->l.n_state ? *loop_state(&s->l, i) : s->l.out[i];
    int64_t  axis;

    if (i < s->l.n_state || !t.has_rank) {
        cq_rule_give_type(r, i, &t);
    } else {
        axis = listed(r, "scan_output_axes", i - s->l.n_state, 0);
        axis += axis < 0 ? (int64_t)t.rank + 1 : 0;
        CQ_TRY(give_stacked(r, i, &t, (size_t)axis, s->length));
        t = r->outputs[i];
    }
    return s->is_batched && t.has_rank ? give_stacked(r, i, &t, 0, s->batch) : CQ_OK;
}

static cq_status scan(cq_rule *r)
{
    int64_t n_scan = cq_rule_int(r, "num_scan_inputs", 0);
    scanner s      = { .is_batched = r->version < 9, .first = r->version < 9 ? 1 : 0 };
    size_t  n      = r->n_inputs > s.first ? r->n_inputs - s.first : 0;

    if (n_scan < 1 || (uint64_t)n_scan > n || r->n_outputs < n - (size_t)n_scan)
        return cq_rule_fail(r, "num_scan_inputs is %lld of %zu inputs and %zu outputs",
                            (long long)n_scan, n, r->n_outputs);
    s.l.n_state = n - (size_t)n_scan;
    CQ_TRY(loop_new(&s.l, r, n, r->n_outputs));
    if (!s.l.body)
        return CQ_OK;
    for (size_t i = 0; i < n; i++)
        CQ_TRY(scan_input(&s, r, i));
    CQ_TRY(loop_run(&s.l, r));
    for (size_t i = 0; i < r->n_outputs; i++)
        CQ_TRY(scan_output(&s, r, i));
    return CQ_OK;
}

/* ---- SequenceMap ---- */

static cq_status sequence_map(cq_rule *r)
{
    cq_onnx_graph  *body = cq_rule_subgraph(r, "body");
    cq_ivalue      *in   = cq_arena_array(r->arena, r->n_inputs, sizeof *in);
    cq_itype       *out  = cq_arena_array(r->arena, r->n_outputs, sizeof *out);
    cq_infer_scope *scope;

    if (!in || !out)
        return CQ_E_NO_MEMORY;
    if (!body)
        return CQ_OK;
    for (size_t i = 0; i < r->n_inputs; i++) {
        if (!cq_rule_has(r, i))
            continue;
        in[i].type = r->inputs[i]->type;
        if (in[i].type.kind == CQ_IKIND_SEQUENCE)
            in[i].type = in[i].type.element ? *in[i].type.element : (cq_itype){ 0 };
    }
    CQ_TRY(cq_rule_graph(r, &scope, body, r->n_inputs, in, r->n_outputs, out, NULL));
    CQ_TRY(cq_rule_keep_graph(r, scope));
    for (size_t i = 0; i < r->n_outputs; i++)
        if (out[i].kind)
            CQ_TRY(cq_rule_give_element(r, i, CQ_IKIND_SEQUENCE, &out[i]));
    return CQ_OK;
}

const cq_rule_row cq_rules_controlflow[] = {
    { "If", 1, if_rule, NULL }, { "Loop", 1, loop_rule, NULL },
    { "Scan", 1, scan, NULL },  { "SequenceMap", 1, sequence_map, NULL },
    { NULL, 0, NULL, NULL },
};
