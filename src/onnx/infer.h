/* Types and shapes of every value of a model, worked out from its inputs.
 *
 * Sizes may be symbols: `batch` of an input flows through the graph, and an axis that grows
 * becomes `2*batch+1`. Integers that a graph computes from shapes are followed too, so a
 * Reshape to a computed shape is known. What depends on data gets a name of its own,
 * `unk__0`. Operators that are not known leave their outputs as they were declared.
 *
 * How one operator behaves is a rule in infer/; rule.h says how to write one. The call is
 * cq_onnx_model_infer of <calque/onnx.h>; here are its limits. */
#ifndef CQ_ONNX_INFER_H
#define CQ_ONNX_INFER_H

#include "onnx/model.h"

/* Graphs inside graphs, and functions that call functions. */
enum { CQ_ONNX_INFER_MAX_DEPTH = 64 };

/* Visits of nodes beyond the first of each: bodies of functions, and of loops whose shapes
 * change. What is left then stays unknown. */
enum { CQ_ONNX_INFER_MAX_REVISITS = 200000 };

/* Letters of an expression that is computed with; longer ones are unknown, or a short file
 * could make one that doubles with every node. */
enum { CQ_ONNX_INFER_MAX_TEXT = 256 };

/* Elements of a tensor whose numbers are followed. */
enum { CQ_ONNX_INFER_MAX_ELEMENTS = 1024 };

#endif
