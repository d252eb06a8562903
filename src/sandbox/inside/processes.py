"""Which processes belong to a run, read from `/proc`, and how to be rid of all of them."""

from __future__ import annotations

import os
import signal
import time
from typing import Iterator


def in_this_namespace() -> list:
    """Everyone but process 1, which asks."""
    return [pid for pid in map(int, filter(str.isdecimal, os.listdir("/proc"))) if pid != 1]


def descendants() -> list:
    """Everyone below this process. As a subreaper it also inherits those whose parents have died."""
    children: dict = {}
    for pid, parent in _parents():
        children.setdefault(parent, []).append(pid)
    found: list = []
    left = [os.getpid()]
    while left:
        below = children.get(left.pop(), [])
        found += below
        left += below
    return found


def kill_namespace() -> None:
    """Every process but this one, which is number 1; the kernel visits them all in one go, so that no fork slips through."""
    while True:
        try:
            os.kill(-1, signal.SIGKILL)
        except ProcessLookupError:
            pass  # Nobody is left; those that are dead already are reaped below.
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def kill_descendants() -> None:
    """
    Stops them first, so that none can fork while the rest are found, then kills. Ends when none is left.
    Never by user: the user's other processes are not ours.
    """
    stopped: set = set()
    while True:
        found = [pid for pid in descendants() if pid not in stopped]
        if not found:
            break
        for pid in found:
            _signal(pid, signal.SIGSTOP)
            stopped.add(pid)
    while True:
        for pid in descendants():
            _signal(pid, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.001)


def reap(program: int) -> int | None:
    """Buries the dead; the wait status of the program when it is among them."""
    status = None
    while True:
        try:
            pid, found = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return status
        if pid == 0:
            return status
        if pid == program:
            status = found


def _signal(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass  # It died by itself.


def _parents() -> Iterator[tuple]:
    for name in os.listdir("/proc"):
        if not name.isdecimal():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                text = file.read()
        except OSError:
            continue
        # The name in parentheses may hold anything, spaces and parentheses too.
        fields = text[text.rindex(b")") + 2 :].split()
        yield int(name), int(fields[1])
