/* Operators that newer opsets have for what a model writes out: the layers of language models; and
 * grids of quantized tensors. A pattern is a term of ONNX operators, and what it becomes is a
 * function in fuse_layers.c. Nodes that are no longer needed are removed by whoever removes those
 * without use. */
#include "export/passes/fuse.h"

#include <ctype.h>

/* By stage: a later one sees what an earlier one made, and no longer what that made useless. */
static const cq_fusion fusions[] = {
    { 0, 10, "Round(Div(DequantizeLinear(q, step, zero), by))", cq_fuse_steps, CQ_FUSE_ALWAYS },
    { 0, 10, "Mul(DequantizeLinear(q, step, zero), by)", cq_fuse_scaled, CQ_FUSE_ALWAYS },
    { 0, 10, "QuantizeLinear(Clip?(Relu?(layer:Conv(x, w, bias)), ...), ...)", cq_fuse_bias,
      CQ_FUSE_ALWAYS },
    { 0, 10, "QuantizeLinear(Clip?(Relu?(layer:Gemm(x, w, bias)), ...), ...)", cq_fuse_bias,
      CQ_FUSE_ALWAYS },
    { 0, 23,
      "Mul(Cast?(Mul(Reciprocal(Sqrt(Add(mean:ReduceMean(Pow(x, two), axes), eps))), x)), w)",
      cq_fuse_rms_norm, CQ_FUSE_ALWAYS },
    { 0, 23, "Mul(Cast?(Div(x, Sqrt(Add(mean:ReduceMean(Pow(x, two), axes), eps)))), w)",
      cq_fuse_rms_norm, CQ_FUSE_ALWAYS },
    { 0, 23, "Add(Mul(join:Concat(Neg(high:Slice(x, ...)), low:Slice(x, ...)), sin), Mul(x, cos))",
      cq_fuse_rotary, CQ_FUSE_ALWAYS },
    { 0, 23,
      "MatMul(soft:Softmax(Add?(Div?(Mul?(MatMul(q, turned:Transpose(k)), factor), divisor), "
      "mask)), v)",
      cq_fuse_attention, CQ_FUSE_ALWAYS },
    { 1, 23,
      "Attention(q, more_k:Reshape(Expand(Unsqueeze(k, axis), ...), ...), "
      "more_v:Reshape(Expand(Unsqueeze(v, axis2), ...), ...), ...)",
      cq_fuse_grouped, CQ_FUSE_ALWAYS },
    { 2, 23, "Attention(q, keys:Concat(past_k, k), values:Concat(past_v, v), ...)", cq_fuse_past,
      CQ_FUSE_ALWAYS },
    { 0, 17,
      "Mul(Div(c:Sub(x, mean:ReduceMean(x, ...)), Sqrt(Add(var:ReduceMean(Pow(c, two), ...), "
      "eps))), w)",
      cq_fuse_layer_norm, CQ_FUSE_OPTIMIZER },
    { 0, 17,
      "Mul(Div(c:Sub(x, mean:ReduceMean(x, ...)), Sqrt(Add(var:ReduceMean(Mul(c, c), ...), eps))), "
      "w)",
      cq_fuse_layer_norm, CQ_FUSE_OPTIMIZER },
    { 0, 13, "Reshape(sum:Add(product:MatMul(x, w), b), ...)", cq_fuse_flat_linear,
      CQ_FUSE_OPTIMIZER },
    { 0, 13, "Mul(Mul(x, Add(Erf(inner), one)), half)", cq_fuse_gelu_erf, CQ_FUSE_OPTIMIZER },
    { 0, 13, "Mul(Mul(x, half), Add(Erf(inner), one))", cq_fuse_gelu_erf, CQ_FUSE_OPTIMIZER },
    { 0, 13, "Mul(x, Mul(Add(Erf(inner), one), half))", cq_fuse_gelu_erf, CQ_FUSE_OPTIMIZER },
    { 0, 13, "Mul(Mul(x, Add(Tanh(inner), one)), half)", cq_fuse_gelu_tanh, CQ_FUSE_OPTIMIZER },
    { 0, 13, "Mul(Mul(x, half), Add(Tanh(inner), one))", cq_fuse_gelu_tanh, CQ_FUSE_OPTIMIZER },
    { 0, 13, "Mul(x, Mul(Add(Tanh(inner), one), half))", cq_fuse_gelu_tanh, CQ_FUSE_OPTIMIZER },
    { 0, 13,
      "Reshape(joined:Transpose(MatMul(soft:Softmax(Add?(Div?(Mul?(MatMul(hq:Transpose(Reshape(q, "
      "...)), hk:Transpose(Reshape(k, ...))), factor), divisor), mask)), hv:Transpose(Reshape(v, "
      "...)))), ...)",
      cq_fuse_heads, CQ_FUSE_ONNXRUNTIME },
    { 0, 13,
      "Reshape(joined:Transpose(MatMul(soft:Softmax(Add?(Div?(MatMul(Mul(hq:Transpose(Reshape(q, "
      "...)), factor), hk:Transpose(Reshape(k, ...))), divisor), mask)), hv:Transpose(Reshape(v, "
      "...)))), ...)",
      cq_fuse_heads, CQ_FUSE_ONNXRUNTIME },
    { 1, 17, "Add(norm:LayerNormalization(x, w), b)", cq_fuse_norm_bias, CQ_FUSE_OPTIMIZER },
    { 1, 13, "Div(product:MatMul(a, turned:Transpose(b)), divisor)", cq_fuse_matmul,
      CQ_FUSE_ONNXRUNTIME },
    { 1, 13, "Mul(product:MatMul(a, turned:Transpose(b)), factor)", cq_fuse_matmul,
      CQ_FUSE_ONNXRUNTIME },
    { 2, 17,
      "Div(c:Sub(x, mean:ReduceMean(x, ...)), Sqrt(Add(var:ReduceMean(Pow(c, two), ...), eps)))",
      cq_fuse_layer_norm, CQ_FUSE_OPTIMIZER },
    { 2, 17,
      "Div(c:Sub(x, mean:ReduceMean(x, ...)), Sqrt(Add(var:ReduceMean(Mul(c, c), ...), eps)))",
      cq_fuse_layer_norm, CQ_FUSE_OPTIMIZER },
    { 2, 13, "Div(product:MatMul(a, b), divisor)", cq_fuse_matmul, CQ_FUSE_ONNXRUNTIME },
    { 2, 13, "Mul(product:MatMul(a, b), factor)", cq_fuse_matmul, CQ_FUSE_ONNXRUNTIME },
    { 2, 13, "MatMul(a, turned:Transpose(b))", cq_fuse_matmul, CQ_FUSE_ONNXRUNTIME },
    { 2, 13, "Gelu(sum:Add(x, b))", cq_fuse_bias_gelu, CQ_FUSE_ONNXRUNTIME },
    { 2, 13, "FastGelu(sum:Add(x, b))", cq_fuse_bias_gelu, CQ_FUSE_ONNXRUNTIME },
    { 2, 17, "LayerNormalization(sum:Add(x, skip), w, b)", cq_fuse_skip_norm, CQ_FUSE_ONNXRUNTIME },
};

enum { N_FUSIONS = sizeof fusions / sizeof *fusions, N_STAGES = 3 };

/* ---- terms ---- */

cq_value *cq_fuse_bound(const cq_fuse_match *m, const char *name)
{
    for (size_t i = 0; i < m->n; i++)
        if (m->bound[i].len == strlen(name) && memcmp(m->bound[i].name, name, m->bound[i].len) == 0)
            return m->bound[i].value;
    return NULL;
}

/* A name stands for one value wherever it is. */
static bool bind(cq_fuse_match *m, const char *name, size_t len, cq_value *v)
{
    for (size_t i = 0; i < m->n; i++)
        if (m->bound[i].len == len && memcmp(m->bound[i].name, name, len) == 0)
            return m->bound[i].value == v;
    if (m->n == CQ_FUSE_MAX_BOUND)
        return false;
    m->bound[m->n].name  = name;
    m->bound[m->n].len   = len;
    m->bound[m->n].value = v;
    m->n++;
    return true;
}

static const char *word(const char **at, size_t *len)
{
    const char *start = *at;

    while (isalnum((unsigned char)**at) || **at == '_')
        ++*at;
    *len = (size_t)(*at - start);
    return start;
}

static bool is_op(const cq_node *n, const char *op, size_t len)
{
    static const char ms[] = "com.microsoft::";
    const size_t      skip = n && strncmp(n->op, ms, sizeof ms - 1) == 0 ? sizeof ms - 1 : 6;

    return n && (skip != 6 || strncmp(n->op, "onnx::", 6) == 0) && strlen(n->op) == skip + len &&
           memcmp(n->op + skip, op, len) == 0;
}

cq_value *cq_fuse_input(const cq_node *n, size_t i)
{
    cq_value *v =
        n && i < n->n_inputs && n->inputs[i].kind == CQ_OPERAND_VALUE ? n->inputs[i].u.value : NULL;

    while (v && v->instead)
        v = v->instead;
    return v;
}

static bool match_term(cq_fuse_match *m, const char **at, cq_value *v);

/* The arguments, the first two in the other order if swapped. "..." are any others. */
static bool match_arguments(cq_fuse_match *m, const char **at, const cq_node *n, bool swapped)
{
    for (size_t i = 0;; i++) {
        *at += strspn(*at, ", ");
        if (**at == '.' || **at == ')') {
            const bool all = **at == ')' && i != n->n_inputs;

            *at += strcspn(*at, ")") + 1;
            return !all;
        }
        if (!match_term(m, at, cq_fuse_input(n, swapped && i < 2 ? 1 - i : i)))
            return false;
    }
}

/* Sums and products also match the other way round. What was bound in one part is not reconsidered
 * when the next fails, so patterns begin with the part that has more to tell. */
static bool match_node(cq_fuse_match *m, const char **at, const cq_node *n, bool commutes)
{
    const char  *start = *at;
    const size_t bound = m->n;

    if (match_arguments(m, at, n, false))
        return true;
    if (!commutes)
        return false;
    *at  = start;
    m->n = bound;
    return match_arguments(m, at, n, true);
}

/* name, name:Op(…), Op(…), or Op?(x, …) for a node that may be missing, then x stands alone. */
static bool match_term(cq_fuse_match *m, const char **at, cq_value *v)
{
    size_t      len;
    const char *name = word(at, &len);
    bool        optional;

    if (!v)
        return false;
    if (**at == ':') {
        if (!bind(m, name, len, v))
            return false;
        ++*at;
        name = word(at, &len);
    }
    if (islower((unsigned char)name[0]))
        return bind(m, name, len, v);
    optional = **at == '?';
    *at += optional ? 2 : 1;
    if (is_op(v->node, name, len))
        return match_node(m, at, v->node,
                          len == 3 && (!memcmp(name, "Add", 3) || !memcmp(name, "Mul", 3)));
    if (!optional || !match_term(m, at, v))
        return false;
    *at += strcspn(*at, ")") + 1;
    return true;
}

/* ---- the pass ---- */

cq_node *cq_fuse_node(cq_fuser *f, cq_node *before, const char *op, cq_value *const *in,
                      size_t n_in, size_t n_out)
{
    cq_operand operands[6];
    cq_node   *n;

    for (size_t i = 0; i < n_in; i++)
        operands[i] = in[i] ? CQ_OPERAND_OF(in[i]) : (cq_operand){ 0 };
    n = cq_ir_node_new(before->block, before, op, operands, n_in, n_out);
    if (!n)
        return NULL;
    n->origin  = before->origin;
    n->place   = before->place;
    n->notes   = before->notes;
    n->n_notes = before->n_notes;
    f->changed = true;
    return n;
}

static cq_status try_fusions(cq_node *n, void *user)
{
    cq_fuser *f = user;

    for (size_t i = 0; i < N_FUSIONS && n->n_outputs == 1 && !n->outputs[0]->instead; i++) {
        const cq_fusion *row = &fusions[i];
        const char      *at  = row->pattern;
        cq_fuse_match    m   = { .root = n };

        if (row->stage == f->stage && f->ex->options.opset >= row->since &&
            (row->use == CQ_FUSE_ALWAYS || (row->use == CQ_FUSE_OPTIMIZER && f->ex->optimizes) ||
             f->ex->for_onnxruntime) &&
            match_term(&m, &at, n->outputs[0]))
            CQ_TRY(row->make(f, &m));
    }
    return CQ_OK;
}

static cq_status run_stage(cq_exporter *ex, int stage)
{
    cq_fuser  f = { .ex = ex, .stage = stage };
    cq_status status;

    status = cq_ir_each_node(ex->graph->top, try_fusions, &f);
    cq_ptr_map_clear(&f.halves);
    CQ_TRY(status);
    CQ_TRY(ex->graph->status);
    if (!f.changed)
        return CQ_OK;
    CQ_TRY(cq_export_follow(ex));
    return cq_export_remove_dead(ex);
}

cq_status cq_export_fuse(cq_exporter *ex)
{
    const int stages =
        ex->options.opset >= 23 || ex->optimizes ? N_STAGES : ex->options.opset >= 10;

    for (int stage = 0; stage < stages; stage++)
        CQ_TRY(run_stage(ex, stage));
    return CQ_OK;
}
