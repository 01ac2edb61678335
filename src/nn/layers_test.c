/* Constructors of layers: invalid arguments. The rules are those of torch.nn, whose layers reject
 * them in the constructor or in the first run. tests/peer/modules.py compares results. */
#include "models.h"

#include <calque/layers.h>

#include <math.h>

#define CONV(...) (&(cq_conv_spec){ CQ_SIZED(cq_conv_spec), __VA_ARGS__ })
#define RNN(...)  (&(cq_rnn_spec){ CQ_SIZED(cq_rnn_spec), __VA_ARGS__ })
#define INTS(...) ((const int64_t[]){ __VA_ARGS__ })

/* An invalid layer, and the end of the error message. */
static void refused(cq_module *m, const char *layer, const char *message)
{
    CHECK(m == NULL);
    CHECK_STATUS(CQ_E_ARGUMENT, cq_last_error()->status);
    CHECK_STR(layer, cq_last_error()->where);
    CHECK_STR(message, cq_last_error()->message);
    cq_module_free(m);
}

static void made(cq_module *m)
{
    CHECK_OK(cq_module_status(m));
    cq_module_free(m);
}

TEST(layers, a_convolution_without_a_kernel_is_refused)
{
    typedef cq_module *(*maker)(const cq_conv_spec *);
    const maker       makers[] = { cq_conv1d_new,           cq_conv2d_new,
                                   cq_conv3d_new,           cq_conv_transpose1d_new,
                                   cq_conv_transpose2d_new, cq_conv_transpose3d_new };
    const char *const names[]  = { "Conv1d",          "Conv2d",          "Conv3d",
                                   "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d" };

    for (size_t i = 0; i < 6; i++) {
        refused(makers[i](CONV(.in = 3, .out = 8)), names[i],
                "expected kernel[0] from 1 to 2147483647, got 0");
        made(makers[i](CONV(.in = 2, .out = 2, .kernel = { 1, 1, 1 })));
    }
    refused(cq_conv2d_new(CONV(.in = 3, .out = 8, .kernel = { 3 })), "Conv2d",
            "expected kernel[1] from 1 to 2147483647, got 0");
}

TEST(layers, convolutions_check_every_field)
{
    refused(cq_conv2d_new(CONV(.out = 8, .kernel = { 3, 3 })), "Conv2d",
            "expected in of at least 1, got 0");
    refused(cq_conv2d_new(CONV(.in = 8, .out = -1, .kernel = { 3, 3 })), "Conv2d",
            "expected out of at least 1, got -1");
    refused(cq_conv1d_new(CONV(.in = 8, .out = 8, .kernel = { 3 }, .stride = { -1 })), "Conv1d",
            "expected stride[0] from 1 to 2147483647, got -1");
    refused(cq_conv1d_new(CONV(.in = 8, .out = 8, .kernel = { 3 }, .padding = { -1 })), "Conv1d",
            "expected padding[0] from 0 to 2147483647, got -1");
    refused(cq_conv1d_new(CONV(.in = 8, .out = 8, .kernel = { 3 }, .dilation = { -1 })), "Conv1d",
            "expected dilation[0] from 1 to 2147483647, got -1");
    refused(cq_conv1d_new(CONV(.in = 8, .out = 8, .kernel = { 3 }, .groups = -2)), "Conv1d",
            "expected groups of at least 1, got -2");
    refused(cq_conv1d_new(CONV(.in = 8, .out = 9, .kernel = { 3 }, .groups = 3)), "Conv1d",
            "in 8 is not divisible by groups 3");
    refused(cq_conv1d_new(CONV(.in = 9, .out = 8, .kernel = { 3 }, .groups = 3)), "Conv1d",
            "out 8 is not divisible by groups 3");
    refused(cq_conv1d_new(CONV(.in = 8, .out = 8, .kernel = { 3 }, .output_padding = { 1 })),
            "Conv1d", "output_padding is for transposed convolutions");
    refused(cq_conv_transpose1d_new(
                CONV(.in = 8, .out = 8, .kernel = { 3 }, .stride = { 2 }, .output_padding = { 2 })),
            "ConvTranspose1d",
            "expected output_padding[0] less than the stride or the dilation, got 2");
    made(cq_conv_transpose1d_new(
        CONV(.in = 8, .out = 8, .kernel = { 3 }, .stride = { 2 }, .output_padding = { 1 })));
    CHECK(cq_conv3d_new(CONV(.in = INT64_MAX, .out = INT64_MAX,
                             .kernel = { INT32_MAX, INT32_MAX, INT32_MAX })) == NULL);
}

TEST(layers, sizes_of_linear_layers_and_embeddings_are_checked)
{
    refused(cq_linear_new(-1, 3, true), "Linear", "expected in of at least 0, got -1");
    refused(cq_linear_new(3, -1, true), "Linear", "expected out of at least 0, got -1");
    made(cq_linear_new(0, 3, true)); /* as in PyTorch */
    refused(cq_bilinear_new(0, 3, 3, true), "Bilinear", "expected in1 of at least 1, got 0");
    refused(cq_bilinear_new(3, -3, 3, true), "Bilinear", "expected in2 of at least 0, got -3");
    refused(cq_embedding_new(-3, 3), "Embedding", "expected count of at least 0, got -3");
    refused(cq_embedding_new(3, -3), "Embedding", "expected size of at least 0, got -3");
    refused(cq_embedding_new_padded(3, 3, 3), "Embedding",
            "expected padding_idx less than 3, or -1 for none, got 3");
    refused(cq_embedding_new_padded(3, 3, -2), "Embedding",
            "expected padding_idx less than 3, or -1 for none, got -2");
    made(cq_embedding_new_padded(3, 3, 2));
}

TEST(layers, normalizations_check_features_groups_and_eps)
{
    refused(cq_batch_norm1d_new(-1), "BatchNorm1d", "expected features of at least 0, got -1");
    refused(cq_batch_norm_new_with(4, 3, 0, 0.1, true, true), "BatchNorm",
            "expected 1 to 3 dimensions, got 4");
    refused(cq_batch_norm_new_with(2, 3, -1, 0.1, true, true), "BatchNorm2d",
            "expected eps from 0 to inf, got -1");
    refused(cq_batch_norm_new_with(2, 3, 0, NAN, true, true), "BatchNorm2d",
            "momentum is not a number");
    refused(cq_instance_norm3d_new(-1, false), "InstanceNorm3d",
            "expected features of at least 0, got -1");
    refused(cq_layer_norm_new(0, NULL, 0), "LayerNorm", "expected a shape of 1 to 64 sizes, got 0");
    refused(cq_layer_norm_new(65, INTS(1), 0), "LayerNorm",
            "expected a shape of 1 to 64 sizes, got 65");
    refused(cq_layer_norm_new(2, INTS(3, -1), 0), "LayerNorm",
            "expected features of at least 0, got -1");
    refused(cq_group_norm_new(0, 4, 0), "GroupNorm", "expected groups of at least 1, got 0");
    refused(cq_group_norm_new(3, 4, 0), "GroupNorm", "channels 4 is not divisible by groups 3");
    refused(cq_group_norm_new(2, 4, NAN), "GroupNorm", "expected eps from 0 to inf, got nan");
    made(cq_group_norm_new(2, 4, 0));
}

TEST(layers, poolings_check_their_windows)
{
    refused(cq_max_pool2d_new(&(cq_pool2d){ 0 }), "MaxPool2d",
            "expected kernel[0] from 1 to 2147483647, got 0");
    refused(cq_avg_pool3d_new(&(cq_pool3d){ .kernel = { 2, 2 } }), "AvgPool3d",
            "expected kernel[2] from 1 to 2147483647, got 0");
    refused(cq_max_pool1d_new(&(cq_pool1d){ .kernel = { 2 }, .stride = { -1 } }), "MaxPool1d",
            "expected stride[0] from 0 to 2147483647, got -1");
    refused(cq_avg_pool1d_new(&(cq_pool1d){ .kernel = { 2 }, .padding = { -1 } }), "AvgPool1d",
            "expected padding[0] from 0 to 2147483647, got -1");
    refused(cq_avg_pool2d_new(&(cq_pool2d){ .kernel = { 2, 2 }, .padding = { 1, 2 } }), "AvgPool2d",
            "expected padding[1] of at most half the window 2, got 2");
    refused(cq_max_pool3d_new(&(cq_pool3d){ .kernel = { 2, 2, 2 }, .dilation = { 1, 1, -1 } }),
            "MaxPool3d", "expected dilation[2] from 0 to 2147483647, got -1");
    made(cq_max_pool1d_new(&(cq_pool1d){ .kernel = { 2 }, .padding = { 2 }, .dilation = { 3 } }));
    refused(cq_adaptive_avg_pool_new(0, NULL), "AdaptiveAvgPool",
            "expected 1 to 3 dimensions, got 0");
    refused(cq_adaptive_max_pool_new(4, INTS(1, 1, 1, 1)), "AdaptiveMaxPool",
            "expected 1 to 3 dimensions, got 4");
    refused(cq_adaptive_max_pool_new(2, INTS(1, -1)), "AdaptiveMaxPool",
            "expected sizes[1] from 0 to 2147483647, got -1");
}

TEST(layers, recurrent_layers_check_their_spec)
{
    refused(cq_lstm_new(RNN(.input = 3)), "LSTM", "expected hidden of at least 1, got 0");
    refused(cq_gru_new(RNN(.hidden = 3)), "GRU", "expected input of at least 1, got 0");
    refused(cq_rnn_new(RNN(.input = 3, .hidden = 3, .layers = -1)), "RNN",
            "expected layers of at least 1, got -1");
    refused(cq_lstm_new(RNN(.input = 3, .hidden = 3, .dropout = 1.5)), "LSTM",
            "expected dropout from 0 to 1, got 1.5");
    refused(cq_lstm_new(RNN(.input = 3, .hidden = 3, .projection = 3)), "LSTM",
            "expected projection less than hidden 3, got 3");
    refused(cq_gru_new(RNN(.input = 3, .hidden = 3, .projection = 2)), "GRU",
            "projection is for LSTM");
    refused(cq_lstm_new(RNN(.input = 3, .hidden = 3, .relu = true)), "LSTM", "relu is for RNN");
    refused(cq_lstm_new(RNN(.input = 3, .hidden = INT64_MAX)), "LSTM",
            "hidden 9223372036854775807 is too large");
    made(cq_lstm_new(RNN(.input = 3, .hidden = 3, .projection = 2)));
    made(cq_rnn_new(RNN(.input = 3, .hidden = 3, .relu = true)));
}

TEST(layers, numbers_of_activations_are_checked)
{
    refused(cq_prelu_new(0, 0.25), "PReLU", "expected parameters of at least 1, got 0");
    refused(cq_celu_new(0), "CELU", "expected alpha other than 0, got 0");
    refused(cq_dropout_new(2), "Dropout", "expected p from 0 to 1, got 2");
    refused(cq_dropout2d_new(NAN), "Dropout2d", "expected p from 0 to 1, got nan");
    refused(cq_hardtanh_new(1, 1), "Hardtanh", "expected low less than high, got 1 and 1");
    made(cq_hardtanh_new(-1, 1));
}

TEST(layers, pads_and_sizes_are_checked)
{
    const double scales[] = { 2, -1 };

    refused(cq_constant_pad_new(3, INTS(1, 1, 1), 0), "ConstantPad",
            "expected two pads for each dimension, got 3 pads");
    refused(cq_reflection_pad_new(8, INTS(1, 1, 1, 1, 1, 1, 1, 1)), "ReflectionPad",
            "expected 1 to 3 dimensions, got 4");
    refused(cq_replication_pad_new(0, NULL), "ReplicationPad", "expected 1 to 3 dimensions, got 0");
    made(cq_constant_pad_new(2, INTS(-1, 1), 0));
    refused(cq_pixel_shuffle_new(0), "PixelShuffle", "expected factor of at least 1, got 0");
    refused(cq_upsample_new(2, NULL, NULL, "nearest", false), "Upsample",
            "expected either sizes or scales");
    refused(cq_upsample_new(2, INTS(2, 2), scales, "nearest", false), "Upsample",
            "expected either sizes or scales");
    refused(cq_upsample_new(2, NULL, scales, "nearest", false), "Upsample",
            "expected scales[1] greater than 0, got -1");
    refused(cq_upsample_new(2, INTS(2, 0), NULL, "bilinear", false), "Upsample",
            "expected sizes[1] from 1 to 2147483647, got 0");
    refused(cq_upsample_new(2, INTS(2, 2), NULL, "linear", false), "Upsample",
            "mode 'linear' does not support 2 dimensions");
    refused(cq_upsample_new(4, INTS(2, 2, 2, 2), NULL, "nearest", false), "Upsample",
            "mode 'nearest' does not support 4 dimensions");
    refused(cq_upsample_new(2, INTS(2, 2), NULL, "cubic", false), "Upsample",
            "unknown mode 'cubic'; expected nearest, linear, bilinear, bicubic or trilinear");
    refused(cq_upsample_new(2, INTS(2, 2), NULL, "nearest", true), "Upsample",
            "align_corners does not apply to mode 'nearest'");
    refused(cq_unflatten_new(1, 0, NULL), "Unflatten", "expected 1 to 8 sizes, got 0");
    refused(cq_unflatten_new(1, 2, INTS(-1, -1)), "Unflatten",
            "expected at most one size of -1, got 2");
    refused(cq_unflatten_new(1, 2, INTS(-2, 3)), "Unflatten",
            "expected sizes[0] from -1 to 2147483647, got -2");
    made(cq_unflatten_new(1, 2, INTS(-1, 3)));
}

TEST(layers, a_model_with_a_layer_that_was_refused_is_not_exported)
{
    cq_module *net = cq_sequential_of(
        2, (cq_module *[]){ cq_conv2d_new(CONV(.in = 3, .out = 8)), cq_relu_new() });
    cq_tensor     *x = small_net_input();
    cq_onnx_model *m = NULL;

    CHECK_STATUS(CQ_E_ARGUMENT, cq_module_status(net));
    CHECK_STATUS(CQ_E_ARGUMENT, cq_module_export(&m, net, &x, 1, NULL));
    CHECK(m == NULL);
    cq_tensor_release(x);
    cq_module_free(net);
}

RUN_TESTS(TEST_OF(layers, a_convolution_without_a_kernel_is_refused),
          TEST_OF(layers, convolutions_check_every_field),
          TEST_OF(layers, sizes_of_linear_layers_and_embeddings_are_checked),
          TEST_OF(layers, normalizations_check_features_groups_and_eps),
          TEST_OF(layers, poolings_check_their_windows),
          TEST_OF(layers, recurrent_layers_check_their_spec),
          TEST_OF(layers, numbers_of_activations_are_checked),
          TEST_OF(layers, pads_and_sizes_are_checked),
          TEST_OF(layers, a_model_with_a_layer_that_was_refused_is_not_exported))
