/* The evaluator host for functions that emit nodes, see compose.h. */
#include "onnx/compose/compose.h"
#include "base/lock.h"
#include "base/warn.h"
#include "tensor/convert.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- values ---- */

/* A value, stored in the model's arena; the model holds a reference. */
typedef struct value_box {
    cq_box      box;
    const char *name;
    int         dtype; /* 0 for unknown types and values of the model */
} value_box;

static void keep_box(cq_box *box)
{
    (void)box;
}

static cq_compose *compose_of(cq_lang *l)
{
    return (cq_compose *)l;
}

static cq_val typed_value(cq_compose *c, const char *name, int dtype)
{
    value_box *b = cq_onnx_alloc(c->m, sizeof *b);

    if (!b)
        return CQ_NONE;
    b->box.refs = 1;
    b->box.free = keep_box;
    b->name     = name;
    b->dtype    = dtype;
    return cq_val_of_box(&b->box);
}

static cq_val value_named(cq_compose *c, const char *name)
{
    return typed_value(c, name, 0);
}

/* The element type; 0 if unknown. */
static int dtype_of(cq_compose *c, cq_val v)
{
    const value_box *b = cq_box_of(v, keep_box);

    if (!b || b->dtype || !c->facts)
        return b ? b->dtype : 0;
    return c->facts->dtype(c->facts, b->name);
}

static const char *new_name(cq_compose *c)
{
    char name[96];

    do
        snprintf(name, sizeof name, "%s%u", c->prefix, c->n_names++);
    while (c->facts && c->facts->is_taken(c->facts, name));
    return cq_onnx_text(c->m, name);
}

/* ---- nodes ---- */

static cq_onnx_node *add_node(cq_compose *c, const char *op)
{
    return c->graph ? cq_onnx_graph_add_node(c->m, c->graph, op, NULL, NULL)
                    : cq_onnx_function_add_node(c->m, c->body, op, NULL, NULL);
}

static const char *add_output(cq_compose *c, cq_onnx_node *node)
{
    const char *name = new_name(c);

    cq_onnx_node_add_output(c->m, node, name);
    return name;
}

/* Emits a constant tensor. Attributes of Constant other than value need opset 12. */
static const char *tensor(cq_compose *c, cq_dtype dtype, size_t rank, int64_t n, const void *data)
{
    cq_onnx_node *node = add_node(c, "Constant");
    cq_tensor    *t    = NULL;

    if (c->m->status == CQ_OK)
        c->m->status = cq_tensor_new(&t, dtype, rank, &n, data);
    if (c->m->status == CQ_OK)
        cq_onnx_attr_tensor(c->m, node, "value", t);
    cq_tensor_release(t);
    return add_output(c, node);
}

static const char *number(cq_compose *c, cq_val v)
{
    cq_onnx_node *node;

    if (c->facts && v.kind == CQ_VAL_FLOAT)
        return tensor(c, CQ_DTYPE_F32, 0, 0, &(float){ (float)v.u.f.value });
    if (c->facts)
        return tensor(c, CQ_DTYPE_I64, 0, 0, &(int64_t){ cq_lang_i64(&c->lang, v) });
    node = add_node(c, "Constant");
    if (v.kind == CQ_VAL_FLOAT)
        cq_onnx_attr_float(c->m, node, "value_float", (float)v.u.f.value);
    else
        cq_onnx_attr_int(c->m, node, "value_int", cq_lang_i64(&c->lang, v));
    return add_output(c, node);
}

static bool is_value(cq_val v)
{
    return cq_box_of(v, keep_box) != NULL;
}

static const char *tensor_of_row(cq_compose *c, const cq_val *items, size_t n, bool floats)
{
    int64_t *ints = cq_onnx_alloc(c->m, (n + 1) * sizeof *ints);
    float   *of   = cq_onnx_alloc(c->m, (n + 1) * sizeof *of);

    for (size_t i = 0; i < n && ints && of; i++)
        if (floats)
            of[i] = (float)cq_lang_f64(&c->lang, items[i]);
        else
            ints[i] = cq_lang_i64(&c->lang, items[i]);
    return floats ? tensor(c, CQ_DTYPE_F32, 1, (int64_t)n, of)
                  : tensor(c, CQ_DTYPE_I64, 1, (int64_t)n, ints);
}

/* Emits a constant list of integers, or of floats if one item is a float. */
static const char *row(cq_compose *c, const cq_val *items, size_t n)
{
    cq_onnx_node *node;
    bool          floats = false;

    for (size_t i = 0; i < n; i++)
        floats |= items[i].kind == CQ_VAL_FLOAT;
    if (c->facts && (!n || cq_lang_is_number(items[0])))
        return tensor_of_row(c, items, n, floats);
    node = add_node(c, "Constant");
    if (n && !cq_lang_is_number(items[0]))
        cq_lang_fail(&c->lang, CQ_E_INTERNAL, "expected a list of numbers or a list of values");
    else
        cq_compose_set_attribute(c, node, NULL, floats ? "value_floats" : "value_ints",
                                 cq_lang_list(&c->lang, items, n));
    return add_output(c, node);
}

const char *cq_compose_name(cq_compose *c, cq_val v)
{
    size_t           n;
    const cq_val    *items = cq_lang_items(&v, &n);
    const value_box *b     = cq_box_of(v, keep_box);

    if (b)
        return b->name;
    if (v.kind == CQ_VAL_NONE || cq_lang_failed(&c->lang))
        return NULL;
    if (cq_lang_is_number(v))
        return number(c, v);
    if (v.kind == CQ_VAL_LIST || v.kind == CQ_VAL_TUPLE)
        return row(c, items, n);
    cq_lang_fail(&c->lang, CQ_E_INTERNAL, "expected a value, got %s", cq_val_kind_name(v.kind));
    return NULL;
}

static void add_input(cq_compose *c, cq_onnx_node *node, cq_val v)
{
    size_t        n;
    const cq_val *items   = cq_lang_items(&v, &n);
    bool          is_list = v.kind == CQ_VAL_LIST || v.kind == CQ_VAL_TUPLE;
    const char   *name;

    if (is_list && n && is_value(items[0])) {
        for (size_t i = 0; i < n && !cq_lang_failed(&c->lang); i++)
            add_input(c, node, items[i]);
        return;
    }
    name = cq_compose_name(c, v);
    cq_onnx_node_add_input(c->m, node, name ? name : "");
}

static cq_val make(cq_compose *c, const char *op, const cq_val *in, size_t n)
{
    cq_onnx_node *node;
    const char   *names[2] = { "", "" };

    for (size_t i = 0; i < n; i++)
        names[i] = cq_compose_name(c, in[i]);
    node = add_node(c, op);
    for (size_t i = 0; i < n; i++)
        cq_onnx_node_add_input(c->m, node, names[i]);
    return typed_value(c, add_output(c, node), n ? dtype_of(c, in[0]) : 0);
}

/* Converts a number to an element type. */
static cq_val typed_number(cq_compose *c, cq_val v, int dtype)
{
    const cq_dtype to   = cq_dtype_from_onnx(dtype);
    const double   wide = cq_lang_f64(&c->lang, v);
    char           data[16];

    if (to == CQ_DTYPE_NONE || to == CQ_DTYPE_C64 || to == CQ_DTYPE_C128)
        return cq_lang_fail(&c->lang, CQ_E_UNSUPPORTED, "a number of an unexpected type");
    cq_convert_run(data, to, 0, (const char *)&wide, CQ_DTYPE_F64, 0, 1);
    return typed_value(c, tensor(c, to, 0, 0, data), dtype);
}

cq_val cq_compose_constant(cq_compose *c, cq_onnx_tensor *message)
{
    cq_onnx_node      *node = add_node(c, "Constant");
    cq_onnx_attribute *a    = cq_onnx_attr_graph(c->m, node, "value", NULL);

    if (!a || !message)
        return CQ_NONE;
    a->type = CQ_ONNX_ATTR_TENSOR;
    a->t    = message;
    return typed_value(c, add_output(c, node), message->data_type);
}

/* CastLike needs opset 15. A double is rounded to the type of the value. */
static cq_val like(cq_compose *c, cq_val v, cq_val of)
{
    const int dtype = is_value(v) ? 0 : dtype_of(c, of);

    if (is_value(v))
        return v;
    if (dtype)
        return typed_number(c, v, dtype);
    if (c->opset < 15)
        return cq_lang_fail(&c->lang, CQ_E_UNSUPPORTED, "the type of a value is unknown");
    if (v.kind == CQ_VAL_FLOAT)
        v = value_named(c, tensor(c, CQ_DTYPE_F64, 0, 0, &v.u.f.value));
    return make(c, "CastLike", (cq_val[]){ v, of }, 2);
}

/* ---- facts for adapters ---- */

static cq_val number_or_none(int64_t i, bool is_known)
{
    return is_known ? cq_val_of_i64(i) : CQ_NONE;
}

static cq_val ask_rank(cq_compose *c, const cq_val *args)
{
    const value_box *b    = cq_box_of(args[0], keep_box);
    const int        rank = b && c->facts ? c->facts->rank(c->facts, b->name) : -1;

    return number_or_none(rank, rank >= 0);
}

static cq_val ask_size(cq_compose *c, const cq_val *args)
{
    const value_box *b    = cq_box_of(args[0], keep_box);
    const int64_t    axis = cq_lang_i64(&c->lang, args[1]);
    const int64_t    size = b && c->facts ? c->facts->size(c->facts, b->name, axis) : -1;

    return number_or_none(size, size >= 0);
}

static cq_val ask_dtype(cq_compose *c, const cq_val *args)
{
    const int dtype = dtype_of(c, args[0]);

    return number_or_none(dtype, dtype > 0);
}

enum { MAX_ELEMENTS = 4096 }; /* maximum length of lists that become attributes */

static cq_val ask_elements(cq_compose *c, const cq_val *args)
{
    const value_box *b    = cq_box_of(args[0], keep_box);
    cq_tensor       *t    = b && c->facts ? c->facts->constant(c->facts, b->name) : NULL;
    cq_val           list = CQ_NONE;

    if (t && cq_tensor_numel(t) <= MAX_ELEMENTS) {
        const int64_t n      = cq_tensor_numel(t);
        const bool    floats = cq_dtype_is_float(t->dtype);

        list = cq_lang_list(&c->lang, NULL, (size_t)n);
        for (int64_t i = 0; i < n && list.kind == CQ_VAL_LIST; i++)
            list.u.list->items[i] = floats ? cq_val_of_f64(cq_tensor_get_f64(t, i))
                                           : cq_val_of_i64(cq_tensor_get_i64(t, i));
    }
    cq_tensor_release(t);
    return list;
}

static cq_val ask_n_outputs(cq_compose *c, const cq_val *args)
{
    (void)args;
    return cq_val_of_i64(c->node->output.n);
}

static cq_val ask_output(cq_compose *c, const cq_val *args)
{
    const int64_t i = cq_lang_i64(&c->lang, args[0]);

    return cq_val_of_bool(i >= 0 && i < c->node->output.n && *c->node->output.items[i]);
}

static cq_val ask_opset(cq_compose *c, const cq_val *args)
{
    (void)args;
    return cq_val_of_i64(c->opset);
}

static cq_val ask_like(cq_compose *c, const cq_val *args)
{
    return like(c, args[0], args[1]);
}

typedef struct question {
    const char *name;
    size_t      n;
    cq_val (*ask)(cq_compose *c, const cq_val *args);
} question;

static const question questions[] = {
    { "like", 2, ask_like },   { "rank", 1, ask_rank },         { "size", 2, ask_size },
    { "dtype", 1, ask_dtype }, { "elements", 1, ask_elements }, { "n_outputs", 0, ask_n_outputs },
    { "opset", 0, ask_opset }, { "has_output", 1, ask_output },
};

/* ---- names ---- */

typedef struct target {
    const char     *op; /* NULL for a query, or for the node itself */
    const question *question;
    const char    **keywords;
} target;

static cq_status link_target(const void **out, cq_arena *arena, const char *name,
                             const char *const *keywords, size_t n)
{
    static const char prefix[] = "calque.onnx.";
    target           *t        = cq_arena_zalloc(arena, sizeof *t);

    if (strncmp(name, prefix, sizeof prefix - 1) == 0)
        name += sizeof prefix - 1;
    if (!t || !(t->keywords = cq_arena_array(arena, n + 1, sizeof *t->keywords)))
        return CQ_E_NO_MEMORY;
    for (size_t i = 0; i < n; i++)
        if (keywords[i] && !(t->keywords[i] = cq_arena_strdup(arena, keywords[i])))
            return CQ_E_NO_MEMORY;
    if (isupper((unsigned char)name[0]) && !(t->op = cq_arena_strdup(arena, name)))
        return CQ_E_NO_MEMORY;
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++)
        if (strcmp(name, questions[i].name) == 0 && n == questions[i].n)
            t->question = &questions[i];
    *out = t->op || t->question || strcmp(name, "again") == 0 ? t : NULL;
    return CQ_OK;
}

/* torch.int64 and similar names are ONNX's type numbers. */
static bool constant(const char *name, cq_val *out)
{
    static const struct {
        const char *name;
        int         type;
    } types[] = { { "torch.int64", CQ_ONNX_INT64 },     { "torch.uint8", CQ_ONNX_UINT8 },
                  { "torch.int32", CQ_ONNX_INT32 },     { "torch.bool", CQ_ONNX_BOOL },
                  { "torch.float32", CQ_ONNX_FLOAT },   { "torch.float64", CQ_ONNX_DOUBLE },
                  { "torch.float16", CQ_ONNX_FLOAT16 }, { "torch.bfloat16", CQ_ONNX_BFLOAT16 },
                  { "torch.int8", CQ_ONNX_INT8 } };

    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].name, name) == 0) {
            *out = cq_val_of_i64(types[i].type);
            return true;
        }
    return false;
}

/* ---- calls ---- */

static size_t outputs_of(cq_lang *l, const target *t, const cq_val *args, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (t->keywords[i] && strcmp(t->keywords[i], "outputs") == 0)
            return (size_t)cq_lang_i64(l, args[i]);
    return 1;
}

/* The type of an output: that of an input with the same type variable, or the only type that is
 * allowed. */
static int output_type(cq_compose *c, const cq_onnx_schema *schema, const target *t,
                       const cq_val *args, size_t n, size_t at)
{
    const cq_onnx_parameter *out = cq_onnx_parameter_at(schema->outputs, schema->n_outputs, at);
    const uint32_t           any = out ? out->types.of[CQ_ONNX_WRAP_TENSOR] : 0;
    size_t                   k   = 0;

    for (size_t i = 0; i < n && out; i++) {
        const cq_onnx_parameter *in;

        if (t->keywords[i] && strcmp(t->keywords[i], "to") == 0)
            return (int)cq_lang_i64(&c->lang, args[i]);
        if (t->keywords[i])
            continue;
        in = cq_onnx_parameter_at(schema->inputs, schema->n_inputs, k++);
        if (in && in->constraint >= 0 && in->constraint == out->constraint && is_value(args[i]))
            return dtype_of(c, args[i]);
    }
    for (int bit = 0; bit < 32; bit++)
        if (any == (uint32_t)1 << bit)
            return bit;
    return 0;
}

static cq_val results_of(cq_compose *c, cq_onnx_node *node, size_t n, const int *types)
{
    cq_val items[CQ_LANG_MAX_ITEMS];

    for (size_t i = 0; i < n; i++)
        items[i] = typed_value(c, add_output(c, node), types ? types[i] : 0);
    return n == 1 ? items[0] : cq_lang_tuple(&c->lang, items, n);
}

/* Emits the node that the function is called for, with other inputs if there are positional
 * arguments, and with other attributes; None removes an attribute. */
static cq_val emit_changed(cq_compose *c, const target *t, const cq_val *args, size_t n)
{
    const cq_onnx_node   *from = c->node;
    const cq_onnx_schema *schema;
    cq_onnx_node         *node, made = { 0 };
    size_t                n_inputs = 0;

    c->m->status = cq_onnx_schema_find(&schema, NULL, from->op_type, c->opset);
    if (c->m->status != CQ_OK || !schema || from->output.n > CQ_LANG_MAX_ITEMS)
        return cq_lang_fail(&c->lang, CQ_E_UNSUPPORTED,
                            "the operator does not exist in the target opset");
    for (size_t i = 0; i < from->attribute.n; i++) {
        bool is_changed = false;

        for (size_t k = 0; k < n; k++)
            is_changed |=
                t->keywords[k] && strcmp(t->keywords[k], from->attribute.items[i]->name) == 0;
        if (!is_changed)
            cq_onnx_list_push(c->m, &made.attribute, from->attribute.items[i]);
    }
    for (size_t i = 0; i < n; i++)
        if (!t->keywords[i]) {
            add_input(c, &made, args[i]);
            n_inputs++;
        } else
            cq_compose_set_attribute(c, &made, schema, t->keywords[i], args[i]);
    while (made.input.n && !*made.input.items[made.input.n - 1])
        made.input.n--;
    node = cq_lang_failed(&c->lang) ? NULL : add_node(c, from->op_type);
    if (!node)
        return CQ_NONE;
    node->doc_string     = from->doc_string;
    node->metadata_props = from->metadata_props;
    node->input          = n_inputs ? made.input : from->input;
    node->attribute      = made.attribute;
    node->has |= made.has | from->has;
    return results_of(c, node, from->output.n, NULL);
}

/* Inputs come first: the nodes of constants must precede the node that reads them. */
static cq_val call(cq_lang *l, const void *linked, const cq_val *args, size_t n)
{
    const target         *t = linked;
    cq_compose           *c = compose_of(l);
    cq_onnx_node         *node, made = { 0 };
    const cq_onnx_schema *schema;
    size_t                n_out = outputs_of(l, t, args, n);
    int                   types[CQ_LANG_MAX_ITEMS];
    cq_status             status;

    if (!t->op)
        return t->question ? t->question->ask(c, args) : emit_changed(c, t, args, n);
    status = cq_onnx_schema_find(&schema, NULL, t->op, c->opset);
    if (status != CQ_OK || !schema || n_out < 1 || n_out > CQ_LANG_MAX_ITEMS)
        return cq_lang_fail(l, status == CQ_OK ? CQ_E_INTERNAL : status,
                            "unknown operator %s with %zu outputs", t->op, n_out);
    for (size_t i = 0; i < n; i++)
        if (!t->keywords[i])
            add_input(c, &made, args[i]);
        else if (strcmp(t->keywords[i], "outputs") != 0)
            cq_compose_set_attribute(c, &made, schema, t->keywords[i], args[i]);
    while (c->facts && made.input.n && !*made.input.items[made.input.n - 1])
        made.input.n--;
    node = cq_lang_failed(l) ? NULL : add_node(c, t->op);
    if (!node)
        return CQ_NONE;
    node->input     = made.input;
    node->attribute = made.attribute;
    node->has |= made.has;
    for (size_t i = 0; i < n_out; i++)
        types[i] = output_type(c, schema, t, args, n, i);
    return results_of(c, node, n_out, types);
}

cq_onnx_graph *cq_compose_graph(cq_compose *c, const char *name, cq_val lambda)
{
    cq_onnx_graph *outer = c->graph, *graph = cq_onnx_graph_new(c->m, name);
    const char    *result;

    if (!graph)
        return NULL;
    c->graph = graph;
    /* A graph must return a value that it computes, not an outer one. */
    result =
        cq_compose_name(c, make(c, "Identity", (cq_val[]){ cq_lang_run(&c->lang, lambda) }, 1));
    cq_onnx_add_value(c->m, &graph->output, result, NULL);
    c->graph = outer;
    return graph;
}

static cq_val binary(cq_lang *l, cq_ast_op op, cq_val a, cq_val b)
{
    static const char *const ops[] = { [CQ_AST_ADD] = "Add",
                                       [CQ_AST_SUB] = "Sub",
                                       [CQ_AST_MUL] = "Mul",
                                       [CQ_AST_DIV] = "Div",
                                       [CQ_AST_POW] = "Pow" };
    cq_compose              *c     = compose_of(l);

    if ((size_t)op >= sizeof ops / sizeof *ops || !ops[op])
        return cq_lang_fail(l, CQ_E_INTERNAL, "the operator is not supported on values");
    a = like(c, a, b);
    b = like(c, b, a);
    return make(c, ops[op], (cq_val[]){ a, b }, 2);
}

static cq_val negate(cq_lang *l, cq_val v)
{
    return make(compose_of(l), "Neg", &v, 1);
}

static cq_val fix(cq_lang *l, cq_val v)
{
    if (!is_value(v))
        return v;
    return cq_lang_fail(l, CQ_E_INTERNAL, "the value is only known when the model runs");
}

static cq_val own(cq_lang *l, cq_val v)
{
    cq_compose *c = compose_of(l);

    if (cq_vec_push(&c->owned, v) == CQ_OK)
        return v;
    cq_val_release(v);
    c->m->status = CQ_E_NO_MEMORY;
    return CQ_NONE;
}

static void warn(cq_lang *l, const char *message)
{
    cq_warn(compose_of(l)->body->name, "%s", message);
}

cq_status cq_compose_refuse(const cq_onnx_node *node, const char *why)
{
    const char *domain = node->domain ? node->domain : "";

    return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "%s%s%s %s", node->op_type, *domain ? " of " : "",
                   domain, why);
}

/* `raise NotImplementedError` declines the node. Other failures are bugs of the library. */
static void fail(cq_lang *l, cq_status status, const char *message)
{
    if (message && status == CQ_E_UNSUPPORTED && compose_of(l)->facts)
        snprintf(compose_of(l)->why, sizeof compose_of(l)->why, "%s", message);
    else if (message && status == CQ_E_UNSUPPORTED)
        status = cq_compose_refuse(compose_of(l)->node, message);
    else if (message && l->in && status != CQ_E_NO_MEMORY)
        status = cq_source_fail(&l->in->unit->source, l->at, CQ_E_INTERNAL, NULL, "%s", message);
    compose_of(l)->m->status = status;
}

static const cq_lang_host host = { .link            = link_target,
                                   .has_plain_names = true,
                                   .constant        = constant,
                                   .call            = call,
                                   .binary          = binary,
                                   .negate          = negate,
                                   .fix             = fix,
                                   .own             = own,
                                   .warn            = warn,
                                   .fail            = fail };

/* ---- evaluations ---- */

void cq_compose_begin(cq_compose *c, cq_onnx_model *m, cq_onnx_function *body, const char *prefix)
{
    *c = (cq_compose){
        .lang   = { .host = &host, .status = &m->status },
        .m      = m,
        .body   = body,
        .prefix = prefix,
        .opset  = CQ_COMPOSE_OPSET,
    };
}

void cq_compose_end(cq_compose *c)
{
    for (size_t i = 0; i < c->owned.n; i++)
        cq_val_release(c->owned.items[i]);
    cq_vec_clear(&c->owned);
}

static cq_val input_at(cq_compose *c, const cq_onnx_node *node, size_t i)
{
    return i < node->input.n && *node->input.items[i] ? value_named(c, node->input.items[i])
                                                      : CQ_NONE;
}

/* Returns input i of the schema; the last input may be variadic. */
static cq_val input_of(cq_compose *c, const cq_onnx_node *node, const cq_onnx_schema *schema,
                       size_t i)
{
    cq_val list;
    size_t n = node->input.n;

    if (schema->inputs[i].arity <= CQ_ONNX_OPTIONAL)
        return input_at(c, node, i);
    list = cq_lang_list(&c->lang, NULL, n > i ? n - i : 0);
    for (size_t k = i; k < n && list.kind == CQ_VAL_LIST; k++)
        list.u.list->items[k - i] = input_at(c, node, k);
    return list;
}

/* Looks up a parameter of the node; false if there is none. */
static bool find_parameter(cq_val *out, cq_compose *c, const cq_onnx_node *node,
                           const cq_onnx_schema *schema, const char *name)
{
    const cq_onnx_schema_attribute *known = cq_onnx_schema_attr(schema, name);

    for (size_t i = 0; i < schema->n_inputs; i++)
        if (strcmp(schema->inputs[i].name, name) == 0) {
            *out = input_of(c, node, schema, i);
            return true;
        }
    if (known)
        *out = cq_compose_attribute(c, node, known);
    return known != NULL;
}

static const char *extra_of(const cq_compose_extra *extras, const char *name)
{
    for (; extras && extras->parameter; extras++)
        if (strcmp(extras->parameter, name) == 0)
            return extras->value;
    return NULL;
}

cq_val cq_compose_call(cq_compose *c, cq_lib_function *f, const cq_onnx_node *node,
                       const cq_onnx_schema *schema, const cq_compose_extra *extras)
{
    cq_val args[CQ_LANG_MAX_SLOTS];
    size_t n = 0;

    c->node = node;
    if (c->m->status == CQ_OK)
        c->m->status = cq_lang_link(f, &host);
    for (size_t i = 0; c->m->status == CQ_OK && i < f->def->n_params; i++) {
        const char *name = f->def->params[i].name, *extra = extra_of(extras, name);

        if (extra)
            args[n++] = value_named(c, extra);
        else if (find_parameter(&args[n], c, node, schema, name))
            n++;
        else if (f->def->params[i].value) /* an attribute of later versions; the last parameter */
            break;
        else
            c->m->status =
                cq_source_fail(&f->unit->source, f->def->params[i].at, CQ_E_INTERNAL, NULL,
                               "%s has no input or attribute %s", schema->name, name);
    }
    return c->m->status == CQ_OK ? cq_lang_call(&c->lang, f, args, n) : CQ_NONE;
}

cq_val cq_compose_call_with(cq_compose *c, cq_lib_function *f, const char *const *values, size_t n)
{
    cq_val args[4];

    for (size_t i = 0; i < n && i < sizeof args / sizeof *args; i++)
        args[i] = value_named(c, values[i]);
    return c->m->status == CQ_OK ? cq_lang_call(&c->lang, f, args, n) : CQ_NONE;
}

/* ---- the library ---- */

bool cq_compose_runs(const cq_lib_file *file)
{
    static const char *const files[] = { "onnx/experimental.py", "onnx/gradients.py",
                                         "onnx/microsoft.py", "onnx/versions" };

    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (cq_library_is_in(file, files[i]))
            return true;
    return false;
}

static bool has_parameter(const cq_onnx_schema *s, const char *name)
{
    for (size_t i = 0; i < s->n_inputs; i++)
        if (strcmp(s->inputs[i].name, name) == 0)
            return true;
    return cq_onnx_schema_attr(s, name) != NULL;
}

static cq_status fail_parameter(const cq_lib_function *f, const cq_onnx_schema *s, size_t param,
                                int opset)
{
    cq_str    names  = { 0 };
    cq_status status = CQ_E_NO_MEMORY;

    for (size_t i = 0; i < s->n_inputs; i++)
        cq_str_printf(&names, "%s%s", i ? ", " : "", s->inputs[i].name);
    for (size_t i = 0; i < s->n_attributes; i++)
        cq_str_printf(&names, ", %s", s->attributes[i].name);
    if (names.status == CQ_OK)
        status = cq_source_fail(&f->unit->source, f->def->params[param].at, CQ_E_SYNTAX, NULL,
                                "%s has no input or attribute %s in opset %d; expected one of %s",
                                s->name, f->def->params[param].name, opset, cq_str_text(&names));
    cq_str_clear(&names);
    return status;
}

/* An adapter gets a node as it was before the conversion. */
static cq_status check_adapter(const cq_decorator *d, void *user)
{
    const char           *version = cq_decorator_at(d, 0);
    const bool            rises   = strcmp(d->name, "upgrade") == 0;
    const int             opset   = version ? atoi(version) - rises : 0;
    const cq_onnx_schema *s;

    if (*(const bool *)user && !cq_library_is_changed(d->file))
        return CQ_OK;
    if (!version || !d->function)
        return cq_decorator_fail(d, "expected an operator and an opset, as in @%s(\"Split\", 18)",
                                 d->name);
    CQ_TRY(cq_onnx_schema_find(&s, "", d->text, opset));
    if (!s)
        return cq_decorator_fail(d, "ONNX has no operator %s in opset %d", d->text, opset);
    CQ_TRY(cq_library_parse(d->function));
    for (size_t i = 0; i < d->function->def->n_params; i++)
        if (!has_parameter(s, d->function->def->params[i].name) &&
            !d->function->def->params[i].value)
            return fail_parameter(d->function, s, i, opset);
    return CQ_OK;
}

cq_status cq_compose_check_library(bool only_changed)
{
    CQ_TRY(cq_library_each("upgrade", check_adapter, &only_changed));
    CQ_TRY(cq_library_each("downgrade", check_adapter, &only_changed));
    return cq_lang_check_library(cq_compose_runs, only_changed, &host);
}

/* Built on first use; after a failed allocation the next call tries again. */
static struct {
    cq_mutex lock;
    bool     is_ready;
    cq_map   by_text; /* text of the decorator to function, by kind of decorator */
} table = { .lock = CQ_MUTEX_INIT };

static cq_status add_function(const cq_decorator *d, void *user)
{
    const char *version = cq_decorator_at(d, 0);
    char        key[128];

    snprintf(key, sizeof key, "%s %s%s%s", d->name, d->text, version ? " " : "",
             version ? version : "");
    (void)user;
    if (cq_map_has(&table.by_text, key))
        return cq_decorator_fail(d, "@%s is already defined", key);
    return cq_map_set(&table.by_text, key, d->function);
}

cq_status cq_compose_find(cq_lib_function **out, const char *kind, const char *text)
{
    char      key[128];
    cq_status status = CQ_OK;

    snprintf(key, sizeof key, "%s %s", kind, text);
    cq_mutex_lock(&table.lock);
    if (!table.is_ready) {
        static const char *const kinds[] = { "function", "backward", "upgrade", "downgrade" };

        for (size_t i = 0; i < sizeof kinds / sizeof *kinds && status == CQ_OK; i++)
            status = cq_library_each(kinds[i], add_function, NULL);
        if (status == CQ_OK && cq_library_has_changes())
            status = cq_compose_check_library(true);
        if (status != CQ_OK)
            cq_map_clear(&table.by_text);
        table.is_ready = status == CQ_OK;
    }
    *out = status == CQ_OK ? cq_map_get(&table.by_text, key) : NULL;
    cq_mutex_unlock(&table.lock);
    return status;
}
