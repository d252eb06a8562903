"""Gives up rights, for good, before the first line of the user's code runs."""

from __future__ import annotations

import os
import resource

import landlock
import seccomp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Callable


def prepare(alone: bool, wishes: list) -> Callable:
    """
    Gives up what can be given up before the run is known, in the process that will run it: nothing that it does until the
    user's code begins needs a call that the filter refuses. The function that is returned takes the header of the `run` frame
    and gives up the rest: `run["limits"]` become limits of this process and of all it starts. Both raise `OSError` when the
    kernel refuses: then nothing of the user's may run. `alone`: there are no namespaces, and `run["confine"]["landlock"]`
    says `{"readable", "runnable", "writable": [path], "guarded"?}`; elsewhere it may, for kernels that have it. `wishes` are the
    supervisor's.
    """
    owner = "owner" in wishes
    version = landlock.abi()
    refusals = seccomp.rules(
        network="network" in wishes,
        project="project" in wishes,
        alone=alone,
        owner=owner,
        landlock_abi=version,
        pid=os.getpid(),
    )
    machine = os.uname().machine
    final = seccomp.rules_against_confining()
    # Landlock is for a run that is known: as the wall, or as a second one.
    is_later = alone or version > 0
    last = seccomp.assemble(machine, final)
    _offer_to_the_oom_killer()
    seccomp.apply(seccomp.assemble(machine, refusals if is_later else [*refusals, *final]))

    def apply(run: dict) -> None:
        _limit(run["limits"], owner)
        rules = run["confine"].get("landlock")
        if rules is not None and rules.get("guarded") and not is_later:
            raise OSError("This kernel has no Landlock, without which nothing guards what git and editors run in a project.")
        if is_later:
            landlock.restrict(
                version, alone, rules["readable"], rules["runnable"], rules["writable"], rules.get("guarded")
            )
            seccomp.apply(last)

    return apply


def _limit(limits: dict, owner: bool) -> None:
    """Soft and hard alike. `owner`: the user's other processes count against the same number."""
    others = _tasks_of_this_user() if owner else 0
    for name, value in (
        ("RLIMIT_CORE", 0),
        ("RLIMIT_MEMLOCK", 0),
        ("RLIMIT_MSGQUEUE", 0),
        ("RLIMIT_SIGPENDING", 1024),
        ("RLIMIT_CPU", limits["cpu_seconds"]),
        ("RLIMIT_FSIZE", limits["file_bytes"]),
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
    """When the machine runs out of memory, this program goes first."""
    try:
        with open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
            file.write("1000")
    except OSError:
        pass  # A kernel without it; the limits stand all the same.
