"""
Memory that a run makes the kernel keep, and that is in nobody's sum: its mappings, and its locks on parts of files. What else a
program can make the kernel keep is refused (`seccomp`), or small because descriptors, processes and signals are few (`confine`).
"""

from __future__ import annotations

import time
from itertools import islice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Iterator

#: Rounded up from what Linux takes for one.
MAPPING_BYTES = 256
#: Nobody needs as many. The kernel tells them slowly, and lets nobody else lock anything meanwhile: more are not read.
MOST_LOCKS = 8_192
#: `vm.max_map_count`, for a process that does not let itself be asked.
_MOST_MAPPINGS = 65_530
_PIECE = 1 << 16
#: A run that is over by then is not looked at.
_FIRST_SECONDS = 0.05
#: How much longer than a look the time to the next is.
_PATIENCE = 9


class KernelMemory:
    """Looks no more often than is cheap, and no longer than until the sum is too much."""

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._held = 0
        self._next = time.monotonic() + _FIRST_SECONDS

    def held_by(self, pids: list, threads: list) -> int:
        """Bytes, as of the last look, which may be a little ago. `threads`: one of each process that lives."""
        before = time.monotonic()
        if before >= self._next:
            self._held = self.look(pids, threads)
            after = time.monotonic()
            self._next = after + _PATIENCE * (after - before)
        return self._held

    def look(self, pids: list, threads: list) -> int:
        """Looks now. Too many locks are too much memory."""
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
                # "1: POSIX ADVISORY WRITE 4711 …", or with an arrow before the second word where one waits for another.
                fields = line.split(None, 7)
                if fields[4] in wanted or fields[5] in wanted:
                    found += 1
    except OSError:
        pass  # A kernel without it.
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
            continue  # It died while we looked.
