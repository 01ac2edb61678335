/* Copies with the same elements in other places: rolled, flipped, turned, moved between
 * channels and space. */
#include "aten/geometry.h"
#include "kernel/pad.h"

/* ---- roll, flip, rotate ---- */

static cq_status flip_shape(cq_opcall *c)
{
    int64_t  dims[CQ_MAX_RANK];
    uint64_t mask = cq_arg_dims(c, "dims", cq_arg_tensor(c, "self")->rank);
    size_t   n    = cq_arg_i64s(c, "dims", dims, CQ_MAX_RANK);

    if (n && (size_t)__builtin_popcountll(mask) != n)
        return cq_call_fail(c, CQ_E_ARGUMENT, "dims must be different");
    return cq_shape_of_self(c);
}

static cq_status flip_run(cq_opcall *c)
{
    cq_tensor *self = cq_arg_tensor(c, "self");
    int64_t    dims[CQ_MAX_RANK];
    bool       none = cq_arg_i64s(c, "dims", dims, CQ_MAX_RANK) == 0;

    return cq_kernel_flip(cq_result_tensor(c, 0), self,
                          none ? 0 : cq_arg_dims(c, "dims", self->rank));
}

const cq_op_def cq_ops_shuffle[] = {
    CQ_BODY(
        "aten::roll(Tensor self, int[1] shifts, int[1] dims=[]) -> Tensor",
        "shifted; what falls off at the end comes first",
        "assert len(shifts) > 0 and (len(dims) == len(shifts) or len(dims) == 0 and len(shifts) == "
        "1), "
        "'got {len(shifts)} shifts for {len(dims)} dims'\n"
        "if len(dims) == 0: return roll_dim(self.reshape([-1]), 0, shifts[0]).reshape(self.shape)\n"
        "assert self.ndim > 0, 'a tensor without dimensions cannot be rolled along one'\n"
        "t = self\n"
        "for i in range(len(dims)): t = roll_dim(t, wrap_dim(dims[i], self.ndim), shifts[i])\n"
        "return t.clone() if size_hint(self.numel()) == 0 else t"),
    CQ_KERNEL("aten::flip(Tensor self, int[] dims) -> Tensor", "dimensions backwards", flip_shape,
              flip_run),
    CQ_BODY("aten::fliplr(Tensor self) -> Tensor", "left and right swapped",
            "assert self.ndim >= 2, 'wants at least 2 dimensions but got {self.ndim}'\n"
            "return self.flip([1])"),
    CQ_BODY("aten::flipud(Tensor self) -> Tensor", "up and down swapped",
            "assert self.ndim >= 1, 'wants at least 1 dimension'\n"
            "return self.flip([0])"),
    CQ_BODY("aten::rot90(Tensor self, int k=1, int[] dims=[0, 1]) -> Tensor",
            "turned by quarters of a circle",
            "assert len(dims) == 2 and self.ndim > 1 and dims[0] != dims[1] "
            "and abs(dims[0] - dims[1]) != self.ndim, 'wants two different dimensions to turn'\n"
            "k = k % 4\n"
            "if k == 0: return self.clone(memory_format=0)\n"
            "if k == 2: return self.flip(dims)\n"
            "return self.flip([dims[1] if k == 1 else dims[0]]).transpose(dims[0], dims[1])"),
    /* [..., c * r * r, h, w] to [..., c, h * r, w * r]. */
    CQ_BODY("aten::pixel_shuffle(Tensor self, int upscale_factor) -> Tensor",
            "channels become pixels",
            "r = upscale_factor\n"
            "assert self.ndim >= 3, 'wants at least 3 dimensions but got {self.ndim}'\n"
            "assert r > 0, 'the factor must be positive, not {r}'\n"
            "lead = self.shape[:-3]\n"
            "c, h, w = self.shape[-3:]\n"
            "n = self.ndim - 3\n"
            "assert c % (r * r) == 0, '{c} channels are not a multiple of {r} squared'\n"
            "c = c // (r * r)\n"
            "order = range(n) + [n, n + 3, n + 1, n + 4, n + 2]\n"
            "return regroup(self, lead + [c, r, r, h, w], order, lead + [c, h * r, w * r])"),
    /* [..., c, h * r, w * r] to [..., c * r * r, h, w]. */
    CQ_BODY("aten::pixel_unshuffle(Tensor self, int downscale_factor) -> Tensor",
            "pixels become channels",
            "r = downscale_factor\n"
            "assert self.ndim >= 3, 'wants at least 3 dimensions but got {self.ndim}'\n"
            "assert r > 0, 'the factor must be positive, not {r}'\n"
            "lead = self.shape[:-3]\n"
            "c, h, w = self.shape[-3:]\n"
            "n = self.ndim - 3\n"
            "assert h % r == 0 and w % r == 0, '{h} by {w} is not a multiple of {r}'\n"
            "order = range(n) + [n, n + 2, n + 4, n + 1, n + 3]\n"
            "split = lead + [c, h // r, r, w // r, r]\n"
            "return regroup(self, split, order, lead + [c * (r * r), h // r, w // r])"),
    /* Channels in groups, taken one of each group in turn. */
    CQ_BODY("aten::channel_shuffle(Tensor self, int groups) -> Tensor",
            "channels of groups in turn",
            "assert self.ndim >= 3, 'wants at least 3 dimensions but got {self.ndim}'\n"
            "n = self.shape[1]\n"
            "assert groups > 0 and n % groups == 0, '{n} channels do not make {groups} groups'\n"
            "split = [self.shape[0], groups, n // groups] + self.shape[2:]\n"
            "return regroup(self, split, [0, 2, 1] + range(3, self.ndim + 1), self.shape)"),
    CQ_BODY("aten::native_channel_shuffle(Tensor self, int groups) -> Tensor",
            "channels of groups in turn", "channel_shuffle(self, groups)"),
    { 0 }
};
