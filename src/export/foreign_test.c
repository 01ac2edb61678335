/* Operators that calque does not know: defined in TorchScript, given a rule, kept, or reported. */
#include "models.h"
#include "onnx/model.h"

#include <calque/script.h>

#include <stdio.h>

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

TEST(foreign, unknown_operators_cannot_be_run)
{
    fixture    f;
    cq_tensor *out;
    size_t     n;

    set_up(&f, PROGRAM);
    CHECK_STATUS(CQ_E_UNSUPPORTED, cq_script_run(f.script, NULL, f.args, &out, 1, &n));
    CHECK_STR("unknown operator mylib::scale", cq_last_error()->message);
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

TEST(foreign, a_definition_with_a_symbolic_stays_one_node_with_the_names_of_its_parameters)
{
    fixture f;

    set_up(&f, PROGRAM);
    f.options.symbolics = "@symbolic('mylib::scale', opset=9)\n"
                          "def f(x, by, bias):\n"
                          "    return op('com.example::Scale', x, by=by, bias=bias)\n";
    CHECK_OK(cq_script_define(f.script, DEFINITIONS, "ops.py"));
    CHECK_OK(export(&f));
    CHECK_STR("Scale", node_at(&f, 0)->op_type);
    CHECK_STR("com.example", node_at(&f, 0)->domain);
    CHECK_INT(2, node_at(&f, 0)->attribute.n);
    CHECK(node_at(&f, 0)->attribute.items[1]->f == 0.5f); /* the parameter's default */
    CHECK_STR("Concat", node_at(&f, 1)->op_type);
    tear_down(&f);
}

TEST(foreign, the_last_definition_takes_precedence_over_the_table)
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

TEST(foreign, a_kept_unknown_operator_is_assumed_to_return_its_input_type_with_a_warning)
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

TEST(foreign, a_kept_operator_keeps_all_items_of_its_lists)
{
    fixture             f;
    const cq_onnx_node *n;

    set_up(&f, "def forward(x):\n    xs = [x for i in range(300)]\n"
               "    return torch.ops.mylib.many(x, xs, [i for i in range(301)])\n");
    f.options.operators = CQ_OPERATORS_ONNX_FALLTHROUGH;
    CHECK_OK(export(&f));
    n = node_at(&f, f.model->graph->node.n - 1);
    CHECK_STR("many", n->op_type);
    CHECK_INT(302, n->input.n);
    CHECK(n->input.items[301][0] != '\0'); /* the numbers are a constant */
    tear_down(&f);
}

TEST(foreign, a_failure_after_a_guess_names_the_operator_that_was_guessed)
{
    fixture f;

    set_up(&f,
           "def net(x):\n    y = torch.ops.mylib.columns(x)\n    return y @ torch.ones(3, 4)\n");
    CHECK_STATUS(CQ_E_TYPE, export(&f));
    CHECK_STR("unknown operator mylib::columns", cq_last_error()->message);
    CHECK(strstr(cq_last_error()->where, "net.py:2") != NULL);
    CHECK(strstr(cq_last_error()->excerpt, "with a guess") != NULL);
    tear_down(&f);
}

#define PAIR                                                                                       \
    "def net(x):\n"                                                                                \
    "    both = torch.ops.mylib.pair(x, 2)\n"                                                      \
    "    a, b = both\n"                                                                            \
    "    return a - b\n"

static void check_pair(const fixture *f, const char *op)
{
    const cq_onnx_node *pair = node_at(f, f->model->graph->node.n - 2);
    const cq_onnx_node *sub  = node_at(f, f->model->graph->node.n - 1);

    CHECK_STR(op, pair->op_type);
    CHECK_INT(2, pair->output.n);
    CHECK_STR("Sub", sub->op_type);
    CHECK_STR(pair->output.items[0], sub->input.items[0]);
    CHECK_STR(pair->output.items[1], sub->input.items[1]);
}

TEST(foreign, results_that_are_unpacked_are_outputs_of_the_node)
{
    fixture f;
    int     warnings = 0;

    set_up(&f, PAIR);
    f.options.operators = CQ_OPERATORS_ONNX_FALLTHROUGH;
    cq_set_warning_handler(count_warning, &warnings);
    CHECK_OK(export(&f));
    CHECK_INT(1, warnings);
    check_pair(&f, "pair");
    cq_onnx_model_free(f.model);
    f.model             = NULL;
    f.options.operators = CQ_OPERATORS_ONNX;
    f.options.symbolics = "@symbolic('mylib::pair', opset=9)\n"
                          "def f(x, n):\n"
                          "    return op('com.example::Pair', x, n=n, outputs=2)\n";
    CHECK_OK(export(&f));
    check_pair(&f, "Pair");
    cq_onnx_model_free(f.model);
    f.model             = NULL;
    f.options.symbolics = "@symbolic('mylib::pair', opset=9)\n"
                          "def pair(x, n):\n"
                          "    a, b, c = op('com.example::Three', x, outputs=3)\n"
                          "    return Neg(a), c\n";
    CHECK_OK(export(&f));
    CHECK_STR("Three", node_at(&f, 0)->op_type);
    CHECK_INT(3, node_at(&f, 0)->output.n);
    CHECK_STR(node_at(&f, 0)->output.items[2], node_at(&f, 2)->input.items[1]);
    cq_set_warning_handler(NULL, NULL);
    tear_down(&f);
}

TEST(foreign, results_can_be_unpacked_when_the_arguments_are_gone)
{
    fixture f;

    set_up(&f,
           "def net(x):\n"
           "    both = torch.ops.mylib.pair(x * 2.0, [x + 1.0, x - 1.0], by=x.exp(), n='some')\n"
           "    x = x.relu()\n"
           "    a, b, c = both\n"
           "    return a - b + c + x\n");
    f.options.symbolics = "@symbolic('mylib::pair', opset=9)\n"
                          "def f(x, others, by, n):\n"
                          "    return op('com.example::Pair', x, others, by, n=n, outputs=3)\n";
    CHECK_OK(export(&f));
    for (size_t i = 0; i < f.model->graph->node.n; i++)
        if (strcmp(node_at(&f, i)->op_type, "Pair") == 0) {
            CHECK_INT(3, node_at(&f, i)->output.n);
            CHECK_INT(4, node_at(&f, i)->input.n);
            CHECK_STR("/Mul_output_0", node_at(&f, i)->input.items[0]);
            CHECK_STR("/Exp_output_0", node_at(&f, i)->input.items[3]);
        }
    tear_down(&f);
}

TEST(foreign, a_definition_with_several_results_and_a_symbolic_is_one_node)
{
    fixture f;

    set_up(&f, PAIR);
    CHECK_OK(cq_script_define(f.script,
                              "def mylib__pair(x: Tensor, n: int) -> Tuple[Tensor, Tensor]:\n"
                              "    return x + n, x - n\n",
                              NULL));
    f.options.symbolics = "@symbolic('mylib::pair', opset=9)\n"
                          "def f(x, n):\n"
                          "    return op('com.example::Pair', x, n=n, outputs=2)\n";
    CHECK_OK(export(&f));
    check_pair(&f, "Pair");
    tear_down(&f);
}

TEST(foreign, indexing_a_guessed_result_is_refused)
{
    static const char *const programs[] = {
        "def net(x):\n    r = torch.ops.mylib.pair(x)\n    return r[0] - r[1]\n",
        "def net(x):\n    for r in torch.ops.mylib.pair(x):\n        x = x + r\n    return x\n",
    };

    for (size_t i = 0; i < 2; i++) {
        fixture f;

        set_up(&f, programs[i]);
        f.options.operators = CQ_OPERATORS_ONNX_FALLTHROUGH;
        CHECK_STATUS(CQ_E_UNSUPPORTED, export(&f));
        CHECK_STR("unknown operator mylib::pair", cq_last_error()->message);
        CHECK(strstr(cq_last_error()->excerpt, "the number of its results is unknown") != NULL);
        CHECK(strstr(cq_last_error()->where, "net.py:") != NULL);
        tear_down(&f);
    }
}

TEST(foreign, a_definition_that_does_not_parse_is_refused)
{
    fixture f;

    set_up(&f, PROGRAM);
    CHECK_STATUS(CQ_E_SYNTAX, cq_script_define(f.script, "def mylib__scale(x:\n", "ops.py"));
    CHECK(strstr(cq_last_error()->where, "ops.py") != NULL);
    tear_down(&f);
}

/* The body of a function determines the types of its results, and is not a part of the model. */
TEST(foreign, a_calque_function_becomes_one_node_for_a_symbolic_function)
{
    fixture f;

    set_up(&f,
           "def net(x):\n"
           "    a, = torch.ops.calque.function(\"my::half\", [x], [torch.stack([x.neg(), x])])\n"
           "    return a.abs()\n");
    f.options.symbolics = "@symbolic('my::half', opset=7)\n"
                          "def f(x):\n"
                          "    return op('com.example::Half', x)\n";
    CHECK_OK(export(&f));
    CHECK_INT(2, f.model->graph->node.n);
    CHECK_STR("Half", node_at(&f, 0)->op_type);
    CHECK_INT(2, cq_onnx_model_value_rank(f.model, CQ_ONNX_OUTPUTS, 0));
    tear_down(&f);
}

TEST(foreign, a_program_marks_its_own_parts)
{
    fixture f;

    set_up(&f, "def net(x):\n"
               "    torch.ops.calque.annotate_begin(1, '{\"key\": \"value\", \"n\": [1, 2]}')\n"
               "    y = x.relu()\n"
               "    torch.ops.calque.annotate_end()\n"
               "    torch.ops.calque.as_output(\"middle\", y)\n"
               "    return torch.ops.calque.anchor(y.neg(), '{}').abs()\n");
    CHECK_OK(export(&f));
    CHECK_INT(2, f.model->graph->output.n);
    CHECK_STR("middle", cq_onnx_model_value_name(f.model, CQ_ONNX_OUTPUTS, 1));
    CHECK_STR("Relu", node_at(&f, 0)->op_type);
    CHECK_INT(2, node_at(&f, 0)->attribute.n);
    CHECK_STR("Anchor", node_at(&f, 2)->name);
    tear_down(&f);
    set_up(&f, "def net(x):\n"
               "    torch.ops.calque.annotate_begin(0, '{\"key\": {}}')\n"
               "    return x\n");
    CHECK_STATUS(CQ_E_ARGUMENT, export(&f));
    tear_down(&f);
}

/* Such an Identity is not merged with its neighbour, and is removed if it is unused. */
TEST(foreign, an_identity_stays_while_it_is_used)
{
    fixture f;

    set_up(&f, "def net(x):\n"
               "    y = torch.ops.calque.identity(x.relu())\n"
               "    torch.ops.calque.as_output(\"middle\", y)\n"
               "    torch.ops.calque.identity(y)\n"
               "    return torch.ops.calque.identity(y).abs()\n");
    CHECK_OK(export(&f));
    CHECK_INT(4, f.model->graph->node.n);
    CHECK_STR("Relu", node_at(&f, 0)->op_type);
    CHECK_STR("Identity", node_at(&f, 1)->op_type);
    CHECK_STR("middle", node_at(&f, 1)->output.items[0]);
    CHECK_STR("Identity", node_at(&f, 2)->op_type);
    CHECK_STR("middle", node_at(&f, 2)->input.items[0]);
    CHECK_STR("Abs", node_at(&f, 3)->op_type);
    tear_down(&f);
}

TEST(foreign, anchors_surround_modules_that_return_their_argument)
{
    fixture f;

    set_up(&f, "def net(x):\n"
               "    torch.ops.calque.scoped_anchor_begin('{}')\n"
               "    x = torch.ops.calque.passed(\"id\", \"Identity\", x).relu()\n"
               "    x = torch.ops.calque.passed(\"id\", \"Identity\", x).abs()\n"
               "    x = torch.ops.calque.passed(\"a.id\", \"Identity\", x)\n"
               "    torch.ops.calque.scoped_anchor_end()\n"
               "    return x\n");
    CHECK_OK(export(&f));
    CHECK_INT(4, f.model->graph->node.n);
    CHECK_STR("Anchor_0_start", node_at(&f, 0)->name);
    CHECK_STR("Relu", node_at(&f, 1)->op_type);
    CHECK_STR("Abs", node_at(&f, 2)->op_type);
    CHECK_STR("Anchor_0_end", node_at(&f, 3)->name);
    tear_down(&f);
}

/* A loop of few iterations is unrolled, unless the program keeps it. */
TEST(foreign, a_number_of_iterations_can_be_kept)
{
    static const char *const counts[] = { "3", "torch.ops.calque.rounds(3)" };

    for (size_t i = 0; i < 2; i++) {
        char    program[160];
        fixture f;

        snprintf(program, sizeof program,
                 "def net(x):\n    for i in range(%s):\n        x = x * (i + 2)\n    return x\n",
                 counts[i]);
        set_up(&f, program);
        CHECK_OK(export(&f));
        CHECK_STR(i ? "Loop" : "Mul", node_at(&f, f.model->graph->node.n - 1)->op_type);
        tear_down(&f);
    }
}

/* As in PyTorch, a tensor of which only a size is used is not an input, and a tensor that an
 * operator reads is one if the results depend on it. */
TEST(foreign, inputs_that_no_operator_takes_can_be_dropped)
{
    static const struct {
        const char *program;
        size_t      n_inputs;
    } cases[] = { { "def net(x):\n    return torch.ones(x.size(0))\n", 0 },
                  { "def net(x):\n    return torch.ones_like(x) + x.new_zeros([1])\n", 0 },
                  { "def net(x):\n    return x.fill_(2)\n", 0 },
                  { "def net(x):\n    y = x * 2\n    return torch.ones(y.size(0))\n", 0 },
                  { "def net(x):\n    return torch.full_like(x, 2)\n", 1 },
                  { "def net(x):\n    return torch.ones(2).view_as(x)\n", 1 },
                  { "def net(x):\n    x[:] = torch.ones(2)\n    return x\n", 1 },
                  { "def net(x):\n    return torch.ones(len(x.unbind()))\n", 1 },
                  { "def net(x):\n    if float(x.sum()) < 0:\n        raise Exception(\"no\")\n"
                    "    return torch.ones(2)\n",
                    1 },
                  { "def net(x):\n    found = []\n    if len(found) > 2:\n"
                    "        found.append(x)\n    return found\n",
                    1 } };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture f;

        set_up(&f, cases[i].program);
        f.options.flags |= CQ_EXPORT_DROP_UNREAD_INPUTS;
        CHECK_OK(export(&f));
        CHECK_INT(cases[i].n_inputs, f.model->graph->input.n);
        tear_down(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_OF(foreign, all_unknown_operators_are_reported_at_once),
        TEST_OF(foreign, an_unknown_operator_that_changes_in_place_is_not_forgotten),
        TEST_OF(foreign, unknown_operators_cannot_be_run),
        TEST_OF(foreign, a_definition_is_run_and_exported_as_what_it_calls),
        TEST_OF(foreign,
                a_definition_with_a_symbolic_stays_one_node_with_the_names_of_its_parameters),
        TEST_OF(foreign, the_last_definition_takes_precedence_over_the_table),
        TEST_OF(foreign,
                a_kept_unknown_operator_is_assumed_to_return_its_input_type_with_a_warning),
        TEST_OF(foreign, a_kept_operator_keeps_all_items_of_its_lists),
        TEST_OF(foreign, a_failure_after_a_guess_names_the_operator_that_was_guessed),
        TEST_OF(foreign, results_that_are_unpacked_are_outputs_of_the_node),
        TEST_OF(foreign, results_can_be_unpacked_when_the_arguments_are_gone),
        TEST_OF(foreign, a_definition_with_several_results_and_a_symbolic_is_one_node),
        TEST_OF(foreign, indexing_a_guessed_result_is_refused),
        TEST_OF(foreign, a_definition_that_does_not_parse_is_refused),
        TEST_OF(foreign, a_calque_function_becomes_one_node_for_a_symbolic_function),
        TEST_OF(foreign, a_program_marks_its_own_parts),
        TEST_OF(foreign, an_identity_stays_while_it_is_used),
        TEST_OF(foreign, anchors_surround_modules_that_return_their_argument),
        TEST_OF(foreign, a_number_of_iterations_can_be_kept),
        TEST_OF(foreign, inputs_that_no_operator_takes_can_be_dropped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
