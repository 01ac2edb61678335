/* Finds the module of a node: from the metadata that calque and PyTorch write, else from the node's
 * name, "/layer1/0/conv1/Conv", as torch.onnx and TensorFlow name nodes. */
#include "view/view.h"

#include <stdlib.h>

static const char *metadata_of(const cq_onnx_node *node, const char *key)
{
    for (uint32_t i = 0; i < node->metadata_props.n; i++) {
        const cq_onnx_entry *e = node->metadata_props.items[i];

        if (e->key && e->value && strcmp(e->key, key) == 0)
            return e->value;
    }
    return NULL;
}

cq_view_scope *cq_view_scope_enter(cq_view *v, cq_view_scope *parent, const char *name, size_t len)
{
    cq_view_scope *s;
    char          *key;

    if (parent->depth >= CQ_VIEW_MAX_SCOPE || !len)
        return parent;
    key =
        cq_arena_printf(v->arena, "%p/%.*s", (void *)parent, (int)(len > 4000 ? 4000 : len), name);
    if (!key)
        return NULL;
    s = cq_map_get(&v->scopes, key);
    if (s)
        return s;
    s = cq_arena_zalloc(v->arena, sizeof *s);
    if (!s || cq_map_set(&v->scopes, key, s) != CQ_OK)
        return NULL;
    s->parent     = parent;
    s->depth      = parent->depth + 1;
    s->name       = cq_arena_strndup(v->arena, name, len);
    s->class_name = "";
    return s->name ? s : NULL;
}

/* The scope of "/layer1/0/conv1/Conv" is everything before the last slash. */
static cq_view_scope *scope_of_name(cq_view *v, const char *name)
{
    cq_view_scope *scope = v->root_scope;
    const char    *slash;

    for (name += *name == '/'; scope && (slash = strchr(name, '/')); name = slash + 1)
        scope = cq_view_scope_enter(v, scope, name, (size_t)(slash - name));
    return scope;
}

/* Returns the next quoted string of a list as Python prints it; NULL at the end. */
static const char *next_quoted(const char **at, size_t *len)
{
    const char *begin = strpbrk(*at, "'\""), *end = begin ? strchr(begin + 1, *begin) : NULL;

    if (!end)
        return NULL;
    *at  = end + 1;
    *len = (size_t)(end - begin - 1);
    return begin + 1;
}

/* name_scopes "['', 'layer1', 'layer1.0', 'conv2d']" and class_hierarchy "['net.Net', …]" of
 * PyTorch: the last entry is the operator. A scope's name has its parent's as prefix. */
static cq_view_scope *scope_of_lists(cq_view *v, const char *names, const char *classes)
{
    cq_view_scope *scope = v->root_scope;
    const char    *name = NULL, *next, *class_name, *outer = "";
    size_t         len = 0, next_len, class_len = 0, outer_len = 0;

    for (next = next_quoted(&names, &next_len); scope && next;) {
        name = next, len = next_len;
        class_name = classes ? next_quoted(&classes, &class_len) : NULL;
        next       = next_quoted(&names, &next_len);
        if (!next)
            break; /* the operator */
        if (!len)
            continue;
        if (len > outer_len && strncmp(name, outer, outer_len) == 0 &&
            (!outer_len || name[outer_len] == '.'))
            scope = cq_view_scope_enter(v, scope, name + outer_len + (outer_len > 0),
                                        len - outer_len - (outer_len > 0));
        else
            scope = cq_view_scope_enter(v, scope, name, len);
        outer = name, outer_len = len;
        if (scope && class_name && !*scope->class_name) {
            for (size_t i = class_len; i > 0; i--)
                if (class_name[i - 1] == '.') {
                    class_name += i, class_len -= i;
                    break;
                }
            scope->class_name = cq_arena_strndup(v->arena, class_name, class_len);
            if (!scope->class_name)
                return NULL;
        }
    }
    return scope;
}

/* CQ_EXPORT_ORIGINS writes "features.3:Conv2d/…", one name:class per level. */
static cq_view_scope *scope_of_origin(cq_view *v, const char *text)
{
    cq_view_scope *scope = v->root_scope;

    while (*text && scope) {
        const char *end = strchr(text, '/'), *colon;
        size_t      len = end ? (size_t)(end - text) : strlen(text);

        colon = memchr(text, ':', len);
        scope = cq_view_scope_enter(v, scope, text, colon ? (size_t)(colon - text) : len);
        if (scope && colon && !*scope->class_name)
            scope->class_name =
                cq_arena_strndup(v->arena, colon + 1, len - (size_t)(colon + 1 - text));
        text += len + (end != NULL);
    }
    return scope && scope->class_name ? scope : NULL;
}

/* Returns the last file and line of a stack trace, or a location as calque writes it. */
static const char *location_of(cq_view *v, const char *text)
{
    const char *last = NULL, *file, *end, *line;

    for (const char *at = text; (at = strstr(at, "File \"")); at += 6)
        last = at;
    if (!last) { /* "net.py:12:8"; any other text is ignored */
        const char *colon = strchr(text, ':');

        return colon && colon[1] >= '0' && colon[1] <= '9' && !strchr(text, '\n')
                   ? cq_arena_strdup(v->arena, text)
                   : NULL;
    }
    file = last + 6;
    end  = strchr(file, '"');
    line = end ? strstr(end, "line ") : NULL;
    return line ? cq_arena_printf(v->arena, "%.*s:%ld", (int)(end - file), file,
                                  strtol(line + 5, NULL, 10))
                : NULL;
}

cq_status cq_view_scope_of(cq_view *v, cq_view_op *op)
{
    const cq_onnx_node *node   = op->node;
    const char         *origin = metadata_of(node, "calque.module");
    const char         *names  = metadata_of(node, "pkg.torch.onnx.name_scopes");
    const char         *trace  = metadata_of(node, "pkg.torch.onnx.stack_trace");
    const char         *name   = node->name ? node->name : "";

    if (!trace && node->doc_string && *node->doc_string)
        trace = node->doc_string;
    if (!*name && node->output.n)
        name = node->output.items[0];
    op->scope      = origin ? scope_of_origin(v, origin)
                     : names
                         ? scope_of_lists(v, names, metadata_of(node, "pkg.torch.onnx.class_hierarchy"))
                         : scope_of_name(v, name);
    op->has_module = origin || names || strchr(name, '/');
    op->location   = trace ? location_of(v, trace) : NULL;
    return op->scope ? CQ_OK : CQ_E_NO_MEMORY;
}
