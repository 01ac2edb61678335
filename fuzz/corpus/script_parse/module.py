class Net(Module):
  __parameters__ = ["weight", ]
  __annotations__ = []
  __annotations__["0"] = __torch__.Conv
  n : Final[int] = 2
  def forward(self: __torch__.Net,
    x: Tensor, k: float=-1.5e-3) -> Tensor:
    a, b, = torch.max(x, 0)
    if bool(a):
      _0 = getattr(self, "0\001")
    else:
      pass
    return (_0).forward(x, )
