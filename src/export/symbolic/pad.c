/* Padding. Pad takes floats until opset 10 and ONNX Runtime not every type later; what it
 * does not take is put together from pieces, as is padding from the other side, which ONNX
 * does not know. Where one side is cut and the other grows, the edge that grows may be all that
 * there was; so an edge is repeated first, and what repeats no edge is cut first. */
#include "export/symbolic.h"

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

#define REFLECTION(op) \
    { "aten::" op, 7, .as = OWN("reflect"), \
      .parts = op "(cropped(self, padding), [max(p, 0) for p in padding])" }
#define REPLICATION(op) \
    { "aten::" op, 7, .as = OWN("edge"), \
      .parts = "cropped(" op "(self, [max(p, 0) for p in padding]), padding)" }
/* clang-format on */

const cq_symbolic cq_symbolics_pad[] = {
    { "aten::constant_pad_nd", 7, .as = CONSTANT, .parts = "padded_by_pieces(self, pad, value)" },
    REFLECTION("reflection_pad1d"),
    REFLECTION("reflection_pad2d"),
    REFLECTION("reflection_pad3d"),
    REPLICATION("replication_pad1d"),
    REPLICATION("replication_pad2d"),
    REPLICATION("replication_pad3d"),
    { "aten::_pad_circular", 7, .parts = "padded_around(self, pad)" },
    { 0 },
};
