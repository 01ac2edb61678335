/* Finding the row of an operator. The families are listed here and nowhere else. */
#include "export/exporter.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static const cq_symbolic *const families[] = {
    cq_symbolics_number,    cq_symbolics_sequence,
    cq_symbolics_linalg,    cq_symbolics_reduce,
    cq_symbolics_softmax,   cq_symbolics_norm,
    cq_symbolics_conv,      cq_symbolics_pool,
    cq_symbolics_rnn,       cq_symbolics_resize,
    cq_symbolics_view,      cq_symbolics_slice,
    cq_symbolics_pointwise, cq_symbolics_functions,
    cq_symbolics_compare,   cq_symbolics_activation,
    cq_symbolics_creation,  cq_symbolics_cast,
    cq_symbolics_random,    cq_symbolics_join,
    cq_symbolics_pad,       cq_symbolics_index,
    cq_symbolics_scatter,   cq_symbolics_select,
    cq_symbolics_sort,      cq_symbolics_quantized,
    cq_symbolics_vision,    cq_symbolics_complex,
    cq_symbolics_gamma,     cq_symbolics_moe,
    cq_symbolics_attention, cq_symbolics_quantized_decomposed,
};

typedef struct entry entry;
struct entry {
    const cq_symbolic *row;
    entry             *next;
};

static struct {
    pthread_once_t once;
    cq_arena      *arena;
    cq_map         by_name; /* the rows of a name, in table order */
} table = { .once = PTHREAD_ONCE_INIT };

static bool add(const cq_symbolic *row)
{
    entry *e = cq_arena_zalloc(table.arena, sizeof *e), *last;

    if (!e)
        return false;
    e->row = row;
    last   = cq_map_get(&table.by_name, row->name);
    if (!last)
        return cq_map_set(&table.by_name, row->name, e) == CQ_OK;
    while (last->next)
        last = last->next;
    last->next = e;
    return true;
}

static void build(void)
{
    bool fine = (table.arena = cq_arena_new()) != NULL;

    for (size_t f = 0; f < sizeof families / sizeof *families; f++)
        for (const cq_symbolic *row = families[f]; row->name && fine; row++)
            fine = add(row);
    if (!fine) {
        fprintf(stderr, "calque: no memory for the table of symbolics\n");
        abort();
    }
}

static void consider(const cq_symbolic *row, int opset, const cq_symbolic **best, int *later)
{
    if (row->since <= opset) {
        if (!*best || row->since >= (*best)->since)
            *best = row;
    } else if (!row->no && (!*later || row->since < *later)) {
        *later = row->since;
    }
}

static const cq_symbolic *find_named(const cq_exporter *ex, const char *name, int opset, int *later)
{
    const cq_symbolic *best = NULL;

    for (size_t i = 0; i < ex->user_rows.n; i++)
        if (strcmp(ex->user_rows.items[i].name, name) == 0)
            consider(&ex->user_rows.items[i], opset, &best, later);
    if (best)
        return best;
    for (const entry *e = cq_map_get(&table.by_name, name); e; e = e->next)
        consider(e->row, opset, &best, later);
    return best;
}

const cq_symbolic *cq_symbolic_find(const cq_exporter *ex, const char *full_name, int opset,
                                    int *later)
{
    const cq_symbolic *row;
    const char        *dot = strchr(full_name, '.');
    char               name[256];

    pthread_once(&table.once, build);
    *later = 0;
    row    = find_named(ex, full_name, opset, later);
    if (row || !dot || (size_t)(dot - full_name) >= sizeof name)
        return row;
    snprintf(name, sizeof name, "%.*s", (int)(dot - full_name), full_name);
    return find_named(ex, name, opset, later);
}
