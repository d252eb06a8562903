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


def make_ruleset(version: int, alone: bool, readable: list, runnable: list, writable: list, guarded: dict | None = None) -> int:
    """
    Returns a ruleset, for `enforce`, that allows access below these paths only; missing paths are skipped. `guarded`: `{"path",
    "names", "kept", "depth", "directories"}`, a directory whose entries are writable except these names and the relative paths in
    `kept`. A path can also be given as a descriptor. `version` is that of this kernel. `alone`: without namespaces, connections and
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
    if guarded is not None:
        _allow_parts(ruleset, guarded, everything & files)
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


def _allow_parts(ruleset: int, guarded: dict, rights: int) -> None:
    names = set(guarded["names"])
    left = guarded["directories"]

    def allow_part(directory: int, name: str) -> None:
        below = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=directory)
        try:
            kind = os.fstat(below).st_mode
            # No rules for links, whose targets have their own, and for named pipes, which processes outside may read.
            if stat.S_ISDIR(kind):
                _add_rule(ruleset, below, rights)
            elif stat.S_ISREG(kind):
                _add_rule(ruleset, below, rights & _OF_A_FILE)
        finally:
            os.close(below)

    def is_free(parent: int, name: str, places: list, depth: int) -> bool:
        """Whether nothing in a directory is guarded. Otherwise adds rules for everything else in it."""
        nonlocal left
        left -= 1
        if not places and (depth > guarded["depth"] or left < 0 or name == "node_modules"):
            return True
        try:
            directory = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
        except OSError:
            return not places  # Removed meanwhile, or not readable.
        try:
            return allow(directory, {".git"}, places, depth)
        finally:
            os.close(directory)

    def allow(directory: int, kept: set, places: list, depth: int) -> bool:
        """`places`: the kept paths in it, as lists of names."""
        with os.scandir(directory) as entries:
            found = {entry.name: entry.is_dir(follow_symlinks=False) for entry in entries}
        below = {name: [rest for first, *rest in places if first == name] for name in found}
        parts = [name for name in found if name.lower() not in kept and [] not in below[name]]
        free = [name for name in parts if not found[name] or is_free(directory, name, below[name], depth + 1)]
        if depth > 0 and not places and len(free) == len(found):
            return True
        for name in free:
            try:
                allow_part(directory, name)
            except FileNotFoundError:
                pass  # Removed meanwhile.
        return False

    top = _open(guarded["path"], os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        allow(top, names, [place.split("/") for place in guarded["kept"]], 0)
    finally:
        os.close(top)
