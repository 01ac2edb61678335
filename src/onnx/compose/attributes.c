/* Converts attributes to arguments of functions, and back. */
#include "onnx/compose/compose.h"

#include <stdlib.h>
#include <string.h>

static cq_val text_value(cq_compose *c, const char *text, size_t size)
{
    cq_text *t;

    if (cq_text_new(&t, text ? text : "", size) != CQ_OK)
        return cq_lang_fail(&c->lang, CQ_E_NO_MEMORY, "out of memory");
    return c->lang.host->own(&c->lang, cq_val_of_text(t));
}

static cq_val list_value(cq_compose *c, const cq_onnx_attribute *a)
{
    bool   floats = a->type == CQ_ONNX_ATTR_FLOATS;
    size_t n      = floats ? a->floats.n : a->ints.n;
    cq_val list   = cq_lang_list(&c->lang, NULL, n);

    for (size_t i = 0; i < n && list.kind == CQ_VAL_LIST; i++)
        list.u.list->items[i] =
            floats ? cq_val_of_f64((double)a->floats.items[i]) : cq_val_of_i64(a->ints.items[i]);
    return list;
}

/* Default values of lists are not supported. */
static cq_val default_value(cq_compose *c, const cq_onnx_schema_attribute *known)
{
    if (!known->fallback)
        return CQ_NONE;
    switch (known->type) {
    case CQ_ONNX_ATTR_INT: return cq_val_of_i64(strtoll(known->fallback, NULL, 10));
    case CQ_ONNX_ATTR_FLOAT: return cq_val_of_f64(strtod(known->fallback, NULL));
    case CQ_ONNX_ATTR_STRING: return text_value(c, known->fallback, strlen(known->fallback));
    default: return CQ_NONE;
    }
}

cq_val cq_compose_attribute(cq_compose *c, const cq_onnx_node *node,
                            const cq_onnx_schema_attribute *known)
{
    const cq_onnx_attribute *a = cq_onnx_node_attr(node, known->name);

    if (!a)
        return default_value(c, known);
    if (a->type != (int32_t)known->type)
        return cq_lang_fail(&c->lang, CQ_E_UNSUPPORTED, "has an attribute of another type");
    switch (a->type) {
    case CQ_ONNX_ATTR_INT: return cq_val_of_i64(a->i);
    case CQ_ONNX_ATTR_FLOAT: return cq_val_of_f64((double)a->f);
    case CQ_ONNX_ATTR_STRING: return text_value(c, a->s.data, a->s.size);
    case CQ_ONNX_ATTR_INTS:
    case CQ_ONNX_ATTR_FLOATS: return list_value(c, a);
    case CQ_ONNX_ATTR_TENSOR: return cq_compose_constant(c, a->t);
    default:
        return cq_lang_fail(&c->lang, CQ_E_UNSUPPORTED, "has an attribute of an unsupported type");
    }
}

static void set_ints(cq_compose *c, cq_onnx_node *made, const char *name, const cq_val *items,
                     size_t n)
{
    int64_t *ints = cq_onnx_alloc(c->m, (n + 1) * sizeof *ints);

    for (size_t i = 0; i < n && ints; i++)
        ints[i] = cq_lang_i64(&c->lang, items[i]);
    if (ints && !cq_lang_failed(&c->lang))
        cq_onnx_attr_ints(c->m, made, name, ints, n);
}

static void set_floats(cq_compose *c, cq_onnx_node *made, const char *name, const cq_val *items,
                       size_t n)
{
    float *floats = cq_onnx_alloc(c->m, (n + 1) * sizeof *floats);

    for (size_t i = 0; i < n && floats; i++)
        floats[i] = (float)cq_lang_f64(&c->lang, items[i]);
    if (floats && !cq_lang_failed(&c->lang))
        cq_onnx_attr_floats(c->m, made, name, floats, n);
}

/* schema NULL: a Constant, whose attributes are named after their types. */
static int type_of(const cq_onnx_schema *schema, const char *name)
{
    const cq_onnx_schema_attribute *known = schema ? cq_onnx_schema_attr(schema, name) : NULL;

    if (schema)
        return known ? (int)known->type : -1;
    return strcmp(name, "value_floats") == 0 ? CQ_ONNX_ATTR_FLOATS : CQ_ONNX_ATTR_INTS;
}

void cq_compose_set_attribute(cq_compose *c, cq_onnx_node *made, const cq_onnx_schema *schema,
                              const char *name, cq_val v)
{
    size_t        n;
    const cq_val *items = cq_lang_items(&v, &n);

    if (v.kind == CQ_VAL_NONE || cq_lang_failed(&c->lang))
        return;
    name = cq_onnx_text(c->m, name);
    switch (type_of(schema, name)) {
    case CQ_ONNX_ATTR_INT: cq_onnx_attr_int(c->m, made, name, cq_lang_i64(&c->lang, v)); break;
    case CQ_ONNX_ATTR_FLOAT:
        cq_onnx_attr_float(c->m, made, name, (float)cq_lang_f64(&c->lang, v));
        break;
    case CQ_ONNX_ATTR_STRING:
        if (v.kind == CQ_VAL_STR)
            cq_onnx_attr_string(c->m, made, name, v.u.text->text);
        break;
    case CQ_ONNX_ATTR_INTS: set_ints(c, made, name, items, n); break;
    case CQ_ONNX_ATTR_FLOATS: set_floats(c, made, name, items, n); break;
    case CQ_ONNX_ATTR_GRAPH:
        cq_onnx_attr_graph(c->m, made, name, cq_compose_graph(c, name, v));
        break;
    default: cq_lang_fail(&c->lang, CQ_E_INTERNAL, "unknown attribute %s", name);
    }
}
