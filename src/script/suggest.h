/* Suggests arguments of a method: values for its parameters by their types. The sizes and dtypes of
 * tensors are guesses, which fit.c tests. */
#ifndef CQ_SCRIPT_SUGGEST_H
#define CQ_SCRIPT_SUGGEST_H

#include "script/script.h"

enum { CQ_MAX_GUESSES = 16, CQ_GUESS_MAX_RANK = 6 };

/* A tensor or number among the arguments. */
typedef struct cq_guess {
    cq_dtype dtype;
    bool     is_number; /* the declared type is a number, so dtype and sizes are fixed */
    double   number;
    size_t   rank;
    int64_t  sizes[CQ_GUESS_MAX_RANK];
} cq_guess;

/* The method, and the arguments suggested for it. */
typedef struct cq_suggestion {
    cq_script        *script;
    const cq_ast_def *def;
    const cq_source  *source;
    bool              is_method, has_lists;
    const char       *json; /* the arguments for cq_args_from_json; the guesses describe its
                             * tensors */
    size_t   n;
    cq_guess guesses[CQ_MAX_GUESSES];
} cq_suggestion;

/* fit.c: improves the guesses until the method accepts them. Returns false and leaves them
 * unchanged if the search fails. */
bool cq_suggestion_fit(cq_suggestion *suggestion);

#endif
