/* The encoding of source text: the lexer and parser read UTF-8. */
#ifndef CQ_LANG_ENCODING_H
#define CQ_LANG_ENCODING_H

#include "base/arena.h"
#include "base/source.h"

/* Makes s->text valid UTF-8: checks it, or converts it as a comment in the first two lines
 * declares. CQ_E_SYNTAX with a location if it is neither UTF-8 nor Latin-1. */
cq_status cq_decode(cq_arena *arena, cq_source *s);

#endif
