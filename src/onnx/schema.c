/* Finds and parses schema rows. All rows are indexed by name on first use, which reads only their
 * first two words; a row is parsed when it is first needed, and kept. schema_check.c checks
 * nodes. */
#include "onnx/schema.h"
#include "base/map.h"
#include "base/once.h"
#include "onnx/ops/rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const struct {
    const char        *domain;
    const char *const *rows;
} families[] = {
    { "", cq_onnx_rows_activation },
    { "", cq_onnx_rows_math },
    { "", cq_onnx_rows_tensor },
    { "", cq_onnx_rows_reduce },
    { "", cq_onnx_rows_nn },
    { "", cq_onnx_rows_rnn },
    { "", cq_onnx_rows_controlflow },
    { "", cq_onnx_rows_sequence },
    { "", cq_onnx_rows_quantize },
    { "", cq_onnx_rows_logic },
    { "", cq_onnx_rows_random },
    { "", cq_onnx_rows_image },
    { "", cq_onnx_rows_text },
    { "ai.onnx.preview.training", cq_onnx_rows_training },
    { "ai.onnx.ml", cq_onnx_rows_ml },
    { "com.microsoft", cq_onnx_rows_microsoft },
    { CQ_ONNX_EXPERIMENTAL, cq_onnx_rows_experimental },
};

typedef struct entry {
    const char     *domain, *text;
    int             since;
    cq_onnx_schema *schema; /* NULL until it is parsed */
    struct entry   *older;
} entry;

static struct {
    cq_once   once;
    cq_arena *arena;
    cq_map    newest; /* "domain:name" to entry */
    entry    *entries;
    size_t    n;
} table = { .once = CQ_ONCE_INIT };

static cq_mutex parse_lock = CQ_MUTEX_INIT;

/* ---- types ---- */

/* Names by cq_onnx_data_type: in rows, and inside tensor(…). */
static const struct {
    const char *word, *name;
} elements[CQ_ONNX_DATA_TYPE_COUNT] = {
    [CQ_ONNX_FLOAT]          = { "f32", "float" },
    [CQ_ONNX_UINT8]          = { "u8", "uint8" },
    [CQ_ONNX_INT8]           = { "i8", "int8" },
    [CQ_ONNX_UINT16]         = { "u16", "uint16" },
    [CQ_ONNX_INT16]          = { "i16", "int16" },
    [CQ_ONNX_INT32]          = { "i32", "int32" },
    [CQ_ONNX_INT64]          = { "i64", "int64" },
    [CQ_ONNX_STRING]         = { "str", "string" },
    [CQ_ONNX_BOOL]           = { "bool", "bool" },
    [CQ_ONNX_FLOAT16]        = { "f16", "float16" },
    [CQ_ONNX_DOUBLE]         = { "f64", "double" },
    [CQ_ONNX_UINT32]         = { "u32", "uint32" },
    [CQ_ONNX_UINT64]         = { "u64", "uint64" },
    [CQ_ONNX_COMPLEX64]      = { "c64", "complex64" },
    [CQ_ONNX_COMPLEX128]     = { "c128", "complex128" },
    [CQ_ONNX_BFLOAT16]       = { "bf16", "bfloat16" },
    [CQ_ONNX_FLOAT8E4M3FN]   = { "f8e4m3fn", "float8e4m3fn" },
    [CQ_ONNX_FLOAT8E4M3FNUZ] = { "f8e4m3fnuz", "float8e4m3fnuz" },
    [CQ_ONNX_FLOAT8E5M2]     = { "f8e5m2", "float8e5m2" },
    [CQ_ONNX_FLOAT8E5M2FNUZ] = { "f8e5m2fnuz", "float8e5m2fnuz" },
    [CQ_ONNX_UINT4]          = { "u4", "uint4" },
    [CQ_ONNX_INT4]           = { "i4", "int4" },
    [CQ_ONNX_FLOAT4E2M1]     = { "f4e2m1", "float4e2m1" },
    [CQ_ONNX_FLOAT8E8M0]     = { "f8e8m0", "float8e8m0" },
    [CQ_ONNX_UINT2]          = { "u2", "uint2" },
    [CQ_ONNX_INT2]           = { "i2", "int2" },
};

#define BIT(type) (1u << CQ_ONNX_##type)
#define IEEE      (BIT(FLOAT16) | BIT(FLOAT) | BIT(DOUBLE))
#define HIGH      (IEEE | BIT(INT32) | BIT(INT64) | BIT(UINT32) | BIT(UINT64))
#define NUM       (HIGH | BIT(INT8) | BIT(INT16) | BIT(UINT8) | BIT(UINT16))
#define ANY       (NUM | BIT(STRING) | BIT(BOOL) | BIT(COMPLEX64) | BIT(COMPLEX128))
#define FLOAT8S   (BIT(FLOAT8E4M3FN) | BIT(FLOAT8E4M3FNUZ) | BIT(FLOAT8E5M2) | BIT(FLOAT8E5M2FNUZ))

static const struct {
    const char *word;
    uint32_t    bits;
} sets[] = {
    { "any", ANY },   { "num", NUM },        { "high", HIGH },
    { "ieee", IEEE }, { "float8", FLOAT8S }, { "int4", BIT(UINT4) | BIT(INT4) },
};

/* The map types of ai.onnx.ml; a bit for each. */
static const struct {
    const char *word, *name;
} maps[] = {
    { "i64-str", "int64,tensor(string)" }, { "i64-f32", "int64,tensor(float)" },
    { "i64-f64", "int64,tensor(double)" }, { "str-i64", "string,tensor(int64)" },
    { "str-f32", "string,tensor(float)" }, { "str-f64", "string,tensor(double)" },
};

int cq_onnx_map_bit(int key, int value)
{
    char word[32];

    if (!cq_onnx_element_name(key) || !cq_onnx_element_name(value))
        return -1;
    snprintf(word, sizeof word, "%s-%s", elements[key].word, elements[value].word);
    for (size_t i = 0; i < COUNT(maps); i++)
        if (!strcmp(maps[i].word, word))
            return (int)i;
    return -1;
}

static const struct {
    const char *word, *before, *after;
} wraps[CQ_ONNX_WRAP_COUNT] = {
    [CQ_ONNX_WRAP_TENSOR]            = { "", "tensor(", ")" },
    [CQ_ONNX_WRAP_SEQUENCE]          = { "seq.", "seq(tensor(", "))" },
    [CQ_ONNX_WRAP_OPTIONAL]          = { "opt.", "optional(tensor(", "))" },
    [CQ_ONNX_WRAP_OPTIONAL_SEQUENCE] = { "opt.seq.", "optional(seq(tensor(", ")))" },
    [CQ_ONNX_WRAP_MAP]               = { "map.", "map(", ")" },
    [CQ_ONNX_WRAP_SEQUENCE_OF_MAPS]  = { "seq.map.", "seq(map(", "))" },
};

int64_t cq_onnx_ir_of_opset(int64_t opset)
{
    /* The last opset of each IR version; the first is 3. */
    static const int last[] = { 8, 9, 10, 11, 14, 18, 20, 22, 23, 24 };
    size_t           i      = 0;

    while (i < sizeof last / sizeof *last && opset > last[i])
        i++;
    return 3 + (int64_t)i;
}

static bool is_word(const char *word, const char *text, size_t len)
{
    return word && strlen(word) == len && !memcmp(word, text, len);
}

static uint32_t element_bits(cq_onnx_wrap wrap, const char *text, size_t len)
{
    bool is_map = wrap == CQ_ONNX_WRAP_MAP || wrap == CQ_ONNX_WRAP_SEQUENCE_OF_MAPS;

    for (size_t i = 0; is_map && i < COUNT(maps); i++)
        if (is_word(maps[i].word, text, len))
            return 1u << i;
    for (size_t i = 0; !is_map && i < COUNT(elements); i++)
        if (is_word(elements[i].word, text, len))
            return 1u << i;
    for (size_t i = 0; !is_map && i < COUNT(sets); i++)
        if (is_word(sets[i].word, text, len))
            return sets[i].bits;
    return 0;
}

/* Parses "any,bf16,seq.any". Returns false for a word that is not a type. */
static bool parse_types(cq_onnx_types *out, const char *text)
{
    *out = (cq_onnx_types){ 0 };
    while (*text) {
        size_t   len = strcspn(text, ","), prefix = len;
        uint32_t bits = 0;

        while (prefix > 0 && text[prefix - 1] != '.')
            prefix--;
        for (int w = 0; w < CQ_ONNX_WRAP_COUNT; w++)
            if (is_word(wraps[w].word, text, prefix)) {
                bits = element_bits((cq_onnx_wrap)w, text + prefix, len - prefix);
                out->of[w] |= bits;
            }
        if (!bits)
            return false;
        text += len + (text[len] == ',');
    }
    return true;
}

void cq_onnx_types_print(cq_str *s, const cq_onnx_types *types)
{
    const char *between = "";

    for (int w = 0; w < CQ_ONNX_WRAP_COUNT; w++)
        for (unsigned i = 0; i < 32; i++) {
            bool is_map = w == CQ_ONNX_WRAP_MAP || w == CQ_ONNX_WRAP_SEQUENCE_OF_MAPS;

            if (!(types->of[w] >> i & 1))
                continue;
            cq_str_printf(s, "%s%s%s%s", between, wraps[w].before,
                          is_map ? maps[i].name : elements[i].name, wraps[w].after);
            between = ", ";
        }
}

const char *cq_onnx_element_name(int32_t data_type)
{
    return data_type > 0 && data_type < CQ_ONNX_DATA_TYPE_COUNT ? elements[data_type].name : NULL;
}

/* ---- rows ---- */

static const struct {
    const char            *word;
    cq_onnx_attribute_type type;
} attribute_types[] = {
    { "f", CQ_ONNX_ATTR_FLOAT },          { "i", CQ_ONNX_ATTR_INT },
    { "s", CQ_ONNX_ATTR_STRING },         { "t", CQ_ONNX_ATTR_TENSOR },
    { "g", CQ_ONNX_ATTR_GRAPH },          { "fs", CQ_ONNX_ATTR_FLOATS },
    { "is", CQ_ONNX_ATTR_INTS },          { "ss", CQ_ONNX_ATTR_STRINGS },
    { "ts", CQ_ONNX_ATTR_TENSORS },       { "gs", CQ_ONNX_ATTR_GRAPHS },
    { "sp", CQ_ONNX_ATTR_SPARSE_TENSOR }, { "sps", CQ_ONNX_ATTR_SPARSE_TENSORS },
    { "tp", CQ_ONNX_ATTR_TYPE_PROTO },    { "tps", CQ_ONNX_ATTR_TYPE_PROTOS },
};

typedef struct row_parser {
    cq_onnx_schema *schema;
    char           *at; /* a copy of the row, split into words during the parse */
    bool            ok;
} row_parser;

/* The next word before the next `|`; NULL at the `|`, which is consumed. */
static char *next_word(row_parser *p)
{
    char *word;

    p->at += strspn(p->at, " ");
    if (!*p->at)
        return NULL;
    if (*p->at == '|') {
        p->at++;
        return NULL;
    }
    word = p->at;
    p->at += strcspn(p->at, " ");
    if (*p->at)
        *p->at++ = '\0';
    return word;
}

static size_t count_words(const char *at)
{
    size_t n = 0;

    for (at += strspn(at, " "); *at && *at != '|'; at += strspn(at, " ")) {
        n++;
        at += strcspn(at, " ");
    }
    return n;
}

/* "B?:T" */
static void parse_parameter(row_parser *p, cq_onnx_parameter *out, char *word)
{
    char *colon = strrchr(word, ':');
    char *mark  = strpbrk(word, "?*~:");

    *out = (cq_onnx_parameter){ .name = word, .min = 1, .constraint = -1 };
    p->ok &= colon != NULL;
    if (!colon)
        return;
    out->type  = colon + 1;
    out->arity = *mark == '?'   ? CQ_ONNX_OPTIONAL
                 : *mark == '*' ? CQ_ONNX_VARIADIC
                 : *mark == '~' ? CQ_ONNX_VARIADIC_MIXED
                                : CQ_ONNX_SINGLE;
    if (mark + 1 < colon)
        out->min = atoi(mark + 1);
    *colon = *mark = '\0';
}

static void parse_parameters(row_parser *p, cq_onnx_parameter **list, size_t *n, size_t *min,
                             size_t *max)
{
    size_t i = 0;
    char  *word;

    *n    = count_words(p->at);
    *list = cq_arena_array(table.arena, *n, sizeof **list);
    if (!*list) {
        p->ok = false;
        return;
    }
    for (; (word = next_word(p)); i++) {
        cq_onnx_parameter *item = &(*list)[i];

        parse_parameter(p, item, word);
        if (item->arity == CQ_ONNX_SINGLE)
            *min = i + 1;
        else if (item->arity != CQ_ONNX_OPTIONAL)
            *min = i + (size_t)item->min;
        *max = item->arity <= CQ_ONNX_OPTIONAL ? i + 1 : SIZE_MAX;
    }
}

/* "kernel_shape!:is", "group:i=1" */
static void parse_attributes(row_parser *p)
{
    cq_onnx_schema *s = p->schema;
    size_t          n = count_words(p->at);
    char           *word;

    s->attributes = cq_arena_array(table.arena, n, sizeof *s->attributes);
    p->ok &= s->attributes != NULL;
    while (p->ok && (word = next_word(p))) {
        cq_onnx_schema_attribute *a      = &s->attributes[s->n_attributes++];
        char                     *equals = strchr(word, '='), *colon = strchr(word, ':');

        if (!colon) {
            p->ok = false;
            return;
        }
        if (equals) {
            *equals     = '\0';
            a->fallback = equals + 1;
        }
        *colon         = '\0';
        a->is_required = colon > word && colon[-1] == '!';
        if (a->is_required)
            colon[-1] = '\0';
        a->name = word;
        for (size_t i = 0; i < COUNT(attribute_types); i++)
            if (!strcmp(attribute_types[i].word, colon + 1))
                a->type = attribute_types[i].type;
        p->ok &= a->type != CQ_ONNX_ATTR_UNDEFINED;
    }
}

static void parse_constraints(row_parser *p)
{
    cq_onnx_schema *s = p->schema;
    size_t          n = count_words(p->at);
    char           *word;

    s->constraints = cq_arena_array(table.arena, n, sizeof *s->constraints);
    p->ok &= s->constraints != NULL;
    while (p->ok && (word = next_word(p))) {
        cq_onnx_constraint *c      = &s->constraints[s->n_constraints++];
        char               *equals = strchr(word, '=');

        if (!equals) {
            p->ok = false;
            return;
        }
        *equals = '\0';
        c->name = word;
        c->text = equals + 1;
        p->ok &= parse_types(&c->types, c->text);
    }
}

/* Types of parameters come last in a row, so they are resolved at the end. */
static void resolve_types(row_parser *p, cq_onnx_parameter *list, size_t n)
{
    for (size_t i = 0; p->ok && i < n; i++) {
        for (size_t c = 0; c < p->schema->n_constraints; c++)
            if (!strcmp(p->schema->constraints[c].name, list[i].type)) {
                list[i].constraint = (int)c;
                list[i].types      = p->schema->constraints[c].types;
            }
        if (list[i].constraint < 0)
            p->ok &= parse_types(&list[i].types, list[i].type);
    }
}

static cq_status parse_row(entry *e)
{
    cq_onnx_schema *s    = cq_arena_zalloc(table.arena, sizeof *s);
    char           *copy = cq_arena_strdup(table.arena, e->text);
    row_parser      p    = { s, copy, true };
    char           *word;

    if (!s || !copy)
        return CQ_E_NO_MEMORY;
    s->domain = e->domain;
    s->since  = e->since;
    s->name   = next_word(&p);
    next_word(&p);
    while ((word = next_word(&p))) {
        s->is_deprecated |= !strcmp(word, "deprecated");
        s->is_function |= !strcmp(word, "function");
        s->is_open |= !strcmp(word, "open");
        s->is_uninferred |= !strcmp(word, "uninferred");
        s->gives_one_or_all |= !strcmp(word, "one-or-all");
    }
    parse_parameters(&p, &s->inputs, &s->n_inputs, &s->min_inputs, &s->max_inputs);
    parse_parameters(&p, &s->outputs, &s->n_outputs, &s->min_outputs, &s->max_outputs);
    parse_attributes(&p);
    parse_constraints(&p);
    resolve_types(&p, s->inputs, s->n_inputs);
    resolve_types(&p, s->outputs, s->n_outputs);
    if (!p.ok)
        return cq_fail(CQ_E_INTERNAL, NULL, NULL, "cannot read the schema row \"%s\"", e->text);
    e->schema = s;
    return CQ_OK;
}

/* ---- look-up ---- */

static const char *plain_domain(const char *domain)
{
    return !domain || !strcmp(domain, "ai.onnx") ? "" : domain;
}

/* Returns false for a name that is longer than all known names. */
static bool make_key(char key[128], const char *domain, const char *name, size_t name_len)
{
    int n = name_len < 100 ? snprintf(key, 128, "%s:%.*s", domain, (int)name_len, name) : -1;

    return n > 0 && n < 128;
}

static cq_status index_row(entry *e, const char *domain, const char *text)
{
    char   key[128];
    size_t len = strcspn(text, " ");

    e->domain = domain;
    e->text   = text;
    e->since  = atoi(text + len);
    if (!make_key(key, domain, text, len))
        return cq_fail(CQ_E_INTERNAL, NULL, NULL, "the schema row \"%s\" has no name", text);
    e->older = cq_map_get(&table.newest, key);
    return cq_map_set(&table.newest, key, e);
}

static cq_status build_index(void)
{
    cq_status status;
    size_t    n = 0;

    for (size_t f = 0; f < COUNT(families); f++)
        for (const char *const *row = families[f].rows; *row; row++)
            n++;
    table.arena   = cq_arena_new();
    table.entries = table.arena ? cq_arena_array(table.arena, n, sizeof *table.entries) : NULL;
    table.n       = 0;
    status        = table.entries ? CQ_OK : CQ_E_NO_MEMORY;
    for (size_t f = 0; f < COUNT(families); f++)
        for (const char *const *row = families[f].rows; *row && status == CQ_OK; row++)
            status = index_row(&table.entries[table.n++], families[f].domain, *row);
    if (status != CQ_OK) {
        cq_map_clear(&table.newest);
        cq_arena_free(table.arena);
        table.arena = NULL;
    }
    return status;
}

static cq_status parsed(const cq_onnx_schema **out, entry *e)
{
    cq_status status = CQ_OK;

    cq_mutex_lock(&parse_lock);
    if (!e->schema)
        status = parse_row(e);
    *out = e->schema;
    cq_mutex_unlock(&parse_lock);
    return status;
}

static cq_status open_table(void)
{
    return cq_once_call(&table.once, build_index);
}

cq_status cq_onnx_schema_find(const cq_onnx_schema **out, const char *domain, const char *name,
                              int64_t version)
{
    char   key[128];
    entry *e;

    *out = NULL;
    CQ_TRY(open_table());
    if (!name || !make_key(key, plain_domain(domain), name, strlen(name)))
        return CQ_OK;
    e = cq_map_get(&table.newest, key);
    while (e && e->since > version)
        e = e->older;
    return e ? parsed(out, e) : CQ_OK;
}

cq_status cq_onnx_schema_at(const cq_onnx_schema **out, size_t index)
{
    *out = NULL;
    CQ_TRY(open_table());
    return index < table.n ? parsed(out, &table.entries[index]) : CQ_E_NOT_FOUND;
}

bool cq_onnx_domain_is_known(const char *domain)
{
    domain = plain_domain(domain);
    for (size_t f = 0; f < COUNT(families); f++)
        if (!strcmp(families[f].domain, domain))
            return families[f].rows != cq_onnx_rows_microsoft &&
                   families[f].rows != cq_onnx_rows_experimental;
    return false;
}

const cq_onnx_schema_attribute *cq_onnx_schema_attr(const cq_onnx_schema *s, const char *name)
{
    for (size_t i = 0; i < s->n_attributes; i++)
        if (!strcmp(s->attributes[i].name, name))
            return &s->attributes[i];
    return NULL;
}

const cq_onnx_parameter *cq_onnx_parameter_at(const cq_onnx_parameter *list, size_t n, size_t i)
{
    if (i < n)
        return &list[i];
    return n && list[n - 1].arity >= CQ_ONNX_VARIADIC ? &list[n - 1] : NULL;
}

int64_t cq_onnx_imported(const cq_onnx_opsets *opsets, const char *domain)
{
    domain = plain_domain(domain);
    for (uint32_t i = 0; i < opsets->n; i++)
        if (!strcmp(plain_domain(opsets->items[i]->domain), domain))
            return opsets->items[i]->version;
    return -1;
}
