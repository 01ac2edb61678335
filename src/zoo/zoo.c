/* The list of built-in models and their example inputs. */
#include "zoo/zoo.h"

#include <string.h>

#define IMAGE(size)                                                                                \
    .n_inputs = 1, .n_outputs = 1,                                                                 \
    .inputs       = { { "input", CQ_DTYPE_F32, 4, { 1, 3, size, size }, 0, 0 } },                  \
    .output_names = { "output" }, .output_batch_axes = { 0 }
/* clang-format off */
#define CLASSIFIER(id, what, size) { .name = #id, .about = what, .make = cq_zoo_##id, IMAGE(size) }
#define WORDS { "input", CQ_DTYPE_I64, 2, { 35, 1 }, 33278, 1 }
#define STATE(id) { id, CQ_DTYPE_F32, 3, { 2, 1, 200 }, 0, 1 }
/* clang-format on */

/* clang-format off */
static const cq_zoo_model models[] = {
    CLASSIFIER(alexnet, "AlexNet, image classification", 224),
    CLASSIFIER(vgg11, "VGG with 11 layers", 224),
    CLASSIFIER(vgg11_bn, "VGG with 11 layers and batch normalisation", 224),
    CLASSIFIER(vgg13, "VGG with 13 layers", 224),
    CLASSIFIER(vgg13_bn, "VGG with 13 layers and batch normalisation", 224),
    CLASSIFIER(vgg16, "VGG with 16 layers", 224),
    CLASSIFIER(vgg16_bn, "VGG with 16 layers and batch normalisation", 224),
    CLASSIFIER(vgg19, "VGG with 19 layers", 224),
    CLASSIFIER(vgg19_bn, "VGG with 19 layers and batch normalisation", 224),
    CLASSIFIER(resnet18, "ResNet with 18 layers", 224),
    CLASSIFIER(resnet34, "ResNet with 34 layers", 224),
    CLASSIFIER(resnet50, "ResNet with 50 layers", 224),
    CLASSIFIER(resnet101, "ResNet with 101 layers", 224),
    CLASSIFIER(resnet152, "ResNet with 152 layers", 224),
    CLASSIFIER(densenet121, "DenseNet with 121 layers", 224),
    CLASSIFIER(densenet161, "DenseNet with 161 layers", 224),
    CLASSIFIER(densenet169, "DenseNet with 169 layers", 224),
    CLASSIFIER(densenet201, "DenseNet with 201 layers", 224),
    CLASSIFIER(inception_v3, "Inception v3, image classification", 299),
    { .name = "dcgan_generator", .about = "DCGAN, makes images of 64 x 64",
      .make = cq_zoo_dcgan_generator, .n_inputs = 1, .n_outputs = 1,
      .inputs = { { "input", CQ_DTYPE_F32, 4, { 1, 100, 1, 1 }, 0, 0 } },
      .output_names = { "output" } },
    { .name = "dcgan_discriminator", .about = "DCGAN, tells real images from made ones",
      .make = cq_zoo_dcgan_discriminator, IMAGE(64) },
    { .name = "super_resolution", .about = "makes an image three times as large",
      .make = cq_zoo_super_resolution, .n_inputs = 1, .n_outputs = 1,
      .inputs = { { "input", CQ_DTYPE_F32, 4, { 1, 1, 224, 224 }, 0, 0 } },
      .output_names = { "output" } },
    { .name = "word_rnn", .about = "word language model with an RNN", .make = cq_zoo_word_rnn,
      .n_inputs = 2, .n_outputs = 2, .inputs = { WORDS, STATE("h0") },
      .output_names = { "output", "h" }, .output_batch_axes = { -1, 1 } },
    { .name = "word_lstm", .about = "word language model with an LSTM", .make = cq_zoo_word_lstm,
      .n_inputs = 3, .n_outputs = 3, .inputs = { WORDS, STATE("h0"), STATE("c0") },
      .output_names = { "output", "h", "c" }, .output_batch_axes = { -1, 1, 1 } },
    { .name = "word_gru", .about = "word language model with a GRU", .make = cq_zoo_word_gru,
      .n_inputs = 2, .n_outputs = 2, .inputs = { WORDS, STATE("h0") },
      .output_names = { "output", "h" }, .output_batch_axes = { -1, 1 } },
    { .name = "word_transformer", .about = "word language model with a transformer",
      .make = cq_zoo_word_transformer, .n_inputs = 1, .n_outputs = 1, .inputs = { WORDS },
      .output_names = { "output" }, .output_batch_axes = { 1 } },
};
/* clang-format on */

CQ_API const cq_zoo_model *cq_zoo_at(size_t index)
{
    return index < sizeof models / sizeof *models ? &models[index] : NULL;
}

CQ_API const cq_zoo_model *cq_zoo_find(const char *name)
{
    if (!name)
        return NULL;
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        if (strcmp(models[i].name, name) == 0)
            return &models[i];
    return NULL;
}
