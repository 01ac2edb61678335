"""pprint."""


def pprint(obj, *args, **kwargs):
    print(repr(obj))


def pformat(obj, *args, **kwargs):
    return repr(obj)
