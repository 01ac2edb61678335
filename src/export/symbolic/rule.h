/* Rules: how an operator becomes ONNX, as text. docs/rules.md is the grammar, with examples.
 *
 *     x = cast(self, "float32"); Mul(x, Sigmoid(x))
 *
 * A rule is parsed once (rule_parse.c) and evaluated for each node that it is for (rule.c). Names
 * that begin with a small letter and are called are functions of calque's (rule_words.c); all else
 * that is called is an ONNX operator, in its newest form (rule_forms.c has those that were written
 * otherwise at older opsets). */
#ifndef CQ_EXPORT_SYMBOLIC_RULE_H
#define CQ_EXPORT_SYMBOLIC_RULE_H

#include "export/exporter.h"

/* ---- the text ---- */

typedef enum cq_rule_kind {
    CQ_RULE_NUMBER,
    CQ_RULE_TEXT,
    CQ_RULE_NONE,
    CQ_RULE_BOOL,
    CQ_RULE_ARGUMENT, /* of the operator */
    CQ_RULE_NAME,     /* that the rule gave to a value */
    CQ_RULE_LIST,
    CQ_RULE_EACH,     /* items: what is made of each, the list, maybe a condition */
    CQ_RULE_OPERATOR, /* of ONNX */
    CQ_RULE_FUNCTION, /* of calque's */
    CQ_RULE_NOT,
    CQ_RULE_NEGATIVE,
    CQ_RULE_BINARY,
    CQ_RULE_CHOICE, /* items: condition, then, otherwise */
    CQ_RULE_INDEX   /* items: list, place */
} cq_rule_kind;

typedef enum cq_rule_sign {
    CQ_RULE_OR,
    CQ_RULE_AND,
    CQ_RULE_EQUAL,
    CQ_RULE_UNEQUAL,
    CQ_RULE_AT_MOST,
    CQ_RULE_AT_LEAST,
    CQ_RULE_LESS,
    CQ_RULE_GREATER,
    CQ_RULE_ADD,
    CQ_RULE_SUB,
    CQ_RULE_FLOORDIV,
    CQ_RULE_MUL,
    CQ_RULE_DIV
} cq_rule_sign;

typedef struct cq_rule_expr cq_rule_expr;
struct cq_rule_expr {
    cq_rule_kind   kind;
    cq_rule_sign   sign;
    bool           is_whole; /* of a number */
    double         number;
    int64_t        whole;
    size_t         slot; /* of a name, and of the one that CQ_RULE_EACH gives */
    const char    *text; /* a text, or the name of an argument, an operator, a function */
    cq_rule_expr **items;
    size_t         n;
    const char   **attr_names;
    cq_rule_expr **attrs;
    size_t         n_attrs;

    const struct cq_rule_function *function;
    const struct cq_rule          *body; /* of a function that is text */
    const struct cq_rule_form     *form; /* NULL: written as it is */
};

/* first, second … = value */
typedef struct cq_rule_let {
    size_t        slot, n;
    cq_rule_expr *value;
} cq_rule_let;

typedef struct cq_rule {
    const char    *source;
    cq_rule_let   *lets;
    cq_rule_expr **results;
    size_t         n_lets, n_results, n_slots;
} cq_rule;

/* Everything lives in arena, and refers to text. Parameters, of a function that is text, are names
 * with spaces between them; they have the first slots. */
cq_status cq_rule_parse(cq_rule **out, cq_arena *arena, const char *text, const char *parameters);

/* All expressions, outer ones first, until fn returns other than CQ_OK. */
cq_status cq_rule_each(const cq_rule *rule, cq_status (*fn)(const cq_rule_expr *e, void *user),
                       void          *user);

/* ---- what an expression is ---- */

typedef enum cq_rule_term_kind {
    CQ_RULE_TERM_NONE,
    CQ_RULE_TERM_BOOL,
    CQ_RULE_TERM_INT, /* may be a size that is not fixed */
    CQ_RULE_TERM_FLOAT,
    CQ_RULE_TERM_TEXT,
    CQ_RULE_TERM_DTYPE,
    CQ_RULE_TERM_VALUE, /* of the graph */
    CQ_RULE_TERM_LIST
} cq_rule_term_kind;

typedef struct cq_rule_term cq_rule_term;
struct cq_rule_term {
    cq_rule_term_kind kind;
    union {
        bool        b;
        cq_int      i;
        double      f;
        const char *s;
        cq_dtype    dtype;
        cq_value   *v;
        struct {
            cq_rule_term *items;
            size_t        n;
        } list;
    } u;
    const cq_operand *operand; /* of a value that is an argument, as it was given */
};

enum { CQ_RULE_MAX_LISTED = 100000 }; /* items of lists that are made of others, or counted */

/* One evaluation. */
typedef struct cq_rule_run {
    cq_sym        *s;
    const cq_rule *rule;
    bool           each;  /* an element-wise rule: arguments come in the dtype it computes in */
    cq_dtype       dtype; /* that one */
    cq_rule_term  *slots, *args;
    bool          *have_slot, *have_arg;
    size_t        *n_items; /* of lists that were made: there is a limit to them */
} cq_rule_run;

/* The whole of a row: evaluates the rule and ends the symbolic. */
cq_status cq_rule_apply(cq_sym *s, const cq_rule *rule, bool each);

cq_rule_term cq_rule_eval(cq_rule_run *r, const cq_rule_expr *e);
void         cq_rule_wrong(cq_rule_run *r, const cq_rule_expr *e, const char *wanted);

/* The place of an argument: by its name in the schema, or as x0, x1, …; -1: there is none. */
int cq_rule_argument(const cq_sym *s, const char *name);

/* A term as what is wanted; otherwise the rule fails. like: a value whose dtype numbers take, NULL
 * for the operator's. */
cq_value *cq_rule_term_value(cq_rule_run *r, const cq_rule_term *t, const cq_value *like);
bool      cq_rule_term_number(const cq_rule_term *t, double *f); /* false: it is not known */
bool cq_rule_term_ints(cq_rule_run *r, const cq_rule_term *t, cq_int *out, size_t *n, size_t max);
bool cq_rule_term_axes(const cq_rule_term *t, int64_t *out, size_t *n, size_t max); /* fixed */
cq_dtype     cq_rule_term_dtype(cq_rule_run *r, const cq_rule_term *t);
cq_rule_term cq_rule_term_of_value(cq_value *v);
cq_rule_term cq_rule_term_of_i64(int64_t i);
cq_rule_term cq_rule_term_of_bool(bool b);
cq_rule_term cq_rule_term_of_list(cq_rule_run *r, size_t n); /* of None, to be filled in */

/* rule_words.c and rule_functions.c: a function. items are its arguments, not evaluated. */
typedef struct cq_rule_function {
    const char *name;
    size_t      least, most;
    /* One of these; with text, the names of its parameters. */
    const char *text, *parameters;
    cq_rule_term (*fn)(cq_rule_run *r, const cq_rule_expr *e);
    cq_value *(*one)(cq_sym *s, cq_value *x);
    cq_value *(*two)(cq_sym *s, cq_value *x, cq_value *y);
    bool (*of_dtype)(cq_dtype dtype);
} cq_rule_function;

cq_rule_term cq_rule_call(cq_rule_run *r, const cq_rule_expr *e);

const cq_rule_function       *cq_rule_function_find(const char *name);
extern const cq_rule_function cq_rule_functions[]; /* rule_functions.c, ended by an empty row */

/* rule_forms.c: an operator that is written otherwise at some opsets. Applying it
 * gives false if it is called in a way that it does not know; the node is then made as the rule
 * says. */
typedef struct cq_rule_form_call {
    cq_rule_run        *r;
    const cq_rule_expr *e;
    const cq_rule_term *in;
    size_t              n;
    cq_value          **out;
    size_t              n_out;
} cq_rule_form_call;

typedef struct cq_rule_form {
    const char *op;
    /* One of these. */
    bool (*fn)(const cq_rule_form_call *c);
    cq_value *(*one)(cq_sym *s, cq_value *x);
    cq_value *(*two)(cq_sym *s, cq_value *x, cq_value *y);
} cq_rule_form;

bool                cq_rule_form_apply(const cq_rule_form_call *c);
const cq_rule_form *cq_rule_form_find(const char *op);

#endif
