/* Converts a model to another operator set. Adapters change nodes from one version of their
 * operator to the next; operators whose form is the same need none. At the end every node is
 * checked against the schema of the target, and all nodes that it cannot express are listed in one
 * error. */
#include "edit/opset.h"

#include "base/str.h"
#include "onnx/infer/values.h"
#include "onnx/schema.h"
#include "onnx/tensor.h"

#include <calque/edit.h>

#include <stdio.h>
#include <string.h>

enum { MAX_DEPTH = 64, MAX_LISTED = 20, OLDEST = 7 };

/* ---- the vocabulary of adapters ---- */

bool cq_opset_refuse(cq_opset_change *c, const char *why)
{
    snprintf(c->why, sizeof c->why, "%s", why);
    return false;
}

bool cq_opset_has_input(const cq_onnx_node *n, size_t i)
{
    return i < n->input.n && *n->input.items[i];
}

void cq_opset_set_input(cq_opset_change *c, cq_onnx_node *n, size_t i, const char *name)
{
    while (n->input.n <= i)
        cq_onnx_add_name(c->m, &n->input, "");
    n->input.items[i] = name;
}

void cq_opset_drop_inputs(cq_onnx_node *n, size_t from)
{
    n->input.n = n->input.n > from ? (uint32_t)from : n->input.n;
    while (n->input.n && !*n->input.items[n->input.n - 1])
        n->input.n--;
}

void cq_opset_drop_attr(cq_onnx_node *n, const char *name)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < n->attribute.n; i++)
        if (strcmp(n->attribute.items[i]->name, name) != 0)
            n->attribute.items[kept++] = n->attribute.items[i];
    n->attribute.n = kept;
}

int64_t cq_opset_int(const cq_onnx_node *n, const char *name, int64_t otherwise)
{
    const cq_onnx_attribute *a = cq_onnx_node_attr(n, name);

    return a ? a->i : otherwise;
}

bool cq_opset_text_is(const cq_onnx_node *n, const char *name, const char *text)
{
    const cq_onnx_attribute *a = cq_onnx_node_attr(n, name);

    return a && a->s.size == strlen(text) && memcmp(a->s.data, text, a->s.size) == 0;
}

void cq_opset_set_int(cq_opset_change *c, cq_onnx_node *n, const char *name, int64_t value)
{
    cq_opset_drop_attr(n, name);
    cq_onnx_attr_int(c->m, n, name, value);
}

void cq_opset_set_text(cq_opset_change *c, cq_onnx_node *n, const char *name, const char *value)
{
    cq_opset_drop_attr(n, name);
    cq_onnx_attr_string(c->m, n, name, value);
}

int cq_opset_rank(const cq_opset_change *c, const char *value)
{
    return (int)(uintptr_t)cq_map_get(&c->ranks, value) - 1;
}

int64_t cq_opset_size(const cq_opset_change *c, const char *value, int64_t axis)
{
    const int64_t *sizes = cq_map_get(&c->shapes, value);
    const int      rank  = cq_opset_rank(c, value);

    axis += axis < 0 ? rank : 0;
    return sizes && axis >= 0 && axis < rank ? sizes[axis] : -1;
}

cq_tensor *cq_opset_constant(const cq_opset_change *c, const char *value)
{
    const cq_onnx_tensor *message = cq_map_get(&c->constants, value);
    cq_tensor            *t       = NULL;

    return message && cq_onnx_tensor_to_tensor(&t, c->m, message) == CQ_OK ? t : NULL;
}

const char *cq_opset_name(cq_opset_change *c, const char *base)
{
    char        made[600];
    const char *text;

    do
        snprintf(made, sizeof made, "%.500s_%zu", base, c->n_made++);
    while (cq_map_has(&c->names, made));
    text = cq_onnx_text(c->m, made);
    if (!text || cq_map_set(&c->names, made, c) != CQ_OK)
        c->m->status = CQ_E_NO_MEMORY;
    return text ? text : "";
}

const char *cq_opset_tensor(cq_opset_change *c, const char *base, cq_tensor *t)
{
    const char     *name    = cq_opset_name(c, base);
    cq_onnx_tensor *message = cq_onnx_graph_add_initializer(c->m, NULL, name, t);

    if (message && cq_map_set(&c->constants, name, message) != CQ_OK)
        c->m->status = CQ_E_NO_MEMORY;
    if (message && c->m->ir_version < 4) { /* every initializer is an input, too */
        cq_onnx_axis axes[CQ_MAX_RANK];

        for (size_t i = 0; i < t->rank; i++)
            axes[i] = (cq_onnx_axis){ NULL, t->sizes[i].value };
        cq_onnx_add_value(c->m, &c->m->graph->input, name,
                          cq_onnx_type_new_tensor(c->m, cq_dtype_to_onnx(t->dtype), t->rank, axes));
    }
    return name;
}

const char *cq_opset_ints(cq_opset_change *c, const char *base, const int64_t *values, int64_t n)
{
    cq_tensor  *t = NULL;
    const char *name;

    if (cq_tensor_new(&t, CQ_DTYPE_I64, 1, &n, values) != CQ_OK) {
        c->m->status = CQ_E_NO_MEMORY;
        return "";
    }
    name = cq_opset_tensor(c, base, t);
    cq_tensor_release(t);
    return name;
}

const char *cq_opset_node(cq_opset_change *c, const char *op, const char *const *inputs, size_t n,
                          cq_onnx_node **made)
{
    cq_onnx_node *node = cq_onnx_alloc(c->m, sizeof *node);
    const char   *name = cq_opset_name(c, op);

    if (!node)
        return "";
    node->op_type = cq_onnx_text(c->m, op);
    node->name    = name;
    for (size_t i = 0; i < n; i++)
        cq_onnx_add_name(c->m, &node->input, inputs[i]);
    cq_onnx_add_name(c->m, &node->output, name);
    cq_onnx_list_push(c->m, c->out, node);
    if (made)
        *made = node;
    return name;
}

bool cq_opset_ints_to_input(cq_opset_change *c, cq_onnx_node *n, const char *attr, size_t i)
{
    const cq_onnx_attribute *a = cq_onnx_node_attr(n, attr);

    if (!a)
        return true;
    cq_opset_set_input(c, n, i, cq_opset_ints(c, attr, a->ints.items, a->ints.n));
    cq_opset_drop_attr(n, attr);
    return true;
}

bool cq_opset_input_to_ints(cq_opset_change *c, cq_onnx_node *n, const char *attr, size_t i)
{
    cq_tensor *t;
    int64_t    values[CQ_MAX_RANK * 2], count;

    if (!cq_opset_has_input(n, i)) {
        cq_opset_drop_inputs(n, i);
        return true;
    }
    t     = cq_opset_constant(c, n->input.items[i]);
    count = t ? cq_tensor_numel(t) : 0;
    if (!t || count > CQ_MAX_RANK * 2) {
        cq_tensor_release(t);
        return cq_opset_refuse(c, "an input is computed where the target expects an attribute");
    }
    for (int64_t k = 0; k < count; k++)
        values[k] = cq_tensor_get_i64(t, k);
    cq_tensor_release(t);
    cq_opset_drop_attr(n, attr);
    cq_onnx_attr_ints(c->m, n, attr, values, (size_t)count);
    n->input.items[i] = "";
    cq_opset_drop_inputs(n, n->input.n);
    return true;
}

/* ---- one node ---- */

static bool is_own_domain(const char *domain)
{
    return !domain || !*domain || strcmp(domain, "ai.onnx") == 0;
}

static bool adapt(cq_opset_change *c, cq_onnx_node *n)
{
    const bool  rises = c->to > c->from;
    const char *op    = n->op_type; /* an adapter that changes it leaves the form of the target */

    *c->why = '\0';
    for (size_t k = 0; k < cq_opset_n_rows; k++) {
        const cq_opset_row *row = &cq_opset_rows[rises ? k : cq_opset_n_rows - 1 - k];
        cq_opset_adapter    fn  = rises ? row->up : row->down;

        if (strcmp(row->op, n->op_type) != 0 || op != n->op_type)
            continue;
        if (rises ? row->version <= c->from || row->version > c->to
                  : row->version <= c->to || row->version > c->from)
            continue;
        if (fn && !fn(c, n))
            return false;
    }
    return true;
}

/* ---- problems ---- */

typedef struct trouble {
    cq_str text;
    size_t n;
    int    lowest; /* the lowest opset that can express all of it; 0: unknown */
} trouble;

/* The lowest version that can express the node: the one that introduced the operator, if the target
 * lacks it, otherwise the one whose form it has. */
static int lowest_of(const cq_onnx_node *n, int64_t from, int64_t to)
{
    const cq_onnx_schema *s;

    if (cq_onnx_schema_find(&s, "", n->op_type, to) == CQ_OK && !s)
        for (int64_t v = to + 1; v <= from; v++)
            if (cq_onnx_schema_find(&s, "", n->op_type, v) == CQ_OK && s)
                return (int)v;
    if (cq_onnx_schema_find(&s, "", n->op_type, from) != CQ_OK || !s)
        return (int)from;
    return s->since;
}

static void note(trouble *t, const cq_opset_change *c, const cq_onnx_node *n, const char *why)
{
    const int lowest = lowest_of(n, c->from, c->to);

    if (lowest > t->lowest)
        t->lowest = lowest;
    if (t->n++ < MAX_LISTED)
        cq_str_printf(&t->text, "%s%s (%s): %s", t->n > 1 ? "; " : "",
                      n->name && *n->name ? n->name
                      : n->output.n       ? n->output.items[0]
                                          : "node",
                      n->op_type, why);
}

static bool keep_first(void *user, const char *what)
{
    snprintf(user, 200, "%.199s", what);
    return false;
}

/* Whether the schema accepts the type that a value has. */
static bool is_accepted(const cq_opset_change *c, const char *name, const cq_onnx_parameter *p)
{
    const uintptr_t known = (uintptr_t)cq_map_get(&c->types, name);
    const int       elem = (int)(known & 255) - 1, kind = (int)(known >> 8);
    uint32_t        any = 0;

    if (!known || !p)
        return true;
    if (kind == CQ_IKIND_TENSOR)
        return elem <= 0 || elem >= 32 || (p->types.of[CQ_ONNX_WRAP_TENSOR] >> elem & 1);
    for (int w = CQ_ONNX_WRAP_TENSOR + 1; w < CQ_ONNX_WRAP_COUNT; w++)
        any |= p->types.of[w];
    return any != 0 || kind == CQ_IKIND_OTHER || kind == CQ_IKIND_UNKNOWN;
}

static void check_types(char *why, size_t size, const cq_opset_change *c, const cq_onnx_node *n,
                        const cq_onnx_schema *s)
{
    for (size_t i = 0; i < n->input.n && !*why; i++) {
        const cq_onnx_parameter *p = cq_onnx_parameter_at(s->inputs, s->n_inputs, i);

        if (!is_accepted(c, n->input.items[i], p))
            snprintf(why, size, "it does not accept the type of input %s", p->name);
    }
    for (size_t i = 0; i < n->output.n && !*why; i++) {
        const cq_onnx_parameter *p = cq_onnx_parameter_at(s->outputs, s->n_outputs, i);

        if (!is_accepted(c, n->output.items[i], p))
            snprintf(why, size, "it does not give the type of output %s", p->name);
    }
}

static cq_status check_node(trouble *t, const cq_opset_change *c, const cq_onnx_node *n)
{
    const cq_onnx_schema *s;
    char                  why[200] = "";

    CQ_TRY(cq_onnx_schema_find(&s, "", n->op_type, c->to));
    if (!s)
        snprintf(why, sizeof why, "the operator does not exist");
    else if (s->is_deprecated)
        snprintf(why, sizeof why, "the operator is deprecated");
    else
        CQ_TRY(cq_onnx_schema_faults(n, c->to, keep_first, why));
    if (s && !*why)
        check_types(why, sizeof why, c, n, s);
    if (*why)
        note(t, c, n, why);
    return CQ_OK;
}

/* ---- graphs ---- */

static cq_status convert_graph(cq_opset_change *c, trouble *t, cq_onnx_graph *g, int depth);

static cq_status convert_node(cq_opset_change *c, trouble *t, cq_onnx_node *n, int depth)
{
    for (size_t i = 0; i < n->attribute.n; i++) {
        cq_onnx_attribute *a = n->attribute.items[i];

        if (a->g)
            CQ_TRY(convert_graph(c, t, a->g, depth + 1));
        for (size_t k = 0; k < a->graphs.n; k++)
            CQ_TRY(convert_graph(c, t, a->graphs.items[k], depth + 1));
    }
    if (is_own_domain(n->domain) && n->op_type && !adapt(c, n))
        note(t, c, n, c->why);
    else if (is_own_domain(n->domain) && n->op_type)
        CQ_TRY(check_node(t, c, n));
    cq_onnx_list_push(c->m, c->out, n);
    return c->m->status;
}

static cq_status convert_graph(cq_opset_change *c, trouble *t, cq_onnx_graph *g, int depth)
{
    cq_node_list   out = { 0 }, *outer = c->out;
    cq_onnx_graph *around = c->graph;
    cq_status      status = CQ_OK;

    if (depth > MAX_DEPTH)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "graphs are nested deeper than %d", MAX_DEPTH);
    for (size_t i = 0; i < g->node.n && status == CQ_OK; i++) {
        c->out   = &out;
        c->graph = g;
        status   = convert_node(c, t, g->node.items[i], depth);
    }
    g->node.items = out.items;
    g->node.n     = out.n;
    g->node.cap   = out.cap;
    c->out        = outer;
    c->graph      = around;
    return status;
}

/* ---- what is known of values ---- */

/* A name that two graphs have is in doubt. */
static cq_status learn_shape(cq_opset_change *c, const cq_ivalue *v, bool seen)
{
    int64_t *sizes = NULL;

    if (v->type.has_rank && v->type.rank && !seen) {
        sizes = cq_onnx_alloc(c->m, v->type.rank * sizeof *sizes);
        if (!sizes)
            return CQ_E_NO_MEMORY;
    }
    for (size_t i = 0; sizes && i < v->type.rank; i++)
        sizes[i] = cq_dim_is_plain(v->type.dims[i]) ? v->type.dims[i].size.value : -1;
    return cq_map_set(&c->shapes, v->name, sizes);
}

static cq_status learn(void *user, const cq_onnx_graph *graph, const cq_ivalue *v)
{
    cq_opset_change *c    = user;
    const uintptr_t  rank = v->type.has_rank ? v->type.rank + 1 : 0;
    const bool       seen = cq_map_has(&c->names, v->name);

    (void)graph;
    CQ_TRY(cq_map_set(&c->names, v->name, c));
    CQ_TRY(learn_shape(c, v, seen));
    CQ_TRY(
        cq_map_set(&c->types, v->name,
                   seen ? NULL : (void *)(uintptr_t)(1 + v->type.elem + 256 * (int)v->type.kind)));
    if (seen && (uintptr_t)cq_map_get(&c->ranks, v->name) != rank)
        return cq_map_set(&c->ranks, v->name, NULL);
    return cq_map_set(&c->ranks, v->name, (void *)rank);
}

/* A name that two graphs have is in doubt, and not a constant. */
static cq_status add_constant(cq_map *out, const char *name, cq_onnx_tensor *t)
{
    return cq_map_set(out, name, cq_map_has(out, name) ? NULL : t);
}

static cq_status find_constants(cq_map *out, const cq_onnx_graph *g, int depth)
{
    if (!g || depth > MAX_DEPTH)
        return CQ_OK;
    for (size_t i = 0; i < g->initializer.n; i++)
        if (g->initializer.items[i]->name)
            CQ_TRY(add_constant(out, g->initializer.items[i]->name, g->initializer.items[i]));
    for (size_t i = 0; i < g->node.n; i++) {
        const cq_onnx_node      *n = g->node.items[i];
        const cq_onnx_attribute *a = cq_onnx_node_attr(n, "value");

        if (n->op_type && strcmp(n->op_type, "Constant") == 0 && is_own_domain(n->domain) && a &&
            a->t && n->output.n)
            CQ_TRY(add_constant(out, n->output.items[0], a->t));
        for (size_t k = 0; k < n->attribute.n; k++)
            CQ_TRY(find_constants(out, n->attribute.items[k]->g, depth + 1));
    }
    return CQ_OK;
}

/* A caller may replace the default of an input; before IR version 4 inputs have no defaults. */
cq_status cq_onnx_find_constants(cq_map *out, const cq_onnx_model *m)
{
    CQ_TRY(find_constants(out, m->graph, 0));
    for (size_t i = 0; i < m->graph->input.n && m->ir_version >= 4; i++)
        if (m->graph->input.items[i]->name)
            CQ_TRY(cq_map_set(out, m->graph->input.items[i]->name, NULL));
    return CQ_OK;
}

cq_status cq_opset_learn(cq_opset_change *c)
{
    CQ_TRY(cq_onnx_model_each_value(c->m, learn, c));
    return cq_onnx_find_constants(&c->constants, c->m);
}

void cq_opset_forget(cq_opset_change *c)
{
    cq_map_clear(&c->ranks);
    cq_map_clear(&c->shapes);
    cq_map_clear(&c->types);
    cq_map_clear(&c->constants);
    cq_map_clear(&c->names);
}

static void set_opset(cq_onnx_model *m, int64_t version)
{
    for (size_t i = 0; i < m->opset_import.n; i++)
        if (is_own_domain(m->opset_import.items[i]->domain))
            m->opset_import.items[i]->version = version;
}

/* The oldest IR version that allows an opset. */
static int64_t ir_version_of(int64_t opset)
{
    static const int last[] = { 8, 9, 10, 11, 14, 18, 20, 22, 23, 24 };
    size_t           i      = 0;

    while (i < sizeof last / sizeof *last && opset > last[i])
        i++;
    return 3 + (int64_t)i;
}

static cq_status finish(cq_opset_change *c, trouble *t)
{
    if (!t->n) {
        set_opset(c->m, c->to);
        if (c->m->ir_version < ir_version_of(c->to))
            cq_onnx_model_set_ir_version(c->m, ir_version_of(c->to));
        return c->m->status;
    }
    if (t->n > MAX_LISTED)
        cq_str_printf(&t->text, "; and %zu more", t->n - MAX_LISTED);
    return cq_fail(CQ_E_UNSUPPORTED, NULL, t->lowest > c->to ? "choose a higher opset" : NULL,
                   "opset %lld cannot express %zu node%s: %s%s%.0d", (long long)c->to, t->n,
                   t->n == 1 ? "" : "s", cq_str_text(&t->text),
                   t->lowest > c->to ? "; the lowest opset that can is " : "",
                   t->lowest > c->to ? t->lowest : 0);
}

CQ_API cq_status cq_onnx_model_convert_opset(cq_onnx_model *m, int64_t opset)
{
    CQ_NEED(m && m->graph);
    cq_opset_change c = { .m = m, .from = cq_onnx_imported(&m->opset_import, ""), .to = opset };
    trouble         t = { 0 };
    cq_status       status;

    if (c.from < 1)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "the model imports no operators of ONNX");
    if (opset < OLDEST || opset > CQ_ONNX_OPSET_NEWEST)
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL,
                       "cannot convert opset %lld to %lld: expected %d to %d", (long long)c.from,
                       (long long)opset, OLDEST, CQ_ONNX_OPSET_NEWEST);
    if (c.from == opset)
        return CQ_OK;
    if (m->functions.n)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, "calque optimize --inline removes functions",
                       "the opset of a model with functions cannot be changed");
    status = cq_opset_learn(&c);
    if (status == CQ_OK)
        status = convert_graph(&c, &t, m->graph, 0);
    if (status == CQ_OK)
        status = finish(&c, &t);
    cq_str_clear(&t.text);
    cq_opset_forget(&c);
    return status;
}

CQ_API cq_status cq_onnx_models_match_opsets(cq_onnx_model *a, cq_onnx_model *b)
{
    CQ_NEED(a && b);
    const int64_t x = cq_onnx_imported(&a->opset_import, "");
    const int64_t y = cq_onnx_imported(&b->opset_import, "");

    if (x < 1 || y < 1 || x == y)
        return CQ_OK;
    return x < y ? cq_onnx_model_convert_opset(a, y) : cq_onnx_model_convert_opset(b, x);
}
