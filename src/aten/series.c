/* Along one dimension: differences, areas, quantiles; and what counts elements by value. All of it
 * is composed of other operators. Spectra are fft.c's. */
#include "aten/ctx.h"

#define ROW(text_of_schema, text, code)                                                            \
    {                                                                                              \
        .schema = "aten::" text_of_schema, .about = text, .body = code                             \
    }
#define AREA(name, number, over)                                                                   \
    ROW(name ".x(Tensor y, Tensor x, *, int dim=-1) -> Tensor", "the area under a curve",          \
        "areas(y, x, dim)." over),                                                                 \
        ROW(name ".dx(Tensor y, *, " number ", int dim=-1) -> Tensor", "the area under a curve",   \
            "even_areas(y, dx, dim)." over)
#define SHARE   ", int? dim=None, bool keepdim=False, *, str interpolation='linear') -> Tensor"
#define NUMBERS "what a share of the numbers is below, NaN aside"
#define IN      ", *, bool assume_unique=False, bool invert=False) -> Tensor"

const cq_op_def cq_ops_series[] = {
    ROW("diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None) -> "
        "Tensor",
        "differences of neighbours, n times",
        "assert self.ndim > 0, 'wants at least one dimension'\n"
        "assert n >= 0 and n <= 64, 'differences {n} times'\n"
        "d = wrap_dim(dim, self.ndim)\n"
        "if n == 0: return self.clone()\n"
        "parts = [t for t in [prepend, self, append] if t is not None]\n"
        "x = cat(parts, d) if len(parts) > 1 else self\n"
        "for i in range(n): x = behind(x, d).logical_xor(before(x, d)) "
        "if x.dtype == torch.bool else behind(x, d) - before(x, d)\n"
        "return x"),
    AREA("trapezoid", "Scalar dx=1", "sum(dim)"),
    AREA("trapz", "float dx=1.", "sum(dim)"),
    AREA("cumulative_trapezoid", "Scalar dx=1", "cumsum(dim)"),
    ROW("quantile(Tensor self, Tensor q" SHARE, "what a share of the elements is below",
        "quantiles(self, q, dim, keepdim, interpolation, False)"),
    ROW("quantile.scalar(Tensor self, float q" SHARE, "what a share of the elements is below",
        "quantiles(self, number_like(self, q), dim, keepdim, interpolation, False)"),
    ROW("nanquantile(Tensor self, Tensor q" SHARE, NUMBERS,
        "quantiles(self, q, dim, keepdim, interpolation, True)"),
    ROW("nanquantile.scalar(Tensor self, float q" SHARE, NUMBERS,
        "quantiles(self, number_like(self, q), dim, keepdim, interpolation, True)"),
    ROW("renorm(Tensor self, Scalar p, int dim, Scalar maxnorm) -> Tensor",
        "slices scaled down to a norm that they exceed",
        "assert self.ndim >= 2, 'wants at least 2 dimensions, not {self.ndim}'\n"
        "d = wrap_dim(dim, self.ndim)\n"
        "n = norm(self, p, [i for i in range(self.ndim) if i != d], True)\n"
        "return self * where(n > maxnorm, (n + 1e-7).reciprocal() * maxnorm, ones_like(n))"),
    ROW("pdist(Tensor self, float p=2.) -> Tensor", "the distances of all pairs of rows",
        "assert self.ndim == 2, 'wants a matrix'\n"
        "n = self.shape[0]\n"
        "if not is_known(n):"
        " at = arange(n * n).reshape([n, n]).masked_fill(ones([n, n], dtype=torch.bool).tril(), n "
        "* n);"
        " places, order = at.reshape([-1]).sort();"
        " d = norm(self.unsqueeze(1) - self.unsqueeze(0), p, 2);"
        " return d.reshape([-1]).index_select(0, places.slice(0, 0, n * (n - 1) // 2))\n"
        "pairs = triu_indices(self.shape[0], self.shape[0], 1)\n"
        "x = self.index_select(0, pairs.select(0, 0)) - self.index_select(0, pairs.select(0, 1))\n"
        "return norm(x, p, 1)"),
    ROW("gradient.scalarint(Tensor self, *, Scalar? spacing=None, int? dim=None, int edge_order=1) "
        "-> Tensor[]",
        "slopes between neighbours, along every dimension or one",
        "dims = range(self.ndim) if dim is None else [wrap_dim(dim, self.ndim)]\n"
        "return [slopes(self, 1 if spacing is None else spacing, d, edge_order) for d in dims]"),
    ROW("gradient.array(Tensor self, *, int[] dim, int edge_order=1) -> Tensor[]",
        "slopes between neighbours, along some dimensions",
        "[slopes(self, 1, d, edge_order) for d in wrap_dims(dim, self.ndim)]"),
    ROW("gradient.scalararray(Tensor self, *, Scalar spacing, int[] dim, int edge_order=1) -> "
        "Tensor[]",
        "slopes between neighbours that far apart, along some dimensions",
        "[slopes(self, spacing, d, edge_order) for d in wrap_dims(dim, self.ndim)]"),
    ROW("gradient.tensorarray(Tensor self, *, Tensor[] spacing, int[] dim, int edge_order=1) -> "
        "Tensor[]",
        "slopes between neighbours at these places, along some dimensions",
        "dims = wrap_dims(dim, self.ndim)\n"
        "return [slopes_at(self, spacing[i], dims[i], edge_order) for i in range(len(dims))]"),
    ROW("gradient.tensorarrayint(Tensor self, *, Tensor[] spacing, int? dim=None, int "
        "edge_order=1) "
        "-> Tensor[]",
        "slopes between neighbours at these places",
        "dims = range(self.ndim) if dim is None else [wrap_dim(dim, self.ndim)]\n"
        "return [slopes_at(self, spacing[i], dims[i], edge_order) for i in range(len(dims))]"),
    ROW("isin.Tensor_Tensor(Tensor elements, Tensor test_elements" IN,
        "which elements are among others",
        "t = (elements.unsqueeze(-1) == test_elements.reshape([-1])).any(-1)\n"
        "return t.logical_not() if invert else t"),
    ROW("isin.Tensor_Scalar(Tensor elements, Scalar test_element" IN, "which elements are a number",
        "(elements == test_element).logical_not() if invert else elements == test_element"),
    ROW("isin.Scalar_Tensor(Scalar element, Tensor test_elements" IN,
        "whether a number is among elements",
        "t = (test_elements == element).any()\n"
        "return t.logical_not() if invert else t"),
    /* Bins of equal width; the last one includes its end. Without bounds, those of the elements: a
     * bin around them if they are all equal. */
    ROW("histc(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor",
        "how many elements fall into each bin",
        "assert self.is_floating_point() and bins >= 1 and max >= min, "
        "'wants floats, bins, and a maximum above the minimum'\n"
        "x = self.reshape([-1])\n"
        "low = aten::min(x) if min == max else number_like(x, float(min))\n"
        "high = aten::max(x) if min == max else number_like(x, float(max))\n"
        "if min == max: same = (low == high).to(x.dtype); low = low - same; high = high + same\n"
        "bins = int(bins)\n"
        "at = ((x - low) * bins / (high - low)).floor().clamp_max(bins - 1)\n"
        "at = where((x >= low).logical_and(x <= high), at, -1.)\n"
        "return (at.unsqueeze(-1) == arange(bins, dtype=x.dtype)).sum(0, dtype=x.dtype)"),
    { 0 }
};
