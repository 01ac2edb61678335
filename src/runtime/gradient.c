/* Gradient of ai.onnx.preview.training: when a plan is made, the node becomes the nodes that
 * compute it. From y back to the xs, each node that lies between them adds what its rule says.
 *
 * Rules are for operators whose operands have the shape of the result. Where one was broadcast
 * its gradient would have to be summed; that is refused when it is run, since then the reshape to
 * the operand's shape does not fit. */
#include "runtime/build.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { MAX_OPERANDS = 2 };

/* What goes back to each operand: dy is of the result, y the result, a and b the operands. */
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

static const char *add_node(maker *m, const char *op, const char *const *in, uint32_t n,
                            const char *name)
{
    cq_onnx_node *node  = cq_arena_zalloc(m->arena, sizeof *node);
    const char  **names = cq_arena_array(m->arena, n + 1, sizeof *names);

    name = name ? name : keep(m, cq_arena_printf(m->arena, "gradient %u", m->n_names++));
    if (!node || !names)
        m->status = CQ_E_NO_MEMORY;
    if (m->status != CQ_OK)
        return "";
    memcpy(names, in, n * sizeof *names);
    names[n]      = name;
    node->op_type = keep(m, cq_arena_strdup(m->arena, op));
    node->input   = (cq_onnx_names){ .items = names, .n = n, .cap = n };
    node->output  = (cq_onnx_names){ .items = names + n, .n = 1, .cap = 1 };
    m->status     = cq_vec_push(&m->nodes, node);
    return name;
}

/* Makes the nodes of an expression of ours, "Mul(dy,b)"; *at moves behind it. */
static const char *make(maker *m, const char **at)
{
    const struct {
        const char *letter, *name;
    } letters[]          = { { "dy", m->dy }, { "y", m->y }, { "a", m->a }, { "b", m->b } };
    const char *in[2]    = { NULL };
    char        word[32] = "";
    uint32_t    n        = 0;

    for (size_t len = 0; isalpha((unsigned char)**at) && len + 1 < sizeof word; len++)
        word[len] = *(*at)++;
    if (**at != '(') {
        for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
            if (!strcmp(word, letters[i].letter))
                return letters[i].name;
        return "";
    }
    for (; n < 2 && (**at == '(' || **at == ','); n++) {
        ++*at;
        in[n] = make(m, at);
    }
    ++*at; /* the bracket that closes */
    return add_node(m, word, in, n, NULL);
}

static const char *make_text(maker *m, const char *text)
{
    return make(m, &text);
}

static const char *const *find_rule(const char *op)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (!strcmp(rules[i].op, op))
            return rules[i].back;
    return NULL;
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

    m->y  = node->output.items[0];
    m->dy = cq_map_get(&m->gradients, m->y);
    m->a  = node->input.n > 0 ? node->input.items[0] : "";
    m->b  = node->input.n > 1 ? node->input.items[1] : "";
    if (!back || (node->domain && *node->domain)) {
        m->status =
            cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "there is no gradient of %s", node->op_type);
        return;
    }
    for (uint32_t i = 0; i < node->input.n && i < MAX_OPERANDS && m->status == CQ_OK; i++) {
        const char *operand = node->input.items[i], *shape, *gradient;

        if (!cq_map_has(&m->depends, operand) || !back[i])
            continue;
        gradient = make_text(m, back[i]);
        shape    = add_node(m, "Shape", &operand, 1, NULL);
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
                       "Gradient wants y, and as many inputs as xs, and no other inputs");
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
