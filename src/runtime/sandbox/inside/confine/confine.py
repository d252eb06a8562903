"""Gives up rights permanently before user code runs."""

from __future__ import annotations

import os
import resource

import landlock
import seccomp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Callable

    from landlock import Project


def prepare(alone: bool, walls: dict, flags: list, writable: Project | None = None) -> Callable:
    """
    Gives up, in the process of the program, all rights that can be given up before the run is known. Returns a function that takes
    the header of the `run` frame and gives up the rest: `run["limits"]` become resource limits. Both raise `OSError` when the
    kernel refuses; then user code must not run. `walls`: the paths that Landlock allows, `{"readable", "runnable", "writable": [path],
    "guarded"?, "project"?}`; `project` is `{"path", "device"?, "inode"?}`, one of these paths and the directory it must be.
    `alone`: there are no namespaces, so that Landlock is the boundary; otherwise it is used where the kernel has it. `flags` are
    those of the supervisor. `writable`: the project that is `guarded`.
    """
    owner = "owner" in flags
    version = landlock.abi()
    machine = os.uname().machine
    refusals = seccomp.rules(
        network="network" in flags,
        project="project" in flags,
        writes="guarded" in walls,
        alone=alone,
        owner=owner,
        landlock_abi=version,
        pid=os.getpid(),
    )
    final = seccomp.rules_against_confining()
    if walls.get("guarded") and version == 0:
        raise OSError("A writable project needs Landlock to protect .git and editor settings, and this kernel does not have it.")
    if walls.get("guarded") and writable is None:
        raise OSError("The project directory could not be looked through.")
    _offer_to_the_oom_killer()
    ruleset = _make_ruleset(version, alone, walls, writable)
    if not alone:
        if version > 0:
            landlock.enforce(ruleset)
        seccomp.apply(seccomp.assemble(machine, [*refusals, *final]))
        return lambda run: _limit(run["limits"], owner)
    # Applied when the run begins: afterwards the tasks of this user cannot be counted.
    last = seccomp.assemble(machine, final)
    seccomp.apply(seccomp.assemble(machine, refusals))

    def apply(run: dict) -> None:
        _limit(run["limits"], owner)
        landlock.enforce(ruleset)
        seccomp.apply(last)

    return apply


def _make_ruleset(version: int, alone: bool, walls: dict, writable: Project | None) -> int:
    """
    The project is opened once and used by its descriptor, because others may replace it by another directory at any time. Raises
    `OSError` if it is not the expected directory.
    """
    paths = {name: walls[name] for name in ("readable", "runnable", "writable")}
    project = walls.get("project")
    if project is None:
        return landlock.make_ruleset(version, alone, **paths) if alone or version > 0 else -1
    held = os.open(project["path"], os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        if writable is not None:
            writable.hold(held)
        found = os.fstat(held)
        if "inode" in project and (str(found.st_dev), str(found.st_ino)) != (project["device"], project["inode"]):
            raise OSError("The project directory was replaced by another directory.")
        if not alone and version == 0:
            return -1
        by_descriptor = {
            name: [held if path == project["path"] else path for path in listed] for name, listed in paths.items()
        }
        return landlock.make_ruleset(version, alone, **by_descriptor, project=writable)
    finally:
        os.close(held)


def _limit(limits: dict, owner: bool) -> None:
    """Sets soft and hard limits. `owner`: the process limit also counts the user's other processes."""
    others = _tasks_of_this_user() if owner else 0
    for name, value in (
        ("RLIMIT_CORE", 0),
        ("RLIMIT_MEMLOCK", 0),
        ("RLIMIT_MSGQUEUE", 0),
        ("RLIMIT_SIGPENDING", 1024),
        ("RLIMIT_CPU", limits["cpu_seconds"]),
        ("RLIMIT_FSIZE", limits["disk_bytes"]),
        ("RLIMIT_NOFILE", limits["open_files"]),
        ("RLIMIT_DATA", limits["data_bytes"]),
        ("RLIMIT_AS", limits["address_bytes"]),
        ("RLIMIT_NPROC", others + limits["tasks"]),
    ):
        number = getattr(resource, name, None)
        if number is None:
            continue
        hard = resource.getrlimit(number)[1]
        if hard != resource.RLIM_INFINITY:
            value = min(value, hard)
        resource.setrlimit(number, (value, value))


def _tasks_of_this_user() -> int:
    user = os.getuid()
    tasks = 0
    for name in os.listdir("/proc"):
        if name.isdecimal():
            try:
                found = os.stat(f"/proc/{name}/task")
            except OSError:
                continue
            if found.st_uid == user:
                tasks += max(1, found.st_nlink - 2)
    return tasks


def _offer_to_the_oom_killer() -> None:
    """When the machine runs out of memory, the kernel kills this program first."""
    try:
        with open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
            file.write("1000")
    except OSError:
        pass  # Not in this kernel.
