/* ONNX nodes of symbolic functions: Conv(x, w, b, strides=s), and g.op("Conv", x, w, b,
 * strides_i=s) as PyTorch writes it. */
#include "export/symbolic/arith.h"
#include "export/symbolic/host.h"
#include "onnx/schema.h"

#include <stdio.h>

enum { MAX_INPUTS = 4096, MAX_LIST = 256 };

static const cq_onnx_schema *schema_of(cq_sym_run *r, const char *op)
{
    const cq_onnx_schema *schema = NULL;

    if (!strstr(op, "::"))
        cq_sym_fail(r->s, cq_onnx_schema_find(&schema, "", op, cq_sym_opset(r->s)));
    return schema;
}

/* ---- attributes ---- */

static cq_attr unknown_attribute(cq_sym_run *r, const char *name)
{
    cq_sym_no(r->s, 0, "attribute \"%s\" must be known when the model is exported", name);
    return (cq_attr){ 0 };
}

static cq_attr list_attribute(cq_sym_run *r, const char *name, cq_val v, bool floats)
{
    int64_t       ints[MAX_LIST];
    double        numbers[MAX_LIST];
    const char   *texts[MAX_LIST];
    size_t        n, n_texts = 0;
    const cq_val *items   = cq_lang_items(&v, &n);
    bool          numeric = n <= MAX_LIST;

    for (size_t i = 0; i < n && n <= MAX_LIST; i++) {
        if (items[i].kind == CQ_VAL_STR)
            texts[n_texts++] = items[i].u.text->text;
        numeric &= cq_sym_number_of(items[i], &numbers[i]);
        floats |= items[i].kind == CQ_VAL_FLOAT;
        ints[i] = numeric ? (int64_t)numbers[i] : 0;
    }
    if (n && n_texts == n)
        return cq_attr_ss(r->s, name, texts, n);
    if (!numeric)
        return unknown_attribute(r, name);
    if (r->s->status != CQ_OK)
        return (cq_attr){ 0 };
    return floats ? cq_attr_fs(r->s, name, numbers, n) : cq_attr_is(r->s, name, ints, n);
}

/* Attributes that hold the number of a dtype. */
static bool is_dtype_attribute(const char *name)
{
    return strcmp(name, "to") == 0 || strcmp(name, "dtype") == 0 ||
           strcmp(name, "output_dtype") == 0;
}

/* The tensor of value_t=torch.tensor(…), or a constant of the graph. */
static cq_attr tensor_attribute(cq_sym_run *r, const char *name, cq_val v)
{
    cq_tensor *t = v.kind == CQ_VAL_TENSOR ? v.u.tensor : cq_sym_data(cq_sym_input_of(r, v, NULL));

    return t ? cq_attr_t(name, t) : unknown_attribute(r, name);
}

/* suffix: 'f' of alpha_f, 0 if there is none. Without one the type in the schema decides if it is
 * known, otherwise the form of the value. */
static cq_attr attribute(const cq_sym_call *c, const cq_onnx_schema *schema, const char *name,
                         char suffix, cq_val v)
{
    const cq_onnx_schema_attribute *a =
        schema && !suffix ? cq_onnx_schema_attr(schema, name) : NULL;
    bool   is_float = suffix ? suffix == 'f'
                      : a    ? a->type == CQ_ONNX_ATTR_FLOAT || a->type == CQ_ONNX_ATTR_FLOATS
                             : v.kind == CQ_VAL_FLOAT;
    double f;

    if (v.kind == CQ_VAL_NONE || cq_lang_is_lambda(v) || c->r->s->status != CQ_OK)
        return (cq_attr){ 0 };
    if (suffix == 't' || v.kind == CQ_VAL_TENSOR)
        return tensor_attribute(c->r, name, v);
    if (v.kind == CQ_VAL_INT && a && a->type == CQ_ONNX_ATTR_INT && is_dtype_attribute(name) &&
        !c->has_onnx_dtypes)
        return cq_attr_i(name, cq_dtype_to_onnx(cq_sym_dtype_of(c->r, v)));
    if (v.kind == CQ_VAL_STR)
        return cq_attr_s(name, v.u.text->text);
    if (v.kind == CQ_VAL_LIST || v.kind == CQ_VAL_TUPLE)
        return list_attribute(c->r, name, v, is_float);
    if (!cq_sym_number_of(v, &f))
        return unknown_attribute(c->r, name);
    if (is_float)
        return cq_attr_f(name, f);
    return cq_attr_i(name, v.kind == CQ_VAL_INT ? v.u.i.value : (int64_t)f);
}

/* alpha_f is attribute alpha, a float. */
static char suffix_of(const cq_sym_call *c, const char *name)
{
    size_t n = strlen(name);

    return c->has_onnx_dtypes && n > 2 && name[n - 2] == '_' && strchr("fistgz", name[n - 1])
               ? name[n - 1]
               : 0;
}

static cq_attr keyword_attribute(const cq_sym_call *c, const cq_onnx_schema *schema, size_t i)
{
    const char *name   = c->attr_names[i];
    char        suffix = suffix_of(c, name);

    if (suffix) {
        name = cq_arena_strndup(c->r->s->ex->scratch, name, strlen(name) - 2);
        if (!name) {
            cq_sym_fail(c->r->s, CQ_E_NO_MEMORY);
            return (cq_attr){ 0 };
        }
    }
    return attribute(c, schema, name, suffix, c->attrs[i]);
}

/* ---- nodes ---- */

/* Sets the dtypes of outputs from the schema: a fixed one, or that of an input. */
static void set_dtypes(cq_sym_run *r, const cq_onnx_schema *schema, cq_value *const *in,
                       size_t n_in, cq_value *const *out, size_t n_out)
{
    for (size_t k = 0; schema && k < n_out; k++) {
        const cq_onnx_parameter *p = cq_onnx_parameter_at(schema->outputs, schema->n_outputs, k);

        if (!p || !out[k] || out[k]->type.kind != CQ_TYPE_UNKNOWN)
            continue;
        if (p->constraint < 0 && strcmp(p->type, "i64") == 0)
            cq_sym_set_dtype(r->s, out[k], CQ_DTYPE_I64);
        if (p->constraint < 0 && strcmp(p->type, "bool") == 0)
            cq_sym_set_dtype(r->s, out[k], CQ_DTYPE_BOOL);
        for (size_t i = 0; i < n_in && p->constraint >= 0; i++) {
            const cq_onnx_parameter *q = cq_onnx_parameter_at(schema->inputs, schema->n_inputs, i);

            if (in[i] && q && q->constraint == p->constraint) {
                cq_sym_set_dtype(r->s, out[k], cq_sym_dtype(r->s, in[i]));
                break;
            }
        }
    }
}

/* body=lambda: …: the values of the lambda are the outputs of the graph. */
static void build_graphs(const cq_sym_call *c)
{
    cq_sym_run *r = c->r;

    for (size_t i = 0; i < c->n_attrs && r->s->status == CQ_OK; i++) {
        cq_val        v;
        const cq_val *items;
        cq_value     *values[CQ_LANG_MAX_ITEMS];
        size_t        n;

        if (!cq_lang_is_lambda(c->attrs[i]))
            continue;
        cq_sym_graph_begin(r->s, c->out[0], c->attr_names[i]);
        v     = cq_lang_run(&r->lang, c->attrs[i]);
        items = cq_lang_items(&v, &n);
        for (size_t k = 0; k < n && n <= CQ_LANG_MAX_ITEMS; k++)
            values[k] = cq_sym_input_of(r, items[k], NULL);
        if (n > CQ_LANG_MAX_ITEMS)
            cq_sym_wrong(r, "a graph has at most %d outputs, got %zu", CQ_LANG_MAX_ITEMS, n);
        else
            cq_sym_graph_end(r->s, n, values);
    }
}

/* Whether the function that runs was written or changed since calque was built. Tests find errors
 * in the others. */
static bool is_new(const cq_sym_run *r)
{
    const cq_lib_file *file = r->lang.in ? r->lang.in->file : NULL;

    return file && (cq_library_is_users(file) || cq_library_is_changed(file));
}

/* Reports the first error in a node with the line of the function, which the checker of the model
 * does not know. */
static void check_node(const cq_sym_call *c)
{
    const int             opset = cq_sym_opset(c->r->s);
    const cq_onnx_schema *s     = schema_of(c->r, c->op);

    if (strstr(c->op, "::") || c->r->s->status != CQ_OK)
        return;
    if (!s)
        cq_sym_wrong(c->r, "ONNX has no operator %s in opset %d", c->op, opset);
    else if (c->n < s->min_inputs)
        cq_sym_wrong(c->r, "%s needs at least %zu inputs in opset %d, got %zu", c->op,
                     s->min_inputs, opset, c->n);
    else if (c->n > s->max_inputs)
        cq_sym_wrong(c->r, "%s takes at most %zu inputs in opset %d, got %zu", c->op, s->max_inputs,
                     opset, c->n);
    for (size_t i = 0; s && !s->is_open && i < c->n_attrs && c->r->s->status == CQ_OK; i++) {
        const char *name = c->attr_names[i];
        char        plain[64];

        snprintf(plain, sizeof plain, "%.*s", (int)(strlen(name) - 2u * (suffix_of(c, name) != 0)),
                 name);
        if (c->attrs[i].kind != CQ_VAL_NONE && strlen(name) < sizeof plain &&
            !cq_onnx_schema_attr(s, plain))
            cq_sym_wrong(c->r, "%s has no attribute %s in opset %d", c->op, plain, opset);
    }
}

/* Numbers among the inputs take the dtype of the first tensor beside them in element-wise
 * operators, and that of the operator's first tensor elsewhere. */
static void plain_node(const cq_sym_call *c)
{
    cq_sym_run           *r      = c->r;
    const cq_onnx_schema *schema = NULL;
    bool                  fits   = c->n && (int)c->n == cq_sym_arity(c->op) && c->n_out == 1;
    cq_value            **values = cq_arena_array(r->s->ex->scratch, c->n + 1, sizeof *values);
    cq_value             *like   = NULL;
    cq_attr               attrs[CQ_LANG_MAX_ITEMS];

    if (!values) {
        cq_sym_fail(r->s, CQ_E_NO_MEMORY);
        return;
    }
    if (!fits || c->n_attrs)
        schema = schema_of(r, c->op);
    if (is_new(r))
        check_node(c);
    if (r->s->status != CQ_OK)
        return;
    for (size_t i = 0; i < c->n && fits && !like; i++)
        like = cq_sym_graph_of(r, c->in[i]);
    for (size_t i = 0; i < c->n; i++)
        values[i] = cq_sym_input_of(r, c->in[i], like);
    for (size_t i = 0; i < c->n_attrs; i++)
        attrs[i] = keyword_attribute(c, schema, i);
    if (r->s->status != CQ_OK)
        return;
    if (fits) {
        c->out[0] = cq_sym_apply(r->s, c->op, values, c->n, attrs, c->n_attrs);
        return;
    }
    cq_sym_op_n(r->s, c->op, values, c->n, attrs, c->n_attrs, c->out, c->n_out);
    build_graphs(c);
    set_dtypes(r, schema, values, c->n, c->out, c->n_out);
}

/* The tensors of an input that is a list of tensors; the input itself otherwise. */
static const cq_val *inputs_at(const cq_sym_call *c, size_t i, size_t *n)
{
    const cq_val *items = cq_lang_items(&c->in[i], n);

    if (items != &c->in[i] && *n && cq_sym_is_graph(items[0]))
        return items;
    *n = 1;
    return &c->in[i];
}

/* A list of tensors among the inputs is as many inputs. */
static bool unpack(cq_sym_call *c)
{
    size_t  n = 0, many;
    cq_val *in;

    for (size_t i = 0; i < c->n; i++) {
        inputs_at(c, i, &many);
        n += many;
    }
    if (n > MAX_INPUTS) {
        cq_sym_no(c->r->s, 0, "a node with more than %d inputs", MAX_INPUTS);
        return false;
    }
    in = cq_arena_array(c->r->s->ex->scratch, n + 1, sizeof *in);
    if (!in) {
        cq_sym_fail(c->r->s, CQ_E_NO_MEMORY);
        return false;
    }
    n = 0;
    for (size_t i = 0; i < c->n; i++) {
        const cq_val *items = inputs_at(c, i, &many);

        for (size_t k = 0; k < many; k++)
            in[n++] = items[k];
    }
    c->in = in;
    c->n  = n;
    return true;
}

void cq_sym_call_op(cq_sym_call *c, const cq_node_form *form)
{
    if (!unpack(c))
        return;
    if (!form || !cq_node_form_apply(c, form))
        plain_node(c);
}
