"""PIL.ImageDraw: not implemented."""
