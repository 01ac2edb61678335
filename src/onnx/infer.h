/* Infers types and shapes of every value of a model from its inputs.
 *
 * Sizes may be symbols: `batch` of an input is propagated through the graph, and an axis that grows
 * becomes `2*batch+1`. Integers that a graph computes from shapes are propagated too, so a Reshape
 * to a computed shape is known. Data-dependent sizes get new names, `unk__0`. Unknown operators
 * leave their outputs as declared.
 *
 * The behaviour of an operator is a rule in infer/; rule.h explains how to write one. The entry
 * point is cq_onnx_model_infer of <calque/onnx.h>; its limits are here. */
#ifndef CQ_ONNX_INFER_H
#define CQ_ONNX_INFER_H

#include "onnx/model.h"

/* Graphs inside graphs, and functions that call functions. */
enum { CQ_ONNX_INFER_MAX_DEPTH = 64 };

/* Repeated visits of nodes: bodies of functions, and of loops whose shapes change. The rest stays
 * unknown. */
enum { CQ_ONNX_INFER_MAX_REVISITS = 200000 };

/* Letters of an expression that is computed with; longer ones are unknown, or a short file
 * could make one that doubles with every node. */
enum { CQ_ONNX_INFER_MAX_TEXT = 256 };

/* Elements of a tensor whose numbers are followed. */
enum { CQ_ONNX_INFER_MAX_ELEMENTS = 1024 };

#endif
