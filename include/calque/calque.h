/* All of calque in one include. */
#ifndef CALQUE_CALQUE_H
#define CALQUE_CALQUE_H

#include <calque/annotate.h>
#include <calque/audit.h>
#include <calque/autograd.h>
#include <calque/edit.h>
#include <calque/export.h>
#include <calque/function.h>
#include <calque/graph.h>
#include <calque/info.h>
#include <calque/layers.h>
#include <calque/module.h>
#include <calque/nest.h>
#include <calque/nn.h>
#include <calque/onnx.h>
#include <calque/part.h>
#include <calque/ops.h>
#include <calque/pt2.h>
#include <calque/quantize.h>
#include <calque/sandbox.h>
#include <calque/script.h>
#include <calque/session.h>
#include <calque/status.h>
#include <calque/tensor.h>
#include <calque/symbolic.h>
#include <calque/system.h>
#include <calque/testcase.h>
#include <calque/threads.h>
#include <calque/version.h>
#include <calque/view.h>
#include <calque/weights.h>
#include <calque/zoo.h>

#endif
