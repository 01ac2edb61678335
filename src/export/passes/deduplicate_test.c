/* Duplicate constants, sizes and nodes, and similar ones that must not be shared. */
#include "models.h"

#include <calque/script.h>
#include <stdio.h>

/* Exports a program that returns the expression of x. */
static cq_status export_of(cq_onnx_model **m, const char *body, const cq_export_options *o)
{
    char       program[512];
    cq_script *script = NULL;
    cq_args   *args   = NULL;
    cq_tensor *x      = NULL;
    cq_status  status;

    snprintf(program, sizeof program, "def net(x):\n    return %s\n", body);
    CHECK_OK(cq_script_compile(&script, program, "net.py"));
    CHECK_OK(cq_tensor_new(&x, CQ_DTYPE_F32, 2, (int64_t[]){ 2, 3 }, NULL));
    CHECK_OK(cq_args_new(&args));
    CHECK_OK(cq_args_add_tensor(args, x));
    status = cq_script_export(m, script, NULL, args, 0, o);
    cq_args_free(args);
    cq_tensor_release(x);
    cq_script_free(script);
    return status;
}

/* The nodes of an export, and how many initializers it has. */
static void check_as(const char *want, size_t initializers, const char *body,
                     const cq_export_options *o)
{
    cq_onnx_model *m = NULL;

    CHECK_OK(export_of(&m, body, o));
    CHECK_OPS(want, m);
    CHECK_INT((int64_t)initializers, (int64_t)cq_onnx_model_n_initializers(m));
    cq_onnx_model_free(m);
}

static void check(const char *want, size_t initializers, const char *body)
{
    cq_export_options o = options_of(17);

    check_as(want, initializers, body, &o);
}

TEST(share, equal_constants_are_one)
{
    check("Add Relu Add", 1, "torch.relu(x + 1) + 1");
    check("Add Mul", 2, "(x + 1) * 2");
}

TEST(share, constants_of_blocks_are_shared_with_the_graph)
{
    check("ReduceSum Greater If", 1, "(x + 1 if bool(x.sum() > 1) else x * 1)");
}

TEST(share, a_number_and_a_list_of_it_are_different_constants)
{
    check("Gather Unsqueeze", 2, "x[:, 1].unsqueeze(1)");
}

TEST(share, equal_expressions_are_merged)
{
    check("Concat Relu Add", 0, "torch.cat((x, x)).relu() + torch.cat((x, x))");
    check("Gather Gather Sub Neg Add", 2, "(x[:, 1] - x[:, 0]) + -(x[:, 1] - x[:, 0])");
}

TEST(share, layers_and_random_numbers_stay_what_they_are)
{
    check("Relu Relu Add", 0, "torch.relu(x) + torch.relu(x)");
    check("RandomUniform RandomUniform Add Add", 0, "torch.rand(2, 3) + torch.rand(2, 3) + x");
}

TEST(share, arithmetic_on_constants_is_done)
{
    check("Add", 1, "x + torch.tensor([7, 8, 9]) % 4");
}

TEST(share, outputs_that_are_equal_stay_several)
{
    check("Constant Constant", 0, "torch.ones(2), torch.ones(2)");
}

TEST(merge, consecutive_concats_are_merged)
{
    check("Concat", 0, "torch.cat((torch.cat((x, x), 1), x, torch.cat((x, x), 1)), 1)");
    check("Concat Concat", 1, "torch.cat((torch.cat((x, x), 0), torch.zeros(4, 1)), 1)");
    check("Concat Relu Concat", 0, "torch.cat((torch.cat((x, x)), torch.cat((x, x)).relu()))");
}

TEST(merge, slices_of_several_axes_are_one)
{
    check("Slice", 4, "x[0:1, ::2]"); /* starts, ends, axes, steps */
    check("Slice Slice", 3, "x[:, 1:][:, 0:1]");
}

TEST(merge, nodes_without_effect_are_removed)
{
    check("Relu Add", 0, "x.relu() * 1 + (x / 1.0 - 0)");
    check("Add", 1, "x + 0"); /* 0 is not -0 */
    check("Cast Neg Cast", 0, "(-(x.int() + 0)).float()");
}

TEST(merge, the_last_of_several_shapes_counts)
{
    check("Reshape Relu", 1, "x.view(3, 2).unsqueeze(1).view(-1, 6).relu()");
    check("Unsqueeze Squeeze Relu", 1, "x.unsqueeze(1).squeeze(1).relu()");
    check("Unsqueeze Relu", 1, "x.unsqueeze(1).squeeze(1).unsqueeze(1).relu()");
}

TEST(merge, a_bias_of_zeros_goes_where_it_stays_zero)
{
    const char       *layer = "torch.relu(x @ torch.ones(3, 4) + torch.zeros(4))";
    cq_export_options train = options_of(17), inputs = options_of(17);

    train.training = CQ_TRAINING_TRAIN;
    inputs.flags |= CQ_EXPORT_KEEP_INITIALIZERS_AS_INPUTS;
    check("MatMul Relu", 1, layer);
    check("MatMul Add Relu", 2,
          "torch.relu(x @ torch.ones(3, 4) + torch.tensor([0., 0., 0., 1.]))");
    check("MatMul Add Relu", 2, "torch.relu(x @ torch.ones(3, 1) + torch.zeros(4))");
    check("MatMul Mul Add Relu", 3, "torch.relu((x @ torch.ones(3, 4)) * 2 + torch.zeros(4))");
    check_as("MatMul Add Relu", 2, layer, &train);
    check_as("Constant MatMul Constant Add Relu", 0, layer, &inputs);
}

/* Under the sanitizers: such nodes have fewer inputs than their operators require. */
TEST(merge, nodes_of_users_need_their_inputs)
{
    cq_export_options o = options_of(17);
    cq_onnx_model    *m = NULL;

    o.symbolics = "@symbolic('aten::relu', opset=7)\n"
                  "def relu(self):\n"
                  "    return Reshape(self)\n"
                  "@symbolic('aten::sigmoid', opset=7)\n"
                  "def sigmoid():\n"
                  "    return Unsqueeze()\n"
                  "@symbolic('aten::tanh', opset=7)\n"
                  "def tanh(self):\n"
                  "    return Add(MatMul(self), self)\n";
    CHECK_STATUS(CQ_E_SYNTAX, export_of(&m, "-torch.relu(x)", &o));
    CHECK_STR("Reshape needs at least 2 inputs in opset 17, got 1", cq_last_error()->message);
    CHECK_STATUS(CQ_E_SYNTAX, export_of(&m, "-torch.sigmoid(x)", &o));
    CHECK_STR("Unsqueeze needs at least 2 inputs in opset 17, got 0", cq_last_error()->message);
    CHECK_STATUS(CQ_E_SYNTAX, export_of(&m, "-torch.tanh(x)", &o));
    CHECK_STR("MatMul needs at least 2 inputs in opset 17, got 1", cq_last_error()->message);
}

TEST(merge, copied_sizes_of_consecutive_reshapes_are_merged)
{
    check("Reshape Relu", 1, "torch.ops.aten.view(x.view(2, 3, 1), [2, 1, 3]).relu()");
}

TEST(merge, transposes_in_a_row_are_one_or_none)
{
    check("Relu Neg", 0, "-x.relu().t().t()");
    check("Unsqueeze Transpose Relu", 1, "x.unsqueeze(0).transpose(0, 1).transpose(1, 2).relu()");
    check("Transpose Relu Transpose Add", 0, "x.t().relu().t() + x");
}

TEST(merge, indices_of_a_mask_need_no_transpose)
{
    check("ReduceSum Greater NonZero Squeeze Neg", 2, "-torch.where(x.sum(0) > 0)[0]");
}

TEST(merge, a_power_of_two_is_merged_into_a_constant)
{
    const char *numbers = "torch.tensor([[1.5, 2.5, 3.5]])";
    char        body[128];

    snprintf(body, sizeof body, "0.5 * (x * %s)", numbers);
    check("Mul", 1, body);
    snprintf(body, sizeof body, "(%s * x) * 4", numbers);
    check("Mul", 1, body);
    snprintf(body, sizeof body, "0.3 * (x * %s)", numbers); /* rounds differently */
    check("Mul Mul", 2, body);
    check("Mul Mul", 2, "0.5 * (x * torch.tensor([[1.5, 2.5, 1e-38]]))"); /* too small for it */
    check("Mul Mul", 2, "(x * torch.tensor([[1.5, 2.5, 1e38]])) * 4");
}

TEST(merge, uniform_tensors_at_an_end_become_padding)
{
    check("Pad", 2, "torch.cat((x, torch.zeros(2, 20000)), 1)");
    check("Pad", 2, "torch.cat((torch.ones(3, 9000, 3)[1], x))");
    check("Concat", 1, "torch.cat((x, torch.zeros(1, 3)))");
    check("ConstantOfShape Concat", 1, "torch.cat((x, torch.zeros(2, 20000), x), 1)");
}

TEST(branches, a_bool_result_of_an_if_becomes_its_condition)
{
    const char *asked = "torch.relu(x) if (True if bool(x.sum() > 1) else False) else x + 1";
    const char *other = "torch.relu(x) if (False if bool(x.sum() > 1) else True) else x + 1";

    check("ReduceSum Greater If", 1, asked);
    check("ReduceSum Greater Not If", 1, other);
}

TEST(fold, parts_of_a_weight_are_weights)
{
    check("Mul Add", 2, "x * torch.arange(6.).split(3)[0] + torch.arange(6.).split(3)[1]");
}

TEST(fold, numbers_that_are_repeated_are_few)
{
    check("Add", 1, "x + torch.ones(1, 3).expand(2, 3).clamp(max=0.5)");
    check("Add", 1, "x + torch.arange(3.).repeat(2, 1)");
    check("ReduceSum Expand Add", 2, "x.sum() + torch.arange(200.).expand(200, 200)");
}

/* Results that are much larger than what they are made of are not written to the file. */
TEST(fold, operators_without_a_rule_are_computed_by_the_runtime)
{
    check("Add", 1, "x + torch.sin(torch.arange(3.)).cumsum(0)");
    check("Add", 1, "x + torch.ones(3, 3).tril().sum(0)");
    check("ReduceSum ConstantOfShape Trilu Add", 2, "x.sum() + torch.ones(200, 200).tril()");
    check("RandomNormal Sin Add", 0, "x + torch.randn(3).sin()");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_OF(share, equal_constants_are_one),
        TEST_OF(share, constants_of_blocks_are_shared_with_the_graph),
        TEST_OF(share, a_number_and_a_list_of_it_are_different_constants),
        TEST_OF(share, equal_expressions_are_merged),
        TEST_OF(share, layers_and_random_numbers_stay_what_they_are),
        TEST_OF(share, arithmetic_on_constants_is_done),
        TEST_OF(share, outputs_that_are_equal_stay_several),
        TEST_OF(merge, consecutive_concats_are_merged),
        TEST_OF(merge, slices_of_several_axes_are_one),
        TEST_OF(merge, nodes_without_effect_are_removed),
        TEST_OF(merge, the_last_of_several_shapes_counts),
        TEST_OF(merge, a_bias_of_zeros_goes_where_it_stays_zero),
        TEST_OF(merge, nodes_of_users_need_their_inputs),
        TEST_OF(merge, copied_sizes_of_consecutive_reshapes_are_merged),
        TEST_OF(merge, transposes_in_a_row_are_one_or_none),
        TEST_OF(merge, indices_of_a_mask_need_no_transpose),
        TEST_OF(merge, a_power_of_two_is_merged_into_a_constant),
        TEST_OF(merge, uniform_tensors_at_an_end_become_padding),
        TEST_OF(branches, a_bool_result_of_an_if_becomes_its_condition),
        TEST_OF(fold, parts_of_a_weight_are_weights),
        TEST_OF(fold, numbers_that_are_repeated_are_few),
        TEST_OF(fold, operators_without_a_rule_are_computed_by_the_runtime),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
