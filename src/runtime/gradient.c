/* Gradient of ai.onnx.preview.training: when a plan is made, the node becomes the nodes that
 * compute it. From y back to the xs, each node that lies between them adds what its rule says.
 * What was broadcast is summed. */
#include "runtime/fuse/build.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_OPERANDS = 3 };

/* What goes back to each operand: dy is of the result, y the result, a and b the operands. Behind
 * some names the attribute that the operator needs: an equation, a number. */
static const struct {
    const char *op, *back[MAX_OPERANDS];
} rules[] = {
    { "Add", { "dy", "dy" } },
    { "Sub", { "dy", "Neg(dy)" } },
    { "Mul", { "Mul(dy,b)", "Mul(dy,a)" } },
    { "Div", { "Div(dy,b)", "Neg(Div(Mul(dy,y),b))" } },
    { "Identity", { "dy" } },
    { "Neg", { "Neg(dy)" } },
    { "Abs", { "Mul(dy,Sign(a))" } },
    { "Exp", { "Mul(dy,y)" } },
    { "Log", { "Div(dy,a)" } },
    { "Sqrt", { "Div(dy,Add(y,y))" } },
    { "Pow", { "Mul(dy,Mul(b,Pow(a,Sub(b,Number[1]))))", "Mul(dy,Mul(y,Log(a)))" } },
    { "MatMul", { "Einsum[...ik,...jk->...ij](dy,b)", "Einsum[...ki,...kj->...ij](a,dy)" } },
    { "Erf", { "Mul(dy,Mul(Number[1.1283791670955126],Exp(Neg(Mul(a,a)))))" } },
    { "Softplus", { "Mul(dy,Sigmoid(a))" } },
    { "Softsign", { "Mul(dy,Reciprocal(Mul(Add(Abs(a),Number[1]),Add(Abs(a),Number[1]))))" } },
    { "Softmax", { "Mul(y,Sub(dy,Sums(Mul(dy,y))))" } },
    { "LogSoftmax", { "Sub(dy,Mul(Exp(y),Sums(dy)))" } },
    { "Reciprocal", { "Neg(Mul(dy,Mul(y,y)))" } },
    { "Relu", { "Mul(dy,Sign(y))" } },
    { "Sigmoid", { "Mul(dy,Sub(y,Mul(y,y)))" } },
    { "Tanh", { "Sub(dy,Mul(dy,Mul(y,y)))" } },
    { "Sin", { "Mul(dy,Cos(a))" } },
    { "Cos", { "Neg(Mul(dy,Sin(a)))" } },
};

/* The nodes that are made. Names of values have a blank in them, which no model's have to. */
typedef struct maker {
    cq_arena *arena;
    CQ_VEC(cq_onnx_node *) nodes;
    cq_map      gradients, depends; /* name to name; names that depend on an x */
    const char *dy, *y, *a, *b;     /* what the letters of a rule stand for */
    unsigned    n_names;
    cq_status   status; /* the first failure */
} maker;

static const char *keep(maker *m, const char *text)
{
    const char *copy = text;

    if (m->status == CQ_OK && !copy)
        m->status = CQ_E_NO_MEMORY;
    return copy ? copy : "";
}

/* The one attribute of operators that need one here; text may be NULL. */
static void add_attribute(maker *m, cq_onnx_node *node, const char *text)
{
    static const struct {
        const char *op, *name;
        int32_t     type;
    } known[] = {
        { "Einsum", "equation", CQ_ONNX_ATTR_STRING },
        { "Constant", "value_float", CQ_ONNX_ATTR_FLOAT },
        { "ReduceSum", "noop_with_empty_axes", CQ_ONNX_ATTR_INT },
    };
    cq_onnx_attribute *a = NULL, **list = cq_arena_array(m->arena, 1, sizeof *list);

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(known[i].op, node->op_type)) {
            a = cq_arena_zalloc(m->arena, sizeof *a);
            if (!a || !list) {
                m->status = CQ_E_NO_MEMORY;
                return;
            }
            a->name = known[i].name;
            a->type = known[i].type;
            a->i    = 1;
        }
    if (!a)
        return;
    if (text && a->type == CQ_ONNX_ATTR_STRING)
        a->s = (cq_onnx_bytes){ keep(m, cq_arena_strdup(m->arena, text)), strlen(text) };
    else if (text)
        a->f = strtof(text, NULL);
    *list           = a;
    node->attribute = (cq_onnx_attributes){ .items = list, .n = 1, .cap = 1 };
}

static const char *add_node_with(maker *m, const char *op, const char *attribute,
                                 const char *const *in, uint32_t n, const char *name)
{
    cq_onnx_node *node  = cq_arena_zalloc(m->arena, sizeof *node);
    const char  **names = cq_arena_array(m->arena, n + 1, sizeof *names);

    name = name ? name : keep(m, cq_arena_printf(m->arena, "gradient %u", m->n_names++));
    if (!node || !names)
        m->status = CQ_E_NO_MEMORY;
    if (m->status != CQ_OK)
        return "";
    if (n)
        memcpy(names, in, n * sizeof *names);
    names[n]      = name;
    node->op_type = keep(m, cq_arena_strdup(m->arena, op));
    node->input   = (cq_onnx_names){ .items = names, .n = n, .cap = n };
    node->output  = (cq_onnx_names){ .items = names + n, .n = 1, .cap = 1 };
    m->status     = cq_vec_push(&m->nodes, node);
    if (m->status == CQ_OK)
        add_attribute(m, node, attribute);
    return name;
}

static const char *add_node(maker *m, const char *op, const char *const *in, uint32_t n,
                            const char *name)
{
    return add_node_with(m, op, NULL, in, n, name);
}

static const char *add_named(maker *m, const char *word, const char *attribute,
                             const char *const *in, uint32_t n);

/* Makes the nodes of an expression of ours, "Mul(dy,b)"; *at moves behind it. */
static const char *make(maker *m, const char **at)
{
    const struct {
        const char *letter, *name;
    } letters[]          = { { "dy", m->dy }, { "y", m->y }, { "a", m->a }, { "b", m->b } };
    const char *in[2]    = { NULL };
    char        word[32] = "", attribute[64] = "";
    uint32_t    n = 0;

    for (size_t len = 0; isalpha((unsigned char)**at) && len + 1 < sizeof word; len++)
        word[len] = *(*at)++;
    if (**at == '[') {
        size_t len = strcspn(++*at, "]");

        snprintf(attribute, sizeof attribute, "%.*s", (int)len, *at);
        *at += len + 1;
    }
    if (!*attribute && **at != '(') {
        for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
            if (!strcmp(word, letters[i].letter))
                return letters[i].name;
        return "";
    }
    if (**at == '(') { /* a number has none */
        for (; n < 2 && (**at == '(' || **at == ','); n++) {
            ++*at;
            in[n] = make(m, at);
        }
        ++*at; /* the bracket that closes */
    }
    return add_named(m, word, *attribute ? attribute : NULL, in, n);
}

static const char *make_text(maker *m, const char *text)
{
    return make(m, &text);
}

/* [-1], from a value of any shape: there is no node for a list of integers without an attribute. */
static const char *minus_one(maker *m, const char *of)
{
    const char *shape = add_node(m, "Shape", &of, 1, NULL);
    const char *rank  = add_node(m, "Shape", &shape, 1, NULL);
    const char *truth = add_node(m, "Equal", (const char *const[]){ rank, rank }, 2, NULL);
    const char *one   = add_node(m, "CastLike", (const char *const[]){ truth, rank }, 2, NULL);

    return add_node(m, "Neg", &one, 1, NULL);
}

/* An operator, or a word of ours: a Number in y's type, Sums along the last axis that stay there.
 */
static const char *add_named(maker *m, const char *word, const char *attribute,
                             const char *const *in, uint32_t n)
{
    const char *number;

    if (!strcmp(word, "Sums"))
        return add_node(m, "ReduceSum", (const char *const[]){ in[0], minus_one(m, in[0]) }, 2,
                        NULL);
    if (strcmp(word, "Number") != 0)
        return add_node_with(m, word, attribute, in, n, NULL);
    number = add_node_with(m, "Constant", attribute, NULL, 0, NULL);
    return add_node(m, "CastLike", (const char *const[]){ number, m->y }, 2, NULL);
}

/* The gradient of a value that was broadcast: summed along the axes that were made larger, which
 * are known when it is run. The value with ones before its sizes says which those are. */
static const char *sum_to(maker *m, const char *operand, const char *gradient)
{
    static const char axes[] =
        "Not(Equal(Shape(Expand(a,CastLike(Equal(Shape(dy),Shape(dy)),Shape(dy)))),Shape(dy)))";
    const char *places, *a = m->a, *dy = m->dy;

    m->a   = operand;
    m->dy  = gradient;
    places = make_text(m, axes);
    m->a   = a;
    m->dy  = dy;
    places = add_node(m, "NonZero", &places, 1, NULL);
    places =
        add_node(m, "Reshape", (const char *const[]){ places, minus_one(m, gradient) }, 2, NULL);
    return add_node(m, "ReduceSum", (const char *const[]){ gradient, places }, 2, NULL);
}

static const char *const *find_rule(const char *op)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (!strcmp(rules[i].op, op))
            return rules[i].back;
    return NULL;
}

static double number_of(const cq_onnx_node *node, const char *name, double otherwise)
{
    const cq_onnx_attribute *a = cq_onnx_node_attr(node, name);

    return !a ? otherwise : a->type == CQ_ONNX_ATTR_INT ? (double)a->i : (double)a->f;
}

/* Gemm's rule depends on its attributes; it is alpha * a b + beta * c, with a [m,k] and b [k,n], or
 * turned. Texts lie in buffers. */
static void gemm_rule(const char *back[MAX_OPERANDS], char buffers[MAX_OPERANDS][96],
                      const cq_onnx_node *node)
{
    const char *a     = number_of(node, "transA", 0) ? "km" : "mk";
    const char *b     = number_of(node, "transB", 0) ? "nk" : "kn";
    double      alpha = number_of(node, "alpha", 1), beta = number_of(node, "beta", 1);

    snprintf(buffers[0], sizeof buffers[0], "Mul(Number[%.9g],Einsum[mn,%s->%s](dy,b))", alpha, b,
             a);
    snprintf(buffers[1], sizeof buffers[1], "Mul(Number[%.9g],Einsum[%s,mn->%s](a,dy))", alpha, a,
             b);
    snprintf(buffers[2], sizeof buffers[2], "Mul(Number[%.9g],dy)", beta);
    for (int i = 0; i < MAX_OPERANDS; i++)
        back[i] = buffers[i];
}

/* The sums of Softmax are along the last axis here. */
static bool has_rule(const cq_onnx_node *node)
{
    bool is_softmax = !strcmp(node->op_type, "Softmax") || !strcmp(node->op_type, "LogSoftmax");

    return (!node->domain || !*node->domain) && (!is_softmax || number_of(node, "axis", -1) == -1);
}

static void add_gradient(maker *m, const char *name, const char *gradient)
{
    const char *known = cq_map_get(&m->gradients, name);

    if (known)
        gradient = add_node(m, "Add", (const char *const[]){ known, gradient }, 2, NULL);
    if (m->status == CQ_OK)
        m->status = cq_map_set(&m->gradients, name, (void *)gradient);
}

/* What node, whose first result has a gradient, gives back to its operands. */
static void go_back(maker *m, const cq_onnx_node *node)
{
    const char *const *back = find_rule(node->op_type);
    const char        *of_gemm[MAX_OPERANDS];
    char               buffers[MAX_OPERANDS][96];

    if (!strcmp(node->op_type, "Gemm")) {
        gemm_rule(of_gemm, buffers, node);
        back = of_gemm;
    }
    m->y  = node->output.items[0];
    m->dy = cq_map_get(&m->gradients, m->y);
    m->a  = node->input.n > 0 ? node->input.items[0] : "";
    m->b  = node->input.n > 1 ? node->input.items[1] : "";
    if (!back || !has_rule(node)) {
        m->status =
            cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "no gradient is defined for %s", node->op_type);
        return;
    }
    for (uint32_t i = 0; i < node->input.n && i < MAX_OPERANDS && m->status == CQ_OK; i++) {
        const char *operand = node->input.items[i], *shape, *gradient;

        if (!cq_map_has(&m->depends, operand) || !back[i])
            continue;
        gradient = make_text(m, back[i]);
        if (node->input.n > 1)
            gradient = sum_to(m, operand, gradient);
        shape = add_node(m, "Shape", &operand, 1, NULL);
        add_gradient(m, operand,
                     add_node(m, "Reshape", (const char *const[]){ gradient, shape }, 2, NULL));
    }
}

/* Which values change when an x does, of those that nodes make. */
static void find_dependents(maker *m, const cq_onnx_node *gradient, cq_onnx_node *const *nodes,
                            uint32_t n)
{
    for (uint32_t i = 0; i < gradient->input.n && m->status == CQ_OK; i++)
        m->status = cq_map_set(&m->depends, gradient->input.items[i], m);
    for (uint32_t i = 0; i < n && m->status == CQ_OK; i++) {
        bool depends = false;

        for (uint32_t k = 0; k < nodes[i]->input.n; k++)
            depends |= cq_map_has(&m->depends, nodes[i]->input.items[k]);
        for (uint32_t k = 0; depends && k < nodes[i]->output.n && m->status == CQ_OK; k++)
            m->status = cq_map_set(&m->depends, nodes[i]->output.items[k], m);
    }
}

/* The name of the value to differentiate. The xs must be the node's inputs by their own names:
 * computing the graph once more with other values in their place is not done. */
static cq_status read_attributes(maker *m, const cq_onnx_node *node)
{
    const cq_onnx_attribute *y = cq_onnx_node_attr(node, "y"), *xs = cq_onnx_node_attr(node, "xs");

    if (!y || !y->s.data || !xs || xs->strings.n != node->input.n || node->output.n > node->input.n)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL,
                       "Gradient expects the attribute y and one input for each item of xs");
    for (uint32_t i = 0; i < xs->strings.n; i++) {
        const cq_onnx_bytes *x    = &xs->strings.items[i];
        const char          *name = node->input.items[i];

        if (strlen(name) != x->size || (x->size && memcmp(name, x->data, x->size) != 0))
            return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL,
                           "Gradient gets %s for %.*s: only values themselves work", name,
                           (int)(x->size < 60 ? x->size : 60),
                           x->data ? (const char *)x->data : "");
    }
    m->y = keep(m, cq_arena_strndup(m->arena, y->s.data, y->s.size));
    return m->status;
}

static void make_all(maker *m, const cq_onnx_node *node, cq_onnx_node *const *nodes, uint32_t n)
{
    const char *y = m->y;

    find_dependents(m, node, nodes, n);
    /* Ones of y's shape and type. */
    add_gradient(m, y, make_text(m, "Exp(CastLike(ConstantOfShape(Shape(y)),y))"));
    for (uint32_t i = n; i-- > 0 && m->status == CQ_OK;)
        if (nodes[i]->output.n && cq_map_has(&m->gradients, nodes[i]->output.items[0]) &&
            cq_map_has(&m->depends, nodes[i]->output.items[0]))
            go_back(m, nodes[i]);
    for (uint32_t i = 0; i < node->output.n && m->status == CQ_OK; i++) {
        const char *gradient = cq_map_get(&m->gradients, node->input.items[i]);

        m->y = node->input.items[i];
        if (!gradient) /* y does not depend on it */
            gradient = make_text(m, "CastLike(ConstantOfShape(Shape(y)),y)");
        add_node(m, "Identity", &gradient, 1, node->output.items[i]);
    }
}

bool cq_rt_is_gradient(const cq_onnx_node *node)
{
    return !strcmp(node->op_type, "Gradient") && node->domain &&
           !strcmp(node->domain, "ai.onnx.preview.training");
}

cq_status cq_rt_gradient_nodes(cq_onnx_node ***out, uint32_t *n_out, cq_arena *arena,
                               const cq_onnx_node *node, cq_onnx_node *const *before, uint32_t n)
{
    maker m = { .arena = arena };

    m.status = read_attributes(&m, node);
    if (m.status == CQ_OK)
        make_all(&m, node, before, n);
    *n_out = (uint32_t)m.nodes.n;
    *out   = cq_arena_copy(arena, m.nodes.items, m.nodes.n * sizeof *m.nodes.items);
    if (m.status == CQ_OK && !*out)
        m.status = CQ_E_NO_MEMORY;
    cq_vec_clear(&m.nodes);
    cq_map_clear(&m.gradients);
    cq_map_clear(&m.depends);
    return m.status;
}
