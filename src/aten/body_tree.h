/* The tree of a body (body.h), made by body_parse.c, run by body.c. */
#ifndef CQ_ATEN_BODY_TREE_H
#define CQ_ATEN_BODY_TREE_H

#include "aten/body.h"

enum { CQ_BODY_MAX_SLOTS = 64, CQ_BODY_MAX_ITEMS = 32, CQ_BODY_MAX_NAME = 96 };

/* Sets of kinds of values: what an expression can be. Tuples count as lists. */
typedef uint32_t cq_kinds;
#define CQ_KIND(k)      ((cq_kinds)1 << (CQ_VAL_##k))
#define CQ_KINDS_ANY    (~(cq_kinds)0)
#define CQ_KINDS_NUMBER (CQ_KIND(INT) | CQ_KIND(FLOAT) | CQ_KIND(BOOL) | CQ_KIND(COMPLEX))

typedef enum cq_body_expr_kind {
    CQ_EXPR_CONSTANT,
    CQ_EXPR_SLOT,  /* an argument or a variable */
    CQ_EXPR_OWNER, /* a name of the formula's owner */
    CQ_EXPR_LIST,  /* items */
    CQ_EXPR_TUPLE, /* items */
    CQ_EXPR_EACH,  /* [a for slot in b if c] */
    CQ_EXPR_CALL,  /* of a native function, an operator or a shared function */
    CQ_EXPR_BINARY,
    CQ_EXPR_MINUS,
    CQ_EXPR_NOT,
    CQ_EXPR_AND,
    CQ_EXPR_OR,
    CQ_EXPR_CHOICE, /* b if a else c */
    CQ_EXPR_IS_NONE,
    CQ_EXPR_IN,
    CQ_EXPR_ITEM,  /* a[b] */
    CQ_EXPR_RANGE, /* a[b:c] */
    CQ_EXPR_TEXT   /* items, one after the other */
} cq_body_expr_kind;

typedef struct cq_body_expr cq_body_expr;
typedef struct cq_target    cq_target;
typedef struct cq_native    cq_native;
typedef struct cq_binary    cq_binary;
typedef struct cq_callable  cq_callable;

struct cq_body_expr {
    cq_body_expr_kind    kind;
    cq_kinds             kinds;
    const cq_body_expr  *a, *b, *c;
    const cq_body_expr **items;
    size_t               n_items;
    size_t               slot, number; /* number: of an owner's name */
    cq_val               value;
    const char          *name;    /* of what was called or named, for messages */
    const cq_target     *targets; /* CALL: overloads that may fit, in order */
    size_t               n_targets;
    const cq_native     *native;
    const cq_binary     *binary;
    bool                 mirrored; /* BINARY: the targets take b first, a is a number */
};

/* An overload with the place of each argument of the call in its schema. */
struct cq_target {
    const cq_op       *op;       /* or */
    const cq_callable *function; /* a shared one */
    const cq_schema   *schema;
    const uint8_t     *places;
    size_t             n_filled; /* one behind the last argument that is given */
    bool               is_sure;  /* values of these kinds are always taken */
};

/* A shared function, and its body. */
struct cq_callable {
    const cq_body_function *def;
    const cq_schema        *schema;
    cq_body_slot            slot;
};

typedef enum cq_body_stmt_kind {
    CQ_STMT_SET,    /* slots[…] = value */
    CQ_STMT_ADD,    /* slots[0] += value */
    CQ_STMT_RETURN, /* value */
    CQ_STMT_IF,     /* value, then, otherwise */
    CQ_STMT_FOR,    /* slots[0] in value: then */
    CQ_STMT_FAIL,   /* unless value holds: fail with status and message */
    CQ_STMT_WARN,   /* message */
    CQ_STMT_GIVE    /* a formula: value for the argument slots[0] */
} cq_body_stmt_kind;

typedef struct cq_body_stmt cq_body_stmt;
struct cq_body_stmt {
    cq_body_stmt_kind   kind;
    const cq_body_expr *value, *message;
    const cq_body_stmt *then, *otherwise, *next;
    uint8_t             slots[CQ_MAX_RESULTS];
    size_t              n_slots;
    cq_status           status;
};

struct cq_body {
    cq_arena           *arena;
    const char         *text;
    const cq_schema    *schema;
    size_t              n_slots;
    const cq_body_stmt *first;
};

/* Functions that are computed here and now. */
typedef struct cq_frame cq_frame;
struct cq_native {
    const char *name;
    size_t      min, max; /* arguments */
    cq_kinds    takes;    /* as first argument; with others it is the name of an operator */
    cq_kinds    gives;
    cq_val (*fn)(cq_frame *f, const cq_val *args, size_t n);
};

typedef enum cq_body_sign {
    CQ_SIGN_EQ,
    CQ_SIGN_NE,
    CQ_SIGN_LT,
    CQ_SIGN_LE,
    CQ_SIGN_GT,
    CQ_SIGN_GE,
    CQ_SIGN_ADD,
    CQ_SIGN_SUB,
    CQ_SIGN_MUL,
    CQ_SIGN_DIV,
    CQ_SIGN_FLOORDIV,
    CQ_SIGN_MOD,
    CQ_SIGN_POW,
    CQ_SIGN_MATMUL
} cq_body_sign;

struct cq_binary {
    const char  *token, *op, *mirrored; /* mirrored: with a number on the left */
    int          strength;
    cq_body_sign sign;
};

extern const cq_native cq_natives[];  /* body_native.c */
extern const cq_binary cq_binaries[]; /* body_native.c; longer tokens first */

/* What a running body knows. */
struct cq_frame {
    cq_opcall              *c;
    const cq_body          *body;
    const cq_formula_owner *owner;
    void                   *self;
    cq_val                  result;
    bool                    returned;
    bool                    looking;                  /* in an assert: symbols may be compared */
    cq_val                  slots[CQ_BODY_MAX_SLOTS]; /* the first n_slots of the body */
};

cq_status cq_body_parse(cq_body **out, const cq_schema *schema, const char *text,
                        const cq_formula_owner *owner);

/* body_parse.c: the shared function of a name, NULL if there is none. */
const cq_callable *cq_body_function_find(const char *name);

/* body_native.c */
cq_val        cq_native_binary(cq_frame *f, const cq_binary *o, cq_val a, cq_val b);
cq_val        cq_native_list(cq_frame *f, const cq_val *items, size_t n);
const cq_val *cq_native_items(const cq_val *v, size_t *n); /* a number is a list of one */
bool          cq_native_is_number(cq_val v);
cq_val        cq_native_item(cq_frame *f, cq_val list, cq_val at);
cq_val        cq_native_range(cq_frame *f, cq_val list, cq_val from, cq_val to);
bool          cq_native_equal(cq_val a, cq_val b);

/* An int, float or bool as what it is on the example; the listener hears of it. */
int64_t cq_native_i64(cq_frame *f, cq_val v);
double  cq_native_f64(cq_frame *f, cq_val v);
bool    cq_native_truth(cq_frame *f, cq_val v);

/* What only C says: constants of numbers that no operator computes (fft.c, window.c), a language of
 * its own (contract.c), and what the handle of a tensor knows of its grid (quantized.c). */
typedef cq_val cq_native_fn(cq_frame *f, const cq_val *args, size_t n);

cq_native_fn cq_native_waves, cq_native_kaiser, cq_native_einsum_labels;
cq_native_fn cq_native_floats, cq_native_quantized, cq_native_regrid, cq_native_grid_dtype,
    cq_native_qparams, cq_native_narrow_range, cq_native_bias_on_grid;

/* A constant of doubles, as another dtype. */
cq_val cq_native_constant(cq_frame *f, cq_tensor *wide, cq_dtype dtype);

cq_val cq_native_fail(cq_frame *f, cq_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
