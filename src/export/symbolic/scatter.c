/* Elements read and written one by one along a dimension.
 *
 * GatherElements and ScatterElements are PyTorch's gather and scatter since opset 11. Before,
 * places in the flat tensor do for reading. Writes that add up or take extremes need opset 16
 * and 18; before, a table says which source goes to which place, and is reduced. */
#include "export/symbolic/places.h"

cq_value *cq_sym_corner(cq_sym *s, cq_value *src, cq_value *index)
{
    for (int i = 0; i < cq_sym_rank(s, index) && s->status == CQ_OK; i++)
        if (!cq_int_same(src->type.sizes[i], index->type.sizes[i])) {
            cq_int    sizes[CQ_MAX_RANK];
            cq_value *v = cq_sym_slice(s, src, i, cq_i(0), index->type.sizes[i], 1);

            memcpy(sizes, src->type.sizes, (size_t)src->type.rank * sizeof *sizes);
            sizes[i] = index->type.sizes[i];
            cq_sym_set_type(s, v, src->type.dtype, (size_t)src->type.rank, sizes);
            src = v;
        }
    return src;
}

/* clang-format off */
#define X_AND_INDEX "x = with_dims(self); places = with_dims(index); at = axis(dim, x);"
#define GATHER(node) X_AND_INDEX "as_result(sized(" node ", places))"

#define CORNER "corner(with_dims(cast(src, dtype(self))), places)"
#define VALUES "expand(cast(value, dtype(self)), sizes(places))"
#define SCATTER(source) \
    X_AND_INDEX "as_result(ScatterElements<axis = at>(x, places, " source "))"

/* Index has the sizes of x in all dimensions but the axis; otherwise a table does not do. */
#define BY_TABLE(reduction, source, with_self, last) \
    X_AND_INDEX "source = " source "; kind = " reduction ";" \
    "y = reducible(x, x); z = reducible(source, x); others = [i for i in range(rank(x)) if i != at];" \
    "covers = [size(x, i) for i in others] == [size(places, i) for i in others];" \
    "mean = kind == 'mean'; how = 'add' if mean else kind; self_counts = " with_self ";" \
    "table = reduced_by_table(y, places, z, at, how, mean, self_counts);" \
    "begun = y if self_counts else" \
    " ScatterElements<axis = at>(y, places, expand(like(neutral(how, y), y), sizes(places)));" \
    "node = ScatterElements<axis = at, reduction = how>(begun, places, z);" \
    "as_result(no('sums of integers wrap around before they are divided')" \
    " if mean and not is_float(x) else " last " table if covers else" \
    " no('index is smaller than self beside dim', 0 if mean else 16 if how == 'add' or how == 'mul'" \
    " else 18))"
#define NODE_16 "node if (kind == 'add' or kind == 'mul') and not mean else"
#define NODE_18 "node if not mean else"
#define NAMED \
    "'add' if reduce == 'add' or reduce == 'sum' else" \
    " 'mul' if reduce == 'multiply' or reduce == 'prod' else 'max' if reduce == 'amax' else" \
    " 'min' if reduce == 'amin' else 'mean' if reduce == 'mean' else no('such a reduction')"

#define ROWS(op, reduction, source, with_self, has_parts) \
    { "aten::" op, 7, .no = "it needs Where, of opset 9" }, \
    { "aten::" op, 9, .as = BY_TABLE(reduction, source, with_self, ""), .parts = has_parts }, \
    { "aten::" op, 16, .as = BY_TABLE(reduction, source, with_self, NODE_16), .parts = has_parts }, \
    { "aten::" op, 18, .as = BY_TABLE(reduction, source, with_self, NODE_18), .parts = has_parts }
/* clang-format on */

const cq_symbolic cq_symbolics_scatter[] = {
    { "aten::gather", 7, .as = GATHER("Gather<axis = 0>(flat(x), flat_places(x, places, at))") },
    { "aten::gather", 11, .as = GATHER("GatherElements<axis = at>(x, places)") },
    { "aten::scatter", 7, .no = "Scatter came with opset 9" },
    { "aten::scatter.src", 9, .as = SCATTER(CORNER) },
    { "aten::scatter.value", 9, .as = SCATTER(VALUES) },
    ROWS("scatter.reduce", NAMED, CORNER, "True", false),
    ROWS("scatter.value_reduce", NAMED, VALUES, "True", false),
    ROWS("scatter_add", "'add'", CORNER, "True", false),
    ROWS("scatter_reduce.two", NAMED, CORNER, "include_self", true),
    { 0 },
};
