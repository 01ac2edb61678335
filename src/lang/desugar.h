/* return, break and continue become flags, and ifs that ask for them: a pass over the syntax tree
 * between parser and evaluator. Whoever evaluates what it leaves behind knows only straight code,
 * ifs and loops. */
#ifndef CQ_LANG_DESUGAR_H
#define CQ_LANG_DESUGAR_H

#include "lang/ast.h"

/* The variable that holds what a function returns; a function that ends without one returns None.
 * Names that begin so cannot be written in a program. */
#define CQ_RESULT "%result"

cq_status cq_desugar(cq_unit *unit);

/* The same for a file of Python whose statements are evaluated too: unit->body is what remains. */
cq_status cq_desugar_module(cq_unit *unit);

/* Whether a block ends in an exception, whatever happens in it. */
bool cq_ast_raises(const cq_ast_block *b);

#endif
