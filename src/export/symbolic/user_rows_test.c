/* Symbolic functions of users: registered, as text, and custom functions with and without a
 * symbolic function. */
#include "models.h"

#include <calque/function.h>
#include <calque/session.h>
#include <calque/symbolic.h>
#include <math.h>

/* ---- custom functions ---- */

static void halve_forward(cq_ctx *cx, void *user, cq_tensor *const *in, cq_tensor **out)
{
    (void)user;
    out[0] = cq_mul_scalar(cx, in[0], 0.5);
    out[1] = cq_neg(cx, in[0]);
}

static cq_status halve_symbolic(cq_sym *s, void *user)
{
    cq_value   *x      = cq_sym_in(s, "x0"), *out[2];
    cq_sym_attr factor = { .name = "factor", .kind = CQ_SYM_ATTR_FLOAT, .f = *(double *)user };

    cq_sym_emit(s, "com.example::Halve", 1, &x, 1, &factor, 2, out);
    return cq_sym_done_n(s, out, 2);
}

static double half = 0.5;

static const cq_function with_symbolic = {
    CQ_SIZED(cq_function),    .name = "example::halve",   .n_in = 1,    .n_out = 2,
    .forward = halve_forward, .symbolic = halve_symbolic, .user = &half
};
static const cq_function without = { CQ_SIZED(cq_function), .name = "example::halve_plainly",
                                     .n_in = 1, .n_out = 2, .forward = halve_forward };

static cq_tensor *with_forward(cq_ctx *cx, void *self, cq_tensor *x)
{
    cq_tensor *out[2] = { 0 };

    (void)self;
    cq_apply(cx, &with_symbolic, &x, out);
    return cq_add(cx, out[0], out[1]);
}

static cq_tensor *without_forward(cq_ctx *cx, void *self, cq_tensor *x)
{
    cq_tensor *out[2] = { 0 };

    (void)self;
    cq_apply(cx, &without, &x, out);
    return cq_add(cx, out[0], out[1]);
}

static const cq_class with_class = { CQ_SIZED(cq_class), .name = "With", .forward = with_forward };
static const cq_class without_class = { CQ_SIZED(cq_class), .name = "Without",
                                        .forward = without_forward };

TEST(function, with_a_symbolic_function_emits_its_nodes)
{
    const cq_custom_opset opsets[] = { { "com.example", 4 } };
    cq_export_options     o        = options_of(13);
    cq_module            *net      = bare_net_new(&with_class);
    cq_onnx_model        *m        = NULL;
    const cq_onnx_node   *node;

    CHECK_OK(export_net(&m, net, &o));
    CHECK_OPS("Halve Add", m);
    node = m->graph->node.items[0];
    CHECK_STR("com.example", node->domain);
    CHECK_INT(2, node->output.n);
    CHECK_STR("factor", node->attribute.items[0]->name);
    CHECK(node->attribute.items[0]->f == 0.5f);
    CHECK_INT(1, cq_onnx_model_opset(m, "com.example"));
    cq_onnx_model_free(m);
    o.custom_opsets   = opsets;
    o.n_custom_opsets = 1;
    CHECK_OK(export_net(&m, net, &o));
    CHECK_INT(4, cq_onnx_model_opset(m, "com.example"));
    cq_onnx_model_free(m);
    cq_module_free(net);
}

TEST(function, without_a_symbolic_function_exports_its_forward)
{
    cq_export_options o   = options_of(13);
    cq_module        *net = bare_net_new(&without_class);
    cq_onnx_model    *m   = NULL;

    CHECK_OK(export_net(&m, net, &o));
    CHECK_OPS("Mul Neg Add", m);
    cq_onnx_model_free(m);
    o.flags = CQ_EXPORT_NO_AUTOGRAD_INLINING;
    CHECK_STATUS(CQ_E_UNSUPPORTED, export_net(&m, net, &o));
    CHECK(strstr(cq_last_error()->message, "example::halve_plainly (1 time)"));
    o.operators = CQ_OPERATORS_ONNX_FALLTHROUGH;
    CHECK_OK(export_net(&m, net, &o));
    CHECK_OPS("halve_plainly Add", m);
    CHECK_STR("example", m->graph->node.items[0]->domain);
    cq_onnx_model_free(m);
    cq_module_free(net);
}

/* ---- registered rules ---- */

static cq_tensor *relu_forward(cq_ctx *cx, void *self, cq_tensor *x)
{
    (void)self;
    return cq_relu(cx, x);
}

static const cq_class relu_class = { CQ_SIZED(cq_class), .name = "Relu", .forward = relu_forward };

static cq_status by_name(cq_sym *s, void *user)
{
    cq_value *x = cq_sym_in(s, "self");

    return cq_sym_done(s, cq_sym_emit1(s, user, 1, &x, 0, NULL));
}

static cq_status declining(cq_sym *s, void *user)
{
    (void)user;
    return cq_sym_no(s, 16, "it is a %s", "Sunday");
}

static void check_ops(const char *want, int opset, const char *rules)
{
    cq_module        *net = bare_net_new(&relu_class);
    cq_export_options o   = options_of(opset);
    cq_onnx_model    *m   = NULL;

    o.symbolics = rules;
    CHECK_OK(export_net(&m, net, &o));
    CHECK_OPS(want, m);
    cq_onnx_model_free(m);
    cq_module_free(net);
}

TEST(symbolic, registered_ones_hold_from_their_opset_on_and_the_last_counts)
{
    CHECK_OK(cq_symbolic_register("aten::relu", 11, by_name, "Tanh"));
    check_ops("Relu", 10, NULL);
    check_ops("Tanh", 11, NULL);
    CHECK_OK(cq_symbolic_register("::relu", 13, by_name, "Sigmoid"));
    check_ops("Tanh", 12, NULL);
    check_ops("Sigmoid", 17, NULL);
    CHECK_OK(cq_symbolic_register("aten::relu", 13, by_name, "Abs"));
    check_ops("Abs", 17, NULL);
    cq_symbolic_unregister("aten::relu", 13);
    check_ops("Tanh", 17, NULL);
    cq_symbolic_unregister("::relu", 11);
    check_ops("Relu", 17, NULL);
}

TEST(symbolic, names_without_a_domain_and_onnx_itself_are_refused)
{
    CHECK_STATUS(CQ_E_ARGUMENT, cq_symbolic_register("relu", 9, by_name, "Tanh"));
    CHECK_STATUS(CQ_E_ARGUMENT, cq_symbolic_register("aten::", 9, by_name, "Tanh"));
    CHECK_STATUS(CQ_E_ARGUMENT, cq_symbolic_register("onnx::Relu", 9, by_name, "Tanh"));
}

TEST(symbolic, a_declining_function_gives_reason_and_opset)
{
    cq_module     *net = bare_net_new(&relu_class);
    cq_onnx_model *m   = NULL;

    CHECK_OK(cq_symbolic_register("aten::relu", 9, declining, NULL));
    CHECK_STATUS(
        CQ_E_UNSUPPORTED,
        export_net(&m, net,
                   &(cq_export_options){ .struct_size = sizeof(cq_export_options), .opset = 11 }));
    CHECK(strstr(cq_last_error()->message, "aten::relu (1 time)"));
    CHECK(strstr(cq_last_error()->message, ": it is a Sunday; opset 16 can"));
    cq_symbolic_unregister("aten::relu", 9);
    cq_module_free(net);
}

/* Each of these calls is incomplete. */
static void no_is_none(cq_sym *s)
{
    (void)cq_sym_is_none(s, NULL);
}

static void no_is_tensor(cq_sym *s)
{
    (void)cq_sym_is_tensor(s, NULL);
}

static void no_in(cq_sym *s)
{
    (void)cq_sym_in(s, NULL);
}

static void no_in_as(cq_sym *s)
{
    (void)cq_sym_in_as(s, NULL, CQ_DTYPE_F32);
}

static void no_i64(cq_sym *s)
{
    (void)cq_sym_i64(s, NULL);
}

static void no_f64(cq_sym *s)
{
    (void)cq_sym_f64(s, NULL);
}

static void no_bool(cq_sym *s)
{
    (void)cq_sym_bool(s, NULL);
}

static void no_str(cq_sym *s)
{
    (void)cq_sym_str(s, NULL, NULL);
}

static void no_i64s(cq_sym *s)
{
    (void)cq_sym_i64s(s, "self", NULL, 1);
}

static void no_f64s(cq_sym *s)
{
    (void)cq_sym_f64s(s, "self", NULL, 1);
}

static void no_n_list(cq_sym *s)
{
    (void)cq_sym_n_list(s, NULL);
}

static void no_in_at(cq_sym *s)
{
    (void)cq_sym_in_at(s, NULL, 0);
}

static void no_set_type(cq_sym *s)
{
    cq_sym_set_type(s, cq_sym_in(s, "self"), CQ_DTYPE_F32, 1, NULL);
}

static void no_no(cq_sym *s)
{
    (void)cq_sym_no(s, 0, NULL);
}

static void no_op(cq_sym *s)
{
    (void)cq_sym_emit1(s, NULL, 0, NULL, 0, NULL);
}

static void no_inputs(cq_sym *s)
{
    (void)cq_sym_emit1(s, "Relu", 1, NULL, 0, NULL);
}

static void no_attrs(cq_sym *s)
{
    (void)cq_sym_emit1(s, "Relu", 0, NULL, 1, NULL);
}

static void no_out(cq_sym *s)
{
    cq_sym_emit(s, "Relu", 0, NULL, 0, NULL, 1, NULL);
}

static void no_attr_name(cq_sym *s)
{
    (void)cq_sym_emit1(s, "Relu", 0, NULL, 1, &(cq_sym_attr){ 0 });
}

static void no_attr_string(cq_sym *s)
{
    (void)cq_sym_emit1(s, "Relu", 0, NULL, 1,
                       &(cq_sym_attr){ .name = "a", .kind = CQ_SYM_ATTR_STRING, .n = 1 });
}

static void no_attr_tensor(cq_sym *s)
{
    (void)cq_sym_emit1(s, "Relu", 0, NULL, 1,
                       &(cq_sym_attr){ .name = "a", .kind = CQ_SYM_ATTR_TENSOR, .n = 1 });
}

static void no_attr_ints(cq_sym *s)
{
    (void)cq_sym_emit1(s, "Relu", 0, NULL, 1,
                       &(cq_sym_attr){ .name = "a", .kind = CQ_SYM_ATTR_INTS, .n = 1 });
}

static void no_attr_floats(cq_sym *s)
{
    (void)cq_sym_emit1(s, "Relu", 0, NULL, 1,
                       &(cq_sym_attr){ .name = "a", .kind = CQ_SYM_ATTR_FLOATS, .n = 1 });
}

static void no_attr_strings(cq_sym *s)
{
    (void)cq_sym_emit1(s, "Relu", 0, NULL, 1,
                       &(cq_sym_attr){ .name = "a", .kind = CQ_SYM_ATTR_STRINGS, .n = 1 });
}

static void no_attr_tensors(cq_sym *s)
{
    (void)cq_sym_emit1(s, "Relu", 0, NULL, 1,
                       &(cq_sym_attr){ .name = "a", .kind = CQ_SYM_ATTR_TENSORS, .n = 1 });
}

static void no_string_of_list(cq_sym *s)
{
    (void)cq_sym_emit1(
        s, "Relu", 0, NULL, 1,
        &(cq_sym_attr){
            .name = "a", .kind = CQ_SYM_ATTR_STRINGS, .n = 1, .strings = &(const char *){ NULL } });
}

static void no_graph_name(cq_sym *s)
{
    cq_sym_graph_begin(s, cq_sym_emit1(s, "If", 0, NULL, 0, NULL), NULL);
}

static void no_graph_results(cq_sym *s)
{
    (cq_sym_graph_begin(s, cq_sym_emit1(s, "If", 0, NULL, 0, NULL), "a"),
     cq_sym_graph_end(s, 1, NULL));
}

static void no_graph_result(cq_sym *s)
{
    (cq_sym_graph_begin(s, cq_sym_emit1(s, "If", 0, NULL, 0, NULL), "a"),
     cq_sym_graph_end(s, 1, &(cq_value *){ NULL }));
}

static void no_const(cq_sym *s)
{
    (void)cq_sym_const(s, NULL);
}

static void no_const_i64s(cq_sym *s)
{
    (void)cq_sym_const_i64s(s, NULL, 1);
}

static void no_done(cq_sym *s)
{
    (void)cq_sym_done_n(s, NULL, 1);
}

static void (*const lacking[])(cq_sym *s) = {
    no_is_none,      no_is_tensor,
    no_in,           no_in_as,
    no_i64,          no_f64,
    no_bool,         no_str,
    no_i64s,         no_f64s,
    no_n_list,       no_in_at,
    no_set_type,     no_no,
    no_op,           no_inputs,
    no_attrs,        no_out,
    no_attr_name,    no_attr_string,
    no_attr_tensor,  no_attr_ints,
    no_attr_floats,  no_attr_strings,
    no_attr_tensors, no_string_of_list,
    no_graph_name,   no_graph_results,
    no_graph_result, no_const,
    no_const_i64s,   no_done,
};

static cq_status lacks(cq_sym *s, void *user)
{
    cq_value *x = cq_sym_in(s, "self");

    lacking[*(size_t *)user](s);
    return cq_sym_done(s, x);
}

TEST(symbolic, a_null_argument_fails_with_the_name_of_the_call)
{
    cq_module     *net = bare_net_new(&relu_class);
    cq_onnx_model *m   = NULL;

    for (size_t i = 0; i < sizeof lacking / sizeof *lacking; i++) {
        CHECK_OK(cq_symbolic_register("aten::relu", 9, lacks, &i));
        if (export_net(&m, net, NULL) != CQ_E_ARGUMENT || m ||
            !strstr(cq_last_error()->where, "cq_sym_"))
            fail_msg("call %zu: %s (%s)", i, cq_last_error()->message, cq_last_error()->where);
        cq_symbolic_unregister("aten::relu", 9);
    }
    cq_module_free(net);
}

/* relu as an If on its sum: the tanh of x, or minus x. */
static cq_status with_graphs(cq_sym *s, void *user)
{
    cq_value *x    = cq_sym_in(s, "self"), *then, *otherwise, *y;
    cq_value *sum  = cq_sym_emit1(s, "ReduceSum", 1, &x, 1,
                                  &(cq_sym_attr){ .name = "keepdims", .kind = CQ_SYM_ATTR_INT });
    cq_value *zero = cq_sym_const_f64(s, CQ_DTYPE_F32, 0);
    cq_value *is   = cq_sym_emit1(s, "Greater", 2, (cq_value *[]){ sum, zero }, 0, NULL);

    (void)user;
    y = cq_sym_emit1(s, "If", 1, &is, 0, NULL);
    cq_sym_graph_begin(s, y, "then_branch");
    then = cq_sym_emit1(s, "Tanh", 1, &x, 0, NULL);
    cq_sym_graph_end(s, 1, &then);
    cq_sym_graph_begin(s, y, "else_branch");
    otherwise = cq_sym_emit1(s, "Neg", 1, &x, 0, NULL);
    cq_sym_graph_end(s, 1, &otherwise);
    return cq_sym_done(s, y);
}

TEST(symbolic, may_make_graphs_that_run)
{
    cq_export_options o   = options_of(17);
    cq_module        *net = bare_net_new(&relu_class);
    cq_tensor        *x = small_net_input(), *y = NULL;
    cq_onnx_model    *m = NULL;
    cq_session       *session;

    CHECK_OK(cq_symbolic_register("aten::relu", 9, with_graphs, NULL));
    CHECK_OK(export_net(&m, net, &o));
    CHECK_OK(cq_session_prepare(&session, m, NULL));
    for (int sign = 1; sign >= -1; sign -= 2) {
        float *numbers = cq_tensor_data(x);

        for (int i = 0; i < 64; i++)
            numbers[i] = (float)(sign * (i + 1)) / 64;
        CHECK_OK(cq_session_run_tensors(session, &x, 1, &y, 1));
        CHECK(fabs(((float *)cq_tensor_data(y))[63] - (sign > 0 ? tanh(1) : 1)) < 1e-6);
        cq_tensor_release(y);
    }
    cq_symbolic_unregister("aten::relu", 9);
    cq_session_free(session);
    cq_onnx_model_free(m);
    cq_tensor_release(x);
    cq_module_free(net);
}

/* An operator with two graphs in a list, the second with an input, and two tensors in another. */
static cq_status with_lists(cq_sym *s, void *user)
{
    cq_tensor  *t      = user;
    cq_sym_attr tables = {
        .name = "tables", .kind = CQ_SYM_ATTR_TENSORS, .n = 2, .tensors = (cq_tensor *[]){ t, t }
    };
    cq_value *x = cq_sym_in(s, "self"), *y, *in_it;

    y = cq_sym_emit1(s, "com.example::Choose", 1, &x, 1, &tables);
    for (int i = 0; i < 2; i++) {
        cq_sym_graph_begin(s, y, "choices[]");
        in_it = i ? cq_sym_graph_input(s, CQ_DTYPE_F32, 1) : x;
        in_it = cq_sym_emit1(s, i ? "Abs" : "Neg", 1, &in_it, 0, NULL);
        cq_sym_graph_end(s, 1, &in_it);
    }
    return cq_sym_done(s, y);
}

TEST(symbolic, attributes_can_be_lists_of_graphs_and_of_tensors)
{
    cq_export_options        o   = options_of(17);
    cq_module               *net = bare_net_new(&relu_class);
    cq_tensor               *t   = small_net_input();
    cq_onnx_model           *m   = NULL;
    const cq_onnx_attribute *tables, *choices;

    CHECK_OK(cq_symbolic_register("aten::relu", 9, with_lists, t));
    CHECK_OK(export_net(&m, net, &o));
    CHECK_OPS("Choose", m);
    tables  = m->graph->node.items[0]->attribute.items[0];
    choices = m->graph->node.items[0]->attribute.items[1];
    CHECK_STR("tables", tables->name);
    CHECK_INT(2, tables->tensors.n);
    CHECK_STR("choices", choices->name);
    CHECK_INT(CQ_ONNX_ATTR_GRAPHS, choices->type);
    CHECK_INT(2, choices->graphs.n);
    CHECK_INT(0, choices->graphs.items[0]->input.n);
    CHECK_INT(1, choices->graphs.items[1]->input.n);
    CHECK_STR("Abs", choices->graphs.items[1]->node.items[0]->op_type);
    CHECK_STR(choices->graphs.items[1]->input.items[0]->name,
              choices->graphs.items[1]->node.items[0]->input.items[0]);
    cq_symbolic_unregister("aten::relu", 9);
    cq_onnx_model_free(m);
    cq_tensor_release(t);
    cq_module_free(net);
}

static cq_status left_open(cq_sym *s, void *user)
{
    cq_value *x = cq_sym_in(s, "self"), *y = cq_sym_emit1(s, "Neg", 1, &x, 0, NULL);

    cq_sym_graph_begin(s, user ? y : x, "body");
    return cq_sym_done(s, y);
}

TEST(symbolic, graphs_that_are_not_ended_or_have_no_node_are_refused)
{
    cq_export_options o   = options_of(17);
    cq_module        *net = bare_net_new(&relu_class);
    cq_onnx_model    *m   = NULL;

    CHECK_OK(cq_symbolic_register("aten::relu", 9, left_open, net));
    CHECK_STATUS(CQ_E_ARGUMENT, export_net(&m, net, &o));
    CHECK_STR("1 graphs were begun but not ended", cq_last_error()->message);
    CHECK_OK(cq_symbolic_register("aten::relu", 9, left_open, NULL));
    CHECK_STATUS(CQ_E_ARGUMENT, export_net(&m, net, &o));
    CHECK(strstr(cq_last_error()->message, "no node computes this value"));
    cq_symbolic_unregister("aten::relu", 9);
    cq_module_free(net);
}

/* ---- functions in a file ---- */

#define RELU(opset, body) "@symbolic('aten::relu', opset=" #opset ")\ndef relu(self):\n" body "\n"

TEST(symbolic_file, newest_that_is_not_above_the_opset_counts)
{
    const char *file = "\"\"\"Two of them.\"\"\"\n\n" RELU(
        9, "    return Tanh(self)") "\n"
                                    "@symbolic('aten::relu', opset=13)\n"
                                    "def other(self):\n"
                                    "    return Sigmoid(\n"
                                    "        Neg(self)  # goes on here\n"
                                    "    )\n";

    check_ops("Relu", 8, file);
    check_ops("Tanh", 12, file);
    check_ops("Neg Sigmoid", 13, file);
}

TEST(symbolic_file, functions_for_torch_onnx_work_unchanged)
{
    check_ops("LeakyRelu", 17,
              "from torch.onnx import register_custom_op_symbolic\n"
              "def leaky(g, x, inplace=False):\n"
              "    if _is_none(x):\n"
              "        return _unimplemented('relu', 'no input')\n"
              "    return g.op('LeakyRelu', x, alpha_f=0.0)\n"
              "register_custom_op_symbolic('::relu', leaky, 9)\n");
    check_ops("Cast Cast", 17,
              "import torch.onnx.symbolic_helper as sym_help\n"
              "def twice(g, x):\n"
              "    x = g.op('Cast', x, to_i=sym_help.cast_pytorch_to_onnx['Double'])\n"
              "    return g.op('Cast', x, to_i=1)\n"
              "torch.onnx.register_custom_op_symbolic('aten::relu', twice, 9)\n");
}

static void check_file(const char *file, cq_status status, const char *message, const char *where)
{
    cq_module        *net = bare_net_new(&relu_class);
    cq_export_options o   = options_of(17);
    cq_onnx_model    *m   = NULL;

    o.symbolics = file;
    CHECK_STATUS(status, export_net(&m, net, &o));
    CHECK(m == NULL);
    CHECK_STR(message, cq_last_error()->message);
    if (!strstr(cq_last_error()->where, where))
        CHECK_STR(where, cq_last_error()->where);
    cq_module_free(net);
}

TEST(symbolic_file, mistakes_are_named_with_their_line)
{
    check_file("# no\naten::relu 9: Tanh(self)\n", CQ_E_SYNTAX,
               "one-line rules were replaced by Python functions", "<symbolics>:2");
    check_file("symbolic('aten::relu', 'Tanh')\n", CQ_E_SYNTAX,
               "expected symbolic(\"domain::operator\", opset=N)", "<symbolics>:1:1");
    check_file("symbolic('relu', 'Tanh', opset=9)\n", CQ_E_SYNTAX,
               "expected symbolic(\"domain::operator\", opset=N)", "<symbolics>:1:1");
    check_file("\nregister_custom_op_symbolic('aten::relu', nobody, 9)\n", CQ_E_SYNTAX,
               "expected an operator, a function of this file and an opset", "<symbolics>:2:1");
    check_file(RELU(9, "    return Tanh(x)"), CQ_E_SYNTAX, "x is not defined", "<symbolics>:3:17");
    check_file(RELU(9, "    return tanh(self)"), CQ_E_SYNTAX, "unknown function tanh",
               "<symbolics>:3:12");
    check_file(RELU(9, "    return Tanh(self"), CQ_E_SYNTAX, "'(' is never closed",
               "<symbolics>:3:");
    check_file("x = 1\n", CQ_E_SYNTAX, "expected an import, a function or a declaration",
               "<symbolics>:1:1");
    check_file("@symbolic('aten::relu', opset=9)\ndef relu(a, b):\n    return a\n", CQ_E_SYNTAX,
               "aten::relu has 1 arguments, the function has 2 parameters", "<symbolics>:2:5");
}

TEST(symbolic_file, endless_functions_are_refused)
{
    check_file(RELU(9, "    while True:\n        self = self"), CQ_E_SYNTAX,
               "the function takes more than 200000 steps", "<symbolics>:");
    check_file(RELU(9, "    return relu(self)"), CQ_E_SYNTAX, "calls are nested more than 64 deep",
               "<symbolics>:3:5");
    check_file(RELU(9, "    return len(range(1000000000))"), CQ_E_SYNTAX,
               "the function takes more than 200000 steps", "<symbolics>:3:5");
}

RUN_TESTS(TEST_OF(function, with_a_symbolic_function_emits_its_nodes),
          TEST_OF(function, without_a_symbolic_function_exports_its_forward),
          TEST_OF(symbolic, registered_ones_hold_from_their_opset_on_and_the_last_counts),
          TEST_OF(symbolic, names_without_a_domain_and_onnx_itself_are_refused),
          TEST_OF(symbolic, a_declining_function_gives_reason_and_opset),
          TEST_OF(symbolic, a_null_argument_fails_with_the_name_of_the_call),
          TEST_OF(symbolic, may_make_graphs_that_run),
          TEST_OF(symbolic, attributes_can_be_lists_of_graphs_and_of_tensors),
          TEST_OF(symbolic, graphs_that_are_not_ended_or_have_no_node_are_refused),
          TEST_OF(symbolic_file, newest_that_is_not_above_the_opset_counts),
          TEST_OF(symbolic_file, functions_for_torch_onnx_work_unchanged),
          TEST_OF(symbolic_file, mistakes_are_named_with_their_line),
          TEST_OF(symbolic_file, endless_functions_are_refused))
