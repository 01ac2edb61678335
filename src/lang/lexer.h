/* The inside of the lexer: what its files share. lexer.c has lines, names and signs; lex_literal.c
 * strings, f-strings and numbers. */
#ifndef CQ_LANG_LEXER_H
#define CQ_LANG_LEXER_H

#include "lang/token.h"

#include <string.h>

typedef struct cq_indent {
    uint32_t column;      /* with tab stops of 8 */
    uint32_t alternative; /* with tab stops of 1: both must agree on the nesting */
} cq_indent;

/* A bracket or f-string that is not closed yet. */
typedef enum cq_open_kind {
    CQ_OPEN_BRACKET, /* ( [ { */
    CQ_OPEN_FSTRING, /* the literal text of an f-string */
    CQ_OPEN_FIELD,   /* { in an f-string */
    CQ_OPEN_SPEC     /* the literal text after the colon of a field */
} cq_open_kind;

typedef struct cq_opening {
    cq_open_kind kind;
    uint32_t     at; /* where the bracket or string begins */
    char         quote;
    bool         triple, raw; /* of the f-string */
} cq_opening;

typedef struct cq_lexer {
    const cq_source *source;
    const char      *text;
    uint32_t         at, end;
    cq_tokens       *out;
    bool             bracketed; /* the whole range is inside of brackets */
    CQ_VEC(cq_indent) indents;
    CQ_VEC(cq_opening) open; /* innermost last */
} cq_lexer;

/* The byte after the next one; 0 past the end. */
static inline char cq_lexer_peek(const cq_lexer *l, uint32_t ahead)
{
    return l->end - l->at > ahead ? l->text[l->at + ahead] : '\0';
}

static inline bool cq_lexer_follows(const cq_lexer *l, uint32_t at, const char *word)
{
    const size_t len = strlen(word);

    return l->end - at >= len && memcmp(l->text + at, word, len) == 0;
}

static inline cq_status cq_lexer_fail(const cq_lexer *l, uint32_t start, uint32_t end,
                                      const char *message)
{
    return cq_source_fail(l->source, (cq_span){ start, end }, CQ_E_SYNTAX, NULL, "%s", message);
}

/* A token from start to the next byte. */
static inline cq_status cq_lexer_push(cq_lexer *l, cq_token_kind kind, uint32_t start)
{
    return cq_vec_push(&l->out->list, (cq_token){ kind, { start, l->at } });
}

/* The innermost open bracket or f-string, or NULL. */
static inline cq_opening *cq_lexer_innermost(const cq_lexer *l)
{
    return l->open.n ? &l->open.items[l->open.n - 1] : NULL;
}

static inline bool cq_lexer_inside(const cq_lexer *l, cq_open_kind kind)
{
    return l->open.n && cq_lexer_innermost(l)->kind == kind;
}

static inline bool cq_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Letters outside of ASCII are part of names, as in Python. */
static inline bool cq_starts_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (unsigned char)c >= 0x80;
}

static inline bool cq_continues_name(char c)
{
    return cq_starts_name(c) || cq_is_digit(c);
}

/* lex_literal.c */

/* A string, or the beginning of an f-string; *found: one begins here. */
cq_status cq_lex_string(cq_lexer *l, bool *found);

/* In an f-string: the literal text up to the next field or the end, and what ends it. */
cq_status cq_lex_text(cq_lexer *l);

/* In a field of an f-string, outside of brackets: } : and ! are special. */
bool      cq_lex_at_field_sign(const cq_lexer *l);
cq_status cq_lex_field_sign(cq_lexer *l);

cq_status cq_lex_number(cq_lexer *l);

#endif
