/* Syntax trees back to source text that parses to an equal tree: for the tests of the parser. */
#ifndef CQ_TESTS_SCRIPT_UNPARSE_H
#define CQ_TESTS_SCRIPT_UNPARSE_H

#include "lang/ast.h"

cq_status unparse(char **out, const cq_unit *unit); /* free *out with cq_free */

/* The same for Python 3.8 and later: what needs a newer one to be written back is a call.
 * f"a{x!r:>{n}}" is __fstring__('a', __field__(x, 'r', __fstring__('>', __field__(n, '', None)))),
 * and a t-string is __tstring__(…). */
cq_status unparse_portable(char **out, const cq_unit *unit);

#endif
