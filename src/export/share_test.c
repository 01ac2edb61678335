/* Constants and sizes that are there twice, and what is not shared though it looks the same. */
#include "models.h"

#include <calque/script.h>
#include <stdio.h>

static void check(const char *want, const char *body)
{
    char              program[512];
    cq_script        *script = NULL;
    cq_args          *args   = NULL;
    cq_tensor        *x      = NULL;
    cq_onnx_model    *m      = NULL;
    cq_export_options o      = options_of(17);

    snprintf(program, sizeof program, "def net(x):\n    return %s\n", body);
    CHECK_OK(cq_script_compile(&script, program, "net.py"));
    CHECK_OK(cq_tensor_new(&x, CQ_DTYPE_F32, 2, (int64_t[]){ 2, 3 }, NULL));
    CHECK_OK(cq_args_new(&args));
    CHECK_OK(cq_args_add_tensor(args, x));
    CHECK_OK(cq_script_export(&m, script, NULL, args, 0, &o));
    CHECK_OPS(want, m);
    cq_onnx_model_free(m);
    cq_args_free(args);
    cq_tensor_release(x);
    cq_script_free(script);
}

TEST(share, equal_constants_are_one)
{
    check("Constant Add Relu Add", "torch.relu(x + 1) + 1");
    check("Constant Add Constant Mul", "(x + 1) * 2");
}

TEST(share, a_number_and_a_list_of_it_are_two)
{
    check("Constant Gather Constant Unsqueeze", "x[:, 1].unsqueeze(1)");
}

TEST(share, layers_and_random_numbers_stay_what_they_are)
{
    check("Relu Relu Add", "torch.relu(x) + torch.relu(x)");
    check("RandomUniform RandomUniform Add Add", "torch.rand(2, 3) + torch.rand(2, 3) + x");
}

TEST(share, arithmetic_on_constants_is_done)
{
    check("Constant Add", "x + torch.tensor([7, 8, 9]) % 4");
}

TEST(share, outputs_that_are_equal_stay_several)
{
    check("Constant Constant", "torch.ones(2), torch.ones(2)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_OF(share, equal_constants_are_one),
        TEST_OF(share, a_number_and_a_list_of_it_are_two),
        TEST_OF(share, layers_and_random_numbers_stay_what_they_are),
        TEST_OF(share, arithmetic_on_constants_is_done),
        TEST_OF(share, outputs_that_are_equal_stay_several),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
