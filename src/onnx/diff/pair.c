/* Matches the nodes of two graphs. */
#include "onnx/diff/diff.h"

#include "base/vec.h"
#include "onnx/text/text.h"

#include <stdlib.h>
#include <string.h>

enum {
    LOOK_AHEAD = 64,    /* maximum number of nodes inserted or removed at one position */
    WINDOW     = 8,     /* nodes that are compared to decide whether nodes were inserted or
                         * removed */
    SMALL_CONTENT = 64, /* tensors up to this number of bytes, such as sizes and axes, count as
                         * structure */
    OUTPUT = 6          /* tag of a hash of a use */
};

static uint64_t mix(uint64_t hash, uint64_t more)
{
    hash ^= more + 0x9e3779b97f4a7c15u + (hash << 6) + (hash >> 2);
    return hash * 0xff51afd7ed558ccdu;
}

static uint64_t mix_text(uint64_t hash, const char *text)
{
    return mix(hash, text ? cq_hash_bytes(text, strlen(text)) : 0);
}

static uint64_t hash_tensor(const cq_onnx_tensor *t)
{
    uint64_t hash = mix(1, (uint64_t)t->data_type);

    for (uint32_t i = 0; i < t->dims.n; i++)
        hash = mix(hash, (uint64_t)t->dims.items[i]);
    if (t->raw_data.size && t->raw_data.size <= SMALL_CONTENT)
        hash = mix(hash, cq_hash_bytes(t->raw_data.data, t->raw_data.size));
    return hash;
}

static bool discard(void *user, const char *text, size_t size)
{
    (void)user, (void)text, (void)size;
    return true;
}

/* Hashes the text of an attribute, without its graphs. */
static cq_status hash_attribute(uint64_t *out, const cq_onnx_attribute *a)
{
    cq_onnx_attribute *items[] = { (cq_onnx_attribute *)a };
    cq_onnx_attributes list    = { items, 1, 1 };
    cq_text_printer    p       = { .write = discard };
    cq_status          status;

    *out = mix_text(2, a->name);
    if (a->t)
        *out = mix(*out, hash_tensor(a->t));
    if (a->t || a->g || a->graphs.n || a->tensors.n)
        return CQ_OK;
    status = cq_text_add_attributes(&p, &list);
    *out   = mix_text(*out, cq_str_text(&p.s));
    cq_str_clear(&p.s);
    return status;
}

static cq_status hash_node(uint64_t *out, cq_arena *arena, const cq_onnx_node *node,
                           const cq_diff_scope *scope);

/* Hashes a subgraph by its results. */
static cq_status hash_graph(uint64_t *out, cq_arena *arena, const cq_onnx_graph *graph,
                            const cq_diff_scope *parent)
{
    cq_diff_scope inner;
    cq_status     status = cq_diff_open_graph(&inner, arena, graph, parent);

    for (uint32_t i = 0; status == CQ_OK && i < inner.n_nodes; i++)
        *out = mix(*out, inner.hashes[i]);
    for (uint32_t i = 0; status == CQ_OK && i < graph->output.n; i++) {
        const cq_diff_value *v = cq_diff_find(&inner, graph->output.items[i]->name);

        *out = mix(*out, v ? v->hash : 0);
    }
    cq_diff_close(&inner);
    return status;
}

/* Attributes are unordered, so their hashes are added. */
static cq_status hash_node(uint64_t *out, cq_arena *arena, const cq_onnx_node *node,
                           const cq_diff_scope *scope)
{
    uint64_t hash = mix_text(mix_text(3, node->op_type), node->domain ? node->domain : "");
    uint64_t sum  = 0;

    for (uint32_t i = 0; i < node->attribute.n; i++) {
        const cq_onnx_attribute *a = node->attribute.items[i];
        uint64_t                 one;

        CQ_TRY(hash_attribute(&one, a));
        if (a->g)
            CQ_TRY(hash_graph(&one, arena, a->g, scope));
        for (uint32_t k = 0; k < a->graphs.n; k++)
            CQ_TRY(hash_graph(&one, arena, a->graphs.items[k], scope));
        sum += one;
    }
    hash = mix(hash, sum);
    for (uint32_t i = 0; i < node->input.n; i++) {
        const cq_diff_value *v = cq_diff_find(scope, node->input.items[i]);

        hash = mix(hash, v ? v->hash : 0);
    }
    *out = mix(hash, node->output.n);
    return CQ_OK;
}

/* ---- scopes ---- */

cq_diff_value *cq_diff_find(const cq_diff_scope *s, const char *name)
{
    cq_diff_value *value = NULL;

    for (; s && name && *name && !value; s = s->parent)
        value = cq_map_get(&s->names, name);
    return value;
}

static cq_status add_value(cq_diff_scope *s, cq_arena *arena, cq_diff_value **out, const char *name,
                           cq_diff_value like)
{
    cq_diff_value *v = cq_arena_copy(arena, &like, sizeof like);

    if (out)
        *out = v;
    if (!v)
        return CQ_E_NO_MEMORY;
    v->name = name ? name : "";
    return *v->name ? cq_map_set(&s->names, v->name, v) : CQ_OK;
}

static cq_status add_input(cq_diff_scope *s, cq_arena *arena, uint32_t i, const char *name)
{
    return add_value(s, arena, &s->inputs[i], name,
                     (cq_diff_value){ .kind = CQ_DIFF_INPUT, .index = i, .hash = mix(4, i) });
}

static cq_status add_weight(cq_diff_scope *s, cq_arena *arena, const char *name,
                            const cq_onnx_tensor *tensor)
{
    cq_diff_value *input = name ? cq_map_get(&s->names, name) : NULL;

    if (input) {
        input->tensor = tensor;
        return CQ_OK;
    }
    return add_value(s, arena, NULL, name,
                     (cq_diff_value){ .kind   = CQ_DIFF_WEIGHT,
                                      .tensor = tensor,
                                      .hash   = tensor ? hash_tensor(tensor) : 5 });
}

static cq_status add_nodes(cq_diff_scope *s, cq_arena *arena)
{
    s->hashes = cq_arena_array(arena, s->n_nodes + 1u, sizeof *s->hashes);
    s->uses   = cq_arena_array(arena, s->n_nodes + 1u, sizeof *s->uses);
    s->pairs  = cq_arena_array(arena, s->n_nodes + 1u, sizeof *s->pairs);
    if (!s->hashes || !s->uses || !s->pairs)
        return CQ_E_NO_MEMORY;
    for (uint32_t i = 0; i < s->n_nodes; i++) {
        const cq_onnx_node *node = s->nodes[i];

        s->pairs[i] = CQ_DIFF_NONE;
        CQ_TRY(hash_node(&s->hashes[i], arena, node, s));
        for (uint32_t k = 0; k < node->output.n; k++)
            CQ_TRY(add_value(s, arena, NULL, node->output.items[k],
                             (cq_diff_value){ .kind  = CQ_DIFF_RESULT,
                                              .node  = node,
                                              .index = k,
                                              .hash  = mix(s->hashes[i], k) }));
    }
    return CQ_OK;
}

static void add_use(const cq_diff_scope *s, const char *name, uint64_t use)
{
    cq_diff_value *v = cq_diff_find(s, name);

    if (v)
        v->uses += use;
}

/* Computes hashes of the users of each node, from the last node to the first. Outputs of the graph
 * have already been added. */
static void add_uses(cq_diff_scope *s)
{
    for (uint32_t i = s->n_nodes; i-- > 0;) {
        const cq_onnx_node *node = s->nodes[i];
        uint64_t            uses = s->hashes[i];

        for (uint32_t k = 0; k < node->output.n; k++) {
            const cq_diff_value *v = cq_diff_find(s, node->output.items[k]);

            uses = mix(uses, v ? v->uses : 0);
        }
        s->uses[i] = uses;
        for (uint32_t k = 0; k < node->input.n; k++)
            add_use(s, node->input.items[k], mix(uses, k));
    }
}

cq_status cq_diff_open_graph(cq_diff_scope *s, cq_arena *arena, const cq_onnx_graph *graph,
                             const cq_diff_scope *parent)
{
    *s = (cq_diff_scope){ .parent = parent, .nodes = graph->node.items, .n_nodes = graph->node.n };
    s->inputs = cq_arena_array(arena, graph->input.n + 1u, sizeof *s->inputs);
    if (!s->inputs)
        return CQ_E_NO_MEMORY;
    s->n_inputs = graph->input.n;
    for (uint32_t i = 0; i < graph->input.n; i++)
        CQ_TRY(add_input(s, arena, i, graph->input.items[i]->name));
    for (uint32_t i = 0; i < graph->initializer.n; i++)
        CQ_TRY(
            add_weight(s, arena, graph->initializer.items[i]->name, graph->initializer.items[i]));
    for (uint32_t i = 0; i < graph->sparse_initializer.n; i++) {
        const cq_onnx_tensor *values = graph->sparse_initializer.items[i]->values;

        CQ_TRY(add_weight(s, arena, values ? values->name : NULL, values));
    }
    CQ_TRY(add_nodes(s, arena));
    for (uint32_t i = 0; i < graph->output.n; i++)
        add_use(s, graph->output.items[i]->name, mix(OUTPUT, i));
    return add_uses(s), CQ_OK;
}

cq_status cq_diff_open_function(cq_diff_scope *s, cq_arena *arena, const cq_onnx_function *f)
{
    *s        = (cq_diff_scope){ .nodes = f->node.items, .n_nodes = f->node.n };
    s->inputs = cq_arena_array(arena, f->input.n + 1u, sizeof *s->inputs);
    if (!s->inputs)
        return CQ_E_NO_MEMORY;
    s->n_inputs = f->input.n;
    for (uint32_t i = 0; i < f->input.n; i++)
        CQ_TRY(add_input(s, arena, i, f->input.items[i]));
    CQ_TRY(add_nodes(s, arena));
    for (uint32_t i = 0; i < f->output.n; i++)
        add_use(s, f->output.items[i], mix(OUTPUT, i));
    return add_uses(s), CQ_OK;
}

void cq_diff_close(cq_diff_scope *s)
{
    cq_map_clear(&s->names);
}

/* ---- pairs ---- */

static void pair_nodes(cq_diff_scope *a, cq_diff_scope *b, uint32_t i, uint32_t k)
{
    const cq_onnx_names *from = &a->nodes[i]->output, *to = &b->nodes[k]->output;

    a->pairs[i] = k;
    b->pairs[k] = i;
    for (uint32_t n = 0; n < from->n && n < to->n; n++) {
        cq_diff_value *one   = cq_diff_find(a, from->items[n]);
        cq_diff_value *other = cq_diff_find(b, to->items[n]);

        if (one && other) {
            one->pair   = other;
            other->pair = one;
        }
    }
}

typedef struct keyed {
    uint64_t hash;
    uint32_t node;
} keyed;

static int compare_keyed(const void *a, const void *b)
{
    const keyed *x = a, *y = b;

    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

/* The unmatched nodes, sorted by hash. */
static keyed *sorted_rest(const cq_diff_scope *s, const uint64_t *hashes, uint32_t *n)
{
    keyed *list = cq_alloc_array(s->n_nodes + 1u, sizeof *list);

    *n = 0;
    for (uint32_t i = 0; list && i < s->n_nodes; i++)
        if (s->pairs[i] == CQ_DIFF_NONE)
            list[(*n)++] = (keyed){ hashes[i], i };
    if (list)
        qsort(list, *n, sizeof *list, compare_keyed);
    return list;
}

/* Matches nodes with equal hashes, at any position. */
static cq_status pair_equal(cq_diff_scope *a, const uint64_t *of_a, cq_diff_scope *b,
                            const uint64_t *of_b)
{
    uint32_t  n, m;
    keyed    *x = sorted_rest(a, of_a, &n), *y = sorted_rest(b, of_b, &m);
    cq_status status = x && y ? CQ_OK : CQ_E_NO_MEMORY;

    for (uint32_t i = 0, k = 0; status == CQ_OK && i < n && k < m;) {
        if (x[i].hash == y[k].hash)
            pair_nodes(a, b, x[i++].node, y[k++].node);
        else if (x[i].hash < y[k].hash)
            i++;
        else
            k++;
    }
    cq_free(x);
    cq_free(y);
    return status;
}

static bool same_operator(const cq_onnx_node *a, const cq_onnx_node *b)
{
    const char *x = a->domain ? a->domain : "", *y = b->domain ? b->domain : "";

    return strcmp(a->op_type ? a->op_type : "", b->op_type ? b->op_type : "") == 0 &&
           strcmp(x, y) == 0;
}

/* The unmatched nodes, in order. */
typedef struct rest {
    CQ_VEC(uint32_t) nodes;
} rest;

static cq_status find_rest(rest *out, const cq_diff_scope *s)
{
    for (uint32_t i = 0; i < s->n_nodes; i++)
        if (s->pairs[i] == CQ_DIFF_NONE)
            CQ_TRY(cq_vec_push(&out->nodes, i));
    return CQ_OK;
}

/* The distance to the next node in list with the same operator; LOOK_AHEAD if there is none
 * nearby. */
static size_t distance(const cq_onnx_node *node, const cq_diff_scope *s, const rest *list,
                       size_t from)
{
    size_t n = 0;

    while (n < LOOK_AHEAD && from + n < list->nodes.n &&
           !same_operator(node, s->nodes[list->nodes.items[from + n]]))
        n++;
    return from + n < list->nodes.n ? n : LOOK_AHEAD;
}

/* The number of following operators that agree, within the window. */
static size_t agreement(const cq_diff_scope *a, const rest *x, size_t i, const cq_diff_scope *b,
                        const rest *y, size_t k)
{
    size_t n = 0;

    while (n < WINDOW && i + n < x->nodes.n && k + n < y->nodes.n &&
           same_operator(a->nodes[x->nodes.items[i + n]], b->nodes[y->nodes.items[k + n]]))
        n++;
    return i + n == x->nodes.n && k + n == y->nodes.n ? WINDOW : n;
}

/* Matches remaining nodes by operator, in order. If two operators differ, a node was inserted,
 * removed or replaced: chooses the alternative for which the following operators agree. */
static cq_status pair_rest(cq_diff_scope *a, cq_diff_scope *b)
{
    rest      x = { 0 }, y = { 0 };
    cq_status status = find_rest(&x, a);

    if (status == CQ_OK)
        status = find_rest(&y, b);
    for (size_t i = 0, k = 0; status == CQ_OK && i < x.nodes.n && k < y.nodes.n;) {
        uint32_t one = x.nodes.items[i], other = y.nodes.items[k];
        size_t   in_b   = distance(a->nodes[one], b, &y, k);
        size_t   in_a   = distance(b->nodes[other], a, &x, i);
        size_t   put_in = in_b < LOOK_AHEAD ? agreement(a, &x, i, b, &y, k + in_b) : 0;
        size_t   taken  = in_a < LOOK_AHEAD ? agreement(a, &x, i + in_a, b, &y, k) : 0;

        if (!in_b || agreement(a, &x, i + 1, b, &y, k + 1) >= (put_in > taken ? put_in : taken)) {
            pair_nodes(a, b, one, other);
            i++, k++;
        } else if (put_in >= taken) {
            k += in_b;
        } else {
            i += in_a;
        }
    }
    cq_vec_clear(&x.nodes);
    cq_vec_clear(&y.nodes);
    return status;
}

cq_status cq_diff_pair(cq_diff_scope *a, cq_diff_scope *b)
{
    for (uint32_t i = 0; i < a->n_inputs && i < b->n_inputs; i++) {
        a->inputs[i]->pair = b->inputs[i];
        b->inputs[i]->pair = a->inputs[i];
    }
    CQ_TRY(pair_equal(a, a->uses, b, b->uses));
    CQ_TRY(pair_equal(a, a->hashes, b, b->hashes));
    return pair_rest(a, b);
}
