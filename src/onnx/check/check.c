/* The rules of the ONNX specification as in onnx.checker, but all violations in one pass.
 * Violations that onnx 1.12 accepts by mistake are warnings: sizes of tensor data, graph outputs
 * that nothing computes, duplicate or recursive functions. Rules that depend on the operator are in
 * schema_check.c, called through node_rules. */
#include "onnx/check/check.h"

#include "base/str.h"
#include "onnx/schema.h"

#include <inttypes.h>
#include <string.h>

/* ---- operator sets, and the rules that need them ---- */

/* "ai.onnx" is another name for the default domain, in functions and imports. */
static const char *domain_of(const char *domain)
{
    return domain && strcmp(domain, "ai.onnx") != 0 ? domain : "";
}

static int64_t version_in(const cq_onnx_check *c, const cq_map *opsets, const char *domain)
{
    const cq_onnx_opset *opset = cq_map_get(opsets, domain ? domain : "");

    if (opset)
        return opset->version;
    /* Before IR version 3 there was a single opset, which was not imported. */
    return c->m->ir_version < 3 && (!domain || !*domain) ? 1 : CQ_ONNX_NOT_IMPORTED;
}

int64_t cq_onnx_check_opset(const cq_onnx_check *c, const char *domain)
{
    return version_in(c, c->opsets, domain);
}

/* Maps domains to opsets. For duplicates the last one is used or, with keep, the existing entry. */
static void add_opsets(cq_onnx_check *c, cq_map *map, const cq_onnx_opsets *opsets, bool keep)
{
    for (uint32_t i = 0; i < opsets->n && c->status == CQ_OK; i++) {
        const char *domain = opsets->items[i]->domain ? opsets->items[i]->domain : "";

        if (!keep || !cq_map_has(map, domain))
            c->status = cq_map_set(map, domain, opsets->items[i]);
    }
}

/* Whether onnx 1.12 reports operators of the domain without a schema. It has schemas for some
 * domains that it does not check. */
static bool is_watched(const char *domain)
{
    return !domain || strcmp(domain, "ai.onnx.preview.training") != 0;
}

static bool report_fault(void *user, const char *what)
{
    cq_onnx_report(user, CQ_ONNX_RULE_NODE_SCHEMA, "%s", what);
    return true;
}

static bool warn_of_fault(void *user, const char *what)
{
    cq_onnx_warn(user, CQ_ONNX_RULE_NODE_SCHEMA, "%s", what);
    return true;
}

/* Reports all violations of an operator's schema by a node. */
static void check_schema(cq_onnx_check *c, const cq_onnx_node *node, int64_t version)
{
    const cq_onnx_schema *s;
    cq_status             status = cq_onnx_schema_find(&s, node->domain, node->op_type, version);

    if (status == CQ_OK)
        status = cq_onnx_schema_faults(
            node, version, s || is_watched(node->domain) ? report_fault : warn_of_fault, c);
    if (status != CQ_OK)
        c->status = status;
}

/* An operator must have the same meaning in a function as in the model. */
static void check_function_opset(cq_onnx_check *c, const cq_onnx_node *node, int64_t version)
{
    const cq_onnx_schema *here, *there;
    int64_t               other;

    if (!c->in_function || c->n_graphs || c->status != CQ_OK)
        return;
    other = version_in(c, &c->all_opsets, node->domain);
    if (other == CQ_ONNX_NOT_IMPORTED || other == version)
        return;
    c->status = cq_onnx_schema_find(&here, node->domain, node->op_type, version);
    if (c->status == CQ_OK)
        c->status = cq_onnx_schema_find(&there, node->domain, node->op_type, other);
    if (c->status == CQ_OK && here != there)
        cq_onnx_report(c, CQ_ONNX_RULE_FUNCTION_OPSET,
                       "%s differs between opset %" PRId64 " here and %" PRId64 " of the model",
                       node->op_type, version, other);
}

static const cq_onnx_node_rule node_rules[] = {
    check_schema, check_function_opset, NULL /* the end */
};

static void check_graph(cq_onnx_check *c, const cq_onnx_graph *graph, const cq_onnx_scope *around);

static const char *text_of(const char *text)
{
    return text ? text : "";
}

/* ---- names ---- */

static bool scope_has(const cq_onnx_scope *scope, const char *name)
{
    for (; scope; scope = scope->parent)
        if (cq_map_has(&scope->names, name))
            return true;
    return false;
}

/* Adds a name to a set; false if it exists already. */
static bool add_name(cq_onnx_check *c, cq_map *names, const char *name)
{
    if (cq_map_has(names, name))
        return false;
    if (c->status == CQ_OK)
        c->status = cq_map_set(names, name, NULL);
    return true;
}

/* ---- attributes ---- */

/* Collects the types of the value fields that are set; returns their number. */
static int values_of(const cq_onnx_attribute *a, int32_t *types)
{
    const struct {
        bool    is_set;
        int32_t type;
    } fields[] = {
        { cq_onnx_has(a, CQ_ONNX_ATTRIBUTE_F), CQ_ONNX_ATTR_FLOAT },
        { cq_onnx_has(a, CQ_ONNX_ATTRIBUTE_I), CQ_ONNX_ATTR_INT },
        { a->s.data != NULL, CQ_ONNX_ATTR_STRING },
        { a->t != NULL, CQ_ONNX_ATTR_TENSOR },
        { a->g != NULL, CQ_ONNX_ATTR_GRAPH },
        { a->tp != NULL, CQ_ONNX_ATTR_TYPE_PROTO },
        { a->sparse_tensor != NULL, CQ_ONNX_ATTR_SPARSE_TENSOR },
        { a->floats.n != 0, CQ_ONNX_ATTR_FLOATS },
        { a->ints.n != 0, CQ_ONNX_ATTR_INTS },
        { a->strings.n != 0, CQ_ONNX_ATTR_STRINGS },
        { a->tensors.n != 0, CQ_ONNX_ATTR_TENSORS },
        { a->graphs.n != 0, CQ_ONNX_ATTR_GRAPHS },
        { a->sparse_tensors.n != 0, CQ_ONNX_ATTR_SPARSE_TENSORS },
        { a->type_protos.n != 0, CQ_ONNX_ATTR_TYPE_PROTOS },
    };
    int n = 0;

    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (fields[i].is_set)
            types[n++] = fields[i].type;
    return n;
}

static void check_attribute_form(cq_onnx_check *c, const cq_onnx_attribute *a)
{
    int32_t types[CQ_ONNX_ATTR_COUNT];
    int     n = values_of(a, types);

    if (!*text_of(a->name))
        cq_onnx_report(c, CQ_ONNX_RULE_ATTRIBUTE_NAME_MISSING, "the attribute has no name");
    if (!cq_onnx_has(a, CQ_ONNX_ATTRIBUTE_TYPE)) {
        if (c->m->ir_version >= 2)
            cq_onnx_report(c, CQ_ONNX_RULE_ATTRIBUTE_TYPE_MISSING, "the attribute has no type");
    } else if (n == 1 && types[0] != a->type) {
        cq_onnx_report(c, CQ_ONNX_RULE_ATTRIBUTE_TYPE_MISMATCH,
                       "its type is %" PRId32 " but it has a value of type %" PRId32, a->type,
                       types[0]);
    }
    if (n > 1)
        cq_onnx_report(c, CQ_ONNX_RULE_ATTRIBUTE_SEVERAL_VALUES, "the attribute has %d values", n);
    if (n && a->ref_attr_name && (c->in_function || c->n_graphs))
        cq_onnx_report(c, CQ_ONNX_RULE_ATTRIBUTE_REF_WITH_VALUE,
                       "the attribute refers to %s and has a value", a->ref_attr_name);
}

static void check_attribute(cq_onnx_check *c, const cq_onnx_attribute *a,
                            const cq_onnx_scope *scope)
{
    check_attribute_form(c, a);
    if (a->t)
        cq_onnx_check_tensor(c, a->t);
    if (a->sparse_tensor)
        cq_onnx_check_sparse_tensor(c, a->sparse_tensor);
    for (uint32_t i = 0; i < a->tensors.n; i++)
        cq_onnx_check_tensor(c, a->tensors.items[i]);
    for (uint32_t i = 0; i < a->sparse_tensors.n; i++)
        cq_onnx_check_sparse_tensor(c, a->sparse_tensors.items[i]);
    c->n_graphs++;
    if (a->g)
        check_graph(c, a->g, scope);
    for (uint32_t i = 0; i < a->graphs.n; i++)
        check_graph(c, a->graphs.items[i], scope);
    c->n_graphs--;
}

/* ---- nodes ---- */

/* Even duplicates are accepted by onnx if the operator has no schema. */
static void report_twice(cq_onnx_check *c, const cq_onnx_node *node)
{
    const cq_onnx_schema *s = NULL;

    if (c->status == CQ_OK)
        c->status = cq_onnx_schema_find(&s, node->domain, text_of(node->op_type),
                                        cq_onnx_check_opset(c, node->domain));
    if (s)
        cq_onnx_report(c, CQ_ONNX_RULE_ATTRIBUTE_DUPLICATE, "duplicate attribute");
    else
        cq_onnx_warn(c, CQ_ONNX_RULE_ATTRIBUTE_DUPLICATE, "duplicate attribute");
}

static void check_attributes(cq_onnx_check *c, const cq_onnx_node *node, const cq_onnx_scope *scope)
{
    cq_map           names = { 0 };
    cq_onnx_location location;

    for (uint32_t i = 0; i < node->attribute.n; i++) {
        const cq_onnx_attribute *a = node->attribute.items[i];

        cq_onnx_enter(c, &location, "attribute", a->name, i);
        if (*text_of(a->name) && !add_name(c, &names, a->name))
            report_twice(c, node);
        check_attribute(c, a, scope);
        cq_onnx_leave(c);
    }
    cq_map_clear(&names);
}

static void check_node(cq_onnx_check *c, const cq_onnx_node *node, const cq_onnx_scope *scope)
{
    int64_t version;

    if (!*text_of(node->op_type))
        cq_onnx_report(c, CQ_ONNX_RULE_OP_TYPE_MISSING, "the node has no op_type");
    if (!node->input.n && !node->output.n)
        cq_onnx_report(c, CQ_ONNX_RULE_NODE_EMPTY, "the node has no input and no output");
    if (cq_onnx_is_experimental(node->op_type))
        return;
    check_attributes(c, node, scope);
    version = cq_onnx_check_opset(c, node->domain);
    if (version == CQ_ONNX_NOT_IMPORTED) {
        cq_onnx_report(c, CQ_ONNX_RULE_DOMAIN_NOT_IMPORTED,
                       !*text_of(node->domain) && cq_map_has(c->opsets, "ai.onnx")
                           ? "domain \"%s\" is not imported; \"ai.onnx\" is"
                           : "domain \"%s\" is not imported",
                       text_of(node->domain));
        return; /* without a version there is no schema */
    }
    for (const cq_onnx_node_rule *rule = node_rules; *rule && *text_of(node->op_type); rule++)
        (*rule)(c, node, version);
}

/* Checks nodes in order: inputs must have been defined, outputs must not. Function bodies cannot
 * see outer names, so their scope has no parent. */
static void check_nodes(cq_onnx_check *c, cq_onnx_node *const *nodes, uint32_t n,
                        cq_onnx_scope *scope)
{
    cq_onnx_location location;

    for (uint32_t i = 0; i < n && c->status == CQ_OK; i++) {
        const cq_onnx_node *node = nodes[i];

        cq_onnx_enter(c, &location, "node", node->name, i);
        location.extra = node->op_type;
        for (uint32_t k = 0; k < node->input.n; k++)
            if (*node->input.items[k] && !scope_has(scope, node->input.items[k]))
                cq_onnx_report(c, CQ_ONNX_RULE_INPUT_UNDEFINED,
                               "input \"%s\" is not computed by an earlier node",
                               node->input.items[k]);
        check_node(c, node, scope);
        for (uint32_t k = 0; k < node->output.n; k++) {
            const char *name = node->output.items[k];

            if (*name && scope_has(scope, name))
                cq_onnx_report(c, CQ_ONNX_RULE_OUTPUT_DUPLICATE, "output \"%s\" exists already",
                               name);
            else if (*name)
                add_name(c, &scope->names, name);
        }
        cq_onnx_leave(c);
    }
}

/* ---- graphs ---- */

static void check_tensor_type(cq_onnx_check *c, const cq_onnx_tensor_type *type)
{
    if (!cq_onnx_has(type, CQ_ONNX_TENSOR_TYPE_ELEM_TYPE))
        cq_onnx_report(c, CQ_ONNX_RULE_VALUE_TYPE_MISSING, "the type has no element type");
    if (!type->shape)
        cq_onnx_report(c, CQ_ONNX_RULE_VALUE_SHAPE_MISSING, "the type has no shape");
}

static void check_type(cq_onnx_check *c, const cq_onnx_type *type)
{
    const cq_onnx_tensor_type  *tensor  = NULL;
    const cq_onnx_element_type *element = NULL;
    bool                        complete;

    if (type) {
        tensor  = type->tensor_type ? type->tensor_type : type->sparse_tensor_type;
        element = type->sequence_type ? type->sequence_type : type->optional_type;
    }
    if (tensor) {
        check_tensor_type(c, tensor);
        return;
    }
    if (type && type->map_type)
        complete =
            cq_onnx_has(type->map_type, CQ_ONNX_MAP_TYPE_KEY_TYPE) && type->map_type->value_type;
    else
        complete = element ? element->elem_type != NULL : type && type->opaque_type;
    if (!complete)
        cq_onnx_report(c, CQ_ONNX_RULE_VALUE_TYPE_MISSING, "its type is missing or incomplete");
}

/* Subgraphs may omit types: the enclosing node determines them. */
static void check_values(cq_onnx_check *c, const cq_onnx_value_infos *values, const char *kind)
{
    cq_onnx_location location;

    for (uint32_t i = 0; i < values->n; i++) {
        const cq_onnx_value_info *value = values->items[i];

        cq_onnx_enter(c, &location, kind, value->name, i);
        if (!*text_of(value->name))
            cq_onnx_report(c, CQ_ONNX_RULE_VALUE_NAME_MISSING, "the %s has no name", kind);
        if (!c->n_graphs)
            check_type(c, value->type);
        cq_onnx_leave(c);
    }
}

/* The name of an initializer, dense or sparse. */
static void check_initializer_name(cq_onnx_check *c, const char *name, cq_map *seen,
                                   cq_onnx_scope *scope, bool may_be_new)
{
    if (!*text_of(name)) {
        cq_onnx_report(c, CQ_ONNX_RULE_INITIALIZER_NAME_MISSING, "the initializer has no name");
        return;
    }
    if (!add_name(c, seen, name))
        cq_onnx_report(c, CQ_ONNX_RULE_INITIALIZER_DUPLICATE, "duplicate name");
    if (!may_be_new && !cq_map_has(&scope->names, name))
        cq_onnx_report(c, CQ_ONNX_RULE_INITIALIZER_NOT_INPUT,
                       "IR version %" PRId64 " requires every initializer to be an input",
                       c->m->ir_version);
    add_name(c, &scope->names, name);
}

static void check_initializers(cq_onnx_check *c, const cq_onnx_graph *graph, cq_onnx_scope *scope)
{
    cq_map           seen = { 0 };
    cq_onnx_location location;

    for (uint32_t i = 0; i < graph->initializer.n; i++) {
        const cq_onnx_tensor *tensor = graph->initializer.items[i];

        cq_onnx_enter(c, &location, "initializer", tensor->name, i);
        check_initializer_name(c, tensor->name, &seen, scope, c->m->ir_version > 3);
        cq_onnx_check_tensor(c, tensor);
        cq_onnx_leave(c);
    }
    for (uint32_t i = 0; i < graph->sparse_initializer.n; i++) {
        const cq_onnx_sparse_tensor *sparse = graph->sparse_initializer.items[i];
        const char                  *name   = sparse->values ? sparse->values->name : NULL;

        cq_onnx_enter(c, &location, "sparse initializer", name, i);
        check_initializer_name(c, name, &seen, scope, true);
        cq_onnx_check_sparse_tensor(c, sparse);
        cq_onnx_leave(c);
    }
    cq_map_clear(&seen);
}

static void check_graph(cq_onnx_check *c, const cq_onnx_graph *graph, const cq_onnx_scope *around)
{
    cq_onnx_scope    scope = { .parent = around };
    cq_onnx_location location;

    cq_onnx_enter(c, &location, "graph", graph->name, 0);
    if (!*text_of(graph->name))
        cq_onnx_report(c, CQ_ONNX_RULE_GRAPH_NAME_MISSING, "the graph has no name");
    check_values(c, &graph->input, "input");
    check_values(c, &graph->output, "output");
    for (uint32_t i = 0; i < graph->input.n; i++)
        if (!add_name(c, &scope.names, text_of(graph->input.items[i]->name)))
            cq_onnx_report(c, CQ_ONNX_RULE_INPUT_DUPLICATE, "two inputs are named \"%s\"",
                           text_of(graph->input.items[i]->name));
    check_initializers(c, graph, &scope);
    check_nodes(c, graph->node.items, graph->node.n, &scope);
    for (uint32_t i = 0; i < graph->output.n; i++)
        if (!scope_has(&scope, text_of(graph->output.items[i]->name)))
            cq_onnx_report(c, CQ_ONNX_RULE_OUTPUT_UNDEFINED,
                           "output \"%s\" is not computed by any node",
                           text_of(graph->output.items[i]->name));
    cq_onnx_leave(c);
    cq_map_clear(&scope.names);
}

/* ---- functions ---- */

static void check_unique(cq_onnx_check *c, const cq_onnx_names *names, const char *kind)
{
    cq_map seen = { 0 };

    for (uint32_t i = 0; i < names->n; i++)
        if (!add_name(c, &seen, names->items[i]))
            cq_onnx_report(c, CQ_ONNX_RULE_FUNCTION_NAMES_DUPLICATE, "two %s are named \"%s\"",
                           kind, names->items[i]);
    cq_map_clear(&seen);
}

static void check_function(cq_onnx_check *c, const cq_onnx_function *function)
{
    const cq_map *outside = c->opsets;
    cq_map        opsets  = { 0 };
    cq_onnx_scope scope   = { 0 };

    if (!*text_of(function->name))
        cq_onnx_report(c, CQ_ONNX_RULE_FUNCTION_NAME_MISSING, "the function has no name");
    if (!function->domain)
        cq_onnx_report(c, CQ_ONNX_RULE_FUNCTION_DOMAIN_MISSING, "the function has no domain");
    check_unique(c, &function->input, "inputs");
    check_unique(c, &function->output, "outputs");
    check_unique(c, &function->attribute, "attributes");
    add_opsets(c, &opsets, &function->opset_import, false);
    c->opsets      = &opsets;
    c->in_function = true;
    for (uint32_t i = 0; i < function->input.n; i++)
        add_name(c, &scope.names, function->input.items[i]);
    check_nodes(c, function->node.items, function->node.n, &scope);
    c->in_function = false;
    c->opsets      = outside;
    cq_map_clear(&opsets);
    cq_map_clear(&scope.names);
}

/* The key of a function: domain, name and overload in one text. */
static char *function_key(const char *domain, const char *name, const char *overload)
{
    cq_str key = { 0 };

    cq_str_printf(&key, "%s\n%s\n%s", domain_of(domain), text_of(name), text_of(overload));
    return cq_str_take(&key);
}

/* Depth-first walk of calls. state: 0 not visited, 1 in progress, 2 done. Subgraphs of nodes are
 * ignored. The stack is a list, because the file determines its depth. */
typedef struct walk {
    uint32_t function, node;
} walk;

static cq_status find_recursion(cq_onnx_check *c, const cq_map *by_key, uint8_t *state,
                                uint32_t first)
{
    CQ_VEC(walk) stack = { 0 };
    cq_status status   = cq_vec_push(&stack, (walk){ first, 0 });

    state[first] = 1;
    while (status == CQ_OK && stack.n) {
        walk                   *top      = &stack.items[stack.n - 1];
        const cq_onnx_function *function = c->m->functions.items[top->function];
        const cq_onnx_node     *node;
        char                   *key;
        uintptr_t               callee;

        if (top->node == function->node.n) {
            state[top->function] = 2;
            stack.n--;
            continue;
        }
        node = function->node.items[top->node++];
        key  = function_key(node->domain, node->op_type, node->overload);
        if (!key) {
            status = CQ_E_NO_MEMORY;
            break;
        }
        callee = (uintptr_t)cq_map_get(by_key, key); /* index + 1 */
        cq_free(key);
        if (callee && state[callee - 1] == 1) {
            cq_onnx_report(c, CQ_ONNX_RULE_FUNCTION_RECURSIVE,
                           "function %s calls %s, which calls it", text_of(function->name),
                           text_of(node->op_type));
        } else if (callee && state[callee - 1] == 0) {
            state[callee - 1] = 1;
            status            = cq_vec_push(&stack, (walk){ (uint32_t)callee - 1, 0 });
        }
    }
    cq_vec_clear(&stack);
    return status;
}

static cq_status check_functions(cq_onnx_check *c)
{
    uint32_t         n      = c->m->functions.n;
    cq_map           by_key = { 0 };
    uint8_t         *state  = cq_zalloc(n);
    cq_status        status = state ? CQ_OK : CQ_E_NO_MEMORY;
    cq_onnx_location location;

    for (uint32_t i = 0; i < n && status == CQ_OK; i++) {
        const cq_onnx_function *function = c->m->functions.items[i];
        char *key = function_key(function->domain, function->name, function->overload);

        cq_onnx_enter(c, &location, "function", function->name, i);
        if (!key)
            status = CQ_E_NO_MEMORY;
        else if (cq_map_has(&by_key, key))
            cq_onnx_report(c, CQ_ONNX_RULE_FUNCTION_DUPLICATE, "duplicate function");
        else
            status = cq_map_set(&by_key, key, (void *)(uintptr_t)(i + 1));
        cq_free(key);
        check_function(c, function);
        cq_onnx_leave(c);
    }
    for (uint32_t i = 0; i < n && status == CQ_OK; i++)
        if (!state[i])
            status = find_recursion(c, &by_key, state, i);
    cq_free(state);
    cq_map_clear(&by_key);
    return status;
}

/* ---- models ---- */

static void check_model(cq_onnx_check *c)
{
    const cq_onnx_model *m    = c->m;
    cq_map               keys = { 0 };

    if (m->ir_version == 0)
        cq_onnx_report(c, CQ_ONNX_RULE_IR_VERSION_MISSING, "ir_version is not set");
    if (m->ir_version > CQ_ONNX_IR_NEWEST)
        cq_onnx_report(c, CQ_ONNX_RULE_IR_VERSION_TOO_NEW,
                       "IR version %" PRId64 " is newer than %d, the newest known", m->ir_version,
                       CQ_ONNX_IR_NEWEST);
    for (uint32_t i = 0; i < m->metadata_props.n; i++)
        if (!add_name(c, &keys, text_of(m->metadata_props.items[i]->key)))
            cq_onnx_report(c, CQ_ONNX_RULE_METADATA_KEY_DUPLICATE,
                           "metadata_props has the key \"%s\" twice",
                           text_of(m->metadata_props.items[i]->key));
    cq_map_clear(&keys);
    if (m->ir_version >= 3 && !m->opset_import.n)
        cq_onnx_report(c, CQ_ONNX_RULE_OPSET_IMPORT_MISSING,
                       "IR version %" PRId64 " requires an opset_import", m->ir_version);
    if (m->ir_version < 3 && m->opset_import.n)
        cq_onnx_report(c, CQ_ONNX_RULE_OPSET_IMPORT_FORBIDDEN,
                       "IR version %" PRId64 " has no opset_import", m->ir_version);
    if (!m->graph)
        cq_onnx_report(c, CQ_ONNX_RULE_GRAPH_MISSING, "the model has no graph");
    else
        check_graph(c, m->graph, NULL);
    if (m->ir_version >= 8 && c->status == CQ_OK)
        c->status = check_functions(c);
}

CQ_API cq_status cq_onnx_model_check(cq_onnx_findings **out, const cq_onnx_model *m)
{
    CQ_NEED_OUT(out, m);
    cq_map        opsets = { 0 };
    cq_onnx_check c      = { .m = m, .opsets = &opsets };

    *out = NULL;
    CQ_TRY(cq_onnx_findings_new(&c.findings));
    add_opsets(&c, &opsets, &m->opset_import, false);
    add_opsets(&c, &c.all_opsets, &m->opset_import, false);
    for (uint32_t i = 0; i < m->functions.n; i++)
        add_opsets(&c, &c.all_opsets, &m->functions.items[i]->opset_import, true);
    check_model(&c);
    cq_map_clear(&opsets);
    cq_map_clear(&c.all_opsets);
    if (c.status != CQ_OK) {
        cq_onnx_findings_free(c.findings);
        c.findings = NULL;
    }
    *out = c.findings;
    return c.status;
}
