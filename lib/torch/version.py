"""torch.version."""
__version__ = "2.6.0"
cuda = None
hip = None
git_version = ""
