/* Text of files for people: control characters, which a terminal would interpret, characters that
 * change the direction of text or are invisible, and invalid UTF-8 become \x1b. */
#ifndef CQ_BASE_PRINTABLE_H
#define CQ_BASE_PRINTABLE_H

#include "base/str.h"

#include <stdio.h>

/* A name: a line break in it is escaped, too. */
void cq_str_add_name(cq_str *s, const char *name);

/* Whole lines: line breaks and tabs stay. */
void cq_str_add_lines(cq_str *s, const char *text);
void cq_put_lines(FILE *out, const char *text);

#endif
