/* Walks the tree of modules of an archive: weights by path, parameters with gradients, and training
 * modes. */
#include "script/python/python.h"
#include "script/script.h"

#include <stdio.h>

enum { MAX_DEPTH = 64, MAX_REPEATS = 100000 };

typedef struct module_walk {
    cq_script_module_fn fn;
    void               *user;
    cq_ptr_map          seen;    /* modules */
    size_t              repeats; /* remaining visits of modules by another path */
    bool                again;   /* the module was visited by another path before */
} module_walk;

static cq_status visit(module_walk *w, cq_object *module, const char *path, int depth);

/* Modules of Python source have their children in a dict. */
static cq_status visit_children(module_walk *w, cq_object *module, const char *path, int depth)
{
    const cq_dict *children = cq_python_children(module);
    char           inner[512];

    for (size_t i = 0; children && i < children->n; i++) {
        const struct cq_dict_entry *e = &children->entries[i];

        if (!cq_python_is_module(e->value) || e->key.kind != CQ_VAL_STR)
            continue;
        snprintf(inner, sizeof inner, path[0] ? "%s.%s" : "%s%s", path, e->key.u.text->text);
        CQ_TRY(visit(w, cq_object_of(e->value), inner, depth + 1));
    }
    return CQ_OK;
}

/* A module that several others hold is visited once, by its first path, as named_modules does: the
 * number of paths can grow exponentially with the depth. */
static cq_status visit(module_walk *w, cq_object *module, const char *path, int depth)
{
    char inner[512];

    w->again = cq_ptr_map_get(&w->seen, module) != NULL;
    if (w->again && (!w->repeats || depth > MAX_DEPTH))
        return CQ_OK;
    w->repeats -= w->again;
    if (depth > MAX_DEPTH)
        return cq_fail(CQ_E_UNSUPPORTED, path, NULL, "modules are nested too deep");
    CQ_TRY(cq_ptr_map_set(&w->seen, module, module));
    CQ_TRY(w->fn(w->user, module, path));
    if (module->type)
        return visit_children(w, module, path, depth);
    for (size_t i = 0; i < module->attributes.n; i++) {
        cq_attribute *a     = &module->attributes.items[i];
        cq_object    *child = cq_object_as(a->value, CQ_OBJECT_INSTANCE);

        if (!child)
            continue;
        snprintf(inner, sizeof inner, path[0] ? "%s.%s" : "%s%s", path, a->name);
        CQ_TRY(visit(w, child, inner, depth + 1));
    }
    return CQ_OK;
}

cq_status cq_script_each_module(const cq_script *s, cq_script_module_fn fn, void *user)
{
    cq_object  *root   = cq_object_of(s->root);
    module_walk w      = { .fn = fn, .user = user };
    cq_status   status = root ? visit(&w, root, "", 0) : CQ_OK;

    cq_ptr_map_clear(&w.seen);
    return status;
}

/* ---- weights ---- */

bool cq_script_is_parameter(const cq_object *module, const cq_attribute *a)
{
    const cq_ast_class *cls = module->cls;

    if (!cls || !cls->has_parameters)
        return a->value.u.tensor->requires_grad;
    return cq_is_among(a->name, cls->parameters.items, cls->parameters.n);
}

typedef struct walk {
    cq_script_tensor_fn fn;
    void               *user;
} walk;

static cq_status visit_python_tensors(const walk *w, cq_object *module, const char *prefix)
{
    char path[512];

    for (int parameters = 1; parameters >= 0; parameters--) {
        const cq_dict *group = cq_python_tensors(module, parameters);

        for (size_t i = 0; group && i < group->n; i++) {
            const struct cq_dict_entry *e = &group->entries[i];

            if (e->value.kind != CQ_VAL_TENSOR || !e->value.u.tensor->storage ||
                e->key.kind != CQ_VAL_STR)
                continue;
            snprintf(path, sizeof path, prefix[0] ? "%s.%s" : "%s%s", prefix, e->key.u.text->text);
            CQ_TRY(w->fn(w->user, path, e->value.u.tensor, parameters));
        }
    }
    return CQ_OK;
}

static cq_status visit_tensors(void *user, cq_object *module, const char *prefix)
{
    const walk *w = user;
    char        path[512];

    if (module->type)
        return visit_python_tensors(w, module, prefix);
    for (int parameters = 1; parameters >= 0; parameters--)
        for (size_t i = 0; i < module->attributes.n; i++) {
            cq_attribute *a = &module->attributes.items[i];

            if (a->value.kind != CQ_VAL_TENSOR || !a->value.u.tensor->storage ||
                cq_script_is_parameter(module, a) != parameters)
                continue;
            snprintf(path, sizeof path, prefix[0] ? "%s.%s" : "%s%s", prefix, a->name);
            CQ_TRY(w->fn(w->user, path, a->value.u.tensor, parameters));
        }
    return CQ_OK;
}

cq_status cq_script_each_tensor(cq_script *s, cq_script_tensor_fn fn, void *user)
{
    return cq_script_each_module(s, visit_tensors, &(walk){ fn, user });
}

/* ---- state dicts ---- */

typedef struct state_walk {
    module_walk        modules;
    cq_script_state_fn fn;
    void              *user;
    cq_object         *module;
} state_walk;

static cq_status visit_entry(void *user, const char *path, cq_tensor *t, bool is_parameter)
{
    const state_walk *w       = user;
    const char       *name    = strrchr(path, '.');
    const bool        is_kept = is_parameter || !w->module->type ||
                         cq_python_is_persistent(w->module, name ? name + 1 : path);

    return is_kept ? w->fn(w->user, path, t, w->modules.again) : CQ_OK;
}

static cq_status visit_state(void *user, cq_object *module, const char *prefix)
{
    state_walk *w = user;

    w->module = module;
    return visit_tensors(&(walk){ visit_entry, w }, module, prefix);
}

cq_status cq_script_each_state(cq_script *s, cq_script_state_fn fn, void *user)
{
    cq_object *root = cq_object_of(s->root);
    state_walk w    = { .fn = fn, .user = user };
    cq_status  status;

    w.modules = (module_walk){ .fn = visit_state, .user = &w, .repeats = MAX_REPEATS };
    status    = root ? visit(&w.modules, root, "", 0) : CQ_OK;
    cq_ptr_map_clear(&w.modules.seen);
    return status;
}

/* ---- modes ---- */

struct cq_script_modes {
    bool training;
    CQ_VEC(struct {
        cq_val *where;  /* the attribute slot of a module; NULL for a module of Python source */
        cq_val  module; /* the module, retained, because its dict may be refilled */
        bool    was;
    })
    modes;
};

static cq_status set_mode(void *user, cq_object *module, const char *path)
{
    cq_script_modes *saved = user;
    cq_dict         *own   = module->type ? cq_instance_dict(module) : NULL;
    cq_val          *mode  = own ? cq_dict_get_text(own, "training") : NULL;

    (void)path;
    if (mode && mode->kind == CQ_VAL_BOOL) {
        CQ_TRY(cq_vec_reserve(&saved->modes, saved->modes.n + 1));
        saved->modes.items[saved->modes.n].where  = NULL;
        saved->modes.items[saved->modes.n].module = cq_val_retain(cq_val_of_object(module));
        saved->modes.items[saved->modes.n++].was  = mode->u.b.value;
        mode->u.b.value                           = saved->training;
    }
    if (module->type)
        return CQ_OK;
    for (size_t i = 0; i < module->attributes.n; i++) {
        cq_attribute *a = &module->attributes.items[i];

        if (a->value.kind != CQ_VAL_BOOL || strcmp(a->name, "training") != 0)
            continue;
        CQ_TRY(cq_vec_reserve(&saved->modes, saved->modes.n + 1));
        saved->modes.items[saved->modes.n].where  = &a->value;
        saved->modes.items[saved->modes.n].module = CQ_NONE;
        saved->modes.items[saved->modes.n++].was  = a->value.u.b.value;
        a->value.u.b.value                        = saved->training;
    }
    return CQ_OK;
}

void cq_script_restore_modes(cq_script_modes *saved)
{
    if (!saved)
        return;
    for (size_t i = saved->modes.n; i-- > 0;) {
        cq_object *module = cq_object_of(saved->modes.items[i].module);
        cq_dict   *own    = module ? cq_instance_dict(module) : NULL;
        cq_val    *mode   = own ? cq_dict_get_text(own, "training") : saved->modes.items[i].where;

        if (mode && mode->kind == CQ_VAL_BOOL)
            mode->u.b.value = saved->modes.items[i].was;
        cq_val_release(saved->modes.items[i].module);
    }
    cq_vec_clear(&saved->modes);
    cq_free(saved);
}

void cq_script_keep_modes(cq_script_modes *saved)
{
    for (size_t i = 0; i < saved->modes.n; i++)
        cq_val_release(saved->modes.items[i].module);
    cq_vec_clear(&saved->modes);
    cq_free(saved);
}

cq_status cq_script_set_training(cq_script *s, bool training, cq_script_modes **saved)
{
    cq_status status;

    *saved = cq_zalloc(sizeof **saved);
    if (!*saved)
        return CQ_E_NO_MEMORY;
    (*saved)->training = training;
    status             = cq_script_each_module(s, set_mode, *saved);
    if (status != CQ_OK) {
        cq_script_restore_modes(*saved);
        *saved = NULL;
    }
    return status;
}
