"""Maps the protocol's paths, such as `/skills`, to real directories in sandboxes without a file system of their own.

`install` patches Python's functions (open, os, pathlib and what uses them). It is a convenience, not a security boundary: other programs
and C code that opens files itself are not affected.
"""

from __future__ import annotations

import builtins
import io
import os

VIEWED = {
    "skills": "/skills",
    "workspace": "/workspace",
    "blobs": "/blobs",
    "output": "/output",
    "temporary": "/tmp",
    "project": "/project",
    "packages": "/packages",
}
#: Those that are mapped without a sandbox, too: the others are directories of the host.
VIEWED_OUTSIDE = {name: VIEWED[name] for name in ("skills", "workspace", "blobs", "output", "project")}

_ONE_PATH = (
    "access chdir chmod chown getxattr lchown listdir listxattr lstat mkdir mkfifo mknod open pathconf readlink remove "
    "removexattr rmdir setxattr stat statvfs truncate unlink utime"
).split()
_TWO_PATHS = ("link", "rename", "replace", "symlink")
_PATH_NAMES = ("path", "file", "filename", "src")


def skills_of(run: dict) -> str:
    """The directory of skills as programs know it: without a sandbox the real one, which other programs can read too."""
    return run["roots"]["skills"] if "outside" in run else "/skills"


class View:
    """Maps between protocol paths and real paths."""

    def __init__(self, roots: dict, viewed_roots: dict = VIEWED):
        self._pairs = [(viewed, roots[name]) for name, viewed in viewed_roots.items() if roots.get(name) not in (None, viewed)]

    @property
    def needed(self) -> bool:
        return bool(self._pairs)

    def real(self, path):
        """The real path; other values are returned unchanged."""
        try:
            text = os.fsdecode(path)
        except TypeError:
            return path  # A descriptor, None, or an invalid value that the function reports.
        if text[:1] != "/" or any(_rest(text, real) is not None for _, real in self._pairs):
            return path
        for viewed, real in self._pairs:
            rest = _rest(text, viewed)
            if rest is not None:
                return os.fsencode(real + rest) if isinstance(path, bytes) else real + rest
        return path

    def viewed(self, path: str) -> str:
        """The protocol path."""
        for viewed, real in self._pairs:
            rest = _rest(path, real)
            if rest is not None:
                return viewed + rest
        return path


def install(view: View, modules: list, shows_real: bool = False) -> None:
    """Replaces functions that take paths, also in modules that already imported them. `shows_real`: `getcwd` returns the real path."""
    replaced = {}
    for name in _ONE_PATH + list(_TWO_PATHS):
        original = getattr(os, name, None)
        if original is not None:
            replaced[original] = _Viewing(original, view, 2 if name in _TWO_PATHS else 1)
    for original in (io.open, io.open_code):
        replaced[original] = _Viewing(original, view, 1)
    replaced[os.scandir] = _Scanning(os.scandir, view)
    if not shows_real:
        replaced[os.getcwd] = _Locating(os.getcwd, view)
    for support in (os.supports_dir_fd, os.supports_fd, os.supports_follow_symlinks, os.supports_effective_ids):
        support.update([replaced[original] for original in list(support) if original in replaced])
    for module in modules:
        for namespace in _namespaces(module):
            for name, value in list(namespace.__dict__.items()):
                if _is_function(value) and value in replaced:
                    setattr(namespace, name, replaced[value])


def _namespaces(module) -> list:
    """A module, and in pathlib also its classes, which may have such functions as attributes."""
    if not hasattr(module, "__dict__"):
        return []
    classes = module.__dict__.values() if getattr(module, "__name__", "") == "pathlib" else ()
    return [module, *[one for one in list(classes) if isinstance(one, type)]]


def _is_function(value) -> bool:
    return type(value) is type(len)


def _rest(path: str, root: str) -> str | None:
    """The part of `path` after `root`: "" or "/…"; None if it is not below."""
    if path.startswith(root) and path[len(root) : len(root) + 1] in ("", "/"):
        return path[len(root) :]
    return None


class _Viewing:
    """Wraps a built-in function. Not a function itself, so that classes do not bind it."""

    def __init__(self, function, view: View, paths: int = 1):
        self._function = function
        self._view = view
        self._paths = paths
        self.__name__ = self.__qualname__ = function.__name__
        self.__doc__ = function.__doc__
        self.__module__ = function.__module__

    def __call__(self, *args, **options):
        mapped = [self._view.real(one) for one in args[: self._paths]]
        for name in _PATH_NAMES + (("dst",) if self._paths == 2 else ()):
            if name in options:
                options[name] = self._view.real(options[name])
        try:
            return self._function(*mapped, *args[self._paths :], **options)
        except OSError as error:
            for real, given in zip(mapped, args):
                if real is not given and error.filename == real:
                    error.filename = os.fspath(given)
            raise


class _Scanning(_Viewing):
    """scandir whose entries have the given path."""

    def __call__(self, path="."):
        found = super().__call__(path)
        given = None if isinstance(path, int) else os.fspath(path)
        return found if given is None or self._view.real(given) is given else _Entries(found, given)


class _Locating(_Viewing):
    def __call__(self):
        return self._view.viewed(self._function())


class _Entries:
    def __init__(self, found, given):
        self._found = found
        self._given = given

    def __iter__(self):
        return self

    def __next__(self):
        return _Entry(next(self._found), self._given)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self) -> None:
        self._found.close()


class _Entry:
    """A DirEntry with the given path."""

    def __init__(self, entry, given):
        self._entry = entry
        self.path = os.path.join(given, entry.name)

    def __getattr__(self, name):
        return getattr(self._entry, name)

    def __fspath__(self):
        return self.path

    def __repr__(self) -> str:
        return f"<DirEntry {self._entry.name!r}>"
