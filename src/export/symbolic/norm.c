/* Normalisations. LayerNormalization exists since opset 17, training mode of
 * BatchNormalization in its present form since 14; before, and where ONNX Runtime lacks a
 * dtype, they are written out. */
#include "export/symbolic/symbolic.h"

/* clang-format off */

/* Outside of training native_batch_norm saves empty rows. */
#define BATCH_NORM(outputs, training) \
    outputs " = BatchNormalization<epsilon = eps, momentum = 1 - given(momentum, 0)" training ">" \
    "(x, row(weight, x, 1), row(bias, x, 0), row(running_mean, x, 0), row(running_var, x, 1));"
#define BY_PARTS \
    "x = widen(input); axes = [i for i in range(rank(x)) if i != 1];" \
    "parts = standardized(x, axes, eps);" \
    "exact = dtype(x) == 'float64';" /* epsilon is an attribute of float32 */ \
    "written = scale_channels((x - by_channel(running_mean, x))" \
    " / Sqrt(by_channel(running_var, x) + eps));"
#define EMPTY "filled(0, 0, x)"

/* Without running statistics there is nothing that training could move along. */
#define BATCH_NORM_7 \
    BY_PARTS BATCH_NORM("plain", "") "scale_channels(parts[0]) if training else written if exact else plain"
#define BATCH_NORM_14 \
    BY_PARTS BATCH_NORM("plain", "") BATCH_NORM("y, mean, variance", ", training_mode = 1") \
    "(written if exact else plain) if not training else" \
    " scale_channels(parts[0]) if running_mean is None or exact else y"
#define NATIVE(batch_norm) \
    batch_norm "," \
    "Squeeze(parts[1], axes) if training else " EMPTY "," \
    "Squeeze(parts[2], axes) if training else " EMPTY
/* As long as nobody asks for the statistics. */
#define NATIVE_14 \
    BY_PARTS BATCH_NORM("plain", "") BATCH_NORM("y, mean, variance", ", training_mode = 1") \
    "(written if exact else plain) if not training else" \
    " scale_channels(parts[0]) if running_mean is None or exact or used(1) or used(2) else y," \
    "Squeeze(parts[1], axes) if training else " EMPTY "," \
    "Squeeze(parts[2], axes) if training else " EMPTY

#define LAYER_NORM_7 \
    "x = widen(input); parts = standardized(x, last_axes(x, len(normalized_shape)), eps);" \
    "y = parts[0] * cast(weight, dtype(x)) if weight is not None else parts[0];" \
    "z = y + cast(bias, dtype(x)) if bias is not None else y;"
#define LAYER_NORM_17 \
    LAYER_NORM_7 "n = len(normalized_shape); exact = dtype(x) == 'float64';" \
    "one, mean, inverse = LayerNormalization<axis = -n, epsilon = eps>" \
    "(x, weight_of(x, n), cast(bias, dtype(x)) if bias is not None else None);"

/* The axes of the image as one: [batch, groups, rest], where -1 would not work for a batch of none.
 * ONNX Runtime has InstanceNormalization for float32 alone. */
#define GROUPED(groups) \
    "x = widen(input);" \
    "rest = size(x, 1) // " groups " * product([size(x, i) for i in range(2, rank(x))]);" \
    "lanes = sized(Reshape(x, [0, " groups ", rest if all_fixed([rest]) else -1])," \
    " [size(x, 0), " groups ", rest]);" \
    "parts = standardized(lanes, [2], eps);" \
    "plain = InstanceNormalization<epsilon = eps>" \
    "(lanes, filled(" groups ", 1, x), filled(" groups ", 0, x));"
#define SCALED(lanes) "scale_channels(Reshape(" lanes ", sizes(input)))"
#define GROUP_NORM(one_node) \
    GROUPED("num_groups") one_node SCALED("plain if dtype(x) == 'float32' else parts[0]")
#define NATIVE_GROUP_NORM(one_node) \
    GROUPED("group") "asked = used(1) or used(2);" one_node \
    SCALED("plain if dtype(x) == 'float32' and not asked else parts[0]") "," \
    "Squeeze(parts[1], [2]), Squeeze(parts[2], [2])"
/* One node, with a scale and a bias for each channel. */
#define ONE_NODE(groups, unless) \
    "GroupNormalization<num_groups = " groups ", epsilon = eps>" \
    "(input, row(weight, input, 1), row(bias, input, 0))" \
    " if dtype(input) == 'float32' and rank(input) > 2" unless " else "
/* clang-format on */

const cq_symbolic cq_symbolics_norm[] = {
    { "aten::batch_norm", 7, .as = BATCH_NORM_7 },
    { "aten::batch_norm", 14, .as = BATCH_NORM_14 },
    { "aten::native_batch_norm", 7, .as = NATIVE(BATCH_NORM_7) },
    { "aten::native_batch_norm", 14, .as = NATIVE_14 },
    { "aten::layer_norm", 7, .as = LAYER_NORM_7 "z" },
    { "aten::layer_norm", 17, .as = LAYER_NORM_17 "z if exact else one" },
    { "aten::native_layer_norm", 7, .as = LAYER_NORM_7 "z, parts[1], parts[2]" },
    /* The statistics of LayerNormalization are always float32. */
    { "aten::native_layer_norm", 17,
      .as = LAYER_NORM_17 "z if exact else one,"
                          "parts[1] if exact else typed(mean, 'float32'),"
                          "parts[2] if exact else typed(inverse, 'float32')" },
    { "aten::group_norm", 7, .as = GROUP_NORM("") },
    { "aten::group_norm", 21, .as = GROUP_NORM(ONE_NODE("num_groups", "")) },
    { "aten::native_group_norm", 7, .as = NATIVE_GROUP_NORM("") },
    { "aten::native_group_norm", 21, .as = NATIVE_GROUP_NORM(ONE_NODE("group", " and not asked")) },
    /* Half precision is computed in float32, as by stash_type. */
    { "aten::rms_norm", 23,
      .as = "x = input; n = len(normalized_shape);"
            "RMSNormalization<axis = -n, epsilon = given(eps, 1.1920928955078125e-07)>"
            "(x, weight_of(x, n)) if dtype(x) == 'float32' or dtype(x) == 'float16' else"
            " no('it is decomposed')" },
    /* With running statistics it is a batch norm: it is decomposed then. */
    { "aten::instance_norm", 7,
      .as = "x = widen(input); parts = standardized(x, range(2, rank(x)), eps);"
            "no('it is another operator') if not use_input_stats or rank(x) < 3 else"
            " InstanceNormalization<epsilon = eps>(x, row(weight, x, 1), row(bias, x, 0))"
            " if dtype(x) == 'float32' else scale_channels(parts[0])" },
    { 0 },
};
