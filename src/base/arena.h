/* Memory that is freed together: one arena per graph, per model, per compiled unit. */
#ifndef CQ_BASE_ARENA_H
#define CQ_BASE_ARENA_H

#include "base/alloc.h"

typedef struct cq_arena cq_arena;

cq_arena *cq_arena_new(void); /* NULL: out of memory, recorded */
void      cq_arena_free(cq_arena *arena);
void      cq_arena_reset(cq_arena *arena); /* like a new arena, but the last heap block is kept */

/* Aligned for any type; NULL if out of memory (recorded). */
void *cq_arena_alloc(cq_arena *arena, size_t size);
void *cq_arena_zalloc(cq_arena *arena, size_t size);
void *cq_arena_array(cq_arena *arena, size_t n, size_t size); /* zeroed, overflow checked */
void *cq_arena_copy(cq_arena *arena, const void *src, size_t size);
char *cq_arena_strdup(cq_arena *arena, const char *s);
char *cq_arena_strndup(cq_arena *arena, const char *s, size_t len);
char *cq_arena_printf(cq_arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

size_t cq_arena_used(const cq_arena *arena); /* bytes allocated, for limits */

#endif
