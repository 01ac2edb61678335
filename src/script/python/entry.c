/* Finds the model of Python source: the value of an entry expression, or the only module class or
 * builder function of the file. */
#include "script/python/unpickle.h"
#include "script/script.h"
#include "base/str.h"

#include <stdio.h>

/* ---- the tree of modules ---- */

static cq_dict *group_of(cq_object *module, const char *name)
{
    cq_dict *own = cq_instance_dict(module);
    cq_val  *v   = own ? cq_dict_get_text(own, name) : NULL;

    return v ? cq_python_dict_of(*v) : NULL;
}

bool cq_python_is_module(cq_val v)
{
    cq_object *t = cq_object_as(v, CQ_OBJECT_INSTANCE);

    return t && t->type && group_of(t, "_modules");
}

cq_dict *cq_python_children(cq_object *module)
{
    return group_of(module, "_modules");
}

cq_dict *cq_python_tensors(cq_object *module, bool parameters)
{
    return group_of(module, parameters ? "_parameters" : "_buffers");
}

bool cq_python_is_persistent(cq_object *module, const char *buffer)
{
    cq_dict   *own   = cq_instance_dict(module);
    cq_val    *v     = own ? cq_dict_get_text(own, "_non_persistent_buffers_set") : NULL;
    cq_object *set   = v ? cq_object_as(*v, CQ_OBJECT_INSTANCE) : NULL;
    cq_dict   *items = set ? group_of(set, "_items") : NULL; /* the class `set` of lib/python */

    return !items || !cq_dict_get_text(items, buffer);
}

static cq_status set_path(void *user, cq_object *module, const char *path)
{
    if (module->type && group_of(module, "_modules"))
        module->text = cq_name(user, path);
    return CQ_OK;
}

cq_status cq_python_name_modules(cq_script *s)
{
    return cq_script_each_module(s, set_path, s->program);
}

/* Runs the package of a file that is imported as package.name, as Python does, unless it has
 * already run. */
static cq_status run_package(cq_eval *ev)
{
    const cq_object *main = ev->program->python->main;
    const char      *dot  = strrchr(main->text, '.');
    char             name[512];
    cq_object       *package = NULL;
    size_t           i       = 0;

    if (!dot || (size_t)(dot - main->text) >= sizeof name)
        return CQ_OK;
    snprintf(name, sizeof name, "%.*s", (int)(dot - main->text), main->text);
    while (i < main->unit->n_imports && strcmp(main->unit->imports[i].module, name) != 0)
        i++;
    if (i == main->unit->n_imports)
        return CQ_OK;
    CQ_TRY(cq_python_module(ev->program, name, &package));
    return package ? cq_python_run(ev, package) : CQ_OK;
}

/* ---- candidates ---- */

static cq_status find_class(cq_eval *ev, const char *module, const char *name, cq_object **out)
{
    cq_object *torch = NULL;
    cq_val     v;

    *out = NULL;
    CQ_TRY(cq_python_module(ev->program, module, &torch));
    if (!torch)
        return CQ_OK;
    CQ_TRY(cq_python_member(ev, torch, name, &v));
    *out = cq_object_as(v, CQ_OBJECT_CLASS);
    return CQ_OK;
}

static bool is_own(const cq_object *t, const cq_unit *unit)
{
    return t && t->unit == unit;
}

static cq_status list_candidates(cq_eval *ev, cq_val *classes, cq_val *functions)
{
    const cq_python *py = ev->program->python;
    const cq_frame  *f  = py->main->globals;
    cq_object       *base;

    CQ_TRY(find_class(ev, "torch.nn", "Module", &base));
    CQ_TRY(cq_eval_list(ev, NULL, 0, CQ_VAL_LIST, classes));
    CQ_TRY(cq_eval_list(ev, NULL, 0, CQ_VAL_LIST, functions));
    for (size_t i = 0; i < f->values.n; i++) {
        const cq_val v = f->values.items[i];
        cq_object   *t = cq_object_of(v);

        if (!is_own(t, py->main->unit))
            continue;
        if (t->kind == CQ_OBJECT_CLASS && base && cq_class_is_a(t, base))
            CQ_TRY(cq_list_push(classes->u.list, v));
        if (t->kind == CQ_OBJECT_FUNCTION && t->def->name && t->def->name[0] != '_')
            CQ_TRY(cq_list_push(functions->u.list, v));
    }
    return CQ_OK;
}

/* The outermost class is the model: the only one that no other class of the file extends or uses. A
 * class uses another if its text contains the other's name. */
static bool is_used_in(const cq_object *cls, const cq_object *other)
{
    const char  *name = cls->cls->name;
    const size_t len  = strlen(name);

    if (cq_class_is_a(other, cls))
        return true;
    for (size_t i = 0; i < other->cls->body.n; i++) {
        const cq_ast_stmt *s = other->cls->body.items[i];
        const char        *text, *end, *p;

        if (s->kind != CQ_S_DEF || i + 1 > other->cls->body.n)
            continue;
        text = other->unit->source.text + s->at.start;
        end  = i + 1 < other->cls->body.n
                   ? other->unit->source.text + other->cls->body.items[i + 1]->at.start
                   : text + strcspn(text, "\0");
        if (i + 1 == other->cls->body.n) { /* up to the next line that begins in column 0 */
            for (end = text; *end && !(end[0] == '\n' && end[1] && !strchr(" \t\n#)", end[1]));
                 end++)
                ;
        }
        for (p = text; (p = strstr(p, name)) && p + len <= end; p += len)
            if ((p == text || !(p[-1] == '_' || (p[-1] >= 'a' && p[-1] <= 'z') ||
                                (p[-1] >= 'A' && p[-1] <= 'Z'))) &&
                !(p[len] == '_' || (p[len] >= '0' && p[len] <= '9') ||
                  (p[len] >= 'a' && p[len] <= 'z') || (p[len] >= 'A' && p[len] <= 'Z')))
                return true;
    }
    return false;
}

static void keep_outermost(cq_list *classes)
{
    for (size_t i = classes->n; i-- > 0;) {
        bool used = false;

        for (size_t k = 0; k < classes->n && !used; k++)
            used = k != i &&
                   is_used_in(cq_object_of(classes->items[i]), cq_object_of(classes->items[k]));
        if (!used || classes->n == 1)
            continue;
        cq_val_release(classes->items[i]);
        memmove(classes->items + i, classes->items + i + 1,
                (classes->n - i - 1) * sizeof *classes->items);
        classes->n--;
    }
}

static void add_names(cq_str *s, const cq_list *list)
{
    for (size_t i = 0; i < list->n; i++) {
        const cq_object *t = cq_object_of(list->items[i]);

        cq_str_printf(s, "%s%s", s->len ? ", " : "", t->cls ? t->cls->name : t->def->name);
    }
}

static cq_status choose(cq_eval *ev, cq_val *out)
{
    cq_val    classes, functions;
    cq_str    names = { 0 };
    cq_status status;

    CQ_TRY(list_candidates(ev, &classes, &functions));
    for (size_t i = 0; i < functions.u.list->n; i++)
        if (strcmp(cq_object_of(functions.u.list->items[i])->def->name, "forward") == 0 &&
            !classes.u.list->n) {
            *out = functions.u.list->items[i];
            return CQ_OK;
        }
    if (classes.u.list->n > 1)
        keep_outermost(classes.u.list);
    if (classes.u.list->n == 1 || (!classes.u.list->n && functions.u.list->n == 1)) {
        *out = classes.u.list->n ? classes.u.list->items[0] : functions.u.list->items[0];
        return CQ_OK;
    }
    add_names(&names, classes.u.list);
    add_names(&names, functions.u.list);
    status = cq_fail(CQ_E_NOT_FOUND, ev->program->main->source.file,
                     "choose one with --entry, for example --entry 'Net(num_classes=10)'",
                     names.len ? "the file defines several models and functions: %s"
                               : "the file defines no module class and no function%s",
                     cq_str_text(&names));
    cq_str_clear(&names);
    return status;
}

/* ---- the entry ---- */

/* A hint with the names that a misspelt entry may mean. */
static cq_status add_candidates(cq_eval *ev, cq_status status)
{
    cq_error_record failure;
    cq_val          classes, functions;
    cq_str          names = { 0 };

    if (status != CQ_E_NOT_FOUND || strncmp(cq_last_error()->where, "--entry", 7) != 0)
        return status;
    cq_error_save(&failure);
    if (list_candidates(ev, &classes, &functions) == CQ_OK) {
        add_names(&names, classes.u.list);
        add_names(&names, functions.u.list);
    }
    cq_error_restore(&failure);
    if (names.len)
        cq_error_add_hint(status, "the file defines: %s", cq_str_text(&names));
    cq_str_clear(&names);
    return status;
}

static cq_status eval_text(cq_eval *ev, const char *text, cq_val *out)
{
    cq_program *p = ev->program;
    cq_unit    *unit;

    CQ_TRY(cq_parse(&unit, &p->names, "--entry", text, strlen(text), CQ_PARSE_EXPR));
    if (cq_vec_push(&p->all_units, unit) != CQ_OK) {
        cq_unit_free(unit);
        return CQ_E_NO_MEMORY;
    }
    unit->qualifier = p->python->main->text;
    unit->globals   = p->python->main->globals;
    {
        cq_frame *outer = ev->frame, *f;
        cq_status status;

        CQ_TRY(cq_frame_new(&f, &(cq_object){ .unit = unit }));
        ev->frame = f;
        status    = cq_eval_expr(ev, unit->expr, out);
        ev->frame = outer;
        cq_frame_end(ev, f);
        return status;
    }
}

/* Calls the constructor of a class that was given without arguments; an error shows the
 * parameters. */
static cq_status construct(cq_eval *ev, cq_val *v)
{
    cq_object *cls  = cq_object_as(*v, CQ_OBJECT_CLASS);
    cq_val    *init = cls ? cq_class_find(cls, cq_name(ev->program, "__init__"), NULL) : NULL;
    cq_object *fn   = init ? cq_object_as(*init, CQ_OBJECT_FUNCTION) : NULL;
    cq_str     text = { 0 };
    cq_status  status;

    for (size_t i = 1; fn && i < fn->def->n_params; i++) {
        const cq_ast_param *p = &fn->def->params[i];

        if (p->value || p->stars)
            continue;
        cq_script_describe(&text, fn->def, &fn->unit->source, true);
        status = cq_fail(
            CQ_E_ARGUMENT, cls->cls->name, "give the arguments: --entry 'NAME(ARGUMENTS)'",
            "the constructor of %s needs arguments: %s", cls->cls->name, cq_str_text(&text));
        cq_str_clear(&text);
        return status;
    }
    return cls ? cq_eval_call(ev, *v, NULL, 0, v) : CQ_OK;
}

static bool is_builder(cq_val v)
{
    const cq_object *t = cq_object_as(v, CQ_OBJECT_FUNCTION);

    for (size_t i = 0; t && i < t->def->n_params; i++)
        if (!t->def->params[i].value && !t->def->params[i].stars)
            return false;
    return t != NULL;
}

/* *out is retained. */
static cq_status make(cq_eval *ev, const char *entry, cq_val *out)
{
    struct cq_pickled *pickled = ev->script->pickled;
    cq_val             v, made;

    CQ_TRY(run_package(ev));
    CQ_TRY(cq_python_run(ev, ev->program->python->main));
    ev->frame = ev->program->python->main->globals;
    if (pickled) {
        CQ_TRY(cq_pickled_make(ev, pickled, entry, &v));
        *out = cq_val_retain(v);
        return CQ_OK;
    }
    if (entry)
        CQ_TRY(add_candidates(ev, eval_text(ev, entry, &v)));
    else
        CQ_TRY(choose(ev, &v));
    CQ_TRY(construct(ev, &v));
    /* A function may build the model if all its arguments have defaults. */
    if (!cq_python_is_module(v) && is_builder(v)) {
        CQ_TRY(cq_eval_call(ev, v, NULL, 0, &made));
        if (cq_python_is_module(made))
            v = made;
    }
    if (!cq_python_is_module(v) && !cq_object_as(v, CQ_OBJECT_FUNCTION) &&
        !(cq_object_as(v, CQ_OBJECT_INSTANCE) && cq_python_has_special(ev, v, "__call__")))
        return cq_fail(CQ_E_TYPE, "--entry", "expected a module, a class of modules or a function",
                       "the entry is of type %s", cq_eval_type_name(v));
    *out = cq_val_retain(v);
    return CQ_OK;
}

CQ_API cq_status cq_script_make(cq_script *s, const char *entry)
{
    CQ_NEED(s);
    cq_eval          ev = { .program = s->program, .script = s };
    cq_val           made;
    cq_script_limits before;
    cq_status        status;

    if (!s->program->python)
        return cq_fail(CQ_E_ARGUMENT, entry, NULL,
                       "an entry expression is for Python source, which imports torch");
    CQ_TRY(cq_eval_new_context(&ev));
    before = cq_script_begin(&ev, s, 0);
    status = cq_script_end(&ev, s, &before, make(&ev, entry, &made));
    cq_ctx_free(ev.cx);
    cq_val_release(ev.raised);
    cq_val_release(ev.handled);
    CQ_TRY(status);
    cq_val_release(s->root);
    s->root = made;
    if (entry != s->entry) {
        cq_free(s->entry);
        s->entry = entry ? cq_strdup(entry) : NULL;
    }
    return cq_python_name_modules(s);
}

static cq_status tell_candidates(cq_eval *ev, cq_python_candidate_fn fn, void *user)
{
    cq_val classes, functions;

    CQ_TRY(cq_python_run(ev, ev->program->python->main));
    CQ_TRY(list_candidates(ev, &classes, &functions));
    for (size_t i = 0; i < classes.u.list->n; i++) {
        cq_object *cls  = cq_object_of(classes.u.list->items[i]);
        cq_val    *init = cq_class_find(cls, cq_name(ev->program, "__init__"), NULL);

        CQ_TRY(
            fn(user, cls->cls->name, init ? cq_object_as(*init, CQ_OBJECT_FUNCTION) : NULL, true));
    }
    for (size_t i = 0; i < functions.u.list->n; i++) {
        const cq_object *t = cq_object_of(functions.u.list->items[i]);

        CQ_TRY(fn(user, t->def->name, t, false));
    }
    return CQ_OK;
}

cq_status cq_python_each_candidate(cq_script *s, cq_python_candidate_fn fn, void *user)
{
    cq_eval          ev = { .program = s->program, .script = s };
    cq_script_limits before;
    cq_status        status;

    CQ_TRY(cq_eval_new_context(&ev));
    before = cq_script_begin(&ev, s, 0);
    status = cq_script_end(&ev, s, &before, tell_candidates(&ev, fn, user));
    cq_ctx_free(ev.cx);
    return status;
}

CQ_API cq_status cq_script_add_path(cq_script *s, const char *folder)
{
    CQ_NEED(s && folder);
    if (!s->program->python)
        return cq_fail(CQ_E_ARGUMENT, folder, NULL, "--path is for Python source");
    return cq_python_add_path(s->program, folder);
}

CQ_API bool cq_script_is_python(const cq_script *s)
{
    CQ_NEED_ELSE(s, false);
    return s->program->python != NULL;
}

/* ---- parameters of the entry ---- */

const cq_object *cq_python_entry_function(cq_script *s, size_t *n_self)
{
    cq_object *root = cq_object_of(s->root);
    cq_val    *v    = root && root->kind == CQ_OBJECT_INSTANCE && root->type
                          ? cq_class_find(root->type, cq_name(s->program, "forward"), NULL)
                          : NULL;

    *n_self = v != NULL;
    return v                                          ? cq_object_as(*v, CQ_OBJECT_FUNCTION)
           : root && root->kind == CQ_OBJECT_FUNCTION ? root
                                                      : NULL;
}
