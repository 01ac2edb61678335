"""torch.hub: files are not downloaded."""


def _refuse(what):
    raise RuntimeError(f"{what}: calque does not download files; pass the checkpoint by "
                       "--weights FILE and its source by --path DIR")


def load_state_dict_from_url(url, model_dir=None, map_location=None, progress=True,
                             check_hash=False, file_name=None, weights_only=False):
    _refuse(f"the weights at {url}")


def load(repo_or_dir, model, *args, **kwargs):
    _refuse(f"torch.hub.load('{repo_or_dir}', '{model}')")


def download_url_to_file(url, dst, hash_prefix=None, progress=True):
    _refuse(f"the file at {url}")


def _get_torch_home():
    return "."


def get_dir():
    return "."


def _get_torch_home():
    return "."


def set_dir(d):
    return None
