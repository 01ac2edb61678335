/* Makes a function of a call, by a function of lib/onnx/microsoft.py or experimental.py. */
#include "onnx/expand.h"

#include "base/map.h"
#include "onnx/compose/compose.h"
#include "onnx/reads.h"

#include <stdio.h>
#include <string.h>

/* The domain that describes the operator, NULL if there is none. A node without a domain is an
 * experiment, or one that ONNX Runtime has among ONNX's own. */
static cq_status domain_of(const char **out, const cq_onnx_node *node, int64_t version)
{
    const cq_onnx_schema *own;

    *out = NULL;
    if (!node->op_type)
        return CQ_OK;
    if (node->domain && *node->domain) {
        if (!strcmp(node->domain, "com.microsoft"))
            *out = node->domain;
        return CQ_OK;
    }
    CQ_TRY(cq_onnx_schema_find(&own, NULL, node->op_type, version));
    if (!own)
        *out = strcmp(node->op_type, "SimplifiedLayerNormalization") != 0 ? CQ_ONNX_EXPERIMENTAL
                                                                          : "com.microsoft";
    return CQ_OK;
}

static cq_status find_function(cq_lib_function **out, const char *domain, const char *op)
{
    char name[96];

    snprintf(name, sizeof name, "%s::%s", domain, op);
    return cq_compose_find(out, "function", name);
}

static cq_status check_attributes(const cq_onnx_node *node, const cq_onnx_schema *schema)
{
    for (uint32_t i = 0; i < node->attribute.n; i++)
        if (node->attribute.items[i]->ref_attr_name)
            return cq_compose_refuse(node, "takes no attributes from the function around it");
    for (size_t i = 0; i < schema->n_attributes; i++)
        if (schema->attributes[i].is_required &&
            !cq_onnx_node_attr(node, schema->attributes[i].name))
            return cq_compose_refuse(node, "lacks an attribute that it must have");
    return CQ_OK;
}

/* "X", or "X3" of an input that there may be any number of. */
static const char *parameter_name(cq_onnx_model *m, const cq_onnx_parameter *list, size_t n,
                                  size_t i)
{
    const cq_onnx_parameter *p = cq_onnx_parameter_at(list, n, i);
    char                     name[32];

    if (p && p->arity <= CQ_ONNX_OPTIONAL)
        return p->name;
    snprintf(name, sizeof name, "X%zu", i);
    return cq_onnx_text(m, name);
}

/* ---- results ---- */

static cq_status add_needed(void *user, const char *name)
{
    return cq_map_set(user, name, user);
}

/* A function may make nodes for outputs that the call does not use. */
cq_status cq_compose_drop_unused(cq_onnx_function *f)
{
    cq_map    needed = { 0 };
    cq_status status = CQ_OK;
    uint32_t  kept   = f->node.n;

    for (uint32_t i = 0; i < f->output.n && status == CQ_OK; i++)
        status = add_needed(&needed, f->output.items[i]);
    for (uint32_t i = f->node.n; i-- > 0 && status == CQ_OK;) {
        cq_onnx_node *node = f->node.items[i];
        bool          used = false;

        for (uint32_t k = 0; k < node->output.n; k++)
            used |= cq_map_has(&needed, node->output.items[k]);
        if (!used)
            continue;
        status                = cq_onnx_each_read(node, add_needed, &needed);
        f->node.items[--kept] = node;
    }
    cq_map_clear(&needed);
    memmove(f->node.items, f->node.items + kept, (f->node.n - kept) * sizeof *f->node.items);
    f->node.n -= kept;
    return status;
}

static bool is_taken(const cq_onnx_function *f, const char *name)
{
    for (uint32_t i = 0; i < f->input.n; i++)
        if (!strcmp(f->input.items[i], name))
            return true;
    for (uint32_t i = 0; i < f->output.n; i++)
        if (!strcmp(f->output.items[i], name))
            return true;
    return false;
}

/* The name of an output that is a distinct value: neither an input nor another output. */
static const char *output_name(cq_onnx_model *m, cq_onnx_function *f, const char *value, size_t i)
{
    cq_onnx_node *node;
    char          name[32];

    if (!is_taken(f, value))
        return value;
    snprintf(name, sizeof name, "result%zu", i);
    node = cq_onnx_function_add_node(m, f, "Identity", NULL, NULL);
    cq_onnx_node_add_input(m, node, value);
    cq_onnx_node_add_output(m, node, name);
    return cq_onnx_text(m, name);
}

static cq_status take_results(cq_compose *c, const cq_onnx_node *node, const cq_onnx_schema *schema,
                              cq_val result)
{
    size_t        n;
    const cq_val *items = cq_lang_items(&result, &n);

    for (size_t i = 0; i < node->output.n && c->m->status == CQ_OK; i++) {
        const bool  wanted = *node->output.items[i];
        const char *formal = parameter_name(c->m, schema->outputs, schema->n_outputs, i);
        const char *value  = i < n && wanted ? cq_compose_name(c, items[i]) : NULL;
        char        why[96];

        if (wanted && !value && c->m->status == CQ_OK) {
            snprintf(why, sizeof why, "is known without the output %s alone", formal);
            c->m->status = cq_compose_refuse(node, why);
        }
        cq_onnx_add_name(c->m, &c->body->output,
                         value ? output_name(c->m, c->body, value, i) : formal);
    }
    return c->m->status == CQ_OK ? cq_compose_drop_unused(c->body) : c->m->status;
}

/* ---- functions ---- */

/* The node with the names of the function's parameters; attributes are its own. */
static cq_onnx_node formal_node(cq_onnx_model *m, cq_onnx_function *f, const cq_onnx_node *node,
                                const cq_onnx_schema *schema)
{
    cq_onnx_node formal = *node;

    formal.input = (cq_onnx_names){ 0 };
    for (uint32_t i = 0; i < node->input.n && m->status == CQ_OK; i++) {
        const char *name = parameter_name(m, schema->inputs, schema->n_inputs, i);

        cq_onnx_add_name(m, &f->input, name);
        cq_onnx_add_name(m, &formal.input, *node->input.items[i] ? name : "");
    }
    return formal;
}

static cq_status compose(cq_onnx_function **out, cq_onnx_model *m, const cq_onnx_node *node,
                         const cq_onnx_schema *schema, cq_lib_function *rule)
{
    cq_onnx_function *f = cq_onnx_model_add_function(m, "", node->op_type);
    cq_onnx_node      formal;
    cq_compose        c;
    cq_val            result;

    if (!f)
        return m->status;
    cq_onnx_function_add_opset(m, f, "", CQ_COMPOSE_OPSET);
    formal = formal_node(m, f, node, schema);
    cq_compose_begin(&c, m, f, "value_");
    result = cq_compose_call(&c, rule, &formal, schema, NULL);
    if (m->status == CQ_OK)
        m->status = take_results(&c, node, schema, result);
    cq_compose_end(&c);
    *out = f;
    return m->status;
}

cq_status cq_onnx_expand(const cq_onnx_function **out, cq_onnx_model **store,
                         const cq_onnx_node *node, int64_t version)
{
    const cq_onnx_schema *schema;
    const char           *domain;
    cq_lib_function      *rule = NULL;
    cq_onnx_function     *f    = NULL;
    cq_status             status;

    *out = NULL;
    CQ_TRY(domain_of(&domain, node, version));
    if (domain)
        CQ_TRY(find_function(&rule, domain, node->op_type));
    if (!rule)
        return CQ_OK;
    CQ_TRY(cq_onnx_schema_find(&schema, domain, node->op_type, 1));
    if (!schema)
        return CQ_OK;
    if (node->domain && *node->domain)
        CQ_TRY(cq_onnx_schema_check_to_run(node, version));
    CQ_TRY(check_attributes(node, schema));
    if (!*store)
        CQ_TRY(cq_onnx_model_new(store, ""));
    status           = compose(&f, *store, node, schema, rule);
    (*store)->status = CQ_OK; /* a rejected call does not affect the others */
    *out             = status == CQ_OK ? f : NULL;
    return status;
}
