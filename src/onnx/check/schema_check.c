/* Checks a node against its schema, with the same order and results as the ONNX checker. Rules that
 * need no schema (names, SSA, tensors) are in check.c; inference checks types and shapes. */
#include "onnx/schema.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool cq_onnx_is_experimental(const char *op_type)
{
    static const char *const names[] = {
        "ATen",    "Affine",          "ConstantFill", "Crop",
        "GRUUnit", "DynamicSlice",    "ImageScaler",  "ParametricSoftplus",
        "Scale",   "GivenTensorFill", "ScaledTanh",
    };

    return CQ_IS_AMONG(op_type, names);
}

/* The receiver of faults, and whether it stopped the check. */
typedef struct faults {
    cq_onnx_fault_sink sink;
    void              *user;
    bool               is_enough;
    bool               is_lenient; /* a deprecated operator may be used if it is expanded as a
                                    * function */
} faults;

static void fault(faults *f, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void fault(faults *f, const char *format, ...)
{
    char    what[1024];
    va_list args;

    if (f->is_enough)
        return;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    f->is_enough = !f->sink(f->user, what);
}

static void check_count(faults *f, const char *op, const char *what, size_t n, size_t min,
                        size_t max)
{
    if (n < min)
        fault(f, "%s has %zu %s but needs at least %zu", op, n, what, min);
    if (n > max)
        fault(f, "%s has %zu %s but takes at most %zu", op, n, what, max);
}

static void check_present(faults *f, const char *op, const char *what, const cq_onnx_names *names,
                          const cq_onnx_parameter *list, size_t n)
{
    for (uint32_t i = 0; i < names->n && i < n; i++)
        if (!*names->items[i] && list[i].arity == CQ_ONNX_SINGLE)
            fault(f, "%s is omitted, but %s %u of %s is not optional", list[i].name, what, i, op);
}

/* Whether the field that the attribute's type names is set. */
static bool has_value(const cq_onnx_attribute *a)
{
    switch ((cq_onnx_attribute_type)a->type) {
    case CQ_ONNX_ATTR_TENSOR: return a->t != NULL;
    case CQ_ONNX_ATTR_GRAPH: return a->g != NULL;
    case CQ_ONNX_ATTR_SPARSE_TENSOR: return a->sparse_tensor != NULL;
    case CQ_ONNX_ATTR_TYPE_PROTO: return a->tp != NULL;
    default: return true; /* a list may be empty; a number or string has a default */
    }
}

/* "FLOAT", as in onnx.proto. */
static const char *type_name(int32_t type)
{
    static const char *const names[CQ_ONNX_ATTR_COUNT] = {
        [CQ_ONNX_ATTR_FLOAT]          = "FLOAT",
        [CQ_ONNX_ATTR_INT]            = "INT",
        [CQ_ONNX_ATTR_STRING]         = "STRING",
        [CQ_ONNX_ATTR_TENSOR]         = "TENSOR",
        [CQ_ONNX_ATTR_GRAPH]          = "GRAPH",
        [CQ_ONNX_ATTR_FLOATS]         = "FLOATS",
        [CQ_ONNX_ATTR_INTS]           = "INTS",
        [CQ_ONNX_ATTR_STRINGS]        = "STRINGS",
        [CQ_ONNX_ATTR_TENSORS]        = "TENSORS",
        [CQ_ONNX_ATTR_GRAPHS]         = "GRAPHS",
        [CQ_ONNX_ATTR_SPARSE_TENSOR]  = "SPARSE_TENSOR",
        [CQ_ONNX_ATTR_SPARSE_TENSORS] = "SPARSE_TENSORS",
        [CQ_ONNX_ATTR_TYPE_PROTO]     = "TYPE_PROTO",
        [CQ_ONNX_ATTR_TYPE_PROTOS]    = "TYPE_PROTOS",
    };
    const char *name = type >= 0 && type < CQ_ONNX_ATTR_COUNT ? names[type] : NULL;

    return name ? name : "UNDEFINED";
}

static void check_attribute(faults *f, const cq_onnx_schema *s, const cq_onnx_attribute *a)
{
    const char                     *name = a->name ? a->name : "";
    const cq_onnx_schema_attribute *want = cq_onnx_schema_attr(s, name);

    if (!want && (s->is_open || !strncmp(name, "__", 2)))
        return; /* names of this form are private to the exporter */
    if (!want)
        fault(f, "%s has no attribute %s at version %d", s->name, name, s->since);
    else if (a->type != (int32_t)want->type)
        fault(f, "attribute %s of %s has type %s, expected %s", name, s->name, type_name(a->type),
              type_name((int32_t)want->type));
    else if ((!a->ref_attr_name || !*a->ref_attr_name) && !has_value(a))
        fault(f, "attribute %s of %s has no value of its type %s", name, s->name,
              type_name(a->type));
}

static void check_attributes(faults *f, const cq_onnx_schema *s, const cq_onnx_node *node)
{
    for (uint32_t i = 0; i < node->attribute.n; i++)
        check_attribute(f, s, node->attribute.items[i]);
    for (size_t i = 0; i < s->n_attributes; i++)
        if (s->attributes[i].is_required && !cq_onnx_node_attr(node, s->attributes[i].name))
            fault(f, "%s lacks its required attribute %s", s->name, s->attributes[i].name);
}

static void check_against(faults *f, const cq_onnx_schema *s, const cq_onnx_node *node)
{
    if (s->is_deprecated && !(f->is_lenient && s->is_function)) {
        fault(f, "%s is deprecated since version %d", s->name, s->since);
        return;
    }
    check_count(f, s->name, "inputs", node->input.n, s->min_inputs, s->max_inputs);
    check_count(f, s->name, "outputs", node->output.n, s->min_outputs, s->max_outputs);
    if (s->gives_one_or_all && node->output.n > 1 && node->output.n < s->max_outputs)
        fault(f, "%s has %u outputs instead of 1 or %zu", s->name, node->output.n, s->max_outputs);
    check_present(f, s->name, "input", &node->input, s->inputs, s->n_inputs);
    check_present(f, s->name, "output", &node->output, s->outputs, s->n_outputs);
    check_attributes(f, s, node);
}

static cq_status find_faults(faults *f, const cq_onnx_node *node, int64_t version)
{
    const char           *op = node->op_type ? node->op_type : "";
    const cq_onnx_schema *s;

    if (!(node->domain && *node->domain) && cq_onnx_is_experimental(node->op_type))
        return CQ_OK;
    CQ_TRY(cq_onnx_schema_find(&s, node->domain, op, version));
    if (s)
        check_against(f, s, node);
    else if (cq_onnx_domain_is_known(node->domain)) /* otherwise the operator is custom and has no
                                                     * schema */
        fault(f, "operator %s does not exist at version %lld of %s", op, (long long)version,
              node->domain && *node->domain ? node->domain : "ai.onnx");
    return CQ_OK;
}

cq_status cq_onnx_schema_faults(const cq_onnx_node *node, int64_t version, cq_onnx_fault_sink sink,
                                void *user)
{
    return find_faults(&(faults){ .sink = sink, .user = user }, node, version);
}

static bool record(void *user, const char *what)
{
    *(cq_status *)user = cq_fail(CQ_E_INVALID, NULL, NULL, "%s", what);
    return false;
}

cq_status cq_onnx_schema_check(const cq_onnx_node *node, int64_t version)
{
    cq_status first = CQ_OK;

    CQ_TRY(cq_onnx_schema_faults(node, version, record, &first));
    return first;
}

cq_status cq_onnx_schema_check_to_run(const cq_onnx_node *node, int64_t version)
{
    cq_status first = CQ_OK;

    CQ_TRY(find_faults(&(faults){ .sink = record, .user = &first, .is_lenient = true }, node,
                       version));
    return first;
}
