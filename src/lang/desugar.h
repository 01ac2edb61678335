/* Rewrites return, break and continue as flags and ifs that test them: a pass over the syntax tree
 * between parser and evaluator. An evaluator of its output needs only straight code, ifs and
 * loops. */
#ifndef CQ_LANG_DESUGAR_H
#define CQ_LANG_DESUGAR_H

#include "lang/ast.h"

/* The variable with the result of a function; a function without a return statement returns None.
 * Names that begin with % cannot be written in a program. */
#define CQ_RESULT "%result"

cq_status cq_desugar(cq_unit *unit);

/* The same for a file of Python whose statements are evaluated too: unit->body is what remains. */
cq_status cq_desugar_module(cq_unit *unit);

/* Whether a block ends in an exception, whatever happens in it. */
bool cq_ast_raises(const cq_ast_block *b);

#endif
