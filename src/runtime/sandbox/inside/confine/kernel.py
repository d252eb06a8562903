"""System calls that Python does not provide. Errors are raised as `OSError`."""

from __future__ import annotations

import ctypes
import os

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_SECCOMP = 22
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def prctl(option: int, *arguments: object) -> int:
    """`prctl(2)`; missing arguments are zero, as several options require."""
    return _checked(_libc.prctl(option, *_passed((*arguments, 0, 0, 0, 0)[:4])))


def call(number: int, *arguments: object) -> int:
    """`syscall(2)`."""
    return _checked(_libc.syscall(*_passed((number, *arguments))))


def _passed(arguments: tuple) -> list:
    """Integers as long, everything else as ctypes takes it."""
    return [ctypes.c_long(value) if isinstance(value, int) else value for value in arguments]


def _checked(result: int) -> int:
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return int(result)
