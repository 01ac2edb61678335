"""PIL.ImageColor: not implemented."""
