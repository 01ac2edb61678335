/* The syntax tree of Python text: model source, TorchScript and calque's own library.
 *
 * A parsed text is a cq_unit; all of its nodes are in the unit's arena and are freed with it.
 * Names are interned in a table that units share, so equal names have equal addresses.
 * Every node has its location (cq_span in unit->source) for messages with carets.
 *
 * The tree covers the grammar of Python 3.8 to 3.14. Equivalent sources have equal trees: there
 * are no nodes for parentheses, an `elif` is an if in the else part, adjacent strings are one,
 * a type comment is an annotation, `x[1, 2]` is x indexed by a tuple.
 *
 * The parser checks syntax only. Whether an evaluator supports a construct is decided when the
 * evaluator reaches it: cq_ast_expr_text and cq_ast_stmt_text name the construct for messages. */
#ifndef CQ_LANG_AST_H
#define CQ_LANG_AST_H

#include "base/arena.h"
#include "base/map.h"
#include "base/source.h"

/* Maximum nesting of brackets and blocks, which bounds the recursion of the parser. */
#define CQ_LANG_MAX_NESTING 400

/* The height of an expression tree; a + b + c has three levels: bounds the recursion of its
 * walkers. */
#define CQ_LANG_MAX_HEIGHT 1000

typedef struct cq_ast_expr  cq_ast_expr;
typedef struct cq_ast_stmt  cq_ast_stmt;
typedef struct cq_ast_def   cq_ast_def;
typedef struct cq_ast_class cq_ast_class;

typedef struct cq_ast_exprs {
    cq_ast_expr **items;
    size_t        n;
} cq_ast_exprs;

typedef struct cq_ast_block {
    cq_ast_stmt **items;
    size_t        n;
} cq_ast_block;

/* name, sign, and the operator of PyTorch's that it calls; `not in` is __contains__ negated,
 * and in both `in` the operands are swapped. */
#define CQ_AST_OPS(X)                                                                              \
    X(ADD, "+", "aten::add")                                                                       \
    X(SUB, "-", "aten::sub")                                                                       \
    X(MUL, "*", "aten::mul")                                                                       \
    X(DIV, "/", "aten::div")                                                                       \
    X(FLOOR_DIV, "//", "aten::floor_divide")                                                       \
    X(MOD, "%", "aten::remainder")                                                                 \
    X(POW, "**", "aten::pow")                                                                      \
    X(MATMUL, "@", "aten::matmul")                                                                 \
    X(SHIFT_LEFT, "<<", "aten::__lshift__")                                                        \
    X(SHIFT_RIGHT, ">>", "aten::__rshift__")                                                       \
    X(BIT_AND, "&", "aten::__and__")                                                               \
    X(BIT_OR, "|", "aten::__or__")                                                                 \
    X(BIT_XOR, "^", "aten::__xor__")                                                               \
    X(EQ, "==", "aten::eq")                                                                        \
    X(NE, "!=", "aten::ne")                                                                        \
    X(LT, "<", "aten::lt")                                                                         \
    X(LE, "<=", "aten::le")                                                                        \
    X(GT, ">", "aten::gt")                                                                         \
    X(GE, ">=", "aten::ge")                                                                        \
    X(IS, "is", "aten::__is__")                                                                    \
    X(IS_NOT, "is not", "aten::__isnot__")                                                         \
    X(IN, "in", "aten::__contains__")                                                              \
    X(NOT_IN, "not in", "aten::__contains__")                                                      \
    X(NEG, "-", "aten::neg")                                                                       \
    X(POS, "+", NULL)                                                                              \
    X(BIT_NOT, "~", "aten::bitwise_not")                                                           \
    X(NOT, "not", "aten::__not__")

typedef enum cq_ast_op {
#define X(name, sign, aten) CQ_AST_##name,
    CQ_AST_OPS(X)
#undef X
} cq_ast_op;

const char *cq_ast_op_aten(cq_ast_op op); /* "aten::add"; NULL for a plus sign in front */

/* ---- expressions ------------------------------------------------------------------- */

typedef enum cq_ast_expr_kind {
    CQ_X_NONE,
    CQ_X_TRUE,
    CQ_X_FALSE,
    CQ_X_ELLIPSIS,   /* ... */
    CQ_X_INT,        /* u.i; a minus sign in front of a number is part of it */
    CQ_X_BIG_INT,    /* u.str: a literal that does not fit in 64 bits, without underscores */
    CQ_X_FLOAT,      /* u.f */
    CQ_X_COMPLEX,    /* u.f: the imaginary part, 2.j */
    CQ_X_STR,        /* u.str, escapes decoded; see CQ_AST_NAMED_CHARACTERS */
    CQ_X_BYTES,      /* u.str */
    CQ_X_FSTR,       /* u.items: STR is literal text, the others are FIELDs */
    CQ_X_TSTR,       /* u.items: a template string, like FSTR */
    CQ_X_NAME,       /* u.name; also inf, nan and infj, which are names in printed code */
    CQ_X_ATTR,       /* u.attr: object.name */
    CQ_X_CALL,       /* u.call */
    CQ_X_INDEX,      /* u.index: object[index]; index may be a SLICE or a TUPLE with some */
    CQ_X_SLICE,      /* u.slice: start:stop:step, each may be NULL; only in an INDEX */
    CQ_X_UNARY,      /* u.unary: NEG POS BIT_NOT NOT */
    CQ_X_BINARY,     /* u.binary: ADD … BIT_XOR */
    CQ_X_AND,        /* u.binary without op */
    CQ_X_OR,         /* u.binary without op */
    CQ_X_COMPARE,    /* u.compare: a < b is c; n ops between n + 1 items, each evaluated once */
    CQ_X_IF_ELSE,    /* u.choice: then if test else other */
    CQ_X_LIST,       /* u.items */
    CQ_X_TUPLE,      /* u.items */
    CQ_X_SET,        /* u.items */
    CQ_X_DICT,       /* u.dict */
    CQ_X_LIST_COMP,  /* u.comp */
    CQ_X_SET_COMP,   /* u.comp */
    CQ_X_DICT_COMP,  /* u.comp, with key */
    CQ_X_GENERATOR,  /* u.comp: (x for x in y) */
    CQ_X_STARRED,    /* u.operand: *x, in calls, displays, subscripts and targets */
    CQ_X_LAMBDA,     /* u.lambda: a function whose value is returned and whose body is empty */
    CQ_X_NAMED,      /* u.named: (name := value) */
    CQ_X_AWAIT,      /* u.operand */
    CQ_X_YIELD,      /* u.operand; NULL: None */
    CQ_X_YIELD_FROM, /* u.operand */
    CQ_X_FIELD       /* u.field: {value!r:spec}, only in an FSTR or TSTR */
} cq_ast_expr_kind;

/* Flags of an expression. */
enum {
    /* The text of a STR has named characters, \N{BULLET}, which are not decoded: each is kept as
     * the byte CQ_AST_NAMED_MARK, which no valid text contains, and "N{BULLET}". */
    CQ_AST_NAMED_CHARACTERS = 1
};
#define CQ_AST_NAMED_MARK '\xFF'

/* f(value), f(name=value), f(*value), f(**value) */
typedef struct cq_ast_arg {
    const char  *name; /* NULL: positional */
    cq_ast_expr *value;
    uint8_t      stars; /* 0, 1 or 2 */
} cq_ast_arg;

/* for target in iter if test if test … */
typedef struct cq_ast_for {
    cq_ast_expr *target, *iter;
    cq_ast_exprs tests;
    bool         is_async;
} cq_ast_for;

struct cq_ast_expr {
    cq_ast_expr_kind kind;
    uint16_t         height; /* 1 for a leaf; at most CQ_LANG_MAX_HEIGHT */
    uint16_t         flags;  /* CQ_AST_NAMED_CHARACTERS */
    cq_span          at;
    union {
        int64_t     i;
        double      f;
        const char *name;
        struct {
            const char     *text; /* terminated; may hold any bytes */
            size_t          len;
            struct cq_text *value; /* the linker's: the same bytes */
        } str;
        struct {
            const char *name; /* as above */
            uint32_t    slot; /* the linker's: 1 + the slot of a local variable; 0: not local */
        } variable;
        cq_ast_exprs items;
        cq_ast_expr *operand;
        cq_ast_def  *lambda;
        struct {
            cq_ast_expr *target, *value;
        } named;
        struct {
            cq_ast_expr *value;
            cq_ast_expr *spec;       /* an FSTR, or NULL */
            const char  *text;       /* of a TSTR: the source of value */
            char         conversion; /* 's', 'r' or 'a'; 0: none */
        } field;
        struct {
            cq_ast_expr *object;
            const char  *name;
            const void  *target; /* the linker's */
        } attr;
        struct {
            cq_ast_expr *function;
            cq_ast_arg  *args; /* in the order of the source */
            size_t       n;
            const void  *target; /* the linker's */
        } call;
        struct {
            cq_ast_expr *object, *index;
        } index;
        struct {
            cq_ast_expr *start, *stop, *step;
        } slice;
        struct {
            cq_ast_expr *operand;
            cq_ast_op    op;
        } unary;
        struct {
            cq_ast_expr *left, *right;
            cq_ast_op    op;
        } binary;
        struct {
            cq_ast_expr **items; /* n + 1 of them */
            cq_ast_op    *ops;
            size_t        n;
        } compare;
        struct {
            cq_ast_expr *test, *then, *other;
        } choice;
        struct {
            cq_ast_expr **keys; /* a NULL key: **value */
            cq_ast_expr **values;
            size_t        n;
        } dict;
        struct {
            cq_ast_expr *key, *value; /* key is NULL unless it is a DICT_COMP */
            cq_ast_for  *loops;       /* outermost first; PyTorch takes one */
            size_t       n;
        } comp;
    } u;
};

/* ---- statements -------------------------------------------------------------------- */

typedef enum cq_ast_stmt_kind {
    CQ_S_EXPR,      /* u.value */
    CQ_S_ASSIGN,    /* u.assign */
    CQ_S_AUGMENT,   /* u.augment: target += value */
    CQ_S_IF,        /* u.branch */
    CQ_S_WHILE,     /* u.loop, target NULL */
    CQ_S_FOR,       /* u.loop */
    CQ_S_LOOP_ELSE, /* u.loop_else: a WHILE or FOR with an else part */
    CQ_S_WITH,      /* u.with */
    CQ_S_TRY,       /* u.attempt */
    CQ_S_MATCH,     /* u.match */
    CQ_S_RETURN,    /* u.value, NULL: None; until desugar.h, like break and continue */
    CQ_S_RAISE,     /* u.raise */
    CQ_S_ASSERT,    /* u.assertion */
    CQ_S_DEL,       /* u.targets */
    CQ_S_DEF,       /* u.def */
    CQ_S_CLASS,     /* u.cls */
    CQ_S_IMPORT,    /* u.import */
    CQ_S_GLOBAL,    /* u.names */
    CQ_S_NONLOCAL,  /* u.names */
    CQ_S_TYPE,      /* u.alias: type name[params] = value */
    CQ_S_PASS,
    CQ_S_BREAK,
    CQ_S_CONTINUE
} cq_ast_stmt_kind;

typedef struct cq_ast_names {
    const char **items;
    size_t       n;
} cq_ast_names;

/* A target is a NAME, ATTR, INDEX, or a TUPLE or LIST of targets, one of which may be
 * STARRED. */
typedef struct cq_ast_with_item {
    cq_ast_expr *context, *target; /* target may be NULL */
} cq_ast_with_item;

/* except type as name: body */
typedef struct cq_ast_handler {
    cq_ast_expr *type; /* NULL: every exception; a TUPLE: `except A, B` as well */
    const char  *name; /* NULL: none */
    cq_ast_block body;
    cq_span      at;
} cq_ast_handler;

typedef struct cq_ast_try {
    cq_ast_block    body;
    cq_ast_handler *handlers;
    size_t          n_handlers;
    bool            is_star; /* except* */
    cq_ast_block    other;   /* the else part */
    cq_ast_block    finally;
} cq_ast_try;

typedef enum cq_ast_pattern_kind {
    CQ_P_VALUE,    /* value: a literal, or a name with dots; None, True and False by identity */
    CQ_P_CAPTURE,  /* name; NULL: `_` */
    CQ_P_STAR,     /* *name in a SEQUENCE; NULL: `*_` */
    CQ_P_AS,       /* items[0] as name */
    CQ_P_OR,       /* items */
    CQ_P_SEQUENCE, /* items */
    CQ_P_MAPPING,  /* keys[i]: items[i], and **name, which may be NULL */
    CQ_P_CLASS     /* value(items[i]) or value(names[i]=items[i]) */
} cq_ast_pattern_kind;

typedef struct cq_ast_pattern cq_ast_pattern;
struct cq_ast_pattern {
    cq_ast_pattern_kind kind;
    cq_span             at;
    cq_ast_expr        *value;
    const char         *name;
    cq_ast_pattern    **items;
    size_t              n;
    cq_ast_expr       **keys;  /* of a MAPPING */
    const char        **names; /* of a CLASS; NULL: positional */
};

/* case pattern if guard: body */
typedef struct cq_ast_case {
    cq_ast_pattern *pattern;
    cq_ast_expr    *guard; /* or NULL */
    cq_ast_block    body;
} cq_ast_case;

/* T: bound = value; *Ts; **P */
typedef struct cq_ast_type_param {
    const char  *name;
    cq_ast_expr *bound, *value; /* or NULL */
    uint8_t      stars;
} cq_ast_type_param;

typedef struct cq_ast_type_params {
    cq_ast_type_param *items;
    size_t             n;
} cq_ast_type_params;

typedef struct cq_ast_type_alias {
    cq_ast_expr       *name, *value;
    cq_ast_type_params params;
} cq_ast_type_alias;

/* import module as alias; from module import name as alias */
typedef struct cq_ast_import {
    const char *module; /* "torch.nn.functional"; relative ones keep their dots */
    const char *name;   /* NULL: the module itself; "*": all of it */
    const char *alias;  /* NULL: none */
    cq_span     at;
} cq_ast_import;

struct cq_ast_stmt {
    cq_ast_stmt_kind kind;
    cq_span          at;       /* of a compound statement: its first line */
    bool             is_async; /* of a FOR or WITH */
    bool             yields;   /* there is a yield in it, which belongs to the same function */
    union {
        cq_ast_expr       *value;
        cq_ast_exprs       targets;
        cq_ast_def        *def;
        cq_ast_class      *cls;
        cq_ast_try        *attempt;
        cq_ast_type_alias *alias;
        cq_ast_names       names;
        struct {
            cq_ast_import *items; /* one for each name */
            size_t         n;
        } import;
        struct {
            cq_ast_expr *subject;
            cq_ast_case *cases;
            size_t       n;
        } match;
        struct {
            cq_ast_stmt *loop;
            cq_ast_block other;
        } loop_else;
        struct {
            cq_ast_exprs targets; /* a = b = value has two */
            cq_ast_expr *type;    /* target : type = value, with one target; else NULL */
            cq_ast_expr *value;   /* NULL: only declared */
        } assign;
        struct {
            cq_ast_expr *target, *value;
            cq_ast_op    op;
        } augment;
        struct {
            cq_ast_expr *test;
            cq_ast_block then, other;
        } branch;
        struct {
            cq_ast_expr *target; /* of a for */
            cq_ast_expr *test;   /* of a while; of a for: the iterable */
            cq_ast_block body;
            const char  *until; /* the variable that ends it when true (desugar.h); NULL: none */
        } loop;
        struct {
            cq_ast_with_item *items;
            size_t            n;
            cq_ast_block      body;
        } with;
        struct {
            cq_ast_expr *value, *cause; /* both may be NULL */
        } raise;
        struct {
            cq_ast_expr *test, *message; /* message may be NULL */
        } assertion;
    } u;
};

/* ---- functions and classes ----------------------------------------------------------- */

typedef struct cq_ast_param {
    const char  *name;
    cq_ast_expr *type;     /* NULL: not annotated, which means Tensor */
    cq_ast_expr *value;    /* the default, or NULL */
    bool         kw_only;  /* after a `*` */
    bool         pos_only; /* in front of a `/` */
    uint8_t      stars;    /* *args: 1, **kwargs: 2 */
    cq_span      at;
} cq_ast_param;

struct cq_ast_def {
    const char        *name;
    cq_ast_param      *params; /* of a method: self is the first one */
    size_t             n_params;
    cq_ast_expr       *result; /* its type; NULL: not annotated */
    cq_ast_exprs       decorators;
    cq_ast_block       body;  /* a docstring is its first statement */
    cq_ast_expr       *value; /* of a lambda, which has no body */
    cq_ast_type_params type_params;
    bool               is_async;
    bool               is_generator; /* there is a yield in it */
    cq_span            at;           /* the name */
    cq_span bad_comment; /* a type comment that does not fit the parameters; empty: none */
};

typedef enum cq_ast_class_kind {
    CQ_CLASS_PLAIN,
    CQ_CLASS_MODULE,
    CQ_CLASS_NAMED_TUPLE,
    CQ_CLASS_INTERFACE,
    CQ_CLASS_MODULE_INTERFACE,
    CQ_CLASS_ENUM
} cq_ast_class_kind;

/* weight : Tensor, n : Final[int] = 2, RED = 1, __annotations__["0"] = T */
typedef struct cq_ast_field {
    const char  *name;  /* any text: "0" */
    cq_ast_expr *type;  /* NULL: only a value */
    cq_ast_expr *value; /* NULL: only a type */
    cq_span      at;
} cq_ast_field;

/* The body has all statements. The rest is derived from it: the members of a TorchScript class, in
 * the order of the source. */
struct cq_ast_class {
    const char        *name;
    cq_ast_class_kind  kind; /* by the last name of its base: torch.nn.Module is a module */
    cq_ast_exprs       bases, decorators;
    cq_ast_arg        *keywords; /* metaclass=Meta, **options */
    size_t             n_keywords;
    cq_ast_type_params type_params;
    cq_ast_block       body;
    const cq_ast_stmt *other;  /* the first statement of another kind, or NULL */
    cq_ast_field      *fields; /* attributes, constants, members */
    size_t             n_fields;
    cq_ast_def       **methods;
    size_t             n_methods;
    cq_ast_names       parameters, buffers;              /* __parameters__, __buffers__ */
    cq_ast_names       forward_hooks, forward_pre_hooks; /* __forward_hooks__ … */
    bool               has_parameters, has_buffers;      /* old files lack the lists */
    cq_span            at;                               /* the name */
};

/* ---- units ----------------------------------------------------------------------------- */

typedef struct cq_unit {
    cq_arena   *arena;
    cq_intern  *names;     /* borrowed; lives longer than the unit */
    cq_source   source;    /* file and text are copies in the arena */
    const char *qualifier; /* prefix of its names in the program, "__torch__.net"; "" if there
                            * is none */
    cq_ast_class **classes;
    size_t         n_classes;
    cq_ast_def   **defs;
    size_t         n_defs;
    cq_ast_import *imports;
    size_t         n_imports;
    int64_t        op_version_set; /* of a file of version 1; -1: missing */
    cq_ast_block   body; /* all statements in order; the lists above are views of the top level */
    cq_ast_expr   *expr; /* CQ_PARSE_EXPR */
    cq_map         classes_by_name, defs_by_name;

    void *globals; /* the evaluator's: the frame of a Python module, which src/lang does not know */
} cq_unit;

typedef enum cq_parse_mode {
    CQ_PARSE_FILE,   /* classes, functions, imports, statements */
    CQ_PARSE_BLOCK,  /* the body of a function: statements, return among them */
    CQ_PARSE_EXPR,   /* one expression, or a type: "Dict[str, int]" */
    CQ_PARSE_PRINTED /* a file that PyTorch printed: octal escapes in a string are its bytes */
} cq_parse_mode;

/* Parses text; CQ_E_SYNTAX with location and excerpt if it is not Python. A comment in the first
 * two lines may declare the encoding: UTF-8 or Latin-1. unit->source is UTF-8. */
cq_status cq_parse(cq_unit **out, cq_intern *names, const char *file, const char *text, size_t len,
                   cq_parse_mode what);
/* Parses the range of a source that lives longer than the unit, as a file: locations are those in
 * the whole source. */
cq_status cq_parse_part(cq_unit **out, cq_intern *names, const cq_source *source, cq_span range);
void      cq_unit_free(cq_unit *unit);

/* The name of a construct in messages: "'yield'", "a set". */
const char *cq_ast_expr_text(const cq_ast_expr *x);
const char *cq_ast_stmt_text(const cq_ast_stmt *s);

cq_ast_class *cq_unit_class(const cq_unit *unit, const char *name); /* NULL: none */
cq_ast_def   *cq_unit_def(const cq_unit *unit, const char *name);
cq_ast_def   *cq_ast_class_method(const cq_ast_class *c, const char *name);
cq_ast_field *cq_ast_class_field(const cq_ast_class *c, const char *name);

#endif
