"""What a program needs of being a process: descriptors, signals, other programs. Pyodide imports none of it."""

from __future__ import annotations

import os
import signal
import sys

from frames import Channel
from paths import VIEWED
from program import serve

#: The exit status of a program that failed before the user's code began: a fault of ours.
SETUP_FAILED = 70


def run_program(descriptor: int, prepare_to_confine) -> None:
    """
    Is the program process from here on, and never returns. `descriptor` is the program channel, and all that is left open.
    `prepare_to_confine()` is called at once and answers a function, which is called with the header of the run frame once
    everything is in place and before any code of the user: by then rights must be given up for good.
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
    """Before rights are given up: standard streams as the program should have them."""
    program = run["program"]
    if program["type"] == "script":
        if program.get("stdin") is not None:
            _feed_stdin(program["stdin"].encode("utf-8", "replace"), run["roots"]["temporary"])
    else:
        # One stream, so that what a program prints on both keeps its order.
        os.dup2(1, 2)


def _feed_stdin(content: bytes, directory: str) -> None:
    """Makes the content descriptor 0, by way of a file that has no name any more."""
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
    """Becomes the interpreter of a script. The program channel closes by itself."""
    program = run["program"]
    interpreter = program["interpreter"]
    for root, viewed in VIEWED.items():
        if run["roots"].get(root) not in (None, viewed):
            raise RuntimeError(f"{program['language']} cannot use {viewed} in this tier.")
    # Python ignores both; other programs expect to die of them.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    file = f"/skills/{program['skill']}/{program['file']}"
    os.execve(interpreter, [interpreter, file, *program["argv"]], dict(os.environ))


def _close_all_but(channel: int) -> None:
    """What somebody had open who started the host without minding: a directory among it would be a way out."""
    for name in os.listdir("/dev/fd"):
        descriptor = int(name)
        if descriptor > 2 and descriptor != channel:
            try:
                os.close(descriptor)
            except OSError:
                pass  # It was for the list.


def _reset_signals() -> None:
    """Whatever the supervisor had made of them."""
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
        pass  # Nobody listens any more; the exit status says it too.
