"""The buffers of a run's sockets, which no process's memory includes: each is counted with its maximum."""

from __future__ import annotations

import os


# The kernel's default for a socket; TCP buffers grow automatically.
_BYTES = 212_992
_TCP_BYTES = 4 * 1024 * 1024


def in_this_network(_pids: list) -> int:
    """In the whole network namespace, including sockets that are in transit in another one."""
    with open("/proc/self/net/sockstat", "rb") as file:
        used = int(file.readline().split()[2])
        tcp = int(file.readline().split()[2])
    return used * _BYTES + tcp * _TCP_BYTES


def held_by(pids: list) -> int:
    """Of these processes, each socket counted once."""
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
    return len(found) * _BYTES
