"""Which processes belong to a run, read from `/proc`, and how to be rid of all of them."""

from __future__ import annotations

import os
import signal

TYPE_CHECKING = False
if TYPE_CHECKING:
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


def living_thread(pid: int) -> int:
    """
    By which number `/proc` tells what a process holds: that of its first thread, unless that has ended before the others.
    The same number where none lives. Raises `OSError` when it is gone.
    """
    if pages_of(pid)[0] != 0:
        return pid
    living = (thread for thread in map(int, os.listdir(f"/proc/{pid}/task")) if pages_of(thread)[0] != 0)
    return next(living, pid)


def pages_of(thread: int) -> list:
    """Virtual, resident and shared, of its whole process; zeros when the thread has ended."""
    with open(f"/proc/{thread}/statm", "rb", buffering=0) as file:
        return [int(field) for field in file.read().split()[:3]]


class Family:
    """The program and every process below it, until they are dead and buried."""

    def __init__(self, program: int, alone: bool) -> None:
        """`alone`: there is no namespace to kill; the family is the process group of the program, which `seccomp` lets nobody leave."""
        self.program = program
        self._alone = alone
        self._status: int | None = None

    def is_over(self) -> bool:
        """Whether the program has ended. Buries the dead, but not the program: its number must not become anybody else's."""
        while True:
            dead = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if dead is None:
                return False
            if dead.si_pid == self.program:
                return True
            os.waitpid(dead.si_pid, 0)

    def end(self) -> int:
        """
        Kills all that live and waits until they are dead; the wait status of the program. The kernel visits all of them in
        one go, so that no fork slips through. Never by user: the user's other processes are not ours.
        """
        while self._status is None:
            if self._alone:
                _kill(-self.program)
                # At its very beginning the program has no group yet.
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
        pass  # Nobody is left.


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
