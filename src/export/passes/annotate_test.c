/* Annotations, anchors and named outputs. The model and three of the listings are those of
 * pytorch-pfn-extras' documentation: the same nodes, order and attributes. */
#include "models.h"

#include "base/str.h"

#include <calque/session.h>
#include <stdio.h>

/* ---- the model of the documentation, in many forms ---- */

struct doc_net {
    cq_module *conv, *conv2, *linear, *linear2;
};

static const cq_sym_attr key[] = { { .name = "key", .kind = CQ_SYM_ATTR_STRING, .s = "value" } };

static cq_tensor *annotated_with(cq_ctx *cx, struct doc_net *m, cq_tensor *x, uint32_t flags)
{
    x = cq_call(cx, m->conv, x);
    cq_annotate_begin(cx, flags, key, 1);
    x = cq_call(cx, m->conv2, x);
    x = cq_relu(cx, x);
    x = cq_call(cx, m->linear, x);
    cq_annotate_end(cx);
    return cq_call(cx, m->linear2, x);
}

static cq_tensor *annotated(cq_ctx *cx, void *self, cq_tensor *x)
{
    return annotated_with(cx, self, x, 0);
}

static cq_tensor *annotated_all(cq_ctx *cx, void *self, cq_tensor *x)
{
    return annotated_with(cx, self, x, CQ_ANNOTATE_ALL);
}

static void middle(cq_ctx *cx, void *self, cq_tensor *const *in, size_t n_in, cq_tensor **out,
                   size_t n_out)
{
    struct doc_net *m = self;

    (void)n_in, (void)n_out;
    out[0] = cq_call(cx, m->linear, cq_relu(cx, cq_call(cx, m->conv2, in[0])));
}

static cq_tensor *applied_with(cq_ctx *cx, struct doc_net *m, cq_tensor *x, uint32_t flags)
{
    x = cq_call(cx, m->conv, x);
    cq_apply_annotation(cx, middle, m, &x, 1, &x, 1, flags, key, 1);
    return cq_call(cx, m->linear2, x);
}

static cq_tensor *applied(cq_ctx *cx, void *self, cq_tensor *x)
{
    return applied_with(cx, self, x, 0);
}

static cq_tensor *applied_all(cq_ctx *cx, void *self, cq_tensor *x)
{
    return applied_with(cx, self, x, CQ_ANNOTATE_ALL);
}

static cq_tensor *anchored(cq_ctx *cx, void *self, cq_tensor *x)
{
    struct doc_net *m = self;

    x = cq_call(cx, m->conv, x);
    cq_scoped_anchor_begin(cx, key, 1);
    x = cq_call(cx, m->conv2, x);
    x = cq_call(cx, m->linear, x);
    cq_scoped_anchor_end(cx);
    return cq_call(cx, m->linear2, x);
}

static cq_tensor *with_everything(cq_ctx *cx, void *self, cq_tensor *x)
{
    struct doc_net *m       = self;
    cq_sym_attr     attrs[] = {
            { .name = "i", .kind = CQ_SYM_ATTR_INT, .i = -3 },
            { .name = "f", .kind = CQ_SYM_ATTR_FLOAT, .f = 0.5 },
            { .name = "is", .kind = CQ_SYM_ATTR_INTS, .n = 2, .ints = (int64_t[]){ 1, 2 } },
            { .name = "fs", .kind = CQ_SYM_ATTR_FLOATS, .n = 2, .floats = (double[]){ 0.25, 4 } },
            { .name    = "ss",
              .kind    = CQ_SYM_ATTR_STRINGS,
              .n       = 2,
              .strings = (const char *[]){ "a", "b\"" } },
    };

    cq_annotate_begin(cx, 0, attrs, 5);
    x = cq_call(cx, m->conv, x);
    cq_annotate_end(cx);
    x = cq_call(cx, m->conv2, cq_anchor(cx, x, NULL, 0));
    return cq_call(cx, m->linear2, cq_call(cx, m->linear, cq_anchor(cx, x, key, 1)));
}

static cq_tensor *named(cq_ctx *cx, void *self, cq_tensor *x)
{
    struct doc_net *m = self;

    x = cq_as_output(cx, "hidden", cq_call(cx, m->conv2, cq_call(cx, m->conv, x)));
    return cq_call(cx, m->linear2, cq_relu(cx, cq_call(cx, m->linear, x)));
}

static cq_module *doc_net_new(cq_tensor *(*forward)(cq_ctx *, void *, cq_tensor *))
{
    static cq_class classes[16];
    static size_t   n;
    cq_module      *net;
    struct doc_net *m;

    classes[n % 16] = (cq_class){ CQ_SIZED(cq_class), .name = "Net",
                                  .self_size = sizeof(struct doc_net), .forward = forward };
    cq_manual_seed(1);
    net        = cq_module_new(&classes[n++ % 16]);
    m          = cq_module_self(net);
    m->conv    = cq_module_add(net, "conv",
                               cq_conv2d_new(&(cq_conv_spec){ CQ_SIZED(cq_conv_spec), .in = 6,
                                                              .out = 9, .kernel = { 3, 3 } }));
    m->conv2   = cq_module_add(net, "conv2",
                               cq_conv2d_new(&(cq_conv_spec){ CQ_SIZED(cq_conv_spec), .in = 9,
                                                              .out = 12, .kernel = { 3, 3 } }));
    m->linear  = cq_module_add(net, "linear", cq_linear_new(28, 20, true));
    m->linear2 = cq_module_add(net, "linear2", cq_linear_new(20, 15, true));
    CHECK_OK(cq_module_status(net));
    return net;
}

static cq_tensor *image(void)
{
    cq_tensor *t = NULL;

    CHECK_OK(cq_tensor_new(&t, CQ_DTYPE_F32, 4, (int64_t[]){ 1, 6, 32, 32 }, NULL));
    for (int i = 0; i < 6 * 32 * 32; i++)
        ((float *)cq_tensor_data(t))[i] = (float)(i % 17 - 8) / 8;
    return t;
}

static cq_status export_net_on(cq_onnx_model **out, cq_module *net, const cq_export_options *o)
{
    cq_tensor *x      = image();
    cq_status  status = cq_module_export(out, net, &x, 1, o);

    cq_tensor_release(x);
    return status;
}

/* The exported model; the weights live as long as the module, and are not used here. */
static cq_onnx_model *exported(cq_tensor *(*forward)(cq_ctx *, void *, cq_tensor *),
                               const cq_export_options *o)
{
    static struct heard heard;
    cq_module          *net   = doc_net_new(forward);
    cq_onnx_model      *model = NULL;

    cq_set_warning_handler(hear, &heard);
    CHECK_OK(export_net_on(&model, net, o));
    cq_set_warning_handler(NULL, NULL);
    cq_module_free(net);
    return model;
}

/* The lines of nodes in the listing of onnx.helper.printable_graph. */
static char *node_lines(const cq_onnx_model *model)
{
    char  *text, *from, *to;
    cq_str lines = { 0 };

    CHECK_OK(cq_onnx_model_print(&text, model));
    from = strstr(text, ") {\n") + 4;
    to   = strstr(from, "  return");
    cq_str_add_n(&lines, from, (size_t)(to - from));
    cq_buffer_free(text);
    return cq_str_take(&lines);
}

static void check_nodes(const char *want, cq_onnx_model *model)
{
    char *got = node_lines(model);

    CHECK_STR(want, got);
    cq_free(got);
    cq_onnx_model_free(model);
}

#define CONV "dilations = [1, 1], group = 1, kernel_shape = [3, 3], "
#define PADS "pads = [0, 0, 0, 0], strides = [1, 1]"
#define FIRST_CONV                                                                                 \
    "  %/conv/Conv_output_0 = Conv[" CONV PADS "](%input_0, %conv.weight, %conv.bias)\n"
#define SECOND_CONV(note, input)                                                                   \
    "  %/conv2/Conv_output_0 = Conv[" CONV note PADS "](%" input ", %conv2.weight, %conv2.bias)\n"
#define LAST_LINEAR(input)                                                                         \
    "  %/linear2/MatMul_output_0 = MatMul(%" input ", %linear2.weight.Transpose)\n"                \
    "  %output_0 = Add(%/linear2/MatMul_output_0, %linear2.bias)\n"

TEST(annotate, marks_the_first_node_of_each_module)
{
    check_nodes(
        FIRST_CONV SECOND_CONV(
            "key = 'value', ",
            "/conv/Conv_output_0") "  %/Relu_output_0 = Relu(%/conv2/Conv_output_0)\n"
                                   "  %/linear/MatMul_output_0 = MatMul[key = "
                                   "'value'](%/Relu_output_0, %linear.weight.Transpose)\n"
                                   "  %/linear/Add_output_0 = Add(%/linear/MatMul_output_0, "
                                   "%linear.bias)\n" LAST_LINEAR("/linear/Add_output_0"),
        exported(annotated, NULL));
}

TEST(annotate, can_mark_every_node_of_a_module)
{
    check_nodes(
        FIRST_CONV SECOND_CONV(
            "key = 'value', ",
            "/conv/Conv_output_0") "  %/Relu_output_0 = Relu(%/conv2/Conv_output_0)\n"
                                   "  %/linear/MatMul_output_0 = MatMul[key = "
                                   "'value'](%/Relu_output_0, %linear.weight.Transpose)\n"
                                   "  %/linear/Add_output_0 = Add[key = "
                                   "'value'](%/linear/MatMul_output_0, %linear.bias)\n" LAST_LINEAR(
                                       "/linear/Add_output_0"),
        exported(annotated_all, NULL));
}

TEST(annotate, apply_marks_every_operator_of_the_function)
{
    check_nodes(
        FIRST_CONV SECOND_CONV(
            "key = 'value', ",
            "/conv/Conv_output_0") "  %/Relu_output_0 = Relu[key = "
                                   "'value'](%/conv2/Conv_output_0)\n"
                                   "  %/linear/MatMul_output_0 = MatMul[key = "
                                   "'value'](%/Relu_output_0, %linear.weight.Transpose)\n"
                                   "  %/linear/Add_output_0 = Add(%/linear/MatMul_output_0, "
                                   "%linear.bias)\n" LAST_LINEAR("/linear/Add_output_0"),
        exported(applied, NULL));
    check_nodes(
        FIRST_CONV SECOND_CONV(
            "key = 'value', ",
            "/conv/Conv_output_0") "  %/Relu_output_0 = Relu[key = "
                                   "'value'](%/conv2/Conv_output_0)\n"
                                   "  %/linear/MatMul_output_0 = MatMul[key = "
                                   "'value'](%/Relu_output_0, %linear.weight.Transpose)\n"
                                   "  %/linear/Add_output_0 = Add[key = "
                                   "'value'](%/linear/MatMul_output_0, %linear.bias)\n" LAST_LINEAR(
                                       "/linear/Add_output_0"),
        exported(applied_all, NULL));
}

#define ANCHORED                                                                                   \
    "  %Anchor_0_start_output_0 = Identity[key = 'value'](%/conv/Conv_output_0)\n" SECOND_CONV(    \
        "", "Anchor_0_start_output_0") "  %/linear/MatMul_output_0 = "                             \
                                       "MatMul(%/conv2/Conv_output_0, %linear.weight.Transpose)\n" \
                                       "  %/linear/Add_output_0 = Add(%/linear/MatMul_output_0, "  \
                                       "%linear.bias)\n"                                           \
                                       "  %Anchor_0_end_output_0 = Identity[key = "                \
                                       "'value'](%/linear/Add_output_0)\n"

TEST(anchor, anchors_surround_the_modules_of_a_scope)
{
    cq_onnx_model *model = exported(anchored, NULL);

    CHECK_STR("Anchor_0_start", model->graph->node.items[1]->name);
    CHECK_STR("Anchor_0_end", model->graph->node.items[5]->name);
    check_nodes(FIRST_CONV ANCHORED LAST_LINEAR("Anchor_0_end_output_0"), model);
}

/* "Conv[i, f] Identity(Anchor) …": nodes with the names of their annotations, and anchors. */
static const char *annotations_of(const cq_onnx_model *model)
{
    static char out[1024];
    cq_str      s = { 0 };

    for (size_t i = 0; i < model->graph->node.n; i++) {
        const cq_onnx_node *n = model->graph->node.items[i];

        cq_str_printf(&s, i ? " %s" : "%s", n->op_type);
        if (strncmp(n->name, "Anchor", 6) == 0)
            cq_str_printf(&s, "(%s)", n->name);
        for (size_t k = 0; k < n->metadata_props.n; k++)
            cq_str_printf(&s, "[%s=%s]", n->metadata_props.items[k]->key,
                          n->metadata_props.items[k]->value);
    }
    snprintf(out, sizeof out, "%s", cq_str_text(&s));
    cq_str_clear(&s);
    return out;
}

static cq_export_options metadata_options(void)
{
    cq_export_options o = options_of(17);

    o.annotations = CQ_ANNOTATIONS_METADATA;
    return o;
}

#define CHECK_ANNOTATIONS(want, model)                                                             \
    do {                                                                                           \
        cq_onnx_model *model_ = (model);                                                           \
        CHECK_STR(want, annotations_of(model_));                                                   \
        cq_onnx_model_free(model_);                                                                \
    } while (0)

TEST(annotate, values_are_texts_numbers_and_lists)
{
    cq_onnx_model *model = exported(with_everything, NULL);
    char          *lines = node_lines(model);

    CHECK(strstr(lines, "Conv[dilations = [1, 1], f = 0.5, fs = [0.25, 4], group = 1, i = -3, "
                        "is = [1, 2], kernel_shape") != NULL);
    CHECK(strstr(lines, "ss = ['a', 'b\"']") != NULL);
    CHECK(strstr(lines, "%Anchor_output_0 = Identity(%/conv/Conv_output_0)") != NULL);
    CHECK(strstr(lines, "Identity[key = 'value'](%/conv2/Conv_output_0)") != NULL);
    cq_free(lines);
    cq_onnx_model_free(model);
}

TEST(annotate, can_be_valid_metadata)
{
    cq_export_options o     = metadata_options();
    cq_onnx_model    *model = exported(with_everything, &o);
    cq_onnx_findings *found = NULL;

    CHECK_OK(cq_onnx_model_check(&found, model));
    CHECK_INT(0, cq_onnx_findings_count(found));
    cq_onnx_findings_free(found);
    CHECK_INT(6, model->metadata_props.n);
    CHECK_STR("/conv/Conv:i", model->metadata_props.items[0]->key);
    CHECK_STR("Anchor_1:key", model->metadata_props.items[5]->key);
    CHECK_ANNOTATIONS("Conv[i=-3][f=0.5][is=[1, 2]][fs=[0.25, 4.0]][ss=[\"a\", \"b\\\"\"]] "
                      "Identity(Anchor) Conv Identity(Anchor_1)[key=value] MatMul Add MatMul Add",
                      model);
}

TEST(annotate, attributes_are_not_valid_onnx_and_a_warning_says_so)
{
    cq_module        *net   = doc_net_new(annotated);
    cq_onnx_model    *model = NULL;
    cq_onnx_findings *found = NULL;
    struct heard      heard = { 0 };

    cq_set_warning_handler(hear, &heard);
    CHECK_OK(export_net_on(&model, net, NULL));
    cq_set_warning_handler(NULL, NULL);
    CHECK_INT(1, heard.n);
    CHECK(strstr(heard.message, "--annotations metadata") != NULL);
    CHECK_OK(cq_onnx_model_check(&found, model));
    CHECK_INT(2, cq_onnx_findings_count(found));
    cq_onnx_findings_free(found);
    cq_onnx_model_free(model);
    cq_module_free(net);
}

/* ---- modules in modules ---- */

static cq_tensor *inner_forward(cq_ctx *cx, void *self, cq_tensor *x)
{
    struct small_net *m    = self;
    cq_sym_attr       deep = { .name = "deep", .kind = CQ_SYM_ATTR_INT, .i = 1 };

    cq_annotate_begin(cx, 0, &deep, 1);
    x = cq_call(cx, m->features, x);
    cq_annotate_end(cx);
    return cq_call(cx, m->fc, cq_flatten(cx, x, 1, -1));
}

static cq_tensor *outer_forward(cq_ctx *cx, void *self, cq_tensor *x)
{
    cq_module **inner  = self;
    cq_sym_attr both[] = { { .name = "key", .kind = CQ_SYM_ATTR_STRING, .s = "outer" },
                           { .name = "deep", .kind = CQ_SYM_ATTR_INT, .i = 0 } };

    cq_annotate_begin(cx, 0, both, 2);
    x = cq_call(cx, *inner, x);
    cq_annotate_end(cx);
    return x;
}

/* Conv2d without bias, BatchNorm2d, ReLU in a Sequential; a Linear. All in a module of a module. */
static cq_module *nested_net_new(void)
{
    static const cq_class inner = { CQ_SIZED(cq_class), .name = "Inner",
                                    .self_size = sizeof(struct small_net),
                                    .forward   = inner_forward };
    static const cq_class outer = { CQ_SIZED(cq_class), .name = "Outer",
                                    .self_size = sizeof(cq_module *), .forward = outer_forward };
    cq_module            *net   = cq_module_new(&outer);
    cq_module           **self  = cq_module_self(net);
    struct small_net     *m;

    *self       = cq_module_add(net, "inner", cq_module_new(&inner));
    m           = cq_module_self(*self);
    m->features = cq_module_add(
        *self, "features",
        cq_sequential_of(3, (cq_module *[]){ cq_conv2d_new(&(cq_conv_spec){
                                                 CQ_SIZED(cq_conv_spec), .in = 2, .out = 3,
                                                 .kernel = { 3, 3 }, .no_bias = true }),
                                             cq_batch_norm2d_new(3), cq_relu_inplace_new() }));
    m->fc = cq_module_add(*self, "fc", cq_linear_new(12, 5, true));
    CHECK_OK(cq_module_status(net));
    return net;
}

static cq_status export_nested_net(cq_onnx_model **out, const cq_export_options *o)
{
    cq_module *net    = nested_net_new();
    cq_status  status = export_net(out, net, o);

    cq_module_free(net);
    return status;
}

TEST(annotate, works_in_nested_modules_and_the_innermost_value_counts)
{
    cq_export_options o = metadata_options();
    cq_onnx_model    *model;

    CHECK_OK(export_nested_net(&model, &o));
    CHECK_ANNOTATIONS("Conv[key=outer][deep=1] Relu Flatten Gemm", model);
    o.training = CQ_TRAINING_TRAIN; /* BatchNormalization stays */
    CHECK_OK(export_nested_net(&model, &o));
    CHECK_ANNOTATIONS("Conv[key=outer][deep=1] BatchNormalization Relu Flatten Gemm", model);
}

#define MARK(kind_, path_)                                                                         \
    {                                                                                              \
        CQ_SIZED(cq_module_mark), .kind = CQ_MARK_##kind_, .path = path_, .attrs = key,            \
                                  .n_attrs = 1                                                     \
    }

TEST(annotate, a_node_keeps_the_annotations_of_absorbed_nodes)
{
    cq_export_options    o    = metadata_options();
    const cq_module_mark norm = MARK(ANNOTATE, "features.1");
    cq_onnx_model       *model;

    o.marks   = &norm;
    o.n_marks = 1;
    CHECK_OK(export_small(&model, &o));
    CHECK_ANNOTATIONS("Conv[key=value] Relu Flatten Gemm", model);
    o.flags = CQ_EXPORT_NO_CONSTANT_FOLDING;
    CHECK_OK(export_small(&model, &o));
    CHECK_ANNOTATIONS("Conv BatchNormalization[key=value] Relu Flatten Gemm", model);
}

TEST(annotate, differently_annotated_modules_are_different_functions)
{
    cq_export_options    o    = metadata_options();
    const cq_module_mark norm = MARK(ANNOTATE, "features.2");
    cq_onnx_model       *model;

    o.flags   = CQ_EXPORT_ALL_MODULES_AS_FUNCTIONS;
    o.marks   = &norm;
    o.n_marks = 1;
    CHECK_OK(export_small(&model, &o));
    CHECK_INT(1, model->metadata_props.n);
    cq_onnx_model_free(model);
}

/* ---- by path ---- */

TEST(marks, go_around_each_call_of_the_module)
{
    cq_export_options    o       = metadata_options();
    const cq_module_mark marks[] = { MARK(ANCHOR, "features"), MARK(ANNOTATE, "features.2"),
                                     MARK(ANCHOR, "fc") };
    cq_onnx_model       *model;

    o.marks   = marks;
    o.n_marks = 3;
    CHECK_OK(export_small(&model, &o));
    CHECK_ANNOTATIONS("Identity(Anchor_0_start)[key=value] Conv Relu[key=value] "
                      "Identity(Anchor_0_end)[key=value] Flatten "
                      "Identity(Anchor_2_start)[key=value] Gemm Identity(Anchor_2_end)[key=value]",
                      model);
}

TEST(marks, marks_of_unknown_modules_suggest_similar_paths)
{
    cq_export_options    o     = metadata_options();
    const cq_module_mark wrong = MARK(ANNOTATE, "feature.2");
    cq_onnx_model       *model;

    o.marks   = &wrong;
    o.n_marks = 1;
    CHECK_STATUS(CQ_E_ARGUMENT, export_small(&model, &o));
    CHECK_STR("no module \"feature.2\" to annotate: no module with that path was called",
              cq_last_error()->message);
    CHECK_STR("did you mean features.2, features or features.0?", cq_last_error()->hint);
}

/* ---- calls with other than one input and one output ---- */

static void odd_forward(cq_ctx *cx, void *self, cq_tensor *const *in, size_t n_in, cq_tensor **out,
                        size_t n_out)
{
    (void)self, (void)n_in, (void)n_out;
    out[1] = cq_relu(cx, in[1]); /* out[0] and in[0] are not used */
    out[2] = cq_neg(cx, in[1]);
}

static const cq_class odd_class = { CQ_SIZED(cq_class), .name = "Odd", .forward_n = odd_forward,
                                    .n_out = 3 };

static cq_tensor *odd_model_forward(cq_ctx *cx, void *self, cq_tensor *x)
{
    cq_module **odd = self;
    cq_tensor  *out[3];

    cq_scoped_anchor_begin(cx, NULL, 0);
    cq_call_n(cx, *odd, (cq_tensor *[]){ cq_exp(cx, x), x }, 2, out, 3);
    cq_scoped_anchor_end(cx);
    return cq_add(cx, out[2], x); /* out[1] is not used */
}

/* A model of one module, whose forward is given. */
static cq_onnx_model *export_around(cq_tensor *(*forward)(cq_ctx *, void *, cq_tensor *),
                                    cq_module *inner)
{
    const cq_class cls   = { CQ_SIZED(cq_class), .name = "Model", .self_size = sizeof(cq_module *),
                             .forward = forward };
    cq_module     *net   = bare_net_new(&cls);
    cq_onnx_model *model = NULL;

    *(cq_module **)cq_module_self(net) = cq_module_add(net, "inner", inner);
    CHECK_OK(export_net(&model, net, NULL));
    cq_module_free(net);
    return model;
}

TEST(anchor, an_anchor_is_at_the_first_tensor_even_if_unused)
{
    cq_onnx_model *model = export_around(odd_model_forward, cq_module_new(&odd_class));

    CHECK_STR(model->graph->node.items[2]->output.items[0],
              model->graph->node.items[4]->input.items[0]);
    CHECK_ANNOTATIONS("Exp Identity(Anchor_0_start) Relu Neg Identity(Anchor_0_end) Add", model);
}

/* An in-place module after an anchor changes the tensor that others see. */
static cq_tensor *in_place_forward(cq_ctx *cx, void *self, cq_tensor *x)
{
    cq_module **relu = self;
    cq_tensor  *y    = cq_neg(cx, x);

    cq_scoped_anchor_begin(cx, NULL, 0);
    cq_call(cx, *relu, y);
    cq_scoped_anchor_end(cx);
    return cq_exp(cx, y);
}

TEST(anchor, in_place_changes_stay_visible)
{
    cq_onnx_model *model = export_around(in_place_forward, cq_relu_inplace_new());

    CHECK_STR(model->graph->node.items[2]->output.items[0],
              model->graph->node.items[4]->input.items[0]);
    CHECK_ANNOTATIONS("Neg Identity(Anchor_0_start) Relu Identity(Anchor_0_end) Exp", model);
}

static cq_tensor *unended_forward(cq_ctx *cx, void *self, cq_tensor *x)
{
    (void)self;
    cq_annotate_begin(cx, 0, key, 1);
    return cq_relu(cx, x);
}

static cq_tensor *unbegun_forward(cq_ctx *cx, void *self, cq_tensor *x)
{
    (void)self;
    cq_scoped_anchor_end(cx);
    return cq_relu(cx, x);
}

TEST(annotate, scopes_must_begin_and_end_in_one_forward)
{
    static const cq_class unended = { CQ_SIZED(cq_class), .name = "Net",
                                      .forward = unended_forward };
    static const cq_class unbegun = { CQ_SIZED(cq_class), .name = "Net",
                                      .forward = unbegun_forward };
    cq_module            *net     = bare_net_new(&unended);
    cq_onnx_model        *model;

    CHECK_STATUS(CQ_E_ARGUMENT, export_net(&model, net, NULL));
    CHECK_STR("an annotation or anchor was begun but not ended", cq_last_error()->message);
    cq_module_free(net);
    net = bare_net_new(&unbegun);
    CHECK_STATUS(CQ_E_ARGUMENT, export_net(&model, net, NULL));
    cq_module_free(net);
}

TEST(as_output, comes_after_the_outputs_of_the_model)
{
    cq_export_options    o    = options_of(17);
    const cq_module_mark mark = { CQ_SIZED(cq_module_mark), .kind = CQ_MARK_OUTPUT,
                                  .path = "linear", .name = "after" };
    const char          *name = "y";
    cq_onnx_model       *model;

    o.output_names   = &name;
    o.n_output_names = 1;
    o.marks          = &mark;
    o.n_marks        = 1;
    model            = exported(named, &o);
    CHECK_INT(3, model->graph->output.n);
    CHECK_STR("y", model->graph->output.items[0]->name);
    CHECK_STR("hidden", model->graph->output.items[1]->name);
    CHECK_STR("after", model->graph->output.items[2]->name);
    CHECK_ANNOTATIONS("Conv Conv MatMul Add Relu MatMul Add", model);
}

RUN_TESTS(TEST_OF(annotate, marks_the_first_node_of_each_module),
          TEST_OF(annotate, can_mark_every_node_of_a_module),
          TEST_OF(annotate, apply_marks_every_operator_of_the_function),
          TEST_OF(anchor, anchors_surround_the_modules_of_a_scope),
          TEST_OF(annotate, values_are_texts_numbers_and_lists),
          TEST_OF(annotate, can_be_valid_metadata),
          TEST_OF(annotate, attributes_are_not_valid_onnx_and_a_warning_says_so),
          TEST_OF(annotate, works_in_nested_modules_and_the_innermost_value_counts),
          TEST_OF(annotate, a_node_keeps_the_annotations_of_absorbed_nodes),
          TEST_OF(annotate, differently_annotated_modules_are_different_functions),
          TEST_OF(marks, go_around_each_call_of_the_module),
          TEST_OF(marks, marks_of_unknown_modules_suggest_similar_paths),
          TEST_OF(anchor, an_anchor_is_at_the_first_tensor_even_if_unused),
          TEST_OF(anchor, in_place_changes_stay_visible),
          TEST_OF(annotate, scopes_must_begin_and_end_in_one_forward),
          TEST_OF(as_output, comes_after_the_outputs_of_the_model))
