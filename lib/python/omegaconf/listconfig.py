"""omegaconf.listconfig."""


class ListConfig(list):
    pass
