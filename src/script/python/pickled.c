/* A pickled module as a program: the file, the source of its classes, and the module built from
 * both. */
#include "archive/weights.h"
#include "base/str.h"
#include "script/python/unpickle.h"
#include "script/script.h"

#include <stdio.h>

struct cq_pickled {
    cq_weights_file file;
    char           *path;
    cq_arena       *arena;
    cq_sections     modules; /* the sections of the file that are modules */
};

/* ---- the file ---- */

static cq_status keep_modules(struct cq_pickled *p)
{
    size_t n = 0;

    CQ_TRY(cq_sections_find(&p->modules, p->arena, p->file.root));
    for (size_t i = 0; i < p->modules.n; i++)
        if (cq_is_pickled_module(p->modules.items[i].value))
            p->modules.items[n++] = p->modules.items[i];
    p->modules.n = n;
    if (n)
        return CQ_OK;
    return cq_fail(CQ_E_UNSUPPORTED, p->path,
                   "give the source of the model: calque export model.py --weights FILE; or save "
                   "the program with torch.export.save",
                   "this was written by torch.save: it holds values, but no code");
}

cq_status cq_pickled_open(cq_script *s, cq_storage *bytes, const char *path)
{
    struct cq_pickled *p = s->pickled = cq_zalloc(sizeof *p);
    const char        *slash          = strrchr(path, '/');
    const char        *main;

    if (!p)
        return CQ_E_NO_MEMORY;
    p->arena = cq_arena_new();
    p->path  = cq_strdup(path);
    if (!p->arena || !p->path)
        return CQ_E_NO_MEMORY;
    CQ_TRY(cq_weights_read_bytes(&p->file, bytes, path));
    CQ_TRY(keep_modules(p));
    /* An empty main file beside the pickle, so that modules in its folder are found. */
    main = cq_arena_printf(p->arena, "%.*s__main__", slash ? (int)(slash + 1 - path) : 0, path);
    return main ? cq_python_new(s->program, main, "", 0) : CQ_E_NO_MEMORY;
}

void cq_pickled_free(struct cq_pickled *p)
{
    if (!p)
        return;
    cq_weights_file_clear(&p->file);
    cq_vec_clear(&p->modules);
    cq_arena_free(p->arena);
    cq_free(p->path);
    cq_free(p);
}

/* ---- the source ---- */

/* Adds the folder from which the classes of the file are imported: "repo" for the class
 * models.yolo.Model and the source repo/models/yolo.py. */
static cq_status add_root(cq_program *program, const struct cq_pickled *p, const char *source)
{
    char   module[512], folder[4096];
    size_t len, end;

    for (size_t i = 0; i < p->modules.n; i++) {
        const cq_instance *o   = cq_instance_of(p->modules.items[i].value);
        const char        *dot = strrchr(o->class_name, '.');

        len = dot ? (size_t)(dot - o->class_name) : 0;
        if (!len || len + 4 > sizeof module)
            continue;
        snprintf(module, sizeof module, "%.*s.py", (int)len, o->class_name);
        for (size_t k = 0; k < len; k++)
            if (module[k] == '.')
                module[k] = '/';
        end = strlen(source) - (cq_ends_with(source, module) ? strlen(module) : strlen(source));
        if (end && source[end - 1] == '/' && end < sizeof folder) {
            snprintf(folder, sizeof folder, "%.*s", end > 1 ? (int)end - 1 : 1, source);
            return cq_python_add_path(program, folder);
        }
        if (!end && cq_ends_with(source, module))
            return cq_python_add_path(program, ".");
    }
    return CQ_OK;
}

CQ_API cq_status cq_script_add_code(cq_script *s, const char *path)
{
    CQ_NEED(s && path);
    if (!s->pickled)
        return cq_fail(CQ_E_ARGUMENT, path, NULL,
                       "--code is for pickled modules, whose classes it defines");
    CQ_TRY(add_root(s->program, s->pickled, path));
    return cq_python_add_code(s->program, path);
}

/* ---- the module ---- */

/* Unwraps DataParallel, which only distributes the batch among devices. */
static cq_val unwrap(cq_val module)
{
    for (int i = 0; i < 4; i++) {
        const cq_instance *o = cq_instance_of(module);
        const cq_dict     *children;
        const cq_val      *inner;

        if (!cq_ends_with(o->class_name, ".DataParallel") &&
            !cq_ends_with(o->class_name, ".DistributedDataParallel"))
            break;
        children = cq_module_part(o, "_modules");
        inner    = children ? cq_dict_get_text(children, "module") : NULL;
        if (!inner || !cq_is_pickled_module(*inner))
            break;
        module = *inner;
    }
    return module;
}

cq_status cq_pickled_make(cq_eval *ev, const struct cq_pickled *p, const char *key, cq_val *out)
{
    const cq_section *section;
    cq_val            module;

    CQ_TRY(cq_section_choose(&section, &p->modules, key, p->path));
    module = unwrap(section->value);
    CQ_TRY(cq_python_check_classes(ev, module, p->path));
    return cq_python_unpickle(ev, module, out);
}
