"""What a program needs as a process: descriptors, signals, other programs. Not imported in Pyodide."""

from __future__ import annotations

import os
import signal
import sys

from frames import Channel
from paths import VIEWED, skills_of
from program import serve

#: Exit status if setting up fails, before user code.
SETUP_FAILED = 70
#: Interpreters of scripts by language, in the file system of the bubblewrap tier.
_INTERPRETERS = {"bash": "/bin/bash", "node": "/opt/node/bin/node"}


def run_program(descriptor: int, prepare_to_confine) -> None:
    """
    Runs the program process; does not return. `descriptor` is the program channel; all others are closed. `prepare_to_confine()` is
    called immediately and returns a function, which is called with the header of the run frame right before user code and must give
    up the remaining rights.
    """
    status = SETUP_FAILED
    try:
        os.set_inheritable(descriptor, False)
        _close_all_but(descriptor)
        _reset_signals()
        status = serve(_open_channel(descriptor), prepare_to_confine(), prepare=_prepare, execute=_execute)
    except BaseException as error:
        _say(f"Starting the program failed: {type(error).__name__}: {error}\n")
    finally:
        os._exit(status)


def _open_channel(descriptor: int) -> Channel:
    read, write = os.read, os.write
    return Channel(lambda size: read(descriptor, size), lambda content: write(descriptor, content))


def _prepare(run: dict) -> None:
    """Sets up the standard streams, before rights are given up."""
    program = run["program"]
    if program["type"] == "script":
        if program.get("stdin") is not None:
            _feed_stdin(program["stdin"].encode("utf-8", "replace"), run["roots"]["temporary"])
    else:
        # One stream for both keeps the order of the output.
        os.dup2(1, 2)


def _feed_stdin(content: bytes, directory: str) -> None:
    """Makes an unlinked file with the content descriptor 0."""
    path = os.path.join(directory, f".stdin-{os.getpid()}")
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    try:
        os.unlink(path)
        rest = memoryview(content)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
        os.lseek(descriptor, 0, os.SEEK_SET)
        os.dup2(descriptor, 0)
    finally:
        os.close(descriptor)


def _execute(run: dict) -> None:
    """Executes the interpreter of a script. The program channel is closed on exec."""
    program = run["program"]
    outside = run.get("outside")
    interpreter = (_INTERPRETERS if outside is None else outside)[program["language"]]
    for root, viewed in VIEWED.items():
        if outside is None and run["roots"].get(root) not in (None, viewed):
            raise RuntimeError(f"{program['language']} cannot use {viewed} in this tier.")
    # Python ignores both; other programs expect the default.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    file = f"{skills_of(run)}/{program['skill']}/{program['file']}"
    os.execve(interpreter, [interpreter, file, *program["argv"]], dict(os.environ))


def _close_all_but(channel: int) -> None:
    """Closes inherited descriptors: an open directory would be a way out."""
    for name in os.listdir("/dev/fd"):
        descriptor = int(name)
        if descriptor > 2 and descriptor != channel:
            try:
                os.close(descriptor)
            except OSError:
                pass  # The descriptor of listdir itself.


def _reset_signals() -> None:
    """Undoes the supervisor's signal handling."""
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD, signal.SIGALRM, signal.SIGUSR1, signal.SIGUSR2):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def _say(text: str) -> None:
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except (OSError, ValueError):
        pass  # Nobody reads it; the exit status reports it too.


def main_under_seatbelt() -> None:
    """The entry point under Seatbelt, without a supervisor: the host watches the program and collects its output files."""
    sys.dont_write_bytecode = True
    run_program(4, lambda: _limit_under_seatbelt)


def _limit_under_seatbelt(run: dict) -> None:
    """Sets permanent limits. RLIMIT_NPROC prevents forking, except for root."""
    import resource

    limits = run["limits"]
    for number, value in (
        (resource.RLIMIT_NPROC, 1),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, limits["cpu_seconds"]),
        (resource.RLIMIT_FSIZE, limits["disk_bytes"]),
        (resource.RLIMIT_NOFILE, limits["open_files"]),
    ):
        resource.setrlimit(number, (value, value))
