"""Runs a program in a forked process with temporary directories; returns its frames, output and files."""

import atexit
import json
import os
import shutil
import socket
import sys
import tempfile
import threading
import warnings

_SOURCES = os.path.normpath(
    os.path.join(os.path.dirname(os.path.abspath(__file__)), *[os.pardir] * 4, "src", "runtime", "sandbox", "inside")
)


def _collect_sources():
    """Creates one directory with all modules, like the host does for sandboxes."""
    directory = tempfile.mkdtemp(prefix="inside-")
    creator = os.getpid()
    atexit.register(lambda: creator == os.getpid() and shutil.rmtree(directory))
    for room, _, names in os.walk(_SOURCES):
        for name in names:
            if name.endswith(".py"):
                os.symlink(os.path.join(room, name), os.path.join(directory, name))
    return directory


INSIDE = _collect_sources()
sys.path.insert(0, INSIDE)
sys.dont_write_bytecode = True

import program_process  # noqa: E402
from frames import Channel  # noqa: E402

ROOTS = ("skills", "workspace", "blobs", "output", "temporary")


class Ended:
    """The outcome of a run as the host sees it."""

    def __init__(self, frames, stdout, stderr, status, output):
        self.frames = frames
        self.last = frames[-1] if frames else None
        self.stdout = stdout
        self.stderr = stderr
        self.status = status
        self.output = output

    @property
    def value(self):
        assert self.last is not None and self.last["type"] == "returned", (self.last, self.stdout, self.stderr)
        return self.last["value"]

    @property
    def error(self):
        assert self.last is not None and self.last["type"] == "raised", (self.last, self.stdout, self.stderr)
        return self.last["error"]


def run_code(code, args=None, entrypoint="main", **options):
    program = {"type": "code", "code": code, "entrypoint": entrypoint, "args": {} if args is None else args}
    return run(program, **options)


def run_skill(name, args=None, **options):
    return run({"type": "skill", "skill": name, "args": {} if args is None else args}, **options)


def run_script(skill, file, argv=(), stdin=None, language="python", **options):
    program = {"type": "script", "skill": skill, "file": file, "argv": list(argv), "language": language}
    if stdin is not None:
        program["stdin"] = stdin
    return run(program, **options)


def run(program, skills=None, brokered=(), blobs=None, secrets=None, uses=None, answer=None, result_bytes=4 << 20, confine=None):
    """`skills` is {name: (entry or None, {path: text})}, `blobs` {id: (kind, bytes)}, `answer(frame)` returns the fields of a reply."""
    home = tempfile.mkdtemp(prefix="inside-test-")
    try:
        roots = {name: os.path.join(home, name) for name in ROOTS}
        for directory in roots.values():
            os.mkdir(directory)
        for name, (_, files) in (skills or {}).items():
            for path, text in files.items():
                target = os.path.join(roots["skills"], name, path)
                os.makedirs(os.path.dirname(target), exist_ok=True)
                with open(target, "wb") as file:
                    file.write(text if isinstance(text, bytes) else text.encode())
        for blob_id, (_, content) in (blobs or {}).items():
            with open(os.path.join(roots["blobs"], blob_id), "wb") as file:
                file.write(content)
        header = {
            "type": "run",
            "run_id": "run_0123456789",
            "deadline_ms": 30_000,
            "program": program,
            "skills": [
                {"name": name, **({"entry": {"file": entry[0], "export": entry[1]}} if entry else {})}
                for name, (entry, _) in (skills or {}).items()
            ],
            "brokered": list(brokered),
            "blobs": [{"id": one, "kind": kind, "size_bytes": len(content)} for one, (kind, content) in (blobs or {}).items()],
            "secrets": secrets or {},
            **({"uses": uses} if uses else {}),
            "environment": {"PATH": "/usr/bin:/bin", "HOME": "/workspace", "LANG": "C.UTF-8"},
            "roots": {**roots, "project": None, "packages": None},
            "limits": {"result_bytes": result_bytes},
        }
        ended = _drive(header, answer, confine)
        ended.output = _read_all(roots["output"])
        return ended
    finally:
        shutil.rmtree(home, ignore_errors=True)


def run_program_without_run():
    """The exit status of a program whose host closes the channel before a run."""
    host, inside = socket.socketpair()
    child = os.fork()
    if child == 0:
        host.close()
        program_process.run_program(inside.fileno(), lambda: lambda run: None)
    host.close()
    inside.close()
    return os.waitpid(child, 0)[1]


def _drive(header, answer, confine):
    host, inside = socket.socketpair()
    out, err = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        # unittest enables warnings, which programs do not have.
        warnings.simplefilter("ignore")
        for descriptor, number in ((os.open(os.devnull, os.O_RDONLY), 0), (out[1], 1), (err[1], 2)):
            os.dup2(descriptor, number)
        descriptor = os.dup(inside.fileno())
        os.closerange(3, descriptor)
        sys.stdin = sys.__stdin__ = open(0, closefd=False)
        sys.stdout = sys.__stdout__ = open(1, "w", closefd=False)
        sys.stderr = sys.__stderr__ = open(2, "w", closefd=False)
        program_process.run_program(descriptor, lambda: confine or (lambda run: None))
    inside.close()
    printed = {}
    readers = []
    for name, (reading, writing) in (("stdout", out), ("stderr", err)):
        os.close(writing)
        readers.append(threading.Thread(target=lambda name=name, end=reading: printed.update({name: _drain(end)})))
        readers[-1].start()
    frames = _answer_all(host, header, answer)
    for reader in readers:
        reader.join()
    _, status = os.waitpid(child, 0)
    return Ended(frames, printed["stdout"], printed["stderr"], status, {})


def _answer_all(host, header, answer):
    frames = []
    with host:
        channel = Channel(host.recv, lambda content: host.send(content))
        channel.send(header)
        while True:
            try:
                frame = channel.receive()
            except (EOFError, ConnectionError):
                return frames
            if "bytes" in frame:
                frame["content"] = channel._read_all(frame["bytes"])
            frames.append(frame)
            if "id" in frame:
                channel.send({"type": "reply", "id": frame["id"], **answer(frame)})


def _drain(descriptor):
    with open(descriptor, "rb") as file:
        return file.read().decode("utf-8")


def _read_all(directory):
    found = {}
    for name in os.listdir(directory):
        path = os.path.join(directory, name)
        if os.path.isfile(path):
            with open(path, "rb") as file:
                found[name] = file.read()
    return found


__all__ = ["Ended", "INSIDE", "json", "run", "run_code", "run_script", "run_skill"]
