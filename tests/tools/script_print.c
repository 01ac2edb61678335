/* Prints Python source back: reads lines `IN<tab>OUT` from standard input, parses the file IN and
 * writes the syntax tree as source to OUT. Driven by tests/peer/script_parse.py, which compares
 * both with Python's own parser. */
#include "base/file.h"
#include "script_unparse.h"

#include <stdio.h>
#include <string.h>

/* *portable, unless it is NULL, is text for older versions of Python. */
static cq_status print_again(cq_intern *names, const char *file, const char *text, size_t len,
                             char **out, char **portable)
{
    cq_unit  *unit;
    cq_status status;

    *out = NULL;
    CQ_TRY(cq_parse(&unit, names, file, text, len, CQ_PARSE_FILE));
    status = unparse(out, unit);
    if (status == CQ_OK && portable)
        status = unparse_portable(portable, unit);
    cq_unit_free(unit);
    return status;
}

/* The printed text must parse to a tree that prints the same. */
static cq_status handle(cq_intern *names, const char *in, const char *out)
{
    char     *text = NULL, *once = NULL, *twice = NULL, *portable = NULL;
    size_t    len;
    cq_status status;

    CQ_TRY_OR_DONE(cq_file_read(&text, &len, in));
    CQ_TRY_OR_DONE(print_again(names, in, text, len, &once, &portable));
    CQ_TRY_OR_DONE(print_again(names, "<printed>", once, strlen(once), &twice, NULL));
    if (strcmp(once, twice) != 0)
        status = cq_fail(CQ_E_INTERNAL, in, NULL, "what was printed reads differently");
    else
        status = cq_file_write(out, portable, strlen(portable));
done:
    cq_free(text);
    cq_free(once);
    cq_free(twice);
    cq_free(portable);
    return status;
}

int main(void)
{
    cq_intern names = { 0 };
    char      line[8192];
    int       n_bad = 0;

    while (fgets(line, sizeof line, stdin)) {
        char *tab = strchr(line, '\t');

        line[strcspn(line, "\n")] = '\0';
        if (!tab)
            continue;
        *tab = '\0';
        if (handle(&names, line, tab + 1) != CQ_OK) {
            const cq_error *e = cq_last_error();

            printf("not ok - %s: %s\n  at %s\n%s\n", line, e->message, e->where, e->excerpt);
            n_bad++;
        }
    }
    cq_intern_clear(&names);
    return n_bad != 0;
}
