"""Finds the processes of a run in `/proc`, and kills them."""

from __future__ import annotations

import os
import signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Iterator


def in_this_namespace() -> list:
    """All processes except process 1, the supervisor."""
    return [pid for pid in map(int, filter(str.isdecimal, os.listdir("/proc"))) if pid != 1]


def descendants() -> list:
    """All descendants of this process, which is a subreaper and inherits orphans."""
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


def living_thread(pid: int) -> int:
    """
    A thread of a process with which `/proc` shows its memory: the first one, unless it has exited before the others. The same id if
    none is alive. Raises `OSError` if the process is gone.
    """
    if pages_of(pid)[0] != 0:
        return pid
    living = (thread for thread in map(int, os.listdir(f"/proc/{pid}/task")) if pages_of(thread)[0] != 0)
    return next(living, pid)


def pages_of(thread: int) -> list:
    """Virtual, resident and shared pages of its process; zeros if the thread has exited."""
    with open(f"/proc/{thread}/statm", "rb", buffering=0) as file:
        return [int(field) for field in file.read().split()[:3]]


class Family:
    """The program and all its descendants, until they are dead and reaped."""

    def __init__(self, program: int, alone: bool) -> None:
        """`alone`: without a pid namespace, kill the program's process group, which `seccomp` does not let processes leave."""
        self.program = program
        self._alone = alone
        self._status: int | None = None

    def is_over(self) -> bool:
        """Whether the program has exited. Reaps the dead except the program, whose id must not be reused."""
        while True:
            dead = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if dead is None:
                return False
            if dead.si_pid == self.program:
                return True
            os.waitpid(dead.si_pid, 0)

    def end(self) -> int:
        """
        Kills all processes and waits until they are dead. Returns the wait status of the program. One kill call signals all of them,
        so that no fork escapes. Never by user id: the user has other processes.
        """
        while self._status is None:
            if self._alone:
                _kill(-self.program)
                # At first the program has no group yet.
                _kill(self.program)
            else:
                _kill(-1)
            self._status = self._bury()
        return self._status

    def _bury(self) -> int | None:
        status = None
        while True:
            try:
                pid, found = os.waitpid(-1, 0)
            except ChildProcessError:
                return status
            if pid == self.program:
                status = found


def _kill(target: int) -> None:
    try:
        os.kill(target, signal.SIGKILL)
    except ProcessLookupError:
        pass  # None is left.


def _parents() -> Iterator[tuple]:
    for name in os.listdir("/proc"):
        if not name.isdecimal():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                text = file.read()
        except OSError:
            continue
        # The name in parentheses may contain spaces and parentheses.
        fields = text[text.rindex(b")") + 2 :].split()
        yield int(name), int(fields[1])
