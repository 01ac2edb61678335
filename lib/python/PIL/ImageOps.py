"""PIL.ImageOps: not implemented."""
