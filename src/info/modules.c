/* Modules and their weights as a table, each with its submodules. */
#include "info/info.h"

#include "base/str.h"

#include <stdio.h>

enum {
    PATH_SIZE         = 512,
    COLUMN_PARAMETERS = 2,
    COLUMN_BYTES,
    COLUMN_DTYPES,
    COLUMN_SHARED,
    COLUMN_OUTPUT,
    COLUMN_FLOPS
};

const char *const cq_info_module_columns[] = { "module", "class",  "parameters", "bytes", "dtypes",
                                               "shared", "output", "FLOPs",      NULL };

static cq_info_table *last_table(cq_info *info)
{
    return &info->tables.items[info->tables.n - 1];
}

/* "features.0" for 0 inside of features. */
static const char *join(cq_info *info, const char *path, const char *name)
{
    char        text[PATH_SIZE];
    const char *copy;

    snprintf(text, sizeof text, *path ? "%.250s.%.250s" : "%s%.500s", path, name);
    copy = cq_arena_strdup(info->arena, text);
    if (!copy)
        info->status = CQ_E_NO_MEMORY;
    return copy ? copy : "";
}

void cq_info_module_begin(cq_info *info, cq_info_module *m, cq_info_module *parent,
                          const char *name, const char *class_name)
{
    *m = (cq_info_module){ .parent = parent, .path = "" };
    if (info->status != CQ_OK)
        return;
    if (parent)
        m->path = join(info, parent->path, name);
    m->row = last_table(info)->cells.n;
    cq_info_add_text(info, m->path);
    cq_info_add_text(info, class_name);
    cq_info_add_number(info, CQ_INFO_COUNT, 0); /* filled in at its end */
    cq_info_add_number(info, CQ_INFO_BYTES, 0);
    for (int column = COLUMN_DTYPES; column < COLUMN_FLOPS; column++)
        cq_info_add_text(info, "");
    cq_info_add_number(info, CQ_INFO_NONE, 0);
}

void cq_info_module_tensor(cq_info *info, cq_info_weights *all, cq_info_module *m, const char *name,
                           const cq_tensor *t, bool is_parameter)
{
    const int64_t n     = cq_tensor_numel(t);
    const int64_t bytes = n * (int64_t)cq_dtype_size(t->dtype);
    const void   *key   = t->storage ? (const void *)t->storage : t;
    const char   *first = cq_ptr_map_get(&all->paths, key);

    if (info->status != CQ_OK)
        return;
    m->dtypes |= 1u << t->dtype;
    all->dtypes |= 1u << t->dtype;
    if (first) {
        m->shared = m->shared ? m->shared : first;
        return;
    }
    info->status = cq_ptr_map_set(&all->paths, key, (void *)join(info, m->path, name));
    m->bytes += bytes;
    all->bytes += bytes;
    m->n_parameters += is_parameter ? n : 0;
    *(is_parameter ? &all->n_parameters : &all->n_others) += n;
}

/* "float32, int64" */
static const char *dtype_names(cq_info *info, uint32_t dtypes)
{
    cq_str      s = { 0 };
    const char *names;

    for (int d = 1; d < CQ_DTYPE_COUNT; d++)
        if (dtypes >> d & 1)
            cq_str_printf(&s, "%s%s", s.len ? ", " : "", cq_dtype_name((cq_dtype)d));
    names = info->status == CQ_OK && s.status == CQ_OK
                ? cq_arena_strdup(info->arena, cq_str_text(&s))
                : NULL;
    cq_str_clear(&s);
    if (!names && info->status == CQ_OK)
        info->status = CQ_E_NO_MEMORY;
    return names ? names : "";
}

void cq_info_module_end(cq_info *info, cq_info_module *m)
{
    const char   *dtypes = dtype_names(info, m->dtypes);
    cq_info_cell *cells;

    if (info->status != CQ_OK)
        return;
    cells                           = last_table(info)->cells.items + m->row;
    cells[COLUMN_PARAMETERS].number = m->n_parameters;
    cells[COLUMN_BYTES].number      = m->bytes;
    cells[COLUMN_DTYPES].text       = dtypes;
    cells[COLUMN_SHARED].text       = m->shared ? m->shared : "";
    if (!m->parent)
        return;
    m->parent->n_parameters += m->n_parameters;
    m->parent->bytes += m->bytes;
    m->parent->dtypes |= m->dtypes;
}

void cq_info_module_drop(cq_info *info, const cq_info_module *m)
{
    if (info->status == CQ_OK)
        last_table(info)->cells.n = m->row;
}

void cq_info_add_weights(cq_info *info, cq_info_weights *all)
{
    cq_info_fact_number(info, "parameters", CQ_INFO_COUNT, all->n_parameters);
    if (all->n_others)
        cq_info_fact_number(info, "other elements", CQ_INFO_COUNT, all->n_others);
    cq_info_fact_number(info, "weights", CQ_INFO_BYTES, all->bytes);
    cq_info_fact(info, "dtypes", dtype_names(info, all->dtypes));
    cq_ptr_map_clear(&all->paths);
}

/* ---- what an export found ---- */

static cq_info_table *find_table(cq_info *info, const char *name)
{
    for (size_t i = 0; i < info->tables.n; i++)
        if (strcmp(info->tables.items[i].name, name) == 0)
            return &info->tables.items[i];
    return NULL;
}

/* A model without a table of modules gets one of the modules that were called. Its weights are in
 * another table. */
static void make_modules(cq_info *info, const cq_export_report *report)
{
    cq_info_module root, row;

    cq_info_begin(info, "modules", cq_info_module_columns);
    for (size_t i = 0; i < cq_export_report_count(report, CQ_REPORT_MODULES); i++) {
        const cq_report_entry *e = cq_export_report_at(report, CQ_REPORT_MODULES, i);

        root = (cq_info_module){ .path = "" };
        cq_info_module_begin(info, &row, &root, e->name, e->class_name);
    }
}

enum { TENSOR_NAME = 0, TENSOR_ELEMENTS = 3, TENSOR_BYTES, TENSOR_KIND };

/* Adds a tensor to the rows of all modules that it is in: of "a.b.weight" they are "a.b" and "a",
 * and the whole model. */
static void add_tensor(const cq_map *rows, const cq_info_cell *tensor)
{
    const bool is_parameter = strcmp(tensor[TENSOR_KIND].text, "parameter") == 0;
    const bool is_shared    = cq_starts_with(tensor[TENSOR_KIND].text, "same as ");
    char       path[PATH_SIZE];

    snprintf(path, sizeof path, "%s", tensor[TENSOR_NAME].text);
    for (bool more = *path; more;) {
        char         *dot = strrchr(path, '.');
        cq_info_cell *row;

        *(dot ? dot : path) = '\0';
        more                = *path;
        row                 = cq_map_get(rows, path);
        if (!row)
            continue;
        row[COLUMN_PARAMETERS].number += is_parameter ? tensor[TENSOR_ELEMENTS].number : 0;
        row[COLUMN_BYTES].number += is_shared ? 0 : tensor[TENSOR_BYTES].number;
    }
}

/* Modules come before the single tensors in them. */
static void put_before_tensors(cq_info *info)
{
    for (size_t i = info->tables.n - 1; i > 0; i--) {
        cq_info_table *t = &info->tables.items[i], was = *t;

        if (strcmp(t[-1].name, "tensors") != 0)
            break;
        t[0]  = t[-1];
        t[-1] = was;
    }
}

static cq_status map_rows(cq_map *rows, const cq_info_table *t)
{
    for (size_t i = 0; i < t->cells.n; i += t->n_columns)
        CQ_TRY(cq_map_set(rows, t->cells.items[i].text, &t->cells.items[i]));
    return CQ_OK;
}

static cq_status fill_rows(cq_info *info, const cq_map *rows, const cq_export_report *report)
{
    for (size_t i = 0; i < cq_export_report_count(report, CQ_REPORT_MODULES); i++) {
        const cq_report_entry *e   = cq_export_report_at(report, CQ_REPORT_MODULES, i);
        cq_info_cell          *row = cq_map_get(rows, e->name);

        if (!row)
            continue;
        row[COLUMN_OUTPUT].text = cq_arena_strdup(info->arena, e->result);
        if (!row[COLUMN_OUTPUT].text)
            return CQ_E_NO_MEMORY;
        row[COLUMN_FLOPS] = (cq_info_cell){ CQ_INFO_COUNT, "", e->flops };
        if (!*e->name)
            cq_info_fact_number(info, "FLOPs", CQ_INFO_COUNT, e->flops);
    }
    return CQ_OK;
}

CQ_API cq_status cq_info_add_report(cq_info *info, const cq_export_report *report)
{
    CQ_NEED(info && report);
    const bool           is_new = !find_table(info, "modules");
    const cq_info_table *tensors;
    cq_map               rows = { 0 };
    cq_status            status;

    if (is_new)
        make_modules(info, report);
    CQ_TRY_OR_DONE(info->status);
    if (is_new)
        put_before_tensors(info);
    CQ_TRY_OR_DONE(map_rows(&rows, find_table(info, "modules")));
    tensors = is_new ? find_table(info, "tensors") : NULL;
    for (size_t i = 0; tensors && i < tensors->cells.n; i += tensors->n_columns)
        if (tensors->n_columns > TENSOR_KIND)
            add_tensor(&rows, &tensors->cells.items[i]);
    CQ_TRY_OR_DONE(fill_rows(info, &rows, report));
done:
    cq_map_clear(&rows);
    return status;
}
