/* From JSON to graphs. Every name is resolved here, once: a graph has no undefined references. */
#include "pt2/program.h"

#include "base/str.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct reader {
    cq_pt2_program *program;
    cq_arena       *arena;
    CQ_VEC(const cq_pt2_node *) nodes;
} reader;

/* One graph that is being read. */
typedef struct scope {
    reader       *r;
    cq_pt2_graph *graph;
    cq_map        slots; /* name -> slot + 1 */
    CQ_VEC(const char *) names;
} scope;

cq_status cq_pt2_bad(const cq_pt2_program *p, const char *format, ...)
{
    va_list   args;
    cq_status status;

    va_start(args, format);
    status = cq_fail_v(CQ_E_FORMAT, p->archive->path, NULL, format, args);
    va_end(args);
    return status;
}

/* ---- names ---- */

static cq_status define(scope *s, const char *name, uint32_t *slot)
{
    *slot = (uint32_t)(uintptr_t)cq_map_get(&s->slots, name);
    if (!*slot) {
        CQ_TRY(cq_vec_push(&s->names, name));
        *slot = (uint32_t)s->names.n;
        CQ_TRY(cq_map_set(&s->slots, name, (void *)(uintptr_t)*slot));
    }
    --*slot;
    return CQ_OK;
}

static cq_status refer(scope *s, const cq_json *name, bool defines, cq_pt2_arg *out)
{
    const char *text = cq_json_text(name, NULL);
    uint32_t    slot;

    if (!text)
        return cq_pt2_bad(s->r->program, "an argument in graph %s has no name", s->graph->name);
    if (!defines && !cq_map_get(&s->slots, text))
        return cq_pt2_bad(s->r->program, "%s is used before it is computed in graph %s", text,
                          s->graph->name);
    CQ_TRY(define(s, text, &slot));
    *out = (cq_pt2_arg){ .kind = CQ_PT2_SLOT, .u.slot = slot };
    return CQ_OK;
}

/* ---- arguments ---- */

static cq_status read_arg(scope *s, const cq_json *j, bool defines, cq_pt2_arg *out);
static cq_status read_graph(reader *r, const char *name, const cq_json *j,
                            const cq_pt2_graph **out);

/* Floats that JSON has no digits for are texts. */
static double number_of(const cq_json *j)
{
    if (j->kind == CQ_JSON_INT)
        return (double)j->u.i;
    if (j->kind == CQ_JSON_FLOAT)
        return j->u.f;
    return strcmp(cq_json_text(j, ""), "Infinity") == 0    ? HUGE_VAL
           : strcmp(cq_json_text(j, ""), "-Infinity") == 0 ? -HUGE_VAL
                                                           : (double)NAN;
}

/* PyTorch's enum values for the numbers in a file. */
static const int8_t layouts[] = { 0, 1, 2, 4, 5, 6, 3, 0 }, memory_formats[] = { 0, 0, 2, 3, 1 };

static cq_pt2_arg renumbered(const int8_t *numbers, int64_t n, const cq_json *j)
{
    const int64_t i = cq_json_int(j, 0);

    return (cq_pt2_arg){ CQ_PT2_INT, .u.i = i >= 0 && i < n ? numbers[i] : 0 };
}

/* How the value of an alternative of Argument is read. */
typedef enum form {
    F_NONE,
    F_NAMED, /* {"name": …} */
    F_INT,
    F_FLOAT,
    F_BOOL,
    F_TEXT,
    F_DTYPE,
    F_LAYOUT,
    F_MEMORY_FORMAT,
    F_DEVICE,
    F_SYMBOL, /* {"as_name": …} or a plain number */
    F_UNION,  /* an Argument itself */
    F_COMPLEX,
    F_GRAPH,
    F_OBJECT
} form;

static const struct alternative {
    const char *key;
    form        form;
    uint8_t     depth; /* of lists around it */
} alternatives[] = {
    { "as_tensor", F_NAMED, 0 },
    { "as_int", F_INT, 0 },
    { "as_ints", F_INT, 1 },
    { "as_float", F_FLOAT, 0 },
    { "as_bool", F_BOOL, 0 },
    { "as_sym_ints", F_SYMBOL, 1 },
    { "as_scalar_type", F_DTYPE, 0 },
    { "as_device", F_DEVICE, 0 },
    { "as_layout", F_LAYOUT, 0 },
    { "as_none", F_NONE, 0 },
    { "as_sym_int", F_SYMBOL, 0 },
    { "as_tensors", F_NAMED, 1 },
    { "as_memory_format", F_MEMORY_FORMAT, 0 },
    { "as_string", F_TEXT, 0 },
    { "as_strings", F_TEXT, 1 },
    { "as_sym_bool", F_SYMBOL, 0 },
    { "as_sym_bools", F_SYMBOL, 1 },
    { "as_sym_float", F_SYMBOL, 0 },
    { "as_sym_floats", F_SYMBOL, 1 },
    { "as_graph", F_GRAPH, 0 },
    { "as_optional_tensors", F_UNION, 1 },
    { "as_optional_tensor", F_UNION, 0 },
    { "as_floats", F_FLOAT, 1 },
    { "as_bools", F_BOOL, 1 },
    { "as_operator", F_TEXT, 0 },
    { "as_complex", F_COMPLEX, 0 },
    { "as_custom_obj", F_OBJECT, 0 },
    { "as_nested_tensors", F_NAMED, 2 },
    { "as_int_lists", F_INT, 2 },
    { "as_float_lists", F_FLOAT, 2 },
};

static cq_status read_form(scope *s, form f, const cq_json *j, bool defines, cq_pt2_arg *out)
{
    const cq_json *index;
    cq_dtype       dtype;

    switch (f) {
    case F_NONE: *out = (cq_pt2_arg){ .kind = CQ_PT2_NONE }; return CQ_OK;
    case F_NAMED: return refer(s, cq_json_get(j, "name"), defines, out);
    case F_INT: *out = (cq_pt2_arg){ CQ_PT2_INT, .u.i = cq_json_int(j, 0) }; return CQ_OK;
    case F_FLOAT: *out = (cq_pt2_arg){ CQ_PT2_FLOAT, .u.f = number_of(j) }; return CQ_OK;
    case F_BOOL: *out = (cq_pt2_arg){ CQ_PT2_BOOL, .u.b = cq_json_bool(j, false) }; return CQ_OK;
    case F_TEXT: *out = (cq_pt2_arg){ CQ_PT2_TEXT, .u.text = cq_json_text(j, "") }; return CQ_OK;
    case F_DTYPE:
        dtype = cq_pt2_dtype(cq_json_int(j, -1));
        if (dtype == CQ_DTYPE_NONE)
            return cq_pt2_bad(s->r->program, "unknown dtype %lld", (long long)cq_json_int(j, -1));
        *out = (cq_pt2_arg){ CQ_PT2_INT, .u.i = cq_dtype_to_torch(dtype) };
        return CQ_OK;
    case F_LAYOUT: *out = renumbered(layouts, sizeof layouts, j); return CQ_OK;
    case F_MEMORY_FORMAT: *out = renumbered(memory_formats, sizeof memory_formats, j); return CQ_OK;
    case F_DEVICE:
        index = cq_json_get(j, "type");
        *out  = (cq_pt2_arg){ CQ_PT2_DEVICE, .u.text = cq_json_text(index, "cpu") };
        return CQ_OK;
    case F_SYMBOL: /* {"as_name": …}, {"as_int": …}, {"as_float": …}, {"as_bool": …} */
    {
        const cq_json_member *m = cq_json_union(j);

        if (m && strcmp(m->key, "as_name") == 0)
            return refer(s, &m->value, defines, out);
        return read_arg(s, j, defines, out);
    }
    case F_UNION: return read_arg(s, j, defines, out);
    case F_COMPLEX:
        *out        = (cq_pt2_arg){ .kind = CQ_PT2_COMPLEX };
        out->u.c.re = number_of(cq_json_get(j, "real"));
        out->u.c.im = number_of(cq_json_get(j, "imag"));
        return CQ_OK;
    case F_GRAPH:
        out->kind = CQ_PT2_GRAPH;
        return read_graph(s->r, cq_json_text(cq_json_get(j, "name"), "?"), cq_json_get(j, "graph"),
                          &out->u.graph);
    case F_OBJECT:
        *out =
            (cq_pt2_arg){ CQ_PT2_OBJECT, .u.text = cq_json_text(cq_json_get(j, "class_fqn"), "?") };
        return CQ_OK;
    }
    return CQ_E_INTERNAL;
}

static cq_status read_list(scope *s, form f, unsigned depth, const cq_json *j, bool defines,
                           cq_pt2_arg *out)
{
    size_t      n     = cq_json_length(j);
    cq_pt2_arg *items = cq_arena_array(s->r->arena, n, sizeof *items);

    if (!items)
        return CQ_E_NO_MEMORY;
    *out              = (cq_pt2_arg){ .kind = CQ_PT2_LIST };
    out->u.list.items = items;
    out->u.list.n     = n;
    for (size_t i = 0; i < n; i++)
        CQ_TRY(depth > 1 ? read_list(s, f, depth - 1, cq_json_at(j, i), defines, &items[i])
                         : read_form(s, f, cq_json_at(j, i), defines, &items[i]));
    return CQ_OK;
}

/* An object of the first schemas has all alternatives, of which one is not null; its as_none is
 * an empty list. */
static cq_status read_arg(scope *s, const cq_json *j, bool defines, cq_pt2_arg *out)
{
    const cq_json_member *m = cq_json_union(j);

    *out = (cq_pt2_arg){ .kind = CQ_PT2_NONE };
    if (!m)
        return cq_pt2_bad(s->r->program, "an argument in graph %s is of no kind", s->graph->name);
    for (size_t i = 0; i < sizeof alternatives / sizeof *alternatives; i++) {
        const struct alternative *a = &alternatives[i];

        if (strcmp(a->key, m->key) == 0)
            return a->depth ? read_list(s, a->form, a->depth, &m->value, defines, out)
                            : read_form(s, a->form, &m->value, defines, out);
    }
    return cq_fail(CQ_E_UNSUPPORTED, s->r->program->archive->path, "a newer calque may read it",
                   "an argument in graph %s is of the unknown kind %s", s->graph->name, m->key);
}

static cq_status read_args(scope *s, const cq_json *list, const char *inner, bool defines,
                           const cq_pt2_arg **out, size_t *n)
{
    cq_pt2_arg *args = cq_arena_array(s->r->arena, cq_json_length(list), sizeof *args);

    *out = args;
    *n   = cq_json_length(list);
    if (!args)
        return CQ_E_NO_MEMORY;
    for (size_t i = 0; i < *n; i++) {
        const cq_json *item = cq_json_at(list, i);

        CQ_TRY(read_arg(s, inner ? cq_json_get(item, inner) : item, defines, &args[i]));
    }
    return CQ_OK;
}

/* ---- nodes ---- */

/* torch.ops.aten.add.Tensor is aten::add.Tensor; without an overload it is called default. NULL:
 * it is not an operator. */
cq_status cq_pt2_operator_name(cq_arena *arena, const char *target, const char **out)
{
    static const char prefix[] = "torch.ops.";
    const char       *ns       = target + sizeof prefix - 1, *name, *overload;

    *out = NULL;
    if (!cq_starts_with(target, prefix))
        return CQ_OK;
    name = strchr(ns, '.');
    if (!name)
        return CQ_OK;
    overload = strrchr(name + 1, '.');
    if (!overload || strcmp(overload, ".default") == 0)
        *out = cq_arena_printf(arena, "%.*s::%.*s", (int)(name - ns), ns,
                               overload ? (int)(overload - name - 1) : (int)strlen(name + 1),
                               name + 1);
    else
        *out = cq_arena_printf(arena, "%.*s::%s", (int)(name - ns), ns, name + 1);
    return *out ? CQ_OK : CQ_E_NO_MEMORY;
}

static cq_status read_node(scope *s, const cq_json *j, cq_pt2_node *n)
{
    const cq_json *inputs = cq_json_get(j, "inputs"), *metadata = cq_json_get(j, "metadata");
    cq_status      status;

    n->target       = cq_json_text(cq_json_get(j, "target"), "");
    n->module_stack = cq_json_text(cq_json_get(metadata, "nn_module_stack"), "");
    n->stack_trace  = cq_json_text(cq_json_get(metadata, "stack_trace"), "");
    n->number       = (uint32_t)s->r->nodes.n;
    CQ_TRY(cq_vec_push(&s->r->nodes, n));
    CQ_TRY(cq_pt2_operator_name(s->r->arena, n->target, &n->op));
    status = read_args(s, inputs, "arg", false, &n->inputs, &n->n_inputs);
    if (status != CQ_OK)
        return cq_error_add_excerpt(status, "%s", n->target);
    n->names = cq_arena_array(s->r->arena, n->n_inputs, sizeof *n->names);
    if (!n->names)
        return CQ_E_NO_MEMORY;
    for (size_t i = 0; i < n->n_inputs; i++)
        n->names[i] = cq_json_text(cq_json_get(cq_json_at(inputs, i), "name"), "");
    return read_args(s, cq_json_get(j, "outputs"), NULL, true, &n->outputs, &n->n_outputs);
}

/* ---- types ---- */

/* {"as_int": 3}, or {"as_expr": {"expr_str": …, "hint": {"as_int": 3}}}; a plain number in old
 * schemas. */
static cq_pt2_size read_size(const cq_json *j)
{
    const cq_json *plain = j->kind == CQ_JSON_INT ? j : cq_json_get(j, "as_int");
    const cq_json *expr = cq_json_get(j, "as_expr"), *hint = cq_json_get(expr, "hint");

    if (plain->kind == CQ_JSON_INT)
        return (cq_pt2_size){ NULL, plain->u.i, true };
    hint = hint->kind == CQ_JSON_INT ? hint : cq_json_get(hint, "as_int");
    return (cq_pt2_size){ cq_json_text(cq_json_get(expr, "expr_str"), NULL), cq_json_int(hint, 0),
                          hint->kind == CQ_JSON_INT };
}

static cq_status read_meta(scope *s, const cq_json *j, cq_pt2_meta *m)
{
    const cq_json *meta =
        cq_json_get(j, "sizes")->kind == CQ_JSON_NULL ? cq_json_get(j, "meta") : j;
    const cq_json *sizes = cq_json_get(meta, "sizes");
    cq_pt2_size   *out   = cq_arena_array(s->r->arena, cq_json_length(sizes), sizeof *out);

    if (!out)
        return CQ_E_NO_MEMORY;
    m->dtype = cq_pt2_dtype(cq_json_int(cq_json_get(meta, "dtype"), -1));
    m->rank  = cq_json_length(sizes);
    m->sizes = out;
    for (size_t i = 0; i < m->rank; i++)
        out[i] = read_size(cq_json_at(sizes, i));
    return CQ_OK;
}

static cq_status read_types(scope *s, const cq_json *j)
{
    const cq_json *tensors = cq_json_get(j, "tensor_values");
    const cq_json *ints    = cq_json_get(j, "sym_int_values");

    for (size_t i = 0; tensors->kind == CQ_JSON_OBJECT && i < tensors->n; i++) {
        uintptr_t slot = (uintptr_t)cq_map_get(&s->slots, tensors->u.members[i].key);

        if (slot)
            CQ_TRY(read_meta(s, &tensors->u.members[i].value, &s->graph->metas[slot - 1]));
    }
    for (size_t i = 0; ints->kind == CQ_JSON_OBJECT && i < ints->n; i++) {
        uintptr_t slot = (uintptr_t)cq_map_get(&s->slots, ints->u.members[i].key);

        if (slot)
            s->graph->numbers[slot - 1] = read_size(&ints->u.members[i].value);
    }
    return CQ_OK;
}

/* ---- graphs ---- */

static void note_use(cq_pt2_graph *g, const cq_pt2_arg *a, uint32_t at)
{
    if (a->kind == CQ_PT2_SLOT)
        g->last_use[a->u.slot] = at;
    for (size_t i = 0; a->kind == CQ_PT2_LIST && i < a->u.list.n; i++)
        note_use(g, &a->u.list.items[i], at);
}

static void note_uses(cq_pt2_graph *g)
{
    for (size_t i = 0; i < g->n_nodes; i++) {
        for (size_t k = 0; k < g->nodes[i].n_outputs; k++)
            note_use(g, &g->nodes[i].outputs[k], (uint32_t)i);
        for (size_t k = 0; k < g->nodes[i].n_inputs; k++)
            note_use(g, &g->nodes[i].inputs[k], (uint32_t)i);
    }
    for (size_t i = 0; i < g->n_outputs; i++)
        note_use(g, &g->outputs[i], (uint32_t)g->n_nodes);
}

static cq_status read_all(scope *s, const cq_json *j)
{
    cq_pt2_graph  *g     = s->graph;
    cq_arena      *arena = s->r->arena;
    const cq_json *list  = cq_json_get(j, "nodes");
    cq_pt2_node   *nodes = cq_arena_array(arena, cq_json_length(list), sizeof *nodes);

    if (!nodes)
        return CQ_E_NO_MEMORY;
    g->nodes   = nodes;
    g->n_nodes = cq_json_length(list);
    CQ_TRY(read_args(s, cq_json_get(j, "inputs"), NULL, true, &g->inputs, &g->n_inputs));
    for (size_t i = 0; i < g->n_nodes; i++)
        CQ_TRY(read_node(s, cq_json_at(list, i), &nodes[i]));
    CQ_TRY(read_args(s, cq_json_get(j, "outputs"), NULL, false, &g->outputs, &g->n_outputs));
    g->n_slots  = s->names.n;
    g->slots    = cq_arena_array(arena, g->n_slots, sizeof *g->slots);
    g->metas    = cq_arena_array(arena, g->n_slots, sizeof *g->metas);
    g->numbers  = cq_arena_array(arena, g->n_slots, sizeof *g->numbers);
    g->last_use = cq_arena_array(arena, g->n_slots, sizeof *g->last_use);
    if (!g->slots || !g->metas || !g->numbers || !g->last_use)
        return CQ_E_NO_MEMORY;
    for (size_t i = 0; i < g->n_slots; i++)
        g->slots[i] = s->names.items[i];
    note_uses(g);
    return read_types(s, j);
}

static cq_status read_graph(reader *r, const char *name, const cq_json *j, const cq_pt2_graph **out)
{
    scope     s = { .r = r, .graph = cq_arena_zalloc(r->arena, sizeof *s.graph) };
    cq_status status;

    *out = s.graph;
    if (!s.graph)
        return CQ_E_NO_MEMORY;
    s.graph->name = name;
    status        = read_all(&s, j);
    cq_map_clear(&s.slots);
    cq_vec_clear(&s.names);
    return status;
}

/* ---- the program ---- */

static bool has_folder(const char *from, const char *end, const char *name)
{
    const size_t len = strlen(name);

    while (from + len <= end && memcmp(from, name, len) != 0)
        from++;
    return from + len <= end;
}

/* The innermost frame of a stack trace that is not PyTorch's own, or the innermost of all:
 * File "net.py", line 12, in forward. */
static void write_location(const cq_location_source *self, uint32_t offset, char *out, size_t size)
{
    const cq_pt2_program *p =
        (const cq_pt2_program *)((const char *)self - offsetof(cq_pt2_program, locations));
    const char *at  = offset < p->n_nodes ? p->nodes[offset]->stack_trace : "";
    bool        own = false;

    out[0] = '\0';
    while ((at = strstr(at, "File \""))) {
        const char *file = at + strlen("File \""), *end = strchr(file, '"');
        const char *line = end ? strstr(end, ", line ") : NULL;
        bool        theirs;

        if (!line)
            return;
        theirs = cq_starts_with(file, "torch/") || has_folder(file, end, "/torch/");
        if (!own || !theirs)
            snprintf(out, size, "%.*s:%ld", (int)(end - file), file, strtol(line + 7, NULL, 10));
        own |= !theirs;
        at = line;
    }
}

cq_status cq_pt2_program_new(cq_pt2_program **out, cq_pt2_archive *archive)
{
    reader         r    = { .arena = archive->arena };
    const cq_json *root = archive->program, *module = cq_json_get(root, "graph_module");
    cq_status      status;

    *out = r.program = cq_zalloc(sizeof *r.program);
    if (!r.program) {
        cq_pt2_archive_free(archive);
        return CQ_E_NO_MEMORY;
    }
    r.program->archive         = archive;
    r.program->locations.write = write_location;
    status = read_graph(&r, "forward", cq_json_get(module, "graph"), &r.program->graph);
    if (status == CQ_OK) {
        r.program->n_nodes = r.nodes.n;
        r.program->nodes   = cq_arena_array(r.arena, r.nodes.n, sizeof *r.program->nodes);
        if (r.program->nodes && r.nodes.n)
            memcpy(r.program->nodes, r.nodes.items, r.nodes.n * sizeof *r.nodes.items);
        status = r.program->nodes ? cq_pt2_read_signature(r.program, root) : CQ_E_NO_MEMORY;
    }
    cq_vec_clear(&r.nodes);
    if (status != CQ_OK) {
        cq_pt2_program_free(r.program);
        *out = NULL;
    }
    return status;
}

void cq_pt2_program_free(cq_pt2_program *p)
{
    if (!p)
        return;
    cq_map_clear(&p->range_of);
    cq_pt2_archive_free(p->archive);
    cq_free(p);
}
