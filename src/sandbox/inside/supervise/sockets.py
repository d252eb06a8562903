"""How much can wait in the sockets of a run, in nobody's memory: each is charged with all that it may hold."""

from __future__ import annotations

import os


# What the kernel lets a socket hold without being asked; for TCP it adjusts by itself.
_BYTES = 212_992
_TCP_BYTES = 4 * 1024 * 1024


def in_this_network(_pids: list) -> int:
    """Of the whole network namespace, also of sockets that no process holds any more but that are under way in another."""
    with open("/proc/self/net/sockstat", "rb") as file:
        used = int(file.readline().split()[2])
        tcp = int(file.readline().split()[2])
    return used * _BYTES + tcp * _TCP_BYTES


def held_by(pids: list) -> int:
    """Of what these processes hold, each socket counted once."""
    found: set = set()
    for pid in pids:
        try:
            names = os.listdir(f"/proc/{pid}/fd")
        except OSError:
            continue  # It died while we looked.
        for name in names:
            try:
                target = os.readlink(f"/proc/{pid}/fd/{name}")
            except OSError:
                continue
            if target.startswith("socket:"):
                found.add(target)
    return len(found) * _BYTES
