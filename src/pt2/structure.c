/* How arguments and results nest. A program notes it as JSON in a text: tuples, lists, dicts, named
 * tuples and classes, with leaves in the order of the graph's inputs and outputs. */
#include "pt2/structure.h"

#include "base/str.h"

enum { MAX_DEPTH = 32 };

static const cq_pt2_tree leaf = { .is_leaf = true };

typedef struct reader {
    cq_arena      *arena;
    const cq_json *fields; /* of named tuples, by their name */
} reader;

/* The context of a named tuple is its name, of which the program knows the fields; the keys of a
 * dict are a list; a dataclass has two lists, of fields with and without values. */
static const cq_json *keys_of(const reader *r, const cq_json *spec)
{
    const char    *context = cq_json_text(cq_json_get(spec, "context"), "");
    const cq_json *keys    = cq_json_get(cq_json_get(r->fields, context), "field_names");

    if (keys->kind == CQ_JSON_LIST)
        return keys;
    if (cq_json_parse(&keys, r->arena, context, strlen(context), "") != CQ_OK)
        return NULL;
    if (cq_json_at(keys, 0)->kind == CQ_JSON_LIST)
        keys = cq_json_at(keys, 0);
    return keys->kind == CQ_JSON_LIST ? keys : NULL;
}

static cq_status read_tree(const reader *r, const cq_json *spec, int depth, cq_pt2_tree *out)
{
    const cq_json *children = cq_json_get(spec, "children_spec");
    const char    *type     = cq_json_text(cq_json_get(spec, "type"), NULL);
    const size_t   n        = cq_json_length(children);
    const cq_json *keys;
    cq_pt2_tree   *items;
    const char   **names;

    *out = leaf;
    if (!type)
        return CQ_OK;
    if (depth > MAX_DEPTH)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL,
                       "arguments or results are nested more than %d deep", MAX_DEPTH);
    items = cq_arena_array(r->arena, n, sizeof *items);
    names = cq_arena_array(r->arena, n, sizeof *names);
    if (!items || !names)
        return CQ_E_NO_MEMORY;
    keys =
        strcmp(type, "builtins.tuple") && strcmp(type, "builtins.list") ? keys_of(r, spec) : NULL;
    *out = (cq_pt2_tree){ .n = n, .items = items, .keys = keys ? names : NULL };
    for (size_t i = 0; i < n; i++) {
        names[i] = cq_json_text(cq_json_at(keys ? keys : children, i), NULL);
        CQ_TRY(read_tree(r, cq_json_at(children, i), depth + 1, &items[i]));
    }
    return CQ_OK;
}

/* The call of the whole program. */
static const cq_json *signature_of(const cq_pt2_program *p)
{
    const cq_json *module = cq_json_get(p->archive->program, "graph_module");
    const cq_json *calls = cq_json_get(module, "module_call_graph"), *own = calls;

    for (size_t i = 0; i < cq_json_length(calls); i++)
        if (!cq_json_text(cq_json_get(cq_json_at(calls, i), "fqn"), "?")[0])
            own = cq_json_at(calls, i);
    return cq_json_get(own, "signature");
}

static cq_status read_spec(const cq_pt2_program *p, const char *which, cq_pt2_tree *out)
{
    const cq_json *module = cq_json_get(p->archive->program, "graph_module"), *root;
    const char    *text   = cq_json_text(cq_json_get(signature_of(p), which), "null");
    const reader   r = { p->archive->arena, cq_json_get(module, "treespec_namedtuple_fields") };

    *out = leaf;
    if (cq_json_parse(&root, r.arena, text, strlen(text), "") != CQ_OK)
        return CQ_OK;
    return cq_json_at(root, 1)->kind == CQ_JSON_OBJECT ? read_tree(&r, cq_json_at(root, 1), 0, out)
                                                       : CQ_OK;
}

cq_status cq_pt2_result_tree(const cq_pt2_program *p, cq_pt2_tree *out)
{
    return read_spec(p, "out_spec", out);
}

/* The file has a tuple of the positional arguments and a dict of the others. */
cq_status cq_pt2_argument_tree(const cq_pt2_program *p, cq_pt2_tree *out)
{
    const cq_json     *names = cq_json_get(signature_of(p), "forward_arg_names");
    cq_arena          *arena = p->archive->arena;
    cq_pt2_tree        both;
    const cq_pt2_tree *args, *kwargs;
    cq_pt2_tree       *items;
    const char       **keys;

    CQ_TRY(read_spec(p, "in_spec", &both));
    *out = leaf;
    if (both.is_leaf || both.n != 2 || both.items[0].is_leaf || both.items[1].is_leaf)
        return CQ_OK;
    args   = &both.items[0];
    kwargs = &both.items[1];
    items  = cq_arena_array(arena, args->n + kwargs->n, sizeof *items);
    keys   = cq_arena_array(arena, args->n + kwargs->n, sizeof *keys);
    if (!items || !keys)
        return CQ_E_NO_MEMORY;
    *out = (cq_pt2_tree){ .n = args->n + kwargs->n, .items = items, .keys = keys };
    for (size_t i = 0; i < out->n; i++) {
        const bool by_name = i >= args->n;

        items[i] = by_name ? kwargs->items[i - args->n] : args->items[i];
        keys[i]  = by_name ? (kwargs->keys ? kwargs->keys[i - args->n] : NULL)
                           : cq_json_text(cq_json_at(names, i), NULL);
    }
    return CQ_OK;
}

/* ---- as JSON ---- */

static void add_text(cq_str *s, const char *text)
{
    cq_str_add_char(s, '"');
    for (; *text; text++)
        if (*text == '"' || *text == '\\' || (unsigned char)*text < ' ')
            cq_str_printf(s, "\\u%04x", (unsigned char)*text);
        else
            cq_str_add_char(s, *text);
    cq_str_add_char(s, '"');
}

static void add_tree(cq_str *s, const cq_pt2_tree *t, const char *const **names, size_t *n)
{
    if (t->is_leaf) {
        const char *name = *n ? **names : NULL;

        if (*n) {
            ++*names;
            --*n;
        }
        if (name)
            add_text(s, name);
        else
            cq_str_add(s, "null");
        return;
    }
    cq_str_add_char(s, t->keys ? '{' : '[');
    for (size_t i = 0; i < t->n; i++) {
        cq_str_add(s, i ? ", " : "");
        if (t->keys) {
            add_text(s, t->keys[i] ? t->keys[i] : "");
            cq_str_add(s, ": ");
        }
        add_tree(s, &t->items[i], names, n);
    }
    cq_str_add_char(s, t->keys ? '}' : ']');
}

void cq_pt2_tree_json(cq_str *s, const cq_pt2_tree *t, const char *const *names, size_t n)
{
    add_tree(s, t, &names, &n);
}
