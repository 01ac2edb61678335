/* Prints exactly the listing of onnx.helper.printable_graph of onnx 1.12, including its quirks:
 * initializers are only listed if the graph has inputs, an attribute shows the first of its fields
 * that is set, a scalar tensor shows its typed field even if its value is in raw_data. Where 1.12
 * fails (an axis that is neither number nor name), the output is that of newer versions. */
#include "base/map.h"
#include "base/printable.h"
#include "base/pytext.h"
#include "onnx/file/fields.h"
#include "onnx/tensor.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CHARS = 64 }; /* maximum length of a string attribute */

typedef CQ_VEC(const cq_onnx_graph *) graph_list;

static const char *text_of(const char *text)
{
    return text ? text : "";
}

/* Names may be any text; only the separators are fixed. */
static void add_name(cq_str *s, const char *before, const char *name, const char *after)
{
    cq_str_add(s, before);
    cq_str_add_name(s, text_of(name));
    cq_str_add(s, after);
}

static void add_names(cq_str *s, const cq_onnx_names *names)
{
    for (uint32_t i = 0; i < names->n; i++)
        add_name(s, i ? ", %" : "%", names->items[i], "");
}

/* ---- types ---- */

static void add_data_type(cq_str *s, int32_t data_type)
{
    const char *name = cq_onnx_data_type_name(data_type);

    if (name)
        cq_str_add(s, name);
    else
        cq_str_printf(s, "%" PRId32, data_type);
}

static void add_dim(cq_str *s, const cq_onnx_dim *dim)
{
    if (cq_onnx_has(dim, CQ_ONNX_DIM_VALUE))
        cq_str_printf(s, "%" PRId64, dim->dim_value);
    else
        cq_str_add_name(s, dim->dim_param ? dim->dim_param : "?");
}

static void add_tensor_type(cq_str *s, const cq_onnx_tensor_type *type)
{
    add_data_type(s, type->elem_type);
    if (!type->shape)
        return;
    for (uint32_t i = 0; i < type->shape->dim.n; i++) {
        cq_str_add(s, i ? "x" : ", ");
        add_dim(s, type->shape->dim.items[i]);
    }
    if (!type->shape->dim.n)
        cq_str_add(s, ", scalar");
}

static void add_type(cq_str *s, const cq_onnx_type *type)
{
    const cq_onnx_message *message = &cq_onnx_type_message;

    if (type->tensor_type) {
        add_tensor_type(s, type->tensor_type);
        return;
    }
    for (uint32_t i = 0; i < message->n_fields; i++) {
        const void *set;

        if (!message->fields[i].oneof)
            continue;
        memcpy(&set, (const char *)type + message->fields[i].offset, sizeof set);
        if (set)
            cq_str_printf(s, "Unknown type %s", message->fields[i].name);
    }
}

static void add_value(cq_str *s, const cq_onnx_value_info *value)
{
    add_name(s, "%", value->name, "[");
    if (value->type)
        add_type(s, value->type);
    cq_str_add_char(s, ']');
}

static void add_initializer(cq_str *s, const cq_onnx_tensor *tensor)
{
    add_name(s, "%", tensor->name, "[");
    add_data_type(s, tensor->data_type);
    for (uint32_t i = 0; i < tensor->dims.n; i++)
        cq_str_printf(s, "%s%" PRId64, i ? "x" : ", ", tensor->dims.items[i]);
    cq_str_add(s, tensor->dims.n ? "]" : ", scalar]");
}

/* ---- protobuf's text format, for type attributes ---- */

static void add_text_format(cq_str *s, const cq_onnx_message *message, const void *from,
                            int indent);

static void add_c_escaped(cq_str *s, const char *text)
{
    for (; *text; text++) {
        char letter = *text == '\t' ? 't' : *text == '\n' ? 'n' : *text == '\r' ? 'r' : *text;

        if (letter != *text || strchr("\"'\\", *text))
            cq_str_printf(s, "\\%c", letter);
        else if (*text < 0x20 || *text == 0x7f) /* char may be signed; bytes of UTF-8 are printed
                                                 * unchanged */
            cq_str_printf(s, "\\%03o", (unsigned char)*text);
        else if ((unsigned char)*text < 0x80)
            cq_str_add_char(s, *text);
        else
            cq_str_printf(s, "\\%03o", (unsigned char)*text);
    }
}

/* Appends a value of a field: a message, a string, or an integer. */
static void add_text_value(cq_str *s, const cq_onnx_field *field, const void *from, int indent)
{
    const void *pointer;
    int64_t     number;
    int32_t     narrow;

    cq_str_printf(s, "%*s%s", indent, "", field->name);
    switch (field->kind) {
    case CQ_ONNX_KIND_MESSAGE:
        memcpy(&pointer, from, sizeof pointer);
        cq_str_add(s, " {\n");
        add_text_format(s, field->message, pointer, indent + 2);
        cq_str_printf(s, "%*s}\n", indent, "");
        return;
    case CQ_ONNX_KIND_TEXT:
        memcpy(&pointer, from, sizeof pointer);
        cq_str_add(s, ": \"");
        add_c_escaped(s, pointer);
        cq_str_add(s, "\"\n");
        return;
    case CQ_ONNX_KIND_I32:
        memcpy(&narrow, from, sizeof narrow);
        cq_str_printf(s, ": %" PRId32 "\n", narrow);
        return;
    default: memcpy(&number, from, sizeof number); cq_str_printf(s, ": %" PRId64 "\n", number);
    }
}

/* Supports what TypeProto needs: no floats, no bytes, and no repeated fields except messages. */
static void add_text_format(cq_str *s, const cq_onnx_message *message, const void *from, int indent)
{
    for (uint32_t i = 1; i < message->n_fields; i++) {
        const cq_onnx_field *field = &message->fields[i];
        const char          *at    = (const char *)from + field->offset;
        cq_onnx_any_list     list;
        const void          *pointer;

        if (field->kind == CQ_ONNX_KIND_NONE)
            continue;
        if (field->repeated) {
            memcpy(&list, at, sizeof list);
            for (uint32_t k = 0; k < list.n; k++)
                add_text_value(s, field, (char *)list.items + k * sizeof(void *), indent);
        } else if (field->kind == CQ_ONNX_KIND_MESSAGE || field->kind == CQ_ONNX_KIND_TEXT) {
            memcpy(&pointer, at, sizeof pointer);
            if (pointer)
                add_text_value(s, field, at, indent);
        } else if (cq_onnx_has((const cq_onnx_any *)from, i)) {
            add_text_value(s, field, at, indent);
        }
    }
}

static void add_type_proto(cq_str *s, const cq_onnx_type *type)
{
    cq_str_add(s, "<Type Proto ");
    add_text_format(s, &cq_onnx_type_message, type, 0);
    cq_str_add_char(s, '>');
}

/* ---- attributes ---- */

static void add_float(cq_str *s, float f)
{
    if (isnan(f))
        cq_str_add(s, "nan"); /* printf may print -nan */
    else
        cq_str_printf(s, "%.15g", (double)f);
}

/* Appends the typed field for the tensor's type as a Python list. For a type that 1.12 does not
 * know, the field that newer versions use. */
static void add_scalar_tensor(cq_str *s, const cq_onnx_tensor *t)
{
    const char *comma = "";

    cq_str_add(s, "<Scalar Tensor [");
    switch (t->data_type) {
    case CQ_ONNX_FLOAT:
    case CQ_ONNX_COMPLEX64:
        for (uint32_t i = 0; i < t->float_data.n; i++, comma = ", ") {
            cq_str_add(s, comma);
            cq_str_add_py_float(s, (double)t->float_data.items[i]);
        }
        break;
    case CQ_ONNX_DOUBLE:
    case CQ_ONNX_COMPLEX128:
        for (uint32_t i = 0; i < t->double_data.n; i++, comma = ", ") {
            cq_str_add(s, comma);
            cq_str_add_py_float(s, t->double_data.items[i]);
        }
        break;
    case CQ_ONNX_INT64:
        for (uint32_t i = 0; i < t->int64_data.n; i++, comma = ", ")
            cq_str_printf(s, "%s%" PRId64, comma, t->int64_data.items[i]);
        break;
    case CQ_ONNX_UINT32:
    case CQ_ONNX_UINT64:
        for (uint32_t i = 0; i < t->uint64_data.n; i++, comma = ", ")
            cq_str_printf(s, "%s%" PRIu64, comma, t->uint64_data.items[i]);
        break;
    case CQ_ONNX_STRING:
        for (uint32_t i = 0; i < t->string_data.n; i++, comma = ", ") {
            cq_str_add(s, comma);
            cq_str_add_py_bytes(s, t->string_data.items[i].data, t->string_data.items[i].size);
        }
        break;
    default:
        for (uint32_t i = 0; i < t->int32_data.n; i++, comma = ", ")
            cq_str_printf(s, "%s%" PRId32, comma, t->int32_data.items[i]);
    }
    cq_str_add(s, "]>");
}

/* Appends a single value; false if none is set. */
static bool add_single(cq_str *s, const cq_onnx_attribute *a, graph_list *graphs)
{
    if (cq_onnx_has(a, CQ_ONNX_ATTRIBUTE_F)) {
        add_float(s, a->f);
    } else if (cq_onnx_has(a, CQ_ONNX_ATTRIBUTE_I)) {
        cq_str_printf(s, "%" PRId64, a->i);
    } else if (a->s.data) {
        cq_str_add_py_text(s, a->s.data, a->s.size, MOST_CHARS);
    } else if (a->t) {
        if (a->t->dims.n)
            cq_str_add(s, "<Tensor>");
        else
            add_scalar_tensor(s, a->t);
    } else if (a->g) {
        add_name(s, "<graph ", a->g->name, ">");
        if (cq_vec_push(graphs, a->g) != CQ_OK)
            s->status = CQ_E_NO_MEMORY;
    } else if (a->tp) {
        add_type_proto(s, a->tp);
    } else {
        return false;
    }
    return true;
}

static void add_list(cq_str *s, const cq_onnx_attribute *a, graph_list *graphs)
{
    if (a->floats.n) {
        for (uint32_t i = 0; i < a->floats.n; i++) {
            cq_str_add(s, i ? ", " : "[");
            add_float(s, a->floats.items[i]);
        }
        cq_str_add_char(s, ']');
    } else if (a->ints.n) {
        for (uint32_t i = 0; i < a->ints.n; i++)
            cq_str_printf(s, "%s%" PRId64, i ? ", " : "[", a->ints.items[i]);
        cq_str_add_char(s, ']');
    } else if (a->strings.n) {
        for (uint32_t i = 0; i < a->strings.n; i++) {
            cq_str_add(s, i ? ", " : "[");
            cq_str_add_py_text(s, a->strings.items[i].data, a->strings.items[i].size, MOST_CHARS);
        }
        cq_str_add_char(s, ']');
    } else if (a->tensors.n) {
        cq_str_add(s, "[<Tensor>, ...]");
    } else if (a->type_protos.n) {
        for (uint32_t i = 0; i < a->type_protos.n; i++) {
            cq_str_add(s, i ? ", " : "[ ");
            add_type_proto(s, a->type_protos.items[i]);
        }
        cq_str_add(s, " ]");
    } else if (a->graphs.n) {
        for (uint32_t i = 0; i < a->graphs.n; i++) {
            add_name(s, i ? ", <graph " : "[ <graph ", a->graphs.items[i]->name, ">");
            if (cq_vec_push(graphs, a->graphs.items[i]) != CQ_OK)
                s->status = CQ_E_NO_MEMORY;
        }
        cq_str_add(s, " ]");
    } else {
        cq_str_add(s, "<Unknown>");
    }
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Appends attributes sorted by their text; their graphs keep the order of the node. */
static void add_attributes(cq_str *s, const cq_onnx_attributes *attributes, graph_list *graphs)
{
    CQ_VEC(char *) texts = { 0 };

    for (uint32_t i = 0; i < attributes->n && s->status == CQ_OK; i++) {
        const cq_onnx_attribute *a   = attributes->items[i];
        cq_str                   one = { 0 };
        char                    *text;

        add_name(&one, "", a->name, " = ");
        if (!add_single(&one, a, graphs))
            add_list(&one, a, graphs);
        text = cq_str_take(&one);
        if (!text || cq_vec_push(&texts, text) != CQ_OK) {
            cq_free(text);
            s->status = CQ_E_NO_MEMORY;
        }
    }
    if (texts.n)
        qsort(texts.items, texts.n, sizeof *texts.items, compare_texts);
    for (size_t i = 0; i < texts.n; i++) {
        cq_str_add(s, i ? ", " : "[");
        cq_str_add(s, texts.items[i]);
        cq_free(texts.items[i]);
    }
    cq_str_add(s, texts.n ? "]" : "");
    cq_vec_clear(&texts);
}

/* ---- nodes and graphs ---- */

static void add_node(cq_str *s, const cq_onnx_node *node, graph_list *graphs)
{
    cq_str_add(s, "  ");
    add_names(s, &node->output);
    add_name(s, node->output.n ? " = " : "", node->op_type, "");
    add_attributes(s, &node->attribute, graphs);
    cq_str_add_char(s, '(');
    add_names(s, &node->input);
    cq_str_add(s, ")\n");
}

/* Appends the inputs with an initializer, or those without; returns their number. */
static size_t add_inputs(cq_str *s, const cq_onnx_graph *graph, const cq_map *initializers,
                         bool with_initializer, const char *header)
{
    size_t n = 0;

    for (uint32_t i = 0; i < graph->input.n; i++) {
        const cq_onnx_value_info *input = graph->input.items[i];

        if (cq_map_has(initializers, text_of(input->name)) != with_initializer)
            continue;
        cq_str_add(s, n++ ? "  " : header);
        add_value(s, input);
        cq_str_add_char(s, '\n');
    }
    return n;
}

/* Appends the text from "graph NAME" to the brace. An empty list leaves its parenthesis open for
 * the next list on the same line. */
static void add_header(cq_str *s, const cq_onnx_graph *graph, const cq_map *initializers,
                       const cq_map *inputs)
{
    add_name(s, "graph ", graph->name, " ");
    if (graph->input.n) {
        size_t n_optional;

        if (!add_inputs(s, graph, initializers, false, "(\n  "))
            cq_str_add(s, "( ");
        cq_str_add(s, ") ");
        n_optional = add_inputs(s, graph, initializers, true,
                                "optional inputs with matching initializers (\n  ");
        cq_str_add(s, n_optional ? ") " : "");
        if (n_optional < initializers->n) {
            cq_str_add(s, "initializers (\n");
            for (uint32_t i = 0; i < graph->initializer.n; i++) {
                const cq_onnx_tensor *tensor = graph->initializer.items[i];

                if (cq_map_has(inputs, text_of(tensor->name)))
                    continue;
                cq_str_add(s, "  ");
                add_initializer(s, tensor);
                cq_str_add_char(s, '\n');
            }
            cq_str_add(s, ") ");
        }
    }
    cq_str_add(s, "{\n");
}

static cq_status add_graph(cq_str *s, const cq_onnx_graph *graph)
{
    cq_map     inputs = { 0 }, initializers = { 0 };
    graph_list graphs = { 0 };
    cq_status  status = CQ_OK;

    for (uint32_t i = 0; i < graph->input.n && status == CQ_OK; i++)
        status = cq_map_set(&inputs, text_of(graph->input.items[i]->name), NULL);
    for (uint32_t i = 0; i < graph->initializer.n && status == CQ_OK; i++)
        status = cq_map_set(&initializers, text_of(graph->initializer.items[i]->name), NULL);
    if (status == CQ_OK)
        add_header(s, graph, &initializers, &inputs);
    for (uint32_t i = 0; i < graph->node.n; i++)
        add_node(s, graph->node.items[i], &graphs);
    cq_str_add(s, "  return");
    for (uint32_t i = 0; i < graph->output.n; i++)
        add_name(s, i ? ", %" : " %", graph->output.items[i]->name, "");
    cq_str_add(s, "\n}");
    for (size_t i = 0; i < graphs.n && status == CQ_OK; i++) {
        cq_str_add(s, "\n\n");
        status = add_graph(s, graphs.items[i]);
    }
    cq_vec_clear(&graphs);
    cq_map_clear(&inputs);
    cq_map_clear(&initializers);
    return status;
}

CQ_API cq_status cq_onnx_model_print(char **text, const cq_onnx_model *m)
{
    CQ_NEED_OUT(text, m);
    static const cq_onnx_graph none   = { 0 };
    cq_str                     s      = { 0 };
    cq_status                  status = add_graph(&s, m->graph ? m->graph : &none);

    *text = NULL;
    if (status != CQ_OK) {
        cq_str_clear(&s);
        return status;
    }
    *text = cq_str_take(&s);
    return *text ? CQ_OK : CQ_E_NO_MEMORY;
}
