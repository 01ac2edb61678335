/* Files of weights: state dicts, checkpoints and pickled modules. */
#include "archive/object.h"
#include "archive/weights.h"
#include "info/info.h"

#include <inttypes.h>
#include <stdio.h>

enum { MAX_MODULES = 1 << 16, MAX_NEEDED = 12 };

/* Quantized and sparse tensors are shown as their values. */
static const cq_tensor *tensor_of(cq_val v)
{
    if (v.kind == CQ_VAL_TENSOR)
        return v.u.tensor;
    if (cq_quantized_of(v))
        return cq_quantized_of(v)->values;
    return cq_sparse_of(v) ? cq_sparse_of(v)->values : NULL;
}

/* ---- classes ---- */

typedef struct class_walk {
    cq_info       *info;
    cq_info_counts classes;
    cq_map         needed; /* classes of modules that are not torch's */
    cq_ptr_map     seen;
    cq_status      status;
} class_walk;

static void walk(class_walk *w, cq_val v);

static void walk_dict(class_walk *w, const cq_dict *dict)
{
    for (size_t i = 0; dict && i < dict->n; i++)
        walk(w, dict->entries[i].value);
}

static void walk_list(class_walk *w, const cq_list *list)
{
    for (size_t i = 0; list && i < list->n; i++)
        walk(w, list->items[i]);
}

static void walk_object(class_walk *w, cq_val v, const cq_instance *o)
{
    if ((o->kind == CQ_INSTANCE_OBJECT || o->kind == CQ_INSTANCE_CALL) &&
        !cq_starts_with(o->class_name, "builtins.") && !cq_starts_with(o->class_name, "_codecs."))
        w->status = cq_info_count_name(&w->classes, o->class_name);
    if (w->status == CQ_OK && cq_is_pickled_module(v) && !cq_starts_with(o->class_name, "torch.") &&
        !cq_starts_with(o->class_name, "__torch__."))
        w->status = cq_map_set(&w->needed, o->class_name, w);
    walk_dict(w, o->attrs);
    walk(w, o->state);
    walk(w, o->args);
    walk_list(w, o->items);
    walk_dict(w, o->pairs);
}

/* The depth of values is limited (CQ_PICKLE_MAX_DEPTH); shared ones are visited once. */
static void walk(class_walk *w, cq_val v)
{
    const bool is_list = v.kind == CQ_VAL_LIST || v.kind == CQ_VAL_TUPLE;

    if (w->status != CQ_OK || (!is_list && v.kind != CQ_VAL_DICT && !cq_instance_of(v)) ||
        cq_ptr_map_get(&w->seen, v.u.box))
        return;
    w->status = cq_ptr_map_set(&w->seen, v.u.box, w);
    if (w->status != CQ_OK)
        return;
    if (is_list)
        walk_list(w, v.u.list);
    else if (v.kind == CQ_VAL_DICT)
        walk_dict(w, v.u.dict);
    else
        walk_object(w, v, cq_instance_of(v));
}

/* "models/yolo.py" for the class models.yolo.Model. Classes of __main__ are in a script of any
 * name. */
static const char *source_of(const char *class_name, char *out, size_t size)
{
    const char *dot = strrchr(class_name, '.');

    if (!dot || cq_starts_with(class_name, "__main__."))
        return "the script that saved it";
    snprintf(out, size, "%.*s.py", (int)(dot - class_name), class_name);
    for (size_t i = 0; out[i] && i < (size_t)(dot - class_name); i++)
        if (out[i] == '.')
            out[i] = '/';
    return out;
}

/* The classes, and the files that define them, each once. */
static void add_needed(cq_info *info, const cq_map *needed)
{
    cq_str text = { 0 }, files  = { 0 };
    char   file[512], last[512] = "";

    if (!needed->n)
        return;
    cq_str_add(&text, "the source of ");
    for (size_t i = 0; i < needed->n && i < MAX_NEEDED; i++)
        cq_str_printf(&text, "%s%.200s", i ? ", " : "", needed->entries[i].key);
    if (needed->n > MAX_NEEDED)
        cq_str_printf(&text, " and %zu more", needed->n - MAX_NEEDED);
    for (size_t i = 0; i < needed->n && files.len < 1000; i++) {
        const char *name = source_of(needed->entries[i].key, file, sizeof file);

        if (strcmp(name, last) != 0 && !(files.len && strstr(files.text, name)))
            cq_str_printf(&files, "%s%.300s", files.len ? ", " : "", name);
        snprintf(last, sizeof last, "%s", name);
    }
    cq_info_fact_str(info, "needs", &text);
    cq_info_fact_str(info, "source files", &files);
    cq_str_clear(&text);
    cq_str_clear(&files);
}

/* The command that exports it. A state dict needs the source of the whole model. */
static void add_command(cq_info *info, const cq_weights *w, bool needs_source)
{
    const char *slash = strrchr(w->path, '/'), *name = slash ? slash + 1 : w->path;
    cq_str      text = { 0 };

    if (w->section && cq_instance_of(w->section->value) && w->file.format != CQ_WEIGHTS_TORCHSCRIPT)
        cq_str_printf(&text, "calque export %s%s --input SHAPE", name,
                      needs_source ? " --path FOLDER-OF-THE-SOURCE (or --code FILE.py)" : "");
    else
        cq_str_printf(&text, "calque export model.py --weights %s --input SHAPE", name);
    cq_info_fact_str(info, "to export", &text);
    cq_str_clear(&text);
}

static void add_classes(cq_info *info, const cq_weights *weights)
{
    class_walk w = { .info = info };

    walk(&w, weights->file.root);
    if (w.status != CQ_OK && info->status == CQ_OK)
        info->status = w.status;
    add_needed(info, &w.needed);
    add_command(info, weights, w.needed.n != 0);
    cq_info_add_class_counts(info, &w.classes, &w.needed);
    cq_map_clear(&w.needed);
    cq_ptr_map_clear(&w.seen);
}

/* ---- the values of a checkpoint ---- */

static const char *const value_columns[] = { "key", "type", "value", NULL };

static void describe_value(cq_val v, char *type, char *value, size_t size)
{
    const cq_instance *o = cq_instance_of(v);
    char               shape[CQ_DESCRIBE_SIZE];

    snprintf(type, size, "%s", o ? o->class_name : cq_val_kind_name(v.kind));
    *value = '\0';
    switch (v.kind) {
    case CQ_VAL_INT: snprintf(value, size, "%" PRId64, v.u.i.value); break;
    case CQ_VAL_FLOAT: snprintf(value, size, "%g", v.u.f.value); break;
    case CQ_VAL_BOOL: snprintf(value, size, "%s", v.u.b.value ? "True" : "False"); break;
    case CQ_VAL_STR: snprintf(value, size, "%.60s", v.u.text->text); break;
    case CQ_VAL_DICT: snprintf(value, size, "%zu entries", v.u.dict->n); break;
    case CQ_VAL_LIST:
    case CQ_VAL_TUPLE: snprintf(value, size, "%zu items", v.u.list->n); break;
    case CQ_VAL_TENSOR:
        snprintf(value, size, "%s", cq_tensor_describe(v.u.tensor, shape, sizeof shape));
        break;
    default: break;
    }
}

/* Other values of a checkpoint besides weights. */
static void add_values(cq_info *info, const cq_dict *dict)
{
    char type[CQ_DESCRIBE_SIZE], value[CQ_DESCRIBE_SIZE];

    cq_info_begin(info, "values", value_columns);
    for (size_t i = 0; i < dict->n; i++) {
        const cq_val key = dict->entries[i].key;

        if (key.kind != CQ_VAL_STR)
            continue;
        describe_value(dict->entries[i].value, type, value, sizeof type);
        cq_info_add_text(info, key.u.text->text);
        cq_info_add_text(info, type);
        cq_info_add_text(info, value);
    }
}

static const char *const section_columns[] = { "key", "kind", NULL };

static void add_sections(cq_info *info, const cq_weights *w)
{
    if (w->sections.n < 2)
        return;
    cq_info_begin(info, "state dicts", section_columns);
    for (size_t i = 0; i < w->sections.n; i++) {
        char kind[64] = "module";

        if (w->sections.items[i].value.kind == CQ_VAL_DICT)
            snprintf(kind, sizeof kind, "%zu tensors", w->sections.items[i].n_tensors);
        cq_info_add_text(info, w->sections.items[i].path);
        cq_info_add_text(info, kind);
    }
}

/* ---- modules ---- */

typedef struct module_walk {
    cq_info         *info;
    cq_info_weights *all;
    size_t           n;
} module_walk;

static void add_tensors_of(module_walk *w, cq_info_module *row, const cq_dict *dict,
                           bool parameters)
{
    for (size_t i = 0; dict && i < dict->n; i++) {
        const cq_tensor *t = tensor_of(dict->entries[i].value);

        if (t && dict->entries[i].key.kind == CQ_VAL_STR)
            cq_info_module_tensor(w->info, w->all, row, dict->entries[i].key.u.text->text, t,
                                  parameters);
    }
}

static void add_module(module_walk *w, cq_info_module *parent, const char *name,
                       const cq_instance *module)
{
    const cq_dict *children = cq_module_part(module, "_modules");
    cq_info_module row;

    if (w->n++ >= MAX_MODULES)
        return;
    cq_info_module_begin(w->info, &row, parent, name, module->class_name);
    add_tensors_of(w, &row, cq_module_part(module, "_parameters"), true);
    add_tensors_of(w, &row, cq_module_part(module, "_buffers"), false);
    for (size_t i = 0; children && i < children->n && w->info->status == CQ_OK; i++) {
        const cq_instance *child = cq_instance_of(children->entries[i].value);

        if (child && children->entries[i].key.kind == CQ_VAL_STR)
            add_module(w, &row, children->entries[i].key.u.text->text, child);
    }
    cq_info_module_end(w->info, &row);
}

/* ---- tensors ---- */

static void add_tensors(cq_info *info, const cq_weights *w, cq_info_weights *all)
{
    const bool     is_counted = all->bytes != 0; /* by their modules */
    cq_info_module none       = { .path = "" };

    cq_info_begin(info, "tensors", cq_info_tensor_columns);
    for (size_t i = 0; i < w->items.n; i++) {
        const cq_weight *item = &w->items.items[i];
        const cq_tensor *t    = tensor_of(item->value);

        cq_info_add_tensor(info, item->name, t);
        if (!is_counted)
            cq_info_module_tensor(info, all, &none, item->name, t, true);
    }
}

/* ---- all of it ---- */

static const char *format_name(const cq_weights *w)
{
    if (w->section && cq_instance_of(w->section->value))
        return "pickled module";
    return w->section && !*w->section->path ? "state dict" : "checkpoint";
}

static const char *container_name(cq_weights_format format)
{
    switch (format) {
    case CQ_WEIGHTS_LEGACY: return "stream of torch.save before PyTorch 1.6";
    case CQ_WEIGHTS_SAFETENSORS: return "safetensors";
    case CQ_WEIGHTS_SHARDS: return "shards of an index.json";
    case CQ_WEIGHTS_TORCHSCRIPT: return "TorchScript archive";
    default: return "zip archive of torch.save";
    }
}

static void add_facts(cq_info *info, const cq_weights *w)
{
    const cq_instance *module = w->section ? cq_instance_of(w->section->value) : NULL;

    cq_info_fact(info, "format", format_name(w));
    cq_info_fact(info, "container", container_name(w->file.format));
    if (module)
        cq_info_fact(info, "class", module->class_name);
    if (w->section)
        cq_info_fact(info, "weights at", w->section->path);
    cq_info_fact_number(info, "tensors", CQ_INFO_COUNT, (int64_t)w->items.n);
}

static void fill(cq_info *info, const cq_weights *w)
{
    const cq_instance *module = w->section ? cq_instance_of(w->section->value) : NULL;
    cq_info_weights    all    = { 0 };

    add_facts(info, w);
    add_sections(info, w);
    if (w->file.root.kind == CQ_VAL_DICT && (!w->section || *w->section->path))
        add_values(info, w->file.root.u.dict);
    if (w->file.metadata.kind == CQ_VAL_DICT && w->file.metadata.u.dict->n)
        add_values(info, w->file.metadata.u.dict);
    add_classes(info, w);
    if (module && w->file.format != CQ_WEIGHTS_TORCHSCRIPT) {
        cq_info_begin(info, "modules", cq_info_module_columns);
        add_module(&(module_walk){ info, &all, 0 }, NULL, "", module);
    }
    add_tensors(info, w, &all);
    cq_info_add_weights(info, &all);
}

CQ_API cq_status cq_state_dict_info(cq_info **out, const char *path)
{
    CQ_NEED_OUT(out, path);
    cq_weights *w;
    cq_status   status;

    CQ_TRY(cq_weights_inspect(&w, path));
    status = cq_info_new(out);
    if (status == CQ_OK) {
        fill(*out, w);
        status = cq_info_done(out);
    }
    cq_weights_free(w);
    return status;
}
