/* Regular expressions, matched in time linear in the text: all alternatives advance together, one
 * character at a time, without backtracking. The syntax is RE2's, which has no backreferences and
 * no lookaround; classes by Unicode property (\pN) are missing.
 *
 *     cq_regex *re;
 *     CQ_TRY(cq_regex_new(&re, "[a-z]+\\.com", 11));
 *     CQ_TRY(cq_regex_matches(&yes, re, text, len));
 *     cq_regex_free(re); */
#ifndef CQ_BASE_REGEX_H
#define CQ_BASE_REGEX_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* Limits: nesting of groups; steps of a program, in which {n,m} is expanded. */
enum { CQ_REGEX_MAX_DEPTH = 100, CQ_REGEX_MAX_STEPS = 20000 };

typedef struct cq_regex cq_regex;

/* pattern is UTF-8. An invalid expression is an error with its position. */
cq_status cq_regex_new(cq_regex **out, const char *pattern, size_t len);
void      cq_regex_free(cq_regex *re);

/* The maximum work per character of the text. */
size_t cq_regex_size(const cq_regex *re);

/* Whether the expression matches all of text, from its first character to its last. */
cq_status cq_regex_matches(bool *out, const cq_regex *re, const char *text, size_t len);

#endif
