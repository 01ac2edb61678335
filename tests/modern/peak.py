#!/usr/bin/python3
"""Runs a command, and fails if it took more memory than that.

    peak.py MB PROGRAM [ARGUMENT…]
"""
import resource
import subprocess
import sys

code = subprocess.call(sys.argv[2:])
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
print(f"at most {peak:.0f} MB of memory")
sys.exit(code or peak > float(sys.argv[1]))
