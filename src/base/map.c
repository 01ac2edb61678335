/* Open addressing with linear probing, at most three quarters full. Keys come from files, so
 * their hash is a keyed one (hash.c); nothing that is written may depend on the order of slots. */
#include "base/map.h"

#include <string.h>

/* Keys stand one behind the other, in blocks that do not move. */
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

static cq_map_slot *find(const cq_map *map, const char *key, size_t len, uint64_t hash)
{
    for (size_t i = hash & (map->cap - 1);; i = (i + 1) & (map->cap - 1)) {
        cq_map_slot *s = &map->slots[i];

        if (!s->key || (s->hash == hash && strncmp(s->key, key, len) == 0 && s->key[len] == '\0'))
            return s;
    }
}

static cq_status grow(cq_map *map)
{
    cq_map bigger = { .cap = map->cap ? map->cap * 2 : 16 };

    bigger.slots = cq_zalloc(bigger.cap * sizeof *bigger.slots);
    if (!bigger.slots)
        return CQ_E_NO_MEMORY;
    bigger.n    = map->n;
    bigger.keys = map->keys;
    for (size_t i = 0; i < map->cap; i++) {
        const cq_map_slot *s  = &map->slots[i];
        size_t             to = s->hash & (bigger.cap - 1);

        if (!s->key)
            continue;
        while (bigger.slots[to].key) /* no two keys are equal: there is no need to look at them */
            to = (to + 1) & (bigger.cap - 1);
        bigger.slots[to] = *s;
    }
    cq_free(map->slots);
    *map = bigger;
    return CQ_OK;
}

void *cq_map_get_n(const cq_map *map, const char *key, size_t len)
{
    return map->cap ? find(map, key, len, cq_hash_bytes(key, len))->value : NULL;
}

void *cq_map_get(const cq_map *map, const char *key)
{
    return cq_map_get_n(map, key, strlen(key));
}

bool cq_map_has(const cq_map *map, const char *key)
{
    size_t len = strlen(key);

    return map->cap && find(map, key, len, cq_hash_bytes(key, len))->key;
}

/* The slot of a key, new or not; NULL without memory. */
static cq_map_slot *slot_of(cq_map *map, const char *key)
{
    size_t       len  = strlen(key);
    uint64_t     hash = cq_hash_bytes(key, len);
    cq_map_slot *s;

    if (map->n + 1 > map->cap / 4 * 3 && grow(map) != CQ_OK)
        return NULL;
    s = find(map, key, len, hash);
    if (!s->key) {
        s->key = keep_key(map, key, len);
        if (!s->key)
            return NULL;
        s->hash = hash;
        map->n++;
    }
    return s;
}

cq_status cq_map_set(cq_map *map, const char *key, void *value)
{
    cq_map_slot *s = slot_of(map, key);

    if (!s)
        return CQ_E_NO_MEMORY;
    s->value = value;
    return CQ_OK;
}

void cq_map_clear(cq_map *map)
{
    for (cq_map_keys *k = map->keys, *next; k; k = next) {
        next = k->next;
        cq_free(k);
    }
    cq_free(map->slots);
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
    cq_map_slot *s = slot_of(&table->map, text);

    return s ? s->value = s->key : NULL; /* the table's own copy is the interned text */
}

void cq_intern_clear(cq_intern *table)
{
    cq_map_clear(&table->map);
}
