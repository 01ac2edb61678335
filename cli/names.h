/* Lists of names, --inputs a,b; repeated options add to the list. */
#ifndef CALQUE_CLI_NAMES_H
#define CALQUE_CLI_NAMES_H

#include "cli.h"

enum { CLI_MAX_NAMES = 4096, CLI_NAMES_SIZE = 1 << 16 };

typedef struct cli_names {
    const char *items[CLI_MAX_NAMES];
    size_t      n;
    char        text[CLI_NAMES_SIZE];
    size_t      used;
} cli_names;

/* Returns the exit code; empty names are CLI_MISUSE. */
int cli_names_read(cli_names *out, const cli_args *args, const char *option);

#endif
