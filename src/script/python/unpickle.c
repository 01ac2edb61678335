/* Builds Python objects from the values of a file of torch.save: modules, with the classes of
 * lib/torch and of the source that the user gives. A pickle names a class and lists the state of
 * its objects (archive/object.h). An object is created without __init__, as in Python, and its
 * class interprets the state if it has __setstate__. The evaluator calls functions of a pickle
 * without the host, so no pickle can write files. An object whose class is not found may be
 * unimportant, such as training options: it is an error only when it is used, unless it is a
 * module. */
#include "script/python/unpickle.h"
#include "archive/object.h"
#include "archive/weights.h"
#include "base/str.h"
#include "script/script.h"

#include <stdio.h>

enum { NAME_SIZE = 512, MAX_LISTED = 20 };

typedef struct building {
    cq_eval   *ev;
    cq_visit   visit; /* containers that are shared stay shared */
    cq_ptr_map made;  /* cq_instance -> the box of its value */
    cq_list   *all;   /* of those values */
    int        depth; /* nesting of objects */
} building;

/* ---- classes ---- */

/* The attributes behind a module: "Net", "Outer.Inner". */
static cq_status members(cq_eval *ev, cq_object *module, const char *names, cq_val *out)
{
    char   name[NAME_SIZE];
    size_t len = strcspn(names, ".");

    snprintf(name, sizeof name, "%.*s", (int)len, names);
    CQ_TRY(cq_python_member(ev, module, name, out));
    while (names[len]) {
        names += len + 1;
        len = strcspn(names, ".");
        snprintf(name, sizeof name, "%.*s", (int)len, names);
        CQ_TRY(cq_eval_attribute(ev, *out, cq_name(ev->program, name), out));
    }
    return CQ_OK;
}

/* The same, but a missing name is not an error, because another source file may define it. */
static cq_status try_members(cq_eval *ev, cq_object *module, const char *names, cq_val *out,
                             bool *found)
{
    const cq_status status = members(ev, module, names, out);

    *found = status == CQ_OK;
    return *found || cq_eval_catch(ev, status, "AttributeError") ? CQ_OK : status;
}

static cq_status find_builtin(cq_eval *ev, const char *name, cq_val *out, bool *found)
{
    CQ_TRY(cq_python_builtin(ev, cq_name(ev->program, name), out, found));
    if (*found)
        return CQ_OK;
    *found = true;
    return cq_eval_new_object(ev, CQ_OBJECT_BUILTIN, name, out);
}

/* Finds a class by the module in its name, or in the files of --code by its own name. */
static cq_status find_global(cq_eval *ev, const char *dotted, cq_val *out, bool *found)
{
    const cq_python *py = ev->program->python;
    char             module_name[NAME_SIZE];
    const char      *last = strrchr(dotted, '.');

    *found = false;
    if (cq_starts_with(dotted, "builtins."))
        return find_builtin(ev, dotted + strlen("builtins."), out, found);
    for (const char *dot = last; dot && !*found && dot > dotted;) {
        cq_object *module = NULL;

        snprintf(module_name, sizeof module_name, "%.*s", (int)(dot - dotted), dotted);
        if (strcmp(module_name, "__main__") != 0)
            CQ_TRY(cq_python_module(ev->program, module_name, &module));
        if (module)
            CQ_TRY(try_members(ev, module, dot + 1, out, found));
        do
            dot--;
        while (dot > dotted && *dot != '.');
    }
    for (size_t i = 0; i < py->codes.n && !*found; i++)
        CQ_TRY(try_members(ev, py->codes.items[i], last ? last + 1 : dotted, out, found));
    if (!*found && cq_starts_with(dotted, "__main__.")) /* the class of a script */
        CQ_TRY(try_members(ev, py->main, dotted + strlen("__main__."), out, found));
    return CQ_OK;
}

/* Finds a class. An attribute of torch that lib/torch does not define is an operator, not a
 * class. */
static cq_status find_class(cq_eval *ev, const char *dotted, cq_object **out)
{
    cq_val v;
    bool   found;

    CQ_TRY(find_global(ev, dotted, &v, &found));
    *out = found ? cq_object_as(v, CQ_OBJECT_CLASS) : NULL;
    return CQ_OK;
}

/* ---- missing classes ---- */

typedef struct checking {
    cq_eval   *ev;
    cq_map     classes; /* names of modules, found or not */
    cq_ptr_map seen;
    cq_str     missing;
    size_t     n_missing;
} checking;

static cq_status check(checking *c, cq_val v);

static cq_status check_class(checking *c, const char *name)
{
    cq_object *cls;

    if (cq_map_get(&c->classes, name))
        return CQ_OK;
    CQ_TRY(cq_map_set(&c->classes, name, c));
    CQ_TRY(find_class(c->ev, name, &cls));
    if (!cls && c->n_missing++ < MAX_LISTED)
        cq_str_printf(&c->missing, "%s%.200s", c->missing.len ? ", " : "", name);
    return c->missing.status;
}

/* Submodules are searched in modules only; the unpickler has limited the depth. */
static cq_status check(checking *c, cq_val v)
{
    const cq_instance *o = cq_instance_of(v);
    const cq_dict     *children;

    if (!o || cq_ptr_map_get(&c->seen, o))
        return CQ_OK;
    CQ_TRY(cq_ptr_map_set(&c->seen, o, c));
    CQ_TRY(check_class(c, o->class_name));
    children = cq_module_part(o, "_modules");
    for (size_t i = 0; children && i < children->n; i++)
        CQ_TRY(check(c, children->entries[i].value));
    return CQ_OK;
}

static cq_status refuse(const checking *c, const char *file)
{
    cq_str    hint = { 0 };
    cq_status status;

    cq_str_add(&hint, "give the source: --code FILE.py that defines the classes, or --path DIR, "
                      "the folder that their modules are imported from");
    status = cq_fail(CQ_E_NOT_FOUND, file, cq_str_text(&hint),
                     "the file is a pickled module, and the source of %zu of its classes is not "
                     "found: %s%s",
                     c->n_missing, cq_str_text(&c->missing), c->n_missing > MAX_LISTED ? " …" : "");
    cq_str_clear(&hint);
    return status;
}

static cq_status finish_check(checking *c, cq_status status, const char *file)
{
    if (status == CQ_OK && c->n_missing)
        status = refuse(c, file);
    cq_map_clear(&c->classes);
    cq_ptr_map_clear(&c->seen);
    cq_str_clear(&c->missing);
    return status;
}

cq_status cq_python_check_classes(cq_eval *ev, cq_val module, const char *file)
{
    checking c = { .ev = ev };

    return finish_check(&c, check(&c, module), file);
}

cq_status cq_python_check_modules(cq_eval *ev, cq_val root, const char *file)
{
    checking    c        = { .ev = ev };
    cq_sections sections = { 0 };
    cq_arena   *arena    = cq_arena_new();
    cq_status   status   = arena ? cq_sections_find(&sections, arena, root) : CQ_E_NO_MEMORY;

    for (size_t i = 0; i < sections.n && status == CQ_OK; i++)
        if (cq_is_pickled_module(sections.items[i].value))
            status = check(&c, sections.items[i].value);
    cq_vec_clear(&sections);
    cq_arena_free(arena);
    return finish_check(&c, status, file);
}

/* ---- objects ---- */

/* Registers the value of an object, for further references to it. */
static cq_status keep(building *b, const cq_instance *o, cq_val v)
{
    CQ_TRY(cq_list_push(b->all, v));
    return v.kind == CQ_VAL_OBJECT ? cq_ptr_map_set(&b->made, o, v.u.box) : CQ_OK;
}

/* A value that fails when it is used, with the name of the missing class. */
static cq_status unusable(building *b, const cq_instance *o, cq_val *out)
{
    const char *text = cq_arena_printf(
        b->ev->program->arena, "it is an object of %s, whose source is missing", o->class_name);
    cq_object *t;

    if (!text)
        return CQ_E_NO_MEMORY;
    CQ_TRY(cq_object_new(&t, CQ_OBJECT_UNDEFINED));
    t->text = text;
    return cq_eval_own(b->ev, cq_val_of_object(t), out);
}

/* Builds the value that replaces v; the context owns it. */
static cq_status build(building *b, cq_val v, cq_val *out)
{
    cq_val copy;

    CQ_TRY(cq_val_map(&b->visit, v, &copy));
    return cq_eval_own(b->ev, copy, out);
}

static cq_status set_attributes(building *b, cq_val object, cq_val state)
{
    cq_object *t = cq_object_as(object, CQ_OBJECT_INSTANCE);
    cq_dict   *own;

    if (!t || state.kind != CQ_VAL_DICT)
        return CQ_OK;
    CQ_TRY(cq_instance_make_dict(t, &own));
    for (size_t i = 0; i < state.u.dict->n; i++)
        CQ_TRY(cq_dict_set(own, state.u.dict->entries[i].key, state.u.dict->entries[i].value));
    return cq_eval_spend(b->ev, state.u.dict->n);
}

/* Calls __setstate__, or sets the attributes: a dict, or a pair of dicts if the class has
 * __slots__. */
static cq_status set_state(building *b, const cq_instance *o, cq_val object)
{
    cq_val state, ignored;
    bool   found;

    if (o->state.kind == CQ_VAL_NONE)
        return CQ_OK;
    CQ_TRY(build(b, o->state, &state));
    CQ_TRY(cq_python_special(b->ev, object, "__setstate__", &state, 1, &ignored, &found));
    if (found)
        return CQ_OK;
    if (state.kind == CQ_VAL_TUPLE && state.u.list->n == 2) {
        CQ_TRY(set_attributes(b, object, state.u.list->items[0]));
        return set_attributes(b, object, state.u.list->items[1]);
    }
    /* The state of a dict whose __dict__ is itself, as in AttrDict, is the dict. */
    if (cq_python_dict_of(state))
        return set_attributes(b, object, cq_val_of_dict(cq_python_dict_of(state)));
    return cq_fail(CQ_E_UNSUPPORTED, o->class_name, NULL,
                   "an object is pickled with a state that is %s, but its class has no "
                   "__setstate__",
                   cq_eval_type_name(state));
}

/* Adds the items of lists, dicts and their subclasses. */
static cq_status set_contents(building *b, const cq_instance *o, cq_val object)
{
    cq_val append, item, key, ignored;
    bool   found;

    for (size_t i = 0; o->items && i < o->items->n; i++) {
        CQ_TRY(build(b, o->items->items[i], &item));
        CQ_TRY(cq_eval_attribute(b->ev, object, cq_name(b->ev->program, "append"), &append));
        CQ_TRY(cq_eval_call(b->ev, append, &item, 1, &ignored));
    }
    for (size_t i = 0; o->pairs && i < o->pairs->n; i++) {
        cq_dict *native = cq_python_dict_of(object);

        CQ_TRY(build(b, o->pairs->entries[i].key, &key));
        CQ_TRY(build(b, o->pairs->entries[i].value, &item));
        if (native)
            CQ_TRY(cq_dict_set(native, key, item));
        else
            CQ_TRY(cq_python_special(b->ev, object, "__setitem__", (cq_val[]){ key, item }, 2,
                                     &ignored, &found));
    }
    return CQ_OK;
}

/* Class.__new__(Class, *args), without __init__. */
static cq_status new_object(building *b, cq_object *cls, cq_val args, cq_val *out)
{
    const size_t n      = args.kind == CQ_VAL_TUPLE ? args.u.list->n : 0;
    cq_val      *create = cq_class_find(cls, cq_name(b->ev->program, "__new__"), NULL);
    cq_val       all;
    cq_object   *t;

    if (cls->cls->kind == CQ_CLASS_NAMED_TUPLE)
        return cq_eval_call(b->ev, cq_val_of_object(cls), n ? args.u.list->items : NULL, n, out);
    if (create && cq_object_of(*create)) {
        t = cq_object_as(*create, CQ_OBJECT_STATIC);
        CQ_TRY(cq_eval_list(b->ev, (cq_val[]){ cq_val_of_object(cls) }, 1, CQ_VAL_LIST, &all));
        for (size_t i = 0; i < n; i++)
            CQ_TRY(cq_list_push(all.u.list, args.u.list->items[i]));
        return cq_eval_call(b->ev, t ? t->self : *create, all.u.list->items, all.u.list->n, out);
    }
    CQ_TRY(cq_python_new_instance(b->ev, cls, out));
    t = cq_object_of(*out);
    if (cls->native_base) {
        cq_val native;

        CQ_TRY(cq_eval_call_name(b->ev, cls->native_base, n ? args.u.list->items : NULL, n ? 1 : 0,
                                 &native));
        cq_val_set(&t->self, native);
    }
    return CQ_OK;
}

static cq_status build_object(building *b, const cq_instance *o, cq_val *out)
{
    cq_object *cls;
    cq_val     args;

    CQ_TRY(find_class(b->ev, o->class_name, &cls));
    if (!cls)
        return unusable(b, o, out);
    CQ_TRY(build(b, o->args, &args));
    CQ_TRY(new_object(b, cls, args, out));
    CQ_TRY(keep(b, o, *out));
    CQ_TRY(set_contents(b, o, *out));
    return set_state(b, o, *out);
}

/* Builds the result of a called function or class: set([1, 2]), partial(f). */
static cq_status build_call(building *b, const cq_instance *o, cq_val *out)
{
    cq_val callee, args;
    bool   found;

    CQ_TRY(find_global(b->ev, o->class_name, &callee, &found));
    if (!found || cq_object_as(callee, CQ_OBJECT_NAMESPACE))
        return unusable(b, o, out);
    CQ_TRY(build(b, o->args, &args));
    if (args.kind != CQ_VAL_TUPLE)
        CQ_TRY(cq_eval_list(b->ev, NULL, 0, CQ_VAL_TUPLE, &args));
    if (o->items && cq_starts_with(o->class_name, "builtins.")) { /* a set of these items */
        cq_val items;

        CQ_TRY(build(b, cq_val_of_list(o->items), &items));
        return cq_eval_call(b->ev, callee, &items, 1, out);
    }
    CQ_TRY(cq_eval_call(b->ev, callee, args.u.list->items, args.u.list->n, out));
    CQ_TRY(keep(b, o, *out));
    CQ_TRY(set_contents(b, o, *out));
    return set_state(b, o, *out);
}

static cq_status build_instance(building *b, const cq_instance *o, cq_val *out)
{
    cq_box *box = cq_ptr_map_get(&b->made, o->kind == CQ_INSTANCE_CYCLE ? o->around : o);
    bool    found;

    if (box) {
        *out = cq_val_of_box(box);
        return CQ_OK;
    }
    switch (o->kind) {
    case CQ_INSTANCE_OBJECT: return build_object(b, o, out);
    case CQ_INSTANCE_CALL: return build_call(b, o, out);
    case CQ_INSTANCE_CLASS:
        CQ_TRY(find_global(b->ev, o->class_name, out, &found));
        return found ? CQ_OK : unusable(b, o, out);
    default: return unusable(b, o, out);
    }
}

static cq_status build_leaf(cq_visit *w, cq_val v, cq_val *out)
{
    building          *b = w->user;
    const cq_instance *o = cq_instance_of(v);
    cq_status          status;

    *out = CQ_NONE;
    if (cq_quantized_of(v))
        return cq_quantized_tensor(cq_quantized_of(v), out);
    if (!o) {
        *out = cq_val_retain(v);
        return CQ_OK;
    }
    if (b->depth >= CQ_EVAL_MAX_LEVELS)
        return cq_fail(CQ_E_FORMAT, NULL, NULL, "the objects are nested more than %d deep",
                       CQ_EVAL_MAX_LEVELS);
    b->depth++;
    status = cq_eval_step(b->ev);
    if (status == CQ_OK)
        status = build_instance(b, o, out);
    b->depth--;
    if (status == CQ_OK)
        status = keep(b, o, *out);
    *out = status == CQ_OK ? cq_val_retain(*out) : CQ_NONE;
    return status;
}

cq_status cq_python_unpickle(cq_eval *ev, cq_val v, cq_val *out)
{
    cq_python            *py   = ev->program->python;
    const cq_python_host *host = py->host;
    building              b    = { .ev = ev, .visit = { .map = build_leaf, .user = &b } };
    cq_status             status;

    CQ_TRY(cq_list_new(&b.all, 0));
    py->host = NULL;
    status   = build(&b, v, out);
    py->host = host;
    cq_ptr_map_clear(&b.made);
    cq_val_release(cq_val_of_list(b.all));
    cq_visit_clear(&b.visit);
    return status;
}
