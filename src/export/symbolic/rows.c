/* Finding the row of an operator. The families are listed here and nowhere else. */
#include "aten/core/body.h"
#include "base/lock.h"
#include "export/symbolic/host.h"

#include <stdlib.h>

static const cq_symbolic *const families[] = {
    cq_symbolics_sequence, cq_symbolics_linalg,   cq_symbolics_resize,
    cq_symbolics_slice,    cq_symbolics_creation, cq_symbolics_complex,
};

const cq_symbolic *cq_symbolic_family(size_t i)
{
    return i < sizeof families / sizeof *families ? families[i] : NULL;
}

typedef struct entry entry;
struct entry {
    const cq_symbolic *row;
    entry             *next; /* of the same name, in table order */
};

/* Built on first use; if memory was short, the next call tries again. */
static struct {
    cq_mutex  lock;
    bool      is_ready;
    cq_arena *arena;
    cq_map    by_name;
} table = { .lock = CQ_MUTEX_INIT };

static cq_status add(const cq_symbolic *row)
{
    entry *e = cq_arena_zalloc(table.arena, sizeof *e), *last;

    if (!e)
        return CQ_E_NO_MEMORY;
    e->row = row;
    last   = cq_map_get(&table.by_name, row->name);
    if (!last)
        return cq_map_set(&table.by_name, row->name, e);
    while (last->next)
        last = last->next;
    last->next = e;
    return CQ_OK;
}

/* @symbolic("aten::silu", opset=7, promote=True) of a function, or of lines without one:
 * symbolic("aten::relu", "Relu", opset=7) and symbolic("aten::kron", opset=7, decompose=True). */
cq_status cq_symbolic_of_decorator(cq_symbolic *out, const cq_decorator *d)
{
    const char *opset = cq_decorator_value(d, "opset");

    *out = (cq_symbolic){ .name     = d->text,
                          .since    = opset ? atoi(opset) : 0,
                          .op       = cq_decorator_at(d, 0),
                          .function = d->function,
                          .promotes = cq_decorator_value(d, "promote") != NULL,
                          .parts    = cq_decorator_value(d, "decompose") != NULL };
    if (!strstr(d->text, "::") || out->since < 1)
        return cq_decorator_fail(d, "expected symbolic(\"domain::operator\", opset=N)");
    if (!out->function && !out->op && !out->parts)
        return cq_decorator_fail(d, "expected an ONNX operator or a function");
    return CQ_OK;
}

static cq_status add_symbolic(const cq_decorator *d, void *user)
{
    cq_symbolic *row = cq_arena_zalloc(table.arena, sizeof *row);

    (void)user;
    if (!row)
        return CQ_E_NO_MEMORY;
    CQ_TRY(cq_symbolic_of_decorator(row, d));
    return add(row);
}

/* unsupported("aten::nextafter", "ONNX has no such function", opset=7) */
static cq_status add_unsupported(const cq_decorator *d, void *user)
{
    cq_symbolic *row = cq_arena_zalloc(table.arena, sizeof *row);

    (void)user;
    if (!row)
        return CQ_E_NO_MEMORY;
    CQ_TRY(cq_symbolic_of_decorator(row, d));
    row->no = row->op;
    row->op = NULL;
    return add(row);
}

static cq_status build(void)
{
    cq_status status = (table.arena = cq_arena_new()) ? CQ_OK : CQ_E_NO_MEMORY;

    for (size_t f = 0; f < sizeof families / sizeof *families; f++)
        for (const cq_symbolic *row = families[f]; row->name && status == CQ_OK; row++)
            status = add(row);
    if (status == CQ_OK)
        status = cq_library_each("symbolic", add_symbolic, NULL);
    if (status == CQ_OK)
        status = cq_library_each("unsupported", add_unsupported, NULL);
    if (status == CQ_OK && cq_library_has_changes())
        status = cq_sym_check_library(true);
    table.is_ready = status == CQ_OK;
    if (status != CQ_OK) {
        cq_map_clear(&table.by_name);
        cq_arena_free(table.arena);
        table.arena = NULL;
    }
    return status;
}

/* Whether a row is better than the one found: newer, and not above the opset. */
static bool is_better(const cq_symbolic *row, int opset, cq_symbolic_found *found)
{
    if (row->since <= opset)
        return !found->row || row->since >= found->row->since;
    if (!row->no && (!found->later || row->since < found->later))
        found->later = row->since;
    return false;
}

static void find_user_row(cq_symbolic_found *out, const cq_exporter *ex, const char *name,
                          size_t len, int opset)
{
    for (const cq_symbolic *row = cq_map_get_n(&ex->user_rows_by_name, name, len); row;
         row                    = row->next)
        if (is_better(row, opset, out))
            out->row = row;
}

static void find_own_row(cq_symbolic_found *out, const char *name, size_t len, int opset)
{
    for (const entry *e = cq_map_get_n(&table.by_name, name, len); e; e = e->next)
        if (is_better(e->row, opset, out))
            out->row = e->row;
}

cq_status cq_symbolic_find(cq_symbolic_found *out, const cq_exporter *ex, const char *full_name,
                           int opset)
{
    const char  *dot = strchr(full_name, '.');
    const size_t len = strlen(full_name), plain = dot ? (size_t)(dot - full_name) : len;
    cq_status    status = CQ_OK;

    *out = (cq_symbolic_found){ 0 };
    cq_mutex_lock(&table.lock);
    if (!table.is_ready)
        status = build();
    if (status == CQ_OK) { /* users' rows first, also those for all overloads */
        find_user_row(out, ex, full_name, len, opset);
        if (!out->row && dot)
            find_user_row(out, ex, full_name, plain, opset);
        if (!out->row)
            find_own_row(out, full_name, len, opset);
        if (!out->row && dot)
            find_own_row(out, full_name, plain, opset);
    }
    cq_mutex_unlock(&table.lock);
    return status;
}
