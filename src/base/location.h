/* Source locations of a running program. They are recorded at every call and rarely read: a
 * location is a number, and becomes text on demand. */
#ifndef CQ_BASE_LOCATION_H
#define CQ_BASE_LOCATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CQ_LOCATION_SIZE 512

/* The owner of the text. It must outlive the graphs that were created from it. */
typedef struct cq_location_source cq_location_source;
struct cq_location_source {
    /* Writes "net.py:12:8". */
    void (*write)(const cq_location_source *self, uint32_t offset, char *out, size_t size);
};

typedef struct cq_location {
    const cq_location_source *source; /* NULL: unknown */
    uint32_t                  offset;
} cq_location;

/* The location in the user's own Python code from which an archive's code was printed. All pointers
 * are borrowed. */
typedef struct cq_python_location {
    const char *file;            /* NULL: not recorded */
    int64_t     line, column;    /* as PyTorch counts them: lines from 1, columns from 0 */
    const char *text;            /* the line, not terminated; NULL: not recorded */
    size_t      len, start, end; /* len: of the text; start and end delimit the construct */
    bool        is_call; /* the text is not a line but a call in the stack, "net.py(12): forward" */
} cq_python_location;

/* The location as text; "" if unknown. */
static inline const char *cq_location_text(cq_location p, char buffer[CQ_LOCATION_SIZE])
{
    buffer[0] = '\0';
    if (p.source)
        p.source->write(p.source, p.offset, buffer, CQ_LOCATION_SIZE);
    return buffer;
}

#endif
