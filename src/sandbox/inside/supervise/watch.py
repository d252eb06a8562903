"""
How much of the machine a run holds at this moment, all of its processes together, and whether that is too much.

What the kernel can refuse by itself it does (`confine`); this is for the sums that it does not keep without a cgroup.
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
        """`sockets(pids)` answers how many bytes can wait in sockets; `disk()` answers whether the writable places hold too much."""
        self._limits = limits
        self._find_processes = find_processes
        self._sockets = sockets
        self._disk = disk
        self._kernel = KernelMemory(limits["memory_bytes"])

    def look(self) -> str | None:
        """The limit that is passed: `memory`, `processes` or `disk`."""
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
    """Who lives and can be asked, their tasks, and upper bounds of what they hold: each counts pages that forks share."""
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
            continue  # It died while we looked.
        tasks += threads
        if pages[0] == 0:
            continue  # Dead, and not yet reaped.
        alive.append(pid)
        virtual += pages[0] * PAGE
        resident += (pages[1] - pages[2]) * PAGE
    return alive, tasks, resident, virtual


def _exactly(pids: list, most: int) -> int:
    """Private memory and page tables; when that seems too much, with pages that several processes share counted once."""
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
        return _size(pid)  # A program that hides what it holds is charged all it could hold.
    except OSError:
        return 0


def _size(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            return int(file.read().split()[0]) * PAGE
    except OSError:
        return 0
