/* All operators by name: rows in C, whose families are listed here and nowhere else, and functions
 * of lib/aten. Schemas are parsed once, on first use. */
#include "aten/core/traits.h"
#include "aten/core/body.h"
#include "base/map.h"
#include "base/once.h"
#include "base/str.h"

#include <stdio.h>

static const cq_op_def *const families[] = {
    cq_ops_number,    cq_ops_pointwise, cq_ops_functions, cq_ops_compare, cq_ops_activation,
    cq_ops_creation,  cq_ops_cast,      cq_ops_random,    cq_ops_linalg,  cq_ops_conv,
    cq_ops_pool,      cq_ops_norm,      cq_ops_reduce,    cq_ops_softmax, cq_ops_rnn,
    cq_ops_packed,    cq_ops_resize,    cq_ops_view,      cq_ops_slice,   cq_ops_split,
    cq_ops_meta,      cq_ops_select,    cq_ops_join,      cq_ops_shuffle, cq_ops_index,
    cq_ops_pad,       cq_ops_sort,      cq_ops_unique,    cq_ops_matrix,  cq_ops_complex,
    cq_ops_quantized, cq_ops_vision,    cq_ops_moe,
};

static struct {
    cq_once   once;
    cq_arena *arena;
    cq_map    by_full, by_name; /* by_name: the first overload */
    cq_map    derived;          /* full name of a derived operator -> its plain operator, where the
                                 * name does not tell it */
    cq_map exported;            /* target of torch.export -> cq_export_target */
    cq_op *ops;
    size_t n;
} table = { .once = CQ_ONCE_INIT };

static cq_mutex derived_lock = CQ_MUTEX_INIT;

static cq_status add(cq_op *op, const cq_op_def *def)
{
    cq_schema *schema;
    cq_op     *first;

    CQ_TRY(cq_schema_parse(&schema, table.arena, def->schema));
    op->def    = def;
    op->schema = schema;
    CQ_TRY(cq_map_set(&table.by_full, schema->full, op));
    first = cq_map_get(&table.by_name, schema->name);
    if (!first)
        return cq_map_set(&table.by_name, schema->name, op);
    while (first->next)
        first = (cq_op *)first->next;
    first->next = op;
    return CQ_OK;
}

/* ---- operators of the library ---- */

static cq_status count(const cq_decorator *d, void *user)
{
    (void)d;
    ++*(size_t *)user;
    return CQ_OK;
}

static uint32_t flags_of(const cq_decorator *d)
{
    static const struct {
        const char *key;
        uint32_t    flag;
    } keys[]       = { { "of_views", CQ_OP_PARTS },
                       { "host", CQ_OP_HOST },
                       { "random", CQ_OP_RANDOM },
                       { "dynamic", CQ_OP_DYNAMIC },
                       { "complex", CQ_OP_COMPLEX } };
    uint32_t flags = 0;

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (cq_decorator_value(d, keys[i].key))
            flags |= keys[i].flag;
    return flags;
}

/* @operator("aten::relu6(Tensor self) -> Tensor") */
static cq_status add_operator(const cq_decorator *d, void *user)
{
    cq_op_def *def = cq_arena_zalloc(table.arena, sizeof *def);
    cq_op     *op  = &table.ops[table.n];
    cq_status  status;

    (void)user;
    if (!def)
        return CQ_E_NO_MEMORY;
    def->schema = d->text;
    def->flags  = flags_of(d);
    table.n++;
    op->body = d->function;
    CQ_TRY(cq_op_traits_read(&op->traits, d));
    status = add(op, def);
    return status == CQ_E_SYNTAX ? cq_decorator_fail(d, "%s", cq_last_error()->message) : status;
}

/* traits("aten::cat", …): of one operator, or, with ".*" behind its name, of all overloads. */
static cq_status add_traits(const cq_decorator *d, void *user)
{
    const size_t len = strlen(d->text);
    const bool   all = len > 2 && strcmp(d->text + len - 2, ".*") == 0;
    cq_op       *op =
        all ? cq_map_get_n(&table.by_name, d->text, len - 2) : cq_map_get(&table.by_full, d->text);

    (void)user;
    if (!op)
        return cq_decorator_fail(d, "unknown operator %s", d->text);
    for (; op; op = all ? (cq_op *)op->next : NULL)
        CQ_TRY(cq_op_traits_read(&op->traits, d));
    return CQ_OK;
}

/* derived("aten::pow_.Tensor", of="aten::pow.Tensor_Tensor") */
static cq_status add_derived(const cq_decorator *d, void *user)
{
    const char *of = cq_decorator_value(d, "of");
    cq_op      *op = of ? cq_map_get(&table.by_full, of) : NULL;

    (void)user;
    return op ? cq_map_set(&table.derived, d->text, op)
              : cq_decorator_fail(d, "unknown operator %s", of ? of : "");
}

/* torch_export("aten::view", call="aten::reshape") */
static cq_status add_export_target(const cq_decorator *d, void *user)
{
    const char       *assertion = cq_decorator_value(d, "assertion");
    cq_export_target *target    = cq_arena_zalloc(table.arena, sizeof *target);

    (void)user;
    if (!target)
        return CQ_E_NO_MEMORY;
    target->call         = cq_decorator_value(d, "call");
    target->is_assertion = assertion != NULL;
    target->checks_data  = assertion && strcmp(assertion, "data") == 0;
    if (target->call ? !cq_map_has(&table.by_full, target->call) : !assertion)
        return cq_decorator_fail(d, "expected call= with the name of an operator, or assertion=");
    return cq_map_set(&table.exported, d->text, target);
}

/* @unview("aten::t"), @gradient("aten::tanh") …: a function about a row. user is the offset of its
 * member of cq_op. */
static cq_status attach(const cq_decorator *d, void *user)
{
    cq_op            *op = cq_map_get(&table.by_full, d->text);
    cq_lib_function **member;

    if (!op)
        return cq_decorator_fail(d, "unknown operator %s", d->text);
    member = (cq_lib_function **)(void *)((char *)op + *(const size_t *)user);
    if (*member)
        return cq_decorator_fail(d, "@%s of %s is already defined: %s in %s", d->name, d->text,
                                 (*member)->name, cq_library_file_name((*member)->file));
    *member = d->function;
    return CQ_OK;
}

static cq_status attach_all(void)
{
    static const struct {
        const char *decorator;
        size_t      member;
    } kinds[] = { { "unview", offsetof(cq_op, unview) },
                  { "complex_rule", offsetof(cq_op, complex) },
                  { "gradient", offsetof(cq_op, gradient) },
                  { "gradient_of", offsetof(cq_op, tape) },
                  { "decomposition", offsetof(cq_op, decomposition) } };

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        CQ_TRY(cq_library_each(kinds[i].decorator, attach, (void *)&kinds[i].member));
    CQ_TRY(cq_library_each("traits", add_traits, NULL));
    CQ_TRY(cq_library_each("derived", add_derived, NULL));
    return cq_library_each("torch_export", add_export_target, NULL);
}

const char *cq_op_about(const cq_op *op)
{
    return op->def->about ? op->def->about : op->body ? cq_library_about(op->body) : "";
}

static cq_status build(void)
{
    cq_status status = CQ_OK;
    size_t    n      = 0;

    for (size_t f = 0; f < sizeof families / sizeof *families; f++)
        for (const cq_op_def *def = families[f]; def->schema; def++)
            n++;
    CQ_TRY(cq_library_each("operator", count, &n));
    table.arena = cq_arena_new();
    table.ops   = table.arena ? cq_arena_array(table.arena, n, sizeof *table.ops) : NULL;
    if (!table.ops)
        status = CQ_E_NO_MEMORY;
    for (size_t f = 0; f < sizeof families / sizeof *families && status == CQ_OK; f++)
        for (const cq_op_def *def = families[f]; def->schema && status == CQ_OK; def++)
            status = add(&table.ops[table.n++], def);
    if (status == CQ_OK)
        status = cq_library_each("operator", add_operator, NULL);
    if (status == CQ_OK)
        status = attach_all();
    if (status != CQ_OK) {
        cq_map_clear(&table.by_full);
        cq_map_clear(&table.by_name);
        cq_map_clear(&table.derived);
        cq_map_clear(&table.exported);
        cq_arena_free(table.arena);
        table.arena = NULL;
        table.ops   = NULL;
        table.n     = 0;
    }
    return status;
}

/* The check of changed files asks for operators itself, and runs again if it failed. */
static cq_status check_changes(void)
{
    static atomic_bool is_checked;
    cq_status          status;

    if (!cq_library_has_changes() || atomic_exchange(&is_checked, true))
        return CQ_OK;
    status = cq_body_check_library(true);
    if (status != CQ_OK)
        atomic_store(&is_checked, false);
    return status;
}

cq_status cq_ops_ready(void)
{
    CQ_TRY(cq_once_call(&table.once, build));
    return check_changes();
}

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

/* "aten::relu_" and "aten::add_.Tensor" without their suffix, which is the result; NULL if there is
 * none. */
static const char *plain_name(char *out, size_t size, const char *full_name)
{
    const char *dot    = strchr(full_name, '.');
    size_t      base   = dot ? (size_t)(dot - full_name) : strlen(full_name);
    const char *suffix = cq_op_suffix(full_name, base);

    if (strlen(full_name) >= size)
        return NULL;
    if (suffix)
        snprintf(out, size, "%.*s%s", (int)(base - strlen(suffix)), full_name, dot ? dot : "");
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
    const cq_op *of     = cq_map_get(&table.derived, full_name);
    bool         copy   = suffix && suffix[1];
    cq_op       *op     = NULL;
    cq_schema   *schema;

    if (of && !suffix)
        suffix = "_"; /* `a |= b`, aten::__ior__, is in place without the suffix */
    if (!of && suffix)
        of = cq_map_get(&table.by_full, plain);
    if (!of || !can_derive(of, copy))
        return NULL;
    cq_mutex_lock(&derived_lock);
    op = cq_map_get(&table.by_full, full_name);
    if (!op) {
        op     = cq_arena_copy(table.arena, of, sizeof *op);
        schema = cq_arena_copy(table.arena, of->schema, sizeof *schema);
        if (op && schema) {
            schema->full = cq_arena_strdup(table.arena, full_name);
            schema->name = cq_arena_printf(table.arena, "%s%s", of->schema->name, suffix);
            op->schema   = schema;
            op->next     = NULL;
            op->traits   = (cq_op_traits){ 0 };
            *(copy ? &op->copy_of : &op->inplace_of) = of;
            if (!schema->full || !schema->name ||
                cq_map_set(&table.by_full, full_name, op) != CQ_OK)
                op = NULL;
        }
    }
    cq_mutex_unlock(&derived_lock);
    return op;
}

const cq_op *cq_op_find(const char *full_name)
{
    const cq_op *op;

    if (cq_ops_ready() != CQ_OK)
        return NULL;
    cq_mutex_lock(&derived_lock);
    op = cq_map_get(&table.by_full, full_name);
    cq_mutex_unlock(&derived_lock);
    return op ? op : derive(full_name);
}

const cq_op *cq_op_overloads(const char *name)
{
    return cq_ops_ready() == CQ_OK ? cq_map_get(&table.by_name, name) : NULL;
}

const cq_export_target *cq_export_target_find(const char *target)
{
    return cq_ops_ready() == CQ_OK ? cq_map_get(&table.exported, target) : NULL;
}

const cq_op *cq_op_at(size_t index)
{
    return cq_ops_ready() == CQ_OK && index < table.n ? &table.ops[index] : NULL;
}
