"""torch.utils.model_zoo: files are not downloaded."""
from ..hub import load_state_dict_from_url


def load_url(url, model_dir=None, map_location=None, progress=True, check_hash=False,
             file_name=None):
    return load_state_dict_from_url(url)
