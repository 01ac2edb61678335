#include "base/map.h"

#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t fold(uint64_t a, uint64_t b)
{
    __uint128_t r = (__uint128_t)a * b;

    return (uint64_t)r ^ (uint64_t)(r >> 64);
}

/* Makes 16 bytes with the same stable hash for every n, as an attacker can. */
static void colliding_key(unsigned char out[16], uint64_t n)
{
    uint64_t second = fold(0x9e3779b97f4a7c15u ^ 16 ^ n, 0xa0761d6478bd642fu) ^ 0x1234567890abcdefu;

    memcpy(out, &n, 8);
    memcpy(out + 8, &second, 8);
}

static int compare(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

TEST(map, names_cannot_be_chosen_to_collide)
{
    enum { N = 1000 };
    uint64_t      hashes[N], stable = 0;
    unsigned char key[16];
    int           distinct = 1;

    for (uint64_t i = 0; i < N; i++) {
        colliding_key(key, i);
        CHECK(!i || cq_hash_stable(key, sizeof key) == stable);
        stable    = cq_hash_stable(key, sizeof key);
        hashes[i] = cq_hash_bytes(key, sizeof key);
    }
    qsort(hashes, N, sizeof *hashes, compare);
    for (int i = 1; i < N; i++)
        distinct += hashes[i] != hashes[i - 1];
    CHECK_INT(N, distinct);
}

TEST(map, every_key_is_found_again)
{
    cq_map map = { 0 };
    char   key[16];
    int    values[500];

    for (int i = 0; i < 500; i++) {
        snprintf(key, sizeof key, "%d", i);
        CHECK_OK(cq_map_set(&map, key, &values[i]));
    }
    for (int i = 0; i < 500; i++) {
        snprintf(key, sizeof key, "%d", i);
        CHECK(cq_map_get(&map, key) == &values[i]);
    }
    CHECK(!cq_map_has(&map, "500"));
    for (int i = 0; i < 500;
         i++) { /* in insertion order, which setting a key again does not change */
        CHECK(map.entries[i].value == &values[i]);
        CHECK_OK(cq_map_set(&map, map.entries[i].key, &values[499 - i]));
    }
    CHECK_INT(500, map.n);
    CHECK(cq_map_get(&map, "7") == &values[492] && cq_map_get_n(&map, "71", 1) == &values[492]);
    cq_map_clear(&map);
}

RUN_TESTS(TEST_OF(map, names_cannot_be_chosen_to_collide), TEST_OF(map, every_key_is_found_again))
