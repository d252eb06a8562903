"""
Serves the synthetic package `skills`: `from skills.salesforce.leads.sync import main` (C-5.4), and the files of each skill as modules in a
namespace of its own.

Imports by a skill's code search the entry file's directory and the skill's root first: two skills may each have `utils.py`.
`/skills/a.b/code/utils.py` is always the module `skill:a-b.code.utils`, so that relative imports and pickling work.
"""

from __future__ import annotations

import builtins
import os
import sys
from _frozen_importlib import ModuleSpec
from _frozen_importlib_external import PathFinder
from io import open_code
from keyword import iskeyword
from types import ModuleType

from entry import find_function

_MAX_LISTED = 10
_PREFIX = "skill:"
#: Never siblings.
_RESERVED = ("runtime", "skills")
#: Replaces dots in file names, which would separate module names.
_DOT = "\u2024"


class SkillImporter:
    """
    A finder for `sys.meta_path`. `stub(name)` returns the function for a brokered skill (C-5.5). Modules have paths in `viewed`.
    """

    def __init__(self, skills: list, brokered: list, directory: str, stub, remedy: str, viewed: str = "/skills"):
        self._viewed = viewed
        self._remedy = remedy
        self._directory = directory
        self._skills = {one["name"]: one.get("entry") for one in skills}
        self._stubs = {name: stub(name) for name in brokered}
        self._names = {}
        for name in [*self._skills, *self._stubs]:
            self._names.setdefault(to_module(name), name)
        self._packages = {"skills"}
        for module in self._names:
            steps = module.split(".")
            self._packages.update(".".join(steps[: count + 1]) for count in range(len(steps)))
        self._spaces: dict = {}

    def install(self) -> None:
        sys.meta_path.insert(0, self)
        if any(entry is not None for entry in self._skills.values()):
            teach_import_module(self._spaces)

    def find_spec(self, fullname: str, path=None, target=None):
        if fullname != "skills" and not fullname.startswith("skills."):
            return find_in_spaces(self._spaces, fullname)
        if fullname in self._packages:
            return ModuleSpec(fullname, _PackageLoader(self), is_package=True)
        wanted = fullname[len("skills.") :]
        # `from package import name` ignores a ModuleNotFoundError of this name, and then reports that `name` is
        # missing: right for a skill, but for a mere prefix our message is better.
        name = fullname if fullname.rpartition(".")[0] in self._names else wanted
        raise ModuleNotFoundError(self._not_mounted(wanted), name=name)

    def function_of(self, name: str):
        """The function of a skill, by canonical name or slug."""
        slug = name.replace(".", "-")
        for one in [*self._skills, *self._stubs]:
            if one.replace(".", "-") == slug:
                if one in self._stubs:
                    return self._stubs[one]
                return self.export_of(one)
        raise ModuleNotFoundError(self._not_mounted(name), name=name)

    def export_of(self, name: str):
        """The entrypoint of a mounted skill; executes its module if it was not imported yet."""
        module = self._entry_module(name)
        entry = self._skills[name]
        return find_function(vars(module), entry["export"], f"/skills/{name}/{entry['file']}")

    def attribute(self, module: str, attribute: str):
        """A missing attribute of a package below `skills`."""
        child = f"{module}.{attribute}"
        if child in self._packages:
            __import__(child)
            return sys.modules[child]
        name = self._names.get(module)
        if name is None or (attribute.startswith("__") and attribute != "__all__"):
            raise AttributeError(f"module {module!r} has no attribute {attribute!r}")
        if name in self._stubs:
            return ["main"] if attribute == "__all__" else self._stubs[name]
        return self._entry_attribute(name, attribute)

    def _entry_module(self, name: str) -> ModuleType:
        entry = self._skills[name]
        if entry is None:
            raise ImportError(f"The skill {name} has no entrypoint. Read its files in /skills/{name}/ instead of importing it.")
        prefix = to_prefix(name)
        if prefix not in self._spaces:
            self._spaces[prefix] = SkillSpace(prefix, entry["file"], f"{self._directory}/{name}", f"{self._viewed}/{name}")
        entry_module = self._spaces[prefix].entry
        __import__(entry_module)
        return sys.modules[entry_module]

    def _entry_attribute(self, name: str, attribute: str):
        try:
            module = self._entry_module(name)
        except AttributeError as error:
            # Python would report it as a missing attribute.
            raise ImportError(f"The skill {name} cannot be imported: {error}") from error
        if attribute == "__all__" and not hasattr(module, "__all__"):
            return [one for one in vars(module) if not one.startswith("_")]
        return getattr(module, attribute)

    def _not_mounted(self, wanted: str) -> str:
        mounted = [*self._skills, *self._stubs]
        listed = ", ".join(mounted[:_MAX_LISTED]) + (", …" if len(mounted) > _MAX_LISTED else "")
        return f"No skill {wanted!r} is mounted. Mounted: {listed or 'none'}. {self._remedy}"


def to_module(name: str) -> str:
    """The module of a skill: `2.pdf-tools.import` is `skills._2.pdf_tools.import_`."""
    return ".".join(["skills", *map(_to_identifier, name.split("."))])


def _to_identifier(segment: str) -> str:
    segment = "".join(letter if ("a" + letter).isidentifier() else "_" for letter in segment)
    if iskeyword(segment):
        return segment + "_"
    return segment if segment.isidentifier() else "_" + segment


class _Package(ModuleType):
    """`skills` or a package below it. A skill is not executed before an attribute is accessed."""

    def __getattr__(self, attribute: str):
        return self.__spec__.loader.importer.attribute(self.__name__, attribute)


class _PackageLoader:
    def __init__(self, importer: SkillImporter):
        self.importer = importer

    def create_module(self, spec) -> ModuleType:
        return _Package(spec.name)

    def exec_module(self, module) -> None:
        pass


class SkillSpace:
    """
    One mounted skill: `prefix` starts the names of its modules, `directory` is the real path of its files, `viewed` the protocol path.
    """

    def __init__(self, prefix: str, entry_file: str, directory: str, viewed: str):
        self.prefix = prefix
        self._directory = directory
        self._viewed = viewed
        *folders, file = entry_file.split("/")
        stem = file[:-3] if file.endswith(".py") else file
        package = ".".join([self.prefix, *map(_encode, folders)])
        self.entry = f"{package}.{_encode(stem)}"
        self._entry_file = entry_file
        self._bases = [package] if package == self.prefix else [package, self.prefix]
        self._located: dict = {}
        self.builtins = {**vars(builtins), "__import__": self._import}

    def find_spec(self, fullname: str):
        """The spec of a module in this space, or None."""
        if fullname == self.entry:
            return self._spec(fullname, self._entry_file, None)
        path = self._path(fullname)
        inside = f"{path}/__init__.py" if path else "__init__.py"
        if self._has(inside):
            return self._spec(fullname, inside, path)
        if path and self._has(f"{path}.py"):
            return self._spec(fullname, f"{path}.py", None)
        if self._has(path, os.path.isdir):
            return self._spec(fullname, None, path)
        return None

    def locate(self, name: str):
        """The full name of a sibling module that `import name` refers to in this skill's code, or None."""
        head, dot, rest = name.partition(".")
        if head not in self._located:
            self._located[head] = None if head in _RESERVED else self._locate(head)
        found = self._located[head]
        return None if found is None else found + dot + rest

    def _locate(self, head: str):
        candidates = [f"{base}.{head}" for base in self._bases]
        for candidate in candidates:
            path = self._path(candidate)
            if candidate == self.entry or self._has(f"{path}.py") or self._has(f"{path}/__init__.py"):
                return candidate
        # As in Python, a namespace package has the lowest priority.
        if head in sys.builtin_module_names or PathFinder.find_spec(head) is not None:
            return None
        return next((one for one in candidates if self._has(self._path(one), os.path.isdir)), None)

    def _import(self, name, globals=None, locals=None, fromlist=(), level=0):
        """`__import__` for the code of this skill."""
        located = self.locate(name) if level == 0 else None
        if located is None:
            return builtins.__import__(name, globals, locals, fromlist, level)
        if fromlist:
            return builtins.__import__(located, globals, locals, fromlist, 0)
        builtins.__import__(located, globals, locals, (), 0)
        return sys.modules[self.locate(name.partition(".")[0])]

    def _path(self, fullname: str) -> str:
        return "/".join(map(_decode, fullname[len(self.prefix) + 1 :].split(".")))

    def _has(self, path: str, exists=os.path.isfile) -> bool:
        return exists(os.path.join(self._directory, path))

    def _spec(self, fullname: str, file, package) -> ModuleSpec:
        viewed = None if file is None else f"{self._viewed}/{file}"
        real = None if file is None else os.path.join(self._directory, file)
        spec = ModuleSpec(fullname, _Loader(self, real, viewed), origin=viewed, is_package=package is not None)
        spec.has_location = viewed is not None
        if package is not None:
            spec.submodule_search_locations.append(f"{self._viewed}/{package}".rstrip("/"))
        return spec


def to_prefix(name: str) -> str:
    return _PREFIX + name.replace(".", "-")


def find_in_spaces(spaces: dict, fullname: str):
    """Finds the spec of a module in `spaces`, a dict by prefix."""
    space = spaces.get(fullname.partition(".")[0]) if fullname.startswith(_PREFIX) else None
    return space and space.find_spec(fullname)


def teach_import_module(spaces: dict) -> None:
    """Makes `importlib.import_module("sibling")` work like `import sibling` in a skill's code."""
    import importlib

    import_module = importlib.import_module

    def import_sibling(name, package=None):
        caller = sys._getframe(1).f_globals.get("__name__")
        space = spaces.get(caller.partition(".")[0]) if isinstance(caller, str) else None
        located = space.locate(name) if space is not None and not name.startswith(".") else None
        return import_module(located or name, package)

    importlib.import_module = import_sibling


class _Loader:
    """Compiles a file with its protocol path. A directory without `__init__.py` is an empty package."""

    def __init__(self, space: SkillSpace, real, viewed):
        self._space = space
        self._real = real
        self.path = viewed

    def create_module(self, spec):
        return None

    def exec_module(self, module) -> None:
        module.__dict__["__builtins__"] = self._space.builtins
        if self._real is not None:
            exec(compile(self._read(), self.path, "exec", dont_inherit=True), module.__dict__)

    def is_package(self, fullname: str) -> bool:
        return self.path is None or self.path.endswith("/__init__.py")

    def get_filename(self, fullname: str):
        return self.path

    def get_source(self, fullname: str):
        return None if self._real is None else self._read().decode("utf-8", "replace")

    def get_data(self, path: str) -> bytes:
        with open(path, "rb") as file:
            return file.read()

    def _read(self) -> bytes:
        with open_code(self._real) as file:
            return file.read()


def _encode(segment: str) -> str:
    return segment.replace(".", _DOT)


def _decode(segment: str) -> str:
    return segment.replace(_DOT, ".")
