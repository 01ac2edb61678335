/* Fuses decomposed GELU, because ONNX has a Gelu operator only since opset 20: x * (1 + t) * 0.5 in
 * any order, where t is Erf(x / sqrt 2) or Tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)) Five to nine
 * passes over memory become one, and linears.c can fuse the result with a product. */
#include "runtime/fuse/patterns.h"

#include "runtime/kernels/gelu.h"

#include <math.h>

enum { MAX_PARTS = 10 };

struct gelu {
    cq_ew_op          op;
    cq_rt_node_value *x;
    cq_rt_node_step  *parts[MAX_PARTS], *last;
    uint32_t          n;
};

static bool is_near(double a, double b)
{
    return fabs(a - b) <= 1e-5;
}

/* The step that computes v, if v has a single reader; it is added to the parts. Otherwise NULL. */
static cq_rt_node_step *part_of(struct gelu *g, const cq_rt_node_value *v, const char *op)
{
    cq_rt_node_step *s = v && v->n_uses == 1 && cq_rt_is_op(v->maker, op) ? v->maker : NULL;

    if (s && s->step.n_in == 2)
        g->parts[g->n++] = s;
    return s && s->step.n_in == 2 ? s : NULL;
}

/* Matches v as y * number in either order, or as y / number for a division. Returns y or NULL. */
static cq_rt_node_value *without(struct gelu *g, const cq_rt_node_value *v, const char *op,
                                 double number)
{
    cq_rt_node_step *s = part_of(g, v, op);
    double           found;

    for (uint32_t i = 1; s && i < 2; i--)
        if (cq_rt_number_of(&found, s, i) && (i || !cq_rt_is_op(s, "Div")))
            return is_near(found, number) ? s->in[1 - i] : NULL;
    return NULL;
}

/* Whether v is x^3: a power, or x * (x * x). */
static bool is_cube(struct gelu *g, const cq_rt_node_value *v, const cq_rt_node_value *x)
{
    cq_rt_node_step *s = part_of(g, v, "Pow");
    double           three;

    if (s)
        return s->in[0] == x && cq_rt_number_of(&three, s, 1) && is_near(three, 3);
    s = part_of(g, v, "Mul");
    if (!s || (s->in[0] != x && s->in[1] != x))
        return false;
    s = part_of(g, s->in[s->in[0] == x], "Mul");
    return s && s->in[0] == x && s->in[1] == x;
}

static bool find_tanh(struct gelu *g, const cq_rt_node_value *v)
{
    cq_rt_node_value *sum = without(g, v, "Mul", 0.7978845608), *cube;
    cq_rt_node_step  *s   = part_of(g, sum, "Add");
    uint32_t          n   = g->n;

    for (uint32_t i = 0; s && i < 2; i++) {
        g->n = n;
        g->x = s->in[i];
        cube = without(g, s->in[1 - i], "Mul", 0.044715);
        if (cube && is_cube(g, cube, g->x))
            return true;
    }
    return false;
}

static bool find_erf(struct gelu *g, const cq_rt_node_value *v)
{
    g->x = without(g, v, "Div", sqrt(2));
    if (!g->x)
        g->x = without(g, v, "Mul", sqrt(0.5));
    return g->x != NULL;
}

/* The only reader of v, a step with two inputs, which is added to the parts; *other is its other
 * input. */
static cq_rt_node_step *reader_of(struct gelu *g, const cq_rt_node_value *v, const char *op,
                                  cq_rt_node_value **other)
{
    cq_rt_node_step *s  = cq_rt_only_reader(v, op);
    int              at = s ? cq_rt_place_of(s, v) : -1;

    if (at < 0)
        return NULL;
    *other           = s->in[1 - at];
    g->parts[g->n++] = s;
    return s;
}

/* Matches the product of (1 + t), x and 0.5 in any order. */
static bool find_end(struct gelu *g, const cq_rt_node_value *t)
{
    cq_rt_node_value *other;
    double            number;
    cq_rt_node_step  *one = cq_rt_reader_with(&number, t, "Add"), *s;

    if (!one || !is_near(number, 1))
        return false;
    g->parts[g->n++] = one;
    s                = reader_of(g, one->out[0], "Mul", &other);
    if (!s)
        return false;
    g->last = s;
    if (other != g->x && without(g, other, "Mul", 0.5) == g->x)
        return true;
    if (other == g->x) {
        g->last = cq_rt_reader_with(&number, s->out[0], "Mul");
        return g->last && is_near(number, 0.5);
    }
    if (!cq_rt_number_of(&number, s, s->in[1] == other) || !is_near(number, 0.5))
        return false;
    g->last = reader_of(g, s->out[0], "Mul", &other);
    return g->last && other == g->x;
}

static bool find(struct gelu *g, cq_rt_node_step *s)
{
    bool is_tanh = cq_rt_is_op(s, "Tanh");

    *g = (struct gelu){ .op = is_tanh ? CQ_EW_GELU_TANH : CQ_EW_GELU };
    if ((!is_tanh && !cq_rt_is_op(s, "Erf")) || !s->out[0])
        return false;
    g->parts[g->n++] = s;
    return (is_tanh ? find_tanh(g, s->in[0]) : find_erf(g, s->in[0])) && !g->x->is_constant &&
           find_end(g, s->out[0]);
}

/* Replaces the last step by the fused one. */
static cq_status rewrite(cq_rt_builder *b, const struct gelu *g)
{
    cq_rt_node_value **in = cq_arena_array(b->all->arena, 1, sizeof *in);

    if (!in)
        return CQ_E_NO_MEMORY;
    for (uint32_t i = 0; i < g->n; i++)
        g->parts[i]->is_gone = true;
    in[0]                  = g->x;
    g->last->is_gone       = false;
    g->last->in            = in;
    g->last->step.n_in     = 1;
    g->last->step.row      = &cq_rt_row_gelu;
    g->last->step.prepared = &cq_rt_gelu_ops[g->op == CQ_EW_GELU_TANH];
    g->last->step.label    = "Gelu";
    return CQ_OK;
}

cq_status cq_rt_optimize_gelus(cq_rt_builder *b)
{
    struct gelu g;

    for (size_t i = 0; i < b->steps.n; i++)
        if (find(&g, b->steps.items[i]))
            CQ_TRY(rewrite(b, &g));
    return CQ_OK;
}
