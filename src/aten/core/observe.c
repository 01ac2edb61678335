/* Passes module calls and marks to the observer. A mark by path is equivalent to the calls that a
 * forward would make around the module. */
#include "aten/core/observe.h"

#include "base/sized.h"
#include "base/str.h"

#include <stdio.h>

/* ---- model code ---- */

static void begin(cq_ctx *cx, cq_mark_kind kind, uint32_t flags, const cq_sym_attr *attrs, size_t n)
{
    if (cx->status == CQ_OK && cx->observer && cx->observer->begin)
        cx->observer->begin(cx->observer_self, cx, kind, flags, attrs, n);
}

static void end(cq_ctx *cx, cq_mark_kind kind)
{
    if (cx->status == CQ_OK && cx->observer && cx->observer->end)
        cx->observer->end(cx->observer_self, cx, kind);
}

CQ_API void cq_annotate_begin(cq_ctx *cx, uint32_t flags, const cq_sym_attr *attrs, size_t n)
{
    CQ_NEED_ELSE(cx, );
    begin(cx, CQ_MARK_ANNOTATE, flags, attrs, n);
}

CQ_API void cq_annotate_end(cq_ctx *cx)
{
    CQ_NEED_ELSE(cx, );
    end(cx, CQ_MARK_ANNOTATE);
}

CQ_API void cq_apply_annotation(cq_ctx *cx, cq_annotated_fn fn, void *self, cq_tensor *const *in,
                                size_t n_in, cq_tensor **out, size_t n_out, uint32_t flags,
                                const cq_sym_attr *attrs, size_t n)
{
    CQ_NEED_ELSE(cx, );
    begin(cx, CQ_MARK_ANNOTATE, flags | CQ_ANNOTATE_OPERATORS, attrs, n);
    if (cx->status == CQ_OK)
        fn(cx, self, in, n_in, out, n_out);
    end(cx, CQ_MARK_ANNOTATE);
    for (size_t i = 0; i < n_out && cx->status != CQ_OK; i++)
        out[i] = NULL;
}

CQ_API void cq_scoped_anchor_begin(cq_ctx *cx, const cq_sym_attr *attrs, size_t n)
{
    CQ_NEED_ELSE(cx, );
    begin(cx, CQ_MARK_ANCHOR, 0, attrs, n);
}

CQ_API void cq_scoped_anchor_end(cq_ctx *cx)
{
    CQ_NEED_ELSE(cx, );
    end(cx, CQ_MARK_ANCHOR);
}

static cq_tensor *anchor(cq_ctx *cx, cq_tensor *x, const char *name, const cq_sym_attr *attrs,
                         size_t n)
{
    if (cx->status != CQ_OK || !x || !cx->observer || !cx->observer->anchor)
        return cx->status == CQ_OK ? x : NULL;
    return cx->observer->anchor(cx->observer_self, cx, x, name, attrs, n);
}

CQ_API cq_tensor *cq_anchor(cq_ctx *cx, cq_tensor *x, const cq_sym_attr *attrs, size_t n)
{
    CQ_NEED_ELSE(cx, NULL);
    return anchor(cx, x, "Anchor", attrs, n);
}

cq_tensor *cq_identity(cq_ctx *cx, cq_tensor *x)
{
    return anchor(cx, x, NULL, NULL, 0);
}

CQ_API cq_tensor *cq_as_output(cq_ctx *cx, const char *name, cq_tensor *x)
{
    CQ_NEED_ELSE(cx, NULL);
    if (cx->status == CQ_OK && x && cx->observer && cx->observer->output)
        cx->observer->output(cx->observer_self, cx, name, x);
    return cx->status == CQ_OK ? x : NULL;
}

/* ---- marks by path ---- */

cq_status cq_marking_init(cq_marking *m, const cq_module_mark *marks, size_t n)
{
    /* An array of a caller that knows other fields has elements of another size. */
    size_t stride = n ? marks->struct_size : 0;

    *m = (cq_marking){ 0 };
    for (size_t i = 0; i < n; i++) {
        cq_module_mark mark = { CQ_SIZED(cq_module_mark) };

        CQ_TRY(cq_sized_take(&mark, (const char *)marks + i * stride, "cq_module_mark"));
        CQ_TRY(cq_vec_push(&m->marks, mark));
        CQ_TRY(cq_vec_push(&m->hits, 0));
    }
    return CQ_OK;
}

void cq_marking_clear(cq_marking *m)
{
    for (size_t i = 0; i < m->paths.n; i++)
        cq_free(m->paths.items[i]);
    cq_vec_clear(&m->paths);
    cq_vec_clear(&m->marks);
    cq_vec_clear(&m->hits);
    cq_map_clear(&m->known_paths);
}

static cq_status note_path(cq_marking *m, const char *path)
{
    char *copy;

    if (cq_map_has(&m->known_paths, path))
        return CQ_OK;
    copy = cq_strdup(path);
    if (!copy || cq_map_set(&m->known_paths, path, copy) != CQ_OK ||
        cq_vec_push(&m->paths, copy) != CQ_OK) {
        cq_free(copy);
        return CQ_E_NO_MEMORY;
    }
    return CQ_OK;
}

/* The number of characters to insert, delete or replace; overlong paths count as distant. */
static size_t distance(const char *a, const char *b)
{
    enum { LONGEST = 255 };
    size_t row[LONGEST + 1], n = strlen(b);

    if (n > LONGEST)
        return SIZE_MAX;
    for (size_t k = 0; k <= n; k++)
        row[k] = k;
    for (size_t i = 1; *a; a++, i++) {
        size_t diagonal = row[0];

        row[0] = i;
        for (size_t k = 1; k <= n; k++) {
            size_t above = row[k], best = diagonal + (*a != b[k - 1]);

            if (above + 1 < best)
                best = above + 1;
            if (row[k - 1] + 1 < best)
                best = row[k - 1] + 1;
            row[k]   = best;
            diagonal = above;
        }
    }
    return row[n];
}

/* "did you mean features.3, features.13 or features?": the nearest three, in order. */
static void suggest(cq_str *hint, const cq_marking *m, const char *path)
{
    enum { SHOWN = 3 };
    const char *near[SHOWN];
    size_t      far[SHOWN], n = 0;

    for (size_t i = 0; i < m->paths.n; i++) {
        const char *p = m->paths.items[i];
        size_t      d = distance(path, p), at = n;

        if (!*p)
            continue; /* "" is never a suggestion */
        while (at > 0 && far[at - 1] > d)
            at--;
        if (at == SHOWN)
            continue;
        if (n < SHOWN)
            n++;
        for (size_t k = n - 1; k > at; k--) {
            near[k] = near[k - 1];
            far[k]  = far[k - 1];
        }
        near[at] = p;
        far[at]  = d;
    }
    if (n == 0)
        cq_str_add(hint,
                   "the model calls no modules; those of a frozen or inlined program are gone");
    for (size_t i = 0; i < n; i++)
        cq_str_printf(hint, "%s%s%s",
                      i == 0      ? "did you mean "
                      : i + 1 < n ? ", "
                                  : " or ",
                      near[i], i + 1 < n ? "" : "?");
}

cq_status cq_marking_check(const cq_marking *m)
{
    static const char *const what[] = { "annotate", "anchor", "make an output of" };

    if (m->too_far)
        return cq_fail(CQ_E_ARGUMENT, m->too_far->path, NULL,
                       "output %zu is asked for, but the module returns %zu tensors",
                       m->too_far->index, m->returned);
    for (size_t i = 0; i < m->marks.n; i++) {
        cq_str    hint = { 0 };
        cq_status status;

        if (m->hits.items[i])
            continue;
        suggest(&hint, m, m->marks.items[i].path);
        status = cq_fail(CQ_E_ARGUMENT, NULL, cq_str_text(&hint),
                         "no module \"%s\" to %s: no module with that path was called",
                         m->marks.items[i].path, what[m->marks.items[i].kind]);
        cq_str_clear(&hint);
        return status;
    }
    return CQ_OK;
}

static bool is_met(const cq_marking *m, size_t i, const cq_scope *scope)
{
    return strcmp(m->marks.items[i].path, scope->path) == 0;
}

static void begin_marks(cq_ctx *cx, const cq_scope *scope)
{
    cq_marking *m = cx->marking;

    if (!m)
        return;
    cq_ctx_fail(cx, note_path(m, scope->path));
    for (size_t i = 0; i < m->marks.n; i++)
        if (is_met(m, i, scope)) {
            m->hits.items[i]++;
            if (m->marks.items[i].kind != CQ_MARK_OUTPUT)
                begin(cx, m->marks.items[i].kind, m->marks.items[i].flags, m->marks.items[i].attrs,
                      m->marks.items[i].n_attrs);
        }
}

/* If the module does not return it, the mark is wrong, not the program: the check afterwards
 * reports it. */
static void name_result(cq_ctx *cx, const cq_module_mark *mark, size_t call, cq_tensor *const *out,
                        size_t n)
{
    char name[512];

    if (mark->index >= n) {
        cx->marking->too_far  = mark;
        cx->marking->returned = n;
        return;
    }
    snprintf(name, sizeof name, call ? "%.480s_%zu" : "%.480s", mark->name, call);
    cq_as_output(cx, name, out[mark->index]);
}

static void end_marks(cq_ctx *cx, const cq_scope *scope, cq_tensor *const *out, size_t n)
{
    cq_marking *m = cx->marking;

    for (size_t i = m ? m->marks.n : 0; i-- > 0;)
        if (is_met(m, i, scope) && m->marks.items[i].kind != CQ_MARK_OUTPUT)
            end(cx, m->marks.items[i].kind);
    for (size_t i = 0; m && i < m->marks.n; i++)
        if (is_met(m, i, scope) && m->marks.items[i].kind == CQ_MARK_OUTPUT && cx->status == CQ_OK)
            name_result(cx, &m->marks.items[i], m->hits.items[i] - 1, out, n);
}

/* ---- calls of modules ---- */

cq_tensor *cq_scope_enter(cq_ctx *cx, cq_scope *scope, cq_tensor *const *in, size_t n)
{
    cq_tensor *first = NULL;

    scope->parent = cx->scope;
    begin_marks(cx, scope);
    if (cx->status == CQ_OK && cx->observer && cx->observer->entered)
        first = cx->observer->entered(cx->observer_self, cx, scope, in, n);
    cx->scope = scope;
    return first;
}

cq_tensor *cq_scope_leave(cq_ctx *cx, cq_scope *scope, cq_tensor *const *out, size_t n)
{
    cq_tensor *first = NULL;

    cx->scope = scope->parent;
    if (cx->status == CQ_OK && cx->observer && cx->observer->left)
        first = cx->observer->left(cx->observer_self, cx, scope, out, n);
    end_marks(cx, scope, out, n);
    return first;
}

/* ---- the named outputs of a run ---- */

/* A copy: the tensor may be changed in place later. */
static void keep_output(void *self, cq_ctx *cx, const char *name, cq_tensor *x)
{
    cq_named_outputs *o   = self;
    cq_named_output   one = { .name = cq_strdup(name) };
    cq_status         status;

    status = one.name ? cq_tensor_clone(&one.tensor, x, x->dtype) : CQ_E_NO_MEMORY;
    if (status == CQ_OK)
        status = cq_vec_push(&o->items, one);
    if (status == CQ_OK)
        return;
    cq_tensor_release(one.tensor);
    cq_free(one.name);
    cq_ctx_fail(cx, status);
}

void cq_named_outputs_listen(cq_named_outputs *o, cq_ctx *cx)
{
    static const cq_observer observer = { .output = keep_output };

    *o                = (cq_named_outputs){ 0 };
    cx->observer      = &observer;
    cx->observer_self = o;
}

size_t cq_named_outputs_take(cq_named_outputs *o, cq_tensor **tensors, size_t n, size_t max)
{
    for (size_t i = 0; i < o->items.n; i++, n++)
        if (n < max) {
            tensors[n]               = o->items.items[i].tensor;
            o->items.items[i].tensor = NULL;
        }
    return n;
}

void cq_named_outputs_clear(cq_named_outputs *o)
{
    for (size_t i = 0; i < o->items.n; i++) {
        cq_tensor_release(o->items.items[i].tensor);
        cq_free(o->items.items[i].name);
    }
    cq_vec_clear(&o->items);
}
