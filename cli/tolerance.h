/* Tolerances, --rtol and --atol. */
#ifndef CALQUE_CLI_TOLERANCE_H
#define CALQUE_CLI_TOLERANCE_H

#include "cli.h"

/* A number that is not negative. *out keeps its value when the option is not given. An exit code.
 */
int cli_tolerance(double *out, const cli_args *args, const char *name);

#endif
