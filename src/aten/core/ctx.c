/* Contexts: ownership of results and the first error. */
#include "aten/core/ctx.h"
#include "base/arena.h"

CQ_API cq_status cq_ctx_new(cq_ctx **out)
{
    CQ_NEED_OUT(out, true);
    cq_ctx *cx;

    *out = NULL;
    CQ_TRY(cq_ops_ready());
    cx = *out = cq_zalloc(sizeof *cx);
    return cx ? CQ_OK : CQ_E_NO_MEMORY;
}

CQ_API void cq_ctx_free(cq_ctx *cx)
{
    if (!cx)
        return;
    cq_ctx_pop(cx, 0, NULL, 0);
    cq_vec_clear(&cx->owned);
    cq_free(cx->random);
    cq_arena_free(cx->nests);
    cq_free(cx);
}

CQ_API cq_status cq_ctx_status(const cq_ctx *cx)
{
    CQ_NEED(cx);
    if (cx->status != CQ_OK)
        cq_error_restore(&cx->error);
    return cx->status;
}

CQ_API void cq_ctx_seed(cq_ctx *cx, uint64_t seed)
{
    CQ_NEED_ELSE(cx, );
    cx->seed = seed;
    cq_free(cx->random);
    cx->random = NULL;
}

cq_status cq_ctx_fail(cq_ctx *cx, cq_status status)
{
    if (status == CQ_OK || cx->status != CQ_OK)
        return cx->status;
    if (cx->scope && cx->scope->path[0])
        cq_error_add_where(status, "%s (%s)", cx->scope->path, cx->scope->class_name);
    cx->status = status;
    cq_error_save(&cx->error);
    return status;
}

cq_val cq_ctx_own(cq_ctx *cx, cq_val v)
{
    if (v.kind == CQ_VAL_NONE)
        return v;
    if (cq_vec_push(&cx->owned, v) != CQ_OK) {
        cq_val_release(v);
        cq_ctx_fail(cx, CQ_E_NO_MEMORY);
        return CQ_NONE;
    }
    return v;
}

cq_tensor *cq_ctx_own_tensor(cq_ctx *cx, cq_tensor *t)
{
    return cq_ctx_own(cx, cq_val_of_tensor(t)).u.tensor;
}

size_t cq_ctx_mark(const cq_ctx *cx)
{
    return cx->owned.n;
}

void cq_ctx_pop(cq_ctx *cx, size_t mark, const cq_val *keep, size_t n_keep)
{
    for (size_t i = 0; i < n_keep; i++)
        cq_val_retain(keep[i]);
    while (cx->owned.n > mark)
        cq_val_release(cx->owned.items[--cx->owned.n]);
    for (size_t i = 0; i < n_keep; i++)
        cq_ctx_own(cx, keep[i]);
}

CQ_API cq_tensor *cq_keep(cq_ctx *cx, cq_tensor *t)
{
    CQ_NEED_ELSE(cx, NULL);
    return t ? cq_ctx_own_tensor(cx, cq_tensor_retain(t)) : NULL;
}

static cq_val new_list(cq_ctx *cx, size_t n)
{
    cq_list *list;

    if (!cx || cx->status != CQ_OK)
        return CQ_NONE;
    if (cq_list_new(&list, n) != CQ_OK) {
        cq_ctx_fail(cx, CQ_E_NO_MEMORY);
        return CQ_NONE;
    }
    return cq_ctx_own(cx, cq_val_of_list(list));
}

cq_val cq_ints(cq_ctx *cx, const cq_int *items, size_t n)
{
    cq_val v = new_list(cx, n);

    for (size_t i = 0; i < n && v.kind == CQ_VAL_LIST; i++)
        v.u.list->items[i] = cq_val_of_int(items[i]);
    return v;
}

cq_val cq_i64s(cq_ctx *cx, const int64_t *items, size_t n)
{
    cq_val v = new_list(cx, n);

    for (size_t i = 0; i < n && v.kind == CQ_VAL_LIST; i++)
        v.u.list->items[i] = cq_val_of_i64(items[i]);
    return v;
}

cq_val cq_f64s(cq_ctx *cx, const double *items, size_t n)
{
    cq_val v = new_list(cx, n);

    for (size_t i = 0; i < n && v.kind == CQ_VAL_LIST; i++)
        v.u.list->items[i] = cq_val_of_f64(items[i]);
    return v;
}

cq_val cq_tensors(cq_ctx *cx, cq_tensor *const *items, size_t n)
{
    cq_val v = new_list(cx, n);

    for (size_t i = 0; i < n && v.kind == CQ_VAL_LIST; i++)
        v.u.list->items[i] = cq_val_retain(cq_val_of_tensor(items[i]));
    return v;
}

cq_val cq_str_val(cq_ctx *cx, const char *text)
{
    cq_text *t;

    if (!cx)
        return CQ_NONE;
    if (cq_text_new(&t, text, strlen(text)) != CQ_OK) {
        cq_ctx_fail(cx, CQ_E_NO_MEMORY);
        return CQ_NONE;
    }
    return cq_ctx_own(cx, cq_val_of_text(t));
}
