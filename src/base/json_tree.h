/* JSON of untrusted files, as a tree in an arena. jansson (base/json.h) is strict and copies every
 * key; programs of torch.export are megabytes of short objects, and those of PyTorch 2.6 contain
 * bare Infinity and NaN, which are accepted here.
 *
 * Look-up of a missing member returns null, so that a reader of optional fields is a chain of
 * calls:
 *
 *     cq_json_text(cq_json_get(cq_json_get(node, "metadata"), "stack_trace"), "") */
#ifndef CQ_BASE_JSON_TREE_H
#define CQ_BASE_JSON_TREE_H

#include "base/arena.h"

#include <stdbool.h>

enum { CQ_JSON_MAX_DEPTH = 1000 };

/* A tree is up to 12 times as large as its text. */
#define CQ_JSON_MAX_SIZE ((size_t)512 << 20)

typedef enum cq_json_kind {
    CQ_JSON_NULL,
    CQ_JSON_BOOL,
    CQ_JSON_INT,
    CQ_JSON_FLOAT, /* a number with a fraction or exponent, or too large for an int */
    CQ_JSON_TEXT,
    CQ_JSON_LIST,
    CQ_JSON_OBJECT
} cq_json_kind;

typedef struct cq_json        cq_json;
typedef struct cq_json_member cq_json_member;

struct cq_json {
    cq_json_kind kind;
    uint32_t     n; /* bytes of a string, number of items or members */
    union {
        bool                  b;
        int64_t               i;
        double                f;
        const char           *text; /* NUL-terminated; may also contain NUL */
        const cq_json        *items;
        const cq_json_member *members;
    } u;
};

struct cq_json_member {
    const char *key;
    cq_json     value;
};

/* where is for messages: "model.pt2!models/model.json". */
cq_status cq_json_parse(const cq_json **out, cq_arena *arena, const char *text, size_t len,
                        const char *where);

/* These accept any value, and return null or `otherwise` if it is of another kind. */
const cq_json *cq_json_get(const cq_json *object, const char *key);
const cq_json *cq_json_at(const cq_json *list, size_t index);
size_t         cq_json_length(const cq_json *list); /* of a list or object; otherwise 0 */
const char    *cq_json_text(const cq_json *v, const char *otherwise);
int64_t        cq_json_int(const cq_json *v, int64_t otherwise);
bool           cq_json_bool(const cq_json *v, bool otherwise);

/* The only member that is not null, which is the active member of a union; NULL if there is
 * none. */
const cq_json_member *cq_json_union(const cq_json *object);

#endif
