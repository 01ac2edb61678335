"""omegaconf: the classes, for isinstance and for configurations that a model file builds itself."""
from .dictconfig import DictConfig
from .listconfig import ListConfig
