"""The program as a child of the first process of a run: its start, and what the host is sent when it is over."""

from __future__ import annotations

import os
import signal
import sys

import collect
import kernel
import program_process
from frames import Channel

CONTROL, PROGRAM, STDOUT, STDERR = 3, 4, 5, 6


def fork(prepare_to_confine) -> int:
    """
    Forks the program process and returns its id; `prepare_to_confine` as for `run_program`. Only the child keeps the program channel
    and the streams, so that they end with the last process of the run.
    """
    for descriptor in (CONTROL, PROGRAM, STDOUT, STDERR):
        os.set_inheritable(descriptor, False)
    child = os.fork()
    if child == 0:
        _be_the_program(prepare_to_confine)
    for descriptor in (PROGRAM, STDOUT, STDERR):
        os.close(descriptor)
    return child


def open_control() -> Channel:
    return Channel(lambda size: os.read(CONTROL, size), lambda content: os.write(CONTROL, content))


def send_end(control: Channel, roots: dict, limits: dict, exit_code: int, killed: str | None, undone: list | None = None) -> None:
    """Sends the output files, then how the program ended. Every process of the run is dead."""
    found = collect.Found()
    try:
        found = collect.find(roots["output"], limits["output_files"], limits["disk_bytes"])
    except collect.TooMuch as limit:
        killed = killed or str(limit)
    for left in found.files:
        collect.send(control, CONTROL, roots["output"], left)
    control.send({"type": "end", "exit_code": exit_code, "killed": killed, "skipped": found.skipped, "undone": undone or []})


def _be_the_program(prepare_to_confine) -> None:
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
        # A new session: schedulers share the CPU by session, and the first process must get its share.
        os.setsid()
        program_process.run_program(PROGRAM, prepare_to_confine)
    except BaseException as error:
        os.write(2, f"Starting the program failed: {error!r}\n".encode())
    finally:
        os._exit(program_process.SETUP_FAILED)
