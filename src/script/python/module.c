/* Modules of Python source: search, execution, and import statements. A name is searched beside the
 * main file, then in calque's library (lib/torch, lib/python), then in the folders of --path. The
 * library comes before --path, which may be a folder of installed packages with the real torch and
 * numpy in it. An import binds a name without running the module; the module is run when the name
 * is first used. Therefore an unused `import matplotlib` is harmless, and modules may import each
 * other. Inside of a try statement an import is resolved at once, because its failure decides the
 * branch. */
#include "script/python/python.h"
#include "base/file.h"
#include "base/path.h"
#include "base/str.h"
#include "lang/desugar.h"
#include "lang/library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SOURCE = 16 << 20, PATH_SIZE = 4096, NAME_SIZE = 512 };

/* ---- search ---- */

static void file_free(cq_source_file *f)
{
    if (f)
        cq_free(f->path);
    cq_free(f);
}

static cq_status file_new(cq_source_file **out, const char *path)
{
    cq_source_file *f = *out = cq_zalloc(sizeof *f);

    if (!f)
        return CQ_E_NO_MEMORY;
    f->path = cq_strdup(path);
    if (f->path)
        return CQ_OK;
    file_free(f);
    *out = NULL;
    return CQ_E_NO_MEMORY;
}

/* "a.b" as "folder/a/b" */
static bool as_path(char *out, size_t size, const char *folder, const char *name,
                    const char *suffix)
{
    const int    n    = snprintf(out, size, "%s%s%s%s", folder, *folder ? "/" : "", name, suffix);
    const size_t skip = strlen(folder) + (*folder != '\0');

    if (n < 0 || (size_t)n >= size)
        return false;
    for (size_t i = 0; name[i]; i++)
        if (name[i] == '.')
            out[skip + i] = '/';
    return true;
}

static cq_status find_in_folder(const char *folder, const char *name, cq_source_file **out)
{
    static const char *const suffixes[] = { "/__init__.py", ".py", "" };
    char                     path[PATH_SIZE];

    for (size_t i = 0; i < 3; i++) {
        if (!as_path(path, sizeof path, folder, name, suffixes[i]) ||
            cq_file_type_of(path) != (i == 2 ? CQ_FILE_FOLDER : CQ_FILE_REGULAR))
            continue;
        CQ_TRY(file_new(out, path));
        (*out)->is_package = i != 1;
        (*out)->is_folder  = i == 2;
        return CQ_OK;
    }
    return CQ_OK;
}

static bool is_torch(const char *name)
{
    return cq_starts_with(name, "torch") && (!name[5] || name[5] == '.');
}

/* Whether a module always comes from the library: torch, and the loader of torchvision's operators
 * in C++. */
static bool is_replaced(const char *name)
{
    return is_torch(name) || strcmp(name, "torchvision.extension") == 0;
}

/* Searches a folder of lib/; "" is lib itself. */
static cq_status find_under(const char *under, const char *name, cq_source_file **out)
{
    const char        *folder = getenv("CALQUE_LIB");
    const cq_lib_text *t;
    char               path[PATH_SIZE], shown[PATH_SIZE];

    for (int package = 1; package >= 0; package--) {
        if (!as_path(path, sizeof path, under, name, package ? "/__init__.py" : ".py"))
            return CQ_OK;
        t = cq_library_text(path);
        if (!t)
            continue;
        snprintf(shown, sizeof shown, "%.500s/%.3000s", folder && *folder ? folder : "lib", path);
        CQ_TRY(file_new(out, shown));
        (*out)->is_package = package;
        (*out)->text       = folder && *folder ? NULL : t->text;
        (*out)->len        = t->len;
        return CQ_OK;
    }
    return CQ_OK;
}

/* lib/torch replaces PyTorch; lib/python has the standard modules, einops, numpy and PIL. */
static cq_status find_in_library(const char *name, cq_source_file **out)
{
    return find_under(is_torch(name) ? "" : "python", name, out);
}

static cq_status find_file(cq_python *py, const char *name, cq_source_file **out)
{
    *out = NULL;
    if (!*name || strstr(name, "..") || strchr(name, '/'))
        return CQ_OK;
    for (size_t i = 0; i < py->roots.n && !*out && !is_replaced(name); i++) {
        CQ_TRY(find_in_folder(py->roots.items[i], name, out));
        /* A data folder beside the file does not hide a module of the library. */
        if (*out && (*out)->is_folder) {
            cq_source_file *other = NULL;

            CQ_TRY(find_in_library(name, &other));
            if (other) {
                file_free(*out);
                *out = other;
            }
        }
    }
    if (!*out)
        CQ_TRY(find_in_library(name, out));
    for (size_t i = 0; i < py->paths.n && !*out && !is_replaced(name); i++)
        CQ_TRY(find_in_folder(py->paths.items[i], name, out));
    if (!*out) /* lib/torchvision, unless the user has installed the package */
        CQ_TRY(find_under("", name, out));
    return CQ_OK;
}

/* ---- module objects ---- */

static cq_status new_module(cq_program *p, const char *name, cq_source_file *file, cq_object **out)
{
    cq_object *t;

    CQ_TRY(cq_object_new(&t, CQ_OBJECT_MODULE));
    t->text = cq_name(p, name);
    t->file = file;
    if (cq_map_set(&p->python->modules, name, t) != CQ_OK) {
        t->file = NULL;
        cq_val_release(cq_val_of_object(t));
        return CQ_E_NO_MEMORY;
    }
    *out = t;
    return CQ_OK;
}

cq_status cq_python_module(cq_program *p, const char *name, cq_object **out)
{
    cq_source_file *file;
    cq_status       status;

    *out = cq_map_get(&p->python->modules, name);
    if (*out)
        return CQ_OK;
    CQ_TRY(find_file(p->python, name, &file));
    if (!file)
        return CQ_OK;
    status = new_module(p, name, file, out);
    if (status != CQ_OK)
        file_free(file);
    return status;
}

static cq_status set_text(cq_eval *ev, cq_frame *f, const char *name, const char *text)
{
    cq_text  *t;
    cq_status status;

    CQ_TRY(cq_text_new(&t, text, strlen(text)));
    status = cq_frame_set(ev, f, cq_name(ev->program, name), cq_val_of_text(t));
    cq_val_release(cq_val_of_text(t));
    return status;
}

/* The package to which relative imports of a module refer. */
static void package_of(const cq_object *module, char *out, size_t size)
{
    char *dot;

    snprintf(out, size, "%s", module->text);
    if (module->file && module->file->is_package)
        return;
    dot                = strrchr(out, '.');
    *(dot ? dot : out) = '\0';
}

static cq_status set_names(cq_eval *ev, cq_object *module)
{
    const cq_python *py = ev->program->python;
    char             package[NAME_SIZE];

    package_of(module, package, sizeof package);
    CQ_TRY(set_text(ev, module->globals, "__name__",
                    module == py->main && py->is_script ? "__main__" : module->text));
    CQ_TRY(set_text(ev, module->globals, "__package__", package));
    CQ_TRY(set_text(ev, module->globals, "__file__", module->file->path));
    return cq_frame_set(ev, module->globals, cq_name(ev->program, "__doc__"), CQ_NONE);
}

static cq_status parse_module(cq_program *p, cq_object *module)
{
    cq_source_file *f    = module->file;
    char           *read = NULL;
    const char     *text = f->text ? f->text : "";
    size_t          len  = f->text ? f->len : 0;
    cq_unit        *unit;
    cq_status       status = CQ_OK;

    if (!f->text && !f->is_folder) {
        CQ_TRY(cq_file_read(&read, &len, f->path));
        text = read;
    }
    if (len > MAX_SOURCE)
        status = cq_fail(CQ_E_UNSUPPORTED, f->path, NULL, "the file is larger than %d MiB",
                         MAX_SOURCE >> 20);
    if (status == CQ_OK)
        status = cq_parse(&unit, &p->names, f->path, text, len, CQ_PARSE_FILE);
    cq_free(read);
    CQ_TRY(status);
    if (cq_vec_push(&p->all_units, unit) != CQ_OK) {
        cq_unit_free(unit);
        return CQ_E_NO_MEMORY;
    }
    unit->qualifier = module->text;
    module->unit    = unit;
    return cq_desugar_module(unit);
}

static cq_status new_globals(cq_program *p, cq_object *module)
{
    CQ_TRY(cq_frame_new(&module->globals, module));
    if (cq_vec_push(&p->python->frames, module->globals) != CQ_OK) {
        cq_frame_release(module->globals);
        module->globals = NULL;
        return CQ_E_NO_MEMORY;
    }
    module->unit->globals = module->globals;
    return CQ_OK;
}

/* A module runs in a separate context: its definitions are not part of a graph that is being
 * captured, and they persist, whichever branch needed them first. */
static cq_status run_text(cq_eval *ev, cq_object *module)
{
    cq_eval   inner = { .program = ev->program,
                        .script  = ev->script,
                        .depth   = ev->depth + 1,
                        .steps   = ev->steps,
                        .frame   = module->globals };
    cq_status status;

    if (ev->depth >= CQ_EVAL_MAX_DEPTH)
        return cq_fail(CQ_E_UNSUPPORTED, module->text, NULL, "calls are nested more than %d deep",
                       CQ_EVAL_MAX_DEPTH);
    CQ_TRY(cq_eval_new_context(&inner));
    inner.cx->default_float = ev->cx->default_float;
    status                  = set_names(&inner, module);
    if (status == CQ_OK)
        status = cq_eval_block(&inner, &module->unit->body);
    ev->steps             = inner.steps;
    ev->cx->default_float = inner.cx->default_float; /* a module may set it for the program */
    if (status != CQ_OK) {
        cq_val_set(&ev->raised, inner.raised);
        ev->raised_class = inner.raised_class;
    }
    cq_val_release(inner.raised);
    cq_val_release(inner.handled);
    cq_ctx_free(inner.cx);
    cq_vec_clear(&inner.journal);
    return status;
}

/* The absolute name of ".x" or "..x" in a module. Names beyond the top-level package refer to files
 * beside the main one: a folder of sources is often used without being a package. */
static void absolute(const cq_object *module, const char *name, char *out, size_t size)
{
    size_t dots = strspn(name, ".");
    char  *dot;

    if (!dots) {
        snprintf(out, size, "%s", name);
        return;
    }
    package_of(module, out, size);
    for (size_t i = 1; i < dots; i++) {
        dot                = strrchr(out, '.');
        *(dot ? dot : out) = '\0';
    }
    if (name[dots] && strlen(out) + strlen(name + dots) + 2 < size) {
        if (*out)
            strcat(out, ".");
        strcat(out, name + dots);
    }
}

/* A module that imports names of its own package runs after the package, as in Python: the package
 * may import everything of the module (`from .x import *`), which needs the module to be complete.
 */
static cq_status run_packages(cq_eval *ev, const cq_object *module)
{
    for (size_t i = 0; i < module->unit->n_imports; i++) {
        char       name[NAME_SIZE];
        cq_object *package = NULL;
        size_t     len;

        absolute(module, module->unit->imports[i].module, name, sizeof name);
        len = strlen(name);
        if (!len || !cq_starts_with(module->text, name) || module->text[len] != '.')
            continue;
        CQ_TRY(cq_python_module(ev->program, name, &package));
        if (package && package != ev->program->python->main)
            CQ_TRY(cq_python_run(ev, package));
    }
    return CQ_OK;
}

cq_status cq_python_run(cq_eval *ev, cq_object *module)
{
    cq_status status;

    if (module->file->state == CQ_MODULE_NEW) {
        module->file->state = CQ_MODULE_RUNNING;
        if (!module->unit)
            CQ_TRY(parse_module(ev->program, module));
        module->file->state = CQ_MODULE_WAITING;
        CQ_TRY(run_packages(ev, module));
    }
    if (module->file->state != CQ_MODULE_WAITING) /* done, or running further up */
        return CQ_OK;
    module->file->state = CQ_MODULE_RUNNING;
    CQ_TRY(new_globals(ev->program, module));
    status              = run_text(ev, module);
    module->file->state = CQ_MODULE_DONE;
    return status;
}

/* ---- members ---- */

static cq_status lazy_new(cq_eval *ev, cq_object *module, const char *dotted, const char *name,
                          cq_val *out)
{
    cq_object *t;

    CQ_TRY(cq_object_new(&t, CQ_OBJECT_LAZY));
    t->text      = name;
    t->qualified = cq_name(ev->program, dotted);
    t->self      = cq_val_retain(cq_val_of_object(module));
    return cq_eval_own(ev, cq_val_of_object(t), out);
}

/* Appends all missing modules that a file imports, for one message. */
static void add_missing(cq_eval *ev, const cq_unit *unit, const char *first, cq_str *s)
{
    size_t n = 0;

    for (size_t i = 0; unit && i < unit->n_imports; i++) {
        const char *module = unit->imports[i].module;
        cq_object  *found  = NULL;
        size_t      k      = 0;

        if (module[0] == '.' || strcmp(module, first) == 0 || strcmp(module, "calque") == 0)
            continue;
        while (k < i && strcmp(unit->imports[k].module, module) != 0)
            k++;
        if (k < i || cq_python_module(ev->program, module, &found) != CQ_OK || found)
            continue;
        cq_str_printf(s, "%s%s", n++ ? ", " : "; the file also imports ", module);
    }
    if (n)
        cq_str_add(s, n == 1 ? ", which is not found either" : ", which are not found either");
}

static cq_status not_found(cq_eval *ev, const char *module)
{
    cq_str    hint = { 0 };
    cq_status status;

    cq_str_add(&hint, "--path DIR names the folder of a package");
    add_missing(ev, ev->frame ? ev->frame->unit : NULL, module, &hint);
    ev->raised_class = "ModuleNotFoundError";
    status = cq_fail(CQ_E_NOT_FOUND, NULL, cq_str_text(&hint), "no module named '%s'", module);
    cq_str_clear(&hint);
    return cq_python_add_missing(ev, module, status);
}

/* A submodule that has been imported or can be. */
static cq_status submodule(cq_eval *ev, const cq_object *module, const char *name, cq_val *out)
{
    char       full[NAME_SIZE];
    cq_object *found = NULL;

    *out = CQ_NONE;
    if (!module->file->is_package)
        return CQ_OK;
    snprintf(full, sizeof full, "%s.%s", module->text, name);
    CQ_TRY(cq_python_module(ev->program, full, &found));
    *out = cq_val_of_object(found);
    return CQ_OK;
}

/* torch.relu is an operator unless lib/torch defines it; also torch.ops.aten.relu, torch.inf. */
static cq_status torch_fallback(cq_eval *ev, const cq_object *module, const char *name, cq_val *out)
{
    cq_val space;

    if (!is_torch(module->text) || cq_starts_with(name, "__"))
        return CQ_OK;
    CQ_TRY(cq_eval_new_object(ev, CQ_OBJECT_NAMESPACE, module->text, &space));
    return cq_eval_attribute(ev, space, name, out);
}

cq_status cq_python_variables(cq_eval *ev, const cq_frame *f, cq_val *out)
{
    CQ_TRY(cq_eval_new_dict(ev, out));
    for (size_t i = 0; f && i < f->slots.cap; i++) {
        const char *name = f->slots.slots[i].key;
        cq_text    *text;
        cq_val      key, v;

        if (!name || *name == '%')
            continue;
        v = f->values.items[(size_t)(uintptr_t)f->slots.slots[i].value - 1];
        if (cq_object_as(v, CQ_OBJECT_LAZY) && !cq_object_of(cq_object_of(v)->self))
            continue;
        if (cq_object_as(v, CQ_OBJECT_LAZY))
            CQ_TRY(cq_lazy_resolve(ev, v, &v));
        CQ_TRY(cq_text_new(&text, name, strlen(name)));
        CQ_TRY(cq_eval_own(ev, cq_val_of_text(text), &key));
        CQ_TRY(cq_dict_set(out->u.dict, key, v));
    }
    return CQ_OK;
}

cq_status cq_python_member(cq_eval *ev, cq_object *module, const char *name, cq_val *out)
{
    char      full[2 * NAME_SIZE];
    cq_val   *v;
    cq_status status;

    CQ_TRY(cq_python_run(ev, module));
    if (strcmp(name, "__dict__") == 0)
        return cq_python_variables(ev, module->globals, out);
    v = module->globals ? cq_frame_own(module->globals, cq_name(ev->program, name)) : NULL;
    /* `from . import x` in a package refers to a submodule x, not to the lazy name that the import
     * itself binds. */
    if (v && cq_object_as(*v, CQ_OBJECT_LAZY) && cq_object_of(*v)->is_resolving)
        v = NULL;
    if (v && cq_object_as(*v, CQ_OBJECT_LAZY)) {
        CQ_TRY(cq_lazy_resolve(ev, *v, out));
        v = cq_frame_own(module->globals, cq_name(ev->program, name));
        cq_val_set(v, *out);
        return CQ_OK;
    }
    if (v) {
        *out = *v;
        return CQ_OK;
    }
    CQ_TRY(submodule(ev, module, name, out));
    if (out->kind != CQ_VAL_NONE)
        return CQ_OK;
    v = module->globals ? cq_frame_own(module->globals, cq_name(ev->program, "__getattr__")) : NULL;
    if (v && !cq_starts_with(name, "__")) {
        const cq_val hook = *v;
        cq_text     *text;
        cq_val       asked;

        CQ_TRY(cq_text_new(&text, name, strlen(name)));
        CQ_TRY(cq_eval_own(ev, cq_val_of_text(text), &asked));
        return cq_eval_call(ev, hook, &asked, 1, out);
    }
    CQ_TRY(torch_fallback(ev, module, name, out));
    if (out->kind != CQ_VAL_NONE)
        return CQ_OK;
    snprintf(full, sizeof full, "%s.%s", module->text, name);
    status = cq_python_raise(ev, "AttributeError", "module '%s' has no attribute '%s'",
                             module->text, name);
    return ev->is_searching ? status : cq_python_add_missing(ev, full, status);
}

cq_status cq_lazy_resolve(cq_eval *ev, cq_val v, cq_val *out)
{
    cq_object *t      = cq_object_of(v);
    cq_object *module = cq_object_as(t->self, CQ_OBJECT_MODULE);
    cq_status  status;

    if (!module)
        return not_found(ev, t->qualified);
    if (!t->text) {
        *out = t->self;
        return CQ_OK;
    }
    cq_val_retain(v); /* its variable may be assigned during the resolution */
    t->is_resolving = true;
    status          = cq_python_member(ev, module, t->text, out);
    t->is_resolving = false;
    cq_val_release(v);
    return status;
}

cq_status cq_python_builtin(cq_eval *ev, const char *name, cq_val *out, bool *found)
{
    cq_python *py = ev->program->python;
    cq_val    *v;

    *found = false;
    if (!py->builtins)
        CQ_TRY(cq_python_module(ev->program, "builtins", &py->builtins));
    if (!py->builtins)
        return CQ_OK;
    CQ_TRY(cq_python_run(ev, py->builtins));
    v = py->builtins->globals ? cq_frame_own(py->builtins->globals, name) : NULL;
    if (!v)
        return CQ_OK;
    *found = true;
    *out   = *v;
    return CQ_OK;
}

/* ---- import statements ---- */

static cq_object *module_of_frame(const cq_eval *ev)
{
    return cq_map_get(&ev->program->python->modules, ev->frame->unit->qualifier);
}

static bool is_native(const char *module)
{
    return strcmp(module, "calque") == 0;
}

/* import a.b.c binds a; import a.b.c as d binds a.b.c. */
static cq_status import_module(cq_eval *ev, const cq_ast_import *m)
{
    const char *bound = m->module;
    cq_object  *module;
    char        top[NAME_SIZE];
    cq_val      v;

    snprintf(top, sizeof top, "%s", m->module);
    CQ_TRY(cq_python_module(ev->program, m->module, &module));
    if (!module && ev->n_tries)
        return not_found(ev, m->module);
    if (!m->alias) {
        top[strcspn(top, ".")] = '\0';
        bound                  = top;
        if (module)
            CQ_TRY(cq_python_module(ev->program, top, &module));
    }
    if (module)
        v = cq_val_of_object(module);
    else if (is_native(m->module))
        CQ_TRY(cq_eval_new_object(ev, CQ_OBJECT_NAMESPACE, m->module, &v));
    else
        CQ_TRY(lazy_new(ev, NULL, m->module, NULL, &v));
    return cq_frame_set(ev, ev->frame, m->alias ? m->alias : cq_name(ev->program, bound), v);
}

/* Whether an import is circular: a module that its package imports, imports names of the package.
 * Such names stay lazy. */
static bool leads_back(const cq_eval *ev, cq_val v, const char *name)
{
    const cq_object *t = cq_object_as(v, CQ_OBJECT_LAZY);

    return t && t->text == name && cq_object_of(t->self) == module_of_frame(ev);
}

static cq_status import_all(cq_eval *ev, cq_object *module)
{
    cq_val *listed;

    CQ_TRY(cq_python_run(ev, module));
    if (!module->globals)
        return CQ_OK;
    listed = cq_frame_own(module->globals, cq_name(ev->program, "__all__"));
    if (listed && cq_val_is_list(*listed)) {
        for (size_t i = 0; i < listed->u.list->n; i++) {
            const char *name;
            cq_val      v;

            if (listed->u.list->items[i].kind != CQ_VAL_STR)
                continue;
            /* Lazy, because a module that is still running may define the name later. */
            name = cq_name(ev->program, listed->u.list->items[i].u.text->text);
            CQ_TRY(lazy_new(ev, module, module->text, name, &v));
            CQ_TRY(cq_frame_set(ev, ev->frame, name, v));
        }
        return CQ_OK;
    }
    for (size_t i = 0; i < module->globals->slots.cap; i++) {
        const char *name = module->globals->slots.slots[i].key;

        if (name && name[0] != '_' && name[0] != '%' &&
            !leads_back(ev, *cq_frame_own(module->globals, name), name))
            CQ_TRY(cq_frame_set(ev, ev->frame, name, *cq_frame_own(module->globals, name)));
    }
    return CQ_OK;
}

/* Whether `from module import *` may replace builtins such as sum: modules of the same project and
 * packages of arithmetic. Without the module, the program would compute something else. */
static bool may_redefine_builtins(const char *module)
{
    static const char *const packages[] = { "autograd", "cupy",  "jax",   "mpmath",    "numpy",
                                            "pylab",    "scipy", "sympy", "tensorflow" };
    char                     top[NAME_SIZE];

    snprintf(top, sizeof top, "%s", module);
    top[strcspn(top, ".")] = '\0';
    return module[0] == '.' || CQ_IS_AMONG(top, packages);
}

static cq_status import_name(cq_eval *ev, const cq_ast_import *m)
{
    char       name[NAME_SIZE], full[2 * NAME_SIZE];
    cq_object *module, *sub = NULL;
    cq_val     v;

    absolute(module_of_frame(ev), m->module, name, sizeof name);
    if (is_native(name)) {
        CQ_TRY(cq_eval_new_object(ev, CQ_OBJECT_NAMESPACE, name, &v));
        CQ_TRY(cq_eval_attribute(ev, v, m->name, &v));
        return cq_frame_set(ev, ev->frame, m->alias ? m->alias : m->name, v);
    }
    CQ_TRY(cq_python_module(ev->program, name, &module));
    snprintf(full, sizeof full, *name ? "%s.%s" : "%s%s", name, m->name);
    if (!*name) { /* `from . import x` in a file beside the main file */
        CQ_TRY(cq_python_module(ev->program, full, &sub));
        if (sub)
            return cq_frame_set(ev, ev->frame, m->alias ? m->alias : m->name,
                                cq_val_of_object(sub));
    }
    if (!module && ev->n_tries)
        return not_found(ev, name);
    if (strcmp(m->name, "*") == 0)
        return module                             ? import_all(ev, module)
               : may_redefine_builtins(m->module) ? not_found(ev, name)
                                                  : CQ_OK; /* see cq_python_missing_names */
    if (module && ev->n_tries) {
        cq_status status = cq_python_member(ev, module, m->name, &v);

        if (status != CQ_OK && ev->raised_class && strcmp(ev->raised_class, "AttributeError") == 0)
            ev->raised_class = "ImportError";
        CQ_TRY(status);
    } else {
        CQ_TRY(lazy_new(ev, module, *name ? name : full, m->name, &v));
    }
    return cq_frame_set(ev, ev->frame, m->alias ? m->alias : m->name, v);
}

cq_status cq_python_missing_names(cq_eval *ev, const cq_unit *unit)
{
    for (size_t i = 0; unit && i < unit->n_imports; i++) {
        const cq_ast_import *m = &unit->imports[i];
        char                 name[NAME_SIZE];
        cq_object           *module;

        if (!m->name || strcmp(m->name, "*") != 0)
            continue;
        absolute(module_of_frame(ev), m->module, name, sizeof name);
        CQ_TRY(cq_python_module(ev->program, name, &module));
        if (!module)
            return not_found(ev, name);
    }
    return CQ_OK;
}

cq_status cq_eval_import(cq_eval *ev, const cq_ast_stmt *s)
{
    for (size_t i = 0; i < s->u.import.n; i++) {
        const cq_ast_import *m = &s->u.import.items[i];

        if (strcmp(m->module, "__future__") == 0)
            continue;
        CQ_TRY(m->name ? import_name(ev, m) : import_module(ev, m));
    }
    return CQ_OK;
}

/* ---- the program ---- */

static cq_status add_folder(cq_program *p, bool is_root, const char *folder, size_t len)
{
    char     *copy = cq_strndup(len ? folder : ".", len ? len : 1);
    cq_status status;

    if (!copy)
        return CQ_E_NO_MEMORY;
    status = is_root ? cq_vec_push(&p->python->roots, copy) : cq_vec_push(&p->python->paths, copy);
    if (status != CQ_OK)
        cq_free(copy);
    return status;
}

cq_status cq_python_add_path(cq_program *p, const char *folder)
{
    size_t len = strlen(folder);

    if (cq_file_type_of(folder) != CQ_FILE_FOLDER)
        return cq_fail(CQ_E_IO, folder, NULL, "expected a folder");
    while (len > 1 && folder[len - 1] == '/')
        len--;
    return add_folder(p, false, folder, len);
}

/* The dotted name of the main file. Its package begins at the outermost folder with an __init__.py.
 * Imports are searched in the folder of the file and in the folder of the package. */
static cq_status name_main(cq_program *p, const char *path, char *name, size_t size)
{
    const char *slash = cq_path_separator(path), *base = slash ? slash + 1 : path;
    size_t      end = slash ? (size_t)(slash - path) : 0, at;
    char        init[PATH_SIZE];

    CQ_TRY(add_folder(p, true, path, slash && !end ? 1 : end));
    snprintf(name, size, "%.*s", (int)strcspn(base, "."), base);
    for (at = end; at > 0; at = end) {
        char   longer[NAME_SIZE];
        size_t from;

        snprintf(init, sizeof init, "%.*s", (int)at, path);
        from = (size_t)(cq_path_name(init) - init);
        snprintf(init, sizeof init, "%.*s/__init__.py", (int)at, path);
        if (cq_file_type_of(init) != CQ_FILE_REGULAR || path[from] == '.')
            break;
        snprintf(longer, sizeof longer, "%.*s.%.*s", (int)(at - from), path + from, NAME_SIZE / 2,
                 name);
        snprintf(name, size, "%s", longer);
        end = from ? from - 1 : 0;
    }
    /* The folder of the package comes after the library, because it may be a folder of installed
     * packages. */
    return slash && end != (size_t)(slash - path) ? add_folder(p, false, path, end) : CQ_OK;
}

cq_status cq_python_new(cq_program *p, const char *path, const char *text, size_t len)
{
    char            name[NAME_SIZE];
    cq_source_file *file;

    p->python = cq_zalloc(sizeof *p->python);
    if (!p->python)
        return CQ_E_NO_MEMORY;
    CQ_TRY(name_main(p, path, name, sizeof name));
    CQ_TRY(file_new(&file, path));
    file->is_package = cq_ends_with(path, "/__init__.py");
    CQ_TRY(new_module(p, name, file, &p->python->main));
    file->text = text;
    file->len  = len;
    CQ_TRY(parse_module(p, p->python->main));
    file->text = NULL;
    p->main    = p->python->main->unit;
    return CQ_OK;
}

/* An additional source file that no other file imports. */
cq_status cq_python_add_code(cq_program *p, const char *path)
{
    char            name[NAME_SIZE];
    cq_source_file *file;
    cq_object      *module;
    cq_status       status;

    if (cq_file_type_of(path) != CQ_FILE_REGULAR)
        return cq_fail(CQ_E_IO, path, NULL, "expected a file of Python source");
    CQ_TRY(name_main(p, path, name, sizeof name));
    module = cq_map_get(&p->python->modules, name);
    if (!module) {
        CQ_TRY(file_new(&file, path));
        file->is_package = cq_ends_with(path, "/__init__.py");
        status           = new_module(p, name, file, &module);
        if (status != CQ_OK) {
            file_free(file);
            return status;
        }
    }
    return cq_vec_push(&p->python->codes, module);
}

static void empty_frame(cq_frame *f)
{
    for (size_t i = 0; i < f->values.n; i++)
        cq_val_set(&f->values.items[i], CQ_NONE);
}

/* Objects refer to each other in cycles, so all of them are emptied before they are released. */
static void empty_instances(cq_python *py)
{
    while (py->instances) {
        cq_object   *t = py->instances;
        const cq_val v = cq_val_retain(cq_val_of_object(t));

        py->instances = t->next;
        if (t->next)
            t->next->previous = NULL;
        t->next = t->previous = NULL;
        t->instances          = NULL;
        for (size_t i = 0; i < t->attributes.n; i++)
            cq_val_set(&t->attributes.items[i].value, CQ_NONE);
        cq_val_set(&t->self, CQ_NONE);
        if (t->kind == CQ_OBJECT_GENERATOR && t->closure)
            empty_frame(t->closure);
        cq_val_release(v);
    }
}

static void empty_classes(cq_python *py)
{
    for (size_t i = 0; i < py->classes.n; i++)
        for (size_t k = 0; k < py->classes.items[i]->attributes.n; k++)
            cq_val_set(&py->classes.items[i]->attributes.items[k].value, CQ_NONE);
    for (size_t i = 0; i < py->classes.n; i++)
        cq_val_release(cq_val_of_object(py->classes.items[i]));
    cq_vec_clear(&py->classes);
}

void cq_python_free(cq_program *p)
{
    cq_python *py = p->python;

    if (!py)
        return;
    for (size_t i = 0; i < py->frames.n; i++)
        empty_frame(py->frames.items[i]);
    empty_instances(py);
    cq_python_open_cycles(py);
    for (size_t i = 0; i < 64; i++)
        cq_val_release(py->dtypes[i]);
    for (size_t i = 0; i < py->modules.n; i++) {
        cq_object *module = py->modules.entries[i].value;

        file_free(module->file);
        cq_val_release(cq_val_of_object(module));
    }
    empty_classes(py);
    for (size_t i = 0; i < py->frames.n; i++)
        cq_frame_release(py->frames.items[i]);
    cq_vec_clear(&py->frames);
    for (size_t i = 0; i < py->roots.n; i++)
        cq_free(py->roots.items[i]);
    for (size_t i = 0; i < py->paths.n; i++)
        cq_free(py->paths.items[i]);
    cq_vec_clear(&py->codes);
    cq_vec_clear(&py->roots);
    cq_vec_clear(&py->paths);
    cq_map_clear(&py->modules);
    cq_free(py);
    p->python = NULL;
}
