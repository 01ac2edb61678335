/* TorchScript: methods with their signatures, and the modules of an archive. */
#include "archive/torchscript.h"
#include "base/str.h"
#include "info/info.h"
#include "script/python/python.h"
#include "script/script.h"
#include "tensor/visit.h"

enum { MAX_DEPTH = 64 };

/* ---- modules ---- */

typedef struct walk {
    cq_info        *info;
    cq_info_weights all;
    cq_ptr_map      seen; /* modules: a shared one has its own row, but its insides only once */
    cq_val          constants; /* of the program */
} walk;

/* A tensor inside of a value: of packed weights, or of a constant. */
typedef struct leaves {
    walk           *walk;
    cq_info_module *row;
    const char     *name;
} leaves;

/* Numbers of the program are constants without dimensions, and no weights. */
static cq_status add_leaf(cq_visit *v, cq_val leaf)
{
    const leaves    *l = v->user;
    const cq_tensor *t = leaf.kind == CQ_VAL_TENSOR ? leaf.u.tensor : NULL;

    if (t && t->rank && t->storage)
        cq_info_module_tensor(l->walk->info, &l->walk->all, l->row, l->name, t,
                              t->qparams || cq_dtype_is_float(t->dtype));
    return l->walk->info->status;
}

static void add_leaves(walk *w, cq_info_module *row, const char *name, cq_val value)
{
    leaves   l = { w, row, name };
    cq_visit v = { .each = add_leaf, .user = &l, .once = true };

    (void)cq_val_each(&v, value);
    cq_visit_clear(&v);
}

/* The constants that freezing and optimize_for_mobile make of weights. */
static void add_constants(walk *w, cq_info_module *root, cq_val constants)
{
    cq_info_module row;
    const size_t   n = w->all.paths.n;

    cq_info_module_begin(w->info, &row, root, "CONSTANTS", "");
    add_leaves(w, &row, "", constants);
    if (w->all.paths.n == n)
        cq_info_module_drop(w->info, &row);
    else
        cq_info_module_end(w->info, &row);
}

static void visit(walk *w, cq_info_module *parent, cq_object *module, const char *name, int depth);

/* Modules of Python source have dicts of their tensors and children. */
static void visit_python(walk *w, cq_info_module *row, cq_object *module, int depth)
{
    const cq_dict *children = cq_python_children(module);

    for (int parameters = 1; parameters >= 0; parameters--) {
        const cq_dict *own = cq_python_tensors(module, parameters);

        for (size_t i = 0; own && i < own->n; i++)
            if (own->entries[i].key.kind == CQ_VAL_STR &&
                own->entries[i].value.kind == CQ_VAL_TENSOR &&
                own->entries[i].value.u.tensor->storage)
                cq_info_module_tensor(w->info, &w->all, row, own->entries[i].key.u.text->text,
                                      own->entries[i].value.u.tensor, parameters);
    }
    for (size_t i = 0; children && i < children->n && depth < MAX_DEPTH; i++)
        if (cq_python_is_module(children->entries[i].value) &&
            children->entries[i].key.kind == CQ_VAL_STR)
            visit(w, row, cq_object_of(children->entries[i].value),
                  children->entries[i].key.u.text->text, depth + 1);
}

static void visit(walk *w, cq_info_module *parent, cq_object *module, const char *name, int depth)
{
    const char    *seen = cq_ptr_map_get(&w->seen, module);
    cq_info_module row;

    cq_info_module_begin(w->info, &row, parent, name, cq_object_class_name(module));
    row.shared = seen;
    if (w->info->status == CQ_OK && !seen)
        w->info->status = cq_ptr_map_set(&w->seen, module, (void *)row.path);
    if (module->type && !seen && w->info->status == CQ_OK)
        visit_python(w, &row, module, depth);
    for (size_t i = 0;
         !module->type && i < module->attributes.n && !seen && w->info->status == CQ_OK; i++) {
        const cq_attribute *a     = &module->attributes.items[i];
        cq_object          *child = cq_object_as(a->value, CQ_OBJECT_INSTANCE);

        if (a->value.kind == CQ_VAL_TENSOR && a->value.u.tensor->storage)
            cq_info_module_tensor(w->info, &w->all, &row, a->name, a->value.u.tensor,
                                  cq_script_is_parameter(module, a));
        else if (child && depth < MAX_DEPTH)
            visit(w, &row, child, a->name, depth + 1);
        else if (cq_val_is_list(a->value))
            add_leaves(w, &row, a->name, a->value);
    }
    if (!parent)
        add_constants(w, &row, w->constants);
    cq_info_module_end(w->info, &row);
}

/* ---- methods ---- */

static void add_method(cq_info *info, cq_script *script, const cq_ast_def *def,
                       const cq_source *source, bool is_method)
{
    cq_str signature = { 0 }, example = { 0 };

    cq_script_describe(&signature, def, source, is_method);
    if (def->result)
        cq_str_printf(&signature, " -> %.*s", (int)(def->result->at.end - def->result->at.start),
                      source->text + def->result->at.start);
    cq_script_suggest(&example, script, def, source, is_method);
    cq_info_add_text(info, def->name);
    cq_info_add_str(info, &signature);
    cq_info_add_str(info, &example);
    cq_str_clear(&signature);
    cq_str_clear(&example);
}

/* Dunder names are internal to the program. */
static bool is_private(const cq_ast_def *def)
{
    return cq_starts_with(def->name, "__");
}

static void add_methods(cq_info *info, cq_script *script)
{
    static const char *const columns[] = { "method", "signature", "to begin with", NULL };
    const cq_unit           *main      = script->program->main;
    const cq_object         *root      = cq_object_of(script->root);

    size_t           n_self;
    const cq_object *entry =
        script->program->python ? cq_python_entry_function(script, &n_self) : NULL;

    cq_info_begin(info, "methods", columns);
    if (script->program->python) {
        if (entry)
            add_method(info, script, entry->def, &entry->unit->source, n_self);
        return;
    }
    for (size_t i = 0; root && root->cls && i < root->cls->n_methods; i++)
        if (!is_private(root->cls->methods[i]))
            add_method(info, script, root->cls->methods[i], &root->unit->source, true);
    for (size_t i = 0; main && i < main->n_defs; i++)
        add_method(info, script, main->defs[i], &main->source, false);
}

/* ---- Python source ---- */

/* Net(num_classes=…) */
static cq_status add_candidate(void *user, const char *name, const cq_object *takes, bool is_class)
{
    cq_info *info      = user;
    cq_str   signature = { 0 };

    if (takes)
        cq_script_describe(&signature, takes->def, &takes->unit->source, is_class);
    cq_info_add_text(info, name);
    cq_info_add_text(info, is_class ? "class" : "function");
    cq_info_add_text(info, takes ? cq_str_text(&signature) + strlen(takes->def->name) : "()");
    cq_str_clear(&signature);
    return info->status;
}

/* Lists what --entry may name in a file whose entry is ambiguous. */
static cq_status info_of_candidates(cq_info **out, cq_script *script)
{
    static const char *const columns[] = { "name", "kind", "takes", NULL };
    cq_status                status;

    CQ_TRY(cq_info_new(out));
    cq_info_fact(*out, "format", "Python source");
    cq_info_fact(*out, "to export", "calque export FILE --entry 'NAME(…)' --input SHAPE");
    cq_info_begin(*out, "models and functions", columns);
    status = cq_python_each_candidate(script, add_candidate, *out);
    if (status != CQ_OK) {
        cq_info_free(*out);
        *out = NULL;
        return status;
    }
    return cq_info_done(out);
}

CQ_API cq_status cq_script_info(cq_info **out, cq_script *script)
{
    CQ_NEED_OUT(out, script);
    if (script->program->python && script->root.kind == CQ_VAL_NONE)
        return info_of_candidates(out, script);
    const bool is_source = script->program->main != NULL;
    cq_object *root      = cq_object_of(script->root);
    walk       w         = { 0 };

    CQ_TRY(cq_info_new(out));
    w.info      = *out;
    w.constants = script->program->constants;
    cq_info_fact(*out, "format",
                 script->program->python ? "Python source"
                 : is_source             ? "TorchScript source"
                                         : "TorchScript archive");
    if (!is_source) {
        cq_info_fact(*out, "producer",
                     cq_torchscript_has_byte_order(script->archive) ? "PyTorch 2.0 or newer"
                                                                    : "PyTorch 2.0 or older");
        cq_info_fact_number(*out, "code version", CQ_INFO_COUNT, script->program->version);
    }
    cq_info_fact(*out, "class",
                 !root                     ? NULL
                 : script->program->python ? cq_object_class_name(root)
                                           : root->qualified);
    add_methods(*out, script);
    if (root) {
        cq_info_begin(*out, "modules", cq_info_module_columns);
        visit(&w, NULL, root, "", 0);
        cq_info_add_weights(*out, &w.all);
        cq_ptr_map_clear(&w.seen);
    }
    return cq_info_done(out);
}
