"""PIL.ImageDraw: a class to inherit from. Drawing is not implemented."""


class ImageDraw:
    pass
