/* The inside of the parser: what its files share. parser.c has tokens, failures and memory;
 * parse_class.c classes and files, parse_stmt.c compound statements, parse_simple.c the others,
 * parse_match.c patterns, parse_def.c functions, parse_expr.c and parse_display.c expressions,
 * parse_string.c strings, literal.c numbers and escapes, parse_comment.c type comments.
 *
 * A function that returns a node returns NULL when it failed; the status then is in the
 * parser and nothing needs to be cleaned up, because nodes are in the arena and lists under
 * construction on one stack. */
#ifndef CQ_LANG_PARSER_H
#define CQ_LANG_PARSER_H

#include "lang/ast.h"
#include "lang/token.h"
#include "base/str.h"

typedef struct cq_parser {
    bool             has_octal_bytes; /* CQ_PARSE_PRINTED */
    cq_unit         *unit;
    const cq_tokens *tokens;
    size_t           next;                 /* the token that comes next */
    uint32_t         nesting;              /* of brackets and blocks */
    uint32_t         n_functions, n_loops; /* around here, for return and break */
    bool             in_class;             /* the next statement is of the body of a class */
    bool             yields;               /* the function has a yield so far */
    const char      *class_name;           /* of the innermost class around here, or NULL */
    cq_status        status;
    CQ_VEC(char) stack; /* items of the lists that are not finished */
} cq_parser;

/* Fails at a location, once: the first failure is kept. Returns NULL. */
void *cq_parser_fail(cq_parser *p, cq_span at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void *cq_parser_refuse(cq_parser *p); /* the next token does not belong here */

/* Looking, taking, insisting. */
static inline const cq_token *cq_parser_peek(const cq_parser *p, size_t ahead)
{
    const size_t last = p->tokens->list.n - 1;

    return &p->tokens->list.items[p->next + ahead < last ? p->next + ahead : last];
}

static inline bool cq_parser_at(const cq_parser *p, cq_token_kind kind)
{
    return cq_parser_peek(p, 0)->kind == kind;
}

static inline bool cq_parser_accept(cq_parser *p, cq_token_kind kind)
{
    if (p->status != CQ_OK || !cq_parser_at(p, kind))
        return false;
    p->next++;
    return true;
}

bool cq_parser_expect(cq_parser *p, cq_token_kind kind);
bool cq_parser_at_name(const cq_parser *p, size_t ahead, const char *name); /* soft keyword */
const char *cq_parser_name(cq_parser *p);                                   /* a name, interned */
const char *cq_parser_attr_name(cq_parser *p); /* … or a keyword, after a dot */

/* Deeper by one level; fails at CQ_LANG_MAX_NESTING. */
bool cq_parser_enter(cq_parser *p);
void cq_parser_leave(cq_parser *p);

/* Memory of the unit, zeroed. */
void       *cq_parser_new(cq_parser *p, size_t size);
const char *cq_parser_intern(cq_parser *p, const char *text, size_t len);

/* Lists: push items on the stack above a mark, then move them to the arena. */
#define cq_parser_push(p, item) cq_parser_push_bytes((p), &(item), sizeof(item))
size_t cq_parser_mark(const cq_parser *p);
bool   cq_parser_push_bytes(cq_parser *p, const void *item, size_t size);
bool   cq_parser_take(cq_parser *p, size_t mark, size_t size, void **items, size_t *n);
bool   cq_parser_take_exprs(cq_parser *p, size_t mark, cq_ast_exprs *out);

/* Nodes, like x; NULL after a failure, of whatever is in it as well. The end of the range is the
 * end of the last token taken. A node is higher than its children, which may be NULL. */
cq_ast_expr *cq_parser_expr(cq_parser *p, uint32_t start, cq_ast_expr x);
cq_ast_expr *cq_parser_over(cq_parser *p, cq_ast_expr *x, const cq_ast_expr *child);
uint32_t     cq_parser_end(const cq_parser *p); /* of the last token taken */

/* parse_expr.c */
cq_ast_expr *cq_parse_test(cq_parser *p);              /* one expression */
cq_ast_expr *cq_parse_named(cq_parser *p);             /* … or name := expression */
cq_ast_expr *cq_parse_or(cq_parser *p);                /* … that is not `a if b else c` */
cq_ast_expr *cq_parse_binary(cq_parser *p, int least); /* … and binds at least so tight */
cq_ast_expr *cq_parse_unary(cq_parser *p);
cq_ast_expr *cq_parse_postfix(cq_parser *p);
cq_ast_expr *cq_parse_yield(cq_parser *p); /* yield x, yield from x */
cq_ast_expr *cq_parse_value(cq_parser *p); /* after an =: a yield, or cq_parse_tests */
bool         cq_parse_args(cq_parser *p, cq_ast_arg **args, size_t *n); /* f(args), after the ( */
/* Parses after the next token, one level deeper. */
cq_ast_expr *cq_parse_deeper(cq_parser *p, cq_ast_expr *(*parse)(cq_parser *));
cq_ast_expr *cq_parser_binary(cq_parser *p, cq_ast_expr_kind kind, cq_ast_op op, cq_ast_expr *left,
                              cq_ast_expr *right);
bool         cq_parser_in_parentheses(const cq_parser *p, const cq_ast_expr *x);

/* parse_display.c */
cq_ast_expr *cq_parse_item(cq_parser *p);       /* an expression that may be starred */
cq_ast_expr *cq_parse_named_item(cq_parser *p); /* … or name := expression */
cq_ast_expr *cq_parse_tests(cq_parser *p);      /* one expression or a tuple without parentheses */
cq_ast_expr *cq_parse_targets(cq_parser *p);    /* of a for: `in` ends it */
bool         cq_parse_check_target(cq_parser *p, const cq_ast_expr *x);
cq_ast_expr *cq_parse_list_of(cq_parser *p, cq_ast_expr *(*parse)(cq_parser *), bool of_slices);
bool         cq_parse_ends_list(const cq_parser *p); /* whether it ends here, after a comma */
cq_ast_expr *cq_parse_close(cq_parser *p, cq_ast_expr *x, cq_token_kind closer); /* x to its end */
/* Behind the value, or key and value, that the loops of a comprehension give. */
bool         cq_parse_at_comp(const cq_parser *p);
cq_ast_expr *cq_parse_comp(cq_parser *p, cq_ast_expr_kind kind, cq_ast_expr *key,
                           cq_ast_expr *value, uint32_t start);
/* Behind the opening bracket, which is at start. */
cq_ast_expr *cq_parse_parentheses(cq_parser *p, uint32_t start);
cq_ast_expr *cq_parse_brackets(cq_parser *p, uint32_t start);
cq_ast_expr *cq_parse_braces(cq_parser *p, uint32_t start);

/* parse_stmt.c. One compound statement or a line of simple ones is pushed on the stack;
 * cq_parser_take_block takes all above the mark. */
bool cq_parse_statements(cq_parser *p);
bool cq_parse_all_statements(cq_parser *p, cq_ast_block *out); /* up to the end of the text */
bool cq_parser_take_block(cq_parser *p, size_t mark, cq_ast_block *out);
bool cq_parse_block(cq_parser *p, cq_ast_block *out); /* `: statements` */
/* One like s; NULL after a failure, of whatever is in it as well. */
cq_ast_stmt *cq_parser_stmt(cq_parser *p, uint32_t start, cq_ast_stmt s);

/* parse_simple.c */
cq_ast_stmt *cq_parse_simple(cq_parser *p);
cq_ast_stmt *cq_parse_keyword_field(cq_parser *p); /* class : int, in the body of a class */
bool         cq_parse_at_simple_end(const cq_parser *p);

/* parse_match.c */
bool         cq_parse_at_match(const cq_parser *p); /* `match` is a keyword here, not a name */
cq_ast_stmt *cq_parse_match(cq_parser *p, uint32_t start); /* after `match` */

/* parse_def.c */
bool         cq_parse_decorators(cq_parser *p, cq_ast_exprs *out);
cq_ast_def  *cq_parse_def(cq_parser *p, cq_ast_exprs decorators); /* after `def` */
cq_ast_expr *cq_parse_lambda(cq_parser *p);
bool         cq_parse_type_params(cq_parser *p, cq_ast_type_params *out); /* [T], if there */

/* parse_comment.c. Gives a parameter, variable or field without an annotation the type of the
 * comment between two locations; an invalid type is ignored, as in Python. */
bool cq_parse_type_comment(cq_parser *p, cq_ast_expr **type, uint32_t from, uint32_t to);
/* (T, U) -> V between the head of a function and its body. */
bool cq_parse_signature_comment(cq_parser *p, cq_ast_def *def, uint32_t from, uint32_t to);

/* parse_class.c */
cq_ast_class *cq_parse_class(cq_parser *p, cq_ast_exprs decorators); /* after `class` */
void          cq_parse_file(cq_parser *p);                           /* CQ_PARSE_FILE */

/* literal.c */
cq_ast_expr *cq_parse_number(cq_parser *p, bool negative);

/* The text of a string under construction. */
typedef struct cq_literal {
    cq_str text;
    bool   raw, bytes;
    bool   named; /* it has named characters */
} cq_literal;

/* Appends a range of the source: escapes are decoded, line ends are "\n". With braces, doubled ones
 * count once. */
bool cq_literal_add(cq_parser *p, cq_literal *s, cq_span range, bool braces);

/* parse_string.c */
cq_ast_expr *cq_parse_strings(cq_parser *p); /* all adjacent ones */
bool         cq_parse_at_string(const cq_parser *p);

/* Parses a range of the unit's text with another function, for comments. */
void *cq_parse_range(cq_parser *p, cq_span range, void *(*parse)(cq_parser *p, void *user),
                     void *user);

#endif
