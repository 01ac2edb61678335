/* Operators that calque does not know: defined in TorchScript, given a rule, kept, or reported. */
#include "models.h"
#include "onnx/model.h"

#include <calque/script.h>

#define PROGRAM                                                                                    \
    "def net(x):\n"                                                                                \
    "    y = torch.ops.mylib.scale(x, 2.5)\n"                                                      \
    "    return torch.ops.mylib.shift(y, by=1.0).relu()\n"

#define DEFINITIONS                                                                                \
    "def twice(x: Tensor) -> Tensor:\n"                                                            \
    "    return x + x\n"                                                                           \
    "\n"                                                                                           \
    "def mylib__scale(x: Tensor, by: float, bias: float = 0.5) -> Tensor:\n"                       \
    "    return twice(x) * by + bias\n"                                                            \
    "\n"                                                                                           \
    "def mylib__shift(x: Tensor, by: float) -> Tensor:\n"                                          \
    "    return torch.cat([x, x]) - by\n"

typedef struct fixture {
    cq_script        *script;
    cq_tensor        *x;
    cq_args          *args;
    cq_export_options options;
    cq_onnx_model    *model;
} fixture;

static void set_up(fixture *f, const char *program)
{
    *f = (fixture){ 0 };
    CHECK_OK(cq_script_compile(&f->script, program, "net.py"));
    CHECK_OK(cq_tensor_new(&f->x, CQ_DTYPE_F32, 1, (int64_t[]){ 2 }, (float[]){ -1, 3 }));
    CHECK_OK(cq_args_new(&f->args));
    CHECK_OK(cq_args_add_tensor(f->args, f->x));
    cq_export_options_init(&f->options);
}

static void tear_down(fixture *f)
{
    cq_onnx_model_free(f->model);
    cq_args_free(f->args);
    cq_tensor_release(f->x);
    cq_script_free(f->script);
}

static cq_status export(fixture *f)
{
    return cq_script_export(&f->model, f->script, NULL, f->args, 0, &f->options);
}

static const cq_onnx_node *node_at(const fixture *f, size_t i)
{
    CHECK(i < f->model->graph->node.n);
    return f->model->graph->node.items[i];
}

static void count_warning(void *user, const char *where, const char *message)
{
    (void)where;
    (void)message;
    (*(int *)user)++;
}

TEST(foreign, an_unknown_operator_that_changes_in_place_is_not_forgotten)
{
    fixture f;

    set_up(&f, "def net(x):\n"
               "    y = x + 1\n"
               "    torch.ops.mylib.bump_(y)\n"
               "    return y\n");
    CHECK_STATUS(CQ_E_UNSUPPORTED, export(&f));
    CHECK(strstr(cq_last_error()->message, "mylib::bump_ (1 time)") != NULL);
    tear_down(&f);
}

TEST(foreign, all_unknown_operators_are_reported_at_once)
{
    fixture f;

    set_up(&f, PROGRAM);
    CHECK_STATUS(CQ_E_UNSUPPORTED, export(&f));
    CHECK(strstr(cq_last_error()->message, "mylib::scale (1 time)") != NULL);
    CHECK(strstr(cq_last_error()->message, "mylib::shift (1 time)") != NULL);
    CHECK(strstr(cq_last_error()->hint, "--define") != NULL);
    tear_down(&f);
}

TEST(foreign, what_nobody_knows_cannot_be_run)
{
    fixture    f;
    cq_tensor *out;
    size_t     n;

    set_up(&f, PROGRAM);
    CHECK_STATUS(CQ_E_UNSUPPORTED, cq_script_run(f.script, NULL, f.args, &out, 1, &n));
    CHECK_STR("the operator mylib::scale is not known", cq_last_error()->message);
    tear_down(&f);
}

TEST(foreign, a_definition_is_run_and_exported_as_what_it_calls)
{
    fixture    f;
    cq_tensor *out;
    size_t     n;

    set_up(&f, PROGRAM);
    CHECK_OK(cq_script_define(f.script, DEFINITIONS, "ops.py"));
    CHECK_OK(cq_script_run(f.script, NULL, f.args, &out, 1, &n));
    CHECK_INT(4, cq_tensor_size(out, 0));
    CHECK(((float *)cq_tensor_data(out))[3] == 14.5f); /* (3 + 3) * 2.5 + 0.5 - 1 */
    CHECK(((float *)cq_tensor_data(out))[2] == 0);
    cq_tensor_release(out);
    CHECK_OK(export(&f));
    CHECK_STR("Add", node_at(&f, 0)->op_type);
    tear_down(&f);
}

TEST(foreign, a_definition_with_a_rule_stays_one_node_with_the_names_of_its_parameters)
{
    fixture f;

    set_up(&f, PROGRAM);
    f.options.symbolics = "mylib::scale 9: com.example::Scale<by = by, bias = bias>(x)\n";
    CHECK_OK(cq_script_define(f.script, DEFINITIONS, "ops.py"));
    CHECK_OK(export(&f));
    CHECK_STR("Scale", node_at(&f, 0)->op_type);
    CHECK_STR("com.example", node_at(&f, 0)->domain);
    CHECK_INT(2, node_at(&f, 0)->attribute.n);
    CHECK(node_at(&f, 0)->attribute.items[1]->f == 0.5f); /* the parameter's default */
    CHECK_STR("Concat", node_at(&f, 1)->op_type);
    tear_down(&f);
}

TEST(foreign, the_last_definition_counts_and_goes_before_the_table)
{
    fixture    f;
    cq_tensor *out;
    size_t     n;

    set_up(&f, "def net(x):\n    return x.relu()\n");
    CHECK_OK(cq_script_define(f.script, "def aten__relu(x):\n    return x * 0.0\n", NULL));
    CHECK_OK(cq_script_define(f.script, "def aten__relu(x):\n    return x * 10.0\n", NULL));
    CHECK_OK(cq_script_run(f.script, NULL, f.args, &out, 1, &n));
    CHECK(((float *)cq_tensor_data(out))[0] == -10);
    cq_tensor_release(out);
    tear_down(&f);
}

TEST(foreign, an_operator_that_is_kept_is_taken_to_return_what_it_gets_and_a_warning_says_so)
{
    fixture f;
    int     warnings = 0;

    set_up(&f, PROGRAM);
    f.options.operators = CQ_OPERATORS_ONNX_FALLTHROUGH;
    cq_set_warning_handler(count_warning, &warnings);
    CHECK_OK(export(&f));
    cq_set_warning_handler(NULL, NULL);
    CHECK_INT(2, warnings);
    CHECK_STR("Relu", node_at(&f, f.model->graph->node.n - 1)->op_type);
    CHECK_STR("shift", node_at(&f, f.model->graph->node.n - 2)->op_type);
    CHECK_STR("mylib", node_at(&f, f.model->graph->node.n - 2)->domain);
    tear_down(&f);
}

TEST(foreign, a_failure_after_a_guess_names_the_operator_that_was_guessed)
{
    fixture f;

    set_up(&f,
           "def net(x):\n    y = torch.ops.mylib.columns(x)\n    return y @ torch.ones(3, 4)\n");
    CHECK_STATUS(CQ_E_TYPE, export(&f));
    CHECK_STR("the operator mylib::columns is not known", cq_last_error()->message);
    CHECK(strstr(cq_last_error()->where, "net.py:2") != NULL);
    CHECK(strstr(cq_last_error()->excerpt, "with a guess") != NULL);
    tear_down(&f);
}

TEST(foreign, a_definition_that_is_no_torchscript_is_refused)
{
    fixture f;

    set_up(&f, PROGRAM);
    CHECK_STATUS(CQ_E_SYNTAX, cq_script_define(f.script, "def mylib__scale(x:\n", "ops.py"));
    CHECK(strstr(cq_last_error()->where, "ops.py") != NULL);
    tear_down(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_OF(foreign, all_unknown_operators_are_reported_at_once),
        TEST_OF(foreign, an_unknown_operator_that_changes_in_place_is_not_forgotten),
        TEST_OF(foreign, what_nobody_knows_cannot_be_run),
        TEST_OF(foreign, a_definition_is_run_and_exported_as_what_it_calls),
        TEST_OF(foreign, a_definition_with_a_rule_stays_one_node_with_the_names_of_its_parameters),
        TEST_OF(foreign, the_last_definition_counts_and_goes_before_the_table),
        TEST_OF(foreign,
                an_operator_that_is_kept_is_taken_to_return_what_it_gets_and_a_warning_says_so),
        TEST_OF(foreign, a_failure_after_a_guess_names_the_operator_that_was_guessed),
        TEST_OF(foreign, a_definition_that_is_no_torchscript_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
