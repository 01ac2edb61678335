/* Source text, and locations in it. A location is a range of bytes; line and column are computed on
 * demand, after a failure. */
#ifndef CQ_BASE_SOURCE_H
#define CQ_BASE_SOURCE_H

#include "base/error.h"
#include "base/location.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cq_span {
    uint32_t start, end; /* bytes of the text; end is exclusive */
} cq_span;

typedef struct cq_source cq_source;
struct cq_source {
    cq_location_source locations; /* the first; made by cq_source_init */
    const char        *file;      /* as messages name it: "net.py", "net.pt!code/__torch__.py" */
    const char        *text;
    size_t             len;

    /* Code in an archive was printed by PyTorch: where it was before is in notes. NULL: this is
     * the text that the user wrote. */
    cq_python_location (*origin)(void *owner, const void *notes, uint32_t offset);
    void       *owner;
    const void *notes;
};

void cq_source_init(cq_source *source, const char *file, const char *text, size_t len);

/* Both from 1 on; column counts characters, not bytes. */
void cq_source_location(const cq_source *source, uint32_t offset, uint32_t *line, uint32_t *column);

/* Fails at a location: `where` is file:line:column, `excerpt` the line with carets below. */
cq_status cq_source_fail(const cq_source *source, cq_span at, cq_status status, const char *hint,
                         const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Adds the location to a propagating failure that has none, such as that of an operator. */
cq_status cq_source_blame(const cq_source *source, cq_span at, cq_status status);

#endif
