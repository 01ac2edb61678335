/* Drops the privileges that no verb needs; see sandbox.c. */
#ifndef CALQUE_CLI_SANDBOX_H
#define CALQUE_CLI_SANDBOX_H

#include "cli.h"

/* Once, when the command line is known and before a file is read. */
void cli_sandbox(const cli_args *args);

#endif
