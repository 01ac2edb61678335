/* The evaluator of library functions: it runs the syntax tree of a function (library.h) on values.
 *
 * Python itself is implemented here: variables, numbers, lists, dicts, text, branches and loops.
 * The host defines all other calls: operators of PyTorch for bodies and gradients
 * (aten/core/body.c). Names, slots and targets of calls are resolved once, when a function is first
 * called (link.c), so a wrong name is an error even on a line that is never reached.
 *
 * Errors are sticky: the first one is in *status, and every expression is None after it. Values
 * belong to the host (own), as in all compositions of operators: nothing is released here. */
#ifndef CQ_LANG_EVAL_H
#define CQ_LANG_EVAL_H

#include "lang/library.h"
#include "tensor/value.h"

enum { CQ_LANG_MAX_SLOTS = 80, CQ_LANG_MAX_ITEMS = 64, CQ_LANG_MAX_DEPTH = 64 };

typedef struct cq_lang      cq_lang;
typedef struct cq_lang_host cq_lang_host;

struct cq_lang_host {
    /* Resolves a call of name with these arguments; keywords are NULL for positional arguments.
     * Methods are called with their object as the first argument, and an attribute is a call of
     * ".shape". The result is in arena and is passed to call. It is NULL if the name is unknown, or
     * does not accept such arguments; only a lack of memory is a failure. */
    cq_status (*link)(const void **out, cq_arena *arena, const char *name,
                      const char *const *keywords, size_t n);

    /* Explains a call that link does not resolve: whether the name is known with other arguments,
     * and a hint, or "". Optional. */
    bool (*explain)(const char *name, char *hint, size_t size);

    /* Whether plain names that are neither functions of the file nor imported are the host's. */
    bool has_plain_names;

    /* A function of the library that every file of the host may call; NULL: none. Optional. */
    cq_lib_function *(*function)(const char *name);

    /* A dotted name that is a constant: torch.float32. */
    bool (*constant)(const char *name, cq_val *out);

    cq_val (*call)(cq_lang *l, const void *target, const cq_val *args, size_t n);

    /* Operators with at least one operand that is a value of the host. */
    cq_val (*binary)(cq_lang *l, cq_ast_op op, cq_val a, cq_val b);
    cq_val (*negate)(cq_lang *l, cq_val v);

    /* The value on the example of a symbolic number, or of a host value that holds one number. The
     * host records that it is fixed, unless l->is_asserting. */
    cq_val (*fix)(cq_lang *l, cq_val v);

    /* Whether a symbol may be compared by == and !=: it differs from all numbers but itself, and is
     * not fixed. */
    bool compares_symbols;

    /* Called when a variable with an object is read. Optional. */
    void (*touch)(cq_lang *l, cq_val v);

    cq_val (*own)(cq_lang *l, cq_val v); /* keeps v until the evaluation ends */
    void (*warn)(cq_lang *l, const char *message);

    /* Records the failure: message is about the user's input or, with CQ_E_INTERNAL, about the
     * library. */
    void (*fail)(cq_lang *l, cq_status status, const char *message);
};

/* One evaluation. The host embeds it at the beginning of its state. */
struct cq_lang {
    const cq_lang_host *host;
    cq_status          *status;
    cq_symbols         *symbols; /* of sizes; NULL when all are plain */
    unsigned            depth;
    bool                is_asserting;
    uint32_t            n_steps;   /* iterations and calls so far */
    uint32_t            max_steps; /* for functions that a user wrote; 0: no limit */

    /* The statement that is being run, for messages. */
    const cq_lib_function *in;
    cq_span                at;

    /* Whether an entry of the dict that the outermost function returns is needed; others are not
     * evaluated. NULL: all are. */
    bool (*needs)(cq_lang *l, const char *key);
};

/* Calls f with arguments by position; missing ones take their defaults. */
cq_val cq_lang_call(cq_lang *l, cq_lib_function *f, const cq_val *args, size_t n);
/* The same, with the parameter of each argument. */
cq_val cq_lang_call_by(cq_lang *l, cq_lib_function *f, const uint8_t *params, const cq_val *args,
                       size_t n);

/* The value of a lambda without parameters, which the host may evaluate while the enclosing
 * function runs; None for other values. */
cq_val cq_lang_run(cq_lang *l, cq_val lambda);
bool   cq_lang_is_lambda(cq_val v);

cq_val cq_lang_fail(cq_lang *l, cq_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static inline bool cq_lang_failed(const cq_lang *l)
{
    return *l->status != CQ_OK;
}

/* Counts n iterations; false: the limit is reached, and the evaluation has failed. */
bool cq_lang_step(cq_lang *l, size_t n);

/* ---- link.c ---- */

/* A builtin of Python (builtins.c), for first arguments of some kinds; with others the name is the
 * host's. */
typedef struct cq_builtin_function {
    const char *name;
    size_t      min, max;
    uint32_t    takes; /* bits of cq_val_kind */
    cq_val (*fn)(cq_lang *l, const cq_val *args, size_t n);
} cq_builtin_function;

extern const cq_builtin_function cq_builtin_functions[];

/* The target of a call: a builtin, a function of the library, or a target of the host. */
typedef struct cq_lang_target {
    const cq_builtin_function *builtin;
    cq_lib_function           *function;
    const uint8_t             *params; /* of the function: the parameter of each argument */
    const void                *host;
    bool                       is_method; /* the callee is an attribute of a value */
} cq_lang_target;

/* Parses f, gives its variables slots and finds the targets of its calls. */
cq_status cq_lang_link(cq_lib_function *f, const cq_lang_host *host);
/* Checks the declarations of the library's files that belong to a host, and links their functions;
 * only_changed: of the files that differ in the folder that CALQUE_LIB names. */
cq_status cq_lang_check_library(bool (*is_of_host)(const cq_lib_file *file), bool only_changed,
                                const cq_lang_host *host);

/* ---- values (builtins.c) ---- */

cq_val        cq_lang_list(cq_lang *l, const cq_val *items, size_t n); /* items NULL: of None */
cq_val        cq_lang_tuple(cq_lang *l, const cq_val *items, size_t n);
cq_val        cq_lang_text(cq_lang *l, const char *text);
const cq_val *cq_lang_items(const cq_val *v, size_t *n); /* a number is a list of one */
cq_val        cq_lang_item(cq_lang *l, cq_val list, cq_val at);
cq_val        cq_lang_slice(cq_lang *l, cq_val list, cq_val start, cq_val stop);
bool          cq_lang_equal(cq_val a, cq_val b);
cq_val        cq_lang_binary(cq_lang *l, cq_ast_op op, cq_val a, cq_val b);
bool          cq_lang_is_number(cq_val v);

/* Numbers by their values on the example. */
int64_t cq_lang_i64(cq_lang *l, cq_val v);
double  cq_lang_f64(cq_lang *l, cq_val v);
bool    cq_lang_truth(cq_lang *l, cq_val v);

#endif
