/* Creates a module from source text: an object of one of its classes, whose weights and numbers are
 * set by a C program. An archive contains its module (load.c). */
#include "script/script.h"

#include <string.h>

enum { MAX_DEPTH = 64 /* of modules inside of each other, as modules.c visits them */ };

/* ---- objects ---- */

static cq_status make(cq_eval *ev, const char *name, int depth, cq_val *out);

static cq_status set(cq_program *p, cq_object *t, const char *name, cq_val v)
{
    cq_val *slot = cq_object_attribute(t, cq_name(p, name));

    if (!slot) {
        CQ_TRY(cq_vec_push(&t->attributes, (cq_attribute){ cq_name(p, name), CQ_NONE }));
        slot = &t->attributes.items[t->attributes.n - 1].value;
    }
    cq_val_set(slot, v);
    return CQ_OK;
}

/* Adds the fields that every module needs: submodules and the training mode. */
static cq_status fill(cq_eval *ev, cq_object *t, int depth)
{
    for (size_t i = 0; i < t->cls->n_fields; i++) {
        const cq_ast_field *f = &t->cls->fields[i];
        const cq_ast_class *cls;
        cq_val              child;

        if (!f->type || f->value || cq_object_attribute(t, f->name))
            continue;
        if (strcmp(f->name, "training") == 0)
            CQ_TRY(set(ev->program, t, f->name, cq_val_of_bool(false)));
        cls = f->type->kind == CQ_X_NAME ? cq_unit_class(ev->program->main, f->type->u.name) : NULL;
        if (!cls || cls->kind != CQ_CLASS_MODULE)
            continue;
        CQ_TRY(make(ev, cls->name, depth + 1, &child));
        CQ_TRY(set(ev->program, t, f->name, child));
    }
    return CQ_OK;
}

/* The context owns the object. */
static cq_status make(cq_eval *ev, const char *name, int depth, cq_val *out)
{
    cq_object *cls;

    if (depth > MAX_DEPTH)
        return cq_fail(CQ_E_UNSUPPORTED, name, NULL, "modules are nested more than %d deep",
                       MAX_DEPTH);
    CQ_TRY(cq_program_class(ev->program, name, &cls));
    if (!cls || !cls->cls ||
        (cls->cls->kind != CQ_CLASS_MODULE && cls->cls->kind != CQ_CLASS_PLAIN))
        return cq_fail(CQ_E_NOT_FOUND, ev->program->main->source.file, NULL,
                       "unknown class %s for a module", name);
    CQ_TRY(cq_eval_call(ev, cq_val_of_object(cls), NULL, 0, out));
    return fill(ev, cq_object_of(*out), depth);
}

CQ_API cq_status cq_script_make_module(cq_script *s, const char *class_name)
{
    CQ_NEED(s && class_name);
    cq_eval         ev    = { .program = s->program };
    cq_frame        frame = { .unit = s->program->main };
    cq_val          object;
    cq_alloc_budget outer;
    cq_status       status;

    if (!s->program->main)
        return cq_fail(CQ_E_ARGUMENT, class_name, NULL, "an archive already contains its module");
    CQ_TRY(cq_eval_new_context(&ev));
    ev.frame = &frame;
    outer    = cq_alloc_set_budget((cq_alloc_budget){ .limit = cq_script_max_bytes(s, 0) });
    status   = make(&ev, class_name, 0, &object);
    if (status == CQ_OK) {
        cq_object_of(object)->text = ""; /* the path of the root */
        cq_val_release(s->root);
        s->root = cq_val_retain(object);
    }
    cq_ctx_free(ev.cx);
    cq_alloc_set_budget(outer);
    return status;
}

/* ---- attributes ---- */

static bool is_declared(const cq_object *t, const char *name)
{
    return cq_ast_class_field(t->cls, name) ||
           cq_is_among(name, t->cls->parameters.items, t->cls->parameters.n);
}

static cq_status set_by_path(cq_script *s, const char *path, cq_val v)
{
    cq_object  *t = cq_object_as(s->root, CQ_OBJECT_INSTANCE);
    const char *dot;

    if (!t)
        return cq_fail(CQ_E_ARGUMENT, path, "create it with cq_script_make_module",
                       "the script has no module");
    for (const char *at = path; (dot = strchr(at, '.')); at = dot + 1) {
        char   *name = cq_strndup(at, (size_t)(dot - at));
        cq_val *slot = name ? cq_object_attribute(t, cq_name(s->program, name)) : NULL;

        cq_free(name);
        if (!name)
            return CQ_E_NO_MEMORY;
        t = slot ? cq_object_as(*slot, CQ_OBJECT_INSTANCE) : NULL;
        if (!t)
            return cq_fail(CQ_E_NOT_FOUND, path, NULL, "unknown module %.*s", (int)(dot - path),
                           path);
    }
    dot = strrchr(path, '.');
    dot = dot ? dot + 1 : path;
    if (!cq_object_attribute(t, cq_name(s->program, dot)) && (!t->cls || !is_declared(t, dot)))
        return cq_fail(CQ_E_NOT_FOUND, path, NULL, "%s has no attribute %s",
                       t->cls ? t->cls->name : "the module", dot);
    return set(s->program, t, dot, v);
}

CQ_API cq_status cq_script_set_tensor(cq_script *s, const char *path, cq_tensor *t)
{
    CQ_NEED(s && path);
    return set_by_path(s, path, cq_val_of_tensor(t));
}

CQ_API cq_status cq_script_set_i64(cq_script *s, const char *path, int64_t value)
{
    CQ_NEED(s && path);
    return set_by_path(s, path, cq_val_of_i64(value));
}

CQ_API cq_status cq_script_set_f64(cq_script *s, const char *path, double value)
{
    CQ_NEED(s && path);
    return set_by_path(s, path, cq_val_of_f64(value));
}

CQ_API cq_status cq_script_set_bool(cq_script *s, const char *path, bool value)
{
    CQ_NEED(s && path);
    return set_by_path(s, path, cq_val_of_bool(value));
}
