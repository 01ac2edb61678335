/* The parameters of a program's functions and methods, from their source. */
#include "script/python/python.h"
#include "script/script.h"

#include "base/str.h"

#include <stdio.h>

typedef struct signature {
    const cq_ast_def *def; /* NULL: unknown method */
    const cq_source  *source;
    size_t            n_self; /* number of parameters that are bound to the object */
} signature;

static const cq_ast_def *find_method(cq_script *s, const cq_object *root, const char *method)
{
    const cq_ast_def *def;

    if (method)
        return cq_ast_class_method(root->cls, cq_name(s->program, method));
    def = cq_ast_class_method(root->cls, cq_name(s->program, "forward"));
    return def ? def : cq_ast_class_method(root->cls, cq_name(s->program, "forward__0"));
}

static signature find(cq_script *s, const char *method)
{
    const cq_unit   *main  = s->program->main;
    const cq_object *root  = cq_object_of(s->root);
    signature        found = { 0 };

    if (s->program->python) {
        const cq_object *fn = cq_python_entry_function(s, &found.n_self);

        if (fn)
            found = (signature){ fn->def, &fn->unit->source, found.n_self };
        return found;
    }
    if (root && root->cls && root->unit)
        found = (signature){ find_method(s, root, method), &root->unit->source, 1 };
    if (found.def || !main)
        return found;
    found = (signature){ .source = &main->source };
    if (method)
        found.def = cq_unit_def(main, cq_name(s->program, method));
    else if (!(found.def = cq_unit_def(main, cq_name(s->program, "forward"))) && main->n_defs == 1)
        found.def = main->defs[0];
    return found;
}

CQ_API const char *cq_script_method_name(const cq_script *s, size_t i)
{
    CQ_NEED_ELSE(s, NULL);
    const cq_unit   *main = s->program->main;
    const cq_object *root = cq_object_of(s->root);
    size_t           n_self;

    if (s->program->python)
        return i == 0 && cq_python_entry_function((cq_script *)s, &n_self) ? "forward" : NULL;
    for (size_t k = 0; root && root->cls && k < root->cls->n_methods; k++)
        if (!cq_starts_with(root->cls->methods[k]->name, "__") && i-- == 0)
            return root->cls->methods[k]->name;
    return main && i < main->n_defs ? main->defs[i]->name : NULL;
}

CQ_API size_t cq_script_n_params(cq_script *s, const char *method)
{
    CQ_NEED_ELSE(s, 0);
    signature f = find(s, method);

    return f.def && f.def->n_params > f.n_self ? f.def->n_params - f.n_self : 0;
}

CQ_API cq_status cq_script_param(cq_script *s, const char *method, size_t i, char *name, char *type,
                                 size_t size)
{
    CQ_NEED(s && name && type && size);
    signature           f = find(s, method);
    const cq_ast_param *p;
    size_t              len;

    if (i >= cq_script_n_params(s, method))
        return cq_fail(CQ_E_ARGUMENT, method, NULL, "no parameter %zu", i);
    p   = &f.def->params[f.n_self + i];
    len = p->type ? p->type->at.end - p->type->at.start : 0;
    snprintf(name, size, "%s", p->name);
    snprintf(type, size, "%.*s", (int)(len < size ? len : size),
             p->type ? f.source->text + p->type->at.start : "");
    return CQ_OK;
}

const char *cq_script_param_name(cq_script *s, const char *method, size_t i)
{
    const signature f = find(s, method);

    return f.def && i + f.n_self < f.def->n_params ? f.def->params[i + f.n_self].name : NULL;
}

const cq_ast_expr *cq_script_param_type(cq_script *s, const char *method, size_t i)
{
    const signature f = find(s, method);

    return f.def && i < f.def->n_params - f.n_self ? f.def->params[i + f.n_self].type : NULL;
}

size_t cq_script_param_slot(cq_script *s, const char *method, const char *name, size_t *n_needed)
{
    const signature f     = find(s, method);
    size_t          index = SIZE_MAX;

    *n_needed = 0;
    for (size_t i = f.n_self; f.def && i < f.def->n_params; i++) {
        const cq_ast_param *p = &f.def->params[i];

        if (strcmp(p->name, name) == 0)
            index = i - f.n_self;
        *n_needed += !p->value && !p->kw_only && !p->stars;
    }
    return index;
}

CQ_API bool cq_script_has_tensor(cq_script *s, const char *name)
{
    CQ_NEED_ELSE(s && name, false);
    cq_object    *root  = cq_object_of(s->root);
    const cq_val *value = root ? cq_object_attribute(root, cq_name(s->program, name)) : NULL;

    return value && value->kind == CQ_VAL_TENSOR;
}

void cq_script_describe(cq_str *out, const cq_ast_def *def, const cq_source *source, bool is_method)
{
    cq_str_printf(out, "%s(", def->name);
    for (size_t i = is_method; i < def->n_params; i++) {
        const cq_ast_param *p    = &def->params[i];
        const char         *type = p->type ? source->text + p->type->at.start : "";
        const size_t        len  = p->type ? p->type->at.end - p->type->at.start : 0;

        cq_str_printf(out, "%s%.*s%s%s%.*s%s", i > is_method ? ", " : "", p->stars, "**", p->name,
                      len ? ": " : "", (int)len, type, p->value ? "=…" : "");
    }
    cq_str_add_char(out, ')');
}
