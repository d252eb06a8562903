"""
Landlock: restricts which files this process and its children can access. Without namespaces it is the boundary; with them, it also
prevents writing to named pipes in read-only mounts.

Landlock covers opening, creating, removing and renaming files, TCP connections, and from version 6 signals and abstract sockets. It
does not cover reading or changing metadata; `seccomp` refuses some of that.
"""

from __future__ import annotations

import os
import stat
import struct

import kernel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Callable

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ASK_VERSION = 1
_PATH_BENEATH = 1

EXECUTE, WRITE_FILE, READ_FILE, READ_DIRECTORY = 1 << 0, 1 << 1, 1 << 2, 1 << 3
MAKE_CHARACTER_DEVICE, MAKE_SOCKET, MAKE_BLOCK_DEVICE = 1 << 6, 1 << 9, 1 << 11
TRUNCATE = 1 << 14
_OF_A_FILE = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE

READ = READ_FILE | READ_DIRECTORY
RUN = READ | EXECUTE


def abi() -> int:
    """The version of Landlock in this kernel; 0 if it is absent or disabled."""
    try:
        return kernel.call(_CREATE_RULESET, 0, 0, _ASK_VERSION)
    except OSError:
        return 0


def rights_on_files(version: int) -> int:
    """All rights on files that this version handles."""
    known = 13
    for since, bits in ((2, 14), (3, 15), (5, 16)):
        if version >= since:
            known = bits
    return (1 << known) - 1


def make_ruleset(version: int, alone: bool, readable: list, runnable: list, writable: list, project: Project | None = None) -> int:
    """
    Returns a ruleset, for `enforce`, that allows access below these paths only; missing paths are skipped. `project` is writable except
    what is guarded. A path can also be given as a descriptor. `version` is that of this kernel. `alone`: without namespaces, connections and
    signals are refused too where the version supports it. Raises `OSError` without Landlock.
    """
    files = rights_on_files(version)
    attributes = struct.pack("<Q", files)
    if alone and version >= 4:
        attributes += struct.pack("<Q", 0b11)
    if alone and version >= 6:
        attributes += struct.pack("<Q", 0b11)
    ruleset = kernel.call(_CREATE_RULESET, attributes, len(attributes), 0)
    everything = files & ~(MAKE_CHARACTER_DEVICE | MAKE_BLOCK_DEVICE | MAKE_SOCKET)
    for rights, paths in ((READ, readable), (RUN, runnable), (everything, writable)):
        for path in paths:
            _allow(ruleset, path, rights & files)
    if project is not None:
        project.allow(ruleset, everything & files)
    return ruleset


def enforce(ruleset: int) -> None:
    """Applies the ruleset to this process and its future children, and closes it. Raises `OSError` if that fails."""
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    kernel.call(_RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)


def _open(path: str | int, flags: int) -> int:
    return os.open(".", flags, dir_fd=path) if isinstance(path, int) else os.open(path, flags)


def _allow(ruleset: int, path: str | int, rights: int) -> None:
    try:
        below = _open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(below).st_mode):
            rights &= _OF_A_FILE
        _add_rule(ruleset, below, rights)
    finally:
        os.close(below)


def _add_rule(ruleset: int, below: int, rights: int) -> None:
    kernel.call(_ADD_RULE, ruleset, _PATH_BENEATH, struct.pack("<Qi", rights, below), 0)


class Project:
    """
    A writable project as it is before a run, and what stays read-only in it: guarded names, the `read_only` paths, what git takes for a
    repository, and what could not be looked at. Rights hold for whole trees, so nothing can be created, renamed or removed directly in a
    directory that contains such a thing at any depth, nor directly in the project. No file or directory is opened by a path of several names.
    """

    def __init__(self, guarded: dict) -> None:
        """`guarded`: `{"path", "everywhere", "top", "read_only", "directories"}`: names, relative paths, and how many directories to look at."""
        self._directory = os.open(guarded["path"], os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._identity = _identity(self._directory)
        self._everywhere = set(guarded["everywhere"])
        self._top = self._everywhere | set(guarded["top"])
        self._left = guarded["directories"]
        self._read_only: set = set()
        #: Names in the directories that are not writable as a whole, by path with a slash; and in those that are being looked at.
        self._parts: dict = {"": []}
        self._open: dict = {}
        for path in guarded["read_only"]:
            self._keep(path)
        self._walk(self._look, self._leave)

    def hold(self, directory: int) -> None:
        """In another process, which has its own descriptor of the same directory."""
        if _identity(directory) != self._identity:
            raise OSError("The project directory was replaced by another directory.")
        self._directory = directory

    def allow(self, ruleset: int, rights: int) -> None:
        """Allows to change what is free, as it was looked at."""
        for prefix, names in [] if "" in self._read_only else self._parts.items():
            for name in names:
                path = prefix + name
                if path not in self._read_only and path + "/" not in self._parts:
                    self._allow_one(ruleset, path, rights)

    def undo(self) -> list:
        """
        After the run: renames what is guarded and was not there before, and makes no repository of what became one. Returns what was
        done, as `{"path", "why"}`. Nothing is deleted: somebody outside may have made it.
        """
        notes: list = []

        def look(directory: int, prefix: str) -> list:
            found = _list(directory)
            below = []
            for name, is_directory in found.items():
                if prefix + name in self._read_only:
                    continue
                is_head = name.casefold() == "head" and _is_repository(found)
                if prefix and (is_head or name.casefold() in self._everywhere):
                    name = _rename(directory, prefix, name, notes)
                if is_directory:
                    below.append(name)
            return below

        try:
            if "" not in self._read_only:
                self._walk(look, lambda prefix: None, force=True)
        except OSError as error:
            notes.append({"path": "", "why": f"not all of it could be looked through ({error.strerror})"})
        return notes

    def _look(self, directory: int, prefix: str) -> list:
        self._left -= 1
        found = _list(directory)
        if self._left < 0 or _is_repository(found):
            self._keep(prefix[:-1])
            return []
        self._open[prefix] = list(found)
        for name in found:
            if name.casefold() in (self._everywhere if prefix else self._top):
                self._keep(prefix + name)
        return [name for name, is_directory in found.items() if is_directory and prefix + name not in self._read_only]

    def _leave(self, prefix: str) -> None:
        names = self._open.pop(prefix, [])
        if prefix in self._parts:
            self._parts[prefix] = names

    def _keep(self, path: str) -> None:
        self._read_only.add(path)
        while "/" in path:
            path = path.rpartition("/")[0]
            self._parts.setdefault(path + "/", [])

    def _walk(self, look: Callable, leave: Callable, force: bool = False) -> None:
        """
        `look(descriptor, path)` returns the names of the directories to go into, `leave(path)` is called after those. At any depth, with
        one descriptor. `force`: unreadable directories are made readable; otherwise they are kept.
        """
        here = _enter(self._directory, ".")
        try:
            above = [(_identity(here), "", look(here, ""))]
            while True:
                _, prefix, left = above[-1]
                if left:
                    name = left.pop()
                    try:
                        there = _enter(here, name, force)
                    except OSError:
                        # What cannot be written either is as safe as what was looked at.
                        if os.access(name, os.W_OK, dir_fd=here):
                            self._keep(prefix + name)
                        continue
                    prefix += name + "/"
                    os.close(here)
                    here = there
                    above.append((_identity(here), prefix, look(here, prefix)))
                    continue
                leave(prefix)
                above.pop()
                if not above:
                    return
                there = _enter(here, "..")
                os.close(here)
                here = there
                if _identity(here) != above[-1][0]:
                    raise OSError(0, "a directory was moved")
        finally:
            os.close(here)

    def _allow_one(self, ruleset: int, path: str, rights: int) -> None:
        below = os.dup(self._directory)
        try:
            for name in path.split("/"):
                there = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=below)
                os.close(below)
                below = there
            kind = os.fstat(below).st_mode
            # No rules for links, whose targets have their own, and for named pipes, which processes outside may read.
            if stat.S_ISDIR(kind):
                _add_rule(ruleset, below, rights)
            elif stat.S_ISREG(kind):
                _add_rule(ruleset, below, rights & _OF_A_FILE)
        except (FileNotFoundError, NotADirectoryError):
            pass  # Removed meanwhile.
        finally:
            os.close(below)


def _rename(directory: int, prefix: str, name: str, notes: list) -> str:
    other = f"{name}.removed-{os.urandom(4).hex()}"
    why = f"programs outside the sandbox trust it; it is now {other}"
    try:
        os.rename(name, other, src_dir_fd=directory, dst_dir_fd=directory)
    except OSError as error:
        other, why = name, f"it is still there and should be removed ({error.strerror})"
    notes.append({"path": prefix + name, "why": why})
    return other


def _enter(directory: int, name: str, force: bool = False) -> int:
    flags = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        return os.open(name, os.O_RDONLY | flags, dir_fd=directory)
    except PermissionError:
        if not force:
            raise
    held = os.open(name, os.O_PATH | flags, dir_fd=directory)
    try:
        os.chmod(f"/proc/self/fd/{held}", 0o700)
        return os.open(".", os.O_RDONLY | flags, dir_fd=held)
    finally:
        os.close(held)


def _list(directory: int) -> dict:
    with os.scandir(directory) as entries:
        return {entry.name: entry.is_dir(follow_symlinks=False) for entry in entries}


def _is_repository(found: dict) -> bool:
    """As git judges by names: also a bare one, and what shares the objects of another."""
    names = {name.casefold() for name in found}
    return "head" in names and ({"objects", "refs"} <= names or "commondir" in names)


def _identity(directory: int) -> tuple:
    found = os.fstat(directory)
    return found.st_dev, found.st_ino
