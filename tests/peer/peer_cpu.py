"""Limits the instructions of the peers; imported before whatever imports PyTorch.

oneDNN makes code for the processor it finds. The one of Debian's PyTorch dies of SIGILL where the
processor has AMX but the system did not grant it, so it may use AVX-512 at most. Without AVX-512
it chooses less by itself. A value from outside stays, and subprocesses inherit it.
"""
import os

os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE")
