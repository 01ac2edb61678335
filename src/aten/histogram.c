/* Histograms: how many elements, or how much of their weights, lie between edges. */
#include "aten/op.h"

/* Counts, or shares per width, for edges of one dimension. */
#define HISTOGRAM(edges)                                                                           \
    edges "x = self.reshape([-1]); n = e.shape[0] - 1\n"                                           \
          "w = ones_like(x) if weight is None else weight.reshape([-1])\n"                         \
          "at = bin_of(x, e)\n"                                                                    \
          "y = zeros([n + 2], dtype=x.dtype).scatter_add(0, at + 1, w).slice(0, 1, -1)\n"          \
          "if density: y = y / (y.sum() * (e.slice(0, 1) - e.slice(0, 0, -1)))\n"                  \
          "return y, e"

/* The same of several: the places of a point along each are one number together. */
#define HISTOGRAM_DD(edges)                                                                        \
    edges "x = self.reshape([-1, self.shape[-1]])\n"                                               \
          "w = ones_like(x.select(1, 0)) if weight is None else weight.reshape([-1])\n"            \
          "at = zeros([x.shape[0]], dtype=torch.int64)\n"                                          \
          "for k in range(len(es)): at = at * (es[k].shape[0] + 1)"                                \
          " + bin_of(x.select(1, k).contiguous(), es[k]) + 1\n"                                    \
          "sizes = [e.shape[0] + 1 for e in es]\n"                                                 \
          "y = zeros([prod(sizes)], dtype=x.dtype).scatter_add(0, at, w).reshape(sizes)\n"         \
          "for k in range(len(es)): y = y.slice(k, 1, -1)\n"                                       \
          "if not density: return y, es\n"                                                         \
          "y = y / y.sum()\n"                                                                      \
          "for k in range(len(es)): y = y / (es[k].slice(0, 1) - es[k].slice(0, 0, -1))"           \
          ".reshape([-1] + [1 for i in range(int(k) + 1, len(es))])\n"                             \
          "return y, es"

#define REST "float[]? range=None, Tensor? weight=None, bool density=False) -> (Tensor hist, "

const cq_op_def cq_ops_histogram[] = {
    CQ_BODY("aten::histogram.bins_tensor(Tensor self, Tensor bins, *, Tensor? weight=None, "
            "bool density=False) -> (Tensor hist, Tensor bin_edges)",
            "how much lies between these edges", HISTOGRAM("e = bins\n")),
    CQ_BODY("aten::histogram.bin_ct(Tensor self, int bins=100, *, " REST "Tensor bin_edges)",
            "how much lies in each of several parts of a range",
            HISTOGRAM("e = edges_over(self.reshape([-1]), bins, range, 0)\n")),
    CQ_PARTS("aten::histogramdd(Tensor self, int[] bins, " REST "Tensor[] bin_edges)",
             "a histogram of points of several coordinates",
             HISTOGRAM_DD("es = [edges_over(self.reshape([-1, self.shape[-1]]).select(1, k),"
                          " bins[k], range, k) for k in range(len(bins))]\n")),
    CQ_PARTS("aten::histogramdd.int_bins(Tensor self, int bins, " REST "Tensor[] bin_edges)",
             "a histogram of points of several coordinates",
             HISTOGRAM_DD("es = [edges_over(self.reshape([-1, self.shape[-1]]).select(1, k),"
                          " bins, range, k) for k in range(self.shape[-1])]\n")),
    CQ_PARTS("aten::histogramdd.TensorList_bins(Tensor self, Tensor[] bins, " REST
             "Tensor[] bin_edges)",
             "a histogram of points of several coordinates", HISTOGRAM_DD("es = bins\n")),
    CQ_BODY("aten::_histogramdd_bin_edges(Tensor self, int[] bins, *, float[]? range=None, "
            "Tensor? weight=None, bool density=False) -> Tensor[]",
            "edges of the parts that histogramdd counts",
            "[edges_over(self.reshape([-1, self.shape[-1]]).select(1, k), bins[k], range, k)"
            " for k in range(len(bins))]"),
    CQ_BODY("aten::_histogramdd_from_bin_cts(Tensor self, int[] bins, *, float[]? range=None, "
            "Tensor? weight=None, bool density=False) -> Tensor",
            "histogramdd without its edges", "histogramdd(self, bins, range, weight, density)[0]"),
    CQ_BODY("aten::_histogramdd_from_bin_tensors(Tensor self, Tensor[] bins, *, Tensor? "
            "weight=None, bool density=False) -> Tensor",
            "histogramdd without its edges",
            "histogramdd.TensorList_bins(self, bins, None, weight, density)[0]"),
    { 0 }
};
