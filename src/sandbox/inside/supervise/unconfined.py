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

import collect
import disk
import kernel
import program_process
import processes
import watch
from frames import Channel
from tree import Tree

CONTROL, PROGRAM, STDOUT, STDERR = 3, 4, 5, 6
PAUSES_MS = (2, 5, 10, 20)
#: `ps` takes this many times longer than reading `/proc`.
LOOK_EVERY_SECONDS = 0.02 if sys.platform == "linux" else 0.25


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for descriptor in (CONTROL, PROGRAM, STDOUT, STDERR):
        os.set_inheritable(descriptor, False)
    if sys.platform == "linux":
        kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
    child = os.fork()
    if child == 0:
        _be_the_program()
    for descriptor in (PROGRAM, STDOUT, STDERR):
        os.close(descriptor)
    control = Channel(lambda size: os.read(CONTROL, size), lambda content: os.write(CONTROL, content))
    tree = Tree(child)
    try:
        control.send({"type": "ready", "program": child})
        _supervise(control, tree, control.receive())
    except (EOFError, OSError):
        pass  # The host is gone.
    finally:
        tree.end()
        os._exit(0)


def _be_the_program() -> None:
    """The child; does not return."""
    try:
        os.close(CONTROL)
        for descriptor, standard in ((STDOUT, 1), (STDERR, 2)):
            os.dup2(descriptor, standard)
            os.close(descriptor)
        # Python's initial stdout object assumes a position in a file.
        sys.stdout = sys.__stdout__ = open(1, "w", closefd=False)
        if sys.platform == "linux":
            kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
        os.setsid()
        program_process.run_program(PROGRAM, lambda: None)
    finally:
        os._exit(program_process.SETUP_FAILED)


def _supervise(control: Channel, tree: Tree, start: dict) -> None:
    limits, roots = start["limits"], start["roots"]
    look = _watch(tree, limits, [roots["workspace"], roots["output"], roots["temporary"]])
    killed = _wait(control, tree, look) or look()
    exit_code = tree.end()
    found = collect.Found()
    try:
        found = collect.find(roots["output"], limits["output_files"], limits["disk_bytes"])
    except collect.TooMuch as limit:
        killed = killed or str(limit)
    for left in found.files:
        collect.send(control, CONTROL, roots["output"], left)
    control.send({"type": "end", "exit_code": exit_code, "killed": killed, "skipped": found.skipped})


def _watch(tree: Tree, limits: dict, places: list):
    """A function that returns the exceeded limit: `memory`, `processes` or `disk`; otherwise None."""
    if sys.platform == "linux":
        shared = disk.SharedDisk(places, limits["disk_bytes"], processes.descendants)
        return watch.Watch(limits, processes.descendants, watch.sockets_held_by, shared.is_over).look
    shared = disk.SharedDisk(places, limits["disk_bytes"], list)

    def look():
        sizes = tree.below()
        if sum(sizes.values()) > limits["memory_bytes"]:
            return "memory"
        if len(sizes) > limits["processes"]:
            return "processes"
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
