"""The other arguments of onnxruntime.InferenceSession: session options and providers."""
from __future__ import annotations

import difflib
import time
import warnings
from typing import Any, Sequence, Tuple, Union

from ._call import caller
from ._errors import CalqueWarning

CPU = "CPUExecutionProvider"

#: The name of a provider, or a name and its options.
Provider = Union[str, Tuple[str, Any]]


_WITH_EFFECT = ("intra_op_num_threads", "enable_profiling", "profile_file_prefix")

#: Options that only change how onnxruntime works, and their defaults.
_WITHOUT_EFFECT = {
    "enable_cpu_mem_arena": True, "enable_mem_pattern": True, "enable_mem_reuse": True, "execution_mode": 0,
    "execution_order": 0, "graph_optimization_level": 99, "inter_op_num_threads": 0, "log_severity_level": -1,
    "log_verbosity_level": 0, "logid": "", "optimized_model_filepath": "", "use_deterministic_compute": False,
    "use_per_session_threads": True,
}


class SessionOptions:
    """Options of a session under onnxruntime's names; `Session` takes onnxruntime's own, too. These have
    an effect: intra_op_num_threads, enable_profiling and profile_file_prefix. The others may be set and
    read.

    >>> import calque
    >>> options = calque.SessionOptions()
    >>> options.intra_op_num_threads = 2
    >>> options
    SessionOptions(intra_op_num_threads=2)
    """

    def __init__(self) -> None:
        self.intra_op_num_threads = 0  #: how many threads compute; 0: one for each core
        self.enable_profiling = False  #: note when each node ran; see `Session.end_profiling`
        self.profile_file_prefix = "calque_profile_"
        vars(self).update(_WITHOUT_EFFECT)

    def __setattr__(self, name: str, value: Any) -> None:
        if not hasattr(self, name) and name not in _WITH_EFFECT:
            near = difflib.get_close_matches(name, [*_WITH_EFFECT, *_WITHOUT_EFFECT], 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise AttributeError(f"unknown session option {name!r}{hint}")
        super().__setattr__(name, value)

    def __repr__(self) -> str:
        plain = vars(SessionOptions())
        changed = (f"{name}={value!r}" for name, value in vars(self).items()
                   if name not in plain or plain[name] != value)
        return f"SessionOptions({', '.join(changed)})"

    def add_session_config_entry(self, key: str, value: str) -> None:
        """Without effect: the entries are onnxruntime's."""


def threads_of(options: Any) -> int:
    """Threads that session options ask for; 0: none."""
    return max(int(getattr(options, "intra_op_num_threads", 0) or 0), 0)


def profile_of(options: Any) -> bool | str:
    """The file for a profile that session options ask for."""
    if not getattr(options, "enable_profiling", False):
        return False
    prefix = getattr(options, "profile_file_prefix", "") or "calque_profile_"
    return f"{prefix}_{time.strftime('%Y-%m-%d_%H-%M-%S')}.json"


def check_providers(providers: Sequence[Provider] | None) -> None:
    """Warns about providers other than the CPU, as onnxruntime does about missing ones."""
    if isinstance(providers, str):
        raise TypeError(f"providers must be a list, not the text {providers!r}")
    for provider in providers or ():
        name = provider if isinstance(provider, str) else provider[0]
        if name != CPU:
            warnings.warn(f"calque has no provider '{name}'; it computes on the CPU ({CPU})",
                          CalqueWarning, stacklevel=caller())
