/* Tables that describe a model, and their common parts: counts of names, tensors, facts. */
#include "info/info.h"

#include <stdio.h>
#include <stdlib.h>

static const char *const fact_columns[]           = { "name", "value", NULL };
const char *const        cq_info_tensor_columns[] = {
           "name", "dtype", "shape", "elements", "bytes", NULL
};

static void fail(cq_info *info, cq_status status)
{
    if (info->status == CQ_OK)
        info->status = status;
}

cq_status cq_info_new(cq_info **out)
{
    cq_info *info = *out = cq_zalloc(sizeof *info);

    if (!info)
        return CQ_E_NO_MEMORY;
    info->arena = cq_arena_new();
    if (!info->arena)
        fail(info, CQ_E_NO_MEMORY);
    cq_info_begin(info, "model", fact_columns);
    return info->status == CQ_OK ? CQ_OK : cq_info_done(out);
}

cq_status cq_info_done(cq_info **out)
{
    cq_status status = (*out)->status;

    if (status != CQ_OK) {
        cq_info_free(*out);
        *out = NULL;
    }
    return status;
}

CQ_API void cq_info_free(cq_info *info)
{
    if (!info)
        return;
    for (size_t i = 0; i < info->tables.n; i++)
        cq_vec_clear(&info->tables.items[i].cells);
    cq_vec_clear(&info->tables);
    cq_arena_free(info->arena);
    cq_free(info);
}

void cq_info_begin(cq_info *info, const char *name, const char *const *columns)
{
    cq_info_table t = { .name = name, .columns = columns };

    while (columns[t.n_columns])
        t.n_columns++;
    if (info->status == CQ_OK)
        fail(info, cq_vec_push(&info->tables, t));
}

static void add(cq_info *info, cq_info_table *table, cq_info_cell cell)
{
    if (info->status == CQ_OK)
        fail(info, cq_vec_push(&table->cells, cell));
}

static cq_info_cell text_cell(cq_info *info, const char *text)
{
    cq_info_cell cell = { .text = "" };

    if (text && info->status == CQ_OK)
        cell.text = cq_arena_strdup(info->arena, text);
    if (!cell.text)
        fail(info, CQ_E_NO_MEMORY);
    return cell;
}

void cq_info_add_text(cq_info *info, const char *text)
{
    if (info->status == CQ_OK)
        add(info, &info->tables.items[info->tables.n - 1], text_cell(info, text));
}

/* A text that could not be built is empty, so the failure must be recorded. */
static bool is_whole(cq_info *info, const cq_str *text)
{
    if (text->status != CQ_OK && info->status == CQ_OK)
        fail(info, text->status);
    return info->status == CQ_OK;
}

void cq_info_add_str(cq_info *info, const cq_str *text)
{
    if (is_whole(info, text))
        cq_info_add_text(info, cq_str_text(text));
}

void cq_info_fact_str(cq_info *info, const char *name, const cq_str *text)
{
    if (is_whole(info, text))
        cq_info_fact(info, name, cq_str_text(text));
}

void cq_info_add_number(cq_info *info, cq_info_kind kind, int64_t number)
{
    if (info->status == CQ_OK)
        add(info, &info->tables.items[info->tables.n - 1], (cq_info_cell){ kind, "", number });
}

void cq_info_fact(cq_info *info, const char *name, const char *text)
{
    if (info->status != CQ_OK || !text || !*text)
        return;
    add(info, &info->tables.items[0], text_cell(info, name));
    add(info, &info->tables.items[0], text_cell(info, text));
}

void cq_info_fact_number(cq_info *info, const char *name, cq_info_kind kind, int64_t number)
{
    if (info->status != CQ_OK)
        return;
    add(info, &info->tables.items[0], text_cell(info, name));
    add(info, &info->tables.items[0], (cq_info_cell){ kind, "", number });
}

const char *cq_info_shape(cq_info *info, const cq_tensor *t)
{
    char   text[CQ_MAX_RANK * 24] = "scalar";
    size_t len                    = 0;
    char  *copy;

    for (size_t i = 0; i < t->rank; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "%s%lld", i ? "x" : "",
                                (long long)t->sizes[i].value);
    copy = info->status == CQ_OK ? cq_arena_strdup(info->arena, text) : NULL;
    return copy ? copy : "";
}

void cq_info_add_tensor(cq_info *info, const char *name, const cq_tensor *t)
{
    const int64_t n = cq_tensor_numel(t);

    cq_info_add_text(info, name);
    cq_info_add_text(info, cq_dtype_name(t->dtype));
    cq_info_add_text(info, cq_info_shape(info, t));
    cq_info_add_number(info, CQ_INFO_COUNT, n);
    cq_info_add_number(info, CQ_INFO_BYTES, n * (int64_t)cq_dtype_size(t->dtype));
}

/* ---- counts ---- */

cq_status cq_info_count_name(cq_info_counts *c, const char *name)
{
    size_t at = (size_t)cq_map_get(&c->by_name, name);

    if (!at) {
        CQ_TRY(cq_vec_push(&c->items, (cq_info_count){ name, 0, c->items.n }));
        at = c->items.n;
        CQ_TRY(cq_map_set(&c->by_name, name, (void *)at));
    }
    c->items.items[at - 1].n++;
    return CQ_OK;
}

static int by_frequency(const void *a, const void *b)
{
    const cq_info_count *x = a, *y = b;

    return x->n != y->n ? (x->n < y->n ? 1 : -1) : (x->first > y->first) - (x->first < y->first);
}

static void sort_counts(cq_info_counts *c)
{
    if (c->items.n)
        qsort(c->items.items, c->items.n, sizeof *c->items.items, by_frequency);
}

static void clear_counts(cq_info_counts *c)
{
    cq_vec_clear(&c->items);
    cq_map_clear(&c->by_name);
}

void cq_info_add_counts(cq_info *info, const char *table, cq_info_counts *c)
{
    static const char *const columns[] = { "operator", "count", NULL };

    sort_counts(c);
    if (c->items.n)
        cq_info_begin(info, table, columns);
    for (size_t i = 0; i < c->items.n; i++) {
        cq_info_add_text(info, c->items.items[i].name);
        cq_info_add_number(info, CQ_INFO_COUNT, c->items.items[i].n);
    }
    clear_counts(c);
}

void cq_info_add_class_counts(cq_info *info, cq_info_counts *c, const cq_map *needed)
{
    static const char *const columns[] = { "class", "count", "source", NULL };

    sort_counts(c);
    if (c->items.n)
        cq_info_begin(info, "classes", columns);
    for (size_t i = 0; i < c->items.n; i++) {
        cq_info_add_text(info, c->items.items[i].name);
        cq_info_add_number(info, CQ_INFO_COUNT, c->items.items[i].n);
        cq_info_add_text(info, cq_map_has(needed, c->items.items[i].name) ? "needed" : "");
    }
    clear_counts(c);
}

/* ---- reading them ---- */

static const cq_info_table *table_at(const cq_info *info, size_t table)
{
    return info && table < info->tables.n ? &info->tables.items[table] : NULL;
}

CQ_API size_t cq_info_n_tables(const cq_info *info)
{
    CQ_NEED_ELSE(info, 0);
    return info->tables.n;
}

CQ_API const char *cq_info_table_name(const cq_info *info, size_t table)
{
    const cq_info_table *t = table_at(info, table);

    return t ? t->name : NULL;
}

CQ_API size_t cq_info_n_columns(const cq_info *info, size_t table)
{
    const cq_info_table *t = table_at(info, table);

    return t ? t->n_columns : 0;
}

CQ_API const char *cq_info_column_name(const cq_info *info, size_t table, size_t column)
{
    const cq_info_table *t = table_at(info, table);

    return t && column < t->n_columns ? t->columns[column] : NULL;
}

CQ_API size_t cq_info_n_rows(const cq_info *info, size_t table)
{
    const cq_info_table *t = table_at(info, table);

    return t ? t->cells.n / t->n_columns : 0;
}

static const cq_info_cell *cell_at(const cq_info *info, size_t table, size_t row, size_t column)
{
    static const cq_info_cell none = { .text = "" };
    const cq_info_table      *t    = table_at(info, table);

    return t && column < t->n_columns && row < t->cells.n / t->n_columns
               ? &t->cells.items[row * t->n_columns + column]
               : &none;
}

CQ_API cq_info_kind cq_info_cell_kind(const cq_info *info, size_t table, size_t row, size_t column)
{
    return cell_at(info, table, row, column)->kind;
}

CQ_API const char *cq_info_cell_text(const cq_info *info, size_t table, size_t row, size_t column)
{
    return cell_at(info, table, row, column)->text;
}

CQ_API int64_t cq_info_cell_number(const cq_info *info, size_t table, size_t row, size_t column)
{
    return cell_at(info, table, row, column)->number;
}
