"""tqdm.auto."""
from . import tqdm, trange
