"""PIL, as far as source files of models name it. Images are not processed."""
__version__ = "9.4.0"
PILLOW_VERSION = "9.4.0"
