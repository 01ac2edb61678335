/* Padding. Pad takes floats until opset 10 and ONNX Runtime not every type later; what it
 * does not take is put together from pieces, as is padding from the other side, which ONNX
 * does not know. Where one side is cut and the other grows, PyTorch repeats or mirrors elements of
 * the whole tensor, also those that are cut off; so it is padded first and cut afterwards. */
#include "export/symbolic/symbolic.h"

/* clang-format off */
#define CONSTANT \
    "p = pads(pad); value = cast(value, dtype(self));" \
    "self if len([i for i in p if i != 0]) == 0 else" \
    " Pad<mode = 'constant'>(self, p, value)" \
    " if can_pad() and (opset() >= 11 or len([i for i in p if not fixed(i)]) == 0) else" \
    " no('Pad does not take it')"

#define OWN(mode) \
    "p = pads(padding); no('it cuts off') if len([i for i in p if fixed(i) and i < 0]) > 0 else" \
    " Pad<mode = '" mode "'>(paddable(), p)"

#define ROW(op, mode) \
    { "aten::" op, 7, .as = OWN(mode), \
      .parts = true }
/* clang-format on */

const cq_symbolic cq_symbolics_pad[] = {
    { "aten::constant_pad_nd", 7, .as = CONSTANT, .parts = true },
    ROW("reflection_pad1d", "reflect"),
    ROW("reflection_pad2d", "reflect"),
    ROW("reflection_pad3d", "reflect"),
    ROW("replication_pad1d", "edge"),
    ROW("replication_pad2d", "edge"),
    ROW("replication_pad3d", "edge"),
    { "aten::_pad_circular", 7, .parts = true },
    { 0 },
};
