/* All operators by name. The families are listed here and nowhere else; schemas are parsed
 * once, on first use. */
#include "aten/body.h"
#include "base/map.h"
#include "base/once.h"
#include "base/str.h"

#include <stdio.h>

static const cq_op_def *const families[] = {
    cq_ops_number,    cq_ops_pointwise,  cq_ops_functions,
    cq_ops_compare,   cq_ops_activation, cq_ops_creation,
    cq_ops_cast,      cq_ops_random,     cq_ops_linalg,
    cq_ops_conv,      cq_ops_pool,       cq_ops_norm,
    cq_ops_reduce,    cq_ops_softmax,    cq_ops_contract,
    cq_ops_distance,  cq_ops_rnn,        cq_ops_packed,
    cq_ops_resize,    cq_ops_attention,  cq_ops_loss,
    cq_ops_view,      cq_ops_slice,      cq_ops_split,
    cq_ops_meta,      cq_ops_select,     cq_ops_join,
    cq_ops_shuffle,   cq_ops_index,      cq_ops_embedding,
    cq_ops_pad,       cq_ops_sort,       cq_ops_unique,
    cq_ops_window,    cq_ops_matrix,     cq_ops_solve,
    cq_ops_series,    cq_ops_special,    cq_ops_complex,
    cq_ops_fft,       cq_ops_quantized,  cq_ops_quantized_layers,
    cq_ops_vision,    cq_ops_moe,        cq_ops_fitted,
    cq_ops_segment,   cq_ops_inner,      cq_ops_quantized_decomposed,
    cq_ops_histogram, cq_ops_prepacked,  cq_ops_quantized_rnn,
};

static struct {
    cq_once   once;
    cq_arena *arena;
    cq_map    by_full, by_name; /* by_name: the first overload */
    cq_op    *ops;
    size_t    n;
} table = { .once = CQ_ONCE_INIT };

static pthread_mutex_t derived_lock = PTHREAD_MUTEX_INITIALIZER;

static cq_status add(cq_op *op, const cq_op_def *def)
{
    cq_schema *schema;
    cq_op     *first;

    CQ_TRY(cq_schema_parse(&schema, table.arena, def->schema));
    op->def    = def;
    op->schema = schema;
    if ((def->body || def->unview) &&
        !(op->parsed = cq_arena_zalloc(table.arena, sizeof *op->parsed)))
        return CQ_E_NO_MEMORY;
    CQ_TRY(cq_map_set(&table.by_full, schema->full, op));
    first = cq_map_get(&table.by_name, schema->name);
    if (!first)
        return cq_map_set(&table.by_name, schema->name, op);
    while (first->next)
        first = (cq_op *)first->next;
    first->next = op;
    return CQ_OK;
}

static cq_status build(void)
{
    cq_status status = CQ_OK;
    size_t    n      = 0;

    for (size_t f = 0; f < sizeof families / sizeof *families; f++)
        for (const cq_op_def *def = families[f]; def->schema; def++)
            n++;
    table.arena = cq_arena_new();
    table.ops   = table.arena ? cq_arena_array(table.arena, n, sizeof *table.ops) : NULL;
    if (!table.ops)
        status = CQ_E_NO_MEMORY;
    for (size_t f = 0; f < sizeof families / sizeof *families && status == CQ_OK; f++)
        for (const cq_op_def *def = families[f]; def->schema && status == CQ_OK; def++)
            status = add(&table.ops[table.n++], def);
    if (status != CQ_OK) {
        cq_map_clear(&table.by_full);
        cq_map_clear(&table.by_name);
        cq_arena_free(table.arena);
        table.arena = NULL;
        table.ops   = NULL;
        table.n     = 0;
    }
    return status;
}

cq_status cq_ops_ready(void)
{
    return cq_once_call(&table.once, build);
}

/* Derived operators whose plain twin goes by another name. */
static const struct {
    const char *derived, *plain;
} irregular[] = {
    { "aten::floor_divide_.Tensor", "aten::floor_divide" },
    { "aten::pow_.Tensor", "aten::pow.Tensor_Tensor" },
    { "aten::pow_.Scalar", "aten::pow.Tensor_Scalar" },
    { "aten::float_power_.Tensor", "aten::float_power.Tensor_Tensor" },
    { "aten::float_power_.Scalar", "aten::float_power.Tensor_Scalar" },
    { "aten::normal_", "aten::normal_functional" },
    { "aten::bernoulli_.float", "aten::bernoulli.p" },
    { "aten::copy_.Tensor", "aten::copy" },
    { "aten::copy_.int", "aten::fill.Scalar" },
    { "aten::copy_.float", "aten::fill.Scalar" },
    { "aten::view_copy", "aten::reshape" }, /* it takes what no view can show, too */
};

const char *cq_op_suffix(const char *name, size_t len)
{
    static const char *const suffixes[] = { "_copy", "_" };

    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        size_t n = strlen(suffixes[i]);

        if (len > n && strncmp(name + len - n, suffixes[i], n) == 0 && name[len - n - 1] != '_')
            return suffixes[i];
    }
    return NULL;
}

/* "aten::relu_" and "aten::add_.Tensor" without what they were derived by, which is the result;
 * NULL if there is none. */
static const char *plain_name(char *out, size_t size, const char *full_name)
{
    const char *dot    = strchr(full_name, '.');
    size_t      base   = dot ? (size_t)(dot - full_name) : strlen(full_name);
    const char *suffix = cq_op_suffix(full_name, base);

    if (!suffix || strlen(full_name) >= size)
        return NULL;
    snprintf(out, size, "%.*s%s", (int)(base - strlen(suffix)), full_name, dot ? dot : "");
    for (size_t i = 0; i < sizeof irregular / sizeof *irregular; i++)
        if (strcmp(irregular[i].derived, full_name) == 0)
            snprintf(out, size, "%s", irregular[i].plain);
    return suffix;
}

/* Whether such an operator can be derived: something is changed in place, or shown and copied. */
static bool can_derive(const cq_op *of, bool copy)
{
    const cq_schema *s = of->schema;

    return s->n_args && s->args[0].type.base == CQ_SCHEMA_TENSOR && !s->args[0].type.list_depth &&
           s->n_results == 1 && (!copy || of->def->view || of->def->flags & CQ_OP_PARTS);
}

/* A twin of an operator, in place or a copy: the same row under another name. */
static const cq_op *derive(const char *full_name)
{
    char         plain[256];
    const char  *suffix = plain_name(plain, sizeof plain, full_name);
    bool         copy   = suffix && suffix[1];
    const cq_op *of     = suffix ? cq_map_get(&table.by_full, plain) : NULL;
    cq_op       *op     = NULL;
    cq_schema   *schema;

    if (!of || !can_derive(of, copy))
        return NULL;
    pthread_mutex_lock(&derived_lock);
    op = cq_map_get(&table.by_full, full_name);
    if (!op) {
        op     = cq_arena_zalloc(table.arena, sizeof *op);
        schema = cq_arena_copy(table.arena, of->schema, sizeof *schema);
        if (op && schema) {
            schema->full = cq_arena_strdup(table.arena, full_name);
            schema->name = cq_arena_printf(table.arena, "%s%s", of->schema->name, suffix);
            op->def      = of->def;
            op->parsed   = of->parsed;
            op->schema   = schema;
            *(copy ? &op->copy_of : &op->inplace_of) = of;
            if (!schema->full || !schema->name ||
                cq_map_set(&table.by_full, full_name, op) != CQ_OK)
                op = NULL;
        }
    }
    pthread_mutex_unlock(&derived_lock);
    return op;
}

const cq_op *cq_op_find(const char *full_name)
{
    const cq_op *op;

    if (cq_ops_ready() != CQ_OK)
        return NULL;
    pthread_mutex_lock(&derived_lock);
    op = cq_map_get(&table.by_full, full_name);
    pthread_mutex_unlock(&derived_lock);
    return op ? op : derive(full_name);
}

const cq_op *cq_op_overloads(const char *name)
{
    return cq_ops_ready() == CQ_OK ? cq_map_get(&table.by_name, name) : NULL;
}

const cq_op *cq_op_at(size_t index)
{
    return cq_ops_ready() == CQ_OK && index < table.n ? &table.ops[index] : NULL;
}
