"""Finds and sends the files in `/output`, after every process of the run is dead."""

from __future__ import annotations

import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Iterator

    from frames import Channel

DEEPEST = 32
LONGEST_PATH = 1024
MOST_NOTES = 50


class Left:
    """An output file."""

    def __init__(self, path: str, size: int) -> None:
        self.path = path
        self.size = size


class Found:
    """Output files, and those that are not saved, with the reason."""

    def __init__(self) -> None:
        self.files: list = []
        self.skipped: list = []


class TooMuch(Exception):
    """The limit with this name is exceeded (`output` files, `disk` bytes)."""


def find(directory: str, most_files: int, most_bytes: int) -> Found:
    """
    Finds regular files with one hard link; no symbolic links, devices, pipes or sockets, and no names that are not UTF-8 or have
    control characters. Raises `TooMuch` if there are too many, or their sizes (including holes) are too large.
    """
    found = Found()
    total = 0
    root = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        for item in _walk(root, "", 0):
            if isinstance(item, Left):
                total += item.size
                found.files.append(item)
                if len(found.files) > most_files:
                    raise TooMuch("output")
                if total > most_bytes:
                    raise TooMuch("disk")
            elif len(found.skipped) < MOST_NOTES:
                found.skipped.append({"path": item[0], "why": item[1]})
    finally:
        os.close(root)
    return found


def open_left(directory: str, left: Left) -> int:
    """Opens the file without following links in its path; does not block on a pipe."""
    parent = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    *above, name = left.path.split("/")
    try:
        for segment in above:
            below = os.open(segment, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
            os.close(parent)
            parent = below
        return _open_file(name, parent)
    finally:
        os.close(parent)


def send(control: Channel, descriptor: int, directory: str, left: Left) -> None:
    """Sends the file over the control channel, which is `descriptor`."""
    file = open_left(directory, left)
    try:
        control.send({"type": "file", "path": left.path, "bytes": left.size})
        offset = 0
        while offset < left.size:
            sent = os.sendfile(descriptor, file, offset, left.size - offset)
            if sent == 0:
                raise OSError(0, "A file was truncated while it was read.")
            offset += sent
    finally:
        os.close(file)


def _walk(directory: int, prefix: str, depth: int) -> Iterator[Left | tuple]:
    for entry in sorted(os.scandir(directory), key=lambda entry: entry.name):
        path = prefix + entry.name
        why = _unclean(path)
        if why is not None:
            yield path.encode("utf-8", "replace").decode("utf-8"), why
        elif entry.is_dir(follow_symlinks=False):
            if depth == DEEPEST:
                yield path, "its path is nested too deeply"
                continue
            try:
                below = os.open(
                    entry.name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=directory
                )
            except OSError as error:
                yield path, error.strerror or "it cannot be opened"
                continue
            try:
                yield from _walk(below, path + "/", depth + 1)
            finally:
                os.close(below)
        else:
            yield _look_at(entry.name, directory, path)


def _look_at(name: str, directory: int, path: str) -> Left | tuple:
    try:
        size, why = _judge(os.stat(name, dir_fd=directory, follow_symlinks=False))
        if why is not None:
            return path, why
        os.close(_open_file(name, directory))
    except OSError as error:
        return path, error.strerror or "it cannot be opened"
    return Left(path, size)


def _open_file(name: str, directory: int) -> int:
    file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=directory)
    _, why = _judge(os.fstat(file))
    if why is not None:
        os.close(file)
        raise OSError(0, why)
    return file


def _judge(found: os.stat_result) -> tuple:
    """The size, and why it is not saved."""
    if stat.S_ISLNK(found.st_mode):
        return 0, "it is a symbolic link"
    if not stat.S_ISREG(found.st_mode):
        return 0, "it is not a regular file"
    if found.st_nlink != 1:
        return 0, "it has several hard links"
    return found.st_size, None


def _unclean(path: str) -> str | None:
    try:
        size = len(path.encode("utf-8"))
    except UnicodeEncodeError:
        return "its name is not UTF-8"
    if size > LONGEST_PATH:
        return "its name is too long"
    if any(ord(character) < 0x20 or 0x7F <= ord(character) < 0xA0 for character in path):
        return "its name has control characters"
    return None
