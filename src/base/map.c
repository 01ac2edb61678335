/* Open addressing with linear probing, at most three quarters full. A table of strings has small
 * slots in hash order, and entries in insertion order: look-ups in that order read memory
 * sequentially. Keys come from files, so their hash is keyed (hash.c); output must not depend on
 * the order of slots. */
#include "base/map.h"

#include <string.h>

/* Copies of keys, in blocks that do not move. */
typedef struct cq_map_keys cq_map_keys;
struct cq_map_keys {
    cq_map_keys *next;
    size_t       used, size;
    char         text[];
};

enum { FIRST_KEYS = 64, LARGEST_KEYS = 1 << 16 };

static char *keep_key(cq_map *map, const char *key, size_t len)
{
    cq_map_keys *k    = map->keys;
    size_t       size = k ? k->size : FIRST_KEYS;
    char        *copy;

    if (!k || k->size - k->used <= len) {
        if (k && size < LARGEST_KEYS)
            size *= 2;
        if (size <= len)
            size = len + 1;
        k = cq_alloc(sizeof *k + size);
        if (!k)
            return NULL;
        *k        = (cq_map_keys){ .next = map->keys, .size = size };
        map->keys = k;
    }
    copy = k->text + k->used;
    memcpy(copy, key, len);
    copy[len] = '\0';
    k->used += len + 1;
    return copy;
}

/* The number of an entry + 1, or 0 for a free slot; and the low bits of its hash. */
typedef struct cq_map_slot {
    uint32_t at, hash;
} cq_map_slot;

static cq_map_slot *find(const cq_map *map, const char *key, size_t len, uint32_t hash)
{
    for (size_t i = hash & (map->cap - 1);; i = (i + 1) & (map->cap - 1)) {
        cq_map_slot *p = &map->slots[i];
        const char  *here;

        if (!p->at)
            return p;
        if (p->hash != hash)
            continue;
        here = map->entries[p->at - 1].key;
        if (strncmp(here, key, len) == 0 && here[len] == '\0')
            return p;
    }
}

static cq_map_entry *entry_of(const cq_map *map, const char *key, size_t len)
{
    uint32_t at = map->cap ? find(map, key, len, (uint32_t)cq_hash_bytes(key, len))->at : 0;

    return at ? &map->entries[at - 1] : NULL;
}

static cq_status grow(cq_map *map)
{
    size_t        cap     = map->cap ? map->cap * 2 : 16;
    cq_map_entry *entries = NULL;
    cq_map_slot  *slots   = NULL;

    if (cap > UINT32_MAX)
        return cq_no_memory();
    entries = cq_realloc_array(map->entries, cap / 4 * 3, sizeof *entries);
    if (!entries)
        return CQ_E_NO_MEMORY;
    map->entries = entries;
    slots        = cq_zalloc(cap * sizeof *slots);
    if (!slots)
        return CQ_E_NO_MEMORY;
    for (size_t i = 0; i < map->cap; i++) {
        size_t to = map->slots[i].hash & (cap - 1);

        if (!map->slots[i].at)
            continue;
        while (slots[to].at) /* all keys are different, so they need not be compared */
            to = (to + 1) & (cap - 1);
        slots[to] = map->slots[i];
    }
    cq_free(map->slots);
    map->slots = slots;
    map->cap   = cap;
    return CQ_OK;
}

void *cq_map_get_n(const cq_map *map, const char *key, size_t len)
{
    const cq_map_entry *e = entry_of(map, key, len);

    return e ? e->value : NULL;
}

void *cq_map_get(const cq_map *map, const char *key)
{
    return cq_map_get_n(map, key, strlen(key));
}

bool cq_map_has(const cq_map *map, const char *key)
{
    return entry_of(map, key, strlen(key)) != NULL;
}

/* The entry of a key, created if necessary; NULL if out of memory. */
static cq_map_entry *make_entry(cq_map *map, const char *key)
{
    const size_t   len  = strlen(key);
    const uint32_t hash = (uint32_t)cq_hash_bytes(key, len);
    cq_map_slot   *p;

    if (map->n + 1 > map->cap / 4 * 3 && grow(map) != CQ_OK)
        return NULL;
    p = find(map, key, len, hash);
    if (!p->at) {
        const char *copy = keep_key(map, key, len);

        if (!copy)
            return NULL;
        map->entries[map->n++] = (cq_map_entry){ .key = copy };
        *p                     = (cq_map_slot){ (uint32_t)map->n, hash };
    }
    return &map->entries[p->at - 1];
}

cq_status cq_map_set(cq_map *map, const char *key, void *value)
{
    cq_map_entry *e = make_entry(map, key);

    if (!e)
        return CQ_E_NO_MEMORY;
    e->value = value;
    return CQ_OK;
}

void cq_map_clear(cq_map *map)
{
    for (cq_map_keys *k = map->keys, *next; k; k = next) {
        next = k->next;
        cq_free(k);
    }
    cq_free(map->slots);
    cq_free(map->entries);
    *map = (cq_map){ 0 };
}

static size_t ptr_index(const cq_ptr_map *map, const void *key)
{
    uint64_t hash = (uint64_t)(uintptr_t)key * 0x9e3779b97f4a7c15u;
    size_t   i    = (hash ^ hash >> 32) & (map->cap - 1);

    while (map->slots[i].key && map->slots[i].key != key)
        i = (i + 1) & (map->cap - 1);
    return i;
}

unsigned cq_free_number(unsigned first, cq_number_taken *is_taken, void *user)
{
    unsigned step = 1, taken = first, free;

    if (!is_taken(user, first))
        return first;
    while (is_taken(user, taken + step)) {
        taken += step;
        step *= 2;
    }
    for (free = taken + step; free - taken > 1;) {
        const unsigned middle = taken + (free - taken) / 2;

        if (is_taken(user, middle))
            taken = middle;
        else
            free = middle;
    }
    return free;
}

void *cq_ptr_map_get(const cq_ptr_map *map, const void *key)
{
    return map->cap ? map->slots[ptr_index(map, key)].value : NULL;
}

cq_status cq_ptr_map_set(cq_ptr_map *map, const void *key, void *value)
{
    size_t i;

    if (map->n + 1 > map->cap / 4 * 3) {
        cq_ptr_map bigger = { .cap = map->cap ? map->cap * 2 : 16 };

        bigger.slots = cq_zalloc(bigger.cap * sizeof *bigger.slots);
        if (!bigger.slots)
            return CQ_E_NO_MEMORY;
        for (i = 0; i < map->cap; i++)
            if (map->slots[i].key)
                bigger.slots[ptr_index(&bigger, map->slots[i].key)] = map->slots[i];
        bigger.n = map->n;
        cq_free(map->slots);
        *map = bigger;
    }
    i = ptr_index(map, key);
    map->n += map->slots[i].key == NULL;
    map->slots[i].key   = key;
    map->slots[i].value = value;
    return CQ_OK;
}

void cq_ptr_map_clear(cq_ptr_map *map)
{
    cq_free(map->slots);
    *map = (cq_ptr_map){ 0 };
}

const char *cq_intern_text(cq_intern *table, const char *text)
{
    const cq_map_entry *e = make_entry(&table->map, text);

    return e ? e->key : NULL; /* the table's own copy is the interned text */
}

void cq_intern_clear(cq_intern *table)
{
    cq_map_clear(&table->map);
}
