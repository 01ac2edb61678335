/* JSON output for --json: strings only; printf writes everything else. */
#ifndef CALQUE_CLI_JSON_H
#define CALQUE_CLI_JSON_H

#include <stdio.h>

/* Writes a quoted string. Bytes that are not UTF-8 become U+FFFD, so the result always parses. */
void cli_json_string(FILE *out, const char *text);

#endif
