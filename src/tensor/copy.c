/* Copies between tensors of any strides and dtypes. */
#include "tensor/tensor.h"
