"""
Checks the memory and processes of a run together. The kernel enforces limits per process (`confine`); this is for the sums, which it
does not limit without a cgroup, and for kernel memory that is not counted elsewhere: mappings, file locks and sockets. Other kernel
memory is refused (`seccomp`) or limited by the number of descriptors, processes and signals (`confine`).
"""

from __future__ import annotations

import os
import time
from itertools import islice

from processes import living_thread, pages_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Callable, Iterator

PAGE = os.sysconf("SC_PAGE_SIZE")
#: Linux's size of a mapping, rounded up.
MAPPING_BYTES = 256
#: Reading more would be slow, and would block all other locking meanwhile.
MOST_LOCKS = 8_192
#: `vm.max_map_count`, for a process whose mappings cannot be read.
_MOST_MAPPINGS = 65_530
_PIECE = 1 << 16
#: Runs that are over by then are not checked.
_FIRST_SECONDS = 0.05
#: Ratio of the time between checks to the time of a check.
_PATIENCE = 9
#: The kernel's default for a socket; TCP buffers grow automatically.
_SOCKET_BYTES = 212_992
_TCP_BYTES = 4 * 1024 * 1024


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
        # First, because it is cheap: to measure the memory of a fork bomb takes long.
        if len(alive) > self._limits["processes"] or tasks >= self._limits["tasks"]:
            return "processes"
        max_bytes = self._limits["memory_bytes"]
        kernel = self._kernel.held_by(pids, alive)
        memory = resident
        if resident + kernel > max_bytes or virtual > max_bytes:
            memory = _exactly(alive, max_bytes)
        if memory + kernel > max_bytes or self._sockets(alive) > max_bytes:
            return "memory"
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


def _exactly(pids: list, max_bytes: int) -> int:
    """Private memory and page tables; if that exceeds the limit, with shared pages counted once."""
    total = sum(_held(pid, "status", (b"RssAnon:", b"VmSwap:", b"VmPTE:")) for pid in pids)
    if total <= max_bytes or len(pids) == 1:
        return total
    tables = sum(_held(pid, "status", (b"VmPTE:",)) for pid in pids)
    return tables + sum(_held(pid, "smaps_rollup", (b"Pss_Anon:", b"SwapPss:")) for pid in pids)


def _held(pid: int, name: str, lines: tuple) -> int:
    try:
        with open(f"/proc/{pid}/{name}", "rb") as file:
            return sum(int(line.split()[1]) * 1024 for line in file if line.startswith(lines))
    except PermissionError:
        pass  # A program that hides its memory is charged the maximum.
    except OSError:
        return 0
    try:
        return pages_of(pid)[0] * PAGE
    except OSError:
        return 0  # It exited meanwhile.


class KernelMemory:
    """Checks less often the longer a check takes, and stops once the limit is exceeded."""

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._held = 0
        self._next = time.monotonic() + _FIRST_SECONDS

    def held_by(self, pids: list, threads: list) -> int:
        """Bytes at the last check. `threads`: one of each living process."""
        before = time.monotonic()
        if before >= self._next:
            self._held = self.look(pids, threads)
            after = time.monotonic()
            self._next = after + _PATIENCE * (after - before)
        return self._held

    def look(self, pids: list, threads: list) -> int:
        """Checks now. Too many locks exceed the limit."""
        held = self._most + 1 if _count_locks(pids) > MOST_LOCKS else 0
        for size in _mappings(threads):
            if held > self._most:
                break
            held += size
        return held


def _count_locks(pids: list) -> int:
    wanted = {b"%d" % pid for pid in pids}
    found = 0
    try:
        with open("/proc/locks", "rb") as file:
            for line in islice(file, 2 * MOST_LOCKS):
                # "1: POSIX ADVISORY WRITE 4711 …", with an arrow before the second word for a waiting lock.
                fields = line.split(None, 7)
                if fields[4] in wanted or fields[5] in wanted:
                    found += 1
    except OSError:
        pass  # Not in this kernel.
    return found


def _mappings(threads: list) -> Iterator[int]:
    for thread in threads:
        try:
            with open(f"/proc/{thread}/maps", "rb", buffering=0) as file:
                while piece := file.read(_PIECE):
                    yield piece.count(b"\n") * MAPPING_BYTES
        except PermissionError:
            yield _MOST_MAPPINGS * MAPPING_BYTES
        except OSError:
            continue  # It exited meanwhile.


def sockets_of_this_network(_pids: list) -> int:
    """
    The bytes of socket buffers, which no process's memory includes: each counts with its maximum. In the whole network namespace,
    including sockets that are in transit in another one.
    """
    with open("/proc/self/net/sockstat", "rb") as file:
        used = int(file.readline().split()[2])
        tcp = int(file.readline().split()[2])
    return used * _SOCKET_BYTES + tcp * _TCP_BYTES


def sockets_held_by(pids: list) -> int:
    """The bytes of the socket buffers of these processes, each socket counted once."""
    found: set = set()
    for pid in pids:
        try:
            names = os.listdir(f"/proc/{pid}/fd")
        except OSError:
            continue  # It exited meanwhile.
        for name in names:
            try:
                target = os.readlink(f"/proc/{pid}/fd/{name}")
            except OSError:
                continue
            if target.startswith("socket:"):
                found.add(target)
    return len(found) * _SOCKET_BYTES
