#include "tensor/value.h"

#include "test.h"

#include <math.h>

static cq_dict *dict_of(size_t n)
{
    cq_dict *d;

    CHECK_OK(cq_dict_new(&d));
    for (size_t i = 0; i < n; i++)
        CHECK_OK(cq_dict_set(d, cq_val_of_i64((int64_t)i * 7), cq_val_of_i64((int64_t)i)));
    return d;
}

static void free_dict(cq_dict *d)
{
    cq_val_release(cq_val_of_dict(d));
}

static cq_val text(const char *s)
{
    cq_text *t;

    CHECK_OK(cq_text_new(&t, s, strlen(s)));
    return cq_val_of_text(t);
}

/* Keys that are equal to nothing (NaN); with one hash for all of them this would take minutes. */
TEST(dict, many_keys_that_are_never_found_take_no_longer)
{
    const cq_val nan = cq_val_of_f64(NAN);
    cq_list     *list;
    cq_val       tuple;
    cq_dict     *d = dict_of(100);

    CHECK_OK(cq_list_new(&list, 1));
    list->items[0] = nan;
    tuple          = (cq_val){ .kind = CQ_VAL_TUPLE, .u.list = list };
    for (int64_t i = 0; i < 300000; i++)
        CHECK_OK(cq_dict_set(d, i % 2 ? tuple : nan, cq_val_of_i64(i)));
    CHECK_INT(300100, (int64_t)d->n);
    CHECK(cq_dict_get(d, nan) == NULL && cq_dict_get(d, tuple) == NULL);
    cq_val_release(tuple);
    CHECK(!cq_dict_remove(d, nan));
    CHECK_INT(99, cq_dict_get(d, cq_val_of_i64(99 * 7))->u.i.value);
    free_dict(d);
}

TEST(dict, every_key_is_found_and_no_other)
{
    for (size_t n = 0; n < 200; n++) {
        cq_dict *d = dict_of(n);

        CHECK_INT((int64_t)n, (int64_t)d->n);
        for (int64_t i = 0; i < (int64_t)n * 7; i++) {
            cq_val *v = cq_dict_get(d, cq_val_of_i64(i));

            CHECK((v != NULL) == (i % 7 == 0));
            if (v)
                CHECK_INT(i / 7, v->u.i.value);
        }
        free_dict(d);
    }
}

TEST(dict, entries_keep_the_order_of_their_keys)
{
    cq_dict *d = dict_of(100);

    CHECK(cq_dict_remove(d, cq_val_of_i64(0)));
    CHECK(cq_dict_remove(d, cq_val_of_i64(99 * 7)));
    CHECK(cq_dict_remove(d, cq_val_of_i64(30 * 7)));
    CHECK(cq_dict_remove(d, cq_val_of_i64(80 * 7)));
    CHECK(!cq_dict_remove(d, cq_val_of_i64(80 * 7)));
    CHECK_OK(cq_dict_set(d, cq_val_of_i64(0), cq_val_of_i64(100)));  /* new: at the end */
    CHECK_OK(cq_dict_set(d, cq_val_of_i64(14), cq_val_of_i64(200))); /* there: stays */
    CHECK_INT(97, (int64_t)d->n);
    CHECK_INT(7, d->entries[0].key.u.i.value);
    CHECK_INT(200, d->entries[1].value.u.i.value);
    CHECK_INT(0, d->entries[96].key.u.i.value);
    for (size_t i = 1; i < 96; i++)
        CHECK(d->entries[i - 1].key.u.i.value < d->entries[i].key.u.i.value);
    free_dict(d);
}

TEST(dict, keys_survive_repeated_removal_and_insertion)
{
    cq_dict *d = dict_of(50);

    for (int64_t round = 0; round < 1000; round++) {
        CHECK(cq_dict_remove(d, cq_val_of_i64(round % 50 * 7)));
        CHECK(!cq_dict_get(d, cq_val_of_i64(round % 50 * 7)));
        CHECK_OK(cq_dict_set(d, cq_val_of_i64(round % 50 * 7), cq_val_of_i64(round)));
        CHECK_INT(50, (int64_t)d->n);
        CHECK_INT(round, d->entries[49].value.u.i.value);
    }
    CHECK(d->cap < 200); /* slots of removed entries are reused */
    while (d->n)
        CHECK(cq_dict_remove(d, d->entries[d->n / 2].key));
    CHECK_OK(cq_dict_set(d, cq_val_of_i64(1), CQ_NONE));
    CHECK(cq_dict_get(d, cq_val_of_i64(1)) != NULL);
    free_dict(d);
}

TEST(dict, texts_are_found_by_their_bytes)
{
    cq_dict *d = dict_of(20);
    cq_val   a = text("a"), b = text("b");

    CHECK_OK(cq_dict_set(d, a, cq_val_of_i64(1)));
    CHECK_OK(cq_dict_push(d, b, cq_val_of_i64(2))); /* until the next set a scan finds it */
    CHECK_INT(1, cq_dict_get_text(d, "a")->u.i.value);
    CHECK_INT(2, cq_dict_get_text(d, "b")->u.i.value);
    CHECK_OK(cq_dict_set(d, a, cq_val_of_i64(3)));
    CHECK_INT(3, cq_dict_get_text(d, "a")->u.i.value);
    CHECK_INT(2, cq_dict_get(d, b)->u.i.value);
    CHECK(!cq_dict_get_text(d, "c"));
    cq_dict_clear(d);
    CHECK(!cq_dict_get_text(d, "a"));
    CHECK_INT(1, atomic_load(&a.u.text->refs));
    cq_val_release(a);
    cq_val_release(b);
    free_dict(d);
}

/* By scans these are 10^10 comparisons. */
TEST(dict, look_ups_in_a_large_dict_are_fast)
{
    cq_dict *d = dict_of(100000);

    for (int64_t i = 0; i < 100000; i++)
        CHECK(cq_dict_get(d, cq_val_of_i64(i * 7)) && !cq_dict_get(d, cq_val_of_i64(i * 7 + 1)));
    for (int64_t i = 0; i < 100000; i++)
        CHECK(cq_dict_remove(d, cq_val_of_i64(i * 7)));
    CHECK_INT(0, (int64_t)d->n);
    free_dict(d);
}

RUN_TESTS(TEST_OF(dict, many_keys_that_are_never_found_take_no_longer),
          TEST_OF(dict, every_key_is_found_and_no_other),
          TEST_OF(dict, entries_keep_the_order_of_their_keys),
          TEST_OF(dict, keys_survive_repeated_removal_and_insertion),
          TEST_OF(dict, texts_are_found_by_their_bytes),
          TEST_OF(dict, look_ups_in_a_large_dict_are_fast))
