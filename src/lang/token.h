/* Tokens of the source text, from the lexer to the parser.
 *
 * A token is a kind and a range of bytes; its text is never copied. Comments are not tokens. Type
 * comments (`# type: int`) are kept in a separate list, ordered by location: the parser looks up
 * the one between two tokens where the language interprets it.
 *
 * An f-string is a sequence of tokens: FSTRING_START, then any number of FSTRING_TEXT and of fields
 * in braces, then FSTRING_END. In a field the text after a colon is FSTRING_TEXT again. */
#ifndef CQ_LANG_TOKEN_H
#define CQ_LANG_TOKEN_H

#include "base/source.h"
#include "base/vec.h"

/* Enough for the largest programs (models of 100,000 nodes are 10 MB of text), and offsets
 * fit in 32 bits. */
#define CQ_LANG_MAX_TEXT (256u << 20)

/* kind, text. Keywords are in the order of strcmp, for a binary search. Of two signs that
 * begin alike the longer one comes first, so that the longest match wins. */
#define CQ_TOKENS_WORDS(X)                                                                         \
    X(FALSE, "False")                                                                              \
    X(NONE, "None")                                                                                \
    X(TRUE, "True")                                                                                \
    X(AND, "and")                                                                                  \
    X(AS, "as")                                                                                    \
    X(ASSERT, "assert")                                                                            \
    X(ASYNC, "async")                                                                              \
    X(AWAIT, "await")                                                                              \
    X(BREAK, "break")                                                                              \
    X(CLASS, "class")                                                                              \
    X(CONTINUE, "continue")                                                                        \
    X(DEF, "def")                                                                                  \
    X(DEL, "del")                                                                                  \
    X(ELIF, "elif")                                                                                \
    X(ELSE, "else")                                                                                \
    X(EXCEPT, "except")                                                                            \
    X(FINALLY, "finally")                                                                          \
    X(FOR, "for")                                                                                  \
    X(FROM, "from")                                                                                \
    X(GLOBAL, "global")                                                                            \
    X(IF, "if")                                                                                    \
    X(IMPORT, "import")                                                                            \
    X(IN, "in")                                                                                    \
    X(IS, "is")                                                                                    \
    X(LAMBDA, "lambda")                                                                            \
    X(NONLOCAL, "nonlocal")                                                                        \
    X(NOT, "not")                                                                                  \
    X(OR, "or")                                                                                    \
    X(PASS, "pass")                                                                                \
    X(RAISE, "raise")                                                                              \
    X(RETURN, "return")                                                                            \
    X(TRY, "try")                                                                                  \
    X(WHILE, "while")                                                                              \
    X(WITH, "with")                                                                                \
    X(YIELD, "yield")

#define CQ_TOKENS_SIGNS(X)                                                                         \
    X(ELLIPSIS, "...")                                                                             \
    X(POW_ASSIGN, "**=")                                                                           \
    X(FLOOR_DIV_ASSIGN, "//=")                                                                     \
    X(SHIFT_LEFT_ASSIGN, "<<=")                                                                    \
    X(SHIFT_RIGHT_ASSIGN, ">>=")                                                                   \
    X(POW, "**")                                                                                   \
    X(FLOOR_DIV, "//")                                                                             \
    X(SHIFT_LEFT, "<<")                                                                            \
    X(SHIFT_RIGHT, ">>")                                                                           \
    X(EQ, "==")                                                                                    \
    X(NE, "!=")                                                                                    \
    X(LE, "<=")                                                                                    \
    X(GE, ">=")                                                                                    \
    X(ARROW, "->")                                                                                 \
    X(WALRUS, ":=")                                                                                \
    X(ADD_ASSIGN, "+=")                                                                            \
    X(SUB_ASSIGN, "-=")                                                                            \
    X(MUL_ASSIGN, "*=")                                                                            \
    X(DIV_ASSIGN, "/=")                                                                            \
    X(MOD_ASSIGN, "%=")                                                                            \
    X(MATMUL_ASSIGN, "@=")                                                                         \
    X(BIT_AND_ASSIGN, "&=")                                                                        \
    X(BIT_OR_ASSIGN, "|=")                                                                         \
    X(BIT_XOR_ASSIGN, "^=")                                                                        \
    X(ADD, "+")                                                                                    \
    X(SUB, "-")                                                                                    \
    X(MUL, "*")                                                                                    \
    X(DIV, "/")                                                                                    \
    X(MOD, "%")                                                                                    \
    X(AT, "@")                                                                                     \
    X(BIT_AND, "&")                                                                                \
    X(BIT_OR, "|")                                                                                 \
    X(BIT_XOR, "^")                                                                                \
    X(BIT_NOT, "~")                                                                                \
    X(LT, "<")                                                                                     \
    X(GT, ">")                                                                                     \
    X(ASSIGN, "=")                                                                                 \
    X(LPAREN, "(")                                                                                 \
    X(RPAREN, ")")                                                                                 \
    X(LBRACKET, "[")                                                                               \
    X(RBRACKET, "]")                                                                               \
    X(LBRACE, "{")                                                                                 \
    X(RBRACE, "}")                                                                                 \
    X(COMMA, ",")                                                                                  \
    X(COLON, ":")                                                                                  \
    X(DOT, ".")                                                                                    \
    X(SEMICOLON, ";")                                                                              \
    X(EXCLAMATION, "!") /* of a field of an f-string */

#define CQ_TOKENS_OTHERS(X)                                                                        \
    X(END, "the end of the text")                                                                  \
    X(NEWLINE, "the end of the line")                                                              \
    X(INDENT, "an indented line")                                                                  \
    X(DEDENT, "a line that is indented less")                                                      \
    X(NAME, "a name")                                                                              \
    X(NUMBER, "a number")                                                                          \
    X(STRING, "a string")        /* with its prefix and quotes */                                  \
    X(FSTRING_START, "a string") /* prefix and quotes of an f-string or t-string */                \
    X(FSTRING_TEXT, "text")      /* between its fields, with escapes and doubled braces */         \
    X(FSTRING_END, "the end of the string")

typedef enum cq_token_kind {
#define X(name, text) CQ_TOKEN_##name,
    CQ_TOKENS_OTHERS(X) CQ_TOKENS_WORDS(X) CQ_TOKENS_SIGNS(X)
#undef X
        CQ_TOKEN_COUNT
} cq_token_kind;

typedef struct cq_token {
    cq_token_kind kind;
    cq_span       at;
} cq_token;

typedef struct cq_tokens {
    CQ_VEC(cq_token) list;    /* the last one is END */
    CQ_VEC(cq_span) comments; /* the text after `# type:`, in order */
} cq_tokens;

/* Cuts a range of the text into tokens. Inside of brackets (bracketed) line ends and indentation
 * mean nothing. */
cq_status cq_lex(cq_tokens *out, const cq_source *source, cq_span range, bool bracketed);
void      cq_tokens_clear(cq_tokens *t);

/* How messages call a kind: a sign or a word in quotes, else "a name". */
const char *cq_token_text(cq_token_kind kind);

#endif
