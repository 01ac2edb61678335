/* What names and calls in bodies mean, found while they are parsed, so that what runs has only to
 * look at values. */
#include "aten/body_parse.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- kinds ---- */

/* What the values of a type can be. */
cq_kinds cq_kinds_of(const cq_schema_type *t, bool taken)
{
    static const cq_kinds kinds[] = {
        [CQ_SCHEMA_TENSOR]    = CQ_KIND(TENSOR),
        [CQ_SCHEMA_INT]       = CQ_KIND(INT),
        [CQ_SCHEMA_FLOAT]     = CQ_KIND(FLOAT),
        [CQ_SCHEMA_BOOL]      = CQ_KIND(BOOL),
        [CQ_SCHEMA_COMPLEX]   = CQ_KINDS_NUMBER,
        [CQ_SCHEMA_SCALAR]    = CQ_KINDS_NUMBER,
        [CQ_SCHEMA_STR]       = CQ_KIND(STR),
        [CQ_SCHEMA_DEVICE]    = CQ_KIND(DEVICE) | CQ_KIND(STR),
        [CQ_SCHEMA_GENERATOR] = CQ_KIND(NONE) | CQ_KIND(OBJECT),
        [CQ_SCHEMA_DICT]      = CQ_KIND(DICT),
        [CQ_SCHEMA_TUPLE]     = CQ_KIND(LIST),
        [CQ_SCHEMA_ANY]       = CQ_KINDS_ANY,
        [CQ_SCHEMA_NONE]      = CQ_KIND(NONE),
    };
    cq_kinds k = kinds[t->base];

    if (taken && (t->base == CQ_SCHEMA_FLOAT || t->base == CQ_SCHEMA_BOOL))
        k |= CQ_KIND(INT); /* converted */
    if (t->list_depth)     /* 3 for int[2] */
        k = CQ_KIND(LIST) | (t->base == CQ_SCHEMA_TENSOR ? 0 : k);
    return k | (t->optional || t->base == CQ_SCHEMA_DEVICE ? CQ_KIND(NONE) : 0);
}

bool cq_kinds_only(cq_kinds kinds, cq_kinds of)
{
    return kinds && !(kinds & ~of);
}

/* ---- names ---- */

int cq_body_find_slot(const cq_body_parser *p, const char *name)
{
    for (size_t i = 0; i < p->n_slots; i++)
        if (strcmp(p->slots[i].name, name) == 0)
            return (int)i;
    return -1;
}

/* The slot of a name that gets a value of these kinds. */
size_t cq_body_set_slot(cq_body_parser *p, const char *name, cq_kinds kinds)
{
    int at = cq_body_find_slot(p, name);

    if (at < 0) {
        at = (int)p->n_slots;
        if (p->n_slots == CQ_BODY_MAX_SLOTS) {
            cq_body_fail(p, "too many variables");
            return 0;
        }
        p->slots[p->n_slots++].name = name;
    }
    p->slots[at].kinds |= kinds;
    return (size_t)at;
}

cq_body_expr *cq_body_constant(cq_body_parser *p, cq_val v)
{
    cq_body_expr *e = cq_body_node(p, CQ_EXPR_CONSTANT, (cq_kinds)1 << v.kind);

    e->value = v;
    return e;
}

/* grad, grad1, result2: names of the owner of a formula. */
cq_body_expr *cq_body_owner_name(cq_body_parser *p, const char *name)
{
    for (size_t i = 0; p->owner && p->owner->names[i]; i++) {
        size_t n = strlen(p->owner->names[i]);

        if (strncmp(name, p->owner->names[i], n) == 0 &&
            name[n + strspn(name + n, "0123456789")] == '\0') {
            cq_body_expr *e = cq_body_node(
                p, CQ_EXPR_OWNER, i < p->owner->n_tensors ? CQ_KIND(TENSOR) : CQ_KIND(INT));

            e->slot   = i;
            e->number = (size_t)atoi(name + n);
            return e;
        }
    }
    return NULL;
}

cq_body_expr *cq_body_math_constant(cq_body_parser *p, const char *name)
{
    if (strcmp(name, "pi") == 0)
        return cq_body_constant(p, FLOAT(3.14159265358979323846));
    if (strcmp(name, "inf") == 0)
        return cq_body_constant(p, FLOAT(INFINITY));
    if (strcmp(name, "nan") == 0)
        return cq_body_constant(p, FLOAT(NAN));
    return NULL;
}

/* The second argument of isinstance. */
static cq_body_expr *type_name(cq_body_parser *p, const char *name)
{
    for (int kind = CQ_VAL_TENSOR; kind <= CQ_VAL_TUPLE; kind++)
        if (strcmp(cq_val_kind_name((cq_val_kind)kind), name) == 0)
            return cq_body_constant(p, INT(kind));
    return NULL;
}

/* float32, bool …: dtypes are the numbers that PyTorch has for them. */
cq_body_expr *cq_body_dtype(cq_body_parser *p, const char *name)
{
    for (int64_t i = 0; i < 32; i++) {
        cq_dtype d = cq_dtype_from_torch(i);

        if (d != CQ_DTYPE_NONE && strcmp(cq_dtype_name(d), name) == 0)
            return cq_body_constant(p, INT(i));
    }
    return NULL;
}

cq_body_expr *cq_body_name(cq_body_parser *p, const char *name)
{
    int           at = cq_body_find_slot(p, name);
    cq_body_expr *e;

    if (at >= 0) {
        e       = cq_body_node(p, CQ_EXPR_SLOT, p->slots[at].kinds);
        e->slot = (size_t)at;
        return e;
    }
    if (strcmp(name, "True") == 0 || strcmp(name, "False") == 0)
        return cq_body_constant(p, BOOL(name[0] == 'T'));
    if (strcmp(name, "None") == 0)
        return cq_body_constant(p, CQ_NONE);
    e = cq_body_owner_name(p, name);
    if (!e)
        e = type_name(p, name);
    if (!e)
        cq_body_fail(p, "an unknown name before what is");
    return e ? e : &p->nothing;
}

/* ---- calls ---- */

/* Whether an overload takes the arguments, and where each goes. It surely does if their kinds leave
 * no doubt. */
static bool fits(cq_body_parser *p, cq_target *t, const cq_body_arguments *args)
{
    const cq_schema *s      = t->schema;
    uint8_t         *places = cq_body_alloc(p, args->n, 1);
    uint64_t         given  = 0;

    t->places  = places;
    t->is_sure = true;
    for (size_t i = 0; i < args->n && places; i++) {
        int at = args->keywords[i] ? cq_schema_find(s, args->keywords[i]) : (int)i;

        if (at < 0 || (size_t)at >= s->n_args || (given >> at & 1) ||
            (!args->keywords[i] && s->args[at].keyword_only) ||
            !(cq_kinds_of(&s->args[at].type, true) & args->items[i]->kinds))
            return false;
        t->is_sure &= cq_kinds_only(args->items[i]->kinds, cq_kinds_of(&s->args[at].type, true));
        places[i] = (uint8_t)at;
        given |= (uint64_t)1 << at;
        if (t->n_filled <= (size_t)at)
            t->n_filled = (size_t)at + 1;
    }
    for (size_t i = 0; i < s->n_args; i++)
        if (!(given >> i & 1) && !s->args[i].has_default)
            return false;
    return places != NULL;
}

static cq_kinds kinds_of_results(const cq_schema *s)
{
    return s->n_results == 1 ? cq_kinds_of(&s->results[0].type, false)
           : s->n_results    ? CQ_KIND(LIST)
                             : CQ_KIND(NONE);
}

static void add_target(cq_body_parser *p, cq_body_expr *e, cq_target *to, const cq_target *t,
                       const cq_body_arguments *args)
{
    cq_target fitting = *t;

    if (!fits(p, &fitting, args))
        return;
    to[e->n_targets++] = fitting;
    e->kinds |= kinds_of_results(fitting.schema);
}

void cq_body_targets(cq_body_parser *p, cq_body_expr *e, const char *name,
                     const cq_body_arguments *args)
{
    enum { MAX_OVERLOADS = 64 };
    cq_target          targets[MAX_OVERLOADS];
    const cq_callable *function = cq_body_function_find(name);
    const char        *prefix   = strstr(name, "::") ? "" : "aten::";
    char               full[CQ_BODY_MAX_NAME];
    const cq_op       *op;

    snprintf(full, sizeof full, "%s%s", prefix, name);
    if (function) {
        add_target(p, e, targets, &(cq_target){ .function = function, .schema = function->schema },
                   args);
    } else if (strchr(name, '.')) {
        if ((op = cq_op_find(full)))
            add_target(p, e, targets, &(cq_target){ .op = op, .schema = op->schema }, args);
    } else {
        for (op = cq_op_overloads(full); op && e->n_targets < MAX_OVERLOADS &&
                                         !(e->n_targets && targets[e->n_targets - 1].is_sure);
             op = op->next)
            add_target(p, e, targets, &(cq_target){ .op = op, .schema = op->schema }, args);
    }
    if (!e->n_targets)
        return;
    e->targets = cq_arena_copy(p->arena, targets, e->n_targets * sizeof *targets);
    if (!e->targets)
        p->status = CQ_E_NO_MEMORY;
}

static const cq_native *find_native(const char *name, const cq_body_arguments *args)
{
    for (const cq_native *n = cq_natives; n->name; n++)
        if (strcmp(n->name, name) == 0 && args->n >= n->min && args->n <= n->max &&
            (args->items[0]->kinds & n->takes))
            return n;
    return NULL;
}

const cq_body_expr **cq_body_items(cq_body_parser *p, const cq_body_arguments *args)
{
    const cq_body_expr **items = cq_body_alloc(p, args->n, sizeof *items);

    if (items)
        memcpy(items, args->items, args->n * sizeof *items);
    return items;
}

/* max(a, b) may be of numbers or of tensors: if the kinds do not tell, the values will. */
cq_body_expr *cq_body_call(cq_body_parser *p, const char *name, const cq_body_arguments *args)
{
    const cq_native *native = find_native(name, args);
    cq_body_expr    *e      = cq_body_node(p, CQ_EXPR_CALL, native ? native->gives : 0);

    if (p->status != CQ_OK)
        return &p->nothing;
    e->name   = name;
    e->native = native;
    if (!native || !cq_kinds_only(args->items[0]->kinds, native->takes))
        cq_body_targets(p, e, name, args);
    if (!e->native && !e->n_targets) {
        p->at = name;
        cq_body_fail(p, "a call that no operator takes");
    }
    if (p->status != CQ_OK)
        return &p->nothing;
    e->items   = cq_body_items(p, args);
    e->n_items = args->n;
    return e;
}

/* ---- functions that bodies share ---- */

static struct {
    pthread_once_t once;
    cq_arena      *arena;
    cq_callable   *functions;
    size_t         n;
} shared = { .once = PTHREAD_ONCE_INIT };

static const cq_body_function *const families[] = { cq_body_functions, cq_body_images,
                                                    cq_body_layers };

enum { N_FAMILIES = sizeof families / sizeof *families };

static size_t count_functions(void)
{
    size_t n = 0;

    for (size_t k = 0; k < N_FAMILIES; k++)
        for (const cq_body_function *f = families[k]; f->schema; f++)
            n++;
    return n;
}

static void build_shared(void)
{
    cq_schema *schema;

    shared.arena = cq_arena_new();
    shared.functions =
        shared.arena ? cq_arena_array(shared.arena, count_functions(), sizeof *shared.functions)
                     : NULL;
    for (size_t k = 0; k < N_FAMILIES && shared.functions; k++)
        for (const cq_body_function *f = families[k]; f->schema; f++) {
            if (cq_schema_parse(&schema, shared.arena, f->schema) != CQ_OK)
                return; /* a body that calls it says so */
            shared.functions[shared.n++] = (cq_callable){ .def = f, .schema = schema };
        }
}

const cq_callable *cq_body_function_find(const char *name)
{
    pthread_once(&shared.once, build_shared);
    for (size_t i = 0; i < shared.n; i++)
        if (strcmp(shared.functions[i].schema->full, name) == 0)
            return &shared.functions[i];
    return NULL;
}

static bool has_native(const char *name)
{
    const cq_native *n = cq_natives;

    while (n->name && strcmp(n->name, name) != 0)
        n++;
    return n->name != NULL;
}

cq_status cq_body_check_functions(void)
{
    pthread_once(&shared.once, build_shared);
    for (size_t i = 0; i < shared.n; i++) {
        cq_body    *body;
        const char *name = shared.functions[i].schema->full;
        char        full[CQ_BODY_MAX_NAME];

        snprintf(full, sizeof full, "aten::%s", name);
        if (cq_op_overloads(full) || has_native(name) ||
            cq_body_function_find(name) != &shared.functions[i])
            return cq_fail(CQ_E_INTERNAL, name, NULL, "another function or operator has the name");
        CQ_TRY(
            cq_body_parse(&body, shared.functions[i].schema, shared.functions[i].def->body, NULL));
        cq_arena_free(body->arena);
    }
    return shared.n < count_functions() ? CQ_E_INTERNAL : CQ_OK;
}
