/* Syntax trees back to source text that parses to an equal tree: for the tests of the parser. */
#ifndef CQ_TESTS_SCRIPT_UNPARSE_H
#define CQ_TESTS_SCRIPT_UNPARSE_H

#include "script/ast.h"

cq_status unparse(char **out, const cq_unit *unit); /* free *out with cq_free */

#endif
