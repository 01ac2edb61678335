/* Helpers of all parts of the parser: tokens, failures, memory, and whole units. parser.h lists the
 * other parts. The parser checks syntax only; the evaluator resolves names. */
#include "lang/parser.h"

#include "lang/encoding.h"

#include <stdio.h>
#include <string.h>

/* ---- failing ------------------------------------------------------------------------------ */

void *cq_parser_fail(cq_parser *p, cq_span at, const char *format, ...)
{
    char    message[512];
    va_list args;

    if (p->status != CQ_OK)
        return NULL;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    p->status = cq_source_fail(&p->unit->source, at, CQ_E_SYNTAX, NULL, "%s", message);
    return NULL;
}

/* "'x'" for tokens with text, otherwise their kind. */
static void describe(const cq_parser *p, const cq_token *t, char *out, size_t size)
{
    const int len = t->at.end - t->at.start < 40 ? (int)(t->at.end - t->at.start) : 40;

    if (t->kind == CQ_TOKEN_NAME || t->kind == CQ_TOKEN_NUMBER)
        snprintf(out, size, "'%.*s'", len, p->unit->source.text + t->at.start);
    else
        snprintf(out, size, "%s", cq_token_text(t->kind));
}

void *cq_parser_refuse(cq_parser *p)
{
    const cq_token *t = cq_parser_peek(p, 0);
    char            found[64];

    describe(p, t, found, sizeof found);
    return cq_parser_fail(p, t->at, "%s is not expected here", found);
}

/* ---- looking and taking --------------------------------------------------------------------- */

bool cq_parser_expect(cq_parser *p, cq_token_kind kind)
{
    char found[64];

    if (cq_parser_accept(p, kind))
        return true;
    describe(p, cq_parser_peek(p, 0), found, sizeof found);
    cq_parser_fail(p, cq_parser_peek(p, 0)->at, "expected %s but found %s", cq_token_text(kind),
                   found);
    return false;
}

bool cq_parser_at_name(const cq_parser *p, size_t ahead, const char *name)
{
    const cq_token *t = cq_parser_peek(p, ahead);

    return t->kind == CQ_TOKEN_NAME && t->at.end - t->at.start == strlen(name) &&
           memcmp(p->unit->source.text + t->at.start, name, strlen(name)) == 0;
}

uint32_t cq_parser_end(const cq_parser *p)
{
    return p->next ? p->tokens->list.items[p->next - 1].at.end : 0;
}

/* Python's private names: __x in the body of class C is _C__x. */
static bool is_private(const cq_parser *p, const char *text, size_t len)
{
    return p->class_name && !p->has_octal_bytes && len > 2 && text[0] == '_' && text[1] == '_' &&
           !(text[len - 1] == '_' && text[len - 2] == '_');
}

static const char *intern_private(cq_parser *p, const char *text, size_t len)
{
    const char *class_name = p->class_name + strspn(p->class_name, "_"), *name;
    cq_str      s          = { 0 };

    if (!*class_name)
        return cq_parser_intern(p, text, len);
    cq_str_printf(&s, "_%s", class_name);
    cq_str_add_n(&s, text, len);
    if (s.status != CQ_OK && p->status == CQ_OK)
        p->status = s.status;
    name = s.status == CQ_OK ? cq_parser_intern(p, s.text, s.len) : NULL;
    cq_str_clear(&s);
    return name;
}

static const char *intern_token(cq_parser *p)
{
    const cq_span at = cq_parser_peek(p, 0)->at;

    p->next++;
    if (is_private(p, p->unit->source.text + at.start, at.end - at.start))
        return intern_private(p, p->unit->source.text + at.start, at.end - at.start);
    return cq_parser_intern(p, p->unit->source.text + at.start, at.end - at.start);
}

const char *cq_parser_name(cq_parser *p)
{
    if (cq_parser_at(p, CQ_TOKEN_NAME))
        return intern_token(p);
    cq_parser_expect(p, CQ_TOKEN_NAME);
    return NULL;
}

/* PyTorch prints attributes whose names are keywords unchanged. */
static bool at_word(const cq_parser *p)
{
    const cq_token_kind kind = cq_parser_peek(p, 0)->kind;

    return kind == CQ_TOKEN_NAME || (kind >= CQ_TOKEN_FALSE && kind <= CQ_TOKEN_YIELD);
}

const char *cq_parser_attr_name(cq_parser *p)
{
    return at_word(p) ? intern_token(p) : cq_parser_name(p);
}

bool cq_parser_enter(cq_parser *p)
{
    if (p->nesting == CQ_LANG_MAX_NESTING)
        cq_parser_fail(p, cq_parser_peek(p, 0)->at,
                       "brackets and blocks are nested more than %d times", CQ_LANG_MAX_NESTING);
    if (p->status != CQ_OK)
        return false;
    p->nesting++;
    return true;
}

void cq_parser_leave(cq_parser *p)
{
    p->nesting--;
}

/* ---- memory ---------------------------------------------------------------------------------- */

void *cq_parser_new(cq_parser *p, size_t size)
{
    void *block = p->status == CQ_OK ? cq_arena_zalloc(p->unit->arena, size) : NULL;

    if (!block && p->status == CQ_OK)
        p->status = CQ_E_NO_MEMORY;
    return block;
}

const char *cq_parser_intern(cq_parser *p, const char *text, size_t len)
{
    const char *name = cq_map_get_n(&p->unit->names->map, text, len);
    char       *copy;

    if (name || p->status != CQ_OK)
        return p->status == CQ_OK ? name : NULL;
    copy = cq_arena_strndup(p->unit->arena, text, len);
    name = copy ? cq_intern_text(p->unit->names, copy) : NULL;
    if (!name)
        p->status = CQ_E_NO_MEMORY;
    return name;
}

size_t cq_parser_mark(const cq_parser *p)
{
    return p->stack.n;
}

bool cq_parser_push_bytes(cq_parser *p, const void *item, size_t size)
{
    if (p->status == CQ_OK)
        p->status = cq_vec_reserve(&p->stack, p->stack.n + size);
    if (p->status != CQ_OK)
        return false;
    memcpy(p->stack.items + p->stack.n, item, size);
    p->stack.n += size;
    return true;
}

bool cq_parser_take(cq_parser *p, size_t mark, size_t size, void **items, size_t *n)
{
    const size_t bytes = p->stack.n - mark;

    *n     = bytes / size;
    *items = cq_parser_new(p, bytes + !bytes);
    if (!*items)
        return false;
    if (bytes)
        memcpy(*items, p->stack.items + mark, bytes);
    p->stack.n = mark;
    return true;
}

bool cq_parser_take_exprs(cq_parser *p, size_t mark, cq_ast_exprs *out)
{
    void *items;

    if (!cq_parser_take(p, mark, sizeof *out->items, &items, &out->n))
        return false;
    out->items = items;
    return true;
}

cq_ast_expr *cq_parser_expr(cq_parser *p, uint32_t start, cq_ast_expr x)
{
    cq_ast_expr *made = cq_parser_new(p, sizeof *made);

    x.height = 1;
    x.at     = (cq_span){ start, cq_parser_end(p) };
    if (made)
        *made = x;
    return made;
}

cq_ast_expr *cq_parser_over(cq_parser *p, cq_ast_expr *x, const cq_ast_expr *child)
{
    if (!x || !child || x->height > child->height)
        return x;
    x->height = (uint16_t)(child->height + 1);
    if (x->height > CQ_LANG_MAX_HEIGHT)
        return cq_parser_fail(p, x->at, "the expression has more than %d levels",
                              CQ_LANG_MAX_HEIGHT);
    return x;
}

void *cq_parse_range(cq_parser *p, cq_span range, void *(*parse)(cq_parser *p, void *user),
                     void *user)
{
    const cq_tokens *tokens = p->tokens;
    const size_t     next   = p->next;
    cq_tokens        inner;
    void            *out = NULL;

    if (!cq_parser_enter(p))
        return NULL;
    p->status = cq_lex(&inner, &p->unit->source, range, true);
    if (p->status == CQ_OK) {
        p->tokens = &inner;
        p->next   = 0;
        out       = parse(p, user);
        p->tokens = tokens;
        p->next   = next;
        cq_tokens_clear(&inner);
    }
    cq_parser_leave(p);
    return out;
}

/* ---- units ----------------------------------------------------------------------------------- */

static void parse_whole_expr(cq_parser *p)
{
    p->unit->expr = cq_parse_tests(p);
    if (p->status == CQ_OK && !cq_parser_at(p, CQ_TOKEN_END))
        cq_parser_refuse(p);
}

static void parse_function_body(cq_parser *p)
{
    p->n_functions = 1;
    cq_parse_all_statements(p, &p->unit->body);
}

static cq_status parse_unit(cq_unit *unit, cq_parse_mode what, cq_span range)
{
    static void (*const parse[])(cq_parser *) = { cq_parse_file, parse_function_body,
                                                  parse_whole_expr, cq_parse_file };
    cq_parser p = { .unit = unit, .has_octal_bytes = what == CQ_PARSE_PRINTED };
    cq_tokens tokens;

    CQ_TRY(cq_lex(&tokens, &unit->source, range, what == CQ_PARSE_EXPR));
    p.tokens = &tokens;
    parse[what](&p);
    cq_vec_clear(&p.stack);
    cq_tokens_clear(&tokens);
    return p.status;
}

/* Names are found by hash; of two of the same name the first counts, as in PyTorch. */
static cq_status index_unit(cq_unit *unit)
{
    for (size_t i = unit->n_classes; i-- > 0;)
        CQ_TRY(cq_map_set(&unit->classes_by_name, unit->classes[i]->name, unit->classes[i]));
    for (size_t i = unit->n_defs; i-- > 0;)
        CQ_TRY(cq_map_set(&unit->defs_by_name, unit->defs[i]->name, unit->defs[i]));
    return CQ_OK;
}

static cq_unit *new_unit(cq_intern *names)
{
    cq_arena *arena = cq_arena_new();
    cq_unit  *unit  = arena ? cq_arena_zalloc(arena, sizeof *unit) : NULL;

    if (unit)
        *unit = (cq_unit){ .arena = arena, .names = names, .op_version_set = -1 };
    else
        cq_arena_free(arena);
    return unit;
}

static cq_status finish_unit(cq_unit **out, cq_unit *unit, cq_parse_mode what, cq_span range)
{
    cq_status status = parse_unit(unit, what, range);

    if (status == CQ_OK)
        status = index_unit(unit);
    if (status == CQ_OK)
        *out = unit;
    else
        cq_unit_free(unit);
    return status;
}

cq_status cq_parse(cq_unit **out, cq_intern *names, const char *file, const char *text, size_t len,
                   cq_parse_mode what)
{
    cq_unit  *unit;
    cq_status status = CQ_E_NO_MEMORY;

    *out = NULL;
    if (len > CQ_LANG_MAX_TEXT)
        return cq_fail(CQ_E_SYNTAX, file, NULL, "the text has %zu bytes, more than %u", len,
                       CQ_LANG_MAX_TEXT);
    unit = new_unit(names);
    if (!unit)
        return CQ_E_NO_MEMORY;
    cq_source_init(&unit->source, cq_arena_strdup(unit->arena, file),
                   cq_arena_strndup(unit->arena, text, len), len);
    if (unit->source.file && unit->source.text)
        status = cq_decode(unit->arena, &unit->source);
    if (status == CQ_OK)
        return finish_unit(out, unit, what, (cq_span){ 0, (uint32_t)unit->source.len });
    cq_unit_free(unit);
    return status;
}

cq_status cq_parse_part(cq_unit **out, cq_intern *names, const cq_source *source, cq_span range)
{
    cq_unit *unit = new_unit(names);

    *out = NULL;
    if (!unit)
        return CQ_E_NO_MEMORY;
    unit->source = *source;
    return finish_unit(out, unit, CQ_PARSE_FILE, range);
}

void cq_unit_free(cq_unit *unit)
{
    if (!unit)
        return;
    cq_map_clear(&unit->classes_by_name);
    cq_map_clear(&unit->defs_by_name);
    cq_arena_free(unit->arena);
}
