#include "pt2/expr.h"

#include "lang/ast.h"

#include "test.h"

#include <stdio.h>

static cq_symbols table;

static bool symbol(void *user, const char *name, cq_int *out)
{
    (void)user;
    if (name[0] != 's')
        return false;
    *out = cq_symbol(&table, name, 10, NULL, 0);
    return true;
}

static const char *text_of(const char *expr)
{
    static char      buffer[256];
    const cq_pt2_env env   = { &table, symbol, NULL };
    cq_arena        *arena = cq_arena_new();
    cq_int           value;
    char             plain[24];

    cq_symbols_init(&table, arena);
    snprintf(buffer, sizeof buffer, "%s",
             cq_pt2_expr(expr, &env, &value) ? cq_int_text(value, plain) : "no");
    cq_symbols_clear(&table);
    cq_arena_free(arena);
    return buffer;
}

TEST(pt2_expr, both_notations_mean_the_same)
{
    CHECK_STR("2*s0+1", text_of("2*s0 + 1"));
    CHECK_STR("2*s0+1", text_of("Add(Mul(Integer(2), Symbol('s0', positive=True, integer=True)), "
                                "Integer(1))"));
    CHECK_STR("s0*s1", text_of("Mul(Symbol('s0'), Symbol('s1', integer=True))"));
    CHECK_STR("s77", text_of("s77"));
    CHECK_STR("12", text_of("12"));
    CHECK_STR("-3", text_of("-(1 + 2)"));
}

TEST(pt2_expr, functions_and_operators)
{
    CHECK_STR(text_of("s0 // 2"), "(s0)//(2)");
    CHECK_STR("(s0)//(2)", text_of("FloorDiv(Symbol('s0'), Integer(2))"));
    CHECK_STR("(s0)%(4)", text_of("Mod(Symbol('s0'), Integer(4))"));
    CHECK_STR("(s0)%(4)", text_of("s0 % 4"));
    CHECK_STR("max(3,s0)", text_of("Max(Integer(3), Symbol('s0'))"));
    CHECK_STR("s0*s0", text_of("Pow(Symbol('s0'), Integer(2))"));
    CHECK_STR("s0*s0", text_of("s0**2"));
    CHECK_STR("6", text_of("Add(Integer(1), Integer(2), Integer(3))"));
}

TEST(pt2_expr, impossible_sizes_are_not_expressions)
{
    CHECK_STR("no", text_of(""));
    CHECK_STR("no", text_of("s0 +"));
    CHECK_STR("no", text_of("(s0"));
    CHECK_STR("no", text_of("1.5"));
    CHECK_STR("no", text_of("u0"));
    CHECK_STR("no", text_of("Symbol('s0'"));
    CHECK_STR("no", text_of("Symbol(s0)"));
    CHECK_STR("no", text_of("IntTrueDiv(Symbol('s0'), Integer(2))"));
    CHECK_STR("no", text_of("s0**99"));
    CHECK_STR("no", text_of("99999999999999999999"));
    CHECK_STR("no", text_of("s0 s1"));
}

TEST(pt2_expr, nesting_has_a_limit)
{
    enum { DEEP = 100, TOO_DEEP = CQ_LANG_MAX_NESTING + 1 };
    char text[2 * TOO_DEEP + 2];

    memset(text, '(', DEEP);
    text[DEEP] = '7';
    memset(text + DEEP + 1, ')', DEEP);
    text[2 * DEEP + 1] = '\0';
    CHECK_STR("7", text_of(text));
    memset(text, '(', TOO_DEEP);
    text[TOO_DEEP] = '7';
    memset(text + TOO_DEEP + 1, ')', TOO_DEEP);
    text[2 * TOO_DEEP + 1] = '\0';
    CHECK_STR("no", text_of(text));
    memset(text, '-', sizeof text - 2);
    text[sizeof text - 2] = '1';
    text[sizeof text - 1] = '\0';
    CHECK_STR("no", text_of(text));
}

TEST(pt2_expr, a_symbol_alone_is_known_by_its_name)
{
    char name[64], small[4];

    CHECK_STR("s77", cq_pt2_lone_symbol("Symbol('s77', positive=True, integer=True)", name, 64));
    CHECK_STR("u0", cq_pt2_lone_symbol("u0", name, sizeof name));
    CHECK(!cq_pt2_lone_symbol("2*s0", name, sizeof name));
    CHECK(!cq_pt2_lone_symbol("s0 + 1", name, sizeof name));
    CHECK(!cq_pt2_lone_symbol("s1234", small, sizeof small));
    CHECK(!cq_pt2_lone_symbol("Add(Symbol('s0'), Integer(1))", name, sizeof name));
}

RUN_TESTS(TEST_OF(pt2_expr, both_notations_mean_the_same),
          TEST_OF(pt2_expr, functions_and_operators),
          TEST_OF(pt2_expr, impossible_sizes_are_not_expressions),
          TEST_OF(pt2_expr, nesting_has_a_limit),
          TEST_OF(pt2_expr, a_symbol_alone_is_known_by_its_name))
