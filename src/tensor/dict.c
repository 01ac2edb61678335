/* Dicts. The entries are in insertion order, as in Python, so iterating needs no function of this
 * file. A hash table finds a key: it holds numbers of entries, which only grow, and stay valid when
 * an earlier entry is removed. A dict of a few keys has no table, because a scan is faster. */
#include "tensor/value.h"
#include "base/map.h"
#include "base/vec.h"

#include <stdlib.h>

enum { MAX_SCANNED = 8 };

#define FREE    0u         /* slots hold the number of an entry, from 1 */
#define REMOVED UINT64_MAX /* a removed entry: a search continues */

struct cq_dict_index {
    size_t   cap; /* a power of two */
    size_t   n;   /* entries that it knows */
    size_t   n_taken;
    uint64_t last; /* number given */
    uint64_t slots[];
};

cq_status cq_dict_new(cq_dict **out)
{
    cq_dict *dict = *out = cq_zalloc(sizeof *dict);

    if (!dict)
        return CQ_E_NO_MEMORY;
    atomic_init(&dict->refs, 1);
    return CQ_OK;
}

/* ---- keys ---- */

enum { MAX_KEY_ITEMS = 256 }; /* of tuples in tuples; larger ones are never found */

/* Only of keys that can be found, whose tuples are small. */
static uint64_t hash_of(cq_val key);

static uint64_t hash_of_tuple(const cq_list *items)
{
    uint64_t hash = items->n;

    for (size_t i = 0; i < items->n; i++) {
        const uint64_t parts[2] = { hash, hash_of(items->items[i]) };

        hash = cq_hash_bytes(parts, sizeof parts);
    }
    return hash;
}

static uint64_t hash_of(cq_val key)
{
    double  f;
    int64_t i;

    switch (key.kind) {
    case CQ_VAL_STR:
    case CQ_VAL_DEVICE: return cq_hash_bytes(key.u.text->text, key.u.text->len);
    case CQ_VAL_INT:
        return key.u.i.expr ? cq_hash_bytes(&key.u.i.expr, sizeof key.u.i.expr)
                            : cq_hash_bytes(&key.u.i.value, sizeof key.u.i.value);
    case CQ_VAL_FLOAT:
        f = key.u.f.value == 0 ? 0 : key.u.f.value; /* minus zero is the same key */
        i = f > -0x1p62 && f < 0x1p62 ? (int64_t)f : 0;
        return (double)i == f ? cq_hash_bytes(&i, sizeof i) : cq_hash_bytes(&f, sizeof f);
    case CQ_VAL_BOOL: i = key.u.b.value; return cq_hash_bytes(&i, sizeof i);
    case CQ_VAL_TENSOR: return cq_hash_bytes(&key.u.tensor, sizeof key.u.tensor);
    case CQ_VAL_OBJECT: return cq_hash_bytes(&key.u.box, sizeof key.u.box);
    case CQ_VAL_TUPLE: return hash_of_tuple(key.u.list);
    default: return 0; /* None, and those below */
    }
}

/* budget bounds the walk over tuples, which may share their items. */
static bool can_be_found(cq_val key, int *budget)
{
    if (--*budget < 0)
        return false;
    switch (key.kind) {
    case CQ_VAL_STR:
    case CQ_VAL_DEVICE:
    case CQ_VAL_INT:
    case CQ_VAL_BOOL:
    case CQ_VAL_TENSOR:
    case CQ_VAL_NONE:
    case CQ_VAL_OBJECT: return true;
    case CQ_VAL_FLOAT: return key.u.f.value == key.u.f.value;
    case CQ_VAL_TUPLE:
        for (size_t i = 0; i < key.u.list->n; i++)
            if (!can_be_found(key.u.list->items[i], budget))
                return false;
        return !key.u.list->origin;
    default: return false;
    }
}

/* NaN, lists and the like are equal to nothing: they are never found, and any slot will do. With
 * one hash for all of them a dict of many would be searched from end to end for each. */
static bool is_never_found(cq_val key)
{
    return !can_be_found(key, &(int){ MAX_KEY_ITEMS });
}

static bool is_text(cq_val key, const char *text, size_t len)
{
    return key.u.text->len == len && memcmp(key.u.text->text, text, len) == 0;
}

static bool is_same_key(cq_val a, cq_val b);

static bool is_same_tuple(const cq_list *a, const cq_list *b)
{
    bool same = a->n == b->n;

    for (size_t i = 0; same && i < a->n; i++)
        same = is_same_key(a->items[i], b->items[i]);
    return same;
}

/* 1, 1.0 and True are one key. */
static bool is_same_number(cq_val a, cq_val b)
{
    const cq_val *v[2] = { &a, &b };
    double        d[2];

    for (size_t k = 0; k < 2; k++) {
        if (v[k]->kind == CQ_VAL_INT && !v[k]->u.i.expr && llabs(v[k]->u.i.value) < 1LL << 53)
            d[k] = (double)v[k]->u.i.value;
        else if (v[k]->kind == CQ_VAL_FLOAT && !v[k]->u.f.origin)
            d[k] = v[k]->u.f.value;
        else if (v[k]->kind == CQ_VAL_BOOL && !v[k]->u.b.origin)
            d[k] = v[k]->u.b.value;
        else
            return false;
    }
    return d[0] == d[1];
}

static bool is_same_key(cq_val a, cq_val b)
{
    if (a.kind != b.kind)
        return is_same_number(a, b);
    switch (a.kind) {
    case CQ_VAL_NONE: return true;
    case CQ_VAL_TUPLE: return is_same_tuple(a.u.list, b.u.list);
    case CQ_VAL_STR:
    case CQ_VAL_DEVICE: return is_text(a, b.u.text->text, b.u.text->len);
    case CQ_VAL_INT: return cq_int_same(a.u.i, b.u.i);
    case CQ_VAL_FLOAT: return a.u.f.value == b.u.f.value && a.u.f.origin == b.u.f.origin;
    case CQ_VAL_BOOL: return a.u.b.value == b.u.b.value && a.u.b.origin == b.u.b.origin;
    case CQ_VAL_TENSOR: return a.u.tensor == b.u.tensor;
    case CQ_VAL_OBJECT: return a.u.box == b.u.box;
    default: return false;
    }
}

/* ---- the table ---- */

/* A table that lacks entries, or has some that are gone, is of no use. */
static bool is_indexed(const cq_dict *dict)
{
    return dict->index && dict->index->n == dict->n;
}

static size_t next_slot(const cq_dict_index *index, size_t slot)
{
    return (slot + 1) & (index->cap - 1);
}

static void put_into(cq_dict_index *index, cq_val key, uint64_t number)
{
    const uint64_t hash =
        is_never_found(key) ? cq_hash_bytes(&number, sizeof number) : hash_of(key);
    size_t slot = (size_t)hash & (index->cap - 1);

    while (index->slots[slot] != FREE)
        slot = next_slot(index, slot);
    index->slots[slot] = number;
    index->n_taken++;
    index->n++;
}

/* A table of all entries, with room for as many again. */
static cq_status make_index(cq_dict *dict)
{
    size_t         cap = 32;
    cq_dict_index *index;

    while (cap / 4 < dict->n + 1)
        cap *= 2;
    index = cq_zalloc(sizeof *index + cap * sizeof *index->slots);
    if (!index)
        return CQ_E_NO_MEMORY;
    index->cap = cap;
    for (size_t i = 0; i < dict->n; i++) {
        dict->entries[i].number = ++index->last;
        put_into(index, dict->entries[i].key, index->last);
    }
    cq_free(dict->index);
    dict->index = index;
    return CQ_OK;
}

/* Where the entry of a number is. Numbers grow from entry to entry, by one where none is gone. */
static size_t position_of(const cq_dict *dict, uint64_t number)
{
    size_t first = 0, end = dict->n, guess = (size_t)(number - dict->entries[0].number);

    if (guess < end && dict->entries[guess].number == number)
        return guess;
    while (first + 1 < end) {
        size_t middle = first + (end - first) / 2;

        if (dict->entries[middle].number <= number)
            first = middle;
        else
            end = middle;
    }
    return first;
}

/* ---- entries ---- */

/* The searched key: a value, or a text that no value holds. */
typedef struct wanted {
    cq_val      key;
    const char *text; /* NULL: the key */
    size_t      len;
} wanted;

static bool is_wanted(const wanted *w, cq_val key)
{
    return w->text ? key.kind == CQ_VAL_STR && is_text(key, w->text, w->len)
                   : is_same_key(key, w->key);
}

/* The entry, and its slot if there is a table; NULL: not found. */
static struct cq_dict_entry *find(const cq_dict *dict, const wanted *w, size_t *slot)
{
    const cq_dict_index *index = dict->index;

    if (!w->text && is_never_found(w->key))
        return NULL;
    if (!is_indexed(dict)) {
        for (size_t i = 0; i < dict->n; i++)
            if (is_wanted(w, dict->entries[i].key))
                return &dict->entries[i];
        return NULL;
    }
    *slot = (size_t)(w->text ? cq_hash_bytes(w->text, w->len) : hash_of(w->key)) & (index->cap - 1);
    for (; index->slots[*slot] != FREE; *slot = next_slot(index, *slot)) {
        struct cq_dict_entry *e;

        if (index->slots[*slot] == REMOVED)
            continue;
        e = &dict->entries[position_of(dict, index->slots[*slot])];
        if (is_wanted(w, e->key))
            return e;
    }
    return NULL;
}

cq_val *cq_dict_get(const cq_dict *dict, cq_val key)
{
    size_t                slot;
    struct cq_dict_entry *e = find(dict, &(wanted){ .key = key }, &slot);

    return e ? &e->value : NULL;
}

cq_val *cq_dict_get_text(const cq_dict *dict, const char *key)
{
    size_t                slot;
    struct cq_dict_entry *e = find(dict, &(wanted){ .text = key, .len = strlen(key) }, &slot);

    return e ? &e->value : NULL;
}

/* Where the memory of the entries begins. */
static struct cq_dict_entry *base_of(const cq_dict *dict)
{
    return dict->n_skipped ? dict->entries - dict->n_skipped : dict->entries;
}

/* Room for one entry more: that of entries that were removed in front, or more memory. */
static cq_status make_room(cq_dict *dict)
{
    struct cq_dict_entry *base = base_of(dict);

    if (dict->n_skipped + dict->n < dict->cap)
        return CQ_OK;
    if (dict->n_skipped > dict->n) {
        memmove(base, dict->entries, dict->n * sizeof *base);
        dict->entries   = base;
        dict->n_skipped = 0;
        return CQ_OK;
    }
    CQ_TRY(cq_vec_grow((void **)&base, &dict->cap, dict->n_skipped + dict->n + 1, sizeof *base));
    dict->entries = base + dict->n_skipped;
    return CQ_OK;
}

cq_status cq_dict_push(cq_dict *dict, cq_val key, cq_val value)
{
    CQ_TRY(make_room(dict));
    dict->entries[dict->n++] =
        (struct cq_dict_entry){ .key = cq_val_retain(key), .value = cq_val_retain(value) };
    return CQ_OK;
}

cq_status cq_dict_set(cq_dict *dict, cq_val key, cq_val value)
{
    struct cq_dict_entry *e;
    cq_dict_index        *index;
    size_t                slot;

    if (dict->n >= MAX_SCANNED && !is_indexed(dict))
        CQ_TRY(make_index(dict));
    e = find(dict, &(wanted){ .key = key }, &slot);
    if (e) {
        cq_val_set(&e->value, value);
        return CQ_OK;
    }
    if (is_indexed(dict) && (dict->index->n_taken + 1) * 2 > dict->index->cap)
        CQ_TRY(make_index(dict));
    index = is_indexed(dict) ? dict->index : NULL;
    CQ_TRY(cq_dict_push(dict, key, value));
    if (index) {
        dict->entries[dict->n - 1].number = ++index->last;
        put_into(index, key, index->last);
    }
    return CQ_OK;
}

cq_status cq_dict_add(cq_dict *dict, const cq_dict *from)
{
    for (size_t i = 0; i < from->n; i++)
        CQ_TRY(cq_dict_set(dict, from->entries[i].key, from->entries[i].value));
    return CQ_OK;
}

bool cq_dict_remove(cq_dict *dict, cq_val key)
{
    const bool            indexed = is_indexed(dict);
    size_t                slot    = 0, before, behind;
    struct cq_dict_entry *e       = find(dict, &(wanted){ .key = key }, &slot), removed;

    if (!e)
        return false;
    removed = *e;
    before  = (size_t)(e - dict->entries);
    behind  = dict->n - before - 1;
    if (before < behind) { /* the fewer ones move */
        memmove(dict->entries + 1, dict->entries, before * sizeof *e);
        dict->entries++;
        dict->n_skipped++;
    } else {
        memmove(e, e + 1, behind * sizeof *e);
    }
    dict->n--;
    if (indexed) {
        dict->index->slots[slot] = REMOVED;
        dict->index->n--;
    }
    cq_val_release(removed.key);
    cq_val_release(removed.value);
    return true;
}

void cq_dict_swap(cq_dict *a, cq_dict *b)
{
    struct cq_dict_entry *const entries = a->entries;
    cq_dict_index *const        index   = a->index;
    const size_t                n = a->n, cap = a->cap, n_skipped = a->n_skipped;

    a->n         = b->n;
    a->cap       = b->cap;
    a->entries   = b->entries;
    a->n_skipped = b->n_skipped;
    a->index     = b->index;
    b->n         = n;
    b->cap       = cap;
    b->entries   = entries;
    b->n_skipped = n_skipped;
    b->index     = index;
}

void cq_dict_clear(cq_dict *dict)
{
    struct cq_dict_entry *entries = dict->entries, *base = base_of(dict);
    const size_t          n = dict->n;

    dict->entries = NULL;
    dict->n = dict->n_skipped = 0;
    cq_free(dict->index);
    dict->index = NULL;
    dict->cap   = 0;
    for (size_t i = 0; i < n; i++) {
        cq_val_release(entries[i].key);
        cq_val_release(entries[i].value);
    }
    cq_free(base);
}
