/* An ONNX model: external data that leads elsewhere, sizes that do not add up, operators that are
 * not ONNX's, functions that call themselves, texts that a terminal would obey. */
#include "audit/audit.h"

#include "onnx/file/external.h"
#include "onnx/file/fields.h"
#include "onnx/function_index.h"
#include "base/path.h"
#include "onnx/schema.h"
#include "onnx/tensor.h"

#include <calque/onnx.h>

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct onnx_scan {
    cq_audit            *a;
    const cq_onnx_model *m;
    const char          *where; /* the path of the model if it is a file */
    cq_map               functions;
    cq_ptr_map           state; /* of functions: 1 while it is visited, 2 afterwards */
    bool                 is_file;
    double               stripped; /* bytes of weights that were removed */
    double               sparse;   /* elements of sparse tensors */
} onnx_scan;

/* Sizes that a file claims without having the bytes; larger ones are a finding. */
#define MAX_CLAIMED  2e9
#define MAX_SPARSE   0x1p26 /* elements */
#define MAX_ELEMENTS 0x1p36 /* of a value of a graph */

static const char *text_of(const char *text)
{
    return text ? text : "";
}

/* ---- external data ---- */

static bool path_of(char path[PATH_MAX], const char *model, const char *location)
{
    const char *slash = cq_path_separator(model);

    return snprintf(path, PATH_MAX, "%.*s%s", slash ? (int)(slash - model) + 1 : 0, model,
                    location) < PATH_MAX;
}

/* A link in the path: each component is inspected without following it. */
static bool has_link(const char *model, const char *location)
{
    const char *slash = cq_path_separator(model);
    char        path[PATH_MAX];
    size_t      at;

    if (!path_of(path, model, location))
        return false;
    at = slash ? (size_t)(slash - model) + 1 : 0;
    for (size_t i = at; path[i]; i++) {
        const char next = path[i + 1];

        if (path[i] != '/' && next != '/' && next)
            continue;
        path[i + 1] = '\0';
        if (cq_path_entry(path, NULL) == CQ_ENTRY_LINK)
            return true;
        path[i + 1] = next;
    }
    return false;
}

static bool has_other_names(const char *model, const char *location)
{
    char path[PATH_MAX];

    return path_of(path, model, location) && cq_path_has_other_names(path);
}

static const char *fault_of(const char *location)
{
    const char *fault = cq_onnx_location_fault(location);

    if (!fault && (strchr(location, '\\') || location[1] == ':'))
        fault = "has a location for another system that leads out of the model's folder";
    return fault;
}

/* Readers differ in which of several locations they take, and whether they ignore one that nothing
 * marks as external. */
static void scan_locations(onnx_scan *s, const cq_onnx_tensor *t)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < t->external_data.n; i++) {
        const cq_onnx_entry *entry = t->external_data.items[i];

        if (strcmp(text_of(entry->key), "location") != 0)
            continue;
        n++;
        if (entry->value && fault_of(entry->value) && !cq_onnx_is_stripped(t))
            cq_audit_add(s->a, CQ_VERDICT_HOSTILE, "external-path", s->where,
                         "external data of '%s' %s: %s", text_of(t->name), fault_of(entry->value),
                         entry->value);
    }
    if (n > 1)
        cq_audit_add(s->a, CQ_VERDICT_HOSTILE, "external-path", s->where,
                     "external data of '%s' has %u locations", text_of(t->name), n);
}

static void scan_external(onnx_scan *s, const cq_onnx_tensor *t)
{
    const char *location = cq_onnx_entry_get(&t->external_data, "location");
    const char *name     = text_of(t->name);
    const char *fault;
    cq_storage *bytes = NULL;
    size_t      size;

    if (cq_onnx_is_stripped(t)) {
        s->stripped += cq_onnx_tensor_raw_size(&size, t) == CQ_OK ? (double)size : INFINITY;
        cq_audit_add(s->a, CQ_VERDICT_SAFE, "stripped", s->where, "the data of '%s' was removed",
                     name);
        return;
    }
    fault = location ? fault_of(location) : cq_onnx_location_fault(location);
    if (fault) {
        cq_audit_add(s->a, location ? CQ_VERDICT_HOSTILE : CQ_VERDICT_UNKNOWN, "external-path",
                     s->where, "external data of '%s' %s: %s", name, fault, text_of(location));
        return;
    }
    if (!s->is_file) {
        cq_audit_add(s->a, CQ_VERDICT_UNKNOWN, "external-data", s->where,
                     "external data of '%s' in '%s' cannot be found from here", name, location);
        return;
    }
    if (has_link(s->where, location))
        cq_audit_add(s->a, CQ_VERDICT_HOSTILE, "external-link", s->where,
                     "external data of '%s' is a symbolic link: %s", name, location);
    else if (has_other_names(s->where, location))
        cq_audit_add(s->a, CQ_VERDICT_UNKNOWN, "external-link", s->where,
                     "external data of '%s' is a file with several names (hard links): %s", name,
                     location);
    else if (cq_onnx_tensor_raw_size(&size, t) != CQ_OK ||
             cq_onnx_external_storage(&bytes, s->m, t, size) != CQ_OK)
        cq_audit_add(s->a, CQ_VERDICT_UNKNOWN, "external-data", s->where,
                     "external data of '%s': %s", name, cq_last_error()->message);
    cq_storage_release(bytes);
}

/* ---- tensors and texts ---- */

static bool has_elements(const cq_onnx_tensor *t)
{
    return t->raw_data.data || t->tensor || t->float_data.n || t->int32_data.n || t->int64_data.n ||
           t->double_data.n || t->uint64_data.n || t->string_data.n || t->segment;
}

static void scan_tensor(onnx_scan *s, const cq_onnx_tensor *t)
{
    size_t  want;
    int64_t numel;

    scan_locations(s, t);
    if (cq_onnx_is_external(t)) {
        scan_external(s, t);
    } else if (cq_onnx_tensor_numel(&numel, t) != CQ_OK) {
        cq_audit_add(s->a, CQ_VERDICT_HOSTILE, "tensor-size", s->where, "tensor '%s': %s",
                     text_of(t->name), cq_last_error()->message);
    } else if (t->raw_data.data && cq_onnx_tensor_raw_size(&want, t) == CQ_OK &&
               want != t->raw_data.size) {
        cq_audit_add(s->a, CQ_VERDICT_UNKNOWN, "tensor-size", s->where,
                     "tensor '%s' has %zu bytes, its shape needs %zu", text_of(t->name),
                     t->raw_data.size, want);
    } else if (numel && !has_elements(t)) {
        cq_audit_add(s->a, CQ_VERDICT_UNKNOWN, "tensor-size", s->where,
                     "tensor '%s' has no elements, its shape has %" PRId64, text_of(t->name),
                     numel);
    }
}

/* Few elements, but a dense tensor takes memory for all of them. */
static void scan_sparse(onnx_scan *s, const cq_onnx_sparse_tensor *t)
{
    double numel = 1;

    for (uint32_t i = 0; i < t->dims.n; i++)
        numel *= t->dims.items[i] > 0 ? (double)t->dims.items[i] : 0;
    s->sparse += numel;
}

static bool has_control(const char *text)
{
    for (const unsigned char *p = (const unsigned char *)text_of(text); *p; p++)
        if ((*p < 32 && *p != '\n' && *p != '\t' && *p != '\r') || *p == 127)
            return true;
    return false;
}

/* prefix is in lower case. */
static bool starts_with_any_case(const char *text, const char *prefix)
{
    while (*prefix && (*text >= 'A' && *text <= 'Z' ? *text + 32 : *text) == *prefix)
        text++, prefix++;
    return !*prefix;
}

static bool has_markup(const char *text)
{
    static const char *const scripts[] = { "<script", "javascript:", "<iframe",
                                           "onerror=", "onload=" };

    for (const char *p = text_of(text); *p; p++)
        for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++)
            if (starts_with_any_case(p, scripts[i]))
                return true;
    return false;
}

static void scan_text(onnx_scan *s, const char *text)
{
    if (has_control(text))
        cq_audit_add(s->a, CQ_VERDICT_UNKNOWN, "control-characters", s->where,
                     "a name or text has control characters, which a terminal obeys");
    if (has_markup(text))
        cq_audit_add(s->a, CQ_VERDICT_UNKNOWN, "markup", s->where,
                     "a name or text has a script of HTML, which a viewer may run");
}

static void scan_names(onnx_scan *s, const cq_onnx_names *names)
{
    for (uint32_t i = 0; i < names->n; i++)
        scan_text(s, names->items[i]);
}

/* ---- loops that do not end ---- */

/* The value of a scalar that the graph has as a constant. */
static bool constant_of(const cq_onnx_model *m, const cq_onnx_graph *g, const char *name,
                        int64_t *out)
{
    const cq_onnx_tensor *t = NULL;
    cq_tensor            *value;

    for (uint32_t i = 0; i < g->initializer.n && !t; i++)
        if (strcmp(text_of(g->initializer.items[i]->name), name) == 0)
            t = g->initializer.items[i];
    for (uint32_t i = 0; i < g->node.n && !t; i++) {
        const cq_onnx_node      *n = g->node.items[i];
        const cq_onnx_attribute *a = cq_onnx_node_attr(n, "value");

        if (strcmp(text_of(n->op_type), "Constant") == 0 && a && n->output.n &&
            strcmp(n->output.items[0], name) == 0)
            t = a->t;
    }
    if (!t || cq_onnx_is_external(t) || cq_onnx_tensor_to_tensor(&value, m, t) != CQ_OK)
        return false;
    *out = cq_tensor_numel(value) == 1 ? cq_tensor_get_i64(value, 0) : 0;
    cq_tensor_release(value);
    return true;
}

/* Whether the condition that a body returns is always true: the one it is given, or a constant. */
static bool never_stops(const cq_onnx_model *m, const cq_onnx_graph *body)
{
    const char *name = body->output.n ? text_of(body->output.items[0]->name) : "";
    const char *own  = body->input.n > 1 ? text_of(body->input.items[1]->name) : "";
    int64_t     value;

    for (uint32_t i = body->node.n; i-- > 0;) {
        const cq_onnx_node *n = body->node.items[i];

        if (strcmp(text_of(n->op_type), "Identity") == 0 && n->input.n && n->output.n &&
            strcmp(n->output.items[0], name) == 0)
            name = n->input.items[0];
    }
    return strcmp(name, own) == 0 || (constant_of(m, body, name, &value) && value);
}

static void scan_loop(onnx_scan *s, const cq_onnx_graph *g, const cq_onnx_node *n)
{
    const cq_onnx_attribute *body  = cq_onnx_node_attr(n, "body");
    const char              *most  = n->input.n > 0 ? n->input.items[0] : "";
    int64_t                  trips = INT64_MAX;

    if (strcmp(text_of(n->op_type), "Loop") != 0 || !body || !body->g)
        return;
    if (*most && !constant_of(s->m, g, most, &trips))
        return;
    if (trips > INT32_MAX && never_stops(s->m, body->g))
        cq_audit_add(s->a, CQ_VERDICT_UNKNOWN, "endless-loop", s->where,
                     "the Loop %s has no condition to stop", text_of(n->name));
}

/* ---- operators ---- */

/* A compiled part of a model for a device: in the file, or in another file. */
static void scan_compiled(onnx_scan *s, const cq_onnx_node *node)
{
    const cq_onnx_attribute *cache = cq_onnx_node_attr(node, "ep_cache_context");
    const cq_onnx_attribute *embed = cq_onnx_node_attr(node, "embed_mode");
    char                     path[PATH_MAX];
    const char              *fault = NULL;

    cq_audit_add(s->a, CQ_VERDICT_UNKNOWN, "native-code", s->where,
                 "the node %s holds code for a device", text_of(node->name));
    if (!cache || (embed && embed->i == 1) || !cache->s.data || cache->s.size >= sizeof path)
        return;
    snprintf(path, sizeof path, "%.*s", (int)cache->s.size, (const char *)cache->s.data);
    fault = fault_of(path);
    if (fault)
        cq_audit_add(s->a, CQ_VERDICT_HOSTILE, "external-path", s->where,
                     "the compiled code of %s %s: %s", text_of(node->name), fault, path);
}

static void scan_node(onnx_scan *s, const cq_onnx_node *node)
{
    const char             *domain = text_of(node->domain), *op = text_of(node->op_type);
    const cq_onnx_function *f = NULL;

    scan_text(s, node->name);
    scan_text(s, node->doc_string);
    scan_text(s, op);
    scan_names(s, &node->input);
    scan_names(s, &node->output);
    if (cq_onnx_indexed_function(&f, &s->functions, domain, op, node->overload) != CQ_OK)
        s->a->status = CQ_E_NO_MEMORY;
    if (f)
        return;
    if (strcmp(op, "EPContext") == 0)
        scan_compiled(s, node);
    if (!cq_onnx_domain_is_known(domain) && strcmp(domain, "com.microsoft") != 0)
        cq_audit_add(s->a, CQ_VERDICT_UNKNOWN, "custom-domain", s->where,
                     "operator %s of domain '%s' needs a library", op, domain);
}

static cq_status visit(void *scan, const cq_onnx_message *message, void *at,
                       const cq_onnx_message *parent)
{
    onnx_scan *s = scan;

    (void)parent;
    if (message == &cq_onnx_tensor_message) {
        scan_text(s, ((cq_onnx_tensor *)at)->name);
        scan_tensor(s, at);
    } else if (message == &cq_onnx_node_message) {
        scan_node(s, at);
    } else if (message == &cq_onnx_value_info_message) {
        scan_text(s, ((cq_onnx_value_info *)at)->name);
        scan_text(s, ((cq_onnx_value_info *)at)->doc_string);
    } else if (message == &cq_onnx_sparse_message) {
        scan_sparse(s, at);
    } else if (message == &cq_onnx_graph_message) {
        const cq_onnx_graph *g = at;

        for (uint32_t i = 0; i < g->node.n; i++)
            scan_loop(s, g, g->node.items[i]);
        scan_text(s, ((cq_onnx_graph *)at)->name);
        scan_text(s, ((cq_onnx_graph *)at)->doc_string);
    }
    return s->a->status;
}

/* ---- functions ---- */

enum { MAX_CALLS = 200 }; /* functions that call functions: honest models have a few levels */

typedef struct call_walk {
    onnx_scan              *s;
    const cq_onnx_function *f;
    int                     depth;
} call_walk;

static cq_status visit_calls(void *walk, const cq_onnx_message *message, void *at,
                             const cq_onnx_message *parent);

static cq_status walk_function(onnx_scan *s, const cq_onnx_function *f, int depth)
{
    const uintptr_t state = (uintptr_t)cq_ptr_map_get(&s->state, f);
    call_walk       w     = { s, f, depth };

    if (state == 2)
        return CQ_OK;
    if (state == 1 || depth > MAX_CALLS) {
        cq_audit_add(s->a, CQ_VERDICT_HOSTILE, "cyclic-function", s->where,
                     state == 1 ? "function %s.%s calls itself"
                                : "functions call functions beyond %s.%s too deep",
                     text_of(f->domain), text_of(f->name));
        return CQ_OK;
    }
    CQ_TRY(cq_ptr_map_set(&s->state, f, (void *)(uintptr_t)1));
    CQ_TRY(cq_onnx_each_message(&cq_onnx_function_message, (void *)f, visit_calls, &w));
    return cq_ptr_map_set(&s->state, f, (void *)(uintptr_t)2);
}

static cq_status visit_calls(void *walk, const cq_onnx_message *message, void *at,
                             const cq_onnx_message *parent)
{
    const call_walk        *w    = walk;
    const cq_onnx_node     *node = at;
    const cq_onnx_function *f    = NULL;

    (void)parent;
    if (message != &cq_onnx_node_message)
        return CQ_OK;
    CQ_TRY(cq_onnx_indexed_function(&f, &w->s->functions, node->domain, node->op_type,
                                    node->overload));
    return f ? walk_function(w->s, f, w->depth + 1) : CQ_OK;
}

static cq_status scan_functions(onnx_scan *s)
{
    for (uint32_t i = 0; i < s->m->functions.n; i++) {
        const cq_onnx_function *f = s->m->functions.items[i];

        CQ_TRY(walk_function(s, f, 0));
        if (!*text_of(f->domain) || strcmp(f->domain, "ai.onnx") == 0)
            cq_audit_add(s->a, CQ_VERDICT_UNKNOWN, "redefined-operator", s->where,
                         "the model defines operator %s of ONNX itself", text_of(f->name));
    }
    return CQ_OK;
}

static cq_status scan_model(onnx_scan *s)
{
    CQ_TRY(cq_onnx_index_functions(&s->functions, s->m));
    CQ_TRY(scan_functions(s));
    for (uint32_t i = 0; i < s->m->metadata_props.n; i++) {
        scan_text(s, s->m->metadata_props.items[i]->key);
        scan_text(s, s->m->metadata_props.items[i]->value);
    }
    scan_text(s, s->m->producer_name);
    scan_text(s, s->m->doc_string);
    return cq_onnx_each_message(&cq_onnx_model_message, (void *)s->m, visit, s);
}

/* ---- sizes of values ---- */

static cq_status visit_value(void *scan, const cq_onnx_message *message, void *at,
                             const cq_onnx_message *parent)
{
    const cq_onnx_value_info *value = at;
    const onnx_scan          *s     = scan;
    double                    numel = 1;

    (void)parent;
    if (message != &cq_onnx_value_info_message || !value->type || !value->type->tensor_type ||
        !value->type->tensor_type->shape)
        return CQ_OK;
    for (uint32_t i = 0; i < value->type->tensor_type->shape->dim.n; i++) {
        const cq_onnx_dim *dim = value->type->tensor_type->shape->dim.items[i];

        numel *= !dim->dim_param && dim->dim_value > 0 ? (double)dim->dim_value : 1;
    }
    if (numel > MAX_ELEMENTS)
        cq_audit_add(s->a, CQ_VERDICT_UNKNOWN, "large-allocation", s->where,
                     "value '%s' has %.3g elements", text_of(value->name), numel);
    return CQ_OK;
}

/* Sizes that follow from constants: a ConstantOfShape of a few bytes claims all memory. A model
 * that cannot be inferred has other findings. */
static cq_status scan_values(onnx_scan *s, cq_onnx_model *m)
{
    const cq_status status = cq_onnx_model_infer(m, 0);

    if (status == CQ_E_NO_MEMORY)
        return status;
    return cq_onnx_each_message(&cq_onnx_model_message, m, visit_value, s);
}

/* Readers disagree about what an invalid model means. */
static cq_status scan_validity(onnx_scan *s)
{
    cq_onnx_findings *found;
    size_t            n = 0;

    CQ_TRY(cq_onnx_model_check(&found, s->m));
    for (size_t i = 0; i < cq_onnx_findings_count(found); i++) {
        const cq_onnx_finding *f = cq_onnx_findings_at(found, i);

        if (!f->is_warning && n++ == 0)
            cq_audit_add(s->a, CQ_VERDICT_UNKNOWN, "invalid-model", s->where, "%s: %s", f->where,
                         f->what);
    }
    cq_onnx_findings_free(found);
    return CQ_OK;
}

/* ---- fields of the file ---- */

static bool take_varint(const unsigned char *data, size_t size, size_t *at, uint64_t *out)
{
    *out = 0;
    for (int shift = 0; *at < size && shift < 64; shift += 7) {
        const unsigned char byte = data[(*at)++];

        *out |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            return true;
    }
    return false;
}

/* Protobuf merges a second graph with the first one; other readers take one of them. */
static void scan_fields(onnx_scan *s, const unsigned char *data, size_t size)
{
    enum { GRAPH = 7, BYTES = 2, LONG = 1, INT = 5 };
    size_t   at = 0, n_graphs = 0;
    uint64_t tag, length;

    while (take_varint(data, size, &at, &tag)) {
        const int kind = (int)(tag & 7);

        n_graphs += tag == (GRAPH << 3 | BYTES);
        length = kind == LONG ? 8 : kind == INT ? 4 : 0;
        if ((kind == 0 || kind == BYTES) && !take_varint(data, size, &at, &length))
            break;
        if (kind == 0)
            length = 0;
        if (length > size - at)
            break;
        at += (size_t)length;
    }
    if (n_graphs > 1)
        cq_audit_add(s->a, CQ_VERDICT_HOSTILE, "two-graphs", s->where,
                     "the file has %zu graphs, of which readers see different ones", n_graphs);
}

bool cq_audit_scan_onnx(cq_audit *a, const unsigned char *data, size_t size, const char *where,
                        bool is_file, bool is_expected)
{
    onnx_scan      s = { .a = a, .where = where, .is_file = is_file };
    cq_onnx_model *m = NULL;
    cq_status      status =
        is_file ? cq_onnx_model_load(&m, where) : cq_onnx_model_decode(&m, data, size);

    if (status != CQ_OK || !m->graph) {
        if (is_expected)
            cq_audit_add(a, CQ_VERDICT_UNKNOWN, "damaged-model", where, "%s",
                         status != CQ_OK ? cq_last_error()->message : "the model has no graph");
        cq_onnx_model_free(m);
        return false;
    }
    s.m = m;
    scan_fields(&s, data, size);
    status = scan_model(&s);
    if (status == CQ_OK)
        status = scan_validity(&s);
    if (status == CQ_OK)
        status = scan_values(&s, m);
    if (s.sparse > MAX_SPARSE)
        cq_audit_add(a, CQ_VERDICT_UNKNOWN, "tensor-size", where,
                     "sparse tensors have %.3g elements for a reader that makes them dense",
                     s.sparse);
    if (s.stripped > MAX_CLAIMED)
        cq_audit_add(a, CQ_VERDICT_UNKNOWN, "stripped-size", where,
                     "weights of %.3g bytes were removed; restoring them takes that much",
                     s.stripped);
    if (status != CQ_OK)
        a->status = status;
    cq_map_clear(&s.functions);
    cq_ptr_map_clear(&s.state);
    cq_onnx_model_free(m);
    return true;
}
