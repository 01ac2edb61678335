"""torch.signal is not implemented."""


def __getattr__(name):
    raise NotImplementedError(f"torch.signal.{name} is not implemented; "
                              "use the window functions of torch, such as torch.hann_window")
