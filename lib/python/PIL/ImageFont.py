"""PIL.ImageFont: not implemented."""
