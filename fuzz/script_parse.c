/* Python source: a text that parses is printed; the printed text parses again, and prints the
 * same. */
#include "base/alloc.h"
#include "script_unparse.h"

#include <stdlib.h>
#include <string.h>

static void must(bool condition)
{
    if (!condition)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cq_intern names = { 0 };
    cq_unit  *unit, *again;
    char     *once, *twice;

    if (cq_parse(&unit, &names, "<fuzz>", (const char *)data, size, CQ_PARSE_FILE) == CQ_OK) {
        if (unparse(&once, unit) == CQ_OK && strlen(once) < 1 << 20) {
            /* parentheses that printing adds may pass the limit of nesting */
            if (cq_parse(&again, &names, "<again>", once, strlen(once), CQ_PARSE_FILE) == CQ_OK) {
                must(unparse(&twice, again) == CQ_OK);
                must(strcmp(once, twice) == 0);
                cq_free(twice);
            } else {
                must(strstr(cq_last_error()->message, "more than") != NULL);
            }
            cq_unit_free(again);
        }
        cq_free(once);
        cq_unit_free(unit);
    }
    cq_intern_clear(&names);
    return 0;
}
