#include "base/json_tree.h"

#include "test.h"

#include <math.h>
#include <stdlib.h>

typedef struct fixture {
    cq_arena      *arena;
    const cq_json *root;
} fixture;

static cq_status parse(fixture *f, const char *text)
{
    f->arena = cq_arena_new();
    return cq_json_parse(&f->root, f->arena, text, strlen(text), "<test>");
}

static void refuse(const char *text, const char *why)
{
    fixture f;

    CHECK_STATUS(CQ_E_FORMAT, parse(&f, text));
    if (!strstr(cq_last_error()->message, why))
        print_error("%s\n", cq_last_error()->message);
    CHECK(strstr(cq_last_error()->message, why) != NULL);
    cq_arena_free(f.arena);
}

TEST(json_tree, values_of_every_kind)
{
    fixture f;

    CHECK_OK(parse(&f, " {\"a\": [1, -2.5, true, null, \"x\\n\\u00e9\\ud83d\\ude00\"],\n"
                       "\"b\": {}, \"big\": 123456789012345678901234567890} "));
    CHECK_INT(5, cq_json_length(cq_json_get(f.root, "a")));
    CHECK_INT(1, cq_json_int(cq_json_at(cq_json_get(f.root, "a"), 0), 0));
    CHECK(cq_json_at(cq_json_get(f.root, "a"), 1)->u.f == -2.5);
    CHECK(cq_json_bool(cq_json_at(cq_json_get(f.root, "a"), 2), false));
    CHECK_INT(CQ_JSON_NULL, cq_json_at(cq_json_get(f.root, "a"), 3)->kind);
    CHECK_STR("x\n\xc3\xa9\xf0\x9f\x98\x80",
              cq_json_text(cq_json_at(cq_json_get(f.root, "a"), 4), ""));
    CHECK_INT(CQ_JSON_FLOAT, cq_json_get(f.root, "big")->kind);
    CHECK_INT(0, cq_json_length(cq_json_get(f.root, "b")));
    cq_arena_free(f.arena);
}

TEST(json_tree, nan_and_infinity_are_read)
{
    fixture f;

    CHECK_OK(parse(&f, "[Infinity, -Infinity, NaN]"));
    CHECK(cq_json_at(f.root, 0)->u.f == INFINITY);
    CHECK(cq_json_at(f.root, 1)->u.f == -INFINITY);
    CHECK(isnan(cq_json_at(f.root, 2)->u.f));
    cq_arena_free(f.arena);
}

TEST(json_tree, missing_items_are_null)
{
    fixture f;

    CHECK_OK(parse(&f, "{\"a\": null, \"b\": 1}"));
    CHECK_INT(CQ_JSON_NULL, cq_json_get(cq_json_at(cq_json_get(f.root, "x"), 3), "y")->kind);
    CHECK_STR("none", cq_json_text(cq_json_get(f.root, "b"), "none"));
    CHECK_STR("b", cq_json_union(f.root)->key);
    CHECK(cq_json_union(cq_json_get(f.root, "a")) == NULL);
    cq_arena_free(f.arena);
}

TEST(json_tree, invalid_json_is_refused_with_its_location)
{
    refuse("", "expected a value");
    refuse("[1, 2", "unterminated list");
    refuse("[1 2]", "unterminated list");
    refuse("{\"a\" 1}", "colon");
    refuse("{1: 2}", "key");
    refuse("\"abc", "unterminated string");
    refuse("\"abc\\", "unterminated string");
    refuse("\"\\x\"", "escape");
    refuse("\"\\u12g4\"", "escape");
    refuse("1e", "expected a number");
    refuse("1-2", "expected a number");
    refuse("nul", "expected a value");
    refuse("1 1", "unexpected text");
    refuse("[1,]", "at byte 3");
}

static char *nested(size_t depth)
{
    char *text = malloc(2 * depth + 1);

    memset(text, '[', depth);
    memset(text + depth, ']', depth);
    text[2 * depth] = '\0';
    return text;
}

TEST(json_tree, nesting_has_a_limit)
{
    char   *ok = nested(CQ_JSON_MAX_DEPTH), *deep = nested(CQ_JSON_MAX_DEPTH + 1);
    fixture f;

    CHECK_OK(parse(&f, ok));
    cq_arena_free(f.arena);
    refuse(deep, "too deep");
    free(ok);
    free(deep);
}

RUN_TESTS(TEST_OF(json_tree, values_of_every_kind), TEST_OF(json_tree, nan_and_infinity_are_read),
          TEST_OF(json_tree, missing_items_are_null),
          TEST_OF(json_tree, invalid_json_is_refused_with_its_location),
          TEST_OF(json_tree, nesting_has_a_limit))
