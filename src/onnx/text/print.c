/* Prints models in ONNX's text syntax, in the layout of ONNX's own printer. Facts that the syntax
 * cannot express are in notes; text.h has the rules. */
#include "onnx/text/text.h"

#include <inttypes.h>
#include <string.h>

#define BIT(number) (1u << (number))

enum { ENOUGH = 1 << 16 }; /* size of the buffer before it is written */

cq_status cq_text_flush(cq_text_printer *p)
{
    CQ_TRY(p->s.status);
    if (p->s.len < ENOUGH)
        return CQ_OK;
    if (!p->write(p->user, p->s.text, p->s.len))
        return cq_fail(CQ_E_IO, NULL, NULL, "cannot write the text");
    p->s.len = 0;
    return CQ_OK;
}

/* ---- names ---- */

/* The syntax has two escapes; line ends and zeros are written unchanged. */
void cq_text_add_quoted(cq_str *s, const void *data, size_t size)
{
    const char *at = data, *end = size ? at + size : at; /* data of an empty string may be NULL */

    cq_str_add_char(s, '"');
    while (at < end) {
        const char *from = at;

        while (at < end && *at != '"' && *at != '\\')
            at++;
        cq_str_add_n(s, from, (size_t)(at - from));
        if (at < end) {
            cq_str_add_char(s, '\\');
            cq_str_add_char(s, *at++);
        }
    }
    cq_str_add_char(s, '"');
}

void cq_text_add_id(cq_str *s, const char *name)
{
    if (cq_text_is_plain(name))
        cq_str_add(s, name);
    else
        cq_text_add_quoted(s, name, strlen(name));
}

/* Appends "a.b", in quotes if a component is not an identifier. */
void cq_text_add_qualified(cq_str *s, const char *name)
{
    for (const char *at = name;;) {
        size_t len = strcspn(at, ".");

        if (!cq_text_is_id(at, len)) {
            cq_text_add_quoted(s, name, strlen(name));
            return;
        }
        at += len;
        if (!*at++)
            break;
    }
    cq_str_add(s, name);
}

static void add_ids(cq_str *s, const cq_onnx_names *names)
{
    for (uint32_t i = 0; i < names->n; i++) {
        cq_str_add(s, i ? ", " : "");
        cq_text_add_id(s, names->items[i]);
    }
}

void cq_text_new_line(cq_text_printer *p)
{
    cq_str_printf(&p->s, "\n%*s", p->indent, "");
}

/* Appends a note on a separate line, if necessary; returns whether it did. */
static bool add_note_line(cq_text_printer *p, cq_text_kind kind, const void *from, uint32_t carried,
                          uint32_t implied)
{
    size_t before = p->s.len;

    cq_text_new_line(p);
    if (cq_text_add_note(&p->s, kind, from, carried, implied, NULL))
        return true;
    p->s.len = before;
    return false;
}

/* ---- values ---- */

static void add_value(cq_text_printer *p, const cq_onnx_value_info *value)
{
    bool can_say = cq_text_can_say_type(value->type);

    if (can_say) {
        cq_text_add_type(&p->s, value->type);
        cq_str_add_char(&p->s, ' ');
    }
    cq_text_add_id(&p->s, value->name ? value->name : "");
    cq_str_add_char(&p->s, ' ');
    if (cq_text_add_note(&p->s, CQ_TEXT_VALUE, value, BIT(1) | (can_say ? BIT(2) : 0), BIT(1),
                         NULL))
        cq_text_new_line(p);
    else
        p->s.len--; /* removes the space */
}

static cq_status add_values(cq_text_printer *p, const cq_onnx_value_infos *values)
{
    for (uint32_t i = 0; i < values->n; i++) {
        cq_str_add(&p->s, i ? ", " : "");
        add_value(p, values->items[i]);
        CQ_TRY(cq_text_flush(p));
    }
    return CQ_OK;
}

/* Appends <initializers, then values>, one per line. */
static cq_status add_declarations(cq_text_printer *p, const cq_onnx_graph *graph)
{
    const char *before = "<";

    if (!graph->initializer.n && !graph->value_info.n)
        return CQ_OK;
    for (uint32_t i = 0; i < graph->initializer.n; i++, before = ",") {
        const cq_onnx_tensor *tensor = graph->initializer.items[i];

        cq_text_new_line(p);
        cq_str_add(&p->s, before);
        if (cq_text_can_say_tensor(tensor))
            CQ_TRY(cq_text_add_tensor(p, tensor, true));
        else
            cq_text_add_message(&p->s, &cq_onnx_tensor_message, tensor);
        CQ_TRY(cq_text_flush(p));
    }
    for (uint32_t i = 0; i < graph->value_info.n; i++, before = ",") {
        cq_text_new_line(p);
        cq_str_add(&p->s, before);
        add_value(p, graph->value_info.items[i]);
        CQ_TRY(cq_text_flush(p));
    }
    cq_str_add_char(&p->s, '>');
    return CQ_OK;
}

/* ---- nodes ---- */

static void add_operator(cq_str *s, const cq_onnx_node *node)
{
    if (node->domain && *node->domain) {
        cq_text_add_qualified(s, node->domain);
        cq_str_add_char(s, '.');
    }
    if (node->op_type && cq_text_is_id(node->op_type, strlen(node->op_type)))
        cq_str_add(s, node->op_type);
    else
        cq_text_add_quoted(s, node->op_type ? node->op_type : "",
                           node->op_type ? strlen(node->op_type) : 0);
    if (node->overload && *node->overload) {
        cq_str_add_char(s, ':');
        cq_text_add_id(s, node->overload);
    }
}

static bool has_graph(const cq_onnx_node *node)
{
    for (uint32_t i = 0; i < node->attribute.n; i++)
        if (node->attribute.items[i]->g || node->attribute.items[i]->graphs.n)
            return true;
    return false;
}

static cq_status add_bracketed_attributes(cq_text_printer *p, const cq_onnx_node *node)
{
    cq_str_add(&p->s, " <");
    CQ_TRY(cq_text_add_attributes(p, &node->attribute));
    cq_str_add_char(&p->s, '>');
    return CQ_OK;
}

static cq_status add_node(cq_text_printer *p, const cq_onnx_node *node)
{
    uint32_t carried    = BIT(1) | BIT(2) | BIT(3) | BIT(4) | BIT(5);
    bool     graph_last = has_graph(node); /* the inputs would be hard to find after the graph */

    cq_text_new_line(p);
    if (node->name) {
        cq_str_add_char(&p->s, '[');
        cq_text_add_id(&p->s, node->name);
        cq_str_add(&p->s, "] ");
    }
    add_ids(&p->s, &node->output);
    cq_str_add(&p->s, node->output.n ? " = " : "= ");
    add_operator(&p->s, node);
    if (node->attribute.n && !graph_last)
        CQ_TRY(add_bracketed_attributes(p, node));
    cq_str_add(&p->s, " (");
    add_ids(&p->s, &node->input);
    cq_str_add_char(&p->s, ')');
    if (graph_last)
        CQ_TRY(add_bracketed_attributes(p, node));
    carried |= node->domain && (*node->domain || p->sets_domain) ? BIT(7) : 0;
    carried |= node->overload && *node->overload ? BIT(8) : 0;
    add_note_line(p, CQ_TEXT_NODE, node, carried, BIT(4) | (p->sets_domain ? BIT(7) : 0));
    return cq_text_flush(p);
}

static cq_status add_nodes(cq_text_printer *p, cq_onnx_node *const *nodes, uint32_t n)
{
    cq_text_new_line(p);
    cq_str_add_char(&p->s, '{');
    p->indent += 3;
    for (uint32_t i = 0; i < n; i++)
        CQ_TRY(add_node(p, nodes[i]));
    p->indent -= 3;
    cq_text_new_line(p);
    cq_str_add_char(&p->s, '}');
    return CQ_OK;
}

/* ---- graphs and functions ---- */

cq_status cq_text_add_graph(cq_text_printer *p, const cq_onnx_graph *graph, bool is_inner)
{
    cq_text_add_id(&p->s, graph->name ? graph->name : "");
    cq_str_add(&p->s, " (");
    CQ_TRY(add_values(p, &graph->input));
    cq_str_add(&p->s, ") => (");
    CQ_TRY(add_values(p, &graph->output));
    cq_str_add_char(&p->s, ')');
    p->indent += 3;
    CQ_TRY(add_declarations(p, graph));
    p->indent -= 3;
    CQ_TRY(add_nodes(p, graph->node.items, graph->node.n));
    if (add_note_line(p, CQ_TEXT_GRAPH, graph,
                      BIT(1) | BIT(2) | BIT(5) | BIT(11) | BIT(12) | BIT(13), BIT(2)) &&
        is_inner)
        cq_text_new_line(p); /* a note extends to the end of its line */
    return CQ_OK;
}

static bool can_say_opsets(const cq_onnx_opsets *opsets)
{
    for (uint32_t i = 0; i < opsets->n; i++)
        if (!opsets->items[i]->domain || opsets->items[i]->unknown ||
            !cq_onnx_has(opsets->items[i], CQ_ONNX_OPSET_VERSION))
            return false;
    return true;
}

bool cq_text_can_say_entries(const cq_onnx_entries *entries)
{
    for (uint32_t i = 0; i < entries->n; i++)
        if (!entries->items[i]->key || !entries->items[i]->value || entries->items[i]->unknown)
            return false;
    return true;
}

void cq_text_add_entries(cq_str *s, const cq_onnx_entries *entries)
{
    for (uint32_t i = 0; i < entries->n; i++) {
        const char *key   = entries->items[i]->key ? entries->items[i]->key : "";
        const char *value = entries->items[i]->value ? entries->items[i]->value : "";

        cq_str_add(s, i ? ", " : "[");
        cq_text_add_quoted(s, key, strlen(key));
        cq_str_add(s, ": ");
        cq_text_add_quoted(s, value, strlen(value));
    }
    cq_str_add_char(s, ']');
}

/* The header of a model or function: `key: value` lines between < and >. */
typedef struct header {
    cq_str *s;
    bool    is_open;
} header;

static void add_key(header *h, const char *key)
{
    cq_str_printf(h->s, "%s\n   %s: ", h->is_open ? "," : "<", key);
    h->is_open = true;
}

static void add_text(header *h, const char *key, const char *text)
{
    if (!text)
        return;
    add_key(h, key);
    cq_text_add_quoted(h->s, text, strlen(text));
}

static void add_number(header *h, const char *key, bool is_set, int64_t value)
{
    if (!is_set)
        return;
    add_key(h, key);
    cq_str_printf(h->s, "%" PRId64, value);
}

static void add_opsets(header *h, const cq_onnx_opsets *opsets)
{
    if (!opsets->n)
        return;
    add_key(h, "opset_import");
    for (uint32_t i = 0; i < opsets->n; i++) {
        const char *domain = opsets->items[i]->domain ? opsets->items[i]->domain : "";

        cq_str_add(h->s, i ? ", " : "[");
        cq_text_add_quoted(h->s, domain, strlen(domain));
        cq_str_printf(h->s, " : %" PRId64, opsets->items[i]->version);
    }
    cq_str_add_char(h->s, ']');
}

static void close_header(header *h)
{
    cq_str_add(h->s, h->is_open ? "\n>\n" : "");
}

/* f <a, b: int = 1> (x) => (y) */
static cq_status add_signature(cq_text_printer *p, const cq_onnx_function *f)
{
    cq_text_add_id(&p->s, f->name ? f->name : "");
    if (f->attribute.n || f->attribute_proto.n) {
        cq_str_add(&p->s, " <");
        add_ids(&p->s, &f->attribute);
        cq_str_add(&p->s, f->attribute.n && f->attribute_proto.n ? ", " : "");
        CQ_TRY(cq_text_add_attributes(p, &f->attribute_proto));
        cq_str_add_char(&p->s, '>');
    }
    cq_str_add(&p->s, " (");
    add_ids(&p->s, &f->input);
    cq_str_add(&p->s, ") => (");
    add_ids(&p->s, &f->output);
    cq_str_add_char(&p->s, ')');
    if (f->value_info.n) {
        cq_str_add(&p->s, " <");
        CQ_TRY(add_values(p, &f->value_info));
        cq_str_add_char(&p->s, '>');
    }
    return CQ_OK;
}

static cq_status add_function(cq_text_printer *p, const cq_onnx_function *f)
{
    uint32_t carried =
        BIT(1) | BIT(4) | BIT(5) | BIT(6) | BIT(7) | BIT(8) | BIT(10) | BIT(11) | BIT(12) | BIT(13);
    header h = { &p->s, false };

    cq_str_add_char(&p->s, '\n');
    add_text(&h, "domain", f->domain);
    add_text(&h, "overload", f->overload);
    add_opsets(&h, &f->opset_import);
    add_text(&h, "doc_string", f->doc_string);
    close_header(&h);
    CQ_TRY(add_signature(p, f));
    CQ_TRY(add_nodes(p, f->node.items, f->node.n));
    carried |= can_say_opsets(&f->opset_import) ? BIT(9) : 0;
    add_note_line(p, CQ_TEXT_FUNCTION, f, carried, BIT(1));
    return CQ_OK;
}

/* ---- models ---- */

/* Chooses the settings that fit most tensors and nodes of the main graph; the others get notes. */
static void choose_first_line(cq_text_printer *p, const cq_onnx_graph *graph)
{
    int64_t raw = 0, domain = 0;

    for (uint32_t i = 0; graph && i < graph->initializer.n; i++)
        raw += cq_text_is_raw(graph->initializer.items[i]) ? 1 : -1;
    for (uint32_t i = 0; graph && i < graph->node.n; i++) {
        const cq_onnx_node *node = graph->node.items[i];

        for (uint32_t k = 0; k < node->attribute.n; k++) {
            const cq_onnx_tensor *t = node->attribute.items[k]->t;

            raw += !t ? 0 : cq_text_is_raw(t) ? 1 : -1;
        }
        domain += !node->domain ? -1 : !*node->domain;
    }
    p->is_raw      = raw > 0;
    p->sets_domain = domain > 0;
    cq_str_printf(&p->s, "#@ exact%s%s\n", p->is_raw ? " raw" : "",
                  p->sets_domain ? " domain" : "");
}

static void add_header(cq_text_printer *p, const cq_onnx_model *m)
{
    header h = { &p->s, false };

    add_number(&h, "ir_version", cq_onnx_has(m, CQ_ONNX_MODEL_IR_VERSION), m->ir_version);
    add_opsets(&h, &m->opset_import);
    add_text(&h, "producer_name", m->producer_name);
    add_text(&h, "producer_version", m->producer_version);
    add_text(&h, "domain", m->domain);
    add_number(&h, "model_version", cq_onnx_has(m, CQ_ONNX_MODEL_MODEL_VERSION), m->model_version);
    add_text(&h, "doc_string", m->doc_string);
    if (m->metadata_props.n) {
        add_key(&h, "metadata_props");
        cq_text_add_entries(&p->s, &m->metadata_props);
    }
    close_header(&h);
}

static cq_status add_model(cq_text_printer *p, const cq_onnx_model *m)
{
    static const cq_onnx_graph none = { 0 };
    uint32_t carried = BIT(1) | BIT(2) | BIT(3) | BIT(4) | BIT(5) | BIT(6) | BIT(7) | BIT(25);

    choose_first_line(p, m->graph);
    add_header(p, m);
    CQ_TRY(cq_text_add_graph(p, m->graph ? m->graph : &none, false));
    for (uint32_t i = 0; i < m->functions.n; i++)
        CQ_TRY(add_function(p, m->functions.items[i]));
    carried |= can_say_opsets(&m->opset_import) ? BIT(8) : 0;
    carried |= cq_text_can_say_entries(&m->metadata_props) ? BIT(14) : 0;
    add_note_line(p, CQ_TEXT_MODEL, m, carried, BIT(7));
    cq_str_add_char(&p->s, '\n');
    return p->s.status;
}

CQ_API cq_status cq_onnx_model_write_text(const cq_onnx_model *m, cq_text_writer write, void *user)
{
    CQ_NEED(m && write);
    cq_text_printer p      = { .m = m, .write = write, .user = user };
    cq_status       status = add_model(&p, m);

    if (status == CQ_OK && !write(user, p.s.text, p.s.len))
        status = cq_fail(CQ_E_IO, NULL, NULL, "cannot write the text");
    cq_str_clear(&p.s);
    return status;
}

static bool write_to_file(void *out, const char *text, size_t size)
{
    cq_out_write(out, text, size);
    return true; /* the output keeps its first failure */
}

CQ_API cq_status cq_onnx_model_save_text(const cq_onnx_model *m, const char *path)
{
    CQ_NEED(m && path);
    cq_out   *out;
    cq_status status;

    CQ_TRY(cq_out_open(&out, path));
    status = cq_onnx_model_write_text(m, write_to_file, out);
    if (status == CQ_OK)
        return cq_out_commit(out);
    cq_out_abandon(out);
    return status;
}
