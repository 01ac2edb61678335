/* Writing JSON, for --json: just strings, the rest is printf. */
#ifndef CALQUE_CLI_JSON_H
#define CALQUE_CLI_JSON_H

#include <stdio.h>

/* A string in quotes. Bytes that are no UTF-8 become U+FFFD, so the result always parses. */
void cli_json_string(FILE *out, const char *text);

#endif
