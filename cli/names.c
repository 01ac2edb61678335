/* Reads lists of names. */
#include "names.h"

#include <string.h>

static int add(cli_names *out, const cli_args *args, const char *option, const char *text,
               size_t len)
{
    if (!len)
        return cli_misuse(args->verb, "--%s has an empty name", option);
    if (out->n == CLI_MAX_NAMES || out->used + len + 1 > sizeof out->text)
        return cli_misuse(args->verb, "--%s has more than %d names or %d characters", option,
                          CLI_MAX_NAMES, CLI_NAMES_SIZE);
    memcpy(out->text + out->used, text, len);
    out->text[out->used + len] = '\0';
    out->items[out->n++]       = out->text + out->used;
    out->used += len + 1;
    return CLI_DONE;
}

int cli_names_read(cli_names *out, const cli_args *args, const char *option)
{
    const char *text;
    size_t      at = 0;

    out->n = out->used = 0;
    while ((text = cli_next_value(args, option, &at))) {
        for (;;) {
            const size_t len = strcspn(text, ",");

            CLI_TRY(add(out, args, option, text, len));
            if (!text[len])
                break;
            text += len + 1;
        }
    }
    return CLI_DONE;
}
