/* Types that an older version of an operator does not accept: inputs are cast to a type that holds
 * all their values, and results are cast back. */
#include "edit/opset.h"

#include <string.h>

/* Wider types by preference. Narrow integers that wrap around do so when they are cast back. */
typedef struct wider {
    int from, to[5];
} wider;

static const wider table[] = {
    { CQ_ONNX_FLOAT16, { CQ_ONNX_FLOAT, CQ_ONNX_DOUBLE } },
    { CQ_ONNX_BFLOAT16, { CQ_ONNX_FLOAT, CQ_ONNX_DOUBLE } },
    { CQ_ONNX_FLOAT, { CQ_ONNX_DOUBLE } },
    { CQ_ONNX_BOOL, { CQ_ONNX_UINT8, CQ_ONNX_INT32, CQ_ONNX_INT64, CQ_ONNX_FLOAT } },
    { CQ_ONNX_INT8, { CQ_ONNX_INT32, CQ_ONNX_INT64, CQ_ONNX_FLOAT, CQ_ONNX_DOUBLE } },
    { CQ_ONNX_UINT8, { CQ_ONNX_INT32, CQ_ONNX_INT64, CQ_ONNX_UINT64, CQ_ONNX_FLOAT } },
    { CQ_ONNX_INT16, { CQ_ONNX_INT32, CQ_ONNX_INT64, CQ_ONNX_FLOAT, CQ_ONNX_DOUBLE } },
    { CQ_ONNX_UINT16, { CQ_ONNX_INT32, CQ_ONNX_INT64, CQ_ONNX_UINT64, CQ_ONNX_FLOAT } },
    { CQ_ONNX_INT32, { CQ_ONNX_INT64, CQ_ONNX_DOUBLE } },
    { CQ_ONNX_UINT32, { CQ_ONNX_INT64, CQ_ONNX_UINT64, CQ_ONNX_DOUBLE } },
};

/* Operators whose results depend on the type itself, not only on the values. */
static const char *const typed[] = {
    "Bernoulli",
    "BitCast",
    "Cast",
    "CastLike",
    "Constant",
    "ConstantOfShape",
    "ConvInteger",
    "EyeLike",
    "DequantizeLinear",
    "DynamicQuantizeLinear",
    "If",
    "Loop",
    "MatMulInteger",
    "Multinomial",
    "QLinearConv",
    "QLinearMatMul",
    "QuantizeLinear",
    "RandomNormal",
    "RandomNormalLike",
    "RandomUniform",
    "RandomUniformLike",
    "Scan",
    "SequenceMap",
    NULL,
};

/* Operators that give the same numbers for integers in floating point. */
static const char *const values_only[] = {
    "Abs",
    "ArgMax",
    "ArgMin",
    "Clip",
    "Compress",
    "Concat",
    "DepthToSpace",
    "Equal",
    "Expand",
    "Flatten",
    "Gather",
    "GatherElements",
    "GatherND",
    "Greater",
    "GreaterOrEqual",
    "Identity",
    "Less",
    "LessOrEqual",
    "Max",
    "MaxPool",
    "Min",
    "Neg",
    "NonZero",
    "Pad",
    "ReduceMax",
    "ReduceMin",
    "Relu",
    "Reshape",
    "ReverseSequence",
    "Scatter",
    "ScatterElements",
    "ScatterND",
    "Sign",
    "Slice",
    "SpaceToDepth",
    "Split",
    "Squeeze",
    "Tile",
    "TopK",
    "Transpose",
    "Trilu",
    "Unsqueeze",
    "Upsample",
    "Where",
    NULL,
};

static bool is_listed(const char *const *list, const char *op)
{
    for (; *list; list++)
        if (strcmp(*list, op) == 0)
            return true;
    return false;
}

static bool is_real(int type)
{
    return type == CQ_ONNX_FLOAT || type == CQ_ONNX_DOUBLE || type == CQ_ONNX_FLOAT16 ||
           type == CQ_ONNX_BFLOAT16;
}

/* The first wider type that the mask accepts; 0: none. */
static int wider_type(int from, uint32_t accepted, const char *op)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        for (size_t k = 0; table[i].from == from && k < 5 && table[i].to[k]; k++) {
            const int to = table[i].to[k];

            if ((accepted >> to & 1) &&
                (is_real(from) || !is_real(to) || is_listed(values_only, op)))
                return to;
        }
    return 0;
}

static cq_status can_cast(bool *out, int64_t version, int from, int to)
{
    const cq_onnx_schema *cast;

    CQ_TRY(cq_onnx_schema_find(&cast, "", "Cast", version));
    *out = cast && (cast->inputs[0].types.of[CQ_ONNX_WRAP_TENSOR] >> from & 1) &&
           (cast->outputs[0].types.of[CQ_ONNX_WRAP_TENSOR] >> to & 1);
    return CQ_OK;
}

/* The types before and after, of a constraint or of a parameter with a fixed set of types. */
typedef struct retyped {
    int from, to;
} retyped;

static cq_status choose(retyped *out, const cq_opset_change *c, const cq_onnx_node *n,
                        const cq_onnx_parameter *p, const char *value, int64_t version)
{
    const int type  = cq_opset_type(c, value);
    bool      forth = false, back = false;

    *out = (retyped){ 0 };
    if (!p || type <= 0 || type >= 32 || (p->types.of[CQ_ONNX_WRAP_TENSOR] >> type & 1))
        return CQ_OK;
    out->from = type;
    out->to   = wider_type(type, p->types.of[CQ_ONNX_WRAP_TENSOR], n->op_type);
    if (out->to) {
        CQ_TRY(can_cast(&forth, version, type, out->to));
        CQ_TRY(can_cast(&back, version, out->to, type));
    }
    if (!forth || !back)
        out->to = 0;
    return CQ_OK;
}

static const char *add_cast(cq_opset_change *c, const char *value, int to)
{
    cq_onnx_node *node = NULL;
    const char   *name = cq_opset_node(c, "Cast", &value, 1, &node);

    if (node)
        cq_onnx_attr_int(c->m, node, "to", to);
    return name;
}

enum { MAX_CONSTRAINTS = 16 };

/* Chooses a type for every constraint with a type that is not accepted. *done is false if one has
 * no such type. */
static cq_status choose_all(bool *done, retyped *by, const cq_opset_change *c,
                            const cq_onnx_node *n, const cq_onnx_schema *s)
{
    *done = s->n_constraints <= MAX_CONSTRAINTS && !is_listed(typed, n->op_type);
    for (size_t i = 0; i < n->input.n && *done; i++) {
        const cq_onnx_parameter *p = cq_onnx_parameter_at(s->inputs, s->n_inputs, i);
        retyped                  t;

        CQ_TRY(choose(&t, c, n, p, n->input.items[i], s->since));
        if (t.from && (!t.to || p->constraint < 0 || p->arity == CQ_ONNX_VARIADIC_MIXED))
            *done = false;
        else if (t.from)
            by[p->constraint] = t;
    }
    return CQ_OK;
}

cq_status cq_opset_widen(bool *done, cq_opset_change *c, const cq_onnx_node *n,
                         const cq_onnx_schema *s)
{
    retyped       by[MAX_CONSTRAINTS] = { { 0 } };
    cq_onnx_node *made;

    CQ_TRY(choose_all(done, by, c, n, s));
    for (size_t i = 0; i < n->output.n && *done; i++) { /* a type that no input has */
        const cq_onnx_parameter *p    = cq_onnx_parameter_at(s->outputs, s->n_outputs, i);
        const int                type = cq_opset_type(c, n->output.items[i]);

        if (p && type > 0 && type < 32 && !(p->types.of[CQ_ONNX_WRAP_TENSOR] >> type & 1) &&
            (p->constraint < 0 || by[p->constraint].from != type))
            *done = false;
    }
    made = *done ? cq_onnx_alloc(c->m, sizeof *made) : NULL;
    if (!made)
        return c->m->status;
    *made        = *n;
    made->input  = (cq_onnx_names){ 0 };
    made->output = (cq_onnx_names){ 0 };
    for (size_t i = 0; i < n->input.n; i++) {
        const cq_onnx_parameter *p  = cq_onnx_parameter_at(s->inputs, s->n_inputs, i);
        const int                to = p && p->constraint >= 0 ? by[p->constraint].to : 0;

        cq_onnx_add_name(c->m, &made->input,
                         to && *n->input.items[i] ? add_cast(c, n->input.items[i], to)
                                                  : n->input.items[i]);
    }
    cq_onnx_list_push(c->m, c->out, made);
    for (size_t i = 0; i < n->output.n; i++) {
        const cq_onnx_parameter *p  = cq_onnx_parameter_at(s->outputs, s->n_outputs, i);
        const int                to = p && p->constraint >= 0 ? by[p->constraint].from : 0;
        cq_onnx_node            *cast;

        if (!to || !*n->output.items[i]) {
            cq_onnx_add_name(c->m, &made->output, n->output.items[i]);
            continue;
        }
        cq_onnx_add_name(c->m, &made->output, cq_opset_name(c, n->op_type));
        cast = cq_onnx_alloc(c->m, sizeof *cast);
        if (!cast)
            return c->m->status;
        cast->op_type = "Cast";
        cast->name    = cq_opset_name(c, "Cast");
        cq_onnx_add_name(c->m, &cast->input, made->output.items[i]);
        cq_onnx_add_name(c->m, &cast->output, n->output.items[i]);
        cq_onnx_attr_int(c->m, cast, "to", to);
        cq_onnx_list_push(c->m, c->out, cast);
    }
    return c->m->status;
}
