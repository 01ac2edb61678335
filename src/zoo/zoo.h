/* The models of the zoo, one constructor each. */
#ifndef CQ_ZOO_ZOO_H
#define CQ_ZOO_ZOO_H

#include <calque/zoo.h>

cq_module *cq_zoo_alexnet(void);
cq_module *cq_zoo_vgg11(void), *cq_zoo_vgg13(void), *cq_zoo_vgg16(void), *cq_zoo_vgg19(void);
cq_module *cq_zoo_vgg11_bn(void), *cq_zoo_vgg13_bn(void), *cq_zoo_vgg16_bn(void),
    *cq_zoo_vgg19_bn(void);
cq_module *cq_zoo_resnet18(void), *cq_zoo_resnet34(void), *cq_zoo_resnet50(void),
    *cq_zoo_resnet101(void), *cq_zoo_resnet152(void);
cq_module *cq_zoo_densenet121(void), *cq_zoo_densenet161(void), *cq_zoo_densenet169(void),
    *cq_zoo_densenet201(void);
cq_module *cq_zoo_inception_v3(void);
cq_module *cq_zoo_dcgan_generator(void), *cq_zoo_dcgan_discriminator(void);
cq_module *cq_zoo_super_resolution(void);
cq_module *cq_zoo_word_rnn(void), *cq_zoo_word_lstm(void), *cq_zoo_word_gru(void),
    *cq_zoo_word_transformer(void);

#endif
