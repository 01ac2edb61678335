/* Converts a model to another operator set, one version after the other. In each step a node whose
 * operator has another version there is passed to its adapter, a function of lib/onnx/versions.py
 * that emits nodes of the next version. A node without an adapter keeps its form; the schema
 * decides whether it may, and types that an older version does not accept are widened (widen.c).
 * All nodes that the target cannot express are listed in one error. */
#include "edit/opset.h"

#include "base/str.h"
#include "onnx/infer/values.h"
#include "onnx/schema.h"

#include <calque/edit.h>

#include <stdio.h>
#include <string.h>

enum { MAX_DEPTH = 64, MAX_LISTED = 20, OLDEST = 7 };

typedef struct conversion {
    cq_opset_change base;
    int64_t         at, next; /* versions of the step */
    bool            has_new;  /* nodes were emitted in this step */
    bool            is_function;
    cq_ptr_map      failed; /* nodes that are in the list of problems */
    cq_str          text;   /* the list */
    size_t          n_failed;
    int64_t         last_good; /* the opset nearest to the target that can express all nodes */
} conversion;

static bool is_own_domain(const char *domain)
{
    return !domain || !*domain || strcmp(domain, "ai.onnx") == 0;
}

/* ---- problems ---- */

static cq_status note(conversion *c, const cq_onnx_node *n, const char *why)
{
    const bool rises = c->next > c->at;

    if (!c->n_failed || (rises ? c->at < c->last_good : c->at > c->last_good))
        c->last_good = c->at;
    if (c->n_failed++ < MAX_LISTED)
        cq_str_printf(&c->text, "%s%s (%s): %s", c->n_failed > 1 ? "; " : "",
                      n->name && *n->name ? n->name
                      : n->output.n       ? n->output.items[0]
                                          : "node",
                      n->op_type, why);
    return cq_ptr_map_set(&c->failed, n, c);
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

/* Until opset 8 a Constant is a tensor of floats; others become initializers. */
static bool is_initializer(conversion *c, const cq_onnx_node *n)
{
    const cq_onnx_attribute *a = cq_onnx_node_attr(n, "value");
    cq_onnx_tensor          *t;

    if (strcmp(n->op_type, "Constant") != 0 || c->next >= 9 || !a || !a->t || c->is_function)
        return false;
    t = cq_onnx_alloc(c->base.m, sizeof *t);
    if (!t)
        return false;
    *t      = *a->t;
    t->name = n->output.items[0];
    cq_onnx_list_push(c->base.m, &c->base.m->graph->initializer, t);
    return true;
}

/* Checks a node at the next version, and adds it, or its widened form, to the graph. */
static cq_status check_node(conversion *c, cq_onnx_node *n)
{
    const cq_onnx_schema *s;
    char                  why[200] = "";
    bool                  widened  = false;

    CQ_TRY(cq_onnx_schema_find(&s, "", n->op_type, c->next));
    if (!s)
        snprintf(why, sizeof why, "the operator does not exist");
    else if (s->is_deprecated)
        snprintf(why, sizeof why, "the operator is deprecated");
    else
        CQ_TRY(cq_onnx_schema_faults(n, c->next, keep_first, why));
    if (s && !*why) {
        check_types(why, sizeof why, &c->base, n, s);
        if (*why)
            CQ_TRY(cq_opset_widen(&widened, &c->base, n, s));
    }
    if (widened || (*why && s && is_initializer(c, n))) {
        c->has_new = true;
        return c->base.m->status;
    }
    cq_onnx_list_push(c->base.m, c->base.out, n);
    return *why ? note(c, n, why) : c->base.m->status;
}

/* ---- adapters ---- */

static cq_status find_adapter(cq_lib_function **out, const conversion *c, const char *op)
{
    const bool rises = c->next > c->at;
    char       key[96];

    snprintf(key, sizeof key, "%.64s %lld", op, (long long)(rises ? c->next : c->at));
    return cq_compose_find(out, rises ? "upgrade" : "downgrade", key);
}

static bool is_made(const cq_onnx_function *body, const char *name)
{
    for (size_t i = 0; i < body->node.n; i++)
        for (size_t k = 0; k < body->node.items[i]->output.n; k++)
            if (strcmp(body->node.items[i]->output.items[k], name) == 0)
                return true;
    return false;
}

static bool is_output(const cq_onnx_node *n, const char *name)
{
    for (size_t i = 0; i < n->output.n; i++)
        if (strcmp(n->output.items[i], name) == 0)
            return true;
    return false;
}

/* Gives the results the names that the outputs of the node have. A value that is an input, or was
 * given a name already, is copied by an Identity. */
static void name_results(cq_compose *p, const cq_onnx_node *n, cq_val result)
{
    size_t            count;
    const cq_val     *items = cq_lang_items(&result, &count);
    cq_onnx_function *body  = p->body;

    for (size_t i = 0; i < n->output.n && p->m->status == CQ_OK; i++) {
        const char *to = n->output.items[i], *from;

        if (!*to)
            continue;
        from = i < count ? cq_compose_name(p, items[i]) : NULL;
        for (size_t k = 0; k < i && from; k++) /* it was renamed already */
            if (*n->output.items[k] && k < count && items[k].kind == items[i].kind &&
                strcmp(cq_compose_name(p, items[k]), from) == 0)
                from = n->output.items[k];
        if (!from) {
            snprintf(p->why, sizeof p->why, "output %zu cannot be computed", i);
            p->m->status = p->m->status == CQ_OK ? CQ_E_UNSUPPORTED : p->m->status;
        } else if (is_made(body, from) && !is_output(n, from)) {
            cq_onnx_graph all = { .node = { body->node.items, body->node.n, body->node.cap } };

            cq_edit_rename(&all, from, to);
        } else {
            cq_onnx_node *copy = cq_onnx_function_add_node(p->m, body, "Identity", NULL, NULL);

            cq_onnx_node_add_input(p->m, copy, from);
            cq_onnx_node_add_output(p->m, copy, to);
        }
        cq_onnx_add_name(p->m, &body->output, to);
    }
}

/* A name for each node; outputs of nodes that are not used are left out. */
static void finish_nodes(conversion *c, cq_onnx_function *body, const cq_onnx_node *n)
{
    for (size_t i = 0; i < body->node.n; i++) {
        cq_onnx_node *made = body->node.items[i];
        const bool    last = i + 1 == body->node.n && n->name && *n->name;

        made->name = last ? n->name : made->output.n ? made->output.items[0] : NULL;
        cq_onnx_list_push(c->base.m, c->base.out, made);
    }
}

static cq_status adapt(conversion *c, cq_onnx_node *n, const cq_onnx_schema *schema,
                       cq_lib_function *f)
{
    cq_onnx_function body = { 0 };
    cq_onnx_model   *m    = c->base.m;
    cq_compose       p;
    cq_val           result;
    char             prefix[72];
    cq_status        status;

    snprintf(prefix, sizeof prefix, "%.64s_", n->op_type);
    cq_compose_begin(&p, m, &body, prefix);
    p.opset   = c->next;
    p.facts   = &c->base.facts;
    p.n_names = (unsigned)c->base.n_made;
    result    = cq_compose_call(&p, f, n, schema, NULL);
    if (m->status == CQ_OK)
        name_results(&p, n, result);
    if (m->status == CQ_OK)
        m->status = cq_compose_drop_unused(&body);
    c->base.n_made = p.n_names;
    status         = m->status;
    if (status == CQ_E_UNSUPPORTED) {
        m->status = CQ_OK;
        cq_onnx_list_push(m, c->base.out, n);
        status = note(c, n, *p.why ? p.why : "the target has no such form");
    } else if (status == CQ_OK) {
        finish_nodes(c, &body, n);
        c->has_new = true;
        status     = m->status;
    }
    cq_compose_end(&p);
    return status;
}

/* ---- steps ---- */

typedef cq_status visit_fn(conversion *c, cq_onnx_node *n);

static cq_status is_changed(bool *out, const conversion *c, const cq_onnx_node *n)
{
    const cq_onnx_schema *a, *b;

    *out = false;
    if (!is_own_domain(n->domain) || !n->op_type || cq_ptr_map_get(&c->failed, n))
        return CQ_OK;
    CQ_TRY(cq_onnx_schema_find(&a, "", n->op_type, c->at));
    CQ_TRY(cq_onnx_schema_find(&b, "", n->op_type, c->next));
    *out = a != b;
    return CQ_OK;
}

/* The first pass: nodes of changed operators become those that their adapters emit. */
static cq_status adapt_node(conversion *c, cq_onnx_node *n)
{
    const cq_onnx_schema *schema;
    cq_lib_function      *f = NULL;
    bool                  changed;

    CQ_TRY(is_changed(&changed, c, n));
    if (changed) {
        CQ_TRY(cq_onnx_schema_find(&schema, "", n->op_type, c->at));
        CQ_TRY(find_adapter(&f, c, n->op_type));
    }
    if (f && schema)
        return adapt(c, n, schema, f);
    cq_onnx_list_push(c->base.m, c->base.out, n);
    return c->base.m->status;
}

/* The second pass: nodes that are new or whose operator changed must be valid at the next version.
 */
static cq_status review_node(conversion *c, cq_onnx_node *n)
{
    bool changed;

    CQ_TRY(is_changed(&changed, c, n));
    if (c->has_new && is_own_domain(n->domain) && n->op_type && !cq_ptr_map_get(&c->failed, n))
        changed = true;
    if (changed)
        return check_node(c, n);
    cq_onnx_list_push(c->base.m, c->base.out, n);
    return c->base.m->status;
}

static cq_status visit_nodes(conversion *c, cq_node_list *nodes, visit_fn *visit, int depth);

static cq_status visit_graph(conversion *c, cq_onnx_graph *g, visit_fn *visit, int depth)
{
    cq_node_list nodes  = { g->node.items, g->node.n, g->node.cap };
    cq_status    status = visit_nodes(c, &nodes, visit, depth);

    g->node.items = nodes.items;
    g->node.n     = nodes.n;
    g->node.cap   = nodes.cap;
    return status;
}

static cq_status visit_nodes(conversion *c, cq_node_list *nodes, visit_fn *visit, int depth)
{
    cq_node_list out = { 0 }, *outer = c->base.out;
    cq_status    status = CQ_OK;

    if (depth > MAX_DEPTH)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "subgraphs are nested more than %d deep",
                       MAX_DEPTH);
    for (size_t i = 0; i < nodes->n && status == CQ_OK; i++) {
        cq_onnx_node *n = nodes->items[i];

        for (size_t k = 0; k < n->attribute.n && status == CQ_OK; k++) {
            cq_onnx_attribute *a = n->attribute.items[k];

            if (a->g)
                status = visit_graph(c, a->g, visit, depth + 1);
            for (size_t j = 0; j < a->graphs.n && status == CQ_OK; j++)
                status = visit_graph(c, a->graphs.items[j], visit, depth + 1);
        }
        c->base.out = &out;
        if (status == CQ_OK)
            status = visit(c, n);
    }
    *nodes      = out;
    c->base.out = outer;
    return status;
}

static void set_opset(cq_onnx_opsets *opsets, int64_t version)
{
    for (size_t i = 0; i < opsets->n; i++)
        if (is_own_domain(opsets->items[i]->domain))
            opsets->items[i]->version = version;
}

/* Inference after a step: nodes that have failed may be wrong for it, and it knows less then. */
static cq_status learn_new(conversion *c)
{
    const cq_status status = cq_opset_learn(&c->base);

    return status == CQ_E_NO_MEMORY ? status : CQ_OK;
}

/* Whether a node of the graphs has another version of its operator at the next step. */
static cq_status has_work(bool *out, const conversion *c, const cq_node_list *nodes, int depth)
{
    for (size_t i = 0; i < nodes->n && !*out && depth <= MAX_DEPTH; i++) {
        const cq_onnx_node *n = nodes->items[i];

        CQ_TRY(is_changed(out, c, n));
        for (size_t k = 0; k < n->attribute.n && !*out; k++) {
            const cq_onnx_graph *g = n->attribute.items[k]->g;

            if (g)
                CQ_TRY(has_work(out, c, &(cq_node_list){ g->node.items, g->node.n, g->node.cap },
                                depth + 1));
        }
    }
    return CQ_OK;
}

/* One version up or down. function NULL: the graph of the model. */
static cq_status step(conversion *c, cq_node_list *nodes, const cq_onnx_function *function)
{
    bool work = false;

    CQ_TRY(has_work(&work, c, nodes, 0));
    c->has_new = false;
    if (work)
        CQ_TRY(visit_nodes(c, nodes, adapt_node, 0));
    if (!function) {
        c->base.m->graph->node.items = nodes->items;
        c->base.m->graph->node.n     = nodes->n;
        c->base.m->graph->node.cap   = nodes->cap;
        set_opset(&c->base.m->opset_import, c->next);
    }
    if (c->has_new && !function)
        CQ_TRY(learn_new(c));
    if (work)
        CQ_TRY(visit_nodes(c, nodes, review_node, 0));
    if (!function) {
        c->base.m->graph->node.items = nodes->items;
        c->base.m->graph->node.n     = nodes->n;
        c->base.m->graph->node.cap   = nodes->cap;
    }
    if (c->has_new && !function)
        CQ_TRY(learn_new(c)); /* values that were widened */
    return c->base.m->status;
}

static cq_status convert_nodes(conversion *c, cq_node_list *nodes, const cq_onnx_function *function)
{
    const int by = c->base.to > c->base.from ? 1 : -1;

    for (c->at = c->base.from; c->at != c->base.to; c->at += by) {
        c->next = c->at + by;
        CQ_TRY(step(c, nodes, function));
        if (function && c->has_new) {
            cq_onnx_function body = *function;

            body.node.items = nodes->items;
            body.node.n     = nodes->n;
            CQ_TRY(cq_opset_learn_function(&c->base, &body));
        }
    }
    return CQ_OK;
}

static void end(conversion *c)
{
    cq_ptr_map_clear(&c->failed);
    cq_str_clear(&c->text);
    cq_opset_forget(&c->base);
}

/* ---- functions ---- */

static bool has_graphs(const cq_onnx_function *f)
{
    for (size_t i = 0; i < f->node.n; i++)
        for (size_t k = 0; k < f->node.items[i]->attribute.n; k++)
            if (f->node.items[i]->attribute.items[k]->g ||
                f->node.items[i]->attribute.items[k]->graphs.n)
                return true;
    return false;
}

/* Converts the nodes of a function into *nodes; types are not known in it. False: it needs them. */
static cq_status convert_function(bool *done, cq_node_list *nodes, cq_onnx_model *m,
                                  const cq_onnx_function *f, int64_t opset)
{
    conversion c = { .base = {
                         .m = m, .from = cq_onnx_imported(&f->opset_import, ""), .to = opset } };
    cq_status  status;

    *nodes = (cq_node_list){ f->node.items, f->node.n, f->node.cap };
    *done  = true;
    if (c.base.from < 1 || c.base.from == opset)
        return CQ_OK;
    c.is_function = true;
    *done         = !has_graphs(f);
    if (!*done)
        return CQ_OK;
    status = cq_opset_learn_function(&c.base, f);
    if (status == CQ_OK)
        status = convert_nodes(&c, nodes, f);
    *done = c.n_failed == 0;
    end(&c);
    return status;
}

/* Functions keep their form if each can be converted without knowing the types of its values;
 * otherwise calls are replaced by their nodes. */
static cq_status convert_functions(cq_onnx_model *m, int64_t opset)
{
    cq_node_list *all  = cq_onnx_alloc(m, (m->functions.n + 1) * sizeof *all);
    bool          done = true;

    if (!all)
        return CQ_E_NO_MEMORY;
    for (size_t i = 0; i < m->functions.n && done; i++)
        CQ_TRY(convert_function(&done, &all[i], m, m->functions.items[i], opset));
    if (!done)
        return cq_onnx_model_inline(m);
    for (size_t i = 0; i < m->functions.n; i++) {
        m->functions.items[i]->node.items = all[i].items;
        m->functions.items[i]->node.n     = all[i].n;
        m->functions.items[i]->node.cap   = all[i].cap;
        set_opset(&m->functions.items[i]->opset_import, opset);
    }
    return CQ_OK;
}

/* ---- the model ---- */

static cq_status finish(conversion *c)
{
    cq_onnx_model *m     = c->base.m;
    const bool     rises = c->base.to > c->base.from;

    if (!c->n_failed) {
        set_opset(&m->opset_import, c->base.to);
        if (m->ir_version < cq_onnx_ir_of_opset(c->base.to))
            cq_onnx_model_set_ir_version(m, cq_onnx_ir_of_opset(c->base.to));
        return m->status;
    }
    if (c->n_failed > MAX_LISTED)
        cq_str_printf(&c->text, "; and %zu more", c->n_failed - MAX_LISTED);
    return cq_fail(CQ_E_UNSUPPORTED, NULL, rises ? "choose a lower opset" : "choose a higher opset",
                   "opset %lld cannot express %zu node%s: %s; the %s opset that can is %lld",
                   (long long)c->base.to, c->n_failed, c->n_failed == 1 ? "" : "s",
                   cq_str_text(&c->text), rises ? "highest" : "lowest", (long long)c->last_good);
}

/* A model of other domains only, such as ai.onnx.ml, has no node to convert. */
static cq_status import_opset(cq_onnx_model *m, int64_t opset)
{
    for (uint32_t i = 0; i < m->graph->node.n; i++)
        if (is_own_domain(m->graph->node.items[i]->domain))
            return cq_fail(CQ_E_INVALID, NULL, NULL, "the model imports no operators of ONNX");
    cq_onnx_model_add_opset(m, "", opset);
    if (m->ir_version < cq_onnx_ir_of_opset(opset))
        cq_onnx_model_set_ir_version(m, cq_onnx_ir_of_opset(opset));
    return m->status;
}

CQ_API cq_status cq_onnx_model_convert_opset(cq_onnx_model *m, int64_t opset)
{
    CQ_NEED(m);
    conversion   c = { .base = {
                           .m = m, .from = cq_onnx_imported(&m->opset_import, ""), .to = opset } };
    cq_node_list nodes;
    cq_status    status;

    CQ_TRY(cq_onnx_need_graph(m));
    if (opset < OLDEST || opset > CQ_ONNX_OPSET_NEWEST || c.base.from > CQ_ONNX_OPSET_NEWEST)
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL,
                       "cannot convert opset %lld to %lld: expected %d to %d",
                       (long long)c.base.from, (long long)opset, OLDEST, CQ_ONNX_OPSET_NEWEST);
    if (c.base.from < 1)
        return import_opset(m, opset);
    CQ_TRY(convert_functions(m, opset));
    if (c.base.from == opset)
        return CQ_OK;
    status = cq_opset_learn(&c.base);
    nodes  = (cq_node_list){ m->graph->node.items, m->graph->node.n, m->graph->node.cap };
    if (status == CQ_OK)
        status = convert_nodes(&c, &nodes, NULL);
    if (status == CQ_OK)
        status = finish(&c);
    end(&c);
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
