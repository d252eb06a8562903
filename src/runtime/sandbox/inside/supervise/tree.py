"""The processes of a run without a sandbox, which may start others in groups and sessions of their own."""

from __future__ import annotations

import os
import signal
import sys
import time

import processes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Callable

#: Processes of other users, such as those of `sudo`, cannot be killed.
PATIENCE_SECONDS = 1.5
_PS = ("/bin/ps", "-A", "-o", "pid=,ppid=,pgid=,rss=,stat=")


class Tree:
    """
    The program and its descendants. On Linux this process inherits orphans, so that it finds all of them; elsewhere those whose parent
    had exited before they were first seen are found by their process group only.
    """

    def __init__(self, program: int, listed: Callable | None = None) -> None:
        """`listed()` returns what `list_by_ps` does. Default: `/proc` on Linux."""
        self.program = program
        self._listed = listed or (None if sys.platform == "linux" else list_by_ps)
        self._known: set = set()
        self._status: int | None = None

    def is_over(self) -> bool:
        """Whether the program has exited. Reaps the dead."""
        self._reap()
        return self._status is not None

    def _reap(self) -> bool:
        """Whether no child is left."""
        while True:
            try:
                # Without `/proc`, other children of this process are those of `ps`.
                pid, status = os.waitpid(-1 if self._listed is None else self.program, os.WNOHANG)
            except ChildProcessError:
                return True
            if pid == 0:
                return False
            if pid == self.program:
                self._status = status

    def below(self) -> dict:
        """The living processes: resident bytes by id; 0 where `Watch` finds out."""
        if self._listed is None:
            return {pid: 0 for pid in processes.descendants() if _is_alive(pid)}
        listed = self._listed()
        found = {pid for pid in self._known if pid in listed}
        found |= {pid for pid, (_, group, _) in listed.items() if group == self.program}
        while True:
            more = {pid for pid, (parent, _, _) in listed.items() if parent in found} - found
            if not more:
                break
            found |= more
        self._known = found
        return {pid: listed[pid][2] for pid in found}

    def end(self) -> int:
        """
        Kills them and waits until they are dead, for a limited time. Returns the exit code of the program; as in shells if it was killed.
        """
        until = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < until:
            if self._status is None:
                # All at once, so that no fork escapes. It may not have its group yet.
                _kill(-self.program)
                _kill(self.program)
            left = self.below()
            for pid in left:
                _kill(pid)
            if self._reap() and not left:
                break
            time.sleep(0.005)
        code = 128 + signal.SIGKILL if self._status is None else os.waitstatus_to_exitcode(self._status)
        return 128 - code if code < 0 else code


def list_by_ps() -> dict:
    """Living processes of this machine: `{id: (parent, group, resident bytes)}`."""
    import subprocess

    text = subprocess.run(_PS, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False, env={"LC_ALL": "C"}).stdout
    rows = (line.split() for line in text.decode("ascii", "replace").splitlines())
    return {
        int(row[0]): (int(row[1]), int(row[2]), int(row[3]) * 1024)
        for row in rows
        if len(row) == 5 and not row[4].startswith("Z")
    }


def _is_alive(pid: int) -> bool:
    try:
        return processes.pages_of(processes.living_thread(pid))[0] != 0
    except OSError:
        return False  # It exited meanwhile.


def _kill(target: int) -> None:
    try:
        os.kill(target, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass  # None is left, or it belongs to another user.
