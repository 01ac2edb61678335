/* Modules: the tree, its state, and calls. */
#include "nn/module.h"
#include "aten/core/observe.h"
#include "base/sized.h"
#include "base/str.h"
#include "nn/nest.h"

#include <stdio.h>

enum { MAX_DEPTH = 64 }; /* of nested modules */

CQ_API cq_module *cq_module_new(const cq_class *cls)
{
    CQ_NEED_ELSE(cls, NULL);
    cq_module *m = cq_zalloc(sizeof *m);

    if (!m)
        return NULL;
    m->own_class.struct_size = sizeof m->own_class;
    m->cls                   = &m->own_class;
    m->training              = true;
    if (cq_sized_take(&m->own_class, cls, "cq_class") != CQ_OK ||
        !(m->self = cq_zalloc(m->own_class.self_size))) {
        cq_free(m);
        return NULL;
    }
    return m;
}

CQ_API void cq_module_free(cq_module *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->children.n; i++)
        cq_module_free(m->children.items[i]);
    for (size_t i = 0; i < m->state.n; i++) {
        cq_free(m->state.items[i].name);
        cq_tensor_release(m->state.items[i].tensor);
    }
    for (size_t i = 0; i < m->qualified.n; i++)
        cq_free(m->qualified.items[i]);
    if (m->cls->destroy)
        m->cls->destroy(m->self);
    cq_vec_clear(&m->children);
    cq_vec_clear(&m->state);
    cq_vec_clear(&m->qualified);
    cq_free(m->name);
    cq_free(m->self);
    cq_free(m);
}

cq_module *cq_module_or_free(cq_module *m, bool made)
{
    if (made)
        return m;
    cq_module_free(m);
    return NULL;
}

CQ_API void *cq_module_self(const cq_module *m)
{
    return m ? m->self : NULL;
}

CQ_API cq_status cq_module_status(const cq_module *m)
{
    if (!m)
        return cq_last_error()->status ? cq_last_error()->status : CQ_E_NO_MEMORY;
    CQ_TRY(m->status);
    for (size_t i = 0; i < m->children.n; i++)
        CQ_TRY(cq_module_status(m->children.items[i]));
    return CQ_OK;
}

static void *fail(cq_module *m, cq_status status)
{
    if (m->status == CQ_OK)
        m->status = status;
    return NULL;
}

CQ_API cq_module *cq_module_add(cq_module *parent, const char *name, cq_module *child)
{
    if (!parent) {
        cq_module_free(child);
        return NULL;
    }
    if (!child)
        return fail(parent, cq_last_error()->status ? cq_last_error()->status : CQ_E_NO_MEMORY);
    child->name = cq_strdup(name);
    if (!child->name || cq_vec_push(&parent->children, child) != CQ_OK) {
        cq_module_free(child);
        return fail(parent, CQ_E_NO_MEMORY);
    }
    child->parent = parent;
    return child;
}

static cq_tensor *add_state(cq_module *m, const char *name, cq_tensor *t, bool is_buffer)
{
    char *copy;

    if (!m) {
        cq_tensor_release(t);
        return NULL;
    }
    copy = cq_strdup(name);
    if (!copy || cq_vec_push(&m->state, (cq_module_state){ copy, t, is_buffer }) != CQ_OK) {
        cq_free(copy);
        cq_tensor_release(t);
        return fail(m, CQ_E_NO_MEMORY);
    }
    if (t && !is_buffer)
        t->requires_grad = true;
    return t;
}

CQ_API cq_tensor *cq_module_add_parameter(cq_module *m, const char *name, cq_tensor *t)
{
    CQ_NEED_ELSE(m, NULL);
    return add_state(m, name, t, false);
}

CQ_API cq_tensor *cq_module_add_buffer(cq_module *m, const char *name, cq_tensor *t)
{
    CQ_NEED_ELSE(m, NULL);
    return add_state(m, name, t, true);
}

CQ_API const char *cq_module_class_name(const cq_module *m)
{
    CQ_NEED_ELSE(m, NULL);
    return m->cls->name;
}

CQ_API const char *cq_module_name(const cq_module *m)
{
    CQ_NEED_ELSE(m, NULL);
    return m->name ? m->name : "";
}

CQ_API size_t cq_module_n_children(const cq_module *m)
{
    CQ_NEED_ELSE(m, 0);
    return m->children.n;
}

CQ_API cq_module *cq_module_child_at(const cq_module *m, size_t index)
{
    CQ_NEED_ELSE(m, NULL);
    return index < m->children.n ? m->children.items[index] : NULL;
}

CQ_API cq_module *cq_module_child(const cq_module *m, const char *path)
{
    while (m && path && *path) {
        size_t     len  = strcspn(path, ".");
        cq_module *next = NULL;

        for (size_t i = 0; i < m->children.n; i++)
            if (strlen(m->children.items[i]->name) == len &&
                strncmp(m->children.items[i]->name, path, len) == 0)
                next = m->children.items[i];
        m = next;
        path += len + (path[len] == '.');
    }
    return (cq_module *)m;
}

/* ---- state ---- */

static cq_status each_state(const cq_module *m, cq_str *prefix, int depth,
                            cq_status (*fn)(void *user, const char *name, cq_module_state *state),
                            void *user)
{
    size_t len = prefix->len;

    if (depth == MAX_DEPTH)
        return cq_fail(CQ_E_ARGUMENT, prefix->text, NULL, "modules are nested more than %d deep",
                       MAX_DEPTH);
    for (size_t i = 0; i < m->state.n; i++) {
        if (!m->state.items[i].tensor)
            continue;
        cq_str_add(prefix, m->state.items[i].name);
        CQ_TRY(prefix->status);
        CQ_TRY(fn(user, prefix->text, &m->state.items[i]));
        prefix->len = len;
    }
    for (size_t i = 0; i < m->children.n; i++) {
        cq_str_printf(prefix, "%s.", m->children.items[i]->name);
        CQ_TRY(prefix->status);
        CQ_TRY(each_state(m->children.items[i], prefix, depth + 1, fn, user));
        prefix->len = len;
    }
    return CQ_OK;
}

cq_status cq_module_each_state(const cq_module *m,
                               cq_status (*fn)(void *user, const char *name,
                                               cq_module_state *state),
                               void *user)
{
    cq_str    prefix = { 0 };
    cq_status status = each_state(m, &prefix, 0, fn, user);

    cq_str_clear(&prefix);
    return status;
}

typedef struct search {
    const char      *name;
    size_t           index, want;
    cq_module_state *found;
    cq_module       *names; /* owner of the qualified names */
} search;

static cq_status match(void *user, const char *name, cq_module_state *state)
{
    search *s = user;

    if (s->name ? strcmp(s->name, name) == 0 : s->index == s->want)
        s->found = state;
    s->index++;
    return CQ_OK;
}

CQ_API size_t cq_module_state_count(const cq_module *m)
{
    CQ_NEED_ELSE(m, 0);
    search s = { .want = SIZE_MAX };

    cq_module_each_state(m, match, &s);
    return s.index;
}

static cq_status note_name(void *user, const char *name, cq_module_state *state)
{
    cq_module *m    = user;
    char      *copy = cq_strdup(name);

    (void)state;
    if (!copy)
        return CQ_E_NO_MEMORY;
    return cq_vec_push(&m->qualified, copy);
}

CQ_API cq_status cq_module_state_at(const cq_module *m, size_t index, cq_state_entry *out)
{
    CQ_NEED(m && out);
    search s = { .want = index };

    CQ_TRY(cq_module_each_state(m, match, &s));
    if (!s.found)
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL, "the module has %zu tensors, there is no %zu",
                       s.index, index);
    if (m->qualified.n != s.index) {
        cq_module *keeper = (cq_module *)m;

        while (keeper->qualified.n)
            cq_free(keeper->qualified.items[--keeper->qualified.n]);
        CQ_TRY(cq_module_each_state(m, note_name, keeper));
    }
    *out = (cq_state_entry){ m->qualified.items[index], s.found->tensor, s.found->is_buffer };
    return CQ_OK;
}

CQ_API cq_tensor *cq_module_find(const cq_module *m, const char *name)
{
    CQ_NEED_ELSE(m, NULL);
    search s = { .name = name };

    cq_module_each_state(m, match, &s);
    return s.found ? s.found->tensor : NULL;
}

CQ_API cq_status cq_module_set(cq_module *m, const char *name, const cq_tensor *value)
{
    CQ_NEED(m && value);
    cq_tensor *t = cq_module_find(m, name);
    char       want[CQ_DESCRIBE_SIZE], got[CQ_DESCRIBE_SIZE];
    bool       fits;

    if (!t)
        return cq_fail(CQ_E_NOT_FOUND, m->cls->name, NULL, "the module has no \"%s\"", name);
    fits = t->rank == value->rank;
    for (size_t i = 0; fits && i < t->rank; i++)
        fits = t->sizes[i].value == value->sizes[i].value;
    if (!fits)
        return cq_fail(CQ_E_TYPE, name, NULL, "the parameter is %s, but %s was given",
                       cq_tensor_describe(t, want, sizeof want),
                       cq_tensor_describe(value, got, sizeof got));
    return cq_tensor_copy_into(t, value);
}

typedef struct loading {
    cq_module  *m;
    const char *folder;
} loading;

static cq_status load_one(void *user, const char *name, cq_module_state *state)
{
    loading   *l = user;
    char       path[4096];
    cq_tensor *t;
    cq_status  status;

    (void)state;
    snprintf(path, sizeof path, "%s/%s.npy", l->folder, name);
    CQ_TRY(cq_tensor_load_npy(&t, path));
    status = cq_module_set(l->m, name, t);
    cq_tensor_release(t);
    return status;
}

CQ_API cq_status cq_module_load_npy(cq_module *m, const char *folder)
{
    CQ_NEED(m && folder);
    loading l = { m, folder };

    return cq_module_each_state(m, load_one, &l);
}

/* ---- modes ---- */

CQ_API void cq_module_train(cq_module *m, bool training)
{
    CQ_NEED_ELSE(m, );
    m->training = training;
    for (size_t i = 0; i < m->children.n; i++)
        cq_module_train(m->children.items[i], training);
}

CQ_API bool cq_module_is_training(const cq_module *m)
{
    CQ_NEED_ELSE(m, 0);
    return m->training;
}

struct cq_training_modes {
    CQ_VEC(bool) modes; /* in the order of a walk */
};

static cq_status save_modes(const cq_module *m, cq_training_modes *saved)
{
    CQ_TRY(cq_vec_push(&saved->modes, m->training));
    for (size_t i = 0; i < m->children.n; i++)
        CQ_TRY(save_modes(m->children.items[i], saved));
    return CQ_OK;
}

static void restore_modes(cq_module *m, const cq_training_modes *saved, size_t *at)
{
    if (*at < saved->modes.n)
        m->training = saved->modes.items[(*at)++];
    for (size_t i = 0; i < m->children.n; i++)
        restore_modes(m->children.items[i], saved, at);
}

CQ_API cq_status cq_module_set_training(cq_module *m, bool training, cq_training_modes **saved)
{
    CQ_NEED(m);
    *saved = cq_zalloc(sizeof **saved);
    if (!*saved || save_modes(m, *saved) != CQ_OK) {
        if (*saved)
            cq_vec_clear(&(*saved)->modes);
        cq_free(*saved);
        *saved = NULL;
        return CQ_E_NO_MEMORY;
    }
    cq_module_train(m, training);
    return CQ_OK;
}

CQ_API void cq_module_restore_training(cq_module *m, cq_training_modes *saved)
{
    CQ_NEED_ELSE(m, );
    size_t at = 0;

    if (!saved)
        return;
    restore_modes(m, saved, &at);
    cq_vec_clear(&saved->modes);
    cq_free(saved);
}

/* ---- calls ---- */

/* The path of m below root, "features.3". A module that is not below it has the path of its
 * caller. */
static void write_path(char *out, size_t size, const cq_module *m, const cq_module *root)
{
    const cq_module *chain[MAX_DEPTH];
    int              n  = 0;
    size_t           at = 0;

    out[0] = '\0';
    for (; m && m != root && n < MAX_DEPTH; m = m->parent)
        chain[n++] = m;
    while (n-- > 0 && at < size)
        at += (size_t)snprintf(out + at, size - at, at ? ".%s" : "%s", cq_module_name(chain[n]));
}

/* A call in progress: the state of the context before it. */
typedef struct call {
    cq_scope   scope;
    cq_module *outer, *outer_root;
    size_t     mark;
    char       path[512];
    cq_tensor *first, *anchor; /* replaces the first argument, then the result */
} call;

/* The tensors that are not NULL, for observers. */
static cq_tensor **present(cq_ctx *cx, cq_tensor *const *tensors, size_t n, size_t *n_out)
{
    cq_tensor **out = cq_nest_array(cx, n);

    *n_out = 0;
    for (size_t i = 0; out && i < n; i++)
        if (tensors[i])
            out[(*n_out)++] = tensors[i];
    return out;
}

static cq_tensor *put_anchor(void *user, cq_tensor *t)
{
    const call *c = user;

    return t == c->first && c->anchor ? c->anchor : t;
}

static bool enter(call *c, cq_ctx *cx, cq_module *m, cq_tensor *const *in, size_t n_in)
{
    if (cx->status == CQ_OK && !m)
        cq_ctx_fail(cx, cq_fail(CQ_E_ARGUMENT, NULL, NULL, "the module is NULL"));
    if (cx->status != CQ_OK)
        return false;
    *c = (call){ .scope      = { .class_name = m->cls->name },
                 .first      = n_in ? in[0] : NULL,
                 .outer      = cx->module,
                 .outer_root = cx->root_module,
                 .mark       = cq_ctx_mark(cx) };
    if (!c->outer)
        cx->root_module = m;
    write_path(c->path, sizeof c->path, m, cx->root_module);
    c->scope.path = c->path;
    c->scope.name = cq_module_name(m);
    c->anchor     = cq_scope_enter(cx, &c->scope, in, n_in);
    cx->module    = m;
    return true;
}

/* Only the results outlive the call. */
static void leave(call *c, cq_ctx *cx, cq_tensor **results, size_t n)
{
    size_t      n_out;
    cq_tensor **out = present(cx, results, n, &n_out);

    c->first        = n_out ? out[0] : NULL;
    c->anchor       = cq_scope_leave(cx, &c->scope, out, n_out);
    cx->module      = c->outer;
    cx->root_module = c->outer_root;
    for (size_t i = 0; i < n; i++)
        results[i] = put_anchor(c, results[i]);
    for (size_t i = 0; i < n; i++)
        cq_tensor_retain(results[i]);
    cq_ctx_pop(cx, c->mark, NULL, 0);
    for (size_t i = 0; i < n; i++)
        cq_ctx_own_tensor(cx, results[i]);
}

static void forward(cq_ctx *cx, cq_module *m, cq_tensor *const *in, size_t n_in, cq_tensor **out,
                    size_t n_out)
{
    if (m->cls->forward_n)
        m->cls->forward_n(cx, m->self, in, n_in, out, n_out);
    else if (!m->cls->forward)
        cq_ctx_fail(cx, cq_fail(CQ_E_ARGUMENT, m->cls->name, NULL, "the module has no forward"));
    else if (n_in != 1)
        cq_ctx_fail(cx, cq_fail(CQ_E_ARGUMENT, m->cls->name, NULL,
                                "the module takes one input, got %zu", n_in));
    else if (n_out >= 1)
        out[0] = m->cls->forward(cx, m->self, in[0]);
}

CQ_API cq_nest cq_call_nested(cq_ctx *cx, cq_module *m, const cq_nest *args)
{
    CQ_NEED_ELSE(cx, (cq_nest){ 0 });
    cq_nest     result = { 0 }, anchored;
    size_t      n_in, n_out;
    cq_tensor **in = cq_nest_tensors(cx, args, &n_in), **out;
    call        c;

    if (!in || !enter(&c, cx, m, in, n_in))
        return result;
    if (c.anchor) {
        anchored = cq_nest_map(cx, args, put_anchor, &c);
        args     = &anchored;
    }
    if (m->cls->forward_nested) {
        result = m->cls->forward_nested(cx, m->self, args);
        out    = cq_nest_tensors(cx, &result, &n_out);
    } else {
        n_out = m->cls->n_out ? m->cls->n_out : 1;
        in    = cq_nest_tensors(cx, args, &n_in);
        out   = cq_nest_array(cx, n_out);
        if (in && out)
            forward(cx, m, in, n_in, out, n_out);
        result = out ? cq_nest_of_tensors(cx, out, n_out) : result;
    }
    leave(&c, cx, out, out ? n_out : 0);
    if (c.anchor)
        result = cq_nest_map(cx, &result, put_anchor, &c);
    return cx->status == CQ_OK ? result : (cq_nest){ 0 };
}

CQ_API void cq_call_n(cq_ctx *cx, cq_module *m, cq_tensor *const *in, size_t n_in, cq_tensor **out,
                      size_t n_out)
{
    CQ_NEED_ELSE(cx, );
    cq_tensor **present_in, **anchored;
    size_t      n_present;
    call        c;

    for (size_t i = 0; i < n_out; i++)
        out[i] = NULL;
    if (m && m->cls->forward_nested) {
        cq_nest args = cq_nest_of_tensors(cx, in, n_in), result;

        if (n_in == 1)
            args = cq_nest_tuple(cx, 1, &args);
        result = cq_call_nested(cx, m, &args);
        cq_nest_flatten(&result, out, n_out);
    } else if ((present_in = present(cx, in, n_in, &n_present)) &&
               enter(&c, cx, m, present_in, n_present)) {
        anchored = c.anchor ? cq_nest_array(cx, n_in) : NULL;
        for (size_t i = 0; anchored && i < n_in; i++)
            anchored[i] = put_anchor(&c, in[i]);
        in = anchored ? anchored : in;
        forward(cx, m, in, n_in, out, n_out);
        leave(&c, cx, out, n_out);
    }
}

CQ_API cq_tensor *cq_call(cq_ctx *cx, cq_module *m, cq_tensor *x)
{
    CQ_NEED_ELSE(cx, NULL);
    cq_tensor *out;

    cq_call_n(cx, m, &x, 1, &out, 1);
    return cx->status == CQ_OK ? out : NULL;
}

CQ_API bool cq_is_training(const cq_ctx *cx)
{
    CQ_NEED_ELSE(cx, 0);
    return cx->module && cx->module->training;
}

CQ_API bool cq_is_in_onnx_export(const cq_ctx *cx)
{
    CQ_NEED_ELSE(cx, 0);
    return cx->exporting;
}
