"""
The first process of a run without a sandbox. It forks the program, watches its resources, kills its processes, and sends its output
files. The program has the same rights: nothing here protects from it.

Started by the host as `python3 -I -S -B -c "…; import unconfined; unconfined.main()"`, with the descriptors of `supervisor`. Works on
systems without `/proc`, too.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time

import disk
import kernel
import processes
import program_child
import watch
from frames import Channel
from program_child import CONTROL
from tree import Tree

PAUSES_MS = (2, 5, 10, 20)
#: `ps` takes this many times longer than reading `/proc`.
LOOK_EVERY_SECONDS = 0.02 if sys.platform == "linux" else 0.25


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
    child = program_child.fork(lambda: None)
    control = program_child.open_control()
    tree = Tree(child)
    try:
        control.send({"type": "ready", "program": child})
        _supervise(control, tree, control.receive())
    except (EOFError, OSError):
        pass  # The host is gone.
    finally:
        tree.end()
        os._exit(0)


def _supervise(control: Channel, tree: Tree, start: dict) -> None:
    limits, roots = start["limits"], start["roots"]
    look = _watch(tree, limits, [roots["workspace"], roots["output"], roots["temporary"]])
    killed = _wait(control, tree, look) or look()
    exit_code = tree.end()
    program_child.send_end(control, roots, limits, exit_code, killed)


def _watch(tree: Tree, limits: dict, directories: list):
    """A function that returns the exceeded limit: `memory`, `processes` or `disk`; otherwise None."""
    if sys.platform == "linux":
        shared = disk.SharedDisk(directories, limits["disk_bytes"], processes.descendants)
        return watch.Watch(limits, processes.descendants, watch.sockets_held_by, shared.is_over).look
    shared = disk.SharedDisk(directories, limits["disk_bytes"], list)

    def look():
        sizes = tree.below()
        if len(sizes) > limits["processes"]:
            return "processes"
        if sum(sizes.values()) > limits["memory_bytes"]:
            return "memory"
        return "disk" if shared.is_over() else None

    return look


def _wait(control: Channel, tree: Tree, look) -> str | None:
    """Waits until the program is over, or returns why it must be killed."""
    pauses = iter(PAUSES_MS)
    pause = 0
    next_look = 0.0
    while True:
        pause = next(pauses, pause)
        stopped, _, _ = select.select([CONTROL], [], [], pause / 1000)
        if tree.is_over():
            return None
        if stopped:
            control.receive()
            return "stopped"
        if time.monotonic() >= next_look:
            limit = look()
            if limit is not None:
                return limit
            next_look = time.monotonic() + LOOK_EVERY_SECONDS
