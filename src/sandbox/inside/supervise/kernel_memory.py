"""
Kernel memory of a run that is not counted elsewhere: mappings and file locks. Other kernel memory is refused (`seccomp`) or limited by the
number of descriptors, processes and signals (`confine`).
"""

from __future__ import annotations

import time
from itertools import islice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Iterator

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
