#include "tensor/expr.h"

#include "test.h"

#include <stdio.h>

static cq_arena  *arena;
static cq_symbols st;

static const char *text(cq_int a)
{
    static char buffer[24];

    return cq_int_text(a, buffer);
}

static cq_int symbol(const char *name, int64_t example)
{
    return cq_symbol(&st, name, example, NULL, 0);
}

TEST(expr, sums_and_products_have_one_form)
{
    cq_int n = symbol("n", 2), h = symbol("h", 8);
    cq_int a = cq_int_mul(&st, cq_int_add(&st, n, cq_i(1)), h);
    cq_int b = cq_int_add(&st, h, cq_int_mul(&st, h, n));

    CHECK(cq_int_same(a, b));
    CHECK_INT(24, a.value);
    CHECK_STR("h+h*n", text(a));
}

TEST(expr, cancelling_terms_leave_a_plain_number)
{
    cq_int n = symbol("n", 2);
    cq_int d = cq_int_sub(&st, cq_int_add(&st, n, cq_i(3)), n);

    CHECK(cq_int_is(d, 3));
}

TEST(expr, exact_quotients_simplify_and_others_stay)
{
    cq_int n   = symbol("n", 5);
    cq_int n12 = cq_int_mul(&st, n, cq_i(12));

    CHECK_STR("3*n", text(cq_int_floordiv(&st, n12, cq_i(4))));
    CHECK_STR("12", text(cq_int_floordiv(&st, n12, n)));
    CHECK_STR("3*n", text(cq_int_floordiv(&st, cq_int_add(&st, n12, cq_i(3)), cq_i(4))));
    CHECK_STR("3*n+1", text(cq_int_floordiv(&st, cq_int_add(&st, n12, cq_i(5)), cq_i(4))));
    CHECK_STR("3*n-1", text(cq_int_floordiv(&st, cq_int_add(&st, n12, cq_i(-1)), cq_i(4))));
    CHECK_STR("3", text(cq_int_mod(&st, cq_int_add(&st, n12, cq_i(-1)), cq_i(4))));
    CHECK_STR("(n+1)//(2)", text(cq_int_floordiv(&st, cq_int_add(&st, n, cq_i(1)), cq_i(2))));
    CHECK(cq_int_is(cq_int_mod(&st, n12, cq_i(6)), 0));
}

TEST(expr, sums_divide_sums)
{
    cq_int n = symbol("n", 5), h = symbol("h", 9), w = symbol("w", 7);
    cq_int hh  = cq_int_add(&st, cq_int_floordiv(&st, h, cq_i(2)), cq_i(1));
    cq_int ww  = cq_int_add(&st, cq_int_floordiv(&st, w, cq_i(2)), cq_i(1));
    cq_int hw  = cq_int_mul(&st, hh, ww);
    cq_int all = cq_int_mul(&st, cq_int_mul(&st, n, cq_i(116)), hw);

    CHECK_STR("116*n", text(cq_int_floordiv(&st, all, hw)));
    CHECK(cq_int_is(cq_int_floordiv(&st, all, cq_int_mul(&st, n, hw)), 116));
    CHECK(cq_int_is(cq_int_mod(&st, all, hw), 0));
    CHECK(!cq_int_is_plain(cq_int_mod(&st, cq_int_add(&st, all, n), hw)));
    CHECK(cq_int_is(cq_int_floordiv(&st, hh, hh), 1));
}

TEST(expr, a_size_after_many_layers_has_a_short_text)
{
    cq_int h = symbol("h", 1000), a, b;

    for (int i = 0; i < 100; i++)
        h = cq_int_add(&st, cq_int_floordiv(&st, cq_int_mul(&st, h, h), cq_i(3)), cq_i(i));
    CHECK(strlen(text(h)) <= CQ_EXPR_MAX_TEXT + 8);
    a = cq_int_floordiv(&st, h, cq_i(7));
    b = cq_int_floordiv(&st, h, cq_i(7));
    CHECK(cq_int_same(a, b));
    CHECK(!cq_int_same(a, cq_int_floordiv(&st, h, cq_i(5))));
}

TEST(expr, division_rounds_down)
{
    CHECK_INT(-2, cq_int_floordiv(NULL, cq_i(-3), cq_i(2)).value);
    CHECK_INT(1, cq_int_mod(NULL, cq_i(-3), cq_i(2)).value);
    CHECK_INT(0, cq_int_floordiv(NULL, cq_i(1), cq_i(0)).value);
}

TEST(expr, extremes_of_comparable_sizes_are_decided)
{
    cq_int n = symbol("n", 5);
    cq_int m = cq_int_add(&st, n, cq_i(2));

    CHECK(cq_int_same(m, cq_int_max(&st, n, m)));
    CHECK(cq_int_same(n, cq_int_min(&st, m, n)));
    CHECK(cq_int_same(n, cq_int_max(&st, n, cq_i(0))));
    CHECK_STR("min(n,7)", text(cq_int_min(&st, n, cq_i(7))));
    CHECK(cq_int_same(cq_i(0), cq_int_min(&st, cq_int_mul(&st, n, n), cq_i(0))));
}

TEST(expr, an_extreme_of_an_extreme_and_its_operand_is_that_extreme)
{
    cq_int n = symbol("n", 5), m = symbol("m", 5);
    cq_int most = cq_int_max(&st, n, m), least = cq_int_min(&st, n, m);

    CHECK(cq_int_same(most, cq_int_max(&st, most, n)));
    CHECK(cq_int_same(most, cq_int_max(&st, m, most)));
    CHECK(cq_int_same(least, cq_int_min(&st, least, m)));
    CHECK_STR("min(max(n,m),n)", text(cq_int_min(&st, most, n)));
}

TEST(expr, sizes_are_independent_without_a_symbol_in_common)
{
    cq_int n = symbol("n", 5), m = symbol("m", 5);
    cq_int half = cq_int_floordiv(&st, n, cq_i(2));

    CHECK(cq_int_independent(n, m));
    CHECK(cq_int_independent(n, cq_i(3)));
    CHECK(cq_int_independent(half, cq_int_mul(&st, m, m)));
    CHECK(!cq_int_independent(n, cq_int_mul(&st, half, cq_i(2))));
    CHECK(!cq_int_independent(cq_int_max(&st, n, m), m));
}

TEST(expr, a_data_dependent_number_may_be_negative)
{
    cq_int i = cq_symbol(&st, "data", 3, NULL, -1);

    CHECK_STR("max(data,0)", text(cq_int_max(&st, i, cq_i(0))));
    CHECK_STR("min(data,0)", text(cq_int_min(&st, i, cq_i(0))));
    CHECK_STR("max(data,-1)", text(cq_int_max(&st, i, cq_i(-1))));
}

TEST(expr, a_product_past_the_limit_stays_whole)
{
    cq_int n = symbol("n", 1), p = n;

    for (int i = 0; i < 2 * CQ_EXPR_MAX_DEGREE; i++)
        p = cq_int_mul(&st, p, cq_int_add(&st, n, cq_i(i)));
    CHECK(p.expr != NULL);
    CHECK_INT(CQ_OK, st.status);
}

/* n = n*n // 2 uses itself twice in each step: 2^1000 ways down to the symbol, and one symbol. */
TEST(expr, the_depth_of_expressions_is_limited)
{
    cq_symbols own;
    cq_int     n;

    cq_symbols_init(&own, arena);
    n = cq_symbol(&own, "n", 5, NULL, 0);
    for (int i = 0; i < CQ_EXPR_MAX_DEPTH; i++)
        n = cq_int_floordiv(&own, cq_int_mul(&own, n, cq_int_add(&own, n, cq_i(2))), cq_i(3));
    CHECK_INT(CQ_OK, own.status);
    CHECK_INT(CQ_EXPR_MAX_DEPTH, cq_int_depth(n));
    CHECK_INT(1, n.expr->terms[0].atoms[0]->n_symbols);
    CHECK(cq_int_is_natural(n));
    n = cq_int_floordiv(&own, cq_int_mul(&own, n, cq_int_add(&own, n, cq_i(2))), cq_i(3));
    CHECK_INT(CQ_E_UNSUPPORTED, own.status);
    CHECK(cq_int_is_plain(n));
    cq_symbols_clear(&own);
}

/* A sum of more terms than a polynomial has is an operation, of which each names all symbols: each
 * once more would be quadratic. After the limit nothing is computed any more. */
TEST(expr, the_number_of_symbols_in_an_expression_is_limited)
{
    cq_symbols own;
    cq_int     sum = cq_i(0);
    char       name[24];

    cq_symbols_init(&own, arena);
    for (int i = 0; i < 200000; i++) {
        if (i == CQ_EXPR_MAX_SYMBOLS) {
            CHECK_INT(CQ_OK, own.status);
            CHECK(sum.expr != NULL);
        }
        snprintf(name, sizeof name, "s%d", i);
        sum = cq_int_add(&own, sum, cq_symbol(&own, name, 1, NULL, 0));
    }
    CHECK_INT(CQ_E_UNSUPPORTED, own.status);
    CHECK(cq_int_is_plain(sum));
    CHECK_INT(200000, sum.value);
    CHECK(own.atoms.n < 2 * CQ_EXPR_MAX_SYMBOLS);
    cq_symbols_clear(&own);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_OF(expr, sums_and_products_have_one_form),
        TEST_OF(expr, cancelling_terms_leave_a_plain_number),
        TEST_OF(expr, exact_quotients_simplify_and_others_stay),
        TEST_OF(expr, sums_divide_sums),
        TEST_OF(expr, a_size_after_many_layers_has_a_short_text),
        TEST_OF(expr, division_rounds_down),
        TEST_OF(expr, extremes_of_comparable_sizes_are_decided),
        TEST_OF(expr, a_data_dependent_number_may_be_negative),
        TEST_OF(expr, an_extreme_of_an_extreme_and_its_operand_is_that_extreme),
        TEST_OF(expr, sizes_are_independent_without_a_symbol_in_common),
        TEST_OF(expr, a_product_past_the_limit_stays_whole),
        TEST_OF(expr, the_depth_of_expressions_is_limited),
        TEST_OF(expr, the_number_of_symbols_in_an_expression_is_limited),
    };
    int failed;

    arena = cq_arena_new();
    cq_symbols_init(&st, arena);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    cq_symbols_clear(&st);
    cq_arena_free(arena);
    return failed;
}
