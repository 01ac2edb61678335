/* Hash maps. cq_map maps strings, cq_ptr_map addresses, to pointers. Neither owns its values;
 * cq_map copies its keys. */
#ifndef CQ_BASE_MAP_H
#define CQ_BASE_MAP_H

#include "base/alloc.h"

#include <stdbool.h>

typedef struct cq_map_entry {
    const char *key;
    void       *value;
} cq_map_entry;

typedef struct cq_map {
    cq_map_entry       *entries; /* n entries, in insertion order */
    struct cq_map_slot *slots;
    size_t              n, cap; /* cap: of the slots */
    struct cq_map_keys *keys;   /* storage of the key copies */
} cq_map;

void     *cq_map_get(const cq_map *map, const char *key); /* NULL: not found */
void     *cq_map_get_n(const cq_map *map, const char *key, size_t len);
bool      cq_map_has(const cq_map *map, const char *key);
cq_status cq_map_set(cq_map *map, const char *key, void *value); /* replaces an existing value */
void      cq_map_clear(cq_map *map);

/* A number from first on that is free: the first one if names are numbered without gaps. It takes a
 * logarithmic number of questions, so that many names of one base are numbered in linear time. */
typedef bool cq_number_taken(void *user, unsigned number);
unsigned     cq_free_number(unsigned first, cq_number_taken *is_taken, void *user);

typedef struct cq_ptr_map {
    struct {
        const void *key;
        void       *value;
    } * slots;
    size_t n, cap;
} cq_ptr_map;

void     *cq_ptr_map_get(const cq_ptr_map *map, const void *key);
cq_status cq_ptr_map_set(cq_ptr_map *map, const void *key, void *value); /* key is not NULL */
void      cq_ptr_map_clear(cq_ptr_map *map);

/* cq_hash_bytes hashes untrusted bytes. Its key differs in every process, so that no file can
 * contain names that collide. cq_hash_stable is the same everywhere; an attacker can construct
 * names that collide in it. */
uint64_t cq_hash_bytes(const void *data, size_t size);
uint64_t cq_hash_stable(const void *data, size_t size);

/* Interned strings: equal text has the same address, as long as the table exists. */
typedef struct cq_intern {
    cq_map map;
} cq_intern;

const char *cq_intern_text(cq_intern *table, const char *text); /* NULL: out of memory */
void        cq_intern_clear(cq_intern *table);

#endif
