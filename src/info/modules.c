/* Modules and their weights, as a table: what each holds, with all that is inside of it. */
#include "info/info.h"

#include "base/str.h"

#include <stdio.h>

enum { PATH_SIZE = 512, COLUMN_PARAMETERS = 2, COLUMN_BYTES, COLUMN_DTYPES, COLUMN_SHARED };

const char *const cq_info_module_columns[] = { "module", "class",  "parameters", "bytes",
                                               "dtypes", "shared", NULL };

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
    cq_info_add_number(info, CQ_INFO_COUNT, 0); /* what follows is known at its end */
    cq_info_add_number(info, CQ_INFO_BYTES, 0);
    cq_info_add_text(info, "");
    cq_info_add_text(info, "");
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

void cq_info_add_weights(cq_info *info, cq_info_weights *all)
{
    cq_info_fact_number(info, "parameters", CQ_INFO_COUNT, all->n_parameters);
    if (all->n_others)
        cq_info_fact_number(info, "other elements", CQ_INFO_COUNT, all->n_others);
    cq_info_fact_number(info, "weights", CQ_INFO_BYTES, all->bytes);
    cq_info_fact(info, "dtypes", dtype_names(info, all->dtypes));
    cq_ptr_map_clear(&all->paths);
}
