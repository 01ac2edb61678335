/* The options of an export, one by one, on a small model. tests/peer checks the results of exported
 * models. */
#include "aten/core/ctx.h"
#include "base/alloc.h"
#include "base/file.h"
#include "models.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *name_of(const cq_onnx_model *m, cq_onnx_side side, size_t i)
{
    return cq_onnx_model_value_name(m, side, i);
}

static size_t n_inputs(const cq_onnx_model *m)
{
    return cq_onnx_model_n_values(m, CQ_ONNX_INPUTS);
}

/* ---- names ---- */

TEST(export, names_come_from_the_modules)
{
    cq_onnx_model *m = NULL;

    CHECK_OK(export_small(&m, NULL));
    CHECK_OPS("Conv Relu Flatten Gemm", m);
    CHECK_STR("Net", cq_onnx_model_graph_name(m));
    CHECK_STR("calque", cq_onnx_model_producer(m));
    CHECK_STR("input_0", name_of(m, CQ_ONNX_INPUTS, 0));
    CHECK_STR("output_0", name_of(m, CQ_ONNX_OUTPUTS, 0));
    CHECK_STR("/features/0/Conv", m->graph->node.items[0]->name);
    CHECK_STR("/features/0/Conv_output_0", m->graph->node.items[0]->output.items[0]);
    CHECK_STR("features.0.weight.BatchNormalization", m->graph->node.items[0]->input.items[1]);
    CHECK_STR("/features/2/Relu", m->graph->node.items[1]->name);
    CHECK_STR("/Flatten", m->graph->node.items[2]->name);
    CHECK_STR("fc.weight", m->graph->node.items[3]->input.items[1]);
    cq_onnx_model_free(m);
}

TEST(export, input_names_go_to_the_inputs_and_then_to_the_parameters_in_order)
{
    const char       *names[] = { "x", "w", "b" };
    cq_export_options o       = options_of(17);
    cq_onnx_model    *m       = NULL;

    o.flags         = CQ_EXPORT_NO_CONSTANT_FOLDING;
    o.input_names   = names;
    o.n_input_names = 3;
    CHECK_OK(export_small(&m, &o));
    CHECK_STR("x", name_of(m, CQ_ONNX_INPUTS, 0));
    CHECK_STR("w", m->graph->initializer.items[0]->name);
    CHECK_STR("b", m->graph->initializer.items[1]->name);
    CHECK_STR("features.1.weight", m->graph->initializer.items[2]->name);
    CHECK_STR("b", m->graph->node.items[0]->input.items[2]);
    cq_onnx_model_free(m);
}

TEST(export, too_many_names_are_refused_with_both_numbers)
{
    const char       *names[12] = { "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l" };
    cq_export_options o         = options_of(17);
    cq_onnx_model    *m         = NULL;

    o.input_names   = names;
    o.n_input_names = 12;
    CHECK_STATUS(CQ_E_ARGUMENT, export_small(&m, &o));
    CHECK(m == NULL);
    CHECK_STR("12 input names were given, but there are 9 inputs and parameters",
              cq_last_error()->message);
    o                = options_of(17);
    o.output_names   = names;
    o.n_output_names = 2;
    CHECK_STATUS(CQ_E_ARGUMENT, export_small(&m, &o));
    CHECK_STR("2 output names were given, but the model has 1 output", cq_last_error()->message);
}

TEST(export, a_name_cannot_be_given_twice)
{
    const char       *in[] = { "x" }, *out[] = { "x" };
    cq_export_options o = options_of(17);
    cq_onnx_model    *m = NULL;

    o.input_names    = in;
    o.n_input_names  = 1;
    o.output_names   = out;
    o.n_output_names = 1;
    CHECK_STATUS(CQ_E_ARGUMENT, export_small(&m, &o));
    CHECK_STR("the name \"x\" of an output is already taken", cq_last_error()->message);
}

/* ---- outputs that need a separate node ---- */

static void twice_forward(cq_ctx *cx, void *self, cq_tensor *const *in, size_t n_in,
                          cq_tensor **out, size_t n_out)
{
    (void)self;
    (void)n_in;
    (void)n_out;
    out[0] = out[1] = cq_relu(cx, in[0]);
    out[2]          = in[0];
}

static const cq_class twice_class = { CQ_SIZED(cq_class), .name = "Twice",
                                      .forward_n = twice_forward, .n_out = 3 };

TEST(export, a_value_returned_twice_and_an_input_returned_get_names_of_their_own)
{
    const char       *names[] = { "a", "b", "c" };
    cq_export_options o       = options_of(17);
    cq_module        *net     = bare_net_new(&twice_class);
    cq_onnx_model    *m       = NULL;

    o.output_names   = names;
    o.n_output_names = 3;
    CHECK_OK(export_net(&m, net, &o));
    CHECK_OPS("Relu Identity Identity", m);
    CHECK_STR("a", m->graph->node.items[0]->output.items[0]);
    for (size_t i = 0; i < 3; i++)
        CHECK_STR(names[i], name_of(m, CQ_ONNX_OUTPUTS, i));
    cq_onnx_model_free(m);
    cq_module_free(net);
}

TEST(export, names_of_its_own_making_keep_out_of_the_way_of_chosen_ones)
{
    const char       *in[] = { "output_2" }, *out[] = { "output_1" };
    cq_export_options o   = options_of(17);
    cq_module        *net = bare_net_new(&twice_class);
    cq_onnx_model    *m   = NULL;

    o.input_names   = in;
    o.output_names  = out;
    o.n_input_names = o.n_output_names = 1;
    CHECK_OK(export_net(&m, net, &o));
    CHECK_STR("output_2", name_of(m, CQ_ONNX_INPUTS, 0));
    CHECK_STR("output_1", name_of(m, CQ_ONNX_OUTPUTS, 0));
    CHECK_STR("output_1_1", name_of(m, CQ_ONNX_OUTPUTS, 1));
    CHECK_STR("output_2_1", name_of(m, CQ_ONNX_OUTPUTS, 2));
    cq_onnx_model_free(m);
    cq_module_free(net);
}

static void second_forward(cq_ctx *cx, void *self, cq_tensor *const *in, size_t n_in,
                           cq_tensor **out, size_t n_out)
{
    (void)self;
    (void)n_in;
    (void)n_out;
    out[0] = cq_relu(cx, in[1]);
}

TEST(export, an_input_that_is_not_used_is_kept)
{
    static const cq_class cls = { CQ_SIZED(cq_class), .name = "Second",
                                  .forward_n = second_forward };
    cq_module            *net = bare_net_new(&cls);
    cq_tensor            *x   = small_net_input();
    cq_onnx_model        *m   = NULL;

    CHECK_OK(cq_module_export(&m, net, (cq_tensor *[]){ x, x }, 2, NULL));
    CHECK_INT(2, n_inputs(m));
    CHECK_STR("input_1", m->graph->node.items[0]->input.items[0]);
    cq_onnx_model_free(m);
    cq_tensor_release(x);
    cq_module_free(net);
}

/* ---- dynamic axes ---- */

static cq_status export_axes(cq_onnx_model **out, const cq_dynamic_axis *axes, size_t n)
{
    cq_export_options o = options_of(17);

    o.dynamic_axes   = axes;
    o.n_dynamic_axes = n;
    return export_small(out, &o);
}

TEST(export, dynamic_axes_have_the_names_they_are_given)
{
    const cq_dynamic_axis axes[] = { { "input_0", 0, "batch" }, { "output_0", -2, "rows" } };
    cq_onnx_model        *m      = NULL;

    CHECK_OK(export_axes(&m, axes, 2));
    CHECK_STR("batch", cq_onnx_model_value_axis(m, CQ_ONNX_INPUTS, 0, 0));
    CHECK_STR("rows", cq_onnx_model_value_axis(m, CQ_ONNX_OUTPUTS, 0, 0));
    CHECK_STR("", cq_onnx_model_value_axis(m, CQ_ONNX_INPUTS, 0, 1));
    CHECK_INT(2, cq_onnx_model_value_size(m, CQ_ONNX_INPUTS, 0, 1));
    CHECK_INT(5, cq_onnx_model_value_size(m, CQ_ONNX_OUTPUTS, 0, 1));
    cq_onnx_model_free(m);
}

TEST(export, dynamic_axes_without_a_name_get_one)
{
    const cq_dynamic_axis axes[] = { { "input_0", 0, NULL } };
    const cq_dynamic_axis both[] = { { "input_0", 0, NULL }, { "output_0", 0, NULL } };
    cq_onnx_model        *m      = NULL;

    CHECK_OK(export_axes(&m, axes, 1));
    CHECK_STR("input_0_dynamic_axes_1", cq_onnx_model_value_axis(m, CQ_ONNX_INPUTS, 0, 0));
    CHECK_STR("input_0_dynamic_axes_1", cq_onnx_model_value_axis(m, CQ_ONNX_OUTPUTS, 0, 0));
    cq_onnx_model_free(m);
    CHECK_OK(export_axes(&m, both, 2));
    CHECK_STR("input_0_dynamic_axes_1", cq_onnx_model_value_axis(m, CQ_ONNX_INPUTS, 0, 0));
    CHECK_STR("output_0_dynamic_axes_1", cq_onnx_model_value_axis(m, CQ_ONNX_OUTPUTS, 0, 0));
    cq_onnx_model_free(m);
}

TEST(export, dynamic_axes_of_unknown_values_are_warned_about)
{
    const cq_dynamic_axis unknown[] = { { "nobody", 0, "n" }, { "nobody", 1, "m" } };
    cq_onnx_model        *m         = NULL;
    struct heard          heard     = { 0 };

    cq_set_warning_handler(hear, &heard);
    CHECK_OK(export_axes(&m, unknown, 2));
    cq_set_warning_handler(NULL, NULL);
    cq_onnx_model_free(m);
    CHECK_INT(1, heard.n);
    CHECK_STR("dynamic axis of \"nobody\", which is neither an input nor an output", heard.message);
}

TEST(export, dynamic_axes_out_of_range_are_warned_about_on_outputs_and_refused_on_inputs)
{
    const cq_dynamic_axis beyond[] = { { "input_0", 4, "n" } };
    const cq_dynamic_axis below[]  = { { "output_0", -3, "n" } };
    struct heard          heard    = { 0 };
    cq_onnx_model        *m        = NULL;

    cq_set_warning_handler(hear, &heard);
    CHECK_OK(export_axes(&m, below, 1));
    cq_set_warning_handler(NULL, NULL);
    cq_onnx_model_free(m);
    CHECK_STR("dynamic axis -3 is out of range: the output has 2 dimensions", heard.message);
    CHECK_STATUS(CQ_E_ARGUMENT, export_axes(&m, beyond, 1));
    CHECK_STR("dynamic axis 4 is out of range: the input has 4 dimensions",
              cq_last_error()->message);
    CHECK(m == NULL);
}

TEST(export, an_axis_that_cannot_be_dynamic_is_warned_about)
{
    const cq_dynamic_axis axes[] = { { "output_0", 1, "n" } };
    struct heard          heard  = { 0 };
    cq_onnx_model        *m      = NULL;

    cq_set_warning_handler(hear, &heard);
    CHECK_OK(export_axes(&m, axes, 1));
    cq_set_warning_handler(NULL, NULL);
    CHECK_INT(1, heard.n);
    CHECK_STR("axis 1 cannot be dynamic: its size in the model is always 5", heard.message);
    CHECK_STR("output_0", heard.where);
    CHECK_INT(5, cq_onnx_model_value_size(m, CQ_ONNX_OUTPUTS, 0, 1));
    cq_onnx_model_free(m);
}

/* A generated name makes no claim about the size, and is what the user requested. */
TEST(export, an_axis_that_cannot_be_dynamic_gets_a_generated_name)
{
    const cq_dynamic_axis axes[] = { { "output_0", 1, NULL } };
    struct heard          heard  = { 0 };
    cq_onnx_model        *m      = NULL;

    cq_set_warning_handler(hear, &heard);
    CHECK_OK(export_axes(&m, axes, 1));
    cq_set_warning_handler(NULL, NULL);
    CHECK_INT(1, heard.n);
    CHECK_STR("output_0_dynamic_axes_1", cq_onnx_model_value_axis(m, CQ_ONNX_OUTPUTS, 0, 1));
    CHECK_INT(-1, cq_onnx_model_value_size(m, CQ_ONNX_OUTPUTS, 0, 1));
    cq_onnx_model_free(m);
}

/* ---- weights ---- */

TEST(export, weights_are_initializers_and_before_opset_9_inputs_too)
{
    for (int opset = 7; opset <= 17; opset++) {
        cq_export_options o = options_of(opset);
        cq_onnx_model    *m = NULL;

        CHECK_OK(export_small(&m, &o));
        CHECK_INT(opset < 9 ? 1 + cq_onnx_model_n_initializers(m) : 1, n_inputs(m));
        cq_onnx_model_free(m);
    }
}

TEST(export, keep_initializers_as_inputs_and_not_so)
{
    cq_export_options o     = options_of(17);
    struct heard      heard = { 0 };
    cq_onnx_model    *m     = NULL;

    o.flags = CQ_EXPORT_KEEP_INITIALIZERS_AS_INPUTS;
    CHECK_OK(export_small(&m, &o));
    CHECK_INT(4, cq_onnx_model_n_initializers(m));
    CHECK_INT(5, n_inputs(m));
    cq_onnx_model_free(m);
    o.opset = 8;
    o.flags = CQ_EXPORT_NO_INITIALIZERS_AS_INPUTS;
    cq_set_warning_handler(hear, &heard);
    CHECK_OK(export_small(&m, &o));
    cq_set_warning_handler(NULL, NULL);
    CHECK_INT(1, heard.n);
    CHECK_INT(1 + cq_onnx_model_n_initializers(m), n_inputs(m));
    cq_onnx_model_free(m);
}

TEST(export, without_params_weights_are_inputs_only)
{
    cq_export_options o = options_of(17);
    cq_onnx_model    *m = NULL;

    o.flags = CQ_EXPORT_NO_PARAMS;
    CHECK_OK(export_small(&m, &o));
    CHECK_INT(0, cq_onnx_model_n_initializers(m));
    CHECK_STR("features.0.weight.BatchNormalization", name_of(m, CQ_ONNX_INPUTS, 1));
    CHECK_INT(5, n_inputs(m));
    cq_onnx_model_free(m);
}

struct tied {
    cq_module *a;
    cq_tensor *again;
};

static cq_tensor *tied_forward(cq_ctx *cx, void *self, cq_tensor *x)
{
    struct tied *m = self;

    return cq_linear(cx, cq_call(cx, m->a, x), m->again, NULL);
}

TEST(export, tied_weights_are_one_initializer)
{
    static const cq_class cls   = { CQ_SIZED(cq_class), .name = "Tied",
                                    .self_size = sizeof(struct tied), .forward = tied_forward };
    cq_module            *net   = cq_module_new(&cls);
    struct tied          *m     = cq_module_self(net);
    cq_onnx_model        *model = NULL;

    m->a = cq_module_add(net, "a", cq_linear_new(4, 4, false));
    m->again =
        cq_module_add_parameter(net, "again", cq_tensor_retain(cq_module_find(net, "a.weight")));
    CHECK_OK(export_net(&model, net, NULL));
    CHECK_INT(1, cq_onnx_model_n_initializers(model));
    CHECK_STR("again.Transpose", model->graph->initializer.items[0]->name);
    cq_onnx_model_free(model);
    cq_module_free(net);
}

/* ---- folding ---- */

TEST(export, batch_norm_is_folded_into_the_convolution_before_it)
{
    cq_export_options o = options_of(17);
    cq_onnx_model    *m = NULL;

    CHECK_OK(export_small(&m, &o));
    CHECK_OPS("Conv Relu Flatten Gemm", m);
    cq_onnx_model_free(m);
    o.flags = CQ_EXPORT_NO_CONSTANT_FOLDING;
    CHECK_OK(export_small(&m, &o));
    CHECK_OPS("Conv BatchNormalization Relu Flatten Gemm", m);
    cq_onnx_model_free(m);
    o          = options_of(17);
    o.training = CQ_TRAINING_TRAIN;
    CHECK_OK(export_small(&m, &o));
    CHECK_OPS("Conv BatchNormalization Relu Flatten Gemm", m);
    CHECK_INT(3, m->graph->node.items[1]->output.n);
    cq_onnx_model_free(m);
}

TEST(export, exporting_restores_the_modes_of_the_modules)
{
    cq_module     *net = small_net_new();
    cq_onnx_model *m   = NULL;

    cq_module_train(cq_module_child(net, "features.1"), false);
    CHECK_OK(export_net(&m, net, NULL));
    CHECK(cq_module_is_training(net));
    CHECK(cq_module_is_training(cq_module_child(net, "features.0")));
    CHECK(!cq_module_is_training(cq_module_child(net, "features.1")));
    cq_onnx_model_free(m);
    cq_module_free(net);
}

TEST(export, preserved_modes_are_those_of_each_module)
{
    cq_export_options o   = options_of(17);
    cq_module        *net = small_net_new();
    cq_onnx_model    *m   = NULL;

    o.training = CQ_TRAINING_PRESERVE;
    CHECK_OK(export_net(&m, net, &o));
    CHECK_INT(3, m->graph->node.items[1]->output.n);
    cq_onnx_model_free(m);
    cq_module_train(cq_module_child(net, "features.1"), false);
    CHECK_OK(export_net(&m, net, &o));
    CHECK_INT(1, m->graph->node.items[1]->output.n);
    cq_onnx_model_free(m);
    cq_module_free(net);
}

/* ---- versions ---- */

TEST(export, the_ir_version_is_that_of_the_opset)
{
    static const int want[] = {
        [7] = 3,   [8] = 3,   [9] = 4,   [10] = 5,  [11] = 6,  [12] = 7, [13] = 7,  [14] = 7,
        [15] = 8,  [16] = 8,  [17] = 8,  [18] = 8,  [19] = 9,  [20] = 9, [21] = 10, [22] = 10,
        [23] = 11, [24] = 12, [25] = 13, [26] = 13, [27] = 13, [28] = 13
    };

    for (int opset = CQ_OPSET_OLDEST; opset <= CQ_OPSET_NEWEST; opset++) {
        cq_export_options o = options_of(opset);
        cq_onnx_model    *m = NULL;

        CHECK_OK(export_small(&m, &o));
        CHECK_INT(want[opset], cq_onnx_model_ir_version(m));
        CHECK_INT(opset, cq_onnx_model_opset(m, ""));
        cq_onnx_model_free(m);
    }
}

TEST(export, opsets_that_are_not_supported_are_refused)
{
    cq_export_options o = options_of(6);
    cq_onnx_model    *m = NULL;

    CHECK_STATUS(CQ_E_ARGUMENT, export_small(&m, &o));
    CHECK_STR("opset 6 is not supported; expected 7 to 28", cq_last_error()->message);
    o.opset = CQ_OPSET_NEWEST + 1;
    CHECK_STATUS(CQ_E_ARGUMENT, export_small(&m, &o));
}

TEST(export, unused_custom_opsets_are_omitted_with_a_warning)
{
    const cq_custom_opset unused[] = { { "com.example", 3 } }, onnx[] = { { "ai.onnx", 9 } };
    cq_export_options     o     = options_of(17);
    struct heard          heard = { 0 };
    cq_onnx_model        *m     = NULL;

    o.custom_opsets   = unused;
    o.n_custom_opsets = 1;
    cq_set_warning_handler(hear, &heard);
    CHECK_OK(export_small(&m, &o));
    cq_set_warning_handler(NULL, NULL);
    CHECK_INT(1, heard.n);
    CHECK_STR("the custom opset domain \"com.example\" is not used in the model and was left out",
              heard.message);
    CHECK_INT(0, cq_onnx_model_opset(m, "com.example"));
    cq_onnx_model_free(m);
    o.custom_opsets = onnx;
    CHECK_STATUS(CQ_E_ARGUMENT, export_small(&m, &o));
}

/* ---- operators that cannot be exported ---- */

enum { TOO_OLD = 8 }; /* for these two */

static cq_tensor *missing_forward(cq_ctx *cx, void *self, cq_tensor *x)
{
    (void)self;
    x = cq_op_tensor(cx, "aten::lgamma", (cq_val[]){ cq_val_of_tensor(x) }, 1);
    x = cq_relu(cx, cq_op_tensor(cx, "aten::digamma", (cq_val[]){ cq_val_of_tensor(x) }, 1));
    return cq_op_tensor(cx, "aten::lgamma", (cq_val[]){ cq_val_of_tensor(x) }, 1);
}

static const cq_class missing_class = { CQ_SIZED(cq_class), .name = "Missing",
                                        .forward = missing_forward };

TEST(export, all_missing_operators_are_reported_at_once)
{
    cq_module        *net = bare_net_new(&missing_class);
    cq_export_options o   = options_of(TOO_OLD);
    cq_onnx_model    *m   = NULL;

    CHECK_STATUS(CQ_E_UNSUPPORTED, export_net(&m, net, &o));
    CHECK(m == NULL);
    CHECK(strstr(cq_last_error()->message, "2 operators cannot be exported to opset 8:"));
    CHECK(strstr(cq_last_error()->message, "aten::lgamma (2 times)"));
    CHECK(strstr(cq_last_error()->message, "aten::digamma (1 time)"));
    CHECK(strstr(cq_last_error()->hint, "--symbolics"));
    cq_module_free(net);
}

TEST(export, missing_operators_may_stay_as_they_are)
{
    cq_module        *net = bare_net_new(&missing_class);
    cq_export_options o   = options_of(TOO_OLD);
    cq_onnx_model    *m   = NULL;

    o.operators = CQ_OPERATORS_ATEN_FALLBACK;
    CHECK_OK(export_net(&m, net, &o));
    CHECK_OPS("ATen ATen Relu ATen", m);
    CHECK_INT(1, cq_onnx_model_opset(m, "org.pytorch.aten"));
    CHECK_STR("org.pytorch.aten", m->graph->node.items[0]->domain);
    CHECK_STR("operator", m->graph->node.items[0]->attribute.items[0]->name);
    cq_onnx_model_free(m);
    o.operators = CQ_OPERATORS_ONNX_FALLTHROUGH;
    CHECK_OK(export_net(&m, net, &o));
    CHECK_OPS("lgamma digamma Relu lgamma", m);
    cq_onnx_model_free(m);
    o.operators = CQ_OPERATORS_ONNX_ATEN;
    CHECK_OK(export_net(&m, net, &o));
    CHECK_OPS("ATen ATen ATen ATen", m);
    cq_onnx_model_free(m);
    cq_module_free(net);
}

/* ---- numbers that are read ---- */

static cq_tensor *reading_forward(cq_ctx *cx, void *self, cq_tensor *x)
{
    (void)self;
    for (int64_t i = 0; i < 3; i++)
        x = cq_add_scalar(cx, x, (double)cq_int_value(cx, cq_size(cx, x, 0)));
    return cq_mul_scalar(cx, x, cq_item(cx, cq_sum(cx, x, 0, NULL, false)));
}

TEST(export, reading_a_number_warns_once_with_its_location)
{
    static const cq_class cls    = { CQ_SIZED(cq_class), .name = "Reading",
                                     .forward = reading_forward };
    const cq_dynamic_axis axes[] = { { "input_0", 0, "batch" } };
    cq_export_options     o      = options_of(17);
    struct heard          heard  = { 0 };
    cq_module            *net    = cq_sequential_of(1, (cq_module *[]){ cq_module_new(&cls) });
    cq_onnx_model        *m      = NULL;

    o.dynamic_axes   = axes;
    o.n_dynamic_axes = 1;
    cq_set_warning_handler(hear, &heard);
    CHECK_OK(export_net(&m, net, &o));
    cq_set_warning_handler(NULL, NULL);
    CHECK_INT(2, heard.n); /* of the size, and of the sum */
    CHECK(strstr(heard.where, "0 (Reading)"));
    cq_onnx_model_free(m);
    cq_module_free(net);
}

/* ---- files ---- */

TEST(export, the_same_model_gives_the_same_bytes)
{
    const cq_dynamic_axis axes[] = { { "input_0", 0, "batch" } };
    cq_export_options     o      = options_of(17);
    cq_module            *net    = small_net_new();
    void                 *data[2];
    size_t                size[2];

    o.dynamic_axes   = axes;
    o.n_dynamic_axes = 1;
    for (int i = 0; i < 2; i++) {
        cq_onnx_model *m = NULL;

        CHECK_OK(export_net(&m, net, &o));
        CHECK_OK(cq_onnx_model_encode(&data[i], &size[i], m));
        cq_onnx_model_free(m);
    }
    CHECK_INT(size[0], size[1]);
    CHECK(memcmp(data[0], data[1], size[0]) == 0);
    cq_buffer_free(data[0]);
    cq_buffer_free(data[1]);
    cq_module_free(net);
}

TEST(export, a_failure_leaves_no_file_and_keeps_an_old_one)
{
    cq_module        *net = bare_net_new(&missing_class), *good = small_net_new();
    cq_tensor        *x = small_net_input();
    cq_export_options o = options_of(TOO_OLD);
    char              path[64];

    snprintf(path, sizeof path, "/tmp/calque-export-%ld", (long)getpid());
    CHECK_STATUS(CQ_E_UNSUPPORTED, cq_module_export_file(path, net, &x, 1, &o));
    CHECK(access(path, F_OK) != 0);
    CHECK_OK(cq_file_write(path, "old", 3));
    CHECK_STATUS(CQ_E_UNSUPPORTED, cq_module_export_file(path, net, &x, 1, &o));
    CHECK(access(path, F_OK) == 0);
    CHECK_OK(cq_module_export_file(path, good, &x, 1, NULL));
    remove(path);
    cq_tensor_release(x);
    cq_module_free(net);
    cq_module_free(good);
}

/* ---- wrong use ---- */

TEST(export, inputs_that_do_not_fit_are_refused)
{
    cq_module     *net = small_net_new();
    cq_tensor     *x   = NULL;
    cq_onnx_model *m   = NULL;

    CHECK_OK(cq_tensor_new(&x, CQ_DTYPE_F32, 2, (int64_t[]){ 2, 3 }, NULL));
    CHECK_STATUS(CQ_E_TYPE, cq_module_export(&m, net, &x, 1, NULL));
    CHECK(m == NULL);
    CHECK_STATUS(CQ_E_ARGUMENT, cq_module_export(&m, net, NULL, 0, NULL));
    cq_tensor_release(x);
    cq_module_free(net);
}

static void nothing_forward(cq_ctx *cx, void *self, cq_tensor *const *in, size_t n_in,
                            cq_tensor **out, size_t n_out)
{
    (void)cx;
    (void)self;
    (void)in;
    (void)n_in;
    (void)out;
    (void)n_out;
}

TEST(export, a_model_without_outputs_is_refused)
{
    static const cq_class cls = { CQ_SIZED(cq_class), .name = "Nothing",
                                  .forward_n = nothing_forward };
    cq_module            *net = bare_net_new(&cls);
    cq_onnx_model        *m   = NULL;

    CHECK_STATUS(CQ_E_UNSUPPORTED, export_net(&m, net, NULL));
    CHECK_STR("the model returns no tensor", cq_last_error()->message);
    cq_module_free(net);
}

/* ---- out of memory ---- */

/* Every allocation of building, exporting and encoding fails once. */
TEST(export, running_out_of_memory_anywhere_is_an_error_and_leaks_nothing)
{
    const cq_dynamic_axis axes[] = { { "input_0", 0, "batch" } };
    cq_export_options     o      = options_of(17);
    cq_tensor            *x      = small_net_input();
    cq_onnx_model        *m      = NULL;
    long                  n = 0, left = 0;

    o.dynamic_axes   = axes;
    o.n_dynamic_axes = 1;
    CHECK_OK(export_small(&m, &o)); /* the tables of operators are made by now */
    cq_onnx_model_free(m);
    m = NULL;
    for (; left == 0; n++) {
        cq_module *net;
        void      *data = NULL;
        size_t     size;
        cq_status  status;

        cq_alloc_fail_at(n + 1);
        net    = small_net_new();
        status = cq_module_status(net);
        if (status == CQ_OK)
            status = cq_module_export(&m, net, &x, 1, &o);
        if (status == CQ_OK)
            status = cq_onnx_model_encode(&data, &size, m);
        left = cq_alloc_fail_at(0);
        CHECK_INT(left ? CQ_OK : CQ_E_NO_MEMORY, status);
        cq_buffer_free(data);
        cq_onnx_model_free(m);
        m = NULL;
        cq_module_free(net);
    }
    CHECK(n > 100);
    cq_tensor_release(x);
}

RUN_TESTS(TEST_OF(export, names_come_from_the_modules),
          TEST_OF(export, input_names_go_to_the_inputs_and_then_to_the_parameters_in_order),
          TEST_OF(export, too_many_names_are_refused_with_both_numbers),
          TEST_OF(export, a_name_cannot_be_given_twice),
          TEST_OF(export, a_value_returned_twice_and_an_input_returned_get_names_of_their_own),
          TEST_OF(export, names_of_its_own_making_keep_out_of_the_way_of_chosen_ones),
          TEST_OF(export, an_input_that_is_not_used_is_kept),
          TEST_OF(export, dynamic_axes_have_the_names_they_are_given),
          TEST_OF(export, dynamic_axes_without_a_name_get_one),
          TEST_OF(export, dynamic_axes_of_unknown_values_are_warned_about),
          TEST_OF(export,
                  dynamic_axes_out_of_range_are_warned_about_on_outputs_and_refused_on_inputs),
          TEST_OF(export, an_axis_that_cannot_be_dynamic_is_warned_about),
          TEST_OF(export, an_axis_that_cannot_be_dynamic_gets_a_generated_name),
          TEST_OF(export, weights_are_initializers_and_before_opset_9_inputs_too),
          TEST_OF(export, keep_initializers_as_inputs_and_not_so),
          TEST_OF(export, without_params_weights_are_inputs_only),
          TEST_OF(export, tied_weights_are_one_initializer),
          TEST_OF(export, batch_norm_is_folded_into_the_convolution_before_it),
          TEST_OF(export, exporting_restores_the_modes_of_the_modules),
          TEST_OF(export, preserved_modes_are_those_of_each_module),
          TEST_OF(export, the_ir_version_is_that_of_the_opset),
          TEST_OF(export, opsets_that_are_not_supported_are_refused),
          TEST_OF(export, unused_custom_opsets_are_omitted_with_a_warning),
          TEST_OF(export, all_missing_operators_are_reported_at_once),
          TEST_OF(export, missing_operators_may_stay_as_they_are),
          TEST_OF(export, reading_a_number_warns_once_with_its_location),
          TEST_OF(export, the_same_model_gives_the_same_bytes),
          TEST_OF(export, a_failure_leaves_no_file_and_keeps_an_old_one),
          TEST_OF(export, inputs_that_do_not_fit_are_refused),
          TEST_OF(export, a_model_without_outputs_is_refused),
          TEST_OF(export, running_out_of_memory_anywhere_is_an_error_and_leaks_nothing))
