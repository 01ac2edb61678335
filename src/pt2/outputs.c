/* The names of outputs. A program notes how its result nests: tuples, lists, dicts, named tuples
 * and classes, as JSON in a text. An output that lies in something with names is called after them,
 * "logits" or "past_0_key". */
#include "pt2/model.h"

#include "base/str.h"

#include <stdio.h>

enum { MAX_DEPTH = 32, MAX_NAME = 200 };

typedef struct walk {
    cq_pt2        *model;
    const cq_json *fields;       /* of named tuples, by their name */
    CQ_VEC(const char *) leaves; /* NULL: no name */
} walk;

/* The context of a named tuple is its name, of which the program knows the fields; the keys of a
 * dict are a list; a dataclass has two lists, of fields with and without values. */
static const cq_json *keys_of(walk *w, const cq_json *spec)
{
    const char    *context = cq_json_text(cq_json_get(spec, "context"), "");
    const cq_json *keys    = cq_json_get(cq_json_get(w->fields, context), "field_names");

    if (keys->kind == CQ_JSON_LIST)
        return keys;
    if (cq_json_parse(&keys, w->model->program->archive->arena, context, strlen(context), "") !=
        CQ_OK)
        return NULL;
    if (cq_json_at(keys, 0)->kind == CQ_JSON_LIST)
        keys = cq_json_at(keys, 0);
    return keys->kind == CQ_JSON_LIST ? keys : NULL;
}

static cq_status visit(walk *w, const cq_json *spec, const char *path, bool named, int depth)
{
    const cq_json *children = cq_json_get(spec, "children_spec");
    const char    *type     = cq_json_text(cq_json_get(spec, "type"), NULL);
    const cq_json *keys;

    if (depth > MAX_DEPTH)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "the result is nested too deep");
    if (!type)
        return cq_vec_push(&w->leaves,
                           named ? cq_arena_strdup(w->model->program->archive->arena, path) : NULL);
    keys =
        strcmp(type, "builtins.tuple") && strcmp(type, "builtins.list") ? keys_of(w, spec) : NULL;
    for (size_t i = 0; i < cq_json_length(children); i++) {
        const cq_json *key = keys ? cq_json_at(keys, i) : cq_json_at(children, SIZE_MAX);
        char           inner[MAX_NAME];

        if (key->kind == CQ_JSON_TEXT)
            snprintf(inner, sizeof inner, "%.100s%s%.90s", path, path[0] ? "_" : "", key->u.text);
        else
            snprintf(inner, sizeof inner, "%.100s%s%zu", path, path[0] ? "_" : "", i);
        CQ_TRY(visit(w, cq_json_at(children, i), inner, named || key->kind == CQ_JSON_TEXT,
                     depth + 1));
    }
    return CQ_OK;
}

static const cq_json *spec_of(const cq_pt2 *p)
{
    const cq_json *module = cq_json_get(p->program->archive->program, "graph_module");
    const cq_json *calls  = cq_json_get(module, "module_call_graph"), *root;
    const char    *text   = "null";

    for (size_t i = 0; i < cq_json_length(calls); i++)
        if (!cq_json_text(cq_json_get(cq_json_at(calls, i), "fqn"), "?")[0])
            text = cq_json_text(
                cq_json_get(cq_json_get(cq_json_at(calls, i), "signature"), "out_spec"), "null");
    return cq_json_parse(&root, p->program->archive->arena, text, strlen(text), "") == CQ_OK
               ? cq_json_at(root, 1)
               : NULL;
}

/* A name that something else has cannot be used. */
static bool is_taken(const cq_pt2 *p, const char *name)
{
    for (size_t i = 0; i < p->user.n; i++)
        if (strcmp(cq_pt2_input_name(p, i), name) == 0)
            return true;
    for (size_t i = 0; i < p->output_names.n; i++)
        if (p->output_names.items[i] && strcmp(p->output_names.items[i], name) == 0)
            return true;
    return cq_map_has(&p->program->archive->weights, name) ||
           cq_map_has(&p->program->archive->constants, name);
}

static cq_status take_names(cq_pt2 *p, const walk *w)
{
    size_t next = 0;

    for (size_t i = 0; i < p->program->graph->n_outputs; i++) {
        const char *name;

        if (p->program->outputs[i].role != CQ_PT2_USER)
            continue;
        name = next < w->leaves.n ? w->leaves.items[next] : NULL;
        next++;
        if (p->program->graph->outputs[i].kind == CQ_PT2_NONE)
            continue;
        CQ_TRY(cq_vec_push(&p->output_paths, name));
        CQ_TRY(cq_vec_push(&p->output_names, name && !is_taken(p, name) ? name : NULL));
    }
    return CQ_OK;
}

cq_status cq_pt2_name_outputs(cq_pt2 *p)
{
    const cq_json *module = cq_json_get(p->program->archive->program, "graph_module");
    const cq_json *spec   = spec_of(p);
    walk           w = { .model = p, .fields = cq_json_get(module, "treespec_namedtuple_fields") };
    cq_status      status = CQ_OK;

    if (spec && spec->kind == CQ_JSON_OBJECT)
        status = visit(&w, spec, "", false, 0);
    if (status == CQ_OK)
        status = take_names(p, &w);
    cq_vec_clear(&w.leaves);
    return status;
}

CQ_API const char *cq_pt2_output_name(const cq_pt2 *p, size_t i)
{
    CQ_NEED_ELSE(p, NULL);
    return i < p->output_names.n ? p->output_names.items[i] : NULL;
}
