"""What an untrusted file contains, without running any of it."""
from __future__ import annotations

import os
from ctypes import byref
from dataclasses import dataclass

from ._call import Handle, call
from ._lib import encoded, lib, text


class _AuditHandle(Handle):
    _free = lib.cq_audit_free


@dataclass(frozen=True)
class AuditFinding:
    """A reason of a verdict, or a fact about the file (verdict "safe")."""

    verdict: str  #: "safe", "unknown" or "hostile"
    code: str  #: stable: "dangerous-global"
    where: str  #: "model.pt!archive/data.pkl"
    what: str  #: "imports os.system"


@dataclass(frozen=True)
class Audit:
    """The result of `calque.audit`."""

    verdict: str  #: "safe", "unknown" or "hostile"
    format: str  #: "PyTorch archive"
    findings: list[AuditFinding]


def audit(path: str | os.PathLike[str]) -> Audit:
    """Scans a file: pickles of PyTorch, TorchScript, .pt2, ONNX, safetensors, .npy, zip. The verdict is
    "safe" if loading it builds plain data, "hostile" if it would run code, reach other files or deceive
    its reader, and else "unknown".

    >>> import calque, pickle, tempfile
    >>> with tempfile.NamedTemporaryFile(suffix=".pkl") as file:
    ...     _ = file.write(pickle.dumps([1, 2])), file.flush()
    ...     calque.audit(file.name).verdict
    'safe'
    """
    handle = _AuditHandle()
    call(lib.cq_audit_file, byref(handle), encoded(os.fspath(path)))
    found = [lib.cq_audit_at(handle, i).contents for i in range(lib.cq_audit_count(handle))]
    return Audit(text(lib.cq_verdict_name(lib.cq_audit_verdict(handle))), text(lib.cq_audit_format(handle)),
                 [AuditFinding(text(lib.cq_verdict_name(f.verdict)), text(f.code), text(f.where), text(f.what))
                  for f in found])
