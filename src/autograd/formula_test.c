/* Every formula in the table of gradients is right, whether its argument is ever wanted or not.
 * What they give is compared with PyTorch by tests/ops/gradients_test.c. */
#include "test.h"

#include "autograd/gradient.h"

TEST(formula, every_formula_in_the_table_is_right)
{
    const cq_gradient *row;
    size_t             n = 0, n_wrong = 0;

    for (size_t i = 0; (row = cq_gradient_at(i)); i++) {
        const cq_op *op = cq_op_find(row->op);

        if (!op || (!row->as && (!row->body || !*row->body)))
            continue;
        n++;
        if ((row->as ? cq_formula_check(op, row->as, &cq_grad_names)
                     : cq_body_check(op, row->body)) != CQ_OK) {
            print_error("%s: %s\n", row->op, cq_last_error()->message);
            n_wrong++;
        }
    }
    CHECK(n > 100);
    CHECK_INT(0, n_wrong);
}

RUN_TESTS(TEST_OF(formula, every_formula_in_the_table_is_right))
