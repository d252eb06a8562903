"""Whether the writable directories of a run exceed the disk limit."""

from __future__ import annotations

import os
import stat
import time

from processes import living_thread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Callable

MOST_FILES = 20_000
LONGEST_PATH = 3_000


def full_file_systems(paths: list) -> bool:
    """Whether one of these file systems, which belong to the run, is full or has too many files."""
    for path in paths:
        found = os.statvfs(path)
        if found.f_bfree == 0 or found.f_files - found.f_ffree > MOST_FILES:
            return True
    return False


class SharedDisk:
    """
    The same for directories on a shared file system: sums up their files, including deleted ones that are still open. Checks less
    often the longer a check takes.
    """

    def __init__(self, paths: list, most_bytes: int, find_processes: Callable) -> None:
        self._paths = paths
        self._most_bytes = most_bytes
        self._find_processes = find_processes
        self._next = 0.0

    def is_over(self) -> bool:
        """Whether the limit was exceeded at the last check."""
        before = time.monotonic()
        if before < self._next:
            return False
        over = self.look()
        after = time.monotonic()
        self._next = after + 4 * (after - before)
        return over

    def look(self) -> bool:
        """Checks now."""
        return any(map(self._directory_over, self._paths)) or self._nameless_over()

    def _directory_over(self, path: str) -> bool:
        size = files = 0
        left = [path]
        while left:
            directory = left.pop()
            if len(directory) > LONGEST_PATH:
                return True  # Its content could not be counted.
            try:
                with os.scandir(directory) as entries:
                    for entry in entries:
                        files += 1
                        size += entry.stat(follow_symlinks=False).st_blocks * 512
                        if entry.is_dir(follow_symlinks=False):
                            left.append(entry.path)
            except OSError:
                continue  # Removed meanwhile.
            if files > MOST_FILES or size > self._most_bytes:
                return True
        return False

    def _nameless_over(self) -> bool:
        sizes: dict = {}
        mapped: set = set()
        for pid in self._find_processes():
            try:
                pid = living_thread(pid)
                sizes.update(_nameless_open(pid))
                mapped |= _nameless_mapped(pid)
            except OSError:
                continue  # It exited meanwhile.
        # The size of a file that is only mapped is not known.
        return sum(sizes.values()) > self._most_bytes or bool(mapped - {inode for _, inode in sizes})


def _nameless_open(pid: int) -> dict:
    found: dict = {}
    for name in os.listdir(f"/proc/{pid}/fd"):
        try:
            file = os.stat(f"/proc/{pid}/fd/{name}")
        except OSError:
            continue
        if stat.S_ISREG(file.st_mode) and file.st_nlink == 0:
            found[(file.st_dev, file.st_ino)] = file.st_blocks * 512
    return found


def _nameless_mapped(pid: int) -> set:
    with open(f"/proc/{pid}/maps", "rb") as file:
        return {int(line.split()[4]) for line in file if line.rstrip().endswith(b"(deleted)")}
