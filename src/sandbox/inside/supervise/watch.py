"""
Checks the resources of all processes of a run together. The kernel enforces limits per process (`confine`); this is for the sums, which it
does not limit without a cgroup.
"""

from __future__ import annotations

import os

from kernel_memory import KernelMemory
from processes import living_thread, pages_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Callable

PAGE = os.sysconf("SC_PAGE_SIZE")


class Watch:
    def __init__(self, limits: dict, find_processes: Callable, sockets: Callable, disk: Callable) -> None:
        """`sockets(pids)` returns the bytes of socket buffers; `disk()` whether the writable directories exceed their limit."""
        self._limits = limits
        self._find_processes = find_processes
        self._sockets = sockets
        self._disk = disk
        self._kernel = KernelMemory(limits["memory_bytes"])

    def look(self) -> str | None:
        """The exceeded limit: `memory`, `processes` or `disk`; otherwise None."""
        pids = self._find_processes()
        alive, tasks, resident, virtual = _cheaply(pids)
        most = self._limits["memory_bytes"]
        kernel = self._kernel.held_by(pids, alive)
        memory = resident
        if resident + kernel > most or virtual > most:
            memory = _exactly(alive, most)
        if memory + kernel > most or self._sockets(alive) > most:
            return "memory"
        if len(alive) > self._limits["processes"] or tasks >= self._limits["tasks"]:
            return "processes"
        return "disk" if self._disk() else None


def _cheaply(pids: list) -> tuple:
    """Living processes, their tasks, and upper bounds of their memory, in which shared pages are counted several times."""
    alive = []
    tasks = resident = virtual = 0
    for pid in pids:
        try:
            pages = pages_of(pid)
            threads = os.stat(f"/proc/{pid}/task").st_nlink - 2
            if pages[0] == 0 and threads > 1:
                pid = living_thread(pid)
                pages = pages_of(pid)
        except OSError:
            continue  # It exited meanwhile.
        tasks += threads
        if pages[0] == 0:
            continue  # A zombie.
        alive.append(pid)
        virtual += pages[0] * PAGE
        resident += (pages[1] - pages[2]) * PAGE
    return alive, tasks, resident, virtual


def _exactly(pids: list, most: int) -> int:
    """Private memory and page tables; if that exceeds the limit, with shared pages counted once."""
    total = sum(_held(pid, "status", (b"RssAnon:", b"VmSwap:", b"VmPTE:")) for pid in pids)
    if total <= most or len(pids) == 1:
        return total
    tables = sum(_held(pid, "status", (b"VmPTE:",)) for pid in pids)
    return tables + sum(_held(pid, "smaps_rollup", (b"Pss_Anon:", b"SwapPss:")) for pid in pids)


def _held(pid: int, name: str, lines: tuple) -> int:
    try:
        with open(f"/proc/{pid}/{name}", "rb") as file:
            return sum(int(line.split()[1]) * 1024 for line in file if line.startswith(lines))
    except PermissionError:
        return _size(pid)  # A program that hides its memory is charged the maximum.
    except OSError:
        return 0


def _size(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            return int(file.read().split()[0]) * PAGE
    except OSError:
        return 0
