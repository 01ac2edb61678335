/* The modules of an archive as a tree: their weights by path, who has a gradient, and modes. */
#include "script/script.h"

#include <stdio.h>

enum { MAX_DEPTH = 64 };

/* ---- weights ---- */

typedef struct walk {
    cq_script_tensor_fn fn;
    void               *user;
} walk;

bool cq_script_is_parameter(const cq_object *module, const cq_attribute *a)
{
    const cq_ast_class *cls = module->cls;

    if (!cls || !cls->has_parameters)
        return a->value.u.tensor->requires_grad;
    return cq_is_among(a->name, cls->parameters.items, cls->parameters.n);
}

static void join_path(char *out, size_t size, const char *prefix, const char *name)
{
    snprintf(out, size, prefix[0] ? "%s.%s" : "%s%s", prefix, name);
}

static cq_status visit_own(const walk *w, cq_object *module, const char *prefix, bool parameters)
{
    char path[512];

    for (size_t i = 0; i < module->attributes.n; i++) {
        cq_attribute *a = &module->attributes.items[i];

        if (a->value.kind != CQ_VAL_TENSOR || !a->value.u.tensor->storage ||
            cq_script_is_parameter(module, a) != parameters)
            continue;
        join_path(path, sizeof path, prefix, a->name);
        CQ_TRY(w->fn(w->user, path, a->value.u.tensor, parameters));
    }
    return CQ_OK;
}

static cq_status visit(const walk *w, cq_object *module, const char *prefix, int depth)
{
    char path[512];

    if (depth > MAX_DEPTH)
        return cq_fail(CQ_E_UNSUPPORTED, prefix, NULL, "modules are nested too deep");
    CQ_TRY(visit_own(w, module, prefix, true));
    CQ_TRY(visit_own(w, module, prefix, false));
    for (size_t i = 0; i < module->attributes.n; i++) {
        cq_attribute *a     = &module->attributes.items[i];
        cq_object    *child = cq_object_as(a->value, CQ_OBJECT_INSTANCE);

        if (!child || child == module)
            continue;
        join_path(path, sizeof path, prefix, a->name);
        CQ_TRY(visit(w, child, path, depth + 1));
    }
    return CQ_OK;
}

cq_status cq_script_each_tensor(cq_script *s, cq_script_tensor_fn fn, void *user)
{
    cq_object *root = cq_object_of(s->root);

    return root ? visit(&(walk){ fn, user }, root, "", 0) : CQ_OK;
}

/* ---- modes ---- */

struct cq_script_modes {
    CQ_VEC(struct {
        cq_val *where; /* the attribute of a module */
        bool    was;
    })
    modes;
};

static cq_status set_modes(cq_object *module, bool training, cq_script_modes *saved, int depth)
{
    if (depth > MAX_DEPTH)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "modules are nested too deep");
    for (size_t i = 0; i < module->attributes.n; i++) {
        cq_attribute *a     = &module->attributes.items[i];
        cq_object    *child = cq_object_as(a->value, CQ_OBJECT_INSTANCE);

        if (child && child != module)
            CQ_TRY(set_modes(child, training, saved, depth + 1));
        if (a->value.kind != CQ_VAL_BOOL || strcmp(a->name, "training") != 0)
            continue;
        CQ_TRY(cq_vec_reserve(&saved->modes, saved->modes.n + 1));
        saved->modes.items[saved->modes.n].where = &a->value;
        saved->modes.items[saved->modes.n++].was = a->value.u.b.value;
        a->value.u.b.value                       = training;
    }
    return CQ_OK;
}

void cq_script_restore_modes(cq_script_modes *saved)
{
    if (!saved)
        return;
    for (size_t i = saved->modes.n; i-- > 0;)
        saved->modes.items[i].where->u.b.value = saved->modes.items[i].was;
    cq_vec_clear(&saved->modes);
    cq_free(saved);
}

cq_status cq_script_set_training(cq_script *s, bool training, cq_script_modes **saved)
{
    cq_object *root = cq_object_of(s->root);
    cq_status  status;

    *saved = cq_zalloc(sizeof **saved);
    if (!*saved)
        return CQ_E_NO_MEMORY;
    status = root ? set_modes(root, training, *saved, 0) : CQ_OK;
    if (status != CQ_OK) {
        cq_script_restore_modes(*saved);
        *saved = NULL;
    }
    return status;
}
