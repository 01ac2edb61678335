"""abc: abstract methods are not checked."""


class ABC:
    pass


class ABCMeta(type):
    pass


def abstractmethod(funcobj):
    return funcobj


abstractproperty = property
abstractclassmethod = classmethod
abstractstaticmethod = staticmethod
