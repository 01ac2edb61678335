/* Nests: building them in a context, walking them. module.c interprets them. */
#include "nn/nest.h"
#include "aten/core/ctx.h"
#include "base/arena.h"

static const cq_nest none = { 0 };

/* Zeroed memory that lives as long as the context; NULL after a failure. */
static void *allocate(cq_ctx *cx, size_t n, size_t size)
{
    void *out;

    if (cx->status != CQ_OK)
        return NULL;
    if (!cx->nests)
        cx->nests = cq_arena_new();
    out = cx->nests ? cq_arena_array(cx->nests, n ? n : 1, size) : NULL;
    if (!out)
        cq_ctx_fail(cx, CQ_E_NO_MEMORY);
    return out;
}

static const char *const *copy_keys(cq_ctx *cx, const char *const *keys, size_t n)
{
    const char **out = allocate(cx, n, sizeof *out);

    for (size_t i = 0; out && i < n; i++) {
        out[i] = cq_arena_strdup(cx->nests, keys[i]);
        if (!out[i]) {
            cq_ctx_fail(cx, CQ_E_NO_MEMORY);
            return NULL;
        }
    }
    return out;
}

static cq_nest make(cq_ctx *cx, cq_nest_kind kind, size_t n, const char *const *keys,
                    const cq_nest *items)
{
    cq_nest *copy = allocate(cx, n, sizeof *copy);

    for (size_t i = 0; copy && i < n; i++)
        copy[i] = items[i];
    if (kind == CQ_NEST_DICT)
        keys = copy_keys(cx, keys, n);
    return cx->status == CQ_OK ? (cq_nest){ kind, NULL, n, copy, keys } : none;
}

CQ_API cq_nest cq_nest_tensor(cq_tensor *t)
{
    CQ_NEED_ELSE(t, (cq_nest){ 0 });
    return (cq_nest){ .tensor = t };
}

CQ_API cq_nest cq_nest_tuple(cq_ctx *cx, size_t n, const cq_nest *items)
{
    CQ_NEED_ELSE(cx, (cq_nest){ 0 });
    return make(cx, CQ_NEST_TUPLE, n, NULL, items);
}

CQ_API cq_nest cq_nest_list(cq_ctx *cx, size_t n, const cq_nest *items)
{
    CQ_NEED_ELSE(cx, (cq_nest){ 0 });
    return make(cx, CQ_NEST_LIST, n, NULL, items);
}

CQ_API cq_nest cq_nest_dict(cq_ctx *cx, size_t n, const char *const *keys, const cq_nest *items)
{
    CQ_NEED_ELSE(cx, (cq_nest){ 0 });
    return make(cx, CQ_NEST_DICT, n, keys, items);
}

static const char *kind_name(const cq_nest *nest)
{
    static const char *const names[] = { "tensor", "tuple", "list", "dict" };

    return nest->kind == CQ_NEST_TENSOR && !nest->tensor ? "None" : names[nest->kind];
}

CQ_API cq_nest cq_nest_at(cq_ctx *cx, const cq_nest *nest, size_t index)
{
    CQ_NEED_ELSE(cx, (cq_nest){ 0 });
    if (cx->status != CQ_OK)
        return none;
    if (nest->kind != CQ_NEST_TENSOR && index < nest->n)
        return nest->items[index];
    cq_ctx_fail(cx, cq_fail(CQ_E_ARGUMENT, NULL, NULL,
                            "item %zu is out of range for a %s with %zu items", index,
                            kind_name(nest), nest->n));
    return none;
}

CQ_API cq_nest cq_nest_get(cq_ctx *cx, const cq_nest *nest, const char *key)
{
    CQ_NEED_ELSE(cx, (cq_nest){ 0 });
    if (cx->status != CQ_OK)
        return none;
    for (size_t i = 0; nest->kind == CQ_NEST_DICT && i < nest->n; i++)
        if (strcmp(nest->keys[i], key) == 0)
            return nest->items[i];
    cq_ctx_fail(cx,
                cq_fail(CQ_E_ARGUMENT, NULL, NULL, "a %s has no key \"%s\"", kind_name(nest), key));
    return none;
}

static size_t flatten(const cq_nest *nest, cq_tensor **out, size_t max, size_t at)
{
    if (nest->kind == CQ_NEST_TENSOR) {
        if (nest->tensor && at < max)
            out[at] = nest->tensor;
        return at + (nest->tensor != NULL);
    }
    for (size_t i = 0; i < nest->n; i++)
        at = flatten(&nest->items[i], out, max, at);
    return at;
}

CQ_API size_t cq_nest_flatten(const cq_nest *nest, cq_tensor **out, size_t max)
{
    CQ_NEED_ELSE(nest, 0);
    return flatten(nest, out, max, 0);
}

cq_nest cq_nest_map(cq_ctx *cx, const cq_nest *nest, cq_tensor *(*map)(void *user, cq_tensor *t),
                    void *user)
{
    cq_nest *items;

    if (nest->kind == CQ_NEST_TENSOR)
        return cq_nest_tensor(nest->tensor ? map(user, nest->tensor) : NULL);
    items = allocate(cx, nest->n, sizeof *items);
    for (size_t i = 0; i < nest->n && cx->status == CQ_OK; i++)
        items[i] = cq_nest_map(cx, &nest->items[i], map, user);
    return cx->status == CQ_OK ? (cq_nest){ nest->kind, NULL, nest->n, items, nest->keys } : none;
}

cq_nest cq_nest_of_tensors(cq_ctx *cx, cq_tensor *const *tensors, size_t n)
{
    cq_nest *items;

    if (n == 1)
        return cq_nest_tensor(tensors[0]);
    items = allocate(cx, n, sizeof *items);
    for (size_t i = 0; items && i < n; i++)
        items[i] = cq_nest_tensor(tensors[i]);
    return items ? (cq_nest){ CQ_NEST_TUPLE, NULL, n, items, NULL } : none;
}

cq_tensor **cq_nest_array(cq_ctx *cx, size_t n)
{
    return allocate(cx, n, sizeof(cq_tensor *));
}

cq_tensor **cq_nest_tensors(cq_ctx *cx, const cq_nest *nest, size_t *n)
{
    cq_tensor **out;

    *n  = cq_nest_flatten(nest, NULL, 0);
    out = cq_nest_array(cx, *n);
    if (out)
        cq_nest_flatten(nest, out, *n);
    return out;
}
