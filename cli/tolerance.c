/* See tolerance.h. */
#include "tolerance.h"

#include <stdlib.h>

int cli_tolerance(double *out, const cli_args *args, const char *name)
{
    const char *text = cli_value(args, name);
    char       *end;
    double      value;

    if (!text)
        return CLI_DONE;
    value = strtod(text, &end);
    if (end == text || *end || !(value >= 0))
        return cli_misuse(args->verb, "--%s: expected a number of at least 0, got '%s'", name,
                          text);
    *out = value;
    return CLI_DONE;
}
