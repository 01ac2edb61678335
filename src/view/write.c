/* Writes the document of the page as JSON; web/view/README.md describes its fields. Every string is
 * escaped for an HTML script element. */
#include "view/view.h"

#include "base/printable.h"
#include "onnx/schema.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { MOST_ATTRIBUTE_ITEMS = 24, LONGEST_TEXT = 400, MOST_POINTS = 240 };

typedef struct writer {
    cq_str        *s;
    const cq_view *v;
    cq_map         ops; /* "domain::Op" to an index + 1 */
    CQ_VEC(uint32_t) counts;
    CQ_VEC(uint32_t) samples; /* an op of each kind */
} writer;

void cq_view_json_text(cq_str *s, const char *text)
{
    cq_str clean = { 0 };

    cq_str_add_lines(&clean, text ? text : "");
    if (clean.status != CQ_OK)
        s->status = clean.status;
    cq_str_add_char(s, '"');
    for (const char *c = cq_str_text(&clean); *c; c++)
        if (*c == '"' || *c == '\\')
            cq_str_printf(s, "\\%c", *c);
        else if (*c == '<' || *c == '>' || *c == '&' || *c == '\'' || (unsigned char)*c < 0x20)
            cq_str_printf(s, "\\u%04x", (unsigned)(unsigned char)*c);
        else
            cq_str_add_char(s, *c);
    cq_str_add_char(s, '"');
    cq_str_clear(&clean);
}

/* JSON cannot express numbers that are not finite. */
static void add_number(cq_str *s, double x)
{
    if (!isfinite(x))
        cq_str_add(s, "null");
    else if (x == (double)(int64_t)x && fabs(x) < 1e15)
        cq_str_printf(s, "%" PRId64, (int64_t)x);
    else
        cq_str_printf(s, "%.7g", x);
}

static void add_key_text(cq_str *s, const char *key, const char *text)
{
    if (!text || !*text)
        return;
    cq_str_printf(s, ",\"%s\":", key);
    cq_view_json_text(s, text);
}

static void add_key_number(cq_str *s, const char *key, double x)
{
    cq_str_printf(s, ",\"%s\":", key);
    add_number(s, x);
}

static void add_list(cq_str *s, const uint32_t *items, uint32_t n)
{
    cq_str_add(s, "[");
    for (uint32_t i = 0; i < n; i++)
        cq_str_printf(s, "%s%d", i ? "," : "", items[i] == CQ_VIEW_NONE ? -1 : (int)items[i]);
    cq_str_add(s, "]");
}

/* ---- attributes ---- */

static void add_bytes(cq_str *s, cq_onnx_bytes b)
{
    char text[LONGEST_TEXT];

    snprintf(text, sizeof text, "\"%.*s\"", (int)(b.size < 300 ? b.size : 300),
             b.data ? (const char *)b.data : "");
    cq_str_add(s, text);
}

static uint32_t n_items(const cq_onnx_attribute *a)
{
    return a->ints.n ? a->ints.n : a->floats.n ? a->floats.n : a->strings.n;
}

static void attribute_text(cq_str *s, const cq_onnx_attribute *a)
{
    const uint32_t n = n_items(a);

    if (a->ref_attr_name && *a->ref_attr_name)
        cq_str_printf(s, "@%s", a->ref_attr_name);
    else if (a->g || a->graphs.n)
        cq_str_printf(s, "graph %s", a->g && a->g->name ? a->g->name : "");
    else if (a->t)
        cq_str_add(s, "tensor");
    else if (a->s.data)
        add_bytes(s, a->s);
    else if (a->type == CQ_ONNX_ATTR_FLOAT)
        cq_str_printf(s, "%.7g", (double)a->f);
    else if (a->type == CQ_ONNX_ATTR_INT)
        cq_str_printf(s, "%" PRId64, a->i);
    else {
        cq_str_add(s, "[");
        for (uint32_t i = 0; i < n && i < MOST_ATTRIBUTE_ITEMS; i++) {
            cq_str_add(s, i ? ", " : "");
            if (a->ints.n)
                cq_str_printf(s, "%" PRId64, a->ints.items[i]);
            else if (a->floats.n)
                cq_str_printf(s, "%.7g", (double)a->floats.items[i]);
            else
                add_bytes(s, a->strings.items[i]);
        }
        cq_str_add(s, n > MOST_ATTRIBUTE_ITEMS ? ", …]" : "]");
    }
}

static void add_attributes(cq_str *s, const cq_onnx_node *node)
{
    cq_str_add(s, ",\"a\":[");
    for (uint32_t i = 0; i < node->attribute.n; i++) {
        cq_str text = { 0 };

        attribute_text(&text, node->attribute.items[i]);
        cq_str_add(s, i ? ",[" : "[");
        cq_view_json_text(s, node->attribute.items[i]->name);
        cq_str_add(s, ",");
        cq_view_json_text(s, cq_str_text(&text));
        cq_str_add(s, "]");
        if (text.status != CQ_OK)
            s->status = text.status;
        cq_str_clear(&text);
    }
    cq_str_add(s, "]");
}

/* ---- operators ---- */

static const char *kind_of(const writer *w, const cq_onnx_node *node)
{
    return cq_view_has_own_domain(node) && !cq_view_is_checkpoint(w->v->model)
               ? cq_arena_printf(w->v->arena, "%s::%s", node->domain, node->op_type)
           : node->op_type ? node->op_type
                           : "";
}

static cq_status count_ops(writer *w)
{
    for (uint32_t i = 0; i < w->v->ops.n; i++) {
        const cq_onnx_node *node = w->v->ops.items[i].node;
        const char         *kind = node ? kind_of(w, node) : NULL;
        uintptr_t           found;

        if (!node)
            continue;
        if (!kind)
            return CQ_E_NO_MEMORY;
        found = (uintptr_t)cq_map_get(&w->ops, kind);
        if (!found) {
            found = w->counts.n + 1;
            CQ_TRY(cq_map_set(&w->ops, kind, (void *)found));
            CQ_TRY(cq_vec_push(&w->counts, 0));
            CQ_TRY(cq_vec_push(&w->samples, i));
        }
        w->counts.items[found - 1]++;
    }
    return CQ_OK;
}

static void add_parameters(cq_str *s, const cq_onnx_parameter *list, size_t n)
{
    cq_str_add(s, "[");
    for (size_t i = 0; i < n; i++) {
        cq_str_add(s, i ? "," : "");
        cq_view_json_text(s, list[i].name);
    }
    cq_str_add(s, "]");
}

/* [name, count, family, about, names of inputs, names of outputs, whether the last repeats] */
static cq_status add_ops(writer *w)
{
    cq_str *s = w->s;

    cq_str_add(s, ",\"ops\":[");
    for (size_t i = 0; i < w->ops.n; i++) {
        const cq_onnx_node   *node    = w->v->ops.items[w->samples.items[i]].node;
        const cq_onnx_schema *schema  = NULL;
        const int64_t         version = cq_onnx_imported(&w->v->model->opset_import, node->domain);

        CQ_TRY(cq_onnx_schema_find(&schema, node->domain, node->op_type ? node->op_type : "",
                                   version < 1 ? CQ_ONNX_OPSET_NEWEST : version));
        cq_str_add(s, i ? ",\n[" : "\n[");
        cq_view_json_text(s, w->ops.entries[i].key);
        cq_str_printf(s, ",%u,\"%s\",", w->counts.items[i],
                      cq_view_category(node->op_type ? node->op_type : ""));
        cq_view_json_text(s, cq_view_has_own_domain(node)
                                 ? ""
                                 : cq_view_about(node->op_type ? node->op_type : ""));
        cq_str_add(s, ",");
        add_parameters(s, schema ? schema->inputs : NULL, schema ? schema->n_inputs : 0);
        cq_str_add(s, ",");
        add_parameters(s, schema ? schema->outputs : NULL, schema ? schema->n_outputs : 0);
        cq_str_add(s, "]");
    }
    cq_str_add(s, "]");
    return CQ_OK;
}

static const char *path_of(const writer *w, const cq_view_scope *scope)
{
    const char *path = scope->name;

    for (scope = scope->parent; scope && scope->depth && path; scope = scope->parent)
        path = cq_arena_printf(w->v->arena, "%s.%s", scope->name, path);
    return path;
}

static void add_notes(cq_str *s, const cq_view_op *op)
{
    for (size_t i = 0; i < op->notes.n; i++) {
        cq_str_add(s, i ? "," : ",\"N\":[");
        cq_view_json_text(s, op->notes.items[i]);
    }
    cq_str_add(s, op->notes.n ? "]" : "");
}

static cq_status add_node(writer *w, const cq_view_op *op)
{
    cq_str *s = w->s;

    cq_str_add(s, "{\"n\":");
    cq_view_json_text(s, op->name);
    if (op->node) {
        const char *kind = kind_of(w, op->node), *path = path_of(w, op->scope);

        if (!kind || !path)
            return CQ_E_NO_MEMORY;
        cq_str_printf(s, ",\"o\":%zu", (size_t)(uintptr_t)cq_map_get(&w->ops, kind) - 1);
        add_key_text(s, "m", path);
        add_key_text(s, "c", op->scope->class_name);
        add_key_text(s, "p", op->location);
        if (op->node->attribute.n)
            add_attributes(s, op->node);
    }
    if (op->n_inputs)
        cq_str_add(s, ",\"i\":"), add_list(s, op->inputs, op->n_inputs);
    if (op->n_outputs)
        cq_str_add(s, ",\"u\":"), add_list(s, op->outputs, op->n_outputs);
    if (op->flops > 0)
        add_key_number(s, "f", op->flops);
    if (op->seconds >= 0)
        add_key_number(s, "t", op->seconds);
    if (op->weight_error >= 0 || op->layer_error >= 0)
        cq_str_printf(s, ",\"q\":[%.4g,%.4g,%d]", op->weight_error, op->layer_error,
                      op->is_quantized);
    if (op->state != CQ_VIEW_SAME)
        cq_str_printf(s, ",\"d\":%d", op->state);
    if (op->twin != CQ_VIEW_NONE)
        cq_str_printf(s, ",\"w\":%u", op->twin);
    add_notes(s, op);
    cq_str_add(s, "}");
    return CQ_OK;
}

static cq_status add_nodes(writer *w)
{
    cq_str_add(w->s, ",\"nodes\":[");
    for (size_t i = 0; i < w->v->ops.n; i++) {
        cq_str_add(w->s, i ? ",\n" : "\n");
        CQ_TRY(add_node(w, &w->v->ops.items[i]));
    }
    cq_str_add(w->s, "]");
    return CQ_OK;
}

/* ---- values and weights ---- */

/* [name, type, weight, deviation, largest]; unknown fields at the end are omitted. */
static void add_values(writer *w)
{
    cq_str_add(w->s, ",\"values\":[");
    for (size_t i = 0; i < w->v->values.n; i++) {
        const cq_view_value *x = &w->v->values.items[i];

        cq_str_add(w->s, i ? ",\n[" : "\n[");
        cq_view_json_text(w->s, x->name);
        cq_str_add(w->s, ",");
        cq_view_json_text(w->s, x->type);
        if (x->weight != CQ_VIEW_NONE || x->deviation >= 0)
            cq_str_printf(w->s, ",%d", x->weight == CQ_VIEW_NONE ? -1 : (int)x->weight);
        if (x->deviation >= 0)
            cq_str_printf(w->s, ",%.4g,%.4g", x->deviation, x->largest);
        cq_str_add(w->s, "]");
    }
    cq_str_add(w->s, "]");
}

static void add_statistics(cq_str *s, const cq_view_weight *w)
{
    const double numbers[] = { w->min, w->max, w->mean, w->std };

    cq_str_add(s, ",\"s\":[");
    for (size_t i = 0; i < 4; i++) {
        cq_str_add(s, i ? "," : "");
        add_number(s, numbers[i]);
    }
    cq_str_printf(s, "],\"z\":%" PRId64, w->n_zero);
    if (w->n_nan)
        add_key_number(s, "nan", (double)w->n_nan);
    if (w->n_inf)
        add_key_number(s, "inf", (double)w->n_inf);
    cq_str_add(s, ",\"x\":[");
    for (uint32_t i = 0; i < w->n_first; i++) {
        cq_str_add(s, i ? "," : "");
        add_number(s, w->first[i]);
    }
    cq_str_add(s, "]");
    if (w->max > w->min && w->numel > 1) {
        cq_str_add(s, ",\"h\":[");
        for (int i = 0; i < CQ_VIEW_BINS; i++)
            cq_str_printf(s, "%s%" PRId64, i ? "," : "", w->bins[i]);
        cq_str_add(s, "]");
    }
}

static void add_weights(writer *w)
{
    cq_str_add(w->s, ",\"weights\":[");
    for (size_t i = 0; i < w->v->weights.n; i++) {
        const cq_view_weight *x = &w->v->weights.items[i];

        cq_str_printf(w->s, "%s{\"v\":%u,\"n\":%" PRId64 ",\"b\":%" PRIu64, i ? ",\n" : "\n",
                      x->value, x->numel, x->bytes);
        if (x->has_data)
            add_statistics(w->s, x);
        cq_str_add(w->s, "}");
    }
    cq_str_add(w->s, "]");
}

/* ---- canvases ---- */

/* Keys: k kind, n node, c canvas, l label, s second line, p path, r repeats, q nodes inside, P
 * part, O open at first, f FLOPs, b bytes of weights, w and h size as closed, W and H as laid out,
 * x. */
static void add_item(cq_str *s, const cq_view_item *item)
{
    cq_str_printf(s, "{\"k\":%d,\"x\":%d", item->kind, (int)item->x);
    if (item->kind >= CQ_VIEW_PORT_IN) {
        cq_str_printf(s, ",\"v\":%u}", item->value);
        return;
    }
    if (item->op != CQ_VIEW_NONE)
        cq_str_printf(s, ",\"n\":%u", item->op);
    if (item->canvas != CQ_VIEW_NONE)
        cq_str_printf(s, ",\"c\":%u", item->canvas);
    add_key_text(s, "l", item->label);
    add_key_text(s, "s", item->detail);
    if (item->kind == CQ_VIEW_BOX) {
        add_key_text(s, "p", item->path);
        add_key_text(s, "t", item->class_name);
        cq_str_printf(s, ",\"q\":%u", item->n_nodes);
        if (item->repeats)
            cq_str_printf(s, ",\"r\":%u", item->repeats);
        if (item->is_part)
            cq_str_add(s, ",\"P\":1");
        if (item->is_open)
            cq_str_printf(s, ",\"O\":1,\"W\":%d,\"H\":%d", item->width, item->height);
    }
    if (item->flops > 0)
        add_key_number(s, "f", item->flops);
    if (item->param_bytes > 0)
        add_key_number(s, "b", item->param_bytes);
    cq_str_printf(s, ",\"w\":%d,\"h\":%d}", item->closed_width, item->closed_height);
}

/* Edges: [from, to, value, port of from, port of to, bends …]. */
static void add_canvas(cq_str *s, const cq_view_canvas *c)
{
    cq_str_printf(s, "{\"g\":%d,\"i\":[", c->graph == CQ_VIEW_NONE ? -1 : (int)c->graph);
    for (size_t i = 0; i < c->items.n; i++) {
        cq_str_add(s, i ? "," : "");
        add_item(s, &c->items.items[i]);
    }
    cq_str_add(s, "],\"d\":[");
    for (size_t i = 0; i < c->dummies.n; i++)
        cq_str_printf(s, "%s%d", i ? "," : "", (int)c->dummies.items[i].x);
    cq_str_add(s, "],\"r\":[");
    for (uint32_t r = 0; r < c->n_ranks; r++) {
        cq_str_add(s, r ? ",[" : "[");
        for (uint32_t i = c->starts[r]; i < c->starts[r + 1]; i++)
            cq_str_printf(s, "%s%d", i > c->starts[r] ? "," : "", (int)c->ranks[i]);
        cq_str_add(s, "]");
    }
    cq_str_add(s, "],\"e\":[");
    for (size_t i = 0; i < c->edges.n; i++) {
        const cq_view_edge *e = &c->edges.items[i];

        cq_str_printf(s, "%s[%u,%u,%u,%d,%d", i ? "," : "", e->from, e->to, e->value,
                      (int)e->from_port, (int)e->to_port);
        for (uint32_t k = 0; k < e->n_bends; k++)
            cq_str_printf(s, ",%u", e->bends[k]);
        cq_str_add(s, "]");
    }
    cq_str_add(s, "]}");
}

static void add_canvases(writer *w)
{
    cq_str_printf(w->s, ",\"root\":%u,\"canvases\":[", w->v->root);
    for (size_t i = 0; i < w->v->canvases.n; i++) {
        cq_str_add(w->s, i ? ",\n" : "\n");
        add_canvas(w->s, &w->v->canvases.items[i]);
    }
    cq_str_add(w->s, "]");
}

/* ---- the model ---- */

static void add_opsets(cq_str *s, const cq_onnx_model *m)
{
    cq_str_add(s, ",\"opsets\":[");
    for (uint32_t i = 0; i < m->opset_import.n; i++) {
        const cq_onnx_opset *o = m->opset_import.items[i];

        cq_str_add(s, i ? ",[" : "[");
        cq_view_json_text(s, o->domain && *o->domain ? o->domain : "ai.onnx");
        cq_str_printf(s, ",%" PRId64 "]", o->version);
    }
    cq_str_add(s, "],\"metadata\":[");
    for (uint32_t i = 0; i < m->metadata_props.n; i++) {
        cq_str_add(s, i ? ",[" : "[");
        cq_view_json_text(s, m->metadata_props.items[i]->key);
        cq_str_add(s, ",");
        cq_view_json_text(s, m->metadata_props.items[i]->value);
        cq_str_add(s, "]");
    }
    cq_str_add(s, "]");
}

/* A long curve is reduced to the maximum of each interval. */
static void add_memory(cq_str *s, const cq_view *v)
{
    const size_t step = v->memory.n / MOST_POINTS + 1;

    cq_str_add(s, ",\"memory\":[");
    for (size_t i = 0; i < v->memory.n; i += step) {
        const cq_view_point *highest = &v->memory.items[i];

        for (size_t k = i; k < i + step && k < v->memory.n; k++)
            if (v->memory.items[k].bytes > highest->bytes)
                highest = &v->memory.items[k];
        cq_str_printf(s, "%s[%u,", i ? "," : "", highest->op);
        add_number(s, highest->bytes);
        cq_str_add(s, "]");
    }
    cq_str_add(s, "]");
}

static void add_header(writer *w)
{
    const cq_onnx_model *m      = w->v->model;
    cq_str              *s      = w->s;
    double               params = 0, bytes = 0;
    char                 producer[256];

    for (size_t i = 0; i < w->v->weights.n; i++) {
        params += (double)w->v->weights.items[i].numel;
        bytes += (double)w->v->weights.items[i].bytes;
    }
    snprintf(producer, sizeof producer, "%s%s%s", m->producer_name ? m->producer_name : "",
             m->producer_version && *m->producer_version ? " " : "",
             m->producer_version ? m->producer_version : "");
    cq_str_add(s, "{\"format\":1,\"title\":");
    cq_view_json_text(s, w->v->title);
    add_key_text(s, "producer", producer);
    add_key_text(s, "graph", m->graph->name);
    add_key_text(s, "doc", m->doc_string);
    add_key_number(s, "ir", (double)m->ir_version);
    add_key_number(s, "params", params);
    add_key_number(s, "bytes", bytes);
    add_key_number(s, "flops", w->v->flops);
    add_key_number(s, "peak", w->v->peak);
    if (cq_view_is_checkpoint(m))
        cq_str_add(s, ",\"checkpoint\":true");
    if (w->v->n_measured)
        cq_str_printf(s, ",\"measured\":%zu", w->v->n_measured);
    if (w->v->sizes && *w->v->sizes)
        add_key_text(s, "sizes", w->v->sizes);
    if (w->v->formula && *w->v->formula)
        add_key_text(s, "formula", w->v->formula);
    cq_str_printf(s, ",\"fixed\":%s,\"functions\":%u", w->v->is_fixed ? "true" : "false",
                  m->functions.n);
    if (w->v->seconds >= 0)
        add_key_number(s, "seconds", w->v->seconds);
    add_opsets(s, m);
    add_memory(s, w->v);
    cq_str_add(s, ",\"notes\":[");
    for (size_t i = 0; i < w->v->notes.n; i++) {
        cq_str_add(s, i ? "," : "");
        cq_view_json_text(s, w->v->notes.items[i]);
    }
    cq_str_add(s, "]");
}

cq_status cq_view_write(cq_str *s, const cq_view *v, const cq_view *other)
{
    writer    w      = { .s = s, .v = v };
    cq_status status = count_ops(&w);

    if (status == CQ_OK) {
        add_header(&w);
        status = add_ops(&w);
    }
    if (status == CQ_OK)
        status = add_nodes(&w);
    if (status == CQ_OK) {
        add_values(&w);
        add_weights(&w);
        add_canvases(&w);
    }
    cq_map_clear(&w.ops);
    cq_vec_clear(&w.counts);
    cq_vec_clear(&w.samples);
    if (status == CQ_OK && other) {
        cq_str_add(s, ",\"other\":");
        status = cq_view_write(s, other, NULL);
    }
    cq_str_add(s, "}");
    return status == CQ_OK ? s->status : status;
}
