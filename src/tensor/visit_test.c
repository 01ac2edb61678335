#include "tensor/visit.h"

#include "test.h"

static cq_val list_of(cq_val_kind kind, cq_val a, cq_val b)
{
    cq_val v = { .kind = kind };

    CHECK_OK(cq_list_new(&v.u.list, 0));
    CHECK_OK(cq_list_push(v.u.list, a));
    CHECK_OK(cq_list_push(v.u.list, b));
    return v;
}

/* (value, value), (of that, of that), …: a small value with 2**levels leaves. */
static cq_val doubled(int levels)
{
    cq_val v = cq_val_of_i64(1);

    for (int i = 0; i < levels; i++) {
        cq_val pair = list_of(CQ_VAL_TUPLE, v, v);

        cq_val_release(v);
        v = pair;
    }
    return v;
}

static cq_status add_up(cq_visit *w, cq_val v)
{
    *(int64_t *)w->user = *(int64_t *)w->user * 10 + v.u.i.value;
    return CQ_OK;
}

static cq_status count(cq_visit *w, cq_val v)
{
    (void)v;
    ++*(int *)w->user;
    return CQ_OK;
}

static cq_status plus_one(cq_visit *w, cq_val v, cq_val *out)
{
    ++*(int *)w->user;
    *out = cq_val_of_i64(v.u.i.value + 1);
    return CQ_OK;
}

static cq_status same_number(cq_visit *w, cq_val a, cq_val b, bool *same, bool *by_parts)
{
    (void)w;
    *by_parts = a.kind == b.kind && a.kind != CQ_VAL_INT;
    *same     = a.kind == CQ_VAL_INT && b.kind == CQ_VAL_INT && a.u.i.value == b.u.i.value;
    return CQ_OK;
}

TEST(visit, leaves_come_in_order)
{
    cq_val   inner = list_of(CQ_VAL_TUPLE, cq_val_of_i64(2), cq_val_of_i64(3)), v;
    cq_dict *dict;
    int64_t  n = 0;
    cq_visit w = { .each = add_up, .user = &n };

    CHECK_OK(cq_dict_new(&dict));
    CHECK_OK(cq_dict_set(dict, cq_val_of_i64(9), inner));
    CHECK_OK(cq_dict_set(dict, cq_val_of_i64(8), cq_val_of_i64(4)));
    v = list_of(CQ_VAL_LIST, cq_val_of_i64(1), cq_val_of_dict(dict));
    CHECK_OK(cq_val_each(&w, v));
    CHECK_INT(1234, n);
    cq_val_release(v);
    cq_val_release(cq_val_of_dict(dict));
    cq_val_release(inner);
}

TEST(visit, shared_values_are_copied_once_and_stay_shared)
{
    cq_val   v = doubled(60), copy;
    int      n = 0;
    cq_visit w = { .map = plus_one, .user = &n };

    CHECK_OK(cq_val_map(&w, v, &copy));
    CHECK_INT(2, n);
    CHECK(copy.u.list != v.u.list && copy.u.list->items[0].u.list == copy.u.list->items[1].u.list);
    cq_visit_clear(&w);
    cq_val_release(v);
    while (copy.kind == CQ_VAL_TUPLE) {
        cq_val inner = cq_val_retain(copy.u.list->items[1]);

        cq_val_release(copy);
        copy = inner;
    }
    CHECK_INT(2, copy.u.i.value);
}

TEST(visit, the_nesting_of_values_is_limited)
{
    for (int levels = CQ_VISIT_MAX_LEVELS; levels <= CQ_VISIT_MAX_LEVELS + 1; levels++) {
        cq_status want = levels > CQ_VISIT_MAX_LEVELS ? CQ_E_UNSUPPORTED : CQ_OK;
        cq_val    v    = CQ_NONE, copy;
        int       n    = 0;
        bool      same;
        cq_visit  map = { .map = plus_one, .user = &n }, pair = { .pair = same_number };

        for (int i = 0; i < levels; i++) {
            cq_val outer = list_of(CQ_VAL_LIST, cq_val_of_i64(1), v.kind ? v : cq_val_of_i64(2));

            cq_val_release(v);
            v = outer;
        }
        CHECK_STATUS(want, cq_val_map(&map, v, &copy));
        CHECK_INT(0, map.levels);
        cq_visit_clear(&map);
        CHECK_STATUS(want, cq_val_pair(&pair, v, v, &same));
        CHECK(want != CQ_OK || same);
        cq_val_release(copy);
        cq_val_release(v);
    }
}

TEST(visit, a_value_that_contains_itself_is_refused)
{
    cq_val   v   = list_of(CQ_VAL_LIST, cq_val_of_i64(1), CQ_NONE), copy;
    int      n   = 0;
    cq_visit map = { .map = plus_one, .user = &n }, each = { .each = count, .user = &n };

    v.u.list->items[1] = v; /* not retained */
    CHECK_STATUS(CQ_E_UNSUPPORTED, cq_val_map(&map, v, &copy));
    CHECK(copy.kind == CQ_VAL_NONE);
    cq_visit_clear(&map);
    CHECK_STATUS(CQ_E_UNSUPPORTED, cq_val_each(&each, v));
    v.u.list->items[1] = CQ_NONE;
    cq_val_release(v);
}

TEST(visit, dicts_are_the_same_in_any_order)
{
    cq_dict *a, *b;
    bool     same;
    cq_visit w = { .pair = same_number };

    CHECK_OK(cq_dict_new(&a));
    CHECK_OK(cq_dict_new(&b));
    for (int i = 0; i < 3; i++) {
        CHECK_OK(cq_dict_set(a, cq_val_of_i64(i), cq_val_of_i64(i)));
        CHECK_OK(cq_dict_set(b, cq_val_of_i64(2 - i), cq_val_of_i64(2 - i)));
    }
    CHECK_OK(cq_val_pair(&w, cq_val_of_dict(a), cq_val_of_dict(b), &same));
    CHECK(same);
    CHECK_OK(cq_dict_set(b, cq_val_of_i64(1), cq_val_of_i64(5)));
    CHECK_OK(cq_val_pair(&w, cq_val_of_dict(a), cq_val_of_dict(b), &same));
    CHECK(!same);
    cq_val_release(cq_val_of_dict(a));
    cq_val_release(cq_val_of_dict(b));
}

TEST(visit, shared_values_are_compared_once)
{
    cq_val   v = doubled(60), same_again = doubled(60); /* 2**60 leaves */
    cq_val   a    = list_of(CQ_VAL_LIST, v, cq_val_of_i64(1));
    cq_val   b    = list_of(CQ_VAL_LIST, same_again, cq_val_of_i64(2));
    bool     same = false;
    cq_visit w    = { .pair = same_number, .once = true };

    CHECK_OK(cq_val_pair(&w, v, same_again, &same));
    CHECK(same);
    CHECK_OK(cq_val_pair(&w, a, b, &same));
    CHECK(!same);
    cq_visit_clear(&w);
    cq_val_release(a);
    cq_val_release(b);
    cq_val_release(v);
    cq_val_release(same_again);
}

RUN_TESTS(TEST_OF(visit, shared_values_are_compared_once), TEST_OF(visit, leaves_come_in_order),
          TEST_OF(visit, shared_values_are_copied_once_and_stay_shared),
          TEST_OF(visit, the_nesting_of_values_is_limited),
          TEST_OF(visit, a_value_that_contains_itself_is_refused),
          TEST_OF(visit, dicts_are_the_same_in_any_order))
