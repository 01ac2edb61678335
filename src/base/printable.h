/* Printing text from files: control characters, which a terminal would interpret, characters that
 * change the direction of text or are invisible, and invalid UTF-8 become \x1b. */
#ifndef CQ_BASE_PRINTABLE_H
#define CQ_BASE_PRINTABLE_H

#include "base/str.h"

#include <stdio.h>

/* Appends a name: line breaks in it are escaped too. */
void cq_str_add_name(cq_str *s, const char *name);

/* Appends whole lines: line breaks and tabs are kept. */
void cq_str_add_lines(cq_str *s, const char *text);
void cq_put_lines(FILE *out, const char *text);

#endif
