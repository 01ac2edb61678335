"""copy."""
from calque import Tensor, copy_dict_of


class Error(Exception):
    pass


def copy(x):
    if isinstance(x, list):
        return list(x)
    if isinstance(x, dict) and type(x) is dict:
        return dict(x)
    if isinstance(x, set):
        return set(x)
    if _is_plain(x):
        return x
    if hasattr(x, "__copy__"):
        return x.__copy__()
    return copy_dict_of(x, lambda value: value)


def _is_plain(x):
    return (x is None or isinstance(x, (int, float, bool, str, tuple, type, range))
            or isinstance(x, Tensor) or not hasattr(x, "__dict__"))


def deepcopy(x, memo=None):
    """An object that occurs twice is copied once."""
    if memo is None:
        memo = {}
    if x is None or isinstance(x, (int, float, bool, str, type, range)):
        return x
    key = id(x)
    if key in memo:
        return memo[key]
    if isinstance(x, Tensor):
        result = _copy_tensor(x)
    elif type(x) is list:
        result = []
        memo[key] = result
        for item in x:
            result.append(deepcopy(item, memo))
    elif type(x) is tuple:
        result = tuple(deepcopy(item, memo) for item in x)
    elif type(x) is dict:
        result = {}
        memo[key] = result
        for k, v in x.items():
            result[deepcopy(k, memo)] = deepcopy(v, memo)
    elif type(x) is set:
        result = set(deepcopy(item, memo) for item in x)
    elif callable(x) and not hasattr(type(x), "__call__"):
        result = x  # a function
    elif hasattr(x, "__deepcopy__"):
        result = x.__deepcopy__(memo)
    elif not hasattr(x, "__dict__"):
        result = x
    else:
        result = copy_dict_of(x, lambda value: deepcopy(value, memo), memo)
    memo[key] = result
    return result


def _copy_tensor(x):
    from calque import Parameter
    if isinstance(x, Parameter):
        return Parameter(x.data.clone(), x.requires_grad)
    return x.clone()


def replace(obj, /, **changes):
    from dataclasses import replace as change
    return change(obj, **changes)
