/* Recursive-descent parser of ONNX's text syntax: models, graphs, functions, nodes. The grammar is
 * ONNX's; text.h describes the extensions. */
#include "onnx/text/text.h"

#include "base/file.h"
#include "onnx/file/external.h"
#include "onnx/file/wire.h"

#include <string.h>

/* Appends a new message to a list; NULL if memory is exhausted. */
#define ADD(p, list) add_message((p), (list), sizeof **(list)->items)

static void *add_message(cq_text_parser *p, void *list, size_t size)
{
    void            *item = cq_onnx_alloc(p->m, size);
    cq_onnx_any_list any;

    memcpy(&any, list, sizeof any);
    if (!item || !cq_onnx_list_reserve(p->m, list, (size_t)any.n + 1, sizeof item))
        return NULL;
    memcpy(&any, list, sizeof any);
    memcpy((char *)any.items + any.n++ * sizeof item, &item, sizeof item);
    memcpy(list, &any, sizeof any);
    return item;
}

/* ---- lists ---- */

static bool next_is_name(const cq_text_parser *p)
{
    return cq_text_peek(p) == '"' || cq_text_id_len(p) != 0;
}

/* Parses names separated by commas; an omitted name is empty. As in ONNX's parser, a trailing comma
 * has no effect. */
static cq_status parse_names(cq_text_parser *p, cq_onnx_names *names)
{
    while (next_is_name(p) || cq_text_peek(p) == ',') {
        const char *name = "";

        if (next_is_name(p))
            CQ_TRY(cq_text_want_name(p, &name));
        cq_onnx_list_push(p->m, names, name);
        CQ_TRY(p->m->status);
        if (!cq_text_take(p, ','))
            break;
    }
    return CQ_OK;
}

static cq_status parse_values(cq_text_parser *p, cq_onnx_value_infos *values, char open, char close,
                              int depth)
{
    CQ_TRY(cq_text_want(p, open));
    if (cq_text_take(p, close))
        return CQ_OK;
    do {
        cq_onnx_value_info *value = ADD(p, values);

        CQ_TRY(p->m->status);
        CQ_TRY(cq_text_parse_value(p, value, depth + 1));
    } while (cq_text_take(p, ','));
    return cq_text_want(p, close);
}

static cq_status want_arrow(cq_text_parser *p)
{
    CQ_TRY(cq_text_want(p, '='));
    if (p->at == p->end || *p->at != '>')
        return cq_text_fail(p, p->at, "expected '=>'");
    p->at++;
    return CQ_OK;
}

/* ---- nodes ---- */

static cq_status parse_attributes(cq_text_parser *p, cq_onnx_attributes *list, int depth)
{
    if (!cq_text_take(p, '<'))
        return CQ_OK;
    do {
        cq_onnx_attribute *a = ADD(p, list);
        const char        *name;

        CQ_TRY(p->m->status);
        CQ_TRY(cq_text_want_name(p, &name));
        CQ_TRY(cq_text_parse_attribute(p, a, name, depth + 1));
    } while (cq_text_take(p, ','));
    return cq_text_want(p, '>');
}

/* Parses domain.op:overload; the domain is the part before the last point. */
static cq_status parse_operator(cq_text_parser *p, cq_onnx_node *node)
{
    cq_str domain = { 0 };

    if (p->sets_domain)
        node->domain = "";
    CQ_TRY(cq_text_want_name(p, &node->op_type));
    while (cq_text_take(p, '.')) {
        cq_status status;

        cq_str_printf(&domain, "%s%s", domain.len ? "." : "", node->op_type);
        status = cq_text_want_name(p, &node->op_type);
        if (status != CQ_OK) {
            cq_str_clear(&domain);
            return status;
        }
    }
    if (domain.len)
        node->domain = cq_onnx_text(p->m, cq_str_text(&domain));
    if (domain.status != CQ_OK)
        p->m->status = domain.status;
    cq_str_clear(&domain);
    CQ_TRY(p->m->status);
    return cq_text_take(p, ':') ? cq_text_want_name(p, &node->overload) : CQ_OK;
}

static cq_status parse_node(cq_text_parser *p, cq_onnx_node *node, int depth)
{
    if (cq_text_take(p, '[')) {
        node->name = "";
        if (next_is_name(p))
            CQ_TRY(cq_text_want_name(p, &node->name));
        CQ_TRY(cq_text_want(p, ']'));
    }
    CQ_TRY(parse_names(p, &node->output));
    CQ_TRY(cq_text_want(p, '='));
    CQ_TRY(parse_operator(p, node));
    CQ_TRY(parse_attributes(p, &node->attribute, depth));
    CQ_TRY(cq_text_want(p, '('));
    CQ_TRY(parse_names(p, &node->input));
    CQ_TRY(cq_text_want(p, ')'));
    if (!node->attribute.n)
        CQ_TRY(parse_attributes(p, &node->attribute, depth));
    return cq_text_take_note(p, CQ_TEXT_NODE, node, depth);
}

/* Parses { nodes } into list, which belongs to a graph or a function. */
static cq_status parse_nodes(cq_text_parser *p, void *list, int depth)
{
    CQ_TRY(cq_text_want(p, '{'));
    while (!cq_text_take(p, '}')) {
        cq_onnx_node *node = add_message(p, list, sizeof *node);

        CQ_TRY(p->m->status);
        CQ_TRY(parse_node(p, node, depth + 1));
    }
    return CQ_OK;
}

/* ---- graphs ---- */

/* Parses a value; `= elements` adds an initializer. Inputs keep both, declarations only one. */
static cq_status parse_declaration(cq_text_parser *p, cq_onnx_graph *graph,
                                   cq_onnx_value_infos *values, int depth)
{
    bool                is_input = values == &graph->input;
    cq_onnx_value_info *value    = cq_onnx_alloc(p->m, sizeof *value);
    cq_onnx_tensor     *tensor;

    CQ_TRY(p->m->status);
    if (!is_input && cq_text_peek(p) == '{') {
        tensor = ADD(p, &graph->initializer);
        CQ_TRY(p->m->status);
        return cq_text_parse_message(p, &cq_onnx_tensor_message, tensor, depth + 1);
    }
    CQ_TRY(cq_text_parse_value(p, value, depth + 1));
    if (cq_text_take(p, '=')) {
        tensor = ADD(p, &graph->initializer);
        CQ_TRY(p->m->status);
        tensor->name = value->name;
        CQ_TRY(cq_text_parse_tensor(p, tensor, value->type, depth + 1));
        if (!is_input)
            return CQ_OK;
    }
    cq_onnx_list_push(p->m, values, value);
    return p->m->status;
}

static cq_status parse_declarations(cq_text_parser *p, cq_onnx_graph *graph,
                                    cq_onnx_value_infos *values, char open, char close, int depth)
{
    if (!cq_text_take(p, open) || cq_text_take(p, close))
        return CQ_OK;
    do
        CQ_TRY(parse_declaration(p, graph, values, depth));
    while (cq_text_take(p, ','));
    return cq_text_want(p, close);
}

cq_status cq_text_parse_graph(cq_text_parser *p, cq_onnx_graph *graph, const char *name, int depth)
{
    if (depth + 5 > CQ_ONNX_MAX_DEPTH) /* the depth of a graph without subgraphs */
        return cq_text_fail(p, cq_text_next(p), "messages are nested more than %d deep",
                            CQ_ONNX_MAX_DEPTH);
    graph->name = name;
    CQ_TRY(parse_declarations(p, graph, &graph->input, '(', ')', depth));
    CQ_TRY(want_arrow(p));
    CQ_TRY(parse_values(p, &graph->output, '(', ')', depth));
    CQ_TRY(parse_declarations(p, graph, &graph->value_info, '<', '>', depth));
    CQ_TRY(parse_nodes(p, &graph->node, depth));
    return cq_text_take_note(p, CQ_TEXT_GRAPH, graph, depth);
}

/* ---- headers ---- */

static cq_status parse_opsets(cq_text_parser *p, cq_onnx_opsets *opsets)
{
    CQ_TRY(cq_text_want(p, '['));
    if (cq_text_take(p, ']'))
        return CQ_OK;
    do {
        cq_onnx_opset *opset = ADD(p, opsets);

        CQ_TRY(p->m->status);
        CQ_TRY(cq_text_want_string(p, &opset->domain));
        CQ_TRY(cq_text_want(p, ':'));
        CQ_TRY(cq_text_want_i64(p, &opset->version));
        cq_onnx_set_has(opset, CQ_ONNX_OPSET_VERSION);
    } while (cq_text_take(p, ','));
    return cq_text_want(p, ']');
}

/* Fields of a header by key. */
typedef struct key_row {
    const char *key;
    uint32_t    number; /* of the field */
} key_row;

static const key_row model_keys[] = {
    { "ir_version", 1 },   { "producer_name", 2 },   { "producer_version", 3 },
    { "domain", 4 },       { "model_version", 5 },   { "doc_string", 6 },
    { "opset_import", 8 }, { "metadata_props", 14 }, { NULL, 0 },
};

static const key_row function_keys[] = {
    { "doc_string", 8 }, { "opset_import", 9 },    { "domain", 10 },
    { "overload", 13 },  { "metadata_props", 14 }, { NULL, 0 },
};

static cq_status parse_key(cq_text_parser *p, const key_row *keys, const cq_onnx_message *message,
                           void *into)
{
    const cq_onnx_field *field;
    const char          *word, *text;
    size_t               len;
    void                *to;

    CQ_TRY(cq_text_want_id(p, &word, &len));
    while (keys->key && (strlen(keys->key) != len || memcmp(keys->key, word, len) != 0))
        keys++;
    if (!keys->key)
        return cq_text_fail(p, word, "unknown key '%.*s' in the header", (int)len, word);
    CQ_TRY(cq_text_want(p, ':'));
    field = &message->fields[keys->number];
    to    = (char *)into + field->offset;
    if (strcmp(keys->key, "opset_import") == 0)
        return parse_opsets(p, to);
    if (field->repeated)
        return cq_text_parse_entries(p, to);
    if (field->kind == CQ_ONNX_KIND_I64) {
        ((cq_onnx_any *)into)->has |= 1u << keys->number;
        return cq_text_want_i64(p, to);
    }
    CQ_TRY(cq_text_want_string(p, &text));
    memcpy(to, &text, sizeof text);
    return CQ_OK;
}

static cq_status parse_header(cq_text_parser *p, const key_row *keys,
                              const cq_onnx_message *message, void *into)
{
    if (!cq_text_take(p, '<'))
        return CQ_OK;
    do
        CQ_TRY(parse_key(p, keys, message, into));
    while (cq_text_take(p, ','));
    return cq_text_want(p, '>');
}

/* ---- functions ---- */

/* Parses <a, b: int = 1>: attributes without and with a default. */
static cq_status parse_formal_attributes(cq_text_parser *p, cq_onnx_function *f)
{
    if (!cq_text_take(p, '<'))
        return CQ_OK;
    do {
        const char *name;

        CQ_TRY(cq_text_want_name(p, &name));
        if (cq_text_peek(p) == ':' || cq_text_peek(p) == '=') {
            cq_onnx_attribute *a = ADD(p, &f->attribute_proto);

            CQ_TRY(p->m->status);
            CQ_TRY(cq_text_parse_attribute(p, a, name, 2));
        } else {
            cq_onnx_list_push(p->m, &f->attribute, name);
        }
    } while (cq_text_take(p, ','));
    return cq_text_want(p, '>');
}

/* Parses (x, float[2] y): names, and a value_info for each name with a type. */
static cq_status parse_parameters(cq_text_parser *p, cq_onnx_function *f, cq_onnx_names *names)
{
    CQ_TRY(cq_text_want(p, '('));
    if (cq_text_take(p, ')'))
        return CQ_OK;
    do {
        cq_onnx_value_info *value = cq_onnx_alloc(p->m, sizeof *value);

        CQ_TRY(p->m->status);
        CQ_TRY(cq_text_parse_value(p, value, 2));
        cq_onnx_list_push(p->m, names, value->name ? value->name : "");
        if (value->type)
            cq_onnx_list_push(p->m, &f->value_info, value);
    } while (cq_text_take(p, ','));
    CQ_TRY(p->m->status);
    return cq_text_want(p, ')');
}

static cq_status parse_function(cq_text_parser *p, cq_onnx_function *f)
{
    CQ_TRY(parse_header(p, function_keys, &cq_onnx_function_message, f));
    CQ_TRY(cq_text_want_name(p, &f->name));
    CQ_TRY(parse_formal_attributes(p, f));
    CQ_TRY(parse_parameters(p, f, &f->input));
    CQ_TRY(want_arrow(p));
    CQ_TRY(parse_parameters(p, f, &f->output));
    if (cq_text_peek(p) == '<')
        CQ_TRY(parse_values(p, &f->value_info, '<', '>', 1));
    CQ_TRY(parse_nodes(p, &f->node, 1));
    return cq_text_take_note(p, CQ_TEXT_FUNCTION, f, 1);
}

/* ---- models ---- */

static cq_status parse_model(cq_text_parser *p)
{
    const char *name;

    cq_text_take_first_line(p);
    CQ_TRY(parse_header(p, model_keys, &cq_onnx_model_message, p->m));
    CQ_TRY(cq_text_want_name(p, &name));
    CQ_TRY(cq_text_parse_graph(p, p->m->graph, name, 1));
    for (;;) {
        cq_onnx_function *f;

        CQ_TRY(cq_text_take_note(p, CQ_TEXT_MODEL, p->m, 0));
        if (cq_text_next(p) == p->end)
            return CQ_OK;
        f = ADD(p, &p->m->functions);
        CQ_TRY(p->m->status);
        CQ_TRY(parse_function(p, f));
    }
}

CQ_API cq_status cq_onnx_model_parse(cq_onnx_model **out, const char *text, size_t size,
                                     const char *where)
{
    CQ_NEED_OUT(out, text);
    cq_text_parser p = { .source = { .file = where ? where : "text", .text = text, .len = size },
                         .at     = text,
                         .end    = text + size };
    cq_status      status;

    *out = NULL;
    if (size >= UINT32_MAX)
        return cq_fail(CQ_E_UNSUPPORTED, where, NULL, "a text of %zu bytes is too long", size);
    CQ_TRY(cq_onnx_model_new(&p.m, ""));
    status = parse_model(&p);
    if (status == CQ_OK)
        status = p.m->status;
    cq_str_clear(&p.scratch);
    if (status == CQ_OK)
        *out = p.m;
    else
        cq_onnx_model_free(p.m);
    return status;
}

CQ_API cq_status cq_onnx_model_load_text(cq_onnx_model **out, const char *path)
{
    CQ_NEED_OUT(out, path);
    cq_mapping *file;
    cq_status   status;

    *out = NULL;
    CQ_TRY(cq_mapping_open(&file, path));
    if (cq_mapping_size(file) && *(const char *)cq_mapping_data(file) == 0x08) {
        cq_mapping_release(file);
        return cq_fail(CQ_E_FORMAT, path, "calque print lists binary models",
                       "expected ONNX's text syntax, got a binary ONNX model");
    }
    status = cq_onnx_model_parse(out, cq_mapping_data(file) ? cq_mapping_data(file) : "",
                                 cq_mapping_size(file), path);
    cq_mapping_release(file);
    if (status == CQ_OK)
        status = cq_onnx_files_new(&(*out)->files, path);
    if (status != CQ_OK) {
        cq_onnx_model_free(*out);
        *out = NULL;
    }
    return status;
}
