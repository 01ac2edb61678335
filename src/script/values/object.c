/* Objects, journaled changes, and the program's table of names. */
#include "script/eval.h"
#include "lang/desugar.h"
#include "script/flow/aliases.h"
#include "script/python/python.h"
#include "base/str.h"

#include <stdio.h>

/* ---- objects ---- */

static void object_free(cq_box *box)
{
    cq_object *t = (cq_object *)box;

    if (t->instances) {
        if (t->previous)
            t->previous->next = t->next;
        else
            *t->instances = t->next;
        if (t->next)
            t->next->previous = t->previous;
    }
    cq_val_release(t->self);
    cq_val_release(t->defaults);
    cq_vec_clear(&t->mro);
    for (size_t i = 0; i < t->attributes.n; i++)
        cq_val_release(t->attributes.items[i].value);
    cq_vec_clear(&t->attributes);
    cq_ptr_map_clear(&t->members);
    cq_frame_release(t->closure);
    cq_free(t);
}

cq_status cq_object_new(cq_object **out, cq_object_kind kind)
{
    *out = cq_box_new(sizeof **out, object_free);
    if (!*out)
        return CQ_E_NO_MEMORY;
    (*out)->kind = kind;
    return CQ_OK;
}

/* The object for a name or for the definition of a function. Such an object is created once and
 * kept by the program. */
static cq_status only_object(cq_program *p, cq_object_kind kind, const void *key, const char *name,
                             cq_val *out)
{
    cq_ptr_map *named = &p->named[kind];
    cq_object  *t     = cq_ptr_map_get(named, key);

    *out = cq_val_of_object(t);
    if (t)
        return CQ_OK;
    CQ_TRY(cq_object_new(&t, kind));
    t->text = name;
    *out    = cq_val_of_object(t);
    if (cq_ptr_map_set(named, key, t) == CQ_OK)
        return CQ_OK;
    cq_val_release(*out);
    return CQ_E_NO_MEMORY;
}

cq_status cq_eval_new_object(cq_eval *ev, cq_object_kind kind, const char *text, cq_val *out)
{
    const char *name = cq_name(ev->program, text);
    cq_object  *t;

    if (*text && !*name)
        return cq_no_memory();
    if (kind == CQ_OBJECT_NAMESPACE || kind == CQ_OBJECT_BUILTIN)
        return only_object(ev->program, kind, name, name, out);
    CQ_TRY(cq_object_new(&t, kind));
    t->text = name;
    *out    = cq_ctx_own(ev->cx, cq_val_of_object(t)); /* on failure, t has been released */
    return ev->cx->status;
}

cq_object *cq_object_of(cq_val v)
{
    return cq_box_of(v, object_free);
}

cq_val *cq_object_attribute(cq_object *object, const char *interned)
{
    for (size_t i = 0; i < object->attributes.n; i++)
        if (object->attributes.items[i].name == interned)
            return &object->attributes.items[i].value;
    return NULL;
}

const char *cq_eval_type_name(cq_val v)
{
    static const char *const kinds[] = {
        [CQ_OBJECT_NAMESPACE]   = "module",
        [CQ_OBJECT_BUILTIN]     = "function",
        [CQ_OBJECT_FUNCTION]    = "function",
        [CQ_OBJECT_NATIVE]      = "function",
        [CQ_OBJECT_METHOD]      = "method",
        [CQ_OBJECT_CLASS]       = "class",
        [CQ_OBJECT_INSTANCE]    = "object",
        [CQ_OBJECT_ENUM]        = "enum",
        [CQ_OBJECT_NAMED]       = "NamedTuple",
        [CQ_OBJECT_RANGE]       = "range",
        [CQ_OBJECT_ZIP]         = "zip",
        [CQ_OBJECT_OPTIONAL]    = "Optional",
        [CQ_OBJECT_UNDEFINED]   = "undefined",
        [CQ_OBJECT_MODULE]      = "module",
        [CQ_OBJECT_LAZY]        = "module",
        [CQ_OBJECT_PROPERTY]    = "property",
        [CQ_OBJECT_STATIC]      = "staticmethod",
        [CQ_OBJECT_CLASSMETHOD] = "classmethod",
        [CQ_OBJECT_SUPER]       = "super",
        [CQ_OBJECT_ITERATOR]    = "iterator",
        [CQ_OBJECT_GENERATOR]   = "generator",
        [CQ_OBJECT_STATE]       = "state",
        [CQ_OBJECT_SLICE]       = "slice",
        [CQ_OBJECT_ELLIPSIS]    = "ellipsis",
        [CQ_OBJECT_DTYPE]       = "dtype",
    };
    cq_object *t = cq_object_of(v);

    if (!t)
        return cq_val_kind_name(v.kind);
    return t->cls ? t->cls->name : kinds[t->kind];
}

cq_status cq_object_new_named(cq_val *out, const cq_object *like, cq_val items)
{
    cq_object *t;

    CQ_TRY(cq_object_new(&t, CQ_OBJECT_NAMED));
    t->cls  = like->cls;
    t->self = cq_val_retain(items);
    *out    = cq_val_of_object(t);
    return CQ_OK;
}

cq_status cq_eval_new_named(cq_eval *ev, const cq_object *like, cq_val items, cq_val *out)
{
    CQ_TRY(cq_object_new_named(out, like, items));
    return cq_eval_own(ev, *out, out);
}

cq_status cq_eval_new_instance(cq_eval *ev, const cq_object *cls, cq_val *out)
{
    cq_object *t;

    CQ_TRY(cq_object_new(&t, CQ_OBJECT_INSTANCE));
    t->cls       = cls->cls;
    t->unit      = cls->unit;
    t->qualified = cls->qualified;
    return cq_eval_own(ev, cq_val_of_object(t), out);
}

cq_val cq_val_unwrap(cq_val v)
{
    cq_object *t = cq_object_as(v, CQ_OBJECT_OPTIONAL);

    return t ? t->self : v;
}

/* ---- frames ---- */

cq_val *cq_frame_find(cq_frame *f, const char *name)
{
    for (; f; f = f->outer) {
        size_t at = (size_t)(uintptr_t)cq_ptr_map_get(&f->slots, name);

        if (at)
            return &f->values.items[at - 1];
    }
    return NULL;
}

/* The frame that holds a variable, which may be declared global or nonlocal. */
static cq_frame *home_of(cq_frame *f, const char *name)
{
    cq_frame *declared = f->foreign.n ? cq_ptr_map_get(&f->foreign, name) : NULL;

    return declared ? declared : f;
}

cq_status cq_frame_set(cq_eval *ev, cq_frame *frame, const char *name, cq_val v)
{
    cq_frame *f  = home_of(frame, name);
    size_t    at = (size_t)(uintptr_t)cq_ptr_map_get(&f->slots, name);

    if (!at) {
        cq_object *undefined = NULL;

        /* A new variable has no value on the paths that do not take this branch. */
        if (ev->journaling) {
            CQ_TRY(cq_object_new(&undefined, CQ_OBJECT_UNDEFINED));
            undefined->text = name;
        }
        if (cq_vec_push(&f->values, undefined ? cq_val_of_object(undefined) : CQ_NONE) != CQ_OK) {
            cq_val_release(cq_val_of_object(undefined));
            return CQ_E_NO_MEMORY;
        }
        at = f->values.n;
        CQ_TRY(cq_ptr_map_set(&f->slots, name, (void *)(uintptr_t)at));
    }
    if (ev->journaling)
        return cq_slot_set(ev, &(cq_change){ .kind = CQ_CHANGE_SLOT, .where = f, .index = at - 1 },
                           v);
    cq_val_set(&f->values.items[at - 1], v); /* the most frequent case */
    return CQ_OK;
}

/* ---- the program ---- */

cq_status cq_program_new(cq_program **out)
{
    cq_program *p = *out = cq_zalloc(sizeof *p);

    if (!p)
        return CQ_E_NO_MEMORY;
    p->version   = 10;
    p->max_steps = CQ_EVAL_MAX_STEPS;
    p->available = cq_alloc_available();
    p->arena     = cq_arena_new();
    if (!p->arena) {
        cq_free(p);
        *out = NULL;
        return CQ_E_NO_MEMORY;
    }
    return CQ_OK;
}

void cq_program_free(cq_program *p)
{
    if (!p)
        return;
    cq_python_free(p);
    cq_val_release(p->constants);
    cq_map_clear(&p->used_definitions);
    for (size_t i = 0; i < p->classes.n; i++)
        cq_val_release(cq_val_of_object(p->classes.entries[i].value));
    for (size_t i = 0; i < p->all_units.n; i++)
        cq_unit_free(p->all_units.items[i]);
    cq_vec_clear(&p->all_units);
    cq_map_clear(&p->units);
    cq_map_clear(&p->classes);
    for (size_t k = 0; k < sizeof p->named / sizeof *p->named; k++) {
        for (size_t i = 0; i < p->named[k].cap; i++)
            if (p->named[k].slots[i].key)
                cq_val_release(cq_val_of_object(p->named[k].slots[i].value));
        cq_ptr_map_clear(&p->named[k]);
    }
    cq_ptr_map_clear(&p->globals);
    cq_intern_clear(&p->names);
    cq_arena_free(p->arena);
    cq_free(p);
}

const char *cq_name(cq_program *p, const char *text)
{
    const char *name = cq_intern_text(&p->names, text);

    return name ? name : "";
}

static cq_status add_unit(cq_program *p, const char *qualifier, const char *file, const char *text,
                          size_t len, cq_parse_mode what, cq_unit **out)
{
    CQ_TRY(cq_parse(out, &p->names, file, text, len, what));
    if (cq_desugar(*out) != CQ_OK || cq_vec_push(&p->all_units, *out) != CQ_OK) {
        cq_unit_free(*out);
        return CQ_E_NO_MEMORY;
    }
    (*out)->qualifier = cq_name(p, qualifier);
    return cq_map_set(&p->units, qualifier, *out);
}

cq_status cq_program_add_source(cq_program *p, const char *file, const char *text, size_t len)
{
    return add_unit(p, "", file, text, len, CQ_PARSE_FILE, &p->main);
}

cq_status cq_program_add_definitions(cq_program *p, const char *file, const char *text, size_t len)
{
    char     qualifier[32];
    cq_unit *unit;

    snprintf(qualifier, sizeof qualifier, CQ_DEFINITIONS "%zu", p->n_definitions);
    CQ_TRY(add_unit(p, qualifier, file, text, len, CQ_PARSE_FILE, &unit));
    p->n_definitions++;
    return CQ_OK;
}

/* The unit of a qualifier; *out is NULL if there is no such code. */
static cq_status unit_of(cq_program *p, const char *qualifier, cq_unit **out)
{
    cq_source code = { 0 };
    cq_status status;
    bool      found;

    *out = cq_map_get(&p->units, qualifier);
    if (*out || cq_map_has(&p->units, qualifier))
        return CQ_OK;
    CQ_TRY(cq_functional_source(&code, &found, p->arena, qualifier));
    if (found)
        return add_unit(p, qualifier, code.file, code.text, code.len, CQ_PARSE_FILE, out);
    if (!p->load_code)
        return CQ_OK;
    status = p->load_code(p, qualifier, &code);
    if (status == CQ_E_NOT_FOUND)
        return cq_map_set(&p->units, qualifier, NULL);
    CQ_TRY(status);
    CQ_TRY(add_unit(p, qualifier, code.file, code.text, code.len, CQ_PARSE_PRINTED, out));
    (*out)->source.origin = code.origin;
    (*out)->source.owner  = code.owner;
    (*out)->source.notes  = code.notes;
    return CQ_OK;
}

static cq_status class_object(cq_program *p, const char *qualified, cq_unit *unit,
                              cq_ast_class *cls, cq_object **out)
{
    cq_object *t = cq_map_get(&p->classes, qualified);

    if (!t) {
        CQ_TRY(cq_object_new(&t, CQ_OBJECT_CLASS));
        t->unit      = unit;
        t->cls       = cls;
        t->qualified = cq_name(p, qualified);
        if (cq_map_set(&p->classes, qualified, t) != CQ_OK) {
            cq_val_release(cq_val_of_object(t));
            return CQ_E_NO_MEMORY;
        }
    }
    *out = t;
    return CQ_OK;
}

/* Splits "a.b.C" into unit a.b and name C. */
static cq_status look_up(cq_program *p, const char *qualified, cq_unit **unit, cq_ast_class **cls,
                         cq_ast_def **def)
{
    const char *dot = strrchr(qualified, '.');
    char       *qualifier;
    const char *name;
    cq_status   status;

    *cls      = NULL;
    *def      = NULL;
    qualifier = cq_strndup(qualified, dot ? (size_t)(dot - qualified) : 0);
    if (!qualifier)
        return CQ_E_NO_MEMORY;
    status = unit_of(p, qualifier, unit);
    cq_free(qualifier);
    CQ_TRY(status);
    if (!*unit)
        return CQ_OK;
    name = cq_name(p, dot ? dot + 1 : qualified);
    *cls = cq_unit_class(*unit, name);
    *def = *cls ? NULL : cq_unit_def(*unit, name);
    return CQ_OK;
}

cq_status cq_program_class(cq_program *p, const char *qualified, cq_object **out)
{
    cq_unit      *unit;
    cq_ast_class *cls;
    cq_ast_def   *def;

    *out = NULL;
    CQ_TRY(look_up(p, qualified, &unit, &cls, &def));
    return cls ? class_object(p, qualified, unit, cls, out) : CQ_OK;
}

cq_status cq_program_find(cq_program *p, const char *qualified, cq_val *out)
{
    cq_unit      *unit;
    cq_ast_class *cls;
    cq_ast_def   *def;
    cq_object    *t;

    CQ_TRY(look_up(p, qualified, &unit, &cls, &def));
    if (cls) {
        CQ_TRY(class_object(p, qualified, unit, cls, &t));
        *out = cq_val_of_object(t);
        return CQ_OK;
    }
    qualified = cq_name(p, qualified);
    if (!def)
        return only_object(p, CQ_OBJECT_NAMESPACE, qualified, qualified, out);
    CQ_TRY(only_object(p, CQ_OBJECT_FUNCTION, def, qualified, out));
    t       = cq_object_of(*out);
    t->unit = unit;
    t->def  = def;
    return CQ_OK;
}
