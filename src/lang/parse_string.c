/* Strings, and f-strings with their fields. Adjacent strings are one. */
#include "lang/parser.h"

#include <string.h>

/* The strings so far: finished parts are on the parser's stack, the literal text after them is in
 * text. */
typedef struct string {
    cq_literal literal;
    uint32_t   start; /* of the first of the adjacent strings */
    char first, kind; /* 'b': bytes, 't': a template, 's': others; of the first and this one */
    bool has_fields;
} string;

bool cq_parse_at_string(const cq_parser *p)
{
    return cq_parser_at(p, CQ_TOKEN_STRING) || cq_parser_at(p, CQ_TOKEN_FSTRING_START);
}

/* ---- literal text --------------------------------------------------------------------------- */

/* The literal text so far as an expression. */
static cq_ast_expr *take_text(cq_parser *p, string *s)
{
    const cq_str *text = &s->literal.text;
    cq_ast_expr  *x    = cq_parser_expr(p, s->start, (cq_ast_expr){ .kind = CQ_X_STR });
    char         *copy;

    copy = x ? cq_parser_new(p, text->len + 1) : NULL;
    if (!copy)
        return NULL;
    if (text->len)
        memcpy(copy, text->text, text->len);
    if (s->first == 'b')
        x->kind = CQ_X_BYTES;
    if (s->literal.named)
        x->flags = CQ_AST_NAMED_CHARACTERS;
    x->u.str.text    = copy;
    x->u.str.len     = text->len;
    s->literal.named = false;
    cq_str_clear(&s->literal.text);
    return x;
}

static bool push_text(cq_parser *p, string *s)
{
    cq_ast_expr *x;

    if (!s->literal.text.len)
        return true;
    x = take_text(p, s);
    return x && cq_parser_push(p, x);
}

/* Reads the prefix of a token and gives its length; *quotes is 1 or 3. */
static uint32_t read_prefix(cq_parser *p, string *s, cq_span at, uint32_t *quotes)
{
    const char *text = p->unit->source.text + at.start;
    uint32_t    n    = 0;

    s->literal.raw = false;
    s->kind        = 's';
    for (; text[n] != '"' && text[n] != '\''; n++) {
        const char lower = (char)(text[n] | 0x20);

        s->literal.raw |= lower == 'r';
        if (lower == 'b' || lower == 't')
            s->kind = lower;
    }
    s->literal.bytes = s->kind == 'b';
    *quotes =
        at.end - at.start - n >= 3 && text[n] == text[n + 1] && text[n] == text[n + 2] ? 3 : 1;
    return n;
}

static bool check_kind(cq_parser *p, string *s, cq_span at)
{
    static const char bytes[]    = "bytes and text cannot be adjacent";
    static const char template[] = "a template string can only be adjacent to template strings";

    if (!s->first)
        s->first = s->kind;
    if (s->first != s->kind)
        cq_parser_fail(p, at, "%s", s->first == 'b' || s->kind == 'b' ? bytes : template);
    return p->status == CQ_OK;
}

static bool add_plain(cq_parser *p, string *s)
{
    const cq_span at = p->tokens->list.items[p->next++].at;
    uint32_t      quotes, prefix = read_prefix(p, s, at, &quotes);

    return check_kind(p, s, at) &&
           cq_literal_add(p, &s->literal, (cq_span){ at.start + prefix + quotes, at.end - quotes },
                          false);
}

/* ---- fields --------------------------------------------------------------------------------- */

static bool add_field(cq_parser *p, string *s);

/* Finishes an FSTR or TSTR of the parts above a mark. */
static cq_ast_expr *make_parts(cq_parser *p, cq_ast_expr_kind kind, uint32_t start, size_t mark)
{
    cq_ast_expr *x = cq_parser_expr(p, start, (cq_ast_expr){ .kind = kind });

    if (!x || !cq_parser_take_exprs(p, mark, &x->u.items))
        return NULL;
    for (size_t i = 0; x && i < x->u.items.n; i++)
        x = cq_parser_over(p, x, x->u.items.items[i]);
    return x;
}

/* Text and fields up to the end of an f-string or of a format specification. */
static bool add_parts(cq_parser *p, string *s, bool is_spec)
{
    for (;;) {
        const cq_token *t = cq_parser_peek(p, 0);

        if (t->kind == CQ_TOKEN_LBRACE) {
            if (!add_field(p, s))
                return false;
        } else if (cq_parser_accept(p, CQ_TOKEN_FSTRING_TEXT)) {
            if (!cq_literal_add(p, &s->literal, t->at, !is_spec))
                return false;
        } else {
            return p->status == CQ_OK;
        }
    }
}

/* Behind the colon of a field. */
static cq_ast_expr *parse_spec(cq_parser *p, const string *outer)
{
    const size_t mark = cq_parser_mark(p);
    string       s    = { .start = cq_parser_end(p), .first = 's' };
    bool         ok;

    s.literal.raw = outer->literal.raw;
    ok            = add_parts(p, &s, true) && push_text(p, &s);
    cq_str_clear(&s.literal.text);
    return ok ? make_parts(p, CQ_X_FSTR, s.start, mark) : NULL;
}

static bool parse_conversion(cq_parser *p, char *out)
{
    const cq_token *t = cq_parser_peek(p, 0);
    const char      c = p->unit->source.text[t->at.start];

    if (t->kind != CQ_TOKEN_NAME || t->at.start != cq_parser_end(p) ||
        t->at.end - t->at.start != 1 || !strchr("sra", c)) {
        cq_parser_fail(p, t->at, "expected one of the conversions s, r and a behind '!'");
        return false;
    }
    *out = c;
    p->next++;
    return true;
}

/* {value=}: the source is part of the text, and without a format the value is shown by repr(). */
static bool add_source(cq_parser *p, string *s, uint32_t start, cq_ast_expr *x)
{
    const bool raw  = s->literal.raw;
    const bool next = cq_parser_at(p, CQ_TOKEN_EXCLAMATION) || cq_parser_at(p, CQ_TOKEN_COLON);
    bool       ok;

    if (!next)
        x->u.field.conversion = 'r';
    s->literal.raw = true;
    ok = cq_literal_add(p, &s->literal, (cq_span){ start, cq_parser_peek(p, 0)->at.start }, false);
    s->literal.raw = raw;
    return ok;
}

static bool parse_field_inside(cq_parser *p, string *s, cq_ast_expr *x)
{
    const uint32_t open = cq_parser_end(p), start = cq_parser_peek(p, 0)->at.start;

    x->u.field.value = cq_parse_value(p);
    if (!x->u.field.value)
        return false;
    if (s->kind == 't')
        x->u.field.text =
            cq_parser_intern(p, p->unit->source.text + start, cq_parser_end(p) - start);
    if (cq_parser_accept(p, CQ_TOKEN_ASSIGN) && !add_source(p, s, open, x))
        return false;
    if (cq_parser_accept(p, CQ_TOKEN_EXCLAMATION) && !parse_conversion(p, &x->u.field.conversion))
        return false;
    if (cq_parser_accept(p, CQ_TOKEN_COLON) && !(x->u.field.spec = parse_spec(p, s)))
        return false;
    return cq_parser_expect(p, CQ_TOKEN_RBRACE);
}

/* {expression!conversion:format}: the text in front of it and the field go on the stack. */
static bool add_field(cq_parser *p, string *s)
{
    cq_ast_expr *x;
    bool         ok;

    if (!cq_parser_enter(p))
        return false;
    p->next++; /* the brace */
    x  = cq_parser_expr(p, cq_parser_end(p) - 1, (cq_ast_expr){ .kind = CQ_X_FIELD });
    ok = x && parse_field_inside(p, s, x);
    cq_parser_leave(p);
    if (!ok)
        return false;
    x->at.end     = cq_parser_end(p);
    s->has_fields = true;
    x             = cq_parser_over(p, cq_parser_over(p, x, x->u.field.value), x->u.field.spec);
    return x && push_text(p, s) && cq_parser_push(p, x);
}

/* ---- all of it ------------------------------------------------------------------------------- */

static bool add_fstring(cq_parser *p, string *s)
{
    const cq_span at = p->tokens->list.items[p->next++].at;
    uint32_t      quotes;

    read_prefix(p, s, at, &quotes);
    return check_kind(p, s, at) && add_parts(p, s, false) &&
           cq_parser_expect(p, CQ_TOKEN_FSTRING_END);
}

static bool add_strings(cq_parser *p, string *s)
{
    while (cq_parse_at_string(p))
        if (!(cq_parser_at(p, CQ_TOKEN_STRING) ? add_plain(p, s) : add_fstring(p, s)))
            return false;
    return true;
}

cq_ast_expr *cq_parse_strings(cq_parser *p)
{
    const size_t mark = cq_parser_mark(p);
    string       s    = { .start = cq_parser_peek(p, 0)->at.start };
    cq_ast_expr *x    = NULL;

    if (add_strings(p, &s)) {
        if (!s.has_fields && s.first != 't')
            x = take_text(p, &s);
        else if (push_text(p, &s))
            x = make_parts(p, s.first == 't' ? CQ_X_TSTR : CQ_X_FSTR, s.start, mark);
    }
    cq_str_clear(&s.literal.text);
    return x;
}
