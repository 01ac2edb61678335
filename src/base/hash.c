/* SipHash-1-3 with a key that is drawn once per process. Names come from files, so with a known
 * function an attacker could choose names that collide. cq_hash_stable is for hashes that must be
 * the same in every run (a seed made from a name). */
#define _DEFAULT_SOURCE /* getentropy */
#include "base/map.h"

#include "base/posix.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

typedef struct hash_key {
    uint64_t first, second;
} hash_key;

static hash_key       key;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;

/* If the system has no random bytes, the time and addresses of this run are the key. */
static void draw_key(void)
{
    if (getentropy(&key, sizeof key) != 0) {
        struct timespec now;

        clock_gettime(CLOCK_MONOTONIC, &now);
        key = (hash_key){ (uint64_t)now.tv_nsec ^ (uint64_t)now.tv_sec << 32,
                          (uint64_t)(uintptr_t)&now ^ (uint64_t)(uintptr_t)draw_key << 17 };
    }
}

static uint64_t rotate(uint64_t x, int bits)
{
    return x << bits | x >> (64 - bits);
}

static void sip_round(uint64_t v[4])
{
    v[0] += v[1];
    v[1] = rotate(v[1], 13) ^ v[0];
    v[0] = rotate(v[0], 32);
    v[2] += v[3];
    v[3] = rotate(v[3], 16) ^ v[2];
    v[0] += v[3];
    v[3] = rotate(v[3], 21) ^ v[0];
    v[2] += v[1];
    v[1] = rotate(v[1], 17) ^ v[2];
    v[2] = rotate(v[2], 32);
}

/* The highest byte of the last word holds the size. */
static uint64_t sip_hash(hash_key k, const unsigned char *p, size_t size)
{
    uint64_t v[4] = { k.first ^ 0x736f6d6570736575u, k.second ^ 0x646f72616e646f6du,
                      k.first ^ 0x6c7967656e657261u, k.second ^ 0x7465646279746573u };
    uint64_t last = (uint64_t)size << 56, word;

    for (; size >= 8; p += 8, size -= 8) {
        memcpy(&word, p, 8);
        v[3] ^= word;
        sip_round(v);
        v[0] ^= word;
    }
    for (size_t i = 0; i < size; i++)
        last |= (uint64_t)p[i] << 8 * i;
    v[3] ^= last;
    sip_round(v);
    v[0] ^= last;
    v[2] ^= 0xff;
    for (int i = 0; i < 3; i++)
        sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

uint64_t cq_hash_bytes(const void *data, size_t size)
{
    pthread_once(&key_once, draw_key);
    return sip_hash(key, data, size);
}

static uint64_t mix(uint64_t a, uint64_t b)
{
    __uint128_t r = (__uint128_t)a * b;

    return (uint64_t)r ^ (uint64_t)(r >> 64);
}

uint64_t cq_hash_stable(const void *data, size_t size)
{
    const unsigned char *p = data;
    uint64_t             h = 0x9e3779b97f4a7c15u ^ size;

    while (size >= 8) {
        uint64_t w;

        memcpy(&w, p, 8);
        h = mix(h ^ w, 0xa0761d6478bd642fu);
        p += 8;
        size -= 8;
    }
    if (size) {
        uint64_t w = 0;

        memcpy(&w, p, size);
        h = mix(h ^ w, 0xe7037ed1a0b428dbu);
    }
    return mix(h, 0x8ebc6af09c88c6e3u);
}
