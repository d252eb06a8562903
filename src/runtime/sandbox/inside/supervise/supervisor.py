"""
The first process in a sandbox. It forks the program in advance, watches the resources of the run, kills it, and sends its output files.
It never runs user code, and user code can neither read nor signal it. Modules it needs do not import `typing`, which would take a tenth
of the start-up time.

Started by the host as `python3 -I -S -c "…; import supervisor; supervisor.main()" TIER WALLS [network] [project] [owner] [warm]`, with
the control channel as descriptor 3, that of the program as 4, its stdout and stderr as 5 and 6, and with `network` the channel for a
listener as 7. `WALLS` is JSON for `confine.prepare`. `warm`: started in advance. Only the run holds 5 and 6, so that they end with its last process.
"""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import sys

import confine
import disk
import kernel
import landlock
import processes
import program
import program_child
import watch
from frames import Channel
from program_child import CONTROL

LISTENER = 7
PAUSES_MS = (2, 5, 10, 20)


def main() -> None:
    tier, described, *flags = sys.argv[1:]
    walls = json.loads(described)
    alone = tier == "landlock"
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if alone:
        kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
    ready: dict = {"type": "ready", "python": ".".join(map(str, sys.version_info[:3]))}
    if "network" in flags:
        ready["proxy_port"] = _hand_over_listener()
    if "warm" in flags:
        program.warm_up()
    project = _look_at_project(walls)
    gc.freeze()
    child = program_child.fork(lambda: confine.prepare(alone, walls, flags, project))
    kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
    control = program_child.open_control()
    family = processes.Family(child, alone=alone)
    try:
        control.send({**ready, "program": child})
        start = control.receive()
        _supervise(control, family, start, alone, project)
    except (EOFError, OSError):
        pass  # The host is gone.
    finally:
        family.end()
        if project is not None:
            project.undo()
        os._exit(0)


def _look_at_project(walls: dict) -> landlock.Project | None:
    """A project that will be writable, before anything can be changed."""
    try:
        return landlock.Project(walls["guarded"]) if "guarded" in walls else None
    except OSError:
        return None  # The program's process ends for the same reason.


def _hand_over_listener() -> int:
    """
    Listens on loopback in this network namespace, and returns the port. The host's proxy serves the listener, which is sent in the form
    in which Node passes a `net.Server` between processes. Closes its own descriptors.
    """
    import socket

    message = {"cmd": "NODE_HANDLE", "type": "net.Server", "msg": {"type": "listener"}}
    with socket.socket(fileno=LISTENER) as channel, socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(64)
        port = listening.getsockname()[1]
        socket.send_fds(channel, [json.dumps(message).encode() + b"\n"], [listening.fileno()])
        # Keep it open until the host acknowledges it.
        answer = b""
        while b"NODE_HANDLE_ACK" not in answer:
            part = channel.recv(4096)
            if not part:
                raise EOFError("The host did not accept the listener.")
            answer += part
    return port


def _supervise(control: Channel, family: processes.Family, start: dict, alone: bool, project: landlock.Project | None) -> None:
    limits, roots = start["limits"], start["roots"]
    directories = [roots["workspace"], roots["output"], roots["temporary"]]
    if alone:
        shared = disk.SharedDisk(directories, limits["disk_bytes"], processes.descendants)
        watched = watch.Watch(limits, processes.descendants, watch.sockets_held_by, shared.is_over)
    else:
        directories.append("/dev/shm")
        is_full = lambda: disk.full_file_systems(directories)
        watched = watch.Watch(limits, processes.in_this_namespace, watch.sockets_of_this_network, is_full)
    killed = _wait(control, family, watched)
    if killed is None:
        killed = watched.look()
    if killed is None and alone and shared.look():
        killed = "disk"
    status = family.end()
    code = os.waitstatus_to_exitcode(status)
    # As in shells, for a program that was killed.
    exit_code = 128 - code if code < 0 else code
    undone = []
    if project is not None:
        # From now on the host waits.
        control.send({"type": "dead"})
        undone = project.undo()
    program_child.send_end(control, roots, limits, exit_code, killed, undone)


def _wait(control: Channel, family: processes.Family, watched: watch.Watch) -> str | None:
    """Waits until the program is over, or returns why it must be killed."""
    poller = select.poll()
    poller.register(CONTROL, select.POLLIN)
    poller.register(os.pidfd_open(family.program), select.POLLIN)
    pauses = iter(PAUSES_MS)
    pause = 0
    while True:
        pause = next(pauses, pause)
        events = dict(poller.poll(pause))
        if family.is_over():
            return None
        if CONTROL in events:
            control.receive()
            return "stopped"
        limit = watched.look()
        if limit is not None:
            return limit
