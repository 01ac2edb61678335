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

/* Maximum nesting of subgraphs and function calls. */
enum { CQ_ONNX_INFER_MAX_DEPTH = 64 };

/* Maximum number of repeated visits of nodes in bodies of functions, and of loops whose shapes
 * change. The types of further nodes are unknown. */
enum { CQ_ONNX_INFER_MAX_REVISITS = 200000 };

/* Maximum length of an expression that arithmetic is applied to; longer ones are unknown. Otherwise
 * a short file could contain an expression that doubles with every node. */
enum { CQ_ONNX_INFER_MAX_TEXT = 256 };

/* Maximum number of elements of a tensor whose values are propagated. */
enum { CQ_ONNX_INFER_MAX_ELEMENTS = 1024 };

#endif
