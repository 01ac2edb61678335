/* Places in the text of a program that is being run. They are taken at every call and looked at
 * hardly ever: so a place is a number, and is written out when somebody asks. */
#ifndef CQ_BASE_PLACE_H
#define CQ_BASE_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CQ_PLACE_SIZE 512

/* Whoever has the text. It has to outlive the graphs that were made from it. */
typedef struct cq_place_source cq_place_source;
struct cq_place_source {
    /* Writes "net.py:12:8". */
    void (*write)(const cq_place_source *self, uint32_t offset, char *out, size_t size);
};

typedef struct cq_place {
    const cq_place_source *source; /* NULL: nowhere */
    uint32_t               offset;
} cq_place;

/* Where the user's own Python was that an archive's code was printed from. All is borrowed. */
typedef struct cq_python_place {
    const char *file;            /* NULL: not noted */
    int64_t     line, column;    /* as PyTorch counts them: lines from 1, columns from 0 */
    const char *text;            /* the line, not terminated; NULL: not noted */
    size_t      len, start, end; /* of the text; what is meant begins and ends there */
    bool        is_call; /* the text is not a line but a call on the way, "net.py(12): forward" */
} cq_python_place;

/* The place as text; "" for nowhere. */
static inline const char *cq_place_text(cq_place p, char buffer[CQ_PLACE_SIZE])
{
    buffer[0] = '\0';
    if (p.source)
        p.source->write(p.source, p.offset, buffer, CQ_PLACE_SIZE);
    return buffer;
}

#endif
