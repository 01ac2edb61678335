"""torch.nn.Module: the tree of modules, its parameters and buffers, and the call of a module.

An instance keeps its tensors and children in three dictionaries, `_parameters`, `_buffers` and
`_modules`, as PyTorch does: model files and pickled modules name them. Dictionaries of hooks are
made when the first hook is registered.
"""
from collections import OrderedDict, namedtuple

import torch
from calque import Parameter, Tensor, call_module, load_into
from ..parameter import Buffer, UninitializedTensor


class _IncompatibleKeys(namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    """The result of load_state_dict."""

    def __repr__(self):
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return (f"_IncompatibleKeys(missing_keys={self.missing_keys}, "
                f"unexpected_keys={self.unexpected_keys})")


class RemovableHandle:
    """Removes a hook: what the register functions return."""

    def __init__(self, hooks, key):
        self.hooks = hooks
        self.id = key

    def remove(self):
        if self.id in self.hooks:
            del self.hooks[self.id]

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        self.remove()


def _next_key(hooks):
    return max(hooks) + 1 if hooks else 0


def _indent(text, width):
    lines = text.split("\n")
    return "\n".join(lines[:1] + [" " * width + line for line in lines[1:]])


def _quoted(keys):
    return ", ".join(f'"{key}"' for key in keys)


_EMPTY = {}


class Module:
    training = True
    dump_patches = False
    call_super_init = False
    _version = 1

    # Shared and empty until an instance registers its first hook.
    _forward_hooks = _EMPTY
    _forward_pre_hooks = _EMPTY
    _forward_hooks_with_kwargs = _EMPTY  # keys of hooks that take keyword arguments, too
    _forward_pre_hooks_with_kwargs = _EMPTY
    _backward_hooks = _EMPTY
    _load_state_dict_pre_hooks = _EMPTY
    _load_state_dict_post_hooks = _EMPTY
    _state_dict_hooks = _EMPTY

    def __init__(self, *args, **kwargs):
        own = self.__dict__
        own["training"] = True
        own["_parameters"] = OrderedDict()
        own["_buffers"] = OrderedDict()
        own["_modules"] = OrderedDict()
        own["_non_persistent_buffers_set"] = set()

    def forward(self, *args, **kwargs):
        raise NotImplementedError(
            f'Module [{type(self).__name__}] is missing the required "forward" function')

    # ---- attributes ----

    def __getattr__(self, name):
        own = self.__dict__
        for group in ("_parameters", "_buffers", "_modules"):
            if group in own and name in own[group]:
                return own[group][name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name, value):
        own = self.__dict__
        if isinstance(value, Parameter) or isinstance(value, UninitializedTensor):
            if "_parameters" not in own:
                raise AttributeError("cannot assign parameters before Module.__init__() call")
            if isinstance(value, UninitializedTensor) and value.is_buffer:
                self._forget(name, "_buffers")
                own["_buffers"][name] = value
            else:
                self._forget(name, "_parameters")
                self.register_parameter(name, value)
        elif "_parameters" in own and name in own["_parameters"]:
            if value is not None:
                raise TypeError(f"cannot assign '{_type_name(value)}' as parameter '{name}' "
                                "(torch.nn.Parameter or None expected)")
            own["_parameters"][name] = None
        elif isinstance(value, Module):
            if "_modules" not in own:
                raise AttributeError("cannot assign module before Module.__init__() call")
            self._forget(name, "_modules")
            own["_modules"][name] = value
        elif "_modules" in own and name in own["_modules"]:
            if value is not None:
                raise TypeError(f"cannot assign '{_type_name(value)}' as child module '{name}' "
                                "(torch.nn.Module or None expected)")
            own["_modules"][name] = None
        elif "_buffers" in own and name in own["_buffers"]:
            if value is not None and not isinstance(value, Tensor):
                raise TypeError(f"cannot assign '{_type_name(value)}' as buffer '{name}' "
                                "(torch.Tensor or None expected)")
            own["_buffers"][name] = value
        elif isinstance(value, Buffer):
            self.register_buffer(name, value.data, value.persistent)
        else:
            object.__setattr__(self, name, value)

    def __delattr__(self, name):
        own = self.__dict__
        for group in ("_parameters", "_buffers", "_modules"):
            if group in own and name in own[group]:
                del own[group][name]
                own["_non_persistent_buffers_set"].discard(name)
                return
        object.__delattr__(self, name)

    def _forget(self, name, keep):
        """An attribute moves to the dictionary `keep`: removes it from elsewhere."""
        own = self.__dict__
        if name in own:
            del own[name]
        for group in ("_parameters", "_buffers", "_modules"):
            if group != keep and name in own[group]:
                del own[group][name]
        if keep != "_buffers":
            own["_non_persistent_buffers_set"].discard(name)

    def __dir__(self):
        own = self.__dict__
        names = list(dir(type(self))) + list(own)
        names = names + list(own["_parameters"]) + list(own["_modules"]) + list(own["_buffers"])
        return sorted(name for name in names if not name[0].isdigit())

    def __setstate__(self, state):
        self.__dict__.update(state)
        own = self.__dict__
        for group in ("_parameters", "_buffers", "_modules"):
            if group not in own:
                own[group] = OrderedDict()
        if "_non_persistent_buffers_set" not in own:
            own["_non_persistent_buffers_set"] = set()

    # ---- registration ----

    def _check_name(self, name, kind, group):
        if "_parameters" not in self.__dict__:
            raise AttributeError(f"cannot assign {kind} before Module.__init__() call")
        if not isinstance(name, str):
            raise TypeError(f"{kind} name should be a string. Got {_type_name(name)}")
        if "." in name:
            raise KeyError(f'{kind} name can\'t contain ".", got: {name}' if kind == "module"
                           else f'{kind} name can\'t contain "."')
        if name == "":
            raise KeyError(f'{kind} name can\'t be empty string ""')
        if name not in group and self._has_attribute(name):
            raise KeyError(f"attribute '{name}' already exists")

    def _has_attribute(self, name):
        """hasattr(self, name) without the exception of __getattr__, which is slow."""
        own = self.__dict__
        return (name in own or name in own["_parameters"] or name in own["_buffers"]
                or name in own["_modules"] or hasattr(type(self), name))

    def register_buffer(self, name, tensor, persistent=True):
        self._check_name(name, "buffer", self._buffers)
        if (tensor is not None and not isinstance(tensor, Tensor)
                and not isinstance(tensor, UninitializedTensor)):
            raise TypeError(f"cannot assign '{_type_name(tensor)}' object to buffer '{name}' "
                            "(torch Tensor or None required)")
        self._buffers[name] = tensor
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def register_parameter(self, name, param):
        self._check_name(name, "parameter", self._parameters)
        if (param is not None and not isinstance(param, Parameter)
                and not isinstance(param, UninitializedTensor)):
            raise TypeError(f"cannot assign '{_type_name(param)}' object to parameter '{name}' "
                            "(torch.nn.Parameter or None required)")
        self._parameters[name] = param

    def add_module(self, name, module):
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{_type_name(module)} is not a Module subclass")
        self._check_name(name, "module", self._modules)
        self._modules[name] = module

    def register_module(self, name, module):
        self.add_module(name, module)

    # ---- look-up by path ----

    def get_submodule(self, target):
        module = self
        for name in target.split(".") if target else []:
            if not hasattr(module, name):
                raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
            module = getattr(module, name)
            if not isinstance(module, Module):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return module

    def set_submodule(self, target, module, strict=False):
        path, _, name = target.rpartition(".")
        setattr(self.get_submodule(path), name, module)

    def _get_tensor(self, target, group, kind):
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
        if name not in module.__dict__[group]:
            raise AttributeError(f"`{name}` is not {kind}")
        return module.__dict__[group][name]

    def get_parameter(self, target):
        return self._get_tensor(target, "_parameters", "an nn.Parameter")

    def get_buffer(self, target):
        return self._get_tensor(target, "_buffers", "a buffer")

    def get_extra_state(self):
        raise RuntimeError("get_extra_state() is not defined for this module")

    def set_extra_state(self, state):
        raise RuntimeError("set_extra_state() is not defined for this module")

    # ---- walks ----

    def named_children(self):
        seen = set()
        for name, module in self._modules.items():
            if module is not None and id(module) not in seen:
                seen.add(id(module))
                yield name, module

    def children(self):
        for _, module in self.named_children():
            yield module

    def _collect_modules(self, seen, prefix, remove_duplicate, out):
        if remove_duplicate:
            if id(self) in seen:
                return
            seen.add(id(self))
        out.append((prefix, self))
        for name, module in self._modules.items():
            if module is not None:
                path = prefix + "." + name if prefix else name
                module._collect_modules(seen, path, remove_duplicate, out)

    def named_modules(self, memo=None, prefix="", remove_duplicate=True):
        seen = set() if memo is None else set(id(m) for m in memo)
        out = []
        self._collect_modules(seen, prefix, remove_duplicate, out)
        if memo is not None:
            for _, module in out:
                memo.add(module)
        return iter(out)

    def modules(self):
        for _, module in self.named_modules():
            yield module

    def _named_members(self, get_members_fn, prefix="", recurse=True, remove_duplicate=True):
        seen = set()
        if recurse:
            modules = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
        else:
            modules = [(prefix, self)]
        for path, module in modules:
            for name, member in get_members_fn(module):
                if member is None or (remove_duplicate and id(member) in seen):
                    continue
                seen.add(id(member))
                yield (path + "." + name if path else name), member

    def named_parameters(self, prefix="", recurse=True, remove_duplicate=True):
        return self._named_members(lambda module: module._parameters.items(), prefix, recurse,
                                   remove_duplicate)

    def parameters(self, recurse=True):
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_buffers(self, prefix="", recurse=True, remove_duplicate=True):
        return self._named_members(lambda module: module._buffers.items(), prefix, recurse,
                                   remove_duplicate)

    def buffers(self, recurse=True):
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    # ---- changes of the whole tree ----

    def apply(self, fn):
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def _apply(self, fn, recurse=True):
        if recurse:
            for module in self.children():
                module._apply(fn)
        for name, parameter in self._parameters.items():
            if parameter is not None:
                data = parameter.data
                converted = fn(data)
                if converted is not data:
                    parameter.data = converted
        for name, buffer in list(self._buffers.items()):
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def train(self, mode=True):
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self):
        return self.train(False)

    def requires_grad_(self, requires_grad=True):
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none=True):
        for parameter in self.parameters():
            parameter.grad = None

    def to(self, *args, **kwargs):
        """Only a dtype matters: there is one device and one memory format."""
        dtype = kwargs.get("dtype")
        for value in args:
            if isinstance(value, torch.dtype):
                dtype = value
            elif isinstance(value, Tensor):
                dtype = value.dtype
        if dtype is None:
            return self
        if not (dtype.is_floating_point or dtype.is_complex):
            raise TypeError("nn.Module.to only accepts floating point or complex dtypes, "
                            f"but got desired dtype={dtype}")
        return self._apply(
            lambda t: t.to(dtype) if t.is_floating_point() or t.is_complex() else t)

    def type(self, dst_type):
        return self._apply(lambda t: t.to(dst_type))

    def float(self):
        return self._apply(lambda t: t.float() if t.is_floating_point() else t)

    def double(self):
        return self._apply(lambda t: t.double() if t.is_floating_point() else t)

    def half(self):
        return self._apply(lambda t: t.half() if t.is_floating_point() else t)

    def bfloat16(self):
        return self._apply(lambda t: t.bfloat16() if t.is_floating_point() else t)

    def cpu(self):
        return self

    def cuda(self, device=None):
        return self

    def xpu(self, device=None):
        return self

    def to_empty(self, *, device=None, recurse=True):
        return self

    def share_memory(self):
        return self

    def compile(self, *args, **kwargs):
        """The exporter sees the same operators with and without compilation."""

    # ---- state ----

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        for name, parameter in self._parameters.items():
            if parameter is not None:
                destination[prefix + name] = parameter if keep_vars else parameter.detach()
        for name, buffer in self._buffers.items():
            if buffer is not None and name not in self._non_persistent_buffers_set:
                destination[prefix + name] = buffer if keep_vars else buffer.detach()

    def state_dict(self, *args, destination=None, prefix="", keep_vars=False):
        if len(args) > 0:
            destination = args[0] if destination is None else destination
            prefix = args[1] if len(args) > 1 and prefix == "" else prefix
            keep_vars = args[2] if len(args) > 2 and not keep_vars else keep_vars
        if destination is None:
            destination = OrderedDict()
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=prefix + name + ".",
                                  keep_vars=keep_vars)
        for hook in self._state_dict_hooks.values():
            result = hook(self, destination, prefix, {})
            if result is not None:
                destination = result
        return destination

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, strict, missing_keys,
                              unexpected_keys, error_msgs):
        for hook in self._load_state_dict_pre_hooks.values():
            hook(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys,
                 error_msgs)
        own = {}
        for name, tensor in self._parameters.items():
            if tensor is not None:
                own[name] = tensor
        for name, tensor in self._buffers.items():
            if tensor is not None and name not in self._non_persistent_buffers_set:
                own[name] = tensor
        for name, tensor in own.items():
            key = prefix + name
            if key not in state_dict:
                if strict:
                    missing_keys.append(key)
                continue
            value = state_dict[key]
            if not isinstance(value, Tensor):
                error_msgs.append(f'While copying the parameter named "{key}", expected '
                                  "torch.Tensor or Tensor-like object from checkpoint but "
                                  f"received {type(value)}")
                continue
            if isinstance(tensor, UninitializedTensor):
                tensor = self._materialize(name, value.shape)
            if value.dim() == 1 and tensor.dim() == 0:
                value = value[0]
            if value.shape != tensor.shape:
                error_msgs.append(f"size mismatch for {key}: copying a param with shape "
                                  f"{value.shape} from checkpoint, the shape in current model is "
                                  f"{tensor.shape}.")
                continue
            load_into(tensor, value)
        if strict:
            for key in state_dict:
                if key.startswith(prefix):
                    name = key[len(prefix):].split(".", 1)[0]
                    if name not in self._modules and name not in own:
                        unexpected_keys.append(key)

    def _materialize(self, name, shape):
        """An uninitialized tensor of a lazy module gets its shape."""
        if name in self._buffers:
            self._buffers[name] = self._buffers[name].materialize(shape)
            return self._buffers[name]
        self._parameters[name] = self._parameters[name].materialize(shape)
        return self._parameters[name]

    def load_state_dict(self, state_dict, strict=True, assign=False):
        if not isinstance(state_dict, dict):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        missing, unexpected, errors = [], [], []
        versions = getattr(state_dict, "_metadata", None)
        versions = {} if versions is None else versions
        state_dict = OrderedDict(state_dict)

        def load(module, prefix):
            module._load_from_state_dict(state_dict, prefix, versions.get(prefix[:-1], {}), True,
                                         missing, unexpected, errors)
            for name, child in module._modules.items():
                if child is not None:
                    load(child, prefix + name + ".")
            result = _IncompatibleKeys(missing, unexpected)
            for hook in module._load_state_dict_post_hooks.values():
                hook(module, result)

        load(self, "")
        if strict:
            if len(unexpected) > 0:
                errors.insert(0, f"Unexpected key(s) in state_dict: {_quoted(unexpected)}. ")
            if len(missing) > 0:
                errors.insert(0, f"Missing key(s) in state_dict: {_quoted(missing)}. ")
        if len(errors) > 0:
            text = "\n\t".join(errors)
            raise RuntimeError(
                f"Error(s) in loading state_dict for {type(self).__name__}:\n\t{text}")
        return _IncompatibleKeys(missing, unexpected)

    # ---- hooks ----

    def _register(self, group, hook):
        """Adds a hook; the first one replaces the shared empty dictionary by an own one."""
        if group not in self.__dict__:
            self.__dict__[group] = OrderedDict()
        hooks = self.__dict__[group]
        key = _next_key(hooks)
        hooks[key] = hook
        return RemovableHandle(hooks, key)

    def _register_forward(self, group, hook, with_kwargs):
        handle = self._register(group, hook)
        if with_kwargs:
            kind = group + "_with_kwargs"
            if kind not in self.__dict__:
                self.__dict__[kind] = OrderedDict()
            self.__dict__[kind][handle.id] = True
        return handle

    def register_forward_hook(self, hook, *, prepend=False, with_kwargs=False, always_call=False):
        return self._register_forward("_forward_hooks", hook, with_kwargs)

    def register_forward_pre_hook(self, hook, *, prepend=False, with_kwargs=False):
        return self._register_forward("_forward_pre_hooks", hook, with_kwargs)

    def register_full_backward_hook(self, hook, prepend=False):
        return self._register("_backward_hooks", hook)

    def register_full_backward_pre_hook(self, hook, prepend=False):
        return self._register("_backward_hooks", hook)

    def register_backward_hook(self, hook):
        return self._register("_backward_hooks", hook)

    def register_state_dict_post_hook(self, hook):
        return self._register("_state_dict_hooks", hook)

    def _register_state_dict_hook(self, hook):
        return self._register("_state_dict_hooks", hook)

    def register_load_state_dict_pre_hook(self, hook):
        return self._register("_load_state_dict_pre_hooks",
                              lambda *args: hook(self, *args))

    def _register_load_state_dict_pre_hook(self, hook, with_module=False):
        if with_module:
            return self.register_load_state_dict_pre_hook(hook)
        return self._register("_load_state_dict_pre_hooks", hook)

    def register_load_state_dict_post_hook(self, hook):
        return self._register("_load_state_dict_post_hooks", hook)

    def __call__(self, *args, **kwargs):
        if not self._forward_pre_hooks and not self._forward_hooks:
            return call_module(self, self.forward, args, kwargs)
        for key, hook in list(self._forward_pre_hooks.items()):
            if key in self._forward_pre_hooks_with_kwargs:
                changed = hook(self, args, kwargs)
                if changed is not None:
                    args, kwargs = changed
            else:
                changed = hook(self, args)
                if changed is not None:
                    args = changed if isinstance(changed, tuple) else (changed,)
        result = call_module(self, self.forward, args, kwargs)
        for key, hook in list(self._forward_hooks.items()):
            if key in self._forward_hooks_with_kwargs:
                changed = hook(self, args, kwargs, result)
            else:
                changed = hook(self, args, result)
            if changed is not None:
                result = changed
        return result

    # ---- text ----

    def _get_name(self):
        return type(self).__name__

    def extra_repr(self):
        return ""

    def __repr__(self):
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        children = []
        for name, module in self._modules.items():
            children.append(f"({name}): " + _indent(repr(module), 2))
        text = self._get_name() + "("
        if len(lines) == 1 and len(children) == 0:
            text += lines[0]
        elif len(lines) + len(children) > 0:
            text += "\n  " + "\n  ".join(lines + children) + "\n"
        return text + ")"


def _type_name(value):
    return f"{type(value).__module__}.{type(value).__name__}" if isinstance(value, Module) \
        else f"torch.{type(value).__name__}" if isinstance(value, Tensor) \
        else type(value).__name__
