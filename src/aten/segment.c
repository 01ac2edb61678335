/* Reductions into places that indices or lengths name, in terms of scatter_reduce; and what finds
 * a fixed number of places. */
#include "aten/op.h"

const cq_op_def cq_ops_segment[] = {
    CQ_BODY("aten::index_reduce(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, "
            "bool include_self=True) -> Tensor",
            "a copy with the slices of source reduced into those that index names",
            "assert reduce in ['prod', 'mean', 'amax', 'amin'],"
            " 'reduce is prod, mean, amax or amin, not {reduce}'\n"
            "assert index.ndim <= 1, 'index should have one dimension'\n"
            "d = wrap_dim(dim, self.ndim)\n"
            "sizes = [index.numel() if i == d else 1 for i in range(source.ndim)]\n"
            "at = index.reshape(sizes).expand(source.shape)\n"
            "return scatter_reduce(self, d, at, source, reduce, include_self=include_self)"),
    /* Where segments end tells which one a place is in: the number of ends that are not behind it.
     * What lies behind the last end is reduced into one more segment, which is cut off. */
    CQ_BODY("aten::segment_reduce(Tensor data, str reduce, *, Tensor? lengths=None, "
            "Tensor? indices=None, Tensor? offsets=None, int axis=0, bool unsafe=False, "
            "Scalar? initial=None) -> Tensor",
            "reductions of what lies beside each other, in segments of these lengths",
            "assert reduce in ['sum', 'mean', 'max', 'min', 'prod'],"
            " 'reduce is sum, mean, max, min or prod, not {reduce}'\n"
            "if indices is not None: raise NotImplementedError('indices are not known here')\n"
            "if lengths is not None: ends = lengths.cumsum(-1)\n"
            "elif offsets is not None: ends = offsets.slice(-1, 1);"
            " lengths = ends - offsets.slice(-1, 0, -1)\n"
            "else: raise ValueError('wants lengths or offsets')\n"
            "d = wrap_dim(axis, data.ndim); n = ends.shape[-1]; more = [1] * (data.ndim - d - 1)\n"
            "place = arange(data.shape[d]).unsqueeze(1)\n"
            "segment = (ends.unsqueeze(-2) <= place).sum(-1)\n"
            "segment = segment.reshape(segment.shape + more).expand(data.shape)\n"
            "if initial is not None: first = initial\n"
            "elif reduce == 'max': first = -math.inf\n"
            "elif reduce == 'min': first = math.inf\n"
            "else: first = 1 if reduce == 'prod' else 0\n"
            "y = full(data.shape[:d] + [n + 1] + data.shape[d + 1:], first, dtype=data.dtype)\n"
            "how = 'prod' if reduce == 'prod' else 'amax' if reduce == 'max'"
            " else 'amin' if reduce == 'min' else 'sum'\n"
            "y = scatter_reduce(y, d, segment, data, how).slice(d, 0, n)\n"
            "if reduce != 'mean': return y\n"
            "count = lengths.reshape(lengths.shape + more)\n"
            "return y / (count.clamp(min=1) if initial is not None else count)"),
    CQ_BODY("aten::nonzero_static(Tensor self, *, SymInt size, int fill_value=-1) -> Tensor",
            "where elements are not 0, as many as asked for, with fill_value for what lacks",
            "rest = full([size, self.ndim], fill_value, dtype=torch.int64)\n"
            "return cat([nonzero(self), rest]).slice(0, 0, size).reshape([size, self.ndim])"),
    /* Of all rows of r places, numbered in order, those that rise: what remains of their rank is
     * above 0. */
    CQ_BODY("aten::combinations(Tensor self, int r=2, bool with_replacement=False) -> Tensor",
            "the combinations of r elements, a row each",
            "assert self.ndim == 1, 'wants one dimension'\n"
            "assert r >= 0, 'wants a length of at least 0'\n"
            "n = self.shape[0]\n"
            "if r == 0: return zeros([0], dtype=self.dtype)\n"
            "many = 1\n"
            "for i in range(r): many = many * (n + i if with_replacement else n - i) // (i + 1)\n"
            "p = arange(prod([n] * r))\n"
            "at = [p // prod([n for i in range(int(k) + 1, r)]) % n for k in range(r)]\n"
            "rank = prod([n] * r) - p\n"
            "for k in range(r - 1): rank = rank * (at[k] <= at[k + 1] if with_replacement"
            " else at[k] < at[k + 1])\n"
            "rank, p = topk(rank, many)\n"
            "at = [p // prod([n for i in range(int(k) + 1, r)]) % n for k in range(r)]\n"
            "return index_select(self, 0, stack(at, 1).reshape([-1])).reshape([many, r])"),
    { 0 }
};
