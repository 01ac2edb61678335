/* Values in the form of Python's repr, for listings that must be identical to Python's. */
#ifndef CQ_BASE_PYTEXT_H
#define CQ_BASE_PYTEXT_H

#include "base/str.h"

/* Appends 0.1, 1e-05, 3.0, inf: the shortest digits that read back as the same number. */
void cq_str_add_py_float(cq_str *s, double value);

/* The same for a float: as many digits as distinguish it from its neighbours. */
void cq_str_add_py_float32(cq_str *s, float value);

/* Appends 'text' of UTF-8, in double quotes if that saves escapes. Invalid UTF-8 is dropped. Longer
 * texts are truncated, with the number of remaining characters: ...<+len=9>. */
void cq_str_add_py_text(cq_str *s, const char *text, size_t len, size_t most);

/* b'bytes' */
void cq_str_add_py_bytes(cq_str *s, const void *data, size_t size);

/* The first character of UTF-8 text, and its length; 0 if it is invalid. */
size_t cq_utf8_next(const char *text, size_t len, uint32_t *out);

/* Whether repr prints a character unescaped: not a control or format character, nor a space other
 * than U+0020. */
bool cq_is_printable(uint32_t c);

#endif
