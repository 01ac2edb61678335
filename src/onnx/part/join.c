/* Joins two models: the lists of the second are appended to those of the first, after colliding
 * names have been replaced. Weights stay in their files; the first model keeps the second alive. */
#include "base/sized.h"
#include "base/str.h"
#include "onnx/file/fields.h"
#include "onnx/file/wire.h"
#include "onnx/function_index.h"
#include "onnx/part/names.h"
#include "onnx/part/sizes.h"

#include <calque/part.h>

#include <inttypes.h>
#include <string.h>

typedef struct joiner {
    cq_onnx_model *a, *b;
    cq_part_taken  taken, own; /* names of a and of b */
    cq_map         connected;  /* inputs of b to outputs of a */
    cq_map         renamed;    /* values of b to their names in the joined model */
    cq_map         functions;  /* key of a function of b to its new name */
    cq_part_sizes  sizes_a, sizes_b;
} joiner;

static void joiner_clear(joiner *j)
{
    cq_part_taken_clear(&j->taken);
    cq_part_taken_clear(&j->own);
    cq_map_clear(&j->connected);
    cq_map_clear(&j->renamed);
    cq_map_clear(&j->functions);
    cq_part_sizes_clear(&j->sizes_a);
    cq_part_sizes_clear(&j->sizes_b);
}

/* ---- connections ---- */

static const cq_onnx_value_info *find_value(const cq_onnx_value_infos *list, const char *name)
{
    for (uint32_t i = 0; i < list->n; i++)
        if (list->items[i]->name && strcmp(list->items[i]->name, name) == 0)
            return list->items[i];
    return NULL;
}

static cq_status fail_side(const cq_onnx_value_infos *list, const char *name, const char *side)
{
    cq_str    names = { 0 };
    cq_status status;

    for (uint32_t i = 0; i < list->n && i < 12; i++)
        cq_str_printf(&names, "%s%s", i ? ", " : "", list->items[i]->name);
    status = cq_fail(CQ_E_ARGUMENT, NULL, NULL, "'%s' is not an %s model; expected one of: %s",
                     name, side, cq_str_text(&names));
    cq_str_clear(&names);
    return status;
}

static cq_status connect(joiner *j, const char *output, const char *input)
{
    const cq_onnx_value_info *from = find_value(&j->a->graph->output, output);
    const cq_onnx_value_info *to   = find_value(&j->b->graph->input, input);

    if (!from)
        return fail_side(&j->a->graph->output, output, "output of the first");
    if (!to)
        return fail_side(&j->b->graph->input, input, "input of the second");
    if (cq_map_has(&j->connected, input))
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL, "input '%s' is connected twice", input);
    CQ_TRY(cq_map_set(&j->connected, input, (void *)from->name));
    return cq_part_unify(&j->sizes_a, &j->sizes_b, from, to);
}

/* The only input without an initializer; other inputs need no connection. */
static cq_status only_input(const char **out, const cq_onnx_graph *g)
{
    size_t n = 0;

    for (uint32_t i = 0; i < g->input.n; i++) {
        const char *name        = g->input.items[i]->name ? g->input.items[i]->name : "";
        bool        has_default = false;

        for (uint32_t k = 0; k < g->initializer.n && !has_default; k++)
            has_default =
                g->initializer.items[k]->name && strcmp(g->initializer.items[k]->name, name) == 0;
        if (!has_default) {
            *out = name;
            n++;
        }
    }
    return n == 1 ? CQ_OK
                  : cq_fail(CQ_E_ARGUMENT, NULL, "choose a pair: --connect out=in",
                            "the second model has %zu inputs", n);
}

static cq_status connect_all(joiner *j, const cq_join_options *o)
{
    const char *input = NULL;

    for (size_t i = 0; i < o->n_connections; i++)
        CQ_TRY(connect(j, o->connections[i].output, o->connections[i].input));
    if (o->n_connections)
        return CQ_OK;
    if (j->a->graph->output.n != 1)
        return cq_fail(CQ_E_ARGUMENT, NULL, "choose a pair: --connect out=in",
                       "the first model has %u outputs", j->a->graph->output.n);
    CQ_TRY(only_input(&input, j->b->graph));
    return connect(j, j->a->graph->output.items[0]->name, input);
}

/* ---- operator sets, functions ---- */

static const char *domain_of(const char *domain)
{
    return domain && strcmp(domain, "ai.onnx") != 0 ? domain : "";
}

static cq_status join_opsets(joiner *j)
{
    for (uint32_t i = 0; i < j->b->opset_import.n; i++) {
        const cq_onnx_opset *o      = j->b->opset_import.items[i];
        const char          *domain = domain_of(o->domain);
        const int64_t        own    = cq_onnx_model_opset(j->a, domain);

        if (!own)
            cq_onnx_list_push(j->a, &j->a->opset_import, j->b->opset_import.items[i]);
        else if (own != o->version)
            return cq_fail(CQ_E_UNSUPPORTED, NULL,
                           "convert one of the models: calque convert IN --opset N -o OUT",
                           "the models import different versions of domain '%s': %" PRId64
                           " and %" PRId64,
                           *domain ? domain : "ai.onnx", own, o->version);
    }
    return j->a->status;
}

static cq_status encode_function(cq_out **out, const cq_onnx_function *f, void **data, size_t *size)
{
    cq_onnx_encoding *e;
    cq_status         status;

    CQ_TRY(cq_onnx_encoding_new(&e, &cq_onnx_function_message, f, NULL));
    status = cq_out_open_memory(out);
    if (status == CQ_OK) {
        cq_onnx_encoding_write(e, *out);
        status = cq_out_take_memory(*out, data, size);
    }
    cq_onnx_encoding_free(e);
    return status;
}

static cq_status is_same_function(bool *same, const cq_onnx_function *f, const cq_onnx_function *g)
{
    void     *one = NULL, *other = NULL;
    size_t    n_one, n_other;
    cq_out   *out;
    cq_status status;

    *same = false;
    CQ_TRY_OR_DONE(encode_function(&out, f, &one, &n_one));
    CQ_TRY_OR_DONE(encode_function(&out, g, &other, &n_other));
    *same = n_one == n_other && memcmp(one, other, n_one) == 0;
done:
    cq_buffer_free(one);
    cq_buffer_free(other);
    return status;
}

/* The lengths keep "a" "bc" and "ab" "c" apart. */
static cq_status function_key(cq_str *key, const char *domain, const char *name,
                              const char *overload)
{
    domain = domain_of(domain);
    name   = name ? name : "";
    cq_str_printf(key, "%zu.%zu.%s%s%s", strlen(domain), strlen(name), domain, name,
                  overload ? overload : "");
    return key->status;
}

static cq_status note_function(joiner *j, const cq_onnx_function *f, const char *name)
{
    cq_str    key    = { 0 };
    cq_status status = function_key(&key, f->domain, f->name, f->overload);

    if (status == CQ_OK)
        status = cq_map_set(&j->functions, key.text, (void *)name);
    cq_str_clear(&key);
    return status;
}

/* Adds a function of b. If a has a function of the same name, it is shared if both are equal,
 * otherwise the function of b is renamed. */
static cq_status join_function(joiner *j, cq_onnx_function *f, const cq_map *index, cq_map *names)
{
    const cq_onnx_function *own;
    const char             *name;
    bool                    same = false;

    CQ_TRY(cq_onnx_indexed_function(&own, index, f->domain, f->name, f->overload));
    if (own)
        CQ_TRY(is_same_function(&same, own, f));
    if (same)
        return CQ_OK;
    cq_onnx_list_push(j->a, &j->a->functions, f);
    if (!own)
        return j->a->status;
    name = cq_part_free_name(j->a, f->name, names, names);
    if (!name)
        return CQ_E_NO_MEMORY;
    CQ_TRY(cq_map_set(names, name, j));
    return note_function(j, f, name);
}

static cq_status rename_call(void *joiner_, const cq_onnx_message *message, void *at,
                             const cq_onnx_message *parent)
{
    joiner       *j    = joiner_;
    cq_onnx_node *node = at;
    cq_str        key  = { 0 };
    const char   *name = NULL;
    cq_status     status;

    (void)parent;
    if (message != &cq_onnx_node_message)
        return CQ_OK;
    status = function_key(&key, node->domain, node->op_type, node->overload);
    if (status == CQ_OK)
        name = cq_map_get(&j->functions, key.text);
    if (name)
        node->op_type = name;
    cq_str_clear(&key);
    return status;
}

static cq_status rename_functions(joiner *j)
{
    CQ_TRY(cq_onnx_each_message(&cq_onnx_model_message, j->b, rename_call, j));
    for (uint32_t i = 0; i < j->b->functions.n; i++) {
        cq_onnx_function *f      = j->b->functions.items[i];
        cq_str            key    = { 0 };
        cq_status         status = function_key(&key, f->domain, f->name, f->overload);
        const char       *name   = status == CQ_OK ? cq_map_get(&j->functions, key.text) : NULL;

        if (name)
            f->name = name;
        cq_str_clear(&key);
        CQ_TRY(status);
    }
    return CQ_OK;
}

static cq_status join_functions(joiner *j)
{
    cq_map    index = { 0 }, names = { 0 };
    cq_status status;

    CQ_TRY_OR_DONE(cq_onnx_index_functions(&index, j->a));
    for (uint32_t i = 0; i < j->a->functions.n; i++)
        if (j->a->functions.items[i]->name)
            CQ_TRY_OR_DONE(cq_map_set(&names, j->a->functions.items[i]->name, j));
    for (uint32_t i = 0; i < j->b->functions.n; i++)
        if (j->b->functions.items[i]->name)
            CQ_TRY_OR_DONE(cq_map_set(&names, j->b->functions.items[i]->name, j));
    for (uint32_t i = 0; i < j->b->functions.n; i++)
        CQ_TRY_OR_DONE(join_function(j, j->b->functions.items[i], &index, &names));
    if (j->functions.n)
        status = rename_functions(j);
done:
    cq_map_clear(&index);
    cq_map_clear(&names);
    return status;
}

/* ---- names ---- */

static const char *new_name(void *joiner_, cq_part_kind kind, const char *name)
{
    joiner     *j = joiner_;
    const char *to;

    if (kind == CQ_PART_SIZE)
        return cq_part_size_text(&j->sizes_b, j->a, name);
    to = kind == CQ_PART_VALUE ? cq_map_get(&j->connected, name) : NULL;
    if (to || !cq_map_has(&j->taken.by_kind[kind], name))
        return to ? to : name;
    to = kind == CQ_PART_VALUE ? cq_map_get(&j->renamed, name) : NULL;
    if (to)
        return to;
    to = cq_part_free_name(j->a, name, &j->taken.by_kind[kind], &j->own.by_kind[kind]);
    if (!to || cq_map_set(&j->taken.by_kind[kind], to, j) != CQ_OK)
        return NULL;
    if (kind == CQ_PART_VALUE && cq_map_set(&j->renamed, name, (void *)to) != CQ_OK)
        return NULL;
    return to;
}

static const char *new_name_a(void *joiner_, cq_part_kind kind, const char *name)
{
    joiner *j = joiner_;

    return kind == CQ_PART_SIZE ? cq_part_size_text(&j->sizes_a, j->a, name) : name;
}

/* An output of b that is also a connected input gets an Identity, so that values of a keep their
 * names. */
static void copy_through(joiner *j)
{
    cq_onnx_graph *g = j->b->graph;

    for (uint32_t i = 0; i < g->output.n; i++) {
        const char   *name = g->output.items[i]->name;
        const char   *copy;
        cq_onnx_node *node;

        if (!name || !cq_map_has(&j->connected, name))
            continue;
        copy = cq_part_free_name(j->a, name, &j->taken.by_kind[CQ_PART_VALUE],
                                 &j->own.by_kind[CQ_PART_VALUE]);
        node = cq_onnx_graph_add_node(j->b, g, "Identity", NULL, NULL);
        cq_onnx_node_add_input(j->b, node, name);
        cq_onnx_node_add_output(j->b, node, copy ? copy : "");
        g->output.items[i]->name = copy;
    }
}

/* ---- the joined graph ---- */

#define APPEND(m, to, from, keep)                                                                  \
    do {                                                                                           \
        for (uint32_t i = 0; i < (from)->n; i++)                                                   \
            if (keep)                                                                              \
                cq_onnx_list_push(m, to, (from)->items[i]);                                        \
    } while (0)

static bool is_connected_input(const joiner *j, const char *name)
{
    return name && cq_map_has(&j->connected, name);
}

/* Removes connected inputs of b and their defaults, which values of a replace; called before names
 * of b change. */
static void drop_connected(joiner *j)
{
    cq_onnx_graph      *g          = j->b->graph;
    cq_onnx_value_infos inputs     = { 0 };
    uint32_t            n_constant = 0;

    APPEND(j->b, &inputs, &g->input, !is_connected_input(j, g->input.items[i]->name));
    g->input = inputs;
    for (uint32_t i = 0; i < g->initializer.n; i++)
        if (!is_connected_input(j, g->initializer.items[i]->name))
            g->initializer.items[n_constant++] = g->initializer.items[i];
    g->initializer.n = n_constant;
}

static cq_status drop_connected_outputs(joiner *j)
{
    cq_onnx_graph      *g       = j->a->graph;
    cq_onnx_value_infos outputs = { 0 };
    cq_map              names   = { 0 };
    cq_status           status  = CQ_OK;

    for (size_t i = 0; i < j->connected.n && status == CQ_OK; i++)
        status = cq_map_set(&names, j->connected.entries[i].value, j);
    for (uint32_t i = 0; i < g->output.n && status == CQ_OK; i++)
        if (g->output.items[i]->name && cq_map_has(&names, g->output.items[i]->name))
            cq_onnx_list_push(j->a, &g->value_info, g->output.items[i]);
        else
            cq_onnx_list_push(j->a, &outputs, g->output.items[i]);
    g->output = outputs;
    cq_map_clear(&names);
    return status;
}

static void append_graph(joiner *j)
{
    cq_onnx_graph *a = j->a->graph, *b = j->b->graph;

    APPEND(j->a, &a->input, &b->input, true);
    APPEND(j->a, &a->output, &b->output, true);
    APPEND(j->a, &a->value_info, &b->value_info, true);
    APPEND(j->a, &a->initializer, &b->initializer, true);
    APPEND(j->a, &a->sparse_initializer, &b->sparse_initializer, true);
    APPEND(j->a, &a->node, &b->node, true);
    APPEND(j->a, &a->quantization_annotation, &b->quantization_annotation, true);
}

/* Appends metadata. If both models have a key with different values, the key of b gets a number. */
static cq_status join_entries(joiner *j, cq_onnx_entries *to, cq_onnx_entries *from)
{
    cq_map    keys = { 0 };
    cq_status status;

    for (uint32_t i = 0; i < to->n; i++)
        if (to->items[i]->key)
            CQ_TRY_OR_DONE(cq_map_set(&keys, to->items[i]->key, (void *)to->items[i]->value));
    status = CQ_OK;
    for (uint32_t i = 0; i < from->n; i++) {
        cq_onnx_entry *e   = from->items[i];
        const char    *own = e->key ? cq_map_get(&keys, e->key) : NULL;

        if (own && e->value && strcmp(own, e->value) == 0)
            continue;
        if (e->key && cq_map_has(&keys, e->key))
            e->key = cq_part_free_name(j->a, e->key, &keys, &keys);
        cq_onnx_list_push(j->a, to, e);
    }
done:
    cq_map_clear(&keys);
    return status;
}

static cq_status note_home(void *joiner_, const cq_onnx_message *message, void *at,
                           const cq_onnx_message *parent)
{
    joiner *j = joiner_;

    (void)parent;
    if (message != &cq_onnx_tensor_message)
        return CQ_OK;
    return cq_ptr_map_set(&j->a->homes, at, (void *)cq_onnx_tensor_home(j->b, at));
}

static cq_status join_rest(joiner *j)
{
    cq_onnx_model *a = j->a, *b = j->b;

    CQ_TRY(join_entries(j, &a->metadata_props, &b->metadata_props));
    CQ_TRY(join_entries(j, &a->graph->metadata_props, &b->graph->metadata_props));
    APPEND(a, &a->configuration, &b->configuration, true);
    a->training_info.n = 0;
    if (b->ir_version > a->ir_version)
        cq_onnx_model_set_ir_version(a, b->ir_version);
    return a->status;
}

static cq_status join(joiner *j, const cq_join_options *options)
{
    bool sorted;

    CQ_TRY(cq_onnx_model_sort(&sorted, j->a));
    CQ_TRY(cq_onnx_model_sort(&sorted, j->b));
    CQ_TRY(cq_onnx_model_infer(j->a, 0));
    CQ_TRY(cq_onnx_model_infer(j->b, 0));
    CQ_TRY(join_opsets(j));
    CQ_TRY(connect_all(j, options));
    CQ_TRY(cq_part_take_names(&j->taken, j->a->graph));
    CQ_TRY(cq_part_take_names(&j->own, j->b->graph));
    CQ_TRY(cq_part_keep_apart(&j->sizes_b, &j->taken.by_kind[CQ_PART_SIZE],
                              &j->own.by_kind[CQ_PART_SIZE], j->a));
    CQ_TRY(join_functions(j));
    copy_through(j);
    drop_connected(j);
    CQ_TRY(j->b->status);
    CQ_TRY(cq_part_each_name(j->b->graph, new_name, j));
    CQ_TRY(cq_part_each_name(j->a->graph, new_name_a, j));
    CQ_TRY(drop_connected_outputs(j));
    append_graph(j);
    CQ_TRY(join_rest(j));
    CQ_TRY(cq_onnx_each_message(&cq_onnx_model_message, j->b, note_home, j));
    return cq_onnx_model_infer(j->a, 0);
}

CQ_API void cq_join_options_init(cq_join_options *options)
{
    CQ_NEED_ELSE(options, );
    *options = (cq_join_options){ .struct_size = sizeof *options };
}

CQ_API cq_status cq_onnx_model_join(cq_onnx_model *m, cq_onnx_model *second,
                                    const cq_join_options *given)
{
    CQ_NEED(m && second && m != second);
    joiner          j = { .a = m, .b = second };
    cq_join_options options;
    cq_status       status;

    cq_join_options_init(&options);
    status = cq_vec_push(&m->joined, second);
    if (status != CQ_OK) {
        cq_onnx_model_free(second);
        return status;
    }
    CQ_TRY(cq_sized_take(&options, given, "cq_join_options"));
    CQ_TRY(cq_onnx_need_graph(m));
    CQ_TRY(cq_onnx_need_graph(second));
    status = join(&j, &options);
    joiner_clear(&j);
    return status;
}
