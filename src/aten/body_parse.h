/* The parser of bodies (body.h), in three parts: body_parse.c has tokens and statements,
 * body_expr.c expressions, body_resolve.c names, kinds of values and calls. */
#ifndef CQ_ATEN_BODY_PARSE_H
#define CQ_ATEN_BODY_PARSE_H

#include "aten/body_tree.h"

typedef struct cq_body_parser {
    cq_arena               *arena;
    const cq_schema        *schema;
    const cq_formula_owner *owner;
    const char             *text, *at;
    int                     nested; /* in brackets, where a line may end */
    struct {
        const char *name;
        cq_kinds    kinds;
    } slots[CQ_BODY_MAX_SLOTS];
    size_t       n_slots;
    cq_status    status;
    cq_body_expr nothing; /* stands for what could not be parsed */
    cq_body_stmt no_stmt;
} cq_body_parser;

typedef struct cq_body_arguments {
    const cq_body_expr *items[CQ_BODY_MAX_ITEMS];
    const char         *keywords[CQ_BODY_MAX_ITEMS]; /* NULL: by place */
    size_t              n;
} cq_body_arguments;

/* The first error stays; what is parsed after it is nothing. */
void          cq_body_fail(cq_body_parser *p, const char *what);
void         *cq_body_alloc(cq_body_parser *p, size_t n, size_t size); /* zeroed */
cq_body_expr *cq_body_node(cq_body_parser *p, cq_body_expr_kind kind, cq_kinds kinds);

/* Tokens: a sign, or a whole word. */
void        cq_body_space(cq_body_parser *p);
bool        cq_body_peek(cq_body_parser *p, const char *token);
bool        cq_body_accept(cq_body_parser *p, const char *token);
void        cq_body_expect(cq_body_parser *p, const char *token);
void        cq_body_open(cq_body_parser *p, const char *token);
void        cq_body_close(cq_body_parser *p, const char *token);
const char *cq_body_word(cq_body_parser *p);

static inline bool cq_is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* ---- body_expr.c ---- */

cq_body_expr *cq_body_expression(cq_body_parser *p);
cq_body_expr *cq_body_expressions(cq_body_parser *p); /* a, b: a tuple without brackets */

/* ---- body_resolve.c ---- */

/* What values of a type can be; taken: what is converted to it, too. */
cq_kinds cq_kinds_of(const cq_schema_type *t, bool taken);
bool     cq_kinds_only(cq_kinds kinds, cq_kinds of);

/* The slot of a variable, -1 if there is none; and of one that gets a value of these kinds. */
int    cq_body_find_slot(const cq_body_parser *p, const char *name);
size_t cq_body_set_slot(cq_body_parser *p, const char *name, cq_kinds kinds);

cq_body_expr *cq_body_constant(cq_body_parser *p, cq_val v);
cq_body_expr *cq_body_name(cq_body_parser *p, const char *name);
cq_body_expr *cq_body_owner_name(cq_body_parser *p, const char *name); /* NULL: it is none */
cq_body_expr *cq_body_math_constant(cq_body_parser *p, const char *name);
cq_body_expr *cq_body_dtype(cq_body_parser *p, const char *name);

/* A call of what the name is: a native function, an operator or a shared function. */
cq_body_expr *cq_body_call(cq_body_parser *p, const char *name, const cq_body_arguments *args);

/* The overloads that may fit, for e. */
void                 cq_body_targets(cq_body_parser *p, cq_body_expr *e, const char *name,
                                     const cq_body_arguments *args);
const cq_body_expr **cq_body_items(cq_body_parser *p, const cq_body_arguments *args);

#endif
