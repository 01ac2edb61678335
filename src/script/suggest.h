/* Suggests arguments of a method: values for its parameters, by their types. The sizes and dtypes
 * of tensors are guesses, which fit.c tests. */
#ifndef CQ_SCRIPT_SUGGEST_H
#define CQ_SCRIPT_SUGGEST_H

#include "script/script.h"

enum { CQ_MAX_GUESSES = 16, CQ_GUESS_MAX_RANK = 6 };

/* A tensor or number among the arguments. */
typedef struct cq_guess {
    cq_dtype dtype;
    bool     is_number; /* of a type other than Tensor: it is fixed */
    double   number;
    size_t   rank;
    int64_t  sizes[CQ_GUESS_MAX_RANK];
} cq_guess;

/* The method that the arguments are for. */
typedef struct cq_suggestion {
    cq_script        *script;
    const cq_ast_def *def;
    const cq_source  *source;
    bool              is_method, has_lists;
    const char       *json; /* of the arguments, for cq_args_from_json; guesses are its tensors */
    size_t            n;
    cq_guess          guesses[CQ_MAX_GUESSES];
} cq_suggestion;

/* fit.c: changes the guesses until the method accepts them. False: no such guesses were found, and
 * they are unchanged. */
bool cq_suggestion_fit(cq_suggestion *suggestion);

#endif
