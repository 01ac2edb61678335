/* Sums the times of a profile by operator, by module and by node. */
#include "view/view.h"

#include "base/sized.h"

#include <math.h>
#include <stdlib.h>

typedef CQ_VEC(cq_time_row) time_rows;

struct cq_times {
    cq_view    view; /* owns the names */
    time_rows  rows[CQ_TIME_NODES + 1];
    cq_map     operators; /* to a row + 1 */
    cq_ptr_map steps;     /* ops to a row of operators + 1 */
    double     seconds;
};

/* A node's FLOPs belong to the step only if the step is named after it: a step such as Attention
 * does more than the node whose name it has. */
static bool is_named_after(const char *op_type, const cq_view_op *op)
{
    const char  *own = cq_view_op_type(op);
    const size_t n   = strlen(own);

    return strncmp(op_type, own, n) == 0 && (!op_type[n] || op_type[n] == '+');
}

static cq_status add_step(void *user, cq_view_op *op, const char *op_type, double seconds)
{
    cq_times    *t     = user;
    uintptr_t    found = (uintptr_t)cq_map_get(&t->operators, op_type);
    cq_time_row *row;

    if (!found) {
        cq_time_row new_row = { .name = cq_arena_strdup(t->view.arena, op_type) };

        if (!new_row.name)
            return CQ_E_NO_MEMORY;
        CQ_TRY(cq_vec_push(&t->rows[CQ_TIME_OPERATORS], new_row));
        found = t->rows[CQ_TIME_OPERATORS].n;
        CQ_TRY(cq_map_set(&t->operators, op_type, (void *)found));
    }
    row = &t->rows[CQ_TIME_OPERATORS].items[found - 1];
    row->seconds += seconds;
    row->count++;
    if (op && is_named_after(op_type, op))
        CQ_TRY(cq_ptr_map_set(&t->steps, op, (void *)found));
    t->seconds += seconds;
    return CQ_OK;
}

/* The counts of steps are totals of all runs. */
static void finish_operators(cq_times *t)
{
    time_rows *rows = &t->rows[CQ_TIME_OPERATORS];

    for (size_t i = 0; i < rows->n; i++)
        rows->items[i].count =
            (rows->items[i].count + (int64_t)t->view.n_runs - 1) / (int64_t)t->view.n_runs;
    for (size_t i = 0; i < t->view.ops.n; i++) {
        const uintptr_t row = (uintptr_t)cq_ptr_map_get(&t->steps, &t->view.ops.items[i]);

        if (row)
            rows->items[row - 1].flops += t->view.ops.items[i].flops;
    }
}

static const char *path_of(cq_view *v, const cq_view_scope *s)
{
    const char *path = s->name;

    for (s = s->parent; s && s->depth && path; s = s->parent)
        path = cq_arena_printf(v->arena, "%s.%s", s->name, path);
    return path;
}

/* A node counts for every enclosing module. If it ran as part of another step, only its FLOPs
 * count. */
static cq_status add_modules(cq_times *t, cq_ptr_map *rows, const cq_view_op *op)
{
    for (const cq_view_scope *s = op->scope; s && s->depth; s = s->parent) {
        uintptr_t row = (uintptr_t)cq_ptr_map_get(rows, s);

        if (!row) {
            cq_time_row new_row = { .name = path_of(&t->view, s), .depth = s->depth };

            if (!new_row.name)
                return CQ_E_NO_MEMORY;
            CQ_TRY(cq_vec_push(&t->rows[CQ_TIME_MODULES], new_row));
            row = t->rows[CQ_TIME_MODULES].n;
            CQ_TRY(cq_ptr_map_set(rows, s, (void *)row));
        }
        t->rows[CQ_TIME_MODULES].items[row - 1].seconds += fmax(op->seconds, 0);
        t->rows[CQ_TIME_MODULES].items[row - 1].flops += op->flops;
        t->rows[CQ_TIME_MODULES].items[row - 1].count += op->seconds >= 0;
    }
    return CQ_OK;
}

/* Removes modules whose nodes all ran as parts of steps of other modules. */
static void remove_idle(time_rows *rows)
{
    size_t n = 0;

    for (size_t i = 0; i < rows->n; i++)
        if (rows->items[i].count)
            rows->items[n++] = rows->items[i];
    rows->n = n;
}

static cq_status add_nodes(cq_times *t)
{
    cq_ptr_map modules = { 0 };
    cq_status  status  = CQ_OK;

    for (size_t i = 0; i < t->view.ops.n && status == CQ_OK; i++) {
        const cq_view_op *op = &t->view.ops.items[i];

        if (op->seconds >= 0)
            status = cq_vec_push(&t->rows[CQ_TIME_NODES],
                                 (cq_time_row){ op->name, 1, op->seconds, op->flops, 0 });
        if (status == CQ_OK)
            status = add_modules(t, &modules, op);
    }
    cq_ptr_map_clear(&modules);
    remove_idle(&t->rows[CQ_TIME_MODULES]);
    return status;
}

static int compare_rows(const void *a, const void *b)
{
    const cq_time_row *x = a, *y = b;

    if (x->seconds > y->seconds || x->seconds < y->seconds)
        return x->seconds > y->seconds ? -1 : 1;
    return strcmp(x->name, y->name);
}

static cq_status fill(cq_times *t, cq_onnx_model *model, const cq_view_options *o)
{
    if (!o->profile && !o->trace)
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL, "neither a profile nor a trace is given");
    CQ_TRY(cq_view_read(&t->view, model, o->title));
    CQ_TRY(cq_view_add_profile(&t->view, o, add_step, t));
    CQ_TRY(cq_view_count(&t->view, o));
    finish_operators(t);
    CQ_TRY(add_nodes(t));
    for (int i = 0; i <= CQ_TIME_NODES; i++)
        if (t->rows[i].n)
            qsort(t->rows[i].items, t->rows[i].n, sizeof *t->rows[i].items, compare_rows);
    return CQ_OK;
}

CQ_API cq_status cq_times_new(cq_times **out, cq_onnx_model *model, const cq_view_options *options)
{
    CQ_NEED_OUT(out, model && options);
    cq_view_options o;
    cq_times       *t;
    cq_status       status;

    cq_view_options_init(&o);
    CQ_TRY(cq_sized_take(&o, options, "cq_view_options"));
    t = cq_zalloc(sizeof *t);
    if (!t)
        return CQ_E_NO_MEMORY;
    status = fill(t, model, &o);
    if (status == CQ_OK)
        *out = t;
    else
        cq_times_free(t);
    return status;
}

CQ_API size_t cq_times_count(const cq_times *t, cq_time_kind kind)
{
    CQ_NEED_ELSE(t && kind >= 0 && kind <= CQ_TIME_NODES, 0);
    return t->rows[kind].n;
}

CQ_API const cq_time_row *cq_times_at(const cq_times *t, cq_time_kind kind, size_t index)
{
    CQ_NEED_ELSE(t && kind >= 0 && kind <= CQ_TIME_NODES, NULL);
    return index < t->rows[kind].n ? &t->rows[kind].items[index] : NULL;
}

CQ_API double cq_times_seconds(const cq_times *t)
{
    CQ_NEED_ELSE(t, 0);
    return t->seconds;
}

CQ_API double cq_times_flops(const cq_times *t)
{
    CQ_NEED_ELSE(t, 0);
    return t->view.flops;
}

CQ_API void cq_times_free(cq_times *t)
{
    if (!t)
        return;
    for (int i = 0; i <= CQ_TIME_NODES; i++)
        cq_vec_clear(&t->rows[i]);
    cq_map_clear(&t->operators);
    cq_ptr_map_clear(&t->steps);
    cq_view_clear(&t->view);
    cq_free(t);
}
