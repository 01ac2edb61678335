"""PIL.ImageEnhance: not implemented."""
